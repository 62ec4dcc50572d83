// SPDX-License-Identifier: BSD-3-Clause
// Closed mechanisms of mixed hinges, cut at hinges of every type, with rods and couplings, against
// the equations of the spanning tree with multipliers: M v̇ + C = τ + Yᵀ λ, Y v̇ = −Ẏ v. Everything
// there comes from the reference (reference.h): velocities and accelerations of points and axes as
// derivatives of positions, in long double; the constraints are solved over the null space of Y, so
// that redundant rows do no harm.
#include <Eigen/LU>
#include <Eigen/QR>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/embedding.h"
#include "catena/dynamics/testing/closed_reference.h"

namespace catena::test {
namespace {

Wide null_space_of(const Wide& y) {
  Eigen::FullPivLU<Wide> lu(y);
  lu.setThreshold(Exact(1e-9));
  return lu.dimensionOfKernel() > 0 ? Wide(lu.kernel()) : Wide(y.cols(), 0);
}

double relative(const VectorXd& actual, const WideVector& expected) {
  return error(actual, reference::Vector<Exact>(expected.begin(), expected.end()));
}

struct Tally {
  Worst acceleration, dense, multipliers, effort, mass, hybrid_acceleration, hybrid_effort, reduced;
  int closed = 0, moving = 0, redundant = 0;
};

void compare(const Made& made, Tally& worst) {
  const Mechanism& m = made.closed;
  if (m.loops().empty()) return;
  ASSERT_EQ(m.freedoms(), made.tree.freedoms());
  const reference::Engine<Exact> engine(made.tree);
  const auto q = plain<Exact>(made.c.state.q);
  const auto n = to_size(m.freedoms());
  const reference::Vector<Exact> zero(n, 0);
  const Wide y = rows_of(engine, made.tree, made.closures, q);
  const Wide null_space = null_space_of(y);
  // A velocity along the closure.
  WideVector v = WideVector::Zero(m.freedoms());
  if (null_space.cols() > 0) {
    const WideVector random = made.c.state.v.cast<Exact>();
    v = null_space * null_space.colPivHouseholderQr().solve(random);
  }
  State state{made.c.state.q, v.cast<double>()};
  const auto vs = plain<Exact>(state.v);
  const WideVector bias =
      wide_vector(rates_of(engine, made.tree, made.closures, q, vs, zero).second);

  Wide mass(m.freedoms(), m.freedoms());
  const auto rows = engine.mass_matrix(q);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      mass(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) = rows[i][k];
  const reference::Vector<double> passive =
      reference::passive_effort(made.tree, plain<double>(state.q), plain<double>(state.v));
  WideVector applied = made.c.effort.cast<Exact>();
  for (std::size_t i = 0; i < n; ++i) applied[static_cast<Eigen::Index>(i)] += Exact(passive[i]);
  const WideVector needed = wide_vector(engine.effort(q, vs, zero, made.c.external));

  // v̇ = particular + N z.
  Eigen::CompleteOrthogonalDecomposition<Wide> solver;
  solver.setThreshold(Exact(1e-9));
  solver.compute(y);
  const WideVector particular = solver.solve(-bias);
  WideVector a = particular;
  if (null_space.cols() > 0) {
    const Wide inner = null_space.transpose() * mass * null_space;
    a += null_space *
         inner.ldlt().solve(null_space.transpose() * (applied - needed - mass * particular));
  }

  ++worst.closed;
  worst.moving += null_space.cols() > 0 ? 1 : 0;
  worst.redundant += solver.rank() < y.rows() ? 1 : 0;
  Workspace w(m);
  worst.acceleration.take(
      relative(forward_dynamics(m, state, made.c.effort, w, made.c.external), a));
  worst.dense.take(
      relative(forward_dynamics(m, state, made.c.effort, w, made.c.external, Route::dense), a));

  if (w.remote_drives().empty()) {
    const VectorXd found =
        forward_dynamics(m, state, made.c.effort, w, made.c.external, Route::multipliers);
    // What cannot move does so to rounding of the accelerations that the open tree would have.
    const WideVector free = mass.ldlt().solve(applied - needed);
    worst.multipliers.take(
        null_space.cols() > 0
            ? relative(found, a)
            : static_cast<double>((found.cast<Exact>() - a).norm() / free.norm()));
  }

  // Inverse dynamics at these accelerations gives back the efforts on the independent freedoms.
  const std::vector<int>& independent = w.independent();
  ASSERT_EQ(static_cast<Eigen::Index>(independent.size()), null_space.cols());
  if (independent.empty()) return;
  Wide chosen(null_space.cols(), null_space.cols());
  for (Eigen::Index i = 0; i < chosen.rows(); ++i)
    chosen.row(i) = null_space.row(independent[index(i)]);
  const Wide x = null_space * chosen.inverse();
  const WideVector reduced = x.transpose() * made.c.effort.cast<Exact>();
  const VectorXd effort = inverse_dynamics(m, state, a.cast<double>(), w, made.c.external);
  worst.effort.take(relative(effort(independent), reduced));
  const MatrixXd reduced_mass = mass_matrix(m, state.q, w);
  const Wide expected_mass = x.transpose() * mass * x;
  worst.mass.take(static_cast<double>((reduced_mass.cast<Exact>() - expected_mass).norm() /
                                      expected_mass.norm()));

  // One independent freedom driven at the acceleration that it has: the effort applied comes out.
  HybridInput hybrid{std::vector<std::uint8_t>(n, 0), made.c.effort, a.cast<double>()};
  const int driven = independent[independent.size() / 2];
  hybrid.motion_driven[index(driven)] = 1;
  hybrid.effort[driven] = std::numeric_limits<double>::quiet_NaN();
  HybridResult result;
  hybrid_dynamics(m, state, hybrid, w, result, made.c.external);
  worst.hybrid_acceleration.take(relative(result.acceleration, a));
  const double scale = static_cast<double>(needed.norm() + applied.norm());
  worst.hybrid_effort.take(std::abs(result.effort[driven] - made.c.effort[driven]) / scale);
}

void expect_all_below(double tolerance, const Tally& worst) {
  EXPECT_LT(worst.acceleration.value, tolerance) << "forward dynamics";
  EXPECT_LT(worst.dense.value, tolerance) << "dense route";
  EXPECT_LT(worst.multipliers.value, tolerance) << "route by multipliers";
  EXPECT_LT(worst.effort.value, tolerance) << "inverse dynamics";
  EXPECT_LT(worst.mass.value, tolerance) << "mass matrix";
  EXPECT_LT(worst.hybrid_acceleration.value, tolerance) << "hybrid, accelerations";
  EXPECT_LT(worst.hybrid_effort.value, tolerance) << "hybrid, efforts";
}

// Random closures are often close to a singular position, where digits are lost: of six thousand
// the worst were 9e-12 off by multipliers, which square the condition of Y, and 2e-12 by embedding.
constexpr double kTolerance = 1e-10;

TEST(RandomLoops, OfEveryHinge) {
  Tally worst;
  Random random(21);
  for (int i = 0; i < 300; ++i)
    compare(make(random, 2 + i % 12, 1 + random.below(3), false, false), worst);
  EXPECT_GT(worst.closed, 200);
  EXPECT_GT(worst.moving, 125);
  expect_all_below(kTolerance, worst);
}

// Maps that are handed over spare the elimination of the closure equations, and change no bit.
TEST(RandomLoops, KnownMapsGiveTheSame) {
  Random random(23);
  int compared = 0;
  for (int i = 0; i < 120; ++i) {
    const Made made = make(random, 2 + i % 12, 1 + random.below(3), i % 2 == 0, i % 3 != 0);
    const Mechanism& m = made.closed;
    if (m.loops().empty()) continue;
    Workspace w(m), plain(m);
    if (!w.remote_drives().empty()) continue;  // not by the sweeps
    LoopMaps maps;
    find_loop_maps(m, made.c.state.q, w, maps);
    if (w.independent().empty()) continue;
    State state = made.c.state;
    w.expand(state.v);
    plain.set_chart(w.chart());
    const VectorXd expected =
        forward_dynamics(m, state, made.c.effort, plain, made.c.external, Route::recursive);
    // The workspace has been elsewhere in between.
    forward_dynamics(m, {made.c.state.q, VectorXd::Zero(m.freedoms())}, made.c.effort, w, {},
                     Route::recursive);
    const VectorXd found =
        forward_dynamics(m, state, made.c.effort, w, made.c.external, Route::recursive, &maps);
    EXPECT_EQ(found, expected);
    HybridInput hybrid{std::vector<std::uint8_t>(to_size(m.freedoms()), 0), made.c.effort,
                       made.c.effort};
    hybrid.motion_driven[index(w.independent()[0])] = 1;
    HybridResult a, b;
    hybrid_dynamics(m, state, hybrid, plain, a, made.c.external);
    hybrid_dynamics(m, state, hybrid, w, b, made.c.external, &maps);
    EXPECT_EQ(a.acceleration, b.acceleration);
    EXPECT_EQ(a.effort, b.effort);
    // Another workspace with the same chart takes them too.
    Workspace other(m);
    other.set_chart(w.chart());
    EXPECT_TRUE(restore_loop_maps(maps, other));
    EXPECT_EQ(
        forward_dynamics(m, state, made.c.effort, other, made.c.external, Route::recursive, &maps),
        expected);
    // Of another chart they are not used.
    w.set_chart(choose_chart(m, made.c.state.q, {.previous = &w.chart()}));
    EXPECT_FALSE(restore_loop_maps(maps, w));
    other.set_chart(w.chart());
    EXPECT_EQ(
        forward_dynamics(m, state, made.c.effort, w, made.c.external, Route::recursive, &maps),
        forward_dynamics(m, state, made.c.effort, other, made.c.external, Route::recursive));
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

// The pivots of the elimination against a factorization of the same block by the dense library.
TEST(RandomLoops, PivotsGiveRatioAndSignOfTheDependentBlock) {
  Random random(24);
  int compared = 0;
  for (int i = 0; i < 120; ++i) {
    const Made made = make(random, 2 + i % 12, 1 + random.below(3), i % 2 == 0, i % 3 != 0);
    const Mechanism& m = made.closed;
    Workspace w(m);
    w.set_chart(choose_chart(m, made.c.state.q));
    ASSERT_TRUE(m.loops().empty() || embed_in_chart(m, made.c.state.q, w));
    for (int l = 0; l < static_cast<int>(m.loops().size()); ++l) {
      const LoopClosure loop(m, l);
      const LoopChart& chart = w.chart().loops[index(l)];
      const LoopPivots found = loop_pivots(w, l);
      if (loop.constant() || chart.rank == 0) {
        EXPECT_EQ(found.sign, 0);
        EXPECT_EQ(found.ratio, 1.0);
        continue;
      }
      const MatrixXd all = loop.velocity_rows(made.c.state.q);
      MatrixXd block(chart.rank, chart.rank);
      for (const ChartRow& row : chart.rows)
        for (int k = 0; k < loop.rows(); ++k)
          if (loop.row(k).closure == row.closure && loop.row(k).row == row.row)
            for (int c = 0; c < chart.rank; ++c)
              block(row.place, c) = all(k, chart.order[index(c)]);
      const Lu lu(block);
      const auto pivots = lu.factors().diagonal();
      const double ratio = pivots.cwiseAbs().minCoeff() / pivots.cwiseAbs().maxCoeff();
      EXPECT_NEAR(found.ratio, ratio, 1e-10 * ratio);
      double sign = lu.sign_of_exchanges();
      for (const double pivot : pivots) sign *= pivot > 0.0 ? 1.0 : -1.0;
      EXPECT_EQ(found.sign, sign);
      ++compared;
    }
  }
  EXPECT_GT(compared, 50);
}

TEST(RandomLoops, WithDrivesAndPassiveElements) {
  Tally worst;
  Random random(22);
  for (int i = 0; i < 60; ++i)
    compare(make(random, 2 + i % 10, 1 + random.below(2), i % 2 == 0, i % 3 != 0), worst);
  EXPECT_GT(worst.closed, 40);
  expect_all_below(kTolerance, worst);
}

}  // namespace
}  // namespace catena::test
