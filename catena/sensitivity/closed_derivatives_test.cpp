// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of closed mechanisms in their independent freedoms, against differences of order
// eight of their dynamics along the closure (which dynamics/closed_random_test.cpp compares with
// multipliers in long double). Random loops are compared with the reference in
// closed_exact_test.cpp.
#include <functional>

#include "catena/base/index.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/dynamics/testing/test_support.h"
#include "catena/sensitivity/derivative_check.h"
#include "catena/sensitivity/linearize.h"

namespace catena::test {
namespace {

struct Tally {
  Worst inverse, forward, hybrid;
  int mechanisms = 0, moving = 0;
};

// Differences in double precision: rounding 1e-15 over the step, times what the closure's
// conditioning adds; truncation is step⁸ / 630.
constexpr double kTolerance = 1e-9;
constexpr double kStep = 1.5e-3;

VectorXd slope_of(const std::function<VectorXd(double)>& f) {
  constexpr double kWeights[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  VectorXd sum;
  for (int i = 1; i <= 4; ++i) {
    const VectorXd change = f(i * kStep) - f(-i * kStep);
    if (sum.size() == 0) sum = VectorXd::Zero(change.size());
    sum += kWeights[i - 1] / kStep * change;
  }
  return sum;
}

double error_of(const MatrixXd& found, const MatrixXd& expected) {
  if (found.size() == 0) return 0.0;
  const double off = (found - expected).cwiseAbs().maxCoeff();
  return std::isfinite(off) ? off / std::max(1.0, expected.cwiseAbs().maxCoeff()) : kInfinity;
}

void compare(const Mechanism& m, const State& state, const VectorXd& effort,
             const std::vector<ExternalWrench>& external, Tally& worst) {
  SensitivityWorkspace w(m);
  const ForwardDerivatives f = forward_dynamics_derivatives(m, state, effort, w, external);
  const std::vector<int> own = w.dynamics().independent();
  const auto size = static_cast<Eigen::Index>(own.size());
  ++worst.mechanisms;
  if (size == 0) return;
  // Near a singular position the mechanism cannot move by the steps that differences need.
  for (const LoopChart& loop : w.dynamics().chart().loops)
    if (loop.quality < 0.1) return;
  ++worst.moving;
  const InverseDerivatives i = inverse_dynamics_derivatives(m, state, f.acceleration, w, external);
  Workspace d(m);
  d.set_chart(w.dynamics().chart(), true);
  HybridInput hybrid{std::vector<std::uint8_t>(to_size(m.freedoms()), 0), effort, f.acceleration};
  hybrid.motion_driven[index(own[own.size() / 2])] = 1;
  const HybridDerivatives h = hybrid_dynamics_derivatives(m, state, hybrid, w, external);
  ASSERT_EQ(w.dynamics().independent(), own);
  const VectorXd none = VectorXd::Zero(size);
  MatrixXd fq(size, size), fv(size, size), iq(size, size), iv(size, size), ia(size, size);
  MatrixXd hq(2 * size, size), hv(2 * size, size);
  const auto mixed = [&](const State& s) {
    HybridResult r;
    hybrid_dynamics(m, s, hybrid, d, r, external);
    VectorXd both(2 * size);
    both << r.acceleration(own), r.effort(own);
    return both;
  };
  for (Eigen::Index k = 0; k < size; ++k) {
    const auto moved = [&](double q, double v) {
      VectorXd dq = none, dv = none;
      dq[k] = q;
      dv[k] = v;
      return displaced(m, state, own, dq, dv);
    };
    const auto acceleration = [&](const State& s) {
      return VectorXd(forward_dynamics(m, s, effort, d, external)(own));
    };
    const auto needed = [&](const State& s) {
      return VectorXd(inverse_dynamics(m, s, f.acceleration, d, external)(own));
    };
    fq.col(k) = slope_of([&](double e) { return acceleration(moved(e, 0.0)); });
    fv.col(k) = slope_of([&](double e) { return acceleration(moved(0.0, e)); });
    iq.col(k) = slope_of([&](double e) { return needed(moved(e, 0.0)); });
    iv.col(k) = slope_of([&](double e) { return needed(moved(0.0, e)); });
    hq.col(k) = slope_of([&](double e) { return mixed(moved(e, 0.0)); });
    hv.col(k) = slope_of([&](double e) { return mixed(moved(0.0, e)); });
    VectorXd up = f.acceleration;
    up[own[index(k)]] += 1.0;
    const VectorXd more = inverse_dynamics(m, state, up, d, external)(own);
    ia.col(k) = more - needed(state);
  }
  MatrixXd tau(size, m.freedoms());
  for (int k = 0; k < m.freedoms(); ++k) {
    VectorXd up = effort, down = effort;
    up[k] += 1.0;
    down[k] -= 1.0;
    const VectorXd more = forward_dynamics(m, state, up, d, external)(own);
    const VectorXd less = forward_dynamics(m, state, down, d, external)(own);
    tau.col(k) = 0.5 * (more - less);
  }
  worst.inverse.take(error_of(i.dq, iq));
  worst.inverse.take(error_of(i.dv, iv));
  worst.inverse.take(error_of(i.da, ia));
  worst.forward.take(error_of(f.dq, fq));
  worst.forward.take(error_of(f.dv, fv));
  worst.forward.take(error_of(f.deffort, tau));
  MatrixXd both(2 * size, size);
  both << h.acceleration_dq, h.effort_dq;
  worst.hybrid.take(error_of(both, hq));
  both << h.acceleration_dv, h.effort_dv;
  worst.hybrid.take(error_of(both, hv));
}

void expect_small(const Tally& t, const char* what) {
  printf("    %-10s inverse %.1e  forward %.1e  hybrid %.1e  (%d mechanisms, %d compared)\n", what,
         t.inverse.value, t.forward.value, t.hybrid.value, t.mechanisms, t.moving);
  EXPECT_LT(t.inverse.value, kTolerance);
  EXPECT_LT(t.forward.value, kTolerance);
  EXPECT_LT(t.hybrid.value, kTolerance);
}

TEST(ClosedDerivatives, OfFourBars) {
  Tally worst;
  const Mechanism one = four_bar();
  compare(one, four_bar_state(one, 0.7, 1.3), vector({0.5, -0.2, 0.3}), {}, worst);
  const Mechanism with_link = four_bar(HingeType::revolute, true);
  compare(with_link, four_bar_state(with_link, 0.7, 1.3), vector({0.5, -0.2, 0.3, 0.1}), {}, worst);
  const TwoFourBars two = two_four_bars();
  compare(two.m, two.s, VectorXd::Constant(10, 0.3), {}, worst);
  EXPECT_EQ(worst.moving, 3);
  expect_small(worst, "four-bars");
}

// A user's coupling, without third derivatives.
TEST(ClosedDerivatives, OfAUsersCoupling) {
  MechanismBuilder b("cam");
  for (const char* name : {"cam", "follower", "tip"}) b.add_body(name, rod(1.0, 1.0, 0.1));
  b.add_hinge("turn", kWorld, "cam", {});
  b.add_hinge("slide", kWorld, "follower",
              {.type = HingeType::prismatic, .frame_on_parent = catena::shift(2, 0, 0)});
  b.add_hinge("swing", "follower", "tip", {.axes = {{0, 1, 0}}});
  Coupling c;
  c.name = "profile";
  c.terms = {{"turn", 0, 1.0}, {"slide", 0, 1.0}};
  c.function = [](std::span<const double> q, double& value, std::span<double> gradient,
                  std::span<double> hessian) {
    value = q[1] - 0.3 * std::sin(2.0 * q[0]) * std::cos(q[1]);
    gradient[0] = -0.6 * std::cos(2.0 * q[0]) * std::cos(q[1]);
    gradient[1] = 1.0 + 0.3 * std::sin(2.0 * q[0]) * std::sin(q[1]);
    hessian[0] = 1.2 * std::sin(2.0 * q[0]) * std::cos(q[1]);
    hessian[1] = hessian[2] = 0.6 * std::cos(2.0 * q[0]) * std::sin(q[1]);
    hessian[3] = 0.3 * std::sin(2.0 * q[0]) * std::cos(q[1]);
  };
  b.add_coupling(c);
  const Mechanism m = b.finish();
  const State s =
      assemble(m, State{vector({0.4, 0.1, 0.2}), vector({1.1, 0.0, -0.7})}, {.fixed = {1, 0, 1}});
  Tally worst;
  compare(m, s, vector({0.2, 0.3, -0.1}), {}, worst);
  EXPECT_EQ(worst.moving, 1);
  expect_small(worst, "coupling");
}

TEST(DerivativeCheck, ReportsEveryQuantity) {
  const DerivativeReport tree = check_derivatives(two_four_bars().m, 2);
  EXPECT_EQ(tree.checks.size(), 10u);
  EXPECT_GT(tree.states, 0);
  EXPECT_LT(tree.worst, kDerivativeTolerance);
  EXPECT_TRUE(tree.passes());
}

// A slider-crank with a stiff spring: random states come close to dead points, where differences
// with steps of one fixed size are off by far more than the derivatives.
TEST(DerivativeCheck, RaisesNoFalseAlarm) {
  MechanismBuilder b("slider_crank");
  b.set_gravity({0, -9.81, 0});
  b.add_body("crank", body(1.0, {0.1, 0, 0}, {0.01, 0.02, 0.02}));
  b.add_body("rod", body(0.7, {0.3, 0.02, 0}, {0.005, 0.05, 0.05}));
  b.add_body("piston", body(2.0, {}, {0.01, 0.01, 0.01}));
  HingeSettings crank, slide{.type = HingeType::prismatic, .axes = {{2, 0.5, 0}}};
  crank.freedoms = {{.damping = 0.02}};
  slide.freedoms = {{.damping = 5.0, .stiffness = 200.0, .rest = 0.8}};
  b.add_hinge("crank", kWorld, "crank", crank);
  b.add_hinge("pin", "crank", "rod", {.frame_on_parent = catena::shift(0.25, 0, 0)});
  b.add_hinge("slide", kWorld, "piston", slide);
  b.add_hinge("wrist", "rod", "piston",
              {.frame_on_parent = catena::shift(0.7, 0, 0), .cut = Cut::always});
  const Mechanism m = b.finish();
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const DerivativeReport report = check_derivatives(m, 10, seed);
    EXPECT_GT(report.states, 5);
    for (const DerivativeCheck& check : report.checks)
      EXPECT_TRUE(check.passes()) << seed << ": " << check.quantity << " " << check.where << " "
                                  << check.error << " of " << check.allowed;
  }
  int calls = 0;
  EXPECT_THROW(check_derivatives(m, 10, 1, 3e-3, [&] { return ++calls < 5; }), NumericalError);
  EXPECT_EQ(calls, 5);
}

// A coupling whose user gives second derivatives that are wrong by one part in a thousand, but not
// at small angles, where finish() looks at them.
TEST(DerivativeCheck, FindsAWrongDerivative) {
  for (const double wrong : {1.0, 1.001}) {
    MechanismBuilder b("cam");
    for (const char* name : {"turn", "lift"}) b.add_body(name, body(1.0, {0.1, 0, 0}, {1, 1, 1}));
    b.add_hinge("turn", kWorld, "turn", {});
    b.add_hinge("lift", kWorld, "lift", {.type = HingeType::prismatic, .axes = {{0, 0, 1}}});
    Coupling cam{.name = "cam", .terms = {{"lift", 0, 1.0}, {"turn", 0, 1.0}}};
    cam.function = [wrong](std::span<const double> q, double& value, std::span<double> gradient,
                           std::span<double> hessian) {
      value = q[0] - 0.3 * std::sin(q[1]);
      gradient[0] = 1.0;
      gradient[1] = -0.3 * std::cos(q[1]);
      hessian[0] = hessian[1] = hessian[2] = 0.0;
      hessian[3] = (std::abs(q[1]) < 0.3 ? 1.0 : wrong) * 0.3 * std::sin(q[1]);
    };
    b.add_coupling(cam);
    const DerivativeReport report = check_derivatives(b.finish(), 5);
    EXPECT_EQ(report.states, 5);
    EXPECT_EQ(report.passes(), wrong == 1.0) << report.worst;
  }
}

}  // namespace
}  // namespace catena::test
