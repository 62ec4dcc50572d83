// SPDX-License-Identifier: BSD-3-Clause
// catena ik: inverse kinematics, a position in which a point or frame of a body is at a target.
#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/closed_state.h"
#include "apps/catena/model_options.h"
#include "apps/catena/output.h"
#include "catena/base/index.h"
#include "catena/constraints/inverse_kinematics.h"
#include "catena/simulation/state_file.h"

namespace catena::app {
namespace {

struct IkOptions {
  ModelOptions model;
  std::string state;
  std::string body;
  std::vector<double> point{0.0, 0.0, 0.0};
  std::vector<double> to;
  std::vector<double> rpy;
  std::vector<std::string> fix;
  bool ignore_limits = false;
  bool json = false;
  std::string out;
};

void ik_command(const IkOptions& options) {
  const Mechanism m = options.model.load({.freedoms = options.fix, .state_file = options.state});
  print_warnings(m);
  StateInput in = options.state.empty() ? default_input(m) : read_state_file(options.state, m);
  // A frame of interest has a name of its own.
  int body = -1;
  Transformd frame =
      Transformd::from_translation({options.point[0], options.point[1], options.point[2]});
  const auto named = std::find_if(m.frames().begin(), m.frames().end(),
                                  [&](const FramePlace& f) { return f.name == options.body; });
  if (named == m.frames().end() || m.has_body(options.body)) {
    body = m.body_index(options.body);
  } else {
    body = named->body;
    if (body >= 0)
      frame = m.bodies()[index(body)].X_node_body.inverse() * named->X_node_frame * frame;
  }
  if (body < 0) throw Error("'" + options.body + "' is fixed to the ground and cannot be moved");
  InverseKinematicsGoals goals;
  const Vec3d target{options.to[0], options.to[1], options.to[2]};
  if (options.rpy.empty())
    goals.points.push_back({body, frame.translation, target});
  else
    goals.frames.push_back(
        {body,
         frame,
         {Rotationd::from_rpy(options.rpy[0], options.rpy[1], options.rpy[2]), target}});
  InverseKinematicsSettings settings;
  settings.keep_limits = !options.ignore_limits;
  if (!options.fix.empty()) settings.fixed = mask_of(m, options.fix);
  const InverseKinematics found = inverse_kinematics(m, in.state.q, goals, settings);
  const State state{found.q, Eigen::VectorXd::Zero(m.freedoms())};

  if (options.json) {
    Json json;
    json["reached"] = found.reached;
    json["distance"] = found.distance;
    json["angle"] = found.angle;
    json["closure_residual"] = found.closure_residual;
    json["q"] = by_name(m.position_names(), state.q);
    write_text(json.dump(2) + "\n", "");
  } else {
    Table table({{"coordinate"}, {"given", true}, {"found", true}});
    for (int i = 0; i < m.coordinates(); ++i)
      table.add({m.position_names()[index(i)], pretty(in.state.q[i]),
                 fmt::format("{:.12g}", state.q[i])});
    write_text(table.text() + fmt::format("{}: {:.2g} m and {:.2g} rad remain\n",
                                          found.reached ? "reached" : "not reached", found.distance,
                                          found.angle),
               "");
  }
  if (!options.out.empty()) write_text(state_yaml(m, state), options.out);
  if (!found.reached)
    throw Error(fmt::format(
        "the goal for '{}' cannot be reached from this start: {:.3g} m and {:.3g} rad remain{}; "
        "try another start (--state), free fixed hinges, or check limits",
        options.body, found.distance, found.angle,
        found.closure_residual > 1e-5 ? ", and a loop is open" : ""));
}

}  // namespace

void add_ik(CommandLine& line) {
  Command command = line.subcommand(
      "ik", "Inverse kinematics: joint positions that bring a point or frame to a target");
  const auto options = std::make_shared<IkOptions>();
  options->model.add(command);
  command.option("--body", options->body, "The body, or a frame of the model").required();
  command.option("--point", options->point, "Point in the frame of the body")
      .values(3)
      .placeholder("X Y Z");
  command.option("--to", options->to, "Target of the point, ground frame, m")
      .values(3)
      .required()
      .placeholder("X Y Z");
  command.option("--rpy", options->rpy, "Orientation too: roll, pitch, yaw, rad")
      .values(3)
      .placeholder("R P Y");
  command.option("--fix", options->fix, "Joints or freedoms to leave as they are");
  command.option("--state", options->state, "Start from this state (YAML), not the model's");
  command.flag("--ignore-limits", options->ignore_limits, "Ignore joint limits");
  command.flag("--json", options->json, "Print JSON");
  command.file("-o,--output", options->out, "Write the state found to this YAML file");
  command.footer(
      "Examples:\n"
      "  catena ik models/arm6.yaml --body flange --to 0.4 0.2 0.5\n"
      "  catena ik models/arm6.yaml --body flange --to 0.4 0.2 0.5 --rpy 0 1.2 0 -o state.yaml");
  command.action([options] { ik_command(*options); });
}

}  // namespace catena::app
