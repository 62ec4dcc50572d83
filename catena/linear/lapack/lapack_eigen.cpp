// SPDX-License-Identifier: BSD-3-Clause
// Schur forms and eigenvalues (lapack.h). Reordering is done by dtrsen and dtgsen after the
// factorization: LAPACK's own selection in dgees and dgges takes a function without context.
#include "catena/base/index.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/lapack/lapack_support.h"

namespace catena::lapack {
namespace {

void assemble(const Eigen::VectorXd& re, const Eigen::VectorXd& im, Eigen::VectorXcd& values) {
  values.resize(re.size());
  values.real() = re;
  values.imag() = im;
}

// The complex vectors of dgeev and dggev, which come as pairs of real columns.
Eigen::MatrixXcd complex_vectors(const Eigen::MatrixXd& packed, const Eigen::VectorXd& im) {
  Eigen::MatrixXcd vectors = packed.cast<std::complex<double>>();
  for (Eigen::Index j = 0; j + 1 < im.size(); ++j) {
    if (im[j] == 0.0) continue;
    const std::complex<double> i(0.0, 1.0);
    vectors.col(j) = packed.col(j) + i * packed.col(j + 1);
    vectors.col(j + 1) = vectors.col(j).conjugate();
    ++j;
  }
  return vectors;
}

// LAPACK reorders a conjugate pair as one; both are marked if either is accepted.
std::vector<lapack_logical> marks(Eigen::Index n, const std::function<bool(Eigen::Index)>& accepts,
                                  const Eigen::VectorXd& im, int& count) {
  std::vector<lapack_logical> mark(index(n), 0);
  count = 0;
  for (Eigen::Index j = 0; j < n; ++j) {
    const bool pair = im[j] != 0.0 && j + 1 < n;
    const bool yes = accepts(j) || (pair && accepts(j + 1));
    at(mark, j) = yes;
    if (pair) at(mark, ++j) = yes;
    if (yes) count += pair ? 2 : 1;
  }
  return mark;
}

}  // namespace

void reorder(Schur& schur, const Select& first) {
  const Eigen::Index n = schur.T.rows();
  schur.selected = 0;
  if (n == 0) return;
  const OneThread one;
  Eigen::VectorXd re = schur.values.real(), im = schur.values.imag();
  const std::vector<lapack_logical> mark = marks(
      n, [&](Eigen::Index j) { return first(schur.values[j]); }, im, schur.selected);
  lapack_int count = 0;
  // The _work forms: LAPACKE's own give LAPACK a null pointer for an integer that it writes.
  Eigen::VectorXd work(std::max<Eigen::Index>(1, n));
  lapack_int integer_work = 0;
  const lapack_int info = LAPACKE_dtrsen_work(
      LAPACK_COL_MAJOR, 'N', 'V', mark.data(), size(n), schur.T.data(), leading(schur.T),
      schur.U.data(), leading(schur.U), re.data(), im.data(), &count, nullptr, nullptr, work.data(),
      size(work.size()), &integer_work, 1);
  if (info == 1)
    throw NumericalError(
        "dtrsen: the eigenvalues to be separated are too close to be exchanged; scale the system "
        "or choose another split");
  require_success(info, "dtrsen");
  schur.selected = count;
  assemble(re, im, schur.values);
}

Eigen::MatrixXd eigenvector_basis(const Schur& schur, const Select& accepted) {
  const Eigen::Index n = schur.T.rows();
  if (n == 0) return {};
  const OneThread one;
  const Eigen::VectorXd im = schur.values.imag();
  int count = 0;
  std::vector<lapack_logical> mark = marks(
      n, [&](Eigen::Index j) { return accepted(schur.values[j]); }, im, count);
  if (count == 0) return {n, 0};
  Eigen::MatrixXd vectors(n, count);
  const lapack_int order = size(n), columns = size(count), one_row = 1;
  constexpr lapack_int kBlock = 64;
  const lapack_int work_size = order * (1 + 2 * kBlock);
  Eigen::VectorXd work(work_size);
  double none = 0.0;
  lapack_int found = 0, info = 0;
  LAPACK_dtrevc3("R", "S", mark.data(), &order, schur.T.data(), &order, &none, &one_row,
                 vectors.data(), &order, &columns, &found, work.data(), &work_size, &info);
  require_success(info, "dtrevc3");
  for (Eigen::Index j = 0; j < vectors.cols(); ++j) vectors.col(j).normalize();
  return multiply(schur.U, vectors);
}

Schur schur(const Eigen::MatrixXd& a, const Select& first) {
  require_square_and_finite(a, "Schur form");
  const Eigen::Index n = a.rows();
  Schur result{a, Eigen::MatrixXd(n, n), Eigen::VectorXcd(n)};
  if (n == 0) return result;
  const OneThread one;
  Eigen::VectorXd re(n), im(n);
  lapack_int count = 0;
  require_success(LAPACKE_dgees(LAPACK_COL_MAJOR, 'V', 'N', nullptr, size(n), result.T.data(),
                                leading(result.T), &count, re.data(), im.data(), result.U.data(),
                                leading(result.U)),
                  "dgees");
  assemble(re, im, result.values);
  if (first) reorder(result, first);
  return result;
}

GeneralizedSchur generalized_schur(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                   const PencilSelect& first) {
  require_square_and_finite(a, "generalized Schur form");
  require_square_and_finite(b, "generalized Schur form");
  const Eigen::Index n = a.rows();
  GeneralizedSchur result;
  result.S = a;
  result.T = b;
  result.Q.resize(n, n);
  result.Z.resize(n, n);
  result.alpha.resize(n);
  result.beta.resize(n);
  if (n == 0) return result;
  const OneThread one;
  Eigen::VectorXd re(n), im(n);
  lapack_int count = 0;
  require_success(LAPACKE_dgges(LAPACK_COL_MAJOR, 'V', 'V', 'N', nullptr, size(n), result.S.data(),
                                leading(result.S), result.T.data(), leading(result.T), &count,
                                re.data(), im.data(), result.beta.data(), result.Q.data(),
                                leading(result.Q), result.Z.data(), leading(result.Z)),
                  "dgges");
  assemble(re, im, result.alpha);
  if (!first) return result;
  const std::vector<lapack_logical> mark = marks(
      n, [&](Eigen::Index j) { return first(result.alpha[j], result.beta[j]); }, im,
      result.selected);
  double pl = 0.0, pr = 0.0;
  Eigen::Vector2d dif;
  Eigen::VectorXd work(4 * n + 16);
  lapack_int integer_work = 0;
  const lapack_int info = LAPACKE_dtgsen_work(
      LAPACK_COL_MAJOR, 0, 1, 1, mark.data(), size(n), result.S.data(), leading(result.S),
      result.T.data(), leading(result.T), re.data(), im.data(), result.beta.data(), result.Q.data(),
      leading(result.Q), result.Z.data(), leading(result.Z), &count, &pl, &pr, dif.data(),
      work.data(), size(work.size()), &integer_work, 1);
  if (info == 1)
    throw NumericalError(
        "dtgsen: the eigenvalues to be separated are too close to be exchanged; scale the pencil "
        "or choose another split");
  require_success(info, "dtgsen");
  result.selected = count;
  assemble(re, im, result.alpha);
  return result;
}

EigenSystem eig(const Eigen::MatrixXd& a, Vectors vectors) {
  require_square_and_finite(a, "eigenvalues");
  const Eigen::Index n = a.rows();
  EigenSystem result;
  result.values.resize(n);
  const bool right = vectors != Vectors::none, left = vectors == Vectors::both;
  if (n == 0) return result;
  const OneThread one;
  Eigen::MatrixXd work = a, vl(left ? n : 1, left ? n : 1), vr(right ? n : 1, right ? n : 1);
  Eigen::VectorXd re(n), im(n);
  require_success(LAPACKE_dgeev(LAPACK_COL_MAJOR, left ? 'V' : 'N', right ? 'V' : 'N', size(n),
                                work.data(), leading(work), re.data(), im.data(), vl.data(),
                                leading(vl), vr.data(), leading(vr)),
                  "dgeev");
  assemble(re, im, result.values);
  if (right) result.right = complex_vectors(vr, im);
  if (left) result.left = complex_vectors(vl, im);
  return result;
}

RealEigenSystem real_eig(const Eigen::MatrixXd& a) {
  require_square_and_finite(a, "eigenvalues");
  const Eigen::Index n = a.rows();
  RealEigenSystem result{Eigen::VectorXcd(n), Eigen::MatrixXd(n, n)};
  if (n == 0) return result;
  const OneThread one;
  Eigen::MatrixXd work = a;
  double none = 0.0;
  Eigen::VectorXd re(n), im(n);
  require_success(LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'V', size(n), work.data(), leading(work),
                                re.data(), im.data(), &none, 1, result.T.data(), leading(result.T)),
                  "dgeev");
  assemble(re, im, result.values);
  return result;
}

EigenSystem eig(const Eigen::MatrixXcd& a, Vectors vectors) {
  require_square_and_finite(a, "eigenvalues");
  const Eigen::Index n = a.rows();
  EigenSystem result;
  result.values.resize(n);
  const bool right = vectors != Vectors::none, left = vectors == Vectors::both;
  if (n == 0) return result;
  const OneThread one;
  Eigen::MatrixXcd work = a;
  if (right) result.right.resize(n, n);
  if (left) result.left.resize(n, n);
  require_success(LAPACKE_zgeev(LAPACK_COL_MAJOR, left ? 'V' : 'N', right ? 'V' : 'N', size(n),
                                work.data(), leading(work), result.values.data(),
                                result.left.data(), left ? leading(result.left) : 1,
                                result.right.data(), right ? leading(result.right) : 1),
                  "zgeev");
  return result;
}

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& a) { return eig(a, Vectors::none).values; }

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXcd& a) { return eig(a, Vectors::none).values; }

GeneralizedEigenSystem generalized_eig(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                       Vectors vectors) {
  require_square_and_finite(a, "generalized eigenvalues");
  require_square_and_finite(b, "generalized eigenvalues");
  const Eigen::Index n = a.rows();
  GeneralizedEigenSystem result;
  result.alpha.resize(n);
  result.beta.resize(n);
  const bool right = vectors != Vectors::none, left = vectors == Vectors::both;
  if (n == 0) return result;
  const OneThread one;
  Eigen::MatrixXd work_a = a, work_b = b;
  Eigen::MatrixXd vl(left ? n : 1, left ? n : 1), vr(right ? n : 1, right ? n : 1);
  Eigen::VectorXd re(n), im(n);
  require_success(
      LAPACKE_dggev(LAPACK_COL_MAJOR, left ? 'V' : 'N', right ? 'V' : 'N', size(n), work_a.data(),
                    leading(work_a), work_b.data(), leading(work_b), re.data(), im.data(),
                    result.beta.data(), vl.data(), leading(vl), vr.data(), leading(vr)),
      "dggev");
  assemble(re, im, result.alpha);
  if (right) result.right = complex_vectors(vr, im);
  if (left) result.left = complex_vectors(vl, im);
  return result;
}

SymmetricEigenSystem symmetric_eig(const Eigen::MatrixXd& a) {
  require_square_and_finite(a, "symmetric eigenvalues");
  SymmetricEigenSystem result{Eigen::VectorXd(a.rows()), a};
  if (a.rows() == 0) return result;
  const OneThread one;
  require_success(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', size(a.rows()), result.vectors.data(),
                                 leading(a), result.values.data()),
                  "dsyevd");
  return result;
}

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& a) {
  require_square_and_finite(a, "symmetric eigenvalues");
  Eigen::MatrixXd work = a;
  Eigen::VectorXd values(a.rows());
  if (a.rows() == 0) return values;
  const OneThread one;
  require_success(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'N', 'L', size(a.rows()), work.data(),
                                 leading(a), values.data()),
                  "dsyevd");
  return values;
}

HermitianEigenSystem hermitian_eig(const Eigen::MatrixXcd& a) {
  require_square_and_finite(a, "Hermitian eigenvalues");
  HermitianEigenSystem result{Eigen::VectorXd(a.rows()), a};
  if (a.rows() == 0) return result;
  const OneThread one;
  require_success(LAPACKE_zheevd(LAPACK_COL_MAJOR, 'V', 'L', size(a.rows()), result.vectors.data(),
                                 leading(a), result.values.data()),
                  "zheevd");
  return result;
}

SymmetricEigenSystem symmetric_generalized_eig(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  require_square_and_finite(a, "symmetric generalized eigenvalues");
  require_square_and_finite(b, "symmetric generalized eigenvalues");
  SymmetricEigenSystem result{Eigen::VectorXd(a.rows()), a};
  if (a.rows() == 0) return result;
  const OneThread one;
  Eigen::MatrixXd work = b;
  const lapack_int info =
      LAPACKE_dsygvd(LAPACK_COL_MAJOR, 1, 'V', 'L', size(a.rows()), result.vectors.data(),
                     leading(a), work.data(), leading(work), result.values.data());
  if (info > a.rows())
    throw NumericalError(
        "symmetric generalized eigenvalues: the second matrix is not positive "
        "definite (pivot " +
        std::to_string(info - a.rows()) + ")");
  require_success(info, "dsygvd");
  return result;
}

}  // namespace catena::lapack
