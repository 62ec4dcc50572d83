// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of packs of states for every processor (on x86-64: two states, SSE2).
#define CATENA_BATCH_KERNELS portable_batch_derivative_kernels
#if defined(__x86_64__)
#define CATENA_ISA_NAME "sse2"
#else
#define CATENA_ISA_NAME "generic"
#endif
#include "catena/sensitivity/batch/batch_derivative_kernels.inc"
