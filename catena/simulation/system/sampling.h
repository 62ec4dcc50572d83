// SPDX-License-Identifier: BSD-3-Clause
// The sampled components of a system in time: when each has its next tick, which outputs are held,
// and which are still being computed (delay).
//
// All of it is a vector of numbers, so that checkpoints keep it: for each sampled component the
// number of its next tick, its held outputs, and a queue of (time, outputs) that appear later, as
// many as ticks fit into its delay.
#pragma once

#include <span>
#include <vector>

#include "catena/simulation/system/wiring.h"

namespace catena {

class SampledComponents {
 public:
  // The wiring must outlive it.
  explicit SampledComponents(const Wiring& wiring);

  bool empty() const { return tasks_.empty(); }
  // Memory of all components, constant between ticks.
  std::span<const double> memory() const { return memory_; }
  // By output of all components; zero before the first outputs of a component appear.
  std::span<const double> held() const { return held_; }

  // Memory as components start, no tick yet. Returns the states of continuous components in x.
  void start(std::span<double> x);
  // The next instant at which a tick is due or an output appears; infinite if there is none.
  double next_time() const;
  // Runs everything due at the instant, in order. True: a held output has changed.
  bool run(const Instant& at, std::span<const double> x);

  // For checkpoints.
  std::size_t saved() const;
  std::vector<double> save() const;
  void restore(std::span<const double> from);

 private:
  struct Task {
    int component = 0;
    Sampling sampling;
    Wiring::Range outputs;
    double next_tick = 0.0;  // its number
    struct Pending {
      double time = 0.0;
      std::vector<double> outputs;
    };
    std::vector<Pending> pending;  // in order of time
    std::size_t most_pending = 0;

    double tick_time() const { return sampling.offset + next_tick * sampling.period; }
  };
  bool show(Task& task, double until);
  bool hold(const Task& task, std::span<const double> outputs);
  bool tick(Task& task, const Instant& at, std::span<const double> x);

  const Wiring& wiring_;
  std::vector<Task> tasks_;  // in the order in which they run
  std::vector<double> memory_, held_;
  std::vector<double> y_, own_memory_, own_outputs_;  // scratch
};

}  // namespace catena
