// SPDX-License-Identifier: BSD-3-Clause
// The sweeps for packs of four states: compiled with AVX2 and FMA and CATENA_ISA=avx2.
#define CATENA_BATCH_KERNELS avx2_batch_kernels
#define CATENA_ISA_NAME "avx2"
#include "catena/dynamics/batch/batch_kernels.inc"
