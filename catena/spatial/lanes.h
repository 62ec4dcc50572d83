// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; model/hinge_kinematics.h needs it.
//
// How many states a scalar holds.
#pragma once

#include "catena/spatial/scalar.h"

namespace catena {
inline namespace CATENA_ISA {

// More than one for packs (pack.h); 0 for scalars that have no lanes.
template <class Scalar>
inline constexpr int kLanesOf = 0;

}  // namespace CATENA_ISA
}  // namespace catena
