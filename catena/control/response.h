// SPDX-License-Identifier: BSD-3-Clause
// The largest singular value of a frequency response, evaluated many times: the Hessenberg form is
// computed once, each frequency costs O(n² min(m, p)); small systems are factored at each
// frequency. Not installed.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "catena/control/equations/kernels.h"
#include "catena/linear/state_space.h"

namespace catena {

class PeakSearch {
 public:
  explicit PeakSearch(const StateSpace& system);  // without E and delays

  // G(jω), or G(e^{jω dt}). Infinite entries at a pole.
  Eigen::MatrixXcd response(double omega) const;
  // σ_max of it; ω = ∞ gives D (continuous).
  double gain(double omega) const;

  // Of many frequencies: several at once in the lanes of the processor, for large systems.
  std::vector<double> gains(const std::vector<double>& omega) const;

  // Where the gain is locally largest near ω: climbs with steps that start at `width`, then
  // parabolas and golden sections, to 1e-7 of the width. Returns the frequency; `value` is its
  // gain.
  double climb(double omega, double width, double& value) const;

  const Eigen::VectorXcd& poles() const { return poles_; }
  int evaluations() const { return evaluations_; }

 private:
  double gain_of(const Eigen::MatrixXcd& g) const;

  // Hessenberg form (small systems: balanced only); of the dual system if that has fewer inputs.
  Eigen::MatrixXd h_, b_, c_, d_;
  bool dual_ = false;
  double dt_ = 0.0;
  Eigen::VectorXcd poles_;
  mutable int evaluations_ = 0;
};

}  // namespace catena
