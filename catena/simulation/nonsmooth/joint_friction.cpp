// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/nonsmooth/joint_friction.h"

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/chart.h"

namespace catena {

JointFriction::JointFriction(const Mechanism& mechanism, FrictionLaw law,
                             std::span<const std::uint8_t> prescribed, const Chart* chart)
    : mechanism_(&mechanism), rubs_(prescribed.size(), 0), has_modes_(prescribed.size(), 0) {
  const auto settings = mechanism.freedom_settings();
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (!settings[i].friction.active()) continue;
    rubs_[i] = 1;
    has_modes_[i] = law == FrictionLaw::set_valued && prescribed[i] == 0;
  }
  smooth_loops(chart);
}

double JointFriction::force(int freedom, double v, const FreedomMode& mode) const {
  const Friction& friction = mechanism_->freedom_settings()[index(freedom)].friction;
  return has_modes(freedom) ? -mode.direction * sliding_level(friction, v)
                            : friction_force(friction, v);
}

std::vector<FreedomMode> JointFriction::first_modes() const {
  std::vector<FreedomMode> modes(has_modes_.size());
  for (std::size_t i = 0; i < modes.size(); ++i)
    if (has_modes_[i] != 0) modes[i].friction = FreedomMode::Friction::stuck;
  return modes;
}

// When more hinges of a loop stick than it has freedoms, what holds each of them is not determined:
// there the regularized law takes the place of the one with events.
void JointFriction::smooth_loops(const Chart* chart) {
  for (std::size_t l = 0; l < mechanism_->loops().size(); ++l) {
    std::vector<int> dry;
    for (const int n : mechanism_->loops()[l].nodes) {
      const Node& node = mechanism_->nodes()[index(n)];
      for (int i = node.v_index; i < node.v_index + node.freedoms; ++i)
        if (has_modes(i)) dry.push_back(i);
    }
    // Without a chart (multipliers) only one is sure to be free of the others.
    const std::size_t free = chart != nullptr ? chart->loops[l].independent.size() : 1;
    if (dry.size() <= free) continue;
    std::vector<std::string> names;
    for (const int i : dry) {
      has_modes_[index(i)] = 0;
      names.emplace_back(mechanism_->velocity_names()[index(i)]);
    }
    notes_.push_back({0.0, "friction", mechanism_->name(),
                      "dry friction at " + listed(names) + " of one loop of " +
                          std::to_string(free) + (free == 1 ? " freedom" : " freedoms") +
                          ": what holds each of them at rest is not determined, so the "
                          "regularized law acts there"});
  }
}

}  // namespace catena
