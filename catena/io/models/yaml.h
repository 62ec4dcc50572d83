// SPDX-License-Identifier: BSD-3-Clause
// Catena's own format: YAML, versioned (`catena: 1`), able to express every Description, except
// code (custom hinges, couplings by a function). docs/model-format.md is its reference,
// docs/model.schema.json its schema.
//
// A file may start from another (`from: robot.urdf`) and attach, remove, change and add things.
// Reading costs O(length of the text). Depth, aliases and size are bounded, so that no file can
// exhaust the stack or the memory.
#pragma once

#include <string>

#include "catena/io/load.h"

namespace catena {

Reading read_yaml(const std::string& path, const LoadSettings& settings = {});

// Reads a text; `file_name` is used in messages, and its folder for the paths in the text.
Reading read_yaml_text(const std::string& text, const std::string& file_name,
                       const LoadSettings& settings = {});

// The text of a description. Reading it back gives the same mechanism to the bit. Throws
// ModelError when something in it is code.
std::string write_yaml(const Description& description);

// Throws Error when the file cannot be written.
void save_yaml(const Description& description, const std::string& path);

}  // namespace catena
