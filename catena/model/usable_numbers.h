// SPDX-License-Identifier: BSD-3-Clause
// Checks of the numbers of a description: their products stay finite, and rotations are rotations.
#pragma once

#include <cmath>

#include "catena/base/dense.h"
#include "catena/model/description.h"
#include "catena/spatial/eigen.h"

namespace catena {

// An axis shorter than this is a mistake, not a direction.
inline constexpr double kShortestAxis = 1e-9;
// Two axes of a universal hinge must not be nearly parallel (sine of their angle).
inline constexpr double kParallelAxes = 1e-6;
// A quaternion shorter than this has no direction either.
inline constexpr double kShortestQuaternion = 1e-6;
// A length further from 1 than this is a mistake; up to it, the number of digits explains it.
inline constexpr double kQuaternionSlack = 0.02;

// Largest number accepted, in SI units: a mass times the square of a distance, or the square of an
// axis, is still finite.
inline constexpr double kLargestNumber = 1e100;

// Relative slack for the triangle inequality and definiteness of inertias given with few digits.
inline constexpr double kInertiaSlack = 1e-6;

// False for NaN too.
inline bool usable(double x) { return std::abs(x) <= kLargestNumber; }
inline bool usable(const Vec3d& v) { return usable(v.x) && usable(v.y) && usable(v.z); }
inline bool usable(const Rotationd& r) {
  return usable(r.axis(0)) && usable(r.axis(1)) && usable(r.axis(2));
}
inline bool usable(const Transformd& x) { return usable(x.rotation) && usable(x.translation); }
inline bool usable(const SymMat3d& s) {
  return usable(Vec3d{s.xx, s.xy, s.xz}) && usable(Vec3d{s.yy, s.yz, s.zz});
}
inline bool usable(const std::vector<double>& values) {
  for (const double x : values)
    if (!usable(x)) return false;
  return true;
}

// False for NaN too.
inline bool orthonormal(const Rotationd& r) {
  constexpr double kTolerance = 1e-9;
  const Mat3d p = r.matrix * transpose(r.matrix);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (!(std::abs(p(i, j) - (i == j ? 1.0 : 0.0)) <= kTolerance)) return false;
  return determinant(r.matrix) > 0.0;
}

// Smallest first.
inline Eigen::Vector3d principal_moments(const SymMat3d& inertia) {
  return symmetric_eigenvalues(to_eigen(inertia));
}

inline bool usable_axis(const Vec3d& axis) { return usable(axis) && norm(axis) >= kShortestAxis; }
inline bool parallel(const Vec3d& a, const Vec3d& b) {
  return norm(cross(normalized(a), normalized(b))) < kParallelAxes;
}

// The coordinates of a hinge that begin with a quaternion.
inline bool has_quaternion(HingeType type) {
  return type == HingeType::spherical || type == HingeType::free;
}
// Of coordinates that begin with one.
inline double quaternion_length(const std::vector<double>& q) {
  return std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

}  // namespace catena
