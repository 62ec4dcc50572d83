// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/discretize.h"

#include <cmath>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/linear/algebra.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/matrix_functions.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// A delay in samples: whole ones, and the fraction in [0, 1) that remains.
struct Samples {
  double whole = 0.0, fraction = 0.0;
};

Samples in_samples(double delay, double dt) {
  // Fractions closer to a whole sample than rounding of the quotient are none.
  constexpr double kRounding = 1e-9;
  const double steps = delay / dt, nearest = std::round(steps);
  if (std::abs(steps - nearest) <= kRounding * std::max(1.0, steps)) return {nearest, 0.0};
  return {std::floor(steps), steps - std::floor(steps)};
}

double delay_at(const VectorXd& delays, Eigen::Index i) {
  return delays.size() > 0 ? delays[i] : 0.0;
}

void require_whole_delays(const StateSpace& system, double dt, const char* method) {
  for (const VectorXd* delays : {&system.input_delay, &system.output_delay})
    for (Eigen::Index i = 0; i < delays->size(); ++i)
      if (in_samples((*delays)[i], dt).fraction != 0.0)
        throw Error(std::string("c2d: the delay of ") + number((*delays)[i]) +
                    " s is no multiple of the "
                    "sample time " +
                    number(dt) + " s, which the method " + method +
                    " needs; use zoh, or pade() first");
}

// e^{At} and ∫₀ᵗ e^{As} ds B.
struct Propagator {
  MatrixXd phi, gamma;
};

Propagator propagator(const StateSpace& system, double t) {
  const Eigen::Index n = system.order(), m = system.input_count();
  MatrixXd block = MatrixXd::Zero(n + m, n + m);
  block.topLeftCorner(n, n) = t * system.A;
  block.topRightCorner(n, m) = t * system.B;
  const MatrixXd e = expm(block);
  return {e.topLeftCorner(n, n), e.topRightCorner(n, m)};
}

// The forced part of the state after a time t in a sampling interval, when input j changes from its
// earlier value to the present one at the time f_j: x(t) = Φ x + earlier u[k−1] + present u[k].
struct Forced {
  MatrixXd phi, earlier, present;
};

Forced forced(const StateSpace& system, double t, const VectorXd& switch_time) {
  const Propagator whole = propagator(system, t);
  Forced result{whole.phi, MatrixXd::Zero(system.order(), system.input_count()), whole.gamma};
  for (Eigen::Index j = 0; j < switch_time.size(); ++j) {
    const double f = switch_time[j];
    if (f == 0.0) continue;
    if (f >= t) {
      result.earlier.col(j) = whole.gamma.col(j);
      result.present.col(j).setZero();
    } else {
      result.present.col(j) = propagator(system, t - f).gamma.col(j);
      result.earlier.col(j) = whole.gamma.col(j) - result.present.col(j);
    }
  }
  return result;
}

StateSpace zero_order_hold(const StateSpace& system, double dt) {
  const Eigen::Index n = system.order(), m = system.input_count(), p = system.output_count();
  VectorXd switch_time = VectorXd::Zero(m), input_delay = VectorXd::Zero(m);
  std::vector<Eigen::Index> fractional;
  for (Eigen::Index j = 0; j < m; ++j) {
    const Samples samples = in_samples(delay_at(system.input_delay, j), dt);
    switch_time[j] = samples.fraction * dt;
    input_delay[j] = samples.whole * dt;
    if (samples.fraction > 0.0) fractional.push_back(j);
  }
  const Forced step = forced(system, dt, switch_time);
  // Rows of outputs from (x[k], u[k−1], u[k]); a fractional output delay g looks at the state at
  // (1 − g) dt in the interval before, so its row is that of the time (1 − g) dt, one sample later.
  MatrixXd C = system.C, before = MatrixXd::Zero(p, m), now = system.D;
  VectorXd output_delay = VectorXd::Zero(p);
  for (Eigen::Index j = 0; j < m; ++j)
    if (switch_time[j] > 0.0) {  // at the sample itself the earlier value still holds
      before.col(j) = system.D.col(j);
      now.col(j).setZero();
    }
  for (Eigen::Index i = 0; i < p; ++i) {
    const Samples samples = in_samples(delay_at(system.output_delay, i), dt);
    output_delay[i] = samples.whole * dt;
    if (samples.fraction == 0.0) continue;
    const double t = (1.0 - samples.fraction) * dt;
    output_delay[i] += dt;
    const Forced part = forced(system, t, switch_time);
    C.row(i) = system.C.row(i) * part.phi;
    before.row(i) = system.C.row(i) * part.earlier;
    now.row(i) = system.C.row(i) * part.present;
    for (Eigen::Index j = 0; j < m; ++j)
      (t >= switch_time[j] ? now : before)(i, j) += system.D(i, j);
  }

  // One more state for the earlier value of each input with a fractional delay.
  const Eigen::Index extra = std::ssize(fractional);
  StateSpace result = system;
  result.dt = dt;
  result.A = MatrixXd::Zero(n + extra, n + extra);
  result.B = MatrixXd::Zero(n + extra, m);
  result.C = MatrixXd::Zero(p, n + extra);
  result.A.topLeftCorner(n, n) = step.phi;
  result.B.topRows(n) = step.present;
  result.C.leftCols(n) = C;
  result.D = now;
  for (Eigen::Index e = 0; e < extra; ++e) {
    const Eigen::Index j = fractional[static_cast<std::size_t>(e)];
    result.A.block(0, n + e, n, 1) = step.earlier.col(j);
    result.C.col(n + e) = before.col(j);
    result.B(n + e, j) = 1.0;
    result.states.push_back("earlier_" + system.input_name(static_cast<int>(j)));
    if (!result.state_units.empty())
      result.state_units.push_back(
          system.input_units.empty() ? "" : system.input_units[static_cast<std::size_t>(j)]);
  }
  if (result.point && result.point->x0.size() > 0) {
    VectorXd x0 = VectorXd::Zero(n + extra);
    x0.head(n) = result.point->x0;
    for (Eigen::Index e = 0; e < extra && result.point->u0.size() > 0; ++e)
      x0[n + e] = result.point->u0[fractional[static_cast<std::size_t>(e)]];
    result.point->x0 = x0;
  }
  result.input_delay =
      input_delay.size() > 0 && input_delay.maxCoeff() > 0.0 ? input_delay : VectorXd();
  result.output_delay =
      output_delay.size() > 0 && output_delay.maxCoeff() > 0.0 ? output_delay : VectorXd();
  return result;
}

// Φ, Γ₁ and Γ₂ of the triangle hold from e^{h [A B 0; 0 0 1/h; 0 0 0]} [Franklin 1998, sec. 6.3].
struct TriangleHold {
  MatrixXd phi, gamma1, gamma2;
};

TriangleHold triangle_hold(const MatrixXd& a, const MatrixXd& b, double dt) {
  const Eigen::Index n = a.rows(), m = b.cols();
  MatrixXd block = MatrixXd::Zero(n + 2 * m, n + 2 * m);
  block.topLeftCorner(n, n) = dt * a;
  block.block(0, n, n, m) = dt * b;
  block.block(n, n + m, m, m).setIdentity();
  const MatrixXd e = expm(block);
  return {e.topLeftCorner(n, n), e.block(0, n, n, m), e.block(0, n + m, n, m)};
}

StateSpace first_order_hold(const StateSpace& system, double dt) {
  const TriangleHold hold = triangle_hold(system.A, system.B, dt);
  StateSpace result = system;
  result.dt = dt;
  result.A = hold.phi;
  result.B = hold.gamma1 + hold.phi * hold.gamma2 - hold.gamma2;
  result.D = system.D + system.C * hold.gamma2;
  return result;
}

double bilinear_rate(double dt, double prewarp) {
  if (prewarp == 0.0) return 2.0 / dt;
  if (!(prewarp > 0.0) || prewarp * dt >= M_PI)
    throw Error("tustin: the frequency to keep (prewarp) is " + number(prewarp) +
                " rad/s; it must lie between 0 and pi/dt = " + number(M_PI / dt) + " rad/s");
  return prewarp / std::tan(0.5 * prewarp * dt);
}

StateSpace bilinear_to_discrete(const StateSpace& system, double dt, double prewarp) {
  const Eigen::Index n = system.order();
  const double alpha = bilinear_rate(dt, prewarp);
  const MatrixXd identity = MatrixXd::Identity(n, n);
  const lapack::Lu lu(alpha * identity - system.A);
  if (lu.rcond() < std::numeric_limits<double>::epsilon())
    throw NumericalError("c2d: the system has a pole at 2/dt = " + number(alpha) +
                         " 1/s, where the bilinear map is singular; choose another sample time");
  StateSpace result = system;
  result.dt = dt;
  result.A = lu.solve(alpha * identity + system.A);
  const MatrixXd b = lu.solve(system.B);
  result.B = std::sqrt(2.0 * alpha) * b;
  result.C = std::sqrt(2.0 * alpha) * lu.solve_transposed(system.C.transpose()).transpose();
  result.D = system.D + system.C * b;
  return result;
}

StateSpace bilinear_to_continuous(const StateSpace& system, double prewarp) {
  const Eigen::Index n = system.order();
  const double alpha = bilinear_rate(system.dt, prewarp);
  const MatrixXd identity = MatrixXd::Identity(n, n);
  const lapack::Lu lu(identity + system.A);
  if (lu.rcond() < std::numeric_limits<double>::epsilon())
    throw NumericalError("d2c: the system has a pole at -1, where the bilinear map is singular");
  StateSpace result = system;
  result.dt = 0.0;
  result.A = alpha * lu.solve(system.A - identity);
  const MatrixXd b = lu.solve(system.B);
  result.B = std::sqrt(2.0 * alpha) * b;
  result.C = std::sqrt(2.0 * alpha) * lu.solve_transposed(system.C.transpose()).transpose();
  result.D = system.D - system.C * b;
  return result;
}

// x changes meaning: the operating point's x0 does not carry over.
void forget_state_values(StateSpace& system) {
  if (system.point) system.point->x0.resize(0);
}

}  // namespace

const char* to_string(Hold hold) {
  switch (hold) {
    case Hold::zoh:
      return "zoh";
    case Hold::foh:
      return "foh";
    default:
      return "tustin";
  }
}

StateSpace c2d(const StateSpace& given, double dt, const DiscretizeSettings& settings) {
  if (!(dt > 0.0) || !std::isfinite(dt))
    throw Error("c2d: the sample time is " + number(dt) + " s; it must be positive");
  StateSpace system = explicit_form(given);
  system.fill_names();
  if (system.is_discrete())
    throw Error("c2d: the system is already sampled with " + number(system.dt) + " s");
  if (settings.method == Hold::zoh) return zero_order_hold(system, dt);
  require_whole_delays(system, dt, to_string(settings.method));
  StateSpace result = settings.method == Hold::foh
                          ? first_order_hold(system, dt)
                          : bilinear_to_discrete(system, dt, settings.prewarp);
  forget_state_values(result);
  return result;
}

StateSpace d2c(const StateSpace& given, const DiscretizeSettings& settings) {
  StateSpace system = explicit_form(given);
  system.fill_names();
  if (system.is_continuous()) throw Error("d2c: the system is already continuous");
  if (settings.method == Hold::tustin) {
    StateSpace result = bilinear_to_continuous(system, settings.prewarp);
    forget_state_values(result);
    return result;
  }
  const double dt = system.dt;
  const Eigen::Index n = system.order();
  StateSpace result = system;
  result.dt = 0.0;
  result.A = logm(system.A) / dt;
  const MatrixXd identity = MatrixXd::Identity(n, n);
  if (settings.method == Hold::zoh) {
    result.B = lapack::solve(integral_of_expm(result.A, dt), system.B, "d2c: the integral of e^At");
    return result;
  }
  // Γ₁ and Γ₂ are functions of A times B.
  const TriangleHold hold = triangle_hold(result.A, identity, dt);
  result.B = lapack::solve(hold.gamma1 + hold.phi * hold.gamma2 - hold.gamma2, system.B,
                           "d2c: the matrix of the triangle hold");
  result.D = system.D - system.C * hold.gamma2 * result.B;
  forget_state_values(result);
  return result;
}

StateSpace pade(double delay, int order, int sections) {
  if (!(delay >= 0.0) || !std::isfinite(delay))
    throw Error("pade: the delay is " + number(delay) + " s; it must be finite and not negative");
  if (order < 0 || sections < 1 || order < sections)
    throw Error("pade: " + std::to_string(order) + " states in " + std::to_string(sections) +
                " sections; every section needs a state");
  if (delay == 0.0) return ss(MatrixXd::Ones(1, 1));
  if (sections > 1) {
    // Each section takes its share of the delay and of the states that remain.
    const int share = (order + sections - 1) / sections;
    return series(pade(delay / sections, share),
                  pade(delay - delay / sections, order - share, sections - 1));
  }
  // The ladder of tanh(s delay/2) = 1/(1/z + 1/(3/z + 1/(5/z + ...))), z = s delay/2: states x_k
  // with x_k' = w_k b_k, w_k = (2/delay)(2k − 1), and b_{k+1} = b_{k−1} − x_k, b_0 = a, b_{order+1}
  // = 0, u = a + b_1, y = a − b_1. The states are scaled by √w_k, which makes the Gramian a
  // multiple of 1.
  const int n = order;
  MatrixXd b_of_x = MatrixXd::Zero(n + 2, n);
  VectorXd b_of_u = VectorXd::Zero(n + 2);
  // The chain with the parity of order + 1, from its end.
  for (int k = n; k >= 1; k -= 2) {
    b_of_x.row(k - 1) = b_of_x.row(k + 1);
    b_of_x(k - 1, k - 1) += 1.0;
  }
  // The other one, from its beginning, which u gives: a or b_1 is u minus the one known by now.
  const int known = n % 2 == 0 ? 1 : 0, start = 1 - known;
  b_of_x.row(start) = -b_of_x.row(known);
  b_of_u[start] = 1.0;
  for (int k = start + 1; k + 1 <= n; k += 2) {
    b_of_x.row(k + 1) = b_of_x.row(k - 1);
    b_of_x(k + 1, k - 1) -= 1.0;
    b_of_u[k + 1] = b_of_u[k - 1];
  }
  VectorXd root(n);
  for (int k = 1; k <= n; ++k) root[k - 1] = std::sqrt(2.0 * (2 * k - 1) / delay);
  const MatrixXd A = root.asDiagonal() * b_of_x.middleRows(1, n) * root.asDiagonal();
  const VectorXd B = root.asDiagonal() * b_of_u.segment(1, n);
  const Eigen::RowVectorXd C = (b_of_x.row(0) - b_of_x.row(1)) * root.asDiagonal();
  return ss(A, B, C, MatrixXd::Constant(1, 1, b_of_u[0] - b_of_u[1]));
}

StateSpace pade(const StateSpace& system, int order, int sections) {
  system.validate();
  if (!system.has_delay()) return system;
  if (system.is_discrete()) throw Error("pade: the system is sampled; absorb_delays() is exact");
  const auto block = [&](const VectorXd& delays, int count) {
    std::vector<StateSpace> channels;
    for (int i = 0; i < count; ++i) {
      const double delay = delay_at(delays, i);
      channels.push_back(delay > 0.0 ? pade(delay, order, sections) : ss(MatrixXd::Ones(1, 1)));
    }
    return append(channels);
  };
  StateSpace inner = system;
  inner.fill_names();
  inner.input_delay.resize(0);
  inner.output_delay.resize(0);
  StateSpace result = inner;
  if (system.input_delay.size() > 0) {
    StateSpace before = block(system.input_delay, system.input_count());
    for (std::size_t i = 0; i < before.states.size(); ++i)
      before.states[i] = "delay_in" + std::to_string(i + 1);
    result = series(before, result);
  }
  if (system.output_delay.size() > 0) {
    StateSpace after = block(system.output_delay, system.output_count());
    for (std::size_t i = 0; i < after.states.size(); ++i)
      after.states[i] = "delay_out" + std::to_string(i + 1);
    result = series(result, after);
  }
  result.inputs = inner.inputs;
  result.outputs = inner.outputs;
  result.input_units = inner.input_units;
  result.output_units = inner.output_units;
  return result;
}

}  // namespace catena
