// SPDX-License-Identifier: BSD-3-Clause
// flex(k): random lightly damped generalized plants in mixed coordinates, for tests and the study
// of H-infinity synthesis. The same on every machine.
#pragma once

#include "catena/control/generalized_plant.h"
#include "catena/control/testing/random_systems.h"

namespace catena::test {

// `modes` modes of 1 % damping between 0.5 and 50 rad/s, one to two disturbances and controls, one
// to two performance outputs and measurements, controls weighted and measurements noisy.
inline GeneralizedPlant flexible_plant(std::uint64_t seed, int modes, double damping = 0.01) {
  RandomNumbers random(seed);
  const int n = 2 * modes, m1 = random.integer(1, 2), m2 = random.integer(1, 2);
  const int p1 = random.integer(1, 2), p2 = random.integer(1, 2);
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
  for (int k = 0; k < modes; ++k) {
    const double omega = 0.5 * std::pow(100.0, random.uniform());
    a(2 * k, 2 * k + 1) = omega;
    a(2 * k + 1, 2 * k) = -omega;
    a(2 * k + 1, 2 * k + 1) = -2.0 * damping * omega;
  }
  const Eigen::MatrixXd t = random.matrix(n, n) + 2.0 * std::sqrt(static_cast<double>(n)) *
                                                      Eigen::MatrixXd::Identity(n, n);
  const lapack::Lu lu(t);
  Eigen::MatrixXd b = Eigen::MatrixXd::Zero(n, m1 + m2), c = Eigen::MatrixXd::Zero(p1 + p2, n);
  for (int k = 0; k < modes; ++k) {  // forces act on rates, sensors see positions or rates
    for (int j = 0; j < m1 + m2; ++j) b(2 * k + 1, j) = random.normal();
    for (int i = 0; i < p1 + p2; ++i) c(i, 2 * k + random.integer(0, 1)) = random.normal();
  }
  // w = [disturbances; sensor noise], z = [performance; control effort].
  Eigen::MatrixXd bb = Eigen::MatrixXd::Zero(n, m1 + p2 + m2),
                  cc = Eigen::MatrixXd::Zero(p1 + m2 + p2, n);
  bb.leftCols(m1) = b.leftCols(m1);
  bb.rightCols(m2) = b.rightCols(m2);
  cc.topRows(p1) = c.topRows(p1);
  cc.bottomRows(p2) = c.bottomRows(p2);
  Eigen::MatrixXd d = Eigen::MatrixXd::Zero(p1 + m2 + p2, m1 + p2 + m2);
  const double effort = std::pow(10.0, random.uniform(-1.5, 0.5));
  const double noise = std::pow(10.0, random.uniform(-1.5, 0.5));
  d.block(p1, m1 + p2, m2, m2) = effort * Eigen::MatrixXd::Identity(m2, m2);
  d.block(p1 + m2, m1, p2, p2) = noise * Eigen::MatrixXd::Identity(p2, p2);
  GeneralizedPlant plant;
  plant.system = ss(lu.solve(a * t), lu.solve(bb), cc * t, d);
  plant.measurements = p2;
  plant.controls = m2;
  return plant;
}

}  // namespace catena::test
