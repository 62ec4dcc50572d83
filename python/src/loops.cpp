// What needs both closures and dynamics: inverse kinematics, multipliers, the absolute form.
#include "interrupts.h"

#include "catena/loops/absolute_form.h"
#include "catena/loops/inverse_kinematics.h"
#include "catena/loops/multipliers.h"

namespace catena::python {
namespace {

void bind_multipliers(py::module_& m) {
  py::class_<ConstraintRow>(m, "ConstraintRow", "One scalar constraint of a closed mechanism.")
      .def_readonly("constraint", &ConstraintRow::constraint, "In words: \"hinge 'C'\".")
      .def_readonly("component", &ConstraintRow::component, "In words: \"force along (0, 0, 1)\".")
      .def_readonly("force", &ConstraintRow::force, "N or N m, on the child's side; least norm.")
      .def_readonly("redundant", &ConstraintRow::redundant, "It says nothing new.")
      .def_readonly("undetermined", &ConstraintRow::undetermined,
                    "Redundancy leaves its force open.")
      .def("__repr__", [](const ConstraintRow& r) {
        return "<ConstraintRow " + r.constraint + ", " + r.component + ": " + number(r.force) + ">";
      });
  using R = MultiplierReport;
  py::class_<R>(m, "MultiplierReport", "What multiplier_dynamics() found.")
      .def_readonly("acceleration", &R::acceleration, "(freedoms,).")
      .def_readonly("rows", &R::rows, "list of ConstraintRow.")
      .def_readonly("rank", &R::rank, "Independent rows.")
      .def_readonly("reciprocal_condition", &R::reciprocal_condition,
                    "Of the equations of the independent rows; 1 is best.")
      .def_readonly("residual", &R::residual, "Of the closure's acceleration, 1/s².")
      .def_property_readonly("redundant", &R::redundant, "Rows that say nothing new.");
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
      "Forward dynamics of a closed mechanism by multipliers, with a report on its constraints.");
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
                       const Vec3d& point) {
             return PointGoal{read_body(body, x), point, target};
           }),
           py::arg("mechanism"), py::arg("body"), py::arg("target"),
           py::arg("point") = Vec3d::zero(),
           "target: (3,), m, in the ground frame; point: (3,), m, in the body's frame.");
  py::class_<FrameGoal>(m, "FrameGoal", "A frame on a body at a pose in the ground frame.")
      .def(py::init(
               [](const Mechanism& x, const BodyName& body, const Pose& target, const Pose& frame) {
                 return FrameGoal{read_body(body, x),
                                  frame.given() ? to_transform(frame.value) : Transformd{},
                                  to_transform(target.value)};
               }),
           py::arg("mechanism"), py::arg("body"), py::arg("target"), py::arg("frame") = py::none(),
           "target: X_ground_frame; frame: X_body_frame (default: the body's own frame).");
  m.def(
      "inverse_kinematics",
      [](const Mechanism& x, const PositionVector& guess, const std::vector<PointGoal>& points,
         const std::vector<FrameGoal>& frames, const Freedoms& fixed, bool keep_limits,
         int restarts) {
        Eigen::VectorXd buffer;
        const Eigen::VectorXd q = read_position(guess, x, buffer);
        InverseKinematicsSettings settings{
            .fixed = read_mask(fixed, x), .keep_limits = keep_limits, .restarts = restarts};
        return unless_interrupted([&](const auto& goes_on) {
          settings.goes_on = goes_on;
          return inverse_kinematics(x, q, {.points = points, .frames = frames}, settings);
        });
      },
      py::arg("mechanism"), py::arg("guess"), py::kw_only(),
      py::arg("points") = std::vector<PointGoal>{}, py::arg("frames") = std::vector<FrameGoal>{},
      py::arg("fixed") = py::none(), py::arg("keep_limits") = true, py::arg("restarts") = 20,
      "A position in which points (PointGoal) and frames (FrameGoal) are where they are wanted and "
      "all loops are closed.\n\nguess: a State or q. fixed: freedoms that stay as given.");
}

}  // namespace catena::python
