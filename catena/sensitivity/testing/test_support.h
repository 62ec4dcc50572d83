// SPDX-License-Identifier: BSD-3-Clause
// What the tests of this room share: derivatives of the reference
// (dynamics/testing/quad_reference.h) by central differences of order eight in long double, along
// tangent directions.
#pragma once

#include <functional>

#include "catena/base/index.h"
#include "catena/dynamics/testing/test_support.h"
#include "catena/sensitivity/forward_derivatives.h"

namespace catena::test {

using Numbers = reference::Vector<Exact>;

// f'(0) by eight values: truncation h⁸ f⁽⁹⁾ / 630, rounding about ε / h. With h = 1e-3 and long
// double both are below 1e-15 for functions of unit scale.
inline constexpr Exact kDifferenceStep = 1e-3L;
inline Numbers slope(const std::function<Numbers(Exact)>& f, Exact h = kDifferenceStep) {
  constexpr Exact kWeights[4] = {4.0L / 5.0L, -1.0L / 5.0L, 4.0L / 105.0L, -1.0L / 280.0L};
  Numbers sum;
  for (int i = 1; i <= 4; ++i) {
    const Numbers up = f(Exact(i) * h), down = f(-Exact(i) * h);
    if (sum.empty()) sum.assign(up.size(), 0.0L);
    for (std::size_t k = 0; k < up.size(); ++k) sum[k] += kWeights[i - 1] * (up[k] - down[k]) / h;
  }
  return sum;
}

// q moved by ε along the tangent direction of freedom `freedom`, along a curve of its own: the
// quaternion of a spherical or free hinge times (cos ε/2, sin ε/2 e), or its position by R e ε.
inline Numbers moved(const Mechanism& m, Numbers q, int freedom, Exact epsilon) {
  for (const HingePlace& hinge : m.hinges()) {
    if (hinge.node < 0 || freedom < hinge.v_index || freedom >= hinge.v_index + hinge.freedoms)
      continue;
    const int k = freedom - hinge.v_index;
    const std::size_t first = to_size(hinge.q_index);
    if (hinge.coordinates == hinge.freedoms) {
      q[first + to_size(k)] += epsilon;
      return q;
    }
    Exact* p = q.data() + first;
    const Exact w = p[0], x = p[1], y = p[2], z = p[3];
    if (k < 3) {
      const Exact c = std::cos(epsilon / 2), s = std::sin(epsilon / 2);
      const Exact e[3] = {k == 0 ? s : 0, k == 1 ? s : 0, k == 2 ? s : 0};
      p[0] = w * c - x * e[0] - y * e[1] - z * e[2];
      p[1] = w * e[0] + x * c + y * e[2] - z * e[1];
      p[2] = w * e[1] - x * e[2] + y * c + z * e[0];
      p[3] = w * e[2] + x * e[1] - y * e[0] + z * c;
    } else {
      const Exact r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                             {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                             {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
      for (int i = 0; i < 3; ++i) p[4 + i] += epsilon * r[i][k - 3];
    }
    return q;
  }
  return q;
}

inline Numbers shifted(Numbers x, int i, Exact epsilon) {
  x[index(i)] += epsilon;
  return x;
}

// The passive efforts are of double precision only.
inline Numbers passive_of(const Mechanism& m, const Numbers& q, const Numbers& v) {
  const reference::Vector<double> p =
      reference::passive_effort(m, reference::Vector<double>(q.begin(), q.end()),
                                reference::Vector<double>(v.begin(), v.end()));
  return Numbers(p.begin(), p.end());
}

// Inverse dynamics of the reference, what the actuators give.
inline Numbers needed_effort(const reference::Engine<Exact>& engine, const Mechanism& m,
                             const Numbers& q, const Numbers& v, const Numbers& a,
                             const std::vector<ExternalWrench>& external, bool passive) {
  Numbers effort = engine.effort(q, v, a, external);
  if (!passive) return effort;
  const Numbers p = passive_of(m, q, v);
  for (std::size_t i = 0; i < effort.size(); ++i) effort[i] -= p[i];
  return effort;
}

// Columns of a matrix, each a derivative.
using Columns = std::vector<Numbers>;
inline double error(const Eigen::MatrixXd& actual, const Columns& expected) {
  if (actual.cols() != static_cast<Eigen::Index>(expected.size())) return kInfinity;
  VectorXd all(actual.size());
  Numbers wanted;
  Eigen::Index at = 0;
  for (Eigen::Index k = 0; k < actual.cols(); ++k) {
    const Numbers& column = expected[index(k)];
    if (static_cast<Eigen::Index>(column.size()) != actual.rows()) return kInfinity;
    for (Eigen::Index i = 0; i < actual.rows(); ++i) all[at++] = actual(i, k);
    wanted.insert(wanted.end(), column.begin(), column.end());
  }
  // Where every entry is below one (a single hinge has no velocity terms at all), absolute.
  double size = 1.0, off = 0.0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    size = std::max(size, std::abs(static_cast<double>(wanted[i])));
    const double d = static_cast<double>(Exact(all[static_cast<Eigen::Index>(i)]) - wanted[i]);
    if (!std::isfinite(d)) return kInfinity;
    off = std::max(off, std::abs(d));
  }
  return off / size;
}

}  // namespace catena::test
