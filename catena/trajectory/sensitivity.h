// SPDX-License-Identifier: BSD-3-Clause
// Sensitivities along a motion (backpropagation through a simulation): the gradient of a cost by
// all parameters and by the initial state, by the adjoint of the integrator; and forward
// sensitivities, one column for each direction.
//
// Discrete adjoint (fixed steps, Runge-Kutta 4 and Euler). It is the exact gradient
// (to rounding) of the cost as computed with this step: each step is transposed. Going backward
// with λ = ∂J/∂y at the end of a step of length h,
//
//   k̄_4 = h/6 λ,  Ȳ_4 = f_yᵀ k̄_4;   k̄_3 = h/3 λ + h Ȳ_4,  ...;   λ := λ + Σ Ȳ_m
//
// where f_yᵀ k̄ is one adjoint product (sensitivity/products.h): O(N), however many parameters there
// are. The integral of the cost is advanced with the same weights as y.
// States are kept at checkpoints; those in between are computed again.
//
// Continuous adjoint (variable steps, Dormand and Prince of order 8):
// λ̇ = −f_yᵀ λ − L_yᵀ integrated backward between the states that the forward run accepted, the
// state itself with it. Right to the tolerances.
//
// y is the vector of the simulator (simulation/coordinates/coordinates.h): q and v of a tree,
// quaternions (renormalized after each step); the independent coordinates of a closed mechanism
// (local_coordinates.h), which may be others from step to step.
//
// Derivatives by parameters of the mechanism hold the initial positions and velocities: of a closed
// mechanism those of the freedoms that are independent at the start. The others follow from closing
// the loops with the parameter changed, at the start as everywhere else.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "catena/sensitivity/parameters.h"
#include "catena/sensitivity/products.h"
#include "catena/simulation/integrators/integrator.h"
#include "catena/trajectory/problem.h"

namespace catena {

struct TrajectorySettings {
  double duration = 1.0;
  // rk4 or euler for the discrete adjoint; the step is made to divide the duration. dop853 for the
  // continuous one, with the tolerances.
  IntegratorSettings integrator{.method = Method::rk4};
  // States kept at once: every step, unless that is more than this many. Then every k-th, and those
  // in between are computed again.
  int kept_states = 100000;
  // Called before each step, forward and backward, with the time of the motion. False: stop, with a
  // NumericalError.
  std::function<bool(double t)> progress = {};
};

struct TrajectoryGradient {
  double cost = 0.0;
  Eigen::VectorXd input;                 // by the parameters of the input
  Eigen::VectorXd mechanism;             // by those of the mechanism
  Eigen::VectorXd initial_q, initial_v;  // by independent tangent directions and velocities
  std::vector<int> independent;          // freedoms of these, at the start
  State final_state;
  std::int64_t steps = 0;
};

// One column for each parameter: how the final state changes, at its independent freedoms.
struct ForwardSensitivity {
  double cost = 0.0;
  State final_state;
  std::vector<int> independent;  // at the end
  Eigen::MatrixXd q, v;          // by the parameters of the input
  Eigen::MatrixXd q_by_mechanism, v_by_mechanism;
  // By the initial independent positions and velocities.
  Eigen::MatrixXd q_by_initial, v_by_initial;
};

class TrajectorySensitivity {
 public:
  // All must outlive it. `parameters`: of the mechanism, or null.
  TrajectorySensitivity(const Mechanism& mechanism, const TrajectoryInput& input,
                        const TrajectoryCost& cost, const TrajectorySettings& settings,
                        const ParameterSet* parameters = nullptr);
  ~TrajectorySensitivity();

  // The cost and the final state, without derivatives.
  double simulate(const State& initial, const Eigen::VectorXd& parameters, State* end = nullptr);
  TrajectoryGradient gradient(const State& initial, const Eigen::VectorXd& parameters);
  // Runge-Kutta 4 on the variational equations along the same stages: the exact derivative of the
  // computed motion where no coordinate is a quaternion, right to the order of the method
  // otherwise.
  ForwardSensitivity forward(const State& initial, const Eigen::VectorXd& parameters);

 private:
  class Stage;
  struct Run;
  class DiscreteAdjoint;
  class Variation;
  class ForwardMotion;
  class BackwardMotion;
  std::unique_ptr<Run> run_;
};

}  // namespace catena
