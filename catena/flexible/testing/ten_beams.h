// SPDX-License-Identifier: BSD-3-Clause
// A mechanism for tests and studies of cost: a free hub and ten slender beams in a tree, 141 modes
// in all, frequencies up to 100 Hz (nine bodies with 14 modes, one with 15). The size is that of
// the manipulators that [Banerjee & Lemak 1991] is about.
#pragma once

#include <cmath>
#include <string>

#include "catena/flexible/beam.h"
#include "catena/model/builder.h"

namespace catena {

// A beam of 1 m and 1 kg that bends in two planes; the seventh bending mode of a plane, and so the
// fourteenth of all, is at 100 Hz: (20.420 / L)² √(EI / ρA) = 2 π 100 rad/s.
inline BeamSettings ten_beams_settings(int modes) {
  BeamSettings s{.length = 1.0};
  const double stiffness = std::pow(628.3185 / (20.4203522 * 20.4203522), 2);
  s.section.values.bending_y = stiffness;
  s.section.values.bending_z = stiffness;
  s.section.values.mass_per_length = 1.0;
  s.section.values.rotary_x = 1e-3;
  s.attachments = {{.name = "tip", .station = 1.0}};
  s.modes = {.set = ModeSet::clamped_free, .count = modes};
  s.damping.ratios = {0.005};
  return s;
}

// The fitting at the root of a beam. Without it a hinge there would move next to no inertia: modes
// of a clamped beam nearly contain its rotation.
inline BodySettings ten_beams_root() {
  return {.mass = 0.3, .inertia = SymMat3d::diagonal(0.02, 0.02, 0.02)};
}

inline Mechanism ten_beams() {
  MechanismBuilder b("ten beams");
  b.set_gravity(Vec3d::zero());
  b.add_body("hub", {.mass = 20.0, .inertia = SymMat3d::diagonal(2.0, 2.5, 3.0)});
  b.add_hinge("float", kWorld, "hub", {.type = HingeType::free});
  const auto usual = make_beam(ten_beams_settings(14)), other = make_beam(ten_beams_settings(15));
  for (int i = 0; i < 10; ++i) {
    const std::string name = "beam" + std::to_string(i);
    b.add_flexible_body(name, i == 9 ? other : usual, ten_beams_root());
    HingeSettings hinge{.type = HingeType::revolute,
                        .axes = {{0, i % 2 == 0 ? 1.0 : 0.0, i % 2 == 0 ? 0.0 : 1.0}}};
    hinge.freedoms = {FreedomSettings{.damping = 0.3, .stiffness = 30.0}};
    // Five on the hub, in a ring, and one at the end of each.
    if (i < 5) {
      const double angle = 1.2566370614 * i;
      hinge.frame_on_parent = {Rotationd::about_z(angle),
                               {0.3 * std::cos(angle), 0.3 * std::sin(angle), 0.0}};
    }
    b.add_hinge("joint" + std::to_string(i),
                i < 5 ? "hub" : "beam" + std::to_string(i - 5) + ".tip", name, hinge);
  }
  return b.finish();
}

// Turning, with the beams at rest relative to the hub.
inline State ten_beams_state(const Mechanism& m) {
  State s = m.default_state();
  s.v[0] = 0.1;
  s.v[1] = 0.2;
  s.v[2] = 0.3;
  for (int i = 0; i < 10; ++i) s.v[m.velocity_index("joint" + std::to_string(i))] = 0.05 * (i % 3);
  return s;
}

}  // namespace catena
