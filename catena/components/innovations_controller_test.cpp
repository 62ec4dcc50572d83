// SPDX-License-Identifier: BSD-3-Clause
// Decoupled control in innovations coordinates: poles by differences of the closed loop, and a run.
#include "catena/components/innovations_controller.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/dynamics/forward.h"
#include "catena/io/load.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

Mechanism arm() { return load(CATENA_SOURCE_DIR "/models/arm7.yaml"); }

// q̈ of the closed loop by forward dynamics, differentiated around the target.
MatrixXd closed_loop(const Mechanism& m, const InnovationsSettings& s) {
  const int n = m.freedoms();
  MatrixXd a = MatrixXd::Zero(2 * n, 2 * n);
  a.topRightCorner(n, n).setIdentity();
  constexpr double h = 1e-5;
  for (int k = 0; k < 2 * n; ++k) {
    VectorXd ends[2];
    for (const int side : {0, 1}) {
      State x = s.target;
      (k < n ? x.q[k] : x.v[k - n]) += side == 0 ? -h : h;
      ends[side] = forward_dynamics(m, x, innovations_effort(m, x, s));
    }
    a.bottomRows(n).col(k) = (ends[1] - ends[0]) / (2.0 * h);
  }
  return a;
}

InnovationsSettings settings_of(const Mechanism& m) {
  InnovationsSettings s;
  s.target = m.default_state();
  s.target.v.setZero();
  s.frequency.resize(m.freedoms());
  s.damping.resize(m.freedoms());
  for (int k = 0; k < m.freedoms(); ++k) {
    s.target.q[k] = 0.3 - 0.15 * k;
    s.frequency[k] = 2.0 + k;
    s.damping[k] = 0.3 + 0.05 * k;
  }
  return s;
}

TEST(Innovations, EachFreedomHasItsOwnPoles) {
  const Mechanism m = arm();
  ASSERT_GE(m.freedoms(), 6);
  const InnovationsSettings s = settings_of(m);
  std::vector<std::complex<double>> wanted;
  for (int k = 0; k < m.freedoms(); ++k)
    for (const double side : {-1.0, 1.0})
      wanted.push_back(
          s.frequency[k] *
          std::complex<double>(-s.damping[k], side * std::sqrt(1.0 - s.damping[k] * s.damping[k])));
  for (const std::complex<double>& pole : lapack::eigenvalues(closed_loop(m, s))) {
    double nearest = 1e300;
    for (const auto& w : wanted) nearest = std::min(nearest, std::abs(pole - w));
    EXPECT_LT(nearest, 1e-4) << pole;
  }
}

// At the target nothing is left but the effort that holds the mechanism.
TEST(Innovations, HoldsTheTarget) {
  const Mechanism m = arm();
  const InnovationsSettings s = settings_of(m);
  EXPECT_LT(forward_dynamics(m, s.target, innovations_effort(m, s.target, s)).norm(), 1e-8);
}

TEST(Innovations, RunEndsAtTheTarget) {
  const Mechanism m = arm();
  InnovationsSettings s = settings_of(m);
  s.frequency = VectorXd::Constant(1, 6.0);
  s.damping = VectorXd::Ones(1);
  State start = s.target;
  start.q.array() += 0.4;
  SimulationSettings run;
  run.duration = 4.0;
  run.actions.components = {innovations_controller(s)};
  MemoryRecorder record;
  const SimulationResult r = simulate(m, start, run, record);
  EXPECT_LT((r.state.q - s.target.q).norm(), 1e-5);
}

TEST(Innovations, RefusesWhatItCannotDo) {
  const Mechanism m = arm();
  InnovationsSettings s = settings_of(m);
  s.frequency = VectorXd::Constant(1, -2.0);
  try {
    innovations_effort(m, s.target, s);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("must be positive"));
  }
  s.frequency = VectorXd::Ones(2);
  EXPECT_THROW(innovations_effort(m, s.target, s), Error);
  const Mechanism closed = load(CATENA_SOURCE_DIR "/models/four_bar.yaml");
  EXPECT_THROW(innovations_effort(closed, closed.default_state(),
                                  {.target = {}, .frequency = VectorXd::Ones(1)}),
               Error);
}

}  // namespace
}  // namespace catena
