// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/closed_state.h"

#include <span>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"

namespace catena::app {

std::vector<std::uint8_t> mask_of(const Mechanism& m, const std::vector<std::string>& names) {
  std::vector<std::uint8_t> mask(to_size(m.freedoms()), 0);
  for (const std::string& name : names) {
    if (m.has_hinge(name)) {
      const HingePlace& hinge = m.hinges()[index(m.hinge_index(name))];
      if (hinge.node < 0)
        throw Error(
            "hinge '" + name + "' is " +
            (hinge.role == HingePlace::Role::cut ? "cut: it has no coordinate to fix" : "rigid"));
      for (int k = 0; k < hinge.freedoms; ++k) mask[index(hinge.v_index + k)] = 1;
    } else {
      mask[index(m.velocity_index(name))] = 1;
    }
  }
  return mask;
}

std::string state_yaml(const Mechanism& m, const State& state) {
  std::string text = "q:\n";
  const auto add = [&](std::span<const std::string> names, const Eigen::VectorXd& x) {
    for (std::size_t i = 0; i < names.size(); ++i)
      text += "  " + names[i] + ": " + number(x[static_cast<Eigen::Index>(i)]) + "\n";
  };
  add(m.position_names(), state.q);
  text += "v:\n";
  add(m.velocity_names(), state.v);
  return text;
}

}  // namespace catena::app
