// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/forces.h"

#include <algorithm>
#include <cmath>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/closure/assembly.h"
#include "catena/closure/rows.h"
#include "catena/dynamics/hinge_force.h"
#include "catena/dynamics/inverse.h"

namespace catena {
namespace {

// A component with less self-stress than this counts as determined. In a file with few digits the
// threshold is this many times the residual of its redundant rows.
constexpr double kUnreached = 1e-9;
constexpr double kRoundedParts = 100.0;

decltype(auto) entry(auto&& container, int i) { return container[index(i)]; }

// The ground as a node: at rest, pushed up against gravity.
Twistd acceleration_of(const Mechanism& mechanism, const Workspace& w, int node) {
  return node < 0 ? Twistd{Vec3d::zero(), -mechanism.gravity()} : w.node(node).acceleration;
}

}  // namespace

InterbodyForces::InterbodyForces(const Mechanism& mechanism) : mechanism_(&mechanism) {
  const Topology& topology = mechanism.topology();
  const int bodies = static_cast<int>(mechanism.bodies().size());
  inboard_hinge_.assign(to_size(bodies), -1);
  inboard_body_.assign(to_size(bodies), -1);
  force_.resize(to_size(bodies), Wrenchd::zero());
  for (const BodyPlace& body : mechanism.bodies())
    inertia_.push_back(shift_to_parent(body.X_node_body, body.inertia));

  std::vector<std::vector<int>> welds(to_size(bodies) + 1);  // entry 0: the world
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
    if (hinge.role == HingePlace::Role::cut) continue;  // moves no body
    const int anchor = hinge.reversed ? hinge.parent_body : hinge.child_body;
    entry(inboard_hinge_, anchor) = node.hinge_index;
    entry(inboard_body_, anchor) = hinge.reversed ? hinge.child_body : hinge.parent_body;
    spread(anchor);
  }
  cut_force_.resize(mechanism.hinges().size(), Wrenchd::zero());
  rod_tension_.resize(mechanism.description().rods.size(), 0.0);
  coupling_multiplier_.resize(mechanism.description().couplings.size(), 0.0);
  rod_open_.resize(rod_tension_.size(), 0);
  coupling_open_.resize(coupling_multiplier_.size(), 0);
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

// Moment that a rotor takes from its carrier: c v̇ + ω × c v, c = ratio · rotor inertia · axis.
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

void InterbodyForces::place_nodes(Workspace& w) {
  const SweepModel& model = w.model();
  NodeScratch<double>* nodes = w.scratch().nodes;
  for (int n = 0; n < model.node_count; ++n) {
    const int parent = model.nodes[n].parent;
    nodes[n].pose = parent < 0 ? nodes[n].to_parent : nodes[parent].pose * nodes[n].to_parent;
  }
}

// The wrench that moves each body, without those outboard.
void InterbodyForces::start_bodies(const Workspace& w) {
  for (std::size_t b = 0; b < force_.size(); ++b) {
    const int node = mechanism_->bodies()[b].node;
    const Twistd v = twist_of(w, node);
    force_[b] = inertia_[b] * acceleration_of(*mechanism_, w, node) - ad_star(v, inertia_[b] * v);
  }
}

// What moves a flexible body beyond its rigid inertia at rest: after inverse dynamics.
void InterbodyForces::add_deformation(const Eigen::VectorXd& acceleration, const Workspace& w) {
  for (const FlexiblePlace& body : mechanism_->flexible_bodies()) {
    const Node& node = entry(mechanism_->nodes(), body.node);
    const FlexibleScratch<double>& f = w.modes(body.node);
    Wrenchd force = f.bias + f.change * w.node(body.node).acceleration;
    for (int k = 0; k < node.freedoms; ++k) force += acceleration[node.v_index + k] * f.coupling[k];
    const HingePlace& hinge = entry(mechanism_->hinges(), node.hinge_index);
    add_to_body(hinge.child_body, force);
  }
}

// Inward over the bodies.
void InterbodyForces::sweep_bodies(const Workspace& w, std::vector<Wrenchd>& force) const {
  for (std::size_t i = order_.size(); i-- > 0;) {
    const int body = order_[i];
    const int inner = entry(inboard_body_, body);
    if (inner < 0) continue;
    const int node = entry(mechanism_->bodies(), body).node;
    const Wrenchd& f = entry(force, body);
    const bool same = entry(mechanism_->bodies(), inner).node == node;
    entry(force, inner) += same ? f : Ad_star_inverse(w.node(node).to_parent, f);
  }
}

void InterbodyForces::compute(const State& state, const Eigen::VectorXd& acceleration, Workspace& w,
                              std::span<const ExternalWrench> external,
                              const Eigen::VectorXd* effort) {
  const Eigen::VectorXd& found = inverse_dynamics(*mechanism_, state, acceleration, w, external);
  if (mechanism_->loops().empty()) {
    gather(state, acceleration, w, external);
    return;
  }
  // Beyond the actuators' efforts, damping, friction and springs of the hinges act.
  Eigen::VectorXd open = effort != nullptr ? *effort : found;
  check_vector(mechanism_->velocity_names(), open, "effort");
  const PreparedInput in = prepare(*mechanism_, state, &open, external, w);
  if (in.effort != nullptr) open = Eigen::Map<const Eigen::VectorXd>(in.effort, open.size());
  const Eigen::VectorXd all =
      Eigen::Map<const Eigen::VectorXd>(w.all_accelerations().data(), open.size());
  SweepInput tree = in;
  tree.acceleration = all.data();
  Scratch<double> scratch = w.scratch();
  kernel_table().inverse(w.tree_model(), tree, &scratch, w.vector.data());
  open = w.vector - open;

  workspace_ = &w;
  place_nodes(w);
  start_bodies(w);
  add_loads(external, w);
  add_springs(w);
  add_rotors(state, all, w);
  add_deformation(all, w);
  add_closures(state, open, w);
  sweep_bodies(w, force_);
}

void InterbodyForces::collect(const State& state, const Eigen::VectorXd& acceleration, Workspace& w,
                              std::span<const ExternalWrench> external) {
  if (!mechanism_->loops().empty())
    throw NumericalError("the forces of a closed mechanism need the efforts: use compute()");
  if (mechanism_->has_flexible_bodies())  // forward dynamics leaves sums in their matrices
    inverse_dynamics(*mechanism_, state, acceleration, w, external);
  gather(state, acceleration, w, external);
}

void InterbodyForces::gather(const State& state, const Eigen::VectorXd& acceleration, Workspace& w,
                             std::span<const ExternalWrench> external) {
  workspace_ = &w;
  place_nodes(w);
  start_bodies(w);
  add_loads(external, w);
  add_springs(w);
  add_rotors(state, acceleration, w);
  add_deformation(acceleration, w);
  sweep_bodies(w, force_);
}

void InterbodyForces::apply_closure(const Closure& c, const Wrenchd& on_child, const Workspace& w,
                                    std::vector<Wrenchd>& force) const {
  int parent_body = -1, child_body = -1;
  Transformd child_frame;
  if (c.kind == ClosureKind::rod) {
    const Rod& rod = entry(mechanism_->description().rods, c.place);
    parent_body = mechanism_->body_index(rod.body_a);
    child_body = mechanism_->body_index(rod.body_b);
    child_frame = Transformd::from_translation(rod.point_b);
  } else {
    const HingePlace& hinge = entry(mechanism_->hinges(), c.place);
    parent_body = hinge.parent_body;
    child_body = hinge.child_body;
    child_frame = entry(mechanism_->description().hinges, c.place).frame_on_child;
  }
  const auto node_of = [&](int body) {
    return body < 0 ? -1 : entry(mechanism_->bodies(), body).node;
  };
  if (child_body >= 0)
    child_frame = entry(mechanism_->bodies(), child_body).X_node_body * child_frame;
  const Wrenchd at_child = Ad_star_inverse(child_frame, on_child);
  if (child_body >= 0) entry(force, child_body) -= at_child;
  if (parent_body >= 0)
    entry(force, parent_body) += Ad_star_inverse(
        pose_of(w, node_of(parent_body)).inverse() * pose_of(w, node_of(child_body)), at_child);
}

namespace {

struct LoopForces {
  Eigen::VectorXd lambda;       // multipliers of the closure's rows
  Eigen::MatrixXd self_stress;  // an orthonormal basis of those that act on nothing
  // Relative residual of the redundant rows as combinations of the others: more than rounding in a
  // file with few digits.
  double unexplained = 0.0;
};

// The multipliers with Yᵀ λ = open. Columns are rows of the closure, scaled by comparable units on
// the other side. The rows of the chart carry the load; the null space of Yᵀ are the states of
// self-stress. The part of the multipliers in the null space is removed (least norm).
LoopForces solve_loop(const LoopClosure& loop, const LoopChart& chart, const Eigen::VectorXd& q,
                      const Eigen::VectorXd& open) {
  const int rows = loop.rows();
  const Eigen::VectorXd unit = loop.unit_steps(q);
  const Eigen::MatrixXd y = unit.asDiagonal() * loop.velocity_rows(q).transpose();
  std::vector<int> kept, dropped;
  for (int r = 0; r < rows; ++r) {
    const ChartRow row = loop.row(r);
    const bool keeps =
        std::any_of(chart.rows.begin(), chart.rows.end(), [&](const ChartRow& other) {
          return other.closure == row.closure && other.row == row.row;
        });
    (keeps ? kept : dropped).push_back(r);
  }
  const auto rank = static_cast<Eigen::Index>(kept.size());
  LoopForces found;
  found.lambda = Eigen::VectorXd::Zero(rows);
  Eigen::MatrixXd& basis = found.self_stress;
  basis = Eigen::MatrixXd::Zero(rows, rows - rank);
  for (std::size_t k = 0; k < dropped.size(); ++k)
    basis(dropped[k], static_cast<Eigen::Index>(k)) = 1.0;
  if (rank > 0) {
    const PivotedQr solver(y(Eigen::all, kept));
    found.lambda(kept) = solver.solve(unit.cwiseProduct(open));
    if (!dropped.empty()) basis(kept, Eigen::all) = -solver.solve(y(Eigen::all, dropped));
  }
  if (dropped.empty()) return found;
  found.unexplained = (y * basis).cwiseAbs().maxCoeff() / std::max(1e-300, y.cwiseAbs().maxCoeff());
  basis = Qr(basis).q_columns(rows - rank);
  found.lambda -= basis * (basis.transpose() * found.lambda);
  return found;
}

}  // namespace

void InterbodyForces::add_closures(const State& state, const Eigen::VectorXd& open,
                                   const Workspace& w) {
  const AggregateTables& t = w.aggregate_tables();
  self_stress_.clear();
  unreached_ = kUnreached;
  std::fill(rod_open_.begin(), rod_open_.end(), 0);
  std::fill(coupling_open_.begin(), coupling_open_.end(), 0);
  for (int i = 0; i < static_cast<int>(t.aggregates.size()); ++i) {
    const LoopClosure loop(*mechanism_, i);
    const Aggregate& a = loop.aggregate();
    if (a.freedoms == 0 || a.rows == 0) continue;
    Eigen::VectorXd own(a.freedoms);
    for (int k = 0; k < a.freedoms; ++k) own[k] = open[loop.freedom(k)];
    const LoopForces found = solve_loop(loop, entry(w.chart().loops, i), state.q, own);
    const Eigen::VectorXd& lambda = found.lambda;
    const Eigen::MatrixXd& basis = found.self_stress;
    unreached_ = std::max(unreached_, kRoundedParts * found.unexplained);
    const std::vector<Wrenchd> wrenches = loop.wrenches_on_child(state.q, lambda);
    int row = 0;
    for (int c = 0; c < a.closure_count; ++c) {
      const Closure& closure = entry(t.closures, a.first_closure + c);
      if (closure.kind == ClosureKind::coupling) {
        entry(coupling_multiplier_, closure.place) =
            lambda[row] * loop.coupling_scale(state.q, a.first_closure + c);
      } else {
        if (closure.kind == ClosureKind::rod)
          entry(rod_tension_, closure.place) = -lambda[row] / a.length;
        else
          entry(cut_force_, closure.place) = entry(wrenches, c);
        apply_closure(closure, entry(wrenches, c), w, force_);
      }
      row += closure.rows;
    }
    for (Eigen::Index k = 0; k < basis.cols(); ++k) {
      SelfStress stress{std::vector<Wrenchd>(force_.size(), Wrenchd::zero()),
                        std::vector<Wrenchd>(cut_force_.size(), Wrenchd::zero())};
      const std::vector<Wrenchd> parts = loop.wrenches_on_child(state.q, basis.col(k));
      int first = 0;
      for (int c = 0; c < a.closure_count; ++c) {
        const Closure& closure = entry(t.closures, a.first_closure + c);
        const bool touched = std::abs(basis(first, k)) > unreached_;
        first += closure.rows;
        if (closure.kind == ClosureKind::rod && touched) entry(rod_open_, closure.place) = 1;
        if (closure.kind == ClosureKind::coupling && touched)
          entry(coupling_open_, closure.place) = 1;
        if (closure.kind == ClosureKind::coupling) continue;
        if (closure.kind == ClosureKind::pair || closure.kind == ClosureKind::universal)
          entry(stress.cuts, closure.place) = entry(parts, c);
        apply_closure(closure, entry(parts, c), w, stress.force);
      }
      sweep_bodies(w, stress.force);
      self_stress_.push_back(std::move(stress));
    }
  }
}

// From the frame of the child's node to the hinge frame on the child, in the axes asked for.
Transformd InterbodyForces::hinge_axes(int h, ForceAxes axes) const {
  const HingePlace& hinge = entry(mechanism_->hinges(), h);
  Transformd X_node_body;
  int child_node = -1;
  if (hinge.child_body >= 0) {
    const BodyPlace& child = entry(mechanism_->bodies(), hinge.child_body);
    X_node_body = child.X_node_body;
    child_node = child.node;
  }
  Transformd x = X_node_body * entry(mechanism_->description().hinges, h).frame_on_child;
  if (axes == ForceAxes::body) x.rotation = X_node_body.rotation;
  if (axes == ForceAxes::ground) x.rotation = pose_of(*workspace_, child_node).rotation.inverse();
  return x;
}

Wrenchd InterbodyForces::wrench_on_child(int h, const std::vector<Wrenchd>& force,
                                         const std::vector<Wrenchd>& cuts, ForceAxes axes) const {
  const HingePlace& hinge = entry(mechanism_->hinges(), h);
  if (hinge.role == HingePlace::Role::cut) {
    const Rotationd turn =
        hinge_axes(h, axes).rotation.inverse() * hinge_axes(h, ForceAxes::hinge).rotation;
    return {turn * entry(cuts, h).moment, turn * entry(cuts, h).force};
  }
  const bool outward = hinge.child_body >= 0 && entry(inboard_hinge_, hinge.child_body) == h;
  const int outer_body = outward ? hinge.child_body : hinge.parent_body;
  const int node = entry(mechanism_->bodies(), outer_body).node;
  Wrenchd f = entry(force, outer_body);
  if (!outward) {
    f = -f;
    if (hinge.role == HingePlace::Role::tree)
      f = Ad_star_inverse(workspace_->node(node).to_parent, f);
  }
  return Ad_star(hinge_axes(h, axes), f);
}

HingeForce InterbodyForces::at(int h, ForceAxes axes) const {
  const HingePlace& hinge = entry(mechanism_->hinges(), h);
  if (workspace_ == nullptr)
    throw NumericalError("interbody forces: nothing has been computed yet; call compute() first");
  const Workspace& w = *workspace_;
  const Wrenchd wrench = wrench_on_child(h, force_, cut_force_, axes);
  if (hinge.role == HingePlace::Role::cut) return split_force(wrench, cut_map(h, axes));

  // The motion of the child against its parent, in the frame of the child's node.
  const bool outward = hinge.child_body >= 0 && entry(inboard_hinge_, hinge.child_body) == h;
  const int outer_body = outward ? hinge.child_body : hinge.parent_body;
  const int node = entry(mechanism_->bodies(), outer_body).node;
  const bool moves = hinge.role == HingePlace::Role::tree;
  HingeMatrix map = moves ? hinge_map(w, node) : HingeMatrix(6, 0);
  if (!outward && moves) {
    const Matrix6d shift = matrix_Ad(w.node(node).to_parent);
    for (Eigen::Index k = 0; k < map.cols(); ++k) map.col(k) = -(shift * map.col(k)).eval();
  }
  const Matrix6d back = matrix_Ad(hinge_axes(h, axes).inverse());
  for (Eigen::Index k = 0; k < map.cols(); ++k) map.col(k) = (back * map.col(k)).eval();
  return split_force(wrench, map);
}

// The directions in which the rows of a cut hinge do no work, at the child's hinge point.
HingeMatrix InterbodyForces::cut_map(int h, ForceAxes axes) const {
  const AggregateTables& t = workspace_->aggregate_tables();
  for (const Closure& c : t.closures) {
    if (c.place != h || (c.kind != ClosureKind::pair && c.kind != ClosureKind::universal)) continue;
    const HingePlace& hinge = entry(mechanism_->hinges(), h);
    const Hinge& settings = entry(mechanism_->description().hinges, h);
    const auto frame = [&](int body, const Transformd& on_body) {
      if (body < 0) return on_body;
      const BodyPlace& place = entry(mechanism_->bodies(), body);
      return pose_of(*workspace_, place.node) * place.X_node_body * on_body;
    };
    ClosureMotion<double> motion;
    motion.parent.pose = frame(hinge.parent_body, settings.frame_on_parent * hinge.displacement);
    motion.child.pose = frame(hinge.child_body, settings.frame_on_child);
    Transformd axes_at_child = motion.child.pose;
    const Rotationd turn =
        hinge_axes(h, ForceAxes::hinge).rotation.inverse() * hinge_axes(h, axes).rotation;
    axes_at_child.rotation = motion.child.pose.rotation * turn;
    HingeMatrix rows(6, c.rows);
    for (int i = 0; i < c.rows; ++i)
      rows.col(i) = to_eigen(Ad_star(axes_at_child, row_covector(c, i, motion)));
    return hinge_complement(rows);
  }
  return HingeMatrix(6, 0);
}

// A cut within one rigid group closes a ring of welds.
bool InterbodyForces::closes_welds(int h) const {
  if (entry(mechanism_->hinges(), h).role != HingePlace::Role::cut) return false;
  for (const Aggregate& a : workspace_->aggregate_tables().aggregates)
    for (int c = a.first_closure; c < a.first_closure + a.closure_count && a.freedoms == 0; ++c)
      if (entry(workspace_->aggregate_tables().closures, c).place == h) return true;
  return false;
}

std::array<bool, 6> InterbodyForces::undetermined(int h, ForceAxes axes) const {
  std::array<bool, 6> result{};
  if (closes_welds(h)) result.fill(true);
  for (const SelfStress& stress : self_stress_) {
    const Wrenchd f = wrench_on_child(h, stress.force, stress.cuts, axes);
    for (int i = 0; i < 6; ++i) result[index(i)] = result[index(i)] || std::abs(f[i]) > unreached_;
  }
  return result;
}

std::vector<bool> InterbodyForces::undetermined_constraint_force(int h, ForceAxes axes) const {
  const HingeMatrix directions = at(h, axes).constraint_map;
  std::vector<bool> result(to_size(directions.cols()), closes_welds(h));
  for (const SelfStress& stress : self_stress_) {
    const Vector6d f = to_eigen(wrench_on_child(h, stress.force, stress.cuts, axes));
    for (Eigen::Index k = 0; k < directions.cols(); ++k)
      if (std::abs(directions.col(k).dot(f)) > unreached_) result[index(k)] = true;
  }
  return result;
}

InterbodyForces::OpenDirections InterbodyForces::open_directions(int h, ForceAxes axes) const {
  if (closes_welds(h)) {
    const std::vector<Vec3d> all{Vec3d::unit_x(), Vec3d::unit_y(), Vec3d::unit_z()};
    return {all, all};
  }
  const auto count = static_cast<Eigen::Index>(self_stress_.size());
  Eigen::Matrix3Xd moments(3, count), forces(3, count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const SelfStress& stress = self_stress_[index(k)];
    const Vector6d f = to_eigen(wrench_on_child(h, stress.force, stress.cuts, axes));
    moments.col(k) = f.head<3>();
    forces.col(k) = f.tail<3>();
  }
  const auto span_of = [&](const Eigen::Matrix3Xd& vectors) {
    std::vector<Vec3d> directions;
    if (count == 0) return directions;
    const Svd svd = full_svd(vectors);
    for (Eigen::Index k = 0; k < svd.values.size(); ++k)
      if (svd.values[k] > unreached_) directions.push_back({svd.u(0, k), svd.u(1, k), svd.u(2, k)});
    return directions;
  };
  return {span_of(moments), span_of(forces)};
}

Wrenchd InterbodyForces::determined(int h, ForceAxes axes) const {
  Wrenchd f = at(h, axes).wrench;
  const OpenDirections open = open_directions(h, axes);
  for (const Vec3d& d : open.moment) f.moment -= dot(d, f.moment) * d;
  for (const Vec3d& d : open.force) f.force -= dot(d, f.force) * d;
  return f;
}

}  // namespace catena
