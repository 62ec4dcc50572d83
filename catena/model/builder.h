// SPDX-License-Identifier: BSD-3-Clause
// MechanismBuilder: describes a mechanism by code, body by body and joint by joint, or changes one
// that was read from a file.
//
//   MechanismBuilder b("pendulum");
//   b.add_body("link", {.mass = 1.0, .center_of_mass = {0.5, 0, 0}, .inertia = ...});
//   b.add_hinge("pin", "world", "link", {.type = HingeType::revolute, .axes = {{0, 1, 0}}});
//   const Mechanism pendulum = b.finish();
//
// SI units, angles in radians. The frame of a joint is given on both bodies
// (HingeSettings::frame_on_parent, frame_on_child: X_body_frame); its axes are in that frame. The
// inertia of a body is about its centre of mass, in the axes of the body. "world" is the ground.
//
// Bodies may be added in any order, and joints may close loops: finish() decides which of them are
// cut. finish() also checks everything and reports every mistake at once as a ModelError
// (base/error.h). All names are unique within their kind.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "catena/model/mechanism.h"

namespace catena {

struct FinishSettings {
  // Inertias that no real body can have are errors instead of warnings.
  bool strict = true;
  // Warnings of the reader about the file; the first of the mechanism's warnings.
  std::vector<Diagnostic> notes = {};
  // Hinges that move no inertia are warnings, not errors. For looking at a mechanism whose mass
  // matrix is singular.
  bool idle_hinges = false;
};

class MechanismBuilder {
 public:
  explicit MechanismBuilder(std::string name = "mechanism") { description_.name = std::move(name); }
  explicit MechanismBuilder(Description description) : description_(std::move(description)) {}

  MechanismBuilder& set_gravity(const Vec3d& gravity);
  MechanismBuilder& add_body(std::string name, BodySettings settings = {});
  // A flexible body: the body `name` is its frame, clamped to it; `name.ATTACHMENT` is a body at
  // each of its attachments, on which hinges, frames, springs and forces may sit. Its modal
  // coordinates are `name.mode1`, ... (model/flexible_body.h; flexible/beam.h makes the constants).
  // `settings` may add rigid mass at the frame.
  MechanismBuilder& add_flexible_body(std::string name, std::shared_ptr<const FlexibleBody> body,
                                      BodySettings settings = {});
  // Makes an existing body the frame of a flexible one.
  MechanismBuilder& make_flexible(const std::string& name,
                                  std::shared_ptr<const FlexibleBody> constants);
  MechanismBuilder& add_hinge(std::string name, std::string parent, std::string child,
                              HingeSettings settings = {});
  // Alias of add_hinge().
  MechanismBuilder& add_joint(std::string name, std::string parent, std::string child,
                              HingeSettings settings = {}) {
    return add_hinge(std::move(name), std::move(parent), std::move(child), std::move(settings));
  }
  MechanismBuilder& add_frame(std::string name, std::string body, const Transformd& pose);
  MechanismBuilder& add_rod(Rod rod);
  MechanismBuilder& add_coupling(Coupling coupling);
  // q(follower) = ratio · q(leader) + offset: a gear or a mimic joint.
  MechanismBuilder& add_gear(std::string name, std::string follower, std::string leader,
                             double ratio, double offset = 0.0);
  MechanismBuilder& add_spring(SpringDamper spring);

  // Changes. An unknown name throws a NameError.
  BodySettings& body(std::string_view name);
  HingeSettings& hinge(std::string_view name);
  MechanismBuilder& set_mass(std::string_view body, double mass);
  // Makes a hinge rigid at the given coordinates (default: its zero), and frees it again.
  MechanismBuilder& lock(std::string_view hinge, std::vector<double> q = {});
  MechanismBuilder& unlock(std::string_view hinge);
  // Removes a body and everything that names it (hinges, frames, rods, springs, drives that it
  // carries); bodies attached to it need a new hinge.
  MechanismBuilder& remove_body(std::string_view body_name);
  MechanismBuilder& remove_hinge(std::string_view name);
  // Adds all of another mechanism with its names prefixed; its hinges to the world go to
  // `onto` instead, placed at `pose` on it.
  MechanismBuilder& attach(const Description& other, const std::string& prefix,
                           const std::string& onto = kWorld, const Transformd& pose = {});
  // Connects every part without a path to the world: a hinge of the given type (free or weld) from
  // the world to its root, the first of its bodies that is no hinge's child.
  MechanismBuilder& connect_roots(HingeType type);

  const Description& description() const { return description_; }
  Description& description() { return description_; }

  // Throws ModelError with every problem found.
  Mechanism finish(const FinishSettings& settings = {}) const;

 private:
  Description description_;
};

}  // namespace catena
