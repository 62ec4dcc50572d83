// SPDX-License-Identifier: BSD-3-Clause
// Finds the local file or folder of a URI in a model file.
#pragma once

#include <string>
#include <vector>

namespace catena {

// A path as it stands, relative to `folder`, or behind file://. Paths after package:// and model://
// are searched in `folder` and the folders around it, then in the folders that SDF_PATH,
// GZ_SIM_RESOURCE_PATH, GAZEBO_MODEL_PATH, ROS_PACKAGE_PATH and AMENT_PREFIX_PATH list. Returns ""
// when there is no such file, or when it is not local (https://, ...).
std::string find_local(const std::string& uri, const std::string& folder);

// The folder a file stands in; "." for a bare name.
std::string folder_of(const std::string& file);

// "3 mesh files are not found (the first: 'a.stl'); ...", or "" when all of them are there.
std::string missing_meshes(const std::vector<std::string>& uris, const std::string& folder);

}  // namespace catena
