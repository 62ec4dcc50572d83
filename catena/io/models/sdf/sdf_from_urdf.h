// SPDX-License-Identifier: BSD-3-Clause
// A URDF file that an SDF file includes, as SDF: the format's own way (libsdformat translates,
// too).
//
// Every element keeps its line in the URDF, so that messages name that line. Links are placed by
// the first joint that leads to them; further ones close loops and become joints between two
// frames. A floating joint is no joint in SDF. The root floats unless it is the link `world` or the
// outer file joins it. SDF has no planar joint: that is an error.
#pragma once

#include "catena/io/models/xml.h"

namespace catena {

// Without a root after an error, which the report then has.
xml::File sdf_from_urdf(const std::string& path, xml::Report& report);

}  // namespace catena
