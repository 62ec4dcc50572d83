// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/used_hinges.h"

#include <algorithm>
#include <filesystem>

#include "catena/base/index.h"
#include "catena/io/text_file.h"
#include "catena/model/with_coordinates.h"
#include "catena/simulation/settings_values.h"
#include "catena/simulation/signals/expression.h"

namespace catena {
namespace {

using yaml::Entry;

// Signals and parameters that belong to the coordinates of a hinge. Others (position.FRAME.x,
// force.HINGE.x, ...) need none.
const std::vector<std::string> kOfCoordinates{
    "q", "v", "a", "effort", "acceleration", "friction", "reaction", "hinge"};

// f(root) of a YAML file that can be read.
template <class F>
void with_root(const std::string& path, F f) {
  std::vector<Diagnostic> ignored;
  const std::optional<std::string> text = read_text_file(path, ignored);
  if (!text) return;
  const yaml::Tree tree = yaml::parse(*text, path, ignored);
  if (tree.root != nullptr && tree.root->is_map()) f(*tree.root);
}

}  // namespace

UsedHinges::UsedHinges(const Mechanism& mechanism)
    : mechanism_(mechanism), used_(mechanism.hinges().size(), 0) {
  for (std::size_t h = 0; h < used_.size(); ++h) {
    const HingePlace& hinge = mechanism.hinges()[h];
    if (hinge.role == HingePlace::Role::cut && hinge.node < 0 &&
        !is_rigid(mechanism.description().hinges[h]))
      without_coordinates_.push_back(hinge.name);
  }
}

const Mechanism& UsedHinges::complete() {
  if (without_coordinates_.empty()) return mechanism_;
  if (!complete_) complete_.emplace(catena::with_coordinates(mechanism_, without_coordinates_));
  return *complete_;
}

void UsedHinges::add(const std::string& name) {
  const auto hinges = mechanism_.hinges();
  const auto use = [&](std::size_t h) {
    if (hinges[h].role != HingePlace::Role::weld) used_[h] = 1;
  };
  if (mechanism_.has_hinge(name)) {
    use(to_size(mechanism_.hinge_index(name)));
    return;
  }
  for (std::size_t h = 0; h < used_.size(); ++h)  // ball.x
    if (name.size() > hinges[h].name.size() && name.starts_with(hinges[h].name) &&
        name[hinges[h].name.size()] == '.')
      use(h);
}

void UsedHinges::add(std::span<const std::string> names) {
  for (const std::string& name : names) add(name);
}

void UsedHinges::add_signals(std::span<const std::string> signals) {
  for (const std::string& signal : signals) {
    add(signal);
    const std::size_t dot = signal.find('.');
    if (dot != std::string::npos && std::find(kOfCoordinates.begin(), kOfCoordinates.end(),
                                              signal.substr(0, dot)) != kOfCoordinates.end())
      add(signal.substr(dot + 1));
  }
}

void UsedHinges::add(const SignalSettings& signal) {
  if (signal.expression() == nullptr) return;
  try {
    add(Expression::names(*signal.expression(), complete()));
  } catch (const Error&) {  // is reported where the expression is used
  }
}

void UsedHinges::add(const ActionSettings& actions) {
  for (const InputSettings& x : actions.inputs) add(x.freedom), add(x.signal);
  for (const ControllerSettings& x : actions.controllers) add(x.freedom), add(x.target);
  for (const ControllerFile& x : actions.controller_files) {
    if (x.file.ends_with(".yaml") || x.file.ends_with(".yml")) add_controller_file(x.file);
    for (const auto& [output, limit] : x.limits) add(output);
  }
  for (const MotionSettings& x : actions.motions) add(x.freedom), add(x.signal);
  for (const EventSettings& x : actions.events) add(x.signal);
  for (const StopSettings& x : actions.stop_settings) add(x.freedom);
  for (const ConstraintSettings& x : actions.constraints)
    if (const auto* servo = std::get_if<ServoMotion>(&x.constraint))
      for (const SignalSettings& motion : servo->motions) add(motion);
  for (const SwitchSettings& x : actions.switches)
    if (x.when) add(*x.when);
}

void UsedHinges::add(const SimulationSettings& settings) {
  add(settings.actions);
  add_signals(settings.outputs);
}

void UsedHinges::add_state(const yaml::Node& node) {
  for (const char* key : {"q", "v", "effort", "acceleration"})
    if (const Entry* entry = node.find(key))
      for (const Entry& named : entry->value->entries) add(named.key);
  if (const Entry* entry = node.find("motion_driven"))
    for (const Entry& item : entry->value->entries) add(item.value->text);
}

void UsedHinges::add_state_file(const std::string& path) {
  with_root(path, [&](const yaml::Node& root) { add_state(root); });
}

void UsedHinges::add_controller_file(const std::string& path) {
  with_root(path, [&](const yaml::Node& root) {
    for (const char* key : {"inputs", "outputs"})
      if (const Entry* entry = root.find(key))
        for (const Entry& item : entry->value->entries)
          add_signals(std::vector<std::string>{item.value->text});
  });
}

void UsedHinges::add_settings_file(const std::string& path) {
  with_root(path, [&](const yaml::Node& root) {
    std::vector<Diagnostic> ignored;
    yaml::Values values(path, ignored);
    StateInput input = default_input(complete());
    SimulationSettings settings;
    read_settings(values, root, complete(), std::filesystem::path(path).parent_path().string(),
                  input, settings);
    add(settings);
    if (const Entry* state = root.find("state")) add_state(*state->value);
    // Locks and the actuators of servos.
    if (const Entry* constraints = root.find("constraints"))
      for (const Entry& constraint : constraints->value->entries) {
        if (const Entry* freedom = constraint.value->find("freedom")) add(freedom->value->text);
        if (const Entry* actuators = constraint.value->find("actuators"))
          for (const Entry& item : actuators->value->entries) add(item.value->text);
      }
  });
}

std::vector<std::string> UsedHinges::names() const {
  std::vector<std::string> names;
  for (std::size_t h = 0; h < used_.size(); ++h)
    if (used_[h] != 0) names.push_back(mechanism_.hinges()[h].name);
  return names;
}

Mechanism UsedHinges::with_coordinates() const {
  std::vector<std::string> found;
  for (const std::string& name : without_coordinates_)
    if (used_[index(mechanism_.hinge_index(name))] != 0) found.push_back(name);
  return found.empty() ? mechanism_ : catena::with_coordinates(mechanism_, found);
}

}  // namespace catena
