// SPDX-License-Identifier: BSD-3-Clause
// V1.4's substitute [Chiang & Safonov 1989]: a flexible structure linearized by our own product,
// with loops closed and an uncontrollable state beside it, so that the model is not minimal.
#include <cmath>

#include <gtest/gtest.h>

#include "catena/control/equations/kernels.h"
#include "catena/control/reduction.h"
#include "catena/io/load.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/sensitivity/linearize.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A free hub with four booms; torque and force on the hub, its angle and place and two booms.
StateSpace hub_plant() {
  const Mechanism m =
      load(std::string(CATENA_SOURCE_DIR) + "/verification/hub_with_booms/model.yaml");
  const LinearModel model =
      linearize(m, {m.default_state(), VectorXd::Zero(m.freedoms())},
                {.inputs = {"base.wz", "base.vx"},
                 .outputs = {"q.base.wz", "q.base.vx", "q.east.mode1", "q.north.mode1"}});
  return state_space(model, m);
}

double frequency(int i) { return std::pow(10.0, -3.0 + 7.0 * i / 3000.0); }

MatrixXcd response_of(const StateSpace& g, double w) {
  MatrixXcd a = -g.A.cast<Complex>();
  a.diagonal().array() += Complex(0.0, w);
  return g.C * lapack::solve(a, MatrixXcd(g.B.cast<Complex>())) + g.D;
}

// Rate and position feedback of the hub and of two booms damp the structure; four states of the
// hub's other motions are no longer seen or reached. A state of no input and no output beside them,
// all mixed: the model is not minimal.
StateSpace loops_closed() {
  const StateSpace g = hub_plant();
  // Little structural damping, so that no mode is on the axis.
  StateSpace damped = g;
  const Eigen::Index half = g.order() / 2;
  damped.A.bottomRightCorner(half, half) +=
      0.005 * g.A.bottomLeftCorner(half, half) - 1e-2 * MatrixXd::Identity(half, half);
  damped.A.bottomLeftCorner(half, half) -= 1e-3 * MatrixXd::Identity(half, half);
  MatrixXd k = MatrixXd::Zero(2, 4);
  k(0, 0) = 10.0, k(1, 1) = 40.0;
  StateSpace closed = feedback(damped, ss(k), -1);
  const Eigen::Index n = closed.order();
  MatrixXd a = MatrixXd::Zero(n + 1, n + 1), b = MatrixXd::Zero(n + 1, 2),
           c = MatrixXd::Zero(4, n + 1);
  a.topLeftCorner(n, n) = closed.A;
  a(n, n) = -0.3;
  b.topRows(n) = closed.B;
  c.leftCols(n) = closed.C;
  c(3, n) = 1.0;  // seen, but no input reaches it
  MatrixXd t = MatrixXd::Identity(n + 1, n + 1);
  for (Eigen::Index i = 0; i <= n; ++i) t(i, (3 * i + 1) % (n + 1)) += 0.4;
  return similarity(ss(a, b, c), t);
}

TEST(ControlCases, NonMinimalStructureIsReduced) {
  const StateSpace g = loops_closed();
  ASSERT_TRUE(is_stable(g));
  ASSERT_GT(g.order(), 20);
  double size = 0.0;
  for (int i = 0; i <= 3000; ++i)
    size = std::max(size, lapack::norm2(response_of(g, frequency(i))));
  // Twelve states are minimal.
  for (const ReductionMethod method :
       {ReductionMethod::balanced, ReductionMethod::hankel, ReductionMethod::modal})
    for (const int order : {8, 12}) {
      const Reduction r = reduce(g, {.method = method, .order = order});
      EXPECT_TRUE(r.certificate.passed()) << r.certificate.text();
      EXPECT_LE(r.system.order(), order);
      EXPECT_TRUE(is_stable(r.system));
      EXPECT_GT(r.robust_frequency, 0.0);
      if (order == 12) {
        EXPECT_LT(r.error.value, 2e-4 * size);
      }
      // The true error is the largest of dense samples, and below the robust frequency the error is
      // less than the model.
      double largest = 0.0;
      for (int i = 0; i <= 3000; ++i) {
        const double w = frequency(i);
        const double error = lapack::norm2(MatrixXcd(response_of(g, w) - response_of(r.system, w)));
        largest = std::max(largest, error);
        if (w > 0.98 * r.robust_frequency) continue;
        const VectorXd v = lapack::singular_values(response_of(r.system, w));
        EXPECT_LE(error, v[v.size() - 1] + 1e-11 * size) << w;
      }
      EXPECT_NEAR(largest, r.error.value, 0.02 * r.error.value + 1e-11 * size);
    }
}

// Balanced stochastic truncation of a square non-minimal loop with a small D: relative error.
TEST(ControlCases, NonMinimalStructureByStochasticTruncation) {
  StateSpace g = loops_closed();
  g.C = g.C.topRows(2).eval();
  g.D = 1e-3 * MatrixXd::Identity(2, 2);
  g.outputs.resize(2);
  g.output_units.clear();
  const Reduction r = reduce(g, {.method = ReductionMethod::stochastic, .order = 6});
  EXPECT_TRUE(is_stable(r.system));
  EXPECT_TRUE(r.certificate.passed()) << r.certificate.text();
  EXPECT_LE(r.error.value, r.bound * (1.0 + 1e-6));
  EXPECT_GT(r.robust_frequency, 0.0);
}

}  // namespace
}  // namespace catena
