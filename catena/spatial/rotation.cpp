#include "catena/spatial/rotation.h"

#include <algorithm>
#include <cmath>

namespace catena {
inline namespace CATENA_ISA {

Rotation<double> rotation_from_z_to(const Vec3<double>& unit) {
  if (unit.x == 0.0 && unit.y == 0.0)
    return unit.z > 0.0 ? Rotation<double>::identity()
                        : Rotation<double>{{{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}}};
  // exp of the rotation vector (z × u)/|z × u| · angle(z, u), written without the angle. With the
  // direction of (x, y), divided by the larger of both first, nothing is lost near −z however small
  // x and y are.
  const double larger = std::max(std::abs(unit.x), std::abs(unit.y));
  const double length = std::hypot(unit.x / larger, unit.y / larger);
  const double x = unit.x / larger / length;
  const double y = unit.y / larger / length;
  const double one_minus_cosine = 1.0 - unit.z;
  const double xx = 1.0 - one_minus_cosine * x * x;
  const double yy = 1.0 - one_minus_cosine * y * y;
  const double xy = -one_minus_cosine * x * y;
  return {{{{xx, xy, unit.x}, {xy, yy, unit.y}, {-unit.x, -unit.y, unit.z}}}};
}

}  // namespace CATENA_ISA
}  // namespace catena
