// SPDX-License-Identifier: BSD-3-Clause
// Bodies on free joints in a step of time-stepping (time_stepping.h). The midpoint rule in the axes
// of a body that spins misses its momentum in space: the velocity v of the mass centre by
// (h ω)³ v/12 in a step, its way by (h ω)² h v/6, and so the work of gravity. Here both are those
// of the rule in fixed axes,
//
//   R₁ v₁ = R₀ v₀ + R̄ h f,    x₁ = x₀ + h (R₀ v₀ + R₁ v₁)/2,     R₁ = R₀ exp(h ω̄), R̄ = R₀ exp(h
//   ω̄/2)
//
// so that free flight keeps momentum, and energy to rounding: the parabola is exact, and the
// midpoint rule keeps the energy of rotation. For single bodies; trees move by the midpoint rule.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "catena/model/mechanism.h"

namespace catena {

class FreeFlight {
 public:
  explicit FreeFlight(const Mechanism& mechanism);

  // Adds the efforts that change what the midpoint rule gives in the axes of the bodies to what it
  // gives in fixed axes, for a step h that ends with v1.
  void add_efforts(double h, const Eigen::VectorXd& v0, const Eigen::VectorXd& v1,
                   Eigen::VectorXd& efforts) const;

  // The position at the part s of a step h from (q0, v0) that ends with v1.
  Eigen::VectorXd position(double h, double s, const Eigen::VectorXd& q0, const Eigen::VectorXd& v0,
                           const Eigen::VectorXd& v1) const;

 private:
  struct Body {
    int q = 0, v = 0;  // first coordinate and freedom
    double mass = 0.0;
    Vec3d center{};  // of mass, in the body's frame
  };
  const Mechanism& mechanism_;
  std::vector<Body> bodies_;
};

}  // namespace catena
