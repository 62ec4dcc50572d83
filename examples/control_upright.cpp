// A pendulum on a cart, balanced upright: linearized, an LQG controller that measures the two
// positions, and the nonlinear mechanism with this controller, sampled every 5 ms.
#include <cstdio>
#include <numbers>

#include <catena/components/linear_controller.h>
#include <catena/control/lqg.h>
#include <catena/linear/discretize.h>
#include <catena/model/builder.h>
#include <catena/sensitivity/linearize.h>
#include <catena/simulation/simulate.h>

int main() {
  using namespace catena;
  MechanismBuilder builder("cart_pendulum");
  builder.set_gravity({0.0, -9.81, 0.0});
  builder.add_body("cart", {.mass = 3.0, .inertia = SymMat3d::diagonal(0.02, 0.05, 0.05)});
  builder.add_body("pole", {.mass = 1.5,
                            .center_of_mass = {0.0, -0.8, 0.0},
                            .inertia = SymMat3d::diagonal(0.12, 0.001, 0.12)});
  builder.add_hinge("rail", "world", "cart",
                    {.type = HingeType::prismatic, .axes = {{1.0, 0.0, 0.0}}});
  builder.add_hinge("pivot", "cart", "pole",
                    {.type = HingeType::revolute, .axes = {{0.0, 0.0, 1.0}}});
  const Mechanism mechanism = builder.finish();

  // The plant: from the force at the rail to both positions, about the upright equilibrium.
  State upright = mechanism.default_state();
  upright.q[1] = std::numbers::pi;
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(mechanism.freedoms());
  const StateSpace plant =
      c2d(state_space(linearize(mechanism, {upright, none},
                                {.inputs = {"rail"}, .outputs = {"q.rail", "q.pivot"}}),
                      mechanism),
          0.005);

  // Weights on the outputs and the force; noise of the force and of the sensors.
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(1, 1);
  const LqgResult design = lqg(plant, plant.C.transpose() * plant.C, 0.01 * one, 1.0 * one,
                               1e-4 * Eigen::MatrixXd::Identity(2, 2), plant.B);
  std::printf("certificate: %s\n", design.certificate.passed() ? "passed" : "FAILED");

  StateSpace controller = design.controller;  // u = K y
  controller.inputs = plant.outputs;
  controller.outputs = plant.inputs;
  controller.point.reset();

  SimulationSettings settings;
  settings.duration = 15.0;
  settings.actions.components = {linear_controller({.system = controller,
                                                    .lower = Eigen::VectorXd::Constant(1, -60.0),
                                                    .upper = Eigen::VectorXd::Constant(1, 60.0),
                                                    .point = upright})};
  State start = upright;
  start.q[1] += 0.1;
  MemoryRecorder record;
  const SimulationResult result = simulate(mechanism, start, settings, record);
  std::printf("after 15 s the pole is at %.5f rad, the cart at %.4f m\n", result.state.q[1],
              result.state.q[0]);
}
