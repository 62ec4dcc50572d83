// SPDX-License-Identifier: BSD-3-Clause
// The differential-algebraic form of a mechanism through SUNDIALS' IDA: all coordinates of the
// tree, multipliers as unknowns, nothing eliminated. A cross-check of the other integrators that
// shares neither forward dynamics nor projection with them, and for teaching (Gear, Gupta &
// Leimkuhler's stabilized index 2; Schwertassek, Führer & Rulka: every residual in O(N)).
//
//   q̇ = N(q) (v + Jᵀ μ)                  M v̇ + C(q, v) − τ − Jᵀ λ = 0
//   Φ(q) = 0                              J v = 0
//
// The unknowns are the integrals of λ and μ: impulses, which rounding does not disturb however
// short the step is. λ itself would have the rounding of a velocity over the step, and IDA's first
// steps at tight tolerances are so short that its iteration would not settle. (Gear's reduction of
// the index: multipliers are derivatives.)
//
// The residual of the motion is inverse dynamics, one sweep each way. Of dependent rows only
// independent ones are kept, chosen when the integrator starts; the multipliers of the others are
// zero. Jacobians by differences: fine for some dozen freedoms, slow beyond.
//
// With the absolute form of a mechanism (constraints/absolute_form.h) these are the equations in
// absolute coordinates.
#pragma once

#include <memory>

#include "catena/simulation/equations.h"

namespace catena {

std::unique_ptr<Integrator> make_ida(Equations& equations, const IntegratorSettings& settings);

}  // namespace catena
