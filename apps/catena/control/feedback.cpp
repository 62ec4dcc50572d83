// SPDX-License-Identifier: BSD-3-Clause
// catena control place, lqr, lqg, ltr: feedback by poles and by quadratic weights.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "apps/catena/assignments.h"
#include "apps/catena/control/control_commands.h"
#include "apps/catena/control/weights.h"
#include "apps/catena/linear_output.h"
#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/components/controller_file.h"
#include "catena/control/lqg.h"
#include "catena/control/place.h"
#include "catena/linear/discretize.h"
#include "catena/linear/freqresp.h"

namespace catena::app {
namespace {

int index_among(const std::vector<std::string>& names, const std::string& name,
                const std::vector<std::string>& all) {
  for (const char* front : {"", "effort.", "q."}) {  // "rail" is the effort at it, or its position
    const auto found = std::find(names.begin(), names.end(), front + name);
    if (found != names.end()) return static_cast<int>(found - names.begin());
  }
  throw NameError("there is no signal '" + name + "'" + did_you_mean(name, all) +
                  (all.size() <= 12 ? " (" + listed(all) + ")" : std::string()));
}

// Diagonal from NAME=X over a default.
Eigen::VectorXd diagonal(const std::vector<std::string>& names,
                         const std::vector<std::string>& texts, double otherwise, bool strict,
                         const std::string& command, const std::string& option) {
  Eigen::VectorXd d = Eigen::VectorXd::Constant(std::ssize(names), otherwise);
  for (const auto& [name, x] : numbers_by_name(texts, command, option)) {
    if (!(strict ? x > 0.0 : x >= 0.0) || !std::isfinite(x))
      throw UsageError("catena " + command + ": error: " + option + " " + name + "=" + number(x) +
                       (strict ? ": must be positive" : ": must not be negative"));
    d[index_among(names, name, names)] = x;
  }
  return d;
}

// Roots of a diagonal matrix, entry by entry.
Eigen::MatrixXd root(const Eigen::MatrixXd& diagonal_matrix) {
  return diagonal_matrix.diagonal().cwiseSqrt().asDiagonal();
}

// "-3, -2+4i": a complex pole brings its conjugate.
Eigen::VectorXcd parse_poles(const std::vector<std::string>& texts) {
  std::vector<std::complex<double>> list;
  for (const std::string& text : texts) {
    double re = 0.0, im = 0.0;
    std::size_t used = 0;
    bool good = true;
    try {
      re = std::stod(text, &used);
      if (used < text.size()) {
        std::string rest = text.substr(used);
        if (rest == "+i" || rest == "-i" || rest == "+j" || rest == "-j") rest.insert(1, "1");
        if (rest == "i" || rest == "j") {
          im = re;
          re = 0.0;
        } else {
          im = std::stod(rest, &used);
          good = used + 1 == rest.size() && (rest.back() == 'i' || rest.back() == 'j');
        }
      }
    } catch (const std::exception&) {
      good = false;
    }
    if (!good || !std::isfinite(re) || !std::isfinite(im))
      throw UsageError(
          "catena control place: error: --poles needs numbers such as -3,-2+4i, not '" + text +
          "'");
    list.emplace_back(re, im);
  }
  std::vector<std::complex<double>> all;
  std::vector<char> paired(list.size(), 0);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (paired[i] != 0) continue;
    all.push_back(list[i]);
    if (list[i].imag() == 0.0) continue;
    for (std::size_t k = i + 1; k < list.size(); ++k)
      if (paired[k] == 0 && list[k] == std::conj(list[i])) {
        paired[k] = 1;
        break;
      }
    all.push_back(std::conj(list[i]));
  }
  Eigen::VectorXcd poles(std::ssize(all));
  for (Eigen::Index i = 0; i < poles.size(); ++i) poles[i] = at(all, i);
  return poles;
}

// The plant with all states as outputs: what state feedback measures.
Plant measured_fully(const Plant& plant) {
  Plant full;
  full.file = plant.file;
  full.system = plant.system;
  StateSpace& s = full.system;
  s.C = Eigen::MatrixXd::Identity(s.order(), s.order());
  s.D = Eigen::MatrixXd::Zero(s.order(), s.input_count());
  s.outputs = s.states;
  s.output_units = s.state_units;
  s.output_delay.resize(0);
  if (s.point) s.point->y0.resize(0);
  return full;
}

struct PlaceOptions {
  ControlOptions common;
  std::vector<std::string> poles;
  bool output_feedback = false;
};

void place_command(const PlaceOptions& options) {
  Plant plant = options.common.plant.load(nullptr, PointNeeded::equilibrium);
  sample_plant(plant, {});
  const Eigen::VectorXcd poles = parse_poles(options.poles);
  DesignOutput out;
  if (options.output_feedback) {
    const OutputPlacement r = place_output(plant.system, poles);
    out.title = "Output feedback by pole placement";
    out.controller = controller_for(plant.system, ss(-r.K, plant.system.dt));
    out.certificate = r.certificate;
    out.text = fmt::format("gain              {} (Frobenius norm)\nother poles       {}\n",
                           pretty(r.gain_norm), r.rest_stable ? "stable" : "NOT stable");
    out.json = {{"gain", rows_json(r.K)},
                {"assigned", complex_json(r.assigned)},
                {"spectrum", complex_json(r.spectrum)}};
    finish_design(options.common, plant, out);
    return;
  }
  const PlaceResult r = place(plant.system, poles);
  Plant full = measured_fully(plant);
  full.origin = std::move(plant.origin);
  out.title = "State feedback by pole placement";
  out.controller = controller_for(full.system, ss(-r.K, plant.system.dt));
  out.certificate = r.certificate;
  out.text =
      fmt::format("largest error     {} of a pole\ncondition         {} of the eigenvectors\n",
                  short_number(r.largest_error), pretty(r.condition));
  out.json = {{"gain", rows_json(r.K)}, {"condition", r.condition}};
  finish_design(options.common, full, out);
}

struct LqOptions {
  ControlOptions common;
  QuadraticWeights weights;
  std::optional<double> period;
  std::vector<double> recovery;
  std::string side = "input";
};

std::string gain_table(const Eigen::MatrixXd& K, const StateSpace& plant) {
  return "K of u = -K x\n" + matrix_text(K, plant.inputs, plant.states);
}

void control_lqr(const LqOptions& options) {
  Plant plant = options.common.plant.load(nullptr, PointNeeded::equilibrium);
  const Eigen::MatrixXd Q = options.weights.state_weight(plant.system);
  const Eigen::MatrixXd R = options.weights.input_weight(plant.system);
  if (plant.system.has_delay() && options.period)
    throw UsageError(
        "catena control lqr: error: " + plant.file +
        " has delays: state feedback would have to measure what is under way; use lqg");
  const bool sampled_cost = options.period && plant.system.is_continuous();
  const StateSpace continuous = plant.system;
  sample_plant(plant, options.period);  // refuses a period out of range
  const LqrResult r =
      sampled_cost ? lqrd(continuous, Q, R, *options.period) : lqr(continuous, Q, R);
  Plant full = measured_fully(plant);
  full.origin = std::move(plant.origin);
  DesignOutput out;
  out.title = "LQR state feedback";
  out.controller = controller_for(full.system, ss(-r.K, plant.system.dt));
  out.certificate = r.certificate;
  out.text = gain_table(r.K, full.system);
  out.json = {{"gain", rows_json(r.K)}};
  finish_design(options.common, full, out);
}

void control_lqg(const LqOptions& options) {
  Plant plant = options.common.plant.load(nullptr, PointNeeded::equilibrium);
  sample_plant(plant, options.period);
  const StateSpace& s = plant.system;
  const QuadraticWeights& w = options.weights;
  const double scale = s.is_discrete() ? 1.0 / s.dt : 1.0;  // intensities of sampled noise
  const LqgResult r = lqg(s, w.state_weight(s), w.input_weight(s), w.input_noise(s) * scale,
                          w.output_noise(s) * scale, s.B);
  DesignOutput out;
  out.title = "LQG controller";
  out.controller = controller_for(s, r.controller);
  out.certificate = r.certificate;
  out.text = fmt::format("expected cost     {}\n", pretty(r.cost));
  out.json = {{"cost", r.cost},
              {"regulator_gain", rows_json(r.regulator.K)},
              {"filter_gain", rows_json(r.filter.L)}};
  finish_design(options.common, plant, out);
}

void control_ltr(const LqOptions& options) {
  Plant plant = options.common.plant.load(nullptr, PointNeeded::equilibrium);
  sample_plant(plant, options.period);
  const StateSpace& s = plant.system;
  const QuadraticWeights& w = options.weights;
  for (const double x : options.recovery)
    if (!(x > 0.0) || !std::isfinite(x))
      throw UsageError("catena control ltr: error: --recovery has " + number(x) +
                       "; the factors must be positive");
  const std::vector<double> q =
      options.recovery.empty() ? std::vector<double>{1.0, 1e2, 1e4, 1e6} : options.recovery;
  const Eigen::MatrixXd noise = s.B * w.input_noise(s) * s.B.transpose();
  const LtrResult r =
      ltr(s, w.state_weight(s), w.input_weight(s), noise, w.output_noise(s), q, frequency_grid(s),
          options.side == "output" ? RecoverySide::output : RecoverySide::input);
  if (r.steps.empty()) throw Error("loop transfer recovery needs at least one --recovery factor");
  Table table({{"q", true}, {"distance from the target loop", true}});
  Json steps = Json::array();
  for (const RecoveryStep& step : r.steps) {
    table.add({pretty(step.q), pretty(step.error)});
    steps.push_back({{"q", step.q}, {"error", step.error}});
  }
  DesignOutput out;
  out.title = "LTR controller";
  out.controller = controller_for(s, r.steps.back().controller);
  out.certificate = r.certificate;
  out.text = table.text();
  out.json = {{"steps", std::move(steps)}};
  finish_design(options.common, plant, out);
}

}  // namespace

void QuadraticWeights::add(Command& on, const std::string& name, bool noise) {
  command = "control " + name;
  const auto texts = [&](const char* option, std::vector<std::string>& to, const char* what) {
    on.option(option, to, what).placeholder("NAME=X").repeatable();
  };
  texts("--q", q, "Weight of an output or a state, squared (default: 1 for each output)");
  texts("--r", r, "Weight of an input, squared (default: 1)");
  if (!noise) return;
  texts("--w", w, "Intensity of white noise at an input (default: 1)");
  texts("--v", v, "Intensity of white noise of an output (default: 1e-4)");
}

Eigen::MatrixXd QuadraticWeights::state_weight(const StateSpace& plant) const {
  std::vector<std::string> outputs, states;
  bool only_states = false;
  for (const std::string& text : q) {
    const std::string name = split_assignment(text, command, "--q").first;
    bool output = false;
    for (const std::string& known : plant.outputs)
      output = output || known == name || known == "q." + name;
    std::vector<std::string> all = plant.outputs;
    all.insert(all.end(), plant.states.begin(), plant.states.end());
    if (!output) index_among(plant.states, name, all);
    only_states = only_states || !output;
    (output ? outputs : states).push_back(text);
  }
  const double otherwise = only_states ? 0.0 : 1.0;
  const Eigen::VectorXd y = diagonal(plant.outputs, outputs, otherwise, false, command, "--q");
  const Eigen::VectorXd x = diagonal(plant.states, states, 0.0, false, command, "--q");
  for (int i = 0; i < plant.output_count(); ++i)
    if (y[i] != 0.0 && !plant.D.row(i).isZero(0.0))
      throw NumericalError("catena " + command + ": output '" + plant.output_name(i) +
                           "' depends directly on the inputs, so its weight would also weigh them; "
                           "weigh states instead (--q STATE=WEIGHT)");
  Eigen::MatrixXd Q = plant.C.transpose() * y.asDiagonal() * plant.C;
  Q.diagonal() += x;
  return Q;
}

Eigen::MatrixXd QuadraticWeights::input_weight(const StateSpace& plant) const {
  return diagonal(plant.inputs, r, 1.0, true, command, "--r").asDiagonal();
}
Eigen::MatrixXd QuadraticWeights::input_noise(const StateSpace& plant) const {
  return diagonal(plant.inputs, w, 1.0, false, command, "--w").asDiagonal();
}
Eigen::MatrixXd QuadraticWeights::output_noise(const StateSpace& plant) const {
  constexpr double kSensor = 1e-4;
  return diagonal(plant.outputs, v, kSensor, true, command, "--v").asDiagonal();
}

GeneralizedPlant standard_plant(const StateSpace& plant, const QuadraticWeights& weights,
                                NoiseScale noise) {
  const Eigen::Index n = plant.order(), m = plant.input_count(), p = plant.output_count();
  if (n == 0)
    throw NumericalError("the plant has no states; a constant gain needs no dynamic controller");
  // z has as many rows as Q has rank.
  const Eigen::MatrixXd Q = weights.state_weight(plant);
  const SymmetricEigen eigen = symmetric_eigen(Q);
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < n; ++i)
    if (eigen.values[i] > 1e-14 * eigen.values.cwiseAbs().maxCoeff()) kept.push_back(i);
  const Eigen::Index nz = std::ssize(kept);
  Eigen::MatrixXd Cz(nz, n);
  for (Eigen::Index i = 0; i < nz; ++i)
    Cz.row(i) = std::sqrt(eigen.values[at(kept, i)]) * eigen.vectors.col(at(kept, i)).transpose();
  const Eigen::MatrixXd Rh = root(weights.input_weight(plant));
  const bool sampled = noise == NoiseScale::intensity && plant.is_discrete();
  const double scale = sampled ? 1.0 / std::sqrt(plant.dt) : 1.0;
  const Eigen::MatrixXd Wh = scale * root(weights.input_noise(plant));
  const Eigen::MatrixXd Vh = scale * root(weights.output_noise(plant));
  GeneralizedPlant P;
  P.measurements = static_cast<int>(p);
  P.controls = static_cast<int>(m);
  StateSpace& s = P.system;
  s.A = plant.A;
  s.dt = plant.dt;
  s.states = plant.states;
  s.B.resize(n, m + p + m);
  s.B << plant.B * Wh, Eigen::MatrixXd::Zero(n, p), plant.B;
  s.C.resize(nz + m + p, n);
  s.C << Cz, Eigen::MatrixXd::Zero(m, n), plant.C;
  s.D = Eigen::MatrixXd::Zero(nz + m + p, m + p + m);
  s.D.block(nz, m + p, m, m) = Rh;
  s.D.block(nz + m, 0, p, m) = plant.D * Wh;
  s.D.block(nz + m, m, p, p) = Vh;
  s.D.block(nz + m, m + p, p, m) = plant.D;
  for (Eigen::Index j = 0; j < m; ++j) s.inputs.push_back("noise." + at(plant.inputs, j));
  for (Eigen::Index j = 0; j < p; ++j) s.inputs.push_back("noise." + at(plant.outputs, j));
  for (Eigen::Index j = 0; j < m; ++j) s.inputs.push_back(at(plant.inputs, j));
  for (Eigen::Index i = 0; i < nz; ++i) s.outputs.push_back("z" + std::to_string(i + 1));
  for (Eigen::Index j = 0; j < m; ++j) s.outputs.push_back("weighted." + at(plant.inputs, j));
  for (Eigen::Index j = 0; j < p; ++j) s.outputs.push_back(at(plant.outputs, j));
  P.validate();
  return P;
}

void add_control_feedback(Command& control) {
  {
    Command command = control.subcommand("place", "Feedback that places the poles");
    const auto options = std::make_shared<PlaceOptions>();
    options->common.add(command);
    command
        .option("--poles", options->poles,
                "Where: -3,-2+4i,... (a complex pole brings its conjugate)")
        .separated_by(',')
        .required()
        .placeholder("P,...");
    command.flag("--output-feedback", options->output_feedback,
                 "u = -K y of the outputs, instead of all states");
    command.footer(
        "Examples:\n"
        "  catena control place models/cart_pendulum.yaml --at examples/control_cart_upright.yaml "
        "--inputs rail --poles=-2,-3,-4+1i");
    command.action([options] { place_command(*options); });
  }
  struct Entry {
    const char *name, *help;
    void (*run)(const LqOptions&);
  };
  static const Entry kEntries[] = {
      {"lqr", "State feedback with least quadratic cost", control_lqr},
      {"lqg", "Output feedback with least quadratic cost in white noise", control_lqg},
      {"ltr", "LQG that recovers the loop of the state feedback", control_ltr}};
  for (const Entry& entry : kEntries) {
    Command command = control.subcommand(entry.name, entry.help);
    const auto options = std::make_shared<LqOptions>();
    LqOptions& o = *options;
    const std::string name = entry.name;
    o.common.add(command);
    o.weights.add(command, name, name != "lqr");
    command.option("--period", o.period, "Design a sampled controller with this period, s")
        .placeholder("S");
    if (name == "ltr") {
      command.option("--recovery", o.recovery, "Rising factors q (default: 1,1e2,1e4,1e6)")
          .separated_by(',')
          .placeholder("Q,...");
      command.option("--side", o.side, "Where the loop is opened").one_of({"input", "output"});
    }
    command.footer(
        "Examples:\n  catena control " + name +
        " models/cart_pendulum.yaml --at examples/control_cart_upright.yaml --inputs rail "
        "--outputs q.rail,q.pivot --q q.rail=10 -o K.yaml");
    command.action([options, run = entry.run] { run(*options); });
  }
}

}  // namespace catena::app
