// SPDX-License-Identifier: BSD-3-Clause
// A rational system through samples of a frequency response, computed or measured.
//
// The AAA algorithm [Nakatsukasa, Sète & Trefethen 2018] chooses support points one after the other
// where the barycentric interpolant is worst, with weights from the singular vectors of a Loewner
// matrix; points come with their conjugates, so everything is real. Matrix-valued samples share
// support points and poles. Poles that are not stable are mirrored, and residues and feedthrough
// follow from linear least squares with these poles. Each residue is realized by its rank.
//
//   const RationalFit fit = rational_fit(omega, samples, {.tolerance = 1e-6});
//   fit.system, fit.error
#pragma once

#include <vector>

#include <Eigen/Core>

#include "catena/linear/frequency_data.h"
#include "catena/linear/state_space.h"

namespace catena {

struct RationalFitSettings {
  double tolerance = 1e-6;  // of the error relative to the largest sample
  int most_poles = 80;
  bool strictly_proper = false;  // no feedthrough
  int most_samples = 400;        // more are thinned, evenly over their order
};

struct RationalFit {
  StateSpace system{};
  Eigen::VectorXcd poles{};
  int mirrored = 0;        // poles that were not stable before
  double error = 0.0;      // largest ‖G − Gr‖ at all given samples by the largest ‖G‖
  double frequency = 0.0;  // where, rad/s
};

// ω ≥ 0 ascending. Throws NumericalError for sizes that do not fit and numbers that are not finite.
RationalFit rational_fit(const std::vector<double>& omega,
                         const std::vector<Eigen::MatrixXcd>& samples,
                         const RationalFitSettings& settings = {});
RationalFit rational_fit(const FrequencyData& data, const RationalFitSettings& settings = {});

}  // namespace catena
