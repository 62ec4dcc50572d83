// SPDX-License-Identifier: BSD-3-Clause
// Modal analysis of a linear model: eigenvalues λ of A, natural frequencies |λ|, damping ratios −Re
// λ / |λ| and mode shapes, and stability by Lyapunov's first method.
//
//   const ModalAnalysis analysis = modes(linearize(robot, {state, effort}));
//   for (const Mode& mode : analysis.modes) std::cout << mode.frequency << " rad/s\n";
//
// O(n³), QR algorithm of A.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "catena/sensitivity/linearize.h"

namespace catena {

// A real eigenvalue, or a conjugate pair (the one with the positive imaginary part).
struct Mode {
  std::complex<double> eigenvalue;
  double frequency = 0.0;  // |λ|, rad/s: undamped natural frequency of a pair
  double damping = 0.0;    // −Re λ / |λ|
  int multiplicity = 1;    // 2 for a pair: freedoms of state that it takes
  // Positions of the state freedoms, the largest entry made 1.
  Eigen::VectorXcd shape;
};

enum class Stability {
  stable,    // every mode decays
  marginal,  // none grows, some neither grows nor decays
  unstable   // some mode grows
};
const char* to_string(Stability stability);

struct ModalAnalysis {
  std::vector<Mode> modes;  // by frequency, lowest first
  Stability stability = Stability::marginal;
  double growth = 0.0;  // the largest real part
  // Real parts within this of zero count as zero: an eigenvalue of a defective pair (a body that
  // drifts) is only right to the square root of the rounding errors.
  double tolerance = 0.0;
};

ModalAnalysis modes(const LinearModel& model);
ModalAnalysis modes(const Eigen::MatrixXd& a);

}  // namespace catena
