// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/cpu.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "catena/base/error.h"
#include "catena/base/text.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define CATENA_X86 1
#endif

namespace catena {
namespace {

#ifdef CATENA_X86
// XCR0, the state components that the operating system saves on a context switch.
unsigned long long saved_state() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<unsigned long long>(high) << 32) | low;
}

std::string processor_name() {
  unsigned r[12] = {};
  // GCC declares this function unsigned, Clang signed.
  const auto last_leaf = static_cast<unsigned>(__get_cpuid_max(0x80000000U, nullptr));
  if (last_leaf < 0x80000004U) return "x86";
  for (unsigned i = 0; i < 3; ++i)
    __get_cpuid(0x80000002U + i, &r[4 * i], &r[4 * i + 1], &r[4 * i + 2], &r[4 * i + 3]);
  std::string name(reinterpret_cast<const char*>(r), sizeof r);
  name = name.substr(0, name.find('\0'));
  const auto first = name.find_first_not_of(' ');
  return first == std::string::npos ? "x86" : name.substr(first);
}
#endif

// In the build, but not yet tested on a processor that has it.
constexpr const char* kOnlyOnRequest = "avx512";

std::string instruction_set(const CpuReport& report) {
  const auto in = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  std::string best = report.built.front();
  for (const std::string& isa : report.built)
    if (in(report.available, isa) && isa != kOnlyOnRequest) best = isa;
  const char* wish = std::getenv("CATENA_ISA");
  if (wish == nullptr || *wish == '\0') return best;
  if (!in(report.built, wish))
    throw Error(std::string("CATENA_ISA=") + wish + ": this build has no such kernels; use " +
                listed(report.built));
  if (!in(report.available, wish))
    throw Error(std::string("CATENA_ISA=") + wish + ": this processor does not have it");
  return wish;
}

}  // namespace

CpuReport cpu_report() {
  CpuReport report;
  report.hardware_threads = static_cast<int>(std::thread::hardware_concurrency());
#ifdef CATENA_X86
  constexpr unsigned long long kAvxState = 0x6;      // SSE and AVX registers
  constexpr unsigned long long kAvx512State = 0xe6;  // and the mask and upper registers
  report.processor = processor_name();
  report.available.emplace_back("sse2");
  const unsigned long long saved = saved_state();
  if ((saved & kAvxState) == kAvxState && __builtin_cpu_supports("avx2") &&
      __builtin_cpu_supports("fma"))
    report.available.emplace_back("avx2");
  if ((saved & kAvx512State) == kAvx512State && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512dq"))
    report.available.emplace_back("avx512");
  report.built.emplace_back("sse2");
  report.built.emplace_back("avx2");
  report.built.emplace_back("avx512");
#else
  report.processor = "unknown";
  report.available.emplace_back("generic");
  report.built.emplace_back("generic");
#endif
  report.used = instruction_set(report);
  return report;
}

std::string instruction_set() { return cpu_report().used; }

}  // namespace catena
