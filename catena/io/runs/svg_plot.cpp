// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/runs/svg_plot.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "catena/base/error.h"
#include "catena/base/text.h"

namespace catena {
namespace {

constexpr double kLeft = 74.0, kRight = 18.0, kTop = 34.0, kBottom = 44.0, kGap = 30.0;
constexpr int kTickSpacingX = 90, kTickSpacingY = 45;  // in points, about
constexpr std::array kColours = {"#4c78a8", "#f58518", "#54a24b", "#e45756",
                                 "#72b7b2", "#b279a2", "#d4a72c", "#9d755d"};

struct Range {
  double low = kNothing, high = -kNothing;
  static constexpr double kNothing = std::numeric_limits<double>::infinity();

  void add(double x) {
    if (!std::isfinite(x)) return;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  bool empty() const { return low > high; }
};

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

// A coordinate of the picture, to a tenth of a point.
std::string place(double x) { return number(std::round(10.0 * x) / 10.0); }

// A tick without the digits of its round-off.
std::string tick_text(double tick, double step) {
  const double rounded = std::round(tick / step) * step;
  if (std::abs(rounded) < 1e-9 * step) return "0";
  char text[32];
  constexpr int kDigits = 10;
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, rounded, std::chars_format::general, kDigits);
  return error == std::errc{} ? std::string(text, end) : number(rounded);
}

std::string text_at(double x, double y, const std::string& text, const std::string& more) {
  return "<text x=\"" + place(x) + "\" y=\"" + place(y) + "\"" + more + ">" + xml_text(text) +
         "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const std::string& kind) {
  return "<path class=\"" + kind + "\" d=\"M" + place(x1) + "," + place(y1) + "L" + place(x2) +
         "," + place(y2) + "\"/>\n";
}

// One frame: the curves of one unit.
class PlotFrame {
 public:
  PlotFrame(const SvgPlot& plot, const Range& times, std::vector<const SvgCurve*> curves,
            double top)
      : plot_(plot), times_(times), curves_(std::move(curves)), top_(top) {
    for (const SvgCurve* curve : curves_)
      for (const double value : curve->values) values_.add(value);
    if (values_.empty()) values_ = {-1.0, 1.0};
    const double span = values_.high - values_.low;
    // A constant gets a frame of its own size, so that noise is not blown up to fill it.
    const double least = 1e-9 * std::max(std::abs(values_.low), std::abs(values_.high));
    const double margin = span > least ? 0.05 * span : std::max(least * 1e3, 0.5e-12);
    values_.low -= margin;
    values_.high += margin;
  }

  double x(double time) const {
    return kLeft +
           (time - times_.low) / (times_.high - times_.low) * (plot_.width - kLeft - kRight);
  }
  double y(double value) const {
    return top_ + (values_.high - value) / (values_.high - values_.low) * plot_.frame_height;
  }

  std::string text(bool last) const {
    const double bottom = top_ + plot_.frame_height, right = plot_.width - kRight;
    std::string out;
    const auto vertical =
        round_ticks(values_.low, values_.high, plot_.frame_height / kTickSpacingY);
    for (const double tick : vertical) {
      out += line(kLeft, y(tick), right, y(tick), "grid");
      out += text_at(kLeft - 7.0, y(tick) + 4.0, tick_text(tick, step(vertical)),
                     " text-anchor=\"end\"");
    }
    const auto horizontal = round_ticks(times_.low, times_.high, plot_.width / kTickSpacingX);
    for (const double tick : horizontal) {
      out += line(x(tick), top_, x(tick), bottom, "grid");
      if (last)
        out += text_at(x(tick), bottom + 17.0, tick_text(tick, step(horizontal)),
                       " text-anchor=\"middle\"");
    }
    out += "<path class=\"axis\" d=\"M" + place(kLeft) + "," + place(top_) + "V" + place(bottom) +
           "H" + place(right) + "\"/>\n";
    if (last)
      out += text_at((kLeft + right) / 2.0, bottom + 36.0, "time [s]", " text-anchor=\"middle\"");
    if (!curves_[0]->unit.empty()) {
      const double middle = top_ + plot_.frame_height / 2.0;
      out += text_at(16.0, middle, curves_[0]->unit,
                     " text-anchor=\"middle\" transform=\"rotate(-90 16 " + place(middle) + ")\"");
    }
    double legend = kLeft;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      const std::string colour = kColours[i % kColours.size()];
      out += "<path fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"1.5\" d=\"" +
             curve(*curves_[i]) + "\"/>\n";
      out += "<path stroke=\"" + colour + "\" stroke-width=\"3\" d=\"M" + place(legend) + "," +
             place(top_ - 11.0) + "h16\"/>\n";
      out += text_at(legend + 21.0, top_ - 7.0, curves_[i]->name, "");
      constexpr double kLetter = 7.2;
      legend += 40.0 + kLetter * static_cast<double>(curves_[i]->name.size());
    }
    return out;
  }

 private:
  static double step(const std::vector<double>& ticks) {
    return ticks.size() > 1 ? ticks[1] - ticks[0]
                            : std::abs(ticks.empty() ? 1.0 : ticks[0]) + 1e-300;
  }

  std::string curve(const SvgCurve& curve) const {
    const Eigen::Index count = plot_.times.size();
    std::string path;
    bool pen_down = false;
    const auto point = [&](Eigen::Index i) {
      if (!std::isfinite(curve.values[i]) || !std::isfinite(plot_.times[i])) {
        pen_down = false;
        return;
      }
      path += (pen_down ? "L" : "M") + place(x(plot_.times[i])) + "," + place(y(curve.values[i]));
      pen_down = true;
    };
    if (count <= 2L * plot_.width) {
      for (Eigen::Index i = 0; i < count; ++i) point(i);
      return path;
    }
    for (Eigen::Index from = 0; from < count;) {
      const double column = std::floor(x(plot_.times[from]));
      Eigen::Index to = from, least = from, greatest = from;
      for (; to < count && std::floor(x(plot_.times[to])) == column; ++to) {
        if (!(curve.values[to] >= curve.values[least])) least = to;
        if (!(curve.values[to] <= curve.values[greatest])) greatest = to;
      }
      point(std::min(least, greatest));
      if (least != greatest) point(std::max(least, greatest));
      from = std::max(to, from + 1);
    }
    return path;
  }

  const SvgPlot& plot_;
  Range times_;
  std::vector<const SvgCurve*> curves_;
  double top_ = 0.0;
  Range values_;
};

}  // namespace

std::vector<double> round_ticks(double low, double high, int count) {
  if (!(high > low) || count < 1) return {};
  const double rough = (high - low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough) step = factor * power;
  std::vector<double> ticks;
  constexpr double kRoundOff = 1e-9;
  for (double i = std::ceil(low / step - kRoundOff); i * step <= high + kRoundOff * step; ++i)
    ticks.push_back(i * step);
  return ticks;
}

std::string svg_plot(const SvgPlot& plot) {
  if (plot.curves.empty() || plot.times.size() == 0) throw Error("there is nothing to plot");
  for (const SvgCurve& curve : plot.curves)
    if (curve.values.size() != plot.times.size())
      throw Error("'" + curve.name + "' has " + std::to_string(curve.values.size()) +
                  " values for " + std::to_string(plot.times.size()) + " times");
  Range times;
  for (const double time : plot.times) times.add(time);
  if (times.empty()) throw Error("there is nothing to plot: no time is a number");
  if (times.high == times.low) times.high = times.low + 1.0;

  std::vector<std::vector<const SvgCurve*>> frames;
  for (const SvgCurve& curve : plot.curves) {
    const auto same = std::find_if(frames.begin(), frames.end(),
                                   [&](const auto& f) { return f[0]->unit == curve.unit; });
    if (same == frames.end())
      frames.push_back({&curve});
    else
      same->push_back(&curve);
  }
  const double header = plot.title.empty() ? 0.0 : 26.0;
  const double pitch = plot.frame_height + kGap;
  const double height = header + kTop + pitch * static_cast<double>(frames.size()) - kGap + kBottom;
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                    std::to_string(plot.width) + "\" height=\"" + place(height) +
                    "\" viewBox=\"0 0 " + std::to_string(plot.width) + " " + place(height) +
                    "\" font-family=\"system-ui,'DejaVu Sans',sans-serif\" font-size=\"12\">\n"
                    "<style>.grid{stroke:#e3e6eb}.axis{stroke:#667085;fill:none}text{fill:#1d2129}"
                    "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  if (!plot.title.empty())
    out += text_at(kLeft, 24.0, plot.title, " font-size=\"15\" font-weight=\"600\"");
  for (std::size_t i = 0; i < frames.size(); ++i)
    out += PlotFrame(plot, times, frames[i], header + kTop + pitch * static_cast<double>(i))
               .text(i + 1 == frames.size());
  return out + "</svg>\n";
}

}  // namespace catena
