// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/state_space.h"

#include <cmath>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/model/mechanism.h"
#include "catena/sensitivity/linearize.h"

namespace catena {
namespace {

std::string shape(const Eigen::MatrixXd& a) {
  return std::to_string(a.rows()) + " x " + std::to_string(a.cols());
}

void require_finite_field(const Eigen::MatrixXd& a, const char* name) {
  if (a.allFinite()) return;
  for (Eigen::Index j = 0; j < a.cols(); ++j)
    for (Eigen::Index i = 0; i < a.rows(); ++i)
      if (!std::isfinite(a(i, j)))
        throw NumericalError(std::string("state space: ") + name + "(" + std::to_string(i + 1) +
                             ", " + std::to_string(j + 1) + ") is " + number(a(i, j)) +
                             "; all entries must be finite");
}

void require_count(const std::vector<std::string>& list, Eigen::Index count, const char* field,
                   const char* matrix) {
  if (list.empty() || std::ssize(list) == count) return;
  throw Error(std::string("state space: ") + std::to_string(list.size()) + " " + field + ", but " +
              matrix + " asks for " + std::to_string(count) +
              "; leave the list empty for defaults");
}

void require_distinct(const std::vector<std::string>& names, const char* field) {
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw Error(std::string("state space: the name '") + *twice + "' appears twice among the " +
                field + "; rename one of them");
}

void require_delays(const Eigen::VectorXd& delays, Eigen::Index count, const char* field) {
  if (delays.size() == 0) return;
  if (delays.size() != count)
    throw Error(std::string("state space: ") + field + " has " + std::to_string(delays.size()) +
                " entries, but there are " + std::to_string(count) + " signals");
  for (Eigen::Index i = 0; i < count; ++i)
    if (!std::isfinite(delays[i]) || delays[i] < 0.0)
      throw Error(std::string("state space: ") + field + "(" + std::to_string(i + 1) + ") is " +
                  number(delays[i]) + " s; a delay is finite and not negative");
}

std::vector<std::string> default_names(char letter, Eigen::Index count) {
  std::vector<std::string> names;
  for (Eigen::Index i = 1; i <= count; ++i) names.push_back(letter + std::to_string(i));
  return names;
}

int index_of(std::string_view name, const std::vector<std::string>& given, char letter,
             Eigen::Index count, const char* kind) {
  const std::vector<std::string> names = given.empty() ? default_names(letter, count) : given;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  std::string message = std::string("the system has no ") + kind + " '" + std::string(name) + "'";
  const std::string near = did_you_mean(name, names);
  message += near.empty() && !names.empty() && names.size() < 20 ? " (it has " + listed(names) + ")"
                                                                 : near;
  throw NameError(message);
}

std::string name_at(const std::vector<std::string>& names, char letter, int i) {
  return names.empty() ? letter + std::to_string(i + 1) : at(names, i);
}

void require_point(const SystemPoint& point, const StateSpace& system) {
  const auto fits = [](const Eigen::VectorXd& value, Eigen::Index count, const char* field) {
    if (value.size() != 0 && value.size() != count)
      throw Error(std::string("state space: ") + field + " of the operating point has " +
                  std::to_string(value.size()) + " entries, the system " + std::to_string(count));
    require_finite_field(value, field);
  };
  fits(point.x0, system.order(), "x0");
  fits(point.u0, system.input_count(), "u0");
  fits(point.y0, system.output_count(), "y0");
  require_finite_field(point.q, "q of the operating point");
  require_finite_field(point.v, "v of the operating point");
}

}  // namespace

bool StateSpace::has_delay() const {
  return (input_delay.size() > 0 && input_delay.maxCoeff() > 0.0) ||
         (output_delay.size() > 0 && output_delay.maxCoeff() > 0.0);
}

Eigen::MatrixXd StateSpace::delays() const {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(D.rows(), D.cols());
  if (input_delay.size() > 0) sum.rowwise() += input_delay.transpose();
  if (output_delay.size() > 0) sum.colwise() += output_delay;
  return sum;
}

void StateSpace::validate() const {
  const Eigen::Index n = A.rows(), m = D.cols(), p = D.rows();
  if (A.cols() != n) throw Error("state space: A is " + shape(A) + ", it must be square");
  if (B.rows() != n || B.cols() != m)
    throw Error("state space: B is " + shape(B) + "; with A " + shape(A) + " and D " + shape(D) +
                " it must be " + std::to_string(n) + " x " + std::to_string(m));
  if (C.rows() != p || C.cols() != n)
    throw Error("state space: C is " + shape(C) + "; with A " + shape(A) + " and D " + shape(D) +
                " it must be " + std::to_string(p) + " x " + std::to_string(n));
  if (E.size() != 0 && (E.rows() != n || E.cols() != n))
    throw Error("state space: E is " + shape(E) + ", A is " + shape(A) +
                "; leave E empty for the identity");
  if (!std::isfinite(dt) || dt < 0.0)
    throw Error("state space: the sample time dt is " + number(dt) +
                " s; it must be positive, or 0 for a continuous system");
  require_finite_field(A, "A");
  require_finite_field(B, "B");
  require_finite_field(C, "C");
  require_finite_field(D, "D");
  require_finite_field(E, "E");
  require_count(states, n, "states", "A");
  require_count(inputs, m, "inputs", "D");
  require_count(outputs, p, "outputs", "D");
  require_count(state_units, n, "state_units", "A");
  require_count(input_units, m, "input_units", "D");
  require_count(output_units, p, "output_units", "D");
  require_distinct(states, "states");
  require_distinct(inputs, "inputs");
  require_distinct(outputs, "outputs");
  require_delays(input_delay, m, "input_delay");
  require_delays(output_delay, p, "output_delay");
  if (point) require_point(*point, *this);
}

void StateSpace::fill_names() {
  if (states.empty()) states = default_names('x', A.rows());
  if (inputs.empty()) inputs = default_names('u', D.cols());
  if (outputs.empty()) outputs = default_names('y', D.rows());
}

int StateSpace::input_index(std::string_view name) const {
  return index_of(name, inputs, 'u', D.cols(), "input");
}
int StateSpace::output_index(std::string_view name) const {
  return index_of(name, outputs, 'y', D.rows(), "output");
}
int StateSpace::state_index(std::string_view name) const {
  return index_of(name, states, 'x', A.rows(), "state");
}
std::string StateSpace::input_name(int i) const { return name_at(inputs, 'u', i); }
std::string StateSpace::output_name(int i) const { return name_at(outputs, 'y', i); }
std::string StateSpace::state_name(int i) const { return name_at(states, 'x', i); }

StateSpace ss(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B, const Eigen::MatrixXd& C,
              const Eigen::MatrixXd& D, double dt) {
  StateSpace system;
  system.A = A;
  system.B = B;
  system.C = C;
  system.D = D.size() == 0 && D.rows() == 0 && D.cols() == 0
                 ? Eigen::MatrixXd::Zero(C.rows(), B.cols())
                 : D;
  system.dt = dt;
  system.validate();
  system.fill_names();
  return system;
}

StateSpace ss(const Eigen::MatrixXd& D, double dt) {
  return ss(Eigen::MatrixXd(0, 0), Eigen::MatrixXd(0, D.cols()), Eigen::MatrixXd(D.rows(), 0), D,
            dt);
}

StateSpace dss(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B, const Eigen::MatrixXd& C,
               const Eigen::MatrixXd& D, const Eigen::MatrixXd& E, double dt) {
  StateSpace system = ss(A, B, C, D, dt);
  system.E = E;
  system.validate();
  return system;
}

StateSpace state_space(const LinearModel& model) {
  StateSpace system;
  system.A = model.A;
  system.B = model.B;
  system.C = model.C;
  system.D = model.D;
  system.states = model.states;
  system.inputs = model.inputs;
  system.outputs = model.outputs;
  SystemPoint point;
  point.q = model.point.state.q;
  point.v = model.point.state.v;
  system.point = point;
  system.fill_names();
  system.validate();
  return system;
}

namespace {

// The freedom behind "kind.NAME", or −1.
int freedom_of(const std::string& signal, const std::string& kind, const Mechanism& mechanism) {
  if (!signal.starts_with(kind + ".")) return -1;
  const auto names = mechanism.velocity_names();
  const auto found = std::find(names.begin(), names.end(), signal.substr(kind.size() + 1));
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

// Positions that are no coordinates (rotations by quaternion) are counted from the point: zero.
double position_value(const Mechanism& mechanism, const Eigen::VectorXd& q, int freedom) {
  const int coordinate = mechanism.coordinate_of_freedom()[index(freedom)];
  return coordinate >= 0 ? q[coordinate] : 0.0;
}

// Efforts and accelerations of freedoms at the point; forces on bodies are zero there.
Eigen::VectorXd input_values(const LinearModel& model, const Mechanism& mechanism) {
  Eigen::VectorXd u0 = Eigen::VectorXd::Zero(std::ssize(model.inputs));
  for (Eigen::Index j = 0; j < u0.size(); ++j) {
    const int effort = freedom_of(at(model.inputs, j), "effort", mechanism);
    const int acceleration = freedom_of(at(model.inputs, j), "a", mechanism);
    if (effort >= 0 && effort < model.point.effort.size()) u0[j] = model.point.effort[effort];
    if (acceleration >= 0 && acceleration < model.point.acceleration.size())
      u0[j] = model.point.acceleration[acceleration];
  }
  return u0;
}

// Empty if an output is something else than a position, speed or acceleration of a freedom.
Eigen::VectorXd output_values(const LinearModel& model, const Mechanism& mechanism) {
  Eigen::VectorXd y0(std::ssize(model.outputs));
  for (Eigen::Index i = 0; i < y0.size(); ++i) {
    const std::string& name = at(model.outputs, i);
    if (const int q = freedom_of(name, "q", mechanism); q >= 0)
      y0[i] = position_value(mechanism, model.point.state.q, q);
    else if (const int v = freedom_of(name, "v", mechanism); v >= 0)
      y0[i] = model.point.state.v[v];
    else if (const int a = freedom_of(name, "a", mechanism); a >= 0)
      y0[i] = model.acceleration[a];
    else
      return {};
  }
  return y0;
}

}  // namespace

StateSpace state_space(const LinearModel& model, const Mechanism& mechanism) {
  StateSpace system = state_space(model);
  SystemPoint& point = *system.point;
  point.mechanism = mechanism.name();
  point.u0 = input_values(model, mechanism);
  point.y0 = output_values(model, mechanism);
  const Eigen::Index count = std::ssize(model.freedoms);
  if (system.order() != 2 * count) return system;
  point.x0.resize(2 * count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const int freedom = at(model.freedoms, i);
    point.x0[i] = position_value(mechanism, point.q, freedom);
    point.x0[count + i] = point.v[freedom];
  }
  return system;
}

namespace {

// E = U diag(S, 0) Vᵀ; with x = V (x1, x2) the last rows are 0 = A21 x1 + A22 x2 + B2 u.
StateSpace without_algebraic_states(const StateSpace& system) {
  const Eigen::Index n = system.order();
  const lapack::Svd svd = lapack::svd(system.E, lapack::Columns::full);
  const double rounding = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  const Eigen::Index r = (svd.values.array() > rounding * svd.values[0]).count();
  const Eigen::MatrixXd A = svd.U.transpose() * system.A * svd.V;
  const Eigen::MatrixXd B = svd.U.transpose() * system.B, C = system.C * svd.V;
  const lapack::Lu a22(A.bottomRightCorner(n - r, n - r));
  if (a22.rcond() < std::numeric_limits<double>::epsilon())
    throw NumericalError(
        "state space: E is singular and its algebraic equations do not determine the " +
        std::to_string(n - r) +
        " algebraic states (index above one): the descriptor system has no explicit form; "
        "differentiate the constraints or use fewer states");
  const Eigen::MatrixXd x2_of_x1 = -a22.solve(A.bottomLeftCorner(n - r, r));
  const Eigen::MatrixXd x2_of_u = -a22.solve(B.bottomRows(n - r));
  const Eigen::VectorXd inverse_s = svd.values.head(r).cwiseInverse();
  StateSpace result = system;
  result.E.resize(0, 0);
  result.A =
      inverse_s.asDiagonal() * (A.topLeftCorner(r, r) + A.topRightCorner(r, n - r) * x2_of_x1);
  result.B = inverse_s.asDiagonal() * (B.topRows(r) + A.topRightCorner(r, n - r) * x2_of_u);
  result.C = C.leftCols(r) + C.rightCols(n - r) * x2_of_x1;
  result.D = system.D + C.rightCols(n - r) * x2_of_u;
  result.states.clear();
  result.state_units.clear();
  if (result.point && result.point->x0.size() > 0)
    result.point->x0 = Eigen::VectorXd(svd.V.leftCols(r).transpose() * system.point->x0);
  result.fill_names();
  return result;
}

}  // namespace

StateSpace explicit_form(const StateSpace& system) {
  system.validate();
  if (!system.is_descriptor()) return system;
  const lapack::Lu lu(system.E);
  if (lu.rcond() < static_cast<double>(system.order()) * std::numeric_limits<double>::epsilon())
    return without_algebraic_states(system);
  StateSpace result = system;
  result.A = lu.solve(system.A);
  result.B = lu.solve(system.B);
  result.E.resize(0, 0);
  return result;
}

}  // namespace catena
