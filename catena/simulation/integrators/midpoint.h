// SPDX-License-Identifier: BSD-3-Clause
// The variational midpoint rule on the group of the mechanism: symplectic, symmetric, of order two.
//
// It is the rule of the discrete Lagrangian h L(g_mid, ξ), where g₁ = g₀ exp(h ξ) and
// g_mid = g₀ exp(h ξ/2); of hinges with plain coordinates that is q₁ = q₀ + h v and the midpoint.
// So it keeps the symplectic form and all momenta that the mechanism's symmetries conserve, and the
// energy error stays bounded for times that grow exponentially with 1/h (Marsden and West, Acta
// Numerica 2001; Bou-Rabee and Marsden, Found. Comput. Math. 2009).
//
// With the momenta P = M v, left-trivialized, p = M(g_mid) ξ, F the force at the midpoint (the
// applied force and ∂T/∂g at constant ξ) and Φ(x) = (1 − e^{−ad x}) / ad x, for each hinge
//
//   m  = p + (h/2) Φ(hξ/2)ᵀ F
//   P₀ = Φ(−hξ)⁻ᵀ m − h Ad(exp(−hξ/2))ᵀ F       solved for ξ, M⁻¹ as the approximate Newton matrix
//   P₁ = Φ(hξ)⁻ᵀ m                              (plain coordinates: P = p ∓ (h/2) F)
//
// ∂T/∂q of a freedom with motion map H is μ · [V, H]: V the twist inboard of it and μ the momentum
// of all bodies outboard, both in the node's frame. Everything is O(N).
//
// Closed loops are kept by multipliers (midpoint_loops.h; then dense algebra, not O(N)). Efforts
// and damping are taken at the midpoint. Freedoms that are held or whose motion is prescribed, and
// constraints that are switched, are refused.
#pragma once

#include "catena/simulation/equations.h"
#include "catena/simulation/integrators/midpoint_loops.h"

namespace catena {

class Midpoint final : public Integrator {
 public:
  Midpoint(Equations& equations, const IntegratorSettings& settings);
  void interpolate_inside(double t, Eigen::VectorXd& y) override;

 private:
  void begin() override;
  void advance(double limit) override;
  // Updates f_ at the present state.
  void find_rate();
  // Momenta p and ∂T/∂g of a state.
  void kinetic(const State& state, Eigen::VectorXd& momentum, Eigen::VectorXd& force);
  // P₀ and P₁ of a step h with velocity v from q₀.
  void boundary_momenta(double h, const Eigen::VectorXd& v);
  // ---- The mass matrix: factored at a position, and the velocities that momenta give there. ----
  void factor_at(const Eigen::VectorXd& q);
  void velocities(const Eigen::VectorXd& momentum, const Eigen::VectorXd& closing_speed,
                  Eigen::VectorXd& v);
  // The velocity of a step, from a guess.
  void solve_step(double h, Eigen::VectorXd& v);

  Equations& equations_;
  const Mechanism& mechanism_;
  IntegratorSettings settings_;
  Workspace motion_;   // kinematics
  Workspace factors_;  // of the mass matrix of a tree
  MidpointLoops loops_;
  std::vector<Wrenchd> composite_;  // momentum of everything outboard, by node
  Evaluation found_;                // at the end of the last step
  State start_;
  State middle_;
  Eigen::VectorXd y_middle_;
  Eigen::VectorXd work_rate_;
  Eigen::VectorXd momentum_;  // P at the end of the last step
  Eigen::VectorXd p_, force_, applied_, p0_, p1_, velocity_, correction_;
  Eigen::VectorXd f_, f_previous_;
  Eigen::VectorXd multipliers_, multiplier_step_;  // of the loops
  std::int64_t count_ = 0;
  double begin_time_ = 0.0;
};

}  // namespace catena
