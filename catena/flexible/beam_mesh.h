// SPDX-License-Identifier: BSD-3-Clause
// The 2-node beam element of higher order: on each element a deflection is a cubic with values and
// slopes at both nodes and integrated Legendre polynomials that vanish there (p-version; [Szabó &
// Babuška 1991], chapter 3); extension and torsion are linear plus polynomials that vanish at the
// nodes. Frequencies and integrals of smooth beams converge exponentially with the degree, so that
// constants are right to ten digits with a few elements.
#pragma once

#include <vector>

#include "catena/spatial/eigen.h"

namespace catena {

// Abscissas and weights of Gauss and Legendre on [−1, 1], and the integrals from −1 to the
// abscissas: ∫ f from −1 to x_i = Σ_j running(i, j) f(x_j), exact for polynomials of degree below
// `count`.
struct GaussRule {
  Eigen::VectorXd points, weights;
  Eigen::MatrixXd running;
};
GaussRule gauss_rule(int count);

// One scalar field on the beam.
class BeamField {
 public:
  // Bending: continuous slope. Nodes ascend; the dofs of node `clamped` are left out.
  BeamField(std::vector<double> nodes, int degree, bool bending, int clamped);

  int dofs() const { return dofs_; }
  // Which dofs are value and slope at a node, −1 where it is clamped (or has no slope).
  int value_dof(int node) const;
  int slope_dof(int node) const;

  // Field, first and second derivative at local position ξ in [−1, 1] of an element: columns of the
  // dofs on which they depend there.
  struct Local {
    std::vector<int> dofs;
    Eigen::Matrix3Xd columns;
    Eigen::Vector3d times(const Eigen::VectorXd& x) const;
  };
  Local evaluate(int element, double xi) const;

 private:
  std::vector<double> nodes_;
  int degree_;
  bool bending_;
  int clamped_;
  int dofs_;
};

}  // namespace catena
