// SPDX-License-Identifier: BSD-3-Clause
#include "catena/verification/lq_case.h"

#include <utility>

#include "catena/base/error.h"

namespace catena {
namespace {

using yaml::Entry;
using yaml::Values;

template <class T>
Eigen::MatrixXd entry(const std::vector<T>& all, std::size_t k) {
  if (k >= all.size())
    throw Error("there is no number " + std::to_string(k) + ": it has 0 to " +
                std::to_string(all.size() - 1));
  return all[k];
}

const std::vector<LqQuantity>& lq_table() {
  static const std::vector<LqQuantity> kTable{
      {"lq_cost", "the optimal cost", false,
       [](const LqSolution& s, std::size_t) -> Eigen::MatrixXd {
         return Eigen::MatrixXd::Constant(1, 1, s.cost);
       }},
      {"lq_state", "x", true, [](const LqSolution& s, std::size_t k) { return entry(s.x, k); }},
      {"lq_input", "u", true, [](const LqSolution& s, std::size_t k) { return entry(s.u, k); }},
      {"lq_costate", "λ = ∂(optimal cost)/∂x", true,
       [](const LqSolution& s, std::size_t k) { return entry(s.costate, k); }},
      {"lq_value", "P: the optimal cost from x on is ½ xᵀ P x + pᵀ x + constant", true,
       [](const LqSolution& s, std::size_t k) { return entry(s.policy.value, k); }},
      {"lq_slope", "p", true,
       [](const LqSolution& s, std::size_t k) { return entry(s.policy.slope, k); }},
      {"lq_gain", "K", true,
       [](const LqSolution& s, std::size_t k) { return entry(s.policy.gain, k); }},
      {"lq_input_inertia", "D = R + Bᵀ P B", true,
       [](const LqSolution& s, std::size_t k) { return entry(s.policy.input_inertia, k); }}};
  return kTable;
}

template <class To>
void read_part(Values& values, const yaml::Node& map, const char* key, To& to) {
  const Entry* found = map.find(key);
  if (found == nullptr) return;
  const Values::Within within(values, key);
  const Eigen::MatrixXd m = read_lq_matrix(values, *found->value);
  if (To::ColsAtCompileTime == 1 && m.cols() > 1)
    values.error(found->line, "must be a list of numbers");
  else
    to = m;
}

}  // namespace

std::span<const LqQuantity> lq_quantities() { return lq_table(); }

const LqQuantity* find_lq_quantity(const std::string& name) {
  for (const LqQuantity& quantity : lq_table())
    if (quantity.name == name) return &quantity;
  return nullptr;
}

Eigen::MatrixXd read_lq_matrix(Values& values, const yaml::Node& node) {
  if (!node.is_list() || node.entries.empty() || !node.entries[0].value->is_list()) {
    std::vector<double> column;
    if (!values.number_or_list(node, column)) return {};
    return Eigen::Map<const Eigen::VectorXd>(column.data(),
                                             static_cast<Eigen::Index>(column.size()));
  }
  Eigen::MatrixXd m;
  for (std::size_t i = 0; i < node.entries.size(); ++i) {
    const yaml::Node& line = *node.entries[i].value;
    std::vector<double> row;
    if (!values.number_or_list(line, row)) return {};
    const auto columns = static_cast<Eigen::Index>(row.size());
    if (i == 0) m.resize(static_cast<Eigen::Index>(node.entries.size()), columns);
    if (columns != m.cols()) {
      values.error(line.line, "row " + std::to_string(i + 1) + " has " +
                                  std::to_string(row.size()) + " numbers, the first has " +
                                  std::to_string(m.cols()));
      return {};
    }
    m.row(static_cast<Eigen::Index>(i)) = Eigen::Map<const Eigen::RowVectorXd>(row.data(), columns);
  }
  return m;
}

LqProblem read_lq(Values& values, const yaml::Node& node) {
  LqProblem problem;
  static const std::vector<std::string> kKeys{"start", "stages", "final"};
  static const std::vector<std::string> kStage{"A", "B", "c", "Q", "R", "S", "q", "r"};
  static const std::vector<std::string> kFinal{"Q", "q"};
  if (!values.map(node, "a map with start, stages, final")) return problem;
  values.unknown_keys(node, kKeys);
  read_part(values, node, "start", problem.start);
  if (const Entry* stages = node.find("stages")) {
    const Values::Within within(values, "stages");
    if (!values.list(*stages->value, "a list of maps with A, B, Q, R, ...")) return problem;
    int number = 0;
    for (const Entry& item : stages->value->entries) {
      const Values::Within one(values, std::to_string(number++));
      const yaml::Node& map = *item.value;
      if (!values.map(map, "a map with A, B, Q, R, ...")) return problem;
      values.unknown_keys(map, kStage);
      LqStage& stage = problem.stages.emplace_back();
      for (const auto& [key, to] :
           {std::pair{"A", &stage.A}, std::pair{"B", &stage.B}, std::pair{"Q", &stage.Q},
            std::pair{"R", &stage.R}, std::pair{"S", &stage.S}})
        read_part(values, map, key, *to);
      for (const auto& [key, to] :
           {std::pair{"c", &stage.c}, std::pair{"q", &stage.q}, std::pair{"r", &stage.r}})
        read_part(values, map, key, *to);
    }
  }
  if (const Entry* last = node.find("final")) {
    const Values::Within within(values, "final");
    if (!values.map(*last->value, "a map with Q, q")) return problem;
    values.unknown_keys(*last->value, kFinal);
    read_part(values, *last->value, "Q", problem.final_Q);
    read_part(values, *last->value, "q", problem.final_q);
  }
  return problem;
}

}  // namespace catena
