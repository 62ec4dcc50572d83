// SPDX-License-Identifier: BSD-3-Clause
// Reads a mechanism from a file: URDF, SDF or Catena's own YAML.
//
//   const Mechanism robot = load("robot.urdf", {.base = Base::free});
//   for (const Diagnostic& d : robot.warnings()) std::cerr << d.message << "\n";
//   Description model = read_description("robot.sdf").description;  // to change it
//
// The format is recognized by the file's ending (.urdf, .sdf, .world, .yaml, .yml), and by its root
// element for .xml. Every problem of a file is reported, with file and line. Loops of SDF files are
// closed by the file's joints; URDF closes them by joints with a common child. Cost: O(length of
// the file); depth and size are bounded, so that no file exhausts the memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catena/model/builder.h"

namespace catena {

// Base of a root body that has no hinge to the world.
enum class Base {
  as_written,  // URDF: fixed unless its root is named "world"; SDF: free; YAML: as `base:` says
  fixed,
  free
};

struct LoadSettings {
  Base base = Base::as_written;
  std::optional<Vec3d> gravity = {};  // overrides the file's
  // Treat impossible inertias and doubtful tags as errors. YAML is read strictly unless
  // it says `strict: false`.
  bool strict = false;
};

// Content of a file and its problems. With errors among the diagnostics the description is
// incomplete and must not be used.
struct Reading {
  Description description;
  std::vector<Diagnostic> diagnostics;
  bool strict = false;  // for MechanismBuilder::finish()
};

Reading read_description(const std::string& path, const LoadSettings& settings = {});

// Reads and finishes. Throws ModelError with all problems of the file and of the mechanism.
Mechanism load(const std::string& path, const LoadSettings& settings = {});

}  // namespace catena
