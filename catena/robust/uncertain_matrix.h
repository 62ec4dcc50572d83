// SPDX-License-Identifier: BSD-3-Clause
// A matrix that depends rationally on parameters, as a linear fractional form:
//
//   F(x) = M22 + M21 Δ (1 − M11 Δ)⁻¹ M12,   Δ = diag of the channels' parameters
//
// Sums, products and inverses are exact: the signal graph is cut wherever a signal is multiplied by
// a parameter, and every cut is one channel. reduce() removes channels that nothing reaches or
// nothing reads (a Kalman decomposition for each parameter in turn), which leaves F as it was.
//
//   const UncertainMatrix k = constant(5.0) + 2.0 * parameter("stiffness"), m = ...;
//   const UncertainMatrix square = inverse(m) * k;
//   square.value({{"stiffness", 0.3}}), square.entries()
//
// "Minimal" is not claimed: the number of channels is that of this way of writing F, reduced.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <Eigen/Core>

namespace catena {

struct UncertainMatrix {
  Eigen::MatrixXd m11{}, m12{}, m21{}, m22{};
  std::vector<std::string> channels{};  // the parameter of each

  Eigen::Index rows() const { return m22.rows(); }
  Eigen::Index columns() const { return m22.cols(); }
  int entries() const { return static_cast<int>(channels.size()); }
  int entries_of(const std::string& name) const;
  // Parameters in order of their first channel.
  std::vector<std::string> names() const;
  // F at these values; parameters that are not given are zero. Throws NumericalError where
  // 1 − M11 Δ is singular.
  Eigen::MatrixXd value(const std::map<std::string, double>& values) const;
};

UncertainMatrix constant(const Eigen::MatrixXd& value);
UncertainMatrix constant(double value);
// x times the identity of this size.
UncertainMatrix parameter(const std::string& name, int size = 1);

UncertainMatrix operator+(const UncertainMatrix& a, const UncertainMatrix& b);
UncertainMatrix operator-(const UncertainMatrix& a, const UncertainMatrix& b);
UncertainMatrix operator*(const UncertainMatrix& a, const UncertainMatrix& b);
UncertainMatrix operator*(double factor, const UncertainMatrix& a);
UncertainMatrix beside(const UncertainMatrix& left, const UncertainMatrix& right);  // [a b]
UncertainMatrix above(const UncertainMatrix& top, const UncertainMatrix& bottom);   // [a; b]
// Throws NumericalError if it is singular at x = 0.
UncertainMatrix inverse(const UncertainMatrix& a);

// With the channels of one parameter together, in order of the names, and those left out that do
// not matter to `tolerance` (relative).
UncertainMatrix reduce(const UncertainMatrix& a, double tolerance = 1e-12);
// With x of one parameter replaced by a x / (1 − b x).
UncertainMatrix substituted(const UncertainMatrix& f, const std::string& name, double a, double b);

}  // namespace catena
