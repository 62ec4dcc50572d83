// SPDX-License-Identifier: BSD-3-Clause
// catena report: a run as one self-contained HTML page.
#include <memory>

#include <fmt/core.h>

#include "apps/catena/commands.h"
#include "apps/catena/report/report_data.h"

namespace catena::app {
namespace {

constexpr std::size_t kMostRuns = 4;

void report(const std::vector<std::string>& paths, const std::string& out) {
  check_ending(out, ".html", "an HTML page");
  if (paths.size() > kMostRuns)
    throw UsageError(fmt::format("catena report: error: at most {} runs go into one page, not {}",
                                 kMostRuns, paths.size()));
  std::vector<Json> documents;
  for (const std::string& path : paths) {
    const RunFile run(path);
    documents.push_back(run_document(run));
    for (const Json& note : documents.back()["notes"].items())
      fmt::print(stderr, "{}: note: {}\n", path, note.text());
  }
  Json first = std::move(documents[0]);
  documents.erase(documents.begin());
  if (!documents.empty()) first = overlaid(std::move(first), std::move(documents));
  write_text(report_page(first), out);
  say_written(paths[0], out);
}

}  // namespace

void add_report(CommandLine& line) {
  Command command = line.subcommand(
      "report", "Write a run as one page: animation, plots, audit, events, settings");
  const auto runs = std::make_shared<std::vector<std::string>>();
  const auto out = std::make_shared<std::string>("report.html");
  command.option("RUN", *runs, "The run: an HDF5 file; several are shown over each other")
      .required();
  command.option("-o,--output", *out, "The page to write").show_default();
  command.footer(
      "Examples:\n"
      "  catena report run.h5\n"
      "  catena report run.h5 -o report.html\n"
      "  catena report before.h5 after.h5 -o both.html\n\n"
      "The page works from a file, offline, in any browser. A run in progress, or an\n"
      "interrupted one, can be reported too. Of several runs the first is drawn solid, the others\n"
      "transparent, and their curves are dashed.");
  command.action([runs, out] { report(*runs, *out); });
}

}  // namespace catena::app
