// SPDX-License-Identifier: BSD-3-Clause
// Closed loops as nodes of the tree, against the numbers of the reference solutions for [Jain 2009]
// (its routes: position-only Lagrangian in 60 digits, closed forms, dense equations in absolute
// coordinates).
#include "catena/dynamics/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/dynamics/energy.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/given_acceleration.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/dynamics/testing/closed_cases.h"

namespace catena {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kDigits = 1e-11;  // the reference prints 11 to 14 digits

TEST(Embedding, FourBarAtOneRadian) {
  for (const HingeType cut : {HingeType::revolute, HingeType::spherical, HingeType::cylindrical}) {
    const Mechanism m = four_bar(cut);
    const State s = four_bar_state(m, 1.0, 2.0);
    expect_near(s.q, {1.0, -0.8565862828828, 0.86910229004484}, kDigits);
    expect_near(s.v, {2.0, -1.9180516266456, 1.1385672239739}, kDigits);
    Workspace w(m);
    w.set_chart(choose_chart(m, s.q, {.pinned = {1, 0, 0}}), true);
    expect_near(forward_dynamics(m, s, vector({3.0, 0.0, 0.0}), w),
                {-6.1870216231659, 6.3721298185805, -2.9850732313188}, kDigits);
    EXPECT_NEAR(w.aggregate(0).bias[1], 0.438616374378, 1e-11);
    EXPECT_NEAR(w.aggregate(0).bias[2], 0.5370967857583, 1e-11);
    EXPECT_NEAR(mass_matrix(m, s.q, w)(0, 0), 2.33927762963, 1e-11);
    // The dense route, and other charts.
    expect_near(forward_dynamics(m, s, vector({3.0, 0.0, 0.0}), w, {}, Route::dense),
                {-6.1870216231659, 6.3721298185805, -2.9850732313188}, kDigits);
    for (int k = 1; k < 3; ++k) {
      std::vector<std::uint8_t> pinned(3, 0);
      pinned[index(k)] = 1;
      w.set_chart(choose_chart(m, s.q, {.pinned = pinned}), true);
      expect_near(forward_dynamics(m, s, vector({3.0, 0.0, 0.0}), w),
                  {-6.1870216231659, 6.3721298185805, -2.9850732313188}, 1e-10);
    }
  }
}

// A four-bar in the plane across `axis`, its hinges damped; hinge C closes the loop.
Mechanism damped_four_bar(const Rotationd& turn, double damping, bool damped_cut) {
  MechanismBuilder b("four_bar");
  b.set_gravity(turn * Vec3d{0.0, -9.81, 0.0});
  const auto link = [&](const char* name, double length) {
    b.add_body(name, {.mass = length,
                      .center_of_mass = turn * Vec3d{0.5 * length, 0.0, 0.0},
                      .inertia = SymMat3d::diagonal(0.2, 0.2, 0.2)});
  };
  link("crank", 1.0);
  link("coupler", 2.0);
  link("rocker", 2.0);
  const auto hinge = [&](double x, bool damped) {
    return HingeSettings{.axes = {turn * Vec3d::unit_z()},
                         .frame_on_parent = Transformd::from_translation(turn * Vec3d{x, 0.0, 0.0}),
                         .freedoms = {{.damping = damped ? damping : 0.0}}};
  };
  b.add_hinge("A", kWorld, "crank", hinge(0.0, true));
  b.add_hinge("B", "crank", "coupler", hinge(1.0, true));
  b.add_hinge("D", kWorld, "rocker", hinge(2.0, true));
  HingeSettings cut = hinge(2.0, damped_cut);
  cut.frame_on_child = Transformd::from_translation(turn * Vec3d{2.0, 0.0, 0.0});
  cut.cut = Cut::always;
  b.add_hinge("C", "coupler", "rocker", cut);
  return b.finish();
}

// A cut hinge that is damped keeps its coordinate, whatever its axis. The damping torque of C,
// given as efforts to the mechanism whose C is free, does the same: v_C = v_D − v_A − v_B.
TEST(Embedding, ADampedCutHingeOfAnyAxis) {
  const double damping = 0.7;
  const Vec3d axes[] = {Vec3d::unit_z(), Vec3d::unit_y(), normalized(Vec3d{1.0, 1.0, 1.0}),
                        -Vec3d::unit_z()};
  for (const Vec3d& axis : axes) {
    SCOPED_TRACE(axis.x + 10.0 * axis.y);
    const Rotationd turn = rotation_from_z_to(axis);
    const Mechanism kept = damped_four_bar(turn, damping, true);
    const Mechanism plain = damped_four_bar(turn, damping, false);
    ASSERT_EQ(kept.freedoms(), 4);
    ASSERT_EQ(plain.freedoms(), 3);
    State s = assemble(plain, State{vector({1.0, -0.6, 1.2}), vector({2.0, 0.0, 0.0})},
                       {.fixed = {1, 0, 0}});
    const double rate = s.v[2] - s.v[0] - s.v[1];
    const double torque = -damping * rate;
    const Eigen::VectorXd expected = forward_dynamics(plain, s, vector({-torque, -torque, torque}));
    State t = kept.default_state();
    t.q.head(3) = s.q;
    t.v.head(3) = s.v;
    t = assemble(kept, t, {.fixed = {1, 1, 1, 0}});
    EXPECT_NEAR(t.v[3], rate, 1e-12);
    EXPECT_NEAR(std::remainder(t.q[3] - (s.q[2] - s.q[0] - s.q[1]), 2.0 * kPi), 0.0, 1e-11);
    const Eigen::VectorXd found = forward_dynamics(kept, t, Eigen::VectorXd::Zero(4));
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(found[i], expected[i], 1e-9);
  }
}

TEST(Embedding, FourBarInverseDynamics) {
  const Mechanism m = four_bar();
  const struct {
    double angle, effort;
  } cases[] = {{kPi / 3.0, 20.110682218866}, {7.0 * kPi / 6.0, -7.3514499370643}};
  for (const auto& c : cases) {
    const State s = four_bar_state(m, c.angle, 2.0);
    Workspace w(m);
    w.set_chart(choose_chart(m, s.q, {.pinned = {1, 0, 0}}), true);
    expect_near(inverse_dynamics(m, s, vector({1.5, 0.0, 0.0}), w), {c.effort, 0.0, 0.0}, kDigits);
  }
}

// The same point, its accelerations given at one freedom after the other: each is heard. The effort
// at another freedom has the same power, e v = e_A v_A.
TEST(Embedding, GivenAccelerationsAreHeardOrRefused) {
  const Mechanism m = four_bar();
  const State s = four_bar_state(m, kPi / 3.0, 2.0);
  Workspace w(m);
  const Eigen::VectorXd first =
      inverse_dynamics_given(m, s, vector({1.5, 0.0, 0.0}), std::vector<std::uint8_t>{1, 0, 0}, w);
  expect_near(first, {20.110682218866, 0.0, 0.0}, kDigits);
  const std::vector<double> all(w.all_accelerations().begin(), w.all_accelerations().end());
  for (int k = 1; k < 3; ++k) {
    std::vector<std::uint8_t> given(3, 0);
    given[index(k)] = 1;
    Eigen::VectorXd a = Eigen::VectorXd::Zero(3);
    a[k] = all[index(k)];
    const Eigen::VectorXd effort = inverse_dynamics_given(m, s, a, given, w);
    EXPECT_THAT(w.independent(), ElementsAre(k));
    EXPECT_NEAR(effort[k] * s.v[k], first[0] * s.v[0], 1e-10);
    EXPECT_NEAR(w.all_accelerations()[0], 1.5, 1e-11);
  }
  const std::vector<std::uint8_t> every(3, 1);
  Eigen::VectorXd a = vector({all[0], all[1], all[2]});
  EXPECT_NO_THROW(inverse_dynamics_given(m, s, a, every, w));
  a[1] += 1e-3;
  try {
    inverse_dynamics_given(m, s, a, every, w);
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), HasSubstr("is given as"));
    EXPECT_THAT(e.what(), HasSubstr("by name"));
  }
  w.set_chart(choose_chart(m, s.q, {.pinned = {1, 0, 0}}), true);
  EXPECT_THROW(
      inverse_dynamics_given(m, s, vector({0.0, 1.0, 0.0}), std::vector<std::uint8_t>{0, 1, 0}, w),
      NumericalError);
}

// V4 table, open branch, rate 2, effort 3: absolute accelerations of driver, coupler and rocker.
TEST(Embedding, FourBarTable) {
  const Mechanism m = four_bar();
  const struct {
    double degrees, a1, a2, a3;
  } cases[] = {{0.0, 10.50557952523, -0.786187586925, 4.082547531273},
               {30.0, -13.03983081733, 1.826586708811, -2.391817319892},
               {90.0, -0.9353644439163, 0.1975337561487, -0.8460560402024},
               {150.0, 11.10661418372, 2.138379070927, 2.991260786675},
               {300.0, -1.010178052307, -1.848821018724, -1.292782958009}};
  for (const auto& c : cases) {
    const State s = four_bar_state(m, c.degrees * kPi / 180.0, 2.0);
    const Eigen::VectorXd a = forward_dynamics(m, s, vector({3.0, 0.0, 0.0}));
    expect_near(vector({a[0], a[0] + a[1], a[2]}), {c.a1, c.a2, c.a3}, kDigits);
  }
}

// V6: a child on the coupler.
TEST(Embedding, FourBarWithAnOutboardLink) {
  const Mechanism m = four_bar(HingeType::revolute, true);
  State guess{vector({kPi / 3.0, -0.9, 0.9, -1.0}), vector({2.0, 0.0, 0.0, -1.5})};
  const State s = assemble(m, guess, {.fixed = {1, 0, 0, 1}});
  expect_near(s.v, {2.0, -1.9080591889999, 1.14996416961, -1.5}, kDigits);
  const Eigen::VectorXd effort = vector({3.0, 0.0, 0.0, 0.4});
  Workspace w(m);
  w.set_chart(choose_chart(m, s.q, {.pinned = {1, 0, 0, 0}}), true);
  expect_near(forward_dynamics(m, s, effort, w),
              {-6.0875402453769, 6.2167393535106, -3.0695387070423, -3.7923619384691}, kDigits);
  expect_near(forward_dynamics(m, s, effort, w, {}, Route::dense),
              {-6.0875402453769, 6.2167393535106, -3.0695387070423, -3.7923619384691}, kDigits);
  const Eigen::MatrixXd mass = mass_matrix(m, s.q, w);
  EXPECT_NEAR(mass(0, 0), 2.95182893734, 1e-11);
  EXPECT_NEAR(mass(0, 1), -0.0895075493125, 1e-12);
  EXPECT_NEAR(mass(1, 1), 0.375, 1e-14);
  // The same with the link's acceleration given: it asks for the effort that was applied.
  const HybridInput input{{0, 0, 0, 1}, effort, vector({0.0, 0.0, 0.0, -3.7923619384691})};
  const HybridResult hybrid = hybrid_dynamics(m, s, input);
  expect_near(hybrid.acceleration,
              {-6.0875402453769, 6.2167393535106, -3.0695387070423, -3.7923619384691}, kDigits);
  EXPECT_NEAR(hybrid.effort[3], 0.4, 1e-11);
  // And with the rocker's: no effort was applied there.
  const HybridInput rocker{{0, 0, 1, 0}, effort, vector({0.0, 0.0, -3.0695387070423, 0.0})};
  const HybridResult driven = hybrid_dynamics(m, s, rocker);
  expect_near(driven.acceleration,
              {-6.0875402453769, 6.2167393535106, -3.0695387070423, -3.7923619384691}, kDigits);
  EXPECT_NEAR(driven.effort[2], 0.0, 1e-10);
}

// V5: offset slider-crank.
TEST(Embedding, SliderCrank) {
  MechanismBuilder b("slider_crank");
  b.set_gravity({0.0, -9.81, 0.0});
  b.add_body("crank", rod(1.0, 0.3)).add_body("rod", rod(2.0, 1.0));
  b.add_body("slider", body(3.0, {}, {0.01, 0.01, 0.01}));
  b.add_hinge("crank", kWorld, "crank", {});
  b.add_hinge("rod", "crank", "rod", {.frame_on_parent = shift(0.3, 0, 0)});
  b.add_hinge(
      "slider", kWorld, "slider",
      {.type = HingeType::prismatic, .axes = {{1, 0, 0}}, .frame_on_parent = shift(0, 0.05, 0)});
  b.add_hinge("pin", "rod", "slider", {.frame_on_parent = shift(1, 0, 0), .cut = Cut::always});
  const Mechanism m = b.finish();
  const State s =
      assemble(m, State{vector({0.7, -0.8, 1.2}), vector({10.0, 0.0, 0.0})}, {.fixed = {1, 0, 0}});
  expect_near(s.q, {0.7, -0.84375997429018, 1.2191369755759}, kDigits);
  expect_near(s.v, {10.0, -12.318442878095, -2.264805490484}, kDigits);
  expect_near(forward_dynamics(m, s, vector({4.0, 0.0, -50.0})),
              {-41.248199374645, 69.561230656007, -16.236873408146}, kDigits);
}

// V3: a geared motor with its gyroscopic effect.
TEST(Embedding, GearedMotorInSpace) {
  MechanismBuilder b("geared");
  b.add_body("0", body(3.0, {0, 0, 0.1}, {0.05, 0.05, 0.04}));
  b.add_body("1", body(1.5, {0, 0, 0.05}, {0.01, 0.012, 0.008}));
  b.add_body("2", body(0.8, {0.25, 0, 0}, {0.001, 0.006, 0.006}));
  b.add_body("3", body(0.2, {0, 0.02, 0}, {2e-5, 4e-5, 2e-5}));
  b.add_hinge("0", kWorld, "0", {});
  b.add_hinge("1", "0", "1", {.axes = {{1, 0, 0}}, .frame_on_parent = shift(0, 0, 0.3)});
  b.add_hinge("2", "1", "2", {.axes = {{0, 1, 0}}, .frame_on_parent = shift(0.1, 0, 0.1)});
  b.add_hinge("3", "1", "3", {.axes = {{0, 1, 0}}, .frame_on_parent = shift(-0.05, 0, 0.05)});
  b.add_coupling({.name = "gear", .terms = {{"3", 0, 1.0}, {"2", 0, -80.0}}});
  const Mechanism m = b.finish();
  const State s{vector({0.3, 0.4, 0.5, 40.0}), vector({0.7, -0.5, 2.0, 160.0})};
  Workspace w(m);
  w.set_chart(choose_chart(m, s.q, {.pinned = {0, 0, 1, 0}}), true);
  expect_near(forward_dynamics(m, s, vector({0, 0, 0, 0.05}), w),
              {-2.4897547798903, 16.16360164714, 18.077290608851, 1446.183248708}, kDigits);
  const Eigen::MatrixXd mass = mass_matrix(m, s.q, w);
  EXPECT_NEAR(mass(0, 2), 0.0261545588244, 1e-12);
  EXPECT_NEAR(mass(2, 2), 0.312, 1e-14);
  // The motor as the independent freedom.
  w.set_chart(choose_chart(m, s.q, {.pinned = {0, 0, 0, 1}}), true);
  expect_near(forward_dynamics(m, s, vector({0, 0, 0, 0.05}), w),
              {-2.4897547798903, 16.16360164714, 18.077290608851, 1446.183248708}, kDigits);
}

// A gear does not let its wheels turn as they like, whichever of them is independent.
TEST(Embedding, StatesThatViolateAGearAreRefused) {
  MechanismBuilder b("geared");
  b.add_body("arm", body(1.0, {0.1, 0, 0}, {0.01, 0.02, 0.02}));
  b.add_body("motor", body(0.2, {}, {1e-4, 1e-4, 1e-4}));
  b.add_hinge("arm", kWorld, "arm", {});
  b.add_hinge("motor", kWorld, "motor", {.frame_on_parent = shift(0.2, 0, 0)});
  b.add_coupling(
      {.name = "gear", .terms = {{"motor", 0, 1.0}, {"arm", 0, -80.0}}, .constant = 0.4});
  const Mechanism m = b.finish();
  const State good{vector({0.5, 40.4}), vector({2.0, 160.0})};
  const Eigen::VectorXd effort = vector({0.0, 0.05});
  for (const std::vector<std::uint8_t>& pinned :
       {std::vector<std::uint8_t>{1, 0}, std::vector<std::uint8_t>{0, 1}}) {
    Workspace w(m);
    w.set_chart(choose_chart(m, good.q, {.pinned = pinned}), true);
    forward_dynamics(m, good, effort, w);
    const auto message = [&](const Eigen::VectorXd& dq, const Eigen::VectorXd& dv) {
      const State state{good.q + dq, good.v + dv};
      try {
        inverse_dynamics(m, state, vector({1.0, 80.0}), w);
        forward_dynamics(m, state, effort, w);
      } catch (const NumericalError& e) {
        return std::string(e.what());
      }
      return std::string();
    };
    const Eigen::VectorXd none = vector({0.0, 0.0});
    EXPECT_EQ(message(none, none), "");
    EXPECT_EQ(message(none, vector({1e-9, 0.0})), "");  // rounding of the user's own numbers
    for (const double off : {1e-3, 1.0, 1e6}) {
      EXPECT_NE(message(none, vector({off, 0.0})).find("velocities do not keep"),
                std::string::npos);
      EXPECT_NE(message(none, vector({0.0, 80.0 * off})).find("velocities do not keep"),
                std::string::npos);
    }
    EXPECT_NE(message(vector({1e-3, 0.0}), none).find("coupling 'gear' is not satisfied"),
              std::string::npos);
  }
}

// A function that is not defined in a position is named, not only its loop.
TEST(Embedding, ACouplingThatIsNotANumberIsNamed) {
  MechanismBuilder b("roots");
  const BodySettings ball{.mass = 1.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)};
  b.add_body("a", ball).add_body("c", ball).add_hinge("h", kWorld, "a").add_hinge("k", "a", "c");
  b.add_coupling({.name = "root",
                  .terms = {{"h", 0}, {"k", 0}},
                  .function = [](std::span<const double> q, double& value,
                                 std::span<double> gradient, std::span<double> hessian) {
                    value = q[0] - std::sqrt(q[1]);
                    gradient[0] = 1.0;
                    gradient[1] = -0.5 / std::sqrt(q[1]);
                    std::fill(hessian.begin(), hessian.end(), 0.0);
                    hessian[3] = 0.25 / (q[1] * std::sqrt(q[1]));
                  }});
  const Mechanism m = b.finish();
  Workspace w(m);
  std::string message;
  try {
    forward_dynamics(m, {vector({0.5, -0.25}), vector({0.0, 0.0})}, vector({0.0, 0.0}), w);
  } catch (const NumericalError& e) {
    message = e.what();
  }
  EXPECT_NE(message.find("coupling 'root' is not a number"), std::string::npos) << message;
}

TEST(Embedding, TwoFourBarsInSeries) {
  const auto [m, s] = two_four_bars();
  ASSERT_EQ(m.loops().size(), 2u);
  expect_near(by_name(m, s.v),
              {0.9, 1.5, -1.7026358608146, 0.68665251088456, -0.8, 1.3, 2, -2.5073340135364,
               0.73856695187282, 0.25},
              kDigits);
  const Eigen::VectorXd effort = from_names(m, {1, 2, 0, 0, 0.3, -0.2, 0.5, 0, 0, 0.1});
  Workspace w(m);
  for (const Route route : {Route::recursive, Route::dense})
    expect_near(
        by_name(m, forward_dynamics(m, s, effort, w, {}, route)),
        {2.2991482087043, -13.719905302976, 16.195576592889, -5.2885630834333, 6.0660036593142,
         -33.465494827904, 11.25193874893, -12.552167593531, 6.754595725008, -1.6025050073455},
        kDigits);
  std::vector<std::uint8_t> pinned(10, 0);
  for (const int i : {1, 6}) pinned[index(m.velocity_index(std::to_string(i)))] = 1;
  w.set_chart(choose_chart(m, s.q, {.pinned = pinned}), true);
  const Eigen::VectorXd a = from_names(m, {0.5, -1.0, 0, 0, 0.7, 0.2, -0.4, 0, 0, 0.3});
  expect_near(by_name(m, inverse_dynamics(m, s, a, w)),
              {-0.63033238760567, 4.3157348908021, 0, 0, -1.920197404484, 0.51781467990252,
               0.50247599792044, 0, 0, 0.49345580281294},
              kDigits);
}

// V8: a differential on a turning base.
TEST(Embedding, Differential) {
  MechanismBuilder b("differential");
  b.add_body("0", body(4, {0.2, 0, 0}, {0.02, 0.08, 0.09}));
  for (const char* motor : {"1", "2"}) b.add_body(motor, body(0.25, {}, {1.5e-5, 3e-5, 1.5e-5}));
  b.add_body("3", body(0.5, {0.02, 0, 0}, {0.0006, 0.0008, 0.0007}));
  b.add_body("4", body(1.2, {0.15, 0.03, -0.02}, {0.004, 0.011, 0.012}));
  b.add_hinge("0", kWorld, "0", {});
  b.add_hinge("1", "0", "1", {.axes = {{0, 1, 0}}, .frame_on_parent = shift(0.1, 0.1, 0)});
  b.add_hinge("2", "0", "2", {.axes = {{0, 1, 0}}, .frame_on_parent = shift(0.1, -0.1, 0)});
  b.add_hinge("3", "0", "3", {.axes = {{0, 1, 0}}, .frame_on_parent = shift(0.4, 0, 0)});
  b.add_hinge("4", "3", "4", {.axes = {{1, 0, 0}}, .frame_on_parent = shift(0.05, 0, 0)});
  b.add_coupling({.name = "sum", .terms = {{"1", 0, 1.0}, {"3", 0, -10.0}, {"4", 0, -10.0}}});
  b.add_coupling({.name = "gap", .terms = {{"2", 0, 1.0}, {"3", 0, -10.0}, {"4", 0, 10.0}}});
  const Mechanism m = b.finish();
  const State s{from_names(m, {0.2, 11, -3, 0.4, 0.7}), from_names(m, {0.8, 5, 17, 1.1, -0.6})};
  expect_near(by_name(m, forward_dynamics(m, s, from_names(m, {0.5, 0.05, 0.02, 0, 0}))),
              {0.7998607282552, 772.78294029221, 188.23069356336, 48.050681692778, 29.227612336443},
              kDigits);
}

TEST(Embedding, AnOpenPositionIsRefused) {
  const Mechanism m = four_bar();
  State s = four_bar_state(m, 1.0, 2.0);
  Workspace w(m);
  forward_dynamics(m, s, Eigen::Vector3d::Zero(), w);
  s.q[1] += 1e-3;
  try {
    forward_dynamics(m, s, Eigen::Vector3d::Zero(), w);
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), HasSubstr("hinge 'C' is open by"));
  }
  s = four_bar_state(m, 1.0, 2.0);
  s.v[2] += 1e-3;
  EXPECT_THROW(forward_dynamics(m, s, Eigen::Vector3d::Zero(), w), NumericalError);
}

// The four-bar's rod as a distance: the coupler without mass, so without a body.
TEST(Embedding, ARodReplacesAMasslessCoupler) {
  const auto build = [](bool with_rod) {
    MechanismBuilder b("rod");
    b.set_gravity({0.0, -9.81, 0.0});
    b.add_body("driver", rod(1.0, 1.0)).add_body("rocker", rod(2.0, 2.0));
    b.add_hinge("A", kWorld, "driver", {});
    b.add_hinge("D", kWorld, "rocker", {.frame_on_parent = shift(4, 0, 0)});
    if (with_rod) {
      b.add_rod({.name = "coupler",
                 .body_a = "driver",
                 .point_a = {1, 0, 0},
                 .body_b = "rocker",
                 .point_b = {2, 0, 0},
                 .length = 4.8});
    } else {
      b.add_body("coupler", {});
      b.add_hinge("B", "driver", "coupler", {.frame_on_parent = shift(1, 0, 0)});
      b.add_hinge("C", "coupler", "rocker",
                  {.frame_on_parent = shift(4.8, 0, 0),
                   .frame_on_child = shift(2, 0, 0),
                   .cut = Cut::always});
    }
    return b.finish();
  };
  const Mechanism with_rod = build(true), with_body = build(false);
  const State r =
      assemble(with_rod, State{vector({1.0, 1.0}), vector({2.0, 0.0})}, {.fixed = {1, 0}});
  Eigen::VectorXd q(3), v(3);
  const int driver = with_body.velocity_index("A"), coupler = with_body.velocity_index("B"),
            rocker = with_body.velocity_index("D");
  q[driver] = r.q[0];
  q[coupler] = -0.85;
  q[rocker] = r.q[1];
  v[driver] = 2.0;
  v[coupler] = v[rocker] = 0.0;
  std::vector<std::uint8_t> fixed(3, 0);
  fixed[index(driver)] = 1;
  const State s = assemble(with_body, State{q, v}, {.fixed = fixed});
  EXPECT_NEAR(s.q[rocker], r.q[1], 1e-12);
  EXPECT_NEAR(s.v[rocker], r.v[1], 1e-12);
  const Eigen::VectorXd by_rod = forward_dynamics(with_rod, r, vector({3.0, 0.0}));
  Eigen::VectorXd effort = Eigen::VectorXd::Zero(3);
  effort[driver] = 3.0;
  const Eigen::VectorXd by_body = forward_dynamics(with_body, s, effort);
  EXPECT_NEAR(by_rod[0], by_body[driver], 1e-11);
  EXPECT_NEAR(by_rod[1], by_body[rocker], 1e-11);
}

// What acts at a hinge acts whether the hinge is cut or not: the same four-bar, cut at C or at D.
TEST(Embedding, ACutHingeKeepsWhatActsAtIt) {
  const auto build = [](bool cut_at_c, bool drive) {
    MechanismBuilder b("damped");
    b.set_gravity({0.0, -9.81, 0.0});
    b.add_body("driver", rod(1.0, 1.0)).add_body("coupler", rod(1.0, 4.8));
    b.add_body("rocker", rod(2.0, 2.0));
    b.add_hinge("A", kWorld, "driver", {});
    b.add_hinge("B", "driver", "coupler", {.frame_on_parent = shift(1, 0, 0)});
    HingeSettings c{.frame_on_parent = shift(4.8, 0, 0),
                    .frame_on_child = shift(2, 0, 0),
                    .freedoms = {{.damping = 0.7, .stiffness = 2.0, .rest = 0.3}},
                    .cut = cut_at_c ? Cut::always : Cut::automatic};
    if (drive) c.drive = DriveSettings{.rotor_inertia = 0.01, .gear_ratio = 6.0};
    b.add_hinge("C", "coupler", "rocker", c);
    b.add_hinge(
        "D", kWorld, "rocker",
        {.frame_on_parent = shift(4, 0, 0), .cut = cut_at_c ? Cut::automatic : Cut::always});
    return b.finish();
  };
  for (const bool drive : {false, true}) {
    Eigen::VectorXd found[2];
    for (const bool cut_at_c : {false, true}) {
      const Mechanism m = build(cut_at_c, drive);
      EXPECT_TRUE(m.warnings().empty());
      EXPECT_EQ(m.tree_freedoms(), 3);
      State guess{Eigen::VectorXd::Zero(m.freedoms()), Eigen::VectorXd::Zero(m.freedoms())};
      std::vector<std::uint8_t> fixed(to_size(m.freedoms()), 0);
      fixed[index(m.velocity_index("A"))] = 1;
      guess.q[m.velocity_index("A")] = 1.0;
      guess.v[m.velocity_index("A")] = 2.0;
      guess.q[m.velocity_index("B")] = -0.857;
      guess.q[m.velocity_index("C")] = 0.869 - 0.143;
      const State s = assemble(m, guess, {.fixed = fixed});
      EXPECT_NEAR(s.q[m.velocity_index("B")], -0.8565862828828, 1e-11);
      const Eigen::VectorXd a = forward_dynamics(m, s, Eigen::VectorXd::Zero(m.freedoms()));
      found[cut_at_c] =
          vector({a[m.velocity_index("A")], a[m.velocity_index("B")], a[m.velocity_index("C")]});
    }
    EXPECT_LT((found[0] - found[1]).norm(), 1e-11 * found[0].norm());
    EXPECT_GT(std::abs(found[0][0] + 6.187), 0.1);  // it does act
  }
}

}  // namespace
}  // namespace catena
