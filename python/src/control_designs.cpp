// SPDX-License-Identifier: BSD-3-Clause
// catena.control, continued: zeros-poles-gain, Nichols, root locus, Riccati equations, recovery,
// reduction of controllers, design on frequency samples.
#include <complex>

#include "control_parts.h"
#include "support/arguments.h"
#include <pybind11/complex.h>
#include <pybind11/functional.h>

#include "catena/control/equations/riccati.h"
#include "catena/control/hinf.h"
#include "catena/control/lqg.h"
#include "catena/control/mixsyn.h"
#include "catena/control/norms.h"
#include "catena/control/reduction.h"
#include "catena/control/wiener_hopf.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/freqresp.h"
#include "catena/linear/timeresp.h"
#include "catena/linear/zpk.h"

namespace catena::python {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using S = StateSpace;

void bind_transfer_functions(py::module_& m) {
  m.def(
      "zpk",
      [](const std::vector<Complex>& zeros, const std::vector<Complex>& poles, double gain,
         double dt) { return state_space(zpk(zeros, poles, gain, dt)); },
      py::arg("zeros"), py::arg("poles"), py::arg("gain"), py::arg("dt") = 0.0,
      "A SISO system from its zeros, poles and gain, as a StateSpace.");
  m.def(
      "tf",
      [](const std::vector<double>& numerator, const std::vector<double>& denominator, double dt) {
        return state_space(tf(numerator, denominator, dt));
      },
      py::arg("numerator"), py::arg("denominator"), py::arg("dt") = 0.0,
      "A SISO system from coefficients, highest power first, as a StateSpace.");
  m.def(
      "zpkdata",
      [](const S& s, int output, int input) {
        const Zpk g = zpk_entry(s, output, input);
        return py::make_tuple(g.zeros, g.poles, g.gain);
      },
      py::arg("system"), py::arg("output") = 0, py::arg("input") = 0,
      "(zeros, poles, gain) of one entry.");
  m.def(
      "inverse", [](const S& s) { return inverse(s); }, py::arg("system"),
      "The system from outputs to inputs; D must be regular.");
}

void bind_curves(py::module_& m) {
  m.def(
      "frequency_grid",
      [](const S& s, double from, double to) {
        return frequency_grid(s, {.from = from, .to = to});
      },
      py::arg("system"), py::arg("from_") = 0.0, py::arg("to") = 0.0,
      "Frequencies (rad/s) between which the Bode plot may be interpolated.");
  m.def(
      "nichols",
      [](const S& s) {
        const Nichols n = nichols(s);
        return py::make_tuple(n.gain_db, n.phase, n.omega);
      },
      py::arg("system"), "(gain in dB, phase in degrees, omega): one row for each entry.");
  m.def(
      "characteristic_loci",
      [](const S& s) {
        const CharacteristicLoci c = characteristic_loci(s);
        return py::make_tuple(complex_matrix(c.values), c.omega);
      },
      py::arg("system"), "(eigenvalues of the response, omega): one row for each curve.");
  m.def(
      "rlocus",
      [](const S& s, const VectorXd& gains) {
        const RootLocus r = rlocus(s, gains);
        return py::make_tuple(complex_matrix(r.poles), r.gains);
      },
      py::arg("system"), py::arg("gains") = VectorXd(),
      "(poles of the loop, gains): one row for each curve.");
  m.def(
      "initial",
      [](const S& s, const VectorXd& x0, const VectorXd& t) {
        const TimeResponse r = initial(s, x0, t);
        return py::make_tuple(r.t, MatrixXd(r.y[0]));
      },
      py::arg("system"), py::arg("x0"), py::arg("t") = VectorXd(),
      "(t, y): the free response, y (outputs, times).");
  m.def(
      "linfnorm",
      [](const S& s) {
        const PeakGain p = linfnorm(s);
        return py::make_tuple(p.value, p.frequency);
      },
      py::arg("system"), "(largest gain over the axis, frequency), stable or not.");
}

py::list modes(const std::vector<ModeTest>& tests) {
  py::list list;
  for (const ModeTest& t : tests) {
    py::dict d;
    d["eigenvalue"] = t.eigenvalue;
    d["strength"] = t.strength;
    d["passed"] = t.passed;
    d["states"] = t.states;
    list.append(d);
  }
  return list;
}

void bind_quadratic_designs(py::module_& m) {
  m.def(
      "controllability", [](const S& s) { return modes(controllability(s)); }, py::arg("system"),
      "list of dict: eigenvalue, strength (0 to 1), passed, states.");
  m.def(
      "observability", [](const S& s) { return modes(observability(s)); }, py::arg("system"),
      "list of dict: eigenvalue, strength (0 to 1), passed, states.");
  m.def("lqry", &lqry, py::arg("plant"), py::arg("Q"), py::arg("R"),
        "State feedback with least ∫ yᵀQy + uᵀRu.");
  m.def("lqrd", &lqrd, py::arg("plant"), py::arg("Q"), py::arg("R"), py::arg("dt"),
        "The sampled regulator of a continuous plant and cost.");
  m.def("lqe", &lqe, py::arg("A"), py::arg("G"), py::arg("C"), py::arg("W"), py::arg("V"),
        py::arg("dt") = 0.0, "The Kalman filter by matrices.");
  m.def(
      "ltr",
      [](const S& plant, const MatrixXd& Q, const MatrixXd& R, const MatrixXd& W, const MatrixXd& V,
         const std::vector<double>& q, const std::string& side) {
        if (side != "input" && side != "output")
          throw NameError("'" + side + "' is no side of the plant; it is 'input' or 'output'");
        const LtrResult r = ltr(plant, Q, R, W, V, q, frequency_grid(plant),
                                side == "input" ? RecoverySide::input : RecoverySide::output);
        py::list steps;
        for (const RecoveryStep& s : r.steps)
          steps.append(py::make_tuple(s.q, s.controller, s.error));
        return py::make_tuple(steps, r.target, r.certificate);
      },
      py::arg("plant"), py::arg("Q"), py::arg("R"), py::arg("W"), py::arg("V"),
      py::arg("q") = std::vector<double>{1.0, 1e2, 1e4, 1e6}, py::arg("side") = "input",
      "(list of (q, controller, distance from the target loop), target loop, certificate).");
  const auto riccati = [](const RiccatiSolution& r) {
    return py::make_tuple(r.X, r.K, complex_array(r.poles), r.residual);
  };
  m.def(
      "care",
      [riccati](const MatrixXd& A, const MatrixXd& B, const MatrixXd& Q, const MatrixXd& R,
                const MatrixXd& T, const MatrixXd& E) {
        return riccati(care({A, B, Q, R, T, E}));
      },
      py::arg("A"), py::arg("B"), py::arg("Q"), py::arg("R"), py::arg("S") = MatrixXd(),
      py::arg("E") = MatrixXd(), "(X, K, poles, residual) of the continuous Riccati equation.");
  m.def(
      "dare",
      [riccati](const MatrixXd& A, const MatrixXd& B, const MatrixXd& Q, const MatrixXd& R,
                const MatrixXd& T, const MatrixXd& E) {
        return riccati(dare({A, B, Q, R, T, E}));
      },
      py::arg("A"), py::arg("B"), py::arg("Q"), py::arg("R"), py::arg("S") = MatrixXd(),
      py::arg("E") = MatrixXd(), "(X, K, poles, residual) of the discrete Riccati equation.");
  m.def(
      "attainable_error",
      [](const S& plant, const MatrixXd& Cz, const MatrixXd& W, const MatrixXd& V,
         const MatrixXd& G) {
        const AttainableError e = attainable_error(plant, Cz, W, V, G);
        return py::make_tuple(e.filter, e.limit, e.attained);
      },
      py::arg("plant"), py::arg("Cz"), py::arg("W"), py::arg("V"), py::arg("G") = MatrixXd(),
      "(error of the filter, limit of cheap control, whether they agree): mean squares.");
}

void bind_more_designs(py::module_& m) {
  m.def(
      "maximize_weight",
      [](const S& plant, const py::object& w1, const py::object& w2, const py::object& w3,
         double tolerance) {
        const WeightMaximum r =
            maximize_weight(plant, weight_of(w1), weight_of(w2), weight_of(w3), tolerance);
        return py::make_tuple(r.rho, r.infeasible, r.design.controller);
      },
      py::arg("plant"), py::arg("w1"), py::arg("w2") = py::none(), py::arg("w3") = py::none(),
      py::arg("tolerance") = 1e-5,
      "(largest factor on w1 with norm 1, a factor that fails, controller of u = K (r - y)).");
  m.def(
      "polynomial_weight",
      [](const std::vector<double>& coefficients) { return polynomial_weight(coefficients); },
      py::arg("coefficients"), "The weight c0 + c1 s + c2 s² + ...");
  m.def(
      "reduce_controller",
      [](const S& plant, const S& controller, int order) {
        const ControllerReduction r = reduce_controller(plant, controller, order);
        return py::make_tuple(r.controller, r.loop_error.value, r.certificate);
      },
      py::arg("plant"), py::arg("controller"), py::arg("order"),
      "(controller of u = K y, weighted error: below 1 the loop stays stable, certificate).");
  using Response = std::function<Complex(double)>;
  m.def(
      "wiener_hopf",
      [](const py::object& plant, const Response& disturbance, const Response& noise, double mu,
         int nodes, double scale) {
        const auto scalar = [](const Response& f) {
          return [f](double w) { return Eigen::MatrixXcd::Constant(1, 1, f(w)); };
        };
        const SampleGrid grid{.nodes = nodes, .scale = scale};
        const bool model = py::isinstance<S>(plant);
        const PlantFactors factors = model ? plant_factors(py::cast<S>(plant)) : PlantFactors{};
        const SampledDesign d =
            model ? wiener_hopf(factors, scalar(disturbance), scalar(noise), mu, grid)
                  : wiener_hopf(scalar(py::cast<Response>(plant)), scalar(disturbance),
                                scalar(noise), mu, grid);
        VectorXd omega(std::ssize(d.controller_samples));
        Eigen::VectorXcd samples(omega.size());
        for (Eigen::Index k = 0; k < omega.size(); ++k) {
          omega[k] = d.grid.frequency(static_cast<int>(k));
          samples[k] = d.controller_samples[static_cast<std::size_t>(k)](0, 0);
        }
        py::dict r;
        r["omega"] = omega;
        r["controller"] = complex_array(samples);
        r["cost"] = d.cost;
        r["error_power"] = d.error_power;
        r["control_power"] = d.control_power;
        r["winding"] = d.winding;
        r["largest_turn"] = d.largest_turn;
        if (!model) return r;
        const RealizedDesign k = realize(py::cast<S>(plant), factors, d);
        r["realized"] = k.controller;
        r["stable"] = k.stable;
        return r;
      },
      py::arg("plant"), py::arg("disturbance"), py::arg("noise"), py::arg("mu"),
      py::arg("nodes") = 4096, py::arg("scale") = 1.0,
      "H2 design on samples of functions of omega (scalar): dict with omega, controller, cost, "
      "error_power, control_power, winding, largest_turn. The plant may be a StateSpace, unstable "
      "too: then also realized, a StateSpace of u = C y in negative feedback, and stable.");
}

}  // namespace

void bind_control_designs(py::module_& m) {
  bind_transfer_functions(m);
  bind_curves(m);
  bind_quadratic_designs(m);
  bind_more_designs(m);
}

}  // namespace catena::python
