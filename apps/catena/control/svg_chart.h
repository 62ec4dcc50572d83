// SPDX-License-Identifier: BSD-3-Clause
// Charts of control engineering as SVG: curves over linear or logarithmic axes, marks, circles.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

namespace catena::app {

struct ChartCurve {
  std::string name{};
  Eigen::VectorXd x{}, y{};
  bool dashed = false;
  int colour = -1;  // index; −1: the next one
};
struct ChartMark {
  double x = 0.0, y = 0.0;
  char kind = 'x';  // x: pole, o: zero, +: point
  int colour = 0;
};
struct ChartCircle {
  double x = 0.0, y = 0.0, radius = 0.0;
};

struct Chart {
  std::string title{}, x_label{}, y_label{};
  std::vector<ChartCurve> curves{};
  std::vector<ChartMark> marks{};
  std::vector<ChartCircle> circles{};
  std::vector<ChartCurve> grid{};  // thin lines below the curves, named at their end
  bool x_log = false;
  bool equal_scales = false;                                    // for complex planes
  double x_low = 0.0, x_high = 0.0, y_low = 0.0, y_high = 0.0;  // equal: from the data
  int width = 440, height = 300;
};
std::string svg_chart(const Chart& chart);
// A text as it stands in HTML and SVG.
std::string html_text(const std::string& text);

}  // namespace catena::app
