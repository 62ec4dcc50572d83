// SPDX-License-Identifier: BSD-3-Clause
// What needs both closures and dynamics: inverse kinematics, multipliers, the absolute form.
#include "support/interrupts.h"

#include "catena/base/index.h"
#include "catena/constraints/absolute_form.h"
#include "catena/constraints/inverse_kinematics.h"
#include "catena/constraints/multipliers.h"

namespace catena::python {
namespace {

// ---- Goals. ----

// A body, and a frame on it: that of the body, or the frame of the model that is named.
struct Place {
  int body;
  Transformd frame;
};

Place place_of(const Mechanism& x, const py::object& name) {
  const auto named = std::find_if(x.frames().begin(), x.frames().end(), [&](const FramePlace& f) {
    return py::isinstance<py::str>(name) && f.name == py::cast<std::string>(name);
  });
  Place place{};
  if (named == x.frames().end() || x.has_body(named->name)) {
    place.body = read_body({name}, x);
  } else {
    place.body = named->body;
    if (place.body >= 0)
      place.frame = x.bodies()[index(place.body)].X_node_body.inverse() * named->X_node_frame;
  }
  if (place.body < 0)
    throw Error(py::cast<std::string>(py::repr(name)) +
                " is fixed to the ground and cannot be moved");
  return place;
}

PointGoal point_goal(const Mechanism& x, const py::object& body, const Vec3d& target,
                     const Vec3d& point) {
  const Place place = place_of(x, body);
  return {place.body, place.frame * point, target};
}

FrameGoal frame_goal(const Mechanism& x, const py::object& body, const Pose& target,
                     const Pose& frame) {
  const Place place = place_of(x, body);
  return {place.body, frame.given() ? place.frame * to_transform(frame.value) : place.frame,
          to_transform(target.value)};
}

// make(body, target, own) for each; `own` is what the third field has, if it is given.
template <class Goal, class F>
std::vector<Goal> read_goals(const Goals& from, const char* own, const char* what, F make) {
  std::vector<Goal> goals;
  if (!from.given()) return goals;
  if (py::isinstance<py::dict>(from.value)) {
    for (const auto& [body, target] : py::reinterpret_borrow<py::dict>(from.value))
      goals.push_back(make(py::reinterpret_borrow<py::object>(body), target, py::handle()));
    return goals;
  }
  if (!py::isinstance<py::iterable>(from.value) || py::isinstance<py::str>(from.value))
    throw py::type_error("goals are {name: target} or a list, not " +
                         py::cast<std::string>(py::repr(from.value)));
  for (const py::handle entry : py::iter(from.value)) {
    if (!py::isinstance<py::dict>(entry)) {
      goals.push_back(py::cast<Goal>(entry));
      continue;
    }
    py::object body;
    py::handle target, third;
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(entry)) {
      const std::string name = py::cast<std::string>(key);
      if (name == "body")
        body = py::reinterpret_borrow<py::object>(value);
      else if (name == "target")
        target = value;
      else if (name == own)
        third = value;
      else
        throw_unknown_field(what, name, {"body", "target", own});
    }
    if (!body || !target)
      throw py::value_error(std::string(what) + " needs \"body\" and \"target\"");
    goals.push_back(make(body, target, third));
  }
  return goals;
}

void bind_multipliers(py::module_& m) {
  using C = ConstraintRow;
  py::class_<C> row(m, "ConstraintRow", "One scalar constraint of a closed mechanism.");
  row.def_readonly("constraint", &ConstraintRow::constraint, "In words: \"hinge 'C'\".")
      .def_readonly("component", &ConstraintRow::component, "In words: \"force along (0, 0, 1)\".")
      .def_readonly("force", &ConstraintRow::force, "N or N m, on the child's side; least norm.")
      .def_readonly("redundant", &ConstraintRow::redundant, "It says nothing new.")
      .def_readonly("undetermined", &ConstraintRow::undetermined,
                    "Redundancy leaves its force open.")
      .def("__repr__", [](const ConstraintRow& r) {
        return "<ConstraintRow " + r.constraint + ", " + r.component + ": " + number(r.force) + ">";
      });
  picklable(row, &C::constraint, &C::component, &C::force, &C::redundant, &C::undetermined);
  using R = MultiplierReport;
  py::class_<R> report(m, "MultiplierReport", "What multiplier_dynamics() found.");
  report.def_readonly("acceleration", &R::acceleration, "(freedoms,).")
      .def_readonly("rows", &R::rows, "list of ConstraintRow.")
      .def_readonly("rank", &R::rank, "Independent rows.")
      .def_readonly("reciprocal_condition", &R::reciprocal_condition,
                    "Of the equations of the independent rows; 1 is best.")
      .def_readonly("residual", &R::residual, "Of the closure's acceleration, 1/s².")
      .def_readonly("redundant_residual", &R::redundant_residual,
                    "The same in redundant rows; more than rounding where they are redundant only "
                    "within the digits of the file's numbers.")
      .def_property_readonly("redundant", &R::redundant, "Rows that say nothing new.");
  picklable(report, &R::acceleration, &R::rows, &R::rank, &R::reciprocal_condition, &R::residual,
            &R::redundant_residual);
  m.def(
      "multiplier_dynamics",
      [](const Mechanism& x, const NamedState& state, const FreedomVector& effort,
         const Wrenches& external) {
        const Eigen::VectorXd e = read_freedoms(effort, x, "effort");
        const std::vector<ExternalWrench> loads = read_wrenches(external, x);
        const ReleaseForLong release(x);
        return multiplier_dynamics(x, state.of(x), e, loads);
      },
      py::arg("mechanism"), py::arg("state"), py::arg("effort") = py::none(),
      py::arg("external") = py::none(),
      "Forward dynamics of a closed mechanism by Lagrange multipliers, with a report on its "
      "constraints.");
  m.def(
      "absolute_form",
      [](const Mechanism& x, const std::vector<std::string>& kept) {
        return absolute_form(x, kept);
      },
      py::arg("mechanism"), py::arg("kept") = std::vector<std::string>{},
      "The same bodies, each free, and every hinge a constraint between them: a Mechanism.");
  m.def(
      "absolute_state",
      [](const Mechanism& x, const NamedState& state, const MechanismPointer& absolute) {
        return NamedState{absolute, absolute_state(x, state.of(x), *absolute)};
      },
      py::arg("mechanism"), py::arg("state"), py::arg("absolute"),
      "The State of the absolute form that is this state of the mechanism.");
}

}  // namespace

void bind_loops(py::module_& m) {
  bind_multipliers(m);
  using K = InverseKinematics;
  py::class_<K> found(m, "InverseKinematics", "What inverse_kinematics() found.");
  found.def_readonly("q", &InverseKinematics::q, "(coordinates,).")
      .def_readonly("reached", &InverseKinematics::reached, "Goals and closures, to 1e-9.")
      .def_readonly("distance", &InverseKinematics::distance, "m, largest of all goals.")
      .def_readonly("angle", &InverseKinematics::angle, "rad, largest of all frame goals.")
      .def_readonly("closure_residual", &InverseKinematics::closure_residual,
                    "Of all loops, radians or fractions of a loop's size.");
  picklable(found, &K::q, &K::reached, &K::distance, &K::angle, &K::closure_residual);
  py::class_<PointGoal>(m, "PointGoal", "A point of a body at a place in the ground frame.")
      .def(py::init([](const Mechanism& x, const BodyName& body, const Vec3d& target,
                       const Vec3d& point) { return point_goal(x, body.value, target, point); }),
           py::arg("mechanism"), py::arg("body"), py::arg("target"),
           py::arg("point") = Vec3d::zero(),
           "body: of a body or of a frame of the model.\ntarget: (3,), m, in the ground frame; "
           "point: (3,), m, in the frame of the body.")
      .def_readonly("body", &PointGoal::body, "int, index into mechanism.bodies.")
      .def_readonly("point", &PointGoal::point, "(3,), m, in the body's frame.")
      .def_readonly("target", &PointGoal::target, "(3,), m, in the ground frame.");
  py::class_<FrameGoal>(m, "FrameGoal", "A frame on a body at a pose in the ground frame.")
      .def(py::init([](const Mechanism& x, const BodyName& body, const Pose& target,
                       const Pose& frame) { return frame_goal(x, body.value, target, frame); }),
           py::arg("mechanism"), py::arg("body"), py::arg("target"), py::arg("frame") = py::none(),
           "body: of a body or of a frame of the model.\ntarget: X_ground_frame; frame: "
           "X_body_frame (default: the frame of the body itself).")
      .def_readonly("body", &FrameGoal::body, "int, index into mechanism.bodies.")
      .def_readonly("frame", &FrameGoal::frame, "Transform, X_body_frame.")
      .def_readonly("target", &FrameGoal::target, "Transform, X_ground_frame.");
  m.def(
      "inverse_kinematics",
      [](const Mechanism& x, const PositionVector& guess, const Goals& points, const Goals& frames,
         const Freedoms& fixed, bool keep_limits, int restarts) {
        const InverseKinematicsGoals goals{
            .points = read_goals<PointGoal>(
                points, "point", "a goal for a point",
                [&](const py::object& body, py::handle target, py::handle point) {
                  return point_goal(x, body, to_vec3(target), point ? to_vec3(point) : Vec3d{});
                }),
            .frames = read_goals<FrameGoal>(
                frames, "frame", "a goal for a frame",
                [&](const py::object& body, py::handle target, py::handle frame) {
                  return frame_goal(x, body, {py::reinterpret_borrow<py::object>(target)},
                                    {py::reinterpret_borrow<py::object>(frame)});
                })};
        Eigen::VectorXd buffer;
        const Eigen::VectorXd q = read_position(guess, x, buffer);
        InverseKinematicsSettings settings{
            .fixed = read_mask(fixed, x), .keep_limits = keep_limits, .restarts = restarts};
        return unless_interrupted([&](const auto& goes_on) {
          settings.goes_on = goes_on;
          return inverse_kinematics(x, q, goals, settings);
        });
      },
      py::arg("mechanism"), py::arg("guess"), py::kw_only(), py::arg("points") = py::none(),
      py::arg("frames") = py::none(), py::arg("fixed") = py::none(), py::arg("keep_limits") = true,
      py::arg("restarts") = 20,
      "Inverse kinematics: a position in which points and frames of bodies are at their targets "
      "and all loops are closed. Returns an InverseKinematics; its `reached` is True if it was "
      "found.\n\n    catena.inverse_kinematics(robot, state, points={\"hand\": [0.4, 0.1, "
      "0.3]}).q\n\nguess: a State or q (coordinates,).\npoints: targets (3,), m, in the ground "
      "frame, by the name of a body or frame, whose origin is meant; or a list of PointGoal or "
      "{\"body\", \"target\", \"point\"}.\nframes: the same with poses X_ground_frame for targets; "
      "or a list of FrameGoal or {\"body\", \"target\", \"frame\"}.\nfixed: freedoms that stay as "
      "given. keep_limits: of the hinges. restarts: positions around the guess that are tried if "
      "the goal is not reached from it.");
}

}  // namespace catena::python
