#include "catena/dynamics/workspace.h"

#include <algorithm>
#include <limits>

namespace catena {

Workspace::Workspace(const Mechanism& mechanism) : mechanism_(&mechanism) {
  const std::size_t count = mechanism.nodes().size();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Eigen::Index freedoms = mechanism.freedoms();
  position = Eigen::VectorXd::Constant(mechanism.coordinates(), nan);
  acceleration = Eigen::VectorXd::Constant(freedoms, nan);
  effort = Eigen::VectorXd::Constant(freedoms, nan);
  total_effort = Eigen::VectorXd::Constant(freedoms, nan);
  vector = Eigen::VectorXd::Constant(freedoms, nan);
  external = Eigen::VectorXd::Zero(6 * static_cast<Eigen::Index>(count));
  nodes_.resize(count);
  composite_.resize(count);
  general_index_.assign(count, -1);
  sine_.resize(static_cast<std::size_t>(mechanism.coordinates()));
  cosine_.resize(sine_.size());
  // Inward, the last child of a node is the first to reach it.
  order_flags_.assign(count, kLeaf);
  for (std::size_t n = count; n-- > 0;) {
    const int parent = mechanism.nodes()[n].parent;
    if (parent < 0) continue;
    std::uint8_t& flags = order_flags_[static_cast<std::size_t>(parent)];
    if (flags & kLeaf) {
      order_flags_[n] |= kFirstAtParent;
      flags = static_cast<std::uint8_t>(flags & ~kLeaf);
    }
  }

  bool any_rotor = false;
  rotors_.resize(count);
  for (const DrivePlace& drive : mechanism.drives()) {
    if (drive.rotor_inertia == 0.0) continue;
    const int n = mechanism.hinges()[static_cast<std::size_t>(drive.hinge)].node;
    const Node& node = mechanism.nodes()[static_cast<std::size_t>(n)];
    RotorTerm& rotor = rotors_[static_cast<std::size_t>(n)];
    any_rotor = true;
    rotor.reflected += drive.gear_ratio * drive.gear_ratio * drive.rotor_inertia;
    if (drive.armature_only || drive.carrier_node < 0) continue;
    if (drive.carrier_node == node.parent) {
      for (int i = 0; i < 3; ++i)
        rotor.coupling[i] += drive.gear_ratio * drive.rotor_inertia * drive.rotor_axis[i];
    } else {
      remote_drives_.push_back(drive);
    }
  }

  std::vector<int> depth(count, 1);
  for (std::size_t n = 0; n < count; ++n) {
    const int parent = mechanism.nodes()[n].parent;
    if (parent >= 0) depth[n] = depth[static_cast<std::size_t>(parent)] + 1;
    model_.is_deep = model_.is_deep || depth[n] > kDeepPath;
  }

  int general_count = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const Node& node = mechanism.nodes()[n];
    const bool fast = node.hinge == NodeHinge::revolute || node.hinge == NodeHinge::prismatic;
    if (!fast || rotors_[n].reflected != 0.0) general_index_[n] = general_count++;
    has_quaternion = has_quaternion || node.coordinates != node.freedoms;
  }
  general_.resize(static_cast<std::size_t>(general_count));

  has_passive_elements_ =
      !mechanism.springs().empty() ||
      std::any_of(mechanism.freedom_settings().begin(), mechanism.freedom_settings().end(),
                  [](const FreedomSettings& f) {
                    return f.damping != 0.0 || f.stiffness != 0.0 || f.friction.active();
                  });

  model_.nodes = mechanism.nodes().data();
  model_.node_count = static_cast<int>(count);
  model_.screws = mechanism.screws().data();
  model_.customs = mechanism.customs().data();
  model_.rotors = any_rotor ? rotors_.data() : nullptr;
  model_.general_index = general_index_.data();
  model_.order_flags = order_flags_.data();
  model_.coordinates = mechanism.coordinates();
  for (int i = 0; i < 3; ++i) model_.gravity[i] = mechanism.gravity()[i];
  model_.freedoms = mechanism.freedoms();
}

}  // namespace catena
