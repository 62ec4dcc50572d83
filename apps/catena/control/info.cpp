// SPDX-License-Identifier: BSD-3-Clause
// catena control info: poles, zeros, gains, norms, Hankel values and modes of a linear system.
#include <cmath>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/control/control_commands.h"
#include "apps/catena/control/control_output.h"
#include "apps/catena/control/control_report.h"
#include "apps/catena/linear_output.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/components/controller_file.h"
#include "catena/control/gramians.h"
#include "catena/control/norms.h"
#include "catena/linear/analysis.h"
#include "catena/linear/minreal.h"

namespace catena::app {
namespace {

// How strongly the inputs reach each mode and the outputs see it.
Table mode_table(const StateSpace& s, bool& hidden) {
  Table table({{"mode [1/s]"}, {"controllable", true}, {"observable", true}, {"mainly in"}});
  const std::vector<ModeTest> reach = controllability(s), see = observability(s);
  for (std::size_t i = 0; i < reach.size(); ++i) {
    const bool paired = i < see.size();
    hidden = hidden || !reach[i].passed || (paired && !see[i].passed);
    const auto strength = [](const ModeTest& t) {
      return t.passed ? short_number(t.strength, 3) : "NO (" + short_number(t.strength, 2) + ")";
    };
    std::string states;
    for (const std::string& state : reach[i].states) states += (states.empty() ? "" : ", ") + state;
    constexpr std::size_t kWidth = 40;
    if (states.size() > kWidth) states = states.substr(0, kWidth - 3) + "...";
    table.add({complex_text(reach[i].eigenvalue), strength(reach[i]),
               paired ? strength(see[i]) : "-", states});
  }
  return table;
}

std::string list_of(const Eigen::VectorXd& values, int most) {
  std::string text;
  for (Eigen::Index i = 0; i < values.size() && i < most; ++i)
    text += (i > 0 ? ", " : "") +
            (std::isfinite(values[i]) ? short_number(values[i], 4) : std::string("∞"));
  if (values.size() > most) text += fmt::format(", ... ({} in all)", values.size());
  return text.empty() ? "none" : text;
}

std::string zeros_of(const Eigen::VectorXcd& values) {
  std::string text;
  int shown = 0;
  for (const std::complex<double>& z : values) {
    if (z.imag() < 0.0) continue;
    if (++shown > 6) return text + ", ...";
    text += (text.empty() ? "" : ", ") + complex_text(z);
  }
  return text.empty() ? "none" : text;
}

std::vector<std::string> with_units(const std::vector<std::string>& names,
                                    const std::vector<std::string>& units) {
  std::vector<std::string> result = names;
  for (std::size_t i = 0; i < std::min(names.size(), units.size()); ++i)
    result[i] = name_with_unit(names[i], units[i]);
  return result;
}

// Hankel values, or the reason why there are none: modes on the axis that cannot be told apart.
Eigen::VectorXd hankel_values(const StateSpace& s, std::string& reason) {
  try {
    return hsvd(s);
  } catch (const NumericalError& e) {
    reason = e.what();
    return {};
  }
}

std::string info_text(const Plant& plant, const StateSpace& s) {
  std::string text = fmt::format(
      "system            {} states, {} inputs, {} outputs, {}\n", s.order(), s.input_count(),
      s.output_count(),
      s.is_continuous() ? std::string("continuous") : fmt::format("sampled every {} s", s.dt));
  text += fmt::format("inputs            {}\noutputs           {}\n",
                      listed(with_units(s.inputs, s.input_units)),
                      listed(with_units(s.outputs, s.output_units)));
  if (plant.origin && s.point && s.point->u0.size() > 0 && s.point->u0.norm() > 0.0) {
    std::string held;
    for (int j = 0; j < s.input_count(); ++j)
      held +=
          fmt::format("{}{} {}", held.empty() ? "" : ", ", s.input_name(j), pretty(s.point->u0[j]));
    text += "held by           " + held + "\n";
  }
  text += fmt::format("stable            {}\n\n", is_stable(s) ? "yes" : "no");
  text += poles_text(s) + "\n";
  text += "zeros [1/s]       " + zeros_of(zeros(s)) + "\n";
  if (s.order() > 0) {
    bool hidden = false;
    const Table modes = mode_table(s, hidden);
    text += "\nmodes: how strongly the inputs reach them and the outputs see them (0 to 1)\n" +
            modes.text();
    if (hidden)
      text +=
          "NO: this channel cannot change (see) the mode; add an actuator (a sensor) that does\n";
  }
  text += "\nDC gain\n" + matrix_text(dcgain(s), s.outputs, s.inputs);
  const PeakGain peak = hinfnorm(s);
  text +=
      fmt::format("\nH-infinity norm   {}",
                  std::isfinite(peak.value) ? pretty(peak.value) : std::string("∞ (not stable)"));
  if (std::isfinite(peak.value))
    text += fmt::format(" at {} rad/s, certified at most {:.9g}", pretty(peak.frequency),
                        peak.certificate.upper);
  const double h2 = h2norm(s);
  text +=
      fmt::format("\nH2 norm           {}\n", std::isfinite(h2) ? pretty(h2) : std::string("∞"));
  std::string reason;
  const Eigen::VectorXd hankel = hankel_values(s, reason);
  text += "Hankel values     " +
          (reason.empty() ? list_of(hankel, 6) : "not found (" + reason + ")") + "\n";
  return text;
}

Json info_json(const Plant& plant, const StateSpace& s) {
  Json json;
  json["file"] = plant.file;
  json["order"] = s.order();
  json["dt"] = s.dt;
  json["inputs"] = s.inputs;
  json["outputs"] = s.outputs;
  json["states"] = s.states;
  json["stable"] = is_stable(s);
  json["poles"] = poles_json(s);
  json["zeros"] = complex_json(zeros(s));
  json["dc_gain"] = rows_json(dcgain(s));
  const PeakGain peak = hinfnorm(s);
  json["hinf_norm"] = {{"value", peak.value},
                       {"frequency", peak.frequency},
                       {"upper", peak.certificate.upper},
                       {"lower", peak.certificate.lower}};
  json["h2_norm"] = h2norm(s);
  std::string reason;
  const Eigen::VectorXd hankel = hankel_values(s, reason);
  json["hankel_values"] =
      reason.empty() ? Json(std::vector<double>(hankel.begin(), hankel.end())) : Json(nullptr);
  const auto tests = [](const std::vector<ModeTest>& list) {
    Json result = Json::array();
    for (const ModeTest& t : list)
      result.push_back({{"re", t.eigenvalue.real()},
                        {"im", t.eigenvalue.imag()},
                        {"strength", t.strength},
                        {"passed", t.passed},
                        {"states", t.states}});
    return result;
  };
  json["controllability"] = tests(controllability(s));
  json["observability"] = tests(observability(s));
  return json;
}

void control_info(const ControlOptions& options) {
  const Plant plant = options.plant.load();
  const StateSpace s = explicit_form(plant.system);
  if (s.has_delay())
    std::fprintf(stderr, "%s: warning: delays are left out of norms and Hankel values\n",
                 plant.file.c_str());
  StateSpace bare = s;
  bare.input_delay.resize(0);
  bare.output_delay.resize(0);
  const std::string text = info_text(plant, bare);
  if (!options.out.empty()) save_controller({.system = plant.system}, options.out);
  if (!options.report.empty())
    write_control_report(options.report, {.title = plant.file, .plant = &plant, .text = text});
  write_text(options.json ? info_json(plant, bare).dump(2) + "\n" : text, "");
}

}  // namespace

void add_control_info(Command& control) {
  Command command =
      control.subcommand("info", "Poles, zeros, gains, norms, Hankel values, modes by name");
  const auto options = std::make_shared<ControlOptions>();
  options->add(command);
  command.footer(
      "Examples:\n"
      "  catena control info models/double_pendulum.yaml\n"
      "  catena control info models/cart_pendulum.yaml --inputs rail -o plant.yaml");
  command.action([options] { control_info(*options); });
}

}  // namespace catena::app
