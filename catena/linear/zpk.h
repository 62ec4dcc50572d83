// SPDX-License-Identifier: BSD-3-Clause
// Transfer functions by zeros, poles and gain: k Π(s − z)/Π(s − p), of a single channel or a matrix
// of them. No polynomial is ever formed, so orders of hundreds keep their digits.
//
//   const Zpk notch = zpk({{-0.1, 10.0}, {-0.1, -10.0}}, {{-5.0, 9.0}, {-5.0, -9.0}}, 1.0);
//   const StateSpace g = state_space(notch);             // sections of first and second order
//   const Zpk entry = zpk_entry(plant, 0, 1);                 // of output 0 from input 1
//   const Zpk pid = tf({2.0, 1.0}, {1.0, 10.0});         // (2 s + 1)/(s + 10), for hand-written
//   orders
#pragma once

#include <complex>
#include <vector>

#include <Eigen/Core>

#include "catena/linear/state_space.h"

namespace catena {

struct Zpk {
  std::vector<std::complex<double>> zeros{}, poles{};  // complex ones in conjugate pairs
  double gain = 1.0;
  double dt = 0.0;
  double delay = 0.0;  // s

  // The value at s (z of a sampled one).
  std::complex<double> at(std::complex<double> s) const;
  // Throws Error if a complex zero or pole has no conjugate, or a number is not finite.
  void validate() const;
};
using TransferFunction = Zpk;

Zpk zpk(const std::vector<std::complex<double>>& zeros,
        const std::vector<std::complex<double>>& poles, double gain, double dt = 0.0);
// From coefficients of numerator and denominator, highest power first. For orders written by hand;
// roots of high orders lose digits.
Zpk tf(const std::vector<double>& numerator, const std::vector<double>& denominator,
       double dt = 0.0);

// Of one channel of a system: minimal realization, poles and zeros by eigenvalues, the gain by the
// value at a point away from both.
Zpk zpk_entry(const StateSpace& system, int output, int input);
Zpk zpk(const StateSpace& system);  // SISO

// A cascade of sections of first and second order, each pole with the zeros nearest to it. With
// more zeros than poles it is a descriptor system (two states for each zero too many).
StateSpace state_space(const Zpk& transfer);

Zpk series(const Zpk& a, const Zpk& b);
Zpk inverse(const Zpk& a);  // without delay

// A matrix of transfer functions.
struct TransferMatrix {
  int output_count = 0, input_count = 0;
  std::vector<Zpk> entries{};  // by columns (inputs)
  std::vector<std::string> inputs{}, outputs{};
  const Zpk& operator()(int output, int input) const {
    return entries[static_cast<std::size_t>(output + input * output_count)];
  }
};
TransferMatrix transfer_matrix(const StateSpace& system);
// Entries one by one, then without what the entries have in common (minreal). Delays of entries
// must be sums of one for the output and one for the input.
StateSpace state_space(const TransferMatrix& matrix);

}  // namespace catena
