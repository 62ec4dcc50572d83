// SPDX-License-Identifier: BSD-3-Clause
// For tests: counts calls of malloc and its like. Include it in one file of a test executable,
// whose malloc then stands before the C library's; CATENA_COUNTS_ALLOCATIONS says whether it does.
// Not under sanitizers, which have their own.
#pragma once

#include <atomic>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CATENA_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define CATENA_SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(CATENA_SANITIZED)
#define CATENA_COUNTS_ALLOCATIONS 1

#include <malloc.h>

namespace catena::test {
inline std::atomic<long> allocations{0};
}

// NOLINTBEGIN: the names are the C library's, and definitions are what this header is for
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t size) {
  ++catena::test::allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++catena::test::allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
  ++catena::test::allocations;
  return __libc_realloc(block, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++catena::test::allocations;
  return __libc_memalign(alignment, size);
}
}
// NOLINTEND

namespace catena::test {

template <class Call>
long allocations_of(Call call) {
  const long before = allocations;
  call();
  return allocations - before;
}

}  // namespace catena::test
#endif
