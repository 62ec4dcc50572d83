// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface.
// Coulomb friction with the Stribeck effect at a freedom of a hinge. The level falls with the speed
// from breakaway S to sliding C,
//   L(v) = C + (S − C) exp(−(v/v_stribeck)²),
// and friction is one of
//   set-valued    F in [−S, S] while v = 0, −sign(v) L(v) otherwise: simulation, with events
//   regularized   F(v) = −L(v) tanh(v / v_transition): a function of the velocity, used elsewhere.
//
// Plain numbers in, any scalar (scalar.h) through: kernels over packs of states use the same law.
#pragma once

#include <cmath>

#include "catena/spatial/scalar.h"

namespace catena {

struct Friction {
  double sliding = 0.0;               // N or N m
  double breakaway = 0.0;             // at least `sliding`; 0 means the same as `sliding`
  double stribeck_velocity = 0.0;     // m/s or rad/s; 0: no Stribeck effect
  double transition_velocity = 1e-3;  // of the regularization

  bool active() const { return sliding != 0.0 || breakaway != 0.0; }
};

inline namespace CATENA_ISA {

// S, the largest force at rest.
inline double breakaway_level(const Friction& f) {
  return f.breakaway > f.sliding ? f.breakaway : f.sliding;
}

// exp(−(v/v_stribeck)²): the part of S − C that is left at speed v. 0 without the Stribeck effect.
template <class Scalar>
inline Scalar stribeck_part(const Friction& f, const Scalar& v) {
  using std::exp;
  if (!(f.stribeck_velocity > 0.0)) return Scalar(0.0);
  const Scalar ratio = v / Scalar(f.stribeck_velocity);
  return exp(-(ratio * ratio));
}

// L(v), without the sign.
template <class Scalar>
inline Scalar sliding_level(const Friction& f, const Scalar& v) {
  return Scalar(f.sliding) + Scalar(breakaway_level(f) - f.sliding) * stribeck_part(f, v);
}

template <class Scalar>
struct RegularizedFriction {
  Scalar force;
  Scalar slope;  // dF/dv
};
template <class Scalar>
inline RegularizedFriction<Scalar> regularized_friction(const Friction& f, const Scalar& v) {
  using std::tanh;
  const Scalar excess = Scalar(breakaway_level(f) - f.sliding) * stribeck_part(f, v);
  const Scalar level = Scalar(f.sliding) + excess;
  Scalar level_slope(0.0);
  if (f.stribeck_velocity > 0.0) {
    const Scalar ratio = v / Scalar(f.stribeck_velocity);
    level_slope = Scalar(-2.0) * ratio / Scalar(f.stribeck_velocity) * excess;
  }
  const Scalar t = tanh(v / Scalar(f.transition_velocity));
  return {-(level * t),
          -(level_slope * t) - level * (Scalar(1.0) - t * t) / Scalar(f.transition_velocity)};
}

// F(v).
inline double friction_force(const Friction& f, double v) {
  return regularized_friction(f, v).force;
}
// dF/dC with S fixed, or along S = C where breakaway is no higher.
inline double friction_by_sliding(const Friction& f, double v) {
  const double share = f.breakaway > f.sliding ? 1.0 - stribeck_part(f, v) : 1.0;
  return -share * std::tanh(v / f.transition_velocity);
}

}  // namespace CATENA_ISA
}  // namespace catena
