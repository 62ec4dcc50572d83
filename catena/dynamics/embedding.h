// What the algorithms of this room share about closed loops: having a chart, having it where it is
// regular, and refusing states that are not closed.
#pragma once

#include <cstdint>
#include <span>

#include "catena/dynamics/workspace.h"

namespace catena {

// A position or velocity further than this from the closure is refused; radians (per second), or
// fractions of the loop's length. Positions that assemble() or the simulator produce are a million
// times closer.
inline constexpr double kClosureTolerance = 1e-6;

// Chooses a chart at q if the workspace has none, or if one of the freedoms that `driven` marks
// (empty: none) is dependent in it. Throws NumericalError if a pinned chart does not allow that, or
// if q is not closed.
void ensure_chart(const Mechanism& mechanism, const Eigen::VectorXd& q,
                  std::span<const std::uint8_t> driven, Workspace& workspace);

// After a sweep that failed at a loop: a fresh chart at q, or a NumericalError.
void choose_chart_again(const Mechanism& mechanism, const Eigen::VectorXd& q,
                        std::span<const std::uint8_t> driven, int failed, Workspace& workspace);

// After a sweep: throws NumericalError, naming the loop and what is open, if positions or
// velocities do not satisfy the closures.
void check_closed(const Mechanism& mechanism, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                  const Workspace& workspace);

// Runs `sweep` (returns as the kernels do) with a chart that is regular at q.
template <class Sweep>
int run_embedded(const Mechanism& mechanism, const Eigen::VectorXd& q,
                 std::span<const std::uint8_t> driven, Workspace& workspace, Sweep sweep) {
  if (mechanism.loops().empty()) return sweep();
  ensure_chart(mechanism, q, driven, workspace);
  int failed = sweep();
  if (failed <= kLoopFailed) {
    choose_chart_again(mechanism, q, driven, failed, workspace);
    failed = sweep();
    if (failed <= kLoopFailed) choose_chart_again(mechanism, q, driven, failed, workspace);
  }
  return failed;
}

}  // namespace catena
