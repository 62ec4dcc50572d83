// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/cone_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/constraints/cone_contact.h"
#include "catena/constraints/cone_islands.h"
#include "catena/dynamics/multipliers/semidefinite.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Law = ConeProblem::Law;

// A row of which the equalities leave less than this fraction follows from them: no impulse helps.
constexpr double kFollowsFromEqual = 1e-9;
// Of the pivots (squared sines) of the equalities.
constexpr double kEqualRank = 1e-12;
constexpr double kEqualRankGeneral = 1e-10;
constexpr double kClearlyIndependent = 1e-6;
// The compliance of a contact, over kRegularized times its W_ii, at most.
constexpr double kMostCompliance = 1e3;
constexpr int kMostNewtonSteps = 25;
constexpr int kMostShortenings = 4;
// Sweeps before the first attempt of Newton's method after the one from the guess; each attempt has
// twice as many as the one before. From kHalfFrom on they go only half as far, which ends cycles,
// and kConeGood is enough.
constexpr int kFirstSweeps = 20;
constexpr int kMostAttempts = 7;
constexpr int kHalfFrom = 3;
constexpr double kProximalWeights[] = {1e-2, 1e-4, 1e-6};
constexpr int kMostProximal = 40;
// Of soften(): the first compliance, of a row's own W_ii, and by what it falls (by less where that
// is too much); problems that are solved at most; factor between the weights that are tried.
constexpr double kMostCompliant = 0.1;
constexpr double kSofter = 0.1;
constexpr int kMostSoft = 30;
constexpr double kStiffer = 100.0;
// The function of Newton's method weighs motions against impulses by 1/W times one of these: where
// it cycles with one of them, another may do.
constexpr double kOtherStiffnesses[] = {0.1, 10.0};
// What Newton's method aims at, as a fraction of the load; kConeSolved is enough.
constexpr double kAim = 1e-13;
// What is enough, as a fraction of the load, where kConeSolved is not reached soon: for redundant
// contacts that are about to slip, whose share of the load hangs on the compliance alone. Of
// problems of more rows than kFewRows, for which more attempts would take long, less is enough.
constexpr double kConeGood = 1e-8;
constexpr double kConeUsable = 1e-7;
constexpr int kFewRows = 36;

// The blocks that are no equalities, with those eliminated: u = s p + b.
class ConeSolver {
 public:
  explicit ConeSolver(const ConeProblem& problem) : problem_(problem) {
    for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
      const ConeProblem::Block& block = problem.blocks[k];
      if (block.law == Law::equal) {
        equal_.push_back(block.row);
        continue;
      }
      blocks_.push_back(block);
      blocks_.back().row = static_cast<int>(rows_.size());
      original_.push_back(static_cast<int>(k));
      for (int r = 0; r < (block.law == Law::cone ? 3 : 1); ++r) rows_.push_back(block.row + r);
    }
    eliminate();
  }

  // What stopping the motion would take; of all islands the same.
  double stop_load() const { return stop_load_; }
  void set_stop_load(double load) { stop_load_ = load; }

  ConeSolution run(const VectorXd& guess) {
    ConeSolution result;
    const Index m = size();
    VectorXd start = VectorXd::Zero(m);
    if (guess.size() == problem_.b.size()) start = guess(rows_);
    best_ = VectorXd::Zero(m);
    best_residual_ = std::numeric_limits<double>::infinity();
    const double usable = m <= kFewRows ? kConeGood : kConeUsable;
    if (m > 0) {
      p_ = start;
      newton(result.steps);
      for (const double stiffness : kOtherStiffnesses)
        if (best_residual_ > kConeSolved) {
          p_ = start;
          newton(result.steps, stiffness);
        }
      if (best_residual_ > kConeSolved) {
        p_ = start;
        soften(result);
        if (best_residual_ > kConeGood) {
          p_.setZero();
          soften(result);
        }
        p_ = start;
      }
      int sweeps = kFirstSweeps;
      for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
        if (best_residual_ <= (attempt < kHalfFrom ? kConeGood : usable)) break;
        // Cycles of sweeps and of Newton's method are rarely those of proximal points.
        if (attempt == kHalfFrom) {
          const VectorXd from = p_;
          for (const double weight : kProximalWeights)
            if (best_residual_ > kConeGood) approach(weight, result);
          if (best_residual_ <= usable) break;
          p_ = from;
        }
        sweep(sweeps, attempt < kHalfFrom ? 1.0 : 0.5, result.sweeps);
        const VectorXd from = p_;
        newton(result.steps);
        p_ = from;
        for (const double stiffness : kOtherStiffnesses) {
          if (best_residual_ <= kConeSolved) break;
          newton(result.steps, stiffness);
          p_ = from;
        }
        sweeps *= 2;
      }
    } else {
      best_residual_ = 0.0;
    }
    finish(result);
    return result;
  }

 private:
  Index size() const { return static_cast<Index>(rows_.size()); }

  // The proximal point method: each round solves the problem with W + weight W_ii on the diagonal
  // and b less the same times the last impulses, which is well conditioned; its fixed points are
  // the solutions. For contacts that are redundant and all but locked.
  void approach(double weight, ConeSolution& result) {
    const MatrixXd s = s_;
    const VectorXd b = b_;
    const VectorXd more = weight * s.diagonal();
    VectorXd p = best_;
    for (int k = 0; k < kMostProximal && best_residual_ > kConeGood; ++k) {
      const VectorXd best = best_;
      const double residual = best_residual_;
      s_ = s;
      s_.diagonal() += more;
      b_ = b - more.cwiseProduct(p);
      p_ = p;
      best_residual_ = std::numeric_limits<double>::infinity();
      newton(result.steps);
      if (best_residual_ > kConeSolved) {
        sweep(kFirstSweeps, 1.0, result.sweeps);
        newton(result.steps);
      }
      p = p_ = best_;
      s_ = s;
      b_ = b;
      best_ = best;
      best_residual_ = residual;
      judge(s_ * p_ + b_, step_);
    }
  }

  // With a compliance of all rows that falls to none, each time from the solution with more of it.
  // How redundant contacts share their load hangs on it clearly at first, and changes little later.
  // The slips by which they share it fall with the compliance: motions are weighed by up to its
  // inverse, so that Newton's method sees them.
  void soften(ConeSolution& result) {
    const MatrixXd s = s_;
    VectorXd p = p_;
    double solved = kMostCompliant / kSofter, factor = kSofter, stiffness = 1.0;
    for (int k = 0; k < kMostSoft && solved > 0.0 && best_residual_ > kConeGood; ++k) {
      double compliance = solved * factor;
      if (compliance < kRegularized) compliance = 0.0;
      const VectorXd best = best_;
      const double residual = best_residual_;
      s_.diagonal() += compliance * s.diagonal();
      best_residual_ = std::numeric_limits<double>::infinity();
      const double most = 1.0 / std::max(compliance, kRegularized);
      for (double tried = stiffness; best_residual_ > kConeSolved && tried < most;
           tried *= kStiffer) {
        p_ = p;
        newton(result.steps, tried);
        if (best_residual_ <= kConeSolved) stiffness = tried;
      }
      const bool good = best_residual_ <= kConeSolved;
      if (good || k == 0) {
        p = best_;
        solved = compliance;
        factor = kSofter;
      } else {
        factor = std::sqrt(factor);
      }
      p_ = best_;
      s_ = s;
      best_ = best;
      best_residual_ = residual;
      judge(s_ * p_ + b_, step_);
    }
  }

  void eliminate() {
    const MatrixXd& w = problem_.w;
    s_ = w(rows_, rows_);
    b_ = problem_.b(rows_);
    const VectorXd own = s_.diagonal();
    if (!equal_.empty()) {
      MatrixXd block = w(equal_, equal_);
      for (const ConeProblem::Block& e : problem_.blocks) {
        if (e.law != Law::equal || e.compliance == 0.0) continue;
        const auto at = std::find(equal_.begin(), equal_.end(), e.row) - equal_.begin();
        block(at, at) += e.compliance;
      }
      by_rest_ = w(equal_, rows_);
      own_ = problem_.b(equal_);
      if (problem_.symmetric && solve_definite(block)) {
      } else if (problem_.symmetric) {
        SemidefiniteSolver solver;
        solver.resize(static_cast<int>(equal_.size()));
        solver.compute(block, kEqualRank);
        VectorXd column;
        for (Index k = 0; k < by_rest_.cols(); ++k) {
          column = by_rest_.col(k);
          solver.solve(column);
          by_rest_.col(k) = column;
        }
        solver.solve(own_);
      } else {
        const CompleteOrthogonal solver(block, kEqualRankGeneral);
        by_rest_ = solver.solve(by_rest_);
        own_ = solver.solve(own_);
      }
      s_ -= w(rows_, equal_) * by_rest_;
      b_ -= w(rows_, equal_) * own_;
    }
    dead_.assign(rows_.size(), 0);
    step_.resize(size());
    // Contacts share their load as if all had the same compliance, unless that is large for one.
    VectorXd compliance = own;
    double most = 0.0;
    for (const ConeProblem::Block& block : blocks_)
      if (block.law == Law::cone) most = std::max(most, own.segment<3>(block.row).maxCoeff());
    for (const ConeProblem::Block& block : blocks_)
      if (block.law == Law::cone)
        compliance.segment<3>(block.row) =
            (kMostCompliance * own.segment<3>(block.row)).cwiseMin(most);
    for (Index i = 0; i < size(); ++i) {
      if (!(s_(i, i) > kFollowsFromEqual * own[i])) {
        dead_[index(i)] = 1;
        s_.row(i).setZero();
        s_.col(i).setZero();
        s_(i, i) = own[i] > 0.0 ? own[i] : 1.0;
        b_[i] = 0.0;
      } else {
        s_(i, i) += kRegularized * compliance[i];
      }
    }
    stop_load_ = 0.0;
    for (const ConeProblem::Block& block : blocks_) {
      const Index r = block.row;
      if (block.law == Law::bounded) {
        step_[r] = 1.0 / s_(r, r);
      } else {
        step_[r] = 1.0 / s_(r, r);
        const double t = std::max(s_(r + 1, r + 1), s_(r + 2, r + 2));
        step_[r + 1] = step_[r + 2] = 1.0 / std::max(t, s_(r, r));
      }
      // Friction that holds what does not press is no load.
      if (!(b_[r] > 0.0 && block.law == Law::cone))
        stop_load_ = std::max(stop_load_, std::abs(b_[r]) * step_[r]);
    }
  }

  // Independent equalities, as those with a compliance. False: they are not clearly so.
  bool solve_definite(const MatrixXd& block) {
    const Cholesky factor(block);
    if (!factor.succeeded()) return false;
    for (Index i = 0; i < block.rows(); ++i)
      if (!(factor.pivot_root(i) * factor.pivot_root(i) > kClearlyIndependent * block(i, i)))
        return false;
    factor.solve_in_place(by_rest_);
    factor.solve_in_place(own_);
    return true;
  }

  // What the laws ask of a block at p_: its impulse is known, its motion is zero, or it slides.
  enum class Way : std::uint8_t { known, held, slides };
  struct Aim {
    Way way = Way::known;
    Vector2d along = Vector2d::Zero();  // friction of what slides
    double part = 0.0;                  // the cone's radius over what sticking would need, below 1
  };

  // The laws as a function that is zero where they hold, in units of impulse.
  void evaluate(const VectorXd& u, VectorXd& f, std::vector<Aim>* aims = nullptr) const {
    f.resize(size());
    if (aims != nullptr) aims->resize(blocks_.size());
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      const Aim aim = blocks_[k].law == Law::bounded ? evaluate_bounded(blocks_[k], u, f)
                                                     : evaluate_cone(blocks_[k], u, f);
      if (aims != nullptr) (*aims)[k] = aim;
    }
  }

  Aim evaluate_bounded(const ConeProblem::Block& block, const VectorXd& u, VectorXd& f) const {
    const Index r = block.row;
    const double wanted = p_[r] - step_[r] * u[r];
    if (wanted <= block.least || wanted >= block.most) {
      f[r] = p_[r] - (wanted <= block.least ? block.least : block.most);
      return {};
    }
    f[r] = step_[r] * u[r];
    return {.way = Way::held};
  }

  Aim evaluate_cone(const ConeProblem::Block& block, const VectorXd& u, VectorXd& f) const {
    const Index r = block.row;
    const double pressed = p_[r] - step_[r] * u[r];
    if (!(pressed > 0.0)) {
      f.segment<3>(r) = p_.segment<3>(r);
      return {};
    }
    f[r] = step_[r] * u[r];
    const double st = step_[r + 1];
    const Vector2d tangent = p_.segment<2>(r + 1);
    const Vector2d wanted = tangent - st * u.segment<2>(r + 1);
    const double most = block.friction * pressed, reach = wanted.norm();
    if (reach <= most) {
      f.segment<2>(r + 1) = st * u.segment<2>(r + 1);
      return {.way = Way::held};
    }
    const Vector2d along = wanted / reach;
    f.segment<2>(r + 1) = tangent - most * along;
    return {.way = Way::slides, .along = along, .part = most / reach};
  }

  // Newton's step: f + f' way = 0, f' the derivative of the laws at p_. Solved for the impulses of
  // what is held, and of what slides for those of its normal and across its slip alone: the impulse
  // along a slip a is μ times the normal one, all others are known,
  //
  //   u_n + S_n way = 0,   way_a = μ way_n + μ u_n/S_nn − f_a,
  //   (1 − κ) way_c + κ (S_c way)/S_tt = −f_c       across, κ = part
  VectorXd newton_way(const VectorXd& u, const VectorXd& f, const std::vector<Aim>& aims) const {
    VectorXd way = VectorXd::Zero(size());
    std::vector<Unknown> unknowns;
    bool all_held = problem_.symmetric;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      const Index r = blocks_[k].row, rows = blocks_[k].law == Law::cone ? 3 : 1;
      const Aim& aim = aims[k];
      if (aim.way == Way::known) {
        way.segment(r, rows) = -f.segment(r, rows);
      } else if (aim.way == Way::held) {
        for (Index i = r; i < r + rows; ++i)
          unknowns.push_back({.row = i, .wanted = -u[i], .scale = step_[i]});
      } else {
        const double mu = blocks_[k].friction;
        const Vector2d a = aim.along, across(-a[1], a[0]), ft = f.segment<2>(r + 1);
        unknowns.push_back(
            {.row = r, .wanted = -u[r], .scale = step_[r], .along = r + 1, .at = mu * a});
        way.segment<2>(r + 1) = (mu * step_[r] * u[r] - a.dot(ft)) * a;
        if (aim.part > 0.0) {
          all_held = false;
          const double scale = aim.part * step_[r + 1];
          unknowns.push_back({.row = -1,
                              .wanted = -across.dot(ft) / scale,
                              .scale = scale,
                              .own = (1.0 - aim.part) / scale,
                              .along = r + 1,
                              .at = across});
        } else {
          way.segment<2>(r + 1) -= across.dot(ft) * across;
        }
      }
    }
    if (unknowns.empty()) return way;
    const auto count = static_cast<Index>(unknowns.size());
    const VectorXd from_known = s_ * way;
    MatrixXd a(count, count);
    VectorXd right(count), column(size());
    for (Index j = 0; j < count; ++j) {
      const Unknown& x = unknowns[index(j)];
      if (x.row >= 0)
        column = s_.col(x.row);
      else
        column.setZero();
      if (x.along >= 0) column += x.at[0] * s_.col(x.along) + x.at[1] * s_.col(x.along + 1);
      for (Index i = 0; i < count; ++i) a(i, j) = unknowns[index(i)].measure(column);
      a(j, j) += x.own;
      right[j] = x.wanted - x.measure(from_known);
    }
    const VectorXd found = solve_scaled(a, right, unknowns, all_held);
    for (Index j = 0; j < count; ++j) {
      const Unknown& x = unknowns[index(j)];
      if (x.row >= 0) way[x.row] += found[j];
      if (x.along >= 0) way.segment<2>(x.along) += found[j] * x.at;
    }
    return way;
  }

  // One unknown of Newton's step, and its equation S_row way (or across: of two rows) = wanted.
  struct Unknown {
    Index row = -1;  // of what it pushes along; −1: across a slip alone
    double wanted = 0.0;
    double scale = 1.0;  // of the equation, to impulses
    double own = 0.0;    // on the diagonal
    Index along = -1;    // the first of the two tangents that it pushes along, by `at`
    Vector2d at = Vector2d::Zero();
    double measure(const VectorXd& motion) const {
      return row >= 0 ? motion[row] : at.dot(motion.segment<2>(along));
    }
  };

  static VectorXd solve_scaled(MatrixXd& a, VectorXd& right, const std::vector<Unknown>& unknowns,
                               bool definite) {
    if (definite) {
      const Cholesky factor(a);
      if (factor.succeeded()) return factor.solve(right);
    }
    for (Index i = 0; i < a.rows(); ++i) {
      a.row(i) *= unknowns[index(i)].scale;
      right[i] *= unknowns[index(i)].scale;
    }
    return Lu(a).solve(right);
  }

  double load() const {
    double sum = 0.0;
    for (const ConeProblem::Block& block : blocks_) sum += std::abs(p_[block.row]);
    return std::max(sum, stop_load_);
  }

  // Returns the residual of p_ and keeps the best.
  double judge(const VectorXd& u, const VectorXd& step) {
    VectorXd f;
    const VectorXd in_use = step_;
    step_ = step;
    evaluate(u, f);
    step_ = in_use;
    const double scale = load();
    const double residual = scale > 0.0 ? f.lpNorm<Eigen::Infinity>() / scale : 0.0;
    if (residual < best_residual_) {
      best_residual_ = residual;
      best_ = p_;
    }
    return residual;
  }

  void newton(int& steps, double stiffness = 1.0) {
    const VectorXd step = step_;
    step_ *= stiffness;
    newton_steps(steps, step);
    step_ = step;
  }

  // `step`: by which p_ is judged.
  void newton_steps(int& steps, const VectorXd& step) {
    VectorXd u = s_ * p_ + b_;
    VectorXd f;
    std::vector<Aim> aims;
    evaluate(u, f, &aims);
    double residual = judge(u, step);
    for (int k = 0; k < kMostNewtonSteps && residual > kAim; ++k) {
      ++steps;
      const VectorXd way = newton_way(u, f, aims);
      if (!way.allFinite()) return;
      const VectorXd from = p_;
      const double before = f.squaredNorm();
      double part = 1.0;
      for (int shorter = 0;; ++shorter) {
        p_ = from + part * way;
        u.noalias() = s_ * p_;
        u += b_;
        evaluate(u, f);
        if (f.squaredNorm() < before || shorter == kMostShortenings) break;
        part *= 0.5;
      }
      const double now = judge(u, step);
      if (!(f.squaredNorm() < before)) return;  // rounding, or a cycle
      residual = now;
      if (residual > kAim) evaluate(u, f, &aims);
    }
  }

  void sweep(int count, double part, int& sweeps) {
    VectorXd u = s_ * p_ + b_;
    for (int k = 0; k < count; ++k) {
      ++sweeps;
      double change = 0.0;
      for (const ConeProblem::Block& block : blocks_) {
        const Index r = block.row;
        if (block.law == Law::bounded) {
          const double wanted = std::clamp(p_[r] - step_[r] * u[r], block.least, block.most);
          const double by = part * (wanted - p_[r]);
          if (by == 0.0) continue;
          p_[r] += by;
          u += by * s_.col(r);
          change = std::max(change, std::abs(by));
        } else {
          const Eigen::Matrix3d own = s_.block<3, 3>(r, r);
          const Vector3d without = u.segment<3>(r) - own * p_.segment<3>(r);
          const Vector3d by =
              part * (contact_alone(own, without, block.friction) - p_.segment<3>(r));
          if (by.isZero(0.0)) continue;
          p_.segment<3>(r) += by;
          u.noalias() += s_.middleCols<3>(r) * by;
          change = std::max(change, by.lpNorm<Eigen::Infinity>());
        }
      }
      if (change <= kAim * load()) break;
    }
    judge(u, step_);
  }

  void finish(ConeSolution& result) {
    p_ = best_;
    for (std::size_t i = 0; i < dead_.size(); ++i)
      if (dead_[i] != 0) p_[static_cast<Index>(i)] = 0.0;
    result.impulse = VectorXd::Zero(problem_.b.size());
    result.impulse(rows_) = p_;
    if (!equal_.empty()) result.impulse(equal_) = -own_ - by_rest_ * p_;
    result.motion = problem_.w * result.impulse + problem_.b;
    result.residual = best_residual_;
    if (size() == 0) return;
    VectorXd f;
    evaluate(s_ * p_ + b_, f);
    double most = -1.0;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      const double own =
          f.segment(blocks_[k].row, blocks_[k].law == Law::cone ? 3 : 1).lpNorm<Eigen::Infinity>();
      if (own <= most) continue;
      most = own;
      result.worst = original_[k];
    }
  }

  const ConeProblem& problem_;
  std::vector<ConeProblem::Block> blocks_;  // rows counted among rows_
  std::vector<int> original_;               // by block: its number in the problem
  std::vector<int> rows_, equal_;           // of the problem
  std::vector<std::uint8_t> dead_;          // by row: follows from the equalities
  MatrixXd s_, by_rest_;
  VectorXd b_, own_, step_;  // step_: 1/W, what a unit of motion is in impulse
  VectorXd p_, best_;
  double best_residual_ = 0.0, stop_load_ = 0.0;
};

}  // namespace

ConeSolution solve(const ConeProblem& problem, const VectorXd& guess) {
  const std::vector<ConeIsland> islands = divide_into_islands(problem);
  if (islands.empty()) return ConeSolver(problem).run(guess);
  std::vector<ConeSolver> solvers;
  solvers.reserve(islands.size());
  double stop_load = 0.0;
  for (const ConeIsland& own : islands) {
    solvers.emplace_back(own.problem);
    stop_load = std::max(stop_load, solvers.back().stop_load());
  }
  ConeSolution result;
  result.impulse = VectorXd::Zero(problem.b.size());
  result.motion = problem.b;
  for (std::size_t k = 0; k < islands.size(); ++k) {
    const ConeIsland& own = islands[k];
    solvers[k].set_stop_load(stop_load);
    VectorXd start;
    if (guess.size() == problem.b.size()) start = guess(own.rows);
    const ConeSolution part = solvers[k].run(start);
    result.impulse(own.rows) = part.impulse;
    result.motion(own.rows) = part.motion;
    if (part.residual >= result.residual && part.worst >= 0)
      result.worst = own.blocks[index(part.worst)];
    result.residual = std::max(result.residual, part.residual);
    result.sweeps += part.sweeps;
    result.steps += part.steps;
  }
  return result;
}

}  // namespace catena
