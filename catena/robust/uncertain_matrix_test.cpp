// SPDX-License-Identifier: BSD-3-Clause
// Fractional forms beside the expressions that they stand for.
#include "catena/robust/uncertain_matrix.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/robust/polynomial_dependence.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(UncertainMatrix, IsTheExpressionThatItStandsFor) {
  const UncertainMatrix a = constant(2.0) + parameter("a"), b = constant(3.0) + parameter("b");
  // [ (2 + a)(3 + b), a² ; 1/(3 + b), a b/(2 + a) ]
  const UncertainMatrix pa = parameter("a"), pb = parameter("b");
  const UncertainMatrix f = above(beside(a * b, pa * pa), beside(inverse(b), pa * pb * inverse(a)));
  const UncertainMatrix g = reduce(f);
  EXPECT_LE(g.entries(), f.entries());
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (int i = 0; i < 50; ++i) {
    const double x = uniform(random), y = uniform(random);
    MatrixXd expected(2, 2);
    expected << (2.0 + x) * (3.0 + y), x * x, 1.0 / (3.0 + y), x * y / (2.0 + x);
    for (const UncertainMatrix* u : {&f, &g})
      EXPECT_NEAR((u->value({{"a", x}, {"b", y}}) - expected).norm(), 0.0, 1e-13);
  }
}

TEST(UncertainMatrix, ReductionFindsWhatCancels) {
  const UncertainMatrix x = parameter("x");
  EXPECT_EQ(reduce(x - x).entries(), 0);
  EXPECT_EQ(reduce(x + x).entries(), 1);
  const UncertainMatrix one = constant(1.0);
  EXPECT_EQ(reduce((one + x) * inverse(one + x)).entries(), 0);
  EXPECT_EQ(reduce(beside(x, 2.0 * x)).entries(), 1);
  EXPECT_EQ(reduce(above(x, 3.0 * x)).entries(), 1);
  EXPECT_THROW(inverse(x), NumericalError);
}

TEST(UncertainMatrix, SubstitutesAFraction) {
  const UncertainMatrix f = substituted(parameter("x", 2), "x", 0.7, 0.4);
  const double d = 0.3;
  EXPECT_NEAR(f.value({{"x", d}})(0, 0), 0.7 * d / (1.0 - 0.4 * d), 1e-15);
}

TEST(PolynomialDependence, IsFoundExactly) {
  // Affine in a rank-one and a rank-two matrix, and a product of all three.
  const VectorXd u = VectorXd::LinSpaced(4, 1.0, 2.0), v = VectorXd::LinSpaced(4, -1.0, 0.5);
  const MatrixXd base = 0.1 * MatrixXd::Identity(4, 4), one = 0.2 * u * v.transpose();
  const MatrixXd two = 0.1 * (u * u.transpose() + v * v.transpose());
  const auto f = [&](const VectorXd& x) -> MatrixXd {
    return base + x[0] * one + x[1] * two + 0.05 * x[0] * x[1] * x[2] * base +
           0.3 * x[2] * x[2] * one;
  };
  const VectorXd low = VectorXd::Constant(3, -1.0), high = VectorXd::Constant(3, 0.8);
  const PolynomialDependence p = fit_dependence(f, low, high);
  EXPECT_TRUE(p.complete);
  EXPECT_LT(p.error, 1e-13);
  EXPECT_EQ(p.degree(), 3);
  const UncertainMatrix m = uncertain_matrix(p, {"a", "b", "c"});
  for (int i = 0; i < 20; ++i) {
    const VectorXd x = VectorXd::Random(3);
    EXPECT_NEAR((m.value({{"a", x[0]}, {"b", x[1]}, {"c", x[2]}}) - f(x)).norm(), 0.0, 1e-12);
  }
}

TEST(PolynomialDependence, AffineOnesCostTheirRank) {
  const VectorXd u = VectorXd::LinSpaced(5, 1.0, 2.0), v = VectorXd::LinSpaced(5, -1.0, 0.5);
  const MatrixXd base = MatrixXd::Identity(5, 5), one = 0.2 * u * v.transpose();
  const MatrixXd two = 0.1 * (u * u.transpose() + v * v.transpose());
  const auto f = [&](const VectorXd& x) -> MatrixXd { return base + x[0] * one + x[1] * two; };
  const VectorXd edge = VectorXd::Ones(2);
  const PolynomialDependence p = fit_dependence(f, -edge, edge, {.checks = 0});
  EXPECT_EQ(p.evaluations, 6);  // 1 + 2 + 3
  const UncertainMatrix m = uncertain_matrix(p, {"a", "b"});
  EXPECT_EQ(m.entries_of("a"), 1);
  EXPECT_EQ(m.entries_of("b"), 2);
}

TEST(PolynomialDependence, SaysTheErrorOfWhatIsNone) {
  const auto f = [](const VectorXd& x) -> MatrixXd {
    return MatrixXd::Constant(1, 1, std::sqrt(2.0 + x[0]));
  };
  const VectorXd edge = VectorXd::Ones(1);
  const PolynomialDependence p = fit_dependence(f, -edge, edge, {.degree = 4});
  EXPECT_FALSE(p.complete);
  EXPECT_GT(p.error, 1e-7);
  EXPECT_LT(p.error, 1e-3);
}

}  // namespace
}  // namespace catena
