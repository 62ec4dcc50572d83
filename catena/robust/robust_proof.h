// SPDX-License-Identifier: BSD-3-Clause
// A robustness margin beside the nonlinear mechanism: the destabilizing parameters a little beyond
// their size must grow, random parameters a little inside the margin must decay.
//
// Each case is a mechanism with these parameters in its own equilibrium, simulated with the
// controller from a deviation of 1e-6 along the slowest mode x of the linear loop. The rate is
// log(wᴴ x(T)/wᴴ x(0))/T with the left eigenvector w; it is compared with Re λ.
//
//   const RobustProof p = prove(family, uncertainties, loop, robstab(loop), {.system = K});
//   p.passed, p.worst->measured, p.samples.size()
//
// Gains are simulated too; delays and modes of an uncertain plant are not parameters of a mechanism
// and stay nominal, which is said.
#pragma once

#include <complex>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catena/components/linear_controller.h"
#include "catena/robust/robust_analysis.h"
#include "catena/robust/uncertain_plant.h"

namespace catena {

struct ProofSettings {
  int samples = 200;
  std::uint64_t seed = 1;
  double beyond = 1.02;     // times the size of the destabilizing parameters
  double inside = 0.98;     // times the guaranteed margin
  double deviation = 1e-6;  // of positions and speeds, rad or m
  double tolerance = 0.05;  // relative, of the rate
};

struct ProvenCase {
  std::map<std::string, double> parameters{};
  std::complex<double> predicted{};  // the slowest eigenvalue of the linear loop
  double measured = 0.0;             // its real part, on the nonlinear mechanism
  double difference = 0.0;           // relative
};

struct RobustProof {
  bool passed = false;
  std::optional<ProvenCase> worst{};  // none: nothing destabilizes, or it is no mechanism
  std::vector<ProvenCase> samples{};
  int decayed = 0;
  double size = 0.0;                // of the samples, times their ranges
  double largest_difference = 0.0;  // of all cases
  double slowest = 0.0;             // largest measured rate among the samples
  std::vector<std::string> remarks{};
};

// `all`: as for uncertain_plant(). Throws Error for a computation delay longer than the period.
RobustProof prove(const MechanismFamily& family, const std::vector<Uncertainty>& all,
                  const UncertainSystem& loop, const RobustStability& margin,
                  const LinearControllerSettings& controller, const ProofSettings& settings = {});

}  // namespace catena
