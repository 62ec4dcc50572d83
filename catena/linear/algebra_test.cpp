// SPDX-License-Identifier: BSD-3-Clause
// Each connection against the formula of its transfer matrices at points of the complex plane.
#include "catena/linear/algebra.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/linear/connect.h"
#include "catena/linear/minreal.h"
#include "catena/linear/testing/systems.h"

namespace catena {
namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using test::random_system;
using test::value;
using Complex = std::complex<double>;

const std::vector<Complex> kPoints = {{0.3, 0.7}, {-0.2, 2.0}, {1.4, 0.0}};
constexpr double kClose = 1e-11;

MatrixXcd one(Eigen::Index n) { return MatrixXcd::Identity(n, n); }

class Algebra : public testing::TestWithParam<double> {
 protected:
  StateSpace system(unsigned seed, int n, int m, int p) {
    return random_system(seed, n, m, p, GetParam());
  }
};

TEST_P(Algebra, SeriesAndParallel) {
  const StateSpace g = system(1, 4, 2, 3), h = system(2, 3, 3, 2), k = system(3, 5, 2, 3);
  for (const Complex s : kPoints) {
    EXPECT_LT((value(series(g, h), s) - value(h, s) * value(g, s)).norm(), kClose);
    EXPECT_LT((value(h * g, s) - value(h, s) * value(g, s)).norm(), kClose);
    EXPECT_LT((value(parallel(g, k), s) - value(g, s) - value(k, s)).norm(), kClose);
    EXPECT_LT((value(g - k, s) - value(g, s) + value(k, s)).norm(), kClose);
    EXPECT_LT((value(2.5 * g, s) - 2.5 * value(g, s)).norm(), kClose);
  }
  EXPECT_EQ(series(g, h).order(), 7);
}

TEST_P(Algebra, FeedbackAndInverse) {
  const StateSpace g = system(4, 4, 2, 3), k = system(5, 3, 3, 2), q = system(6, 3, 2, 2);
  for (const Complex s : kPoints) {
    const MatrixXcd G = value(g, s), K = value(k, s), Q = value(q, s);
    EXPECT_LT((value(feedback(g, k), s) - (one(3) + G * K).inverse() * G).norm(), kClose);
    EXPECT_LT((value(feedback(g, k, 1), s) - (one(3) - G * K).inverse() * G).norm(), kClose);
    EXPECT_LT((value(feedback(q), s) - (one(2) + Q).inverse() * Q).norm(), kClose);
    EXPECT_LT((value(inverse(q), s) - Q.inverse()).norm(), kClose * Q.inverse().norm());
    EXPECT_LT((value(transpose(g), s) - G.transpose()).norm(), kClose);
  }
}

TEST_P(Algebra, LinearFractionalTransformations) {
  const StateSpace p = system(7, 5, 5, 4), k = system(8, 3, 2, 3), d = system(9, 2, 1, 2);
  for (const Complex s : kPoints) {
    const MatrixXcd P = value(p, s), K = value(k, s), D = value(d, s);
    const MatrixXcd P11 = P.topLeftCorner(2, 2), P12 = P.topRightCorner(2, 3);
    const MatrixXcd P21 = P.bottomLeftCorner(2, 2), P22 = P.bottomRightCorner(2, 3);
    const MatrixXcd lower = P11 + P12 * K * (one(2) - P22 * K).inverse() * P21;
    EXPECT_LT((value(lft(p, k), s) - lower).norm(), 10 * kClose * (1.0 + lower.norm()));
    // Upper: the first output of P enters D, whose two outputs are the first two inputs of P.
    const MatrixXcd Q11 = P.topLeftCorner(1, 2), Q12 = P.topRightCorner(1, 3);
    const MatrixXcd Q21 = P.bottomLeftCorner(3, 2), Q22 = P.bottomRightCorner(3, 3);
    const MatrixXcd upper = Q22 + Q21 * D * (one(1) - Q11 * D).inverse() * Q12;
    EXPECT_LT((value(lft(p, d, LftSide::upper), s) - upper).norm(),
              10 * kClose * (1.0 + upper.norm()));
  }
  EXPECT_EQ(lft(p, k).inputs, (std::vector<std::string>{"u1", "u2"}));
  EXPECT_THROW(lft(k, p), Error);
}

TEST_P(Algebra, AppendSelectSimilarity) {
  const StateSpace g = system(10, 3, 2, 2), h = system(11, 2, 1, 3);
  const StateSpace both = append(g, h);
  EXPECT_THAT(both.inputs, testing::ElementsAre("u1", "u2", "u1_2"));
  std::mt19937 random(12);
  const MatrixXd T = test::random_matrix(random, 5, 5);
  for (const Complex s : kPoints) {
    const MatrixXcd B = value(both, s);
    EXPECT_LT((B.topLeftCorner(2, 2) - value(g, s)).norm(), kClose);
    EXPECT_LT((B.bottomRightCorner(3, 1) - value(h, s)).norm(), kClose);
    EXPECT_EQ(B.topRightCorner(2, 1).norm() + B.bottomLeftCorner(3, 2).norm(), 0.0);
    EXPECT_LT((value(similarity(both, T), s) - B).norm(), 1e-9);
    const MatrixXcd picked =
        value(select(both, std::vector<std::string>{"y3", "y1"}, {"u1_2", "u2"}), s);
    EXPECT_LT(std::abs(picked(0, 0) - B(4, 2)) + std::abs(picked(1, 1) - B(0, 1)), kClose);
  }
  EXPECT_THROW(select(both, std::vector<std::string>{"y9"}, {"u1"}), NameError);
  EXPECT_THROW(similarity(both, MatrixXd::Zero(5, 5)), NumericalError);
}

TEST_P(Algebra, DescriptorSystemsStayDescriptorSystems) {
  std::mt19937 random(13);
  StateSpace g = system(14, 4, 2, 2);
  const MatrixXd e = test::random_matrix(random, 4, 4);
  StateSpace d = g;
  d.E = e;
  d.A = e * g.A;
  d.B = e * g.B;
  const StateSpace k = system(15, 2, 2, 2);
  for (const Complex s : kPoints)
    EXPECT_LT((value(feedback(d, k), s) - value(feedback(g, k), s)).norm(), 1e-9);
  EXPECT_TRUE(feedback(d, k).is_descriptor());
}

TEST_P(Algebra, ConnectByNames) {
  StateSpace g = system(16, 4, 1, 1), k = system(17, 2, 1, 1), f = system(18, 1, 1, 1);
  g.inputs = {"u"};
  g.outputs = {"y"};
  k.inputs = {"e"};
  k.outputs = {"u"};
  f.inputs = {"y"};
  f.outputs = {"measured"};
  const StateSpace closed =
      connect({g, k, f, summing_junction("e = r - measured")}, {"r"}, {"y", "u", "r"});
  EXPECT_THAT(closed.inputs, testing::ElementsAre("r"));
  for (const Complex s : kPoints) {
    const Complex G = value(g, s)(0), K = value(k, s)(0), H = value(f, s)(0);
    const Complex S = 1.0 / (1.0 + G * K * H);
    const MatrixXcd C = value(closed, s);
    EXPECT_LT(std::abs(C(0) - G * K * S), kClose * 10 * (1.0 + std::abs(G * K * S)));
    EXPECT_LT(std::abs(C(1) - K * S), kClose * 10 * (1.0 + std::abs(K * S)));
    EXPECT_LT(std::abs(C(2) - 1.0), kClose);
  }
}

TEST_P(Algebra, MinimalRealizationRemovesWhatCancels) {
  const StateSpace g = system(19, 6, 2, 2), k = system(20, 3, 2, 2);
  // G + K − K, and states that no input reaches.
  StateSpace padded = (g + k) - k;
  ASSERT_EQ(padded.order(), 12);
  std::mt19937 random(21);
  padded = similarity(padded, test::random_matrix(random, 12, 12));
  const MinimalRealization m = minimal_realization(padded, 1e-8);
  EXPECT_EQ(m.system.order(), 6);
  EXPECT_EQ(m.uncontrollable, 3);
  EXPECT_EQ(m.unobservable, 3);
  for (const Complex s : kPoints)
    EXPECT_LT((value(m.system, s) - value(g, s)).norm(), 1e-8 * value(g, s).norm());
  EXPECT_EQ(minreal(g).A, g.A);
}

TEST(MinimalRealization, OfIntegratorsAlone) {
  // A = 0: two integrators on one input are one; on two inputs they are two.
  const StateSpace one = ss(MatrixXd::Zero(2, 2), Eigen::Vector2d(1.0, 2.0), MatrixXd::Ones(1, 2));
  EXPECT_EQ(minreal(one).order(), 1);
  EXPECT_LT(std::abs(value(minreal(one), 0.5)(0) - 6.0), 1e-13);
  const StateSpace two =
      ss(MatrixXd::Zero(2, 2), MatrixXd::Identity(2, 2), MatrixXd::Identity(2, 2));
  EXPECT_EQ(minreal(two).order(), 2);
}

INSTANTIATE_TEST_SUITE_P(Rates, Algebra, testing::Values(0.0, 0.1));

TEST(AlgebraErrors, RatesAreNamed) {
  try {
    series(random_system(1, 2, 1, 1), random_system(2, 2, 1, 1, 0.25));
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("continuous"));
    EXPECT_THAT(e.what(), testing::HasSubstr("0.25 s"));
  }
  // A gain fits any rate.
  EXPECT_EQ(series(ss(MatrixXd::Ones(1, 1)), random_system(2, 2, 1, 1, 0.25)).dt, 0.25);
}

TEST(AlgebraErrors, IllPosedLoopsAndSizes) {
  const StateSpace gain = ss(MatrixXd::Constant(1, 1, -1.0));
  EXPECT_THROW(feedback(gain), NumericalError);
  EXPECT_THROW(series(random_system(1, 2, 1, 2), random_system(2, 2, 1, 1)), Error);
  EXPECT_THROW(inverse(ss(MatrixXd::Zero(2, 2))), NumericalError);
}

TEST(AlgebraErrors, ConnectNamesTheSignal) {
  StateSpace g = random_system(1, 2, 1, 1), k = random_system(2, 2, 1, 1);
  g.inputs = {"torque"};
  g.outputs = {"angle"};
  k.inputs = {"angel"};
  k.outputs = {"torque"};
  try {
    connect({g, k}, {}, {"angle"});
    FAIL();
  } catch (const NameError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("did you mean 'angle'"));
  }
  EXPECT_NO_THROW(connect({g, k}, {}, {"angle"}, {.allow_open_inputs = true}));
  EXPECT_THROW(connect({g, g}, {}, {"angle"}, {.allow_open_inputs = true}), Error);
  EXPECT_THROW(connect({g, k}, {"angel"}, {"angl"}), NameError);
  EXPECT_THROW(summing_junction("e r"), Error);
  EXPECT_THROW(summing_junction("e = r - "), Error);
}

TEST(Delays, MoveOutOrAreRefused) {
  StateSpace g = random_system(3, 3, 1, 1), h = random_system(4, 2, 1, 1);
  g.output_delay = Eigen::VectorXd::Constant(1, 0.3);
  h.input_delay = Eigen::VectorXd::Constant(1, 0.2);
  const Complex s(0.1, 1.2);
  EXPECT_LT((value(series(g, h), s) - value(h, s) * value(g, s)).norm(), kClose);
  try {
    feedback(g);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("pade()"));
  }
  EXPECT_THROW(parallel(g, h), Error);
  EXPECT_THROW(absorb_delays(g), Error);
}

TEST(Delays, SampledLoopsAbsorbThem) {
  StateSpace g = random_system(5, 3, 2, 2, 0.1);
  g.input_delay = Eigen::Vector2d(0.3, 0.0);
  g.output_delay = Eigen::Vector2d(0.1, 0.2);
  const StateSpace absorbed = absorb_delays(g);
  EXPECT_EQ(absorbed.order(), 3 + 3 + 3);
  const StateSpace k = random_system(6, 1, 2, 2, 0.1);
  for (const Complex z : {Complex(0.9, 0.4), Complex(1.2, 0.0)}) {
    const MatrixXcd G = value(g, z), K = value(k, z);
    EXPECT_LT((value(absorbed, z) - G).norm(), kClose * (1.0 + G.norm()));
    EXPECT_LT((value(feedback(g, k), z) - (one(2) + G * K).inverse() * G).norm(), 1e-10);
  }
  g.input_delay[0] = 0.25;
  EXPECT_THROW(absorb_delays(g), Error);
}

}  // namespace
}  // namespace catena
