// SPDX-License-Identifier: BSD-3-Clause
// Wrong flexible bodies: what is said of them.
#include <functional>

#include <gtest/gtest.h>

#include "catena/flexible/beam.h"
#include "catena/flexible/matrices_body.h"

namespace catena {
namespace {

BeamSettings good_beam() {
  BeamSettings s{.length = 1.0};
  s.section.values = {1e4, 1.0, 2.0, 1.0, 1.0, 0.01, 0.0, 0.0};
  s.attachments = {{.name = "tip", .station = 1.0}};
  s.modes = {.count = 8};
  return s;
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const ModelError& e) {
    return e.what();
  }
  return "no error";
}

std::string beam_message(const std::function<void(BeamSettings&)>& change) {
  BeamSettings s = good_beam();
  change(s);
  return message_of([&] { make_beam(s, "boom", {"crane.yaml", 12}); });
}

std::string body_message(const std::function<void(FlexibleBody&)>& change) {
  FlexibleBody b = *make_beam(good_beam());
  change(b);
  std::string text;
  for (const Diagnostic& d : check_flexible_body(b, "body 'boom'", {"crane.yaml", 12}))
    text += d.text() + "\n";
  return text;
}

#define EXPECT_SAYS(message, words) EXPECT_NE((message).find(words), std::string::npos) << (message)

TEST(FlexibleCheck, GoodOnesPass) {
  EXPECT_EQ(beam_message([](BeamSettings&) {}), "no error");
  EXPECT_EQ(body_message([](FlexibleBody&) {}), "");
}

TEST(FlexibleCheck, BeamsNameFileLineAndRemedy) {
  const std::string outside = beam_message([](BeamSettings& s) { s.attachments[0].station = 1.2; });
  EXPECT_SAYS(outside, "crane.yaml:12: error: beam 'boom' has its attachment 'tip' at station 1.2");
  EXPECT_SAYS(outside, "outside the body");
  EXPECT_SAYS(beam_message([](BeamSettings& s) { s.modes.count = 0; }), "has no modes");
  EXPECT_SAYS(beam_message([](BeamSettings& s) { s.modes.count = 3; }), "Craig-Bampton needs 6");
  EXPECT_SAYS(beam_message([](BeamSettings& s) {
                s.modes = {.set = ModeSet::clamped_free, .frequency_limit = 1e-3};
              }),
              "no mode below");
  EXPECT_SAYS(beam_message([](BeamSettings& s) { s.section.values.bending_y = -1.0; }), "EIy = -1");
  EXPECT_SAYS(beam_message([](BeamSettings& s) { s.section.values.rotary_x = 0.0; }),
              "no polar rotary inertia");
  EXPECT_SAYS(beam_message([](BeamSettings& s) { s.section.values.mass_per_length = 0.0; }),
              "mass per length");
  EXPECT_SAYS(beam_message([](BeamSettings& s) { s.length = -1.0; }), "length -1");
  EXPECT_SAYS(beam_message([](BeamSettings& s) { s.section.shape = BeamSection::Shape::circle; }),
              "no material");
}

TEST(FlexibleCheck, ConstantsAreChecked) {
  EXPECT_SAYS(body_message([](FlexibleBody& b) { b.stiffness(0, 1) += 1.0; }), "not symmetric");
  EXPECT_SAYS(body_message([](FlexibleBody& b) { b.stiffness(0, 0) *= -1.0; }), "indefinite");
  EXPECT_SAYS(body_message([](FlexibleBody& b) {
                b.stiffness.row(1).setZero();
                b.stiffness.col(1).setZero();
              }),
              "rigid motion");
  EXPECT_SAYS(body_message([](FlexibleBody& b) { b.stiffness.setZero(); }), "frequencies are 0");
  EXPECT_SAYS(body_message([](FlexibleBody& b) { b.modal_mass(2, 2) = 0.0; }), "modal mass");
  EXPECT_SAYS(body_message([](FlexibleBody& b) { b.mass_moment_1 *= 3.0; }), "no real body");
  EXPECT_SAYS(body_message([](FlexibleBody& b) { b.damping(0, 0) = -1.0; }), "feeds energy");
  EXPECT_SAYS(body_message([](FlexibleBody& b) { b.damping(0, 0) = 1e3; }), "above critical");
  EXPECT_SAYS(body_message([](FlexibleBody& b) { b.inertia_1.resize(6, 2); }), "6 x 2");
  EXPECT_SAYS(body_message([](FlexibleBody& b) { b.coupling_0(0, 0) = NAN; }), "not a number");
  EXPECT_SAYS(body_message([](FlexibleBody& b) { b.attachments.push_back(b.attachments[0]); }),
              "two attachments");
  EXPECT_SAYS(body_message([](FlexibleBody& b) { b = FlexibleBody{}; }), "has no modes");
}

TEST(FlexibleCheck, Matrices) {
  MatricesBodySettings s{.nodes = {{0, 0, 0}, {1, 0, 0}}};
  s.mass = Eigen::MatrixXd::Identity(6, 6);
  s.stiffness = 10.0 * Eigen::MatrixXd::Identity(6, 6);
  s.clamped_nodes = {0};
  s.modes = {.set = ModeSet::clamped_free, .count = 2};
  s.model = FlexibleModel::ruthless;
  const auto message = [&](const std::function<void(MatricesBodySettings&)>& change) {
    MatricesBodySettings bad = s;
    change(bad);
    return message_of([&] { make_matrices_body(bad, "panel", {"sat.yaml", 3}); });
  };
  EXPECT_EQ(message([](MatricesBodySettings&) {}), "no error");
  EXPECT_SAYS(message([](MatricesBodySettings& b) { b.stiffness(0, 3) = 1.0; }),
              "entries (1, 4) = 1 and (4, 1) = 0");
  EXPECT_SAYS(message([](MatricesBodySettings& b) { b.stiffness *= -1.0; }),
              "indefinite stiffness");
  EXPECT_SAYS(message([](MatricesBodySettings& b) { b.stiffness(5, 5) = 0.0; }), "frequency 0");
  EXPECT_SAYS(message([](MatricesBodySettings& b) { b.clamped_nodes = {}; }), "rigid motion");
  EXPECT_SAYS(message([](MatricesBodySettings& b) { b.clamped_nodes = {2}; }), "outside the body");
  EXPECT_SAYS(message([](MatricesBodySettings& b) { b.model = FlexibleModel::consistent; }),
              "ruthless");
  EXPECT_SAYS(message([](MatricesBodySettings& b) { b.mass.resize(3, 3); }), "need 6");
}

}  // namespace
}  // namespace catena
