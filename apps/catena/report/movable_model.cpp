// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/report/movable_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/catena/report/report_model.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/closure/chart.h"

namespace catena::app {
namespace {

// A slider moves in steps of this (rad, or fractions of its range), so that a closed mechanism
// stays on its branch.
constexpr double kStep = 0.05;
// Another coordinate that moves more than this in a step has jumped to another branch.
constexpr double kJump = 0.7;
// Reach of sliders of modal coordinates, of the size of the body.
constexpr double kModalReach = 0.05;

}  // namespace

MovableModel::MovableModel(const Mechanism& mechanism, const std::vector<std::uint8_t>& independent)
    : mechanism_(mechanism),
      q_(mechanism.default_state().q),
      fixed_(to_size(mechanism.freedoms())) {
  q_ = assemble_near(mechanism, mechanism.default_state(), given_by_description(mechanism)).q;
  const std::vector<std::uint8_t> mask =
      choose_chart(mechanism, q_, {.pinned = independent}).independent_mask(mechanism.freedoms());
  const std::vector<std::string> units = coordinate_units(mechanism);
  for (std::size_t v = 0; v < mask.size(); ++v) {
    const int coordinate = mechanism.coordinate_of_freedom()[v];
    if (mask[v] == 0 || coordinate < 0) continue;
    fixed_[v] = 1;
    const std::string& unit = units[to_size(coordinate)];
    const FreedomSettings& freedom = mechanism.freedom_settings()[v];
    double reach = unit == "rad" ? std::numbers::pi : 1.0;
    for (const FlexiblePlace& place : mechanism.flexible_bodies()) {
      const int first = mechanism.nodes()[index(place.node)].v_index;
      const int i = static_cast<int>(v) - first;
      if (i >= 0 && i < place.constants->modes() && place.constants->size > 0.0)
        reach = kModalReach * place.constants->size;
    }
    const double now = q_[coordinate];
    sliders_.push_back(
        {static_cast<int>(v), coordinate,
         std::isfinite(freedom.lower) ? freedom.lower : std::min(-reach, now - 0.5 * reach),
         std::isfinite(freedom.upper) ? freedom.upper : std::max(reach, now + 0.5 * reach), unit});
  }
}

Json MovableModel::coordinates() const {
  Json list = Json::array();
  for (const Slider& slider : sliders_)
    list.push_back({{"name", mechanism_.position_names()[index(slider.coordinate)]},
                    {"unit", slider.unit},
                    {"lower", slider.lower},
                    {"upper", slider.upper},
                    {"value", q_[slider.coordinate]}});
  return list;
}

std::vector<double> MovableModel::values() const {
  std::vector<double> values;
  for (const Slider& slider : sliders_) values.push_back(q_[slider.coordinate]);
  return values;
}

std::string MovableModel::move(const std::vector<double>& values) {
  if (values.size() != sliders_.size())
    throw Error("a number for every coordinate is expected: " + std::to_string(sliders_.size()));
  if (std::any_of(values.begin(), values.end(), [](double x) { return !std::isfinite(x); }))
    throw Error("coordinates must be finite numbers");
  if (mechanism_.loops().empty()) return step(values);
  const std::vector<double> from = this->values();
  double steps = 1.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double unit = sliders_[i].unit == "rad" ? 1.0 : sliders_[i].upper - sliders_[i].lower;
    steps = std::max(steps, std::ceil(std::abs(values[i] - from[i]) / (kStep * unit)));
  }
  std::vector<double> next(values.size());
  for (double k = 1.0; k <= steps; k += 1.0) {
    for (std::size_t i = 0; i < values.size(); ++i)
      next[i] = k == steps ? values[i] : from[i] + k / steps * (values[i] - from[i]);
    if (std::string problem = step(next); !problem.empty()) return problem;
  }
  return "";
}

std::string MovableModel::step(const std::vector<double>& values) {
  Eigen::VectorXd guess = q_;
  for (std::size_t i = 0; i < values.size(); ++i) guess[sliders_[i].coordinate] = values[i];
  if (mechanism_.loops().empty()) {
    q_ = guess;
    return "";
  }
  const Assembly found = find_assembly(mechanism_, guess, {.fixed = fixed_, .keep_limits = false});
  if (!found.closed) {
    for (const LoopAssembly& loop : found.loops)
      if (!loop.closed) return "The loops cannot be closed there: " + loop.remains;
    return "The loops cannot be closed there.";
  }
  if ((found.q - q_).cwiseAbs().maxCoeff() > kJump)
    return "The mechanism would jump to another assembly there: it is at the end of its range.";
  q_ = found.q;
  return "";
}

}  // namespace catena::app
