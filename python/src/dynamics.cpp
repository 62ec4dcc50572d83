// SPDX-License-Identifier: BSD-3-Clause
// Workspace; forward, inverse and hybrid dynamics; mass matrix; energy; Gibbs' function; impulses.
#include <chrono>

#include "support/arguments.h"
#include "support/hybrid_input.h"

#include "catena/dynamics/energy.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/given_acceleration.h"
#include "catena/dynamics/impulses.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/dynamics/operators/gibbs.h"

namespace catena::python {
namespace {

const char* const kExternal =
    "external: wrenches from outside: ExternalWrench or dictionaries {\"body\", \"force\", "
    "\"moment\", \"point\", \"axes\"}, N and N m, point in the body's frame, axes \"body\" or "
    "\"ground\".\n";

std::string with_loads(const char* text) {
  return std::string(text) + "\n\n" + kExternal +
         "workspace: a Workspace of the mechanism: nothing is allocated but the result.\n"
         "out: an array for the result, which is then returned.";
}

void bind_workspace(py::module_& m) {
  py::class_<PythonWorkspace>(
      m, "Workspace",
      "Scratch memory for the dynamics of one mechanism: with one, calls do not allocate. One for "
      "each thread.")
      .def(py::init<MechanismPointer>(), py::arg("mechanism"))
      .def_property_readonly(
          "mechanism", [](const PythonWorkspace& w) { return w.mechanism; },
          "The Mechanism it was made for.")
      .def_property_readonly(
          "has_chart", [](const PythonWorkspace& w) { return w.workspace.has_chart(); },
          "Whether independent freedoms of the closed loops have been chosen.")
      .def_property_readonly(
          "chart", [](const PythonWorkspace& w) { return w.workspace.chart(); },
          "Chart: the independent freedoms in use.")
      .def(
          "set_chart",
          [](PythonWorkspace& w, const Chart& chart, bool pinned) {
            const Use use(w);
            w.workspace.set_chart(chart, pinned);
          },
          py::arg("chart"), py::arg("pinned") = false,
          "Uses this chart; a pinned one is never changed.")
      .def_property_readonly(
          "independent", [](const PythonWorkspace& w) { return w.workspace.independent(); },
          "list of int: independent freedoms of the whole mechanism, indices into v.");

  bind_enum<ExternalWrench::Axes>(
      m, "Axes", "Along whose axes components are.",
      {{"body", ExternalWrench::Axes::body}, {"ground", ExternalWrench::Axes::ground}});
  py::class_<ExternalWrench> wrench(
      m, "ExternalWrench",
      "A moment and a force on a body. The force acts at `point`, given in the body's frame; the "
      "components are along the axes of the body or of the ground.");
  wrench
      .def(py::init([](const Mechanism& mechanism, const BodyName& body, const Vec3d& force,
                       const Vec3d& moment, const Vec3d& point, Choice<ExternalWrench::Axes> axes) {
             return ExternalWrench{read_body(body, mechanism), {moment, force}, point, axes};
           }),
           py::arg("mechanism"), py::arg("body"), py::kw_only(), py::arg("force") = Vec3d::zero(),
           py::arg("moment") = Vec3d::zero(), py::arg("point") = Vec3d::zero(),
           py::arg("axes") = Choice<ExternalWrench::Axes>{ExternalWrench::Axes::body},
           "force: N, moment: N m, point: m in the body's frame.")
      .def_readonly("body", &ExternalWrench::body, "Index.")
      .def_readonly("wrench", &ExternalWrench::wrench, "(6,): moment, force.")
      .def_readonly("point", &ExternalWrench::point, "(3,), m.")
      .def_readonly("axes", &ExternalWrench::axes, "Axes of the components.");
  picklable(wrench, &ExternalWrench::body, &ExternalWrench::wrench, &ExternalWrench::point,
            &ExternalWrench::axes);
}

void bind_hybrid(py::module_& m) {
  py::class_<HybridResult> hybrid(
      m, "HybridResult", "What hybrid_dynamics() found: motion and efforts of all freedoms.");
  hybrid
      .def_readonly("acceleration", &HybridResult::acceleration,
                    "(freedoms,), rad/s² or m/s², of all freedoms.")
      .def_readonly("effort", &HybridResult::effort, "(freedoms,), N m or N, of the actuators.");
  picklable(hybrid, &HybridResult::acceleration, &HybridResult::effort);
  m.def(
      "hybrid_dynamics",
      [](const Mechanism& mechanism, const NamedState& state, const Freedoms& motion_driven,
         const FreedomVector& effort, const FreedomVector& acceleration, PythonWorkspace* workspace,
         const Wrenches& external) {
        const HybridInput input = read_hybrid(mechanism, motion_driven, effort, acceleration);
        const std::vector<ExternalWrench> loads = read_wrenches(external, mechanism);
        Working working(mechanism, workspace);
        HybridResult result;
        const ReleaseForLong release(mechanism);
        hybrid_dynamics(mechanism, state.of(mechanism), input, working.workspace(), result, loads);
        working.has(kDisplacements | kVelocities | kAccelerations);
        return result;
      },
      py::arg("mechanism"), py::arg("state"), py::arg("motion_driven"),
      py::arg("effort") = py::none(), py::arg("acceleration") = py::none(),
      py::arg("workspace") = py::none(), py::arg("external") = py::none(),
      (std::string("Hybrid dynamics: accelerations of the force-driven freedoms and efforts of the "
                   "motion-driven ones, in one pass.\n\nmotion_driven: names, indices or a mask of "
                   "the freedoms whose acceleration is given.\neffort, acceleration: (freedoms,) "
                   "or by name; N m or N, rad/s² or m/s².\n") +
       kExternal)
          .c_str());
}

void bind_impulses(py::module_& m) {
  using I = ImpulseResult;
  py::class_<I> blow(
      m, "ImpulseResult",
      "Result of apply_impulse(): the velocities after an impulse or sudden locking.");
  blow.def_readonly("velocity", &ImpulseResult::velocity, "(freedoms,), rad/s or m/s, after.")
      .def_readonly("jump", &ImpulseResult::jump, "(freedoms,), after - before.")
      .def_readonly("impulse", &ImpulseResult::impulse,
                    "(freedoms,), N m s or N s: as given, or what locking takes.")
      .def_readonly("energy_change", &ImpulseResult::energy_change, "J, kinetic.");
  picklable(blow, &I::velocity, &I::jump, &I::impulse, &I::energy_change);
  m.def(
      "apply_impulse",
      [](const Mechanism& mechanism, const NamedState& state, const FreedomVector& impulse,
         const Wrenches& external, const Freedoms& locked, const FreedomVector& target,
         PythonWorkspace* workspace) {
        ImpulseInput input;
        if (impulse.given()) input.impulse = read_freedoms(impulse, mechanism, "impulse");
        input.external = read_wrenches(external, mechanism);
        input.locked = read_mask(locked, mechanism);
        if (target.given()) input.target = read_freedoms(target, mechanism, "target");
        Working working(mechanism, workspace);
        ImpulseResult result;
        apply_impulse(mechanism, state.of(mechanism), input, working.workspace(), result);
        return result;
      },
      py::arg("mechanism"), py::arg("state"), py::arg("impulse") = py::none(), py::kw_only(),
      py::arg("external") = py::none(), py::arg("locked") = py::none(),
      py::arg("target") = py::none(), py::arg("workspace") = py::none(),
      "Velocity jumps when forces act for an instant (impacts), or freedoms are locked at "
      "once.\n\nimpulse: (freedoms,) or by name, N m s or N s.\nexternal: impulsive wrenches at "
      "points of bodies.\nlocked: freedoms that are brought to the velocities `target` (default: "
      "zero).");
  m.def(
      "lock_freedom",
      [](const Mechanism& mechanism, const NamedState& state, const std::string& freedom,
         double velocity) {
        return lock_freedom(mechanism, state.of(mechanism), freedom, velocity);
      },
      py::arg("mechanism"), py::arg("state"), py::arg("freedom"), py::arg("velocity") = 0.0,
      "Short for apply_impulse with one locked freedom.");
}

void bind_energy(py::module_& m) {
  py::class_<Energy> energies(m, "Energy", "Energy of a mechanism by its kinds, J.");
  energies.def_readonly("kinetic", &Energy::kinetic, "J, rotors included.")
      .def_readonly("gravity", &Energy::gravity,
                    "J; zero with every mass centre in the plane through the ground's origin.")
      .def_readonly("hinge_springs", &Energy::hinge_springs, "J, in the stiffness of hinges.")
      .def_readonly("point_springs", &Energy::point_springs, "J, in springs between points.")
      .def_readonly("elastic", &Energy::elastic, "J, in flexible bodies.")
      .def_property_readonly("springs", &Energy::springs, "J, in all springs.")
      .def_property_readonly("potential", &Energy::potential, "J, of gravity and springs.")
      .def_property_readonly("total", &Energy::total, "J, kinetic and potential.")
      .def("__repr__", [](const Energy& e) {
        return "Energy(kinetic=" + number(e.kinetic) + ", gravity=" + number(e.gravity) +
               ", springs=" + number(e.springs()) + ")";
      });
  picklable(energies, &Energy::kinetic, &Energy::gravity, &Energy::hinge_springs,
            &Energy::point_springs, &Energy::elastic);
  m.def(
      "energy", [](const Mechanism& x, const NamedState& s) { return energy(x, s.of(x)); },
      py::arg("mechanism"), py::arg("state"),
      "Kinetic and potential energy, J, by code that shares nothing with the dynamics.");
  m.def(
      "kinetic_energy",
      [](const Mechanism& x, const NamedState& s) { return kinetic_energy(x, s.of(x)); },
      py::arg("mechanism"), py::arg("state"), "J.");
  m.def(
      "potential_energy",
      [](const Mechanism& x, const PositionVector& q) {
        Eigen::VectorXd buffer;
        return potential_energy(x, read_position(q, x, buffer));
      },
      py::arg("mechanism"), py::arg("q"), "J.");

  using G = GibbsFunction;
  py::class_<G> gibbs(m, "GibbsFunction",
                      "Gibbs' function in three forms that differ by constants, W/s.");
  gibbs.def_readonly("reduced", &G::reduced, "½ v̇ᵀ M v̇ - (effort - bias_effort)ᵀ v̇: zero at v̇ = 0.")
      .def_readonly("components", &G::components, "By the rates of the bodies' twists.")
      .def_readonly("particles", &G::particles, "By the accelerations of the particles.");
  picklable(gibbs, &G::reduced, &G::components, &G::particles);
  m.def(
      "gibbs_function",
      [](const Mechanism& mechanism, const NamedState& state, const FreedomVector& effort,
         const FreedomVector& acceleration, PythonWorkspace* workspace, const Wrenches& external) {
        Working working(mechanism, workspace);
        return gibbs_function(mechanism, state.of(mechanism),
                              read_freedoms(effort, mechanism, "effort"),
                              read_freedoms(acceleration, mechanism, "acceleration"),
                              working.workspace(), read_wrenches(external, mechanism));
      },
      py::arg("mechanism"), py::arg("state"), py::arg("effort"), py::arg("acceleration"),
      py::arg("workspace") = py::none(), py::arg("external") = py::none(),
      "Gibbs' function of a state and a trial acceleration; forward dynamics is its minimum.");
}

}  // namespace

void bind_dynamics(py::module_& m) {
  bind_workspace(m);
  bind_enum<Route>(m, "Route", "How forward dynamics is computed.",
                   {{"automatic", Route::automatic},
                    {"recursive", Route::recursive},
                    {"dense", Route::dense},
                    {"multipliers", Route::multipliers}});
  m.def(
      "forward_dynamics",
      [](const Mechanism& mechanism, const NamedState& state, const FreedomVector& effort,
         PythonWorkspace* workspace, const Wrenches& external, Choice<Route> route,
         const Out& out) {
        Working working(mechanism, workspace);
        const State& at = state.of(mechanism);
        read_freedoms(effort, mechanism, "effort", working.input());
        const std::vector<ExternalWrench> loads = read_wrenches(external, mechanism);
        const Eigen::VectorXd* result = nullptr;
        {
          const ReleaseForLong release(mechanism);
          result =
              &forward_dynamics(mechanism, at, working.input(), working.workspace(), loads, route);
        }
        const bool recursive =
            route == Route::recursive ||
            (route == Route::automatic && working.workspace().remote_drives().empty() &&
             !prefers_multipliers(mechanism));
        working.has(recursive ? kDisplacements | kVelocities | kAccelerations | kFactors
                              : kDisplacements | kVelocities);
        return deliver(*result, out);
      },
      py::arg("mechanism"), py::arg("state"), py::arg("effort") = py::none(),
      py::arg("workspace") = py::none(), py::arg("external") = py::none(),
      py::arg("route") = Choice<Route>{Route::automatic}, py::arg("out") = py::none(),
      with_loads(
          "Forward dynamics: the accelerations v̇ that efforts produce, (freedoms,), rad/s² or "
          "m/s². Articulated-body algorithm (ABA), O(N).\n\neffort: (freedoms,) or by name, N m or "
          "N; None: zero. Damping, friction, springs and gravity act by themselves. A closed "
          "mechanism must be assembled.\nroute: \"automatic\", \"recursive\" (O(N) sweeps), "
          "\"dense\" (mass matrix, O(N³)) or \"multipliers\" (of closed loops).")
          .c_str());
  m.def(
      "_time_forward_dynamics",
      [](const Mechanism& mechanism, const NamedState& state, PythonWorkspace& workspace,
         int calls) {
        Working working(mechanism, &workspace);
        const Eigen::VectorXd effort = Eigen::VectorXd::Zero(mechanism.freedoms());
        double sum = 0.0;
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i)
          sum += forward_dynamics(mechanism, state.of(mechanism), effort, working.workspace())[0];
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        return std::make_pair(time.count() / calls, sum);
      },
      py::arg("mechanism"), py::arg("state"), py::arg("workspace"), py::arg("calls"),
      "Seconds for one call in C++, for the benchmark of the bindings.");
  m.def(
      "inverse_dynamics",
      [](const Mechanism& mechanism, const NamedState& state, const FreedomVector& acceleration,
         PythonWorkspace* workspace, const Wrenches& external, const Out& out) {
        Working working(mechanism, workspace);
        const State& at = state.of(mechanism);
        read_freedoms(acceleration, mechanism, "acceleration", working.input());
        const std::vector<std::uint8_t> given = mechanism.loops().empty()
                                                    ? std::vector<std::uint8_t>{}
                                                    : given_freedoms(acceleration, mechanism);
        const std::vector<ExternalWrench> loads = read_wrenches(external, mechanism);
        const Eigen::VectorXd* result = nullptr;
        {
          const ReleaseForLong release(mechanism);
          result = &inverse_dynamics_given(mechanism, at, working.input(), given,
                                           working.workspace(), loads);
        }
        working.has(kDisplacements | kVelocities | kAccelerations);
        return deliver(*result, out);
      },
      py::arg("mechanism"), py::arg("state"), py::arg("acceleration") = py::none(),
      py::arg("workspace") = py::none(), py::arg("external") = py::none(),
      py::arg("out") = py::none(),
      with_loads(
          "Inverse dynamics: the actuators' efforts for given accelerations, (freedoms,), N m or "
          "N. Recursive Newton-Euler (RNEA), O(N).\n\nacceleration: (freedoms,) or by name, rad/s² "
          "or m/s²; None: zero. Of a closed mechanism the freedoms named become the independent "
          "ones, the other accelerations follow, and the efforts found act at the independent "
          "freedoms (workspace.independent). An array must keep the loops closed to 1e-6 (1 + its "
          "largest entry), as accelerations of forward_dynamics do; otherwise NumericalError.")
          .c_str());
  m.def(
      "bias_effort",
      [](const Mechanism& mechanism, const NamedState& state, PythonWorkspace* workspace,
         const Wrenches& external, const Out& out) {
        Working working(mechanism, workspace);
        const std::vector<ExternalWrench> loads = read_wrenches(external, mechanism);
        const Eigen::VectorXd& result =
            bias_effort(mechanism, state.of(mechanism), working.workspace(), loads);
        working.has(kDisplacements | kVelocities);
        return deliver(result, out);
      },
      py::arg("mechanism"), py::arg("state"), py::arg("workspace") = py::none(),
      py::arg("external") = py::none(), py::arg("out") = py::none(),
      with_loads("C of M v̇ + C = effort, (freedoms,), N m or N: gravity, Coriolis and centrifugal, "
                 "passive and external forces.")
          .c_str());
  m.def(
      "mass_matrix",
      [](const Mechanism& mechanism, const PositionVector& q, PythonWorkspace* workspace,
         const Out& out) {
        Working working(mechanism, workspace);
        Eigen::VectorXd buffer;
        const Eigen::VectorXd& position = read_position(q, mechanism, buffer);
        const Eigen::MatrixXd* result = nullptr;
        {
          const ReleaseForLong release(mechanism);
          result = &mass_matrix(mechanism, position, working.workspace());
        }
        return deliver(*result, out);
      },
      py::arg("mechanism"), py::arg("q"), py::arg("workspace") = py::none(),
      py::arg("out") = py::none(),
      "The joint-space mass matrix (CRBA), (freedoms, freedoms), rotors included; of a closed "
      "mechanism that of the independent freedoms, in the order of workspace.independent.\n\nq: a "
      "State or (coordinates,).");
  bind_hybrid(m);
  bind_impulses(m);
  bind_energy(m);
}

}  // namespace catena::python
