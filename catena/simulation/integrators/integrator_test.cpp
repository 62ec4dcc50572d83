// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/integrators/integrator.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

namespace catena {
namespace {

// Van der Pol's equation, example A-1 of Kasahara, Honda and Narita.
class VanDerPol final : public Ode {
 public:
  int size() const override { return 2; }
  void rate(double, const Eigen::VectorXd& y, Eigen::VectorXd& dy) override {
    dy[0] = y[1];
    dy[1] = y[1] - y[0] * y[0] * y[1] - y[0];
  }
};

class Oscillator final : public Ode {
 public:
  int size() const override { return 2; }
  void rate(double, const Eigen::VectorXd& y, Eigen::VectorXd& dy) override {
    dy[0] = y[1];
    dy[1] = -y[0];
  }
};

Eigen::VectorXd integrate(Ode& ode, const IntegratorSettings& settings,
                          const Eigen::Vector2d& start, double end) {
  const auto integrator = make_integrator(ode, settings);
  integrator->restart(0.0, start);
  while (integrator->time() < end) integrator->step(end);
  return integrator->state();
}

// x(10) from x = (0.01, 0.01), and the table of errors there (spec of the published example,
// computed with an independent program; its three digits).
const Eigen::Vector2d kVanDerPolAt10(-0.5761884226, -1.4328924264);

struct Row {
  Method method;
  double step;
  double error;
};

TEST(FixedStep, HasTheErrorsOfThePublishedTable) {
  VanDerPol ode;
  for (const Row& row : {Row{Method::euler, 0.02, 8.31e-2}, Row{Method::euler, 0.01, 4.00e-2},
                         Row{Method::euler, 0.005, 1.96e-2}, Row{Method::ab2, 0.02, 2.24e-3},
                         Row{Method::ab2, 0.01, 5.62e-4}, Row{Method::ab2, 0.005, 1.41e-4},
                         Row{Method::ab3, 0.02, 6.01e-5}, Row{Method::ab3, 0.01, 7.63e-6},
                         Row{Method::ab3, 0.005, 9.61e-7}, Row{Method::ab4, 0.02, 1.50e-6},
                         Row{Method::ab4, 0.01, 9.29e-8}, Row{Method::ab4, 0.005, 5.78e-9},
                         Row{Method::rk4, 0.02, 9.23e-9}, Row{Method::am4, 0.02, 1.15e-7},
                         Row{Method::am4, 0.01, 7.14e-9}}) {
    const Eigen::VectorXd x =
        integrate(ode, {.method = row.method, .step = row.step}, {0.01, 0.01}, 10.0);
    const double error = (x - kVanDerPolAt10).lpNorm<Eigen::Infinity>();
    // The reference has ten digits: 1e-10 of doubt; the table has three.
    EXPECT_NEAR(error, row.error, 0.01 * row.error + 1e-10)
        << to_string(row.method) << " with step " << row.step;
  }
}

TEST(FixedStep, ConvergesWithItsOrder) {
  const std::map<Method, double> orders{{Method::euler, 1.0}, {Method::ab2, 2.0},
                                        {Method::ab3, 3.0},   {Method::ab4, 4.0},
                                        {Method::rk4, 4.0},   {Method::am4, 4.0}};
  Oscillator ode;
  const Eigen::Vector2d exact(std::cos(5.0), -std::sin(5.0));
  for (const auto& [method, order] : orders) {
    const auto error = [&, m = method](double step) {
      return (integrate(ode, {.method = m, .step = step}, {1.0, 0.0}, 5.0) - exact).norm();
    };
    EXPECT_NEAR(std::log2(error(0.02) / error(0.01)), order, 0.1) << to_string(method);
  }
}

// A step that does not divide the time ends exactly at its end all the same, with the same order.
TEST(FixedStep, EndsAtTheLimit) {
  Oscillator ode;
  for (const Method method : {Method::euler, Method::ab4, Method::am4, Method::rk4}) {
    const auto integrator = make_integrator(ode, {.method = method, .step = 0.03});
    integrator->restart(0.0, Eigen::Vector2d(1.0, 0.0));
    while (integrator->time() < 1.0) integrator->step(1.0);
    EXPECT_EQ(integrator->time(), 1.0);
    EXPECT_EQ(integrator->statistics().steps, 34);
    EXPECT_NEAR(integrator->state()[0], std::cos(1.0), method == Method::euler ? 0.02 : 1e-6);
  }
}

// Within a step of order 4, whose error falls as h⁵, so does that of the dense output: what ends at
// an event inside is as good as what ends with the step.
TEST(FixedStep, IsOfOrderFourInsideAStep) {
  Oscillator ode;
  for (const Method method : {Method::rk4, Method::ab4, Method::am4}) {
    const auto error = [&, m = method](double step) {
      const auto integrator = make_integrator(ode, {.method = m, .step = step});
      integrator->restart(0.0, Eigen::Vector2d(1.0, 0.0));
      integrator->step(1.0);
      Eigen::VectorXd y(2);
      double worst = 0.0;
      for (const double part : {0.1, 0.25, 0.5, 0.7, 0.95}) {
        integrator->interpolate(part * step, y);
        const Eigen::Vector2d exact(std::cos(part * step), -std::sin(part * step));
        worst = std::max(worst, (y - exact).norm());
      }
      return worst;
    };
    EXPECT_NEAR(std::log2(error(0.2) / error(0.1)), 5.0, 0.2) << to_string(method);
  }
}

// Errors fall in proportion to the tolerance, and are of its size.
TEST(Adaptive, FollowsTheTolerance) {
  VanDerPol ode;
  const Eigen::Vector2d at20(1.5733870711, 1.9402380793);
  for (const Method method : {Method::dop853, Method::adams, Method::bdf, Method::arkode}) {
    for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
      const Eigen::VectorXd x = integrate(ode,
                                          {.method = method,
                                           .relative_tolerance = tolerance,
                                           .absolute_tolerance = 0.01 * tolerance},
                                          {0.01, 0.01}, 20.0);
      // The start multiplies an error of size tolerance·0.01 by 200 until the limit cycle, where
      // several hundred steps add up.
      EXPECT_LT((x - at20).norm(), 1000.0 * tolerance) << to_string(method) << " " << tolerance;
    }
  }
}

TEST(Adaptive, EndsExactlyAtTheLimit) {
  Oscillator ode;
  for (const Method method : {Method::dop853, Method::adams, Method::bdf, Method::arkode}) {
    const auto integrator = make_integrator(ode, {.method = method});
    integrator->restart(0.0, Eigen::Vector2d(1.0, 0.0));
    for (const double limit : {0.1, 0.1000001, 3.0, 10.0}) {
      while (integrator->time() < limit) integrator->step(limit);
      EXPECT_EQ(integrator->time(), limit);
    }
    EXPECT_NEAR(integrator->state()[0], std::cos(10.0), 1e-6) << to_string(method);
  }
}

TEST(Adaptive, IsExactInsideItsSteps) {
  Oscillator ode;
  for (const Method method :
       {Method::dop853, Method::adams, Method::bdf, Method::arkode, Method::rk4}) {
    const auto integrator = make_integrator(
        ode,
        {.method = method, .relative_tolerance = 1e-10, .absolute_tolerance = 1e-10, .step = 0.01});
    integrator->restart(0.0, Eigen::Vector2d(1.0, 0.0));
    double worst = 0.0;
    Eigen::VectorXd y(2);
    while (integrator->time() < 5.0) {
      integrator->step(5.0);
      for (const double part : {0.0, 0.1, 0.5, 0.9, 1.0}) {
        const double t =
            integrator->previous_time() + part * (integrator->time() - integrator->previous_time());
        integrator->interpolate(t, y);
        worst = std::max(worst, (y - Eigen::Vector2d(std::cos(t), -std::sin(t))).norm());
      }
    }
    // BDF keeps its local error near the tolerance and adds it up over its many steps.
    const bool one_step = method == Method::rk4 || method == Method::arkode;
    const double allowed = method == Method::bdf ? 1e-6 : one_step ? 1e-9 : 2e-8;
    EXPECT_LT(worst, allowed) << to_string(method);
  }
}

class Explosion final : public Ode {
 public:
  int size() const override { return 1; }
  void rate(double, const Eigen::VectorXd& y, Eigen::VectorXd& dy) override { dy[0] = y[0] * y[0]; }
};

class Wall final : public Ode {
 public:
  int size() const override { return 1; }
  void rate(double t, const Eigen::VectorXd&, Eigen::VectorXd& dy) override {
    if (t > 0.5) throw NumericalError("there is a wall at 0.5");
    dy[0] = 1.0;
  }
};

// y' = y² leaves the finite numbers at t = 1.
TEST(Adaptive, NamesTheTimeOfACollapse) {
  Explosion ode;
  for (const Method method : {Method::dop853, Method::adams, Method::arkode}) {
    const auto integrator = make_integrator(ode, {.method = method});
    integrator->restart(0.0, Eigen::VectorXd::Ones(1));
    try {
      while (integrator->time() < 2.0) integrator->step(2.0);
      FAIL() << to_string(method);
    } catch (const StepCollapse& e) {
      EXPECT_NEAR(e.time, 1.0, 1e-3) << to_string(method);
    }
  }
}

TEST(Adaptive, GoesAsFarAsRatesExist) {
  Wall ode;
  for (const Method method : {Method::dop853, Method::adams, Method::bdf, Method::arkode}) {
    const auto integrator = make_integrator(ode, {.method = method, .maximum_step = 0.2});
    integrator->restart(0.0, Eigen::VectorXd::Zero(1));
    try {
      while (integrator->time() < 1.0) integrator->step(1.0);
      FAIL() << to_string(method);
    } catch (const StepCollapse& e) {
      // ARKODE does not shorten an explicit step that fails in this way.
      EXPECT_NEAR(e.time, 0.5, method == Method::arkode ? 0.2 : 0.01) << to_string(method);
      EXPECT_NE(std::string(e.what()).find("wall"), std::string::npos) << to_string(method);
    }
  }
}

// Rates that are there for a step, and are not between its ends.
class Hole final : public Ode {
 public:
  int size() const override { return 1; }
  void rate(double t, const Eigen::VectorXd&, Eigen::VectorXd& dy) override {
    if (open) throw NumericalError("there is a hole");
    dy[0] = std::cos(t);
  }
  bool open = false;
};

// What is inside a step is not guessed from less than the method knows it by.
TEST(Adaptive, SaysWhatCannotBeFoundInsideAStep) {
  Hole ode;
  const auto integrator = make_integrator(ode, {.relative_tolerance = 1e-8});
  integrator->restart(0.0, Eigen::VectorXd::Zero(1));
  integrator->step(1.0);
  integrator->step(1.0);
  const double t = 0.5 * (integrator->previous_time() + integrator->time());
  Eigen::VectorXd y(1);
  ode.open = true;
  EXPECT_THROW(integrator->interpolate(t, y), NumericalError);
  ode.open = false;
  integrator->interpolate(t, y);
  EXPECT_NEAR(y[0], std::sin(t), 1e-7);
}

// A slow oscillation beside a decay of the given rate.
class Decay final : public Ode {
 public:
  explicit Decay(double fast) : fast_(fast) {}
  int size() const override { return 3; }
  void rate(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) override {
    dy[0] = y[1];
    dy[1] = -y[0];
    dy[2] = -fast_ * (y[2] - std::cos(t));
  }

 private:
  double fast_;
};

TEST(Adaptive, TellsWhatIsStiff) {
  for (const double fast : {1.0, 1e4}) {
    Decay ode(fast);
    const auto integrator = make_integrator(ode, {.relative_tolerance = 1e-4});
    integrator->restart(0.0, Eigen::Vector3d(1.0, 0.0, 1.0));
    while (integrator->time() < 20.0) integrator->step(20.0);
    EXPECT_EQ(integrator->statistics().stiff_since<20.0, fast> 1.0);
  }
  Oscillator smooth;
  const auto integrator = make_integrator(smooth, {});
  integrator->restart(0.0, Eigen::Vector2d(1.0, 0.0));
  while (integrator->time() < 1000.0) integrator->step(1000.0);
  EXPECT_GT(integrator->statistics().steps, 500);
  EXPECT_FALSE(std::isfinite(integrator->statistics().stiff_since));
}

TEST(Settings, AreChecked) {
  EXPECT_THROW(check({.relative_tolerance = 0.0}), Error);
  EXPECT_THROW(check({.relative_tolerance = 2.0}), Error);
  EXPECT_THROW(check({.relative_tolerance = 1e-30}), Error);
  EXPECT_NO_THROW(check({.relative_tolerance = 1e-13}));
  EXPECT_THROW(check({.absolute_tolerance = -1.0}), Error);
  EXPECT_THROW(check({.step = 0.0}), Error);
  EXPECT_THROW(method_from("rk45"), NameError);
  EXPECT_EQ(method_from("am4"), Method::am4);
}

}  // namespace
}  // namespace catena
