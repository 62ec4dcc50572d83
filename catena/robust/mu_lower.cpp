// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/mu_lower.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numeric>

#include "catena/base/index.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/robust/complex_dense.h"

namespace catena {
namespace {

using complex_dense::product;
using Complex = std::complex<double>;
using Matrix = Eigen::MatrixXcd;
using Vector = Eigen::VectorXcd;

constexpr int kPowerSteps = 60;
constexpr double kPowerTolerance = 1e-7;  // change of the vectors that ends the iteration
constexpr int kAscentSteps = 80;
constexpr double kFirstTrust = 0.5;  // rad, and of q
constexpr double kLeastTrust = 1e-9;
constexpr double kReal = 1e-9;  // |Im λ|/|λ| that a final correction can take away
constexpr int kCorrections = 30;
constexpr double kSingular = 1e-9;  // σ_min/σ_max of 1 − M Δ that counts as singular
constexpr double kTiny = 1e-300;
constexpr double kDefective = 1e-12;  // of yᴴ x at |x| = |y| = 1
constexpr int kTurns = 8;
constexpr double kPi = 3.14159265358979323846;
constexpr double kImaginaryPrice = 0.5;  // of |Im λ| in the choice of a first eigenvalue

// Deterministic starts.
class Normal {
 public:
  explicit Normal(std::uint64_t seed) : state_(seed) {}
  Complex operator()() {
    const double r = std::sqrt(-2.0 * std::log(uniform())), a = 2.0 * kPi * uniform();
    return {r * std::cos(a), r * std::sin(a)};
  }

 private:
  double uniform() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (static_cast<double>(state_ >> 11) + 0.5) * 0x1p-53;
  }
  std::uint64_t state_;
};

Complex phase_of(Complex z) {
  const double r = std::abs(z);
  return r > kTiny ? z / r : Complex(1.0);
}

// Q by blocks, and its moves: t real numbers, one for a real scalar (added, within [-1, 1]) and one
// for the phase of any other block.
class ScalarPerturbation {
 public:
  ScalarPerturbation(const BlockStructure& s, std::vector<BlockValue> values)
      : s_(&s), values_(std::move(values)) {}

  const std::vector<BlockValue>& values() const { return values_; }
  Matrix matrix() const { return s_->matrix(values_); }

  void move(const Eigen::VectorXd& t) {
    for (int k = 0; k < s_->size(); ++k) {
      BlockValue& v = values_[to_size(k)];
      if ((*s_)[k].kind == BlockKind::real)
        v.scalar = std::clamp(v.scalar.real() + t[k], -1.0, 1.0);
      else if ((*s_)[k].kind == BlockKind::complex)
        v.scalar *= std::polar(1.0, t[k]);
      else
        v.matrix *= std::polar(1.0, t[k]);
    }
  }
  // How far each may move.
  double low(int k, double trust) const {
    if ((*s_)[k].kind != BlockKind::real) return -trust;
    return std::max(-trust, -1.0 - values_[to_size(k)].scalar.real());
  }
  double high(int k, double trust) const {
    if ((*s_)[k].kind != BlockKind::real) return trust;
    return std::min(trust, 1.0 - values_[to_size(k)].scalar.real());
  }

 private:
  const BlockStructure* s_;
  std::vector<BlockValue> values_;
};

// An eigenvalue of Q M with its right vector x and left vector y, yᴴ x = 1.
struct EigenPair {
  Complex value{};
  Vector x, y;
};

// All of them; Q M is p × p.
struct Spectrum {
  Matrix qm;
  lapack::EigenSystem system;
};

Spectrum spectrum(const ScalarPerturbation& q, const Matrix& m) {
  Spectrum s;
  s.qm = product(q.matrix(), m);
  s.system = lapack::eig(s.qm, lapack::Vectors::both);
  return s;
}

EigenPair pair_of(const Spectrum& s, Eigen::Index i) {
  EigenPair e;
  e.value = s.system.values[i];
  e.x = s.system.right.col(i);
  const Vector y = s.system.left.col(i);
  const Complex yx = y.dot(e.x);
  // A defective eigenvalue has no gradient; the step that a large one promises is then refused.
  e.y = y / std::conj(std::abs(yx) > kDefective ? yx : Complex(kDefective));
  return e;
}

Eigen::Index nearest(const Vector& values, Complex target) {
  Eigen::Index best = 0;
  (values.array() - target).abs().minCoeff(&best);
  return best;
}

// dλ by each move.
Vector gradient(const BlockStructure& s, const ScalarPerturbation& q, const Matrix& m,
                const EigenPair& e) {
  const Vector mx = product(m, e.x);
  Vector g(s.size());
  for (int k = 0; k < s.size(); ++k) {
    const Block& b = s[k];
    const auto y = e.y.segment(s.row_offset(k), b.rows);
    const auto z = mx.segment(s.column_offset(k), b.columns);
    const BlockValue& v = q.values()[to_size(k)];
    if (b.kind == BlockKind::real)
      g[k] = y.dot(z);
    else if (b.kind == BlockKind::complex)
      g[k] = Complex(0.0, 1.0) * v.scalar * y.dot(z);
    else
      g[k] = Complex(0.0, 1.0) * y.dot(Vector(v.matrix * z));
  }
  return g;
}

// Maximizes Re(g)·t with Im(g)·t = −imaginary (as far as it goes) and low ≤ t ≤ high: by the
// multiplier of the one equality, at which the sum is monotonic.
Eigen::VectorXd linear_step(const Vector& g, double imaginary, const Eigen::VectorXd& low,
                            const Eigen::VectorXd& high) {
  const auto at = [&](double nu) {
    Eigen::VectorXd t(g.size());
    for (Eigen::Index k = 0; k < g.size(); ++k) {
      const double slope = g[k].real() + nu * g[k].imag();
      t[k] = slope > 0.0 ? high[k] : slope < 0.0 ? low[k] : 0.0;
    }
    return t;
  };
  const auto sum = [&](const Eigen::VectorXd& t) { return g.imag().dot(t) + imaginary; };
  // sum(at(ν)) grows with ν, by jumps where a slope changes its sign.
  std::vector<double> jumps;
  for (Eigen::Index k = 0; k < g.size(); ++k)
    if (g[k].imag() != 0.0) jumps.push_back(-g[k].real() / g[k].imag());
  std::sort(jumps.begin(), jumps.end());
  if (jumps.empty()) return at(0.0);
  const double span = jumps.back() - jumps.front() + 1.0;
  const double first = jumps.front() - span, last = jumps.back() + span;
  if (sum(at(first)) >= 0.0) return at(first);
  if (sum(at(last)) <= 0.0) return at(last);
  // Bisect over the intervals between jumps.
  std::size_t a = 0, b = jumps.size();  // interval i lies below jump i
  const auto middle = [&](std::size_t i) {
    if (i == 0) return first;
    if (i == jumps.size()) return last;
    return 0.5 * (jumps[i - 1] + jumps[i]);
  };
  while (b - a > 1) {
    const std::size_t c = (a + b) / 2;
    (sum(at(middle(c))) > 0.0 ? b : a) = c;
  }
  const Eigen::VectorXd below = at(middle(a)), above = at(middle(b));
  const double s0 = sum(below), s1 = sum(above);
  const double part = s1 > s0 ? std::clamp(-s0 / (s1 - s0), 0.0, 1.0) : 0.0;
  return below + part * (above - below);
}

// The vectors of the power iteration, block by block.
class PowerIteration {
 public:
  PowerIteration(const Matrix& m, const BlockStructure& s, Vector b, Vector w)
      : m_(m), mh_(m.adjoint()), s_(s), b_(std::move(b)), w_(std::move(w)) {
    q_.assign(to_size(s.size()), BlockValue{});
    for (int k = 0; k < s.size(); ++k)
      if (s[k].kind == BlockKind::real) q_[to_size(k)].scalar = 1.0;
  }

  void run() {
    for (int i = 0; i < kPowerSteps; ++i) {
      const Vector before = b_;
      Vector a = product(m_, b_);  // of q
      const double beta = a.norm();
      if (!(beta > kTiny)) return;
      a /= beta;
      const Vector z = outputs(a);  // of q
      Vector w = product(mh_, z);   // of p
      const double size = w.norm();
      if (!(size > kTiny)) return;
      w_ = w / size;
      b_ = inputs(a);
      const double norm = b_.norm();
      if (!(norm > kTiny)) return;
      b_ /= norm;
      if ((b_ - before).norm() < kPowerTolerance) break;
    }
    finish();
  }

  const std::vector<BlockValue>& values() const { return q_; }

 private:
  auto p(const Vector& v, int k) const { return v.segment(s_.row_offset(k), s_[k].rows); }
  auto q(const Vector& v, int k) const { return v.segment(s_.column_offset(k), s_[k].columns); }

  // z from a and w.
  Vector outputs(const Vector& a) {
    Vector z = Vector::Zero(a.size());
    for (int k = 0; k < s_.size(); ++k) {
      const Vector ak = q(a, k), wk = p(w_, k);
      auto zk = z.segment(s_.column_offset(k), s_[k].columns);
      if (s_[k].kind == BlockKind::real) {
        Complex& scalar = q_[to_size(k)].scalar;
        const Vector bk = p(b_, k);
        const double sign = scalar.real() >= 0.0 ? 1.0 : -1.0;
        const double alpha = sign * bk.norm() / std::max(ak.norm(), kTiny) + wk.dot(ak).real();
        scalar = std::clamp(alpha, -1.0, 1.0);
        zk = scalar * wk;
      } else if (s_[k].kind == BlockKind::complex) {
        zk = phase_of(wk.dot(ak)) * wk;
      } else {
        zk = (wk.norm() / std::max(ak.norm(), kTiny)) * ak;
      }
    }
    return z;
  }

  // b from a and w.
  Vector inputs(const Vector& a) const {
    Vector b = Vector::Zero(b_.size());
    for (int k = 0; k < s_.size(); ++k) {
      const Vector ak = q(a, k), wk = p(w_, k);
      auto bk = b.segment(s_.row_offset(k), s_[k].rows);
      if (s_[k].kind == BlockKind::real)
        bk = q_[to_size(k)].scalar * ak;
      else if (s_[k].kind == BlockKind::complex)
        bk = phase_of(ak.dot(wk)) * ak;
      else
        bk = (ak.norm() / std::max(wk.norm(), kTiny)) * wk;
    }
    return b;
  }

  // Q of the vectors reached: b = Q a.
  void finish() {
    const Vector a = product(m_, b_);
    for (int k = 0; k < s_.size(); ++k) {
      BlockValue& v = q_[to_size(k)];
      const Vector ak = q(a, k), wk = p(w_, k);
      if (s_[k].kind == BlockKind::complex) v.scalar = phase_of(ak.dot(wk));
      if (s_[k].kind == BlockKind::full)
        v.matrix = (wk * ak.adjoint()) / std::max(wk.norm() * ak.norm(), kTiny);
    }
  }

  const Matrix& m_;
  Matrix mh_;
  const BlockStructure& s_;
  Vector b_, w_;
  std::vector<BlockValue> q_;
};

// Re λ raised, Im λ taken to zero.
class Ascent {
 public:
  Ascent(const Matrix& m, const BlockStructure& s, ScalarPerturbation q)
      : m_(m), s_(s), q_(std::move(q)), now_(spectrum(q_, m)) {
    if (!s.has_real()) {
      // One phase for all is free: turn the largest eigenvalue onto the axis.
      now_.system.values.cwiseAbs().maxCoeff(&chosen_);
      const Complex v = now_.system.values[chosen_];
      q_.move(Eigen::VectorXd::Constant(s.size(), -std::arg(v)));
      now_ = spectrum(q_, m);
      chosen_ = nearest(now_.system.values, std::abs(v));
      return;
    }
    turn();
  }

  LowerBound run() {
    double trust = kFirstTrust;
    for (int i = 0; i < kAscentSteps && trust > kLeastTrust; ++i) {
      const EigenPair e = pair_of(now_, chosen_);
      const Vector g = gradient(s_, q_, m_, e);
      Eigen::VectorXd low(s_.size()), high(s_.size());
      for (int k = 0; k < s_.size(); ++k) {
        low[k] = q_.low(k, trust);
        high[k] = q_.high(k, trust);
      }
      const Eigen::VectorXd t = linear_step(g, e.value.imag(), low, high);
      ScalarPerturbation next = q_;
      next.move(t);
      const Spectrum then = spectrum(next, m_);
      ++evaluations_;
      const Complex expected = e.value + (g.array() * t.array()).sum();
      const Eigen::Index j = nearest(then.system.values, expected);
      const Complex value = then.system.values[j];
      const double gain = merit(value) - merit(e.value);
      const double promised = merit(expected) - merit(e.value);
      if (promised < 1e-12 * std::abs(e.value)) break;
      if (gain > 0.1 * promised) {
        q_ = next;
        now_ = then;
        chosen_ = j;
        if (gain > 0.7 * promised) trust = std::min(2.0 * trust, 1.5);
      } else {
        trust *= 0.3;
      }
    }
    return finish();
  }

 private:
  static double merit(Complex v) { return v.real() - 2.0 * std::abs(v.imag()); }

  // Turns the complex blocks together to where an eigenvalue is large and nearly real.
  void turn() {
    Eigen::VectorXd all = Eigen::VectorXd::Zero(s_.size());
    bool any = false;
    for (int k = 0; k < s_.size(); ++k)
      if (s_[k].kind != BlockKind::real) {
        all[k] = 2.0 * kPi / kTurns;
        any = true;
      }
    double best = -1e300;
    ScalarPerturbation trial = q_;
    for (int i = 0; i < (any ? kTurns : 1); ++i) {
      if (i > 0) trial.move(all);
      const Spectrum s = spectrum(trial, m_);
      ++evaluations_;
      for (Eigen::Index j = 0; j < s.system.values.size(); ++j) {
        const Complex v = s.system.values[j];
        const double worth = v.real() - kImaginaryPrice * std::abs(v.imag());
        if (worth <= best) continue;
        best = worth;
        chosen_ = j;
        q_ = trial;
        now_ = s;
      }
    }
  }

  // Newton on Im λ = 0 by the moves of least size, then the check of the result.
  LowerBound finish() {
    LowerBound result;
    for (int i = 0; i < kCorrections; ++i) {
      const EigenPair e = pair_of(now_, chosen_);
      if (std::abs(e.value.imag()) <= 1e-15 * std::abs(e.value)) break;
      const Vector g = gradient(s_, q_, m_, e);
      Eigen::VectorXd h = g.imag();
      for (int k = 0; k < s_.size(); ++k) {
        const double wanted = -e.value.imag() * h[k];
        if (wanted > 0.0 ? q_.high(k, 1.0) <= 0.0 : q_.low(k, 1.0) >= 0.0) h[k] = 0.0;
      }
      const double size = h.squaredNorm();
      if (!(size > kTiny)) break;
      ScalarPerturbation next = q_;
      next.move(-e.value.imag() / size * h);
      const Spectrum then = spectrum(next, m_);
      ++evaluations_;
      const Eigen::Index j = nearest(then.system.values, e.value.real());
      if (std::abs(then.system.values[j].imag()) >= std::abs(e.value.imag())) break;
      q_ = next;
      now_ = then;
      chosen_ = j;
    }
    const Complex value = now_.system.values[chosen_];
    result.evaluations = evaluations_;
    if (!(value.real() > 0.0) || std::abs(value.imag()) > kReal * std::abs(value)) return result;
    result.worst = q_.values();
    for (BlockValue& v : result.worst) {
      v.scalar /= value.real();
      if (v.matrix.size() != 0) v.matrix /= value.real();
    }
    const Matrix loop =
        Matrix::Identity(m_.rows(), m_.rows()) - product(m_, s_.matrix(result.worst));
    const Eigen::VectorXd sigma = lapack::singular_values(loop);
    result.singularity = sigma.minCoeff() / std::max(1.0, sigma.maxCoeff());
    if (result.singularity > kSingular) {
      result.worst.clear();
      return result;
    }
    result.value = 1.0 / s_.norm(result.worst);
    return result;
  }

  const Matrix& m_;
  const BlockStructure& s_;
  ScalarPerturbation q_;
  Spectrum now_;
  Eigen::Index chosen_ = 0;
  int evaluations_ = 0;
};

// First vectors from the scalings of the upper bound: the largest singular vectors of D M D⁻¹.
std::pair<Vector, Vector> scaled_start(const Matrix& m, const MuScaling& scaling) {
  const Eigen::VectorXd dr = scaling.d_rows.diagonal().real().cwiseSqrt();
  const Eigen::VectorXd dc = scaling.d_columns.diagonal().real().cwiseSqrt();
  const Matrix scaled = dc.asDiagonal() * m * dr.cwiseInverse().asDiagonal();
  const lapack::ComplexSvd svd = lapack::svd(scaled);
  const Vector v = svd.V.col(0);
  // b scales as p, w as its dual.
  return {Vector(dr.cwiseInverse().asDiagonal() * v).normalized(),
          Vector(dr.asDiagonal() * v).normalized()};
}

// Real scalars at -1 or 1, phases and directions at random.
std::vector<BlockValue> random_perturbation(const BlockStructure& s, Normal& normal) {
  std::vector<BlockValue> q(to_size(s.size()));
  for (int k = 0; k < s.size(); ++k) {
    BlockValue& v = q[to_size(k)];
    if (s[k].kind == BlockKind::real)
      v.scalar = normal().real() > 0.0 ? 1.0 : -1.0;
    else if (s[k].kind == BlockKind::complex)
      v.scalar = phase_of(normal());
    else
      v.matrix = Vector::NullaryExpr(s[k].rows, [&] { return normal(); }).normalized() *
                 Vector::NullaryExpr(s[k].columns, [&] { return normal(); }).normalized().adjoint();
  }
  return q;
}

}  // namespace

LowerBound find_perturbation(const Matrix& m, const BlockStructure& structure, int starts,
                             const MuScaling& scaling, double enough) {
  LowerBound best;
  Normal normal(20260101);
  for (int i = 0; i < starts; ++i) {
    Vector b, w;
    if (i == 0) {
      std::tie(b, w) = scaled_start(m, scaling);
    } else {
      b = Vector::NullaryExpr(m.cols(), [&] { return normal(); }).normalized();
      w = Vector::NullaryExpr(m.cols(), [&] { return normal(); }).normalized();
    }
    // Every third start is random; the others run the power iteration.
    std::vector<BlockValue> q;
    if (structure.has_real() && i % 3 == 2) {
      q = random_perturbation(structure, normal);
    } else {
      PowerIteration power(m, structure, b, w);
      power.run();
      q = power.values();
    }
    for (int k = 0; k < structure.size(); ++k)
      if (structure[k].kind == BlockKind::full && q[to_size(k)].matrix.size() == 0)
        q[to_size(k)].matrix = Matrix::Identity(structure[k].rows, structure[k].columns);
    LowerBound found = Ascent(m, structure, ScalarPerturbation(structure, q)).run();
    const int evaluations = best.evaluations + found.evaluations;
    if (found.value > best.value) best = found;
    best.evaluations = evaluations;
    if (best.value >= enough) break;
  }
  return best;
}

}  // namespace catena
