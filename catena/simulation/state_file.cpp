// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/state_file.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/io/text_file.h"
#include "catena/model/validation.h"
#include "catena/simulation/state_values.h"

namespace catena {
namespace {

// Given values that closing the loops moves by less than this, relative to one or to the value,
// were rounded.
constexpr double kMoved = 1e-4;

std::string wrong_count(std::size_t found, std::ptrdiff_t needed) {
  return "has " + std::to_string(found) + (found == 1 ? " number, but " : " numbers, but ") +
         std::to_string(needed) + (needed == 1 ? " is needed" : " are needed");
}

using yaml::Entry;
using yaml::Values;

struct Slot {
  int first = 0;
  int count = 0;  // 0: no such name
};

// Where a hinge's or a coordinate's numbers are.
Slot slot_of(Values& values, int line, const Mechanism& m, const std::string& name,
             bool positions) {
  if (m.has_hinge(name)) {
    const HingePlace& hinge = m.hinges()[index(m.hinge_index(name))];
    if (hinge.node >= 0)
      return positions ? Slot{hinge.q_index, hinge.coordinates}
                       : Slot{hinge.v_index, hinge.freedoms};
    values.error(line, "hinge '" + name + "' " +
                           (hinge.role == HingePlace::Role::cut
                                ? "closes a loop: its motion follows from the others, and it has "
                                  "no coordinates; with_coordinates() gives it some, or cut the "
                                  "loop elsewhere (cut: never)"
                                : "is rigid and has no coordinates"));
    return {};
  }
  const auto names = positions ? m.position_names() : m.velocity_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return {static_cast<int>(i), 1};
  std::vector<std::string> known(names.begin(), names.end());
  for (const HingePlace& hinge : m.hinges())
    if (hinge.node >= 0) known.push_back(hinge.name);
  values.error(line, std::string("no hinge or ") + (positions ? "coordinate" : "freedom") +
                         " is named '" + name + "'" + did_you_mean(name, known));
  return {};
}

void read_external(Values& values, const yaml::Node& node, const Mechanism& m,
                   std::vector<ExternalWrench>& result) {
  static const std::vector<std::string> kKeys{"body", "force", "moment", "point", "axes"};
  static const std::vector<std::string> kAxes{"body", "ground"};
  if (!values.list(node, "a list of maps with body, force, moment, point, axes")) return;
  result.clear();
  for (const Entry& item : node.entries) {
    const Values::Within within(values, std::to_string(result.size() + 1));
    ExternalWrench& wrench = result.emplace_back();
    if (!values.map(*item.value, "a map with body, force, moment, point, axes")) continue;
    values.unknown_keys(*item.value, kKeys);
    const auto vector = [&](const char* key, Vec3d& to) {
      if (const Entry* entry = item.value->find(key)) {
        const Values::Within inner(values, key);
        values.vector(*entry->value, to);
      }
    };
    vector("force", wrench.wrench.force);
    vector("moment", wrench.wrench.moment);
    vector("point", wrench.point);
    if (const Entry* entry = item.value->find("axes")) {
      const Values::Within inner(values, "axes");
      std::size_t index = 0;
      if (values.choice(*entry->value, kAxes, index))
        wrench.axes = index == 0 ? ExternalWrench::Axes::body : ExternalWrench::Axes::ground;
    }
    const Entry* body = item.value->find("body");
    if (body == nullptr) {
      values.error(item.value->line, "needs 'body:'");
      continue;
    }
    std::string name;
    if (!values.text(*body->value, name)) continue;
    try {
      wrench.body = m.body_index(name);
    } catch (const NameError& e) {
      values.error(body->line, e.what());
    }
  }
}

}  // namespace

StateInput default_input(const Mechanism& mechanism) {
  StateInput input;
  input.state = mechanism.default_state();
  input.given = given_by_description(mechanism);
  input.effort = Eigen::VectorXd::Zero(mechanism.freedoms());
  input.acceleration = input.effort;
  input.motion_driven.assign(to_size(mechanism.freedoms()), 0);
  return input;
}

std::string close_loops(const Mechanism& mechanism, StateInput& input) {
  const State given = input.state;
  input.state = assemble_near(mechanism, given, input.given);
  std::vector<std::string> moved;
  const auto compare = [&](const std::string& name, double from, double to) {
    if (std::abs(to - from) > kMoved * std::max(1.0, std::abs(from)))
      moved.push_back(name + " from " + short_number(from, 6) + " to " + short_number(to, 6));
  };
  for (int i = 0; i < mechanism.freedoms(); ++i) {
    const int q = mechanism.coordinate_of_freedom()[index(i)];
    if (q >= 0 && input.given.position[index(i)] != 0)
      compare(mechanism.position_names()[index(q)], given.q[q], input.state.q[q]);
  }
  for (int i = 0; i < mechanism.freedoms(); ++i)
    if (input.given.velocity[index(i)] != 0)
      compare("v." + mechanism.velocity_names()[index(i)], given.v[i], input.state.v[i]);
  if (moved.empty()) return {};
  return "the given state does not close the loops; moved: " + listed(moved);
}

void read_named_vector(Values& values, const yaml::Node& node, const Mechanism& m, bool positions,
                       Eigen::VectorXd& result, std::vector<std::uint8_t>* named) {
  if (named != nullptr) named->assign(to_size(result.size()), 0);
  if (node.is_list()) {
    if (static_cast<Eigen::Index>(node.entries.size()) != result.size()) {
      values.error(node.line, wrong_count(node.entries.size(), result.size()));
      return;
    }
    for (Eigen::Index i = 0; i < result.size(); ++i)
      values.number(*node.entries[index(i)].value, result[i]);
    if (named != nullptr) named->assign(named->size(), 1);
    return;
  }
  if (!values.map(node, "a map by hinge or coordinate, or a list of all in order")) return;
  for (const Entry& entry : node.entries) {
    const Slot slot = slot_of(values, entry.line, m, entry.key, positions);
    if (slot.count == 0) continue;
    const Values::Within within(values, entry.key);
    std::vector<double> numbers;
    if (positions && entry.value->is_map()) {  // xyz and rpy of a free or spherical hinge
      numbers.assign(result.data() + slot.first, result.data() + slot.first + slot.count);
      if (!values.pose_coordinates(*entry.value, numbers)) continue;
    } else if (!values.number_or_list(*entry.value, numbers)) {
      continue;
    }
    if (static_cast<int>(numbers.size()) != slot.count) {
      values.error(entry.line, wrong_count(numbers.size(), slot.count));
      continue;
    }
    for (int k = 0; k < slot.count; ++k) {
      result[slot.first + k] = numbers[index(k)];
      if (named != nullptr) (*named)[index(slot.first + k)] = 1;
    }
  }
}

std::vector<int> read_freedoms(Values& values, const yaml::Node& node, const Mechanism& m) {
  std::vector<int> freedoms;
  if (!values.list(node, "a list of hinges or freedoms")) return freedoms;
  for (const Entry& item : node.entries) {
    std::string name;
    if (!values.text(*item.value, name)) continue;
    const Slot slot = slot_of(values, item.value->line, m, name, false);
    for (int k = 0; k < slot.count; ++k) freedoms.push_back(slot.first + k);
  }
  return freedoms;
}

void read_state(Values& values, const yaml::Node& node, const Mechanism& m, StateInput& input) {
  static const std::vector<std::string> kKeys{
      "q", "v", "effort", "acceleration", "external", "motion_driven"};
  if (!values.map(node, "a map with q, v, effort, acceleration, external, motion_driven")) return;
  values.unknown_keys(node, kKeys);
  const auto vector = [&](const char* key, bool positions, Eigen::VectorXd& to,
                          std::vector<std::uint8_t>* named = nullptr) {
    if (const Entry* entry = node.find(key)) {
      const Values::Within within(values, key);
      read_named_vector(values, *entry->value, m, positions, to, named);
    }
  };
  // Values of the state override those of the model.
  std::vector<std::uint8_t> named;
  vector("q", true, input.state.q, &named);
  if (!named.empty())
    for (const Node& moved : m.nodes())
      for (int k = 0; k < moved.freedoms; ++k) {
        const int own = m.coordinate_of_freedom()[index(moved.v_index + k)];
        input.given.position[index(moved.v_index + k)] =
            named[index(own >= 0 ? own : moved.q_index)];
      }
  named.clear();
  vector("v", false, input.state.v, &named);
  if (!named.empty()) input.given.velocity = named;
  vector("effort", false, input.effort);
  vector("acceleration", false, input.acceleration, &input.given_acceleration);
  input.acceleration_given = input.acceleration_given || node.find("acceleration") != nullptr;
  if (const Entry* entry = node.find("external")) {
    const Values::Within within(values, "external");
    read_external(values, *entry->value, m, input.external);
  }
  if (const Entry* entry = node.find("motion_driven")) {
    const Values::Within within(values, "motion_driven");
    input.motion_driven.assign(input.motion_driven.size(), 0);
    for (const int i : read_freedoms(values, *entry->value, m)) input.motion_driven[index(i)] = 1;
  }
}

StateInput read_state_file(const std::string& path, const Mechanism& mechanism) {
  StateInput input = default_input(mechanism);
  std::vector<Diagnostic> problems;
  if (const auto text = read_text_file(path, problems)) {
    const yaml::Tree tree = yaml::parse(*text, path, problems);
    Values values(path, problems);
    if (tree.root != nullptr && !tree.root->is_null())
      read_state(values, *tree.root, mechanism, input);
  }
  if (has_error(problems)) {
    std::stable_sort(
        problems.begin(), problems.end(),
        [](const Diagnostic& a, const Diagnostic& b) { return a.source.line < b.source.line; });
    throw ModelError(std::move(problems));
  }
  return input;
}

}  // namespace catena
