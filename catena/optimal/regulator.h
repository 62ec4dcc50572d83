// SPDX-License-Identifier: BSD-3-Clause
// Linear-quadratic regulators (LQR, sampled, time-varying along a motion): linear feedback of the
// deviation that keeps a mechanism on a motion, or in an equilibrium, best for a quadratic cost, by
// the Riccati sweep (lq/riccati.h; [Anderson & Moore 1990]).
//
//   minimize  ½ ∫ (xᵀ Q x + wᵀ R w) dt + ½ x(T)ᵀ Q_T x(T),    ẋ = A(t) x + B(t) w
//
// x is the deviation from the motion: tangent directions and velocities of the independent freedoms
// (quaternions by their difference); w the efforts of the actuators beyond those of the motion.
// A(t) and B(t) are the exact linear model along the recorded motion (sensitivity/linearize.h).
// Time is cut into sampling intervals over which w is held; transition matrices and the cost of an
// interval follow together by Runge-Kutta 4 of
//
//   Ż = [A B; 0 0] Z,  Z(0) = 1;     Ẇ = Zᵀ diag(Q, R) Z,  W(0) = 0
//
//   x_{k+1} = A_k x_k + B_k w_k,     cost ½ (x; w)ᵀ [Q_k S_kᵀ; S_k R_k] (x; w)
//
// so that the sampled problem has cross terms and no error but that of the integration. Along a
// closed mechanism the independent freedoms are those of one chart.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "catena/lq/riccati.h"
#include "catena/sensitivity/linearize.h"
#include "catena/simulation/recording/recorded_motion.h"

namespace catena {

struct RegulatorSettings {
  // Freedoms that have an actuator. Empty: those with an effort somewhere in the motion.
  std::vector<std::string> actuators{};
  // s, made to divide the duration; 0: 400 intervals, about an equilibrium a fiftieth of the time
  // of its fastest mode.
  double interval = 0.0;
  // Weights that are not the default, by name: of "q.elbow" and "v.elbow" (not negative), and of
  // the actuator "elbow" (positive). A name that stands alone in the first two means both.
  //
  // Default (Bryson's rule): 1 / (allowed deviation)². Allowed: for positions and velocities a
  // tenth of their range in the motion, at least 0.05 rad or m and 0.5 rad/s or m/s; for an
  // actuator its largest effort in the motion or the effort that changes velocities by the allowed
  // deviation in 0.1 s, whichever is larger, but at most its limit. At the end: Q times the
  // duration.
  std::map<std::string, double> state_weights{};
  std::map<std::string, double> final_weights{};
  std::map<std::string, double> input_weights{};
  // Wrenches that act all along.
  std::vector<ExternalWrench> external{};
};

struct Regulator {
  std::vector<int> freedoms{};   // independent: their tangent directions, then velocities, are x
  std::vector<int> actuators{};  // freedoms
  std::vector<std::string> states{};  // "q.shoulder", ..., "v.elbow"
  std::vector<std::string> inputs{};  // "shoulder", ...
  Eigen::VectorXd state_weights{}, final_weights{}, input_weights{};

  double interval = 0.0;        // s
  bool stationary = false;      // one interval, one constant gain
  std::vector<double> times{};  // of the samples; one more than stages
  std::vector<LqStage> stages{};
  std::vector<Eigen::MatrixXd> gains{};   // w = −K x; one for each stage
  std::vector<Eigen::MatrixXd> values{};  // P; one more than stages
  // From the first sample to the last, without and with the regulator (stationary: over one
  // interval).
  Eigen::MatrixXd open_transition{}, closed_transition{};
  // States that no actuator can change by themselves: those with the largest part in a direction
  // that cannot be reached. Empty: all can.
  std::vector<std::string> unreachable{};

  // K at a time: straight lines between samples.
  Eigen::MatrixXd gain_at(double t) const;
  // x of a state against that of the motion.
  Eigen::VectorXd deviation(const Mechanism& mechanism, const State& nominal,
                            const State& state) const;
  // A deviation in units of the allowed one: √(xᵀ Q x).
  double distance(const Eigen::VectorXd& x) const;
  // The largest singular value of a transition matrix in those units (in plain ones for states
  // without weight), and its eigenvalues, the largest first.
  double norm(const Eigen::MatrixXd& transition) const;
};
Eigen::VectorXcd eigenvalues_of(const Eigen::MatrixXd& transition);

// Throws NameError for an unknown actuator or weight (with the nearest name), Error for a weight
// out of range, NumericalError if no one chart of a closed mechanism serves the whole motion.
Regulator track(const Mechanism& mechanism, const RecordedMotion& motion,
                const RegulatorSettings& settings = {});

// About an equilibrium (the efforts that hold it are part of the point): the fixed point of the
// sweep. Actuators must be given. Throws Error if the point is not an equilibrium, NumericalError,
// naming the states, if they are not stabilizable or not detectable in the cost.
Regulator hold(const Mechanism& mechanism, const OperatingPoint& point,
               const RegulatorSettings& settings);

}  // namespace catena
