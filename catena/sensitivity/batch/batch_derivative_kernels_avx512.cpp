// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of packs of eight states: compiled with CATENA_ISA=avx512.
#define CATENA_BATCH_KERNELS avx512_batch_derivative_kernels
#define CATENA_ISA_NAME "avx512"
#include "catena/sensitivity/batch/batch_derivative_kernels.inc"
