// SPDX-License-Identifier: BSD-3-Clause
// The sweeps for packs of eight states: compiled with AVX-512 F and CATENA_ISA=avx512.
#define CATENA_BATCH_KERNELS avx512_batch_kernels
#define CATENA_ISA_NAME "avx512"
#include "catena/dynamics/batch/batch_kernels.inc"
