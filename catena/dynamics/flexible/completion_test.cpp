// SPDX-License-Identifier: BSD-3-Clause
// Bodies with a completed inertia: bodies of four mass points, whose kinetic energy is known at any
// deformation, in random trees against Lagrange's equations; and beams that only completion keeps
// in motion.
#include <Eigen/Geometry>

#include "catena/base/dense.h"
#include "catena/dynamics/energy.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/momentum.h"
#include "catena/dynamics/testing/flexible_reference.h"
#include "catena/model/flexible/flexible_completion.h"

namespace catena::test {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kCompletedTolerance = 1e-11;

Matrix3d cross_of(const Vector3d& a) { return to_eigen(skew(from_eigen(a))); }
Matrix3d about_origin(const Vector3d& a, const Vector3d& b) {
  return 2.0 * a.dot(b) * Matrix3d::Identity() - a * b.transpose() - b * a.transpose();
}
double worst_of(const VectorXd& found, const VectorXd& expected) {
  return (found - expected).cwiseAbs().maxCoeff() / (1.0 + expected.cwiseAbs().maxCoeff());
}

FourPoints random_points(Random& random, int n) {
  FourPoints p;
  const auto matrix = [&](int rows, double size) {
    MatrixXd a(rows, n);
    for (int i = 0; i < a.size(); ++i) a.data()[i] = random.number(-size, size);
    return a;
  };
  const auto symmetric = [&] {
    const MatrixXd a = matrix(n, 0.3);
    return MatrixXd(a + a.transpose());
  };
  const Vec3d corners[4] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-0.5, -0.5, -0.5}};
  for (int i = 0; i < 4; ++i) {
    p.mass[i] = random.number(0.3, 0.6);
    p.position[i] = corners[i] + 0.2 * random.vector();
    p.shape[i] = matrix(3, 0.6);
    for (MatrixXd& b : p.second_shape[i]) b = symmetric();
  }
  const Matrix3d root = 0.3 * Matrix3d::Identity() + 0.1 * cross_of(to_eigen(random.vector()));
  p.turning = from_eigen(Matrix3d(root * root.transpose()));
  p.slope = matrix(3, 0.6);
  for (MatrixXd& b : p.second_slope) b = symmetric();
  return p;
}

// What one point adds to the constants, and to the moments.
void add_point(const FourPoints& p, int i, FlexibleBody& b) {
  constexpr int kRow[6] = {0, 0, 0, 1, 1, 2}, kColumn[6] = {0, 1, 2, 1, 2, 2};
  const int n = b.modes();
  const double m = p.mass[i];
  const Vector3d x = to_eigen(p.position[i]);
  InertiaMoments& moments = *b.moments;
  b.mass += m;
  b.mass_moment += m * p.position[i];
  b.mass_moment_1 += m * p.shape[i];
  b.modal_mass += m * p.shape[i].transpose() * p.shape[i];
  moments.second += m * x * x.transpose();
  const auto add_inertia = [&](const Matrix3d& j, auto place) {
    for (int c = 0; c < 6; ++c) place(c) += m * j(kRow[c], kColumn[c]);
  };
  add_inertia(0.5 * about_origin(x, x), [&](int c) -> double& { return b.inertia[index(c)]; });
  for (int j = 0; j < 3; ++j) {
    moments.displacement_1[index(j)] += m * x[j] * p.shape[i];
    b.mass_moment_2[index(j)] += m * p.second_shape[i][j];
    for (int c = 0; c < 3; ++c)
      moments.displacement_2[index(j)][index(c)] += m * x[j] * p.second_shape[i][c];
  }
  for (int k = 0; k < n; ++k) {
    const Vector3d phi_k = p.shape[i].col(k);
    b.coupling_0.col(k) += m * x.cross(phi_k);
    add_inertia(about_origin(x, phi_k), [&](int c) -> double& { return b.inertia_1(c, k); });
    for (int l = 0; l < n; ++l) {
      const Vector3d phi_l = p.shape[i].col(l);
      const Vector3d second(p.second_shape[i][0](k, l), p.second_shape[i][1](k, l),
                            p.second_shape[i][2](k, l));
      add_inertia(about_origin(phi_k, phi_l) + about_origin(x, second),
                  [&](int c) -> double& { return b.inertia_2[index(c)](k, l); });
      const Vector3d coupling = phi_l.cross(phi_k) + x.cross(second);
      for (int a = 0; a < 3; ++a) b.coupling_1[index(a)](k, l) += m * coupling[a];
    }
  }
}

// The same of the matter that turns: J = Xᵀ J_s X with X = 1 − θ~ + ½ θ~².
void add_turning(const FourPoints& p, FlexibleBody& b) {
  constexpr int kRow[6] = {0, 0, 0, 1, 1, 2}, kColumn[6] = {0, 1, 2, 1, 2, 2};
  const int n = b.modes();
  const Matrix3d js = to_eigen(p.turning);
  InertiaMoments& moments = *b.moments;
  moments.turning_0 = js;
  moments.slope_0 = js * p.slope;
  b.modal_mass += p.slope.transpose() * js * p.slope;
  b.coupling_0 += js * p.slope;
  for (int c = 0; c < 6; ++c) b.inertia[index(c)] += js(kRow[c], kColumn[c]);
  for (int k = 0; k < n; ++k) {
    const Vector3d psi_k = p.slope.col(k);
    const Matrix3d x_k = -cross_of(psi_k), j1 = x_k.transpose() * js + js * x_k;
    for (int c = 0; c < 6; ++c) b.inertia_1(c, k) += j1(kRow[c], kColumn[c]);
    for (int a = 0; a < 3; ++a) moments.turning_1[index(a)].col(k) = js * x_k.col(a);
    for (int l = 0; l < n; ++l) {
      const Vector3d psi_l = p.slope.col(l);
      const Vector3d second(p.second_slope[0](k, l), p.second_slope[1](k, l),
                            p.second_slope[2](k, l));
      const Matrix3d x_l = -cross_of(psi_l),
                     x_kl = 0.5 * (x_k * x_l + x_l * x_k) - cross_of(second);
      const Matrix3d j2 = x_k.transpose() * js * x_l + x_l.transpose() * js * x_k +
                          x_kl.transpose() * js + js * x_kl;
      const Vector3d own = js * (second - 0.5 * psi_l.cross(psi_k));
      const Vector3d coupling = x_l.transpose() * js * psi_k + own;
      for (int c = 0; c < 6; ++c) b.inertia_2[index(c)](k, l) += j2(kRow[c], kColumn[c]);
      for (int r = 0; r < 3; ++r) {
        b.coupling_1[index(r)](k, l) += coupling[r];
        moments.slope_1[index(r)](k, l) = own[r];
        for (int a = 0; a < 3; ++a)
          moments.turning_2[index(r)][index(a)](k, l) = js.row(r).dot(x_kl.col(a));
      }
    }
  }
}

// Stiffness, damping and attachments are random.
std::shared_ptr<const FlexibleBody> body_of_points(Random& random, int modes, int attachments,
                                                   PointBodies& known) {
  const auto other = random_flexible(random, modes, attachments, FlexibleModel::consistent);
  auto b = std::make_shared<FlexibleBody>(*other);
  b->mass = 0.0;
  b->mass_moment = Vec3d::zero();
  b->inertia.fill(0.0);
  InertiaMoments& m = b->moments.emplace();
  m.slope_0.setZero(3, modes);
  for (int i = 0; i < 3; ++i) {
    m.displacement_1[index(i)].setZero(3, modes);
    m.turning_1[index(i)].setZero(3, modes);
    m.slope_1[index(i)].setZero(modes, modes);
    for (int c = 0; c < 3; ++c) {
      m.displacement_2[index(i)][index(c)].setZero(modes, modes);
      m.turning_2[index(i)][index(c)].setZero(modes, modes);
    }
  }
  for (MatrixXd* a : {&b->mass_moment_1, &b->inertia_1, &b->coupling_0, &b->modal_mass})
    a->setZero();
  for (auto& a : b->mass_moment_2) a.setZero();
  for (auto& a : b->inertia_2) a.setZero();
  for (auto& a : b->coupling_1) a.setZero();
  b->completion = InertiaCompletion::always;
  const FourPoints points = random_points(random, modes);
  for (int i = 0; i < 4; ++i) add_point(points, i, *b);
  add_turning(points, *b);
  known[b.get()] = points;
  return b;
}

Case deformed_case(Random& random, const Mechanism& m, int wrenches) {
  Case c = random_case(random, m, wrenches);
  for (const FlexiblePlace& f : m.flexible_bodies())
    for (int k = 0; k < f.constants->modes(); ++k)
      c.state.q[m.position_index(f.name + ".mode1") + k] = random.number(-0.6, 0.6);
  return c;
}

void compare_completed(bool free_base, unsigned seed) {
  Random random(seed);
  Worst inverse, forward, mass, energy_error, momentum_error;
  for (int i = 0; i < 20; ++i) {
    PointBodies points;
    const Mechanism m =
        random_flexible_tree_of(random, 1 + i / 4, free_base, [&](int modes, int attachments) {
          return body_of_points(random, modes, attachments, points);
        }).finish();
    const Case c = deformed_case(random, m, random.below(4));
    const FlexibleReference reference(m, &points);
    const VectorXd expected = reference.efforts(c.state, c.acceleration, c.external);
    inverse.take(worst_of(inverse_dynamics(m, c.state, c.acceleration, c.external), expected));
    forward.take(worst_of(forward_dynamics(m, c.state, expected, c.external), c.acceleration));
    const MatrixXd matrix = mass_matrix(m, c.state.q), exact = reference.mass_matrix(c.state);
    mass.take((matrix - exact).cwiseAbs().maxCoeff() / exact.cwiseAbs().maxCoeff());
    const auto state = reference.at_state(c.state);
    const Energy e = energy(m, c.state);
    energy_error.take(std::abs(e.kinetic - state.kinetic) / (1.0 + state.kinetic));
    energy_error.take(std::abs(e.potential() - state.potential) /
                      (1.0 + std::abs(state.potential)));
    const Eigen::MatrixXd p = momentum_matrix(m, c.state.q, Vec3d::zero());
    const Momentum sum = momentum(m, c.state, Vec3d::zero());
    VectorXd found(6);
    for (int k = 0; k < 3; ++k) found[k] = sum.angular[k], found[3 + k] = sum.linear[k];
    momentum_error.take(worst_of(p * c.state.v, found));
  }
  EXPECT_LT(inverse.value, kCompletedTolerance);
  EXPECT_LT(forward.value, kCompletedTolerance);
  EXPECT_LT(mass.value, kCompletedTolerance);
  EXPECT_LT(energy_error.value, kCompletedTolerance);
  EXPECT_LT(momentum_error.value, kCompletedTolerance);
}

TEST(CompletedInertia, TreesOnTheGround) { compare_completed(false, 31); }
TEST(CompletedInertia, TreesOnAFreeBase) { compare_completed(true, 37); }

TEST(CompletedInertia, IsThatOfThePoints) {
  // At any deformation; and to first order that of the constants.
  Random random(41);
  for (int i = 0; i < 10; ++i) {
    PointBodies points;
    const auto body = body_of_points(random, 1 + i % 4, 1, points);
    const CompletedInertia completed(*body);
    EXPECT_EQ(completed.points.size(), 4u);
    EXPECT_EQ(completed.rows.size(), 3u);
    const VectorXd direction = VectorXd::Ones(body->modes());
    const MatrixXd at_rest = inertia_at(*body, nullptr, 0.0 * direction);
    EXPECT_LT((inertia_at(*body, &completed, 0.0 * direction) - at_rest).cwiseAbs().maxCoeff(),
              1e-14);
    for (const double size : {1e-3, 2.0}) {
      const MatrixXd with = inertia_at(*body, &completed, size * direction);
      EXPECT_GT(symmetric_eigen(with).values[0], 0.0);
      if (size > 1.0) continue;
      MatrixXd difference = with - inertia_at(*body, nullptr, size * direction);
      difference.bottomRightCorner(body->modes(), body->modes()).setZero();  // O(η) there
      EXPECT_LT(difference.topLeftCorner(6, 6).cwiseAbs().maxCoeff(), 50.0 * std::pow(size, 3));
      EXPECT_LT(difference.cwiseAbs().maxCoeff(), 50.0 * size * size);
    }
  }
}

TEST(CompletedInertia, NeedsMoments) {
  // Constants alone do not tell it.
  Random random(43);
  auto body =
      std::make_shared<FlexibleBody>(*random_flexible(random, 3, 1, FlexibleModel::consistent));
  MechanismBuilder b("constants");
  b.add_flexible_body("boom", body);
  b.add_hinge("slew", kWorld, "boom", {.type = HingeType::spherical});
  EXPECT_EQ(b.finish().flexible_bodies()[0].completed, nullptr);
}

}  // namespace
}  // namespace catena::test
