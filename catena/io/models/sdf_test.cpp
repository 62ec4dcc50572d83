// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/sdf.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numbers>

#include <gtest/gtest.h>

#include "catena/base/testing/temporary_folder.h"
#include "catena/io/testing/description_equality.h"

namespace catena {
namespace {

using std::numbers::pi;

// For 10,000 links; a debug or sanitized build takes longer.
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
constexpr double kSeconds = 2.0;
#else
constexpr double kSeconds = 60.0;
#endif

std::string sdf(const std::string& inside, const std::string& version = "1.9") {
  return "<sdf version='" + version + "'>\n" + inside + "</sdf>\n";
}
std::string model(const std::string& inside, const std::string& version = "1.9") {
  return sdf("<model name='m'>\n" + inside + "</model>\n", version);
}
std::string link(const std::string& name, const std::string& pose = "") {
  return "<link name='" + name + "'>" + pose +
         "<inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia>"
         "</inertial></link>\n";
}
std::string pose(const std::string& numbers, const std::string& relative_to = "") {
  return "<pose" + (relative_to.empty() ? "" : " relative_to='" + relative_to + "'") + ">" +
         numbers + "</pose>";
}
const std::string kAxisZ = "<axis><xyz>0 0 1</xyz></axis>";
std::string joint(const std::string& name, const std::string& type, const std::string& parent,
                  const std::string& child, const std::string& inside = kAxisZ) {
  return "<joint name='" + name + "' type='" + type + "'><parent>" + parent + "</parent><child>" +
         child + "</child>" + inside + "</joint>\n";
}

Description good(const std::string& text, const LoadSettings& settings = {}) {
  Reading reading = read_sdf_text(text, "m.sdf", settings);
  for (const Diagnostic& d : reading.diagnostics) ADD_FAILURE() << d.text();
  return reading.description;
}

std::string problem(const std::string& text) {
  const std::vector<Diagnostic> list = read_sdf_text(text, "m.sdf").diagnostics;
  for (std::size_t i = 1; i < list.size(); ++i) ADD_FAILURE() << list[i].text();
  return list.empty() ? "none" : list.front().text();
}

void expect_pose(const Transformd& x, const Vec3d& p, const Vec3d& rpy = {}) {
  EXPECT_NEAR(norm(x.translation - p), 0.0, 1e-14);
  const Rotationd r = Rotationd::from_rpy(rpy.x, rpy.y, rpy.z);
  EXPECT_NEAR(norm(log(r.inverse() * x.rotation)), 0.0, 1e-14);
}
void expect_near(const Vec3d& a, const Vec3d& b) { EXPECT_NEAR(norm(a - b), 0.0, 1e-14); }

TEST(Sdf, LinkInertiaAndVisuals) {
  const Description d = good(model(
      "<link name='a'><inertial><pose>1 2 3 0 0 0.5</pose><mass>4</mass><inertia><ixx>1</ixx>"
      "<ixy>0.1</ixy><ixz>0.2</ixz><iyy>2</iyy><iyz>0.3</iyz><izz>2.5</izz></inertia></inertial>"
      "<visual name='v'><pose>0 0 1 0 0 0</pose><geometry><cylinder><radius>0.1</radius>"
      "<length>0.5</length></cylinder></geometry><material><diffuse>1 0 0 1</diffuse></material>"
      "</visual><collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>"
      "<sensor name='s' type='imu'/></link>\n"));
  const Body& a = d.bodies.at(0);
  EXPECT_EQ(d.name, "m");
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.mass, 4.0);
  EXPECT_EQ(a.center_of_mass, (Vec3d{1, 2, 3}));
  EXPECT_EQ(a.inertia.yz, 0.3);
  expect_pose({a.inertia_axes, {}}, {}, {0, 0, 0.5});
  ASSERT_EQ(a.visuals.size(), 1u);
  EXPECT_EQ(a.visuals[0].shape, Visual::Shape::cylinder);
  EXPECT_EQ(a.visuals[0].colour, (std::array<double, 4>{1, 0, 0, 1}));
  EXPECT_EQ(a.visuals[0].pose.translation, (Vec3d{0, 0, 1}));
}

TEST(Sdf, Collisions) {
  const Description d = good(model(
      "<link name='a'><inertial><mass>1</mass></inertial><collision name='c'>"
      "<pose>0 0 1 0 0 0</pose><geometry><cylinder>"
      "<radius>0.1</radius><length>0.5</length></cylinder></geometry><surface><friction><ode>"
      "<mu>0.4</mu></ode></friction><bounce><restitution_coefficient>0.2"
      "</restitution_coefficient></bounce></surface></collision>"
      "<collision name='d'><geometry><sphere><radius>2</radius></sphere></geometry></collision>"
      "</link>\n"));
  const std::vector<Collision>& c = d.bodies.at(0).collisions;
  ASSERT_EQ(c.size(), 2u);
  EXPECT_EQ(c[0].shape, Collision::Shape::cylinder);
  EXPECT_EQ(c[0].pose.translation, (Vec3d{0, 0, 1}));
  EXPECT_EQ(c[0].length, 0.5);
  EXPECT_EQ(c[0].friction, 0.4);
  EXPECT_EQ(c[0].restitution, 0.2);
  EXPECT_EQ(c[1].radius, 2.0);
  EXPECT_FALSE(c[1].friction.has_value());
}

TEST(Sdf, AutomaticInertia) {
  const Description d = good(model(
      "<link name='a'><inertial auto='true'><density>500</density></inertial>"
      "<collision name='c'><pose>1 0 0 0 0 0</pose><geometry><box><size>1 2 3</size></box>"
      "</geometry></collision><collision name='d'><density>3000</density><pose>-1 0 0 0 0 0</pose>"
      "<geometry><box><size>1 1 1</size></box></geometry></collision></link>\n",
      "1.11"));
  const Body& a = d.bodies.at(0);
  EXPECT_NEAR(a.mass, 6000.0, 1e-9);  // two boxes of 3000 kg
  expect_near(a.center_of_mass, {0, 0, 0});
  EXPECT_NEAR(a.inertia.xx, 250.0 * 13 + 250.0 * 2, 1e-9);
  EXPECT_NEAR(a.inertia.yy, 250.0 * 10 + 250.0 * 2 + 6000.0, 1e-9);
}

TEST(Sdf, ModelFloatsAtItsPose) {
  const std::string text = sdf("<model name='m'><pose>1 2 3 0 0 1</pose>\n" +
                               link("a", pose("1 0 0 0 0 0")) + "</model>\n");
  const Description d = good(text);
  ASSERT_EQ(d.hinges.size(), 1u);
  EXPECT_EQ(d.hinges[0].type, HingeType::free);
  const std::vector<double>& q = d.hinges[0].initial_position;
  ASSERT_EQ(q.size(), 7u);
  EXPECT_NEAR(q[0], std::cos(0.5), 1e-15);
  EXPECT_NEAR(q[3], std::sin(0.5), 1e-15);
  EXPECT_NEAR(q[4], 1 + std::cos(1.0), 1e-15);
  EXPECT_NEAR(q[5], 2 + std::sin(1.0), 1e-15);
  EXPECT_EQ(q[6], 3.0);
  EXPECT_EQ(d.gravity, (Vec3d{0, 0, -9.81}));

  const Description fixed = good(text, {.base = Base::fixed});
  EXPECT_EQ(fixed.hinges[0].type, HingeType::weld);
  expect_pose(fixed.hinges[0].frame_on_parent, {1 + std::cos(1.0), 2 + std::sin(1.0), 3},
              {0, 0, 1});

  const Description fast =
      good(sdf("<model name='m'><static>true</static>" + pose("0 0 5 0 0 0") + link("a") +
               link("b") + joint("j", "revolute", "a", "b") + "</model>"));
  ASSERT_EQ(fast.hinges.size(), 2u);  // every link welded, the joint gone
  EXPECT_EQ(fast.hinges[0].type, HingeType::weld);
  expect_pose(fast.hinges[1].frame_on_parent, {0, 0, 5});
  EXPECT_EQ(MechanismBuilder(fast).finish().freedoms(), 0);
}

TEST(Sdf, GravityOfTheWorld) {
  const auto gravity = [](const std::string& inside, const std::string& version = "1.9") {
    return good(sdf("<world name='w'>" + inside + "<model name='m'>" + link("a") +
                        "</model></world>",
                    version))
        .gravity;
  };
  EXPECT_EQ(gravity(""), (Vec3d{0, 0, -9.8}));
  EXPECT_EQ(gravity("<gravity>0 1 2</gravity>"), (Vec3d{0, 1, 2}));
  EXPECT_EQ(gravity("<physics type='ode'><gravity>0 3 0</gravity></physics>", "1.4"),
            (Vec3d{0, 3, 0}));
}

// Every link is where its pose says when all coordinates are zero.
TEST(Sdf, ZeroOfAJointIsTheGivenPose) {
  const Description d =
      good(model(link("a", pose("1 0 0 0 0 1.5707963267948966")) + link("b", pose("1 2 0 0 0 0")) +
                 joint("j", "revolute", "a", "b", pose("0 0 0.5 0 0 0.3") + kAxisZ)));
  const Hinge& j = hinge(d, "j");
  expect_pose(j.frame_on_child, {0, 0, 0.5}, {0, 0, 0.3});
  expect_pose(j.frame_on_parent, {2, 0, 0.5}, {0, 0, 0.3 - pi / 2});
  expect_pose(j.frame_on_parent * j.frame_on_child.inverse(), {2, 0, 0}, {0, 0, -pi / 2});
}

TEST(Sdf, FramesRelativeToAndAttachedTo) {
  const Description d = good(
      model(link("a", pose("0 0 1 0 0 0")) + "<frame name='f' attached_to='a'>" +
            pose("1 0 0 0 0 1.5707963267948966") + "</frame>\n<frame name='g' attached_to='f'>" +
            pose("2 0 0 0 0 0") + "</frame>\n<frame name='h'>" + pose("0 0 3 0 0 0", "g") +
            "</frame>\n<frame name='w' attached_to='world'>" + pose("0 0 7 0 0 0") + "</frame>\n" +
            link("b", pose("0 0 0 0 0 0", "h")) +
            joint("j", "fixed", "g", "b", pose("0 1 0 0 0 0", "f")) +
            joint("k", "revolute", "w", "a", pose("0 0 0 0 0 0", "w") + kAxisZ)));
  // f: (1, 0, 1) turned by 90°; g two further along its x: (1, 2, 1); b: (1, 2, 4).
  const Hinge& j = hinge(d, "j");
  EXPECT_EQ(j.parent, "a");
  EXPECT_EQ(j.child, "b");
  expect_pose(j.frame_on_parent, {0, 0, 0}, {0, 0, pi / 2});  // f moved by 1 along its y = −x
  expect_pose(j.frame_on_child, {-2, 1, -3}, {0, 0, 0});      // b has the axes of f
  const Hinge& k = hinge(d, "k");
  EXPECT_EQ(k.parent, kWorld);
  expect_pose(k.frame_on_parent, {0, 0, 7});
  expect_pose(k.frame_on_child, {0, 0, 6});
  ASSERT_EQ(d.frames.size(), 4u);
  EXPECT_EQ(d.frames[1].name, "g");
  EXPECT_EQ(d.frames[1].body, "a");
  expect_pose(d.frames[1].pose, {1, 2, 0}, {0, 0, pi / 2});
  EXPECT_EQ(d.frames[2].body, "a");  // attached to the model, hence to its first link
  EXPECT_EQ(d.frames[3].body, kWorld);
}

TEST(Sdf, AxesAndTheFramesTheyAreExpressedIn) {
  const std::string links = link("a") + link("b", pose("0 0 0 0 0 1.5707963267948966"));
  const auto axis = [&](const std::string& xyz, const std::string& version,
                        const std::string& more = "") {
    return hinge(good(model(
                     links + joint("j", "revolute", "a", "b", "<axis>" + xyz + more + "</axis>"),
                     version)),
                 "j")
        .axes.at(0);
  };
  // The joint has the axes of b, which are those of the model turned by 90° about z.
  expect_near(axis("<xyz>1 0 0</xyz>", "1.7"), {1, 0, 0});
  expect_near(axis("<xyz expressed_in='a'>1 0 0</xyz>", "1.7"), {0, -1, 0});
  expect_near(axis("<xyz expressed_in='__model__'>1 0 0</xyz>", "1.9"), {0, -1, 0});
  expect_near(axis("<xyz>1 0 0</xyz>", "1.4"), {0, -1, 0});
  expect_near(axis("<xyz>1 0 0</xyz>", "1.5"), {1, 0, 0});
  expect_near(axis("<xyz>1 0 0</xyz>", "1.6", "<use_parent_model_frame>1</use_parent_model_frame>"),
              {0, -1, 0});
}

TEST(Sdf, EveryTypeOfJoint) {
  std::string text;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) text += link(name);
  const std::string two = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>";
  const Description d = good(model(
      text +
      joint("r", "revolute", "a", "b",
            "<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>2</upper><effort>3</effort>"
            "<velocity>4</velocity></limit><dynamics><damping>5</damping><friction>6</friction>"
            "<spring_reference>7</spring_reference><spring_stiffness>8</spring_stiffness>"
            "</dynamics></axis>") +
      joint("co", "continuous", "b", "c") +
      joint("p", "prismatic", "c", "d",
            "<axis><xyz>1 0 0</xyz><limit><lower>-1e16</lower><upper>inf</upper>"
            "<effort>-1</effort></limit></axis>") +
      joint("x", "fixed", "d", "e", "") + joint("ball", "ball", "e", "f", "") +
      joint("u", "universal", "f", "g", two) + joint("r2", "revolute2", "g", "h", two) +
      joint("s", "screw", "h", "i",
            kAxisZ + "<screw_thread_pitch>6.283185307179586</screw_thread_pitch>")));
  const FreedomSettings& f = hinge(d, "r").freedoms.at(0);
  EXPECT_EQ(f.lower, -1.0);
  EXPECT_EQ(f.upper, 2.0);
  EXPECT_EQ(f.effort_limit, 3.0);
  EXPECT_EQ(f.velocity_limit, 4.0);
  EXPECT_EQ(f.damping, 5.0);
  EXPECT_EQ(f.friction.sliding, 6.0);
  EXPECT_EQ(f.rest, 7.0);
  EXPECT_EQ(f.stiffness, 8.0);
  EXPECT_EQ(hinge(d, "p").freedoms.at(0).lower, -kInfinity);
  EXPECT_EQ(hinge(d, "p").freedoms.at(0).effort_limit, kInfinity);
  EXPECT_EQ(hinge(d, "x").type, HingeType::weld);
  EXPECT_EQ(hinge(d, "ball").type, HingeType::spherical);
  EXPECT_EQ(hinge(d, "u").type, HingeType::universal);
  EXPECT_EQ(hinge(d, "r2").axes.at(1), (Vec3d{0, 1, 0}));
  EXPECT_NEAR(hinge(d, "s").pitch, 1.0, 1e-15);  // 2π metres per turn, right-handed
  EXPECT_EQ(MechanismBuilder(d).finish().freedoms(), 6 + 1 + 1 + 1 + 3 + 2 + 2 + 1);

  // The old pitch: radians per metre, left-handed.
  const Description old =
      good(model(link("a") + link("b") +
                     joint("s", "screw", "a", "b", kAxisZ + "<thread_pitch>4</thread_pitch>"),
                 "1.6"));
  EXPECT_EQ(hinge(old, "s").pitch, -0.25);
}

TEST(Sdf, MimicAndGearbox) {
  const Description d =
      good(model(link("base") + link("a") + link("b") + joint("j", "revolute", "base", "a") +
                     joint("k", "revolute", "base", "b",
                           "<axis><xyz>0 0 1</xyz><mimic joint='j'><multiplier>3</multiplier>"
                           "<offset>1</offset><reference>2</reference></mimic></axis>"),
                 "1.11"));
  ASSERT_EQ(d.couplings.size(), 1u);  // q(k) = 3 (q(j) − 2) + 1
  EXPECT_EQ(d.couplings[0].terms.at(0).hinge, "k");
  EXPECT_EQ(d.couplings[0].terms.at(1).coefficient, -3.0);
  EXPECT_EQ(d.couplings[0].constant, -5.0);

  // The second wheel's own joint turns about −z and is written the other way round: its angle
  // counts twice negative.
  const auto gears = [](const std::string& second) {
    return good(model(link("carrier") + link("a") + link("b", pose("1 0 0 0 0 0")) +
                      joint("j", "revolute", "carrier", "a") + second +
                      joint("gears", "gearbox", "a", "b",
                            "<gearbox_ratio>2</gearbox_ratio><gearbox_reference_body>carrier"
                            "</gearbox_reference_body><axis><xyz>0 0 1</xyz></axis>"
                            "<axis2><xyz>0 0 1</xyz></axis2>")))
        .couplings.at(0);
  };
  const Coupling plain = gears(joint("k", "revolute", "carrier", "b"));
  EXPECT_EQ(plain.terms.at(0).hinge, "k");  // k + 2 j = 0
  EXPECT_EQ(plain.terms.at(1).hinge, "j");
  EXPECT_EQ(plain.terms.at(1).coefficient, 2.0);
  const Coupling turned = gears(joint("k", "revolute", "b", "carrier"));
  EXPECT_EQ(turned.terms.at(1).coefficient, -2.0);
  const Coupling twice =
      gears(joint("k", "revolute", "b", "carrier", "<axis><xyz>0 0 -1</xyz></axis>"));
  EXPECT_EQ(twice.terms.at(1).coefficient, 2.0);
}

// Sun and carrier turn in the housing, the ring is welded to it, the planet turns on the carrier:
// the meshes are told with the carrier as reference, on which only the planet has a joint.
TEST(Sdf, PlanetaryGear) {
  constexpr double kSun = 20.0, kPlanet = 40.0, kRing = 100.0;  // teeth
  const auto mesh = [](const std::string& name, const std::string& parent, const std::string& child,
                       double ratio) {
    return joint(name, "gearbox", parent, child,
                 "<gearbox_ratio>" + std::to_string(ratio) +
                     "</gearbox_ratio><gearbox_reference_body>carrier</gearbox_reference_body>"
                     "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>");
  };
  const Description d =
      good(model(link("sun") + link("carrier") + link("planet", pose("0.3 0 0 0 0 1")) +
                 link("ring") + joint("js", "revolute", "world", "sun") +
                 joint("jc", "revolute", "world", "carrier", "<axis><xyz>0 0 -1</xyz></axis>") +
                 joint("jp", "revolute", "carrier", "planet") +
                 joint("housing", "fixed", "world", "ring", "") +
                 mesh("inner", "sun", "planet", kSun / kPlanet) +
                 mesh("outer", "planet", "ring", -kPlanet / kRing)));
  ASSERT_EQ(d.couplings.size(), 2u);
  // Willis: with the ring at rest the sun turns 1 + ring/sun times as fast as the carrier, and
  // wheels that mesh roll on each other as seen from the carrier.
  const double carrier = 0.7, sun = (1.0 + kRing / kSun) * carrier;
  const double planet = -(sun - carrier) * kSun / kPlanet;
  const auto rate = [&](const std::string& name) {
    return name == "js" ? sun : name == "jc" ? -carrier : name == "jp" ? planet : 1e9;
  };
  for (const Coupling& coupling : d.couplings) {
    EXPECT_GE(coupling.terms.size(), 2u);
    double sum = 0.0;
    for (const Coupling::Term& term : coupling.terms) sum += term.coefficient * rate(term.hinge);
    EXPECT_NEAR(sum, 0.0, 1e-14) << coupling.name;
  }
  EXPECT_EQ(MechanismBuilder(d).finish().freedoms(), 3);
}

TEST(Sdf, NestedModelsAndScopedNames) {
  const Description d =
      good(sdf("<world name='w'>\n<model name='arm'>" + pose("1 0 0 0 0 0") + link("base") +
                   "<model name='hand'>" + pose("0 0 2 0 0 0") + link("palm", pose("0 0 1 0 0 0")) +
                   "</model>" + joint("wrist", "revolute", "base", "hand::palm") +
                   "</model>\n<model name='box'>" + link("base") + "</model>\n" +
                   joint("hold", "fixed", "box::base", "arm::hand::palm", "") + "</world>\n",
               "1.10"));
  ASSERT_EQ(d.bodies.size(), 3u);
  EXPECT_EQ(d.bodies[0].name, "arm::base");
  EXPECT_EQ(d.bodies[1].name, "arm::hand::palm");
  EXPECT_EQ(d.bodies[2].name, "box::base");
  const Hinge& wrist = hinge(d, "arm::wrist");
  EXPECT_EQ(wrist.child, "arm::hand::palm");
  expect_pose(wrist.frame_on_parent, {0, 0, 3});
  expect_pose(hinge(d, "hold").frame_on_parent, {1, 0, 3});
  EXPECT_EQ(MechanismBuilder(d).finish().freedoms(), 7);
}

TEST(Sdf, PlacementFrameAndCanonicalLink) {
  const Description d =
      good(sdf("<model name='m' placement_frame='tip' canonical_link='b'>" + pose("1 1 1 0 0 0") +
               link("a", pose("0 0 5 0 0 0")) + link("b", pose("2 0 0 0 0 1.5707963267948966")) +
               "<frame name='tip' attached_to='b'>" + pose("1 0 0 0 0 0") + "</frame>" +
               "<frame name='here'/>" + joint("j", "fixed", "a", "b", "") + "</model>"));
  // tip is at (2, 1, 0) in the model, turned by 90°; in the world it is at (1, 1, 1), not turned.
  // So the model is turned by −90° about z, and a is at 5 on its z axis.
  const std::vector<double>& q = d.hinges[0].initial_position;
  EXPECT_EQ(d.hinges[0].child, "a");
  EXPECT_NEAR(q[0], std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(q[3], -std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(q[4], 1 - 1, 1e-15);
  EXPECT_NEAR(q[5], 1 + 2, 1e-15);
  EXPECT_NEAR(q[6], 1 + 5, 1e-15);
  EXPECT_EQ(d.frames.at(1).body, "b");
}

TEST(Sdf, PoseFormats) {
  const auto at = [](const std::string& attributes, const std::string& numbers) {
    return good(model("<link name='a'><inertial><mass>1</mass></inertial></link>\n"
                      "<frame name='f'><pose " +
                      attributes + ">" + numbers + "</pose></frame>\n"))
        .frames.at(0)
        .pose;
  };
  expect_pose(at("", ""), {0, 0, 0});
  expect_pose(at("degrees='true'", "1 2 3 90 0 0"), {1, 2, 3}, {pi / 2, 0, 0});
  expect_pose(at("rotation_format='quat_xyzw'", "1 2 3 0 0 2 2"), {1, 2, 3}, {0, 0, pi / 2});
  EXPECT_NE(problem(model(link("a", "<pose rotation_format='quat_xyzw'>1 2 3 0 0 1</pose>")))
                .find("has 6 numbers, but 7 are needed"),
            std::string::npos);
}

const std::string kFourBarLinks =
    link("crank") + link("coupler", pose("0 1 0 0 0 0")) + link("rocker", pose("2 0 0 0 0 0"));

TEST(Sdf, ALoopNeedsNoHint) {
  const Description d =
      good(model(kFourBarLinks + joint("A", "revolute", "world", "crank") +
                 joint("B", "revolute", "crank", "coupler") +
                 joint("C", "revolute", "coupler", "rocker", pose("0 1 0 0 0 0") + kAxisZ) +
                 joint("D", "revolute", "world", "rocker")));
  const Mechanism m = MechanismBuilder(d).finish();
  EXPECT_EQ(m.freedoms(), 3);
  ASSERT_EQ(m.loops().size(), 1u);
  EXPECT_EQ(m.loops()[0].bodies.size(), 3u);
  // In the zero position both ends of every hinge meet.
  expect_pose(hinge(d, "C").frame_on_parent, {2, 0, 0});
  expect_pose(hinge(d, "C").frame_on_child, {0, 1, 0});
}

TEST(Sdf, UnassembledLoop) {
  const auto reading = [](const std::string& offset, const std::string& more = "") {
    return read_sdf_text(
        model(kFourBarLinks + "<frame name='tip' attached_to='coupler'>" + pose(offset) +
              "</frame>\n<frame name='top' attached_to='rocker'>" + pose("0 1 0 0 0 0.4") +
              "</frame>\n" + joint("A", "revolute", "world", "crank") +
              joint("B", "revolute", "crank", "coupler") +
              joint("C", "revolute", "tip", "top", more + kAxisZ) +
              joint("D", "revolute", "world", "rocker")),
        "m.sdf");
  };
  // 0.1 m apart: the two frames are the joint's, and a notice says so.
  const Reading apart = reading("2.1 0 0 0 0 0");
  ASSERT_EQ(apart.diagnostics.size(), 1u);
  EXPECT_EQ(apart.diagnostics[0].severity, Severity::warning);
  EXPECT_NE(apart.diagnostics[0].message.find("frame 'tip' and 'top' are apart"),
            std::string::npos);
  // Zero is as drawn, as in the joint that is together.
  expect_pose(hinge(apart.description, "C").frame_on_parent, {2.1, 0, 0}, {0, 0, 0.4});
  expect_pose(hinge(apart.description, "C").frame_on_child, {0, 1, 0}, {0, 0, 0.4});
  // Together, up to a turn about the axis: the format's meaning, zero as drawn.
  const Reading together = reading("2 0 0 0 0 0");
  EXPECT_TRUE(together.diagnostics.empty());
  expect_pose(hinge(together.description, "C").frame_on_parent, {2, 0, 0}, {0, 0, 0.4});
  // With a pose of its own the joint is where that says.
  const Reading posed = reading("2.1 0 0 0 0 0", pose("0 0 0 0 0 0"));
  EXPECT_TRUE(posed.diagnostics.empty());
  expect_pose(hinge(posed.description, "C").frame_on_parent, {2, 0, 0}, {0, 0, 0.4});
}

class SdfFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  test::TemporaryFolder folder_;
};

TEST_F(SdfFiles, Includes) {
  write("wheel/model.config",
        "<model><sdf version='1.4'>old.sdf</sdf>"
        "<sdf version='1.6'>new.sdf</sdf></model>");
  write("wheel/new.sdf", sdf("<model name='wheel'>" + pose("9 9 9 0 0 0") +
                                 link("rim", pose("0 0 1 0 0 0")) + "</model>",
                             "1.6"));
  const std::string path =
      write("car.sdf", model(link("body") + "<include><uri>model://wheel</uri><name>left</name>" +
                             pose("0 1 0 0 0 0") +
                             "</include>\n<include><uri>wheel</uri></include>\n"
                             "<include merge='true'><uri>wheel/new.sdf</uri><name>spare</name>" +
                             pose("0 0 3 0 0 0") + "</include>\n" +
                             joint("axle", "revolute", "body", "left::rim") +
                             joint("other", "revolute", "body", "wheel::rim") +
                             joint("merged", "fixed", "body", "rim", "")));
  const Reading reading = read_sdf(path);
  for (const Diagnostic& d : reading.diagnostics) ADD_FAILURE() << d.text();
  const Description& d = reading.description;
  ASSERT_EQ(d.bodies.size(), 4u);
  EXPECT_EQ(d.bodies[1].name, "left::rim");
  EXPECT_EQ(d.bodies[3].name, "rim");
  expect_pose(hinge(d, "axle").frame_on_parent, {0, 1, 1});
  expect_pose(hinge(d, "other").frame_on_parent, {9, 9, 10});
  expect_pose(hinge(d, "merged").frame_on_parent, {0, 0, 4});
}

TEST_F(SdfFiles, CircleOfIncludes) {
  const std::string a = write("a.sdf", model(link("l") + "<include><uri>b.sdf</uri></include>"));
  write("b.sdf", model(link("l") + "<include><uri>a.sdf</uri></include>"));
  const std::vector<Diagnostic> found = read_sdf(a).diagnostics;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].text().find("b.sdf:4: error: <include> of '"), std::string::npos);
  EXPECT_NE(found[0].text().find("leads back to the same file"), std::string::npos);
}

TEST(Sdf, MistakesAreNamedWithLineAndRemedy) {
  const auto says = [](const std::string& text, const std::string& line, const std::string& what) {
    const std::string found = problem(text);
    EXPECT_TRUE(found.starts_with("m.sdf:" + line + ": ")) << found;
    EXPECT_NE(found.find(what), std::string::npos) << found;
  };
  const std::string ab = link("a") + link("b");
  says("<robot/>", "1", "the root element is <robot>");
  says(sdf("", "2.0"), "1", "not a version of SDF");
  says(sdf(""), "1", "no <model> and no <world>");
  says(model("<lnik name='a'/>\n" + link("b")), "3", "did you mean <link>?");
  says(model(link("a") + link("a")), "4", "the name is taken by the link in line 3");
  says(model(link("world")), "3", "reserved");
  says(model(ab + joint("a", "fixed", "a", "b")), "5", "the name is taken by the link in line 3");
  says(model(ab + joint("j", "fixed", "a", "c")), "5", "child 'c' does not exist in model 'm'");
  says(model(link("elbow") + link("b") + joint("j", "fixed", "elbwo", "b")), "5",
       "did you mean 'elbow'?");
  says(model(ab + joint("j", "revolut", "a", "b")), "5", "did you mean 'revolute'?");
  says(model(ab + joint("j", "revolute", "a", "b", "\n<axis><xyz>0 0 0</xyz></axis>")), "6",
       "the axis is zero");
  says(model(ab + joint("j", "revolute", "a", "b", "<axis><xyz>0 0</xyz></axis>")), "5",
       "has 2 numbers, but 3 are needed");
  says(model(ab + joint("j", "revolute", "a", "b",
                        "<axis><xyz>0 0 1</xyz><limit><lower>1</lower><upper>0</upper></limit>"
                        "</axis>")),
       "5",
       "warning: <limit> of joint 'j': lower limit 1 is above upper limit 0; the joint has no "
       "limits until they are swapped");
  says(model(ab +
             joint("j", "revolute", "a", "b", "<axis><xyz>0 0 1</xyz><mimic joint='k'/></axis>")),
       "5", "joint 'k' does not exist");
  says(model(ab +
             joint("j", "revolute", "a", "b", "<axis><xyz expressed_in='q'>0 0 1</xyz></axis>")),
       "5", "expressed_in 'q' does not exist");
  says(model(ab + joint("j", "fixed", "a", "a")), "5", "are the same body 'a'");
  says(model(ab + "<joint name='j' type='fixed'><parent>a</parent></joint>\n"), "5",
       "has no <child>");
  says(model(ab + "<joint name='j' type='fixed'><child>a</child></joint>\n"), "5",
       "has no <parent>");
  says(model(link("a", pose("0 0 0 0 0"))), "3", "has 5 numbers, but 6 are needed");
  says(model(link("a", pose("0 0 nan 0 0 0"))), "3", "'nan' is not a finite number");
  says(model(link("a", pose("0 0 0 0 0 0", "b")) + link("b", pose("0 0 0 0 0 0", "a"))), "3",
       "link 'a' is placed relative to link 'b', which leads back to it");
  says(model(link("a") + "<frame name='f' attached_to='f'/>"), "4", "is attached to itself");
  says(model(link("a", pose("0 0 0 0 0 0", "c"))), "3", "relative_to 'c' does not exist");
  says(model(link("a") + "<include><uri>nowhere.sdf</uri></include>"), "4", "is not found");
  says(model(link("a") + "<include><uri>https://x.org/y</uri></include>"), "4", "not a local file");
  says(model(link("a") + "<include/>"), "4", "has no <uri>");
  says(model(ab + link("c") + joint("k", "revolute", "c", "a") +
             joint("j", "gearbox", "a", "b",
                   "<gearbox_reference_body>c</gearbox_reference_body>" + kAxisZ +
                       "<axis2><xyz>0 0 1</xyz></axis2>")),
       "7", "there is no revolute joint between");
  says(sdf(link("a")), "2", "must stand inside a <model>");
  says("<sdf version='1.7'>\n<model name='m'>\n</sdf>", "2", "malformed XML");
}

TEST(Sdf, TenThousandLinksInUnderTwoSeconds) {
  for (const bool chain : {true, false}) {
    std::string text = link("l0");
    for (int i = 1; i < 10000; ++i) {
      const std::string name = "l" + std::to_string(i);
      const std::string parent = chain ? "l" + std::to_string(i - 1) : "l0";
      text += link(name, pose("0 0 1 0.1 0 0", parent)) +
              joint("j" + std::to_string(i), "revolute", parent, name);
    }
    const std::clock_t start = std::clock();  // processor time: the machine may be busy
    const Mechanism m = MechanismBuilder(good(model(text))).finish();
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_EQ(m.freedoms(), 10005);
    EXPECT_LT(seconds, kSeconds);
  }
}

}  // namespace
}  // namespace catena
