// SPDX-License-Identifier: BSD-3-Clause
// Peaucellier's inversor through the position in which its rhomb folds together: two corners meet,
// the rank of the closure drops by two, and mechanisms with more freedoms begin there (the corners
// might stay together). The motion that came goes on: the corners pass each other.
//
// Gravity pulls upwards here, so that the mechanism swings about that position.
//
// The reference is one differential equation for the half angle between the long arms, over which
// all places are given in closed form.
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/model/builder.h"
#include "catena/simulation/simulate.h"
#include "catena/simulation/testing/linkage_parts.h"

namespace catena {
namespace {

using test::kGravity;

constexpr double kArm = 2.0, kSide = 1.0, kCrank = 0.9;
// Masses of two arms, the crank, four sides.
constexpr std::array<double, 7> kMass = {1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5};
constexpr std::array<double, 7> kLength = {kArm, kArm, kCrank, kSide, kSide, kSide, kSide};

struct Placement {
  std::array<double, 7> angle;  // of the bodies: arm1, arm2, crank, pa, pb, ca, cb
  std::array<double, 7> x, y;   // of their centres of mass
};

// The arms at α ± β from the pivot O, the crank's tip P at distance OP in the direction α; the
// crank turns about (r, 0), so that OP = 2 r cos α. A and B are the tips of the arms, C the far
// corner. The angles of the sides are smooth in β as they are written: both side triangles have
// the signed height L sin β.
Placement placed(double beta) {
  const double height = kArm * std::sin(beta);
  const double half = std::sqrt(kSide * kSide - height * height);  // from P to the foot of A, B
  const double op = kArm * std::cos(beta) - half;
  const double alpha = std::acos(op / (2.0 * kCrank));
  const double side = std::asin(height / kSide);
  Placement p;
  p.angle = {alpha + beta, alpha - beta, 2.0 * alpha, alpha + side,
             alpha - side, alpha - side, alpha + side};
  const double px = op * std::cos(alpha), py = op * std::sin(alpha);
  const std::array<double, 7> from_x = {
      0, 0, kCrank, px, px, kArm * std::cos(alpha + beta), kArm * std::cos(alpha - beta)};
  const std::array<double, 7> from_y = {
      0, 0, 0, py, py, kArm * std::sin(alpha + beta), kArm * std::sin(alpha - beta)};
  for (std::size_t i = 0; i < 7; ++i) {
    p.x[i] = from_x[i] + 0.5 * kLength[i] * std::cos(p.angle[i]);
    p.y[i] = from_y[i] + 0.5 * kLength[i] * std::sin(p.angle[i]);
  }
  return p;
}

// Twice the kinetic energy over the square of the rate of β, and the potential energy.
std::array<double, 2> inertia_and_potential(double beta) {
  const double h = 1e-3;
  const Placement at = placed(beta);
  const Placement far[4] = {placed(beta - 2 * h), placed(beta - h), placed(beta + h),
                            placed(beta + 2 * h)};
  const auto rate = [&](auto member, std::size_t i) {
    return ((far[0].*member)[i] - 8.0 * (far[1].*member)[i] + 8.0 * (far[2].*member)[i] -
            (far[3].*member)[i]) /
           (12.0 * h);
  };
  double inertia = 0.0, potential = 0.0;
  for (std::size_t i = 0; i < 7; ++i) {
    const double w = rate(&Placement::angle, i), x = rate(&Placement::x, i),
                 y = rate(&Placement::y, i);
    inertia += kMass[i] * (x * x + y * y + kLength[i] * kLength[i] / 12.0 * w * w);
    potential -= kMass[i] * kGravity * at.y[i];
  }
  return {inertia, potential};
}

// β at the times k · interval, from β and its rate, by the classical Runge-Kutta method.
std::vector<double> reference(double beta, double rate, double interval, int rows) {
  const auto acceleration = [](double b, double v) {
    const double h = 1e-3;
    const auto here = inertia_and_potential(b), before = inertia_and_potential(b - h),
               behind = inertia_and_potential(b + h);
    const auto before2 = inertia_and_potential(b - 2 * h),
               behind2 = inertia_and_potential(b + 2 * h);
    const auto slope = [&](std::size_t i) {
      return (before2[i] - 8.0 * before[i] + 8.0 * behind[i] - behind2[i]) / (12.0 * h);
    };
    return -(0.5 * slope(0) * v * v + slope(1)) / here[0];
  };
  constexpr int kSteps = 200;
  std::vector<double> result{beta};
  const double h = interval / kSteps;
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < kSteps; ++k) {
      const double k1 = acceleration(beta, rate), v2 = rate + 0.5 * h * k1;
      const double k2 = acceleration(beta + 0.5 * h * rate, v2), v3 = rate + 0.5 * h * k2;
      const double k3 = acceleration(beta + 0.5 * h * v2, v3), v4 = rate + h * k3;
      const double k4 = acceleration(beta + h * v3, v4);
      beta += h / 6.0 * (rate + 2.0 * v2 + 2.0 * v3 + v4);
      rate += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    result.push_back(beta);
  }
  return result;
}

Transformd shift_along_x(double x) { return Transformd::from_translation({x, 0.0, 0.0}); }

// Gravity along y.
Mechanism inversor(double gravity) {
  MechanismBuilder b("inversor");
  b.set_gravity({0.0, gravity, 0.0});
  const char* names[] = {"arm1", "arm2", "crank", "pa", "pb", "ca", "cb"};
  for (std::size_t i = 0; i < 7; ++i) {
    const double j = kMass[i] * kLength[i] * kLength[i] / 12.0;
    b.add_body(names[i], {.mass = kMass[i],
                          .center_of_mass = {kLength[i] / 2.0, 0.0, 0.0},
                          .inertia = SymMat3d::diagonal(0.0, j, j)});
  }
  b.add_hinge("O1", kWorld, "arm1").add_hinge("O2", kWorld, "arm2");
  b.add_hinge("Q", kWorld, "crank", {.frame_on_parent = shift_along_x(kCrank)});
  b.add_hinge("P1", "crank", "pa", {.frame_on_parent = shift_along_x(kCrank)});
  b.add_hinge("P2", "crank", "pb", {.frame_on_parent = shift_along_x(kCrank)});
  b.add_hinge("A2", "arm1", "ca", {.frame_on_parent = shift_along_x(kArm)});
  b.add_hinge("B2", "arm2", "cb", {.frame_on_parent = shift_along_x(kArm)});
  const auto cut = [](double on_parent) {
    return HingeSettings{.frame_on_parent = shift_along_x(on_parent),
                         .frame_on_child = shift_along_x(kSide),
                         .cut = Cut::always};
  };
  b.add_hinge("A1", "arm1", "pa", cut(kArm)).add_hinge("B1", "arm2", "pb", cut(kArm));
  b.add_hinge("C1", "ca", "cb", cut(kSide));
  return b.finish();
}

State beta_state(const Mechanism& m, double beta, double rate) {
  const double h = 1e-4;
  const auto coordinates = [&](double at) {
    const auto [arm1, arm2, crank, pa, pb, ca, cb] = placed(at).angle;
    Eigen::VectorXd q(m.freedoms());
    const std::pair<const char*, double> all[] = {
        {"O1", arm1},       {"O2", arm2},      {"Q", crank},     {"P1", pa - crank},
        {"P2", pb - crank}, {"A2", ca - arm1}, {"B2", cb - arm2}};
    for (const auto& [name, angle] : all) q[m.position_index(name)] = angle;
    return q;
  };
  return {coordinates(beta), (8.0 * (coordinates(beta + h) - coordinates(beta - h)) -
                              (coordinates(beta + 2 * h) - coordinates(beta - 2 * h))) *
                                 (rate / (12.0 * h))};
}

TEST(Folding, InversorWhoseCornersPassEachOther) {
  const Mechanism m = inversor(kGravity);
  constexpr double kBeta = 0.3, kRate = -1.0, kInterval = 0.05;
  constexpr int kRows = 40;
  const std::vector<double> expected = reference(kBeta, kRate, kInterval, kRows);
  for (const double rtol : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11}) {
    SimulationSettings settings;
    settings.duration = kInterval * kRows;
    settings.output_interval = kInterval;
    settings.integrator.relative_tolerance = settings.integrator.absolute_tolerance = rtol;
    MemoryRecorder record;
    const SimulationResult r = simulate(m, beta_state(m, kBeta, kRate), settings, record);
    for (int row = 0; row <= kRows; ++row)
      ASSERT_NEAR(0.5 * (record.value(row, "q.O1") - record.value(row, "q.O2")),
                  expected[index(row)], std::max(1e-6, 1e3 * rtol))
          << rtol << " " << row;
    EXPECT_LT(r.steps.steps, 3000) << rtol;
  }
}

// It falls through three kinds of folds within four seconds: two corners meet (the rank drops by
// two), the other two meet, the crank lies along the line to its pivot. The arms stay mirrored at
// the line through the third corner, which only this branch does, and the energy stays.
TEST(Folding, InversorThatFallsKeepsItsBranch) {
  const Mechanism m = inversor(-kGravity);
  constexpr double kBeta = 0.5027804393386547;
  State s = beta_state(m, kBeta, 1.0);
  s.v *= 2.0 / s.v[m.velocity_index("Q")];
  for (const double rtol : {1e-7, 1e-8, 1e-9, 1e-10, 1e-11}) {
    SimulationSettings settings;
    settings.duration = 4.0;
    settings.output_interval = 0.05;
    settings.integrator.relative_tolerance = rtol;
    settings.integrator.absolute_tolerance = 0.01 * rtol;
    MemoryRecorder record;
    const SimulationResult r = simulate(m, s, settings, record);
    EXPECT_LT(r.audit.energy_drift, 1e-5) << rtol;
    int passed = 0;
    for (int row = 0; row <= 80; ++row) {
      const double a = record.value(row, "q.O1"), b = record.value(row, "q.O2");
      ASSERT_NEAR(a + b, record.value(row, "q.Q"), 1e-7) << rtol << " " << row;
      if (row > 0)
        passed += (a - b) * (record.value(row - 1, "q.O1") - record.value(row - 1, "q.O2")) < 0.0;
    }
    EXPECT_GE(passed, 2) << rtol;  // corners that met and went on
  }
}

class FoldingBy : public testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(Folding, FoldingBy,
                         testing::Values(Method::dop853, Method::arkode, Method::adams,
                                         Method::bdf),
                         [](const auto& given) { return std::string(to_string(given.param)); });

// Many rows inside long steps over these folds: where the motion is known from the start of a step
// alone, some of them are on other branches, and others cannot be found at all. What Peaucellier
// built it for: the third corner runs on a straight line, at (L² − l²) / 2r. On other branches (the
// sides lie on each other, or cross as an antiparallelogram) it does not, by 1e-3 and more, nor is
// the energy there.
TEST_P(FoldingBy, RowsStayOnTheBranchOfTheirStep) {
  const Mechanism m = inversor(-kGravity);
  State s = beta_state(m, 0.5027804393386547, 1.0);
  s.v *= 2.0 / s.v[m.velocity_index("Q")];
  constexpr double kLine = (kArm * kArm - kSide * kSide) / (2.0 * kCrank);
  for (const double rtol : {1e-4, 1e-5, 1e-6}) {
    SimulationSettings settings;
    settings.duration = 10.0;
    settings.output_interval = 2e-3;
    settings.integrator.method = GetParam();
    settings.integrator.relative_tolerance = rtol;
    settings.integrator.absolute_tolerance = 0.01 * rtol;
    MemoryRecorder record;
    const SimulationResult r = simulate(m, s, settings, record);
    ASSERT_EQ(record.rows(), 5001) << rtol;
    for (int row = 0; row < record.rows(); ++row) {
      const double a = record.value(row, "q.O1"), b = record.value(row, "q.O2");
      ASSERT_NEAR(kArm * std::cos(a) + kSide * std::cos(a + record.value(row, "q.A2")), kLine,
                  0.01 * rtol)
          << rtol << " at " << record.value(row, "time");
      ASSERT_NEAR(a + b, record.value(row, "q.Q"), 0.01 * rtol) << rtol << " " << row;
      ASSERT_LT(std::abs(record.value(row, "energy.error")), 1e3 * rtol * r.audit.energy_scale)
          << rtol << " at " << record.value(row, "time");
    }
  }
}

}  // namespace
}  // namespace catena
