// SPDX-License-Identifier: BSD-3-Clause
// A body from matrices against the same truss by dense sums, and against a beam by cubic elements.
#include "catena/flexible/matrices_body.h"

#include <cmath>
#include <random>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/flexible/beam.h"

namespace catena {
namespace {

using Eigen::MatrixXd;

// A truss of random points, all connected, with lumped masses: M, K and K_σ of any load.
struct Truss {
  std::vector<Vec3d> x;
  std::vector<double> m;
  MatrixXd mass, stiffness;
  std::vector<double> ea;

  explicit Truss(int n) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> u(-1.0, 1.0);
    for (int i = 0; i < n; ++i) {
      x.push_back({u(random), u(random), u(random)});
      m.push_back(1.0 + 0.5 * u(random));
    }
    mass = MatrixXd::Zero(3 * n, 3 * n);
    for (int i = 0; i < 3 * n; ++i) mass(i, i) = m[static_cast<std::size_t>(i / 3)];
    for (int i = 0; i < n * n; ++i) ea.push_back(100.0 * (1.5 + u(random)));
    stiffness = tangent(Eigen::VectorXd::Zero(3 * n), false);
  }
  int n() const { return static_cast<int>(x.size()); }
  Eigen::Vector3d place(int i) const { return to_eigen(x[static_cast<std::size_t>(i)]); }
  double stiffness_of(int a, int b) const { return ea[static_cast<std::size_t>(a * n() + b)]; }
  // K, or the geometric stiffness of the bar forces that the displacement u causes.
  MatrixXd tangent(const Eigen::VectorXd& u, bool geometric) const {
    MatrixXd k = MatrixXd::Zero(3 * n(), 3 * n());
    for (int a = 0; a < n(); ++a)
      for (int b = a + 1; b < n(); ++b) {
        const Eigen::Vector3d d = place(b) - place(a);
        const double l = d.norm();
        Eigen::Matrix3d block = stiffness_of(a, b) / (l * l * l) * d * d.transpose();
        if (geometric) {
          const double force =
              stiffness_of(a, b) / (l * l) * d.dot(u.segment<3>(3 * b) - u.segment<3>(3 * a));
          block = force / l * Eigen::Matrix3d::Identity();
        }
        k.block<3, 3>(3 * a, 3 * a) += block;
        k.block<3, 3>(3 * b, 3 * b) += block;
        k.block<3, 3>(3 * a, 3 * b) -= block;
        k.block<3, 3>(3 * b, 3 * a) -= block;
      }
    return k;
  }
};

TEST(MatricesBody, TrussConstantsOfSecondOrder) {
  // Displacements that make the Green strains linear in η, as far as K can: K u2 = −Bᵀ D e2. The
  // sums over the deformed points are differentiated numerically.
  const Truss truss(6);
  const int n = truss.n(), dofs = 3 * n;
  std::vector<int> free;
  for (int i = 9; i < dofs; ++i) free.push_back(i);
  const Cholesky k(truss.stiffness(free, free));
  MatricesBodySettings s{.nodes = truss.x, .mass = truss.mass, .stiffness = truss.stiffness};
  s.clamped_nodes = {0, 1, 2};
  s.attachments = {{.name = "far", .nodes = {3, 4, 5}}};
  s.modes = {.set = ModeSet::clamped_free, .count = 4};
  const auto load_case = [&](const Eigen::VectorXd& f) {
    Eigen::VectorXd u = Eigen::VectorXd::Zero(dofs);
    const Eigen::VectorXd part = k.solve(Eigen::VectorXd(f(free)));
    for (std::size_t i = 0; i < free.size(); ++i) u[free[i]] = part[static_cast<Eigen::Index>(i)];
    return truss.tangent(u, true);
  };
  for (int c = 0; c < 12; ++c) {
    Eigen::VectorXd f = Eigen::VectorXd::Zero(dofs);
    for (int i = 0; i < n; ++i)
      f[3 * i + c % 3] =
          truss.m[static_cast<std::size_t>(i)] * (c < 3 ? 1.0 : truss.place(i)[c / 3 - 1]);
    s.geometric_stiffness.push_back(load_case(f));
  }
  const auto body = make_matrices_body(s);
  // Shapes from the body's own attachments cannot be read back; repeat the eigenproblem here.
  const MatrixXd kf = truss.stiffness(free, free), mf = truss.mass(free, free);
  const Eigen::VectorXd root = mf.diagonal().cwiseSqrt().cwiseInverse();
  const SymmetricEigen eigen = symmetric_eigen(root.asDiagonal() * kf * root.asDiagonal());
  MatrixXd shapes = MatrixXd::Zero(dofs, 4);
  for (int i = 0; i < 4; ++i) {
    Eigen::VectorXd v = root.cwiseProduct(eigen.vectors.col(i)) * std::sqrt(body->mass);
    Eigen::Index largest = 0;
    v.cwiseAbs().maxCoeff(&largest);
    if (v[largest] < 0) v = -v;
    for (std::size_t r = 0; r < free.size(); ++r)
      shapes(free[r], i) = v[static_cast<Eigen::Index>(r)];
    EXPECT_NEAR(body->frequencies()[i], std::sqrt(eigen.values[i]), 1e-9 * body->frequencies()[i]);
  }
  const auto deformed = [&](const Eigen::VectorXd& eta) {
    const Eigen::VectorXd u1 = shapes * eta;
    Eigen::VectorXd f2 = Eigen::VectorXd::Zero(dofs);  // Bᵀ D e2, Green strain
    for (int a = 0; a < n; ++a)
      for (int b = a + 1; b < n; ++b) {
        const Eigen::Vector3d d = truss.place(b) - truss.place(a);
        const Eigen::Vector3d du = u1.segment<3>(3 * b) - u1.segment<3>(3 * a);
        const double l = d.norm();
        const Eigen::Vector3d force =
            truss.stiffness_of(a, b) / l * (0.5 * du.squaredNorm() / (l * l)) * d;
        f2.segment<3>(3 * b) += force;
        f2.segment<3>(3 * a) -= force;
      }
    Eigen::VectorXd u = u1;
    const Eigen::VectorXd u2 = k.solve(Eigen::VectorXd(f2(free)));
    for (std::size_t i = 0; i < free.size(); ++i) u[free[i]] -= u2[static_cast<Eigen::Index>(i)];
    return u;
  };
  const auto moments = [&](const Eigen::VectorXd& eta) {
    const Eigen::VectorXd u = deformed(eta);
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(9);
    for (int i = 0; i < n; ++i) {
      const Eigen::Vector3d p = truss.place(i) + u.segment<3>(3 * i);
      const double m = truss.m[static_cast<std::size_t>(i)];
      sums.head(3) += m * p;
      const Eigen::Matrix3d j =
          m * (p.squaredNorm() * Eigen::Matrix3d::Identity() - p * p.transpose());
      sums.tail(6) +=
          (Eigen::VectorXd(6) << j(0, 0), j(0, 1), j(0, 2), j(1, 1), j(1, 2), j(2, 2)).finished();
    }
    return sums;
  };
  const double h = 1e-3;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b <= a; ++b) {
      Eigen::VectorXd p = Eigen::VectorXd::Zero(4), q = p;
      p[a] += h, p[b] += h, q[a] += h, q[b] -= h;
      const Eigen::VectorXd d = (moments(p) + moments(-p) - moments(q) - moments(-q)) / (4 * h * h);
      for (int c = 0; c < 3; ++c)
        EXPECT_NEAR(body->mass_moment_2[static_cast<std::size_t>(c)](a, b), d[c],
                    1e-6 * (1 + d.norm()));
      for (int c = 0; c < 6; ++c)
        EXPECT_NEAR(body->inertia_2[static_cast<std::size_t>(c)](a, b), d[3 + c],
                    1e-4 * (1 + d.norm()));
    }
  // C_r = Σ m p × ∂p/∂η_i, its derivative by η_j.
  const double step_size = 1e-4;
  const auto coupling = [&](const Eigen::VectorXd& eta, int i) {
    Eigen::VectorXd step = Eigen::VectorXd::Zero(4);
    step[i] = step_size;
    const Eigen::VectorXd u = deformed(eta),
                          rate = (deformed(eta + step) - deformed(eta - step)) / (2 * step_size);
    Eigen::Vector3d sum = Eigen::Vector3d::Zero();
    for (int p = 0; p < n; ++p)
      sum += truss.m[static_cast<std::size_t>(p)] *
             (truss.place(p) + u.segment<3>(3 * p)).cross(Eigen::Vector3d(rate.segment<3>(3 * p)));
    return sum;
  };
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      Eigen::VectorXd step = Eigen::VectorXd::Zero(4);
      step[j] = step_size;
      const Eigen::Vector3d c1 = (coupling(step, i) - coupling(-step, i)) / (2 * step_size);
      for (int c = 0; c < 3; ++c)
        EXPECT_NEAR(body->coupling_1[static_cast<std::size_t>(c)](i, j), c1[c],
                    1e-5 * (1 + c1.norm()));
    }
}

TEST(MatricesBody, CantileverOfCubicElements) {
  // M and K of 20 cubic elements in the plane (six freedoms a node, the others held by stiff
  // springs).
  const int elements = 20, nodes = elements + 1;
  const double h = 1.0 / elements;
  MatricesBodySettings s{.freedoms_per_node = 6};
  s.mass = MatrixXd::Zero(6 * nodes, 6 * nodes);
  s.stiffness = s.mass;
  Eigen::Matrix4d m, k;
  m << 156, 22 * h, 54, -13 * h, 22 * h, 4 * h * h, 13 * h, -3 * h * h, 54, 13 * h, 156, -22 * h,
      -13 * h, -3 * h * h, -22 * h, 4 * h * h;
  m *= h / 420.0;
  k << 12, 6 * h, -12, 6 * h, 6 * h, 4 * h * h, -6 * h, 2 * h * h, -12, -6 * h, 12, -6 * h, 6 * h,
      2 * h * h, -6 * h, 4 * h * h;
  k /= h * h * h;
  for (int e = 0; e < elements; ++e) {
    const int place[4] = {6 * e + 1, 6 * e + 5, 6 * e + 7, 6 * e + 11};
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) {
        s.mass(place[a], place[b]) += m(a, b);
        s.stiffness(place[a], place[b]) += k(a, b);
      }
  }
  for (int i = 0; i < nodes; ++i) {
    s.nodes.push_back({i * h, 0, 0});
    for (const int c : {0, 2, 3, 4}) s.stiffness(6 * i + c, 6 * i + c) += 1e9;
    const double share = i == 0 || i == nodes - 1 ? 0.5 * h : h;
    s.mass(6 * i, 6 * i) = s.mass(6 * i + 2, 6 * i + 2) = share;
  }
  s.clamped_nodes = {0};
  s.attachments = {{.name = "tip", .nodes = {elements}}};
  s.modes = {.set = ModeSet::clamped_free, .count = 2};
  s.model = FlexibleModel::inconsistent;
  const auto body = make_matrices_body(s);
  EXPECT_NEAR(body->frequencies()[0], std::pow(1.87510406871, 2), 1e-5);
  EXPECT_NEAR(std::abs(body->attachments[0].shape(1, 0)), 2.0, 1e-4);
  EXPECT_NEAR(std::abs(body->mass_moment_1(1, 0)), 0.782991756, 1e-5);
  EXPECT_NEAR(std::abs(body->coupling_0(2, 0)), 0.5688257437, 1e-5);
}

}  // namespace
}  // namespace catena
