// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/signals/signal_set.h"

#include <algorithm>
#include <limits>

#include "catena/base/error.h"
#include "catena/base/index.h"

namespace catena {

void SignalSet::add(Signal& signal, std::string name) {
  signals_.push_back({&signal, std::move(name)});
  switches_ += signal.switches();
}

std::vector<const Signal*> SignalSet::varying() const {
  std::vector<const Signal*> some;
  for (const Named& own : signals_)
    if (own.signal->varies()) some.push_back(own.signal);
  return some;
}

void SignalSet::switch_arguments(double t, const State& state, std::span<double> arguments) const {
  std::size_t at = 0;
  for (const Named& own : signals_) {
    const auto count = to_size(own.signal->switches());
    if (count > 0) own.signal->switch_arguments(t, state, arguments.subspan(at, count));
    at += count;
  }
}

const std::string& SignalSet::switch_name(int k) const {
  for (const Named& own : signals_) {
    if (k < own.signal->switches()) return own.name;
    k -= own.signal->switches();
  }
  throw Error("a signal has no such jump");
}

std::vector<std::uint8_t> SignalSet::switch_sides() const {
  std::vector<std::uint8_t> sides;
  for (const Named& own : signals_) {
    const auto some = own.signal->switch_sides();
    sides.insert(sides.end(), some.begin(), some.end());
  }
  return sides;
}

void SignalSet::set_switch_sides(std::span<const std::uint8_t> sides) {
  std::size_t at = 0;
  for (const Named& own : signals_)
    for (std::uint8_t& side : own.signal->switch_sides()) side = sides[at++];
}

void SignalSet::start(double t, const State& state) {
  for (const Named& own : signals_) own.signal->start(t, state);
}

double SignalSet::next_corner() const {
  double next = std::numeric_limits<double>::infinity();
  for (const Named& own : signals_) next = std::min(next, own.signal->next_corner());
  return next;
}

bool SignalSet::jumps_at(double corner) const {
  return std::any_of(signals_.begin(), signals_.end(), [&](const Named& own) {
    return own.signal->jumps() && own.signal->next_corner() == corner;
  });
}

}  // namespace catena
