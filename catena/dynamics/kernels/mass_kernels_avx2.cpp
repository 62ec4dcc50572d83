// SPDX-License-Identifier: BSD-3-Clause
// The mass matrix for AVX2 and FMA: compiled with those flags and CATENA_ISA=avx2.
#define CATENA_MASS_KERNEL avx2_mass_matrix
#define CATENA_INVERSE_MASS_KERNEL avx2_inverse_mass_matrix
#define CATENA_SOLVE_KERNEL avx2_solve
#include "catena/dynamics/kernels/mass_kernels.inc"
