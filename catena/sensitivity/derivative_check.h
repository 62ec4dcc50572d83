// SPDX-License-Identifier: BSD-3-Clause
// Checks every derivative of a mechanism against central differences, at random states: after
// adding a joint or a coupling of one's own, or to learn how exact the derivatives are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "catena/sensitivity/forward_derivatives.h"

namespace catena {

struct DerivativeCheck {
  std::string quantity;  // "∂effort/∂q", ...
  double error = 0.0;    // difference against the largest entry, where it is worst
  double allowed = 0.0;  // uncertainty of the differences
  double entry = 0.0;    // that largest entry
  std::string where;     // the row and column of the worst entry
  bool passes() const { return error <= allowed; }
};

struct DerivativeReport {
  std::vector<DerivativeCheck> checks;
  int states = 0;   // that were compared
  int skipped = 0;  // random positions that cannot be closed, or where differences are inaccurate
  double worst = 0.0;  // error
  bool passes() const;
};

// Differences are of order eight, in steps of `step` and then of half of that again and again,
// until two of them agree best; their difference estimates their error. On mechanisms of unit scale
// that is about 1e-10; near singular positions, and with stiff springs, it can be much larger. A
// derivative passes if it is off by no more than kDerivativeTolerance plus ten times that estimate.
// States where the estimate is above kUselessDifference are left out. `progress` is called
// repeatedly; false: stop, with a NumericalError.
inline constexpr double kDerivativeTolerance = 1e-7;
inline constexpr double kUselessDifference = 1e-4;
DerivativeReport check_derivatives(const Mechanism& mechanism, int states = 10,
                                   std::uint64_t seed = 1, double step = 3e-3,
                                   const std::function<bool()>& progress = {});

}  // namespace catena
