// SPDX-License-Identifier: BSD-3-Clause
// The gradient of xᵀ τ, τ the efforts that a tree needs at a point, by inertial parameters, gravity
// and the geometry of its hinges: all of them in one sweep outward and one inward, for any number
// of parameters. The transpose of the regressor, and of derivatives along probes
// (geometry_probe.h).
//
// Λ of a node is Σ x S over the freedoms inboard, its own included. The wrench that a body needs
// for its motion, I A + V ×* I V, then contributes
//
//   Λ · I A − (V × Λ) · I V,          in the body's own axes linear in its ten parameters
//
// and gravity −Σ_k x_k (force of momentum_k). A hinge that is moved on the body inboard of it by a
// small twist s moves everything outboard as a freedom would that is at rest, hangs on that body
// (its V, A and Λ) and has the composite I, B and F of everything outboard (columns.h):
//
//   second · P + rate · R + F · (Λ × s),   rate = V × s,  second = A × s + V × rate
//   P = I Λ + Σ_outboard x momentum,  R = Bᵀ Λ + Σ_outboard x turning
//
// (P and R are the same on both sides of the hinge, whose own freedoms stand in one term or the
// other)
// which is linear in s: one wrench W for each side of each hinge. Springs between points, and a
// rotor that rides on the frame of its hinge, add to it.
//
// A weld or locked hinge that is moved takes the bodies beyond it along: their inertias in the node
// change, and so do the places of the hinges on them, as if each were moved on its body.
//
// In the axes of the bodies both are sums over the instants of a motion: ten numbers for each node
// and six for each side are added up, and contracted with the parameters at the end. Cost: about
// 600 multiplications for each hinge, however many parameters it has.
#pragma once

#include <vector>

#include "catena/sensitivity/parameters/geometry_probe.h"

namespace catena {

// Inertial parameters of a body: mass, mass · centre (3), inertia (6).
inline constexpr int kInertial = 10;

class ParameterAdjoint {
 public:
  // The mechanism must outlive it. `parameters`: their number, others included.
  ParameterAdjoint(const Mechanism& mechanism, int parameters)
      : m_(mechanism), parameters_(parameters), size_(parameters) {}

  // `change`: of the body's spatial inertia, in its own frame, with the parameter.
  void add_inertial(int parameter, int body, const SpatialInertiad& change);
  void add_gravity(int parameter, int component);
  // False if a probe has to serve: a hinge that is cut, and a weld with springs or rotors on what
  // it moves, or one of several that hold the same bodies.
  bool add_geometry(const GeometrySeed& seed);

  // The sums: first one number for each parameter, for callers that have its derivative, then
  // those of nodes and sides.
  Eigen::Index size() const { return size_; }
  // Λ of each node.
  static std::vector<Twistd> spread(const Mechanism& mechanism, const Eigen::VectorXd& x,
                                    const SensitivityWorkspace& workspace);
  // sums += ... at the point whose columns (and accelerations) the workspace holds.
  void add(const State& state, const Eigen::VectorXd& x, const std::vector<Twistd>& lambda,
           const SensitivityWorkspace& workspace, Eigen::VectorXd& sums) const;
  Eigen::VectorXd gradient(const Eigen::VectorXd& sums) const;

 private:
  // A node whose inertia changes: the change in its frame.
  struct Inertial {
    int parameter = 0;
    int place = 0;  // in the sums
    SpatialInertiad change;
  };
  struct Gravity {
    int parameter = 0;
    int component = 0;
  };
  // A side of a node's hinge: that of the node (outer), or of its parent.
  struct Side {
    int node = 0;
    bool outer = false;
    int place = 0;
  };
  // A small twist, in the frame of the node on that side (the ground), of everything outboard.
  struct Geometry {
    int parameter = 0;
    int side = 0;
    Twistd twist;
    int freedom = -1;  // of the screw whose pitch it is
  };
  // P and R of a node.
  struct Transfer {
    Wrenchd p;
    Vec3d r;
  };
  // Of ends of springs: W by a small twist, and by the velocity of one.
  struct SpringEnds {
    Wrenchd by_shift;
    Wrenchd by_speed;
  };
  // Parts of W.
  struct SideMotion {
    Transfer transfer;
    Wrenchd force;
    Twistd twist, acceleration, lambda;
    SpringEnds springs;
  };
  int carrier(const Side& side) const;
  int inertial_place(int node);
  void add_side(int parameter, int node, bool outer, const Twistd& twist, int screw = -1);
  bool add_weld(const GeometrySeed& seed);
  std::vector<std::uint8_t> bodies_beyond(int weld, int from) const;
  std::vector<Transfer> transfers(const Eigen::VectorXd& x, const std::vector<Twistd>& lambda,
                                  const SensitivityWorkspace& w) const;
  std::vector<SpringEnds> spring_ends(const std::vector<Twistd>& lambda,
                                      const SensitivityWorkspace& w) const;
  SideMotion motion_of(const Side& side, const State& state, const Eigen::VectorXd& x,
                       const std::vector<Twistd>& lambda, const SensitivityWorkspace& w,
                       const Transfer& transfer, const std::vector<SpringEnds>& springs) const;

  const Mechanism& m_;
  int parameters_ = 0;
  Eigen::Index size_ = 0;
  struct InertialNode {
    int node = 0;
    int place = 0;
  };
  std::vector<InertialNode> nodes_;
  std::vector<Inertial> inertial_;
  std::vector<Gravity> gravity_;
  int gravity_place_ = 0;
  std::vector<Side> sides_;
  std::vector<Geometry> geometry_;
  std::vector<Geometry> screws_;  // pitches
};

}  // namespace catena
