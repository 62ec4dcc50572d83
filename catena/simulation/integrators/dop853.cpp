// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/integrators/dop853.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// Of step-size control, as in the code of Hairer and Wanner.
constexpr double kSafety = 0.9;
constexpr double kLeastFactor = 0.333;
constexpr double kLargestFactor = 6.0;
constexpr double kErrorExponent = 1.0 / 8.0;
// Where rates have noise, a shorter step often avoids it. Below this part of the usual step it is
// accepted as it is: the noise may grow faster than steps can shrink.
constexpr double kCrawl = 0.02;
constexpr double kForget = 0.05;  // of the usual step, for each that the time goes on by
// Stiffness (as there): a step times the largest eigenvalue beyond this, so many times without so
// many in a row that are not; checked now and then, and at every step once it is suspected.
constexpr double kStabilityLimit = 6.1;
constexpr int kStiffSteps = 15;
constexpr int kEasySteps = 6;
constexpr int kLookEvery = 100;
// A step that would leave less than this part of itself before a limit goes all the way.
constexpr double kStretch = 1.01;

// Times nearer to zero than this (s) count as that: a run may begin with any step above rounding.
constexpr double kFirstTime = 1e-10;

double least_step(double t) { return kShortestStep * std::max(std::abs(t), kFirstTime); }

}  // namespace

Dop853::Dop853(Ode& ode, const IntegratorSettings& settings)
    : Integrator(ode), settings_(settings) {
  const Eigen::Index n = ode.size();
  for (Eigen::VectorXd& stage : stage_) stage = Eigen::VectorXd::Zero(n);
  for (Eigen::VectorXd& row : dense_) row = Eigen::VectorXd::Zero(n);
  y_trial_ = sum_ = error_ = Eigen::VectorXd::Zero(n);
  scale_ = trial_size_ = Eigen::VectorXd::Zero(ode.controlled());
}

void Dop853::begin() {
  noise_at_start_ = rate_with_noise(t_, y_, stage_[0]);
  // A loop turns within a short way beside a dead point, and a long first step would pass over
  // that: loops begin with a shorter one, by the square of spread() for an error of zero.
  const double spread = ode_.spread(y_, Eigen::VectorXd::Zero(y_.size()),
                                    settings_.relative_tolerance, settings_.absolute_tolerance);
  next_step_ = std::min(first_step() / (spread * spread), settings_.maximum_step);
  dense_ready_ = ahead_ = false;
  usual_step_ = 0.0;
  steps_ = stiff_steps_ = easy_steps_ = 0;
}

void Dop853::begin_as_before() {
  noise_at_start_ = rate_with_noise(t_, y_, stage_[0]);
  dense_ready_ = ahead_ = false;
}

// A first guess from the size of y, ẏ and ÿ (Hairer, Norsett and Wanner, section II.4).
double Dop853::first_step() {
  const Eigen::Index n = scale_.size();
  if (n == 0) return settings_.maximum_step;
  ode_.measure(y_, scale_);
  scale_ = settings_.absolute_tolerance + settings_.relative_tolerance * scale_.array();
  const double root = std::sqrt(static_cast<double>(n));
  const double d0 = (y_.head(n).array() / scale_.array()).matrix().norm() / root;
  const double d1 = (stage_[0].head(n).array() / scale_.array()).matrix().norm() / root;
  const double h0 = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
  y_trial_ = y_ + h0 * stage_[0];
  try {
    rate(t_ + h0, y_trial_, stage_[1]);
  } catch (const NumericalError&) {
    return h0;
  }
  const double d2 =
      ((stage_[1] - stage_[0]).head(n).array() / scale_.array()).matrix().norm() / root / h0;
  const double d = std::max(d1, d2);
  const double h1 = d <= 1e-15 ? std::max(1e-6, h0 * 1e-3) : std::pow(0.01 / d, kErrorExponent);
  return std::min(100.0 * h0, h1);
}

void Dop853::sum(const dop853::Row& row, Eigen::VectorXd& result) const {
  result.setZero();
  for (int k = 0; k < row.terms; ++k)
    result += row.term[k].coefficient * stage_[index(row.term[k].stage)];
}

bool Dop853::try_step(double h) {
  noise_ = noise_at_start_;
  try {
    for (int s = 1; s < dop853::kStages; ++s) {
      sum(dop853::kStage[s], sum_);
      y_trial_ = y_ + h * sum_;
      noise_ =
          std::max(noise_, rate_with_noise(t_ + dop853::kNode[s] * h, y_trial_, stage_[index(s)]));
    }
  } catch (const NumericalError& e) {
    failure_ = e.what();
    return false;
  }
  sum(dop853::kStage[dop853::kStages], sum_);
  y_trial_ = y_ + h * sum_;
  return true;
}

// Enlarges the estimate of order 5 where that of order 3 shows that it is too small. Leaves the
// entry with the largest error in worst_.
double Dop853::error_norm(double h) {
  const Eigen::Index n = scale_.size();
  if (n == 0) return 0.0;
  sum(dop853::kError5, error_);
  error_ *= h;
  const double spread =
      ode_.spread(y_trial_, error_, settings_.relative_tolerance, settings_.absolute_tolerance);
  ode_.measure(y_, scale_);
  ode_.measure(y_trial_, trial_size_);
  // Noise is no error of the method; the tolerance is not below it.
  scale_ = settings_.absolute_tolerance + (h < kCrawl * usual_step_ ? spread * h * noise_ : 0.0) +
           settings_.relative_tolerance * scale_.array().max(trial_size_.array());
  // sum_ still holds the step itself.
  for (int k = 0; k < dop853::kError3.terms; ++k)
    sum_ -= dop853::kError3.term[k].coefficient * stage_[index(dop853::kError3.term[k].stage)];
  const double third = (sum_.head(n).array() / scale_.array()).matrix().squaredNorm();
  sum_.head(n).array() = error_.head(n).array() / (h * scale_.array());
  Eigen::Index worst = 0;
  sum_.head(n).array().abs().maxCoeff(&worst);
  worst_ = static_cast<int>(worst);
  const double fifth = sum_.head(n).squaredNorm();
  const double both = fifth + 0.01 * third;
  if (both == 0.0) return 0.0;
  return spread * h * fifth / std::sqrt(both * static_cast<double>(n));
}

void Dop853::advance(double limit) {
  if (ahead_) stage_[0].swap(stage_[dop853::kStages]);
  ahead_ = false;
  double h = next_step_;
  bool rejected = false;
  while (true) {
    const bool last = t_ + kStretch * h >= limit;
    if (last) h = limit - t_;
    if (h < least_step(t_) && !last) throw StepCollapse(t_, h, worst_, failure_);
    failure_.clear();
    if (!try_step(h)) {
      ++statistics_.rejected;
      rejected = true;
      h *= kFailedStepFactor;
      if (h < least_step(t_)) throw StepCollapse(t_, h, -1, failure_);
      continue;
    }
    const double error = error_norm(h);
    if (!(error <= 1.0)) {  // or NaN
      ++statistics_.rejected;
      rejected = true;
      h *= std::isfinite(error) ? std::max(kLeastFactor, kSafety * std::pow(error, -kErrorExponent))
                                : kFailedStepFactor;
      if (h < least_step(t_)) throw StepCollapse(t_, h, worst_, "");
      continue;
    }
    // Also where it ends rates must be known.
    const double end = last ? limit : t_ + h;
    double noise_at_end = 0.0;
    try {
      ode_.project(end, y_trial_);
      noise_at_end = rate_with_noise(end, y_trial_, stage_[dop853::kStages]);
    } catch (const NumericalError& e) {
      failure_ = e.what();
      ++statistics_.rejected;
      rejected = true;
      h *= kFailedStepFactor;
      if (h < least_step(t_)) throw StepCollapse(t_, h, -1, failure_);
      continue;
    }
    const double largest = rejected ? 1.0 : kLargestFactor;
    const double factor = error == 0.0 ? largest
                                       : std::clamp(kSafety * std::pow(error, -kErrorExponent),
                                                    kLeastFactor, largest);
    // A step cut short by a limit says little about the next one.
    const double wished = last && !rejected ? std::max(next_step_, h * factor) : h * factor;
    next_step_ = std::min(wished, settings_.maximum_step);
    usual_step_ = std::max(h, usual_step_ - kForget * h);
    t_previous_ = t_;
    y_previous_.swap(y_);
    y_.swap(y_trial_);
    t_ = end;
    noise_at_start_ = noise_at_end;
    break;
  }
  dense_ready_ = false;
  ahead_ = true;
  if (++steps_ % kLookEvery == 0 || stiff_steps_ > 0) look_for_stiffness();
}

// The last stage and the step's end are both at t + h and close to each other: the difference of
// their rates estimates the largest eigenvalue.
void Dop853::look_for_stiffness() {
  const Eigen::Index n = scale_.size();
  const double h = t_ - t_previous_;
  constexpr int kLast = dop853::kStages - 1;
  sum(dop853::kStage[kLast], sum_);
  const double apart = (y_ - y_previous_ - h * sum_).head(n).norm();
  const double rates = (stage_[dop853::kStages] - stage_[kLast]).head(n).norm();
  if (apart > 0.0 && h * rates > kStabilityLimit * apart) {
    easy_steps_ = 0;
    if (++stiff_steps_ == kStiffSteps)
      statistics_.stiff_since = std::min(statistics_.stiff_since, t_);
  } else if (++easy_steps_ == kEasySteps) {
    stiff_steps_ = easy_steps_ = 0;
  }
}

void Dop853::prepare_dense_output() {
  const double h = t_ - t_previous_;
  for (int s = dop853::kStages + 1; s < dop853::kExtendedStages; ++s) {
    sum(dop853::kStage[s], sum_);
    y_trial_ = y_previous_ + h * sum_;
    rate(t_previous_ + dop853::kNode[s] * h, y_trial_, stage_[index(s)]);
  }
  const Eigen::VectorXd& first = stage_[0];
  dense_[0] = y_ - y_previous_;
  dense_[1] = h * first - dense_[0];
  dense_[2] = dense_[0] - h * stage_[dop853::kStages] - dense_[1];
  for (int k = 0; k < dop853::kDenseRows; ++k) {
    sum(dop853::kDense[k], sum_);
    dense_[index(3 + k)] = h * sum_;
  }
  dense_ready_ = true;
}

void Dop853::interpolate_inside(double t, Eigen::VectorXd& y) {
  if (t == t_ || t_ == t_previous_) {
    y = y_;
    return;
  }
  if (!dense_ready_) prepare_dense_output();
  const double x = (t - t_previous_) / (t_ - t_previous_);
  y = dense_.back();
  for (std::size_t k = dense_.size() - 1; k-- > 0;) y = dense_[k] + (k % 2 == 0 ? 1.0 - x : x) * y;
  y = y_previous_ + x * y;
}

}  // namespace catena
