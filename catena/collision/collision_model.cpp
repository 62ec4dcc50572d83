// SPDX-License-Identifier: BSD-3-Clause
#include "catena/collision/collision_model.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/collision/field_contacts.h"
#include "catena/collision/friction_limit.h"
#include "catena/dynamics/kinematics.h"
#include "catena/io/models/mesh_points.h"
#include "catena/io/models/uri.h"

namespace catena {
namespace {

// Vertices of a hull, and what it may miss of the mesh, as a part of its extent, without a note.
constexpr int kHullVertices = 200;
constexpr double kHullMissed = 0.01;
// Boxes of the broad phase are larger by this (m): FCL's own boxes are of shapes without radius.
constexpr double kBoxMargin = 1e-9;

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] != '*')
    return !name.empty() && pattern[0] == name[0] && matches(pattern.substr(1), name.substr(1));
  for (std::size_t skip = 0; skip <= name.size(); ++skip)
    if (matches(pattern.substr(1), name.substr(skip))) return true;
  return false;
}

// The hull of a mesh file; none, with a note, if it cannot be had.
std::unique_ptr<ConvexShape> mesh_shape(const Collision& c, const std::string& name,
                                        const Source& source, std::vector<std::string>& notes) {
  const std::string file = find_local(c.mesh, folder_of(source.file));
  std::string why = file.empty() ? "the file is not found" : "";
  int open = 0;
  std::vector<Vec3d> points;
  if (!file.empty()) points = mesh_points(file, why, &open);
  const std::string what = "shape '" + name + "': mesh '" + c.mesh + "'";
  if (points.empty()) {
    notes.push_back(what + " collides with nothing: " + why);
    return {};
  }
  for (Vec3d& p : points) p = {c.size.x * p.x, c.size.y * p.y, c.size.z * p.z};
  double missed = 0.0;
  Polytope hull = convex_hull(extreme_points(points, kHullVertices, &missed));
  if (hull.faces.empty()) {
    notes.push_back(what + " collides with no other body: all its points lie in a plane");
    return {};
  }
  if (open > 0)
    notes.push_back(what + " is not closed (" + std::to_string(open) +
                    " edges belong to one triangle); its convex hull collides");
  auto shape = std::make_unique<ConvexShape>(polytope_shape(std::move(hull)));
  if (missed > kHullMissed * shape->reach)
    notes.push_back(what + ": its hull is taken with " +
                    std::to_string(shape->polytope.vertices.size()) +
                    " vertices, which misses up to " + short_number(missed) + " m");
  return shape;
}

std::unique_ptr<ConvexShape> make_shape(const Collision& c, const std::string& name,
                                        const Source& source, std::vector<std::string>& notes) {
  switch (c.shape) {
    case Collision::Shape::sphere:
      return std::make_unique<ConvexShape>(sphere_shape(c.radius));
    case Collision::Shape::capsule:
      return std::make_unique<ConvexShape>(capsule_shape(c.radius, c.length));
    case Collision::Shape::cylinder:
      return std::make_unique<ConvexShape>(cylinder_shape(c.radius, c.length));
    case Collision::Shape::box:
      return std::make_unique<ConvexShape>(box_shape(c.size));
    case Collision::Shape::mesh:
      break;
  }
  return mesh_shape(c, name, source, notes);
}

void make_shapes(CollisionModel::Tables& t) {
  const Mechanism& m = *t.mechanism;
  for (const Body& body : m.description().bodies) {
    const int place = m.body_index(body.name);
    const BodyPlace& at = m.bodies()[index(place)];
    std::set<std::string> names;
    for (const Collision& c : body.collisions) {
      const std::string name = c.name.empty() ? "collision" : c.name;
      std::string own = name;
      for (int k = 2; !names.insert(own).second; ++k) own = name + std::to_string(k);
      CollidingShape s;
      s.name = body.name + "." + own;
      s.body = place;
      s.node = at.node;
      s.X_body_shape = c.pose;
      s.X_node_shape = at.X_node_body * c.pose;
      s.friction = c.friction;
      s.restitution = c.restitution;
      s.shape = make_shape(c, s.name, body.source, t.notes);
      if (!s.shape) continue;
      s.at.shape = s.shape.get();
      t.shapes.push_back(std::move(s));
    }
  }
}

// Joints between bodies, counted from each; welds count for none, the world and free joints
// connect nothing.
std::vector<int> joints_from(const Mechanism& m, int body) {
  std::vector<int> count(m.bodies().size(), -1);
  std::deque<int> next{body};
  count[index(body)] = 0;
  while (!next.empty()) {
    const int here = next.front();
    next.pop_front();
    for (const HingePlace& hinge : m.hinges()) {
      if (hinge.type == HingeType::free || hinge.parent_body < 0 || hinge.child_body < 0) continue;
      const int there = hinge.parent_body == here  ? hinge.child_body
                        : hinge.child_body == here ? hinge.parent_body
                                                   : -1;
      if (there < 0) continue;
      const bool weld = hinge.role == HingePlace::Role::weld || hinge.type == HingeType::weld;
      const int joints = count[index(here)] + (weld ? 0 : 1);
      int& known = count[index(there)];
      if (known >= 0 && known <= joints) continue;
      known = joints;
      if (weld)
        next.push_front(there);
      else
        next.push_back(there);
    }
  }
  return count;
}

class Groups {
 public:
  Groups(const Mechanism& m, const CollisionSettings& settings) : mechanism_(m) {
    for (const auto& [name, patterns] : settings.groups) {
      std::vector<std::uint8_t>& members = groups_[name];
      members.assign(m.bodies().size(), 0);
      for (const std::string& pattern : patterns) add(pattern, "group '" + name + "'", members);
    }
  }
  bool contains(const std::string& group, int body) {
    if (group == "*") return true;
    if (group == kWorld) return mechanism_.bodies()[index(body)].node < 0;
    auto found = groups_.find(group);
    if (found == groups_.end()) {
      found =
          groups_.emplace(group, std::vector<std::uint8_t>(mechanism_.bodies().size(), 0)).first;
      add(group, "collisions", found->second);
    }
    return found->second[index(body)] != 0;
  }
  bool pair(const std::pair<std::string, std::string>& names, int a, int b) {
    // All names are looked at, so that a wrong one is found whatever the others are.
    const bool a1 = contains(names.first, a), b2 = contains(names.second, b);
    const bool b1 = contains(names.first, b), a2 = contains(names.second, a);
    return (a1 && b2) || (b1 && a2);
  }

 private:
  void add(const std::string& pattern, const std::string& what,
           std::vector<std::uint8_t>& members) const {
    bool any = false;
    std::vector<std::string> names;
    for (std::size_t b = 0; b < mechanism_.bodies().size(); ++b) {
      names.push_back(mechanism_.bodies()[b].name);
      if (!matches(pattern, names.back())) continue;
      members[b] = 1;
      any = true;
    }
    for (const auto& [group, list] : groups_) names.push_back(group);
    if (!any)
      throw NameError(what + ": no body and no group is named '" + pattern + "'" +
                      did_you_mean(pattern, names));
  }
  const Mechanism& mechanism_;
  std::map<std::string, std::vector<std::uint8_t>> groups_;
};

void choose_pairs(CollisionModel::Tables& t) {
  const std::size_t n = t.shapes.size();
  t.allowed.assign(n * n, 0);
  Groups groups(*t.mechanism, t.settings);
  int last_body = -1;
  std::vector<int> joints;
  for (std::size_t i = 0; i < n && t.settings.bodies; ++i) {
    const CollidingShape& a = t.shapes[i];
    if (a.body != last_body) joints = joints_from(*t.mechanism, a.body);
    last_body = a.body;
    for (std::size_t k = i + 1; k < n; ++k) {
      const CollidingShape& b = t.shapes[k];
      if (a.node == b.node) continue;
      const int apart = joints[index(b.body)];
      bool on = apart < 0 || apart > t.settings.neighbours;
      if (!t.settings.collide.empty()) {
        bool named = false;
        for (const auto& pair : t.settings.collide)
          named = groups.pair(pair, a.body, b.body) || named;
        on = on && named;
      }
      for (const auto& pair : t.settings.ignore) on = !groups.pair(pair, a.body, b.body) && on;
      t.allowed[i * n + k] = on ? 1 : 0;
    }
  }
}

double smaller(std::optional<double> a, std::optional<double> b, double otherwise) {
  return a && b ? std::min(*a, *b) : a.value_or(b.value_or(otherwise));
}

}  // namespace

PairLaw pair_law(std::optional<double> friction_a, std::optional<double> friction_b,
                 std::optional<double> restitution_a, std::optional<double> restitution_b,
                 const CollisionSettings& settings) {
  return {std::min(smaller(friction_a, friction_b, settings.friction), kLargestFriction),
          smaller(restitution_a, restitution_b, settings.restitution)};
}

PairLaw CollisionModel::Tables::law(int a, int b) const {
  const CollidingShape& s = shapes[index(a)];
  if (b < 0) {
    const HeightField& field = *settings.height_field;
    return pair_law(s.friction, field.friction, s.restitution, field.restitution, settings);
  }
  const CollidingShape& other = shapes[index(b)];
  return pair_law(s.friction, other.friction, s.restitution, other.restitution, settings);
}

CollisionModel::CollisionModel(const Mechanism& mechanism, const CollisionSettings& settings)
    : tables_(std::make_unique<Tables>()) {
  Tables& t = *tables_;
  t.mechanism = &mechanism;
  t.settings = settings;
  if (!(settings.friction >= 0.0))
    throw Error("collisions: the friction is " + number(settings.friction) +
                "; it must not be negative");
  if (!(settings.restitution >= 0.0 && settings.restitution <= 1.0))
    throw Error("collisions: the restitution is " + number(settings.restitution) +
                "; it must be from 0 to 1");
  if (settings.neighbours < 0)
    throw Error("collisions: neighbours is " + std::to_string(settings.neighbours) +
                "; it must not be negative");
  if (settings.height_field) check(*settings.height_field);
  make_shapes(t);
  if (t.shapes.empty() && t.notes.empty())
    throw Error("mechanism '" + mechanism.name() +
                "' has no collision shapes, so nothing of it would collide; give its bodies some "
                "(<collision> in URDF and SDF, 'collisions:' in YAML)");
  choose_pairs(t);
  if (std::none_of(t.allowed.begin(), t.allowed.end(), [](std::uint8_t on) { return on != 0; }))
    return;
  std::vector<const ConvexShape*> shapes;
  for (const CollidingShape& s : t.shapes) shapes.push_back(s.shape.get());
  t.scene = std::make_unique<FclScene>(shapes);
}

CollisionModel::~CollisionModel() = default;
const Mechanism& CollisionModel::mechanism() const { return *tables_->mechanism; }
const std::vector<std::string>& CollisionModel::notes() const { return tables_->notes; }

std::vector<std::string> CollisionModel::shapes() const {
  std::vector<std::string> names;
  for (const CollidingShape& s : tables_->shapes) names.push_back(s.name);
  return names;
}

std::vector<std::pair<std::string, std::string>> CollisionModel::pairs() const {
  std::vector<std::pair<std::string, std::string>> result;
  const int n = static_cast<int>(tables_->shapes.size());
  for (int a = 0; a < n; ++a)
    for (int b = a + 1; b < n; ++b)
      if (tables_->may_collide(a, b))
        result.emplace_back(tables_->shapes[index(a)].name, tables_->shapes[index(b)].name);
  return result;
}

std::span<const ClosePair> CollisionModel::Tables::find(const Workspace& w, double least,
                                                        double ahead) {
  pairs = 0;
  const auto next = [&](int a, int b) -> ClosePair& {
    if (pairs == found.size()) found.emplace_back();
    ClosePair& pair = found[pairs];
    pair.a = a;
    pair.b = b;
    return pair;
  };
  // What is hit moves on as fast as what hits it: the fastest counts for all.
  double fastest = 0.0;
  for (CollidingShape& s : shapes) {
    s.at.place(pose_of(w, s.node) * s.X_node_shape);
    const Twistd twist = twist_of(w, s.node);
    s.speed = norm(twist.linear + cross(twist.angular, s.X_node_shape.translation)) +
              norm(twist.angular) * s.shape->reach;
    fastest = std::max(fastest, s.speed);
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    CollidingShape& s = shapes[i];
    const double moves = (s.speed + 0.5 * fastest) * ahead;
    if (scene) scene->place(static_cast<int>(i), s.at.pose, 0.5 * least + moves + kBoxMargin);
    if (!settings.height_field || s.node < 0) continue;
    ClosePair& pair = next(static_cast<int>(i), -1);
    find_field_contacts(s.at, *settings.height_field, least + moves, pair.points);
    if (pair.points.empty()) continue;
    pair.distance = kInfinity;
    for (const PatchPoint& p : pair.points) pair.distance = std::min(pair.distance, p.gap);
    ++pairs;
  }
  if (!scene) return {found.data(), pairs};
  for (const auto& [a, b] : scene->close_pairs()) {
    if (!may_collide(a, b)) continue;
    const CollidingShape &sa = shapes[index(a)], &sb = shapes[index(b)];
    const double margin = least + (sa.speed + sb.speed + fastest) * ahead;
    const double apart = norm(sa.at.pose.translation - sb.at.pose.translation);
    if (apart > sa.shape->reach + sb.shape->reach + margin) continue;
    const Separation s =
        separate(sa.at, sb.at, [&, i = a, k = b] { return scene->direction(i, k); });
    if (s.distance > margin) continue;
    ClosePair& pair = next(a, b);
    pair.distance = s.distance;
    find_patch(sa.at, sb.at, s, margin, pair.points);
    if (!pair.points.empty()) ++pairs;
  }
  return {found.data(), pairs};
}

std::vector<ShapeContact> shape_contacts(const CollisionModel& model, const Eigen::VectorXd& q,
                                         double nearer_than) {
  Workspace workspace(model.mechanism());
  update_kinematics(model.mechanism(), q, Eigen::VectorXd::Zero(model.mechanism().freedoms()),
                    workspace);
  std::vector<ShapeContact> result;
  CollisionModel::Tables& t = model.tables();
  for (const ClosePair& pair : t.find(workspace, nearer_than, 0.0))
    for (const PatchPoint& p : pair.points)
      result.push_back({t.shapes[index(pair.a)].name,
                        pair.b < 0 ? "height field" : t.shapes[index(pair.b)].name, p.gap, p.place,
                        p.on_a ? p.normal : -p.normal});
  return result;
}

}  // namespace catena
