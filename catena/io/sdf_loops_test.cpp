// Closed loops as public SDF files write them: unassembled, through frames on the ground, across
// nested models, beside the extensions of other programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/io/sdf.h"

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

std::string model(const std::string& inside) {
  return "<sdf version='1.7'>\n<model name='m'>\n" + inside + "</model>\n</sdf>\n";
}

const Hinge& hinge(const Description& d, const std::string& name) {
  for (const Hinge& h : d.hinges)
    if (h.name == name) return h;
  throw NameError("no hinge " + name);
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
      model(kBars + pin("A", "ground_left", "crank") + pin("D", "ground_right", "rocker") +
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
      model(kBars + pin("A", "ground_left", "crank") + pin("B", "crank_tip", "coupler") +
            pin("C", "coupler_end", "rocker_tip") + pin("D", "rocker", "ground_right")),
      "m.sdf");
  const Description& d = reading.description;
  EXPECT_EQ(hinge(d, "D").child, kWorld);
  EXPECT_EQ(MechanismBuilder(d).finish({.strict = false}).loops().size(), 1u);
}

// A link as parent, or a pose: the zero of the joint is where the file puts the links.
TEST(SdfLoops, TheFormatsOwnMeaningHoldsForLinksAndPoses) {
  const Reading reading =
      read_sdf_text(model(kBars + pin("A", "world", "crank") + pin("B", "crank", "coupler") +
                          pin("C", "coupler_end", "rocker_tip", "<pose>0 0 0 0 0 0</pose>") +
                          pin("D", "world", "rocker")),
                    "m.sdf");
  EXPECT_TRUE(reading.diagnostics.empty());
  expect_ends(reading.description, "A", {0, 0, 0}, {0, 0, 0});
  expect_ends(reading.description, "C", {0, 2, 0}, {0, 2, 0});
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
  const std::string text =
      model("<drake:linear_bushing name='x'/>\n<drake:ball_constraint/>\n" + bar("a", 1) +
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
