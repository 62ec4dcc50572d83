// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/user_functions.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/model/usable_numbers.h"
#include "catena/spatial/eigen.h"

namespace catena {
namespace {

constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-6;  // rounding / step and step² are 1e-10 times the numbers
// Columns of a motion map (each scaled to length 1) are dependent below this singular value.
constexpr double kIndependent = 1e-9;

std::string position_text(std::span<const double> q) {
  std::string text;
  for (const double x : q) text += (text.empty() ? "" : ", ") + number(x);
  return q.size() == 1 ? text : "(" + text + ")";
}

std::string differ_by(double gap) { return " (they differ by " + number(gap) + ")"; }

// The first line of it: what comes from other languages has a trace of calls below.
std::string message_of(const std::exception& e) {
  const std::string text = e.what();
  return text.substr(0, text.find('\n'));
}

Eigen::MatrixXd matrix_of(const std::vector<Twistd>& columns) {
  Eigen::MatrixXd h(6, static_cast<Eigen::Index>(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k)
    h.col(static_cast<Eigen::Index>(k)) = to_eigen(columns[k]);
  return h;
}

bool dependent(Eigen::MatrixXd h) {
  for (Eigen::Index k = 0; k < h.cols(); ++k) {
    const double length = h.col(k).norm();
    if (!(length > 0.0)) return true;
    h.col(k) /= length;
  }
  const Eigen::VectorXd values = singular_values(h);
  return !(values[values.size() - 1] > kIndependent);
}

class CustomHingeCheck {
 public:
  explicit CustomHingeCheck(const Hinge& hinge)
      : hinge_(hinge), custom_(*hinge.custom), n_(to_size(custom_.freedoms())), q_(n_), v_(n_) {
    for (std::size_t i = 0; i < n_; ++i) {
      q_[i] = unsymmetric_coordinate(i);
      v_[i] = 1.0 - 0.3 * static_cast<double>(i);
    }
    unsymmetric_ = q_;
    if (hinge.initial_position.size() == n_ && usable(hinge.initial_position))
      q_ = hinge.initial_position;
  }

  std::vector<std::string> run() {
    try {
      const Transformd here = transform(q_);
      if (!usable(here) || !orthonormal(here.rotation))
        return {"its transform is not a rigid displacement at q = " + position_text(q_)};
      map_ = motion_map(q_);
      if (!matrix_of(map_).allFinite())
        return {"its motion map is not finite at q = " + position_text(q_)};
      check_map(here);
      check_rate();
      check_independence();
    } catch (const std::exception& e) {
      found_.push_back("its " + std::string(called_) +
                       " failed at q = " + position_text(called_at_) + ": " + message_of(e));
    }
    return std::move(found_);
  }

 private:
  void call(const char* what, const std::vector<double>& q) {
    called_ = what;
    called_at_ = q;
  }
  Transformd transform(const std::vector<double>& q) {
    call("transform", q);
    return custom_.transform(q);
  }
  std::vector<Twistd> motion_map(const std::vector<double>& q) {
    call("motion map", q);
    std::vector<Twistd> map(n_);
    custom_.motion_map(q, map);
    return map;
  }

  void check_map(const Transformd& here) {
    for (std::size_t k = 0; k < n_; ++k) {
      std::vector<double> ahead = q_, behind = q_;
      ahead[k] += kStep;
      behind[k] -= kStep;
      const Twistd step = log(transform(behind).inverse() * transform(ahead));
      const double scale = 1.0 + to_eigen(map_[k]).norm() + norm(here.translation);
      const double gap = (to_eigen(step) / (2.0 * kStep) - to_eigen(map_[k])).norm();
      if (!(gap <= kTolerance * scale))
        found_.push_back("column " + std::to_string(k + 1) +
                         " of its motion map is not the derivative of its transform" +
                         differ_by(gap));
    }
  }

  void check_rate() {
    call("motion map rate", q_);
    std::vector<Twistd> rate(n_);
    custom_.motion_map_rate(q_, v_, rate);
    std::vector<double> ahead(n_), behind(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      ahead[i] = q_[i] + kStep * v_[i];
      behind[i] = q_[i] - kStep * v_[i];
    }
    const std::vector<Twistd> h_ahead = motion_map(ahead), h_behind = motion_map(behind);
    for (std::size_t k = 0; k < n_; ++k) {
      const Vector6d difference = to_eigen(h_ahead[k] - h_behind[k]) / (2.0 * kStep);
      const double gap = (difference - to_eigen(rate[k])).norm();
      if (!(gap <= kTolerance * (1.0 + to_eigen(map_[k]).norm() + difference.norm())))
        found_.push_back("column " + std::to_string(k + 1) +
                         " of its motion map rate is not the derivative of its motion map" +
                         differ_by(gap));
    }
  }

  // Dependent columns are a mistake if they are so in two places: it may start in a singular
  // position, and a rotor may carry it through.
  void check_independence() {
    if (!hinge_.locked_at.empty() || !dependent(matrix_of(map_))) return;
    const Eigen::MatrixXd elsewhere = matrix_of(motion_map(unsymmetric_));
    if (elsewhere.allFinite() && !dependent(elsewhere)) return;
    found_.push_back("the columns of its motion map are dependent at q = " + position_text(q_) +
                     "; the motions of its freedoms must be linearly independent");
  }

  const Hinge& hinge_;
  const CustomHinge& custom_;
  std::size_t n_;
  std::vector<double> q_, v_, unsymmetric_;
  std::vector<Twistd> map_;
  const char* called_ = "";  // the function that is being called, and where
  std::vector<double> called_at_;
  std::vector<std::string> found_;
};

// A coupling's function and its derivatives at a place; undefined too where it throws.
struct Jet {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> gradient, hessian;
  std::string failure;  // message of its exception

  Jet(const Coupling::Function& function, const std::vector<double>& q)
      : gradient(q.size()), hessian(q.size() * q.size()) {
    try {
      function(q, value, gradient, hessian);
    } catch (const std::exception& e) {
      value = std::numeric_limits<double>::quiet_NaN();
      failure = message_of(e);
    }
  }
  bool defined() const { return usable(value) && usable(gradient) && usable(hessian); }
};

// Differences of one number along one coordinate with a step and with half of it.
class Differences {
 public:
  // `at(x)` is the number at that multiple of the step; `size` that of its terms.
  Differences(auto at, double size) {
    const double here = at(0.0), ahead = at(1.0), behind = at(-1.0);
    central_ = (ahead - behind) / (2.0 * kStep);
    const double forward = (ahead - here) / kStep, backward = (here - behind) / kStep;
    least_ = std::min(forward, backward);
    most_ = std::max(forward, backward);
    const double half = (at(0.5) - at(-0.5)) / kStep;
    const double truncation = 2.0 * std::abs(central_ - half);
    const double rounding = 16.0 * std::numeric_limits<double>::epsilon() * size / kStep;
    slack_ = kTolerance * (1.0 + std::abs(central_)) + truncation + rounding;
  }
  // Distance of a derivative from the interval of the two one-sided differences (0 inside), so that
  // a kink may have any slope between those of its sides.
  double outside(double derivative) const {
    if (derivative >= least_ - slack_ && derivative <= most_ + slack_) return 0.0;
    return std::abs(derivative - central_);
  }

 private:
  double central_, least_, most_, slack_;
};

}  // namespace

std::vector<std::string> wrong_in_custom_hinge(const Hinge& hinge) {
  return CustomHingeCheck(hinge).run();
}

std::vector<std::string> wrong_in_coupling_function(const Coupling& coupling,
                                                    const std::vector<double>& q, bool given) {
  const Jet here(coupling.function, q);
  if (given && !here.failure.empty())
    return {"its function failed at q = " + position_text(q) + ": " + here.failure};
  if (!here.defined()) return {};
  std::vector<std::string> found;
  const std::size_t n = q.size();
  double size = std::abs(here.value), slopes = 1.0;  // sizes of the terms of value and gradient
  for (std::size_t i = 0; i < n; ++i) {
    size += std::abs(here.gradient[i] * q[i]);
    slopes += std::abs(here.gradient[i]);
  }
  const auto of = [&](std::size_t i) { return " by '" + coupling.terms[i].hinge + "'"; };
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<Jet> jets;  // at -1, -½, 0, ½ and 1 times the step
    for (int k = -2; k <= 2; ++k) {
      std::vector<double> there = q;
      there[i] += 0.5 * k * kStep;
      jets.emplace_back(coupling.function, there);
    }
    if (!std::all_of(jets.begin(), jets.end(), [](const Jet& jet) { return jet.defined(); }))
      continue;
    const auto jet = [&](double x) -> const Jet& { return jets[index(std::lround(2.0 * x) + 2)]; };
    const double off =
        Differences([&](double x) { return jet(x).value; }, size).outside(here.gradient[i]);
    if (off > 0.0)
      found.push_back("the gradient of its function" + of(i) + " is not its derivative" +
                      differ_by(off));
    for (std::size_t j = 0; j < n; ++j) {
      double bends = slopes;
      for (std::size_t k = 0; k < n; ++k) bends += std::abs(here.hessian[k * n + j] * q[k]);
      const double off2 = Differences([&](double x) { return jet(x).gradient[j]; }, bends)
                              .outside(here.hessian[i * n + j]);
      if (off2 > 0.0)
        found.push_back("the second derivative of its function" + of(i) + " and" + of(j) +
                        " is not the derivative of its gradient" + differ_by(off2));
    }
  }
  return found;
}

}  // namespace catena
