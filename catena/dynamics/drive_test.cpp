// SPDX-License-Identifier: BSD-3-Clause
// When the spin of a rotor matters and when it does not (Kim & Chuang, of whose text only the
// abstract is left; the reference says what must come out).
#include <gtest/gtest.h>

#include "catena/dynamics/forces.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/testing/closed_cases.h"

namespace catena {
namespace {

constexpr double kRotor = 2e-4, kRatio = 80.0;

// A turntable about z; on it an arm about x. The rotor of the arm's drive sits on the table and
// spins about x.
Mechanism turntable(bool armature_only) {
  MechanismBuilder b("turntable");
  b.set_gravity({0.0, 0.0, 0.0});
  b.add_body("table", body(5.0, {}, {0.3, 0.3, 0.5}));
  b.add_body("arm",
             body(1.0, {}, {0.02, 0.02, 0.02}));  // its centre on both axes, a sphere's inertia
  b.add_hinge("yaw", kWorld, "table", {.axes = {{0.0, 0.0, 1.0}}});
  HingeSettings pitch{.axes = {{1.0, 0.0, 0.0}}};
  pitch.drive =
      DriveSettings{.rotor_inertia = kRotor, .gear_ratio = kRatio, .armature_only = armature_only};
  b.add_hinge("pitch", "table", "arm", pitch);
  return b.finish();
}

TEST(Drive, OnTheGroundOnlyItsReflectedInertiaActs) {
  const double torque = 0.7;
  for (const bool armature_only : {true, false}) {
    MechanismBuilder b("wheel");
    b.set_gravity({0.0, 0.0, 0.0});
    b.add_body("wheel", body(1.0, {}, {0.03, 0.03, 0.05}));
    HingeSettings pin{.axes = {{0.0, 0.0, 1.0}}};
    pin.drive = DriveSettings{
        .rotor_inertia = kRotor, .gear_ratio = kRatio, .armature_only = armature_only};
    b.add_hinge("pin", kWorld, "wheel", pin);
    const Mechanism m = b.finish();
    State s = m.default_state();
    s.v[0] = 3.0;
    EXPECT_NEAR(forward_dynamics(m, s, vector({torque}))[0],
                torque / (0.05 + kRatio * kRatio * kRotor), 1e-13);
  }
}

// Bodies whose inertia is the same about every axis need no moment across the axes while they turn
// at constant rates, except to turn the pitching sphere and the rotor along with the table: the
// moments J_arm φ̇ ψ̇ and J_r n φ̇ ψ̇ about y.
TEST(Drive, OnAMovingBodyItsSpinNeedsAMoment) {
  const double yaw = 1.3, pitch = 2.1;
  double moment[2] = {};
  for (const bool armature_only : {true, false}) {
    const Mechanism m = turntable(armature_only);
    State s = m.default_state();
    s.v << yaw, pitch;
    Workspace w(m);
    InterbodyForces forces(m);
    forces.compute(s, Eigen::VectorXd::Zero(2), w);
    const HingeForce at = forces.at(m.hinge_index("yaw"), ForceAxes::ground);
    moment[armature_only ? 0 : 1] = at.wrench.moment.y;
    EXPECT_NEAR(at.wrench.moment.x, 0.0, 1e-13);
    EXPECT_NEAR(at.wrench.moment.z, 0.0, 1e-13);
  }
  EXPECT_NEAR(moment[0], 0.02 * yaw * pitch, 1e-13);
  EXPECT_NEAR(moment[1] - moment[0], kRotor * kRatio * yaw * pitch, 1e-13);
}

}  // namespace
}  // namespace catena
