#include "catena/dynamics/operators.h"

#include <algorithm>
#include <cmath>

#include "catena/dynamics/hinge_block.h"

namespace catena {
namespace {

// Each operator maps a vector over the freedoms to another; this is the only check they make.
void match(const Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  if (x.size() != w.model().freedoms)
    throw NumericalError("the vector has " + std::to_string(x.size()) +
                         " entries, but this mechanism has " + std::to_string(w.model().freedoms) +
                         " freedoms");
  if (y.size() != x.size()) y.resize(x.size());
}

[[noreturn]] void throw_no_inertia(const Mechanism& mechanism, int n) {
  const Node& node = mechanism.nodes()[static_cast<std::size_t>(n)];
  throw NumericalError("hinge '" +
                       mechanism.hinges()[static_cast<std::size_t>(node.hinge_index)].name +
                       "': its inertia is not positive in this position");
}

}  // namespace

void articulate(const Mechanism& mechanism, const Eigen::VectorXd& q, Workspace& w) {
  if (!mechanism.loops().empty())
    throw NumericalError("'" + mechanism.name() +
                         "' has closed loops; the factors of the mass matrix are for trees");
  if (!w.remote_drives().empty())
    throw NumericalError(
        "the drive of hinge '" +
        mechanism.hinges()[static_cast<std::size_t>(w.remote_drives().front().hinge)].name +
        "' is carried by a body that is not its parent; the mass matrix has no O(N) factors then");
  PreparedInput in = prepare_position(mechanism, q, w);
  w.vector.setZero();
  in.v = w.vector.data();
  Scratch<double> scratch = w.scratch();
  const int failed = kernel_table().forward(w.model(), in, &scratch, w.acceleration.data());
  if (failed != kSweepDone) throw_no_inertia(mechanism, failed);
}

// Outward: twists at velocity x. Inward: momenta; a rotor holds c·ω of its carrier and gives it
// c v, with c = ratio · rotor inertia · axis.
void apply_mass_matrix(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  match(w, x, y);
  const SweepModel& model = w.model();
  NodeScratch<double>* nodes = w.scratch().nodes;
  for (int n = 0; n < model.node_count; ++n) {
    const HingeBlock hinge(w, n);
    nodes[n].acceleration = hinge.motion(x.data() + hinge.v_index());
    if (hinge.parent() >= 0)
      nodes[n].acceleration += Ad_inverse(hinge.to_parent(), nodes[hinge.parent()].acceleration);
    nodes[n].force = load_inertia<double>(model.nodes[n]) * nodes[n].acceleration;
  }
  for (const DrivePlace& drive : w.remote_drives()) {
    const Vec3d c = drive.gear_ratio * drive.rotor_inertia * drive.rotor_axis;
    nodes[drive.carrier_node].force.moment += x[drive.v_index] * c;
  }
  for (int n = model.node_count; n-- > 0;) {
    const HingeBlock hinge(w, n);
    const int v = hinge.v_index();
    double own = 0.0;  // of the rotor
    if (model.rotors != nullptr && hinge.freedoms() == 1) {
      own = model.rotors[n].reflected * x[v];
      if (hinge.parent() >= 0) {
        const Vec3d c = load_vec3<double>(model.rotors[n].coupling);
        own += dot(c, nodes[hinge.parent()].acceleration.angular);
        nodes[hinge.parent()].force.moment += x[v] * c;
      }
    }
    hinge.project(nodes[n].force, y.data() + v);
    y[v] += own;
    if (hinge.parent() >= 0)
      nodes[hinge.parent()].force += Ad_star_inverse(hinge.to_parent(), nodes[n].force);
  }
  for (const DrivePlace& drive : w.remote_drives()) {
    const Vec3d c = drive.gear_ratio * drive.rotor_inertia * drive.rotor_axis;
    y[drive.v_index] += dot(c, nodes[drive.carrier_node].acceleration.angular);
  }
}

Eigen::VectorXd apply_mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                  const Eigen::VectorXd& x) {
  Workspace w(mechanism);
  const PreparedInput in = prepare_position(mechanism, q, w);
  Scratch<double> scratch = w.scratch();
  kernel_table().kinematics(w.model(), in, &scratch);
  Eigen::VectorXd y;
  apply_mass_matrix(w, x, y);
  return y;
}

// Inward: y = x + Hᵀ z,  z_parent += Ad*⁻¹ z + gain D⁻¹ x.
void apply_factor(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  match(w, x, y);
  NodeScratch<double>* nodes = w.scratch().nodes;
  const int count = w.model().node_count;
  for (int n = 0; n < count; ++n) nodes[n].force = Wrenchd::zero();
  for (int n = count; n-- > 0;) {
    const HingeBlock hinge(w, n);
    double own[kMaxFreedoms], felt[kMaxFreedoms];
    std::copy_n(x.data() + hinge.v_index(), hinge.freedoms(), own);
    hinge.project(nodes[n].force, felt);
    for (int k = 0; k < hinge.freedoms(); ++k) y[hinge.v_index() + k] = own[k] + felt[k];
    if (hinge.parent() < 0) continue;
    hinge.solve(own);
    nodes[hinge.parent()].force += hinge.passed(nodes[n].force, own);
  }
}

// Inward, the filter: ε = x − Hᵀ z,  z_parent += Ad*⁻¹ z + gain D⁻¹ ε.
void apply_inverse_factor(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  match(w, x, y);
  NodeScratch<double>* nodes = w.scratch().nodes;
  const int count = w.model().node_count;
  for (int n = 0; n < count; ++n) nodes[n].force = Wrenchd::zero();
  for (int n = count; n-- > 0;) {
    const HingeBlock hinge(w, n);
    double own[kMaxFreedoms];
    hinge.project(nodes[n].force, own);
    for (int k = 0; k < hinge.freedoms(); ++k) {
      own[k] = x[hinge.v_index() + k] - own[k];
      y[hinge.v_index() + k] = own[k];
    }
    if (hinge.parent() < 0) continue;
    hinge.solve(own);
    nodes[hinge.parent()].force += hinge.passed(nodes[n].force, own);
  }
}

// Outward: V = Ad⁻¹ V_parent + H x,  y = x + D⁻¹ gainᵀ V_parent.
void apply_factor_transposed(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  match(w, x, y);
  NodeScratch<double>* nodes = w.scratch().nodes;
  for (int n = 0; n < w.model().node_count; ++n) {
    const HingeBlock hinge(w, n);
    const int v = hinge.v_index();
    Twistd& twist = nodes[n].acceleration;
    twist = hinge.motion(x.data() + v);
    double pulled[kMaxFreedoms] = {};
    if (hinge.parent() >= 0) {
      const Twistd& outer_twist = nodes[hinge.parent()].acceleration;
      const Twistd carried = Ad_inverse(hinge.to_parent(), outer_twist);
      hinge.pull(outer_twist, carried, pulled);
      hinge.solve(pulled);
      twist += carried;
    }
    for (int k = 0; k < hinge.freedoms(); ++k) y[v + k] = x[v + k] + pulled[k];
  }
}

// Outward: y = x − D⁻¹ gainᵀ V_parent,  V = Ad⁻¹ V_parent + H y.
void apply_inverse_factor_transposed(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  match(w, x, y);
  NodeScratch<double>* nodes = w.scratch().nodes;
  for (int n = 0; n < w.model().node_count; ++n) {
    const HingeBlock hinge(w, n);
    const int v = hinge.v_index();
    Twistd carried = Twistd::zero();
    double pulled[kMaxFreedoms] = {};
    if (hinge.parent() >= 0) {
      const Twistd& outer_twist = nodes[hinge.parent()].acceleration;
      carried = Ad_inverse(hinge.to_parent(), outer_twist);
      hinge.pull(outer_twist, carried, pulled);
      hinge.solve(pulled);
    }
    for (int k = 0; k < hinge.freedoms(); ++k) y[v + k] = x[v + k] - pulled[k];
    nodes[n].acceleration = carried + hinge.motion(y.data() + v);
  }
}

namespace {

// y := x with f(hinge, its part of y) applied at every hinge.
template <class F>
void at_every_hinge(const Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y, F f) {
  match(w, x, y);
  if (&x != &y) y = x;
  for (int n = 0; n < w.model().node_count; ++n) {
    const HingeBlock hinge(w, n);
    f(hinge, y.data() + hinge.v_index());
  }
}

}  // namespace

void apply_hinge_inertia(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  at_every_hinge(w, x, y, [](const HingeBlock& hinge, double* own) { hinge.times_inertia(own); });
}

void apply_inverse_hinge_inertia(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  at_every_hinge(w, x, y, [](const HingeBlock& hinge, double* own) { hinge.solve(own); });
}

void apply_inverse_mass_matrix(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  apply_inverse_factor(w, x, y);
  apply_inverse_hinge_inertia(w, y, y);
  apply_inverse_factor_transposed(w, y, y);
}

Eigen::VectorXd apply_inverse_mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                          const Eigen::VectorXd& x) {
  Workspace w(mechanism);
  articulate(mechanism, q, w);
  Eigen::VectorXd y;
  apply_inverse_mass_matrix(w, x, y);
  return y;
}

void inverse_mass_matrix(Workspace& w, Eigen::MatrixXd& inverse) {
  const SweepModel& model = w.model();
  if (inverse.rows() != model.freedoms || inverse.cols() != model.freedoms)
    inverse.resize(model.freedoms, model.freedoms);
  NodeScratch<double>* nodes = w.scratch().nodes;
  Eigen::VectorXd& filtered = w.vector;  // D⁻¹ ε: zero off the way to the ground
  for (int source = 0; source < model.node_count; ++source) {
    const HingeBlock start(w, source);
    for (int j = start.v_index(); j < start.v_index() + start.freedoms(); ++j) {
      filtered.setZero();
      filtered[j] = 1.0;
      Wrenchd z = Wrenchd::zero();
      for (int n = source; n >= 0; n = model.nodes[n].parent) {
        const HingeBlock hinge(w, n);
        double own[kMaxFreedoms];
        hinge.project(z, own);
        for (int k = 0; k < hinge.freedoms(); ++k) own[k] = filtered[hinge.v_index() + k] - own[k];
        hinge.solve(own);
        std::copy_n(own, hinge.freedoms(), filtered.data() + hinge.v_index());
        if (hinge.parent() >= 0) z = hinge.passed(z, own);
      }
      for (int n = 0; n < model.node_count; ++n) {
        const HingeBlock hinge(w, n);
        const int v = hinge.v_index();
        Twistd carried = Twistd::zero();
        double own[kMaxFreedoms] = {};
        if (hinge.parent() >= 0) {
          const Twistd& outer_twist = nodes[hinge.parent()].acceleration;
          carried = Ad_inverse(hinge.to_parent(), outer_twist);
          hinge.pull(outer_twist, carried, own);
          hinge.solve(own);
        }
        for (int k = 0; k < hinge.freedoms(); ++k) {
          own[k] = filtered[v + k] - own[k];
          if (v + k < j) continue;
          inverse(v + k, j) = own[k];
          inverse(j, v + k) = own[k];
        }
        nodes[n].acceleration = carried + hinge.motion(own);
      }
    }
  }
}

Eigen::MatrixXd inverse_mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  Workspace w(mechanism);
  articulate(mechanism, q, w);
  Eigen::MatrixXd inverse;
  inverse_mass_matrix(w, inverse);
  return inverse;
}

void normalized_velocity(Workspace& w, const Eigen::VectorXd& v, Eigen::VectorXd& nu) {
  apply_factor_transposed(w, v, nu);
  at_every_hinge(w, nu, nu,
                 [](const HingeBlock& hinge, double* own) { hinge.times_root_transposed(own); });
}

void velocity_from_normalized(Workspace& w, const Eigen::VectorXd& nu, Eigen::VectorXd& v) {
  at_every_hinge(
      w, nu, v, [](const HingeBlock& hinge, double* own) { hinge.divide_by_root_transposed(own); });
  apply_inverse_factor_transposed(w, v, v);
}

double log_determinant_mass_matrix(const Workspace& w) {
  double sum = 0.0;
  for (int n = 0; n < w.model().node_count; ++n) sum += HingeBlock(w, n).log_determinant();
  return sum;
}

double determinant_mass_matrix(const Workspace& w) {
  return std::exp(log_determinant_mass_matrix(w));
}

}  // namespace catena
