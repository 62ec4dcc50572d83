// SPDX-License-Identifier: BSD-3-Clause
// The closed loops of a mechanism in a step of the variational midpoint rule (midpoint.h).
//
// Loops are constraints φ(g) = 0 on the freedoms of the spanning tree, with multipliers at the ends
// of the steps (RATTLE, on the group): momenta before a step and velocity in it satisfy
//
//   P₀ = p₀(ξ) − (h/2) J(g₀)ᵀ λ,   φ(g₀ exp(h ξ)) = 0
//
// and the momenta behind it are moved along J(g₁)ᵀ until J(g₁) M⁻¹ P₁ = 0. That is again the rule
// of a discrete Lagrangian, on the closed positions, hence symplectic and symmetric (Marsden and
// West, Acta Numerica 2001, section 3.4), and it leaves no drift. Redundant rows are left out.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "catena/base/dense.h"
#include "catena/closure/loop_closure.h"

namespace catena {

class MidpointLoops {
 public:
  explicit MidpointLoops(const Mechanism& mechanism);
  MidpointLoops(const MidpointLoops&) = delete;
  MidpointLoops& operator=(const MidpointLoops&) = delete;
  bool empty() const { return loops_.empty(); }

  // Takes the rows at q. Throws NumericalError where fewer are independent than at the first call.
  void place(const Eigen::VectorXd& q);
  // Of all rows that place() took; multipliers are theirs.
  int rows() const { return static_cast<int>(kept_.size()); }
  // Jᵀ λ.
  Eigen::VectorXd transposed(const Eigen::VectorXd& multipliers) const {
    return jacobian_.transpose() * multipliers;
  }
  Eigen::VectorXd residual(const Eigen::VectorXd& q) const;
  // The largest residual, of the rows that were left out too.
  double gap(const Eigen::VectorXd& q) const;

  // [M −Jᵀ; J 0] with the rows of the last place().
  void factor(const Eigen::MatrixXd& mass);
  // M x − Jᵀ λ = f,  J x = r.
  void solve(const Eigen::VectorXd& f, const Eigen::VectorXd& r, Eigen::VectorXd& x,
             Eigen::VectorXd& multipliers) const;

 private:
  Eigen::VectorXd all_residuals(const Eigen::VectorXd& q) const;

  const Mechanism& mechanism_;
  std::vector<LoopClosure> loops_;
  int rank_ = -1;
  std::vector<int> kept_;
  Eigen::MatrixXd jacobian_;
  Lu factor_;
};

}  // namespace catena
