// SPDX-License-Identifier: BSD-3-Clause
// What the tests of this room share: a model, in a folder of its own.
#pragma once

#include "catena/base/testing/temporary_folder.h"

namespace catena::test {

inline constexpr const char* kPendulumModel = R"(catena: 1
name: pendulum
gravity: [0, -10, 0]
bodies:
  link: {mass: 2, center_of_mass: [0, -0.5, 0], inertia: [0.1, 0.1, 0.1]}
  arm: {mass: 1, center_of_mass: [0, -0.1, 0], inertia: [0.1, 0.1, 0.1]}
hinges:
  pivot: {type: revolute, parent: world, child: link, axis: z}
  ball: {type: spherical, parent: link, child: arm, at: [0, -1, 0]}
)";

}  // namespace catena::test
