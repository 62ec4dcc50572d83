#include "catena/components/linear_controller.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/components/plant_signal.h"
#include "catena/linear/algebra.h"
#include "catena/simulation/component.h"

namespace catena {
namespace {

using ConstVector = Eigen::Map<const Eigen::VectorXd>;
using Vector = Eigen::Map<Eigen::VectorXd>;

ConstVector vector_of(std::span<const double> v) {
  return {v.data(), static_cast<Eigen::Index>(v.size())};
}
Vector vector_of(std::span<double> v) { return {v.data(), static_cast<Eigen::Index>(v.size())}; }

class LinearController final : public Component {
 public:
  LinearController(const LinearControllerSettings& s, StateSpace system,
                   std::vector<InputPort> inputs, std::vector<OutputPort> outputs)
      : Component(s.name, std::move(inputs), std::move(outputs)),
        system_(std::move(system)),
        sampling_{.period = system_.dt, .offset = s.offset, .delay = s.delay, .order = s.order},
        u0_(system_.point && system_.point->y0.size() > 0
                ? system_.point->y0
                : Eigen::VectorXd::Zero(system_.output_count())),
        lower_(s.lower),
        upper_(s.upper) {}

  int states() const override { return system_.is_continuous() ? system_.order() : 0; }
  int memory() const override { return system_.is_continuous() ? 0 : system_.order(); }
  std::string state_name(int i) const override { return name() + "." + system_.state_name(i); }
  std::optional<Sampling> sampling() const override {
    if (system_.is_continuous()) return {};
    return sampling_;
  }
  bool feeds_through() const override { return !system_.D.isZero(0.0); }

  void output(const Context& c, std::span<double> y) const override {
    Vector u = vector_of(y);
    u = u0_;
    u.noalias() += system_.C * vector_of(c.x);
    if (feeds_through()) u.noalias() += system_.D * vector_of(c.u);
    limit(u);
  }
  void rate(const Context& c, std::span<double> dx) const override {
    Vector rates = vector_of(dx);
    rates.noalias() = system_.A * vector_of(c.x);
    rates.noalias() += system_.B * vector_of(c.u);
  }
  void tick(const Context& c, std::span<double> m, std::span<double> y) const override {
    Vector u = vector_of(y);
    u = u0_;
    u.noalias() += system_.C * vector_of(c.m);
    u.noalias() += system_.D * vector_of(c.u);
    limit(u);
    Vector next = vector_of(m);
    next.noalias() = system_.A * vector_of(c.m);
    next.noalias() += system_.B * vector_of(c.u);
  }

 private:
  void limit(Vector& u) const {
    if (lower_.size() > 0) u = u.cwiseMax(lower_);
    if (upper_.size() > 0) u = u.cwiseMin(upper_);
  }

  StateSpace system_;
  Sampling sampling_;
  Eigen::VectorXd u0_, lower_, upper_;
};

void check_limits(const LinearControllerSettings& s) {
  const Eigen::Index n = s.system.output_count();
  for (const auto* limits : {&s.lower, &s.upper})
    if (limits->size() != 0 && limits->size() != n)
      throw Error("controller '" + s.name + "' has " + std::to_string(n) + " outputs and " +
                  std::to_string(limits->size()) + " limits; give one limit for each output");
  for (Eigen::Index i = 0; i < std::min(s.lower.size(), s.upper.size()); ++i)
    if (!(s.lower[i] <= s.upper[i]))
      throw Error("controller '" + s.name + "', output '" +
                  s.system.output_name(static_cast<int>(i)) + "': the lower limit " +
                  number(s.lower[i]) + " is above the upper limit " + number(s.upper[i]));
}

// Without E and delays: whole samples of delay become states of a discrete system.
StateSpace runnable(const LinearControllerSettings& s) {
  if (s.system.is_continuous() && (s.system.has_delay() || s.delay > 0.0))
    throw Error("controller '" + s.name +
                "' is continuous and has a delay; discretize it (c2d, `catena control "
                "discretize`), or replace the delay by a rational one (pade)");
  return explicit_form(s.system.has_delay() ? absorb_delays(s.system) : s.system);
}

State point_of(const LinearControllerSettings& s, const Mechanism& m) {
  if (s.point) return *s.point;
  State state = m.default_state();
  if (!s.system.point) return state;
  const SystemPoint& p = *s.system.point;
  const auto take = [&](const Eigen::VectorXd& from, Eigen::VectorXd& to, const char* what) {
    if (from.size() == 0) return;
    if (from.size() != to.size())
      throw Error("controller '" + s.name + "' was designed for a mechanism ('" + p.mechanism +
                  "') with " + std::to_string(from.size()) + " " + what + "; this one ('" +
                  m.name() + "') has " + std::to_string(to.size()));
    to = from;
  };
  take(p.q, state.q, "coordinates");
  take(p.v, state.v, "velocities");
  return state;
}

}  // namespace

ComponentMaker linear_controller(LinearControllerSettings settings) {
  settings.system.validate();
  settings.system.fill_names();
  check_limits(settings);
  StateSpace system = runnable(settings);
  return [settings = std::move(settings), system = std::move(system)](const Mechanism& m) {
    const State point = point_of(settings, m);
    std::vector<InputPort> inputs;
    for (const std::string& name : system.inputs)
      inputs.push_back({name, plant_deviation(m, name, point)});
    std::vector<OutputPort> outputs;
    for (const std::string& name : system.outputs)
      outputs.push_back({name, name.starts_with("effort.") ? name : "effort." + name});
    return std::make_unique<LinearController>(settings, system, std::move(inputs),
                                              std::move(outputs));
  };
}

}  // namespace catena
