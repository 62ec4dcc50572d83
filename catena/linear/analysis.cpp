// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/analysis.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/linear/algebra.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/minreal.h"
#include "catena/linear/zero_reduction.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;

// By modulus; conjugates stay together, the one with positive imaginary part first.
VectorXcd by_modulus(VectorXcd values) {
  std::sort(values.begin(), values.end(), [](Complex a, Complex b) {
    const double ma = std::abs(a), mb = std::abs(b);
    if (std::abs(ma - mb) > 1e-12 * std::max(ma, mb)) return ma < mb;
    if (std::abs(a.real() - b.real()) > 1e-12 * std::max(ma, mb)) return a.real() < b.real();
    return a.imag() > b.imag();
  });
  return values;
}

// Eigenvalues of the pencil (A, E) without infinite ones.
VectorXcd finite_eigenvalues(const MatrixXd& a, const MatrixXd& e) {
  const lapack::GeneralizedEigenSystem pencil = lapack::generalized_eig(a, e);
  std::vector<Complex> finite;
  const double least = std::numeric_limits<double>::epsilon() * e.norm();
  for (Eigen::Index i = 0; i < pencil.alpha.size(); ++i)
    if (std::abs(pencil.beta[i]) > least) finite.push_back(pencil.alpha[i] / pencil.beta[i]);
  return Eigen::Map<VectorXcd>(finite.data(), std::ssize(finite));
}

// The same pencil with inputs and outputs removed.
StateSpace autonomous(const StateSpace& system) {
  StateSpace result;
  result.dt = system.dt;
  result.A = system.A;
  result.E = system.E;
  result.B.resize(system.order(), 0);
  result.C.resize(0, system.order());
  result.D.resize(0, 0);
  return result;
}

}  // namespace

VectorXcd poles(const StateSpace& system) {
  system.validate();
  if (!system.is_descriptor()) return by_modulus(lapack::eigenvalues(system.A));
  if (system.order() == 0) return {};
  if (lapack::Lu(system.E).rcond() >
      static_cast<double>(system.order()) * std::numeric_limits<double>::epsilon())
    return by_modulus(finite_eigenvalues(system.A, system.E));
  const ReducedPencil pencil = reduce_zeros(autonomous(system));
  if (pencil.normal_rank < 0)
    throw NumericalError(
        "poles: the pencil sE - A is singular for every s: the equations do not determine the "
        "states; a row or column of A and E is superfluous");
  return by_modulus(finite_eigenvalues(pencil.A, pencil.E));
}

double spectral_abscissa(const StateSpace& system) {
  const VectorXcd p = poles(system);
  if (p.size() == 0) return system.is_continuous() ? -std::numeric_limits<double>::infinity() : 0.0;
  return system.is_continuous() ? p.real().maxCoeff() : p.cwiseAbs().maxCoeff();
}

bool is_stable(const StateSpace& system) {
  return spectral_abscissa(system) < (system.is_continuous() ? 0.0 : 1.0);
}

ZeroStructure zero_structure(const StateSpace& system) {
  system.validate();
  const ReducedPencil pencil = reduce_zeros(system);
  ZeroStructure result;
  result.normal_rank = pencil.normal_rank;
  if (pencil.A.rows() > 0) result.zeros = by_modulus(finite_eigenvalues(pencil.A, pencil.E));
  return result;
}

VectorXcd zeros(const StateSpace& system) { return zero_structure(system).zeros; }

std::vector<PoleInfo> damp(const VectorXcd& values, double dt) {
  std::vector<PoleInfo> result;
  for (const Complex pole : values) {
    PoleInfo info;
    info.pole = pole;
    const Complex s = dt > 0.0 ? std::log(pole) / dt : pole;
    info.frequency = std::abs(s);
    if (std::isinf(info.frequency)) {  // z = 0: a delay of one sample, faster than any decay
      info.damping = 1.0;
      info.time_constant = 0.0;
    } else {
      info.damping = info.frequency > 0.0 ? -s.real() / info.frequency : 0.0;
      info.time_constant =
          s.real() == 0.0 ? std::numeric_limits<double>::infinity() : -1.0 / s.real();
    }
    result.push_back(info);
  }
  std::stable_sort(result.begin(), result.end(), [](const PoleInfo& a, const PoleInfo& b) {
    return a.frequency < b.frequency * (1.0 - 1e-12);
  });
  return result;
}

std::vector<PoleInfo> damp(const StateSpace& system) { return damp(poles(system), system.dt); }

MatrixXcd evaluate(const StateSpace& system, Complex s) {
  system.validate();
  const Eigen::Index n = system.order();
  MatrixXcd pencil = -system.A.cast<Complex>();
  if (system.is_descriptor())
    pencil += s * system.E.cast<Complex>();
  else
    pencil.diagonal().array() += s;
  MatrixXcd y = system.D.cast<Complex>();
  if (n > 0) {
    const lapack::ComplexLu lu(pencil);
    if (lu.rcond() == 0.0)
      throw NumericalError("evaluate: the system has a pole at " + short_number(s.real(), 6) +
                           " + " + short_number(s.imag(), 6) + "i");
    y += system.C.cast<Complex>() * lu.solve(system.B.cast<Complex>());
  }
  if (!system.has_delay()) return y;
  const MatrixXd delays = system.delays();
  for (Eigen::Index j = 0; j < y.cols(); ++j)
    for (Eigen::Index i = 0; i < y.rows(); ++i)
      y(i, j) *= system.is_continuous() ? std::exp(-s * delays(i, j))
                                        : std::pow(s, -std::round(delays(i, j) / system.dt));
  return y;
}

MatrixXd dcgain(const StateSpace& given) {
  const StateSpace system = explicit_form(given);
  const Eigen::Index n = system.order();
  // Rounding of the whole system: the A of one channel may be one number, 1e-17 for an integrator.
  const double rounding = 10.0 * static_cast<double>(std::max<Eigen::Index>(n, 1)) *
                          std::numeric_limits<double>::epsilon() *
                          (system.is_discrete() ? std::max(1.0, system.A.norm()) : system.A.norm());
  const auto regular_gain = [&](const StateSpace& g) -> std::optional<MatrixXd> {
    if (g.order() == 0) return g.D;
    MatrixXd a = -g.A;
    if (g.is_discrete()) a.diagonal().array() += 1.0;
    const lapack::Lu lu(a);
    const double size = a.cwiseAbs().colwise().sum().maxCoeff();
    if (!(lu.rcond() * size > rounding)) return std::nullopt;  // 1/‖a⁻¹‖
    return MatrixXd(g.D + g.C * lu.solve(g.B));
  };
  if (n == 0) return system.D;
  if (const auto gain = regular_gain(system)) return *gain;
  // An integrator: some channels may not see it.
  MatrixXd result(system.output_count(), system.input_count());
  for (int i = 0; i < result.rows(); ++i)
    for (int j = 0; j < result.cols(); ++j) {
      const auto gain = regular_gain(minreal(select(system, std::vector{i}, std::vector{j})));
      result(i, j) = gain ? (*gain)(0) : std::numeric_limits<double>::infinity();
    }
  return result;
}

// ---- controllable and observable modes ----------------------------------------------------------

std::string ModeTest::text() const {
  std::string place = short_number(eigenvalue.real(), 6);
  if (eigenvalue.imag() != 0.0) place += " ± " + short_number(std::abs(eigenvalue.imag()), 6) + "i";
  std::vector<std::string> quoted;
  for (const std::string& state : states) quoted.push_back("'" + state + "'");
  return "mode at " + place + " (states " + listed(quoted) + ") is " + (passed ? "" : "not ") +
         kind + ": strength " + short_number(strength);
}

namespace {

// Eigenvalues that agree to this relative distance are treated as one with several vectors: a
// double eigenvalue is only right to the square root of the rounding errors.
constexpr double kCluster = 1e-6;

struct Cluster {
  Complex value;
  int multiplicity = 0;
  std::vector<Eigen::Index> members;
};

std::vector<Cluster> clusters(const VectorXcd& values, double size) {
  std::vector<Cluster> result;
  std::vector<char> taken(index(values.size()), false);
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    if (at(taken, i) || values[i].imag() < -kCluster * size) continue;
    Cluster cluster;
    Complex sum = 0.0;
    for (Eigen::Index k = i; k < values.size(); ++k)
      if (!at(taken, k) && std::abs(values[k] - values[i]) <= kCluster * size) {
        at(taken, k) = true;
        cluster.members.push_back(k);
        sum += values[k];
      }
    cluster.multiplicity = static_cast<int>(cluster.members.size());
    cluster.value = sum / static_cast<double>(cluster.multiplicity);
    if (std::abs(cluster.value.imag()) <= kCluster * size) cluster.value = cluster.value.real();
    result.push_back(cluster);
  }
  return result;
}

// Left null vectors of A − λ (rows), orthonormal; at least one.
MatrixXcd left_null_space(const MatrixXd& a, Complex lambda, double size, int most) {
  MatrixXcd shifted = a.cast<Complex>();
  shifted.diagonal().array() -= lambda;
  const lapack::ComplexSvd svd = lapack::svd(shifted);
  const Eigen::Index n = a.rows();
  Eigen::Index count = 1;
  while (count < most && svd.values[n - count - 1] <= kCluster * size) ++count;
  return svd.U.rightCols(count);
}

std::vector<ModeTest> mode_tests(const MatrixXd& a, const MatrixXd& b, const StateSpace& system,
                                 double tolerance, const char* kind) {
  const Eigen::Index n = a.rows();
  std::vector<ModeTest> tests;
  if (n == 0) return tests;
  // Balanced states and inputs of norm 1: the strength does not depend on units.
  const lapack::Balanced balanced = lapack::balance(a);
  MatrixXd inputs = balanced.scale.cwiseInverse().asDiagonal() * b;
  for (Eigen::Index j = 0; j < inputs.cols(); ++j)
    if (const double length = inputs.col(j).norm(); length > 0.0) inputs.col(j) /= length;
  const lapack::EigenSystem eigen = lapack::eig(balanced.scaled, lapack::Vectors::both);
  const double size = std::max(balanced.scaled.norm(), std::numeric_limits<double>::min());
  for (const Cluster& cluster : clusters(eigen.values, size)) {
    ModeTest test;
    test.eigenvalue = cluster.value;
    test.multiplicity = cluster.multiplicity;
    test.kind = kind;
    const MatrixXcd left =
        cluster.multiplicity == 1
            ? MatrixXcd(eigen.left.col(cluster.members[0]))
            : left_null_space(balanced.scaled, cluster.value, size, cluster.multiplicity);
    const MatrixXcd reach = left.adjoint() * inputs.cast<Complex>();
    // More vectors than inputs cannot all be reached.
    test.strength = reach.cols() < reach.rows() ? 0.0 : lapack::singular_values(reach).minCoeff();
    test.passed = test.strength > tolerance;
    test.stable = system.is_continuous() ? cluster.value.real() < -1e-12 * size
                                         : std::abs(cluster.value) < 1.0 - 1e-12;
    // Participation |right_i left_i| of the states.
    Eigen::VectorXd part = Eigen::VectorXd::Zero(n);
    for (const Eigen::Index k : cluster.members)
      part +=
          (eigen.right.col(k).cwiseAbs().array() * eigen.left.col(k).cwiseAbs().array()).matrix();
    std::vector<int> order(index(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int i, int j) { return part[i] > part[j] * (1.0 + 1e-9); });
    for (int i = 0; i < std::min<Eigen::Index>(3, n); ++i)
      if (part[at(order, i)] > 0.1 * part[order[0]])
        test.states.push_back(system.state_name(at(order, i)));
    tests.push_back(test);
  }
  std::stable_sort(tests.begin(), tests.end(), [](const ModeTest& x, const ModeTest& y) {
    return std::abs(x.eigenvalue) < std::abs(y.eigenvalue) * (1.0 - 1e-12);
  });
  return tests;
}

bool unstable_modes_pass(const std::vector<ModeTest>& tests) {
  return std::all_of(tests.begin(), tests.end(),
                     [](const ModeTest& t) { return t.passed || t.stable; });
}

}  // namespace

std::vector<ModeTest> controllability(const StateSpace& given, double tolerance) {
  const StateSpace system = explicit_form(given);
  return mode_tests(system.A, system.B, system, tolerance, "controllable");
}

std::vector<ModeTest> observability(const StateSpace& given, double tolerance) {
  const StateSpace system = explicit_form(given);
  return mode_tests(system.A.transpose(), system.C.transpose(), system, tolerance, "observable");
}

bool is_stabilizable(const StateSpace& system, double tolerance) {
  return unstable_modes_pass(controllability(system, tolerance));
}

bool is_detectable(const StateSpace& system, double tolerance) {
  return unstable_modes_pass(observability(system, tolerance));
}

}  // namespace catena
