// SPDX-License-Identifier: BSD-3-Clause
// Pole placement by state feedback and by output feedback.
//
//   place         u = −K x: all poles of A − B K, as robust as the freedom in their eigenvectors
//                 allows (the volume |det X| of the unit eigenvectors is maximized vector by vector
//                 [Kautsky, Nichols & Van Dooren 1985; Tits & Yang 1996])
//   place_output  u = −K y: min(n, m + p − 1) poles of A − B K C by deflation [Miminis 1989], over
//                 several orders and choices of eigenvector; the rest of the spectrum is shown
//
//   const PlaceResult r = place(plant, poles);
//   const OutputPlacement o = place_output(plant, poles);
#pragma once

#include <string>
#include <vector>

#include "catena/control/certificate.h"
#include "catena/linear/state_space.h"

namespace catena {

struct PlaceResult {
  Eigen::MatrixXd K{};
  Eigen::VectorXcd poles{};    // as found, in the order asked for
  double largest_error = 0.0;  // |found − asked|/max(1, |asked|)
  double condition = 0.0;      // of the eigenvectors: sensitivity of the poles
  Certificate certificate{};
};
// Poles: as many as states, conjugates in pairs, multiplicity at most the rank of B. Throws
// NumericalError naming a mode that no input moves (unless its pole is asked for).
PlaceResult place(const StateSpace& plant, const Eigen::VectorXcd& poles);

enum class PlacementChoice { smallest_gain, best_conditioned };
struct OutputPlacementSettings {
  // As given: in that order with the eigenvector nearest to the range of Cᵀ, as published.
  // Otherwise up to `orders` orders and both choices of eigenvector.
  bool as_given = false;
  int orders = 60;
  PlacementChoice choice = PlacementChoice::smallest_gain;
};
struct OutputPlacement {
  Eigen::MatrixXd K{};
  Eigen::VectorXcd assigned{};  // poles asked for that were assigned
  Eigen::VectorXcd spectrum{};  // all poles of A − B K C
  bool rest_stable = true;      // of the poles that could not be chosen
  double gain_norm = 0.0;       // ‖K‖_F
  double condition = 0.0;       // of the eigenvectors
  double largest_error = 0.0;
  Certificate certificate{};
};
// Throws if a pole λ that is asked for has G(λ) = 0: no feedback can assign such a pole.
OutputPlacement place_output(const StateSpace& plant, const Eigen::VectorXcd& poles,
                             const OutputPlacementSettings& settings = {});

}  // namespace catena
