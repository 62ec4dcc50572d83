// SPDX-License-Identifier: BSD-3-Clause
// Read, write, read gives the same mechanism, to the bit.
#include <filesystem>
#include <numbers>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/base/testing/temporary_folder.h"
#include "catena/io/models/yaml.h"
#include "catena/io/testing/description_equality.h"
#include "catena/model/validation.h"

namespace catena {
namespace {

using testing::HasSubstr;
using testing::Not;

Description read_back(const std::string& text) {
  const Reading reading = read_yaml_text(text, "written.yaml");
  for (const Diagnostic& problem : reading.diagnostics)
    if (problem.severity == Severity::error) ADD_FAILURE() << problem.text() << "\n" << text;
  return reading.description;
}

// Descriptions with everything in them, of any bits that the format allows.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  Description description() {
    Description d;
    d.name = name("mechanism");
    d.gravity = vector();
    for (int i = 0; i < 12; ++i) d.bodies.push_back(body(i));
    for (int i = 0; i < 24; ++i) d.hinges.push_back(hinge(i, d));
    for (int i = 0; i < 4; ++i) d.frames.push_back({name("f", i), any(d), pose(), {}});
    for (int i = 0; i < 3; ++i)
      d.rods.push_back({name("r", i), any(d), vector(), any(d), vector(), real(), {}});
    for (int i = 0; i < 3; ++i)
      d.springs.push_back(
          {name("s", i), any(d), vector(), any(d), vector(), real(), real(), real(), {}});
    for (int i = 0; i < 6; ++i) {
      Coupling& coupling = d.couplings.emplace_back();
      coupling.name = name("c", i);
      coupling.constant = real();
      const int terms = 1 + below(3);
      for (int k = 0; k < terms; ++k)
        coupling.terms.push_back({d.hinges[index(below(24))].name, below(3) == 0 ? 1 : 0,
                                  k == 0 && below(2) == 0 ? 1.0 : real()});
    }
    return d;
  }

 private:
  int below(int n) { return std::uniform_int_distribution<>(0, n - 1)(engine_); }
  double unit() { return std::uniform_real_distribution<>(-1.0, 1.0)(engine_); }
  double real() {
    switch (below(8)) {
      case 0:
        return 0.0;
      case 1:
        return -0.0;
      case 2:
        return unit() * std::pow(10.0, below(600) - 300);
      case 3:
        return below(100) / 10.0;
      case 4:
        return std::numeric_limits<double>::denorm_min() * below(1000);
      default:
        return unit();
    }
  }
  double angle() {
    switch (below(4)) {
      case 0:
        return (below(25) - 12) * std::numbers::pi / 12;
      case 1:
        return below(62832) / 10000.0 - 3.1416;
      case 2:
        return 0.0;
      default:
        return 3.14159 * unit();
    }
  }
  Vec3d vector() { return {real(), real(), real()}; }
  Rotationd rotation() {
    switch (below(4)) {
      case 0:
        return {};
      case 1: {
        const Quaterniond q{unit(), unit(), unit(), unit()};
        return Rotationd::from_quaternion(normalized(q));
      }
      default:
        return Rotationd::from_rpy(angle(), angle(), angle());
    }
  }
  Transformd pose() { return {rotation(), below(3) == 0 ? Vec3d{} : vector()}; }
  std::string name(const std::string& start, int number = 0) {
    static const std::string kOdd[] = {"",   " x", "\"quoted\"", "a: b", "#",   "ß",
                                       "\\", "\n", "[1, 2]",     "- y",  "\x04"};
    const std::string plain = start + std::to_string(number);
    return below(3) == 0 ? kOdd[below(11)] + plain : plain;
  }
  std::string any(const Description& d) {
    const int i = below(static_cast<int>(d.bodies.size()) + 1);
    return i == 0 ? kWorld : d.bodies[index(i - 1)].name;
  }
  Body body(int i) {
    Body b;
    b.name = name("b", i);
    b.mass = real();
    b.center_of_mass = vector();
    b.inertia = {real(), real(), real(), real(), real(), real()};
    if (below(2) == 0) b.inertia = SymMat3d::diagonal(real(), real(), real());
    b.inertia_axes = rotation();
    for (int k = below(3); k > 0; --k) {
      Visual& v = b.visuals.emplace_back();
      v.shape = static_cast<Visual::Shape>(below(5));
      v.pose = pose();
      if (below(2) == 0) v.size = vector();
      v.radius = real();
      v.length = real();
      if (below(2) == 0) v.mesh = name("package://meshes/");
      if (below(2) == 0) v.name = name("shape");
      if (below(2) == 0) v.colour = {real(), real(), real(), real()};
    }
    for (int k = below(3); k > 0; --k) {
      Collision& c = b.collisions.emplace_back();
      c.shape = static_cast<Collision::Shape>(below(5));
      c.pose = pose();
      if (below(2) == 0) c.size = vector();
      c.radius = real();
      c.length = real();
      if (below(2) == 0) c.mesh = name("package://meshes/");
      if (below(2) == 0) c.name = name("shape");
      if (below(2) == 0) c.friction = real();
      if (below(2) == 0) c.restitution = real();
    }
    return b;
  }
  FreedomSettings freedom() {
    FreedomSettings f;
    if (below(2) == 0) f.lower = real();
    if (below(2) == 0) f.upper = real();
    if (below(2) == 0) f.velocity_limit = real();
    if (below(2) == 0) f.effort_limit = real();
    f.damping = real();
    f.stiffness = real();
    f.rest = real();
    if (below(2) == 0) f.friction = {real(), real(), real(), real()};
    if (below(3) == 0) f = {};
    return f;
  }
  std::vector<double> reals(int n) {
    std::vector<double> values;
    values.reserve(to_size(n));
    for (int i = 0; i < n; ++i) values.push_back(real());
    return values;
  }
  Hinge hinge(int i, const Description& d) {
    Hinge h;
    h.name = name("h", i);
    h.parent = any(d);
    h.child = any(d);
    h.type = static_cast<HingeType>(i % 11);  // all but custom
    for (int k = below(4); k > 0; --k) h.axes.push_back(vector());
    h.pitch = below(2) == 0 ? real() : 0.0;
    if (below(4) > 0) h.frame_on_parent = pose();
    if (below(4) == 0) h.frame_on_child = pose();
    for (int k = below(freedoms_of(h.type) + 1); k > 0; --k) h.freedoms.push_back(freedom());
    if (below(3) == 0) {
      h.drive = DriveSettings{real(), real(), below(2) == 0 ? "" : any(d), {}, below(2) == 0};
      if (below(2) == 0) h.drive->rotor_axis = vector();
    }
    h.cut = static_cast<Cut>(below(3));
    h.keeps_coordinates = below(3) == 0;
    if (below(3) == 0) h.locked_at = reals(coordinates_of(h.type));
    if (below(2) == 0) h.initial_position = reals(coordinates_of(h.type));
    if (below(2) == 0) h.initial_velocity = reals(freedoms_of(h.type));
    return h;
  }

  std::mt19937 engine_;
};

TEST(YamlWriter, WhatIsReadWithWarningsIsWrittenSo) {
  Description d;
  d.name = "odd";
  Body body;
  body.name = "a";
  body.mass = 1.0;
  body.inertia = SymMat3d::diagonal(1e-3, 1e-3, 1.0);  // no body has it; URDF files do
  d.bodies.push_back(body);
  const std::string text = write_yaml(d);
  EXPECT_THAT(text, HasSubstr("strict: false"));
  const Reading back = read_yaml_text(text, "written.yaml");
  EXPECT_FALSE(back.strict);
  EXPECT_FALSE(has_error(validate(back.description, {.strict = back.strict})));
  d.bodies[0].inertia.zz = 1.5e-3;
  EXPECT_THAT(write_yaml(d), Not(HasSubstr("strict")));
}

TEST(YamlWriter, RandomDescriptionsComeBackToTheBit) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Description d = Random(seed).description();
    expect_same(read_back(write_yaml(d)), d);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(YamlWriter, ModelsComeBackToTheBit) {
  int models = 0;
  for (const auto& file : std::filesystem::directory_iterator(CATENA_SOURCE_DIR "/models")) {
    if (file.path().extension() != ".yaml") continue;
    ++models;
    SCOPED_TRACE(file.path().string());
    const Mechanism first = load(file.path().string());
    const Description again = read_back(write_yaml(first.description()));
    expect_same(again, first.description());
    const Mechanism second = MechanismBuilder(again).finish();
    EXPECT_EQ(first.default_state().q, second.default_state().q);
    EXPECT_EQ(first.default_state().v, second.default_state().v);
  }
  EXPECT_GE(models, 15);
}

TEST(YamlWriter, Text) {
  Description d;
  d.name = "arm";
  d.bodies.push_back({{.mass = 1.5, .inertia = SymMat3d::diagonal(1, 2, 3)}, "link"});
  d.bodies.push_back({{}, "tip"});
  HingeSettings pin;
  pin.axes = {{0, 1, 0}};
  pin.frame_on_parent = {Rotationd::from_rpy(0.1, 0, -std::numbers::pi / 2), {0, 0, 0.25}};
  pin.freedoms = {{.lower = -1.0, .damping = 0.5}};
  d.hinges.push_back({pin, "pin", "world", "link"});
  EXPECT_EQ(write_yaml(d), R"(catena: 1
name: arm
gravity: [0, 0, -9.81]

bodies:
  link:
    mass: 1.5
    inertia: [1, 2, 3]
  tip: {}

hinges:
  pin:
    type: revolute
    parent: world
    child: link
    axis: [0, 1, 0]
    at: {xyz: [0, 0, 0.25], rpy: [0.1, 0, -pi/2]}
    limits: [-1, .inf]
    damping: 0.5
)");
}

// Angles that a person wrote come back as that person wrote them; others as a matrix.
TEST(YamlWriter, RotationsAreLegible) {
  const auto written = [](const Rotationd& r) {
    Description d;
    d.frames.push_back({"f", "world", {r, {}}, {}});
    return write_yaml(d);
  };
  EXPECT_THAT(written(Rotationd::from_rpy(1.5708, 0, 0.25)), HasSubstr("rpy: [1.5708, 0, 0.25]"));
  EXPECT_THAT(written(Rotationd::from_rpy(std::numbers::pi, 0, std::numbers::pi / 3)),
              HasSubstr("rpy: [pi, 0, pi/3]"));
  EXPECT_THAT(written(Rotationd::identity()), Not(HasSubstr("pose")));
  // rpy of exact axes would have entries of 6e-17.
  EXPECT_THAT(written({{{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}}}),
              HasSubstr("rotation: [[0, 0, 1], [1, 0, 0], [0, 1, 0]]"));
}

TEST(YamlWriter, CodeCannotBeWritten) {
  Description d;
  Hinge hinge;
  hinge.name = "cam";
  hinge.type = HingeType::custom;
  d.hinges.push_back(hinge);
  Coupling coupling;
  coupling.name = "follower";
  coupling.function = [](auto, auto&, auto, auto) {};
  d.couplings.push_back(coupling);
  try {
    write_yaml(d);
    FAIL();
  } catch (const ModelError& error) {
    ASSERT_EQ(error.problems().size(), 2U);
    EXPECT_THAT(error.problems()[0].message, HasSubstr("hinge 'cam' is custom"));
    EXPECT_THAT(error.problems()[1].message, HasSubstr("coupling 'follower' is a user function"));
  }
}

TEST(YamlWriter, Save) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("saved.yaml");
  Description d;
  d.name = "saved";
  save_yaml(d, path);
  EXPECT_EQ(read_yaml(path).description.name, "saved");
  EXPECT_THROW(save_yaml(d, folder.path("no/such/folder/a.yaml")), Error);
}

}  // namespace
}  // namespace catena
