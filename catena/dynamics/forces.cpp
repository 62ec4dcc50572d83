#include "catena/dynamics/forces.h"

#include <algorithm>

#include <Eigen/Cholesky>

#include "catena/dynamics/hinge_block.h"
#include "catena/dynamics/inverse.h"

namespace catena {
namespace {

decltype(auto) entry(auto&& container, int i) { return container[static_cast<std::size_t>(i)]; }

HingeMatrix map_of(const Workspace& w, int n) {
  const HingeBlock hinge(w, n);
  HingeMatrix h(6, hinge.freedoms());
  for (int k = 0; k < hinge.freedoms(); ++k) h.col(k) = to_eigen(hinge.column(k));
  return h;
}

// The ground as a node: at rest, pushed up against gravity.
Twistd acceleration_of(const Mechanism& mechanism, const Workspace& w, int node) {
  return node < 0 ? Twistd{Vec3d::zero(), -mechanism.gravity()} : w.node(node).acceleration;
}
Twistd twist_of(const Workspace& w, int node) {
  return node < 0 ? Twistd::zero() : w.node(node).twist;
}
Transformd pose_of(const Workspace& w, int node) {
  return node < 0 ? Transformd::identity() : w.node(node).pose;
}

}  // namespace

HingeMatrix hinge_complement(const HingeMatrix& free_map) {
  const Eigen::Index freedoms = free_map.cols();
  // Gram-Schmidt, twice for each column so that it holds to rounding.
  HingeMatrix basis(6, 6);
  Eigen::Index count = 0;
  const auto orthogonalize = [&](Vector6d x) {
    for (int pass = 0; pass < 2; ++pass)
      for (Eigen::Index k = 0; k < count; ++k) x -= basis.col(k).dot(x) * basis.col(k);
    return x;
  };
  for (Eigen::Index k = 0; k < freedoms; ++k) {
    basis.col(count) = orthogonalize(free_map.col(k)).normalized();
    ++count;
  }
  int chosen[6] = {};
  bool used[6] = {};
  // How much closer another direction must come to be taken before an earlier one.
  constexpr double kClearly = 1e-9;
  while (count < 6) {
    int best = -1;
    double farthest = 0.0;
    for (int i = 0; i < 6; ++i) {
      if (used[i]) continue;
      const double length = orthogonalize(Vector6d::Unit(i)).norm();
      if (length > farthest + kClearly) {
        farthest = length;
        best = i;
      }
    }
    used[best] = true;
    chosen[count] = best;
    basis.col(count) = orthogonalize(Vector6d::Unit(best)).normalized();
    ++count;
  }
  // In the order of the unit directions.
  HingeMatrix q(6, 6 - freedoms);
  Eigen::Index column = 0;
  for (int i = 0; i < 6; ++i)
    for (Eigen::Index k = freedoms; k < 6; ++k)
      if (chosen[k] == i) q.col(column++) = basis.col(k);
  return q;
}

HingeForce split_force(const Wrenchd& wrench, const HingeMatrix& free_map) {
  HingeForce f;
  f.wrench = wrench;
  f.free_map = free_map;
  f.constraint_map = hinge_complement(free_map);
  const Vector6d x = to_eigen(wrench);
  f.effort = free_map.transpose() * x;
  const HingeSquare metric = free_map.transpose() * free_map;
  f.free_force = f.effort;
  if (free_map.cols() > 0) metric.llt().solveInPlace(f.free_force);
  f.constraint_force = f.constraint_map.transpose() * x;
  return f;
}

InterbodyForces::InterbodyForces(const Mechanism& mechanism) : mechanism_(&mechanism) {
  const Topology& topology = mechanism.topology();
  const int bodies = static_cast<int>(mechanism.bodies().size());
  inboard_hinge_.assign(static_cast<std::size_t>(bodies), -1);
  inboard_body_.assign(static_cast<std::size_t>(bodies), -1);
  force_.resize(static_cast<std::size_t>(bodies), Wrenchd::zero());
  for (const BodyPlace& body : mechanism.bodies())
    inertia_.push_back(shift_to_parent(body.X_node_body, body.inertia));

  std::vector<std::vector<int>> welds(static_cast<std::size_t>(bodies) + 1);  // entry 0: the world
  for (const int h : topology.weld_hinges) {
    const HingePlace& weld = entry(mechanism.hinges(), h);
    entry(welds, weld.parent_body + 1).push_back(h);
    entry(welds, weld.child_body + 1).push_back(h);
  }
  // From the body that each node hangs by, along its welds; nodes parent first.
  const auto spread = [&](int anchor) {
    std::vector<int> open{anchor};
    if (anchor >= 0) order_.push_back(anchor);
    for (std::size_t i = 0; i < open.size(); ++i) {
      const int body = open[i];
      for (const int h : entry(welds, body + 1)) {
        if (body >= 0 && entry(inboard_hinge_, body) == h) continue;
        const HingePlace& weld = entry(mechanism.hinges(), h);
        const int other = weld.parent_body == body ? weld.child_body : weld.parent_body;
        entry(inboard_hinge_, other) = h;
        entry(inboard_body_, other) = body;
        order_.push_back(other);
        open.push_back(other);
      }
    }
  };
  spread(-1);
  for (const Node& node : mechanism.nodes()) {
    const HingePlace& hinge = entry(mechanism.hinges(), node.hinge_index);
    const int anchor = hinge.reversed ? hinge.parent_body : hinge.child_body;
    entry(inboard_hinge_, anchor) = node.hinge_index;
    entry(inboard_body_, anchor) = hinge.reversed ? hinge.child_body : hinge.parent_body;
    spread(anchor);
  }
  for (const DrivePlace& drive : mechanism.drives()) {
    const DriveSettings& settings = *entry(mechanism.description().hinges, drive.hinge).drive;
    carrier_body_.push_back(settings.carrier.empty()
                                ? entry(mechanism.hinges(), drive.hinge).parent_body
                                : mechanism.body_index(settings.carrier));
  }
}

void InterbodyForces::add_to_body(int body, const Wrenchd& needed) {
  if (body >= 0) entry(force_, body) += needed;
}

void InterbodyForces::add_loads(std::span<const ExternalWrench> external, const Workspace& w) {
  for (const ExternalWrench& e : external) {
    if (e.body < 0) continue;
    const BodyPlace& body = entry(mechanism_->bodies(), e.body);
    const Rotationd axes = e.axes == ExternalWrench::Axes::body
                               ? body.X_node_body.rotation
                               : pose_of(w, body.node).rotation.inverse();
    const Vec3d force = axes * e.wrench.force;
    add_to_body(e.body,
                -Wrenchd{axes * e.wrench.moment + cross(body.X_node_body * e.point, force), force});
  }
}

void InterbodyForces::add_springs(const Workspace& w) {
  for (const SpringPlace& spring : mechanism_->springs()) {
    const Transformd pose_a = pose_of(w, spring.a.node), pose_b = pose_of(w, spring.b.node);
    const auto velocity = [&](const PointPlace& at, const Transformd& pose) {
      const Twistd v = twist_of(w, at.node);
      return pose.rotation * (v.linear + cross(v.angular, at.point));
    };
    const Vec3d gap = pose_b * spring.b.point - pose_a * spring.a.point;
    const double length = norm(gap);
    if (!(length > 0.0)) continue;  // dynamics has complained already if that is wrong
    const Vec3d direction = gap * (1.0 / length);
    const double rate = dot(direction, velocity(spring.b, pose_b) - velocity(spring.a, pose_a));
    const double tension = spring.stiffness * (length - spring.rest_length) + spring.damping * rate;
    const Vec3d on_a = pose_a.rotation.inverse_times(tension * direction);
    const Vec3d on_b = pose_b.rotation.inverse_times(-tension * direction);
    add_to_body(spring.a.body, -Wrenchd{cross(spring.a.point, on_a), on_a});
    add_to_body(spring.b.body, -Wrenchd{cross(spring.b.point, on_b), on_b});
  }
}

// A rotor asks its carrier for the moment c v̇ + ω × c v, c = ratio · rotor inertia · axis.
void InterbodyForces::add_rotors(const State& state, const Eigen::VectorXd& acceleration,
                                 const Workspace& w) {
  for (std::size_t i = 0; i < carrier_body_.size(); ++i) {
    const DrivePlace& drive = mechanism_->drives()[i];
    if (drive.armature_only || drive.carrier_node < 0) continue;
    const Vec3d c = drive.gear_ratio * drive.rotor_inertia * drive.rotor_axis;
    const Vec3d moment = acceleration[drive.v_index] * c +
                         cross(twist_of(w, drive.carrier_node).angular, state.v[drive.v_index] * c);
    add_to_body(carrier_body_[i], {moment, Vec3d::zero()});
  }
}

void InterbodyForces::compute(const State& state, const Eigen::VectorXd& acceleration, Workspace& w,
                              std::span<const ExternalWrench> external) {
  inverse_dynamics(*mechanism_, state, acceleration, w, external);
  collect(state, acceleration, w, external);
}

void InterbodyForces::collect(const State& state, const Eigen::VectorXd& acceleration, Workspace& w,
                              std::span<const ExternalWrench> external) {
  workspace_ = &w;
  const SweepModel& model = w.model();
  NodeScratch<double>* nodes = w.scratch().nodes;
  for (int n = 0; n < model.node_count; ++n) {
    const int parent = model.nodes[n].parent;
    nodes[n].pose = parent < 0 ? nodes[n].to_parent : nodes[parent].pose * nodes[n].to_parent;
  }
  // What each body needs by itself.
  for (std::size_t b = 0; b < force_.size(); ++b) {
    const int node = mechanism_->bodies()[b].node;
    const Twistd v = twist_of(w, node);
    force_[b] = inertia_[b] * acceleration_of(*mechanism_, w, node) - ad_star(v, inertia_[b] * v);
  }
  add_loads(external, w);
  add_springs(w);
  add_rotors(state, acceleration, w);
  // Inward over the bodies.
  for (std::size_t i = order_.size(); i-- > 0;) {
    const int body = order_[i];
    const int inner = entry(inboard_body_, body);
    if (inner < 0) continue;
    const int node = entry(mechanism_->bodies(), body).node;
    const Wrenchd& f = entry(force_, body);
    const bool same = entry(mechanism_->bodies(), inner).node == node;
    entry(force_, inner) += same ? f : Ad_star_inverse(w.node(node).to_parent, f);
  }
}

HingeForce InterbodyForces::at(int h, ForceAxes axes) const {
  const HingePlace& hinge = entry(mechanism_->hinges(), h);
  if (workspace_ == nullptr)
    throw NumericalError("interbody forces: nothing has been computed yet");
  const Workspace& w = *workspace_;
  const bool outward = hinge.child_body >= 0 && entry(inboard_hinge_, hinge.child_body) == h;
  const int outer_body = outward ? hinge.child_body : hinge.parent_body;
  if (hinge.role == HingePlace::Role::cut || outer_body < 0 ||
      entry(inboard_hinge_, outer_body) != h)
    throw NumericalError("hinge '" + hinge.name +
                         "' is cut; its force comes from the closure of its loop");

  // The wrench on the user's child and the motion of the child against its parent, both in the
  // frame of the child's node.
  const int node = entry(mechanism_->bodies(), outer_body).node;
  const bool moves = hinge.role == HingePlace::Role::tree;
  Wrenchd f = entry(force_, outer_body);
  HingeMatrix map = moves ? map_of(w, node) : HingeMatrix(6, 0);
  if (!outward) {
    f = -f;
    if (moves) {
      f = Ad_star_inverse(w.node(node).to_parent, f);
      const Matrix6d shift = matrix_Ad(w.node(node).to_parent);
      for (Eigen::Index k = 0; k < map.cols(); ++k) map.col(k) = -(shift * map.col(k)).eval();
    }
  }
  // To the hinge frame on the child, then into the axes asked for.
  Transformd X_node_body;
  int child_node = -1;
  if (hinge.child_body >= 0) {
    const BodyPlace& child = entry(mechanism_->bodies(), hinge.child_body);
    X_node_body = child.X_node_body;
    child_node = child.node;
  }
  Transformd x = X_node_body * entry(mechanism_->description().hinges, h).frame_on_child;
  if (axes == ForceAxes::body) x.rotation = X_node_body.rotation;
  if (axes == ForceAxes::ground) x.rotation = pose_of(w, child_node).rotation.inverse();
  const Matrix6d back = matrix_Ad(x.inverse());
  for (Eigen::Index k = 0; k < map.cols(); ++k) map.col(k) = (back * map.col(k)).eval();
  return split_force(Ad_star(x, f), map);
}

Wrenchd interbody_force_after_forward(const Workspace& w, int n) {
  return w.node(n).articulated * w.node(n).acceleration + w.node(n).force;
}

ArmstrongForm armstrong_form(const Workspace& w, int n) {
  return armstrong_form(w, n, hinge_complement(map_of(w, n)));
}

ArmstrongForm armstrong_form(const Workspace& w, int n, const HingeMatrix& constraint_map) {
  ArmstrongForm form;
  form.free_map = map_of(w, n);
  form.constraint_map = constraint_map;
  const HingeMatrix& h = form.free_map;
  const HingeMatrix& q = form.constraint_map;
  const Matrix6d p = to_eigen(w.node(n).articulated);
  const Vector6d z = to_eigen(w.node(n).force);
  const HingeMatrix ph = p * h, pq = p * q;
  const HingeSquare d = h.transpose() * ph;
  const auto factor = d.llt();
  const HingeSquare coupling = h.transpose() * pq;  // P_PQ
  const Vector6d f = to_eigen(interbody_force_after_forward(w, n));
  const HingeVector innovation = h.transpose() * (f - z);
  form.inertia = q.transpose() * pq - coupling.transpose() * factor.solve(coupling);
  form.residual = q.transpose() * z + coupling.transpose() * factor.solve(innovation);
  form.acceleration = q.transpose() * to_eigen(w.node(n).acceleration);
  form.constraint_force = q.transpose() * f;
  return form;
}

}  // namespace catena
