// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/applied_forces.h"

#include <cmath>

#include "catena/base/index.h"
#include "catena/simulation/system/inputs_and_controllers.h"

namespace catena {

AppliedForces::AppliedForces(const Mechanism& mechanism, const ActionSettings& actions)
    : mechanism_(&mechanism),
      wiring_(mechanism, make_components(mechanism, actions)),
      sampled_(wiring_),
      prescribed_(to_size(mechanism.freedoms()), 0),
      external_(actions.external),
      limit_efforts_(actions.limit_efforts) {
  for (const MotionSettings& motion : actions.motions) {
    const int freedom = freedom_index(mechanism, motion.freedom);
    if (is_prescribed(freedom)) throw Error("motion '" + motion.freedom + "' is prescribed twice");
    prescribed_[index(freedom)] = 1;
    motions_.push_back({freedom, mechanism.coordinate_of_freedom()[index(freedom)] >= 0,
                        "motion " + motion.freedom,
                        Signal(motion.signal, mechanism, "motion '" + motion.freedom + "'", true)});
  }
  refuse_both();
}

void AppliedForces::refuse_both() const {
  for (const Wiring::Effort& effort : wiring_.efforts())
    if (is_prescribed(effort.freedom))
      throw Error(wiring_.component(effort.component).name() +
                  ": the motion of this freedom is prescribed, so its effort follows and "
                  "cannot be given");
}

void AppliedForces::at(const Instant& instant, std::span<const double> x,
                       ComponentEfforts& efforts) const {
  efforts.total.setZero(mechanism_->freedoms());
  efforts.outputs.resize(wiring_.outputs());
  efforts.rate.resize(wiring_.states());
  efforts.own.resize(wiring_.efforts().size());
  wiring_.evaluate(instant, x, sampled_.memory(), sampled_.held(), efforts.outputs);
  wiring_.rates(instant, x, sampled_.memory(), efforts.outputs, efforts.rate);
  for (std::size_t i = 0; i < efforts.own.size(); ++i) {
    const Wiring::Effort& effort = wiring_.efforts()[i];
    efforts.own[i] = efforts.outputs[effort.output];
    efforts.total[effort.freedom] += efforts.own[i];
  }
  if (limit_efforts_) limit(efforts);
}

// The part cut off is divided, in the work, in proportion to the wanted efforts.
void AppliedForces::limit(ComponentEfforts& efforts) const {
  const auto settings = mechanism_->freedom_settings();
  for (Eigen::Index i = 0; i < efforts.total.size(); ++i) {
    const double most = settings[index(i)].effort_limit;
    if (std::abs(efforts.total[i]) <= most) continue;
    const double ratio = std::copysign(most, efforts.total[i]) / efforts.total[i];
    efforts.total[i] *= ratio;
    for (std::size_t k = 0; k < efforts.own.size(); ++k)
      if (wiring_.efforts()[k].freedom == i) efforts.own[k] *= ratio;
  }
}

double AppliedForces::power(int component, const ComponentEfforts& efforts,
                            const Eigen::VectorXd& v) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < efforts.own.size(); ++i) {
    const Wiring::Effort& effort = wiring_.efforts()[i];
    if (effort.component == component) sum += efforts.own[i] * v[effort.freedom];
  }
  return sum;
}

AppliedForces::Motion::Value AppliedForces::Motion::at(double t) const {
  const Jet jet = signal.jet(t);
  return has_coordinate ? Value{jet.value, jet.rate, jet.acceleration}
                        : Value{jet.value, jet.value, jet.rate};
}

void AppliedForces::add_signals(SignalSet& signals) {
  wiring_.add_signals(signals);
  for (Motion& motion : motions_) signals.add(motion.signal, motion.name);
}

}  // namespace catena
