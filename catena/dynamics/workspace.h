// Workspace: the scratch memory of one evaluation, sized once for a mechanism. No dynamics call
// allocates after it exists. One workspace serves one thread.
//
// The mechanism must outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "catena/dynamics/kernel_table.h"
#include "catena/dynamics/scratch.h"
#include "catena/model/mechanism.h"

namespace catena {

class Workspace {
 public:
  explicit Workspace(const Mechanism& mechanism);
  Workspace(const Workspace&) = delete;  // its tables point into itself
  Workspace& operator=(const Workspace&) = delete;
  Workspace(Workspace&&) = default;
  Workspace& operator=(Workspace&&) = default;

  const Mechanism& mechanism() const { return *mechanism_; }

  // What the last sweep left at a node; see scratch.h for frames.
  const NodeScratch<double>& node(int n) const { return nodes_[static_cast<std::size_t>(n)]; }
  const GeneralScratch<double>& general(int n) const {
    return general_[static_cast<std::size_t>(general_index_[static_cast<std::size_t>(n)])];
  }
  bool is_general(int n) const { return general_index_[static_cast<std::size_t>(n)] >= 0; }

  // ---- For the algorithms of this room. ----
  Scratch<double> scratch() {
    return {nodes_.data(), general_.data(), composite_.data(), sine_.data(), cosine_.data()};
  }
  const SweepModel& model() const { return model_; }
  // Drives whose carrier is not the parent of their hinge: outside the O(N) recursion.
  std::span<const DrivePlace> remote_drives() const { return remote_drives_; }
  bool has_passive_elements() const { return has_passive_elements_; }
  const CompositeScratch<double>& composite(int n) const {
    return composite_[static_cast<std::size_t>(n)];
  }

  Eigen::VectorXd position;  // q with its quaternions normalized
  Eigen::VectorXd acceleration;
  Eigen::VectorXd effort;        // result of inverse and hybrid dynamics
  Eigen::VectorXd total_effort;  // applied and passive
  Eigen::VectorXd external;      // 6 per node
  Eigen::VectorXd vector;        // any freedom-sized intermediate
  Eigen::MatrixXd mass_matrix;   // sized on first use by the dense route
  bool has_quaternion = false;

 private:
  const Mechanism* mechanism_;
  std::vector<NodeScratch<double>> nodes_;
  std::vector<GeneralScratch<double>> general_;
  std::vector<CompositeScratch<double>> composite_;
  std::vector<double> sine_;
  std::vector<double> cosine_;
  std::vector<int> general_index_;
  std::vector<std::uint8_t> order_flags_;
  std::vector<RotorTerm> rotors_;
  std::vector<DrivePlace> remote_drives_;
  bool has_passive_elements_ = false;
  SweepModel model_;
};

}  // namespace catena
