// SPDX-License-Identifier: BSD-3-Clause
// The components of a system, connected: the output or signal of each input, the order in which
// outputs are evaluated, and the places of states, memory and outputs of each component in the
// vectors of all of them.
//
// All mistakes of the wiring are reported in one Error: unknown components, ports and freedoms
// (with the nearest name), names that are taken, and algebraic loops (a cycle of components whose
// outputs depend directly on their inputs).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catena/simulation/component.h"
#include "catena/simulation/signals/signal_set.h"

namespace catena {

class Wiring {
 public:
  // The mechanism must outlive it.
  Wiring(const Mechanism& mechanism, std::vector<std::unique_ptr<Component>> components);

  // A range of one of the vectors of all components.
  struct Range {
    std::size_t first = 0, count = 0;
    template <class T>
    std::span<T> of(std::span<T> all) const {
      return all.subspan(first, count);
    }
  };
  // An output that acts at a freedom.
  struct Effort {
    int component;
    std::size_t output;  // among all outputs
    int freedom;
  };

  int size() const { return static_cast<int>(components_.size()); }
  const Component& component(int k) const;
  std::span<const Effort> efforts() const { return efforts_; }
  Range states(int k) const;
  Range memory(int k) const;   // own memory
  Range outputs(int k) const;  // among all outputs
  std::size_t states() const { return states_; }
  std::size_t memory() const { return memory_; }
  std::size_t outputs() const { return outputs_; }

  void start(std::span<double> x, std::span<double> m) const;
  // Outputs of all components; those of sampled ones are `held`.
  void evaluate(const Instant& at, std::span<const double> x, std::span<const double> m,
                std::span<const double> held, std::span<double> y) const;
  // Rates of all continuous states, with the outputs of evaluate().
  void rates(const Instant& at, std::span<const double> x, std::span<const double> m,
             std::span<const double> y, std::span<double> dx) const;
  // A tick of component k, with the outputs of evaluate(): its memory and outputs after it.
  void tick(int k, const Instant& at, std::span<const double> x, std::span<const double> m,
            std::span<const double> y, std::span<double> own_memory,
            std::span<double> own_outputs) const;

  void add_signals(SignalSet& signals);

 private:
  struct Source {
    int signal = -1;         // of signals_, or
    std::size_t output = 0;  // of all outputs
  };
  struct Part {
    std::unique_ptr<Component> component;
    std::vector<Source> sources;
    Range states, memory, outputs;
    bool sampled = false, feeds_through = true;
  };
  void place();
  void connect(std::vector<std::string>& problems);
  void find_source(Part& part, const InputPort& port, std::vector<std::string>& problems);
  void find_target(int k, const OutputPort& port, std::size_t output,
                   std::vector<std::string>& problems);
  void sort(std::vector<std::string>& problems);
  // Inputs of a component.
  std::span<const double> gather(const Part& part, const Instant& at,
                                 std::span<const double> y) const;
  void compute(const Part& part, const Instant& at, std::span<const double> x,
               std::span<const double> m, std::span<double> y) const;

  const Mechanism* mechanism_;
  std::vector<Part> components_;
  std::vector<Signal> signals_;  // of input ports
  std::vector<std::string> signal_names_;
  std::vector<Effort> efforts_;
  std::vector<int> order_;  // of continuous components
  std::size_t states_ = 0, memory_ = 0, outputs_ = 0;
  mutable std::vector<double> u_;  // scratch
};

}  // namespace catena
