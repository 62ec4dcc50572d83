// SPDX-License-Identifier: BSD-3-Clause
// Forces at hinges and welds, and operational space.
#include "catena/dynamics/forces.h"

#include "support/arguments.h"

#include "catena/dynamics/operators/operational_space.h"

namespace catena::python {
namespace {

// Both keep pointers to a mechanism and to the workspace of the last call.
struct PythonForces {
  explicit PythonForces(MechanismPointer of) : mechanism(std::move(of)), forces(*mechanism) {}
  MechanismPointer mechanism;
  InterbodyForces forces;
  py::object workspace;  // kept alive
};

struct PythonOperationalSpace {
  PythonOperationalSpace(MechanismPointer of, std::vector<TaskFrame> frames)
      : mechanism(std::move(of)), space(*mechanism, std::move(frames)) {}
  MechanismPointer mechanism;
  OperationalSpace space;
  py::object workspace;
};

// A workspace that is kept: None would be one that ends with the call.
PythonWorkspace* kept(const py::object& workspace) {
  if (!py::isinstance<PythonWorkspace>(workspace))
    throw py::type_error("a Workspace is needed here, not " +
                         py::cast<std::string>(workspace.get_type().attr("__name__")));
  return py::cast<PythonWorkspace*>(workspace);
}

void check_updated(const py::object& workspace, const char* call) {
  if (!workspace) throw Error(std::string("call ") + call + " first");
}

// Of a rod or a coupling of the description, by name or index.
template <class List>
int listed_index(const py::object& which, const List& list, const char* what) {
  if (py::isinstance<py::str>(which)) {
    const std::string name = py::cast<std::string>(which);
    std::vector<std::string> names;
    for (const auto& entry : list) {
      if (entry.name == name) return static_cast<int>(names.size());
      names.push_back(entry.name);
    }
    throw NameError("there is no " + std::string(what) + " '" + name + "'" +
                    did_you_mean(name, names));
  }
  if (PyIndex_Check(which.ptr()) == 0)
    throw py::type_error("a " + std::string(what) + " is given by its name or index, not " +
                         py::cast<std::string>(py::repr(which)));
  const auto index = py::cast<py::ssize_t>(which);
  if (index < 0 || index >= static_cast<py::ssize_t>(list.size()))
    throw NameError("there is no " + std::string(what) + " " + std::to_string(index));
  return static_cast<int>(index);
}

template <class Matrix>
py::array_t<double> vector_of(const Matrix& a) {
  return new_vector(a.data(), static_cast<py::ssize_t>(a.size()));
}

void bind_hinge_force(py::module_& m) {
  bind_enum<ForceAxes>(
      m, "ForceAxes", "Axes of a force at a hinge.",
      {{"hinge", ForceAxes::hinge}, {"body", ForceAxes::body}, {"ground", ForceAxes::ground}});
  py::class_<HingeForce>(m, "HingeForce",
                         "Reaction force at a hinge: f = H f_c + Q f_□ (docs/notation.md).")
      .def_readonly("wrench", &HingeForce::wrench,
                    "(6,): moment and force of the parent on the child at the child's hinge point, "
                    "N m and N.")
      .def_property_readonly(
          "moment", [](const HingeForce& f) { return f.wrench.moment; }, "(3,), N m.")
      .def_property_readonly(
          "force", [](const HingeForce& f) { return f.wrench.force; }, "(3,), N.")
      .def_property_readonly(
          "free_map", [](const HingeForce& f) { return matrix_to_numpy(f.free_map); },
          "(6, d), H: the free directions.")
      .def_property_readonly(
          "constraint_map", [](const HingeForce& f) { return matrix_to_numpy(f.constraint_map); },
          "(6, 6 - d), Q: an orthonormal basis of the constrained ones.")
      .def_property_readonly(
          "effort", [](const HingeForce& f) { return vector_of(f.effort); }, "(d,), Hᵀ f.")
      .def_property_readonly(
          "free_force", [](const HingeForce& f) { return vector_of(f.free_force); }, "(d,), f_c.")
      .def_property_readonly(
          "constraint_force", [](const HingeForce& f) { return vector_of(f.constraint_force); },
          "(6 - d,), f_□.");
  py::class_<ArmstrongForm>(m, "ArmstrongForm", "f_□ = Φ Qᵀ A + φ at the hinge of a node.")
      .def_property_readonly(
          "free_map", [](const ArmstrongForm& f) { return matrix_to_numpy(f.free_map); },
          "(6, d), H.")
      .def_property_readonly(
          "constraint_map",
          [](const ArmstrongForm& f) { return matrix_to_numpy(f.constraint_map); },
          "(6, 6 - d), Q.")
      .def_property_readonly(
          "inertia", [](const ArmstrongForm& f) { return matrix_to_numpy(f.inertia); },
          "(6 - d, 6 - d), Φ.")
      .def_property_readonly(
          "residual", [](const ArmstrongForm& f) { return vector_of(f.residual); }, "(6 - d,), φ.")
      .def_property_readonly(
          "acceleration", [](const ArmstrongForm& f) { return vector_of(f.acceleration); },
          "(6 - d,), Qᵀ A.")
      .def_property_readonly(
          "constraint_force", [](const ArmstrongForm& f) { return vector_of(f.constraint_force); },
          "(6 - d,), f_□, N m and N.");
  m.def(
      "armstrong_form",
      [](PythonWorkspace& w, int node) {
        const Use use(w);
        if (node < 0 || node >= static_cast<int>(w.mechanism->nodes().size()))
          throw NameError("there is no node " + std::to_string(node));
        w.need(kAccelerations);
        return armstrong_form(w.workspace, node);
      },
      py::arg("workspace"), py::arg("node"),
      "After forward_dynamics (recursive route) or hybrid_dynamics on this workspace.");
}

void bind_interbody(py::module_& m) {
  using F = PythonForces;
  py::class_<F>(m, "InterbodyForces",
                "Reaction forces: the wrench at every hinge (joint) and weld, bearing forces.\n\n  "
                "  forces = catena.InterbodyForces(mechanism)\n    forces.compute(state, "
                "acceleration)\n    forces.at(\"elbow\").force")
      .def(py::init<MechanismPointer>(), py::arg("mechanism"))
      .def(
          "compute",
          [](F& f, const NamedState& state, const FreedomVector& acceleration, py::object workspace,
             const Wrenches& external, const FreedomVector& effort) {
            if (workspace.is_none())
              workspace = py::cast(std::make_unique<PythonWorkspace>(f.mechanism));
            Working working(*f.mechanism, kept(workspace));
            std::optional<Eigen::VectorXd> efforts;
            if (effort.given()) efforts = read_freedoms(effort, *f.mechanism, "effort");
            f.workspace = py::object();
            f.forces.compute(state.of(*f.mechanism),
                             read_freedoms(acceleration, *f.mechanism, "acceleration"),
                             working.workspace(), read_wrenches(external, *f.mechanism),
                             efforts ? &*efforts : nullptr);
            f.workspace = workspace;
          },
          py::arg("state"), py::arg("acceleration"), py::arg("workspace") = py::none(),
          py::arg("external") = py::none(), py::arg("effort") = py::none(),
          "For any state and acceleration (freedoms,), of any route. Of a closed mechanism: for "
          "these efforts of the actuators, which must produce the acceleration (None: those that "
          "inverse dynamics finds at the independent freedoms).")
      .def(
          "collect",
          [](F& f, const NamedState& state, const FreedomVector& acceleration, py::object workspace,
             const Wrenches& external) {
            Working working(*f.mechanism, kept(workspace));
            kept(workspace)->need(kAccelerations);
            f.workspace = py::object();
            f.forces.collect(state.of(*f.mechanism),
                             read_freedoms(acceleration, *f.mechanism, "acceleration"),
                             working.workspace(), read_wrenches(external, *f.mechanism));
            f.workspace = workspace;
          },
          py::arg("state"), py::arg("acceleration"), py::arg("workspace"),
          py::arg("external") = py::none(),
          "Right after forward (recursive route), hybrid or inverse dynamics on this workspace. "
          "Trees only.")
      .def(
          "at",
          [](const F& f, const HingeName& hinge, Choice<ForceAxes> axes) {
            check_updated(f.workspace, "compute() or collect()");
            return f.forces.at(read_hinge(hinge, *f.mechanism), axes);
          },
          py::arg("hinge"), py::arg("axes") = Choice<ForceAxes>{ForceAxes::hinge},
          "HingeForce of any hinge or weld, along the axes of the hinge frame on the child, of the "
          "child, or of the ground.")
      .def(
          "undetermined",
          [](const F& f, const HingeName& hinge, Choice<ForceAxes> axes) {
            check_updated(f.workspace, "compute() or collect()");
            return f.forces.undetermined(read_hinge(hinge, *f.mechanism), axes);
          },
          py::arg("hinge"), py::arg("axes") = Choice<ForceAxes>{ForceAxes::hinge},
          "list of bool: the components of at(hinge, axes).wrench that redundant constraints leave "
          "open.")
      .def(
          "undetermined_constraint_force",
          [](const F& f, const HingeName& hinge, Choice<ForceAxes> axes) {
            check_updated(f.workspace, "compute() or collect()");
            return f.forces.undetermined_constraint_force(read_hinge(hinge, *f.mechanism), axes);
          },
          py::arg("hinge"), py::arg("axes") = Choice<ForceAxes>{ForceAxes::hinge},
          "list of bool: the same of the entries of at(hinge, axes).constraint_force.")
      .def(
          "open_directions",
          [](const F& f, const HingeName& hinge, Choice<ForceAxes> axes) {
            check_updated(f.workspace, "compute() or collect()");
            const auto open = f.forces.open_directions(read_hinge(hinge, *f.mechanism), axes);
            return py::make_tuple(py::cast(open.moment), py::cast(open.force));
          },
          py::arg("hinge"), py::arg("axes") = Choice<ForceAxes>{ForceAxes::hinge},
          "(moment, force): lists of unit vectors along which redundant constraints leave the "
          "moment and the force open. Across them they are determined.")
      .def(
          "determined",
          [](const F& f, const HingeName& hinge, Choice<ForceAxes> axes) {
            check_updated(f.workspace, "compute() or collect()");
            return f.forces.determined(read_hinge(hinge, *f.mechanism), axes);
          },
          py::arg("hinge"), py::arg("axes") = Choice<ForceAxes>{ForceAxes::hinge},
          "at(hinge, axes).wrench less its parts along the open directions.")
      .def(
          "rod_tension",
          [](const F& f, const py::object& rod) {
            check_updated(f.workspace, "compute()");
            return f.forces.rod_tension(listed_index(rod, f.mechanism->description().rods, "rod"));
          },
          py::arg("rod"),
          "float, N, of a rod by its name or its index in the description; tension is positive.")
      .def(
          "undetermined_rod",
          [](const F& f, const py::object& rod) {
            check_updated(f.workspace, "compute()");
            return f.forces.undetermined_rod(
                listed_index(rod, f.mechanism->description().rods, "rod"));
          },
          py::arg("rod"), "Whether redundant constraints leave the tension of a rod open.")
      .def(
          "coupling_multiplier",
          [](const F& f, const py::object& coupling) {
            check_updated(f.workspace, "compute()");
            return f.forces.coupling_multiplier(
                listed_index(coupling, f.mechanism->description().couplings, "coupling"));
          },
          py::arg("coupling"),
          "float, λ of a coupling by its name or its index in the description: it acts with the "
          "efforts λ · coefficient, N m or N, at its hinges.")
      .def(
          "undetermined_coupling",
          [](const F& f, const py::object& coupling) {
            check_updated(f.workspace, "compute()");
            return f.forces.undetermined_coupling(
                listed_index(coupling, f.mechanism->description().couplings, "coupling"));
          },
          py::arg("coupling"),
          "Whether redundant constraints leave the multiplier of a coupling open.");
}

void bind_operational_space(py::module_& m) {
  bind_enum<TaskFrame::Axes>(
      m, "TaskAxes", "Axes of the rows of a TaskFrame.",
      {{"frame", TaskFrame::Axes::frame}, {"ground", TaskFrame::Axes::ground}});
  py::class_<TaskFrame>(
      m, "TaskFrame", "A frame of a body whose twist is a task: rows angular x y z, linear x y z.")
      .def(py::init([](const Mechanism& mechanism, const BodyName& body, const Pose& pose,
                       Choice<TaskFrame::Axes> axes, const std::vector<int>& rows) {
             TaskFrame frame;
             frame.body = read_body(body, mechanism);
             if (pose.given()) frame.pose = to_transform(pose.value);
             frame.axes = axes;
             frame.rows = 0;
             for (const int row : rows) {
               if (row < 0 || row > 5)
                 throw py::value_error("rows are 0 to 5 (angular x y z, linear x y z), not " +
                                       std::to_string(row));
               frame.rows = static_cast<std::uint8_t>(frame.rows | (1u << row));
             }
             return frame;
           }),
           py::arg("mechanism"), py::arg("body"), py::arg("pose") = py::none(),
           py::arg("axes") = Choice<TaskFrame::Axes>{TaskFrame::Axes::ground},
           py::arg("rows") = std::vector<int>{0, 1, 2, 3, 4, 5});

  using O = PythonOperationalSpace;
  using Apply = void (OperationalSpace::*)(const Eigen::VectorXd&, Eigen::VectorXd&);
  py::class_<O> space(m, "OperationalSpace",
                      "The inertia Λ that frames show to forces acting on them, in O(N), without "
                      "M, M⁻¹ or J.");
  space
      .def(py::init<MechanismPointer, std::vector<TaskFrame>>(), py::arg("mechanism"),
           py::arg("frames"))
      .def_property_readonly(
          "rows", [](const O& o) { return o.space.rows(); }, "Of all frames together.")
      .def(
          "update",
          [](O& o, py::object workspace) {
            Working working(*o.mechanism, kept(workspace));
            kept(workspace)->need(kFactors);
            o.space.update(working.workspace());
            o.workspace = workspace;
          },
          py::arg("workspace"), "After articulate() or recursive forward_dynamics().")
      .def(
          "inverse_inertia",
          [](O& o) {
            check_updated(o.workspace, "update()");
            return o.space.inverse_inertia();
          },
          "Λ⁻¹, (rows, rows).")
      .def(
          "inertia",
          [](O& o) {
            check_updated(o.workspace, "update()");
            return o.space.inertia();
          },
          "Λ, (rows, rows). NumericalError if rows depend on those before.");
  const auto apply = [&](const char* name, Apply call, bool to_task, const char* doc) {
    space.def(
        name,
        [call, to_task](O& o, const Eigen::VectorXd& x) {
          check_updated(o.workspace, "update()");
          const Use use(*kept(o.workspace));
          Eigen::VectorXd y(to_task ? o.space.rows() : o.mechanism->freedoms());
          (o.space.*call)(x, y);
          return y;
        },
        py::arg("x"), doc);
  };
  using S = OperationalSpace;
  apply("apply_jacobian", &S::apply_jacobian, true, "J v: (freedoms,) to (rows,).");
  apply("apply_jacobian_transposed", &S::apply_jacobian_transposed, false,
        "Jᵀ f: (rows,) to (freedoms,).");
  apply("apply_consistent_inverse", &S::apply_consistent_inverse, false,
        "J̄ x, J̄ = M⁻¹ Jᵀ Λ: (rows,) to (freedoms,).");
  apply("apply_consistent_inverse_transposed", &S::apply_consistent_inverse_transposed, true,
        "J̄ᵀ effort: (freedoms,) to (rows,).");
  apply("project_effort", &S::project_effort, false,
        "(freedoms,): (1 - Jᵀ J̄ᵀ) effort, which does not accelerate the frames.");
}

}  // namespace

void bind_forces(py::module_& m) {
  bind_hinge_force(m);
  bind_interbody(m);
  bind_operational_space(m);
}

}  // namespace catena::python
