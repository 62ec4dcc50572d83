// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/kernels/response_kernels.h"

#include "catena/base/cpu.h"

namespace catena {

const ResponseKernels& response_kernels() {
#ifdef CATENA_HAS_AVX2_KERNELS
  static const bool kWide = instruction_set() != "sse2";
  if (kWide) return avx2_response_kernels();
#endif
  return portable_response_kernels();
}

}  // namespace catena
