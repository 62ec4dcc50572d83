// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/integrators/integrator.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/simulation/integrators/dop853.h"
#include "catena/simulation/integrators/fixed_step.h"
#include "catena/simulation/integrators/sundials.h"

namespace catena {
namespace {

// In the order of Method.
const std::vector<std::string> kNames{"dop853", "adams",    "bdf",          "arkode", "ida",
                                      "rk4",    "euler",    "ab2",          "ab3",    "ab4",
                                      "am4",    "midpoint", "time-stepping"};

void check_positive(double value, const char* what, bool infinite_allowed) {
  if (value > 0.0 && (infinite_allowed || std::isfinite(value))) return;
  throw Error(std::string(what) + " is " + number(value) + "; it must be positive");
}

}  // namespace

std::span<const std::string> method_names() { return kNames; }

Method method_from(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end())
    throw NameError("there is no method '" + std::string(name) + "'" + did_you_mean(name, kNames) +
                    "; the methods are " + listed(kNames));
  return static_cast<Method>(found - kNames.begin());
}

std::string_view to_string(Method method) { return kNames[index(method)]; }

bool has_fixed_step(Method method) { return method >= Method::rk4; }

void check(const IntegratorSettings& settings) {
  check_positive(settings.relative_tolerance, "the relative tolerance", false);
  check_positive(settings.absolute_tolerance, "the absolute tolerance", false);
  check_positive(settings.step, "the step", false);
  check_positive(settings.maximum_step, "the largest step", true);
  if (settings.relative_tolerance >= 1.0)
    throw Error("the relative tolerance is " + number(settings.relative_tolerance) +
                "; it must be less than 1");
  // Below some units of rounding no step can be accurate enough, and steps shrink without end.
  constexpr double kLeast = 100.0 * std::numeric_limits<double>::epsilon();
  if (!has_fixed_step(settings.method) && settings.relative_tolerance < kLeast)
    throw Error("the relative tolerance is " + number(settings.relative_tolerance) +
                "; double precision reaches " + short_number(kLeast) + " at best");
}

StepCollapse::StepCollapse(double at, double of, int entry, const std::string& why)
    : NumericalError("the step size fell to " + number(of) + " s at time " + number(at) + " s" +
                     (why.empty() ? "" : ": " + why)),
      time(at),
      step(of),
      worst(entry),
      cause(why) {}

void Integrator::restart(double t, const Eigen::VectorXd& y) {
  t_ = t_previous_ = t;
  y_ = y;
  y_previous_ = y;
  ++statistics_.restarts;
  begin();
}

void Integrator::go_on(const Eigen::VectorXd& y) {
  t_previous_ = t_;
  y_ = y;
  y_previous_ = y;
  ++statistics_.restarts;
  begin_as_before();
}

void Integrator::step(double limit) {
  advance(limit);
  ++statistics_.steps;
  const double h = t_ - t_previous_;
  statistics_.smallest_step = std::min(statistics_.smallest_step, h);
  statistics_.largest_step = std::max(statistics_.largest_step, h);
}

void Integrator::interpolate(double t, Eigen::VectorXd& y, Ode* within) {
  struct Back {
    Integrator& self;
    ~Back() { self.rates_ = &self.ode_; }
  } back{*this};
  if (within != nullptr) rates_ = within;
  interpolate_inside(t, y);
}

void hermite(double t0, const Eigen::VectorXd& y0, const Eigen::VectorXd& f0, double t1,
             const Eigen::VectorXd& y1, const Eigen::VectorXd& f1, double t, Eigen::VectorXd& y) {
  const double h = t1 - t0;
  const double x = (t - t0) / h;
  const double w = 1.0 - x;
  y.noalias() = (w * w * (1.0 + 2.0 * x)) * y0 + (x * x * (3.0 - 2.0 * x)) * y1 +
                (h * x * w * w) * f0 - (h * x * x * w) * f1;
}

std::unique_ptr<Integrator> make_integrator(Ode& ode, const IntegratorSettings& settings) {
  check(settings);
  switch (settings.method) {
    case Method::dop853:
      return std::make_unique<Dop853>(ode, settings);
    case Method::adams:
    case Method::bdf:
      return make_cvode(ode, settings);
    case Method::arkode:
      return make_arkode(ode, settings);
    case Method::midpoint:
    case Method::time_stepping:
      throw Error("method '" + std::string(to_string(settings.method)) +
                  "' is for mechanisms, not for any equation");
    default:
      return std::make_unique<FixedStep>(ode, settings);
  }
}

}  // namespace catena
