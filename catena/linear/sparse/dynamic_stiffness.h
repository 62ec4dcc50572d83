// SPDX-License-Identifier: BSD-3-Clause
// Sparse factorizations of a structure's dynamic stiffness P(s) = s² M + s D + K.
//
//   DynamicStiffness p(boom);
//   p.factor({0.0, omega});                      // complex symmetric: P = L Δ Lᵀ, no conjugates
//   const Eigen::MatrixXcd q = p.solve(f);       // P⁻¹ f
//   const ShiftedStiffness k(p, sigma);          // K − σ M, real: solutions and Sturm's count
//
// M, D and K must be symmetric. Their common pattern is ordered once by approximate minimum degree
// and analyzed once; every shift after that is one numeric factorization by rows [Davis 2005]
// without pivoting; backward_error() tells how well a solution fulfils its equations. Cost: the sum
// of the squared column lengths of L; 0.1 to 0.4 s for 50,000 freedoms of a slender lattice.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include <Eigen/SparseCore>

#include "catena/linear/second_order.h"

namespace catena {

// Throws Error naming M, D or K if it is not symmetric to 1e-10 of its largest entry.
void require_symmetric(const SecondOrder& structure, const char* what);
// Throws NumericalError naming a freedom if M is not positive definite: modes need it.
void require_mass(const SecondOrder& structure, const char* what);

// The pattern of L in P A Pᵀ = L Δ Lᵀ, and the entries of M, D, K on the upper triangle of P A Pᵀ.
struct StiffnessPattern {
  std::vector<int> order, inverse;  // old freedom of a new one, new of an old
  std::vector<int> parent;          // elimination tree
  std::vector<int> column;          // where a column of L begins
  std::vector<int> begin, row;      // upper triangle of P A Pᵀ by columns
  std::vector<double> m, d, k;      // its entries
  int size() const { return static_cast<int>(order.size()); }
};

class DynamicStiffness {
 public:
  explicit DynamicStiffness(const SecondOrder& structure);

  // Throws NumericalError if s is an eigenvalue to working precision.
  void factor(std::complex<double> s);
  // P(s)⁻¹ b.
  Eigen::MatrixXcd solve(const Eigen::MatrixXcd& b) const;
  // Of the first column: the largest entry of |P x − b| by the largest of |P| |x| + |b|.
  double backward_error(const Eigen::MatrixXcd& x, const Eigen::MatrixXcd& b) const;

  const std::shared_ptr<const StiffnessPattern>& pattern() const { return pattern_; }
  long long factor_entries() const { return pattern_->column.back(); }

 private:
  std::shared_ptr<const StiffnessPattern> pattern_;
  std::complex<double> s_{};
  std::vector<int> row_;
  std::vector<std::complex<double>> lower_, diagonal_;
};

// K − σ M = L Δ Lᵀ.
class ShiftedStiffness {
 public:
  ShiftedStiffness(const DynamicStiffness& structure, double sigma);

  Eigen::MatrixXd solve(const Eigen::MatrixXd& b) const;
  // Eigenvalues of K x = λ M x below σ (Sylvester's law of inertia, M positive definite).
  int eigenvalues_below() const { return negative_; }
  // The smallest |Δ| by the largest: near rounding, σ is an eigenvalue (σ = 0: free to move).
  double pivot_ratio() const { return ratio_; }

 private:
  std::shared_ptr<const StiffnessPattern> pattern_;
  std::vector<int> row_;
  std::vector<double> lower_, diagonal_;
  int negative_ = 0;
  double ratio_ = 0.0;
};

}  // namespace catena
