// SPDX-License-Identifier: BSD-3-Clause
// Linear models, equilibria and modes.
#include <complex>

#include "support/pickles.h"
#include "support/sensitivity_workspace.h"
#include <pybind11/complex.h>

#include "catena/sensitivity/equilibrium.h"
#include "catena/sensitivity/linearize.h"
#include "catena/sensitivity/modes.h"
#include "catena/sensitivity/parameters.h"

namespace catena::python {
namespace {

// `Equilibrium` in Python.
struct NamedEquilibrium {
  MechanismPointer mechanism;
  Equilibrium found;
};

// A LinearModel that knows its mechanism.
struct NamedLinearModel {
  MechanismPointer mechanism;
  LinearModel linear;
  LinearizeSettings settings;
};

OperatingPoint point_of(const Mechanism& m, const NamedState& state, const FreedomVector& effort,
                        const FreedomVector& acceleration, const Wrenches& external) {
  return {state.of(m), read_freedoms(effort, m, "effort"),
          read_freedoms(acceleration, m, "acceleration"), read_wrenches(external, m)};
}

py::array_t<std::complex<double>> complex_vector(const Eigen::VectorXcd& x) {
  py::array_t<std::complex<double>> result(x.size());
  std::copy(x.data(), x.data() + x.size(), result.mutable_data());
  return result;
}

void bind_plants(py::module_& m) {
  using P = NamedLinearModel;
  py::class_<P>(
      m, "LinearModel",
      "A linear model δẋ = A δx + B δu, δy = C δx + D δu, x = (q, v), and of second order "
      "M δv̇ = P2 δq + P1 δv + P3 δu. δq are tangent directions of the (independent) "
      "freedoms.")
      .def_property_readonly(
          "A", [](const P& p) { return p.linear.A; }, "(2n, 2n).")
      .def_property_readonly(
          "B", [](const P& p) { return p.linear.B; }, "(2n, inputs).")
      .def_property_readonly(
          "C", [](const P& p) { return p.linear.C; }, "(outputs, 2n).")
      .def_property_readonly(
          "D", [](const P& p) { return p.linear.D; }, "(outputs, inputs).")
      .def_property_readonly(
          "M", [](const P& p) { return p.linear.M; }, "(n, n).")
      .def_property_readonly(
          "P1", [](const P& p) { return p.linear.P1; }, "(n, n).")
      .def_property_readonly(
          "P2", [](const P& p) { return p.linear.P2; }, "(n, n).")
      .def_property_readonly(
          "P3", [](const P& p) { return p.linear.P3; }, "(n, inputs).")
      .def_property_readonly(
          "states", [](const P& p) { return p.linear.states; }, "list of str.")
      .def_property_readonly(
          "inputs", [](const P& p) { return p.linear.inputs; }, "list of str.")
      .def_property_readonly(
          "outputs", [](const P& p) { return p.linear.outputs; }, "list of str.")
      .def_property_readonly(
          "freedoms", [](const P& p) { return p.linear.freedoms; },
          "list of int: the independent freedoms that the states are.")
      .def_property_readonly(
          "mechanism", [](const P& p) { return p.mechanism; }, "The Mechanism it is about.")
      .def_property_readonly(
          "state",
          [](const P& p) {
            return NamedState{p.mechanism, p.linear.point.state};
          },
          "The State it is about.")
      .def_property_readonly(
          "effort", [](const P& p) { return p.linear.point.effort; }, "(freedoms,), there.")
      .def_property_readonly(
          "acceleration", [](const P& p) { return p.linear.acceleration; }, "(freedoms,), there.")
      .def_property_readonly(
          "residual", [](const P& p) { return p.linear.residual; }, "The largest acceleration.")
      .def_property_readonly(
          "speed", [](const P& p) { return p.linear.speed; }, "The largest.")
      .def("__repr__",
           [](const P& p) {
             return "<LinearModel of '" + p.mechanism->name() +
                    "': " + std::to_string(p.linear.A.rows()) + " states, " +
                    std::to_string(p.linear.B.cols()) + " inputs, " +
                    std::to_string(p.linear.C.rows()) + " outputs>";
           })
      .def(py::pickle(
          [](const P& p) {
            const LinearModel& x = p.linear;
            const OperatingPoint& o = x.point;
            const LinearizeSettings& s = p.settings;
            return py::make_tuple(
                p.mechanism, py::make_tuple(x.A, x.B, x.C, x.D, x.M, x.P1, x.P2, x.P3),
                py::make_tuple(x.states, x.inputs, x.outputs, x.freedoms, x.acceleration,
                               x.residual, x.speed),
                py::make_tuple(o.state.q, o.state.v, o.effort, o.acceleration, o.external),
                py::make_tuple(s.inputs, s.outputs, s.motion_driven, s.independent));
          },
          [](const py::tuple& t) {
            P p{py::cast<MechanismPointer>(t[0]), {}, {}};
            const auto take = [](const py::handle& from, auto&... to) {
              std::size_t k = 0;
              const auto all = py::reinterpret_borrow<py::tuple>(from);
              ((to = py::cast<std::decay_t<decltype(to)>>(all[k++])), ...);
            };
            LinearModel& x = p.linear;
            OperatingPoint& o = x.point;
            LinearizeSettings& s = p.settings;
            take(t[1], x.A, x.B, x.C, x.D, x.M, x.P1, x.P2, x.P3);
            take(t[2], x.states, x.inputs, x.outputs, x.freedoms, x.acceleration, x.residual,
                 x.speed);
            take(t[3], o.state.q, o.state.v, o.effort, o.acceleration, o.external);
            take(t[4], s.inputs, s.outputs, s.motion_driven, s.independent);
            return p;
          }));
  using Names = std::variant<std::string, std::vector<std::string>>;
  const auto list_of = [](const Names& names) {
    const auto* one = std::get_if<std::string>(&names);
    return one != nullptr ? std::vector<std::string>{*one}
                          : std::get<std::vector<std::string>>(names);
  };
  m.def(
      "linearize",
      [list_of](const MechanismPointer& x, const NamedState& state, const FreedomVector& effort,
                const Names& inputs, const Names& outputs, const Freedoms& motion_driven,
                const FreedomVector& acceleration, const Wrenches& external,
                const Freedoms& independent, PythonSensitivityWorkspace* workspace) {
        SensitivityUse use(x, workspace);
        NamedLinearModel result{x,
                                {},
                                {list_of(inputs), list_of(outputs), read_mask(motion_driven, *x),
                                 read_mask(independent, *x)}};
        const OperatingPoint point = point_of(*x, state, effort, acceleration, external);
        const py::gil_scoped_release release;
        result.linear = linearize(*x, point, result.settings, use.workspace());
        return result;
      },
      py::arg("mechanism"), py::arg("state"), py::arg("effort") = py::none(), py::kw_only(),
      py::arg("inputs") = std::vector<std::string>{},
      py::arg("outputs") = std::vector<std::string>{}, py::arg("motion_driven") = py::none(),
      py::arg("acceleration") = py::none(), py::arg("external") = py::none(),
      py::arg("independent") = py::none(), py::arg("workspace") = py::none(),
      "The LinearModel about any state, equilibrium or not: analytic.\n\n"
      "inputs: freedoms (their efforts; accelerations of motion_driven ones), \"force.BODY.x\", "
      "\"moment.BODY.z\"; all efforts unless given.\n"
      "outputs: \"q.NAME\", \"v.NAME\", \"a.NAME\", \"effort.NAME\", \"position.FRAME.x\", "
      "\"velocity.FRAME.x\"; all states unless given.\n"
      "independent: freedoms of a closed mechanism that are to be states.\n"
      "workspace: a SensitivityWorkspace; with the same one at every point of a motion the states "
      "stay the same.");
  m.def(
      "_linearize_along",
      [list_of](const MechanismPointer& x, const py::iterable& states, const py::object& efforts,
                const Names& inputs, const Names& outputs, const Freedoms& independent) {
        const LinearizeSettings settings{
            list_of(inputs), list_of(outputs), {}, read_mask(independent, *x)};
        SensitivityWorkspace w(*x);
        std::vector<NamedLinearModel> models;
        const Eigen::VectorXd none = Eigen::VectorXd::Zero(x->freedoms());
        const py::iterator end = py::iterator::sentinel();
        py::iterator effort = efforts.is_none() ? py::iterator::sentinel() : py::iter(efforts);
        for (const py::handle entry : states) {
          Eigen::VectorXd e = none;
          if (!efforts.is_none()) {
            if (effort == end) throw py::value_error("there are fewer efforts than states");
            e = read_freedoms(py::cast<FreedomVector>(*effort++), *x, "effort");
          }
          if (!py::isinstance<NamedState>(entry))
            throw py::type_error("a motion is a Run or a sequence of State, not of " +
                                 py::cast<std::string>(entry.get_type().attr("__name__")));
          const State state = py::cast<const NamedState&>(entry).of(*x);
          models.push_back({x, linearize(*x, {state, e, none, {}}, settings, w), settings});
        }
        return models;
      },
      py::arg("mechanism"), py::arg("states"), py::arg("efforts") = py::none(), py::kw_only(),
      py::arg("inputs") = std::vector<std::string>{},
      py::arg("outputs") = std::vector<std::string>{}, py::arg("independent") = py::none(),
      "linearize_along() of the package.");
  m.def(
      "parameter_matrix",
      [](const P& p, const std::vector<std::string>& parameters) {
        const ParameterSet set(*p.mechanism, parameters);
        return parameter_matrix(*p.mechanism, p.linear, set, p.settings);
      },
      py::arg("model"), py::arg("parameters"),
      "(2n, p): E of δẋ = A δx + B δu + E δp, by the names of parameters (ParameterSet).");
  py::class_<Perturbation>(m, "Perturbation", "A and B of a LinearModel by differences.")
      .def_readonly("A", &Perturbation::A, "(2n, 2n).")
      .def_readonly("B", &Perturbation::B, "(2n, inputs).")
      .def_readonly("difference_A", &Perturbation::difference_A, "Relative, Frobenius.")
      .def_readonly("difference_B", &Perturbation::difference_B, "Relative, Frobenius.");
  m.def(
      "linearize_by_perturbation",
      [](const P& p, double step) {
        return linearize_by_perturbation(*p.mechanism, p.linear, p.settings, step);
      },
      py::arg("model"), py::arg("step") = 1e-5,
      "A and B by central differences of the nonlinear model, for comparison.");
  m.def(
      "displaced",
      [](const MechanismPointer& x, const NamedState& state, const std::vector<int>& freedoms,
         const Eigen::VectorXd& dq, const Eigen::VectorXd& dv) {
        return NamedState{x, displaced(*x, state.of(*x), freedoms, dq, dv)};
      },
      py::arg("mechanism"), py::arg("state"), py::arg("freedoms"), py::arg("dq"), py::arg("dv"),
      "The State moved by dq along the tangent directions of independent freedoms, and dv; a "
      "closed "
      "mechanism stays closed.");
  m.def(
      "decoupling_gains",
      [](const P& p, const Eigen::VectorXd& frequency, const Eigen::VectorXd& damping) {
        DecouplingGains gains = decoupling_gains(p.linear, frequency, damping);
        return std::make_pair(std::move(gains.position), std::move(gains.velocity));
      },
      py::arg("model"), py::arg("frequency"), py::arg("damping"),
      "(position, velocity): gains of δu = -position δq - velocity δv that give each freedom this "
      "frequency (rad/s) and damping ratio.");
}

void bind_modes(py::module_& m) {
  py::class_<Mode> mode(m, "Mode", "A real eigenvalue, or a conjugate pair.");
  mode.def_readonly("eigenvalue", &Mode::eigenvalue, "1/s.")
      .def_readonly("frequency", &Mode::frequency, "|λ|, rad/s.")
      .def_readonly("damping", &Mode::damping, "-Re λ / |λ|.")
      .def_readonly("multiplicity", &Mode::multiplicity, "2 for a pair.")
      .def_property_readonly(
          "shape", [](const Mode& x) { return complex_vector(x.shape); },
          "(n,), complex: positions, the largest entry made 1.");
  bind_enum<Stability>(m, "Stability", "Of a linear model.",
                       {{"stable", Stability::stable},
                        {"marginal", Stability::marginal},
                        {"unstable", Stability::unstable}});
  mode.def(py::pickle(
      [](const Mode& x) {
        return py::make_tuple(x.eigenvalue, x.frequency, x.damping, x.multiplicity,
                              std::vector<std::complex<double>>(x.shape.begin(), x.shape.end()));
      },
      [](const py::tuple& t) {
        Mode x{py::cast<std::complex<double>>(t[0]),
               py::cast<double>(t[1]),
               py::cast<double>(t[2]),
               py::cast<int>(t[3]),
               {}};
        const auto shape = py::cast<std::vector<std::complex<double>>>(t[4]);
        x.shape = Eigen::Map<const Eigen::VectorXcd>(shape.data(),
                                                     static_cast<Eigen::Index>(shape.size()));
        return x;
      }));
  using A = ModalAnalysis;
  py::class_<A> analysis(m, "ModalAnalysis", "The modes of a linear model and its stability.");
  analysis.def_readonly("modes", &ModalAnalysis::modes, "list of Mode, by frequency.")
      .def_readonly("stability", &ModalAnalysis::stability, "Stability.")
      .def_readonly("growth", &ModalAnalysis::growth, "1/s, the largest real part.")
      .def_readonly("tolerance", &ModalAnalysis::tolerance,
                    "1/s: real parts within this of zero count as zero.");
  picklable(analysis, &A::modes, &A::stability, &A::growth, &A::tolerance);
  m.def(
      "modes", [](const NamedLinearModel& p) { return modes(p.linear); }, py::arg("model"),
      "Eigenvalues, frequencies, damping and shapes of a LinearModel, and its stability.");
  m.def(
      "modes", [](const Eigen::MatrixXd& a) { return modes(a); }, py::arg("A"),
      "The same of a matrix (n, n).");
  py::class_<NamedEquilibrium> equilibrium(m, "Equilibrium", "What find_equilibrium() found.");
  equilibrium
      .def_property_readonly(
          "found", [](const NamedEquilibrium& e) { return e.found.found; },
          "Whether everything is balanced.")
      .def_property_readonly(
          "state",
          [](const NamedEquilibrium& e) {
            return NamedState{e.mechanism, e.found.state};
          },
          "The State, or the nearest to one that was found.")
      .def_property_readonly(
          "effort", [](const NamedEquilibrium& e) { return e.found.effort; },
          "(freedoms,): the given ones, and those of held freedoms.")
      .def_property_readonly(
          "unbalanced", [](const NamedEquilibrium& e) { return e.found.unbalanced; },
          "(freedoms,): efforts that are missing.")
      .def_property_readonly(
          "residual", [](const NamedEquilibrium& e) { return e.found.residual; },
          "The largest effort that is missing, N m or N.")
      .def_property_readonly(
          "acceleration", [](const NamedEquilibrium& e) { return e.found.acceleration; },
          "The largest there is with these efforts, rad/s² or m/s².")
      .def_property_readonly(
          "iterations", [](const NamedEquilibrium& e) { return e.found.iterations; },
          "How many it took.")
      .def_property_readonly(
          "modes", [](const NamedEquilibrium& e) { return e.found.modes; }, "ModalAnalysis there.")
      .def_property_readonly(
          "reason", [](const NamedEquilibrium& e) { return e.found.reason; },
          "What cannot be balanced, in words.");
  using E = Equilibrium;
  picklable_of_mechanism(equilibrium, &NamedEquilibrium::found, &E::found, &E::state, &E::effort,
                         &E::unbalanced, &E::residual, &E::acceleration, &E::iterations, &E::modes,
                         &E::reason);
  m.def(
      "find_equilibrium",
      [](const MechanismPointer& x, const NamedState& guess, const FreedomVector& effort,
         const Freedoms& held, const Wrenches& external, double tolerance, int iterations) {
        const OperatingPoint point = point_of(*x, guess, effort, {}, external);
        const EquilibriumSettings settings{read_mask(held, *x), tolerance, iterations};
        const py::gil_scoped_release release;
        return NamedEquilibrium{x, find_equilibrium(*x, point, settings)};
      },
      py::arg("mechanism"), py::arg("guess"), py::arg("effort") = py::none(), py::kw_only(),
      py::arg("held") = py::none(), py::arg("external") = py::none(),
      py::arg("tolerance") = EquilibriumSettings{}.tolerance,
      py::arg("iterations") = EquilibriumSettings{}.iterations,
      "A position near a closed guess in which nothing accelerates: an Equilibrium.\n\n"
      "held: freedoms that keep their position and take the effort they need.\n"
      "tolerance: on the unbalanced efforts, against the largest of their parts.\n"
      "iterations: at most so many.");
}

}  // namespace

void bind_linear(py::module_& m) {
  bind_plants(m);
  bind_modes(m);
}

}  // namespace catena::python
