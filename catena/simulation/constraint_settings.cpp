// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/constraint_settings.h"

#include <nlohmann/json.hpp>

#include "catena/base/index.h"
#include "catena/collision/friction_limit.h"
#include "catena/constraints/contact_shapes.h"
#include "catena/simulation/collision_settings.h"
#include "catena/simulation/freedom_index.h"

namespace catena {
namespace {

using yaml::Entry;
using yaml::Values;
using Json = nlohmann::ordered_json;

// In the order of the alternatives of ConstraintSettings.
enum class Kind { attachment, lock, contact, servo };
const std::vector<std::string> kKinds{"attach", "lock", "contact", "servo"};
// The directions of a servo; w is an angular velocity.
const std::vector<std::string> kServoRows{"x", "y", "z", "wx", "wy", "wz"};

class Reader {
 public:
  Reader(Values& values, const yaml::Node& map, const Mechanism& mechanism)
      : values_(values), map_(map), mechanism_(mechanism) {}

  template <class F>
  bool with(const char* key, F f) const {
    const Entry* entry = map_.find(key);
    if (entry == nullptr) return false;
    const Values::Within within(values_, key);
    f(*entry->value);
    return true;
  }
  void number(const char* key, double& to) const {
    with(key, [&](const yaml::Node& n) { values_.number(n, to); });
  }
  void vector(const char* key, Vec3d& to) const {
    with(key, [&](const yaml::Node& n) { values_.vector(n, to); });
  }
  void boolean(const char* key, bool& to) const {
    with(key, [&](const yaml::Node& n) { values_.boolean(n, to); });
  }
  void pose(const char* key, Transformd& to) const {
    with(key, [&](const yaml::Node& n) { values_.pose(n, to); });
  }
  // A name that `find` knows; its error becomes a message.
  template <class Find>
  bool name(const char* key, int& to, Find find) const {
    return with(key, [&](const yaml::Node& n) { one_name(n, to, find); });
  }
  template <class Find>
  void one_name(const yaml::Node& n, int& to, Find find) const {
    std::string text;
    if (!values_.text(n, text)) return;
    try {
      to = find(text);
    } catch (const Error& e) {
      values_.error(n.line, e.what());
    }
  }
  bool body(const char* key, int& to) const {
    return name(key, to, [&](const std::string& text) { return mechanism_.body_index(text); });
  }
  void missing(const char* key) const {
    values_.error(map_.line, std::string("'") + key + "' is missing");
  }

 private:
  Values& values_;
  const yaml::Node& map_;
  const Mechanism& mechanism_;
};

// The contacts of a shape; of none or a sphere the one that is given.
void add_shape(Values& values, const Reader& read, const yaml::Node& map, const ContactSettings& s,
               std::vector<ConstraintSettings>& to) {
  static const std::vector<std::string> kShapes{"sphere", "box", "capsule", "cylinder"};
  std::size_t shape = 0;
  read.with("shape", [&](const yaml::Node& n) { values.choice(n, kShapes, shape); });
  std::vector<ContactSettings> contacts{s};
  try {
    if (shape == 1) {
      Vec3d size{};
      if (map.find("size") == nullptr) read.missing("size");
      read.vector("size", size);
      contacts = box_contacts(s, size);
    } else if (shape == 2) {
      double length = 0.0;
      Vec3d axis{0.0, 0.0, 1.0};
      if (map.find("length") == nullptr) read.missing("length");
      read.number("length", length);
      read.with("axis", [&](const yaml::Node& n) { values.axis(n, axis); });
      contacts = capsule_contacts(s, length, axis);
    } else if (shape == 3) {
      double length = 0.0;
      ContactSettings like = s;
      like.rim = s.radius;
      like.radius = 0.0;
      like.rim_axis = {0.0, 0.0, 1.0};
      read.number("length", length);
      read.with("axis", [&](const yaml::Node& n) { values.axis(n, like.rim_axis); });
      contacts = cylinder_contacts(like, length);
    }
  } catch (const Error& error) {
    values.error(map.line, error.what());
  }
  for (ContactSettings& contact : contacts) {
    ConstraintSettings c;
    c.constraint = std::move(contact);
    to.push_back(std::move(c));
  }
}

std::string body_name(const Mechanism& m, int body) {
  return body < 0 ? kWorld : m.bodies()[index(body)].name;
}

Json pose_json(const Transformd& x) {
  const Quaterniond q = to_quaternion(x.rotation);
  return {{"xyz", vector_json(x.translation)}, {"quaternion", Json::array({q.w, q.x, q.y, q.z})}};
}

}  // namespace

const std::vector<std::string>& direction_names() {
  static const std::vector<std::string> kNames{"down", "both", "up"};
  return kNames;
}

Json vector_json(const Vec3d& v) { return Json::array({v.x, v.y, v.z}); }

AttachmentSettings read_attachment(Values& values, const Entry& e, const Reader& read) {
  static const std::vector<std::string> kKeys{"type",  "body_a", "body_b",   "frame_a", "frame_b",
                                              "hinge", "axis",   "as_it_is", "active"};
  values.unknown_keys(*e.value, kKeys);
  AttachmentSettings s;
  s.name = e.key;
  if (!read.body("body_a", s.body_a)) read.missing("body_a");
  if (!read.body("body_b", s.body_b)) read.missing("body_b");
  read.pose("frame_a", s.frame_a);
  read.pose("frame_b", s.frame_b);
  read.with("hinge", [&](const yaml::Node& n) {
    const std::vector<std::string> names = hinge_type_names();
    std::size_t type = 0;
    if (values.choice(n, names, type)) s.type = *hinge_type_from(names[type]);
  });
  read.with("axis", [&](const yaml::Node& n) { values.axis(n, s.axis); });
  read.boolean("as_it_is", s.as_it_is);
  return s;
}

LockSettings read_lock(Values& values, const Entry& e, const Mechanism& m, const Reader& read) {
  static const std::vector<std::string> kKeys{"type", "freedom", "active"};
  values.unknown_keys(*e.value, kKeys);
  LockSettings s;
  s.name = e.key;
  if (!read.name("freedom", s.freedom,
                 [&](const std::string& text) { return freedom_index(m, text); }))
    read.missing("freedom");
  return s;
}

void read_friction(Values& values, const Reader& read, double& friction) {
  read.with("friction", [&](const yaml::Node& n) {
    values.number(n, friction, yaml::Range::infinite_allowed);
  });
  if (friction == kInfinity) friction = kLargestFriction;
}

ContactSettings read_contact(Values& values, const Entry& e, const Reader& read) {
  static const std::vector<std::string> kKeys{
      "type",         "body",         "point",    "radius",     "shape",      "size",
      "length",       "axis",         "rim",      "rim_axis",   "plane_body", "plane_point",
      "plane_normal", "plane_radius", "friction", "restitution"};
  values.unknown_keys(*e.value, kKeys);
  ContactSettings s;
  s.name = e.key;
  if (!read.body("body", s.body)) read.missing("body");
  read.vector("point", s.center);
  read.number("radius", s.radius);
  read.body("plane_body", s.plane_body);
  read.vector("plane_point", s.plane_point);
  read.with("plane_normal", [&](const yaml::Node& n) { values.axis(n, s.plane_normal); });
  read.number("plane_radius", s.plane_radius);
  read_friction(values, read, s.friction);
  read.number("restitution", s.restitution);
  read.number("rim", s.rim);
  read.with("rim_axis", [&](const yaml::Node& n) { values.axis(n, s.rim_axis); });
  return s;
}

ServoMotion read_servo(Values& values, const Entry& e, const Mechanism& m,
                       const std::string& folder, const Reader& read) {
  static const std::vector<std::string> kKeys{"type",      "body",   "point",          "motion",
                                              "actuators", "active", "least_condition"};
  values.unknown_keys(*e.value, kKeys);
  ServoMotion result;
  ServoSettings& s = result.servo;
  s.name = e.key;
  if (!read.body("body", s.body)) read.missing("body");
  read.vector("point", s.point);
  read.number("least_condition", s.least_condition);
  const bool moves = read.with("motion", [&](const yaml::Node& n) {
    if (!values.map(n, "a map from x, y, z, wx, wy, wz to functions of time")) return;
    values.unknown_keys(n, kServoRows);
    for (std::size_t i = 0; i < kServoRows.size(); ++i) {
      const Entry* motion = n.find(kServoRows[i]);
      if (motion == nullptr) continue;
      ServoSettings::Row row;
      row.direction[static_cast<int>(i % 3)] = 1.0;
      row.angular = i >= 3;
      s.rows.push_back(row);
      result.motions.push_back(read_signal(values, *motion->value, folder));
    }
  });
  if (!moves) read.missing("motion");
  read.with("actuators", [&](const yaml::Node& n) {
    if (!values.list(n, "a list of freedoms")) return;
    for (const Entry& item : n.entries)
      read.one_name(*item.value, s.actuators.emplace_back(-1),
                    [&](const std::string& text) { return freedom_index(m, text); });
  });
  return result;
}

void read_constraint(Values& values, const Entry& e, const Mechanism& m, const std::string& folder,
                     std::vector<ConstraintSettings>& to) {
  if (!values.map(*e.value, "a map with a type: attach, lock, contact or servo")) return;
  const Reader read(values, *e.value, m);
  std::size_t kind = 0;
  if (!read.with("type", [&](const yaml::Node& n) { values.choice(n, kKinds, kind); })) {
    read.missing("type");
    return;
  }
  ConstraintSettings c;
  switch (static_cast<Kind>(kind)) {
    case Kind::attachment:
      c.constraint = read_attachment(values, e, read);
      break;
    case Kind::lock:
      c.constraint = read_lock(values, e, m, read);
      break;
    case Kind::contact:
      add_shape(values, read, *e.value, read_contact(values, e, read), to);
      return;
    case Kind::servo:
      c.constraint = read_servo(values, e, m, folder, read);
      c.active = true;
      break;
  }
  read.boolean("active", c.active);
  to.push_back(std::move(c));
}

void read_ground(Values& values, const yaml::Node& node, const Mechanism& m,
                 const std::string& folder, ActionSettings& to) {
  static const std::vector<std::string> kKeys{"height", "normal", "friction", "restitution",
                                              "height_field"};
  GroundSettings ground;
  if (node.is_map()) {
    values.unknown_keys(node, kKeys);
    const Reader read(values, node, m);
    read.number("height", ground.height);
    read.with("normal", [&](const yaml::Node& n) { values.axis(n, ground.normal.emplace()); });
    read_friction(values, read, ground.friction);
    read.number("restitution", ground.restitution);
    if (read.with("height_field", [&](const yaml::Node& n) {
          read_height_field(values, n, folder, to.collisions);
        })) {
      if (to.collisions && node.find("friction") != nullptr)
        to.collisions->friction = ground.friction;
      if (to.collisions && node.find("restitution") != nullptr)
        to.collisions->restitution = ground.restitution;
      if (node.find("height") == nullptr) return;
    }
  } else if (!values.number(node, ground.height)) {
    return;
  }
  try {
    std::vector<std::string> notes;
    for (ContactSettings& contact : ground_contacts(m, ground, &notes))
      to.constraints.emplace_back().constraint = std::move(contact);
    for (const std::string& note : notes) values.error(node.line, note);
  } catch (const Error& error) {
    values.error(node.line, error.what());
  }
}

void read_switch(Values& values, const Entry& e, const std::string& folder,
                 std::vector<SwitchSettings>& to) {
  static const std::vector<std::string> kKeys{"at", "when", "direction", "activate", "release"};
  SwitchSettings s;
  s.name = e.key;
  if (!values.map(*e.value, "a map with at or when, activate, release")) return;
  values.unknown_keys(*e.value, kKeys);
  const auto with = [&](const char* key, auto f) {
    if (const Entry* entry = e.value->find(key)) {
      const Values::Within within(values, key);
      f(*entry->value);
    }
  };
  with("at", [&](const yaml::Node& n) { values.number(n, s.time.emplace()); });
  with("when", [&](const yaml::Node& n) { s.when = read_signal(values, n, folder); });
  with("direction", [&](const yaml::Node& n) {
    std::size_t index = 0;
    if (values.choice(n, direction_names(), index)) s.direction = static_cast<int>(index) - 1;
  });
  for (const auto& [key, list] :
       {std::pair{"activate", &s.activate}, std::pair{"release", &s.release}})
    with(key, [&, list = list](const yaml::Node& n) {
      if (!n.is_list()) {
        values.text(n, list->emplace_back());
        return;
      }
      for (const Entry& item : n.entries) values.text(*item.value, list->emplace_back());
    });
  to.push_back(std::move(s));
}

namespace {

Json constraint_json(const AttachmentSettings& s, const Mechanism& m) {
  return {{"body_a", body_name(m, s.body_a)},
          {"body_b", body_name(m, s.body_b)},
          {"frame_a", pose_json(s.frame_a)},
          {"frame_b", pose_json(s.frame_b)},
          {"hinge", to_string(s.type)},
          {"axis", vector_json(s.axis)},
          {"as_it_is", s.as_it_is}};
}
Json constraint_json(const LockSettings& s, const Mechanism& m) {
  return {{"freedom", m.velocity_names()[index(s.freedom)]}};
}
Json constraint_json(const ContactSettings& s, const Mechanism& m) {
  return {{"body", body_name(m, s.body)},
          {"point", vector_json(s.center)},
          {"radius", s.radius},
          {"rim", s.rim},
          {"rim_axis", vector_json(s.rim_axis)},
          {"plane_body", body_name(m, s.plane_body)},
          {"plane_point", vector_json(s.plane_point)},
          {"plane_normal", vector_json(s.plane_normal)},
          {"plane_radius", s.plane_radius},
          {"friction", s.friction},
          {"restitution", s.restitution}};
}
Json constraint_json(const ServoMotion& c, const Mechanism& m) {
  const ServoSettings& s = c.servo;
  Json motion = Json::object();
  for (std::size_t r = 0; r < s.rows.size() && r < c.motions.size(); ++r)
    for (std::size_t i = 0; i < 3; ++i)
      if (s.rows[r].direction[static_cast<int>(i)] == 1.0)
        motion[kServoRows[i + (s.rows[r].angular ? 3 : 0)]] = signal_json(c.motions[r]);
  Json one{{"body", body_name(m, s.body)}, {"point", vector_json(s.point)}, {"motion", motion}};
  Json actuators = Json::array();
  for (const int f : s.actuators) actuators.push_back(m.velocity_names()[index(f)]);
  if (!actuators.empty()) one["actuators"] = actuators;
  one["least_condition"] = s.least_condition;
  return one;
}

}  // namespace

Json constraints_json(const ActionSettings& actions, const Mechanism& m) {
  Json result = Json::object();
  for (const ConstraintSettings& c : actions.constraints) {
    Json one{{"type", kKinds[c.constraint.index()]}};
    one.update(std::visit([&m](const auto& s) { return constraint_json(s, m); }, c.constraint));
    if (!std::holds_alternative<ContactSettings>(c.constraint)) one["active"] = c.active;
    result[c.name()] = std::move(one);
  }
  return result;
}

Json switches_json(const ActionSettings& actions) {
  Json result = Json::object();
  for (const SwitchSettings& s : actions.switches) {
    if (s.when && s.when->is_code()) continue;
    Json one = Json::object();
    if (s.time) one["at"] = *s.time;
    if (s.when) one["when"] = signal_json(*s.when);
    one["direction"] = direction_names()[index(s.direction + 1)];
    if (!s.activate.empty()) one["activate"] = s.activate;
    if (!s.release.empty()) one["release"] = s.release;
    result[s.name] = std::move(one);
  }
  return result;
}

}  // namespace catena
