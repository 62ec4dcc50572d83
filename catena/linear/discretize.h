// SPDX-License-Identifier: BSD-3-Clause
// From continuous to discrete time and back, and delays.
//
//   const StateSpace digital = c2d(plant, 0.01);                              // zero-order hold
//   const StateSpace filter = c2d(notch, 0.01, {.method = Hold::tustin, .prewarp = 30.0});
//   const StateSpace rational = pade(plant, 4);                               // delays as states
//
// zoh   exact at the samples for inputs that are constant between them. Delays are exact, fractions
//       of a sample included (modified z-transform): an input with a fractional delay gets one more
//       state, its value one sample ago; whole samples remain as delays of the result.
// foh   exact at the samples for inputs that are linear between them (triangle hold). Delays must
// be
//       multiples of the sample time.
// tustin  s = α (z − 1)/(z + 1) with α = 2/dt, or α = ω/tan(ω dt/2), which keeps the response at
//       the frequency ω (prewarp). Delays must be multiples of the sample time.
#pragma once

#include "catena/linear/state_space.h"

namespace catena {

enum class Hold { zoh, foh, tustin };
const char* to_string(Hold hold);

struct DiscretizeSettings {
  Hold method = Hold::zoh;
  double prewarp = 0.0;  // rad/s, for tustin; 0: none
};

StateSpace c2d(const StateSpace& system, double dt, const DiscretizeSettings& settings = {});
// The inverse. zoh and foh need the logarithm of A and throw NumericalError if A has an eigenvalue
// that is zero or negative.
StateSpace d2c(const StateSpace& system, const DiscretizeSettings& settings = {});

// e^{−s delay} by the diagonal Padé approximant of this order: an all-pass with unit gain. Its
// states are those of a lossless ladder (the continued fraction of tanh), so that no polynomial is
// formed, the Gramians are multiples of the identity, and any order is well conditioned. With
// several sections the delay is split into equal parts, each of the order given divided among them.
StateSpace pade(double delay, int order, int sections = 1);
// All delays of a continuous system as states. Delays that are zero cost none.
StateSpace pade(const StateSpace& system, int order, int sections = 1);

}  // namespace catena
