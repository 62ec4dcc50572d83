// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/kernels/kernel_table.h"

#include <string>

#include "catena/base/cpu.h"
#include "catena/dynamics/batch/batch_kernels.h"

namespace catena {

const KernelTable& kernel_table() {
  static const KernelTable kTable = [] {
    const std::string isa = instruction_set();
#ifdef CATENA_HAS_AVX2_KERNELS
    if (isa == "avx2" || isa == "avx512") return avx2_kernels();
#endif
    return portable_kernels();
  }();
  return kTable;
}

const BatchKernels& batch_kernels() {
  static const BatchKernels kTable = [] {
    const std::string isa = instruction_set();
#ifdef CATENA_HAS_AVX2_KERNELS
    if (isa == "avx512") return avx512_batch_kernels();
    if (isa == "avx2") return avx2_batch_kernels();
#endif
    return portable_batch_kernels();
  }();
  return kTable;
}

}  // namespace catena
