// SPDX-License-Identifier: BSD-3-Clause
// load(): formats, the models that come with Catena, and large files.
#include "catena/io/load.h"

#include <cmath>
#include <ctime>
#include <filesystem>
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/base/testing/temporary_folder.h"

namespace catena {
namespace {

using testing::HasSubstr;

std::string model(const std::string& name) { return CATENA_SOURCE_DIR "/models/" + name; }

std::string first_problem(const std::string& path) {
  const Reading reading = read_description(path);
  return reading.diagnostics.empty() ? "" : reading.diagnostics.front().text();
}

class LoadFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  test::TemporaryFolder folder_;
};

TEST_F(LoadFiles, TellsTheFormat) {
  EXPECT_EQ(load(write("a.YAML", "catena: 1\nname: y\n")).name(), "y");
  EXPECT_EQ(load(write("a.yml", "catena: 1\nname: y\n")).name(), "y");
  const std::string urdf =
      "<?xml version=\"1.0\"?>\n<!-- <sdf> --><robot name=\"u\">"
      "<link name=\"l\"/></robot>\n";
  EXPECT_EQ(load(write("a.urdf", urdf)).name(), "u");
  EXPECT_EQ(load(write("b.xml", urdf)).name(), "u");
  EXPECT_EQ(load(write("b", urdf)).name(), "u");
  EXPECT_THAT(first_problem(write("c.xml", "<mujoco/>")), HasSubstr("root element <mujoco>"));
  EXPECT_THAT(first_problem(write("d.txt", "hello")), HasSubstr("its name must end in .urdf"));
  EXPECT_THAT(first_problem(write("e.urdf.xacro", urdf)), HasSubstr("run xacro"));
  EXPECT_THAT(first_problem(folder_.path("none.txt")), HasSubstr("there is no such file"));
  EXPECT_THAT(first_problem(folder_.path()), HasSubstr("is a folder"));
}

TEST_F(LoadFiles, ThrowsAllProblems) {
  try {
    load(write("a.yaml", "catena: 1\nbodies:\n  a: {mas: 1}\n  b: {mass: x}\n"));
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_EQ(error.problems().size(), 4U);
    EXPECT_THAT(error.what(), HasSubstr("a.yaml:3: error: body 'a': unknown key 'mas'"));
    EXPECT_THAT(error.what(), HasSubstr("a.yaml:3: error: body 'a' has no path to the world"));
    EXPECT_THAT(error.what(), HasSubstr("a.yaml:4: error: body 'b': mass: needs a number"));
    EXPECT_THAT(error.what(), HasSubstr("a.yaml:4: error: body 'b' has no path to the world"));
  }
}

// A robot from a URDF, changed by a YAML file. Its impossible inertia is a warning there; one in
// the YAML is an error.
TEST_F(LoadFiles, FromUrdf) {
  write("robot.urdf", R"(<robot name="r">
  <link name="l"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="9" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="t"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="revolute"><parent link="l"/><child link="t"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
</robot>
)");
  const Mechanism fixed = load(write("fixed.yaml", "catena: 1\nfrom: robot.urdf\n"));
  EXPECT_EQ(fixed.freedoms(), 1);
  const Mechanism free = load(write("free.yaml", R"(catena: 1
from: robot.urdf
base: free
change: {bodies: {t: {mass: 3}}, hinges: {j: {limits: [-2, 2]}}}
)"));
  EXPECT_EQ(free.freedoms(), 7);
  EXPECT_EQ(free.total_mass(), 4.0);
  EXPECT_THAT(first_problem(write("wrong.yaml", R"(catena: 1
from: robot.urdf
bodies:
  own: {mass: 1, inertia: [1, 1, 9]}
hinges:
  weld: {type: weld, parent: t, child: own}
)")),
              HasSubstr("wrong.yaml:4: error: body 'own'"));
}

TEST_F(LoadFiles, TenThousandBodies) {
  constexpr int kBodies = 10'000;
  std::string text = "catena: 1\nbodies:\n";
  for (int i = 0; i < kBodies; ++i)
    text += "  body_" + std::to_string(i) +
            ":\n    mass: 1.25\n    center_of_mass: [0.01, -0.02, 0.3]\n"
            "    inertia: {xx: 0.11, yy: 0.12, zz: 0.13, xy: 0.001, xz: 0.002, yz: 0.003}\n";
  text += "hinges:\n";
  for (int i = 0; i < kBodies; ++i)
    text += "  hinge_" + std::to_string(i) + ":\n    type: revolute\n    parent: " +
            (i == 0 ? "world" : "body_" + std::to_string((i - 1) / 2)) + "\n    child: body_" +
            std::to_string(i) +
            "\n    axis: [0, 0.6, 0.8]\n    at: {xyz: [0.1, 0.2, 0.3], rpy: [0.1, 0.2, 0.3]}\n"
            "    limits: [-1.5, 1.5]\n";
  const std::string path = write("large.yaml", text);
  const std::clock_t start = std::clock();
  const Mechanism m = load(path);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(m.freedoms(), kBodies);
  std::cout << "10,000 bodies in " << seconds << " s of processor time\n";
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(seconds, 2.0);
#endif
}

struct Expected {
  const char* file;
  int bodies;
  int freedoms;  // of the spanning tree
  int loops;
  int constraints;
  double mass;
};

// Counts and masses as the texts and comments that the models come from state them.
TEST(Models, CountsAndMasses) {
  const Expected models[] = {{"pendulum.yaml", 1, 1, 0, 0, 2.0},
                             {"double_pendulum.yaml", 2, 2, 0, 0, 1.2 + 0.8},
                             {"cart_pendulum.yaml", 2, 2, 0, 0, 3.0 + 1.5},
                             {"acrobot.yaml", 2, 2, 0, 0, 2.0},
                             {"branched_acrobot.yaml", 3, 3, 0, 0, 3.0},
                             {"arm6.yaml", 6, 6, 0, 0, 25.6},
                             {"arm7.yaml", 7, 7, 0, 0, 19.0},
                             {"quadruped.yaml", 13, 18, 0, 0, 25.0},
                             {"two_link_arm.yaml", 2, 2, 0, 0, 2.0},
                             {"tree10.yaml", 10, 10, 0, 0, 19.8},
                             {"mixed_chain.yaml", 7, 17, 0, 0, 26.0},
                             {"four_bar.yaml", 3, 3, 1, 5, 4.0},
                             {"slider_crank.yaml", 3, 3, 1, 5, 6.0},
                             {"geared_joint.yaml", 2, 2, 1, 1, 2.3},
                             {"differential.yaml", 5, 5, 1, 2, 6.2},
                             {"spacecraft.yaml", 3, 10, 0, 0, 1620.0},
                             {"hand_over.yaml", 6, 16, 0, 0, 20 + 2 * (3 + 2) + 4},
                             {"pile_of_boxes.yaml", 10, 60, 0, 0, 10.0}};
  for (const Expected& expected : models) {
    SCOPED_TRACE(expected.file);
    const Mechanism m = load(model(expected.file));
    EXPECT_EQ(m.name() + ".yaml", expected.file);
    EXPECT_EQ(static_cast<int>(m.bodies().size()), expected.bodies);
    EXPECT_EQ(m.freedoms(), expected.freedoms);
    EXPECT_EQ(static_cast<int>(m.loops().size()), expected.loops);
    int constraints = 0;
    for (const LoopPlace& loop : m.loops()) constraints += loop.constraints;
    EXPECT_EQ(constraints, expected.constraints);
    EXPECT_NEAR(m.total_mass(), expected.mass, 1e-12 * expected.mass);
    EXPECT_TRUE(m.warnings().empty()) << m.warnings().front().text();
  }
}

TEST(Models, EveryFileIsTested) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(model("")))
    if (file.path().extension() == ".yaml") ++files;
  EXPECT_EQ(files, 18);
}

// The hinges cut in the closed models, and their start on the closure: the pins meet.
TEST(Models, LoopsStartClosed) {
  const Mechanism four_bar = load(model("four_bar.yaml"));
  ASSERT_EQ(four_bar.loops()[0].cut_hinges.size(), 1U);
  EXPECT_EQ(four_bar.hinges()[index(four_bar.loops()[0].cut_hinges[0])].name, "C");
  const auto q = [](const Mechanism& m, const char* name) {
    return m.default_state().q[m.position_index(name)];
  };
  // The rounding of the printed angles, over bars of 5 m.
  constexpr double kTolerance = 1e-12;
  const double a = q(four_bar, "A");
  const double ab = a + q(four_bar, "B");
  const double d = q(four_bar, "D");
  EXPECT_NEAR(std::cos(a) + 4.8 * std::cos(ab), 4 + 2 * std::cos(d), kTolerance);
  EXPECT_NEAR(std::sin(a) + 4.8 * std::sin(ab), 2 * std::sin(d), kTolerance);

  const Mechanism slider = load(model("slider_crank.yaml"));
  const double crank = q(slider, "bearing");
  const double rod = crank + q(slider, "crank_pin");
  EXPECT_NEAR(0.3 * std::cos(crank) + std::cos(rod), q(slider, "guide"), kTolerance);
  EXPECT_NEAR(0.3 * std::sin(crank) + std::sin(rod), 0.05, kTolerance);

  const Mechanism differential = load(model("differential.yaml"));
  EXPECT_NEAR(q(differential, "left"), 10 * (q(differential, "pitch") + q(differential, "roll")),
              kTolerance);
  EXPECT_NEAR(q(differential, "right"), 10 * (q(differential, "pitch") - q(differential, "roll")),
              kTolerance);
}

// Data of case A: C_0I of the text takes inertial components to the body's.
TEST(Models, MixedChainStartsAsInTheText) {
  const Mechanism m = load(model("mixed_chain.yaml"));
  const auto& q = m.default_state().q;
  const Mat3d r = Rotationd::from_quaternion({q[0], q[1], q[2], q[3]}).matrix;
  const double c[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(r(j, i), c[i][j], 1e-15);
  EXPECT_EQ(m.default_state().v.size(), 17);
  EXPECT_EQ(m.default_state().v[16], 1.2);
}

}  // namespace
}  // namespace catena
