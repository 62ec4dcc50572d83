// A pendulum driven by a controller: it swings up to its target; how well is energy balanced?
#include <cstdio>

#include <catena/model/builder.h>
#include <catena/simulation/simulate.h>

int main() {
  catena::MechanismBuilder builder("pendulum");
  builder.add_body("link", {.mass = 2.0,
                            .center_of_mass = {0.0, 0.0, -0.75},
                            .inertia = catena::SymMat3d::diagonal(0.3, 0.3, 0.01)});
  builder.add_hinge("pivot", "world", "link", {.axes = {{0.0, 1.0, 0.0}}});
  const catena::Mechanism pendulum = builder.finish();

  catena::SimulationSettings settings{.duration = 40.0};
  settings.actions.controllers = {
      {.freedom = "pivot", .kp = 40.0, .kd = 8.0, .ki = 15.0, .target = "2*step(t - 1)"}};
  catena::MemoryRecorder record;
  const catena::SimulationResult result =
      catena::simulate(pendulum, pendulum.default_state(), settings, record);

  std::printf("it stands at %.6f rad after %.0f s\n", result.state.q[0], result.simulated_time);
  std::printf("the motor holds it with %.6f N m\n",
              record.value(record.rows() - 1, "effort.pivot"));
  std::printf("energy is balanced to %s\n", result.audit.energy_drift < 1e-7 ? "1e-7" : "worse");
}
