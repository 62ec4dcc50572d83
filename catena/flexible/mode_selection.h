// SPDX-License-Identifier: BSD-3-Clause
// Which shapes describe the deformation of a body that is clamped at its frame: normal modes with
// free or loaded attachments, or the static shapes of the attachments with the modes of the body
// fixed there [Craig & Bampton 1968], orthogonalized.
//
// An elastic problem is M, K and the rows G that give the motion of the attachments, u_a = G u. A
// body whose deformations do not couple (bending in two planes, extension and torsion of a straight
// beam) is several problems: equal frequencies of two planes are then not mixed.
#pragma once

#include <string>
#include <vector>

#include "catena/model/beam_settings.h"
#include "catena/spatial/eigen.h"

namespace catena {

struct ElasticProblem {
  Eigen::MatrixXd mass, stiffness;
  Eigen::MatrixXd load_mass;  // added for clamped_loaded; empty: none
  Eigen::MatrixXd interface;  // G; may have no rows
};

struct SelectedShape {
  int problem = 0;
  double frequency = 0.0;  // rad/s, of the orthogonalized set with free attachments
  Eigen::VectorXd vector;  // vᵀ M v = 1
};

// Lowest first. Throws NumericalError with a remedy if the choice cannot be met.
std::vector<SelectedShape> select_shapes(const std::vector<ElasticProblem>& problems,
                                         const ModeChoice& choice);

}  // namespace catena
