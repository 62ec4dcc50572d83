#include "catena/dynamics/mass_matrix.h"

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
    for (int n = drive.carrier_node; n >= 0;
         n = mechanism.nodes()[static_cast<std::size_t>(n)].parent) {
      const Node& node = mechanism.nodes()[static_cast<std::size_t>(n)];
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

}  // namespace

const Eigen::MatrixXd& mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                   Workspace& w) {
  const int n = mechanism.freedoms();
  if (w.mass_matrix.rows() != n) w.mass_matrix.resize(n, n);
  const PreparedInput in = prepare_position(mechanism, q, w);
  Scratch<double> scratch = w.scratch();
  kernel_table().mass_matrix(w.model(), in, &scratch, w.mass_matrix.data());
  add_remote_rotors(w, w.mass_matrix);
  return w.mass_matrix;
}

Eigen::MatrixXd mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  Workspace workspace(mechanism);
  return mass_matrix(mechanism, q, workspace);
}

}  // namespace catena
