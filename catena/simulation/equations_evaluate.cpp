// What the equations of motion find at a time and y: in place, or beside a singular position
// interpolated between states before and behind it.
#include <array>

#include "catena/dynamics/kinematics.h"
#include "catena/simulation/equations.h"

namespace catena {

void Equations::evaluate(double t, const Eigen::VectorXd& y) {
  look(t, y);
  for (const Motion& motion : motions_) {
    const Jet jet = motion.signal.jet(t);
    hybrid_.acceleration[motion.freedom] = motion.has_coordinate ? jet.acceleration : jet.rate;
  }
  if (set_) {
    set_targets(t);
    evaluate_with_constraints(t, y);
  } else if (const auto sides = coordinates_.sides(); !sides.empty()) {
    interpolate(t, y, sides);
  } else {
    sum_efforts(t, y);
    solve();
  }
}

// Next to a singular position what is found in place has few digits, or the constraints seem to
// contradict each other.
void Equations::evaluate_with_constraints(double t, const Eigen::VectorXd& y) {
  try {
    sum_efforts(t, y);
    solve();
    if (touching_ != nullptr || !set_->near_singular()) return;
  } catch (const NumericalError&) {
    if (touching_ != nullptr || !set_->near_singular() || !set_->step_aside(state_)) throw;
    interpolate(t, y, set_->sides());
    return;
  }
  if (set_->step_aside(state_)) {
    interpolate(t, y, set_->sides());
  } else {
    sum_efforts(t, y);
    solve();
  }
}

template <class Side>
void Equations::interpolate(double t, const Eigen::VectorXd& y, std::span<const Side> sides) {
  struct Return {
    Equations& equations;
    const State here;
    ~Return() {
      equations.state_ = here;
      if (equations.set_) equations.set_->look_ahead(0.0);
    }
    void now() { equations.state_ = here; }
  } back{*this, state_};
  Eigen::VectorXd* const found[] = {&acceleration_, &effort_, &friction_, &reaction_};
  std::array<Eigen::VectorXd, std::size(found)> sum;
  sum.fill(Eigen::VectorXd::Zero(mechanism_.freedoms()));
  Eigen::VectorXd multipliers;
  for (const Side& side : sides) {
    state_ = side.state;
    if constexpr (requires { side.time; }) set_->look_ahead(side.time);
    sum_efforts(t, y);
    solve();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += side.weight * *found[i];
    if (!set_) continue;
    if (multipliers.size() == 0)
      multipliers = Eigen::VectorXd::Zero(set_->dynamics().multipliers().size());
    multipliers += side.weight * set_->dynamics().multipliers();
  }
  // Everything else is found here: what controllers and inputs ask for, and velocities of points.
  back.now();
  sum_efforts(t, y);
  for (std::size_t i = 0; i < sum.size(); ++i) *found[i] = sum[i];
  if (needs_kinematics_) update_kinematics(mechanism_, state_.q, state_.v, workspace_);
  if (set_) set_->take_interpolated(state_, multipliers);
}

}  // namespace catena
