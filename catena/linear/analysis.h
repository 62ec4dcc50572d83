// SPDX-License-Identifier: BSD-3-Clause
// Poles, transmission zeros, damping, DC gain, controllable and observable modes.
//
//   for (const PoleInfo& p : damp(system)) std::cout << p.frequency << " rad/s\n";
//   for (const ModeTest& t : controllability(system)) if (!t.passed) std::cout << t.text() << "\n";
//
// Poles are the finite eigenvalues of (A, E). Transmission zeros are the points where the matrix
// [A − sE B; C D] loses rank, of any size and with any E. Infinite zeros are removed by orthogonal
// reduction first, then the QZ algorithm finds the finite ones [Emami-Naeini & Van Dooren 1982].
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "catena/linear/state_space.h"

namespace catena {

// By modulus, conjugates together. With a singular E only the finite ones.
Eigen::VectorXcd poles(const StateSpace& system);
bool is_stable(const StateSpace& system);
// The largest real part (continuous) or modulus (discrete); −infinity (or 0) without poles.
double spectral_abscissa(const StateSpace& system);

struct ZeroStructure {
  Eigen::VectorXcd zeros;  // invariant zeros: of a minimal system the transmission zeros
  int normal_rank = 0;     // of the transfer matrix
};
ZeroStructure zero_structure(const StateSpace& system);
// Invariant zeros, by modulus. Zeros of uncontrollable or unobservable modes are among them; use
// minreal() first for the transmission zeros alone.
Eigen::VectorXcd zeros(const StateSpace& system);

struct PoleInfo {
  std::complex<double> pole;
  double frequency = 0.0;      // |s|, rad/s; of a sampled system s = log(z)/dt
  double damping = 0.0;        // −Re s/|s|; 1 for a stable real pole, −1 for an unstable one
  double time_constant = 0.0;  // −1/Re s, s; infinite at the stability limit, negative if unstable
};
// One entry for a real pole, two for a pair, by frequency.
std::vector<PoleInfo> damp(const StateSpace& system);
std::vector<PoleInfo> damp(const Eigen::VectorXcd& poles, double dt = 0.0);

// G(0), or G(1) of a sampled system. An entry that an integrator feeds is +infinity.
Eigen::MatrixXd dcgain(const StateSpace& system);
// G(s) at a point of the complex plane; delays included. O(n³).
Eigen::MatrixXcd evaluate(const StateSpace& system, std::complex<double> s);

// The test of Popov, Belevitch and Hautus for one eigenvalue: how strongly inputs reach the mode,
// or outputs see it.
struct ModeTest {
  std::complex<double> eigenvalue;
  int multiplicity = 1;
  // ‖Wᴴ B‖ (least singular value) for the left eigenvectors W, |W| = 1, and all inputs scaled to
  // norm 1: 0 to 1. For observability with C and the right ones.
  double strength = 0.0;
  bool passed = true;
  bool stable = true;
  // States that take most part in the mode, largest first (at most three).
  std::vector<std::string> states;
  std::string kind;  // "controllable" or "observable"

  // "mode at -0.1 ± 3i (states 'q.arm', 'v.arm') is not controllable: strength 3e-17".
  std::string text() const;
};
// One entry for each eigenvalue or pair, by modulus. Modes weaker than the tolerance do not pass.
constexpr double kModeTolerance = 1e-10;
std::vector<ModeTest> controllability(const StateSpace& system, double tolerance = kModeTolerance);
std::vector<ModeTest> observability(const StateSpace& system, double tolerance = kModeTolerance);
// Every mode that is not strictly stable passes.
bool is_stabilizable(const StateSpace& system, double tolerance = kModeTolerance);
bool is_detectable(const StateSpace& system, double tolerance = kModeTolerance);

}  // namespace catena
