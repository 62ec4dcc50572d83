// SPDX-License-Identifier: BSD-3-Clause
#include "catena/flexible/mass_points.h"

#include <Eigen/Geometry>

#include "catena/base/index.h"

namespace catena {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr int kRow[6] = {0, 0, 0, 1, 1, 2}, kColumn[6] = {0, 1, 2, 1, 2, 2};

Matrix3d skew_of(const Vector3d& a) {
  Matrix3d s;
  s << 0.0, -a.z(), a.y(), a.z(), 0.0, -a.x(), -a.y(), a.x(), 0.0;
  return s;
}

// The part of p·p 1 − p pᵀ that is linear in a and in b.
Matrix3d parallel_axis(const Vector3d& a, const Vector3d& b) {
  return 2.0 * a.dot(b) * Matrix3d::Identity() - a * b.transpose() - b * a.transpose();
}

// An entry of C1 or J2 as a form of the motions of two modes k, l at the point:
// φ_kᵀ A φ_l + ψ_kᵀ B ψ_l + a · b_t(k, l) + b · b_r(k, l).
struct Form {
  Matrix3d by_shape = Matrix3d::Zero(), by_slope = Matrix3d::Zero();
  Vector3d by_second_shape = Vector3d::Zero(), by_second_slope = Vector3d::Zero();
};
struct SecondOrderForms {
  std::array<Form, 3> coupling;
  std::array<Form, 6> inertia;
};

// C1 (k the rate, l contracted with η) and J2 for given motions of two modes.
struct SecondOrderEntries {
  Vector3d coupling;
  Matrix3d inertia;
};
SecondOrderEntries of_shapes(const MassPoint& p, const Vector3d& k, const Vector3d& l) {
  return {p.mass * l.cross(k), p.mass * parallel_axis(k, l)};
}
SecondOrderEntries of_second_shape(const MassPoint& p, const Vector3d& b) {
  return {p.mass * p.position.cross(b), p.mass * parallel_axis(p.position, b)};
}
SecondOrderEntries of_slopes(const MassPoint& p, const Vector3d& k, const Vector3d& l) {
  const Matrix3d &js = p.inertia, turn_k = skew_of(k), turn_l = skew_of(l);
  const Matrix3d square = 0.5 * (turn_k * turn_l + turn_l * turn_k);
  return {(turn_l * js - js * turn_l) * k + js * (0.5 * l.cross(k)),
          square * js + js * square - turn_k * js * turn_l - turn_l * js * turn_k};
}
SecondOrderEntries of_second_slope(const MassPoint& p, const Vector3d& b) {
  const Matrix3d turn = skew_of(b);
  return {p.inertia * b, turn * p.inertia - p.inertia * turn};
}

// From the entries of unit motions.
SecondOrderForms second_order_forms(const MassPoint& p) {
  SecondOrderForms forms;
  const auto store = [&](const SecondOrderEntries& e, auto put) {
    for (int c = 0; c < 3; ++c) put(at(forms.coupling, c), e.coupling[c]);
    for (int c = 0; c < 6; ++c) put(at(forms.inertia, c), e.inertia(kRow[c], kColumn[c]));
  };
  for (int i = 0; i < 3; ++i) {
    const Vector3d ei = Vector3d::Unit(i);
    store(of_second_shape(p, ei), [&](Form& f, double x) { f.by_second_shape[i] = x; });
    store(of_second_slope(p, ei), [&](Form& f, double x) { f.by_second_slope[i] = x; });
    for (int j = 0; j < 3; ++j) {
      const Vector3d ej = Vector3d::Unit(j);
      store(of_shapes(p, ei, ej), [&](Form& f, double x) { f.by_shape(i, j) = x; });
      store(of_slopes(p, ei, ej), [&](Form& f, double x) { f.by_slope(i, j) = x; });
    }
  }
  return forms;
}

// Those of model/flexible/flexible_completion.h. χ of unit rates, with e_a × the axes of ω:
//   −θ~ e_a = e_a × θ,   ½ θ~² e_a = ½ (θ θ_a − e_a θ·θ),   ½ θ̇ × θ
void add_moments(InertiaMoments& to, const MassPoint& p) {
  to.second += p.mass * p.position * p.position.transpose();
  for (int j = 0; j < 3; ++j) {
    const double moment = p.mass * p.position[j];
    at(to.displacement_1, j) += moment * p.shape;
    for (int c = 0; c < 3; ++c) at(at(to.displacement_2, j), c) += moment * at(p.second_shape, c);
  }
  if (p.inertia.isZero(0.0)) return;
  to.turning_0 += p.inertia;
  to.slope_0 += p.inertia * p.slope;
  const Eigen::MatrixXd square = p.slope.transpose() * p.slope;
  for (int a = 0; a < 3; ++a)
    at(to.turning_1, a) += p.inertia * skew_of(Vector3d::Unit(a)) * p.slope;
  for (int r = 0; r < 3; ++r) {
    const Vector3d u = p.inertia.row(r);
    const Eigen::RowVectorXd felt = u.transpose() * p.slope;
    at(to.slope_1, r) -= 0.5 * p.slope.transpose() * skew_of(u) * p.slope;
    for (int c = 0; c < 3; ++c)
      if (u[c] != 0.0) at(to.slope_1, r) += u[c] * at(p.second_slope, c);
    for (int a = 0; a < 3; ++a) {
      Eigen::MatrixXd& turning = at(at(to.turning_2, r), a);
      const Eigen::MatrixXd half = 0.5 * felt.transpose() * p.slope.row(a);
      turning += half + half.transpose() - u[a] * square;
      const Vector3d arm = Vector3d::Unit(a).cross(u);
      for (int c = 0; c < 3; ++c)
        if (arm[c] != 0.0) turning -= arm[c] * at(p.second_slope, c);
    }
  }
}

}  // namespace

void start_moments(FlexibleBody& body, int n) {
  InertiaMoments& m = body.moments.emplace();
  m.slope_0.setZero(3, n);
  for (int i = 0; i < 3; ++i) {
    at(m.displacement_1, i).setZero(3, n);
    at(m.turning_1, i).setZero(3, n);
    at(m.slope_1, i).setZero(n, n);
    for (int c = 0; c < 3; ++c) {
      at(at(m.displacement_2, i), c).setZero(n, n);
      at(at(m.turning_2, i), c).setZero(n, n);
    }
  }
}

void start_constants(FlexibleBody& body, int n) {
  body.mass = 0.0;
  body.mass_moment = Vec3d::zero();
  body.inertia.fill(0.0);
  body.mass_moment_1.setZero(3, n);
  body.inertia_1.setZero(6, n);
  body.coupling_0.setZero(3, n);
  for (auto& a : body.mass_moment_2) a.setZero(n, n);
  for (auto& a : body.inertia_2) a.setZero(n, n);
  for (auto& a : body.coupling_1) a.setZero(n, n);
  body.modal_mass.setZero(n, n);
  start_moments(body, n);
}

void add_mass_point(FlexibleBody& body, const MassPoint& point) {
  const int n = static_cast<int>(point.shape.cols());
  const double m = point.mass;
  const Matrix3d& js = point.inertia;
  const Vector3d& x = point.position;
  body.mass += m;
  body.mass_moment += m * from_eigen(x);
  const Matrix3d j0 = 0.5 * m * parallel_axis(x, x) + js;
  for (int c = 0; c < 6; ++c) at(body.inertia, c) += j0(kRow[c], kColumn[c]);
  body.mass_moment_1 += m * point.shape;
  body.modal_mass +=
      m * (point.shape.transpose() * point.shape) + point.slope.transpose() * js * point.slope;
  const bool turns = !js.isZero(0.0);

  for (int k = 0; k < n; ++k) {
    const Vector3d phi_k = point.shape.col(k), psi_k = point.slope.col(k);
    const Matrix3d turn_k = skew_of(psi_k);
    const Matrix3d j1 = m * parallel_axis(x, phi_k) + turn_k * js - js * turn_k;
    for (int c = 0; c < 6; ++c) body.inertia_1(c, k) += j1(kRow[c], kColumn[c]);
    body.coupling_0.col(k) += m * x.cross(phi_k) + js * psi_k;
  }
  const SecondOrderForms forms = second_order_forms(point);
  const auto add = [&](const Form& f, Eigen::MatrixXd& to) {
    to.noalias() += point.shape.transpose() * (f.by_shape * point.shape);
    if (turns) to.noalias() += point.slope.transpose() * (f.by_slope * point.slope);
    for (int c = 0; c < 3; ++c) {
      if (f.by_second_shape[c] != 0.0) to += f.by_second_shape[c] * at(point.second_shape, c);
      if (f.by_second_slope[c] != 0.0) to += f.by_second_slope[c] * at(point.second_slope, c);
    }
  };
  for (int c = 0; c < 3; ++c) {
    at(body.mass_moment_2, c) += m * at(point.second_shape, c);
    add(at(forms.coupling, c), at(body.coupling_1, c));
  }
  for (int c = 0; c < 6; ++c) add(at(forms.inertia, c), at(body.inertia_2, c));
  add_moments(*body.moments, point);
}

}  // namespace catena
