// SPDX-License-Identifier: BSD-3-Clause
// Systems and helpers of this room's tests.
#pragma once

#include <complex>
#include <random>

#include <Eigen/LU>

#include "catena/linear/state_space.h"

namespace catena::test {

inline Eigen::MatrixXd random_matrix(std::mt19937& random, int rows, int cols) {
  std::normal_distribution<double> normal;
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [&] { return normal(random); });
}

// Stable, dense, with feedthrough.
inline StateSpace random_system(unsigned seed, int states, int inputs, int outputs,
                                double dt = 0.0) {
  std::mt19937 random(seed);
  Eigen::MatrixXd a = random_matrix(random, states, states);
  if (dt == 0.0)
    a -= (2.0 * std::sqrt(states) + 0.5) * Eigen::MatrixXd::Identity(states, states);
  else
    a /= 2.5 * std::sqrt(states);
  return ss(a, random_matrix(random, states, inputs), random_matrix(random, outputs, states),
            random_matrix(random, outputs, inputs), dt);
}

// G at a point of the complex plane by its definition, delays included.
inline Eigen::MatrixXcd value(const StateSpace& g, std::complex<double> s) {
  using C = std::complex<double>;
  const Eigen::Index n = g.order();
  const Eigen::MatrixXd e = g.is_descriptor() ? g.E : Eigen::MatrixXd::Identity(n, n);
  const Eigen::MatrixXcd pencil = s * e.cast<C>() - g.A.cast<C>();
  Eigen::MatrixXcd y = g.D.cast<C>();
  if (n > 0)
    y += g.C.cast<C>() * Eigen::PartialPivLU<Eigen::MatrixXcd>(pencil).solve(g.B.cast<C>());
  const Eigen::MatrixXd delays = g.delays();
  for (Eigen::Index i = 0; i < y.rows(); ++i)
    for (Eigen::Index j = 0; j < y.cols(); ++j)
      y(i, j) *= g.is_continuous() ? std::exp(-s * delays(i, j))
                                   : std::pow(s, -std::round(delays(i, j) / g.dt));
  return y;
}

}  // namespace catena::test
