// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; simulation/coordinates/instant.h needs it.
//
// Closed loops, shared by the algorithms of this folder: choose a chart, choose again where it is
// singular, refuse states that are not closed, and cache the loops' maps X between calls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

// After a sweep with a singular chart: chooses another one at q, or throws a NumericalError.
void choose_chart_again(const Mechanism& mechanism, const Eigen::VectorXd& q,
                        std::span<const std::uint8_t> driven, int loop, Workspace& workspace);

// After a sweep: throws NumericalError, naming the loop and the open joint, if positions or
// velocities do not satisfy the closures.
void check_closed(const Mechanism& mechanism, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                  const Workspace& workspace);

// Throws NumericalError: the hinge of a node moves no inertia in this position.
[[noreturn]] void throw_no_inertia(const Mechanism& mechanism, int node);

// The maps X of all closed loops in one position: v = X v_independent. A value that can be kept and
// handed to dynamics calls in the same position, which then do not factor the closure equations
// again. Results are the same to the last bit.
//
//   LoopMaps maps;
//   find_loop_maps(mechanism, q, workspace, maps);
//   workspace.expand(v);                                 // dependent velocities by X
//   hybrid_dynamics(mechanism, {q, v}, input, workspace, result, external, &maps);
struct LoopMaps {
  std::int64_t chart = 0;         // Chart::number they were found with; 0: there are none
  std::vector<double> numbers{};  // for each loop its eliminated closure equations and X
  std::vector<int> exchanges{};   // of rows, by loop and pivot

  void clear() { chart = 0; }
};

// Finds X at q, with a chart that is regular there, and leaves it in the workspace and in `maps`.
// `driven` as for ensure_chart(). Allocates only if `maps` has never been used.
void find_loop_maps(const Mechanism& mechanism, const Eigen::VectorXd& q, Workspace& workspace,
                    LoopMaps& maps, std::span<const std::uint8_t> driven = {});
// The same in two steps: with the chart of the workspace, which stays (false: it is singular at q),
// and a copy of the results.
bool embed_in_chart(const Mechanism& mechanism, const Eigen::VectorXd& q, Workspace& workspace);
void copy_loop_maps(Workspace& workspace, LoopMaps& maps);

// Copies the maps into a workspace. False, and nothing done, if it has another chart. The kernels
// may then be called with SweepInput::embedded.
bool restore_loop_maps(const LoopMaps& maps, Workspace& workspace);

// The block Y_d of a loop, by the pivots of its elimination (row exchanges).
struct LoopPivots {
  // The smallest over the largest, rows scaled as in closure/loop_closure.h; 1 if there are none.
  double ratio = 1.0;
  int sign = 0;  // of its determinant; 0: it does not change in any motion (gears), or none
};
// After a sweep or embed_in_chart().
LoopPivots loop_pivots(const Workspace& workspace, int loop);

// Runs `sweep` (returns as the kernels do) with a chart that is regular at q.
template <class RunSweep>
SweepStatus run_embedded(const Mechanism& mechanism, const Eigen::VectorXd& q,
                         std::span<const std::uint8_t> driven, Workspace& workspace,
                         RunSweep sweep) {
  if (mechanism.loops().empty()) return sweep();
  ensure_chart(mechanism, q, driven, workspace);
  SweepStatus status = sweep();
  if (status.is_singular_chart()) {
    choose_chart_again(mechanism, q, driven, status.place, workspace);
    status = sweep();
    if (status.is_singular_chart())
      choose_chart_again(mechanism, q, driven, status.place, workspace);
  }
  return status;
}

}  // namespace catena
