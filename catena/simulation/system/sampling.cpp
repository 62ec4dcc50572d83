// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/system/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// Ticks of different periods meet up to rounding of k times the period.
double same_instant(double t) { return kSameInstant * std::max(1.0, std::abs(t)); }

}  // namespace

SampledComponents::SampledComponents(const Wiring& wiring)
    : wiring_(wiring),
      memory_(wiring.memory(), 0.0),
      held_(wiring.outputs(), 0.0),
      y_(wiring.outputs(), 0.0) {
  for (int k = 0; k < wiring.size(); ++k) {
    const std::optional<Sampling> sampling = wiring.component(k).sampling();
    if (!sampling) continue;
    Task& task = tasks_.emplace_back();
    task.component = k;
    task.sampling = *sampling;
    task.outputs = wiring.outputs(k);
    task.most_pending = to_size(std::lround(std::ceil(sampling->delay / sampling->period))) + 1;
  }
  std::stable_sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) {
    return a.sampling.order < b.sampling.order;
  });
}

void SampledComponents::start(std::span<double> x) {
  wiring_.start(x, memory_);
  std::fill(held_.begin(), held_.end(), 0.0);
  for (Task& task : tasks_) {
    task.next_tick = 0.0;
    task.pending.clear();
    wiring_.component(task.component).start_outputs(task.outputs.of(std::span(held_)));
  }
}

double SampledComponents::next_time() const {
  double next = std::numeric_limits<double>::infinity();
  for (const Task& task : tasks_) {
    next = std::min(next, task.tick_time());
    if (!task.pending.empty()) next = std::min(next, task.pending.front().time);
  }
  return next;
}

bool SampledComponents::run(const Instant& at, std::span<const double> x) {
  const double until = at.time + same_instant(at.time);
  bool changed = false;
  for (Task& task : tasks_) changed |= show(task, until);
  for (Task& task : tasks_)
    if (task.tick_time() <= until) changed |= tick(task, at, x);
  return changed;
}

// Outputs that appear by now.
bool SampledComponents::show(Task& task, double until) {
  bool changed = false;
  while (!task.pending.empty() && task.pending.front().time <= until) {
    changed |= hold(task, task.pending.front().outputs);
    task.pending.erase(task.pending.begin());
  }
  return changed;
}

bool SampledComponents::hold(const Task& task, std::span<const double> outputs) {
  const auto held = task.outputs.of(std::span(held_));
  if (std::equal(held.begin(), held.end(), outputs.begin())) return false;
  std::copy(outputs.begin(), outputs.end(), held.begin());
  return true;
}

bool SampledComponents::tick(Task& task, const Instant& at, std::span<const double> x) {
  wiring_.evaluate(at, x, memory_, held_, y_);
  const auto memory = wiring_.memory(task.component).of(std::span(memory_));
  own_memory_.assign(memory.begin(), memory.end());
  own_outputs_.assign(task.outputs.count, 0.0);
  wiring_.tick(task.component, at, x, memory_, y_, own_memory_, own_outputs_);
  const auto not_finite = [](double v) { return !std::isfinite(v); };
  if (std::any_of(own_outputs_.begin(), own_outputs_.end(), not_finite) ||
      std::any_of(own_memory_.begin(), own_memory_.end(), not_finite))
    throw NumericalError("component '" + wiring_.component(task.component).name() +
                         "': its tick at " + number(at.time) +
                         " s gives a value that is not finite");
  std::copy(own_memory_.begin(), own_memory_.end(), memory.begin());
  task.next_tick += 1.0;
  if (task.sampling.delay == 0.0) return hold(task, own_outputs_);
  task.pending.push_back({at.time + task.sampling.delay, own_outputs_});
  return false;
}

// ---- Checkpoints. ----

std::size_t SampledComponents::saved() const {
  std::size_t n = memory_.size();
  for (const Task& task : tasks_)
    n += 2 + task.outputs.count + task.most_pending * (1 + task.outputs.count);
  return n;
}

std::vector<double> SampledComponents::save() const {
  std::vector<double> s = memory_;
  s.reserve(saved());
  for (const Task& task : tasks_) {
    s.push_back(task.next_tick);
    const auto held = task.outputs.of(std::span(held_));
    s.insert(s.end(), held.begin(), held.end());
    s.push_back(static_cast<double>(task.pending.size()));
    for (std::size_t i = 0; i < task.most_pending; ++i) {
      const bool used = i < task.pending.size();
      s.push_back(used ? task.pending[i].time : 0.0);
      for (std::size_t j = 0; j < task.outputs.count; ++j)
        s.push_back(used ? task.pending[i].outputs[j] : 0.0);
    }
  }
  return s;
}

void SampledComponents::restore(std::span<const double> from) {
  std::size_t at = 0;
  for (double& x : memory_) x = from[at++];
  for (Task& task : tasks_) {
    task.next_tick = from[at++];
    for (double& x : task.outputs.of(std::span(held_))) x = from[at++];
    const std::size_t used = std::min(to_size(std::lround(from[at++])), task.most_pending);
    task.pending.resize(used);
    for (std::size_t i = 0; i < task.most_pending; ++i) {
      const double time = from[at++];
      const auto outputs = from.subspan(at, task.outputs.count);
      at += task.outputs.count;
      if (i < used) task.pending[i] = {time, {outputs.begin(), outputs.end()}};
    }
  }
}

}  // namespace catena
