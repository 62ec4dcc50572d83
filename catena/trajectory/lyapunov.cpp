// SPDX-License-Identifier: BSD-3-Clause
#include "catena/trajectory/lyapunov.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/sensitivity/forward_derivatives.h"
#include "catena/trajectory/variational.h"

namespace catena {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

LyapunovExponents lyapunov_exponents(const Mechanism& m, const State& initial,
                                     const VectorXd& effort, const LyapunovSettings& settings) {
  if (!(settings.duration > 0.0) || !(settings.step > 0.0) || settings.orthogonalize < 1)
    throw NumericalError("Lyapunov exponents need a duration and a step above zero");
  SensitivityWorkspace w(m);
  std::unique_ptr<Coordinates> coordinates = make_coordinates(m, initial, {});
  if (coordinates->chart() != nullptr)
    coordinates =
        make_coordinates(m, initial, coordinates->chart()->independent_mask(m.freedoms()));
  coordinates->begin(initial);
  if (coordinates->chart() != nullptr) w.dynamics().set_chart(*coordinates->chart(), true);
  VectorXd y(coordinates->size());
  coordinates->pack(initial, {y.data(), to_size(y.size())});
  Instant here;
  const auto span_of = [](VectorXd& x) { return std::span<double>(x.data(), to_size(x.size())); };
  MatrixXd a;
  const auto evaluate = [&](VectorXd at) {  // the rates at a state, and `a` there
    coordinates->at(span_of(at), here);
    const ForwardDerivatives& f = forward_dynamics_derivatives(m, here.state, effort, w);
    a = system_matrix(m, here.state, f.dq, f.dv, w);
    VectorXd rate(at.size());
    coordinates->rate(here.state, f.acceleration, span_of(rate));
    return rate;
  };
  evaluate(y);
  const Index size = a.rows();
  if (settings.exponents < 0 || settings.exponents > size)
    throw NumericalError(std::to_string(settings.exponents) + " exponents are asked for; '" +
                         m.name() + "' has " + std::to_string(size) + " states");
  const Index count = settings.exponents > 0 ? settings.exponents : size;
  MatrixXd s = MatrixXd::Identity(size, count);
  VectorXd sum = VectorXd::Zero(count), half = VectorXd::Zero(count);
  const double h = settings.step;
  const auto steps =
      static_cast<std::int64_t>(std::llround((settings.settle + settings.duration) / h));
  const auto settled = static_cast<std::int64_t>(std::llround(settings.settle / h));
  double counted = 0.0, counted_half = 0.0;
  for (std::int64_t i = 0; i < steps; ++i) {
    const double t = h * static_cast<double>(i);
    if (settings.progress && !settings.progress(t))
      throw NumericalError("stopped at t = " + number(t) + " s");
    const VectorXd k1 = evaluate(y);
    const MatrixXd s1 = a * s;
    const VectorXd k2 = evaluate(y + 0.5 * h * k1);
    const MatrixXd s2 = a * (s + 0.5 * h * s1);
    const VectorXd k3 = evaluate(y + 0.5 * h * k2);
    const MatrixXd s3 = a * (s + 0.5 * h * s2);
    const VectorXd k4 = evaluate(y + h * k3);
    y += h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
    s += h / 6.0 * (s1 + 2.0 * (s2 + s3) + a * (s + h * s3));
    coordinates->at(span_of(y), here);
    coordinates->pack(here.state, span_of(y));
    coordinates->accept(here);
    if ((i + 1) % settings.orthogonalize != 0 && i + 1 != steps) continue;
    const Qr qr(s);
    s = qr.q_columns(count);
    if (i < settled) continue;
    for (Index k = 0; k < count; ++k) sum[k] += std::log(std::abs(qr.r_diagonal(k)));
    counted = h * static_cast<double>(i + 1 - settled);
    if (2 * (i - settled) < steps - settled) {
      half = sum;
      counted_half = counted;
    }
  }
  // The directions are in order once they have settled; over a finite time neighbours may not be.
  const VectorXd found = sum / counted;
  std::vector<Index> order(to_size(count));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index k) { return found[i] > found[k]; });
  LyapunovExponents out;
  out.exponents = found(order);
  const VectorXd first = half / counted_half;
  const VectorXd second = (sum - half) / (counted - counted_half);
  out.spread = 0.5 * (second - first).cwiseAbs()(order);
  out.final_state = here.state;
  return out;
}

}  // namespace catena
