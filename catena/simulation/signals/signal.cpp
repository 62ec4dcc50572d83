// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/signals/signal.h"

#include <algorithm>
#include <cmath>

namespace catena {

Signal::Signal(const SignalSettings& settings, const Mechanism& mechanism, const std::string& what,
               bool time_only) {
  if (const TableSignal* table = settings.table()) {
    table_ = read_table(table->path, table->column, table->interpolation, table->cutoff);
    jumps_ = table->interpolation == Interpolation::hold;
  } else if (const TimeFunction* function = settings.time_function()) {
    time_function_ = *function;
    jumps_ = function->jumps;
  } else if (const StateFunction* of_state = settings.function()) {
    if (time_only)
      throw Error(what +
                  ": a function without derivatives cannot be used here; give an expression "
                  "of t or a table");
    function_ = *of_state;
  } else if (const std::string& text = *settings.expression(); !text.empty()) {
    try {
      expression_.emplace(text, &mechanism);
    } catch (const Error& e) {
      throw Error(what + ": " + e.what());
    }
    if (expression_->constant() && expression_->switches() == 0)
      constant_ = expression_->jet(0.0).value;
    if (time_only && expression_->uses_state())
      throw Error(what + ": \"" + text +
                  "\" uses the state; here only a function of t is possible");
  }
  if (!table_ && !time_function_.jet && !function_ && !expression_)
    throw Error(what + ": needs an expression, a table or a function");
}

double Signal::inside(double t) const {
  return t < corner_ ? t : std::nextafter(corner_, -std::numeric_limits<double>::infinity());
}

double Signal::value(double t, const State& state) const {
  if (constant_) return *constant_;
  if (expression_) return expression_->value(t, state);
  if (table_) return table_->at(inside(t)).value;
  return function_ ? function_(t, state) : time_function_.jet(inside(t)).value;
}

double Signal::guard(double t, const State& state) const {
  return expression_ && !constant_ ? expression_->live(t, state) : value(t, state);
}

Jet Signal::guard_jet(double t, const State& state, std::span<const double> rates) const {
  if (expression_ && !constant_) return expression_->live_jet(t, state, rates);
  return function_ ? Jet::without_rates(function_(t, state)) : jet(t);
}

Jet Signal::jet(double t) const {
  if (constant_) return {*constant_, 0.0, 0.0};
  if (time_function_.jet) return time_function_.jet(inside(t));
  return table_ ? table_->at(inside(t)) : expression_->jet(t);
}

void Signal::start(double t, const State& state) {
  if (expression_) expression_->set_switches(t, state);
  if (table_) corner_ = table_->next_corner(t);
  if (time_function_.jet) {
    const std::vector<double>& corners = time_function_.corners;
    const auto next = std::upper_bound(corners.begin(), corners.end(), t);
    corner_ = next == corners.end() ? std::numeric_limits<double>::infinity() : *next;
  }
}

void Signal::switch_arguments(double t, const State& state, std::span<double> arguments) const {
  if (expression_) expression_->switch_arguments(t, state, arguments);
}

std::span<std::uint8_t> Signal::switch_sides() {
  return expression_ ? expression_->switch_sides() : std::span<std::uint8_t>{};
}

}  // namespace catena
