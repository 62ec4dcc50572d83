// SPDX-License-Identifier: BSD-3-Clause
// A clamped (or free) lattice boom of bars with lumped masses, for tests and studies of sparse
// reduction: side × side nodes in each section, three freedoms a node, sections 1 m apart. Forces
// across at the tip (two), across at two thirds, and a couple about the axis at the tip; sensors of
// displacement at the tip, at half length and of twist. Damping: Rayleigh's and two dashpots.
#pragma once

#include <cmath>
#include <vector>

#include "catena/linear/second_order.h"

namespace catena::test {

struct LatticeBoom {
  int bays = 60, side = 2;
  bool free = false;       // not clamped: six rigid modes
  double stiffness = 1e7;  // E A of a bar, N
  double damping = 0.005;  // ratio at the first bending frequency and at twenty times that
};

inline SecondOrder lattice_boom(const LatticeBoom& boom) {
  const int a = boom.side, per = a * a, first = boom.free ? 0 : 1;
  const int n = 3 * per * (boom.bays + 1 - first);
  const auto freedom = [&](int section, int i, int j) {
    return section < first ? -1 : 3 * ((section - first) * per + i * a + j);
  };
  std::vector<Eigen::Triplet<double>> k;
  const auto bar = [&](int s1, int i1, int j1, int s2, int i2, int j2) {
    if (s2 > boom.bays || i2 < 0 || j2 < 0 || i2 >= a || j2 >= a) return;
    Eigen::Vector3d d(s2 - s1, i2 - i1, j2 - j1);
    const double length = d.norm();
    d /= length;
    const int p = freedom(s1, i1, j1), q = freedom(s2, i2, j2);
    for (int u = 0; u < 3; ++u)
      for (int v = 0; v < 3; ++v) {
        const double e = boom.stiffness / length * d[u] * d[v];
        if (p >= 0) k.emplace_back(p + u, p + v, e);
        if (q >= 0) k.emplace_back(q + u, q + v, e);
        if (p < 0 || q < 0) continue;
        k.emplace_back(p + u, q + v, -e);
        k.emplace_back(q + u, p + v, -e);
      }
  };
  for (int s = 0; s <= boom.bays; ++s)
    for (int i = 0; i < a; ++i)
      for (int j = 0; j < a; ++j) {
        bar(s, i, j, s + 1, i, j);
        for (const int side : {-1, 1}) bar(s, i, j, s + 1, i + side, j);
        for (const int side : {-1, 1}) bar(s, i, j, s + 1, i, j + side);
        if (s < first) continue;
        bar(s, i, j, s, i + 1, j);
        bar(s, i, j, s, i, j + 1);
        bar(s, i, j, s, i + 1, j + 1);
      }
  SecondOrder r;
  r.K.resize(n, n);
  r.K.setFromTriplets(k.begin(), k.end());
  r.M.resize(n, n);
  r.M.setIdentity();
  // First bending frequency of the clamped beam with the bars' EI, for the damping.
  double inertia = 0.0;
  for (int i = 0; i < a; ++i) inertia += a * std::pow(i - 0.5 * (a - 1), 2);
  const double length = boom.bays;
  const double w1 = 3.516 / (length * length) * std::sqrt(boom.stiffness * inertia / per);
  const double alpha = 2.0 * boom.damping * w1 * 20.0 / 21.0,
               beta = 2.0 * boom.damping / (21.0 * w1);
  Eigen::SparseMatrix<double> dashpots(n, n);
  if (!boom.free)
    for (const double part : {0.4, 0.7}) {
      const int f = freedom(static_cast<int>(part * boom.bays), 0, 0) + 1;
      dashpots.insert(f, f) = 0.05 * w1 * per * length;
    }
  r.D = alpha * r.M + beta * r.K + dashpots;
  if (boom.free) r.D = beta * r.K;
  const int tip = boom.bays, far = 2 * boom.bays / 3, middle = boom.bays / 2;
  r.B = Eigen::MatrixXd::Zero(n, 4);
  r.B(freedom(tip, 0, 0) + 1, 0) = 1.0;
  r.B(freedom(tip, 0, 0) + 2, 1) = 1.0;
  r.B(freedom(far, a - 1, 0) + 1, 2) = 1.0;
  r.B(freedom(tip, 0, a - 1) + 1, 3) = 1.0;
  r.B(freedom(tip, 0, 0) + 1, 3) = -1.0;
  r.Cq = Eigen::MatrixXd::Zero(4, n);
  r.Cq(0, freedom(tip, 0, 0) + 1) = 1.0;
  r.Cq(1, freedom(tip, a - 1, a - 1) + 2) = 1.0;
  r.Cq(2, freedom(middle, 0, 0) + 1) = 1.0;
  r.Cq(3, freedom(tip, a - 1, a - 1) + 1) = 1.0;
  r.Cq(3, freedom(tip, a - 1, 0) + 1) = -1.0;
  r.inputs = {"tip.y", "tip.z", "far.y", "tip.couple"};
  r.outputs = {"tip.y", "tip.z", "middle.y", "tip.twist"};
  return r;
}

}  // namespace catena::test
