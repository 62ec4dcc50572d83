// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of the dynamics by state, inputs and parameters.
#include "support/arguments.h"
#include "support/hybrid_input.h"
#include "support/interrupts.h"
#include "support/sensitivity_workspace.h"

#include "catena/dynamics/given_acceleration.h"
#include "catena/sensitivity/derivative_check.h"
#include "catena/sensitivity/forward_derivatives.h"
#include "catena/sensitivity/inverse_derivatives.h"
#include "catena/sensitivity/parameters.h"
#include "catena/sensitivity/second_derivatives.h"

namespace catena::python {
namespace {

// Accelerations of a closed mechanism that the caller gave (dynamics/given_acceleration.h).
class Given {
 public:
  Given(const Mechanism& mechanism, const NamedState& state, const FreedomVector& acceleration,
        SensitivityWorkspace& workspace)
      : mechanism_(mechanism), workspace_(workspace) {
    if (mechanism.loops().empty() || !acceleration.given()) return;
    mask_ = given_freedoms(acceleration, mechanism);
    make_given_independent(mechanism, state.of(mechanism).q, mask_, workspace.dynamics());
  }
  // After a call that found all accelerations.
  void check(const Eigen::VectorXd& acceleration) const {
    if (!mask_.empty())
      check_given(mechanism_, acceleration, mask_, workspace_.dynamics().all_accelerations());
  }

 private:
  const Mechanism& mechanism_;
  const SensitivityWorkspace& workspace_;
  std::vector<std::uint8_t> mask_;
};

void bind_derivatives(py::module_& m) {
  py::class_<InverseDerivatives> by_inverse(
      m, "InverseDerivatives",
      "Of inverse dynamics; rows: efforts, N m or N, columns: directions.\n\nn: the freedoms; of a "
      "closed mechanism the independent ones, in the order of independent of the workspace.");
  by_inverse.def_readonly("dq", &InverseDerivatives::dq, "(n, n), along tangent directions.")
      .def_readonly("dv", &InverseDerivatives::dv, "(n, n).")
      .def_readonly("da", &InverseDerivatives::da, "(n, n): the mass matrix.");
  picklable(by_inverse, &InverseDerivatives::dq, &InverseDerivatives::dv, &InverseDerivatives::da);
  using F = ForwardDerivatives;
  py::class_<F> by_forward(
      m, "ForwardDerivatives",
      "Of forward dynamics; rows: accelerations, rad/s² or m/s², columns: directions."
      "\n\nn: the freedoms; of a closed mechanism the independent ones, in the "
      "order of independent of the workspace.");
  by_forward
      .def_readonly("acceleration", &ForwardDerivatives::acceleration,
                    "(freedoms,), of all freedoms.")
      .def_readonly("dq", &ForwardDerivatives::dq, "(n, n), along tangent directions.")
      .def_readonly("dv", &ForwardDerivatives::dv, "(n, n).")
      .def_readonly("deffort", &ForwardDerivatives::deffort,
                    "(n, freedoms): by the efforts of all freedoms.");
  picklable(by_forward, &F::acceleration, &F::dq, &F::dv, &F::deffort);
  using H = HybridDerivatives;
  py::class_<H> by_hybrid(
      m, "HybridDerivatives",
      "Of hybrid dynamics; the input of a motion-driven freedom is its acceleration, that of "
      "another its effort. Rows: what is found, columns: directions.\n\nn: the freedoms; of a "
      "closed "
      "mechanism the independent ones.");
  by_hybrid.def_readonly("result", &H::result, "HybridResult at the point.")
      .def_readonly("acceleration_dq", &H::acceleration_dq,
                    "(n, n): of the accelerations, by tangent directions of q.")
      .def_readonly("acceleration_dv", &H::acceleration_dv, "(n, n): by v.")
      .def_readonly("acceleration_dinput", &H::acceleration_dinput, "(n, inputs).")
      .def_readonly("effort_dq", &H::effort_dq,
                    "(n, n): of the actuators' efforts, by tangent directions of q.")
      .def_readonly("effort_dv", &H::effort_dv, "(n, n): by v.")
      .def_readonly("effort_dinput", &H::effort_dinput, "(n, inputs).");
  picklable(by_hybrid, &H::result, &H::acceleration_dq, &H::acceleration_dv,
            &H::acceleration_dinput, &H::effort_dq, &H::effort_dv, &H::effort_dinput);
  using W = PythonSensitivityWorkspace;
  py::class_<W>(m, "SensitivityWorkspace", "Scratch for derivatives. One for each thread.")
      .def(py::init<MechanismPointer>(), py::arg("mechanism"))
      .def_property_readonly(
          "mechanism", [](const W& w) { return w.mechanism; }, "The Mechanism it was made for.")
      .def(
          "set_chart",
          [](W& w, const Chart& chart, bool pinned) {
            w.workspace.dynamics().set_chart(chart, pinned);
          },
          py::arg("chart"), py::arg("pinned") = false, "As in Workspace.")
      .def_property_readonly(
          "independent", [](const W& w) { return w.workspace.dynamics().independent(); },
          "list of int: independent freedoms, indices into v.");
  m.def(
      "inverse_dynamics_derivatives",
      [](const MechanismPointer& x, const NamedState& state, const FreedomVector& acceleration,
         W* workspace, const Wrenches& external) {
        SensitivityUse use(x, workspace);
        const Eigen::VectorXd a = read_freedoms(acceleration, *x, "acceleration");
        const std::vector<ExternalWrench> loads = read_wrenches(external, *x);
        const Given given(*x, state, acceleration, use.workspace());
        const ReleaseForLong release(*x);
        InverseDerivatives d =
            inverse_dynamics_derivatives(*x, state.of(*x), a, use.workspace(), loads);
        given.check(a);
        return d;
      },
      py::arg("mechanism"), py::arg("state"), py::arg("acceleration") = py::none(),
      py::arg("workspace") = py::none(), py::arg("external") = py::none(),
      "Derivatives of inverse dynamics (RNEA) by position, velocity and acceleration: analytic, no "
      "step size. Directions of q are tangent directions: integrate(q, ε e_k).");
  m.def(
      "forward_dynamics_derivatives",
      [](const MechanismPointer& x, const NamedState& state, const FreedomVector& effort,
         W* workspace, const Wrenches& external) {
        SensitivityUse use(x, workspace);
        const Eigen::VectorXd e = read_freedoms(effort, *x, "effort");
        const std::vector<ExternalWrench> loads = read_wrenches(external, *x);
        const ReleaseForLong release(*x);
        return ForwardDerivatives(
            forward_dynamics_derivatives(*x, state.of(*x), e, use.workspace(), loads));
      },
      py::arg("mechanism"), py::arg("state"), py::arg("effort") = py::none(),
      py::arg("workspace") = py::none(), py::arg("external") = py::none(),
      "Derivatives of forward dynamics by position, velocity and effort: analytic, no step size.");
  m.def(
      "hybrid_dynamics_derivatives",
      [](const MechanismPointer& x, const NamedState& state, const Freedoms& motion_driven,
         const FreedomVector& effort, const FreedomVector& acceleration, W* workspace,
         const Wrenches& external) {
        SensitivityUse use(x, workspace);
        const HybridInput input = read_hybrid(*x, motion_driven, effort, acceleration);
        return HybridDerivatives(hybrid_dynamics_derivatives(
            *x, state.of(*x), input, use.workspace(), read_wrenches(external, *x)));
      },
      py::arg("mechanism"), py::arg("state"), py::arg("motion_driven"),
      py::arg("effort") = py::none(), py::arg("acceleration") = py::none(),
      py::arg("workspace") = py::none(), py::arg("external") = py::none(),
      "Derivatives of hybrid_dynamics().");
  m.def(
      "external_wrench_derivatives",
      [](const MechanismPointer& x, const PositionVector& q, const Wrenches& where, W* workspace) {
        SensitivityUse use(x, workspace);
        const std::vector<ExternalWrench> wrench = read_wrenches(where, *x);
        if (wrench.size() != 1) throw py::value_error("one wrench says where");
        Eigen::VectorXd buffer;
        WrenchDerivatives d = external_wrench_derivatives(*x, read_position(q, *x, buffer),
                                                          wrench.front(), use.workspace());
        return std::make_pair(std::move(d.effort), std::move(d.acceleration));
      },
      py::arg("mechanism"), py::arg("q"), py::arg("where"), py::arg("workspace") = py::none(),
      "(efforts of inverse, accelerations of forward dynamics), each (n, 6): by the moment and "
      "force of a wrench at a place; its own numbers do not matter.");
  using I2 = InverseSecondDerivatives;
  py::class_<I2>(m, "InverseSecondDerivatives",
                 "Of inverse dynamics: lists of n matrices, entry k by position or velocity k.")
      .def_readonly("qq", &I2::qq, "list of (n, n): ∂(∂τ/∂q)/∂q_k.")
      .def_readonly("vq", &I2::vq, "list of (n, n): ∂(∂τ/∂v)/∂q_k.")
      .def_readonly("vv", &I2::vv, "list of (n, n): ∂(∂τ/∂v)/∂v_k.")
      .def_readonly("aq", &I2::aq, "list of (n, n): ∂M/∂q_k.");
  using F2 = ForwardSecondDerivatives;
  py::class_<F2>(m, "ForwardSecondDerivatives",
                 "Of forward dynamics: lists of n matrices, entry k by position or velocity k.")
      .def_readonly("qq", &F2::qq, "list of (n, n): ∂(∂v̇/∂q)/∂q_k.")
      .def_readonly("qv", &F2::qv, "list of (n, n): ∂(∂v̇/∂q)/∂v_k.")
      .def_readonly("vq", &F2::vq, "list of (n, n): ∂(∂v̇/∂v)/∂q_k.")
      .def_readonly("vv", &F2::vv, "list of (n, n): ∂(∂v̇/∂v)/∂v_k.")
      .def_readonly("uq", &F2::uq, "list of (n, n): ∂(∂v̇/∂τ)/∂q_k.");
  m.def(
      "inverse_second_derivatives",
      [](const MechanismPointer& x, const NamedState& state, const FreedomVector& acceleration,
         W* workspace, const Wrenches& external) {
        SensitivityUse use(x, workspace);
        const Eigen::VectorXd a = read_freedoms(acceleration, *x, "acceleration");
        const std::vector<ExternalWrench> loads = read_wrenches(external, *x);
        const Given given(*x, state, acceleration, use.workspace());
        const py::gil_scoped_release release;
        return inverse_second_derivatives(*x, state.of(*x), a, use.workspace(), loads);
      },
      py::arg("mechanism"), py::arg("state"), py::arg("acceleration") = py::none(),
      py::arg("workspace") = py::none(), py::arg("external") = py::none(),
      "Second derivatives of inverse dynamics, along tangent directions.");
  m.def(
      "forward_second_derivatives",
      [](const MechanismPointer& x, const NamedState& state, const FreedomVector& effort,
         W* workspace, const Wrenches& external) {
        SensitivityUse use(x, workspace);
        const Eigen::VectorXd e = read_freedoms(effort, *x, "effort");
        const std::vector<ExternalWrench> loads = read_wrenches(external, *x);
        const py::gil_scoped_release release;
        return forward_second_derivatives(*x, state.of(*x), e, use.workspace(), loads);
      },
      py::arg("mechanism"), py::arg("state"), py::arg("effort") = py::none(),
      py::arg("workspace") = py::none(), py::arg("external") = py::none(),
      "Second derivatives of forward dynamics, along tangent directions.");
  py::class_<DerivativeCheck>(m, "DerivativeCheck", "One derivative against differences.")
      .def_readonly("quantity", &DerivativeCheck::quantity, "In words.")
      .def_readonly("error", &DerivativeCheck::error, "Where it is worst.")
      .def_readonly("allowed", &DerivativeCheck::allowed, "Estimated error of the differences.")
      .def_property_readonly("passes", &DerivativeCheck::passes, "error is within what is allowed.")
      .def_readonly("entry", &DerivativeCheck::entry, "The worst entry, in words.")
      .def_readonly("where", &DerivativeCheck::where, "The state of the worst entry.");
  py::class_<DerivativeReport>(m, "DerivativeReport", "What check_derivatives() found.")
      .def_readonly("checks", &DerivativeReport::checks, "list of DerivativeCheck.")
      .def_readonly("states", &DerivativeReport::states, "How many were looked at.")
      .def_readonly("skipped", &DerivativeReport::skipped, "How many could not be.")
      .def_readonly("worst", &DerivativeReport::worst, "The largest error over what is allowed.")
      .def_property_readonly("passes", &DerivativeReport::passes, "Whether all checks do.");
  m.def(
      "check_derivatives",
      [](const Mechanism& x, int states, std::uint64_t seed) {
        return unless_interrupted(
            [&](const auto& goes_on) { return check_derivatives(x, states, seed, 3e-3, goes_on); });
      },
      py::arg("mechanism"), py::arg("states") = 10, py::arg("seed") = 1,
      "Compares every derivative of a mechanism with finite differences, at random states.");
}

struct PythonParameters {
  PythonParameters(MechanismPointer of, std::vector<std::string> names)
      : mechanism(std::move(of)), parameters(*mechanism, std::move(names)), workspace(*mechanism) {}
  MechanismPointer mechanism;
  ParameterSet parameters;
  SensitivityWorkspace workspace;
};

void bind_parameters(py::module_& m) {
  using P = PythonParameters;
  py::class_<P>(m, "ParameterSet",
                "Parameters of a mechanism by name (\"body.link.mass\", \"hinge.elbow.damping\", "
                "\"gravity.z\", ...), and derivatives by them. all_names() lists them.\n\np: how "
                "many; n: the "
                "freedoms, of a closed mechanism the independent ones (`independent`).")
      .def(py::init<MechanismPointer, std::vector<std::string>>(), py::arg("mechanism"),
           py::arg("names"))
      .def_property_readonly(
          "names", [](const P& p) { return p.parameters.names(); }, "list of str.")
      .def_property_readonly(
          "independent", [](const P& p) { return p.workspace.dynamics().independent(); },
          "list of int: the freedoms, indices into v, that the rows of the last derivatives are.")
      .def(
          "values", [](const P& p) { return p.parameters.values(); }, "(p,), as they are.")
      .def(
          "with_values",
          [](const P& p, const Eigen::VectorXd& values) { return p.parameters.with(values); },
          py::arg("values"), "The Mechanism with other values (p,). (`with` in C++.)")
      .def(
          "effort_derivatives",
          [](P& p, const NamedState& state, const FreedomVector& acceleration,
             const Wrenches& external) {
            const Given given(*p.mechanism, state, acceleration, p.workspace);
            return p.parameters.effort_derivatives(
                state.of(*p.mechanism), read_freedoms(acceleration, *p.mechanism, "acceleration"),
                p.workspace, read_wrenches(external, *p.mechanism));
          },
          py::arg("state"), py::arg("acceleration") = py::none(), py::arg("external") = py::none(),
          "(n, p): ∂effort/∂p of inverse dynamics at this acceleration.")
      .def(
          "acceleration_derivatives",
          [](P& p, const NamedState& state, const FreedomVector& effort, const Wrenches& external) {
            return p.parameters.acceleration_derivatives(
                state.of(*p.mechanism), read_freedoms(effort, *p.mechanism, "effort"), p.workspace,
                read_wrenches(external, *p.mechanism));
          },
          py::arg("state"), py::arg("effort") = py::none(), py::arg("external") = py::none(),
          "(n, p): ∂v̇/∂p of forward dynamics at this effort.")
      .def(
          "hybrid_derivatives",
          [](P& p, const NamedState& state, const Freedoms& motion_driven,
             const FreedomVector& effort, const FreedomVector& acceleration,
             const Wrenches& external) {
            const HybridInput input =
                read_hybrid(*p.mechanism, motion_driven, effort, acceleration);
            HybridParameterDerivatives d = p.parameters.hybrid_derivatives(
                state.of(*p.mechanism), input, p.workspace, read_wrenches(external, *p.mechanism));
            return std::make_pair(std::move(d.acceleration), std::move(d.effort));
          },
          py::arg("state"), py::arg("motion_driven"), py::arg("effort") = py::none(),
          py::arg("acceleration") = py::none(), py::arg("external") = py::none(),
          "(accelerations, efforts), each (n, p): by the parameters, of what hybrid_dynamics() "
          "finds; zero where it is given.")
      .def_static("all_names", &ParameterSet::all_names, py::arg("mechanism"),
                  "Of every kind, for listing.");
  m.def(
      "regressor",
      [](const MechanismPointer& x, const NamedState& state, const FreedomVector& acceleration) {
        SensitivityWorkspace workspace(*x);
        const Given given(*x, state, acceleration, workspace);
        return regressor(*x, state.of(*x), read_freedoms(acceleration, *x, "acceleration"),
                         workspace);
      },
      py::arg("mechanism"), py::arg("state"), py::arg("acceleration") = py::none(),
      "(n, 10 · bodies): effort = regressor @ inertial_parameters + what elements need; for "
      "identification by least squares.");
  m.def("inertial_parameters", &inertial_parameters, py::arg("mechanism"),
        "(10 · bodies,): mass, mass · centre, inertia about the origin (xx, xy, xz, yy, yz, zz) of "
        "each body.");
}

}  // namespace

void bind_sensitivity(py::module_& m) {
  bind_parameters(m);
  bind_derivatives(m);
}

}  // namespace catena::python
