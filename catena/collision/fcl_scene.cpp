// SPDX-License-Identifier: BSD-3-Clause
#include "catena/collision/fcl_scene.h"

#ifdef CATENA_HAS_FCL

#include <algorithm>
#include <cmath>
#include <exception>

#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>
#include <fcl/geometry/shape/box.h>
#include <fcl/geometry/shape/capsule.h>
#include <fcl/geometry/shape/convex.h>
#include <fcl/geometry/shape/cylinder.h>
#include <fcl/geometry/shape/sphere.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/distance.h>

#include "catena/base/index.h"

namespace catena {
namespace {

// Nearest points that are closer say nothing about the direction (m).
constexpr double kNearPoints = 1e-7;
// FCL's cylinders and capsules need a length.
constexpr double kThin = 1e-6;

class Object : public fcl::CollisionObjectd {
 public:
  Object(int number, const std::shared_ptr<fcl::CollisionGeometryd>& geometry)
      : fcl::CollisionObjectd(geometry), number_(number) {}
  int number() const { return number_; }
  void place(const Transformd& pose, double reach) {
    fcl::Transform3d at = fcl::Transform3d::Identity();
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) at.linear()(i, k) = pose.rotation.matrix.m[i][k];
      at.translation()[i] = pose.translation[i];
    }
    setTransform(at);
    computeAABB();
    aabb.expand(fcl::Vector3d::Constant(reach));
  }

 private:
  int number_;
};

std::shared_ptr<fcl::CollisionGeometryd> geometry_of(const ConvexShape& s) {
  const double length = std::max(2.0 * s.half, kThin * std::max(s.rim, s.radius));
  switch (s.core) {
    case ConvexShape::Core::point:
      return std::make_shared<fcl::Sphered>(s.radius);
    case ConvexShape::Core::segment:
      return std::make_shared<fcl::Capsuled>(s.radius, length);
    case ConvexShape::Core::cylinder:
      return std::make_shared<fcl::Cylinderd>(s.rim, length);
    case ConvexShape::Core::polytope:
      break;
  }
  auto vertices = std::make_shared<std::vector<fcl::Vector3d>>();
  auto faces = std::make_shared<std::vector<int>>();
  for (const Vec3d& p : s.polytope.vertices) vertices->emplace_back(p.x, p.y, p.z);
  for (const Polytope::Face& face : s.polytope.faces) {
    faces->push_back(static_cast<int>(face.corners.size()));
    faces->insert(faces->end(), face.corners.begin(), face.corners.end());
  }
  return std::make_shared<fcl::Convexd>(vertices, static_cast<int>(s.polytope.faces.size()), faces);
}

bool note_pair(fcl::CollisionObjectd* a, fcl::CollisionObjectd* b, void* data) {
  const int i = static_cast<const Object*>(a)->number();
  const int k = static_cast<const Object*>(b)->number();
  static_cast<std::vector<std::pair<int, int>>*>(data)->emplace_back(std::min(i, k),
                                                                     std::max(i, k));
  return false;  // go on
}

}  // namespace

struct FclScene::Objects {
  std::vector<std::unique_ptr<Object>> all;
  fcl::DynamicAABBTreeCollisionManagerd manager;
  std::vector<std::pair<int, int>> pairs;
};

bool has_fcl() { return true; }

FclScene::FclScene(std::span<const ConvexShape* const> shapes)
    : objects_(std::make_unique<Objects>()) {
  for (std::size_t i = 0; i < shapes.size(); ++i)
    objects_->all.push_back(std::make_unique<Object>(static_cast<int>(i), geometry_of(*shapes[i])));
  for (const auto& object : objects_->all) objects_->manager.registerObject(object.get());
  objects_->manager.setup();
}

FclScene::~FclScene() = default;

void FclScene::place(int shape, const Transformd& pose, double reach) {
  objects_->all[index(shape)]->place(pose, reach);
}

const std::vector<std::pair<int, int>>& FclScene::close_pairs() {
  objects_->manager.update();
  objects_->pairs.clear();
  objects_->manager.collide(&objects_->pairs, &note_pair);
  std::sort(objects_->pairs.begin(), objects_->pairs.end());
  return objects_->pairs;
}

std::optional<Vec3d> FclScene::direction(int a, int b) const {
  const Object& first = *objects_->all[index(a)];
  const Object& second = *objects_->all[index(b)];
  try {
    fcl::DistanceRequestd request(true);
    request.gjk_solver_type = fcl::GST_LIBCCD;
    fcl::DistanceResultd result;
    const double distance = fcl::distance(&first, &second, request, result);
    if (distance > kNearPoints) {
      const fcl::Vector3d from = result.nearest_points[0] - result.nearest_points[1];
      if (const double size = from.norm(); size > 0.0 && std::isfinite(size))
        return Vec3d{from[0] / size, from[1] / size, from[2] / size};
    }
    fcl::CollisionRequestd overlap(1, true);
    overlap.gjk_solver_type = fcl::GST_LIBCCD;
    fcl::CollisionResultd found;
    fcl::collide(&first, &second, overlap, found);
    if (found.numContacts() == 0) return {};
    const fcl::Vector3d n = -found.getContact(0).normal;  // FCL's is from the first to the second
    if (const double size = n.norm(); size > 0.5 && std::isfinite(size))
      return Vec3d{n[0] / size, n[1] / size, n[2] / size};
  } catch (const std::exception&) {
    // libccd gives up on some configurations that touch: separate() then tries every face.
  }
  return {};
}

}  // namespace catena

#else  // A build without FCL.

#include "catena/base/error.h"

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

#endif
