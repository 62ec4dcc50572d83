// SPDX-License-Identifier: BSD-3-Clause
// A planar cantilever of Hermite elements: length 1, EI 2, mass 1 per length, a tip body of mass
// 0.5 and inertia 0.02, force and moment at the tip. For tests.
#pragma once

#include <Eigen/Core>

namespace catena::test {

struct Cantilever {
  Eigen::MatrixXd mass, stiffness, input;
};
inline Cantilever cantilever(int elements) {
  const double length = 1.0 / elements, ei = 2.0, rho = 1.0;
  const int size = 2 * (elements + 1);
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(size, size), k = m;
  const double l = length, l2 = l * l, c = rho * l / 420.0, s = ei / (l2 * l);
  Eigen::MatrixXd me(4, 4), ke(4, 4);
  me << 156, 22 * l, 54, -13 * l, 22 * l, 4 * l2, 13 * l, -3 * l2, 54, 13 * l, 156, -22 * l,
      -13 * l, -3 * l2, -22 * l, 4 * l2;
  ke << 12, 6 * l, -12, 6 * l, 6 * l, 4 * l2, -6 * l, 2 * l2, -12, -6 * l, 12, -6 * l, 6 * l,
      2 * l2, -6 * l, 4 * l2;
  me *= c;
  ke *= s;
  for (int e = 0; e < elements; ++e) {
    m.block(2 * e, 2 * e, 4, 4) += me;
    k.block(2 * e, 2 * e, 4, 4) += ke;
  }
  m(size - 2, size - 2) += 0.5;
  m(size - 1, size - 1) += 0.02;
  const int n = size - 2;
  Eigen::MatrixXd b = Eigen::MatrixXd::Zero(n, 2);
  b(n - 2, 0) = b(n - 1, 1) = 1.0;
  return {m.bottomRightCorner(n, n), k.bottomRightCorner(n, n), b};
}

}  // namespace catena::test
