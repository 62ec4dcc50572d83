// A pendulum by code: how fast does it swing back, and what holds it?
#include <cstdio>

#include <catena/dynamics/forward.h>
#include <catena/dynamics/inverse.h>
#include <catena/model/builder.h>

int main() {
  catena::MechanismBuilder builder("pendulum");
  builder.add_body("link", {.mass = 2.0,
                            .center_of_mass = {0.0, 0.0, -0.75},
                            .inertia = catena::SymMat3d::diagonal(0.3, 0.3, 0.01)});
  builder.add_hinge("pivot", "world", "link", {.axes = {{0.0, 1.0, 0.0}}});
  const catena::Mechanism pendulum = builder.finish();  // or catena::load("pendulum.urdf")

  catena::State state = pendulum.default_state();
  state.q[pendulum.position_index("pivot")] = 0.6;
  state.v[pendulum.velocity_index("pivot")] = 1.4;
  const Eigen::VectorXd no_effort = Eigen::VectorXd::Zero(pendulum.freedoms());
  const Eigen::VectorXd acceleration = catena::forward_dynamics(pendulum, state, no_effort);
  std::printf("it accelerates at %.6f rad/s^2\n", acceleration[0]);

  const Eigen::VectorXd hold = catena::inverse_dynamics(pendulum, {state.q, no_effort},
                                                        Eigen::VectorXd::Zero(pendulum.freedoms()));
  std::printf("a torque of %.6f N m holds it there\n", hold[0]);
}
