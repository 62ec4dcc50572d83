// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/contact_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/dense.h"
#include "catena/base/index.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

// Sweeps before each attempt of Newton's method, as many again after one that failed, and attempts.
// Sweeps may go round in circles; so from kRelaxed attempts on they go only half as far each time.
constexpr int kSweeps = 100;
constexpr int kRelaxed = 2;
constexpr int kAttempts = 8;
constexpr int kNewtonSteps = 40;
// What Newton's method is content with, as a fraction of the largest motion.
constexpr double kSolvedResidual = 64.0 * std::numeric_limits<double>::epsilon();
// Of the pivots of Newton's matrix: redundant contacts make it singular.
constexpr double kRank = 1e-11;

class Solver {
 public:
  explicit Solver(const ContactProblem& problem)
      : p_(problem), count_(static_cast<Index>(problem.contacts.size())) {
    force_ = VectorXd::Zero(3 * count_);
    normal_step_.resize(count_);
    tangent_step_.resize(count_);
    for (Index i = 0; i < count_; ++i) {
      const double n = p_.w(3 * i, 3 * i);
      const double t = std::max(p_.w(3 * i + 1, 3 * i + 1) + p_.w(3 * i + 2, 3 * i + 2), n);
      normal_step_[i] = n > 0.0 ? 1.0 / n : 0.0;
      tangent_step_[i] = t > 0.0 ? 1.0 / t : 0.0;
    }
    scale_ = p_.b.lpNorm<Eigen::Infinity>();
    for (const auto& c : p_.contacts) scale_ = std::max(scale_, std::abs(c.least));
  }

  ContactSolution run() {
    ContactSolution best;
    best.residual = std::numeric_limits<double>::infinity();
    if (count_ == 0 || scale_ == 0.0) {
      best.force = force_;
      best.motion = p_.b;
      best.residual = 0.0;
      return best;
    }
    if (p_.sticks_first) {
      stick();
      newton();
      keep_better(best);
      force_.setZero();
    }
    int sweeps = kSweeps;
    for (int attempt = 0; attempt < kAttempts && best.residual > kSolvedResidual; ++attempt) {
      const double part = attempt < kRelaxed ? 1.0 : std::pow(0.5, attempt - kRelaxed + 1);
      for (int k = 0; k < sweeps; ++k) sweep(part);
      const VectorXd from = force_;
      newton();
      keep_better(best);
      force_ = from;
      keep_better(best);
      sweeps *= 2;
    }
    if (best.residual > kContactsSolved) {
      stick();
      newton();
      keep_better(best);
    }
    return best;
  }

  ContactSolution run_from(const VectorXd& force) {
    ContactSolution best;
    best.residual = std::numeric_limits<double>::infinity();
    if (count_ == 0 || scale_ == 0.0) return run();
    force_ = force;
    newton();
    keep_better(best);
    return best;
  }

 private:
  const ContactProblem::Contact& contact(Index i) const { return p_.contacts[index(i)]; }

  // The forces that stop all motion, without the contacts that would have to pull.
  void stick() {
    std::vector<Index> rows;
    for (Index r = 0; r < 3 * count_; ++r) rows.push_back(r);
    CompleteOrthogonal decomposition(kRank);
    while (!rows.empty()) {
      force_.setZero();
      decomposition.compute(p_.w(rows, rows));
      VectorXd wanted = p_.b(rows);
      for (std::size_t k = 0; k < rows.size(); k += 3)
        wanted[static_cast<Index>(k)] -= contact(rows[k] / 3).least;
      force_(rows) = -decomposition.solve(wanted);
      std::size_t worst = 0;
      for (std::size_t k = 0; k < rows.size(); k += 3)
        if (force_[rows[k]] < force_[rows[worst]]) worst = k;
      if (!(force_[rows[worst]] < 0.0)) return;
      const auto first = rows.begin() + static_cast<std::ptrdiff_t>(worst);
      rows.erase(first, first + 3);
    }
    force_.setZero();
  }

  // One contact after the other: the normal, then friction within the cone.
  void sweep(double part) {
    Eigen::Vector3d last;
    for (Index i = 0; i < count_; ++i) {
      const ContactProblem::Contact& c = contact(i);
      const double u = p_.w.row(3 * i).dot(force_) + p_.b[3 * i] - c.least;
      double step = normal_step_[i];
      last = force_.segment<3>(3 * i);
      if (c.slips && c.friction > 0.0) {
        const double own = p_.w(3 * i, 3 * i) -
                           c.friction * p_.w.row(3 * i).segment<2>(3 * i + 1).dot(c.direction);
        if (own > 0.0) step = 1.0 / own;
      }
      force_[3 * i] = std::max(0.0, force_[3 * i] - step * u);
      auto tangent = force_.segment<2>(3 * i + 1);
      const double most = c.friction * force_[3 * i];
      if (c.slips || most == 0.0) {
        tangent = -most * c.direction;
      } else {
        const Vector2d slip = p_.w.middleRows<2>(3 * i + 1) * force_ + p_.b.segment<2>(3 * i + 1);
        const Vector2d wanted = tangent - tangent_step_[i] * slip;
        const double size = wanted.norm();
        tangent = size > most ? Vector2d(most / size * wanted) : wanted;
      }
      force_.segment<3>(3 * i) += (1.0 - part) * (last - force_.segment<3>(3 * i));
    }
  }

  // The laws as a function that is zero where they hold, in units of motion, and its derivative.
  void evaluate(const VectorXd& u, VectorXd& f, MatrixXd* slope) const {
    f.resize(3 * count_);
    if (slope != nullptr) slope->setZero(3 * count_, 3 * count_);
    for (Index i = 0; i < count_; ++i) {
      const ContactProblem::Contact& c = contact(i);
      const Index n = 3 * i;
      const double sn = normal_step_[i], st = tangent_step_[i];
      const double open = u[n] - c.least;
      const double pressed = force_[n] - sn * open;
      if (sn == 0.0 || !(pressed > 0.0)) {  // apart; without a way to push, it must be
        for (Index k = n; k < n + 3; ++k) {
          f[k] = sn > 0.0 ? force_[k] / sn : std::min(0.0, k == n ? open : 0.0);
          if (slope != nullptr) (*slope)(k, k) = sn > 0.0 ? 1.0 / sn : 1.0;
        }
        continue;
      }
      f[n] = open;
      if (slope != nullptr) slope->row(n) = p_.w.row(n);
      const Vector2d tangent = force_.segment<2>(n + 1);
      const Vector2d wanted = tangent - st * u.segment<2>(n + 1);
      const double most = c.friction * pressed, size = wanted.norm();
      const double unit = st > 0.0 ? 1.0 / st : 1.0;
      if (c.slips || c.friction == 0.0) {
        f.segment<2>(n + 1) = unit * (tangent + c.friction * force_[n] * c.direction);
        if (slope == nullptr) continue;
        slope->block<2, 2>(n + 1, n + 1).diagonal().setConstant(unit);
        slope->block<2, 1>(n + 1, n) = unit * c.friction * c.direction;
      } else if (size <= most) {
        f.segment<2>(n + 1) = u.segment<2>(n + 1);
        if (slope != nullptr) slope->middleRows<2>(n + 1) = p_.w.middleRows<2>(n + 1);
      } else {
        const Vector2d along = wanted / size;
        f.segment<2>(n + 1) = unit * (tangent - most * along);
        if (slope == nullptr) continue;
        const Eigen::Matrix2d turn =
            most / size * (Eigen::Matrix2d::Identity() - along * along.transpose());
        MatrixXd rows = st * turn * p_.w.middleRows<2>(n + 1);
        rows += c.friction * sn * along * p_.w.row(n);
        rows.col(n) -= c.friction * along;
        rows.middleCols<2>(n + 1) += Eigen::Matrix2d::Identity() - turn;
        slope->middleRows<2>(n + 1) = unit * rows;
      }
    }
  }

  void newton() {
    VectorXd f;
    MatrixXd slope;
    CompleteOrthogonal decomposition(kRank);
    double last = std::numeric_limits<double>::infinity();
    VectorXd best = force_;
    for (int k = 0; k < kNewtonSteps; ++k) {
      evaluate(p_.w * force_ + p_.b, f, &slope);
      const double size = f.lpNorm<Eigen::Infinity>();
      if (!std::isfinite(size)) break;
      if (size < last) {
        last = size;
        best = force_;
      }
      if (size <= kSolvedResidual * scale_) break;
      decomposition.compute(slope);
      force_ -= decomposition.solve(f);
    }
    force_ = best;
    for (Index i = 0; i < count_; ++i)  // rounding
      if (!(force_[3 * i] > 0.0)) force_.segment<3>(3 * i).setZero();
  }

  void keep_better(ContactSolution& best) const {
    VectorXd f;
    const VectorXd u = p_.w * force_ + p_.b;
    evaluate(u, f, nullptr);
    Index worst = 0;
    const double residual = f.cwiseAbs().maxCoeff(&worst) / scale_;
    if (!(residual < best.residual)) return;
    best = {force_, u, residual, static_cast<int>(worst / 3)};
  }

  const ContactProblem& p_;
  Index count_;
  VectorXd force_, normal_step_, tangent_step_;
  double scale_ = 0.0;
};

}  // namespace

ContactSolution solve(const ContactProblem& problem) { return Solver(problem).run(); }

Eigen::Vector3d grown_impulse(const ContactProblem& problem, int contact) {
  // Bits that change the slip by this part of it, smaller ones first: it may turn out of the jam
  // at once. Slip that is so small a part of the first is at an end.
  constexpr double kBit = 0.01;
  constexpr double kFirstBit = 1e-8;
  constexpr double kGrowth = 1.3;
  constexpr double kEnd = 1e-9;
  constexpr int kMostBits = 20000;
  using Eigen::Vector3d;
  const Index first = 3 * contact;
  const Eigen::Matrix3d w = problem.w.block<3, 3>(first, first);
  const double mu = problem.contacts[index(contact)].friction;
  const Vector3d start = problem.b.segment<3>(first);
  Vector3d impulse = Vector3d::Zero(), u = start;
  u[0] = 0.0;
  const double slip = u.tail<2>().norm();
  if (!(slip > 0.0) || !(w(0, 0) > 0.0)) return impulse;
  const auto push = [&](const Vector3d& at) {
    Vector3d f(1.0, 0.0, 0.0);
    f.tail<2>() = -mu / at.tail<2>().norm() * at.tail<2>();
    return f;
  };
  double bit = kFirstBit, growth = kGrowth;
  for (int k = 0; k < kMostBits; ++k, bit = std::min(kBit, growth * bit)) {
    const double left = u.tail<2>().norm();
    if (left <= kEnd * slip) {
      // Sticks, if friction can; else it slips on the way that it is pushed.
      const Eigen::Matrix2d tangents = w.bottomRightCorner<2, 2>();
      const Vector2d along = w.col(0).tail<2>();
      if (FullLu(tangents).solve(along).norm() <= mu) return FullLu(w).solve(-start);
      u.tail<2>() = 2.0 * kEnd * slip / along.norm() * along;
      continue;
    }
    const Vector3d f1 = push(u), r1 = w * f1;
    const double h = bit * left / std::max(r1.tail<2>().norm(), std::numeric_limits<double>::min());
    const Vector3d f2 = push(u + 0.5 * h * r1), r2 = w * f2;
    const Vector3d f3 = push(u + 0.5 * h * r2), r3 = w * f3;
    const Vector3d f4 = push(u + h * r3);
    const Vector3d more = h / 6.0 * (f1 + 2.0 * f2 + 2.0 * f3 + f4);
    const Vector3d next = u + w * more;
    if (!(next[0] < 0.0)) {  // the normal velocity is zero on the way: closer to that
      if (u[0] < 0.0 && bit > kFirstBit) {
        growth = 1.0;
        bit *= 0.1;
        continue;
      }
      const double part = u[0] < 0.0 ? u[0] / (u[0] - next[0]) : 0.0;
      return impulse + part * more;
    }
    impulse += more;
    u = next;
  }
  return Vector3d::Zero();
}

ContactSolution solve_from(const ContactProblem& problem, const VectorXd& force) {
  return Solver(problem).run_from(force);
}

}  // namespace catena
