// SPDX-License-Identifier: BSD-3-Clause
// Linear models of a mechanism about any state, equilibrium or not: the state-space matrices
// (A, B, C, D) that control design starts from.
//
//   second order   M δv̇ = P2 δq + P1 δv + P3 δu
//   first order    δẋ = A δx + B δu,   δy = C δx + D δu,   x = (q, v)
//
//   const LinearModel model = linearize(robot, {state, effort}, {.inputs = {"elbow"}});
//   model.A, model.B, model.states                                // names in the order of the rows
//
// Analytic (forward_derivatives.h), with no step size; the linearization by perturbation stands
// beside it for comparison. δq are tangent directions: one for each degree of freedom, of a closed
// mechanism for each independent one. Where the coordinates are not their own rates (spherical and
// free hinges) and the state moves, δq̇ is not δv but δv − [v, δq], which is the upper left block of
// A. Cost: that of the derivatives, O(N · depth) for ∂τ and O(n³) for M⁻¹ times them.
//
// P1, P2 and P3 stand on the right-hand side. ([Lin & Yae 1989] has them on either side in
// different equations: docs/errata.md. Its printed input matrix has the sign of −M⁻¹.)
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catena/sensitivity/forward_derivatives.h"

namespace catena {

class ParameterSet;

struct LinearizeSettings {
  // Names of inputs: a freedom ("elbow", its effort), or "force.BODY.x", "moment.BODY.z" (ground
  // axes, at the body's origin). A freedom in `motion_driven` has its acceleration for an input.
  // Empty: the efforts of all freedoms.
  std::vector<std::string> inputs{};
  // Names of outputs: "q.elbow" or "elbow" (position), "v.elbow", "a.elbow" (acceleration),
  // "effort.elbow" (of a motion-driven freedom), "position.FRAME.x" and "velocity.FRAME.x" (of a
  // frame or body, ground axes). Empty: positions and velocities of all states.
  std::vector<std::string> outputs{};
  // By freedom: 1 if its acceleration is given. Empty: none.
  std::vector<std::uint8_t> motion_driven{};
  // By freedom: 1 if it must be among the independent ones of a closed mechanism, and so a state.
  // Empty: those of the workspace, or chosen by conditioning at the position. Throws NumericalError
  // if they cannot all be.
  std::vector<std::uint8_t> independent{};
};

// Operating point of a linear model: state and inputs.
struct OperatingPoint {
  State state;
  Eigen::VectorXd effort = {};        // of force-driven freedoms
  Eigen::VectorXd acceleration = {};  // of motion-driven ones; empty: zero
  std::vector<ExternalWrench> external = {};
};

struct LinearModel {
  Eigen::MatrixXd A, B, C, D;
  Eigen::MatrixXd M, P1, P2, P3;
  std::vector<std::string> states, inputs, outputs;
  // The independent freedoms that the states are (all of a tree's), in order.
  std::vector<int> freedoms;
  OperatingPoint point;
  Eigen::VectorXd acceleration;  // at the point, of all freedoms: zero in an equilibrium
  // The largest acceleration there, and the largest speed.
  double residual = 0.0;
  double speed = 0.0;
};

LinearModel linearize(const Mechanism& mechanism, const OperatingPoint& point,
                      const LinearizeSettings& settings = {});
// With the same workspace at every point of a motion the independent freedoms, and so the states,
// stay the same.
LinearModel linearize(const Mechanism& mechanism, const OperatingPoint& point,
                      const LinearizeSettings& settings, SensitivityWorkspace& workspace);

// E of δẋ = A δx + B δu + E δp at the model's point, with its states and the settings it was made
// with.
Eigen::MatrixXd parameter_matrix(const Mechanism& mechanism, const LinearModel& model,
                                 const ParameterSet& parameters,
                                 const LinearizeSettings& settings = {});

// A and B by central differences of the nonlinear model, in the same states and inputs as `model`.
struct Perturbation {
  Eigen::MatrixXd A, B;
  // ‖A_analytic − A‖ / ‖A‖ (Frobenius), and of B.
  double difference_A = 0.0, difference_B = 0.0;
};
Perturbation linearize_by_perturbation(const Mechanism& mechanism, const LinearModel& model,
                                       const LinearizeSettings& settings = {}, double step = 1e-5);

// The state moved by δ along the tangent directions and speeds of the independent freedoms
// `freedoms`; a closed mechanism stays closed. Throws NumericalError if it cannot.
State displaced(const Mechanism& mechanism, const State& state, const std::vector<int>& freedoms,
                const Eigen::VectorXd& dq, const Eigen::VectorXd& dv);

// Decoupling gains of [Lin & Yae 1989], K_V = M Λ1 + P1 and K_P = M Λ2 + P2 with Λ1 = diag(2 ξ_i
// ω_i), Λ2 = diag(ω_i²), for δu = −P3⁻¹ (K_V δv + K_P δq). P3 must be square and regular.
struct DecouplingGains {
  Eigen::MatrixXd position, velocity;  // of δu = −position δq − velocity δv
};
DecouplingGains decoupling_gains(const LinearModel& model, const Eigen::VectorXd& frequency,
                                 const Eigen::VectorXd& damping);

}  // namespace catena
