// Every wrong input is named, and all of them at once.
#include "catena/model/validation.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "catena/model/test_support.h"

namespace catena {
namespace {

using namespace test;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// upper on the world, lower on upper; both pins about z.
MechanismBuilder arm() {
  MechanismBuilder b("arm");
  b.add_body("upper", ball()).add_body("lower", ball());
  b.add_hinge("shoulder", kWorld, "upper").add_hinge("elbow", "upper", "lower");
  return b;
}

Rod rod(const std::string& a, const std::string& b, double length = 1.0) {
  return {.name = "strut", .body_a = a, .body_b = b, .length = length};
}
SpringDamper spring(const std::string& a, const std::string& b) {
  return {.name = "coil", .body_a = a, .body_b = b, .stiffness = 1.0};
}
void set_type(MechanismBuilder& b, HingeType type, std::vector<Vec3d> axes = {}) {
  b.hinge("elbow").type = type;
  b.hinge("elbow").axes = std::move(axes);
}
FreedomSettings& freedom(MechanismBuilder& b) {
  b.hinge("elbow").freedoms.resize(1);
  return b.hinge("elbow").freedoms[0];
}
DriveSettings& drive(MechanismBuilder& b) {
  b.hinge("elbow").drive.emplace();
  return *b.hinge("elbow").drive;
}

// g = constants · q + square q1² of the two hinges, with a gradient and a second derivative that
// may be others.
Coupling coupled(std::array<double, 2> constants, std::array<double, 2> gradient,
                 double square = 0.0, double second = 0.0) {
  return {.name = "cam",
          .terms = {{"elbow", 0}, {"shoulder", 0}},
          .function = [=](std::span<const double> q, double& value, std::span<double> slope,
                          std::span<double> bend) {
            value = constants[0] * q[0] + constants[1] * q[1] + square * q[1] * q[1];
            slope[0] = gradient[0];
            slope[1] = gradient[1] + 2.0 * square * q[1];
            std::fill(bend.begin(), bend.end(), 0.0);
            bend[3] = second;
          }};
}

// A pin about z whose functions may be wrong.
class Pin : public CustomHinge {
 public:
  enum class Fault { none, throws, dependent };
  explicit Pin(Fault fault) : fault_(fault) {}
  int freedoms() const override { return fault_ == Fault::dependent ? 2 : 1; }
  Transformd transform(std::span<const double> q) const override {
    if (fault_ == Fault::throws) throw std::runtime_error("boom");
    return {Rotationd::about_z(std::accumulate(q.begin(), q.end(), 0.0)), {}};
  }
  void motion_map(std::span<const double>, std::span<Twistd> columns) const override {
    std::fill(columns.begin(), columns.end(), Twistd{Vec3d::unit_z(), {}});
  }
  void motion_map_rate(std::span<const double>, std::span<const double>,
                       std::span<Twistd> columns) const override {
    std::fill(columns.begin(), columns.end(), Twistd{});
  }

 private:
  Fault fault_;
};
void set_pin(MechanismBuilder& b, Pin::Fault fault) {
  set_type(b, HingeType::custom);
  b.hinge("elbow").custom = std::make_shared<Pin>(fault);
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
      {"CustomThatThrows",
       [](B b) { set_pin(b, Pin::Fault::throws); },
       {"'elbow'", "its transform failed at q = 0.1: boom"}},
      {"CustomWithDependentColumns",
       [](B b) { set_pin(b, Pin::Fault::dependent); },
       {"'elbow'", "columns", "dependent at q = (0.1, 0.17)"}},
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
      {"CouplingOfNothing", [](B b) { b.add_coupling({.name = "gear"}); }, {"'gear'", "nothing"}},
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
      {"CouplingWithAWrongGradient",  // g = q0 - 2 q1
       [](B b) {
         b.add_coupling(coupled({1.0, -2.0}, {1.0, 5.0}));
       },
       {"'cam'", "gradient", "by 'shoulder' is not its derivative", "differ by 7"}},
      {"CouplingWithAWrongSecondDerivative",  // g = q0 + q1²: its second derivative is 2
       [](B b) {
         b.add_coupling(coupled({1.0, 0.0}, {1.0, 0.0}, 1.0, 0.0));
       },
       {"'cam'", "second derivative", "by 'shoulder' and by 'shoulder'", "differ by 2"}},
      {"CouplingThatThrows",
       [](B b) {
         Coupling cam = coupled({}, {});
         cam.function = [](std::span<const double>, double&, std::span<double>, std::span<double>) {
           throw std::runtime_error("no table\nfrom afar");
         };
         b.add_coupling(cam);
         b.hinge("elbow").initial_position = {0.5};
         b.hinge("shoulder").initial_position = {0.25};
       },
       {"'cam'", "failed at q = (0.5, 0.25): no table"}},
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

TEST(IdleHinges, MayStandAmongTheWarnings) {
  MechanismBuilder b = arm();
  b.add_body("leaf").add_hinge("idle", "lower", "leaf");
  const Mechanism m = b.finish({.idle_hinges = true});
  ASSERT_EQ(m.warnings().size(), 1u);
  EXPECT_EQ(m.warnings()[0].severity, Severity::error);
  EXPECT_TRUE(mentions(m.warnings(), {"'idle'", "'leaf'", "no inertia"}));
  EXPECT_THROW(b.finish(), ModelError);
  b.add_hinge("other", "nobody", "leaf");  // they excuse nothing else
  EXPECT_THROW(b.finish({.idle_hinges = true}), ModelError);
}

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

// A user's function that throws takes no other mistake with it.
TEST(AllMistakes, BesideAHingeThatThrows) {
  MechanismBuilder b = arm();
  set_pin(b, Pin::Fault::throws);
  b.add_body("hand", ball()).add_hinge("wrist", "lowr", "hand");
  const auto problems = problems_of(b);
  EXPECT_TRUE(mentions(problems, {"'elbow'", "boom"}));
  EXPECT_TRUE(mentions(problems, {"'wrist'", "'lowr'"}));
  EXPECT_EQ(problems.size(), 2u) << text(problems);
}

TEST(UserFunctions, ThatAreRightPass) {
  MechanismBuilder b = arm();
  set_pin(b, Pin::Fault::none);
  b.add_coupling(coupled({1.0, -2.0}, {1.0, -2.0}, 0.5, 1.0));
  EXPECT_TRUE(problems_of(b).empty()) << text(problems_of(b));
}

// g = q0 - f(q1) with f, f' and f'' of the user.
Coupling cam(std::function<std::array<double, 3>(double)> f) {
  return {.name = "cam",
          .terms = {{"elbow", 0}, {"shoulder", 0}},
          .function = [f](std::span<const double> q, double& value, std::span<double> gradient,
                          std::span<double> hessian) {
            const auto [profile, slope, bend] = f(q[1]);
            value = q[0] - profile;
            gradient[0] = 1.0;
            gradient[1] = -slope;
            std::fill(hessian.begin(), hessian.end(), 0.0);
            hessian[3] = -bend;
          }};
}

// What differences cannot see clearly is no mistake: ripples, kinks, far positions, ends of tables.
TEST(UserFunctions, ThatAreSteepOrKinkedPass) {
  const auto ripple = [](double size, double k) {
    return [=](double x) {
      return std::array{size * std::sin(k * x), size * k * std::cos(k * x),
                        -size * k * k * std::sin(k * x)};
    };
  };
  const auto step = [](double x) {
    const double t = std::tanh(x / 1e-3), s = 1.0 - t * t;
    return std::array{t, 1e3 * s, -2e6 * t * s};
  };
  const auto dwell = [](double x) {
    return x < 0.0 ? std::array{0.0, 0.0, 0.0} : std::array{x * x, 2.0 * x, 2.0};
  };
  const auto edge = [](double x) {
    return x < 0.0 ? std::array{-x, -1.0, 0.0} : std::array{x, 1.0, 0.0};
  };
  const auto line = [](double x) { return std::array{x / 3.0, 1.0 / 3.0, 0.0}; };
  const auto log_of = [](double x) {
    if (x <= 0.0) throw std::domain_error("log of a negative number");
    return std::array{std::log(x), 1.0 / x, -1.0 / (x * x)};
  };
  using Profile = std::function<std::array<double, 3>(double)>;
  const std::vector<std::pair<const char*, Profile>> profiles = {{"fine", ripple(1e-3, 628.0)},
                                                                 {"ripple", ripple(1e-4, 500.0)},
                                                                 {"step", step},
                                                                 {"dwell", dwell},
                                                                 {"edge", edge},
                                                                 {"line", line},
                                                                 {"log", log_of}};
  for (const auto& [name, profile] : profiles)
    for (const double start : {0.0, 1e-6, 3e-4, 0.17, 0.25, -0.4, 1e6}) {
      MechanismBuilder b = arm();
      b.add_coupling(cam(profile));
      b.hinge("shoulder").initial_position = {start};
      EXPECT_TRUE(problems_of(b).empty()) << name << " " << start << ": " << text(problems_of(b));
    }
  // Wrong by a percent.
  for (const auto& [name, profile] : profiles) {
    MechanismBuilder b = arm();
    b.add_coupling(cam([&profile = profile](double x) {
      auto [f, slope, bend] = profile(x);
      return std::array{f, 1.01 * slope, 1.01 * bend};
    }));
    b.hinge("shoulder").initial_position = {name == std::string("step") ? 3e-4 : 0.17};
    EXPECT_EQ(problems_of(b).size(), 1u) << name << text(problems_of(b));
  }
}

TEST(UserFunctions, CustomHingesMayStartInASingularPosition) {
  // x = cos q: at its dead point the column is zero. A rotor carries it through.
  class Crank : public CustomHinge {
   public:
    int freedoms() const override { return 1; }
    Transformd transform(std::span<const double> q) const override {
      return Transformd::from_translation({std::cos(q[0]), 0.0, 0.0});
    }
    void motion_map(std::span<const double> q, std::span<Twistd> columns) const override {
      columns[0] = {{}, {-std::sin(q[0]), 0.0, 0.0}};
    }
    void motion_map_rate(std::span<const double> q, std::span<const double> v,
                         std::span<Twistd> columns) const override {
      columns[0] = {{}, {-std::cos(q[0]) * v[0], 0.0, 0.0}};
    }
  };
  MechanismBuilder b = arm();
  set_type(b, HingeType::custom);
  b.hinge("elbow").custom = std::make_shared<Crank>();
  b.hinge("elbow").initial_position = {0.0};
  b.hinge("elbow").drive = {.rotor_inertia = 0.1, .armature_only = true};
  EXPECT_TRUE(problems_of(b).empty()) << text(problems_of(b));
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

// --- hinges without inertia ---

BodySettings point(double mass, const Vec3d& at) { return {.mass = mass, .center_of_mass = at}; }

struct Case {
  const char* name;
  std::function<MechanismBuilder()> make;
  std::vector<std::string> without;  // the hinges that move nothing
};

MechanismBuilder one_body(const BodySettings& body, const HingeSettings& hinge) {
  MechanismBuilder b;
  b.add_body("body", body).add_hinge("hinge", kWorld, "body", hinge);
  return b;
}

const std::vector<Case>& inertia_cases() {
  static const Transformd kFar = Random(2).pose();
  static const std::vector<Case> kAll = {
      {"MasslessLeaf", [] { return one_body({}, {}); }, {"hinge"}},
      {"PointMassOnTheAxis",
       [] {
         return one_body(point(2.0, {0, 0, 3.0}), {});
       },
       {"hinge"}},
      {"PointMassBesideTheAxis",
       [] {
         return one_body(point(2.0, {1e-3, 0, 3.0}), {});
       },
       {}},
      {"PointMassOnATurnedAxis",
       [] {
         const Vec3d a{0.3, -0.7, 0.2};
         return one_body(point(2.0, kFar * (2.0 * a)), {.axes = {a}, .frame_on_child = kFar});
       },
       {"hinge"}},
      {"SlidingPointMass",
       [] {
         return one_body(point(2.0, {0, 0, 3.0}), {.type = HingeType::prismatic});
       },
       {}},
      {"FreePointMass",
       [] {
         return one_body(point(2.0, {0.1, 0.2, 0.3}), {.type = HingeType::free});
       },
       {"hinge"}},
      {"FreePointMassAtTheOrigin",
       [] {
         return one_body(point(2.0, kFar.translation),
                         {.type = HingeType::free, .frame_on_child = kFar});
       },
       {"hinge"}},
      {"TranslatingPointMass",
       [] {
         return one_body(point(2.0, {0.1, 0.2, 0.3}), {.type = HingeType::translation});
       },
       {}},
      {"SwingingPointMass",
       [] {
         return one_body(point(1.0, {0, 0, 1.0}), {.type = HingeType::universal});
       },
       {}},
      {"BallWithAPointMass",
       [] {
         return one_body(point(1.0, {0, 0, 1.0}), {.type = HingeType::spherical});
       },
       {"hinge"}},
      {"MasslessChainEnd",
       [] {
         MechanismBuilder b = arm();
         b.add_body("x").add_body("y").add_hinge("hx", "lower", "x").add_hinge("hy", "x", "y");
         return b;
       },
       {"hx", "hy"}},
      {"MasslessCross",  // a universal joint as two pins with a massless cross between them
       [] {
         MechanismBuilder b;
         b.add_body("cross").add_body("end", ball());
         b.add_hinge("h1", kWorld, "cross", {.axes = {{1, 0, 0}}});
         b.add_hinge("h2", "cross", "end", {.axes = {{0, 1, 0}}});
         return b;
       },
       {}},
      {"SameAxisTwice",  // the inner pin feels nothing: the outer one turns instead
       [] {
         MechanismBuilder b;
         b.add_body("ring").add_body("end", ball());
         b.add_hinge("h1", kWorld, "ring", {.axes = {{0.6, 0.8, 0}}});
         b.add_hinge("h2", "ring", "end", {.axes = {{-0.6, -0.8, 0}}});
         return b;
       },
       {"h1"}},
      {"PointMassUnderAHeavyParent",  // only the one hinge is to blame
       [] {
         MechanismBuilder b;
         b.add_body("carrier").add_body("bob", point(1.0, {0, 0, 0.5}));
         b.add_hinge("slide", kWorld, "carrier", {.type = HingeType::prismatic});
         b.add_hinge("spin", "carrier", "bob");
         return b;
       },
       {"spin"}},
      {"RotorInertiaCounts",
       [] {
         return one_body({}, {.drive = DriveSettings{.rotor_inertia = 1e-5, .gear_ratio = 10.0}});
       },
       {}},
      {"SmallRotorOfAHeavyBody",  // 1e-9 kg m² under a tonne
       [] {
         return one_body({.mass = 1000.0, .inertia = SymMat3d::diagonal(1e-9, 1e-9, 1e-9)}, {});
       },
       {}},
      {"TinyBody",  // a MEMS part: nanograms, micrometres
       [] {
         return one_body({.mass = 1e-12, .inertia = SymMat3d::diagonal(1e-24, 1e-24, 1e-24)},
                         {.type = HingeType::free});
       },
       {}},
      {"Welded", [] { return one_body({}, {.type = HingeType::weld}); }, {}},
      {"MasslessWeldedToMass",
       [] {
         MechanismBuilder b;
         b.add_body("flange").add_body("tool", ball()).add_hinge("h", kWorld, "flange");
         return std::move(b.add_hinge("bolt", "flange", "tool", {.type = HingeType::weld}));
       },
       {}},
      {"WeldRingStillNeedsInertia",
       [] {
         MechanismBuilder b;
         const HingeSettings weld{.type = HingeType::weld};
         b.add_body("a").add_body("b").add_hinge("h", kWorld, "a");
         return std::move(b.add_hinge("w1", "a", "b", weld).add_hinge("w2", "b", "a", weld));
       },
       {"h"}},
      {"LoopsAreNotJudged",
       [] {
         MechanismBuilder b;
         b.add_body("a", ball()).add_body("b").add_body("c", ball());
         b.add_hinge("h1", kWorld, "a").add_hinge("h2", "a", "b").add_hinge("h3", "b", "c");
         return std::move(b.add_hinge("h4", "c", kWorld));
       },
       {}},
  };
  return kAll;
}

class HingeInertia : public testing::TestWithParam<std::size_t> {};

TEST_P(HingeInertia, IsMissedWhereThereIsNone) {
  const Case& c = inertia_cases()[GetParam()];
  const auto problems = problems_of(c.make());
  for (const std::string& name : c.without)
    EXPECT_TRUE(mentions(problems, {"hinge '" + name + "'", "no inertia"}));
  EXPECT_EQ(problems.size(), c.without.size()) << text(problems);
}

INSTANTIATE_TEST_SUITE_P(Cases, HingeInertia,
                         testing::Range<std::size_t>(0, inertia_cases().size()),
                         [](const auto& param) { return inertia_cases()[param.param].name; });

}  // namespace
}  // namespace catena
