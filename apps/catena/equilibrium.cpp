// SPDX-License-Identifier: BSD-3-Clause
// catena equilibrium: a position in which nothing accelerates, and whether it is stable.
#include "catena/sensitivity/equilibrium.h"

#include <memory>

#include <fmt/core.h>

#include "apps/catena/closed_state.h"
#include "apps/catena/linear_output.h"
#include "apps/catena/model_options.h"
#include "catena/base/index.h"
#include "catena/simulation/state_file.h"

namespace catena::app {
namespace {

struct EquilibriumOptions {
  ModelOptions model;
  std::string state;
  std::vector<std::string> hold;
  bool steady = false;
  bool json = false;
  std::string out;
};

void equilibrium_command(const EquilibriumOptions& options) {
  const Mechanism m = options.model.load({.freedoms = options.hold, .state_file = options.state});
  print_warnings(m);
  StateInput in = options.state.empty() ? default_input(m) : read_state_file(options.state, m);
  if (!options.steady) in.state.v.setZero();
  close_loops(m, in);
  EquilibriumSettings settings;
  if (!options.hold.empty()) settings.held = mask_of(m, options.hold);
  const Equilibrium e =
      find_equilibrium(m, {in.state, in.effort, in.acceleration, in.external}, settings);
  if (e.found) print_friction_warning(m, e.state);
  Json json;
  json["found"] = e.found;
  json["q"] = by_name(m.position_names(), e.state.q);
  json["v"] = by_name(m.velocity_names(), e.state.v);
  json["effort"] = by_name(m.velocity_names(), e.effort);
  json["residual"] = e.residual;
  json["acceleration"] = e.acceleration;
  json["iterations"] = e.iterations;
  if (e.found) json["stability"] = to_string(e.modes.stability);
  if (e.found) json["growth"] = e.modes.growth;
  if (!e.found) json["reason"] = e.reason;
  if (options.json) {
    write_text(json.dump(2) + "\n", "");
  } else if (e.found) {
    Table table({{"coordinate"}, {"guess", true}, {"equilibrium", true}});
    for (int i = 0; i < m.coordinates(); ++i)
      table.add({m.position_names()[index(i)], pretty(in.state.q[i]),
                 fmt::format("{:.12g}", e.state.q[i])});
    std::string text = table.text();
    if (!options.hold.empty()) {
      Table efforts({{"held freedom"}, {"effort", true}});
      for (int i = 0; i < m.freedoms(); ++i)
        if (settings.held[index(i)] != 0)
          efforts.add({m.velocity_names()[index(i)], fmt::format("{:.9g}", e.effort[i])});
      text += "\n" + efforts.text();
    }
    text += fmt::format("\n{} after {} steps; the largest growth rate is {} 1/s\n",
                        to_string(e.modes.stability), e.iterations, pretty(e.modes.growth));
    write_text(text, "");
  }
  if (e.found && !options.out.empty()) {
    std::string yaml = state_yaml(m, e.state) + "effort:\n";
    for (int i = 0; i < m.freedoms(); ++i)
      yaml += fmt::format("  {}: {:.17g}\n", m.velocity_names()[index(i)], e.effort[i]);
    write_text(yaml, options.out);
  }
  if (!e.found) throw Error("no equilibrium was found near this state: " + e.reason);
}

}  // namespace

void add_equilibrium(CommandLine& line) {
  Command command = line.subcommand(
      "equilibrium",
      "Find an equilibrium: a position in which nothing accelerates, at rest or in steady motion");
  const auto options = std::make_shared<EquilibriumOptions>();
  options->model.add(command);
  command.file("--state", options->state,
               "Guess and efforts (YAML; default: the model's initial state, no efforts)");
  command.names("--hold", options->hold,
                "Joints or freedoms to hold in place; their efforts are found");
  command.flag("--steady", options->steady,
               "Search a steady motion with the velocities of the state");
  command.flag("--json", options->json, "Print JSON");
  command.file("-o,--output", options->out, "Write state and efforts to this YAML file");
  command.footer(
      "Examples:\n"
      "  catena equilibrium models/four_bar.yaml\n"
      "  catena equilibrium models/double_pendulum.yaml --hold shoulder -o rest.yaml");
  command.action([options] { equilibrium_command(*options); });
}

}  // namespace catena::app
