// SPDX-License-Identifier: BSD-3-Clause
// Modal truncation of a sparse structure with static correction, by projection onto shapes.
//
// The modes that are left out respond to inputs of the band almost statically. Shapes of that
// response (and, for the outputs, of the adjoint one) are found at a few frequencies of the band
// and added to all modes that are known: a rich basis of some 70 to 200 shapes, in which the
// structure is small and dense. The correction consists of the directions in which the rich model's
// response, less the modes that are kept, has most energy over the band, each frequency weighted by
// 1/|G|. How many of the coordinates are modes is tried out on the rich model.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/sparse/structure_parts.h"

namespace catena {
namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Elastic modes, the one with the largest gain in the band first.
std::vector<int> ranked_modes(const StructureParts& p) {
  std::vector<int> order(to_size(p.modes.frequency.size() - p.modes.rigid));
  std::iota(order.begin(), order.end(), p.modes.rigid);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return p.weight[a] > p.weight[b]; });
  return order;
}

// A value of ω² between two parts of the band's end squared, in the middle of the widest gap
// between modes.
double shift_between(const StructureParts& p, double from, double to) {
  const double top = p.highest * p.highest;
  std::vector<double> edges{from * top};
  for (const double w : p.modes.frequency)
    if (w * w > from * top && w * w < to * top) edges.push_back(w * w);
  edges.push_back(to * top);
  double shift = 0.0, widest = 0.0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i)
    if (edges[i + 1] - edges[i] > widest)
      widest = edges[i + 1] - edges[i], shift = 0.5 * (edges[i] + edges[i + 1]);
  return shift;
}

// Shapes, orthonormal in M and orthogonal to all known modes, of the response at three frequencies.
MatrixXd correction_shapes(const StructureParts& p) {
  const SecondOrder& s = p.structure;
  MatrixXd forces = hstack(hstack(p.B, p.Cq.transpose()), p.Cv.transpose());
  Eigen::Index used = 0;
  for (Eigen::Index j = 0; j < forces.cols(); ++j)
    if (const double size = forces.col(j).norm(); size > 0.0)
      forces.col(used++) = forces.col(j) / size;
  forces.conservativeResize(Eigen::NoChange, used);
  MatrixXd x(s.freedom_count(), 0);
  for (const auto& [from, to] :
       {std::pair(0.05, 0.35), std::pair(0.4, 0.65), std::pair(0.7, 1.0)}) {
    MatrixXd at = ShiftedStiffness(p.stiffness, shift_between(p, from, to)).solve(forces);
    const auto sizes = [&] {
      VectorXd size(at.cols());
      for (Eigen::Index j = 0; j < at.cols(); ++j)
        size[j] = std::sqrt(std::max(at.col(j).dot(s.M * at.col(j)), 0.0));
      return size;
    };
    const VectorXd before = sizes();
    for (int pass = 0; pass < 2; ++pass)
      at -= p.modes.shapes * (p.modes.shapes.transpose() * MatrixXd(s.M * at));
    // What is left of a response that the modes hold alone is rounding.
    constexpr double kRounding = 1e-10;
    const VectorXd after = sizes();
    Eigen::Index own = 0;
    for (Eigen::Index j = 0; j < at.cols(); ++j)
      if (after[j] > kRounding * before[j]) at.col(own++) = at.col(j) / after[j];
    at.conservativeResize(Eigen::NoChange, own);
    x = hstack(x, at);
  }
  if (x.cols() == 0) return x;
  const lapack::SymmetricEigenSystem e =
      lapack::symmetric_eig(symmetrized(x.transpose() * MatrixXd(s.M * x)));
  constexpr double kNew = 1e-9;  // of the largest: a direction of its own
  Eigen::Index count = 0;
  while (count < e.values.size() &&
         e.values[e.values.size() - 1 - count] > kNew * e.values[e.values.size() - 1])
    ++count;
  const VectorXd root = e.values.tail(count).cwiseSqrt().cwiseInverse();
  return x * (e.vectors.rightCols(count) * root.asDiagonal());
}

// A structure in coordinates of some shapes: small and dense.
struct DenseStructure {
  MatrixXd M, D, K, B, Cq, Cv;

  DenseStructure in(const MatrixXd& v) const {
    const auto both = [&](const MatrixXd& a) { return MatrixXd(v.transpose() * a * v); };
    return {both(M), both(D), both(K), v.transpose() * B, Cq * v, Cv * v};
  }
  MatrixXcd stiffness(double w) const {
    return (K - w * w * M).cast<Complex>() + Complex(0.0, w) * D.cast<Complex>();
  }
  MatrixXcd outputs(double w) const {
    return Cq.cast<Complex>() + Complex(0.0, w) * Cv.cast<Complex>();
  }
  MatrixXcd response(double w) const {
    return outputs(w) * lapack::solve(stiffness(w), MatrixXcd(B.cast<Complex>()));
  }
};

DenseStructure projected(const StructureParts& p, const MatrixXd& shapes) {
  const SecondOrder& s = p.structure;
  const auto both = [&](const Eigen::SparseMatrix<double>& a) {
    return symmetrized(shapes.transpose() * MatrixXd(a * shapes));
  };
  const Eigen::Index n = shapes.cols();
  return {both(s.M),     s.D.nonZeros() > 0 ? both(s.D) : MatrixXd::Zero(n, n),
          both(s.K),     shapes.transpose() * p.B,
          p.Cq * shapes, p.Cv * shapes};
}

// Frequencies of the band: evenly, and at its modes.
std::vector<double> band_grid(const StructureParts& p) {
  std::vector<double> grid;
  constexpr int kEven = 60;
  for (int k = 1; k <= kEven; ++k) grid.push_back(p.lowest + (p.highest - p.lowest) * k / kEven);
  for (int i = p.modes.rigid; i < p.in_band; ++i)
    if (p.modes.frequency[i] > p.lowest) grid.push_back(p.modes.frequency[i]);
  return grid;
}

// Σ s sᵀ over the grid of s = (1 − kept) P⁻¹ [B Cᵀ], real and imaginary parts, by 1/√|G| each.
MatrixXd residual_energy(const DenseStructure& rich, Eigen::Index kept,
                         const std::vector<double>& grid) {
  const Eigen::Index n = rich.K.rows();
  MatrixXd sum = MatrixXd::Zero(n, n);
  for (const double w : grid) {
    const MatrixXcd c = rich.outputs(w);
    MatrixXcd forces(n, rich.B.cols() + c.rows());
    forces << rich.B.cast<Complex>(), c.transpose();
    MatrixXcd x = lapack::solve(rich.stiffness(w), forces);
    const double gain = lapack::norm2(MatrixXcd(c * x.leftCols(rich.B.cols())));
    x.topRows(kept).setZero();  // modes are orthogonal in M
    if (gain > 0.0)
      sum += (x.real() * x.real().transpose() + x.imag() * x.imag().transpose()) / gain;
  }
  return sum;
}

// The first `modes` coordinates and the `count` directions of most weighted strain energy.
MatrixXd chosen_directions(const DenseStructure& rich, Eigen::Index modes, Eigen::Index count,
                           const std::vector<double>& grid) {
  const Eigen::Index n = rich.K.rows();
  MatrixXd v = MatrixXd::Zero(n, modes + count);
  v.topLeftCorner(modes, modes).setIdentity();
  const std::optional<MatrixXd> l = lapack::cholesky(rich.K);
  if (!l)
    throw NumericalError("modal reduction: the stiffness of the elastic part is not definite");
  const MatrixXd half = times(l->transpose(), times(residual_energy(rich, modes, grid), *l));
  const lapack::SymmetricEigenSystem e = lapack::symmetric_eig(symmetrized(half));
  v.rightCols(count) = lapack::Lu(*l).solve_transposed(e.vectors.rightCols(count));
  return v;
}

double largest_error(const DenseStructure& rich, const DenseStructure& small,
                     const std::vector<double>& grid) {
  double worst = 0.0;
  for (const double w : grid) {
    const MatrixXcd g = rich.response(w);
    const double size = lapack::norm2(g);
    if (size > 0.0) worst = std::max(worst, lapack::norm2(MatrixXcd(g - small.response(w))) / size);
  }
  return worst;
}

// Modal coordinates: mass 1, stiffness diagonal.
StateSpace state_space_of(const DenseStructure& small) {
  const lapack::SymmetricEigenSystem e =
      lapack::symmetric_generalized_eig(symmetrized(small.K), symmetrized(small.M));
  const DenseStructure r = small.in(e.vectors);
  const Eigen::Index n = r.K.rows();
  MatrixXd a = MatrixXd::Zero(2 * n, 2 * n);
  a.topRightCorner(n, n).setIdentity();
  a.bottomLeftCorner(n, n).diagonal() = -e.values;
  a.bottomRightCorner(n, n) = -r.D;
  return ss(a, vstack(MatrixXd::Zero(n, r.B.cols()), r.B), hstack(r.Cq, r.Cv),
            MatrixXd::Zero(r.Cq.rows(), r.B.cols()));
}

}  // namespace

StateSpace modal_reduction(const StructureParts& p, int order) {
  const std::vector<int> ranked = ranked_modes(p);
  const Eigen::Index known = std::ssize(ranked), n = p.structure.freedom_count();
  const MatrixXd correction = correction_shapes(p);
  MatrixXd shapes(n, known + correction.cols());
  for (Eigen::Index i = 0; i < known; ++i) shapes.col(i) = p.modes.shapes.col(at(ranked, i));
  shapes.rightCols(correction.cols()) = correction;
  const DenseStructure rich = projected(p, shapes);
  const Eigen::Index wanted = std::min<Eigen::Index>(order / 2, shapes.cols());
  const std::vector<double> grid = band_grid(p);
  DenseStructure best = rich;
  double least = std::numeric_limits<double>::infinity();
  // From no correction to one for every input, every output and half as many again.
  const Eigen::Index most =
      std::min(wanted, std::max<Eigen::Index>(2 * wanted / 3, wanted - known));
  for (Eigen::Index count = std::max<Eigen::Index>(0, wanted - known); count <= most; count += 2) {
    const DenseStructure small = rich.in(chosen_directions(rich, wanted - count, count, grid));
    if (const double error = largest_error(rich, small, grid); error < least)
      least = error, best = small;
  }
  return state_space_of(best);
}

}  // namespace catena
