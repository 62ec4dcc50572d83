// Every derivative of a user's own mechanism against differences, at random states.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catena/sensitivity/forward_derivatives.h"

namespace catena {

struct DerivativeCheck {
  std::string quantity;  // "∂effort/∂q", ...
  double error = 0.0;    // largest difference against the largest entry, worst over the states
  double entry = 0.0;    // that largest entry
  std::string where;     // the row and column of the worst entry
};

struct DerivativeReport {
  std::vector<DerivativeCheck> checks;
  int states = 0;   // that were compared
  int skipped = 0;  // random positions that could not be closed, or are singular
  double worst = 0.0;
};

// Differences of order eight with steps of `step` in double precision are themselves right to about
// 1e-10 on mechanisms of unit scale; kDerivativeTolerance is what a check may differ by.
inline constexpr double kDerivativeTolerance = 1e-7;
DerivativeReport check_derivatives(const Mechanism& mechanism, int states = 10,
                                   std::uint64_t seed = 1, double step = 3e-3);

}  // namespace catena
