// Coordinates: what an integrator sees of a mechanism. It integrates a vector y; the rooms above
// work with a State. This is the seam between the two, and the place where y meets its manifold.
//
// Of a tree y is (q, v), with quaternions as they are: their rate is ½ q (0, ω), unpack() brings
// them back to length one, so that neither their length drifts nor any rotation is singular. Of a
// closed mechanism y holds independent coordinates, and unpack() closes the loops
// (closed_coordinates.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catena/closure/chart.h"
#include "catena/model/mechanism.h"

namespace catena {

class Coordinates {
 public:
  virtual ~Coordinates() = default;

  virtual int size() const = 0;
  // What entry i is, for messages: "q.elbow".
  virtual std::string name(int entry) const = 0;

  // Whether entry i is an angle, which may go round many times.
  virtual bool turns(int /*entry*/) const { return false; }
  // What relative tolerances of entry i refer to at least: of one that is counted from a reference,
  // where it is zero, a size as at any other place.
  virtual double least_size(int /*entry*/) const { return 0.0; }

  // Forgets everything but this state: at the start of a run and at its checkpoints.
  virtual void begin(const State& state) = 0;
  virtual void pack(const State& state, std::span<double> y) const = 0;
  // May project, starting from what `state` holds; throws NumericalError if that fails.
  virtual void unpack(std::span<const double> y, State& state) = 0;
  // A step was made from the state accepted last, at which y was `start`, to `end`, which the last
  // unpack() gave. Until accepted() or begin(), unpack_inside() finds states of this step, at the
  // part `s` of its duration: from both ends, so that it follows the motion that was accepted. It
  // fails only where that motion cannot be seen either.
  virtual void stepped(double /*duration*/, std::span<const double> /*start*/,
                       const State& /*end*/) {}
  virtual void unpack_inside(double /*s*/, std::span<const double> y, State& state) {
    unpack(y, state);
  }
  // Not empty if the last unpack() was so close to a singular position that nothing can be
  // evaluated there: states before and behind it, and their weights in what is interpolated between
  // them. The state itself was found that way, and accelerations are to be.
  struct Side {
    State state;
    double weight = 0.0;
  };
  virtual std::span<const Side> sides() const { return {}; }
  // How far rounding may have moved an entry of these accelerations at the last unpack(), where
  // that is more than usual.
  virtual double noise(const State& /*state*/, const Eigen::VectorXd& /*acceleration*/) const {
    return 0.0;
  }
  // By how much more an error of y is seen in all coordinates and velocities than in y (Ode).
  virtual double spread(std::span<const double> /*y*/, std::span<const double> /*error*/,
                        double /*relative*/, double /*absolute*/) {
    return 1.0;
  }
  // ẏ at a state that unpack() gave.
  virtual void rate(const State& state, const Eigen::VectorXd& acceleration,
                    std::span<double> dy) const = 0;
  // Makes the next unpack() give this position and velocity of a freedom whose motion is
  // prescribed. `position` is not used where the freedom has no coordinate of its own.
  virtual void prescribe(int freedom, double position, double velocity,
                         std::span<double> y) const = 0;

  // Moves a state back onto constraints that these coordinates do not satisfy by themselves.
  virtual void project(State& /*state*/) {}
  virtual void set_constraints(class ConstraintSet* /*constraints*/) {}

  // After each accepted step. True: the coordinates are others now, so y must be packed anew and
  // an integrator must forget what it remembers.
  virtual bool accepted(const State& state) = 0;
  // Whether accepted() changed only what they are counted from.
  virtual bool counts_anew() const { return false; }

  // How far the loops are from being closed.
  virtual double closure_residual(const State& state) const = 0;
  // The independent freedoms in use; null for a tree.
  virtual const Chart* chart() const { return nullptr; }
  // What accepted() changed about them, in words; empty: nothing.
  virtual std::string change() const { return {}; }
};

// By coordinate: 1 for angles.
std::vector<std::uint8_t> turning_coordinates(const Mechanism& mechanism);

// The coordinates that suit a mechanism, which must outlive them, at a state. `pinned` marks the
// freedoms whose motion is prescribed, by freedom; empty: none. `whole`: all coordinates also of a
// closed mechanism, which project() keeps on its constraints.
std::unique_ptr<Coordinates> make_coordinates(const Mechanism& mechanism, const State& state,
                                              std::vector<std::uint8_t> pinned, bool whole = false);

}  // namespace catena
