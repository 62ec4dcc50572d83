// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/validation.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/model/flexible_body.h"
#include "catena/model/topology.h"
#include "catena/model/usable_numbers.h"
#include "catena/model/user_functions.h"

namespace catena {
namespace {

// Largest number of messages with a nearest name: each search compares every name.
constexpr int kMostSuggestions = 20;

// After a number, or after the name of several.
std::string unusable(double value) {
  return std::isfinite(value) ? " is beyond " + number(kLargestNumber) : " is not finite";
}
std::string unusable() {
  return " has a number that is not finite or beyond " + number(kLargestNumber);
}

// Each shown as '?'.
std::string without_control_characters(std::string name) {
  for (char& c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return name;
}

std::string counted_axes(std::size_t n) {
  return n == 0 ? "no axis" : n == 1 ? "1 axis" : std::to_string(n) + " axes";
}

// Initial positions and limits are often written with few digits: 1.5708 and pi/2.
constexpr double kPositionSlack = 1e-4;

class Validator {
 public:
  Validator(const Description& d, const ValidationSettings& settings)
      : d_(d), settings_(settings) {}

  std::vector<Diagnostic> run() {
    if (!usable(d_.gravity)) error({}, "gravity" + unusable());
    check_names();
    std::unordered_set<std::string> deforming;  // check_flexible() checks their inertia
    for (const Hinge& hinge : d_.hinges)
      if (hinge.type == HingeType::modes) deforming.insert(hinge.child);
    for (const Body& body : d_.bodies)
      if (!deforming.contains(body.name)) check_body(body);
    for (const Hinge& hinge : d_.hinges) check_hinge(hinge);
    for (const Frame& frame : d_.frames) {
      const std::string what = "frame '" + frame.name + "'";
      check_body_name(frame.source, what, "body", frame.body);
      check_pose(frame.source, what, "pose", frame.pose);
      if (bodies_.contains(frame.name))
        warning(frame.source, what + ": a body has this name too; outputs of '" + frame.name +
                                  "' are those of the frame");
    }
    for (const Rod& rod : d_.rods) {
      const std::string what = "rod '" + rod.name + "'";
      check_ends(rod.source, what, rod);
      if (rod.body_a == rod.body_b)
        error(rod.source, what + ": both of its ends are on body '" + rod.body_a + "'");
      if (!(rod.length > 0.0) || !usable(rod.length))
        error(rod.source, what + ": length " + number(rod.length) +
                              (rod.length <= 0.0 ? " must be positive" : unusable(rod.length)));
    }
    for (const SpringDamper& spring : d_.springs) {
      const std::string what = "spring '" + spring.name + "'";
      check_ends(spring.source, what, spring);
      if (spring.body_a == spring.body_b)
        error(spring.source, what + ": both of its ends are on body '" + spring.body_a + "'");
      check_not_negative(spring.source, what, "stiffness", spring.stiffness);
      check_not_negative(spring.source, what, "damping", spring.damping);
      check_not_negative(spring.source, what, "rest length", spring.rest_length);
    }
    for (const Coupling& coupling : d_.couplings) check_coupling(coupling);
    return std::move(found_);
  }

 private:
  void error(const Source& source, std::string message) {
    found_.push_back({Severity::error, source, without_control_characters(std::move(message))});
  }
  void warning(const Source& source, std::string message) {
    found_.push_back({Severity::warning, source, without_control_characters(std::move(message))});
  }
  // An error that many public robot files have.
  void doubtful(const Source& source, std::string message) {
    settings_.strict ? error(source, std::move(message)) : warning(source, std::move(message));
  }

  void check_names() {
    const auto unique = [this](const char* kind, const auto& things,
                               std::unordered_map<std::string, const Source*>& seen) {
      for (const auto& thing : things) {
        const auto [earlier, fresh] = seen.emplace(thing.name, &thing.source);
        if (thing.name.empty()) error(thing.source, std::string("a ") + kind + " has no name");
        if (without_control_characters(thing.name) != thing.name)
          error(thing.source, std::string(kind) + " '" + thing.name +
                                  "': its name has a control character (shown as '?'); rename it");
        if (fresh || thing.name.empty()) continue;
        std::string message = std::string(kind) + " '" + thing.name + "' is defined twice";
        if (earlier->second->line > 0)
          message += " (first in line " + std::to_string(earlier->second->line) + ")";
        error(thing.source, message + "; give one of them another name");
      }
    };
    unique("body", d_.bodies, bodies_);
    if (const auto world = bodies_.find(kWorld); world != bodies_.end())
      error(*world->second, "body 'world' is the ground and cannot be defined; rename it");
    unique("hinge", d_.hinges, hinges_);
    std::unordered_map<std::string, const Source*> frames, rods, couplings, springs;
    unique("frame", d_.frames, frames);
    unique("rod", d_.rods, rods);
    unique("coupling", d_.couplings, couplings);
    unique("spring", d_.springs, springs);
    for (const Hinge& hinge : d_.hinges) hinge_of_.emplace(hinge.name, &hinge);
  }

  // "; did you mean ...?" from the names of a table, sorted once.
  std::string suggestion(const std::string& name,
                         const std::unordered_map<std::string, const Source*>& table,
                         std::vector<std::string>& sorted) {
    if (suggestions_++ >= kMostSuggestions) return {};
    if (sorted.empty()) {
      for (const auto& entry : table) sorted.push_back(entry.first);
      std::sort(sorted.begin(), sorted.end());
    }
    return did_you_mean(name, sorted);
  }

  bool check_body_name(const Source& source, const std::string& what, const char* role,
                       const std::string& name) {
    if (name == kWorld || bodies_.contains(name)) return true;
    error(source, what + ": " + role + " '" + name + "' does not exist" +
                      suggestion(name, bodies_, body_names_));
    return false;
  }

  void check_pose(const Source& source, const std::string& what, const char* which,
                  const Transformd& pose) {
    if (!usable(pose))
      error(source, what + ": its " + which + unusable());
    else if (!orthonormal(pose.rotation))
      error(source, what + ": the rotation of its " + which + " is not orthonormal");
  }

  void check_not_negative(const Source& source, const std::string& what, const char* which,
                          double value) {
    if (!(value >= 0.0) || !usable(value))
      error(source, what + ": " + which + " " + number(value) +
                        (value < 0.0 ? " must not be negative" : unusable(value)));
  }

  void check_ends(const Source& source, const std::string& what, const auto& thing) {
    check_body_name(source, what, "body", thing.body_a);
    check_body_name(source, what, "body", thing.body_b);
    if (!usable(thing.point_a) || !usable(thing.point_b))
      error(source, what + ": a point" + unusable());
  }

  void check_collision(const Body& body, const std::string& what, const Collision& collision) {
    const std::string shape =
        collision.name.empty() ? "collision shape" : "collision shape '" + collision.name + "'";
    check_pose(body.source, what, (shape + "'s pose").c_str(), collision.pose);
    const Vec3d& size = collision.size;
    if (!usable(size) || !usable(collision.radius) || !usable(collision.length))
      error(body.source, what + ": the size of its " + shape + unusable());
    else if ((collision.shape == Collision::Shape::box &&
              !(size.x >= 0 && size.y >= 0 && size.z >= 0)) ||
             !(collision.radius >= 0.0 && collision.length >= 0.0))
      error(body.source, what + ": the size of its " + shape + " must not be negative");
    // Infinite friction never slips.
    if (collision.friction && !(*collision.friction >= 0.0))
      error(body.source, what + ": the friction of its " + shape + " is " +
                             number(*collision.friction) + "; it must not be negative");
    if (collision.restitution && !(*collision.restitution >= 0.0 && *collision.restitution <= 1.0))
      error(body.source, what + ": the restitution of its " + shape + " is " +
                             number(*collision.restitution) + "; it must be from 0 to 1");
  }

  void check_body(const Body& body) {
    const std::string what = "body '" + body.name + "'";
    for (const Visual& visual : body.visuals) {
      check_pose(body.source, what, "visual's pose", visual.pose);
      if (!usable(visual.size) || !usable(visual.radius) || !usable(visual.length))
        error(body.source, what + ": the size of a visual" + unusable());
    }
    for (const Collision& collision : body.collisions) check_collision(body, what, collision);
    check_not_negative(body.source, what, "mass", body.mass);
    if (!usable(body.center_of_mass))
      error(body.source, what + ": its centre of mass" + unusable());
    if (!orthonormal(body.inertia_axes))
      error(body.source, what + ": the axes of its inertia are not orthonormal");
    if (!usable(body.inertia)) {
      error(body.source, what + ": its inertia" + unusable());
      return;
    }
    const Eigen::Vector3d m = principal_moments(body.inertia);
    const double slack = kInertiaSlack * m.cwiseAbs().maxCoeff();
    const std::string moments =
        "(" + number(m[0]) + ", " + number(m[1]) + ", " + number(m[2]) + ")";
    if (m[0] < -slack)
      doubtful(body.source,
               what + ": principal moments of inertia " + moments + " must not be negative");
    else if (m[0] + m[1] < m[2] - slack)
      doubtful(body.source, what + ": principal moments of inertia " + moments +
                                " violate the triangle inequality; no real body has them");
    if (body.mass == 0.0 && m.cwiseAbs().maxCoeff() > 0.0)
      doubtful(body.source, what + ": it has an inertia but no mass");
  }

  static std::size_t axis_count(HingeType type) {
    switch (type) {
      case HingeType::revolute:
      case HingeType::prismatic:
      case HingeType::screw:
      case HingeType::cylindrical:
        return 1;
      case HingeType::planar:
      case HingeType::universal:
        return 2;
      case HingeType::gimbal:
        return 3;
      default:
        return 0;
    }
  }

  void check_axes(const Hinge& hinge, const std::string& what) {
    const std::size_t most = axis_count(hinge.type);
    const std::size_t n = hinge.axes.size();
    // All or none, except for the plane's x direction.
    const bool right_count = n == 0 || n == most || (hinge.type == HingeType::planar && n == 1);
    if (!right_count) {
      error(hinge.source, what + ": a " + std::string(to_string(hinge.type)) + " hinge takes " +
                              counted_axes(most) + ", not " + std::to_string(n));
      return;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3d& axis = hinge.axes[i];
      if (usable_axis(axis)) continue;
      error(hinge.source, what + ": axis " + (n == 1 ? "" : std::to_string(i + 1) + ", ") + "(" +
                              number(axis.x) + ", " + number(axis.y) + ", " + number(axis.z) + ")" +
                              (usable(axis) ? " is zero" : unusable()) + "; give it a direction");
    }
    for (std::size_t i = 0; i + 1 < n; ++i)
      if (usable_axis(hinge.axes[i]) && usable_axis(hinge.axes[i + 1]) &&
          parallel(hinge.axes[i], hinge.axes[i + 1]))
        error(hinge.source, what + ": axes " + std::to_string(i + 1) + " and " +
                                std::to_string(i + 2) + " are parallel");
  }

  void check_freedom(const Hinge& hinge, const std::string& what, const FreedomSettings& f) {
    const Source& source = hinge.source;
    if (has_quaternion(hinge.type) &&
        (f.lower != -kInfinity || f.upper != kInfinity || f.stiffness != 0.0))
      doubtful(source, what + ": a " + std::string(to_string(hinge.type)) +
                           " hinge has no coordinate for limits and stiffness to refer to; "
                           "use a gimbal");
    if (std::isnan(f.lower) || std::isnan(f.upper))
      error(source, what + ": a limit is not a number");
    else if (f.lower > f.upper)
      error(source, what + ": lower limit " + number(f.lower) + " is above upper limit " +
                        number(f.upper) + "; swap them");
    else if (f.lower == kInfinity || f.upper == -kInfinity)
      error(source, what + ": limits " + number(f.lower) + " and " + number(f.upper) +
                        " leave no position; leave out a limit that does not exist");
    check_limit(source, what, "velocity limit", f.velocity_limit);
    check_limit(source, what, "effort limit", f.effort_limit);
    check_not_negative(source, what, "damping", f.damping);
    check_not_negative(source, what, "stiffness", f.stiffness);
    if (!usable(f.rest)) error(source, what + ": rest position" + unusable(f.rest));
    check_not_negative(source, what, "sliding friction", f.friction.sliding);
    check_not_negative(source, what, "breakaway friction", f.friction.breakaway);
    check_not_negative(source, what, "Stribeck velocity", f.friction.stribeck_velocity);
    if (f.friction.breakaway != 0.0 && f.friction.breakaway < f.friction.sliding)
      error(source, what + ": breakaway friction " + number(f.friction.breakaway) +
                        " is below sliding friction " + number(f.friction.sliding));
    if (f.friction.active() && !(f.friction.transition_velocity > 0.0))
      error(source, what + ": the transition velocity of its friction must be positive");
  }

  // Infinity: no limit.
  void check_limit(const Source& source, const std::string& what, const char* which, double value) {
    if (!(value >= 0.0))
      error(source, what + ": " + which + " " + number(value) +
                        (std::isnan(value) ? " is not a number" : " must not be negative"));
  }

  void check_start(const Hinge& hinge, const std::string& what) {
    if (has_quaternion(hinge.type)) return;  // its coordinates have no limits
    const std::size_t n = std::min(hinge.freedoms.size(), hinge.initial_position.size());
    for (std::size_t i = 0; i < n; ++i) {
      const double q = hinge.initial_position[i];
      const FreedomSettings& f = hinge.freedoms[i];
      const double slack = kPositionSlack * (1.0 + std::abs(q));
      if (f.lower <= f.upper && (q < f.lower - slack || q > f.upper + slack))
        warning(hinge.source, what + ": initial position " + number(q) +
                                  " is outside its limits, " + number(f.lower) + " to " +
                                  number(f.upper));
    }
  }

  void check_hinge(const Hinge& hinge) {
    const std::string what = "hinge '" + hinge.name + "'";
    const bool parent = check_body_name(hinge.source, what, "parent", hinge.parent);
    const bool child = check_body_name(hinge.source, what, "child", hinge.child);
    if (parent && child && hinge.parent == hinge.child)
      error(hinge.source, what + ": parent and child are the same body '" + hinge.child + "'");
    check_pose(hinge.source, what, "frame on the parent", hinge.frame_on_parent);
    check_pose(hinge.source, what, "frame on the child", hinge.frame_on_child);
    check_axes(hinge, what);
    if (!usable(hinge.pitch))
      error(hinge.source, what + ": pitch" + unusable(hinge.pitch));
    else if (hinge.pitch == 0.0 && hinge.type == HingeType::screw)
      error(hinge.source, what +
                              ": a screw needs its pitch, in metres per radian; one without is a "
                              "revolute hinge");
    else if (hinge.pitch != 0.0 && hinge.type != HingeType::screw)
      warning(hinge.source, what + ": a " + std::string(to_string(hinge.type)) +
                                " hinge has no pitch; make it a screw or leave the pitch out");
    if (is_internal(hinge.type)) {
      check_flexible(hinge, what);
      return;
    }
    if (hinge.type == HingeType::custom) {
      if (!hinge.custom) {
        error(hinge.source, what + ": a custom hinge needs its functions");
        return;
      }
      const int n = hinge.custom->freedoms();
      if (n < 1 || n > kMaxFreedoms) {
        error(hinge.source,
              what + ": a custom hinge has 1 to 6 freedoms, not " + std::to_string(n));
        return;
      }
      for (const std::string& wrong : wrong_in_custom_hinge(hinge))
        error(hinge.source, what + ": " + wrong);
    }
    Hinge unlocked = hinge;
    unlocked.locked_at.clear();
    const std::size_t freedoms = to_size(freedoms_of(unlocked));
    const std::size_t coordinates = to_size(coordinates_of(unlocked));
    if (hinge.freedoms.size() > freedoms)
      error(hinge.source, what + ": settings for " + std::to_string(hinge.freedoms.size()) +
                              " freedoms, but it has " + std::to_string(freedoms));
    for (std::size_t i = 0; i < hinge.freedoms.size(); ++i)
      check_freedom(hinge,
                    hinge.freedoms.size() == 1 ? what : what + " freedom " + std::to_string(i + 1),
                    hinge.freedoms[i]);
    const auto check_values = [&](const std::vector<double>& values, std::size_t size,
                                  const char* which) {
      if (!values.empty() && values.size() != size)
        error(hinge.source, what + ": " + which + " has " + std::to_string(values.size()) +
                                (values.size() == 1 ? " number, but " : " numbers, but ") +
                                std::to_string(size) + (size == 1 ? " is needed" : " are needed"));
      else if (!usable(values))
        error(hinge.source, what + ": " + which + unusable());
    };
    const auto check_quaternion = [&](const std::vector<double>& q, const char* which) {
      if (!has_quaternion(hinge.type) || q.size() != coordinates || !usable(q)) return;
      const double length = quaternion_length(q);
      const std::string message =
          what + ": the quaternion of " + which + " has length " + number(length);
      if (length < kShortestQuaternion)
        error(hinge.source, message + "; it must have length 1");
      else if (std::abs(length - 1.0) > kQuaternionSlack)
        warning(hinge.source, message + "; it is scaled to 1");
    };
    check_values(hinge.locked_at, coordinates, "the locked position");
    check_values(hinge.initial_position, coordinates, "the initial position");
    check_values(hinge.initial_velocity, freedoms, "the initial velocity");
    check_quaternion(hinge.locked_at, "the locked position");
    check_quaternion(hinge.initial_position, "the initial position");
    check_start(hinge, what);
    if (hinge.drive) check_drive(hinge, what, freedoms);
  }

  // The modes of a flexible body, or one of its attachments.
  void check_flexible(const Hinge& hinge, const std::string& what) {
    if (!hinge.flexible) {
      error(hinge.source, what + ": a flexible body needs its constants (flexible/beam.h)");
      return;
    }
    const std::string body = "flexible body '" + hinge.parent + "'";
    if (!hinge.locked_at.empty())
      error(hinge.source,
            what + ": the modes of " + body + " cannot be locked; make it a rigid body instead");
    if (hinge.type == HingeType::attachment) return;
    const std::size_t n = to_size(hinge.flexible->modes());
    if (n > std::numeric_limits<std::uint16_t>::max())
      error(hinge.source, body + " has " + std::to_string(n) + " modes, more than 65535");
    for (const std::vector<double>* values : {&hinge.initial_position, &hinge.initial_velocity})
      if (!values->empty() && (values->size() != n || !usable(*values)))
        error(hinge.source, body + ": its initial state needs " + std::to_string(n) +
                                " finite numbers, one for each mode");
    for (Diagnostic& d : check_flexible_body(*hinge.flexible, body, hinge.source))
      found_.push_back(std::move(d));
  }

  void check_drive(const Hinge& hinge, const std::string& what, std::size_t freedoms) {
    const DriveSettings& drive = *hinge.drive;
    if (freedoms != 1) {
      error(hinge.source,
            what + ": a drive needs a hinge of one freedom, this has " + std::to_string(freedoms));
      return;
    }
    check_not_negative(hinge.source, what + " drive", "rotor inertia", drive.rotor_inertia);
    if (!usable(drive.gear_ratio) || drive.gear_ratio == 0.0)
      error(hinge.source, what + " drive: gear ratio " + number(drive.gear_ratio) +
                              " must not be zero and not beyond " + number(kLargestNumber));
    if (!drive.carrier.empty())
      check_body_name(hinge.source, what + " drive", "carrier", drive.carrier);
    if (drive.rotor_axis && !usable_axis(*drive.rotor_axis))
      error(hinge.source, what + " drive: the rotor axis" +
                              (usable(*drive.rotor_axis) ? " is zero" : unusable()) +
                              "; give it a direction");
    const bool has_axis = hinge.type == HingeType::revolute || hinge.type == HingeType::prismatic ||
                          hinge.type == HingeType::screw;
    const bool on_parent = drive.carrier.empty() || drive.carrier == hinge.parent;
    if (!drive.rotor_axis && !drive.armature_only && !(has_axis && on_parent))
      error(hinge.source, what + " drive: give the rotor axis in the frame of its carrier");
  }

  void check_coupling(const Coupling& coupling) {
    const std::string what = "coupling '" + coupling.name + "'";
    const std::size_t found_before = found_.size();
    if (coupling.terms.empty())
      error(coupling.source, what + " has no terms; name the hinges that it couples");
    if (!usable(coupling.constant))
      error(coupling.source, what + ": its constant" + unusable(coupling.constant));
    bool any = false;
    std::set<std::pair<std::string, int>> used;
    for (const Coupling::Term& term : coupling.terms) {
      if (!used.emplace(term.hinge, term.freedom).second)
        error(coupling.source, what + ": hinge '" + term.hinge + "' occurs twice");
      const auto found = hinge_of_.find(term.hinge);
      if (found == hinge_of_.end()) {
        error(coupling.source, what + ": hinge '" + term.hinge + "' does not exist" +
                                   suggestion(term.hinge, hinges_, hinge_names_));
        continue;
      }
      const Hinge& hinge = *found->second;
      if (is_rigid(hinge))
        error(coupling.source, what + ": hinge '" + term.hinge +
                                   "' is locked or a weld; free it, or remove the coupling and "
                                   "lock its other hinges too");
      else if (has_quaternion(hinge.type))
        error(coupling.source, what + ": hinge '" + term.hinge + "' is " +
                                   std::string(to_string(hinge.type)) +
                                   "; only hinges with plain coordinates can be coupled");
      else if (term.freedom < 0 || term.freedom >= freedoms_of(hinge))
        error(coupling.source,
              what + ": hinge '" + term.hinge + "' has no freedom " + std::to_string(term.freedom));
      if (!usable(term.coefficient))
        error(coupling.source,
              what + ": the coefficient of '" + term.hinge + "'" + unusable(term.coefficient));
      any = any || term.coefficient != 0.0;
    }
    if (!coupling.function && !coupling.terms.empty() && !any)
      error(coupling.source, what + ": all coefficients are zero");
    if (coupling.function && found_.size() == found_before) check_function(coupling, what);
  }

  // At the initial positions of its hinges, or (none given) where there is no symmetry.
  void check_function(const Coupling& coupling, const std::string& what) {
    std::vector<double> q(coupling.terms.size(), 0.0);
    std::size_t given = 0;
    for (std::size_t i = 0; i < q.size(); ++i) {
      const Coupling::Term& term = coupling.terms[i];
      const std::vector<double>& initial = hinge_of_.at(term.hinge)->initial_position;
      const std::size_t k = to_size(term.freedom);
      if (k >= initial.size() || !usable(initial)) continue;
      q[i] = initial[k];
      ++given;
    }
    for (std::size_t i = 0; given == 0 && i < q.size(); ++i) q[i] = unsymmetric_coordinate(i);
    for (const std::string& wrong : wrong_in_coupling_function(coupling, q, given == q.size()))
      error(coupling.source, what + ": " + wrong);
  }

  const Description& d_;
  const ValidationSettings& settings_;
  std::vector<Diagnostic> found_;
  std::unordered_map<std::string, const Source*> bodies_;
  std::unordered_map<std::string, const Source*> hinges_;
  std::unordered_map<std::string, const Hinge*> hinge_of_;
  std::vector<std::string> body_names_;
  std::vector<std::string> hinge_names_;
  int suggestions_ = 0;
};

}  // namespace

std::vector<Diagnostic> validate(const Description& description,
                                 const ValidationSettings& settings) {
  return Validator(description, settings).run();
}

bool has_error(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error; });
}

}  // namespace catena
