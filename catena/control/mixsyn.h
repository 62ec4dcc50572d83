// SPDX-License-Identifier: BSD-3-Clause
// Loop shaping by weights: mixed sensitivity, automatic weights, normalized coprime factors.
//
//   augw        P for z = [W1 e; W2 u; W3 G u], y = e = w − G u
//   mixsyn      K with ‖[W1 S; W2 K S; W3 T]‖∞ < γ, S = (1 + G K)⁻¹ (negative feedback: u = K e)
//   makeweight  first-order weight by its gain at zero, crossover and gain at infinity
//   ncfsyn      [McFarlane & Glover 1992]: largest margin b(P, C) for the shaped plant W2 G W1
//
//   const Weight w1 = makeweight(100.0, 2.0, 0.1), w3 = polynomial_weight({0, 0, 1.0/40000});
//   const MixsynResult r = mixsyn(plant, w1, {}, w3);
//
// W3 may be improper (s²/ω²) as long as W3 G is proper: its polynomial part acts on the states of
// G.
#pragma once

#include <optional>
#include <vector>

#include "catena/control/hinf.h"
#include "catena/control/margins.h"

namespace catena {

// proper(s) + Σ polynomial[k] s^(k+1), for each channel alike if it is 1×1, or as a matrix.
struct Weight {
  StateSpace proper{};                        // no inputs: the weight is absent
  std::vector<Eigen::MatrixXd> polynomial{};  // coefficients of s, s², ...
  bool present() const { return proper.D.size() > 0; }
};
Weight weight(const StateSpace& proper);
Weight weight(double gain);
// Coefficients of 1, s, s², ...
Weight polynomial_weight(const std::vector<double>& coefficients);
// From numerator and denominator, highest power first; the numerator may have the higher degree.
Weight rational_weight(const std::vector<double>& numerator,
                       const std::vector<double>& denominator);
// |W| = `low` at zero, 1 at `crossover` (rad/s), `high` at infinity; low and high on different
// sides of 1.
Weight makeweight(double low, double crossover, double high);

// W(s) G(s); throws NumericalError if it is not proper.
StateSpace weighted(const Weight& weight, const StateSpace& plant);

GeneralizedPlant augw(const StateSpace& plant, const Weight& w1, const Weight& w2 = {},
                      const Weight& w3 = {});

struct MixsynResult {
  HinfResult hinf{};
  GeneralizedPlant augmented{};
  StateSpace controller{};  // u = K (r − y)
  StateSpace S{}, T{};
};
MixsynResult mixsyn(const StateSpace& plant, const Weight& w1, const Weight& w2 = {},
                    const Weight& w3 = {}, const HinfSettings& settings = {});

// The largest factor ρ on W1 for which ‖[ρ W1 S; W2 K S; W3 T]‖∞ ≤ 1 can be reached, to
// `tolerance`, and the controller of the factor 1 − tolerance below it.
struct WeightMaximum {
  double rho = 0.0;         // reached: loop checked
  double infeasible = 0.0;  // a factor that fails an existence test
  MixsynResult design{};
};
WeightMaximum maximize_weight(const StateSpace& plant, const Weight& w1, const Weight& w2 = {},
                              const Weight& w3 = {}, double tolerance = 1e-5);

struct NcfsynResult {
  StateSpace controller{};   // of the plant given, W1 K∞ W2: negative feedback
  StateSpace shaped{};       // W2 G W1
  double best_margin = 0.0;  // 1/γ_min = (1 + λ_max(X Y))^{-1/2}: no controller has more
  double margin = 0.0;       // b of the shaped plant with K∞, as verified
  Certificate certificate{};
};
// `suboptimality`: γ over its minimum. Plants with D = 0; continuous.
NcfsynResult ncfsyn(const StateSpace& plant, const std::optional<StateSpace>& w1 = {},
                    const std::optional<StateSpace>& w2 = {}, double suboptimality = 1.02);

}  // namespace catena
