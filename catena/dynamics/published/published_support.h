// SPDX-License-Identifier: BSD-3-Clause
// What the tests of published cases share: reading tables of numbers, and results at the frames
// of bodies instead of nodes.
#pragma once

#include "catena/dynamics/testing/test_support.h"
#include "catena/spatial/eigen.h"

namespace catena::test {

// Tolerance of the published cases, against the largest entry of each vector.
constexpr double kPrinted = 1e-11;

template <std::size_t N>
VectorXd listed(const double (&values)[N]) {
  return Eigen::Map<const VectorXd>(values, static_cast<Eigen::Index>(N));
}

// From the upper triangle by rows.
inline MatrixXd symmetric(const double* upper, int size) {
  MatrixXd m(size, size);
  for (int i = 0; i < size; ++i)
    for (int j = i; j < size; ++j) m(i, j) = m(j, i) = *upper++;
  return m;
}

inline double error(const MatrixXd& actual, const MatrixXd& expected) {
  return error(VectorXd(actual.reshaped()), VectorXd(expected.reshaped()));
}

// xx, yy, zz, xy, xz, yz as the texts list them.
inline BodySettings solid(double mass, const Vec3d& center, const double (&j)[6]) {
  BodySettings b;
  b.mass = mass;
  b.center_of_mass = center;
  b.inertia = {j[0], j[3], j[4], j[1], j[5], j[2]};
  return b;
}

inline const BodyPlace& place_of(const Mechanism& m, std::string_view body) {
  return m.bodies()[static_cast<std::size_t>(m.body_index(body))];
}

// Of the last sweep, angular first, in the frame of the body.
inline VectorXd force_on(const Mechanism& m, const Workspace& w, std::string_view body) {
  const BodyPlace& b = place_of(m, body);
  return to_eigen(Ad_star(b.X_node_body, w.node(b.node).force));
}
inline VectorXd twist_of(const Mechanism& m, const Workspace& w, std::string_view body) {
  const BodyPlace& b = place_of(m, body);
  return to_eigen(Ad_inverse(b.X_node_body, w.node(b.node).twist));
}
inline MatrixXd articulated_inertia_of(const Mechanism& m, const Workspace& w,
                                       std::string_view body) {
  const BodyPlace& b = place_of(m, body);
  const auto x = matrix_Ad(b.X_node_body);
  return x.transpose() * to_eigen(w.node(b.node).articulated) * x;
}

// The halves exchanged: for texts that put the linear part first.
inline VectorXd swapped(const VectorXd& x) {
  VectorXd y(6);
  y << x.tail(3), x.head(3);
  return y;
}
inline MatrixXd swapped(const MatrixXd& x) {
  MatrixXd y(6, 6);
  y << x.bottomRightCorner(3, 3), x.bottomLeftCorner(3, 3), x.topRightCorner(3, 3),
      x.topLeftCorner(3, 3);
  return y;
}

inline VectorXd six(const double* x) { return Eigen::Map<const Eigen::Matrix<double, 6, 1>>(x); }

// X_parent_child at zero, from the matrix E and the point ρ of the text.
inline Transformd mount(const Mat3d& e, const Vec3d& point) { return {{transpose(e)}, point}; }
inline const Mat3d kOne = Mat3d::identity();
inline const Mat3d kEA{{{0.6, 0.8, 0.0}, {-0.8, 0.6, 0.0}, {0.0, 0.0, 1.0}}};
inline const Mat3d kEB{{{1.0, 0.0, 0.0}, {0.0, 0.8, 0.6}, {0.0, -0.6, 0.8}}};

// A chain b0, b1, ... of bodies and the hinges that carry them.
inline Mechanism chain(const std::vector<std::pair<HingeSettings, BodySettings>>& links,
                       const Vec3d& gravity = {0.0, 0.0, -9.81}) {
  MechanismBuilder builder("chain");
  builder.set_gravity(gravity);
  int i = 0;
  for (const auto& [hinge, body] : links) {
    builder.add_body(body_name(i), body);
    builder.add_hinge("h" + std::to_string(i), body_name(i - 1), body_name(i), hinge);
    ++i;
  }
  return builder.finish();
}

}  // namespace catena::test
