// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/closure/loop_closure.h"
#include "catena/closure/mobility.h"
#include "catena/constraints/multipliers.h"
#include "catena/dynamics/batch.h"
#include "catena/dynamics/energy.h"
#include "catena/dynamics/forces.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/dynamics/momentum.h"
#include "catena/dynamics/operators/gibbs.h"
#include "catena/sensitivity/parameters.h"
#include "catena/spatial/eigen.h"
#include "catena/verification/quantity_tables.h"

namespace catena {
namespace {

using Request = const QuantityRequest&;
using Matrix = Eigen::MatrixXd;
using Shape = Quantity::Shape;

// Makes freedoms of a closed mechanism independent.
void pin(Request r, const std::vector<std::uint8_t>& pinned, Workspace& w) {
  w.set_chart(choose_chart(r.mechanism, r.input.state.q, {.pinned = pinned}), true);
}

Matrix column(const Vec3d& a) { return to_eigen(a); }

Matrix total_mass(Request r) { return scalar(r.mechanism.total_mass()); }
Matrix bodies(Request r) { return scalar(static_cast<double>(r.mechanism.bodies().size())); }
Matrix freedoms(Request r) { return scalar(r.mechanism.tree_freedoms()); }
Matrix loops(Request r) { return scalar(static_cast<double>(r.mechanism.loops().size())); }

MobilityReport mobility_report(Request r) {
  MobilityReport report = analyse_mobility(r.mechanism, r.input.state.q);
  if (!report.mobility) throw NumericalError(report.warnings.front());
  return report;
}

Matrix mobility(Request r) { return scalar(*mobility_report(r).mobility); }

Matrix redundant(Request r) {
  int sum = 0;
  for (const LoopMobility& loop : mobility_report(r).loops) sum += loop.redundant;
  return scalar(sum);
}

Matrix gruebler(Request r) {
  int count = r.mechanism.tree_freedoms();
  for (const LoopPlace& loop : r.mechanism.loops()) count -= loop.constraints;
  return scalar(count);
}

Matrix loop_bodies(Request r) {
  std::vector<std::vector<int>> groups;
  groups.reserve(r.mechanism.loops().size());
  for (const LoopPlace& loop : r.mechanism.loops()) groups.push_back(loop.bodies);
  return number_groups(groups, r.mechanism.bodies().size());
}

Matrix mass_center(Request r) { return column(center_of_mass(r.mechanism, r.input.state.q)); }

Matrix position_of(Request r) { return coordinates_of_freedoms(r, r.input.state.q); }

Matrix closest_position(Request r) {
  return coordinates_of_freedoms(r, assemble(r.mechanism, r.input.state.q, {.closest = true}));
}

// Loops are closed without limits and fixed freedoms, as well as they can be.
Matrix assembly_gap(Request r) {
  const Assembly best = find_assembly(r.mechanism, r.input.state.q);
  const AggregateTables& tables = aggregate_tables(r.mechanism);
  double most = 0.0;
  for (std::size_t i = 0; i < best.loops.size(); ++i)
    most = std::max(most, best.loops[i].gap * tables.aggregates[i].length);
  return scalar(most);
}

Matrix velocity_of(Request r) { return r.input.state.v; }

Matrix acceleration_of(Request r) {
  return forward_dynamics(r.mechanism, r.input.state, r.input.effort, r.input.external);
}

Matrix dense_acceleration(Request r) {
  return forward_dynamics(r.mechanism, r.input.state, r.input.effort, r.input.external,
                          Route::dense);
}

Matrix multiplier_acceleration(Request r) {
  return forward_dynamics(r.mechanism, r.input.state, r.input.effort, r.input.external,
                          Route::multipliers);
}

Matrix constraint_rank(Request r) {
  return scalar(
      multiplier_dynamics(r.mechanism, r.input.state, r.input.effort, r.input.external).rank);
}

// The state as one of several in a batch, not the first of its pack.
Matrix batch_acceleration(Request r) {
  constexpr Eigen::Index kStates = 6;
  const RowMatrix q = r.input.state.q.transpose().replicate(kStates, 1);
  const RowMatrix v = r.input.state.v.transpose().replicate(kStates, 1);
  const RowMatrix effort = r.input.effort.transpose().replicate(kStates, 1);
  std::vector<BatchWrenches::Place> places;
  RowMatrix components(kStates, 6 * static_cast<Eigen::Index>(r.input.external.size()));
  for (const ExternalWrench& e : r.input.external) {
    for (int i = 0; i < 6; ++i)
      components.col(6 * static_cast<Eigen::Index>(places.size()) + i).setConstant(e.wrench[i]);
    places.push_back({e.body, e.point, e.axes});
  }
  const BatchWrenches external{places, components};
  BatchWorkspace w(r.mechanism);
  RowMatrix found(kStates, r.mechanism.freedoms());
  batch_forward_dynamics(r.mechanism, q, v, effort, w, found, &external);
  if (w.failures() > 0) throw NumericalError(w.message(kStates - 1));
  return found.row(kStates - 1).transpose();
}

Matrix effort(Request r) {
  Workspace w(r.mechanism);
  pin(r, r.input.given_acceleration, w);
  return inverse_dynamics(r.mechanism, r.input.state, r.input.acceleration, w, r.input.external);
}

Matrix reduced_effort(Request r) {
  Workspace w(r.mechanism);
  pin_reference(r, w);
  forward_dynamics(r.mechanism, r.input.state, r.input.effort, w, r.input.external);
  Eigen::VectorXd result = r.input.effort;
  w.reduce(result);
  return result;
}

Matrix bias(Request r) { return bias_effort(r.mechanism, r.input.state, r.input.external); }

HybridResult hybrid(Request r) {
  return hybrid_dynamics(r.mechanism, r.input.state,
                         {r.input.motion_driven, r.input.effort, r.input.acceleration},
                         r.input.external);
}

Matrix hybrid_acceleration(Request r) { return hybrid(r).acceleration; }
Matrix hybrid_effort(Request r) { return hybrid(r).effort; }

// Only independent freedoms have entries.
Matrix mass(Request r) {
  Workspace w(r.mechanism);
  pin_reference(r, w);
  const Matrix& found = mass_matrix(r.mechanism, r.input.state.q, w);
  Matrix result = Matrix::Constant(r.mechanism.freedoms(), r.mechanism.freedoms(),
                                   std::numeric_limits<double>::quiet_NaN());
  result(w.independent(), w.independent()) = found;
  return result;
}

Matrix mass_determinant(Request r) {
  return scalar(determinant(mass_matrix(r.mechanism, r.input.state.q)));
}

Matrix kinetic(Request r) { return scalar(energy(r.mechanism, r.input.state).kinetic); }
Matrix potential(Request r) { return scalar(energy(r.mechanism, r.input.state).potential()); }
Matrix total_energy(Request r) { return scalar(energy(r.mechanism, r.input.state).total()); }
Matrix linear_momentum(Request r) { return column(momentum(r.mechanism, r.input.state).linear); }
Matrix angular_momentum(Request r) { return column(momentum(r.mechanism, r.input.state).angular); }

// In the motion that the state's efforts produce.
InterbodyForces forces_in(Request r, Workspace& w) {
  const Eigen::VectorXd acceleration =
      forward_dynamics(r.mechanism, r.input.state, r.input.effort, w, r.input.external);
  InterbodyForces forces(r.mechanism);
  forces.compute(r.input.state, acceleration, w, r.input.external, &r.input.effort);
  return forces;
}

Matrix hinge_wrench(Request r) {
  Workspace w(r.mechanism);
  const InterbodyForces forces = forces_in(r, w);
  const ForceAxes axes = r.axes == "body" ? ForceAxes::body : ForceAxes::ground;
  Wrenchd wrench = forces.at(r.mechanism.hinge_index(r.of), axes).wrench;
  if (r.axes != "body" && r.axes != "ground") {
    const Rotationd axes_of =
        body_pose(r.mechanism, r.input.state.q, r.mechanism.body_index(r.axes)).rotation;
    wrench = {axes_of.inverse_times(wrench.moment), axes_of.inverse_times(wrench.force)};
  }
  return to_eigen(wrench);
}

Matrix coupling_multiplier(Request r) {
  Workspace w(r.mechanism);
  return scalar(
      forces_in(r, w).coupling_multiplier(find_thing(r.mechanism, Quantity::Of::coupling, r.of)));
}

Matrix rod_tension(Request r) {
  Workspace w(r.mechanism);
  return scalar(forces_in(r, w).rod_tension(find_thing(r.mechanism, Quantity::Of::rod, r.of)));
}

// Hᵀ P H, the articulated inertia about each hinge of one freedom.
Matrix hinge_inertia(Request r) {
  Workspace w(r.mechanism);
  forward_dynamics(r.mechanism, r.input.state, r.input.effort, w, r.input.external,
                   Route::recursive);
  Matrix result(r.mechanism.freedoms(), 1);
  for (int n = 0; n < static_cast<int>(r.mechanism.nodes().size()); ++n) {
    const Node& node = r.mechanism.nodes()[index(n)];
    if (node.hinge != NodeHinge::revolute && node.hinge != NodeHinge::prismatic)
      throw NumericalError("hinge_inertia is for revolute and prismatic hinges");
    const ArticulatedInertiad& p = w.node(n).articulated;
    result(node.v_index, 0) = node.hinge == NodeHinge::revolute ? p.angular.zz : p.linear.zz;
  }
  return result;
}

// At the motion, where the function has its minimum.
Matrix gibbs(Request r) {
  const GibbsFunction g = gibbs_function(r.mechanism, r.input.state, r.input.effort,
                                         acceleration_of(r), r.input.external);
  return Eigen::Vector3d(g.reduced, g.components, g.particles);
}

Matrix body_position(Request r) {
  return column(body_pose(r.mechanism, r.input.state.q, r.mechanism.body_index(r.of)).translation);
}

// Of the body's frame, in its own axes.
Matrix twist_of(Request r) {
  return to_eigen(body_twist(r.mechanism, r.input.state, r.mechanism.body_index(r.of)));
}

// The derivative of the components of the twist (ω, v) in the body's own axes: the acceleration
// of the origin less ω × v.
Matrix twist_rate_of(Request r) {
  const int body = r.mechanism.body_index(r.of);
  const Eigen::VectorXd rates =
      forward_dynamics(r.mechanism, r.input.state, r.input.effort, r.input.external);
  Twistd a = body_acceleration(r.mechanism, r.input.state, rates, body, Axes::body);
  const Twistd twist = body_twist(r.mechanism, r.input.state, body);
  a.linear -= cross(twist.angular, twist.linear);
  return to_eigen(a);
}

}  // namespace

std::vector<Quantity> mechanism_quantities() {
  return {scalar_row("total_mass", "mass of all bodies", total_mass),
          scalar_row("bodies", "number of bodies", bodies),
          scalar_row("freedoms", "of the spanning tree", freedoms),
          scalar_row("loops", "number of loops", loops),
          scalar_row("mobility", "freedoms less independent constraints", mobility),
          scalar_row("redundant", "constraints that depend on others", redundant),
          scalar_row("gruebler", "freedoms less all constraints", gruebler),
          body_groups_row("loop_bodies", "the bodies of each loop", loop_bodies),
          vector_row("center_of_mass", "of all bodies, ground axes", xyz_parts(), mass_center),
          freedom_row("position", "the coordinate of each freedom", position_of),
          of_guess(freedom_row("closest_position", "the closed position nearest to the state's",
                               closest_position)),
          of_guess(scalar_row("assembly_gap", "residual of the best assembly, in metres",
                              assembly_gap))};
}

std::vector<Quantity> acceleration_quantities() {
  return {freedom_row("velocity", "of each freedom", velocity_of),
          freedom_row("acceleration", "forward dynamics, O(N) sweeps", acceleration_of),
          freedom_row("dense_acceleration", "forward dynamics through the mass matrix",
                      dense_acceleration),
          freedom_row("multiplier_acceleration", "forward dynamics, loops by multipliers",
                      multiplier_acceleration),
          scalar_row("constraint_rank", "independent rows of all loops' closures here",
                     constraint_rank),
          freedom_row("batch_acceleration", "forward dynamics of the state in a batch",
                      batch_acceleration),
          freedom_row("effort", "inverse dynamics", effort),
          freedom_row("reduced_effort", "the state's efforts, at the independent freedoms",
                      reduced_effort),
          freedom_row("bias_effort", "inverse dynamics at acceleration zero", bias),
          freedom_row("hybrid_acceleration", "hybrid dynamics", hybrid_acceleration),
          freedom_row("hybrid_effort", "hybrid dynamics", hybrid_effort)};
}

std::vector<Quantity> mass_quantities() {
  return {
      freedom_matrix_row("mass_matrix", "by composite bodies", mass),
      scalar_row("mass_determinant", "determinant of the mass matrix", mass_determinant),
      freedom_row("hinge_inertia", "articulated inertia about each hinge of one freedom",
                  hinge_inertia),
      vector_row("gibbs", "Gibbs' function at the motion", {"reduced", "components", "particles"},
                 gibbs),
      scalar_row("kinetic_energy", "summed over bodies", kinetic),
      scalar_row("potential_energy", "gravity and springs", potential),
      scalar_row("total_energy", "kinetic and potential", total_energy),
      vector_row("linear_momentum", "ground axes", xyz_parts(), linear_momentum),
      vector_row("angular_momentum", "about the ground's origin", xyz_parts(), angular_momentum)};
}

std::vector<Quantity> body_quantities() {
  using Of = Quantity::Of;
  return {
      vector_row("hinge_wrench", "of the parent on the child, at the hinge", wrench_parts(),
                 hinge_wrench, Of::hinge),
      scalar_row("coupling_multiplier", "times a coefficient: the effort at that hinge",
                 coupling_multiplier, Of::coupling),
      scalar_row("rod_tension", "tension is positive", rod_tension, Of::rod),
      vector_row("body_position", "of the origin of the body's frame, ground axes", xyz_parts(),
                 body_position, Of::body),
      vector_row("body_twist", "of the body's frame, body axes", twist_parts(), twist_of, Of::body),
      vector_row("twist_rate", "rate of the twist's components, body axes", twist_parts(),
                 twist_rate_of, Of::body)};
}

}  // namespace catena
