// SPDX-License-Identifier: BSD-3-Clause
// Parts of the reduction of sparse structures. Not installed.
#pragma once

#include "catena/control/sparse/structure_reduction.h"
#include "catena/linear/sparse/dynamic_stiffness.h"
#include "catena/linear/sparse/sparse_modes.h"

namespace catena {

// The structure, its modes up to somewhat beyond the band, and its elastic part: inputs and outputs
// without what they do to rigid modes.
struct StructureParts {
  const SecondOrder& structure;
  DynamicStiffness stiffness;
  SparseModes modes{};  // more than those of the band
  int in_band = 0;      // modes below the end of the band, rigid ones included
  double lowest = 0.0, highest = 0.0;
  Eigen::VectorXd damping{};        // ratios of `modes`
  Eigen::VectorXd weight{};         // the largest gain of each mode in the band
  Eigen::MatrixXd B{}, Cq{}, Cv{};  // elastic part; Cq and Cv are zero rather than empty

  Eigen::MatrixXd rigid_shapes() const { return modes.shapes.leftCols(modes.rigid); }
};

// A x and E x of the first-order form E ẋ = A x + B u in (q, q̇): E = diag(1, M), A = [0 1; −K −D].
Eigen::MatrixXd times_a(const SecondOrder& structure, const Eigen::MatrixXd& x);
Eigen::MatrixXd times_e(const SecondOrder& structure, const Eigen::MatrixXd& x);

// Elastic parts of order `order`, without the rigid modes. The last two begin with the modal one:
// its poles are the first shifts.
StateSpace modal_reduction(const StructureParts& parts, int order);
StateSpace balanced_reduction(StructureParts& parts, const StateSpace& start,
                              StructureReduction& result);
StateSpace interpolation_reduction(StructureParts& parts, const StateSpace& start, int most,
                                   StructureReduction& result);

// Samples of the error of `result.system`, the estimate between them and the robust frequency.
void sample_error(StructureParts& parts, const StructureReductionSettings& settings,
                  StructureReduction& result);

}  // namespace catena
