// SPDX-License-Identifier: BSD-3-Clause
// The completed inertia of beams: positive where that of the constants is lost, and the same as far
// as forces of first order go.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/flexible/beam.h"
#include "catena/flexible/combine_modes.h"
#include "catena/model/flexible/flexible_completion.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// A tube that deforms in all four ways, off the axes of its frame.
BeamSettings slender_tube(int modes) {
  BeamSettings s{.length = 2.0};
  s.section = {.shape = BeamSection::Shape::tube, .radius = 0.02, .inner_radius = 0.018};
  s.material = BeamMaterial{.youngs_modulus = 70e9, .shear_modulus = 26e9, .density = 2700.0};
  s.pose = {Rotationd::about_z(0.4) * Rotationd::about_y(0.3), {0.1, 0.0, 0.05}};
  s.attachments = {{.name = "tip", .station = 2.0}};
  s.modes = {.count = modes};
  return s;
}

// Modes in a random direction, the largest displacement of the tip being `size`; soft modes most.
VectorXd deflection(const FlexibleBody& b, double size, std::mt19937& random) {
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  VectorXd eta(b.modes());
  for (int k = 0; k < b.modes(); ++k) eta[k] = number(random) / b.stiffness(k, k);
  return eta * (size / (b.attachments[0].shape * eta).norm());
}

double smallest_scaled_eigenvalue(const MatrixXd& m) {
  const VectorXd scale = m.diagonal().cwiseSqrt().cwiseInverse();
  return symmetric_eigen(scale.asDiagonal() * m * scale.asDiagonal()).values[0];
}

TEST(CompletedBeam, StaysPositive) {
  std::mt19937 random(7);
  for (const int modes : {8, 14, 20}) {
    const auto body = make_beam(slender_tube(modes));
    const CompletedInertia completed(*body);
    EXPECT_EQ(completed.points.size(), 2u);  // a straight beam
    EXPECT_EQ(completed.rows.size(), 3u);
    double least = 1.0, without = 1.0;
    for (int i = 0; i < 60; ++i) {
      const VectorXd eta = deflection(*body, 0.01 * (1 + i), random);  // to 30 % of the length
      least = std::min(least, smallest_scaled_eigenvalue(inertia_at(*body, &completed, eta)));
      without = std::min(without, symmetric_eigen(inertia_at(*body, nullptr, eta)).values[0]);
    }
    EXPECT_GT(least, 0.0) << modes;
    EXPECT_LT(without, 0.0) << modes;  // what it is for
  }
}

TEST(CompletedBeam, KeepsForcesOfFirstOrder) {
  // Differences by powers of the deflection: three in J and h, two in the couplings, one in M_e.
  std::mt19937 random(11);
  const auto body = make_beam(slender_tube(12));
  const CompletedInertia completed(*body);
  const VectorXd direction = deflection(*body, 1.0, random);
  const auto difference = [&](double size) {
    return MatrixXd(inertia_at(*body, &completed, size * direction) -
                    inertia_at(*body, nullptr, size * direction));
  };
  const MatrixXd small = difference(0.02), large = difference(0.04);
  const double scale = inertia_at(*body, nullptr, 0.0 * direction).cwiseAbs().maxCoeff();
  EXPECT_LT(difference(0.0).cwiseAbs().maxCoeff(), 1e-13 * scale);
  const auto power = [&](int row, int column, int rows, int columns) {
    return std::log2(large.block(row, column, rows, columns).norm() /
                     small.block(row, column, rows, columns).norm());
  };
  EXPECT_NEAR(power(0, 0, 3, 3), 3.0, 0.3);                   // J
  EXPECT_NEAR(power(0, 6, 3, 12), 2.0, 0.3);                  // C_r
  EXPECT_NEAR(power(6, 6, 12, 12), 1.0, 0.3);                 // M_e
  EXPECT_LT(large.block(0, 3, 6, 3).norm(), 1e-13 * scale);   // h and the mass
  EXPECT_LT(large.block(3, 6, 3, 12).norm(), 1e-13 * scale);  // C_t
}

TEST(CompletedBeam, CombinedModesHaveTheSame) {
  std::mt19937 random(13);
  const auto body = make_beam(slender_tube(8));
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  const MatrixXd t = MatrixXd::NullaryExpr(8, 3, [&] { return number(random); });
  const auto fewer = combine_modes(*body, t);
  const CompletedInertia all(*body), some(*fewer);
  const VectorXd eta = 0.05 * VectorXd::Ones(3);
  MatrixXd to(14, 9);
  to << MatrixXd::Identity(6, 6), MatrixXd::Zero(6, 3), MatrixXd::Zero(8, 6), t;
  const MatrixXd expected = to.transpose() * inertia_at(*body, &all, t * eta) * to;
  EXPECT_LT((inertia_at(*fewer, &some, eta) - expected).cwiseAbs().maxCoeff(),
            1e-12 * expected.cwiseAbs().maxCoeff());
}

}  // namespace
}  // namespace catena
