// SPDX-License-Identifier: BSD-3-Clause
#include "catena/flexible/mode_selection.h"

#include <algorithm>
#include <cmath>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"

namespace catena {
namespace {

// Frequencies of two planes that agree to this are equal: the first problem's stands first.
constexpr double kEqualFrequency = 1e-9;
// Inverse squares of frequencies below this fraction of the largest are rounding: no mass moves.
constexpr double kMassless = 1e-15;

// Why K is not positive definite.
NumericalError not_held(const Eigen::MatrixXd& stiffness) {
  constexpr double kZero = 1e-12;
  const Eigen::VectorXd values = symmetric_eigen(stiffness).values;
  if (values[0] < -kZero * values.cwiseAbs().maxCoeff())
    return NumericalError(
        "has an indefinite stiffness: with the frame clamped its smallest "
        "eigenvalue is " +
        short_number(values[0]) + "; check signs and units of the stiffness");
  return NumericalError(
      "has a shape of frequency 0 (rigid motion) with the frame clamped; clamp more nodes, or "
      "give the stiffness that holds it");
}

// Normal modes, lowest first, vᵀ M v = 1. By K = L Lᵀ and the eigenvalues 1/ω² of L⁻¹ M L⁻ᵀ: the
// low modes, which matter, are the large eigenvalues, and M may be singular.
std::vector<SelectedShape> normal_modes(const Eigen::MatrixXd& mass,
                                        const Eigen::MatrixXd& stiffness, int problem) {
  std::vector<SelectedShape> modes;
  if (mass.rows() == 0) return modes;
  const Eigen::VectorXd scale = stiffness.diagonal().cwiseMax(0.0).cwiseSqrt();
  if (!(scale.minCoeff() > 0.0)) throw not_held(stiffness);
  const Eigen::VectorXd inverse = scale.cwiseInverse();
  Eigen::MatrixXd l = inverse.asDiagonal() * stiffness * inverse.asDiagonal();
  if (!cholesky_in_place(l)) throw not_held(stiffness);
  const auto lower = l.triangularView<Eigen::Lower>();
  Eigen::MatrixXd a = inverse.asDiagonal() * mass * inverse.asDiagonal();
  lower.solveInPlace(a);
  a.transposeInPlace();
  lower.solveInPlace(a);
  const SymmetricEigen eigen = symmetric_eigen(0.5 * (a + a.transpose()));
  const Eigen::Index n = a.rows();
  for (Eigen::Index i = n; i-- > 0;) {
    const double square = eigen.values[i];
    if (!(square > kMassless * eigen.values[n - 1])) break;
    Eigen::VectorXd v = eigen.vectors.col(i);
    l.transpose().triangularView<Eigen::Upper>().solveInPlace(v);
    v = inverse.cwiseProduct(v);
    modes.push_back({problem, 1.0 / std::sqrt(square), v / std::sqrt(v.dot(mass * v))});
  }
  return modes;
}

// Static shapes: the attachments moved by one unit each with the least elastic energy,
// u = K⁻¹ Gᵀ (G K⁻¹ Gᵀ)⁻¹.
Eigen::MatrixXd static_shapes(const ElasticProblem& p) {
  if (p.interface.rows() == 0) return Eigen::MatrixXd(p.stiffness.rows(), 0);
  const Cholesky k(p.stiffness);
  if (!k.succeeded()) throw not_held(p.stiffness);
  const Eigen::MatrixXd flexibility = k.solve(p.interface.transpose());
  return flexibility *
         PivotedCholesky(p.interface * flexibility)
             .solve(Eigen::MatrixXd::Identity(p.interface.rows(), p.interface.rows()));
}

// Modes with the attachments fixed, G u = 0.
std::vector<SelectedShape> fixed_modes(const ElasticProblem& p, int problem) {
  const Eigen::Index rows = p.interface.rows(), n = p.mass.rows();
  if (rows == 0) return normal_modes(p.mass, p.stiffness, problem);
  if (rows >= n) return {};
  const PivotedQr qr(p.interface.transpose());
  const Eigen::MatrixXd free = qr.q().rightCols(n - qr.rank());
  std::vector<SelectedShape> modes = normal_modes(free.transpose() * p.mass * free,
                                                  free.transpose() * p.stiffness * free, problem);
  for (SelectedShape& mode : modes) mode.vector = free * mode.vector;
  return modes;
}

void sort_by_frequency(std::vector<SelectedShape>& shapes) {
  std::sort(shapes.begin(), shapes.end(), [](const SelectedShape& a, const SelectedShape& b) {
    const bool equal = std::abs(a.frequency - b.frequency) <= kEqualFrequency * a.frequency;
    if (equal && a.problem != b.problem) return a.problem < b.problem;
    return a.frequency < b.frequency;
  });
}

void keep(std::vector<SelectedShape>& shapes, int count, double limit) {
  sort_by_frequency(shapes);
  if (count >= 0 && static_cast<std::size_t>(count) < shapes.size()) shapes.resize(index(count));
  if (limit > 0.0)
    std::erase_if(shapes, [&](const SelectedShape& s) { return s.frequency > limit; });
}

std::vector<SelectedShape> clamped_shapes(const std::vector<ElasticProblem>& problems,
                                          const ModeChoice& choice) {
  std::vector<SelectedShape> shapes;
  const bool loaded = choice.set == ModeSet::clamped_loaded;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const ElasticProblem& p = problems[i];
    const bool with_load = loaded && p.load_mass.size() > 0;
    const Eigen::MatrixXd mass = with_load ? Eigen::MatrixXd(p.mass + p.load_mass) : p.mass;
    for (SelectedShape& shape : normal_modes(mass, p.stiffness, static_cast<int>(i)))
      shapes.push_back(std::move(shape));
  }
  keep(shapes, choice.count > 0 ? choice.count : -1, choice.frequency_limit);
  return shapes;
}

std::vector<SelectedShape> craig_bampton_shapes(const std::vector<ElasticProblem>& problems,
                                                const ModeChoice& choice) {
  std::vector<Eigen::MatrixXd> basis;
  std::vector<SelectedShape> fixed;
  int statics = 0;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    basis.push_back(static_shapes(problems[i]));
    statics += static_cast<int>(basis.back().cols());
    for (SelectedShape& mode : fixed_modes(problems[i], static_cast<int>(i)))
      fixed.push_back(std::move(mode));
  }
  if (choice.count > 0 && choice.count < statics)
    throw NumericalError("asks for " + std::to_string(choice.count) +
                         " modes, but Craig-Bampton needs " + std::to_string(statics) +
                         " for its attachments alone; ask for more, or for clamped_free modes");
  keep(fixed, choice.count > 0 ? choice.count - statics : -1, 2.0 * choice.frequency_limit);
  for (const SelectedShape& mode : fixed) {
    Eigen::MatrixXd& b = at(basis, mode.problem);
    b.conservativeResize(b.rows() > 0 ? b.rows() : mode.vector.size(), b.cols() + 1);
    b.rightCols(1) = mode.vector;
  }
  std::vector<SelectedShape> shapes;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const Eigen::MatrixXd& b = basis[i];
    if (b.cols() == 0) continue;
    for (SelectedShape& shape :
         normal_modes(b.transpose() * problems[i].mass * b,
                      b.transpose() * problems[i].stiffness * b, static_cast<int>(i))) {
      shape.vector = b * shape.vector;
      shapes.push_back(std::move(shape));
    }
  }
  sort_by_frequency(shapes);
  if (static_cast<int>(shapes.size()) < statics)
    throw NumericalError(
        "has a direction at an attachment that deforms but moves no inertia (torsion without "
        "rotary inertia?); give the rotary inertia, or leave that stiffness out");
  return shapes;
}

}  // namespace

std::vector<SelectedShape> select_shapes(const std::vector<ElasticProblem>& problems,
                                         const ModeChoice& choice) {
  if (choice.count <= 0 && !(choice.frequency_limit > 0.0))
    throw NumericalError("has no modes; give their number or a frequency limit");
  std::vector<SelectedShape> shapes = choice.set == ModeSet::craig_bampton
                                          ? craig_bampton_shapes(problems, choice)
                                          : clamped_shapes(problems, choice);
  if (shapes.empty())
    throw NumericalError("has no mode below " + short_number(choice.frequency_limit) +
                         " rad/s; raise the frequency limit, or make it a rigid body");
  return shapes;
}

}  // namespace catena
