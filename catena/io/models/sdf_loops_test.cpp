// SPDX-License-Identifier: BSD-3-Clause
// Closed loops as public SDF files write them: unassembled, through frames on the ground, across
// nested models, beside the extensions of other programs.
#include <numbers>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/io/models/sdf.h"
#include "catena/io/testing/description_equality.h"

namespace catena {
namespace {

using testing::HasSubstr;

std::string bar(const std::string& name, double mass) {
  const std::string moment = std::to_string(mass);
  return "<link name='" + name + "'><inertial><mass>" + moment + "</mass><inertia><ixx>" + moment +
         "</ixx><iyy>" + moment + "</iyy><izz>" + moment + "</izz></inertia></inertial></link>\n";
}
std::string frame(const std::string& name, const std::string& attached_to,
                  const std::string& place) {
  return "<frame name='" + name + "' attached_to='" + attached_to + "'><pose>" + place +
         " 0 0 0</pose></frame>\n";
}
std::string pin(const std::string& name, const std::string& parent, const std::string& child,
                const std::string& more = "") {
  return "<joint name='" + name + "' type='revolute'><parent>" + parent + "</parent><child>" +
         child + "</child>" + more +
         "<axis><xyz expressed_in='__model__'>0 0 1</xyz></axis></joint>\n";
}

// Three bars that all lie in the origin, and the four places where they are pinned.
const std::string kBars =
    bar("crank", 1) + bar("coupler", 2) + bar("rocker", 3) +
    frame("ground_left", "world", "-2 0 0") + frame("ground_right", "world", "2 0 0") +
    frame("crank_tip", "crank", "0 1 0") + frame("coupler_end", "coupler", "4.5 0 0") +
    frame("rocker_tip", "rocker", "0 2 0");

std::string model_of(const std::string& inside) {
  return "<sdf version='1.7'>\n<model name='m'>\n" + inside + "</model>\n</sdf>\n";
}

void expect_ends(const Description& d, const std::string& name, const Vec3d& on_parent,
                 const Vec3d& on_child) {
  const Hinge& h = hinge(d, name);
  EXPECT_NEAR(norm(h.frame_on_parent.translation - on_parent), 0.0, 1e-14) << name;
  EXPECT_NEAR(norm(h.frame_on_child.translation - on_child), 0.0, 1e-14) << name;
  EXPECT_NEAR(norm(log(h.frame_on_parent.rotation)), 0.0, 1e-14) << name;
}

TEST(SdfLoops, UnassembledFourBarBetweenFramesOfTheWorld) {
  const Reading reading = read_sdf_text(
      model_of(kBars + pin("A", "ground_left", "crank") + pin("D", "ground_right", "rocker") +
               pin("B", "crank_tip", "coupler") + pin("C", "coupler_end", "rocker_tip")),
      "m.sdf");
  ASSERT_EQ(reading.diagnostics.size(), 4u);  // a notice for each joint
  for (const Diagnostic& notice : reading.diagnostics) {
    EXPECT_EQ(notice.severity, Severity::warning);
    EXPECT_THAT(notice.message, HasSubstr("are apart; the joint holds them together"));
  }
  const Description& d = reading.description;
  expect_ends(d, "A", {-2, 0, 0}, {0, 0, 0});
  expect_ends(d, "B", {0, 1, 0}, {0, 0, 0});
  expect_ends(d, "C", {4.5, 0, 0}, {0, 2, 0});
  expect_ends(d, "D", {2, 0, 0}, {0, 0, 0});
  EXPECT_EQ(hinge(d, "A").parent, kWorld);
  EXPECT_EQ(hinge(d, "D").parent, kWorld);
  const Mechanism m = MechanismBuilder(d).finish();
  EXPECT_EQ(m.freedoms(), 3);
  ASSERT_EQ(m.loops().size(), 1u);
  EXPECT_EQ(m.loops()[0].bodies.size(), 3u);
}

// The loop closed by a joint whose child is on the ground.
TEST(SdfLoops, FrameOfTheWorldAsAChild) {
  const Reading reading = read_sdf_text(
      model_of(kBars + pin("A", "ground_left", "crank") + pin("B", "crank_tip", "coupler") +
               pin("C", "coupler_end", "rocker_tip") + pin("D", "rocker", "ground_right")),
      "m.sdf");
  const Description& d = reading.description;
  EXPECT_EQ(hinge(d, "D").child, kWorld);
  EXPECT_EQ(MechanismBuilder(d).finish({.strict = false}).loops().size(), 1u);
}

// A link as parent, or a pose: the zero of the joint is where the file puts the links.
TEST(SdfLoops, TheFormatsOwnMeaningHoldsForLinksAndPoses) {
  const Reading reading =
      read_sdf_text(model_of(kBars + pin("A", "world", "crank") + pin("B", "crank", "coupler") +
                             pin("C", "coupler_end", "rocker_tip", "<pose>0 0 0 0 0 0</pose>") +
                             pin("D", "world", "rocker")),
                    "m.sdf");
  EXPECT_TRUE(reading.diagnostics.empty());
  expect_ends(reading.description, "A", {0, 0, 0}, {0, 0, 0});
  expect_ends(reading.description, "C", {0, 2, 0}, {0, 2, 0});
}

std::string numbers(const Transformd& pose) {
  const Quaterniond q = to_quaternion(pose.rotation);
  std::ostringstream text;
  text.precision(17);
  text << "<pose rotation_format='quat_xyzw'>" << pose.translation.x << " " << pose.translation.y
       << " " << pose.translation.z << " " << q.x << " " << q.y << " " << q.z << " " << q.w
       << "</pose>";
  return text.str();
}

// Two links whose frames are near a pose that the joint can hold, but not in it: zero is that pose,
// and the joint holds the frames exactly as it says.
class LinksApart : public testing::Test {
 protected:
  Hinge read(const std::string& type, const Transformd& held, const std::string& inside) const {
    const Transformd X_model_a{Rotationd::from_rpy(0.3, -0.8, 1.1), {1.0, 2.0, 3.0}};
    const Transformd X_model_b = X_model_a * on_a * held * off * on_b.inverse();
    std::string b = bar("b", 1);
    b.insert(b.find("<inertial>"), numbers(X_model_b));
    std::string a = bar("a", 1);
    a.insert(a.find("<inertial>"), numbers(X_model_a));
    const Reading reading =
        read_sdf_text(model_of(a + b + "<frame name='f' attached_to='a'>" + numbers(on_a) +
                               "</frame>" + "<frame name='g' attached_to='b'>" + numbers(on_b) +
                               "</frame>" + "<joint name='j' type='" + type +
                               "'><parent>f</parent><child>g</child>" + inside + "</joint>"),
                      "m.sdf");
    EXPECT_EQ(reading.diagnostics.size(), 1u);  // apart
    return hinge(reading.description, "j");
  }
  // Of the child's frame in the parent's at zero.
  Transformd zero(const Hinge& h) const {
    EXPECT_LT(distance(h.frame_on_child, on_b), 1e-14);
    return on_a.inverse() * h.frame_on_parent;
  }
  static double distance(const Transformd& a, const Transformd& b) {
    const Transformd apart = a.inverse() * b;
    return norm(log(apart.rotation)) + norm(apart.translation);
  }

  const Transformd on_a{Rotationd::from_rpy(0.1, 0.5, -0.4), {0.3, -0.2, 0.6}};
  const Transformd on_b{Rotationd::from_rpy(-0.7, 0.2, 0.9), {-0.1, 0.4, 0.2}};
  const Transformd off{exp_rotation(Vec3d{0.004, -0.006, 0.005}), {0.003, 0.005, -0.004}};
  const double most = 0.05;  // a few times what `off` is
  const Vec3d axis = normalized(Vec3d{1.0, 2.0, -2.0});
  const std::string kAxis = "<axis><xyz>1 2 -2</xyz></axis>";
};

TEST_F(LinksApart, StandInARevoluteJointAsTheyAreDrawn) {
  const Transformd held{exp_rotation(2.5 * axis), {}};
  const Transformd at = zero(read("revolute", held, kAxis));
  EXPECT_LT(distance(at, held), most);
  EXPECT_LT(norm(at.translation), 1e-14);
  EXPECT_LT(norm(cross(axis, log(at.rotation))), 1e-14);
}

TEST_F(LinksApart, StandInAPrismaticJointAsTheyAreDrawn) {
  const Transformd held{{}, 0.7 * axis};
  const Transformd at = zero(read("prismatic", held, kAxis));
  EXPECT_LT(distance(at, held), most);
  EXPECT_LT(norm(log(at.rotation)) + norm(cross(axis, at.translation)), 1e-14);
}

TEST_F(LinksApart, StandInABallJointAsTheyAreDrawn) {
  const Transformd held{Rotationd::from_rpy(0.4, -1.0, 2.0), {}};
  const Transformd at = zero(read("ball", held, ""));
  EXPECT_LT(norm(at.translation), 1e-14);
  EXPECT_LT(norm(log((held.rotation * off.rotation).inverse() * at.rotation)), 1e-14);
}

TEST_F(LinksApart, StandInAScrewJointAsTheyAreDrawn) {
  const double pitch = 0.3;  // metres per radian; more than a whole turn
  const Transformd held{exp_rotation(8.0 * axis), 8.0 * pitch * axis};
  const Hinge h =
      read("screw", held,
           kAxis + "<screw_thread_pitch>" + std::to_string(2.0 * std::numbers::pi * pitch) +
               "</screw_thread_pitch>");
  const Transformd at = zero(h);
  EXPECT_LT(distance(at, held), most);
  const double angle = dot(axis, at.translation) / h.pitch;
  EXPECT_LT(distance(at, {exp_rotation(angle * axis), angle * h.pitch * axis}), 1e-13);
}

TEST_F(LinksApart, StandInAUniversalJointAsTheyAreDrawn) {
  const Vec3d second = normalized(Vec3d{2.0, 0.5, 1.0});  // not quite across the first
  const Transformd held{exp_rotation(0.9 * axis) * exp_rotation(-0.6 * second), {}};
  const Hinge h = read("universal", held, kAxis + "<axis2><xyz>2 0.5 1</xyz></axis2>");
  const Transformd at = zero(h);
  EXPECT_LT(distance(at, held), most);
  EXPECT_LT(norm(at.translation), 1e-14);
  // The axes stay where they are on the two links.
  EXPECT_LT(norm(at.rotation * normalized(h.axes[0]) - axis), 1e-14);
  EXPECT_LT(norm(normalized(h.axes[1]) - second), 1e-14);
  EXPECT_NEAR(dot(axis, at.rotation * second), dot(axis, second), 1e-14);
}

TEST(SdfLoops, AcrossNestedModels) {
  const Reading reading = read_sdf_text(
      "<sdf version='1.9'>\n<world name='w'><gravity>0 0 -9.81</gravity>\n<model "
      "name='machine'>\n" +
          bar("crank", 1) + frame("tip", "crank", "0 1 0") + "<model name='far'>\n" +
          bar("coupler", 2) + frame("end", "coupler", "4.5 0 0") + "<model name='side'>" +
          bar("rocker", 3) + frame("tip", "rocker", "0 2 0") + "</model>\n" +
          pin("C", "end", "side::tip") + "</model>\n" + pin("A", "world", "crank") +
          pin("B", "tip", "far::coupler") + "</model>\n" + frame("post", "world", "2 0 0") +
          "<joint name='D' type='revolute'><parent>post</parent>"
          "<child>machine::far::side::rocker</child><axis><xyz>0 0 1</xyz></axis></joint>\n"
          "</world>\n</sdf>\n",
      "m.sdf");
  EXPECT_EQ(reading.diagnostics.size(), 3u);
  for (const Diagnostic& d : reading.diagnostics)
    EXPECT_THAT(d.text(), HasSubstr("warning: joint ")) << d.text();
  const Description& d = reading.description;
  EXPECT_EQ(hinge(d, "machine::far::C").parent, "machine::far::coupler");
  EXPECT_EQ(hinge(d, "machine::far::C").child, "machine::far::side::rocker");
  expect_ends(d, "machine::far::C", {4.5, 0, 0}, {0, 2, 0});
  expect_ends(d, "machine::B", {0, 1, 0}, {0, 0, 0});
  expect_ends(d, "D", {2, 0, 0}, {0, 0, 0});
  const Mechanism m = MechanismBuilder(d).finish();
  EXPECT_EQ(m.freedoms(), 3);
  EXPECT_EQ(m.loops().size(), 1u);
}

TEST(SdfLoops, ExtensionsOfOtherProgramsAreWarnings) {
  const std::string text = model_of(
      "<drake:linear_bushing name='x'/>\n<drake:ball_constraint/>\n" + bar("a", 1) +
      "<link name='b'><inertial><mass>1</mass></inertial><gz:thing xmlns:gz='x'/></link>\n" +
      pin("j", "a", "b", "<experimental:note/>"));
  const std::vector<Diagnostic> found = read_sdf_text(text, "m.sdf").diagnostics;
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].text(),
            "m.sdf:3: warning: tags of the namespace 'drake' are not part of SDF and are ignored");
  EXPECT_THAT(found[1].text(), HasSubstr("m.sdf:6: warning: tags of the namespace 'gz'"));
  EXPECT_THAT(found[2].text(), HasSubstr("m.sdf:7: warning: tags of the namespace 'experimental'"));
}

}  // namespace
}  // namespace catena
