// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/modes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"

namespace catena {
namespace {

// Relative size of the Hautus matrix's smallest singular value that counts as zero.
constexpr double kHidden = 1e-11;
// Eigenvalues this near to the boundary, relative to the largest, must be reached too.
constexpr double kBoundary = 1e-12;

bool beyond_boundary(const StateSpace& system, Complex s, double largest) {
  return system.is_discrete() ? std::abs(s) >= 1.0 - 1e-10 : s.real() >= -kBoundary * largest;
}

std::vector<HiddenMode> hidden_modes(const StateSpace& system, const Eigen::MatrixXd& a,
                                     const Eigen::MatrixXd& b, bool dual) {
  std::vector<HiddenMode> hidden;
  if (a.rows() == 0) return hidden;
  const lapack::Balanced balanced = lapack::balance(a);
  const Eigen::MatrixXd sb = balanced.scale.cwiseInverse().asDiagonal() * b;
  const Eigen::VectorXcd poles = spectrum(a);
  const double largest = poles.cwiseAbs().maxCoeff();
  const Eigen::Index n = a.rows();
  const double a_size = balanced.scaled.norm() > 0.0 ? balanced.scaled.norm() : 1.0;
  const double b_scale = sb.norm() > 0.0 ? a_size / sb.norm() : 0.0;
  for (const Complex& s : poles) {
    if (s.imag() < 0.0 || !beyond_boundary(system, s, largest)) continue;
    Eigen::MatrixXcd hautus(n, n + b.cols());
    hautus.leftCols(n) = balanced.scaled.cast<Complex>();
    hautus.leftCols(n).diagonal().array() -= s;
    hautus.rightCols(b.cols()) = (b_scale * sb).cast<Complex>();
    const lapack::ComplexSvd svd = lapack::svd(hautus);
    const double size = std::max(svd.values[0], std::abs(s));
    const double strength = size > 0.0 ? svd.values[n - 1] / size : 0.0;
    if (strength > kHidden) continue;
    // The left null vector: in the dual problem it is the mode shape itself.
    Eigen::VectorXcd vector = svd.U.col(n - 1).cwiseQuotient(balanced.scale.cast<Complex>());
    if (dual) vector = svd.U.col(n - 1).conjugate().cwiseProduct(balanced.scale.cast<Complex>());
    hidden.push_back({s, strength, mode_text(system, s, vector)});
  }
  return hidden;
}

void throw_hidden(const std::vector<HiddenMode>& hidden, const char* what, const char* verb,
                  const char* remedy) {
  if (hidden.empty()) return;
  std::string message = std::string(what) + ": ";
  for (std::size_t i = 0; i < std::min<std::size_t>(3, hidden.size()); ++i)
    message += (i > 0 ? "; " : "") + hidden[i].text;
  if (hidden.size() > 3) message += " and " + std::to_string(hidden.size() - 3) + " more";
  throw NumericalError(message + " " + verb + "; " + remedy);
}

}  // namespace

std::string mode_text(const StateSpace& system, Complex pole, const Eigen::VectorXcd& vector) {
  Complex s = pole;
  if (system.is_discrete() && pole != 0.0) s = std::log(pole) / system.dt;
  std::string text;
  if (std::abs(s) < 1e-9) {
    text = "rigid mode (pole at zero)";
  } else if (std::abs(s.imag()) < 1e-9 * std::abs(s)) {
    text = "mode with the real pole " + short_number(s.real(), 4);
  } else {
    text = "mode at " + short_number(std::abs(s), 4) + " rad/s, damping " +
           short_number(-s.real() / std::abs(s), 3);
  }
  std::vector<int> order(index(vector.size()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return std::abs(vector[a]) > std::abs(vector[b]); });
  std::vector<std::string> names;
  for (const int i : order) {
    if (names.size() == 2 || std::abs(vector[i]) < 0.3 * std::abs(vector[order[0]])) break;
    names.push_back("'" + system.state_name(i) + "'");
  }
  if (!names.empty()) text += ", mainly in " + listed(names);
  return text;
}

std::string nearest_mode_text(const StateSpace& system, Complex pole) {
  if (system.order() == 0) return "no mode";
  const lapack::EigenSystem e = lapack::eig(system.A);
  Eigen::Index best = 0;
  for (Eigen::Index i = 0; i < e.values.size(); ++i)
    if (std::abs(e.values[i] - pole) < std::abs(e.values[best] - pole)) best = i;
  return mode_text(system, e.values[best], e.right.col(best));
}

std::vector<HiddenMode> unstabilizable_modes(const StateSpace& system, const Eigen::MatrixXd& b) {
  return hidden_modes(system, system.A, b, false);
}

std::vector<HiddenMode> undetectable_modes(const StateSpace& system, const Eigen::MatrixXd& c) {
  return hidden_modes(system, system.A.transpose(), c.transpose(), true);
}

void require_stabilizable(const StateSpace& system, const Eigen::MatrixXd& b, const char* what) {
  throw_hidden(unstabilizable_modes(system, b), what, "is unstable and no input moves it",
               "add or move an actuator, or take the mode out of the model");
}

void require_detectable(const StateSpace& system, const Eigen::MatrixXd& c, const char* what) {
  throw_hidden(undetectable_modes(system, c), what, "is unstable and no measurement sees it",
               "add or move a sensor, or take the mode out of the model");
}

bool has_stable_poles(const StateSpace& system) {
  const StateSpace g = explicit_form(system);
  if (g.order() == 0) return true;
  const Eigen::VectorXcd poles = spectrum(g.A);
  return g.is_discrete() ? poles.cwiseAbs().maxCoeff() < 1.0 : poles.real().maxCoeff() < 0.0;
}

StateSpace bilinear_to_continuous(const StateSpace& g) {
  StateSpace r = g;
  r.dt = 0.0;
  const Eigen::Index n = g.A.rows();
  if (n == 0) return r;
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n);
  const lapack::Lu lu(g.A + one);
  if (lu.rcond() < 1e-14)
    throw NumericalError("bilinear map: the sampled system has a pole at z = -1");
  r.A = lu.solve(g.A - one);
  r.B = std::sqrt(2.0) * lu.solve(g.B);
  r.C = std::sqrt(2.0) * lu.solve_transposed(g.C.transpose()).transpose();
  r.D = g.D - times(g.C, lu.solve(g.B));
  return r;
}

StateSpace bilinear_to_discrete(const StateSpace& g, double dt) {
  StateSpace r = g;
  r.dt = dt;
  const Eigen::Index n = g.A.rows();
  if (n == 0) return r;
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n);
  const lapack::Lu lu(one - g.A);
  if (lu.rcond() < 1e-14) throw NumericalError("bilinear map: the system has a pole at s = 1");
  r.A = lu.solve(one + g.A);
  r.B = std::sqrt(2.0) * lu.solve(g.B);
  r.C = std::sqrt(2.0) * lu.solve_transposed(g.C.transpose()).transpose();
  r.D = g.D + times(g.C, lu.solve(g.B));
  return r;
}

}  // namespace catena
