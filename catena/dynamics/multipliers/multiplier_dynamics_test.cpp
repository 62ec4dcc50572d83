// SPDX-License-Identifier: BSD-3-Clause
// Multipliers against dense algebra (KKT equations from the mass matrix and the rows of
// LoopClosure), against inverse dynamics, and against constraint embedding. Random loops of every
// hinge are compared with the reference in closed_random_test.cpp.
#include "catena/dynamics/multipliers/multiplier_dynamics.h"

#include <ctime>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/closure/loop_closure.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/dynamics/testing/test_support.h"

namespace catena::test {
namespace {

// A chain of revolute hinges about axes in turn, its tip held by a ball at where it is.
Mechanism closed_chain(int links, Eigen::VectorXd& q, bool closed, double inertia = 0.01) {
  const auto axis = [](int i) {
    const Vec3d axes[] = {Vec3d::unit_z(), Vec3d::unit_y(), Vec3d::unit_x()};
    return axes[i % 3];
  };
  const auto build = [&](const Vec3d& tip, bool with_ball) {
    MechanismBuilder b("chain");
    for (int i = 0; i < links; ++i)
      b.add_body(body_name(i), body(1.0 + 0.1 * (i % 5), {0.05, 0.01, -0.02},
                                    {2.0 * inertia, 3.0 * inertia, 4.0 * inertia}));
    for (int i = 0; i < links; ++i)
      b.add_hinge("h" + std::to_string(i), body_name(i - 1), body_name(i),
                  {.axes = {axis(i)},
                   .frame_on_parent = i == 0 ? Transformd{} : catena::shift(0.1, 0.02, 0.01)});
    if (with_ball)
      b.add_hinge("ball", kWorld, body_name(links - 1),
                  {.type = HingeType::spherical,
                   .frame_on_parent = Transformd::from_translation(tip),
                   .frame_on_child = catena::shift(0.1, 0, 0),
                   .cut = Cut::always});
    return b.finish();
  };
  const Mechanism open = build({}, false);
  q = VectorXd::Zero(links);
  for (int i = 0; i < links; ++i) q[i] = 0.4 * std::sin(1.3 * i) + 0.1;
  Workspace w(open);
  const PreparedInput in = prepare_position(open, q, w);
  Scratch<double> scratch = w.scratch();
  kernel_table().kinematics(w.model(), in, &scratch);
  const BodyPlace& last = open.bodies()[index(links - 1)];
  const Vec3d tip = w.node(last.node).pose * (last.X_node_body * Vec3d{0.1, 0.0, 0.0});
  return build(tip, closed);
}

VectorXd along_closure(const Mechanism& m, const VectorXd& q, double size) {
  VectorXd v(m.freedoms());
  for (int i = 0; i < m.freedoms(); ++i) v[i] = size * std::cos(0.7 * i);
  return consistent_velocity(m, q, v);
}

// Accelerations and multipliers from dense matrices, in long double.
struct Dense {
  VectorXd acceleration;
  VectorXd multipliers;  // of least norm
  // What given accelerations and multipliers leave of the equations of motion, against the terms
  // that cancel there, and of the closure.
  double motion(const VectorXd& a, const VectorXd& lambda) const {
    const WideVector left =
        mass * a.cast<long double>() - needed - rows.transpose() * lambda.cast<long double>();
    const WideVector terms = mass.cwiseAbs() * a.cwiseAbs().cast<long double>();
    return static_cast<double>(left.norm() / terms.norm());
  }
  double closure(const VectorXd& a) const {
    const WideVector left = rows * a.cast<long double>() + bias;
    const WideVector terms = rows.cwiseAbs() * a.cwiseAbs().cast<long double>();
    return static_cast<double>(left.norm() / terms.norm());
  }
  using Wide = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  using WideVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
  Wide mass, rows;
  WideVector needed, bias;
};
using Wide = Dense::Wide;
using WideVector = Dense::WideVector;
Dense dense_kkt(const Mechanism& open, const Mechanism& m, const State& state,
                const VectorXd& effort) {
  const LoopClosure loop(m, 0);
  const MatrixXd rows = loop.velocity_rows(state.q);
  MatrixXd y = MatrixXd::Zero(rows.rows(), m.freedoms());
  for (int k = 0; k < rows.cols(); ++k) y.col(loop.freedom(k)) = rows.col(k);
  // Ẏ v by a central difference of Y v along the motion, with Richardson's extrapolation.
  const auto rates = [&](double h) {
    const auto at = [&](double t) {
      const VectorXd q = integrate(m, state.q, t * state.v);
      const MatrixXd r = loop.velocity_rows(q);
      VectorXd x = VectorXd::Zero(r.rows());
      for (int k = 0; k < r.cols(); ++k) x += r.col(k) * state.v[loop.freedom(k)];
      return x;
    };
    return VectorXd((at(h) - at(-h)) / (2.0 * h));
  };
  const double h = 2e-3;
  const VectorXd bias = (4.0 * rates(h / 2) - rates(h)) / 3.0;
  const VectorXd free = bias_effort(open, state);
  const int n = m.freedoms();
  const auto mass = mass_matrix(open, state.q).cast<long double>().eval();
  const Eigen::LDLT<Wide> factor(mass);
  const Wide yw = y.cast<long double>();
  const Wide solved = factor.solve(Wide(yw.transpose()));
  const WideVector a0 = factor.solve((effort - free).cast<long double>().eval());
  const Wide lambda_inverse = yw * solved;
  Eigen::CompleteOrthogonalDecomposition<Wide> small;
  small.setThreshold(1e-12L);
  small.compute(lambda_inverse);
  const WideVector lambda = small.solve(-(yw * a0 + bias.cast<long double>()));
  EXPECT_EQ(a0.size(), n);
  return {(a0 + solved * lambda).cast<double>(), lambda.cast<double>(),   mass, yw,
          (effort - free).cast<long double>(),   bias.cast<long double>()};
}

TEST(MultiplierDynamics, OneClosureOfAChainAgainstDenseMatrices) {
  for (const int links : {7, 40, 200, 1000}) {
    VectorXd q;
    // The condition of the mass matrix grows with the fourth power of the links; wheels in the
    // links of the longest chain keep it where a dense solution still has its digits.
    const double inertia = links > 200 ? 5.0 : 0.01;
    const Mechanism open = closed_chain(links, q, false, inertia);
    const Mechanism m = closed_chain(links, q, true, inertia);
    const State state{q, along_closure(m, q, links > 200 ? 0.02 : 0.3)};
    VectorXd effort(links);
    for (int i = 0; i < links; ++i) effort[i] = std::sin(0.9 * i);
    const Dense dense = dense_kkt(open, m, state, effort);
    Workspace w(m);
    const VectorXd a = forward_dynamics(m, state, effort, w, {}, Route::multipliers);
    const VectorXd& lambda = w.multiplier_dynamics().multipliers();
    EXPECT_LT(error(lambda, dense.multipliers), 1e-9) << links;
    EXPECT_LT(dense.motion(a, lambda), 1e-12) << links;
    EXPECT_LT(dense.closure(a), 1e-9) << links;
    // The rounding of the entries of M, 4e-15, times its condition is all that a dense solve can
    // do: of a thousand links it knows the accelerations to 1e-7 only.
    EXPECT_LT(error(a, dense.acceleration), links < 1000 ? 1e-9 : 1e-6) << links;
  }
}

// The residual of the equations of motion, measured by inverse dynamics, and of the closure.
TEST(MultiplierDynamics, AThousandLinksSatisfyTheEquationsOfMotion) {
  constexpr int kLinks = 1000;
  VectorXd q;
  const Mechanism open = closed_chain(kLinks, q, false);
  const Mechanism m = closed_chain(kLinks, q, true);
  const State state{q, along_closure(m, q, 0.02)};
  VectorXd effort(kLinks);
  for (int i = 0; i < kLinks; ++i) effort[i] = std::sin(0.9 * i);
  Workspace w(m);
  const VectorXd a = forward_dynamics(m, state, effort, w, {}, Route::multipliers);
  const MultiplierDynamics& by = w.multiplier_dynamics();
  EXPECT_LT(by.residual(), 1e-11 * a.lpNorm<Eigen::Infinity>());
  const LoopClosure loop(m, 0);
  const MatrixXd rows = loop.velocity_rows(q);
  VectorXd pull = VectorXd::Zero(kLinks);
  for (int k = 0; k < rows.cols(); ++k) pull[loop.freedom(k)] = rows.col(k).dot(by.multipliers());
  const VectorXd needed = inverse_dynamics(open, state, a);
  EXPECT_LT((needed - effort - pull).lpNorm<Eigen::Infinity>(),
            1e-9 * needed.lpNorm<Eigen::Infinity>());
}

// One closure at the tip of a long chain costs at most twice the chain's own forward dynamics.
// Processor time, the best of many: other work on the machine disturbs single runs.
TEST(MultiplierDynamics, CostOfOneClosure) {
#ifndef NDEBUG
  GTEST_SKIP() << "times are for optimized builds";
#endif
  constexpr int kLinks = 1000;
  VectorXd q;
  const Mechanism open = closed_chain(kLinks, q, false);
  const Mechanism m = closed_chain(kLinks, q, true);
  const State state{q, along_closure(m, q, 0.02)};
  const VectorXd effort = VectorXd::Zero(kLinks);
  Workspace w_open(open), w(m);
  const auto best = [&](auto call) {
    double least = kInfinity;
    for (int i = 0; i < 40; ++i) {
      const std::clock_t from = std::clock();
      for (int k = 0; k < 20; ++k) call();
      least = std::min(least, static_cast<double>(std::clock() - from));
    }
    return least;
  };
  double ratio = kInfinity;
  for (int attempt = 0; attempt < 3 && ratio > 2.0; ++attempt) {
    const double tree = best([&] { forward_dynamics(open, state, effort, w_open); });
    const double closed =
        best([&] { forward_dynamics(m, state, effort, w, {}, Route::multipliers); });
    ratio = closed / tree;
  }
  RecordProperty("ratio", std::to_string(ratio));
  std::printf("one closure of %d links: %.2f times the open chain\n", kLinks, ratio);
  EXPECT_LE(ratio, 2.0);
}

TEST(MultiplierDynamics, RedundantRowsAreFound) {
  const Mechanism m = four_bar();
  const State s = four_bar_state(m, 0.7, 1.5);
  Workspace w(m);
  const VectorXd effort = vector({3.0, -1.0, 0.5});
  const VectorXd embedded = forward_dynamics(m, s, effort, w);
  const VectorXd a = forward_dynamics(m, s, effort, w, {}, Route::multipliers);
  EXPECT_LT(error(a, embedded), 1e-12);
  MultiplierDynamics& by = w.multiplier_dynamics();
  EXPECT_EQ(by.constraints().rows(), 5);
  EXPECT_EQ(by.constraints().rank(), 2);
  EXPECT_EQ(by.constraints().ideal_solver().dependent().size(), 3u);
  EXPECT_TRUE(by.conflict().rows.empty());
  // The two rotations and the shift out of the plane carry nothing in the solution of least norm.
  const Wrenchd pin = by.wrench_on_child(0);
  EXPECT_NEAR(pin.force.z, 0.0, 1e-12);
  EXPECT_NEAR(pin.moment.x, 0.0, 1e-12);
  EXPECT_NEAR(pin.moment.y, 0.0, 1e-12);
}

// Axes as a file with few digits gives them are not quite parallel: strictly, the four-bar cannot
// move. Both roads take it for one that can, with the same rows, and so it moves like the one with
// parallel axes but for the rounding.
TEST(MultiplierDynamics, RowsThatAreRedundantButForRoundingAreLeftOut) {
  const Mechanism exact = four_bar();
  const State at = four_bar_state(exact, 0.7, 1.5);
  const VectorXd effort = vector({3.0, -1.0, 0.5});
  const VectorXd parallel = forward_dynamics(exact, at, effort);
  for (const double off : {3e-6, 5e-7, 5e-8, 5e-9, 5e-11}) {
    const Mechanism m = rounded_four_bar(off);
    const State s = assemble(m, at, {.fixed = {1, 0, 0}});
    Workspace w(m);
    const VectorXd a = forward_dynamics(m, s, effort, w, {}, Route::multipliers);
    EXPECT_LT(error(a, forward_dynamics(m, s, effort)), 1e-12) << off;
    EXPECT_LT(error(a, parallel), 100.0 * off + 1e-11) << off;
    MultiplierDynamics& by = w.multiplier_dynamics();
    EXPECT_EQ(by.constraints().rank(), 2);
    EXPECT_TRUE(by.conflict().rows.empty());
    EXPECT_LT(by.multipliers().lpNorm<Eigen::Infinity>(), 1e3);
    EXPECT_LT(by.residual(), 1e-11);
    EXPECT_LT(by.left_out_residual(), 1e3 * off);
    // A blow: the jump of the exact one, but for the rounding.
    const State blown{s.q, s.v + vector({0.3, -0.2, 0.1})};
    Workspace of_exact(exact);
    MultiplierDynamics other(exact);
    other.set_check_closed(false);
    EXPECT_LT(error(by.impulse(blown, w), other.impulse({at.q, blown.v}, of_exact)),
              100.0 * off + 1e-11);
    // Positions and velocities that are off go back to where the exact ones go.
    State moved{s.q + vector({1e-4, -2e-4, 1e-4}), blown.v}, moved_exact = moved;
    EXPECT_LT(by.close(moved, w), 1e-13);
    other.close(moved_exact, of_exact);
    EXPECT_LT(error(moved.q, moved_exact.q), 100.0 * off + 1e-11);
    EXPECT_LT(error(moved.v, moved_exact.v), 100.0 * off + 1e-11);
  }
}

TEST(MultiplierDynamics, TwoFourBarsInSeries) {
  const TwoFourBars two = two_four_bars();
  Workspace w(two.m);
  VectorXd effort(10);
  for (int i = 0; i < 10; ++i) effort[i] = 0.3 * i - 1.0;
  const VectorXd embedded = forward_dynamics(two.m, two.s, effort, w);
  const VectorXd a = forward_dynamics(two.m, two.s, effort, w, {}, Route::multipliers);
  EXPECT_LT(error(a, embedded), 1e-11);
  EXPECT_EQ(w.multiplier_dynamics().constraints().rank(), 4);
}

// Shifts alone between two bodies that turn together: nothing can turn one against the other, so
// the rows of the closure are rounding and say nothing.
TEST(MultiplierDynamics, RowsThatSayNothing) {
  MechanismBuilder b("slides");
  for (const char* name : {"arm", "upper", "left", "right"})
    b.add_body(name, body(1.2, {0.1, -0.05, 0.02}, {0.02, 0.03, 0.04}));
  b.add_hinge("shoulder", kWorld, "arm", {.axes = {Vec3d{0.3, 0.5, 0.8}}});
  b.add_hinge("elbow", "arm", "upper",
              {.axes = {Vec3d{0.7, -0.2, 0.4}}, .frame_on_parent = catena::shift(0.4, 0.1, 0)});
  b.add_hinge("out", "upper", "left",
              {.type = HingeType::prismatic, .axes = {Vec3d{0.2, 0.9, 0.3}}});
  b.add_hinge("up", "upper", "right",
              {.type = HingeType::prismatic, .axes = {Vec3d{0.6, 0.1, 0.5}}});
  const Mechanism tree = b.finish();
  b.add_hinge("between", "left", "right",
              {.type = HingeType::translation,
               .frame_on_parent = {Rotationd::from_rpy(0.4, -0.9, 0.3), {0.1, 0, 0.3}},
               .frame_on_child = {Rotationd::from_rpy(0.4, -0.9, 0.3), {0, 0.2, 0}},
               .cut = Cut::always});
  const Mechanism m = b.finish();
  ASSERT_EQ(m.freedoms(), 4);
  const State s{vector({0.4, -0.7, 0.1, 0.2}), vector({1.0, -0.5, 0.3, 0.8})};
  const VectorXd effort = vector({0.5, 0.2, -1.0, 0.7});
  const VectorXd expected = forward_dynamics(tree, s, effort);
  Workspace w(m);
  EXPECT_LT(error(forward_dynamics(m, s, effort, w, {}, Route::multipliers), expected), 1e-13);
  EXPECT_EQ(w.multiplier_dynamics().constraints().rank(), 0);
  EXPECT_LT(error(forward_dynamics(m, s, effort, w), expected), 1e-13);
}

// A drive at the cut hinge: that hinge keeps its coordinate on a node without inertia.
TEST(MultiplierDynamics, CutHingesThatKeepTheirCoordinates) {
  MechanismBuilder b = four_bar().edit();
  b.hinge("C").freedoms = {{.damping = 0.4}};
  const Mechanism m = b.finish();
  ASSERT_EQ(m.freedoms(), 4);
  const State s = four_bar_state(m, 0.7, 1.5);
  VectorXd effort = VectorXd::Zero(4);
  effort[m.velocity_index("C")] = 2.0;
  effort[m.velocity_index("A")] = -1.0;
  Workspace w(m);
  const VectorXd embedded = forward_dynamics(m, s, effort, w);
  const VectorXd a = forward_dynamics(m, s, effort, w, {}, Route::multipliers);
  EXPECT_LT(error(a, embedded), 1e-11);
}

TEST(MultiplierDynamics, OpenStatesAreRefused) {
  const Mechanism m = four_bar();
  State s = four_bar_state(m, 0.7, 1.5);
  Workspace w(m);
  const VectorXd effort = VectorXd::Zero(3);
  State open = s;
  open.q[1] += 0.01;
  EXPECT_THROW(forward_dynamics(m, open, effort, w, {}, Route::multipliers), NumericalError);
  open = s;
  open.v[1] += 0.01;
  try {
    forward_dynamics(m, open, effort, w, {}, Route::multipliers);
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_NE(std::string(e.what()).find("do not keep the loop of 'driver'"), std::string::npos)
        << e.what();
  }
}

// Two parallelograms side by side, all bars in line: the closures have rank 2 of 4, and a solution
// that drops the lost rows has accelerations that are not those of the motion.
TEST(MultiplierDynamics, SingularPositionsAreRefused) {
  MechanismBuilder b("bars");
  const char* names[] = {"crank 0", "bar 0", "crank 1", "bar 1", "crank 2"};
  for (const char* name : names) b.add_body(name, rod(1.0, 1.0));
  b.add_hinge("A0", kWorld, names[0], {});
  for (int i = 0; i < 4; ++i)
    b.add_hinge("B" + std::to_string(i), names[i], names[i + 1],
                {.frame_on_parent = catena::shift(1, 0, 0), .cut = Cut::never});
  b.hinge("B2").frame_on_parent = Transformd::identity();
  for (int i = 1; i < 3; ++i)
    b.add_hinge("A" + std::to_string(i), kWorld, names[2 * i],
                {.frame_on_parent = catena::shift(i, 0, 0),
                 .frame_on_child = catena::shift(1, 0, 0),
                 .cut = Cut::always});
  b.set_gravity({0, -9.81, 0});
  const Mechanism m = b.finish();
  const auto parallel = [](double angle) {
    // A crank up, a bar along the ground, a crank down, and again.
    return vector({angle, -angle, angle + kPi, -angle - kPi, angle + kPi});
  };
  Workspace w(m);
  const VectorXd none = VectorXd::Zero(5);
  const VectorXd a = forward_dynamics(m, {parallel(0.5), none}, none, w, {}, Route::multipliers);
  EXPECT_NEAR(a[0], -11.445 * std::cos(0.5), 1e-11);
  EXPECT_THROW(forward_dynamics(m, {parallel(0.0), none}, none, w), NumericalError);
  Workspace fresh(m);  // has not seen another position
  for (Workspace* at : {&w, &fresh}) {
    try {
      forward_dynamics(m, {parallel(0.0), none}, none, *at, {}, Route::multipliers);
      FAIL();
    } catch (const NumericalError& e) {
      EXPECT_NE(std::string(e.what()).find("2 independent constraints here and 4"),
                std::string::npos)
          << e.what();
    }
  }
}

// J v⁺ = 0 by an impulse: against M Δv = Jᵀ Λ with dense matrices.
TEST(MultiplierDynamics, Impulse) {
  const Mechanism m = four_bar();
  State s = four_bar_state(m, 0.7, 0.0);
  s.v = vector({1.0, -0.4, 0.8});
  Workspace w(m);
  MultiplierDynamics by(m);
  by.set_check_closed(false);
  const VectorXd jump = by.impulse(s, w);
  MechanismBuilder tree("tree");
  tree.add_body("driver", rod(1.0, 1.0)).add_body("coupler", rod(1.0, 4.8));
  tree.add_body("rocker", rod(2.0, 2.0));
  tree.add_hinge("A", kWorld, "driver", {});
  tree.add_hinge("B", "driver", "coupler", {.frame_on_parent = catena::shift(1, 0, 0)});
  tree.add_hinge("D", kWorld, "rocker", {.frame_on_parent = catena::shift(4, 0, 0)});
  const Mechanism open = tree.finish();
  const MatrixXd mass = mass_matrix(open, s.q);
  const MatrixXd y = LoopClosure(m, 0).velocity_rows(s.q);
  const MatrixXd kernel = FullLu(y, 1e-9).kernel();
  // The part of v that the inertia sees along the closure stays.
  const MatrixXd along = kernel.transpose() * mass;
  const VectorXd after = kernel * PivotedCholesky(along * kernel).solve(along * s.v);
  EXPECT_LT(error(VectorXd(s.v + jump), after), 1e-12);
}

TEST(Semidefinite, DependentRowsAndTheSolutionOfLeastNorm) {
  Random random(5);
  for (int n : {1, 3, 6, 12}) {
    for (int rank = 0; rank <= n; ++rank) {
      MatrixXd b(n, rank);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < rank; ++j)
          b(i, j) = random.number(-1.0, 1.0) * (i % 3 == 0 ? 50.0 : 1.0);
      const MatrixXd a = b * b.transpose();
      VectorXd x(n);
      for (int i = 0; i < n; ++i) x[i] = random.number(-1.0, 1.0);
      const VectorXd right = a * x;
      SemidefiniteSolver solver;
      solver.resize(n);
      solver.compute(a, 1e-12);
      EXPECT_EQ(solver.rank(), rank);
      VectorXd y = right;
      solver.solve(y);
      for (const int r : solver.dependent()) EXPECT_EQ(y[r], 0.0);
      EXPECT_LT((a * y - right).norm(), 1e-9 * (1.0 + right.norm())) << n << " " << rank;
      solver.take_least_norm(y);
      VectorXd expected = VectorXd::Zero(n);
      const Svd svd = thin_svd(a);
      for (int k = 0; k < n && svd.values[k] > 1e-12 * svd.values[0]; ++k)
        expected += svd.u.col(k).dot(right) / svd.values[k] * svd.v.col(k);
      EXPECT_LT((y - expected).norm(), 1e-8 * (1.0 + expected.norm())) << n << " " << rank;
      for (int k = 0; k < n - rank; ++k)
        EXPECT_LT(std::abs(solver.mismatch(right, k)), 1e-9 * (1.0 + right.norm()));
      if (rank < n && rank > 0) {
        VectorXd off = right;
        off[solver.dependent()[0]] += 1.0;
        EXPECT_NEAR(solver.mismatch(off, 0), 1.0, 1e-8);
      }
    }
  }
}

// Rows that are left out count for nothing, however independent they are.
TEST(Semidefinite, RowsLeftOut) {
  Random random(6);
  constexpr int kSize = 6;
  MatrixXd b(kSize, kSize);
  for (double& x : b.reshaped()) x = random.number(-1.0, 1.0);
  const MatrixXd a = b * b.transpose();
  VectorXd right(kSize);
  for (double& x : right) x = random.number(-1.0, 1.0);
  const std::vector<char> out{0, 1, 0, 0, 1, 0};
  const std::vector<int> kept{0, 2, 3, 5};
  SemidefiniteSolver solver;
  solver.resize(kSize);
  solver.compute(a, 1e-12, {}, out);
  EXPECT_EQ(solver.rank(), 4);
  VectorXd y = right;
  solver.solve(y);
  EXPECT_EQ(y[1], 0.0);
  EXPECT_EQ(y[4], 0.0);
  const VectorXd expected = FullLu(a(kept, kept)).solve(right(kept));
  EXPECT_LT((y(kept) - expected).norm(), 1e-9 * expected.norm());
}

}  // namespace
}  // namespace catena::test
