// SPDX-License-Identifier: BSD-3-Clause
// catena linearize: the linear model of a mechanism about a state, or about the states of a run.
#include "catena/sensitivity/linearize.h"

#include <memory>
#include <utility>

#include <fmt/core.h>
#include <fnmatch.h>

#include "apps/catena/closed_state.h"
#include "apps/catena/linear_output.h"
#include "apps/catena/model_options.h"
#include "catena/base/index.h"
#include "catena/sensitivity/parameters.h"
#include "catena/simulation/recording/recorded_motion.h"
#include "catena/simulation/state_file.h"

namespace catena::app {
namespace {

struct LinearizeOptions {
  ModelOptions model;
  std::string at;
  std::string along;
  int every = 1;
  std::vector<std::string> inputs, outputs, driven, independent, parameters;
  bool compare = false;
  bool json = false;
  std::string out;
};

Json model_json(const Mechanism& m, const LinearModel& model) {
  Json json;
  json["states"] = model.states;
  json["inputs"] = model.inputs;
  json["outputs"] = model.outputs;
  const std::pair<const char*, const Eigen::MatrixXd*> matrices[] = {
      {"A", &model.A}, {"B", &model.B},   {"C", &model.C},   {"D", &model.D},
      {"M", &model.M}, {"P1", &model.P1}, {"P2", &model.P2}, {"P3", &model.P3}};
  for (const auto& [key, matrix] : matrices) json[key] = rows_json(*matrix);
  json["point"] = {{"q", by_name(m.position_names(), model.point.state.q)},
                   {"v", by_name(m.velocity_names(), model.point.state.v)},
                   {"effort", by_name(m.velocity_names(), model.point.effort)},
                   {"acceleration", by_name(m.velocity_names(), model.acceleration)}};
  json["residual"] = model.residual;
  json["equilibrium"] = model.residual <= kRest && model.speed <= kRest;
  return json;
}

std::string model_text(const LinearModel& model) {
  std::string text = "A\n" + matrix_text(model.A, model.states, model.states);
  text += "\nB\n" + matrix_text(model.B, model.states, model.inputs);
  if (model.outputs != model.states || model.D.norm() > 0.0) {
    text += "\nC\n" + matrix_text(model.C, model.outputs, model.states);
    text += "\nD\n" + matrix_text(model.D, model.outputs, model.inputs);
  }
  if (model.residual > kRest)
    text += fmt::format(
        "\nThe state is not an equilibrium (largest acceleration {:.4g}); the model is linearized "
        "about the motion through it.\n",
        model.residual);
  return text;
}

// Names of parameters; body.*.mass means all that match.
std::vector<std::string> matching(const Mechanism& m, const std::vector<std::string>& wanted) {
  std::vector<std::string> found;
  for (const std::string& word : wanted) {
    if (word.find_first_of("*?[") == std::string::npos) {
      found.push_back(word);  // ParameterSet reports an unknown name
      continue;
    }
    const std::size_t before = found.size();
    for (const std::string& name : ParameterSet::all_names(m))
      if (::fnmatch(word.c_str(), name.c_str(), 0) == 0) found.push_back(name);
    if (found.size() == before)
      throw NameError("no parameter matches '" + word +
                      "'; `catena info FILE --parameters` lists "
                      "them");
  }
  return found;
}

// E of δẋ = A δx + B δu + E δp: how the accelerations of the states change with parameters.
void add_parameters(const Mechanism& m, const LinearModel& model, const LinearizeOptions& options,
                    const LinearizeSettings& settings, Json& json, std::string& text) {
  const ParameterSet set(m, matching(m, options.parameters));
  const Eigen::MatrixXd e = parameter_matrix(m, model, set, settings);
  const Eigen::Index size = e.rows() / 2;
  const Eigen::VectorXd values = set.values();
  json["parameters"] = set.names();
  json["values"] = std::vector<double>(values.begin(), values.end());
  json["E"] = rows_json(e);
  // Parameters are many and states few: one row for each parameter.
  const std::vector<std::string> accelerations(model.states.end() - size, model.states.end());
  text += "\nE (transposed)\n" +
          matrix_text(e.bottomRows(size).transpose(), set.names(), accelerations);
}

void schedule(const LinearizeOptions& options, const Mechanism& m,
              const LinearizeSettings& settings) {
  const RunFile run(options.along);
  SensitivityWorkspace w(m);
  Json list = Json::array();
  Table table(
      {{"time", true}, {"largest acceleration", true}, {"norm of A", true}, {"norm of B", true}});
  const RecordedMotion motion = recorded_motion(run, m, Efforts::optional);
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(m.freedoms());
  for (std::size_t k = 0; k < motion.rows(); k += to_size(options.every)) {
    const LinearModel model =
        linearize(m, {motion.state(k), motion.effort(k), none, {}}, settings, w);
    Json json = model_json(m, model);
    json["time"] = motion.time(k);
    list.push_back(std::move(json));
    table.add({pretty(motion.time(k)), pretty(model.residual), pretty(model.A.norm()),
               pretty(model.B.norm())});
  }
  Json json;
  json["model"] = m.name();
  json["schedule"] = std::move(list);
  if (!options.out.empty()) write_text(json.dump(2) + "\n", options.out);
  if (options.json)
    write_text(json.dump(2) + "\n", "");
  else
    write_text(table.text(), "");
}

void linearize_command(const LinearizeOptions& options) {
  NamedHinges named{
      .freedoms = options.driven, .signals = options.inputs, .state_file = options.at};
  const auto append = [](std::vector<std::string>& to, const std::vector<std::string>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  append(named.freedoms, options.independent);
  append(named.signals, options.outputs);
  append(named.signals, options.parameters);
  const Mechanism m = options.model.load(named);
  print_warnings(m);
  LinearizeSettings settings;
  settings.inputs = options.inputs;
  settings.outputs = options.outputs;
  if (!options.driven.empty()) settings.motion_driven = mask_of(m, options.driven);
  if (!options.independent.empty()) settings.independent = mask_of(m, options.independent);
  if (!options.along.empty()) {
    schedule(options, m, settings);
    return;
  }
  StateInput in = options.at.empty() ? default_input(m) : read_state_file(options.at, m);
  close_loops_and_say(m, in);
  print_friction_warning(m, in.state);
  if (settings.motion_driven.empty()) settings.motion_driven = in.motion_driven;
  const LinearModel model =
      linearize(m, {in.state, in.effort, in.acceleration, in.external}, settings);
  Json json = model_json(m, model);
  std::string text = model_text(model);
  if (!options.parameters.empty()) add_parameters(m, model, options, settings, json, text);
  if (options.compare) {
    const Perturbation p = linearize_by_perturbation(m, model, settings);
    json["perturbation"] = {{"A", rows_json(p.A)},
                            {"B", rows_json(p.B)},
                            {"difference_A", p.difference_A},
                            {"difference_B", p.difference_B}};
    text += fmt::format(
        "\nBy perturbation of the nonlinear model: A differs by {:.2g}, B by {:.2g} (relative).\n",
        p.difference_A, p.difference_B);
  }
  if (!options.out.empty()) write_text(json.dump(2) + "\n", options.out);
  if (options.json)
    write_text(json.dump(2) + "\n", "");
  else if (options.out.empty())
    write_text(text, "");
}

}  // namespace

void add_linearize(CommandLine& line) {
  Command command = line.subcommand(
      "linearize", "Linear model (A, B, C, D and M, P1, P2, P3) about a state or along a run");
  const auto options = std::make_shared<LinearizeOptions>();
  options->model.add(command);
  command.file("--at", options->at,
               "State and efforts (YAML; default: the model's initial state, no efforts)");
  command.names(
      "--inputs", options->inputs,
      "Inputs: a freedom (its effort), force.BODY.x, moment.BODY.z (default: all efforts)");
  command.names("--outputs", options->outputs,
                "Outputs: q.NAME, v.NAME, a.NAME, effort.NAME, position.FRAME.x, velocity.FRAME.x "
                "(default: all states)");
  command.names("--motion-driven", options->driven,
                "Joints or freedoms whose acceleration is the input");
  command.names(
      "--independent", options->independent,
      "Joints or freedoms of closed loops to use as states (default: chosen by conditioning)");
  command.names("--parameters", options->parameters,
                "Also E, the derivatives by these parameters: body.link2.mass, hinge.*.damping");
  command.flag("--compare", options->compare,
               "Also linearize by perturbation and print the difference");
  command.option("--along", options->along, "Linearize at the states of this run")
      .placeholder("RUN.h5");
  command.option("--every", options->every, "Use every Nth row of the run").positive();
  command.json(options->json, options->out);
  command.footer(
      "Examples:\n"
      "  catena linearize models/double_pendulum.yaml\n"
      "  catena linearize models/four_bar.yaml --compare\n"
      "  catena linearize models/four_bar.yaml --independent A\n"
      "  catena linearize models/cart_pendulum.yaml --inputs rail --outputs q.rail,q.pivot -o "
      "linear.json\n"
      "  catena linearize models/double_pendulum.yaml --parameters 'body.*.mass,gravity.y'");
  command.action([options] { linearize_command(*options); });
}

}  // namespace catena::app
