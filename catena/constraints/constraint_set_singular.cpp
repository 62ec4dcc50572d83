// SPDX-License-Identifier: BSD-3-Clause
// A motion by multipliers through a singular position (closure/singular_passage.h).
//
// Where the rank of J drops, J M⁻¹ Jᵀ is singular; close by, what is left of a pivot is the square
// of the clearance σ, the sine between a row and the others. Six states before and behind, moved
// along the velocities and onto the constraints, are found as usual.
//
// It is a passage only if the branches on both sides are one: then the interpolated position is
// closed. Where a mechanism turns back close by a singular position, it is open across by what the
// branches are apart, and nothing is interpolated.
#include <algorithm>

#include "catena/constraints/constraint_set.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

// A row that is nearly dependent everywhere is no singular position. Nearer by this than where
// stepping aside did not help it may be one.
constexpr double kNearer = 0.1;
// Positions beside it are closed to this, radians or metres.
constexpr double kClosedBeside = 1e-9;

}  // namespace

class ConstraintSet::Neighbours final : public PassageNeighbours {
 public:
  Neighbours(ConstraintSet& set, const State& state) : set_(set), state_(state) {}
  double close_beside(double time, double aside, State& side) override {
    const Ahead ahead(set_, time);
    const Mechanism& m = *set_.mechanism_;
    side.v = state_.v;
    side.q = integrate(m, state_.q, time * state_.v);
    const Eigen::VectorXd from = side.q;
    const double open = set_.dynamics_.close_with_rows(side, set_.workspace_);
    if (!(open <= kClosedBeside) || !side.v.allFinite() ||
        !(difference(m, from, side.q).lpNorm<Eigen::Infinity>() <= aside))
      throw NumericalError("no closed state beside a singular position");
    return set_.dynamics_.smallest_sine();
  }

 private:
  ConstraintSet& set_;
  const State& state_;
};

bool ConstraintSet::near_singular() {
  if (usual_generation_ != dynamics_.constraints().generation()) usual_sine_ = kInfinity;
  usual_generation_ = dynamics_.constraints().generation();
  return dynamics_.smallest_sine() < std::min(kMultiplierPassage.near, kNearer * usual_sine_);
}

std::optional<Passage> ConstraintSet::step_aside(State& state) {
  PassageLimits limits = kMultiplierPassage;
  limits.enough = std::min(limits.enough, kNearer * usual_sine_);
  const double speed = state.v.size() == 0 ? 0.0 : state.v.lpNorm<Eigen::Infinity>();
  Neighbours neighbours(*this, state);
  PassageSearch search = find_passage(neighbours, state, speed, 0.0, limits);
  if (search.along) usual_sine_ = *search.along;
  if (!search.passage) return std::nullopt;
  State between = interpolated_state(*mechanism_, search.passage->sides);
  if (dynamics_.gap_across(between, workspace_, limits.folded) > kBranchesMeet) return std::nullopt;
  state = std::move(between);
  return std::move(search.passage);
}

void ConstraintSet::take_interpolated(const State& state, const Eigen::VectorXd& multipliers) {
  velocity_ = state.v;
  dynamics_.take_interpolated(state, multipliers, workspace_);
}

double ConstraintSet::close(State& state) {
  State beside = state;
  double open = dynamics_.close_with_rows(state, workspace_);
  if (near_singular()) {
    if (step_aside(beside)) {
      state = beside;
      return gap(state);
    }
    open = dynamics_.close_with_rows(state, workspace_);  // its factors, which the sides replaced
  }
  dynamics_.renew_rows(state.q, workspace_);
  return open;
}

void ConstraintSet::close_aside(State& state) {
  State beside = state;
  dynamics_.close_with_rows(state, workspace_);
  if (near_singular() && step_aside(beside)) state = beside;
}

}  // namespace catena
