// SPDX-License-Identifier: BSD-3-Clause
// The sweeps of constraints for every processor.
#define CATENA_CONSTRAINT_KERNELS portable_constraint_kernels
#include "catena/dynamics/multipliers/constraint_kernels.inc"
