// SPDX-License-Identifier: BSD-3-Clause
// The coordinates of a closed mechanism: those of the nodes outside loops, the independent ones of
// each loop, and the independent velocities. at() finds the rest (closed_loop.h): positions by
// Newton's method from the tangent predictor
//
//   q_dependent ≈ q_dependent(anchor) + X(anchor) · Δq_independent,
//
// velocities by v = X v_independent. Loops do not drift and need no stabilization. The instant
// keeps X (Instant::maps), so that accelerations do not compute it a second time.
//
// Rotations by quaternion in a loop are counted from a reference rotation (loop_positions.h), which
// accept() moves after the motion.
//
// Where X and accelerations are lost in rounding, next to a singular position, an instant is
// interpolated from before and behind it (closure/singular_passage.h). The rank of the closure
// never drops: that would be another mechanism.
//
// accept() makes another choice of independent freedoms when the present one has become poor
// (closure/chart.h); then multistep integrators restart.
#pragma once

#include <cstdint>
#include <vector>

#include "catena/closure/chart.h"
#include "catena/dynamics/workspace.h"
#include "catena/simulation/coordinates/closed_loop.h"
#include "catena/simulation/coordinates/coordinates.h"

namespace catena {

class ClosedCoordinates final : public Coordinates {
 public:
  // `state` is closed; `pinned` marks freedoms that stay independent (prescribed motions), empty:
  // none.
  ClosedCoordinates(const Mechanism& mechanism, const State& state,
                    std::vector<std::uint8_t> pinned);

  int size() const override;
  std::string name(int entry) const override;
  bool turns(int entry) const override;
  double least_size(int entry) const override;
  void begin(const State& state) override;
  void pack(const State& state, std::span<double> y) const override;
  void at(std::span<const double> y, Instant& instant) override;
  void inside(StepSpan& step, double s, std::span<const double> y, Instant& instant) override;
  void prepare(std::span<const double> y_start, StepSpan& step) override;
  double spread(std::span<const double> y, std::span<const double> error, double relative,
                double absolute) override;
  void rate(const State& state, const Eigen::VectorXd& acceleration,
            std::span<double> dy) const override;
  void prescribe(int freedom, double position, double velocity, std::span<double> y) const override;
  Accepted accept(const Instant& instant) override;
  double closure_residual(const State& state) const override;
  const Chart* chart() const override { return &chart_; }

 private:
  // Where a state is searched: from the anchor, or at the part s of a step.
  struct Place {
    StepSpan* step = nullptr;
    double s = 0.0;
  };
  class Neighbours;

  void check_still_closed(const State& state) const;
  void use(const Chart& chart, const State& state);
  void set_anchor(const Instant& instant);
  void check_turn(const State& state) const;
  [[noreturn]] void stop_at_singular_position(const State& state) const;
  // The state of y moved on by `time` along its velocities, and X there (null: not wanted; none if
  // the chart is singular). Returns the clearance, zero if another branch may have been found.
  double close_at(std::span<const double> y, double time, Place place, State& state,
                  LoopMaps* maps = nullptr);
  // Positions of all loops from the independent ones; false if another branch may have been found.
  bool close_positions(std::span<const double> y, double time, Place place, State& state);
  // Of one loop, into v_.
  void independent_velocities(const ClosedLoop& loop, const State& state);
  void dependent_velocities(const ClosedLoop& loop, const ClosedLoop::Tangent& tangent,
                            State& state);
  // Replaces an instant that was found in place by one between positions to both sides; false if no
  // singular position is passed there, or if that is no better.
  bool interpolate(std::span<const double> y, Place place, Instant& instant);
  std::size_t first_velocity() const { return positions_.size() + turned_.size(); }

  const Mechanism& mechanism_;
  std::vector<std::uint8_t> pinned_;
  std::vector<std::uint8_t> turning_;  // by coordinate
  Chart chart_;
  std::vector<ClosedLoop> loops_;
  // The entries of y: coordinates in q, entries of x that are none, freedoms in v.
  struct Turned {
    std::size_t loop;
    Eigen::Index entry;
  };
  std::vector<int> positions_;
  std::vector<Turned> turned_;
  std::vector<int> velocities_;
  State anchor_;         // last accepted
  Workspace workspace_;  // with chart_: finds X
  // Scratch.
  State near_, off_;                // of spread()
  std::vector<Eigen::VectorXd> x_;  // by loop
  Eigen::VectorXd v_, dependent_;
  mutable Eigen::VectorXd rates_;
};

}  // namespace catena
