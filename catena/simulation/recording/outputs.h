// SPDX-License-Identifier: BSD-3-Clause
// The columns of a run: chosen by name, a * standing for anything, and filled row by row.
//
//   q.NAME v.NAME a.NAME        coordinates, velocities, accelerations
//   effort.NAME                 of the actuators: inputs, controllers, prescribed motions
//   friction.NAME reaction.NAME at freedoms with friction or stops: friction, and what holds them
//   energy.kinetic, energy.gravity, energy.springs, energy.total, energy.work, energy.error
//   momentum.linear.x ... momentum.angular.z    ground axes, angular about the mass centre
//   work.ELEMENT                of each element: "work.input elbow"
//   contact.NAME.x (y, z)       force of a contact on its body, N, ground axes
//   signal.COMPONENT.PORT       outputs of components
//   position.PLACE.x velocity.PLACE.x ...       of a frame or the origin of a body, ground axes
//   force.HINGE.x moment.HINGE.x ...            parent on child at the child's hinge point, ground
//                               axes; less what redundant constraints leave undetermined
//
// "time" is always the first column, and q.* is always there: the report needs it. Columns of the
// caller come last, for example a motion to compare with (nominal.q.elbow).
#pragma once

#include <functional>
#include <string>

#include "catena/io/runs/run_file.h"
#include "catena/model/mechanism.h"

namespace catena {

// A column of the caller: its name, unit, and value at the time and state of a row. Always written,
// independent of the patterns.
struct ExtraOutput {
  RunColumn column;
  std::function<double(double t, const State& state)> value;
};

// "rad", "m" or "" of coordinate or freedom i.
std::string position_unit(const Mechanism& mechanism, int i);
std::string velocity_unit(const Mechanism& mechanism, int i);

}  // namespace catena
