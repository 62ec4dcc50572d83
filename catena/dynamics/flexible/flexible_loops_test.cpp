// SPDX-License-Identifier: BSD-3-Clause
// Closed loops with flexible members against Lagrange's equations with multipliers. What the
// accelerations a must satisfy is checked, with rows J and efforts r of the reference
// (testing/flexible_reference.h):
//
//   d/dt (J v) = 0,      r(q, v, a) − τ in the range of Jᵀ
//
// Both determine a. Loops are made by closing random trees in random, deformed positions.
#include <optional>

#include <Eigen/LU>
#include <Eigen/QR>

#include "catena/dynamics/forces.h"
#include "catena/dynamics/testing/flexible_reference.h"

namespace catena::test {
namespace {

using Reference = FlexibleReference;
using Rate = Reference::Rate;

// What closes the loop: a point in common, with two axes if it is a revolute hinge, or a distance.
struct Closed {
  Mechanism m, tree;  // without what closes it
  State state;
  HingeType type;  // custom: a rod
  int parent = -1, child = -1;
  Transformd on_parent, on_child;
};

template <class S>
Vec3<S> lifted(const Vec3d& v) {
  return {S(v.x), S(v.y), S(v.z)};
}

Transform<Rate> pose_of_body(const Reference::Result<Rate>& r, int body) {
  return body < 0 ? Transform<Rate>::identity() : r.poses[index(body)];
}
Twist<Rate> twist_of_body(const Reference::Result<Rate>& r, int body) {
  return body < 0 ? Twist<Rate>::zero() : r.twists[index(body)];
}

// J v of every row: rates of the closure, in ground axes.
std::vector<Rate> closure_rates(const Closed& c, const Reference::Result<Rate>& r) {
  const Transform<Rate> pa = pose_of_body(r, c.parent), pb = pose_of_body(r, c.child);
  const Twist<Rate> va = twist_of_body(r, c.parent), vb = twist_of_body(r, c.child);
  const Vec3<Rate> a = lifted<Rate>(c.on_parent.translation),
                   b = lifted<Rate>(c.on_child.translation);
  const Vec3<Rate> ua = pa.rotation * (va.linear + cross(va.angular, a));
  const Vec3<Rate> ub = pb.rotation * (vb.linear + cross(vb.angular, b));
  if (c.type == HingeType::custom) return {dot(pb * b - pa * a, ub - ua)};
  std::vector<Rate> rates;
  for (int i = 0; i < 3; ++i) rates.push_back(ub[i] - ua[i]);
  if (c.type != HingeType::revolute) return rates;
  const Vec3<Rate> turn = pb.rotation * vb.angular - pa.rotation * va.angular;
  for (int i = 0; i < 2; ++i)
    rates.push_back(dot(turn, pa.rotation * lifted<Rate>(c.on_parent.rotation.axis(i))));
  return rates;
}

MatrixXd closure_rows(const Closed& c, const Reference& reference) {
  MatrixXd j;
  for (int i = 0; i < c.m.freedoms(); ++i) {
    const auto rates = closure_rates(c, reference.by_rate(c.state, i));
    if (i == 0) j.resize(static_cast<Eigen::Index>(rates.size()), c.m.freedoms());
    for (std::size_t k = 0; k < rates.size(); ++k)
      j(static_cast<Eigen::Index>(k), i) = rates[k].derivative[0];
  }
  return j;
}

// A tree, closed between two bodies of it as they are in a random position.
std::optional<Closed> random_loop(Random& random, int bodies, HingeType type) {
  MechanismBuilder builder = random_flexible_tree(random, bodies, false);
  const Mechanism tree = builder.finish();
  Closed c{tree, tree, {}, type, -1, -1, random.pose(), {}};
  if (tree.flexible_bodies().empty()) return std::nullopt;
  c.state = random_case(random, tree, 0).state;
  for (const FlexiblePlace& f : tree.flexible_bodies())
    for (int k = 0; k < f.constants->modes(); ++k)
      c.state.q[tree.position_index(f.name + ".mode1") + k] = random.number(-0.3, 0.3);
  const int count = static_cast<int>(tree.bodies().size());
  c.child = random.below(count);
  c.parent = random.below(count + 1) - 1;
  if (c.child == c.parent || tree.bodies()[index(c.child)].name.ends_with(".modes") ||
      (c.parent >= 0 && tree.bodies()[index(c.parent)].name.ends_with(".modes")))
    return std::nullopt;
  const auto poses = Reference(tree).at_state(c.state).poses;
  const Transformd parent = c.parent < 0 ? Transformd::identity() : poses[index(c.parent)];
  c.on_child = poses[index(c.child)].inverse() * parent * c.on_parent;
  const std::string child = tree.bodies()[index(c.child)].name;
  const std::string of = c.parent < 0 ? kWorld : tree.bodies()[index(c.parent)].name;
  if (type == HingeType::custom) {  // a rod between other points
    c.on_child.translation = random.vector();
    const double length =
        norm(poses[index(c.child)] * c.on_child.translation - parent * c.on_parent.translation);
    Rod rod{.name = "rod"};
    rod.body_a = of;
    rod.point_a = c.on_parent.translation;
    rod.body_b = child;
    rod.point_b = c.on_child.translation;
    rod.length = length;
    builder.add_rod(rod);
  } else {
    HingeSettings hinge{.type = type, .cut = Cut::always};
    hinge.frame_on_parent = c.on_parent;
    hinge.frame_on_child = c.on_child;
    builder.add_hinge("closing", of, child, hinge);
  }
  c.m = builder.finish();
  if (c.m.freedoms() != tree.freedoms() || c.m.loops().empty()) return std::nullopt;
  bool flexible = false;
  for (const int n : c.m.loops().front().nodes)
    flexible = flexible || c.m.nodes()[index(n)].hinge == NodeHinge::modes;
  const MatrixXd j = closure_rows(c, Reference(c.m));
  const VectorXd pivots = j.colPivHouseholderQr().matrixR().diagonal().cwiseAbs();
  constexpr double kClearly = 1e-3;  // far from a singular position
  if (!flexible || j.rows() >= c.m.freedoms() || pivots[j.rows() - 1] < kClearly * pivots[0])
    return std::nullopt;
  // Velocities that keep it closed, by the reference's rows.
  c.state.v -= j.transpose() * (j * j.transpose()).ldlt().solve(j * c.state.v);
  return c;
}

// Of accelerations a under efforts τ; sizes of what cancels are taken from the reference.
void check(const Closed& c, const Reference& reference, const MatrixXd& j, const VectorXd& a,
           const VectorXd& effort, const std::vector<ExternalWrench>& external, Worst& motion,
           Worst& balance) {
  const auto rates = closure_rates(c, reference.along(c.state, a));
  double most = 0.0;
  for (const Rate& r : rates) most = std::max(most, std::abs(r.derivative[0]));
  motion.take(most / (1.0 + (j.cwiseAbs() * a.cwiseAbs()).maxCoeff()));
  const VectorXd open = reference.efforts(c.state, a, external) - effort;
  const VectorXd lambda = j.transpose().colPivHouseholderQr().solve(open);
  const double size = 1.0 + effort.cwiseAbs().maxCoeff() +
                      (reference.mass_matrix(c.state).cwiseAbs() * a.cwiseAbs()).maxCoeff();
  balance.take((open - j.transpose() * lambda).cwiseAbs().maxCoeff() / size);
}

constexpr double kLoopTolerance = 1e-11;  // of sums that the position of a loop conditions

void compare_loops(HingeType type, unsigned seed, int wanted) {
  Random random(seed);
  Worst motion, balance, hybrid_motion, hybrid_balance, mass, inverse, multipliers;
  int count = 0;
  for (int i = 0; i < 40 * wanted && count < wanted; ++i) {
    const std::optional<Closed> made = random_loop(random, 2 + i % 4, type);
    if (!made) continue;
    const Closed& c = *made;
    ++count;
    SCOPED_TRACE("loop " + std::to_string(i));
    const Reference reference(c.m);
    const MatrixXd j = closure_rows(c, reference);
    const Case given = random_case(random, c.m, random.below(3));
    const VectorXd a = forward_dynamics(c.m, c.state, given.effort, given.external);
    check(c, reference, j, a, given.effort, given.external, motion, balance);
    const VectorXd by_multipliers =
        forward_dynamics(c.m, c.state, given.effort, given.external, Route::multipliers);
    multipliers.take((by_multipliers - a).cwiseAbs().maxCoeff() / (1.0 + a.cwiseAbs().maxCoeff()));
    // Mass matrix and inverse dynamics: those of the independent freedoms.
    Workspace w(c.m);
    const VectorXd found = inverse_dynamics(c.m, c.state, a, w, given.external);
    const VectorXd lambda = j.transpose().colPivHouseholderQr().solve(
        reference.efforts(c.state, a, given.external) - found);
    inverse.take((reference.efforts(c.state, a, given.external) - found - j.transpose() * lambda)
                     .cwiseAbs()
                     .maxCoeff() /
                 (1.0 + found.cwiseAbs().maxCoeff()));
    const MatrixXd reduced = mass_matrix(c.m, c.state.q, w);
    const MatrixXd kernel = Eigen::FullPivLU<MatrixXd>(j).kernel();
    const std::vector<int>& own = w.independent();
    ASSERT_EQ(kernel.cols(), static_cast<Eigen::Index>(own.size()));
    // The independent freedoms as the unit matrix.
    const MatrixXd basis = kernel * MatrixXd(kernel(own, Eigen::all)).inverse();
    const MatrixXd expected = basis.transpose() * reference.mass_matrix(c.state) * basis;
    mass.take((reduced - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff());
    // One independent freedom motion-driven.
    HybridInput input;
    input.effort = given.effort;
    input.acceleration = given.acceleration;
    input.motion_driven.assign(to_size(c.m.freedoms()), 0);
    const int driven = own[index(random.below(static_cast<int>(own.size())))];
    input.motion_driven[index(driven)] = 1;
    const HybridResult hybrid = hybrid_dynamics(c.m, c.state, input, given.external);
    EXPECT_EQ(hybrid.acceleration[driven], given.acceleration[driven]);
    check(c, reference, j, hybrid.acceleration, hybrid.effort, given.external, hybrid_motion,
          hybrid_balance);
  }
  EXPECT_EQ(count, wanted);
  EXPECT_LT(motion.value, kLoopTolerance);
  EXPECT_LT(balance.value, kLoopTolerance);
  EXPECT_LT(inverse.value, kLoopTolerance);
  EXPECT_LT(multipliers.value, 1e-8);  // the condition of the mass matrix times that of J M⁻¹ Jᵀ
  EXPECT_LT(mass.value, 1e-8);         // its entries grow with those of X, at the worst chart
  EXPECT_LT(hybrid_motion.value, kLoopTolerance);
  EXPECT_LT(hybrid_balance.value, kLoopTolerance);
}

TEST(FlexibleLoops, ClosedByBalls) { compare_loops(HingeType::spherical, 31, 12); }
TEST(FlexibleLoops, ClosedByRevoluteHinges) { compare_loops(HingeType::revolute, 32, 10); }
TEST(FlexibleLoops, ClosedByRods) { compare_loops(HingeType::custom, 33, 12); }

TEST(FlexibleLoops, ForcesOfCutHinges) {
  // The tree without the cut hinge moves in the same way when its wrench acts on both sides.
  for (const HingeType type : {HingeType::spherical, HingeType::revolute}) {
    Random random(41);
    Worst error;
    int count = 0;
    for (int i = 0; i < 300 && count < 8; ++i) {
      const std::optional<Closed> made = random_loop(random, 2 + i % 4, type);
      if (!made) continue;
      ++count;
      const Closed& c = *made;
      const Case given = random_case(random, c.m, random.below(3));
      const VectorXd a = forward_dynamics(c.m, c.state, given.effort, given.external);
      Workspace w(c.m);
      InterbodyForces forces(c.m);
      forces.compute(c.state, a, w, given.external, &given.effort);
      const Wrenchd on_child = forces.at(c.m.hinge_index("closing"), ForceAxes::ground).wrench;
      std::vector<ExternalWrench> loads = given.external;
      const auto push = [&](int body, const Wrenchd& wrench, const Vec3d& point) {
        if (body < 0) return;
        ExternalWrench e;
        e.body = body;
        e.wrench = wrench;
        e.point = point;
        e.axes = ExternalWrench::Axes::ground;
        loads.push_back(e);
      };
      push(c.child, on_child, c.on_child.translation);
      push(c.parent, -on_child, c.on_parent.translation);
      const VectorXd opened = forward_dynamics(c.tree, c.state, given.effort, loads);
      error.take((opened - a).cwiseAbs().maxCoeff() / (1.0 + a.cwiseAbs().maxCoeff()));
    }
    EXPECT_EQ(count, 8);
    EXPECT_LT(error.value, 1e-8);  // the condition of the tree's mass matrix on top
  }
}

TEST(FlexibleLoops, RuthlessMembersAreRefused) {
  Random random(5);
  MechanismBuilder b("loop");
  b.add_flexible_body("boom", random_flexible(random, 2, 1, FlexibleModel::ruthless));
  b.add_hinge("root", kWorld, "boom", random.hinge(HingeType::gimbal));
  Rod rod{.name = "rod"};
  rod.body_a = kWorld;
  rod.body_b = "boom.a0";
  rod.length = 1.0;
  b.add_rod(rod);
  EXPECT_TRUE(mentions(problems_of(b), {"boom", "ruthless", "consistent"}));
}

TEST(FlexibleForces, AgainstHingesThatAreLetGo) {
  // A hinge made free needs the wrench that it transmitted, by the reference's own equations.
  Random random(51);
  Worst error;
  int count = 0;
  for (int i = 0; i < 24; ++i) {
    const Mechanism m = random_flexible_tree(random, 2 + i / 6, i % 2 == 0).finish();
    const Case c = random_case(random, m, random.below(3));
    Workspace w(m);
    InterbodyForces forces(m);
    forces.compute(c.state, c.acceleration, w, c.external);
    for (std::size_t h = 0; h < m.hinges().size(); ++h) {
      const Hinge& hinge = m.description().hinges[h];
      const bool turns = hinge.type == HingeType::revolute;
      if (!turns && hinge.type != HingeType::prismatic) continue;
      Description freed = m.description();
      freed.hinges[h].type = HingeType::free;
      freed.hinges[h].axes.clear();
      const Mechanism other = MechanismBuilder(freed).finish();
      State state = other.default_state();
      VectorXd acceleration(other.freedoms());
      for (std::size_t k = 0; k < m.hinges().size(); ++k) {
        const HingePlace &from = m.hinges()[k], &to = other.hinges()[k];
        if (k == h || from.freedoms == 0) continue;
        state.q.segment(to.q_index, to.coordinates) =
            c.state.q.segment(from.q_index, from.coordinates);
        state.v.segment(to.v_index, to.freedoms) = c.state.v.segment(from.v_index, from.freedoms);
        acceleration.segment(to.v_index, to.freedoms) =
            c.acceleration.segment(from.v_index, from.freedoms);
      }
      const HingePlace &from = m.hinges()[h], &to = other.hinges()[h];
      const Vec3d axis = normalized(hinge.axes[0]);
      const double q = c.state.q[from.q_index];
      const int part = turns ? 0 : 3;
      state.q.segment(to.q_index, 7) << 1, 0, 0, 0, 0, 0, 0;
      if (turns) state.q[to.q_index] = std::cos(0.5 * q);
      state.v.segment(to.v_index, 6).setZero();
      acceleration.segment(to.v_index, 6).setZero();
      for (int k = 0; k < 3; ++k) {
        state.q[to.q_index + (turns ? 1 : 4) + k] = (turns ? std::sin(0.5 * q) : q) * axis[k];
        state.v[to.v_index + part + k] = c.state.v[from.v_index] * axis[k];
        acceleration[to.v_index + part + k] = c.acceleration[from.v_index] * axis[k];
      }
      const VectorXd needed = Reference(other).efforts(state, acceleration, c.external);
      const Wrenchd found = forces.at(static_cast<int>(h), ForceAxes::hinge).wrench;
      for (int k = 0; k < 6; ++k)
        error.take(std::abs(found[k] - needed[to.v_index + k]) /
                   (1.0 + needed.segment(to.v_index, 6).cwiseAbs().maxCoeff()));
      ++count;
    }
  }
  EXPECT_GT(count, 10);
  EXPECT_LT(error.value, 1e-11);
}

TEST(FlexibleForces, AttachmentsPassOnWhatHangsThere) {
  Random random(53);
  MechanismBuilder b("boom");
  b.add_flexible_body("boom", random_flexible(random, 3, 1, FlexibleModel::consistent));
  b.add_body("load", random.body());
  b.add_hinge("root", kWorld, "boom", random.hinge(HingeType::revolute));
  b.add_hinge("grip", "boom.a0", "load", random.hinge(HingeType::universal));
  const Mechanism m = b.finish();
  const Case c = random_case(random, m, 0);
  Workspace w(m);
  InterbodyForces forces(m);
  forces.compute(c.state, c.acceleration, w);
  int attachment = -1;
  for (std::size_t h = 0; h < m.hinges().size(); ++h)
    if (m.hinges()[h].type == HingeType::attachment) attachment = static_cast<int>(h);
  ASSERT_GE(attachment, 0);
  const HingeForce at_tip = forces.at(attachment, ForceAxes::ground);
  const HingeForce at_grip = forces.at(m.hinge_index("grip"), ForceAxes::ground);
  EXPECT_EQ(at_tip.free_map.cols(), 0);
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(at_tip.wrench.force[k], at_grip.wrench.force[k],
                1e-12 * (1.0 + norm(at_grip.wrench.force)));
}

}  // namespace
}  // namespace catena::test
