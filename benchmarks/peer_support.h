// SPDX-License-Identifier: BSD-3-Clause
// What several plug-ins need: where a body's coordinates begin, a free body's rotation, and the
// translation of its rates into a library's own (docs/notation.md, section 5).
#pragma once

#include <cmath>
#include <vector>

#include "peer.h"

#define CATENA_PEER extern "C" __attribute__((visibility("default")))

namespace catena_bench {

struct Places {
  std::vector<int> q, v;  // by body
};

inline Places places_of(const PeerModel& m) {
  Places p;
  int q = 0, v = 0;
  for (int i = 0; i < m.body_count; ++i) {
    const bool free = m.bodies[i].hinge == 'f';
    p.q.push_back(q);
    p.v.push_back(v);
    q += free ? 7 : 1;
    v += free ? 6 : 1;
  }
  return p;
}

// By rows, from (w, x, y, z).
inline void rotation_of(const double* q, double (&r)[9]) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double rows[9] = {
      1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
      2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
      2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  for (int i = 0; i < 9; ++i) r[i] = rows[i];
}
inline void quaternion_of(const double* r, double (&q)[4]) {
  const double trace = r[0] + r[4] + r[8];
  if (trace > 0.0) {
    const double s = 2.0 * std::sqrt(1.0 + trace);
    const double found[4] = {0.25 * s, (r[7] - r[5]) / s, (r[2] - r[6]) / s, (r[3] - r[1]) / s};
    for (int i = 0; i < 4; ++i) q[i] = found[i];
    return;
  }
  const int i = r[0] >= r[4] && r[0] >= r[8] ? 0 : (r[4] >= r[8] ? 1 : 2);
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  const double s = 2.0 * std::sqrt(1.0 + r[4 * i] - r[4 * j] - r[4 * k]);
  q[0] = (r[3 * k + j] - r[3 * j + k]) / s;
  q[1 + i] = 0.25 * s;
  q[1 + j] = (r[3 * i + j] + r[3 * j + i]) / s;
  q[1 + k] = (r[3 * i + k] + r[3 * k + i]) / s;
}

inline void times(const double* r, const double* x, double* y) {
  for (int i = 0; i < 3; ++i) y[i] = r[3 * i] * x[0] + r[3 * i + 1] * x[1] + r[3 * i + 2] * x[2];
}
inline void transposed_times(const double* r, const double* x, double* y) {
  for (int i = 0; i < 3; ++i) y[i] = r[i] * x[0] + r[3 + i] * x[1] + r[6 + i] * x[2];
}
inline void cross(const double* a, const double* b, double* c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}
// R (v̇ + ω × v): the acceleration of the origin in world axes, from our (ω̇, v̇) and (ω, v).
inline void origin_acceleration(const double* r, const double* rates, const double* accelerations,
                                double* y) {
  double x[3];
  cross(rates, rates + 3, x);
  for (int i = 0; i < 3; ++i) x[i] += accelerations[3 + i];
  times(r, x, y);
}
// And back: v̇ = Rᵀ y − ω × v.
inline void own_acceleration(const double* r, const double* rates, const double* y, double* x) {
  double turned[3];
  cross(rates, rates + 3, turned);
  transposed_times(r, y, x);
  for (int i = 0; i < 3; ++i) x[i] -= turned[i];
}

}  // namespace catena_bench
