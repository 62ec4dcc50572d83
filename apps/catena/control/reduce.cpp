// SPDX-License-Identifier: BSD-3-Clause
// catena control reduce, discretize: systems of less order, and sampled ones.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/control/control_commands.h"
#include "apps/catena/control/control_output.h"
#include "apps/catena/control/control_report.h"
#include "catena/base/text.h"
#include "catena/components/controller_file.h"
#include "catena/control/nonlinear/nonlinear_loop.h"
#include "catena/control/reduction.h"
#include "catena/control/sparse/structure_reduction.h"
#include "catena/linear/discretize.h"
#include "catena/linear/files/structure_file.h"

namespace catena::app {
namespace {

struct ReduceOptions {
  ControlOptions common;
  int order = -1;
  double tolerance = 1e-3;
  std::string method, plant;
  bool match_dc = false;
  double from = 0.0, to = 0.0;
};

const std::vector<std::string> kMethods{"balanced", "stochastic", "hankel", "modal"};
const std::vector<std::string> kStructureMethods{"modal", "balanced", "interpolation"};

std::string sigma_text(const Eigen::VectorXd& sigma) {
  std::string text;
  constexpr Eigen::Index kMost = 8;
  for (Eigen::Index i = 0; i < std::min(sigma.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + short_number(sigma[i], 4);
  return sigma.size() > kMost ? text + ", ..." : text;
}

void put_system(const ReduceOptions& options, const Plant& before, const StateSpace& after,
                const std::string& text, Json json, const Certificate& certificate) {
  if (!options.common.out.empty()) save_controller({.system = after}, options.common.out);
  if (!options.common.report.empty()) {
    Plant reduced;
    reduced.file = before.file + ", reduced";
    reduced.system = after;
    write_control_report(options.common.report,
                         {.title = reduced.file, .plant = &reduced, .text = text});
  }
  json["certificate"] = certificate_json(certificate);
  json["system"] = system_json(after);
  json["output"] = options.common.out.empty() ? Json(nullptr) : Json(options.common.out);
  std::string all = text + "\n" + certificate_text(certificate);
  if (!options.common.out.empty()) all += "\noutput            " + options.common.out + "\n";
  write_text(options.common.json ? json.dump(2) + "\n" : all, "");
  if (!certificate.passed()) throw Failed();
}

// A sparse structure M, D, K: the error is relative, in a band, and estimated between samples.
void reduce_structure(const ReduceOptions& options) {
  const std::string& file = options.common.plant.file();
  if (!options.plant.empty() || options.match_dc)
    throw UsageError("catena control reduce: error: " + file +
                     " is a structure; --plant and --match-dc are for systems");
  StructureReductionSettings settings{.highest = options.to, .lowest = options.from};
  const SecondOrder structure = load_structure(file);
  settings.order =
      options.order >= 0 ? options.order : std::min(settings.order, 2 * structure.freedom_count());
  for (const auto& [option, x] : {std::pair{"--from", options.from}, std::pair{"--to", options.to}})
    if (!(x >= 0.0) || !std::isfinite(x))
      throw UsageError("catena control reduce: error: " + std::string(option) + " is " + number(x) +
                       " rad/s; it must be a finite number that is not negative");
  settings.tolerance = options.tolerance;
  const std::string method = options.method.empty() ? "modal" : options.method;
  const auto found = std::find(kStructureMethods.begin(), kStructureMethods.end(), method);
  if (found == kStructureMethods.end())
    throw UsageError("catena control reduce: error: structures are reduced by " +
                     listed(kStructureMethods) + ", not by '" + method + "'");
  settings.method = static_cast<StructureMethod>(found - kStructureMethods.begin());
  const StructureReduction r = reduce(structure, settings);
  const StructureError& e = r.error;
  std::string text = fmt::format(
      "system            {} states of {} ({} rigid modes kept), by {}\n"
      "band              {} to {} rad/s, {} modes\n"
      "relative error    {} at {} rad/s, largest of {} samples\n"
      "                  {} at {} rad/s, estimated between samples{}\n",
      r.system.order(), 2 * structure.freedom_count(), r.rigid, method, pretty(r.lowest),
      pretty(r.highest), r.modes_in_band, pretty(e.relative), pretty(e.frequency), e.samples.size(),
      pretty(e.between), pretty(e.between_frequency), e.settled ? "" : " (not settled)");
  text += fmt::format("robust frequency  {}: a loop with less bandwidth is stable with both\n",
                      std::isfinite(r.robust_frequency) ? pretty(r.robust_frequency) + " rad/s"
                                                        : std::string("beyond the band"));
  for (const std::string& remark : r.certificate.remarks)
    text += "remark            " + remark + "\n";
  Json json;
  json["order"] = r.system.order();
  json["method"] = method;
  json["band"] = {r.lowest, r.highest};
  json["modes_in_band"] = r.modes_in_band;
  json["rigid"] = r.rigid;
  json["relative_error"] = e.relative;
  json["error_between_samples"] = e.between;
  json["settled"] = e.settled;
  json["samples"] = e.samples;
  json["robust_frequency"] = r.robust_frequency;
  Plant plant;
  plant.file = file;
  put_system(options, plant, r.system, text, json, r.certificate);
}

void reduce_command(const ReduceOptions& options) {
  if (options.order < -1)
    throw UsageError("catena control reduce: error: --order is " + std::to_string(options.order) +
                     "; it must not be negative");
  if (!(options.tolerance >= 0.0) || !(options.tolerance < 1.0))
    throw UsageError("catena control reduce: error: --tolerance is " + number(options.tolerance) +
                     "; it must be between 0 and 1");
  if (is_structure_file(options.common.plant.file())) return reduce_structure(options);
  if (options.from != 0.0 || options.to != 0.0)
    throw UsageError(
        "catena control reduce: error: --from and --to are the band of a structure (M, D, K); the "
        "error of other systems is taken over all frequencies");
  if (options.method == "interpolation")
    throw UsageError(
        "catena control reduce: error: --method interpolation is for structures (M, D, K); use "
        "balanced, stochastic, hankel or modal");
  if (!options.plant.empty()) {
    if (options.order < 0)
      throw UsageError("catena control reduce: error: with --plant give the --order");
    const LinearControllerSettings k = load_controller(options.common.plant.file());
    Plant plant;
    plant.file = options.plant;
    plant.system = load_controller(options.plant).system;
    const ControllerReduction r =
        reduce_controller(plant.system, fitted(plant.system, k.system), options.order);
    StateSpace small = controller_for(plant.system, r.controller);
    small.point = k.system.point;
    const std::string text = fmt::format(
        "controller        {} states of {}\nHankel values     {}\nloop error        {} "
        "at {} rad/s (below 1: the loop stays stable)\n",
        small.order(), k.system.order(), sigma_text(r.sigma), pretty(r.loop_error.value),
        pretty(r.loop_error.frequency));
    put_system(options, plant, small, text, {{"loop_error", r.loop_error.value}}, r.certificate);
    return;
  }
  Plant plant = options.common.plant.load();
  sample_plant(plant, {});  // delays of a sampled system become states
  ReductionSettings settings{.order = options.order, .tolerance = options.tolerance};
  for (std::size_t i = 0; i < kMethods.size(); ++i)
    if (kMethods[i] == options.method) settings.method = static_cast<ReductionMethod>(i);
  settings.match_dc = options.match_dc;
  const Reduction r = reduce(plant.system, settings);
  StateSpace small = r.system;
  small.point = plant.system.point;
  if (small.point) small.point->x0.resize(0);
  small.inputs = plant.system.inputs;
  small.outputs = plant.system.outputs;
  std::string text = fmt::format(
      "system            {} states of {} ({} unstable or rigid kept)\nHankel values     {}\n",
      small.order(), plant.system.order(), r.kept_unstable, sigma_text(r.sigma));
  text += fmt::format("true error        {} at {} rad/s, certified at most {:.9g}\n",
                      pretty(r.error.value), pretty(r.error.frequency), r.error.certificate.upper);
  if (std::isfinite(r.bound)) text += fmt::format("a priori bound    {}\n", pretty(r.bound));
  text += fmt::format("robust frequency  {}: a loop with less bandwidth is stable with both\n",
                      std::isfinite(r.robust_frequency) ? pretty(r.robust_frequency) + " rad/s"
                                                        : std::string("any"));
  Json json;
  json["order"] = small.order();
  json["error"] = r.error.value;
  json["bound"] = r.bound;
  json["robust_frequency"] = r.robust_frequency;
  json["hankel_values"] = std::vector<double>(r.sigma.begin(), r.sigma.end());
  put_system(options, plant, small, text, json, r.certificate);
}

struct SampleOptions {
  ControlOptions common;
  double period = 0.0, prewarp = 0.0;
  std::string method = "zoh";
  bool continuous = false;
};

void discretize_command(const SampleOptions& options) {
  Plant plant = options.common.plant.load();
  DiscretizeSettings settings;
  settings.method = options.method == "foh"      ? Hold::foh
                    : options.method == "tustin" ? Hold::tustin
                                                 : Hold::zoh;
  settings.prewarp = options.prewarp;
  if (!options.continuous && (!(options.period > 0.0) || !std::isfinite(options.period)))
    throw UsageError(
        "catena control discretize: error: give the sampling --period in s, a positive number");
  if (options.prewarp < 0.0 || !std::isfinite(options.prewarp))
    throw UsageError("catena control discretize: error: --prewarp is " + number(options.prewarp) +
                     " rad/s; it must be positive");
  StateSpace s = options.continuous ? d2c(plant.system, settings)
                                    : c2d(plant.system, options.period, settings);
  s.point = plant.system.point;
  if (s.point && s.order() != plant.system.order()) s.point->x0.resize(0);
  if (!options.common.out.empty()) save_controller({.system = s}, options.common.out);
  std::string text =
      options.continuous
          ? fmt::format("continuous, from samples every {} s\n", plant.system.dt)
          : fmt::format("sampled every {} s by {}\n", options.period, options.method);
  text += poles_text(s);
  if (!options.common.report.empty()) {
    plant.origin.reset();
    plant.system = s;
    write_control_report(options.common.report,
                         {.title = plant.file, .plant = &plant, .text = text});
  }
  Json json = system_json(s);
  json["poles"] = poles_json(s);
  if (!options.common.out.empty()) text += "output            " + options.common.out + "\n";
  write_text(options.common.json ? json.dump(2) + "\n" : text, "");
}

}  // namespace

void add_control_reduce(Command& control) {
  {
    Command command = control.subcommand("reduce", "A system of less order, with the true error");
    const auto options = std::make_shared<ReduceOptions>();
    ReduceOptions& o = *options;
    o.common.add(command);
    command
        .option("--order", o.order,
                "States of the result (default: by --tolerance; of a structure 60)")
        .placeholder("N");
    command
        .option("--tolerance", o.tolerance,
                "Hankel values below this times the largest are left out; of a structure: the "
                "relative error that is asked for")
        .placeholder("X")
        .show_default();
    command
        .option("--method", o.method,
                "balanced (default), stochastic, hankel or modal; of a structure modal (default), "
                "balanced or interpolation")
        .one_of({"balanced", "stochastic", "hankel", "modal", "interpolation"});
    command.option("--from", o.from, "Of a structure: begin of the band, rad/s").placeholder("W");
    command.option("--to", o.to, "Of a structure: end of the band, rad/s (default: by the order)")
        .placeholder("W");
    command.flag("--match-dc", o.match_dc, "Keep the DC gain exactly");
    command
        .option("--plant", o.plant,
                "FILE is a controller: weigh its error by the loop with this plant (system file)")
        .placeholder("G.yaml");
    command.footer(
        "Examples:\n"
        "  catena control reduce boom.h5 --order 20 -o small.yaml\n"
        "  catena control reduce structure.yaml --order 60 --to 200 -o small.yaml\n"
        "  catena control reduce K.yaml --plant plant.yaml --order 4 -o K4.yaml");
    command.action([options] { reduce_command(*options); });
  }
  Command command = control.subcommand("discretize", "A sampled system, or back to continuous");
  const auto options = std::make_shared<SampleOptions>();
  SampleOptions& o = *options;
  o.common.add(command);
  command.option("--period", o.period, "Sampling period, s").placeholder("S");
  command.option("--method", o.method, "zoh (plants), foh, tustin (controllers)")
      .one_of({"zoh", "foh", "tustin"})
      .show_default();
  command.option("--prewarp", o.prewarp, "tustin: keep the response at this frequency, rad/s")
      .placeholder("W");
  command.flag("--continuous", o.continuous, "From sampled to continuous");
  command.footer(
      "Examples:\n"
      "  catena control discretize K.yaml --period 0.005 --method tustin -o Kd.yaml");
  command.action([options] { discretize_command(*options); });
}

}  // namespace catena::app
