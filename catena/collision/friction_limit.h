// SPDX-License-Identifier: BSD-3-Clause
// The largest coefficient of friction of a contact. Infinite friction is taken as this: its cone
// has an angle of 0.06° to the plane, and wider ones are ill-conditioned.
#pragma once

namespace catena {

inline constexpr double kLargestFriction = 1e3;

}  // namespace catena
