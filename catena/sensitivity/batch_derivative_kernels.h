// What the kernels of batches of derivatives share with batch_derivatives.cpp: plain tables in,
// packs of numbers out, one table of functions for each instruction set.
#pragma once

#include <cstddef>
#include <string_view>

#include "catena/dynamics/batch_kernels.h"
#include "catena/sensitivity/column_table.h"

namespace catena {

// Neighbouring columns of ∂τ/∂q and ∂τ/∂v with entries in the same rows.
struct ColumnGroup {
  int first = 0;
  int count = 0;
  int first_row = 0;  // in the list of rows
  int row_count = 0;
};

struct BatchDerivativeModel {
  const BatchModel* batch = nullptr;
  MatrixPattern pattern;            // of the tree
  const int* path = nullptr;        // freedoms inboard of each, and its own
  const int* first_path = nullptr;  // by freedom
  const int* common = nullptr;      // [i][k], k <= i: how many their paths share
  const int* node_of = nullptr;     // by freedom
  const ColumnGroup* groups = nullptr;
  int group_count = 0;
  const int* group_rows = nullptr;
  const DriveTerm* drives = nullptr;
  int drive_count = 0;
};

// The numbers of a pack: three matrices of `freedoms` columns each, every number `lanes` times.
struct BatchDerivativeKernels {
  const char* isa = "";
  std::size_t (*scratch_bytes)(const BatchDerivativeModel&) = nullptr;
  // Lays out the scratch in memory aligned to 64 bytes.
  void (*bind)(const BatchDerivativeModel&, void* memory) = nullptr;
  // ∂τ/∂q, ∂τ/∂v and M at the accelerations of the input.
  PackReport (*inverse)(const BatchDerivativeModel&, const BatchInput&,
                        const std::ptrdiff_t* states, void* memory, double* numbers) = nullptr;
  // ∂v̇/∂q, ∂v̇/∂v and M⁻¹ there.
  PackReport (*forward)(const BatchDerivativeModel&, const BatchInput&,
                        const std::ptrdiff_t* states, void* memory, double* numbers) = nullptr;
};

// Those of the same instruction set as the batch kernels of that name.
const BatchDerivativeKernels& batch_derivative_kernels(std::string_view isa);

BatchDerivativeKernels portable_batch_derivative_kernels();
BatchDerivativeKernels avx2_batch_derivative_kernels();
BatchDerivativeKernels avx512_batch_derivative_kernels();

}  // namespace catena
