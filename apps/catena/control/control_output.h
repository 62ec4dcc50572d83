// SPDX-License-Identifier: BSD-3-Clause
// What the commands of `catena control` print and write: certificates, poles, controllers.
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "apps/catena/control/plant.h"
#include "apps/catena/output.h"
#include "catena/control/certificate.h"
#include "catena/control/margins.h"

namespace catena::app {

std::string complex_text(const std::complex<double>& x);
std::string name_with_unit(const std::string& name, const std::string& unit);
Json complex_json(const Eigen::VectorXcd& values);
Json certificate_json(const Certificate& certificate);
// "checked" and the lines below it; worst frequency if there is one.
std::string certificate_text(const Certificate& certificate);
// Poles with frequency, damping, time constant and the states that take part most.
std::string poles_text(const StateSpace& system);
Json poles_json(const StateSpace& system);
Json system_json(const StateSpace& system);

// Options that all of them have.
struct ControlOptions {
  PlantOptions plant;
  std::string out, report;
  bool json = false;
  void add(Command& command, bool writes = true);
};

// The result of a design: text and JSON, -o and --report.
struct DesignOutput {
  std::string title;  // "LQG controller"
  std::string text;   // numbers of the design
  Json json = Json::object();
  StateSpace controller;  // u = K y, ready to run
  Certificate certificate;
  std::vector<std::pair<std::string, StateSpace>> weights{};  // 1/|W| bounds in the report
  LinearControllerSettings running{};                         // period, delay, limits
};
// Prints, writes the controller and the page. Throws Failed if a check did not pass.
void finish_design(const ControlOptions& options, const Plant& plant, const DesignOutput& design);

// Margins of 1 + L = 0 with L = −K G opened at the plant's inputs (or of L itself).
StateSpace loop_at_input(const StateSpace& plant, const StateSpace& controller);
StateSpace closed_by(const StateSpace& plant, const StateSpace& controller);
std::string margins_text(const StateSpace& loop);
Json margins_json(const StateSpace& loop);

}  // namespace catena::app
