// SPDX-License-Identifier: BSD-3-Clause
// The largest gain of a system in modal form, with an upper bound over every frequency that needs
// no Hamiltonian matrix. Not installed.
//
// With A = T Λ T⁻¹ the response is a sum of first-order terms, G(jω) = D + Σ c_k b_kᵀ/(jω − λ_k),
// and on an interval of centre ω0 and radius r, δ = ω − ω0,
//
//   G = G0 + G1 δ + rest,   ‖rest‖ ≤ r² Σ ‖c_k‖ ‖b_k‖ / (|jω0 − λ_k|² dist(λ_k, interval)).
//
// σ_max(G0 + G1 δ) is convex in δ, so its largest value is at one end. An interval where that and
// the rest stay below the level is done; every other one is halved. From some frequency on the same
// is done in 1/ω, so that the axis is covered to infinity. Intervals shrink in proportion to their
// distance from a peak, so that a peak costs some ten of them for each power of ten of the
// tolerance. In all: the eigenvectors, 25 n³, against 100 n³ for one Hamiltonian matrix.
#pragma once

#include <optional>
#include <vector>

#include <Eigen/Core>

#include "catena/control/norms.h"

namespace catena {

class ModalPeak {
 public:
  // Continuous, without E and delays. `usable` tells whether the modal form is that of A to
  // rounding, with no pole on the axis.
  explicit ModalPeak(const StateSpace& system);

  bool usable() const { return usable_; }
  const Eigen::VectorXcd& poles() const { return poles_; }

  // The peak with its certificate; nothing if the bound needs too many intervals, or if the system
  // itself has another gain at the peak found.
  std::optional<PeakGain> peak(double tolerance) const;

 private:
  // of ω, or of v = 1/ω where `reciprocal`
  struct Interval {
    double centre, radius;
    bool reciprocal;
  };
  struct Terms {
    Eigen::MatrixXcd value, slope;
    double rest = 0.0;  // of the second order, for radius 1
  };

  Eigen::MatrixXcd response(double omega) const;
  double gain(double omega) const;
  std::vector<double> gains(const std::vector<double>& omega) const;
  std::vector<Terms> terms(const std::vector<Interval>& list) const;
  std::vector<Interval> first_intervals() const;
  void climb(double omega, double width, PeakGain& best) const;
  bool confirmed(const PeakGain& peak, double tolerance) const;

  StateSpace system_;
  Eigen::VectorXcd poles_;
  Eigen::MatrixXd residues_;  // [re −im; im re], one column for each pole, entries of c_k b_kᵀ
  Eigen::VectorXd weight_;    // ‖c_k‖ ‖b_k‖
  Eigen::MatrixXcd feedthrough_;
  double condition_ = 0.0, backward_error_ = 0.0;
  bool usable_ = false;
  mutable int evaluations_ = 0;
};

}  // namespace catena
