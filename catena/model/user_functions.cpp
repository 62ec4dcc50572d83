#include "catena/model/user_functions.h"

#include <cmath>
#include <exception>

#include <Eigen/SVD>

#include "catena/base/text.h"
#include "catena/model/sound.h"
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

// What std::exception or anything else that a user's function threw has to say.
std::string failure() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception without a message";
  }
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
  const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(h).singularValues();
  return !(values[values.size() - 1] > kIndependent);
}

class CustomHingeCheck {
 public:
  explicit CustomHingeCheck(const Hinge& hinge)
      : custom_(*hinge.custom),
        n_(static_cast<std::size_t>(custom_.freedoms())),
        q_(n_),
        v_(n_),
        map_(n_) {
    for (std::size_t i = 0; i < n_; ++i) {
      q_[i] = unsymmetric_coordinate(i);
      v_[i] = 1.0 - 0.3 * static_cast<double>(i);
    }
    if (hinge.initial_position.size() == n_ && usable(hinge.initial_position))
      q_ = hinge.initial_position;
  }

  std::vector<std::string> run() {
    try {
      where_ = "transform";
      const Transformd here = custom_.transform(q_);
      if (!usable(here) || !orthonormal(here.rotation))
        return {"its transform is not a rigid displacement at q = " + position_text(q_)};
      check_map(here);
      check_rate();
    } catch (...) {
      found_.push_back("its " + where_ + " failed at q = " + position_text(q_) + ": " + failure());
    }
    return std::move(found_);
  }

 private:
  void check_map(const Transformd& here) {
    where_ = "motion map";
    custom_.motion_map(q_, map_);
    const Eigen::MatrixXd h = matrix_of(map_);
    if (!h.allFinite()) {
      found_.push_back("its motion map is not finite at q = " + position_text(q_));
      return;
    }
    if (dependent(h))
      found_.push_back("the columns of its motion map are dependent at q = " + position_text(q_) +
                       "; each freedom must move the body in a way of its own, and the initial "
                       "position must not be a singular one");
    where_ = "transform";
    for (std::size_t k = 0; k < n_; ++k) {
      std::vector<double> ahead = q_, behind = q_;
      ahead[k] += kStep;
      behind[k] -= kStep;
      const Twistd step = log(custom_.transform(behind).inverse() * custom_.transform(ahead));
      const double scale = 1.0 + to_eigen(map_[k]).norm() + norm(here.translation);
      const double gap = (to_eigen(step) / (2.0 * kStep) - to_eigen(map_[k])).norm();
      if (!(gap <= kTolerance * scale))
        found_.push_back("column " + std::to_string(k + 1) +
                         " of its motion map is not the derivative of its transform" +
                         differ_by(gap));
    }
  }

  void check_rate() {
    where_ = "motion map rate";
    std::vector<Twistd> rate(n_), h_ahead(n_), h_behind(n_);
    custom_.motion_map_rate(q_, v_, rate);
    std::vector<double> ahead(n_), behind(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      ahead[i] = q_[i] + kStep * v_[i];
      behind[i] = q_[i] - kStep * v_[i];
    }
    where_ = "motion map";
    custom_.motion_map(ahead, h_ahead);
    custom_.motion_map(behind, h_behind);
    for (std::size_t k = 0; k < n_; ++k) {
      const Vector6d difference = to_eigen(h_ahead[k] - h_behind[k]) / (2.0 * kStep);
      const double gap = (difference - to_eigen(rate[k])).norm();
      if (!(gap <= kTolerance * (1.0 + to_eigen(map_[k]).norm() + difference.norm())))
        found_.push_back("column " + std::to_string(k + 1) +
                         " of its motion map rate is not the derivative of its motion map" +
                         differ_by(gap));
    }
  }

  const CustomHinge& custom_;
  std::size_t n_;
  std::vector<double> q_, v_;
  std::vector<Twistd> map_;
  std::string where_;  // the function that is being called
  std::vector<std::string> found_;
};

// A coupling's function and its derivatives at a place.
struct Jet {
  double value = 0.0;
  std::vector<double> gradient, hessian;

  Jet(const Coupling::Function& function, std::span<const double> q)
      : gradient(q.size()), hessian(q.size() * q.size()) {
    function(q, value, gradient, hessian);
  }
  bool defined() const { return std::isfinite(value) && usable(gradient) && usable(hessian); }
};

}  // namespace

std::vector<std::string> wrong_in_custom_hinge(const Hinge& hinge) {
  return CustomHingeCheck(hinge).run();
}

std::vector<std::string> wrong_in_coupling_function(const Coupling& coupling,
                                                    std::span<const double> q) {
  std::vector<std::string> found;
  const std::size_t n = q.size();
  const auto of = [&](std::size_t i) { return " by '" + coupling.terms[i].hinge + "'"; };
  try {
    const Jet here(coupling.function, q);
    if (!here.defined()) return {};
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> ahead(q.begin(), q.end()), behind = ahead;
      ahead[i] += kStep;
      behind[i] -= kStep;
      const Jet a(coupling.function, ahead), b(coupling.function, behind);
      if (!a.defined() || !b.defined()) continue;
      const double slope = (a.value - b.value) / (2.0 * kStep);
      const double gap = std::abs(slope - here.gradient[i]);
      if (!(gap <= kTolerance * (1.0 + std::abs(here.value) + std::abs(slope))))
        found.push_back("the gradient of its function" + of(i) + " is not its derivative" +
                        differ_by(gap));
      for (std::size_t j = 0; j < n; ++j) {
        const double bend = (a.gradient[j] - b.gradient[j]) / (2.0 * kStep);
        const double off = std::abs(bend - here.hessian[i * n + j]);
        if (!(off <= kTolerance * (1.0 + std::abs(here.gradient[j]) + std::abs(bend))))
          found.push_back("the second derivative of its function" + of(i) + " and" + of(j) +
                          " is not the derivative of its gradient" + differ_by(off));
      }
    }
  } catch (...) {
    found.push_back("its function failed at q = " + position_text(q) + ": " + failure());
  }
  return found;
}

}  // namespace catena
