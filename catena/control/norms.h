// SPDX-License-Identifier: BSD-3-Clause
// Norms of linear systems, each with what was checked.
//
//   h2norm      root of the output power for white noise at the input: ‖C S‖_F, P = S Sᵀ Gramian
//   hinfnorm    the largest gain over frequencies, sup σ_max(G(jω))
//   hankelnorm  the largest Hankel singular value
//   nugap       distance of two plants for feedback, in [0, 1] [Vinnicombe 1993]
//
//   const PeakGain peak = hinfnorm(plant);
//   peak.value, peak.frequency, peak.certificate.upper
//
// hinfnorm looks at every pole's frequency, climbs from the best, and then asks the Hamiltonian
// matrix of the level (1 + tolerance) times the gain found, whose imaginary eigenvalues are the
// frequencies where a singular value crosses the level [Boyd & Balakrishnan 1990; Bruinsma &
// Steinbuch 1990]: none means that no gain is higher; otherwise it goes on between the crossings.
// No grid can miss a narrow peak so. About 110 n³. Discrete systems are mapped by z = (1 + s)/(1 −
// s) for the certificate only. From 64 states on, where the eigenvectors are well conditioned, the
// modal form is bounded interval by interval over the whole axis instead (modal_peak.h), 25 n³.
#pragma once

#include <string>

#include "catena/linear/state_space.h"

namespace catena {

struct NormCertificate {
  double lower = 0.0;  // a gain that is attained at `frequency`
  double upper = 0.0;  // level at which the Hamiltonian has no imaginary eigenvalue
  // Smallest |Re λ|/|λ| of the Hamiltonian's eigenvalues at `upper`.
  double axis_distance = 0.0;
  // False: eigenvalues within rounding of the axis were dismissed because the gain there and
  // between them is below the level.
  bool clear = true;
  int evaluations = 0;    // frequencies looked at
  int eigenproblems = 0;  // Hamiltonian matrices
  // By the modal form, then no Hamiltonian matrix: intervals that cover the axis, each with its own
  // bound; condition of the eigenvectors; ‖ΔA‖/‖A‖ of the system that has exactly this modal form.
  int intervals = 0;
  double condition = 1.0;
  double backward_error = 0.0;
};

struct PeakGain {
  double value = 0.0;      // infinite if the system is not stable (hinfnorm)
  double frequency = 0.0;  // rad/s; infinite: at infinite frequency
  bool stable = true;
  NormCertificate certificate{};
};

struct PeakSettings {
  double tolerance = 1e-9;  // relative: upper = (1 + tolerance) · lower
};

// Throws NumericalError where a system has delays (pade or c2d first).
PeakGain hinfnorm(const StateSpace& system, const PeakSettings& settings = {});
// The same over the axis, stable or not; infinite for a pole on it.
PeakGain linfnorm(const StateSpace& system, const PeakSettings& settings = {});

// Infinite for unstable systems, and for continuous ones with D ≠ 0.
double h2norm(const StateSpace& system);
double hankelnorm(const StateSpace& system);

struct NuGap {
  double value = 0.0;      // 1: no controller serves both
  double frequency = 0.0;  // where the distance is largest
  bool winding = true;     // false: the encirclement condition fails, hence 1
  PeakGain chordal{};      // sup of the chordal distance
};
NuGap nugap(const StateSpace& a, const StateSpace& b);

}  // namespace catena
