// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/integrators/fixed_step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "catena/base/index.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// Weights of f_n, f_{n-1}, ... of Adams-Bashforth methods by their order.
constexpr double kAdamsBashforth[4][4] = {{1.0},
                                          {3.0 / 2.0, -1.0 / 2.0},
                                          {23.0 / 12.0, -16.0 / 12.0, 5.0 / 12.0},
                                          {55.0 / 24.0, -59.0 / 24.0, 37.0 / 24.0, -9.0 / 24.0}};
// Of f_{n+1}, f_n, f_{n-1}, f_{n-2}.
constexpr double kAdamsMoulton[4] = {9.0 / 24.0, 19.0 / 24.0, -5.0 / 24.0, 1.0 / 24.0};
// Place in the step of the additional rate of dense output: the steepest point of x² (1 − x)².
const double kInside = (3.0 - std::sqrt(3.0)) / 6.0;
const double kSteepest = 2.0 * kInside * (1.0 - kInside) * (1.0 - 2.0 * kInside);

int order_of(Method method) {
  switch (method) {
    case Method::ab2:
      return 2;
    case Method::ab3:
      return 3;
    case Method::ab4:
    case Method::am4:
      return 4;
    default:
      return 1;
  }
}

}  // namespace

FixedStep::FixedStep(Ode& ode, const IntegratorSettings& settings)
    : Integrator(ode), settings_(settings), order_(order_of(settings.method)) {
  const Eigen::Index n = ode.size();
  for (Eigen::VectorXd& f : past_) f = Eigen::VectorXd::Zero(n);
  for (Eigen::VectorXd& k : k_) k = Eigen::VectorXd::Zero(n);
  y_stage_ = bend_ = Eigen::VectorXd::Zero(n);
}

void FixedStep::begin() {
  start_ = t_;
  count_ = 0;
  known_ = 1;
  rate(t_, y_, past_[0]);
}

void FixedStep::runge_kutta(double h) {
  y_stage_ = y_previous_ + (0.5 * h) * past_[0];
  rate(t_previous_ + 0.5 * h, y_stage_, k_[0]);
  y_stage_ = y_previous_ + (0.5 * h) * k_[0];
  rate(t_previous_ + 0.5 * h, y_stage_, k_[1]);
  y_stage_ = y_previous_ + h * k_[1];
  rate(t_previous_ + h, y_stage_, k_[2]);
  y_ = y_previous_ + (h / 6.0) * (past_[0] + 2.0 * (k_[0] + k_[1]) + k_[2]);
}

void FixedStep::adams_bashforth(double h) {
  const double* weight = kAdamsBashforth[order_ - 1];
  y_ = y_previous_;
  for (int k = 0; k < order_; ++k) y_ += (h * weight[k]) * past_[index(k)];
}

void FixedStep::adams_moulton(double h) {
  adams_bashforth(h);
  rate(t_previous_ + h, y_, k_[0]);
  y_ = y_previous_ + (h * kAdamsMoulton[0]) * k_[0];
  for (std::size_t k = 0; k < 3; ++k) y_ += (h * kAdamsMoulton[k + 1]) * past_[k];
}

void FixedStep::advance(double limit) {
  bend_ready_ = false;
  t_previous_ = t_;
  y_previous_ = y_;
  double next = start_ + static_cast<double>(count_ + 1) * settings_.step;
  bool whole = true;
  if (next >= limit - kSnapToLimit * settings_.step) {
    whole = next <= limit + kSnapToLimit * settings_.step;
    next = limit;
  }
  const double h = whole ? settings_.step : next - t_;
  static const std::string kHint =
      "the fixed step is too long for this motion: its numbers are no longer finite; use a shorter "
      "step, or a method with error control";
  try {
    if (settings_.method == Method::euler)
      y_ += h * past_[0];
    else if (settings_.method == Method::rk4 || known_ < order_ || !whole)
      runge_kutta(h);
    else if (settings_.method == Method::am4)
      adams_moulton(h);
    else
      adams_bashforth(h);
  } catch (const NumericalError&) {
    if (y_.allFinite() && y_stage_.allFinite()) throw;
    throw StepCollapse(t_previous_, h, -1, kHint);
  }
  t_ = next;
  if (!y_.allFinite()) throw StepCollapse(t_previous_, h, -1, kHint);
  ode_.project(t_, y_);
  std::rotate(past_.begin(), past_.end() - 1, past_.end());
  rate(t_, y_, past_[0]);
  if (whole) {
    ++count_;
    known_ = std::min(known_ + 1, order_);
  } else {  // the rates behind are not a step apart
    start_ = t_;
    count_ = 0;
    known_ = 1;
  }
}

// The cubic through both ends is off by h⁴, which is more than a step of order 4 is: an event that
// begins the next step would be inaccurate. With its rate at one point inside it becomes a quartic,
// off by h⁵.
void FixedStep::prepare_dense_output() {
  bend_ready_ = true;
  const double h = t_ - t_previous_;
  const double x = kInside, w = 1.0 - kInside;
  hermite(t_previous_, y_previous_, past_[1], t_, y_, past_[0], t_previous_ + x * h, y_stage_);
  try {
    rate(t_previous_ + x * h, y_stage_, bend_);
  } catch (const NumericalError&) {  // the cubic is used
    bend_.setZero();
    return;
  }
  bend_ = (h / kSteepest) * (bend_ - (6.0 * x * w / h) * (y_ - y_previous_) -
                             (w * (1.0 - 3.0 * x)) * past_[1] - (x * (3.0 * x - 2.0)) * past_[0]);
}

void FixedStep::interpolate_inside(double t, Eigen::VectorXd& y) {
  // At times that differ from an end of the step by rounding it is that end.
  const double rounding = kTimeRounding * std::abs(t_);
  if (t_ - t <= rounding || t_ == t_previous_) {
    y = y_;
    return;
  }
  if (t - t_previous_ <= rounding) {
    y = y_previous_;
    return;
  }
  if (!bend_ready_) prepare_dense_output();
  hermite(t_previous_, y_previous_, past_[1], t_, y_, past_[0], t, y);
  const double x = (t - t_previous_) / (t_ - t_previous_);
  y += (x * x * (1.0 - x) * (1.0 - x)) * bend_;
}

}  // namespace catena
