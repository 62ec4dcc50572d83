// SPDX-License-Identifier: BSD-3-Clause
#include "catena/flexible/combine_modes.h"

#include <gtest/gtest.h>

#include "catena/flexible/beam.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

std::shared_ptr<const FlexibleBody> boom() {
  BeamSettings s{.length = 1.5};
  s.section.values = {2e3, 3.0, 5.0, 2.0, 1.0, 0.02, 0.0, 0.0};
  s.attachments = {{.name = "tip", .station = 1.5}};
  s.modes = {.set = ModeSet::clamped_free, .count = 6};
  s.damping.ratios = {0.01};
  return make_beam(s);
}

TEST(CombineModes, TheSameMotionHasTheSameEnergyAndPlace) {
  const auto body = boom();
  MatrixXd t(6, 3);
  t << 1, 0.2, 0, 0, 1, -0.4, 0.3, 0, 1, 0.1, 0.2, 0.3, -0.5, 0, 0.2, 0, 0.1, 0;
  const auto small = combine_modes(*body, t);
  ASSERT_EQ(small->modes(), 3);
  const VectorXd z = VectorXd::LinSpaced(3, 0.01, 0.03), y = t * z;
  EXPECT_NEAR(z.dot(small->stiffness * z), y.dot(body->stiffness * y), 1e-12);
  EXPECT_NEAR(z.dot(small->damping * z), y.dot(body->damping * y), 1e-14);
  EXPECT_NEAR(z.dot(small->modal_mass * z), y.dot(body->modal_mass * y), 1e-14);
  for (std::size_t k = 0; k < 6; ++k)
    EXPECT_NEAR(z.dot(small->inertia_2[k] * z), y.dot(body->inertia_2[k] * y), 1e-14);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(z.dot(small->mass_moment_2[k] * z), y.dot(body->mass_moment_2[k] * y), 1e-14);
    EXPECT_NEAR((t.transpose() * body->coupling_1[k] * y - small->coupling_1[k] * z).norm(), 0.0,
                1e-14);
    EXPECT_NEAR(z.dot(small->attachments[0].second_slope[k] * z),
                y.dot(body->attachments[0].second_slope[k] * y), 1e-14);
  }
  EXPECT_NEAR((small->attachments[0].shape * z - body->attachments[0].shape * y).norm(), 0.0,
              1e-15);
  EXPECT_NEAR((small->coupling_0 * z - body->coupling_0 * y).norm(), 0.0, 1e-15);
  EXPECT_EQ(small->beam, nullptr);
  // A selection of modes keeps their frequencies.
  const auto first = combine_modes(*body, MatrixXd::Identity(6, 2));
  EXPECT_NEAR((first->frequencies() - body->frequencies().head(2)).norm(), 0.0, 1e-9);
}

TEST(CombineModes, WrongShapesAreNamed) {
  const auto body = boom();
  EXPECT_THROW(combine_modes(*body, MatrixXd::Identity(5, 2)), NumericalError);
  EXPECT_THROW(combine_modes(*body, MatrixXd::Ones(6, 2)), NumericalError);
}

}  // namespace
}  // namespace catena
