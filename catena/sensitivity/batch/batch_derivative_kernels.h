// SPDX-License-Identifier: BSD-3-Clause
// Interface between batch_derivatives.cpp and its kernels: plain tables in, packs of numbers out,
// one table of functions for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "catena/dynamics/batch/batch_kernels.h"
#include "catena/sensitivity/kernels/column_table.h"

namespace catena {

// Up to three rows of a product, each a sum over the same list of indices.
struct RowBlock {
  int row[3] = {0, 0, 0};
  int rows = 0;
  int first = 0;  // in the list of indices
  int count = 0;
};

// Up to three freedoms after one another, without a branch between them.
struct Stretch {
  int row[3] = {0, 0, 0};
  int rows = 0;
};

// A column to solve for: where it is among those of its group, and in the result.
struct SolvedColumn {
  int from = 0;
  int to = 0;
};

// Neighbouring freedoms whose columns of ∂τ/∂q and ∂τ/∂v have entries in the same rows.
struct ColumnGroup {
  int first = 0;
  int count = 0;
  int first_column = 0;  // of the list of columns to solve for
  int column_count = 0;
  int first_inward = 0;   // blocks of Zᵀ b
  int first_outward = 0;  // blocks of Z b, from the end of those above
  int end_outward = 0;
};

// A free base: its position and linear velocity do not change the relative motion, and its attitude
// only turns gravity, so the derivatives by these are known beforehand.
struct FreeRoot {
  int node = 0;
  int first = 0;  // freedom
};
// Of a freedom: in which of ∂v̇/∂q and ∂v̇/∂v its column is.
enum class KnownColumns : std::uint8_t { none, by_q, both };

struct BatchDerivativeModel {
  const BatchModel* batch = nullptr;
  MatrixPattern pattern;            // of the tree
  const int* path = nullptr;        // freedoms inboard of each, and its own; indices of blocks
  const int* first_path = nullptr;  // by freedom
  const int* outboard = nullptr;    // freedoms outboard of each
  const int* first_outboard = nullptr;
  const Stretch* stretches = nullptr;  // parents first
  int stretch_count = 0;
  const int* node_of = nullptr;  // by freedom
  const int* law_of = nullptr;   // by freedom, or −1
  const ColumnGroup* groups = nullptr;
  int group_count = 0;
  int most_columns = 0;  // freedoms of a group
  const SolvedColumn* columns = nullptr;
  const RowBlock* blocks = nullptr;
  const KnownColumns* known = nullptr;  // by freedom
  const FreeRoot* free_roots = nullptr;
  int free_root_count = 0;
  const DriveTerm* drives = nullptr;
  int drive_count = 0;
  const int* rotors = nullptr;       // drives that move a freedom, or are carried by it
  const int* first_rotor = nullptr;  // by freedom, and the end
};

struct BatchDerivativeKernels {
  const char* isa = "";
  std::size_t (*scratch_bytes)(const BatchDerivativeModel&) = nullptr;
  // Lays out the scratch in memory aligned to 64 bytes.
  void (*bind)(const BatchDerivativeModel&, void* memory) = nullptr;
  // Three matrices of `freedoms` columns each: ∂τ/∂q, ∂τ/∂v and M at the accelerations of the
  // input.
  PackReport (*inverse)(const BatchDerivativeModel&, const BatchInput&,
                        const std::ptrdiff_t* states, void* memory,
                        const LaneTarget& target) = nullptr;
  // Accelerations, ∂v̇/∂q, ∂v̇/∂v and M⁻¹ at the efforts of the input.
  PackReport (*forward)(const BatchDerivativeModel&, const BatchInput&,
                        const std::ptrdiff_t* states, void* memory, RowsOut acceleration,
                        const LaneTarget& target) = nullptr;
};

// Those of the same instruction set as the batch kernels of that name.
const BatchDerivativeKernels& batch_derivative_kernels(std::string_view isa);

BatchDerivativeKernels portable_batch_derivative_kernels();
BatchDerivativeKernels avx2_batch_derivative_kernels();
BatchDerivativeKernels avx512_batch_derivative_kernels();

}  // namespace catena
