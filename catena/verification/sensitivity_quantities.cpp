// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/index.h"
#include "catena/dynamics/forward.h"
#include "catena/sensitivity/forward_derivatives.h"
#include "catena/sensitivity/parameters.h"
#include "catena/verification/quantity_tables.h"

namespace catena {
namespace {

using Request = const QuantityRequest&;
using Matrix = Eigen::MatrixXd;

// Over all freedoms, with zeros for those that depend on others.
Matrix spread(const Matrix& m, const std::vector<int>& independent, int freedoms) {
  Matrix all = Matrix::Zero(freedoms, freedoms);
  for (std::size_t i = 0; i < independent.size(); ++i)
    for (std::size_t k = 0; k < independent.size(); ++k)
      all(independent[i], independent[k]) =
          m(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
  return all;
}

template <Matrix ForwardDerivatives::*kPart>
Matrix forward_derivative(Request r) {
  SensitivityWorkspace w(r.mechanism);
  pin_reference(r, w.dynamics());
  const ForwardDerivatives& f =
      forward_dynamics_derivatives(r.mechanism, r.input.state, r.input.effort, w, r.input.external);
  return spread(f.*kPart, w.dynamics().independent(), r.mechanism.freedoms());
}

template <Matrix InverseDerivatives::*kPart>
Matrix inverse_derivative(Request r) {
  SensitivityWorkspace w(r.mechanism);
  pin_reference(r, w.dynamics());
  const InverseDerivatives& d = inverse_dynamics_derivatives(
      r.mechanism, r.input.state, r.input.acceleration, w, r.input.external);
  return spread(d.*kPart, w.dynamics().independent(), r.mechanism.freedoms());
}

// Derivatives of the results of hybrid dynamics: the acceleration of a force-driven freedom, the
// effort of a motion-driven one.
Matrix found_rows(Request r, const Matrix& acceleration, const Matrix& effort) {
  if (!r.mechanism.loops().empty())
    throw NumericalError("derivatives of hybrid dynamics are compared for trees only");
  Matrix found = acceleration;
  for (Eigen::Index i = 0; i < found.rows(); ++i)
    if (r.input.motion_driven[index(i)] != 0) found.row(i) = effort.row(i);
  return found;
}

template <Matrix HybridDerivatives::*kAcceleration, Matrix HybridDerivatives::*kEffort>
Matrix hybrid_derivative(Request r) {
  const HybridDerivatives h = hybrid_dynamics_derivatives(
      r.mechanism, r.input.state, {r.input.motion_driven, r.input.effort, r.input.acceleration},
      r.input.external);
  return found_rows(r, h.*kAcceleration, h.*kEffort);
}

Matrix acceleration_by_position(Request r) {
  return forward_derivative<&ForwardDerivatives::dq>(r);
}
Matrix acceleration_by_velocity(Request r) {
  return forward_derivative<&ForwardDerivatives::dv>(r);
}

Matrix acceleration_by_effort(Request r) {
  SensitivityWorkspace w(r.mechanism);
  pin_reference(r, w.dynamics());
  const ForwardDerivatives& f =
      forward_dynamics_derivatives(r.mechanism, r.input.state, r.input.effort, w, r.input.external);
  const std::vector<int>& independent = w.dynamics().independent();
  return spread(f.deffort(Eigen::all, independent), independent, r.mechanism.freedoms());
}

Matrix effort_by_position(Request r) { return inverse_derivative<&InverseDerivatives::dq>(r); }
Matrix effort_by_velocity(Request r) { return inverse_derivative<&InverseDerivatives::dv>(r); }

Matrix hybrid_by_position(Request r) {
  return hybrid_derivative<&HybridDerivatives::acceleration_dq, &HybridDerivatives::effort_dq>(r);
}
Matrix hybrid_by_velocity(Request r) {
  return hybrid_derivative<&HybridDerivatives::acceleration_dv, &HybridDerivatives::effort_dv>(r);
}
Matrix hybrid_by_input(Request r) {
  return hybrid_derivative<&HybridDerivatives::acceleration_dinput,
                           &HybridDerivatives::effort_dinput>(r);
}

Matrix hybrid_by_parameter(Request r) {
  SensitivityWorkspace w(r.mechanism);
  const HybridParameterDerivatives d =
      ParameterSet(r.mechanism, {r.of})
          .hybrid_derivatives(r.input.state,
                              {r.input.motion_driven, r.input.effort, r.input.acceleration}, w,
                              r.input.external);
  return found_rows(r, d.acceleration, d.effort);
}

}  // namespace

std::vector<Quantity> sensitivity_quantities() {
  using Of = Quantity::Of;
  return {
      freedom_matrix_row("acceleration_by_position", "forward dynamics by tangent directions of q",
                         acceleration_by_position),
      freedom_matrix_row("acceleration_by_velocity", "forward dynamics by velocities",
                         acceleration_by_velocity),
      freedom_matrix_row("acceleration_by_effort", "forward dynamics by efforts",
                         acceleration_by_effort),
      freedom_matrix_row("effort_by_position", "inverse dynamics by tangent directions of q",
                         effort_by_position),
      freedom_matrix_row("effort_by_velocity", "inverse dynamics by velocities",
                         effort_by_velocity),
      freedom_matrix_row("hybrid_by_position",
                         "results of hybrid dynamics, by tangent directions of q",
                         hybrid_by_position),
      freedom_matrix_row("hybrid_by_velocity", "results of hybrid dynamics, by velocities",
                         hybrid_by_velocity),
      freedom_matrix_row("hybrid_by_input",
                         "results of hybrid dynamics, by given efforts and accelerations",
                         hybrid_by_input),
      freedom_row("hybrid_by_parameter", "results of hybrid dynamics, by a parameter",
                  hybrid_by_parameter, Of::parameter)};
}

}  // namespace catena
