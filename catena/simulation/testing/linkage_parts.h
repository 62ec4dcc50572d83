// SPDX-License-Identifier: BSD-3-Clause
// Parts of the linkages that the tests of this room build, and where these start.
#pragma once

#include <Eigen/Core>

#include "catena/closure/assembly.h"
#include "catena/model/builder.h"

namespace catena::test {

inline constexpr double kGravity = 9.81;

inline Transformd shift(double x, double y = 0.0, double z = 0.0) {
  return Transformd::from_translation({x, y, z});
}

// A thin rod along x from the origin.
inline BodySettings rod(double mass, double length) {
  const double i = mass * length * length / 12.0;
  return {.mass = mass,
          .center_of_mass = {length / 2.0, 0.0, 0.0},
          .inertia = SymMat3d::diagonal(0.0, i, i)};
}

// A loop of three freedoms, the first of which is given; the other two are guesses.
inline State crank_start(const Mechanism& m, double crank, double rate, double second,
                         double third) {
  return assemble(m, State{Eigen::Vector3d(crank, second, third), Eigen::Vector3d(rate, 0, 0)},
                  {.fixed = {1, 0, 0}});
}

}  // namespace catena::test
