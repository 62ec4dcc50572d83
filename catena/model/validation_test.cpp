// SPDX-License-Identifier: BSD-3-Clause
// Every wrong input is named, and all of them at once.
#include "catena/model/validation.h"

#include <functional>
#include <limits>

#include "catena/model/testing/arm_model.h"

namespace catena {
namespace {

using namespace test;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Rod rod(const std::string& a, const std::string& b, double length = 1.0) {
  return {.name = "strut", .body_a = a, .body_b = b, .length = length};
}
SpringDamper spring(const std::string& a, const std::string& b) {
  return {.name = "coil", .body_a = a, .body_b = b, .stiffness = 1.0};
}
FreedomSettings& freedom(MechanismBuilder& b) {
  b.hinge("elbow").freedoms.resize(1);
  return b.hinge("elbow").freedoms[0];
}
DriveSettings& drive(MechanismBuilder& b) {
  b.hinge("elbow").drive.emplace();
  return *b.hinge("elbow").drive;
}

struct Mistake {
  const char* name;
  std::function<void(MechanismBuilder&)> make;
  std::vector<std::string> words;
};

const std::vector<Mistake>& mistakes() {
  using B = MechanismBuilder&;
  static const std::vector<Mistake> kAll = {
      {"UnknownParent",
       [](B b) { b.add_body("hand", ball()).add_hinge("wrist", "lowr", "hand"); },
       {"'wrist'", "parent 'lowr'", "did you mean 'lower'"}},
      {"UnknownChild",
       [](B b) { b.add_hinge("wrist", "lower", "hand"); },
       {"'wrist'", "child 'hand'"}},
      {"DuplicateBody", [](B b) { b.add_body("lower", ball()); }, {"body 'lower'", "twice"}},
      {"DuplicateHinge",
       [](B b) { b.add_hinge("elbow", kWorld, "lower"); },
       {"hinge 'elbow'", "twice"}},
      {"DuplicateFrame",
       [](B b) { b.add_frame("f", "lower", {}).add_frame("f", "upper", {}); },
       {"frame 'f'", "twice"}},
      {"NoName",
       [](B b) { b.add_body("", ball()).add_hinge("h", kWorld, ""); },
       {"a body has no name"}},
      {"WorldDefined", [](B b) { b.add_body(kWorld, ball()); }, {"'world'", "ground"}},
      {"ControlCharacter",
       [](B b) { b.add_body("a\x1b[31m", ball()).add_hinge("h", kWorld, "a\x1b[31m"); },
       {"body 'a?[31m'", "control character"}},
      {"NoPathToTheWorld",
       [](B b) { b.add_body("moon", ball()); },
       {"body 'moon'", "no path to the world", "add a hinge"}},
      {"OnlyHingesThatAreAlwaysCut",
       [](B b) {
         b.add_body("moon", ball());
         b.add_hinge("near", "lower", "moon", {.cut = Cut::always});
         b.add_hinge("far", "moon", "upper", {.cut = Cut::always});
       },
       {"body 'moon'", "no path to the world", "always cut are 'near' and 'far'"}},
      {"SameBody", [](B b) { b.add_hinge("h", "lower", "lower"); }, {"'h'", "'lower'", "same"}},
      {"ZeroAxis",
       [](B b) {
         b.hinge("elbow").axes = {{0, 0, 0}};
       },
       {"'elbow'", "(0, 0, 0)", "zero"}},
      {"NanAxis",
       [](B b) {
         b.hinge("elbow").axes = {{0, kNan, 0}};
       },
       {"'elbow'", "axis"}},
      {"LongAxis",  // its square is infinite
       [](B b) {
         b.hinge("elbow").axes = {{1e160, 0, 0}};
       },
       {"'elbow'", "axis (1e+160, 0, 0)", "beyond 1e+100"}},
      {"SecondAxisOfThree",
       [](B b) {
         set_type(b, HingeType::gimbal, {{1, 0, 0}, {0, 0, 0}, {0, 0, 1}});
       },
       {"'elbow'", "axis 2, (0, 0, 0)", "zero"}},
      {"TooManyAxes",
       [](B b) {
         b.hinge("elbow").axes = {{1, 0, 0}, {0, 1, 0}};
       },
       {"'elbow'", "revolute", "1 axis, not 2"}},
      {"AxisOfABall",
       [](B b) {
         set_type(b, HingeType::spherical, {{1, 0, 0}});
       },
       {"'elbow'", "spherical", "no axis, not 1"}},
      {"OneAxisOfTwo",
       [](B b) {
         set_type(b, HingeType::universal, {{1, 0, 0}});
       },
       {"'elbow'", "universal", "not 1"}},
      {"ParallelAxes",
       [](B b) {
         set_type(b, HingeType::universal, {{1, 0, 0}, {-2, 0, 0}});
       },
       {"'elbow'", "axes 1 and 2 are parallel"}},
      {"ParallelPlane",
       [](B b) {
         set_type(b, HingeType::planar, {{1, 0, 0}, {1, 0, 0}});
       },
       {"'elbow'", "parallel"}},
      {"NanMass", [](B b) { b.set_mass("lower", kNan); }, {"'lower'", "mass nan"}},
      {"InfiniteMass", [](B b) { b.set_mass("lower", kInfinity); }, {"'lower'", "mass inf"}},
      {"NegativeMass", [](B b) { b.set_mass("lower", -2.5); }, {"'lower'", "-2.5"}},
      {"NanCentre",
       [](B b) { b.body("lower").center_of_mass.y = kNan; },
       {"'lower'", "centre of mass"}},
      {"HugeMass", [](B b) { b.set_mass("lower", 1e101); }, {"'lower'", "mass 1e+101", "beyond"}},
      {"FarCentre",  // mass times the square of this is infinite
       [](B b) { b.body("lower").center_of_mass.y = 1e160; },
       {"'lower'", "centre of mass", "beyond 1e+100"}},
      {"FarFrame",
       [](B b) { b.hinge("elbow").frame_on_parent.translation.x = 1e200; },
       {"'elbow'", "frame on the parent", "beyond 1e+100"}},
      {"NanInertia", [](B b) { b.body("lower").inertia.xz = kNan; }, {"'lower'", "inertia"}},
      {"SkewInertiaAxes",
       [](B b) { b.body("lower").inertia_axes.matrix.m[0][1] = 0.1; },
       {"'lower'", "orthonormal"}},
      {"NanInertiaAxes",
       [](B b) { b.body("lower").inertia_axes.matrix.m[2][2] = kNan; },
       {"'lower'", "orthonormal"}},
      {"NegativeInertia",
       [](B b) { b.body("lower").inertia = SymMat3d::diagonal(1.0, 1.0, -0.5); },
       {"'lower'", "-0.5", "negative"}},
      {"ImpossibleInertia",
       [](B b) { b.body("lower").inertia = SymMat3d::diagonal(1.0, 1.0, 5.0); },
       {"'lower'", "(1, 1, 5)", "triangle"}},
      {"InertiaWithoutMass", [](B b) { b.set_mass("lower", 0.0); }, {"'lower'", "no mass"}},
      {"NanVisual",
       [](B b) { b.body("lower").visuals.push_back({.radius = kNan}); },
       {"'lower'", "visual"}},
      {"NanFrame",
       [](B b) { b.hinge("elbow").frame_on_child.translation.z = kNan; },
       {"'elbow'", "frame on the child"}},
      {"SkewFrame",
       [](B b) { b.hinge("elbow").frame_on_parent.rotation.matrix.m[0][0] = 1.1; },
       {"'elbow'", "frame on the parent", "orthonormal"}},
      {"MirrorFrame",
       [](B b) { b.hinge("elbow").frame_on_parent.rotation.matrix.m[0][0] = -1; },
       {"'elbow'", "frame on the parent", "orthonormal"}},
      {"NanPitch",
       [](B b) {
         set_type(b, HingeType::screw);
         b.hinge("elbow").pitch = kNan;
       },
       {"'elbow'", "pitch"}},
      {"NanGravity",
       [](B b) {
         b.set_gravity({0, kNan, 0});
       },
       {"gravity"}},
      {"LowerAboveUpper",
       [](B b) {
         freedom(b).lower = 2.0;
         freedom(b).upper = 1.0;
       },
       {"'elbow'", "lower limit 2", "upper limit 1"}},
      {"NanLimit", [](B b) { freedom(b).upper = kNan; }, {"'elbow'", "limit"}},
      {"LimitsThatLeaveNothing",
       [](B b) { freedom(b).lower = kInfinity; },
       {"'elbow'", "limits inf and inf", "no position"}},
      {"NanVelocityLimit",
       [](B b) { freedom(b).velocity_limit = kNan; },
       {"'elbow'", "velocity limit nan is not a number"}},
      {"NegativeVelocityLimit",
       [](B b) { freedom(b).velocity_limit = -1.0; },
       {"'elbow'", "velocity limit -1"}},
      {"NegativeEffortLimit",
       [](B b) { freedom(b).effort_limit = -3.0; },
       {"'elbow'", "effort limit -3"}},
      {"NegativeDamping", [](B b) { freedom(b).damping = -0.1; }, {"'elbow'", "damping -0.1"}},
      {"NegativeStiffness", [](B b) { freedom(b).stiffness = -7.0; }, {"'elbow'", "stiffness -7"}},
      {"NanRest", [](B b) { freedom(b).rest = kNan; }, {"'elbow'", "rest"}},
      {"NegativeFriction",
       [](B b) { freedom(b).friction.sliding = -1.0; },
       {"'elbow'", "sliding friction -1"}},
      {"BreakawayBelowSliding",
       [](B b) { freedom(b).friction = {.sliding = 2.0, .breakaway = 1.0}; },
       {"'elbow'", "breakaway friction 1", "sliding friction 2"}},
      {"NoTransitionVelocity",
       [](B b) { freedom(b).friction = {.sliding = 2.0, .transition_velocity = 0.0}; },
       {"'elbow'", "transition velocity"}},
      {"TooManyFreedoms",
       [](B b) { b.hinge("elbow").freedoms.resize(2); },
       {"'elbow'", "2 freedoms", "has 1"}},
      {"StiffBall",
       [](B b) {
         set_type(b, HingeType::spherical);
         freedom(b).stiffness = 1.0;
       },
       {"'elbow'", "spherical", "no coordinate"}},
      {"InitialPositionSize",
       [](B b) {
         b.hinge("elbow").initial_position = {1.0, 2.0};
       },
       {"'elbow'", "initial position", "2 numbers", "1 is needed"}},
      {"InitialVelocityNan",
       [](B b) { b.hinge("elbow").initial_velocity = {kNan}; },
       {"'elbow'", "initial velocity"}},
      {"LockSize",
       [](B b) {
         b.lock("elbow", {1.0, 2.0, 3.0});
       },
       {"'elbow'", "locked position", "3 numbers"}},
      {"ZeroQuaternion",
       [](B b) {
         set_type(b, HingeType::spherical);
         b.hinge("elbow").initial_position = {0.0, 0.0, 0.0, 0.0};
       },
       {"'elbow'", "quaternion", "initial position"}},
      {"LongLockedQuaternion",  // its square is infinite
       [](B b) {
         set_type(b, HingeType::spherical);
         b.lock("elbow", {0.0, 1e200, 0.0, 0.0});
       },
       {"'elbow'", "locked position", "beyond 1e+100"}},
      {"ZeroLockedQuaternion",
       [](B b) {
         set_type(b, HingeType::free);
         b.lock("elbow", {0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0});
       },
       {"'elbow'", "quaternion", "locked position"}},
      {"CustomWithoutFunctions",
       [](B b) { set_type(b, HingeType::custom); },
       {"'elbow'", "custom"}},
      {"DriveOnThreeFreedoms",
       [](B b) {
         set_type(b, HingeType::gimbal);
         drive(b);
       },
       {"'elbow'", "drive", "this has 3"}},
      {"NegativeRotor",
       [](B b) { drive(b).rotor_inertia = -1e-3; },
       {"'elbow' drive", "rotor inertia -0.001"}},
      {"ZeroRatio", [](B b) { drive(b).gear_ratio = 0.0; }, {"'elbow' drive", "gear ratio 0"}},
      {"UnknownCarrier",
       [](B b) {
         drive(b) = {.carrier = "motor", .rotor_axis = Vec3d{0, 0, 1}};
       },
       {"'elbow' drive", "carrier 'motor'"}},
      {"ZeroRotorAxis",
       [](B b) {
         drive(b).rotor_axis = Vec3d{0, 0, 0};
       },
       {"'elbow' drive", "rotor axis"}},
      {"CarrierWithoutAxis",
       [](B b) { drive(b).carrier = "lower"; },
       {"'elbow' drive", "rotor axis"}},
      {"FrameOnUnknownBody",
       [](B b) { b.add_frame("tool", "hand", {}); },
       {"frame 'tool'", "'hand'"}},
      {"RodLength",
       [](B b) { b.add_rod(rod("upper", kWorld, -1.0)); },
       {"rod 'strut'", "length -1"}},
      {"RodEnd", [](B b) { b.add_rod(rod("upper", "nowhere")); }, {"rod 'strut'", "'nowhere'"}},
      {"RodOnOneBody", [](B b) { b.add_rod(rod("upper", "upper")); }, {"rod 'strut'", "'upper'"}},
      {"SpringEnd",
       [](B b) { b.add_spring(spring("nowhere", "upper")); },
       {"spring 'coil'", "'nowhere'"}},
      {"SpringNan",
       [](B b) {
         SpringDamper s = spring("upper", kWorld);
         s.stiffness = kNan;
         b.add_spring(s);
       },
       {"spring 'coil'", "stiffness nan"}},
      {"CouplingOfNothing", [](B b) { b.add_coupling({.name = "gear"}); }, {"'gear'", "no terms"}},
      {"CouplingUnknownHinge",
       [](B b) { b.add_gear("gear", "elbow", "shoudler", 2.0); },
       {"'gear'", "'shoudler'", "did you mean 'shoulder'"}},
      {"CouplingFreedom",
       [](B b) {
         b.add_coupling({.name = "gear", .terms = {{"elbow", 1, 1.0}}});
       },
       {"'gear'", "'elbow'", "no freedom 1"}},
      {"CouplingOfALockedHinge",
       [](B b) { b.lock("elbow").add_gear("gear", "elbow", "shoulder", 2.0); },
       {"'gear'", "'elbow'", "locked", "lock its other hinges too"}},
      {"CouplingOfABall",
       [](B b) {
         set_type(b, HingeType::spherical);
         b.add_gear("gear", "elbow", "shoulder", 2.0);
       },
       {"'gear'", "'elbow'", "spherical"}},
      {"CouplingNan",
       [](B b) { b.add_gear("gear", "elbow", "shoulder", kNan); },
       {"'gear'", "'shoulder'", "not finite"}},
      {"CouplingZero",
       [](B b) {
         b.add_coupling({.name = "gear", .terms = {{"elbow", 0, 0.0}}});
       },
       {"'gear'", "zero"}},
      {"CouplingWithItself",
       [](B b) { b.add_gear("gear", "elbow", "elbow", 2.0); },
       {"'gear'", "'elbow'", "twice"}},
      {"CoupledAndCut",
       [](B b) {
         b.hinge("elbow").cut = Cut::always;
         b.add_hinge("other", "upper", "lower").add_gear("gear", "elbow", "shoulder", 2.0);
       },
       {"'gear'", "'elbow'", "cut"}},
      {"CoupledAndWithinTheGround",  // its loop has no body that moves
       [](B b) {
         b.add_body("post", ball()).add_hinge("nail", kWorld, "post", {.type = HingeType::weld});
         b.add_hinge("stuck", kWorld, "post").add_gear("gear", "stuck", "shoulder", 2.0);
       },
       {"'gear'", "'stuck'", "cut"}},
      {"CoordinateNameTwice",
       [](B b) {
         set_type(b, HingeType::cylindrical);
         b.add_body("hand", ball()).add_hinge("elbow.angle", "lower", "hand");
       },
       {"'elbow.angle'", "name"}},
      {"NoInertia",
       [](B b) { b.add_body("hand").add_hinge("wrist", "lower", "hand"); },
       {"'wrist'", "'hand'", "no inertia"}},
  };
  return kAll;
}

class OneMistake : public testing::TestWithParam<std::size_t> {};

TEST_P(OneMistake, IsNamedAndNothingElseIs) {
  const Mistake& mistake = mistakes()[GetParam()];
  MechanismBuilder b = arm();
  ASSERT_TRUE(problems_of(b).empty());
  mistake.make(b);
  const auto problems = problems_of(b);
  EXPECT_TRUE(mentions(problems, mistake.words)) << text(problems);
  EXPECT_EQ(problems.size(), 1u) << text(problems);
}

INSTANTIATE_TEST_SUITE_P(Mistakes, OneMistake, testing::Range<std::size_t>(0, mistakes().size()),
                         [](const auto& param) { return mistakes()[param.param].name; });

TEST(AllMistakes, AreReportedAtOnce) {
  MechanismBuilder b = arm();
  const BodySettings good = ball();
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) b.add_body(name, good);
  b.add_hinge("ha", "uper", "a");                         // unknown parent
  b.add_body("lower", good);                              // duplicate name
  b.add_body("moon", good);                               // no path to the world
  b.add_hinge("hb", kWorld, "b", {.axes = {{0, 0, 0}}});  // zero axis
  b.add_hinge("hc", kWorld, "c").set_mass("c", kNan);     // NaN
  b.add_hinge("hd", kWorld, "d", {.freedoms = {{.lower = 1.0, .upper = -1.0}}});
  b.add_body("leaf").add_hinge("he", "d", "leaf");  // hinge without inertia
  b.add_hinge("hf", kWorld, "e", {.initial_position = {1.0, 2.0}});
  b.body("f").inertia = SymMat3d::diagonal(1.0, 1.0, 5.0);  // impossible inertia
  b.add_hinge("hg", kWorld, "f");
  b.add_hinge("ha", kWorld, "g");  // duplicate hinge
  b.add_gear("gear", "he", "nothing", 1.0);
  b.add_frame("frame", "nobody", {});
  const auto problems = problems_of(b);
  EXPECT_TRUE(mentions(problems, {"'ha'", "'uper'"}));
  EXPECT_TRUE(mentions(problems, {"body 'lower'", "twice"}));
  EXPECT_TRUE(mentions(problems, {"'moon'", "no path"}));
  EXPECT_TRUE(mentions(problems, {"'hb'", "zero"}));
  EXPECT_TRUE(mentions(problems, {"'c'", "nan"}));
  EXPECT_TRUE(mentions(problems, {"'hd'", "lower limit 1"}));
  EXPECT_TRUE(mentions(problems, {"'he'", "'leaf'", "no inertia"}));
  EXPECT_TRUE(mentions(problems, {"'hf'", "initial position"}));
  EXPECT_TRUE(mentions(problems, {"'f'", "triangle"}));
  EXPECT_TRUE(mentions(problems, {"hinge 'ha'", "twice"}));
  EXPECT_TRUE(mentions(problems, {"'gear'", "'nothing'"}));
  EXPECT_TRUE(mentions(problems, {"'frame'", "'nobody'"}));
  EXPECT_EQ(problems.size(), 12u) << text(problems);
}

TEST(AllMistakes, OfOneThingAreReportedAtOnce) {
  MechanismBuilder b = arm();
  b.body("upper").mass = kNan;
  b.body("upper").center_of_mass.x = kNan;
  b.body("upper").inertia = SymMat3d::diagonal(-1.0, 1.0, 9.0);
  set_type(b, HingeType::gimbal, {{0, 0, 0}, {0, 0, kNan}, {0, 0, 0}});
  const auto problems = problems_of(b);
  EXPECT_TRUE(mentions(problems, {"'upper'", "mass nan"}));
  EXPECT_TRUE(mentions(problems, {"'upper'", "centre of mass"}));
  EXPECT_TRUE(mentions(problems, {"'upper'", "moments", "(-1, 1, 9)"}));
  for (const char* axis : {"axis 1,", "axis 2,", "axis 3,"})
    EXPECT_TRUE(mentions(problems, {"'elbow'", axis})) << axis;
  EXPECT_EQ(problems.size(), 6u) << text(problems);
}

TEST(Doubts, AreWarnings) {
  MechanismBuilder b = arm();
  freedom(b).lower = -1.0;
  freedom(b).upper = 1.0;
  b.hinge("elbow").initial_position = {5.0};
  b.hinge("shoulder").type = HingeType::spherical;
  b.hinge("shoulder").initial_position = {2.0, 0.0, 0.0, 0.0};
  b.add_frame("lower", "upper", {});
  b.hinge("elbow").pitch = 0.1;
  const Mechanism m = b.finish();
  EXPECT_TRUE(mentions(m.warnings(), {"'elbow'", "initial position 5", "-1 to 1"}));
  EXPECT_TRUE(mentions(m.warnings(), {"'shoulder'", "quaternion", "length 2", "scaled to 1"}));
  EXPECT_TRUE(mentions(m.warnings(), {"frame 'lower'", "body"}));
  EXPECT_TRUE(mentions(m.warnings(), {"'elbow'", "revolute", "no pitch", "screw"}));
  EXPECT_EQ(m.warnings().size(), 4u) << text(m.warnings());
  // Few digits are none.
  b.hinge("shoulder").initial_position = {0.7, 0.7, 0.0, 0.0};
  EXPECT_EQ(b.finish().warnings().size(), 3u);
}

TEST(AllMistakes, OfTheListTogetherDoNotCrash) {
  MechanismBuilder b = arm();
  for (const Mistake& mistake : mistakes()) mistake.make(b);
  EXPECT_GT(problems_of(b).size(), 30u);
}

TEST(AllMistakes, HaveTheirFileAndLine) {
  MechanismBuilder b = arm();
  b.body("lower").source = {"arm.yaml", 7};
  b.set_mass("lower", -1.0);
  EXPECT_EQ(problems_of(b).at(0).text(),
            "arm.yaml:7: error: body 'lower': mass -1 must not be negative");
  MechanismBuilder twice = arm();
  twice.body("lower").source = {"arm.yaml", 7};
  twice.add_body("lower", ball());
  EXPECT_TRUE(mentions(problems_of(twice), {"(first in line 7)"}));
}

TEST(Strictness, TurnsDoubtfulInertiasIntoWarnings) {
  for (const SymMat3d& inertia :
       {SymMat3d::diagonal(1.0, 1.0, 5.0), SymMat3d::diagonal(-1.0, 2.0, 2.0)}) {
    MechanismBuilder b = arm();
    b.body("lower").inertia = inertia;
    EXPECT_EQ(problems_of(b, true).size(), 1u);
    EXPECT_EQ(problems_of(b, false).size(), 0u);
    const Mechanism m = b.finish({.strict = false});
    ASSERT_EQ(m.warnings().size(), 1u);
    EXPECT_EQ(m.warnings()[0].severity, Severity::warning);
    EXPECT_TRUE(mentions(m.warnings(), {"'lower'"}));
  }
  // Few digits are no crime: a thin rod and a flat plate to six digits.
  MechanismBuilder b = arm();
  b.body("lower").inertia = SymMat3d::diagonal(0.333333, 0.666667, 1.0);
  EXPECT_NO_THROW(b.finish());
}

TEST(Cuts, KeepTheirCoordinatesWhereSomethingActs) {
  MechanismBuilder b = arm();
  b.add_hinge("second", "upper", "lower");
  const Mechanism plain = b.finish();
  EXPECT_EQ(plain.freedoms(), plain.tree_freedoms());
  for (const char* name : {"shoulder", "elbow", "second"})
    b.hinge(name).freedoms = {{.damping = 0.1}};
  const Mechanism m = b.finish();
  EXPECT_TRUE(m.warnings().empty());
  EXPECT_EQ(m.tree_freedoms(), plain.tree_freedoms());
  EXPECT_EQ(m.freedoms(), m.tree_freedoms() + 1);
  EXPECT_EQ(m.velocity_names().back(), "second");
}

TEST(Validation, FreedomsThatMoveNextToNothingAreNamed) {
  const auto neck = [](double inertia, double rotor) {
    MechanismBuilder b("tiny");
    b.add_body("a", {.mass = 1.0,
                     .center_of_mass = {0.3, 0.0, 0.0},
                     .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
    b.add_body("head", {.mass = 1.0, .inertia = SymMat3d::diagonal(inertia, inertia, inertia)});
    b.add_hinge("A", kWorld, "a", {.axes = {Vec3d::unit_y()}});
    HingeSettings settings{.axes = {Vec3d::unit_y()}};
    if (rotor > 0.0) settings.drive = DriveSettings{.rotor_inertia = rotor, .gear_ratio = 1.0};
    b.add_hinge("neck", "a", "head", settings);
    return b.finish().warnings();
  };
  EXPECT_TRUE(mentions(neck(1e-16, 0.0), {"'neck'", "moves 1e-16 kg m²", "rotor inertia"}));
  EXPECT_TRUE(neck(1e-9, 0.0).empty());
  EXPECT_TRUE(neck(1e-16, 1e-4).empty());
}

}  // namespace
}  // namespace catena
