// SPDX-License-Identifier: BSD-3-Clause
// Columns and matrices for any processor.
#define CATENA_KERNELS portable_column_kernels
#define CATENA_ISA_NAME "sse2"
#include "catena/sensitivity/kernels/column_kernels.inc"
