// SPDX-License-Identifier: BSD-3-Clause
// Broad phase and directions of separation by FCL, the Flexible Collision Library [Pan, Chitta &
// Manocha 2012]. The only file that includes FCL is fcl_scene.cpp; a build without the package
// has functions that say so.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "catena/collision/convex_shape.h"

namespace catena {

// Whether this build has FCL.
bool has_fcl();

class FclScene {
 public:
  // The shapes must outlive it. Throws Error, with what to install, in a build without FCL.
  explicit FclScene(std::span<const ConvexShape* const> shapes);
  ~FclScene();

  // `reach`: its box is this much larger on all sides (m).
  void place(int shape, const Transformd& pose, double reach);
  // After all are placed: pairs (i < k) whose boxes overlap, in order.
  const std::vector<std::pair<int, int>>& close_pairs();
  // Unit vector from shape b to shape a along which they are separated, or pushed apart with the
  // least depth; none where FCL fails. Accurate to 1e-6 or worse: a guess for separate().
  std::optional<Vec3d> direction(int a, int b) const;

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

}  // namespace catena
