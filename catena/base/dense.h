// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; constraints/chains_on_body.h needs it.
//
// Factorizations and eigenproblems of dense matrices. The algorithms are Eigen's; they are compiled
// once, in dense_*.cpp, because each costs seconds in every file that instantiates it. So other
// files use these classes, and Eigen itself for products, blocks and coefficients.
//
//   const PivotedQr qr(a);
//   if (qr.rank(1e-10) == a.cols()) x = qr.solve(b);
//
// All take any expression of dynamic or fixed size and evaluate it first. `solve` answers with a
// VectorXd for a column vector on the right, otherwise with a MatrixXd.
#pragma once

#include <cmath>
#include <optional>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>

namespace catena {

// x = solve(b) for any expression b, by the compiled solve_vector and solve_matrix of `Own`.
template <class Own>
class SolvesAnyExpression {
 public:
  template <class Derived>
  auto solve(const Eigen::MatrixBase<Derived>& b) const {
    if constexpr (Derived::ColsAtCompileTime == 1)
      return static_cast<const Own&>(*this).solve_vector(b.derived());
    else
      return static_cast<const Own&>(*this).solve_matrix(b.derived());
  }
};

// P A = L U with row pivots, for square invertible matrices: 2/3 n³. It does not detect the rank; a
// singular matrix gives infinities.
class Lu : public SolvesAnyExpression<Lu> {
 public:
  Lu() = default;
  explicit Lu(const Eigen::MatrixXd& a) { compute(a); }
  void compute(const Eigen::MatrixXd& a);

  Eigen::VectorXd solve_vector(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd solve_matrix(const Eigen::MatrixXd& b) const;
  double determinant() const;
  Eigen::MatrixXd inverse() const;

  // U on and above the diagonal, the multipliers of L (with ones on its diagonal) below.
  const Eigen::MatrixXd& factors() const { return lu_.matrixLU(); }
  // ±1: whether the rows were exchanged an even number of times.
  int sign_of_exchanges() const;

 private:
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
};

double determinant(const Eigen::MatrixXd& a);
Eigen::MatrixXd inverse(const Eigen::MatrixXd& a);

// P A Q = L U with full pivoting, for any matrix: slower than Lu, but finds the rank. Pivots below
// `threshold` times the largest count as zero (left out: n times the rounding).
class FullLu : public SolvesAnyExpression<FullLu> {
 public:
  explicit FullLu(const Eigen::MatrixXd& a, std::optional<double> threshold = {});

  // One of the solutions, if any exists.
  Eigen::VectorXd solve_vector(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd solve_matrix(const Eigen::MatrixXd& b) const;
  int rank() const;
  bool invertible() const;
  // A basis of the null space, a column for each; one of zeros if there is none.
  Eigen::MatrixXd kernel() const;

  // Where row i of A stands among the pivots, and which column of A has pivot k.
  int place_of_row(int i) const { return lu_.permutationP().indices()[i]; }
  int pivot_column(int k) const { return lu_.permutationQ().indices()[k]; }

 private:
  Eigen::FullPivLU<Eigen::MatrixXd> lu_;
};

// A = L Lᵀ of a symmetric positive definite matrix, of which the lower triangle is read: 1/3 n³.
class Cholesky : public SolvesAnyExpression<Cholesky> {
 public:
  Cholesky() = default;
  explicit Cholesky(const Eigen::MatrixXd& a) { compute(a); }
  void compute(const Eigen::MatrixXd& a);
  // False: a pivot was not positive. Nearly lost ones show in pivot_root.
  bool succeeded() const { return llt_.info() == Eigen::Success; }

  Eigen::VectorXd solve_vector(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd solve_matrix(const Eigen::MatrixXd& b) const;
  void solve_in_place(Eigen::VectorXd& x) const;
  void solve_in_place(Eigen::MatrixXd& x) const;

  // L(i, i): its square is the part of A(i, i) that the earlier rows leave.
  double pivot_root(Eigen::Index i) const { return llt_.matrixLLT()(i, i); }

 private:
  Eigen::LLT<Eigen::MatrixXd> llt_;
};

// The same in place: L overwrites the lower triangle, the part above the diagonal is not touched.
// False if a pivot is not positive.
bool cholesky_in_place(Eigen::MatrixXd& a);
// x := (L Lᵀ)⁻¹ x.
void solve_by_cholesky(const Eigen::MatrixXd& l, Eigen::VectorXd& x);

// Cholesky's factor of the at most 6×6 matrices of hinges and bodies; allocates nothing.
using SmallSquare = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;
using SmallVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1>;
class SmallCholesky {
 public:
  explicit SmallCholesky(const SmallSquare& a);
  bool succeeded() const { return llt_.info() == Eigen::Success; }
  void solve_in_place(SmallVector& x) const;
  void solve_in_place(SmallSquare& x) const;
  double pivot_root(Eigen::Index i) const { return llt_.matrixLLT()(i, i); }

 private:
  Eigen::LLT<SmallSquare> llt_;
};

// P A Pᵀ = L D Lᵀ with diagonal pivots, of a symmetric matrix that is semidefinite up to rounding.
// Works with a zero pivot, where Cholesky fails.
class PivotedCholesky : public SolvesAnyExpression<PivotedCholesky> {
 public:
  explicit PivotedCholesky(const Eigen::MatrixXd& a);

  Eigen::VectorXd solve_vector(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd solve_matrix(const Eigen::MatrixXd& b) const;

 private:
  Eigen::LDLT<Eigen::MatrixXd> ldlt_;
};

// A = Q R by Householder reflections, for least squares with independent columns: 2 n² (m − n/3).
// It does not detect the rank.
class Qr : public SolvesAnyExpression<Qr> {
 public:
  explicit Qr(const Eigen::MatrixXd& a);

  // Least |A x − b|.
  Eigen::VectorXd solve_vector(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd solve_matrix(const Eigen::MatrixXd& b) const;
  // The first columns of Q: orthonormal, spanning the columns of A (as many as these) or more.
  Eigen::MatrixXd q_columns(Eigen::Index count) const;
  double r_diagonal(Eigen::Index i) const { return qr_.matrixQR()(i, i); }

 private:
  Eigen::HouseholderQR<Eigen::MatrixXd> qr_;
};

// A P = Q R with column pivoting: the pivots |R(i, i)| decrease, and the number of those that are
// not negligible beside the largest is the rank. Less reliable than singular values, at a tenth of
// the cost.
class PivotedQr : public SolvesAnyExpression<PivotedQr> {
 public:
  explicit PivotedQr(const Eigen::MatrixXd& a);

  // Least |A x − b|; unknowns of columns whose pivots are exactly zero are zero.
  Eigen::VectorXd solve_vector(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd solve_matrix(const Eigen::MatrixXd& b) const;
  // How many pivots exceed `threshold` times the largest (left out: n times the rounding).
  int rank() const;
  int rank(double threshold) const;
  // |R(i, i)|, largest first.
  Eigen::VectorXd pivots() const;
  double largest_pivot() const { return qr_.maxPivot(); }
  // Which column of A has pivot k.
  int pivot_column(Eigen::Index k) const { return qr_.colsPermutation().indices()[k]; }

  // Q, m×m: its first `rank` columns span those of A, the others are orthogonal to all of them.
  Eigen::MatrixXd q() const;
  Eigen::MatrixXd q_columns(Eigen::Index count) const;
  Eigen::MatrixXd q_times(const Eigen::MatrixXd& x) const;

 private:
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr_;
};

// A P = Q [T 0; 0 0] Z: a pivoted QR whose remaining columns are rotated away as well, so that it
// solves least squares of any rank with the least |x|. Pivots below `threshold` times the largest
// count as zero (left out: n times the rounding).
class CompleteOrthogonal : public SolvesAnyExpression<CompleteOrthogonal> {
 public:
  explicit CompleteOrthogonal(std::optional<double> threshold = {});
  explicit CompleteOrthogonal(const Eigen::MatrixXd& a, std::optional<double> threshold = {});
  void compute(const Eigen::MatrixXd& a);

  // The shortest of those with least |A x − b|.
  Eigen::VectorXd solve_vector(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd solve_matrix(const Eigen::MatrixXd& b) const;
  int rank() const;
  // |T(i, i)|; beyond the rank the neglected pivots, in no order.
  double pivot(Eigen::Index i) const { return std::abs(cod_.matrixQTZ()(i, i)); }

 private:
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> cod_;
};

// A = U diag(σ) Vᵀ by Jacobi's method, exact to rounding for small σ too; about 20 n³.
struct Svd {
  Eigen::VectorXd values;  // largest first
  Eigen::MatrixXd u, v;
};
Eigen::VectorXd singular_values(const Eigen::MatrixXd& a);
Svd full_svd(const Eigen::MatrixXd& a);  // u and v square
Svd thin_svd(const Eigen::MatrixXd& a);  // of u and v the columns that belong to singular values

// A = V diag(λ) Vᵀ of a symmetric matrix, of which the lower triangle is read.
struct SymmetricEigen {
  Eigen::VectorXd values;   // smallest first
  Eigen::MatrixXd vectors;  // orthonormal columns
};
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& a);
// In the same order.
Eigen::Vector3d symmetric_eigenvalues(const Eigen::Matrix3d& a);

// A v = λ v of any square matrix, by its real Schur form; about 25 n³.
struct GeneralEigen {
  Eigen::VectorXcd values;   // in no order; complex ones in pairs, the one with positive part first
  Eigen::MatrixXcd vectors;  // columns of length one
  bool converged = true;     // false: no values
};
GeneralEigen general_eigen(const Eigen::MatrixXd& a);
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& a);

}  // namespace catena
