// SPDX-License-Identifier: BSD-3-Clause
// catena events: the events of a run, line by line.
#include <algorithm>
#include <map>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/commands.h"
#include "apps/catena/output.h"
#include "catena/base/text.h"
#include "catena/io/runs/run_file.h"

namespace catena::app {
namespace {

struct EventsOptions {
  std::string run;
  std::vector<std::string> kinds;
  bool json = false;
  std::string out;
};

std::vector<RunEvent> chosen(const RunFile& run, const EventsOptions& options) {
  std::vector<RunEvent> events = run.events();
  if (options.kinds.empty()) return events;
  // The kinds that simulations write (docs/simulation.md), and others in this run.
  std::vector<std::string> known{
      "limit",    "release",    "zeno",     "stick",      "slip",       "turn",   "chart",
      "loop",     "touch",      "friction", "lift",       "jam",        "motion", "user",
      "switch",   "constraint", "start",    "stepping",   "method",     "cost",   "note",
      "contacts", "flexible",   "residual", "collisions", "penetration"};
  for (const RunEvent& event : events)
    if (std::find(known.begin(), known.end(), event.kind) == known.end())
      known.push_back(event.kind);
  for (const std::string& kind : options.kinds)
    if (std::find(known.begin(), known.end(), kind) == known.end())
      throw NameError("there is no kind of event '" + kind + "'" + did_you_mean(kind, known) +
                      "; kinds are " + listed(known));
  std::erase_if(events, [&](const RunEvent& event) {
    return std::find(options.kinds.begin(), options.kinds.end(), event.kind) == options.kinds.end();
  });
  return events;
}

std::string events_text(const std::vector<RunEvent>& events) {
  Table table({{"time", true}, {"kind"}, {"of"}, {"what"}});
  std::map<std::string, int> count;
  for (const RunEvent& event : events) {
    table.add({fmt::format("{:.9g}", event.time), event.kind, event.name, event.detail});
    ++count[event.kind];
  }
  std::vector<std::string> kinds;
  kinds.reserve(count.size());
  for (const auto& [kind, n] : count) kinds.push_back(fmt::format("{} {}", n, kind));
  return (table.empty() ? "" : table.text()) +
         fmt::format("{} event{}{}\n", events.size(), events.size() == 1 ? "" : "s",
                     kinds.empty() ? "" : ": " + listed(kinds));
}

void show_events(const EventsOptions& options) {
  const std::vector<RunEvent> events = chosen(RunFile(options.run), options);
  Json json = Json::array();
  for (const RunEvent& event : events)
    json.push_back({{"time", event.time},
                    {"kind", event.kind},
                    {"name", event.name},
                    {"detail", event.detail}});
  give({{"events", json}}, events_text(events), options.json, options.out);
}

}  // namespace

void add_events(CommandLine& line) {
  Command command = line.subcommand("events", "List the events of a run");
  const auto options = std::make_shared<EventsOptions>();
  command.option("RUN", options->run, "A run").required();
  command.option("--kind", options->kinds, "Only these: limit, stick, slip, zeno, user, ...")
      .separated_by(',');
  command.json(options->json, options->out);
  command.footer(
      "Examples:\n"
      "  catena events run.h5\n"
      "  catena events run.h5 --kind limit,zeno\n\n"
      "The kinds are described in docs/simulation.md.");
  command.action([options] { show_events(*options); });
}

}  // namespace catena::app
