// SPDX-License-Identifier: BSD-3-Clause
// Connection of systems by the names of their signals, as in a block diagram: an output drives
// every input of the same name.
//
//   plant.inputs = {"u"}; plant.outputs = {"y"};
//   controller.inputs = {"e"}; controller.outputs = {"u"};
//   const StateSpace closed =
//       connect({plant, controller, summing_junction("e = r - y")}, {"r"}, {"y", "u"});
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catena/linear/state_space.h"

namespace catena {

struct ConnectSettings {
  // Inputs that nothing drives are zero. False: they are an error, with the nearest name.
  bool allow_open_inputs = false;
};

// The system from the signals `inputs`, which come from outside, to the signals `outputs` (outputs
// of systems, or inputs from outside). Throws NameError for a name that does not exist, Error for a
// signal with two sources, NumericalError for an algebraic loop that is not well posed.
StateSpace connect(std::span<const StateSpace> systems, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, const ConnectSettings& settings = {});
StateSpace connect(std::initializer_list<StateSpace> systems,
                   const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                   const ConnectSettings& settings = {});

// The gain of a sum: "e = r - y + d". With a width the signals are e1, e2, ..., r1, ....
StateSpace summing_junction(const std::string& formula, int width = 1);

}  // namespace catena
