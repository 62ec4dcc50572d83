// A free hub with four flexible booms is turned by one period of a sine torque. Where does it point
// afterwards, what still vibrates, and is momentum kept?
#include <cmath>
#include <cstdio>
#include <numbers>

#include <catena/dynamics/energy.h>
#include <catena/dynamics/momentum.h>
#include <catena/flexible/beam.h>
#include <catena/model/builder.h>
#include <catena/simulation/simulate.h>

int main() {
  using namespace catena;
  BeamSettings boom{.length = 4.0};
  boom.section.values = {.bending_z = 100.0, .mass_per_length = 0.5};  // N m², kg/m
  boom.modes = {.set = ModeSet::clamped_free, .count = 2};
  const auto constants = make_beam(boom);  // one set of constants for four booms

  MechanismBuilder builder("hub");
  builder.set_gravity({});
  builder.add_body("hub", {.mass = 100.0, .inertia = SymMat3d::diagonal(15.0, 15.0, 20.0)});
  builder.add_hinge("base", "world", "hub", {.type = HingeType::free});
  for (int k = 0; k < 4; ++k) {
    const std::string name = "boom" + std::to_string(k);
    const Rotationd turned = Rotationd::about_z(0.5 * std::numbers::pi * k);
    builder.add_flexible_body(name, constants);
    builder.add_hinge(
        name, "hub", name,
        {.type = HingeType::weld, .frame_on_parent = {turned, turned * Vec3d{0.5, 0.0, 0.0}}});
  }
  const Mechanism craft = builder.finish();

  SimulationSettings settings{.duration = 10.0};
  settings.integrator.relative_tolerance = 1e-10;
  settings.integrator.absolute_tolerance = 1e-12;
  settings.actions.inputs = {{"base.wz", "20*sin(2*pi*t/5)*(1 - step(t - 5))"}};
  settings.outputs = {"q.*"};
  MemoryRecorder record;
  const SimulationResult result = simulate(craft, craft.default_state(), settings, record);

  const Eigen::VectorXd& q = result.state.q;
  const double angle =
      2.0 * std::atan2(q[craft.position_index("base.qz")], q[craft.position_index("base.qw")]);
  std::printf("the hub has turned by %.4f rad\n", angle);
  std::printf("energy of the vibration that is left: %.5f J\n",
              energy(craft, result.state).total());
  const double momentum_left = norm(momentum(craft, result.state).angular);
  std::printf("angular momentum is zero again to %s\n", momentum_left < 1e-8 ? "1e-8" : "worse");
}
