#include "catena/simulation/applied_forces.h"

#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"

namespace catena {
namespace {

// An effort at a freedom that is a function of time and state.
class EffortInput final : public Component {
 public:
  EffortInput(const InputSettings& settings, const Mechanism& mechanism)
      : Component("input " + settings.freedom, {freedom_index(mechanism, settings.freedom)}),
        signal_(settings.signal, mechanism, "input '" + settings.freedom + "'", false) {}

  void act(const Instant& at, std::span<const double>, std::span<double> effort,
           std::span<double>) const override {
    effort[0] = signal_.value(at.time, at.state);
  }
  std::span<Signal> signals() override { return {&signal_, 1}; }

 private:
  Signal signal_;
};

// effort = kp e + kd ė + ki ∫ e dt, with e = target − q.
class PidController final : public Component {
 public:
  PidController(const ControllerSettings& settings, const Mechanism& mechanism)
      : Component("controller " + settings.freedom, {freedom_index(mechanism, settings.freedom)}),
        coordinate_(mechanism.coordinate_of_freedom()[index(freedoms()[0])]),
        kp_(settings.kp),
        kd_(settings.kd),
        ki_(settings.ki),
        target_(settings.target, mechanism, "target of controller '" + settings.freedom + "'",
                true) {
    if (coordinate_ < 0)
      throw Error("controller '" + settings.freedom +
                  "': this freedom has no coordinate that could follow a target");
  }

  int states() const override { return ki_ != 0.0 ? 1 : 0; }
  std::string state_name(int) const override { return "integral of " + name(); }

  void act(const Instant& at, std::span<const double> x, std::span<double> effort,
           std::span<double> rate) const override {
    const Jet target = target_.jet(at.time);
    const double error = target.value - at.state.q[coordinate_];
    effort[0] = kp_ * error + kd_ * (target.rate - at.state.v[freedoms()[0]]) +
                (x.empty() ? 0.0 : ki_ * x[0]);
    if (!rate.empty()) rate[0] = error;
  }
  std::span<Signal> signals() override { return {&target_, 1}; }

 private:
  int coordinate_;
  double kp_, kd_, ki_;
  Signal target_;
};

}  // namespace

AppliedForces::AppliedForces(const Mechanism& mechanism, const ActionSettings& actions)
    : mechanism_(&mechanism),
      prescribed_(index(mechanism.freedoms()), 0),
      external_(actions.external),
      limit_efforts_(actions.limit_efforts) {
  for (const InputSettings& input : actions.inputs)
    components_.push_back(std::make_unique<EffortInput>(input, mechanism));
  for (const ControllerSettings& pid : actions.controllers)
    components_.push_back(std::make_unique<PidController>(pid, mechanism));
  for (const ComponentMaker& make : actions.components) components_.push_back(make(mechanism));
  for (const auto& component : components_) {
    first_effort_.push_back(efforts_);
    first_state_.push_back(index(states_));
    efforts_ += component->freedoms().size();
    states_ += component->states();
  }
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
  for (const auto& component : components_)
    for (const int freedom : component->freedoms())
      if (is_prescribed(freedom))
        throw Error(component->name() +
                    ": the motion of this freedom is prescribed, so its effort follows and "
                    "cannot be given");
}

void AppliedForces::start(std::span<double> x) const {
  for (std::size_t k = 0; k < components_.size(); ++k)
    components_[k]->start(x.subspan(first_state_[k], index(components_[k]->states())));
}

void AppliedForces::at(const Instant& instant, std::span<const double> x,
                       ComponentEfforts& efforts) const {
  efforts.total.setZero(mechanism_->freedoms());
  efforts.own.resize(efforts_);
  efforts.rate.resize(index(states_));
  for (std::size_t k = 0; k < components_.size(); ++k) {
    const Component& component = *components_[k];
    const std::size_t states = index(component.states());
    const auto own = std::span(efforts.own).subspan(first_effort_[k], component.freedoms().size());
    component.act(instant, x.subspan(first_state_[k], states), own,
                  std::span(efforts.rate).subspan(first_state_[k], states));
    for (std::size_t i = 0; i < own.size(); ++i) efforts.total[component.freedoms()[i]] += own[i];
  }
  if (limit_efforts_) limit(efforts);
}

// What is cut off counts, in the work, in proportion to what each asked for.
void AppliedForces::limit(ComponentEfforts& efforts) const {
  const auto settings = mechanism_->freedom_settings();
  for (Eigen::Index i = 0; i < efforts.total.size(); ++i) {
    const double most = settings[index(i)].effort_limit;
    if (std::abs(efforts.total[i]) <= most) continue;
    const double ratio = std::copysign(most, efforts.total[i]) / efforts.total[i];
    efforts.total[i] *= ratio;
    std::size_t at = 0;
    for (const auto& component : components_)
      for (const int freedom : component->freedoms()) {
        if (freedom == i) efforts.own[at] *= ratio;
        ++at;
      }
  }
}

double AppliedForces::power(int component, const ComponentEfforts& efforts,
                            const Eigen::VectorXd& v) const {
  const auto freedoms = components_[index(component)]->freedoms();
  double sum = 0.0;
  for (std::size_t i = 0; i < freedoms.size(); ++i)
    sum += efforts.own[first_effort_[index(component)] + i] * v[freedoms[i]];
  return sum;
}

AppliedForces::Motion::Value AppliedForces::Motion::at(double t) const {
  const Jet jet = signal.jet(t);
  return has_coordinate ? Value{jet.value, jet.rate, jet.acceleration}
                        : Value{jet.value, jet.value, jet.rate};
}

void AppliedForces::add_signals(SignalSet& signals) {
  for (const auto& component : components_)
    for (Signal& signal : component->signals()) signals.add(signal, component->name());
  for (Motion& motion : motions_) signals.add(motion.signal, motion.name);
}

}  // namespace catena
