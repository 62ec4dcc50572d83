// SPDX-License-Identifier: BSD-3-Clause
// Operational space [Khatib 1987]: the inertia Λ that a set of points or frames (an end effector)
// shows to forces acting on them, and the dynamically consistent inverse of their Jacobian.
//
//   Λ⁻¹ = J M⁻¹ Jᵀ = Bᵀ Ω B,    Ω = ψᵀ Hᵀ D⁻¹ H ψ      (spatial operator algebra, SOA)
//
// without M, M⁻¹ or J: the unit forces of every frame are carried inward through the articulated
// bodies (the force propagators of [Lilly & Orin 1989]), and a 6 x 6 compliance Υ is carried
// outward,
//
//   Υ = β Υ_parent βᵀ + H D⁻¹ Hᵀ,    β = Ad⁻¹ − H D⁻¹ gainᵀ
//
// Two frames meet at their nearest common ancestor c:  Λ⁻¹_ab = G_a(c)ᵀ Υ(c) G_b(c), G(c) being
// the unit forces as they arrive there, and zero only if there is none. (Lemma 5 and algorithm A.5
// of the SOA paper put zero for different branches, which is wrong if their ancestor moves.)
// Cost: O(N) + O(rows · depth) + O(rows²); Λ itself one Cholesky factor of that size. With closed
// loops a unit force of one member moves the others too; there Λ⁻¹ is found column by column, O(N)
// each, and efforts and velocities are those of the independent freedoms (operators.h).
//
// The rows of a frame are its twist: angular x y z, linear x y z of its origin, along its own axes
// or the ground's. Made once for a mechanism and a set of frames; after that nothing is allocated
// (Eigen's blocked Cholesky may, above some 60 rows).
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "catena/base/dense.h"
#include "catena/dynamics/operators/operators.h"
#include "catena/spatial/eigen.h"

namespace catena {

inline constexpr std::uint8_t kAngularRows = 0b000111;
inline constexpr std::uint8_t kLinearRows = 0b111000;
inline constexpr std::uint8_t kAllRows = 0b111111;

struct TaskFrame {
  enum class Axes { frame, ground };
  int body = -1;
  Transformd pose{};  // X_body_frame
  Axes axes = Axes::ground;
  std::uint8_t rows = kAllRows;  // bit i: row i of (ω, v)
};

class OperationalSpace {
 public:
  OperationalSpace(const Mechanism& mechanism, std::vector<TaskFrame> frames);

  int rows() const { return rows_; }

  // Λ⁻¹ in the position of the last articulate() (or recursive forward_dynamics()) of this
  // workspace. Everything below refers to that position, and uses the workspace as its scratch.
  void update(Workspace& workspace);

  const Eigen::MatrixXd& inverse_inertia() const { return inverse_inertia_; }
  // Λ. Throws NumericalError, naming the frame, if its rows depend on those before.
  const Eigen::MatrixXd& inertia();

  void apply_jacobian(const Eigen::VectorXd& v, Eigen::VectorXd& twists);             // J v
  void apply_jacobian_transposed(const Eigen::VectorXd& f, Eigen::VectorXd& effort);  // Jᵀ f
  // The dynamically consistent inverse J̄ = M⁻¹ Jᵀ Λ (Lilly & Orin: Ω Λ): J J̄ = 1, and efforts
  // (1 − Jᵀ J̄ᵀ) τ do not accelerate the frames.
  void apply_consistent_inverse(const Eigen::VectorXd& x, Eigen::VectorXd& v);  // J̄ x
  void apply_consistent_inverse_transposed(const Eigen::VectorXd& effort,
                                           Eigen::VectorXd& f);  // J̄ᵀ τ = Λ J M⁻¹ τ
  void project_effort(const Eigen::VectorXd& effort, Eigen::VectorXd& rest);  // (1 − Jᵀ J̄ᵀ) τ

 private:
  struct Task {
    TaskFrame frame;
    int node = -1;
    Transformd X_node_frame;
    int first_row = 0;
    int row_count = 0;
    std::vector<int> path;         // nodes from its own to the ground
    std::vector<Wrenchd> arrived;  // [place on the path][row]: unit forces, in that node's frame
    const Wrenchd& unit(int place, int row) const {
      return arrived[static_cast<std::size_t>(place * row_count + row)];
    }
  };
  struct Pair {
    int a, b;              // tasks, a ≤ b
    int place_a, place_b;  // of the common ancestor on the paths
    int compliance;        // index of the ancestor in active_
  };
  int freedoms() const;                             // the independent ones
  void check_size(const Eigen::VectorXd& x) const;  // one entry for each of those
  void check_size(const Eigen::VectorXd& x, int size) const;
  void place_units(Task& task);
  void update_closed();
  void factor();

  const Mechanism* mechanism_;
  Workspace* workspace_ = nullptr;  // of the last update()
  int rows_ = 0;
  bool factored_ = false;
  std::vector<Task> tasks_;
  std::vector<Pair> pairs_;
  std::vector<int> active_;           // nodes between the frames and the ground, parent first
  std::vector<int> parent_;           // of an active node in active_; −1: the ground
  std::vector<Matrix6d> compliance_;  // Υ of the active nodes
  Eigen::MatrixXd inverse_inertia_, inertia_;
  Eigen::VectorXd task_vector_, freedom_vector_;
  Cholesky factor_;
};

}  // namespace catena
