// SPDX-License-Identifier: BSD-3-Clause
// Mechanism: the finished model of a multibody system: validated, immutable, ready for the sweeps
// (Pinocchio's `Model`, a finalized `MultibodyPlant` of Drake). It is made by
// MechanismBuilder::finish() or by load() of a file, and may be shared between threads.
//
//   const Mechanism robot = load("robot.urdf");                  // io/load.h
//   State state = robot.default_state();
//   state.q[robot.position_index("elbow")] = 0.3;                // rad; by the name of the joint
//
// Words. A *hinge* is a joint; a *freedom* is a degree of freedom, one entry of v; a *node* is a
// rigid group of bodies (bodies joined by welds are one) and the hinge that moves it. Nodes form a
// spanning tree, stored parent first. A hinge that would close a loop is cut, and its closure is an
// equation (closure/, constraints/); bodies connected by closures form one LoopPlace.
//
// State. q has the coordinates and v the velocities of all hinges of the spanning tree, also for
// closed mechanisms, in the order of the nodes: parent first and, where that leaves a choice, in
// the order of the description. q is longer than v where a rotation is a quaternion (w, x, y, z),
// of spherical and free hinges, whose v is in the frame of the child: q̇ = v holds for the others
// only (configuration.h adds and subtracts positions).
//
// Frames. Finishing re-bases the frames of nodes so that the axis of every one-freedom hinge is the
// local z axis (node.h). The user's frames are kept: BodyPlace::X_node_body takes body coordinates
// to node coordinates.
//
// References: [Featherstone 2008], chapter 4, for tree, parents and joint models; [Jain 2009] for
// loops as nodes. docs/notation.md maps the symbols.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/base/error.h"
#include "catena/base/made_once.h"
#include "catena/model/description.h"
#include "catena/model/flexible_body.h"
#include "catena/model/flexible_table.h"
#include "catena/model/node.h"
#include "catena/model/topology.h"
#include "catena/spatial/eigen.h"

namespace catena {

// Where the user's body is: a node (−1: fixed to the ground) and a constant displacement.
struct BodyPlace {
  std::string name;
  int node = -1;
  Transformd X_node_body;
  SpatialInertiad inertia;  // of this body alone, in its own frame
};

// Place of the user's hinge in the tree: it moves a node, is cut, or is rigid.
struct HingePlace {
  enum class Role { tree, cut, weld };
  std::string name;
  HingeType type = HingeType::weld;
  Role role = Role::tree;
  int parent_body = -1;  // −1: the world
  int child_body = -1;
  int node = -1;  // the node it moves, if it is in the tree
  bool reversed = false;
  int q_index = 0;
  int coordinates = 0;
  int v_index = 0;
  int freedoms = 0;
  Transformd displacement;  // of a locked hinge, from its parent side to its child side
};

// A frame or point of interest.
struct FramePlace {
  std::string name;
  int body = -1;
  int node = -1;
  Transformd X_node_frame;
};

// The drive of a hinge: the rotor's axis is in the carrier node's frame.
struct DrivePlace {
  int hinge = -1;
  int v_index = 0;
  int carrier_node = -1;
  Vec3d rotor_axis;
  double rotor_inertia = 0.0;
  double gear_ratio = 1.0;
  bool armature_only = false;
};

// A point of a body, in its node's frame.
struct PointPlace {
  int body = -1;
  int node = -1;
  Vec3d point;
};

struct SpringPlace {
  std::string name;
  PointPlace a;
  PointPlace b;
  double stiffness = 0.0;
  double rest_length = 0.0;
  double damping = 0.0;
};

// A closed loop, or several that share bodies or couplings.
struct LoopPlace {
  std::vector<int> bodies;
  std::vector<int> nodes;
  std::vector<int> cut_hinges;
  std::vector<int> rods;
  std::vector<int> couplings;
  int constraints = 0;  // scalar rows, redundant ones included
};

// A flexible body: its frame (a body), the node of its modes, and its attachments.
struct FlexiblePlace {
  std::string name;
  int body = -1;
  int node = -1;  // of the modes; their coordinates are at its q_index and v_index
  struct Attachment {
    int body = -1;
    int node = -1;
  };
  std::vector<Attachment> attachments;  // as in the constants
  std::shared_ptr<const FlexibleBody> constants;
  std::shared_ptr<const struct CompletedInertia> completed;  // null: not (flexible_completion.h)
};

struct State {
  Eigen::VectorXd q;
  Eigen::VectorXd v;
};

class Mechanism {
 public:
  const std::string& name() const { return description_.name; }
  const Vec3d& gravity() const { return description_.gravity; }
  const Description& description() const { return description_; }
  const std::vector<Diagnostic>& warnings() const { return warnings_; }

  // Length of q and of v (the degrees of freedom of the spanning tree).
  int coordinates() const { return coordinates_; }
  int freedoms() const { return freedoms_; }
  // Freedoms without those that cut hinges keep (HingePlace::node).
  int tree_freedoms() const;

  std::span<const Node> nodes() const { return nodes_; }
  std::span<const NodeScrew> screws() const { return screws_; }
  std::span<const CustomHinge* const> customs() const { return customs_; }  // by node
  std::span<const BodyPlace> bodies() const { return bodies_; }
  std::span<const HingePlace> hinges() const { return hinges_; }
  std::span<const FramePlace> frames() const { return frames_; }
  std::span<const DrivePlace> drives() const { return drives_; }
  std::span<const SpringPlace> springs() const { return springs_; }
  std::span<const LoopPlace> loops() const { return loops_; }
  std::span<const FlexiblePlace> flexible_bodies() const { return flexible_; }
  bool has_flexible_bodies() const { return !flexible_.empty(); }
  // For the sweeps, by Node::flexible of modes and of attachments.
  std::span<const FlexibleTable* const> flexible_tables() const { return flexible_tables_; }
  std::span<const AttachmentTable* const> attachment_tables() const { return attachment_tables_; }
  std::span<const FreedomSettings> freedom_settings() const { return freedom_settings_; }  // by v
  // The q index of the coordinate whose rate is v[i], or −1 (rotations by quaternion).
  std::span<const int> coordinate_of_freedom() const { return coordinate_of_freedom_; }
  const Topology& topology() const { return topology_; }

  // The ground has index −1. An unknown name throws a NameError that suggests the nearest.
  int body_index(std::string_view name) const;
  int hinge_index(std::string_view name) const;
  int frame_index(std::string_view name) const;
  bool has_body(std::string_view name) const;
  bool has_hinge(std::string_view name) const;

  // Names of all coordinates and freedoms in order: "elbow", "base.qw", "base.wx", ...
  std::span<const std::string> position_names() const { return position_names_; }
  std::span<const std::string> velocity_names() const { return velocity_names_; }
  int position_index(std::string_view name) const;
  int velocity_index(std::string_view name) const;

  // True if some body hangs on the ground by a free hinge.
  bool has_free_base() const;

  double total_mass() const;

  // Initial state in the description; zero (identity quaternions) by default.
  const State& default_state() const { return default_state_; }

  // Cache of aggregate_tables() of closure: its tables, kept as long as the mechanism.
  const MadeOnce& loop_tables() const { return loop_tables_; }

  // A builder that starts from this mechanism.
  class MechanismBuilder edit() const;

 private:
  friend class Finisher;
  Mechanism() = default;

  Description description_;
  Topology topology_;
  std::vector<Diagnostic> warnings_;
  int coordinates_ = 0;
  int freedoms_ = 0;
  std::vector<Node> nodes_;
  std::vector<NodeScrew> screws_;
  std::vector<const CustomHinge*> customs_;
  std::vector<BodyPlace> bodies_;
  std::vector<HingePlace> hinges_;
  std::vector<FramePlace> frames_;
  std::vector<DrivePlace> drives_;
  std::vector<SpringPlace> springs_;
  std::vector<LoopPlace> loops_;
  std::vector<FlexiblePlace> flexible_;
  std::vector<const FlexibleTable*> flexible_tables_;
  std::vector<const AttachmentTable*> attachment_tables_;
  std::vector<std::shared_ptr<const struct FlexibleTables>> table_stores_;
  std::vector<FreedomSettings> freedom_settings_;
  std::vector<int> coordinate_of_freedom_;
  std::vector<std::string> position_names_;
  std::vector<std::string> velocity_names_;
  State default_state_;
  std::shared_ptr<const struct NameTables> names_;
  MadeOnce loop_tables_;
};

}  // namespace catena
