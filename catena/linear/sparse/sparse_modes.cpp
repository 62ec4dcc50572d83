// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/sparse/sparse_modes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/sparse/dynamic_stiffness.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kBlock = 4;  // double frequencies of symmetric structures come at once
constexpr int kMostRestarts = 12;

// Start vectors without symmetry, the same on every machine.
MatrixXd start_block(Eigen::Index n, std::uint64_t seed) {
  std::uint64_t state = 0x9E3779B97F4A7C15ULL * (seed + 1);
  MatrixXd x(n, kBlock);
  for (double& v : x.reshaped()) {
    state ^= state << 13U, state ^= state >> 7U, state ^= state << 17U;
    v = static_cast<double>(state >> 11U) * 0x1p-53 - 0.5;
  }
  return x;
}

// |x|ᵀ |K| |x|: what rounding of xᵀ K x is relative to.
double absolute_energy(const Eigen::SparseMatrix<double>& k, const VectorXd& x) {
  double sum = 0.0;
  for (int c = 0; c < k.outerSize(); ++c)
    for (Eigen::SparseMatrix<double>::InnerIterator it(k, c); it; ++it)
      sum += std::abs(it.value() * x[it.row()] * x[c]);
  return sum;
}

// A basis V, orthonormal in the inner product of M, that grows by blocks, and its images
// (K − σ M)⁻¹ M V.
class LanczosBasis {
 public:
  LanczosBasis(const SecondOrder& s, const ShiftedStiffness& operation, double sigma)
      : s_(s), solve_(operation) {
    last_ = append(start_block(s.freedom_count(), 0));
    // Relative error of a solution: what one refinement changes.
    const MatrixXd b = s.M * vectors_.leftCols(last_), x = solve_.solve(b);
    const MatrixXd r = b - s.K * x + sigma * (s.M * x);
    noise_ = solve_.solve(r).norm() / x.norm();
  }
  double noise() const { return noise_; }

  Eigen::Index size() const { return used_; }

  // One block more: the image of the last, or new vectors if that is in the span.
  void grow() {
    const MatrixXd image = solve_.solve(MatrixXd(s_.M * vectors_.middleCols(used_ - last_, last_)));
    images_.middleCols(used_ - last_, last_) = image;
    done_ = used_;
    last_ = append(image);
    if (last_ == 0) restart();
  }
  void restart() { last_ = append(start_block(s_.freedom_count(), ++seed_)); }

  struct Ritz {
    VectorXd theta;     // of (K − σ M)⁻¹ M, falling: 1/(λ − σ)
    MatrixXd shapes;    // of the first `count`
    VectorXd residual;  // ‖(K − σ M)⁻¹ M x − θ x‖ by θ
  };
  Ritz ritz(Eigen::Index count) const {
    const auto v = vectors_.leftCols(done_), w = images_.leftCols(done_);
    const MatrixXd t = v.transpose() * (s_.M * w);
    const lapack::SymmetricEigenSystem e = lapack::symmetric_eig(0.5 * (t + t.transpose()));
    Ritz r{e.values.reverse(), {}, {}};
    count = std::min(count, done_);
    const MatrixXd y = e.vectors.rightCols(count).rowwise().reverse();
    r.shapes.noalias() = v * y;
    MatrixXd off = w * y;
    off -= r.shapes * r.theta.head(count).asDiagonal();
    const MatrixXd weighted = s_.M * off;
    r.residual = off.cwiseProduct(weighted).colwise().sum().transpose().cwiseMax(0.0).cwiseSqrt();
    r.residual = r.residual.cwiseQuotient(r.theta.head(count).cwiseAbs().cwiseMax(1e-300));
    return r;
  }

 private:
  // Orthonormalizes against the basis and appends what is left; returns how many.
  Eigen::Index append(MatrixXd block) {
    const VectorXd before = block.colwise().norm();
    for (int pass = 0; pass < 2 && used_ > 0; ++pass)
      block -= vectors_.leftCols(used_) *
               (vectors_.leftCols(used_).transpose() * MatrixXd(s_.M * block));
    Eigen::Index added = 0;
    for (Eigen::Index j = 0; j < block.cols(); ++j) {
      VectorXd v = block.col(j);
      for (int pass = 0; pass < 2; ++pass) {
        const auto fresh = vectors_.middleCols(used_ - added, added);
        const VectorXd weighted = s_.M * v;
        if (added > 0) v -= fresh * (fresh.transpose() * weighted);
      }
      if (!(v.norm() > 1e-9 * before[j])) continue;
      if (used_ == vectors_.cols()) {
        const Eigen::Index room = used_ + 64;
        vectors_.conservativeResize(s_.freedom_count(), room);
        images_.conservativeResize(s_.freedom_count(), room);
      }
      vectors_.col(used_++) = v / std::sqrt(v.dot(s_.M * v));
      ++added;
    }
    return added;
  }

  const SecondOrder& s_;
  const ShiftedStiffness& solve_;
  MatrixXd vectors_, images_;
  Eigen::Index used_ = 0, done_ = 0, last_ = 0;
  std::uint64_t seed_ = 0;
  double noise_ = 0.0;
};

// Until the first `count` have converged.
LanczosBasis::Ritz converged(LanczosBasis& basis, Eigen::Index count, Eigen::Index freedoms,
                             double tolerance) {
  const Eigen::Index enough = std::min(count, freedoms);
  // A residual below the rounding of ill-conditioned solutions is not to be had.
  constexpr double kNoise = 30.0;
  tolerance = std::max(tolerance, kNoise * basis.noise());
  for (Eigen::Index looks = 0;; ++looks) {
    const Eigen::Index wanted =
        std::min(freedoms, std::max(enough + enough / 2 + 2 * kBlock, basis.size() + 3 * kBlock));
    while (basis.size() < wanted) basis.grow();
    basis.grow();
    LanczosBasis::Ritz r = basis.ritz(enough);
    if (r.theta.size() >= enough && r.residual.maxCoeff() <= tolerance) return r;
    if (basis.size() >= freedoms || looks > 100) {
      if (r.theta.size() >= enough && r.residual.maxCoeff() <= 100.0 * tolerance) return r;
      throw NumericalError(
          "sparse modes: " + std::to_string(enough) + " modes did not converge (residual " +
          short_number(r.residual.maxCoeff()) + "); look for fewer, or scale M and K");
    }
  }
}

// A shift below all eigenvalues and of the size of the first elastic one.
double lower_shift(const SecondOrder& s, const DynamicStiffness& stiffness, double highest) {
  if (highest > 0.0) return -0.01 * highest * highest;
  try {
    const ShiftedStiffness k(stiffness, 0.0);
    if (k.eigenvalues_below() == 0 && k.pivot_ratio() > 1e-11) return 0.0;
  } catch (const NumericalError&) {  // free to move
  }
  const double scale = s.K.diagonal().sum() / s.M.diagonal().sum();
  const double first = -1e-9 * scale;
  const ShiftedStiffness k(stiffness, first);
  LanczosBasis basis(s, k, first);
  for (int i = 0; i < 5; ++i) basis.grow();
  const VectorXd theta = basis.ritz(1).theta;
  for (const double t : theta)
    if (const double lambda = first + 1.0 / t; lambda > -first) return -lambda;
  return first;
}

}  // namespace

SparseModes sparse_modes(const SecondOrder& s, const DynamicStiffness& stiffness,
                         const SparseModesSettings& settings) {
  const lapack::OneThread one;
  const Eigen::Index n = s.freedom_count();
  if (settings.count <= 0 && !(settings.highest > 0.0))
    throw Error("sparse modes: give a count of modes or the highest frequency");
  int count = static_cast<int>(std::min<Eigen::Index>(settings.count, n));
  if (settings.highest > 0.0) {
    const int below =
        ShiftedStiffness(stiffness, settings.highest * settings.highest).eigenvalues_below();
    count = count > 0 ? std::min(count, below) : below;
  }
  if (count > settings.most)
    throw Error("sparse modes: " + std::to_string(count) + " modes are asked for, at most " +
                std::to_string(settings.most) + " are computed; choose a lower frequency");
  SparseModes modes;
  modes.shapes.resize(n, 0);
  if (count == 0) return modes;
  const double sigma = lower_shift(s, stiffness, settings.highest);
  const ShiftedStiffness shifted(stiffness, sigma);
  if (shifted.eigenvalues_below() > 0)
    throw NumericalError("sparse modes: K is not positive semidefinite (" +
                         std::to_string(shifted.eigenvalues_below()) + " eigenvalues below " +
                         short_number(sigma) +
                         "); check the signs of the springs, and that supports hold what is "
                         "compressed");
  LanczosBasis basis(s, shifted, sigma);
  for (int round = 0; round < kMostRestarts; ++round) {
    const LanczosBasis::Ritz r = converged(basis, count, n, settings.tolerance);
    modes.frequency.resize(count);
    modes.rigid = 0;
    for (int i = 0; i < count; ++i) {
      const VectorXd x = r.shapes.col(i);
      const double energy = x.dot(s.K * x);
      const bool rigid = energy < 3e-14 * absolute_energy(s.K, x);
      modes.frequency[i] = rigid ? 0.0 : std::sqrt(std::max(0.0, sigma + 1.0 / r.theta[i]));
      modes.rigid += rigid;
    }
    modes.shapes = r.shapes;
    modes.residual = r.residual.maxCoeff();
    const double last = std::max(std::pow(modes.frequency[count - 1], 2), -1e-3 * sigma);
    modes.counted = ShiftedStiffness(stiffness, last * (1.0 + 1e-7)).eigenvalues_below();
    if (modes.counted <= count || basis.size() >= n) return modes;
    // Equal frequencies may stand on both sides of the last one asked for.
    if (modes.counted <= r.theta.size() &&
        r.theta[modes.counted - 1] > r.theta[count - 1] * (1.0 - 1e-6))
      return modes;
    basis.restart();
  }
  throw NumericalError("sparse modes: " + std::to_string(modes.counted) +
                       " modes are counted below " + short_number(modes.frequency[count - 1]) +
                       " rad/s, " + std::to_string(count) + " were found");
}

SparseModes sparse_modes(const SecondOrder& s, const SparseModesSettings& settings) {
  require_mass(s, "sparse modes");
  return sparse_modes(s, DynamicStiffness(s), settings);
}

}  // namespace catena
