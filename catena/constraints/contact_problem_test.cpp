// SPDX-License-Identifier: BSD-3-Clause
// Contacts that push on each other, against enumeration of all choices, closed forms and the laws
// themselves.
#include "catena/constraints/contact_problem.h"

#include <random>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "catena/base/dense.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::mt19937 random_source(7);
MatrixXd random_matrix(Index rows, Index columns) {
  std::normal_distribution<double> normal;
  MatrixXd m(rows, columns);
  for (double& x : m.reshaped()) x = normal(random_source);
  return m;
}

// n contacts of something with so many freedoms, M = 1: W = J Jᵀ, singular if there are few. The
// first freedom lifts all of them off without slip, as above a floor: then solutions exist.
ContactProblem random_problem(int contacts, int freedoms, double friction) {
  ContactProblem p;
  MatrixXd j = random_matrix(3 * contacts, freedoms);
  for (int i = 0; i < contacts; ++i) {
    j.row(3 * i) *= 0.5;
    j.col(0).segment<3>(3 * i) << 1.0, 0.0, 0.0;
    p.contacts.push_back({.friction = friction});
  }
  p.w = j * j.transpose();
  p.b = j * random_matrix(freedoms, 1);
  return p;
}

void expect_laws(const ContactProblem& p, const ContactSolution& s, double tolerance) {
  const VectorXd u = p.w * s.force + p.b;
  EXPECT_LT((u - s.motion).lpNorm<Eigen::Infinity>(), tolerance);
  for (std::size_t i = 0; i < p.contacts.size(); ++i) {
    const auto n = static_cast<Index>(3 * i);
    const double open = u[n] - p.contacts[i].least;
    EXPECT_GE(s.force[n], 0.0);
    EXPECT_GE(open, -tolerance);
    EXPECT_LT(std::min(open, s.force[n]), tolerance);
    const Eigen::Vector2d slip = u.segment<2>(n + 1), friction = s.force.segment<2>(n + 1);
    const double cone = p.contacts[i].friction * s.force[n];
    EXPECT_LE(friction.norm(), cone + tolerance);
    // Friction against the slip, all of it: μ λ_n |u_t| + λ_t · u_t = 0.
    EXPECT_NEAR(cone * slip.norm() + friction.dot(slip), 0.0, tolerance * (1.0 + cone));
  }
}

// Without friction: the linear complementarity problem, by trying all sets of closed contacts.
TEST(ContactProblem, WithoutFrictionByEnumeration) {
  for (int k = 0; k < 200; ++k) {
    const int count = 1 + k % 5;
    const ContactProblem p = random_problem(count, 4 + k % 4, 0.0);
    const ContactSolution s = solve(p);
    ASSERT_LT(s.residual, 1e-12);
    int found = 0;
    for (int set = 0; set < 1 << count; ++set) {
      std::vector<int> closed;
      for (int i = 0; i < count; ++i)
        if ((set >> i & 1) != 0) closed.push_back(3 * i);
      VectorXd force = VectorXd::Zero(3 * count);
      if (!closed.empty()) {
        const FullLu lu(p.w(closed, closed));
        if (!lu.invertible()) continue;
        const VectorXd wanted = p.b(closed);
        force(closed) = -lu.solve(wanted);
      }
      const VectorXd u = p.w * force + p.b;
      bool holds = force.minCoeff() >= -1e-9;
      for (int i = 0; i < count; ++i) holds = holds && u[3 * i] >= -1e-9;
      if (!holds) continue;
      ++found;
      // Motions are unique, forces where contacts are not redundant.
      EXPECT_LT((u - s.motion).lpNorm<Eigen::Infinity>(), 1e-8);
    }
    EXPECT_GT(found, 0);
  }
}

TEST(ContactProblem, LawsHoldWithFriction) {
  for (int k = 0; k < 400; ++k) {
    ContactProblem p = random_problem(1 + k % 6, 6, 0.1 + 0.2 * (k % 5));
    for (std::size_t i = 0; i < p.contacts.size(); ++i)
      p.contacts[i].least = 0.5 * std::max(0.0, -p.b[static_cast<Index>(3 * i)]);
    const ContactSolution s = solve(p);
    EXPECT_LT(s.residual, kContactsSolved) << k;
    expect_laws(p, s, 1e-8);
    // Without restitution energy cannot grow: λ · (u before + u after) ≤ 0.
    for (auto& c : p.contacts) c.least = 0.0;
    const ContactSolution soft = solve(p);
    expect_laws(p, soft, 1e-8);
    EXPECT_LE(soft.force.dot(p.b + soft.motion), 1e-9);
  }
}

// A particle of mass 1 that hits a floor: Coulomb's law in closed form.
TEST(ContactProblem, ParticleOnTheFloor) {
  for (const double speed : {0.3, 5.0}) {
    ContactProblem p;
    p.contacts = {{.friction = 0.4, .least = 1.0}};
    p.w = MatrixXd::Identity(3, 3);
    p.b = VectorXd{{-2.0, 0.6 * speed, -0.8 * speed}};
    const ContactSolution s = solve(p);
    const double left = std::max(0.0, speed - 0.4 * 3.0);
    EXPECT_NEAR(s.motion[0], 1.0, 1e-14);
    EXPECT_NEAR(s.motion[1], 0.6 * left, 1e-14);
    EXPECT_NEAR(s.motion[2], -0.8 * left, 1e-14);
  }
}

// A table on four feet, W singular: the load is borne, whatever its distribution.
TEST(ContactProblem, TableOnFourFeet) {
  const double x[4] = {1, 1, -1, -1}, y[4] = {1, -1, 1, -1}, weight = 10.0;
  for (const double shift : {0.0, 0.4, 0.7}) {
    ContactProblem p;
    MatrixXd j = MatrixXd::Zero(12, 6);  // turns about x, y, z; shifts
    for (int i = 0; i < 4; ++i) {
      const Eigen::Vector3d arm(x[i] - shift, y[i] - shift, -1.0);
      const Eigen::Vector3d axes[3] = {Eigen::Vector3d::UnitZ(), Eigen::Vector3d::UnitX(),
                                       Eigen::Vector3d::UnitY()};
      for (int r = 0; r < 3; ++r) {
        j.row(3 * i + r).head<3>() = arm.cross(axes[r]);
        j.row(3 * i + r).tail<3>() = axes[r];
      }
      p.contacts.push_back({.friction = 0.3});
    }
    p.w = j * j.transpose();
    VectorXd load = VectorXd::Zero(6);
    load[5] = -weight;
    load[3] = 0.25 * weight;  // less than friction
    p.b = j * load;
    const ContactSolution s = solve(p);
    EXPECT_LT(s.residual, 1e-12);
    expect_laws(p, s, 1e-11);
    EXPECT_LT(s.motion.lpNorm<Eigen::Infinity>(), 1e-11);
    EXPECT_NEAR(s.force[0] + s.force[3] + s.force[6] + s.force[9], weight, 1e-11);
  }
}

// Something that no push can move, forced into its plane: said so.
TEST(ContactProblem, ImpossibleIsSaid) {
  ContactProblem p;
  p.contacts = {{}, {}};
  p.w = MatrixXd::Zero(6, 6);
  p.w(0, 0) = 1.0;
  p.b = VectorXd::Zero(6);
  p.b[0] = p.b[3] = -1.0;
  const ContactSolution s = solve(p);
  EXPECT_GT(s.residual, 0.5);
  EXPECT_EQ(s.worst, 1);
}

// A foot of a biped whose slip turns under its own friction (A = w_nn − μ w_nt · t̂ is −0.003 at the
// start): against steps of constant size in the impulse, and with less friction it is not pressed
// in.
TEST(ContactProblem, GrownImpulseTurnsSlip) {
  ContactProblem problem;
  problem.w.resize(3, 3);
  problem.w << 0.25369895718460267, 0.59304884055489326, 0.25411455436108843, 0.59304884055489326,
      3.0325392266097784, 1.0219476747842322, 0.25411455436108843, 1.0219476747842322,
      0.9281120540483383;
  problem.b = Eigen::Vector3d(0.0, 0.75970978930957445, -0.65026228248853724);
  problem.contacts.resize(1);
  problem.contacts[0].friction = 0.9;
  const Eigen::Vector3d found = grown_impulse(problem, 0);
  Eigen::Vector3d u = problem.b, sum = Eigen::Vector3d::Zero();
  const double step = 1e-7;
  do {
    Eigen::Vector3d f(1.0, 0.0, 0.0);
    f.tail<2>() = -0.9 * u.tail<2>().normalized();
    sum += step * f;
    u += step * (problem.w * f);
  } while (u[0] < 0.0);
  EXPECT_GT(sum[0], 1e-3);
  EXPECT_LT((found - sum).norm(), 2e-3 * sum.norm());
  // It slides on, where it is not pressed into its plane any more, and no energy was made.
  const Eigen::Vector3d after = problem.w * found + problem.b;
  EXPECT_NEAR(after[0], 0.0, 1e-7);
  EXPECT_GT(problem.w(0, 0) - 0.9 * problem.w.row(0).tail<2>().dot(after.tail<2>().normalized()),
            0.0);
  EXPECT_LT(found.dot(problem.b + after), 0.0);
  problem.contacts[0].friction = 0.85;
  EXPECT_EQ(grown_impulse(problem, 0).norm(), 0.0);
}

}  // namespace
}  // namespace catena
