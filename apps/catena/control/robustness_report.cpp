// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/control/robustness_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "apps/catena/control/svg_chart.h"
#include "apps/catena/output.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/linear/lapack/lapack.h"

namespace catena::app {
namespace {

constexpr int kMapPoints = 21;  // on each side of the map

// Every band as a level from its lower to its upper frequency, and the bound at its own frequency.
std::string bands_chart(const MuPeak& peak) {
  std::vector<MuBand> bands;
  for (const MuBand& b : peak.bands)
    if (std::isfinite(b.omega) && b.omega > 0.0) bands.push_back(b);
  if (bands.size() < 2) return {};
  Chart chart{.title = "Upper bound of μ at the frequencies used, and its guaranteed level",
              .x_label = "rad/s",
              .y_label = "μ",
              .x_log = true};
  ChartCurve upper{.name = "bound"}, level{.name = "guaranteed", .dashed = true};
  const auto count = std::ssize(bands);
  upper.x.resize(count), upper.y.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    upper.x[i] = at(bands, i).omega;
    upper.y[i] = at(bands, i).upper;
    chart.marks.push_back({upper.x[i], upper.y[i], '+', 0});
  }
  level.x = Eigen::Vector2d(upper.x[0], upper.x[count - 1]);
  level.y = Eigen::Vector2d(peak.upper, peak.upper);
  chart.curves = {upper, level};
  return svg_chart(chart);
}

// 1/margin of each uncertainty alone: its share of what the loop bears.
std::string share_bars(const UncertainSystem& loop, const std::vector<RobustStability>& alone) {
  constexpr double kWidth = 260.0;
  double largest = 1.0;
  for (const RobustStability& r : alone) largest = std::max(largest, r.peak.upper);
  std::string html =
      "<table><tr><th>uncertainty alone</th><th>1/margin (1: its whole range destabilizes)</th>"
      "</tr>";
  for (int k = 0; k < loop.blocks.size(); ++k) {
    const double share = alone[to_size(k)].peak.upper;
    html += fmt::format(
        "<tr><td>{}</td><td><svg width=\"{}\" height=\"14\"><rect width=\"{:.1f}\" height=\"12\" "
        "fill=\"{}\"/></svg> {}</td></tr>",
        html_text(loop.blocks[k].name), kWidth, kWidth * share / largest,
        share < 1.0 ? "#4878a8" : "#c04030", pretty(share));
  }
  return html + "</table>";
}

std::string stability_map(const UncertainSystem& loop, const std::vector<RobustStability>& alone) {
  std::vector<int> order;
  for (int k = 0; k < loop.blocks.size(); ++k)
    if (loop.parameters[to_size(k)]) order.push_back(k);
  if (order.size() < 2) return {};
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return alone[to_size(a)].margin_low < alone[to_size(b)].margin_low;
  });
  const UncertainParameter &x = *loop.parameters[to_size(order[0])],
                           &y = *loop.parameters[to_size(order[1])];
  Chart chart{.title = "Stable (+) and unstable (x), the others nominal",
              .x_label = x.name,
              .y_label = y.name};
  for (int i = 0; i < kMapPoints; ++i)
    for (int j = 0; j < kMapPoints; ++j) {
      const double a = x.low + (x.high - x.low) * i / (kMapPoints - 1.0);
      const double b = y.low + (y.high - y.low) * j / (kMapPoints - 1.0);
      const StateSpace closed = close(loop, {{x.name, a}, {y.name, b}});
      const bool stable = lapack::eigenvalues(closed.A).real().maxCoeff() < 0.0;
      chart.marks.push_back({a, b, stable ? '+' : 'x', stable ? 0 : 1});
    }
  return svg_chart(chart);
}

}  // namespace

std::string robustness_figures(const UncertainSystem& loop, const RobustStability& margin,
                               const std::vector<RobustStability>& alone) {
  return "<h2>Robustness</h2><div class=\"grid\">" + bands_chart(margin.peak) +
         stability_map(loop, alone) + "</div>\n" + share_bars(loop, alone) + "\n";
}

}  // namespace catena::app
