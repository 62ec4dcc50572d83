// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/sparse/dynamic_stiffness.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/OrderingMethods>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Sparse = Eigen::SparseMatrix<double>;

// The union of the patterns of M, D and K.
Sparse common_pattern(const SecondOrder& s) {
  const int n = s.freedom_count();
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(to_size(s.M.nonZeros() + s.D.nonZeros() + s.K.nonZeros() + n));
  for (const Sparse* a : {&s.M, &s.D, &s.K})
    for (int c = 0; c < a->outerSize(); ++c)
      for (Sparse::InnerIterator it(*a, c); it; ++it) entries.emplace_back(it.row(), c, 1.0);
  for (int i = 0; i < n; ++i) entries.emplace_back(i, i, 1.0);
  Sparse pattern(n, n);
  pattern.setFromTriplets(entries.begin(), entries.end());
  return pattern;
}

void find_order(const Sparse& all, StiffnessPattern& p) {
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
  Eigen::AMDOrdering<int>()(all.selfadjointView<Eigen::Upper>(), permutation);
  const int n = static_cast<int>(all.rows());
  p.order.assign(permutation.indices().begin(), permutation.indices().end());
  p.inverse.resize(to_size(n));
  for (int i = 0; i < n; ++i) at(p.inverse, at(p.order, i)) = i;
}

// Upper triangle of the permuted pattern by columns, rows ascending.
void find_upper(const Sparse& all, StiffnessPattern& p) {
  const int n = p.size();
  p.begin.assign(to_size(n) + 1, 0);
  for (int c = 0; c < n; ++c)
    for (Sparse::InnerIterator it(all, c); it; ++it) {
      const int i = at(p.inverse, it.row()), j = at(p.inverse, c);
      if (i <= j) ++at(p.begin, j + 1);
    }
  for (int c = 0; c < n; ++c) at(p.begin, c + 1) += at(p.begin, c);
  p.row.resize(to_size(p.begin.back()));
  std::vector<int> next(p.begin.begin(), p.begin.end() - 1);
  for (int c = 0; c < n; ++c)
    for (Sparse::InnerIterator it(all, c); it; ++it) {
      const int i = at(p.inverse, it.row()), j = at(p.inverse, c);
      if (i <= j) at(p.row, at(next, j)++) = i;
    }
  for (int c = 0; c < n; ++c)
    std::sort(p.row.begin() + at(p.begin, c), p.row.begin() + at(p.begin, c + 1));
}

std::vector<double> upper_entries(const Sparse& a, const StiffnessPattern& p) {
  std::vector<double> values(p.row.size(), 0.0);
  for (int c = 0; c < a.outerSize(); ++c)
    for (Sparse::InnerIterator it(a, c); it; ++it) {
      const int i = at(p.inverse, it.row()), j = at(p.inverse, c);
      if (i > j) continue;
      const auto first = p.row.begin() + at(p.begin, j), last = p.row.begin() + at(p.begin, j + 1);
      at(values, std::lower_bound(first, last, i) - p.row.begin()) += it.value();
    }
  return values;
}

// The elimination tree and how many entries each column of L has.
void analyze(StiffnessPattern& p) {
  const int n = p.size();
  p.parent.assign(to_size(n), -1);
  std::vector<int> flag(to_size(n)), count(to_size(n), 0);
  for (int k = 0; k < n; ++k) {
    at(flag, k) = k;
    for (int e = at(p.begin, k); e < at(p.begin, k + 1); ++e)
      for (int i = at(p.row, e); i < k && at(flag, i) != k; i = at(p.parent, i)) {
        if (at(p.parent, i) < 0) at(p.parent, i) = k;
        ++at(count, i);
        at(flag, i) = k;
      }
  }
  p.column.assign(to_size(n) + 1, 0);
  long long entries = 0;
  for (int k = 0; k < n; ++k) {
    entries += at(count, k);
    if (entries > std::numeric_limits<int>::max())
      throw NumericalError(
          "sparse factorization: the factor has more than 2e9 entries; the "
          "structure is too densely connected");
    at(p.column, k + 1) = static_cast<int>(entries);
  }
}

template <class T>
struct Factor {
  std::vector<int>& row;
  std::vector<T>& lower;
  std::vector<T>& diagonal;
};

inline void subtract_product(double& y, double l, double x) { y -= l * x; }
inline void subtract_product(Complex& y, const Complex& l, const Complex& x) {
  // Without the test for infinities that operator* makes.
  y = {y.real() - (l.real() * x.real() - l.imag() * x.imag()),
       y.imag() - (l.real() * x.imag() + l.imag() * x.real())};
}

// Row k of L after row k of A: y = L⁻¹ a_k on the pattern that the elimination tree gives.
// Returns the row whose pivot is not a nonzero finite number, or −1.
template <class T, class Entry>
int factorize(const StiffnessPattern& p, const Entry& entry, Factor<T> f) {
  const int n = p.size();
  f.row.resize(to_size(p.column.back()));
  f.lower.resize(to_size(p.column.back()));
  f.diagonal.resize(to_size(n));
  std::vector<T> y(to_size(n), T(0));
  std::vector<int> flag(to_size(n)), pattern(to_size(n)),
      filled(p.column.begin(), p.column.end() - 1);
  for (int k = 0; k < n; ++k) {
    int top = n;
    at(flag, k) = k;
    for (int e = at(p.begin, k); e < at(p.begin, k + 1); ++e) {
      int i = at(p.row, e), length = 0;
      at(y, i) = entry(e);
      for (; i < k && at(flag, i) != k; i = at(p.parent, i)) {
        at(pattern, length++) = i;
        at(flag, i) = k;
      }
      while (length > 0) at(pattern, --top) = at(pattern, --length);
    }
    T pivot = at(y, k);
    at(y, k) = T(0);
    for (; top < n; ++top) {
      const int i = at(pattern, top), end = at(filled, i);
      const T x = at(y, i);
      at(y, i) = T(0);
      for (int e = at(p.column, i); e < end; ++e)
        subtract_product(at(y, at(f.row, e)), at(f.lower, e), x);
      const T l = x / at(f.diagonal, i);
      subtract_product(pivot, l, x);
      at(f.row, end) = k;
      at(f.lower, end) = l;
      ++at(filled, i);
    }
    at(f.diagonal, k) = pivot;
    if (!(std::abs(pivot) > 0.0) || !std::isfinite(std::abs(pivot))) return k;
  }
  return -1;
}

template <class T>
using Block = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

// All columns of b together: a row of the solution is contiguous.
template <class T>
Block<T> solve_factored(const StiffnessPattern& p, const std::vector<int>& row,
                        const std::vector<T>& lower, const std::vector<T>& diagonal,
                        const Block<T>& b) {
  const int n = p.size(), m = static_cast<int>(b.cols());
  std::vector<T> x(to_size(n) * to_size(m));
  const auto line = [&](int i) { return x.data() + to_size(i) * to_size(m); };
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < m; ++c) line(i)[c] = b(at(p.order, i), c);
  for (int k = 0; k < n; ++k) {
    const T* from = line(k);
    for (int e = at(p.column, k); e < at(p.column, k + 1); ++e) {
      T* to = line(at(row, e));
      for (int c = 0; c < m; ++c) subtract_product(to[c], at(lower, e), from[c]);
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    T* to = line(k);
    for (int c = 0; c < m; ++c) to[c] /= at(diagonal, k);
    for (int e = at(p.column, k); e < at(p.column, k + 1); ++e) {
      const T* from = line(at(row, e));
      for (int c = 0; c < m; ++c) subtract_product(to[c], at(lower, e), from[c]);
    }
  }
  Block<T> result(n, m);
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < m; ++c) result(at(p.order, i), c) = line(i)[c];
  return result;
}

}  // namespace

void require_symmetric(const SecondOrder& s, const char* what) {
  const std::pair<const char*, const Sparse*> matrices[] = {{"M", &s.M}, {"D", &s.D}, {"K", &s.K}};
  for (const auto& [name, a] : matrices) {
    if (a->nonZeros() == 0) continue;
    const Sparse transposed = a->transpose();
    const Sparse difference = *a - transposed;
    double largest = 0.0, apart = 0.0;
    for (int c = 0; c < a->outerSize(); ++c) {
      for (Sparse::InnerIterator it(*a, c); it; ++it)
        largest = std::max(largest, std::abs(it.value()));
      for (Sparse::InnerIterator it(difference, c); it; ++it)
        apart = std::max(apart, std::abs(it.value()));
    }
    if (apart > 1e-10 * largest)
      throw Error(std::string(what) + ": " + name + " is not symmetric (entries differ by " +
                  short_number(apart) +
                  "); gyroscopic and circulatory terms need the dense form, "
                  "state_space(structure)");
  }
}

void require_mass(const SecondOrder& s, const char* what) {
  const std::string front = std::string(what) + ": M is not positive definite: ";
  for (int i = 0; i < s.freedom_count(); ++i)
    if (!(s.M.coeff(i, i) > 0.0))
      throw NumericalError(front + "entry (" + std::to_string(i + 1) + ", " +
                           std::to_string(i + 1) + ") is " + short_number(s.M.coeff(i, i)) +
                           "; give the freedom a mass, or condense it out of K");
  SecondOrder mass = s;
  mass.K = s.M;
  mass.D = Sparse();
  constexpr double kRounding = 1e-14;
  int negative = 0;
  bool singular = false;
  try {
    const ShiftedStiffness factors(DynamicStiffness(mass), 0.0);
    negative = factors.eigenvalues_below();
    singular = factors.pivot_ratio() < kRounding;
  } catch (const NumericalError&) {
    singular = true;
  }
  if (negative > 0)
    throw NumericalError(front + std::to_string(negative) +
                         " eigenvalues are negative; check the signs of the masses");
  if (singular)
    throw NumericalError(front +
                         "it is singular to rounding; give every freedom a mass, or condense "
                         "those without out of K");
}

DynamicStiffness::DynamicStiffness(const SecondOrder& structure) {
  structure.validate();
  require_symmetric(structure, "sparse structure");
  if (structure.freedom_count() == 0) throw Error("sparse structure: it has no freedoms");
  auto p = std::make_shared<StiffnessPattern>();
  const Sparse all = common_pattern(structure);
  find_order(all, *p);
  find_upper(all, *p);
  p->m = upper_entries(structure.M, *p);
  p->k = upper_entries(structure.K, *p);
  p->d = structure.D.nonZeros() > 0 ? upper_entries(structure.D, *p)
                                    : std::vector<double>(p->row.size(), 0.0);
  analyze(*p);
  pattern_ = std::move(p);
}

void DynamicStiffness::factor(Complex s) {
  const StiffnessPattern& p = *pattern_;
  s_ = s;
  const Complex s2 = s * s;
  const auto entry = [&](int e) {
    return Complex(s2.real() * at(p.m, e) + s.real() * at(p.d, e) + at(p.k, e),
                   s2.imag() * at(p.m, e) + s.imag() * at(p.d, e));
  };
  const int wrong = factorize<Complex>(p, entry, {row_, lower_, diagonal_});
  if (wrong >= 0)
    throw NumericalError(
        "sparse structure: the dynamic stiffness is singular at s = " + short_number(s.real()) +
        " + " + short_number(s.imag()) + "i (freedom " + std::to_string(at(p.order, wrong) + 1) +
        "): a pole of the structure; add damping, or leave this frequency out");
}

Eigen::MatrixXcd DynamicStiffness::solve(const Eigen::MatrixXcd& b) const {
  return solve_factored(*pattern_, row_, lower_, diagonal_, b);
}

double DynamicStiffness::backward_error(const Eigen::MatrixXcd& x,
                                        const Eigen::MatrixXcd& b) const {
  const StiffnessPattern& p = *pattern_;
  const int n = p.size();
  const Complex s2 = s_ * s_;
  const auto size_of = [](const Complex& z) { return std::abs(z.real()) + std::abs(z.imag()); };
  Eigen::VectorXcd residual = b.col(0);
  Eigen::VectorXd size(n);
  for (int i = 0; i < n; ++i) size[i] = size_of(b(i, 0));
  for (int j = 0; j < n; ++j)
    for (int e = at(p.begin, j); e < at(p.begin, j + 1); ++e) {
      const Complex a = s2 * at(p.m, e) + s_ * at(p.d, e) + at(p.k, e);
      const int i0 = at(p.order, at(p.row, e)), j0 = at(p.order, j);
      residual[i0] -= a * x(j0, 0);
      size[i0] += size_of(a) * size_of(x(j0, 0));
      if (i0 == j0) continue;
      residual[j0] -= a * x(i0, 0);
      size[j0] += size_of(a) * size_of(x(i0, 0));
    }
  return residual.cwiseAbs().maxCoeff() / std::max(size.maxCoeff(), 1e-300);
}

ShiftedStiffness::ShiftedStiffness(const DynamicStiffness& structure, double sigma)
    : pattern_(structure.pattern()) {
  const StiffnessPattern& p = *pattern_;
  const auto entry = [&](int e) { return at(p.k, e) - sigma * at(p.m, e); };
  const int wrong = factorize<double>(p, entry, {row_, lower_, diagonal_});
  if (wrong >= 0)
    throw NumericalError(
        "sparse structure: K - sigma M is singular at sigma = " + short_number(sigma) +
        " (freedom " + std::to_string(at(p.order, wrong) + 1) + ")");
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (const double pivot : diagonal_) {
    negative_ += pivot < 0.0;
    least = std::min(least, std::abs(pivot));
    most = std::max(most, std::abs(pivot));
  }
  ratio_ = most > 0.0 ? least / most : 0.0;
}

Eigen::MatrixXd ShiftedStiffness::solve(const Eigen::MatrixXd& b) const {
  return solve_factored(*pattern_, row_, lower_, diagonal_, b);
}

}  // namespace catena
