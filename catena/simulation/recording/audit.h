// SPDX-License-Identifier: BSD-3-Clause
// The audit of a simulation: does energy change by the work of its elements alone, and is momentum
// kept where nothing acts on it? Energy and momentum are measured by code that shares nothing with
// the equations of motion (energy.h, momentum.h).
//
//   energy drift    |E(t) − E(0) − Σ work|, at most, over the largest of the kinetic energy, the
//                   change of the potential energy, the work of an element, and kSmallMotion times
//                   weight × size plus the energy of springs at the start: what hardly moves has
//                   no energy of its own to compare rounding with
//   momentum        only of mechanisms that float freely: |p(t) − p(0) − m g t| over √(2 m T), and
//                   the angular momentum about the mass centre, |L(t) − L(0)| over √(2 T tr I)
//                   (T the largest kinetic energy, I the inertia about the mass centre): the
//                   largest momenta that this energy allows
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace catena {

struct ElementWork {
  std::string element;
  double work = 0.0;  // J
};

// Distance of a flexible body from the limits of its model (flexible_watch.h), the worst of the
// run.
struct FlexibleDomain {
  std::string body;
  double deflection = 0.0;  // over its length
  double rate = 0.0;        // angular velocity of its frame over its first natural frequency
  double pivot = 1.0;       // smallest of its inertia, over that at rest
};

struct Audit {
  double energy_drift = 0.0;                     // relative
  double energy_error = 0.0;                     // J
  double energy_scale = 0.0;                     // J
  std::optional<double> linear_momentum_drift;   // relative; none: it is not conserved
  std::optional<double> angular_momentum_drift;  // relative
  double closure_residual = 0.0;
  // Of time-stepping, the largest of the run; none: it was not used.
  struct Contact {
    double residual = 0.0;     // of the laws of contact and friction, relative to the load
    double penetration = 0.0;  // m or rad, at the end of a step before it is corrected
    double creep = 0.0;        // m/s, slip of contacts that stick
    // J, the sum over the steps of the energy that the midpoint rule missed and that scaling the
    // velocities restored: the drift above does not show it.
    double restored = 0.0;
  };
  std::optional<Contact> contact;
  std::vector<FlexibleDomain> flexible;  // by flexible body
  double initial_energy = 0.0;
  double final_energy = 0.0;
  std::vector<ElementWork> work;
};

}  // namespace catena
