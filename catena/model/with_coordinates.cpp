// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/with_coordinates.h"

#include <algorithm>

#include "catena/base/index.h"
#include "catena/model/builder.h"
#include "catena/model/topology.h"

namespace catena {

Mechanism with_coordinates(const Mechanism& mechanism, std::span<const std::string> hinges) {
  MechanismBuilder b(mechanism.description());
  for (const std::string& name : hinges) {
    const auto h = to_size(mechanism.hinge_index(name));
    const HingePlace& place = mechanism.hinges()[h];
    if (is_rigid(mechanism.description().hinges[h]))
      throw NameError("hinge '" + name + "' is rigid and has no coordinates");
    if (place.node >= 0) continue;
    Hinge& hinge = b.description().hinges[h];
    hinge.cut = Cut::always;  // where it is cut already: the tree stays as it is
    hinge.keeps_coordinates = true;
  }
  // The reader's warnings about the file are kept: nothing finds them again.
  FinishSettings settings{.strict = false};
  settings.idle_hinges = std::any_of(
      mechanism.warnings().begin(), mechanism.warnings().end(),
      [](const Diagnostic& found_before) { return found_before.severity == Severity::error; });
  const Mechanism found = b.finish(settings);
  for (const Diagnostic& warning : mechanism.warnings())
    if (std::none_of(found.warnings().begin(), found.warnings().end(),
                     [&](const Diagnostic& other) { return other.text() == warning.text(); }))
      settings.notes.push_back(warning);
  return settings.notes.empty() ? found : b.finish(settings);
}

}  // namespace catena
