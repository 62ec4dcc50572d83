// SPDX-License-Identifier: BSD-3-Clause
// Forward dynamics: the joint accelerations that given joint efforts produce (torques N m, forces
// N),
//
//   v̇ = M(q)⁻¹ (effort + passive + Jᵀ external − C(q, v)),
//
// by the articulated-body algorithm (ABA): three sweeps over the tree, O(N), no mass matrix
// (dynamics/kernels/sweeps.h). Hybrid dynamics: of each degree of freedom either the effort is
// given (force-driven) or the acceleration (motion-driven); one pass finds the accelerations of the
// former and the efforts of the latter at the same cost.
//
//   Workspace workspace(robot);                                   // once for a thread
//   const Eigen::VectorXd& a = forward_dynamics(robot, state, effort, workspace);
//   const Eigen::VectorXd b = forward_dynamics(robot, state, effort, {}, Route::dense);  // O(N³)
//
// `effort` is the part of the actuators, in the order of v. Gravity, Coriolis and centrifugal
// terms, damping, friction and springs of the model are included; external wrenches are arguments
// (loads.h).
//
// Closed loops are folded into the tree as aggregate nodes (constraint embedding [Jain 2009];
// kernels/aggregate.h) or closed by Lagrange multipliers (Route). Either way the state is that of
// the whole spanning tree and must satisfy the loops (closure/assembly.h), efforts act at every
// hinge of it, and the accelerations of all freedoms are found. A motion-driven freedom is
// independent in its loop; others of the loop's freedoms follow it.
//
// References: [Featherstone 2008], chapters 7 (ABA) and 9.1 (hybrid); [D'Eleuterio & Damaren 1991]
// for the recursion as a Riccati sweep; [Sohl & Bobrow 2001] for hybrid dynamics.
#pragma once

#include <cstdint>
#include <vector>

#include "catena/dynamics/loads.h"

namespace catena {

enum class Route {
  automatic,   // recursive, unless a drive sits on a distant carrier (dense) or a loop is large
               // (multipliers)
  recursive,   // O(N) sweeps
  dense,       // mass matrix and Cholesky factor, O(N³)
  multipliers  // closed loops by their multipliers (multiplier_dynamics.h); trees as recursive
};

// Whether multipliers are faster for the closed loops of a mechanism: some loop has at least this
// many freedoms in its spanning tree, and twice as many freedoms as rows of closure equations.
// Embedding costs the cube of a loop's freedoms, multipliers that of its rows: measured
// (benchmarks/loop_routes_bench.cpp), a ring of 20 links is 2.7 times faster by multipliers and one
// of 80 links 38 times; forty four-bars side by side (81 freedoms, 120 rows) are about even.
inline constexpr int kLargeLoop = 20;
bool prefers_multipliers(const Mechanism& mechanism);

struct LoopMaps;  // embedding.h

// The result lives in the workspace until the next call. After the recursive route
// workspace.node(n) has the articulated inertias, gains, accelerations and residual forces. `maps`:
// of the closed loops at state.q, if they are known already; only the recursive route uses them.
const Eigen::VectorXd& forward_dynamics(const Mechanism& mechanism, const State& state,
                                        const Eigen::VectorXd& effort, Workspace& workspace,
                                        std::span<const ExternalWrench> external = {},
                                        Route route = Route::automatic,
                                        const LoopMaps* maps = nullptr);
Eigen::VectorXd forward_dynamics(const Mechanism& mechanism, const State& state,
                                 const Eigen::VectorXd& effort,
                                 std::span<const ExternalWrench> external = {},
                                 Route route = Route::automatic);

struct HybridInput {
  std::vector<std::uint8_t> motion_driven;  // by freedom: 1 if its acceleration is given
  Eigen::VectorXd effort;                   // of force-driven freedoms; other entries are not read
  Eigen::VectorXd acceleration;             // of motion-driven freedoms; others are not read
};

struct HybridResult {
  Eigen::VectorXd acceleration;  // of all freedoms
  Eigen::VectorXd effort;        // of the actuators at all freedoms
};

void hybrid_dynamics(const Mechanism& mechanism, const State& state, const HybridInput& input,
                     Workspace& workspace, HybridResult& result,
                     std::span<const ExternalWrench> external = {}, const LoopMaps* maps = nullptr);
HybridResult hybrid_dynamics(const Mechanism& mechanism, const State& state,
                             const HybridInput& input,
                             std::span<const ExternalWrench> external = {});

}  // namespace catena
