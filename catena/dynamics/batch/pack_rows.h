// SPDX-License-Identifier: BSD-3-Clause
// Rows of states to packs and back: the transpose between "one state per row", which callers have,
// and "one state per lane", which the sweeps use. In registers, as many columns at a time as there
// are lanes.
#pragma once

#include <cstddef>
#include <limits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "catena/spatial/pack.h"

namespace catena {
inline namespace CATENA_ISA {

#if defined(__AVX__)
// Four packs of four lanes, transposed.
inline void transpose4(__m256d& a, __m256d& b, __m256d& c, __m256d& d) {
  const __m256d ab_even = _mm256_unpacklo_pd(a, b), ab_odd = _mm256_unpackhi_pd(a, b);
  const __m256d cd_even = _mm256_unpacklo_pd(c, d), cd_odd = _mm256_unpackhi_pd(c, d);
  a = _mm256_permute2f128_pd(ab_even, cd_even, 0x20);
  b = _mm256_permute2f128_pd(ab_odd, cd_odd, 0x20);
  c = _mm256_permute2f128_pd(ab_even, cd_even, 0x31);
  d = _mm256_permute2f128_pd(ab_odd, cd_odd, 0x31);
}
// Lane l of to[i] is row[l][i], i = 0 ... 3; and back.
inline void load4(const double* const* row, __m256d (&to)[4]) {
  for (int l = 0; l < 4; ++l) to[l] = _mm256_loadu_pd(row[l]);
  transpose4(to[0], to[1], to[2], to[3]);
}
inline void store4(__m256d a, __m256d b, __m256d c, __m256d d, double* const* row) {
  transpose4(a, b, c, d);
  _mm256_storeu_pd(row[0], a);
  _mm256_storeu_pd(row[1], b);
  _mm256_storeu_pd(row[2], c);
  _mm256_storeu_pd(row[3], d);
}
#endif

// As many columns as a register has lanes (AVX-512: half as many), of all lanes' rows.
#if defined(__AVX512F__)
inline constexpr int kRowBlock = 4;
inline void load_columns(const double* const (&rows)[Pack::kLanes], int i, Pack* to) {
  const double *low[4], *high[4];
  for (int l = 0; l < 4; ++l) {
    low[l] = rows[l] + i;
    high[l] = rows[l + 4] + i;
  }
  __m256d a[4], b[4];
  load4(low, a);
  load4(high, b);
  for (int k = 0; k < 4; ++k)
    to[i + k] = Pack::Batch(_mm512_insertf64x4(_mm512_castpd256_pd512(a[k]), b[k], 1));
}
inline void store_columns(const Pack* from, int i, double* const (&rows)[Pack::kLanes]) {
  double *low[4], *high[4];
  for (int l = 0; l < 4; ++l) {
    low[l] = rows[l] + i;
    high[l] = rows[l + 4] + i;
  }
  const auto half = [&](int k, int upper) {
    const __m512d x = from[i + k].lanes.data;
    return upper == 0 ? _mm512_castpd512_pd256(x) : _mm512_extractf64x4_pd(x, 1);
  };
  store4(half(0, 0), half(1, 0), half(2, 0), half(3, 0), low);
  store4(half(0, 1), half(1, 1), half(2, 1), half(3, 1), high);
}
#elif defined(__AVX__)
inline constexpr int kRowBlock = 4;
inline void load_columns(const double* const (&rows)[Pack::kLanes], int i, Pack* to) {
  const double* const from[4] = {rows[0] + i, rows[1] + i, rows[2] + i, rows[3] + i};
  __m256d x[4];
  load4(from, x);
  for (int k = 0; k < 4; ++k) to[i + k] = Pack::Batch(x[k]);
}
inline void store_columns(const Pack* from, int i, double* const (&rows)[Pack::kLanes]) {
  double* const to[4] = {rows[0] + i, rows[1] + i, rows[2] + i, rows[3] + i};
  store4(from[i].lanes, from[i + 1].lanes, from[i + 2].lanes, from[i + 3].lanes, to);
}
#elif defined(__SSE2__)
inline constexpr int kRowBlock = 2;
inline void load_columns(const double* const (&rows)[Pack::kLanes], int i, Pack* to) {
  const __m128d a = _mm_loadu_pd(rows[0] + i), b = _mm_loadu_pd(rows[1] + i);
  to[i] = Pack::Batch(_mm_unpacklo_pd(a, b));
  to[i + 1] = Pack::Batch(_mm_unpackhi_pd(a, b));
}
inline void store_columns(const Pack* from, int i, double* const (&rows)[Pack::kLanes]) {
  const __m128d a = from[i].lanes, b = from[i + 1].lanes;
  _mm_storeu_pd(rows[0] + i, _mm_unpacklo_pd(a, b));
  _mm_storeu_pd(rows[1] + i, _mm_unpackhi_pd(a, b));
}
#else
inline constexpr int kRowBlock = 1;
inline void load_columns(const double* const (&rows)[Pack::kLanes], int i, Pack* to) {
  double lanes[Pack::kLanes];
  for (int l = 0; l < Pack::kLanes; ++l) lanes[l] = rows[l][i];
  to[i] = Pack::load(lanes);
}
inline void store_columns(const Pack* from, int i, double* const (&rows)[Pack::kLanes]) {
  double lanes[Pack::kLanes];
  from[i].store(lanes);
  for (int l = 0; l < Pack::kLanes; ++l) rows[l][i] = lanes[l];
}
#endif

// to[i] := the i-th number of every lane's row. What is left over at the end goes together with
// columns that are there already: a pack put together from single numbers waits for all of them.
inline void load_rows(const double* const (&rows)[Pack::kLanes], int count, Pack* to) {
  int i = 0;
  for (; i + kRowBlock <= count; i += kRowBlock) load_columns(rows, i, to);
  if (i == count) return;
  if (count >= kRowBlock) return load_columns(rows, count - kRowBlock, to);
  for (; i < count; ++i) {
    double lanes[Pack::kLanes];
    for (int l = 0; l < Pack::kLanes; ++l) lanes[l] = rows[l][i];
    to[i] = Pack::load(lanes);
  }
}

// The i-th number of every lane's row := from[i].
inline void store_rows(const Pack* from, int count, double* const (&rows)[Pack::kLanes]) {
  int i = 0;
  for (; i + kRowBlock <= count; i += kRowBlock) store_columns(from, i, rows);
  if (i == count) return;
  if (count >= kRowBlock) return store_columns(from, count - kRowBlock, rows);
  for (; i < count; ++i) {
    double lanes[Pack::kLanes];
    from[i].store(lanes);
    for (int l = 0; l < Pack::kLanes; ++l) rows[l][i] = lanes[l];
  }
}

// Numbers that go to memory which is not in the cache: asking for it beforehand hides that.
inline void announce(const Pack* first, const Pack* end) {
  const auto* line = reinterpret_cast<const unsigned char*>(first);
  for (; line < reinterpret_cast<const unsigned char*>(end); line += 64)
    __builtin_prefetch(line, 1);
}

// Non-temporal store, for memory that is not read soon; `to` is aligned to a pack. Other
// threads see it after end_streams().
inline void stream(const Pack& from, Pack& to) {
#if defined(__AVX512F__)
  _mm512_stream_pd(reinterpret_cast<double*>(&to), from.lanes.data);
#elif defined(__AVX__)
  _mm256_stream_pd(reinterpret_cast<double*>(&to), from.lanes);
#elif defined(__SSE2__)
  _mm_stream_pd(reinterpret_cast<double*>(&to), from.lanes);
#else
  to = from;
#endif
}
inline void stream_packs(const Pack* from, int count, Pack* to) {
  for (int i = 0; i < count; ++i) stream(from[i], to[i]);
}
inline void end_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// One bit per lane.
inline unsigned lane_bits(const Pack::Mask& mask) {
  double ones[Pack::kLanes];
  select(mask, Pack(1.0), Pack(0.0)).store(ones);
  unsigned bits = 0;
  for (int l = 0; l < Pack::kLanes; ++l) bits |= ones[l] != 0.0 ? 1U << l : 0U;
  return bits;
}

// The lanes in which a sum of |x| is NaN or infinite.
inline unsigned not_finite(const Pack& sum) {
  const Pack::Mask good = sum <= Pack(std::numeric_limits<double>::max());
  if (!any(!good)) [[likely]]
    return 0;
  return lane_bits(!good);
}

}  // namespace CATENA_ISA
}  // namespace catena
