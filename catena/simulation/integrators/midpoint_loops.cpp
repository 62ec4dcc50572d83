// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/integrators/midpoint_loops.h"

#include <algorithm>

#include "catena/base/error.h"
#include "catena/base/text.h"

namespace catena {
namespace {

// Rows compare (loop_closure.h): a pivot this small beside the largest is redundant, or singular.
constexpr double kIndependentRow = 1e-8;

}  // namespace

MidpointLoops::MidpointLoops(const Mechanism& mechanism) : mechanism_(mechanism) {
  for (int k = 0; k < static_cast<int>(mechanism.loops().size()); ++k)
    loops_.emplace_back(mechanism, k);
}

void MidpointLoops::place(const Eigen::VectorXd& q) {
  Eigen::Index count = 0;
  for (const LoopClosure& loop : loops_) count += loop.rows();
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(count, mechanism_.freedoms());
  Eigen::Index first = 0;
  for (const LoopClosure& loop : loops_) {
    const Eigen::MatrixXd own = loop.equations(q).jacobian;
    for (int k = 0; k < loop.freedoms(); ++k)
      all.block(first, loop.freedom(k), loop.rows(), 1) = own.col(k);
    first += loop.rows();
  }
  const PivotedQr qr(all.transpose());
  const int rank = qr.rank(kIndependentRow);
  if (rank_ < 0) rank_ = rank;
  if (rank != rank_)
    throw NumericalError("method 'midpoint' meets a singular position of '" + mechanism_.name() +
                         "': " + std::to_string(rank) + " constraints are independent there, not " +
                         std::to_string(rank_) + "; use another method");
  kept_.clear();
  for (int k = 0; k < rank; ++k) kept_.push_back(qr.pivot_column(k));
  std::sort(kept_.begin(), kept_.end());
  jacobian_ = all(kept_, Eigen::all);
}

Eigen::VectorXd MidpointLoops::all_residuals(const Eigen::VectorXd& q) const {
  Eigen::VectorXd all;
  for (const LoopClosure& loop : loops_) {
    const Eigen::VectorXd own = loop.residual(q);
    all.conservativeResize(all.size() + own.size());
    all.tail(own.size()) = own;
  }
  return all;
}

Eigen::VectorXd MidpointLoops::residual(const Eigen::VectorXd& q) const {
  return all_residuals(q)(kept_);
}

double MidpointLoops::gap(const Eigen::VectorXd& q) const {
  return all_residuals(q).lpNorm<Eigen::Infinity>();
}

void MidpointLoops::factor(const Eigen::MatrixXd& mass) {
  const Eigen::Index n = mass.rows(), r = jacobian_.rows();
  Eigen::MatrixXd whole = Eigen::MatrixXd::Zero(n + r, n + r);
  whole.topLeftCorner(n, n) = mass;
  whole.topRightCorner(n, r) = -jacobian_.transpose();
  whole.bottomLeftCorner(r, n) = jacobian_;
  factor_.compute(whole);
}

void MidpointLoops::solve(const Eigen::VectorXd& f, const Eigen::VectorXd& r, Eigen::VectorXd& x,
                          Eigen::VectorXd& multipliers) const {
  Eigen::VectorXd both(f.size() + r.size());
  both << f, r;
  both = factor_.solve(both);
  x = both.head(f.size());
  multipliers = both.tail(r.size());
}

}  // namespace catena
