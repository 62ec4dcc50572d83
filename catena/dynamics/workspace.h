// SPDX-License-Identifier: BSD-3-Clause
// Workspace: the scratch memory of one evaluation, sized once for a mechanism (Pinocchio's `Data`).
// Dynamics calls with a workspace allocate nothing, except where their comments say so.
//
//   Workspace workspace(robot);
//   for (const State& state : states)
//     use(forward_dynamics(robot, state, effort, workspace));     // result in workspace
//
// One workspace serves one thread, and the mechanism must outlive it. References that a call
// returns are valid until the next call with the same workspace. After a sweep node(n) has its
// results at a node: pose, twist, acceleration, articulated-body inertia, force (frames:
// kernels/scratch.h).
//
// Of a closed mechanism the workspace also keeps the chart: which degrees of freedom of each loop
// are independent (closure/chart.h). The mass matrix, inverse dynamics and operators refer to
// these.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "catena/closure/chart.h"
#include "catena/dynamics/kernels/flexible_store.h"
#include "catena/dynamics/kernels/kernel_table.h"
#include "catena/dynamics/kernels/scratch.h"
#include "catena/model/mechanism.h"

namespace catena {

class CompositeStore;
class MultiplierDynamics;

class Workspace {
 public:
  explicit Workspace(const Mechanism& mechanism);
  ~Workspace();
  Workspace(const Workspace&) = delete;  // its tables point into itself
  Workspace& operator=(const Workspace&) = delete;
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  const Mechanism& mechanism() const { return *mechanism_; }

  // Results of the last sweep at a node; see scratch.h for frames.
  const NodeScratch<double>& node(int n) const { return nodes_[static_cast<std::size_t>(n)]; }
  const GeneralScratch<double>& general(int n) const {
    return general_[static_cast<std::size_t>(general_index_[static_cast<std::size_t>(n)])];
  }
  // Of modes and attachments of flexible bodies.
  const FlexibleScratch<double>& modes(int n) const {
    return flexible_.body(mechanism_->nodes()[static_cast<std::size_t>(n)].flexible);
  }
  const AttachmentScratch<double>& attachment(int n) const {
    return flexible_.attachment(mechanism_->nodes()[static_cast<std::size_t>(n)].flexible);
  }
  bool is_general(int n) const { return general_index_[static_cast<std::size_t>(n)] >= 0; }

  // The independent freedoms of closed loops. Without a chart the first call that needs one chooses
  // it at its position; later calls choose again only where the chart is singular. A pinned chart
  // is never changed. Choosing allocates.
  bool has_chart() const { return !chart_.loops.empty(); }
  const Chart& chart() const { return chart_; }
  void set_chart(Chart chart, bool pinned = false);
  bool chart_is_pinned() const { return chart_pinned_; }
  // The independent freedoms of the whole mechanism (all of a tree's), v indices ascending.
  const std::vector<int>& independent() const { return independent_; }
  // With the chart.
  const AggregateTables& aggregate_tables() const { return tables_; }
  const AggregateScratch<double>& aggregate(int i) const {
    return aggregates_[static_cast<std::size_t>(i)];
  }

  // ---- For the algorithms of this room. ----
  Scratch<double> scratch() {
    return {nodes_.data(), own_.data(),        general_.data(),        composite_.data(),
            sine_.data(),  cosine_.data(),     aggregates_.data(),     all_accelerations_.data(),
            rows_,         flexible_.bodies(), flexible_.attachments()};
  }
  // After a sweep that embedded the loops. x has all freedoms: x := (Xᵀ x) at the independent
  // freedoms, zero at the others; and x := X x, its independent entries read.
  void reduce(Eigen::VectorXd& x) const;
  void expand(Eigen::VectorXd& x) const;
  // All accelerations of the last inverse dynamics, dependent ones included.
  std::span<const double> all_accelerations() const { return all_accelerations_; }
  const SweepModel& model() const { return model_; }
  // The spanning tree as if its loops were open.
  const SweepModel& tree_model() const { return tree_model_; }
  // Drives whose carrier is not the parent of their hinge: outside the O(N) recursion.
  std::span<const DrivePlace> remote_drives() const { return remote_drives_; }
  // The route by multipliers; made at the first call, which allocates.
  MultiplierDynamics& multiplier_dynamics();
  // Makes model().composite, which the mass matrix and its inverse need; allocates at the first
  // call.
  void prepare_rows();
  bool has_passive_elements() const { return has_passive_elements_; }
  const CompositeScratch<double>& composite(int n) const {
    return composite_[static_cast<std::size_t>(n)];
  }

  Eigen::VectorXd position;  // q with its quaternions normalized
  Eigen::VectorXd acceleration;
  Eigen::VectorXd effort;            // result of inverse and hybrid dynamics
  Eigen::VectorXd total_effort;      // applied and passive
  Eigen::VectorXd external;          // 6 per node
  Eigen::VectorXd vector;            // any freedom-sized intermediate
  Eigen::MatrixXd mass_matrix;       // sized on first use
  Eigen::MatrixXd tree_mass_matrix;  // of the spanning tree of a closed mechanism
  bool has_quaternion = false;

 private:
  void place_rotors();
  void choose_kinds();
  void store_loops();
  void fill_models();

  const Mechanism* mechanism_;
  std::vector<NodeScratch<double>> nodes_;
  std::vector<ArticulatedInertiad> own_;
  std::vector<GeneralScratch<double>> general_;
  std::vector<CompositeScratch<double>> composite_;
  std::unique_ptr<CompositeStore> composite_store_;
  double* rows_ = nullptr;
  std::vector<double> sine_;
  std::vector<double> cosine_;
  FlexibleStore<double> flexible_;
  std::vector<int> general_index_;
  std::vector<NodeKind> kinds_;
  std::vector<NodeKind> hinge_kinds_;
  std::vector<std::uint8_t> order_flags_;
  std::vector<int> stretch_ends_;
  std::vector<RotorTerm> rotors_;
  bool has_rotors_ = false;
  std::vector<DrivePlace> remote_drives_;
  bool has_passive_elements_ = false;
  AggregateTables tables_;  // those of the mechanism, with our chart stored in them
  Chart chart_;
  bool chart_pinned_ = false;
  std::vector<int> independent_;
  std::vector<AggregateScratch<double>> aggregates_;
  struct AggregateStore;
  std::vector<AggregateStore> stores_;
  std::vector<double> all_accelerations_;
  SweepModel model_;
  SweepModel tree_model_;
  std::vector<std::uint8_t> tree_flags_;
  std::unique_ptr<MultiplierDynamics> multiplier_dynamics_;
};

// Pose and twist of a node as the last kinematics left them; node −1 is the ground.
inline Transformd pose_of(const Workspace& w, int node) {
  return node < 0 ? Transformd::identity() : w.node(node).pose;
}
inline Twistd twist_of(const Workspace& w, int node) {
  return node < 0 ? Twistd::zero() : w.node(node).twist;
}

}  // namespace catena
