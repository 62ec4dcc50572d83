// SPDX-License-Identifier: BSD-3-Clause
// Simulated motions against closed forms and against integrations of other equations in high
// precision.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "catena/io/load.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

State end_of(const Mechanism& m, const State& start, double duration, double tolerance) {
  MemoryRecorder record;
  SimulationSettings settings{.duration = duration, .output_interval = duration};
  settings.integrator.relative_tolerance = tolerance;
  settings.integrator.absolute_tolerance = 0.01 * tolerance;
  return simulate(m, start, settings, record).state;
}

// Case P1: θ = 2 asin(k sn(K + ω0 t)); values of the closed form, 16 digits.
TEST(ClosedForm, PendulumByEllipticFunctions) {
  const Mechanism m = load(CATENA_SOURCE_DIR "/models/pendulum.yaml");
  struct Row {
    double start, angle, rate;
  };
  for (const Row& row : {Row{0.5, -0.4998833104260068, 0.03398921352109858},
                         Row{2.0, -1.568756341909203, -2.938819205905964},
                         Row{3.0, 1.486280551438437, -4.710556893808865}}) {
    State s = m.default_state();
    s.q[0] = row.start;
    s.v[0] = 0.0;
    double last = 1.0;
    for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
      const State end = end_of(m, s, 1.0, tolerance);
      const double error = std::hypot(end.q[0] - row.angle, end.v[0] - row.rate);
      EXPECT_LT(error, 100.0 * tolerance) << row.start;
      EXPECT_LT(error, last);
      last = error;
    }
  }
}

// Lagrange's equations of the double pendulum, integrated with 33 digits by extrapolation (Gragg,
// Bulirsch, Stoer).
TEST(ClosedForm, DoublePendulumInHighPrecision) {
  const Mechanism m = load(CATENA_SOURCE_DIR "/models/double_pendulum.yaml");
  State s = m.default_state();
  s.q << 0.5, -0.8;
  s.v << 1.1, -0.6;
  const Eigen::Vector4d exact(-0.045527101497269378, 1.0818889718087317, -0.82275652485257487,
                              -1.6358431928317812);
  for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
    const State end = end_of(m, s, 5.0, tolerance);
    Eigen::Vector4d y;
    y << end.q, end.v;
    // Neighbouring motions of this pendulum part by a factor below 1000 in 5 s.
    EXPECT_LT((y - exact).norm(), 1000.0 * tolerance);
  }
}

// Jacobi's functions sn, cn, dn by the descending Landen transformation (Abramowitz and Stegun
// 16.4): independent of everything in the library.
struct Jacobi {
  double sn, cn, dn;
};
Jacobi jacobi(double u, double m) {
  double a[32], c[32];
  a[0] = 1.0;
  double b = std::sqrt(1.0 - m);
  c[0] = std::sqrt(m);
  int n = 0;
  for (; n < 30 && std::abs(c[n]) > 1e-17; ++n) {
    a[n + 1] = 0.5 * (a[n] + b);
    c[n + 1] = 0.5 * (a[n] - b);
    b = std::sqrt(a[n] * b);
  }
  double phi = std::ldexp(a[n] * u, n), previous = phi;
  for (; n > 0; --n) {
    previous = phi;
    phi = 0.5 * (phi + std::asin(c[n] / a[n] * std::sin(phi)));
  }
  return {std::sin(phi), std::cos(phi), std::cos(phi) / std::cos(previous - phi)};
}

Mechanism top(double a, double b, double c) {
  MechanismBuilder builder("top");
  builder.set_gravity(Vec3d::zero());
  builder.add_body("top", {.mass = 1.0, .inertia = SymMat3d::diagonal(a, b, c)});
  builder.add_hinge("base", "world", "top", {.type = HingeType::free});
  return builder.finish();
}

// Euler's free top with A < B < C and L² > 2TB: ω1 = p cn, ω2 = q sn, ω3 = r dn (Whittaker, art.
// 69).
TEST(ClosedForm, AsymmetricTopAfterAHundredTurns) {
  const double A = 1.0, B = 2.0, C = 3.0;
  const Mechanism m = top(A, B, C);
  State s = m.default_state();
  // Start where sn = 0: ω2 = 0.
  const double w1 = 0.3, w3 = 1.0;
  s.v.head(3) << w1, 0.0, w3;
  const double T2 = A * w1 * w1 + C * w3 * w3, L2 = A * A * w1 * w1 + C * C * w3 * w3;
  const double rate = std::sqrt((C - B) * (L2 - A * T2) / (A * B * C));
  const double modulus = (B - A) * (C * T2 - L2) / ((C - B) * (L2 - A * T2));
  const double w2 = std::sqrt((T2 * C - L2) / (B * (C - B)));
  // A hundred turns about the angular momentum, at least at the rate 2T/L of the slowest.
  const double duration = 200.0 * std::numbers::pi / (T2 / std::sqrt(L2));
  const State end = end_of(m, s, duration, 1e-10);
  const Jacobi j = jacobi(rate * duration, modulus);
  EXPECT_NEAR(end.v[0], w1 * j.cn, 1e-8);
  EXPECT_NEAR(end.v[1], w2 * j.sn, 1e-8);
  EXPECT_NEAR(end.v[2], w3 * j.dn, 1e-8);
  // The angular momentum stands still in the ground's axes.
  const Rotationd r = Rotationd::from_quaternion({end.q[0], end.q[1], end.q[2], end.q[3]});
  const Vec3d momentum = r * Vec3d{A * end.v[0], B * end.v[1], C * end.v[2]};
  EXPECT_NEAR(momentum.x, A * w1, 1e-8);
  EXPECT_NEAR(momentum.y, 0.0, 1e-8);
  EXPECT_NEAR(momentum.z, C * w3, 1e-8);
  // And the length of the quaternion is one.
  EXPECT_NEAR(end.q.head(4).norm(), 1.0, 1e-15);
}

// The whole attitude: the same equations with quaternions, integrated with 33 digits.
TEST(ClosedForm, AttitudeOfTheTopInHighPrecision) {
  const Mechanism m = top(1.0, 2.0, 3.0);
  State s = m.default_state();
  s.v.head(3) << 0.3, 0.2, 1.0;
  const State end = end_of(m, s, 600.0, 1e-10);
  const double exact[] = {0.83630133939071836, 0.075671188753859664, 0.11381613196368715,
                          0.53096123119366521};
  const double sign = end.q[0] * exact[0] > 0.0 ? 1.0 : -1.0;
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(sign * end.q[i], exact[i], 1e-8);
}

// A satellite with a free rotor on its axis of symmetry: ω3 and the rotor's rate Ω stay, ω1 + i ω2
// turns at λ = ((C − A) ω3 + J Ω) / A, with A, C of satellite and rotor together and J the
// rotor's axial inertia.
TEST(ClosedForm, SatelliteWithRotor) {
  MechanismBuilder b("satellite");
  b.set_gravity(Vec3d::zero());
  b.add_body("hub", {.mass = 100.0, .inertia = SymMat3d::diagonal(40.0, 40.0, 25.0)});
  b.add_body("rotor", {.mass = 5.0, .inertia = SymMat3d::diagonal(0.06, 0.06, 0.1)});
  b.add_hinge("base", "world", "hub", {.type = HingeType::free});
  b.add_hinge("spin", "hub", "rotor");
  const Mechanism m = b.finish();
  State s = m.default_state();
  const double w1 = 0.02, w3 = 0.1, spin = 200.0;
  s.v[m.velocity_index("base.wx")] = w1;
  s.v[m.velocity_index("base.wz")] = w3;
  s.v[m.velocity_index("spin")] = spin;
  const double duration = 300.0;
  MemoryRecorder record;
  SimulationSettings settings{.duration = duration, .output_interval = duration};
  settings.integrator.relative_tolerance = 1e-11;
  settings.integrator.absolute_tolerance = 1e-13;
  const SimulationResult r = simulate(m, s, settings, record);
  const double a = 40.06, c = 25.1;
  const double precession = ((c - a) * w3 + 0.1 * spin) / a;
  EXPECT_NEAR(r.state.v[m.velocity_index("base.wx")], w1 * std::cos(precession * duration), 1e-9);
  EXPECT_NEAR(r.state.v[m.velocity_index("base.wy")], w1 * std::sin(precession * duration), 1e-9);
  EXPECT_NEAR(r.state.v[m.velocity_index("base.wz")], w3, 1e-10);
  EXPECT_NEAR(r.state.v[m.velocity_index("spin")], spin, 1e-7);
  EXPECT_LT(*r.audit.angular_momentum_drift, 1e-9);
  EXPECT_LT(*r.audit.linear_momentum_drift, 1e-9);
  EXPECT_LT(r.audit.energy_drift, 1e-9);
}

}  // namespace
}  // namespace catena
