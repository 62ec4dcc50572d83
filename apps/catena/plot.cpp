// SPDX-License-Identifier: BSD-3-Clause
// catena plot: columns of a run as a picture.
#include <algorithm>
#include <map>
#include <memory>

#include <fmt/core.h>
#include <fnmatch.h>

#include "apps/catena/commands.h"
#include "apps/catena/output.h"
#include "apps/catena/report/report_data.h"
#include "apps/catena/report/report_series.h"
#include "catena/io/runs/result_columns.h"
#include "catena/io/runs/svg_plot.h"

namespace catena::app {
namespace {

struct PlotOptions {
  std::string run;
  std::vector<std::string> columns;
  std::string out;
  std::string title;
};

// Recorded columns, and the deflections of flexible bodies, which follow from them.
class Columns {
 public:
  explicit Columns(const ResultColumns& results) : results_(results), all_(results.columns()) {
    if (results.run() == nullptr) return;
    if (const RunMechanism model = mechanism_of(*results.run());
        model.mechanism && model.mechanism->has_flexible_bodies())
      add_deflections(*results.run(), *model.mechanism);
  }

  // The columns that match a name or a pattern such as q.*.
  std::vector<RunColumn> matching(const std::string& wanted) const {
    std::vector<RunColumn> found;
    for (const RunColumn& column : all_)
      if (column.name == wanted ||
          (column.name != "time" && ::fnmatch(wanted.c_str(), column.name.c_str(), 0) == 0))
        found.push_back(column);
    if (!found.empty()) return found;
    if (wanted.find_first_of("*?[") == std::string::npos) results_.column(wanted);  // suggests
    throw NameError("'" + results_.path() + "' has no column like '" + wanted + "'");
  }

  Eigen::VectorXd values(const std::string& name) const {
    const auto derived = deflections_.find(name);
    return derived != deflections_.end() ? derived->second : results_.column(name);
  }

 private:
  void add_deflections(const RunFile& run, const Mechanism& mechanism) {
    DeflectionColumns deflections(run, mechanism);
    const RunRows rows = run.read(0, run.rows());
    for (const RunColumn& column : deflections.columns()) {
      all_.push_back(column);
      deflections_[column.name].resize(rows.rows());
    }
    std::vector<double> row;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      row.clear();
      deflections.append(rows.row(i), row);
      for (std::size_t k = 0; k < row.size(); ++k)
        deflections_[deflections.columns()[k].name][i] = row[k];
    }
  }

  const ResultColumns& results_;
  std::vector<RunColumn> all_;
  std::map<std::string, Eigen::VectorXd> deflections_;
};

void plot(const PlotOptions& options) {
  check_ending(options.out, ".svg", "an SVG picture");
  const ResultColumns run(options.run);
  SvgPlot picture{.title = options.title, .times = run.column("time")};
  const Columns columns(run);
  for (const std::string& wanted : options.columns)
    for (const RunColumn& column : columns.matching(wanted)) {
      const bool known =
          std::any_of(picture.curves.begin(), picture.curves.end(),
                      [&](const SvgCurve& curve) { return curve.name == column.name; });
      if (!known) picture.curves.push_back({column.name, column.unit, columns.values(column.name)});
    }
  if (run.rows() == 0) throw Error("'" + options.run + "' has no rows to plot");
  write_text(svg_plot(picture), options.out);
  say_written(options.run, options.out);
}

}  // namespace

void add_plot(CommandLine& line) {
  Command command = line.subcommand("plot", "Plot columns of a run as an SVG picture");
  const auto options = std::make_shared<PlotOptions>();
  command.option("RUN", options->run, "The run: an HDF5 file, or a table (.csv)").required();
  command.option("COLUMN", options->columns, "Names of columns; q.* means all that match")
      .required();
  command.option("-o,--output", options->out, "The picture to write; default: to stdout");
  command.option("--title", options->title, "A title above the picture");
  command.footer(
      "Examples:\n"
      "  catena plot run.h5 q.elbow -o elbow.svg\n"
      "  catena plot run.h5 'q.*' energy.total -o motion.svg --title \"Two links\"\n\n"
      "Columns with the same unit share a frame. Runs of flexible bodies also have the "
      "deflections\n"
      "of their attachments: deflection.boom.tip.y.");
  command.action([options] { plot(*options); });
}

}  // namespace catena::app
