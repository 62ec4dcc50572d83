// SPDX-License-Identifier: BSD-3-Clause
// The sweeps for every processor (on x86-64: SSE2).
#define CATENA_KERNELS portable_kernels
#define CATENA_MASS_KERNEL portable_mass_matrix
#define CATENA_INVERSE_MASS_KERNEL portable_inverse_mass_matrix
#define CATENA_SOLVE_KERNEL portable_solve
#define CATENA_ISA_NAME "sse2"
#include "catena/dynamics/kernels/kernels.inc"
