// SPDX-License-Identifier: BSD-3-Clause
// Singular values (lapack.h). Divide and conquer (gesdd) is the fast routine; for the rare matrices
// for which it does not converge, QR iteration (gesvd) is used.
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/lapack/lapack_support.h"

namespace catena::lapack {
namespace {

// OpenBLAS 0.3.21 (Debian 12) reads past the end of complex matrices in zgemv, which the reductions
// of an SVD call (its issues 4013 and 5000). What it reads is not used, but need not be memory of
// the process. So matrices have spare columns behind them.
constexpr Eigen::Index kSpareColumns = 4;

// A has `columns` columns, and spare ones.
lapack_int divide_and_conquer(char job, Eigen::MatrixXd& a, Eigen::Index columns,
                              Eigen::VectorXd& s, Eigen::MatrixXd& u, Eigen::MatrixXd& vt) {
  return LAPACKE_dgesdd(LAPACK_COL_MAJOR, job, size(a.rows()), size(columns), a.data(), leading(a),
                        s.data(), u.data(), leading(u), vt.data(), leading(vt));
}

lapack_int divide_and_conquer(char job, Eigen::MatrixXcd& a, Eigen::Index columns,
                              Eigen::VectorXd& s, Eigen::MatrixXcd& u, Eigen::MatrixXcd& vt) {
  return LAPACKE_zgesdd(LAPACK_COL_MAJOR, job, size(a.rows()), size(columns), a.data(), leading(a),
                        s.data(), u.data(), leading(u), vt.data(), leading(vt));
}

lapack_int qr_iteration(char job, Eigen::MatrixXd& a, Eigen::Index columns, Eigen::VectorXd& s,
                        Eigen::MatrixXd& u, Eigen::MatrixXd& vt) {
  Eigen::VectorXd superdiagonal(s.size());
  return LAPACKE_dgesvd(LAPACK_COL_MAJOR, job, job, size(a.rows()), size(columns), a.data(),
                        leading(a), s.data(), u.data(), leading(u), vt.data(), leading(vt),
                        superdiagonal.data());
}

lapack_int qr_iteration(char job, Eigen::MatrixXcd& a, Eigen::Index columns, Eigen::VectorXd& s,
                        Eigen::MatrixXcd& u, Eigen::MatrixXcd& vt) {
  Eigen::VectorXd superdiagonal(s.size());
  return LAPACKE_zgesvd(LAPACK_COL_MAJOR, job, job, size(a.rows()), size(columns), a.data(),
                        leading(a), s.data(), u.data(), leading(u), vt.data(), leading(vt),
                        superdiagonal.data());
}

// job: 'A' square U and V, 'S' thin ones, 'N' values only.
template <class Result, class Matrix>
Result any_svd(const Matrix& a, char job) {
  require_finite(a, "singular values");
  const Eigen::Index least = std::min(a.rows(), a.cols());
  Result result;
  result.values.resize(least);
  if (least == 0) {
    const bool full = job == 'A';
    result.U = Matrix::Identity(a.rows(), full ? a.rows() : 0);
    result.V = Matrix::Identity(a.cols(), full ? a.cols() : 0);
    return result;
  }
  const OneThread one;
  Matrix vt;
  if (job != 'N') {
    result.U.resize(a.rows(), job == 'A' ? a.rows() : least);
    vt.resize(job == 'A' ? a.cols() : least, a.cols());
  }
  Matrix work = Matrix::Zero(a.rows(), a.cols() + kSpareColumns);
  work.leftCols(a.cols()) = a;
  if (divide_and_conquer(job, work, a.cols(), result.values, result.U, vt) != 0) {
    work.leftCols(a.cols()) = a;
    require_success(qr_iteration(job, work, a.cols(), result.values, result.U, vt), "gesvd");
  }
  result.V = vt.adjoint();
  return result;
}

}  // namespace

Svd svd(const Eigen::MatrixXd& a, Columns columns) {
  return any_svd<Svd>(a, columns == Columns::full ? 'A' : 'S');
}

ComplexSvd svd(const Eigen::MatrixXcd& a, Columns columns) {
  return any_svd<ComplexSvd>(a, columns == Columns::full ? 'A' : 'S');
}

Eigen::VectorXd singular_values(const Eigen::MatrixXd& a) { return any_svd<Svd>(a, 'N').values; }

Eigen::VectorXd singular_values(const Eigen::MatrixXcd& a) {
  return any_svd<ComplexSvd>(a, 'N').values;
}

double norm2(const Eigen::MatrixXd& a) { return a.size() == 0 ? 0.0 : singular_values(a)[0]; }

double norm2(const Eigen::MatrixXcd& a) { return a.size() == 0 ? 0.0 : singular_values(a)[0]; }

}  // namespace catena::lapack
