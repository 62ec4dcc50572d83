// SPDX-License-Identifier: BSD-3-Clause
// The page of `catena control ... --report`: one HTML file without scripts, plots as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/catena/control/plant.h"

namespace catena::app {

struct ControlReport {
  std::string title;
  const Plant* plant = nullptr;
  const StateSpace* controller = nullptr;  // none: the plant alone
  std::string text;                        // what the command printed
  std::vector<std::pair<std::string, StateSpace>> weights{};
  LinearControllerSettings running{};  // delay and limits; its system is `controller`
};
// Pole map, Bode grid, singular values; with a controller Nyquist with the disk, S and T, and the
// step response, of a mechanism beside that of the nonlinear model.
void write_control_report(const std::string& path, const ControlReport& report);

}  // namespace catena::app
