// A motion by multipliers through a singular position, as closed_coordinates.h has it for loops as
// nodes of the tree (constraint embedding digest, section 3.13, with four more points).
//
// Where the rank of J drops, J M⁻¹ Jᵀ is singular; close by, what is left of a pivot is the square
// of the distance σ, so that rounding ε of positions moves velocities by ε/σ² and accelerations by
// ε/σ³. But all of them are smooth along the motion. So at six states before and behind, along the
// velocity and moved onto the constraints, everything is found as usual, and what is wanted is the
// value at 0 of the quintic through them.
//
// It is a passage only if the branches on both sides are one: then the interpolated position is
// closed. Where a mechanism turns back close by a singular position, it is open across by what the
// branches are apart, and nothing is interpolated.
#include <algorithm>
#include <cmath>

#include "catena/constraints/constraint_set.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

// Nearer than this (a sine) to a singular position interpolation is better than what is found in
// place: the stages of a step are not closed, and what they are open by is divided by the square of
// it. Points beside, which are closed, may be nearer: ε/σ³ is 1e-9 there. How far aside the first
// of them are at first, and at most, in radians or metres.
constexpr double kNearSingular = 1e-2;
constexpr double kBeside = 4e-3;
constexpr double kAside = 1e-2;
constexpr double kMostAside = 0.1;
// A row that is nearly dependent everywhere is no singular position. Nearer by this than where
// stepping aside did not help it may be one.
constexpr double kNearer = 0.1;
// Positions beside it are closed to this, radians or metres.
constexpr double kClosedBeside = 1e-9;
// Branches that pass each other at less than this meet (closed_coordinates.cpp).
constexpr double kMeet = 1e-9;
// Sines below this vanish where branches meet.
constexpr double kFolded = 2e-2;
// Places in units of the distance, and weights. The error is a twentieth of the sixth derivative
// times the sixth power of the distance.
constexpr std::array<double, 6> kPlace = {-3.0, -2.0, -1.0, 1.0, 2.0, 3.0};
constexpr std::array<double, 6> kWeight = {0.05, -0.3, 0.75, 0.75, -0.3, 0.05};
// A few roundings of an angle.
constexpr double kRounding = 1e-15;

}  // namespace

bool ConstraintSet::near_singular() {
  if (usual_generation_ != dynamics_.constraints().generation()) usual_sine_ = kInfinity;
  usual_generation_ = dynamics_.constraints().generation();
  return dynamics_.smallest_sine() < std::min(kNearSingular, kNearer * usual_sine_);
}

bool ConstraintSet::close_beside(const State& state, double time, double aside, Side& side) {
  side = {state, 0.0, time};
  side.state.q = integrate(*mechanism_, state.q, time * state.v);
  const Eigen::VectorXd from = side.state.q;
  ahead_ = time;
  return dynamics_.close_with_rows(side.state, workspace_) <= kClosedBeside &&
         side.state.v.allFinite() &&
         difference(*mechanism_, from, side.state.q).lpNorm<Eigen::Infinity>() <= aside;
}

bool ConstraintSet::step_aside(State& state) {
  struct Reset {
    double& ahead;
    ~Reset() { ahead = 0.0; }
  } reset{ahead_};
  const double speed = state.v.size() == 0 ? 0.0 : state.v.lpNorm<Eigen::Infinity>();
  const double enough = std::min(kBeside, kNearer * usual_sine_);
  double best = 0.0;
  for (double aside = kAside; speed > 0.0 && aside <= kMostAside; aside *= 2.0) {
    double least = 1.0;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      if (!close_beside(state, kPlace[i] * aside / speed, aside, sides_[i]))
        return false;  // an end of the range, not a place that is passed
      sides_[i].weight = kWeight[i];
      least = std::min(least, dynamics_.smallest_sine());
    }
    best = std::max(best, least);
    if (least < enough) continue;
    ahead_ = 0.0;
    State between{Eigen::VectorXd::Zero(state.q.size()), Eigen::VectorXd::Zero(state.v.size())};
    for (const Side& side : sides_) {
      between.q += side.weight * side.state.q;
      between.v += side.weight * side.state.v;
    }
    normalize_quaternions(*mechanism_, between.q);
    if (dynamics_.gap_across(between, workspace_, kFolded) > kMeet) return false;
    state = between;
    sine_ = least;
    aside_ = aside;
    return true;
  }
  if (speed > 0.0) usual_sine_ = best;
  return false;
}

void ConstraintSet::take_interpolated(const State& state, const Eigen::VectorXd& multipliers) {
  ahead_ = 0.0;
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

double ConstraintSet::noise(const State& state, const Eigen::VectorXd& acceleration) {
  if (state.v.size() == 0 || !(sine_ > 0.0)) return 0.0;
  const double v = state.v.lpNorm<Eigen::Infinity>(), a = acceleration.lpNorm<Eigen::Infinity>();
  return kRounding * (1.0 + state.q.lpNorm<Eigen::Infinity>()) / (sine_ * sine_) *
             (a + v * v / sine_) +
         std::pow(aside_, 6) * a;
}

}  // namespace catena
