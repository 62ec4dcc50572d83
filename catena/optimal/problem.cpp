// SPDX-License-Identifier: BSD-3-Clause
#include "catena/optimal/problem.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/optimal/resolve.h"
#include "catena/simulation/signals/signal.h"

namespace catena {

void MotionProblem::final_position(const std::string& freedom, double value) {
  final_bounds.push_back({freedom, MotionQuantity::position, value, value});
}
void MotionProblem::final_velocity(const std::string& freedom, double value) {
  final_bounds.push_back({freedom, MotionQuantity::velocity, value, value});
}
void MotionProblem::final_cost(const std::string& freedom, MotionQuantity quantity, double target,
                               double weight) {
  final_costs.push_back({freedom, quantity, target, weight});
}
void MotionProblem::effort_cost(const std::string& freedom, double weight) {
  running_costs.push_back({freedom, MotionQuantity::effort, weight, {}});
}

const char* word(MotionQuantity quantity) {
  switch (quantity) {
    case MotionQuantity::position:
      return "position";
    case MotionQuantity::velocity:
      return "velocity";
    case MotionQuantity::effort:
      return "effort";
    case MotionQuantity::acceleration:
      return "acceleration";
  }
  return "";
}

std::vector<PathBound> all_bounds(const MotionProblem& p) {
  std::vector<PathBound> all = p.bounds;
  if (!p.model_limits) return all;
  const Mechanism& m = *p.mechanism;
  for (int i = 0; i < m.freedoms(); ++i) {
    const FreedomSettings& s = m.freedom_settings()[index(i)];
    const std::string& name = m.velocity_names()[index(i)];
    const bool controlled =
        std::any_of(p.controls.begin(), p.controls.end(),
                    [&](const ControlSettings& c) { return freedom_or(m, c.freedom) == i; });
    if (m.coordinate_of_freedom()[index(i)] >= 0 &&
        (std::isfinite(s.lower) || std::isfinite(s.upper)))
      all.push_back({name, MotionQuantity::position, s.lower, s.upper});
    if (std::isfinite(s.velocity_limit))
      all.push_back({name, MotionQuantity::velocity, -s.velocity_limit, s.velocity_limit});
    if (controlled && std::isfinite(s.effort_limit))
      all.push_back({name, MotionQuantity::effort, -s.effort_limit, s.effort_limit});
  }
  return all;
}

int freedom_or(const Mechanism& m, const std::string& name) {
  try {
    return freedom_index(m, name);
  } catch (const Error&) {
    return -1;
  }
}

namespace {

class Inspector {
 public:
  explicit Inspector(const MotionProblem& p) : p_(p), m_(*p.mechanism) {}

  std::vector<std::string> run() {
    duration();
    controls();
    if (!found_.empty()) return found_;  // the other checks need the names of the controls
    finals();
    costs();
    bounds();
    return found_;
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) {
    found_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  // −1 after saying why.
  int freedom(const std::string& name, const char* what, MotionQuantity quantity) {
    int i = -1;
    try {
      i = freedom_index(m_, name);
    } catch (const Error& e) {
      say("{}: {}", what, e.what());
      return -1;
    }
    if (quantity == MotionQuantity::position && m_.coordinate_of_freedom()[index(i)] < 0) {
      say("{}: freedom '{}' has no coordinate of its own (a rotation in space)", what, name);
      return -1;
    }
    return i;
  }
  bool controlled(int freedom) const {
    return std::any_of(p_.controls.begin(), p_.controls.end(), [&](const ControlSettings& c) {
      return freedom_or(m_, c.freedom) == freedom;
    });
  }

  void duration() {
    const DurationSettings& d = p_.duration;
    if (!(d.lower > 0.0) || !std::isfinite(d.upper))
      say("duration: must be above zero and finite, not {} to {} s", d.lower, d.upper);
    else if (d.lower > d.upper)
      say("duration: its bounds {} and {} s exclude each other", d.lower, d.upper);
    else if (!(d.guess >= d.lower && d.guess <= d.upper))
      say("duration: the guess {} s lies outside its bounds {} to {} s", d.guess, d.lower, d.upper);
  }

  void controls() {
    if (p_.controls.empty()) say("controls: are missing; name at least one freedom that is driven");
    for (const ControlSettings& c : p_.controls) {
      const std::string what = "control '" + c.freedom + "'";
      const int i = freedom(c.freedom, what.c_str(),
                            c.motion ? MotionQuantity::position : MotionQuantity::effort);
      if (i < 0) continue;
      try {
        const SplineControls one(m_, {control_of(p_, c, i)});
        const int free = one.free_coefficients(0);
        const int given = static_cast<int>(c.guess.coefficients.size());
        if (given > 0 && given != free)
          say("{}: the guess has {} coefficients, {} are free", what, given, free);
        if (given > 0 && !std::all_of(c.guess.coefficients.begin(), c.guess.coefficients.end(),
                                      [](double x) { return std::isfinite(x); }))
          say("{}: the guess is not finite", what);
        if (c.guess.signal) {
          Signal signal(*c.guess.signal, m_, what + ": guess", true);
          const Eigen::VectorXd places = one.places(0);
          for (Eigen::Index k = 0; k < places.size(); ++k) {
            const double t = places[k] * p_.duration.guess;
            signal.start(t, p_.start);
            const double x = signal.jet(t).value;
            if (std::isfinite(x)) continue;
            say("{}: the guess is {} at {} s", what, x, t);
            break;
          }
        }
      } catch (const Error& e) {
        say("{}", e.what());
      }
      for (const ControlSettings& other : p_.controls)
        if (&other < &c && freedom_or(m_, other.freedom) == i) say("{}: is given twice", what);
    }
  }

  struct Interval {
    double lower, upper;
    std::string what;
  };
  void finals() {
    std::map<std::pair<int, MotionQuantity>, Interval> seen;
    for (const FinalBound& f : p_.final_bounds) {
      const std::string what = fmt::format("final {} of '{}'", word(f.quantity), f.freedom);
      const int i = freedom(f.freedom, what.c_str(), f.quantity);
      if (std::isnan(f.lower) || std::isnan(f.upper) || f.lower > f.upper)
        say("{}: the bounds {} and {} exclude each other", what, f.lower, f.upper);
      if (i < 0) continue;
      if (f.quantity == MotionQuantity::effort && !controlled(i))
        say("{}: the freedom has no control, so it has no effort", what);
      auto [at, fresh] = seen.try_emplace({i, f.quantity}, Interval{f.lower, f.upper, what});
      if (fresh) continue;
      at->second.lower = std::max(at->second.lower, f.lower);
      at->second.upper = std::min(at->second.upper, f.upper);
      if (at->second.lower > at->second.upper)
        say("{}: two conditions contradict each other", what);
    }
    for (const auto& [key, interval] : seen)
      for (const PathBound& b : all_bounds(p_))
        if (b.quantity == key.second && freedom_or(m_, b.freedom) == key.first &&
            (interval.lower > b.upper || interval.upper < b.lower))
          say("{}: {} to {} lies outside the bounds {} to {}", interval.what, interval.lower,
              interval.upper, b.lower, b.upper);
    for (const FinalPoint& f : p_.final_points) {
      if (!m_.has_body(f.frame)) {
        try {
          m_.frame_index(f.frame);
        } catch (const Error& e) {
          say("final point: {}", e.what());
        }
      }
      if (!(f.weight >= 0.0))
        say("final point of '{}': the weight is {}; it must not be negative", f.frame, f.weight);
    }
  }

  void weight(const std::string& what, double w) {
    if (!(w >= 0.0) || !std::isfinite(w))
      say("{}: the weight is {}; it must be finite and not negative", what, w);
    if (w > 0.0) something_ = true;
  }
  void costs() {
    for (const FinalCost& f : p_.final_costs) {
      const std::string what = fmt::format("cost of final {} of '{}'", word(f.quantity), f.freedom);
      freedom(f.freedom, what.c_str(), f.quantity);
      weight(what, f.weight);
      if (!std::isfinite(f.target)) say("{}: the target is {}; it must be finite", what, f.target);
    }
    for (const RunningCost& r : p_.running_costs) {
      const std::string what = fmt::format("cost of {} of '{}'", word(r.quantity), r.freedom);
      const int i = freedom(r.freedom, what.c_str(), r.quantity);
      weight(what, r.weight);
      if (i >= 0 && r.quantity == MotionQuantity::effort && !controlled(i))
        say("{}: the freedom has no control, so it has no effort", what);
      try {
        if (r.reference) Signal(*r.reference, m_, what + ": reference", true);
      } catch (const Error& e) {
        say("{}", e.what());
      }
    }
    for (const RateCost& r : p_.rate_costs) {
      const std::string what = fmt::format("cost of the rate of '{}'", r.freedom);
      const int i = freedom(r.freedom, what.c_str(), MotionQuantity::effort);
      weight(what, r.weight);
      if (i >= 0 && !controlled(i)) say("{}: the freedom has no control", what);
      for (const ControlSettings& c : p_.controls)
        if (i >= 0 && freedom_or(m_, c.freedom) == i && !c.motion && c.degree == 0)
          say("{}: steps have no rate; give the control a degree of 1 or more", what);
    }
    for (const CustomCost& c : p_.custom_costs)
      if (!c.residual) say("cost '{}': has no function", c.name);
    if (!(p_.time_weight >= 0.0) || !std::isfinite(p_.time_weight))
      say("cost of time: the weight is {}; it must be finite and not negative", p_.time_weight);
    for (const FinalPoint& f : p_.final_points) something_ = something_ || f.weight > 0.0;
    if (p_.time_weight != 0.0 && !p_.duration.free())
      say("cost of time: the duration is fixed; give it bounds");
    if (!something_ && p_.custom_costs.empty() && p_.time_weight == 0.0)
      say("cost: is missing; give at least one cost to minimize");
  }

  void bounds() {
    const SplineControls splines(m_, controls_of(p_));
    for (const PathBound& b : all_bounds(p_)) {
      const std::string what = fmt::format("bounds on {} of '{}'", word(b.quantity), b.freedom);
      const int i = freedom(b.freedom, what.c_str(), b.quantity);
      if (std::isnan(b.lower) || std::isnan(b.upper) || b.lower > b.upper) {
        say("{}: {} and {} exclude each other", what, b.lower, b.upper);
        continue;
      }
      if (i < 0) continue;
      if (b.quantity == MotionQuantity::effort && !controlled(i))
        say("{}: the freedom has no control, so it has no effort", what);
      const double slack = 1e-9;
      const auto outside = [&](double x) { return x < b.lower - slack || x > b.upper + slack; };
      const int coordinate = m_.coordinate_of_freedom()[index(i)];
      if (b.quantity == MotionQuantity::position && outside(p_.start.q[coordinate]))
        say("{}: the start {} lies outside {} to {}", what, p_.start.q[coordinate], b.lower,
            b.upper);
      if (b.quantity == MotionQuantity::velocity && outside(p_.start.v[i]))
        say("{}: the start {} lies outside {} to {}", what, p_.start.v[i], b.lower, b.upper);
      for (int c = 0; c < splines.size(); ++c) {
        const SplineControl& s = splines.controls()[index(c)];
        if (s.freedom != i ||
            b.quantity != (s.motion ? MotionQuantity::position : MotionQuantity::effort))
          continue;
        // The curve is checked: coefficients may lie beyond it.
        if (p_.controls[index(c)].guess.warm) continue;
        Eigen::VectorXd all = Eigen::VectorXd::Zero(splines.parameters());
        all.segment(splines.first_parameter(c), splines.free_coefficients(c)) =
            guess_of(p_, splines, c);
        const int points = 8 * spline_spans(s.degree, s.coefficients);
        for (int k = 0; k <= points; ++k) {
          const double u = static_cast<double>(k) / points;
          ControlValue x;
          splines.evaluate(c, u, u, p_.duration.guess, all, x);
          if (!outside(x.value[0])) continue;
          say("{}: the guess {} lies outside {} to {}", what, x.value[0], b.lower, b.upper);
          break;
        }
      }
    }
  }

  const MotionProblem& p_;
  const Mechanism& m_;
  std::vector<std::string> found_;
  bool something_ = false;
};

}  // namespace

SplineControl control_of(const MotionProblem& p, const ControlSettings& c, int freedom) {
  SplineControl s{.freedom = freedom,
                  .motion = c.motion,
                  .degree = c.degree,
                  .coefficients = c.coefficients,
                  .start_position = {},
                  .start_velocity = {},
                  .end_position = {},
                  .end_velocity = {}};
  if (!c.motion) return s;
  const Mechanism& m = *p.mechanism;
  s.start_position = p.start.q[m.coordinate_of_freedom()[index(freedom)]];
  s.start_velocity = p.start.v[freedom];
  for (const FinalBound& f : p.final_bounds) {
    if (f.lower != f.upper || freedom_or(m, f.freedom) != freedom) continue;
    if (f.quantity == MotionQuantity::position) s.end_position = f.lower;
    if (f.quantity == MotionQuantity::velocity) s.end_velocity = f.lower;
  }
  return s;
}

std::vector<SplineControl> controls_of(const MotionProblem& p) {
  std::vector<SplineControl> all;
  all.reserve(p.controls.size());
  for (const ControlSettings& c : p.controls)
    all.push_back(control_of(p, c, freedom_index(*p.mechanism, c.freedom)));
  return all;
}

Eigen::VectorXd guess_of(const MotionProblem& p, const SplineControls& splines, int control) {
  const GuessSettings& guess = p.controls[index(control)].guess;
  const SplineControl& s = splines.controls()[index(control)];
  if (!guess.coefficients.empty())
    return Eigen::Map<const Eigen::VectorXd>(guess.coefficients.data(),
                                             static_cast<Eigen::Index>(guess.coefficients.size()));
  const Eigen::VectorXd at = splines.places(control);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(at.size());
  if (guess.signal) {
    Signal signal(*guess.signal, *p.mechanism, "guess", true);
    for (Eigen::Index k = 0; k < x.size(); ++k) {
      const double t = at[k] * p.duration.guess;
      signal.start(t, p.start);
      x[k] = signal.jet(t).value;
    }
  } else if (s.motion) {
    const double from = *s.start_position;
    const double to = s.end_position.value_or(from);
    for (Eigen::Index k = 0; k < x.size(); ++k) x[k] = from + at[k] * (to - from);
  }
  return x;
}

std::vector<std::string> mistakes(const MotionProblem& problem) { return Inspector(problem).run(); }

}  // namespace catena
