// SPDX-License-Identifier: BSD-3-Clause
// Mechanisms with closed-form accelerations and forces: the micro cases S1 to S6 for [D'Eleuterio &
// Damaren 1991] and the two pendulums of [Concurrent Dynamics 2017] (P1, P2). Forces are listed
// linear part first, on the body, in its frame.
#include "catena/dynamics/published/published_support.h"

namespace catena::test {
namespace {

State state_of(std::initializer_list<double> q, std::initializer_list<double> v) {
  State s;
  s.q = Eigen::Map<const VectorXd>(q.begin(), static_cast<Eigen::Index>(q.size()));
  s.v = Eigen::Map<const VectorXd>(v.begin(), static_cast<Eigen::Index>(v.size()));
  return s;
}
VectorXd row(std::initializer_list<double> x) {
  return Eigen::Map<const VectorXd>(x.begin(), static_cast<Eigen::Index>(x.size()));
}
// Forward dynamics, and the forces (linear first) on the bodies that have an expected one.
void expect_closed_form(const Mechanism& m, const State& s, const VectorXd& effort,
                        const VectorXd& acceleration,
                        const std::vector<std::pair<int, VectorXd>>& forces = {},
                        std::span<const ExternalWrench> external = {}) {
  Workspace w(m);
  EXPECT_LT(error(forward_dynamics(m, s, effort, w, external), acceleration), 1e-13);
  inverse_dynamics(m, s, acceleration, w, external);
  for (const auto& [body, force] : forces)
    EXPECT_LT(error(swapped(force_on(m, w, body_name(body))), force), 1e-13) << body;
}

TEST(ClosedForm, S1UniversalPendulum) {
  const Mechanism m = chain(
      {{{.type = HingeType::universal}, solid(1.7, {0, 0, -0.9}, {0.05, 0.06, 0.03, 0, 0, 0})}});
  expect_closed_form(m, state_of({0.4, -0.5}, {1.2, -0.7}), row({0.3, -0.2}),
                     row({-3.474026619694136, 5.062069810670624}),
                     {{0, row({0.5462300071766708, 0.5974341633437284, 15.9266339727401,
                               0.3530360917658265, -0.2, 0.02047933841864947})}});
}

TEST(ClosedForm, S2TurntableWithPlanarHinge) {
  const Mechanism m =
      chain({{{.type = HingeType::revolute}, solid(3, {0, 0, 0}, {0.6, 0.6, 0.8, 0, 0, 0})},
             {{.type = HingeType::planar, .frame_on_parent = mount(kOne, {0, 0, 0.1})},
              solid(0.5, {0, 0, 0}, {0.015, 0.012, 0.02, 0, 0, 0})}});
  expect_closed_form(m, state_of({0.9, 0.6, 0.3, -0.2}, {2.0, -1.5, 0.5, 0.4}),
                     row({1.0, 0.05, 0.7, -0.3}), row({1.125, 1.375, 3.975, -3.7375}),
                     {{0, row({0.7, -0.3, 34.335, -0.951, -1.4015, 1.0})},
                      {1, row({0.4083421884182642, -0.6428504158494282, 4.905, 0.0, 0.0, 0.05})}});
}

TEST(ClosedForm, S3VerticalScrew) {
  const Mechanism m = chain({{{.type = HingeType::screw, .pitch = 0.02},
                              solid(0.8, {0, 0, 0.05}, {0.006, 0.005, 0.004, 0, 0, 0})}});
  expect_closed_form(m, state_of({0.3}, {0.0}), row({0.1}), row({-13.18518518518519}),
                     {{0, row({0.0, 0.0, 7.637037037037037, 0.0, 0.0, -0.05274074074074074})}});
}

TEST(ClosedForm, S4FreeBody) {
  const Mechanism m = chain(
      {{{.type = HingeType::free}, solid(12, {0.1, -0.05, 0.2}, {1.8, 2.1, 1.5, 0.1, -0.2, 0.15})}},
      {0.0, 0.0, 0.0});
  expect_closed_form(m, state_of({1, 0, 0, 0, 0, 0, 0}, {0.6, -0.4, 0.9, 0.5, -0.2, 0.3}),
                     VectorXd::Zero(6),
                     row({-0.057956149877817, -0.03325911847225993, 0.02426509186351706,
                          -0.07756143089872387, -0.2465177391619151, -0.05422371934111684}));
}

TEST(ClosedForm, S5DoublePendulum) {
  const Mechanism m =
      chain({{{.type = HingeType::revolute}, solid(1.2, {0, -0.4, 0}, {0.05, 0.05, 0.09, 0, 0, 0})},
             {{.type = HingeType::revolute, .frame_on_parent = mount(kOne, {0, -1, 0})},
              solid(0.8, {0, -0.35, 0}, {0.03, 0.03, 0.05, 0, 0, 0})}},
            {0.0, -9.81, 0.0});
  const State s = state_of({0.5, -0.8}, {1.1, -0.6});
  expect_closed_form(m, s, row({0.9, -0.25}), row({-7.250889761358041, 22.24591232883827}),
                     {{0, row({3.100602291520315, 15.80384351779525, 0, 0, 0, 0.9})},
                      {1, row({-2.856431795354318, 4.08071691350487, 0, 0, 0, -0.25})}});
  const double expected[] = {1.620155757234413, 0.3430778786172063, 0.148};
  EXPECT_LT(error(mass_matrix(m, s.q), symmetric(expected, 2)), 1e-14);
  Workspace w(m);
  forward_dynamics(m, s, row({0.9, -0.25}), w);
  EXPECT_NEAR(articulated_inertia_of(m, w, "b0")(2, 2), 0.8248690626635846, 1e-14);
}

// The factor 2 of Coriolis.
TEST(ClosedForm, S6SliderOnTurntable) {
  const Mechanism m =
      chain({{{.type = HingeType::revolute}, solid(3, {0, 0, 0}, {0.6, 0.6, 0.8, 0, 0, 0})},
             {{.type = HingeType::prismatic, .axes = {{0.6, 0.8, 0.0}}},
              solid(0.5, {0, 0, 0}, {0.001, 0.001, 0.001, 0, 0, 0})}});
  expect_closed_form(m, state_of({0.9, 0.3}, {2.0, 0.7}), row({1.0, -0.4}),
                     row({0.6855791962174941, 0.4}));
}

TEST(ClosedForm, P1Pendulum) {
  const Mechanism m =
      chain({{{.type = HingeType::revolute}, solid(2, {0, -0.75, 0}, {0.2, 0.2, 0.3, 0, 0, 0})}},
            {0.0, -9.81, 0.0});
  const State s = state_of({0.6}, {1.4});
  // The text's force (ground axes) turned into the link.
  const double c = std::cos(0.6), sn = std::sin(0.6);
  const double fx = -8.44405915341196, fy = 17.4052955660025;
  expect_closed_form(m, s, row({0.5}), row({-5.479799295444172}),
                     {{0, row({c * fx + sn * fy, -sn * fx + c * fy, 0, 0, 0, 0.5})}});
  EXPECT_NEAR(bias_effort(m, s)[0], 8.308713996007945, 1e-13);
  EXPECT_NEAR(mass_matrix(m, s.q)(0, 0), 1.425, 1e-15);
}

TEST(ClosedForm, P2PendulumOnCart) {
  const Mechanism m =
      chain({{{.type = HingeType::prismatic, .axes = {{1, 0, 0}}},
              solid(3, {0, 0, 0}, {0.1, 0.1, 0.1, 0, 0, 0})},
             {{.type = HingeType::revolute}, solid(1.5, {0, -0.8, 0}, {0.1, 0.1, 0.12, 0, 0, 0})}},
            {0.0, -9.81, 0.0});
  const State s = state_of({0.0, 0.7}, {0.0, 1.1});
  const std::vector<ExternalWrench> push = {
      {.body = 0, .wrench = {{0, 0, 0}, {2.0, 0.0, 0.0}}, .axes = ExternalWrench::Axes::ground}};
  const double c = std::cos(0.7), sn = std::sin(0.7);
  const double fx = -5.564669420945098, fy = 8.740557873099695;
  expect_closed_form(m, s, VectorXd::Zero(2), row({2.521556473648366, -9.164853644964808}),
                     {{0, row({0, 38.1705578730997, 0, 0, 0, 0})},
                      {1, row({c * fx + sn * fy, -sn * fx + c * fy, 0, 0, 0, 0})}},
                     push);
  const double expected[] = {4.5, 0.9178106247413861, 1.08};
  EXPECT_LT(error(mass_matrix(m, s.q), symmetric(expected, 2)), 1e-14);
}

}  // namespace
}  // namespace catena::test
