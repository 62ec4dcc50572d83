#include "catena/dynamics/kernel_table.h"

#include <string>

#include "catena/base/cpu.h"

namespace catena {

const KernelTable& kernel_table() {
  static const KernelTable table = [] {
    const std::string isa = instruction_set();
#ifdef CATENA_HAS_AVX2_KERNELS
    if (isa == "avx2") return avx2_kernels();
#endif
    return portable_kernels();
  }();
  return table;
}

}  // namespace catena
