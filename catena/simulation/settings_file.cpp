// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/settings_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/io/text_file.h"
#include "catena/model/validation.h"
#include "catena/simulation/collision_settings.h"
#include "catena/simulation/constraint_settings.h"
#include "catena/simulation/settings_values.h"
#include "catena/simulation/state_values.h"

namespace catena {
namespace {

using yaml::Entry;
using yaml::Values;

const std::vector<std::string> kInterpolations{"hold", "linear", "spline"};
const std::vector<std::string> kActions{"record", "stop"};
const std::vector<std::string> kFrictionLaws{"events", "smooth"};
const std::vector<std::string> kLoopRoutes{"automatic", "embedded", "multipliers"};

class SettingsReader {
 public:
  SettingsReader(Values& values, const Mechanism& mechanism, std::string folder)
      : values_(values), mechanism_(mechanism), folder_(std::move(folder)) {}

  void read(const yaml::Node& node, StateInput& input, SimulationSettings& s) {
    static const std::vector<std::string> kKeys{
        "duration",    "interval",     "checkpoint", "outputs",          "method",
        "rtol",        "atol",         "step",       "max_step",         "state",
        "inputs",      "controllers",  "motions",    "events",           "stops",
        "restitution", "restitutions", "friction",   "limit_efforts",    "constraints",
        "switches",    "loops",        "code",       "controller_files", "ground",
        "collisions"};
    if (!values_.map(node, "a map of settings")) return;
    values_.unknown_keys(node, kKeys);
    // Key of settings_json() for the parts that it could not write.
    values_.with(node, "code", [&](const Entry& e) {
      std::vector<std::string> names;
      texts(*e.value, names);
      values_.error(e.value->line,
                    "these settings need functions of the program that wrote them (" +
                        listed(names) +
                        "), which are not in the file; resume the run in that program");
    });
    number(node, "duration", s.duration);
    number(node, "interval", s.output_interval);
    number(node, "checkpoint", s.checkpoint_interval);
    values_.with(node, "outputs", [&](const Entry& e) { texts(*e.value, s.outputs); });
    values_.with(node, "method", [&](const Entry& e) {
      std::size_t index = 0;
      if (values_.choice(*e.value, method_names(), index))
        s.integrator.method = static_cast<Method>(index), s.integrator.keep_method = true;
    });
    number(node, "rtol", s.integrator.relative_tolerance);
    number(node, "atol", s.integrator.absolute_tolerance);
    number(node, "step", s.integrator.step);
    number(node, "max_step", s.integrator.maximum_step);
    values_.with(node, "state",
                 [&](const Entry& e) { read_state(values_, *e.value, mechanism_, input); });
    ActionSettings& a = s.actions;
    values_.each(node, "inputs", [&](const Entry& e) {
      if (e.value->is_list()) {
        for (const Entry& item : e.value->entries) a.inputs.push_back({e.key, signal(*item.value)});
      } else {
        a.inputs.push_back({e.key, signal(*e.value)});
      }
    });
    values_.each(node, "motions", [&](const Entry& e) {
      a.motions.push_back({e.key, signal(*e.value)});
    });
    values_.each(node, "controllers",
                 [&](const Entry& e) { a.controllers.push_back(controller(e)); });
    values_.each(node, "controller_files",
                 [&](const Entry& e) { a.controller_files.push_back(controller_file(e)); });
    values_.each(node, "events", [&](const Entry& e) { a.events.push_back(event(e)); });
    values_.with(node, "stops", [&](const Entry& e) { values_.boolean(*e.value, a.stops); });
    number(node, "restitution", a.restitution);
    values_.each(node, "restitutions", [&](const Entry& e) {
      StopSettings stop{e.key};
      values_.number(*e.value, stop.restitution);
      a.stop_settings.push_back(stop);
    });
    values_.with(node, "friction", [&](const Entry& e) {
      std::size_t index = 0;
      if (values_.choice(*e.value, kFrictionLaws, index))
        a.friction = index == 0 ? FrictionLaw::set_valued : FrictionLaw::smooth;
    });
    values_.with(node, "limit_efforts",
                 [&](const Entry& e) { values_.boolean(*e.value, a.limit_efforts); });
    values_.each(node, "constraints", [&](const Entry& e) {
      read_constraint(values_, e, mechanism_, folder_, a.constraints);
    });
    values_.with(node, "ground",
                 [&](const Entry& e) { read_ground(values_, *e.value, mechanism_, folder_, a); });
    values_.with(node, "collisions", [&](const Entry& e) {
      read_collisions(values_, *e.value, mechanism_, a.collisions);
    });
    values_.each(node, "switches",
                 [&](const Entry& e) { read_switch(values_, e, folder_, a.switches); });
    values_.with(node, "loops", [&](const Entry& e) {
      std::size_t index = 0;
      if (values_.choice(*e.value, kLoopRoutes, index)) a.loops = static_cast<LoopRoute>(index);
    });
  }

 private:
  void number(const yaml::Node& node, const char* key, double& to) {
    values_.with(node, key, [&](const Entry& e) { values_.number(*e.value, to); });
  }
  void number(const yaml::Node& node, const char* key, std::optional<double>& to) {
    values_.with(node, key, [&](const Entry& e) { values_.number(*e.value, to.emplace()); });
  }
  void texts(const yaml::Node& node, std::vector<std::string>& to) {
    to.clear();
    if (!values_.list(node, "a list of names")) return;
    for (const Entry& item : node.entries) values_.text(*item.value, to.emplace_back());
  }

  SignalSettings signal(const yaml::Node& node) { return read_signal(values_, node, folder_); }

  ControllerSettings controller(const Entry& e) {
    static const std::vector<std::string> kKeys{"kp", "kd", "ki", "target"};
    ControllerSettings c{.freedom = e.key};
    if (!values_.map(*e.value, "a map with kp, kd, ki, target")) return c;
    values_.unknown_keys(*e.value, kKeys);
    number(*e.value, "kp", c.kp);
    number(*e.value, "kd", c.kd);
    number(*e.value, "ki", c.ki);
    values_.with(*e.value, "target",
                 [&](const Entry& target) { c.target = signal(*target.value); });
    return c;
  }

  // A path, or a map with the path (or the text of the file, as a run keeps it) and what is to be
  // changed.
  ControllerFile controller_file(const Entry& e) {
    static const std::vector<std::string> kKeys{"file", "system", "period", "delay", "limits"};
    ControllerFile c;
    c.name = e.key;
    const auto path = [&](const yaml::Node& node) {
      if (values_.text(node, c.file))
        c.file = (std::filesystem::path(folder_) / c.file).lexically_normal().string();
    };
    if (!e.value->is_map()) {
      path(*e.value);
      return c;
    }
    values_.unknown_keys(*e.value, kKeys);
    if ((e.value->find("file") != nullptr) == (e.value->find("system") != nullptr))
      values_.error(e.value->line, "needs the path of a system file: {file: K.yaml}");
    values_.with(*e.value, "file", [&](const Entry& file) { path(*file.value); });
    values_.with(*e.value, "system",
                 [&](const Entry& system) { values_.text(*system.value, c.system); });
    number(*e.value, "period", c.period);
    number(*e.value, "delay", c.delay);
    values_.each(*e.value, "limits",
                 [&](const Entry& limit) { values_.number(*limit.value, c.limits[limit.key]); });
    return c;
  }

  EventSettings event(const Entry& e) {
    static const std::vector<std::string> kKeys{"when", "direction", "action"};
    EventSettings result;
    result.name = e.key;
    if (!e.value->is_map()) {
      result.signal = signal(*e.value);
      return result;
    }
    values_.unknown_keys(*e.value, kKeys);
    values_.with(*e.value, "when", [&](const Entry& when) { result.signal = signal(*when.value); });
    const auto choice = [&](const char* key, const std::vector<std::string>& words, auto set) {
      values_.with(*e.value, key, [&](const Entry& entry) {
        std::size_t index = 0;
        if (values_.choice(*entry.value, words, index)) set(static_cast<int>(index));
      });
    };
    choice("direction", direction_names(), [&](int index) { result.direction = index - 1; });
    choice("action", kActions, [&](int index) {
      result.action = index == 0 ? EventSettings::Action::record : EventSettings::Action::stop;
    });
    return result;
  }

  Values& values_;
  const Mechanism& mechanism_;
  std::string folder_;
};

using Json = nlohmann::ordered_json;

}  // namespace

// An expression, or a map with a table.
SignalSettings read_signal(Values& values, const yaml::Node& node, const std::string& folder) {
  std::string expression;
  if (!node.is_map()) {
    values.text(node, expression);
    return expression;
  }
  static const std::vector<std::string> kKeys{"expression", "table", "column", "interpolation",
                                              "cutoff"};
  values.unknown_keys(node, kKeys);
  if ((node.find("expression") != nullptr) == (node.find("table") != nullptr)) {
    values.error(node.line, "either an expression or a table must be given");
    return {};
  }
  TableSignal s;
  for (const auto& [key, to] : {std::pair{"expression", &expression}, std::pair{"table", &s.path},
                                std::pair{"column", &s.column}})
    values.with(node, key, [&, to = to](const Entry& e) { values.text(*e.value, *to); });
  values.with(node, "interpolation", [&](const Entry& e) {
    std::size_t index = 0;
    if (values.choice(*e.value, kInterpolations, index))
      s.interpolation = static_cast<Interpolation>(index);
  });
  values.with(node, "cutoff", [&](const Entry& e) { values.number(*e.value, s.cutoff.emplace()); });
  if (node.find("table") == nullptr) return expression;
  s.path = (std::filesystem::path(folder) / s.path).lexically_normal().string();
  return s;
}

nlohmann::ordered_json signal_json(const SignalSettings& s) {
  const TableSignal* table = s.table();
  if (table == nullptr) return s.expression() != nullptr ? *s.expression() : std::string();
  Json json{{"table", std::filesystem::absolute(table->path).lexically_normal().string()}};
  if (!table->column.empty()) json["column"] = table->column;
  json["interpolation"] = kInterpolations[static_cast<std::size_t>(table->interpolation)];
  if (table->cutoff) json["cutoff"] = *table->cutoff;
  return json;
}

void read_settings(Values& values, const yaml::Node& node, const Mechanism& mechanism,
                   const std::string& folder, StateInput& input, SimulationSettings& settings) {
  SettingsReader(values, mechanism, folder).read(node, input, settings);
}

void read_settings_text(const std::string& text, const std::string& file_name,
                        const Mechanism& mechanism, StateInput& input,
                        SimulationSettings& settings) {
  std::vector<Diagnostic> problems;
  const yaml::Tree tree = yaml::parse(text, file_name, problems);
  Values values(file_name, problems);
  if (tree.root != nullptr && !tree.root->is_null())
    read_settings(values, *tree.root, mechanism,
                  std::filesystem::path(file_name).parent_path().string(), input, settings);
  if (has_error(problems)) throw ModelError(std::move(problems));
}

void read_settings_file(const std::string& path, const Mechanism& mechanism, StateInput& input,
                        SimulationSettings& settings) {
  std::vector<Diagnostic> problems;
  const auto text = read_text_file(path, problems);
  if (!text) throw ModelError(std::move(problems));
  read_settings_text(*text, path, mechanism, input, settings);
}

void add_actions(const StateInput& input, const Mechanism& mechanism, ActionSettings& actions) {
  for (Eigen::Index i = 0; i < input.effort.size(); ++i)
    if (input.effort[i] != 0.0)
      actions.inputs.push_back({mechanism.velocity_names()[static_cast<std::size_t>(i)],
                                fmt::format("{:.17g}", input.effort[i])});
  actions.external.insert(actions.external.end(), input.external.begin(), input.external.end());
}

namespace {

// The actions as JSON. Parts that are code of a program are listed under `code`.
class ActionsJson {
 public:
  ActionsJson(const ActionSettings& actions, const Mechanism& mechanism)
      : actions_(actions), mechanism_(mechanism) {}

  Json inputs() {
    Json json = Json::object();
    for (const InputSettings& input : actions_.inputs)
      if (input.signal.is_code())
        code_.push_back("inputs." + input.freedom);
      else
        json[input.freedom].push_back(signal_json(input.signal));
    return json;
  }

  Json controllers() {
    Json json = Json::object();
    for (const ControllerSettings& c : actions_.controllers)
      if (c.target.is_code())
        code_.push_back("controllers." + c.freedom);
      else
        json[c.freedom] = {
            {"kp", c.kp}, {"kd", c.kd}, {"ki", c.ki}, {"target", signal_json(c.target)}};
    return json;
  }

  Json controller_files() const {
    Json json = Json::object();
    for (const ControllerFile& c : actions_.controller_files) {
      Json& entry = json[c.name];
      if (!c.system.empty())
        entry["system"] = c.system;
      else
        entry["file"] = std::filesystem::absolute(c.file).lexically_normal().string();
      if (c.period) entry["period"] = *c.period;
      if (c.delay) entry["delay"] = *c.delay;
      for (const auto& [output, limit] : c.limits) entry["limits"][output] = limit;
    }
    return json;
  }

  Json motions() {
    Json json = Json::object();
    for (const MotionSettings& motion : actions_.motions)
      if (motion.signal.is_code())
        code_.push_back("motions." + motion.freedom);
      else
        json[motion.freedom] = signal_json(motion.signal);
    return json;
  }

  Json events() {
    Json json = Json::object();
    for (const EventSettings& event : actions_.events)
      if (event.signal.is_code() || event.respond)
        code_.push_back("events." + event.name);
      else
        json[event.name] = {
            {"when", signal_json(event.signal)},
            {"direction", direction_names()[static_cast<std::size_t>(event.direction + 1)]},
            {"action", kActions[event.action == EventSettings::Action::stop ? 1 : 0]}};
    return json;
  }

  Json external() const {
    Json json = Json::array();
    for (const ExternalWrench& e : actions_.external)
      json.push_back({{"body", e.body < 0 ? kWorld : mechanism_.bodies()[index(e.body)].name},
                      {"force", vector_json(e.wrench.force)},
                      {"moment", vector_json(e.wrench.moment)},
                      {"point", vector_json(e.point)},
                      {"axes", e.axes == ExternalWrench::Axes::body ? "body" : "ground"}});
    return json;
  }

  Json& code() { return code_; }

 private:
  const ActionSettings& actions_;
  const Mechanism& mechanism_;
  Json code_ = Json::array();
};

Json ground_json(const CollisionSettings& c) {
  return {{"height_field", height_field_json(*c.height_field)},
          {"friction", std::min(c.friction, kAllFriction)},
          {"restitution", c.restitution}};
}

}  // namespace

std::string settings_json(const SimulationSettings& s, const Mechanism& mechanism) {
  Json json{{"duration", s.duration},
            {"interval", s.output_interval.value_or(0.0)},
            {"checkpoint", s.checkpoint_interval.value_or(0.0)},
            {"outputs", s.outputs},
            {"method", to_string(s.integrator.method)},
            {"rtol", s.integrator.relative_tolerance},
            {"atol", s.integrator.absolute_tolerance},
            {"step", s.integrator.step}};
  if (std::isfinite(s.integrator.maximum_step)) json["max_step"] = s.integrator.maximum_step;
  const ActionSettings& a = s.actions;
  const auto put = [&json](const char* key, const Json& value) {
    if (!value.empty()) json[key] = value;
  };
  ActionsJson actions(a, mechanism);
  put("inputs", actions.inputs());
  put("controllers", actions.controllers());
  put("controller_files", actions.controller_files());
  put("motions", actions.motions());
  for (const ExtraOutput& extra : s.extra_outputs)
    actions.code().push_back("extra_outputs." + extra.column.name);
  put("events", actions.events());
  put("code", actions.code());
  put("constraints", constraints_json(a, mechanism));
  put("switches", switches_json(a));
  put("collisions", collisions_json(a.collisions));
  if (a.collisions && a.collisions->height_field) json["ground"] = ground_json(*a.collisions);
  if (a.loops != LoopRoute::automatic) json["loops"] = kLoopRoutes[index(a.loops)];
  json["stops"] = a.stops;
  json["restitution"] = a.restitution;
  Json restitutions = Json::object();
  for (const StopSettings& stop : a.stop_settings) restitutions[stop.freedom] = stop.restitution;
  put("restitutions", restitutions);
  json["friction"] = kFrictionLaws[a.friction == FrictionLaw::smooth ? 1 : 0];
  json["limit_efforts"] = a.limit_efforts;
  if (const Json external = actions.external(); !external.empty())
    json["state"] = {{"external", external}};
  return json.dump();
}

}  // namespace catena
