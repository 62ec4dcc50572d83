// SPDX-License-Identifier: BSD-3-Clause
// catena info: the contents of a model file; the instruction sets of this processor.
#include <cstdio>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/info_report.h"
#include "apps/catena/model_options.h"
#include "catena/base/cpu.h"
#include "catena/base/text.h"
#include "catena/model/validation.h"
#include "catena/sensitivity/parameters.h"

namespace catena::app {
namespace {

struct InfoOptions {
  ModelOptions model;
  bool json = false;
  std::string out;
  bool full = false;
  bool cpu = false;
  bool parameters = false;
};

void cpu_info(bool json, const std::string& out) {
  const CpuReport cpu = cpu_report();
  give({{"processor", cpu.processor},
        {"hardware_threads", cpu.hardware_threads},
        {"available", cpu.available},
        {"built", cpu.built},
        {"used", cpu.used}},
       fmt::format("{:<18}{}\n{:<18}{}\n{:<18}{}\n{:<18}{}\n{:<18}{}\n", "processor", cpu.processor,
                   "hardware threads", cpu.hardware_threads, "usable here", listed(cpu.available),
                   "in this build", listed(cpu.built), "in use", cpu.used),
       json, out);
}

// Every parameter by which there are derivatives.
void parameter_info(const Mechanism& mechanism, bool json, const std::string& out) {
  const std::vector<std::string> names = ParameterSet::all_names(mechanism);
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  give({{"parameters", names}}, text, json, out);
}

void info(const InfoOptions& options) {
  if (options.cpu) {
    cpu_info(options.json, options.out);
    return;
  }
  if (options.model.file().empty())
    throw UsageError("catena info: error: FILE is required (or --cpu)\nRun `catena info --help`.");
  const Mechanism mechanism = options.model.load_to_describe();
  if (options.parameters) {
    parameter_info(mechanism, options.json, options.out);
    return;
  }
  const InfoReport report = make_info_report(options.model.file(), mechanism);
  give(info_json(report), info_text(report, options.full), options.json, options.out);
  if (options.json || !options.out.empty()) {
    for (const Diagnostic& problem : mechanism.warnings())
      if (problem.severity == Severity::error) std::fprintf(stderr, "%s\n", problem.text().c_str());
  } else {
    for (const std::string& warning : report.warnings)
      std::fprintf(stderr, "%s\n", warning.c_str());
  }
  if (has_error(mechanism.warnings())) throw Failed{};
}

}  // namespace

void add_info(CommandLine& line) {
  Command command = line.subcommand(
      "info", "Describe a mechanism: bodies, joints, degrees of freedom, loops, mass");
  const auto options = std::make_shared<InfoOptions>();
  options->model.add(command, false);
  command.json(options->json, options->out);
  command.flag("--full", options->full, "Print every row of long tables");
  command.flag("--cpu", options->cpu, "Print the processor and the instruction set in use instead");
  command.flag("--parameters", options->parameters,
               "List the names of the parameters for derivatives instead");
  command.footer(
      "Examples:\n"
      "  catena info models/four_bar.yaml\n"
      "  catena info robot.urdf --base free --gravity 0 0 -1.62\n"
      "  catena info robot.sdf --json\n"
      "  catena info --cpu");
  command.action([options] { info(*options); });
}

}  // namespace catena::app
