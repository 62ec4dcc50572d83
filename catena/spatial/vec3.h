// SPDX-License-Identifier: BSD-3-Clause
// Vec3, Mat3 and SymMat3: three-dimensional vectors and matrices as plain structs of scalars.
//
// They are our own, not Eigen's, because the kernels need the symmetric and sparse structure,
// must work for SIMD packs and dual numbers, and must compile fast.
#pragma once

#include "catena/spatial/scalar.h"

namespace catena {
inline namespace CATENA_ISA {

template <class Scalar = double>
struct Vec3 {
  Scalar x{};
  Scalar y{};
  Scalar z{};

  static Vec3 zero() { return {Scalar(0.0), Scalar(0.0), Scalar(0.0)}; }
  static Vec3 unit_x() { return {Scalar(1.0), Scalar(0.0), Scalar(0.0)}; }
  static Vec3 unit_y() { return {Scalar(0.0), Scalar(1.0), Scalar(0.0)}; }
  static Vec3 unit_z() { return {Scalar(0.0), Scalar(0.0), Scalar(1.0)}; }

  Scalar& operator[](int i) { return i == 0 ? x : (i == 1 ? y : z); }
  const Scalar& operator[](int i) const { return i == 0 ? x : (i == 1 ? y : z); }

  Vec3& operator+=(const Vec3& b) {
    x = x + b.x;
    y = y + b.y;
    z = z + b.z;
    return *this;
  }
  Vec3& operator-=(const Vec3& b) {
    x = x - b.x;
    y = y - b.y;
    z = z - b.z;
    return *this;
  }
  // All three at once: s may be a component of this very vector.
  Vec3& operator*=(const Scalar& s) { return *this = {x * s, y * s, z * s}; }

  friend Vec3 operator+(Vec3 a, const Vec3& b) { return a += b; }
  friend Vec3 operator-(Vec3 a, const Vec3& b) { return a -= b; }
  friend Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
  friend Vec3 operator*(Vec3 a, const Scalar& s) { return a *= s; }
  friend Vec3 operator*(const Scalar& s, Vec3 a) { return a *= s; }
  friend bool operator==(const Vec3& a, const Vec3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

using Vec3d = Vec3<double>;

template <class Scalar>
inline Scalar dot(const Vec3<Scalar>& a, const Vec3<Scalar>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class Scalar>
inline Vec3<Scalar> cross(const Vec3<Scalar>& a, const Vec3<Scalar>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class Scalar>
inline Scalar squared_norm(const Vec3<Scalar>& a) {
  return dot(a, a);
}

template <class Scalar>
inline Scalar norm(const Vec3<Scalar>& a) {
  using std::sqrt;
  return sqrt(squared_norm(a));
}

// The vector of length one along a; a must not be zero.
template <class Scalar>
inline Vec3<Scalar> normalized(const Vec3<Scalar>& a) {
  return a * (Scalar(1.0) / norm(a));
}

template <class Scalar>
inline Vec3<Scalar> select(const auto& mask, const Vec3<Scalar>& a, const Vec3<Scalar>& b) {
  return {select(mask, a.x, b.x), select(mask, a.y, b.y), select(mask, a.z, b.z)};
}

// A general 3 x 3 matrix, row by row.
template <class Scalar = double>
struct Mat3 {
  Scalar m[3][3]{};

  static Mat3 zero() {
    const Scalar o(0.0);
    return {{{o, o, o}, {o, o, o}, {o, o, o}}};
  }
  static Mat3 identity() {
    const Scalar o(0.0);
    const Scalar i(1.0);
    return {{{i, o, o}, {o, i, o}, {o, o, i}}};
  }
  static Mat3 from_columns(const Vec3<Scalar>& a, const Vec3<Scalar>& b, const Vec3<Scalar>& c) {
    return {{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
  }

  Scalar& operator()(int row, int column) { return m[row][column]; }
  const Scalar& operator()(int row, int column) const { return m[row][column]; }
  Vec3<Scalar> row(int i) const { return {m[i][0], m[i][1], m[i][2]}; }
  Vec3<Scalar> column(int j) const { return {m[0][j], m[1][j], m[2][j]}; }

  Mat3& operator+=(const Mat3& b) { return *this = *this + b; }
  Mat3& operator-=(const Mat3& b) { return *this = *this - b; }
  // Row by row and without loops: compilers then keep the nine numbers in registers.
  static Mat3 from_rows(const Vec3<Scalar>& a, const Vec3<Scalar>& b, const Vec3<Scalar>& c) {
    return {{{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}}};
  }
  friend Mat3 operator+(const Mat3& a, const Mat3& b) {
    return from_rows(a.row(0) + b.row(0), a.row(1) + b.row(1), a.row(2) + b.row(2));
  }
  friend Mat3 operator-(const Mat3& a, const Mat3& b) {
    return from_rows(a.row(0) - b.row(0), a.row(1) - b.row(1), a.row(2) - b.row(2));
  }
  friend Mat3 operator*(const Mat3& a, const Mat3& b) {
    return from_rows(transpose_times(b, a.row(0)), transpose_times(b, a.row(1)),
                     transpose_times(b, a.row(2)));
  }
  friend Mat3 operator*(const Scalar& s, const Mat3& a) {
    return from_rows(s * a.row(0), s * a.row(1), s * a.row(2));
  }
  friend Vec3<Scalar> operator*(const Mat3& a, const Vec3<Scalar>& b) {
    return {dot(a.row(0), b), dot(a.row(1), b), dot(a.row(2), b)};
  }
};

using Mat3d = Mat3<double>;

template <class Scalar>
inline Mat3<Scalar> transpose(const Mat3<Scalar>& a) {
  return {{{a.m[0][0], a.m[1][0], a.m[2][0]},
           {a.m[0][1], a.m[1][1], a.m[2][1]},
           {a.m[0][2], a.m[1][2], a.m[2][2]}}};
}

// aᵀ b without forming the transpose.
template <class Scalar>
inline Vec3<Scalar> transpose_times(const Mat3<Scalar>& a, const Vec3<Scalar>& b) {
  return {a.m[0][0] * b.x + a.m[1][0] * b.y + a.m[2][0] * b.z,
          a.m[0][1] * b.x + a.m[1][1] * b.y + a.m[2][1] * b.z,
          a.m[0][2] * b.x + a.m[1][2] * b.y + a.m[2][2] * b.z};
}

template <class Scalar>
inline Scalar determinant(const Mat3<Scalar>& a) {
  return dot(a.row(0), cross(a.row(1), a.row(2)));
}

// The matrix [a] of the cross product: skew(a) * b = cross(a, b).
template <class Scalar>
inline Mat3<Scalar> skew(const Vec3<Scalar>& a) {
  const Scalar o(0.0);
  return {{{o, -a.z, a.y}, {a.z, o, -a.x}, {-a.y, a.x, o}}};
}

// skew(a) * b: crosses a into every column of b.
template <class Scalar>
inline Mat3<Scalar> cross(const Vec3<Scalar>& a, const Mat3<Scalar>& b) {
  return Mat3<Scalar>::from_rows(a.y * b.row(2) - a.z * b.row(1), a.z * b.row(0) - a.x * b.row(2),
                                 a.x * b.row(1) - a.y * b.row(0));
}

// A symmetric 3 x 3 matrix by its upper triangle: six numbers.
template <class Scalar = double>
struct SymMat3 {
  Scalar xx{};
  Scalar xy{};
  Scalar xz{};
  Scalar yy{};
  Scalar yz{};
  Scalar zz{};

  static SymMat3 zero() {
    const Scalar o(0.0);
    return {o, o, o, o, o, o};
  }
  static SymMat3 diagonal(const Scalar& a, const Scalar& b, const Scalar& c) {
    const Scalar o(0.0);
    return {a, o, o, b, o, c};
  }

  Mat3<Scalar> full() const { return {{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}}; }
  Scalar trace() const { return xx + yy + zz; }

  SymMat3& operator+=(const SymMat3& b) {
    xx = xx + b.xx;
    xy = xy + b.xy;
    xz = xz + b.xz;
    yy = yy + b.yy;
    yz = yz + b.yz;
    zz = zz + b.zz;
    return *this;
  }
  SymMat3& operator-=(const SymMat3& b) {
    xx = xx - b.xx;
    xy = xy - b.xy;
    xz = xz - b.xz;
    yy = yy - b.yy;
    yz = yz - b.yz;
    zz = zz - b.zz;
    return *this;
  }
  friend SymMat3 operator+(SymMat3 a, const SymMat3& b) { return a += b; }
  friend SymMat3 operator-(SymMat3 a, const SymMat3& b) { return a -= b; }
  friend SymMat3 operator*(const Scalar& s, const SymMat3& a) {
    return {s * a.xx, s * a.xy, s * a.xz, s * a.yy, s * a.yz, s * a.zz};
  }
  friend Vec3<Scalar> operator*(const SymMat3& a, const Vec3<Scalar>& b) {
    return {a.xx * b.x + a.xy * b.y + a.xz * b.z, a.xy * b.x + a.yy * b.y + a.yz * b.z,
            a.xz * b.x + a.yz * b.y + a.zz * b.z};
  }
};

using SymMat3d = SymMat3<double>;

// a aᵀ.
template <class Scalar>
inline SymMat3<Scalar> outer(const Vec3<Scalar>& a) {
  return {a.x * a.x, a.x * a.y, a.x * a.z, a.y * a.y, a.y * a.z, a.z * a.z};
}

// a bᵀ.
template <class Scalar>
inline Mat3<Scalar> outer(const Vec3<Scalar>& a, const Vec3<Scalar>& b) {
  return {{{a.x * b.x, a.x * b.y, a.x * b.z},
           {a.y * b.x, a.y * b.y, a.y * b.z},
           {a.z * b.x, a.z * b.y, a.z * b.z}}};
}

// The symmetric part of a matrix that is symmetric up to rounding.
template <class Scalar>
inline SymMat3<Scalar> symmetric_part(const Mat3<Scalar>& a) {
  const Scalar half(0.5);
  return {a.m[0][0], half * (a.m[0][1] + a.m[1][0]), half * (a.m[0][2] + a.m[2][0]),
          a.m[1][1], half * (a.m[1][2] + a.m[2][1]), a.m[2][2]};
}

// a s aᵀ: the congruence of a symmetric matrix, 45 multiplications.
template <class Scalar>
inline SymMat3<Scalar> congruence(const Mat3<Scalar>& a, const SymMat3<Scalar>& s) {
  const Vec3<Scalar> r0 = s * a.row(0);
  const Vec3<Scalar> r1 = s * a.row(1);
  const Vec3<Scalar> r2 = s * a.row(2);
  return {dot(a.row(0), r0), dot(a.row(1), r0), dot(a.row(2), r0),
          dot(a.row(1), r1), dot(a.row(2), r1), dot(a.row(2), r2)};
}

}  // namespace CATENA_ISA
}  // namespace catena
