// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/energy.h"

#include "catena/base/index.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/momentum.h"
#include "catena/dynamics/published/published_cases.h"
#include "catena/dynamics/testing/test_support.h"

namespace catena::test {
namespace {

double power_of(const Mechanism& m, const State& state,
                const std::vector<ExternalWrench>& external) {
  double power = 0.0;
  for (const ExternalWrench& e : external)
    power += dot(e.wrench.moment, body_twist(m, state, e.body, e.axes).angular) +
             dot(e.wrench.force, point_velocity(m, state, e.body, e.point, e.axes));
  return power;
}

// d/dt of f(energy) at t = 0 along the path with these accelerations, by differences of fourth
// order.
template <class F>
double rate_of(const Mechanism& m, const State& state, const VectorXd& acceleration, F f) {
  EnergyMeter meter(m);
  const auto at = [&](double t) {
    return f(meter.measure(State{integrate(m, state.q, t * state.v + (0.5 * t * t) * acceleration),
                                 state.v + t * acceleration}));
  };
  const double h = 2e-4;
  return (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
}

double total(const Energy& e) { return e.total(); }
double kinetic(const Energy& e) { return e.kinetic; }

// ½ vᵀ M v by the mass matrix, and the reference in long double.
TEST(Energy, KineticByOtherRoutes) {
  Random random(31);
  Worst by_matrix, by_reference;
  const auto compare = [&](const Mechanism& m) {
    const Case c = random_case(random, m, 0);
    const double t = kinetic_energy(m, c.state);
    by_matrix.take(std::abs(t - 0.5 * c.state.v.dot(mass_matrix(m, c.state.q) * c.state.v)) / t);
    const reference::Engine<Exact> engine(m);
    by_reference.take(std::abs(t - static_cast<double>(engine.kinetic_energy(
                                       plain<Exact>(c.state.q), plain<Exact>(c.state.v)))) /
                      t);
  };
  for (const HingeType type : kMovingTypes)
    compare(random_tree(random, {.bodies = 4, .welds = false, .types = {type}}).finish());
  for (int i = 0; i < 20; ++i)
    compare(random_tree(random, {.bodies = 1 + i, .free_base = i % 2 == 0}).finish());
  EXPECT_LT(by_matrix.value, 1e-12);
  EXPECT_LT(by_reference.value, 1e-12);
}

// A tree with everything that stores or takes energy.
MechanismBuilder busy_tree(Random& random, int bodies, bool free_base) {
  MechanismBuilder b = random_tree(random, {.bodies = bodies, .free_base = free_base});
  for (int i = 0; i < bodies; ++i) {
    HingeSettings& hinge = b.hinge("h" + std::to_string(i));
    if (hinge.type == HingeType::weld) continue;
    FreedomSettings f;
    f.damping = random.number(0.0, 1.0);
    f.friction = {.sliding = 0.5, .breakaway = 0.7, .stribeck_velocity = 0.4};
    f.friction.transition_velocity = 0.3;
    if (hinge.type != HingeType::spherical && hinge.type != HingeType::free) {
      f.stiffness = random.number(1.0, 10.0);
      f.rest = random.number();
    }
    hinge.freedoms = {f};
    if (hinge.type == HingeType::revolute || hinge.type == HingeType::prismatic ||
        hinge.type == HingeType::screw) {
      DriveSettings drive;
      drive.rotor_inertia = random.number(0.01, 0.1);
      drive.gear_ratio = random.number(-10.0, 10.0);
      drive.armature_only = random.below(3) == 0;
      if (random.below(2) == 0) {
        drive.carrier = body_name(random.below(bodies));
        drive.rotor_axis = random.vector();
      }
      hinge.drive = drive;
    }
  }
  for (int i = 0; i < 3; ++i) {
    const int at = random.below(bodies);
    b.add_spring({.name = "s" + std::to_string(i),
                  .body_a = body_name(random.below(at + 1) - 1),
                  .point_a = random.vector(),
                  .body_b = body_name(at),
                  .point_b = random.vector() + Vec3d{3, 0, 0},
                  .stiffness = random.number(1.0, 5.0),
                  .rest_length = 0.7,
                  .damping = random.number(0.0, 1.0)});
  }
  return b;
}

// What dampers and friction take, from their laws.
double dissipated(const Mechanism& m, const State& state) {
  double power = 0.0;
  for (int i = 0; i < m.freedoms(); ++i) {
    const FreedomSettings& f = m.freedom_settings()[index(i)];
    const double v = state.v[i];
    power += f.damping * v * v - friction_force(f.friction, v) * v;
  }
  for (const SpringDamper& s : m.description().springs) {
    const int a = m.body_index(s.body_a), b = m.body_index(s.body_b);
    const Vec3d gap =
        point_position(m, state.q, b, s.point_b) - point_position(m, state.q, a, s.point_a);
    const Vec3d rate =
        point_velocity(m, state, b, s.point_b) - point_velocity(m, state, a, s.point_a);
    const double extension = dot(gap, rate) / norm(gap);
    power += s.damping * extension * extension;
  }
  return power;
}

// dE/dt = power of the efforts and of the external wrenches, less what is dissipated.
TEST(Energy, RateIsPower) {
  Random random(32);
  Worst worst;
  for (int trial = 0; trial < 30; ++trial) {
    const Mechanism m = busy_tree(random, 1 + trial / 2, trial % 2 == 0).finish();
    const Case c = random_case(random, m, 2);
    const VectorXd a = forward_dynamics(m, c.state, c.effort, c.external);
    const double expected =
        c.effort.dot(c.state.v) + power_of(m, c.state, c.external) - dissipated(m, c.state);
    const double rate = rate_of(m, c.state, a, total);
    worst.take(std::abs(rate - expected) / (1.0 + energy(m, c.state).kinetic * a.norm()));
  }
  EXPECT_LT(worst.value, 1e-8);  // h⁴ and 1e-16 / h of the differences
}

TEST(Energy, PotentialIsListedByKind) {
  MechanismBuilder b;
  b.set_gravity({0, 0, -10});
  b.add_body("bob", ball(2.0));
  HingeSettings rail{.type = HingeType::prismatic};
  rail.freedoms = {{.stiffness = 3.0, .rest = 1.0}};
  b.add_hinge("rail", kWorld, "bob", rail);
  b.add_spring({.name = "s",
                .body_a = kWorld,
                .point_a = {0, 3, 0},
                .body_b = "bob",
                .stiffness = 2.0,
                .rest_length = 1.0});
  const Mechanism m = b.finish();
  const State state{VectorXd::Constant(1, 4.0), VectorXd::Constant(1, 5.0)};
  const Energy e = energy(m, state);
  EXPECT_DOUBLE_EQ(e.kinetic, 25.0);
  EXPECT_DOUBLE_EQ(e.gravity, 80.0);
  EXPECT_DOUBLE_EQ(e.hinge_springs, 13.5);
  EXPECT_DOUBLE_EQ(e.point_springs, 16.0);
  EXPECT_DOUBLE_EQ(e.springs(), 29.5);
  EXPECT_DOUBLE_EQ(e.total(), 134.5);
  EXPECT_DOUBLE_EQ(potential_energy(m, state.q), 109.5);
  EXPECT_DOUBLE_EQ(kinetic_energy(m, state), 25.0);
}

// Locked hinges, welds and bodies that hang the other way round stand where kinematics puts them.
TEST(Energy, WalkAgreesWithKinematics) {
  Random random(33);
  for (int trial = 0; trial < 10; ++trial) {
    MechanismBuilder b = random_tree(random, {.bodies = 12});
    for (const int i : {3, 7}) {
      const HingeSettings& h = b.hinge("h" + std::to_string(i));
      if (h.type == HingeType::weld) continue;
      const Mechanism whole = b.finish();
      const HingePlace& place = whole.hinges()[index(whole.hinge_index("h" + std::to_string(i)))];
      const VectorXd q = random_position(whole, 5);
      b.lock("h" + std::to_string(i),
             {q.data() + place.q_index, q.data() + place.q_index + place.coordinates});
    }
    const Mechanism m = b.finish();
    const Case c = random_case(random, m, 0);
    EnergyMeter meter(m);
    meter.measure(c.state);
    for (int body = 0; body < 12; ++body) {
      const FrameMotion& motion = meter.motion(body);
      EXPECT_LT((matrix({motion.rotation, motion.position}) -
                 matrix(catena::body_pose(m, c.state.q, body)))
                    .norm(),
                1e-12);
      const Twistd twist = body_twist(m, c.state, body, Axes::ground);
      EXPECT_LT(norm(twist.angular - motion.angular_velocity), 1e-12);
      EXPECT_LT(norm(twist.linear - motion.velocity), 1e-11);
    }
  }
}

// Chain A: kinetic energy, and dT/dt = efforts + gravity + external wrenches.
TEST(Energy, SpecCaseA) {
  const SpecCase c = spec_case_a();
  const Mechanism& m = c.mechanism;
  EXPECT_NEAR(kinetic_energy(m, c.state), 11.8280733104911, 1e-12);
  EXPECT_NEAR(c.effort.dot(c.state.v), 5.81777836728587, 1e-13);
  EXPECT_NEAR(dot(m.gravity(), momentum(m, c.state).linear), 64.6261376755576, 1e-12);
  EXPECT_NEAR(power_of(m, c.state, c.external), -0.923643982181315, 1e-13);
  const VectorXd a = forward_dynamics(m, c.state, c.effort, c.external);
  EXPECT_NEAR(rate_of(m, c.state, a, kinetic), 69.5202720606622, 1e-8);
}

TEST(Energy, SpecCaseT) {
  const SpecCase c = spec_case_t();
  const Energy e = energy(c.mechanism, c.state);
  EXPECT_NEAR(e.kinetic, 1.38447180609747, 1e-13);
  EXPECT_NEAR(e.total(), 43.5246796619813, 1e-12);
}

TEST(Energy, RefusesWhatItCannotMeasure) {
  Random random(34);
  const Mechanism m = random_tree(random, {.bodies = 3, .free_base = true}).finish();
  State state = random_case(random, m, 0).state;
  state.v[0] = kInfinity;
  EXPECT_THROW(energy(m, state), NumericalError);
  EXPECT_THROW(potential_energy(m, VectorXd::Zero(2)), NumericalError);
  EXPECT_THROW(EnergyMeter(m).motion(3), NumericalError);
  state.q[m.position_index("h0.qw")] += 0.1;
  EXPECT_THROW(potential_energy(m, state.q), NumericalError);
}

}  // namespace
}  // namespace catena::test
