// SPDX-License-Identifier: BSD-3-Clause
// Several stops and dry friction at once: what is decided together, against enumeration with the
// dense mass matrix, closed forms and the energy balance.
#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/model/builder.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class Arms {
 public:
  explicit Arms(unsigned seed) : source_(seed) {}
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(source_);
  }
  // A chain of n links with hinges about any axes, each with limits and some with dry friction.
  Mechanism arm(int n, double frictional) {
    MechanismBuilder b("arm");
    b.set_gravity({uniform(-6.0, 6.0), uniform(-6.0, 6.0), -6.0});
    for (int i = 0; i < n; ++i) {
      const std::string name = "b" + std::to_string(i);
      const double mass = std::exp(uniform(-1.0, 1.5)), length = uniform(0.2, 0.6);
      const double inertia = 0.1 * mass * length * length;
      b.add_body(name, {.mass = mass,
                        .center_of_mass = {0.5 * length, uniform(-0.1, 0.1), uniform(-0.1, 0.1)},
                        .inertia = SymMat3d::diagonal(inertia, 1.2 * inertia, 0.9 * inertia)});
      FreedomSettings f;
      f.lower = -uniform(0.02, 0.3);
      f.upper = uniform(0.02, 0.3);
      if (uniform(0.0, 1.0) < frictional) f.friction.sliding = uniform(0.2, 4.0);
      const Vec3d axis{uniform(-1.0, 1.0), uniform(-1.0, 1.0), 1.0};
      b.add_hinge("h" + std::to_string(i), i == 0 ? "world" : "b" + std::to_string(i - 1), name,
                  {.axes = {(1.0 / norm(axis)) * axis},
                   .frame_on_parent = Transformd::from_translation({uniform(0.1, 0.5), 0.0, 0.0}),
                   .freedoms = {f}});
    }
    return b.finish();
  }
  // At a limit each, at random.
  State at_limits(const Mechanism& m) {
    State s = m.default_state();
    for (int i = 0; i < m.freedoms(); ++i) {
      const FreedomSettings& f = m.freedom_settings()[index(i)];
      s.q[i] = uniform(0.0, 1.0) < 0.5 ? f.lower : f.upper;
    }
    return s;
  }

 private:
  std::mt19937 source_;
};

// Away from the limit that a freedom is at.
VectorXd senses(const Mechanism& m, const State& s) {
  VectorXd sense(m.freedoms());
  for (int i = 0; i < m.freedoms(); ++i)
    sense[i] = s.q[i] == m.freedom_settings()[index(i)].lower ? 1.0 : -1.0;
  return sense;
}

// How u = b + W p moves with stops and friction: each freedom is held (u = 0, p ≥ −level away from
// the stop) or moves away against its friction (u ≥ 0, p = −level). All 2ⁿ choices.
VectorXd by_enumeration(const MatrixXd& w, const VectorXd& b, const VectorXd& level) {
  const int n = static_cast<int>(b.size());
  for (int choice = 0; choice < (1 << n); ++choice) {
    std::vector<int> held;
    VectorXd p = -level;
    for (int i = 0; i < n; ++i)
      if ((choice >> i & 1) != 0) {
        held.push_back(i);
        p[i] = 0.0;
      }
    const VectorXd without = b + w * p;
    if (!held.empty()) p(held) = -FullLu(w(held, held)).solve(without(held));
    VectorXd u = b + w * p;
    bool holds = true;
    for (int i = 0; i < n; ++i) holds = holds && p[i] >= -level[i] - 1e-9 && u[i] >= -1e-9;
    if (holds) return u;
  }
  ADD_FAILURE() << "no choice obeys the laws";
  return b;
}

double beyond(const Mechanism& m, const MemoryRecorder& record) {
  double most = 0.0;
  for (int i = 0; i < m.freedoms(); ++i) {
    const FreedomSettings& f = m.freedom_settings()[index(i)];
    const VectorXd q = record.column("q." + std::string(m.velocity_names()[index(i)]));
    most = std::max({most, f.lower - q.minCoeff(), q.maxCoeff() - f.upper});
  }
  return most;
}

// At rest with every hinge at a limit: which of them stay.
TEST(SeveralStops, RestOrLeaveAsTheComplementarityProblemSays) {
  Arms arms(3);
  int leave = 0, stay = 0;
  for (int k = 0; k < 120; ++k) {
    const Mechanism m = arms.arm(2 + k % 6, k % 2 == 0 ? 0.0 : 0.5);
    const State s = arms.at_limits(m);
    const VectorXd sense = senses(m, s);
    VectorXd level(m.freedoms());
    for (int i = 0; i < m.freedoms(); ++i)
      level[i] = m.freedom_settings()[index(i)].friction.sliding;
    const MatrixXd inverse = catena::inverse(mass_matrix(m, s.q));
    const MatrixXd w = sense.asDiagonal() * inverse * sense.asDiagonal();
    const VectorXd b = sense.asDiagonal() * VectorXd(-inverse * bias_effort(m, s));
    const VectorXd expected = sense.asDiagonal() * by_enumeration(w, b, level);
    MemoryRecorder record;
    simulate(m, s, {.duration = 1e-6, .output_interval = 1e-6, .outputs = {"a.*"}}, record);
    for (int i = 0; i < m.freedoms(); ++i) {
      const double a = record.column("a.h" + std::to_string(i))[0];
      EXPECT_NEAR(a, expected[i], 1e-7 * (1.0 + std::abs(expected[i]))) << k << " h" << i;
      ++(a == 0.0 ? stay : leave);
    }
  }
  EXPECT_GT(stay, 50);
  EXPECT_GT(leave, 50);
}

// All hinges reach their limits at once: v⁺ ≥ −e v⁻, and impulses only where that is equal.
TEST(SeveralStops, CollideAsTheComplementarityProblemSays) {
  Arms arms(5);
  for (int k = 0; k < 60; ++k) {
    const Mechanism m = arms.arm(2 + k % 6, 0.0);
    State s = arms.at_limits(m);
    const VectorXd sense = senses(m, s);
    const double e = k % 3 == 0 ? 0.0 : 0.2 * (k % 5) + 0.1;
    VectorXd v(m.freedoms());
    for (double& x : v) x = -arms.uniform(0.5, 2.0);
    s.v = sense.asDiagonal() * v;
    const MatrixXd mass = mass_matrix(m, s.q);
    const MatrixXd w = sense.asDiagonal() * inverse(mass) * sense.asDiagonal();
    const VectorXd none = VectorXd::Zero(m.freedoms());
    const VectorXd u = by_enumeration(w, (1.0 + e) * v, none) - e * v;
    const VectorXd expected = sense.asDiagonal() * u;
    MemoryRecorder record;
    SimulationSettings settings{.duration = 1e-7, .output_interval = 1e-7, .outputs = {"v.*"}};
    settings.actions.restitution = e;
    simulate(m, s, settings, record);
    VectorXd after(m.freedoms());
    for (int i = 0; i < m.freedoms(); ++i) after[i] = record.column("v.h" + std::to_string(i))[0];
    EXPECT_LT((after - expected).lpNorm<Eigen::Infinity>(), 1e-9) << k;
    EXPECT_LE(after.dot(mass * after), s.v.dot(mass * s.v));
  }
}

class SeveralStopsBy : public testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(Stops, SeveralStopsBy,
                         testing::Values(Method::dop853, Method::adams, Method::bdf, Method::rk4,
                                         Method::arkode, Method::am4),
                         [](const auto& given) { return std::string(to_string(given.param)); });

// Arms fall onto their stops and bounce: they get on in time, no hinge leaves its limits, and the
// energy is where the audit says.
TEST_P(SeveralStopsBy, KeepAnArmWithinItsLimits) {
  Arms arms(17);
  for (int k = 0; k < 12; ++k) {
    const Mechanism m = arms.arm(2 + k % 4, k % 2 == 0 ? 0.0 : 0.5);
    State s = arms.at_limits(m);
    for (double& v : s.v) v = arms.uniform(-2.0, 2.0);
    const double e = std::array{0.0, 0.5, 0.8}[index(k % 3)];
    MemoryRecorder record;
    SimulationSettings settings{.duration = 0.5};
    settings.integrator.method = GetParam();
    settings.actions.restitution = e;
    const SimulationResult r = simulate(m, s, settings, record);
    EXPECT_LT(beyond(m, record), 1e-8) << k;
    EXPECT_LT(r.audit.energy_drift, 1e-6) << k;
    EXPECT_LT(r.events, 3000) << k;
  }
}

// A slider-crank that comes to rest on a stop of its piston, which depends on the crank: bounces
// end when those under one acceleration do, and the piston does not sink below the stop. Each of
// these lasts 0.8 of the one before, so that all that follow one last e / (1 − e) = 4 times as long
// as that; here the acceleration hardly changes while bounces are small.
TEST_P(SeveralStopsBy, LetBouncesOfADependentHingeEnd) {
  MechanismBuilder b("slider-crank");
  b.set_gravity({0.9869365984, -8.0, 0.0});
  const auto rod = [](double mass, double length) {
    const double i = mass * length * length / 12.0;
    return BodySettings{.mass = mass,
                        .center_of_mass = {0.5 * length, 0.0, 0.0},
                        .inertia = SymMat3d::diagonal(0.01 * i, i, i)};
  };
  const double crank = 0.3841924591, coupler = 0.7806045141, angle = -1.0073915;
  const double x =
      crank * std::cos(angle) + std::sqrt(coupler * coupler - std::pow(crank * std::sin(angle), 2));
  b.add_body("crank", rod(1.761335491, crank));
  b.add_body("coupler", rod(1.379749708, coupler));
  b.add_body("piston", {.mass = 1.855241788, .inertia = SymMat3d::diagonal(0.01, 0.01, 0.01)});
  b.add_hinge("A", "world", "crank");
  b.add_hinge("B", "crank", "coupler",
              {.frame_on_parent = Transformd::from_translation({crank, 0.0, 0.0}),
               .freedoms = {{.damping = 0.2799157349}}});
  b.add_hinge("D", "world", "piston",
              {.type = HingeType::prismatic,
               .axes = {{1.0, 0.0, 0.0}},
               .freedoms = {{.lower = x - 0.0367140831, .upper = x + 0.2}}});
  b.add_hinge(
      "C", "coupler", "piston",
      {.frame_on_parent = Transformd::from_translation({coupler, 0.0, 0.0}), .cut = Cut::always});
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.q[m.position_index("A")] = angle;
  s.q[m.position_index("B")] =
      std::atan2(-crank * std::sin(angle), x - crank * std::cos(angle)) - angle;
  s.q[m.position_index("D")] = x;
  MemoryRecorder record;
  SimulationSettings settings{.duration = 5.0};
  settings.integrator.method = GetParam();
  settings.actions.restitution = 0.8;
  const SimulationResult r = simulate(m, s, settings, record);
  EXPECT_LT(beyond(m, record), 1e-9);
  EXPECT_LT(r.audit.energy_drift, 2e-6);
  std::vector<double> impacts;
  double zeno = 0.0;
  for (const RunEvent& event : record.events()) {
    if (event.kind == "limit") impacts.push_back(event.time);
    if (event.kind == "zeno") zeno = event.time;
  }
  const std::size_t n = impacts.size();
  ASSERT_GT(n, 30u);
  EXPECT_LT(n, 120u);
  ASSERT_GT(zeno, 0.0);
  const auto bounce = [&](std::size_t before_the_end) {
    const std::size_t k = n - 1 - before_the_end;
    return impacts[k] - impacts[k - 1];
  };
  // The one that is not followed any more begins at once.
  EXPECT_LT(zeno - impacts.back(), bounce(0));
  EXPECT_LT(bounce(0), 1.3e-6);
  // What is left out at the end is 4 bounces of a microsecond, of some hundred.
  const double end = impacts[n - 26] + 4.0 * bounce(25);
  EXPECT_NEAR(zeno, end, 0.02 * 4.0 * bounce(25));
  EXPECT_NEAR(r.state.q[m.position_index("D")], x - 0.0367140831, 1e-8);
}

Mechanism slider(double gap) {
  MechanismBuilder b("slider");
  b.set_gravity({0.0, 0.0, 0.0});
  b.add_body("block", {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("s", "world", "block",
              {.type = HingeType::prismatic,
               .axes = {{1.0, 0.0, 0.0}},
               .freedoms = {{.lower = 0.0, .upper = gap}}});
  return b.finish();
}

// Without loss, in a gap of 2 µm at 1 m/s: an impact each 2 µs, the first after 1 µs. None is lost.
TEST(SeveralStops, KeepTheEnergyOfALosslessSlider) {
  const Mechanism m = slider(2e-6);
  State s = m.default_state();
  s.q << 1e-6;
  s.v << 1.0;
  MemoryRecorder record;
  SimulationSettings settings{.duration = 1.5e-3};
  settings.actions.restitution = 1.0;
  const SimulationResult r = simulate(m, s, settings, record);
  EXPECT_EQ(std::abs(r.state.v[0]), 1.0);
  ASSERT_EQ(record.events().size(), 750u);
  for (std::size_t k = 0; k < record.events().size(); k += 50)
    EXPECT_NEAR(record.events()[k].time, 1e-6 + 2e-6 * static_cast<double>(k), 1e-12);
}

// With a little loss the crowd is stopped, and said so; a run that goes on from a checkpoint in
// between counts as the whole one does.
TEST(SeveralStops, NameACrowdOfImpactsAndRememberIt) {
  const Mechanism m = slider(2e-6);
  State s = m.default_state();
  s.q << 1e-6;
  s.v << 1.0;
  MemoryRecorder whole;
  SimulationSettings settings{
      .duration = 1e-3, .output_interval = 1e-5, .checkpoint_interval = 2e-4};
  settings.actions.restitution = 0.9999;
  const SimulationResult r = simulate(m, s, settings, whole);
  EXPECT_EQ(r.state.v[0], 0.0);
  EXPECT_LT(r.audit.energy_drift, 1e-12);
  ASSERT_FALSE(whole.events().empty());
  EXPECT_EQ(whole.events().back().kind, "zeno");
  ASSERT_FALSE(whole.checkpoints().empty());
  MemoryRecorder rest;
  rest.begin(whole.columns());
  const RunCheckpoint& from = whole.checkpoints()[0];
  const SimulationResult again = resume_simulation(m, from, settings, rest);
  EXPECT_EQ(again.events, r.events);
  EXPECT_EQ(again.state.q, r.state.q);
  const std::size_t first = to_size(from.rows) * whole.columns().size();
  EXPECT_TRUE(std::equal(rest.values().begin(), rest.values().end(),
                         whole.values().begin() + static_cast<std::ptrdiff_t>(first)));
}

}  // namespace
}  // namespace catena
