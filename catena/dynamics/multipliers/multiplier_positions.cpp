// SPDX-License-Identifier: BSD-3-Clause
// Positions by multipliers: how far the rows are open, closing them, and what is left across the
// directions that vanish in a singular position.
#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/multipliers/multiplier_dynamics.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

// Nothing moves any more.
constexpr double kSettled = 1e-14;
// Newton's method.
constexpr int kMostIterations = 20;

}  // namespace

const Eigen::VectorXd& MultiplierDynamics::gap(const State& state, Workspace& w) {
  const PreparedInput in = prepare_position(*mechanism_, state.q, w);
  Scratch<double> scratch = w.scratch();
  kernel_table().kinematics(w.tree_model(), in, &scratch);
  constraints_.place(w);
  measure_gap(state, w);
  return gap_;
}

const Eigen::VectorXd& MultiplierDynamics::free_motion(const State& state,
                                                       const Eigen::VectorXd& effort, Workspace& w,
                                                       std::span<const ExternalWrench> external) {
  choose_rows(state.q, w);
  sweep(prepare(*mechanism_, state, &effort, external, w), true, w);
  constraints_.place(w);
  place_rows(state, w);
  constraints_.form(w);
  constraints_.accelerations(w, w.acceleration, right_);
  return w.acceleration;
}

void MultiplierDynamics::form_at(const State& state, Workspace& w) {
  choose_rows(state.q, w);
  PreparedInput in = prepare_position(*mechanism_, state.q, w);
  in.v = state.v.data();
  sweep(in, false, w);
  constraints_.place(w);
  place_rows(state, w);
  constraints_.form(w);
  constraints_.velocities(w, state.v, right_);
}

void MultiplierDynamics::measure_rows(const State& state, Workspace& w, Eigen::VectorXd& velocities,
                                      Eigen::VectorXd* gaps) {
  PreparedInput in = prepare_position(*mechanism_, state.q, w);
  in.v = state.v.data();
  Scratch<double> scratch = w.scratch();
  kernel_table().kinematics(w.tree_model(), in, &scratch);
  constraints_.place(w);
  place_rows(state, w);
  constraints_.velocities(w, state.v, velocities);
  if (gaps == nullptr) return;
  measure_gap(state, w);
  *gaps = gap_;
}

double MultiplierDynamics::close_with_rows(State& state, Workspace& w) {
  double last = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    factor_at(state, w);
    measure_gap(state, w);
    const double open = largest_kept(gap_);
    if (open <= kSettled || (open < 1e-9 && open >= 0.5 * last)) break;
    last = open;
    rest_ = -gap_;
    constraints_.solve(rest_);
    constraints_.respond(w, rest_);
    state.q = integrate(*mechanism_, state.q, constraints_.change());
  }
  state.v += impulse(state, w);
  return largest_kept(gap_);
}

double MultiplierDynamics::smallest_sine() {
  if (!constraints_.ideal() || constraints_.rows() == 0) return 1.0;
  if (generation_ != constraints_.generation()) usual_rank_ = 0;
  generation_ = constraints_.generation();
  usual_rank_ = std::max(usual_rank_, constraints_.rank());
  if (constraints_.rank() < usual_rank_) return 0.0;
  return constraints_.smallest_sine();
}

double MultiplierDynamics::gap_across(State state, Workspace& w, double weak) {
  constexpr int kPolish = 4;
  for (int iteration = 0;; ++iteration) {
    factor_at(state, w);
    measure_gap(state, w);
    std::vector<int> kept;
    for (int r = 0; r < constraints_.rows(); ++r)
      if (!constraints_.left_out(r) && constraints_.size(r) > 0.0) kept.push_back(r);
    if (kept.empty()) return 0.0;
    const Eigen::MatrixXd matrix = constraints_.matrix()(kept, kept);
    Eigen::VectorXd scale(matrix.rows());
    for (Eigen::Index k = 0; k < scale.size(); ++k)
      scale[k] = 1.0 / std::sqrt(constraints_.size(kept[index(k)]));
    // Rows of about length one, so that eigenvalues are squared sines.
    const SymmetricEigen parts = symmetric_eigen(scale.asDiagonal() * matrix * scale.asDiagonal());
    const Eigen::MatrixXd directions = scale.asDiagonal() * parts.vectors;
    const Eigen::VectorXd open = gap_(kept);
    Eigen::VectorXd push = Eigen::VectorXd::Zero(open.size());
    double across = 0.0;
    for (Eigen::Index k = 0; k < push.size(); ++k) {
      const double part = directions.col(k).dot(open);
      if (parts.values[k] < weak * weak)
        across = std::hypot(across, part / directions.col(k).norm());
      else
        push -= part / parts.values[k] * directions.col(k);
    }
    if (iteration == kPolish) return across;
    rest_.setZero(constraints_.rows());
    rest_(kept) = push;
    constraints_.respond(w, rest_);
    state.q = integrate(*mechanism_, state.q, constraints_.change());
  }
}

}  // namespace catena
