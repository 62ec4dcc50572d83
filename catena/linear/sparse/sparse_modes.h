// SPDX-License-Identifier: BSD-3-Clause
// Modes of a large sparse structure, K x = λ M x, in order of frequency and none left out.
//
//   const SparseModes low = sparse_modes(boom, {.count = 40});
//   const SparseModes band = sparse_modes(boom, {.highest = 200.0});   // all below 200 rad/s
//   const Modal coordinates = modal(boom, band.frequency, band.shapes);
//
// Block Lanczos on (K − σ M)⁻¹ M with full reorthogonalization in the inner product of M [Grimes,
// Lewis & Simon 1994]. The number of modes below the last is counted by the signs of L Δ Lᵀ of
// K − σ' M (Sylvester); modes that a block missed are found with new start vectors. One sparse
// factorization for each shift, one solution for each vector of the basis.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "catena/linear/second_order.h"

namespace catena {

class DynamicStiffness;

struct SparseModesSettings {
  int count = 0;         // the lowest modes, rigid ones included; 0: by `highest`
  double highest = 0.0;  // rad/s; 0: by `count`
  int most = 2000;       // more modes than this are refused
  // Of ‖(K − σ M)⁻¹ M x − θ x‖ by θ, in the norm of M; λ is right to its square. If rounding of the
  // solutions is larger (slender structures of a thousand bays), thirty times that rounding.
  double tolerance = 1e-8;
};

struct SparseModes {
  Eigen::VectorXd frequency{};  // rad/s, ascending; 0 for a rigid mode
  Eigen::MatrixXd shapes{};     // Φᵀ M Φ = 1
  int rigid = 0;                // the first so many
  int counted = 0;              // modes up to the last one by Sylvester's law, itself included
  double residual = 0.0;        // the largest, as in `tolerance`
};

// Throws NumericalError if K is not positive semidefinite, or the count is not reached.
SparseModes sparse_modes(const SecondOrder& structure, const SparseModesSettings& settings);
SparseModes sparse_modes(const SecondOrder& structure, const DynamicStiffness& stiffness,
                         const SparseModesSettings& settings);

}  // namespace catena
