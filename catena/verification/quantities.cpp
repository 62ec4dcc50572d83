#include "catena/verification/quantities.h"

#include <Eigen/LU>

#include "catena/closure/mobility.h"
#include "catena/dynamics/energy.h"
#include "catena/dynamics/forces.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/gibbs.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/dynamics/momentum.h"
#include "catena/spatial/eigen.h"

namespace catena {
namespace {

using Request = const QuantityRequest&;
using Matrix = Eigen::MatrixXd;

Matrix scalar(double value) { return Matrix::Constant(1, 1, value); }

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

Matrix mass_center(Request r) { return column(center_of_mass(r.mechanism, r.input.state.q)); }

// The coordinate of each freedom.
Matrix position_of(Request r) {
  const auto coordinates = r.mechanism.coordinate_of_freedom();
  Matrix result(r.mechanism.freedoms(), 1);
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    if (coordinates[i] < 0)
      throw NumericalError("position: freedom '" + r.mechanism.velocity_names()[i] +
                           "' has no coordinate of its own");
    result(static_cast<Eigen::Index>(i), 0) = r.input.state.q[coordinates[i]];
  }
  return result;
}

Matrix velocity_of(Request r) { return r.input.state.v; }

Matrix acceleration_of(Request r) {
  return forward_dynamics(r.mechanism, r.input.state, r.input.effort, r.input.external);
}

Matrix dense_acceleration(Request r) {
  return forward_dynamics(r.mechanism, r.input.state, r.input.effort, r.input.external,
                          Route::dense);
}

Matrix effort(Request r) {
  return inverse_dynamics(r.mechanism, r.input.state, r.input.acceleration, r.input.external);
}

Matrix bias(Request r) { return bias_effort(r.mechanism, r.input.state, r.input.external); }

HybridResult hybrid(Request r) {
  return hybrid_dynamics(r.mechanism, r.input.state,
                         {r.input.motion_driven, r.input.effort, r.input.acceleration},
                         r.input.external);
}

Matrix hybrid_acceleration(Request r) { return hybrid(r).acceleration; }
Matrix hybrid_effort(Request r) { return hybrid(r).effort; }

Matrix mass(Request r) { return mass_matrix(r.mechanism, r.input.state.q); }

Matrix mass_determinant(Request r) {
  return scalar(mass_matrix(r.mechanism, r.input.state.q).determinant());
}

Matrix kinetic(Request r) { return scalar(energy(r.mechanism, r.input.state).kinetic); }
Matrix potential(Request r) { return scalar(energy(r.mechanism, r.input.state).potential()); }
Matrix total_energy(Request r) { return scalar(energy(r.mechanism, r.input.state).total()); }
Matrix linear_momentum(Request r) { return column(momentum(r.mechanism, r.input.state).linear); }
Matrix angular_momentum(Request r) { return column(momentum(r.mechanism, r.input.state).angular); }

Matrix hinge_wrench(Request r) {
  Workspace w(r.mechanism);
  const Eigen::VectorXd acceleration = acceleration_of(r);
  InterbodyForces forces(r.mechanism);
  forces.compute(r.input.state, acceleration, w, r.input.external);
  const ForceAxes axes = r.ground_axes ? ForceAxes::ground : ForceAxes::body;
  return to_eigen(forces.at(r.mechanism.hinge_index(r.of), axes).wrench);
}

// Hᵀ P H, the articulated inertia about each hinge of one freedom.
Matrix hinge_inertia(Request r) {
  Workspace w(r.mechanism);
  forward_dynamics(r.mechanism, r.input.state, r.input.effort, w, r.input.external,
                   Route::recursive);
  Matrix result(r.mechanism.freedoms(), 1);
  for (int n = 0; n < static_cast<int>(r.mechanism.nodes().size()); ++n) {
    const Node& node = r.mechanism.nodes()[static_cast<std::size_t>(n)];
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

const std::vector<Quantity>& table() {
  using Shape = Quantity::Shape;
  using Of = Quantity::Of;
  static const std::vector<Quantity> rows{
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
      {"center_of_mass", "of all bodies, ground axes", Shape::vector, kXyz, Of::nothing,
       mass_center},
      {"position",
       "the coordinate of each freedom",
       Shape::freedom_vector,
       {},
       Of::nothing,
       position_of},
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
      {"effort", "inverse dynamics", Shape::freedom_vector, {}, Of::nothing, effort},
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
      {"body_twist", "of the body's frame, body axes", Shape::vector, kTwist, Of::body, twist_of},
      {"twist_rate", "rate of the twist's components, body axes", Shape::vector, kTwist, Of::body,
       twist_rate_of},
  };
  return rows;
}

}  // namespace

std::span<const Quantity> quantities() { return table(); }

const Quantity* find_quantity(const std::string& name) {
  for (const Quantity& quantity : table())
    if (quantity.name == name) return &quantity;
  return nullptr;
}

}  // namespace catena
