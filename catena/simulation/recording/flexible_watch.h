// SPDX-License-Identifier: BSD-3-Clause
// FlexibleWatch: tells when flexible bodies leave the domain of their model. Three measures of each
// body, looked at where steps end:
//
//   deflection  the largest displacement |Φ η| of an attachment or drawn point relative to the
//               frame, over the length of the body: strains are linear, and shapes are exact to the
//               second order only, for some tenth of it
//   rate        |ω| of the frame over the first natural frequency ω1 (frame clamped): modes of the
//               body at rest represent it well while the motion is slow against them
//   pivot       smallest pivot of the inertia M̄(η) of its modes and of the hinge that moves its
//   frame,
//               over what it is in the undeformed body: zero where M̄ stops being an inertia
//
// Each is logged once for a body, with the remedy, when it passes its limit; the largest of the run
// are in the audit. Cost: one kinematics sweep, and (n + 6)³/6 for each body that is deflected.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catena/dynamics/workspace.h"
#include "catena/simulation/recording/audit.h"
#include "catena/simulation/recording/recorder.h"

namespace catena {

class FlexibleWatch {
 public:
  // Looks at most ten times in an output interval.
  FlexibleWatch(const Mechanism& mechanism, double output_interval);

  void look(double time, const State& state, std::vector<RunEvent>& log);
  std::vector<FlexibleDomain> report() const { return domains_; }

  // What a checkpoint must keep.
  std::size_t saved() const { return 1 + 6 * domains_.size(); }
  std::vector<double> save() const;
  void restore(std::span<const double> saved);

 private:
  struct Reported {
    bool deflection = false, rate = false, pivot = false;
  };
  double pivot_of(std::size_t body, const Eigen::VectorXd& eta) const;

  const Mechanism& mechanism_;
  std::unique_ptr<Workspace> workspace_;  // none without flexible bodies
  double interval_;
  double last_ = -1.0;  // when it looked
  std::vector<FlexibleDomain> domains_;
  std::vector<Reported> reported_;
  std::vector<double> first_frequency_;  // rad/s
  std::vector<double> usual_pivot_;
};

}  // namespace catena
