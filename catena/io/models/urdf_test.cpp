// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/urdf.h"

#include <cmath>
#include <ctime>

#include <gtest/gtest.h>

#include "catena/model/validation.h"

namespace catena {
namespace {

// For 10,000 links; a debug or sanitized build takes longer.
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
constexpr double kSeconds = 2.0;
#else
constexpr double kSeconds = 60.0;
#endif

std::string robot(const std::string& inside) {
  return "<robot name='r'>\n" + inside + "</robot>\n";
}

const std::string kInertial =
    "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
    "</inertial>";

std::string link(const std::string& name) {
  return "<link name='" + name + "'>" + kInertial + "</link>\n";
}

std::string joint(const std::string& name, const std::string& type, const std::string& parent,
                  const std::string& child, const std::string& inside = "") {
  return "<joint name='" + name + "' type='" + type + "'><parent link='" + parent +
         "'/><child link='" + child + "'/>" + inside + "</joint>\n";
}

const std::string kLimit = "<limit lower='-1' upper='2' effort='3' velocity='4'/>";

Description good(const std::string& text, const LoadSettings& settings = {}) {
  Reading reading = read_urdf_text(text, "r.urdf", settings);
  for (const Diagnostic& d : reading.diagnostics) ADD_FAILURE() << d.text();
  return reading.description;
}

std::vector<std::string> problems(const std::string& text, const LoadSettings& settings = {}) {
  std::vector<std::string> list;
  for (const Diagnostic& d : read_urdf_text(text, "r.urdf", settings).diagnostics)
    list.push_back(d.text());
  return list;
}

// The one problem of the text.
std::string problem(const std::string& text) {
  const std::vector<std::string> list = problems(text);
  for (std::size_t i = 1; i < list.size(); ++i) ADD_FAILURE() << list[i];
  return list.empty() ? "none" : list.front();
}

TEST(Urdf, LinkHasMassCentreAndInertiaInItsOwnAxes) {
  const Description d = good(robot(
      "<link name='a'><inertial><origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/><mass value='2'/>"
      "<inertia ixx='1' ixy='0.1' ixz='0.2' iyy='3' iyz='0.3' izz='3.5'/></inertial></link>\n"));
  ASSERT_EQ(d.bodies.size(), 1u);
  const Body& a = d.bodies[0];
  EXPECT_EQ(d.name, "r");
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.source.line, 2);
  EXPECT_EQ(a.mass, 2.0);
  EXPECT_EQ(a.center_of_mass, (Vec3d{1, 2, 3}));
  EXPECT_EQ(a.inertia.xy, 0.1);
  EXPECT_EQ(a.inertia.zz, 3.5);
  // x of the inertia axes is y of the link: Iyy of the link is ixx.
  const SymMat3d in_link = congruence(a.inertia_axes.matrix, a.inertia);
  EXPECT_NEAR(in_link.yy, 1.0, 1e-15);
  EXPECT_NEAR(in_link.xx, 3.0, 1e-15);
  EXPECT_NEAR(in_link.xy, -0.1, 1e-15);
  // The root is fixed to the ground.
  ASSERT_EQ(d.hinges.size(), 1u);
  EXPECT_EQ(d.hinges[0].type, HingeType::weld);
  EXPECT_EQ(d.hinges[0].parent, kWorld);
}

TEST(Urdf, EveryTypeOfJoint) {
  const Description d = good(robot(
      link("a") + link("b") + link("c") + link("d") + link("e") + link("f") + link("g") +
      joint("r", "revolute", "a", "b",
            "<origin xyz='1 0 0' rpy='0.1 0.2 0.3'/><axis xyz='0 0 2'/>" + kLimit +
                "<dynamics damping='5' friction='6'/>") +
      joint("c", "continuous", "b", "c", "<axis xyz='0 1 0'/>") +
      joint("p", "prismatic", "c", "d", kLimit) + joint("x", "fixed", "d", "e") +
      joint("fl", "floating", "e", "f") + joint("pl", "planar", "f", "g", "<axis xyz='0 1 0'/>")));
  ASSERT_EQ(d.hinges.size(), 7u);  // with the one to the ground, which comes first
  const Hinge& r = d.hinges[1];
  EXPECT_EQ(r.type, HingeType::revolute);
  EXPECT_EQ(r.parent, "a");
  EXPECT_EQ(r.child, "b");
  EXPECT_EQ(r.axes.at(0), (Vec3d{0, 0, 2}));
  EXPECT_EQ(r.frame_on_parent.translation, (Vec3d{1, 0, 0}));
  const Rotationd rpy = Rotationd::about_z(0.3) * Rotationd::about_y(0.2) * Rotationd::about_x(0.1);
  EXPECT_NEAR(norm(log(rpy.inverse() * r.frame_on_parent.rotation)), 0.0, 1e-15);
  EXPECT_EQ(norm(r.frame_on_child.translation), 0.0);
  const FreedomSettings& f = r.freedoms.at(0);
  EXPECT_EQ(f.lower, -1.0);
  EXPECT_EQ(f.upper, 2.0);
  EXPECT_EQ(f.effort_limit, 3.0);
  EXPECT_EQ(f.velocity_limit, 4.0);
  EXPECT_EQ(f.damping, 5.0);
  EXPECT_EQ(f.friction.sliding, 6.0);
  EXPECT_EQ(d.hinges[2].type, HingeType::revolute);
  EXPECT_EQ(d.hinges[2].freedoms.at(0).upper, kInfinity);
  EXPECT_EQ(d.hinges[3].type, HingeType::prismatic);
  EXPECT_EQ(d.hinges[3].axes.at(0), (Vec3d{1, 0, 0}));  // the format's default
  EXPECT_EQ(d.hinges[4].type, HingeType::weld);
  EXPECT_EQ(d.hinges[5].type, HingeType::free);
  EXPECT_EQ(d.hinges[6].type, HingeType::planar);
  EXPECT_EQ(d.hinges[6].axes.at(0), (Vec3d{0, 1, 0}));
  const Mechanism m = MechanismBuilder(d).finish();
  EXPECT_EQ(m.freedoms(), 1 + 1 + 1 + 6 + 3);
}

TEST(Urdf, TheBase) {
  const std::string text = robot(link("a") + link("b") + joint("j", "continuous", "a", "b"));
  EXPECT_EQ(MechanismBuilder(good(text)).finish().freedoms(), 1);
  const Description free = good(text, {.base = Base::free});
  EXPECT_EQ(free.hinges[0].name, "base");
  EXPECT_EQ(MechanismBuilder(free).finish().freedoms(), 7);

  const std::string grounded =
      robot("<link name='world'/>\n" + link("b") + joint("j", "continuous", "world", "b"));
  for (const Base base : {Base::as_written, Base::fixed, Base::free}) {
    const Description d = good(grounded, {.base = base});
    EXPECT_EQ(d.bodies.size(), 1u);
    EXPECT_EQ(d.hinges.size(), 1u);
  }
  EXPECT_EQ(good(text, {.gravity = Vec3d{1, 2, 3}}).gravity, (Vec3d{1, 2, 3}));
  EXPECT_EQ(good(text).gravity, (Vec3d{0, 0, -9.81}));
}

TEST(Urdf, TwoJointsToOneLinkCloseALoop) {
  const Description d = good(
      robot(link("base") + link("a") + link("b") +
            joint("1", "continuous", "base", "a", "<axis xyz='0 0 1'/>") +
            joint("2", "continuous", "a", "b", "<origin xyz='1 0 0'/><axis xyz='0 0 1'/>") +
            joint("3", "continuous", "base", "b", "<origin xyz='1 0 0'/><axis xyz='0 0 1'/>")));
  const Mechanism m = MechanismBuilder(d).finish();
  EXPECT_EQ(m.freedoms(), 2);
  ASSERT_EQ(m.loops().size(), 1u);
  EXPECT_EQ(m.loops()[0].cut_hinges.size(), 1u);
}

TEST(Urdf, MimicIsACoupling) {
  const Description d =
      good(robot(link("a") + link("b") + link("c") +
                 joint("follower", "revolute", "a", "b",
                       kLimit + "<mimic joint='leader' multiplier='-2' offset='0.5'/>") +
                 joint("leader", "prismatic", "a", "c", kLimit)));
  ASSERT_EQ(d.couplings.size(), 1u);
  const Coupling& c = d.couplings[0];  // q(follower) + 2 q(leader) = 0.5
  EXPECT_EQ(c.terms.at(0).hinge, "follower");
  EXPECT_EQ(c.terms.at(0).coefficient, 1.0);
  EXPECT_EQ(c.terms.at(1).hinge, "leader");
  EXPECT_EQ(c.terms.at(1).coefficient, 2.0);
  EXPECT_EQ(c.constant, 0.5);
  EXPECT_EQ(c.source.line, 5);
  EXPECT_EQ(MechanismBuilder(d).finish().freedoms(), 2);
}

TEST(Urdf, Visuals) {
  const Description d = good(
      robot("<material name='red'><color rgba='1 0 0 1'/></material>\n"
            "<link name='a'>" +
            kInertial +
            "<visual name='v'><origin xyz='0 0 1'/><geometry><box size='1 2 3'/></geometry>"
            "<material name='red'/></visual>"
            "<visual><geometry><cylinder radius='0.1' length='0.5'/></geometry>"
            "<material name='blue'/></visual>"
            "<visual><geometry><sphere radius='0.2'/></geometry>"
            "<material name='blue'><color rgba='0 0 1 0.5'/></material></visual>"
            "<visual><geometry><capsule radius='0.3' length='0.6'/></geometry></visual>"
            "<collision><geometry><mesh filename='whatever'/></geometry></collision></link>\n"));
  const std::vector<Visual>& v = d.bodies.at(0).visuals;
  ASSERT_EQ(v.size(), 4u);
  EXPECT_EQ(v[0].shape, Visual::Shape::box);
  EXPECT_EQ(v[0].name, "v");
  EXPECT_EQ(v[0].size, (Vec3d{1, 2, 3}));
  EXPECT_EQ(v[0].pose.translation, (Vec3d{0, 0, 1}));
  EXPECT_EQ(v[0].colour, (std::array<double, 4>{1, 0, 0, 1}));
  EXPECT_EQ(v[1].shape, Visual::Shape::cylinder);
  EXPECT_EQ(v[1].colour, (std::array<double, 4>{0, 0, 1, 0.5}));  // defined further down
  EXPECT_EQ(v[2].radius, 0.2);
  EXPECT_EQ(v[3].shape, Visual::Shape::capsule);
  EXPECT_EQ(v[3].length, 0.6);

  const Reading reading = read_urdf_text(
      robot("<link name='a'>" + kInertial +
            "<visual><geometry><mesh filename='package://p/m.stl' scale='1 1 2'/></geometry>"
            "</visual></link>"),
      "r.urdf");
  const Visual& mesh = reading.description.bodies.at(0).visuals.at(0);
  EXPECT_EQ(mesh.mesh, "package://p/m.stl");
  EXPECT_EQ(mesh.size.z, 2.0);
  ASSERT_EQ(reading.diagnostics.size(), 1u);  // it is not there
  EXPECT_EQ(reading.diagnostics[0].severity, Severity::warning);
}

TEST(Urdf, Collisions) {
  const Description d =
      good(robot("<link name='a'>" + kInertial +
                 "<collision name='c'><origin xyz='0 0 1'/><geometry><box size='1 2 3'/></geometry>"
                 "</collision><collision><geometry><cylinder radius='0.1' length='0.5'/></geometry>"
                 "</collision></link>\n<gazebo reference='a'><mu1>0.6</mu1></gazebo>"));
  const std::vector<Collision>& c = d.bodies.at(0).collisions;
  ASSERT_EQ(c.size(), 2u);
  EXPECT_EQ(c[0].shape, Collision::Shape::box);
  EXPECT_EQ(c[0].name, "c");
  EXPECT_EQ(c[0].size, (Vec3d{1, 2, 3}));
  EXPECT_EQ(c[0].pose.translation, (Vec3d{0, 0, 1}));
  EXPECT_EQ(c[0].friction, 0.6);
  EXPECT_EQ(c[1].shape, Collision::Shape::cylinder);
  EXPECT_EQ(c[1].length, 0.5);
}

TEST(Urdf, FrictionAsAnAttribute) {
  const Description d =
      good(robot("<link name='a'>" + kInertial +
                 "<collision><geometry><sphere radius='0.1'/></geometry></collision></link>\n"
                 "<gazebo reference='a'><mu1 value='0.7'/></gazebo>"));
  EXPECT_EQ(d.bodies.at(0).collisions.at(0).friction, 0.7);
}

TEST(Urdf, WhatIsDroppedIsSaid) {
  const std::string two = link("a") + link("b") +
                          "<joint name='j' type='continuous'><parent link='a'/><child link='b'/>"
                          "</joint>\n";
  EXPECT_EQ(
      problem(robot(two + "<gazebo reference='b'><turnGravityOff>true</turnGravityOff></gazebo>")),
      "r.urdf:5: warning: <turnGravityOff> of link 'b' is ignored: gravity acts on every link "
      "here");
  EXPECT_THAT(problem(robot(two + "<transmission name='t'><joint name='j'/><actuator name='m'>"
                                  "<mechanicalReduction>50</mechanicalReduction></actuator>"
                                  "</transmission>")),
              testing::StartsWith("r.urdf:5: warning: the reduction 50 of joint 'j' is ignored"));
  const Description d =
      good(robot(two + "<gazebo reference='j'><springStiffness>4</springStiffness>"
                       "<springReference>0.5</springReference></gazebo>"));
  EXPECT_EQ(d.hinges.back().freedoms.at(0).stiffness, 4.0);
  EXPECT_EQ(d.hinges.back().freedoms.at(0).rest, 0.5);
}

TEST(Urdf, DegreesAndGramsAreNoticed) {
  const std::string ab = link("a") + link("b");
  EXPECT_EQ(
      problem(robot(ab + "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                         "<limit lower='-90' upper='90' effort='1' velocity='1'/></joint>")),
      "r.urdf:4: warning: joint 'j': the limit -90 rad is 14 turns; if it is in degrees, write "
      "-1.5708");
  good(robot(ab + "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                  "<limit lower='-12.5' upper='12' effort='1' velocity='1'/></joint>"));
  const auto ball = [](const char* mass) {
    return robot("<link name='a'><inertial><mass value='" + std::string(mass) +
                 "'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
                 "<collision><geometry><sphere radius='0.1'/></geometry></collision></link>\n");
  };
  good(ball("30"));
  EXPECT_EQ(problem(ball("3000")),
            "r.urdf:2: warning: link 'a': 3000 kg in collision shapes of 0.0042 m³; if the mass is "
            "in grams, write 3");
}

TEST(Urdf, ForeignTagsAreLeftAlone) {
  good(robot(link("a") + "<gazebo reference='a'><material>Gazebo/Red</material></gazebo>\n"
                         "<transmission name='t'><actuator name='m'><mechanicalReduction>1"
                         "</mechanicalReduction></actuator></transmission>\n"
                         "<ros2_control name='x' type='system'/>\n"));
  EXPECT_NE(problem(robot(link("a") + "<gazebo><joint name='j' type='revolute'/></gazebo>\n"))
                .find("r.urdf:3: warning: joint 'j' inside <gazebo> is ignored"),
            std::string::npos);
  EXPECT_EQ(problem(robot(link("a") + "<my_extension/>\n")),
            "r.urdf:3: warning: <my_extension> in <robot> is not part of URDF and is ignored");
  EXPECT_EQ(problem(robot(link("a") + "<drake:x/><drake:y/>\n")),
            "r.urdf:3: warning: tags of the namespace 'drake' are not part of URDF and are "
            "ignored");
}

TEST(Urdf, MistakesAreNamedWithLineAndRemedy) {
  const auto says = [](const std::string& text, const std::string& line, const std::string& what) {
    const std::string found = problem(text);
    EXPECT_TRUE(found.starts_with("r.urdf:" + line + ": ")) << found;
    EXPECT_NE(found.find(what), std::string::npos) << found;
  };
  const std::string ab = link("a") + link("b");
  says(robot("<lnik name='a'/>\n" + link("b")), "2", "did you mean <link>?");
  says("<model/>", "1", "the root element is <model>");
  says(robot(""), "1", "has no <link>");
  says(robot("<link/>\n" + link("a")), "2", "<link> has no name");
  says(robot(link("a") + link("a")), "3", "'a' is defined twice (first in line 2)");
  says(robot(ab + joint("j", "fixed", "a", "b") + joint("j", "fixed", "a", "b")), "5",
       "joint 'j' is defined twice");
  says(robot(ab + joint("j", "fixed", "a", "c")), "4", "child link 'c' does not exist");
  says(robot(link("elbow") + link("b") + joint("j", "fixed", "elbwo", "b")), "4",
       "did you mean 'elbow'?");
  says(robot(ab + joint("j", "revolut", "a", "b")), "4", "did you mean 'revolute'?");
  says(robot(ab + joint("j", "continuous", "a", "b", "\n<axis xyz='0 0 0'/>")), "5", "is zero");
  says(robot(ab + joint("j", "continuous", "a", "b", "<axis xyz='0 nan 0'/>")), "4",
       "'nan' is not a finite number");
  says(robot(ab + joint("j", "fixed", "a", "b", "<origin xyz='0 0'/>")), "4", "has 2 numbers");
  says(robot(ab + joint("j", "fixed", "a", "b", "<origin xzy='0 0 0'/>")), "4",
       "did you mean 'xyz'?");
  says(robot(ab + joint("j", "revolute", "a", "b",
                        "<limit lower='2' upper='1' effort='1' velocity='1'/>")),
       "4",
       "warning: <limit> of joint 'j': lower limit 2 is above upper limit 1; the joint has no "
       "limits until they are swapped");
  says(robot(ab + joint("j", "revolute", "a", "b", "<limit effort='-1' velocity='1'/>")), "4",
       "effort limit -1 must not be negative");
  says(robot(ab + joint("j", "revolute", "a", "b")), "4", "has no <limit>");
  says(robot(ab + joint("j", "continuous", "a", "b", "<mimic joint='k'/>")), "4",
       "joint 'k' does not exist");
  says(robot(ab + joint("j", "continuous", "a", "b", "<mimic joint='j'/>")), "4", "mimics itself");
  says(robot(ab + joint("j", "continuous", "a", "b", "<dynamics damping='-1'/>")), "4",
       "damping -1 must not be negative");
  says(robot(ab), "3", "link 'b' has no path to 'a'; add a joint");
  says(robot("<link name='world'/>\n" + link("b")), "3", "link 'b' has no path to 'world'");
  says(robot(ab + joint("j", "fixed", "a", "a")), "4", "the same link 'a'");
  says(robot(ab + "<joint name='j' type='fixed'><parent link='a'/></joint>\n"), "4",
       "has no <child link=");
  says(robot("<link name='a'><inertial><mass value='-1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' "
             "iyz='0' izz='1'/></inertial></link>"),
       "2", "mass -1 must not be negative");
  says(robot("<link name='a'><inertial><mass value='1'/></inertial></link>"), "2",
       "has no <inertia");
  says(robot("<link name='a'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' "
             "iyz='0'/></inertial></link>"),
       "2", "no attribute 'izz'");
  says(robot("<link name='a'><visual><geometry><box/></geometry></visual></link>"), "2",
       "no attribute 'size'");
  says("<robot name='r'>\n<link name='a'>\n</robot>", "2", "malformed XML");
}

TEST(Urdf, AllMistakesAtOnce) {
  const std::vector<std::string> list =
      problems(robot(link("a") + link("a") + joint("j", "fixed", "a", "x") +
                     joint("k", "continuous", "a", "b", "<axis xyz='0 0 0'/>")));
  EXPECT_EQ(list.size(), 4u);
}

TEST(Urdf, TenThousandLinksInUnderTwoSeconds) {
  for (const bool chain : {true, false}) {
    std::string text = link("l0");
    for (int i = 1; i < 10000; ++i) {
      const std::string name = "l" + std::to_string(i);
      text += link(name) + joint("j" + std::to_string(i), "continuous",
                                 chain ? "l" + std::to_string(i - 1) : "l0", name,
                                 "<origin xyz='0 0 1' rpy='0.1 0 0'/>");
    }
    const std::clock_t start = std::clock();  // processor time: the machine may be busy
    const Mechanism m = MechanismBuilder(good(robot(text))).finish();
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_EQ(m.freedoms(), 9999);
    EXPECT_LT(seconds, kSeconds);
  }
}

}  // namespace
}  // namespace catena
