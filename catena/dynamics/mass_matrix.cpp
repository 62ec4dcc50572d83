// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/mass_matrix.h"

#include "catena/base/index.h"
#include "catena/dynamics/embedding.h"
#include "catena/dynamics/flexible_mass.h"
#include "catena/dynamics/loads.h"

namespace catena {
namespace {

// A rotor carried by a node that is not the parent of its hinge couples the hinge with every
// freedom on the way to the carrier.
void add_remote_rotors(const Workspace& w, Eigen::MatrixXd& matrix) {
  const Mechanism& mechanism = w.mechanism();
  for (const DrivePlace& drive : w.remote_drives()) {
    const Vec3d coupling = w.composite(drive.carrier_node).rotation *
                           (drive.gear_ratio * drive.rotor_inertia * drive.rotor_axis);
    for (int n = drive.carrier_node; n >= 0; n = mechanism.nodes()[index(n)].parent) {
      const Node& node = mechanism.nodes()[index(n)];
      for (int k = 0; k < node.freedoms; ++k) {
        Vec3d turn;  // angular part of the freedom, ground axes
        if (w.is_general(n))
          turn = w.general(n).ground_map[k].angular;
        else if (node.hinge == NodeHinge::revolute)
          turn = w.composite(n).rotation.axis(2);
        const double entry = dot(coupling, turn);
        matrix(drive.v_index, node.v_index + k) += entry;
        matrix(node.v_index + k, drive.v_index) += entry;
      }
    }
  }
}

// Xᵀ M X, the rows and columns of the independent freedoms in order.
void embed(const Workspace& w, Eigen::MatrixXd& m, Eigen::MatrixXd& reduced) {
  const AggregateTables& t = w.aggregate_tables();
  for (std::size_t i = 0; i < t.aggregates.size(); ++i) {
    const Aggregate& a = t.aggregates[i];
    const double* map = w.aggregate(static_cast<int>(i)).map;
    const int* order = t.order.data() + a.first_order;
    const int* freedom = t.freedom_of_column.data() + a.first_order;
    for (int k = 0; k < a.independents; ++k)
      for (int d = 0; d < a.rank; ++d)
        m.col(freedom[order[a.rank + k]]) +=
            map[order[d] * a.independents + k] * m.col(freedom[order[d]]);
    for (int k = 0; k < a.independents; ++k)
      for (int d = 0; d < a.rank; ++d)
        m.row(freedom[order[a.rank + k]]) +=
            map[order[d] * a.independents + k] * m.row(freedom[order[d]]);
  }
  const std::vector<int>& own = w.independent();
  const auto size = static_cast<Eigen::Index>(own.size());
  if (reduced.rows() != size) reduced.resize(size, size);
  for (Eigen::Index i = 0; i < size; ++i)
    for (Eigen::Index k = 0; k < size; ++k) reduced(i, k) = m(own[index(i)], own[index(k)]);
}

}  // namespace

const Eigen::MatrixXd& mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                   Workspace& w) {
  const bool closed = !mechanism.loops().empty();
  Eigen::MatrixXd& whole = closed ? w.tree_mass_matrix : w.mass_matrix;
  const int n = mechanism.freedoms();
  if (whole.rows() != n) whole.resize(n, n);
  if (mechanism.has_flexible_bodies()) {
    flexible_mass_matrix(mechanism, q, w, whole);
    if (!closed) return w.mass_matrix;
  }
  const PreparedInput in = prepare_position(mechanism, q, w);
  Scratch<double> scratch = w.scratch();
  if (!mechanism.has_flexible_bodies()) {
    w.prepare_rows();
    scratch = w.scratch();
    kernel_table().mass_matrix(w.model(), in, &scratch, whole.data());
    add_remote_rotors(w, whole);
  }
  if (closed) {
    run_embedded(mechanism, w.has_quaternion ? w.position : q, {}, w,
                 [&] { return kernel_table().embed(w.model(), in, &scratch); });
    embed(w, whole, w.mass_matrix);
  }
  return w.mass_matrix;
}

Eigen::MatrixXd mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  Workspace workspace(mechanism);
  return mass_matrix(mechanism, q, workspace);
}

}  // namespace catena
