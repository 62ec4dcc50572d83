// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/inverse_derivatives.h"

#include <cstring>

#include "catena/base/index.h"
#include "catena/dynamics/embedding.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/sensitivity/closed_derivatives.h"
#include "catena/sensitivity/flexible_derivatives.h"
#include "catena/sensitivity/kernels/columns.h"
#include "catena/sensitivity/load_derivatives.h"

namespace catena {

void compute_columns(const SweepInput& in, const double* acceleration, bool placed,
                     SensitivityWorkspace& w) {
  SweepInput given = in;
  given.acceleration = acceleration;
  Scratch<double> scratch = w.dynamics().scratch();
  column_kernels().columns(w.dynamics().tree_model(), given, placed, &scratch, &w.columns());
}

void compute_tree_matrices(const State& state, std::span<const ExternalWrench> external,
                           SensitivityWorkspace& w) {
  w.need_matrices();
  column_kernels().matrices(w.dynamics().tree_model(), w.tree_pattern(), &w.columns(), w.by_q(),
                            w.by_v(), w.mass());
  if (w.dynamics().has_passive_elements() || !external.empty())
    add_load_derivatives(state, external, w);
}

void tree_effort(const SweepInput& in, SensitivityWorkspace& w, Eigen::VectorXd& effort) {
  const Mechanism& m = w.mechanism();
  const DerivativeTable<double>& c = w.columns();
  effort.resize(m.freedoms());
  column_efforts(w.dynamics().tree_model(), w.acceleration.data(), c, effort.data());
  if (w.dynamics().has_passive_elements())
    effort -= Eigen::Map<const Eigen::VectorXd>(in.effort, m.freedoms());
}

void copy_matrix(const SensitivityWorkspace& w, const double* padded, Eigen::MatrixXd& to) {
  const Eigen::Index n = w.mechanism().freedoms();
  if (to.rows() != n || to.cols() != n) to.resize(n, n);
  const Eigen::Index stride = w.stride();
  double* out = to.data();
  for (Eigen::Index k = 0; k < n; ++k)
    std::memcpy(out + k * n, padded + k * stride, to_size(n) * sizeof(double));
}

const InverseDerivatives& flexible_inverse_derivatives(const Mechanism& mechanism,
                                                       const State& state,
                                                       const Eigen::VectorXd& acceleration,
                                                       SensitivityWorkspace& w,
                                                       std::span<const ExternalWrench> external) {
  inverse_dynamics(mechanism, state, acceleration, w.dynamics(), external);  // checks the input
  const Eigen::VectorXd& q = w.dynamics().has_quaternion ? w.dynamics().position : state.q;
  w.flexible_duals().inverse(q, state.v, acceleration, external, w.inverse);
  w.inverse.da = mass_matrix(mechanism, state.q, w.dynamics());
  return w.inverse;
}

const InverseDerivatives& inverse_dynamics_derivatives(const Mechanism& mechanism,
                                                       const State& state,
                                                       const Eigen::VectorXd& acceleration,
                                                       SensitivityWorkspace& w,
                                                       std::span<const ExternalWrench> external) {
  check_vector(mechanism.velocity_names(), acceleration, "acceleration");
  if (!mechanism.loops().empty())
    return closed_inverse_derivatives(mechanism, state, acceleration, w, external);
  if (mechanism.has_flexible_bodies())
    return flexible_inverse_derivatives(mechanism, state, acceleration, w, external);
  const PreparedInput in = prepare(mechanism, state, nullptr, external, w.dynamics());
  compute_columns(in, acceleration.data(), false, w);
  compute_tree_matrices(state, external, w);
  copy_matrix(w, w.by_q(), w.inverse.dq);
  copy_matrix(w, w.by_v(), w.inverse.dv);
  copy_matrix(w, w.mass(), w.inverse.da);
  return w.inverse;
}

InverseDerivatives inverse_dynamics_derivatives(const Mechanism& mechanism, const State& state,
                                                const Eigen::VectorXd& acceleration,
                                                std::span<const ExternalWrench> external) {
  SensitivityWorkspace workspace(mechanism);
  return inverse_dynamics_derivatives(mechanism, state, acceleration, workspace, external);
}

}  // namespace catena
