// SPDX-License-Identifier: BSD-3-Clause
// What a YAML file can say. What it must not say is in yaml_error_test.cpp.
#include "catena/io/models/yaml.h"

#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/testing/temporary_folder.h"
#include "catena/io/models/yaml_values.h"
#include "catena/model/validation.h"

namespace catena {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kPi = std::numbers::pi;

Description read(const std::string& text, const LoadSettings& settings = {}) {
  const Reading reading = read_yaml_text(text, "test.yaml", settings);
  for (const Diagnostic& problem : reading.diagnostics) ADD_FAILURE() << problem.text();
  return reading.description;
}

TEST(Yaml, Numbers) {
  using yaml::parse_number;
  EXPECT_EQ(parse_number("1.5"), 1.5);
  EXPECT_EQ(parse_number("-0"), 0.0);
  EXPECT_TRUE(std::signbit(*parse_number("-0")));
  EXPECT_EQ(parse_number("+2"), 2.0);
  EXPECT_EQ(parse_number(".5"), 0.5);
  EXPECT_EQ(parse_number("1e-3"), 1e-3);
  EXPECT_EQ(parse_number("pi"), kPi);
  EXPECT_EQ(parse_number("-pi/2"), -kPi / 2);
  EXPECT_EQ(parse_number("2*pi/3"), 2 * kPi / 3);
  EXPECT_EQ(parse_number("1/12"), 1.0 / 12.0);
  EXPECT_EQ(parse_number("0.64 / 6"), 0.64 / 6);
  EXPECT_EQ(parse_number("-.inf"), -kInfinity);
  EXPECT_EQ(parse_number("1e-400"), 0.0);
  EXPECT_TRUE(std::isnan(*parse_number(".nan")));
  for (const char* wrong : {"", "-", "1 2", "1+2", "pie", "2*", "/2", "--1", "0x10", "1e", "1,5",
                            "- 1", "2**3", "e5", "1_000"})
    EXPECT_FALSE(parse_number(wrong).has_value()) << wrong;
}

TEST(Yaml, ShortestModel) {
  const Description d = read("catena: 1\n");
  EXPECT_EQ(d.name, "mechanism");
  EXPECT_EQ(d.gravity.z, -9.81);
}

TEST(Yaml, Body) {
  const Description d = read(R"(
catena: 1
name: one
gravity: [1, 2, 3]
bodies:
  plain: {mass: 2, center_of_mass: [1, 2, 3], inertia: [4, 5, 6]}
  full:
    mass: 1/4
    inertia: {xx: 1, yy: 2, zz: 3, xy: 0.1, xz: 0.2, yz: 0.3}
    inertia_axes: {rpy: [0, 0, pi/2]}
    visuals:
      - {shape: box, size: [1, 2, 3], colour: [0.1, 0.2, 0.3], name: case}
      - {shape: mesh, mesh: "package://robot/arm.stl", size: [0.001, 0.001, 0.001]}
      - {shape: capsule, radius: 0.1, length: 2, pose: {xyz: [0, 0, 1]}, colour: [1, 0, 0, 0.5]}
  nothing:
)");
  EXPECT_EQ(d.name, "one");
  EXPECT_EQ(d.gravity.y, 2.0);
  ASSERT_EQ(d.bodies.size(), 3U);
  const Body& plain = d.bodies[0];
  EXPECT_EQ(plain.name, "plain");
  EXPECT_EQ(plain.mass, 2.0);
  EXPECT_EQ(plain.center_of_mass.z, 3.0);
  EXPECT_EQ(plain.inertia.yy, 5.0);
  EXPECT_EQ(plain.inertia.xy, 0.0);
  EXPECT_EQ(plain.source.file, "test.yaml");
  EXPECT_EQ(plain.source.line, 6);
  const Body& full = d.bodies[1];
  EXPECT_EQ(full.mass, 0.25);
  EXPECT_EQ(full.inertia.yz, 0.3);
  EXPECT_EQ(full.inertia_axes.matrix(1, 0), 1.0);
  ASSERT_EQ(full.visuals.size(), 3U);
  EXPECT_EQ(full.visuals[0].name, "case");
  EXPECT_THAT(full.visuals[0].colour, ElementsAre(0.1, 0.2, 0.3, 1.0));
  EXPECT_EQ(full.visuals[1].mesh, "package://robot/arm.stl");
  EXPECT_EQ(full.visuals[2].pose.translation.z, 1.0);
  EXPECT_EQ(full.visuals[2].colour[3], 0.5);
  EXPECT_EQ(d.bodies[2].mass, 0.0);
}

TEST(Yaml, Hinge) {
  const Description d = read(R"(
catena: 1
bodies: {a: , b: , c: }
hinges:
  knee:
    type: revolute
    parent: world
    child: a
    axis: -y
    at: {xyz: [1, 2, 3], rpy: [0, 0, pi]}
    limits: [-.inf, 2]
    velocity_limit: 3
    effort_limit: 4
    damping: 0.5
    stiffness: 6
    rest: 0.7
    friction: {sliding: 1, breakaway: 2, stribeck_velocity: 0.1, transition_velocity: 1e-4}
    drive: {rotor_inertia: 1e-4, gear_ratio: -50, carrier: b, rotor_axis: [0, 1, 0],
            armature_only: true}
    cut: never
    locked_at: 0.3
    initial_position: 0.1
    initial_velocity: -0.2
  ball:
    type: spherical
    parent: a
    child: b
    frame_on_parent: [1, 0, 0]
    frame_on_child: {xyz: [0, 1, 0], quaternion: [0, 1, 0, 0]}
    damping: 0.1
    friction: 0.2
    freedoms: [{}, {damping: 0.3}]
    initial_position: [0, 0, 0, 1]
  cross: {type: universal, parent: b, child: c, axes: [x, [0, 3, 4]], freedoms: [{rest: 1}],
          cut: always, keeps_coordinates: true}
)");
  ASSERT_EQ(d.hinges.size(), 3U);
  const Hinge& knee = d.hinges[0];
  EXPECT_EQ(knee.source.line, 5);
  ASSERT_EQ(knee.axes.size(), 1U);
  EXPECT_EQ(knee.axes[0].y, -1.0);
  EXPECT_EQ(knee.frame_on_parent.translation.y, 2.0);
  EXPECT_EQ(knee.frame_on_parent.rotation.matrix(0, 0), -1.0);
  ASSERT_EQ(knee.freedoms.size(), 1U);
  const FreedomSettings& f = knee.freedoms[0];
  EXPECT_EQ(f.lower, -kInfinity);
  EXPECT_EQ(f.upper, 2.0);
  EXPECT_EQ(f.velocity_limit, 3.0);
  EXPECT_EQ(f.effort_limit, 4.0);
  EXPECT_EQ(f.damping, 0.5);
  EXPECT_EQ(f.stiffness, 6.0);
  EXPECT_EQ(f.rest, 0.7);
  EXPECT_EQ(f.friction.sliding, 1.0);
  EXPECT_EQ(f.friction.breakaway, 2.0);
  EXPECT_EQ(f.friction.stribeck_velocity, 0.1);
  EXPECT_EQ(f.friction.transition_velocity, 1e-4);
  ASSERT_TRUE(knee.drive.has_value());
  EXPECT_EQ(knee.drive->rotor_inertia, 1e-4);
  EXPECT_EQ(knee.drive->gear_ratio, -50.0);
  EXPECT_EQ(knee.drive->carrier, "b");
  EXPECT_EQ(knee.drive->rotor_axis->y, 1.0);
  EXPECT_TRUE(knee.drive->armature_only);
  EXPECT_EQ(knee.cut, Cut::never);
  EXPECT_FALSE(knee.keeps_coordinates);
  EXPECT_TRUE(d.hinges[2].keeps_coordinates);
  EXPECT_THAT(knee.locked_at, ElementsAre(0.3));
  EXPECT_THAT(knee.initial_position, ElementsAre(0.1));
  EXPECT_THAT(knee.initial_velocity, ElementsAre(-0.2));
  const Hinge& ball = d.hinges[1];
  EXPECT_EQ(ball.type, HingeType::spherical);
  EXPECT_EQ(ball.frame_on_child.rotation.matrix(1, 1), -1.0);
  ASSERT_EQ(ball.freedoms.size(), 3U);
  EXPECT_EQ(ball.freedoms[0].damping, 0.1);
  EXPECT_EQ(ball.freedoms[1].damping, 0.3);
  EXPECT_EQ(ball.freedoms[2].friction.sliding, 0.2);
  EXPECT_EQ(ball.initial_position.size(), 4U);
  const Hinge& cross = d.hinges[2];
  ASSERT_EQ(cross.axes.size(), 2U);
  EXPECT_EQ(cross.axes[0].x, 1.0);
  EXPECT_EQ(cross.axes[1].z, 4.0);
  EXPECT_EQ(cross.freedoms.size(), 1U);
  EXPECT_EQ(cross.cut, Cut::always);
}

TEST(Yaml, OtherThings) {
  const Description d = read(R"(
catena: 1
bodies: {a: , b: }
frames:
  tip: {body: a, pose: [0, 0, 1]}
rods:
  link: {body_a: a, point_a: [1, 0, 0], body_b: b, point_b: [0, 2, 0], length: 3}
couplings:
  gear: {follower: h, leader: g, ratio: 50, offset: 0.1}
  sum:
    terms: [{hinge: h, coefficient: 2}, {hinge: g, freedom: 1, coefficient: -3}]
    constant: 4
springs:
  coil: {body_a: world, body_b: b, stiffness: 5, rest_length: 0.6, damping: 7}
)");
  ASSERT_EQ(d.frames.size(), 1U);
  EXPECT_EQ(d.frames[0].body, "a");
  EXPECT_EQ(d.frames[0].pose.translation.z, 1.0);
  ASSERT_EQ(d.rods.size(), 1U);
  EXPECT_EQ(d.rods[0].point_b.y, 2.0);
  EXPECT_EQ(d.rods[0].length, 3.0);
  ASSERT_EQ(d.couplings.size(), 2U);
  // q(follower) = ratio q(leader) + offset
  EXPECT_EQ(d.couplings[0].terms[0].hinge, "h");
  EXPECT_EQ(d.couplings[0].terms[0].coefficient, 1.0);
  EXPECT_EQ(d.couplings[0].terms[1].coefficient, -50.0);
  EXPECT_EQ(d.couplings[0].constant, 0.1);
  EXPECT_EQ(d.couplings[1].terms[1].freedom, 1);
  EXPECT_EQ(d.couplings[1].terms[1].coefficient, -3.0);
  EXPECT_EQ(d.couplings[1].constant, 4.0);
  ASSERT_EQ(d.springs.size(), 1U);
  EXPECT_EQ(d.springs[0].rest_length, 0.6);
  EXPECT_EQ(d.springs[0].damping, 7.0);
  EXPECT_EQ(d.springs[0].source.line, 14);
}

TEST(Yaml, AnchorsAndMergeKeys) {
  const Description d = read(R"(
catena: 1
bodies:
  a: &link {mass: 1, inertia: [1, 2, 2]}
  b: *link
  c: {<<: *link, mass: 3}
)");
  EXPECT_EQ(d.bodies[1].mass, 1.0);
  EXPECT_EQ(d.bodies[1].source.line, 5);
  EXPECT_EQ(d.bodies[2].mass, 3.0);
  EXPECT_EQ(d.bodies[2].inertia.yy, 2.0);
}

TEST(Yaml, WindowsLineEndsAndByteOrderMark) {
  const Description d = read(
      "\xef\xbb\xbf"
      "catena: 1\r\nbodies:\r\n  a: {mass: 2}\r\n");
  ASSERT_EQ(d.bodies.size(), 1U);
  EXPECT_EQ(d.bodies[0].mass, 2.0);
  EXPECT_EQ(d.bodies[0].source.line, 3);
}

TEST(Yaml, NamesOfAllKinds) {
  const Description d = read("catena: 1\nbodies:\n  \"left arm: 1\": \n  Ärmel: \n  '': \n  1: \n");
  ASSERT_EQ(d.bodies.size(), 4U);
  EXPECT_EQ(d.bodies[0].name, "left arm: 1");
  EXPECT_EQ(d.bodies[1].name, "Ärmel");
  EXPECT_EQ(d.bodies[2].name, "");
  EXPECT_EQ(d.bodies[3].name, "1");
}

constexpr const char* kLink = R"(catena: 1
name: link
gravity: [0, -1, 0]
bodies:
  link: {mass: 1, inertia: [1, 1, 1]}
  tip: {mass: 2, inertia: [1, 1, 1]}
hinges:
  pin: {type: revolute, parent: world, child: link, axis: z, limits: [-1, 1], damping: 3}
  wrist: {type: spherical, parent: link, child: tip, at: [1, 0, 0]}
frames:
  mark: {body: tip}
)";

TEST(Yaml, BaseOfPartsWithoutAHinge) {
  const std::string text = "catena: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1]}\n";
  EXPECT_THAT(read(text).hinges, IsEmpty());
  const Description free = read(text + "base: free\n");
  ASSERT_EQ(free.hinges.size(), 1U);
  EXPECT_EQ(free.hinges[0].type, HingeType::free);
  EXPECT_EQ(read(text + "base: fixed\n").hinges[0].type, HingeType::weld);
  // The caller's wish overrides the file's.
  EXPECT_EQ(read(text + "base: free\n", {.base = Base::fixed}).hinges[0].type, HingeType::weld);
  EXPECT_EQ(read(text, {.base = Base::free}).hinges[0].type, HingeType::free);
  EXPECT_EQ(read(kLink, {.base = Base::free}).hinges.size(), 2U);
}

TEST(Yaml, GravityOfTheCaller) {
  EXPECT_EQ(read(kLink, {.gravity = Vec3d{0, 0, -1.62}}).gravity.z, -1.62);
}

TEST(Yaml, FromThenChanges) {
  const test::TemporaryFolder folder;
  folder.write("link.yaml", kLink);
  const std::string path = folder.write("changed.yaml", R"(catena: 1
from: link.yaml
name: changed
change:
  bodies:
    link: {mass: 5}
  hinges:
    pin: {damping: 4, drive: {gear_ratio: 10}, initial_position: 0.5}
lock: {pin: 0.25}
bodies:
  tool: {mass: 0.1, inertia: [1, 1, 1]}
hinges:
  grip: {type: weld, parent: tip, child: tool}
)");
  const Reading reading = read_yaml(path);
  EXPECT_THAT(reading.diagnostics, IsEmpty());
  EXPECT_TRUE(reading.strict);
  const Description& d = reading.description;
  EXPECT_EQ(d.name, "changed");
  EXPECT_EQ(d.gravity.y, -1.0);
  ASSERT_EQ(d.bodies.size(), 3U);
  EXPECT_EQ(d.bodies[0].mass, 5.0);
  EXPECT_EQ(d.bodies[0].inertia.xx, 1.0);
  EXPECT_EQ(d.bodies[0].source.file, path);
  EXPECT_EQ(d.bodies[0].source.line, 6);
  EXPECT_EQ(d.hinges[0].freedoms[0].damping, 4.0);
  EXPECT_EQ(d.hinges[0].freedoms[0].upper, 1.0);
  EXPECT_EQ(d.hinges[0].drive->gear_ratio, 10.0);
  EXPECT_EQ(d.hinges[0].parent, "world");
  EXPECT_THAT(d.hinges[0].locked_at, ElementsAre(0.25));
  EXPECT_EQ(d.hinges[2].name, "grip");
  const Mechanism m = MechanismBuilder(d).finish();
  EXPECT_EQ(m.freedoms(), 3);
}

TEST(Yaml, UnlockAndRemove) {
  const test::TemporaryFolder folder;
  folder.write("link.yaml", std::string(kLink) + "lock: [pin, wrist]\n");
  const std::string path = folder.write("changed.yaml", R"(catena: 1
from: link.yaml
remove: {bodies: [tip]}
change: {hinges: {pin: {locked_at: []}}}
)");
  const Reading reading = read_yaml(path);
  EXPECT_THAT(reading.diagnostics, IsEmpty());
  const Description& d = reading.description;
  EXPECT_EQ(d.bodies.size(), 1U);
  ASSERT_EQ(d.hinges.size(), 1U);
  EXPECT_THAT(d.hinges[0].locked_at, IsEmpty());
  EXPECT_THAT(d.frames, IsEmpty());
}

TEST(Yaml, AttachTwice) {
  const test::TemporaryFolder folder;
  folder.write("link.yaml", kLink);
  const std::string path = folder.write("pair.yaml", R"(catena: 1
attach:
  - {file: link.yaml, prefix: left_, onto: bar, pose: [1, 0, 0]}
  - {file: link.yaml, prefix: right_, onto: bar, pose: [-1, 0, 0]}
bodies:
  bar: {mass: 3, inertia: [1, 1, 1]}
hinges:
  slide: {type: prismatic, parent: world, child: bar, axis: x}
lock: [left_wrist]
)");
  const Reading reading = read_yaml(path);
  EXPECT_THAT(reading.diagnostics, IsEmpty());
  const Mechanism m = MechanismBuilder(reading.description).finish();
  EXPECT_EQ(m.bodies().size(), 5U);
  EXPECT_EQ(m.freedoms(), 1 + 1 + 1 + 3);
  EXPECT_EQ(m.total_mass(), 9.0);
  EXPECT_EQ(m.gravity().z, -9.81);
  EXPECT_EQ(reading.description.hinges[0].name, "left_pin");
  EXPECT_EQ(reading.description.hinges[0].parent, "bar");
  EXPECT_EQ(reading.description.hinges[2].frame_on_parent.translation.x, -1.0);
}

}  // namespace
}  // namespace catena
