// Two pucks on a line: the first catches the second, carries it along and lets it go again. What
// does the catch cost, and is momentum kept?
#include <cstdio>

#include <catena/dynamics/momentum.h>
#include <catena/model/builder.h>
#include <catena/simulation/simulate.h>

int main() {
  catena::MechanismBuilder builder("pucks");
  builder.set_gravity({});
  for (const char* name : {"first", "second"}) {
    builder.add_body(name, {.mass = name[0] == 'f' ? 3.0 : 1.0,
                            .inertia = catena::SymMat3d::diagonal(0.1, 0.1, 0.1)});
    builder.add_hinge(name, "world", name, {.type = catena::HingeType::free});
  }
  const catena::Mechanism pucks = builder.finish();
  catena::State state = pucks.default_state();
  state.v[pucks.velocity_index("first.vx")] = 2.0;
  const double before = catena::momentum(pucks, state).linear.x;

  catena::SimulationSettings settings{.duration = 2.0};
  const catena::AttachmentSettings grip{.name = "grip",
                                        .body_a = pucks.body_index("first"),
                                        .body_b = pucks.body_index("second"),
                                        .as_it_is = true};
  settings.actions.constraints = {{.constraint = grip}};
  settings.actions.switches = {{.name = "catch", .time = 0.5, .activate = {"grip"}},
                               {.name = "let go", .time = 1.5, .release = {"grip"}}};
  catena::MemoryRecorder record;
  const catena::SimulationResult result = catena::simulate(pucks, state, settings, record);

  const double speed = result.state.v[pucks.velocity_index("second.vx")];
  std::printf("the second puck leaves with %.6f m/s\n", speed);
  for (const catena::ElementWork& work : result.audit.work)
    if (work.element == "switches") std::printf("the catch costs %.6f J\n", -work.work);
  const double after = catena::momentum(pucks, result.state).linear.x;
  std::printf("momentum is kept to %s\n", std::abs(after - before) < 1e-12 ? "1e-12" : "worse");
}
