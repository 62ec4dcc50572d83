// SPDX-License-Identifier: BSD-3-Clause
// The damping matrix of a modal body from ratios, Rayleigh's coefficients and frequency bands.
#pragma once

#include "catena/model/beam_settings.h"
#include "catena/spatial/eigen.h"

namespace catena {

// D for modes with the given frequencies (rad/s), whose modal mass and stiffness are nearly
// diagonal: 2 ratio ω m on the diagonal, and Rayleigh's share of M and K.
Eigen::MatrixXd modal_damping(const ModalDamping& damping, const Eigen::VectorXd& frequencies,
                              const Eigen::MatrixXd& mass, const Eigen::MatrixXd& stiffness);

}  // namespace catena
