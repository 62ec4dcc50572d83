// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/equations/polynomial_matrix.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include <flint/fmpq_poly.h>

#include "catena/base/error.h"
#include "catena/base/index.h"

namespace catena {
namespace {

// A polynomial over the rationals that copies and destroys itself.
class Polynomial {
 public:
  Polynomial() { fmpq_poly_init(p_); }
  Polynomial(const Polynomial& other) : Polynomial() { fmpq_poly_set(p_, other.p_); }
  Polynomial& operator=(const Polynomial& other) {
    fmpq_poly_set(p_, other.p_);
    return *this;
  }
  ~Polynomial() { fmpq_poly_clear(p_); }
  fmpq_poly_struct* get() { return p_; }
  // FLINT's functions take non-const arrays of one.
  fmpq_poly_struct* get() const { return const_cast<fmpq_poly_struct*>(p_); }
  bool is_zero() const { return fmpq_poly_is_zero(get()) != 0; }
  int degree() const { return static_cast<int>(fmpq_poly_degree(get())); }
  int bits() const {
    const slong numerator = std::abs(_fmpz_vec_max_bits(get()->coeffs, fmpq_poly_length(get())));
    return static_cast<int>(
        std::max(numerator, static_cast<slong>(fmpz_bits(fmpq_poly_denref(get())))));
  }

 private:
  fmpq_poly_t p_;
};

std::string text_of(const Polynomial& p) {
  if (p.is_zero()) return "0";
  std::string text;
  fmpq_t c;
  fmpq_init(c);
  for (int k = 0; k <= p.degree(); ++k) {
    fmpq_poly_get_coeff_fmpq(c, p.get(), k);
    char* digits = fmpq_get_str(nullptr, 10, c);
    text += (k > 0 ? " " : "") + std::string(digits);
    flint_free(digits);
  }
  fmpq_clear(c);
  return text;
}

}  // namespace

struct PolynomialMatrix::Entries {
  int rows = 0, cols = 0;
  std::vector<Polynomial> values;
  Polynomial& at(int i, int j) { return values[index(i * cols + j)]; }
  const Polynomial& at(int i, int j) const { return values[index(i * cols + j)]; }
};

PolynomialMatrix::PolynomialMatrix(int rows, int cols) : entries_(std::make_unique<Entries>()) {
  entries_->rows = rows;
  entries_->cols = cols;
  entries_->values.resize(index(rows * cols));
}
PolynomialMatrix::PolynomialMatrix(const PolynomialMatrix& other)
    : entries_(std::make_unique<Entries>(*other.entries_)) {}
PolynomialMatrix::PolynomialMatrix(PolynomialMatrix&& other) noexcept = default;
PolynomialMatrix& PolynomialMatrix::operator=(PolynomialMatrix other) noexcept {
  entries_ = std::move(other.entries_);
  return *this;
}
PolynomialMatrix::~PolynomialMatrix() = default;

PolynomialMatrix PolynomialMatrix::identity(int size) {
  PolynomialMatrix m(size, size);
  for (int i = 0; i < size; ++i) fmpq_poly_one(m.entries_->at(i, i).get());
  return m;
}

int PolynomialMatrix::rows() const { return entries_->rows; }
int PolynomialMatrix::cols() const { return entries_->cols; }

void PolynomialMatrix::set(int i, int j, const std::string& coefficients) {
  std::istringstream words(coefficients);
  std::string word;
  fmpq_poly_zero(entries_->at(i, j).get());
  fmpq_t c;
  fmpq_init(c);
  for (int k = 0; words >> word; ++k) {
    const bool bad = fmpq_set_str(c, word.c_str(), 10) != 0 || fmpz_is_zero(fmpq_denref(c));
    if (bad) {
      fmpq_clear(c);
      throw NumericalError("polynomial matrix: '" + word + "' in entry (" + std::to_string(i + 1) +
                           ", " + std::to_string(j + 1) +
                           ") is no rational number such as 2 or -1/3");
    }
    fmpq_canonicalise(c);
    fmpq_poly_set_coeff_fmpq(entries_->at(i, j).get(), k, c);
  }
  fmpq_clear(c);
}

std::string PolynomialMatrix::get(int i, int j) const { return text_of(entries_->at(i, j)); }
int PolynomialMatrix::degree(int i, int j) const { return entries_->at(i, j).degree(); }

int PolynomialMatrix::coefficient_bits() const {
  int most = 0;
  for (const Polynomial& p : entries_->values) most = std::max(most, p.bits());
  return most;
}

Eigen::MatrixXcd PolynomialMatrix::at(std::complex<double> s) const {
  Eigen::MatrixXcd m = Eigen::MatrixXcd::Zero(rows(), cols());
  fmpq_t c;
  fmpq_init(c);
  for (int i = 0; i < rows(); ++i)
    for (int j = 0; j < cols(); ++j)
      for (int k = degree(i, j); k >= 0; --k) {
        fmpq_poly_get_coeff_fmpq(c, entries_->at(i, j).get(), k);
        m(i, j) = m(i, j) * s + fmpq_get_d(c);
      }
  fmpq_clear(c);
  return m;
}

PolynomialMatrix operator*(const PolynomialMatrix& a, const PolynomialMatrix& b) {
  if (a.cols() != b.rows())
    throw NumericalError("polynomial matrices: inner sizes " + std::to_string(a.cols()) + " and " +
                         std::to_string(b.rows()) + " differ");
  PolynomialMatrix c(a.rows(), b.cols());
  Polynomial product;
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < b.cols(); ++j)
      for (int k = 0; k < a.cols(); ++k) {
        fmpq_poly_mul(product.get(), a.entries().at(i, k).get(), b.entries().at(k, j).get());
        Polynomial& sum = c.entries().at(i, j);
        fmpq_poly_add(sum.get(), sum.get(), product.get());
      }
  return c;
}

PolynomialMatrix operator+(const PolynomialMatrix& a, const PolynomialMatrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols())
    throw NumericalError("polynomial matrices: sizes of the summands differ");
  PolynomialMatrix c = a;
  for (std::size_t k = 0; k < c.entries().values.size(); ++k)
    fmpq_poly_add(c.entries().values[k].get(), c.entries().values[k].get(),
                  b.entries().values[k].get());
  return c;
}

bool operator==(const PolynomialMatrix& a, const PolynomialMatrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (std::size_t k = 0; k < a.entries().values.size(); ++k)
    if (!fmpq_poly_equal(a.entries().values[k].get(), b.entries().values[k].get())) return false;
  return true;
}

PolynomialMatrix PolynomialMatrix::block(int row, int col, int rows, int cols) const {
  PolynomialMatrix b(rows, cols);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) b.entries().at(i, j) = entries_->at(row + i, col + j);
  return b;
}

PolynomialMatrix PolynomialMatrix::above(const PolynomialMatrix& below) const {
  PolynomialMatrix all(rows() + below.rows(), cols());
  for (int i = 0; i < all.rows(); ++i)
    for (int j = 0; j < cols(); ++j)
      all.entries().at(i, j) = i < rows() ? entries_->at(i, j) : below.entries().at(i - rows(), j);
  return all;
}

namespace {

// Row operations on H and U, the inverse ones on the columns of U⁻¹.
class Elimination {
 public:
  explicit Elimination(const PolynomialMatrix& a)
      : form{a, PolynomialMatrix::identity(a.rows()), PolynomialMatrix::identity(a.rows())} {}

  // row_i −= q row_r.
  void subtract(int i, int r, const Polynomial& q) {
    if (q.is_zero()) return;
    for (PolynomialMatrix* m : {&form.H, &form.U})
      for (int j = 0; j < m->cols(); ++j) {
        fmpq_poly_mul(scratch_.get(), q.get(), m->entries().at(r, j).get());
        fmpq_poly_sub(m->entries().at(i, j).get(), m->entries().at(i, j).get(), scratch_.get());
      }
    PolynomialMatrix& inverse = form.U_inverse;
    for (int k = 0; k < inverse.rows(); ++k) {
      fmpq_poly_mul(scratch_.get(), q.get(), inverse.entries().at(k, i).get());
      fmpq_poly_add(inverse.entries().at(k, r).get(), inverse.entries().at(k, r).get(),
                    scratch_.get());
    }
    form.largest_bits =
        std::max({form.largest_bits, form.H.coefficient_bits(), form.U.coefficient_bits()});
  }

  void exchange(int i, int r) {
    if (i == r) return;
    for (PolynomialMatrix* m : {&form.H, &form.U})
      for (int j = 0; j < m->cols(); ++j)
        fmpq_poly_swap(m->entries().at(i, j).get(), m->entries().at(r, j).get());
    for (int k = 0; k < form.U_inverse.rows(); ++k)
      fmpq_poly_swap(form.U_inverse.entries().at(k, i).get(),
                     form.U_inverse.entries().at(k, r).get());
  }

  // Pivot monic: row over its leading coefficient.
  void normalize(int r, int c) {
    fmpq_t lead;
    fmpq_init(lead);
    fmpq_poly_get_coeff_fmpq(lead, pivot(r, c).get(), pivot(r, c).degree());
    for (PolynomialMatrix* m : {&form.H, &form.U})
      for (int j = 0; j < m->cols(); ++j)
        fmpq_poly_scalar_div_fmpq(m->entries().at(r, j).get(), m->entries().at(r, j).get(), lead);
    for (int k = 0; k < form.U_inverse.rows(); ++k)
      fmpq_poly_scalar_mul_fmpq(form.U_inverse.entries().at(k, r).get(),
                                form.U_inverse.entries().at(k, r).get(), lead);
    fmpq_clear(lead);
  }

  Polynomial& pivot(int i, int j) { return form.H.entries().at(i, j); }

  Polynomial quotient(int i, int r, int c) {
    Polynomial q;
    fmpq_poly_div(q.get(), pivot(i, c).get(), pivot(r, c).get());
    return q;
  }

  HermiteForm form;

 private:
  Polynomial scratch_;
};

}  // namespace

HermiteForm hermite_form(const PolynomialMatrix& a) {
  Elimination e(a);
  int r = 0;
  for (int c = 0; c < a.cols() && r < a.rows(); ++c) {
    // Euclid among the rows from r on: the one of least degree divides the others.
    while (true) {
      int least = -1, nonzero = 0;
      for (int i = r; i < a.rows(); ++i) {
        if (e.pivot(i, c).is_zero()) continue;
        ++nonzero;
        if (least < 0 || e.pivot(i, c).degree() < e.pivot(least, c).degree()) least = i;
      }
      if (nonzero == 0) break;
      e.exchange(least, r);
      if (nonzero == 1) break;
      for (int i = r + 1; i < a.rows(); ++i)
        if (!e.pivot(i, c).is_zero()) e.subtract(i, r, e.quotient(i, r, c));
    }
    if (e.pivot(r, c).is_zero()) continue;
    e.normalize(r, c);
    for (int i = 0; i < r; ++i)
      if (!e.pivot(i, c).is_zero()) e.subtract(i, r, e.quotient(i, r, c));
    ++r;
  }
  e.form.rank = r;
  return std::move(e.form);
}

Bezout bezout(const PolynomialMatrix& N, const PolynomialMatrix& D) {
  const int m = D.cols(), p = N.rows();
  if (N.cols() != m || D.rows() != m)
    throw NumericalError("Bezout equation: D must be square with as many columns as N");
  const HermiteForm f = hermite_form(D.above(N));
  if (f.rank < m)
    throw NumericalError(
        "Bezout equation: [D; N] has no full column rank, so D is singular for every s");
  Bezout b{f.U.block(0, m, m, p), f.U.block(0, 0, m, m), f.H.block(0, 0, m, m),
           f.U_inverse.block(m, 0, p, m), f.U_inverse.block(0, 0, m, m)};
  b.coprime = b.G == PolynomialMatrix::identity(m);
  b.largest_bits = f.largest_bits;
  return b;
}

PolynomialMatrix exact_constants(const Eigen::MatrixXd& a) {
  PolynomialMatrix m(static_cast<int>(a.rows()), static_cast<int>(a.cols()));
  fmpq_t q;
  fmpq_init(q);
  for (int i = 0; i < m.rows(); ++i)
    for (int j = 0; j < m.cols(); ++j) {
      if (!std::isfinite(a(i, j)))
        throw NumericalError("exact constants: entry (" + std::to_string(i + 1) + ", " +
                             std::to_string(j + 1) + ") is not a finite number");
      constexpr int kDigits = 53;
      int exponent = 0;
      const double mantissa = std::frexp(a(i, j), &exponent);
      fmpz_set_d(fmpq_numref(q), std::ldexp(mantissa, kDigits));
      fmpz_one(fmpq_denref(q));
      exponent -= kDigits;
      if (exponent >= 0)
        fmpz_mul_2exp(fmpq_numref(q), fmpq_numref(q), static_cast<ulong>(exponent));
      else
        fmpz_mul_2exp(fmpq_denref(q), fmpq_denref(q), static_cast<ulong>(-exponent));
      fmpq_canonicalise(q);
      fmpq_poly_set_fmpq(m.entries().at(i, j).get(), q);
    }
  fmpq_clear(q);
  return m;
}

MatrixFraction coprime_fraction(const PolynomialMatrix& A, const PolynomialMatrix& B,
                                const PolynomialMatrix& C, const PolynomialMatrix& D) {
  const int n = A.rows(), m = B.cols(), p = C.rows();
  if (A.cols() != n || B.rows() != n || C.cols() != n || D.rows() != p || D.cols() != m)
    throw NumericalError("coprime fraction: the sizes of A, B, C and D do not fit");
  for (const PolynomialMatrix* constant : {&A, &B, &C, &D})
    for (int i = 0; i < constant->rows(); ++i)
      for (int j = 0; j < constant->cols(); ++j)
        if (constant->degree(i, j) > 0)
          throw NumericalError("coprime fraction: A, B, C and D must be constant");
  PolynomialMatrix pencil(n + m, n);  // [s − A, −B]ᵀ
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      fmpq_poly_neg(pencil.entries().at(j, i).get(), A.entries().at(i, j).get());
    fmpq_poly_set_coeff_si(pencil.entries().at(i, i).get(), 1, 1);
    for (int j = 0; j < m; ++j)
      fmpq_poly_neg(pencil.entries().at(n + j, i).get(), B.entries().at(i, j).get());
  }
  const HermiteForm f = hermite_form(pencil);
  PolynomialMatrix x(n, m), denominator(m, m);
  for (int k = 0; k < m; ++k) {
    for (int i = 0; i < n; ++i) x.entries().at(i, k) = f.U.entries().at(n + k, i);
    for (int i = 0; i < m; ++i) denominator.entries().at(i, k) = f.U.entries().at(n + k, n + i);
  }
  const Bezout b = bezout(C * x + D * denominator, denominator);
  MatrixFraction r{b.N1, b.D1, 0, std::max(f.largest_bits, b.largest_bits)};
  const HermiteForm triangle = hermite_form(r.D);
  for (int i = 0; i < m; ++i) r.degree += triangle.H.degree(i, i);
  return r;
}

}  // namespace catena
