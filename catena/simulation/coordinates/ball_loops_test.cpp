// SPDX-License-Identifier: BSD-3-Clause
// Motions of loops with ball joints, whose rotations are quaternions, through singular positions.
// The references are integrated here in coordinates that are not singular there.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/closure/assembly.h"
#include "catena/dynamics/kinematics.h"
#include "catena/model/builder.h"
#include "catena/simulation/testing/linkage_parts.h"
#include "catena/simulation/testing/simulate_test_support.h"

namespace catena {
namespace {

using test::kGravity;
using test::shift;

using test::settings_of;

// x after `duration`, by Runge-Kutta's method.
template <class Vector, class Rate>
Vector runge_kutta(Vector x, double duration, int steps, Rate rate) {
  const double h = duration / steps;
  for (int i = 0; i < steps; ++i) {
    const Vector k1 = rate(x), k2 = rate(Vector(x + 0.5 * h * k1)),
                 k3 = rate(Vector(x + 0.5 * h * k2)), k4 = rate(Vector(x + h * k3));
    x += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }
  return x;
}

// Two equal cranks and a coupler on ball joints, which may spin about its axis: a pendulum that is
// flat at the angles 0 and π, where it could go on as an antiparallelogram. The spin stays.
constexpr double kCrank = 0.4, kCrankMass = 1.2, kCoupler = 1.0, kCouplerMass = 2.0;

BodySettings bar(double mass, double length) {
  const double j = mass * length * length / 12.0;
  return {.mass = mass,
          .center_of_mass = {0.5 * length, 0.0, 0.0},
          .inertia = SymMat3d::diagonal(0.05 * j, j, j)};
}

Mechanism parallelogram(double second = kCrank) {
  MechanismBuilder b("parallelogram");
  b.set_gravity({0.0, -kGravity, 0.0});
  b.add_body("first", bar(kCrankMass, kCrank)).add_body("second", bar(kCrankMass, second));
  b.add_body("coupler", bar(kCouplerMass, kCoupler));
  b.add_hinge("A", kWorld, "first");
  b.add_hinge("B", "first", "coupler",
              {.type = HingeType::spherical, .frame_on_parent = shift(kCrank, 0, 0)});
  b.add_hinge("D", kWorld, "second", {.frame_on_parent = shift(kCoupler, 0, 0)});
  b.add_hinge("C", "coupler", "second",
              {.type = HingeType::spherical,
               .frame_on_parent = shift(kCoupler, 0, 0),
               .frame_on_child = shift(second, 0, 0),
               .cut = Cut::always});
  return b.finish();
}

State parallel_state(const Mechanism& m, double angle, double spin) {
  State s = m.default_state();
  s.q[m.position_index("A")] = s.q[m.position_index("D")] = angle;
  const int b = m.position_index("B.qw");
  s.q[b] = std::cos(0.5 * angle);
  s.q[b + 3] = -std::sin(0.5 * angle);
  s.v[m.velocity_index("B.wx")] = spin;
  return s;
}

TEST(ClosedBalls, ParallelogramGoesOnAsOneWhateverItsCouplerSpins) {
  constexpr double kAngle = 0.5, kInterval = 0.05;
  constexpr int kRows = 40;
  const double inertia = 2.0 * kCrankMass * kCrank * kCrank / 3.0 + kCouplerMass * kCrank * kCrank;
  const double moment = (kCrankMass + kCouplerMass) * kCrank * kGravity;
  const auto rate = [&](const Eigen::Vector2d& x) {
    return Eigen::Vector2d(x[1], -moment / inertia * std::cos(x[0]));
  };
  const Mechanism m = parallelogram();
  for (const double spin : {0.0, 3.0, 40.0})
    for (const double rtol : {1e-7, 1e-9}) {
      MemoryRecorder record;
      const SimulationResult r = simulate(m, parallel_state(m, kAngle, spin),
                                          settings_of(kInterval * kRows, kInterval, rtol), record);
      Eigen::Vector2d expected(kAngle, 0.0);
      int passed = 0;
      for (int row = 1; row <= kRows; ++row) {
        const double before = expected[0];
        expected = runge_kutta(expected, kInterval, 400, rate);
        passed += std::sin(before) * std::sin(expected[0]) < 0.0;
        // Tolerances refer to each velocity, the spin too, and its steps are shorter and more.
        const double allowed = 100.0 * rtol * std::max(1.0, 0.1 * spin);
        ASSERT_NEAR(record.value(row, "q.A"), expected[0], allowed) << spin << " " << row;
        ASSERT_NEAR(record.value(row, "q.D"), expected[0], allowed) << spin << " " << row;
      }
      EXPECT_GE(passed, 2);  // flat positions
      EXPECT_LT(r.audit.energy_drift, 100.0 * rtol) << spin << " " << rtol;
      EXPECT_LT(r.audit.closure_residual, 1e-11) << spin << " " << rtol;
      // The coupler does not turn but for its spin.
      const Twistd twist = body_twist(m, r.state, m.body_index("coupler"));
      EXPECT_NEAR(twist.angular.x, spin, 100.0 * rtol * (1.0 + spin));
    }
}

// A Delta robot: three arms on the ground, a plate, and two rods from each arm to it on ball
// joints, which may spin. The plate only shifts. Where all rods are parallel it could begin to
// turn: there the closure loses a rank, and the motion goes on smoothly. Rods are thin.
namespace delta {

constexpr double kBase = 0.2, kArm = 0.3, kPlate = 0.05, kHalfWidth = 0.04, kRod = 0.7;
constexpr double kArmMasses[] = {0.4, 0.5, 0.7};
constexpr double kArmInertia = 0.003, kPlateMass = 0.5, kRodMass = 0.1;
constexpr double kStart = 0.35;  // of all arms, below the horizontal

double azimuth(int i) { return 2.0 * std::numbers::pi * i / 3.0; }
double lean() { return std::asin((kBase + kArm * std::cos(kStart) - kPlate) / kRod); }

Mechanism robot() {
  MechanismBuilder b("delta");
  b.set_gravity({0.0, 0.0, -kGravity});
  const double j = kRodMass * kRod * kRod / 12.0;
  b.add_body("plate", {.mass = kPlateMass, .inertia = SymMat3d::diagonal(6e-4, 6e-4, 1e-3)});
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    const Rotationd turn = Rotationd::about_z(azimuth(i));
    b.add_body("arm" + n, {.mass = kArmMasses[i],
                           .center_of_mass = {0.5 * kArm, 0.0, 0.0},
                           .inertia = SymMat3d::diagonal(1e-4, kArmInertia, kArmInertia)});
    b.add_hinge("drive" + n, kWorld, "arm" + n,
                {.axes = {{0.0, 1.0, 0.0}}, .frame_on_parent = {turn, turn * Vec3d{kBase, 0, 0}}});
    for (const double side : {-1.0, 1.0}) {
      const std::string name = n + (side < 0.0 ? "a" : "b");
      b.add_body("rod" + name, {.mass = kRodMass,
                                .center_of_mass = {0.0, 0.0, -0.5 * kRod},
                                .inertia = SymMat3d::diagonal(j, j, 2e-5)});
      b.add_hinge(
          "elbow" + name, "arm" + n, "rod" + name,
          {.type = HingeType::spherical, .frame_on_parent = shift(kArm, side * kHalfWidth, 0.0)});
      const bool first = name == "0a";
      b.add_hinge("wrist" + name, "rod" + name, "plate",
                  {.type = HingeType::spherical,
                   .frame_on_parent = shift(0.0, 0.0, -kRod),
                   .frame_on_child =
                       Transformd::from_translation(turn * Vec3d{kPlate, side * kHalfWidth, 0.0}),
                   .cut = first ? Cut::never : Cut::always});
    }
  }
  return b.finish();
}

State at_rest(const Mechanism& m) {
  State s = m.default_state();
  const auto about_y = [&](const std::string& hinge, double angle) {
    const int at = m.position_index(hinge + ".qw");
    s.q[at] = std::cos(0.5 * angle);
    s.q[at + 2] = std::sin(0.5 * angle);
  };
  for (const char* n : {"0", "1", "2"}) {
    s.q[m.position_index(std::string("drive") + n)] = kStart;
    for (const char* side : {"a", "b"}) about_y(std::string("elbow") + n + side, lean() - kStart);
  }
  about_y("wrist0a", -lean());
  return s;
}

// The same over the arms' angles and the plate's place: pairs of rods are one of twice the mass,
// and the three distances are never singular together.
using Vector12 = Eigen::Matrix<double, 12, 1>;

Vector12 rate(const Vector12& y) {
  using Eigen::Vector3d;
  using Map = Eigen::Matrix<double, 3, 6>;
  Eigen::Matrix<double, 9, 9> all = Eigen::Matrix<double, 9, 9>::Zero();
  Eigen::Matrix<double, 9, 1> right = Eigen::Matrix<double, 9, 1>::Zero();
  const Vector3d weight(0.0, 0.0, -kGravity);
  const Eigen::Matrix<double, 6, 1> v = y.tail<6>();
  all.block<3, 3>(3, 3) += kPlateMass * Eigen::Matrix3d::Identity();
  right.segment<3>(3) += kPlateMass * weight;
  for (int i = 0; i < 3; ++i) {
    const Vector3d out(std::cos(azimuth(i)), std::sin(azimuth(i)), 0.0);
    const double c = std::cos(y[i]), s = std::sin(y[i]);
    const Vector3d along = c * out - s * Vector3d::UnitZ();
    const Vector3d across = -s * out - c * Vector3d::UnitZ();  // its derivative
    all(i, i) += kArmInertia + kArmMasses[i] * 0.25 * kArm * kArm;
    right[i] += kArmMasses[i] * 0.5 * kArm * across.dot(weight);
    Map a = Map::Zero(), b = Map::Zero();  // of the rod's ends
    a.col(i) = kArm * across;
    b.rightCols<3>().setIdentity();
    const Vector3d bias = -kArm * v[i] * v[i] * along;  // acceleration of the elbow
    const double mass = 2.0 * kRodMass;
    all.topLeftCorner<6, 6>() += mass / 3.0 * (a.transpose() * a + b.transpose() * b) +
                                 mass / 6.0 * (a.transpose() * b + b.transpose() * a);
    right.head<6>() +=
        0.5 * mass * (a + b).transpose() * weight - mass * (a / 3.0 + b / 6.0).transpose() * bias;
    const Vector3d rod = y.segment<3>(3) + kPlate * out - kBase * out - kArm * along;
    const Vector3d speed = (b - a) * v;
    all.block<1, 6>(6 + i, 0) = rod.transpose() * (b - a);
    all.block<6, 1>(0, 6 + i) = all.block<1, 6>(6 + i, 0).transpose();
    right[6 + i] = rod.dot(bias) - speed.squaredNorm();
  }
  Vector12 result;
  result << v, Lu(all).solve(right).head<6>();
  return result;
}

}  // namespace delta

TEST(ClosedBalls, DeltaRobotPassesWhereItsRodsAreParallel) {
  constexpr double kInterval = 0.02;
  constexpr int kRows = 45;
  const Mechanism m = delta::robot();
  const State start = delta::at_rest(m);
  ASSERT_LT(closure_gap(m, start.q), 1e-12);
  std::vector<delta::Vector12> expected(1, delta::Vector12::Zero());
  expected[0].head<3>().setConstant(delta::kStart);
  expected[0][5] = -delta::kArm * std::sin(delta::kStart) - delta::kRod * std::cos(delta::lean());
  for (int row = 0; row < kRows; ++row)
    expected.push_back(runge_kutta(expected.back(), kInterval, 1000, delta::rate));
  // All rods are parallel where the elbows are as far from the axis as the plate's joints.
  const double parallel = std::acos((delta::kPlate - delta::kBase) / delta::kArm);
  int passed = 0;
  for (int row = 0; row < kRows; ++row)
    passed +=
        (expected[index(row)][2] - parallel) * (expected[to_size(row) + 1][2] - parallel) < 0.0;
  ASSERT_GE(passed, 1);
  for (const double rtol : {1e-7, 1e-9}) {
    MemoryRecorder record;
    const SimulationResult r =
        simulate(m, start, settings_of(kInterval * kRows, kInterval, rtol), record);
    for (int row = 0; row <= kRows; ++row)
      for (int i = 0; i < 3; ++i)
        ASSERT_NEAR(record.value(row, "q.drive" + std::to_string(i)), expected[index(row)][i],
                    100.0 * rtol)
            << rtol << " " << row;
    EXPECT_LT(r.audit.energy_drift, 100.0 * rtol) << rtol;
    EXPECT_LT(r.audit.closure_residual, 1e-11) << rtol;
    EXPECT_LT(r.steps.steps, 500) << rtol;
    EXPECT_TRUE(r.complete);
  }
}

// A plate on a rod, free otherwise, that tumbles: the rotation of a free hinge in a loop goes round
// many times, and its shift is counted in the axes of its reference. By multipliers nothing of that
// is used.
TEST(ClosedBalls, APlateThatTumblesOnARod) {
  MechanismBuilder b("plate");
  b.set_gravity({0.0, 0.0, -kGravity});
  b.add_body("plate", {.mass = 2.0,
                       .center_of_mass = {0.02, 0.01, -0.03},
                       .inertia = SymMat3d::diagonal(0.02, 0.03, 0.045)});
  b.add_hinge("base", kWorld, "plate",
              {.type = HingeType::free, .initial_position = {1.0, 0.0, 0.0, 0.0, 0.1, 0.2, -1.0}});
  b.add_rod({.name = "rod",
             .body_a = kWorld,
             .point_a = {0.0, 0.0, 0.0},
             .body_b = "plate",
             .point_b = {0.2, 0.1, 0.05},
             .length = 1.0});
  const Mechanism m = b.finish();
  State guess = m.default_state();
  guess.v << 1.0, 3.0, 5.0, 0.3, -0.4, 0.1;
  const State start = assemble(m, guess);
  SimulationSettings settings = settings_of(2.0, 0.1, 1e-10);
  MemoryRecorder embedded, by_multipliers;
  const SimulationResult r = simulate(m, start, settings, embedded);
  EXPECT_LT(r.audit.energy_drift, 1e-9);
  EXPECT_LT(r.audit.closure_residual, 1e-13);
  settings.actions.loops = LoopRoute::multipliers;
  simulate(m, start, settings, by_multipliers);
  for (int row = 1; row <= 20; ++row)
    for (const char* column : {"q.base.x", "q.base.y", "q.base.z", "v.base.wx", "v.base.wz"})
      ASSERT_NEAR(embedded.value(row, column), by_multipliers.value(row, column), 1e-8)
          << column << " " << row;
}

}  // namespace
}  // namespace catena
