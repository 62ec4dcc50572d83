// SPDX-License-Identifier: BSD-3-Clause
// URDF files included from SDF: the same mechanism as the URDF itself gives, where SDF puts it.
#include "catena/io/models/sdf/sdf_from_urdf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/testing/temporary_folder.h"
#include "catena/io/load.h"
#include "catena/io/testing/description_equality.h"

namespace catena {
namespace {

const std::string kInertial =
    "<inertial><origin xyz='0.1 0 0.2' rpy='0.3 0 0'/><mass value='2'/>"
    "<inertia ixx='0.3' ixy='0.01' ixz='0' iyy='0.4' iyz='0' izz='0.5'/></inertial>";

const std::string kArm =
    "<robot name='arm'>\n"
    "<link name='base'>" +
    kInertial +
    "</link>\n"
    "<link name='upper'>" +
    kInertial +
    "<visual name='v'><origin xyz='1 2 3'/><geometry><mesh filename='a.stl' scale='1 1 2'/>"
    "</geometry><material name='m'><color rgba='0 0.5 1 1'/></material></visual></link>\n"
    "<link name='wrist'>" +
    kInertial +
    "</link>\n"
    "<link name='hand'>" +
    kInertial +
    "</link>\n"
    "<link name='loose'>" +
    kInertial +
    "</link>\n"
    "<joint name='shoulder' type='revolute'><origin xyz='0 0 1' rpy='0.1 0.2 0.3'/>"
    "<parent link='base'/><child link='upper'/><axis xyz='0 1 1'/>"
    "<limit lower='-1' upper='2' effort='30' velocity='4'/><dynamics damping='0.5' friction='0.6'/>"
    "</joint>\n"
    // As in many files, the joint has the name of its link.
    "<joint name='wrist' type='continuous'><origin xyz='0 0.5 0'/><parent link='upper'/>"
    "<child link='wrist'/><axis xyz='1 0 0'/><mimic joint='shoulder' multiplier='2' offset='0.1'/>"
    "</joint>\n"
    "<joint name='grip' type='continuous'><parent link='wrist'/><child link='hand'/>"
    "<mimic joint='wrist'/></joint>\n"
    "<joint name='apart' type='floating'><origin xyz='5 0 0'/><parent link='base'/>"
    "<child link='loose'/></joint>\n"
    "</robot>\n";

class SdfFromUrdf : public testing::Test {
 protected:
  SdfFromUrdf() { write("a.stl", "solid a\nendsolid a\n"); }

  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  // An SDF file whose model holds the URDF, and more.
  Reading read(const std::string& urdf, const std::string& more = "") const {
    write("arm.urdf", urdf);
    return read_description(
        write("cell.sdf",
              "<sdf version='1.9'>\n<model name='cell'>\n<include><uri>arm.urdf</uri>"
              "<pose>0 0 3 0 0 0</pose></include>\n" +
                  more + "</model>\n</sdf>\n"));
  }
  test::TemporaryFolder folder_;
};

double gap(const Transformd& a, const Transformd& b) {
  const Transformd between = a.inverse() * b;
  return norm(between.translation) + norm(log(between.rotation));
}

TEST_F(SdfFromUrdf, HasTheNumbersOfTheUrdf) {
  const Reading reading = read(kArm);
  for (const Diagnostic& d : reading.diagnostics) ADD_FAILURE() << d.text();
  const Description& d = reading.description;
  const Description own = read_description(folder_.path("arm.urdf")).description;
  ASSERT_EQ(d.bodies.size(), own.bodies.size());
  for (std::size_t i = 0; i < d.bodies.size(); ++i) {
    EXPECT_EQ(d.bodies[i].name, "arm::" + own.bodies[i].name);
    EXPECT_EQ(d.bodies[i].source.line, own.bodies[i].source.line);
    EXPECT_EQ(d.bodies[i].source.file, folder_.path("arm.urdf"));
    EXPECT_EQ(d.bodies[i].mass, 2.0);
    EXPECT_EQ(d.bodies[i].center_of_mass, (Vec3d{0.1, 0, 0.2}));
    EXPECT_EQ(d.bodies[i].inertia.xy, 0.01);
    EXPECT_NEAR(gap({d.bodies[i].inertia_axes, {}}, {Rotationd::from_rpy(0.3, 0, 0), {}}), 0,
                1e-15);
  }
  const Hinge& shoulder = hinge(d, "arm::shoulder");
  EXPECT_EQ(shoulder.source.line, 7);
  EXPECT_EQ(shoulder.type, HingeType::revolute);
  EXPECT_EQ(shoulder.axes.at(0), (Vec3d{0, 1, 1}));
  EXPECT_NEAR(gap(shoulder.frame_on_parent, {Rotationd::from_rpy(0.1, 0.2, 0.3), {0, 0, 1}}), 0,
              1e-15);
  EXPECT_NEAR(gap(shoulder.frame_on_child, {}), 0, 1e-15);
  const FreedomSettings& f = shoulder.freedoms.at(0);
  EXPECT_EQ(f.lower, -1.0);
  EXPECT_EQ(f.upper, 2.0);
  EXPECT_EQ(f.effort_limit, 30.0);
  EXPECT_EQ(f.velocity_limit, 4.0);
  EXPECT_EQ(f.damping, 0.5);
  EXPECT_EQ(f.friction.sliding, 0.6);
  EXPECT_EQ(hinge(d, "arm::wrist").freedoms.at(0).upper, kInfinity);
  ASSERT_EQ(d.couplings.size(), 2u);
  EXPECT_EQ(d.couplings[0].terms.at(1).hinge, "arm::shoulder");
  EXPECT_EQ(d.couplings[0].terms.at(1).coefficient, -2.0);
  EXPECT_EQ(d.couplings[0].constant, 0.1);
  EXPECT_EQ(d.couplings[1].terms.at(1).hinge, "arm::wrist");
  const Visual& visual = d.bodies[1].visuals.at(0);
  EXPECT_EQ(visual.mesh, "a.stl");
  EXPECT_EQ(visual.size, (Vec3d{1, 1, 2}));
  EXPECT_EQ(visual.pose.translation, (Vec3d{1, 2, 3}));
  EXPECT_EQ(visual.colour, (std::array<double, 4>{0, 0.5, 1, 1}));
}

TEST_F(SdfFromUrdf, FloatsAtItsPoseUnlessJoined) {
  const Mechanism floating = MechanismBuilder(read(kArm).description).finish();
  EXPECT_EQ(floating.freedoms(), 6 + 1 + 1 + 1 + 6);
  const Description joined =
      read(kArm,
           "<joint name='bolts' type='fixed'><parent>world</parent><child>arm::base</child>"
           "</joint>\n")
          .description;
  EXPECT_EQ(MechanismBuilder(joined).finish().freedoms(), 1 + 1 + 1 + 6);
  EXPECT_NEAR(gap(hinge(joined, "bolts").frame_on_parent, {{}, {0, 0, 3}}), 0, 1e-15);
}

TEST_F(SdfFromUrdf, RootNamedWorldStaysOnTheGround) {
  const Description d =
      read("<robot name='r'><link name='world'/><link name='a'>" + kInertial +
           "</link><joint name='j' type='continuous'><origin xyz='1 0 0'/><parent link='world'/>"
           "<child link='a'/></joint></robot>")
          .description;
  EXPECT_EQ(MechanismBuilder(d).finish().freedoms(), 1);
  EXPECT_NEAR(gap(hinge(d, "r::j").frame_on_parent, {{}, {1, 0, 3}}), 0, 1e-15);
}

TEST_F(SdfFromUrdf, LoopsStayClosed) {
  const auto bar = [](const std::string& name) {
    return "<link name='" + name + "'>" + kInertial + "</link>\n";
  };
  const auto pin = [](const std::string& name, const std::string& parent, const std::string& child,
                      const std::string& place) {
    return "<joint name='" + name + "' type='continuous'><origin xyz='" + place +
           "'/><parent link='" + parent + "'/><child link='" + child +
           "'/><axis xyz='0 0 1'/></joint>\n";
  };
  const std::string bars = "<robot name='r'>\n<link name='world'/>\n" + bar("a") + bar("b") +
                           bar("c") + pin("A", "world", "a", "0 0 0") + pin("B", "a", "b", "0 1 0");
  const Reading closed =
      read(bars + pin("D", "world", "c", "1 1 0") + pin("C", "b", "c", "1 0 0") + "</robot>\n");
  for (const Diagnostic& d : closed.diagnostics) ADD_FAILURE() << d.text();
  const Mechanism m = MechanismBuilder(closed.description).finish();
  EXPECT_EQ(m.freedoms(), 3);
  EXPECT_EQ(m.loops().size(), 1u);
  // Apart: two frames, to be brought together by assembly.
  const Reading apart =
      read(bars + pin("D", "world", "c", "1 1 0") + pin("C", "b", "c", "1.2 0 0") + "</robot>\n");
  ASSERT_EQ(apart.diagnostics.size(), 1u);
  EXPECT_THAT(apart.diagnostics[0].message, testing::HasSubstr("are apart"));
  EXPECT_NEAR(gap(hinge(apart.description, "r::C").frame_on_parent, {{}, {1.2, 0, 0}}), 0, 1e-15);
  EXPECT_NEAR(gap(hinge(apart.description, "r::C").frame_on_child, {}), 0, 1e-15);
}

TEST_F(SdfFromUrdf, MistakesInTheUrdfKeepTheirLine) {
  const std::vector<Diagnostic> found =
      read("<robot name='r'>\n<link name='a'/>\n\n<lnik name='b'/>\n</robot>\n").diagnostics;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].text(), folder_.path("arm.urdf") +
                                 ":4: error: unknown tag <lnik> in robot 'r'; did you "
                                 "mean <link>?");
  EXPECT_EQ(found[1].source.line, 3);
  EXPECT_THAT(found[1].text(), testing::HasSubstr("cell.sdf:3: warning: this <include> reads"));
  EXPECT_THAT(
      read("<robot name='r'>\n<link name='a'/><link name='b'/>\n<joint name='j' "
           "type='planar'><parent link='a'/><child link='b'/></joint>\n</robot>\n")
          .diagnostics.at(0)
          .text(),
      testing::HasSubstr("arm.urdf:3: error: joint 'j' is planar, which SDF does not have"));
}

}  // namespace
}  // namespace catena
