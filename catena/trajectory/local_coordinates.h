// SPDX-License-Identifier: BSD-3-Clause
// The coordinates of a closed mechanism that motions are differentiated in: as many as it has
// independent freedoms, and their velocities.
//
// For a freedom with a coordinate of its own that coordinate is it. A rotation by quaternion is
// counted from a reference rotation by twice its Rodrigues vector,
//
//   q = q_reference (1, θ/2) / |.|,   θ̇ = G(θ) ω,   G = 1 + ½ [θ] + ¼ θ θᵀ
//
// which is near ω where θ is small, and polynomial; a free hinge adds its position. The entries
// that belong to independent freedoms are coordinates, and the loops are closed for the others by
// Newton's method. So also where of a spherical hinge in a loop only some freedoms are
// independent, which simulation/coordinates/closed_coordinates.h has no independent coordinates
// for. The reference moves with the motion, and the independent freedoms may change from step to
// step.
//
// Small changes. Let ξ be one of the state as tangent directions of all freedoms, ξ = X δ with δ at
// the independent ones, and η one of the reference. Then at the independent freedoms
//
//   G ξ = dθ + G A η,     A = C(θ)ᵀ: the turn of the reference, seen from the body
//
// and with K the rows of G X there, K δ = dθ + G A η. Ordinary freedoms: G = 1 and A = 0; positions
// of a free hinge: G = R and A = 0. The functions below are the transposes.
#pragma once

#include <memory>

#include <Eigen/Core>

#include "catena/closure/loop_closure.h"
#include "catena/dynamics/workspace.h"
#include "catena/simulation/coordinates/coordinates.h"

namespace catena {

class LocalCoordinates final : public Coordinates {
 public:
  // `state` is closed; `pinned` marks freedoms that stay independent, empty: none.
  LocalCoordinates(const Mechanism& mechanism, const State& state,
                   std::vector<std::uint8_t> pinned);

  int size() const override { return 2 * states(); }
  std::string name(int entry) const override;
  void begin(const State& state) override;
  void pack(const State& state, std::span<double> y) const override;
  void at(std::span<const double> y, Instant& instant) override;
  void rate(const State& state, const Eigen::VectorXd& acceleration,
            std::span<double> dy) const override;
  void prescribe(int freedom, double position, double velocity, std::span<double> y) const override;
  // Loops are closed from here on starting at this instant. Changed: independent freedoms, or the
  // reference, are others now.
  Accepted accept(const Instant& instant) override;
  double closure_residual(const State& state) const override;
  const Chart* chart() const override { return chart_.get(); }

  int states() const { return static_cast<int>(independent_.size()); }
  const std::vector<int>& independent() const { return independent_; }
  bool has_turns() const { return !turning_.empty(); }
  // A point from which a motion can continue: the state that was accepted last, which becomes the
  // reference.
  struct Place {
    State state;
    std::shared_ptr<const Chart> chart;
  };
  Place place() const { return {last_, chart_}; }
  void restore(const Place& place);
  void refer_to(const State& state);
  // Starting position for closing the loops; the coordinates stay.
  void start_from(const State& state);

  // Gradients, vectors of all freedoms unless they are said to be of the independent ones. Gradient
  // of the rates of the first half of y, with weights `lambda` (y), by positions, velocities and
  // the reference.
  void add_rates(const State& state, const Eigen::VectorXd& lambda, Eigen::VectorXd& q_bar,
                 Eigen::VectorXd& v_bar, Eigen::VectorXd& reference_bar) const;
  // By the first half of y from that by tangent directions δ, both of the independent freedoms. The
  // workspace holds X at the state.
  Eigen::VectorXd by_coordinates(const State& state, const Eigen::VectorXd& by_tangent,
                                 const Workspace& workspace) const;
  // By tangent directions of all freedoms, of which those are read that X leads to: Gᵀ.
  Eigen::VectorXd by_tangent(const State& state, const Eigen::VectorXd& by_coordinates) const;
  // By the reference: Aᵀ Gᵀ.
  Eigen::VectorXd by_reference(const State& state, const Eigen::VectorXd& by_coordinates) const;
  // Drops the gradient by θ, which starts at zero if the reference moves with every step.
  void drop_turns(Eigen::VectorXd& lambda) const;

 private:
  struct Loop {
    LoopClosure closure;
    std::vector<int> rows;      // of the closure equations that the chart uses
    std::vector<int> freedoms;  // of the columns in order: dependent, then independent
    std::vector<int> columns;
    Eigen::MatrixXd map;  // how dependent coordinates follow independent ones where it was accepted
  };
  void use(const Chart& chart);
  Eigen::VectorXd local(const Eigen::VectorXd& q) const;  // coordinates of all freedoms
  void place_at(const Eigen::VectorXd& x, Eigen::VectorXd& q) const;
  void apply_inverse_g(const Eigen::VectorXd& x, const Eigen::VectorXd& q, Eigen::MatrixXd& rows,
                       const Loop& loop) const;
  Eigen::MatrixXd matrix_k(const State& state, const Workspace& workspace) const;
  // Rows of velocities times G⁻¹, in the order dependent, independent.
  void split(const Loop& loop, const Eigen::MatrixXd& rows, Eigen::MatrixXd& dependent,
             Eigen::MatrixXd& independent) const;
  void close(Loop& loop, Eigen::VectorXd& x, Eigen::VectorXd& q) const;
  void set_velocities(State& state) const;
  Vec3d turn_of(const Node& node, const Eigen::VectorXd& q) const;

  const Mechanism& m_;
  std::vector<std::uint8_t> pinned_;
  std::shared_ptr<const Chart> chart_;
  std::vector<int> independent_;
  std::vector<const Node*> turning_;  // with quaternions
  std::vector<Loop> loops_;
  State reference_, last_;
  Eigen::VectorXd last_local_;
};

}  // namespace catena
