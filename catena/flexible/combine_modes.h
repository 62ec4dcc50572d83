// SPDX-License-Identifier: BSD-3-Clause
// Other shapes for the same body: linear combinations of the modes it has.
//
//   η = T ζ,   e.g. T = two columns of modes that a larger analysis found
//   const auto small = combine_modes(*body, T);      // FlexibleBody with the coordinates ζ
//
// All constants follow by congruence: h1 T, Tᵀ h2 T, Tᵀ K T, ... So a beam with many clamped-free
// modes becomes one with pinned-free modes (shapes of the beam on its hinge, seen from the frame at
// the hinge), with modes of the whole mechanism, or with the modes of interest left. The new body
// no longer has the words of a beam (FlexibleBody::beam): models with it are not written as YAML.
#pragma once

#include <memory>

#include "catena/model/flexible_body.h"

namespace catena {

// `shapes` is T: a row for each mode of the body, a column for each new one. Throws NumericalError
// if its size is wrong or its columns are linearly dependent.
std::shared_ptr<const FlexibleBody> combine_modes(const FlexibleBody& body,
                                                  const Eigen::MatrixXd& shapes);

}  // namespace catena
