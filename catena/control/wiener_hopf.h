// SPDX-License-Identifier: BSD-3-Clause
// Wiener-Hopf (H2) design on frequency samples: no state-space model of the plant is needed, so
// that distributed structures and measured responses serve as they are [Bennett 1989].
//
//   y = d + noise + (plant in the loop),  e = d − G u,  u = C y;  cost E|e|² + μ E|u|²
//   Λ~Λ = G~G + μ,  Ω Ω~ = Φ_d + Φ_n,  R = Λ⁻¹ {Λ~⁻¹ G~ Φ_d Ω~⁻¹}₊ Ω⁻¹,  C = R (1 − G R)⁻¹
//
//   const SampledDesign design = wiener_hopf(plant, disturbance, noise, 0.1, {.nodes = 4096});
//   design.controller_samples, design.cost, design.winding
//
// Samples lie at ω_k = a tan(θ_k/2), θ_k = 2π (k + ½)/N: the bilinear map makes causal functions
// power series in z⁻¹, so that {·}₊ is a Fourier transform. Narrow peaks need nodes: resonances
// must be wider than the spacing near them (`largest_turn` tells).
//
// Unstable plants and integrators enter by coprime factors, G = N M⁻¹ = M̃⁻¹ Ñ with M̃ V + Ñ U = 1.
// Every stabilizing controller is C = (U + M Q)(V − N Q)⁻¹ with Q stable, R = (U + M Q) M̃, and
//
//   Λ~Λ = N~N + μ M~M,  Ω Ω~ = M̃ (Φ_d + Φ_n) M̃~,
//   Λ Q Ω = {Λ~⁻¹ (N~ Φ_d − (N~ G + μ M~) U M̃ (Φ_d + Φ_n)) M̃~ Ω~⁻¹}₊.
//
//   const PlantFactors factors = plant_factors(plant);
//   const SampledDesign design = wiener_hopf(factors, disturbance, noise, 0.1);
//   const RealizedDesign k = realize(plant, factors, design);   // AAA; k.controller, k.stable
//
// The realization fits Q, so that the loop is stable whatever the error of the fit.
#pragma once

#include <functional>
#include <vector>

#include <Eigen/Core>

#include "catena/control/rational_fit.h"
#include "catena/linear/state_space.h"

namespace catena {

// A frequency response ω ↦ matrix, ω ≥ 0 in rad/s.
using ResponseFunction = std::function<Eigen::MatrixXcd(double)>;

struct SampleGrid {
  int nodes = 4096;               // on the whole circle, a power of two
  double scale = 1.0;             // a, rad/s: half of the nodes lie below it
  double frequency(int k) const;  // of node k of the upper half, k < nodes/2
};

// Samples of the upper half circle; the lower half is their conjugate.
using Samples = std::vector<Eigen::MatrixXcd>;
Samples sampled(const ResponseFunction& response, const SampleGrid& grid);

// The causal part. constant_half: half of the constant stays (spectral factors); otherwise the part
// vanishes at infinite frequency, as that of a strictly proper function does.
enum class ConstantPart { half, strictly_proper, whole };
Samples causal_part(const Samples& samples, ConstantPart constant);

// F with F~F = H on the axis, F and F⁻¹ causal. Scalar: exp of the causal part of the logarithm.
// Matrix: Newton's iteration from the scalar factors of the diagonal [Wilson 1972; Davis &
// Dickinson 1983]. Throws NumericalError if H is not positive definite at a node, naming the
// frequency.
struct SpectralFactor {
  Samples factor{};
  std::vector<double> residuals{};  // max ‖F⁻~ H F⁻¹ − 1‖ after each step
};
SpectralFactor spectral_factor(const Samples& h);

// Taps c_l of Σ c_l ((a − s)/(a + s))^l for one entry; those of a causal function vanish for l < 0.
Eigen::VectorXd taps(const Samples& samples, Eigen::Index row, Eigen::Index column, int count);
// The same series as a state-space system of order `count` − 1 times the inputs (reduce() shortens
// it; rational_fit() finds one of low order directly).
StateSpace realization(const Samples& samples, const SampleGrid& grid, int count);

struct SampledDesign {
  SampleGrid grid{};
  Samples R{}, controller_samples{};
  Samples Q{};  // the free parameter; R for designs on a stable plant itself
  double error_power = 0.0, control_power = 0.0, cost = 0.0;  // E|e|², E|u|², sum with μ
  // Encirclements of 0 by det(1 − G R)⁻¹ = det(1 + G C), ω from −∞ to ∞, poles of the plant on the
  // axis passed on the right. The loop is stable if they equal the unstable poles of plant and
  // controller.
  int winding = 0;
  int controller_unstable_poles = 0;  // zeros of det(V − N Q) in the right half plane
  double largest_turn =
      0.0;  // of the phase between neighbours, rad: above 1 the grid is too coarse
  double factor_residual = 0.0;
};
SampledDesign wiener_hopf(const ResponseFunction& plant, const ResponseFunction& disturbance,
                          const ResponseFunction& noise, double mu, const SampleGrid& grid = {});

// Samples of the factors at any frequency. `together` is [M U; −N V] of the state-space route,
// empty if the factors were given by functions.
struct PlantFactors {
  ResponseFunction M{}, N{}, U{}, V{}, M_left{};
  int unstable_poles = 0, axis_poles = 0;  // of the plant
  StateSpace together{};
};
// Normalized factors by two Riccati equations; throws NumericalError with the reason where the
// plant is not stabilizable or not detectable. Continuous.
PlantFactors plant_factors(const StateSpace& plant);
SampledDesign wiener_hopf(const PlantFactors& plant, const ResponseFunction& disturbance,
                          const ResponseFunction& noise, double mu, const SampleGrid& grid = {});

// C for a stable Q.
StateSpace controller_of(const PlantFactors& plant, const StateSpace& Q);
struct RealizedDesign {
  StateSpace controller{};
  RationalFit fit{};          // of Q
  bool stable = false;        // every pole of the loop, from its matrices
  double slowest_pole = 0.0;  // largest real part
};
RealizedDesign realize(const StateSpace& plant, const PlantFactors& factors,
                       const SampledDesign& design, const RationalFitSettings& settings = {});

}  // namespace catena
