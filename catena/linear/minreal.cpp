// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/minreal.h"

#include <cmath>

#include "catena/base/error.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// 1 − 2 v vᵀ with |v| = 1 that turns x into ∓|x| e1.
VectorXd reflector(const VectorXd& x) {
  VectorXd v = x;
  v[0] += std::copysign(x.norm(), x[0]);
  return v.normalized();
}

}  // namespace

Staircase controllable_staircase(const MatrixXd& A, const MatrixXd& B, const MatrixXd& C,
                                 double tolerance) {
  const Eigen::Index n = A.rows();
  Staircase s{A, B, C, MatrixXd::Identity(n, n)};
  const double least = tolerance * std::max(A.norm(), B.norm());
  const auto reflect = [&](const VectorXd& v, Eigen::Index first) {
    const Eigen::Index size = v.size();
    const Eigen::RowVectorXd va = v.transpose() * s.A.middleRows(first, size);
    s.A.middleRows(first, size).noalias() -= 2.0 * v * va;
    const VectorXd av = s.A.middleCols(first, size) * v;
    s.A.middleCols(first, size).noalias() -= 2.0 * av * v.transpose();
    const Eigen::RowVectorXd vb = v.transpose() * s.B.middleRows(first, size);
    s.B.middleRows(first, size).noalias() -= 2.0 * v * vb;
    const VectorXd cv = s.C.middleCols(first, size) * v;
    s.C.middleCols(first, size).noalias() -= 2.0 * cv * v.transpose();
    const VectorXd qv = s.Q.middleCols(first, size) * v;
    s.Q.middleCols(first, size).noalias() -= 2.0 * qv * v.transpose();
  };
  // `reached` is what the directions found last (at first the inputs) do to the rows not yet
  // reached.
  MatrixXd reached = s.B;
  Eigen::Index done = 0;
  while (done < n) {
    const Eigen::Index start = done;
    // QR with column pivoting: the column that reaches farthest is taken next.
    while (done < n) {
      Eigen::Index best = 0;
      const double length =
          reached.cols() > 0 ? std::sqrt(reached.colwise().squaredNorm().maxCoeff(&best)) : 0.0;
      if (length <= least) break;
      const VectorXd v = reflector(reached.col(best));
      reflect(v, done);
      reached -= 2.0 * v * (v.transpose() * reached).eval();
      reached = MatrixXd(reached.bottomRows(reached.rows() - 1));
      ++done;
    }
    if (done == start) break;
    s.steps.push_back(static_cast<int>(done - start));
    reached = s.A.block(done, start, n - done, done - start);
  }
  s.controllable = static_cast<int>(done);
  // What was neglected is set to zero.
  if (done < n) {
    s.A.bottomLeftCorner(n - done, done).setZero();
    s.B.bottomRows(n - done).setZero();
  }
  return s;
}

MinimalRealization minimal_realization(const StateSpace& given, double tolerance) {
  if (!(tolerance >= 0.0) || tolerance >= 1.0)
    throw Error("minreal: the tolerance must lie between 0 and 1");
  MinimalRealization result{explicit_form(given)};
  result.system.fill_names();
  const StateSpace& system = result.system;
  if (system.order() == 0) return result;
  const lapack::Balanced balanced = lapack::balance(system.A);
  MatrixXd A = balanced.scaled;
  MatrixXd B = balanced.scale.cwiseInverse().asDiagonal() * system.B;
  MatrixXd C = system.C * balanced.scale.asDiagonal();
  // Every input and output counts alike, whatever its unit; the scales are taken back at the end.
  const double norm = A.norm() > 0.0 ? A.norm() : 1.0;  // A = 0: integrators alone
  const auto factor = [&](double length) {
    return length > 0.0 ? std::exp2(std::round(std::log2(norm / length))) : 1.0;
  };
  VectorXd of_input(B.cols()), of_output(C.rows());
  for (Eigen::Index j = 0; j < B.cols(); ++j) of_input[j] = factor(B.col(j).norm());
  for (Eigen::Index i = 0; i < C.rows(); ++i) of_output[i] = factor(C.row(i).norm());
  B = B * of_input.asDiagonal();
  C = of_output.asDiagonal() * C;

  const Staircase reach = controllable_staircase(A, B, C, tolerance);
  const Eigen::Index c = reach.controllable;
  result.uncontrollable = system.order() - reach.controllable;
  const Staircase seen = controllable_staircase(reach.A.topLeftCorner(c, c).transpose(),
                                                reach.C.leftCols(c).transpose(),
                                                reach.B.topRows(c).transpose(), tolerance);
  const Eigen::Index o = seen.controllable;
  result.unobservable = static_cast<int>(c - o);
  if (o == system.order()) return result;
  StateSpace small = system;
  small.A = seen.A.topLeftCorner(o, o).transpose();
  small.B = seen.C.leftCols(o).transpose() * of_input.cwiseInverse().asDiagonal();
  small.C = of_output.cwiseInverse().asDiagonal() * seen.B.topRows(o).transpose();
  small.states.clear();
  small.state_units.clear();
  if (small.point) small.point->x0.resize(0);
  small.fill_names();
  result.system = small;
  return result;
}

StateSpace minreal(const StateSpace& system, double tolerance) {
  return minimal_realization(system, tolerance).system;
}

}  // namespace catena
