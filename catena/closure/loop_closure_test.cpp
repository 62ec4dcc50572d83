// SPDX-License-Identifier: BSD-3-Clause
#include "catena/closure/loop_closure.h"

#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/closure/assembly.h"
#include "catena/closure/rows.h"
#include "catena/closure/testing/test_support.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

// A loop with a bit of everything: many hinge types in the tree and at the cuts, a rod, a coupling.
Mechanism rich_loop() {
  MechanismBuilder b("rich");
  for (const char* name : {"a", "b", "c", "d", "e"}) b.add_body(name, some_body());
  const Transformd x{Rotationd::from_rpy(0.3, -0.2, 0.5), {0.4, -0.1, 0.2}};
  const Transformd y{Rotationd::from_rpy(-0.6, 0.1, 0.9), {-0.3, 0.2, 0.5}};
  b.add_hinge("free", kWorld, "a", {.type = HingeType::free});
  b.add_hinge("gimbal", "a", "b", {.type = HingeType::gimbal, .frame_on_parent = x});
  b.add_hinge("planar", "b", "c", {.type = HingeType::planar, .frame_on_child = y});
  b.add_hinge("screw", "a", "d", {.type = HingeType::screw, .pitch = 0.2, .frame_on_parent = y});
  b.add_hinge("ball", "d", "e", {.type = HingeType::spherical, .frame_on_parent = x});
  b.add_hinge("cut_1", "c", "e",
              {.type = HingeType::universal,
               .frame_on_parent = x,
               .frame_on_child = y,
               .cut = Cut::always});
  b.add_hinge("cut_2", kWorld, "e",
              {.type = HingeType::cylindrical, .frame_on_child = x, .cut = Cut::always});
  b.add_rod({.name = "rod",
             .body_a = "b",
             .point_a = {0.1, 0.2, 0.3},
             .body_b = "d",
             .point_b = {-0.4, 0.0, 0.2},
             .length = 0.8});
  b.add_coupling({.name = "gear", .terms = {{"screw", 0, 2.0}, {"planar", 1, -0.5}}});
  return b.finish();
}

// Every type of hinge at the cut of a loop of two bodies that could satisfy it.
Mechanism cut_by(HingeType type) {
  MechanismBuilder b("cut");
  b.add_body("a", some_body()).add_body("b", some_body());
  const Transformd x{Rotationd::from_rpy(0.3, -0.2, 0.5), {0.4, -0.1, 0.2}};
  const Transformd y{Rotationd::from_rpy(-0.6, 0.1, 0.9), {-0.3, 0.2, 0.5}};
  b.add_hinge("free", kWorld, "a", {.type = HingeType::free});
  b.add_hinge("ball", "a", "b", {.type = HingeType::free, .frame_on_parent = y});
  b.add_hinge("cut", "a", "b",
              {.type = type,
               .pitch = type == HingeType::screw ? 0.3 : 0.0,
               .frame_on_parent = x,
               .frame_on_child = y,
               .cut = Cut::always});
  return b.finish();
}

constexpr HingeType kCuts[] = {HingeType::weld,       HingeType::revolute,    HingeType::prismatic,
                               HingeType::screw,      HingeType::cylindrical, HingeType::universal,
                               HingeType::planar,     HingeType::spherical,   HingeType::gimbal,
                               HingeType::translation};

double relative_difference(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return (a - b).norm() / (1.0 + b.norm());
}

TEST(Closure, JacobianIsTheDerivativeOfTheResidual) {
  const Mechanism m = rich_loop();
  ASSERT_EQ(m.loops().size(), 1u);
  const LoopClosure loop(m, 0);
  ASSERT_EQ(loop.rows(), 4 + 4 + 1 + 1);
  ASSERT_EQ(loop.freedoms(), 6 + 3 + 3 + 1 + 3);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    // In a closed position all rows are exact.
    const Eigen::VectorXd q = assemble(m, random_position(m, seed));
    const ClosureEquations e = loop.equations(q);
    constexpr double kStep = 1e-6;
    for (int k = 0; k < loop.freedoms(); ++k) {
      const Eigen::VectorXd step = kStep * Eigen::VectorXd::Unit(loop.freedoms(), k);
      const Eigen::VectorXd slope =
          (loop.residual(loop.moved(q, step)) - loop.residual(loop.moved(q, -step))) /
          (2.0 * kStep);
      EXPECT_LT(relative_difference(e.jacobian.col(k), slope), 1e-8) << "column " << k;
    }
  }
}

TEST(Closure, EveryHingeAtTheCutAssemblesToItself) {
  for (const HingeType type : kCuts) {
    const Mechanism m = cut_by(type);
    const LoopClosure loop(m, 0);
    EXPECT_EQ(loop.rows(), 6 - freedoms_of(type)) << to_string(type);
    const Eigen::VectorXd q = assemble(m, random_position(m, 7));
    EXPECT_LT(loop.residual(q).norm(), 1e-12) << to_string(type);
    // The same displacement is one that the hinge's own coordinates can make.
    const Eigen::MatrixXd y = loop.velocity_rows(q);
    EXPECT_EQ(PivotedQr(y).rank(), 6 - freedoms_of(type)) << to_string(type);
  }
}

// Velocities along the closure keep the residual at zero to the second order.
TEST(Closure, RowsOfTheKernelsSpanThoseOfTheResidual) {
  for (const HingeType type : kCuts) {
    const Mechanism m = cut_by(type);
    const LoopClosure loop(m, 0);
    const Eigen::VectorXd q = assemble(m, random_position(m, 11));
    const Eigen::MatrixXd y = loop.velocity_rows(q);
    const Eigen::MatrixXd j = loop.equations(q).jacobian;
    const Eigen::MatrixXd kernel = FullLu(y).kernel();
    EXPECT_LE((j * kernel).norm(), 1e-12 * kernel.norm()) << to_string(type);
  }
}

}  // namespace
}  // namespace catena
