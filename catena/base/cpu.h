// SPDX-License-Identifier: BSD-3-Clause
// Instruction sets (SSE2, AVX2, AVX-512) of this processor and this build, and the one in use.
#pragma once

#include <string>
#include <vector>

namespace catena {

struct CpuReport {
  std::string processor;  // name that it reports
  int hardware_threads = 0;
  std::vector<std::string> available;  // sse2, avx2, avx512: usable here (the OS saves them too)
  std::vector<std::string> built;      // variants in this build
  std::string used;                    // the one in use
};

CpuReport cpu_report();

// The instruction set the kernels use: the best that this processor and this build have in common,
// or the one that the environment variable CATENA_ISA names (for testing; throws Error if it is not
// available). AVX-512, which serves batches, is used only when asked for by that name.
std::string instruction_set();

}  // namespace catena
