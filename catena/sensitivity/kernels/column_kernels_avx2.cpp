// SPDX-License-Identifier: BSD-3-Clause
// Columns and matrices for AVX2 and FMA: compiled with those flags and CATENA_ISA=avx2.
#define CATENA_KERNELS avx2_column_kernels
#define CATENA_ISA_NAME "avx2"
#include "catena/sensitivity/kernels/column_kernels.inc"
