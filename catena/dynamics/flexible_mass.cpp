// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/flexible_mass.h"

#include "catena/base/index.h"
#include "catena/dynamics/kinematics.h"
#include "catena/model/hinge_kinematics.h"

namespace catena {
namespace {

class CompositeColumns {
 public:
  CompositeColumns(const Mechanism& mechanism, const Workspace& workspace, Eigen::MatrixXd& matrix)
      : m_(mechanism), w_(workspace), matrix_(matrix) {
    const int count = static_cast<int>(m_.nodes().size());
    composite_.resize(to_size(count));
    for (int n = 0; n < count; ++n) {
      at(composite_, n) = load_inertia<double>(node(n));
      if (node(n).hinge == NodeHinge::modes) at(composite_, n) += w_.modes(n).change;
    }
    for (int n = count; n-- > 0;)
      if (const int parent = node(n).parent; parent >= 0)
        at(composite_, parent) += shift_to_parent(w_.node(n).to_parent, at(composite_, n));
  }

  void run() {
    matrix_.setZero();
    for (const FlexiblePlace& body : m_.flexible_bodies()) add_modes(body);
    for (int n = 0; n < static_cast<int>(m_.nodes().size()); ++n) {
      if (node(n).flexible >= 0) continue;
      for (int k = 0; k < node(n).freedoms; ++k) {
        const Wrenchd column = at(composite_, n) * motion_map_column(m_, w_, n, k);
        const int i = node(n).v_index + k;
        for (int l = 0; l <= k; ++l)
          add(node(n).v_index + l, i, dot(column, motion_map_column(m_, w_, n, l)));
        carry(n, i, column);
      }
    }
  }

 private:
  const Node& node(int n) const { return at(m_.nodes(), n); }

  void add(int i, int j, double x) {
    matrix_(i, j) += x;
    if (i != j) matrix_(j, i) += x;
  }

  void add_modes(const FlexiblePlace& body) {
    const Node& own = node(body.node);
    const FlexibleScratch<double>& f = w_.modes(body.node);
    for (int k = 0; k < own.freedoms; ++k) {
      Wrenchd column = f.coupling[k];
      for (int l = 0; l <= k; ++l)
        add(own.v_index + l, own.v_index + k, f.mass[k * own.freedoms + l]);
      for (const FlexiblePlace::Attachment& a : body.attachments) {
        const Twistd* map = w_.attachment(a.node).map;
        const Wrenchd felt = at(composite_, a.node) * map[k];
        column += Ad_star_inverse(w_.node(a.node).to_parent, felt);
        for (int l = 0; l <= k; ++l) add(own.v_index + l, own.v_index + k, dot(felt, map[l]));
      }
      carry(body.node, own.v_index + k, column);
    }
  }

  // Entries of freedom i with all freedoms nearer to the ground than node n.
  void carry(int n, int i, Wrenchd column) {
    const RotorTerm* rotors = w_.model().rotors;
    bool at_own_hinge = true;
    while (true) {
      const int parent = node(n).parent;
      if (node(n).hinge == NodeHinge::attachment) {
        const Twistd* map = w_.attachment(n).map;
        for (int k = 0; k < node(parent).freedoms; ++k)
          add(node(parent).v_index + k, i, dot(column, map[k]));
      }
      if (rotors != nullptr && at_own_hinge && node(n).freedoms == 1 && node(n).flexible < 0)
        matrix_(i, i) += rotors[n].reflected;
      if (parent < 0) return;
      column = Ad_star_inverse(w_.node(n).to_parent, column);
      if (rotors != nullptr && at_own_hinge && node(n).flexible < 0)
        column.moment += Vec3d{rotors[n].coupling[0], rotors[n].coupling[1], rotors[n].coupling[2]};
      at_own_hinge = false;
      n = parent;
      if (node(n).flexible < 0)
        for (int k = 0; k < node(n).freedoms; ++k) {
          double entry = dot(column, motion_map_column(m_, w_, n, k));
          add(node(n).v_index + k, i, entry);
        }
    }
  }

  const Mechanism& m_;
  const Workspace& w_;
  Eigen::MatrixXd& matrix_;
  std::vector<SpatialInertiad> composite_;
};

}  // namespace

Eigen::VectorXd as_seen_by_inertia(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  Eigen::VectorXd seen = q;
  for (const FlexiblePlace& body : mechanism.flexible_bodies()) {
    if (body.constants->model != FlexibleModel::ruthless) continue;
    const Node& node = at(mechanism.nodes(), body.node);
    seen.segment(node.q_index, node.coordinates).setZero();
  }
  return seen;
}

void flexible_mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q, Workspace& w,
                          Eigen::MatrixXd& matrix) {
  if (!w.remote_drives().empty())
    refuse_flexible(mechanism, "a drive that is carried by a body which is not its hinge's parent");
  update_kinematics(mechanism, as_seen_by_inertia(mechanism, q), w);
  CompositeColumns(mechanism, w, matrix).run();
}

void refuse_flexible(const Mechanism& mechanism, const char* what) {
  if (!mechanism.has_flexible_bodies()) return;
  throw NumericalError(
      std::string(what) + " is not supported for mechanisms with flexible bodies ('" +
      mechanism.flexible_bodies().front().name + "' is one); make them rigid for this");
}

}  // namespace catena
