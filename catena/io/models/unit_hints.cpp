// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/unit_hints.h"

#include <cmath>
#include <numbers>

#include "catena/base/text.h"

namespace catena {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;
// Limits of whole numbers between these, in rad, are rather degrees.
constexpr double kFewestDegrees = 2.0 * kTurn, kMostDegrees = 720.0;
// kg/m³. The densest metal has 22,600; water in grams would be 1e6.
constexpr double kDensest = 2e5;

bool like_degrees(double limit) {
  const double size = std::abs(limit);
  return size > kFewestDegrees && size <= kMostDegrees && size == std::round(size);
}

double volume(const Collision& shape) {
  constexpr double kPi = std::numbers::pi;
  const double r = shape.radius;
  switch (shape.shape) {
    case Collision::Shape::box:
      return shape.size.x * shape.size.y * shape.size.z;
    case Collision::Shape::cylinder:
      return kPi * r * r * shape.length;
    case Collision::Shape::sphere:
      return 4.0 / 3.0 * kPi * r * r * r;
    case Collision::Shape::capsule:
      return kPi * r * r * (shape.length + 4.0 / 3.0 * r);
    case Collision::Shape::mesh:
      return 0.0;
  }
  return 0.0;
}

}  // namespace

void hint_units(const Description& description, xml::Report& report) {
  for (const Hinge& hinge : description.hinges) {
    if (hinge.type != HingeType::revolute || hinge.freedoms.empty()) continue;
    const FreedomSettings& f = hinge.freedoms.front();
    for (const double limit : {f.lower, f.upper})
      if (like_degrees(limit)) {
        report.warning(hinge.source, "joint '" + hinge.name + "': the limit " + number(limit) +
                                         " rad is " + short_number(std::abs(limit) / kTurn, 2) +
                                         " turns; if it is in degrees, write " +
                                         short_number(limit * kTurn / 360.0, 6));
        break;
      }
  }
  for (const Body& body : description.bodies) {
    double sum = 0.0;
    bool known = !body.collisions.empty();
    for (const Collision& shape : body.collisions) {
      sum += volume(shape);
      known = known && shape.shape != Collision::Shape::mesh;
    }
    if (known && sum > 0.0 && body.mass > kDensest * sum)
      report.warning(body.source, "link '" + body.name + "': " + short_number(body.mass, 4) +
                                      " kg in collision shapes of " + short_number(sum, 2) +
                                      " m³; if the mass is in grams, write " +
                                      short_number(body.mass * 1e-3, 4));
  }
}

}  // namespace catena
