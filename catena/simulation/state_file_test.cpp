// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/state_file.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/dynamics/kinematics.h"
#include "catena/io/load.h"
#include "catena/simulation/testing/test_support.h"

namespace catena {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class StateFile : public testing::Test {
 protected:
  StateInput read(const std::string& text) {
    return read_state_file(folder_.write("state.yaml", text), pendulum_);
  }
  std::vector<std::string> problems(const std::string& text) {
    std::vector<std::string> lines;
    try {
      read(text);
    } catch (const ModelError& e) {
      for (const Diagnostic& problem : e.problems())
        lines.push_back(std::to_string(problem.source.line) + ": " + problem.message);
    }
    return lines;
  }

  test::TemporaryFolder folder_;
  Mechanism pendulum_ = load(folder_.write("model.yaml", test::kPendulumModel));
};

TEST_F(StateFile, RollPitchYaw) {
  const StateInput in = read("q: {ball: {rpy: [pi/6, 0, 0]}}\n");
  const double half = std::acos(-1.0) / 12.0;
  EXPECT_NEAR((in.state.q.tail(4) - Eigen::Vector4d(std::cos(half), std::sin(half), 0, 0)).norm(),
              0.0, 1e-15);
  const Mechanism box = load(folder_.write(
      "box.yaml",
      "catena: 1\nbase: free\nbodies: {box: {mass: 1, inertia: [1, 1, 1]}}\n"
      "hinges: {base: {type: free, parent: world, child: box, initial_position: {xyz: [1, 2, 3], "
      "quaternion: [0, 1, 0, 0]}}}\n"));
  Eigen::VectorXd expected(7);
  expected << 0, 1, 0, 0, 1, 2, 3;
  EXPECT_EQ(box.default_state().q, expected);
  const StateInput tilted =
      read_state_file(folder_.write("tilt.yaml", "q: {base: {rpy: [0, 0, pi]}}\n"), box);
  expected << 0, 0, 0, 1, 1, 2, 3;
  EXPECT_NEAR((tilted.state.q - expected).norm(), 0.0, 1e-15);  // the position stays
  const Transformd pose = body_pose(box, tilted.state.q, box.body_index("box"));
  EXPECT_NEAR(pose.rotation.matrix(0, 0), -1.0, 1e-15);
  EXPECT_EQ(pose.translation, (Vec3d{1, 2, 3}));
  EXPECT_THAT(problems("q: {pivot: {rpy: [0, 0, 0]}}\n"),
              ElementsAre(HasSubstr("xyz and rpy are for free joints")));
}

TEST_F(StateFile, ByHingeAndByCoordinate) {
  const StateInput in = read(
      "q: {pivot: pi/2, ball: [0, 1, 0, 0]}\n"
      "v: {ball.wy: 3}\n"
      "effort: {pivot: 1.5}\n"
      "acceleration: [1, 2, 3, 4]\n"
      "motion_driven: [ball]\n"
      "external:\n"
      "  - {body: arm, force: [1, 2, 3], moment: [4, 5, 6], point: [7, 8, 9], axes: ground}\n"
      "  - {body: link, force: [1, 0, 0]}\n");
  EXPECT_NEAR(in.state.q[0], 1.57079632679489662, 1e-16);
  EXPECT_EQ(in.state.q.tail(4), Eigen::Vector4d(0, 1, 0, 0));
  EXPECT_EQ(in.state.v, Eigen::Vector4d(0, 0, 3, 0));
  EXPECT_EQ(in.effort, Eigen::Vector4d(1.5, 0, 0, 0));
  EXPECT_EQ(in.acceleration, Eigen::Vector4d(1, 2, 3, 4));
  EXPECT_THAT(in.motion_driven, ElementsAre(0, 1, 1, 1));
  ASSERT_EQ(in.external.size(), 2u);
  EXPECT_EQ(in.external[0].body, pendulum_.body_index("arm"));
  EXPECT_EQ(in.external[0].wrench.force, (Vec3d{1, 2, 3}));
  EXPECT_EQ(in.external[0].wrench.moment, (Vec3d{4, 5, 6}));
  EXPECT_EQ(in.external[0].point, (Vec3d{7, 8, 9}));
  EXPECT_EQ(in.external[0].axes, ExternalWrench::Axes::ground);
  EXPECT_EQ(in.external[1].axes, ExternalWrench::Axes::body);
}

TEST_F(StateFile, WhatIsNotSaidIsTheDefault) {
  const StateInput in = read("");
  EXPECT_EQ(in.state.q[1], 1.0);  // quaternion
  EXPECT_TRUE(in.effort.isZero());
}

TEST_F(StateFile, EveryMistakeHasItsLine) {
  EXPECT_THAT(problems("q: {pivt: 1}\n"
                       "v: [1, 2]\n"
                       "efort: {}\n"
                       "effort: {ball: 3}\n"
                       "external:\n"
                       "  - {body: amr}\n"
                       "  - {force: [1, 2]}\n"),
              testing::UnorderedElementsAre(
                  HasSubstr("1: q: no hinge or coordinate is named 'pivt'; did you mean 'pivot'?"),
                  HasSubstr("2: v: has 2 numbers, but 4 are needed"),
                  HasSubstr("3: unknown key 'efort'; did you mean 'effort'?"),
                  HasSubstr("4: effort: ball: has 1 number, but 3 are needed"),
                  HasSubstr("6: external: 1: no body is named 'amr'; did you mean 'arm'?"),
                  HasSubstr("7: external: 2: force: needs a list of 3 numbers"),
                  HasSubstr("7: external: 2: needs 'body:'")));
  EXPECT_THAT(problems("[1, 2]"), ElementsAre(HasSubstr("needs a map")));
  EXPECT_THROW(read_state_file(folder_.path() + "/none.yaml", pendulum_), ModelError);
}

TEST_F(StateFile, SaysWhichGivenValuesHadToMove) {
  const Mechanism four_bar = load(std::string(CATENA_SOURCE_DIR) + "/models/four_bar.yaml");
  StateInput torn = read_state_file(folder_.write("torn.yaml", "q: {A: 1.0, D: 0.3}\n"), four_bar);
  const std::string moved = close_loops(four_bar, torn);
  EXPECT_THAT(moved, HasSubstr("A from 1 to "));
  EXPECT_THAT(moved, HasSubstr("D from 0.3 to "));
  StateInput good = read_state_file(folder_.write("good.yaml", "q: {A: 1.0}\n"), four_bar);
  EXPECT_EQ(close_loops(four_bar, good), "");
  EXPECT_EQ(good.state.q[four_bar.position_index("A")], 1.0);
}

}  // namespace
}  // namespace catena
