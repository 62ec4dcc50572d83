// SPDX-License-Identifier: BSD-3-Clause
// Coordinates: the interface between integrators, which integrate a vector y, and the rest of the
// simulation, which uses a State. at() converts y to a state on its manifold.
//
// Of a tree y is (q, v), with quaternions as they are: their rate is ½ q (0, ω), at() brings them
// back to length one, so that neither their length drifts nor any rotation is singular. Of a closed
// mechanism y holds independent coordinates, and at() closes the loops (closed_coordinates.h).
//
// The result at a y is a value, an Instant (instant.h). Between calls the coordinates keep the
// choice of independent coordinates and the anchor, the instant that was accepted last, which
// determines the branch of the mechanism. Both change in begin() and accept() only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catena/closure/chart.h"
#include "catena/model/mechanism.h"
#include "catena/simulation/coordinates/instant.h"

namespace catena {

class ConstraintSet;

class Coordinates {
 public:
  virtual ~Coordinates() = default;

  virtual int size() const = 0;
  // Name of entry i for messages: "q.elbow".
  virtual std::string name(int entry) const = 0;

  // Whether entry i is an angle, which may go round many times.
  virtual bool turns(int /*entry*/) const { return false; }
  // The least size that relative tolerances of entry i refer to: of an entry that is counted from a
  // reference, where it is zero, a size as at any other place.
  virtual double least_size(int /*entry*/) const { return 0.0; }

  // Makes this state the anchor, without other history: at the start of a run and at its
  // checkpoints.
  virtual void begin(const State& state) = 0;
  virtual void pack(const State& state, std::span<double> y) const = 0;

  // The instant of a y, all but its time. Throws NumericalError if there is none near the anchor.
  virtual void at(std::span<const double> y, Instant& instant) = 0;
  // The same within a step, at the part s of its duration: from both ends, so that it follows the
  // motion that was accepted. It fails only where that motion cannot be evaluated either.
  virtual void inside(StepSpan& /*step*/, double /*s*/, std::span<const double> y,
                      Instant& instant) {
    at(y, instant);
  }
  // Prepares a step whose times and last instant are given for inside(). It begins at the anchor,
  // with `y_start` there (velocities may have jumped since it was accepted).
  virtual void prepare(std::span<const double> /*y_start*/, StepSpan& /*step*/) {}

  // Error amplification: the norm of an error of y in all coordinates and velocities over that in y
  // (Ode).
  virtual double spread(std::span<const double> /*y*/, std::span<const double> /*error*/,
                        double /*relative*/, double /*absolute*/) {
    return 1.0;
  }
  // ẏ at a state that at() gave.
  virtual void rate(const State& state, const Eigen::VectorXd& acceleration,
                    std::span<double> dy) const = 0;
  // Makes at() give this position and velocity of a freedom whose motion is prescribed. `position`
  // is not used where the freedom has no coordinate of its own.
  virtual void prescribe(int freedom, double position, double velocity,
                         std::span<double> y) const = 0;

  // Moves a state back onto constraints that these coordinates do not satisfy by themselves.
  virtual void project(State& /*state*/) {}
  virtual void set_constraints(ConstraintSet* /*constraints*/) {}

  // Result of accept().
  struct Accepted {
    bool changed = false;     // y has changed: it must be packed again
    bool recounted = false;   // and only what it is counted from changed; else an integrator must
                              // forget what it remembers
    std::string change = {};  // of the independent freedoms, in words; empty: nothing
  };
  // Makes an instant the anchor, after each accepted step.
  virtual Accepted accept(const Instant& instant) = 0;

  // Residual of the loops.
  virtual double closure_residual(const State& state) const = 0;
  // The independent freedoms in use; null for a tree.
  virtual const Chart* chart() const { return nullptr; }
};

// By coordinate: 1 for angles.
std::vector<std::uint8_t> turning_coordinates(const Mechanism& mechanism);

// The coordinates that suit a mechanism, which must outlive them, at a state. `pinned` marks the
// freedoms whose motion is prescribed, by freedom; empty: none. `whole`: all coordinates also of a
// closed mechanism, which project() keeps on its constraints.
std::unique_ptr<Coordinates> make_coordinates(const Mechanism& mechanism, const State& state,
                                              std::vector<std::uint8_t> pinned, bool whole = false);

}  // namespace catena
