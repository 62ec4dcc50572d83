// SPDX-License-Identifier: BSD-3-Clause
// SLICOT and Octave beside the control room, on the same plants: oracles and peers of the study
// programs only. SLICOT if it was found when this was configured, Octave if it is installed with
// its package octave-control. CPU time, one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catena/control/generalized_plant.h"
#include "catena/control/norms.h"

namespace catena::peers {

struct Peak {
  double value = 0.0, frequency = 0.0, seconds = 0.0;
};
// SLICOT's AB13DD.
std::optional<Peak> ab13dd(const StateSpace& system, double tolerance = 1e-9);

struct Design {
  StateSpace controller{};  // empty: the peer returned none
  double gamma = 0.0;       // as the peer reports it
  double seconds = 0.0;
  bool found = false;
};
// SLICOT's SB10AD: bisection from `gamma` on, then a scan (its JOB = 3).
std::optional<Design> sb10ad(const GeneralizedPlant& plant, double gamma);
// Octave's hinfsyn, one process for all plants; empty without Octave.
std::vector<Design> octave_hinfsyn(const std::vector<GeneralizedPlant>& plants);

struct Regulator {
  Eigen::MatrixXd gain{}, solution{};
  double seconds = 0.0;
};
// Octave's lqr with R = 1.
std::optional<Regulator> octave_lqr(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                    const Eigen::MatrixXd& q);

}  // namespace catena::peers
