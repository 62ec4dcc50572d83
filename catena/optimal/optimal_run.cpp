#include "catena/optimal/optimal_run.h"

#include <algorithm>
#include <memory>

#include "catena/optimal/resolve.h"

namespace catena {
using Eigen::VectorXd;

namespace {

// Passes everything on, each row longer by columns of another record at the same time.
class BesideRecorder final : public Recorder {
 public:
  BesideRecorder(Recorder& to, const MemoryRecorder* other, const std::string& prefix) : to_(to) {
    if (other == nullptr) return;
    const Eigen::Index rows = other->rows();
    const auto width = static_cast<Eigen::Index>(other->columns().size());
    for (Eigen::Index c = 0; c < width; ++c) {
      const RunColumn& column = other->columns()[static_cast<std::size_t>(c)];
      const bool wanted = column.name.starts_with("q.") || column.name.starts_with("v.") ||
                          column.name.starts_with("effort.");
      if (column.name != "time" && !wanted) continue;
      VectorXd values(rows);
      for (Eigen::Index r = 0; r < rows; ++r)
        values[r] = other->values()[static_cast<std::size_t>(r * width + c)];
      if (column.name == "time") {
        times_ = values;
        continue;
      }
      columns_.push_back(column);
      columns_.back().name = prefix + column.name;
      values_.push_back(values);
    }
  }

  void begin(std::span<const RunColumn> columns) override {
    std::vector<RunColumn> all(columns.begin(), columns.end());
    all.insert(all.end(), columns_.begin(), columns_.end());
    to_.begin(all);
  }
  void append(std::span<const double> row) override {
    row_.assign(row.begin(), row.end());
    if (times_.size() > 0) {
      // Straight lines between the rows of the other; its last row after its end.
      const auto after = std::upper_bound(times_.begin(), times_.end(), row[0]);
      const Eigen::Index b = std::clamp<Eigen::Index>(after - times_.begin(), 1, times_.size() - 1);
      const Eigen::Index a = std::max<Eigen::Index>(b - 1, 0);
      const double span = times_[b] - times_[a];
      const double share = span > 0.0 ? std::clamp((row[0] - times_[a]) / span, 0.0, 1.0) : 0.0;
      for (const VectorXd& v : values_) row_.push_back(v[a] + share * (v[b] - v[a]));
    }
    to_.append(row_);
  }
  void add_event(const RunEvent& event) override { to_.add_event(event); }
  void checkpoint(const RunCheckpoint& checkpoint) override { to_.checkpoint(checkpoint); }
  void finish(const std::string& audit, bool complete) override { to_.finish(audit, complete); }

 private:
  Recorder& to_;
  VectorXd times_;
  std::vector<RunColumn> columns_;
  std::vector<VectorXd> values_;
  std::vector<double> row_;
};

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
  s.actions.stops = false;  // bounds of the problem, not walls
  s.actions.friction = FrictionLaw::smooth;
  const VectorXd parameters = variables.head(controls->parameters());
  for (int c = 0; c < controls->size(); ++c) {
    const SplineControl& spline = controls->controls()[static_cast<std::size_t>(c)];
    SignalSettings signal;
    signal.jet = [controls, parameters, duration, c](double t) {
      const double u = std::clamp(t / duration, 0.0, 1.0);
      ControlValue v;
      controls->evaluate(c, u, u, duration, parameters, v);
      return Jet{v.value[0], v.value[1], v.value[2]};
    };
    const int spans = spline_spans(spline.degree, spline.coefficients);
    for (int i = 1; i < spans; ++i) signal.corners.push_back(duration * i / spans);
    if (!spline.motion && spline.degree == 0) signal.interpolation = Interpolation::hold;
    const std::string& name = p.controls[static_cast<std::size_t>(c)].freedom;
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
    // It may be anything; the optimum is recorded alone.
  }
  BesideRecorder beside(recorder, out.with_guess ? &guess : nullptr, "guess.");
  out.result = simulate(*p.mechanism, p.start, replay_settings(p, motion.variables), beside);
  const State& end = out.result.state;
  out.difference = std::max((end.q - motion.final_state.q).lpNorm<Eigen::Infinity>(),
                            (end.v - motion.final_state.v).lpNorm<Eigen::Infinity>());
  return out;
}

}  // namespace catena
