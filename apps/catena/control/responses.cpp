// SPDX-License-Identifier: BSD-3-Clause
// catena control bode, nyquist, sigma, step, margins: responses of a plant or of a loop.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>

#include <fmt/core.h>

#include "apps/catena/control/control_commands.h"
#include "apps/catena/control/control_output.h"
#include "apps/catena/control/control_report.h"
#include "apps/catena/linear_output.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/nonlinear/nonlinear_loop.h"
#include "catena/io/runs/csv.h"
#include "catena/linear/algebra.h"
#include "catena/linear/discretize.h"
#include "catena/linear/freqresp.h"
#include "catena/linear/timeresp.h"

namespace catena::app {
namespace {

constexpr int kRows = 24;  // of a table for people; JSON and CSV have all

struct ResponseOptions {
  ControlOptions common;
  std::string controller, of;
  std::optional<double> from, to, duration;
};

struct Subject {
  Plant plant;
  std::optional<StateSpace> controller;  // with the plant's order of signals
  StateSpace system;                     // what is looked at
  std::string what;
};

// A sampled controller sees the plant through a zero-order hold.
void same_time(StateSpace& plant, const StateSpace& controller) {
  if (plant.is_continuous() && controller.is_discrete()) plant = c2d(plant, controller.dt);
}

// Frequencies and times given on the command line.
void check_ranges(const ResponseOptions& o) {
  const auto refuse = [](const char* option, double x, const char* what) {
    throw UsageError(
        fmt::format("catena control: error: {} is {}; it must be {}", option, number(x), what));
  };
  for (const auto& [option, x] :
       {std::pair{"--from", o.from}, std::pair{"--to", o.to}, std::pair{"--duration", o.duration}})
    if (x && (!(*x > 0.0) || !std::isfinite(*x))) refuse(option, *x, "positive");
  if (o.from && o.to && !(*o.to > *o.from)) refuse("--to", *o.to, "above --from");
}

// The grid that was asked for. A sampled system has no response of its own above π/dt.
GridSettings grid_of(const ResponseOptions& o, const StateSpace& system) {
  const double limit = system.is_discrete() ? std::numbers::pi / system.dt : 1e300;
  for (const auto& [option, x] : {std::pair{"--from", o.from}, std::pair{"--to", o.to}})
    if (x && *x > limit * (1.0 + 1e-9))
      throw UsageError(
          fmt::format("catena control: error: {} is {} rad/s; the system is sampled every {} s, so "
                      "its response "
                      "repeats above {} rad/s",
                      option, number(*x), number(system.dt), pretty(limit)));
  return {.from = o.from.value_or(0.0), .to = o.to.value_or(0.0)};
}

Subject subject_of(const ResponseOptions& options, const std::string& otherwise) {
  check_ranges(options);
  Subject s;
  const auto file = load_controller_file(options.controller);
  s.plant = options.common.plant.load(file ? &file->system : nullptr);
  const std::string of = !options.of.empty() ? options.of : file ? otherwise : "plant";
  if (!file && of != "plant")
    throw UsageError("catena control: error: --of " + of + " needs the --controller");
  s.what = of;
  s.system = s.plant.system;
  if (!file) return s;
  s.controller = fitted(s.plant.system, file->system);
  StateSpace g = s.plant.system;
  same_time(g, *s.controller);
  if (of == "plant") return s;
  if (of != "loop") require_no_delay(g, s.plant.file);
  if (g.is_discrete() && g.has_delay()) g = absorb_delays(g);
  const StateSpace loop = loop_at_input(g, *s.controller);
  if (of == "loop") s.system = loop;
  if (of == "closed") s.system = closed_by(g, *s.controller);
  const auto named = [&](StateSpace system) {
    system.inputs = system.outputs = g.inputs;
    return system;
  };
  const StateSpace one = ss(Eigen::MatrixXd::Identity(g.input_count(), g.input_count()), g.dt);
  if (of == "S") s.system = named(feedback(one, loop));
  if (of == "T") s.system = named(feedback(loop, one));
  if (of == "KS") {
    s.system = feedback(*s.controller, g, +1);
    s.system.inputs = g.outputs;
    s.system.outputs = g.inputs;
  }
  return s;
}

void write_report(const ResponseOptions& options, const Subject& s, const std::string& text) {
  if (options.common.report.empty()) return;
  write_control_report(options.common.report,
                       {.title = s.plant.file,
                        .plant = &s.plant,
                        .controller = s.controller ? &*s.controller : nullptr,
                        .text = text});
}

// Text for people, JSON, and all rows to a .csv file.
void put(const ResponseOptions& options, const Subject& s, const std::string& text,
         const Json& json, const std::vector<std::string>& columns, const Eigen::MatrixXd& rows) {
  if (!options.common.out.empty()) {
    if (!options.common.out.ends_with(".csv"))
      throw UsageError("catena control: error: -o " + options.common.out +
                       ": a response is written as a table: give a name that ends in .csv");
    CsvWriter writer(options.common.out, columns);
    for (Eigen::Index k = 0; k < rows.rows(); ++k) {
      std::vector<double> row(index(rows.cols()));
      for (Eigen::Index j = 0; j < rows.cols(); ++j) row[index(j)] = rows(k, j);
      writer.append(row);
    }
    writer.close();
  }
  write_report(options, s, text);
  write_text(options.common.json ? json.dump(2) + "\n" : text, "");
}

std::string channel(const StateSpace& s, int i, int j) {
  return s.output_name(i) + "/" + s.input_name(j);
}

double to_db(double x) { return 20.0 * std::log10(x); }
Json numbers(const Eigen::VectorXd& v) { return std::vector<double>(v.begin(), v.end()); }

void bode_command(const ResponseOptions& options) {
  const Subject s = subject_of(options, "loop");
  const StateSpace& g = s.system;
  const Bode b = bode(g, grid_of(options, g));
  const Eigen::VectorXd& omega = b.response.omega;
  Eigen::MatrixXd rows(omega.size(), 1 + 2 * b.magnitude.rows());
  rows.col(0) = omega;
  std::vector<std::string> columns{"omega"};
  Json json;
  json["of"] = s.what;
  json["omega"] = numbers(omega);
  std::string text = fmt::format("Bode of {}: {} frequencies, {} to {} rad/s\n", s.what,
                                 omega.size(), pretty(omega[0]), pretty(omega[omega.size() - 1]));
  Table peaks({{"output/input"},
               {"at the lowest [dB]", true},
               {"largest [dB]", true},
               {"at [rad/s]", true},
               {"crosses 0 dB at [rad/s]", true}});
  Json entries = Json::array();
  for (int j = 0; j < g.input_count(); ++j)
    for (int i = 0; i < g.output_count(); ++i) {
      const Eigen::Index k = i + static_cast<Eigen::Index>(j) * g.output_count();
      const Eigen::VectorXd magnitude = b.magnitude.row(k), phase = b.phase.row(k);
      rows.col(1 + 2 * k) = magnitude;
      rows.col(2 + 2 * k) = phase;
      columns.push_back(channel(g, i, j) + ".mag");
      columns.push_back(channel(g, i, j) + ".phase");
      Eigen::Index best = 0;
      magnitude.maxCoeff(&best);
      double crossing = std::nan("");
      for (Eigen::Index l = 1; l < omega.size(); ++l)
        if ((magnitude[l - 1] - 1.0) * (magnitude[l] - 1.0) < 0.0) {
          const double share =
              std::log(magnitude[l - 1]) / std::log(magnitude[l - 1] / magnitude[l]);
          crossing = omega[l - 1] * std::pow(omega[l] / omega[l - 1], share);
        }
      peaks.add({channel(g, i, j), short_number(to_db(magnitude[0]), 4),
                 short_number(to_db(magnitude[best]), 4), pretty(omega[best]),
                 std::isfinite(crossing) ? pretty(crossing) : "-"});
      entries.push_back({{"output", g.output_name(i)},
                         {"input", g.input_name(j)},
                         {"magnitude", numbers(magnitude)},
                         {"phase", numbers(phase)}});
    }
  json["entries"] = std::move(entries);
  text += peaks.text();
  if (b.magnitude.rows() <= 3) {
    std::vector<Table::Column> titles{{"[rad/s]", true}};
    for (Eigen::Index k = 0; k < b.magnitude.rows(); ++k) {
      titles.push_back({"[dB]", true});
      titles.push_back({"[deg]", true});
    }
    Table table(titles);
    for (int r = 0; r < kRows; ++r) {
      const Eigen::Index l = (omega.size() - 1) * r / (kRows - 1);
      std::vector<std::string> row{pretty(omega[l])};
      for (Eigen::Index k = 0; k < b.magnitude.rows(); ++k) {
        row.push_back(short_number(to_db(b.magnitude(k, l)), 4));
        row.push_back(short_number(b.phase(k, l), 4));
      }
      table.add(row);
    }
    text += "\n" + table.text();
  }
  put(options, s, text, json, columns, rows);
}

struct Nearest {
  double distance = 0.0, frequency = 0.0;
};

// The least |1 + L(jω)| over all frequencies: 1/‖S‖∞. With delays from the samples, each local
// minimum refined.
Nearest nearest_to_minus_one(const StateSpace& loop, const FrequencyData& samples) {
  if (!loop.has_delay() || loop.is_discrete()) {
    const StateSpace l = explicit_form(loop.is_discrete() ? absorb_delays(loop) : loop);
    const PeakGain peak = linfnorm(feedback(ss(Eigen::MatrixXd::Identity(1, 1), l.dt), l));
    return {1.0 / peak.value, peak.frequency};
  }
  const auto distance = [&](double w) {
    return std::abs(1.0 + freqresp(loop, Eigen::VectorXd::Constant(1, w)).value(0, 0, 0));
  };
  Nearest best{1e300, 0.0};
  const Eigen::VectorXd d = (1.0 + samples.values.row(0).array()).abs().matrix().transpose();
  for (Eigen::Index k = 0; k < d.size(); ++k) {
    if ((k > 0 && d[k - 1] < d[k]) || (k + 1 < d.size() && d[k + 1] < d[k])) continue;
    double a = samples.omega[std::max<Eigen::Index>(k - 1, 0)],
           b = samples.omega[std::min<Eigen::Index>(k + 1, d.size() - 1)];
    const double golden = 0.5 * (std::sqrt(5.0) - 1.0);
    for (int i = 0; i < 60; ++i) {
      const double left = b - golden * (b - a), right = a + golden * (b - a);
      if (distance(left) > distance(right))
        a = left;
      else
        b = right;
    }
    if (const double found = distance(0.5 * (a + b)); found < best.distance)
      best = {found, 0.5 * (a + b)};
  }
  return best;
}

void nyquist_command(const ResponseOptions& options) {
  const Subject s = subject_of(options, "loop");
  if (s.system.input_count() != s.system.output_count())
    throw Error(
        fmt::format("a Nyquist plot needs as many outputs as inputs; this system has {} "
                    "and {}: choose by --outputs and --inputs",
                    s.system.output_count(), s.system.input_count()));
  const Nyquist n = nyquist(s.system, grid_of(options, s.system));
  const Eigen::VectorXd& omega = n.response.omega;
  const Eigen::Index size = n.response.values.rows();
  Eigen::MatrixXd rows(omega.size(), 1 + 2 * size);
  rows.col(0) = omega;
  std::vector<std::string> columns{"omega"};
  for (int j = 0; j < s.system.input_count(); ++j)
    for (int i = 0; i < s.system.output_count(); ++i) {
      const Eigen::VectorXcd g = n.response.entry(i, j);
      const Eigen::Index k = i + static_cast<Eigen::Index>(j) * s.system.output_count();
      rows.col(1 + 2 * k) = g.real();
      rows.col(2 + 2 * k) = g.imag();
      columns.push_back(channel(s.system, i, j) + ".re");
      columns.push_back(channel(s.system, i, j) + ".im");
    }
  const Nearest near = size == 1 ? nearest_to_minus_one(s.system, n.response) : Nearest{};
  std::string text = fmt::format(
      "Nyquist of {} ({} frequencies)\nencirclements     {} of the origin by det(1 + L)\nunstable "
      "poles    {} of the open loop\nclosed loop       {}\n",
      s.what, omega.size(), n.encirclements, n.unstable_poles,
      n.closed_loop_stable ? "stable" : "NOT stable");
  if (size == 1)
    text += fmt::format("nearest to -1     {} at {} rad/s\n", pretty(near.distance),
                        pretty(near.frequency));
  Json json;
  json["of"] = s.what;
  json["encirclements"] = n.encirclements;
  json["unstable_poles"] = n.unstable_poles;
  json["closed_loop_stable"] = n.closed_loop_stable;
  if (size == 1) json["nearest"] = {{"distance", near.distance}, {"frequency", near.frequency}};
  json["omega"] = numbers(omega);
  Json entries = Json::array();
  for (Eigen::Index k = 0; k < size; ++k)
    entries.push_back({{"re", numbers(rows.col(1 + 2 * k))}, {"im", numbers(rows.col(2 + 2 * k))}});
  json["entries"] = std::move(entries);
  put(options, s, text, json, columns, rows);
}

void sigma_command(const ResponseOptions& options) {
  const Subject s = subject_of(options, "S");
  const SingularValues v = sigma(s.system, grid_of(options, s.system));
  Eigen::MatrixXd rows(v.omega.size(), 1 + v.values.rows());
  rows << v.omega, v.values.transpose();
  std::vector<std::string> columns{"omega"};
  for (Eigen::Index i = 0; i < v.values.rows(); ++i)
    columns.push_back("sigma" + std::to_string(i + 1));
  Table table({{"[rad/s]", true}, {"largest [dB]", true}, {"smallest [dB]", true}});
  for (int r = 0; r < kRows; ++r) {
    const Eigen::Index l = (v.omega.size() - 1) * r / (kRows - 1);
    table.add({pretty(v.omega[l]), short_number(to_db(v.values(0, l)), 4),
               short_number(to_db(v.values(v.values.rows() - 1, l)), 4)});
  }
  PeakGain peak;
  const bool delayed = s.system.is_continuous() && s.system.has_delay();
  if (delayed) {  // of the samples
    Eigen::Index at = 0;
    peak.value = v.values.row(0).maxCoeff(&at);
    peak.frequency = v.omega[at];
    peak.certificate.upper = std::nan("");
  } else {
    peak = linfnorm(explicit_form(s.system.has_delay() ? absorb_delays(s.system) : s.system));
  }
  std::string text = fmt::format("singular values of {}\n", s.what) + table.text();
  text += fmt::format("largest           {} at {} rad/s ({})\n", pretty(peak.value),
                      pretty(peak.frequency),
                      delayed ? std::string("of the samples; --pade N gives a certificate")
                              : fmt::format("certified at most {:.9g}", peak.certificate.upper));
  Json json;
  json["of"] = s.what;
  json["omega"] = numbers(v.omega);
  Json lists = Json::array();
  for (Eigen::Index i = 0; i < v.values.rows(); ++i)
    lists.push_back(numbers(v.values.row(i).transpose()));
  json["values"] = std::move(lists);
  json["peak"] = {
      {"value", peak.value}, {"frequency", peak.frequency}, {"upper", peak.certificate.upper}};
  put(options, s, text, json, columns, rows);
}

void step_command(const ResponseOptions& options) {
  const Subject s = subject_of(options, "closed");
  const StateSpace& g = s.system;
  const Eigen::VectorXd t = options.duration ? time_grid(g, *options.duration) : Eigen::VectorXd{};
  const TimeResponse r = step(g, t);
  const StepInfoTable features = stepinfo(g);
  Eigen::MatrixXd rows(r.t.size(), 1 + g.output_count() * g.input_count());
  rows.col(0) = r.t;
  std::vector<std::string> columns{"time"};
  Table table({{"output/input"},
               {"final", true},
               {"rise [s]", true},
               {"settling [s]", true},
               {"overshoot [%]", true},
               {"peak", true},
               {"at [s]", true}});
  Json entries = Json::array();
  const auto number_or = [](double x) { return std::isfinite(x) ? pretty(x) : std::string("-"); };
  for (int j = 0; j < g.input_count(); ++j)
    for (int i = 0; i < g.output_count(); ++i) {
      rows.col(static_cast<Eigen::Index>(columns.size())) = r.entry(i, j);
      columns.push_back(channel(g, i, j));
      StepInfo f = features(i, j);
      constexpr double kNothing = 1e-9;  // beside the peak: features of a response to nothing
      if (std::abs(f.steady_state) <= kNothing * f.peak)
        f.steady_state = 0.0, f.rise_time = f.settling_time = f.overshoot = std::nan("");
      table.add(
          {channel(g, i, j), f.stable ? number_or(f.steady_state) : "grows",
           f.stable ? number_or(f.rise_time) : "-", f.stable ? number_or(f.settling_time) : "-",
           f.stable ? number_or(f.overshoot) : "-", number_or(f.peak), number_or(f.peak_time)});
      entries.push_back({{"output", g.output_name(i)},
                         {"input", g.input_name(j)},
                         {"steady_state", f.steady_state},
                         {"rise_time", f.rise_time},
                         {"settling_time", f.settling_time},
                         {"overshoot", f.overshoot},
                         {"peak", f.peak},
                         {"stable", f.stable},
                         {"values", numbers(r.entry(i, j))}});
    }
  Json json;
  json["of"] = s.what;
  json["time"] = numbers(r.t);
  json["entries"] = std::move(entries);
  put(options, s,
      fmt::format("unit step at each input of {}, {} s\n", s.what, pretty(r.t[r.t.size() - 1])) +
          table.text(),
      json, columns, rows);
}

void margins_command(const ResponseOptions& options) {
  const Subject s = subject_of(options, "loop");
  require_no_delay(s.system, s.plant.file);
  const StateSpace loop = explicit_form(s.system.has_delay() ? absorb_delays(s.system) : s.system);
  const std::string text = margins_text(loop);
  write_report(options, s, text);
  write_text(options.common.json ? margins_json(loop).dump(2) + "\n" : text, "");
}

}  // namespace

void add_control_responses(Command& control) {
  struct Entry {
    const char *name, *help, *example;
    void (*run)(const ResponseOptions&);
  };
  static const Entry kEntries[] = {
      {"bode", "Gain and phase over frequency, on a grid that misses no peak",
       "catena control bode models/double_pendulum.yaml --inputs shoulder --outputs q.elbow -o "
       "bode.csv",
       bode_command},
      {"nyquist", "The loop in the complex plane, encirclements, stability of the closed loop",
       "catena control nyquist models/cart_pendulum.yaml --controller K.yaml", nyquist_command},
      {"sigma", "Singular values over frequency",
       "catena control sigma models/cart_pendulum.yaml --controller K.yaml --of S", sigma_command},
      {"step", "Step responses and their features",
       "catena control step models/cart_pendulum.yaml --controller K.yaml", step_command},
      {"margins", "Gain, phase, delay and disk margins of a loop",
       "catena control margins models/cart_pendulum.yaml --controller K.yaml", margins_command}};
  for (const Entry& entry : kEntries) {
    const std::string name = entry.name;
    Command command = control.subcommand(name, entry.help);
    const auto options = std::make_shared<ResponseOptions>();
    ResponseOptions& o = *options;
    o.common.plant.add(command);
    command.option("--controller", o.controller, "u = K y in positive feedback: a system file")
        .placeholder("K.yaml");
    if (name != "margins") {
      command
          .option("--of", o.of,
                  "plant, loop (opened at the inputs), closed (from inputs to outputs), S, T, KS")
          .one_of({"plant", "loop", "closed", "S", "T", "KS"});
      command.option("-o,--output", o.common.out, "Write all rows as a table")
          .placeholder("FILE.csv");
    }
    if (name == "step") {
      command.option("--duration", o.duration, "How long, in s (default: until it has settled)")
          .placeholder("S");
    } else if (name != "margins") {
      command.option("--from", o.from, "Lowest frequency, rad/s (default: from the poles)")
          .placeholder("W");
      command.option("--to", o.to, "Highest frequency, rad/s (default: from the poles)")
          .placeholder("W");
    }
    command.flag("--json", o.common.json, "Print JSON");
    command.option("--report", o.common.report, "Write a page with plots").placeholder("PAGE.html");
    command.footer(std::string("Examples:\n  ") + entry.example);
    command.action([options, run = entry.run] { run(*options); });
  }
}

}  // namespace catena::app
