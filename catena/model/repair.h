// SPDX-License-Identifier: BSD-3-Clause
// After a mistake the search for further mistakes goes on in a repaired copy.
#pragma once

#include "catena/model/description.h"

namespace catena {

// A copy in which every name exists once and every number can be used: what validate() calls an
// error is replaced by something that causes no error of its own. An unknown parent becomes the
// ground, an impossible body a unit ball; what cannot be saved is left out.
Description repaired(Description description);

}  // namespace catena
