// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/contact_shapes.h"

#include "catena/base/text.h"

namespace catena {

std::vector<ContactSettings> box_contacts(const ContactSettings& like, const Vec3d& size) {
  if (!(size.x >= 0.0 && size.y >= 0.0 && size.z >= 0.0))
    throw Error("contact '" + like.name + "': the size of the box is " + number(size.x) + ", " +
                number(size.y) + ", " + number(size.z) + "; it must not be negative");
  std::vector<ContactSettings> corners;
  for (int k = 0; k < 8; ++k) {
    ContactSettings corner = like;
    corner.name += "." + std::to_string(k);
    corner.center += Vec3d{(k & 1) != 0 ? 0.5 * size.x : -0.5 * size.x,
                           (k & 2) != 0 ? 0.5 * size.y : -0.5 * size.y,
                           (k & 4) != 0 ? 0.5 * size.z : -0.5 * size.z};
    corners.push_back(corner);
  }
  return corners;
}

std::vector<ContactSettings> capsule_contacts(const ContactSettings& like, double length,
                                              const Vec3d& axis) {
  if (!(length >= 0.0) || !(norm(axis) > 0.0))
    throw Error("contact '" + like.name + "': the length of the capsule is " + number(length) +
                "; it must not be negative, and its axis needs a length");
  std::vector<ContactSettings> ends(2, like);
  for (int k = 0; k < 2; ++k) {
    ends[static_cast<std::size_t>(k)].name += "." + std::to_string(k);
    ends[static_cast<std::size_t>(k)].center +=
        ((k == 0 ? -0.5 : 0.5) * length / norm(axis)) * axis;
  }
  return ends;
}

}  // namespace catena
