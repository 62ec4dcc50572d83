// The gradient of xᵀ τ, τ the efforts that a tree needs at a point, by inertial parameters, gravity
// and the geometry of its hinges: all of them in one sweep outward and one inward, whatever their
// number. The transpose of the regressor, and of derivatives along probes (geometry_probe.h).
//
// Λ of a node is Σ x S over the freedoms inboard, its own included. What a body needs for its
// motion, I A + V ×* I V, then costs x the amount
//
//   Λ · I A − (V × Λ) · I V,          in the body's own axes linear in its ten parameters
//
// and gravity −Σ_k x_k (force of momentum_k). A hinge that is moved on the body inboard of it by a
// small twist s moves everything outboard as a freedom would that is at rest, hangs on that body
// (its V, A and Λ) and has the composite I, B and F of what is outboard (columns.h):
//
//   second · P + rate · R + F · (Λ × s),   rate = V × s,  second = A × s + V × rate
//   P = I Λ + Σ_outboard x momentum,  R = Bᵀ Λ + Σ_outboard x turning
//
// which is linear in s: one wrench W for each side of each hinge, and a dot product for each
// parameter. Springs between points, and a rotor that rides on the frame of its hinge, add to it.
//
// Cost: about 300 multiplications for each hinge, and six or ten for each parameter.
#pragma once

#include <vector>

#include "catena/sensitivity/geometry_probe.h"

namespace catena {

class ParameterAdjoint {
 public:
  // The mechanism must outlive it.
  explicit ParameterAdjoint(const Mechanism& mechanism) : m_(mechanism) {}

  // `change`: of the body's spatial inertia, in its own frame, with the parameter.
  void add_inertial(int parameter, int body, const SpatialInertiad& change);
  void add_gravity(int parameter, int component) { gravity_.push_back({parameter, component}); }
  // False if the hinge is none of the tree's (a weld, or locked): then a probe has to serve.
  bool add_geometry(const GeometrySeed& seed);

  // Λ of each node.
  static std::vector<Twistd> spread(const Mechanism& mechanism, const Eigen::VectorXd& x,
                                    const SensitivityWorkspace& workspace);
  // gradient[parameter] += ... at the point whose columns (and accelerations) the workspace holds.
  void add(const State& state, const Eigen::VectorXd& x, const std::vector<Twistd>& lambda,
           const SensitivityWorkspace& workspace, Eigen::VectorXd& gradient) const;

 private:
  struct Inertial {
    int parameter = 0;
    int body = 0;
    SpatialInertiad change;
  };
  struct Gravity {
    int parameter = 0;
    int component = 0;
  };
  // A small twist, in the frame of a body, of what is outboard of a side of a node's hinge.
  struct Geometry {
    int parameter = 0;
    int node = 0;
    bool outer = false;  // side of the hinge: that of the node, else of its parent
    int body = -1;       // −1: the world
    Twistd twist;
    int screw = -1;  // the freedom whose pitch it is
  };
  // What is outboard of a side, about the reference point.
  struct Outboard {
    Wrenchd momentum;  // Σ x momentum
    Vec3d turning;     // Σ x turning
    Wrenchd by_shift;  // of ends of springs: by a small twist, and by the velocity of one
    Wrenchd by_speed;
  };
  struct Side {
    Wrenchd q, v, a;  // W by coordinate, speed and acceleration
    Wrenchd force;    // of what is outboard
  };
  void add_springs(const std::vector<Twistd>& lambda, const SensitivityWorkspace& w,
                   std::vector<Outboard>& sums) const;
  Side side_of(int node, bool outer, const State& state, const Eigen::VectorXd& x,
               const std::vector<Twistd>& lambda, const SensitivityWorkspace& w,
               const std::vector<Outboard>& inner, const std::vector<Outboard>& outer_sums) const;

  const Mechanism& m_;
  std::vector<Inertial> inertial_;  // body by body
  std::vector<Gravity> gravity_;
  std::vector<Geometry> geometry_;  // side by side
  bool screws_ = false;             // some of it is a pitch
};

}  // namespace catena
