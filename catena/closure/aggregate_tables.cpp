// SPDX-License-Identifier: BSD-3-Clause
#include "catena/closure/aggregate_tables.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catena/base/index.h"
#include "catena/closure/pair.h"
#include "catena/model/flexible_table.h"
#include "catena/model/hinge_kinematics.h"

namespace catena {
namespace {

Vec3d axis_of(const Hinge& hinge, std::size_t i, const Vec3d& otherwise) {
  return i < hinge.axes.size() ? normalized(hinge.axes[i]) : otherwise;
}

void store(double* to, const Vec3d& v) {
  for (int i = 0; i < 3; ++i) to[i] = v[i];
}

void add_turn_row(Closure& c, const Vec3d& direction) { store(c.covector[c.rows++], direction); }
void add_shift_row(Closure& c, const Vec3d& direction) {
  store(c.covector[c.rows++] + 3, direction);
}

// The rows that a cut hinge of this type imposes, in the frame on its parent's side.
void describe_pair(const Hinge& hinge, HingeType type, Closure& c) {
  const Vec3d x = Vec3d::unit_x(), y = Vec3d::unit_y(), z = Vec3d::unit_z();
  const Vec3d axis = axis_of(hinge, 0, z);
  const Rotationd around = rotation_from_z_to(axis);
  switch (type) {
    case HingeType::weld:
    case HingeType::prismatic:
    case HingeType::translation:
      c.held_turn = HeldTurn::all;
      for (const Vec3d& e : {x, y, z}) add_turn_row(c, e);
      break;
    case HingeType::revolute:
    case HingeType::screw:
    case HingeType::cylindrical:
    case HingeType::planar:
      c.held_turn = HeldTurn::axis;
      store(c.axis, axis);
      for (int i = 0; i < 2; ++i) add_turn_row(c, around.axis(i));
      break;
    case HingeType::universal:
      c.kind = ClosureKind::universal;
      store(c.axis, axis_of(hinge, 0, x));
      store(c.child_axis, axis_of(hinge, 1, y));
      c.angle_cosine = dot(axis_of(hinge, 0, x), axis_of(hinge, 1, y));
      c.rows = 1;
      break;
    case HingeType::spherical:
    case HingeType::gimbal:
    case HingeType::free:
    case HingeType::custom:
    case HingeType::modes:
    case HingeType::attachment:
      break;
  }
  switch (type) {
    case HingeType::weld:
    case HingeType::revolute:
    case HingeType::universal:
    case HingeType::spherical:
    case HingeType::gimbal:
      for (const Vec3d& e : {x, y, z}) add_shift_row(c, e);
      break;
    case HingeType::prismatic:
    case HingeType::cylindrical:
    case HingeType::screw:
      for (int i = 0; i < 2; ++i) add_shift_row(c, around.axis(i));
      if (type == HingeType::screw) {
        c.pitch = hinge.pitch;
        store(c.covector[c.rows], -hinge.pitch * axis);
        add_shift_row(c, axis);
      }
      break;
    case HingeType::planar:
      add_shift_row(c, axis);
      break;
    case HingeType::translation:
    case HingeType::free:
    case HingeType::custom:
    case HingeType::modes:
    case HingeType::attachment:
      break;
  }
}

class TableMaker {
 public:
  explicit TableMaker(const Mechanism& mechanism) : m_(mechanism), d_(mechanism.description()) {
    t_.aggregate_of_node.assign(m_.nodes().size(), -1);
    for (const LoopPlace& loop : m_.loops()) add(loop);
    t_.order.resize(t_.freedom_of_column.size());
    std::size_t rows = 0, map = 0;
    for (Aggregate& a : t_.aggregates) {
      a.first_row = static_cast<int>(rows);
      a.first_map = static_cast<int>(map);
      rows += to_size(std::min(a.rows, a.freedoms));
      map += to_size(a.freedoms * a.freedoms);
    }
    t_.chart_rows.resize(rows);
    t_.map.resize(map);
  }

  AggregateTables take() { return std::move(t_); }

 private:
  void add(const LoopPlace& loop) {
    Aggregate a;
    nodes_ = loop.nodes;
    std::sort(nodes_.begin(), nodes_.end());  // parents come first
    a.first_member = static_cast<int>(t_.members.size());
    a.member_count = static_cast<int>(nodes_.size());
    a.first_order = static_cast<int>(t_.freedom_of_column.size());
    first_member_ = a.first_member;
    longest_ = 0.0;
    bool flat = true;
    for (const int n : nodes_) {
      const Node& node = at(m_.nodes(), n);
      const int parent = member_of(node.parent);
      t_.members.push_back({n, parent, a.freedoms, true, a.freedoms, node.freedoms});
      if (parent >= 0) {
        at(t_.members, first_member_ + parent).tip = false;
        flat = false;
      }
      at(t_.aggregate_of_node, n) = static_cast<int>(t_.aggregates.size());
      for (int k = 0; k < node.freedoms; ++k) t_.freedom_of_column.push_back(node.v_index + k);
      a.freedoms += node.freedoms;
      if (parent >= 0) note_length(load_vec3<double>(node.translation));
      if (node.flexible >= 0) add_flexible(a, node);
    }
    a.twists = a.freedoms;
    for (int i = a.first_member; i < a.first_member + a.member_count; ++i) {
      AggregateMember& m = at(t_.members, i);
      if (at(m_.nodes(), m.node).hinge != NodeHinge::attachment) continue;
      m.first_twist = a.twists;
      a.twists += m.twists;
    }
    if (!nodes_.empty()) {
      const Node& first = at(m_.nodes(), nodes_.front());
      a.base = first.parent;
      for (int i = 0; i < 3 && !flat; ++i) a.origin[i] = first.translation[i];
    }
    origin_ = load_vec3<double>(a.origin);
    a.first_closure = static_cast<int>(t_.closures.size());
    for (const int h : loop.cut_hinges) add_cut(h);
    for (const int r : loop.rods) add_rod(r);
    for (const int c : loop.couplings) add_coupling(c);
    a.closure_count = static_cast<int>(t_.closures.size()) - a.first_closure;
    a.simple = a.freedoms == a.member_count && !a.flexible;
    a.constant = true;
    for (int i = a.first_closure; i < a.first_closure + a.closure_count; ++i) {
      const Closure& c = at(t_.closures, i);
      a.rows += c.rows;
      a.constant = a.constant && c.kind == ClosureKind::coupling && c.coupling == nullptr;
    }
    if (longest_ > 0.0) a.length = longest_;
    t_.aggregates.push_back(a);
  }

  // Of modes and attachments, which are the member added last. Modes are always members before
  // their attachments (topology.cpp).
  void add_flexible(Aggregate& a, const Node& node) {
    AggregateMember& own = t_.members.back();
    own.tip = false;
    a.flexible = true;
    if (node.hinge == NodeHinge::modes) {
      own.twists = 0;
      return;
    }
    const AttachmentTable& table = *at(m_.attachment_tables(), node.flexible);
    own.column = at(t_.members, first_member_ + own.parent).column;
    own.twists = table.modes;
    note_length(load_vec3<double>(table.position));
  }

  void note_length(const Vec3d& p) { longest_ = std::max(longest_, norm(p)); }

  // The place of a node among the members; −1 if it is the base.
  int member_of(int node) const {
    const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), node);
    return found != nodes_.end() && *found == node ? static_cast<int>(found - nodes_.begin()) : -1;
  }

  ClosureSide side(int body, const Transformd& pose_on_body) {
    ClosureSide s;
    const int node = body < 0 ? -1 : at(m_.bodies(), body).node;
    Transformd pose = body < 0 ? pose_on_body : at(m_.bodies(), body).X_node_body * pose_on_body;
    s.member = node < 0 ? -1 : member_of(node);
    if (s.member < 0) pose.translation = pose.translation - origin_;
    note_length(pose.translation);
    for (int i = 0; i < 3; ++i) {
      s.translation[i] = pose.translation[i];
      for (int j = 0; j < 3; ++j) s.rotation[3 * i + j] = pose.rotation.matrix.m[i][j];
    }
    return s;
  }

  // The columns between the base and either side; common ones cancel.
  void add_paths(Closure& c) {
    c.first_path = static_cast<int>(t_.paths.size());
    std::vector<std::pair<int, double>> steps;  // member, sign
    int p = c.parent.member, q = c.child.member;
    while (p != q) {  // the later of the two is not an ancestor of the other
      int& later = p > q ? p : q;
      steps.push_back({later, &later == &p ? -1.0 : 1.0});
      later = at(t_.members, first_member_ + later).parent;
    }
    std::sort(steps.begin(), steps.end());
    for (const auto& [member, sign] : steps) {
      const AggregateMember& m = at(t_.members, first_member_ + member);
      for (int k = 0; k < m.twists; ++k)
        t_.paths.push_back({m.column + k, sign, m.first_twist + k});
    }
    c.path_count = static_cast<int>(t_.paths.size()) - c.first_path;
  }

  void add_cut(int h) {
    const Hinge& hinge = at(d_.hinges, h);
    const HingePlace& place = at(m_.hinges(), h);
    Closure c;
    c.place = h;
    if (place.node >= 0) {  // its own node is welded to the child
      describe_pair({}, HingeType::weld, c);
      c.parent.member = member_of(place.node);
      // The axis of a one-freedom hinge is z of its node, which the hinge frame is turned against.
      const Node& node = at(m_.nodes(), place.node);
      const Rotationd before = place.parent_body < 0
                                   ? hinge.frame_on_parent.rotation
                                   : at(m_.bodies(), place.parent_body).X_node_body.rotation *
                                         hinge.frame_on_parent.rotation;
      Mat3d turned;
      for (int i = 0; i < 9; ++i) turned.m[i / 3][i % 3] = node.rotation[i];
      const Rotationd align = Rotationd{turned}.inverse() * before;
      for (int i = 0; i < 9; ++i) c.parent.rotation[i] = align.matrix.m[i / 3][i % 3];
    } else {
      describe_pair(hinge, is_rigid(hinge) ? HingeType::weld : hinge.type, c);
      c.parent = side(place.parent_body, hinge.frame_on_parent * place.displacement);
    }
    c.child = side(place.child_body, hinge.frame_on_child);
    add_paths(c);
    t_.closures.push_back(c);
  }

  void add_rod(int r) {
    const Rod& rod = at(d_.rods, r);
    Closure c;
    c.kind = ClosureKind::rod;
    c.place = r;
    c.rows = 1;
    c.length = rod.length;
    c.parent = side(m_.body_index(rod.body_a), Transformd::from_translation(rod.point_a));
    c.child = side(m_.body_index(rod.body_b), Transformd::from_translation(rod.point_b));
    note_length({rod.length, 0.0, 0.0});
    add_paths(c);
    t_.closures.push_back(c);
  }

  void add_coupling(int k) {
    const Coupling& coupling = at(d_.couplings, k);
    Closure c;
    c.kind = ClosureKind::coupling;
    c.place = k;
    c.rows = 1;
    c.coupling = coupling.function ? &coupling : nullptr;
    c.first_term = static_cast<int>(t_.terms.size());
    c.term_count = static_cast<int>(coupling.terms.size());
    for (const Coupling::Term& term : coupling.terms) {
      const HingePlace& hinge = at(m_.hinges(), m_.hinge_index(term.hinge));
      t_.terms.push_back(
          {at(t_.members, first_member_ + member_of(hinge.node)).column + term.freedom,
           hinge.q_index + term.freedom, term.coefficient});
    }
    t_.closures.push_back(c);
  }

  const Mechanism& m_;
  const Description& d_;
  AggregateTables t_;
  std::vector<int> nodes_;
  int first_member_ = 0;
  double longest_ = 0.0;
  Vec3d origin_;
};

}  // namespace

Closure pair_closure(const Hinge& hinge, HingeType type) {
  Closure c;
  describe_pair(hinge, type, c);
  return c;
}

const AggregateTables& aggregate_tables(const Mechanism& mechanism) {
  return mechanism.loop_tables().get<AggregateTables>([&] { return TableMaker(mechanism).take(); });
}

void evaluate_coupling(const Coupling& coupling, int terms, const double* q, double& value,
                       double* gradient, double* hessian) {
  const auto n = to_size(terms);
  std::fill(gradient, gradient + n, 0.0);
  std::fill(hessian, hessian + n * n, 0.0);
  coupling.function({q, n}, value, {gradient, n}, {hessian, n * n});
}

void differentiate_coupling(const Coupling& coupling, int terms, const double* q, const double* dq,
                            double* change) {
  // As CustomHinge::motion_map_rate_derivative: steps h, h/2, h/4 with h = 0.02, order h⁶.
  constexpr double kStep = 0.02;
  constexpr int kLevels = 3;
  const auto n = to_size(terms);
  double size = 0.0;
  for (std::size_t i = 0; i < n; ++i) size = std::max(size, std::abs(dq[i]));
  std::fill(change, change + n * n, 0.0);
  if (size == 0.0) return;
  std::vector<double> at(n), gradient(n), up(n * n), down(n * n);
  std::vector<std::vector<double>> table(kLevels, std::vector<double>(n * n));
  double step = kStep, value = 0.0;
  for (auto& level : table) {
    for (std::size_t i = 0; i < n; ++i) at[i] = q[i] + step * dq[i] / size;
    evaluate_coupling(coupling, terms, at.data(), value, gradient.data(), up.data());
    for (std::size_t i = 0; i < n; ++i) at[i] = q[i] - step * dq[i] / size;
    evaluate_coupling(coupling, terms, at.data(), value, gradient.data(), down.data());
    for (std::size_t i = 0; i < n * n; ++i) level[i] = size * (up[i] - down[i]) / (2.0 * step);
    step *= 0.5;
  }
  double weight = 4.0;
  for (std::size_t order = 1; order < kLevels; ++order, weight *= 4.0)
    for (std::size_t level = kLevels - 1; level >= order; --level)
      for (std::size_t i = 0; i < n * n; ++i)
        table[level][i] = (weight * table[level][i] - table[level - 1][i]) / (weight - 1.0);
  std::copy(table.back().begin(), table.back().end(), change);
}

}  // namespace catena
