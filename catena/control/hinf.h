// SPDX-License-Identifier: BSD-3-Clause
// H-infinity and H2 synthesis.
//
// hinfsyn finds a controller K with ‖F(P, K)‖∞ < γ for γ within `tolerance` of the least possible.
// A level γ is attainable exactly if six tests hold [Glover & Doyle 1988], numbered as engineers
// know them from the robust-control toolbox:
//
//   1   γ exceeds what the direct feedthrough D11 alone demands
//   2a  the Hamiltonian Hx(γ) has no imaginary eigenvalue       2b  its solution X ≥ 0
//   3a  the Hamiltonian Hy(γ) has no imaginary eigenvalue       3b  its solution Y ≥ 0
//   4   the spectral radius of X Y is below γ²
//
// γ is bisected. A level counts as reached only if, besides, the loop that its controller closes is
// stable and has a norm of at most γ (norms.h); a lower end is only what fails one of the six
// tests.
//
//   const HinfResult r = hinfsyn({plant, .measurements = 1, .controls = 1});
//   r.controller, r.gamma, r.lower, r.certificate.text()
//
// Sampled plants are mapped by z = (1 + s)/(1 − s), which keeps norms. D12 or D21 without full
// rank, and zeros of P12 or P21 on the axis, are regularized; the remarks of the certificate say
// so, and the norm reported is that of the plant as given. Failures throw NumericalError: which
// test, at which level, which mode or channel by name, and what to change. About 20 levels of two
// Riccati equations and one norm each.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "catena/control/certificate.h"
#include "catena/control/generalized_plant.h"
#include "catena/control/norms.h"

namespace catena {

enum class HinfTest { feedthrough, x_axis, x_positive, y_axis, y_positive, coupling };
inline constexpr int kHinfTests = 6;
// "1: direct feedthrough", "2a: no imaginary eigenvalue (X)", ...
std::string to_string(HinfTest test);

// What was found at one level.
struct HinfLevel {
  double gamma = 0.0;
  // Tests after the first failure of the same Riccati equation are not run and count as failed.
  std::array<bool, kHinfTests> passed{};
  // Measures: σ bound of D11; distance of the eigenvalue nearest to the axis; least eigenvalue of X
  // relative to the largest; the same for Y; spectral radius of X Y over γ².
  std::array<double, kHinfTests> measure{};
  std::array<double, kHinfTests> frequency{};  // of an eigenvalue on the axis, rad/s
  bool exists = false;                         // all six
  bool loop_checked = false;
  bool loop_stable = false;
  double loop_norm = 0.0;
  std::string detail{};  // the mode or channel to blame, by name
  // The first test that failed; coupling if none did.
  HinfTest failing() const;
};

struct HinfSettings {
  double tolerance = 0.01;   // relative distance of gamma from the lower end
  double least_gamma = 0.0;  // where the search may stop: lower levels are not of interest
};

struct HinfResult {
  StateSpace controller{};
  StateSpace loop{};
  double gamma = 0.0;  // certified upper bound of the loop's norm
  double lower = 0.0;  // a level that fails one of the tests; 0 if every level was reached
  HinfTest lower_test = HinfTest::coupling;
  PeakGain peak{};  // of the loop
  std::vector<HinfLevel> levels{};
  Certificate certificate{};
};

HinfResult hinfsyn(const GeneralizedPlant& plant, const HinfSettings& settings = {});
// The controller of one level; throws NumericalError with the failing test if the level cannot be
// reached.
HinfResult hinfsyn_at(const GeneralizedPlant& plant, double gamma);
// The six tests alone.
HinfLevel hinf_tests(const GeneralizedPlant& plant, double gamma);

struct H2Result {
  StateSpace controller{};
  StateSpace loop{};
  double norm = 0.0;      // of the loop, from its Gramian
  double expected = 0.0;  // from the two Riccati solutions; the same number by another route
  Certificate certificate{};
};
// The controller with the least ‖F(P, K)‖₂. Continuous plants: D11 must vanish (or be cancelled by
// a constant gain). Sampled plants by their own Riccati equations.
H2Result h2syn(const GeneralizedPlant& plant);

}  // namespace catena
