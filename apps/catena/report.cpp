// SPDX-License-Identifier: BSD-3-Clause
// catena report: a run as one self-contained HTML page.
#include <memory>

#include <fmt/core.h>

#include "apps/catena/commands.h"
#include "apps/catena/report/report_data.h"

namespace catena::app {
namespace {

void report(const std::string& run_path, const std::string& out) {
  check_ending(out, ".html", "an HTML page");
  const RunFile run(run_path);
  Json document = run_document(run);
  write_text(report_page(document), out);
  for (const Json& note : document["notes"].items())
    fmt::print(stderr, "{}: note: {}\n", run_path, note.text());
  say_written(run_path, out);
}

}  // namespace

void add_report(CommandLine& line) {
  Command command = line.subcommand(
      "report", "Write a run as one page: animation, plots, audit, events, settings");
  const auto run = std::make_shared<std::string>();
  const auto out = std::make_shared<std::string>("report.html");
  command.option("RUN", *run, "The run: an HDF5 file").required();
  command.option("-o,--output", *out, "The page to write").show_default();
  command.footer(
      "Examples:\n"
      "  catena report run.h5\n"
      "  catena report run.h5 -o report.html\n\n"
      "The page works from a file, offline, in any browser. A run in progress, or an\n"
      "interrupted one, can be reported too.");
  command.action([run, out] { report(*run, *out); });
}

}  // namespace catena::app
