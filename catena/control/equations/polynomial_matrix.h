// SPDX-License-Identifier: BSD-3-Clause
// Polynomial matrices with rational coefficients, exactly: Hermite form, Bezout equation, coprime
// matrix fractions. For verification and small symbolic designs; the state-space route (coprime.h)
// is the one for numbers [Baras, MacEnany & Munach 1989]. Arithmetic is FLINT's.
//
//   PolynomialMatrix N(1, 1), D(1, 1);
//   N.set(0, 0, "1 1");                 // 1 + s, lowest power first; entries may be fractions,
//   "-1/3" D.set(0, 0, "2 3 1"); const Bezout b = bezout(N, D);      // X N + Y D = G, the greatest
//   common right divisor
#pragma once

#include <complex>
#include <memory>
#include <string>

#include <Eigen/Core>

namespace catena {

class PolynomialMatrix {
 public:
  PolynomialMatrix(int rows, int cols);  // zero
  static PolynomialMatrix identity(int size);
  PolynomialMatrix(const PolynomialMatrix& other);
  PolynomialMatrix(PolynomialMatrix&& other) noexcept;
  PolynomialMatrix& operator=(PolynomialMatrix other) noexcept;
  ~PolynomialMatrix();

  int rows() const;
  int cols() const;
  // Coefficients lowest power first, separated by blanks. Throws NumericalError naming the word
  // that is no rational number.
  void set(int i, int j, const std::string& coefficients);
  std::string get(int i, int j) const;  // in the same form; "0" for zero
  int degree(int i, int j) const;       // −1 for zero
  // Largest numerator or denominator, in bits.
  int coefficient_bits() const;
  Eigen::MatrixXcd at(std::complex<double> s) const;

  friend PolynomialMatrix operator*(const PolynomialMatrix& a, const PolynomialMatrix& b);
  friend PolynomialMatrix operator+(const PolynomialMatrix& a, const PolynomialMatrix& b);
  friend bool operator==(const PolynomialMatrix& a, const PolynomialMatrix& b);
  PolynomialMatrix block(int row, int col, int rows, int cols) const;
  PolynomialMatrix above(const PolynomialMatrix& below) const;  // [this; below]

  struct Entries;
  Entries& entries() { return *entries_; }
  const Entries& entries() const { return *entries_; }

 private:
  std::unique_ptr<Entries> entries_;
};

// U A = H with U unimodular, H upper triangular (staircase), monic pivots, entries above a pivot of
// lower degree. U⁻¹ comes along.
struct HermiteForm {
  PolynomialMatrix H, U, U_inverse;
  int rank = 0;
  int largest_bits = 0;  // of any coefficient met on the way
};
HermiteForm hermite_form(const PolynomialMatrix& a);

// X N + Y D = G, G the greatest common right divisor of N and D in Hermite form; the identity if
// they are right coprime. N = N₁ G, D = D₁ G.
struct Bezout {
  PolynomialMatrix X, Y, G, N1, D1;
  bool coprime = false;
  int largest_bits = 0;
};
Bezout bezout(const PolynomialMatrix& N, const PolynomialMatrix& D);

// The numbers as they are: a double is a fraction with a power of two below.
PolynomialMatrix exact_constants(const Eigen::MatrixXd& a);

// C (s − A)⁻¹ B + D = N D_r⁻¹ for constant A, B, C, D: N and D_r right coprime, without
// uncontrollable and unobservable states. (s − A) X = B D_r comes from the rows of U below the
// Hermite form of [s − A, −B]ᵀ; a common divisor of N = C X + D D_r and D_r is divided out.
// `degree` is that of det D_r: the number of states of a minimal realization, decided without a
// tolerance.
struct MatrixFraction {
  PolynomialMatrix N, D;
  int degree = 0;
  int largest_bits = 0;
};
MatrixFraction coprime_fraction(const PolynomialMatrix& A, const PolynomialMatrix& B,
                                const PolynomialMatrix& C, const PolynomialMatrix& D);

}  // namespace catena
