// SPDX-License-Identifier: BSD-3-Clause
// The contacts of a run for drawing, from its settings: planes of the ground, and the touching
// point of each contact on its body.
#pragma once

#include <string>
#include <vector>

#include "apps/catena/output.h"
#include "catena/model/mechanism.h"

namespace catena::app {

// As ContactSettings of constraints/constraint_set.h. Bodies by index, −1: the ground.
struct DrawnContact {
  std::string name;
  int body = -1;
  Vec3d center{};  // in the body's frame
  double radius = 0.0;
  double rim = 0.0;
  Vec3d rim_axis{0.0, 1.0, 0.0};
  int plane_body = -1;
  Vec3d plane_point{};  // in the frame of the plane's body
  Vec3d plane_normal{0.0, 0.0, 1.0};
  double friction = 0.0;
};

// The contacts among the `constraints` of a run's settings. Entries that name no body of the
// mechanism are left out.
std::vector<DrawnContact> drawn_contacts(const Json& settings, const Mechanism& mechanism);

// The point of the sphere, or of the rim, that is nearest to the plane; ground axes.
Vec3d contact_point(const DrawnContact& contact, const Transformd& X_ground_body,
                    const Transformd& X_ground_plane);

// The planes that contacts touch, each once: `body` (−1: the ground), `point`, `normal`.
Json drawn_planes(const std::vector<DrawnContact>& contacts);

}  // namespace catena::app
