// SPDX-License-Identifier: BSD-3-Clause
// Reads a mechanism from a file: URDF, SDF or Catena's own YAML.
//
//   const Mechanism robot = load("robot.urdf", {.base = Base::free});
//   for (const Diagnostic& d : robot.warnings()) std::cerr << d.message << "\n";
//   Description model = read_description("robot.sdf").description;  // to change it
//
// The format is recognized by the file's ending (.urdf, .sdf, .world, .yaml, .yml), and by its root
// element for .xml. A file is read whole: every problem is reported, with file and line. Loops of
// SDF files are closed by the file's joints; URDF closes them by joints with a common child. Cost:
// O(length of the file); depth and size are bounded, so that no file exhausts the memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catena/model/builder.h"

namespace catena {

// What a root without a hinge to the world does.
enum class Base {
  as_written,  // URDF: fixed unless its root is named "world"; SDF: free; YAML: as `base:` says
  fixed,
  free
};

struct LoadSettings {
  Base base = Base::as_written;
  std::optional<Vec3d> gravity = {};  // overrides the file's
  // Treat impossible inertias and doubtful tags as errors. YAML is always read strictly.
  bool strict = false;
};

// What a file says, and what is wrong with it. With errors among the diagnostics the description
// is incomplete and must not be used.
struct Reading {
  Description description;
  std::vector<Diagnostic> diagnostics;
  bool strict = false;  // how to finish it
};

Reading read_description(const std::string& path, const LoadSettings& settings = {});

// Reads and finishes. Throws ModelError with all problems of the file and of the mechanism.
Mechanism load(const std::string& path, const LoadSettings& settings = {});

}  // namespace catena
