// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/norms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/control/coprime.h"
#include "catena/control/gramians.h"
#include "catena/control/testing/load_plant.h"
#include "catena/control/testing/random_systems.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using test::compleib;
using test::RandomNumbers;

StateSpace oscillator(double omega, double zeta) {  // ω²/(s² + 2ζωs + ω²)
  MatrixXd a(2, 2), b(2, 1), c(1, 2);
  a << 0, 1, -omega * omega, -2 * zeta * omega;
  b << 0, omega * omega;
  c << 1, 0;
  return ss(a, b, c);
}

// By a dense complex factorization: another route than the Hessenberg form.
double dense_gain(const StateSpace& g, double omega) {
  const std::complex<double> s =
      g.is_discrete() ? std::polar(1.0, omega * g.dt) : std::complex<double>(0.0, omega);
  Eigen::MatrixXcd m = -g.A.cast<std::complex<double>>();
  m.diagonal().array() += s;
  const Eigen::MatrixXcd b = g.B.cast<std::complex<double>>();
  return lapack::norm2(Eigen::MatrixXcd(g.C * lapack::solve(m, b) + g.D));
}

TEST(Norms, OscillatorInClosedForm) {
  for (const double zeta : {0.5, 0.1, 1e-3, 1e-6}) {
    const StateSpace g = oscillator(3.0, zeta);
    const PeakGain peak = hinfnorm(g);
    EXPECT_NEAR(peak.value * 2.0 * zeta * std::sqrt(1.0 - zeta * zeta), 1.0, 1e-9) << zeta;
    EXPECT_NEAR(peak.frequency, 3.0 * std::sqrt(1.0 - 2.0 * zeta * zeta), 1e-4 * 3.0);
    EXPECT_LE(peak.value, peak.certificate.upper);
    EXPECT_NEAR(h2norm(g), std::sqrt(3.0 / (4.0 * zeta)), 1e-10 * h2norm(g));
  }
}

TEST(Norms, SpecialSystems) {
  const MatrixXd one = MatrixXd::Identity(1, 1);
  EXPECT_DOUBLE_EQ(hinfnorm(ss(3.0 * one)).value, 3.0);
  EXPECT_NEAR(hinfnorm(ss(-one, one, one)).value, 1.0, 1e-12);
  EXPECT_EQ(hinfnorm(ss(-one, one, one)).frequency, 0.0);
  // s/(s + 1): the supremum is at infinite frequency.
  EXPECT_NEAR(hinfnorm(ss(-one, one, -one, one)).value, 1.0, 1e-12);
  // All-pass (s − 1)/(s + 1): flat.
  EXPECT_NEAR(hinfnorm(ss(-one, one, -2.0 * one, one)).value, 1.0, 1e-9);
  EXPECT_EQ(h2norm(ss(-one, one, one, one)), std::numeric_limits<double>::infinity());
  const PeakGain unstable = hinfnorm(ss(one, one, one));
  EXPECT_FALSE(unstable.stable);
  EXPECT_TRUE(std::isinf(unstable.value));
  EXPECT_NEAR(linfnorm(ss(one, one, one)).value, 1.0, 1e-12);
  EXPECT_EQ(hinfnorm(ss(-one, 0.0 * one, one)).value, 0.0);
  // Discrete 1/(z − 0.9): 10 at zero frequency; 1/(z + 0.9): 10 at π/dt.
  EXPECT_NEAR(hinfnorm(ss(0.9 * one, one, one, 0.0 * one, 0.1)).value, 10.0, 1e-8);
  const PeakGain end = hinfnorm(ss(-0.9 * one, one, one, 0.0 * one, 0.1));
  EXPECT_NEAR(end.value, 10.0, 1e-8);
  EXPECT_NEAR(end.frequency, M_PI / 0.1, 1e-3);
  EXPECT_NEAR(h2norm(ss(0.9 * one, one, one, 2.0 * one, 0.1)), std::sqrt(1.0 / 0.19 + 4.0), 1e-12);
  StateSpace delayed = ss(-one, one, one);
  delayed.input_delay = Eigen::VectorXd::Ones(1);
  EXPECT_THROW(hinfnorm(delayed), NumericalError);
}

// Random systems: the value is a gain that another route confirms, and no sampled gain exceeds the
// certified level. 10,000 of them in the study program.
void check_random(int count, std::uint64_t seed, double dt) {
  RandomNumbers random(seed);
  for (int trial = 0; trial < count; ++trial) {
    const int m = random.integer(1, 2), p = random.integer(1, 3);
    const MatrixXd a = dt > 0.0 ? random.contraction(4, random.uniform(0.3, 0.999))
                                : random.stable(4, std::pow(10.0, random.uniform(-4.0, 0.0)));
    const MatrixXd d = random.uniform() < 0.5 ? random.matrix(p, m) : MatrixXd::Zero(p, m);
    const StateSpace g = ss(a, random.matrix(4, m), random.matrix(p, 4), d, dt);
    const PeakGain peak = hinfnorm(g);
    ASSERT_TRUE(std::isfinite(peak.value)) << trial;
    const double confirmed =
        std::isinf(peak.frequency) ? lapack::norm2(g.D) : dense_gain(g, peak.frequency);
    ASSERT_NEAR(confirmed, peak.value, 1e-8 * peak.value) << trial;
    for (int k = 0; k < 150; ++k) {
      const double w =
          dt > 0.0 ? M_PI / dt * random.uniform() : std::pow(10.0, random.uniform(-2, 2));
      ASSERT_LE(dense_gain(g, w), peak.certificate.upper * (1.0 + 1e-9)) << trial << " at " << w;
    }
  }
}
// The gain at the end of the circle is the highest of the first guesses, 0.1 % below the true peak:
// the map of the end to infinite frequency must not blind the certificate.
TEST(Norms, PeakNearTheEndOfTheCircle) {
  for (int k = 0; k < 40; ++k) check_random(1, 1000 + static_cast<std::uint64_t>(k), 0.1);
}
TEST(Norms, RandomSystems) {
  check_random(150, 11, 0.0);
  check_random(100, 12, 0.1);
}

struct Plant {
  const char* name;
  double hinf, omega, h2, sigma1, sigma2;
};
TEST(Norms, Compleib) {
  // Values by two routes that agree to 3e-11 (AB13DD and a script); H2 and Hankel to the digits
  // given.
  for (const Plant& p :
       {Plant{"lah", 5.27633376e-3, 5.20608, 4.5300605e-3, 2.5035e-3, 2.42849e-3},
        Plant{"cdp", 2319820.969, 22.5682, 1102128.9, 1171501.97, 1148304.43},
        Plant{"iss1", 0.1158873137, 0.775093, 0.010057233, 0.0579427, 0.0579401}}) {
    const StateSpace g = compleib(p.name);
    const PeakGain peak = hinfnorm(g);
    EXPECT_NEAR(peak.value / p.hinf, 1.0, 1e-8) << p.name;
    EXPECT_NEAR(peak.frequency / p.omega, 1.0, 2e-6) << p.name;
    EXPECT_NEAR(h2norm(g) / p.h2, 1.0, 5e-8) << p.name;
    const Eigen::VectorXd sigma = hsvd(g);
    EXPECT_NEAR(sigma[0] / p.sigma1, 1.0, 2e-5) << p.name;
    EXPECT_NEAR(sigma[1] / p.sigma2, 1.0, 2e-5) << p.name;
  }
}

// Large systems are bounded in modal form. The bound holds at frequencies about every pole, by a
// dense factorization, and the gain is attained.
void check_large(const StateSpace& g) {
  const PeakGain peak = hinfnorm(g);
  EXPECT_GT(peak.certificate.intervals, 0);
  EXPECT_EQ(peak.certificate.eigenproblems, 0);
  EXPECT_LE(peak.value, peak.certificate.upper);
  EXPECT_LE(peak.certificate.upper, peak.value * (1.0 + 2e-9));
  const double attained =
      std::isinf(peak.frequency) ? lapack::norm2(g.D) : dense_gain(g, peak.frequency);
  EXPECT_NEAR(attained / peak.value, 1.0, 1e-9);
  RandomNumbers random(99);
  for (const std::complex<double>& pole : lapack::eigenvalues(g.A)) {
    const std::complex<double> s = g.is_discrete() ? std::log(pole) / g.dt : pole;
    const double w = std::abs(s.imag()) + s.real() * random.uniform(-1.0, 1.0);
    EXPECT_LE(dense_gain(g, std::abs(w)), peak.certificate.upper) << w;
  }
}
TEST(Norms, LargeSystemsByTheirModalForm) {
  RandomNumbers random(17);
  const int n = 70;
  const MatrixXd zero = MatrixXd::Zero(2, 3);
  check_large(ss(random.stable(n, 0.01), random.matrix(n, 3), random.matrix(2, n), zero));
  // With so much direct feedthrough the supremum is at infinite frequency, or close to it.
  check_large(ss(random.stable(n, 0.5), random.matrix(n, 3), random.matrix(2, n),
                 300.0 * random.matrix(2, 3)));
  check_large(
      ss(random.contraction(n, 0.999), random.matrix(n, 3), random.matrix(2, n), zero, 0.1));
  // Real poles only: the peak is at zero, 1/0.5 + ... of a sum of first-order terms, all positive.
  const Eigen::VectorXd decay = Eigen::VectorXd::LinSpaced(n, 0.5, 40.0);
  const MatrixXd t = lapack::qr(random.matrix(n, n)).Q;
  const StateSpace first_order = ss(-t * decay.asDiagonal() * t.transpose(),
                                    t * MatrixXd::Ones(n, 1), MatrixXd::Ones(1, n) * t.transpose());
  check_large(first_order);
  EXPECT_NEAR(hinfnorm(first_order).value, decay.cwiseInverse().sum(), 1e-9);
  EXPECT_EQ(hinfnorm(first_order).frequency, 0.0);
  // The same poles mirrored: unstable, and the same norm over the axis.
  const StateSpace mirrored = ss(-first_order.A, first_order.B, first_order.C);
  EXPECT_FALSE(hinfnorm(mirrored).stable);
  EXPECT_NEAR(linfnorm(mirrored).value, decay.cwiseInverse().sum(), 1e-9);
}
// Two peaks of nearly the same height, one millionth apart: the higher one is found.
TEST(Norms, LargeSystemWithTwinPeaks) {
  const int n = 66;
  RandomNumbers random(18);
  MatrixXd a = MatrixXd::Zero(n, n), b = MatrixXd::Zero(n, 1), c = MatrixXd::Zero(1, n);
  for (int k = 0; k < n / 2; ++k) {  // c/(s² + 2 ζ ω s + ω²), each of height c/(2 ζ ω² √(1 − ζ²))
    const double omega = 1.0 + k, zeta = 1e-4;
    a(2 * k, 2 * k + 1) = 1.0, a(2 * k + 1, 2 * k) = -omega * omega;
    a(2 * k + 1, 2 * k + 1) = -2.0 * zeta * omega;
    b(2 * k + 1, 0) = 1.0;
    const double height = k == 20 ? 1.0 + 1e-6 : k == 7 ? 1.0 : 0.5;
    c(0, 2 * k) = height * 2.0 * zeta * omega * omega * std::sqrt(1.0 - zeta * zeta);
  }
  const PeakGain peak = hinfnorm(ss(a, b, c));
  EXPECT_GT(peak.certificate.intervals, 0);
  const StateSpace g = ss(a, b, c);
  const auto highest = [&](double from) {  // near one mode, all others seen too
    double value = 0.0, at = from;
    for (const double step : {1e-6, 1e-8})  // the half-power width is 1e-4
      for (int i = -50; i <= 50; ++i) {
        const double w = from * (1.0 + step * i), gain = dense_gain(g, w);
        if (gain > value) value = gain, at = w;
        if (i == 50) from = at;
      }
    return value;
  };
  const double twin = highest(21.0), other = highest(8.0);
  EXPECT_GE(peak.value, std::max(twin, other) * (1.0 - 1e-9));
  EXPECT_LE(peak.value, std::max(twin, other) * (1.0 + 1e-8));
  EXPECT_NEAR(peak.frequency, twin > other ? 21.0 : 8.0, 1e-3);
}

TEST(Gramians, BalancedRealization) {
  RandomNumbers random(13);
  const StateSpace g = ss(random.stable(6), random.matrix(6, 2), random.matrix(3, 6));
  const BalancedRealization b = balreal(g);
  const MatrixXd p = gram(b.system, GramianKind::controllability),
                 q = gram(b.system, GramianKind::observability);
  const MatrixXd sigma = b.sigma.asDiagonal();
  EXPECT_LT((p - sigma).norm(), 1e-10 * sigma.norm());
  EXPECT_LT((q - sigma).norm(), 1e-10 * sigma.norm());
  for (const double w : {0.0, 0.3, 2.0, 30.0})
    EXPECT_NEAR(dense_gain(b.system, w), dense_gain(g, w), 1e-11);
  EXPECT_NEAR(hankelnorm(g), b.sigma[0], 1e-12 * b.sigma[0]);
}

TEST(Gramians, SplitUnstable) {
  RandomNumbers random(14);
  const StateSpace g = ss(random.matrix(7, 7), random.matrix(7, 2), random.matrix(2, 7));
  const Decomposition d = split_unstable(g);
  EXPECT_GT(lapack::eigenvalues(d.first.A).real().minCoeff(), 0.0);
  EXPECT_LT(lapack::eigenvalues(d.second.A).real().maxCoeff(), 0.0);
  for (const std::complex<double> s : {std::complex<double>(0.0, 0.7), {0.3, 2.0}}) {
    const auto value = [&](const StateSpace& part) {
      Eigen::MatrixXcd m = -part.A.cast<std::complex<double>>();
      m.diagonal().array() += s;
      return Eigen::MatrixXcd(
          part.C * lapack::solve(m, Eigen::MatrixXcd(part.B.cast<std::complex<double>>())) +
          part.D);
    };
    EXPECT_LT((value(g) - value(d.first) - value(d.second)).norm(), 1e-11 * value(g).norm());
  }
  const Eigen::VectorXd sigma = hsvd(g);
  EXPECT_EQ((sigma.array() == std::numeric_limits<double>::infinity()).count(), d.first.order());
}

TEST(Coprime, FactorsAreNormalizedAndGiveThePlant) {
  RandomNumbers random(15);
  const StateSpace g =
      ss(random.matrix(5, 5), random.matrix(5, 2), random.matrix(3, 5), random.matrix(3, 2));
  const CoprimeFactors f = ncf(g);
  const auto at = [](const StateSpace& part, double w) {
    Eigen::MatrixXcd m = -part.A.cast<std::complex<double>>();
    m.diagonal().array() += std::complex<double>(0.0, w);
    return Eigen::MatrixXcd(
        part.C * lapack::solve(m, Eigen::MatrixXcd(part.B.cast<std::complex<double>>())) + part.D);
  };
  EXPECT_LT(lapack::eigenvalues(f.A_right).real().maxCoeff(), 0.0);
  EXPECT_LT(lapack::eigenvalues(f.A_left).real().maxCoeff(), 0.0);
  for (const double w : {0.1, 1.0, 7.0}) {
    const Eigen::MatrixXcd nm = at(f.right(), w), left = at(f.left(), w), plant = at(g, w);
    EXPECT_LT((nm.adjoint() * nm - MatrixXd::Identity(2, 2)).norm(), 1e-11);
    EXPECT_LT((left * left.adjoint() - MatrixXd::Identity(3, 3)).norm(), 1e-11);
    EXPECT_LT((nm.topRows(3) - plant * nm.bottomRows(2)).norm(), 1e-11);
    EXPECT_LT((left.leftCols(2) - left.rightCols(3) * plant).norm(), 1e-11);
  }
}

TEST(NuGap, ClosedForms) {
  const MatrixXd one = MatrixXd::Identity(1, 1);
  const auto first_order = [&](double gain, double pole) {
    return ss(pole * one, one, gain * one);
  };
  // k/s and l/s: (l − k)/(l + k). Integrators: factors exist without a stable plant.
  EXPECT_NEAR(nugap(first_order(1.0, 0.0), first_order(3.0, 0.0)).value, 0.5, 1e-8);
  // 50/(s + 0.5) and 50/(s − 0.5): one stable, one not, and nearly the same for feedback.
  const NuGap close = nugap(first_order(50.0, -0.5), first_order(50.0, 0.5));
  EXPECT_NEAR(close.value, 200.0 / 10001.0, 1e-10);
  EXPECT_TRUE(close.winding);
  // With a small gain no controller of low gain serves both.
  const NuGap far = nugap(first_order(0.1, -1.0), first_order(0.1, 1.0));
  EXPECT_FALSE(far.winding);
  EXPECT_EQ(far.value, 1.0);
  EXPECT_NEAR(nugap(ss(2.0 * one), ss(0.5 * one)).value, 1.5 / std::sqrt(5.0 * 1.25), 1e-12);
  RandomNumbers random(16);
  const StateSpace g = ss(random.matrix(4, 4), random.matrix(4, 2), random.matrix(2, 4));
  EXPECT_LT(nugap(g, g).value, 1e-7);
}

}  // namespace
}  // namespace catena
