// SPDX-License-Identifier: BSD-3-Clause
// Coordinates of other libraries, against what their coordinates mean: rates of the poses that they
// describe, found by differences, and power.
#include "catena/model/peers/peer_coordinates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/model/configuration.h"
#include "catena/model/testing/test_support.h"

namespace catena {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr PeerLibrary kAll[] = {PeerLibrary::pinocchio, PeerLibrary::drake, PeerLibrary::mujoco};

// Every hinge whose coordinates differ somewhere, and two that do not.
Mechanism zoo() {
  MechanismBuilder b("zoo");
  const BodySettings body{.mass = 1.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)};
  b.add_body("hull", body).add_hinge("base", "world", "hull", {.type = HingeType::free});
  b.add_body("ball", body).add_hinge("shoulder", "hull", "ball", {.type = HingeType::spherical});
  b.add_body("plate", body).add_hinge("table", "hull", "plate", {.type = HingeType::planar});
  b.add_body("wheel", body).add_hinge("axle", "hull", "wheel");
  b.add_body("link", body)
      .add_hinge("elbow", "ball", "link", {.freedoms = {{.lower = -2.0, .upper = 2.0}}});
  b.add_body("ram", body).add_hinge("slide", "plate", "ram", {.type = HingeType::prismatic});
  return b.finish();
}

State random_state(const Mechanism& m) {
  return {random_position(m, 3), random_vector(m.freedoms(), 4)};
}

Matrix3d by_quaternion(double w, double x, double y, double z) {
  return Eigen::Quaterniond(w, x, y, z).toRotationMatrix();
}

// The pose that a library's own q of a free hinge means.
void free_pose(PeerLibrary library, const double* q, Matrix3d& r, Vector3d& p) {
  switch (library) {
    case PeerLibrary::pinocchio:
      p << q[0], q[1], q[2];
      r = by_quaternion(q[6], q[3], q[4], q[5]);
      break;
    case PeerLibrary::drake:
      r = by_quaternion(q[0], q[1], q[2], q[3]);
      p << q[4], q[5], q[6];
      break;
    case PeerLibrary::mujoco:
      p << q[0], q[1], q[2];
      r = by_quaternion(q[3], q[4], q[5], q[6]);
      break;
  }
}

Matrix3d ball_rotation(PeerLibrary library, const double* q) {
  if (library == PeerLibrary::pinocchio) return by_quaternion(q[3], q[0], q[1], q[2]);
  if (library == PeerLibrary::mujoco) return by_quaternion(q[0], q[1], q[2], q[3]);
  return (Eigen::AngleAxisd(q[2], Vector3d::UnitZ()) * Eigen::AngleAxisd(q[1], Vector3d::UnitY()) *
          Eigen::AngleAxisd(q[0], Vector3d::UnitX()))
      .toRotationMatrix();
}

Vector3d vee(const Matrix3d& w) { return {w(2, 1), w(0, 2), w(1, 0)}; }

// Central differences over ±h: truncation h² and rounding 1e-16/h, both times numbers of order one.
constexpr double kStep = 1e-5;
constexpr double kDifferences = 1e-9;

class PeerTest : public testing::TestWithParam<PeerLibrary> {
 protected:
  const Mechanism m_ = zoo();
  const PeerCoordinates peer_{m_, GetParam()};
  const State state_ = random_state(m_);
  VectorXd peer_q(double t) const {
    return peer_.position_to_peer(integrate(m_, state_.q, t * state_.v));
  }
};

TEST_P(PeerTest, MeansTheSamePose) {
  const VectorXd q = peer_.position_to_peer(state_.q);
  Matrix3d r;
  Vector3d p;
  free_pose(GetParam(), q.data(), r, p);
  EXPECT_LT((r - by_quaternion(state_.q[0], state_.q[1], state_.q[2], state_.q[3])).norm(), 1e-14);
  EXPECT_EQ(p, Vector3d(state_.q[4], state_.q[5], state_.q[6]));
  const double* own = state_.q.data() + m_.position_index("shoulder.qw");
  const Matrix3d ball = ball_rotation(GetParam(), q.data() + 7);
  EXPECT_LT((ball - by_quaternion(own[0], own[1], own[2], own[3])).norm(), 1e-14);
}

TEST_P(PeerTest, VelocitiesAreTheRatesThatTheLibraryMeans) {
  const VectorXd v = peer_.velocity_to_peer(state_.q, state_.v);
  const VectorXd q = peer_q(0.0), ahead = peer_q(kStep), behind = peer_q(-kStep);
  Matrix3d r, r_ahead, r_behind;
  Vector3d p, p_ahead, p_behind;
  free_pose(GetParam(), q.data(), r, p);
  free_pose(GetParam(), ahead.data(), r_ahead, p_ahead);
  free_pose(GetParam(), behind.data(), r_behind, p_behind);
  const Vector3d world_linear = (p_ahead - p_behind) / (2 * kStep);
  const Vector3d world_angular = vee((r_ahead - r_behind) * r.transpose()) / (2 * kStep);
  const Vector3d first = v.segment<3>(0), second = v.segment<3>(3);
  switch (GetParam()) {
    case PeerLibrary::pinocchio:
      EXPECT_LT((first - r.transpose() * world_linear).norm(), kDifferences);
      EXPECT_LT((second - r.transpose() * world_angular).norm(), kDifferences);
      break;
    case PeerLibrary::drake:
      EXPECT_LT((first - world_angular).norm(), kDifferences);
      EXPECT_LT((second - world_linear).norm(), kDifferences);
      break;
    case PeerLibrary::mujoco:
      EXPECT_LT((first - world_linear).norm(), kDifferences);
      EXPECT_LT((second - r.transpose() * world_angular).norm(), kDifferences);
      break;
  }
  const Matrix3d ball = ball_rotation(GetParam(), q.data() + 7);
  const Matrix3d rate =
      (ball_rotation(GetParam(), ahead.data() + 7) - ball_rotation(GetParam(), behind.data() + 7)) /
      (2 * kStep);
  const Vector3d in_parent = vee(rate * ball.transpose());
  const Vector3d expected =
      GetParam() == PeerLibrary::drake ? in_parent : Vector3d(ball.transpose() * in_parent);
  EXPECT_LT((v.segment<3>(6) - expected).norm(), kDifferences);
}

TEST_P(PeerTest, PlanarVelocitiesAreTheRatesThatTheLibraryMeans) {
  const int ours = m_.position_index("table.angle");
  const double angle = state_.q[ours];
  const double* rates = state_.v.data() + m_.velocity_index("table.angle");  // angle, x, y
  const VectorXd v = peer_.velocity_to_peer(state_.q, state_.v).segment(9, 3);
  const double c = std::cos(angle), s = std::sin(angle);
  if (GetParam() == PeerLibrary::pinocchio) {
    EXPECT_NEAR(v[0], c * rates[1] + s * rates[2], 1e-15);
    EXPECT_NEAR(v[1], -s * rates[1] + c * rates[2], 1e-15);
  } else {
    EXPECT_EQ(v[0], rates[1]);
    EXPECT_EQ(v[1], rates[2]);
  }
  EXPECT_EQ(v[2], rates[0]);
}

TEST_P(PeerTest, AccelerationsAreTheRatesOfVelocities) {
  const VectorXd a = random_vector(m_.freedoms(), 8);
  const auto velocity_at = [&](double t) {
    // Along a motion with this velocity and acceleration at t = 0 (rotations: to second order).
    const VectorXd q = integrate(m_, state_.q, t * state_.v + 0.5 * t * t * a);
    return peer_.velocity_to_peer(q, state_.v + t * a);
  };
  const VectorXd difference = (velocity_at(kStep) - velocity_at(-kStep)) / (2 * kStep);
  const VectorXd found = peer_.acceleration_to_peer(state_, a);
  EXPECT_LT((found - difference).norm(), kDifferences);
  EXPECT_LT((peer_.acceleration_from_peer(state_, found) - a).norm(), 1e-14);
}

TEST_P(PeerTest, PowerIsTheSameNumber) {
  const VectorXd effort = random_vector(m_.freedoms(), 9);
  const VectorXd theirs = peer_.effort_to_peer(state_.q, effort);
  EXPECT_NEAR(theirs.dot(peer_.velocity_to_peer(state_.q, state_.v)), effort.dot(state_.v), 1e-14);
  EXPECT_LT((peer_.effort_from_peer(state_.q, theirs) - effort).norm(), 1e-14);
  EXPECT_LT(
      (peer_.velocity_map(state_.q) * state_.v - peer_.velocity_to_peer(state_.q, state_.v)).norm(),
      1e-15);
}

TEST_P(PeerTest, ThereAndBack) {
  const State back = peer_.from_peer(peer_.to_peer(state_));
  EXPECT_LT(difference(m_, state_.q, back.q).norm(), 1e-14);
  EXPECT_LT((back.v - state_.v).norm(), 1e-14);
}

TEST_P(PeerTest, AnotherOrderIsAPermutation) {
  const PeerCoordinates turned(m_, GetParam(),
                               {{"slide"}, {"elbow"}, {"axle"}, {"table"}, {"shoulder"}, {"base"}});
  ASSERT_EQ(turned.coordinates(), peer_.coordinates());
  const VectorXd v = turned.velocity_to_peer(state_.q, state_.v);
  const VectorXd usual = peer_.velocity_to_peer(state_.q, state_.v);
  EXPECT_EQ(v[0], state_.v[m_.velocity_index("slide")]);
  EXPECT_EQ(v.tail(6), usual.head(6));
  const State back = turned.from_peer(turned.to_peer(state_));
  EXPECT_LT(difference(m_, state_.q, back.q).norm(), 1e-14);
}

INSTANTIATE_TEST_SUITE_P(Libraries, PeerTest, testing::ValuesIn(kAll));

TEST(PeerCoordinates, PinocchioHasUnboundedHingesByCosineAndSine) {
  const Mechanism m = zoo();
  VectorXd q = zero_position(m);
  q[m.position_index("axle")] = 2.5;
  const PeerCoordinates usual(m, PeerLibrary::pinocchio);
  EXPECT_EQ(usual.coordinates(), 7 + 4 + 4 + 2 + 1 + 1);
  const VectorXd theirs = usual.position_to_peer(q);
  EXPECT_EQ(theirs[15], std::cos(2.5));
  EXPECT_EQ(theirs[16], std::sin(2.5));
  EXPECT_NEAR(usual.position_from_peer(theirs)[m.position_index("axle")], 2.5, 1e-15);
  const PeerCoordinates plain(m, PeerLibrary::pinocchio,
                              {{"base"},
                               {"shoulder"},
                               {"table"},
                               {.name = "axle", .coordinates = 1},
                               {"elbow"},
                               {"slide"}});
  EXPECT_EQ(plain.coordinates(), 7 + 4 + 4 + 1 + 1 + 1);
  EXPECT_EQ(plain.position_to_peer(q)[15], 2.5);
}

TEST(PeerCoordinates, PlacesAndSingleCoordinates) {
  const Mechanism m = zoo();
  const PeerCoordinates peer(m, PeerLibrary::mujoco,
                             {{"table.x"},
                              {"table.y"},
                              {"table.angle"},
                              {"base"},
                              {"shoulder"},
                              {.name = "axle", .q_index = 20, .v_index = 17},
                              {"elbow"},
                              {"slide"}});
  EXPECT_EQ(peer.coordinates(), 23);
  EXPECT_EQ(peer.freedoms(), 20);
  const State state = random_state(m);
  const State theirs = peer.to_peer(state);
  EXPECT_EQ(theirs.q[0], state.q[m.position_index("table.x")]);
  EXPECT_EQ(theirs.q[2], state.q[m.position_index("table.angle")]);
  EXPECT_EQ(theirs.q[20], state.q[m.position_index("axle")]);
  EXPECT_EQ(theirs.v[17], state.v[m.velocity_index("axle")]);
}

template <class F>
std::string message(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(PeerCoordinates, MistakesAreNamed) {
  const Mechanism m = zoo();
  using testing::HasSubstr;
  const auto make = [&](std::vector<PeerHinge> order) {
    return message([&] { PeerCoordinates(m, PeerLibrary::drake, std::move(order)); });
  };
  EXPECT_THAT(make({{"elbo"}}), HasSubstr("did you mean 'elbow'"));
  EXPECT_THAT(make({{"base"}, {"shoulder"}, {"table"}, {"axle"}, {"elbow"}}), HasSubstr("'slide'"));
  EXPECT_THAT(make({{"base"}, {"shoulder"}, {"table"}, {"axle"}, {"elbow"}, {"slide"}, {"axle"}}),
              HasSubstr("'axle' more than once"));
  const PeerCoordinates peer(m, PeerLibrary::drake);
  EXPECT_THAT(message([&] { peer.position_from_peer(VectorXd::Zero(3)); }), HasSubstr("3 entries"));
}

}  // namespace
}  // namespace catena
