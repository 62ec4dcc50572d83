#include "catena/model/validation.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "catena/base/text.h"
#include "catena/model/sound.h"
#include "catena/model/topology.h"
#include "catena/spatial/eigen.h"

namespace catena {
namespace {

// Nearest names are looked for in so many messages at most: each search looks at every name.
constexpr int kMostSuggestions = 20;

class Validator {
 public:
  Validator(const Description& d, const ValidationSettings& settings)
      : d_(d), settings_(settings) {}

  std::vector<Diagnostic> run() {
    if (!finite(d_.gravity)) error({}, "gravity is not a finite vector");
    check_names();
    for (const Body& body : d_.bodies) check_body(body);
    for (const Hinge& hinge : d_.hinges) check_hinge(hinge);
    for (const Frame& frame : d_.frames) {
      const std::string what = "frame '" + frame.name + "'";
      check_body_name(frame.source, what, "body", frame.body);
      check_pose(frame.source, what, "pose", frame.pose);
    }
    for (const Rod& rod : d_.rods) {
      const std::string what = "rod '" + rod.name + "'";
      check_ends(rod.source, what, rod);
      if (rod.body_a == rod.body_b)
        error(rod.source, what + ": both of its ends are on body '" + rod.body_a + "'");
      if (!(rod.length > 0.0) || !finite(rod.length))
        error(rod.source, what + ": length " + number(rod.length) + " must be positive");
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
    found_.push_back({Severity::error, source, std::move(message)});
  }
  void warning(const Source& source, std::string message) {
    found_.push_back({Severity::warning, source, std::move(message)});
  }
  // Wrong, but many public robot files have it.
  void doubtful(const Source& source, std::string message) {
    settings_.strict ? error(source, std::move(message)) : warning(source, std::move(message));
  }

  void check_names() {
    const auto unique = [this](const char* kind, const auto& things,
                               std::unordered_map<std::string, const Source*>& seen) {
      for (const auto& thing : things) {
        const auto [earlier, fresh] = seen.emplace(thing.name, &thing.source);
        if (thing.name.empty()) error(thing.source, std::string("a ") + kind + " has no name");
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
    if (!finite(pose))
      error(source, what + ": its " + which + " has a number that is not finite");
    else if (!orthonormal(pose.rotation))
      error(source, what + ": the rotation of its " + which + " is not orthonormal");
  }

  void check_not_negative(const Source& source, const std::string& what, const char* which,
                          double value) {
    if (!(value >= 0.0) || !finite(value))
      error(source, what + ": " + which + " " + number(value) +
                        (finite(value) ? " must not be negative" : " is not finite"));
  }

  void check_ends(const Source& source, const std::string& what, const auto& thing) {
    check_body_name(source, what, "body", thing.body_a);
    check_body_name(source, what, "body", thing.body_b);
    if (!finite(thing.point_a) || !finite(thing.point_b))
      error(source, what + ": a point has a number that is not finite");
  }

  void check_body(const Body& body) {
    const std::string what = "body '" + body.name + "'";
    for (const Visual& visual : body.visuals) {
      check_pose(body.source, what, "visual's pose", visual.pose);
      if (!finite(visual.size) || !finite(visual.radius) || !finite(visual.length))
        error(body.source, what + ": the size of a visual is not finite");
    }
    if (!finite(body.mass))
      error(body.source, what + ": mass " + number(body.mass) + " is not finite");
    if (!finite(body.center_of_mass))
      error(body.source, what + ": its centre of mass is not finite");
    if (!finite(body.inertia)) error(body.source, what + ": its inertia is not finite");
    if (!finite(body.mass) || !finite(body.center_of_mass) || !finite(body.inertia)) return;
    if (body.mass < 0.0)
      error(body.source, what + ": mass " + number(body.mass) + " must not be negative");
    if (!orthonormal(body.inertia_axes)) {
      error(body.source, what + ": the axes of its inertia are not orthonormal");
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
                              std::to_string(most) + " axes, not " + std::to_string(n));
      return;
    }
    for (const Vec3d& axis : hinge.axes) {
      if (!finite(axis)) {
        error(hinge.source, what + ": an axis is not finite");
        return;
      }
      if (norm(axis) < kShortestAxis) {
        error(hinge.source, what + ": axis (" + number(axis.x) + ", " + number(axis.y) + ", " +
                                number(axis.z) + ") is zero; give it a direction");
        return;
      }
    }
    for (std::size_t i = 0; i + 1 < n; ++i)
      if (parallel(hinge.axes[i], hinge.axes[i + 1]))
        error(hinge.source, what + ": axes " + std::to_string(i + 1) + " and " +
                                std::to_string(i + 2) + " are parallel");
  }

  void check_freedom(const Hinge& hinge, const std::string& what, const FreedomSettings& f) {
    const Source& source = hinge.source;
    if (has_quaternion(hinge.type) &&
        (f.lower != -kInfinity || f.upper != kInfinity || f.stiffness != 0.0))
      doubtful(source, what + ": a " + std::string(to_string(hinge.type)) +
                           " hinge has no coordinate that limits and stiffness could refer to; "
                           "use a gimbal");
    if (std::isnan(f.lower) || std::isnan(f.upper))
      error(source, what + ": a limit is not a number");
    else if (f.lower > f.upper)
      error(source, what + ": lower limit " + number(f.lower) + " is above upper limit " +
                        number(f.upper) + "; swap them");
    if (!(f.velocity_limit >= 0.0))
      error(source,
            what + ": velocity limit " + number(f.velocity_limit) + " must not be negative");
    if (!(f.effort_limit >= 0.0))
      error(source, what + ": effort limit " + number(f.effort_limit) + " must not be negative");
    check_not_negative(source, what, "damping", f.damping);
    check_not_negative(source, what, "stiffness", f.stiffness);
    if (!finite(f.rest)) error(source, what + ": rest position is not finite");
    check_not_negative(source, what, "sliding friction", f.friction.sliding);
    check_not_negative(source, what, "breakaway friction", f.friction.breakaway);
    check_not_negative(source, what, "Stribeck velocity", f.friction.stribeck_velocity);
    if (f.friction.breakaway != 0.0 && f.friction.breakaway < f.friction.sliding)
      error(source, what + ": breakaway friction " + number(f.friction.breakaway) +
                        " is below sliding friction " + number(f.friction.sliding));
    if (f.friction.active() && !(f.friction.transition_velocity > 0.0))
      error(source, what + ": the transition velocity of its friction must be positive");
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
    if (!finite(hinge.pitch)) error(hinge.source, what + ": pitch is not finite");
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
      check_custom(hinge, what);
    }
    Hinge unlocked = hinge;
    unlocked.locked_at.clear();
    const std::size_t freedoms = static_cast<std::size_t>(freedoms_of(unlocked));
    const std::size_t coordinates = static_cast<std::size_t>(coordinates_of(unlocked));
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
      else if (!finite(values))
        error(hinge.source, what + ": " + which + " is not finite");
      else if (!values.empty() && size == coordinates && has_quaternion(hinge.type) &&
               quaternion_length(values) < kShortestQuaternion)
        error(hinge.source, what + ": the quaternion of " + which + " has length " +
                                number(quaternion_length(values)) + "; it must have length 1");
    };
    check_values(hinge.locked_at, coordinates, "the locked position");
    check_values(hinge.initial_position, coordinates, "the initial position");
    check_values(hinge.initial_velocity, freedoms, "the initial velocity");
    if (hinge.drive) check_drive(hinge, what, freedoms);
  }

  void check_drive(const Hinge& hinge, const std::string& what, std::size_t freedoms) {
    const DriveSettings& drive = *hinge.drive;
    if (freedoms != 1) {
      error(hinge.source,
            what + ": a drive needs a hinge of one freedom, this has " + std::to_string(freedoms));
      return;
    }
    check_not_negative(hinge.source, what + " drive", "rotor inertia", drive.rotor_inertia);
    if (!finite(drive.gear_ratio) || drive.gear_ratio == 0.0)
      error(hinge.source, what + " drive: gear ratio " + number(drive.gear_ratio) +
                              " must be finite and not zero");
    if (!drive.carrier.empty())
      check_body_name(hinge.source, what + " drive", "carrier", drive.carrier);
    if (drive.rotor_axis && (!finite(*drive.rotor_axis) || norm(*drive.rotor_axis) < kShortestAxis))
      error(hinge.source, what + " drive: the rotor axis is zero; give it a direction");
    const bool has_axis = hinge.type == HingeType::revolute || hinge.type == HingeType::prismatic ||
                          hinge.type == HingeType::screw;
    const bool on_parent = drive.carrier.empty() || drive.carrier == hinge.parent;
    if (!drive.rotor_axis && !drive.armature_only && !(has_axis && on_parent))
      error(hinge.source, what + " drive: give the rotor axis in the frame of its carrier");
  }

  // The user's H must be the derivative of the user's transform, and Ḣ that of H: compared with
  // central differences at the initial position, or (none given) at one without symmetry.
  void check_custom(const Hinge& hinge, const std::string& what) {
    const CustomHinge& custom = *hinge.custom;
    const std::size_t n = static_cast<std::size_t>(custom.freedoms());
    constexpr double kStep = 1e-5;
    constexpr double kTolerance = 1e-6;  // rounding / step and step² are 1e-10 times the numbers
    std::vector<double> q(n), v(n), ahead, behind;
    for (std::size_t i = 0; i < n; ++i) {
      q[i] = 0.1 + 0.07 * static_cast<double>(i);
      v[i] = 1.0 - 0.3 * static_cast<double>(i);
    }
    if (hinge.initial_position.size() == n && finite(hinge.initial_position))
      q = hinge.initial_position;
    const Transformd here = custom.transform(q);
    if (!finite(here) || !orthonormal(here.rotation)) {
      error(hinge.source, what + ": its transform is not a rigid displacement");
      return;
    }
    std::vector<Twistd> h(n), rate(n), h_ahead(n), h_behind(n);
    custom.motion_map(q, h);
    for (std::size_t k = 0; k < n; ++k) {
      ahead = behind = q;
      ahead[k] += kStep;
      behind[k] -= kStep;
      const Twistd step = log(custom.transform(behind).inverse() * custom.transform(ahead));
      const double scale = 1.0 + to_eigen(h[k]).norm() + norm(here.translation);
      const double gap = (to_eigen(step) / (2.0 * kStep) - to_eigen(h[k])).norm();
      if (!(gap <= kTolerance * scale))
        error(hinge.source, what + ": column " + std::to_string(k + 1) +
                                " of its motion map is not the derivative of its transform "
                                "(they differ by " +
                                number(gap) + ")");
    }
    custom.motion_map_rate(q, v, rate);
    for (std::size_t i = 0; i < n; ++i) {
      ahead[i] = q[i] + kStep * v[i];
      behind[i] = q[i] - kStep * v[i];
    }
    custom.motion_map(ahead, h_ahead);
    custom.motion_map(behind, h_behind);
    for (std::size_t k = 0; k < n; ++k) {
      const Vector6d difference = to_eigen(h_ahead[k] - h_behind[k]) / (2.0 * kStep);
      const double gap = (difference - to_eigen(rate[k])).norm();
      if (!(gap <= kTolerance * (1.0 + to_eigen(h[k]).norm() + difference.norm())))
        error(hinge.source, what + ": column " + std::to_string(k + 1) +
                                " of its motion map rate is not the derivative of its motion map "
                                "(they differ by " +
                                number(gap) + ")");
    }
  }

  void check_coupling(const Coupling& coupling) {
    const std::string what = "coupling '" + coupling.name + "'";
    if (coupling.terms.empty()) error(coupling.source, what + " couples nothing");
    if (!finite(coupling.constant)) error(coupling.source, what + ": its constant is not finite");
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
                                   "' is locked or a weld; free it or remove the coupling");
      else if (has_quaternion(hinge.type))
        error(coupling.source, what + ": hinge '" + term.hinge + "' is " +
                                   std::string(to_string(hinge.type)) +
                                   "; only hinges with plain coordinates can be coupled");
      else if (term.freedom < 0 || term.freedom >= freedoms_of(hinge))
        error(coupling.source,
              what + ": hinge '" + term.hinge + "' has no freedom " + std::to_string(term.freedom));
      if (!finite(term.coefficient))
        error(coupling.source, what + ": the coefficient of '" + term.hinge + "' is not finite");
      any = any || term.coefficient != 0.0;
    }
    if (!coupling.function && !coupling.terms.empty() && !any)
      error(coupling.source, what + ": all coefficients are zero");
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
