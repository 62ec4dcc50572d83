// SPDX-License-Identifier: BSD-3-Clause
// The shapes of a mechanism and the pairs of them that are close at a position (collisions.h).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catena/collision/collisions.h"
#include "catena/collision/convex_shape.h"
#include "catena/collision/fcl_scene.h"
#include "catena/collision/patch.h"
#include "catena/dynamics/workspace.h"

namespace catena {

struct CollidingShape {
  std::string name;  // BODY.SHAPE
  int body = -1;
  int node = -1;  // −1: fixed to the ground
  Transformd X_body_shape{};
  Transformd X_node_shape{};
  std::unique_ptr<ConvexShape> shape;
  PlacedShape at;
  std::optional<double> friction, restitution;
  double speed = 0.0;  // of its fastest point (m/s), at most
};

// Friction and restitution of a pair.
struct PairLaw {
  double friction = 0.0;
  double restitution = 0.0;
};
PairLaw pair_law(std::optional<double> friction_a, std::optional<double> friction_b,
                 std::optional<double> restitution_a, std::optional<double> restitution_b,
                 const CollisionSettings& settings);

// A pair of shapes that is closer than it may move within a step.
struct ClosePair {
  int a = -1, b = -1;  // b = −1: the height field
  double distance = 0.0;
  std::vector<PatchPoint> points;  // in the ground's frame
};

struct CollisionModel::Tables {
  const Mechanism* mechanism = nullptr;
  CollisionSettings settings;
  std::vector<CollidingShape> shapes;
  std::vector<std::uint8_t> allowed;  // [a][b], a < b
  std::unique_ptr<FclScene> scene;
  std::vector<std::string> notes;
  std::vector<ClosePair> found;
  std::size_t pairs = 0;  // in use of `found`

  bool may_collide(int a, int b) const {
    return allowed[static_cast<std::size_t>(a) * shapes.size() + static_cast<std::size_t>(b)] != 0;
  }
  PairLaw law(int a, int b) const;
  // Pairs closer than `least` plus what they move within the time `ahead` (s) at the velocities of
  // the workspace's last kinematics. O(n log n) in the shapes and the close pairs.
  std::span<const ClosePair> find(const Workspace& workspace, double least, double ahead);
};

}  // namespace catena
