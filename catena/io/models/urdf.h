// SPDX-License-Identifier: BSD-3-Clause
// Reads URDF, the robot description format of ROS.
//
// Conventions: the frame of a joint is its <origin> on the parent and the frame of the child link;
// a root link named `world` is the ground, any other root is fixed to it unless settings.base is
// Base::free. Several joints to one child link close a loop. <mimic> becomes an exact coupling,
// <dynamics> damping and friction. <collision> shapes are read, with the friction <mu1> of
// <gazebo>. Other tags for simulators and controllers (the rest of gazebo, transmission,
// ros2_control, ...) are ignored.
#pragma once

#include <string>

#include "catena/io/load.h"

namespace catena {

Reading read_urdf(const std::string& path, const LoadSettings& settings = {});
// `file_name` is for messages; relative mesh paths start in its folder.
Reading read_urdf_text(const std::string& text, const std::string& file_name,
                       const LoadSettings& settings = {});

}  // namespace catena
