// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/second_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/linear/algebra.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

void require_shape(Eigen::Index rows, Eigen::Index cols, Eigen::Index want_rows,
                   Eigen::Index want_cols, const char* what) {
  if (rows != want_rows || cols != want_cols)
    throw Error(std::string(what) + " is " + std::to_string(rows) + " x " + std::to_string(cols) +
                "; it must be " + std::to_string(want_rows) + " x " + std::to_string(want_cols));
}

MatrixXd or_zero(const MatrixXd& a, Eigen::Index rows, Eigen::Index cols) {
  return a.size() > 0 ? a : MatrixXd::Zero(rows, cols);
}

// Modes with frequencies below this part of the largest are rigid-body modes: ω² is right to
// rounding errors of the largest ω².
constexpr double kRigid = 1e-7;

}  // namespace

void SecondOrder::validate() const {
  const Eigen::Index n = M.rows(), m = B.cols(), p = output_count();
  require_shape(M.rows(), M.cols(), n, n, "second order: M");
  require_shape(K.rows(), K.cols(), n, n, "second order: K");
  if (D.size() > 0) require_shape(D.rows(), D.cols(), n, n, "second order: D");
  require_shape(B.rows(), B.cols(), n, m, "second order: B");
  if (Cq.size() > 0) require_shape(Cq.rows(), Cq.cols(), p, n, "second order: Cq");
  if (Cv.size() > 0) require_shape(Cv.rows(), Cv.cols(), p, n, "second order: Cv");
  if (feedthrough.size() > 0)
    require_shape(feedthrough.rows(), feedthrough.cols(), p, m, "second order: feedthrough");
  for (const Eigen::SparseMatrix<double>* a : {&M, &D, &K})
    for (int c = 0; c < a->outerSize(); ++c)
      for (Eigen::SparseMatrix<double>::InnerIterator it(*a, c); it; ++it)
        if (!std::isfinite(it.value()))
          throw NumericalError("second order: entry (" + std::to_string(it.row() + 1) + ", " +
                               std::to_string(it.col() + 1) + ") of " +
                               (a == &M   ? "M"
                                : a == &D ? "D"
                                          : "K") +
                               " is not a finite number");
  if (!freedoms.empty() && std::ssize(freedoms) != n)
    throw Error("second order: " + std::to_string(freedoms.size()) + " names for " +
                std::to_string(n) + " freedoms");
}

StateSpace state_space(const SecondOrder& s, bool descriptor) {
  s.validate();
  const Eigen::Index n = s.freedom_count(), m = s.input_count(), p = s.output_count();
  const MatrixXd mass = MatrixXd(s.M), stiffness = MatrixXd(s.K);
  const MatrixXd damping = s.D.size() > 0 ? MatrixXd(s.D) : MatrixXd::Zero(n, n);
  StateSpace g;
  g.A = MatrixXd::Zero(2 * n, 2 * n);
  g.A.topRightCorner(n, n).setIdentity();
  g.B = MatrixXd::Zero(2 * n, m);
  if (descriptor) {
    g.A.bottomLeftCorner(n, n) = -stiffness;
    g.A.bottomRightCorner(n, n) = -damping;
    g.B.bottomRows(n) = s.B;
    g.E = MatrixXd::Identity(2 * n, 2 * n);
    g.E.bottomRightCorner(n, n) = mass;
  } else {
    const lapack::Lu lu(mass);
    if (lu.rcond() < std::numeric_limits<double>::epsilon())
      throw NumericalError("second order: M is singular (reciprocal condition " +
                           short_number(lu.rcond()) + "); use the descriptor form");
    g.A.bottomLeftCorner(n, n) = -lu.solve(stiffness);
    g.A.bottomRightCorner(n, n) = -lu.solve(damping);
    g.B.bottomRows(n) = lu.solve(s.B);
  }
  g.C.resize(p, 2 * n);
  g.C << or_zero(s.Cq, p, n), or_zero(s.Cv, p, n);
  g.D = or_zero(s.feedthrough, p, m);
  for (const char* kind : {"q.", "v."})
    for (Eigen::Index i = 0; i < n; ++i)
      g.states.push_back(kind + (s.freedoms.empty() ? std::to_string(i + 1) : at(s.freedoms, i)));
  g.inputs = s.inputs;
  g.outputs = s.outputs;
  g.fill_names();
  g.validate();
  return g;
}

void Modal::validate() const {
  const Eigen::Index n = frequency.size(), m = B.cols(), p = D.rows();
  require_shape(damping.size(), 1, n, 1, "modal: damping");
  require_shape(B.rows(), B.cols(), n, m, "modal: B");
  require_shape(D.rows(), D.cols(), p, m, "modal: D");
  if (Cq.size() > 0) require_shape(Cq.rows(), Cq.cols(), p, n, "modal: Cq");
  if (Cv.size() > 0) require_shape(Cv.rows(), Cv.cols(), p, n, "modal: Cv");
  for (Eigen::Index i = 0; i < n; ++i)
    if (!(frequency[i] >= 0.0) || !std::isfinite(frequency[i]) || !std::isfinite(damping[i]))
      throw Error("modal: mode " + std::to_string(i + 1) + " has the frequency " +
                  number(frequency[i]) + " rad/s and the damping " + number(damping[i]));
}

StateSpace state_space(const Modal& modes) {
  modes.validate();
  const Eigen::Index n = modes.mode_count(), m = modes.B.cols(), p = modes.D.rows();
  const MatrixXd cq = or_zero(modes.Cq, p, n), cv = or_zero(modes.Cv, p, n);
  StateSpace g;
  g.A = MatrixXd::Zero(2 * n, 2 * n);
  g.B = MatrixXd::Zero(2 * n, m);
  g.C.resize(p, 2 * n);
  g.D = modes.D;
  for (Eigen::Index i = 0; i < n; ++i) {
    const double w = modes.frequency[i];
    g.A(2 * i, 2 * i + 1) = 1.0;
    g.A(2 * i + 1, 2 * i) = -w * w;
    g.A(2 * i + 1, 2 * i + 1) = -2.0 * modes.damping[i] * w;
    g.B.row(2 * i + 1) = modes.B.row(i);
    g.C.col(2 * i) = cq.col(i);
    g.C.col(2 * i + 1) = cv.col(i);
    g.states.push_back("mode" + std::to_string(i + 1));
    g.states.push_back("mode" + std::to_string(i + 1) + ".rate");
  }
  g.inputs = modes.inputs;
  g.outputs = modes.outputs;
  g.fill_names();
  g.validate();
  return g;
}

Modal modal(const SecondOrder& s, int count) {
  s.validate();
  const Eigen::Index n = s.freedom_count();
  const Eigen::Index kept = count <= 0 ? n : std::min<Eigen::Index>(count, n);
  const MatrixXd stiffness = MatrixXd(s.K);
  if ((stiffness - stiffness.transpose()).norm() > 1e-10 * stiffness.norm())
    throw Error("modal: K is not symmetric; use state_space() and modal_form()");
  const lapack::SymmetricEigenSystem e =
      lapack::symmetric_generalized_eig(stiffness, MatrixXd(s.M));
  const double largest = std::sqrt(std::max(0.0, e.values.maxCoeff()));
  VectorXd frequency = VectorXd::Zero(kept);
  for (Eigen::Index i = 0; i < kept; ++i) {
    if (e.values[i] < -std::pow(kRigid * largest, 2))
      throw NumericalError("modal: K is not positive semidefinite (eigenvalue " +
                           short_number(e.values[i]) +
                           " 1/s²): the structure is unstable; use state_space()");
    const double w = std::sqrt(std::max(0.0, e.values[i]));
    frequency[i] = w < kRigid * largest ? 0.0 : w;
  }
  return modal(s, frequency, e.vectors.leftCols(kept));
}

Modal modal(const SecondOrder& s, const VectorXd& frequency, const MatrixXd& shapes) {
  s.validate();
  const Eigen::Index n = s.freedom_count(), p = s.output_count(), kept = frequency.size();
  require_shape(shapes.rows(), shapes.cols(), n, kept, "modal: shapes");
  Modal result;
  result.frequency = frequency;
  result.damping = VectorXd::Zero(kept);
  result.shapes = shapes;
  if (s.D.size() > 0) {
    const MatrixXd c = shapes.transpose() * (s.D * shapes);
    double coupling = 0.0;
    for (Eigen::Index i = 0; i < kept; ++i) {
      if (frequency[i] > 0.0) result.damping[i] = c(i, i) / (2.0 * frequency[i]);
      for (Eigen::Index j = 0; j < kept; ++j)
        if (i != j && c(i, i) > 0.0 && c(j, j) > 0.0)
          coupling = std::max(coupling, std::abs(c(i, j)) / std::sqrt(c(i, i) * c(j, j)));
    }
    result.damping_coupling = coupling;
  }
  result.B = shapes.transpose() * s.B;
  result.Cq = or_zero(s.Cq, p, n) * shapes;
  result.Cv = or_zero(s.Cv, p, n) * shapes;
  result.D = or_zero(s.feedthrough, p, s.input_count());
  result.inputs = s.inputs;
  result.outputs = s.outputs;
  return result;
}

Modal modal(const SecondOrder& structure, int count, double damping) {
  SecondOrder undamped = structure;
  undamped.D.resize(0, 0);
  Modal result = modal(undamped, count);
  result.damping.setConstant(damping);
  return result;
}

ModalForm modal_form(const StateSpace& given, double condition_limit) {
  const StateSpace system = explicit_form(given);
  const Eigen::Index n = system.order();
  const lapack::RealEigenSystem e = lapack::real_eig(system.A);
  // Blocks by modulus.
  std::vector<std::pair<Eigen::Index, int>> blocks;
  for (Eigen::Index k = 0; k < n; ++k) {
    const int size = e.values[k].imag() != 0.0 ? 2 : 1;
    blocks.emplace_back(k, size);
    k += size - 1;
  }
  std::stable_sort(blocks.begin(), blocks.end(), [&](const auto& a, const auto& b) {
    return std::abs(e.values[a.first]) < std::abs(e.values[b.first]);
  });
  ModalForm result;
  result.T.resize(n, n);
  Eigen::Index column = 0;
  for (const auto& [k, size] : blocks)
    for (int i = 0; i < size; ++i) result.T.col(column++) = e.T.col(k + i);
  const double rcond = lapack::Lu(result.T).rcond();
  result.condition = rcond > 0.0 ? 1.0 / rcond : std::numeric_limits<double>::infinity();
  if (n > 0 && !(result.condition < condition_limit))
    throw NumericalError("modal form: the eigenvectors have the condition " +
                         short_number(result.condition) +
                         "; the system has (nearly) repeated poles without vectors of their own");
  result.system = similarity(system, result.T);
  // What is zero by construction.
  MatrixXd clean = MatrixXd::Zero(n, n);
  column = 0;
  for (const auto& [k, size] : blocks) {
    clean(column, column) = e.values[k].real();
    if (size == 2) {
      clean(column + 1, column + 1) = e.values[k].real();
      clean(column, column + 1) = e.values[k].imag();
      clean(column + 1, column) = -e.values[k].imag();
    }
    column += size;
  }
  result.system.A = clean;
  return result;
}

}  // namespace catena
