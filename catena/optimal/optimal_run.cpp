// SPDX-License-Identifier: BSD-3-Clause
#include "catena/optimal/optimal_run.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "catena/base/index.h"
#include "catena/optimal/resolve.h"
#include "catena/simulation/recording/recorded_motion.h"

namespace catena {
using Eigen::VectorXd;

namespace {

// The columns of another motion beside those of the run.
class Beside {
 public:
  Beside(const Mechanism& m, const MemoryRecorder& record) {
    const RunRows rows = Eigen::Map<const RunRows>(
        record.values().data(), record.rows(), static_cast<Eigen::Index>(record.columns().size()));
    motion_.emplace(
        recorded_motion(record.columns(), rows, m, Efforts::optional, "the motion of the guess"));
  }
  double value(double t, char quantity, int i) {
    if (t != time_) {
      time_ = t;
      state_ = motion_->state_at(t);
      effort_ = motion_->effort_at(t);
    }
    return quantity == 'q' ? state_.q[i] : quantity == 'v' ? state_.v[i] : effort_[i];
  }

 private:
  std::optional<RecordedMotion> motion_;
  double time_ = -1.0;
  State state_;
  VectorXd effort_;
};

void add_columns(const Mechanism& m, const MemoryRecorder& record, const std::string& prefix,
                 SimulationSettings& settings) {
  const auto beside = std::make_shared<Beside>(m, record);
  for (const RunColumn& column : record.columns()) {
    const auto add = [&](char quantity, int i) {
      RunColumn own = column;
      own.name = prefix + own.name;
      settings.extra_outputs.push_back({own, [beside, quantity, i](double t, const State&) {
                                          return beside->value(t, quantity, i);
                                        }});
    };
    const std::string name = column.name.substr(column.name.find('.') + 1);
    if (column.name.starts_with("q.")) add('q', m.position_index(name));
    if (column.name.starts_with("v.")) add('v', m.velocity_index(name));
    if (column.name.starts_with("effort.")) add('e', m.velocity_index(name));
  }
}

}  // namespace

SimulationSettings replay_settings(const MotionProblem& p, const VectorXd& variables) {
  const auto controls = std::make_shared<SplineControls>(*p.mechanism, controls_of(p));
  const double duration = p.duration.free() ? variables[variables.size() - 1] : p.duration.guess;
  SimulationSettings s;
  s.duration = duration;
  s.output_interval = duration / 500.0;
  s.checkpoint_interval = duration;
  s.integrator.relative_tolerance = 1e-10;
  s.integrator.absolute_tolerance = 1e-12;
  s.actions.stops = false;  // they are bounds of the problem, not stops
  s.actions.friction = FrictionLaw::smooth;
  const VectorXd parameters = variables.head(controls->parameters());
  for (int c = 0; c < controls->size(); ++c) {
    const SplineControl& spline = controls->controls()[index(c)];
    TimeFunction signal;
    signal.jet = [controls, parameters, duration, c](double t) {
      const double u = std::clamp(t / duration, 0.0, 1.0);
      ControlValue v;
      controls->evaluate(c, u, u, duration, parameters, v);
      return Jet{v.value[0], v.value[1], v.value[2]};
    };
    const int spans = spline_spans(spline.degree, spline.coefficients);
    for (int i = 1; i < spans; ++i) signal.corners.push_back(duration * i / spans);
    if (!spline.motion && spline.degree == 0) signal.jumps = true;
    const std::string& name = p.controls[index(c)].freedom;
    if (spline.motion)
      s.actions.motions.push_back({name, std::move(signal)});
    else
      s.actions.inputs.push_back({name, std::move(signal)});
  }
  return s;
}

Replay record_motion(const MotionProblem& p, const OptimalMotion& motion, Recorder& recorder) {
  Replay out;
  MemoryRecorder guess;
  try {
    simulate(*p.mechanism, p.start, replay_settings(p, motion.guess), guess);
    out.with_guess = true;
  } catch (const NumericalError&) {
    // The error may have any cause; the optimum is recorded alone.
  }
  SimulationSettings settings = replay_settings(p, motion.variables);
  if (out.with_guess) add_columns(*p.mechanism, guess, "guess.", settings);
  out.result = simulate(*p.mechanism, p.start, settings, recorder);
  const State& end = out.result.state;
  out.difference = std::max((end.q - motion.final_state.q).lpNorm<Eigen::Infinity>(),
                            (end.v - motion.final_state.v).lpNorm<Eigen::Infinity>());
  return out;
}

}  // namespace catena
