// SPDX-License-Identifier: BSD-3-Clause
// Dense linear algebra of the linear and control rooms: LAPACK through LAPACKE, on whatever BLAS is
// installed (OpenBLAS recommended: 1.5 to 7 times as fast as the reference BLAS). Eigen types go in
// and come out; arguments are not changed.
//
//   const lapack::Schur schur = lapack::schur(a, [](auto s) { return s.real() < 0.0; });
//   const Eigen::MatrixXd basis = schur.U.leftCols(schur.selected);  // stable invariant subspace
//
// Every function runs on one thread (OneThread), so that results have the same bits however many
// cores the machine has. A matrix with NaN or infinite entries and a LAPACK routine that fails
// throw a NumericalError that names the routine. Empty matrices are allowed everywhere.
//
// Small matrices of mechanisms have their own factorizations in catena/base/dense.h.
#pragma once

#include <complex>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

namespace catena::lapack {

// While one lives, OpenBLAS uses one thread; when the last goes, it has as many as before. Without
// effect if another BLAS is loaded. May be nested and used in several threads.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
};

// The BLAS that is loaded: "OpenBLAS 0.3.21 (Haswell)", "BLIS", "MKL" or "reference or unknown".
std::string blas_name();

// ---- Schur forms and eigenvalues ----------------------------------------------------------------

// A = U T Uᵀ, T upper quasi-triangular (2×2 blocks for conjugate pairs), U orthogonal (dgees).
struct Schur {
  Eigen::MatrixXd T, U;
  Eigen::VectorXcd values;  // in the order of T's diagonal
  int selected = 0;         // how many leading eigenvalues `first` asked for
};
// The eigenvalues that `first` accepts come first. It must agree on conjugates (if it does not, the
// pair counts as accepted).
using Select = std::function<bool(std::complex<double>)>;
Schur schur(const Eigen::MatrixXd& a, const Select& first = {});
// Brings the accepted eigenvalues of a Schur form to the front (dtrsen).
void reorder(Schur& schur, const Select& first);
// A basis of the invariant subspace of the accepted eigenvalues: their eigenvectors, a pair's real
// and imaginary part as two columns (dtrevc3). A tenth of the time of reorder for a half of the
// eigenvalues, but as well conditioned as the eigenvectors are.
Eigen::MatrixXd eigenvector_basis(const Schur& schur, const Select& accepted);

// A = Q S Zᵀ, B = Q T Zᵀ, S upper quasi-triangular, T upper triangular (dgges). The eigenvalues
// are alpha/beta; beta = 0: infinite.
struct GeneralizedSchur {
  Eigen::MatrixXd S, T, Q, Z;
  Eigen::VectorXcd alpha;
  Eigen::VectorXd beta;
  int selected = 0;
};
using PencilSelect = std::function<bool(std::complex<double> alpha, double beta)>;
GeneralizedSchur generalized_schur(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                   const PencilSelect& first = {});

// A x = λ x, yᴴ A = λ yᴴ; columns of length one (dgeev). Conjugate pairs are adjacent, the one with
// positive imaginary part first.
struct EigenSystem {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd right, left;  // empty if not asked for
};
enum class Vectors { none, right, both };
EigenSystem eig(const Eigen::MatrixXd& a, Vectors vectors = Vectors::right);
EigenSystem eig(const Eigen::MatrixXcd& a, Vectors vectors = Vectors::right);
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& a);
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXcd& a);

// The same with the real and imaginary part of a pair's right eigenvector as two columns: A T = T Λ
// with Λ block diagonal, blocks [re im; −im re]. The columns of a pair have length one together.
struct RealEigenSystem {
  Eigen::VectorXcd values;
  Eigen::MatrixXd T;
};
RealEigenSystem real_eig(const Eigen::MatrixXd& a);

// A x = λ B x with λ = alpha/beta (dggev).
struct GeneralizedEigenSystem {
  Eigen::VectorXcd alpha;
  Eigen::VectorXd beta;
  Eigen::MatrixXcd right, left;
};
GeneralizedEigenSystem generalized_eig(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                       Vectors vectors = Vectors::none);

// A = V diag(values) Vᴴ, values ascending; the lower triangle is read (dsyevd, zheevd).
struct SymmetricEigenSystem {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
SymmetricEigenSystem symmetric_eig(const Eigen::MatrixXd& a);
Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& a);
struct HermitianEigenSystem {
  Eigen::VectorXd values;
  Eigen::MatrixXcd vectors;
};
HermitianEigenSystem hermitian_eig(const Eigen::MatrixXcd& a);
// A x = λ B x with B positive definite (dsygvd): vectors satisfy Vᵀ B V = 1.
SymmetricEigenSystem symmetric_generalized_eig(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

// ---- Singular values ----------------------------------------------------------------------------

// A = U diag(values) Vᴴ, largest first (dgesdd, zgesdd; dgesvd where the former fails).
struct Svd {
  Eigen::VectorXd values;
  Eigen::MatrixXd U, V;
};
struct ComplexSvd {
  Eigen::VectorXd values;
  Eigen::MatrixXcd U, V;
};
enum class Columns { thin, full };  // of U and V: as many as singular values, or square
Svd svd(const Eigen::MatrixXd& a, Columns columns = Columns::thin);
ComplexSvd svd(const Eigen::MatrixXcd& a, Columns columns = Columns::thin);
Eigen::VectorXd singular_values(const Eigen::MatrixXd& a);
Eigen::VectorXd singular_values(const Eigen::MatrixXcd& a);
double norm2(const Eigen::MatrixXd& a);  // the largest; 0 of an empty matrix
double norm2(const Eigen::MatrixXcd& a);

// ---- Factorizations and solutions ---------------------------------------------------------------

// P A = L U. `rcond` is LAPACK's estimate of 1/(‖A‖₁ ‖A⁻¹‖₁), 0 if a pivot is exactly zero.
class Lu {
 public:
  explicit Lu(const Eigen::MatrixXd& a);
  Eigen::MatrixXd solve(const Eigen::MatrixXd& b) const;             // A⁻¹ b
  Eigen::MatrixXd solve_transposed(const Eigen::MatrixXd& b) const;  // A⁻ᵀ b
  double rcond() const { return rcond_; }

 private:
  Eigen::MatrixXd lu_;
  std::vector<int> pivots_;
  double rcond_ = 1.0;
};
class ComplexLu {
 public:
  explicit ComplexLu(const Eigen::MatrixXcd& a);
  Eigen::MatrixXcd solve(const Eigen::MatrixXcd& b) const;
  Eigen::MatrixXcd solve_adjoint(const Eigen::MatrixXcd& b) const;  // A⁻ᴴ b
  double rcond() const { return rcond_; }

 private:
  Eigen::MatrixXcd lu_;
  std::vector<int> pivots_;
  double rcond_ = 1.0;
};
// A⁻¹ b; throws NumericalError if A is singular to working precision. `what` names A in the
// message.
Eigen::MatrixXd solve(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, const char* what = "A");
Eigen::MatrixXcd solve(const Eigen::MatrixXcd& a, const Eigen::MatrixXcd& b,
                       const char* what = "A");

// A = Q R. Thin: Q has min(m, n) columns; full: Q is square and R has A's shape (dgeqrf).
struct Qr {
  Eigen::MatrixXd Q, R;
};
Qr qr(const Eigen::MatrixXd& a, Columns columns = Columns::thin);
// A(:, columns) = Q R with |R(i, i)| falling (dgeqp3).
struct PivotedQr {
  Eigen::MatrixXd Q, R;
  std::vector<int> columns;
  // Diagonal entries of R above tolerance · |R(0, 0)|.
  int rank(double tolerance) const;
};
PivotedQr pivoted_qr(const Eigen::MatrixXd& a, Columns columns = Columns::full);

// The lower triangular L of A = L Lᵀ, or nothing if A is not positive definite (dpotrf).
std::optional<Eigen::MatrixXd> cholesky(const Eigen::MatrixXd& a);
std::optional<Eigen::MatrixXcd> cholesky(const Eigen::MatrixXcd& a);
// A⁻¹ b of a positive definite matrix by its factor L.
Eigen::MatrixXd cholesky_solve(const Eigen::MatrixXd& l, const Eigen::MatrixXd& b);
// The shortest x with least |A x − b|; singular values below rcond times the largest count as zero
// (dgelsd).
Eigen::MatrixXd least_squares(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                              double rcond = -1.0);

// ---- Reductions ---------------------------------------------------------------------------------

// A = Q H Qᵀ, H upper Hessenberg (dgehrd).
struct Hessenberg {
  Eigen::MatrixXd H, Q;
};
Hessenberg hessenberg(const Eigen::MatrixXd& a);
// A = Q H Zᵀ, B = Q T Zᵀ, H upper Hessenberg, T upper triangular (QR of B, then dgghrd).
struct HessenbergTriangular {
  Eigen::MatrixXd H, T, Q, Z;
};
HessenbergTriangular hessenberg_triangular(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

// A scaled by powers of two so that rows and columns have nearly equal norms (dgebal, 'S'):
// scaled = diag(1/scale) A diag(scale).
struct Balanced {
  Eigen::MatrixXd scaled;
  Eigen::VectorXd scale;
};
Balanced balance(const Eigen::MatrixXd& a);

// op(A) X ± X op(B) = scale · C for quasi-triangular (Schur) A and B; op: transposed or not
// (dtrsyl).
struct TriangularSylvester {
  Eigen::MatrixXd X;
  double scale = 1.0;  // at most 1, so that X does not overflow
  bool close = false;  // A and ∓B have close or common eigenvalues; they were perturbed
};
TriangularSylvester triangular_sylvester(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                         const Eigen::MatrixXd& c, bool transpose_a = false,
                                         bool transpose_b = false, int sign = 1);

// ---- Products -----------------------------------------------------------------------------------

// op(A) op(B) by dgemm, for large matrices; Eigen's products do for small ones.
Eigen::MatrixXd multiply(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                         bool transpose_a = false, bool transpose_b = false);

}  // namespace catena::lapack
