// SPDX-License-Identifier: BSD-3-Clause
#include "catena/trajectory/controls.h"

#include "catena/base/error.h"
#include "catena/base/index.h"

namespace catena {

SplineControls::End SplineControls::end(std::optional<double> position,
                                        std::optional<double> velocity, double scale) {
  End e;
  e.held = (position ? 1 : 0) + (velocity ? 1 : 0);
  e.follows = velocity && !position;
  e.position = position.value_or(0.0);
  e.step = velocity.value_or(0.0) * scale;
  return e;
}

SplineControls::SplineControls(const Mechanism& m, std::vector<SplineControl> controls)
    : controls_(std::move(controls)) {
  std::vector<std::uint8_t> seen(to_size(m.freedoms()), 0);
  for (const SplineControl& c : controls_) {
    if (c.freedom < 0 || c.freedom >= m.freedoms())
      throw NumericalError("a control is for freedom " + std::to_string(c.freedom) +
                           ", which does not exist");
    const auto f = to_size(c.freedom);
    const std::string& name = m.velocity_names()[f];
    if (seen[f] != 0) throw NumericalError("'" + name + "' has two controls; give it one");
    seen[f] = 1;
    if (c.degree < (c.motion ? 3 : 0) || c.degree > kMaxSplineDegree)
      throw NumericalError("the spline of '" + name + "' has degree " + std::to_string(c.degree) +
                           "; a motion has one of 3 to 7, an effort one of 0 to 7");
    if (c.motion && m.coordinate_of_freedom()[f] < 0)
      throw NumericalError("freedom '" + name + "' has no coordinate that a spline could move");
    const double scale =
        c.degree == 0 ? 0.0 : 1.0 / (c.degree * spline_spans(c.degree, c.coefficients));
    start_.push_back(c.motion ? end(c.start_position, c.start_velocity, scale) : End{});
    finish_.push_back(c.motion ? end(c.end_position, c.end_velocity, scale) : End{});
    const int held = start_.back().held + finish_.back().held;
    // Each held velocity ties two coefficients; the ends must not share any.
    const int least =
        std::max(c.degree + 1, (start_.back().follows ? 2 : start_.back().held) +
                                   (finish_.back().follows ? 2 : finish_.back().held) + 1);
    if (c.coefficients < least)
      throw NumericalError("the spline of '" + name + "' has " + std::to_string(c.coefficients) +
                           " coefficients; with degree " + std::to_string(c.degree) +
                           " and its ends held it needs at least " + std::to_string(least));
    first_.push_back(parameters_);
    parameters_ += c.coefficients - held;
    if (!c.motion) continue;
    driven_.resize(to_size(m.freedoms()), 0);
    driven_[f] = 1;
  }
}

int SplineControls::free_coefficients(int control) const {
  const auto c = to_size(control);
  return controls_[c].coefficients - start_[c].held - finish_[c].held;
}

std::vector<double> SplineControls::knots() const {
  std::vector<double> all{0.0, 1.0};
  for (const SplineControl& c : controls_) {
    const int spans = spline_spans(c.degree, c.coefficients);
    for (int i = 1; i < spans; ++i) all.push_back(static_cast<double>(i) / spans);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end(), [](double a, double b) { return b - a < 1e-12; }),
            all.end());
  return all;
}

SplineControls::Coefficient SplineControls::coefficient(std::size_t c, int k) const {
  const End &start = start_[c], &finish = finish_[c];
  const int count = controls_[c].coefficients, back = count - 1 - k;
  // Free coefficients take the parameters in order; with a free position and a held velocity the
  // first of them serves for two coefficients.
  const auto at_end = [&](const End& e, int place, double sign) -> Coefficient {
    if (e.follows) return {0.0, place == 0 ? 0.0 : sign * e.step, 0};
    return {e.position, place == 0 ? 0.0 : sign * e.step, -1};
  };
  if (k < (start.follows ? 2 : start.held)) {
    Coefficient x = at_end(start, k, 1.0);
    if (x.parameter >= 0) x.parameter = first_[c];
    return x;
  }
  if (back < (finish.follows ? 2 : finish.held)) {
    Coefficient x = at_end(finish, back, -1.0);
    if (x.parameter >= 0) x.parameter = first_[c] + free_coefficients(static_cast<int>(c)) - 1;
    return x;
  }
  return {0.0, 0.0, first_[c] + k - start.held};
}

Eigen::VectorXd SplineControls::coefficients(int control, double duration,
                                             const Eigen::VectorXd& parameters) const {
  const auto c = to_size(control);
  Eigen::VectorXd all(controls_[c].coefficients);
  for (int k = 0; k < all.size(); ++k) {
    const Coefficient x = coefficient(c, k);
    all[k] = x.base + x.slope * duration + (x.parameter < 0 ? 0.0 : parameters[x.parameter]);
  }
  return all;
}

Eigen::VectorXd SplineControls::places(int control) const {
  const int n = free_coefficients(control);
  const auto c = to_size(control);
  Eigen::VectorXd at(n);
  const bool from = start_[c].held > 0 && !start_[c].follows;
  const bool to = finish_[c].held > 0 && !finish_[c].follows;
  // An end that is not held is the place of a coefficient itself.
  const double steps = n - 1 + (from ? 1 : 0) + (to ? 1 : 0);
  for (int i = 0; i < n; ++i) at[i] = steps == 0.0 ? 0.5 : (i + (from ? 1 : 0)) / steps;
  return at;
}

void SplineControls::evaluate(int control, double u, double inside, double duration,
                              const Eigen::VectorXd& parameters, ControlValue& value) const {
  const auto c = to_size(control);
  const SplineControl& s = controls_[c];
  const SplineBasis b =
      spline_basis(s.degree, s.coefficients, spline_span(s.degree, s.coefficients, inside), u);
  value = ControlValue{};
  const double rate = 1.0 / duration;
  const double scale[4] = {1.0, rate, rate * rate, rate * rate * rate};
  value.first = -1;
  for (int k = 0; k <= s.degree; ++k) {
    const Coefficient x = coefficient(c, b.first + k);
    const double number =
        x.base + x.slope * duration + (x.parameter < 0 ? 0.0 : parameters[x.parameter]);
    if (x.parameter >= 0 && value.first < 0) value.first = x.parameter;
    const int place = x.parameter < 0 ? -1 : x.parameter - value.first;
    value.count = std::max(value.count, place + 1);
    for (int order = 0; order < 4; ++order) {
      const double share = b.values[order][k] * scale[order];
      value.value[order] += share * number;
      value.by_duration[order] += share * x.slope;
      if (place >= 0) value.by_parameter[order][place] += share;
    }
  }
  for (int order = 1; order < 4; ++order)
    value.by_duration[order] -= order * rate * value.value[order];
}

}  // namespace catena
