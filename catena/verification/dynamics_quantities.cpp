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
#include "catena/verification/closure_quantities.h"
#include "catena/verification/flexible_quantities.h"
#include "catena/verification/optimal_quantities.h"
#include "catena/verification/quantities.h"
#include "catena/verification/sensitivity_quantities.h"

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

// At the motion, where it is least.
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

const std::vector<std::string> kXyz{"x", "y", "z"};
const std::vector<std::string> kWrench{"moment.x", "moment.y", "moment.z",
                                       "force.x",  "force.y",  "force.z"};
const std::vector<std::string> kTwist{"angular.x", "angular.y", "angular.z",
                                      "linear.x",  "linear.y",  "linear.z"};

// A table: long because it has many rows.
std::vector<Quantity> own_rows() {
  using Of = Quantity::Of;
  return {
      {"guess_cost", "where the search begins", Shape::scalar, {}, Of::problem, guess_cost},
      {"least_cost", "of the optimal motion", Shape::scalar, {}, Of::problem, least_cost},
      {"least_duration", "of the optimal motion", Shape::scalar, {}, Of::problem, least_duration},
      {"final_position", "where it ends", Shape::freedom_vector, {}, Of::problem, final_position},
      {"final_velocity", "how it ends", Shape::freedom_vector, {}, Of::problem, final_velocity},
      {"final_violation", "of its conditions", Shape::scalar, {}, Of::problem, final_violation},
      {"optimal_coefficients",
       "free, of all splines",
       Shape::list,
       {},
       Of::problem,
       optimal_coefficients},
      {"total_mass", "mass of all bodies", Shape::scalar, {}, Of::nothing, total_mass},
      {"bodies", "number of bodies", Shape::scalar, {}, Of::nothing, bodies},
      {"freedoms", "of the spanning tree", Shape::scalar, {}, Of::nothing, freedoms},
      {"loops", "number of loops", Shape::scalar, {}, Of::nothing, loops},
      {"mobility",
       "freedoms less independent constraints",
       Shape::scalar,
       {},
       Of::nothing,
       mobility},
      {"redundant", "constraints that depend on others", Shape::scalar, {}, Of::nothing, redundant},
      {"gruebler", "freedoms less all constraints", Shape::scalar, {}, Of::nothing, gruebler},
      {"loop_bodies", "the bodies of each loop", Shape::body_groups, {}, Of::nothing, loop_bodies},
      {"center_of_mass", "of all bodies, ground axes", Shape::vector, kXyz, Of::nothing,
       mass_center},
      {"position",
       "the coordinate of each freedom",
       Shape::freedom_vector,
       {},
       Of::nothing,
       position_of},
      {"closest_position",
       "the closed position nearest to the state's",
       Shape::freedom_vector,
       {},
       Of::nothing,
       closest_position,
       true},
      {"assembly_gap",
       "what the best assembly leaves open, in metres",
       Shape::scalar,
       {},
       Of::nothing,
       assembly_gap,
       true},
      {"newton_position",
       "closed by Newton's steps of least norm from the state",
       Shape::freedom_vector,
       {},
       Of::nothing,
       newton_position,
       true},
      {"weighted_velocity",
       "that keeps loops closed and is nearest by kinetic energy",
       Shape::freedom_vector,
       {},
       Of::nothing,
       weighted_velocity,
       true},
      {"hinge_opening", "twist of the child's side less the parent's, ground axes", Shape::vector,
       kTwist, Of::hinge, hinge_opening, true},
      {"closure_singular_values",
       "of the closures' rows, in metres, the smallest first",
       Shape::list,
       {},
       Of::nothing,
       closure_singular_values},
      {"inverse_inertia",
       "of two frames, ground axes",
       Shape::vector,
       {"norm_a", "norm_b", "norm_ab", "trace", "angular.x", "angular.y", "angular.z", "linear.x",
        "linear.y", "linear.z"},
       Of::frames,
       inverse_inertia},
      {"operator_residuals",
       "of the factored mass matrix against dense algebra",
       Shape::vector,
       {"mass", "factors", "inverse", "propagators", "compliance", "forward"},
       Of::nothing,
       operator_residuals},
      {"power_residual",
       "power of the efforts against the rate of energy",
       Shape::scalar,
       {},
       Of::nothing,
       power_residual},
      {"velocity", "of each freedom", Shape::freedom_vector, {}, Of::nothing, velocity_of},
      {"acceleration",
       "forward dynamics, O(N) sweeps",
       Shape::freedom_vector,
       {},
       Of::nothing,
       acceleration_of},
      {"dense_acceleration",
       "forward dynamics through the mass matrix",
       Shape::freedom_vector,
       {},
       Of::nothing,
       dense_acceleration},
      {"multiplier_acceleration",
       "forward dynamics, loops by multipliers",
       Shape::freedom_vector,
       {},
       Of::nothing,
       multiplier_acceleration},
      {"constraint_rank",
       "independent rows of all loops' closures here",
       Shape::scalar,
       {},
       Of::nothing,
       constraint_rank},
      {"batch_acceleration",
       "forward dynamics of the state in a batch",
       Shape::freedom_vector,
       {},
       Of::nothing,
       batch_acceleration},
      {"effort", "inverse dynamics", Shape::freedom_vector, {}, Of::nothing, effort},
      {"reduced_effort",
       "the state's efforts, at the independent freedoms",
       Shape::freedom_vector,
       {},
       Of::nothing,
       reduced_effort},
      {"bias_effort",
       "inverse dynamics at acceleration zero",
       Shape::freedom_vector,
       {},
       Of::nothing,
       bias},
      {"hybrid_acceleration",
       "hybrid dynamics",
       Shape::freedom_vector,
       {},
       Of::nothing,
       hybrid_acceleration},
      {"hybrid_effort", "hybrid dynamics", Shape::freedom_vector, {}, Of::nothing, hybrid_effort},
      {"acceleration_by_position",
       "forward dynamics by tangent directions of q",
       Shape::freedom_matrix,
       {},
       Of::nothing,
       acceleration_by_position},
      {"acceleration_by_velocity",
       "forward dynamics by velocities",
       Shape::freedom_matrix,
       {},
       Of::nothing,
       acceleration_by_velocity},
      {"acceleration_by_effort",
       "forward dynamics by efforts",
       Shape::freedom_matrix,
       {},
       Of::nothing,
       acceleration_by_effort},
      {"effort_by_position",
       "inverse dynamics by tangent directions of q",
       Shape::freedom_matrix,
       {},
       Of::nothing,
       effort_by_position},
      {"effort_by_velocity",
       "inverse dynamics by velocities",
       Shape::freedom_matrix,
       {},
       Of::nothing,
       effort_by_velocity},
      {"hybrid_by_position",
       "what hybrid dynamics finds, by tangent directions of q",
       Shape::freedom_matrix,
       {},
       Of::nothing,
       hybrid_by_position},
      {"hybrid_by_velocity",
       "what hybrid dynamics finds, by velocities",
       Shape::freedom_matrix,
       {},
       Of::nothing,
       hybrid_by_velocity},
      {"hybrid_by_input",
       "what hybrid dynamics finds, by given efforts and accelerations",
       Shape::freedom_matrix,
       {},
       Of::nothing,
       hybrid_by_input},
      {"hybrid_by_parameter",
       "what hybrid dynamics finds, by a parameter",
       Shape::freedom_vector,
       {},
       Of::parameter,
       hybrid_by_parameter},
      {"mass_matrix", "by composite bodies", Shape::freedom_matrix, {}, Of::nothing, mass},
      {"mass_determinant",
       "determinant of the mass matrix",
       Shape::scalar,
       {},
       Of::nothing,
       mass_determinant},
      {"hinge_inertia",
       "articulated inertia about each hinge of one freedom",
       Shape::freedom_vector,
       {},
       Of::nothing,
       hinge_inertia},
      {"gibbs",
       "Gibbs' function at the motion",
       Shape::vector,
       {"reduced", "components", "particles"},
       Of::nothing,
       gibbs},
      {"kinetic_energy", "summed over bodies", Shape::scalar, {}, Of::nothing, kinetic},
      {"potential_energy", "gravity and springs", Shape::scalar, {}, Of::nothing, potential},
      {"total_energy", "kinetic and potential", Shape::scalar, {}, Of::nothing, total_energy},
      {"linear_momentum", "ground axes", Shape::vector, kXyz, Of::nothing, linear_momentum},
      {"angular_momentum", "about the ground's origin", Shape::vector, kXyz, Of::nothing,
       angular_momentum},
      {"hinge_wrench", "of the parent on the child, at the hinge", Shape::vector, kWrench,
       Of::hinge, hinge_wrench},
      {"coupling_multiplier",
       "times a coefficient: the effort at that hinge",
       Shape::scalar,
       {},
       Of::coupling,
       coupling_multiplier},
      {"rod_tension", "tension is positive", Shape::scalar, {}, Of::rod, rod_tension},
      {"body_position", "of the origin of the body's frame, ground axes", Shape::vector, kXyz,
       Of::body, body_position},
      {"body_twist", "of the body's frame, body axes", Shape::vector, kTwist, Of::body, twist_of},
      {"twist_rate", "rate of the twist's components, body axes", Shape::vector, kTwist, Of::body,
       twist_rate_of},
  };
}

const std::vector<Quantity>& table() {
  static const std::vector<Quantity> kRows = [] {
    std::vector<Quantity> rows = own_rows();
    for (Quantity& row : flexible_quantities()) rows.push_back(std::move(row));
    return rows;
  }();
  return kRows;
}

}  // namespace

void pin_reference(const QuantityRequest& r, Workspace& w) {
  std::vector<std::uint8_t> pinned = r.input.motion_driven;
  for (const int i : r.freedoms) pinned[index(i)] = 1;
  pin(r, pinned, w);
}

Eigen::MatrixXd coordinates_of_freedoms(const QuantityRequest& r, const Eigen::VectorXd& q) {
  const auto coordinates = r.mechanism.coordinate_of_freedom();
  Matrix result =
      Matrix::Constant(r.mechanism.freedoms(), 1, std::numeric_limits<double>::quiet_NaN());
  for (const int i : r.freedoms) {
    const int coordinate = coordinates[index(i)];
    if (coordinate < 0)
      throw NumericalError("position: freedom '" + r.mechanism.velocity_names()[index(i)] +
                           "' has no coordinate of its own");
    result(i, 0) = q[coordinate];
  }
  return result;
}

std::span<const Quantity> quantities() { return table(); }

const Quantity* find_quantity(const std::string& name) {
  for (const Quantity& quantity : table())
    if (quantity.name == name) return &quantity;
  return nullptr;
}

int find_thing(const Mechanism& mechanism, Quantity::Of kind, const std::string& name) {
  const auto find = [&](const auto& list, const char* what) {
    std::vector<std::string> names;
    names.reserve(list.size());
    for (const auto& thing : list) names.push_back(thing.name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      throw NameError(std::string("no ") + what + " is named '" + name + "'" +
                      did_you_mean(name, names));
    return static_cast<int>(found - names.begin());
  };
  switch (kind) {
    case Quantity::Of::hinge:
      return mechanism.hinge_index(name);
    case Quantity::Of::coupling:
      return find(mechanism.description().couplings, "coupling");
    case Quantity::Of::rod:
      return find(mechanism.description().rods, "rod");
    case Quantity::Of::parameter:
      ParameterSet(mechanism, {name});
      return 0;
    case Quantity::Of::frames:
      return mechanism.frame_index(name);
    case Quantity::Of::flexible:
    case Quantity::Of::flexible_component:
      return find_flexible_body(mechanism, name).body;
    case Quantity::Of::problem:  // a file, which is read when it is solved
      return 0;
    case Quantity::Of::body:
    case Quantity::Of::nothing:
      break;
  }
  return mechanism.body_index(name);
}

Eigen::VectorXd number_groups(const std::vector<std::vector<int>>& groups, std::size_t count) {
  std::vector<int> first;
  for (const std::vector<int>& group : groups)
    if (!group.empty()) first.push_back(*std::min_element(group.begin(), group.end()));
  std::sort(first.begin(), first.end());
  Eigen::VectorXd result = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(count));
  for (const std::vector<int>& group : groups) {
    if (group.empty()) continue;
    const int least = *std::min_element(group.begin(), group.end());
    const auto place = std::lower_bound(first.begin(), first.end(), least);
    for (const int body : group) result[body] = static_cast<double>(place - first.begin() + 1);
  }
  return result;
}

}  // namespace catena
