// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer: no text may crash the YAML reader, hang it, or give a mechanism that cannot be written
// and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "catena/io/models/yaml.h"
#include "catena/model/validation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  catena::Reading reading = catena::read_yaml_text(text, "fuzz/fuzz.yaml");
  if (catena::has_error(reading.diagnostics)) return 0;
  try {
    catena::MechanismBuilder(reading.description).finish({.strict = reading.strict});
  } catch (const catena::ModelError&) {
    return 0;
  }
  const std::string written = catena::write_yaml(reading.description);
  const catena::Reading again = catena::read_yaml_text(written, "fuzz/written.yaml");
  if (catena::has_error(again.diagnostics) || catena::write_yaml(again.description) != written)
    std::abort();
  return 0;
}
