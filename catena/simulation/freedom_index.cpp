// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/freedom_index.h"

#include "catena/base/index.h"
#include "catena/base/text.h"

namespace catena {

int freedom_index(const Mechanism& mechanism, const std::string& name) {
  if (mechanism.has_hinge(name)) {
    const HingePlace& hinge = mechanism.hinges()[index(mechanism.hinge_index(name))];
    if (hinge.role == HingePlace::Role::weld)
      throw NameError("hinge '" + name + "' is rigid and has no freedom");
    if (hinge.node < 0)
      throw NameError("hinge '" + name +
                      "' closes a loop: its motion follows from the others, and it has no "
                      "coordinates at which something could act; with_coordinates() gives it "
                      "some, or cut the loop elsewhere (cut: never)");
    if (hinge.freedoms > 1) {
      const auto first = mechanism.velocity_names().begin() + hinge.v_index;
      throw NameError("hinge '" + name + "' has " + std::to_string(hinge.freedoms) +
                      " freedoms; name one of them: " +
                      listed({std::vector<std::string>(first, first + hinge.freedoms)}));
    }
    return hinge.v_index;
  }
  return mechanism.velocity_index(name);
}

}  // namespace catena
