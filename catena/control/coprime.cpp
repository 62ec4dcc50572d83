// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/coprime.h"

#include "catena/base/error.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/equations/riccati.h"

namespace catena {

StateSpace CoprimeFactors::right() const {
  return ss(A_right, B_right, vstack(C_N_right, C_M_right), vstack(D_N_right, D_M_right));
}

StateSpace CoprimeFactors::left() const {
  return ss(A_left, hstack(B_N_left, B_M_left), C_left, hstack(D_N_left, D_M_left));
}

CoprimeFactors ncf(const StateSpace& plant) {
  if (plant.is_discrete())
    throw NumericalError("coprime factors: the plant must be continuous; map it with d2c(tustin)");
  const StateSpace g = explicit_form(plant);
  const Eigen::Index n = g.A.rows(), m = g.D.cols(), p = g.D.rows();
  const Eigen::MatrixXd s = Eigen::MatrixXd::Identity(m, m) + times_tn(g.D, g.D);
  const Eigen::MatrixXd r = Eigen::MatrixXd::Identity(p, p) + times_nt(g.D, g.D);
  const Eigen::MatrixXd s_root = symmetric_inverse_root(s), r_root = symmetric_inverse_root(r);
  CoprimeFactors f;
  f.X = f.Y = Eigen::MatrixXd::Zero(n, n);
  f.F = Eigen::MatrixXd::Zero(m, n);
  f.H = Eigen::MatrixXd::Zero(n, p);
  if (n > 0) {
    // Cost |C x + D u|² + |u|², and its dual.
    const RiccatiSolution x = care({g.A, g.B, times_tn(g.C, g.C), s, times_tn(g.C, g.D), {}});
    const RiccatiSolution y =
        care({g.A.transpose(), g.C.transpose(), times_nt(g.B, g.B), r, times_nt(g.B, g.D), {}});
    f.X = x.X;
    f.Y = y.X;
    f.F = -x.K;
    f.H = -y.K.transpose();
    f.residual = std::max(x.residual, y.residual);
  }
  f.A_right = g.A + times(g.B, f.F);
  f.B_right = times(g.B, s_root);
  f.C_N_right = g.C + times(g.D, f.F);
  f.C_M_right = f.F;
  f.D_N_right = times(g.D, s_root);
  f.D_M_right = s_root;
  f.A_left = g.A + times(f.H, g.C);
  f.B_N_left = g.B + times(f.H, g.D);
  f.B_M_left = f.H;
  f.C_left = times(r_root, g.C);
  f.D_N_left = times(r_root, g.D);
  f.D_M_left = r_root;
  return f;
}

}  // namespace catena
