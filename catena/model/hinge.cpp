// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/hinge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "catena/base/index.h"

namespace catena {
namespace {

struct Row {
  HingeType type;
  std::string_view name;
  int freedoms;
  int coordinates;
};

constexpr std::array<Row, 14> kTypes{{{HingeType::weld, "weld", 0, 0},
                                      {HingeType::revolute, "revolute", 1, 1},
                                      {HingeType::prismatic, "prismatic", 1, 1},
                                      {HingeType::screw, "screw", 1, 1},
                                      {HingeType::cylindrical, "cylindrical", 2, 2},
                                      {HingeType::universal, "universal", 2, 2},
                                      {HingeType::planar, "planar", 3, 3},
                                      {HingeType::spherical, "spherical", 3, 4},
                                      {HingeType::gimbal, "gimbal", 3, 3},
                                      {HingeType::translation, "translation", 3, 3},
                                      {HingeType::free, "free", 6, 7},
                                      {HingeType::custom, "custom", 0, 0},
                                      {HingeType::modes, "modes", 0, 0},
                                      {HingeType::attachment, "attachment", 0, 0}}};
// The types after it are internal.
constexpr std::size_t kUserTypes = 12;

const Row& row_of(HingeType type) { return kTypes[index(type)]; }

std::vector<std::string> numbered(int n) {
  std::vector<std::string> names;
  names.reserve(to_size(n));
  for (int i = 1; i <= n; ++i) names.push_back("." + std::to_string(i));
  return names;
}

}  // namespace

std::string_view to_string(HingeType type) { return row_of(type).name; }

std::optional<HingeType> hinge_type_from(std::string_view name) {
  for (const Row& row : std::span(kTypes).first(kUserTypes))
    if (row.name == name) return row.type;
  return std::nullopt;
}

std::vector<std::string> hinge_type_names() {
  std::vector<std::string> names;
  names.reserve(kUserTypes);
  for (const Row& row : std::span(kTypes).first(kUserTypes)) names.emplace_back(row.name);
  return names;
}

int freedoms_of(HingeType type) { return row_of(type).freedoms; }
int coordinates_of(HingeType type) { return row_of(type).coordinates; }

std::vector<std::string> position_suffixes(HingeType type, int coordinates) {
  switch (type) {
    case HingeType::spherical:
      return {".qw", ".qx", ".qy", ".qz"};
    case HingeType::free:
      return {".qw", ".qx", ".qy", ".qz", ".x", ".y", ".z"};
    default:
      return velocity_suffixes(type, coordinates);
  }
}

std::vector<std::string> velocity_suffixes(HingeType type, int freedoms) {
  switch (type) {
    case HingeType::cylindrical:
      return {".angle", ".distance"};
    case HingeType::planar:
      return {".angle", ".x", ".y"};
    case HingeType::spherical:
      return {".wx", ".wy", ".wz"};
    case HingeType::translation:
      return {".x", ".y", ".z"};
    case HingeType::free:
      return {".wx", ".wy", ".wz", ".vx", ".vy", ".vz"};
    case HingeType::modes: {  // "boom.modes" is called "boom" there (make_mechanism.cpp)
      std::vector<std::string> names;
      for (int i = 1; i <= freedoms; ++i) names.push_back(".mode" + std::to_string(i));
      return names;
    }
    case HingeType::attachment:
      return {};
    default:
      return freedoms == 1 ? std::vector<std::string>{""} : numbered(freedoms);
  }
}

void evaluate_custom(const CustomHinge& hinge, int freedoms, const double* q, const double* v,
                     double* displacement, double* map, double* bias) {
  const std::size_t n = to_size(freedoms);
  const Transformd x = hinge.transform({q, n});
  for (int i = 0; i < 9; ++i) displacement[i] = x.rotation.matrix.m[i / 3][i % 3];
  for (int i = 0; i < 3; ++i) displacement[9 + i] = x.translation[i];
  Twistd columns[kMaxFreedoms];
  hinge.motion_map({q, n}, {columns, n});
  Twistd rates[kMaxFreedoms];
  hinge.motion_map_rate({q, n}, {v, n}, {rates, n});
  for (int i = 0; i < 6; ++i) bias[i] = 0.0;
  for (std::size_t k = 0; k < n; ++k)
    for (int i = 0; i < 6; ++i) {
      map[6 * k + to_size(i)] = columns[k][i];
      bias[i] += v[k] * rates[k][i];
    }
}

void CustomHinge::motion_map_rate_derivative(std::span<const double> q, std::span<const double> v,
                                             std::span<const double> w,
                                             std::span<Twistd> columns) const {
  // Central differences with steps h, h/2 and h/4 along w/|w|, extrapolated to order h⁶ (Romberg):
  // with h = 0.02 both the truncation (h⁶) and the rounding (1e-16 / h) are of order 1e-13.
  constexpr double kStep = 0.02;
  constexpr int kLevels = 3;
  const std::size_t n = q.size();
  double size = 0.0;
  for (const double x : w) size = std::max(size, std::abs(x));
  Twistd table[kLevels][kMaxFreedoms];
  if (size == 0.0) {
    for (Twistd& column : columns) column = Twistd::zero();
    return;
  }
  double step = kStep;
  for (int level = 0; level < kLevels; ++level, step *= 0.5) {
    double ahead[kMaxFreedoms], behind[kMaxFreedoms];
    for (std::size_t i = 0; i < n; ++i) {
      ahead[i] = q[i] + step * w[i] / size;
      behind[i] = q[i] - step * w[i] / size;
    }
    Twistd up[kMaxFreedoms], down[kMaxFreedoms];
    motion_map_rate({ahead, n}, v, {up, n});
    motion_map_rate({behind, n}, v, {down, n});
    for (std::size_t k = 0; k < n; ++k) table[level][k] = (size / (2.0 * step)) * (up[k] - down[k]);
  }
  double weight = 4.0;
  for (int order = 1; order < kLevels; ++order, weight *= 4.0)
    for (int level = kLevels - 1; level >= order; --level)
      for (std::size_t k = 0; k < n; ++k)
        table[level][k] = (1.0 / (weight - 1.0)) * (weight * table[level][k] - table[level - 1][k]);
  for (std::size_t k = 0; k < n; ++k) columns[k] = table[kLevels - 1][k];
}

void differentiate_custom(const CustomHinge& hinge, int freedoms, const double* q, const double* v,
                          double* map_by_q, double* bias_by_q) {
  const std::size_t n = to_size(freedoms);
  for (std::size_t l = 0; l < n; ++l) {
    double unit[kMaxFreedoms] = {};
    unit[l] = 1.0;
    Twistd columns[kMaxFreedoms];
    hinge.motion_map_rate({q, n}, {unit, n}, {columns, n});
    for (std::size_t m = 0; m < n; ++m)
      for (std::size_t i = 0; i < 6; ++i)
        map_by_q[(l * n + m) * 6 + i] = columns[m][static_cast<int>(i)];
    hinge.motion_map_rate_derivative({q, n}, {v, n}, {unit, n}, {columns, n});
    for (std::size_t i = 0; i < 6; ++i) {
      bias_by_q[6 * l + i] = 0.0;
      for (std::size_t m = 0; m < n; ++m)
        bias_by_q[6 * l + i] += v[m] * columns[m][static_cast<int>(i)];
    }
  }
}

}  // namespace catena
