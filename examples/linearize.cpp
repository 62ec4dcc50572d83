// How fast does a pendulum swing about its rest, and how fast does it fall over?
#include <cstdio>
#include <numbers>

#include "catena/model/builder.h"
#include "catena/sensitivity/equilibrium.h"

int main() {
  catena::MechanismBuilder builder("pendulum");
  builder.add_body("link", {.mass = 2.0,
                            .center_of_mass = {0.0, 0.0, -0.75},
                            .inertia = catena::SymMat3d::diagonal(0.3, 0.3, 0.01)});
  builder.add_hinge("pivot", catena::kWorld, "link", {.axes = {{1.0, 0.0, 0.0}}});
  const catena::Mechanism pendulum = builder.finish();

  catena::OperatingPoint guess{pendulum.default_state(), Eigen::VectorXd::Zero(1)};
  guess.state.q[0] = 0.3;
  const catena::Equilibrium rest = catena::find_equilibrium(pendulum, guess);
  std::printf("at %.6f rad it is %s and swings at %.6f rad/s\n", rest.state.q[0],
              to_string(rest.modes.stability), rest.modes.modes.front().frequency);

  guess.state.q[0] = std::numbers::pi;
  const catena::LinearModel upright = catena::linearize(pendulum, guess);
  std::printf("upright it is %s and falls over at %.6f 1/s\n",
              to_string(catena::modes(upright).stability), catena::modes(upright).growth);
}
