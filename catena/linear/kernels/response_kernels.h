// SPDX-License-Identifier: BSD-3-Clause
// Inner loops of the frequency response, for several points s of the complex plane at once (one per
// lane of a SIMD register). Compiled for each instruction set (response_kernels.inc).
#pragma once

namespace catena {

// y = C (s T − H)⁻¹ B with H upper Hessenberg and T upper triangular (none: identity), by an RQ
// factorization from the last column up, of which only one column is kept [Henry 1994]. O(n²) for
// each s and O(n (inputs + 2)) memory for each lane.
struct HessenbergArguments {
  int n = 0, inputs = 0, outputs = 0;
  const double* H = nullptr;  // n × n, columns one after the other
  const double* T = nullptr;  // the same, or none
  const double* B = nullptr;  // n × inputs
  const double* C = nullptr;  // outputs × n
  int points = 0;
  const double *s_re = nullptr, *s_im = nullptr;
  // outputs × inputs × 2 (re, im) for each point.
  double* y = nullptr;
  // At least scratch_size() doubles.
  double* scratch = nullptr;
};

// What the modes contribute: for each pair of conjugate eigenvalues λ the functions
// f = 1/(s − λ) + 1/(s − λ̄) and g = i/(s − λ) − i/(s − λ̄), for a real one f = 1/(s − λ).
// Row k of `basis` (re and im of all points: 2 · points columns) belongs to column k of the
// residues.
struct ModalArguments {
  int n = 0;                                  // rows of basis
  const double *re = nullptr, *im = nullptr;  // λ by row; of a pair the second row has −im
  int points = 0;
  const double *s_re = nullptr, *s_im = nullptr;
  double* basis =
      nullptr;  // n × 2 points, row k at basis + k · 2 points: re of all points, then im
};

struct ResponseKernels {
  void (*hessenberg)(const HessenbergArguments&);
  void (*modal_basis)(const ModalArguments&);
  int lanes = 1;
  const char* isa = "";
};
const ResponseKernels& portable_response_kernels();
const ResponseKernels& avx2_response_kernels();
// Those for this processor (catena/base/cpu.h).
const ResponseKernels& response_kernels();

// Doubles of scratch that the Hessenberg kernel needs with so many lanes.
inline long hessenberg_scratch(int n, int inputs, int outputs, int lanes) {
  return 2L * lanes * (static_cast<long>(n + outputs) + static_cast<long>(n) * inputs);
}

}  // namespace catena
