// SPDX-License-Identifier: BSD-3-Clause
// catena check-derivatives: every derivative of a mechanism against differences, as a table.
#include <memory>

#include <fmt/core.h>

#include "apps/catena/model_options.h"
#include "apps/catena/output.h"
#include "catena/sensitivity/derivative_check.h"

namespace catena::app {
namespace {

struct CheckDerivativesOptions {
  ModelOptions model;
  int states = 10;
  int seed = 1;
  bool json = false;
  std::string out;
};

void check_command(const CheckDerivativesOptions& options) {
  const Mechanism m = options.model.load();
  print_warnings(m);
  const DerivativeReport report =
      check_derivatives(m, options.states, static_cast<std::uint64_t>(options.seed));
  if (report.states == 0)
    throw Error("no random state of '" + m.name() +
                "' could be closed; give it an initial state that closes its loops");
  const bool pass = report.passes();
  Json json;
  json["states"] = report.states;
  json["skipped"] = report.skipped;
  json["worst"] = report.worst;
  json["pass"] = pass;
  json["checks"] = Json::array();
  Table table({{"derivative"},
               {"largest entry", true},
               {"error", true},
               {"allowed", true},
               {"where"},
               {""}});
  for (const DerivativeCheck& check : report.checks) {
    const bool good = check.passes();
    json["checks"].push_back({{"quantity", check.quantity},
                              {"entry", check.entry},
                              {"error", check.error},
                              {"allowed", check.allowed},
                              {"where", check.where},
                              {"pass", good}});
    table.add({check.quantity, pretty(check.entry), fmt::format("{:.1e}", check.error),
               fmt::format("{:.0e}", check.allowed), check.where, good ? "" : "DIFFERS"});
  }
  const std::string skipped =
      report.skipped > 0
          ? fmt::format(" ({} could not be closed, or lie too close to singular positions)",
                        report.skipped)
          : "";
  give(json, table.text() + fmt::format("{} states{}\n", report.states, skipped), options.json,
       options.out);
  for (const DerivativeCheck& check : report.checks)
    if (!check.passes())
      throw Error(fmt::format("{} ({}) differs from finite differences by {:.1e} (at most {:.0e})",
                              check.quantity, check.where, check.error, check.allowed));
}

}  // namespace

void add_check_derivatives(CommandLine& line) {
  Command command = line.subcommand(
      "check-derivatives", "Compare every derivative with finite differences at random states");
  const auto options = std::make_shared<CheckDerivativesOptions>();
  options->model.add(command);
  command.option("--states", options->states, "Number of states").positive().show_default();
  command.option("--seed", options->seed, "Seed of the random states")
      .non_negative()
      .show_default();
  command.json(options->json, options->out);
  command.footer(
      "Examples:\n"
      "  catena check-derivatives models/mixed_chain.yaml\n"
      "  catena check-derivatives models/four_bar.yaml --states 5 --json");
  command.action([options] { check_command(*options); });
}

}  // namespace catena::app
