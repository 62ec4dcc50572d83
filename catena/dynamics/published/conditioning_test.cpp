// SPDX-License-Identifier: BSD-3-Clause
// The recursion stays accurate when outboard bodies are much heavier than inboard ones, where the
// dense mass matrix loses every digit: the chains of the numerical-quality table for [D'Eleuterio &
// Damaren 1991]. Reference: 113-bit numbers, on the same description.
#include "catena/dynamics/testing/test_support.h"

namespace catena::test {
namespace {

// N revolute links, axes cycling z, y, x (planar: all z), link i of mass ρ^i.
Mechanism heavy_chain(int links, double ratio, bool planar = false) {
  const Vec3d axes[] = {Vec3d::unit_z(), Vec3d::unit_y(), Vec3d::unit_x()};
  MechanismBuilder builder("chain");
  double mass = 1.0;
  for (int i = 0; i < links; ++i, mass *= ratio) {
    BodySettings body;
    body.mass = mass;
    body.center_of_mass = {0.5, 0.1, 0.05};
    body.inertia = SymMat3d::diagonal(0.05 * mass, 0.1 * mass, 0.12 * mass);
    builder.add_body(body_name(i), body);
    HingeSettings hinge{.type = HingeType::revolute, .axes = {axes[planar ? 0 : i % 3]}};
    if (i > 0) hinge.frame_on_parent.translation = {1.0, 0.2, 0.1};
    builder.add_hinge("h" + std::to_string(i), body_name(i - 1), body_name(i), hinge);
  }
  return builder.finish();
}

struct QualityRow {
  int links;
  double ratio;
  double published;  // median relative error of the recursion in double
};

class Quality : public ::testing::TestWithParam<QualityRow> {};

TEST_P(Quality, MedianErrorIsThatOfTheTable) {
  const auto [links, ratio, published] = GetParam();
  const Mechanism mechanism = heavy_chain(links, ratio);
  const reference::Engine<reference::Quad> engine(mechanism);
  Workspace w(mechanism);
  Random random(31);
  std::vector<double> recursive, dense;
  for (int i = 0; i < 15; ++i) {
    State s;
    s.q = random_values(random, links, 3.0);
    s.v = random_values(random, links, 1.0);
    const VectorXd effort = random_values(random, links, 1.0);
    const auto expected = engine.acceleration(
        plain<reference::Quad>(s.q), plain<reference::Quad>(s.v), plain<reference::Quad>(effort));
    recursive.push_back(error(forward_dynamics(mechanism, s, effort, w), expected));
    try {
      dense.push_back(error(forward_dynamics(mechanism, s, effort, w, {}, Route::dense), expected));
    } catch (const NumericalError&) {
      dense.push_back(kInfinity);  // the matrix is not even positive definite any more
    }
  }
  std::sort(recursive.begin(), recursive.end());
  std::sort(dense.begin(), dense.end());
  printf("    N = %d, ratio %g: median error %.1e (published %.1e), dense %.1e\n", links, ratio,
         recursive[7], published, dense[7]);
  // Other states than the text's: the median moves by a few times.
  EXPECT_LT(recursive[7], 5.0 * published);
}

// In a plane the inertia about a hinge falls to 1e-21 of that across it, and is right: the test for
// hinges that move nothing must not refuse it.
TEST(HeavyChains, AreNotRefusedInAPlane) {
  for (const auto& [links, ratio] : {std::pair{20, 10.0}, std::pair{12, 100.0}}) {
    const Mechanism mechanism = heavy_chain(links, ratio, true);
    const reference::Engine<reference::Quad> engine(mechanism);
    Random random(31);
    for (int i = 0; i < 3; ++i) {
      State s;
      s.q = random_values(random, links, 3.0);
      s.v = random_values(random, links, 1.0);
      const VectorXd effort = random_values(random, links, 1.0);
      const auto expected = engine.acceleration(
          plain<reference::Quad>(s.q), plain<reference::Quad>(s.v), plain<reference::Quad>(effort));
      // As accurate as the table's chain of this length and ratio.
      EXPECT_LT(error(forward_dynamics(mechanism, s, effort), expected),
                ratio > 10.0 ? 1.1e-6 : 5.7e-10);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chains, Quality,
                         ::testing::Values(QualityRow{20, 1.0, 1.6e-15},
                                           QualityRow{20, 0.1, 1.2e-15},
                                           QualityRow{12, 10.0, 1.4e-11},
                                           QualityRow{12, 100.0, 1.1e-6},
                                           QualityRow{20, 10.0, 5.7e-10}));

}  // namespace
}  // namespace catena::test
