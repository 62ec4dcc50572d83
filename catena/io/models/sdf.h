// SPDX-License-Identifier: BSD-3-Clause
// Reads SDF, the description format of Gazebo, versions 1.4 to 1.12.
//
// A file has a <world> or a <model>, several and nested ones, and may <include> local files. Names
// inside are those of the file when it has one model, and model::name otherwise (and inside nested
// models). The zero of each joint is where the poses of the file put its links; joints may close
// loops in any way. A model floats unless a joint leads to the world or it is <static>;
// settings.base overrides the floating. Gravity is that of <world>: (0, 0, -9.8) when it does not
// say, and (0, 0, -9.81) for a file without a world.
//
// Unassembled input: when <parent> names a <frame>, the joint has no <pose>, and in the poses of
// the file that frame and the child's do not satisfy the joint, then these are the two frames of
// the joint, to be brought together by assembly; a warning says so.
#pragma once

#include <string>

#include "catena/io/load.h"

namespace catena {

Reading read_sdf(const std::string& path, const LoadSettings& settings = {});
// `file_name` is for messages; includes and meshes are searched in its folder.
Reading read_sdf_text(const std::string& text, const std::string& file_name,
                      const LoadSettings& settings = {});

}  // namespace catena
