// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/algebra.h"

#include <cmath>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/signals.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

std::string rate(const StateSpace& system) {
  return system.is_continuous() ? "continuous" : "sampled with " + number(system.dt) + " s";
}

void require_match(Eigen::Index a, Eigen::Index b, const std::string& what) {
  if (a != b)
    throw Error(what + ": " + std::to_string(a) + " and " + std::to_string(b) + " signals");
}

MatrixXd block_diagonal(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd result = MatrixXd::Zero(a.rows() + b.rows(), a.cols() + b.cols());
  result.topLeftCorner(a.rows(), a.cols()) = a;
  result.bottomRightCorner(b.rows(), b.cols()) = b;
  return result;
}

// A system without its delays at these ends; throws if it has some there and is continuous.
StateSpace without_inner_delays(const StateSpace& system, bool inputs, bool outputs,
                                const char* operation) {
  const auto delayed = [](const VectorXd& delay) {
    return delay.size() > 0 && delay.maxCoeff() > 0.0;
  };
  const bool in = inputs && delayed(system.input_delay);
  const bool out = outputs && delayed(system.output_delay);
  if (!in && !out) return system;
  if (system.is_discrete()) return absorb_delays(system);
  const VectorXd& delay = in ? system.input_delay : system.output_delay;
  Eigen::Index worst = 0;
  delay.maxCoeff(&worst);
  const int signal = static_cast<int>(worst);
  throw Error(
      std::string(operation) + ": the delay of " + number(delay[worst]) + " s of " +
      (in ? "input '" + system.input_name(signal) : "output '" + system.output_name(signal)) +
      "' would stand inside the connection; approximate it by pade() or sample the system "
      "by c2d() first");
}

VectorXd concatenated(const VectorXd& a, Eigen::Index na, const VectorXd& b, Eigen::Index nb) {
  VectorXd result = VectorXd::Zero(na + nb);
  if (a.size() > 0) result.head(na) = a;
  if (b.size() > 0) result.tail(nb) = b;
  return result;
}

VectorXd concatenated_delays(const VectorXd& a, Eigen::Index na, const VectorXd& b,
                             Eigen::Index nb) {
  if (a.size() == 0 && b.size() == 0) return {};
  return concatenated(a, na, b, nb);
}

std::optional<SystemPoint> joined_points(const StateSpace& a, const StateSpace& b) {
  if (!a.point && !b.point) return std::nullopt;
  const SystemPoint none;
  const SystemPoint &pa = a.point ? *a.point : none, &pb = b.point ? *b.point : none;
  SystemPoint joined;
  // Of two mechanisms neither state stands for the whole.
  if (pa.q.size() == 0 || pb.q.size() == 0) {
    const SystemPoint& source = pa.q.size() > 0 ? pa : pb;
    joined.mechanism = source.mechanism;
    joined.q = source.q;
    joined.v = source.v;
  }
  joined.x0 = concatenated(pa.x0, a.order(), pb.x0, b.order());
  joined.u0 = concatenated(pa.u0, a.input_count(), pb.u0, b.input_count());
  joined.y0 = concatenated(pa.y0, a.output_count(), pb.y0, b.output_count());
  return joined;
}

// Names of states and the operating point's state survive any connection; those of signals do not.
void keep_states(const StateSpace& from, StateSpace& to) {
  to.states = from.states;
  to.state_units = from.state_units;
  if (!from.point) return;
  to.point = SystemPoint{from.point->mechanism, from.point->q, from.point->v, from.point->x0};
}

void copy_inputs(const StateSpace& from, StateSpace& to) {
  to.inputs = from.inputs;
  to.input_units = from.input_units;
  to.input_delay = from.input_delay;
  if (to.point && from.point) to.point->u0 = from.point->u0;
}

void copy_outputs(const StateSpace& from, StateSpace& to) {
  to.outputs = from.outputs;
  to.output_units = from.output_units;
  to.output_delay = from.output_delay;
  if (to.point && from.point) to.point->y0 = from.point->y0;
}

MatrixXd identity_block(Eigen::Index rows, Eigen::Index cols, Eigen::Index row, Eigen::Index col,
                        Eigen::Index size) {
  MatrixXd result = MatrixXd::Zero(rows, cols);
  result.block(row, col, size, size).setIdentity();
  return result;
}

}  // namespace

double common_dt(const StateSpace& a, const StateSpace& b, const char* operation) {
  if (a.dt == b.dt) return a.dt;
  // A gain works at any rate.
  if (a.order() == 0 && a.is_continuous() && !a.has_delay()) return b.dt;
  if (b.order() == 0 && b.is_continuous() && !b.has_delay()) return a.dt;
  if (a.is_discrete() && b.is_discrete() && std::abs(a.dt - b.dt) <= 1e-12 * a.dt) return a.dt;
  throw Error(std::string(operation) + ": the first system is " + rate(a) + ", the second is " +
              rate(b) + "; convert one of them by c2d() or d2c()");
}

StateSpace append(const StateSpace& a, const StateSpace& b) {
  a.validate();
  b.validate();
  StateSpace result;
  result.dt = common_dt(a, b, "append");
  result.A = block_diagonal(a.A, b.A);
  result.B = block_diagonal(a.B, b.B);
  result.C = block_diagonal(a.C, b.C);
  result.D = block_diagonal(a.D, b.D);
  if (a.is_descriptor() || b.is_descriptor())
    result.E = block_diagonal(a.is_descriptor() ? a.E : MatrixXd::Identity(a.order(), a.order()),
                              b.is_descriptor() ? b.E : MatrixXd::Identity(b.order(), b.order()));
  StateSpace left = a, right = b;
  left.fill_names();
  right.fill_names();
  result.states = joined_names(left.states, right.states);
  result.inputs = joined_names(left.inputs, right.inputs);
  result.outputs = joined_names(left.outputs, right.outputs);
  result.state_units = joined_units(a.state_units, a.order(), b.state_units, b.order());
  result.input_units = joined_units(a.input_units, a.input_count(), b.input_units, b.input_count());
  result.output_units =
      joined_units(a.output_units, a.output_count(), b.output_units, b.output_count());
  result.input_delay =
      concatenated_delays(a.input_delay, a.input_count(), b.input_delay, b.input_count());
  result.output_delay =
      concatenated_delays(a.output_delay, a.output_count(), b.output_delay, b.output_count());
  result.point = joined_points(a, b);
  return result;
}

StateSpace append(std::span<const StateSpace> systems) {
  if (systems.empty()) throw Error("append: no systems");
  StateSpace result = systems[0];
  result.fill_names();
  for (const StateSpace& next : systems.subspan(1)) result = append(result, next);
  return result;
}

StateSpace close_loops(const StateSpace& system, const MatrixXd& F, const MatrixXd& W,
                       const MatrixXd& S, const MatrixXd& V) {
  const Eigen::Index m = system.input_count();
  // u = (1 − F D)⁻¹ (F C x + W r).
  const lapack::Lu lu(MatrixXd::Identity(m, m) - F * system.D);
  if (lu.rcond() < 4.0 * std::numeric_limits<double>::epsilon())
    throw NumericalError("the loop is not well posed: 1 - F D has the reciprocal condition " +
                         short_number(lu.rcond()) +
                         "; a direct feedthrough in the loop must change");
  const MatrixXd u_of_x = lu.solve(F * system.C), u_of_r = lu.solve(W);
  StateSpace result;
  result.dt = system.dt;
  result.E = system.E;
  result.A = system.A + system.B * u_of_x;
  result.B = system.B * u_of_r;
  result.C = S * (system.C + system.D * u_of_x);
  result.D = S * (system.D * u_of_r);
  if (V.size() > 0) result.D += V;
  keep_states(system, result);
  result.fill_names();
  return result;
}

StateSpace series(const StateSpace& first_system, const StateSpace& second_system) {
  require_match(first_system.output_count(), second_system.input_count(),
                "series: outputs of the first and inputs of the second system");
  // A delay that all inner signals share may stand at the inputs instead.
  StateSpace first = first_system, second = second_system;
  first.fill_names();
  second.fill_names();
  VectorXd inner = VectorXd::Zero(first.output_count());
  if (first.output_delay.size() > 0) inner += first.output_delay;
  if (second.input_delay.size() > 0) inner += second.input_delay;
  const double shared = inner.size() > 0 ? inner[0] : 0.0;
  if (inner.size() > 0 && (inner.array() - shared).abs().maxCoeff() <= 1e-12 * std::abs(shared)) {
    first.output_delay.resize(0);
    second.input_delay.resize(0);
    if (shared > 0.0) {
      if (first.input_delay.size() == 0) first.input_delay = VectorXd::Zero(first.input_count());
      first.input_delay.array() += shared;
    }
  } else {
    first = without_inner_delays(first, false, true, "series");
    second = without_inner_delays(second, true, false, "series");
  }
  const Eigen::Index m1 = first.input_count(), m2 = second.input_count();
  const Eigen::Index p1 = first.output_count(), p2 = second.output_count();
  const StateSpace both = append(first, second);
  StateSpace result =
      close_loops(both, identity_block(m1 + m2, p1 + p2, m1, 0, p1),
                  identity_block(m1 + m2, m1, 0, 0, m1), identity_block(p2, p1 + p2, 0, p1, p2));
  copy_inputs(first, result);
  copy_outputs(second, result);
  return result;
}

StateSpace parallel(const StateSpace& a_system, const StateSpace& b_system) {
  require_match(a_system.input_count(), b_system.input_count(), "parallel: inputs");
  require_match(a_system.output_count(), b_system.output_count(), "parallel: outputs");
  StateSpace a = a_system, b = b_system;
  if ((a.has_delay() || b.has_delay()) && a.D.size() > 0 &&
      (a.delays() - b.delays()).cwiseAbs().maxCoeff() > 1e-12 * a.delays().maxCoeff()) {
    a = without_inner_delays(a, true, true, "parallel");
    b = without_inner_delays(b, true, true, "parallel");
  }
  const Eigen::Index m = a.input_count(), p = a.output_count();
  MatrixXd W(2 * m, m), S(p, 2 * p);
  W << MatrixXd::Identity(m, m), MatrixXd::Identity(m, m);
  S << MatrixXd::Identity(p, p), MatrixXd::Identity(p, p);
  StateSpace result = close_loops(append(a, b), MatrixXd::Zero(2 * m, 2 * p), W, S);
  a.fill_names();
  copy_inputs(a, result);
  copy_outputs(a, result);
  return result;
}

StateSpace feedback(const StateSpace& forward_system, const StateSpace& back_system, int sign) {
  require_match(forward_system.output_count(), back_system.input_count(),
                "feedback: outputs of the forward system and inputs of the one in the feedback");
  require_match(forward_system.input_count(), back_system.output_count(),
                "feedback: inputs of the forward system and outputs of the one in the feedback");
  StateSpace forward = without_inner_delays(forward_system, true, true, "feedback");
  const StateSpace back = without_inner_delays(back_system, true, true, "feedback");
  forward.fill_names();
  const Eigen::Index m = forward.input_count(), p = forward.output_count();
  MatrixXd F = MatrixXd::Zero(m + p, p + m);
  F.topRightCorner(m, m) = (sign < 0 ? -1.0 : 1.0) * MatrixXd::Identity(m, m);
  F.bottomLeftCorner(p, p).setIdentity();
  StateSpace result = close_loops(append(forward, back), F, identity_block(m + p, m, 0, 0, m),
                                  identity_block(p, p + m, 0, 0, p));
  copy_inputs(forward, result);
  copy_outputs(forward, result);
  return result;
}

StateSpace feedback(const StateSpace& forward, int sign) {
  require_match(forward.output_count(), forward.input_count(),
                "feedback: unit feedback needs as many outputs as inputs");
  return feedback(forward, ss(MatrixXd::Identity(forward.input_count(), forward.input_count())),
                  sign);
}

StateSpace star(const StateSpace& upper_system, const StateSpace& lower_system, int u_count,
                int y_count) {
  const Eigen::Index m1 = upper_system.input_count(), p1 = upper_system.output_count();
  const Eigen::Index m2 = lower_system.input_count(), p2 = lower_system.output_count();
  if (u_count < 0 || y_count < 0 || u_count > m1 || y_count > p1 || y_count > m2 || u_count > p2)
    throw Error("lft: " + std::to_string(u_count) + " control signals and " +
                std::to_string(y_count) + " measured signals do not fit the systems, which are " +
                std::to_string(p1) + " x " + std::to_string(m1) + " and " + std::to_string(p2) +
                " x " + std::to_string(m2) + " (outputs x inputs)");
  const StateSpace upper = without_inner_delays(upper_system, u_count > 0, y_count > 0, "lft");
  const StateSpace lower = without_inner_delays(lower_system, y_count > 0, u_count > 0, "lft");
  const StateSpace both = append(upper, lower);
  MatrixXd F = MatrixXd::Zero(m1 + m2, p1 + p2);
  F.block(m1 - u_count, p1, u_count, u_count).setIdentity();
  F.block(m1, p1 - y_count, y_count, y_count).setIdentity();
  std::vector<int> inputs, outputs;
  for (int i = 0; i < m1 - u_count; ++i) inputs.push_back(i);
  for (int i = static_cast<int>(m1) + y_count; i < m1 + m2; ++i) inputs.push_back(i);
  for (int i = 0; i < p1 - y_count; ++i) outputs.push_back(i);
  for (int i = static_cast<int>(p1) + u_count; i < p1 + p2; ++i) outputs.push_back(i);
  StateSpace result = close_loops(both, F, MatrixXd::Identity(m1 + m2, m1 + m2),
                                  MatrixXd::Identity(p1 + p2, p1 + p2));
  copy_inputs(both, result);
  copy_outputs(both, result);
  return select(result, outputs, inputs);
}

StateSpace lft(const StateSpace& p, const StateSpace& k, LftSide side) {
  if (side == LftSide::lower) return star(p, k, k.output_count(), k.input_count());
  return star(k, p, k.input_count(), k.output_count());
}

StateSpace select(const StateSpace& system, std::span<const int> outputs,
                  std::span<const int> inputs) {
  system.validate();
  for (const int i : inputs)
    if (i < 0 || i >= system.input_count())
      throw Error("select: no input " + std::to_string(i) + "; the system has " +
                  std::to_string(system.input_count()));
  for (const int i : outputs)
    if (i < 0 || i >= system.output_count())
      throw Error("select: no output " + std::to_string(i) + "; the system has " +
                  std::to_string(system.output_count()));
  const std::vector<int> rows(outputs.begin(), outputs.end()), cols(inputs.begin(), inputs.end());
  StateSpace result = system;
  result.fill_names();
  result.B = system.B(Eigen::all, cols);
  result.C = system.C(rows, Eigen::all);
  result.D = system.D(rows, cols);
  result.inputs = picked_names(result.inputs, cols);
  result.outputs = picked_names(result.outputs, rows);
  result.input_units = picked(system.input_units, cols);
  result.output_units = picked(system.output_units, rows);
  if (system.input_delay.size() > 0) result.input_delay = system.input_delay(cols);
  if (system.output_delay.size() > 0) result.output_delay = system.output_delay(rows);
  if (result.point && result.point->u0.size() > 0)
    result.point->u0 = VectorXd(system.point->u0(cols));
  if (result.point && result.point->y0.size() > 0)
    result.point->y0 = VectorXd(system.point->y0(rows));
  return result;
}

StateSpace select(const StateSpace& system, const std::vector<std::string>& outputs,
                  const std::vector<std::string>& inputs) {
  std::vector<int> rows, cols;
  for (const std::string& name : outputs) rows.push_back(system.output_index(name));
  for (const std::string& name : inputs) cols.push_back(system.input_index(name));
  return select(system, rows, cols);
}

StateSpace transpose(const StateSpace& system) {
  system.validate();
  StateSpace result = system;
  result.fill_names();
  result.A = system.A.transpose();
  result.B = system.C.transpose();
  result.C = system.B.transpose();
  result.D = system.D.transpose();
  result.E = system.E.transpose();
  std::swap(result.inputs, result.outputs);
  std::swap(result.input_units, result.output_units);
  std::swap(result.input_delay, result.output_delay);
  result.point.reset();
  return result;
}

StateSpace scale(const StateSpace& system, double gain) {
  StateSpace result = system;
  result.C *= gain;
  result.D *= gain;
  if (result.point) result.point->y0 *= gain;
  return result;
}

StateSpace operator+(const StateSpace& a, const StateSpace& b) { return parallel(a, b); }
StateSpace operator-(const StateSpace& a, const StateSpace& b) {
  return parallel(a, scale(b, -1.0));
}
StateSpace operator-(const StateSpace& a) { return scale(a, -1.0); }
StateSpace operator*(const StateSpace& second, const StateSpace& first) {
  return series(first, second);
}
StateSpace operator*(double gain, const StateSpace& system) { return scale(system, gain); }
StateSpace operator*(const MatrixXd& gain, const StateSpace& system) {
  return series(system, ss(gain, system.dt));
}
StateSpace operator*(const StateSpace& system, const MatrixXd& gain) {
  return series(ss(gain, system.dt), system);
}

StateSpace inverse(const StateSpace& system_with_delays) {
  const StateSpace system = without_inner_delays(system_with_delays, true, true, "inverse");
  require_match(system.output_count(), system.input_count(), "inverse: outputs and inputs");
  const lapack::Lu lu(system.D);
  if (lu.rcond() < 4.0 * std::numeric_limits<double>::epsilon())
    throw NumericalError("inverse: D is singular (reciprocal condition " +
                         short_number(lu.rcond()) + "), the inverse is not proper");
  StateSpace result = system;
  result.fill_names();
  const MatrixXd inverse_d =
      lu.solve(MatrixXd::Identity(system.input_count(), system.input_count()));
  result.D = inverse_d;
  result.B = system.B * inverse_d;
  result.C = -inverse_d * system.C;
  result.A = system.A + system.B * result.C;
  std::swap(result.inputs, result.outputs);
  std::swap(result.input_units, result.output_units);
  if (result.point) std::swap(result.point->u0, result.point->y0);
  return result;
}

StateSpace similarity(const StateSpace& system, const MatrixXd& T) {
  system.validate();
  if (T.rows() != system.order() || T.cols() != system.order())
    throw Error("similarity: T is " + std::to_string(T.rows()) + " x " + std::to_string(T.cols()) +
                ", the system has " + std::to_string(system.order()) + " states");
  const lapack::Lu lu(T);
  if (lu.rcond() < std::numeric_limits<double>::epsilon())
    throw NumericalError("similarity: T is singular to working precision");
  StateSpace result = system;
  result.states.clear();
  result.state_units.clear();
  result.A = lu.solve(system.A * T);
  result.B = lu.solve(system.B);
  result.C = system.C * T;
  if (system.is_descriptor()) result.E = lu.solve(system.E * T);
  if (result.point && result.point->x0.size() > 0) result.point->x0 = lu.solve(result.point->x0);
  result.fill_names();
  return result;
}

namespace {

// A chain of `steps` unit delays, one state each.
StateSpace shift_register(int steps, double dt) {
  MatrixXd A = MatrixXd::Zero(steps, steps), B = MatrixXd::Zero(steps, 1);
  MatrixXd C = MatrixXd::Zero(1, steps);
  for (int i = 0; i + 1 < steps; ++i) A(i + 1, i) = 1.0;
  if (steps > 0) B(0, 0) = C(0, steps - 1) = 1.0;
  return ss(A, B, C, MatrixXd::Constant(1, 1, steps > 0 ? 0.0 : 1.0), dt);
}

StateSpace delay_block(const VectorXd& delay, Eigen::Index count, double dt, const char* side) {
  // More states than this are a mistake in a unit rather than a delay.
  constexpr double kMostSteps = 1e5;
  std::vector<StateSpace> channels;
  for (Eigen::Index i = 0; i < count; ++i) {
    const double steps = delay.size() > 0 ? delay[i] / dt : 0.0, whole = std::round(steps);
    if (std::abs(steps - whole) > 1e-9 * std::max(1.0, steps))
      throw Error(std::string("absorb_delays: the delay of ") + number(delay[i]) + " s of " + side +
                  " " + std::to_string(i + 1) + " is no multiple of the sample time " + number(dt) +
                  " s; c2d() of the continuous system treats fractions exactly");
    if (whole > kMostSteps)
      throw Error(std::string("absorb_delays: the delay of ") + side + " " + std::to_string(i + 1) +
                  " is " + number(whole) + " samples; more than 100000 are refused");
    channels.push_back(shift_register(static_cast<int>(whole), dt));
  }
  if (channels.empty()) return ss(MatrixXd(0, 0), dt);
  return append(channels);
}

}  // namespace

StateSpace absorb_delays(const StateSpace& system) {
  system.validate();
  if (!system.has_delay()) return system;
  if (system.is_continuous())
    throw Error(
        "absorb_delays: a delay in continuous time has no finite state; approximate it by pade() "
        "or sample the system by c2d()");
  StateSpace inner = system;
  inner.fill_names();
  inner.input_delay.resize(0);
  inner.output_delay.resize(0);
  StateSpace before = delay_block(system.input_delay, system.input_count(), system.dt, "input");
  StateSpace after = delay_block(system.output_delay, system.output_count(), system.dt, "output");
  for (std::size_t i = 0; i < before.states.size(); ++i)
    before.states[i] = "delay_in" + std::to_string(i + 1);
  for (std::size_t i = 0; i < after.states.size(); ++i)
    after.states[i] = "delay_out" + std::to_string(i + 1);
  StateSpace result = series(before, series(inner, after));
  copy_inputs(inner, result);
  copy_outputs(inner, result);
  return result;
}

}  // namespace catena
