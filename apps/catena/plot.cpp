// SPDX-License-Identifier: BSD-3-Clause
// catena plot: columns of a run as a picture.
#include <algorithm>
#include <memory>

#include <fmt/core.h>
#include <fnmatch.h>

#include "apps/catena/commands.h"
#include "apps/catena/output.h"
#include "catena/base/index.h"
#include "catena/io/runs/run_file.h"
#include "catena/io/runs/svg_plot.h"

namespace catena::app {
namespace {

struct PlotOptions {
  std::string run;
  std::vector<std::string> columns;
  std::string out;
  std::string title;
};

// The columns that a name or a pattern such as q.* means.
std::vector<RunColumn> matching(const RunFile& run, const std::string& wanted) {
  const auto& columns = run.header().columns;
  if (wanted.find_first_of("*?[") == std::string::npos)
    return {columns[index(run.column_index(wanted))]};
  std::vector<RunColumn> found;
  for (const RunColumn& column : columns)
    if (column.name != "time" && ::fnmatch(wanted.c_str(), column.name.c_str(), 0) == 0)
      found.push_back(column);
  if (found.empty()) throw NameError("'" + run.path() + "' has no column like '" + wanted + "'");
  return found;
}

void plot(const PlotOptions& options) {
  check_ending(options.out, ".svg", "an SVG picture");
  const RunFile run(options.run);
  SvgPlot picture{.title = options.title, .times = run.column("time")};
  for (const std::string& wanted : options.columns)
    for (const RunColumn& column : matching(run, wanted)) {
      const bool known =
          std::any_of(picture.curves.begin(), picture.curves.end(),
                      [&](const SvgCurve& curve) { return curve.name == column.name; });
      if (!known) picture.curves.push_back({column.name, column.unit, run.column(column.name)});
    }
  if (run.rows() == 0) throw Error("'" + options.run + "' has no rows to plot");
  write_text(svg_plot(picture), options.out);
  say_written(options.run, options.out);
}

}  // namespace

void add_plot(CommandLine& line) {
  Command command = line.subcommand("plot", "Plot columns of a run as an SVG picture");
  const auto options = std::make_shared<PlotOptions>();
  command.option("RUN", options->run, "The run: an HDF5 file").required();
  command.option("COLUMN", options->columns, "Names of columns; q.* means all that match")
      .required();
  command.option("-o,--output", options->out, "The picture to write; default: to stdout");
  command.option("--title", options->title, "A title above the picture");
  command.footer(
      "Examples:\n"
      "  catena plot run.h5 q.elbow -o elbow.svg\n"
      "  catena plot run.h5 'q.*' energy.total -o motion.svg --title \"Two links\"\n\n"
      "Columns with the same unit share a frame.");
  command.action([options] { plot(*options); });
}

}  // namespace catena::app
