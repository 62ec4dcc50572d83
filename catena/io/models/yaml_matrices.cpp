// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/yaml_matrices.h"

#include <filesystem>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/io/models/matrix_file.h"
#include "catena/io/models/yaml_keys.h"

namespace catena::yaml {
namespace {

constexpr const char* kNeeds =
    "a matrix: a list of rows, the name of a .mtx file, or {file: body.h5, dataset: /mass}";

// A file stands beside the model.
std::string beside(const Values& values, const std::string& file) {
  const std::filesystem::path path(file);
  if (path.is_absolute()) return file;
  return (std::filesystem::path(values.file()).parent_path() / path).string();
}

bool read_file(Values& values, const Node& node, Eigen::MatrixXd& result) {
  std::string file, dataset;
  if (node.is_scalar()) {
    if (!values.text(node, file)) return false;
  } else {
    values.unknown_keys(node, keys_of("matrix_file"));
    if (node.find("file") == nullptr) return values.mismatch(node, kNeeds);
    if (!values.text(*node.find("file")->value, file)) return false;
    if (const Entry* entry = node.find("dataset"))
      if (!values.text(*entry->value, dataset)) return false;
  }
  try {
    result = read_matrix_file(beside(values, file), dataset);
  } catch (const Error& e) {
    values.error(node.line, e.what());
    return false;
  }
  return true;
}

bool read_matrix(Values& values, const Node& node, Eigen::MatrixXd& result) {
  if (node.is_scalar() || node.is_map()) return read_file(values, node, result);
  if (!values.list(node, kNeeds)) return false;
  const auto rows = static_cast<Eigen::Index>(node.entries.size());
  std::vector<double> row;
  for (Eigen::Index i = 0; i < rows; ++i) {
    const Node& line = *node.entries[index(i)].value;
    row.clear();
    if (!values.number_or_list(line, row)) return false;
    const auto columns = static_cast<Eigen::Index>(row.size());
    if (i == 0) result.resize(rows, columns);
    if (columns != result.cols()) {
      values.error(line.line, "has " + std::to_string(columns) + " numbers in row " +
                                  std::to_string(i + 1) + " and " + std::to_string(result.cols()) +
                                  " in the first");
      return false;
    }
    for (Eigen::Index j = 0; j < columns; ++j) result(i, j) = row[index(j)];
  }
  return true;
}

void read_matrix_list(Values& values, const Node& node, std::vector<Eigen::MatrixXd>& result) {
  if (!values.list(node, "a list of matrices")) return;
  for (const Entry& entry : node.entries) {
    const Values::Within within(values, std::to_string(result.size() + 1));
    read_matrix(values, *entry.value, result.emplace_back());
  }
}

void read_node_numbers(Values& values, const Node& node, std::vector<int>& result) {
  std::vector<double> numbers;
  if (!values.number_or_list(node, numbers)) return;
  for (const double x : numbers) {
    const int whole = static_cast<int>(x);
    if (static_cast<double>(whole) != x) {
      values.error(node.line, "needs numbers of nodes, 0 for the first, not " + number(x));
      return;
    }
    result.push_back(whole);
  }
}

void read_nodes(Values& values, const Node& node, std::vector<Vec3d>& nodes) {
  Eigen::MatrixXd positions;
  if (!read_matrix(values, node, positions)) return;
  if (positions.cols() != 3) {
    values.error(node.line,
                 "needs three coordinates for each node, not " + std::to_string(positions.cols()));
    return;
  }
  for (Eigen::Index i = 0; i < positions.rows(); ++i)
    nodes.push_back({positions(i, 0), positions(i, 1), positions(i, 2)});
}

std::string written(const Eigen::MatrixXd& a, const std::string& indent) {
  std::string text;
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    text += "\n" + indent + "- [";
    for (Eigen::Index j = 0; j < a.cols(); ++j) text += (j > 0 ? ", " : "") + number(a(i, j));
    text += "]";
  }
  return text + "\n";
}

std::string written(const std::vector<int>& numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
  return text + "]";
}

}  // namespace

void read_matrices(Values& values, const Node& node, MatricesBodySettings& body) {
  if (!values.map(node, "a map with nodes, mass, stiffness, ...")) return;
  values.unknown_keys(node, keys_of("matrices"));
  for (const char* key : {"nodes", "mass", "stiffness", "clamped_nodes"})
    if (node.find(key) == nullptr) values.error(node.line, std::string("needs '") + key + ":'");
  values.with(node, "nodes", [&](const Entry& e) { read_nodes(values, *e.value, body.nodes); });
  values.with(node, "freedoms_per_node",
              [&](const Entry& e) { values.integer(*e.value, body.freedoms_per_node); });
  values.with(node, "mass", [&](const Entry& e) { read_matrix(values, *e.value, body.mass); });
  values.with(node, "stiffness",
              [&](const Entry& e) { read_matrix(values, *e.value, body.stiffness); });
  values.with(node, "damping",
              [&](const Entry& e) { read_matrix(values, *e.value, body.damping); });
  values.with(node, "clamped_nodes",
              [&](const Entry& e) { read_node_numbers(values, *e.value, body.clamped_nodes); });
  values.with(node, "geometric_stiffness", [&](const Entry& e) {
    read_matrix_list(values, *e.value, body.geometric_stiffness);
  });
}

void read_matrix_attachments(Values& values, const Node& node, MatricesBodySettings& body) {
  if (!values.map(node, "a map from attachments to nodes, like {tip: [12]}")) return;
  for (const Entry& entry : node.entries) {
    const Values::Within within(values, entry.key);
    MatricesBodySettings::Attachment attachment;
    attachment.name = entry.key;
    if (entry.value->is_map()) {
      values.unknown_keys(*entry.value, keys_of("matrix_attachment"));
      values.with(*entry.value, "nodes",
                  [&](const Entry& e) { read_node_numbers(values, *e.value, attachment.nodes); });
      values.with(*entry.value, "geometric_stiffness", [&](const Entry& e) {
        read_matrix_list(values, *e.value, attachment.geometric_stiffness);
      });
    } else {
      read_node_numbers(values, *entry.value, attachment.nodes);
    }
    body.attachments.push_back(std::move(attachment));
  }
}

std::string write_matrices(const MatricesBodySettings& body) {
  const std::string key = "        ", rows = "          ", deep = "              ";
  std::string text = "      matrices:\n";
  Eigen::MatrixXd nodes(static_cast<Eigen::Index>(body.nodes.size()), 3);
  for (Eigen::Index i = 0; i < nodes.rows(); ++i)
    for (int c = 0; c < 3; ++c) nodes(i, c) = body.nodes[index(i)][c];
  text += key + "nodes:" + written(nodes, rows);
  text += key + "freedoms_per_node: " + std::to_string(body.freedoms_per_node) + "\n";
  text += key + "mass:" + written(body.mass, rows);
  text += key + "stiffness:" + written(body.stiffness, rows);
  if (body.damping.size() > 0) text += key + "damping:" + written(body.damping, rows);
  text += key + "clamped_nodes: " + written(body.clamped_nodes) + "\n";
  if (!body.geometric_stiffness.empty()) {
    text += key + "geometric_stiffness:\n";
    for (const Eigen::MatrixXd& k : body.geometric_stiffness) text += rows + "-" + written(k, deep);
  }
  if (body.attachments.empty()) return text;
  text += "      attachments:\n";
  for (const MatricesBodySettings::Attachment& a : body.attachments) {
    text += key + "\"" + a.name + "\":\n" + rows + "nodes: " + written(a.nodes) + "\n";
    if (a.geometric_stiffness.empty()) continue;
    text += rows + "geometric_stiffness:\n";
    for (const Eigen::MatrixXd& k : a.geometric_stiffness)
      text += rows + "  -" + written(k, deep + "    ");
  }
  return text;
}

}  // namespace catena::yaml
