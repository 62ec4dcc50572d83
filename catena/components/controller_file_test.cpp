// SPDX-License-Identifier: BSD-3-Clause
// Controllers in files: what is written is read back, mistakes are named, and a run with a
// controller from a file is that of the same controller given in the program.
#include "catena/components/controller_file.h"

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/linear/analysis.h"
#include "catena/linear/discretize.h"
#include "catena/model/builder.h"
#include "catena/simulation/settings_file.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::HasSubstr;

Mechanism one_mass() {
  MechanismBuilder builder("mass");
  builder.set_gravity({0.0, 0.0, 0.0});
  builder.add_body("cart", {.mass = 2.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)});
  builder.add_hinge("rail", "world", "cart",
                    {.type = HingeType::prismatic, .axes = {{1.0, 0.0, 0.0}}});
  return builder.finish();
}

// u = −30 δq − 8 (filtered rate).
StateSpace lead() {
  StateSpace k = ss(MatrixXd::Constant(1, 1, -40.0), MatrixXd::Constant(1, 1, 40.0),
                    MatrixXd::Constant(1, 1, 320.0), MatrixXd::Constant(1, 1, -350.0));
  k.inputs = {"q.rail"};
  k.outputs = {"rail"};
  return k;
}

State pulled(const Mechanism& m) {
  State state = m.default_state();
  state.q << 0.4;
  return state;
}

VectorXd end_of(const Mechanism& m, const ActionSettings& actions) {
  SimulationSettings settings;
  settings.duration = 1.5;
  settings.actions = actions;
  MemoryRecorder record;
  const SimulationResult r = simulate(m, pulled(m), settings, record);
  VectorXd x(2);
  x << r.state.q, r.state.v;
  return x;
}

TEST(ControllerFile, WhatIsWrittenIsReadBack) {
  LinearControllerSettings c;
  c.system = sampled(lead(), 0.01);
  c.delay = 0.003;
  c.offset = 0.001;
  c.lower = VectorXd::Constant(1, -7.0);
  c.upper = VectorXd::Constant(1, 5.0 / 3.0);
  const LinearControllerSettings back = controller_from_yaml(controller_to_yaml(c), "K.yaml");
  EXPECT_EQ(back.system.A, c.system.A);
  EXPECT_EQ(back.system.D, c.system.D);
  EXPECT_EQ(back.system.dt, 0.01);
  EXPECT_EQ(back.system.inputs, c.system.inputs);
  EXPECT_EQ(back.delay, c.delay);
  EXPECT_EQ(back.offset, c.offset);
  EXPECT_EQ(back.lower, c.lower);
  EXPECT_EQ(back.upper, c.upper);
}

TEST(ControllerFile, PeriodMeansTustin) {
  const std::string text = controller_to_yaml({.system = lead()}) + "controller: {period: 0.02}\n";
  const LinearControllerSettings c = controller_from_yaml(text, "K.yaml");
  EXPECT_EQ(c.system.dt, 0.02);
  // Tustin: the pole s goes to (1 + s T/2)/(1 − s T/2).
  EXPECT_NEAR(poles(c.system)[0].real(), (1.0 - 40.0 * 0.01) / (1.0 + 40.0 * 0.01), 1e-14);
}

TEST(ControllerFile, RunsAsTheControllerOfTheProgram) {
  const Mechanism m = one_mass();
  const std::string path = testing::TempDir() + "catena_controller_file_test.yaml";
  save_controller({.system = lead()}, path);
  ActionSettings direct;
  direct.components = {linear_controller({.system = sampled(lead(), 0.01),
                                          .delay = 0.004,
                                          .lower = VectorXd::Constant(1, -6.0),
                                          .upper = VectorXd::Constant(1, 6.0)})};
  ActionSettings file;
  file.controller_files = {
      {.file = path, .period = 0.01, .delay = 0.004, .limits = {{"rail", 6.0}}}};
  EXPECT_THROW(end_of(m, file), Error);  // not read yet
  connect_controllers(file);
  EXPECT_EQ(end_of(m, file), end_of(m, direct));
  // And from the settings that a run keeps.
  SimulationSettings kept, again;
  kept.actions = file;
  StateInput input = default_input(m);
  std::remove(path.c_str());
  read_settings_text(settings_json(kept, m), "run", m, input, again);
  connect_controllers(again.actions);
  EXPECT_EQ(end_of(m, again.actions), end_of(m, direct));
}

TEST(ControllerFile, MistakesAreNamed) {
  const auto message = [](const std::string& text) {
    try {
      controller_from_yaml(text, "K.yaml");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  const std::string gain = "linear system: 1\nD: [[1]]\n";
  EXPECT_THAT(message(gain + "controller: {perod: 1}\n"), HasSubstr("K.yaml:3"));
  EXPECT_THAT(message(gain + "controller: {delay: -1}\n"), HasSubstr("negative"));
  EXPECT_THAT(message("linear system: 2\nD: [[1]]\n"), HasSubstr("version 2"));
  EXPECT_THAT(message(""), HasSubstr("empty"));
  ActionSettings actions;
  actions.controller_files = {{.system = gain, .limits = {{"y2", 1.0}}}};
  EXPECT_THROW(connect_controllers(actions), NameError);
  actions.controller_files = {{.system = gain, .limits = {{"y1", -1.0}}}};
  EXPECT_THROW(connect_controllers(actions), Error);
  EXPECT_THROW(sampled(sampled(lead(), 0.01), 0.02), Error);
}

}  // namespace
}  // namespace catena
