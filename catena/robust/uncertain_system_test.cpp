// SPDX-License-Identifier: BSD-3-Clause
// Closed by hand: a mass on a spring and damper, whose transfer function is known for every case.
#include "catena/robust/uncertain_system.h"

#include <cmath>
#include <complex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/linear/algebra.h"
#include "catena/linear/freqresp.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {
namespace {

using Complex = std::complex<double>;

// m ẍ = −(k0 + 2 δk) x − (d0 + 0.1 δd) ẋ + u, y = x.  p = (δk q1, δd q2), q = (x, ẋ).
UncertainSystem oscillator(double m, double k0, double d0) {
  UncertainSystem u;
  Eigen::MatrixXd A(2, 2), B(2, 3), C(3, 2);
  A << 0.0, 1.0, -k0 / m, -d0 / m;
  B << 0.0, 0.0, 0.0, -2.0 / m, -0.1 / m, 1.0 / m;
  C << 1.0, 0.0, 0.0, 1.0, 1.0, 0.0;
  u.system = ss(A, B, C);
  u.blocks.add_real("stiffness");
  u.blocks.add_real("damping");
  u.parameters = {UncertainParameter{"stiffness", k0, k0 - 2.0, k0 + 2.0},
                  UncertainParameter{"damping", d0, d0 - 0.1, d0 + 0.1}};
  return u;
}

Complex receptance(double m, double k, double d, double omega) {
  const Complex s(0.0, omega);
  return 1.0 / (m * s * s + d * s + k);
}

TEST(UncertainSystem, ClosesToTheTransferFunctionOfEveryCase) {
  const UncertainSystem u = oscillator(1.5, 7.0, 0.3);
  for (const auto& [k, d] : {std::pair{7.0, 0.3}, {5.0, 0.4}, {8.9, 0.21}, {12.0, 0.9}}) {
    const StateSpace closed = close(u, {{"stiffness", k}, {"damping", d}});
    const Complex g = FrequencyEvaluator(closed).at(2.3)(0, 0);
    EXPECT_NEAR(std::abs(g - receptance(1.5, k, d, 2.3)), 0.0, 1e-14);
  }
}

TEST(UncertainSystem, ComplexCasesAtOneFrequency) {
  UncertainSystem u = oscillator(1.5, 7.0, 0.3);
  u.parameters.clear();
  u.blocks = {};
  u.blocks.add_complex("stiffness");
  u.blocks.add_full("damping");
  const Complex dk(0.3, -0.4), dd(-0.2, 0.7);
  const Eigen::MatrixXcd g =
      close_at(u, 2.3, {{dk, {}}, {{}, Eigen::MatrixXcd::Constant(1, 1, dd)}});
  const Complex s(0.0, 2.3);
  const Complex expected = 1.0 / (1.5 * s * s + (0.3 + 0.1 * dd) * s + (7.0 + 2.0 * dk));
  EXPECT_NEAR(std::abs(g(0, 0) - expected), 0.0, 1e-14);
}

TEST(UncertainSystem, NominalOffTheMiddleOfTheRange) {
  const UncertainParameter p{"payload", 1.0, 0.0, 5.0};
  EXPECT_NEAR(p.value(-1.0), 0.0, 1e-15);
  EXPECT_NEAR(p.value(0.0), 1.0, 1e-15);
  EXPECT_NEAR(p.value(1.0), 5.0, 1e-14);
  for (const double d : {-0.9, -0.3, 0.2, 0.77}) EXPECT_NEAR(p.delta(p.value(d)), d, 1e-14);
  for (double d = -1.0; d < 0.99; d += 0.1) EXPECT_LT(p.value(d), p.value(d + 0.01));
}

TEST(UncertainSystem, AppendKeepsPerturbationsInFront) {
  const UncertainSystem a = oscillator(1.5, 7.0, 0.3);
  UncertainSystem b = oscillator(0.7, 9.0, 0.2);
  b.blocks = BlockStructure(
      {{"stiffness 2", BlockKind::real, 1, 1}, {"damping 2", BlockKind::real, 1, 1}});
  const UncertainSystem both = append(a, b);
  const StateSpace closed = close(both, {{"stiffness", 6.0}, {"damping 2", 0.27}});
  const Eigen::MatrixXcd g = FrequencyEvaluator(closed).at(1.1);
  ASSERT_EQ(g.rows(), 2);
  EXPECT_NEAR(std::abs(g(0, 0) - receptance(1.5, 6.0, 0.3, 1.1)), 0.0, 1e-14);
  EXPECT_NEAR(std::abs(g(1, 1) - receptance(0.7, 9.0, 0.27, 1.1)), 0.0, 1e-14);
  EXPECT_NEAR(std::abs(g(0, 1)), 0.0, 1e-15);
}

TEST(UncertainSystem, SamplesStayInTheBall) {
  BlockStructure blocks;
  blocks.add_real("a", 2);
  blocks.add_complex("b");
  blocks.add_full("c", 2, 3);
  double largest = 0.0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto values = sample(blocks, seed, 0.5);
    EXPECT_LE(blocks.norm(values), 0.5 * (1.0 + 1e-12));
    largest = std::max(largest, blocks.norm(values));
    EXPECT_EQ(blocks.matrix(values).rows(), 5);
    EXPECT_EQ(blocks.matrix(values).cols(), 6);
  }
  EXPECT_GT(largest, 0.49);
}

TEST(UncertainSystem, MistakesAreNamed) {
  UncertainSystem u = oscillator(1.5, 7.0, 0.3);
  EXPECT_THROW(close(u, {{"stifness", 1.0}}), NameError);
  u.parameters[0]->low = 8.0;
  try {
    u.validate();
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("\"stiffness\""));
  }
  BlockStructure twins;
  twins.add_real("a");
  twins.add_full("a");
  EXPECT_THROW(twins.validate(), Error);
}

}  // namespace
}  // namespace catena
