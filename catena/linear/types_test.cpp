// SPDX-License-Identifier: BSD-3-Clause
// Conversions between the types: zeros, poles and gain, structures, modes; demo systems in closed
// form.
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/demo_systems.h"
#include "catena/linear/freqresp.h"
#include "catena/linear/second_order.h"
#include "catena/linear/testing/systems.h"
#include "catena/linear/zpk.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using test::random_system;
using test::value;

const std::vector<Complex> kPoints = {{0.3, 0.7}, {-0.2, 2.0}, {1.4, 0.0}, {0.0, 30.0}};

TEST(Zpk, ToStateSpaceInEveryShape) {
  const std::vector<Complex> pair = {{-0.1, 3.0}, {-0.1, -3.0}},
                             other = {{-0.5, 2.0}, {-0.5, -2.0}};
  const std::vector<Zpk> cases = {zpk({}, {}, 2.5),
                                  zpk({}, {-2.0}, 3.0),
                                  zpk({-1.0}, {-2.0}, -3.0),
                                  zpk({}, pair, 1.0),
                                  zpk({-4.0}, pair, 2.0),
                                  zpk(other, pair, 2.0),
                                  zpk({0.5, -1.0}, pair, 2.0),
                                  zpk(pair, {-1.0, -2.0, -3.0}, 1.5),
                                  zpk({0.0}, {0.0, 0.0, -1.0}, 1.0),
                                  zpk({-1.0}, {}, 2.0),
                                  zpk(pair, {-1.0}, 0.5),
                                  zpk({-1.0, -2.0, -3.0}, {-4.0}, 1.0)};
  for (const Zpk& g : cases) {
    const StateSpace s = state_space(g);
    if (g.zeros.size() <= g.poles.size()) {
      EXPECT_EQ(s.order(), static_cast<int>(g.poles.size()));
      EXPECT_FALSE(s.is_descriptor());
    }
    for (const Complex point : kPoints)
      EXPECT_LT(std::abs(value(s, point)(0) - g.at(point)), 1e-12 * (1.0 + std::abs(g.at(point))));
  }
}

TEST(Zpk, HighOrdersKeepTheirDigits) {
  // 60 lightly damped modes, alternating with zeros: a polynomial of degree 120 would have no
  // digit.
  Zpk g;
  for (int i = 1; i <= 60; ++i) {
    const double w = 0.5 * i * i, z = 0.5 * i * (i + 1);
    for (const double sign : {1.0, -1.0}) {
      g.poles.push_back({-0.01 * w, sign * w});
      if (i < 60) g.zeros.push_back({-0.01 * z, sign * z});
    }
  }
  const StateSpace s = state_space(g);
  EXPECT_EQ(s.order(), 120);
  for (const double w : {0.1, 7.3, 300.0, 1500.0, 1e4}) {
    const Complex expected = g.at(Complex(0.0, w));
    EXPECT_LT(std::abs(freqresp(s, Eigen::VectorXd::Constant(1, w)).value(0, 0, 0) - expected),
              1e-9 * std::abs(expected))
        << w;
  }
}

TEST(Zpk, FromStateSpace) {
  for (const double dt : {0.0, 0.1}) {
    StateSpace g = random_system(1, 6, 2, 2, dt);
    g.D(0, 1) = 0.0;
    const TransferMatrix t = transfer_matrix(g);
    for (const Complex s : kPoints)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          EXPECT_LT(std::abs(t(i, j).at(s) - value(g, s)(i, j)),
                    1e-10 * (1.0 + std::abs(value(g, s)(i, j))));
    const StateSpace back = state_space(t);
    for (const Complex s : kPoints)
      EXPECT_LT((value(back, s) - value(g, s)).norm(), 1e-8 * (1.0 + value(g, s).norm()));
  }
  // What cancels is gone; delays stay.
  StateSpace lag = state_space(zpk({-1.0}, {-1.0, -2.0}, 4.0));
  lag.input_delay = Eigen::VectorXd::Constant(1, 0.3);
  const Zpk small = zpk(lag);
  EXPECT_EQ(small.poles.size(), 1u);
  EXPECT_EQ(small.zeros.size(), 0u);
  EXPECT_NEAR(small.gain, 4.0, 1e-12);
  EXPECT_EQ(small.delay, 0.3);
  EXPECT_EQ(zpk(ss(MatrixXd::Zero(1, 1))).gain, 0.0);
}

TEST(Zpk, CoefficientsAndMistakes) {
  const Zpk g = tf({2.0, 1.0}, {1.0, 3.0, 10.0});
  for (const Complex s : kPoints)
    EXPECT_LT(std::abs(g.at(s) - (2.0 * s + 1.0) / (s * s + 3.0 * s + 10.0)), 1e-13);
  const Zpk product = series(g, inverse(g));
  EXPECT_LT(std::abs(product.at(kPoints[0]) - 1.0), 1e-13);
  EXPECT_THROW(zpk({{1.0, 2.0}}, {}, 1.0), Error);
  EXPECT_THROW(tf({1.0}, {0.0}), Error);
  EXPECT_THROW(zpk(random_system(1, 2, 2, 2)), Error);
}

TEST(SecondOrder, AgreesWithItsDefinition) {
  std::mt19937 random(3);
  const MatrixXd r = test::random_matrix(random, 4, 4), k = test::random_matrix(random, 4, 4);
  SecondOrder s;
  s.M = MatrixXd(r * r.transpose() + MatrixXd::Identity(4, 4)).sparseView();
  s.K = MatrixXd(k * k.transpose()).sparseView();
  s.D = MatrixXd(0.1 * r * r.transpose()).sparseView();
  s.B = test::random_matrix(random, 4, 2);
  s.Cq = test::random_matrix(random, 3, 4);
  s.Cv = test::random_matrix(random, 3, 4);
  const Complex p(0.1, 1.3);
  const MatrixXcd dynamic = MatrixXd(s.M).cast<Complex>() * p * p +
                            MatrixXd(s.D).cast<Complex>() * p + MatrixXd(s.K).cast<Complex>();
  const MatrixXcd expected =
      (s.Cq.cast<Complex>() + p * s.Cv.cast<Complex>()) * dynamic.inverse() * s.B.cast<Complex>();
  EXPECT_LT((value(state_space(s), p) - expected).norm(), 1e-11 * expected.norm());
  EXPECT_LT((value(state_space(s, true), p) - expected).norm(), 1e-11 * expected.norm());
  // All modes of the undamped structure are the structure.
  s.D.resize(0, 0);
  EXPECT_LT((value(state_space(modal(s)), p) - value(state_space(s), p)).norm(),
            1e-11 * expected.norm());
  s.K.coeffRef(0, 1) += 1.0;
  EXPECT_THROW(modal(s), Error);
  s.B.resize(3, 1);
  EXPECT_THROW(s.validate(), Error);
}

TEST(SecondOrder, ProportionalDampingIsModal) {
  SecondOrder s = demo::beam({.elements = 6});
  s.D = 0.001 * s.K + 0.02 * s.M;
  const Modal m = modal(s);
  EXPECT_LT(m.damping_coupling, 1e-7);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(m.damping[i], 0.5 * (0.001 * m.frequency[i] + 0.02 / m.frequency[i]), 1e-9);
}

TEST(ModalForm, IsBlockDiagonal) {
  const StateSpace g = random_system(4, 7, 2, 2);
  const ModalForm m = modal_form(g);
  for (const Complex s : kPoints) EXPECT_LT((value(m.system, s) - value(g, s)).norm(), 1e-10);
  EXPECT_LT((g.A * m.T - m.T * m.system.A).norm(), 1e-11);
  EXPECT_THROW(modal_form(ss(Eigen::Matrix2d{{0.0, 1.0}, {0.0, 0.0}}, Eigen::Vector2d(0.0, 1.0),
                             Eigen::RowVector2d(1.0, 0.0))),
               NumericalError);
}

TEST(Demo, ClosedForms) {
  // Frequencies of a cantilever: (βl)² with cos βl cosh βl = −1.
  const Modal m = modal(demo::beam(), 3);
  const double expected[] = {1.8751040687119611, 4.6940911329741745, 7.8547574382376125};
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(m.frequency[i], expected[i] * expected[i], 1e-4 * m.frequency[i]);
  // Static compliance of the tip, l³/(3 E I), of all modes.
  EXPECT_NEAR(dcgain(demo::flexible_beam(40))(0, 0), 1.0 / 3.0, 1e-9);
  const std::vector<PoleInfo> two = damp(demo::double_mass({.m1 = 1.0, .m2 = 2.0}));
  EXPECT_NEAR(two.back().frequency, std::sqrt(150.0), 1e-9);
  EXPECT_TRUE(std::isinf(dcgain(demo::double_mass())(0, 0)));
  // Motor: speed per volt at rest, k/(R b + k²).
  EXPECT_NEAR(dcgain(demo::dc_motor())(0, 0), 0.01 / (0.1 + 1e-4), 1e-9);
  EXPECT_FALSE(is_stable(demo::cart_pendulum()));
  EXPECT_EQ(damp(demo::random_structure(1, 5, 2, 2)).size(), 10u);
  EXPECT_NEAR(damp(demo::random_structure(1, 5, 2, 2))[3].damping, 0.01, 1e-9);
  EXPECT_EQ(demo::lag_with_delay().delays()(0, 0), 0.5);
}

}  // namespace
}  // namespace catena
