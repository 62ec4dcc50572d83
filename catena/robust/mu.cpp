// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/mu.h"

#include <fmt/core.h>

#include "catena/base/error.h"
#include "catena/robust/mu_lower.h"
#include "catena/robust/mu_scaling.h"

namespace catena {
namespace {

// Part of the upper bound at which the search for a lower one ends.
constexpr double kEnough = 1.0 - 1e-7;

}  // namespace

MuBounds mu(const Eigen::MatrixXcd& m, const BlockStructure& structure,
            const MuSettings& settings) {
  structure.validate();
  if (m.rows() != structure.columns() || m.cols() != structure.rows())
    throw Error(fmt::format("the matrix is {} x {}; these uncertain blocks need {} x {}", m.rows(),
                            m.cols(), structure.columns(), structure.rows()));
  if (!m.allFinite()) throw NumericalError("the matrix of a structured singular value has NaN");
  MuBounds bounds;
  const ScalingSearch search =
      find_scaling(m, structure, settings.use_g, settings.tolerance, settings.warm);
  bounds.upper = search.level;
  bounds.scaling = search.scaling;
  bounds.evaluations = search.steps;
  if (!settings.lower || bounds.upper == 0.0) return bounds;
  const LowerBound lower =
      find_perturbation(m, structure, settings.starts, search.scaling, kEnough * bounds.upper);
  bounds.lower = lower.value;
  bounds.worst = lower.worst;
  bounds.singularity = lower.singularity;
  bounds.evaluations += lower.evaluations;
  return bounds;
}

}  // namespace catena
