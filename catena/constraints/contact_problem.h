// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; constraint_set.h needs it.
//
// Contacts that push on each other, as a small dense problem: of every contact the normal n and two
// tangents, three rows each,
//
//   u = W λ + b,     0 ≤ u_n − least ⊥ λ_n ≥ 0,     |λ_t| ≤ μ λ_n, and λ_t = −μ λ_n u_t/|u_t| if
//                                                   u_t ≠ 0
//
// W is J M⁻¹ Jᵀ with all other constraints eliminated. With velocities for u and impulses for λ
// this is an impact (Moreau: Newton's restitution is `least` = −e u_n before it, Coulomb's law
// holds for the slip after it); with accelerations and forces it tells which contacts at rest stay
// closed, which ones stick. A contact that slips already has its direction given, λ_t = −μ λ_n
// direction.
//
// Projected Gauss-Seidel sweeps find who pushes and who slips; Newton's method on the same
// projections (Alart and Curnier's function) then takes the digits. Redundant contacts (four feet
// of a table) give some of the solutions; u is the same for all of them where it is unique.
#pragma once

#include <vector>

#include <Eigen/Core>

namespace catena {

struct ContactProblem {
  struct Contact {
    double friction = 0.0;
    double least = 0.0;  // of u_n
    bool slips = false;  // with a known direction
    Eigen::Vector2d direction = Eigen::Vector2d::Zero();
  };
  std::vector<Contact> contacts;
  Eigen::MatrixXd w;  // [3 contact + (normal, tangent, tangent)]
  Eigen::VectorXd b;
  // Of several solutions, one at which what slips before does not slip after: where the friction of
  // a contact that slides presses it into its plane, λ = 0 may be a solution too.
  bool sticks_first = false;
};

struct ContactSolution {
  Eigen::VectorXd force;   // λ
  Eigen::VectorXd motion;  // u
  // What is left of the laws, over the largest motion; above kContactsSolved there is no solution,
  // or none was found: contacts that others force into their planes, or friction so large that
  // sliding has no solution (Painlevé).
  double residual = 0.0;
  int worst = -1;  // contact with the largest residual
};
inline constexpr double kContactsSolved = 1e-9;

ContactSolution solve(const ContactProblem& problem);
// The solution nearest to these forces: Newton's method alone.
ContactSolution solve_from(const ContactProblem& problem, const Eigen::VectorXd& force);
// Velocities and impulses of one contact that slips and whose friction presses it into its plane,
// the others without any: its impulse grows bit by bit, with Coulomb's law at every bit (Routh,
// Darboux, Keller), until its normal velocity is zero again. On the way its slip may turn. No
// impulse if it is not pressed into its plane.
Eigen::Vector3d grown_impulse(const ContactProblem& problem, int contact);

}  // namespace catena
