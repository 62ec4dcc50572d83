// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/signals/signal_resolution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "catena/base/index.h"

namespace catena {
namespace {

constexpr int kPerInterval = 4;     // samples
constexpr int kMostIntervals = 64;  // in a step
constexpr double kGrowth = 4.0;     // of steps, so that few samples are wasted
// From so many samples on the polynomial has degree eight, which is the order of dop853; fewer
// would leave nothing to predict.
constexpr int kManySamples = 16;
// Smallest error of a prediction: expressions are rounded.
constexpr double kSmoothest = 1e-12;

// Which of the samples 0 to `count` the polynomial passes through: Chebyshev's points on the grid.
int choose_nodes(int count, std::array<int, 9>& nodes) {
  const int degree = count >= kManySamples ? 8 : 4;
  for (int k = 0; k <= degree; ++k)
    nodes[to_size(k)] = static_cast<int>(
        std::lround(0.5 * count * (1.0 - std::cos(k * std::numbers::pi / degree))));
  return degree + 1;
}

}  // namespace

bool is_resolved(std::span<const double> values, double tolerance) {
  const int count = static_cast<int>(values.size()) - 1;
  double largest = 0.0;
  for (const double value : values) {
    if (!std::isfinite(value)) return true;  // the evaluation that needs it will report it
    largest = std::max(largest, std::abs(value));
  }
  std::array<int, 9> nodes{};
  const int chosen = choose_nodes(count, nodes);
  std::array<double, 9> weights{};  // of the barycentric formula
  for (int i = 0; i < chosen; ++i) {
    double product = 1.0;
    for (int j = 0; j < chosen; ++j)
      if (i != j) product *= static_cast<double>(nodes[to_size(i)] - nodes[to_size(j)]) / count;
    weights[to_size(i)] = 1.0 / product;
  }
  for (int k = 1; k < count; ++k) {
    double above = 0.0, below = 0.0;
    bool node = false;
    for (int i = 0; i < chosen; ++i) {
      const int distance = k - nodes[to_size(i)];
      node = node || distance == 0;
      const double part = weights[to_size(i)] / (distance == 0 ? 1 : distance);
      above += part * values[to_size(nodes[to_size(i)])];
      below += part;
    }
    if (!node && !(std::abs(above / below - values[to_size(k)]) <= tolerance * largest))
      return false;
  }
  return true;
}

SignalResolution::SignalResolution(const SignalSet& signals, double interval, double tolerance)
    : interval_(interval),
      tolerance_(std::max(tolerance, kSmoothest)),
      signals_(signals.varying()) {}

bool SignalResolution::resolved(const Signal& signal, double from, double to, int count,
                                const State& state) {
  if (signal.switches() > 0 && !switches_once(signal, from, to, count, state)) return false;
  values_.clear();
  for (int k = 0; k <= count; ++k)
    values_.push_back(signal.value(k == count ? to : from + (to - from) * k / count, state));
  return is_resolved(values_, tolerance_);
}

bool SignalResolution::switches_once(const Signal& signal, double from, double to, int count,
                                     const State& state) {
  const std::size_t switches = to_size(signal.switches());
  arguments_.assign(switches, 0.0);
  last_.assign(switches, 0.0);
  changes_.assign(switches, 0);
  for (int k = 0; k <= count; ++k) {
    signal.switch_arguments(from + (to - from) * k / count, state, arguments_);
    for (std::size_t i = 0; i < switches; ++i) {
      if (arguments_[i] * last_[i] < 0.0 && ++changes_[i] > 1) return false;
      if (arguments_[i] != 0.0) last_[i] = arguments_[i];
    }
  }
  return true;
}

double SignalResolution::step_end(double t, double proposed, double limit, const State& state) {
  if (signals_.empty()) return limit;
  const double checked =
      std::min({proposed, limit - t, kMostIntervals * interval_, kGrowth * allowed_});
  double length = checked;
  while (length > interval_) {
    const int count =
        std::max(2 * kPerInterval, static_cast<int>(std::ceil(kPerInterval * length / interval_)));
    const double to = std::min(t + length, limit);
    if (std::all_of(signals_.begin(), signals_.end(),
                    [&](const Signal* signal) { return resolved(*signal, t, to, count, state); }))
      break;
    length = std::max(0.5 * length, interval_);
  }
  allowed_ = std::max(length, interval_);
  return proposed <= length ? limit : std::min(t + length, limit);
}

}  // namespace catena
