// SPDX-License-Identifier: BSD-3-Clause
#include "catena/verification/control_case.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "catena/base/error.h"
#include "catena/control/mixsyn.h"
#include "catena/verification/lq_case.h"

namespace catena {

using yaml::Entry;
using yaml::Values;

const StateSpace& ControlProblem::plant() const {
  if (!system) throw Error("this quantity needs 'system:'");
  return *system;
}

const Eigen::MatrixXd& ControlProblem::matrix(const std::string& key) const {
  const auto found = with.find(key);
  if (found == with.end()) throw Error("this quantity needs '" + key + "' under 'with:'");
  return found->second;
}

double ControlProblem::number(const std::string& key) const {
  const Eigen::MatrixXd& m = matrix(key);
  if (m.size() != 1) throw Error("'" + key + "' under 'with:' must be a number");
  return m(0, 0);
}

double ControlProblem::number(const std::string& key, double otherwise) const {
  return with.contains(key) ? number(key) : otherwise;
}

namespace {

// Lines "size n m p" and "A i j value", counted from 1; '#' begins a comment.
StateSpace read_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(path + ": error: cannot be read");
  StateSpace g;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string matrix;
    Eigen::Index i = 0, j = 0, p = 0;
    words >> matrix >> i >> j;
    if (matrix == "size") {
      if (!(words >> p) || i < 1 || j < 1 || p < 1) throw Error(path + ": error: bad size");
      g = ss(Eigen::MatrixXd::Zero(i, i), Eigen::MatrixXd::Zero(i, j), Eigen::MatrixXd::Zero(p, i));
      continue;
    }
    Eigen::MatrixXd& to = matrix == "A" ? g.A : matrix == "B" ? g.B : g.C;
    double value = 0.0;
    if (!(words >> value) || i < 1 || j < 1 || i > to.rows() || j > to.cols())
      throw Error(path + ": error: bad line '" + line + "'");
    to(i - 1, j - 1) = value;
  }
  return g;
}

std::vector<double> as_list(const Eigen::MatrixXd& m) { return {m.data(), m.data() + m.size()}; }

}  // namespace

void read_control_system(Values& values, const yaml::Node& node, const std::string& folder,
                         ControlProblem& to) {
  static const std::vector<std::string> kKeys{"A",         "B",           "C",    "D",   "dt",
                                              "numerator", "denominator", "file", "beam"};
  if (!values.map(node, "a map with A, B, C, or numerator, denominator, or file, or beam")) return;
  values.unknown_keys(node, kKeys);
  std::map<std::string, Eigen::MatrixXd> m;
  for (const std::string& key : kKeys) {
    const Entry* entry = node.find(key);
    if (entry == nullptr || key == "file") continue;
    const Values::Within within(values, key);
    m[key] = read_lq_matrix(values, *entry->value);
  }
  if (values.errors() > 0) return;
  to.system.reset();
  to.beam.resize(0);
  try {
    if (const Entry* file = node.find("file")) {
      std::string name;
      if (values.text(*file->value, name)) to.system = read_table(folder + "/" + name);
    } else if (m.contains("beam")) {
      to.beam = m["beam"];
      if (to.beam.size() != 3) throw Error("beam: must be [length, damping, position]");
    } else if (m.contains("numerator")) {
      to.system = rational_weight(as_list(m["numerator"]), as_list(m["denominator"])).proper;
    } else {
      StateSpace g = ss(m["A"], m["B"], m["C"], m["D"], m.contains("dt") ? m["dt"](0, 0) : 0.0);
      g.validate();
      to.system = g;
    }
  } catch (const Error& e) {
    values.error(node.line, e.what());
  }
}

void read_control_data(Values& values, const yaml::Node& node, ControlProblem& to) {
  if (!values.map(node, "a map of numbers, lists and matrices")) return;
  for (const Entry& entry : node.entries) {
    const Values::Within within(values, entry.key);
    to.with[entry.key] = read_lq_matrix(values, *entry.value);
  }
}

const ControlQuantity* find_control_quantity(const std::string& name) {
  const auto all = control_quantities();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ControlQuantity& q) { return q.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace catena
