// SPDX-License-Identifier: BSD-3-Clause
// Contents of a checkpoint, and resuming a run from one (simulation.h).
#include <cmath>

#include "catena/base/index.h"
#include "catena/simulation/simulation.h"

namespace catena {
namespace {

// The first number of a checkpoint.
constexpr double kCheckpointFormat = 6.0;
// The quality of time-stepping: whether there is one, and its numbers.
constexpr std::size_t kSavedQuality = 5;
// Stretches by time-stepping: whether the run is in one, and the data that decide when they begin
// and end.
constexpr std::size_t kSavedStretch = 6;
// Evaluations times bodies between checkpoints, about a minute's work. Not the time itself: a run
// has the same bits on every machine.
constexpr double kCheckpointWork = 4e7;
// Number of entries before y.
constexpr std::size_t kCheckpointHeader = 7;

[[noreturn]] void throw_foreign_checkpoint() {
  throw Error(
      "the checkpoint does not fit this mechanism and these settings; resume with those the run "
      "was started with");
}

}  // namespace

// Behind the header and y.
State state_at(const Mechanism& mechanism, const RunCheckpoint& from) {
  const std::vector<double>& s = from.state;
  const auto n = to_size(mechanism.coordinates() + mechanism.freedoms());
  if (s.size() < kCheckpointHeader || s[0] != kCheckpointFormat || !(s[1] >= 0.0) ||
      s[1] > static_cast<double>(s.size()))
    throw_foreign_checkpoint();
  const std::size_t first = kCheckpointHeader + to_size(std::lround(s[1]));
  if (s.size() < first + n) throw_foreign_checkpoint();
  const double* q = s.data() + first;
  return {Eigen::Map<const Eigen::VectorXd>(q, mechanism.coordinates()),
          Eigen::Map<const Eigen::VectorXd>(q + mechanism.coordinates(), mechanism.freedoms())};
}

bool Simulation::checkpoint_due() const {
  if (t_ >= checkpoint_time()) return true;
  const auto evaluations =
      static_cast<double>(now_->statistics().evaluations - checkpoint_evaluations_);
  return evaluations * static_cast<double>(mechanism_.nodes().size()) >= kCheckpointWork;
}

bool Simulation::make_checkpoint() {
  equations_.at(t_, y_, here_);
  if (here_.is_interpolated()) return false;
  if (t_ >= checkpoint_time()) ++next_checkpoint_;
  checkpoint_evaluations_ = now_->statistics().evaluations;
  has_checkpoint_ = true;
  recent_events_ = 0;
  recent_start_ = t_;
  latest_.clear();
  rattle_.clear();
  tell_skipped();
  window_start_ = t_;
  window_steps_ = window_events_ = 0;
  const State& state = here_.state;
  coordinates_->begin(state);
  equations_.use_chart();
  equations_.set_state(state, y_);
  std::vector<double> s{kCheckpointFormat,
                        static_cast<double>(equations_.size()),
                        static_cast<double>(mechanism_.freedoms()),
                        static_cast<double>(equations_.signals().switches()),
                        static_cast<double>(next_output_),
                        static_cast<double>(next_checkpoint_),
                        last_row_};
  const auto append = [&](const auto& values) {
    for (const auto x : values) s.push_back(static_cast<double>(x));
  };
  append(y_);
  append(state.q);
  append(state.v);
  for (const FreedomMode& mode : equations_.modes()) {
    s.push_back(static_cast<double>(mode.friction));
    s.push_back(mode.direction);
    s.push_back(mode.stop);
  }
  append(equations_.signals().switch_sides());
  append(switching_.save());
  append(stops_.save());
  append(auditor_.save());
  append(flexible_.save());
  append(equations_.sampled().save());
  const std::optional<TimeStepping::Quality> quality = stepping_quality();
  const TimeStepping::Quality q = quality.value_or(TimeStepping::Quality{});
  s.insert(s.end(), {quality ? 1.0 : 0.0, q.residual, q.penetration, q.creep, q.restored});
  s.insert(s.end(), {in_stretch() ? 1.0 : 0.0, stretch_start_, stretch_end_, stretch_time_,
                     static_cast<double>(stretches_), stretch_ ? stretch_->calm_since() : 0.0});
  const StepStatistics& n = now_->statistics();
  s.insert(s.end(), {static_cast<double>(n.steps), static_cast<double>(n.rejected),
                     static_cast<double>(n.evaluations), static_cast<double>(n.restarts),
                     n.smallest_step, n.largest_step, n.stiff_since});
  recorder_.checkpoint({t_, rows_, events_, std::move(s)});
  return true;
}

void Simulation::load(const RunCheckpoint& from) {
  const std::vector<double>& s = from.state;
  const std::size_t n = index(mechanism_.freedoms());
  const std::size_t needed = kCheckpointHeader + index(equations_.size()) +
                             index(mechanism_.coordinates()) + n + 3 * n +
                             index(equations_.signals().switches()) + switching_.saved() +
                             stops_.saved() + Auditor::kSaved + flexible_.saved() +
                             equations_.sampled().saved() + kSavedQuality + kSavedStretch + 7;
  if (s.size() != needed || s[0] != kCheckpointFormat ||
      s[1] != static_cast<double>(equations_.size()))
    throw_foreign_checkpoint();
  std::size_t at = 4;
  next_output_ = static_cast<std::int64_t>(s[at++]);
  next_checkpoint_ = static_cast<std::int64_t>(s[at++]);
  last_row_ = s[at++];
  t_ = recent_start_ = window_start_ = from.time;
  rows_ = from.rows;
  events_ = from.events;
  y_ = Eigen::VectorXd::Zero(equations_.size());
  for (double& x : y_) x = s[at++];
  State state = mechanism_.default_state();
  for (double& x : state.q) x = s[at++];
  for (double& x : state.v) x = s[at++];
  coordinates_->begin(state);
  here_ = {.time = t_, .state = state};
  equations_.use_chart();
  for (FreedomMode& mode : equations_.modes()) {
    mode.friction = static_cast<FreedomMode::Friction>(static_cast<int>(s[at++]));
    mode.direction = static_cast<int>(s[at++]);
    mode.stop = static_cast<int>(s[at++]);
  }
  equations_.signals().start(t_, state);
  std::vector<std::uint8_t> sides(index(equations_.signals().switches()));
  for (std::uint8_t& side : sides) side = static_cast<std::uint8_t>(s[at++]);
  equations_.signals().set_switch_sides(sides);
  switching_.restore({s.data() + at, switching_.saved()});
  at += switching_.saved();
  stops_.restore({s.data() + at, stops_.saved()});
  at += stops_.saved();
  auditor_.restore({s.data() + at, Auditor::kSaved});
  at += Auditor::kSaved;
  flexible_.restore({s.data() + at, flexible_.saved()});
  at += flexible_.saved();
  equations_.sampled().restore({s.data() + at, equations_.sampled().saved()});
  at += equations_.sampled().saved();
  // Continued where it is summed, so that a resumed run has the same bits.
  if (s[at] != 0.0) {
    const TimeStepping::Quality quality{
        .residual = s[at + 1], .penetration = s[at + 2], .creep = s[at + 3], .restored = s[at + 4]};
    if (stepping_ != nullptr)
      stepping_->set_quality(quality);
    else
      earlier_quality_ = quality;
  }
  at += kSavedQuality;
  const bool in_stretch = s[at++] != 0.0;
  for (double* value : {&stretch_start_, &stretch_end_, &stretch_time_}) *value = s[at++];
  stretches_ = static_cast<int>(s[at++]);
  if (in_stretch) {
    make_stretch();
    stretch_->set_calm_since(s[at]);
    use_stretch();
  }
  ++at;
  StepStatistics steps;
  for (std::int64_t* value : {&steps.steps, &steps.rejected, &steps.evaluations, &steps.restarts})
    *value = static_cast<std::int64_t>(s[at++]);
  steps.smallest_step = s[at++];
  steps.largest_step = s[at++];
  steps.stiff_since = s[at++];
  now_->set_statistics(steps);
  checkpoint_evaluations_ = steps.evaluations;
  has_checkpoint_ = true;
}

}  // namespace catena
