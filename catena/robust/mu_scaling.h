// SPDX-License-Identifier: BSD-3-Clause
// The convex search for the upper bound of the structured singular value.
//
//   least β:  F(D, G) = β² D_r − Mᴴ D_c M − j (G M − Mᴴ G) ≥ 0,   D > 0,  G = Gᴴ
//
// by the method of centers [Boyd & El Ghaoui 1993]: at a level λ = β² above the value reached, a
// few damped Newton steps on −log det F − log det D_r (trace of D held) lead to the analytic
// center, whose own least level is lower; λ follows. The coordinates are scaled in every step so
// that D = 1.
//
// All terms are Pᴴ T P with P = [1; M] and a sparse T for each variable, so the Hessian
// tr(F⁻¹ F_i F⁻¹ F_j) takes a few entries of Y = P F⁻¹ Pᴴ each: O(n³) for a step and O(v²) for v
// variables.
#pragma once

#include "catena/robust/mu.h"

namespace catena {

// From `start` (empty: Osborne's balancing). The scalings reached and the value they prove.
struct ScalingSearch {
  MuScaling scaling{};
  double level = 0.0;  // β, confirmed
  int steps = 0;
};
ScalingSearch find_scaling(const Eigen::MatrixXcd& m, const BlockStructure& structure, bool use_g,
                           double tolerance, const MuScaling* start);

// D by Osborne's method: rows and columns of equal norm, block by block.
MuScaling balance_blocks(const Eigen::MatrixXcd& m, const BlockStructure& structure);

}  // namespace catena
