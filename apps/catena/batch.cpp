// SPDX-License-Identifier: BSD-3-Clause
// catena batch: dynamics of many states, from a table to a table.
#include "catena/dynamics/batch.h"

#include <chrono>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/commands.h"
#include "apps/catena/model_options.h"
#include "apps/catena/output.h"
#include "catena/base/cpu.h"
#include "catena/base/index.h"
#include "catena/io/runs/csv.h"
#include "catena/sensitivity/batch_derivatives.h"

namespace catena::app {
namespace {

struct BatchOptions {
  ModelOptions model;
  std::string states;
  std::string what = "forward";
  int threads = 0;
  bool json = false;
  std::string out;
};

// Columns q.NAME, v.NAME, effort.NAME and acceleration.NAME, as in a simulation's table; missing
// values are those of the model's initial state, or zero.
struct Input {
  RowMatrix q, v, effort, acceleration;
  std::vector<std::string> ignored;
};

Input read_input(const Mechanism& m, const CsvTable& table) {
  const Eigen::Index rows = table.values.rows();
  Input in;
  in.q = m.default_state().q.transpose().replicate(rows, 1);
  in.v = m.default_state().v.transpose().replicate(rows, 1);
  in.effort = RowMatrix::Zero(rows, m.freedoms());
  in.acceleration = in.effort;
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    const std::string& name = table.names[i];
    const auto column = table.values.col(static_cast<Eigen::Index>(i));
    const auto after = [&](const char* prefix) {
      const std::string start(prefix);
      return name.rfind(start, 0) == 0 ? name.substr(start.size()) : std::string();
    };
    if (const std::string own = after("q."); !own.empty())
      in.q.col(m.position_index(own)) = column;
    else if (const std::string rate = after("v."); !rate.empty())
      in.v.col(m.velocity_index(rate)) = column;
    else if (const std::string effort = after("effort."); !effort.empty())
      in.effort.col(m.velocity_index(effort)) = column;
    else if (const std::string a = after("acceleration."); !a.empty())
      in.acceleration.col(m.velocity_index(a)) = column;
    else if (name != "time")
      in.ignored.push_back(name);
  }
  return in;
}

std::vector<std::string> prefixed(const char* prefix, std::span<const std::string> names) {
  std::vector<std::string> result;
  for (const std::string& name : names) result.push_back(prefix + name);
  return result;
}

// Three matrices column by column, as BatchDerivatives leaves them:
// "acceleration.elbow/q.shoulder".
std::vector<std::string> derivative_names(const Mechanism& m, const std::string& of,
                                          const std::vector<std::string>& by) {
  std::vector<std::string> names;
  for (const std::string& part : by)
    for (const std::string& column : m.velocity_names())
      for (const std::string& row : m.velocity_names())
        names.push_back(fmt::format("{}.{}/{}.{}", of, row, part, column));
  return names;
}

// One row for each state, and the names of its columns.
struct Results {
  std::vector<std::string> names;
  RowMatrix rows;
};

Results derivative_table(const Mechanism& m, const Input& in, bool forward,
                         BatchDerivatives& derivatives) {
  RowMatrix rows(in.q.rows(), 3 * static_cast<Eigen::Index>(m.freedoms()) * m.freedoms());
  if (!forward) {
    derivatives.inverse(in.q, in.v, in.acceleration, rows);
    return {derivative_names(m, "effort", {"q", "v", "acceleration"}), std::move(rows)};
  }
  RowMatrix acceleration(in.q.rows(), m.freedoms());
  derivatives.forward(in.q, in.v, in.effort, acceleration, rows);
  return {derivative_names(m, "acceleration", {"q", "v", "effort"}), std::move(rows)};
}

Results pose_table(const Mechanism& m, const Input& in, BatchWorkspace& w) {
  Results table;
  table.rows.resize(in.q.rows(), 12 * static_cast<Eigen::Index>(m.bodies().size()));
  batch_kinematics(m, in.q, w, table.rows);
  for (const BodyPlace& body : m.bodies()) {
    for (const char* entry : {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"})
      table.names.push_back(body.name + ".r" + entry);
    for (const char* entry : {".x", ".y", ".z"}) table.names.push_back(body.name + entry);
  }
  return table;
}

Results mass_table(const Mechanism& m, const Input& in, BatchWorkspace& w) {
  LaneArray triangles;
  batch_mass_matrix(m, in.q, w, triangles);
  Results table;
  table.rows.resize(in.q.rows(), triangles.count());
  for (Eigen::Index i = 0; i < table.rows.rows(); ++i)
    for (Eigen::Index k = 0; k < table.rows.cols(); ++k) table.rows(i, k) = triangles(i, k);
  const auto name = [&](std::size_t j) { return m.velocity_names()[index(w.independent()[j])]; };
  for (std::size_t i = 0; i < w.independent().size(); ++i)
    for (std::size_t k = 0; k <= i; ++k) table.names.push_back("mass." + name(i) + "." + name(k));
  return table;
}

Results evaluate(const Mechanism& m, const Input& in, const std::string& what, BatchWorkspace& w,
                 BatchDerivatives* derivatives) {
  if (derivatives != nullptr)
    return derivative_table(m, in, what == "forward-derivatives", *derivatives);
  if (what == "poses") return pose_table(m, in, w);
  if (what == "mass-matrix") return mass_table(m, in, w);
  RowMatrix rows(in.q.rows(), m.freedoms());
  if (what == "forward") {
    batch_forward_dynamics(m, in.q, in.v, in.effort, w, rows);
    return {prefixed("acceleration.", m.velocity_names()), std::move(rows)};
  }
  batch_inverse_dynamics(m, in.q, in.v, in.acceleration, w, rows);
  return {prefixed("effort.", m.velocity_names()), std::move(rows)};
}

// States that failed on stderr, the summary on stdout.
void report(const BatchOptions& options, const BatchWorkspace& w, Eigen::Index states,
            double seconds) {
  Json failed = Json::array();
  for (Eigen::Index i = 0; i < states; ++i) {
    const StateReport& state = w.reports()[index(i)];
    if (state.status == BatchStatus::ok) continue;
    fmt::print(stderr, "{}: {}\n", options.states, w.message(i));
    failed.push_back(
        {{"state", i}, {"status", to_string(state.status)}, {"message", w.message(i)}});
  }
  if (!options.json) {
    fmt::print("{} states, {} failed, in {:.3g} ms ({} threads, {} states at a time, {})\n{}\n",
               states, w.failures(), 1e3 * seconds, w.threads(), w.lanes(), cpu_report().used,
               options.out);
    return;
  }
  Json json;
  json["states"] = states;
  json["failures"] = w.failures();
  json["failed"] = std::move(failed);
  json["threads"] = w.threads();
  json["lanes"] = w.lanes();
  json["instruction_set"] = cpu_report().used;
  json["wall_time"] = seconds;
  json["output"] = options.out;
  fmt::print("{}\n", json.dump(2));
}

void batch(const BatchOptions& options) {
  const CsvTable states = read_csv(options.states);
  const Mechanism m = options.model.load({.signals = states.names});
  print_warnings(m);
  const Input in = read_input(m, states);
  for (const std::string& name : in.ignored)
    fmt::print(
        stderr,
        "{}: column '{}' is ignored; q.NAME, v.NAME, effort.NAME and acceleration.NAME are read\n",
        options.states, name);
  std::unique_ptr<BatchDerivatives> derivatives;
  if (options.what.ends_with("-derivatives"))
    derivatives = std::make_unique<BatchDerivatives>(m, BatchSettings{.threads = options.threads});
  BatchWorkspace own(m, {.threads = derivatives ? 1 : options.threads});
  BatchWorkspace& w = derivatives ? derivatives->workspace() : own;
  const auto start = std::chrono::steady_clock::now();
  const Results found = evaluate(m, in, options.what, w, derivatives.get());
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  check_named(options.out);
  CsvWriter writer(options.out, found.names);
  for (Eigen::Index i = 0; i < found.rows.rows(); ++i)
    writer.append({found.rows.row(i).data(), to_size(found.rows.cols())});
  writer.close();
  report(options, w, in.q.rows(), seconds);
  if (w.failures() > 0) throw Failed();
}

}  // namespace

void add_batch(CommandLine& line) {
  Command command = line.subcommand("batch", "Dynamics of many states, from a table to a table");
  const auto options = std::make_shared<BatchOptions>();
  options->model.add(command);
  command
      .option("--states", options->states,
              "CSV with one state per row: columns q.NAME, v.NAME, effort.NAME, "
              "acceleration.NAME")
      .required()
      .existing_file()
      .placeholder("FILE");
  command.option("--what", options->what, "What to compute")
      .one_of({"forward", "inverse", "mass-matrix", "poses", "forward-derivatives",
               "inverse-derivatives"})
      .show_default();
  command.option("--threads", options->threads, "0: all").non_negative().show_default();
  command.flag("--json", options->json, "Print a summary as JSON");
  command.option("-o,--output", options->out, "Write the results to this CSV file")
      .required()
      .placeholder("FILE");
  command.footer(
      "Examples:\n"
      "  catena simulate models/arm6.yaml --duration 1 -o run.csv\n"
      "  catena batch models/arm6.yaml --states run.csv -o accelerations.csv\n"
      "  catena batch models/arm6.yaml --states run.csv --what mass-matrix -o masses.csv --json\n\n"
      "A state that cannot be evaluated is reported on stderr, its row is NaN, and the exit code "
      "is "
      "1;\n"
      "all others are computed.");
  command.action([options] { batch(*options); });
}

}  // namespace catena::app
