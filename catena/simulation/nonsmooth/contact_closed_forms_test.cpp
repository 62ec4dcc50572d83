// SPDX-License-Identifier: BSD-3-Clause
// Motions with contact, impact and friction that have closed forms: by events to 1e-8, by
// time-stepping to first order in the step (the error at 1 ms is printed; docs/contact.md has it).
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "catena/simulation/simulate.h"
#include "catena/simulation/testing/linkage_parts.h"
#include "catena/simulation/testing/simulate_test_support.h"

namespace catena {
namespace {

using test::from_yaml;
using test::kGravity;

SimulationSettings by_events(double duration) {
  SimulationSettings s;
  s.duration = duration;
  s.output_interval = duration / 10.0;
  s.integrator.relative_tolerance = 1e-11;
  s.integrator.absolute_tolerance = 1e-13;
  return s;
}

SimulationSettings by_steps(double duration, double step) {
  SimulationSettings s;
  s.duration = duration;
  s.output_interval = duration / 10.0;
  s.integrator.method = Method::time_stepping;
  s.integrator.step = step;
  return s;
}

void add(SimulationSettings& settings, const ContactSettings& contact) {
  ConstraintSettings c;
  c.constraint = contact;
  settings.actions.constraints.push_back(c);
}

// What happens with these settings, and by how much it misses the closed form.
using ErrorAt = std::function<double(SimulationSettings)>;

void expect_closed_form(const char* what, double duration, const ErrorAt& error,
                        double most_at_1ms) {
  const double events = error(by_events(duration));
  const double at_1ms = error(by_steps(duration, 1e-3));
  const double finer = error(by_steps(duration, 1.25e-4));
  std::printf("  %-44s events %.1e, at 1 ms %.1e, at 0.125 ms %.1e\n", what, events, at_1ms, finer);
  EXPECT_LT(events, 1e-8) << what;
  EXPECT_LT(at_1ms, most_at_1ms) << what;
  EXPECT_LT(finer, std::max(0.3 * at_1ms, 1e-8)) << what;
}

State end_of(const Mechanism& m, const State& start, const SimulationSettings& settings) {
  MemoryRecorder record;
  const SimulationResult result = simulate(m, start, settings, record);
  if (settings.integrator.method == Method::time_stepping) {
    EXPECT_LT(result.audit.contact->residual, 1e-6);
    EXPECT_LT(result.audit.contact->penetration, 1e-4);
    EXPECT_LT(result.audit.contact->creep, 1e-5);
  } else {
    // Events alone: no stretch by steps was needed.
    EXPECT_FALSE(result.audit.contact.has_value());
  }
  EXPECT_LT(result.audit.energy_drift, 1e-7);
  return result.state;
}

const char* const kParticle = R"(
bodies: {ball: {mass: 2, inertia: [0.01, 0.01, 0.01]}}
hinges: {at: {type: translation, parent: world, child: ball}}
)";

// Falls 1 m, bounces with e = 0.8 twice: the heights are those of three parabolas.
TEST(ContactClosedForms, BouncingBall) {
  const Mechanism m = from_yaml(kParticle);
  const double e = 0.8, fall = std::sqrt(2.0 / kGravity);
  const double second = fall * (1.0 + 2.0 * e), end = second + 0.9 * e * e * fall;
  const double up = e * e * kGravity * fall, since = end - second;
  expect_closed_form(
      "bouncing ball, height (m)", end,
      [&](SimulationSettings settings) {
        add(settings, {.name = "floor", .body = 0, .restitution = e});
        State s = m.default_state();
        s.q[2] = 1.0;
        return std::abs(end_of(m, s, settings).q[2] -
                        (up * since - 0.5 * kGravity * since * since));
      },
      1e-5);
}

// Stops after v²/(2 μ g).
TEST(ContactClosedForms, SlidingBlock) {
  const Mechanism m = from_yaml(kParticle);
  const double mu = 0.4, speed = 2.0;
  expect_closed_form(
      "sliding block, way (m)", 1.0,
      [&](SimulationSettings settings) {
        add(settings, {.name = "floor", .body = 0, .friction = mu});
        State s = m.default_state();
        s.v << 0.6 * speed, 0.8 * speed, 0.0;
        const State end = end_of(m, s, settings);
        return std::abs(std::hypot(end.q[0], end.q[1]) - speed * speed / (2.0 * mu * kGravity));
      },
      1e-5);
}

// μ = tan α: what slides down keeps its speed, and what rests stays.
TEST(ContactClosedForms, SlopeAtTheFrictionLimit) {
  const Mechanism m = from_yaml(kParticle);
  const double slope = 0.5, speed = 0.7;
  for (const double v : {speed, 0.0})
    expect_closed_form(
        v > 0.0 ? "slope at the limit, slides, way (m)" : "slope at the limit, rests, way (m)", 1.0,
        [&](SimulationSettings settings) {
          add(settings, {.name = "slope",
                         .body = 0,
                         .plane_normal = {std::sin(slope), 0.0, std::cos(slope)},
                         .friction = std::tan(slope) * (v > 0.0 ? 1.0 : 1.0 + 1e-12)});
          State s = m.default_state();
          s.v << v * std::cos(slope), 0.0, -v * std::sin(slope);
          const State end = end_of(m, s, settings);
          return std::hypot(end.q[0] - v * std::cos(slope), end.q[2] + v * std::sin(slope));
        },
        1e-6);
}

// A disc that lies on points of its rim and spins: ω falls by μ m g R/I each second. Four points
// are redundant, and all of them slide.
TEST(ContactClosedForms, SpinningDisc) {
  const Mechanism m = from_yaml(R"(
base: free
bodies: {disc: {mass: 4, inertia: [0.09, 0.09, 0.18]}}
)");
  const double mu = 0.2, radius = 0.3, spin = 6.0, slows = mu * 4.0 * kGravity * radius / 0.18;
  for (const int points : {3, 4})
    expect_closed_form(
        points == 3 ? "spinning disc, three points, angle (rad)"
                    : "spinning disc, four points, angle (rad)",
        1.0,
        [&](SimulationSettings settings) {
          for (int k = 0; k < points; ++k) {
            const double a = 2.0 * 3.14159265358979323846 * k / points;
            add(settings, {.name = "p" + std::to_string(k),
                           .body = 0,
                           .center = {radius * std::cos(a), radius * std::sin(a), 0.0},
                           .friction = mu});
          }
          State s = m.default_state();
          s.v[2] = spin;
          const State end = end_of(m, s, settings);
          const double angle = 2.0 * std::atan2(end.q[3], end.q[0]);
          return std::abs(std::remainder(angle - spin * spin / (2.0 * slows), 6.283185307179586)) +
                 std::hypot(end.q[4], end.q[5]);
        },
        1e-5);
}

// A wheel (thin disc about y) thrown without spin slips for v/(3 μ g), then rolls at 2/3 of its
// speed.
TEST(ContactClosedForms, WheelFromSlipToRoll) {
  const Mechanism m = from_yaml(R"(
base: free
bodies: {wheel: {mass: 4, inertia: [0.09, 0.18, 0.09]}}
)");
  const double r = 0.3, mu = 0.2, speed = 1.5;
  const double slips = speed / (3.0 * mu * kGravity);
  const double way =
      speed * slips - 0.5 * mu * kGravity * slips * slips + 2.0 / 3.0 * speed * (1.0 - slips);
  expect_closed_form(
      "wheel from slip to roll, way (m)", 1.0,
      [&](SimulationSettings settings) {
        add(settings, {.name = "rim", .body = 0, .rim = r, .friction = mu});
        State s = m.default_state();
        s.q[6] = r;
        s.v[3] = speed;
        return std::abs(end_of(m, s, settings).q[4] - way);
      },
      1e-4);
}

// The rod of Painlevé, 2 l = 1 m long and of 1 kg, tan θ = 2, slides on its lower end; there is no
// finite force that lets it go on sliding with this friction. The impulse that ends its slip V has
// (1 + 3 c²) P_n = 3 c s P_t and P_t ((1 + 3 s²) − 9 c² s²/(1 + 3 c²)) = m V; it turns the rod by
// 3 (s P_t − c P_n)/(m l), and from then on the rod is a pendulum about its end:
// ⅔ l² (ω₀² − ω²) = g l (sin θ − sin θ₀).
TEST(ContactClosedForms, RodThatJams) {
  const Mechanism m = from_yaml(R"(
bodies: {rod: {mass: 1, inertia: [0.001, 0.08333333333333333, 0.08333333333333333]}}
hinges: {base: {type: planar, parent: world, child: rod, axes: [[0, -1, 0], [1, 0, 0]]}}
)");
  const double half = 0.5, speed = 1.0, angle = std::atan(2.0);
  const double c = std::cos(angle), s = std::sin(angle);
  const double pt = speed / (1.0 + 3.0 * s * s - 9.0 * c * c * s * s / (1.0 + 3.0 * c * c));
  const double pn = 3.0 * c * s / (1.0 + 3.0 * c * c) * pt;
  const double turn = 3.0 / half * (s * pt - c * pn);
  expect_closed_form(
      "rod that jams, angular velocity (rad/s)", 0.1,
      [&](SimulationSettings settings) {
        add(settings, {.name = "tip", .body = 0, .center = {-half, 0.0, 0.0}, .friction = 1.6});
        State start = m.default_state();
        start.q << angle, 0.0, half * s;
        start.v << 0.0, -speed, 0.0;
        const State end = end_of(m, start, settings);
        const double square =
            turn * turn - 1.5 * kGravity / half * (std::sin(end.q[0]) - std::sin(angle));
        return std::abs(std::abs(end.v[0]) - std::sqrt(square));
      },
      1e-2);
}

// Newton's cradle: three equal balls on a line, just apart; the last one leaves with the speed.
TEST(ContactClosedForms, NewtonsCradle) {
  const Mechanism m = from_yaml(R"(
gravity: [0, 0, 0]
bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}, c: {mass: 1, inertia: [1, 1, 1]}}
hinges:
  A: {type: prismatic, parent: world, child: a, axis: x}
  B: {type: prismatic, parent: world, child: b, axis: x, at: [0.3, 0, 0]}
  C: {type: prismatic, parent: world, child: c, axis: x, at: [0.5001, 0, 0]}
)");
  expect_closed_form(
      "Newton's cradle, place of the last (m)", 0.5,
      [&](SimulationSettings settings) {
        for (int k = 0; k < 2; ++k)
          add(settings, {.name = "c" + std::to_string(k),
                         .body = k,
                         .radius = 0.1,
                         .plane_body = k + 1,
                         .plane_point = {-0.1, 0.0, 0.0},
                         .plane_normal = {-1.0, 0.0, 0.0},
                         .restitution = 1.0});
        State s = m.default_state();
        s.v[0] = 1.0;
        const State end = end_of(m, s, settings);
        EXPECT_NEAR(end.v[0], 0.0, 1e-9);
        EXPECT_NEAR(end.v[1], 0.0, 1e-9);
        EXPECT_NEAR(end.v[2], 1.0, 1e-9);
        // 0.1 to the first, 0.0001 to the second, the rest by the third.
        return std::abs(end.q[2] - (0.5 - 0.1 - 0.0001));
      },
      1e-6);
}

// A card on two wheels that turn inwards, 2 a apart: each carries m g (a ∓ x)/(2 a), so that the
// card is pulled to the middle by μ m g x/a and swings with √(μ g/a).
TEST(ContactClosedForms, CardOnTwoWheels) {
  const Mechanism m = from_yaml(R"(
bodies: {left: {mass: 1, inertia: [0.01, 0.01, 0.01]}, right: {mass: 1, inertia: [0.01, 0.01, 0.01]}, card: {mass: 2, inertia: [0.02, 0.3, 0.3]}}
hinges:
  L: {type: revolute, parent: world, child: left, axis: y, at: [-0.4, 0, -0.1]}
  R: {type: revolute, parent: world, child: right, axis: y, at: [0.4, 0, -0.1]}
  card: {type: planar, parent: world, child: card, axes: [[0, -1, 0], [1, 0, 0]]}
)");
  const double mu = 0.3, a = 0.4, from = 0.2, duration = 1.3;
  expect_closed_form(
      "card on two wheels, place (m)", duration,
      [&](SimulationSettings settings) {
        for (int k = 0; k < 2; ++k)
          add(settings, {.name = k == 0 ? "left" : "right",
                         .body = k,
                         .radius = 0.1,
                         .plane_body = 2,
                         .plane_normal = {0.0, 0.0, -1.0},
                         .friction = mu});
        settings.actions.motions = {{"L", {"50*t"}}, {"R", {"-50*t"}}};
        State s = m.default_state();
        s.q << 0.0, 0.0, 0.0, from, 0.0;
        s.v << 50.0, -50.0, 0.0, 0.0, 0.0;
        const State end = end_of(m, s, settings);
        return std::abs(end.q[3] - from * std::cos(std::sqrt(mu * kGravity / a) * duration));
      },
      1e-4);
}

}  // namespace
}  // namespace catena
