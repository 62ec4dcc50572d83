// SPDX-License-Identifier: BSD-3-Clause
#include "catena/flexible/beam_mesh.h"

#include <cmath>
#include <numbers>

#include "catena/base/index.h"

namespace catena {
namespace {

// P_0 ... P_count-1 at x.
std::vector<double> legendre(int count, double x) {
  std::vector<double> p(index(std::max(count, 2)), 1.0);
  p[1] = x;
  for (int k = 2; k < count; ++k)
    at(p, k) = ((2.0 * k - 1.0) * x * at(p, k - 1) - (k - 1.0) * at(p, k - 2)) / k;
  return p;
}

}  // namespace

GaussRule gauss_rule(int count) {
  GaussRule rule{Eigen::VectorXd(count), Eigen::VectorXd(count), Eigen::MatrixXd(count, count)};
  for (int i = 0; i < count; ++i) {
    double x = -std::cos(std::numbers::pi * (i + 0.75) / (count + 0.5));
    double slope = 1.0;
    for (int iteration = 0; iteration < 10; ++iteration) {  // Newton: quadratic from a near guess
      const std::vector<double> p = legendre(count + 1, x);
      slope = count * (x * at(p, count) - at(p, count - 1)) / (x * x - 1.0);
      x -= at(p, count) / slope;
    }
    rule.points[i] = x;
    rule.weights[i] = 2.0 / ((1.0 - x * x) * slope * slope);
  }
  // The interpolating polynomial in Legendre's polynomials, integrated:
  // ∫ P_k = (P_k+1 − P_k−1)/(2k + 1).
  for (int i = 0; i < count; ++i) {
    const std::vector<double> p = legendre(count + 1, rule.points[i]);
    for (int j = 0; j < count; ++j) {
      const std::vector<double> at_j = legendre(count, rule.points[j]);
      double sum = 0.5 * (rule.points[i] + 1.0);
      for (int k = 1; k < count; ++k) sum += 0.5 * at(at_j, k) * (at(p, k + 1) - at(p, k - 1));
      rule.running(i, j) = rule.weights[j] * sum;
    }
  }
  return rule;
}

BeamField::BeamField(std::vector<double> nodes, int degree, bool bending, int clamped)
    : nodes_(std::move(nodes)), degree_(degree), bending_(bending), clamped_(clamped) {
  const int elements = static_cast<int>(nodes_.size()) - 1;
  dofs_ = bending ? 2 * elements + elements * (degree - 3) : elements + elements * (degree - 1);
}

// Dofs: those of the nodes without the clamped one, then those inside the elements.
int BeamField::value_dof(int node) const {
  if (node == clamped_) return -1;
  return (bending_ ? 2 : 1) * (node < clamped_ ? node : node - 1);
}

int BeamField::slope_dof(int node) const {
  return !bending_ || node == clamped_ ? -1 : value_dof(node) + 1;
}

Eigen::Vector3d BeamField::Local::times(const Eigen::VectorXd& x) const {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (std::size_t i = 0; i < dofs.size(); ++i)
    sum += x[dofs[i]] * columns.col(static_cast<Eigen::Index>(i));
  return sum;
}

BeamField::Local BeamField::evaluate(int element, double xi) const {
  Local f;
  f.columns.resize(3, degree_ + 1);
  const double h = at(nodes_, element + 1) - at(nodes_, element), by_x = 2.0 / h;
  const auto put = [&](int dof, double value, double first, double second) {
    if (dof < 0) return;
    f.columns.col(static_cast<Eigen::Index>(f.dofs.size())) << value, by_x * first,
        by_x * by_x * second;
    f.dofs.push_back(dof);
  };
  const std::vector<double> p = legendre(degree_ + 2, xi);
  const int elements = static_cast<int>(nodes_.size()) - 1;
  if (!bending_) {
    put(value_dof(element), 0.5 * (1.0 - xi), -0.5, 0.0);
    put(value_dof(element + 1), 0.5 * (1.0 + xi), 0.5, 0.0);
    const int inner = elements + element * (degree_ - 1);
    for (int j = 1; j < degree_; ++j)
      put(inner + j - 1, (at(p, j + 1) - at(p, j - 1)) / (2 * j + 1), at(p, j), 0.0);
    return f;
  }
  const double s = 0.25 * (1.0 - xi), t = 0.25 * (1.0 + xi);
  put(value_dof(element), s * (1.0 - xi) * (2.0 + xi), 0.75 * (xi * xi - 1.0), 1.5 * xi);
  put(value_dof(element + 1), t * (1.0 + xi) * (2.0 - xi), 0.75 * (1.0 - xi * xi), -1.5 * xi);
  const double half = 0.5 * h;  // slopes are by x
  put(slope_dof(element), half * s * (1.0 - xi) * (1.0 + xi), half * s * (-1.0 - 3.0 * xi),
      half * 0.5 * (3.0 * xi - 1.0));
  put(slope_dof(element + 1), half * t * (1.0 + xi) * (xi - 1.0), half * t * (3.0 * xi - 1.0),
      half * 0.5 * (3.0 * xi + 1.0));
  const int inner = 2 * elements + element * (degree_ - 3);
  for (int j = 2; j < degree_ - 1; ++j) {
    const double value =
        ((at(p, j + 2) - at(p, j)) / (2 * j + 3) - (at(p, j) - at(p, j - 2)) / (2 * j - 1)) /
        (2 * j + 1);
    put(inner + j - 2, value, (at(p, j + 1) - at(p, j - 1)) / (2 * j + 1), at(p, j));
  }
  return f;
}

}  // namespace catena
