// SPDX-License-Identifier: BSD-3-Clause
// Two arms and a free body for the tests of this room (case VC-SOA-2 of the spatial operator
// algebra reference): ground-fixed 6R arms whose tips hold the body.
#pragma once

#include <array>
#include <numbers>

#include "catena/dynamics/testing/closed_cases.h"

namespace catena::test {

inline constexpr double kArmQ1[6] = {0.3, -0.5, 0.8, 0.2, 0.6, -0.4};
inline constexpr double kArmQ2[6] = {std::numbers::pi - 0.4, -0.6, 0.9, -0.3, 0.5, 0.1};
inline const Vec3d kTip1{0.9883019596, 0.3292019423, 0.2374377955};
inline const Vec3d kTip2{0.5614731884, 0.4275672779, 0.2951812063};
inline const Vec3d kCenter{0.75, 0.2, 0.3};

inline void add_arm(MechanismBuilder& b, const std::string& name, const std::string& base,
                    const Vec3d& origin) {
  const double masses[6] = {4, 3, 2, 1, 0.5, 0.25};
  const Vec3d centers[6] = {{0, 0, 0.15}, {0.25, 0, 0}, {0.2, 0, 0},
                            {0.05, 0, 0}, {0.05, 0, 0}, {0.05, 0, 0}};
  const Vec3d origins[6] = {origin,      {0, 0, 0.3}, {0.5, 0, 0},
                            {0.4, 0, 0}, {0.1, 0, 0}, {0.1, 0, 0}};
  const Vec3d x = Vec3d::unit_x(), y = Vec3d::unit_y(), z = Vec3d::unit_z();
  const Vec3d axes[6] = {z, y, y, x, y, x};
  for (int i = 0; i < 6; ++i) {
    const std::string link = name + std::to_string(i + 1);
    const double m = masses[i];
    b.add_body(link, body(m, centers[i], {0.01 * m, 0.02 * m, 0.03 * m}));
    b.add_hinge(link, i == 0 ? base : name + std::to_string(i), link,
                {.axes = {axes[i]}, .frame_on_parent = Transformd::from_translation(origins[i])});
  }
}

// The frame of an arm's tip in the sixth link, turned so that its axes are the ground's in this
// position.
inline Mechanism two_arms(const Vec3d& gravity) {
  MechanismBuilder b("two_arms");
  b.set_gravity(gravity);
  add_arm(b, "a", kWorld, {});
  add_arm(b, "b", kWorld, {1.5, 0, 0});
  b.add_body("object", body(5.0, {}, {0.1, 0.2, 0.3}));
  b.add_hinge("object", kWorld, "object", {.type = HingeType::free});
  return b.finish();
}

inline State two_arms_position(const Mechanism& m) {
  State s = m.default_state();
  for (int i = 0; i < 6; ++i) {
    const auto q = [&](const char* arm) {
      return m.hinges()[static_cast<std::size_t>(m.hinge_index(arm + std::to_string(i + 1)))]
          .q_index;
    };
    s.q[q("a")] = kArmQ1[i];
    s.q[q("b")] = kArmQ2[i];
  }
  const int q = m.hinges()[static_cast<std::size_t>(m.hinge_index("object"))].q_index;
  for (int i = 0; i < 3; ++i) s.q[q + 4 + i] = kCenter[i];
  return s;
}

}  // namespace catena::test
