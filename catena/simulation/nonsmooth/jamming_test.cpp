// SPDX-License-Identifier: BSD-3-Clause
// Contacts whose own friction presses them into their planes (Painlevé): sliding has no finite
// force, and an impulse ends it. Against closed forms derived here by hand.
#include <cmath>

#include <Eigen/LU>
#include <gtest/gtest.h>

#include "catena/dynamics/testing/closed_cases.h"
#include "catena/simulation/simulate.h"
#include "catena/simulation/testing/linkage_parts.h"

namespace catena {
namespace {

using test::kGravity;

SimulationSettings accurate(double duration) {
  SimulationSettings s;
  s.duration = duration;
  s.output_interval = duration / 100.0;
  s.integrator.relative_tolerance = 1e-10;
  s.integrator.absolute_tolerance = 1e-12;
  s.outputs = {"q.*", "v.*", "a.*", "energy.*"};
  return s;
}

void add_contact(SimulationSettings& settings, const ContactSettings& contact) {
  ConstraintSettings c;
  c.constraint = contact;
  settings.actions.constraints.push_back(c);
}

const RunEvent* find(const MemoryRecorder& record, const std::string& kind) {
  for (const RunEvent& e : record.events())
    if (e.kind == kind) return &e;
  return nullptr;
}

// A thin rod of mass m = 1 and length 2 l = 1 in the plane of x and z, coordinates: angle θ, x, z
// of its middle. Its lower end is at r = −l (cos θ, sin θ) from the middle. With forces F along x
// and N along z there, and I = m l²/3,
//
//   a_z = N/m + r_x (r_x N − r_z F)/I + … = ((1 + 3 c²) N − 3 c s F)/m + …
//   a_x = ((1 + 3 s²) F − 3 c s N)/m + …                              (c = cos θ, s = sin θ)
//
// When the end slides towards −x, F = μ N, and N pushes it up by (1 + 3 c² − 3 μ c s)/m. That is
// negative for μ > (4 + tan²θ)/(3 tan θ), least 4/3 where tan θ = 2. The free acceleration of an
// end that does not turn is −g: then no N keeps it out of the plane.
constexpr double kHalf = 0.5;

Mechanism rod() {
  MechanismBuilder b("rod");
  b.set_gravity({0.0, 0.0, -kGravity});
  b.add_body("rod", body(1.0, {}, {1e-3, kHalf * kHalf / 3.0, kHalf * kHalf / 3.0}));
  b.add_hinge("base", kWorld, "rod",
              {.type = HingeType::planar, .axes = {{0.0, -1.0, 0.0}, {1.0, 0.0, 0.0}}});
  return b.finish();
}

struct RodRun {
  MemoryRecorder record;
  SimulationResult result;
};

// It slides with its angle locked, so that N = m g and its speed falls by μ g t, until the lock is
// released.
constexpr double kRelease = 0.1;
void run_rod(double angle, double friction, double speed, double duration, Method method,
             RodRun& run) {
  const Mechanism m = rod();
  State s = m.default_state();
  s.q << angle, 0.0, kHalf * std::sin(angle);
  s.v[1] = -speed;
  SimulationSettings settings = accurate(duration);
  settings.integrator.method = method;
  settings.integrator.step = 1e-4;
  ConstraintSettings lock;
  lock.constraint = LockSettings{.name = "hold", .freedom = 0};
  lock.active = true;
  settings.actions.constraints = {lock};
  add_contact(settings,
              {.name = "tip", .body = 0, .center = {-kHalf, 0.0, 0.0}, .friction = friction});
  settings.actions.switches = {{.name = "let", .time = kRelease, .release = {"hold"}}};
  run.result = simulate(m, s, settings, run.record);
}

// The impulse that ends slip V and normal velocity: (1 + 3 c²) P_n = 3 c s P_t, and
// P_t ((1 + 3 s²) − 9 c² s²/(1 + 3 c²)) = m V; its work is −P_t V/2. It is within the cone, P_t ≤ μ
// P_n, just where 1 + 3 c² ≤ 3 μ c s.
TEST(Jamming, RodThatIsReleasedStopsAtOnce) {
  const double angle = std::atan(2.0), friction = 1.6, speed = 2.6;
  const double c = std::cos(angle), s = std::sin(angle);
  const double before = speed - friction * kGravity * kRelease;
  const double pt = before / (1.0 + 3.0 * s * s - 9.0 * c * c * s * s / (1.0 + 3.0 * c * c));
  const double pn = 3.0 * c * s / (1.0 + 3.0 * c * c) * pt;
  for (const Method method : {Method::dop853, Method::bdf, Method::rk4}) {
    RodRun run;
    run_rod(angle, friction, speed, kRelease * 1.01, method, run);
    const RunEvent* jam = find(run.record, "jam");
    ASSERT_NE(jam, nullptr);
    EXPECT_EQ(jam->name, "tip");
    EXPECT_NEAR(jam->time, kRelease, 1e-12);
    // The row that is next to it, a millisecond later at most.
    Eigen::Index after = 0;
    while (run.record.value(after, "time") <= kRelease) ++after;
    const double passed = run.record.value(after, "time") - kRelease;
    const double turn = 3.0 / kHalf * (s * pt - c * pn);
    EXPECT_NEAR(run.record.value(after, "v.base.angle"), turn, 60.0 * passed);
    // It turns about its end from then on: 4/3 m l² ω̇ = −m g l cos θ, which sticks.
    const double angle_then = run.record.value(after, "q.base.angle");
    EXPECT_NEAR(run.record.value(after, "a.base.angle"),
                -0.75 * kGravity * std::cos(angle_then) / kHalf, 1e-5);
    const double omega = run.record.value(after, "v.base.angle");
    EXPECT_NEAR(0.5 * 4.0 / 3.0 * kHalf * kHalf * (turn * turn - omega * omega),
                kGravity * kHalf * (std::sin(angle_then) - s), 2e-6);
    for (const ElementWork& work : run.result.audit.work)
      if (work.element == "contact tip") {
        const double slid = 0.5 * (speed * speed - before * before);
        EXPECT_NEAR(work.work, -slid - 0.5 * pt * before, 1e-5);
      }
    EXPECT_LT(run.result.audit.energy_drift, 1e-7);
  }
}

// Just below and above the coefficient at which it jams. Below, N = m g/(1 + 3 c² − 3 μ c s), and
// the angle is accelerated by 3 N (μ s − c)/(m l).
TEST(Jamming, RodJamsAboveTheKnownCoefficient) {
  for (const double slope : {1.0, 2.0, 3.5}) {
    const double angle = std::atan(slope);
    const double c = std::cos(angle), s = std::sin(angle);
    const double limit = (4.0 + slope * slope) / (3.0 * slope);
    RodRun above, below;
    run_rod(angle, 1.0001 * limit, 5.0, kRelease * 1.0001, Method::dop853, above);
    EXPECT_NE(find(above.record, "jam"), nullptr) << slope;
    const double friction = 0.98 * limit;
    run_rod(angle, friction, 5.0, kRelease * (1.0 + 1e-9), Method::dop853, below);
    EXPECT_EQ(find(below.record, "jam"), nullptr) << slope;
    const double n = kGravity / (1.0 + 3.0 * c * c - 3.0 * friction * c * s);
    EXPECT_GT(n, 40.0 * kGravity / (1.0 + 3.0 * c * c));
    const Eigen::Index last = below.record.rows() - 1;
    EXPECT_NEAR(below.record.value(last, "a.base.angle"), 3.0 / kHalf * n * (friction * s - c),
                1e-7 * n);
  }
}

// A carriage on a rail pushes a leg before it over a floor that falls away: the leg gets steeper,
// until the floor's friction jams it. On the way N grows as 1/(x_c − x), and the speed falls by a
// logarithm; so it arrives with some speed and is stopped at the end of its way.
class Leg {
 public:
  static constexpr double kCarriage = 3.0, kMass = 1.0, kLength = 1.0, kFall = 0.2, kDepth = 0.6,
                          kFriction = 0.9;
  const double n_x = std::sin(kFall), n_z = std::cos(kFall);

  // The rail is z = 0, the floor goes through (0, −kDepth) along (n_z, −n_x). Its normal distance
  // from the hinge is (kDepth n_z + x n_x).
  double angle(double x) const {
    // tip (x + L sin φ, −L cos φ): n_x (x + L sin φ) + n_z (kDepth − L cos φ) = 0
    return std::acos((kDepth * n_z + x * n_x) / kLength) - kFall;
  }
  struct Found {
    double margin, acceleration, normal, square;  // square: v_x² per x'², twice kinetic energy
  };
  // With unknowns ẍ, φ̈ and N; `rate` is x'.
  Found at(double x, double rate) const {
    const double phi = angle(x), c = std::cos(phi), s = std::sin(phi);
    Eigen::Matrix2d mass;
    const double half = 0.5 * kLength;
    mass << kCarriage + kMass, kMass * half * c, kMass * half * c, kMass * kLength * kLength / 3.0;
    // Velocities of the tip along the normal and along the slip.
    const Eigen::Vector2d normal(n_x, kLength * (n_x * c + n_z * s));
    const Eigen::Vector2d slip(n_z, kLength * (n_z * c - n_x * s));
    const double phi_rate = -normal[0] / normal[1] * rate;
    const Eigen::Vector2d load(kMass * half * s * phi_rate * phi_rate,
                               -kMass * kGravity * half * s);
    const double bias = kLength * (-n_x * s + n_z * c) * phi_rate * phi_rate;
    const Eigen::Vector2d push = normal - kFriction * slip;
    const Eigen::Vector2d by_push = mass.inverse() * push, by_load = mass.inverse() * load;
    const double gives = normal.dot(by_push);
    Found f{};
    f.normal = -(normal.dot(by_load) + bias) / gives;
    f.margin = gives / normal.dot(mass.inverse() * normal);
    f.acceleration = by_load[0] + f.normal * by_push[0];
    const Eigen::Vector2d moves(1.0, -normal[0] / normal[1]);
    f.square = moves.dot(mass * moves);
    return f;
  }
};

TEST(Jamming, LegOfACarriageStopsIt) {
  const Leg leg;
  // Where it jams, by bisection.
  double low = 0.0, high = 1.0;
  ASSERT_GT(leg.at(low, 1.0).margin, 0.1);
  ASSERT_LT(leg.at(high, 1.0).margin, 0.0);
  for (int k = 0; k < 200; ++k) {
    const double middle = 0.5 * (low + high);
    (leg.at(middle, 1.0).margin > 0.0 ? low : high) = middle;
  }
  const double jams = low;
  // w = x'²/2 over x, up to `end`: w' = ẍ(x, x'), with x = x_c (1 − exp(−σ)).
  const double start_speed = 6.0;
  const auto arrives = [&](double end) {
    const auto slope = [&](double at, double value) {
      const double left = jams * std::exp(-at);
      return left * leg.at(jams - left, std::sqrt(2.0 * value)).acceleration;
    };
    constexpr int kSteps = 4000;
    const double h = -std::log(1.0 - end / jams) / kSteps;
    double w = 0.5 * start_speed * start_speed;
    for (int k = 0; k < kSteps; ++k) {
      const double at = k * h;
      const double k1 = slope(at, w), k2 = slope(at + 0.5 * h, w + 0.5 * h * k1);
      const double k3 = slope(at + 0.5 * h, w + 0.5 * h * k2), k4 = slope(at + h, w + h * k3);
      w += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    return w;
  };

  MechanismBuilder b("leg");
  b.set_gravity({0.0, 0.0, -kGravity});
  b.add_body("carriage", body(Leg::kCarriage, {}, {0.1, 0.1, 0.1}));
  const double own = Leg::kMass * Leg::kLength * Leg::kLength / 12.0;
  b.add_body("leg", body(Leg::kMass, {0.0, 0.0, -0.5 * Leg::kLength}, {own, own, 1e-3}));
  b.add_hinge("rail", kWorld, "carriage",
              {.type = HingeType::prismatic, .axes = {{1.0, 0.0, 0.0}}});
  b.add_hinge("hip", "carriage", "leg", {.axes = {{0.0, -1.0, 0.0}}});
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.q << 0.0, leg.angle(0.0);
  const double phi = s.q[1];
  s.v << start_speed,
      -leg.n_x / (Leg::kLength * (leg.n_x * std::cos(phi) + leg.n_z * std::sin(phi))) * start_speed;
  SimulationSettings settings = accurate(0.3);
  add_contact(settings, {.name = "foot",
                         .body = 1,
                         .center = {0.0, 0.0, -Leg::kLength},
                         .plane_point = {0.0, 0.0, -Leg::kDepth},
                         .plane_normal = {leg.n_x, 0.0, leg.n_z},
                         .friction = Leg::kFriction});
  for (const Method method : {Method::dop853, Method::bdf}) {
    settings.integrator.method = method;
    MemoryRecorder record;
    const SimulationResult r = simulate(m, s, settings, record);
    const RunEvent* jam = find(record, "jam");
    ASSERT_NE(jam, nullptr);
    EXPECT_EQ(jam->name, "foot");
    // It stands where it jams: the foot sticks there, and so does everything.
    EXPECT_NEAR(leg.at(r.state.q[0], 1.0).margin, kJammed, 0.1 * kJammed);
    EXPECT_LT(r.state.v.lpNorm<Eigen::Infinity>(), 1e-6);
    // The energy of its last impulse: of the speed with which it arrived.
    const std::size_t at = jam->detail.rfind("energy ");
    ASSERT_NE(at, std::string::npos);
    const double lost = -std::stod(jam->detail.substr(at + 7));
    EXPECT_NEAR(lost, leg.at(r.state.q[0], 1.0).square * arrives(r.state.q[0]), 1e-5 * lost);
    EXPECT_LT(r.audit.energy_drift, 1e-6);
    EXPECT_LT(r.steps.steps, 3000);
  }

  // Driven at a given speed it cannot stop: nothing satisfies the laws from there. The run goes on
  // with what comes nearest, and the log says what.
  settings.integrator.method = Method::dop853;
  settings.actions.motions = {{.freedom = "rail", .signal = "6*t"}};
  MemoryRecorder record;
  const SimulationResult driven = simulate(m, s, settings, record);
  EXPECT_TRUE(driven.complete);
  EXPECT_NEAR(driven.state.q[0], 6.0 * 0.3, 1e-9);
  const RunEvent* event = find(record, "stepping");
  ASSERT_NE(event, nullptr);
  for (const char* part : {"'foot'", "'leg' on the ground", "friction 0.9", "lower"})
    EXPECT_NE(event->detail.find(part), std::string::npos) << part << ": " << event->detail;
}

// A biped in space that stumbles: its feet jam while both touch, one turns its slip, and on the way
// slip ends that is much smaller than what steps resolve beside its fast legs. The energy must
// close.
TEST(Jamming, StumblingBipedGoesOn) {
  MechanismBuilder b("biped");
  b.set_gravity({0.0, 0.0, -kGravity});
  b.add_body("trunk", body(12.0, {0.0, 0.0, 0.2}, {0.3, 0.35, 0.1}));
  b.add_hinge("base", kWorld, "trunk", {.type = HingeType::free});
  const double hip = 0.25, knee = -0.5;
  SimulationSettings settings = accurate(2.0);
  settings.integrator.relative_tolerance = 1e-7;
  settings.integrator.absolute_tolerance = 1e-10;
  settings.integrator.maximum_step = 0.002;
  for (const std::string side : {"l", "r"}) {
    const double sign = side == "l" ? 1.0 : -1.0;
    b.add_body("thigh_" + side, body(2.5, {0.0, 0.0, -0.18}, {0.03, 0.03, 0.005}));
    b.add_body("shin_" + side, body(1.2, {0.0, 0.0, -0.17}, {0.015, 0.015, 0.002}));
    b.add_hinge("hip_" + side, "trunk", "thigh_" + side,
                {.axes = {{0.0, -1.0, 0.0}}, .frame_on_parent = shift(0.0, 0.1 * sign, 0.0)});
    b.add_hinge("knee_" + side, "thigh_" + side, "shin_" + side,
                {.axes = {{0.0, -1.0, 0.0}}, .frame_on_parent = shift(0.0, 0.0, -0.4)});
    const auto drive = [&](const std::string& name, double kp, double kd, double rest, double swing,
                           const std::string& wave) {
      std::string target = std::to_string(rest);
      target += swing > 0.0 ? '+' : '-';
      target += std::to_string(std::abs(swing));
      target += '*';
      target += wave;
      settings.actions.controllers.push_back(
          {.freedom = name + "_" + side, .kp = kp, .kd = kd, .target = target});
    };
    drive("hip", 120.0, 6.0, hip, 0.35 * sign, "sin(6*t)");
    drive("knee", 100.0, 5.0, knee, -0.3 * sign, "cos(6*t)");
  }
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.q[m.position_index("base.z")] = 0.4 * (std::cos(hip) + std::cos(hip + knee)) + 0.02;
  for (const std::string side : {"l", "r"}) {
    s.q[m.position_index("hip_" + side)] = hip;
    s.q[m.position_index("knee_" + side)] = knee;
  }
  for (int k = 0; k < 2; ++k)
    add_contact(settings, {.name = k == 0 ? "foot_l" : "foot_r",
                           .body = 2 * k + 2,
                           .center = {0.0, 0.0, -0.4},
                           .friction = 1.0});
  MemoryRecorder record;
  const SimulationResult r = simulate(m, s, settings, record);
  EXPECT_TRUE(r.complete);
  EXPECT_LT(r.audit.energy_drift, 1e-7);
  EXPECT_NE(find(record, "jam"), nullptr);
  EXPECT_LT(r.steps.steps + r.steps.rejected, 100000);
}

}  // namespace
}  // namespace catena
