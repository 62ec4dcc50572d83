// SPDX-License-Identifier: BSD-3-Clause
// Gradients along motions of closed mechanisms: rotations by quaternion inside loops, independent
// freedoms that change on the way, and parameters of the loops' geometry, against differences of
// whole motions of mechanisms rebuilt with the parameter changed and assembled again.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/closure/assembly.h"
#include "catena/closure/chart.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/model/builder.h"
#include "catena/model/configuration.h"
#include "catena/trajectory/local_coordinates.h"
#include "catena/trajectory/sensitivity.h"

namespace catena {
namespace {

using Eigen::VectorXd;

// A crank and a rocker about skew axes in space, a coupler between them on balls, or with a
// universal hinge at the rocker. Balls: it can spin about its line, so that one freedom of a
// spherical hinge is independent and two are not.
Mechanism spatial_four_bar(HingeType at_rocker) {
  MechanismBuilder b("spatial");
  b.set_gravity({0.5, 0.3, -9.81});
  b.add_body("crank", body(0.8, {0.15, 0.02, 0.01}, {0.01, 0.02, 0.02}));
  b.add_body("coupler", body(1.1, {0.45, 0.03, 0.3}, {0.06, 0.09, 0.07}));
  b.add_body("rocker", body(0.9, {0.02, 0.01, 0.3}, {0.03, 0.03, 0.01}));
  HingeSettings crank{.axes = {{0.1, 0.2, 1.0}}};
  crank.freedoms = {{.damping = 0.05}};
  b.add_hinge("crank", kWorld, "crank", crank);
  b.add_hinge("ball", "crank", "coupler",
              {.type = HingeType::spherical, .frame_on_parent = shift(0.3, 0, 0)});
  HingeSettings rocker{.axes = {{0.2, 1.0, 0.1}}, .frame_on_parent = shift(1.2, 0, 0)};
  rocker.freedoms = {{.stiffness = 3.0, .rest = 0.1}};
  b.add_hinge("rocker", kWorld, "rocker", rocker);
  HingeSettings joint{.type = at_rocker,
                      .frame_on_parent = shift(0.9, 0, 0.6),
                      .frame_on_child = shift(0, 0, 0.6),
                      .cut = Cut::always};
  if (at_rocker == HingeType::universal) joint.axes = {{1, 0, 0}, {0, 1, 0}};
  b.add_hinge("joint", "coupler", "rocker", joint);
  return b.finish();
}

// The same positions and velocities at the freedoms `held`, closed again.
State closed_again(const Mechanism& m, const State& guess, const std::vector<int>& held) {
  AssemblySettings settings;
  settings.keep_limits = false;
  settings.fixed.assign(to_size(m.freedoms()), 0);
  for (const int i : held) settings.fixed[index(i)] = 1;
  return assemble(m, guess, settings);
}

std::vector<int> independent_at(const Mechanism& m, const VectorXd& q) {
  return choose_chart(m, q).independent(m.freedoms());
}

State moving(const Mechanism& m, double crank, double speed) {
  State guess = m.default_state();
  const int i = m.velocity_index("crank");
  guess.q[m.coordinate_of_freedom()[index(i)]] = crank;
  State start = closed_again(m, guess, {i});
  start.v = 0.4 * VectorXd::Ones(m.freedoms());
  start.v[i] = speed;
  return closed_again(m, start, independent_at(m, start.q));
}

SplineInput effort_splines(const Mechanism& m, double duration, int coefficients) {
  std::vector<SplineInput::Spline> splines;
  splines.reserve(to_size(m.freedoms()));
  for (int i = 0; i < m.freedoms(); ++i)
    splines.push_back({.freedom = i, .degree = 2, .coefficients = coefficients});
  return SplineInput(m, duration, splines);
}

// By positions, velocities, accelerations and efforts of all freedoms, along the way and at its
// end. Positions of freedoms without a coordinate of their own are not in it.
class EverythingCost final : public TrajectoryCost {
 public:
  explicit EverythingCost(const Mechanism& m, bool terminal_rates = true)
      : m_(m), terminal_rates_(terminal_rates) {}
  double running(const CostPoint& x, CostGradient* g) const override {
    return value(x, 0.2, 0.01, 0.05, g);
  }
  double terminal(const CostPoint& x, CostGradient* g) const override {
    return value(x, 1.5, terminal_rates_ ? 0.02 : 0.0, 0.0, g);
  }

 private:
  double value(const CostPoint& x, double of_state, double of_rate, double of_effort,
               CostGradient* g) const {
    double sum = 0.0;
    for (int i = 0; i < m_.freedoms(); ++i) {
      const double weight = 1.0 + 0.3 * i;
      const auto add = [&](double w, double v, VectorXd CostGradient::*part) {
        sum += w * weight * (v - 0.2) * (v - 0.2);
        if (g != nullptr) (g->*part)[i] += 2.0 * w * weight * (v - 0.2);
      };
      const int c = m_.coordinate_of_freedom()[index(i)];
      if (c >= 0) add(of_state, x.state.q[c], &CostGradient::q);
      add(of_state, x.state.v[i], &CostGradient::v);
      add(of_rate, x.acceleration[i], &CostGradient::acceleration);
      add(of_effort, x.effort[i], &CostGradient::effort);
    }
    return sum;
  }
  const Mechanism& m_;
  bool terminal_rates_;
};

// Of order four: step⁴, and 1e-15 / step of the value (closing loops rounds a little more).
template <class F>
double slope(F f, double e) {
  return (8.0 * (f(e) - f(-e)) - (f(2 * e) - f(-2 * e))) / (12.0 * e);
}

void expect_close(double found, double expected, double tolerance, const std::string& what) {
  EXPECT_NEAR(found, expected, tolerance * std::max(1.0, std::abs(expected))) << what;
}

// Coarse steps on purpose: the gradient is that of the computed cost.
void expect_exact(const Mechanism& m, const State& start, Method method) {
  const SplineInput input = effort_splines(m, 0.4, 3);
  const EverythingCost cost(m);
  TrajectorySettings settings{.duration = 0.4};
  settings.integrator.method = method;
  settings.integrator.step = 0.04;
  const VectorXd p = random_vector(input.parameters(), 5);
  TrajectorySensitivity along(m, input, cost, settings);
  const TrajectoryGradient g = along.gradient(start, p);
  EXPECT_NEAR(g.cost, along.simulate(start, p), 1e-12 * std::abs(g.cost));
  for (Eigen::Index k = 0; k < p.size(); ++k) {
    const auto at = [&](double e) {
      VectorXd x = p;
      x[k] += e;
      return along.simulate(start, x);
    };
    expect_close(g.input[k], slope(at, 1e-3), 1e-9, "input " + std::to_string(k));
  }
  const std::vector<int> own = g.independent;
  for (std::size_t k = 0; k < own.size(); ++k) {
    const Eigen::Index place = static_cast<Eigen::Index>(k);
    const auto faster = [&](double e) {
      State s = start;
      s.v[own[k]] += e;
      return along.simulate(closed_again(m, s, own), p);
    };
    expect_close(g.initial_v[place], slope(faster, 1e-3), 1e-8, "v " + std::to_string(k));
    // Along the tangent direction of an independent freedom the others follow.
    const auto moved = [&](double e) {
      State s = start;
      VectorXd d = VectorXd::Zero(m.freedoms());
      d[own[k]] = e;
      s.q = integrate(m, s.q, d);
      return along.simulate(closed_again(m, s, own), p);
    };
    expect_close(g.initial_q[place], slope(moved, 1e-3), 1e-8, "q " + std::to_string(k));
  }
  // Checkpoints change nothing.
  settings.kept_states = 2;
  const TrajectoryGradient few = TrajectorySensitivity(m, input, cost, settings).gradient(start, p);
  EXPECT_EQ((g.input - few.input).norm(), 0.0);
  EXPECT_EQ((g.initial_q - few.initial_q).norm(), 0.0);
}

TEST(ClosedTrajectory, QuaternionsInLoops) {
  for (const HingeType type : {HingeType::universal, HingeType::spherical}) {
    const Mechanism m = spatial_four_bar(type);
    ASSERT_EQ(m.loops().size(), 1u);
    const State start = moving(m, 0.4, 2.0);
    for (const Method method : {Method::rk4, Method::euler}) expect_exact(m, start, method);
  }
}

// A free body held by a ball on a link and one on the ground: a free hinge inside a loop.
TEST(ClosedTrajectory, FreeHingeInALoop) {
  MechanismBuilder b("held");
  b.set_gravity({0, 0, -9.81});
  b.add_body("crank", body(0.8, {0.15, 0, 0}, {0.01, 0.02, 0.02}));
  b.add_body("plate", body(1.1, {0.1, 0.2, 0.05}, {0.06, 0.09, 0.07}));
  b.add_hinge("crank", kWorld, "crank", {.axes = {{0.1, 0.2, 1.0}}});
  b.add_hinge("plate", kWorld, "plate", {.type = HingeType::free});
  b.add_hinge(
      "joint", "crank", "plate",
      {.type = HingeType::spherical, .frame_on_parent = shift(0.4, 0, 0), .cut = Cut::always});
  const Mechanism m = b.finish();
  ASSERT_EQ(m.loops().size(), 1u);
  expect_exact(m, moving(m, 0.4, 1.5), Method::rk4);
}

TEST(ClosedTrajectory, ContinuousAdjoint) {
  for (const HingeType type : {HingeType::universal, HingeType::spherical}) {
    const Mechanism m = spatial_four_bar(type);
    const State start = moving(m, 0.4, 3.0);
    const SplineInput input = effort_splines(m, 0.6, 3);
    const EverythingCost cost(m, false);
    const ParameterSet set(m, {"hinge.ball.position.x", "hinge.rocker.axis.x",
                               "hinge.joint.child_position.z", "body.coupler.mass"});
    const VectorXd p = random_vector(input.parameters(), 5);
    TrajectorySettings settings{.duration = 0.6};
    settings.integrator.step = 1e-3;
    const TrajectoryGradient discrete =
        TrajectorySensitivity(m, input, cost, settings, &set).gradient(start, p);
    settings.integrator = {
        .method = Method::dop853, .relative_tolerance = 1e-11, .absolute_tolerance = 1e-12};
    const TrajectoryGradient found =
        TrajectorySensitivity(m, input, cost, settings, &set).gradient(start, p);
    EXPECT_NEAR(found.cost, discrete.cost, 1e-8 * discrete.cost);
    // Kinks of the splines' slopes: h³ of the step.
    const auto compare = [](const VectorXd& a, const VectorXd& b) {
      EXPECT_LT((a - b).norm(), 1e-7 * std::max(1.0, b.norm()));
    };
    compare(found.input, discrete.input);
    compare(found.initial_q, discrete.initial_q);
    compare(found.initial_v, discrete.initial_v);
    compare(found.mechanism, discrete.mechanism);
  }
}

// Every named parameter, by the adjoint and forward, against motions of mechanisms rebuilt whose
// initial state is closed again with the independent freedoms held.
void expect_parameters(const Mechanism& m, const State& start, std::vector<std::string> names,
                       double duration, double tolerance, double forward_tolerance,
                       int steps = 20) {
  const ParameterSet set(m, std::move(names));
  const SplineInput input = effort_splines(m, duration, 3);
  const EverythingCost cost(m);
  const VectorXd p = random_vector(input.parameters(), 5);
  TrajectorySettings settings{.duration = duration};
  settings.integrator.step = duration / steps;
  TrajectorySensitivity along(m, input, cost, settings, &set);
  const TrajectoryGradient g = along.gradient(start, p);
  const ForwardSensitivity f = along.forward(start, p);
  const VectorXd values = set.values();
  const std::vector<int> own = g.independent;
  for (int k = 0; k < set.size(); ++k) {
    const std::string& name = set.names()[index(k)];
    double e = name.find(".inertia") != std::string::npos ? 1e-4 : 5e-4;
    for (const char* word : {".damping", ".stiffness", ".friction", ".rotor_inertia"})
      if (name.find(word) != std::string::npos) e = 0.01 * values[k];
    if (e == 0.0) continue;  // no less than zero
    std::map<double, std::pair<double, State>> motions;
    const auto motion = [&](double by) -> const std::pair<double, State>& {
      if (const auto found = motions.find(by); found != motions.end()) return found->second;
      VectorXd x = values;
      x[k] += by;
      const Mechanism other = set.with(x);
      const EverythingCost its(other);
      State end;
      const double at = TrajectorySensitivity(other, input, its, settings)
                            .simulate(closed_again(other, start, own), p, &end);
      return motions[by] = {at, end};
    };
    expect_close(g.mechanism[k], slope([&](double by) { return motion(by).first; }, e), tolerance,
                 name);
    for (std::size_t i = 0; i < f.independent.size(); ++i) {
      const Eigen::Index row = static_cast<Eigen::Index>(i);
      const int freedom = f.independent[i];
      expect_close(f.v_by_mechanism(row, k),
                   slope([&](double by) { return motion(by).second.v[freedom]; }, e),
                   forward_tolerance, name + " v");
      expect_close(f.q_by_mechanism(row, k),
                   slope(
                       [&](double by) {
                         return difference(m, f.final_state.q, motion(by).second.q)[freedom];
                       },
                       e),
                   forward_tolerance, name + " q");
    }
  }
}

// Not overconstrained: whatever changes, the loop closes.
TEST(ClosedTrajectory, AllParametersOfASpatialLoop) {
  for (const HingeType type : {HingeType::universal, HingeType::spherical}) {
    const Mechanism m = spatial_four_bar(type);
    // Forward sensitivities of quaternions are right to the order of the method only.
    expect_parameters(m, moving(m, 0.4, 2.0), ParameterSet::all_names(m), 0.3, 1e-7, 1e-4);
  }
}

// A four-bar none of whose hinges can turn round, over dead points: other freedoms become
// independent on the way.
TEST(ClosedTrajectory, IndependentFreedomsChange) {
  MechanismBuilder b = four_bar().edit();
  b.hinge("D").frame_on_parent = shift(2.5, 0, 0);
  b.hinge("C").frame_on_parent = shift(1.2, 0, 0);
  b.hinge("C").frame_on_child = shift(1.0, 0, 0);
  const Mechanism m = b.finish();
  State guess = four_bar_state(m, 0.8, 4.0);
  const State start = closed_again(m, guess, independent_at(m, guess.q));
  const SplineInput input = effort_splines(m, 0.8, 3);
  const EverythingCost cost(m);
  TrajectorySettings settings{.duration = 0.8};
  settings.integrator.step = 0.01;
  const VectorXd p = random_vector(input.parameters(), 5);
  TrajectorySensitivity along(m, input, cost, settings);
  const TrajectoryGradient g = along.gradient(start, p);
  const ForwardSensitivity f = along.forward(start, p);
  EXPECT_NE(g.independent, f.independent);
  for (Eigen::Index k = 0; k < p.size(); ++k) {
    const auto at = [&](double e) {
      VectorXd x = p;
      x[k] += e;
      return along.simulate(start, x);
    };
    expect_close(g.input[k], slope(at, 1e-3), 1e-7, "input " + std::to_string(k));
  }
  expect_parameters(
      m, start,
      {"hinge.A.position.x", "hinge.B.position.x", "hinge.C.position.x", "hinge.C.child_position.x",
       "hinge.D.position.y", "hinge.D.rotation.z", "body.coupler.com.x", "gravity.y"},
      0.8, 1e-6, 1e-6, 80);
}

// Lengths of rods, ratios of gears, geometry of what hangs on a loop, and of geared hinges.
TEST(ClosedTrajectory, RodsAndGears) {
  MechanismBuilder b("geared");
  b.set_gravity({0.2, -9.81, 0.4});
  b.add_body("crank", body(0.8, {0.2, 0.02, 0.01}, {0.01, 0.02, 0.02}));
  b.add_body("rocker", body(0.9, {0.4, 0.01, 0.1}, {0.03, 0.03, 0.04}));
  b.add_body("wheel", body(0.6, {0.05, 0.02, 0.0}, {0.02, 0.02, 0.03}));
  b.add_body("tip", body(0.3, {0.1, 0.1, 0.0}, {0.02, 0.03, 0.02}));
  b.add_hinge("crank", kWorld, "crank", {});
  b.add_hinge("rocker", kWorld, "rocker",
              {.axes = {{0.1, 0.3, 1}}, .frame_on_parent = shift(1.0, 0.1, 0.2)});
  b.add_hinge("wheel", "rocker", "wheel",
              {.axes = {{0, 1, 0.2}}, .frame_on_parent = shift(0.5, 0, 0)});
  b.add_hinge("tip", "wheel", "tip", {.axes = {{1, 0, 0}}, .frame_on_parent = shift(0.2, 0, 0.1)});
  b.add_rod({.name = "link",
             .body_a = "crank",
             .point_a = {0.4, 0, 0},
             .body_b = "rocker",
             .point_b = {0.5, 0.2, 0},
             .length = 1.0});
  b.add_gear("gear", "tip", "wheel", -2.0, 0.3);
  const Mechanism m = b.finish();
  State guess = m.default_state();
  guess.q << 0.4, 1.2, 0.3, 0.0;
  State start = closed_again(m, guess, {0, 2});
  start.v << 1.0, 0.0, 0.7, 0.0;
  start = closed_again(m, start, {0, 2});
  start = closed_again(m, start, independent_at(m, start.q));
  expect_parameters(
      m, start,
      {"rod.link.length", "coupling.gear.ratio", "coupling.gear.offset", "hinge.crank.position.x",
       "hinge.rocker.axis.x", "hinge.rocker.rotation.y", "hinge.wheel.position.y",
       "hinge.wheel.axis.x", "hinge.tip.child_position.z", "hinge.tip.axis.y", "body.tip.mass"},
      0.4, 1e-7, 1e-7);
}

// A driven rocker that moves an eighth as fast as its crank, or less, is a poor choice, but there
// is no other: nothing is new about it, and nothing has to start again.
TEST(LocalCoordinates, KeepWhatIsPinned) {
  const auto rod = [](double length) {
    return BodySettings{.mass = 1.0,
                        .center_of_mass = {length / 2.0, 0.0, 0.0},
                        .inertia = SymMat3d::diagonal(0.0, 0.1, 0.1)};
  };
  const auto shift = [](double x) { return Transformd::from_translation({x, 0.0, 0.0}); };
  MechanismBuilder b("crank_rocker");
  b.add_body("crank", rod(0.3)).add_body("coupler", rod(1.0)).add_body("rocker", rod(1.0));
  b.add_hinge("A", kWorld, "crank", {});
  b.add_hinge("B", "crank", "coupler", {.frame_on_parent = shift(0.3)});
  b.add_hinge("D", kWorld, "rocker", {.frame_on_parent = shift(1.0)});
  b.add_hinge("C", "coupler", "rocker",
              {.frame_on_parent = shift(1.0), .frame_on_child = shift(1.0), .cut = Cut::always});
  const Mechanism m = b.finish();
  const State s = assemble(m, State{Eigen::Vector3d(1.2, -0.24, 2.0), Eigen::Vector3d::Zero()},
                           {.fixed = {1, 0, 0}});
  LocalCoordinates pinned(m, s, {0, 0, 1});
  ASSERT_LT(chart_quality(m, *pinned.chart(), s.q), kPoorChart);
  EXPECT_FALSE(pinned.accept({.state = s}).changed);
  EXPECT_EQ(pinned.independent(), std::vector<int>{2});
}

}  // namespace
}  // namespace catena
