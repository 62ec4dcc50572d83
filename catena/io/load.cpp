// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/load.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "catena/io/models/sdf.h"
#include "catena/io/models/urdf.h"
#include "catena/io/models/yaml.h"
#include "catena/io/text_file.h"
#include "catena/model/validation.h"

namespace catena {
namespace {

std::string ending_of(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

// The name of the first element of an XML text, or "".
std::string root_element(std::string_view text) {
  std::size_t at = 0;
  while ((at = text.find('<', at)) != text.npos) {
    std::string_view rest = text.substr(at);
    std::string_view end;
    if (rest.starts_with("<!--"))
      end = "-->";
    else if (rest.starts_with("<?"))
      end = "?>";
    else if (rest.starts_with("<!"))
      end = ">";
    if (end.empty()) {
      rest.remove_prefix(1);
      return std::string(rest.substr(0, rest.find_first_of(" \t\r\n/>")));
    }
    at = text.find(end, at);
    if (at == text.npos) break;
    at += end.size();
  }
  return {};
}

Reading failed(const std::string& path, const std::string& why) {
  Diagnostic problem;
  problem.source.file = path;
  problem.message = why;
  Reading reading;
  reading.diagnostics.push_back(std::move(problem));
  return reading;
}

}  // namespace

Reading read_description(const std::string& path, const LoadSettings& settings) {
  std::string ending = ending_of(path);
  if (ending == ".yaml" || ending == ".yml") return read_yaml(path, settings);
  if (ending != ".urdf" && ending != ".sdf" && ending != ".world") {
    Reading reading;
    const std::optional<std::string> text = read_text_file(path, reading.diagnostics);
    if (!text) return reading;
    if (ending == ".xacro")
      return failed(path, "is a xacro template; run xacro on it and read the URDF that it prints");
    const std::string root = root_element(*text);
    if (root == "robot")
      ending = ".urdf";
    else if (root == "sdf")
      ending = ".sdf";
    else if (ending == ".xml")
      return failed(path, "has the root element <" + root + ">; <robot> (URDF) or <sdf> is needed");
    else
      return failed(path,
                    "is not a model file; its name must end in .urdf, .sdf, .world, .yaml, "
                    ".yml or .xml");
  }
  return ending == ".urdf" ? read_urdf(path, settings) : read_sdf(path, settings);
}

Mechanism load(const std::string& path, const LoadSettings& settings) {
  Reading reading = read_description(path, settings);
  if (has_error(reading.diagnostics)) throw ModelError(std::move(reading.diagnostics));
  return MechanismBuilder(std::move(reading.description))
      .finish({.strict = reading.strict, .notes = std::move(reading.diagnostics)});
}

}  // namespace catena
