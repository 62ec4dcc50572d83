// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/bounded_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/model/description.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// A motion below this fraction of the terms that it is the sum of is rounding.
constexpr double kSolverSpeedRounding = 256.0 * std::numeric_limits<double>::epsilon();
// A freedom whose own answer falls to this fraction while others are held moves with them.
constexpr double kDependent = 1e-10;

class Solver {
 public:
  explicit Solver(const BoundedProblem& problem) : p_(problem), size_(problem.b.size()) {
    push_ = VectorXd::Zero(size_).cwiseMax(p_.least).cwiseMin(p_.most);
    motion_ = p_.w * push_ + p_.b;
  }

  BoundedSolution run() {
    BoundedSolution result;
    const Index most_pivots = 50 + 20 * size_;
    for (pivots_ = 0; pivots_ < most_pivots;) {
      const Index worst = most_violated();
      if (worst < 0) {
        result.solved = true;
        break;
      }
      if (!drive(worst, most_pivots)) break;
    }
    result.push = push_;
    result.motion = motion_;
    result.between.assign(to_size(size_), 0);
    for (const Index i : own_) result.between[index(i)] = 1;
    return result;
  }

 private:
  bool held(Index i) const { return std::find(own_.begin(), own_.end(), i) != own_.end(); }

  // How far a freedom is from its law, zero within rounding.
  double violation(Index i) const {
    if (held(i)) return 0.0;
    const double u = motion_[i];
    const double scale =
        std::abs(p_.b[i]) + p_.w.row(i).cwiseAbs().dot(push_.cwiseAbs().transpose());
    if (std::abs(u) <= kSolverSpeedRounding * scale) return 0.0;
    if (u > 0.0 && push_[i] <= p_.least[i]) return 0.0;
    if (u < 0.0 && push_[i] >= p_.most[i]) return 0.0;
    return std::abs(u);
  }

  Index most_violated() const {
    Index worst = -1;
    double most = 0.0;
    for (Index i = 0; i < size_; ++i) {
      const double v = violation(i) / std::sqrt(std::max(p_.w(i, i), 1e-300));
      if (v <= most) continue;
      most = v;
      worst = i;
    }
    return worst;
  }

  void solve_held() {
    push_(own_).setZero();
    motion_ = p_.w * push_ + p_.b;
    if (own_.empty()) return;
    const VectorXd right = motion_(own_);
    push_(own_) = -Lu(p_.w(own_, own_)).solve(right);
    motion_ = p_.w * push_ + p_.b;
    motion_(own_).setZero();
  }

  // Changes the push at j until it obeys its law. False: nothing can make it.
  bool drive(Index j, Index most_pivots) {
    const double sense = motion_[j] > 0.0 ? -1.0 : 1.0;
    while (pivots_++ < most_pivots) {
      VectorXd way = VectorXd::Zero(size_);
      way[j] = sense;
      if (!own_.empty()) way(own_) = -Lu(p_.w(own_, own_)).solve(p_.w(own_, j)) * sense;
      const double answer = sense * p_.w.row(j).dot(way);
      double step = answer > kDependent * p_.w(j, j) ? std::abs(motion_[j]) / answer : kInfinity;
      Index block = -1;
      const auto limit = [&](Index i) {
        if (way[i] == 0.0) return;
        const double room = (way[i] > 0.0 ? p_.most[i] : p_.least[i]) - push_[i];
        const double to = std::max(room / way[i], 0.0);
        if (to >= step) return;
        step = to;
        block = i;
      };
      limit(j);
      for (const Index i : own_) limit(i);
      if (step == kInfinity) return false;
      push_ += step * way;
      if (block >= 0) {
        push_[block] = way[block] > 0.0 ? p_.most[block] : p_.least[block];
        std::erase(own_, block);
      } else {
        own_.push_back(j);
      }
      solve_held();
      if (block < 0 || block == j) return true;
      if (motion_[j] * sense >= 0.0) return true;  // rounding: it moves the other way by now
    }
    return true;
  }

  const BoundedProblem& p_;
  Index size_;
  Index pivots_ = 0;
  VectorXd push_, motion_;
  std::vector<Index> own_;  // between their bounds
};

}  // namespace

BoundedSolution solve(const BoundedProblem& problem) { return Solver(problem).run(); }

}  // namespace catena
