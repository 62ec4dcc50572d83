// SPDX-License-Identifier: BSD-3-Clause
// Modes of a system by name, for messages: which states a mode lives in, which unstable modes no
// input moves or no output sees. Not installed.
#pragma once

#include <string>
#include <vector>

#include "catena/control/equations/kernels.h"
#include "catena/linear/state_space.h"

namespace catena {

// "mode at 12.3 rad/s, damping 0.01, mainly in 'q.elbow' and 'v.elbow'".
std::string mode_text(const StateSpace& system, Complex pole, const Eigen::VectorXcd& vector);
// The same of the pole of the system nearest to `pole`.
std::string nearest_mode_text(const StateSpace& system, Complex pole);

struct HiddenMode {
  Complex pole;
  double strength = 0.0;  // smallest singular value of [A − λ, B] relative to its size
  std::string text;
};
// Modes on or beyond the stability boundary that B (C) does not reach to rounding (Hautus test).
std::vector<HiddenMode> unstabilizable_modes(const StateSpace& system, const Eigen::MatrixXd& b);
std::vector<HiddenMode> undetectable_modes(const StateSpace& system, const Eigen::MatrixXd& c);

// Throws NumericalError naming the modes if there are any; `inputs` and `outputs` are for the
// message.
void require_stabilizable(const StateSpace& system, const Eigen::MatrixXd& b, const char* what);
void require_detectable(const StateSpace& system, const Eigen::MatrixXd& c, const char* what);

// All poles within the stability boundary.
bool has_stable_poles(const StateSpace& system);

// [A B; C D] of a system mapped from discrete to continuous time by z = (1 + s)/(1 − s) and back;
// norms are the same.
StateSpace bilinear_to_continuous(const StateSpace& discrete);
StateSpace bilinear_to_discrete(const StateSpace& continuous, double dt);

}  // namespace catena
