// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/control/testing/matrix.h"
#include "catena/control/testing/random_systems.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using test::matrix;
using test::RandomNumbers;
using Pole = std::complex<double>;

Eigen::VectorXcd list(std::initializer_list<Pole> values) {
  Eigen::VectorXcd v(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), v.begin());
  return v;
}

TEST(Place, RandomSystemsAndPairs) {
  RandomNumbers random(71);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = random.integer(2, 9), m = random.integer(1, 3);
    const StateSpace g = ss(random.matrix(n, n), random.matrix(n, m), MatrixXd::Identity(n, n));
    Eigen::VectorXcd poles(n);
    for (int i = 0; i + 1 < n; i += 2) {
      const Pole s(-random.uniform(0.5, 2.0), random.uniform(0.1, 2.0));
      poles[i] = s, poles[i + 1] = std::conj(s);
    }
    if (n % 2 == 1) poles[n - 1] = -random.uniform(0.5, 2.0);
    const PlaceResult r = place(g, poles);
    EXPECT_LT(r.largest_error, 1e-6) << n << ' ' << m;
  }
}

// One input: the gain is unique, Ackermann's. Double integrator, poles −1 ± i: K = [2 2].
TEST(Place, SingleInputIsUnique) {
  const StateSpace g = ss(matrix(2, {0, 1, 0, 0}), matrix(2, {0, 1}), MatrixXd::Identity(2, 2));
  EXPECT_LT((place(g, list({{-1, 1}, {-1, -1}})).K - matrix(1, {2, 2})).norm(), 1e-12);
}

// The chemical reactor of [Kautsky, Nichols & Van Dooren 1985], example 1: eigenvectors at least as
// well conditioned as the best of thousands of random choices from the feasible spaces.
TEST(Place, IsRobust) {
  const MatrixXd a = matrix(4, {1.38, -0.2077, 6.715, -5.676, -0.5814, -4.29, 0, 0.675, 1.067,
                                4.273, -6.654, 5.893, 0.048, 4.273, 1.343, -2.104});
  const MatrixXd b = matrix(4, {0, 0, 5.679, 0, 1.136, -3.146, 1.136, 0});
  const PlaceResult r =
      place(ss(a, b, MatrixXd::Identity(4, 4)), list({-0.2, -0.5, -5.0566, -8.6659}));
  EXPECT_LT(r.largest_error, 1e-10);
  RandomNumbers random(73);
  const MatrixXd u1 = lapack::qr(b, lapack::Columns::full).Q.rightCols(2);
  std::vector<MatrixXd> spaces;
  for (const double s : {-0.2, -0.5, -5.0566, -8.6659}) {
    const MatrixXd m = u1.transpose() * (a - s * MatrixXd::Identity(4, 4));
    spaces.push_back(lapack::svd(m, lapack::Columns::full).V.rightCols(2));
  }
  double best = 1e9;
  for (int trial = 0; trial < 5000; ++trial) {
    MatrixXd x(4, 4);
    for (int j = 0; j < 4; ++j)
      x.col(j) = (spaces[static_cast<std::size_t>(j)] * random.matrix(2, 1)).normalized();
    const Eigen::VectorXd sv = lapack::singular_values(x);
    best = std::min(best, sv[0] / sv[3]);
  }
  EXPECT_LT(r.condition, 1.15 * best);
}

// Lin & Yae 1989, two links hanging: the decoupling gains of the reference values, and placement of
// the same poles (each pair twice, two inputs).
TEST(Place, LinAndYae) {
  const MatrixXd mass = matrix(2, {140, 50, 50, 30}),
                 stiffness = matrix(2, {392.266, 98.0665, 98.0665, 98.0665});
  MatrixXd a = MatrixXd::Zero(4, 4), b = MatrixXd::Zero(4, 2);
  a.topRightCorner(2, 2).setIdentity();
  a.bottomLeftCorner(2, 2) = -lapack::solve(mass, stiffness);
  b.bottomRows(2) = lapack::solve(mass, MatrixXd(MatrixXd::Identity(2, 2)));
  const StateSpace g = ss(a, b, MatrixXd::Identity(4, 4));
  const Pole s(-2.8, 4.0 * std::sqrt(1.0 - 0.49));
  const PlaceResult r = place(g, list({s, std::conj(s), s, std::conj(s)}));
  EXPECT_LT(r.largest_error, 1e-6);
  MatrixXd k(2, 4);
  k << 1847.734, 701.9335, 784, 280, 701.9335, 381.9335, 280, 168;
  for (const Pole& found : lapack::eigenvalues(MatrixXd(a - b * k)))
    EXPECT_NEAR(std::abs(found - Pole(s.real(), found.imag() > 0 ? s.imag() : -s.imag())), 0.0,
                1e-5);
}

TEST(Place, ErrorsSayWhatIsWrong) {
  StateSpace g = ss(matrix(2, {1, 0, 0, -1}), matrix(2, {0, 1}), MatrixXd::Identity(2, 2));
  g.states = {"boom", "wheel"};
  try {
    place(g, list({-1, -2}));
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("boom"));
  }
  EXPECT_THROW(place(g, list({-1})), NumericalError);
  EXPECT_THROW(place(g, list({{-1, 1}, {-1, 1}})), NumericalError);
}

// Miminis 1989, example 1: n = 5, three inputs, three outputs.
StateSpace miminis_one() {
  const MatrixXd a =
      matrix(5, {0.581314086914, 0.504058837890, 0.559921264648, 0.741333007812, 0.303421020507,
                 0.166717529296, 0.157394409179, 0.665222167968, 0.933609008789, 0.144439697265,
                 0.353500366210, 0.441650390625, 0.373367309570, 0.771942138671, 0.078048706054,
                 0.836242675781, 0.200820922851, 0.072296142578, 0.598373413085, 0.638671875000,
                 0.244094848632, 0.936126708984, 0.607955932617, 0.154357910156, 0.154678344726});
  const MatrixXd bt =
      matrix(3, {0.549163818359, 0.843856811523, 0.178649902343, 0.409255981445, 0.595489501953,
                 0.942672729492, 0.008666992187, 0.239028930664, 0.142791748046, 0.671371459960,
                 0.613098144531, 0.065872192382, 0.300445556640, 0.576828002929, 0.726318359375});
  const MatrixXd c =
      matrix(3, {0.561660766601, 0.332702636718, 0.355514526367, 0.279266357421, 0.531448364257,
                 0.427825927734, 0.648269653320, 0.666625976562, 0.572494506835, 0.972076416015,
                 0.455917358398, 0.134307861328, 0.497573852539, 0.212463378906, 0.653732299804});
  return ss(a, bt.transpose(), c);
}
TEST(PlaceOutput, MiminisOne) {
  const StateSpace g = miminis_one();
  const Eigen::VectorXcd poles =
      list({0.704589843750, 0.421768188476, 0.572113037109, 0.396102905273, 0.127380371093});
  const OutputPlacement as_given = place_output(g, poles, {.as_given = true});
  const MatrixXd published = matrix(
      3, {-9.415631257941, -1.520241736469, 11.520696978251, -36.155174309311, -4.515055559417,
          41.184483490595, 33.590525809043, 4.071903303950, -36.923138190434});
  EXPECT_LT((as_given.K - published).norm(), 1e-7);
  EXPECT_LT(as_given.largest_error, 1e-9);
  // Over all orders: at most the least gain of the 120 with the published choice of vectors.
  const OutputPlacement best = place_output(g, poles, {.orders = 120});
  EXPECT_LE(best.gain_norm, 16.06);
  EXPECT_LT(best.largest_error, 1e-8);
}

TEST(PlaceOutput, MiminisTwo) {
  const StateSpace g = ss(
      matrix(3, {0.356336616284, -0.356626507847, -1.198870998736, -0.210549376245, 2.165165719183,
                 -0.882324378697, -0.355939324751, -0.506195941988, 0.721098719251}),
      matrix(3, {1.606955436561, -0.407338058168, 0.062823512419, -0.595038063525, -1.611627967397,
                 0.616657720777}),
      matrix(1, {-1.182820557312, 0.343687857622, -0.357421120340}));
  const OutputPlacement r =
      place_output(g, list({-0.406648486670, -0.366406484747, 0.853280016421}));
  EXPECT_LT((r.K - matrix(2, {-2.053475126112, -6.466096811958})).norm(), 1e-9);
  EXPECT_EQ(r.assigned.size(), 2);
  EXPECT_FALSE(r.rest_stable);
  EXPECT_NEAR(r.spectrum.real().maxCoeff(), 1.707616832510, 1e-9);
}

// Conjugate pairs with a real gain; state feedback (C = 1) by the same call.
TEST(PlaceOutput, PairsAndStateFeedback) {
  RandomNumbers random(72);
  for (int trial = 0; trial < 10; ++trial) {
    const StateSpace g = ss(random.matrix(5, 5), random.matrix(5, 3), random.matrix(3, 5));
    const OutputPlacement r = place_output(g, list({{-1, 2}, {-1, -2}, {-0.5, 1}, {-0.5, -1}, -2}));
    EXPECT_EQ(r.assigned.size(), 5);
    EXPECT_LT(r.largest_error, 1e-6) << trial;
    const StateSpace full = ss(g.A, g.B, MatrixXd::Identity(5, 5));
    EXPECT_LT(place_output(full, list({{-1, 2}, {-1, -2}, -3, -4, -5})).largest_error, 1e-6);
  }
}

TEST(PlaceOutput, RefusesStrongZeros) {
  // (s − 1)/(s + 1)²: no feedback puts a pole at 1.
  const StateSpace g = ss(matrix(2, {0, 1, -1, -2}), matrix(2, {0, 1}), matrix(1, {-1, 1}));
  EXPECT_THROW(place_output(g, list({1.0})), NumericalError);
  EXPECT_LT(place_output(g, list({-3.0})).largest_error, 1e-10);
}

}  // namespace
}  // namespace catena
