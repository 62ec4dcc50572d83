// SPDX-License-Identifier: BSD-3-Clause
// Second derivatives against differences of order eight of the first ones, and of the reference.
#include "catena/sensitivity/second_derivatives.h"

#include "catena/base/index.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/sensitivity/linearize.h"
#include "catena/sensitivity/testing/test_support.h"

namespace catena::test {
namespace {

using Matrices = std::vector<MatrixXd>;

// Rounding 1e-15 of the first derivatives over the step, and step⁸.
constexpr double kSecondTolerance = 1e-9;
constexpr double kStep = 5e-3;

template <class F>
MatrixXd slope_of(F f) {
  constexpr double kWeights[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  MatrixXd sum;
  for (int i = 1; i <= 4; ++i) {
    const MatrixXd up = f(i * kStep), down = f(-i * kStep);
    if (sum.size() == 0) sum = MatrixXd::Zero(up.rows(), up.cols());
    sum += kWeights[i - 1] / kStep * (up - down);
  }
  return sum;
}

double matrix_error(const MatrixXd& a, const MatrixXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / std::max(1.0, b.cwiseAbs().maxCoeff());
}

TEST(SecondDerivatives, OfTreesAgreeWithDifferencesOfTheFirst) {
  Random random(61);
  Worst worst;
  std::vector<HingeType> types = kMovingTypes;
  std::erase(types, HingeType::custom);
  for (int i = 0; i < 12; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + i / 3;
    settings.free_base = i % 3 == 1;
    settings.types = types;
    MechanismBuilder builder = random_tree(random, settings);
    if (i % 2 == 0) add_drives(random, builder, i % 4 == 0 ? Carrier::parent : Carrier::anywhere);
    const Mechanism m = builder.finish();
    ASSERT_TRUE(serves_dual_numbers(m));
    const Case c = random_case(random, m, 0);
    SensitivityWorkspace w(m);
    const InverseSecondDerivatives s = inverse_second_derivatives(m, c.state, c.acceleration, w);
    const ForwardSecondDerivatives f = forward_second_derivatives(m, c.state, c.effort, w);
    for (int k = 0; k < m.freedoms(); ++k) {
      const std::size_t j = to_size(k);
      const auto along = [&](double q, double v) {
        State there = c.state;
        VectorXd step = VectorXd::Zero(m.freedoms());
        step[k] = q;
        there.q = integrate(m, there.q, step);
        there.v[k] += v;
        return there;
      };
      const auto inverse = [&](const State& at) {
        return inverse_dynamics_derivatives(m, at, c.acceleration, w);
      };
      const auto forward = [&](const State& at) {
        return forward_dynamics_derivatives(m, at, c.effort, w);
      };
      worst.take(
          matrix_error(s.qq[j], slope_of([&](double e) { return inverse(along(e, 0)).dq; })));
      worst.take(
          matrix_error(s.vq[j], slope_of([&](double e) { return inverse(along(e, 0)).dv; })));
      worst.take(
          matrix_error(s.aq[j], slope_of([&](double e) { return inverse(along(e, 0)).da; })));
      worst.take(
          matrix_error(s.vv[j], slope_of([&](double e) { return inverse(along(0, e)).dv; })));
      worst.take(
          matrix_error(f.qq[j], slope_of([&](double e) { return forward(along(e, 0)).dq; })));
      worst.take(
          matrix_error(f.vq[j], slope_of([&](double e) { return forward(along(e, 0)).dv; })));
      worst.take(
          matrix_error(f.uq[j], slope_of([&](double e) { return forward(along(e, 0)).deffort; })));
      worst.take(
          matrix_error(f.qv[j], slope_of([&](double e) { return forward(along(0, e)).dq; })));
      worst.take(
          matrix_error(f.vv[j], slope_of([&](double e) { return forward(along(0, e)).dv; })));
    }
  }
  printf("    second derivatives %.1e\n", worst.value);
  EXPECT_LT(worst.value, kSecondTolerance);
}

// ∂²T/∂v² is M, so ∂(∂τ/∂v)/∂v of the velocity terms is symmetric in its last two places.
TEST(SecondDerivatives, OfVelocitiesAreSymmetric) {
  Random random(62);
  TreeSettings settings;
  settings.bodies = 5;
  std::erase(settings.types, HingeType::custom);
  const Mechanism m = random_tree(random, settings).finish();
  const Case c = random_case(random, m, 0);
  SensitivityWorkspace w(m);
  const InverseSecondDerivatives s = inverse_second_derivatives(m, c.state, c.acceleration, w);
  for (int k = 0; k < m.freedoms(); ++k)
    for (int l = 0; l < m.freedoms(); ++l)
      EXPECT_LT((s.vv[index(k)].col(l) - s.vv[index(l)].col(k)).norm(), 1e-11);
}

TEST(SecondDerivatives, OfALoop) {
  const Mechanism m = four_bar();
  const State s = four_bar_state(m, 0.7, 1.3);
  const VectorXd effort = catena::vector({0.5, -0.2, 0.3});
  SensitivityWorkspace w(m);
  const ForwardSecondDerivatives f = forward_second_derivatives(m, s, effort, w);
  ASSERT_EQ(f.qq.size(), 1u);
  const std::vector<int> own = w.dynamics().independent();
  // Second difference of the acceleration itself.
  const auto at = [&](double q) {
    const State there = displaced(m, s, own, VectorXd::Constant(1, q), VectorXd::Zero(1));
    return forward_dynamics(m, there, effort)[own[0]];
  };
  const double h = 2e-3;
  const double expected =
      (-at(2 * h) + 16 * at(h) - 30 * at(0) + 16 * at(-h) - at(-2 * h)) / (12.0 * h * h);
  EXPECT_NEAR(f.qq[0](0, 0), expected, 1e-6 * std::max(1.0, std::abs(expected)));
}

}  // namespace
}  // namespace catena::test
