// SPDX-License-Identifier: BSD-3-Clause
// The mechanism in the report page: bodies with their shapes and hinges, flexible bodies with their
// mode shapes, rods and springs, frames, and meshes, which are embedded in the page.
#pragma once

#include <string>
#include <vector>

#include "apps/catena/output.h"
#include "catena/model/mechanism.h"

namespace catena::app {

// Adds title, up, bodies, flexible, model_frames, hinges, links, ground_points and meshes to a
// document. Meshes are searched from the folder of `model_path`; those that are left out get a
// note.
void add_model(Json& document, const Mechanism& mechanism, const std::string& model_path,
               std::vector<std::string>& notes);

// "rad", "m" or "" for each coordinate of q.
std::vector<std::string> coordinate_units(const Mechanism& mechanism);

}  // namespace catena::app
