// SPDX-License-Identifier: BSD-3-Clause
// Collisions of the shapes of a mechanism (Collision in model/description.h) with each other, with
// shapes of bodies that are fixed to the ground, and with a height field.
//
//   const CollisionModel model(robot, {.collide = {{"legs", "world"}}, .groups = {{"legs",
//   {"*shank"}}}}); for (const ShapeContact& c : shape_contacts(model, state.q, 0.01)) ...    //
//   nearer than 1 cm
//
// In a simulation: ActionSettings::collisions, `collisions:` in YAML, --collisions. Convex shapes:
// box, cylinder, sphere, capsule, and the convex hull of a mesh. FCL finds close pairs
// (fcl_scene.h); distances, normals and contact patches are exact (separation.h, patch.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "catena/collision/height_field.h"
#include "catena/model/mechanism.h"

namespace catena {

class Workspace;

struct CollisionSettings {
  // If true, shapes collide with each other and with bodies that are fixed to the ground. If false,
  // only with the height field.
  bool bodies = true;
  // Bodies that are connected by up to so many joints do not collide. Free joints and the ground
  // connect nothing; welds count for none.
  int neighbours = 1;
  // Groups of bodies by name; `*` stands for anything in a body's name. The group `world`, bodies
  // that are fixed to the ground, and `*`, all, always exist, and a body's name is a group.
  std::map<std::string, std::vector<std::string>> groups = {};
  // Only these pairs of groups collide; empty: all do.
  std::vector<std::pair<std::string, std::string>> collide = {};
  // These pairs do not.
  std::vector<std::pair<std::string, std::string>> ignore = {};
  // Of pairs in which neither shape has its own. Otherwise the smaller of the two holds, or the
  // one that is given. Infinite friction is taken as 1000.
  double friction = 0.8;
  double restitution = 0.0;
  std::shared_ptr<const HeightField> height_field = {};
};

// Two shapes that are close, at one point.
struct ShapeContact {
  std::string shape_a;    // BODY.SHAPE
  std::string shape_b;    // or "height field"
  double distance = 0.0;  // m, negative: depth
  Vec3d point{};          // in the ground's frame
  Vec3d normal{};         // unit vector from b to a
};

class CollisionModel {
 public:
  // The mechanism must outlive it. Throws Error if there is no shape, a group names nothing, or
  // FCL is needed and missing.
  CollisionModel(const Mechanism& mechanism, const CollisionSettings& settings);
  ~CollisionModel();
  CollisionModel(const CollisionModel&) = delete;
  CollisionModel& operator=(const CollisionModel&) = delete;

  const Mechanism& mechanism() const;
  // What was left out or taken otherwise: meshes that cannot be read, that are not closed, ...
  const std::vector<std::string>& notes() const;
  std::vector<std::string> shapes() const;  // BODY.SHAPE
  // Names of shapes that may collide, in pairs.
  std::vector<std::pair<std::string, std::string>> pairs() const;

  // Internal: collision_model.h.
  struct Tables;
  Tables& tables() const { return *tables_; }

 private:
  std::unique_ptr<Tables> tables_;
};

// All points of shapes that are nearer than this, pairs in order of their shapes.
std::vector<ShapeContact> shape_contacts(const CollisionModel& model, const Eigen::VectorXd& q,
                                         double nearer_than);

}  // namespace catena
