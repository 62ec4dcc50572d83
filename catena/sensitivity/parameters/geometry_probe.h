// SPDX-License-Identifier: BSD-3-Clause
// Exact derivatives by the geometry of hinges: their places and orientations on their bodies, their
// axes and pitches.
//
// A hinge that is moved or turned on its body behaves as if a prismatic or revolute hinge at rest
// stood between them. So the mechanism is made once more with such probes beside its hinges, with
// massless bodies in between, and the derivative by the parameter is that by the coordinate of the
// probe: the derivatives by q cover loads, drives, springs and closed loops. The seeds of [Sohl &
// Bobrow 2001] are these:
//
//   position of the frame on the parent   slide along the parent's axis
//   rotation of that frame                turn about the frame's axis
//   position on the child                 slide the other way, on the child's side
//   axis w towards e                      turn by w × e on the parent's side and back on the
//                                         child's: R exp(w q) R⁻¹ = exp((R w) q)
//   pitch of a screw                      slide by ε q along the axis: its coordinate, speed and
//                                         acceleration all change, and its force acts at the screw
//   coefficient of q in a coupling        a slide that moves nothing is one more term of it
//                                         and is at ε q, as with the pitch
//   constant of a coupling                such a slide at −ε
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catena/sensitivity/forward_derivatives.h"

namespace catena {

enum class GeometryKind { position, rotation, child_position, axis, pitch, coefficient, constant };

struct GeometrySeed {
  GeometryKind kind = GeometryKind::position;
  int hinge = 0;        // or coupling
  int entry = 0;        // component, or term of the coupling
  int parameter = 0;    // number of the parameter, for the caller
  std::string name;     // for messages
  double factor = 1.0;  // of the parameter in the changed coefficient (a coupling's)
};

// Whether probes can stand for it: not where a rotor rides on some distant body with the axis of
// this hinge for its own.
bool can_be_probed(const Mechanism& mechanism, const GeometrySeed& seed);

class DynamicsProducts;

// A gradient by positions (tangent directions), velocities and accelerations of all freedoms of a
// closed mechanism.
struct LoopGradient {
  Eigen::VectorXd q, v, acceleration;
};

class GeometryProbe {
 public:
  // The mechanism must outlive it.
  GeometryProbe(const Mechanism& mechanism, std::vector<GeometrySeed> seeds);

  const std::vector<GeometrySeed>& seeds() const { return seeds_; }

  // One column for each seed, rows the freedoms `own` (the independent ones of a closed mechanism,
  // which keep their coordinates): efforts of inverse dynamics at this acceleration ...
  Eigen::MatrixXd effort(const State& state, const Eigen::VectorXd& acceleration,
                         const std::vector<int>& own,
                         std::span<const ExternalWrench> external) const;
  // ... and accelerations and efforts that hybrid dynamics finds. Of a closed mechanism also
  // positions and velocities of all freedoms, the independent ones held.
  struct Hybrid {
    Eigen::MatrixXd acceleration, effort;
    Eigen::MatrixXd position, velocity;
  };
  Hybrid hybrid(const State& state, const HybridInput& input, const std::vector<int>& own,
                std::span<const ExternalWrench> external) const;
  // Of a tree: the gradient of multiplierᵀ effort by each seed, in O(N).
  Eigen::VectorXd adjoint(const State& state, const Eigen::VectorXd& acceleration,
                          const Eigen::VectorXd& multiplier) const;
  // Of a closed mechanism, whose independent freedoms are `own`: of multiplierᵀ (effort that its
  // spanning tree needs less the given one), and of the quantity with the gradient `by`. The
  // scratch is made at the first call.
  Eigen::VectorXd loop_adjoint(const State& state, const Eigen::VectorXd& acceleration,
                               const Eigen::VectorXd& effort, const LoopGradient& by,
                               const Eigen::VectorXd& multiplier, const std::vector<int>& own,
                               std::unique_ptr<DynamicsProducts>& scratch) const;

 private:
  struct Term {
    int hinge = 0;  // of the probed mechanism
    int seed = 0;
    double factor = 1.0;  // of the parameter in the coordinate
  };
  State placed(const State& state) const;
  Eigen::VectorXd spread(const Eigen::VectorXd& x) const;
  int freedom(const Term& term) const;  // of the probe
  int screw(const Term& term) const;    // the freedom whose pitch or coefficient it is
  void pin(const State& at, const std::vector<int>& own, Workspace& workspace) const;

  const Mechanism& m_;
  std::vector<GeometrySeed> seeds_;
  std::vector<Term> terms_;
  std::unique_ptr<const Mechanism> probed_;
  std::vector<int> freedom_of_;  // by freedom of the mechanism: that of the probed one
};

}  // namespace catena
