// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/robust/complex_dense.h"
#include "catena/robust/mu_scaling.h"

namespace catena {
namespace {

using complex_dense::adjoint_product;
using complex_dense::hermitian_part;
using complex_dense::lower_solve;
using complex_dense::product;
using complex_dense::product_adjoint;
using Complex = std::complex<double>;
using Matrix = Eigen::MatrixXcd;
constexpr Complex kJ{0.0, 1.0};

// λ decreases to this part of the distance between it and the level that the center proves.
constexpr double kLevelStep = 0.05;
constexpr double kCentered = 0.3;  // Newton decrement at which a center is good enough
constexpr int kStepsForACenter = 12;
constexpr int kCenters = 60;
constexpr double kLeastStep = 1e-8;  // of a Newton step
constexpr double kGrowth = 1e-13;    // first relative margin of a confirmation by Cholesky
constexpr double kBalanced = 1e-3;   // Osborne: relative change of a sweep that ends it
constexpr int kBalanceSweeps = 60;
constexpr double kVanishes = 1e-13;  // of σ_max(M): below, the bound is zero

struct Entry {
  int row = 0, column = 0;  // in the stack [p; q]
  Complex value{};
};

// One real unknown: F_i = Pᴴ (λ T_p + T_rest) P and D_i = T_p.
struct Variable {
  std::vector<Entry> p;  // multiplied by λ; also its part in D_r
  std::vector<Entry> rest;
  double trace = 0.0;  // of D_i
  bool of_g = false;
  int block = 0;
  int a = 0, b = 0;  // place within the block
  bool imaginary = false;
};

// The Hermitian basis of a repeated block: e_a e_aᵀ, and for a < b the symmetric and the skew part.
template <class F>
void each_hermitian(int n, F f) {
  for (int a = 0; a < n; ++a)
    for (int b = a; b < n; ++b) {
      f(a, b, false);
      if (b > a) f(a, b, true);
    }
}

std::vector<Variable> make_variables(const BlockStructure& structure, bool use_g) {
  std::vector<Variable> all;
  const int p_count = structure.rows();
  for (int k = 0; k < structure.size(); ++k) {
    const Block& block = structure[k];
    const int p = structure.row_offset(k), q = p_count + structure.column_offset(k);
    if (block.kind == BlockKind::full) {
      Variable v;
      v.block = k;
      for (int i = 0; i < block.rows; ++i) v.p.push_back({p + i, p + i, 1.0});
      for (int i = 0; i < block.columns; ++i) v.rest.push_back({q + i, q + i, -1.0});
      v.trace = block.rows;
      all.push_back(v);
      continue;
    }
    each_hermitian(block.rows, [&](int a, int b, bool imaginary) {
      Variable v;
      v.block = k;
      v.a = a;
      v.b = b;
      v.imaginary = imaginary;
      const Complex x = imaginary ? kJ : Complex(1.0);
      v.p = {{p + a, p + b, x}};
      v.rest = {{q + a, q + b, -x}};
      if (a != b) {
        v.p.push_back({p + b, p + a, std::conj(x)});
        v.rest.push_back({q + b, q + a, -std::conj(x)});
      }
      v.trace = a == b ? 1.0 : 0.0;
      all.push_back(v);
      if (block.kind != BlockKind::real || !use_g) return;
      Variable g = v;
      g.of_g = true;
      g.p.clear();
      g.trace = 0.0;
      g.rest = {{p + a, q + b, -kJ * x}, {q + b, p + a, kJ * std::conj(x)}};
      if (a != b) {
        g.rest.push_back({p + b, q + a, -kJ * std::conj(x)});
        g.rest.push_back({q + a, p + b, kJ * x});
      }
      all.push_back(g);
    });
  }
  return all;
}

// Mᴴ (D M) + j (G M − Mᴴ G), `dm` = D M.
Matrix quadratic_of(const Matrix& m, const Matrix& dm, const Matrix& g) {
  Matrix a = adjoint_product(m, dm);
  if (g.size() != 0) {
    const Matrix gm = product(g, m);
    a += kJ * (gm - gm.adjoint());
  }
  return hermitian_part(a);
}

// The present point, in coordinates in which D = 1: M is scaled by S_c M S_r⁻¹, G by S_r⁻ᴴ G S_r⁻¹.
class Search {
 public:
  Search(const Matrix& m, double size, const BlockStructure& structure, bool use_g,
         const MuScaling& start)
      : structure_(structure),
        variables_(make_variables(structure, use_g)),
        m_(m / size),
        sr_(Matrix::Identity(m.cols(), m.cols())),
        sc_(Matrix::Identity(m.rows(), m.rows())),
        g_(Matrix::Zero(m.cols(), m.rows())) {
    if (use_g && start.g.size() != 0) g_ = start.g / size;
    rescale(start.d_rows, start.d_columns);
    first_ = inverse(sr_);
  }

  // The least level λ that the present D and G prove.
  double level() const { return lapack::hermitian_eig(quadratic()).values.maxCoeff(); }

  // A few Newton steps towards the center of this level, which must be above level(). False: no
  // progress is possible any more.
  bool center(double lambda) {
    for (int i = 0; i < kStepsForACenter; ++i) {
      const double decrement = step(lambda);
      if (decrement < 0.0) return i > 0;
      if (decrement < kCentered) break;
    }
    return true;
  }

  MuScaling scaling() const {
    MuScaling s;
    s.d_rows = adjoint_product(sr_, sr_);
    s.d_columns = adjoint_product(sc_, sc_);
    const double size = s.d_rows.trace().real() / static_cast<double>(s.d_rows.rows());
    s.d_rows /= size;
    s.d_columns /= size;
    Matrix g = Matrix::Zero(g_.rows(), g_.cols());
    bool any = false;
    for (int k = 0; k < structure_.size(); ++k) {
      if (structure_[k].kind != BlockKind::real) continue;
      const int n = structure_[k].rows, p = structure_.row_offset(k),
                q = structure_.column_offset(k);
      const Matrix s_k = sr_.block(p, p, n, n);
      g.block(p, q, n, n) = adjoint_product(s_k, product(g_.block(p, q, n, n), s_k)) / size;
      any = any || g.block(p, q, n, n).cwiseAbs().maxCoeff() > 0.0;
    }
    if (any) s.g = g;
    return s;
  }

  int steps() const { return steps_; }

 private:
  static Matrix inverse(const Matrix& a) {
    return lapack::solve(a, Matrix::Identity(a.rows(), a.cols()), "a scaling");
  }

  // Mᴴ M + j (G M − Mᴴ G) at D = 1.
  Matrix quadratic() const { return quadratic_of(m_, m_, g_); }

  // To D_r, D_c: S with Sᴴ S = D, block by block.
  void rescale(const Matrix& d_rows, const Matrix& d_columns) {
    for (int k = 0; k < structure_.size(); ++k) {
      const Block& block = structure_[k];
      const int p = structure_.row_offset(k), q = structure_.column_offset(k);
      const int r = block.rows, c = block.columns;
      if (block.kind == BlockKind::full || r == 1) {
        const double s =
            std::sqrt(std::max(d_rows(p, p).real(), std::numeric_limits<double>::min()));
        sr_.middleRows(p, r) *= s;
        sc_.middleRows(q, c) *= s;
        m_.middleRows(q, c) *= s;
        m_.middleCols(p, r) /= s;
        if (r == 1 && block.kind == BlockKind::real) g_(p, q) /= s * s;
        continue;
      }
      (void)d_columns;  // the same as d_rows for repeated blocks
      const std::optional<Matrix> factor = lapack::cholesky(Matrix(d_rows.block(p, p, r, r)));
      if (!factor) throw NumericalError("a scaling D is not positive definite");
      const Matrix s = factor->adjoint();  // sᴴ s = D
      const Matrix back = inverse(s);
      sr_.middleRows(p, r) = product(s, sr_.middleRows(p, r));
      sc_.middleRows(q, r) = product(s, sc_.middleRows(q, r));
      m_.middleRows(q, r) = product(s, m_.middleRows(q, r));
      m_.middleCols(p, r) = product(m_.middleCols(p, r), back);
      if (block.kind == BlockKind::real)
        g_.block(p, q, r, r) = adjoint_product(back, product(g_.block(p, q, r, r), back));
    }
  }

  static Complex sum(const std::vector<Entry>& t, const Matrix& y) {
    Complex s{};
    for (const Entry& e : t) s += e.value * y(e.column, e.row);
    return s;
  }

  std::vector<Entry> entries(const Variable& v, double lambda) const {
    std::vector<Entry> t = v.rest;
    for (const Entry& e : v.p) t.push_back({e.row, e.column, lambda * e.value});
    return t;
  }

  // tr(Y T_i Y T_j) of Hermitian Y.
  static double trace_product(const std::vector<Entry>& ti, const std::vector<Entry>& tj,
                              const Matrix& y) {
    double s = 0.0;
    for (const Entry& a : ti)
      for (const Entry& b : tj)
        s += (a.value * y(a.column, b.row) * b.value * y(b.column, a.row)).real();
    return s;
  }

  // One damped Newton step; its decrement, or -1 if F is not positive or no step is found.
  double step(double lambda) {
    const Eigen::Index n = m_.cols();
    const Matrix f = lambda * Matrix::Identity(n, n) - quadratic();
    const std::optional<Matrix> factor = lapack::cholesky(f);
    if (!factor) return -1.0;
    Matrix p(n + m_.rows(), n);
    p << Matrix::Identity(n, n), m_;
    const Matrix z = lower_solve(*factor, p.adjoint());
    const Matrix y = adjoint_product(z, z);

    const int count = static_cast<int>(variables_.size());
    std::vector<std::vector<Entry>> t(to_size(count));
    // The trace of D, in the coordinates of the start, is held. (Of D in the present ones would be
    // another function in every step, and the sequence would not minimize anything.)
    const Matrix since = product(sr_, first_);
    const Matrix weight = product_adjoint(since, since);
    Eigen::VectorXd gradient(count), trace(count);
    for (int i = 0; i < count; ++i) {
      const Variable& v = variables_[to_size(i)];
      t[to_size(i)] = entries(v, lambda);
      trace[i] = sum(v.p, weight).real();
      gradient[i] = -sum(t[to_size(i)], y).real() - v.trace;
    }
    Eigen::MatrixXd hessian(count, count);
    for (int i = 0; i < count; ++i)
      for (int j = i; j < count; ++j)
        hessian(i, j) = hessian(j, i) = trace_product(t[to_size(i)], t[to_size(j)], y) + of_d(i, j);
    const Eigen::VectorXd dx = newton(hessian, gradient, trace);
    const double decrement = std::sqrt(std::max(0.0, -gradient.dot(dx)));
    ++steps_;
    return take(dx, decrement, lambda, *factor) ? decrement : -1.0;
  }

  // Of −log det D at D = 1: tr(D_i D_j).
  double of_d(int i, int j) const {
    const Variable &a = variables_[to_size(i)], &b = variables_[to_size(j)];
    if (a.of_g || b.of_g || a.block != b.block) return 0.0;
    if (structure_[a.block].kind == BlockKind::full) return structure_[a.block].rows;
    if (i != j) return 0.0;
    return a.a == a.b ? 1.0 : 2.0;
  }

  // Minimizes gᵀ x + xᵀ H x / 2 with the trace of D held.
  static Eigen::VectorXd newton(Eigen::MatrixXd h, const Eigen::VectorXd& g,
                                const Eigen::VectorXd& trace) {
    const Eigen::VectorXd scale = h.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
    h = (scale.asDiagonal() * h * scale.asDiagonal()).eval();
    h.diagonal().array() += 1e-14;
    const Cholesky factor(h);
    const Eigen::VectorXd c = scale.cwiseProduct(trace);
    const Eigen::VectorXd hg = factor.solve(scale.cwiseProduct(g)), hc = factor.solve(c);
    const double multiplier = c.dot(hg) / c.dot(hc);
    return -scale.cwiseProduct(hg - multiplier * hc);
  }

  // log det from a Cholesky factor.
  static double log_det(const Matrix& factor) {
    return 2.0 * factor.diagonal().real().array().log().sum();
  }

  bool take(const Eigen::VectorXd& dx, double decrement, double lambda, const Matrix& factor) {
    if (!dx.allFinite()) return false;
    const Eigen::Index n = m_.cols();
    Matrix dd = Matrix::Zero(n, n), dc = Matrix::Zero(m_.rows(), m_.rows());
    Matrix dg = Matrix::Zero(g_.rows(), g_.cols());
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const Variable& v = variables_[i];
      const double x = dx[static_cast<Eigen::Index>(i)];
      if (v.of_g) {
        const int p = structure_.row_offset(v.block), q = structure_.column_offset(v.block);
        const Complex e = v.imaginary ? kJ : Complex(1.0);
        dg(p + v.a, q + v.b) += x * e;
        if (v.a != v.b) dg(p + v.b, q + v.a) += x * std::conj(e);
        continue;
      }
      for (const Entry& e : v.p) dd(e.row, e.column) += x * e.value;
      for (const Entry& e : v.rest) dc(e.row - n, e.column - n) -= x * e.value;
    }
    const double start = -log_det(factor);
    const double slope = -decrement * decrement;
    for (double alpha = 1.0; alpha > kLeastStep; alpha *= 0.5) {
      const Matrix d = Matrix::Identity(n, n) + alpha * dd;
      const std::optional<Matrix> d_factor = lapack::cholesky(d);
      if (!d_factor) continue;
      const Matrix g = g_ + alpha * dg;
      const Matrix f = lambda * d - quadratic_of(m_, m_ + alpha * product(dc, m_), g);
      const std::optional<Matrix> f_factor = lapack::cholesky(f);
      if (!f_factor) continue;
      if (-log_det(*f_factor) - log_det(*d_factor) > start + 0.1 * alpha * slope) continue;
      g_ = g;
      rescale(d, Matrix::Identity(m_.rows(), m_.rows()) + alpha * dc);
      return true;
    }
    return false;
  }

  const BlockStructure& structure_;
  std::vector<Variable> variables_;
  Matrix m_, sr_, sc_, g_;
  Matrix first_;  // S_r⁻¹ of the start
  int steps_ = 0;
};

MuScaling identity_scaling(const BlockStructure& structure) {
  MuScaling s;
  s.d_rows = Matrix::Identity(structure.rows(), structure.rows());
  s.d_columns = Matrix::Identity(structure.columns(), structure.columns());
  return s;
}

}  // namespace

MuScaling balance_blocks(const Matrix& m, const BlockStructure& structure) {
  const int blocks = structure.size();
  // Squared Frobenius norms of M's parts between blocks.
  Eigen::MatrixXd size(blocks, blocks);
  for (int i = 0; i < blocks; ++i)
    for (int j = 0; j < blocks; ++j)
      size(i, j) = m.block(structure.column_offset(i), structure.row_offset(j),
                           structure[i].columns, structure[j].rows)
                       .squaredNorm();
  const double floor = 1e-24 * size.sum() + std::numeric_limits<double>::min();
  Eigen::VectorXd d2 = Eigen::VectorXd::Ones(blocks);  // squares of d
  for (int sweep = 0; sweep < kBalanceSweeps; ++sweep) {
    double change = 0.0;
    for (int k = 0; k < blocks; ++k) {
      double row = floor, column = floor;
      for (int j = 0; j < blocks; ++j) {
        if (j == k) continue;
        row += size(k, j) / d2[j];
        column += size(j, k) * d2[j];
      }
      const double next = std::sqrt(column / row);
      change = std::max(change, std::abs(std::log(next / d2[k])));
      d2[k] = next;
    }
    if (change < kBalanced) break;
  }
  MuScaling s = identity_scaling(structure);
  for (int k = 0; k < blocks; ++k) {
    s.d_rows.diagonal().segment(structure.row_offset(k), structure[k].rows).setConstant(d2[k]);
    s.d_columns.diagonal()
        .segment(structure.column_offset(k), structure[k].columns)
        .setConstant(d2[k]);
  }
  return s;
}

double mu_level(const Matrix& m, const BlockStructure& structure, const MuScaling& scaling) {
  if (scaling.d_rows.rows() != structure.rows() || scaling.d_columns.rows() != structure.columns())
    throw Error("the scaling of a bound does not fit the structure of its blocks");
  const Matrix a = quadratic_of(m, product(scaling.d_columns, m), scaling.g);
  const std::optional<Matrix> d = lapack::cholesky(scaling.d_rows);
  if (!d) return std::numeric_limits<double>::infinity();
  const Matrix scaled = hermitian_part(lower_solve(*d, lower_solve(*d, a).adjoint()));
  const double norm = scaled.cwiseAbs().rowwise().sum().maxCoeff();
  double level = std::max(0.0, lapack::hermitian_eig(scaled).values.maxCoeff());
  // Confirmed in the coordinates given.
  for (double margin = kGrowth; margin < 1.0; margin *= 4.0) {
    const double raised = level + margin * norm;
    if (lapack::cholesky(Matrix(raised * scaling.d_rows - a))) return std::sqrt(raised);
  }
  return std::numeric_limits<double>::infinity();
}

ScalingSearch find_scaling(const Matrix& m, const BlockStructure& structure, bool use_g,
                           double tolerance, const MuScaling* start) {
  ScalingSearch result;
  const double size = lapack::norm2(m);
  if (size == 0.0) {
    result.scaling = identity_scaling(structure);
    return result;
  }
  Search search(m, size, structure, use_g && structure.has_real(),
                start ? *start : balance_blocks(m, structure));
  double level = search.level();
  std::vector<MuScaling> reached{search.scaling()};
  double lambda = level + 0.1 * std::abs(level) + 1e-3 * kVanishes;
  for (int i = 0; i < kCenters && level > kVanishes * kVanishes; ++i) {
    if (!search.center(lambda)) break;
    level = search.level();
    reached.push_back(search.scaling());
    const double gap = lambda - level;
    if (gap < 0.1 * tolerance * std::abs(level)) break;
    lambda = level + kLevelStep * gap;
  }
  result.steps = search.steps();
  // Where D or G grow without bound the last scalings may not stand the check; earlier ones do.
  result.level = size;
  result.scaling = identity_scaling(structure);
  for (auto s = reached.rbegin(); s != reached.rend(); ++s) {
    if (s->g.size() != 0) s->g *= size;
    const double confirmed = mu_level(m, structure, *s);
    if (confirmed < result.level) {
      result.level = confirmed;
      result.scaling = *s;
    } else if (result.level < size) {
      break;  // the one before is worse, and those before it
    }
  }
  return result;
}

}  // namespace catena
