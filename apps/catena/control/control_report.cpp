// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/control/control_report.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/core.h>

#include "apps/catena/control/control_output.h"
#include "apps/catena/control/svg_chart.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/margins.h"
#include "catena/control/nonlinear/nonlinear_loop.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/discretize.h"
#include "catena/linear/freqresp.h"
#include "catena/linear/timeresp.h"

namespace catena::app {
namespace {

constexpr const char* kStyle =
    "body{font-family:sans-serif;max-width:1400px;margin:1.5em auto;padding:0 1em;color:#222}"
    "pre{background:#f6f6f6;padding:1em;overflow:auto;font-size:13px}"
    ".grid{display:flex;flex-wrap:wrap;gap:10px}h2{border-bottom:1px solid #ddd}";

Eigen::VectorXd decibels(const Eigen::VectorXd& v) {
  return (20.0 * v.array().max(1e-300).log10()).matrix();
}

// Lines of constant damping ratio and of constant frequency.
void damping_lines(Chart& chart, double reach) {
  for (const double zeta : {0.1, 0.3, 0.5, 0.7, 0.9})
    for (const double side : {1.0, -1.0}) {
      ChartCurve line;
      if (side > 0.0) line.name = short_number(zeta);
      line.x = Eigen::VectorXd::LinSpaced(2, 0.0, -reach * zeta);
      line.y = Eigen::VectorXd::LinSpaced(2, 0.0, side * reach * std::sqrt(1.0 - zeta * zeta));
      chart.grid.push_back(line);
    }
  for (const double share : {0.25, 0.5, 0.75, 1.0}) {
    const Eigen::VectorXd angle =
        Eigen::VectorXd::LinSpaced(41, 0.5 * std::numbers::pi, 1.5 * std::numbers::pi);
    ChartCurve arc;
    arc.x = share * reach * angle.array().cos().matrix();
    arc.y = share * reach * angle.array().sin().matrix();
    chart.grid.push_back(arc);
  }
  ChartCurve axis;
  axis.x = Eigen::VectorXd::Zero(2);
  axis.y = Eigen::VectorXd::LinSpaced(2, -1.2 * reach, 1.2 * reach);
  chart.grid.push_back(axis);
}

void unit_circle(Chart& chart) {
  const Eigen::VectorXd angle = Eigen::VectorXd::LinSpaced(121, 0.0, 2.0 * std::numbers::pi);
  ChartCurve circle;
  circle.x = angle.array().cos().matrix();
  circle.y = angle.array().sin().matrix();
  chart.grid.push_back(circle);
}

std::string pole_map(const StateSpace& plant, const StateSpace* closed) {
  Chart chart{.title = closed != nullptr ? "poles: plant and closed loop, zeros (o)"
                                         : "poles (x) and zeros (o)",
              .x_label = plant.is_continuous() ? "real part [1/s]" : "real part",
              .y_label = "imaginary part"};
  std::vector<double> sizes;
  const auto add = [&](const Eigen::VectorXcd& values, char kind, int colour) {
    for (const std::complex<double>& x : values) {
      if (!std::isfinite(std::abs(x))) continue;
      chart.marks.push_back({x.real(), x.imag(), kind, colour});
      sizes.push_back(std::abs(x));
    }
  };
  add(poles(plant), 'x', 0);
  add(zeros(plant), 'o', 0);
  if (closed != nullptr) add(poles(*closed), 'x', 3);
  // A few very fast poles would leave nothing to see of the others.
  std::sort(sizes.begin(), sizes.end());
  double reach = sizes.empty() ? 1.0 : std::max(sizes.back(), 1e-6);
  if (!sizes.empty() && plant.is_continuous()) {
    constexpr double kSeveral = 6.0;
    reach = std::min(reach, std::max(kSeveral * sizes[sizes.size() / 2], 1e-6));
    const auto beyond =
        std::count_if(sizes.begin(), sizes.end(), [&](double x) { return x > reach; });
    if (beyond > 0) chart.title += fmt::format("; {} beyond the picture", beyond);
  }
  chart.equal_scales = true;
  chart.width = 560;
  chart.height = 420;
  chart.x_low = -1.1 * reach;
  chart.x_high = 0.4 * reach;
  chart.y_low = -1.1 * reach;
  chart.y_high = 1.1 * reach;
  if (plant.is_continuous())
    damping_lines(chart, reach);
  else
    unit_circle(chart);
  return svg_chart(chart);
}

std::string bode_grid(const StateSpace& plant) {
  const Bode b = bode(plant);
  std::string out;
  constexpr int kMost = 4;  // rows and columns; more are in the JSON
  for (int i = 0; i < std::min(plant.output_count(), kMost); ++i)
    for (int j = 0; j < std::min(plant.input_count(), kMost); ++j) {
      const Eigen::Index k = i + static_cast<Eigen::Index>(j) * plant.output_count();
      const std::string name = plant.output_name(i) + " / " + plant.input_name(j);
      Chart gain{.title = name, .x_label = "frequency [rad/s]", .y_label = "gain [dB]"};
      gain.x_log = true;
      gain.curves.push_back({"", b.response.omega, decibels(b.magnitude.row(k).transpose())});
      gain.height = 230;
      Chart phase{.title = "", .x_label = "frequency [rad/s]", .y_label = "phase [deg]"};
      phase.x_log = true;
      phase.curves.push_back({"", b.response.omega, b.phase.row(k).transpose(), false, 1});
      phase.height = 200;
      out += "<div>" + svg_chart(gain) + "<br>" + svg_chart(phase) + "</div>\n";
    }
  return out;
}

// det(1 + L) − 1 (L itself of one channel), mirrored, and the disk that the disk margin keeps free.
std::string nyquist_chart(const StateSpace& loop) {
  const Nyquist n = nyquist(loop);
  const Eigen::Index size = n.response.omega.size();
  ChartCurve up, down;
  up.name = loop.is_siso() ? "L(jω)" : "det(1 + L) - 1";
  up.x.resize(size);
  up.y.resize(size);
  const Eigen::MatrixXcd one = Eigen::MatrixXcd::Identity(loop.output_count(), loop.input_count());
  for (Eigen::Index k = 0; k < size; ++k) {
    const Eigen::MatrixXcd L = n.response.matrix(static_cast<int>(k));
    // Determinant by elimination with pivots: a few channels.
    Eigen::MatrixXcd a = one + L;
    std::complex<double> det = 1.0;
    for (Eigen::Index c = 0; c < a.cols(); ++c) {
      Eigen::Index pivot = c;
      for (Eigen::Index r = c + 1; r < a.rows(); ++r)
        if (std::abs(a(r, c)) > std::abs(a(pivot, c))) pivot = r;
      if (pivot != c) {
        a.row(c).swap(a.row(pivot));
        det = -det;
      }
      det *= a(c, c);
      if (a(c, c) == 0.0) break;
      for (Eigen::Index r = c + 1; r < a.rows(); ++r)
        a.row(r) -= (a(r, c) / a(c, c)) * a.row(c).eval();
    }
    up.x[k] = det.real() - 1.0;
    up.y[k] = det.imag();
  }
  down = up;
  down.name.clear();
  down.dashed = true;
  down.colour = 0;
  down.y = -up.y;
  up.colour = 0;
  Chart chart{
      .title = fmt::format("Nyquist: {} encirclements, {} unstable poles, {}", n.encirclements,
                           n.unstable_poles, n.closed_loop_stable ? "stable" : "NOT stable"),
      .x_label = "real part",
      .y_label = "imaginary part"};
  chart.curves = {up, down};
  chart.marks.push_back({-1.0, 0.0, '+', 0});
  chart.equal_scales = true;
  chart.x_low = -3.5;
  chart.x_high = 2.0;
  chart.y_low = -2.2;
  chart.y_high = 2.2;
  chart.width = 560;
  chart.height = 420;
  if (loop.is_siso()) {
    const DiskMargin d = diskmargin(loop);
    // L outside the disk on the points −1/gain_down and −1/gain_up.
    if (d.alpha > 0.0 && d.gain_down > 0.0 && std::isfinite(d.gain_up)) {
      const double left = -1.0 / d.gain_down, right = -1.0 / d.gain_up;
      chart.circles.push_back({0.5 * (left + right), 0.0, 0.5 * (right - left)});
    }
  }
  return svg_chart(chart);
}

ChartCurve largest_gain(const std::string& name, const StateSpace& system,
                        const Eigen::VectorXd& omega) {
  const SingularValues v = sigma(freqresp(system, omega));
  return {name, omega, decibels(v.values.row(0).transpose())};
}

std::string sensitivity_chart(const StateSpace& plant, const StateSpace& controller,
                              const ControlReport& report) {
  const StateSpace loop = loop_at_input(plant, controller);
  const StateSpace one =
      ss(Eigen::MatrixXd::Identity(loop.input_count(), loop.input_count()), loop.dt);
  const StateSpace closed = feedback(loop, one);
  const Eigen::VectorXd omega = frequency_grid(closed);
  Chart chart{.title = "singular values", .x_label = "frequency [rad/s]", .y_label = "[dB]"};
  chart.x_log = true;
  chart.width = 560;
  chart.height = 420;
  chart.curves.push_back(largest_gain("S", feedback(one, loop), omega));
  chart.curves.push_back(largest_gain("T", closed, omega));
  for (const auto& [name, w] : report.weights) {
    ChartCurve bound = largest_gain(name, w, omega);
    bound.y = -bound.y;
    bound.dashed = true;
    chart.curves.push_back(bound);
  }
  return svg_chart(chart);
}

std::string sigma_chart(const StateSpace& plant) {
  const SingularValues v = sigma(plant);
  Chart chart{
      .title = "singular values of the plant", .x_label = "frequency [rad/s]", .y_label = "[dB]"};
  chart.x_log = true;
  chart.width = 560;
  chart.height = 420;
  for (Eigen::Index i = 0; i < v.values.rows(); ++i)
    chart.curves.push_back({"", v.omega, decibels(v.values.row(i).transpose())});
  return svg_chart(chart);
}

// One chart for each input: the linear loop and, of a mechanism, the nonlinear one beside it.
std::string step_charts(const Plant& plant, const LinearControllerSettings& controller) {
  std::string out;
  const StateSpace& g = plant.system;
  std::optional<NonlinearLoop> nonlinear;
  if (plant.origin)
    nonlinear = nonlinear_loop(*plant.origin->mechanism, plant.origin->model, controller);
  StateSpace linear;
  if (!nonlinear) {
    const StateSpace k = fitted(g, explicit_form(controller.system));
    linear = closed_by(k.is_discrete() && g.is_continuous() ? c2d(g, k.dt) : g, k);
  }
  const Eigen::VectorXd t = nonlinear ? comparison_times(*nonlinear) : time_grid(linear);
  constexpr int kMost = 4;
  for (int j = 0; j < std::min(g.input_count(), kMost); ++j) {
    constexpr double kMotion = 0.05;  // rad or m: large enough to show the nonlinearity
    ResponseComparison r;
    double size = 0.0;
    if (nonlinear) {
      size = step_size(*nonlinear, j, kMotion, t);
      r = compare_step(*nonlinear, j, size, t);
    } else {
      r.t = t;
      r.linear = step(linear, t).y[to_size(j)];
      const double largest = r.linear.cwiseAbs().maxCoeff();
      size = largest > 0.0 && std::isfinite(largest) ? kMotion / largest : 1.0;
      r.linear *= size;
    }
    Chart chart{.title = fmt::format("step of {} at {}", short_number(size, 3), g.input_name(j)),
                .x_label = "time [s]",
                .y_label = "deviation"};
    chart.width = 560;
    chart.height = 340;
    for (int i = 0; i < g.output_count(); ++i) {
      chart.curves.push_back({g.output_name(i), r.t, r.linear.row(i).transpose(), false, i});
      if (r.nonlinear.size() > 0)
        chart.curves.push_back(
            {i == 0 ? "nonlinear" : "", r.t, r.nonlinear.row(i).transpose(), true, i + 3});
    }
    out += svg_chart(chart);
  }
  return out;
}

}  // namespace

void write_control_report(const std::string& path, const ControlReport& report) {
  StateSpace g = explicit_form(report.plant->system);
  std::string page = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" +
                     html_text(report.title) + "</title><style>" + kStyle +
                     "</style></head><body>\n<h1>" + html_text(report.title) + "</h1>\n<pre>" +
                     html_text(report.text) + "</pre>\n" + report.figures;
  if (report.controller == nullptr) {
    page += "<h2>Poles and gains</h2><div class=\"grid\">" + pole_map(g, nullptr) + sigma_chart(g) +
            "</div>\n";
  } else {
    const StateSpace k = fitted(g, explicit_form(*report.controller));
    StateSpace sampled = g;
    if (k.is_discrete() && g.is_continuous()) sampled = c2d(g, k.dt);
    const StateSpace closed = closed_by(sampled, k);
    page += "<h2>Loop</h2><div class=\"grid\">" + pole_map(sampled, &closed) +
            nyquist_chart(loop_at_input(sampled, k)) + sensitivity_chart(sampled, k, report) +
            "</div>\n";
    if (is_stable(closed)) {
      LinearControllerSettings running = report.running;
      running.system = *report.controller;
      page += "<h2>Step responses</h2><div class=\"grid\">" + step_charts(*report.plant, running) +
              "</div>\n";
    }
  }
  page += "<h2>Bode</h2><div class=\"grid\">" + bode_grid(g) + "</div>\n</body></html>\n";
  write_text(page, path);
}

}  // namespace catena::app
