// SPDX-License-Identifier: BSD-3-Clause
// catena modes: eigenvalues, frequencies, damping and shapes of the linear model about a state.
#include <cmath>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/closed_state.h"
#include "apps/catena/linear_output.h"
#include "apps/catena/model_options.h"
#include "apps/catena/report/report_data.h"
#include "apps/catena/report/report_modes.h"
#include "catena/base/index.h"
#include "catena/flexible/mode_report.h"
#include "catena/simulation/state_file.h"

namespace catena::app {
namespace {

struct ModesOptions {
  ModelOptions model;
  std::string at;
  std::vector<std::string> independent;
  bool shapes = false;
  bool sets = false;
  bool json = false;
  std::string out;
  std::string page;
};

// Frequencies, conditioning and time scales of every flexible body, for each set of modes.
void print_mode_sets(const Mechanism& m, bool as_json) {
  if (!m.has_flexible_bodies())
    throw Error("'" + m.name() + "' has no flexible bodies; --sets compares their modes");
  Json json = Json::array();
  std::string text;
  for (const FlexiblePlace& place : m.flexible_bodies()) {
    if (!place.constants->beam) continue;  // made of constants: there is but one set
    for (const ModeSetReport& found : compare_mode_sets(*place.constants->beam)) {
      const ModeReport& r = found.report;
      std::vector<double> frequencies(r.frequencies.begin(), r.frequencies.end());
      std::vector<double> ratios(r.damping_ratios.begin(), r.damping_ratios.end());
      json.push_back({{"body", place.name},
                      {"set", to_string(found.set)},
                      {"frequencies", frequencies},
                      {"damping_ratios", ratios},
                      {"mass_condition", r.mass_condition},
                      {"shortest_period", r.shortest_period},
                      {"longest_period", r.longest_period}});
      text += fmt::format(
          "{}, {}: condition of the mass matrix {:.3g}, periods {:.4g} to {:.4g} s\n", place.name,
          to_string(found.set), r.mass_condition, r.shortest_period, r.longest_period);
      Table table({{"mode"},
                   {"rad/s", true},
                   {"damping", true},
                   {"mass x", true},
                   {"y", true},
                   {"z", true}});
      for (std::size_t k = 0; k < frequencies.size(); ++k) {
        const auto column = static_cast<Eigen::Index>(k);
        table.add({std::to_string(k + 1), pretty(frequencies[k]), pretty(ratios[k]),
                   pretty(without_noise(r.effective_mass(0, column), 1.0)),
                   pretty(without_noise(r.effective_mass(1, column), 1.0)),
                   pretty(without_noise(r.effective_mass(2, column), 1.0))});
      }
      text += table.text() + "\n";
    }
  }
  write_text(as_json ? json.dump(2) + "\n" : text, "");
}

void modes_command(const ModesOptions& options) {
  if (!options.page.empty()) check_ending(options.page, ".html", "an HTML page");
  const Mechanism m =
      options.model.load({.freedoms = options.independent, .state_file = options.at});
  print_warnings(m);
  if (options.sets) {
    print_mode_sets(m, options.json);
    return;
  }
  StateInput in = options.at.empty() ? default_input(m) : read_state_file(options.at, m);
  close_loops_and_say(m, in);
  print_friction_warning(m, in.state);
  LinearizeSettings settings;
  if (!options.independent.empty()) settings.independent = mask_of(m, options.independent);
  const LinearModel model =
      linearize(m, {in.state, in.effort, in.acceleration, in.external}, settings);
  const ModalAnalysis analysis = modes(model);
  std::vector<std::string> names;
  names.reserve(model.freedoms.size());
  for (const int i : model.freedoms) names.push_back(m.velocity_names()[index(i)]);
  if (!options.page.empty()) {
    Json document = modes_document(m, options.model.file(), model, analysis);
    write_text(report_page(document), options.page);
    for (const Json& note : document["notes"].items())
      fmt::print(stderr, "{}: note: {}\n", options.model.file(), note.text());
    if (!options.json) say_written(options.model.file(), options.page);
  }
  Json json = modes_json(analysis, names);
  json["residual"] = model.residual;
  json["equilibrium"] = model.residual <= kRest && model.speed <= kRest;
  if (!options.out.empty()) write_text(json.dump(2) + "\n", options.out);
  if (options.json) {
    write_text(json.dump(2) + "\n", "");
    return;
  }
  std::string text = modes_text(analysis, names);
  if (options.shapes) {
    std::vector<Table::Column> columns{{"freedom"}};
    for (std::size_t i = 0; i < analysis.modes.size(); ++i)
      columns.push_back({"mode " + std::to_string(i + 1), true});
    Table table(columns);
    for (std::size_t k = 0; k < names.size(); ++k) {
      std::vector<std::string> words{names[k]};
      for (const Mode& mode : analysis.modes) {
        const std::complex<double> x = mode.shape[static_cast<Eigen::Index>(k)];
        const double re = without_noise(x.real(), 1.0), im = without_noise(x.imag(), 1.0);
        words.push_back(im == 0.0 ? pretty(re)
                                  : fmt::format("{} {} {}i", pretty(re), im < 0.0 ? "-" : "+",
                                                pretty(std::abs(im))));
      }
      table.add(std::move(words));
    }
    text += "\n" + table.text();
  }
  if (model.residual > kRest)
    text += fmt::format(
        "The state is not an equilibrium (largest acceleration {:.4g}); `catena equilibrium` finds "
        "one.\n",
        model.residual);
  write_text(text, "");
}

}  // namespace

void add_modes(CommandLine& line) {
  Command command =
      line.subcommand("modes", "Eigenvalues, frequencies, damping and mode shapes about a state");
  const auto options = std::make_shared<ModesOptions>();
  options->model.add(command);
  command.file("--at", options->at,
               "State and efforts (YAML; default: the model's initial state, no efforts)");
  command.names("--independent", options->independent,
                "Joints or freedoms of closed loops in which shapes are given (default: chosen by "
                "conditioning)");
  command.flag("--shapes", options->shapes, "Print the mode shapes too");
  command.flag(
      "--sets", options->sets,
      "Of flexible bodies alone: frequencies, condition of the mass matrix and time scales "
      "for each set of modes");
  command.json(options->json, options->out);
  command
      .option("--report", options->page,
              "Write a page that shows the mechanism swinging in each mode (HTML)")
      .placeholder("FILE");
  command.footer(
      "Examples:\n"
      "  catena modes models/double_pendulum.yaml --shapes\n"
      "  catena modes models/double_pendulum.yaml --report modes.html\n"
      "  catena equilibrium models/four_bar.yaml -o rest.yaml && "
      "catena modes models/four_bar.yaml --at rest.yaml");
  command.action([options] { modes_command(*options); });
}

}  // namespace catena::app
