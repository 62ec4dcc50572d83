// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/control/control_output.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/core.h>

#include "apps/catena/control/control_report.h"
#include "apps/catena/linear_output.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/components/controller_file.h"
#include "catena/control/nonlinear/nonlinear_loop.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"

namespace catena::app {

std::string complex_text(const std::complex<double>& x) {
  std::string text = pretty(x.real());
  if (x.imag() != 0.0) text += fmt::format(" ± {}i", pretty(std::abs(x.imag())));
  return text;
}

std::string name_with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : name + " [" + unit + "]";
}

Json complex_json(const Eigen::VectorXcd& values) {
  Json list = Json::array();
  for (const std::complex<double>& x : values) list.push_back({x.real(), x.imag()});
  return list;
}

Json certificate_json(const Certificate& certificate) {
  Json checks = Json::array();
  for (const Check& c : certificate.checks) {
    Json check;
    check["name"] = c.name;
    check["passed"] = c.passed;
    check["value"] = c.value;
    check["limit"] = c.limit;
    check["detail"] = c.detail;
    checks.push_back(std::move(check));
  }
  Json json;
  json["passed"] = certificate.passed();
  json["checks"] = std::move(checks);
  json["remarks"] = certificate.remarks;
  json["worst_frequency"] = certificate.worst_frequency;
  return json;
}

namespace {

// At a comma before column 100, the rest indented.
std::string wrapped(std::string line) {
  constexpr std::size_t kColumns = 100;
  std::string text;
  while (line.size() > kColumns) {
    std::size_t cut = line.rfind(", ", kColumns - 1);
    if (cut == std::string::npos || cut < 12) cut = line.rfind(' ', kColumns - 1);
    if (cut == std::string::npos || cut < 12) break;
    text += line.substr(0, cut + (line[cut] == ',' ? 1 : 0)) + "\n";
    line = std::string(10, ' ') + line.substr(line.find_first_not_of(", ", cut));
  }
  return text + line;
}

}  // namespace

std::string certificate_text(const Certificate& certificate) {
  std::string text = "checked\n";
  std::string lines = certificate.text(), line;
  for (const char c : lines) {
    line += c;
    if (c != '\n') continue;
    text += wrapped("  " + line);
    line.clear();
  }
  if (certificate.worst_frequency > 0.0 && std::isfinite(certificate.worst_frequency))
    text += fmt::format("  worst frequency {} rad/s\n", pretty(certificate.worst_frequency));
  return text;
}

namespace {

// The states of the mode at this pole, as the controllability test names them.
std::string states_of(const std::vector<ModeTest>& modes, const std::complex<double>& pole) {
  const ModeTest* best = nullptr;
  const std::complex<double> upper(pole.real(), std::abs(pole.imag()));
  const auto distance = [&](const ModeTest& t) {
    return std::abs(std::complex<double>(t.eigenvalue.real(), std::abs(t.eigenvalue.imag())) -
                    upper);
  };
  for (const ModeTest& t : modes)
    if (best == nullptr || distance(t) < distance(*best)) best = &t;
  std::string text;
  if (best != nullptr)
    for (const std::string& state : best->states) text += (text.empty() ? "" : ", ") + state;
  constexpr std::size_t kWidth = 36;
  if (text.size() > kWidth) text = text.substr(0, kWidth - 3) + "...";
  return text;
}

}  // namespace

std::string poles_text(const StateSpace& system) {
  if (system.order() == 0) return "poles: none (a constant gain)\n";
  Table table({{system.is_continuous() ? "pole [1/s]" : "pole (z)"},
               {"frequency [rad/s]", true},
               {"damping", true},
               {"time constant [s]", true},
               {"mainly in"}});
  const std::vector<ModeTest> modes =
      system.is_descriptor() ? std::vector<ModeTest>{} : controllability(system);
  constexpr double kRounding = 1e-13;  // of the modulus: a part that is rounding is shown as zero
  for (PoleInfo p : damp(system)) {
    if (p.pole.imag() < 0.0) continue;
    if (system.is_continuous() && std::abs(p.pole.real()) <= kRounding * std::abs(p.pole)) {
      p.pole = {0.0, p.pole.imag()};
      p.damping = 0.0;
      p.time_constant = std::numeric_limits<double>::infinity();
    }
    table.add({complex_text(p.pole), pretty(p.frequency), pretty(p.damping),
               std::isfinite(p.time_constant) ? pretty(p.time_constant) : "-",
               states_of(modes, p.pole)});
  }
  return table.text();
}

Json poles_json(const StateSpace& system) {
  Json list = Json::array();
  for (const PoleInfo& p : damp(system)) {
    Json pole;
    pole["re"] = p.pole.real();
    pole["im"] = p.pole.imag();
    pole["frequency"] = p.frequency;
    pole["damping"] = p.damping;
    pole["time_constant"] = p.time_constant;
    list.push_back(std::move(pole));
  }
  return list;
}

Json system_json(const StateSpace& s) {
  Json json;
  json["dt"] = s.dt;
  json["states"] = s.states;
  json["inputs"] = s.inputs;
  json["outputs"] = s.outputs;
  json["A"] = rows_json(s.A);
  json["B"] = rows_json(s.B);
  json["C"] = rows_json(s.C);
  json["D"] = rows_json(s.D);
  return json;
}

void ControlOptions::add(Command& command, bool writes) {
  plant.add(command);
  command.flag("--json", json, "Print JSON");
  if (writes)
    command.option("-o,--output", out, "Write the result: a system file (.yaml, .h5)")
        .placeholder("FILE");
  command.option("--report", report, "Write a page with plots").placeholder("PAGE.html");
}

StateSpace loop_at_input(const StateSpace& plant, const StateSpace& controller) {
  StateSpace loop = scale(series(plant, controller), -1.0);
  loop.inputs = plant.inputs;
  loop.outputs = plant.inputs;
  loop.input_units = loop.output_units = plant.input_units;
  return loop;
}

StateSpace closed_by(const StateSpace& plant, const StateSpace& controller) {
  StateSpace closed = feedback(plant, controller, +1);
  closed.inputs = plant.inputs;
  closed.outputs = plant.outputs;
  closed.input_units = plant.input_units;
  closed.output_units = plant.output_units;
  return closed;
}

namespace {

double degrees(double x) { return x * 180.0 / std::numbers::pi; }
double decibel(double x) { return 20.0 * std::log10(x); }
std::string gain_text(double factor) {
  if (factor <= 0.0 || !std::isfinite(factor)) return "-";
  return fmt::format("{} ({} dB)", pretty(factor), short_number(decibel(factor), 3));
}

std::vector<Margins> channel_margins(const StateSpace& loop) {
  if (loop.is_siso()) return {margin(loop)};
  return margin_loop_at_a_time(loop);
}

}  // namespace

std::string margins_text(const StateSpace& loop) {
  if (loop.input_count() != loop.output_count())
    throw Error(
        fmt::format("margins need as many outputs as inputs; the loop has {} and {}: name "
                    "them by --outputs and --inputs, or give the --controller",
                    loop.output_count(), loop.input_count()));
  const std::vector<Margins> all = channel_margins(loop);
  Table table({{"opened at"},
               {"gain up", true},
               {"gain down", true},
               {"phase [deg]", true},
               {"delay [s]", true}});
  for (int j = 0; j < loop.input_count(); ++j) {
    const Margins& m = at(all, j);
    table.add({loop.input_name(j), gain_text(m.gain_margin_up), gain_text(m.gain_margin_down),
               m.phase.empty() ? "-" : pretty(degrees(m.phase_margin)),
               m.phase.empty() || !std::isfinite(m.delay_margin) ? "-" : pretty(m.delay_margin)});
  }
  std::string text = fmt::format("closed loop       {}\n", all[0].stable ? "stable" : "NOT stable");
  text += table.text();
  const DiskMargin d = diskmargin(loop);
  text += fmt::format(
      "disk margin       {} at {} rad/s, all channels at once:\n"
      "                  gains {} to {}, phase {} deg\n",
      pretty(d.alpha), pretty(d.frequency), pretty(d.gain_down),
      std::isfinite(d.gain_up) ? pretty(d.gain_up) : "any", pretty(degrees(d.phase)));
  return text;
}

Json margins_json(const StateSpace& loop) {
  Json json;
  Json list = Json::array();
  const std::vector<Margins> all = channel_margins(loop);
  for (int j = 0; j < loop.input_count(); ++j) {
    const Margins& m = at(all, j);
    Json entry;
    entry["channel"] = loop.input_name(j);
    entry["gain_up"] = m.gain_margin_up;
    entry["gain_down"] = m.gain_margin_down;
    entry["phase"] = m.phase_margin;
    entry["delay"] = m.delay_margin;
    list.push_back(std::move(entry));
  }
  const DiskMargin d = diskmargin(loop);
  json["stable"] = all[0].stable;
  json["channels"] = std::move(list);
  json["disk"] = {{"alpha", d.alpha},
                  {"frequency", d.frequency},
                  {"gain_down", d.gain_down},
                  {"gain_up", d.gain_up},
                  {"phase", d.phase}};
  return json;
}

void finish_design(const ControlOptions& options, const Plant& plant, const DesignOutput& design) {
  const StateSpace& k = design.controller;
  const StateSpace fit = fitted(plant.system, k);
  const StateSpace loop = loop_at_input(plant.system, fit);
  const StateSpace closed = closed_by(plant.system, fit);
  if (!options.out.empty()) {
    LinearControllerSettings file = design.running;
    file.system = k;
    save_controller(file, options.out);
  }
  if (!options.report.empty())
    write_control_report(options.report,
                         {.title = design.title,
                          .plant = &plant,
                          .controller = &k,
                          .text = design.text + certificate_text(design.certificate),
                          .weights = design.weights,
                          .running = design.running});
  if (options.json) {
    Json json = design.json;
    json["controller"] = system_json(k);
    json["closed_loop_poles"] = poles_json(closed);
    json["margins"] = margins_json(loop);
    json["certificate"] = certificate_json(design.certificate);
    json["output"] = options.out.empty() ? Json(nullptr) : Json(options.out);
    json["report"] = options.report.empty() ? Json(nullptr) : Json(options.report);
    write_text(json.dump(2) + "\n", "");
  } else {
    std::string text = fmt::format("{}: {} states, reads {}, acts at {}\n", design.title, k.order(),
                                   listed(k.inputs), listed(k.outputs));
    text += design.text;
    text += "\nclosed loop\n" + poles_text(closed) + "\n" + margins_text(loop);
    text += "\n" + certificate_text(design.certificate);
    if (!options.out.empty()) text += "\noutput            " + options.out + "\n";
    if (!options.report.empty()) text += "report            " + options.report + "\n";
    write_text(text, "");
  }
  if (!design.certificate.passed()) throw Failed();
}

}  // namespace catena::app
