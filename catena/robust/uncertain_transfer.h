// SPDX-License-Identifier: BSD-3-Clause
// A transfer function in factored form, whose coefficients depend on named parameters, as a linear
// fractional form [Belcastro, Chang & Fischl 1989]:
//
//   G(s) = Π (b0 sⁿ + ... + bn)/(a0 sⁿ + ... + an)
//
// Every factor is a chain of integrators with w = (u − a1 xn − ... − an x1)/a0 at its input and
// y = b0 w + b1 xn + ... + bn x1: each coefficient multiplies one signal, so it is pulled out once,
// whatever products the matrices have of it.
//
//   const UncertainMatrix w = constant(3.0) + parameter("omega"), z = ...;
//   const UncertainTransfer g = uncertain_transfer({{.numerator = {constant(1.0)},
//       .denominator = {constant(1.0), 2.0 * z, w * w}}});
//   g.form.entries()
#pragma once

#include <complex>
#include <vector>

#include "catena/robust/uncertain_matrix.h"

namespace catena {

// Coefficients as 1 x 1 matrices, highest power first. Proper: the numerator's degree is at most
// the denominator's.
struct UncertainFactor {
  std::vector<UncertainMatrix> numerator{}, denominator{};
};

struct UncertainTransfer {
  UncertainMatrix form{};  // [ẋ; y] as a function of [x; u]
  int order = 0;
  int parameters = 0;  // named ones
  int repeats = 0;     // entries beyond one for each
  int longest = 0;     // largest number of entries that a signal passes one after the other

  // G(s) at values of the parameters.
  std::complex<double> value(std::complex<double> s,
                             const std::map<std::string, double>& values) const;
};
// Throws Error for an improper factor, and NumericalError if a leading coefficient of a denominator
// is zero nominally.
UncertainTransfer uncertain_transfer(const std::vector<UncertainFactor>& factors);

}  // namespace catena
