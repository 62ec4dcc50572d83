// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/cone_contact.h"

#include <algorithm>
#include <cmath>

namespace catena {
namespace {

using Eigen::Vector3d;

constexpr int kMostRootSteps = 60;

Eigen::Matrix3d inverse3(const Eigen::Matrix3d& a) {
  const auto cross = [](const Vector3d& x, const Vector3d& y) {
    return Vector3d(x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2],
                    x[0] * y[1] - x[1] * y[0]);
  };
  const Vector3d x = a.col(0), y = a.col(1), z = a.col(2);
  Eigen::Matrix3d result;
  result.row(0) = cross(y, z);
  result.row(1) = cross(z, x);
  result.row(2) = cross(x, y);
  return result / x.dot(cross(y, z));
}

}  // namespace

Eigen::Vector3d contact_alone(const Eigen::Matrix3d& w, const Eigen::Vector3d& u, double friction) {
  if (u[0] >= 0.0) return Vector3d::Zero();
  const Vector3d alone{-u[0] / w(0, 0), 0.0, 0.0};
  if (friction == 0.0) return alone;
  const auto solved = [&](double alpha) -> Vector3d {
    Eigen::Matrix3d a = w;
    a(1, 1) += alpha;
    a(2, 2) += alpha;
    return -inverse3(a) * u;
  };
  const auto excess = [&](const Vector3d& p) { return p.tail<2>().norm() - friction * p[0]; };
  const double size = w(1, 1) + w(2, 2);
  Vector3d p = solved(0.0);
  if (p[0] > 0.0 && excess(p) <= 0.0) return p;
  // α on a scale of powers: everything between sticking and no friction.
  double low = 0.0, high = size;
  for (int k = 0; k < kMostRootSteps && excess(solved(high)) > 0.0; ++k) {
    low = high;
    high *= 8.0;
  }
  double at_low = excess(solved(low)), at_high = excess(solved(high));
  if (!(at_high <= 0.0)) return alone;
  for (int k = 0; k < kMostRootSteps && high - low > 1e-15 * high; ++k) {
    double middle = (low * at_high - high * at_low) / (at_high - at_low);
    if (!(middle > low && middle < high) || k % 4 == 3) middle = 0.5 * (low + high);
    p = solved(middle);
    const double here = excess(p);
    if (std::abs(here) <= 1e-14 * std::abs(p[0])) break;
    (here > 0.0 ? low : high) = middle;
    (here > 0.0 ? at_low : at_high) = here;
  }
  p[0] = std::max(p[0], 0.0);
  return p;
}

}  // namespace catena
