// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/used_hinges.h"

#include <fstream>

#include <gtest/gtest.h>

#include "catena/model/builder.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/testing/linkage_parts.h"

namespace catena {
namespace {

using test::shift;

// Cut at C, which has no coordinates unless something needs them.
Mechanism four_bar() {
  MechanismBuilder b("four_bar");
  for (const char* name : {"crank", "coupler", "rocker"})
    b.add_body(name, {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("A", kWorld, "crank", {});
  b.add_hinge("B", "crank", "coupler", {.frame_on_parent = shift(1.0)});
  b.add_hinge("C", "coupler", "rocker", {.frame_on_parent = shift(2.0), .cut = Cut::always});
  b.add_hinge("D", "rocker", kWorld, {.frame_on_parent = shift(1.5), .frame_on_child = shift(2.0)});
  return b.finish();
}

std::string file(const std::string& text) {
  const std::string path = testing::TempDir() + "used_hinges.yaml";
  std::ofstream(path) << text;
  return path;
}

using Names = std::vector<std::string>;

class UsedHingesTest : public testing::Test {
 protected:
  Names of_settings(const std::string& text) const {
    UsedHinges used(m);
    used.add_settings_file(file(text));
    return used.names();
  }
  Names of_state(const std::string& text) const {
    UsedHinges used(m);
    used.add_state_file(file(text));
    return used.names();
  }
  Names of_signals(const Names& signals) const {
    UsedHinges used(m);
    used.add_signals(signals);
    return used.names();
  }
  const Mechanism m = four_bar();
};

TEST_F(UsedHingesTest, ACommentAddsNoCoordinate) {
  const std::string comment = "# C closes the loop; q.C is not given\n";
  UsedHinges used(m);
  used.add_settings_file(file(comment + "duration: 1  # of C\ninputs: {A: 2*t}\n"));
  EXPECT_EQ(used.names(), Names{"A"});
  EXPECT_EQ(used.with_coordinates().freedoms(), 3);
  used.add_settings_file(file(comment + "inputs: {C: 2*t}\n"));
  EXPECT_EQ(used.names(), (Names{"A", "C"}));
  const Mechanism with = used.with_coordinates();
  EXPECT_EQ(with.freedoms(), 4);
  StateInput input = default_input(with);
  SimulationSettings settings;
  EXPECT_NO_THROW(read_settings_file(file("inputs: {C: 2*t}\n"), with, input, settings));
}

TEST_F(UsedHingesTest, EverySettingThatNamesAHinge) {
  for (const char* text :
       {"inputs: {C: 1}", "motions: {C: t}", "controllers: {C: {kp: 1}}", "outputs: [q.C]",
        "outputs: ['*.kinetic', reaction.C]", "restitutions: {C: 0.5}", "state: {q: {C: 0.1}}",
        "events: {high: q.C - 1}", "events: {high: {when: 'step(v.C)', action: stop}}",
        "constraints: {latch: {type: lock, freedom: C}}",
        "constraints: {tip: {type: servo, body: crank, motion: {x: t}, actuators: [C]}}",
        "switches: {shut: {when: q.C - 1.2, activate: [latch]}}"})
    EXPECT_EQ(of_settings(text), Names{"C"}) << text;
  EXPECT_EQ(of_settings("inputs: {A: sin(q.C)*v.D}"), (Names{"A", "C", "D"}));
}

// Bodies, constraints and events may have the name of a hinge; forces need no coordinates.
TEST_F(UsedHingesTest, OtherThingsOfThatName) {
  for (const char* text :
       {"events: {C: t - 1}", "constraints: {C: {type: contact, body: crank}}",
        "switches: {C: {at: 1, release: [C]}}", "state: {external: [{body: C}]}", "inputs: {CA: 1}",
        "outputs: [force.C.x, position.C.x, 'q.*']", "nonsense: {C: 1}", "[C]", "C", ""})
    EXPECT_EQ(of_settings(text), Names{}) << text;
}

TEST_F(UsedHingesTest, States) {
  for (const char* key : {"q", "v", "effort", "acceleration"})
    EXPECT_EQ(of_state(std::string(key) + ": {C: 0}  # not D"), Names{"C"});
  EXPECT_EQ(of_state("motion_driven: [C, A]"), (Names{"A", "C"}));
  EXPECT_EQ(of_state("q: [1, 2, 3]  # C"), Names{});
  EXPECT_EQ(of_state("q: {C"), Names{});  // is reported when the file is read
  UsedHinges used(m);
  used.add_state_file("there is no such file");
  EXPECT_EQ(used.names(), Names{});
}

TEST_F(UsedHingesTest, Signals) {
  for (const char* signal : {"C", "C.x", "q.C", "v.C", "a.C", "effort.C", "hinge.C.damping"})
    EXPECT_EQ(of_signals({signal}), Names{"C"}) << signal;
  for (const char* signal : {"CC", "force.C.x", "q.*", "body.C.mass", "hinge.*.damping", "mass.C"})
    EXPECT_EQ(of_signals({signal}), Names{}) << signal;
}

}  // namespace
}  // namespace catena
