// SPDX-License-Identifier: BSD-3-Clause
// catena convert: any model file to Catena's own YAML.
#include <filesystem>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/model_options.h"
#include "catena/io/models/yaml.h"

namespace catena::app {
namespace {

void convert(const ModelOptions& options, const std::string& out) {
  const std::string ending = std::filesystem::path(out).extension().string();
  if (ending != ".yaml" && ending != ".yml")
    throw UsageError("catena convert: error: '" + out +
                     "': the result is YAML; its name must end in .yaml");
  const Mechanism mechanism = options.load();  // a model that cannot be finished is not converted
  print_warnings(mechanism);
  save_yaml(mechanism.description(), out);
  fmt::print("{} -> {}\n", options.file(), out);
}

}  // namespace

void add_convert(CommandLine& line) {
  Command command = line.subcommand("convert", "Convert a model file to Catena's YAML");
  const auto options = std::make_shared<ModelOptions>();
  const auto out = std::make_shared<std::string>();
  options->add(command);
  command.option("OUT", *out, "The file to write, ending in .yaml").required();
  command.footer(
      "Examples:\n"
      "  catena convert robot.urdf robot.yaml\n"
      "  catena convert robot.urdf floating.yaml --base free");
  command.action([options, out] { convert(*options, *out); });
}

}  // namespace catena::app
