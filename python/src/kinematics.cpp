// SPDX-License-Identifier: BSD-3-Clause
// Kinematics of bodies and points, momentum and mass centre.
//
// C++ has every query twice, with a workspace and at a prompt. Here it is one function whose second
// argument says where the mechanism is: a Workspace that was updated, a State, or q.
#include "catena/dynamics/kinematics.h"

#include "support/arguments.h"

#include "catena/dynamics/momentum.h"

namespace catena::python {
namespace {

enum class Needs { position, velocity };

// Calls f with a workspace that is up to date.
template <class F>
auto at_place(const Mechanism& mechanism, const Where& at, Needs needs, F f) {
  if (py::isinstance<PythonWorkspace>(at.value)) {
    const auto given = py::cast<PythonWorkspace*>(at.value);
    Working working(mechanism, given);
    given->need(needs == Needs::velocity ? kPoses | kVelocities : kPoses);
    return f(working.workspace());
  }
  Workspace workspace(mechanism);
  if (py::isinstance<NamedState>(at.value)) {
    const State& state = py::cast<NamedState&>(at.value).of(mechanism);
    update_kinematics(mechanism, state.q, state.v, workspace);
  } else {
    if (needs == Needs::velocity)
      throw py::type_error("velocities need a State, or a Workspace after update_kinematics()");
    Eigen::VectorXd buffer;
    update_kinematics(mechanism, read_position({at.value}, mechanism, buffer), workspace);
  }
  return f(workspace);
}

// The same with accelerations; v̇ as given, with a State.
template <class F>
auto at_acceleration(const Mechanism& mechanism, const Where& at, const FreedomVector& acceleration,
                     F f) {
  if (py::isinstance<PythonWorkspace>(at.value)) {
    const auto given = py::cast<PythonWorkspace*>(at.value);
    Working working(mechanism, given);
    given->need(kAccelerations);
    return f(working.workspace());
  }
  if (!py::isinstance<NamedState>(at.value) || !acceleration.given())
    throw py::type_error(
        "accelerations need a State and `acceleration`, or a Workspace after "
        "update_accelerations() or a dynamics call");
  Workspace workspace(mechanism);
  update_accelerations(mechanism, py::cast<NamedState&>(at.value).of(mechanism),
                       read_freedoms(acceleration, mechanism, "acceleration"), workspace);
  return f(workspace);
}

const char* const kAt =
    "\n\nat: a State, q (coordinates,), or a Workspace after an update. body: name or index.";

std::string doc_at(const char* text) { return std::string(text) + kAt; }

void bind_updates(py::module_& m) {
  m.def(
      "update_kinematics",
      [](const Mechanism& mechanism, const Where& at, PythonWorkspace& workspace) {
        Working working(mechanism, &workspace);
        if (py::isinstance<NamedState>(at.value)) {
          const State& state = py::cast<NamedState&>(at.value).of(mechanism);
          update_kinematics(mechanism, state.q, state.v, working.workspace());
          working.has(kDisplacements | kPoses | kVelocities);
        } else {
          Eigen::VectorXd buffer;
          update_kinematics(mechanism, read_position({at.value}, mechanism, buffer),
                            working.workspace());
          working.has(kDisplacements | kPoses);
        }
      },
      py::arg("mechanism"), py::arg("at"), py::arg("workspace"),
      "One outward sweep into the workspace: poses and Jacobians from q, velocities too from a "
      "State.");
  m.def(
      "update_accelerations",
      [](const Mechanism& mechanism, const NamedState& state, const FreedomVector& acceleration,
         PythonWorkspace& workspace) {
        Working working(mechanism, &workspace);
        update_accelerations(mechanism, state.of(mechanism),
                             read_freedoms(acceleration, mechanism, "acceleration"),
                             working.workspace());
        working.has(kDisplacements | kPoses | kVelocities | kAccelerations);
      },
      py::arg("mechanism"), py::arg("state"), py::arg("acceleration"), py::arg("workspace"),
      "The same with accelerations, (freedoms,).");
  m.def(
      "update_poses",
      [](const Mechanism& mechanism, PythonWorkspace& workspace) {
        Working working(mechanism, &workspace);
        workspace.need(kDisplacements);
        update_poses(mechanism, working.workspace());
        working.has(kPoses);
      },
      py::arg("mechanism"), py::arg("workspace"),
      "Poses from what the last dynamics call left in the workspace.");
}

void bind_bodies(py::module_& m) {
  const auto ground = Choice<Axes>{Axes::ground};
  m.def(
      "body_pose",
      [](const Mechanism& x, const Where& at, const BodyName& body) {
        const int b = read_body(body, x);
        return at_place(x, at, Needs::position, [&](Workspace& w) { return body_pose(x, w, b); });
      },
      py::arg("mechanism"), py::arg("at"), py::arg("body"),
      doc_at("X_ground_body, a Transform.").c_str());
  m.def(
      "frame_pose",
      [](const Mechanism& x, const Where& at, const FrameName& frame) {
        const int f = read_frame(frame, x);
        return at_place(x, at, Needs::position, [&](Workspace& w) { return frame_pose(x, w, f); });
      },
      py::arg("mechanism"), py::arg("at"), py::arg("frame"),
      doc_at("X_ground_frame of a frame of interest, a Transform.").c_str());
  m.def(
      "point_position",
      [](const Mechanism& x, const Where& at, const BodyName& body, const Vec3d& point) {
        const int b = read_body(body, x);
        return at_place(x, at, Needs::position,
                        [&](Workspace& w) { return point_position(x, w, b, point); });
      },
      py::arg("mechanism"), py::arg("at"), py::arg("body"), py::arg("point"),
      doc_at("Position in the ground frame, (3,), m, of a point (3,) given in the body's frame.")
          .c_str());
  m.def(
      "body_twist",
      [](const Mechanism& x, const Where& at, const BodyName& body, Choice<Axes> axes) {
        const int b = read_body(body, x);
        return at_place(x, at, Needs::velocity,
                        [&](Workspace& w) { return body_twist(x, w, b, axes); });
      },
      py::arg("mechanism"), py::arg("at"), py::arg("body"),
      py::arg("axes") = Choice<Axes>{Axes::body},
      doc_at("Angular velocity of a body and velocity of the origin of its frame, (6,), rad/s and "
             "m/s, along the body's or the ground's axes.")
          .c_str());
  m.def(
      "point_velocity",
      [](const Mechanism& x, const Where& at, const BodyName& body, const Vec3d& point,
         Choice<Axes> axes) {
        const int b = read_body(body, x);
        return at_place(x, at, Needs::velocity,
                        [&](Workspace& w) { return point_velocity(x, w, b, point, axes); });
      },
      py::arg("mechanism"), py::arg("at"), py::arg("body"), py::arg("point"),
      py::arg("axes") = ground, doc_at("Velocity of a point of a body, (3,), m/s.").c_str());
  m.def(
      "body_acceleration",
      [](const Mechanism& x, const Where& at, const BodyName& body,
         const FreedomVector& acceleration, Choice<Axes> axes) {
        const int b = read_body(body, x);
        return at_acceleration(x, at, acceleration,
                               [&](Workspace& w) { return body_acceleration(x, w, b, axes); });
      },
      py::arg("mechanism"), py::arg("at"), py::arg("body"), py::arg("acceleration") = py::none(),
      py::arg("axes") = ground,
      doc_at(
          "Angular acceleration of a body and the acceleration of the origin of its frame (second "
          "derivative of its position), (6,), rad/s² and m/s².\n\n"
          "acceleration: v̇ (freedoms,), with a State.")
          .c_str());
  m.def(
      "point_acceleration",
      [](const Mechanism& x, const Where& at, const BodyName& body, const Vec3d& point,
         const FreedomVector& acceleration, Choice<Axes> axes) {
        const int b = read_body(body, x);
        return at_acceleration(x, at, acceleration, [&](Workspace& w) {
          return point_acceleration(x, w, b, point, axes);
        });
      },
      py::arg("mechanism"), py::arg("at"), py::arg("body"), py::arg("point"),
      py::arg("acceleration") = py::none(), py::arg("axes") = ground,
      doc_at("Acceleration of a point of a body, (3,), m/s².\n\n"
             "acceleration: v̇ (freedoms,), with a State.")
          .c_str());
  m.def(
      "body_jacobian",
      [](const Mechanism& x, const Where& at, const BodyName& body, const Vec3d& point,
         Choice<Axes> axes, const Out& out) {
        const int b = read_body(body, x);
        return at_place(x, at, Needs::position, [&](Workspace& w) {
          return deliver(body_jacobian(x, w, b, point, axes), out);
        });
      },
      py::arg("mechanism"), py::arg("at"), py::arg("body"), py::arg("point") = Vec3d::zero(),
      py::arg("axes") = ground, py::arg("out") = py::none(),
      doc_at("J (6, freedoms), angular first: J v = (angular velocity of the body, velocity of the "
             "point).")
          .c_str());
  m.def(
      "jacobian_rate_times_velocity",
      [](const Mechanism& x, const Where& at, const BodyName& body, const Vec3d& point,
         Choice<Axes> axes) {
        const int b = read_body(body, x);
        return at_place(x, at, Needs::velocity, [&](Workspace& w) {
          return jacobian_rate_times_velocity(x, w, b, point, axes);
        });
      },
      py::arg("mechanism"), py::arg("at"), py::arg("body"), py::arg("point") = Vec3d::zero(),
      py::arg("axes") = ground,
      doc_at("J̇ v of body_jacobian, (6,): angular rad/s², linear m/s² of the point (3,), m, in the "
             "body's frame.")
          .c_str());
}

void bind_momentum(py::module_& m) {
  py::class_<MassProperties> mass(m, "MassProperties",
                                  "Of the whole mechanism with all hinges locked.");
  mass.def_readonly("mass", &MassProperties::mass, "kg.")
      .def_readonly("center_of_mass", &MassProperties::center_of_mass, "(3,), m, ground frame.")
      .def_readonly("inertia", &MassProperties::inertia,
                    "(3, 3), kg m², about the mass centre, ground axes.");
  picklable(mass, &MassProperties::mass, &MassProperties::center_of_mass, &MassProperties::inertia);
  py::class_<Momentum> momenta(m, "Momentum", "Of the whole mechanism, ground axes.");
  momenta.def_readonly("angular", &Momentum::angular, "(3,), N m s.")
      .def_readonly("linear", &Momentum::linear, "(3,), N s.");
  picklable(momenta, &Momentum::angular, &Momentum::linear);
  m.def(
      "mass_properties",
      [](const Mechanism& x, const Where& at) {
        return at_place(x, at, Needs::position,
                        [&](Workspace& w) { return mass_properties(x, w); });
      },
      py::arg("mechanism"), py::arg("at"), "Mass, mass centre and inertia about it.");
  m.def(
      "center_of_mass",
      [](const Mechanism& x, const Where& at) {
        return at_place(x, at, Needs::position, [&](Workspace& w) { return center_of_mass(x, w); });
      },
      py::arg("mechanism"), py::arg("at"), "(3,), m, in the ground frame.");
  m.def(
      "center_of_mass_velocity",
      [](const Mechanism& x, const Where& at) {
        return at_place(x, at, Needs::velocity,
                        [&](Workspace& w) { return center_of_mass_velocity(x, w); });
      },
      py::arg("mechanism"), py::arg("at"), "(3,), m/s, ground axes.");
  m.def(
      "center_of_mass_jacobian",
      [](const Mechanism& x, const Where& at) {
        return at_place(x, at, Needs::position, [&](Workspace& w) {
          Eigen::MatrixXd j(3, x.freedoms());
          center_of_mass_jacobian(x, w, j);
          return j;
        });
      },
      py::arg("mechanism"), py::arg("at"), "(3, freedoms): velocity of the mass centre = J v.");
  m.def(
      "momentum",
      [](const Mechanism& x, const Where& at, const Vec3d& about) {
        return at_place(x, at, Needs::velocity,
                        [&](Workspace& w) { return momentum(x, w, about); });
      },
      py::arg("mechanism"), py::arg("at"), py::arg("about") = Vec3d::zero(),
      "Momentum, the angular part about a point (3,) of the ground frame.");
  m.def(
      "centroidal_momentum",
      [](const Mechanism& x, const Where& at) {
        return at_place(x, at, Needs::velocity,
                        [&](Workspace& w) { return centroidal_momentum(x, w); });
      },
      py::arg("mechanism"), py::arg("at"), "Momentum, the angular part about the mass centre.");
  m.def(
      "momentum_matrix",
      [](const Mechanism& x, const Where& at, const Vec3d& about) {
        return at_place(x, at, Needs::position, [&](Workspace& w) {
          Eigen::MatrixXd a(6, x.freedoms());
          momentum_matrix(x, w, about, a);
          return a;
        });
      },
      py::arg("mechanism"), py::arg("at"), py::arg("about") = Vec3d::zero(),
      "(6, freedoms): (angular momentum about the point, linear momentum) = matrix @ v.");
}

}  // namespace

void bind_kinematics(py::module_& m) {
  bind_updates(m);
  bind_bodies(m);
  bind_momentum(m);
}

}  // namespace catena::python
