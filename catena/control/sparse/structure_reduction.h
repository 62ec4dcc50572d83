// SPDX-License-Identifier: BSD-3-Clause
// Reduction of large sparse structures M q̈ + D q̇ + K q = B u, y = Cq q + Cv q̇ (10⁵ states and
// more).
//
//   modal          the modes that matter most in the band, and static correction: the shapes
//                  K⁻¹ [B Cᵀ] beyond those modes as further coordinates. A structure again, so the
//                  result is stable and passive as the original is.
//   balanced       balanced truncation of low-rank Gramian factors by the ADI iteration [Benner,
//                  Kürschner & Saak 2013], shifts at the poles of the band; what is truncated stays
//                  as its static response.
//   interpolation  IRKA: tangential Hermite interpolation at the mirror images of the reduced
//                  poles, repeated until they stand still [Gugercin, Antoulas & Beattie 2008].
//
// balanced and interpolation may end with an unstable system; the certificate says so.
//
//   const StructureReduction r = reduce(boom, {.order = 60, .highest = 30.0});
//   r.system, r.error.between, r.error.frequency
//
// Rigid modes are split off and kept; M, D, K must be symmetric, M positive definite, K
// semidefinite. The error is sampled with sparse factorizations of the full model at the modes of
// the band and between them, refined where it is largest. Between samples it is estimated, not
// bounded: the product of error and nearby poles is interpolated by values and derivatives, and the
// grid is refined until a sample where the estimate is largest agrees with it.
#pragma once

#include <vector>

#include "catena/control/certificate.h"
#include "catena/linear/second_order.h"
#include "catena/linear/state_space.h"

namespace catena {

enum class StructureMethod { modal, balanced, interpolation };

struct StructureReductionSettings {
  StructureMethod method = StructureMethod::modal;
  int order = 60;           // states of the result, rigid modes included
  double highest = 0.0;     // rad/s: end of the band; 0: at the mode that is order/3 from below
  double lowest = 0.0;      // rad/s: begin of the band
  int samples = 80;         // most samples of the error; 0: none
  int iterations = 12;      // most of IRKA
  double tolerance = 1e-3;  // of the relative error in the certificate
};

struct StructureError {
  double relative = 0.0;   // largest σ_max(G − Gr)/σ_max(G) at the samples
  double frequency = 0.0;  // rad/s, where
  double absolute = 0.0;   // largest σ_max(G − Gr) at the samples
  double between = 0.0;    // the largest relative error, estimated between samples
  double between_frequency = 0.0;
  bool settled = false;           // the last sample agreed with the estimate before it to 20 %
  double backward_error = 0.0;    // of the sparse solutions, the largest
  std::vector<double> samples{};  // rad/s, ascending
};

struct StructureReduction {
  StateSpace system{};
  double lowest = 0.0, highest = 0.0;  // the band, rad/s
  int modes_in_band = 0, rigid = 0;
  Eigen::VectorXd frequencies{};  // of the modes that were looked at, rad/s
  Eigen::VectorXd sigma{};  // balanced: Hankel values; modal: the largest gain of each mode in band
  int iterations = 0;       // ADI steps, IRKA rounds
  StructureError error{};
  // First frequency at which σ_max(G − Gr) exceeds σ_min(Gr), estimated between samples; infinite:
  // not in the band.
  double robust_frequency = 0.0;
  Certificate certificate{};
};

StructureReduction reduce(const SecondOrder& structure, const StructureReductionSettings& settings);

// The frequency response of the full structure by one sparse factorization for each frequency.
std::vector<Eigen::MatrixXcd> structure_response(const SecondOrder& structure,
                                                 const std::vector<double>& omega);

}  // namespace catena
