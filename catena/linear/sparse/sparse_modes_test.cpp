// SPDX-License-Identifier: BSD-3-Clause
// Sparse factorizations and modes against closed forms and dense LAPACK.
#include "catena/linear/sparse/sparse_modes.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/sparse/dynamic_stiffness.h"
#include "catena/linear/testing/lattice_boom.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using test::lattice_boom;

// n masses of 1 kg between springs of 1 N/m, clamped at both ends: ω_k = 2 sin(kπ/2(n + 1)).
SecondOrder spring_chain(int n) {
  SecondOrder s;
  s.M.resize(n, n);
  s.M.setIdentity();
  s.K.resize(n, n);
  for (int i = 0; i < n; ++i) {
    s.K.insert(i, i) = 2.0;
    if (i > 0) s.K.insert(i, i - 1) = s.K.insert(i - 1, i) = -1.0;
  }
  s.B = MatrixXd::Zero(n, 1);
  s.B(n / 3, 0) = 1.0;
  s.Cq = s.B.transpose();
  return s;
}

TEST(DynamicStiffness, SolvesAsDense) {
  const SecondOrder boom = lattice_boom({.bays = 12, .side = 2});
  const MatrixXd b = MatrixXd::Random(boom.freedom_count(), 3);
  DynamicStiffness p(boom);
  for (const Complex s : {Complex(0.0, 37.0), Complex(0.0, 0.0), Complex(5.0, -80.0)}) {
    const MatrixXcd dense = s * s * MatrixXd(boom.M).cast<Complex>() +
                            s * MatrixXd(boom.D).cast<Complex>() + MatrixXd(boom.K).cast<Complex>();
    p.factor(s);
    const MatrixXcd x = p.solve(b.cast<Complex>());
    EXPECT_LT((dense * x - b).norm(), 1e-10 * b.norm()) << s;
    const MatrixXcd other = lapack::solve(dense, MatrixXcd(b.cast<Complex>()));
    EXPECT_LT((x - other).norm(), 1e-9 * other.norm()) << s;
    EXPECT_LT(p.backward_error(x, b.cast<Complex>()), 1e-14);
  }
  // A wrong solution is noticed.
  p.factor({0.0, 37.0});
  EXPECT_GT(p.backward_error(1.001 * p.solve(b.cast<Complex>()), b.cast<Complex>()), 1e-8);
}

TEST(DynamicStiffness, CountsEigenvaluesBelow) {
  const int n = 50;
  const SecondOrder chain = spring_chain(n);
  const DynamicStiffness p(chain);
  for (int k = 1; k < n; k += 7) {
    const double between = 2.0 * std::sin((k + 0.5) * M_PI / (2.0 * (n + 1)));
    EXPECT_EQ(ShiftedStiffness(p, between * between).eigenvalues_below(), k);
  }
}

TEST(DynamicStiffness, RefusesUnsymmetricMatrices) {
  SecondOrder s = spring_chain(5);
  s.D.resize(5, 5);
  s.D.insert(0, 1) = 1.0;
  s.D.insert(1, 0) = -1.0;  // gyroscopic
  try {
    DynamicStiffness p(s);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("D is not symmetric"));
    EXPECT_THAT(e.what(), ::testing::HasSubstr("state_space"));
  }
}

TEST(SparseModes, ChainInClosedForm) {
  const int n = 4000;
  const SecondOrder chain = spring_chain(n);
  const SparseModes m = sparse_modes(chain, {.count = 25});
  ASSERT_EQ(m.frequency.size(), 25);
  EXPECT_EQ(m.counted, 25);
  EXPECT_EQ(m.rigid, 0);
  for (int k = 1; k <= 25; ++k) {
    const double exact = 2.0 * std::sin(k * M_PI / (2.0 * (n + 1)));
    EXPECT_NEAR(m.frequency[k - 1] / exact, 1.0, 1e-9) << k;
  }
  EXPECT_LT((m.shapes.transpose() * (chain.M * m.shapes) - MatrixXd::Identity(25, 25)).norm(),
            1e-10);
}

// The two bending planes of a square section have the same frequencies.
TEST(SparseModes, DoubleFrequenciesAsDense) {
  const SecondOrder boom = lattice_boom({.bays = 20, .side = 2});
  const Modal dense = modal(boom, 0);
  const SparseModes m = sparse_modes(boom, {.highest = dense.frequency[29] * 1.0001});
  ASSERT_GE(m.frequency.size(), 30);
  for (int i = 0; i < 30; ++i) EXPECT_NEAR(m.frequency[i] / dense.frequency[i], 1.0, 1e-8) << i;
}

TEST(SparseModes, FreeStructureHasSixRigidModes) {
  const SecondOrder boom = lattice_boom({.bays = 20, .side = 2, .free = true});
  const SparseModes m = sparse_modes(boom, {.count = 16});
  EXPECT_EQ(m.rigid, 6);
  const Modal dense = modal(boom, 16);
  for (int i = 6; i < 16; ++i) EXPECT_NEAR(m.frequency[i] / dense.frequency[i], 1.0, 1e-7) << i;
}

TEST(SparseModes, AllModesOfASmallStructure) {
  const SecondOrder chain = spring_chain(7);
  const SparseModes m = sparse_modes(chain, {.count = 100});
  ASSERT_EQ(m.frequency.size(), 7);
  for (int k = 1; k <= 7; ++k)
    EXPECT_NEAR(m.frequency[k - 1], 2.0 * std::sin(k * M_PI / 16.0), 1e-9) << k;
}

TEST(SparseModes, BadInput) {
  SecondOrder s = spring_chain(30);
  EXPECT_THROW(sparse_modes(s, {}), Error);
  s.K.coeffRef(3, 3) = -5.0;
  try {
    sparse_modes(s, {.count = 3});
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("not positive semidefinite"));
  }
}

}  // namespace
}  // namespace catena
