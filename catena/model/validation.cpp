#include "catena/model/validation.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "catena/base/text.h"
#include "catena/model/topology.h"
#include "catena/spatial/eigen.h"

namespace catena {
namespace {

// An axis shorter than this is a mistake, not a direction.
constexpr double kShortestAxis = 1e-9;
// Relative slack for the triangle inequality and definiteness of inertias given with few digits.
constexpr double kInertiaSlack = 1e-6;
// Two axes of a universal hinge must not be nearly parallel (sine of their angle).
constexpr double kParallelAxes = 1e-6;

bool finite(double x) { return std::isfinite(x); }
bool finite(const Vec3d& v) { return finite(v.x) && finite(v.y) && finite(v.z); }
bool finite(const Rotationd& r) {
  return finite(r.axis(0)) && finite(r.axis(1)) && finite(r.axis(2));
}
bool finite(const Transformd& x) { return finite(x.rotation) && finite(x.translation); }
bool finite(const SymMat3d& s) {
  return finite(Vec3d{s.xx, s.xy, s.xz}) && finite(Vec3d{s.yy, s.yz, s.zz});
}

bool orthonormal(const Rotationd& r) {
  constexpr double kTolerance = 1e-9;
  const Mat3d p = r.matrix * transpose(r.matrix);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (std::abs(p(i, j) - (i == j ? 1.0 : 0.0)) > kTolerance) return false;
  return determinant(r.matrix) > 0.0;
}

class Validator {
 public:
  Validator(const Description& d, const ValidationSettings& settings) : d_(d), settings_(settings) {}

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
      if (!(rod.length > 0.0) || !finite(rod.length))
        error(rod.source, what + ": length " + number(rod.length) + " must be positive");
    }
    for (const SpringDamper& spring : d_.springs) {
      const std::string what = "spring '" + spring.name + "'";
      check_ends(spring.source, what, spring);
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
        if (thing.name.empty()) error(thing.source, std::string("a ") + kind + " has no name");
        const auto [earlier, fresh] = seen.emplace(thing.name, &thing.source);
        if (fresh) continue;
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

  static std::vector<std::string> names(const std::unordered_map<std::string, const Source*>& map) {
    std::vector<std::string> list;
    for (const auto& entry : map) list.push_back(entry.first);
    std::sort(list.begin(), list.end());
    return list;
  }

  bool check_body_name(const Source& source, const std::string& what, const char* role,
                       const std::string& name) {
    if (name == kWorld || bodies_.contains(name)) return true;
    error(source, what + ": " + role + " '" + name + "' does not exist" +
                      did_you_mean(name, names(bodies_)));
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
    if (!finite(body.mass) || !finite(body.center_of_mass) || !finite(body.inertia) ||
        !finite(body.inertia_axes)) {
      error(body.source, what + ": mass, centre of mass or inertia is not finite");
      return;
    }
    if (body.mass < 0.0) {
      error(body.source, what + ": mass " + number(body.mass) + " must not be negative");
      return;
    }
    if (!orthonormal(body.inertia_axes)) {
      error(body.source, what + ": the axes of its inertia are not orthonormal");
      return;
    }
    const Eigen::Vector3d m =
        Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(to_eigen(body.inertia),
                                                       Eigen::EigenvaluesOnly)
            .eigenvalues();
    const double slack = kInertiaSlack * m.cwiseAbs().maxCoeff();
    const std::string moments =
        "(" + number(m[0]) + ", " + number(m[1]) + ", " + number(m[2]) + ")";
    if (m[0] < -slack)
      doubtful(body.source, what + ": principal moments of inertia " + moments +
                                " must not be negative");
    else if (m[0] + m[1] < m[2] - slack)
      doubtful(body.source, what + ": principal moments of inertia " + moments +
                                " violate the triangle inequality; no real body has them");
    if (body.mass == 0.0 && m.cwiseAbs().maxCoeff() > 0.0)
      doubtful(body.source, what + ": it has an inertia but no mass");
  }

  // How many axes the type takes; the first number is the least, the second the most.
  static std::pair<std::size_t, std::size_t> axis_count(HingeType type) {
    switch (type) {
      case HingeType::revolute:
      case HingeType::prismatic:
      case HingeType::screw:
      case HingeType::cylindrical:
        return {0, 1};
      case HingeType::planar:
      case HingeType::universal:
        return {0, 2};
      case HingeType::gimbal:
        return {0, 3};
      default:
        return {0, 0};
    }
  }

  void check_axes(const Hinge& hinge, const std::string& what) {
    const auto [least, most] = axis_count(hinge.type);
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
      if (norm(cross(normalized(hinge.axes[i]), normalized(hinge.axes[i + 1]))) < kParallelAxes)
        error(hinge.source, what + ": axes " + std::to_string(i + 1) + " and " +
                                std::to_string(i + 2) + " are parallel");
  }

  void check_freedom(const Hinge& hinge, const std::string& what, const FreedomSettings& f) {
    const Source& source = hinge.source;
    if (std::isnan(f.lower) || std::isnan(f.upper))
      error(source, what + ": a limit is not a number");
    else if (f.lower > f.upper)
      error(source, what + ": lower limit " + number(f.lower) + " is above upper limit " +
                        number(f.upper) + "; swap them");
    if (!(f.velocity_limit >= 0.0))
      error(source, what + ": velocity limit " + number(f.velocity_limit) + " must not be negative");
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
        error(hinge.source, what + ": a custom hinge has 1 to 6 freedoms, not " +
                                std::to_string(n));
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
                                " numbers, but " + std::to_string(size) + " are needed");
      else if (!std::all_of(values.begin(), values.end(), [](double x) { return finite(x); }))
        error(hinge.source, what + ": " + which + " is not finite");
    };
    check_values(hinge.locked_at, coordinates, "the locked position");
    check_values(hinge.initial_position, coordinates, "the initial position");
    check_values(hinge.initial_velocity, freedoms, "the initial velocity");
    if (hinge.drive) check_drive(hinge, what, freedoms);
  }

  void check_drive(const Hinge& hinge, const std::string& what, std::size_t freedoms) {
    const DriveSettings& drive = *hinge.drive;
    if (freedoms != 1) {
      error(hinge.source, what + ": a drive needs a hinge of one freedom, this has " +
                              std::to_string(freedoms));
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

  // The user's H must be the derivative of the user's transform.
  void check_custom(const Hinge& hinge, const std::string& what) {
    const std::size_t n = static_cast<std::size_t>(hinge.custom->freedoms());
    constexpr double kStep = 1e-6;
    constexpr double kTolerance = 1e-6;  // of a central difference with that step
    std::vector<double> q(n);
    for (std::size_t i = 0; i < n; ++i) q[i] = 0.1 + 0.07 * static_cast<double>(i);
    std::vector<Twistd> h(n);
    hinge.custom->motion_map(q, h);
    for (std::size_t k = 0; k < n; ++k) {
      std::vector<double> ahead = q, behind = q;
      ahead[k] += kStep;
      behind[k] -= kStep;
      const Twistd step =
          log(hinge.custom->transform(behind).inverse() * hinge.custom->transform(ahead));
      const Vector6d column = to_eigen(h[k]);
      const Vector6d difference = to_eigen(step) / (2.0 * kStep) - column;
      if (!(difference.norm() <= kTolerance * (1.0 + column.norm())))
        error(hinge.source, what + ": column " + std::to_string(k + 1) +
                                " of its motion map is not the derivative of its transform "
                                "(they differ by " + number(difference.norm()) + ")");
    }
  }

  void check_coupling(const Coupling& coupling) {
    const std::string what = "coupling '" + coupling.name + "'";
    if (coupling.terms.empty()) error(coupling.source, what + " couples nothing");
    if (!finite(coupling.constant)) error(coupling.source, what + ": its constant is not finite");
    bool any = false;
    for (const Coupling::Term& term : coupling.terms) {
      const auto found = hinge_of_.find(term.hinge);
      if (found == hinge_of_.end()) {
        error(coupling.source, what + ": hinge '" + term.hinge + "' does not exist" +
                                   did_you_mean(term.hinge, names(hinges_)));
        continue;
      }
      const Hinge& hinge = *found->second;
      if (is_rigid(hinge))
        error(coupling.source, what + ": hinge '" + term.hinge + "' is locked or a weld");
      else if (hinge.type == HingeType::spherical || hinge.type == HingeType::free)
        error(coupling.source, what + ": hinge '" + term.hinge + "' is " +
                                   std::string(to_string(hinge.type)) +
                                   "; only hinges with plain coordinates can be coupled");
      else if (term.freedom < 0 || term.freedom >= freedoms_of(hinge))
        error(coupling.source, what + ": hinge '" + term.hinge + "' has no freedom " +
                                   std::to_string(term.freedom));
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
