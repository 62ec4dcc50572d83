// SPDX-License-Identifier: BSD-3-Clause
// What an engineer wants to know of a set of modes before using it: frequencies, how badly
// conditioned the mass matrix is, and the shortest time scale that an integrator will meet.
#pragma once

#include <vector>

#include "catena/model/flexible_body.h"

namespace catena {

struct ModeReport {
  Eigen::VectorXd frequencies;     // rad/s, frame clamped and attachments free
  Eigen::VectorXd damping_ratios;  // by frequency
  // Share of the mass that moves with each mode when the frame is shaken along x, y, z: 3×n. The
  // sum over all modes of a body is at most 1.
  Eigen::MatrixXd effective_mass;
  double mass_condition = 0.0;  // of the undeformed body's (6 + n) mass matrix, scaled to ones
  double shortest_period = 0.0, longest_period = 0.0;  // s
};

ModeReport report_modes(const FlexibleBody& body);

// The same beam with each of the three sets of modes and as many modes; sets that cannot have so
// few are left out.
struct ModeSetReport {
  ModeSet set;
  ModeReport report;
};
std::vector<ModeSetReport> compare_mode_sets(const BeamSettings& beam);

}  // namespace catena
