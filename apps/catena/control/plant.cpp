// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/control/plant.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/core.h>

#include "apps/catena/closed_state.h"
#include "apps/catena/linear_output.h"
#include "apps/catena/output.h"
#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/components/controller_file.h"
#include "catena/io/models/yaml_tree.h"
#include "catena/io/text_file.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/discretize.h"
#include "catena/linear/files/structure_file.h"
#include "catena/simulation/recording/outputs.h"

namespace catena::app {
namespace {

// A file with a linear system: HDF5, or YAML with its matrices.
bool is_system_file(const std::string& path) {
  if (path.ends_with(".h5") || path.ends_with(".hdf5")) return true;
  if (!path.ends_with(".yaml") && !path.ends_with(".yml")) return false;
  std::vector<Diagnostic> ignored;
  const std::optional<std::string> text = read_text_file(path, ignored);
  if (!text) return false;
  const yaml::Tree tree = yaml::parse(*text, path, ignored);
  if (tree.root == nullptr || !tree.root->is_map()) return false;
  return tree.root->find("linear system") != nullptr || tree.root->find("A") != nullptr ||
         tree.root->find("D") != nullptr;
}

// Dense commands on a structure: its (q, q̇) form as long as that is small.
StateSpace dense_structure(const std::string& file) {
  const SecondOrder s = load_structure(file);
  constexpr int kMostFreedoms = 1000;
  if (s.freedom_count() > kMostFreedoms)
    throw Error(
        fmt::format("{}: the structure has {} freedoms; reduce it first: catena control "
                    "reduce {} --order 60 -o small.yaml",
                    file, s.freedom_count(), file));
  return state_space(s);
}

// The freedom whose effort is this input; −1 for forces on bodies.
Eigen::Index freedom_of(const Mechanism& m, const std::string& input) {
  const std::string name = input.starts_with("effort.") ? input.substr(7) : input;
  const auto& names = m.velocity_names();
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : found - names.begin();
}

// Efforts at the inputs that hold the mechanism at rest. Accelerations are affine in the efforts,
// so one least-squares solution is exact if there is any.
bool hold_by_inputs(const Mechanism& m, const LinearModel& model, StateInput& in) {
  const Eigen::Index n = std::ssize(model.freedoms);
  if (model.B.rows() < n || model.B.cols() == 0) return false;
  Eigen::VectorXd a(n);
  for (Eigen::Index i = 0; i < n; ++i) a[i] = model.acceleration[at(model.freedoms, i)];
  const Eigen::MatrixXd b = model.B.bottomRows(n);
  const Eigen::VectorXd u = CompleteOrthogonal(b).solve(-a);
  constexpr double kExact = 1e-9;
  if ((b * u + a).norm() > kExact * (1.0 + a.norm())) return false;
  for (Eigen::Index j = 0; j < u.size(); ++j) {
    const Eigen::Index freedom = freedom_of(m, at(model.inputs, j));
    if (freedom < 0) return false;
    in.effort[freedom] += u[j];
  }
  return true;
}

void fill_units(const Mechanism& m, StateSpace& s) {
  const auto is_length = [&](const std::string& name) {
    const std::size_t dot = name.find('.');
    const std::string freedom = dot == std::string::npos ? name : name.substr(dot + 1);
    if (name.starts_with("position.") || name.starts_with("velocity.") ||
        name.starts_with("force."))
      return true;
    const Eigen::Index f = freedom_of(m, freedom);
    return f >= 0 && velocity_unit(m, static_cast<int>(f)) == "m/s";
  };
  const auto unit = [&](const std::string& name, bool input) -> std::string {
    const std::string base = is_length(name) ? "m" : "rad";
    if (input) return is_length(name) ? "N" : "N m";
    if (name.starts_with("v.") || name.starts_with("velocity.")) return base + "/s";
    if (name.starts_with("a.")) return base + "/s²";
    return base;
  };
  for (const std::string& name : s.states) s.state_units.push_back(unit(name, false));
  for (const std::string& name : s.inputs) s.input_units.push_back(unit(name, true));
  for (const std::string& name : s.outputs) s.output_units.push_back(unit(name, false));
}

}  // namespace

void PlantOptions::add(Command& command) {
  model_.add(command).help(
      "A mechanism (.yaml, .urdf, .sdf), a linear system or a structure M, D, K (.yaml, .h5)");
  command
      .option("--at", at_,
              "Of a mechanism: state and efforts (YAML; default: its initial state, held by the "
              "inputs)")
      .placeholder("STATE");
  command
      .option("--inputs", inputs_,
              "Inputs: freedoms with an actuator (default: all); of a system file its channels")
      .separated_by(',')
      .placeholder("NAME,...");
  command
      .option("--outputs", outputs_,
              "Outputs: q.NAME, v.NAME, position.FRAME.x (default: all states)")
      .separated_by(',')
      .placeholder("NAME,...");
  command
      .option("--pade", pade_,
              "Order of the rational approximation of a system's delays (default: none)")
      .placeholder("N");
  command.option("--independent", independent_, "Freedoms of closed loops that are to be states")
      .separated_by(',')
      .placeholder("NAME,...");
}

Plant PlantOptions::from_mechanism(const StateSpace* controller, PointNeeded point) const {
  NamedHinges named{.freedoms = independent_, .signals = inputs_, .state_file = at_};
  LinearizeSettings settings{.inputs = inputs_, .outputs = outputs_};
  if (controller != nullptr && inputs_.empty()) settings.inputs = controller->outputs;
  if (controller != nullptr && outputs_.empty()) settings.outputs = controller->inputs;
  for (const auto* names : {&settings.inputs, &settings.outputs})
    named.signals.insert(named.signals.end(), names->begin(), names->end());
  Plant plant;
  plant.file = file();
  PlantMechanism origin{std::make_unique<Mechanism>(model_.load(named)), {}, {}};
  const Mechanism& m = *origin.mechanism;
  print_warnings(m);
  for (std::string& name : settings.inputs)
    if (name.starts_with("effort.")) name = name.substr(7);
  if (!independent_.empty()) settings.independent = mask_of(m, independent_);
  origin.at = at_.empty() ? default_input(m) : read_state_file(at_, m);
  if (at_.empty() && controller != nullptr && controller->point &&
      controller->point->q.size() == origin.at.state.q.size() &&
      controller->point->v.size() == origin.at.state.v.size()) {
    origin.at.state.q = controller->point->q;
    origin.at.state.v = controller->point->v;
  }
  close_loops_and_say(m, origin.at);
  print_friction_warning(m, origin.at.state);
  const auto model_at = [&] {
    const StateInput& in = origin.at;
    return linearize(m, {in.state, in.effort, in.acceleration, in.external}, settings);
  };
  try {
    origin.model = model_at();
  } catch (const NameError& e) {
    if (controller == nullptr || (!inputs_.empty() && !outputs_.empty())) throw;
    throw NameError("the signals of the controller do not match " + file() + ": " + e.what() +
                    ". Its inputs are " + listed(controller->inputs) + ", its outputs " +
                    listed(controller->outputs));
  }
  if (origin.model.residual > kRest && origin.model.speed <= kRest &&
      hold_by_inputs(m, origin.model, origin.at))
    origin.model = model_at();
  const bool rests = origin.model.residual <= kRest && origin.model.speed <= kRest;
  if (!rests) {
    const std::string text = fmt::format(
        "{}: {}: the state is no equilibrium (largest acceleration {:.3g}, speed {:.3g})", file(),
        point == PointNeeded::equilibrium ? "error" : "warning", origin.model.residual,
        origin.model.speed);
    if (point == PointNeeded::equilibrium)
      throw UsageError(text +
                       "; give one by --at STATE (`catena equilibrium` finds it), or inputs "
                       "that can hold the mechanism there");
    std::fprintf(stderr, "%s; the linear model is about the motion through it\n", text.c_str());
  }
  plant.system = state_space(origin.model, m);
  Eigen::VectorXd u0 = Eigen::VectorXd::Zero(plant.system.input_count());
  for (int j = 0; j < u0.size(); ++j)
    if (const Eigen::Index f = freedom_of(m, plant.system.input_name(j)); f >= 0)
      u0[j] = origin.at.effort[f];
  plant.system.point->u0 = u0;
  fill_units(m, plant.system);
  plant.origin = std::move(origin);
  return plant;
}

Plant PlantOptions::load(const StateSpace* controller, PointNeeded point) const {
  static_cast<void>(model_.settings());  // there is such a file
  Plant plant;
  const bool structure = is_structure_file(file());
  if (!structure && !is_system_file(file())) {
    plant = from_mechanism(controller, point);
  } else {
    plant.file = file();
    plant.system = structure ? dense_structure(file()) : load_controller(file()).system;
    const StateSpace& s = plant.system;
    if (!inputs_.empty() || !outputs_.empty())
      plant.system =
          select(s, outputs_.empty() ? s.outputs : outputs_, inputs_.empty() ? s.inputs : inputs_);
    if (!at_.empty())
      throw UsageError("catena control: error: --at is for mechanisms; " + file() +
                       " is a linear system");
  }
  if (pade_) {
    constexpr int kMost = 40;
    if (*pade_ < 1 || *pade_ > kMost)
      throw UsageError(
          fmt::format("catena control: error: --pade is {}; it must be 1 to {}", *pade_, kMost));
    if (plant.system.is_continuous() && plant.system.has_delay())
      plant.system = pade(plant.system, *pade_);
  }
  if (plant.system.input_count() == 0 || plant.system.output_count() == 0)
    throw Error(file() + ": the system has " + std::to_string(plant.system.input_count()) +
                " inputs and " + std::to_string(plant.system.output_count()) +
                " outputs; name some by --inputs and --outputs");
  return plant;
}

std::optional<LinearControllerSettings> load_controller_file(const std::string& path) {
  if (path.empty()) return {};
  return load_controller(path);
}

void require_no_delay(const StateSpace& system, const std::string& file) {
  if (system.is_continuous() && system.has_delay())
    throw UsageError("catena control: error: " + file +
                     " has delays; give --pade N, the order of a rational approximation (usually "
                     "4), or sample it: --period of a design, `catena control discretize`");
}

void sample_plant(Plant& plant, const std::optional<double>& given) {
  const auto absorb = [&] {
    require_no_delay(plant.system, plant.file);
    if (!plant.system.has_delay()) return;
    const std::optional<SystemPoint> point = plant.system.point;
    plant.system = absorb_delays(plant.system);
    plant.system.point = point;
    if (plant.system.point) plant.system.point->x0.resize(0);
  };
  if (!given) return absorb();
  const double period = *given;
  if (!(period > 0.0) || !std::isfinite(period))
    throw UsageError("catena control: error: --period is " + number(period) +
                     " s; it must be positive");
  if (plant.system.is_discrete()) {
    if (std::abs(plant.system.dt - period) <= 1e-12 * period) return absorb();
    throw UsageError("catena control: error: the plant is sampled at " + number(plant.system.dt) +
                     " s already; leave --period out, or give the continuous plant");
  }
  // Poles of the samples are 1 + period λ; a part of 1e-9 leaves six digits of λ.
  constexpr double kShort = 1e-9;
  const Eigen::VectorXcd all = poles(plant.system);
  const double fastest = all.size() > 0 ? all.cwiseAbs().maxCoeff() : 0.0;
  if (fastest > 0.0 && period * fastest < kShort)
    throw UsageError("catena control: error: --period is " + number(period) +
                     " s; beside the fastest pole of " + pretty(fastest) +
                     " rad/s the samples would have no digits; give at least " +
                     short_number(kShort / fastest) + " s, usually 0.01 to 0.1 of its inverse");
  const std::optional<SystemPoint> point = plant.system.point;
  const int order = plant.system.order();
  plant.system = c2d(plant.system, period);
  plant.system.point = point;
  if (plant.system.point && plant.system.order() != order) plant.system.point->x0.resize(0);
  absorb();
}

}  // namespace catena::app
