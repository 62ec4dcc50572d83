// SPDX-License-Identifier: BSD-3-Clause
// Model reduction with the true error.
//
//   balanced    balanced truncation, ‖G − Gr‖∞ ≤ 2 Σ_{i>r} σ_i
//   stochastic  balanced stochastic truncation: relative error, ‖G⁻¹(G − Gr)‖∞ ≤ Π (1+σ_i)/(1−σ_i)
//   − 1 hankel      optimal Hankel-norm approximation, Hankel error σ_{r+1} [Glover 1984] modal the
//   modes with the largest contribution ‖residue‖/|Re λ|
//
//   const Reduction r = reduce(plant, {.order = 10});
//   r.system, r.error.value, r.bound
//
// Gramians enter as factors and the projections are orthonormalized (balancing-free square-root
// method [Varga 1991]), so non-minimal systems are no exception. Unstable and rigid modes are split
// off first and kept. Weights: `output_weight` · (G − Gr) · `input_weight` is made small
// [Enns 1984]. The true error is the certified peak gain of the difference.
#pragma once

#include <optional>

#include "catena/control/certificate.h"
#include "catena/control/norms.h"
#include "catena/linear/state_space.h"

namespace catena {

enum class ReductionMethod { balanced, stochastic, hankel, modal };

struct ReductionSettings {
  ReductionMethod method = ReductionMethod::balanced;
  int order = -1;           // of the result, unstable modes included; −1: by tolerance
  double tolerance = 1e-3;  // Hankel values below this times the largest are left out
  std::optional<StateSpace> input_weight{}, output_weight{};  // stable; balanced only
  bool match_dc = false;   // residualize instead of truncating: exact at zero frequency
  bool true_error = true;  // compute it
};

struct Reduction {
  StateSpace system{};
  Eigen::VectorXd sigma{};  // Hankel values of the stable part (of the phase for stochastic)
  int kept_unstable = 0;
  double bound = 0.0;  // a priori; NaN where there is none (weighted, modal)
  PeakGain error{};    // ‖G − Gr‖∞, weighted if weights are given; relative for stochastic
  // The first frequency at which σ_max(G − Gr) exceeds σ_min(Gr): a loop designed on Gr with less
  // bandwidth is stable with G [Chiang & Safonov 1989]. Infinite: never.
  double robust_frequency = 0.0;
  Certificate certificate{};
};

Reduction reduce(const StateSpace& system, const ReductionSettings& settings);

// A controller K of less order for the plant G (u = K y, positive feedback): balanced truncation
// weighted by the loop it stands in, ‖(1 − G K)⁻¹ G (K − Kr)(1 − G K)⁻¹…‖ [Enns 1984]. The reduced
// loop's stability is checked; throws NumericalError naming the least order that was stable.
struct ControllerReduction {
  StateSpace controller{};
  Eigen::VectorXd sigma{};
  PeakGain loop_error{};  // weighted error; below 1: stability follows
  Certificate certificate{};
};
ControllerReduction reduce_controller(const StateSpace& plant, const StateSpace& controller,
                                      int order);

}  // namespace catena
