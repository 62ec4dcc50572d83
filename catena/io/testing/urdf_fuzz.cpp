// SPDX-License-Identifier: BSD-3-Clause
// Any text gives a description that can be finished, or messages; never a crash.
#include <cstddef>
#include <cstdint>

#include "catena/io/models/urdf.h"
#include "catena/model/validation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const catena::Base base = size % 2 == 0 ? catena::Base::as_written : catena::Base::free;
  catena::Reading reading = catena::read_urdf_text(text, "fuzz.urdf", {.base = base});
  if (catena::has_error(reading.diagnostics)) return 0;
  try {
    catena::MechanismBuilder(std::move(reading.description)).finish({.strict = false});
  } catch (const catena::Error&) {
  }
  return 0;
}
