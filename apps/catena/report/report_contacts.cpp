// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/report/report_contacts.h"

#include <algorithm>
#include <cmath>

namespace catena::app {
namespace {

const Json* member(const Json& json, const char* key) {
  const auto* object = std::get_if<Json::Object>(&json.value());
  if (object == nullptr) return nullptr;
  for (const auto& [name, value] : *object)
    if (name == key) return &value;
  return nullptr;
}

double number_of(const Json& json) {
  if (const auto* x = std::get_if<double>(&json.value())) return *x;
  if (const auto* x = std::get_if<std::int64_t>(&json.value())) return static_cast<double>(*x);
  if (const auto* x = std::get_if<std::uint64_t>(&json.value())) return static_cast<double>(*x);
  return 0.0;
}

double number(const Json& json, const char* key) {
  const Json* found = member(json, key);
  return found != nullptr ? number_of(*found) : 0.0;
}

Vec3d vector(const Json& json, const char* key, const Vec3d& otherwise) {
  const Json* found = member(json, key);
  const auto* list = found != nullptr ? std::get_if<Json::Array>(&found->value()) : nullptr;
  if (list == nullptr || list->size() != 3) return otherwise;
  return {number_of((*list)[0]), number_of((*list)[1]), number_of((*list)[2])};
}

std::string text(const Json& json, const char* key) {
  const Json* found = member(json, key);
  const auto* word = found != nullptr ? std::get_if<std::string>(&found->value()) : nullptr;
  return word != nullptr ? *word : "";
}

Vec3d unit(const Vec3d& a) {
  const double length = norm(a);
  return length > 0.0 ? a * (1.0 / length) : Vec3d{0.0, 0.0, 1.0};
}

}  // namespace

std::vector<DrawnContact> drawn_contacts(const Json& settings, const Mechanism& mechanism) {
  std::vector<DrawnContact> contacts;
  const Json* constraints = member(settings, "constraints");
  const auto* list =
      constraints != nullptr ? std::get_if<Json::Object>(&constraints->value()) : nullptr;
  if (list == nullptr) return contacts;
  const auto is_body = [&](const std::string& name) {
    return name == kWorld || mechanism.has_body(name);
  };
  for (const auto& [name, entry] : *list) {
    const std::string body = text(entry, "body"), plane_body = text(entry, "plane_body");
    if (text(entry, "type") != "contact" || !is_body(body)) continue;
    if (!plane_body.empty() && !is_body(plane_body)) continue;
    DrawnContact contact;
    contact.name = name;
    contact.body = mechanism.body_index(body);
    contact.center = vector(entry, "point", {});
    contact.radius = number(entry, "radius");
    contact.rim = number(entry, "rim");
    contact.rim_axis = unit(vector(entry, "rim_axis", contact.rim_axis));
    if (!plane_body.empty()) contact.plane_body = mechanism.body_index(plane_body);
    contact.plane_point = vector(entry, "plane_point", {});
    contact.plane_normal = unit(vector(entry, "plane_normal", contact.plane_normal));
    contact.friction = number(entry, "friction");
    contacts.push_back(std::move(contact));
  }
  return contacts;
}

Vec3d contact_point(const DrawnContact& contact, const Transformd& X_ground_body,
                    const Transformd& X_ground_plane) {
  const Vec3d normal = X_ground_plane.rotation * contact.plane_normal;
  Vec3d point = X_ground_body * contact.center;
  if (contact.rim > 0.0) {
    const Vec3d axis = X_ground_body.rotation * contact.rim_axis;
    const Vec3d down = axis * dot(normal, axis) - normal;  // within the circle
    const double length = norm(down);
    if (length > 0.0) point = point + down * (contact.rim / length);
  }
  return point - normal * contact.radius;
}

Json drawn_planes(const std::vector<DrawnContact>& contacts) {
  constexpr double kSame = 1e-9;  // m, and of the normals
  struct Plane {
    int body;
    Vec3d point, normal;
  };
  std::vector<Plane> planes;
  for (const DrawnContact& c : contacts) {
    const bool known = std::any_of(planes.begin(), planes.end(), [&](const Plane& plane) {
      return plane.body == c.plane_body && norm(plane.normal - c.plane_normal) < kSame &&
             std::abs(dot(plane.normal, c.plane_point - plane.point)) < kSame;
    });
    if (!known) planes.push_back({c.plane_body, c.plane_point, c.plane_normal});
  }
  Json json = Json::array();
  for (const Plane& plane : planes)
    json.push_back(
        {{"body", plane.body}, {"point", to_json(plane.point)}, {"normal", to_json(plane.normal)}});
  return json;
}

}  // namespace catena::app
