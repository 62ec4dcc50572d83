// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/control/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "catena/base/text.h"
#include "catena/io/runs/svg_plot.h"

namespace catena::app {
std::string html_text(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

namespace {

constexpr double kLeftSpace = 58.0, kRightSpace = 12.0, kTopSpace = 40.0, kBottomSpace = 38.0;
constexpr std::array kPalette = {"#4c78a8", "#f58518", "#54a24b", "#e45756",
                                 "#72b7b2", "#b279a2", "#d4a72c", "#9d755d"};

struct Span {
  double low = 1e300, high = -1e300;
  void add(double v) {
    if (!std::isfinite(v)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
};

std::string tick(double value, double span) {
  return short_number(std::abs(value) < 1e-9 * span ? 0.0 : value, 4);
}

class ChartFrame {
 public:
  explicit ChartFrame(const Chart& chart) : c_(chart) {
    Span x, y;
    if (chart.x_low < chart.x_high) {
      x.add(of(chart.x_low));
      x.add(of(chart.x_high));
    } else {
      for (const ChartCurve& curve : chart.curves)
        for (const double v : curve.x) x.add(of(v));
      for (const ChartMark& m : chart.marks) x.add(m.x);
    }
    if (chart.y_low < chart.y_high) {
      y.add(chart.y_low);
      y.add(chart.y_high);
    } else {
      for (const ChartCurve& curve : chart.curves)
        for (const double v : curve.y) y.add(v);
      for (const ChartMark& m : chart.marks) y.add(m.y);
    }
    widen(x, chart.x_log || chart.x_low < chart.x_high);
    widen(y, chart.y_low < chart.y_high);
    if (chart.equal_scales) equalize(x, y);
    x_ = x;
    y_ = y;
  }

  double px(double x) const {
    return kLeftSpace + (of(x) - x_.low) / (x_.high - x_.low) * inner_width();
  }
  double py(double y) const {
    return kTopSpace + (y_.high - y) / (y_.high - y_.low) * inner_height();
  }

  std::string text() const {
    const std::string clip = fmt::format(
        "<svg x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "viewBox=\"{:.1f} {:.1f} {:.1f} {:.1f}\" overflow=\"hidden\">\n",
        kLeftSpace, kTopSpace, inner_width(), inner_height(), kLeftSpace, kTopSpace, inner_width(),
        inner_height());
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" "
        "height=\"{}\" font-family=\"sans-serif\" font-size=\"11\">\n",
        c_.width, c_.height, c_.width, c_.height);
    out += label(c_.width / 2.0, 14, c_.title, "middle", "font-weight=\"bold\"");
    out += ticks();
    out += clip;
    for (const ChartCurve& line : c_.grid) {
      out += path(line, "#bbb", 0.7);
      if (!line.name.empty() && line.x.size() > 0)
        out += label(std::clamp(px(line.x[line.x.size() - 1]), kLeftSpace + 14.0,
                                c_.width - kRightSpace - 14.0),
                     std::clamp(py(line.y[line.y.size() - 1]), kTopSpace + 12.0,
                                c_.height - kBottomSpace - 4.0),
                     line.name, "middle", "fill=\"#999\" font-size=\"9\"");
    }
    for (const ChartCircle& circle : c_.circles)
      out += fmt::format(
          "<ellipse cx=\"{:.1f}\" cy=\"{:.1f}\" rx=\"{:.1f}\" ry=\"{:.1f}\" fill=\"#e4575622\" "
          "stroke=\"#e45756\"/>\n",
          px(circle.x), py(circle.y), circle.radius / (x_.high - x_.low) * inner_width(),
          circle.radius / (y_.high - y_.low) * inner_height());
    int next = 0;
    std::string legend;
    double at = kLeftSpace;
    for (const ChartCurve& curve : c_.curves) {
      const int colour = curve.colour >= 0 ? curve.colour : next++;
      const char* paint = kPalette[static_cast<std::size_t>(colour) % kPalette.size()];
      out += path(curve, paint, 1.5);
      if (curve.name.empty()) continue;
      legend += fmt::format("<path d=\"M{:.1f},28h14\" stroke=\"{}\" stroke-width=\"2.5\"{}/>\n",
                            at, paint, curve.dashed ? " stroke-dasharray=\"4 3\"" : "");
      legend += label(at + 18.0, 32, curve.name, "start", "");
      at += 30.0 + 6.2 * static_cast<double>(curve.name.size());
    }
    for (const ChartMark& m : c_.marks) out += mark(m);
    out += "</svg>\n" + legend;
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" "
        "stroke=\"#444\"/>\n",
        kLeftSpace, kTopSpace, inner_width(), inner_height());
    return out + "</svg>\n";
  }

 private:
  double of(double x) const { return c_.x_log ? std::log10(x) : x; }
  double inner_width() const { return c_.width - kLeftSpace - kRightSpace; }
  double inner_height() const { return c_.height - kTopSpace - kBottomSpace; }
  static void widen(Span& s, bool exact) {
    if (s.low > s.high) s = {-1.0, 1.0};
    const double size = std::max({std::abs(s.low), std::abs(s.high), 1e-300});
    if (s.high - s.low < 1e-9 * size) {
      s.low -= 0.1 * size;
      s.high += 0.1 * size;
    } else if (!exact) {
      const double margin = 0.06 * (s.high - s.low);
      s.low -= margin;
      s.high += margin;
    }
  }
  void equalize(Span& x, Span& y) const {
    const double unit =
        std::max((x.high - x.low) / inner_width(), (y.high - y.low) / inner_height());
    const auto grow = [&](Span& s, double pixels) {
      const double middle = 0.5 * (s.low + s.high);
      s.low = middle - 0.5 * unit * pixels;
      s.high = middle + 0.5 * unit * pixels;
    };
    grow(x, inner_width());
    grow(y, inner_height());
  }
  static std::string label(double x, double y, const std::string& text, const char* anchor,
                           const char* more) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" {}>{}</text>\n", x, y,
                       anchor, more, html_text(text));
  }
  std::string ticks() const {
    std::string out;
    const double bottom = c_.height - kBottomSpace, right = c_.width - kRightSpace;
    const auto vertical = [&](double x, const std::string& text) {
      out += fmt::format("<path d=\"M{:.1f},{:.1f}V{:.1f}\" stroke=\"#e6e6e6\"/>\n", px(x),
                         kTopSpace, bottom);
      if (!text.empty()) out += label(px(x), bottom + 14.0, text, "middle", "");
    };
    if (c_.x_log) {
      const int step = x_.high - x_.low > 8.0 ? 2 : 1;
      for (int k = static_cast<int>(std::ceil(x_.low - 1e-9)); k <= x_.high + 1e-9; k += step)
        vertical(std::pow(10.0, k), short_number(std::pow(10.0, k)));
    } else {
      for (const double x : round_ticks(x_.low, x_.high, c_.width / 90))
        vertical(x, tick(x, x_.high - x_.low));
    }
    for (const double y : round_ticks(y_.low, y_.high, c_.height / 50)) {
      out += fmt::format("<path d=\"M{:.1f},{:.1f}H{:.1f}\" stroke=\"#e6e6e6\"/>\n", kLeftSpace,
                         py(y), right);
      out += label(kLeftSpace - 5.0, py(y) + 4.0, tick(y, y_.high - y_.low), "end", "");
    }
    out += label((kLeftSpace + right) / 2.0, c_.height - 8.0, c_.x_label, "middle", "");
    const double middle = (kTopSpace + bottom) / 2.0;
    return out + label(13.0, middle, c_.y_label, "middle",
                       fmt::format("transform=\"rotate(-90 13 {:.1f})\"", middle).c_str());
  }
  std::string path(const ChartCurve& curve, const char* paint, double width) const {
    std::string d;
    bool down = false;
    for (Eigen::Index i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
      if (!std::isfinite(curve.x[i]) || !std::isfinite(curve.y[i])) {
        down = false;
        continue;
      }
      // Far outside the picture is outside.
      const double x = std::clamp(px(curve.x[i]), -1e4, 1e4);
      const double y = std::clamp(py(curve.y[i]), -1e4, 1e4);
      d += fmt::format("{}{:.1f},{:.1f}", down ? "L" : "M", x, y);
      down = true;
    }
    return fmt::format("<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{} d=\"{}\"/>\n",
                       paint, width, curve.dashed ? " stroke-dasharray=\"5 4\"" : "", d);
  }
  std::string mark(const ChartMark& m) const {
    const double x = px(m.x), y = py(m.y);
    const char* paint = kPalette[static_cast<std::size_t>(m.colour) % kPalette.size()];
    if (m.kind == 'o')
      return fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"none\" stroke=\"{}\" "
          "stroke-width=\"1.6\"/>\n",
          x, y, paint);
    if (m.kind == '+')
      return fmt::format(
          "<path d=\"M{:.1f},{:.1f}h10M{:.1f},{:.1f}v10\" stroke=\"#000\" "
          "stroke-width=\"1.4\"/>\n",
          x - 5.0, y, x, y - 5.0);
    return fmt::format(
        "<path d=\"M{:.1f},{:.1f}l8,8m0,-8l-8,8\" stroke=\"{}\" stroke-width=\"1.8\"/>\n", x - 4.0,
        y - 4.0, paint);
  }

  const Chart& c_;
  Span x_, y_;
};

}  // namespace

std::string svg_chart(const Chart& chart) { return ChartFrame(chart).text(); }

}  // namespace catena::app
