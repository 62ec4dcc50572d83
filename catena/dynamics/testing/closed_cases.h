// SPDX-License-Identifier: BSD-3-Clause
// Closed mechanisms of the reference solutions for [Jain 2009] (cases V4, V6, V7), for several
// tests.
#pragma once

#include <initializer_list>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/closure/assembly.h"
#include "catena/model/builder.h"

namespace catena {

inline constexpr double kPi = std::numbers::pi;

inline Transformd shift(double x, double y, double z) {
  return Transformd::from_translation({x, y, z});
}

inline BodySettings body(double mass, const Vec3d& center, const Vec3d& inertia) {
  return {.mass = mass,
          .center_of_mass = center,
          .inertia = SymMat3d::diagonal(inertia.x, inertia.y, inertia.z)};
}
// A thin rod along x from the origin.
inline BodySettings rod(double mass, double length, double axial = 0.0) {
  const double i = mass * length * length / 12.0;
  return body(mass, {length / 2.0, 0.0, 0.0}, {axial, i, i});
}

inline Eigen::VectorXd vector(std::initializer_list<double> x) {
  return Eigen::Map<const Eigen::VectorXd>(x.begin(), static_cast<Eigen::Index>(x.size()));
}

inline void expect_near(const Eigen::VectorXd& value, std::initializer_list<double> expected,
                        double relative) {
  ASSERT_EQ(value.size(), static_cast<Eigen::Index>(expected.size()));
  Eigen::Index i = 0;
  for (const double e : expected) {
    EXPECT_NEAR(value[i], e, relative * std::max(1.0, std::abs(e))) << "entry " << i;
    ++i;
  }
}

// V4: planar four-bar with an ordinary pin at the cut (three redundant rows).
inline Mechanism four_bar(HingeType cut = HingeType::revolute, bool outboard_link = false) {
  MechanismBuilder b("four_bar");
  b.set_gravity({0.0, -9.81, 0.0});
  b.add_body("driver", rod(1.0, 1.0));
  b.add_body("coupler", rod(1.0, 4.8));
  b.add_body("rocker", rod(2.0, 2.0));
  b.add_hinge("A", kWorld, "driver", {});
  b.add_hinge("B", "driver", "coupler", {.frame_on_parent = shift(1, 0, 0)});
  b.add_hinge("D", kWorld, "rocker", {.frame_on_parent = shift(4, 0, 0)});
  if (outboard_link) {
    b.add_body("link", rod(0.5, 1.5));
    b.add_hinge("E", "coupler", "link", {.frame_on_parent = shift(2.4, 0.5, 0)});
  }
  b.add_hinge("C", "coupler", "rocker",
              {.type = cut,
               .frame_on_parent = shift(4.8, 0, 0),
               .frame_on_child = shift(2, 0, 0),
               .cut = Cut::always});
  return b.finish();
}

// The same with axes that are off by so much, as in a file with few digits.
inline Mechanism rounded_four_bar(double off) {
  MechanismBuilder b = four_bar().edit();
  b.hinge("A").axes = {{0.3 * off, -off, 1.0}};
  b.hinge("B").axes = {{-off, 0.6 * off, 1.0}};
  b.hinge("C").axes = {{0.8 * off, 0.4 * off, 1.0}};
  b.hinge("D").axes = {{off, -0.2 * off, 1.0}};
  return b.finish();
}

inline State four_bar_state(const Mechanism& m, double driver, double rate,
                            double coupler_guess = 0.0) {
  State guess{Eigen::VectorXd::Zero(m.freedoms()), Eigen::VectorXd::Zero(m.freedoms())};
  guess.q.head(3) << driver, coupler_guess == 0.0 ? 0.3 - driver : coupler_guess, 1.0;
  guess.v[0] = rate;
  std::vector<std::uint8_t> fixed(to_size(m.freedoms()), 0);
  fixed[0] = 1;
  return assemble(m, guess, {.fixed = fixed});
}

// V7: two four-bars in series in space, several children on each.
struct TwoFourBars {
  Mechanism m;
  State s;
};
inline TwoFourBars two_four_bars() {
  MechanismBuilder b("two_four_bars");
  b.set_gravity({0.0, -9.81, 0.0});
  const auto thin = [](double mass, double length) { return rod(mass, length, 1e-4); };
  b.add_body("0", body(5, {0, 0.5, 0}, {0.2, 0.1, 0.2}));
  b.add_body("1", thin(0.6, 0.3)).add_body("2", thin(1.0, 0.8)).add_body("3", thin(0.8, 0.5));
  b.add_body("4", body(0.7, {0, 0.25, 0}, {0.015, 0.001, 0.015}));
  b.add_body("5", body(0.4, {0, -0.2, 0}, {0.004, 0.0002, 0.004}));
  b.add_body("6", thin(0.2, 0.25)).add_body("7", thin(0.3, 0.55)).add_body("8", thin(0.25, 0.4));
  b.add_body("9", body(0.15, {}, {2e-4, 2e-4, 2e-4}));
  const auto at = [](double x, double y, double z, Vec3d axis = {0, 0, 1}) {
    return HingeSettings{.axes = {axis}, .frame_on_parent = shift(x, y, z)};
  };
  b.add_hinge("0", kWorld, "0", at(0, 0, 0, {0, 1, 0}));
  b.add_hinge("1", "0", "1", at(0.1, 1, 0));
  b.add_hinge("2", "1", "2", at(0.3, 0, 0));
  b.add_hinge("3", "0", "3", at(0.9, 1, 0));
  b.add_hinge("4", "2", "4", at(0.4, 0, 0, {1, 0, 0}));
  b.add_hinge("5", "3", "5", at(0.3, 0, 0.05));
  b.add_hinge("6", "4", "6", at(0, 0.5, 0));
  b.add_hinge("7", "6", "7", at(0.25, 0, 0));
  b.add_hinge("8", "4", "8", at(0.6, 0.5, 0));
  b.add_hinge(
      "9", "7", "9",
      {.type = HingeType::prismatic, .axes = {{1, 0, 0}}, .frame_on_parent = shift(0.2, 0, 0)});
  b.add_hinge("cut_1", "2", "3",
              {.frame_on_parent = shift(0.8, 0, 0),
               .frame_on_child = shift(0.5, 0, 0),
               .cut = Cut::always});
  b.add_hinge("cut_2", "7", "8",
              {.frame_on_parent = shift(0.55, 0, 0),
               .frame_on_child = shift(0.4, 0, 0),
               .cut = Cut::always});
  TwoFourBars result{b.finish(), {}};
  // The order of freedoms is that of the nodes; fill in by name.
  const Mechanism& m = result.m;
  const double q[] = {0.4, 1.0, -0.7, 1.2, 0.3, -0.5, 0.9, -0.6, 1.2, 0.04};
  const double v[] = {0.9, 1.5, 0.0, 0.0, -0.8, 1.3, 2.0, 0.0, 0.0, 0.25};
  State guess{Eigen::VectorXd::Zero(10), Eigen::VectorXd::Zero(10)};
  std::vector<std::uint8_t> fixed(10, 0);
  for (int i = 0; i < 10; ++i) {
    const int k = m.velocity_index(std::to_string(i));
    guess.q[k] = q[i];
    guess.v[k] = v[i];
    fixed[index(k)] = i == 2 || i == 3 || i == 7 || i == 8 ? 0 : 1;
  }
  result.s = assemble(m, guess, {.fixed = fixed});
  return result;
}

// A platform on six legs that stands on a floating base: one aggregate of six independent freedoms
// with universal, prismatic and spherical hinges, rotors on two of the sliders, and a body on the
// platform.
inline Mechanism platform() {
  MechanismBuilder b("platform");
  b.set_gravity({0.0, 0.0, -9.81});
  b.add_body("base", body(20.0, {0, 0, -0.1}, {2.0, 2.1, 3.0}));
  b.add_hinge("base", kWorld, "base", {.type = HingeType::free});
  b.add_body("plate", body(5.0, {0.01, 0.02, 0.03}, {0.3, 0.31, 0.5}));
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    const double low = kPi / 3.0 * i + (i % 2 == 0 ? 0.15 : -0.15);
    const double high = kPi / 3.0 * i + (i % 2 == 0 ? 0.4 : -0.4);
    const Vec3d foot{0.8 * std::cos(low), 0.8 * std::sin(low), 0.0};
    const Vec3d head{0.5 * std::cos(high), 0.5 * std::sin(high), 0.0};
    b.add_body("barrel" + n, rod(1.0, 0.4, 1e-3)).add_body("piston" + n, rod(0.6, 0.4, 1e-3));
    // The barrel's x axis points from the foot to the head of the leg.
    const Vec3d along = normalized(head + Vec3d{0, 0, 0.9} - foot);
    const Vec3d across = normalized(cross(Vec3d{0, 0, 1}, along));
    HingeSettings ankle{.type = HingeType::universal, .axes = {{0, 1, 0}, {0, 0, 1}}};
    ankle.frame_on_parent = {Rotationd{Mat3d::from_columns(along, across, cross(along, across))},
                             foot};
    b.add_hinge("ankle" + n, "base", "barrel" + n, ankle);
    HingeSettings slide{.type = HingeType::prismatic, .axes = {{1, 0, 0}}};
    slide.frame_on_parent = shift(norm(head + Vec3d{0, 0, 0.9} - foot) - 0.4, 0, 0);
    if (i < 2) slide.drive = DriveSettings{.rotor_inertia = 1e-4, .gear_ratio = 300.0};
    b.add_hinge("slide" + n, "barrel" + n, "piston" + n, slide);
    HingeSettings hip{.type = HingeType::spherical, .frame_on_parent = shift(0.4, 0, 0)};
    hip.frame_on_child = Transformd::from_translation(head);
    b.add_hinge("hip" + n, "piston" + n, "plate", hip);
  }
  b.add_body("mast", rod(0.4, 0.5, 1e-3));
  b.add_hinge("mast", "plate", "mast",
              {.axes = {{0, 1, 0}}, .frame_on_parent = shift(0, 0.1, 0.1)});
  return b.finish();
}

inline Eigen::VectorXd by_name(const Mechanism& m, const Eigen::VectorXd& x) {
  Eigen::VectorXd result(x.size());
  for (int i = 0; i < x.size(); ++i) result[i] = x[m.velocity_index(std::to_string(i))];
  return result;
}
inline Eigen::VectorXd from_names(const Mechanism& m, std::initializer_list<double> x) {
  Eigen::VectorXd result(static_cast<Eigen::Index>(x.size()));
  int i = 0;
  for (const double e : x) result[m.velocity_index(std::to_string(i++))] = e;
  return result;
}

}  // namespace catena
