// SPDX-License-Identifier: BSD-3-Clause
// Frequency responses for any processor.
#define CATENA_KERNELS portable_response_kernels
#define CATENA_ISA_NAME "sse2"
#include "catena/linear/kernels/response_kernels.inc"
