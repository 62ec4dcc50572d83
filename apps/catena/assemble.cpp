// SPDX-License-Identifier: BSD-3-Clause
// catena assemble: a closed mechanism from a rough position to one that closes its loops.
#include <memory>

#include <fmt/core.h>

#include "apps/catena/closed_state.h"
#include "apps/catena/model_options.h"
#include "apps/catena/output.h"
#include "catena/base/index.h"
#include "catena/closure/assembly.h"
#include "catena/closure/chart.h"
#include "catena/simulation/state_file.h"

namespace catena::app {
namespace {

struct AssembleOptions {
  ModelOptions model;
  std::string state;
  std::vector<std::string> fix;
  bool closest = false;
  bool ignore_limits = false;
  bool json = false;
  std::string out;
};

void assemble_command(const AssembleOptions& options) {
  const Mechanism m = options.model.load({.freedoms = options.fix, .state_file = options.state});
  print_warnings(m);
  const StateInput in =
      options.state.empty() ? default_input(m) : read_state_file(options.state, m);
  AssemblySettings settings;
  settings.closest = options.closest;
  settings.keep_limits = !options.ignore_limits;
  if (!options.fix.empty()) settings.fixed = mask_of(m, options.fix);
  Assembly found = find_assembly(m, in.state.q, settings);
  if (!found.closed) assemble(m, in.state.q, settings);  // throws: names the open joint
  State state{found.q, consistent_velocity(m, found.q, in.state.v, settings.fixed)};
  if (settings.keep_limits)
    for (const std::string& hinge : outside_limits(m, state.q))
      fmt::print(stderr, "warning: outside its joint limits, left as given: {}\n", hinge);
  const Chart chart = choose_chart(m, state.q);

  if (options.json) {
    Json json;
    json["closed"] = true;
    json["closure_residual"] = found.gap();
    json["q"] = by_name(m.position_names(), state.q);
    json["v"] = by_name(m.velocity_names(), state.v);
    json["independent"] = Json::array();
    for (const int i : chart.independent(m.freedoms()))
      json["independent"].push_back(m.velocity_names()[index(i)]);
    json["loops"] = Json::array();
    for (const LoopAssembly& loop : found.loops)
      json["loops"].push_back({{"given_residual", loop.given_gap}, {"residual", loop.gap}});
    write_text(json.dump(2) + "\n", "");
  } else {
    Table table({{"coordinate"}, {"given", true}, {"assembled", true}, {"change", true}});
    for (int i = 0; i < m.coordinates(); ++i)
      table.add({m.position_names()[index(i)], pretty(in.state.q[i]),
                 fmt::format("{:.12g}", state.q[i]), pretty(state.q[i] - in.state.q[i])});
    std::string text = table.text();
    for (std::size_t i = 0; i < found.loops.size(); ++i) {
      const LoopAssembly& loop = found.loops[i];
      text += fmt::format("loop {}: residual {:.2g}, was {:.2g} (rad, or fractions of its size)\n",
                          i + 1, loop.gap, loop.given_gap);
    }
    if (m.loops().empty()) text += "no loops: nothing to assemble\n";
    write_text(text, "");
  }
  if (!options.out.empty()) write_text(state_yaml(m, state), options.out);
}

}  // namespace

void add_assemble(CommandLine& line) {
  Command command =
      line.subcommand("assemble", "Close the loops of a mechanism, starting from a rough position");
  const auto options = std::make_shared<AssembleOptions>();
  options->model.add(command);
  command.option("--state", options->state, "Start from this state (YAML), not the model's");
  command.option("--fix", options->fix, "Joints or freedoms to leave as they are");
  command.flag("--closest", options->closest,
               "Search from several starts for the closed position nearest to the given one");
  command.flag("--ignore-limits", options->ignore_limits, "Ignore joint limits");
  command.flag("--json", options->json, "Print JSON");
  command.file("-o,--output", options->out, "Write the assembled state to this YAML file");
  command.footer(
      "Another assembly mode is reached from another start (--state).\n\n"
      "Examples:\n"
      "  catena assemble models/four_bar.sdf\n"
      "  catena assemble models/four_bar.yaml --fix A --json\n"
      "  catena assemble linkage.sdf -o closed.yaml && catena dynamics linkage.sdf --state "
      "closed.yaml");
  command.action([options] { assemble_command(*options); });
}

}  // namespace catena::app
