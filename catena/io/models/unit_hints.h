// SPDX-License-Identifier: BSD-3-Clause
// Warnings about numbers that look like degrees or grams. Internal.
#pragma once

#include "catena/io/models/xml.h"
#include "catena/model/description.h"

namespace catena {

// URDF and SDF take radians, kilograms and metres.
void hint_units(const Description& description, xml::Report& report);

}  // namespace catena
