// SPDX-License-Identifier: BSD-3-Clause
// Interconnection of linear systems: series, parallel, feedback, append, linear fractional
// transformations, selection of signals. Connection by signal names is in connect.h.
//
//   const StateSpace loop = series(controller, plant);       // plant after controller: L = G K
//   const StateSpace closed = feedback(loop);                 // L / (1 + L), unit negative
//   feedback const StateSpace hinf_loop = lft(generalized_plant, controller);
//
// All are one step: the systems are stood side by side (append) and their inputs are set to
// u = F y + W r (close_loops). With systems G_i of orders n_i the result has Σ n_i states; nothing
// is cancelled (minreal does that). Descriptor systems stay descriptor systems.
//
// Sample times must agree; a gain without states fits any. Delays stay at the outer inputs and
// outputs. Where a delay would come to stand inside a loop or between two systems, sampled systems
// absorb it as states, exactly; continuous ones throw an Error that names the signal (use pade() or
// c2d() first).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catena/linear/state_space.h"

namespace catena {

// y = second(first(u)).
StateSpace series(const StateSpace& first, const StateSpace& second);
// y = a(u) + b(u).
StateSpace parallel(const StateSpace& a, const StateSpace& b);
// Blocks on the diagonal: all inputs, all outputs. Names that appear twice get _2, _3, ....
StateSpace append(std::span<const StateSpace> systems);
StateSpace append(const StateSpace& a, const StateSpace& b);

// y = forward(r + sign · back(y)). The default is unit negative feedback.
StateSpace feedback(const StateSpace& forward, const StateSpace& back, int sign = -1);
StateSpace feedback(const StateSpace& forward, int sign = -1);

// Lower linear fractional transformation: K closes the last outputs of P (into K) and the last
// inputs of P (out of K): P11 + P12 K (1 − P22 K)⁻¹ P21. Upper: the first ones,
// P22 + P21 Δ (1 − P11 Δ)⁻¹ P12.
enum class LftSide { lower, upper };
StateSpace lft(const StateSpace& p, const StateSpace& k, LftSide side = LftSide::lower);
// Redheffer's star product: the last `y_count` outputs of `upper` drive the first inputs of
// `lower`, the first `u_count` outputs of `lower` drive the last inputs of `upper`.
StateSpace star(const StateSpace& upper, const StateSpace& lower, int u_count, int y_count);

// The channels of these outputs and inputs, by index or name, in this order.
StateSpace select(const StateSpace& system, std::span<const int> outputs,
                  std::span<const int> inputs);
StateSpace select(const StateSpace& system, const std::vector<std::string>& outputs,
                  const std::vector<std::string>& inputs);

// The dual (Aᵀ, Cᵀ, Bᵀ, Dᵀ): transfer matrix transposed.
StateSpace transpose(const StateSpace& system);
// Output times a constant; k · G, and gain · G, G · gain by matrices.
StateSpace scale(const StateSpace& system, double gain);
StateSpace operator+(const StateSpace& a, const StateSpace& b);  // parallel
StateSpace operator-(const StateSpace& a, const StateSpace& b);
StateSpace operator-(const StateSpace& a);
StateSpace operator*(const StateSpace& second, const StateSpace& first);  // series(first, second)
StateSpace operator*(double gain, const StateSpace& system);
StateSpace operator*(const Eigen::MatrixXd& gain, const StateSpace& system);
StateSpace operator*(const StateSpace& system, const Eigen::MatrixXd& gain);

// The inverse system (D must be square and regular).
StateSpace inverse(const StateSpace& system);

// New states z with x = T z.
StateSpace similarity(const StateSpace& system, const Eigen::MatrixXd& T);

// The general step: u = F y + W r, z = S y + V r. Throws NumericalError if the loop is not well
// posed (1 − F D singular to working precision). Names and units of r and z are default ones.
// Delays of the system are ignored: the caller has checked them.
StateSpace close_loops(const StateSpace& system, const Eigen::MatrixXd& F, const Eigen::MatrixXd& W,
                       const Eigen::MatrixXd& S, const Eigen::MatrixXd& V = {});

// Delays of a sampled system as states: exact; they must be multiples of dt. A continuous system
// with a delay throws an Error (pade() approximates).
StateSpace absorb_delays(const StateSpace& system);

// The sample time that both have, or an Error naming both and the operation.
double common_dt(const StateSpace& a, const StateSpace& b, const char* operation);

}  // namespace catena
