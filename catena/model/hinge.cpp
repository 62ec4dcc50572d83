#include "catena/model/hinge.h"

#include <array>

namespace catena {
namespace {

struct Row {
  HingeType type;
  std::string_view name;
  int freedoms;
  int coordinates;
};

constexpr std::array<Row, 12> kTypes{{{HingeType::weld, "weld", 0, 0},
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
                                      {HingeType::custom, "custom", 0, 0}}};

const Row& row_of(HingeType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::vector<std::string> numbered(int n) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(n));
  for (int i = 1; i <= n; ++i) names.push_back("." + std::to_string(i));
  return names;
}

}  // namespace

std::string_view to_string(HingeType type) { return row_of(type).name; }

std::optional<HingeType> hinge_type_from(std::string_view name) {
  for (const Row& row : kTypes)
    if (row.name == name) return row.type;
  return std::nullopt;
}

std::vector<std::string> hinge_type_names() {
  std::vector<std::string> names;
  names.reserve(kTypes.size());
  for (const Row& row : kTypes) names.emplace_back(row.name);
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
    default:
      return freedoms == 1 ? std::vector<std::string>{""} : numbered(freedoms);
  }
}

void evaluate_custom(const CustomHinge& hinge, int freedoms, const double* q, const double* v,
                     double* displacement, double* map, double* bias) {
  const std::size_t n = static_cast<std::size_t>(freedoms);
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
      map[6 * k + static_cast<std::size_t>(i)] = columns[k][i];
      bias[i] += v[k] * rates[k][i];
    }
}

}  // namespace catena
