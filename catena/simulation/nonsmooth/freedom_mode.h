// SPDX-License-Identifier: BSD-3-Clause
// Mode of a freedom with a joint limit or dry friction: free, sliding, stuck, or at a stop. Modes
// are constant while an integrator steps; they change at events (stops_and_friction.h).
#pragma once

namespace catena {

struct FreedomMode {
  enum class Friction { none, stuck, sliding };
  Friction friction = Friction::none;
  int direction = 0;  // of sliding: the sign of v
  int stop = 0;       // −1: rests against its lower limit, +1: against its upper one
  bool held() const { return stop != 0 || friction == Friction::stuck; }
};

}  // namespace catena
