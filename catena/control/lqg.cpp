// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/lqg.h"

#include <cmath>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/equations/lyapunov.h"
#include "catena/control/equations/riccati.h"
#include "catena/control/modes.h"
#include "catena/control/response.h"
#include "catena/linear/matrix_functions.h"

namespace catena {
namespace {

void require_weight(const Eigen::MatrixXd& w, Eigen::Index size, const char* name, bool definite) {
  if (w.rows() != size || w.cols() != size)
    throw NumericalError(std::string("weight ") + name + " is " + std::to_string(w.rows()) + " x " +
                         std::to_string(w.cols()) + ", it must be " + std::to_string(size) + " x " +
                         std::to_string(size));
  if (!w.allFinite())
    throw NumericalError(std::string("weight ") + name +
                         " has an entry that is not a finite number");
  if ((w - w.transpose()).norm() > 1e-10 * w.norm())
    throw NumericalError(std::string("weight ") + name + " must be symmetric");
  if (size == 0) return;
  const Eigen::VectorXd values = lapack::symmetric_eigenvalues(symmetrized(w));
  const double largest = values.cwiseAbs().maxCoeff();
  if (definite ? values[0] <= 1e-14 * largest : values[0] < -1e-10 * largest)
    throw NumericalError(std::string("weight ") + name + " must be positive " +
                         (definite ? "definite" : "semidefinite") + "; its least eigenvalue is " +
                         short_number(values[0]));
}

void add_riccati(const RiccatiSolution& s, Certificate& c, const char* name) {
  c.add(std::string(name) + " residual", s.residual < 1e-8, s.residual, 1e-8);
  c.add(std::string(name) + " poles stable, distance from the boundary", s.stability_margin > 0.0,
        s.stability_margin, 0.0);
}

LqrResult regulator(const StateSpace& g, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& R,
                    const Eigen::MatrixXd& S) {
  const RiccatiProblem problem{g.A, g.B, Q, R, S, {}};
  const RiccatiSolution s = g.is_discrete() ? solve_dare(problem) : solve_care(problem);
  if (!s.ok())
    throw NumericalError(
        "LQR: " + explained(s) +
        (s.status == RiccatiStatus::axis_eigenvalues
             ? " (" +
                   nearest_mode_text(g, g.is_discrete() ? std::polar(1.0, s.axis_frequency)
                                                        : Complex(0.0, s.axis_frequency)) +
                   ")"
             : ""));
  LqrResult r{s.K, s.X, s.poles, {}};
  add_riccati(s, r.certificate, "regulator");
  return r;
}

StateSpace observer(const StateSpace& g, const KalmanResult& k) {
  const Eigen::Index n = g.A.rows(), m = g.D.cols(), p = g.D.rows();
  StateSpace f;
  f.A = g.A - times(k.L, g.C);
  f.B = hstack(g.B - times(k.L, g.D), k.L);
  f.C = Eigen::MatrixXd::Identity(n, n);
  f.D = Eigen::MatrixXd::Zero(n, m + p);
  f.dt = g.dt;
  if (g.is_discrete()) {  // estimate after the measurement of the same instant
    f.C -= times(k.current, g.C);
    f.D = hstack(-times(k.current, g.D), k.current);
  }
  for (int i = 0; i < g.input_count(); ++i) f.inputs.push_back(g.input_name(i));
  for (int i = 0; i < g.output_count(); ++i) f.inputs.push_back(g.output_name(i));
  for (int i = 0; i < g.order(); ++i) f.outputs.push_back(g.state_name(i));
  f.states = f.outputs;
  return f;
}

// u = −K x̂ with x̂ of the filter; for sampled systems the current estimate.
StateSpace compensator(const StateSpace& g, const Eigen::MatrixXd& K, const KalmanResult& k) {
  StateSpace c;
  c.dt = g.dt;
  if (g.is_continuous()) {
    c.A = g.A - times(g.B, K) - times(k.L, g.C - times(g.D, K));
    c.B = k.L;
    c.C = -K;
    c.D = Eigen::MatrixXd::Zero(K.rows(), g.C.rows());
  } else {
    // u = −K (x̂ + M (y − C x̂ − D u)): solved for u.
    const Eigen::MatrixXd km = times(K, k.current);
    const Eigen::Index m = K.rows();
    const lapack::Lu lu(Eigen::MatrixXd::Identity(m, m) - times(km, g.D));
    c.C = lu.solve(times(km, g.C) - K);
    c.D = lu.solve(-km);
    const Eigen::MatrixXd bl = g.B - times(k.L, g.D);
    c.A = g.A - times(k.L, g.C) + times(bl, c.C);
    c.B = k.L + times(bl, c.D);
  }
  for (int i = 0; i < g.output_count(); ++i) c.inputs.push_back(g.output_name(i));
  for (int i = 0; i < g.input_count(); ++i) c.outputs.push_back(g.input_name(i));
  return c;
}

// The loop of plant and u = K y without other signals: its A matrix, and the maps of noises.
struct LoopMatrices {
  Eigen::MatrixXd A, from_w, from_v, to_x, to_u, u_from_v;
};
LoopMatrices noisy_loop(const StateSpace& g, const StateSpace& c, const Eigen::MatrixXd& G) {
  const Eigen::Index n = g.A.rows(), k = c.A.rows(), m = g.D.cols();
  // y = C x + D u + v, u = Cc xc + Dc y.
  const lapack::Lu lu(Eigen::MatrixXd::Identity(m, m) - times(c.D, g.D));
  const Eigen::MatrixXd ux = lu.solve(times(c.D, g.C)), uc = lu.solve(c.C), uv = lu.solve(c.D);
  LoopMatrices l;
  l.to_u = hstack(ux, uc);
  l.u_from_v = uv;
  l.to_x = Eigen::MatrixXd::Zero(n, n + k);
  l.to_x.leftCols(n).setIdentity();
  const Eigen::MatrixXd y = hstack(g.C, Eigen::MatrixXd::Zero(g.C.rows(), k)) + times(g.D, l.to_u);
  const Eigen::MatrixXd yv = Eigen::MatrixXd::Identity(g.C.rows(), g.C.rows()) + times(g.D, uv);
  l.A = vstack(hstack(g.A, Eigen::MatrixXd::Zero(n, k)) + times(g.B, l.to_u),
               hstack(Eigen::MatrixXd::Zero(k, n), c.A) + times(c.B, y));
  l.from_w = vstack(G, Eigen::MatrixXd::Zero(k, G.cols()));
  l.from_v = vstack(times(g.B, uv), times(c.B, yv));
  return l;
}

Eigen::MatrixXd identity_if_empty(const Eigen::MatrixXd& G, Eigen::Index n) {
  return G.size() > 0 ? G : Eigen::MatrixXd(Eigen::MatrixXd::Identity(n, n));
}

// Steady covariance of [x; xc].
Eigen::MatrixXd loop_covariance(const StateSpace& g, const LoopMatrices& l,
                                const Eigen::MatrixXd& W, const Eigen::MatrixXd& V) {
  const Eigen::MatrixXd noise =
      symmetrized(times(l.from_w, times_nt(W, l.from_w)) + times(l.from_v, times_nt(V, l.from_v)));
  return g.is_discrete() ? dlyap(l.A, noise) : lyap(l.A, noise);
}

}  // namespace

LqrResult lqr(const StateSpace& plant, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& R,
              const Eigen::MatrixXd& S) {
  plant.validate();
  const StateSpace g = explicit_form(plant);
  require_weight(Q, g.order(), "Q", false);
  require_weight(R, g.input_count(), "R", g.is_continuous());
  require_stabilizable(g, g.B, "LQR");
  return regulator(g, Q, R, S);
}

LqrResult lqry(const StateSpace& plant, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& R) {
  plant.validate();
  const StateSpace g = explicit_form(plant);
  require_weight(Q, g.output_count(), "Q (of outputs)", false);
  const Eigen::MatrixXd qc = times(Q, g.C), qd = times(Q, g.D);
  return lqr(g, symmetrized(times_tn(g.C, qc)), symmetrized(R + times_tn(g.D, qd)),
             times_tn(g.C, qd));
}

LqrResult lqrd(const StateSpace& plant, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& R,
               double dt) {
  plant.validate();
  if (plant.is_discrete())
    throw NumericalError("sampled LQR: the plant is sampled already; use lqr()");
  if (!(dt > 0.0))
    throw NumericalError("sampled LQR: the sample time is " + number(dt) +
                         " s; it must be positive");
  const StateSpace g = explicit_form(plant);
  require_weight(Q, g.order(), "Q", false);
  require_weight(R, g.input_count(), "R", true);
  // exp([−Fᵀ Q; 0 F] dt) with F = [A B; 0 0] = [· Φ12; 0 Φ22]: cost Φ22ᵀ Φ12, system Φ22.
  const Eigen::Index n = g.A.rows(), m = g.B.cols(), k = n + m;
  Eigen::MatrixXd f = Eigen::MatrixXd::Zero(k, k), big = Eigen::MatrixXd::Zero(2 * k, 2 * k);
  f.topLeftCorner(n, n) = g.A;
  f.topRightCorner(n, m) = g.B;
  big.topLeftCorner(k, k) = -f.transpose();
  big.topRightCorner(k, k) = block_diagonal(Q, R);
  big.bottomRightCorner(k, k) = f;
  const Eigen::MatrixXd e = expm(big * dt);
  const Eigen::MatrixXd phi = e.bottomRightCorner(k, k);
  const Eigen::MatrixXd cost = symmetrized(times_tn(phi, e.topRightCorner(k, k)));
  StateSpace sampled = g;
  sampled.A = phi.topLeftCorner(n, n);
  sampled.B = phi.topRightCorner(n, m);
  sampled.dt = dt;
  return regulator(sampled, cost.topLeftCorner(n, n), cost.bottomRightCorner(m, m),
                   cost.topRightCorner(n, m));
}

KalmanResult kalman(const StateSpace& plant, const Eigen::MatrixXd& W, const Eigen::MatrixXd& V,
                    const Eigen::MatrixXd& G, const Eigen::MatrixXd& N) {
  plant.validate();
  const StateSpace g = explicit_form(plant);
  const Eigen::MatrixXd gain = identity_if_empty(G, g.order());
  require_weight(W, gain.cols(), "W (process noise)", false);
  require_weight(V, g.output_count(), "V (sensor noise)", true);
  require_detectable(g, g.C, "Kalman filter");
  const Eigen::MatrixXd cross = N.size() > 0 ? times(gain, N) : Eigen::MatrixXd();
  const RiccatiProblem problem{
      g.A.transpose(), g.C.transpose(), symmetrized(times(gain, times_nt(W, gain))), V, cross, {}};
  const RiccatiSolution s = g.is_discrete() ? solve_dare(problem) : solve_care(problem);
  if (!s.ok())
    throw NumericalError(
        s.status == RiccatiStatus::singular_weight
            ? "Kalman filter: the intensity V of the measurement noise is singular; every "
              "measurement needs noise of its own"
            : "Kalman filter: " + explained(s) +
                  "; the process noise must excite every mode that is not damped");
  KalmanResult k;
  k.L = s.K.transpose();
  k.P = s.X;
  k.poles = s.poles;
  if (g.is_discrete()) {
    const Eigen::MatrixXd pc = times_nt(s.X, g.C);
    k.current = lapack::Lu(symmetrized(times(g.C, pc) + V)).solve(pc.transpose()).transpose();
  }
  add_riccati(s, k.certificate, "filter");
  k.filter = observer(g, k);
  return k;
}

KalmanResult lqe(const Eigen::MatrixXd& A, const Eigen::MatrixXd& G, const Eigen::MatrixXd& C,
                 const Eigen::MatrixXd& W, const Eigen::MatrixXd& V, double dt) {
  return kalman(
      ss(A, Eigen::MatrixXd::Zero(A.rows(), 0), C, Eigen::MatrixXd::Zero(C.rows(), 0), dt), W, V,
      G);
}

LqgResult lqg(const StateSpace& plant, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& R,
              const Eigen::MatrixXd& W, const Eigen::MatrixXd& V, const Eigen::MatrixXd& G,
              const Eigen::MatrixXd& S) {
  const StateSpace g = explicit_form(plant);
  if (g.order() == 0)
    throw NumericalError("LQG: the plant has no states; a constant gain needs no observer");
  LqgResult r;
  r.regulator = lqr(g, Q, R, S);
  r.filter = kalman(g, W, V, G);
  r.controller = compensator(g, r.regulator.K, r.filter);
  const LoopMatrices l = noisy_loop(g, r.controller, identity_if_empty(G, g.order()));
  r.poles = spectrum(l.A);
  r.certificate.checks = r.regulator.certificate.checks;
  for (const Check& c : r.filter.certificate.checks) r.certificate.checks.push_back(c);
  const double margin =
      g.is_discrete() ? 1.0 - r.poles.cwiseAbs().maxCoeff() : -r.poles.real().maxCoeff();
  r.certificate.add("closed loop stable, distance from the boundary", margin > 0.0, margin, 0.0);
  if (margin <= 0.0)
    throw NumericalError(
        "LQG: the computed loop is not stable although regulator and filter are; "
        "scale the states of the plant");
  // E[xᵀQx + 2xᵀSu + uᵀRu] from the covariance of the whole loop.
  const Eigen::MatrixXd p = loop_covariance(g, l, W, V);
  const Eigen::MatrixXd px = times(l.to_x, p), pu = times(l.to_u, p);
  r.cost = times(Q, times_nt(px, l.to_x)).trace() + times(R, times_nt(pu, l.to_u)).trace();
  if (S.size() > 0) r.cost += 2.0 * times(S, times_nt(pu, l.to_x)).trace();
  if (g.is_discrete()) r.cost += times(R, times(l.u_from_v, times_nt(V, l.u_from_v))).trace();
  return r;
}

LqiResult lqi(const StateSpace& plant, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& R) {
  plant.validate();
  const StateSpace g = explicit_form(plant);
  const Eigen::Index n = g.A.rows(), p = g.C.rows();
  LqiResult r;
  const double h = g.is_discrete() ? g.dt : 1.0;
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n + p, n + p);
  a.topLeftCorner(n, n) = g.A;
  a.bottomLeftCorner(p, n) = -h * g.C;
  if (g.is_discrete()) a.bottomRightCorner(p, p).setIdentity();
  r.augmented = ss(a, vstack(g.B, -h * g.D), Eigen::MatrixXd::Identity(n + p, n + p),
                   Eigen::MatrixXd::Zero(n + p, g.B.cols()), g.dt);
  r.augmented.states.clear();
  for (int i = 0; i < g.order(); ++i) r.augmented.states.push_back(g.state_name(i));
  for (int i = 0; i < g.output_count(); ++i)
    r.augmented.states.push_back("integral of " + g.output_name(i));
  r.augmented.outputs = r.augmented.states;
  r.regulator = lqr(r.augmented, Q, R);
  return r;
}

LtrResult ltr(const StateSpace& plant, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& R,
              const Eigen::MatrixXd& W, const Eigen::MatrixXd& V, const std::vector<double>& q,
              const Eigen::VectorXd& frequencies, RecoverySide side) {
  const StateSpace g = explicit_form(plant);
  const bool at_input = side == RecoverySide::input;
  LtrResult r;
  if (at_input)  // K (s − A)⁻¹ B
    r.target = ss(g.A, g.B, lqr(g, Q, R).K, Eigen::MatrixXd::Zero(g.B.cols(), g.B.cols()), g.dt);
  else  // C (s − A)⁻¹ L
    r.target = ss(g.A, kalman(g, W, V).L, g.C, Eigen::MatrixXd::Zero(g.C.rows(), g.C.rows()), g.dt);
  const PeakSearch target(r.target), of_plant(g);
  for (const double weight : q) {
    if (!(weight >= 0.0)) throw NumericalError("LTR: a recovery gain q must not be negative");
    const Eigen::MatrixXd w = at_input ? Eigen::MatrixXd(W + weight * times_nt(g.B, g.B)) : W;
    const Eigen::MatrixXd qq = at_input ? Q : Eigen::MatrixXd(Q + weight * times_tn(g.C, g.C));
    const LqgResult c = lqg(g, qq, R, w, V);
    RecoveryStep step{weight, c.controller, 0.0, c.poles};
    const PeakSearch of_controller(c.controller);
    for (const double omega : frequencies) {
      const Eigen::MatrixXcd k = of_controller.response(omega), p = of_plant.response(omega);
      const Eigen::MatrixXcd loop = at_input ? Eigen::MatrixXcd(-k * p) : Eigen::MatrixXcd(-p * k);
      const Eigen::MatrixXcd t = target.response(omega);
      const Eigen::MatrixXcd one = Eigen::MatrixXcd::Identity(t.rows(), t.cols());
      step.error = std::max(step.error, lapack::norm2(Eigen::MatrixXcd(loop - t)) /
                                            lapack::norm2(Eigen::MatrixXcd(one + t)));
    }
    r.steps.push_back(step);
  }
  return r;
}

AttainableError attainable_error(const StateSpace& plant, const Eigen::MatrixXd& Cz,
                                 const Eigen::MatrixXd& W, const Eigen::MatrixXd& V,
                                 const Eigen::MatrixXd& G) {
  const StateSpace g = explicit_form(plant);
  const KalmanResult filter = kalman(g, W, V, G);
  AttainableError r;
  r.filter = times(Cz, times_nt(filter.P, Cz)).trace();
  const Eigen::Index m = g.B.cols();
  const Eigen::MatrixXd q = symmetrized(times_tn(Cz, Cz));
  // A control weight relative to the sizes of the plant, falling until the error stands still.
  double rho = 1e-2;
  for (int k = 0; k < 12; ++k, rho *= 1e-2) {
    try {
      const LqgResult c = lqg(g, q, rho * Eigen::MatrixXd::Identity(m, m), W, V, G);
      const LoopMatrices l = noisy_loop(g, c.controller, identity_if_empty(G, g.order()));
      const Eigen::MatrixXd p = loop_covariance(g, l, W, V);
      const Eigen::MatrixXd z = times(Cz, l.to_x);
      const double error = times(z, times_nt(p, z)).trace();
      r.weights.push_back(rho);
      r.errors.push_back(error);
      if (r.errors.size() > 1 && std::abs(error - r.errors[r.errors.size() - 2]) < 1e-4 * error)
        break;
    } catch (const NumericalError&) {
      if (r.errors.empty()) throw;
      break;  // cheaper control is beyond double precision; the sweep so far stands
    }
  }
  r.limit = r.errors.back();
  r.attained = r.limit <= 1.01 * r.filter;
  return r;
}

}  // namespace catena
