// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/kernels/column_table.h"

#include <string>

#include "catena/base/cpu.h"

namespace catena {

const ColumnKernels& column_kernels() {
  static const ColumnKernels kTable = [] {
    const std::string isa = instruction_set();
#ifdef CATENA_HAS_AVX2_KERNELS
    if (isa == "avx2") return avx2_column_kernels();
#endif
    return portable_column_kernels();
  }();
  return kTable;
}

}  // namespace catena
