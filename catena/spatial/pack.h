// SPDX-License-Identifier: BSD-3-Clause
// Pack: one SIMD register of doubles, one state per lane.
//
// The number of lanes is that of the instruction set the including source file is compiled for (2
// on SSE2, 4 on AVX2, 8 on AVX-512). A comparison gives a mask with one bit per lane; there is
// deliberately no conversion to bool: kernels choose with select().
#pragma once

#include <xsimd/xsimd.hpp>

#include "catena/spatial/lanes.h"
#include "catena/spatial/trig.h"

namespace catena {
inline namespace CATENA_ISA {

struct Pack {
  using Batch = xsimd::batch<double>;
  using Mask = Batch::batch_bool_type;
  static constexpr int kLanes = static_cast<int>(Batch::size);

  Batch lanes;

  Pack() = default;
  Pack(double all) : lanes(all) {}            // NOLINT: a constant is the same in every lane
  Pack(const Batch& batch) : lanes(batch) {}  // NOLINT

  static Pack load(const double* from) { return Batch::load_unaligned(from); }
  void store(double* to) const { lanes.store_unaligned(to); }
  double lane(int i) const {
    double all[kLanes];
    store(all);
    return all[i];
  }

  friend Pack operator+(const Pack& a, const Pack& b) { return a.lanes + b.lanes; }
  friend Pack operator-(const Pack& a, const Pack& b) { return a.lanes - b.lanes; }
  friend Pack operator*(const Pack& a, const Pack& b) { return a.lanes * b.lanes; }
  friend Pack operator/(const Pack& a, const Pack& b) { return a.lanes / b.lanes; }
  friend Pack operator-(const Pack& a) { return -a.lanes; }
  Pack& operator+=(const Pack& b) { return *this = *this + b; }
  Pack& operator-=(const Pack& b) { return *this = *this - b; }
  Pack& operator*=(const Pack& b) { return *this = *this * b; }
  Pack& operator/=(const Pack& b) { return *this = *this / b; }

  friend Mask operator<(const Pack& a, const Pack& b) { return a.lanes < b.lanes; }
  friend Mask operator>(const Pack& a, const Pack& b) { return a.lanes > b.lanes; }
  friend Mask operator<=(const Pack& a, const Pack& b) { return a.lanes <= b.lanes; }
  friend Mask operator>=(const Pack& a, const Pack& b) { return a.lanes >= b.lanes; }
};

inline void set_lane(Pack& a, int i, double x) {
  double all[Pack::kLanes];
  a.store(all);
  all[i] = x;
  a = Pack::load(all);
}

template <>
inline constexpr int kLanesOf<Pack> = Pack::kLanes;

inline Pack select(const Pack::Mask& mask, const Pack& a, const Pack& b) {
  return xsimd::select(mask, a.lanes, b.lanes);
}
inline bool any(const Pack::Mask& mask) { return xsimd::any(mask); }
inline Pack sqrt(const Pack& a) { return xsimd::sqrt(a.lanes); }
inline Pack abs(const Pack& a) { return xsimd::abs(a.lanes); }
inline Pack exp(const Pack& a) { return xsimd::exp(a.lanes); }
inline Pack tanh(const Pack& a) { return xsimd::tanh(a.lanes); }
inline Pack atan2(const Pack& y, const Pack& x) {
  // xsimd gives NaN at the origin, where C gives 0 (and so do we, for all signs of the zeros).
  const Pack::Mask origin = (y.lanes == Pack::Batch(0.0)) & (x.lanes == Pack::Batch(0.0));
  return xsimd::select(origin, y.lanes, xsimd::atan2(y.lanes, x.lanes));
}
inline xsimd::batch<std::uint64_t> to_bits(const Pack& a) {
  return xsimd::bitwise_cast<xsimd::batch<std::uint64_t>>(a.lanes);
}
inline Pack from_bits(const Pack&, const xsimd::batch<std::uint64_t>& a) {
  return xsimd::bitwise_cast<Pack::Batch>(a);
}
// Two packs in step, for functions with many constants: each of them is loaded once for both.
struct TwoPacks {
  Pack a, b;
  TwoPacks(double all) : a(all), b(all) {}  // NOLINT: as for Pack
  TwoPacks(const Pack& first, const Pack& second) : a(first), b(second) {}
  friend TwoPacks operator+(const TwoPacks& x, const TwoPacks& y) { return {x.a + y.a, x.b + y.b}; }
  friend TwoPacks operator-(const TwoPacks& x, const TwoPacks& y) { return {x.a - y.a, x.b - y.b}; }
  friend TwoPacks operator*(const TwoPacks& x, const TwoPacks& y) { return {x.a * y.a, x.b * y.b}; }
};
struct TwoPacksOfBits {
  using Bits = xsimd::batch<std::uint64_t>;
  Bits a, b;
  TwoPacksOfBits(std::uint64_t all) : a(all), b(all) {}  // NOLINT
  TwoPacksOfBits(const Bits& first, const Bits& second) : a(first), b(second) {}
  using Two = TwoPacksOfBits;
  friend Two operator+(const Two& x, const Two& y) { return {x.a + y.a, x.b + y.b}; }
  friend Two operator-(const Two& x, const Two& y) { return {x.a - y.a, x.b - y.b}; }
  friend Two operator&(const Two& x, const Two& y) { return {x.a & y.a, x.b & y.b}; }
  friend Two operator^(const Two& x, const Two& y) { return {x.a ^ y.a, x.b ^ y.b}; }
  friend Two operator<<(const Two& x, int by) { return {x.a << by, x.b << by}; }
};
inline TwoPacksOfBits to_bits(const TwoPacks& x) { return {to_bits(x.a), to_bits(x.b)}; }
inline TwoPacks from_bits(const TwoPacks&, const TwoPacksOfBits& x) {
  return {from_bits(Pack(), x.a), from_bits(Pack(), x.b)};
}

// Lanes beyond the range of reduced_sincos() get theirs from the C library, alone: a lane's numbers
// do not depend on its neighbours.
inline void mend_sincos(const Pack& a, SinCos<Pack>& t) {
  double angle[Pack::kLanes], sine[Pack::kLanes], cosine[Pack::kLanes];
  a.store(angle);
  t.sin.store(sine);
  t.cos.store(cosine);
  for (int i = 0; i < Pack::kLanes; ++i) {
    if (std::abs(angle[i]) < kLargestFastAngle) continue;
    sine[i] = std::sin(angle[i]);
    cosine[i] = std::cos(angle[i]);
  }
  t = {Pack::load(sine), Pack::load(cosine)};
}
// As for all coordinates of one state (trig.h).
inline SinCos<Pack> sincos(const Pack& a) {
  SinCos<Pack> result = reduced_sincos(a);
  if (any(!(abs(a) < Pack(kLargestFastAngle)))) [[unlikely]]
    mend_sincos(a, result);
  return result;
}
// sine[i] and cosine[i] of angle[i] for all i with which each(f) calls f(i), two at a time.
template <class Each>
inline void sines_of(const Pack* angle, Pack* sine, Pack* cosine, Each each) {
  const Pack most(kLargestFastAngle);
  Pack::Mask within = Pack(0.0) < most;
  int waiting = -1;
  each([&](int i) {
    within = within & (abs(angle[i]) < most);
    if (waiting < 0) {
      waiting = i;
      return;
    }
    const SinCos<TwoPacks> t = reduced_sincos(TwoPacks(angle[waiting], angle[i]));
    sine[waiting] = t.sin.a;
    cosine[waiting] = t.cos.a;
    sine[i] = t.sin.b;
    cosine[i] = t.cos.b;
    waiting = -1;
  });
  if (waiting >= 0) {
    const SinCos<Pack> t = reduced_sincos(angle[waiting]);
    sine[waiting] = t.sin;
    cosine[waiting] = t.cos;
  }
  if (any(!within)) [[unlikely]]
    each([&](int i) {
      SinCos<Pack> t{sine[i], cosine[i]};
      mend_sincos(angle[i], t);
      sine[i] = t.sin;
      cosine[i] = t.cos;
    });
}
inline Pack sin(const Pack& a) { return sincos(a).sin; }
inline Pack cos(const Pack& a) { return sincos(a).cos; }

}  // namespace CATENA_ISA
}  // namespace catena
