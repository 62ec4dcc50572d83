// SPDX-License-Identifier: BSD-3-Clause
// The sweeps of constraints for AVX2 and FMA: compiled with those flags and CATENA_ISA=avx2.
#define CATENA_CONSTRAINT_KERNELS avx2_constraint_kernels
#include "catena/dynamics/multipliers/constraint_kernels.inc"
