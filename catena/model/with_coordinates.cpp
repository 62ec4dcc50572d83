#include "catena/model/with_coordinates.h"

#include <algorithm>
#include <cctype>

#include "catena/model/builder.h"
#include "catena/model/topology.h"

namespace catena {
namespace {

// As a word: 'A' is not in 'CAM' or 'A1', but in 'q.A' and 'A=sin(t)'.
bool mentioned(const std::string& name, const std::string& text) {
  const auto letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if ((at == 0 || !letter(text[at - 1])) &&
        (at + name.size() == text.size() || !letter(text[at + name.size()])))
      return true;
  return false;
}

}  // namespace

Mechanism with_coordinates(const Mechanism& mechanism, std::span<const std::string> hinges) {
  MechanismBuilder b(mechanism.description());
  for (const std::string& name : hinges) {
    const auto h = static_cast<std::size_t>(mechanism.hinge_index(name));
    const HingePlace& place = mechanism.hinges()[h];
    if (is_rigid(mechanism.description().hinges[h]))
      throw NameError("hinge '" + name + "' is rigid and has no coordinates");
    if (place.node >= 0) continue;
    Hinge& hinge = b.description().hinges[h];
    hinge.cut = Cut::always;  // where it is cut already: the tree stays as it is
    hinge.keeps_coordinates = true;
  }
  // What a reader said about the file is not found again.
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

Mechanism with_coordinates_named_in(const Mechanism& mechanism,
                                    std::span<const std::string> texts) {
  std::vector<std::string> kept;
  for (const HingePlace& hinge : mechanism.hinges())
    if (hinge.role == HingePlace::Role::cut && hinge.node < 0 &&
        !is_rigid(mechanism.description()
                      .hinges[static_cast<std::size_t>(mechanism.hinge_index(hinge.name))]) &&
        std::any_of(texts.begin(), texts.end(),
                    [&](const std::string& text) { return mentioned(hinge.name, text); }))
      kept.push_back(hinge.name);
  return kept.empty() ? mechanism : with_coordinates(mechanism, kept);
}

}  // namespace catena
