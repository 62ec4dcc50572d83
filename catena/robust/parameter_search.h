// SPDX-License-Identifier: BSD-3-Clause
// Real parameters that take an eigenvalue of the loop to the imaginary axis, whatever its
// frequency.
//
// A(δ) = A + B Δ (1 − D Δ)⁻¹ C. For each lightly damped mode the signs of ∂Re λ/∂δ tell the corner
// of the box in which it loses damping fastest; the size of the box at which Re λ = 0 is bisected,
// the signs are taken there again, until they stay. A frequency grid would miss these points: for
// real parameters alone μ at a fixed frequency is almost always zero.
#pragma once

#include <vector>

#include "catena/linear/state_space.h"
#include "catena/robust/blocks.h"

namespace catena {

struct Destabilizing {
  double size = 0.0;  // of Δ; 0: none found
  double frequency = 0.0;
  std::vector<BlockValue> values{};  // complex and full blocks zero
};
// A stable continuous system from p to q. Only real blocks are used.
Destabilizing destabilizing_parameters(const StateSpace& m, const BlockStructure& structure);
// The smallest destabilizing size along directions through corners and random points of the box of
// this size, among those that are not stable at it: an attempt to refute a margin.
Destabilizing destabilizing_samples(const StateSpace& m, const BlockStructure& structure,
                                    double size);

}  // namespace catena
