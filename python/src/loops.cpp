// Inverse kinematics.
#include "arguments.h"

#include "catena/loops/inverse_kinematics.h"

namespace catena::python {

void bind_loops(py::module_& m) {
  py::class_<InverseKinematics>(m, "InverseKinematics", "What inverse_kinematics() found.")
      .def_readonly("q", &InverseKinematics::q, "(coordinates,).")
      .def_readonly("reached", &InverseKinematics::reached, "Goals and closures, to 1e-9.")
      .def_readonly("distance", &InverseKinematics::distance, "m, largest of all goals.")
      .def_readonly("angle", &InverseKinematics::angle, "rad, largest of all frame goals.")
      .def_readonly("closure_residual", &InverseKinematics::closure_residual);
  py::class_<PointGoal>(m, "PointGoal", "A point of a body at a place in the ground frame.")
      .def(py::init([](const Mechanism& x, const BodyName& body, const Vec3d& target,
                       const Vec3d& point) {
             return PointGoal{read_body(body, x), point, target};
           }),
           py::arg("mechanism"), py::arg("body"), py::arg("target"),
           py::arg("point") = Vec3d::zero());
  py::class_<FrameGoal>(m, "FrameGoal", "A frame on a body at a pose in the ground frame.")
      .def(py::init(
               [](const Mechanism& x, const BodyName& body, const Pose& target, const Pose& frame) {
                 return FrameGoal{read_body(body, x),
                                  frame.given() ? to_transform(frame.value) : Transformd{},
                                  to_transform(target.value)};
               }),
           py::arg("mechanism"), py::arg("body"), py::arg("target"), py::arg("frame") = py::none());
  m.def(
      "inverse_kinematics",
      [](const Mechanism& x, const PositionVector& guess, const std::vector<PointGoal>& points,
         const std::vector<FrameGoal>& frames, const Freedoms& fixed, bool keep_limits,
         int restarts) {
        Eigen::VectorXd buffer;
        const Eigen::VectorXd q = read_position(guess, x, buffer);
        const InverseKinematicsSettings settings{
            .fixed = read_mask(fixed, x), .keep_limits = keep_limits, .restarts = restarts};
        const py::gil_scoped_release release;
        return inverse_kinematics(x, q, {.points = points, .frames = frames}, settings);
      },
      py::arg("mechanism"), py::arg("guess"), py::kw_only(),
      py::arg("points") = std::vector<PointGoal>{}, py::arg("frames") = std::vector<FrameGoal>{},
      py::arg("fixed") = py::none(), py::arg("keep_limits") = true, py::arg("restarts") = 20,
      "A position in which points (PointGoal) and frames (FrameGoal) are where they are wanted and "
      "all loops are closed.\n\nguess: a State or q. fixed: freedoms that stay as given.");
}

}  // namespace catena::python
