// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/demo_systems.h"

#include <cmath>
#include <random>

#include "catena/base/error.h"
#include "catena/linear/algebra.h"

namespace catena::demo {
using Eigen::MatrixXd;

StateSpace dc_motor(const DcMotorSettings& s) {
  // States: armature current, speed, angle.
  MatrixXd A(3, 3), B(3, 1), C(2, 3);
  A << -s.resistance / s.inductance, -s.torque_constant / s.inductance, 0.0,
      s.torque_constant / s.inertia, -s.friction / s.inertia, 0.0, 0.0, 1.0, 0.0;
  B << 1.0 / s.inductance, 0.0, 0.0;
  C << 0.0, 1.0, 0.0, 0.0, 0.0, 1.0;
  StateSpace g = ss(A, B, C);
  g.states = {"current", "speed", "angle"};
  g.inputs = {"voltage"};
  g.outputs = {"speed", "angle"};
  g.state_units = {"A", "rad/s", "rad"};
  g.input_units = {"V"};
  g.output_units = {"rad/s", "rad"};
  return g;
}

StateSpace double_mass(const DoubleMassSettings& s) {
  MatrixXd A = MatrixXd::Zero(4, 4), B = MatrixXd::Zero(4, 1), C = MatrixXd::Zero(2, 4);
  A.topRightCorner(2, 2).setIdentity();
  A.row(2) << -s.stiffness, s.stiffness, -s.damping, s.damping;
  A.row(3) << s.stiffness, -s.stiffness, s.damping, -s.damping;
  A.row(2) /= s.m1;
  A.row(3) /= s.m2;
  B(2, 0) = 1.0 / s.m1;
  C.leftCols(2).setIdentity();
  StateSpace g = ss(A, B, C);
  g.states = {"x1", "x2", "v1", "v2"};
  g.inputs = {"force"};
  g.outputs = {"x1", "x2"};
  g.state_units = {"m", "m", "m/s", "m/s"};
  g.input_units = {"N"};
  g.output_units = {"m", "m"};
  return g;
}

SecondOrder beam(const BeamSettings& s) {
  if (s.elements < 1 || !(s.length > 0.0) || !(s.bending > 0.0) || !(s.mass_per_length > 0.0))
    throw Error("beam: elements, length, bending and mass_per_length must be positive");
  // Consistent matrices of the cubic element in (w1, θ1, w2, θ2) [Craig & Kurdila 2006].
  const double l = s.length / s.elements;
  MatrixXd k(4, 4), m(4, 4);
  k << 12.0, 6.0 * l, -12.0, 6.0 * l, 6.0 * l, 4.0 * l * l, -6.0 * l, 2.0 * l * l, -12.0, -6.0 * l,
      12.0, -6.0 * l, 6.0 * l, 2.0 * l * l, -6.0 * l, 4.0 * l * l;
  m << 156.0, 22.0 * l, 54.0, -13.0 * l, 22.0 * l, 4.0 * l * l, 13.0 * l, -3.0 * l * l, 54.0,
      13.0 * l, 156.0, -22.0 * l, -13.0 * l, -3.0 * l * l, -22.0 * l, 4.0 * l * l;
  k *= s.bending / (l * l * l);
  m *= s.mass_per_length * l / 420.0;
  const int n = 2 * s.elements;
  std::vector<Eigen::Triplet<double>> mass, stiffness;
  for (int e = 0; e < s.elements; ++e)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        const int row = 2 * e + i - 2, col = 2 * e + j - 2;  // the first node is clamped
        if (row < 0 || col < 0) continue;
        mass.emplace_back(row, col, m(i, j));
        stiffness.emplace_back(row, col, k(i, j));
      }
  SecondOrder structure;
  structure.M.resize(n, n);
  structure.K.resize(n, n);
  structure.M.setFromTriplets(mass.begin(), mass.end());
  structure.K.setFromTriplets(stiffness.begin(), stiffness.end());
  structure.B = MatrixXd::Zero(n, 1);
  structure.B(n - 2, 0) = 1.0;
  structure.Cq = structure.B.transpose();
  for (int e = 1; e <= s.elements; ++e) {
    structure.freedoms.push_back("w" + std::to_string(e));
    structure.freedoms.push_back("slope" + std::to_string(e));
  }
  structure.inputs = {"tip force"};
  structure.outputs = {"tip"};
  return structure;
}

StateSpace flexible_beam(int modes, const BeamSettings& settings) {
  return state_space(modal(beam(settings), modes, settings.damping));
}

StateSpace cart_pendulum(const CartPendulumSettings& s) {
  // [M+m, m l; m l, I + m l²] (ẍ, φ̈) = (u − b ẋ, m g l φ), φ from the upright position.
  const double ml = s.pendulum * s.length;
  const double a = s.cart + s.pendulum, c = s.inertia + ml * s.length;
  const double determinant = a * c - ml * ml;
  MatrixXd A = MatrixXd::Zero(4, 4), B = MatrixXd::Zero(4, 1), C = MatrixXd::Zero(2, 4);
  A.topRightCorner(2, 2).setIdentity();
  A(2, 1) = -ml * ml * s.gravity / determinant;
  A(2, 2) = -c * s.friction / determinant;
  A(3, 1) = a * ml * s.gravity / determinant;
  A(3, 2) = ml * s.friction / determinant;
  B(2, 0) = c / determinant;
  B(3, 0) = -ml / determinant;
  C.leftCols(2).setIdentity();
  StateSpace g = ss(A, B, C);
  g.states = {"position", "angle", "speed", "angle rate"};
  g.inputs = {"force"};
  g.outputs = {"position", "angle"};
  g.state_units = {"m", "rad", "m/s", "rad/s"};
  g.input_units = {"N"};
  g.output_units = {"m", "rad"};
  return g;
}

StateSpace lag_with_delay(double gain, double time_constant, double delay) {
  if (!(time_constant > 0.0)) throw Error("lag_with_delay: the time constant must be positive");
  StateSpace g = ss(MatrixXd::Constant(1, 1, -1.0 / time_constant), MatrixXd::Ones(1, 1),
                    MatrixXd::Constant(1, 1, gain / time_constant));
  g.input_delay = Eigen::VectorXd::Constant(1, delay);
  g.validate();
  return g;
}

StateSpace random_structure(unsigned seed, int modes, int inputs, int outputs, double damping) {
  if (modes < 1 || inputs < 1 || outputs < 1)
    throw Error("random_structure: modes, inputs and outputs must be at least 1");
  // The engine is the same everywhere; the distributions of the standard library are not.
  std::mt19937 engine(seed);
  const auto uniform = [&] { return (static_cast<double>(engine()) + 0.5) / 4294967296.0; };
  const auto normal = [&] {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * M_PI * uniform());
  };
  const auto matrix = [&](int rows, int cols) {
    MatrixXd a(rows, cols);
    for (int j = 0; j < cols; ++j)
      for (int i = 0; i < rows; ++i) a(i, j) = normal();
    return a;
  };
  const int n = 2 * modes;
  MatrixXd A = MatrixXd::Zero(n, n);
  for (int i = 0; i < modes; ++i) {
    const double w = std::pow(10.0, -1.0 + 3.0 * uniform());
    A(2 * i, 2 * i + 1) = w;
    A(2 * i + 1, 2 * i) = -w;
    A(2 * i + 1, 2 * i + 1) = -2.0 * damping * w;
  }
  const MatrixXd B = matrix(n, inputs), C = matrix(outputs, n);
  const MatrixXd mix = MatrixXd::Identity(n, n) + 0.3 / std::sqrt(n) * matrix(n, n);
  return similarity(ss(A, B, C), mix);
}

}  // namespace catena::demo
