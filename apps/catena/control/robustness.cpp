// SPDX-License-Identifier: BSD-3-Clause
// catena control robust: margins of a loop with uncertain parameters, proved on the mechanism.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/control/control_commands.h"
#include "apps/catena/control/control_output.h"
#include "apps/catena/control/control_report.h"
#include "apps/catena/control/robustness_report.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/robust/robust_proof.h"

namespace catena::app {
namespace {

struct RobustnessOptions {
  ControlOptions common;
  std::string controller, file;
  std::vector<std::string> uncertain;
  std::optional<double> limit;
  bool gain = false, verify = false;
  int samples = 200;
};

// The uncertain loop and what it was made from.
struct RobustLoop {
  std::vector<Uncertainty> asked;
  std::unique_ptr<MechanismFamily> family;  // none: no parameters of a mechanism
  UncertainPlant plant;
  UncertainSystem loop;
};

std::vector<Uncertainty> asked_uncertainties(const RobustnessOptions& options) {
  std::vector<Uncertainty> all;
  if (!options.file.empty()) all = load_uncertainties(options.file);
  std::string text;
  for (const std::string& part : options.uncertain) text += (text.empty() ? "" : ",") + part;
  const std::vector<Uncertainty> more = parse_uncertainties(text);
  all.insert(all.end(), more.begin(), more.end());
  if (all.empty())
    throw UsageError(
        "catena control robust: error: nothing is uncertain; give --uncertain "
        "\"mass.NAME:0..5, damping.NAME:±50%\"");
  return all;
}

RobustLoop make_loop(const RobustnessOptions& options, const Plant& plant,
                     const LinearControllerSettings& controller) {
  RobustLoop r;
  r.asked = asked_uncertainties(options);
  std::vector<std::string> names;
  for (const Uncertainty& u : r.asked)
    if (u.kind == Uncertainty::Kind::parameter) names.push_back(u.target);
  if (plant.origin) {
    r.family =
        std::make_unique<MechanismFamily>(*plant.origin->mechanism, plant.origin->model, names);
    r.plant = names.empty() ? uncertain_plant(plant.system, r.asked)
                            : uncertain_plant(*r.family, r.asked);
  } else {
    r.plant = uncertain_plant(plant.system, r.asked);
  }
  r.loop = closed_loop(r.plant.system, controller.system, controller.delay);
  return r;
}

std::string value_text(double x) { return std::isfinite(x) ? pretty(x) : std::string("any"); }
Json value_json(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json parameters_json(const std::map<std::string, double>& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = value;
  return json;
}

// One line for each uncertainty: its range, the margin if it were the only one, the worst case.
std::string blocks_text(const RobustLoop& r, const RobustStability& margin,
                        const std::vector<RobustStability>& alone, Json& json) {
  Table table({{"uncertain"},
               {"nominal", true},
               {"low", true},
               {"high", true},
               {"entries", true},
               {"margin alone", true},
               {"destabilizing", true}});
  json = Json::array();
  const BlockStructure& blocks = r.loop.blocks;
  for (int k = 0; k < blocks.size(); ++k) {
    const auto& p = r.loop.parameters[to_size(k)];
    const auto worst = margin.parameters.find(blocks[k].name);
    const bool found = worst != margin.parameters.end();
    table.add({blocks[k].name, p ? pretty(p->nominal) : "", p ? pretty(p->low) : "",
               p ? pretty(p->high) : "", std::to_string(blocks[k].rows),
               value_text(alone[to_size(k)].margin_low), found ? pretty(worst->second) : ""});
    Json entry{{"name", blocks[k].name},
               {"entries", blocks[k].rows},
               {"margin_alone", value_json(alone[to_size(k)].margin_low)}};
    if (p) {
      entry["nominal"] = p->nominal;
      entry["low"] = p->low;
      entry["high"] = p->high;
    }
    if (found) entry["destabilizing"] = worst->second;
    json.push_back(std::move(entry));
  }
  return table.text();
}

std::string stability_text(const RobustStability& r, Json& json) {
  json = {{"margin_low", value_json(r.margin_low)},
          {"margin_high", value_json(r.margin_high)},
          {"frequency", value_json(r.frequency)},
          {"bound_frequency", value_json(r.peak.upper_frequency)},
          {"guaranteed", r.peak.covered},
          {"bands", static_cast<int>(r.peak.bands.size())}};
  std::string text;
  if (!std::isfinite(r.margin_low))
    return "robust stability  no size of these uncertainties destabilizes the loop\n";
  text +=
      fmt::format("robust stability  margin {} {} (least at {} rad/s): {}\n", pretty(r.margin_low),
                  r.peak.covered ? "guaranteed at all frequencies" : "at the samples only",
                  pretty(r.peak.upper_frequency),
                  r.margin_low > 1.0 ? "stable for all values within the ranges"
                                     : "NOT guaranteed for all values within the ranges");
  if (std::isfinite(r.margin_high))
    text += fmt::format("                  {} times the ranges destabilize, at {} rad/s\n",
                        pretty(r.margin_high), pretty(r.frequency));
  else
    text += "                  no destabilizing values were found\n";
  return text;
}

std::string gain_text(const RobustnessOptions& options, const RobustLoop& r, Json& json) {
  std::string text;
  if (options.gain) {
    const WorstCaseGain g = wcgain(r.loop);
    json["worst_case_gain"] = {{"nominal", g.nominal},
                               {"lower", g.lower},
                               {"upper", value_json(g.upper)},
                               {"frequency", value_json(g.frequency)},
                               {"parameters", parameters_json(g.parameters)}};
    text +=
        fmt::format("worst-case gain   {} to {}, nominal {}, at {} rad/s (efforts to outputs)\n",
                    pretty(g.lower), std::isfinite(g.upper) ? pretty(g.upper) : "∞",
                    pretty(g.nominal), pretty(g.frequency));
    for (const auto& [name, value] : g.parameters)
      text += fmt::format("                  {} = {}\n", name, pretty(value));
  }
  if (options.limit) {
    const RobustStability g = robgain(r.loop, *options.limit);
    json["robust_gain"] = {{"limit", *options.limit},
                           {"margin_low", value_json(g.margin_low)},
                           {"margin_high", value_json(g.margin_high)}};
    text +=
        fmt::format("robust gain       below {} up to {} times the ranges, not up to {}\n",
                    pretty(*options.limit), value_text(g.margin_low), value_text(g.margin_high));
  }
  return text;
}

Json case_json(const ProvenCase& c) {
  return {{"parameters", parameters_json(c.parameters)},
          {"eigenvalue", c.predicted.real()},
          {"frequency", c.predicted.imag()},
          {"measured", c.measured},
          {"difference", c.difference}};
}

std::string proof_text(const RobustProof& p, Json& json) {
  json = {{"passed", p.passed},
          {"samples", static_cast<int>(p.samples.size())},
          {"decayed", p.decayed},
          {"size", p.size},
          {"slowest", value_json(p.slowest)},
          {"largest_difference", p.largest_difference},
          {"remarks", p.remarks}};
  std::string text = fmt::format("nonlinear model   {}\n", p.passed ? "agrees" : "does NOT agree");
  if (p.worst) {
    json["worst"] = case_json(*p.worst);
    text += fmt::format("                  beyond the margin: {} at {} 1/s, eigenvalue {} 1/s\n",
                        p.worst->measured > 0.0 ? "grows" : "does NOT grow",
                        pretty(p.worst->measured), pretty(p.worst->predicted.real()));
  }
  text += fmt::format(
      "                  {} of {} random cases within {} times the ranges decay, the slowest at {} "
      "1/s\n                  rates differ from the eigenvalues by at most {} %\n",
      p.decayed, p.samples.size(), pretty(p.size), pretty(p.slowest),
      short_number(100.0 * p.largest_difference, 2));
  for (const std::string& remark : p.remarks) text += "remark            " + remark + "\n";
  return text;
}

void control_robust(const RobustnessOptions& options) {
  const auto controller = load_controller_file(options.controller);
  const Plant plant = options.common.plant.load(&controller->system, PointNeeded::equilibrium);
  const RobustLoop r = make_loop(options, plant, *controller);
  const RobustStability margin = robstab(r.loop);
  std::vector<RobustStability> alone;
  for (int k = 0; k < r.loop.blocks.size(); ++k)
    alone.push_back(r.loop.blocks.size() == 1 ? margin : robstab(with_blocks(r.loop, {k})));
  Json json, list, stability;
  std::string text = fmt::format(
      "{} with {}: {} uncertainties, {} entries ({} repeats, {} cross-terms)\n", plant.file,
      options.controller, r.asked.size(), r.plant.entries, r.plant.repeats, r.plant.cross_terms);
  text += blocks_text(r, margin, alone, list) + stability_text(margin, stability);
  json["uncertain"] = std::move(list);
  json["form"] = {{"entries", r.plant.entries},         {"repeats", r.plant.repeats},
                  {"cross_terms", r.plant.cross_terms}, {"degree", r.plant.degree},
                  {"mechanisms", r.plant.evaluations},  {"error", r.plant.error}};
  json["stability"] = std::move(stability);
  text += gain_text(options, r, json);
  for (const std::string& remark : r.loop.remarks) text += "remark            " + remark + "\n";
  json["remarks"] = r.loop.remarks;
  bool good = true;
  if (options.verify) {
    if (!r.family)
      throw UsageError("catena control robust: error: --verify simulates the mechanism; " +
                       plant.file + " is a linear system");
    const RobustProof proof =
        prove(*r.family, r.asked, r.loop, margin, *controller, {.samples = options.samples});
    Json found;
    text += proof_text(proof, found);
    json["proof"] = std::move(found);
    good = proof.passed;
  }
  if (!options.common.report.empty()) {
    write_control_report(options.common.report,
                         {.title = "Robustness of " + options.controller,
                          .plant = &plant,
                          .controller = &controller->system,
                          .text = text,
                          .running = *controller,
                          .figures = robustness_figures(r.loop, margin, alone)});
    json["report"] = options.common.report;
    text += "report            " + options.common.report + "\n";
  }
  write_text(options.common.json ? json.dump(2) + "\n" : text, "");
  if (!good) throw Failed();
}

}  // namespace

void add_control_robustness(Command& control) {
  Command command = control.subcommand(
      "robust", "Margins for uncertain parameters, guaranteed between frequencies");
  const auto options = std::make_shared<RobustnessOptions>();
  RobustnessOptions& o = *options;
  o.common.add(command, false);
  command.option("--controller", o.controller, "u = K y: a system file")
      .placeholder("K.yaml")
      .required();
  command
      .option("--uncertain", o.uncertain,
              "Ranges: \"mass.payload:0..5, damping.knee:±50%\"; also gain.SIGNAL, delay.INPUT, "
              "mode.N.frequency, mode.N.damping; may be repeated")
      .placeholder("NAME:RANGE,...")
      .repeatable();
  command.option("--uncertain-file", o.file, "The same in YAML: a map `uncertain`")
      .placeholder("FILE.yaml");
  command.flag(
      "--gain", o.gain,
      "Also: the largest gain from efforts at the inputs to the outputs within the ranges");
  command.option("--gain-limit", o.limit, "Also: the margin until that gain exceeds this number")
      .placeholder("X")
      .positive();
  command.flag("--verify", o.verify,
               "Also: simulate the destabilizing case and random ones on the nonlinear mechanism");
  command.option("--samples", o.samples, "Random cases of --verify")
      .placeholder("N")
      .positive()
      .show_default();
  command.footer(
      "Examples:\n"
      "  catena control robust models/cart_pendulum.yaml --controller K.yaml --uncertain "
      "\"mass.pole:1..2, mass.cart:±30%\" --verify\n"
      "  catena control robust models/four_bar.yaml --controller K.yaml --uncertain "
      "\"mass.coupler:0.5..3, gain.A:±20%\" --report page.html");
  command.action([options] { control_robust(*options); });
}

}  // namespace catena::app
