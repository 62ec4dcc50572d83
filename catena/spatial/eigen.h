// SPDX-License-Identifier: BSD-3-Clause
// Conversions between the small value types and Eigen, which serves the interface and dense
// algebra.
#pragma once

#include <Eigen/Core>

#include "catena/spatial/inertia.h"

// Vectors that the library allocates must be aligned as this file expects them to be. Flags such as
// -mavx2 or -march=native make Eigen expect more.
#if EIGEN_DEFAULT_ALIGN_BYTES > EIGEN_MAX_ALIGN_BYTES
#error \
    "These compiler flags want larger Eigen alignment: build Catena with -DCATENA_EIGEN_ALIGNMENT=64"
#endif

namespace catena {
inline namespace CATENA_ISA {

inline Vec3d from_eigen(const Eigen::Vector3d& v) { return {v.x(), v.y(), v.z()}; }
inline Eigen::Vector3d to_eigen(const Vec3d& v) { return {v.x, v.y, v.z}; }

inline Mat3d from_eigen(const Eigen::Matrix3d& a) {
  Mat3d b;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) b.m[i][j] = a(i, j);
  return b;
}
inline Eigen::Matrix3d to_eigen(const Mat3d& a) {
  Eigen::Matrix3d b;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) b(i, j) = a.m[i][j];
  return b;
}
inline Eigen::Matrix3d to_eigen(const SymMat3d& a) { return to_eigen(a.full()); }
inline Eigen::Matrix3d to_eigen(const Rotationd& r) { return to_eigen(r.matrix); }

using Vector6d = Eigen::Matrix<double, 6, 1>;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

inline Vector6d to_eigen(const Twistd& v) {
  return (Vector6d() << to_eigen(v.angular), to_eigen(v.linear)).finished();
}
inline Vector6d to_eigen(const Wrenchd& f) {
  return (Vector6d() << to_eigen(f.moment), to_eigen(f.force)).finished();
}
inline Twistd twist_from_eigen(const Vector6d& v) {
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}
inline Wrenchd wrench_from_eigen(const Vector6d& v) {
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

// The 6 x 6 matrix of Ad_X, and of ad_V.
inline Matrix6d matrix_Ad(const Transformd& x) {
  Matrix6d a;
  const Eigen::Matrix3d r = to_eigen(x.rotation);
  a << r, Eigen::Matrix3d::Zero(), to_eigen(skew(x.translation)) * r, r;
  return a;
}
inline Matrix6d matrix_ad(const Twistd& v) {
  Matrix6d a;
  const Eigen::Matrix3d w = to_eigen(skew(v.angular));
  a << w, Eigen::Matrix3d::Zero(), to_eigen(skew(v.linear)), w;
  return a;
}
inline Matrix6d to_eigen(const ArticulatedInertiad& i) {
  Matrix6d a;
  const Eigen::Matrix3d b = to_eigen(i.coupling);
  a << to_eigen(i.angular), b, b.transpose(), to_eigen(i.linear);
  return a;
}
inline Matrix6d to_eigen(const SpatialInertiad& i) {
  return to_eigen(ArticulatedInertiad::from(i));
}

}  // namespace CATENA_ISA
}  // namespace catena
