// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/linear_output.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/core.h>

#include "catena/base/index.h"
#include "catena/base/text.h"

namespace catena::app {

void print_friction_warning(const Mechanism& m, const State& state) {
  std::vector<std::string> names;
  double steepest = 0.0;
  for (std::size_t h = 0; h < m.hinges().size(); ++h) {
    const HingePlace& place = m.hinges()[h];
    const std::vector<FreedomSettings>& freedoms = m.description().hinges[h].freedoms;
    if (place.node < 0) continue;
    for (int k = 0; k < std::min(place.freedoms, static_cast<int>(freedoms.size())); ++k) {
      const Friction& friction = freedoms[index(k)].friction;
      const int v = place.v_index + k;
      if (!(friction.sliding > 0.0) || std::abs(state.v[v]) > friction.transition_velocity)
        continue;
      names.push_back(m.velocity_names()[index(v)]);
      steepest = std::max(steepest, friction.sliding / friction.transition_velocity);
    }
  }
  if (names.empty()) return;
  fmt::print(
      stderr,
      "warning: dry friction of {} counts as viscous here, up to {:.4g} N m s/rad (or N s/m): "
      "the slope of its law at zero speed. A joint at rest sticks instead; for the motion "
      "without friction add --set hinge.{}.friction=0\n",
      listed(names), steepest, names.front());
}

Json rows_json(const Eigen::MatrixXd& a) {
  Json rows = Json::array();
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    Json row = Json::array();
    for (Eigen::Index k = 0; k < a.cols(); ++k) row.push_back(a(i, k));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string matrix_text(const Eigen::MatrixXd& a, const std::vector<std::string>& rows,
                        const std::vector<std::string>& columns) {
  std::vector<Table::Column> titles{{" "}};
  for (const std::string& name : columns) titles.push_back({name, true});
  Table table(titles);
  double size = 0.0;  // of the largest finite entry
  for (const double entry : a.reshaped())
    if (std::isfinite(entry)) size = std::max(size, std::abs(entry));
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    std::vector<std::string> words{rows[index(i)]};
    for (Eigen::Index k = 0; k < a.cols(); ++k)
      words.push_back(pretty(without_noise(a(i, k), size)));
    table.add(std::move(words));
  }
  return table.text();
}

Json modes_json(const ModalAnalysis& analysis, const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const Mode& mode : analysis.modes) {
    Json one;
    one["eigenvalue"] = {mode.eigenvalue.real(), mode.eigenvalue.imag()};
    one["frequency"] = mode.frequency;
    one["frequency_hz"] = mode.frequency / (2.0 * std::numbers::pi);
    one["damping"] = mode.damping;
    one["pair"] = mode.multiplicity == 2;
    Json shape = Json::object();
    for (Eigen::Index k = 0; k < mode.shape.size(); ++k)
      shape[names[index(k)]] = {mode.shape[k].real(), mode.shape[k].imag()};
    one["shape"] = std::move(shape);
    list.push_back(std::move(one));
  }
  return {{"modes", std::move(list)},
          {"stability", to_string(analysis.stability)},
          {"growth", analysis.growth}};
}

std::string modes_text(const ModalAnalysis& analysis, const std::vector<std::string>& names) {
  Table table({{"mode", true},
               {"eigenvalue", true},
               {"rad/s", true},
               {"Hz", true},
               {"damping", true},
               {"largest in"}});
  int number = 0;
  for (const Mode& mode : analysis.modes) {
    std::string main;
    Eigen::Index largest = 0;
    if (mode.shape.size() > 0 && mode.shape.cwiseAbs().maxCoeff(&largest) > 0.0)
      main = names[index(largest)];
    const double re = without_noise(mode.eigenvalue.real(), std::max(1.0, mode.frequency));
    table.add({std::to_string(++number),
               mode.multiplicity == 2
                   ? fmt::format("{} ± {}i", pretty(re), pretty(mode.eigenvalue.imag()))
                   : pretty(re),
               pretty(mode.frequency), pretty(mode.frequency / (2.0 * std::numbers::pi)),
               pretty(without_noise(mode.damping, 1.0)), main});
  }
  return table.text() + to_string(analysis.stability) + "\n";
}

}  // namespace catena::app
