// SPDX-License-Identifier: BSD-3-Clause
// Signals that vary restrict steps only where they must: closed forms of a cart that is pushed.
#include "catena/simulation/signals/signal_resolution.h"

#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "catena/model/builder.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

std::vector<double> samples(int count, double (*f)(double)) {
  std::vector<double> values;
  for (int k = 0; k <= count; ++k) values.push_back(f(static_cast<double>(k) / count));
  return values;
}

TEST(SignalResolution, PolynomialsAreResolvedAndPulsesAreNot) {
  const auto octic = [](double x) { return 1.0 - x + 3.0 * std::pow(x, 8); };
  const auto quartic = [](double x) { return 2.0 - std::pow(x, 4); };
  const auto pulse = [](double x) {
    return 1.0 + 1e-5 * std::exp(-std::pow((x - 0.41) / 0.01, 2));
  };
  const auto kink = [](double x) { return std::abs(x - 0.3); };
  for (const int count : {16, 17, 64, 250}) EXPECT_TRUE(is_resolved(samples(count, octic), 1e-10));
  EXPECT_TRUE(is_resolved(samples(8, quartic), 1e-10));
  EXPECT_FALSE(is_resolved(samples(8, octic), 1e-4));
  EXPECT_FALSE(is_resolved(samples(64, pulse), 1e-8));
  EXPECT_TRUE(is_resolved(samples(64, pulse), 1e-4));
  EXPECT_FALSE(is_resolved(samples(32, kink), 1e-8));
}

// A cart of 2 kg on rails without friction.
Mechanism pushed_cart() {
  MechanismBuilder builder("cart");
  builder.add_body("cart", {.mass = 2.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)});
  builder.add_hinge("rail", "world", "cart",
                    {.type = HingeType::prismatic, .axes = {{1.0, 0.0, 0.0}}});
  return builder.finish();
}

SimulationResult pushed_by(const char* force, Method method = Method::dop853) {
  SimulationSettings settings{.duration = 10.0};
  settings.integrator.method = method;
  settings.actions.inputs = {{"rail", force}};
  const Mechanism m = pushed_cart();
  MemoryRecorder record;
  return simulate(m, m.default_state(), settings, record);
}

// v(10) = (1 - cos 10) / 2.
TEST(SignalResolution, ASineNeedsFewSteps) {
  for (const Method method : {Method::dop853, Method::arkode, Method::adams, Method::bdf}) {
    const SimulationResult r = pushed_by("sin(t)", method);
    EXPECT_NEAR(r.state.v[0], 0.5 * (1.0 - std::cos(10.0)), 1e-6) << to_string(method);
    if (method == Method::dop853) {
      EXPECT_LT(r.steps.steps, 60);
    }
  }
}

// A pulse of 0.02 s in 10 s: its impulse is 100 N * 0.01 s * sqrt(pi).
TEST(SignalResolution, AShortPulseIsNotMissed) {
  for (const Method method : {Method::dop853, Method::arkode, Method::adams, Method::bdf}) {
    const SimulationResult r = pushed_by("100*exp(-((t-7.3)/0.01)^2)", method);
    EXPECT_NEAR(r.state.v[0], 0.5 * std::sqrt(std::numbers::pi), 1e-6) << to_string(method);
    if (method == Method::dop853) {
      EXPECT_LT(r.steps.steps, 250);  // a quarter of the intervals
    }
  }
}

// On during half of every period of 0.05 s, 200 periods: the impulse is 5 N s.
TEST(SignalResolution, ManySwitchesAreAllFound) {
  const SimulationResult r = pushed_by("step(sin(40*pi*t))");
  EXPECT_NEAR(r.state.v[0], 2.5, 1e-9);
}

// A force by the velocity alone does not restrict steps: v' = -v/2 + 1/2.
TEST(SignalResolution, LawsOfTheStateDoNotRestrict) {
  const SimulationResult r = pushed_by("1 - v.rail");
  EXPECT_NEAR(r.state.v[0], 1.0 - std::exp(-5.0), 1e-8);
  EXPECT_LT(r.steps.steps, 60);
}

}  // namespace
}  // namespace catena
