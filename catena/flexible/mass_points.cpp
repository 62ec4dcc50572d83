// SPDX-License-Identifier: BSD-3-Clause
#include "catena/flexible/mass_points.h"

#include <Eigen/Geometry>

#include "catena/base/index.h"

namespace catena {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr int kRow[6] = {0, 0, 0, 1, 1, 2}, kColumn[6] = {0, 1, 2, 1, 2, 2};

Matrix3d skew_of(const Vector3d& a) {
  Matrix3d s;
  s << 0.0, -a.z(), a.y(), a.z(), 0.0, -a.x(), -a.y(), a.x(), 0.0;
  return s;
}

// The part of p·p 1 − p pᵀ that is linear in a and in b.
Matrix3d parallel_axis(const Vector3d& a, const Vector3d& b) {
  return 2.0 * a.dot(b) * Matrix3d::Identity() - a * b.transpose() - b * a.transpose();
}

Vector3d entry(const std::array<Eigen::MatrixXd, 3>& b, int k, int l) {
  return {b[0](k, l), b[1](k, l), b[2](k, l)};
}

}  // namespace

void start_constants(FlexibleBody& body, int n) {
  body.mass = 0.0;
  body.mass_moment = Vec3d::zero();
  body.inertia.fill(0.0);
  body.mass_moment_1.setZero(3, n);
  body.inertia_1.setZero(6, n);
  body.coupling_0.setZero(3, n);
  for (auto& a : body.mass_moment_2) a.setZero(n, n);
  for (auto& a : body.inertia_2) a.setZero(n, n);
  for (auto& a : body.coupling_1) a.setZero(n, n);
  body.modal_mass.setZero(n, n);
}

void add_mass_point(FlexibleBody& body, const MassPoint& point) {
  const int n = static_cast<int>(point.shape.cols());
  const double m = point.mass;
  const Matrix3d& js = point.inertia;
  const Vector3d& x = point.position;
  body.mass += m;
  body.mass_moment += m * from_eigen(x);
  const Matrix3d j0 = 0.5 * m * parallel_axis(x, x) + js;
  for (int c = 0; c < 6; ++c) at(body.inertia, c) += j0(kRow[c], kColumn[c]);
  body.mass_moment_1 += m * point.shape;
  body.modal_mass +=
      m * (point.shape.transpose() * point.shape) + point.slope.transpose() * js * point.slope;
  const bool turns = !js.isZero(0.0);

  for (int k = 0; k < n; ++k) {
    const Vector3d phi_k = point.shape.col(k), psi_k = point.slope.col(k);
    const Matrix3d turn_k = skew_of(psi_k);
    const Matrix3d inertia_by_k = turn_k * js - js * turn_k;
    const Matrix3d j1 = m * parallel_axis(x, phi_k) + inertia_by_k;
    for (int c = 0; c < 6; ++c) body.inertia_1(c, k) += j1(kRow[c], kColumn[c]);
    body.coupling_0.col(k) += m * x.cross(phi_k) + js * psi_k;

    for (int l = 0; l < n; ++l) {
      const Vector3d phi_l = point.shape.col(l);
      const Vector3d b = entry(point.second_shape, k, l);
      // C1[k, l]: k the rate, l contracted with η.
      Vector3d c1 = m * (phi_l.cross(phi_k) + x.cross(b));
      Matrix3d j2 = m * (parallel_axis(phi_k, phi_l) + parallel_axis(x, b));
      if (turns) {
        const Vector3d psi_l = point.slope.col(l);
        const Matrix3d turn_l = skew_of(psi_l);
        const Vector3d b_r = entry(point.second_slope, k, l);
        const Matrix3d turn = skew_of(b_r), square = 0.5 * (turn_k * turn_l + turn_l * turn_k);
        c1 += (turn_l * js - js * turn_l) * psi_k + js * (0.5 * psi_l.cross(psi_k) + b_r);
        j2 += turn * js - js * turn + square * js + js * square - turn_k * js * turn_l -
              turn_l * js * turn_k;
      }
      for (int c = 0; c < 3; ++c) {
        at(body.mass_moment_2, c)(k, l) += m * b[c];
        at(body.coupling_1, c)(k, l) += c1[c];
      }
      for (int c = 0; c < 6; ++c) at(body.inertia_2, c)(k, l) += j2(kRow[c], kColumn[c]);
    }
  }
}

}  // namespace catena
