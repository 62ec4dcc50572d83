// SPDX-License-Identifier: BSD-3-Clause
// A linear system with its uncertainties pulled out (linear fractional transformation):
//
//   [q; z] = M [p; w],   p = Δ q,   z = F(M, Δ) w = (M22 + M21 Δ (1 − M11 Δ)⁻¹ M12) w
//
// M is a StateSpace whose first inputs are p and whose first outputs are q; Δ has the structure
// `blocks`, every block of size at most one. A real block stands for a physical parameter.
//
//   UncertainSystem u{.system = m};
//   u.blocks.add_real("stiffness");
//   u.parameters = {UncertainParameter{"stiffness", 7.0, 5.0, 9.0}};
//   StateSpace soft = close(u, {{"stiffness", 5.0}});
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catena/linear/state_space.h"
#include "catena/robust/blocks.h"

namespace catena {

// A real parameter that is known within a range. δ = -1, 0, 1 are low, nominal and high; between
// them the parameter is the Möbius function through these three points (affine if the nominal
// value is the middle), which keeps fractional forms exact.
struct UncertainParameter {
  std::string name{};  // as parameters.h has it, "body.payload.mass"
  double nominal = 0.0;
  double low = 0.0;
  double high = 0.0;
  std::string unit{};

  double value(double delta) const;
  double delta(double value) const;
  // Throws Error naming the parameter: low < nominal < high must hold, all finite.
  void validate() const;
};

struct UncertainSystem {
  StateSpace system{};  // p first among the inputs, q first among the outputs
  BlockStructure blocks{};
  // Of the real blocks that stand for parameters, by block; empty: of other blocks.
  std::vector<std::optional<UncertainParameter>> parameters{};
  std::vector<std::string> remarks{};  // what was approximated, and by how much

  int inputs() const { return system.input_count() - blocks.rows(); }       // w
  int outputs() const { return system.output_count() - blocks.columns(); }  // z
  StateSpace nominal() const;                                               // Δ = 0
  StateSpace m11() const;  // from p to q: what stability rests on
  // Throws Error naming what does not fit.
  void validate() const;
};

// One case: values of parameters by name (others nominal), the other blocks zero. A value outside
// its range is allowed (robustness is asked beyond it). An unknown name throws NameError.
StateSpace close(const UncertainSystem& system, const std::map<std::string, double>& values);
// One case by the blocks of Δ. Complex Δ only with `close_at`.
StateSpace close(const UncertainSystem& system, const std::vector<BlockValue>& real_values);
// F(M(jω), Δ), for any Δ.
Eigen::MatrixXcd close_at(const UncertainSystem& system, double omega,
                          const std::vector<BlockValue>& values);

// A random case within `size` times the unit ball: parameters uniform in δ. The same for the same
// seed on every machine.
std::vector<BlockValue> sample(const BlockStructure& blocks, std::uint64_t seed, double size = 1.0);

// Channels w and z with another system around: the lower loop u = K y on the last outputs and
// inputs.
UncertainSystem lft(const UncertainSystem& system, const StateSpace& controller);
// These blocks alone; the others are zero.
UncertainSystem with_blocks(const UncertainSystem& system, const std::vector<int>& blocks);
// Blocks side by side; p and q are kept in front.
UncertainSystem append(const UncertainSystem& a, const UncertainSystem& b);

}  // namespace catena
