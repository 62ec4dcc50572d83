// SPDX-License-Identifier: BSD-3-Clause
// Time responses against closed forms and, for delays off the samples, against the same system on a
// grid where the delays are multiples; features of second-order responses in closed form.
#include "catena/linear/timeresp.h"

#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/discretize.h"
#include "catena/linear/testing/systems.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::random_system;

StateSpace second_order(double w, double zeta) {
  return ss(Eigen::Matrix2d{{0.0, 1.0}, {-w * w, -2.0 * zeta * w}}, Eigen::Vector2d(0.0, w * w),
            Eigen::RowVector2d(1.0, 0.0));
}

double closed_step(double w, double zeta, double t) {
  if (t < 0.0) return 0.0;
  const double wd = w * std::sqrt(1.0 - zeta * zeta);
  return 1.0 - std::exp(-zeta * w * t) *
                   (std::cos(wd * t) + zeta / std::sqrt(1.0 - zeta * zeta) * std::sin(wd * t));
}

TEST(TimeResponse, StepAndImpulseOfSecondOrder) {
  StateSpace g = second_order(3.0, 0.3);
  for (const double delay : {0.0, 0.4, 0.0371}) {
    g.input_delay = VectorXd::Constant(1, delay);
    const VectorXd t = VectorXd::LinSpaced(101, 0.0, 5.0);
    const TimeResponse y = step(g, t), h = impulse(g, t);
    for (int k = 0; k <= 100; ++k) {
      EXPECT_NEAR(y.entry(0, 0)[k], closed_step(3.0, 0.3, t[k] - delay), 1e-13);
      const double s = t[k] - delay, wd = 3.0 * std::sqrt(1.0 - 0.09);
      EXPECT_NEAR(h.entry(0, 0)[k],
                  s < -1e-12 ? 0.0 : 9.0 / wd * std::exp(-0.9 * s) * std::sin(wd * s), 1e-12);
    }
  }
}

TEST(TimeResponse, DelaysOffTheSamplesAgreeWithAFinerGrid) {
  StateSpace g = random_system(1, 5, 2, 2);
  g.input_delay = Eigen::Vector2d(0.03, 0.17);
  g.output_delay = Eigen::Vector2d(0.04, 0.26);
  std::mt19937 random(2);
  // Coarse samples 0.1 s apart; on the fine ones, 0.01 s, all delays are multiples.
  const int coarse = 30, parts = 10;
  const MatrixXd u = test::random_matrix(random, 2, coarse);
  for (const InputHold hold : {InputHold::zoh, InputHold::foh}) {
    MatrixXd fine(2, (coarse - 1) * parts + 1);
    for (Eigen::Index k = 0; k < fine.cols(); ++k) {
      const Eigen::Index c = k / parts;
      const double part = static_cast<double>(k % parts) / parts;
      fine.col(k) = u.col(c);
      if (hold == InputHold::foh && part > 0.0) fine.col(k) += part * (u.col(c + 1) - u.col(c));
    }
    const TimeResponse a = lsim(g, u, VectorXd::LinSpaced(coarse, 0.0, 2.9), {.hold = hold});
    const TimeResponse b =
        lsim(g, fine, VectorXd::LinSpaced(fine.cols(), 0.0, 2.9), {.hold = hold});
    for (int k = 0; k < coarse; ++k)
      EXPECT_LT((a.y[0].col(k) - b.y[0].col(k * parts)).norm(), 1e-12) << k;
  }
}

TEST(TimeResponse, LinearInputsAreExact) {
  // 1/(s + 2) driven by a ramp: t/2 − (1 − e^{−2t})/4.
  const StateSpace g =
      ss(MatrixXd::Constant(1, 1, -2.0), MatrixXd::Ones(1, 1), MatrixXd::Ones(1, 1));
  const VectorXd t = VectorXd::LinSpaced(11, 0.0, 4.0);
  const TimeResponse y = lsim(g, t.transpose(), t);
  for (int k = 0; k <= 10; ++k)
    EXPECT_NEAR(y.y[0](0, k), t[k] / 2.0 - (1.0 - std::exp(-2.0 * t[k])) / 4.0, 1e-14);
  const TimeResponse free = initial(g, VectorXd::Constant(1, 3.0), t);
  EXPECT_NEAR(free.y[0](0, 5), 3.0 * std::exp(-4.0), 1e-14);
}

TEST(TimeResponse, SampledSystems) {
  StateSpace d = c2d(second_order(3.0, 0.3), 0.1);
  d.input_delay = VectorXd::Constant(1, 0.2);
  const TimeResponse y = step(d, VectorXd::LinSpaced(31, 0.0, 3.0));
  for (int k = 0; k <= 30; ++k)
    EXPECT_NEAR(y.entry(0, 0)[k], closed_step(3.0, 0.3, 0.1 * k - 0.2), 1e-12);
  EXPECT_THROW(step(d, VectorXd::LinSpaced(31, 0.0, 3.1)), Error);
  EXPECT_GT(step(d).t.size(), 10);
}

TEST(TimeResponse, BadInputIsNamed) {
  const StateSpace g = second_order(1.0, 0.5);
  EXPECT_THROW(lsim(g, MatrixXd::Zero(2, 5), VectorXd::LinSpaced(5, 0.0, 1.0)), Error);
  Eigen::Vector3d uneven(0.0, 1.0, 3.0);
  EXPECT_THROW(step(g, uneven), Error);
  EXPECT_THROW(initial(g, VectorXd::Zero(3), VectorXd::LinSpaced(5, 0.0, 1.0)), Error);
  StateSpace explosive =
      ss(MatrixXd::Constant(1, 1, 300.0), MatrixXd::Ones(1, 1), MatrixXd::Ones(1, 1));
  EXPECT_THROW(step(explosive, VectorXd::LinSpaced(11, 0.0, 10.0)), NumericalError);
}

TEST(StepInfo, OfSecondOrderInClosedForm) {
  for (const double zeta : {0.1, 0.3, 0.5, 0.7}) {
    const double w = 2.0;
    const StepInfo info = stepinfo(second_order(w, zeta))(0, 0);
    const double wd = w * std::sqrt(1.0 - zeta * zeta);
    EXPECT_NEAR(info.steady_state, 1.0, 1e-12);
    EXPECT_NEAR(info.overshoot, 100.0 * std::exp(-M_PI * zeta / std::sqrt(1.0 - zeta * zeta)),
                1e-4);
    EXPECT_NEAR(info.peak_time, M_PI / wd, 1e-4);
    // Crossings by bisection of the closed form.
    const auto crossing = [&](double level) {
      double low = 0.0, high = M_PI / wd;
      for (int i = 0; i < 100; ++i)
        (closed_step(w, zeta, 0.5 * (low + high)) < level ? low : high) = 0.5 * (low + high);
      return low;
    };
    EXPECT_NEAR(info.rise_time, crossing(0.9) - crossing(0.1), 1e-6);
    double settled = 40.0 / (zeta * w);
    while (std::abs(closed_step(w, zeta, settled) - 1.0) < 0.02) settled -= 1e-4;
    EXPECT_NEAR(info.settling_time, settled, 2e-4);
    EXPECT_EQ(info.undershoot, 0.0);
  }
}

// A million oscillations until it settles: no grid holds them. Closed forms of a single mode.
TEST(StepInfo, OfAlmostUndampedModes) {
  for (const double zeta : {1e-3, 1e-4, 1e-6}) {
    const double w = 20.0, wd = w * std::sqrt(1.0 - zeta * zeta);
    const StepInfo info = stepinfo(second_order(w, zeta))(0, 0);
    EXPECT_NEAR(info.overshoot, 100.0 * std::exp(-M_PI * zeta / std::sqrt(1.0 - zeta * zeta)),
                1e-6);
    EXPECT_NEAR(info.peak_time, M_PI / wd, 1e-6);
    const auto crossing = [&](double level) {
      double low = 0.0, high = M_PI / wd;
      for (int i = 0; i < 100; ++i)
        (closed_step(w, zeta, 0.5 * (low + high)) < level ? low : high) = 0.5 * (low + high);
      return low;
    };
    EXPECT_NEAR(info.rise_time, crossing(0.9) - crossing(0.1), 1e-8);
    // The envelope enters the band at ln(50)/(zeta w); the last crest outside is at most half a
    // period before.
    const double enters = std::log(50.0 / std::sqrt(1.0 - zeta * zeta)) / (zeta * w);
    EXPECT_LE(info.settling_time, enters * (1.0 + 1e-12));
    EXPECT_GE(info.settling_time, enters - M_PI / wd);
    EXPECT_NEAR(std::abs(closed_step(w, zeta, info.settling_time) - 1.0), 0.02, 1e-7);
    EXPECT_EQ(info.undershoot, 0.0);
  }
  // With a delay the times of settling and peak are later by it.
  StateSpace late = second_order(20.0, 1e-5);
  const StepInfo prompt = stepinfo(late)(0, 0);
  late.input_delay = VectorXd::Constant(1, 0.3);
  const StepInfo info = stepinfo(late)(0, 0);
  EXPECT_NEAR(info.rise_time, prompt.rise_time, 1e-9);
  EXPECT_NEAR(info.settling_time, prompt.settling_time + 0.3, 1e-8);
  EXPECT_NEAR(info.peak_time, prompt.peak_time + 0.3, 1e-9);
}

// Two modes of nearly equal frequency: the beat brings the peak after about half its period.
TEST(StepInfo, OfABeat) {
  const double a = 10.0, b = 10.05, zeta = 2e-5;
  const StateSpace g = parallel(second_order(a, zeta), scale(second_order(b, zeta), -1.0));
  const StepInfo info = stepinfo(g)(0, 0);
  double peak = 0.0;
  for (double t = 0.0; t < 130.0; t += 1e-4)
    peak = std::max(peak, std::abs(closed_step(a, zeta, t) - closed_step(b, zeta, t)));
  EXPECT_NEAR(info.peak, peak, 1e-6);
  // Sampled, the samples are those of the continuous response.
  const StepInfo sampled = stepinfo(c2d(second_order(a, 1e-5), 0.01))(0, 0);
  double largest = 0.0;
  for (int k = 0; k < 200; ++k) largest = std::max(largest, closed_step(a, 1e-5, 0.01 * k));
  EXPECT_GE(sampled.peak, largest * (1.0 - 1e-9));
  EXPECT_LE(sampled.peak, 2.0);
  const double enters = std::log(50.0) / (1e-5 * a);
  EXPECT_NEAR(sampled.settling_time, enters, 1e-3 * enters);
}

TEST(TimeGrid, HasTheLengthThatWasAskedFor) {
  StateSpace g = second_order(20.0, 1e-6);
  const VectorXd t = time_grid(g);
  EXPECT_LE((t[1] - t[0]) * 20.0, 2.0 * M_PI / 19.0);  // no oscillation between samples
  g.input_delay = VectorXd::Constant(1, 0.5);
  const VectorXd asked = time_grid(g, 3.0);
  EXPECT_EQ(asked[asked.size() - 1], 3.0);
  const VectorXd long_one = time_grid(c2d(second_order(20.0, 0.1), 0.01), 600.0);
  EXPECT_NEAR(long_one[long_one.size() - 1], 600.0, 1e-9);
  EXPECT_THROW(time_grid(g, -1.0), Error);
  EXPECT_THROW(time_grid(c2d(second_order(20.0, 0.1), 0.001), 1e6), Error);
}

TEST(StepInfo, NonminimumPhaseSampledAndUnstable) {
  // (1 − s)/(s + 1)².
  const StateSpace g = ss(Eigen::Matrix2d{{0.0, 1.0}, {-1.0, -2.0}}, Eigen::Vector2d(0.0, 1.0),
                          Eigen::RowVector2d(1.0, -1.0));
  const StepInfo info = stepinfo(g)(0, 0);
  // y = 1 − e^{−t} − 2 t e^{−t}, least at t = 1/2.
  EXPECT_NEAR(info.undershoot, -100.0 * (1.0 - 2.0 * std::exp(-0.5)), 1e-5);
  EXPECT_EQ(info.overshoot, 0.0);
  const StepInfo lag = stepinfo(c2d(
      ss(MatrixXd::Constant(1, 1, -1.0), MatrixXd::Ones(1, 1), MatrixXd::Ones(1, 1)), 0.5))(0, 0);
  EXPECT_NEAR(lag.settling_time, 4.0, 1e-12);  // e^{−4} < 0.02 < e^{−3.5}
  EXPECT_FALSE(
      stepinfo(ss(MatrixXd::Ones(1, 1), MatrixXd::Ones(1, 1), MatrixXd::Ones(1, 1)))(0, 0).stable);
  VectorXd t = VectorXd::LinSpaced(1001, 0.0, 10.0), y = (1.0 - (-t.array()).exp()).matrix();
  EXPECT_NEAR(stepinfo(t, y, 1.0).rise_time, std::log(9.0), 1e-4);
}

TEST(RootLocus, OfADoubleIntegratorWithLead) {
  // k (s + 1)/(s² (s + 5)): every pole satisfies s³ + 5 s² + k s + k = 0; curves are continuous.
  const StateSpace g = ss(Eigen::Matrix3d{{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {0.0, 0.0, -5.0}},
                          Eigen::Vector3d(0.0, 0.0, 1.0), Eigen::RowVector3d(1.0, 1.0, 0.0));
  const RootLocus locus = rlocus(g);
  EXPECT_GT(locus.gains.size(), 60);
  EXPECT_EQ(locus.zeros.size(), 1);
  for (Eigen::Index j = 0; j < locus.gains.size(); ++j)
    for (Eigen::Index i = 0; i < 3; ++i) {
      const Complex s = locus.poles(i, j);
      const double k = locus.gains[j];
      EXPECT_LT(std::abs(s * s * s + 5.0 * s * s + k * s + k),
                1e-9 * (1.0 + k) * (1.0 + std::norm(s)));
      if (j > 0) {
        EXPECT_LT(std::abs(s - locus.poles(i, j - 1)), 0.06 * (2.0 + std::abs(s)));
      }
    }
  EXPECT_THROW(rlocus(random_system(1, 2, 2, 2)), Error);
}

}  // namespace
}  // namespace catena
