// SPDX-License-Identifier: BSD-3-Clause
#include "catena/trajectory/problem.h"

#include <algorithm>
#include <cmath>

#include "catena/base/error.h"
#include "catena/base/index.h"

namespace catena {

void InputValues::set_zero(int n) {
  for (Eigen::VectorXd* x : {&effort, &position, &velocity, &acceleration}) x->setZero(n);
}

void CostGradient::set_zero(int n) {
  for (Eigen::VectorXd* x : {&q, &v, &acceleration, &effort}) x->setZero(n);
}

SplineInput::SplineInput(const Mechanism& m, double duration, std::vector<Spline> splines)
    : duration_(duration), splines_(std::move(splines)) {
  if (!(duration > 0.0)) throw NumericalError("a spline needs a duration above zero");
  for (const Spline& s : splines_) {
    if (s.freedom < 0 || s.freedom >= m.freedoms())
      throw NumericalError("a spline acts on degree of freedom " + std::to_string(s.freedom) +
                           "; the mechanism has " + std::to_string(m.freedoms()));
    const std::string& name = m.velocity_names()[index(s.freedom)];
    if (s.degree < (s.motion ? 3 : 0) || s.degree > kMaxDegree || s.coefficients <= s.degree ||
        s.held_first + s.held_last > s.coefficients)
      throw NumericalError("the spline of '" + name + "' has degree " + std::to_string(s.degree) +
                           " and " + std::to_string(s.coefficients) +
                           " coefficients; degrees go from 0 (a motion: 3) to 7, and "
                           "every spline needs more coefficients than its degree");
    if (s.motion && m.coordinate_of_freedom()[index(s.freedom)] < 0)
      throw NumericalError("freedom '" + name +
                           "' has no coordinate that a spline could prescribe");
    first_.push_back(parameters_);
    parameters_ += s.coefficients - s.held_first - s.held_last;
    if (!s.motion) continue;
    driven_.resize(to_size(m.freedoms()), 0);
    driven_[index(s.freedom)] = 1;
  }
}

SplineBasis SplineInput::basis(const Spline& s, double t) const {
  const double u = t / duration_;
  SplineBasis b =
      spline_basis(s.degree, s.coefficients, spline_span(s.degree, s.coefficients, u), u);
  for (int k = 0; k <= s.degree; ++k) {
    b.values[1][k] /= duration_;
    b.values[2][k] /= duration_ * duration_;
  }
  return b;
}

void SplineInput::evaluate(double t, const Eigen::VectorXd& parameters, InputValues& values) const {
  for (std::size_t i = 0; i < splines_.size(); ++i) {
    const Spline& s = splines_[i];
    const SplineBasis b = basis(s, t);
    double sum[3] = {};
    for (int k = 0; k <= s.degree; ++k) {
      const int c = b.first + k;
      const double x = c < s.held_first ? s.first
                       : c >= s.coefficients - s.held_last
                           ? s.last
                           : parameters[first_[i] + c - s.held_first];
      for (int order = 0; order < 3; ++order) sum[order] += x * b.values[order][k];
    }
    if (s.motion) {
      values.position[s.freedom] += sum[0];
      values.velocity[s.freedom] += sum[1];
      values.acceleration[s.freedom] += sum[2];
    } else {
      values.effort[s.freedom] += sum[0];
    }
  }
}

void SplineInput::adjoint(double t, const Eigen::VectorXd&, const InputValues& bar,
                          Eigen::VectorXd& gradient) const {
  for (std::size_t i = 0; i < splines_.size(); ++i) {
    const Spline& s = splines_[i];
    const SplineBasis b = basis(s, t);
    for (int k = 0; k <= s.degree; ++k) {
      const int c = b.first + k;
      if (c < s.held_first || c >= s.coefficients - s.held_last) continue;
      gradient[first_[i] + c - s.held_first] +=
          s.motion ? b.values[0][k] * bar.position[s.freedom] +
                         b.values[1][k] * bar.velocity[s.freedom] +
                         b.values[2][k] * bar.acceleration[s.freedom]
                   : b.values[0][k] * bar.effort[s.freedom];
    }
  }
}

double QuadraticCost::running(const CostPoint& p, CostGradient* g) const {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < effort_weight.size(); ++i) {
    if (effort_weight[i] == 0.0) continue;
    sum += 0.5 * effort_weight[i] * p.effort[i] * p.effort[i];
    if (g != nullptr) g->effort[i] += effort_weight[i] * p.effort[i];
  }
  return sum;
}

double QuadraticCost::terminal(const CostPoint& p, CostGradient* g) const {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < position_weight.size(); ++i) {
    const int c = m_.coordinate_of_freedom()[index(i)];
    if (position_weight[i] == 0.0 || c < 0) continue;
    const double off = p.state.q[c] - (position_target.size() > 0 ? position_target[i] : 0.0);
    sum += position_weight[i] * off * off;
    if (g != nullptr) g->q[i] += 2.0 * position_weight[i] * off;
  }
  for (Eigen::Index i = 0; i < velocity_weight.size(); ++i) {
    const double off = p.state.v[i] - (velocity_target.size() > 0 ? velocity_target[i] : 0.0);
    sum += velocity_weight[i] * off * off;
    if (g != nullptr) g->v[i] += 2.0 * velocity_weight[i] * off;
  }
  return sum;
}

}  // namespace catena
