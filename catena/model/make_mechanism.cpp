// SPDX-License-Identifier: BSD-3-Clause
// Finishing: from a description to a Mechanism. Steps, each a function below: check, analyse the
// graph, place the bodies of every rigid group, make the nodes, place everything else, and look
// for hinges without inertia. All mistakes are reported at the end, together.
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/model/builder.h"
#include "catena/model/configuration.h"
#include "catena/model/flexible/flexible_tables.h"
#include "catena/model/hinge_kinematics.h"
#include "catena/model/inertia_check.h"
#include "catena/model/mechanism_names.h"
#include "catena/model/repair.h"
#include "catena/model/validation.h"

namespace catena {
namespace {

void store(const Vec3d& v, double* to) {
  for (int i = 0; i < 3; ++i) to[i] = v[i];
}

Vec3d axis_or(const Hinge& hinge, std::size_t i, const Vec3d& otherwise) {
  return i < hinge.axes.size() ? normalized(hinge.axes[i]) : otherwise;
}

// The turns and shifts of a hinge of two or more plain coordinates, innermost last.
std::vector<NodeScrew> screws_of(const Hinge& hinge) {
  const Vec3d x = Vec3d::unit_x(), y = Vec3d::unit_y(), z = Vec3d::unit_z();
  const auto turn = [](const Vec3d& a, int c) { return NodeScrew{{a.x, a.y, a.z}, true, c}; };
  const auto shift = [](const Vec3d& a, int c) { return NodeScrew{{a.x, a.y, a.z}, false, c}; };
  switch (hinge.type) {
    case HingeType::cylindrical: {
      const Vec3d axis = axis_or(hinge, 0, z);
      return {turn(axis, 0), shift(axis, 1)};
    }
    case HingeType::universal:
      return {turn(axis_or(hinge, 0, x), 0), turn(axis_or(hinge, 1, y), 1)};
    case HingeType::gimbal:
      return {turn(axis_or(hinge, 0, x), 0), turn(axis_or(hinge, 1, y), 1),
              turn(axis_or(hinge, 2, z), 2)};
    case HingeType::translation:
      return {shift(x, 0), shift(y, 1), shift(z, 2)};
    case HingeType::planar: {
      const Vec3d normal = axis_or(hinge, 0, z);
      // The plane's x direction as given, less its part along the normal; by default the hinge
      // frame's x axis turned with z onto the normal.
      const Vec3d given =
          hinge.axes.size() > 1 ? normalized(hinge.axes[1]) : rotation_from_z_to(normal).axis(0);
      const Vec3d plane_x = normalized(given - dot(given, normal) * normal);
      return {shift(plane_x, 1), shift(cross(normal, plane_x), 2), turn(normal, 0)};
    }
    default:
      return {};
  }
}

NodeHinge node_hinge_of(HingeType type) {
  switch (type) {
    case HingeType::revolute:
      return NodeHinge::revolute;
    case HingeType::prismatic:
      return NodeHinge::prismatic;
    case HingeType::screw:
      return NodeHinge::screw;
    case HingeType::spherical:
      return NodeHinge::spherical;
    case HingeType::free:
      return NodeHinge::free;
    case HingeType::custom:
      return NodeHinge::custom;
    case HingeType::modes:
      return NodeHinge::modes;
    case HingeType::attachment:
      return NodeHinge::attachment;
    default:
      return NodeHinge::screws;
  }
}

}  // namespace

class Finisher {
 public:
  Finisher(const Description& description, const FinishSettings& settings) : settings_(settings) {
    m_.description_ = description;
  }

  // After a mistake a repaired copy is used, to find the other mistakes too.
  Mechanism run() {
    std::vector<Diagnostic> found = settings_.notes;
    for (Diagnostic& problem : validate(d_, {.strict = settings_.strict}))
      found.push_back(std::move(problem));
    if (has_error(found)) m_.description_ = repaired(std::move(m_.description_));
    m_.topology_ = analyse_topology(d_);
    check_graph(found);
    check_flexible_edges(found);
    if (!t_.unreachable.empty()) {
      MechanismBuilder connected(std::move(m_.description_));
      m_.description_ = connected.connect_roots(HingeType::weld).description();
      m_.topology_ = analyse_topology(d_);
    }
    for (int i = 0; i < static_cast<int>(d_.bodies.size()); ++i)
      body_index_.emplace(at(d_.bodies, i).name, i);

    place_groups();
    place_hinges();
    place_others();
    report_loops();
    check_flexible_loops(found);
    m_.names_ = make_name_tables(m_);
    check_coordinate_names(found);
    const bool sound = !has_error(found);
    check_hinge_inertias(m_, found);
    if (has_error(found) && !(sound && settings_.idle_hinges)) throw ModelError(std::move(found));
    m_.warnings_ = std::move(found);
    m_.default_state_ = initial_state();
    return std::move(m_);
  }

 private:
  void check_graph(std::vector<Diagnostic>& found) const {
    std::unordered_map<std::string, std::vector<std::string>> always_cut;  // by body
    for (const Hinge& hinge : d_.hinges)
      if (hinge.cut == Cut::always)
        for (const std::string& end : {hinge.parent, hinge.child})
          always_cut[end].push_back("'" + hinge.name + "'");
    for (const int b : t_.unreachable) {
      const std::string& name = at(d_.bodies, b).name;
      const std::vector<std::string>& always = always_cut[name];
      found.push_back(
          {Severity::error, at(d_.bodies, b).source,
           "body '" + name + "' has no path to the world; " +
               (always.empty()
                    ? "add a hinge (joint) that leads to it, or let it float (base: free)"
                    : "allow one of the hinges on the way to stay uncut "
                      "(cut: automatic); always cut are " +
                          listed(always))});
    }
    std::unordered_set<std::string> cut;
    for (const int h : t_.cut_hinges) {
      const Hinge& hinge = at(d_.hinges, h);
      if (!keeps_coordinates_when_cut(hinge)) cut.insert(hinge.name);
      const std::string what = "hinge '" + hinge.name + "'";
      if (hinge.cut == Cut::never)
        found.push_back({Severity::error, hinge.source,
                         what + " must not be cut, but neither may the other hinges of its loop; "
                                "allow one of them to be cut (cut: automatic)"});
    }
    for (const Coupling& coupling : d_.couplings)
      for (const Coupling::Term& term : coupling.terms)
        if (cut.contains(term.hinge))
          found.push_back({Severity::error, coupling.source,
                           "coupling '" + coupling.name + "': hinge '" + term.hinge +
                               "' is cut and has no coordinate; cut another hinge of its loop "
                               "(cut: never here), or set keeps_coordinates"});
  }

  // 'arm.x' may be a hinge of one freedom and a coordinate of the hinge 'arm'.
  // The frame of a flexible body must be nearer to the ground than its attachments.
  void check_flexible_edges(std::vector<Diagnostic>& found) {
    for (const Topology::Edge& edge : t_.inboard) {
      if (edge.hinge < 0 || !edge.reversed) continue;
      const Hinge& hinge = at(d_.hinges, edge.hinge);
      if (!is_internal(hinge.type)) continue;
      found.push_back({Severity::error, hinge.source,
                       "flexible body '" +
                           (hinge.type == HingeType::modes
                                ? hinge.parent
                                : hinge.parent.substr(0, hinge.parent.rfind(modes_name("")))) +
                           "' is reached from its attachment '" + hinge.child +
                           "'; clamp it there (its frame must be on the side of the ground), and "
                           "make the other end an attachment"});
    }
    if (!has_error(found)) return;
    // The search for other mistakes continues with rigid bodies.
    bool changed = false;
    for (Hinge& hinge : m_.description_.hinges)
      if (is_internal(hinge.type)) {
        hinge.type = HingeType::weld;
        changed = true;
      }
    if (changed) m_.topology_ = analyse_topology(d_);
  }

  void check_coordinate_names(std::vector<Diagnostic>& found) const {
    std::unordered_set<std::string_view> seen;
    for (const HingePlace& place : m_.hinges_)
      for (int k = 0; k < place.coordinates; ++k) {
        const std::string& name = at(m_.position_names_, place.q_index + k);
        if (!seen.insert(name).second)
          found.push_back({Severity::error,
                           at(d_.hinges, at(m_.nodes_, place.node).hinge_index).source,
                           "hinge '" + place.name + "': its coordinate '" + name +
                               "' has the name of another; rename the hinge"});
      }
  }

  int body_of(const std::string& name) const { return body_index_.at(name); }
  int group_of(int body) const { return body < 0 ? t_.world_group : at(t_.group_of_body, body); }
  int node_of(int body) const { return at(node_of_group_, group_of(body)); }
  const Transformd& placement(int body) const {
    static const Transformd kIdentity;
    return body < 0 ? kIdentity : at(m_.bodies_, body).X_node_body;
  }

  // Nodes in order, and every body's place in its node.
  void place_groups() {
    node_of_group_.assign(to_size(t_.group_count), -1);
    for (int n = 0; n < static_cast<int>(t_.order.size()); ++n)
      at(node_of_group_, at(t_.order, n)) = n;

    m_.bodies_.resize(d_.bodies.size());
    for (int b = 0; b < static_cast<int>(d_.bodies.size()); ++b) {
      BodyPlace& place = at(m_.bodies_, b);
      place.name = at(d_.bodies, b).name;
      place.node = node_of(b);
      place.inertia = at(d_.bodies, b).spatial_inertia();
    }
    std::vector<std::vector<int>> welds(d_.bodies.size() + 1);  // entry 0: the world's
    for (const int h : t_.weld_hinges) {
      at(welds, body_of(at(d_.hinges, h).parent) + 1).push_back(h);
      at(welds, body_of(at(d_.hinges, h).child) + 1).push_back(h);
    }
    std::vector<char> placed(d_.bodies.size() + 1, 0);
    const auto spread = [&](int anchor) {
      std::vector<int> open{anchor};
      at(placed, anchor + 1) = 1;
      while (!open.empty()) {
        const int body = open.back();
        open.pop_back();
        for (const int h : at(welds, body + 1)) {
          const Hinge& weld = at(d_.hinges, h);
          const bool outward = body_of(weld.parent) == body;
          const int other = body_of(outward ? weld.child : weld.parent);
          if (at(placed, other + 1)) continue;
          const Transformd x =
              weld.frame_on_parent * locked_displacement(weld) * weld.frame_on_child.inverse();
          at(m_.bodies_, other).X_node_body = placement(body) * (outward ? x : x.inverse());
          at(placed, other + 1) = 1;
          open.push_back(other);
        }
      }
    };
    spread(-1);
    for (const int g : t_.order) {
      const Topology::Edge edge = at(t_.inboard, g);
      const Hinge& hinge = at(d_.hinges, edge.hinge);
      const int anchor = body_of(edge.reversed ? hinge.parent : hinge.child);
      const Transformd& side = edge.reversed ? hinge.frame_on_parent : hinge.frame_on_child;
      at(m_.bodies_, anchor).X_node_body = (side * alignment(hinge, edge.reversed)).inverse();
      spread(anchor);
    }
  }

  // Turns the hinge frame so that the axis of a one-freedom hinge is z.
  static Transformd alignment(const Hinge& hinge, bool reversed) {
    switch (hinge.type) {
      case HingeType::revolute:
      case HingeType::prismatic:
      case HingeType::screw: {
        const Vec3d axis = axis_or(hinge, 0, Vec3d::unit_z());
        return {rotation_from_z_to(reversed ? -axis : axis), Vec3d::zero()};
      }
      default:
        return {};
    }
  }

  static Transformd locked_displacement(const Hinge& hinge) {
    if (hinge.type == HingeType::weld || hinge.locked_at.empty()) return {};
    Hinge free_hinge = hinge;
    free_hinge.locked_at.clear();
    Node node;
    std::vector<NodeScrew> screws;
    describe_hinge(free_hinge, false, node, screws);
    const Transformd align = alignment(hinge, false);
    std::vector<double> q = hinge.locked_at;
    if (node.hinge == NodeHinge::spherical || node.hinge == NodeHinge::free)
      normalize_quaternion(q.data());
    const std::vector<double> v(kMaxFreedoms, 0.0);
    HingeMotion<double> motion;
    evaluate_hinge(node, screws.data(), hinge.custom.get(), q.data(), v.data(), motion);
    return align * motion.displacement * align.inverse();
  }

  // Fills in the node's data of its hinge's type, and appends its screws.
  static void describe_hinge(const Hinge& hinge, bool reversed, Node& node,
                             std::vector<NodeScrew>& screws) {
    node.hinge = node_hinge_of(hinge.type);
    node.coordinates = static_cast<std::uint16_t>(coordinates_of(hinge));
    node.freedoms = static_cast<std::uint16_t>(freedoms_of(hinge));
    node.pitch = hinge.type == HingeType::screw ? hinge.pitch : 0.0;
    node.first_screw = static_cast<int>(screws.size());
    if (node.hinge != NodeHinge::screws) {
      // The axis of a one-freedom hinge was turned round instead (see alignment).
      node.reversed =
          reversed && (node.hinge == NodeHinge::spherical || node.hinge == NodeHinge::free ||
                       node.hinge == NodeHinge::custom);
      return;
    }
    std::vector<NodeScrew> factors = screws_of(hinge);
    if (reversed) {  // (e1 ... ek)⁻¹ = ek⁻¹ ... e1⁻¹
      std::reverse(factors.begin(), factors.end());
      for (NodeScrew& factor : factors)
        for (double& component : factor.axis) component = -component;
    }
    screws.insert(screws.end(), factors.begin(), factors.end());
  }

  // The node that this hinge moves, after all that came before it.
  void add_node(int h, bool reversed) {
    const Hinge& hinge = at(d_.hinges, h);
    Node node;
    describe_hinge(hinge, reversed, node, m_.screws_);
    const int inner = body_of(reversed ? hinge.child : hinge.parent);
    node.parent = node_of(inner);
    node.hinge_index = h;
    node.q_index = m_.coordinates_;
    node.v_index = m_.freedoms_;
    if (is_internal(hinge.type)) place_flexible(hinge, node);
    const Transformd& side = reversed ? hinge.frame_on_child : hinge.frame_on_parent;
    const Transformd x = placement(inner) * side * alignment(hinge, reversed);
    for (int i = 0; i < 9; ++i) node.rotation[i] = x.rotation.matrix.m[i / 3][i % 3];
    store(x.translation, node.translation);

    HingePlace& place = at(m_.hinges_, h);
    place.node = static_cast<int>(m_.nodes_.size());
    place.reversed = reversed;
    place.q_index = node.q_index;
    place.coordinates = node.coordinates;
    place.v_index = node.v_index;
    place.freedoms = node.freedoms;
    m_.coordinates_ += node.coordinates;
    m_.freedoms_ += node.freedoms;
    m_.nodes_.push_back(node);
    m_.customs_.push_back(hinge.custom.get());

    // Modes are called after the flexible body: "boom.mode1".
    const std::string& name = hinge.type == HingeType::modes ? hinge.parent : hinge.name;
    for (const std::string& s : position_suffixes(hinge.type, node.coordinates))
      m_.position_names_.push_back(name + s);
    for (const std::string& s : velocity_suffixes(hinge.type, node.freedoms))
      m_.velocity_names_.push_back(name + s);
    for (int k = 0; k < node.freedoms; ++k) {
      m_.freedom_settings_.push_back(to_size(k) < hinge.freedoms.size() ? at(hinge.freedoms, k)
                                                                        : FreedomSettings{});
      // Neither the rotations nor (in the body's frame) the shifts of a hinge with a quaternion are
      // rates of a coordinate.
      const bool plain = node.coordinates == node.freedoms;
      m_.coordinate_of_freedom_.push_back(plain ? node.q_index + k : -1);
    }
  }

  // Modes and attachments: their constants, and where they are in the tables.
  void place_flexible(const Hinge& hinge, Node& node) {
    const int n = static_cast<int>(m_.nodes_.size());
    if (hinge.type == HingeType::modes) {
      node.flexible = static_cast<int>(m_.flexible_.size());
      m_.flexible_.push_back({hinge.parent, body_of(hinge.parent), n, {}, hinge.flexible, nullptr});
      m_.flexible_.back().attachments.resize(hinge.flexible->attachments.size());
      return;
    }
    const Node& modes = at(m_.nodes_, node.parent);
    node.q_index = modes.q_index;
    node.v_index = modes.v_index;
    node.flexible = static_cast<int>(m_.attachment_tables_.size());
    m_.attachment_tables_.push_back(nullptr);
    at(at(m_.flexible_, modes.flexible).attachments, hinge.attachment) = {body_of(hinge.child), n};
  }

  // Tables of all flexible bodies: one for identical bodies whose inertia is completed, and one for
  // those where it is not.
  void make_flexible_tables() {
    using Key = std::pair<const FlexibleBody*, bool>;
    std::map<Key, std::shared_ptr<const FlexibleTables>> tables_of;
    std::map<const FlexibleBody*, std::shared_ptr<const CompletedInertia>> completed_of;
    for (FlexiblePlace& place : m_.flexible_) {
      const FlexibleBody& body = *place.constants;
      if (is_completed(place)) {
        std::shared_ptr<const CompletedInertia>& completed = completed_of[&body];
        if (!completed) completed = std::make_shared<const CompletedInertia>(body);
        place.completed = completed;
      }
      std::shared_ptr<const FlexibleTables>& tables =
          tables_of[{&body, place.completed != nullptr}];
      if (!tables) {
        tables = std::make_shared<const FlexibleTables>(body, place.completed.get());
        m_.table_stores_.push_back(tables);
      }
      m_.flexible_tables_.push_back(&tables->body);
      for (std::size_t a = 0; a < place.attachments.size(); ++a)
        if (const int node = place.attachments[a].node; node >= 0)
          at(m_.attachment_tables_, at(m_.nodes_, node).flexible) = &tables->attachments[a];
    }
  }

  bool is_completed(const FlexiblePlace& place) const {
    const FlexibleBody& body = *place.constants;
    if (body.completion == InertiaCompletion::never || !body.moments ||
        body.model != FlexibleModel::consistent || body.mass <= 0.0)
      return false;
    if (body.completion == InertiaCompletion::always) return true;
    const Node& modes = at(m_.nodes_, place.node);
    if (modes.parent < 0) return false;
    const Node& frame = at(m_.nodes_, modes.parent);
    if (frame.flexible >= 0) return false;  // on an attachment, whose body has its own matter
    const int freedoms = frame.freedoms;
    std::vector<double> q(to_size(frame.coordinates), 0.0);
    const std::vector<double> v(kMaxFreedoms, 0.0);
    if (frame.hinge == NodeHinge::spherical || frame.hinge == NodeHinge::free) q[0] = 1.0;
    HingeMotion<double> motion;
    evaluate_hinge(frame, m_.screws_.data(), at(m_.customs_, modes.parent), q.data(), v.data(),
                   motion);
    const SpatialInertiad own = load_inertia<double>(frame);
    Eigen::MatrixXd columns(6, freedoms), inertia(freedoms, freedoms);
    for (int k = 0; k < freedoms; ++k) {
      columns.col(k) = to_eigen(Ad_inverse(load_placement<double>(modes), motion.map[k]));
      for (int l = 0; l < freedoms; ++l) inertia(l, k) = dot(own * motion.map[k], motion.map[l]);
    }
    const std::optional<DriveSettings>& drive = at(d_.hinges, frame.hinge_index).drive;
    if (drive && freedoms == 1)
      inertia(0, 0) += drive->rotor_inertia * drive->gear_ratio * drive->gear_ratio;
    return needs_completion(body, columns, inertia);
  }

  void place_hinges() {
    m_.hinges_.resize(d_.hinges.size());
    for (int h = 0; h < static_cast<int>(d_.hinges.size()); ++h) {
      const Hinge& hinge = at(d_.hinges, h);
      HingePlace& place = at(m_.hinges_, h);
      place.name = hinge.name;
      place.type = hinge.type;
      place.role = HingePlace::Role::weld;
      place.parent_body = body_of(hinge.parent);
      place.child_body = body_of(hinge.child);
      if (is_rigid(hinge)) place.displacement = locked_displacement(hinge);
    }
    for (const int h : t_.cut_hinges) at(m_.hinges_, h).role = HingePlace::Role::cut;

    for (const int g : t_.order) {
      const Topology::Edge edge = at(t_.inboard, g);
      at(m_.hinges_, edge.hinge).role = HingePlace::Role::tree;
      add_node(edge.hinge, edge.reversed);
    }
    // A cut hinge that keeps its coordinates moves a node without bodies, and that node is welded
    // to its child.
    for (const int h : t_.cut_hinges)
      if (keeps_coordinates_when_cut(at(d_.hinges, h))) add_node(h, false);
    // Inertia of each node: the sum over its bodies.
    std::vector<SpatialInertiad> sum(m_.nodes_.size(), SpatialInertiad::zero());
    for (const BodyPlace& body : m_.bodies_)
      if (body.node >= 0) at(sum, body.node) += shift_to_parent(body.X_node_body, body.inertia);
    for (std::size_t n = 0; n < sum.size(); ++n) {
      Node& node = m_.nodes_[n];
      const SymMat3d& j = sum[n].inertia;
      node.mass = sum[n].mass;
      store(sum[n].mass_moment, node.mass_moment);
      const double moments[6] = {j.xx, j.xy, j.xz, j.yy, j.yz, j.zz};
      std::copy(moments, moments + 6, node.inertia);
    }
    make_flexible_tables();
  }

  PointPlace point_on(const std::string& body_name, const Vec3d& point) const {
    const int body = body_of(body_name);
    return {body, node_of(body), placement(body) * point};
  }

  void place_others() {
    for (const Frame& frame : d_.frames) {
      const int body = body_of(frame.body);
      m_.frames_.push_back({frame.name, body, node_of(body), placement(body) * frame.pose});
    }
    for (const SpringDamper& s : d_.springs)
      m_.springs_.push_back({s.name, point_on(s.body_a, s.point_a), point_on(s.body_b, s.point_b),
                             s.stiffness, s.rest_length, s.damping});
    for (int h = 0; h < static_cast<int>(d_.hinges.size()); ++h) {
      const Hinge& hinge = at(d_.hinges, h);
      const HingePlace& place = at(m_.hinges_, h);
      if (!hinge.drive || place.node < 0) continue;
      const DriveSettings& drive = *hinge.drive;
      const int carrier = drive.carrier.empty() ? place.parent_body : body_of(drive.carrier);
      const Vec3d axis_on_carrier =
          drive.rotor_axis ? normalized(*drive.rotor_axis)
                           : hinge.frame_on_parent.rotation * axis_or(hinge, 0, Vec3d::unit_z());
      const Vec3d axis = placement(carrier).rotation * axis_on_carrier;
      m_.drives_.push_back({h, place.v_index, node_of(carrier), axis, drive.rotor_inertia,
                            drive.gear_ratio, drive.armature_only});
    }
  }

  // The ruthless model has W(0) and X(0): rates that no position follows.
  void check_flexible_loops(std::vector<Diagnostic>& found) const {
    for (const FlexiblePlace& body : m_.flexible_)
      for (const LoopPlace& loop : m_.loops_)
        if (body.constants->model == FlexibleModel::ruthless &&
            std::find(loop.nodes.begin(), loop.nodes.end(), body.node) != loop.nodes.end())
          found.push_back(
              {Severity::error, at(d_.bodies, body.body).source,
               "flexible body '" + body.name +
                   "' is part of a closed loop, and its ruthless model moves what hangs "
                   "on it without displacing it, so that the loop could not stay closed; "
                   "use 'model: consistent'"});
  }

  void report_loops() {
    std::vector<std::vector<int>> bodies_of(to_size(t_.group_count));
    for (int b = 0; b < static_cast<int>(d_.bodies.size()); ++b)
      at(bodies_of, at(t_.group_of_body, b)).push_back(b);
    for (const Topology::Loop& loop : t_.loops) {
      LoopPlace place;
      for (const int g : loop.groups) {
        place.bodies.insert(place.bodies.end(), at(bodies_of, g).begin(), at(bodies_of, g).end());
        if (at(node_of_group_, g) >= 0) place.nodes.push_back(at(node_of_group_, g));
      }
      place.cut_hinges = loop.cut_hinges;
      place.rods = loop.rods;
      place.couplings = loop.couplings;
      for (const int h : loop.cut_hinges) {
        if (at(m_.hinges_, h).node >= 0) place.nodes.push_back(at(m_.hinges_, h).node);
        place.constraints += 6 - freedoms_of(at(d_.hinges, h));
      }
      place.constraints += static_cast<int>(loop.rods.size() + loop.couplings.size());
      m_.loops_.push_back(std::move(place));
    }
  }

  State initial_state() const {
    State state{zero_position(m_), Eigen::VectorXd::Zero(m_.freedoms_)};
    for (const HingePlace& place : m_.hinges_) {
      if (place.node < 0) continue;
      const Hinge& hinge = at(d_.hinges, at(m_.nodes_, place.node).hinge_index);
      for (std::size_t k = 0; k < hinge.initial_position.size(); ++k)
        state.q[place.q_index + static_cast<int>(k)] = hinge.initial_position[k];
      for (std::size_t k = 0; k < hinge.initial_velocity.size(); ++k)
        state.v[place.v_index + static_cast<int>(k)] = hinge.initial_velocity[k];
    }
    normalize_quaternions(m_, state.q);
    return state;
  }

  FinishSettings settings_;
  Mechanism m_;
  const Description& d_ = m_.description_;
  const Topology& t_ = m_.topology_;
  std::unordered_map<std::string, int> body_index_{{kWorld, -1}};
  std::vector<int> node_of_group_;
};

Mechanism MechanismBuilder::finish(const FinishSettings& settings) const {
  return Finisher(description_, settings).run();
}

}  // namespace catena
