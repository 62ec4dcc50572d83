// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/integrators/midpoint.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/operators/operators.h"
#include "catena/model/configuration.h"
#include "catena/model/hinge_kinematics.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// Corrections shrink by about the step times the largest rate each: more than this means that the
// step is too long for them to converge.
constexpr int kMostCorrections = 60;
// The iteration ends when a correction is this small beside the velocities, or when it is nearly so
// small and does not shrink.
constexpr double kExactVelocity = 4.0 * std::numeric_limits<double>::epsilon();
constexpr double kGoodVelocity = 1e-12;
// Rounding of the positions of the loops, which corrections of the velocity cannot see below.
constexpr double kClosedByVelocity = 1e-14;
// Allowed residual after a step of redundant rows of the loops, which are left out.
constexpr double kClosedAfter = 1e-11;

// Φ(x)ᵀ f = Σ (−ad xᵀ)^k f / (k+1)!
Wrenchd phi_star(const Twistd& x, const Wrenchd& f) {
  Wrenchd sum = f, term = f;
  for (int k = 1; k <= 12; ++k) {
    term = (-1.0 / (k + 1)) * ad_star(x, term);
    sum += term;
  }
  return sum;
}

// Φ(x)⁻ᵀ m: x/(1 − e^{−x}) = 1 + x/2 + x²/12 − x⁴/720 + x⁶/30240 − x⁸/1209600 + x¹⁰/47900160 ...
// The next term is below rounding for |x| < 0.3.
Wrenchd phi_inverse_star(const Twistd& x, const Wrenchd& m) {
  constexpr double kEven[] = {1.0 / 12.0, -1.0 / 720.0, 1.0 / 30240.0, -1.0 / 1209600.0,
                              1.0 / 47900160.0};
  Wrenchd power = ad_star(x, m);
  Wrenchd sum = m + 0.5 * power;
  for (const double c : kEven) {
    power = ad_star(x, power);
    sum += c * power;
    power = ad_star(x, power);
  }
  return sum;
}

double pair(const Wrenchd& f, const Twistd& v) {
  return dot(f.moment, v.angular) + dot(f.force, v.linear);
}

Wrenchd load_wrench(const Node& node, const Eigen::VectorXd& from) {
  Wrenchd f = Wrenchd::zero();
  for (int k = 0; k < node.freedoms; ++k) f[k] = from[node.v_index + k];
  return f;
}

}  // namespace

Midpoint::Midpoint(Equations& equations, const IntegratorSettings& settings)
    : Integrator(equations),
      equations_(equations),
      mechanism_(equations.mechanism()),
      settings_(settings),
      motion_(mechanism_),
      factors_(mechanism_),
      loops_(mechanism_) {
  for (const Node& node : mechanism_.nodes())
    if (node.hinge == NodeHinge::custom || (node.reversed && node.coordinates != node.freedoms))
      throw Error("method 'midpoint' cannot treat hinge '" +
                  mechanism_.hinges()[index(node.hinge_index)].name +
                  "' (user-defined, or against its direction); use another method");
  for (const SpringPlace& spring : mechanism_.springs())
    if (spring.damping != 0.0)
      throw Error("method 'midpoint' cannot treat the damper of spring '" + spring.name +
                  "'; use another method");
  for (int i = 0; i < mechanism_.freedoms(); ++i)
    if (equations.prescribed(i))
      throw Error("method 'midpoint': the motion of '" + mechanism_.velocity_names()[index(i)] +
                  "' is prescribed; use another method");
  composite_.resize(mechanism_.nodes().size());
  start_ = middle_ = mechanism_.default_state();
  const Eigen::Index n = mechanism_.freedoms();
  momentum_ = p_ = force_ = applied_ = p0_ = p1_ = correction_ = Eigen::VectorXd::Zero(n);
  y_middle_ = work_rate_ = f_ = f_previous_ = Eigen::VectorXd::Zero(equations.size());
}

void Midpoint::begin() {
  begin_time_ = t_;
  count_ = 0;
  for (int i = 0; i < mechanism_.freedoms(); ++i)
    if (equations_.modes()[index(i)].held())
      throw NumericalError("method 'midpoint' cannot hold '" +
                           mechanism_.velocity_names()[index(i)] +
                           "' (dry friction or a stop); use another method, smooth friction or no "
                           "stops");
  find_rate();
  start_ = found_.state();
  kinetic(start_, momentum_, force_);
  if (!loops_.empty()) loops_.place(start_.q);
}

void Midpoint::factor_at(const Eigen::VectorXd& q) {
  if (loops_.empty()) {
    articulate(mechanism_, q, factors_);
    return;
  }
  const int n = mechanism_.freedoms();
  Eigen::MatrixXd mass(n, n);
  State unit{q, Eigen::VectorXd::Zero(n)};
  for (int k = 0; k < n; ++k) {
    unit.v[k] = 1.0;
    kinetic(unit, p_, force_);
    mass.col(k) = p_;
    unit.v[k] = 0.0;
  }
  loops_.factor(mass);
}

void Midpoint::velocities(const Eigen::VectorXd& momentum, const Eigen::VectorXd& closing_speed,
                          Eigen::VectorXd& v) {
  if (loops_.empty())
    apply_inverse_mass_matrix(factors_, momentum, v);
  else
    loops_.solve(momentum, closing_speed, v, multiplier_step_);
}

void Midpoint::kinetic(const State& state, Eigen::VectorXd& momentum, Eigen::VectorXd& force) {
  update_kinematics(mechanism_, state.q, state.v, motion_);
  const int nodes = static_cast<int>(mechanism_.nodes().size());
  momentum.setZero();
  for (int n = 0; n < nodes; ++n)
    composite_[index(n)] =
        load_inertia<double>(mechanism_.nodes()[index(n)]) * motion_.node(n).twist;
  // T of a rotor: ½ J r² v² + J r v (u·ω) of its carrier.
  for (const DrivePlace& drive : mechanism_.drives()) {
    const double spin = drive.rotor_inertia * drive.gear_ratio;
    momentum[drive.v_index] += spin * drive.gear_ratio * state.v[drive.v_index];
    if (drive.armature_only || drive.carrier_node < 0) continue;
    composite_[index(drive.carrier_node)].moment +=
        (spin * state.v[drive.v_index]) * drive.rotor_axis;
    momentum[drive.v_index] +=
        spin * dot(drive.rotor_axis, motion_.node(drive.carrier_node).twist.angular);
  }
  for (int n = nodes; n-- > 0;) {
    const Node& node = mechanism_.nodes()[index(n)];
    const Wrenchd& outboard = composite_[index(n)];
    Twistd inboard = node.parent < 0
                         ? Twistd::zero()
                         : Ad_inverse(motion_.node(n).to_parent, motion_.node(node.parent).twist);
    for (int l = 0; l < node.freedoms; ++l) {
      // The factors of a product of screws stand inboard to outboard.
      const int k = node.hinge == NodeHinge::screws
                        ? mechanism_.screws()[index(node.first_screw + l)].coordinate
                        : l;
      const Twistd h = motion_map_column(mechanism_, motion_, n, k);
      momentum[node.v_index + k] += pair(outboard, h);
      force[node.v_index + k] = pair(outboard, ad(inboard, h));
      if (node.hinge == NodeHinge::screws) inboard += state.v[node.v_index + k] * h;
    }
    if (node.parent >= 0)
      composite_[index(node.parent)] += Ad_star_inverse(motion_.node(n).to_parent, outboard);
  }
}

void Midpoint::boundary_momenta(double h, const Eigen::VectorXd& v) {
  middle_.v = v;
  middle_.q = integrate(mechanism_, start_.q, (0.5 * h) * v);
  kinetic(middle_, p_, force_);
  y_middle_ = y_previous_;
  equations_.set_state(middle_, y_middle_);
  ++statistics_.evaluations;
  equations_.applied_force(t_previous_ + 0.5 * h, y_middle_, applied_, work_rate_);
  force_ += applied_;
  for (const Node& node : mechanism_.nodes()) {
    const int i = node.v_index;
    if (node.coordinates == node.freedoms) {
      for (int k = i; k < i + node.freedoms; ++k) {
        p0_[k] = p_[k] - 0.5 * h * force_[k];
        p1_[k] = p_[k] + 0.5 * h * force_[k];
      }
      continue;
    }
    Twistd x = Twistd::zero();
    for (int k = 0; k < node.freedoms; ++k) x[k] = h * v[i + k];
    const Wrenchd f = load_wrench(node, force_);
    const Wrenchd m = load_wrench(node, p_) + (0.5 * h) * phi_star(0.5 * x, f);
    const Wrenchd before = phi_inverse_star(-1.0 * x, m) - h * Ad_star(exp_transform(-0.5 * x), f);
    const Wrenchd after = phi_inverse_star(x, m);
    for (int k = 0; k < node.freedoms; ++k) {
      p0_[i + k] = before[k];
      p1_[i + k] = after[k];
    }
  }
}

void Midpoint::solve_step(double h, Eigen::VectorXd& v) {
  const auto refuse = [&](const std::string& why) {
    throw StepCollapse(t_, h, -1,
                       "the midpoint rule finds no solution" + why + ": the step of " + number(h) +
                           " s is too long for this motion");
  };
  // With loops the rows are those of the start, which place() took last.
  factor_at(integrate(mechanism_, start_.q, (0.5 * h) * v));
  multipliers_ = Eigen::VectorXd::Zero(loops_.rows());
  Eigen::VectorXd opening = multipliers_;
  double last = std::numeric_limits<double>::infinity();
  for (int k = 0;; ++k) {
    boundary_momenta(h, v);
    correction_ = momentum_ - p0_;
    if (!loops_.empty()) {
      correction_ += loops_.transposed(multipliers_);
      opening = (-1.0 / h) * loops_.residual(integrate(mechanism_, start_.q, h * v));
    }
    velocities(correction_, opening, correction_);
    v += correction_;
    if (!loops_.empty()) multipliers_ += multiplier_step_;
    const double size = correction_.lpNorm<Eigen::Infinity>();
    const double scale = v.lpNorm<Eigen::Infinity>();
    const double enough = kGoodVelocity * scale + (loops_.empty() ? 0.0 : kClosedByVelocity / h);
    if (size <= kExactVelocity * scale || (k > 3 && size >= 0.5 * last && size <= enough)) break;
    if (k == kMostCorrections || !std::isfinite(size)) refuse("");
    last = size;
  }
  if (!loops_.empty() && loops_.gap(integrate(mechanism_, start_.q, h * v)) > kClosedAfter)
    refuse(" that closes the loops");
}

void Midpoint::advance(double limit) {
  double next = begin_time_ + static_cast<double>(count_ + 1) * settings_.step;
  bool whole = true;
  if (next >= limit - kSnapToLimit * settings_.step) {
    whole = next <= limit + kSnapToLimit * settings_.step;
    next = limit;
  }
  const double h = whole ? settings_.step : next - t_;
  t_previous_ = t_;
  y_previous_ = y_;
  f_previous_ = f_;
  // The guess: half a step of the acceleration at the start.
  start_ = equations_.at(t_, y_).state;
  Eigen::VectorXd& v = velocity_;
  v = start_.v + (0.5 * h) * found_.acceleration;
  solve_step(h, v);
  boundary_momenta(h, v);
  momentum_ = p1_;
  start_.q = integrate(mechanism_, start_.q, h * v);
  if (!loops_.empty()) loops_.place(start_.q);
  factor_at(start_.q);
  velocities(momentum_, Eigen::VectorXd::Zero(loops_.rows()), start_.v);
  if (!loops_.empty()) momentum_ += loops_.transposed(multiplier_step_);
  y_ = y_previous_ + h * work_rate_;
  equations_.set_state(start_, y_);
  t_ = next;
  ++count_;
  if (!whole) {
    begin_time_ = t_;
    count_ = 0;
  }
  find_rate();
}

void Midpoint::find_rate() {
  ++statistics_.evaluations;
  equations_.evaluate(t_, y_, found_);
  equations_.rates(found_, f_);
}

void Midpoint::interpolate_inside(double t, Eigen::VectorXd& y) {
  if (t == t_ || t_ == t_previous_) {
    y = y_;
    return;
  }
  hermite(t_previous_, y_previous_, f_previous_, t_, y_, f_, t, y);
}

}  // namespace catena
