// SPDX-License-Identifier: BSD-3-Clause
// catena compare: how two runs differ.
#include <cmath>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/commands.h"
#include "apps/catena/output.h"
#include "catena/base/text.h"
#include "catena/io/runs/run_compare.h"

namespace catena::app {
namespace {

struct CompareOptions {
  std::string first, second;
  double tolerance = 0.0;
  bool json = false;
  std::string out;
};

Json comparison_json(const RunComparison& c, double tolerance) {
  Json settings = Json::array(), columns = Json::array();
  for (const SettingDifference& one : c.settings)
    settings.push_back({{"name", one.name}, {"first", one.first}, {"second", one.second}});
  for (const ColumnDifference& one : c.columns)
    columns.push_back({{"name", one.name},
                       {"unit", one.unit},
                       {"largest", one.largest},
                       {"time", one.time},
                       {"relative", one.relative},
                       {"agrees", one.relative <= tolerance}});
  return {{"agree", c.agree(tolerance)},
          {"tolerance", tolerance},
          {"same_model", c.same_model},
          {"same_times", c.same_times},
          {"ends", {c.first_end, c.second_end}},
          {"versions", {c.first_version, c.second_version}},
          {"compared_rows", c.compared_rows},
          {"settings", settings},
          {"only_first", c.only_first},
          {"only_second", c.only_second},
          {"columns", columns}};
}

std::string comparison_text(const RunComparison& c, const CompareOptions& options) {
  std::string text;
  const auto say = [&](const std::string& line) { text += line + "\n"; };
  if (!c.same_model) say("The models are different.");
  if (c.first_version != c.second_version)
    say("Versions of Catena: " + c.first_version + " and " + c.second_version + ".");
  if (!c.settings.empty()) {
    Table table({{"setting"}, {options.first}, {options.second}});
    for (const SettingDifference& one : c.settings)
      table.add(
          {one.name, one.first.empty() ? "-" : one.first, one.second.empty() ? "-" : one.second});
    text += table.text();
  }
  if (!c.only_first.empty()) say("Only in " + options.first + ": " + listed(c.only_first) + ".");
  if (!c.only_second.empty()) say("Only in " + options.second + ": " + listed(c.only_second) + ".");
  if (c.first_end != c.second_end)
    say("They end at " + number(c.first_end) + " s and " + number(c.second_end) + " s.");
  if (!c.same_times)
    say(options.second + " is interpolated at the times of " + options.first + ".");
  Table table(
      {{"column"}, {"largest difference", true}, {"at time", true}, {"relative", true}, {""}});
  int equal = 0;
  for (const ColumnDifference& one : c.columns) {
    if (one.largest == 0.0) {
      ++equal;
      continue;
    }
    table.add({one.name, fmt::format("{:.3g} {}", one.largest, one.unit), pretty(one.time),
               fmt::format("{:.2e}", one.relative),
               one.relative <= options.tolerance ? "" : "differs"});
  }
  if (!table.empty()) text += table.text();
  say(fmt::format("{} of {} columns are equal in {} rows.", equal, c.columns.size(),
                  c.compared_rows));
  say(c.agree(options.tolerance)
          ? fmt::format("The runs agree within {}.", number(options.tolerance))
          : fmt::format("The runs differ by more than {}.", number(options.tolerance)));
  return text;
}

void compare(const CompareOptions& options) {
  if (!(options.tolerance >= 0.0))
    throw UsageError("catena compare: error: --tolerance must not be negative");
  const ResultColumns first(options.first), second(options.second);
  const RunComparison comparison = compare_runs(first, second);
  give(comparison_json(comparison, options.tolerance), comparison_text(comparison, options),
       options.json, options.out);
  if (!comparison.agree(options.tolerance)) throw Failed();
}

}  // namespace

void add_compare(CommandLine& line) {
  Command command = line.subcommand("compare", "Compare two runs");
  const auto options = std::make_shared<CompareOptions>();
  command.option("RUN1", options->first, "A run, or a table (.csv)").required();
  command.option("RUN2", options->second, "Another").required();
  command
      .option("--tolerance", options->tolerance,
              "Largest difference of a column, relative to its largest value")
      .show_default();
  command.json(options->json, options->out);
  command.footer(
      "Examples:\n"
      "  catena compare before.h5 after.h5\n"
      "  catena compare before.h5 after.h5 --tolerance 1e-9\n\n"
      "Exit 1 if a column is missing, the runs end at different times, or a column differs by\n"
      "more than the tolerance. Differences of models, settings and versions are printed, but do "
      "not count.");
  command.action([options] { compare(*options); });
}

}  // namespace catena::app
