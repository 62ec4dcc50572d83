// SPDX-License-Identifier: BSD-3-Clause
// A matrix by its rows, for tests.
#pragma once

#include <initializer_list>

#include <Eigen/Core>

namespace catena::test {

inline Eigen::MatrixXd matrix(Eigen::Index rows, std::initializer_list<double> values) {
  Eigen::MatrixXd m(rows, static_cast<Eigen::Index>(values.size()) / rows);
  Eigen::Index k = 0;
  for (const double v : values) {
    m(k / m.cols(), k % m.cols()) = v;
    ++k;
  }
  return m;
}

}  // namespace catena::test
