// SPDX-License-Identifier: BSD-3-Clause
// Margins on the nonlinear mechanism: a cart with a pendulum, whose growth and decay are simulated,
// and margins that are claimed too large.
#include "catena/robust/robust_proof.h"

#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/linear/discretize.h"
#include "catena/model/builder.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// A pendulum with the torque of its pivot; upright it falls.
struct Upright {
  Mechanism mechanism;
  LinearModel model;
  StateSpace controller;
};
Upright upright() {
  MechanismBuilder builder("pendulum");
  builder.add_body("link", {.mass = 2.0,
                            .center_of_mass = {0.0, 0.0, -0.75},
                            .inertia = SymMat3d::diagonal(0.3, 0.3, 0.01)});
  builder.add_body("payload", {.mass = 1.0, .inertia = SymMat3d::diagonal(1e-3, 1e-3, 1e-3)});
  builder.add_hinge("pivot", "world", "link",
                    {.axes = {{0.0, 1.0, 0.0}}, .freedoms = {{.damping = 0.4}}});
  builder.add_hinge("grip", "link", "payload",
                    {.type = HingeType::weld, .frame_on_parent = {.translation = {0, 0, -1.0}}});
  Upright u{builder.finish(), {}, {}};
  State state = u.mechanism.default_state();
  state.q[0] = 2.5;
  const VectorXd hold = 9.81 * (2.0 * 0.75 + 1.0) * std::sin(2.5) * VectorXd::Ones(1);
  u.model = linearize(u.mechanism, {state, hold}, {.inputs = {"pivot"}, .outputs = {"q.pivot"}});
  // −(kp + kd s/(1 + s T)) of the angle.
  const double kp = 60.0, kd = 15.0, time = 0.02;
  u.controller =
      ss(MatrixXd::Constant(1, 1, -1.0 / time), MatrixXd::Constant(1, 1, 1.0),
         MatrixXd::Constant(1, 1, kd / (time * time)), MatrixXd::Constant(1, 1, -kp - kd / time));
  u.controller.inputs = {"q.pivot"};
  u.controller.outputs = {"pivot"};
  return u;
}

TEST(RobustProof, GrowsBeyondTheMarginAndDecaysInside) {
  const Upright u = upright();
  const auto asked = parse_uncertainties("mass.payload:0..5, gain.pivot:±30%, friction.pivot:±50%");
  const MechanismFamily family(u.mechanism, u.model, {"mass.payload", "damping.pivot"});
  for (const double period : {0.0, 0.01}) {
    LinearControllerSettings running{.system = u.controller};
    if (period > 0.0) {
      running.system = c2d(u.controller, period, {.method = Hold::tustin});
      running.delay = 0.4 * period;
    }
    const UncertainPlant plant = uncertain_plant(family, asked);
    const UncertainSystem loop = closed_loop(plant.system, running.system, running.delay);
    const RobustStability r = robstab(loop);
    // Static: gain · kp = g |cos 2.5| (2 · 0.75 + m), at the largest mass and the smallest gain.
    const double mass = r.parameters.at("mass.payload"), gain = r.parameters.at("gain.pivot");
    EXPECT_NEAR(gain * 60.0, 9.81 * std::abs(std::cos(2.5)) * (1.5 + mass), 1e-5);
    const RobustProof proof = prove(family, asked, loop, r, running, {.samples = 15});
    ASSERT_TRUE(proof.worst.has_value());
    EXPECT_GT(proof.worst->measured, 0.0);
    EXPECT_EQ(proof.decayed, 15);
    EXPECT_LT(proof.largest_difference, 0.05);
    EXPECT_TRUE(proof.passed);
    // Half of the destabilizing change does not destabilize: the proof says so.
    RobustStability timid = r;
    for (BlockValue& v : timid.worst) v.scalar *= 0.5;
    EXPECT_FALSE(prove(family, asked, loop, timid, running, {.samples = 0}).passed);
  }
}

}  // namespace
}  // namespace catena
