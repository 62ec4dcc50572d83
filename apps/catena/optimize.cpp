// SPDX-License-Identifier: BSD-3-Clause
// catena optimize: trajectory optimization, from a problem file to a run.
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/core.h>
#include <unistd.h>

#include "apps/catena/commands.h"
#include "apps/catena/output.h"
#include "apps/catena/progress.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/io/models/yaml.h"
#include "catena/optimal/optimal_run.h"
#include "catena/optimal/problem_file.h"

namespace catena::app {
namespace {

struct OptimizeOptions {
  std::string problem, out, warm, result;
  std::optional<double> time_limit, tolerance, spread;
  std::optional<int> starts, iterations;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> solver;
  bool json = false, quiet = false, no_run = false;
};

std::string human(const MotionProblem& p, const OptimalMotion& r) {
  std::string text = fmt::format(
      "{}\n"
      "cost              {:.10g} (guess: {})\n",
      r.message, r.cost, std::isnan(r.guess_cost) ? "no motion" : pretty(r.guess_cost));
  Table parts({{"of which"}, {"", true}});
  for (std::size_t i = 0; i < r.part_names.size(); ++i)
    parts.add({r.part_names[i], fmt::format("{:.10g}", r.parts[static_cast<Eigen::Index>(i)])});
  if (r.part_names.size() > 1) text += parts.text(2);
  text +=
      fmt::format("on a finer grid   {:.10g} ({:+.1e}), the end {:.1e} away\n", r.refined_cost,
                  (r.refined_cost - r.cost) / std::max(std::abs(r.cost), 1e-300), r.refined_change);
  text += fmt::format("duration          {:.8g} s\n", r.duration);
  if (r.violation > 0.0)
    text += fmt::format("conditions        kept to {:.1e}{}\n", r.violation,
                        r.worst.empty() ? "" : " (" + r.worst + ")");
  if (r.overshoot > 0.0)
    text += fmt::format("bounds            exceeded by {:.1e} between the points\n", r.overshoot);
  text += fmt::format("gradient          {:.1e}\n", r.stationarity);
  text +=
      fmt::format("search            {} with {} unknowns: {} iterations, {} motions, {:.3g} s\n",
                  r.solver == Solver::ipopt ? "ipopt" : "levenberg-marquardt", r.variables.size(),
                  r.iterations, r.evaluations, r.wall_time);
  Table table({{"at the end"}, {"position", true}, {"velocity", true}});
  const Mechanism& m = *p.mechanism;
  for (int i = 0; i < m.freedoms(); ++i) {
    const int c = m.coordinate_of_freedom()[index(i)];
    table.add({m.velocity_names()[index(i)], c < 0 ? "" : fmt::format("{:.9g}", r.final_state.q[c]),
               fmt::format("{:.9g}", r.final_state.v[i])});
  }
  text += table.text(2);
  if (!r.minima.empty() && (r.minima.size() > 1 || r.minima[0].starts > 1)) {
    Table minima({{"minimum"}, {"starts", true}});
    for (const Minimum& x : r.minima)
      minima.add({fmt::format("{:.9g}", x.cost), std::to_string(x.starts)});
    text += minima.text(2);
  }
  return text;
}

std::string run_name(const OptimizeOptions& o) {
  return !o.out.empty() ? o.out : std::filesystem::path(o.problem).stem().string() + ".run.h5";
}

// Checked before a long search, not after it.
void check_folder(const std::string& file) {
  check_named(file);
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder))
    throw Error(file + ": cannot be written: there is no folder '" + folder.string() + "'");
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
    throw Error(file + ": cannot be written: no permission to write into its folder");
}

// The motion as a run, and remarks on it.
std::string record(const OptimizeOptions& o, const ProblemFile& file, const OptimalMotion& motion,
                   const std::string& result) {
  const std::string out = run_name(o);
  std::unique_ptr<Recorder> recorder;
  if (out.ends_with(".csv")) {
    recorder = std::make_unique<CsvRecorder>(out);
  } else {
    RunHeader header;
    header.kind = "optimization";
    header.model_yaml = write_yaml(file.mechanism->description());
    header.model_path = file.model_path;
    Json settings;
    settings["problem"] = o.problem;
    settings["result"] = Json::parse(result).value();
    header.settings_json = settings.dump();
    recorder = std::make_unique<RunRecorder>(out, std::move(header), true);
  }
  Replay replay;
  try {
    replay = record_motion(file.problem, motion, *recorder);
  } catch (const NumericalError& e) {
    throw Error(out + ": has the motion only as far as it can be simulated: " + e.what());
  }
  if (o.json) return "";
  std::string text =
      fmt::format("simulated again   ends {:.1e} away (dop853 at 1e-10)\n", replay.difference);
  if (!replay.with_guess) text += "guess             cannot be simulated; not recorded\n";
  return text + fmt::format("output            {} ({} rows)\n", out, replay.result.rows);
}

void optimize(const OptimizeOptions& o) {
  if (!o.no_run) check_folder(run_name(o));
  if (!o.result.empty()) check_folder(o.result);
  ProblemFile file = read_problem_file(o.problem);
  for (const Diagnostic& d : file.mechanism->warnings()) fmt::print(stderr, "{}\n", d.text());
  SolverSettings& s = file.solver;
  if (o.time_limit) s.time_limit = *o.time_limit;
  if (o.tolerance) s.tolerance = *o.tolerance;
  if (o.spread) s.spread = *o.spread;
  if (o.starts) s.starts = *o.starts;
  if (o.iterations) s.iterations = *o.iterations;
  if (o.seed) s.seed = *o.seed;
  if (o.solver)
    for (std::size_t i = 0; i < solver_names().size(); ++i)
      if (solver_names()[i] == *o.solver) s.solver = static_cast<Solver>(i);
  if (!o.warm.empty()) warm_start(o.warm, file.problem);

  // A line for each iteration on a terminal; Ctrl-C ends the search with the best motion so far.
  Progress interrupts(1.0, false);
  const bool table = !o.quiet && isatty(STDERR_FILENO) != 0;
  int lines = 0;
  s.progress = [&](const SolverProgress& p) {
    if (table) {
      if (lines++ % 25 == 0)
        fmt::print(stderr, "{:>5} {:>5} {:>16} {:>10} {:>10} {:>10} {:>8}\n", "start", "iter",
                   "cost", "violation", "gradient", "step", "motions");
      fmt::print(stderr, "{:>5} {:>5} {:>16.9g} {:>10.2e} {:>10.2e} {:>10.2e} {:>8}\n", p.start + 1,
                 p.iteration, p.cost, p.violation, p.stationarity, p.step, p.evaluations);
    }
    return !interrupts.interrupted();
  };
  const OptimalMotion motion = solve(file.problem, s);
  const std::string result = result_json(file.problem, motion);

  // The result is printed and kept, converged or not, even if a file cannot be written.
  std::string text = o.json ? result + "\n" : human(file.problem, motion);
  std::string trouble;
  const auto attempt = [&](auto write) {
    try {
      write();
    } catch (const Error& e) {
      trouble += (trouble.empty() ? "" : "\n") + std::string("catena optimize: ") + e.what();
    }
  };
  if (!o.result.empty()) attempt([&] { write_text(result + "\n", o.result); });
  if (!o.no_run) attempt([&] { text += record(o, file, motion, result); });
  write_text(text, "");
  if (!trouble.empty()) fmt::print(stderr, "{}\n", trouble);
  if (!motion.converged)
    fmt::print(stderr, "catena optimize: {}{}\n", motion.message,
               motion.feasible ? "; the best motion found was kept"
                               : "; the motion that was kept breaks conditions");
  if (!motion.converged || !trouble.empty()) throw Failed();
}

}  // namespace

void add_optimize(CommandLine& line) {
  Command command =
      line.subcommand("optimize", "Trajectory optimization: find the motion of least cost");
  const auto options = std::make_shared<OptimizeOptions>();
  OptimizeOptions& o = *options;
  command.option("problem", o.problem, "The problem (YAML; docs/optimize.md)")
      .placeholder("PROBLEM")
      .required();
  command
      .option("-o,--output", o.out,
              "The run to write, guess beside optimum: HDF5, or a table if it ends in .csv "
              "(default: PROBLEM.run.h5 here)")
      .placeholder("RUN");
  command.file("--result", o.result, "Write the result as JSON too");
  command.file("--warm", o.warm,
               "Start from the result of an earlier catena optimize, a run or JSON");
  command.option("--solver", o.solver, "auto, lm (Levenberg-Marquardt) or ipopt")
      .one_of(solver_names());
  command.option("--time-limit", o.time_limit, "Stop with the best motion after this long, in s")
      .placeholder("S");
  command.option("--iterations", o.iterations, "Largest number of iterations (default: 500)")
      .placeholder("N");
  command.option("--tolerance", o.tolerance, "Relative tolerance of the cost (default: 1e-9)")
      .placeholder("X");
  command.option("--starts", o.starts, "Number of starting points; the minima found are listed")
      .placeholder("N");
  command.option("--seed", o.seed, "Seed of the further starts (default: 1)").placeholder("N");
  command.option("--spread", o.spread, "How far the further starts are from the guess (default: 1)")
      .placeholder("X");
  command.flag("--no-run", o.no_run, "Write no run");
  command.flag("--json", o.json, "Print JSON");
  command.flag("-q,--quiet", o.quiet, "No table of the iterations");
  command.footer(
      "Examples:\n"
      "  catena optimize examples/problems/acrobot.yaml -o acrobot.h5\n"
      "  catena optimize examples/problems/two_link_arm.yaml --starts 20 --json\n\n"
      "The best motion is written as a run, with the guess beside it (guess.q.* beside q.*);\n"
      "catena report, view and plot show it. Exit 1 if the search ends without an optimum; the\n"
      "best motion is still written. The result is a local optimum: try --starts 20.");
  command.action([options] { optimize(*options); });
}

}  // namespace catena::app
