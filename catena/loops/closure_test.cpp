#include "catena/loops/closure.h"

#include <gtest/gtest.h>

#include "catena/model/configuration.h"

namespace catena {
namespace {

BodySettings some_body() { return {.mass = 1.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)}; }

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

TEST(Closure, JacobianIsTheDerivativeOfTheResidual) {
  const Mechanism m = rich_loop();
  ASSERT_EQ(m.loops().size(), 1u);
  const LoopClosure loop(m, m.loops()[0]);
  ASSERT_EQ(loop.rows(), 6 + 6 + 1 + 1);
  ASSERT_EQ(loop.tree_freedoms(), 6 + 3 + 3 + 1 + 3);
  ASSERT_EQ(loop.cut_freedoms(), 2 + 2);
  // Near a closed position the derivative of the logarithm is exact.
  LoopPosition at = loop.position(zero_position(m));
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    at = loop.moved(at, 0.3 * random_vector(loop.unknowns(), seed));
    const ClosureEquations e = loop.equations(at);
    constexpr double kStep = 1e-6;
    for (int k = 0; k < loop.unknowns(); ++k) {
      const Eigen::VectorXd step = kStep * Eigen::VectorXd::Unit(loop.unknowns(), k);
      const Eigen::VectorXd slope = (loop.equations(loop.moved(at, step)).residual -
                                     loop.equations(loop.moved(at, -step)).residual) /
                                    (2.0 * kStep);
      // 1e-8: central differences (step² and round-off / step); the series of the derivative of
      // the logarithm leaves out terms of ten commutators.
      EXPECT_LT((slope - e.jacobian.col(k)).cwiseAbs().maxCoeff(), 2e-3 * e.residual.norm() + 1e-8)
          << "unknown " << k;
    }
  }
}

TEST(Closure, ACutHingeIsFittedWhereItCanBe) {
  MechanismBuilder b("fit");
  b.add_body("a", some_body());
  b.add_hinge("free", kWorld, "a",
              {.type = HingeType::free, .initial_position = {0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0}});
  b.add_hinge("planar", kWorld, "a", {.type = HingeType::planar, .cut = Cut::always});
  const Mechanism m = b.finish();
  const LoopClosure loop(m, m.loops()[0]);
  const LoopPosition at = loop.position(m.default_state().q);
  EXPECT_LT(loop.equations(at).residual.norm(), 1e-9);
  EXPECT_NEAR(std::abs(at.cuts[0][0]), 3.14159265358979, 1e-8);
  EXPECT_NEAR(at.cuts[0][1], 2.0, 1e-8);
  EXPECT_NEAR(at.cuts[0][2], 3.0, 1e-8);
}

}  // namespace
}  // namespace catena
