// SPDX-License-Identifier: BSD-3-Clause
// Random matrices and systems for the tests of this room, the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include <Eigen/Core>

#include "catena/linear/lapack/lapack.h"
#include "catena/linear/state_space.h"

namespace catena::test {

// Uniform and normal numbers by our own formulas: those of the standard library differ between
// implementations.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : engine_(seed) {}
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double normal() {
    return std::sqrt(-2.0 * std::log(uniform())) *
           std::cos(2.0 * 3.14159265358979323846 * uniform());
  }
  int integer(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  Eigen::MatrixXd matrix(Eigen::Index rows, Eigen::Index cols) {
    Eigen::MatrixXd m(rows, cols);
    for (Eigen::Index j = 0; j < cols; ++j)
      for (Eigen::Index i = 0; i < rows; ++i) m(i, j) = normal();
    return m;
  }
  // A = G − (α + margin): every eigenvalue at least `margin` left of the axis.
  Eigen::MatrixXd stable(Eigen::Index n, double margin = 0.1) {
    Eigen::MatrixXd a = matrix(n, n);
    a.diagonal().array() -= lapack::eigenvalues(a).real().maxCoeff() + margin;
    return a;
  }
  // All eigenvalues within a circle of this radius.
  Eigen::MatrixXd contraction(Eigen::Index n, double radius = 0.9) {
    const Eigen::MatrixXd a = matrix(n, n);
    return a * (radius / lapack::eigenvalues(a).cwiseAbs().maxCoeff());
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace catena::test
