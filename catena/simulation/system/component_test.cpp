// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/component.h"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/model/builder.h"
#include "catena/simulation/testing/simulate_test_support.h"

namespace catena {
namespace {

using test::model;
using test::settings_of;
using testing::HasSubstr;

constexpr double kTorque = 2.0, kLag = 0.3;

// A motor that follows a constant torque with a lag: ẋ = (u − x)/τ.
class LaggingMotor final : public Component {
 public:
  explicit LaggingMotor(const std::string& freedom)
      : Component("motor " + freedom, {}, {{"torque", "effort." + freedom}}) {}
  int states() const override { return 1; }
  void output(const Context& context, std::span<double> y) const override { y[0] = context.x[0]; }
  void rate(const Context& context, std::span<double> dx) const override {
    dx[0] = (kTorque - context.x[0]) / kLag;
  }
};

SimulationSettings with_motor() {
  SimulationSettings settings = settings_of(2.0, 0.1, 1e-10);
  settings.outputs = {"q.*", "v.*", "effort.*", "work.*"};
  settings.actions.components.push_back(
      [](const Mechanism&) { return std::make_unique<LaggingMotor>("shoulder"); });
  return settings;
}

// The lag has a closed form: the same torque as an input of time alone moves the arm alike.
TEST(Component, StatesAreIntegratedWithTheMotion) {
  const Mechanism m = model("double_pendulum");
  MemoryRecorder with, without;
  const SimulationResult r = simulate(m, m.default_state(), with_motor(), with);
  SimulationSettings input = with_motor();
  input.actions.components.clear();
  input.actions.inputs = {{"shoulder", "2*(1 - exp(-t/0.3))"}};
  simulate(m, m.default_state(), input, without);
  ASSERT_EQ(with.rows(), without.rows());
  for (const char* column : {"q.shoulder", "q.elbow", "v.shoulder", "effort.shoulder"})
    EXPECT_LT((with.column(column) - without.column(column)).lpNorm<Eigen::Infinity>(), 1e-7)
        << column;
  EXPECT_LT((with.column("work.motor shoulder") - without.column("work.input shoulder"))
                .lpNorm<Eigen::Infinity>(),
            1e-7);
  EXPECT_LT(r.audit.energy_drift, 1e-8);
}

TEST(Component, ResumesWithTheSameBits) {
  const Mechanism m = model("double_pendulum");
  MemoryRecorder whole, rest;
  const SimulationResult r = simulate(m, m.default_state(), with_motor(), whole);
  rest.begin(whole.columns());
  const SimulationResult again =
      resume_simulation(m, whole.checkpoints().at(4), with_motor(), rest);
  EXPECT_EQ(again.state.q, r.state.q);
  EXPECT_EQ(again.state.v, r.state.v);
}

TEST(Component, DoesNotActWhereAMotionIsPrescribed) {
  SimulationSettings settings = with_motor();
  settings.actions.motions = {{"shoulder", "t"}};
  EXPECT_THAT(test::problem(model("double_pendulum"), settings),
              HasSubstr("motor shoulder: the motion of this freedom is prescribed"));
}

// ---- Wiring. ----

// y = gain * sum of inputs; with `lag` > 0 a first-order filter, which does not feed through.
class Sum final : public Component {
 public:
  Sum(std::string name, std::vector<InputPort> inputs, std::string target = {}, double gain = 1.0,
      double lag = 0.0)
      : Component(std::move(name), std::move(inputs), {{"out", std::move(target)}}),
        gain_(gain),
        lag_(lag) {}
  int states() const override { return lag_ > 0.0 ? 1 : 0; }
  bool feeds_through() const override { return lag_ == 0.0; }
  void output(const Context& c, std::span<double> y) const override {
    y[0] = lag_ > 0.0 ? c.x[0] : sum(c.u);
  }
  void rate(const Context& c, std::span<double> dx) const override {
    dx[0] = (sum(c.u) - c.x[0]) / lag_;
  }

 private:
  double sum(std::span<const double> u) const {
    double s = 0.0;
    for (const double x : u) s += gain_ * x;
    return s;
  }
  double gain_, lag_;
};

template <class... Parts>
SimulationSettings with(double duration, Parts... parts) {
  SimulationSettings settings = settings_of(duration, duration / 20.0, 1e-12);
  settings.outputs = {"q.*", "v.*", "effort.*", "signal.*"};
  (settings.actions.components.push_back(
       [=](const Mechanism&) -> std::unique_ptr<Component> { return parts(); }),
   ...);
  return settings;
}

Eigen::VectorXd column_of(const Mechanism& m, const SimulationSettings& settings,
                          const std::string& column) {
  MemoryRecorder recorder;
  simulate(m, m.default_state(), settings, recorder);
  return recorder.column(column);
}

// Given out of order: each is evaluated after those it reads. 3 (2 sin t + 1) drives the arm.
TEST(Wiring, OutputsFeedInputsInOrder) {
  const Mechanism m = model("double_pendulum");
  const SimulationSettings wired = with(
      1.0,
      [] {
        return std::make_unique<Sum>(
            "last", std::vector<InputPort>{{"a", PortName{"first", "out"}}, {"b", "1"}},
            "effort.elbow", 3.0);
      },
      [] {
        return std::make_unique<Sum>("first", std::vector<InputPort>{{"t", "sin(t)"}}, "", 2.0);
      });
  SimulationSettings direct = wired;
  direct.actions.components.clear();
  direct.actions.inputs = {{"elbow", "3*(2*sin(t) + 1)"}};
  direct.outputs = {"q.*", "effort.*"};
  for (const char* column : {"q.elbow", "effort.elbow"})
    EXPECT_LT((column_of(m, wired, column) - column_of(m, direct, column)).norm(), 1e-9);
}

// A filter of its own output through a gain is no algebraic loop: x' = (-x + 1 - x)/0.5.
TEST(Wiring, ALoopThroughAStateIsSolved) {
  const Mechanism m = model("double_pendulum");
  const SimulationSettings wired = with(
      1.0,
      [] {
        return std::make_unique<Sum>("back", std::vector<InputPort>{{"x", PortName{"lag", "out"}}},
                                     "", -1.0);
      },
      [] {
        return std::make_unique<Sum>(
            "lag", std::vector<InputPort>{{"a", "1"}, {"b", PortName{"back", "out"}}}, "", 1.0,
            0.5);
      });
  MemoryRecorder run;
  simulate(m, m.default_state(), wired, run);
  const Eigen::VectorXd time = run.column("time"), x = run.column("signal.lag.out");
  for (Eigen::Index i = 0; i < time.size(); ++i)
    EXPECT_NEAR(x[i], 0.5 * (1.0 - std::exp(-4.0 * time[i])), 1e-10) << time[i];
}

TEST(Wiring, AllMistakesAtOnce) {
  const auto gain = [](const char* name, const char* from, const char* port, const char* target) {
    return [=] {
      return std::make_unique<Sum>(name, std::vector<InputPort>{{"in", PortName{from, port}}},
                                   target);
    };
  };
  const std::string message = test::problem(
      model("double_pendulum"),
      with(1.0, gain("a", "b", "output", ""), gain("b", "c", "out", ""),
           gain("d", "a", "out", "effort.elbo"), gain("d", "a", "out", "force.elbow")));
  EXPECT_THAT(message,
              HasSubstr("component 'a', input 'in': component 'b' has no output 'output'"));
  EXPECT_THAT(message, HasSubstr("component 'b', input 'in': there is no component 'c'"));
  EXPECT_THAT(message, HasSubstr("two components are called 'd'"));
  EXPECT_THAT(message, HasSubstr("'elbow'"));  // the nearest name
  EXPECT_THAT(message, HasSubstr("its target is 'force.elbow'"));
}

TEST(Wiring, AlgebraicLoopsAreNamed) {
  const auto gain = [](const char* name, const char* from) {
    return [=] {
      return std::make_unique<Sum>(name, std::vector<InputPort>{{"in", PortName{from, "out"}}});
    };
  };
  EXPECT_THAT(test::problem(model("double_pendulum"),
                            with(1.0, gain("a", "b"), gain("b", "c"), gain("c", "a"))),
              HasSubstr("algebraic loop: 'a' -> 'b' -> 'c' -> 'a'"));
}

// ---- Ticks. ----

// u_k = -kp q - kd v - ki s_k with s_k+1 = s_k + T q: sampled feedback with memory.
class SampledPid final : public Component {
 public:
  static constexpr double kKp = 40.0, kKd = 9.0, kKi = 30.0;
  explicit SampledPid(Sampling sampling)
      : Component("pid", {{"q", "q.slide"}, {"v", "v.slide"}}, {{"u", "effort.slide"}}),
        sampling_(sampling) {}
  int memory() const override { return 1; }
  std::optional<Sampling> sampling() const override { return sampling_; }
  void tick(const Context& c, std::span<double> m, std::span<double> y) const override {
    y[0] = -kKp * c.u[0] - kKd * c.u[1] - kKi * c.m[0];
    m[0] = c.m[0] + sampling_.period * c.u[0];
  }

 private:
  Sampling sampling_;
};

// A mass of 2 kg on a rail.
Mechanism slider() {
  MechanismBuilder builder("slider");
  builder.set_gravity({0.0, 0.0, 0.0});
  builder.add_body("mass", {.mass = 2.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)});
  builder.add_hinge("slide", "world", "mass",
                    {.type = HingeType::prismatic, .axes = {{1.0, 0.0, 0.0}}});
  return builder.finish();
}

SimulationSettings sampled(Sampling sampling, double duration = 1.0) {
  return with(duration, [=] { return std::make_unique<SampledPid>(sampling); });
}

State displaced(const Mechanism& m) {
  State state = m.default_state();
  state.q[0] = 1.0;
  state.v[0] = -0.5;
  return state;
}

// The exact motion: a constant force between the instants at which outputs appear.
std::pair<double, double> exact(const Sampling& s, double until) {
  double t = 0.0, q = 1.0, v = -0.5, u = 0.0, integral = 0.0;
  const auto go = [&](double to) {
    const double h = to - t;
    q += h * v + 0.5 * h * h * u / 2.0;
    v += h * u / 2.0;
    t = to;
  };
  std::vector<std::pair<double, double>> pending;  // time and value
  for (int k = 0;; ++k) {
    const double tick = s.offset + k * s.period;
    while (!pending.empty() && pending.front().first <= std::min(tick, until)) {
      go(pending.front().first);
      u = pending.front().second;
      pending.erase(pending.begin());
    }
    if (tick >= until) break;
    go(tick);
    const double next = -SampledPid::kKp * q - SampledPid::kKd * v - SampledPid::kKi * integral;
    integral += s.period * q;
    if (s.delay == 0.0)
      u = next;
    else
      pending.emplace_back(tick + s.delay, next);
  }
  go(until);
  return {q, v};
}

class Ticks : public testing::TestWithParam<Sampling> {};

TEST_P(Ticks, MoveAMassAsTheDifferenceEquationSays) {
  const Mechanism m = slider();
  for (const Method method : {Method::dop853, Method::rk4}) {
    SimulationSettings settings = sampled(GetParam());
    settings.integrator.method = method;
    if (method == Method::rk4) settings.integrator.step = 0.004;  // exact for a constant force
    MemoryRecorder run;
    const SimulationResult r = simulate(m, displaced(m), settings, run);
    const auto [q, v] = exact(GetParam(), 1.0);
    EXPECT_NEAR(r.state.q[0], q, 1e-11);
    EXPECT_NEAR(r.state.v[0], v, 1e-10);
    EXPECT_LT(r.audit.energy_drift, 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Delays, Ticks,
                         testing::Values(Sampling{.period = 0.02}, Sampling{.period = 0.03},
                                         Sampling{.period = 0.02, .delay = 0.01},
                                         Sampling{.period = 0.02, .delay = 0.03},
                                         Sampling{.period = 0.02, .offset = 0.013, .delay = 0.02},
                                         Sampling{.period = 0.02, .offset = 0.4, .delay = 0.07}));

TEST(Sampling, ResumesWithTheSameBits) {
  const Mechanism m = slider();
  const SimulationSettings settings = sampled({.period = 0.017, .delay = 0.04});
  MemoryRecorder whole, rest;
  const SimulationResult r = simulate(m, displaced(m), settings, whole);
  rest.begin(whole.columns());
  const SimulationResult again = resume_simulation(m, whole.checkpoints().at(4), settings, rest);
  EXPECT_EQ(again.state.q, r.state.q);
  EXPECT_EQ(again.state.v, r.state.v);
}

// One at 0.1 s counts; one at 0.3 s reads it, at instants that k times the period meets only up to
// rounding. Whether it sees the new count is decided by the order.
class Counter final : public Component {
 public:
  explicit Counter(int order) : Component("counter", {}, {{"n"}}), order_(order) {}
  int memory() const override { return 1; }
  std::optional<Sampling> sampling() const override {
    return Sampling{.period = 0.1, .order = order_};
  }
  void tick(const Context& c, std::span<double> m, std::span<double> y) const override {
    y[0] = m[0] = c.m[0] + 1.0;
  }

 private:
  int order_;
};
class Reader final : public Component {
 public:
  Reader() : Component("reader", {{"n", PortName{"counter", "n"}}}, {{"seen"}}) {}
  std::optional<Sampling> sampling() const override { return Sampling{.period = 0.3}; }
  void tick(const Context& c, std::span<double>, std::span<double> y) const override {
    y[0] = c.u[0];
  }
};

TEST(Sampling, TicksThatMeetRunInTheirOrder) {
  const Mechanism m = slider();
  for (const int order : {-1, 1}) {
    SimulationSettings settings = with(
        3.05, [=] { return std::make_unique<Counter>(order); },
        [] { return std::make_unique<Reader>(); });
    MemoryRecorder run;
    simulate(m, m.default_state(), settings, run);
    const Eigen::VectorXd seen = run.column("signal.reader.seen");
    // The last tick of the reader is number 10, at 3.0 s: the 31st of the counter.
    EXPECT_EQ(seen[seen.size() - 1], order < 0 ? 31.0 : 30.0);
  }
}

TEST(Sampling, RefusesWhatCannotBe) {
  EXPECT_THAT(test::problem(slider(), sampled({.period = 0.0})), HasSubstr("must be positive"));
  EXPECT_THAT(test::problem(slider(), sampled({.period = 0.1, .delay = -1.0})),
              HasSubstr("must be finite and not negative"));
}

}  // namespace
}  // namespace catena
