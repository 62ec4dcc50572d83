// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/system/wiring.h"

#include <cmath>
#include <limits>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/simulation/freedom_index.h"

namespace catena {
namespace {

constexpr std::string_view kEffortTarget = "effort.";
// Outputs of a sampled component that are computed but not shown yet are all kept.
constexpr double kMostPending = 1e6;

std::string in_component(const Component& component) {
  return "component '" + component.name() + "'";
}

int find_port(const std::vector<OutputPort>& ports, const std::string& name) {
  for (int i = 0; i < static_cast<int>(ports.size()); ++i)
    if (at(ports, i).name == name) return i;
  return -1;
}

void check_sampling(const Component& component, std::vector<std::string>& problems) {
  const std::optional<Sampling> s = component.sampling();
  if (!s) return;
  if (!(s->period > 0.0) || !std::isfinite(s->period))
    problems.push_back(in_component(component) + ": the sample period is " + number(s->period) +
                       " s; it must be positive");
  if (!(s->offset >= 0.0) || !(s->delay >= 0.0) || !std::isfinite(s->offset + s->delay))
    problems.push_back(in_component(component) + ": offset and delay are " + number(s->offset) +
                       " s and " + number(s->delay) + " s; they must be finite and not negative");
  else if (s->period > 0.0 && s->delay / s->period > kMostPending)
    problems.push_back(in_component(component) + ": the delay of " + number(s->delay) +
                       " s is more than a million sample periods of " + number(s->period) +
                       " s; give both in seconds");
  if (component.states() > 0)
    problems.push_back(in_component(component) +
                       ": a sampled component has memory, not continuous states");
}

}  // namespace

Wiring::Wiring(const Mechanism& mechanism, std::vector<std::unique_ptr<Component>> components)
    : mechanism_(&mechanism) {
  components_.reserve(components.size());
  for (auto& component : components) components_.emplace_back().component = std::move(component);
  std::vector<std::string> problems;
  place();
  connect(problems);
  if (problems.empty()) sort(problems);
  if (!problems.empty()) {
    std::string all = problems.front();
    for (std::size_t i = 1; i < problems.size(); ++i) all += "\n" + problems[i];
    throw Error(all);
  }
}

const Component& Wiring::component(int k) const { return *at(components_, k).component; }
Wiring::Range Wiring::states(int k) const { return at(components_, k).states; }
Wiring::Range Wiring::memory(int k) const { return at(components_, k).memory; }
Wiring::Range Wiring::outputs(int k) const { return at(components_, k).outputs; }

void Wiring::place() {
  std::size_t most = 0;
  for (Part& part : components_) {
    const Component& c = *part.component;
    part.states = {states_, to_size(c.states())};
    part.memory = {memory_, to_size(c.memory())};
    part.outputs = {outputs_, c.outputs().size()};
    part.sampled = c.sampling().has_value();
    part.feeds_through = c.feeds_through();
    states_ += part.states.count;
    memory_ += part.memory.count;
    outputs_ += part.outputs.count;
    most = std::max(most, c.inputs().size());
  }
  u_.resize(most);
}

void Wiring::connect(std::vector<std::string>& problems) {
  for (int k = 0; k < size(); ++k) {
    Part& part = at(components_, k);
    const Component& c = *part.component;
    for (int i = 0; i < k; ++i)
      if (component(i).name() == c.name())
        problems.push_back("two components are called '" + c.name() + "'");
    check_sampling(c, problems);
    for (const InputPort& port : c.inputs()) find_source(part, port, problems);
    for (std::size_t i = 0; i < c.outputs().size(); ++i) {
      const OutputPort& port = c.outputs()[i];
      if (find_port(c.outputs(), port.name) != static_cast<int>(i))
        problems.push_back(in_component(c) + " has two outputs called '" + port.name + "'");
      if (!port.target.empty()) find_target(k, port, part.outputs.first + i, problems);
    }
  }
}

void Wiring::find_source(Part& part, const InputPort& port, std::vector<std::string>& problems) {
  const std::string what = in_component(*part.component) + ", input '" + port.name + "'";
  if (const auto* signal = std::get_if<SignalSettings>(&port.source)) {
    try {
      signals_.emplace_back(*signal, *mechanism_, what, false);
      signal_names_.push_back(part.component->name());
      part.sources.push_back({.signal = static_cast<int>(signals_.size()) - 1});
    } catch (const Error& e) {
      problems.emplace_back(e.what());
    }
    return;
  }
  const PortName& wanted = std::get<PortName>(port.source);
  std::vector<std::string> names;
  for (const Part& other : components_) {
    names.push_back(other.component->name());
    if (names.back() != wanted.component) continue;
    const auto& outputs = other.component->outputs();
    if (const int i = find_port(outputs, wanted.port); i >= 0) {
      part.sources.push_back({.output = other.outputs.first + index(i)});
    } else {
      std::vector<std::string> ports;
      for (const OutputPort& output : outputs) ports.push_back(output.name);
      problems.push_back(what + ": component '" + wanted.component + "' has no output '" +
                         wanted.port + "'" + did_you_mean(wanted.port, ports));
    }
    return;
  }
  problems.push_back(what + ": there is no component '" + wanted.component + "'" +
                     did_you_mean(wanted.component, names));
}

void Wiring::find_target(int k, const OutputPort& port, std::size_t output,
                         std::vector<std::string>& problems) {
  const std::string what = in_component(component(k)) + ", output '" + port.name + "'";
  if (!port.target.starts_with(kEffortTarget)) {
    problems.push_back(what + ": its target is '" + port.target +
                       "'; it must be effort.FREEDOM (or empty for a signal)");
    return;
  }
  try {
    efforts_.push_back(
        {k, output, freedom_index(*mechanism_, port.target.substr(kEffortTarget.size()))});
  } catch (const Error& e) {
    problems.push_back(what + ": " + e.what());
  }
}

// Depth first over the components that a component reads directly. Sampled outputs are held, and
// outputs without feedthrough are known beforehand: neither makes a loop.
void Wiring::sort(std::vector<std::string>& problems) {
  enum class Mark { none, under_way, done };
  std::vector<Mark> marks(components_.size(), Mark::none);
  std::vector<int> path;
  // Components whose outputs the inputs of k read.
  const auto sources = [&](int k) {
    std::vector<int> from;
    for (const Source& source : at(components_, k).sources) {
      if (source.signal >= 0) continue;
      int other = 0;
      while (source.output >= outputs(other).first + outputs(other).count) ++other;
      if (!at(components_, other).sampled) from.push_back(other);
    }
    return from;
  };
  const auto visit = [&](auto&& self, int k) -> void {
    if (at(marks, k) == Mark::done) return;
    if (at(marks, k) == Mark::under_way) {
      std::string cycle;
      for (auto i = std::find(path.begin(), path.end(), k); i != path.end(); ++i)
        cycle += "'" + component(*i).name() + "' -> ";
      problems.push_back("algebraic loop: " + cycle + "'" + component(k).name() +
                         "'; give one of them a state, or sample it");
      return;
    }
    at(marks, k) = Mark::under_way;
    path.push_back(k);
    if (at(components_, k).feeds_through)
      for (const int other : sources(k)) self(self, other);
    path.pop_back();
    at(marks, k) = Mark::done;
    order_.push_back(k);
  };
  for (int k = 0; k < size(); ++k)
    if (!at(components_, k).sampled) visit(visit, k);
}

void Wiring::start(std::span<double> x, std::span<double> m) const {
  for (const Part& part : components_) part.component->start(part.states.of(x), part.memory.of(m));
}

std::span<const double> Wiring::gather(const Part& part, const Instant& at,
                                       std::span<const double> y) const {
  for (std::size_t i = 0; i < part.sources.size(); ++i) {
    const Source& source = part.sources[i];
    u_[i] = source.signal >= 0 ? signals_[index(source.signal)].value(at.time, at.state)
                               : y[source.output];
  }
  return {u_.data(), part.sources.size()};
}

void Wiring::evaluate(const Instant& at, std::span<const double> x, std::span<const double> m,
                      std::span<const double> held, std::span<double> y) const {
  for (const Part& part : components_) {
    if (!part.sampled) continue;
    const auto from = part.outputs.of(held);
    std::copy(from.begin(), from.end(), part.outputs.of(y).begin());
  }
  for (const int k : order_) {
    const Part& part = components_[index(k)];
    if (part.feeds_through)
      gather(part, at, y);
    else
      std::fill(u_.begin(), u_.end(), std::numeric_limits<double>::quiet_NaN());
    part.component->output(
        {at, {u_.data(), part.sources.size()}, part.states.of(x), part.memory.of(m)},
        part.outputs.of(y));
  }
}

void Wiring::rates(const Instant& at, std::span<const double> x, std::span<const double> m,
                   std::span<const double> y, std::span<double> dx) const {
  for (const Part& part : components_)
    if (part.states.count > 0)
      part.component->rate({at, gather(part, at, y), part.states.of(x), part.memory.of(m)},
                           part.states.of(dx));
}

void Wiring::tick(int k, const Instant& at, std::span<const double> x, std::span<const double> m,
                  std::span<const double> y, std::span<double> own_memory,
                  std::span<double> own_outputs) const {
  const Part& part = components_[index(k)];
  part.component->tick({at, gather(part, at, y), part.states.of(x), part.memory.of(m)}, own_memory,
                       own_outputs);
}

void Wiring::add_signals(SignalSet& signals) {
  for (std::size_t i = 0; i < signals_.size(); ++i) signals.add(signals_[i], signal_names_[i]);
  for (const Part& part : components_)
    for (Signal& signal : part.component->signals()) signals.add(signal, part.component->name());
}

}  // namespace catena
