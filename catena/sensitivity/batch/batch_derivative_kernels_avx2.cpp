// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of packs of four states: compiled with CATENA_ISA=avx2.
#define CATENA_BATCH_KERNELS avx2_batch_derivative_kernels
#define CATENA_ISA_NAME "avx2"
#include "catena/sensitivity/batch/batch_derivative_kernels.inc"
