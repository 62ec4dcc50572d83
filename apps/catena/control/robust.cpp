// SPDX-License-Identifier: BSD-3-Clause
// catena control h2, hinf, mixsyn, ncf: controllers with bounded norms of the loop.
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "apps/catena/assignments.h"
#include "apps/catena/control/control_commands.h"
#include "apps/catena/control/weights.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/components/controller_file.h"
#include "catena/control/hinf.h"
#include "catena/control/mixsyn.h"
#include "catena/linear/algebra.h"
#include "catena/linear/discretize.h"

namespace catena::app {
namespace {

struct RobustOptions {
  ControlOptions common;
  QuadraticWeights weights;
  std::string w1, w2, w3;
  double tolerance = 0.01, suboptimality = 1.02;
  std::optional<double> gamma, period;
  std::optional<int> measurements, controls;
  bool maximize = false;
};

void check_numbers(const RobustOptions& o) {
  const auto refuse = [&](const char* option, double x, const char* what) {
    throw UsageError(fmt::format("catena {}: error: {} is {}; it must be {}", o.weights.command,
                                 option, number(x), what));
  };
  if (o.gamma && (!(*o.gamma > 0.0) || !std::isfinite(*o.gamma)))
    refuse("--gamma", *o.gamma, "positive");
  if (!(o.tolerance > 0.0) || !(o.tolerance < 1.0))
    refuse("--tolerance", o.tolerance, "between 0 and 1");
  if (!(o.suboptimality > 1.0) || !std::isfinite(o.suboptimality))
    refuse("--suboptimality", o.suboptimality, "above 1");
  for (const auto& [option, x] :
       {std::pair{"--measurements", o.measurements}, std::pair{"--controls", o.controls}})
    if (x && *x < 1) refuse(option, *x, "positive");
}

// The plant between controls and measurements of a generalized plant from a file.
Plant control_channel(const Plant& plant, const GeneralizedPlant& P) {
  Plant g;
  g.file = plant.file;
  std::vector<int> inputs, outputs;
  for (int j = P.disturbances(); j < P.system.input_count(); ++j) inputs.push_back(j);
  for (int i = P.performances(); i < P.system.output_count(); ++i) outputs.push_back(i);
  g.system = select(P.system, outputs, inputs);
  return g;
}

// A generalized plant: from the file as it is (--measurements, --controls), or of a plant with
// quadratic weights.
GeneralizedPlant generalized(const RobustOptions& o, Plant& plant, NoiseScale noise) {
  if (o.measurements.has_value() != o.controls.has_value())
    throw UsageError("catena " + o.weights.command +
                     ": error: --measurements and --controls belong together: the last outputs and "
                     "inputs of the system in FILE");
  if (!o.measurements) return standard_plant(explicit_form(plant.system), o.weights, noise);
  GeneralizedPlant P;
  P.system = explicit_form(plant.system);
  P.measurements = *o.measurements;
  P.controls = *o.controls;
  P.validate();
  plant = control_channel(plant, P);
  return P;
}

std::string levels_text(const HinfResult& r) {
  std::string text =
      fmt::format("gamma             {} (certified norm of the loop {:.9g} at {} rad/s)\n",
                  pretty(r.gamma), r.peak.certificate.upper, pretty(r.peak.frequency));
  if (r.lower > 0.0)
    text += fmt::format("not below         {}: fails test {}\n", pretty(r.lower),
                        to_string(r.lower_test));
  return text + fmt::format("levels tried      {}\n", r.levels.size());
}

Json levels_json(const HinfResult& r) {
  Json levels = Json::array();
  for (const HinfLevel& l : r.levels)
    levels.push_back({{"gamma", l.gamma},
                      {"exists", l.exists},
                      {"loop_stable", l.loop_stable},
                      {"loop_norm", l.loop_norm},
                      {"failing", l.exists ? std::string() : to_string(l.failing())},
                      {"detail", l.detail}});
  return {{"gamma", r.gamma},
          {"lower", r.lower},
          {"lower_test", to_string(r.lower_test)},
          {"norm", r.peak.value},
          {"frequency", r.peak.frequency},
          {"levels", std::move(levels)}};
}

void h2_command(const RobustOptions& o) {
  Plant plant = o.common.plant.load(nullptr, PointNeeded::equilibrium);
  sample_plant(plant, o.period);
  const GeneralizedPlant P = generalized(o, plant, NoiseScale::intensity);
  const H2Result r = h2syn(P);
  DesignOutput out;
  out.title = "H2 controller";
  out.controller = controller_for(plant.system, r.controller);
  out.certificate = r.certificate;
  out.text = fmt::format("H2 norm           {} of the loop (from the Riccati solutions {})\n",
                         pretty(r.norm), pretty(r.expected));
  out.json = {{"norm", r.norm}, {"expected", r.expected}};
  finish_design(o.common, plant, out);
}

void hinf_command(const RobustOptions& o) {
  Plant plant = o.common.plant.load(nullptr, PointNeeded::equilibrium);
  sample_plant(plant, o.period);
  const GeneralizedPlant P = generalized(o, plant, NoiseScale::signal);
  const HinfResult r = o.gamma ? hinfsyn_at(P, *o.gamma) : hinfsyn(P, {.tolerance = o.tolerance});
  DesignOutput out;
  out.title = "H-infinity controller";
  out.controller = controller_for(plant.system, r.controller);
  out.certificate = r.certificate;
  out.text = levels_text(r);
  out.json = levels_json(r);
  finish_design(o.common, plant, out);
}

void mixsyn_command(const RobustOptions& o) {
  Plant plant = o.common.plant.load(nullptr, PointNeeded::equilibrium);
  sample_plant(plant, {});
  const StateSpace g = explicit_form(plant.system);
  const std::string& name = o.weights.command;
  const auto weight = [&](const std::string& text, const char* option) {
    Weight w = frequency_weight(text, name, option);
    // A continuous weight says what is wanted at a frequency, also of a sampled loop.
    if (g.is_discrete() && w.proper.is_continuous() && w.proper.order() > 0)
      w.proper = c2d(w.proper, g.dt, {.method = Hold::tustin});
    return w;
  };
  const Weight w1 = weight(o.w1, "--w1"), w2 = weight(o.w2, "--w2"), w3 = weight(o.w3, "--w3");
  if (!w1.present() && !w2.present() && !w3.present())
    throw UsageError(
        "catena control mixsyn: error: give at least one of --w1 (error), --w2 "
        "(effort) and --w3 (complementary sensitivity)");
  MixsynResult r;
  DesignOutput out;
  if (o.maximize) {
    const WeightMaximum best = maximize_weight(g, w1, w2, w3);
    r = best.design;
    out.text = fmt::format("factor on W1      {} reached, {} fails an existence test\n",
                           pretty(best.rho), pretty(best.infeasible));
    out.json = {{"rho", best.rho}, {"infeasible", best.infeasible}};
  } else {
    r = mixsyn(g, w1, w2, w3, {.tolerance = o.tolerance});
  }
  out.title = "Mixed-sensitivity controller";
  out.controller = controller_for(plant.system, scale(r.controller, -1.0));  // u = K (r − y)
  out.certificate = r.hinf.certificate;
  out.text += levels_text(r.hinf);
  out.json["hinf"] = levels_json(r.hinf);
  for (const auto& [label, w] : {std::pair{"1/|W1|", &w1}, std::pair{"1/|W3|", &w3}})
    if (w->present() && w->polynomial.empty()) out.weights.emplace_back(label, w->proper);
  finish_design(o.common, plant, out);
}

// As wide as the plant needs it.
std::optional<StateSpace> shaping(const std::string& text, const std::string& option, int size,
                                  const std::string& command) {
  const Weight w = frequency_weight(text, command, option);
  if (!w.present()) return {};
  if (!w.polynomial.empty())
    throw UsageError("catena " + command + ": error: " + option +
                     " must be proper: as many poles as zeros");
  if (!w.proper.is_siso() && (w.proper.input_count() != size || w.proper.output_count() != size))
    throw UsageError(fmt::format(
        "catena {}: error: {} has {} inputs and {} outputs; the plant has {} signals there: give "
        "{} of each, or a weight of one channel",
        command, option, w.proper.input_count(), w.proper.output_count(), size, size));
  if (w.proper.is_siso() && size > 1) {
    const std::vector<StateSpace> copies(to_size(size), w.proper);
    return append(copies);
  }
  return w.proper;
}

void ncf_command(const RobustOptions& o) {
  Plant plant = o.common.plant.load(nullptr, PointNeeded::equilibrium);
  sample_plant(plant, {});
  const StateSpace g = explicit_form(plant.system);
  const NcfsynResult r =
      ncfsyn(g, shaping(o.w1, "--w1", g.input_count(), o.weights.command),
             shaping(o.w2, "--w2", g.output_count(), o.weights.command), o.suboptimality);
  DesignOutput out;
  out.title = "Coprime-factor loop-shaping controller";
  out.controller = controller_for(plant.system, scale(r.controller, -1.0));
  out.certificate = r.certificate;
  out.text =
      fmt::format("margin b(P, C)    {} (no controller of this loop shape has more than {})\n",
                  pretty(r.margin), pretty(r.best_margin));
  out.json = {{"margin", r.margin}, {"best_margin", r.best_margin}};
  finish_design(o.common, plant, out);
}

std::vector<double> number_list(const std::string& text, const std::string& command,
                                const std::string& option) {
  std::vector<double> list;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    list.push_back(constant(text.substr(start, comma - start), command, option));
    start = comma + 1;
  }
  return list;
}

}  // namespace

Weight frequency_weight(const std::string& text, const std::string& command,
                        const std::string& option) {
  if (text.empty()) return {};
  for (const char* ending : {".yaml", ".yml", ".h5", ".hdf5"})
    if (text.ends_with(ending)) return weight(load_controller(text).system);
  try {
    if (const std::size_t slash = text.find('/'); slash != std::string::npos)
      return rational_weight(number_list(text.substr(0, slash), command, option),
                             number_list(text.substr(slash + 1), command, option));
    const std::vector<double> list = number_list(text, command, option);
    if (list.size() == 1) return weight(list[0]);
    if (list.size() == 3) return makeweight(list[0], list[1], list[2]);
  } catch (const NumericalError& e) {
    throw UsageError("catena " + command + ": error: " + option + " " + text + ": " + e.what());
  }
  throw UsageError("catena " + command + ": error: " + option +
                   " is a number, LOW,CROSSOVER,HIGH, NUM/DEN (coefficients, highest power first) "
                   "or a system file, not '" +
                   text + "'");
}

void add_control_robust(Command& control) {
  struct Entry {
    const char *name, *help, *example;
    void (*run)(const RobustOptions&);
  };
  static const Entry kEntries[] = {
      {"h2", "The controller with the least H2 norm of the loop",
       "models/cart_pendulum.yaml --at examples/control_cart_upright.yaml "
       "--inputs rail --outputs q.rail,q.pivot -o K.yaml",
       h2_command},
      {"hinf", "The controller with the least H-infinity norm of the loop",
       "models/cart_pendulum.yaml --at examples/control_cart_upright.yaml "
       "--inputs rail --outputs q.rail,q.pivot -o K.yaml",
       hinf_command},
      {"mixsyn", "Mixed sensitivity: bounds over frequency on error, effort and noise",
       "models/four_bar.yaml --inputs A --outputs q.A --w1 100,5,0.5 --w2 0.01", mixsyn_command},
      {"ncf", "Loop shaping with the largest margin of coprime factors",
       "models/cart_pendulum.yaml --at examples/control_cart_upright.yaml "
       "--inputs rail --outputs q.rail,q.pivot --w1 20",
       ncf_command}};
  for (const Entry& entry : kEntries) {
    const std::string name = entry.name;
    Command command = control.subcommand(name, entry.help);
    const auto options = std::make_shared<RobustOptions>();
    RobustOptions& o = *options;
    o.common.add(command);
    o.weights.command = "control " + name;
    const bool standard = name == "h2" || name == "hinf";
    if (standard) {
      o.weights.add(command, name, true);
      command
          .option("--measurements", o.measurements,
                  "FILE is a generalized plant: its last outputs are measured")
          .placeholder("N");
      command.option("--controls", o.controls, "Its last inputs are the controls").placeholder("N");
      command.option("--period", o.period, "Design a sampled controller with this period, s")
          .placeholder("S");
    } else {
      const char* form = " (X; LOW,CROSSOVER,HIGH; NUM/DEN; or a system file)";
      const bool mixed = name == "mixsyn";
      command
          .option("--w1", o.w1,
                  std::string(mixed ? "Weight of the error" : "Before the plant's inputs") + form)
          .placeholder("W");
      command
          .option("--w2", o.w2,
                  std::string(mixed ? "Weight of the effort" : "After the plant's outputs") + form)
          .placeholder("W");
      if (mixed) {
        command.option("--w3", o.w3, std::string("Weight of the output") + form).placeholder("W");
        command.flag("--maximize", o.maximize, "The largest factor on W1 that can be reached");
      } else {
        command.option("--suboptimality", o.suboptimality, "Of the level").show_default();
      }
    }
    if (name == "hinf")
      command.option("--gamma", o.gamma, "A controller of this level (default: the least)")
          .placeholder("X");
    if (name == "hinf" || name == "mixsyn")
      command.option("--tolerance", o.tolerance, "Of the level, relative").show_default();
    command.footer("Examples:\n  catena control " + name + " " + entry.example);
    command.action([options, run = entry.run] {
      check_numbers(*options);
      run(*options);
    });
  }
}

}  // namespace catena::app
