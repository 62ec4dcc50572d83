// SPDX-License-Identifier: BSD-3-Clause
// Flexible bodies in YAML: what is read, what is written, and what is said of mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/flexible/beam.h"
#include "catena/io/models/yaml.h"
#include "catena/io/testing/edited_text.h"
#include "catena/model/builder.h"

namespace catena {
namespace {

using testing::HasSubstr;

constexpr const char* kCrane = R"(catena: 1
bodies:
  boom:
    mass: 0.3
    flexible:
      length: 2.0
      section: {shape: tube, radius: 0.03, inner_radius: 0.028}
      end_section: {radius: 0.02, inner_radius: 0.018}
      material: {youngs_modulus: 70e9, poisson_ratio: 0.33, density: 2700}
      pose: {xyz: [0.1, 0, 0], rpy: [0, 0, pi/2]}
      attachments: {tip: 2.0, middle: {station: 1.0, load_mass: 0.5}}
      modes: 14
      damping: {ratios: 0.01, stiffness: 1e-6, bands: [{below: 100, ratio: 0.02}]}
      initial_velocity: [0.01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  load: {mass: 0.5, inertia: [1e-3, 1e-3, 1e-3]}
hinges:
  slew: {type: revolute, parent: world, child: boom, axis: z}
  grip: {type: revolute, parent: boom.tip, child: load, axis: y}
)";

std::string messages(const std::string& text) {
  std::string all;
  const Reading reading = read_yaml_text(text, "crane.yaml");
  for (const Diagnostic& d : reading.diagnostics) all += d.text() + "\n";
  return all;
}

TEST(YamlFlexible, ReadsABeam) {
  const Reading reading = read_yaml_text(kCrane, "crane.yaml");
  for (const Diagnostic& d : reading.diagnostics) ADD_FAILURE() << d.text();
  const Mechanism m = MechanismBuilder(reading.description).finish();
  ASSERT_EQ(m.flexible_bodies().size(), 1u);
  const FlexibleBody& b = *m.flexible_bodies()[0].constants;
  EXPECT_EQ(b.modes(), 14);
  EXPECT_EQ(m.position_names()[1], "boom.mode1");
  EXPECT_EQ(m.position_names().back(), "grip");
  EXPECT_EQ(m.default_state().v[1], 0.01);
  // The same by code.
  BeamSettings s{.length = 2.0};
  s.section = {.shape = BeamSection::Shape::tube, .radius = 0.03, .inner_radius = 0.028};
  s.end_section =
      BeamSection{.shape = BeamSection::Shape::tube, .radius = 0.02, .inner_radius = 0.018};
  s.material = BeamMaterial{70e9, 70e9 / 2.66, 2700.0};
  s.attachments = {{.name = "tip", .station = 2.0}, {.name = "middle", .station = 1.0}};
  s.modes = {.count = 14};
  const auto same = make_beam(s);
  EXPECT_NEAR(b.mass, same->mass, 1e-12);
  EXPECT_NEAR((b.frequencies() - same->frequencies()).norm(), 0.0, 1e-6 * b.frequencies().norm());
  // About the turned beam's own axis, body y.
  EXPECT_NEAR(b.mass_moment.y, same->mass_moment.x, 1e-12);
}

TEST(YamlFlexible, WritesWhatItReads) {
  const Reading first = read_yaml_text(kCrane, "crane.yaml");
  const std::string written = write_yaml(first.description);
  EXPECT_THAT(written, HasSubstr("flexible:"));
  EXPECT_EQ(written.find("boom.modes"), written.npos);
  const Reading second = read_yaml_text(written, "written.yaml");
  for (const Diagnostic& d : second.diagnostics) ADD_FAILURE() << d.text() << "\n" << written;
  EXPECT_EQ(write_yaml(second.description), written);
  const Mechanism a = MechanismBuilder(first.description).finish();
  const Mechanism b = MechanismBuilder(second.description).finish();
  EXPECT_EQ(a.flexible_bodies()[0].constants->stiffness,
            b.flexible_bodies()[0].constants->stiffness);
  EXPECT_EQ(a.default_state().v, b.default_state().v);
}

TEST(YamlFlexible, EqualBeamsShareTheirConstants) {
  std::string text = "catena: 1\nbodies:\n";
  for (const char* name : {"a", "b"})
    text += std::string("  ") + name +
            ": {flexible: {length: 1, section: {EIz: 2, mass_per_length: 1}, modes: 2, mode_set: "
            "clamped_free}}\n";
  text +=
      "hinges:\n  ha: {type: revolute, parent: world, child: a}\n"
      "  hb: {type: revolute, parent: world, child: b}\n";
  const Reading reading = read_yaml_text(text, "two.yaml");
  for (const Diagnostic& d : reading.diagnostics) ADD_FAILURE() << d.text();
  const Mechanism m = MechanismBuilder(reading.description).finish();
  EXPECT_EQ(m.flexible_bodies()[0].constants, m.flexible_bodies()[1].constants);
}

TEST(YamlFlexible, MistakesNameFileLineAndRemedy) {
  const std::string outside = messages(test::with(kCrane, "tip: 2.0", "tip: 2.5"));
  EXPECT_THAT(outside, HasSubstr("crane.yaml:5: error:"));
  EXPECT_THAT(outside, HasSubstr("attachment 'tip' at station 2.5 outside the body"));
  EXPECT_THAT(messages(test::with(kCrane, "modes: 14", "modes: 3")),
              HasSubstr("Craig-Bampton needs 12"));
  EXPECT_THAT(messages(test::with(kCrane, "modes: 14", "mode: 14")), HasSubstr("modes"));
  EXPECT_THAT(messages(test::with(kCrane, "shape: tube", "shape: pipe")), HasSubstr("section"));
  EXPECT_THAT(messages(test::with(kCrane, "      length: 2.0\n", "")),
              HasSubstr("needs 'length:'"));
  EXPECT_THAT(messages(test::with(kCrane, "poisson_ratio: 0.33, ", "")),
              HasSubstr("poisson_ratio"));
}

}  // namespace
}  // namespace catena
