// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the operators, forces and operational space share.
#pragma once

#include "catena/dynamics/published/published_cases.h"
#include "catena/dynamics/testing/test_support.h"

namespace catena::test {

// Linear first (the chain of [D'Eleuterio & Damaren 1991]) to angular first, and back.
inline Vector6d swapped(const Vector6d& f) {
  return (Vector6d() << f.tail<3>(), f.head<3>()).finished();
}

// A symmetric matrix from its upper triangle by rows.
inline MatrixXd symmetric(int size, const std::vector<double>& upper) {
  MatrixXd a(size, size);
  std::size_t k = 0;
  for (int i = 0; i < size; ++i)
    for (int j = i; j < size; ++j) a(i, j) = a(j, i) = upper[k++];
  return a;
}

// Largest difference against the largest entry of the reference.
inline double distance(const MatrixXd& a, const MatrixXd& reference) {
  if (a.rows() != reference.rows() || a.cols() != reference.cols() || !a.allFinite())
    return kInfinity;
  return (a - reference).cwiseAbs().maxCoeff() / reference.cwiseAbs().maxCoeff();
}

// a b c …, one kind of product for all kinds of factors: Eigen compiles each kind again.
inline MatrixXd product(const MatrixXd& a, const MatrixXd& b) { return a * b; }
template <class... Others>
MatrixXd product(const MatrixXd& a, const MatrixXd& b, const Others&... others) {
  return product(product(a, b), others...);
}

// From the order of [D'Eleuterio & Damaren 1991] of the 17 freedoms of case A to ours.
inline VectorXd chain_order(const std::vector<double>& text) {
  static constexpr std::size_t kFrom[] = {3, 4, 5, 0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 15, 13, 14, 16};
  VectorXd x(17);
  for (int i = 0; i < 17; ++i) x[i] = text[kFrom[i]];
  return x;
}

// Turns a six-vector of a node into other axes.
inline MatrixXd turned(const Rotationd& r) {
  MatrixXd m = MatrixXd::Zero(6, 6);
  m.topLeftCorner<3, 3>() = m.bottomRightCorner<3, 3>() = to_eigen(r);
  return m;
}

// Drives with rotors on the hinges of one freedom: on the parent, or as armature.
inline void add_rotors(Random& random, MechanismBuilder& builder) {
  for (Hinge& hinge : builder.description().hinges) {
    if (freedoms_of(hinge) != 1 || random.below(3) == 0) continue;
    DriveSettings drive;
    drive.rotor_inertia = random.number(0.001, 0.01);
    drive.gear_ratio = random.number(-20.0, 20.0);
    drive.rotor_axis = random.vector();
    drive.armature_only = random.below(4) == 0;
    hinge.drive = drive;
  }
}

}  // namespace catena::test
