// SPDX-License-Identifier: BSD-3-Clause
// A linear time-invariant system in state space, continuous or discrete,
//
//   E ẋ = A x + B u,   y = C x + D u          (continuous; E empty: identity)
//   E x[k+1] = A x[k] + B u[k],  y = C x + D u (discrete, sample time dt)
//
// with names and units of its signals, delays of inputs and outputs, and the operating point about
// which it was linearized. u(t − input_delay) enters, and outputs leave output_delay later.
//
//   StateSpace plant = ss(A, B, C, D);
//   plant.inputs = {"torque"};
//   const StateSpace robot = state_space(linearize(mechanism, {state, effort}));
//
// A plain struct: change its fields freely and call validate() after it; every function that takes
// a system calls it. Values of x, u and y are deviations from the operating point.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

namespace catena {

struct LinearModel;
class Mechanism;

// Where the linear model holds: values of its states, inputs and outputs there, and the state of
// the mechanism that it came from.
struct SystemPoint {
  std::string mechanism{};           // its name; empty: not from a mechanism
  Eigen::VectorXd q{}, v{};          // state of the mechanism
  Eigen::VectorXd x0{}, u0{}, y0{};  // empty: zero
};

struct StateSpace {
  Eigen::MatrixXd A{}, B{}, C{}, D{};
  Eigen::MatrixXd E{};  // empty: identity
  double dt = 0.0;      // sample time, s; 0: continuous
  // Names; filled by x1, u1, y1, ... when empty. Units as text ("rad", "N m"); empty: not known.
  std::vector<std::string> states{}, inputs{}, outputs{};
  std::vector<std::string> state_units{}, input_units{}, output_units{};
  Eigen::VectorXd input_delay{}, output_delay{};  // s; empty: none
  std::optional<SystemPoint> point{};

  int order() const { return static_cast<int>(A.rows()); }
  int input_count() const { return static_cast<int>(D.cols()); }
  int output_count() const { return static_cast<int>(D.rows()); }
  bool is_continuous() const { return dt == 0.0; }
  bool is_discrete() const { return dt != 0.0; }
  bool is_descriptor() const { return E.size() != 0; }
  bool is_siso() const { return D.rows() == 1 && D.cols() == 1; }
  bool has_delay() const;
  // input_delay(j) + output_delay(i) as a matrix, outputs × inputs.
  Eigen::MatrixXd delays() const;

  // Throws Error naming the field that does not fit, and NumericalError for NaN or infinite
  // entries. Does not fill in names.
  void validate() const;
  // Fills empty lists of names by x1, x2, ...; u1, ...; y1, ....
  void fill_names();

  // Index of a signal; an unknown name throws NameError with the nearest name. Systems whose names
  // are not filled in answer to x1, u1, y1.
  int input_index(std::string_view name) const;
  int output_index(std::string_view name) const;
  int state_index(std::string_view name) const;
  // The name, or its default.
  std::string input_name(int i) const;
  std::string output_name(int i) const;
  std::string state_name(int i) const;
};

// Validated, with default names. D empty (0 × 0) is zero of the fitting size.
StateSpace ss(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B, const Eigen::MatrixXd& C,
              const Eigen::MatrixXd& D = {}, double dt = 0.0);
// A constant gain, without states.
StateSpace ss(const Eigen::MatrixXd& D, double dt = 0.0);
// Descriptor form E ẋ = A x + B u.
StateSpace dss(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B, const Eigen::MatrixXd& C,
               const Eigen::MatrixXd& D, const Eigen::MatrixXd& E, double dt = 0.0);

// What linearize() returns, with its names and operating point. Give the mechanism for its name and
// for the values x0, u0, y0 (y0 if all outputs are positions, speeds or accelerations of freedoms).
StateSpace state_space(const LinearModel& model);
StateSpace state_space(const LinearModel& model, const Mechanism& mechanism);

// The same system without E. A regular E is divided out. If E is singular, the algebraic equations
// among E ẋ = A x + B u are solved for as many states, which leaves rank(E) states with default
// names; this throws NumericalError if it cannot be done (index above one: the response to a step
// would contain impulses).
StateSpace explicit_form(const StateSpace& system);

}  // namespace catena
