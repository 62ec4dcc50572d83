// SPDX-License-Identifier: BSD-3-Clause
// Integrators of ẏ = f(t, y): one interface, step by step, with dense output inside the last step.
//
//   dop853    Dormand and Prince, order 8, error control by orders 5 and 3 (the default)
//   adams     CVODE, Adams-Moulton of variable order 1 to 12       (SUNDIALS)
//   bdf       CVODE, backward differences of order 1 to 5: stiff   (SUNDIALS)
//   arkode    ARKODE, explicit Runge-Kutta of order 8              (SUNDIALS)
//   rk4, euler, ab2, ab3, ab4, am4    fixed step; am4 is predict-evaluate-correct-evaluate, and
//             multistep methods start with rk4 (Kasahara et al., in [ACC 1989], table I)
//   midpoint  fixed step, symplectic, for conservative mechanisms (midpoint.h)
//   ida       the differential-algebraic form, backward differences (ida.h)          (SUNDIALS)
//
// In a simulation they are chosen by IntegratorSettings; on their own:
//
//   std::unique_ptr<Integrator> integrator = make_integrator(ode, {.relative_tolerance = 1e-10});
//   integrator->restart(0.0, y0);
//   while (integrator->time() < 1.0) integrator->step(1.0);
//
// None but midpoint and ida allocates in a step. References: [Hairer, Nørsett & Wanner 1993],
// [Hindmarsh et al. 2005].
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <Eigen/Core>

#include "catena/base/error.h"

namespace catena {

class Ode {
 public:
  virtual ~Ode() = default;
  virtual int size() const = 0;
  // The first entries of y, which error control watches. The rest are integrals of them.
  virtual int controlled() const { return size(); }
  virtual void rate(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) = 0;
  // The sizes that relative tolerances of the controlled entries refer to.
  virtual void measure(const Eigen::VectorXd& y, Eigen::VectorXd& size) const {
    size = y.head(controlled()).cwiseAbs();
  }
  // Error amplification, at least 1: error norm in (q, v) over that in y, both in these tolerances.
  virtual double spread(const Eigen::VectorXd& /*y*/, const Eigen::VectorXd& /*error*/,
                        double /*relative*/, double /*absolute*/) {
    return 1.0;
  }
  // rate(), which also returns a bound on the rounding error of an entry where it is larger than
  // usual: error control must not require more.
  virtual double rate_with_noise(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) {
    rate(t, y, dy);
    return 0.0;
  }
  // Moves y back to its manifold after an accepted step to t, by no more than the error of a step.
  virtual void project(double /*t*/, Eigen::VectorXd& /*y*/) {}
};

enum class Method {
  dop853,
  adams,
  bdf,
  arkode,
  ida,
  rk4,
  euler,
  ab2,
  ab3,
  ab4,
  am4,
  midpoint,
  time_stepping
};

std::span<const std::string> method_names();
Method method_from(std::string_view name);  // NameError with the nearest
std::string_view to_string(Method method);
bool has_fixed_step(Method method);

struct IntegratorSettings {
  Method method = Method::dop853;
  // True: the method above is used as it is. False: bdf replaces dop853 in a mechanism whose
  // flexible bodies have modes far too fast for its steps.
  bool keep_method = false;
  double relative_tolerance = 1e-8;
  double absolute_tolerance = 1e-10;  // in the units of each entry
  double step = 1e-3;                 // of fixed-step methods
  double maximum_step = std::numeric_limits<double>::infinity();
};

struct StepStatistics {
  std::int64_t steps = 0;
  std::int64_t rejected = 0;
  std::int64_t evaluations = 0;
  std::int64_t restarts = 0;
  double smallest_step = std::numeric_limits<double>::infinity();
  double largest_step = 0.0;
  // Time at which an explicit method first found that stability, not accuracy, keeps its steps
  // short: an implicit one (bdf) may be much faster.
  double stiff_since = std::numeric_limits<double>::infinity();
};

// The step became too small to move the time. `worst` is the entry of y with the largest error,
// −1 if that is not known.
class StepCollapse : public NumericalError {
 public:
  StepCollapse(double at, double of, int entry, const std::string& why);
  double time;
  double step;
  int worst;
  std::string cause;
};

class Integrator {
 public:
  virtual ~Integrator() = default;

  // Restarts here, without history.
  void restart(double t, const Eigen::VectorXd& y);
  // The same time with y in slightly different coordinates: one-step methods keep their step
  // length, all others restart.
  void go_on(const Eigen::VectorXd& y);
  // One accepted step that does not go beyond `limit` and, if that is near, ends exactly there.
  void step(double limit);

  // Length that error control suggests for the next step; infinity if unknown.
  virtual double proposed_step() const { return std::numeric_limits<double>::infinity(); }

  double time() const { return t_; }
  double previous_time() const { return t_previous_; }
  const Eigen::VectorXd& state() const { return y_; }
  // y inside the last step. Its evaluations are counted; throws NumericalError where y cannot be
  // found. `within`: the same equations, by which rates inside the step are to be found (null: as
  // always).
  void interpolate(double t, Eigen::VectorXd& y, Ode* within = nullptr);

  const StepStatistics& statistics() const { return statistics_; }
  void set_statistics(const StepStatistics& statistics) { statistics_ = statistics; }

 protected:
  explicit Integrator(Ode& ode) : ode_(ode), rates_(&ode) {}
  virtual void begin() = 0;  // after t_ and y_ were set
  virtual void begin_as_before() { begin(); }
  virtual void advance(double limit) = 0;  // sets t_previous_, y_previous_, t_, y_
  virtual void interpolate_inside(double t, Eigen::VectorXd& y) = 0;
  void rate(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) {
    ++statistics_.evaluations;
    rates_->rate(t, y, dy);
  }
  double rate_with_noise(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) {
    ++statistics_.evaluations;
    return rates_->rate_with_noise(t, y, dy);
  }

  Ode& ode_;
  Ode* rates_;  // where rates come from: ode_, but within interpolate()
  double t_ = 0.0;
  double t_previous_ = 0.0;
  Eigen::VectorXd y_;
  Eigen::VectorXd y_previous_;
  StepStatistics statistics_;
};

// Not for Method::midpoint and Method::ida, which need more than an Ode.
std::unique_ptr<Integrator> make_integrator(Ode& ode, const IntegratorSettings& settings);

// Throws Error for tolerances and steps that make no sense.
void check(const IntegratorSettings& settings);

// The cubic with the values and rates of both ends.
void hermite(double t0, const Eigen::VectorXd& y0, const Eigen::VectorXd& f0, double t1,
             const Eigen::VectorXd& y1, const Eigen::VectorXd& f1, double t, Eigen::VectorXd& y);

}  // namespace catena
