// SPDX-License-Identifier: BSD-3-Clause
// Jacobian-vector and vector-Jacobian products of the dynamics (forward and reverse mode), in O(N)
// time and memory: no matrix is formed, so that chains of ten thousand bodies are possible.
//
// At one point (state and efforts) evaluate() runs forward dynamics and the sweeps of the columns
// (columns.h). After that each product is one sweep outward and one inward:
//
//   forward   δv̇ = ∂v̇/∂q δq + ∂v̇/∂v δv + ∂v̇/∂τ δτ      along one direction
//   adjoint   (wᵀ ∂v̇/∂q, wᵀ ∂v̇/∂v, wᵀ ∂v̇/∂τ)           the gradient of wᵀ v̇
//
// because a row of ∂τ/∂q is made of sums over the freedoms inboard and outboard of its own:
//
//   (∂τ/∂q δ)_k = S_k · Σ_outboard by_q δ + momentum_k · Σ_inboard second δ
//                 + turning_k · Σ_inboard rate δ
//
// and its transpose of the same sums the other way round. Directions of q are tangent directions
// (inverse_derivatives.h). With flexible bodies the matrices of the tree are formed, by dual
// numbers, and the products are made with them: O(N²). In a closed mechanism all vectors are over
// the independent freedoms, dynamics().independent(), except efforts, which act at all freedoms.
#pragma once

#include <span>

#include "catena/sensitivity/forward_derivatives.h"

namespace catena {

// How a closed mechanism changes along something, its independent freedoms held: all freedoms, and
// the efforts needed at the independent ones.
struct LoopChange {
  Eigen::VectorXd q, v, acceleration;
  Eigen::VectorXd needed;
};

struct DynamicsGradient {
  Eigen::VectorXd q;
  Eigen::VectorXd v;
  Eigen::VectorXd effort;  // of all freedoms
};

class DynamicsProducts {
 public:
  // The mechanism must outlive it. Nothing is allocated after the first evaluation of a tree.
  explicit DynamicsProducts(const Mechanism& mechanism);

  // Forward dynamics at this point; returns the accelerations of all freedoms.
  const Eigen::VectorXd& evaluate(const State& state, const Eigen::VectorXd& effort,
                                  std::span<const ExternalWrench> external = {});
  // Sets the point by given accelerations of all freedoms (of a closed mechanism: the independent
  // ones are read); the products below then belong to inverse dynamics. `applied` (null: none):
  // efforts at all freedoms of a closed mechanism that need not be found.
  void evaluate_inverse(const State& state, const Eigen::VectorXd& acceleration,
                        std::span<const ExternalWrench> external = {},
                        const Eigen::VectorXd* applied = nullptr);
  // Of a closed mechanism at the point: efforts needed at its independent freedoms beyond the
  // applied ones, at their places among all.
  Eigen::VectorXd needed() const;
  // Change of the loop when its freedoms (by place in the aggregate) move along `motion`, which
  // need not keep it closed.
  LoopChange along(int loop, const Eigen::VectorXd& motion);

  // Hybrid dynamics of a tree at this point, for hybrid_adjoint(). Throws NumericalError for closed
  // mechanisms and for drives on distant carriers.
  const HybridResult& evaluate_hybrid(const State& state, const HybridInput& input,
                                      std::span<const ExternalWrench> external = {});
  // The gradient of wᵀ v̇ + xᵀ τ, w read at force-driven and x at motion-driven freedoms. `effort`
  // is by the inputs: efforts of the former, accelerations of the latter.
  const DynamicsGradient& hybrid_adjoint(const Eigen::VectorXd& w, const Eigen::VectorXd& x);
  // M⁻¹ of the adjoints' argument: minus the gradient by efforts that the dynamics needs, all
  // freedoms.
  const Eigen::VectorXd& multiplier() const { return multiplier_; }
  // Carries a gradient by positions, velocities and accelerations of all freedoms over to the
  // independent ones, at the point. In a tree they are the same.
  void pull_back(Eigen::VectorXd& q, Eigen::VectorXd& v, Eigen::VectorXd& a);

  // δv̇ of the independent freedoms (of all of a tree).
  const Eigen::VectorXd& forward_product(const Eigen::VectorXd& dq, const Eigen::VectorXd& dv,
                                         const Eigen::VectorXd& deffort);
  const DynamicsGradient& forward_adjoint(const Eigen::VectorXd& w);

  // The same for inverse dynamics: δτ at the independent freedoms, and the gradient of wᵀ τ with
  // `effort` standing for the accelerations.
  const Eigen::VectorXd& inverse_product(const Eigen::VectorXd& dq, const Eigen::VectorXd& dv,
                                         const Eigen::VectorXd& dacceleration);
  const DynamicsGradient& inverse_adjoint(const Eigen::VectorXd& w);

  // M⁻¹ x in the independent freedoms; x holds efforts of all freedoms.
  void apply_inverse_mass(const Eigen::VectorXd& x, Eigen::VectorXd& y);

  SensitivityWorkspace& workspace() { return w_; }
  const Eigen::VectorXd& acceleration() const { return w_.acceleration; }
  int size() const { return static_cast<int>(w_.dynamics().independent().size()); }

 private:
  void after_dynamics(const Eigen::VectorXd& applied);
  // Of the spanning tree: y = r_q q + r_v v + M a, and by_q = r_qᵀ x and so on.
  void tree_product(const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& a,
                    Eigen::VectorXd& y);
  void tree_adjoint(const Eigen::VectorXd& x, Eigen::VectorXd& by_q, Eigen::VectorXd& by_v,
                    Eigen::VectorXd& by_a);
  void closed_product(const Eigen::VectorXd& dq, const Eigen::VectorXd& dv,
                      const Eigen::VectorXd* da, Eigen::VectorXd& y);
  void closed_adjoint(const Eigen::VectorXd& x, Eigen::VectorXd& by_q, Eigen::VectorXd& by_v,
                      Eigen::VectorXd& by_a);
  bool closed() const { return !w_.mechanism().loops().empty(); }
  bool flexible() const { return w_.mechanism().has_flexible_bodies(); }
  void fill_tree_matrices();

  struct NodeSums {
    Twistd second;  // Σ inboard of second δq + drift δv + twist δa, or the adjoint's Λ
    Vec3d rate;     // Σ inboard of rate δq + twist δv, angular parts
    Wrenchd force;  // Σ outboard
    Vec3d turning;
  };
  SensitivityWorkspace w_;
  State state_;
  std::vector<ExternalWrench> external_;
  Eigen::VectorXd x_, y_, z_, full_q_, full_v_, full_a_, product_;
  Eigen::MatrixXd dense_mass_;  // of the tree, with drives on distant carriers or flexible bodies
  InverseDerivatives tree_;     // with flexible bodies: its matrices, by dual numbers
  DynamicsGradient gradient_;
  HybridResult hybrid_;
  std::vector<std::uint8_t> driven_;
  Eigen::VectorXd multiplier_;
  std::vector<NodeSums> sums_;
};

}  // namespace catena
