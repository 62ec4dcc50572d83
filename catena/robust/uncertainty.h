// SPDX-License-Identifier: BSD-3-Clause
// Uncertainties as a user names them, on the command line or in a YAML file:
//
//   mass.payload:0..5               between 0 and 5, in the units of the parameter
//   mass.payload:0..2..5            with the nominal value 2
//   damping.knee:±50%               about the model's value; also +-50%
//   stiffness.hip:±3                by 3, in its units
//   gain.elbow:±10%                 of an actuator (an input) or a sensor (an output)
//   delay.elbow:0..0.005            s, of an input: unknown within the range
//   mode.2.frequency:±3%            of the second oscillating mode of the plant; mode.2.damping
//
//   uncertain:                      # YAML
//     mass.payload: [0, 5]
//     damping.knee: ±50%
//
// Any name that is none of gain, delay and mode is a parameter of the mechanism
// (sensitivity/parameters.h); friction.NAME means the viscous damping of a joint.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catena/robust/uncertain_system.h"

namespace catena {

struct Uncertainty {
  enum class Kind { parameter, gain, delay, mode_frequency, mode_damping };
  // How `low` and `high` are to be read: as values, as factors less one, or as differences.
  enum class Form { values, relative, difference };

  std::string name{};  // as written
  Kind kind = Kind::parameter;
  std::string target{};  // of a gain or a delay: the signal; of a parameter: its name as written
  int mode = 0;          // 1, 2, ...
  Form form = Form::values;
  double low = 0.0, high = 0.0;
  std::optional<double> nominal{};

  // The range about the model's value. Throws Error naming the uncertainty if it is empty, or if
  // "±50%" is asked of zero.
  UncertainParameter range(double model_value) const;
};

// "NAME:RANGE, NAME:RANGE". Throws Error that names the entry and says what is wrong.
std::vector<Uncertainty> parse_uncertainties(const std::string& text);
// The `uncertain` map of a YAML file. Throws ModelError with the line of every mistake.
std::vector<Uncertainty> load_uncertainties(const std::string& path);

}  // namespace catena
