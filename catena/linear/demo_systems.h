// SPDX-License-Identifier: BSD-3-Clause
// Small systems to try things on, in SI units, with named signals.
#pragma once

#include "catena/linear/second_order.h"
#include "catena/linear/state_space.h"

namespace catena::demo {

// DC motor: voltage to shaft speed and angle, with armature inductance.
struct DcMotorSettings {
  double resistance = 1.0;        // Ω
  double inductance = 0.5;        // H
  double torque_constant = 0.01;  // N m/A, and V s/rad
  double inertia = 0.01;          // kg m²
  double friction = 0.1;          // N m s/rad
};
StateSpace dc_motor(const DcMotorSettings& settings = {});

// Two masses with a spring and a damper between: force on the first, positions of both. One
// rigid-body mode, one flexible mode at √(k (1/m1 + 1/m2)).
struct DoubleMassSettings {
  double m1 = 1.0, m2 = 1.0;  // kg
  double stiffness = 100.0;   // N/m
  double damping = 1.0;       // N s/m
};
StateSpace double_mass(const DoubleMassSettings& settings = {});

// Cantilever (Euler-Bernoulli) of cubic finite elements: force and displacement at the tip,
// structural damping as a ratio of each mode.
struct BeamSettings {
  int elements = 20;
  double length = 1.0;           // m
  double bending = 1.0;          // E I, N m²
  double mass_per_length = 1.0;  // kg/m
  double damping = 0.005;
};
SecondOrder beam(const BeamSettings& settings = {});
// Its lowest modes as a system.
StateSpace flexible_beam(int modes = 8, const BeamSettings& settings = {});

// Pendulum upright on a cart: force to position and angle. Unstable.
struct CartPendulumSettings {
  double cart = 0.5, pendulum = 0.2;  // kg
  double length = 0.3;                // m, to the centre of mass
  double inertia = 0.006;             // kg m², about it
  double friction = 0.1;              // N s/m, of the cart
  double gravity = 9.80665;
};
StateSpace cart_pendulum(const CartPendulumSettings& settings = {});

// k e^{−s delay}/(τ s + 1).
StateSpace lag_with_delay(double gain = 1.0, double time_constant = 1.0, double delay = 0.5);

// Lightly damped modes with random frequencies (logarithmic from 0.1 to 100 rad/s) in mixed
// coordinates, as in the benchmarks. Same seed, same system.
StateSpace random_structure(unsigned seed, int modes, int inputs, int outputs,
                            double damping = 0.01);

}  // namespace catena::demo
