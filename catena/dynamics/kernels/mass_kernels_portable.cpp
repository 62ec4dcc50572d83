// SPDX-License-Identifier: BSD-3-Clause
// The mass matrix for every processor (on x86-64: SSE2).
#define CATENA_MASS_KERNEL portable_mass_matrix
#define CATENA_INVERSE_MASS_KERNEL portable_inverse_mass_matrix
#define CATENA_SOLVE_KERNEL portable_solve
#include "catena/dynamics/kernels/mass_kernels.inc"
