// SPDX-License-Identifier: BSD-3-Clause
// The structured singular value of a matrix M for a structure of blocks [Packard & Doyle 1993],
//
//   μ(M) = 1 / min { σ_max(Δ) : det(1 − M Δ) = 0, Δ of the structure },   0 if there is none
//
// from above and from below.
//
//   const MuBounds b = mu(M, structure);
//   b.lower, b.upper, b.worst        // 1 − M worst is singular, ‖worst‖ = 1/b.lower
//
// Upper bound: the least β for which scalings D (commuting with Δ) and G (of real blocks) exist
// with
//
//   Mᴴ D M + j (G M − Mᴴ G) − β² D ≤ 0          [Fan, Tits & Doyle 1991]
//
// found by the method of centers, from Osborne's balancing. However the search ends, `upper` is
// what a Cholesky factorization confirms for the scalings returned. Lower bound: power iteration
// [Packard, Fan & Doyle 1988; Young & Doyle 1990] from several starts, then an ascent in the real
// parameters and the phases. The Δ returned is rechecked by the smallest singular value of 1 − M Δ.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "catena/robust/blocks.h"

namespace catena {

// D_r on the side of p and D_c on the side of q (they differ for full blocks that are not square),
// and G, Hermitian, zero outside of real blocks.
struct MuScaling {
  Eigen::MatrixXcd d_rows{};     // of p
  Eigen::MatrixXcd d_columns{};  // of q
  Eigen::MatrixXcd g{};          // of p (real blocks are square); empty: none
};

struct MuBounds {
  double lower = 0.0;
  double upper = 0.0;
  MuScaling scaling{};              // that proves `upper`
  std::vector<BlockValue> worst{};  // that proves `lower`; empty if lower is 0
  double singularity = 0.0;         // σ_min(1 − M Δ) of `worst`, relative
  int evaluations = 0;
};

struct MuSettings {
  double tolerance = 1e-6;          // relative, of the upper bound's search
  bool use_g = true;                // false: real blocks are treated as complex
  int starts = 8;                   // of the lower bound
  bool lower = true;                // false: no lower bound
  const MuScaling* warm = nullptr;  // scalings of a neighbouring frequency
};

MuBounds mu(const Eigen::MatrixXcd& m, const BlockStructure& structure,
            const MuSettings& settings = {});
// The least β that a factorization confirms for given scalings; infinite if it confirms none.
double mu_level(const Eigen::MatrixXcd& m, const BlockStructure& structure,
                const MuScaling& scaling);
}  // namespace catena
