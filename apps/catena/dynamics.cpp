// SPDX-License-Identifier: BSD-3-Clause
// catena dynamics: forward, inverse and hybrid dynamics, mass matrix, forces at the hinges and
// energy of one state.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/closed_state.h"
#include "apps/catena/model_options.h"
#include "apps/catena/output.h"
#include "catena/base/index.h"
#include "catena/constraints/chains_on_body.h"
#include "catena/constraints/multipliers.h"
#include "catena/dynamics/energy.h"
#include "catena/dynamics/forces.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/given_acceleration.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/dynamics/momentum.h"
#include "catena/simulation/state_file.h"

namespace catena::app {
namespace {

struct DynamicsOptions {
  ModelOptions model;
  std::string state;
  std::string what = "forward";
  std::string route = "automatic";
  std::string body;
  bool json = false;
  std::string out;
  std::vector<std::string> independent;
};

struct Result {
  Json json;
  std::string text;
};

using Names = std::span<const std::string>;

std::string digits(double x) { return fmt::format("{:.9g}", x == 0.0 ? 0.0 : x); }

double largest(const Eigen::VectorXd& values) { return values.lpNorm<Eigen::Infinity>(); }

Result motion(const Mechanism& m, const Eigen::VectorXd& acceleration,
              const Eigen::VectorXd& effort) {
  const Names names = m.velocity_names();
  Table table({{"freedom"}, {"acceleration", true}, {"effort", true}});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Eigen::Index k = static_cast<Eigen::Index>(i);
    table.add({names[i], digits(without_noise(acceleration[k], largest(acceleration))),
               digits(without_noise(effort[k], largest(effort)))});
  }
  Result result;
  result.json["acceleration"] = by_name(names, acceleration);
  result.json["effort"] = by_name(names, effort);
  result.text = table.text();
  return result;
}

// The state of a closed mechanism, as it was assembled.
void add_state(const Mechanism& m, const State& state, Json& json) {
  if (m.loops().empty()) return;
  json["q"] = by_name(m.position_names(), state.q);
  json["v"] = by_name(m.velocity_names(), state.v);
}

Route route_from(const std::string& name) {
  if (name == "recursive") return Route::recursive;
  if (name == "dense") return Route::dense;
  if (name == "multipliers") return Route::multipliers;
  return Route::automatic;
}

// Redundant rows that are off by more than this (1/s²) are so by the digits of the file.
constexpr double kRoundedRows = 1e-9;

// With the constraint forces, their redundancy and their undetermined components.
Result by_multipliers(const Mechanism& m, const StateInput& in) {
  const MultiplierReport r = multiplier_dynamics(m, in.state, in.effort, in.external);
  Result result = motion(m, r.acceleration, in.effort);
  Table table({{"constraint"}, {"component"}, {"force", true}, {"remark"}});
  Json rows = Json::array();
  double most = 0.0;
  for (const ConstraintRow& row : r.rows) most = std::max(most, std::abs(row.force));
  for (const ConstraintRow& row : r.rows) {
    std::string remark = row.redundant ? "redundant" : "";
    if (row.undetermined) remark += remark.empty() ? "undetermined" : ", undetermined";
    table.add({row.constraint, row.component, digits(without_noise(row.force, most)), remark});
    rows.push_back({{"constraint", row.constraint},
                    {"component", row.component},
                    {"force", row.force},
                    {"redundant", row.redundant},
                    {"undetermined", row.undetermined}});
  }
  result.json["multipliers"] = {{"rows", rows},
                                {"rank", r.rank},
                                {"redundant", r.redundant()},
                                {"reciprocal_condition", r.reciprocal_condition},
                                {"residual", r.residual},
                                {"redundant_residual", r.redundant_residual}};
  result.text +=
      "\n" + table.text() +
      fmt::format("rank {} of {} rows, residual {:.1e} 1/s²\n", r.rank, r.rows.size(), r.residual);
  if (r.redundant_residual > kRoundedRows)
    result.text += fmt::format(
        "redundant rows are off by {:.1e} 1/s²: they are redundant only within the rounding of the "
        "file's numbers\n",
        r.redundant_residual);
  return result;
}

Result forward(const Mechanism& m, const StateInput& in, const std::string& route) {
  if (route == "multipliers" && !m.loops().empty()) return by_multipliers(m, in);
  return motion(m, forward_dynamics(m, in.state, in.effort, in.external, route_from(route)),
                in.effort);
}

// In a closed mechanism the freedoms whose acceleration is given (or those of the model's own
// choice) are independent: their efforts are found, and the other accelerations follow.
Result inverse(const Mechanism& m, const StateInput& in) {
  Workspace w(m);
  const Eigen::VectorXd effort =
      inverse_dynamics_given(m, in.state, in.acceleration, in.given_acceleration, w, in.external);
  if (m.loops().empty()) return motion(m, in.acceleration, effort);
  const Eigen::VectorXd all =
      Eigen::Map<const Eigen::VectorXd>(w.all_accelerations().data(), m.freedoms());
  return motion(m, all, effort);
}

Result hybrid(const Mechanism& m, const StateInput& in) {
  const HybridResult r =
      hybrid_dynamics(m, in.state, {in.motion_driven, in.effort, in.acceleration}, in.external);
  return motion(m, r.acceleration, r.effort);
}

Result matrix(const Mechanism& m, const StateInput& in,
              const std::vector<std::string>& independent) {
  Workspace w(m);
  if (!independent.empty())
    w.set_chart(choose_chart(m, in.state.q, {.pinned = mask_of(m, independent)}), true);
  const Eigen::MatrixXd mass = mass_matrix(m, in.state.q, w);
  std::vector<std::string> names;  // of the independent freedoms: all of a tree's
  for (const int i : w.independent()) names.push_back(m.velocity_names()[index(i)]);
  std::vector<Table::Column> columns{{"freedom"}};
  for (const std::string& name : names) columns.push_back({name, true});
  Table table(columns);
  Result result;
  Json rows = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Eigen::VectorXd row = mass.row(static_cast<Eigen::Index>(i));
    rows[names[i]] = by_name(names, row);
    std::vector<std::string> words{names[i]};
    for (const double x : row) words.push_back(pretty(x));
    table.add(std::move(words));
  }
  result.json["mass_matrix"] = std::move(rows);
  result.text = table.text();
  return result;
}

// "(1, 2, ?)": components that redundant constraints leave undetermined are not shown. Where these
// are directions across the axes, "(1, 2, 0.5) + ? (0, 0.6, 0.8)": the known part, and the
// directions along which the rest is unknown.
std::string pretty_or_open(const Vec3d& known, const bool* open,
                           const std::vector<Vec3d>& directions) {
  const auto listed_vector = [](const auto& word_of) {
    return "(" + word_of(0) + ", " + word_of(1) + ", " + word_of(2) + ")";
  };
  const bool along_axes = std::count(open, open + 3, true) == static_cast<int>(directions.size());
  std::string text = listed_vector(
      [&](int i) { return along_axes && open[i] ? std::string("?") : pretty(known[i]); });
  if (!along_axes)
    for (const Vec3d& d : directions)
      text += " + ? " + listed_vector([&](int i) { return pretty(without_noise(d[i], 1.0)); });
  return text;
}

Json list_of(const std::vector<Vec3d>& vectors) {
  Json list = Json::array();
  for (const Vec3d& v : vectors) list.push_back(to_json(v));
  return list;
}

Json list_of(const HingeVector& values) {
  Json list = Json::array();
  for (const double x : values) list.push_back(x);
  return list;
}

// A hinge's force and moment in three sets of axes, its effort and its constraint forces; with the
// undetermined components if there are loops.
Json force_json(const Mechanism& m, const InterbodyForces& all, int h, const std::string& child) {
  const HingeForce own = all.at(h, ForceAxes::hinge);
  Json one;
  one["body"] = child;
  const auto mask_of = [&](ForceAxes axes) {
    const std::array<bool, 6> open = all.undetermined(h, axes);
    return Json{{"force", {open[3], open[4], open[5]}}, {"moment", {open[0], open[1], open[2]}}};
  };
  const auto add = [&](const char* key, ForceAxes axes) {
    const Wrenchd wrench = all.at(h, axes).wrench;
    one[key] = {{"force", to_json(wrench.force)}, {"moment", to_json(wrench.moment)}};
    if (m.loops().empty()) return;
    const Wrenchd known = all.determined(h, axes);
    const InterbodyForces::OpenDirections directions = all.open_directions(h, axes);
    one[key]["undetermined"] = mask_of(axes);
    one[key]["determined"] = {{"force", to_json(known.force)}, {"moment", to_json(known.moment)}};
    one[key]["undetermined_directions"] = {{"force", list_of(directions.force)},
                                           {"moment", list_of(directions.moment)}};
  };
  add("ground_axes", ForceAxes::ground);
  add("body_axes", ForceAxes::body);
  add("hinge_axes", ForceAxes::hinge);
  one["effort"] = list_of(own.effort);
  one["constraint_force"] = list_of(own.constraint_force);
  if (!m.loops().empty()) {
    one["undetermined"] = mask_of(ForceAxes::ground);
    one["undetermined_constraint_force"] = Json::array();
    for (const bool open : all.undetermined_constraint_force(h, ForceAxes::hinge))
      one["undetermined_constraint_force"].push_back(open);
  }
  return one;
}

// Tensions of rods and multipliers of couplings.
void add_multipliers(const Description& d, const InterbodyForces& all, Result& result) {
  for (std::size_t i = 0; i < d.rods.size(); ++i) {
    const double tension = all.rod_tension(static_cast<int>(i));
    const bool open = all.undetermined_rod(static_cast<int>(i));
    result.json["rods"][d.rods[i].name] = {{"tension", tension}, {"undetermined", open}};
    result.text +=
        "rod " + d.rods[i].name + ": tension " +
        (open ? "? (redundant constraints leave it undetermined)" : digits(tension) + " N") + "\n";
  }
  for (std::size_t i = 0; i < d.couplings.size(); ++i) {
    const double multiplier = all.coupling_multiplier(static_cast<int>(i));
    const bool open = all.undetermined_coupling(static_cast<int>(i));
    result.json["couplings"][d.couplings[i].name] = {{"multiplier", multiplier},
                                                     {"undetermined", open}};
    result.text += "coupling " + d.couplings[i].name + ": multiplier " +
                   (open ? "? (redundant constraints leave it undetermined)" : digits(multiplier)) +
                   "\n";
  }
}

// For the accelerations that the state gives, or else for those that its efforts produce.
Result forces(const Mechanism& m, const StateInput& in) {
  Workspace workspace(m);
  const Eigen::VectorXd acceleration =
      in.acceleration_given ? in.acceleration
                            : forward_dynamics(m, in.state, in.effort, workspace, in.external);
  InterbodyForces all(m);
  all.compute(in.state, acceleration, workspace, in.external,
              in.acceleration_given ? nullptr : &in.effort);
  Table table({{"hinge"}, {"on body"}, {"force (ground axes)"}, {"moment (ground axes)"}});
  bool some_undetermined = false;
  Result result;
  result.json["acceleration"] = by_name(m.velocity_names(), acceleration);
  result.json["forces"] = Json::object();
  for (int h = 0; h < static_cast<int>(m.hinges().size()); ++h) {
    const HingePlace& hinge = m.hinges()[index(h)];
    const std::string child =
        hinge.child_body < 0 ? kWorld : m.bodies()[index(hinge.child_body)].name;
    result.json["forces"][hinge.name] = force_json(m, all, h, child);
    const std::array<bool, 6> open = all.undetermined(h, ForceAxes::ground);
    const InterbodyForces::OpenDirections directions = all.open_directions(h, ForceAxes::ground);
    const Wrenchd known = all.determined(h, ForceAxes::ground);
    some_undetermined = some_undetermined || std::any_of(open.begin(), open.end(), std::identity{});
    table.add({hinge.name, child, pretty_or_open(known.force, open.data() + 3, directions.force),
               pretty_or_open(known.moment, open.data(), directions.moment)});
  }
  result.text = table.text();
  if (some_undetermined)
    result.text +=
        "?: redundant constraints leave this component undetermined; + ? (direction): what is "
        "shown is the part across that direction, the part along it is undetermined\n";
  add_multipliers(m.description(), all, result);
  return result;
}

Result energies(const Mechanism& m, const StateInput& in) {
  const Energy e = energy(m, in.state);
  const Momentum p = momentum(m, in.state);
  Result result;
  result.json["energy"] = {{"kinetic", e.kinetic},
                           {"gravity", e.gravity},
                           {"springs", e.springs()},
                           {"potential", e.potential()},
                           {"total", e.total()}};
  result.json["momentum"] = {{"linear", to_json(p.linear)}, {"angular", to_json(p.angular)}};
  result.text = fmt::format(
      "kinetic energy    {} J\ngravity           {} J\nsprings           {} J\n"
      "total             {} J\nlinear momentum   {} kg m/s\nangular momentum  {} kg m²/s\n",
      digits(e.kinetic), digits(e.gravity), digits(e.springs()), digits(e.total()),
      pretty(p.linear), pretty(p.angular));
  return result;
}

// Several chains that hold one body: the wrench of each on it, and its effective inertia.
Result chains(const Mechanism& m, const StateInput& in, const std::string& body) {
  if (body.empty())
    throw UsageError("catena dynamics: error: --what chains needs --body, the body they hold");
  const int hub = m.body_index(body);
  if (hub < 0) throw UsageError("catena dynamics: error: --body must be a body, not the world");
  const OpenedChains opened = open_chains(m, hub);
  ChainsOnBody on_body(opened.tree, hub, opened.contacts);
  const ChainsResult r = on_body.forward(in.state, in.effort, in.external);
  Result result = motion(m, r.acceleration, in.effort);
  Table table({{"contact"}, {"on body"}, {"force (contact axes)"}, {"moment (contact axes)"}});
  Json contacts = Json::object();
  for (std::size_t i = 0; i < opened.contacts.size(); ++i) {
    const ChainContact& contact = opened.contacts[i];
    const std::string on = contact.against < 0 ? kWorld : m.bodies()[index(contact.against)].name;
    const Wrenchd& wrench = r.wrenches[i];
    table.add({contact.name, on, pretty(wrench.force), pretty(wrench.moment)});
    contacts[contact.name] = {
        {"body", on}, {"force", to_json(wrench.force)}, {"moment", to_json(wrench.moment)}};
  }
  Json inertia = Json::array();
  std::string rows;
  for (int i = 0; i < 6; ++i) {
    Json row = Json::array();
    for (int k = 0; k < 6; ++k) {
      const double x = r.effective_inertia(i, k);
      row.push_back(std::isfinite(x) ? Json(x) : Json(nullptr));
      rows += fmt::format("{:>14}", digits(x));
    }
    inertia.push_back(std::move(row));
    rows += "\n";
  }
  result.json["chains"] = {{"body", body},
                           {"contacts", std::move(contacts)},
                           {"effective_inertia", std::move(inertia)},
                           {"by_blocks", r.by_blocks},
                           {"rank", r.rank}};
  result.text += "\n" + table.text() + "\neffective inertia of '" + body +
                 "' (angular, linear; its own axes)\n" + rows;
  return result;
}

void dynamics(const DynamicsOptions& options) {
  const Mechanism m =
      options.model.load({.freedoms = options.independent, .state_file = options.state});
  print_warnings(m);
  StateInput in = options.state.empty() ? default_input(m) : read_state_file(options.state, m);
  close_loops_and_say(m, in);
  print_loop_warnings(m, in.state.q);
  Result result;
  if (options.what == "forward") result = forward(m, in, options.route);
  if (options.what == "inverse") result = inverse(m, in);
  if (options.what == "hybrid") result = hybrid(m, in);
  if (options.what == "mass-matrix") result = matrix(m, in, options.independent);
  if (options.what == "forces") result = forces(m, in);
  if (options.what == "energy") result = energies(m, in);
  if (options.what == "chains") result = chains(m, in, options.body);
  add_state(m, in.state, result.json);
  // A file is for machines.
  const bool json = options.json || !options.out.empty();
  write_text(json ? result.json.dump(2) + "\n" : result.text, options.out);
}

}  // namespace

void add_dynamics(CommandLine& line) {
  Command command = line.subcommand(
      "dynamics",
      "Forward and inverse dynamics, bearing forces, mass matrix and energy of a state");
  const auto options = std::make_shared<DynamicsOptions>();
  options->model.add(command);
  command.file("--state", options->state,
               "YAML with q, v, effort, acceleration, external, motion_driven (default: the "
               "model's initial state, no efforts)");
  command.option("--what", options->what, "What to compute")
      .one_of({"forward", "inverse", "hybrid", "mass-matrix", "forces", "energy", "chains"})
      .show_default();
  command
      .option("--body", options->body,
              "For chains: the body that they hold; every hinge that closes a loop on it, or "
              "on the ground, is a contact")
      .placeholder("BODY");
  command
      .option("--route", options->route,
              "For forward dynamics: recursive sweeps (ABA, loops embedded), dense (mass matrix), "
              "or multipliers (loops by their constraint forces, with a report on them)")
      .one_of({"automatic", "recursive", "dense", "multipliers"})
      .show_default();
  command.names(
      "--independent", options->independent,
      "For mass-matrix of a closed mechanism: its independent freedoms (default: chosen by "
      "conditioning)");
  command.json(options->json, options->out);
  command.footer(
      "Examples:\n"
      "  catena dynamics models/double_pendulum.yaml\n"
      "  catena dynamics models/arm6.yaml --what mass-matrix --json\n"
      "  catena dynamics models/four_bar.yaml --route multipliers\n"
      "  catena dynamics verification/two_arms/model.yaml --what chains --body object\n"
      "  catena dynamics models/arm6.yaml --state state.yaml --what inverse -o effort.json\n\n"
      "A state file, everything optional:\n"
      "  q: {shoulder: 0.3, elbow: -0.5}    # by hinge or coordinate, or a list in order\n"
      "  v: [0.1, 0.2]\n"
      "  effort: {shoulder: 2.0}            # of force-driven freedoms\n"
      "  acceleration: {elbow: 1.0}         # inverse and hybrid dynamics\n"
      "  motion_driven: [elbow]             # hybrid dynamics\n"
      "  external:\n"
      "    - {body: hand, force: [0, 0, -10], point: [0.1, 0, 0], axes: ground}\n\n"
      "Forces of closed loops: what redundant constraints leave undetermined is marked, ? for a\n"
      "component, or + ? (direction) where only the part across that direction is known; the JSON\n"
      "has masks, directions and determined parts along the axes of ground, body and hinge.");
  command.action([options] { dynamics(*options); });
}

}  // namespace catena::app
