// SPDX-License-Identifier: BSD-3-Clause
#include "catena/verification/case_file.h"

#include <algorithm>
#include <filesystem>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/io/load.h"
#include "catena/io/text_file.h"
#include "catena/simulation/settings_values.h"
#include "catena/simulation/state_values.h"

namespace catena {
namespace {

using yaml::Entry;
using yaml::Values;
using Shape = Quantity::Shape;

class CaseReader {
 public:
  CaseReader(const std::string& path, std::vector<Diagnostic>& problems)
      : path_(path), problems_(problems), values_(path, problems) {}

  std::optional<VerificationCase> read(bool skip_slow) {
    const auto text = read_text_file(path_, problems_);
    if (!text) return std::nullopt;
    const std::size_t before = problems_.size();
    const yaml::Tree tree = yaml::parse(*text, path_, problems_);
    if (tree.root == nullptr) {
      if (problems_.size() == before) values_.error(0, "is empty");
      return std::nullopt;
    }
    root_ = tree.root;
    if (!values_.map(*root_, "a map with title, source, model, checks")) return std::nullopt;
    static const std::vector<std::string> kKeys{
        "title",     "source", "model", "state", "slow",      "checks",
        "quantity",  "of",     "axes",  "order", "reference", "origin",
        "tolerance", "reason", "after", "lq",    "system",    "with"};
    values_.unknown_keys(*root_, kKeys);
    result_.name = std::filesystem::path(path_).parent_path().filename().string();
    require_text(*root_, "title", result_.title);
    if (const Entry* slow = root_->find("slow")) {
      const Values::Within within(values_, "slow");
      values_.boolean(*slow->value, result_.slow);
    }
    if (result_.slow && skip_slow && values_.errors() == 0) return std::move(result_);
    if (const Entry* lq = root_->find("lq")) {
      if (!read_problem(*lq)) return std::nullopt;
      read_checks();
      if (values_.errors() > 0) return std::nullopt;
      return std::move(result_);
    }
    if (root_->find("model") == nullptr && names_systems()) {
      control_ = true;
      read_checks();
      if (values_.errors() > 0) return std::nullopt;
      return std::move(result_);
    }
    if (!read_model()) return std::nullopt;
    base_input_ = default_input(*result_.mechanism);
    if (const Entry* state = root_->find("state")) {
      const Values::Within within(values_, "state");
      read_state(values_, *state->value, *result_.mechanism, base_input_);
    }
    read_checks();
    if (values_.errors() > 0) return std::nullopt;
    return std::move(result_);
  }

 private:
  // Whether the case or one of its checks has a linear system or data of a design.
  bool names_systems() const {
    const auto has = [](const yaml::Node& map) {
      return map.is_map() && (map.find("system") != nullptr || map.find("with") != nullptr);
    };
    const Entry* checks = root_->find("checks");
    if (has(*root_)) return true;
    if (checks == nullptr || !checks->value->is_list()) return false;
    return std::any_of(checks->value->entries.begin(), checks->value->entries.end(),
                       [&](const Entry& item) { return has(*item.value); });
  }

  bool require_text(const yaml::Node& map, const char* key, std::string& to) {
    const Entry* entry = map.find(key);
    if (entry == nullptr) {
      values_.error(map.line, std::string("needs '") + key + ":'");
      return false;
    }
    const Values::Within within(values_, key);
    return values_.text(*entry->value, to);
  }

  bool read_model() {
    std::string model;
    if (!require_text(*root_, "model", model)) return false;
    const std::filesystem::path file = std::filesystem::path(path_).parent_path() / model;
    try {
      result_.mechanism = std::make_unique<Mechanism>(load(file.lexically_normal().string()));
      return true;
    } catch (const ModelError& e) {
      values_.error(root_->find("model")->line, "model '" + model + "' cannot be used:");
      problems_.insert(problems_.end(), e.problems().begin(), e.problems().end());
      return false;
    }
  }

  bool read_problem(const Entry& lq) {
    const Values::Within within(values_, "lq");
    const LqProblem problem = read_lq(values_, *lq.value);
    if (values_.errors() > 0) return false;
    try {
      result_.lq = solve_lq(problem);
      return true;
    } catch (const Error& e) {
      values_.error(lq.line, e.what());
      return false;
    }
  }

  void read_lq_check(const yaml::Node& map, const std::string& name, VerificationCheck& check) {
    check.lq_quantity = find_lq_quantity(name);
    if (check.lq_quantity == nullptr) {
      std::vector<std::string> names;
      names.reserve(lq_quantities().size());
      for (const LqQuantity& quantity : lq_quantities()) names.push_back(quantity.name);
      values_.error(map.find("quantity")->line,
                    "unknown quantity '" + name + "' of an LQ problem; those are " + listed(names));
      return;
    }
    if (check.lq_quantity->staged) {
      if (!require_text(map, "of", check.of)) return;
      const Values::Within within(values_, "of");
      double stage = 0.0;
      if (!values_.number(*map.find("of")->value, stage)) return;
      if (!(stage >= 0.0)) values_.error(map.find("of")->line, "must be the number of a stage");
      check.stage = static_cast<std::size_t>(stage);
    }
    const Entry* reference = map.find("reference");
    if (reference == nullptr) {
      values_.error(map.line, "needs 'reference:'");
      return;
    }
    const Values::Within within(values_, "reference");
    check.reference = read_lq_matrix(values_, *reference->value);
    result_.checks.push_back(std::move(check));
  }

  // A check of linear systems: its own system and data beside those of the case.
  void read_control_check(const yaml::Node& map, const std::string& name,
                          VerificationCheck& check) {
    check.control_quantity = find_control_quantity(name);
    if (check.control_quantity == nullptr) {
      std::vector<std::string> names;
      for (const ControlQuantity& quantity : control_quantities()) names.push_back(quantity.name);
      std::string hint = did_you_mean(name, names);
      if (hint.empty()) hint = "; those of linear systems are " + listed(names);
      values_.error(map.find("quantity")->line, "unknown quantity '" + name + "'" + hint);
      return;
    }
    const std::string folder = std::filesystem::path(path_).parent_path().string();
    const Entry* system = map.find("system");
    if (system == nullptr) system = root_->find("system");
    if (system != nullptr) {
      const Values::Within within(values_, "system");
      read_control_system(values_, *system->value, folder, check.problem);
    }
    for (const yaml::Node* level : {root_, &map})
      if (const Entry* data = level->find("with")) {
        const Values::Within within(values_, "with");
        read_control_data(values_, *data->value, check.problem);
      }
    const Entry* reference = map.find("reference");
    if (reference == nullptr) {
      values_.error(map.line, "needs 'reference:'");
      return;
    }
    const Values::Within within(values_, "reference");
    check.reference = read_lq_matrix(values_, *reference->value);
    if (values_.errors() == 0) result_.checks.push_back(std::move(check));
  }

  void read_checks() {
    const Entry* checks = root_->find("checks");
    if (checks == nullptr) {
      read_check(*root_);
      return;
    }
    const Values::Within within(values_, "checks");
    if (!values_.list(*checks->value, "a list of maps with quantity, reference, ...")) return;
    if (checks->value->entries.empty()) values_.error(checks->line, "is empty");
    static const std::vector<std::string> kKeys{
        "quantity",  "of",     "axes",  "order", "reference", "origin", "source",
        "tolerance", "reason", "state", "after", "system",    "with"};
    int number = 0;
    for (const Entry& item : checks->value->entries) {
      const Values::Within one(values_, std::to_string(++number));
      if (!values_.map(*item.value, "a map with quantity, reference, ...")) continue;
      values_.unknown_keys(*item.value, kKeys);
      read_check(*item.value);
    }
  }

  // The check's own, or the case's.
  const Entry* inherited(const yaml::Node& map, const char* key) {
    const Entry* entry = map.find(key);
    if (entry == nullptr) entry = root_->find(key);
    if (entry == nullptr)
      values_.error(map.line, std::string("needs '") + key + ":', here or in the case");
    return entry;
  }

  void read_check(const yaml::Node& map) {
    VerificationCheck check;
    check.line = map.line;
    std::string text;
    const auto words = [&](const char* key, std::string& to) {
      if (const Entry* entry = inherited(map, key)) {
        const Values::Within within(values_, key);
        if (values_.text(*entry->value, to) && to.empty())
          values_.error(entry->line, "must not be empty");
      }
    };
    words("source", check.source);
    words("origin", text);
    words("reason", text);
    if (const Entry* entry = inherited(map, "tolerance")) {
      const Values::Within within(values_, "tolerance");
      if (values_.number(*entry->value, check.tolerance) && !(check.tolerance >= 0.0))
        values_.error(entry->line, "must not be negative");
    }
    if (!require_text(map, "quantity", text)) return;
    if (result_.lq) {
      read_lq_check(map, text, check);
      return;
    }
    if (control_) {
      read_control_check(map, text, check);
      return;
    }
    check.quantity = find_quantity(text);
    if (check.quantity == nullptr) {
      std::vector<std::string> names;
      names.reserve(quantities().size());
      for (const Quantity& quantity : quantities()) names.push_back(quantity.name);
      std::string hint = did_you_mean(text, names);
      if (hint.empty()) hint = "; the quantities are " + listed(names);
      values_.error(map.find("quantity")->line, "unknown quantity '" + text + "'" + hint);
      return;
    }
    read_of(map, check);
    check.input = base_input_;
    if (const Entry* state = map.find("state"); state != nullptr && &map != root_) {
      const Values::Within within(values_, "state");
      read_state(values_, *state->value, *result_.mechanism, check.input);
    }
    const Entry* after = map.find("after");
    if (after == nullptr) after = root_->find("after");
    if (after != nullptr) {
      const Values::Within within(values_, "after");
      check.after.emplace();
      const Entry* own_state = &map == root_ ? nullptr : map.find("state");
      check.run = {after->value, own_state == nullptr ? nullptr : own_state->value};
      read_settings(values_, *after->value, *result_.mechanism,
                    std::filesystem::path(path_).parent_path().string(), check.input, *check.after);
    }
    const Entry* reference = map.find("reference");
    if (reference == nullptr) {
      values_.error(map.line, "needs 'reference:'");
      return;
    }
    const int before = values_.errors();
    {
      const Values::Within within(values_, "reference");
      read_reference(map, *reference->value, check);
    }
    if (values_.errors() == before) result_.checks.push_back(std::move(check));
  }

  // A name of a thing that exists.
  void read_name(const yaml::Node& node, Quantity::Of kind, std::string& to) {
    if (!values_.text(node, to)) return;
    try {
      find_thing(*result_.mechanism, kind, to);
    } catch (const NameError& e) {
      values_.error(node.line, e.what());
    }
  }

  void read_of(const yaml::Node& map, VerificationCheck& check) {
    if (const Entry* axes = map.find("axes")) {
      const Values::Within within(values_, "axes");
      if (values_.text(*axes->value, check.axes) && check.axes != "body" && check.axes != "ground")
        read_name(*axes->value, Quantity::Of::body, check.axes);
    }
    const Entry* of = map.find("of");
    if (check.quantity->of == Quantity::Of::nothing) {
      if (of != nullptr)
        values_.error(of->line, check.quantity->name + " takes no 'of'; remove it");
      return;
    }
    if (of == nullptr) {
      values_.error(map.line, check.quantity->name + " needs 'of:'");
      return;
    }
    const Values::Within within(values_, "of");
    const bool component = check.quantity->of == Quantity::Of::flexible_component;
    if (check.quantity->of == Quantity::Of::frames || component) {
      if (!of->value->is_list() || of->value->entries.size() != 2) {
        values_.mismatch(*of->value,
                         component ? "[flexible body, component]" : "a list of two frames");
        return;
      }
      read_name(*of->value->entries[0].value, check.quantity->of, check.of);
      if (component)
        values_.text(*of->value->entries[1].value, check.other);
      else
        read_name(*of->value->entries[1].value, check.quantity->of, check.other);
      return;
    }
    read_name(*of->value, check.quantity->of, check.of);
    if (check.quantity->of == Quantity::Of::problem)  // relative to the case
      check.of =
          (std::filesystem::path(path_).parent_path() / check.of).lexically_normal().string();
  }

  // The freedoms that `order` names, or all.
  void read_order(const Entry* order, VerificationCheck& check) {
    if (order != nullptr) {
      const Values::Within within(values_, "order");
      check.rows = read_freedoms(values_, *order->value, *result_.mechanism);
    } else {
      for (int i = 0; i < result_.mechanism->freedoms(); ++i) check.rows.push_back(i);
    }
  }

  void read_reference(const yaml::Node& map, const yaml::Node& node, VerificationCheck& check) {
    const Mechanism& m = *result_.mechanism;
    const Entry* order = map.find("order");
    if (order == nullptr) order = root_->find("order");
    switch (check.quantity->shape) {
      case Shape::scalar: {
        check.reference = Eigen::MatrixXd::Zero(1, 1);
        values_.number(node, check.reference(0, 0));
        return;
      }
      case Shape::vector:
        read_parts(node, check);
        return;
      case Shape::list: {
        read_order(order, check);
        std::vector<double> numbers;
        if (values_.number_or_list(node, numbers))
          check.reference = Eigen::Map<const Eigen::VectorXd>(
              numbers.data(), static_cast<Eigen::Index>(numbers.size()));
        return;
      }
      case Shape::freedom_vector:
      case Shape::freedom_matrix: {
        read_order(order, check);
        if (check.quantity->shape == Shape::freedom_matrix)
          read_matrix(node, check);
        else if (node.is_map())
          read_by_name(node, check);
        else
          read_list(node, check);
        for (const int row : check.rows) check.entries.push_back(m.velocity_names()[index(row)]);
        return;
      }
      case Shape::body_groups:
        read_groups(node, check);
        return;
      case Shape::matrix:
        check.reference = read_lq_matrix(values_, node);
        return;
    }
  }

  // [[a, b], [c]]: the names of the bodies of each group.
  void read_groups(const yaml::Node& node, VerificationCheck& check) {
    if (!values_.list(node, "a list of lists of bodies")) return;
    std::vector<std::vector<int>> groups;
    for (const Entry& group : node.entries) {
      if (!values_.list(*group.value, "a list of bodies")) return;
      groups.emplace_back();
      for (const Entry& item : group.value->entries) {
        std::string name;
        const int before = values_.errors();
        read_name(*item.value, Quantity::Of::body, name);
        if (values_.errors() != before) return;
        const int body = result_.mechanism->body_index(name);
        if (body < 0) {
          values_.error(item.value->line, "the world is not in any group");
          return;
        }
        groups.back().push_back(body);
      }
    }
    check.reference = number_groups(groups, result_.mechanism->bodies().size());
    for (const BodyPlace& body : result_.mechanism->bodies()) check.entries.push_back(body.name);
  }

  // {moment: [...], force: [...]}, {x: ...}, or a list of all.
  void read_parts(const yaml::Node& node, VerificationCheck& check) {
    const std::vector<std::string>& parts = check.quantity->parts;
    if (node.is_list()) {
      check.reference = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(parts.size()), 1);
      check.entries = parts;
      values_.numbers(node, {check.reference.data(), parts.size()});
      return;
    }
    if (!values_.map(node, "a list of numbers, or a map by " + listed(parts))) return;
    std::vector<double> numbers;
    for (const Entry& entry : node.entries) {
      const Values::Within within(values_, entry.key);
      std::vector<double> given;
      if (!values_.number_or_list(*entry.value, given)) continue;
      std::vector<int> rows;
      for (std::size_t i = 0; i < parts.size(); ++i)
        if (parts[i] == entry.key || parts[i].starts_with(entry.key + "."))
          rows.push_back(static_cast<int>(i));
      if (rows.empty()) {
        values_.error(entry.line,
                      "is not a part of " + check.quantity->name + "; those are " + listed(parts));
      } else if (rows.size() != given.size()) {
        values_.error(entry.line, "needs " + std::to_string(rows.size()) + " numbers, not " +
                                      std::to_string(given.size()));
      } else {
        check.rows.insert(check.rows.end(), rows.begin(), rows.end());
        numbers.insert(numbers.end(), given.begin(), given.end());
      }
    }
    for (const int row : check.rows) check.entries.push_back(parts[index(row)]);
    check.reference = Eigen::Map<const Eigen::VectorXd>(numbers.data(),
                                                        static_cast<Eigen::Index>(numbers.size()));
  }

  void read_by_name(const yaml::Node& node, VerificationCheck& check) {
    Eigen::VectorXd all = Eigen::VectorXd::Zero(result_.mechanism->freedoms());
    std::vector<std::uint8_t> named;
    read_named_vector(values_, node, *result_.mechanism, false, all, &named);
    check.rows.clear();
    for (std::size_t i = 0; i < named.size(); ++i)
      if (named[i] != 0) check.rows.push_back(static_cast<int>(i));
    check.reference = all(check.rows);
  }

  void read_list(const yaml::Node& node, VerificationCheck& check) {
    std::vector<double> numbers;
    if (!values_.number_or_list(node, numbers)) return;
    if (numbers.size() != check.rows.size()) {
      values_.error(node.line, "has " + std::to_string(numbers.size()) + " numbers, but " +
                                   std::to_string(check.rows.size()) + " are needed");
      return;
    }
    check.reference = Eigen::Map<const Eigen::VectorXd>(numbers.data(),
                                                        static_cast<Eigen::Index>(numbers.size()));
  }

  // Full rows, or the upper triangle of a symmetric matrix.
  void read_matrix(const yaml::Node& node, VerificationCheck& check) {
    const std::size_t n = check.rows.size();
    if (!node.is_list() || node.entries.size() != n) {
      values_.mismatch(node, "a list of " + std::to_string(n) + " rows");
      return;
    }
    const Eigen::Index size = static_cast<Eigen::Index>(n);
    check.reference = Eigen::MatrixXd::Zero(size, size);
    for (std::size_t i = 0; i < n; ++i) {
      const yaml::Node& row = *node.entries[i].value;
      std::vector<double> numbers;
      if (!values_.number_or_list(row, numbers)) continue;
      const bool upper = numbers.size() == n - i;
      if (!upper && numbers.size() != n) {
        values_.error(row.line, "row " + std::to_string(i + 1) + " has " +
                                    std::to_string(numbers.size()) + " numbers, but " +
                                    std::to_string(n) + " or (upper triangle) " +
                                    std::to_string(n - i) + " are needed");
        continue;
      }
      for (std::size_t j = 0; j < numbers.size(); ++j) {
        const Eigen::Index r = static_cast<Eigen::Index>(i);
        const Eigen::Index c = static_cast<Eigen::Index>(upper ? i + j : j);
        check.reference(r, c) = numbers[j];
        if (upper) check.reference(c, r) = numbers[j];
      }
    }
  }

  std::string path_;
  std::vector<Diagnostic>& problems_;
  Values values_;
  const yaml::Node* root_ = nullptr;
  VerificationCase result_;
  bool control_ = false;  // a case of linear systems
  StateInput base_input_;
};

}  // namespace

std::optional<VerificationCase> read_case(const std::string& path, bool skip_slow,
                                          std::vector<Diagnostic>& problems) {
  return CaseReader(path, problems).read(skip_slow);
}

}  // namespace catena
