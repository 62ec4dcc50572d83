// SPDX-License-Identifier: BSD-3-Clause
// fcl_scene.h in a build without FCL.
#include "catena/base/error.h"
#include "catena/collision/fcl_scene.h"

namespace catena {

struct FclScene::Objects {
  std::vector<std::pair<int, int>> pairs;
};

bool has_fcl() { return false; }

FclScene::FclScene(std::span<const ConvexShape* const>) {
  throw Error(
      "collisions between shapes need FCL, which this build of Catena does not have: install it "
      "(Debian: libfcl-dev), configure and build again; contacts with a plane (ground:, --ground) "
      "need nothing");
}
FclScene::~FclScene() = default;
void FclScene::place(int, const Transformd&, double) {}
const std::vector<std::pair<int, int>>& FclScene::close_pairs() { return objects_->pairs; }
std::optional<Vec3d> FclScene::direction(int, int) const { return {}; }

}  // namespace catena
