// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/interval_polynomials.h"

#include <algorithm>
#include <cmath>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/base/index.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMostParameters = 12;

Index degree_of(const VectorXd& p) {
  Index n = p.size() - 1;
  while (n >= 0 && p[n] == 0.0) --n;
  return n;
}

// H(i, j) = a_{2 j − i + 1} counted from the highest power, n × n.
MatrixXd hurwitz_matrix(const VectorXd& p) {
  const Index n = p.size() - 1;
  MatrixXd h = MatrixXd::Zero(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      if (const Index k = 2 * (j + 1) - (i + 1); k >= 0 && k <= n) h(i, j) = p[n - k];
  return h;
}

// Both ends stable and of the same sign of the leading coefficient: none on the way is not.
bool edge_stable(const VectorXd& p, const VectorXd& q) {
  constexpr double kReal = 1e-10;
  const Index n = p.size() - 1;
  if (p[n] * q[n] <= 0.0 || !is_hurwitz(p) || !is_hurwitz(q)) return false;
  const Eigen::VectorXcd values = eigenvalues(Lu(hurwitz_matrix(p)).solve(hurwitz_matrix(q)));
  return std::none_of(values.begin(), values.end(), [&](const std::complex<double>& v) {
    return v.real() <= 0.0 && std::abs(v.imag()) <= kReal * std::abs(v);
  });
}

template <class Stable>
double largest_size(Stable stable) {
  if (!stable(0.0)) throw Error("the middle of the family of polynomials is not stable");
  double low = 0.0, high = 1.0;
  constexpr double kUnbounded = 1e12;
  while (stable(high)) {
    low = high;
    high *= 2.0;
    if (high > kUnbounded) return std::numeric_limits<double>::infinity();
  }
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (stable(middle) ? low : high) = middle;
  }
  return low;
}

IntervalPolynomial resized(const IntervalPolynomial& family, double size) {
  const VectorXd middle = 0.5 * (family.low + family.high),
                 half = 0.5 * size * (family.high - family.low);
  return {middle - half, middle + half};
}

}  // namespace

bool is_hurwitz(const VectorXd& p) {
  const Index n = degree_of(p);
  if (n < 0) return false;
  if (n == 0) return true;
  MatrixXd companion = MatrixXd::Zero(n, n);
  companion.topRightCorner(n - 1, n - 1).setIdentity();
  companion.bottomRows(1) = -p.head(n).transpose() / p[n];
  return eigenvalues(companion).real().maxCoeff() < 0.0;
}

std::array<VectorXd, 4> kharitonov_polynomials(const IntervalPolynomial& family) {
  if (family.low.size() != family.high.size() || family.low.size() == 0)
    throw Error("an interval polynomial has as many lower as upper coefficients, at least one");
  constexpr bool kHigh[4][4] = {{false, false, true, true},
                                {true, true, false, false},
                                {false, true, true, false},
                                {true, false, false, true}};
  std::array<VectorXd, 4> list;
  for (std::size_t k = 0; k < 4; ++k) {
    list[k] = family.low;
    for (Index i = 0; i < family.low.size(); ++i) {
      if (!(family.low[i] <= family.high[i]))
        throw Error("the interval of coefficient " + std::to_string(i) +
                    " of a polynomial is not in ascending order");
      if (kHigh[k][i % 4]) list[k][i] = family.high[i];
    }
  }
  return list;
}

bool kharitonov_stable(const IntervalPolynomial& family) {
  const Index n = family.low.size() - 1;
  const auto four = kharitonov_polynomials(family);
  if (family.low[n] * family.high[n] <= 0.0) return false;
  return std::all_of(four.begin(), four.end(), [](const VectorXd& p) { return is_hurwitz(p); });
}

double interval_margin(const IntervalPolynomial& family) {
  return largest_size([&](double t) { return kharitonov_stable(resized(family, t)); });
}

bool edges_stable(const AffinePolynomial& family, double size) {
  const auto k = std::ssize(family.parts);
  if (k > kMostParameters)
    throw Error("the edges of a box of " + std::to_string(k) +
                " parameters are too many; use the structured singular value");
  for (const VectorXd& part : family.parts)
    if (part.size() != family.base.size())
      throw Error("the parts of a family of polynomials have different lengths");
  const auto corner = [&](unsigned signs) {
    VectorXd p = family.base;
    for (Index i = 0; i < k; ++i)
      p += ((signs >> static_cast<unsigned>(i)) & 1u ? size : -size) * at(family.parts, i);
    return p;
  };
  if (k == 0) return is_hurwitz(family.base);
  for (unsigned signs = 0; signs < (1u << static_cast<unsigned>(k)); ++signs)
    for (unsigned i = 0; i < static_cast<unsigned>(k); ++i)
      if (((signs >> i) & 1u) == 0u && !edge_stable(corner(signs), corner(signs | (1u << i))))
        return false;
  return true;
}

double edge_margin(const AffinePolynomial& family) {
  return largest_size([&](double t) { return edges_stable(family, t); });
}

}  // namespace catena
