// SPDX-License-Identifier: BSD-3-Clause
// Curves over time as an SVG picture: axes with round ticks, a legend, units. Curves with the same
// unit share a frame; frames of different units stand above each other over one time axis.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

namespace catena {

struct SvgCurve {
  std::string name{};
  std::string unit{};
  Eigen::VectorXd values{};  // as many as there are times; NaN leaves a gap
};

struct SvgPlot {
  std::string title{};
  Eigen::VectorXd times{};  // not decreasing
  std::vector<SvgCurve> curves{};
  int width = 900;
  int frame_height = 260;
};

// Throws an Error if there is nothing to draw or a curve has the wrong length. A curve with more
// points than the picture has columns is drawn by the least and greatest value of each column.
std::string svg_plot(const SvgPlot& plot);

// Multiples of 1, 2 or 5 times a power of ten that lie within [low, high], about `count` of them.
std::vector<double> round_ticks(double low, double high, int count);

}  // namespace catena
