// SPDX-License-Identifier: BSD-3-Clause
// Shapes on a plane as points and spheres, which is exact: the contacts of a box are those of its
// corners, of a capsule those of its two spheres.
//
//   for (const ContactSettings& c : box_contacts({.name = "trunk", .body = 0, .friction = 0.6},
//                                                {0.4, 0.2, 0.1}))
//     settings.actions.constraints.push_back({.constraint = c});
#pragma once

#include <vector>

#include "catena/constraints/constraint_set.h"

namespace catena {

// Eight points, named NAME.0 to NAME.7, around `like.center` along the axes of the body.
std::vector<ContactSettings> box_contacts(const ContactSettings& like, const Vec3d& size);
// Two spheres of `like.radius`, named NAME.0 and NAME.1, `length` apart along this axis of the
// body.
std::vector<ContactSettings> capsule_contacts(const ContactSettings& like, double length,
                                              const Vec3d& axis = {0.0, 0.0, 1.0});

}  // namespace catena
