// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/flexible/flexible_completion.h"

#include <cmath>

#include <Eigen/Geometry>

#include "catena/base/dense.h"
#include "catena/base/index.h"

namespace catena {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int kRow[6] = {0, 0, 0, 1, 1, 2}, kColumn[6] = {0, 1, 2, 1, 2, 2};
// Functions x, y, z whose second moment over the body is below this fraction of the largest are
// zero on it: a straight beam has one.
constexpr double kFlat = 1e-10;
// What a difference of constants leaves below this fraction of them is rounding.
constexpr double kRounding = 1e-13;
// A hinge that keeps a smaller share of the rigid inertia next to the modes needs completion: a
// slender beam loses 0.14 % of J when its first mode deflects the tip by a tenth of the length.
// Three modes in a plane leave 0.146 %, four 0.064 %.
constexpr double kOwnShare = 0.001;

Vector3d mass_moment_of(const FlexibleBody& b) { return to_eigen(b.mass_moment); }

void subtract(MatrixXd& from, const MatrixXd& what) {
  const double scale = from.size() > 0 ? from.cwiseAbs().maxCoeff() : 0.0;
  from -= what;
  if (from.size() > 0 && from.cwiseAbs().maxCoeff() <= kRounding * scale) from.setZero();
}

// The moments with the functions 1, x, y, z as points whose functions are orthonormal.
std::vector<CompletedInertia::Point> points_of(const FlexibleBody& b) {
  const InertiaMoments& m = *b.moments;
  std::vector<CompletedInertia::Point> points;
  const double root = std::sqrt(b.mass);
  CompletedInertia::Point mean{root, mass_moment_of(b) / root, b.mass_moment_1 / root, {}};
  for (int c = 0; c < 3; ++c) at(mean.second, c) = at(b.mass_moment_2, c) / root;
  points.push_back(std::move(mean));
  const Vector3d center = mass_moment_of(b) / b.mass;
  const SymmetricEigen spread = symmetric_eigen(m.second - b.mass * center * center.transpose());
  for (int i = 0; i < 3; ++i) {
    if (!(spread.values[i] > kFlat * spread.values[2])) continue;
    const Vector3d function = spread.vectors.col(i) / std::sqrt(spread.values[i]);
    const double shift = function.dot(center);
    CompletedInertia::Point p{
        0.0, m.second * function - shift * mass_moment_of(b), -shift * b.mass_moment_1, {}};
    for (int j = 0; j < 3; ++j) p.first += function[j] * at(m.displacement_1, j);
    for (int c = 0; c < 3; ++c) {
      at(p.second, c) = -shift * at(b.mass_moment_2, c);
      for (int j = 0; j < 3; ++j) at(p.second, c) += function[j] * at(at(m.displacement_2, j), c);
    }
    points.push_back(std::move(p));
  }
  return points;
}

std::vector<CompletedInertia::Row> rows_of(const FlexibleBody& b) {
  const InertiaMoments& m = *b.moments;
  std::vector<CompletedInertia::Row> rows;
  const SymmetricEigen turning = symmetric_eigen(m.turning_0);
  for (int i = 0; i < 3; ++i) {
    if (!(turning.values[i] > kFlat * std::max(turning.values[2], 0.0))) continue;
    const Vector3d by = turning.vectors.col(i) / std::sqrt(turning.values[i]);
    CompletedInertia::Row row;
    row.turn = m.turning_0 * by;
    row.first.resize(3, b.modes());
    for (int a = 0; a < 3; ++a) {
      row.first.row(a) = by.transpose() * at(m.turning_1, a);
      at(row.second, a).setZero(b.modes(), b.modes());
      for (int r = 0; r < 3; ++r) at(row.second, a) += by[r] * at(at(m.turning_2, r), a);
    }
    row.slope = by.transpose() * m.slope_0;
    row.slope_1.setZero(b.modes(), b.modes());
    for (int r = 0; r < 3; ++r) row.slope_1 += by[r] * at(m.slope_1, r);
    rows.push_back(std::move(row));
  }
  return rows;
}

// J2 of a point: the second derivative of p·p 1 − p pᵀ.
MatrixXd inertia_2(const CompletedInertia::Point& p, int a, int b) {
  const auto product = [&](int i, int k) {
    const MatrixXd first = p.first.row(i).transpose() * p.first.row(k);
    return MatrixXd(first + first.transpose() + p.position[i] * at(p.second, k) +
                    p.position[k] * at(p.second, i));
  };
  MatrixXd sum = -product(a, b);
  for (int c = 0; c < 3 && a == b; ++c) sum += product(c, c);
  return sum;
}

// C1 of a point: p × ∂p.
MatrixXd coupling_1(const CompletedInertia::Point& p, int a) {
  const int b = (a + 1) % 3, c = (a + 2) % 3;
  return p.first.row(c).transpose() * p.first.row(b) - p.first.row(b).transpose() * p.first.row(c) +
         p.position[b] * at(p.second, c) - p.position[c] * at(p.second, b);
}

void subtract_points(FlexibleBody& b, const std::vector<CompletedInertia::Point>& points) {
  const int n = b.modes();
  MatrixXd h1 = MatrixXd::Zero(3, n), c0 = h1, mass = MatrixXd::Zero(n, n);
  MatrixXd j1 = MatrixXd::Zero(6, n);
  for (const CompletedInertia::Point& p : points) {
    h1 += p.scale * p.first;
    mass += p.first.transpose() * p.first;
    const Eigen::RowVectorXd along = p.position.transpose() * p.first;
    for (int c = 0; c < 6; ++c)
      j1.row(c) += (kRow[c] == kColumn[c] ? 2.0 : 0.0) * along -
                   p.position[kRow[c]] * p.first.row(kColumn[c]) -
                   p.position[kColumn[c]] * p.first.row(kRow[c]);
    for (int k = 0; k < n; ++k) c0.col(k) += p.position.cross(Vector3d(p.first.col(k)));
  }
  subtract(b.mass_moment_1, h1);
  subtract(b.inertia_1, j1);
  subtract(b.coupling_0, c0);
  b.modal_mass -= mass;
  for (int c = 0; c < 6; ++c) {
    MatrixXd sum = MatrixXd::Zero(n, n);
    for (const CompletedInertia::Point& p : points) sum += inertia_2(p, kRow[c], kColumn[c]);
    subtract(at(b.inertia_2, c), sum);
  }
  for (int c = 0; c < 3; ++c) {
    MatrixXd h2 = MatrixXd::Zero(n, n), c1 = h2;
    for (const CompletedInertia::Point& p : points) {
      h2 += p.scale * at(p.second, c);
      c1 += coupling_1(p, c);
    }
    subtract(at(b.mass_moment_2, c), h2);
    subtract(at(b.coupling_1, c), c1);
  }
}

void subtract_rows(FlexibleBody& b, const std::vector<CompletedInertia::Row>& rows) {
  if (rows.empty()) return;
  const int n = b.modes();
  MatrixXd c0 = MatrixXd::Zero(3, n), j1 = MatrixXd::Zero(6, n);
  std::array<MatrixXd, 6> j2;
  std::array<MatrixXd, 3> c1;
  j2.fill(MatrixXd::Zero(n, n));
  c1.fill(MatrixXd::Zero(n, n));
  for (const CompletedInertia::Row& r : rows) {
    c0 += r.turn * r.slope;
    b.modal_mass -= r.slope.transpose() * r.slope;
    for (int c = 0; c < 6; ++c) {
      const int i = kRow[c], k = kColumn[c];
      j1.row(c) += r.turn[i] * r.first.row(k) + r.turn[k] * r.first.row(i);
      const MatrixXd first = r.first.row(i).transpose() * r.first.row(k);
      at(j2, c) +=
          first + first.transpose() + r.turn[i] * at(r.second, k) + r.turn[k] * at(r.second, i);
    }
    for (int a = 0; a < 3; ++a)
      at(c1, a) += r.slope.transpose() * r.first.row(a) + r.turn[a] * r.slope_1;
  }
  subtract(b.coupling_0, c0);
  subtract(b.inertia_1, j1);
  for (int c = 0; c < 6; ++c) subtract(at(b.inertia_2, c), at(j2, c));
  for (int a = 0; a < 3; ++a) subtract(at(b.coupling_1, a), at(c1, a));
}

// The constants alone: columns ω, v, η̇.
MatrixXd inertia_of_constants(const FlexibleBody& b, const VectorXd& eta) {
  const int n = b.modes();
  MatrixXd m = MatrixXd::Zero(6 + n, 6 + n);
  m.bottomRightCorner(n, n) = b.modal_mass;
  Vector3d h;
  for (int c = 0; c < 3; ++c) {
    const MatrixXd& second = at(b.mass_moment_2, c);
    h[c] = b.mass_moment[c] + (b.mass_moment_1.row(c) + 0.5 * eta.transpose() * second).dot(eta);
    m.block(c, 6, 1, n) = b.coupling_0.row(c) + (at(b.coupling_1, c) * eta).transpose();
    m.block(3 + c, 6, 1, n) = b.mass_moment_1.row(c) + (second * eta).transpose();
    m(3 + c, 3 + c) = b.mass;
  }
  for (int c = 0; c < 6; ++c)
    m(kColumn[c], kRow[c]) = m(kRow[c], kColumn[c]) =
        at(b.inertia, c) +
        (b.inertia_1.row(c) + 0.5 * eta.transpose() * at(b.inertia_2, c)).dot(eta);
  m.block(0, 3, 3, 3) << 0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0;
  m.block(3, 0, 3, 3) = m.block(0, 3, 3, 3).transpose();
  m.bottomLeftCorner(n, 6) = m.topRightCorner(6, n).transpose();
  return m;
}

}  // namespace

CompletedInertia::CompletedInertia(const FlexibleBody& body)
    : points(points_of(body)), rows(rows_of(body)), remainder(body) {
  remainder.moments.reset();
  subtract_points(remainder, points);
  subtract_rows(remainder, rows);
  const MatrixXd rest = factor(VectorXd::Zero(body.modes()));
  const Eigen::Matrix3d inertia = rest.leftCols(3).transpose() * rest.leftCols(3);
  for (int c = 0; c < 6; ++c) at(remainder.inertia, c) -= inertia(kRow[c], kColumn[c]);
  remainder.mass = 0.0;
  remainder.mass_moment = Vec3d::zero();
}

MatrixXd CompletedInertia::factor(const VectorXd& eta) const {
  const auto n = eta.size();
  const auto count = static_cast<Eigen::Index>(points.size());
  MatrixXd f = MatrixXd::Zero(3 * count + static_cast<Eigen::Index>(rows.size()), 6 + n);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Point& p = at(points, i);
    Vec3d position;
    for (int c = 0; c < 3; ++c) {
      const VectorXd slope = p.first.row(c).transpose() + at(p.second, c) * eta;
      position[c] = p.position[c] + 0.5 * (p.first.row(c).dot(eta) + slope.dot(eta));
      f.block(3 * i + c, 6, 1, n) = slope.transpose();
    }
    f.block(3 * i, 0, 3, 3) = -to_eigen(skew(position));
    f.block(3 * i, 3, 3, 3).diagonal().setConstant(p.scale);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& r = rows[i];
    const Eigen::Index k = 3 * count + static_cast<Eigen::Index>(i);
    for (int a = 0; a < 3; ++a)
      f(k, a) = r.turn[a] + (r.first.row(a) + 0.5 * eta.transpose() * at(r.second, a)).dot(eta);
    f.block(k, 6, 1, n) = r.slope + (r.slope_1 * eta).transpose();
  }
  return f;
}

MatrixXd inertia_at(const FlexibleBody& body, const CompletedInertia* completed,
                    const VectorXd& eta) {
  if (completed == nullptr) return inertia_of_constants(body, eta);
  const MatrixXd f = completed->factor(eta);
  return inertia_of_constants(completed->remainder, eta) + f.transpose() * f;
}

bool needs_completion(const FlexibleBody& body, const MatrixXd& columns, const MatrixXd& inertia) {
  if (body.model != FlexibleModel::consistent || !body.moments || columns.cols() == 0) return false;
  const int n = body.modes();
  const MatrixXd m = inertia_of_constants(body, VectorXd::Zero(n));
  const MatrixXd coupling = columns.transpose() * m.topRightCorner(6, n);
  const MatrixXd whole = columns.transpose() * m.topLeftCorner(6, 6) * columns + inertia;
  const Cholesky modes(MatrixXd(m.bottomRightCorner(n, n)));
  if (!modes.succeeded()) return false;
  MatrixXd left =
      (1.0 - kOwnShare) * whole - coupling * modes.solve(MatrixXd(coupling.transpose()));
  const VectorXd scale = whole.diagonal().cwiseMax(0.0).cwiseSqrt();
  for (Eigen::Index i = 0; i < left.rows(); ++i)
    for (Eigen::Index k = 0; k < left.cols(); ++k)
      left(i, k) = scale[i] > 0.0 && scale[k] > 0.0 ? left(i, k) / (scale[i] * scale[k]) : 0.0;
  return symmetric_eigen(0.5 * (left + left.transpose())).values[0] < -kRounding;
}

}  // namespace catena
