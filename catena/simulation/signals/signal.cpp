#include "catena/simulation/signals/signal.h"

#include <algorithm>
#include <cmath>

namespace catena {

Signal::Signal(const SignalSettings& settings, const Mechanism& mechanism, const std::string& what,
               bool time_only)
    : function_(settings.function),
      jet_(settings.jet),
      corners_(settings.corners),
      hold_(settings.interpolation == Interpolation::hold) {
  const int given = (settings.expression.empty() ? 0 : 1) + (settings.table.empty() ? 0 : 1) +
                    (settings.function ? 1 : 0) + (settings.jet ? 1 : 0);
  if (given != 1)
    throw Error(what + ": needs one of an expression, a table and a function, not " +
                std::to_string(given));
  if (time_only && settings.function)
    throw Error(what +
                ": a function without derivatives cannot be used here; give an expression "
                "of t or a table");
  if (!settings.table.empty()) {
    table_ = read_table(settings.table, settings.column, settings.interpolation, settings.cutoff);
  } else if (!settings.expression.empty()) {
    try {
      expression_.emplace(settings.expression, &mechanism);
    } catch (const Error& e) {
      throw Error(what + ": " + e.what());
    }
    if (expression_->constant() && expression_->switches() == 0)
      constant_ = expression_->jet(0.0).value;
    if (time_only && expression_->uses_state())
      throw Error(what + ": \"" + settings.expression +
                  "\" uses the state; here only a function of t is possible");
  }
}

double Signal::inside(double t) const {
  return t < corner_ ? t : std::nextafter(corner_, -std::numeric_limits<double>::infinity());
}

double Signal::value(double t, const State& state) const {
  if (constant_) return *constant_;
  if (expression_) return expression_->value(t, state);
  if (table_) return table_->at(inside(t)).value;
  return jet_ ? jet_(inside(t)).value : function_(t, state);
}

double Signal::guard(double t, const State& state) const {
  return expression_ && !constant_ ? expression_->live(t, state) : value(t, state);
}

Jet Signal::guard_jet(double t, const State& state, std::span<const double> rates) const {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (expression_ && !constant_) return expression_->live_jet(t, state, rates);
  return function_ ? Jet{function_(t, state), kUnknown, kUnknown} : jet(t);
}

Jet Signal::jet(double t) const {
  if (constant_) return {*constant_, 0.0, 0.0};
  if (jet_) return jet_(inside(t));
  return table_ ? table_->at(inside(t)) : expression_->jet(t);
}

void Signal::start(double t, const State& state) {
  if (expression_) expression_->set_switches(t, state);
  if (table_) corner_ = table_->next_corner(t);
  if (jet_) {
    const auto next = std::upper_bound(corners_.begin(), corners_.end(), t);
    corner_ = next == corners_.end() ? std::numeric_limits<double>::infinity() : *next;
  }
}

bool Signal::jumps() const { return (table_ || jet_) && hold_; }

void Signal::switch_arguments(double t, const State& state, std::span<double> arguments) const {
  if (expression_) expression_->switch_arguments(t, state, arguments);
}

std::span<std::uint8_t> Signal::switch_sides() {
  return expression_ ? expression_->switch_sides() : std::span<std::uint8_t>{};
}

}  // namespace catena
