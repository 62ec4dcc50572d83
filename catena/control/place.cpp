// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/place.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/modes.h"
#include "catena/control/placement/place_parts.h"

namespace catena {

std::string pole_text(Complex s) {
  if (s.imag() == 0.0) return short_number(s.real(), 6);
  return short_number(s.real(), 6) + (s.imag() < 0 ? " - " : " + ") +
         short_number(std::abs(s.imag()), 6) + "i";
}

std::vector<Complex> paired(const Eigen::VectorXcd& poles) {
  std::vector<Complex> upper;
  std::vector<bool> used(static_cast<std::size_t>(poles.size()), false);
  for (Eigen::Index i = 0; i < poles.size(); ++i) {
    if (used[static_cast<std::size_t>(i)]) continue;
    const Complex s = poles[i];
    if (!std::isfinite(s.real()) || !std::isfinite(s.imag()))
      throw NumericalError("pole placement: a pole is not a finite number");
    if (s.imag() == 0.0) {
      upper.push_back(s);
      continue;
    }
    bool found = false;
    for (Eigen::Index j = i + 1; j < poles.size() && !found; ++j)
      if (!used[static_cast<std::size_t>(j)] &&
          std::abs(poles[j] - std::conj(s)) <= 1e-10 * std::abs(s))
        found = used[static_cast<std::size_t>(j)] = true;
    if (!found)
      throw NumericalError("pole placement: the pole " + pole_text(s) +
                           " has no conjugate in the list; a real gain needs both");
    upper.push_back(s.imag() > 0.0 ? s : std::conj(s));
  }
  return upper;
}

double matching_error(const Eigen::VectorXcd& asked, const Eigen::VectorXcd& found,
                      Eigen::VectorXcd* ordered) {
  std::vector<Complex> left(found.begin(), found.end());
  double worst = 0.0;
  if (ordered) ordered->resize(asked.size());
  for (Eigen::Index i = 0; i < asked.size(); ++i) {
    const auto best = std::min_element(left.begin(), left.end(), [&](Complex a, Complex b) {
      return std::abs(a - asked[i]) < std::abs(b - asked[i]);
    });
    worst = std::max(worst, std::abs(*best - asked[i]) / std::max(1.0, std::abs(asked[i])));
    if (ordered) (*ordered)[i] = *best;
    left.erase(best);
  }
  return worst;
}

namespace {

// Orthonormal basis of the eigenvectors that the pole λ can have: U1ᵀ (A − λ) x = 0.
Eigen::MatrixXcd feasible(const Eigen::MatrixXd& u1, const Eigen::MatrixXd& a, Complex pole) {
  const Eigen::Index n = a.rows();
  Eigen::MatrixXcd shifted = a.cast<Complex>();
  shifted.diagonal().array() -= pole;
  if (u1.cols() == 0) return Eigen::MatrixXcd::Identity(n, n);
  const Eigen::MatrixXcd m = u1.transpose() * shifted;
  const lapack::ComplexSvd svd = lapack::svd(m, lapack::Columns::full);
  Eigen::Index rank = 0;
  while (rank < svd.values.size() && svd.values[rank] > 1e-12 * svd.values[0]) ++rank;
  return svd.V.rightCols(n - rank);
}

// Columns of X except `skip` .. skip + width: the orthonormal complement of their span.
Eigen::MatrixXd complement(const Eigen::MatrixXd& x, Eigen::Index skip, Eigen::Index width) {
  const Eigen::Index n = x.rows();
  Eigen::MatrixXd rest(n, n - width);
  rest << x.leftCols(skip), x.rightCols(n - skip - width);
  return lapack::qr(rest, lapack::Columns::full).Q.rightCols(width);
}

// Maximizes |det X| over one vector (pair) at a time. Columns of X: x, or Re x and Im x.
void improve(Eigen::MatrixXd& x, Eigen::Index at, Complex pole, const Eigen::MatrixXcd& basis) {
  if (pole.imag() == 0.0) {
    const Eigen::VectorXd q = complement(x, at, 1).col(0);
    const Eigen::MatrixXd real = basis.real();  // real pole: a real basis up to phases
    Eigen::MatrixXd b = lapack::qr(hstack(real, basis.imag())).Q;
    // The span of the real and imaginary parts is the space itself (same dimension).
    const lapack::Svd svd = lapack::svd(hstack(real, basis.imag()));
    b = svd.U.leftCols(basis.cols());
    Eigen::VectorXd best = b * (b.transpose() * q);
    if (best.norm() > 1e-12) x.col(at) = best.normalized();
    return;
  }
  // det[Re z, Im z] = zᴴ N z with z = Q2ᵀ x, N = [0 −i/2; i/2 0]: its largest eigenvalue in
  // modulus.
  const Eigen::MatrixXcd m = complement(x, at, 2).transpose() * basis;
  Eigen::Matrix2cd form;
  form << 0.0, Complex(0, -0.5), Complex(0, 0.5), 0.0;
  const lapack::HermitianEigenSystem e =
      lapack::hermitian_eig(Eigen::MatrixXcd(m.adjoint() * form * m));
  const Eigen::Index last = e.values.size() - 1;
  const bool top = std::abs(e.values[last]) >= std::abs(e.values[0]);
  const Eigen::VectorXcd v = basis * e.vectors.col(top ? last : 0);
  x.col(at) = v.real();
  x.col(at + 1) = v.imag();
}

// The eigenvectors that a placement may choose, and the search for a well-conditioned set.
class EigenvectorSearch {
 public:
  EigenvectorSearch(const StateSpace& g, const Eigen::MatrixXd& u1, std::vector<Complex> poles)
      : poles_(std::move(poles)), x_(g.A.rows(), g.A.rows()) {
    Eigen::Index column = 0;
    for (const Complex& s : poles_) {
      bases_.push_back(feasible(u1, g.A, s));
      at_.push_back(column);
      column += s.imag() == 0.0 ? 1 : 2;
    }
  }

  // Λ with a 2 × 2 block for each complex pair.
  Eigen::MatrixXd eigenvalues() const {
    Eigen::MatrixXd lambda = Eigen::MatrixXd::Zero(x_.rows(), x_.cols());
    for (std::size_t k = 0; k < poles_.size(); ++k) {
      const Eigen::Index i = at_[k];
      lambda(i, i) = poles_[k].real();
      if (poles_[k].imag() == 0.0) continue;
      lambda(i + 1, i + 1) = poles_[k].real();
      lambda(i, i + 1) = poles_[k].imag();
      lambda(i + 1, i) = -poles_[k].imag();
    }
    return lambda;
  }

  // The volume has local maxima: several starts, the best condition of the eigenvectors wins.
  Eigen::MatrixXd best(int starts) {
    Eigen::MatrixXd best = x_;
    double best_condition = std::numeric_limits<double>::infinity();
    for (int start = 0; start < starts; ++start) {
      choose_at_random();
      climb();
      const Eigen::VectorXd sv = lapack::singular_values(x_);
      const double condition = sv[0] / std::max(sv[x_.rows() - 1], 1e-300);
      if (condition < best_condition) {
        best_condition = condition;
        best = x_;
      }
    }
    return best;
  }

 private:
  double draw() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<double>(state_ >> 11) * 0x1p-53 - 0.5;
  }
  void choose_at_random() {
    for (std::size_t k = 0; k < poles_.size(); ++k) {
      const bool real = poles_[k].imag() == 0.0;
      Eigen::VectorXcd c(bases_[k].cols());
      for (Complex& v : c) {
        const double re = draw();
        v = Complex(re, real ? 0.0 : draw());
      }
      const Eigen::VectorXcd v = bases_[k] * c;
      x_.col(at_[k]) = v.real();
      if (!real) x_.col(at_[k] + 1) = v.imag();
    }
  }
  // Sweeps over the eigenvectors until the volume that they span grows no more.
  void climb() {
    double before = 0.0;
    for (int sweep = 0; sweep < 60; ++sweep) {
      for (std::size_t k = 0; k < poles_.size(); ++k) improve(x_, at_[k], poles_[k], bases_[k]);
      const double volume = lapack::singular_values(x_).array().max(1e-300).log().sum();
      if (sweep > 3 && std::abs(volume - before) < 1e-6) break;
      before = volume;
    }
  }

  std::vector<Complex> poles_;  // one of each pair
  std::vector<Eigen::MatrixXcd> bases_;
  std::vector<Eigen::Index> at_;  // first column of each
  Eigen::MatrixXd x_;
  std::uint64_t state_ = 88172645463325252ull;  // a fixed start in general position
};

}  // namespace

PlaceResult place(const StateSpace& plant, const Eigen::VectorXcd& poles) {
  constexpr int kStarts = 8;
  constexpr Eigen::Index kMostStatesForStarts = 40;  // beyond that several starts are too dear
  const lapack::OneThread one;
  plant.validate();
  const StateSpace g = explicit_form(plant);
  const Eigen::Index n = g.A.rows();
  if (poles.size() != n)
    throw NumericalError("pole placement: " + std::to_string(poles.size()) + " poles for " +
                         std::to_string(n) + " states; give one for each");
  const lapack::PivotedQr qr = lapack::pivoted_qr(g.B);
  const Eigen::Index rank = qr.rank(1e-12);
  if (rank == 0) throw NumericalError("pole placement: B is zero, no input moves the system");
  EigenvectorSearch search(g, qr.Q.rightCols(n - rank), paired(poles));
  const bool one_start = rank == 1 || n > kMostStatesForStarts;  // no freedom, or too dear
  const Eigen::MatrixXd x = search.best(one_start ? 1 : kStarts);
  const Eigen::MatrixXd lambda = search.eigenvalues();
  const lapack::Lu lu(Eigen::MatrixXd(x.transpose()));
  if (lu.rcond() < 1e-14) {
    require_stabilizable(g, g.B, "pole placement");
    throw NumericalError(
        "pole placement: these poles have no independent eigenvectors; a pole may appear at most " +
        std::to_string(rank) +
        " times (the rank of B), and a mode that no input moves keeps its pole");
  }
  // A − B K = X Λ X⁻¹.
  const Eigen::MatrixXd wanted = lu.solve(times(x, lambda).transpose()).transpose();
  PlaceResult r;
  r.K = lapack::least_squares(g.B, g.A - wanted);
  r.largest_error = matching_error(poles, spectrum(g.A - times(g.B, r.K)), &r.poles);
  const Eigen::VectorXd sv =
      lapack::singular_values(lapack::eig(Eigen::MatrixXd(g.A - times(g.B, r.K))).right);
  r.condition = sv[0] / sv[n - 1];
  r.certificate.add("poles as asked for, largest relative error", r.largest_error < 1e-6,
                    r.largest_error, 1e-6);
  if (r.largest_error > 1e-3)
    throw NumericalError("pole placement: the poles found differ by " +
                         short_number(r.largest_error) +
                         " from those asked for; the system is nearly uncontrollable (" +
                         nearest_mode_text(g, poles[0]) + ")");
  return r;
}

}  // namespace catena
