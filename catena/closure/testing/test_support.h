// SPDX-License-Identifier: BSD-3-Clause
// Mechanisms that several tests of this room use.
#pragma once

#include <numbers>

#include "catena/model/builder.h"

namespace catena {

inline constexpr double kPi = std::numbers::pi;

inline BodySettings some_body() {
  return {.mass = 1.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)};
}

inline Transformd moved(double x, double y, double z) {
  return Transformd::from_translation({x, y, z});
}

// The four-bar of the constraint-embedding cases: crank 1, coupler 4.8, rocker 2, ground 4.
struct FourBar {
  double crank = 1.0, coupler = 4.8, rocker = 2.0, ground = 4.0;
  double guess[3] = {std::numbers::pi / 2.0, -1.389516618263327, 1.2018068856833};
  HingeType closing = HingeType::revolute;
  Vec3d axis = Vec3d::unit_z();  // of the closing hinge

  MechanismBuilder builder() const {
    MechanismBuilder b("four_bar");
    for (const char* name : {"crank", "coupler", "rocker"}) b.add_body(name, some_body());
    b.add_hinge("A", kWorld, "crank", {.initial_position = {guess[0]}});
    b.add_hinge("B", "crank", "coupler",
                {.frame_on_parent = moved(crank, 0, 0), .initial_position = {guess[1]}});
    b.add_hinge("D", kWorld, "rocker",
                {.frame_on_parent = moved(ground, 0, 0), .initial_position = {guess[2]}});
    b.add_hinge(
        "C", "coupler", "rocker",
        {.type = closing,
         .axes = closing == HingeType::revolute ? std::vector<Vec3d>{axis} : std::vector<Vec3d>{},
         .frame_on_parent = moved(coupler, 0, 0),
         .frame_on_child = moved(rocker, 0, 0),
         .cut = Cut::always});
    return b;
  }
  Mechanism build() const { return builder().finish(); }
};

}  // namespace catena
