// SPDX-License-Identifier: BSD-3-Clause
#include "catena/components/linear_controller.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
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
        upper_(s.upper),
        initial_(s.initial.size() > 0 ? s.initial : Eigen::VectorXd::Zero(system_.order())),
        held_(s.held.size() > 0 ? s.held : Eigen::VectorXd::Zero(system_.output_count())) {}

  int states() const override { return system_.is_continuous() ? system_.order() : 0; }
  int memory() const override { return system_.is_continuous() ? 0 : system_.order(); }
  std::string state_name(int i) const override { return name() + "." + system_.state_name(i); }
  std::optional<Sampling> sampling() const override {
    if (system_.is_continuous()) return {};
    return sampling_;
  }
  void start(std::span<double> x, std::span<double> m) const override {
    std::copy(initial_.begin(), initial_.end(), system_.is_continuous() ? x.begin() : m.begin());
  }
  void start_outputs(std::span<double> y) const override {
    Vector u = vector_of(y);
    u = u0_ + held_;
    limit(u);
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
  Eigen::VectorXd u0_, lower_, upper_, initial_, held_;
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

// The point of a mechanism whose loops are cut where this one has coordinates (a run may read the
// cut hinge): the others are given, and the loops closed. False if the sizes fit neither.
bool without_cut_hinges(const SystemPoint& p, const Mechanism& m, State& state) {
  Eigen::Index coordinates = 0, freedoms = 0;
  GivenFreedoms given{std::vector<std::uint8_t>(to_size(m.freedoms()), 0),
                      std::vector<std::uint8_t>(to_size(m.freedoms()), 0)};
  std::vector<const HingePlace*> hinges;
  for (const HingePlace& hinge : m.hinges())
    if (hinge.role == HingePlace::Role::tree) hinges.push_back(&hinge);
  std::sort(hinges.begin(), hinges.end(),
            [](const HingePlace* a, const HingePlace* b) { return a->q_index < b->q_index; });
  for (const HingePlace* hinge : hinges) {
    coordinates += hinge->coordinates;
    freedoms += hinge->freedoms;
  }
  if (p.q.size() != coordinates || p.v.size() != freedoms) return false;
  Eigen::Index q = 0, v = 0;
  for (const HingePlace* hinge : hinges) {
    state.q.segment(hinge->q_index, hinge->coordinates) = p.q.segment(q, hinge->coordinates);
    state.v.segment(hinge->v_index, hinge->freedoms) = p.v.segment(v, hinge->freedoms);
    for (int i = 0; i < hinge->freedoms; ++i)
      at(given.position, hinge->v_index + i) = at(given.velocity, hinge->v_index + i) = 1;
    q += hinge->coordinates;
    v += hinge->freedoms;
  }
  state = assemble_near(m, state, given);
  return true;
}

State point_of(const LinearControllerSettings& s, const Mechanism& m) {
  if (s.point) return *s.point;
  State state = m.default_state();
  if (!s.system.point) return state;
  const SystemPoint& p = *s.system.point;
  if (p.q.size() > 0 && p.q.size() < state.q.size() && without_cut_hinges(p, m, state))
    return state;
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
  if (settings.initial.size() > 0 && settings.initial.size() != system.order())
    throw Error("controller '" + settings.name + "' has " + std::to_string(system.order()) +
                " states and " + std::to_string(settings.initial.size()) + " initial values");
  if (settings.held.size() > 0 && settings.held.size() != system.output_count())
    throw Error("controller '" + settings.name + "' has " + std::to_string(system.output_count()) +
                " outputs and " + std::to_string(settings.held.size()) + " held values");
  return [settings = std::move(settings), system = std::move(system)](const Mechanism& m) {
    const State point = point_of(settings, m);
    std::vector<InputPort> inputs;
    for (const std::string& name : system.inputs)
      inputs.push_back({name, plant_deviation(m, name, point)});
    std::vector<OutputPort> outputs;
    for (const std::string& name : system.outputs) {
      if (name.starts_with("signal."))
        outputs.push_back({name.substr(7), ""});
      else
        outputs.push_back({name, name.starts_with("effort.") ? name : "effort." + name});
    }
    return std::make_unique<LinearController>(settings, system, std::move(inputs),
                                              std::move(outputs));
  };
}

}  // namespace catena
