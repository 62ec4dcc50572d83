// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/contact_shapes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/collision/convex_hull.h"
#include "catena/collision/friction_limit.h"
#include "catena/io/models/mesh_points.h"
#include "catena/io/models/uri.h"

namespace catena {
namespace {

// Points of a face of a cylinder, beside its rim.
constexpr int kFacePoints = 6;
// Directions in which a hull has its farthest points.
constexpr int kHullDirections = 64;

// Two directions across a third.
std::pair<Vec3d, Vec3d> across(const Vec3d& axis) {
  const Vec3d other = std::abs(axis.x) < 0.6 ? Vec3d::unit_x() : Vec3d::unit_y();
  const Vec3d u = normalized(cross(axis, other));
  return {u, cross(axis, u)};
}

// The contacts of one shape; `like` has names, bodies, plane and laws.
std::vector<ContactSettings> shape_contacts(ContactSettings like, const Collision& shape,
                                            const Source& source, std::vector<std::string>* notes) {
  const Transformd& pose = shape.pose;
  const Vec3d axis = pose.rotation * Vec3d::unit_z();
  like.center = pose.translation;
  const auto turned = [&](std::vector<ContactSettings> contacts) {
    for (ContactSettings& c : contacts)
      c.center = like.center + pose.rotation * (c.center - like.center);
    return contacts;
  };
  switch (shape.shape) {
    case Collision::Shape::sphere:
      like.radius = shape.radius;
      return {like};
    case Collision::Shape::box:
      return turned(box_contacts(like, shape.size));
    case Collision::Shape::capsule:
      like.radius = shape.radius;
      return capsule_contacts(like, shape.length, axis);
    case Collision::Shape::cylinder:
      like.rim = shape.radius;
      like.rim_axis = axis;
      return cylinder_contacts(like, shape.length);
    case Collision::Shape::mesh:
      break;
  }
  const std::string file = find_local(shape.mesh, folder_of(source.file));
  std::string why = file.empty() ? "the file is not found" : "";
  std::vector<Vec3d> points;
  if (!file.empty()) points = mesh_points(file, why);
  if (points.empty()) {
    if (notes != nullptr)
      notes->push_back("contact '" + like.name + "': mesh '" + shape.mesh +
                       "' collides with nothing: " + why);
    return {};
  }
  for (Vec3d& p : points)
    p = pose * Vec3d{shape.size.x * p.x, shape.size.y * p.y, shape.size.z * p.z};
  like.center = {};
  return hull_contacts(like, points);
}

}  // namespace

std::vector<ContactSettings> box_contacts(const ContactSettings& like, const Vec3d& size) {
  if (!(size.x >= 0.0 && size.y >= 0.0 && size.z >= 0.0))
    throw Error("contact '" + like.name + "': the size of the box is " + number(size.x) + ", " +
                number(size.y) + ", " + number(size.z) + "; it must not be negative");
  std::vector<ContactSettings> corners;
  for (int k = 0; k < 8; ++k) {
    ContactSettings corner = like;
    corner.name += "." + std::to_string(k);
    corner.center += Vec3d{(k & 1) != 0 ? 0.5 * size.x : -0.5 * size.x,
                           (k & 2) != 0 ? 0.5 * size.y : -0.5 * size.y,
                           (k & 4) != 0 ? 0.5 * size.z : -0.5 * size.z};
    corners.push_back(corner);
  }
  return corners;
}

std::vector<ContactSettings> capsule_contacts(const ContactSettings& like, double length,
                                              const Vec3d& axis) {
  if (!(length >= 0.0) || !(norm(axis) > 0.0))
    throw Error("contact '" + like.name + "': the length of the capsule is " + number(length) +
                "; it must not be negative, and its axis needs a length");
  std::vector<ContactSettings> ends(2, like);
  for (int k = 0; k < 2; ++k) {
    ends[static_cast<std::size_t>(k)].name += "." + std::to_string(k);
    ends[static_cast<std::size_t>(k)].center +=
        ((k == 0 ? -0.5 : 0.5) * length / norm(axis)) * axis;
  }
  return ends;
}

std::vector<ContactSettings> cylinder_contacts(const ContactSettings& like, double length) {
  if (!(length >= 0.0) || !(like.rim >= 0.0) || !(norm(like.rim_axis) > 0.0))
    throw Error("contact '" + like.name + "': the cylinder has length " + number(length) +
                " and radius " + number(like.rim) +
                "; they must not be negative, and its axis needs a length");
  const Vec3d axis = normalized(like.rim_axis);
  const auto [u, v] = across(axis);
  const int faces = length > 0.0 ? 2 : 1;
  std::vector<ContactSettings> contacts;
  for (int face = 0; face < faces; ++face) {
    ContactSettings rim = like;
    rim.name += "." + std::to_string(face);
    rim.center += ((face == 0 ? -0.5 : 0.5) * length) * axis;
    contacts.push_back(rim);
  }
  if (like.rim == 0.0) return contacts;
  for (int face = 0; face < faces; ++face)
    for (int k = 0; k < kFacePoints; ++k) {
      const double angle = 2.0 * std::numbers::pi * k / kFacePoints;
      ContactSettings point = contacts[index(face)];
      point.name = like.name + "." + std::to_string(faces + face * kFacePoints + k);
      point.center += ((1.0 - kFaceInset) * like.rim) * (std::cos(angle) * u + std::sin(angle) * v);
      point.rim = 0.0;
      contacts.push_back(point);
    }
  return contacts;
}

std::vector<ContactSettings> hull_contacts(const ContactSettings& like,
                                           std::span<const Vec3d> points, double* missed) {
  std::vector<ContactSettings> contacts;
  for (const Vec3d& corner : extreme_points(points, kHullDirections, missed)) {
    ContactSettings point = like;
    point.name += "." + std::to_string(contacts.size());
    point.center += corner;
    contacts.push_back(point);
  }
  return contacts;
}

std::vector<ContactSettings> ground_contacts(const Mechanism& mechanism,
                                             const GroundSettings& ground,
                                             std::vector<std::string>* notes) {
  const double g = norm(mechanism.gravity());
  const Vec3d normal = normalized(ground.normal ? *ground.normal
                                  : g > 0.0     ? -1.0 * mechanism.gravity()
                                                : Vec3d::unit_z());
  std::vector<ContactSettings> contacts;
  bool any = false;
  for (std::size_t b = 0; b < mechanism.description().bodies.size(); ++b) {
    const Body& body = mechanism.description().bodies[b];
    const int place = mechanism.body_index(body.name);
    any = any || !body.collisions.empty();
    if (mechanism.bodies()[index(place)].node < 0) continue;
    std::set<std::string> names;
    for (const Collision& shape : body.collisions) {
      const std::string name = shape.name.empty() ? "collision" : shape.name;
      std::string own = name;
      for (int k = 2; !names.insert(own).second; ++k) own = name + std::to_string(k);
      const ContactSettings like{
          .name = body.name + "." + own,
          .body = place,
          .plane_point = ground.height * normal,
          .plane_normal = normal,
          .friction = std::min(shape.friction.value_or(ground.friction), kLargestFriction),
          .restitution = shape.restitution.value_or(ground.restitution)};
      const std::vector<ContactSettings> own_contacts =
          shape_contacts(like, shape, body.source, notes);
      contacts.insert(contacts.end(), own_contacts.begin(), own_contacts.end());
    }
  }
  if (!any)
    throw Error(
        "mechanism '" + mechanism.name() +
        "' has no collision shapes, so nothing of it would touch the ground; give its "
        "bodies some (<collision> in URDF and SDF, 'collisions:' in YAML), or list contacts "
        "in the settings ('constraints: {foot: {type: contact, ...}}')");
  return contacts;
}

double least_gap(const Mechanism& mechanism, std::span<const ContactSettings> contacts,
                 const Eigen::VectorXd& q) {
  ConstraintSet set(mechanism);
  for (const ContactSettings& c : contacts) set.add(c);
  set.look({q, Eigen::VectorXd::Zero(mechanism.freedoms())});
  double least = kInfinity;
  for (int i = 0; i < set.count(); ++i) least = std::min(least, set.contact_gap(i));
  return least;
}

}  // namespace catena
