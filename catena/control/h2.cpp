// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/equations/riccati.h"
#include "catena/control/hinf.h"
#include "catena/control/modes.h"
#include "catena/control/standard_problem.h"

namespace catena {
namespace {

struct H2Parts {
  StateSpace controller;
  double expected = 0.0, residual = 0.0;
};

// Continuous: K = (A + B2 F + L C2, −L, F, 0) for D11 = 0.
H2Parts h2_continuous(const StandardProblem& p, const GeneralizedPlant& plant) {
  const Eigen::Index m2 = p.m2(), p2 = p.p2(), m1 = p.m1();
  Eigen::MatrixXd d12 = Eigen::MatrixXd::Zero(p.p1(), m2), d21 = Eigen::MatrixXd::Zero(p2, m1);
  d12.bottomRows(m2).setIdentity();
  d21.rightCols(p2).setIdentity();
  // A constant gain that cancels D11, if there is one: D11 + D12 Dk D21 = 0.
  const Eigen::MatrixXd dk = -p.D11.bottomRightCorner(m2, p2);
  const Eigen::MatrixXd rest = p.D11 + times(d12, times(dk, d21));
  const double size = p.C1.norm() * p.B1.norm() / std::max(p.A.norm(), 1e-300);
  if (rest.norm() > 1e-10 * std::max(p.D11.norm(), size))
    throw NumericalError(
        "H2 synthesis: the disturbance reaches the performance outputs without delay (D11 is not "
        "zero), so the H2 norm is infinite; make the weights strictly proper");
  // With u = dk y + v the plant has no D11.
  const Eigen::MatrixXd a = p.A + times(p.B2, times(dk, p.C2)),
                        b1 = p.B1 + times(p.B2, times(dk, d21)),
                        c1 = p.C1 + times(d12, times(dk, p.C2));
  const Eigen::MatrixXd eye_u = Eigen::MatrixXd::Identity(m2, m2),
                        eye_y = Eigen::MatrixXd::Identity(p2, p2);
  const RiccatiSolution x = care({a, p.B2, times_tn(c1, c1), eye_u, times_tn(c1, d12), {}});
  const RiccatiSolution y =
      care({a.transpose(), p.C2.transpose(), times_nt(b1, b1), eye_y, times_nt(b1, d21), {}});
  const Eigen::MatrixXd f = -x.K, l = -y.K.transpose();
  H2Parts r;
  r.controller = controller_of(p, plant, a + times(p.B2, f) + times(l, p.C2), -l, f, dk);
  // ‖·‖² = tr(B1ᵀ X B1) + tr(F Y Fᵀ).
  r.expected = std::sqrt(times_tn(b1, times(x.X, b1)).trace() + times(f, times_nt(y.X, f)).trace());
  r.residual = std::max(x.residual, y.residual);
  return r;
}

// Sampled: [Chen & Francis 1995], the filter uses the measurement of the same instant.
H2Parts h2_sampled(const StandardProblem& p, const GeneralizedPlant& plant) {
  const Eigen::Index m2 = p.m2(), p2 = p.p2(), m1 = p.m1();
  Eigen::MatrixXd d12 = Eigen::MatrixXd::Zero(p.p1(), m2), d21 = Eigen::MatrixXd::Zero(p2, m1);
  d12.bottomRows(m2).setIdentity();
  d21.rightCols(p2).setIdentity();
  const Eigen::MatrixXd eye_u = Eigen::MatrixXd::Identity(m2, m2),
                        eye_y = Eigen::MatrixXd::Identity(p2, p2);
  const RiccatiSolution x = dare({p.A, p.B2, times_tn(p.C1, p.C1), eye_u, times_tn(p.C1, d12), {}});
  const RiccatiSolution y = dare(
      {p.A.transpose(), p.C2.transpose(), times_nt(p.B1, p.B1), eye_y, times_nt(p.B1, d21), {}});
  const Eigen::MatrixXd f = -x.K, l = -y.K.transpose();
  const Eigen::MatrixXd ru = eye_u + times_tn(p.B2, times(x.X, p.B2)),
                        ry = eye_y + times(p.C2, times_nt(y.X, p.C2));
  const Eigen::MatrixXd f1 =
      -lapack::Lu(ru).solve(times_tn(p.B2, times(x.X, p.B1)) + times_tn(d12, p.D11));
  const Eigen::MatrixXd l1 =
      lapack::Lu(ry)
          .solve((times(f, times_nt(y.X, p.C2)) + times_nt(f1, d21)).transpose())
          .transpose();
  H2Parts r;
  const Eigen::MatrixXd b2l1 = times(p.B2, l1);
  StandardProblem keep = p;
  keep.dt = 0.0;  // no map back: the equations were those of the sampled plant
  r.controller = controller_of(keep, plant, p.A + times(p.B2, f) + times(l - b2l1, p.C2),
                               -(l - b2l1), f - times(l1, p.C2), l1);
  r.controller.dt = p.dt;
  // The cost of full information, and of what the filter does not know.
  const double information = times_tn(p.B1, times(x.X, p.B1)).trace() + p.D11.squaredNorm() -
                             times_tn(f1, times(ru, f1)).trace();
  // Unknown part: F (x − x̂) + F1 w − L1 (innovation): covariance F Y Fᵀ + F1 F1ᵀ − L1 ry L1ᵀ.
  const Eigen::MatrixXd unknown =
      times(f, times_nt(y.X, f)) + times_nt(f1, f1) - times(l1, times_nt(ry, l1));
  r.expected = std::sqrt(std::max(0.0, information + times(ru, unknown).trace()));
  r.residual = std::max(x.residual, y.residual);
  return r;
}

}  // namespace

H2Result h2syn(const GeneralizedPlant& plant) {
  const lapack::OneThread one;
  plant.validate();
  GeneralizedPlant g = plant;
  g.system = explicit_form(plant.system);
  require_stabilizable(g.system, g.B2(), "H2 synthesis");
  require_detectable(g.system, g.C2(), "H2 synthesis");
  const StandardProblem p = standard_problem(g, TimeMap::keep);
  const H2Parts parts = g.system.is_discrete() ? h2_sampled(p, g) : h2_continuous(p, g);
  H2Result r;
  r.controller = parts.controller;
  r.expected = parts.expected;
  r.loop = closed_loop(g, r.controller);
  // The feedthrough vanishes by design; what closing the loop leaves of it is rounding.
  if (g.system.is_continuous() && r.loop.D.norm() <= 1e-12 * g.system.D.norm()) r.loop.D.setZero();
  r.norm = h2norm(r.loop);
  r.certificate.remarks = p.remarks;
  r.certificate.add("Riccati residual", parts.residual < 1e-8, parts.residual, 1e-8);
  const bool stable = has_stable_poles(r.loop);
  r.certificate.add("closed loop stable", stable, stable ? 1.0 : 0.0, 1.0);
  if (!p.regularized)
    r.certificate.add("norm by Gramian and by Riccati solutions agree",
                      std::abs(r.norm - r.expected) <= 1e-6 * r.expected, r.norm, r.expected);
  return r;
}

}  // namespace catena
