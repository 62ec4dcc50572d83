// SPDX-License-Identifier: BSD-3-Clause
// What the tests of this room share: references that do not use our types (a matrix exponential in
// extended precision), a measure of error for every scalar, and rotation vectors to try.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <Eigen/Dense>

#include "catena/spatial/dual.h"
#include "catena/spatial/inertia.h"
#include "catena/spatial/pack.h"

namespace catena::test {

// Extended precision: 64 bits of mantissa on x86, 113 on arm64.
using Real = long double;
using MatrixR = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Vector3R = Eigen::Matrix<Real, 3, 1>;
using Matrix3R = Eigen::Matrix<Real, 3, 3>;
using Matrix4R = Eigen::Matrix<Real, 4, 4>;
using Vector6R = Eigen::Matrix<Real, 6, 1>;
using Matrix6R = Eigen::Matrix<Real, 6, 6>;

inline const Real kPi = std::acos(Real(-1));

// Σ aᵏ/k!, after scaling to a small norm, then squared back.
inline MatrixR matrix_exponential(MatrixR a) {
  int squarings = 0;
  for (; a.cwiseAbs().rowwise().sum().maxCoeff() > Real(0.125); a /= 2) ++squarings;
  MatrixR sum = MatrixR::Identity(a.rows(), a.cols());
  MatrixR term = sum;
  for (int k = 1; k < 20; ++k) {
    term = term * a / Real(k);
    sum += term;
  }
  for (; squarings > 0; --squarings) sum = (sum * sum).eval();
  return sum;
}

// The matrix of the cross product with w, from its definition.
inline Matrix3R cross_matrix(const Vector3R& w) {
  return (Matrix3R() << 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0).finished();
}

// The 4 x 4 matrix [[w] v; 0 0] of a twist g = (w, v).
inline Matrix4R twist_matrix(const Vector6R& g) {
  Matrix4R m = Matrix4R::Zero();
  m.topLeftCorner<3, 3>() = cross_matrix(g.head<3>());
  m.topRightCorner<3, 1>() = g.tail<3>();
  return m;
}

// The derivative of the matrix exponential at a along e: a block of exp [a e; 0 a].
inline MatrixR matrix_exponential_derivative(const MatrixR& a, const MatrixR& e) {
  const Eigen::Index n = a.rows();
  MatrixR block = MatrixR::Zero(2 * n, 2 * n);
  block.topLeftCorner(n, n) = block.bottomRightCorner(n, n) = a;
  block.topRightCorner(n, n) = e;
  return matrix_exponential(block).topRightCorner(n, n);
}

// The mixed second derivative along e and f, by the same device applied twice.
inline MatrixR matrix_exponential_derivative(const MatrixR& a, const MatrixR& e, const MatrixR& f) {
  const Eigen::Index n = a.rows();
  MatrixR inner = MatrixR::Zero(2 * n, 2 * n);
  inner.topLeftCorner(n, n) = inner.bottomRightCorner(n, n) = a;
  inner.topRightCorner(n, n) = e;
  MatrixR along_f = MatrixR::Zero(2 * n, 2 * n);
  along_f.topLeftCorner(n, n) = along_f.bottomRightCorner(n, n) = f;
  return matrix_exponential_derivative(inner, along_f).topRightCorner(n, n);
}

// The largest error of a scalar: over the lanes of a pack, of the value of a dual number.
inline Real error(double actual, Real expected) {
  const Real e = std::abs(Real(actual) - expected);
  return std::isnan(e) ? std::numeric_limits<Real>::infinity() : e;
}
inline Real error(const Pack& actual, Real expected) {
  Real worst = 0;
  for (int i = 0; i < Pack::kLanes; ++i) worst = std::max(worst, error(actual.lane(i), expected));
  return worst;
}
template <class Value, int N>
Real error(const Dual<Value, N>& actual, Real expected) {
  return error(actual.value, expected);
}

template <class Scalar>
Real error(const Vec3<Scalar>& a, const Vector3R& b) {
  return std::max({error(a.x, b[0]), error(a.y, b[1]), error(a.z, b[2])});
}
template <class Scalar>
Real error(const Mat3<Scalar>& a, const Matrix3R& b) {
  Real worst = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) worst = std::max(worst, error(a.m[i][j], b(i, j)));
  return worst;
}
template <class Scalar>
Real error(const SymMat3<Scalar>& a, const Matrix3R& b) {
  return std::max({error(a.xx, b(0, 0)), error(a.xy, b(0, 1)), error(a.xz, b(0, 2)),
                   error(a.xy, b(1, 0)), error(a.yy, b(1, 1)), error(a.yz, b(1, 2)),
                   error(a.xz, b(2, 0)), error(a.yz, b(2, 1)), error(a.zz, b(2, 2))});
}
template <class Scalar>
Real error(const Twist<Scalar>& a, const Vector6R& b) {
  return std::max(error(a.angular, Vector3R(b.head<3>())), error(a.linear, Vector3R(b.tail<3>())));
}
template <class Scalar>
Real error(const Wrench<Scalar>& a, const Vector6R& b) {
  return std::max(error(a.moment, Vector3R(b.head<3>())), error(a.force, Vector3R(b.tail<3>())));
}
template <class Scalar>
Real error(const Transform<Scalar>& a, const Matrix4R& b) {
  return std::max(error(a.rotation.matrix, Matrix3R(b.topLeftCorner<3, 3>())),
                  error(a.translation, Vector3R(b.topRightCorner<3, 1>())));
}

// Into our types, for any scalar (the same number in all lanes, no derivative).
template <class Scalar>
Vec3<Scalar> vec3(const Vector3R& v) {
  return {Scalar(double(v[0])), Scalar(double(v[1])), Scalar(double(v[2]))};
}
template <class Scalar>
Mat3<Scalar> mat3(const Matrix3R& a) {
  return Mat3<Scalar>::from_columns(vec3<Scalar>(a.col(0)), vec3<Scalar>(a.col(1)),
                                    vec3<Scalar>(a.col(2)));
}
template <class Scalar>
SymMat3<Scalar> sym_mat3(const Matrix3R& a) {
  return {Scalar(double(a(0, 0))), Scalar(double(a(0, 1))), Scalar(double(a(0, 2))),
          Scalar(double(a(1, 1))), Scalar(double(a(1, 2))), Scalar(double(a(2, 2)))};
}
template <class Scalar>
Twist<Scalar> twist(const Vector6R& g) {
  return {vec3<Scalar>(g.head<3>()), vec3<Scalar>(g.tail<3>())};
}
template <class Scalar>
Wrench<Scalar> wrench(const Vector6R& f) {
  return {vec3<Scalar>(f.head<3>()), vec3<Scalar>(f.tail<3>())};
}
template <class Scalar>
Transform<Scalar> transform(const Matrix4R& x) {
  return {{mat3<Scalar>(x.topLeftCorner<3, 3>())}, vec3<Scalar>(x.topRightCorner<3, 1>())};
}

// Numbers in (−1, 1), each a double, the same in every run.
class Random {
 public:
  double number() { return distribution_(generator_); }
  Vector3R vector() { return {number(), number(), number()}; }
  Vector6R six() { return (Vector6R() << vector(), vector()).finished(); }
  Matrix3R matrix() { return (Matrix3R() << vector(), vector(), vector()).finished(); }
  Matrix3R symmetric() {
    const Matrix3R a = matrix();
    return (a + a.transpose()) / 2;
  }
  // A displacement with a large rotation.
  Matrix4R transform() { return matrix_exponential(twist_matrix(2 * six())); }

 private:
  std::mt19937 generator_{20240229};
  std::uniform_real_distribution<double> distribution_{-1.0, 1.0};
};

// Directions: the coordinate axes both ways, with components far smaller than others, and
// arbitrary ones.
inline std::vector<Vector3R> axes() {
  std::vector<Vector3R> all = {{1, 0, 0},
                               {0, 1, 0},
                               {0, 0, 1},
                               {-1, 0, 0},
                               {0, -1, 0},
                               {0, 0, -1},
                               {1, 1, 1},
                               {1, -1, 0},
                               {1, 1e-9L, 0},
                               {1e-12L, 1, 1e-5L},
                               {-1e-5L, 1e-8L, 1},
                               {1e-17L, 0, 1},
                               {1, 1e-200L, -1e-3L},
                               {0.7L, -0.7L, 1e-8L}};
  Random random;
  for (int k = 0; k < 20; ++k) all.push_back(random.vector());
  for (Vector3R& a : all) a.normalize();
  return all;
}

// Rounded to double, as the code under test sees it.
inline Vector3R rounded(const Vector3R& v) { return v.cast<double>().cast<Real>(); }

// From the angle 0 through the change of formulas at 1 to shortly below π.
inline const std::vector<Real> kAngles = {0,     1e-300L,   1e-160L,  1e-12L, 1e-9L, 1e-6L,
                                          1e-3L, 0.1L,      0.19933L, 0.2L,   0.99L, 1 - 1e-9L,
                                          1,     1 + 1e-9L, 2,        3};
inline const std::vector<Real> kAnglesNearPi = {kPi - 1e-6L, kPi - 1e-9L, kPi - 1e-12L, kPi};
inline const std::vector<Real> kAnglesBeyondPi = {kPi + 1e-9L, 3.5L, 5, 2 * kPi - 1e-3L, 8};

// One chain of nearly all spatial operations, from 18 numbers to 52: what a kernel would do. The
// angles of the first two triples decide which formulas exp and log use.
template <class Scalar>
std::vector<Scalar> spatial_medley(const std::vector<Scalar>& in) {
  const auto vector = [&](std::size_t k) { return Vec3<Scalar>{in[k], in[k + 1], in[k + 2]}; };
  const Transform<Scalar> x = exp_transform(Twist<Scalar>{vector(0), vector(6)});
  const Transform<Scalar> y{Rotation<Scalar>::from_quaternion(exp_quaternion(vector(3))),
                            vector(9)};
  const Transform<Scalar> xy =
      x * y.inverse() *
      Transform<Scalar>{Rotation<Scalar>::from_rpy(in[12], in[13], in[14]), vector(15)};
  const Twist<Scalar> v = Ad(x, Twist<Scalar>{vector(12), vector(15)});
  const Wrench<Scalar> f = Ad_star(y, Wrench<Scalar>{vector(9), vector(6)});
  const auto body = SpatialInertia<Scalar>::from_central(
      Scalar(2.0) + in[17], vector(6),
      SymMat3<Scalar>::diagonal(in[9] + 2.0, in[10] + 3.0, in[11] + 4.0));
  const auto moved = shift_to_parent(x, body);
  const auto articulated =
      shift_to_parent(xy, ArticulatedInertia<Scalar>::from(moved) - outer(f, in[16]));

  std::vector<Scalar> out;
  const auto push_six = [&](const auto& six) {
    for (int i = 0; i < 6; ++i) out.push_back(six[i]);
  };
  push_six(log(xy));
  push_six(log(x));
  push_six(Ad_inverse(xy, v));
  push_six(Ad_star_inverse(x, f));
  push_six(ad(v, Ad(y, v)));
  push_six(ad_star(v, moved * v));
  push_six(articulated * v);
  push_six(articulated * Twist<Scalar>{normalized(f.moment), f.force});
  out.push_back(norm(moved.center_of_mass()));
  out.push_back(moved.central_inertia().trace());
  out.push_back(determinant(articulated.coupling));
  out.push_back(dot(f, v));
  return out;
}

}  // namespace catena::test
