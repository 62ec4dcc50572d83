// SPDX-License-Identifier: BSD-3-Clause
#include "catena/optimal/regulated_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/model/builder.h"
#include "catena/model/configuration.h"
#include "catena/simulation/freedom_index.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// A motion whose deviation is this many times the allowed one has diverged; its simulation ends, as
// it could take very long.
constexpr double kDeparted = 1e4;

// Efforts of the actuators at a time and state. The last result is cached: every actuator and every
// column evaluates the same instant.
class Law {
 public:
  Law(const Mechanism& m, const RecordedMotion& motion, const Regulator& regulator,
      const RegulatedSettings& settings)
      : m_(m), motion_(motion), regulator_(regulator), feedback_(settings.feedback) {
    limits_.setConstant(static_cast<Index>(regulator.actuators.size()), kInfinity);
    for (const auto& [name, limit] : settings.effort_limits) {
      const auto& names = regulator.inputs;
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end())
        throw NameError("there is no actuator '" + name + "' to be limited" +
                        did_you_mean(name, names) + "; the actuators are " + listed(names));
      if (!(limit > 0.0))
        throw Error("the effort limit of '" + name + "' is " + number(limit) +
                    "; it must be positive");
      limits_[found - names.begin()] = limit;
    }
  }

  // From the start of the simulation.
  void look(double t, const State& state) {
    if (t == t_ && state.q == state_.q && state.v == state_.v) return;
    if (t != t_) {
      const double at = motion_.start() + t;
      nominal_ = motion_.state_at(at);
      nominal_effort_ = motion_.effort_at(at)(regulator_.actuators);
      if (feedback_) gain_ = regulator_.gain_at(at);
    }
    t_ = t;
    state_ = state;
    deviation_ = regulator_.deviation(m_, nominal_, state);
    effort_ = nominal_effort_;
    if (feedback_) effort_ -= gain_ * deviation_;
    effort_ = effort_.cwiseMax(-limits_).cwiseMin(limits_);
  }
  const State& nominal() const { return nominal_; }
  const VectorXd& nominal_effort() const { return nominal_effort_; }
  const VectorXd& deviation() const { return deviation_; }
  const VectorXd& effort() const { return effort_; }
  const VectorXd& limits() const { return limits_; }

 private:
  const Mechanism& m_;
  const RecordedMotion& motion_;
  const Regulator& regulator_;
  bool feedback_;
  VectorXd limits_;
  double t_ = std::numeric_limits<double>::quiet_NaN();
  State state_, nominal_;
  VectorXd nominal_effort_, deviation_, effort_;
  Eigen::MatrixXd gain_;
};

// Forwards everything and measures the rows.
class Measuring final : public Recorder {
 public:
  Measuring(Recorder& to, const Regulator& regulator, const Law& law, RegulatedResult& result)
      : to_(to), regulator_(regulator), law_(law), result_(result) {
    const auto states = static_cast<Index>(regulator.states.size());
    const auto actuators = static_cast<Index>(regulator.actuators.size());
    result_.largest_deviation.setZero(states);
    for (VectorXd* x :
         {&result_.largest_effort, &result_.rms_effort, &result_.rms_feedback, &result_.saturated})
      x->setZero(actuators);
  }
  void begin(std::span<const RunColumn> columns) override { to_.begin(columns); }
  // The law has been evaluated for the columns of this row.
  void append(std::span<const double> row) override {
    to_.append(row);
    const VectorXd& x = law_.deviation();
    const double distance = regulator_.distance(x);
    if (rows_++ == 0) {
      result_.first_deviation = x;
      result_.first_distance = distance;
    }
    result_.final_deviation = x;
    result_.final_distance = distance;
    result_.largest_deviation = result_.largest_deviation.cwiseMax(x.cwiseAbs());
    result_.largest_distance = std::max(result_.largest_distance, distance);
    const VectorXd& u = law_.effort();
    result_.largest_effort = result_.largest_effort.cwiseMax(u.cwiseAbs());
    result_.rms_effort += u.cwiseAbs2();
    result_.rms_feedback += (u - law_.nominal_effort()).cwiseAbs2();
    result_.saturated += (u.cwiseAbs().array() >= law_.limits().array()).cast<double>().matrix();
  }
  void add_event(const RunEvent& event) override { to_.add_event(event); }
  void checkpoint(const RunCheckpoint& checkpoint) override { to_.checkpoint(checkpoint); }
  void finish(const std::string& audit_json, bool complete) override {
    to_.finish(audit_json, complete);
    const double rows = std::max<double>(1.0, static_cast<double>(rows_));
    result_.rms_effort = (result_.rms_effort / rows).cwiseSqrt();
    result_.rms_feedback = (result_.rms_feedback / rows).cwiseSqrt();
    result_.saturated /= rows;
  }

 private:
  Recorder& to_;
  const Regulator& regulator_;
  const Law& law_;
  RegulatedResult& result_;
  std::int64_t rows_ = 0;
};

void add_columns(const Mechanism& m, const Regulator& regulator, const std::shared_ptr<Law>& law,
                 std::vector<ExtraOutput>& to) {
  const auto add = [&](std::string name, std::string unit, auto value) {
    to.push_back({{std::move(name), std::move(unit)}, [law, value](double t, const State& state) {
                    law->look(t, state);
                    return value(*law);
                  }});
  };
  for (int i = 0; i < m.coordinates(); ++i)
    add("nominal.q." + m.position_names()[index(i)], position_unit(m, i),
        [i](const Law& l) { return l.nominal().q[i]; });
  for (int i = 0; i < m.freedoms(); ++i)
    add("nominal.v." + m.velocity_names()[index(i)], velocity_unit(m, i),
        [i](const Law& l) { return l.nominal().v[i]; });
  const auto n = static_cast<Index>(regulator.freedoms.size());
  for (Index k = 0; k < 2 * n; ++k) {
    const std::string speed = velocity_unit(m, regulator.freedoms[index(k % n)]);
    add("deviation." + regulator.states[index(k)],
        k < n ? speed.substr(0, speed.size() - 2) : speed,
        [k](const Law& l) { return l.deviation()[k]; });
  }
  for (Index j = 0; j < static_cast<Index>(regulator.actuators.size()); ++j) {
    const std::string& name = regulator.inputs[index(j)];
    const char* unit = velocity_unit(m, regulator.actuators[index(j)]) == "m/s" ? "N" : "N m";
    add("nominal.effort." + name, unit, [j](const Law& l) { return l.nominal_effort()[j]; });
    add("actuator." + name, unit, [j](const Law& l) { return l.effort()[j]; });
  }
}

// Normally distributed numbers from those that are the same on every machine (Box and Muller).
VectorXd normal_vector(Index size, std::uint64_t seed) {
  const VectorXd uniform = random_vector(static_cast<int>(2 * size), seed);  // in [−1, 1]
  VectorXd x(size);
  for (Index i = 0; i < size; ++i) {
    const double first = std::max(0.5 * (1.0 + uniform[2 * i]), 1e-300);
    x[i] = std::sqrt(-2.0 * std::log(first)) * std::cos(std::numbers::pi * uniform[2 * i + 1]);
  }
  return x;
}

}  // namespace

Mechanism disturbed(const Mechanism& m, const std::map<std::string, double>& masses) {
  Description description = m.description();
  for (const auto& [name, factor] : masses) {
    if (!(factor > 0.0) || !std::isfinite(factor))
      throw Error("the factor on the mass of '" + name + "' is " + number(factor) +
                  "; it must be positive");
    const auto found =
        std::find_if(description.bodies.begin(), description.bodies.end(),
                     [&body_name = name](const Body& body) { return body.name == body_name; });
    if (found == description.bodies.end()) {
      std::vector<std::string> names;
      names.reserve(description.bodies.size());
      for (const Body& body : description.bodies) names.push_back(body.name);
      throw NameError("there is no body '" + name + "'" + did_you_mean(name, names));
    }
    found->mass *= factor;
    found->inertia = factor * found->inertia;
  }
  return MechanismBuilder(description).finish({.strict = false});
}

State disturbed_start(const Mechanism& m, const RecordedMotion& motion, const Regulator& regulator,
                      const Disturbance& disturbance) {
  const auto n = static_cast<Index>(regulator.freedoms.size());
  VectorXd x = VectorXd::Zero(2 * n);
  if (!(disturbance.random >= 0.0))
    throw Error("the standard deviation of the random offset is " + number(disturbance.random) +
                "; it must not be negative");
  if (disturbance.random > 0.0) {
    x = disturbance.random * normal_vector(2 * n, disturbance.seed);
    for (Index k = 0; k < 2 * n; ++k)
      if (regulator.state_weights[k] > 0.0) x[k] /= std::sqrt(regulator.state_weights[k]);
  }
  for (const auto& [name, offset] : disturbance.offsets) {
    const auto& names = regulator.states;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      throw NameError("there is no state '" + name + "' to be offset" + did_you_mean(name, names) +
                      "; the states are " + listed(names));
    x[found - names.begin()] += offset;
  }
  return displaced(m, motion.state(0), regulator.freedoms, x.head(n), x.tail(n));
}

RegulatedResult simulate_regulated(const Mechanism& mechanism, const RecordedMotion& motion,
                                   const Regulator& regulator, const RegulatedSettings& settings,
                                   Recorder& recorder) {
  const Mechanism real = disturbed(mechanism, settings.disturbance.masses);
  const auto law = std::make_shared<Law>(mechanism, motion, regulator, settings);
  SimulationSettings simulation = settings.simulation;
  simulation.duration = motion.duration();
  ActionSettings& actions = simulation.actions;
  for (Index j = 0; j < static_cast<Index>(regulator.actuators.size()); ++j) {
    const auto effort = [law, j](double t, const State& state) {
      law->look(t, state);
      return law->effort()[j];
    };
    actions.inputs.push_back({regulator.inputs[index(j)], effort});
  }
  // Efforts of the motion where the regulator does not act.
  for (int i = 0; i < mechanism.freedoms(); ++i) {
    const auto& own = regulator.actuators;
    bool acts = false;
    for (std::size_t k = 0; k < motion.rows(); ++k) acts = acts || motion.effort(k)[i] != 0.0;
    if (!acts || std::find(own.begin(), own.end(), i) != own.end()) continue;
    const auto effort = [&motion, i](double t, const State&) {
      return motion.effort_at(motion.start() + t)[i];
    };
    actions.inputs.push_back({mechanism.velocity_names()[index(i)], effort});
  }
  for (const InputSettings& input : settings.disturbance.efforts) actions.inputs.push_back(input);
  add_columns(mechanism, regulator, law, simulation.extra_outputs);
  const State start = disturbed_start(mechanism, motion, regulator, settings.disturbance);
  RegulatedResult result;
  Measuring measuring(recorder, regulator, *law, result);
  const auto watched = simulation.progress;
  simulation.progress = [&](double t) {
    result.departed = regulator.distance(law->deviation()) > kDeparted;
    return !result.departed && (!watched || watched(t));
  };
  result.run = simulate(real, start, simulation, measuring);
  return result;
}

}  // namespace catena
