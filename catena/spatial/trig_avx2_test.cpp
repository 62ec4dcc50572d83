// SPDX-License-Identifier: BSD-3-Clause
// The sines and cosines of trig.h as the AVX2 kernels have them, for trig_test.cpp. Compiled with
// the flags of those kernels; hence no GoogleTest here, whose functions would reach other files.
#include "catena/spatial/trig.h"

namespace catena::test {

void sincos_of_all_avx2(const double* angle, int count, double* sine, double* cosine) {
  sincos_of_all(angle, count, sine, cosine);
}

}  // namespace catena::test
