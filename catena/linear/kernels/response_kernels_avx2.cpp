// SPDX-License-Identifier: BSD-3-Clause
// Frequency responses for AVX2 and FMA: compiled with those flags and CATENA_ISA=avx2.
#define CATENA_KERNELS avx2_response_kernels
#define CATENA_ISA_NAME "avx2"
#include "catena/linear/kernels/response_kernels.inc"
