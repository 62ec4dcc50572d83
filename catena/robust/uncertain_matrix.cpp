// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/uncertain_matrix.h"

#include <algorithm>
#include <numeric>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/base/index.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd diagonal_blocks(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd result = MatrixXd::Zero(a.rows() + b.rows(), a.cols() + b.cols());
  result.topLeftCorner(a.rows(), a.cols()) = a;
  result.bottomRightCorner(b.rows(), b.cols()) = b;
  return result;
}
MatrixXd columns_of(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd result(a.rows(), a.cols() + b.cols());
  result << a, b;
  return result;
}
MatrixXd rows_of(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd result(a.rows() + b.rows(), a.cols());
  result << a, b;
  return result;
}
std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void require(bool good, const char* what, const UncertainMatrix& a, const UncertainMatrix& b) {
  if (good) return;
  throw Error(std::string("uncertain matrices of sizes ") + std::to_string(a.rows()) + " x " +
              std::to_string(a.columns()) + " and " + std::to_string(b.rows()) + " x " +
              std::to_string(b.columns()) + " do not fit for " + what);
}

// An orthonormal basis of the least subspace that holds the columns of b and that a maps into
// itself. `rounding`: columns this short are none.
MatrixXd reachable(const MatrixXd& a, const MatrixXd& b, double tolerance, double rounding) {
  const Index n = a.rows();
  MatrixXd basis(n, 0), fresh = b;
  const double size = b.norm();
  if (!(size > rounding)) return basis;
  double scale = size;
  while (basis.cols() < n && fresh.cols() > 0) {
    for (int twice = 0; twice < 2; ++twice) fresh -= basis * (basis.transpose() * fresh);
    const Svd svd = thin_svd(fresh);
    Index rank = 0;
    while (rank < svd.values.size() && svd.values[rank] > tolerance * scale) ++rank;
    if (rank == 0) break;
    const MatrixXd added = svd.u.leftCols(rank);
    basis = columns_of(basis, added);
    fresh = a * added;
    scale = std::max(a.norm(), 1.0);  // |Δ| is of the order of one
  }
  return basis;
}

// The channels `first` to `first + count` replaced by those of a basis v, with v̂ᵀ v = 1.
UncertainMatrix restricted(const UncertainMatrix& f, Index first, Index count, const MatrixXd& v) {
  const Index n = f.m11.rows(), kept = n - count + v.cols();
  MatrixXd t = MatrixXd::Zero(n, kept);
  t.topLeftCorner(first, first).setIdentity();
  t.block(first, first, count, v.cols()) = v;
  t.bottomRightCorner(n - first - count, n - first - count).setIdentity();
  UncertainMatrix result;
  result.m11 = t.transpose() * f.m11 * t;
  result.m12 = t.transpose() * f.m12;
  result.m21 = f.m21 * t;
  result.m22 = f.m22;
  result.channels = f.channels;
  result.channels.erase(result.channels.begin() + first + v.cols(),
                        result.channels.begin() + first + count);
  return result;
}

UncertainMatrix permuted(const UncertainMatrix& f, const std::vector<int>& order) {
  UncertainMatrix result = f;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<Index>(order[i]);
    const auto to = static_cast<Index>(i);
    result.m12.row(to) = f.m12.row(from);
    result.m21.col(to) = f.m21.col(from);
    result.channels[i] = at(f.channels, from);
    for (std::size_t j = 0; j < order.size(); ++j)
      result.m11(to, static_cast<Index>(j)) = f.m11(from, order[j]);
  }
  return result;
}

}  // namespace

int UncertainMatrix::entries_of(const std::string& name) const {
  return static_cast<int>(std::count(channels.begin(), channels.end(), name));
}

std::vector<std::string> UncertainMatrix::names() const {
  std::vector<std::string> list;
  for (const std::string& name : channels)
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  return list;
}

MatrixXd UncertainMatrix::value(const std::map<std::string, double>& values) const {
  const Index n = m11.rows();
  if (n == 0) return m22;
  VectorXd delta(n);
  for (Index i = 0; i < n; ++i) {
    const auto found = values.find(at(channels, i));
    delta[i] = found == values.end() ? 0.0 : found->second;
  }
  const MatrixXd loop = MatrixXd::Identity(n, n) - m11 * delta.asDiagonal();
  const MatrixXd signals = Lu(loop).solve(m12);
  if (!signals.allFinite())
    throw NumericalError("an uncertain matrix is infinite at these values of its parameters");
  return m22 + m21 * delta.asDiagonal() * signals;
}

UncertainMatrix constant(const MatrixXd& value) {
  return {MatrixXd(0, 0), MatrixXd(0, value.cols()), MatrixXd(value.rows(), 0), value, {}};
}
UncertainMatrix constant(double value) { return constant(MatrixXd::Constant(1, 1, value)); }

UncertainMatrix parameter(const std::string& name, int size) {
  return {MatrixXd::Zero(size, size), MatrixXd::Identity(size, size),
          MatrixXd::Identity(size, size), MatrixXd::Zero(size, size),
          std::vector<std::string>(to_size(size), name)};
}

UncertainMatrix operator+(const UncertainMatrix& a, const UncertainMatrix& b) {
  require(a.rows() == b.rows() && a.columns() == b.columns(), "a sum", a, b);
  return {diagonal_blocks(a.m11, b.m11), rows_of(a.m12, b.m12), columns_of(a.m21, b.m21),
          a.m22 + b.m22, joined(a.channels, b.channels)};
}
UncertainMatrix operator-(const UncertainMatrix& a, const UncertainMatrix& b) {
  return a + (-1.0) * b;
}

UncertainMatrix operator*(const UncertainMatrix& a, const UncertainMatrix& b) {
  require(a.columns() == b.rows(), "a product", a, b);
  UncertainMatrix result{diagonal_blocks(a.m11, b.m11), rows_of(a.m12 * b.m22, b.m12),
                         columns_of(a.m21, a.m22 * b.m21), a.m22 * b.m22,
                         joined(a.channels, b.channels)};
  result.m11.topRightCorner(a.m11.rows(), b.m11.cols()) = a.m12 * b.m21;
  return result;
}
UncertainMatrix operator*(double factor, const UncertainMatrix& a) {
  return {a.m11, a.m12, factor * a.m21, factor * a.m22, a.channels};
}

UncertainMatrix beside(const UncertainMatrix& a, const UncertainMatrix& b) {
  require(a.rows() == b.rows(), "standing side by side", a, b);
  return {diagonal_blocks(a.m11, b.m11), diagonal_blocks(a.m12, b.m12), columns_of(a.m21, b.m21),
          columns_of(a.m22, b.m22), joined(a.channels, b.channels)};
}
UncertainMatrix above(const UncertainMatrix& a, const UncertainMatrix& b) {
  require(a.columns() == b.columns(), "standing one above the other", a, b);
  return {diagonal_blocks(a.m11, b.m11), rows_of(a.m12, b.m12), diagonal_blocks(a.m21, b.m21),
          rows_of(a.m22, b.m22), joined(a.channels, b.channels)};
}

UncertainMatrix inverse(const UncertainMatrix& a) {
  require(a.rows() == a.columns(), "an inverse", a, a);
  const MatrixXd inverted = Lu(a.m22).inverse();
  if (!inverted.allFinite())
    throw NumericalError("an uncertain matrix is singular at its nominal value");
  return {a.m11 - a.m12 * inverted * a.m21, a.m12 * inverted, -inverted * a.m21, inverted,
          a.channels};
}

UncertainMatrix reduce(const UncertainMatrix& a, double tolerance) {
  std::vector<int> order(a.channels.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int i, int j) { return a.channels[to_size(i)] < a.channels[to_size(j)]; });
  UncertainMatrix f = permuted(a, order);
  constexpr double kRounding = 1e-14;
  const double rounding = kRounding * std::max({1.0, a.m11.norm(), a.m12.norm(), a.m21.norm()});
  bool smaller = true;
  while (smaller) {
    smaller = false;
    for (const std::string& name : f.names())
      for (const bool dual : {false, true}) {
        const auto begin = std::find(f.channels.begin(), f.channels.end(), name);
        if (begin == f.channels.end()) continue;
        const Index first = begin - f.channels.begin(), count = f.entries_of(name);
        const Index n = f.m11.rows(), after = n - first - count;
        MatrixXd own = f.m11.block(first, first, count, count), from(count, n - count);
        if (dual) {
          own.transposeInPlace();
          from << f.m11.block(0, first, first, count).transpose(),
              f.m11.block(first + count, first, after, count).transpose();
          from = columns_of(from, f.m21.middleCols(first, count).transpose());
        } else {
          from << f.m11.block(first, 0, count, first),
              f.m11.block(first, first + count, count, after);
          from = columns_of(from, f.m12.middleRows(first, count));
        }
        const MatrixXd basis = reachable(own, from, tolerance, rounding);
        if (basis.cols() == count) continue;
        f = restricted(f, first, count, basis);
        smaller = true;
      }
  }
  return f;
}

UncertainMatrix substituted(const UncertainMatrix& f, const std::string& name, double a, double b) {
  UncertainMatrix result = f;
  for (Index i = 0; i < f.m11.rows(); ++i) {
    if (at(f.channels, i) != name) continue;
    result.m11.row(i) *= a;
    result.m12.row(i) *= a;
    result.m11(i, i) += b;
  }
  return result;
}

}  // namespace catena
