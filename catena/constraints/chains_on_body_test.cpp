// SPDX-License-Identifier: BSD-3-Clause
// Chains on a body against the published hand case (Lilly & Orin), against the numbers of the
// reference solutions for [Rodriguez, Jain & Kreutz 1989], and against constraint embedding of the
// same mechanism with its contacts as cut hinges.
#include "catena/constraints/chains_on_body.h"

#include <Eigen/LU>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/closure/assembly.h"
#include "catena/constraints/testing/test_arms.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/momentum.h"

namespace catena::test {
namespace {

using Eigen::VectorXd;

int freedom(const Mechanism& m, const std::string& name) {
  return m.hinges()[index(m.hinge_index(name))].v_index;
}

TEST(ChainsOnBody, TwoVerticalSlides) {
  MechanismBuilder b("slides");
  b.add_body("left", body(2.0, {}, {0.1, 0.1, 0.1}));
  b.add_body("right", body(2.0, {}, {0.1, 0.1, 0.1}));
  b.add_body("member", body(10.0, {}, {1.0, 1.2, 1.4}));
  for (const std::string name : {"left", "right"})
    b.add_hinge(name, kWorld, name,
                {.type = HingeType::prismatic,
                 .axes = {Vec3d::unit_z()},
                 .frame_on_parent = catena::shift(name == "left" ? 0.5 : -0.5, 0, 0)});
  b.add_hinge("member", kWorld, "member", {.type = HingeType::free});
  const Mechanism m = b.finish();
  const Wrenchd up{Vec3d::zero(), Vec3d::unit_z()};
  ChainsOnBody chains(m, m.body_index("member"),
                      {{.name = "left",
                        .body = m.body_index("left"),
                        .against = m.body_index("member"),
                        .on_other = catena::shift(0.5, 0, 0),
                        .constrained = {up}},
                       {.name = "right",
                        .body = m.body_index("right"),
                        .against = m.body_index("member"),
                        .on_other = catena::shift(-0.5, 0, 0),
                        .constrained = {up}}});
  const State state = m.default_state();
  VectorXd effort = VectorXd::Zero(m.freedoms());
  const auto run = [&](double left, double right) {
    effort[freedom(m, "left")] = left;
    effort[freedom(m, "right")] = right;
    return chains.forward(state, effort);
  };
  // (a) and (b) of the reference; closed forms: 10 a = 2 f − 98.1, 2 a = τ − f − 19.62.
  ChainsResult r = run(100, 100);
  EXPECT_TRUE(r.by_blocks);
  EXPECT_NEAR(r.hub_acceleration.linear.z, 4.475714, 5e-7);
  EXPECT_NEAR(r.wrenches[0].force.z, 71.428571, 5e-7);
  EXPECT_NEAR(r.wrenches[1].force.z, 71.428571, 5e-7);
  r = run(110, 90);
  EXPECT_NEAR(r.hub_acceleration.linear.z, 4.475714, 5e-7);
  EXPECT_NEAR(r.hub_acceleration.angular.y, -4.545455, 5e-7);
  EXPECT_NEAR(r.wrenches[0].force.z, 76.883117, 5e-7);
  EXPECT_NEAR(r.wrenches[1].force.z, 65.974026, 5e-7);
  EXPECT_NEAR(r.acceleration[freedom(m, "left")], 6.748442, 5e-7);
  EXPECT_NEAR(r.acceleration[freedom(m, "right")], 2.202987, 5e-7);
  // Felt along z: the member and both slides; about y: their masses at half a metre.
  EXPECT_NEAR(r.effective_inertia(5, 5), 14.0, 1e-12);
  EXPECT_NEAR(r.effective_inertia(1, 1), 1.2 + 4.0 * 0.25, 1e-12);
  EXPECT_NEAR(r.effective_inertia(3, 3), 10.0, 1e-12);
  // One contact let go: the other slide lifts alone.
  chains.set_active(chains.find("right"), false);
  r = run(110, 90);
  EXPECT_EQ(r.wrenches[1].force.z, 0.0);
  EXPECT_NEAR(r.acceleration[freedom(m, "right")], 90.0 / 2.0 - 9.81, 1e-12);
  EXPECT_THROW(chains.find("lef"), NameError);
}

// Two 6R arms that hold one body rigidly: numbers of the reference.
TEST(ChainsOnBody, TwoArmsHoldABody) {
  const Mechanism m = two_arms({0, 0, -9.81});
  State s = two_arms_position(m);
  const auto grip = [&](const std::string& name, const std::string& link, const Vec3d& tip) {
    const Transformd link_pose = body_pose(m, s.q, m.body_index(link));
    // The tip's frame with the ground's axes.
    const Transformd contact{Rotationd::identity(), tip};
    return ChainContact{.name = name,
                        .body = m.body_index(link),
                        .frame = link_pose.inverse() * contact,
                        .against = m.body_index("object"),
                        .on_other = Transformd::from_translation(tip - kCenter)};
  };
  // Rates of the reference.
  const double rates[2][6] = {
      {0.1305718048, 0.1833467504, -0.2098078593, 0.2884133685, -0.1559923565, -0.3679476383},
      {-0.05863629711, 0.1842097872, -0.1353851183, 0.2950895247, 0.005733028522, -0.6420720396}};
  const double torque[6] = {1, 2, -1, 0.5, 0.2, 0.1};
  VectorXd effort = VectorXd::Zero(m.freedoms());
  for (int i = 0; i < 6; ++i) {
    s.v[freedom(m, "a" + std::to_string(i + 1))] = rates[0][i];
    s.v[freedom(m, "b" + std::to_string(i + 1))] = rates[1][i];
    effort[freedom(m, "a" + std::to_string(i + 1))] = torque[i];
  }
  const double twist[6] = {0.1, -0.2, 0.3, 0.05, 0.1, -0.1};
  for (int i = 0; i < 6; ++i) s.v[freedom(m, "object") + i] = twist[i];
  ChainsOnBody chains(m, m.body_index("object"), {grip("1", "a6", kTip1), grip("2", "b6", kTip2)});
  const ChainsResult r = chains.forward(s, effort);
  EXPECT_TRUE(r.by_blocks);
  const double expected[2][6] = {
      {1.41214403, 12.64926014, -0.5890815222, 1.008207698, -9.458753728, -5.590484192},
      {-1.347148488, 8.331944618, 8.292991175, 3.417556191, -17.13995679, -1.479317329}};
  // The reference's positions and rates have ten digits; accelerations of 17 rad/s² from a system
  // whose condition is about a hundred.
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(r.acceleration[freedom(m, "a" + std::to_string(i + 1))], expected[0][i], 2e-7);
    EXPECT_NEAR(r.acceleration[freedom(m, "b" + std::to_string(i + 1))], expected[1][i], 2e-7);
  }
  const double hub[6] = {-3.61192059,  1.109379106,  3.550719538,
                         0.9433248238, 0.8459609531, -10.91892443};
  const Vec3d omega{0.1, -0.2, 0.3}, v{0.05, 0.1, -0.1};
  const Vec3d linear = r.hub_acceleration.linear + cross(omega, v);  // of the point
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(r.hub_acceleration.angular[i], hub[i], 2e-7);
    EXPECT_NEAR(linear[i], hub[3 + i], 2e-7);
  }
  const double force[2][6] = {
      {0.3728754286, 2.762606268, 1.171765953, 18.37584992, 2.173264399, -2.510207216},
      {0.1289154535, -1.489036483, -0.9729275905, -13.6592258, 2.056540367, -3.034414942}};
  for (std::size_t k = 0; k < 2; ++k)
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(r.wrenches[k][i], force[k][i], 1e-6);

  // The effective inertia by its meaning: accelerations for unit wrenches on the body.
  for (int i = 0; i < 6; ++i) {
    Wrenchd unit = Wrenchd::zero();
    unit[i] = 1.0;
    const ExternalWrench push{.body = m.body_index("object"), .wrench = unit};
    const ChainsResult pushed = chains.forward(s, effort, std::span(&push, 1));
    Vector6d change;
    for (int k = 0; k < 6; ++k) change[k] = pushed.hub_acceleration[k] - r.hub_acceleration[k];
    EXPECT_LT((change - r.hub_compliance.col(i)).norm(), 1e-11);
    Vector6d e = Vector6d::Zero();
    e[i] = 1.0;
    EXPECT_LT((r.effective_inertia * change - e).norm(), 1e-9);
  }
}

// The same grasp from a mechanism whose loops are closed by its grips.
TEST(ChainsOnBody, OpenedFromClosedLoops) {
  const Mechanism open = two_arms({0, 0, -9.81});
  State s = two_arms_position(open);
  MechanismBuilder b(open.description());
  const auto grip = [&](const std::string& name, const std::string& link, const Vec3d& tip) {
    const Transformd link_pose = body_pose(open, s.q, open.body_index(link));
    b.add_hinge(name, link, "object",
                {.type = HingeType::weld,
                 .frame_on_parent = link_pose.inverse() * Transformd{Rotationd::identity(), tip},
                 .frame_on_child = Transformd::from_translation(tip - kCenter),
                 .cut = Cut::always});
  };
  grip("grip_a", "a6", kTip1);
  grip("grip_b", "b6", kTip2);
  b.hinge("object").cut = Cut::never;
  const Mechanism m = b.finish();
  ASSERT_FALSE(m.loops().empty());
  s.v = consistent_velocity(m, s.q, VectorXd::Constant(m.freedoms(), 0.3));
  VectorXd effort(m.freedoms());
  for (int i = 0; i < m.freedoms(); ++i) effort[i] = std::sin(i + 1.0);
  const int hub = m.body_index("object");
  const OpenedChains opened = open_chains(m, hub);
  ASSERT_EQ(opened.contacts.size(), 2u);
  ChainsOnBody chains(opened.tree, hub, opened.contacts);
  const ChainsResult r = chains.forward(s, effort);
  const VectorXd embedded = forward_dynamics(m, s, effort, {}, Route::recursive);
  EXPECT_LT((r.acceleration - embedded).norm(), 1e-9 * embedded.norm());
  try {
    open_chains(m, m.body_index("a3"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("neither on 'a3' nor on the ground"), std::string::npos)
        << e.what();
  }
}

// A quadruped at rest on point feet under static torques does not move, and its feet carry it.
TEST(ChainsOnBody, StandingStill) {
  MechanismBuilder b("quadruped");
  b.add_body("trunk", body(20.0, {0.02, 0.01, 0.0}, {0.6, 0.9, 1.2}));
  b.add_hinge("trunk", kWorld, "trunk", {.type = HingeType::free});
  std::vector<std::string> feet;
  for (int leg = 0; leg < 4; ++leg) {
    const std::string l = "leg" + std::to_string(leg);
    const double x = leg < 2 ? 0.3 : -0.3, y = leg % 2 == 0 ? 0.2 : -0.2;
    b.add_body(l + "_hip", body(0.5, {0, 0, 0}, {0.002, 0.002, 0.002}));
    b.add_body(l + "_thigh", body(1.0, {0, 0, -0.15}, {0.01, 0.01, 0.001}));
    b.add_body(l + "_shin", body(0.6, {0, 0, -0.12}, {0.006, 0.006, 0.0006}));
    b.add_hinge(l + "_hip", "trunk", l + "_hip",
                {.axes = {Vec3d::unit_x()}, .frame_on_parent = catena::shift(x, y, 0)});
    b.add_hinge(l + "_thigh", l + "_hip", l + "_thigh", {.axes = {Vec3d::unit_y()}});
    b.add_hinge(l + "_shin", l + "_thigh", l + "_shin",
                {.axes = {Vec3d::unit_y()}, .frame_on_parent = catena::shift(0, 0, -0.3)});
    feet.push_back(l + "_shin");
  }
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.q[6] = 0.5;
  for (int leg = 0; leg < 4; ++leg) {
    s.q[m.position_index("leg" + std::to_string(leg) + "_hip")] = 0.1 * (leg - 1.5);
    s.q[m.position_index("leg" + std::to_string(leg) + "_thigh")] = 0.5 + 0.05 * leg;
    s.q[m.position_index("leg" + std::to_string(leg) + "_shin")] = -1.0 + 0.07 * leg;
  }
  const Transformd foot = catena::shift(0, 0, -0.25);
  std::vector<ChainContact> contacts;
  std::vector<Vec3d> places;
  for (const std::string& name : feet) {
    const int shin = m.body_index(name);
    places.push_back(body_pose(m, s.q, shin) * Vec3d{0, 0, -0.25});
    contacts.push_back({.name = name,
                        .body = shin,
                        .frame = foot,
                        .on_other = Transformd::from_translation(places.back()),
                        .type = HingeType::spherical});
  }
  // Vertical forces at the feet that carry the weight without a moment about the mass centre: the
  // solution of least norm. Torques then follow from inverse dynamics.
  const Vec3d center = center_of_mass(m, s.q);
  const double weight = m.total_mass() * 9.81;
  Eigen::Matrix<double, 3, 4> balance;
  for (int k = 0; k < 4; ++k)
    balance.col(k) << 1.0, places[index(k)].x - center.x, places[index(k)].y - center.y;
  const Eigen::Vector4d carry = balance.transpose() * (balance * balance.transpose()).inverse() *
                                Eigen::Vector3d(weight, 0.0, 0.0);
  std::vector<ExternalWrench> pushes;
  pushes.reserve(4);
  for (std::size_t k = 0; k < 4; ++k)
    pushes.push_back({.body = contacts[k].body,
                      .wrench = {Vec3d::zero(), {0, 0, carry[static_cast<int>(k)]}},
                      .point = {0, 0, -0.25},
                      .axes = ExternalWrench::Axes::ground});
  const VectorXd effort = inverse_dynamics(m, s, VectorXd::Zero(m.freedoms()), pushes);
  EXPECT_LT(effort.head(6).norm(), 1e-10);  // the trunk needs nothing
  ChainsOnBody chains(m, m.body_index("trunk"), contacts);
  const ChainsResult r = chains.forward(s, effort);
  EXPECT_LT(r.acceleration.norm(), 1e-9);
  Vec3d sum = Vec3d::zero();
  for (std::size_t k = 0; k < 4; ++k) {
    // On the ground.
    EXPECT_NEAR(r.wrenches[k].force.z, -carry[static_cast<int>(k)], 1e-9);
    sum += r.wrenches[k].force;
  }
  EXPECT_NEAR(sum.z, -weight, 1e-9);
  EXPECT_NEAR(sum.x, 0.0, 1e-9);
}

// Two planar 3R arms on one body (case VC-SOA-4): 9 of 12 rows are independent, each arm is short.
TEST(ChainsOnBody, ShortChainsHoldTheBodyItself) {
  MechanismBuilder b("planar");
  b.set_gravity({});
  for (int arm = 0; arm < 2; ++arm)
    for (int i = 0; i < 3; ++i) {
      const std::string name = std::string(arm == 0 ? "a" : "b") + std::to_string(i);
      b.add_body(name, body(1.0, {0.25, 0, 0}, {0.01, 0.02, 0.03}));
      b.add_hinge(
          name, i == 0 ? kWorld : std::string(arm == 0 ? "a" : "b") + std::to_string(i - 1), name,
          {.axes = {Vec3d::unit_z()},
           .frame_on_parent = i == 0 ? catena::shift(1.5 * arm, 0, 0) : catena::shift(0.5, 0, 0)});
    }
  b.add_body("object", body(2.0, {}, {0.1, 0.2, 0.3}));
  b.add_hinge("object", kWorld, "object", {.type = HingeType::free});
  const Mechanism m = b.finish();
  State s = m.default_state();
  const double q[2][3] = {{0.6, 0.5, -0.9}, {std::numbers::pi - 0.7, -0.4, 0.8}};
  const double torque[2][3] = {{0.5, -0.2, 0.3}, {0.4, 0.1, 0.0}};
  VectorXd effort = VectorXd::Zero(m.freedoms());
  for (int arm = 0; arm < 2; ++arm)
    for (int i = 0; i < 3; ++i) {
      const std::string name = std::string(arm == 0 ? "a" : "b") + std::to_string(i);
      s.q[m.position_index(name)] = q[arm][i];
      effort[freedom(m, name)] = torque[arm][i];
    }
  const Vec3d center{0.75, 0.6, 0.0};
  const int object = m.hinges()[index(m.hinge_index("object"))].q_index;
  for (int i = 0; i < 3; ++i) s.q[object + 4 + i] = center[i];
  std::vector<ChainContact> contacts;
  for (int arm = 0; arm < 2; ++arm) {
    const int link = m.body_index(arm == 0 ? "a2" : "b2");
    const Transformd pose = body_pose(m, s.q, link);
    const Vec3d tip = pose * Vec3d{0.3, 0, 0};
    contacts.push_back({.name = std::to_string(arm),
                        .body = link,
                        .frame = pose.inverse() * Transformd::from_translation(tip),
                        .against = m.body_index("object"),
                        .on_other = Transformd::from_translation(tip - center)});
  }
  // The object's twist, and the rates that go with it.
  const Vec3d omega{0, 0, 0.3}, v{0.1, -0.2, 0};
  for (int i = 0; i < 3; ++i) {
    s.v[freedom(m, "object") + i] = omega[i];
    s.v[freedom(m, "object") + 3 + i] = v[i];
  }
  for (int arm = 0; arm < 2; ++arm) {
    Eigen::Matrix3d jacobian;  // of (ω_z, v_x, v_y) of the tip
    const Vec3d tip = contacts[index(arm)].on_other.translation + center;
    for (int i = 0; i < 3; ++i) {
      const std::string name = std::string(arm == 0 ? "a" : "b") + std::to_string(i);
      const Vec3d joint = body_pose(m, s.q, m.body_index(name)).translation;
      const Vec3d velocity = cross(Vec3d::unit_z(), tip - joint);
      jacobian.col(i) << 1.0, velocity.x, velocity.y;
    }
    const Vec3d wanted = v + cross(omega, tip - center);
    const Eigen::Vector3d rates = jacobian.inverse() * Eigen::Vector3d(0.3, wanted.x, wanted.y);
    for (int i = 0; i < 3; ++i)
      s.v[freedom(m, std::string(arm == 0 ? "a" : "b") + std::to_string(i))] = rates[i];
  }
  ChainsOnBody chains(m, m.body_index("object"), contacts);
  const ChainsResult r = chains.forward(s, effort);
  EXPECT_FALSE(r.by_blocks);
  EXPECT_EQ(r.rank, 9);
  const double expected[6] = {2.678476578,   -6.413133276, 3.13791512,
                              -0.9848662839, 1.099930599,  -0.7118058935};
  for (int i = 0; i < 6; ++i)
    EXPECT_NEAR(r.acceleration[freedom(m, (i < 3 ? "a" : "b") + std::to_string(i % 3))],
                expected[i], 1e-8);
  EXPECT_NEAR(r.hub_acceleration.angular.z, -0.5967415781, 1e-8);
  const Vec3d linear = r.hub_acceleration.linear + cross(omega, v);
  EXPECT_NEAR(linear.x, 0.5636614038, 1e-8);
  EXPECT_NEAR(linear.y, -0.005665669696, 1e-8);
  EXPECT_TRUE(std::isinf(r.effective_inertia(5, 5)));  // held out of the plane
}

}  // namespace
}  // namespace catena::test
