// SPDX-License-Identifier: BSD-3-Clause
#include "catena/spatial/dual.h"

#include <gtest/gtest.h>

#include "catena/spatial/testing/test_support.h"

namespace catena::test {

// Extended precision as a scalar of the spatial types, to take finite differences of them.
struct Wide {
  Real v = 0;

  Wide() = default;
  Wide(double x) : v(x) {}  // NOLINT: as for every scalar
  static Wide of(Real x) {
    Wide w;
    w.v = x;
    return w;
  }
  friend Wide operator+(Wide a, Wide b) { return of(a.v + b.v); }
  friend Wide operator-(Wide a, Wide b) { return of(a.v - b.v); }
  friend Wide operator*(Wide a, Wide b) { return of(a.v * b.v); }
  friend Wide operator/(Wide a, Wide b) { return of(a.v / b.v); }
  friend Wide operator-(Wide a) { return of(-a.v); }
  friend bool operator<(Wide a, Wide b) { return a.v < b.v; }
  friend Wide select(bool mask, Wide a, Wide b) { return mask ? a : b; }
  friend Wide sqrt(Wide a) { return of(std::sqrt(a.v)); }
  friend Wide atan2(Wide y, Wide x) { return of(std::atan2(y.v, x.v)); }
  friend SinCos<Wide> sincos(Wide a) { return {of(std::sin(a.v)), of(std::cos(a.v))}; }
};

namespace {

using Dual1 = Dual<double, 1>;
using Dual2 = Dual<double, 2>;
using Second = Dual<Dual<double, 1>, 1>;

// x with unit first derivatives in both layers: f(x) then carries f, f′ (twice) and f″.
Second second(double x) {
  Second y(x);
  y.value.derivative[0] = 1.0;
  y.derivative[0].value = 1.0;
  return y;
}

// Up to rounding of the largest term that the result is a sum of.
void expect_close(double actual, Real expected, Real largest_term = 1) {
  EXPECT_LE(error(actual, expected), 4e-16L * std::max(largest_term, std::abs(expected)))
      << actual << " instead of " << expected;
}

// Value, first and second derivative of f against those given.
void expect_derivatives(const auto& f, double x, Real value, Real first, Real second_derivative) {
  const Second y = f(second(x));
  expect_close(y.value.value, value);
  expect_close(y.value.derivative[0], first);
  expect_close(y.derivative[0].value, first);
  expect_close(y.derivative[0].derivative[0], second_derivative);
  const Dual1 z = f(Dual1::variable(x, 0));
  expect_close(z.value, value);
  expect_close(z.derivative[0], first);
}

TEST(Dual, ElementaryFunctionsHaveTheDerivativesOfTheTables) {
  for (const double x : {-1.3, -0.4, 0.2, 0.9, 1.7}) {
    SCOPED_TRACE(x);
    const Real t = x;
    const Real s = std::sin(t), c = std::cos(t), e = std::exp(t), h = std::tanh(t);
    expect_derivatives([](const auto& a) { return sin(a); }, x, s, c, -s);
    expect_derivatives([](const auto& a) { return cos(a); }, x, c, -s, -c);
    expect_derivatives([](const auto& a) { return exp(a); }, x, e, e, e);
    expect_derivatives([](const auto& a) { return tanh(a); }, x, h, 1 - h * h,
                       -2 * h * (1 - h * h));
    const Real sign = x < 0 ? -1 : 1;
    expect_derivatives([](const auto& a) { return abs(a); }, x, std::abs(t), sign, 0);
    expect_derivatives([](const auto& a) { return -a; }, x, -t, -1, 0);
  }
  for (const double x : {0.3, 1.0, 2.5}) {
    const Real r = std::sqrt(Real(x));
    expect_derivatives([](const auto& a) { return sqrt(a); }, x, r, 1 / (2 * r), -1 / (4 * r * x));
  }
}

TEST(Dual, ProductsAndQuotientsFollowTheRules) {
  const double x = 0.7;
  const Real t = x;
  expect_derivatives([](const auto& a) { return a * a * a; }, x, t * t * t, 3 * t * t, 6 * t);
  expect_derivatives([](const auto& a) { return 1.0 / a; }, x, 1 / t, -1 / (t * t),
                     2 / (t * t * t));
  expect_derivatives([](const auto& a) { return a / 4.0 - 2.0 * a + 3.0; }, x, t / 4 - 2 * t + 3,
                     -1.75L, 0);
  // x / (1 + x²): (1 − x²)/(1 + x²)², 2x(x² − 3)/(1 + x²)³
  const Real q = 1 + t * t;
  expect_derivatives([](const auto& a) { return a / (1.0 + a * a); }, x, t / q,
                     (1 - t * t) / (q * q), 2 * t * (t * t - 3) / (q * q * q));
}

TEST(Dual, CompoundAssignmentIsTheOperator) {
  const Dual2 x = Dual2::variable(3.0, 0);
  const Dual2 y = Dual2::variable(4.0, 1);
  const auto expect = [](const Dual2& a, double value, double dx, double dy) {
    EXPECT_EQ(a.value, value);
    EXPECT_EQ(a.derivative[0], dx);
    EXPECT_EQ(a.derivative[1], dy);
  };
  Dual2 a = x;
  expect(a += y, 7, 1, 1);
  expect(a -= x, 4, 0, 1);
  expect(a *= x, 12, 4, 3);
  expect(a /= y, 3, 1, 0);
  const Dual2& itself = a;
  expect(a *= itself, 9, 6, 0);
  expect(a /= itself, 1, 0, 0);
}

TEST(Dual, Atan2HasItsGradientAndHessianInEveryQuadrant) {
  for (const auto& [y, x] :
       {std::pair{0.5, 1.2}, {1.1, -0.3}, {-0.7, -0.9}, {-0.2, 0.4}, {1.0, 0.0}}) {
    using D = Dual<Dual<double, 2>, 2>;
    D dy(y), dx(x);
    dy.value.derivative[0] = dy.derivative[0].value = 1.0;
    dx.value.derivative[1] = dx.derivative[1].value = 1.0;
    const D a = atan2(dy, dx);
    const Real Y = y, X = x, n = X * X + Y * Y;
    expect_close(a.value.value, std::atan2(Y, X));
    expect_close(a.value.derivative[0], X / n);
    expect_close(a.value.derivative[1], -Y / n);
    expect_close(a.derivative[0].derivative[0], -2 * X * Y / (n * n), 2 / n);
    expect_close(a.derivative[1].derivative[1], 2 * X * Y / (n * n), 2 / n);
    expect_close(a.derivative[0].derivative[1], (Y * Y - X * X) / (n * n), 2 / n);
    expect_close(a.derivative[1].derivative[0], (Y * Y - X * X) / (n * n), 2 / n);
  }
}

TEST(Dual, AConstantHasNoDerivativeAndAVariableOne) {
  const Dual2 constant = 5.0;
  EXPECT_EQ(constant.derivative[0], 0.0);
  EXPECT_EQ(constant.derivative[1], 0.0);
  const Dual2 variable = Dual2::variable(5.0, 1);
  EXPECT_EQ(variable.value, 5.0);
  EXPECT_EQ(variable.derivative[0], 0.0);
  EXPECT_EQ(variable.derivative[1], 1.0);
}

TEST(Dual, ComparisonLooksAtTheValueAndSelectTakesTheDerivativeAlong) {
  const Dual1 low = Dual1::variable(1.0, 0);
  Dual1 high(2.0);
  high.derivative[0] = -7.0;
  EXPECT_TRUE(low < high);
  EXPECT_TRUE(high > low);
  EXPECT_TRUE(low <= low);
  EXPECT_TRUE(low >= low);
  EXPECT_FALSE(low >= high);
  EXPECT_EQ(select(low < high, low, high).derivative[0], 1.0);
  EXPECT_EQ(select(high < low, low, high).derivative[0], -7.0);
  EXPECT_EQ(abs(Dual1(-2.0)).value, 2.0);
}

TEST(Dual, TheValueOfAQuotientIsThatOfPlainNumbers) {
  Random random;
  for (int trial = 0; trial < 1000; ++trial) {
    const double a = random.number();
    const double b = random.number();
    EXPECT_EQ((Dual1(a) / Dual1(b)).value, a / b);
  }
  EXPECT_EQ((Dual1(3e-310) / Dual1(1e-310)).value, 3e-310 / 1e-310);  // 1/1e-310 overflows
}

TEST(Dual, LanesOfAPackAreDifferentiatedOneByOne) {
  using D = Dual<Pack, 1>;
  double x[Pack::kLanes], y[Pack::kLanes];
  Random random;
  for (int i = 0; i < Pack::kLanes; ++i) {
    x[i] = random.number();
    y[i] = 1.5 + random.number();
  }
  const auto f = [](const auto& a, const auto& b) {
    return sin(a) * exp(b) / sqrt(b) + tanh(a * b) - atan2(a, b) * abs(a) + cos(b);
  };
  const D all = f(D::variable(Pack::load(x), 0), [&] {
    D b(0.0);
    b.value = Pack::load(y);
    return b;
  }());
  for (int i = 0; i < Pack::kLanes; ++i) {
    const Dual1 one = f(Dual1::variable(x[i], 0), Dual1(y[i]));
    EXPECT_NEAR(all.value.lane(i), one.value, 4e-15);
    EXPECT_NEAR(all.derivative[0].lane(i), one.derivative[0], 4e-15);
  }
}

// A seed for the medley whose first two rotations have the given angles.
std::vector<Real> medley_input(Random& random, Real angle1, Real angle2) {
  std::vector<Real> in;
  in.reserve(18);
  for (int k = 0; k < 18; ++k) in.push_back(random.number());
  const auto set_angle = [&](std::size_t k, Real angle) {
    const Real length = std::sqrt(in[k] * in[k] + in[k + 1] * in[k + 1] + in[k + 2] * in[k + 2]);
    for (std::size_t i = k; i < k + 3; ++i) in[i] = double(in[i] / length * angle);
  };
  set_angle(0, angle1);
  set_angle(3, angle2);
  return in;
}

// Central differences of order six in extended precision.
std::vector<Real> medley_difference(const std::vector<Real>& in,
                                    const std::vector<Real>& direction) {
  constexpr Real kStep = 1.0L / 512;
  const Real weights[] = {45.0L / 60, -9.0L / 60, 1.0L / 60};
  std::vector<Real> sum(52, 0);
  for (int k = 1; k <= 3; ++k)
    for (const int sign : {1, -1}) {
      std::vector<Wide> at;
      at.reserve(in.size());
      for (std::size_t i = 0; i < in.size(); ++i)
        at.push_back(Wide::of(in[i] + sign * k * kStep * direction[i]));
      const std::vector<Wide> out = spatial_medley(at);
      for (std::size_t i = 0; i < out.size(); ++i)
        sum[i] += sign * weights[k - 1] / kStep * out[i].v;
    }
  return sum;
}

TEST(Dual, DerivativesOfAChainOfSpatialOperationsAreItsFiniteDifferences) {
  Random random;
  for (const auto& [angle1, angle2] :
       {std::pair{0.5L, 0.1L}, {1.6L, 0.7L}, {2.4L, 2.0L}, {0.0L, 0.0L}}) {
    SCOPED_TRACE(double(angle1));
    const std::vector<Real> in = medley_input(random, angle1, angle2);
    std::vector<Real> direction[2];
    std::vector<Dual2> x;
    for (const Real value : in) {
      Dual2 variable(static_cast<double>(value));
      for (int k = 0; k < 2; ++k) {
        variable.derivative[k] = 0.3 * random.number();
        direction[k].push_back(variable.derivative[k]);
      }
      x.push_back(variable);
    }
    const std::vector<Dual2> out = spatial_medley(x);
    for (int k = 0; k < 2; ++k) {
      const std::vector<Real> expected = medley_difference(in, direction[k]);
      ASSERT_EQ(out.size(), expected.size());
      for (std::size_t i = 0; i < out.size(); ++i)
        EXPECT_LE(error(out[i].derivative[k], expected[i]), 1e-11L * (1 + std::abs(expected[i])))
            << "output " << i;
    }
  }
}

TEST(Dual, SecondDerivativesOfAChainAreDifferencesOfTheFirst) {
  Random random;
  const std::vector<Real> in = medley_input(random, 1.4L, 0.3L);
  std::vector<double> e, f;
  for (int k = 0; k < 18; ++k) {
    e.push_back(0.3 * random.number());
    f.push_back(0.3 * random.number());
  }
  std::vector<Second> x;
  for (std::size_t i = 0; i < 18; ++i) {
    Second variable(static_cast<double>(in[i]));
    variable.value.derivative[0] = e[i];
    variable.derivative[0].value = f[i];
    x.push_back(variable);
  }
  const std::vector<Second> out = spatial_medley(x);

  constexpr Real kStep = 1.0L / 512;
  const Real weights[] = {45.0L / 60, -9.0L / 60, 1.0L / 60};
  std::vector<Real> expected(out.size(), 0);
  for (int k = 1; k <= 3; ++k)
    for (const int sign : {1, -1}) {
      std::vector<Real> at = in;
      for (std::size_t i = 0; i < 18; ++i) at[i] += sign * k * kStep * f[i];
      const std::vector<Real> slope = medley_difference(at, {e.begin(), e.end()});
      for (std::size_t i = 0; i < slope.size(); ++i)
        expected[i] += sign * weights[k - 1] / kStep * slope[i];
    }
  for (std::size_t i = 0; i < out.size(); ++i)
    EXPECT_LE(error(out[i].derivative[0].derivative[0], expected[i]),
              1e-9L * (1 + std::abs(expected[i])))
        << "output " << i;
}

}  // namespace
}  // namespace catena::test
