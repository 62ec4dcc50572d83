// Derivatives of the dynamics, linear models, equilibria and modes.
#include <complex>

#include "arguments.h"
#include "interrupts.h"
#include <pybind11/complex.h>

#include "catena/dynamics/given_acceleration.h"
#include "catena/sensitivity/derivative_check.h"
#include "catena/sensitivity/equilibrium.h"
#include "catena/sensitivity/forward_derivatives.h"
#include "catena/sensitivity/inverse_derivatives.h"
#include "catena/sensitivity/linearize.h"
#include "catena/sensitivity/modes.h"
#include "catena/sensitivity/parameters.h"
#include "catena/sensitivity/second_derivatives.h"

namespace catena::python {
namespace {

struct PythonSensitivityWorkspace {
  explicit PythonSensitivityWorkspace(MechanismPointer of)
      : mechanism(std::move(of)), workspace(*mechanism) {}
  MechanismPointer mechanism;
  SensitivityWorkspace workspace;
  std::atomic<bool> busy{false};
};

class SensitivityUse {
 public:
  SensitivityUse(const MechanismPointer& mechanism, PythonSensitivityWorkspace* given)
      : given_(given) {
    if (given_ == nullptr) {
      own_ = std::make_unique<PythonSensitivityWorkspace>(mechanism);
      given_ = own_.get();
    }
    if (given_->mechanism != mechanism)
      throw Error("this SensitivityWorkspace was made for another mechanism");
    if (given_->busy.exchange(true, std::memory_order_acquire))
      throw Error(
          "this SensitivityWorkspace is in use by another thread; give every thread its own");
  }
  ~SensitivityUse() { given_->busy.store(false, std::memory_order_release); }
  SensitivityUse(const SensitivityUse&) = delete;
  SensitivityUse& operator=(const SensitivityUse&) = delete;
  SensitivityWorkspace& workspace() { return given_->workspace; }

 private:
  std::unique_ptr<PythonSensitivityWorkspace> own_;
  PythonSensitivityWorkspace* given_;
};

// Accelerations of a closed mechanism that somebody gave (dynamics/given_acceleration.h).
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

// A Plant that knows its mechanism.
struct NamedPlant {
  MechanismPointer mechanism;
  Plant plant;
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

void bind_derivatives(py::module_& m) {
  py::class_<InverseDerivatives> by_inverse(
      m, "InverseDerivatives",
      "Of inverse dynamics; rows: efforts, columns: directions. Freedoms "
      "of a tree, independent freedoms of a closed mechanism.");
  by_inverse.def_readonly("dq", &InverseDerivatives::dq, "(n, n), along tangent directions.")
      .def_readonly("dv", &InverseDerivatives::dv, "(n, n).")
      .def_readonly("da", &InverseDerivatives::da, "(n, n): the mass matrix.");
  picklable(by_inverse, &InverseDerivatives::dq, &InverseDerivatives::dv, &InverseDerivatives::da);
  using F = ForwardDerivatives;
  py::class_<F> by_forward(m, "ForwardDerivatives",
                           "Of forward dynamics; rows: accelerations, columns: directions.");
  by_forward.def_readonly("acceleration", &ForwardDerivatives::acceleration, "(freedoms,).")
      .def_readonly("dq", &ForwardDerivatives::dq, "(n, n), along tangent directions.")
      .def_readonly("dv", &ForwardDerivatives::dv, "(n, n).")
      .def_readonly("deffort", &ForwardDerivatives::deffort, "(n, freedoms).");
  picklable(by_forward, &F::acceleration, &F::dq, &F::dv, &F::deffort);
  using H = HybridDerivatives;
  py::class_<H> by_hybrid(
      m, "HybridDerivatives",
      "Of hybrid dynamics; the input of a motion-driven freedom is its acceleration, that of "
      "another its effort. Rows: what is found, columns: directions.");
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
      "How efforts change with position, velocity and acceleration: analytic, no step size. "
      "Directions of q are tangent directions: integrate(q, ε e_k).");
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
      "How accelerations change with position, velocity and effort: analytic, no step size.");
  m.def(
      "hybrid_dynamics_derivatives",
      [](const MechanismPointer& x, const NamedState& state, const Freedoms& motion_driven,
         const FreedomVector& effort, const FreedomVector& acceleration, W* workspace,
         const Wrenches& external) {
        SensitivityUse use(x, workspace);
        HybridInput input;
        input.motion_driven = read_mask(motion_driven, *x);
        input.motion_driven.resize(static_cast<std::size_t>(x->freedoms()), 0);
        input.effort = read_freedoms(effort, *x, "effort");
        input.acceleration = read_freedoms(acceleration, *x, "acceleration");
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
      .def_readonly("qq", &I2::qq, "∂(∂τ/∂q)/∂q_k.")
      .def_readonly("vq", &I2::vq, "∂(∂τ/∂v)/∂q_k.")
      .def_readonly("vv", &I2::vv, "∂(∂τ/∂v)/∂v_k.")
      .def_readonly("aq", &I2::aq, "∂M/∂q_k.");
  using F2 = ForwardSecondDerivatives;
  py::class_<F2>(m, "ForwardSecondDerivatives",
                 "Of forward dynamics: lists of n matrices, entry k by position or velocity k.")
      .def_readonly("qq", &F2::qq, "∂(∂v̇/∂q)/∂q_k.")
      .def_readonly("qv", &F2::qv, "∂(∂v̇/∂q)/∂v_k.")
      .def_readonly("vq", &F2::vq, "∂(∂v̇/∂v)/∂q_k.")
      .def_readonly("vv", &F2::vv, "∂(∂v̇/∂v)/∂v_k.")
      .def_readonly("uq", &F2::uq, "∂(∂v̇/∂τ)/∂q_k.");
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
      .def_readonly("allowed", &DerivativeCheck::allowed,
                    "How much of that the differences may be wrong by.")
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
      "Every derivative of a mechanism against differences, at random states.");
}

void bind_plants(py::module_& m) {
  using P = NamedPlant;
  py::class_<P>(
      m, "Plant",
      "A linear model δẋ = A δx + B δu, δy = C δx + D δu, x = (q, v), and of second order "
      "M δv̇ = P2 δq + P1 δv + P3 δu. δq are tangent directions of the (independent) "
      "freedoms.")
      .def_property_readonly(
          "A", [](const P& p) { return p.plant.A; }, "(2n, 2n).")
      .def_property_readonly(
          "B", [](const P& p) { return p.plant.B; }, "(2n, inputs).")
      .def_property_readonly(
          "C", [](const P& p) { return p.plant.C; }, "(outputs, 2n).")
      .def_property_readonly(
          "D", [](const P& p) { return p.plant.D; }, "(outputs, inputs).")
      .def_property_readonly(
          "M", [](const P& p) { return p.plant.M; }, "(n, n).")
      .def_property_readonly(
          "P1", [](const P& p) { return p.plant.P1; }, "(n, n).")
      .def_property_readonly(
          "P2", [](const P& p) { return p.plant.P2; }, "(n, n).")
      .def_property_readonly(
          "P3", [](const P& p) { return p.plant.P3; }, "(n, inputs).")
      .def_property_readonly(
          "states", [](const P& p) { return p.plant.states; }, "list of str.")
      .def_property_readonly(
          "inputs", [](const P& p) { return p.plant.inputs; }, "list of str.")
      .def_property_readonly(
          "outputs", [](const P& p) { return p.plant.outputs; }, "list of str.")
      .def_property_readonly(
          "freedoms", [](const P& p) { return p.plant.freedoms; },
          "list of int: the independent freedoms that the states are.")
      .def_property_readonly(
          "mechanism", [](const P& p) { return p.mechanism; }, "The Mechanism it is about.")
      .def_property_readonly(
          "state",
          [](const P& p) {
            return NamedState{p.mechanism, p.plant.point.state};
          },
          "The State it is about.")
      .def_property_readonly(
          "effort", [](const P& p) { return p.plant.point.effort; }, "(freedoms,), there.")
      .def_property_readonly(
          "acceleration", [](const P& p) { return p.plant.acceleration; }, "(freedoms,), there.")
      .def_property_readonly(
          "residual", [](const P& p) { return p.plant.residual; }, "The largest acceleration.")
      .def_property_readonly(
          "speed", [](const P& p) { return p.plant.speed; }, "The largest.")
      .def("__repr__",
           [](const P& p) {
             return "<Plant of '" + p.mechanism->name() + "': " + std::to_string(p.plant.A.rows()) +
                    " states, " + std::to_string(p.plant.B.cols()) + " inputs, " +
                    std::to_string(p.plant.C.rows()) + " outputs>";
           })
      .def(py::pickle(
          [](const P& p) {
            const Plant& x = p.plant;
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
            Plant& x = p.plant;
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
        NamedPlant result{x,
                          {},
                          {list_of(inputs), list_of(outputs), read_mask(motion_driven, *x),
                           read_mask(independent, *x)}};
        const OperatingPoint point = point_of(*x, state, effort, acceleration, external);
        const py::gil_scoped_release release;
        result.plant = linearize(*x, point, result.settings, use.workspace());
        return result;
      },
      py::arg("mechanism"), py::arg("state"), py::arg("effort") = py::none(), py::kw_only(),
      py::arg("inputs") = std::vector<std::string>{},
      py::arg("outputs") = std::vector<std::string>{}, py::arg("motion_driven") = py::none(),
      py::arg("acceleration") = py::none(), py::arg("external") = py::none(),
      py::arg("independent") = py::none(), py::arg("workspace") = py::none(),
      "The Plant about any state, equilibrium or not: analytic.\n\n"
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
        std::vector<NamedPlant> plants;
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
          plants.push_back({x, linearize(*x, {state, e, none, {}}, settings, w), settings});
        }
        return plants;
      },
      py::arg("mechanism"), py::arg("states"), py::arg("efforts") = py::none(), py::kw_only(),
      py::arg("inputs") = std::vector<std::string>{},
      py::arg("outputs") = std::vector<std::string>{}, py::arg("independent") = py::none(),
      "linearize_along() of the package.");
  m.def(
      "parameter_matrix",
      [](const P& p, const std::vector<std::string>& parameters) {
        const ParameterSet set(*p.mechanism, parameters);
        return parameter_matrix(*p.mechanism, p.plant, set, p.settings);
      },
      py::arg("plant"), py::arg("parameters"),
      "(2n, p): E of δẋ = A δx + B δu + E δp, by the names of parameters (ParameterSet).");
  py::class_<Perturbation>(m, "Perturbation", "A and B of a Plant by differences.")
      .def_readonly("A", &Perturbation::A, "(2n, 2n).")
      .def_readonly("B", &Perturbation::B, "(2n, inputs).")
      .def_readonly("difference_A", &Perturbation::difference_A, "Relative, Frobenius.")
      .def_readonly("difference_B", &Perturbation::difference_B, "Relative, Frobenius.");
  m.def(
      "linearize_by_perturbation",
      [](const P& p, double step) {
        return linearize_by_perturbation(*p.mechanism, p.plant, p.settings, step);
      },
      py::arg("plant"), py::arg("step") = 1e-5,
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
        DecouplingGains gains = decoupling_gains(p.plant, frequency, damping);
        return std::make_pair(std::move(gains.position), std::move(gains.velocity));
      },
      py::arg("plant"), py::arg("frequency"), py::arg("damping"),
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
      "modes", [](const NamedPlant& p) { return modes(p.plant); }, py::arg("plant"),
      "Eigenvalues, frequencies, damping and shapes of a Plant, and its stability.");
  m.def(
      "modes", [](const Eigen::MatrixXd& a) { return modes(a); }, py::arg("A"),
      "The same of a matrix (n, n).");
  using E = std::pair<MechanismPointer, Equilibrium>;
  struct NamedEquilibrium : E {};
  py::class_<NamedEquilibrium>(m, "Equilibrium", "What find_equilibrium() found.")
      .def_property_readonly(
          "found", [](const NamedEquilibrium& e) { return e.second.found; },
          "Whether everything is balanced.")
      .def_property_readonly(
          "state",
          [](const NamedEquilibrium& e) {
            return NamedState{e.first, e.second.state};
          },
          "The State, or the nearest to one that was found.")
      .def_property_readonly(
          "effort", [](const NamedEquilibrium& e) { return e.second.effort; },
          "(freedoms,): the given ones, and those of held freedoms.")
      .def_property_readonly(
          "unbalanced", [](const NamedEquilibrium& e) { return e.second.unbalanced; },
          "(freedoms,): efforts that are missing.")
      .def_property_readonly(
          "residual", [](const NamedEquilibrium& e) { return e.second.residual; },
          "The largest effort that is missing, N m or N.")
      .def_property_readonly(
          "acceleration", [](const NamedEquilibrium& e) { return e.second.acceleration; },
          "The largest there is with these efforts, rad/s² or m/s².")
      .def_property_readonly(
          "iterations", [](const NamedEquilibrium& e) { return e.second.iterations; },
          "How many it took.")
      .def_property_readonly(
          "modes", [](const NamedEquilibrium& e) { return e.second.modes; }, "ModalAnalysis there.")
      .def_property_readonly(
          "reason", [](const NamedEquilibrium& e) { return e.second.reason; },
          "What cannot be balanced, in words.");
  m.def(
      "find_equilibrium",
      [](const MechanismPointer& x, const NamedState& guess, const FreedomVector& effort,
         const Freedoms& held, const Wrenches& external, double tolerance, int iterations) {
        const OperatingPoint point = point_of(*x, guess, effort, {}, external);
        const EquilibriumSettings settings{read_mask(held, *x), tolerance, iterations};
        const py::gil_scoped_release release;
        return NamedEquilibrium{{x, find_equilibrium(*x, point, settings)}};
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
                "\"gravity.z\", ...), and derivatives by them. all_names() lists them.")
      .def(py::init<MechanismPointer, std::vector<std::string>>(), py::arg("mechanism"),
           py::arg("names"))
      .def_property_readonly(
          "names", [](const P& p) { return p.parameters.names(); }, "list of str.")
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
            HybridInput input;
            input.motion_driven = read_mask(motion_driven, *p.mechanism);
            input.motion_driven.resize(static_cast<std::size_t>(p.mechanism->freedoms()), 0);
            input.effort = read_freedoms(effort, *p.mechanism, "effort");
            input.acceleration = read_freedoms(acceleration, *p.mechanism, "acceleration");
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
  bind_plants(m);
  bind_modes(m);
}

}  // namespace catena::python
