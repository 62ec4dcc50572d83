// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of closed mechanisms in their independent freedoms against the reference in long
// double, which knows nothing of the library's closures, charts and recursions.
//
// Where the rows Y of the closures (dynamics/testing/closed_reference.h) say how dependent
// velocities follow from independent ones, v = X v_i, and accelerations v̇ = X v̇_i + γ, the dense
// equations of the spanning tree give all of the dynamics as functions of q and v_i, off the
// closure too: Y, X and γ are taken from enough independent rows. The derivative of such a function
// along a tangent of the closure is that along the closure itself, so q is moved straight on and
// nothing is closed again.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>

#include "catena/base/index.h"
#include "catena/dynamics/testing/closed_reference.h"
#include "catena/sensitivity/forward_derivatives.h"
#include "catena/sensitivity/testing/test_support.h"

namespace catena::test {
namespace {

constexpr double kTolerance = 1e-9;
// Near a singular position X is large and a step is a long way: of order eight, and in long double,
// it may be this short.
constexpr Exact kStep = 2e-4L;

class ClosedReference {
 public:
  ClosedReference(const Made& made, const State& state, const std::vector<int>& independent,
                  const HybridInput& hybrid, bool passive)
      : made_(made),
        engine_(made.tree),
        q_(plain<Exact>(state.q)),
        own_(independent),
        hybrid_(hybrid),
        passive_(passive) {
    for (int i = 0; i < made.tree.freedoms(); ++i)
      if (std::find(own_.begin(), own_.end(), i) == own_.end()) dependent_.push_back(i);
    const Wide y = rows_of(engine_, made.tree, made.closures, q_)(Eigen::all, dependent_);
    Eigen::ColPivHouseholderQR<Wide> qr;
    qr.setThreshold(Exact(1e-9));
    qr.compute(y.transpose());
    consistent_ = qr.rank() == static_cast<Eigen::Index>(dependent_.size());
    for (Eigen::Index i = 0; i < qr.rank(); ++i)
      rows_.push_back(static_cast<int>(qr.colsPermutation().indices()[i]));
    own_velocity_ = state.v.cast<Exact>()(own_);
    map_ = map_at(q_);
  }

  // Whether the library's independent freedoms determine the others.
  bool consistent() const { return consistent_; }
  const Wide& map() const { return map_; }
  Numbers velocity() const { return numbers(map_ * own_velocity_); }

  struct Point {
    Exact q = 0, v = 0, a = 0, effort = 0;  // along one independent freedom; one effort of all
    int along = 0;
  };
  // One after the other: independent accelerations of forward dynamics at `effort`; efforts of
  // inverse dynamics at the accelerations `a`; accelerations and efforts of hybrid dynamics.
  Numbers evaluate(const Point& p, const VectorXd& effort, const WideVector& a) const {
    Numbers q = q_;
    if (p.q != 0)
      for (int i = 0; i < made_.tree.freedoms(); ++i)
        if (map_(i, p.along) != 0) q = moved(made_.tree, q, i, p.q * map_(i, p.along));
    const Wide y = rows_of(engine_, made_.tree, made_.closures, q)(rows_, Eigen::all);
    const Eigen::PartialPivLU<Wide> lu(y(Eigen::all, dependent_));
    const Wide x = map_of(lu, y);
    WideVector vi = own_velocity_, ai = a;
    if (p.v != 0) vi[p.along] += p.v;
    if (p.a != 0) ai[p.along] += p.a;
    const Numbers v = numbers(x * vi);
    const Numbers zero(v.size(), 0.0L);
    const WideVector second =
        wide_vector(rates_of(engine_, made_.tree, made_.closures, q, v, zero).second)(rows_);
    WideVector gamma = WideVector::Zero(made_.tree.freedoms());
    const WideVector solved = lu.solve(-second);
    gamma(dependent_) = solved;
    const auto needed = [&](const Numbers& rates) {
      return wide_vector(
          needed_effort(engine_, made_.tree, q, v, rates, made_.c.external, passive_));
    };
    const auto dense = engine_.mass_matrix(q);
    Wide mass(x.rows(), x.rows());
    for (Eigen::Index i = 0; i < mass.rows(); ++i)
      for (Eigen::Index k = 0; k < mass.cols(); ++k) mass(i, k) = dense[index(i)][index(k)];
    const WideVector bias = needed(numbers(gamma));
    const Wide reduced = x.transpose() * mass * x;
    WideVector applied = effort.cast<Exact>();
    if (p.effort != 0) applied[p.along] += p.effort;
    WideVector result(4 * x.cols());
    result.head(x.cols()) = reduced.ldlt().solve(x.transpose() * (applied - bias));
    result.segment(x.cols(), x.cols()) = x.transpose() * (bias + mass * (x * ai));

    // Motion-driven independent freedoms keep their accelerations, and their efforts are what the
    // others' equations leave.
    for (std::size_t i = 0; i < hybrid_.motion_driven.size(); ++i)
      if (hybrid_.motion_driven[i] != 0) applied[static_cast<Eigen::Index>(i)] = 0;
    const WideVector rest = x.transpose() * (bias - applied);
    std::vector<int> free, driven;
    for (int k = 0; k < static_cast<int>(own_.size()); ++k)
      (hybrid_.motion_driven[index(own_[index(k)])] != 0 ? driven : free).push_back(k);
    WideVector rates = WideVector::Zero(x.cols()), efforts = rates;
    for (const int k : driven) rates[k] = Exact(hybrid_.acceleration[own_[index(k)]]);
    if (!free.empty()) {
      const WideVector right = -(rest + reduced * rates)(free);
      const WideVector found = Wide(reduced(free, free)).ldlt().solve(right);
      rates(free) = found;
    }
    const WideVector all = reduced * rates + rest;
    for (const int k : driven) efforts[k] = all[k];
    result.segment(2 * x.cols(), x.cols()) = rates;
    result.tail(x.cols()) = efforts;
    return numbers(result);
  }

 private:
  static Numbers numbers(const WideVector& x) { return Numbers(x.begin(), x.end()); }
  Wide map_of(const Eigen::PartialPivLU<Wide>& lu, const Wide& y) const {
    Wide x = Wide::Zero(y.cols(), static_cast<Eigen::Index>(own_.size()));
    const Wide right = -y(Eigen::all, own_);
    const Wide solved = lu.solve(right);
    x(dependent_, Eigen::all) = solved;
    for (std::size_t k = 0; k < own_.size(); ++k) x(own_[k], static_cast<Eigen::Index>(k)) = 1;
    return x;
  }
  Wide map_at(const Numbers& q) const {
    const Wide y = rows_of(engine_, made_.tree, made_.closures, q)(rows_, Eigen::all);
    return map_of(Eigen::PartialPivLU<Wide>(y(Eigen::all, dependent_)), y);
  }

  const Made& made_;
  reference::Engine<Exact> engine_;
  Numbers q_;
  std::vector<int> own_, dependent_, rows_;
  HybridInput hybrid_;
  bool passive_, consistent_ = false;
  WideVector own_velocity_;
  Wide map_;
};

struct Tally {
  Worst inverse_q, inverse_v, inverse_a, forward_q, forward_v, forward_effort, hybrid_q, hybrid_v;
  int compared = 0;
};

void compare(const Made& made, bool passive, double least_quality, Tally& worst) {
  const Mechanism& m = made.closed;
  if (m.loops().empty()) return;
  ASSERT_EQ(m.freedoms(), made.tree.freedoms());
  const State state{made.c.state.q, consistent_velocity(m, made.c.state.q, made.c.state.v)};
  SensitivityWorkspace w(m);
  const ForwardDerivatives f =
      forward_dynamics_derivatives(m, state, made.c.effort, w, made.c.external);
  const std::vector<int> own = w.dynamics().independent();
  const int size = static_cast<int>(own.size());
  if (size == 0 || size == m.freedoms()) return;  // cannot move, or no closure says anything
  for (const LoopChart& loop : w.dynamics().chart().loops)
    if (loop.quality < least_quality) return;
  HybridInput hybrid{std::vector<std::uint8_t>(to_size(m.freedoms()), 0), made.c.effort,
                     f.acceleration};
  hybrid.motion_driven[index(own[own.size() / 2])] = 1;
  const InverseDerivatives inverse =
      inverse_dynamics_derivatives(m, state, f.acceleration, w, made.c.external);
  const HybridDerivatives h = hybrid_dynamics_derivatives(m, state, hybrid, w, made.c.external);
  ASSERT_EQ(w.dynamics().independent(), own);

  const ClosedReference reference(made, state, own, hybrid, passive);
  ASSERT_TRUE(reference.consistent());
  const WideVector a = f.acceleration.cast<Exact>()(own);
  using Point = ClosedReference::Point;
  Columns by_q, by_v, by_a, by_effort;
  for (int k = 0; k < size; ++k) {
    by_q.push_back(
        slope([&](Exact e) { return reference.evaluate({.q = e, .along = k}, made.c.effort, a); },
              kStep));
    by_v.push_back(
        slope([&](Exact e) { return reference.evaluate({.v = e, .along = k}, made.c.effort, a); },
              kStep));
  }
  // Linear: two values will do.
  const Numbers here = reference.evaluate({}, made.c.effort, a);
  const auto change = [&](const Point& p) {
    Numbers there = reference.evaluate(p, made.c.effort, a);
    for (std::size_t i = 0; i < there.size(); ++i) there[i] -= here[i];
    return there;
  };
  for (int k = 0; k < size; ++k) by_a.push_back(change({.a = 1, .along = k}));
  for (int k = 0; k < m.freedoms(); ++k) by_effort.push_back(change({.effort = 1, .along = k}));
  // Rows [first, first + count) of each column, counted in blocks of the independent freedoms.
  const auto part = [&](const Columns& columns, int first, int count) {
    Columns result;
    for (const Numbers& column : columns)
      result.emplace_back(column.begin() + first * size, column.begin() + (first + count) * size);
    return result;
  };
  worst.forward_q.take(error(f.dq, part(by_q, 0, 1)));
  worst.forward_v.take(error(f.dv, part(by_v, 0, 1)));
  worst.forward_effort.take(error(f.deffort, part(by_effort, 0, 1)));
  worst.inverse_q.take(error(inverse.dq, part(by_q, 1, 1)));
  worst.inverse_v.take(error(inverse.dv, part(by_v, 1, 1)));
  worst.inverse_a.take(error(inverse.da, part(by_a, 1, 1)));
  MatrixXd both(2 * size, size);
  both << h.acceleration_dq, h.effort_dq;
  worst.hybrid_q.take(error(both, part(by_q, 2, 2)));
  both << h.acceleration_dv, h.effort_dv;
  worst.hybrid_v.take(error(both, part(by_v, 2, 2)));
  ++worst.compared;
}

void expect_small(const Tally& t, const char* what) {
  printf(
      "    %-10s inverse %.1e %.1e %.1e  forward %.1e %.1e %.1e  hybrid %.1e %.1e  (%d closed "
      "mechanisms)\n",
      what, t.inverse_q.value, t.inverse_v.value, t.inverse_a.value, t.forward_q.value,
      t.forward_v.value, t.forward_effort.value, t.hybrid_q.value, t.hybrid_v.value, t.compared);
  for (const Worst& w : {t.inverse_q, t.inverse_v, t.inverse_a, t.forward_q, t.forward_v,
                         t.forward_effort, t.hybrid_q, t.hybrid_v})
    EXPECT_LT(w.value, kTolerance);
}

void compare_loops(int count, unsigned seed, const char* what) {
  Tally worst;
  Random random(seed);
  while (worst.compared < count)
    compare(make(random, 2 + worst.compared % 4, 1 + random.below(2), false, false), false, 0.05,
            worst);
  expect_small(worst, what);
}

TEST(ClosedExact, RandomLoops) { compare_loops(35, 31, "hinges"); }
TEST(ClosedExact, MoreRandomLoops) { compare_loops(35, 33, "hinges"); }

TEST(ClosedExact, WithDrivesAndPassiveElements) {
  Tally worst;
  Random random(32);
  while (worst.compared < 30)
    compare(
        make(random, 2 + worst.compared % 3, 1 + random.below(2), true, worst.compared % 2 == 0),
        true, 0.05, worst);
  expect_small(worst, "everything");
}

}  // namespace
}  // namespace catena::test
