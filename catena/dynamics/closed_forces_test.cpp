// SPDX-License-Identifier: BSD-3-Clause
// Bearing forces of closed mechanisms, against the reference solutions for [Jain 2009].
#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/dynamics/forces.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/testing/closed_cases.h"

namespace catena {
namespace {

struct Forces {
  Forces(const Mechanism& m, const State& s, const Eigen::VectorXd& effort)
      : mechanism(m), workspace(m), all(m) {
    const Eigen::VectorXd a = forward_dynamics(m, s, effort, workspace);
    all.compute(s, a, workspace, {}, &effort);
  }
  Wrenchd on_child(const char* hinge) const {
    return all.at(mechanism.hinge_index(hinge), ForceAxes::ground).wrench;
  }
  std::array<bool, 6> undetermined(const char* hinge) const {
    return all.undetermined(mechanism.hinge_index(hinge), ForceAxes::ground);
  }
  const Mechanism& mechanism;
  Workspace workspace;
  InterbodyForces all;
};

void expect_force(const Vec3d& force, double x, double y, double relative = 1e-11) {
  const double tolerance = relative * (1.0 + std::hypot(x, y));
  EXPECT_NEAR(force.x, x, tolerance);
  EXPECT_NEAR(force.y, y, tolerance);
}

// V4, open branch, rate 2, effort 3.
TEST(ClosedForces, PinsOfAFourBar) {
  const struct {
    double degrees, ax, ay, bx, by, cx, cy, dx, dy;
  } cases[] = {{0, -67.6463896479, 9.65592992087, -65.6463896479, -5.40685984174, 61.0384758308,
                23.6419532991, 55.8226481966, 49.6065606886},
               {60, -0.582703774101, 7.98716870631, -2.06199431881, 1.34063857727, 4.94976788929,
                2.48578626294, 7.76673394083, 16.4655756853},
               {150, -6.95643842747, 3.31973108731, -5.91183568911, -0.680963896119, 1.9942288495,
                3.67483279654, -3.75177935302, 21.2811806305},
               {300, -2.99470700551, 15.7552586699, -1.55728707768, 4.46575237539, 0.98913509325,
                4.4934585944, 2.72767098002, 19.452867945}};
  const Mechanism m = four_bar();
  for (const auto& c : cases) {
    const State s = four_bar_state(m, c.degrees * kPi / 180.0, 2.0);
    const Forces forces(m, s, vector({3.0, 0.0, 0.0}));
    expect_force(forces.on_child("A").force, c.ax, c.ay);
    expect_force(forces.on_child("B").force, c.bx, c.by);
    expect_force(forces.on_child("C").force, -c.cx, -c.cy);  // on the rocker
    expect_force(forces.on_child("D").force, c.dx, c.dy);
    EXPECT_NEAR(forces.on_child("A").moment.z, 3.0, 1e-11);
    EXPECT_NEAR(forces.on_child("C").moment.z, 0.0, 1e-11);
    // Three redundant constraints: forces in the plane are determined, those across it are not.
    for (const char* pin : {"A", "B", "C", "D"}) {
      const std::array<bool, 6> open = forces.undetermined(pin);
      EXPECT_EQ(open, (std::array<bool, 6>{true, true, false, false, false, true})) << pin;
    }
  }
}

// A plate that hangs on parallel rods: two share its weight; with three the shares are
// undetermined.
TEST(ClosedForces, ParallelRods) {
  constexpr double kWeight = 3.0 * 9.81;
  for (const int count : {2, 3}) {
    MechanismBuilder b("swing");
    b.set_gravity({0, -9.81, 0});
    b.add_body("plate", body(3.0, {1, 0, 0}, {0.1, 0.4, 0.5}));
    b.add_hinge("plane", kWorld, "plate", {.type = HingeType::planar});
    for (int k = 0; k < count; ++k) {
      const double x = 2.0 * k / (count - 1);
      b.add_rod({.name = "rod" + std::to_string(k),
                 .body_a = kWorld,
                 .point_a = {x, 1, 0},
                 .body_b = "plate",
                 .point_b = {x, 0, 0},
                 .length = 1.0});
    }
    const Mechanism m = b.finish();
    const Forces forces(m, m.default_state(), Eigen::VectorXd::Zero(m.freedoms()));
    double sum = 0.0;
    for (int k = 0; k < count; ++k) {
      sum += forces.all.rod_tension(k);
      EXPECT_EQ(forces.all.undetermined_rod(k), count == 3) << k;
    }
    EXPECT_NEAR(sum, kWeight, 1e-10);
    if (count == 2) {
      EXPECT_NEAR(forces.all.rod_tension(0), 0.5 * kWeight, 1e-10);
    }
  }
}

// In a file with few digits the same components are determined, to these digits.
TEST(ClosedForces, PinsOfAFourBarWithRoundedAxes) {
  const Mechanism exact = four_bar();
  const State at = four_bar_state(exact, 60.0 * kPi / 180.0, 2.0);
  const Forces expected(exact, at, vector({3.0, 0.0, 0.0}));
  for (const double off : {3e-6, 5e-8}) {
    const Mechanism m = rounded_four_bar(off);
    const Forces forces(m, assemble(m, at, {.fixed = {1, 0, 0}}), vector({3.0, 0.0, 0.0}));
    for (const char* pin : {"A", "B", "C", "D"}) {
      EXPECT_EQ(forces.undetermined(pin), expected.undetermined(pin)) << pin;
      const Wrenchd f = forces.on_child(pin), e = expected.on_child(pin);
      EXPECT_NEAR(f.force.x, e.force.x, 1e3 * off) << pin;
      EXPECT_NEAR(f.force.y, e.force.y, 1e3 * off) << pin;
      for (int i = 0; i < 6; ++i) EXPECT_LT(std::abs(f[i]), 1e2) << pin;  // of least norm
    }
  }
}

// The same four-bar in a plane that no axis lies in: no component of its forces is determined, but
// the parts in the plane are, and are those of the reference, turned (V4, 60 degrees).
TEST(ClosedForces, PinsOfATiltedFourBar) {
  const Rotationd turn = Rotationd::from_rpy(0.4, -0.7, 1.1);
  MechanismBuilder b = four_bar().edit();
  b.set_gravity(turn * Vec3d{0.0, -9.81, 0.0});
  for (const char* pin : {"A", "D"}) {
    Transformd& frame = b.hinge(pin).frame_on_parent;
    frame = Transformd{turn, turn * frame.translation};
  }
  const Mechanism m = b.finish();
  const Forces forces(m, four_bar_state(m, 60.0 * kPi / 180.0, 2.0), vector({3.0, 0.0, 0.0}));
  const Vec3d normal = turn * Vec3d::unit_z();
  const struct {
    const char* pin;
    double x, y;
  } cases[] = {{"A", -0.582703774101, 7.98716870631},
               {"B", -2.06199431881, 1.34063857727},
               {"C", -4.94976788929, -2.48578626294},
               {"D", 7.76673394083, 16.4655756853}};
  for (const auto& c : cases) {
    const int hinge = m.hinge_index(c.pin);
    const std::array<bool, 6> mask = forces.undetermined(c.pin);
    EXPECT_TRUE(std::all_of(mask.begin(), mask.end(), [](bool open) { return open; })) << c.pin;
    const auto open = forces.all.open_directions(hinge, ForceAxes::ground);
    ASSERT_EQ(open.force.size(), 1u);
    EXPECT_NEAR(std::abs(dot(open.force[0], normal)), 1.0, 1e-12);
    ASSERT_EQ(open.moment.size(), 2u);
    for (const Vec3d& d : open.moment) EXPECT_NEAR(dot(d, normal), 0.0, 1e-12);
    const Wrenchd known = forces.all.determined(hinge, ForceAxes::ground);
    EXPECT_LT(norm(known.force - turn * Vec3d{c.x, c.y, 0.0}), 1e-9) << c.pin;
    // About the axis a pin transmits the effort alone.
    const double effort = std::string_view(c.pin) == "A" ? 3.0 : 0.0;
    EXPECT_LT(norm(known.moment - effort * normal), 1e-10) << c.pin;
    // The hinge frame on the child has the normal for z: there the mask tells everything.
    EXPECT_EQ(forces.all.undetermined(hinge, ForceAxes::hinge),
              (std::array<bool, 6>{true, true, false, false, false, true}))
        << c.pin;
    const std::vector<bool> across = forces.all.undetermined_constraint_force(hinge);
    EXPECT_EQ(std::count(across.begin(), across.end(), true), 3) << c.pin;
  }
}

TEST(ClosedForces, ABallLeavesOneRowRedundant) {
  const Mechanism m = four_bar(HingeType::spherical);
  const State s = four_bar_state(m, 1.0, 2.0);
  const Forces forces(m, s, vector({3.0, 0.0, 0.0}));
  expect_force(forces.on_child("C").force, -5.077404885647, -2.363219309794);
  EXPECT_FALSE(forces.undetermined("C")[3]);
  EXPECT_TRUE(forces.undetermined("C")[5]);
}

// V7: what is unique there.
TEST(ClosedForces, TwoFourBarsInSeries) {
  const auto [m, s] = two_four_bars();
  const Forces forces(m, s, from_names(m, {1, 2, 0, 0, 0.3, -0.2, 0.5, 0, 0, 0.1}));
  const auto expect_wrench = [&](const char* hinge, std::initializer_list<double> expected) {
    const Wrenchd f = forces.on_child(hinge);
    int i = 0;
    for (const double e : expected) {
      EXPECT_NEAR(f[i], e, 1e-10 * (1.0 + std::abs(e))) << hinge << " " << i;
      EXPECT_FALSE(forces.undetermined(hinge)[index(i)]) << hinge << " " << i;
      ++i;
    }
  };
  expect_wrench("0",
                {8.76888136704, 1, 20.7703179686, 0.600848313745, 82.1395873053, -0.944610071779});
  expect_wrench("4", {1.23851321813, -0.654836813417, 1.61786141444, 0.675846687691, 10.9189749596,
                      2.85035498494});
  expect_wrench("5", {0.0720309809419, 0.171679716235, -0.247595095958, -2.345885171, 1.67467434075,
                      -0.204082644323});
  expect_wrench("9", {0.00109631133275, 0.000842091820873, -6.35657952982e-05, -0.33731917431,
                      0.805063739837, 0.576459026846});
}

// V2: geared motors; the gear's torque is part of what a hinge transmits.
TEST(ClosedForces, GearsOfATwoLinkArm) {
  MechanismBuilder b("arm");
  b.set_gravity({0.0, -9.81, 0.0});
  b.add_body("0", body(3, {0.25, 0, 0}, {0, 0.0625, 0.0625}));
  b.add_body("1", body(0.4, {}, {6e-5, 6e-5, 1.2e-4}));
  b.add_body("2", body(2, {0.2, 0, 0}, {0, 0.03, 0.03}));
  b.add_body("3", body(0.3, {}, {4e-5, 4e-5, 8e-5}));
  b.add_hinge("0", kWorld, "0", {});
  b.add_hinge("1", kWorld, "1", {.frame_on_parent = shift(0, 0, 0.1)});
  b.add_hinge("2", "0", "2", {.frame_on_parent = shift(0.5, 0, 0)});
  b.add_hinge("3", "0", "3", {.frame_on_parent = shift(0.1, 0.02, 0)});
  b.add_coupling({.name = "a", .terms = {{"1", 0, 1.0}, {"0", 0, -100.0}}});
  b.add_coupling({.name = "b", .terms = {{"3", 0, 1.0}, {"2", 0, 60.0}}});
  const Mechanism m = b.finish();
  const State s{from_names(m, {0.6, 60, -0.8, 48}), from_names(m, {1.1, 110, -0.7, 42})};
  const Eigen::VectorXd effort = from_names(m, {0, 0.15, 0, -0.1});
  Workspace w(m);
  expect_near(by_name(m, forward_dynamics(m, s, effort, w)),
              {-2.0550995390995, -205.50995390995, 7.1114967877269, -426.68980726361}, 1e-11);
  const Forces forces(m, s, effort);
  EXPECT_NEAR(forces.all.coupling_multiplier(0), -0.1746611944692, 1e-11);
  EXPECT_NEAR(forces.all.coupling_multiplier(1), 0.06570040745578, 1e-11);
  EXPECT_NEAR(forces.on_child("0").moment.z, 17.4661194469, 1e-9);
  expect_force(forces.on_child("0").force, 0.641270246639, 49.753659321, 1e-10);
  EXPECT_NEAR(forces.on_child("2").moment.z, 3.94202444735, 1e-10);
  expect_force(forces.on_child("2").force, 0.500836554855, 19.2355929816, 1e-10);
}

}  // namespace
}  // namespace catena
