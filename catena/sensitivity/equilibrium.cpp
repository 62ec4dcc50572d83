// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/equilibrium.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/damped_step.h"
#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/dynamics/inverse.h"
#include "catena/sensitivity/closed_derivatives.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// Largest change of a freedom in one step (radians, metres).
constexpr double kLongestStep = 0.5;

// Unbalanced efforts below this many roundings of the coordinates count as zero: a weight that acts
// through cos q has such an effort at the guess π/2.
constexpr double kRoundings = 8.0;
// Efforts (N, N m) are compared with no less than this.
constexpr double kLeastScale = 1e-12;
// The damping grows tenfold with each attempt at a step: after 30 of them the step is zero.
constexpr int kMostAttempts = 30;

// Levenberg-Marquardt on the efforts that are missing at rest, with steps in the free independent
// freedoms.
class EquilibriumSearch {
 public:
  EquilibriumSearch(const Mechanism& m, const OperatingPoint& guess,
                    const EquilibriumSettings& settings)
      : m_(m), guess_(guess), settings_(settings), w_(m), n_(m.freedoms()) {
    if (!settings.held.empty() && settings.held.size() != to_size(n_))
      throw NumericalError("held has " + std::to_string(settings.held.size()) +
                           " entries, but this mechanism has " + std::to_string(n_) + " freedoms");
    if (!settings.held.empty())
      w_.dynamics().set_chart(choose_chart(m, guess.state.q, {.pinned = settings.held}));
    out_.state = guess.state;
    out_.effort = guess.effort.size() == n_ ? guess.effort : VectorXd::Zero(n_);
    rest_ = VectorXd::Zero(n_);
  }

  Equilibrium find() {
    search();
    balance();
    analyse();
    return std::move(out_);
  }

 private:
  bool held(int i) const { return !settings_.held.empty() && settings_.held[index(i)] != 0; }

  // Given efforts; those of held freedoms follow.
  VectorXd given_effort() const {
    VectorXd applied = out_.effort;
    for (int i = 0; i < static_cast<int>(n_); ++i)
      if (held(i)) applied[i] = 0.0;
    return applied;
  }

  // Unbalanced efforts at the independent freedoms. Updates the scale of efforts: the weights and
  // springs that have to be balanced.
  VectorXd missing(const State& state) {
    VectorXd applied = given_effort();
    VectorXd needed = inverse_dynamics(m_, state, rest_, w_.dynamics(), guess_.external);
    w_.dynamics().reduce(applied);
    scale_ = std::max(
        {kLeastScale, needed.lpNorm<Eigen::Infinity>(), applied.lpNorm<Eigen::Infinity>()});
    return needed - applied;
  }

  void search() {
    open_ = missing(out_.state);
    double largest_scale = scale_;  // at the guess or later
    for (out_.iterations = 0; out_.iterations < settings_.iterations; ++out_.iterations) {
      const std::vector<int>& own = w_.dynamics().independent();
      free_.clear();
      for (int k = 0; k < static_cast<int>(own.size()); ++k)
        if (!held(own[index(k)])) free_.push_back(k);
      VectorXd residual(static_cast<Index>(free_.size()));
      for (std::size_t i = 0; i < free_.size(); ++i)
        residual[static_cast<Index>(i)] = open_[own[index(free_[i])]];
      out_.residual = residual.size() > 0 ? residual.lpNorm<Eigen::Infinity>() : 0.0;
      largest_scale = std::max(largest_scale, scale_);
      out_.found = out_.residual <= settings_.tolerance * largest_scale;
      if (out_.found || !make_step(residual)) return;
    }
  }

  // ∂(unbalanced efforts)/∂q at the free freedoms.
  Eigen::MatrixXd jacobian() {
    inverse_dynamics_derivatives(m_, out_.state, rest_, w_, guess_.external);
    Eigen::MatrixXd result = w_.inverse.dq(free_, free_);
    if (m_.loops().empty()) return result;
    // The efforts that are given act through X, which changes too.
    Eigen::MatrixXd turned = Eigen::MatrixXd::Zero(w_.tangent.map.cols(), w_.tangent.map.cols());
    add_map_change(w_, given_effort(), turned);
    return result - turned(free_, free_);
  }

  // Moves to a state with smaller unbalanced efforts; false: none was found.
  bool make_step(const VectorXd& residual) {
    const Eigen::MatrixXd by_q = jacobian();
    // At a guess that is an equilibrium to the last digit there are no efforts to compare with.
    const double rounding = kRoundings * std::numeric_limits<double>::epsilon() *
                            std::max(1.0, out_.state.q.lpNorm<Eigen::Infinity>());
    out_.found = out_.residual <= rounding * by_q.lpNorm<Eigen::Infinity>();
    if (out_.found) return false;
    const double size =
        std::max(by_q.colwise().squaredNorm().maxCoeff(), std::numeric_limits<double>::min());
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      VectorXd step = damped_step(by_q, residual, damping_ * size);
      const double longest = step.lpNorm<Eigen::Infinity>();
      if (std::isfinite(longest) && longest != 0.0) {
        if (longest > kLongestStep) step *= kLongestStep / longest;
        if (improves(within_limits(step), residual)) {
          damping_ = std::max(damping_ * 0.1, 1e-16);
          return true;
        }
      }
      damping_ = std::max(damping_ * 10.0, 1e-12);
    }
    return false;
  }

  // The step of the free freedoms as one of all independent ones, within their limits.
  VectorXd within_limits(const VectorXd& step) const {
    const std::vector<int>& own = w_.dynamics().independent();
    VectorXd dq = VectorXd::Zero(static_cast<Index>(own.size()));
    for (std::size_t i = 0; i < free_.size(); ++i) dq[free_[i]] = step[static_cast<Index>(i)];
    for (std::size_t k = 0; k < own.size(); ++k) {
      const std::size_t i = to_size(own[k]);
      const int coordinate = m_.coordinate_of_freedom()[i];
      if (coordinate < 0) continue;
      const FreedomSettings& f = m_.freedom_settings()[i];
      const double q = out_.state.q[coordinate];
      double& d = dq[static_cast<Index>(k)];
      if (std::isfinite(f.upper)) d = std::min(d, std::max(0.0, f.upper - q));
      if (std::isfinite(f.lower)) d = std::max(d, std::min(0.0, f.lower - q));
    }
    return dq;
  }

  // Makes a step if the unbalanced efforts are smaller after it; returns whether they are.
  bool improves(const VectorXd& dq, const VectorXd& residual) {
    try {
      const std::vector<int> before = w_.dynamics().independent();
      const State next = displaced(m_, out_.state, before, dq, VectorXd::Zero(dq.size()));
      const VectorXd after = missing(next);
      // With other independent freedoms the residuals cannot be compared: the step is made.
      if (w_.dynamics().independent() == before) {
        double squares = 0.0;
        for (const int k : free_) squares += std::pow(after[before[index(k)]], 2);
        if (!(squares < residual.squaredNorm())) return false;
      }
      out_.state = next;
      open_ = after;
      return true;
    } catch (const NumericalError&) {  // cannot be closed there
      return false;
    }
  }

  // The efforts of held freedoms, and the residuals at the others.
  void balance() {
    open_ = missing(out_.state);
    out_.unbalanced = VectorXd::Zero(n_);
    const std::vector<int>& own = w_.dynamics().independent();
    int worst = -1;
    for (const int i : own) {
      if (held(i)) {
        out_.effort[i] = open_[i];
        continue;
      }
      out_.unbalanced[i] = open_[i];
      if (worst < 0 || std::abs(open_[i]) > std::abs(open_[worst])) worst = i;
    }
    // Held freedoms that are dependent have no effort: their loop holds them.
    for (int i = 0; i < static_cast<int>(n_); ++i)
      if (held(i) && std::find(own.begin(), own.end(), i) == own.end()) out_.effort[i] = 0.0;
    if (!out_.found && worst >= 0)
      out_.reason =
          "freedom '" + m_.velocity_names()[index(worst)] + "' lacks " +
          number(out_.unbalanced[worst]) + " (N or N m) in the best position found" +
          (m_.has_free_base() ? "; a free base needs external forces, or must be held"
                              : "; start from another guess, hold a freedom or give an effort");
  }

  // Modes of the motion about it. A held freedom is driven at zero acceleration: it is not a
  // state, so it cannot be unstable.
  void analyse() {
    LinearizeSettings wanted;
    wanted.motion_driven = settings_.held;
    const LinearModel linear =
        linearize(m_, {out_.state, out_.effort, rest_, guess_.external}, wanted, w_);
    out_.acceleration = linear.residual;
    std::vector<Index> states;
    for (std::size_t k = 0; k < linear.freedoms.size(); ++k)
      if (!held(linear.freedoms[k])) states.push_back(static_cast<Index>(k));
    const Index half = static_cast<Index>(linear.freedoms.size());
    const std::size_t count = states.size();
    for (std::size_t k = 0; k < count; ++k) states.push_back(states[k] + half);
    out_.modes = modes(Eigen::MatrixXd(linear.A(states, states)));
  }

  const Mechanism& m_;
  const OperatingPoint& guess_;
  const EquilibriumSettings& settings_;
  SensitivityWorkspace w_;
  Index n_;
  Equilibrium out_;
  VectorXd rest_;
  VectorXd open_;          // unbalanced efforts at out_.state
  std::vector<int> free_;  // places among the independent freedoms
  double scale_ = 0.0;     // of efforts
  double damping_ = 1e-6;
};

}  // namespace

Equilibrium find_equilibrium(const Mechanism& m, const OperatingPoint& guess,
                             const EquilibriumSettings& settings) {
  return EquilibriumSearch(m, guess, settings).find();
}

}  // namespace catena
