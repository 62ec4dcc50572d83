// SPDX-License-Identifier: BSD-3-Clause
#include "catena/components/controller_file.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/base/write_file.h"
#include "catena/io/text_file.h"
#include "catena/linear/discretize.h"
#include "catena/linear/files/system_file.h"
#include "catena/linear/files/system_yaml.h"
#include "catena/model/validation.h"

namespace catena {
namespace {

bool is_yaml(const std::string& path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

void read_limits(yaml::Values& values, const yaml::Node& node, const char* key,
                 Eigen::VectorXd& to) {
  values.with(node, key, [&](const yaml::Entry& e) {
    std::vector<double> numbers;
    if (values.number_or_list(*e.value, numbers))
      to = Eigen::Map<Eigen::VectorXd>(numbers.data(), std::ssize(numbers));
  });
}

// The map `controller:`.
void read_running(yaml::Values& values, const yaml::Node& node, LinearControllerSettings& c) {
  static const std::vector<std::string> kKeys{"period", "delay", "offset", "lower", "upper"};
  if (!values.map(node, "a map of period, delay, offset, lower, upper")) return;
  values.unknown_keys(node, kKeys);
  double period = 0.0;
  for (const auto& [key, to] :
       {std::pair{"period", &period}, std::pair{"delay", &c.delay}, std::pair{"offset", &c.offset}})
    values.with(node, key, [&, to = to](const yaml::Entry& e) {
      if (values.number(*e.value, *to) && *to < 0.0)
        values.error(e.value->line, "must not be negative");
    });
  read_limits(values, node, "lower", c.lower);
  read_limits(values, node, "upper", c.upper);
  if (period > 0.0 && c.system.A.size() + c.system.D.size() > 0) {
    try {
      c.system = sampled(c.system, period);
    } catch (const Error& e) {
      values.error(node.line, e.what());
    }
  }
}

std::string list_text(const Eigen::VectorXd& v) {
  std::string text = "[";
  for (const double x : v) text += (text.size() > 1 ? ", " : "") + number(x);
  return text + "]";
}

// Limits by output over those of the file.
void limit_outputs(const ControllerFile& from, LinearControllerSettings& c) {
  if (from.limits.empty()) return;
  const int n = c.system.output_count();
  constexpr double kNone = 1e300;  // finite, so that it can be written to a file
  if (c.lower.size() == 0) c.lower = Eigen::VectorXd::Constant(n, -kNone);
  if (c.upper.size() == 0) c.upper = Eigen::VectorXd::Constant(n, kNone);
  for (const auto& [output, limit] : from.limits) {
    if (!(limit > 0.0))
      throw Error("controller '" + from.name + "': the limit of '" + output +
                  "' must be positive, not " + number(limit));
    const std::string effort = "effort." + output;
    const bool by_freedom = std::find(c.system.outputs.begin(), c.system.outputs.end(), effort) !=
                            c.system.outputs.end();
    const int i = c.system.output_index(by_freedom ? effort : output);
    c.lower[i] = -limit;
    c.upper[i] = limit;
  }
}

}  // namespace

StateSpace sampled(const StateSpace& controller, double period) {
  if (!(period > 0.0)) throw Error("the sampling period must be positive, not " + number(period));
  if (controller.is_continuous()) return c2d(controller, period, {.method = Hold::tustin});
  if (std::abs(controller.dt - period) > 1e-12 * period)
    throw Error("the controller is sampled every " + number(controller.dt) +
                " s and cannot run every " + number(period) +
                " s; design it for that period, or discretize its continuous form");
  return controller;
}

StateSpace controller_for(const StateSpace& plant, StateSpace controller) {
  controller.inputs = plant.outputs;
  controller.outputs = plant.inputs;
  controller.input_units = plant.output_units;
  controller.output_units = plant.input_units;
  controller.states.clear();
  controller.state_units.clear();
  controller.fill_names();
  if (plant.point) {
    SystemPoint point{
        .mechanism = plant.point->mechanism, .q = plant.point->q, .v = plant.point->v};
    point.y0 = plant.point->u0;
    controller.point = point;
  }
  controller.validate();
  return controller;
}

LinearControllerSettings controller_from_yaml(const std::string& text,
                                              const std::string& file_name) {
  std::vector<Diagnostic> problems;
  const yaml::Tree tree = yaml::parse(text, file_name, problems);
  yaml::Values values(file_name, problems);
  LinearControllerSettings c;
  if (tree.root != nullptr && !tree.root->is_null()) {
    c.system = read_system(*tree.root, values, {"linear system", "controller"});
    values.with(*tree.root, "linear system", [&](const yaml::Entry& e) {
      int version = 0;
      if (values.integer(*e.value, version) && version != 1)
        values.error(e.value->line, "is version " + std::to_string(version) +
                                        " of the format; this program reads version 1");
    });
    values.with(*tree.root, "controller",
                [&](const yaml::Entry& e) { read_running(values, *e.value, c); });
  } else if (!has_error(problems)) {
    values.error(1, "is empty; a linear system needs A, B, C and D");
  }
  if (has_error(problems)) throw ModelError(std::move(problems));
  return c;
}

LinearControllerSettings load_controller(const std::string& path) {
  if (!is_yaml(path)) {
    LinearControllerSettings c;
    c.system = load_system(path);
    return c;
  }
  std::vector<Diagnostic> problems;
  const auto text = read_text_file(path, problems);
  if (!text) throw ModelError(std::move(problems));
  return controller_from_yaml(*text, path);
}

std::string controller_to_yaml(const LinearControllerSettings& c) {
  std::string text = system_to_yaml(c.system), lines;
  const auto line = [&](const char* key, const std::string& value) {
    lines += "  " + std::string(key) + ": " + value + "\n";
  };
  if (c.delay > 0.0) line("delay", number(c.delay));
  if (c.offset > 0.0) line("offset", number(c.offset));
  if (c.lower.size() > 0) line("lower", list_text(c.lower));
  if (c.upper.size() > 0) line("upper", list_text(c.upper));
  if (!lines.empty()) text += "controller:\n" + lines;
  return text;
}

void save_controller(const LinearControllerSettings& c, const std::string& path) {
  if (!is_yaml(path)) {
    if (c.delay > 0.0 || c.offset > 0.0 || c.lower.size() > 0 || c.upper.size() > 0)
      throw Error(path + ": HDF5 keeps the system alone, not delay and limits; write a .yaml file");
    save_system(c.system, path);
    return;
  }
  write_file(path, controller_to_yaml(c));
}

void connect_controllers(ActionSettings& actions) {
  std::set<std::string> used;
  for (ControllerFile& from : actions.controller_files) {
    const std::string wanted = from.name;
    for (int k = 2; !used.insert(from.name).second; ++k)
      from.name = wanted + "_" + std::to_string(k);
    if (from.make) continue;
    LinearControllerSettings c =
        from.system.empty() ? load_controller(from.file)
                            : controller_from_yaml(from.system, "controller '" + from.name + "'");
    c.name = from.name;
    if (c.system.input_count() == 0 || c.system.output_count() == 0)
      throw Error(from.file +
                  ": a controller needs inputs (what it measures) and outputs (where "
                  "it acts); this system has " +
                  std::to_string(c.system.input_count()) + " and " +
                  std::to_string(c.system.output_count()));
    if (from.period) c.system = sampled(c.system, *from.period);
    if (from.delay && !(*from.delay >= 0.0 && std::isfinite(*from.delay)))
      throw Error("controller '" + from.name + "': the computation delay is " +
                  number(*from.delay) + " s; it must be a finite number that is not negative");
    if (from.delay) c.delay = *from.delay;
    limit_outputs(from, c);
    ControllerFile ready{.name = from.name, .file = from.file};
    ready.system = controller_to_yaml(c);
    ready.make = linear_controller(c);
    from = std::move(ready);
  }
}

}  // namespace catena
