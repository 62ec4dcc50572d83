// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/files/system_yaml.h"

#include <algorithm>
#include <cctype>

#include "catena/base/text.h"
#include "catena/io/text_file.h"
#include "catena/linear/files/system_file.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr const char* kVersionKey = "linear system";
const std::vector<std::string>& system_keys() {
  static const std::vector<std::string> keys = {"dt",
                                                "A",
                                                "B",
                                                "C",
                                                "D",
                                                "E",
                                                "states",
                                                "inputs",
                                                "outputs",
                                                "state_units",
                                                "input_units",
                                                "output_units",
                                                "input_delay",
                                                "output_delay",
                                                "operating point"};
  return keys;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string names_line(const std::vector<std::string>& names) {
  std::string line = "[";
  for (const std::string& name : names) line += (line.size() > 1 ? ", " : "") + quoted(name);
  return line + "]";
}

std::string numbers_line(const VectorXd& values) {
  std::string line = "[";
  for (const double value : values) line += (line.size() > 1 ? ", " : "") + number(value);
  return line + "]";
}

// `front`: of the place of an entry in messages, "2, " in row 2.
bool read_vector(const yaml::Node& node, yaml::Values& values, VectorXd& result,
                 const std::string& front = "") {
  if (!values.list(node, "a list of numbers")) return false;
  VectorXd numbers(std::ssize(node.entries));
  bool right = true;
  for (Eigen::Index i = 0; i < numbers.size(); ++i) {
    const yaml::Node& entry = *node.entries[static_cast<std::size_t>(i)].value;
    const yaml::Values::Within within(values, "entry (" + front + std::to_string(i + 1) + ")");
    right = values.number(entry, numbers[i]) && right;
  }
  if (right) result = numbers;
  return right;
}

void read_point(const yaml::Node& map, yaml::Values& values, StateSpace& system) {
  values.with(map, "operating point", [&](const yaml::Entry& entry) {
    const yaml::Node& node = *entry.value;
    if (!values.map(node, "a map of mechanism, q, v, x0, u0, y0")) return;
    static const std::vector<std::string> keys = {"mechanism", "q", "v", "x0", "u0", "y0"};
    values.unknown_keys(node, keys);
    SystemPoint point;
    values.with(node, "mechanism",
                [&](const yaml::Entry& e) { values.text(*e.value, point.mechanism); });
    const std::pair<const char*, VectorXd*> vectors[] = {
        {"q", &point.q}, {"v", &point.v}, {"x0", &point.x0}, {"u0", &point.u0}, {"y0", &point.y0}};
    for (const auto& [key, to] : vectors)
      values.with(node, key, [&](const yaml::Entry& e) { read_vector(*e.value, values, *to); });
    system.point = point;
  });
}

// B with as many rows, C with as many columns as A; an empty row means no inputs (outputs).
void check_beside_states(const yaml::Node& map, yaml::Values& values, StateSpace& s) {
  const Eigen::Index n = s.A.rows();
  if (s.B.cols() == 0) s.B.resize(0, 0);
  if (s.C.cols() == 0) s.C.resize(0, 0);
  const auto check = [&](const char* key, const MatrixXd& m, Eigen::Index found,
                         const char* lines) {
    const yaml::Entry* entry = map.find(key);
    if (entry != nullptr && m.size() > 0 && found != n)
      values.error(entry->line, std::string(key) + " is " + std::to_string(m.rows()) + " x " +
                                    std::to_string(m.cols()) + "; it must have as many " + lines +
                                    " as A: " + std::to_string(n));
  };
  check("B", s.B, s.B.rows(), "rows");
  check("C", s.C, s.C.cols(), "columns");
}

// The line of the field that a message speaks of first.
int line_of_field(const yaml::Node& map, const std::string& message) {
  std::string word;
  for (const char c : message + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
      continue;
    }
    if (const yaml::Entry* entry = map.find(word)) return entry->line;
    word.clear();
  }
  const yaml::Entry* point = map.find("operating point");
  return point != nullptr && message.find("operating point") != std::string::npos ? point->line
                                                                                  : map.line;
}

// Sizes that an empty list cannot say.
void complete_sizes(StateSpace& s) {
  const Eigen::Index n = s.A.rows();
  const Eigen::Index m =
      s.D.size() > 0 ? s.D.cols() : std::max<Eigen::Index>(s.B.cols(), std::ssize(s.inputs));
  const Eigen::Index p =
      s.D.size() > 0 ? s.D.rows() : std::max<Eigen::Index>(s.C.rows(), std::ssize(s.outputs));
  if (s.B.size() == 0) s.B = MatrixXd::Zero(n, m);
  if (s.C.size() == 0) s.C = MatrixXd::Zero(p, n);
  if (s.D.size() == 0) s.D = MatrixXd::Zero(p, m);
}

}  // namespace

bool read_matrix_rows(const yaml::Node& node, yaml::Values& values, Eigen::MatrixXd& result) {
  if (!values.list(node, "a list of rows, such as [[1, 0], [0, 1]]")) return false;
  const Eigen::Index rows = std::ssize(node.entries);
  Eigen::Index cols = -1;
  bool right = true;
  for (Eigen::Index i = 0; i < rows; ++i) {
    const yaml::Node& row = *node.entries[static_cast<std::size_t>(i)].value;
    VectorXd numbers;
    if (!read_vector(row, values, numbers, std::to_string(i + 1) + ", ")) {
      right = false;
      continue;
    }
    if (cols < 0) {
      cols = numbers.size();
      result.resize(rows, cols);
    }
    if (numbers.size() != cols) {
      values.error(row.line, "row " + std::to_string(i + 1) + " has " +
                                 std::to_string(numbers.size()) + " numbers, the first has " +
                                 std::to_string(cols));
      right = false;
      continue;
    }
    result.row(i) = numbers.transpose();
  }
  if (rows == 0) result.resize(0, 0);
  return right;
}

void read_name_list(const yaml::Node& map, const char* key, yaml::Values& values,
                    std::vector<std::string>& names) {
  values.with(map, key, [&](const yaml::Entry& entry) {
    if (!values.list(*entry.value, "a list of names")) return;
    for (const yaml::Entry& item : entry.value->entries) {
      std::string name;
      if (item.value->is_null())
        names.emplace_back();
      else if (values.text(*item.value, name))
        names.push_back(name);
    }
  });
}

StateSpace read_system(const yaml::Node& map, yaml::Values& values,
                       const std::vector<std::string>& others) {
  StateSpace system;
  if (!values.map(map, "a map of A, B, C, D")) return system;
  std::vector<std::string> known = system_keys();
  known.insert(known.end(), others.begin(), others.end());
  values.unknown_keys(map, known);
  const int errors = values.errors();
  values.with(map, "dt", [&](const yaml::Entry& e) { values.number(*e.value, system.dt); });
  const std::pair<const char*, MatrixXd*> matrices[] = {
      {"A", &system.A}, {"B", &system.B}, {"C", &system.C}, {"D", &system.D}, {"E", &system.E}};
  for (const auto& [key, to] : matrices)
    values.with(map, key, [&](const yaml::Entry& e) { read_matrix_rows(*e.value, values, *to); });
  if (!map.find("A") && !map.find("D"))
    values.error(map.line, "a linear system needs A, B and C, or D alone (a gain)");
  for (const char* key : {"B", "C"})
    if (map.find("A") && system.A.size() > 0 && !map.find(key))
      values.error(map.line, std::string("a linear system with A needs ") + key);
  read_name_list(map, "states", values, system.states);
  read_name_list(map, "inputs", values, system.inputs);
  read_name_list(map, "outputs", values, system.outputs);
  read_name_list(map, "state_units", values, system.state_units);
  read_name_list(map, "input_units", values, system.input_units);
  read_name_list(map, "output_units", values, system.output_units);
  values.with(map, "input_delay",
              [&](const yaml::Entry& e) { read_vector(*e.value, values, system.input_delay); });
  values.with(map, "output_delay",
              [&](const yaml::Entry& e) { read_vector(*e.value, values, system.output_delay); });
  read_point(map, values, system);
  if (values.errors() > errors) return system;
  check_beside_states(map, values, system);
  if (values.errors() > errors) return system;
  complete_sizes(system);
  try {
    system.validate();
    system.fill_names();
  } catch (const Error& e) {
    values.error(line_of_field(map, e.what()), e.what());
  }
  return system;
}

std::string system_lines(const StateSpace& system, int indent) {
  const std::string front(static_cast<std::size_t>(indent), ' ');
  std::string text;
  const auto line = [&](const char* key, const std::string& value) {
    text += front + key + ": " + value + "\n";
  };
  const auto matrix = [&](const char* key, const MatrixXd& a) {
    if (a.size() == 0) return;
    text += front + key + ":\n";
    for (Eigen::Index i = 0; i < a.rows(); ++i)
      text += front + "  - " + numbers_line(a.row(i).transpose()) + "\n";
  };
  const auto names = [&](const char* key, const std::vector<std::string>& list) {
    if (!list.empty()) line(key, names_line(list));
  };
  const auto vector = [&](const char* key, const VectorXd& v) {
    if (v.size() > 0) line(key, numbers_line(v));
  };
  line("dt", number(system.dt));
  names("states", system.states);
  names("inputs", system.inputs);
  names("outputs", system.outputs);
  names("state_units", system.state_units);
  names("input_units", system.input_units);
  names("output_units", system.output_units);
  matrix("A", system.A);
  matrix("B", system.B);
  matrix("C", system.C);
  matrix("D", system.D);
  matrix("E", system.E);
  vector("input_delay", system.input_delay);
  vector("output_delay", system.output_delay);
  if (!system.point) return text;
  text += front + "operating point:\n";
  const std::string deeper = front + "  ";
  const SystemPoint& p = *system.point;
  text += deeper + "mechanism: " + quoted(p.mechanism) + "\n";
  const std::pair<const char*, const VectorXd*> vectors[] = {
      {"q", &p.q}, {"v", &p.v}, {"x0", &p.x0}, {"u0", &p.u0}, {"y0", &p.y0}};
  for (const auto& [key, v] : vectors)
    if (v->size() > 0) text += deeper + key + ": " + numbers_line(*v) + "\n";
  return text;
}

StateSpace system_from_yaml(const std::string& text, const std::string& file_name) {
  std::vector<Diagnostic> diagnostics;
  const yaml::Tree tree = yaml::parse(text, file_name, diagnostics);
  const auto refuse_errors = [&] {
    for (const Diagnostic& d : diagnostics)
      if (d.severity == Severity::error) throw ModelError(diagnostics);
  };
  refuse_errors();
  if (!tree.root)
    throw ModelError(
        {{Severity::error, {file_name, 1}, "the file is empty; a linear system needs A, B, C, D"}});
  yaml::Values values(file_name, diagnostics);
  const StateSpace system = read_system(*tree.root, values, {kVersionKey});
  if (tree.root->is_map())
    values.with(*tree.root, kVersionKey, [&](const yaml::Entry& e) {
      int version = 1;
      if (values.integer(*e.value, version) && version != 1)
        values.error(e.line,
                     "version " + std::to_string(version) + " is not known; this program reads 1");
    });
  refuse_errors();
  return system;
}

std::string system_to_yaml(const StateSpace& system) {
  system.validate();
  return "# E x' = A x + B u, y = C x + D u (dt > 0: x at the next sample).\n" +
         std::string(kVersionKey) + ": 1\n" + system_lines(system, 0);
}

}  // namespace catena
