// SPDX-License-Identifier: BSD-3-Clause
// One table: Catena and the peers that are installed, on the same models and states in one run.
//
// `table --help` tells what can be said. Peers are left out of larger mechanisms (300 freedoms
// unless said otherwise): some keep scratch that grows with the cube of the freedoms, 32 GB at
// 1,000.
//
// Every contender takes a short sample (some 50 µs) in turn, round after round, so that whatever
// the machine does else meets all of them alike; the figure is the median. Before anything is timed
// the results are compared: a peer that computes something else is told and left out.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "sampling.h"
#include "subject.h"

#include "catena/base/cpu.h"
#include "catena/dynamics/batch.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/dynamics/operators/operators.h"
#include "catena/io/load.h"
#include "catena/sensitivity/batch_derivatives.h"
#include "catena/sensitivity/forward_derivatives.h"

namespace {

using namespace catena;
using namespace catena_bench;

constexpr int kStates =
    16;  // that a single-state call goes through, so that nothing is learnt by heart
constexpr int kBatch = 1024;
// A batch of derivatives is as many states (256 at most) as have their matrices in 1 MB.
constexpr int kDerivativeNumbers = 1 << 17;
// Triangles of mass matrices: at most 64 MB, which cuts the batch of the chain of 1,000 only.
constexpr int kTriangleNumbers = 1 << 23;
// Peers that read the same numbers agree to rounding, through conditions of at most 1e6; MuJoCo
// diagonalizes inertias and keeps eight digits.
constexpr double kAgreement = 1e-6;

struct Column {
  std::string title;
  Task task;
  bool batch = false;
};
const std::vector<Column> kAllColumns{
    {"inverse dynamics", Task::inverse},
    {"forward dynamics", Task::forward},
    {"mass matrix", Task::mass_matrix},
    {"inverse mass matrix", Task::inverse_mass_matrix},
    {"forward, batch of 1,024", Task::forward, true},
    {"inverse, batch of 1,024", Task::inverse, true},
    {"mass matrix, batch of 1,024", Task::mass_matrix, true},
    {"kinematics, batch of 1,024", Task::kinematics, true},
    {"derivatives of inverse dynamics", Task::inverse_derivatives},
    {"derivatives of forward dynamics", Task::forward_derivatives},
    {"derivatives of inverse, batch", Task::inverse_derivatives, true},
    {"derivatives of forward, batch", Task::forward_derivatives, true}};

using Columns = std::vector<Column>;

constexpr const char* kHelp =
    R"(table [OPTION ...] [MECHANISM ...] [PLUGIN.so ...]
times Catena beside the peers whose plug-ins are named, on the same states in one run.

  --models TEXT,...     only mechanisms with one of these in their name
  --columns TEXT,...    only columns with one of these in their title
  --batch STATES        of derivatives; otherwise as many (256 at most) as fill 1 MB
  --rounds N            samples of each cell (60)
  --peers-up-to N       no peers beside mechanisms with more freedoms (300)
  --markdown FILE       writes the table there as well
  --base free|as_written  of the files after it
  --help                this

A MECHANISM is a file (.urdf, .sdf, .yaml); with any, the built-in ones are left out.
)";

// Texts between commas; true if one of them is in the name, or if there are none.
bool chosen(const std::string& name, const std::string& texts) {
  std::istringstream in(texts);
  bool any = false;
  for (std::string text; std::getline(in, text, ',');) {
    any = true;
    if (name.find(text) != std::string::npos) return true;
  }
  return !any;
}

// Catena's own: one state at a time, and batches.
struct Ours {
  Ours(const Subject& s, int derivative_batch)
      : subject(s),
        workspace(s.mechanism),
        batch(s.mechanism, {.threads = 1}),
        derivatives(s.mechanism),
        batch_derivatives(s.mechanism, {.threads = 1}) {
    const int n = s.mechanism.freedoms();
    several = derivative_batch > 0
                  ? std::min(derivative_batch, s.count())
                  : std::clamp(kDerivativeNumbers / (3 * n * n), batch.lanes(), 256);
    triangle_count =
        std::min<int>(s.count(), kTriangleNumbers / static_cast<int>(triangle_size(n)));
    for (int k = 0; k < kStates; ++k) {
      states.push_back({s.q.row(k).transpose(), s.v.row(k).transpose()});
      efforts.push_back(s.effort.row(k).transpose());
      accelerations.push_back(s.acceleration.row(k).transpose());
    }
    found.resize(s.count(), s.mechanism.freedoms());
    inverse.resize(s.mechanism.freedoms(), s.mechanism.freedoms());
  }

  void run(Task task, int state) {
    const Mechanism& m = subject.mechanism;
    const auto k = static_cast<std::size_t>(state);
    switch (task) {
      case Task::inverse:
        inverse_dynamics(m, states[k], accelerations[k], workspace);
        break;
      case Task::forward:
        forward_dynamics(m, states[k], efforts[k], workspace);
        break;
      case Task::mass_matrix:
        mass_matrix(m, states[k].q, workspace);
        break;
      case Task::inverse_derivatives:
        inverse_dynamics_derivatives(m, states[k], accelerations[k], derivatives);
        break;
      case Task::forward_derivatives:
        forward_dynamics_derivatives(m, states[k], efforts[k], derivatives);
        break;
      default:
        articulate(m, states[k].q, workspace);
        inverse_mass_matrix(workspace, inverse);
    }
  }
  int batch_size(Task task) const {
    if (task == Task::mass_matrix) return triangle_count;
    return task == Task::inverse_derivatives || task == Task::forward_derivatives ? several
                                                                                  : subject.count();
  }
  // Rows in, rows out; mass matrices (their triangles) and kinematics stay in lanes.
  void run_batch(Task task) {
    const Mechanism& m = subject.mechanism;
    if (task == Task::forward)
      batch_forward_dynamics(m, subject.q, subject.v, subject.effort, batch, found);
    else if (task == Task::inverse)
      batch_inverse_dynamics(m, subject.q, subject.v, subject.acceleration, batch, found);
    else if (task == Task::mass_matrix)
      batch_mass_matrix(m, subject.q.topRows(triangle_count), batch, triangles);
    else if (task == Task::kinematics)
      batch_kinematics(m, subject.q, subject.v, batch, places);
    else if (task == Task::inverse_derivatives)
      batch_derivatives.inverse(subject.q.topRows(several), subject.v.topRows(several),
                                subject.acceleration.topRows(several));
    else
      batch_derivatives.forward(subject.q.topRows(several), subject.v.topRows(several),
                                subject.effort.topRows(several), found.topRows(several));
  }

  const Subject& subject;
  Workspace workspace;
  BatchWorkspace batch;
  SensitivityWorkspace derivatives;
  BatchDerivatives batch_derivatives;
  int several = 1, triangle_count = 1;
  std::vector<State> states;
  std::vector<Eigen::VectorXd> efforts, accelerations;
  Rows found;
  LaneArray triangles;
  BatchKinematics places;
  Eigen::MatrixXd inverse;
};

// The largest difference in units of the largest number, over all states and what can be compared.
double disagreement(Ours& ours, Peer& peer) {
  const Mechanism& m = ours.subject.mechanism;
  const Eigen::Index n = m.freedoms();
  std::vector<double> theirs(static_cast<std::size_t>(n * n));
  double worst = 0.0;
  for (const Task task : {Task::inverse, Task::forward, Task::mass_matrix}) {
    if (!peer.can(task)) continue;
    for (int k = 0; k < kStates; ++k) {
      peer.run(task, k);
      if (!peer.result(task, theirs.data())) break;
      ours.run(task, k);
      const Eigen::MatrixXd own = task == Task::inverse ? Eigen::MatrixXd(ours.workspace.effort)
                                  : task == Task::forward
                                      ? Eigen::MatrixXd(ours.workspace.acceleration)
                                      : ours.workspace.mass_matrix;
      const Eigen::Map<const Eigen::MatrixXd> other(theirs.data(), own.rows(), own.cols());
      worst = std::max(worst, (own - other).cwiseAbs().maxCoeff() / own.cwiseAbs().maxCoeff());
    }
  }
  return worst;
}

std::string nanoseconds(double t) {
  char text[32];
  std::snprintf(text, sizeof text, t < 1e4 ? "%.0f" : "%.3g", t);
  double value = std::strtod(text, nullptr);
  if (value >= 1e4) std::snprintf(text, sizeof text, "%.0f", value);
  return text;
}
std::string ratio(double r) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", r);
  return text;
}

// Medians by contender of one subject and column; ours comes first.
using Cell = std::vector<std::pair<std::string, double>>;

std::vector<Cell> measure(const Subject& subject, const std::vector<Plugin>& plugins,
                          const Columns& kinds, int rounds, int derivative_batch, int peers_up_to) {
  Ours ours(subject, derivative_batch);
  std::vector<std::unique_ptr<Peer>> peers;
  std::vector<std::string> names;
  for (const Plugin& plugin : plugins) {
    if (subject.mechanism.freedoms() > peers_up_to) break;
    std::unique_ptr<Peer> peer = plugin.make(subject);
    if (peer == nullptr) continue;
    const double off = disagreement(ours, *peer);
    std::printf("  %-10s agrees to %.0e\n", plugin.name().c_str(), off);
    if (!(off < kAgreement)) {
      std::printf("  %-10s computes something else and is left out\n", plugin.name().c_str());
      continue;
    }
    names.push_back(plugin.name());
    peers.push_back(std::move(peer));
  }
  std::vector<std::vector<Contender>> columns(kinds.size());
  for (std::size_t c = 0; c < kinds.size(); ++c) {
    const Column& column = kinds[c];
    if (column.batch)
      columns[c].push_back({"Catena", [&ours, &column](int) { ours.run_batch(column.task); },
                            ours.batch_size(column.task)});
    else
      columns[c].push_back(
          {"Catena", [&ours, &column](int k) { ours.run(column.task, k % kStates); }});
    for (std::size_t p = 0; p < peers.size(); ++p)
      if (peers[p]->can(column.task))
        columns[c].push_back({names[p], [peer = peers[p].get(), &column](int k) {
                                peer->run(column.task, k % kStates);
                              }});
  }
  for (auto& column : columns)
    for (Contender& x : column) x.calibrate();
  for (int r = 0; r < rounds; ++r)
    for (auto& column : columns)
      for (Contender& x : column) x.sample();
  std::vector<Cell> cells;
  for (auto& column : columns) {
    cells.emplace_back();
    for (Contender& x : column) cells.back().emplace_back(x.name, median(x.samples));
  }
  return cells;
}

// The fastest peer of a cell, or its end() if there is none beside ours.
Cell::const_iterator fastest_peer(const Cell& cell) {
  return std::min_element(cell.begin() + 1, cell.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
}

void write_heading(const std::string& first, const std::vector<std::string>& titles,
                   std::ostream& out) {
  out << "\n| " << first << " |";
  for (const std::string& title : titles) out << " " << title << " |";
  out << "\n|---|";
  for (std::size_t k = 0; k < titles.size(); ++k) out << "---:|";
  out << "\n";
}

// Two tables with a row for each function and a column for each mechanism: our times, and how much
// longer the fastest peer takes.
void write_summary(const std::vector<std::string>& rows, const Columns& columns,
                   const std::vector<std::vector<Cell>>& cells, std::ostream& out) {
  out << "\n## Time of the fastest other library over ours\n";
  write_heading("function", rows, out);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    out << "| " << columns[c].title << " |";
    for (const std::vector<Cell>& row : cells) {
      const auto best = fastest_peer(row[c]);
      if (best == row[c].end())
        out << " – |";
      else
        out << " " << ratio(best->second / row[c].front().second) << " |";
    }
    out << "\n";
  }
  out << "\n## Ours, in ns\n";
  write_heading("function", rows, out);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    out << "| " << columns[c].title << " |";
    for (const std::vector<Cell>& row : cells)
      out << " " << nanoseconds(row[c].front().second) << " |";
    out << "\n";
  }
}

// One table for each function, with a column for each library.
void write_peers(const std::vector<std::string>& rows, const Columns& columns,
                 const std::vector<std::vector<Cell>>& cells, std::ostream& out) {
  out << "\n## All libraries\n\nns per state, and in brackets the ratio to ours.\n";
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::vector<std::string> names{"Catena"};
    for (const auto& row : cells)
      for (std::size_t k = 1; k < row[c].size(); ++k)
        if (std::find(names.begin(), names.end(), row[c][k].first) == names.end())
          names.push_back(row[c][k].first);
    out << "\n### " << columns[c].title << "\n";
    write_heading("mechanism", names, out);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double own = cells[r][c].front().second;
      out << "| " << rows[r] << " | " << nanoseconds(own) << " |";
      for (std::size_t k = 1; k < names.size(); ++k) {
        const auto found = std::find_if(cells[r][c].begin(), cells[r][c].end(),
                                        [&](const auto& x) { return x.first == names[k]; });
        if (found == cells[r][c].end())
          out << " – |";
        else
          out << " " << nanoseconds(found->second) << " (" << ratio(found->second / own) << ") |";
      }
      out << "\n";
    }
  }
}

void write(const std::vector<std::string>& rows, const Columns& columns,
           const std::vector<std::vector<Cell>>& cells, std::ostream& out) {
  const CpuReport cpu = cpu_report();
  out << "# Speed beside other libraries\n\nOne core of " << cpu.processor << ", kernels for "
      << cpu.used
      << ". Every library takes a short sample in turn, round after round in one run; the figures "
         "are medians, in ns per state. Results are compared before anything is timed. Batches "
         "are loops over the states where a library has none. Written by `make bench`.\n\n"
         "![Time over Catena's](results.svg)\n";
  write_summary(rows, columns, cells, out);
  write_peers(rows, columns, cells, out);
}

}  // namespace

int main(int argc, char** argv) try {
  int rounds = 60, peers_up_to = 300, derivative_batch = 0;
  std::string file, only_models, only_columns;
  LoadSettings settings;
  struct Row {
    std::string name;
    std::function<Mechanism()> make;
  };
  std::vector<Row> rows;
  std::vector<Plugin> plugins;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto ends_with = [](const std::string& text, const std::string& end) {
    return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) throw Error(argument + ": its value is missing");
      return arguments[++i];
    };
    const auto number = [&] {
      const std::string& text = value();
      char* end = nullptr;
      const long result = std::strtol(text.c_str(), &end, 10);
      if (end == text.c_str() || *end != '\0' || result < 1 || result > 1'000'000'000)
        throw Error(argument + ": '" + text + "' is no positive number");
      return static_cast<int>(result);
    };
    if (argument == "--help") {
      std::cout << kHelp;
      return 0;
    }
    if (argument == "--rounds") {
      rounds = number();
    } else if (argument == "--models") {
      only_models = value();
    } else if (argument == "--columns") {
      only_columns = value();
    } else if (argument == "--batch") {
      derivative_batch = number();
    } else if (argument == "--peers-up-to") {
      peers_up_to = number();
    } else if (argument == "--markdown") {
      file = value();
    } else if (argument == "--base") {
      const std::string& base = value();
      if (base != "free" && base != "as_written")
        throw Error("--base: '" + base + "' is neither free nor as_written");
      settings.base = base == "free" ? Base::free : Base::as_written;
    } else if (argument.rfind("--", 0) == 0) {
      throw Error("unknown option " + argument + "; see --help");
    } else if (!ends_with(argument, ".so")) {
      rows.push_back({std::filesystem::path(argument).stem().string(),
                      [argument, settings] { return load(argument, settings); }});
    } else {
      try {
        plugins.emplace_back(argument);
      } catch (const Error& e) {
        std::fprintf(stderr, "left out: %s\n", e.what());
      }
    }
  }
  const std::string models = std::string(CATENA_SOURCE_DIR) + "/models/";
  if (rows.empty())
    rows = {{"arm, 6 axes", [&] { return load(models + "arm6.yaml"); }},
            {"arm, 7 axes", [&] { return load(models + "arm7.yaml"); }},
            {"quadruped, 6 + 12", [&] { return load(models + "quadruped.yaml"); }},
            {"humanoid, 6 + 32", humanoid},
            {"chain of 10", [] { return chain(10); }},
            {"chain of 100", [] { return chain(100); }},
            {"chain of 1,000", [] { return chain(1000); }}};
  Columns columns;
  for (const Column& column : kAllColumns)
    if (chosen(column.title, only_columns)) columns.push_back(column);
  if (columns.empty()) throw Error("--columns: no column has '" + only_columns + "' in its title");
  std::vector<std::string> names;
  std::vector<std::vector<Cell>> cells;
  for (const Row& row : rows) {
    if (!chosen(row.name, only_models)) continue;
    std::printf("%s\n", row.name.c_str());
    std::fflush(stdout);
    const Subject subject(row.name, row.make(), kBatch);
    names.push_back(row.name);
    cells.push_back(measure(subject, plugins, columns, rounds, derivative_batch, peers_up_to));
  }
  if (names.empty()) throw Error("--models: no mechanism has '" + only_models + "' in its name");
  std::ostringstream table;
  write(names, columns, cells, table);
  std::cout << "\n" << table.str();
  if (!file.empty()) {
    std::ofstream out(file);
    out << table.str();
    if (!out.flush()) throw Error("cannot write " + file);
    std::cout << "\nWritten to " << file << "\n";
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
