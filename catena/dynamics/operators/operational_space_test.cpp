// SPDX-License-Identifier: BSD-3-Clause
// The operational space against dense matrices and finite differences, and the multi-arm cases of
// the spatial operator algebra.
#include "catena/dynamics/operators/operational_space.h"

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/closure/loop_closure.h"
#include "catena/dynamics/operators/influence.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/dynamics/testing/operator_test_support.h"

namespace catena::test {
namespace {

constexpr std::uint8_t kZ = 0b100000;

Matrix4d frame_pose(const Mechanism& m, const VectorXd& q, const TaskFrame& frame) {
  return body_pose(m, node_poses(m, q), m.bodies()[index(frame.body)].name) * matrix(frame.pose);
}

// Central differences of the frames' poses.
MatrixXd numeric_jacobian(const Mechanism& m, const VectorXd& q,
                          const std::vector<TaskFrame>& frames, int rows) {
  constexpr double kStep = 1e-5;
  MatrixXd j(rows, m.freedoms());
  for (int k = 0; k < m.freedoms(); ++k) {
    const VectorXd forth = integrate(m, q, kStep * VectorXd::Unit(m.freedoms(), k));
    const VectorXd back = integrate(m, q, -kStep * VectorXd::Unit(m.freedoms(), k));
    int row = 0;
    for (const TaskFrame& frame : frames) {
      const Matrix4d a = frame_pose(m, back, frame), b = frame_pose(m, forth, frame);
      const Matrix3d turn =
          b.topLeftCorner<3, 3>() * a.topLeftCorner<3, 3>().transpose() - Matrix3d::Identity();
      Vector6d twist;
      twist << 0.5 * Vector3d(turn(2, 1) - turn(1, 2), turn(0, 2) - turn(2, 0),
                              turn(1, 0) - turn(0, 1)),
          b.topRightCorner<3, 1>() - a.topRightCorner<3, 1>();
      twist /= 2.0 * kStep;
      if (frame.axes == TaskFrame::Axes::frame) {
        const Matrix3d r = frame_pose(m, q, frame).topLeftCorner<3, 3>();
        twist << r.transpose() * twist.head<3>(), r.transpose() * twist.tail<3>();
      }
      for (int i = 0; i < 6; ++i)
        if ((frame.rows >> i) & 1) j(row++, k) = twist[i];
    }
  }
  return j;
}

MatrixXd jacobian(OperationalSpace& space, int freedoms) {
  MatrixXd j(space.rows(), freedoms);
  VectorXd column;
  for (int k = 0; k < freedoms; ++k) {
    space.apply_jacobian(VectorXd::Unit(freedoms, k), column);
    j.col(k) = column;
  }
  return j;
}

TEST(OperationalSpace, AgreesWithDenseMatricesOnRandomTrees) {
  Random random(31);
  for (int i = 0; i < 24; ++i) {
    SCOPED_TRACE(i);
    TreeSettings settings;
    settings.bodies = 6 + i / 2;
    settings.free_base = i % 2 == 0;
    settings.chain_share = 0.4;
    const bool rotors = i % 4 >= 2;
    settings.reversed = !rotors;
    MechanismBuilder builder = random_tree(random, settings);
    if (rotors) add_rotors(random, builder);
    const Mechanism m = builder.finish();
    const VectorXd q = random_position(m, static_cast<std::uint64_t>(i));
    std::vector<TaskFrame> frames;
    for (int t = 0; t < 3; ++t) {
      TaskFrame f;
      f.body = random.below(static_cast<int>(m.bodies().size()));
      f.pose = random.pose();
      f.axes = t == 1 ? TaskFrame::Axes::frame : TaskFrame::Axes::ground;
      f.rows = t == 0 ? kAllRows : (t == 1 ? kLinearRows : std::uint8_t{0b100101});
      if (m.bodies()[index(f.body)].node >= 0) frames.push_back(f);
    }
    if (frames.empty()) continue;
    Workspace w(m);
    articulate(m, q, w);
    OperationalSpace space(m, frames);
    space.update(w);
    const MatrixXd inverse = space.inverse_inertia();
    const MatrixXd j = jacobian(space, m.freedoms());
    EXPECT_LT(distance(j, numeric_jacobian(m, q, frames, space.rows())), 1e-8);
    const MatrixXd mass = mass_matrix(m, q);
    EXPECT_LT(distance(inverse, j * Cholesky(mass).solve(j.transpose())), 1e-10);
    VectorXd effort;
    const VectorXd f = VectorXd::LinSpaced(space.rows(), -1.0, 1.5);
    space.apply_jacobian_transposed(f, effort);
    EXPECT_LT((effort - j.transpose() * f).norm(), 1e-12 * (1.0 + effort.norm()));
  }
}

// J X (Xᵀ M X)⁻¹ Xᵀ Jᵀ, with J by differences of positions and X by the velocities that keep the
// loops closed.
TEST(OperationalSpace, ClosedMechanisms) {
  const TwoFourBars series = two_four_bars();
  const Mechanism hexapod = platform();
  const State s = assemble(hexapod, hexapod.default_state());
  Random random(32);
  for (const auto& [m, q] : {std::pair<const Mechanism&, VectorXd>{series.m, series.s.q},
                             std::pair<const Mechanism&, VectorXd>{hexapod, s.q}}) {
    const int bodies = static_cast<int>(m.bodies().size());
    std::vector<TaskFrame> frames;
    for (const int body : {1, bodies - 3, bodies - 1})
      frames.push_back({.body = body, .pose = random.pose(), .rows = kLinearRows});
    Workspace w(m);
    const MatrixXd mass = mass_matrix(m, q, w);
    articulate(m, q, w);
    OperationalSpace space(m, frames);
    space.update(w);
    const MatrixXd inverse = space.inverse_inertia();
    MatrixXd x(m.freedoms(), mass.rows());
    for (Eigen::Index k = 0; k < mass.rows(); ++k) {
      VectorXd v = VectorXd::Zero(m.freedoms());
      v[w.independent()[index(k)]] = 1.0;
      w.expand(v);
      for (int i = 0; i < static_cast<int>(m.loops().size()); ++i) {
        const LoopClosure loop(m, i);
        const VectorXd rate =
            loop.residual(integrate(m, q, 1e-5 * v)) - loop.residual(integrate(m, q, -1e-5 * v));
        EXPECT_LT(rate.norm() / 2e-5, 1e-8 * v.norm());
      }
      x.col(k) = v;
    }
    const MatrixXd j = numeric_jacobian(m, q, frames, space.rows()) * x;
    EXPECT_LT(distance(inverse, j * Cholesky(mass).solve(j.transpose())), 1e-7);
    EXPECT_LT(distance(jacobian(space, static_cast<int>(mass.rows())), j), 1e-8);
    VectorXd back, forth = VectorXd::LinSpaced(space.rows(), -1.0, 1.0);
    if (space.rows() <= mass.rows()) {
      space.apply_consistent_inverse(forth, back);
      space.apply_jacobian(back, back);
      EXPECT_LT((back - forth).norm(), 1e-9);
    }
  }
}

TEST(OperationalSpace, ConsistentInverse) {
  const SpecCase c = spec_case_a();
  Workspace w(c.mechanism);
  articulate(c.mechanism, c.state.q, w);
  TaskFrame tip, middle;
  tip.body = 6;
  tip.pose.translation = {.1, .2, .3};
  middle.body = 3;
  middle.rows = kLinearRows;
  OperationalSpace space(c.mechanism, {tip, middle});
  space.update(w);
  const MatrixXd mass = mass_matrix(c.mechanism, c.state.q);
  const MatrixXd j = jacobian(space, 17);
  const MatrixXd lambda = inverse(j * Cholesky(mass).solve(j.transpose()));
  EXPECT_LT(distance(space.inertia(), lambda), 1e-11);
  const MatrixXd bar = Cholesky(mass).solve(j.transpose()) * lambda;
  const VectorXd x = VectorXd::LinSpaced(9, -1.0, 2.0), effort = VectorXd::LinSpaced(17, 3.0, -1.0);
  VectorXd v, f, rest, twists;
  space.apply_consistent_inverse(x, v);
  EXPECT_LT(distance(v, bar * x), 1e-11);
  space.apply_jacobian(v, twists);
  EXPECT_LT(distance(twists, x), 1e-11);
  space.apply_consistent_inverse_transposed(effort, f);
  EXPECT_LT(distance(f, bar.transpose() * effort), 1e-11);
  space.project_effort(effort, rest);
  EXPECT_LT(distance(rest, effort - j.transpose() * bar.transpose() * effort), 1e-11);
  apply_inverse_mass_matrix(w, rest, v);
  space.apply_jacobian(v, twists);
  EXPECT_LT(twists.norm(), 1e-11 * v.norm());
}

TEST(OperationalSpace, SaysWhatIsWrong) {
  const SpecCase c = spec_case_t();
  TaskFrame nowhere;
  EXPECT_THROW(OperationalSpace(c.mechanism, {nowhere}), NumericalError);
  TaskFrame first;
  first.body = c.mechanism.body_index("b1");
  OperationalSpace space(c.mechanism, {first});
  EXPECT_THROW(space.inertia(), NumericalError);
  Workspace w(c.mechanism);
  articulate(c.mechanism, c.state.q, w);
  space.update(w);
  try {
    space.inertia();  // one freedom cannot serve six rows
    FAIL();
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("b1"), std::string::npos);
  }
}

// ---- Two arms and an object (Rodriguez, Jain & Kreutz, worked by the reader). ----

void add_arm(MechanismBuilder& b, const std::string& prefix, const std::string& base,
             const Vec3d& at) {
  const Vec3d x = Vec3d::unit_x(), y = Vec3d::unit_y(), z = Vec3d::unit_z();
  const std::vector<Vec3d> axes = {z, y, y, x, y, x};
  const std::vector<Vec3d> origins = {at,         {0, 0, .3}, {.5, 0, 0},
                                      {.4, 0, 0}, {.1, 0, 0}, {.1, 0, 0}};
  const std::vector<double> masses = {4, 3, 2, 1, .5, .25};
  const std::vector<Vec3d> centers = {{0, 0, .15}, {.25, 0, 0}, {.2, 0, 0},
                                      {.05, 0, 0}, {.05, 0, 0}, {.05, 0, 0}};
  for (std::size_t i = 0; i < 6; ++i) {
    const std::string name = prefix + std::to_string(i + 1);
    const double m = masses[i];
    b.add_body(name, spec_body(m, centers[i], .01 * m, .02 * m, .03 * m, 0, 0, 0));
    b.add_hinge("h" + name, i == 0 ? base : prefix + std::to_string(i), name,
                spec_hinge(HingeType::revolute, {}, origins[i], {axes[i]}));
  }
}
const std::vector<double> kAngles[2] = {{.3, -.5, .8, .2, .6, -.4},
                                        {std::numbers::pi - .4, -.6, .9, -.3, .5, .1}};

TaskFrame frame_on(const Mechanism& m, const std::string& body, const Vec3d& at) {
  TaskFrame f;
  f.body = m.body_index(body);
  f.pose.translation = at;
  return f;
}

// Acceleration of the frames at v̇ = 0, classical, ground axes, without gravity.
VectorXd bias_of(const Mechanism& m, const State& state, const std::vector<TaskFrame>& frames) {
  Workspace w(m);
  bias_effort(m, state, w);
  const std::vector<Transformd> poses = node_poses(m, state.q);
  VectorXd bias(6 * static_cast<Eigen::Index>(frames.size()));
  Eigen::Index row = 0;
  for (const TaskFrame& frame : frames) {
    const BodyPlace& body = m.bodies()[index(frame.body)];
    const Transformd x = body.X_node_body * frame.pose;
    const Rotationd r = poses[index(body.node)].rotation;
    Twistd a = w.node(body.node).acceleration;
    a.linear += r.inverse_times(m.gravity());
    const Twistd rate = Ad_inverse(x, a), v = Ad_inverse(x, w.node(body.node).twist);
    const Rotationd out = r * x.rotation;
    bias.segment<3>(row) = to_eigen(out * rate.angular);
    bias.segment<3>(row + 3) = to_eigen(out * (rate.linear + cross(v.angular, v.linear)));
    row += 6;
  }
  return bias;
}

struct Grasp {
  Mechanism mechanism;
  State state;
  VectorXd effort;
  std::vector<TaskFrame> frames;  // tips of the arms, then the same points of the object
};

// Closures "tip twist − object twist = 0": accelerations, and the wrenches on the object.
void solve_grasp(const Grasp& g, VectorXd& acceleration, VectorXd& force, VectorXd& singular) {
  const Mechanism& m = g.mechanism;
  Workspace w(m);
  const VectorXd open = forward_dynamics(m, g.state, g.effort, w);
  OperationalSpace space(m, g.frames);
  space.update(w);
  MatrixXd a(12, 24);
  a << MatrixXd::Identity(12, 12), -MatrixXd::Identity(12, 12);
  VectorXd moved, effort, change;
  space.apply_jacobian(open, moved);
  const MatrixXd left = a * space.inverse_inertia() * a.transpose();
  EXPECT_EQ(space.inverse_inertia().block(0, 6, 6, 6).norm(), 0.0);  // separate arms
  force = CompleteOrthogonal(left, 1e-10).solve(a * (moved + bias_of(m, g.state, g.frames)));
  singular = singular_values(left);
  space.apply_jacobian_transposed(a.transpose() * force, effort);
  apply_inverse_mass_matrix(w, effort, change);
  acceleration = open - change;
}

VectorXd values(std::initializer_list<double> x) {
  return Eigen::Map<const VectorXd>(x.begin(), static_cast<Eigen::Index>(x.size()));
}

Grasp two_arms(const Vec3d& gravity) {
  MechanismBuilder b;
  b.set_gravity(gravity);
  add_arm(b, "a", kWorld, {0, 0, 0});
  add_arm(b, "c", kWorld, {1.5, 0, 0});
  b.add_body("object", spec_body(5, {}, .1, .2, .3, 0, 0, 0));
  HingeSettings free;
  free.type = HingeType::free;
  b.add_hinge("float", kWorld, "object", free);
  Grasp g{b.finish(), {}, VectorXd::Zero(18), {}};
  const Mechanism& m = g.mechanism;
  g.state = m.default_state();
  const std::vector<double> rates[2] = {
      {0.1305718048, 0.1833467504, -0.2098078593, 0.2884133685, -0.1559923565, -0.3679476383},
      {-0.05863629711, 0.1842097872, -0.1353851183, 0.2950895247, 0.005733028522, -0.6420720396}};
  const std::vector<double> torque = {1, 2, -1, .5, .2, .1};
  for (std::size_t arm = 0; arm < 2; ++arm)
    for (std::size_t i = 0; i < 6; ++i) {
      const int v = m.velocity_index((arm == 0 ? "ha" : "hc") + std::to_string(i + 1));
      const int q = m.position_index((arm == 0 ? "ha" : "hc") + std::to_string(i + 1));
      g.state.q[q] = kAngles[arm][i];
      g.state.v[v] = rates[arm][i];
      if (arm == 0) g.effort[v] = torque[i];
    }
  const int v = m.velocity_index("float.wx"), q = m.position_index("float.qw");
  g.state.q.segment<3>(q + 4) << .75, .2, .3;
  g.state.v.segment<6>(v) << .1, -.2, .3, .05, .1, -.1;
  g.frames = {frame_on(m, "a6", {.1, 0, 0}), frame_on(m, "c6", {.1, 0, 0})};
  for (int arm = 0; arm < 2; ++arm) {
    const Vector3d tip = frame_pose(m, g.state.q, g.frames[index(arm)]).topRightCorner<3, 1>();
    g.frames.push_back(frame_on(m, "object", from_eigen(Vector3d(tip - Vector3d(.75, .2, .3)))));
  }
  return g;
}

TEST(OperationalSpace, TwoArmsHoldingOneBody) {
  const VectorXd expected_bias =
      values({0.02473190089, 0.04493557857, 0.08730924811, 0.006015512093, -0.004308132624,
              -0.0007510292871, 0.004767891045, -0.08383117564, -0.0379154327, 0.006147914944,
              -0.01393703689, -0.01795085168});
  for (const bool heavy : {false, true}) {
    const Grasp g = two_arms({0, 0, heavy ? -9.81 : 0.0});
    const Mechanism& m = g.mechanism;
    const VectorXd tip = frame_pose(m, g.state.q, g.frames[0]).topRightCorner<3, 1>();
    EXPECT_LT(distance(tip, values({0.9883019596, 0.3292019423, 0.2374377955})), 1e-9);
    const VectorXd bias = bias_of(m, g.state, g.frames);
    const Vector3d spin(.1, -.2, .3), speed(.05, .1, -.1);
    VectorXd u = bias.tail(12) - bias.head(12);
    for (const int row : {3, 9}) u.segment<3>(row) -= spin.cross(speed);  // classical v̇ in the text
    EXPECT_LT((u - expected_bias).norm(), 1e-8);
    VectorXd a, f, singular;
    solve_grasp(g, a, f, singular);
    const int i = m.velocity_index("float.wx");
    const auto arm = [&](const char* name) {
      VectorXd x(6);
      for (int k = 0; k < 6; ++k) x[k] = a[m.velocity_index(name + std::to_string(k + 1))];
      return x;
    };
    VectorXd object = a.segment<6>(i);
    object.tail<3>() += spin.cross(speed);
    if (!heavy) {
      EXPECT_LT(distance(arm("ha"), values({0.2590643238, 2.093745963, -3.674710813, 3.315064623,
                                            2.727912066, -2.489875509})),
                1e-8);
      EXPECT_LT(distance(arm("hc"), values({-0.2991139523, -1.278212419, 2.007756878, 0.05567580354,
                                            -2.720084161, -1.640353473})),
                1e-8);
      EXPECT_LT(distance(object, values({1.426973621, 1.255414406, 1.633447416, 0.6146953327,
                                         0.38832109, -0.1099008931})),
                1e-8);
      EXPECT_LT(distance(f, values({0.1893023923, 1.242131671, 0.4775326523, 5.932449353,
                                    1.608386988, 0.5905316844, 0.02830210599, -0.2840262415,
                                    -0.1940842376, -2.85897269, 0.3332184623, -1.14003615})),
                1e-8);
    } else {
      EXPECT_LT(distance(arm("ha"), values({1.41214403, 12.64926014, -0.5890815222, 1.008207698,
                                            -9.458753728, -5.590484192})),
                1e-8);
      EXPECT_LT(distance(object, values({-3.61192059, 1.109379106, 3.550719538, 0.9433248238,
                                         0.8459609531, -10.91892443})),
                1e-8);
      EXPECT_LT(distance(f, values({0.3728754286, 2.762606268, 1.171765953, 18.37584992,
                                    2.173264399, -2.510207216, 0.1289154535, -1.489036483,
                                    -0.9729275905, -13.6592258, 2.056540367, -3.034414942})),
                1e-8);
    }
  }
}

// The printed lemma puts zero for the coupling of two arms on one moving base.
TEST(OperationalSpace, TwoArmsOnAFreeBase) {
  MechanismBuilder b;
  b.add_body("base", spec_body(50, {.75, 0, -.2}, 8, 9, 10, 0, 0, 0));
  HingeSettings free;
  free.type = HingeType::free;
  b.add_hinge("float", kWorld, "base", free);
  add_arm(b, "a", "base", {0, 0, 0});
  add_arm(b, "c", "base", {1.5, 0, 0});
  const Mechanism m = b.finish();
  VectorXd q = m.default_state().q;
  for (std::size_t arm = 0; arm < 2; ++arm)
    for (std::size_t i = 0; i < 6; ++i)
      q[m.position_index((arm == 0 ? "ha" : "hc") + std::to_string(i + 1))] = kAngles[arm][i];
  Workspace w(m);
  articulate(m, q, w);
  OperationalSpace space(m, {frame_on(m, "a6", {.1, 0, 0}), frame_on(m, "c6", {.1, 0, 0})});
  space.update(w);
  const MatrixXd& l = space.inverse_inertia();
  EXPECT_NEAR(l.topLeftCorner(6, 6).norm(), 403.3508441, 1e-6);
  EXPECT_NEAR(l.bottomRightCorner(6, 6).norm(), 403.3798559, 1e-6);
  EXPECT_NEAR(l.topRightCorner(6, 6).norm(), 0.02001411524, 1e-10);
  EXPECT_NEAR(l.trace(), 928.8139284, 1e-6);
  EXPECT_NEAR(l(0, 6), 0.010313926, 1e-9);
  EXPECT_NEAR(l(3, 9), 0.0011972056, 1e-9);
}

// Planar arms: nine of the twelve closure rows are independent, and the motion is still unique.
TEST(OperationalSpace, RedundantClosures) {
  MechanismBuilder b;
  b.set_gravity({0, 0, 0});
  for (const char* arm : {"a", "c"})
    for (int i = 1; i <= 3; ++i) {
      const std::string name = arm + std::to_string(i);
      b.add_body(name, spec_body(1, {.25, 0, 0}, .01, .02, .03, 0, 0, 0));
      const Vec3d at = i > 1 ? Vec3d{.5, 0, 0} : (arm[0] == 'a' ? Vec3d{} : Vec3d{1.5, 0, 0});
      b.add_hinge("h" + name, i == 1 ? kWorld : arm + std::to_string(i - 1), name,
                  spec_hinge(HingeType::revolute, {}, at));
    }
  b.add_body("object", spec_body(2, {}, .1, .2, .3, 0, 0, 0));
  HingeSettings free;
  free.type = HingeType::free;
  b.add_hinge("float", kWorld, "object", free);
  Grasp g{b.finish(), {}, VectorXd::Zero(12), {}};
  const Mechanism& m = g.mechanism;
  g.state = m.default_state();
  const std::vector<double> angles = {.6, .5, -.9, std::numbers::pi - .7, -.4, .8};
  const std::vector<double> torque = {.5, -.2, .3, .4, .1, 0};
  const char* names[] = {"ha1", "ha2", "ha3", "hc1", "hc2", "hc3"};
  for (std::size_t i = 0; i < 6; ++i) {
    g.state.q[m.position_index(names[i])] = angles[i];
    g.effort[m.velocity_index(names[i])] = torque[i];
  }
  g.state.q.segment<3>(m.position_index("float.qw") + 4) << .75, .6, 0;
  g.state.v.segment<6>(m.velocity_index("float.wx")) << 0, 0, .3, .1, -.2, 0;
  g.frames = {frame_on(m, "a3", {.3, 0, 0}), frame_on(m, "c3", {.3, 0, 0})};
  for (std::size_t arm = 0; arm < 2; ++arm) {
    const Vector3d tip = frame_pose(m, g.state.q, g.frames[arm]).topRightCorner<3, 1>();
    g.frames.push_back(frame_on(m, "object", from_eigen(Vector3d(tip - Vector3d(.75, .6, 0)))));
  }
  // Rates of the arms that follow the object.
  Workspace w(m);
  articulate(m, g.state.q, w);
  OperationalSpace space(m, g.frames);
  space.update(w);
  const MatrixXd j = jacobian(space, 12);
  const MatrixXd closure = j.topRows(12) - j.bottomRows(12);
  std::vector<Eigen::Index> own;
  for (const char* name : names) own.push_back(m.velocity_index(name));
  const VectorXd rates = CompleteOrthogonal(closure(Eigen::all, own)).solve(-closure * g.state.v);
  g.state.v(own) = rates;
  EXPECT_LT((closure * g.state.v).norm(), 1e-12);

  VectorXd a, f, singular;
  solve_grasp(g, a, f, singular);
  EXPECT_NEAR(singular[0], 22.29, 5e-3);
  EXPECT_NEAR(singular[8], 0.2542, 5e-5);
  EXPECT_LT(singular[9], 1e-12);
  EXPECT_LT(distance(a(own), values({2.678476578, -6.413133276, 3.13791512, -0.9848662839,
                                     1.099930599, -0.7118058935})),
            1e-9);
  VectorXd object = a.segment<6>(m.velocity_index("float.wx"));
  object.tail<3>() += Vector3d(0, 0, .3).cross(Vector3d(.1, -.2, 0));
  EXPECT_LT((object - values({0, 0, -0.5967415781, 0.5636614038, -0.005665669696, 0})).norm(),
            1e-9);
}

// Lilly & Orin: two sliders under one member, one row each.
TEST(OperationalSpace, TwoSlidersLiftAMember) {
  MechanismBuilder b;
  for (const char* name : {"left", "right"}) {
    b.add_body(name, spec_body(2, {}, .1, .1, .1, 0, 0, 0));
    HingeSettings h = spec_hinge(HingeType::prismatic, {}, {name[0] == 'l' ? .5 : -.5, 0, 0});
    b.add_hinge(std::string("h_") + name, kWorld, name, h);
  }
  b.add_body("member", spec_body(10, {}, 1, 1.2, 1, 0, 0, 0));
  HingeSettings free;
  free.type = HingeType::free;
  b.add_hinge("float", kWorld, "member", free);
  const Mechanism m = b.finish();
  const State& state = m.default_state();
  VectorXd effort = VectorXd::Zero(8);
  effort[m.velocity_index("h_left")] = 110;
  effort[m.velocity_index("h_right")] = 90;
  Workspace w(m);
  const VectorXd open = forward_dynamics(m, state, effort, w);
  std::vector<TaskFrame> frames = {frame_on(m, "left", {}), frame_on(m, "right", {}),
                                   frame_on(m, "member", {.5, 0, 0}),
                                   frame_on(m, "member", {-.5, 0, 0})};
  for (TaskFrame& f : frames) f.rows = kZ;
  OperationalSpace space(m, frames);
  space.update(w);
  MatrixXd a(2, 4);
  a << 1, 0, -1, 0, 0, 1, 0, -1;
  VectorXd moved, back, change;
  space.apply_jacobian(open, moved);
  const VectorXd f = Cholesky(a * space.inverse_inertia() * a.transpose()).solve(a * moved);
  space.apply_jacobian_transposed(a.transpose() * f, back);
  apply_inverse_mass_matrix(w, back, change);
  const VectorXd found = open - change;
  EXPECT_NEAR(f[0], 76.883117, 5e-7);
  EXPECT_NEAR(f[1], 65.974026, 5e-7);
  EXPECT_NEAR(found[m.velocity_index("h_left")], 6.748442, 5e-7);
  EXPECT_NEAR(found[m.velocity_index("h_right")], 2.202987, 5e-7);
  const int i = m.velocity_index("float.wx");
  EXPECT_NEAR(found[i + 5], 4.475714, 5e-7);
  EXPECT_NEAR(found[i + 1], -4.545455, 5e-7);
}

}  // namespace
}  // namespace catena::test
