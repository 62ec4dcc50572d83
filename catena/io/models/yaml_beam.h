// SPDX-License-Identifier: BSD-3-Clause
// The words of a beam as YAML, indented for the key `flexible` of a body.
#pragma once

#include <string>

#include "catena/model/beam_settings.h"

namespace catena {

std::string write_beam(const BeamSettings& beam);

}  // namespace catena
