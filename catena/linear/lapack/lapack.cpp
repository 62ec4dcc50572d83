// SPDX-License-Identifier: BSD-3-Clause
// Threads of the BLAS; LU, QR, Cholesky, reductions, products. Eigenvalues and singular values are
// in lapack_eigen.cpp and lapack_svd.cpp.
#include "catena/linear/lapack/lapack.h"

#include <mutex>

#include <dlfcn.h>

#include "catena/base/text.h"
#include "catena/linear/lapack/lapack_support.h"

extern "C" void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*,
                       const double*, const int*, const double*, const int*, const double*, double*,
                       const int*);

namespace catena::lapack {
namespace {

using SetThreads = void (*)(int);
using GetThreads = int (*)();
using Describe = char* (*)();

template <class Function>
Function loaded_symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// OpenBLAS's number of threads belongs to the process: the first guard saves it, the last restores.
struct ThreadCount {
  std::mutex mutex;
  int guards = 0;
  int before = 1;
  SetThreads set = loaded_symbol<SetThreads>("openblas_set_num_threads");
  GetThreads get = loaded_symbol<GetThreads>("openblas_get_num_threads");
};

ThreadCount& thread_count() {
  static ThreadCount count;
  return count;
}

std::vector<int> from_one(const std::vector<lapack_int>& pivots) {
  std::vector<int> result(pivots.begin(), pivots.end());
  for (int& p : result) --p;
  return result;
}

}  // namespace

OneThread::OneThread() {
  ThreadCount& count = thread_count();
  if (!count.set || !count.get) return;
  const std::lock_guard lock(count.mutex);
  if (count.guards++ > 0) return;
  count.before = count.get();
  if (count.before != 1) count.set(1);
}

OneThread::~OneThread() {
  ThreadCount& count = thread_count();
  if (!count.set || !count.get) return;
  const std::lock_guard lock(count.mutex);
  if (--count.guards == 0 && count.before != 1) count.set(count.before);
}

std::string blas_name() {
  if (const auto describe = loaded_symbol<Describe>("openblas_get_config")) {
    // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...": the version, and the processor it chose at run
    // time.
    std::string name = describe();
    if (const std::size_t second = name.find(' ', name.find(' ') + 1); second != std::string::npos)
      name.resize(second);
    const auto core = loaded_symbol<Describe>("openblas_get_corename");
    return core ? name + " (" + core() + ")" : name;
  }
  if (const auto describe = loaded_symbol<const char* (*)()>("bli_info_get_version_str"))
    return std::string("BLIS ") + describe();
  if (loaded_symbol<void (*)()>("mkl_get_max_threads")) return "MKL";
  return "reference or unknown (OpenBLAS is 1.5 to 7 times as fast: install libopenblas0)";
}

Lu::Lu(const Eigen::MatrixXd& a) : lu_(a), pivots_(static_cast<std::size_t>(a.rows())) {
  require_square_and_finite(a, "LU factorization");
  if (a.rows() == 0) return;
  const OneThread one;
  const double norm = a.cwiseAbs().colwise().sum().maxCoeff();
  const lapack_int info = LAPACKE_dgetrf(LAPACK_COL_MAJOR, size(a.rows()), size(a.rows()),
                                         lu_.data(), leading(lu_), pivots_.data());
  rcond_ = 0.0;
  if (info > 0) return;
  require_success(info, "dgetrf");
  require_success(LAPACKE_dgecon(LAPACK_COL_MAJOR, '1', size(a.rows()), lu_.data(), leading(lu_),
                                 norm, &rcond_),
                  "dgecon");
}

Eigen::MatrixXd Lu::solve(const Eigen::MatrixXd& b) const {
  Eigen::MatrixXd x = b;
  if (x.size() == 0) return x;
  const OneThread one;
  require_success(LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'N', size(lu_.rows()), size(b.cols()),
                                 lu_.data(), leading(lu_), pivots_.data(), x.data(), leading(x)),
                  "dgetrs");
  return x;
}

Eigen::MatrixXd Lu::solve_transposed(const Eigen::MatrixXd& b) const {
  Eigen::MatrixXd x = b;
  if (x.size() == 0) return x;
  const OneThread one;
  require_success(LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'T', size(lu_.rows()), size(b.cols()),
                                 lu_.data(), leading(lu_), pivots_.data(), x.data(), leading(x)),
                  "dgetrs");
  return x;
}

ComplexLu::ComplexLu(const Eigen::MatrixXcd& a)
    : lu_(a), pivots_(static_cast<std::size_t>(a.rows())) {
  require_square_and_finite(a, "LU factorization");
  if (a.rows() == 0) return;
  const OneThread one;
  const double norm = a.cwiseAbs().colwise().sum().maxCoeff();
  const lapack_int info = LAPACKE_zgetrf(LAPACK_COL_MAJOR, size(a.rows()), size(a.rows()),
                                         lu_.data(), leading(lu_), pivots_.data());
  rcond_ = 0.0;
  if (info > 0) return;
  require_success(info, "zgetrf");
  require_success(LAPACKE_zgecon(LAPACK_COL_MAJOR, '1', size(a.rows()), lu_.data(), leading(lu_),
                                 norm, &rcond_),
                  "zgecon");
}

Eigen::MatrixXcd ComplexLu::solve(const Eigen::MatrixXcd& b) const {
  Eigen::MatrixXcd x = b;
  if (x.size() == 0) return x;
  const OneThread one;
  require_success(LAPACKE_zgetrs(LAPACK_COL_MAJOR, 'N', size(lu_.rows()), size(b.cols()),
                                 lu_.data(), leading(lu_), pivots_.data(), x.data(), leading(x)),
                  "zgetrs");
  return x;
}

Eigen::MatrixXcd ComplexLu::solve_adjoint(const Eigen::MatrixXcd& b) const {
  Eigen::MatrixXcd x = b;
  if (x.size() == 0) return x;
  const OneThread one;
  require_success(LAPACKE_zgetrs(LAPACK_COL_MAJOR, 'C', size(lu_.rows()), size(b.cols()),
                                 lu_.data(), leading(lu_), pivots_.data(), x.data(), leading(x)),
                  "zgetrs");
  return x;
}

namespace {

void require_regular(double rcond, const char* what) {
  if (rcond > std::numeric_limits<double>::epsilon()) return;
  throw NumericalError(std::string(what) +
                       " is singular to working precision (reciprocal condition " +
                       short_number(rcond) + ")");
}

}  // namespace

Eigen::MatrixXd solve(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, const char* what) {
  const Lu lu(a);
  require_regular(lu.rcond(), what);
  return lu.solve(b);
}

Eigen::MatrixXcd solve(const Eigen::MatrixXcd& a, const Eigen::MatrixXcd& b, const char* what) {
  const ComplexLu lu(a);
  require_regular(lu.rcond(), what);
  return lu.solve(b);
}

namespace {

// Q from the Householder vectors that dgeqrf and dgeqp3 leave below the diagonal of `factors`.
Eigen::MatrixXd q_of_reflectors(const Eigen::MatrixXd& factors, const Eigen::VectorXd& tau,
                                Columns columns) {
  const Eigen::Index rows = factors.rows(), reflectors = tau.size();
  const Eigen::Index count = columns == Columns::full ? rows : reflectors;
  Eigen::MatrixXd q = Eigen::MatrixXd::Zero(rows, count);
  if (reflectors == 0) {
    q.setIdentity();
    return q;
  }
  q.leftCols(reflectors) = factors.leftCols(reflectors);
  require_success(LAPACKE_dorgqr(LAPACK_COL_MAJOR, size(rows), size(count), size(reflectors),
                                 q.data(), leading(q), tau.data()),
                  "dorgqr");
  return q;
}

Eigen::MatrixXd upper_part(const Eigen::MatrixXd& factors, Columns columns) {
  const Eigen::Index rows =
      columns == Columns::full ? factors.rows() : std::min(factors.rows(), factors.cols());
  return factors.topRows(rows).triangularView<Eigen::Upper>();
}

}  // namespace

Qr qr(const Eigen::MatrixXd& a, Columns columns) {
  require_finite(a, "QR factorization");
  const OneThread one;
  Eigen::MatrixXd factors = a;
  Eigen::VectorXd tau(std::min(a.rows(), a.cols()));
  if (tau.size() > 0)
    require_success(LAPACKE_dgeqrf(LAPACK_COL_MAJOR, size(a.rows()), size(a.cols()), factors.data(),
                                   leading(factors), tau.data()),
                    "dgeqrf");
  return {q_of_reflectors(factors, tau, columns), upper_part(factors, columns)};
}

int PivotedQr::rank(double tolerance) const {
  const Eigen::Index count = std::min(R.rows(), R.cols());
  int rank = 0;
  while (rank < count && std::abs(R(rank, rank)) > tolerance * std::abs(R(0, 0))) ++rank;
  return rank;
}

PivotedQr pivoted_qr(const Eigen::MatrixXd& a, Columns columns) {
  require_finite(a, "QR factorization");
  const OneThread one;
  Eigen::MatrixXd factors = a;
  Eigen::VectorXd tau(std::min(a.rows(), a.cols()));
  std::vector<lapack_int> order(static_cast<std::size_t>(a.cols()), 0);
  if (tau.size() > 0)
    require_success(LAPACKE_dgeqp3(LAPACK_COL_MAJOR, size(a.rows()), size(a.cols()), factors.data(),
                                   leading(factors), order.data(), tau.data()),
                    "dgeqp3");
  else
    for (std::size_t j = 0; j < order.size(); ++j) order[j] = static_cast<lapack_int>(j) + 1;
  return {q_of_reflectors(factors, tau, columns), upper_part(factors, columns), from_one(order)};
}

std::optional<Eigen::MatrixXd> cholesky(const Eigen::MatrixXd& a) {
  require_square_and_finite(a, "Cholesky factorization");
  Eigen::MatrixXd l = a.triangularView<Eigen::Lower>();
  if (a.rows() == 0) return l;
  const OneThread one;
  const lapack_int info =
      LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', size(a.rows()), l.data(), leading(l));
  if (info > 0) return std::nullopt;
  require_success(info, "dpotrf");
  return l;
}

std::optional<Eigen::MatrixXcd> cholesky(const Eigen::MatrixXcd& a) {
  require_square_and_finite(a, "Cholesky factorization");
  Eigen::MatrixXcd l = a.triangularView<Eigen::Lower>();
  if (a.rows() == 0) return l;
  const OneThread one;
  const lapack_int info =
      LAPACKE_zpotrf(LAPACK_COL_MAJOR, 'L', size(a.rows()), l.data(), leading(l));
  if (info > 0) return std::nullopt;
  require_success(info, "zpotrf");
  return l;
}

Eigen::MatrixXd cholesky_solve(const Eigen::MatrixXd& l, const Eigen::MatrixXd& b) {
  Eigen::MatrixXd x = b;
  if (x.size() == 0) return x;
  const OneThread one;
  require_success(LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', size(l.rows()), size(b.cols()), l.data(),
                                 leading(l), x.data(), leading(x)),
                  "dpotrs");
  return x;
}

Eigen::MatrixXd least_squares(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double rcond) {
  require_finite(a, "least squares");
  require_finite(b, "least squares");
  if (a.size() == 0 || b.cols() == 0) return Eigen::MatrixXd::Zero(a.cols(), b.cols());
  const OneThread one;
  Eigen::MatrixXd factors = a;
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(std::max(a.rows(), a.cols()), b.cols());
  x.topRows(b.rows()) = b;
  Eigen::VectorXd values(std::min(a.rows(), a.cols()));
  lapack_int rank = 0;
  require_success(LAPACKE_dgelsd(LAPACK_COL_MAJOR, size(a.rows()), size(a.cols()), size(b.cols()),
                                 factors.data(), leading(factors), x.data(), leading(x),
                                 values.data(), rcond, &rank),
                  "dgelsd");
  return x.topRows(a.cols());
}

Hessenberg hessenberg(const Eigen::MatrixXd& a) {
  require_square_and_finite(a, "Hessenberg reduction");
  const OneThread one;
  const Eigen::Index n = a.rows();
  Hessenberg result{a, Eigen::MatrixXd::Identity(n, n)};
  if (n < 3) return result;
  Eigen::VectorXd tau(n - 1);
  require_success(LAPACKE_dgehrd(LAPACK_COL_MAJOR, size(n), 1, size(n), result.H.data(),
                                 leading(result.H), tau.data()),
                  "dgehrd");
  result.Q = result.H;
  require_success(LAPACKE_dorghr(LAPACK_COL_MAJOR, size(n), 1, size(n), result.Q.data(),
                                 leading(result.Q), tau.data()),
                  "dorghr");
  for (Eigen::Index j = 0; j + 2 < n; ++j) result.H.col(j).tail(n - j - 2).setZero();
  return result;
}

HessenbergTriangular hessenberg_triangular(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  require_square_and_finite(a, "Hessenberg-triangular reduction");
  require_square_and_finite(b, "Hessenberg-triangular reduction");
  const OneThread one;
  const Eigen::Index n = a.rows();
  const Qr factors = qr(b, Columns::full);
  HessenbergTriangular result{multiply(factors.Q, a, true), factors.R, factors.Q,
                              Eigen::MatrixXd::Identity(n, n)};
  if (n < 2) return result;
  require_success(
      LAPACKE_dgghrd(LAPACK_COL_MAJOR, 'V', 'V', size(n), 1, size(n), result.H.data(),
                     leading(result.H), result.T.data(), leading(result.T), result.Q.data(),
                     leading(result.Q), result.Z.data(), leading(result.Z)),
      "dgghrd");
  for (Eigen::Index j = 0; j + 2 < n; ++j) result.H.col(j).tail(n - j - 2).setZero();
  result.T.triangularView<Eigen::StrictlyLower>().setZero();
  return result;
}

Balanced balance(const Eigen::MatrixXd& a) {
  require_square_and_finite(a, "balancing");
  const OneThread one;
  Balanced result{a, Eigen::VectorXd::Ones(a.rows())};
  if (a.rows() == 0) return result;
  lapack_int low = 0, high = 0;
  require_success(LAPACKE_dgebal(LAPACK_COL_MAJOR, 'S', size(a.rows()), result.scaled.data(),
                                 leading(result.scaled), &low, &high, result.scale.data()),
                  "dgebal");
  return result;
}

TriangularSylvester triangular_sylvester(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                         const Eigen::MatrixXd& c, bool transpose_a,
                                         bool transpose_b, int sign) {
  require_square_and_finite(a, "Sylvester equation");
  require_square_and_finite(b, "Sylvester equation");
  require_finite(c, "Sylvester equation");
  TriangularSylvester result{c};
  if (c.size() == 0) return result;
  const OneThread one;
  const lapack_int info =
      LAPACKE_dtrsyl(LAPACK_COL_MAJOR, transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', sign,
                     size(a.rows()), size(b.rows()), a.data(), leading(a), b.data(), leading(b),
                     result.X.data(), leading(result.X), &result.scale);
  result.close = info == 1;
  if (info != 1) require_success(info, "dtrsyl");
  return result;
}

Eigen::MatrixXd multiply(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, bool transpose_a,
                         bool transpose_b) {
  const int m = size(transpose_a ? a.cols() : a.rows());
  const int k = size(transpose_a ? a.rows() : a.cols());
  const int n = size(transpose_b ? b.rows() : b.cols());
  if (k != (transpose_b ? b.cols() : b.rows()))
    throw NumericalError("product of matrices: inner sizes " + std::to_string(k) + " and " +
                         std::to_string(transpose_b ? b.cols() : b.rows()) + " differ");
  Eigen::MatrixXd c = Eigen::MatrixXd::Zero(m, n);
  if (c.size() == 0 || k == 0) return c;
  const OneThread one;
  const double alpha = 1.0, beta = 0.0;
  const int lda = leading(a), ldb = leading(b), ldc = leading(c);
  dgemm_(transpose_a ? "T" : "N", transpose_b ? "T" : "N", &m, &n, &k, &alpha, a.data(), &lda,
         b.data(), &ldb, &beta, c.data(), &ldc);
  return c;
}

}  // namespace catena::lapack
