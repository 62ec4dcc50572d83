// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/sdf/sdf_joint.h"

#include <cmath>
#include <numbers>
#include <unordered_map>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/io/models/mimic_circles.h"
#include "catena/model/topology.h"
#include "catena/model/usable_numbers.h"

namespace catena {
namespace {

using xml::Element;
using xml::Infinite;
using xml::Vocabulary;

// Limits of this size are the format's old way to say that there is none.
constexpr double kNoLimit = 1e16;
// Metres and radians by which two frames may differ and still satisfy a joint: six digits is what
// people write in a file.
constexpr double kSatisfied = 1e-6;
// Before 1.5 axes were given in the frame of the model.
constexpr int kAxisInJointSince = 5;
constexpr int kNoWorldChildSince = 7;

const Vocabulary kJointWords{
    {"pose", "parent", "child", "axis", "axis2", "physics", "thread_pitch", "screw_thread_pitch",
     "gearbox_ratio", "gearbox_reference_body"},
    {"sensor"},
    {"name", "type"},
    {"frame", "origin", "plugin", "must_be_loop_joint", "provide_feedback"}};
const Vocabulary kAxisWords{
    {"xyz", "use_parent_model_frame", "dynamics", "limit", "mimic", "initial_position"},
    {},
    {},
    {}};
const Vocabulary kXyzWords{{}, {}, {"expressed_in"}, {}};
const Vocabulary kLimitWords{
    {"lower", "upper", "effort", "velocity", "stiffness", "dissipation"}, {}, {}, {}};
const Vocabulary kDynamicsWords{
    {"damping", "friction", "spring_reference", "spring_stiffness"}, {}, {}, {}};
const Vocabulary kMimicWords{{"multiplier", "offset", "reference"}, {}, {"joint", "axis"}, {}};
const std::vector<std::string> kJointTypes{"revolute",  "continuous", "prismatic", "fixed",  "ball",
                                           "universal", "revolute2",  "screw",     "gearbox"};

// True if X, the pose of the child's frame in the parent's, is one that the hinge can reach.
bool satisfies(const Hinge& hinge, const Transformd& X) {
  const Vec3d turn = log(X.rotation);
  const auto along = [&](const Vec3d& v) { return norm(cross(normalized(hinge.axes[0]), v)); };
  const bool together = norm(X.translation) < kSatisfied;
  switch (hinge.type) {
    case HingeType::revolute:
      return together && along(turn) < kSatisfied;
    case HingeType::prismatic:
      return norm(turn) < kSatisfied && along(X.translation) < kSatisfied;
    case HingeType::spherical:
      return together;
    case HingeType::universal: {
      const Vec3d a = normalized(hinge.axes[0]), b = normalized(hinge.axes[1]);
      return together && std::abs(dot(a, X.rotation * b) - dot(a, b)) < kSatisfied;
    }
    case HingeType::screw: {
      if (along(turn) > kSatisfied || along(X.translation) > kSatisfied) return false;
      const Vec3d axis = normalized(hinge.axes[0]);
      const double slip = dot(axis, X.translation) / hinge.pitch - dot(axis, turn);
      return std::abs(std::remainder(slip, 2.0 * std::numbers::pi)) < kSatisfied;
    }
    default:
      return together && norm(turn) < kSatisfied;
  }
}

double turn_about(const Vec3d& axis, const Rotationd& rotation) {
  const Quaterniond q = to_quaternion(rotation);
  return 2.0 * std::atan2(dot(axis, Vec3d{q.x, q.y, q.z}), q.w);
}

// Of the poses that the hinge can reach, the one nearest to X, the pose of the child's frame in the
// parent's. The axes of a universal hinge are turned so that they are its axes there.
Transformd nearest(Hinge& hinge, const Transformd& X) {
  if (hinge.type == HingeType::weld) return {};
  if (hinge.type == HingeType::spherical) return {X.rotation, {}};
  const Vec3d axis = normalized(hinge.axes[0]);
  const double turn = turn_about(axis, X.rotation);
  const double shift = dot(axis, X.translation);
  switch (hinge.type) {
    case HingeType::revolute:
      return {exp_rotation(turn * axis), {}};
    case HingeType::prismatic:
      return {{}, shift * axis};
    case HingeType::screw: {  // of the turns that differ by revolutions, the one where it stands
      constexpr double kTurn = 2.0 * std::numbers::pi;
      const double angle = turn + kTurn * std::round((shift / hinge.pitch - turn) / kTurn);
      return {exp_rotation(turn * axis), angle * hinge.pitch * axis};
    }
    case HingeType::universal: {
      const Vec3d second = normalized(hinge.axes[1]);
      const Vec3d carried = X.rotation * second;
      const double first_turn = std::atan2(dot(axis, cross(second, carried)),
                                           dot(cross(axis, second), cross(axis, carried)));
      const Rotationd first = exp_rotation(first_turn * axis);
      const Rotationd other =
          exp_rotation(turn_about(second, first.inverse() * X.rotation) * second);
      hinge.axes[0] = other.inverse() * hinge.axes[0];
      return {first * other, {}};
    }
    default:
      return {};
  }
}

class JointReader {
 public:
  JointReader(SdfTree& tree, Description& description, xml::Report& report)
      : tree_(tree), d_(description), report_(report) {}

  void run() {
    for (const SdfThing& joint : tree_.joints) read_joint(joint);
    for (const Mimic& mimic : mimics_) read_mimic(mimic);
    for (const Coupling* mimic : mimic_circles(d_.couplings))
      report_.error(mimic->source, "<mimic> of joint '" + mimic->terms[0].hinge +
                                       "' leads back to the joint itself by way of '" +
                                       mimic->terms[1].hinge + "'; break the circle");
    for (const SdfThing* joint : gearboxes_) read_gearbox(*joint);
  }

 private:
  struct Mimic {
    const SdfThing* joint;
    Element element;
    int freedom;
  };

  std::string body_name(int body) const {
    return body == SdfFrames::kWorldBody ? kWorld : d_.bodies[index(body)].name;
  }
  int body_frame(int body) const {
    return body == SdfFrames::kWorldBody ? SdfFrames::kWorldFrame : tree_.links[index(body)].frame;
  }

  // The frame that <parent>, <child> or another tag names; it must sit on a body.
  int read_end(const SdfThing& joint, const char* role) {
    const Element end = joint.element.child(role);
    if (!end || end.text().empty()) {
      if (std::string_view(role) == "child") return SdfFrames::kNoFrame;  // reported by the tree
      report_.error(joint.element.source(), joint.element.description() + " has no <" + role +
                                                ">; write <" + role + ">link</" + role + ">");
      return SdfFrames::kNoFrame;
    }
    const bool is_child = std::string_view(role) == "child";  // the tree has found it already
    const int frame = is_child ? joint.child : tree_.find(*joint.scope, end.text(), end, role);
    if (frame == SdfFrames::kNoFrame) return frame;
    if (tree_.graph.body(frame) == SdfFrames::kNoBody) {
      report_.error(end.source(), end.description() + ": '" + end.text() + "' has no link");
      return SdfFrames::kNoFrame;
    }
    return frame;
  }

  void read_joint(const SdfThing& joint) {
    const Element& e = joint.element;
    check_words(e, kJointWords, kSdf, report_);
    Hinge hinge;
    hinge.name = joint.name;
    hinge.source = e.source();
    const char* type_text = e.attribute("type");
    const std::string type = type_text ? type_text : "";
    if (type == "revolute" || type == "continuous") {
      hinge.type = HingeType::revolute;
    } else if (type == "prismatic") {
      hinge.type = HingeType::prismatic;
    } else if (type == "fixed") {
      hinge.type = HingeType::weld;
    } else if (type == "ball") {
      hinge.type = HingeType::spherical;
    } else if (type == "universal" || type == "revolute2") {
      hinge.type = HingeType::universal;
    } else if (type == "screw") {
      hinge.type = HingeType::screw;
      hinge.pitch = read_pitch(e);
    } else if (type == "gearbox") {
      gearboxes_.push_back(&joint);
      return;
    } else {
      report_.error(
          e.source(),
          e.description() +
              (type_text ? ": unknown type '" + type + "'" : std::string(" has no type")) +
              report_.suggestion(type, kJointTypes) + " (SDF has " + listed(kJointTypes) + ")");
      return;
    }

    const int parent = read_end(joint, "parent");
    const int child = read_end(joint, "child");
    read_axes(joint, type, hinge);
    if (parent == SdfFrames::kNoFrame || child == SdfFrames::kNoFrame) return;
    if (child == SdfFrames::kWorldFrame) {
      const std::string message =
          e.description() + ": SDF does not allow the world as a child; swap parent and child";
      // Old files have it.
      joint.scope->version < kNoWorldChildSince ? report_.doubtful(e.source(), message)
                                                : report_.error(e.source(), message);
    }
    const int parent_body = tree_.graph.body(parent);
    const int child_body = tree_.graph.body(child);
    hinge.parent = body_name(parent_body);
    hinge.child = body_name(child_body);
    if (parent_body == child_body) {
      report_.error(e.source(),
                    e.description() + ": parent and child are the same body '" + hinge.child + "'");
      return;
    }
    place(joint, parent, hinge, body_frame(parent_body), body_frame(child_body));
    if (const Element cut = e.child("physics").child("simbody").child("must_be_loop_joint"))
      if (text_bool(cut, false, report_)) hinge.cut = Cut::always;
    // A static model does not move; it is welded as a whole.
    if (joint.scope->is_static) return;
    hinge_of_frame_.emplace(joint.frame, d_.hinges.size());
    d_.hinges.push_back(std::move(hinge));
  }

  void place(const SdfThing& joint, int parent, Hinge& hinge, int parent_link, int child_link) {
    const Element& e = joint.element;
    hinge.frame_on_child = tree_.graph.pose(joint.frame, child_link);
    hinge.frame_on_parent = tree_.graph.pose(joint.frame, parent_link);
    const bool two_frames = parent != SdfFrames::kWorldFrame &&
                            tree_.kind(parent) == SdfKind::frame && !e.child("pose");
    if (!two_frames) return;
    const Transformd apart = tree_.graph.pose(joint.frame, parent);
    if (satisfies(hinge, apart)) return;
    // The links are not assembled; their poses in the file are the author's guess. As for any other
    // joint of the format, zero is the position of the file, as nearly as the joint allows.
    hinge.frame_on_parent = tree_.graph.pose(parent, parent_link) * nearest(hinge, apart);
    report_.warning(e.source(), e.description() + ": in the poses of the file " +
                                    tree_.graph.what(parent) + " and '" + e.child("child").text() +
                                    "' are apart; the joint holds them together, and assembly "
                                    "moves the links accordingly");
  }

  // Metres per radian, positive for a right-handed thread.
  //
  // SDF 1.10 and later: <screw_thread_pitch> in metres per revolution, right-handed positive.
  // Before (and still read): <thread_pitch> in radians per metre, left-handed positive, as Gazebo
  // reads it. 1 m per revolution when the file has neither.
  double read_pitch(const Element& joint) {
    constexpr double kTurn = 2.0 * std::numbers::pi;
    const Element modern = joint.child("screw_thread_pitch");
    const Element old = joint.child("thread_pitch");
    if (modern || !old) {
      if (!modern)
        report_.warning(joint.source(), joint.description() +
                                            " has no <screw_thread_pitch>; 1 metre per revolution "
                                            "is assumed");
      const double pitch = text_number(modern, 1.0, report_);
      if (pitch == 0.0)
        report_.error(modern.source(),
                      modern.description() + " is zero; use a revolute joint instead of a screw");
      return pitch == 0.0 ? 1.0 : pitch / kTurn;
    }
    const double pitch = text_number(old, 1.0, report_);
    if (pitch == 0.0)
      report_.error(old.source(), old.description() + " is zero; it is in radians per metre");
    return pitch == 0.0 ? 1.0 : -1.0 / pitch;
  }

  void read_axes(const SdfThing& joint, const std::string& type, Hinge& hinge) {
    if (hinge.type == HingeType::weld || hinge.type == HingeType::spherical) return;
    const bool two = hinge.type == HingeType::universal;
    for (const char* tag : {"axis", "axis2"}) {
      if (!two && std::string_view(tag) == "axis2") break;
      const Element axis = joint.element.child(tag);
      if (!axis) {
        report_.doubtful(joint.element.source(),
                         joint.element.description() + " has no <" + tag + ">; 0 0 1 is assumed");
        hinge.axes.push_back(Vec3d::unit_z());
        hinge.freedoms.push_back({});
        continue;
      }
      check_words(axis, kAxisWords, kSdf, report_);
      hinge.axes.push_back(read_axis(joint, axis));
      hinge.freedoms.push_back(read_freedom(axis, type == "continuous"));
      if (const Element initial = axis.child("initial_position")) {
        hinge.initial_position.resize(two ? 2 : 1, 0.0);
        hinge.initial_position[hinge.axes.size() - 1] = text_number(initial, 0.0, report_);
      }
      if (const Element mimic = axis.child("mimic"))
        mimics_.push_back({&joint, mimic, static_cast<int>(hinge.axes.size()) - 1});
    }
  }

  // In the frame of the joint.
  Vec3d read_axis(const SdfThing& joint, const Element& axis) {
    const Element xyz = axis.child("xyz");
    if (!xyz)
      report_.doubtful(axis.source(), axis.description() + " has no <xyz>; 0 0 1 is assumed");
    else
      check_words(xyz, kXyzWords, kSdf, report_);
    Vec3d direction = text_vector(xyz, Vec3d::unit_z(), report_);
    if (norm(direction) < kShortestAxis) {
      report_.error(xyz.source(), xyz.description() +
                                      ": the axis is zero; give it a direction, "
                                      "such as 0 0 1");
      return Vec3d::unit_z();
    }
    int expressed_in = joint.frame;
    const Element in_model = axis.child("use_parent_model_frame");
    if (const char* frame = xyz.attribute("expressed_in"); frame && *frame) {
      expressed_in = tree_.find(*joint.scope, frame, xyz, "expressed_in");
      if (expressed_in == SdfFrames::kNoFrame) return Vec3d::unit_z();
    } else if (text_bool(in_model, joint.scope->version < kAxisInJointSince, report_)) {
      expressed_in = joint.scope->frame;
    }
    if (expressed_in != joint.frame)
      direction = tree_.graph.pose(expressed_in, joint.frame).rotation * direction;
    return direction;
  }

  FreedomSettings read_freedom(const Element& axis, bool continuous) {
    FreedomSettings freedom;
    if (const Element limit = axis.child("limit")) {
      check_words(limit, kLimitWords, kSdf, report_);
      const auto bound = [&](const char* tag, double otherwise) {
        const double value = text_number(limit.child(tag), otherwise, report_, Infinite::allowed);
        return std::abs(value) >= kNoLimit ? std::copysign(kInfinity, value) : value;
      };
      const double lower = bound("lower", -kInfinity);
      const double upper = bound("upper", kInfinity);
      if (lower > upper)
        report_.doubtful(limit.source(), limit.description() + ": lower limit " + number(lower) +
                                             " is above upper limit " + number(upper) +
                                             "; the joint has no limits until they are swapped");
      if (!continuous && lower <= upper) {
        freedom.lower = lower;
        freedom.upper = upper;
      }
      if (limit.child("stiffness") || limit.child("dissipation"))
        report_.warning_once(
            limit.source(),
            "<stiffness> and <dissipation> of joint limits are ignored: limits are "
            "rigid stops (restitution by `stops:` of the simulation)");
      // Negative: no limit.
      const double effort = bound("effort", kInfinity);
      const double velocity = bound("velocity", kInfinity);
      freedom.effort_limit = effort < 0.0 ? kInfinity : effort;
      freedom.velocity_limit = velocity < 0.0 ? kInfinity : velocity;
    }
    if (const Element dynamics = axis.child("dynamics")) {
      check_words(dynamics, kDynamicsWords, kSdf, report_);
      const auto coefficient = [&](const char* tag) {
        const Element e = dynamics.child(tag);
        const double value = text_number(e, 0.0, report_);
        if (value < 0.0)
          report_.error(e.source(),
                        e.description() + ": " + number(value) + " must not be negative");
        return value;
      };
      freedom.damping = coefficient("damping");
      freedom.friction.sliding = coefficient("friction");
      freedom.stiffness = coefficient("spring_stiffness");
      freedom.rest = text_number(dynamics.child("spring_reference"), 0.0, report_);
    }
    return freedom;
  }

  // follower = multiplier · (leader − reference) + offset.
  void read_mimic(const Mimic& mimic) {
    const Element& e = mimic.element;
    check_words(e, kMimicWords, kSdf, report_);
    const char* leader_name = e.attribute("joint");
    if (!leader_name) {
      report_.error(e.source(), e.description() + " has no attribute 'joint'");
      return;
    }
    int leader = tree_.find(*mimic.joint->scope, leader_name, e, "joint");
    if (leader == SdfFrames::kNoFrame) return;
    if (tree_.kind(leader) != SdfKind::joint)  // before 1.7 a link may have the same name
      for (const SdfThing& joint : tree_.joints)
        if (joint.scope == mimic.joint->scope && joint.name == joint.scope->prefix + leader_name)
          leader = joint.frame;
    const std::string axis = e.attribute("axis") ? e.attribute("axis") : "axis";
    if (axis != "axis" && axis != "axis2")
      report_.error(e.source(), e.description() + ": axis '" + axis + "' must be axis or axis2");
    const double multiplier = text_number(e.child("multiplier"), 1.0, report_);
    const double offset = text_number(e.child("offset"), 0.0, report_);
    const double reference = text_number(e.child("reference"), 0.0, report_);
    const auto follower_at = hinge_of_frame_.find(mimic.joint->frame);
    const auto leader_at = hinge_of_frame_.find(leader);
    if (report_.has_error() || follower_at == hinge_of_frame_.end()) return;
    if (leader_at == hinge_of_frame_.end()) {
      report_.error(e.source(),
                    e.description() + ": '" + leader_name + "' is not a joint that moves");
      return;
    }
    Coupling coupling;
    const Hinge& follower = d_.hinges[follower_at->second];
    coupling.name = follower.name + (mimic.freedom > 0 ? "_axis2" : "");
    coupling.terms = {{follower.name, mimic.freedom, 1.0},
                      {d_.hinges[leader_at->second].name, axis == "axis2" ? 1 : 0, -multiplier}};
    coupling.constant = offset - multiplier * reference;
    coupling.source = e.source();
    if (leader_at->second == follower_at->second &&
        coupling.terms[0].freedom == coupling.terms[1].freedom) {
      report_.error(e.source(), e.description() + ": the axis mimics itself");
      return;
    }
    if (coupling.terms[1].freedom >= freedoms_of(d_.hinges[leader_at->second])) {
      report_.error(e.source(),
                    e.description() + ": joint '" + leader_name + "' has no <" + axis + ">");
      return;
    }
    d_.couplings.push_back(std::move(coupling));
  }

  // A gearbox couples the turns of its parent and child on their common carrier, the reference
  // body: turn of the child about axis2 = −ratio · turn of the parent about axis. It holds nothing
  // else; the two bodies have revolute joints of their own.
  void read_gearbox(const SdfThing& joint) {
    const Element& e = joint.element;
    const int parent = read_end(joint, "parent");
    const int child = read_end(joint, "child");
    const int carrier = read_end(joint, "gearbox_reference_body");
    const double ratio = text_number(e.child("gearbox_ratio"), 1.0, report_);
    Hinge axes;
    axes.type = HingeType::universal;
    read_axes(joint, "gearbox", axes);
    if (parent == SdfFrames::kNoFrame || child == SdfFrames::kNoFrame ||
        carrier == SdfFrames::kNoFrame || report_.has_error() || joint.scope->is_static)
      return;
    const std::vector<Coupling::Term> first = turn_on(joint, carrier, parent, axes.axes[0]);
    const std::vector<Coupling::Term> second = turn_on(joint, carrier, child, axes.axes[1]);
    if (first.empty() || second.empty()) return;
    Coupling coupling;
    coupling.name = joint.name;
    const double sign = second[0].coefficient;
    const auto add = [&](const Coupling::Term& term, double factor) {
      for (Coupling::Term& known : coupling.terms)
        if (known.hinge == term.hinge) {
          known.coefficient += factor * term.coefficient;
          return;
        }
      coupling.terms.push_back({term.hinge, 0, factor * term.coefficient});
    };
    for (const Coupling::Term& term : second) add(term, sign);
    for (const Coupling::Term& term : first) add(term, sign * ratio);
    std::erase_if(coupling.terms, [](const Coupling::Term& t) { return t.coefficient == 0.0; });
    coupling.source = e.source();
    d_.couplings.push_back(std::move(coupling));
  }

  // The turn of a wheel about the axis (in the frame of the gearbox), seen from the carrier: of the
  // revolute joint between the two, or else the sum over revolute joints about parallel axes that
  // lead from one to the other, as from the sun of a planetary gear by way of the housing.
  std::vector<Coupling::Term> turn_on(const SdfThing& joint, int carrier_frame, int wheel_frame,
                                      const Vec3d& axis) {
    const std::string base = body_name(tree_.graph.body(carrier_frame));
    const std::string wheel = body_name(tree_.graph.body(wheel_frame));
    struct Edge {
      std::string to;
      Coupling::Term term;  // without a hinge: a weld
    };
    std::unordered_map<std::string, std::vector<Edge>> edges;
    for (const SdfThing& other : tree_.joints) {
      const auto found = hinge_of_frame_.find(other.frame);
      if (found == hinge_of_frame_.end()) continue;
      const Hinge& hinge = d_.hinges[found->second];
      Coupling::Term term;
      if (hinge.type == HingeType::revolute) {
        const Vec3d own = tree_.graph.pose(other.frame, joint.frame).rotation * hinge.axes[0];
        term = {hinge.name, 0, dot(own, axis) < 0.0 ? -1.0 : 1.0};
        // Between wheel and carrier themselves the axis may be any, as the wheels of a bevel gear
        // are sometimes given.
        const bool direct = (hinge.parent == base && hinge.child == wheel) ||
                            (hinge.parent == wheel && hinge.child == base);
        if (!direct && norm(cross(normalized(own), normalized(axis))) > kSatisfied) continue;
      } else if (hinge.type != HingeType::weld) {
        continue;
      }
      edges[hinge.parent].push_back({hinge.child, term});
      term.coefficient = -term.coefficient;
      edges[hinge.child].push_back({hinge.parent, term});
    }
    // The shortest way, breadth first.
    std::unordered_map<std::string, Edge> came{{base, {}}};  // from where, and by what
    std::vector<std::string> queue{base};
    for (std::size_t i = 0; i < queue.size() && !came.contains(wheel); ++i) {
      const std::string from = queue[i];
      for (const Edge& edge : edges[from])
        if (came.try_emplace(edge.to, Edge{from, edge.term}).second) queue.push_back(edge.to);
    }
    std::vector<Coupling::Term> terms;
    if (came.contains(wheel))
      for (std::string at = wheel; at != base; at = came.at(at).to)
        if (const Coupling::Term& term = came.at(at).term; !term.hinge.empty())
          terms.push_back(term);
    if (terms.empty()) {
      const Element& e = joint.element;
      report_.error(e.source(), e.description() + ": there is no revolute joint between '" + wheel +
                                    "' and the reference body '" + base +
                                    "', and no chain of revolute joints about parallel axes; add "
                                    "one for the gearbox to couple");
    }
    return terms;
  }

  SdfTree& tree_;
  Description& d_;
  xml::Report& report_;
  std::unordered_map<int, std::size_t> hinge_of_frame_;
  std::vector<Mimic> mimics_;
  std::vector<const SdfThing*> gearboxes_;
};

}  // namespace

void read_sdf_joints(SdfTree& tree, Description& description, xml::Report& report) {
  JointReader(tree, description, report).run();
}

}  // namespace catena
