// SPDX-License-Identifier: BSD-3-Clause
// Repairs a faulty description, so that validation can go on and report further mistakes.
#pragma once

#include "catena/model/description.h"

namespace catena {

// A copy in which every name exists once and every number can be used: values that validate()
// rejects are replaced by valid ones. An unknown parent becomes the ground, an impossible body a
// unit ball; parts that cannot be repaired are left out.
Description repaired(Description description);

}  // namespace catena
