// SPDX-License-Identifier: BSD-3-Clause
// Description: the model as its author gave it, before bodies are sorted, welded groups merged and
// loops cut. A MechanismBuilder edits one, readers fill one, writers print one, and
// a finished Mechanism keeps the one it was made from.
//
// Every field has a default and is initialized where it stands, so that designated initializers
// may name only what differs. Units are SI; angles are radians. A body named "world" always exists:
// the ground.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catena/base/error.h"
#include "catena/model/friction.h"
#include "catena/model/hinge.h"
#include "catena/spatial/inertia.h"

namespace catena {

struct FlexibleBody;  // flexible_body.h

inline constexpr const char* kWorld = "world";
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A shape for drawing; it has no part in the dynamics.
struct Visual {
  enum class Shape { box, cylinder, sphere, capsule, mesh };
  Shape shape = Shape::box;
  Transformd pose{};          // in the body frame
  Vec3d size{1.0, 1.0, 1.0};  // box: edges; mesh: scale
  double radius = 0.0;        // cylinder, sphere, capsule
  double length = 0.0;        // cylinder, capsule (without its caps), along z
  std::string mesh{};         // path or URI as written
  std::array<double, 4> colour{0.7, 0.7, 0.7, 1.0};  // red, green, blue, opacity
  std::string name{};
};

// A shape that collides (docs/contact.md). Shapes collide with the ground if the simulation
// has one.
struct Collision {
  enum class Shape { box, cylinder, sphere, capsule, mesh };
  Shape shape = Shape::box;
  Transformd pose{};                    // in the body frame
  Vec3d size{1.0, 1.0, 1.0};            // box: edges; mesh: scale
  double radius = 0.0;                  // cylinder, sphere, capsule
  double length = 0.0;                  // cylinder (0: a disc), capsule (without its caps), along z
  std::string mesh{};                   // path or URI as written; its convex hull collides
  std::optional<double> friction{};     // Coulomb's coefficient; none: that of the simulation
  std::optional<double> restitution{};  // Newton's; none: that of the simulation
  std::string name{};
};

struct BodySettings {
  double mass = 0.0;
  Vec3d center_of_mass{};    // in the body frame
  SymMat3d inertia{};        // about the centre of mass, in the inertia axes
  Rotationd inertia_axes{};  // R_body_inertia
  std::vector<Visual> visuals{};
  std::vector<Collision> collisions{};
  // Of the frame of a flexible body: its constants (builder.h: add_flexible_body). Mass and inertia
  // above are then those of rigid parts at the frame.
  std::shared_ptr<const FlexibleBody> flexible{};
  Source source{};

  // Inertia about the origin and in the axes of the body frame.
  SpatialInertiad spatial_inertia() const;
};

// Settings of one freedom (degree of freedom) of a hinge: joint limits, damping, friction, spring.
// Stiffness, rest and position limits refer to the coordinate of the freedom; those of the
// rotations of spherical and free hinges have none.
struct FreedomSettings {
  double lower = -kInfinity;
  double upper = kInfinity;
  double velocity_limit = kInfinity;
  double effort_limit = kInfinity;
  double damping = 0.0;
  double stiffness = 0.0;
  double rest = 0.0;
  Friction friction{};
};

// A geared motor on a hinge of one freedom. The rotor spins about rotor_axis, fixed in the
// carrier body, gear_ratio times as fast as the hinge, and its mass is part of the carrier's.
struct DriveSettings {
  double rotor_inertia = 0.0;  // about its axis, kg m²
  double gear_ratio = 1.0;     // rotor speed relative to the carrier / hinge speed
  std::string carrier{};       // empty: the parent of the hinge
  std::optional<Vec3d>
      rotor_axis{};            // in the carrier's frame; none: the hinge axis (on the parent)
  bool armature_only = false;  // keep only the reflected inertia ratio² · rotor_inertia
};

// Whether a hinge of a closed loop may be cut.
enum class Cut { automatic, always, never };

struct HingeSettings {
  HingeType type = HingeType::revolute;
  // In the frame of the hinge on the parent: the axis (revolute, prismatic, screw, cylindrical),
  // the normal and optionally the x direction of the plane (planar), two axes (universal), three
  // (gimbal). Empty: z; x, y; x, y, z.
  std::vector<Vec3d> axes{};
  double pitch = 0.0;  // screw: metres per radian
  // The hinge frame on either side: X_parent_hinge and X_child_hinge. With all coordinates zero
  // the two coincide. For spherical and free hinges v is the twist of the child's hinge frame, in
  // that frame.
  Transformd frame_on_parent{};
  Transformd frame_on_child{};
  std::vector<FreedomSettings>
      freedoms{};  // may be shorter than the freedoms: the rest have defaults
  std::optional<DriveSettings> drive{};
  std::shared_ptr<const CustomHinge> custom{};
  // Hinges of modes and attachments: the flexible body and the index of the attachment.
  std::shared_ptr<const FlexibleBody> flexible{};
  int attachment = -1;
  Cut cut = Cut::automatic;
  // Keeps its coordinates even if it is cut and nothing acts at it (with_coordinates.h).
  bool keeps_coordinates = false;
  std::vector<double> locked_at{};         // if given: a weld at these coordinates
  std::vector<double> initial_position{};  // q of the default state; empty: zero
  std::vector<double> initial_velocity{};
  Source source{};
};

struct Body : BodySettings {
  std::string name{};
};

struct Hinge : HingeSettings {
  std::string name{};
  std::string parent{};
  std::string child{};
};

// A frame fixed on a body; a point is a frame whose orientation does not matter.
struct Frame {
  std::string name{};
  std::string body{};
  Transformd pose{};  // X_body_frame
  Source source{};
};

// A massless rod of fixed length between two points, free to swivel at both ends.
struct Rod {
  std::string name{};
  std::string body_a{};
  Vec3d point_a{};
  std::string body_b{};
  Vec3d point_b{};
  double length = 0.0;
  Source source{};
};

// A constraint between hinge coordinates: Σ coefficient_i · q_i = constant (gear, mimic, rack,
// differential), or g(q) = 0 by a user function.
struct Coupling {
  struct Term {
    std::string hinge{};
    int freedom = 0;
    double coefficient = 1.0;  // of a linear coupling
  };
  // value, gradient and (row-major) second derivatives of g at the coordinates of the terms.
  using Function = std::function<void(std::span<const double> q, double& value,
                                      std::span<double> gradient, std::span<double> hessian)>;

  std::string name{};
  std::vector<Term> terms{};
  double constant = 0.0;
  Function function{};  // none: linear
  Source source{};
};

// A spring and a damper along the line between two points; tension is positive when it is
// longer than its rest length.
struct SpringDamper {
  std::string name{};
  std::string body_a{};
  Vec3d point_a{};
  std::string body_b{};
  Vec3d point_b{};
  double stiffness = 0.0;
  double rest_length = 0.0;
  double damping = 0.0;
  Source source{};
};

// The internal body and hinge of a flexible body's modes.
inline std::string modes_name(const std::string& body) { return body + ".modes"; }

struct Description {
  std::string name = "mechanism";
  Vec3d gravity{0.0, 0.0, -9.81};
  std::vector<Body> bodies{};
  std::vector<Hinge> hinges{};
  std::vector<Frame> frames{};
  std::vector<Rod> rods{};
  std::vector<Coupling> couplings{};
  std::vector<SpringDamper> springs{};
};

}  // namespace catena
