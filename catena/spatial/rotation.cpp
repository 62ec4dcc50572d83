// SPDX-License-Identifier: BSD-3-Clause
#include "catena/spatial/rotation.h"

#include <algorithm>
#include <cmath>

namespace catena {
inline namespace CATENA_ISA {

Rotation<double> rotation_from_z_to(const Vec3<double>& unit) {
  if (unit.x == 0.0 && unit.y == 0.0)
    return unit.z > 0.0 ? Rotation<double>::identity()
                        : Rotation<double>{{{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}}};
  // exp of the rotation vector (z × u)/|z × u| · angle(z, u), written without the angle:
  // xx = 1 − (1 − u_z) x²/(x² + y²), and so on, over a common denominator so that nothing cancels
  // (orthonormal to 1e-15 also near −z). Only the direction of (x, y) counts; the power of two
  // keeps the squares of tiny components from underflow and rounds nothing.
  const int exponent = -std::ilogb(std::max(std::abs(unit.x), std::abs(unit.y)));
  const double x = std::ldexp(unit.x, exponent);
  const double y = std::ldexp(unit.y, exponent);
  const double squared = x * x + y * y;
  const double xx = (y * y + unit.z * x * x) / squared;
  const double yy = (x * x + unit.z * y * y) / squared;
  const double xy = -(1.0 - unit.z) * (x * y) / squared;
  return {{{{xx, xy, unit.x}, {xy, yy, unit.y}, {-unit.x, -unit.y, unit.z}}}};
}

}  // namespace CATENA_ISA
}  // namespace catena
