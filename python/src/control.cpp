// SPDX-License-Identifier: BSD-3-Clause
// Linear systems and control design: the package catena.control.
#include <complex>

#include "control_parts.h"
#include "support/arguments.h"
#include <pybind11/complex.h>

#include "catena/components/controller_file.h"
#include "catena/control/gramians.h"
#include "catena/control/hinf.h"
#include "catena/control/lqg.h"
#include "catena/control/margins.h"
#include "catena/control/mixsyn.h"
#include "catena/control/norms.h"
#include "catena/control/place.h"
#include "catena/control/reduction.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/connect.h"
#include "catena/linear/discretize.h"
#include "catena/linear/files/system_file.h"
#include "catena/linear/freqresp.h"
#include "catena/linear/minreal.h"
#include "catena/linear/timeresp.h"

namespace catena::python {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Names = std::vector<std::string>;
using ComplexArray = py::array_t<std::complex<double>>;

Eigen::VectorXcd complex_values(const std::vector<std::complex<double>>& x) {
  return Eigen::Map<const Eigen::VectorXcd>(x.data(), std::ssize(x));
}

// (outputs, inputs, frequencies), as python-control has it.
ComplexArray response_array(const FrequencyData& r) {
  ComplexArray result({r.output_count, r.input_count, r.size()});
  auto to = result.mutable_unchecked<3>();
  for (int k = 0; k < r.size(); ++k)
    for (int j = 0; j < r.input_count; ++j)
      for (int i = 0; i < r.output_count; ++i) to(i, j, k) = r.value(i, j, k);
  return result;
}

py::array_t<double> entries_array(const MatrixXd& values, int outputs, int inputs) {
  const py::ssize_t count = values.cols();
  py::array_t<double> result(
      {static_cast<py::ssize_t>(outputs), static_cast<py::ssize_t>(inputs), count});
  auto to = result.mutable_unchecked<3>();
  for (py::ssize_t k = 0; k < count; ++k)
    for (py::ssize_t j = 0; j < inputs; ++j)
      for (py::ssize_t i = 0; i < outputs; ++i) to(i, j, k) = values(i + j * outputs, k);
  return result;
}

py::array_t<double> time_array(const TimeResponse& r) {
  const auto inputs = static_cast<py::ssize_t>(r.y.size());
  const py::ssize_t outputs = r.y.empty() ? 0 : r.y[0].rows(), count = r.t.size();
  py::array_t<double> result({outputs, inputs, count});
  auto to = result.mutable_unchecked<3>();
  for (py::ssize_t j = 0; j < inputs; ++j)
    for (py::ssize_t i = 0; i < outputs; ++i)
      for (py::ssize_t k = 0; k < count; ++k) to(i, j, k) = r.y[static_cast<std::size_t>(j)](i, k);
  return result;
}

void bind_system(py::module_& m) {
  py::class_<StateSpace>(m, "StateSpace",
                         "A linear system, E x' = A x + B u, y = C x + D u, continuous (dt = 0) or "
                         "sampled, with names of its signals, delays and operating point.")
      .def(py::init([](const MatrixXd& A, const MatrixXd& B, const MatrixXd& C, const MatrixXd& D,
                       double dt, const Names& states, const Names& inputs, const Names& outputs,
                       const std::string& mechanism, const VectorXd& q, const VectorXd& v,
                       const VectorXd& u0) {
             StateSpace s = A.size() > 0 ? ss(A, B, C, D, dt) : ss(D, dt);
             if (!states.empty()) s.states = states;
             if (!inputs.empty()) s.inputs = inputs;
             if (!outputs.empty()) s.outputs = outputs;
             if (!mechanism.empty()) {
               s.point = SystemPoint{.mechanism = mechanism, .q = q, .v = v};
               s.point->u0 = u0;
             }
             s.validate();
             return s;
           }),
           py::arg("A") = MatrixXd(), py::arg("B") = MatrixXd(), py::arg("C") = MatrixXd(),
           py::arg("D") = MatrixXd(), py::kw_only(), py::arg("dt") = 0.0,
           py::arg("states") = Names(), py::arg("inputs") = Names(), py::arg("outputs") = Names(),
           py::arg("mechanism") = "", py::arg("q") = VectorXd(), py::arg("v") = VectorXd(),
           py::arg("u0") = VectorXd(),
           "From matrices; D alone is a gain. mechanism, q, v and u0 (efforts at the inputs) are "
           "the "
           "operating point.")
      .def_readonly("A", &StateSpace::A, "(n, n).")
      .def_readonly("B", &StateSpace::B, "(n, inputs).")
      .def_readonly("C", &StateSpace::C, "(outputs, n).")
      .def_readonly("D", &StateSpace::D, "(outputs, inputs).")
      .def_readonly("dt", &StateSpace::dt, "Sample time, s; 0: continuous.")
      .def_readonly("states", &StateSpace::states, "list of str.")
      .def_readonly("inputs", &StateSpace::inputs, "list of str.")
      .def_readonly("outputs", &StateSpace::outputs, "list of str.")
      .def_property_readonly("order", &StateSpace::order, "Number of states.")
      .def_property_readonly(
          "u0", [](const StateSpace& s) { return s.point ? s.point->u0 : VectorXd(); },
          "(inputs,): efforts at the operating point; empty: not known.")
      .def_property_readonly(
          "q", [](const StateSpace& s) { return s.point ? s.point->q : VectorXd(); },
          "Coordinates of the mechanism at the operating point; empty: not from a mechanism.")
      .def(
          "__call__",
          [](const StateSpace& s, std::complex<double> at) {
            return complex_matrix(evaluate(s, at));
          },
          py::arg("s"), "(outputs, inputs): the transfer matrix at a point of the complex plane.")
      .def("__add__", [](const StateSpace& a, const StateSpace& b) { return a + b; })
      .def("__sub__", [](const StateSpace& a, const StateSpace& b) { return a - b; })
      .def("__neg__", [](const StateSpace& a) { return -a; })
      .def("__mul__", [](const StateSpace& a, const StateSpace& b) { return a * b; })
      .def("__rmul__", [](const StateSpace& a, double gain) { return gain * a; })
      .def("__repr__", [](const StateSpace& s) {
        return "<StateSpace: " + std::to_string(s.order()) + " states, " +
               std::to_string(s.input_count()) + " inputs, " + std::to_string(s.output_count()) +
               " outputs" + (s.is_discrete() ? ", sampled" : "") + ">";
      });
  m.def(
      "ss",
      [](const MatrixXd& A, const MatrixXd& B, const MatrixXd& C, const MatrixXd& D, double dt) {
        return ss(A, B, C, D, dt);
      },
      py::arg("A"), py::arg("B"), py::arg("C"), py::arg("D") = MatrixXd(), py::arg("dt") = 0.0,
      "A system from its matrices.");
  m.def("load_system", &load_system, py::arg("path"), "From a YAML or HDF5 file.");
  m.def("save_system", &save_system, py::arg("system"), py::arg("path"), "To YAML or HDF5.");
  m.def("controller_for", &controller_for, py::arg("plant"), py::arg("controller"),
        "u = K y of a design, with the names of the plant's signals and its operating point: what "
        "`catena simulate --controller` runs.");
  m.def(
      "load_controller", [](const std::string& path) { return load_controller(path).system; },
      py::arg("path"), "The system of a controller file.");
}

void bind_algebra(py::module_& m) {
  using S = StateSpace;
  m.def("series", py::overload_cast<const S&, const S&>(&series), py::arg("first"),
        py::arg("second"), "y = second(first(u)).");
  m.def("parallel", py::overload_cast<const S&, const S&>(&parallel), py::arg("a"), py::arg("b"),
        "y = a(u) + b(u).");
  m.def(
      "feedback",
      [](const S& forward, const std::optional<S>& back, int sign) {
        return back ? feedback(forward, *back, sign) : feedback(forward, sign);
      },
      py::arg("forward"), py::arg("back") = py::none(), py::arg("sign") = -1,
      "y = forward(r + sign back(y)).");
  m.def(
      "lft", [](const S& p, const S& k) { return lft(p, k); }, py::arg("p"), py::arg("k"),
      "Lower linear fractional transformation.");
  m.def(
      "append", [](const std::vector<S>& systems) { return append(systems); }, py::arg("systems"),
      "Blocks on the diagonal.");
  m.def(
      "connect",
      [](const std::vector<S>& systems, const Names& inputs, const Names& outputs) {
        return connect(systems, inputs, outputs);
      },
      py::arg("systems"), py::arg("inputs"), py::arg("outputs"), "By the names of the signals.");
  m.def("summing_junction", &summing_junction, py::arg("formula"), py::arg("width") = 1,
        "The gain of a sum: \"e = r - y\".");
  m.def(
      "select",
      [](const S& s, const Names& outputs, const Names& inputs) {
        return select(s, outputs, inputs);
      },
      py::arg("system"), py::arg("outputs"), py::arg("inputs"), "Channels by name.");
  m.def(
      "minreal", [](const S& s) { return minreal(s); }, py::arg("system"),
      "Without uncontrollable and unobservable states.");
  const auto hold = [](const std::string& name) {
    if (name == "zoh") return Hold::zoh;
    if (name == "foh") return Hold::foh;
    if (name == "tustin") return Hold::tustin;
    throw NameError("'" + name + "' is no hold; it is one of zoh, foh and tustin");
  };
  m.def(
      "c2d",
      [hold](const S& s, double dt, const std::string& method, double prewarp) {
        return c2d(s, dt, {.method = hold(method), .prewarp = prewarp});
      },
      py::arg("system"), py::arg("dt"), py::arg("method") = "zoh", py::arg("prewarp") = 0.0,
      "Sampled every dt seconds: zoh, foh or tustin.");
  m.def(
      "d2c",
      [hold](const S& s, const std::string& method) { return d2c(s, {.method = hold(method)}); },
      py::arg("system"), py::arg("method") = "zoh", "From sampled to continuous.");
  m.def(
      "pade", [](double delay, int order) { return pade(delay, order); }, py::arg("delay"),
      py::arg("order"), "A delay (s) as a rational all-pass.");
}

py::dict stepinfo_dict(const StepInfo& f) {
  py::dict d;
  d["steady_state"] = f.steady_state;
  d["rise_time"] = f.rise_time;
  d["settling_time"] = f.settling_time;
  d["overshoot"] = f.overshoot;
  d["undershoot"] = f.undershoot;
  d["peak"] = f.peak;
  d["peak_time"] = f.peak_time;
  d["stable"] = f.stable;
  return d;
}

void bind_responses(py::module_& m) {
  using S = StateSpace;
  m.def(
      "poles", [](const S& s) { return complex_array(poles(s)); }, py::arg("system"), "(n,).");
  m.def(
      "zeros", [](const S& s) { return complex_array(zeros(s)); }, py::arg("system"),
      "Invariant zeros.");
  m.def("dcgain", &dcgain, py::arg("system"), "(outputs, inputs); infinite behind integrators.");
  m.def("is_stable", &is_stable, py::arg("system"), "Whether all poles are.");
  m.def(
      "damp",
      [](const S& s) {
        py::list list;
        for (const PoleInfo& p : damp(s)) {
          py::dict d;
          d["pole"] = p.pole;
          d["frequency"] = p.frequency;
          d["damping"] = p.damping;
          d["time_constant"] = p.time_constant;
          list.append(d);
        }
        return list;
      },
      py::arg("system"), "list of dict: pole, frequency (rad/s), damping, time_constant (s).");
  m.def(
      "freqresp",
      [](const S& s, const VectorXd& omega) { return response_array(freqresp(s, omega)); },
      py::arg("system"), py::arg("omega"), "(outputs, inputs, frequencies), complex; rad/s.");
  m.def(
      "bode",
      [](const S& s, double from, double to) {
        const Bode b = bode(s, {.from = from, .to = to});
        return py::make_tuple(entries_array(b.magnitude, s.output_count(), s.input_count()),
                              entries_array(b.phase, s.output_count(), s.input_count()),
                              b.response.omega);
      },
      py::arg("system"), py::arg("from_") = 0.0, py::arg("to") = 0.0,
      "(magnitude, phase in degrees, omega), on a grid that misses no peak.");
  m.def(
      "sigma",
      [](const S& s) {
        const SingularValues v = sigma(s);
        return py::make_tuple(v.values, v.omega);
      },
      py::arg("system"), "(singular values, omega): one column for each frequency.");
  m.def(
      "nyquist",
      [](const S& s) {
        const Nyquist n = nyquist(s);
        py::dict d;
        d["response"] = response_array(n.response);
        d["omega"] = n.response.omega;
        d["encirclements"] = n.encirclements;
        d["unstable_poles"] = n.unstable_poles;
        d["closed_loop_stable"] = n.closed_loop_stable;
        return d;
      },
      py::arg("loop"), "dict: response, omega, encirclements, unstable_poles, closed_loop_stable.");
  m.def(
      "step",
      [](const S& s, const VectorXd& t) {
        const TimeResponse r = step(s, t);
        return py::make_tuple(r.t, time_array(r));
      },
      py::arg("system"), py::arg("t") = VectorXd(), "(t, y): y (outputs, inputs, times).");
  m.def(
      "impulse",
      [](const S& s, const VectorXd& t) {
        const TimeResponse r = impulse(s, t);
        return py::make_tuple(r.t, time_array(r));
      },
      py::arg("system"), py::arg("t") = VectorXd(), "(t, y): y (outputs, inputs, times).");
  m.def(
      "lsim",
      [](const S& s, const MatrixXd& u, const VectorXd& t, const VectorXd& x0) {
        return MatrixXd(lsim(s, u, t, {.x0 = x0}).y[0]);
      },
      py::arg("system"), py::arg("u"), py::arg("t"), py::arg("x0") = VectorXd(),
      "(outputs, times), of u (inputs, times) that is linear between the times.");
  m.def(
      "stepinfo",
      [](const S& s) {
        const StepInfoTable table = stepinfo(s);
        py::list rows;
        for (int i = 0; i < table.outputs; ++i) {
          py::list row;
          for (int j = 0; j < table.inputs; ++j) row.append(stepinfo_dict(table(i, j)));
          rows.append(row);
        }
        return rows;
      },
      py::arg("system"), "Features of the step response of [output][input]: a dict.");
}

py::dict peak_dict(const PeakGain& p) {
  py::dict d;
  d["value"] = p.value;
  d["frequency"] = p.frequency;
  d["lower"] = p.certificate.lower;
  d["upper"] = p.certificate.upper;
  return d;
}

void bind_analysis(py::module_& m) {
  using S = StateSpace;
  py::class_<Certificate>(m, "Certificate", "What was checked about a result, with the numbers.")
      .def_property_readonly("passed", &Certificate::passed, "bool: all checks.")
      .def_property_readonly(
          "checks",
          [](const Certificate& c) {
            py::list list;
            for (const Check& check : c.checks)
              list.append(
                  py::make_tuple(check.name, check.passed, check.value, check.limit, check.detail));
            return list;
          },
          "list of (name, passed, value, limit, detail).")
      .def_readonly("remarks", &Certificate::remarks, "list of str.")
      .def_readonly("worst_frequency", &Certificate::worst_frequency, "rad/s.")
      .def("__str__", &Certificate::text)
      .def("__repr__", [](const Certificate& c) {
        return std::string("<Certificate: ") + (c.passed() ? "passed" : "FAILED") + ", " +
               std::to_string(c.checks.size()) + " checks>";
      });
  m.def(
      "gram",
      [](const S& s, const std::string& kind) {
        if (kind != "c" && kind != "o")
          throw NameError("'" + kind + "' is no Gramian; it is 'c' (controllability) or 'o'");
        return gram(s, kind == "c" ? GramianKind::controllability : GramianKind::observability);
      },
      py::arg("system"), py::arg("kind"), "(n, n): 'c' controllability, 'o' observability.");
  m.def("hsvd", &hsvd, py::arg("system"), "Hankel singular values, largest first.");
  m.def(
      "balreal", [](const S& s) { return balreal(s).system; }, py::arg("system"),
      "The balanced realization of the minimal part.");
  m.def("h2norm", &h2norm, py::arg("system"), "float.");
  m.def("hankelnorm", &hankelnorm, py::arg("system"), "float.");
  m.def(
      "hinfnorm", [](const S& s) { return peak_dict(hinfnorm(s)); }, py::arg("system"),
      "dict: value, frequency (rad/s), lower and upper, which are certified.");
  m.def(
      "nugap",
      [](const S& a, const S& b) {
        const NuGap g = nugap(a, b);
        return py::make_tuple(g.value, g.frequency);
      },
      py::arg("a"), py::arg("b"), "(distance for feedback in [0, 1], frequency).");
  m.def(
      "margin",
      [](const S& loop) {
        const Margins x = margin(loop);
        py::dict d;
        d["stable"] = x.stable;
        d["gain_up"] = x.gain_margin_up;
        d["gain_down"] = x.gain_margin_down;
        d["phase"] = x.phase_margin;
        d["delay"] = x.delay_margin;
        return d;
      },
      py::arg("loop"), "dict: gain_up, gain_down, phase (rad), delay (s) of 1 + L = 0.");
  m.def(
      "diskmargin",
      [](const S& loop, double skew) {
        const DiskMargin x = diskmargin(loop, skew);
        py::dict d;
        d["alpha"] = x.alpha;
        d["frequency"] = x.frequency;
        d["gain_down"] = x.gain_down;
        d["gain_up"] = x.gain_up;
        d["phase"] = x.phase;
        return d;
      },
      py::arg("loop"), py::arg("skew") = 0.0, "dict: alpha, frequency, gain_down, gain_up, phase.");
  m.def(
      "ncfmargin",
      [](const S& plant, const S& controller) {
        const NcfMargin x = ncfmargin(plant, controller);
        return py::make_tuple(x.value, x.frequency);
      },
      py::arg("plant"), py::arg("controller"), "(b(P, C), frequency), negative feedback.");
}

void bind_quadratic(py::module_& m) {
  using S = StateSpace;
  py::class_<LqrResult>(m, "LqrResult", "State feedback u = -K x.")
      .def_readonly("K", &LqrResult::K, "(inputs, n).")
      .def_readonly("X", &LqrResult::X, "(n, n): xᵀ X x is the cost to go.")
      .def_property_readonly(
          "poles", [](const LqrResult& r) { return complex_array(r.poles); }, "Of the loop.")
      .def_readonly("certificate", &LqrResult::certificate, "What was checked.");
  py::class_<KalmanResult>(m, "KalmanResult", "The filter x̂' = A x̂ + B u + L (y - C x̂ - D u).")
      .def_readonly("L", &KalmanResult::L, "(n, outputs).")
      .def_readonly("P", &KalmanResult::P, "(n, n): error covariance.")
      .def_readonly("filter", &KalmanResult::filter, "StateSpace from (u, y) to x̂.")
      .def_readonly("certificate", &KalmanResult::certificate, "What was checked.");
  py::class_<LqgResult>(m, "LqgResult", "Output feedback u = K y.")
      .def_readonly("controller", &LqgResult::controller, "StateSpace, positive feedback.")
      .def_readonly("regulator", &LqgResult::regulator, "LqrResult.")
      .def_readonly("filter", &LqgResult::filter, "KalmanResult.")
      .def_readonly("cost", &LqgResult::cost, "Expected, in steady state.")
      .def_property_readonly(
          "poles", [](const LqgResult& r) { return complex_array(r.poles); }, "Of the loop.")
      .def_readonly("certificate", &LqgResult::certificate, "What was checked.");
  m.def("lqr", &lqr, py::arg("plant"), py::arg("Q"), py::arg("R"), py::arg("S") = MatrixXd(),
        "Least ∫ xᵀQx + 2 xᵀSu + uᵀRu; sums for sampled plants.");
  m.def("kalman", &kalman, py::arg("plant"), py::arg("W"), py::arg("V"), py::arg("G") = MatrixXd(),
        py::arg("N") = MatrixXd(), "The filter for white noises of intensities W (through G), V.");
  m.def("lqg", &lqg, py::arg("plant"), py::arg("Q"), py::arg("R"), py::arg("W"), py::arg("V"),
        py::arg("G") = MatrixXd(), py::arg("S") = MatrixXd(), "Both together.");
  m.def(
      "lqi",
      [](const S& plant, const MatrixXd& Q, const MatrixXd& R) {
        return lqi(plant, Q, R).regulator;
      },
      py::arg("plant"), py::arg("Q"), py::arg("R"),
      "State feedback of [x; integral of the tracking error].");
  m.def(
      "place",
      [](const S& plant, const std::vector<std::complex<double>>& wanted) {
        return place(plant, complex_values(wanted)).K;
      },
      py::arg("plant"), py::arg("poles"), "K of u = -K x with these poles.");
  m.def(
      "place_output",
      [](const S& plant, const std::vector<std::complex<double>>& wanted) {
        const OutputPlacement r = place_output(plant, complex_values(wanted));
        return py::make_tuple(r.K, complex_array(r.spectrum));
      },
      py::arg("plant"), py::arg("poles"), "(K of u = -K y, all poles of the loop).");
}

void bind_robust(py::module_& m) {
  using S = StateSpace;
  py::class_<H2Result>(m, "H2Result", "What h2syn() finds.")
      .def_readonly("controller", &H2Result::controller, "StateSpace, u = K y.")
      .def_readonly("loop", &H2Result::loop, "StateSpace from w to z.")
      .def_readonly("norm", &H2Result::norm, "H2 norm of the loop.")
      .def_readonly("certificate", &H2Result::certificate, "What was checked.");
  py::class_<HinfResult>(m, "HinfResult", "What hinfsyn() finds.")
      .def_readonly("controller", &HinfResult::controller, "StateSpace, u = K y.")
      .def_readonly("loop", &HinfResult::loop, "StateSpace from w to z.")
      .def_readonly("gamma", &HinfResult::gamma, "Certified bound of the loop's norm.")
      .def_readonly("lower", &HinfResult::lower, "A level that fails an existence test.")
      .def_readonly("certificate", &HinfResult::certificate, "What was checked.");
  py::class_<Weight>(m, "Weight", "A weight over frequency, proper or not.");
  m.def("makeweight", &makeweight, py::arg("low"), py::arg("crossover"), py::arg("high"),
        "|W| is low at zero, 1 at the crossover (rad/s), high at infinity.");
  m.def(
      "h2syn",
      [](const S& P, int measurements, int controls) {
        return h2syn({P, measurements, controls});
      },
      py::arg("P"), py::arg("measurements"), py::arg("controls"),
      "The controller with the least H2 norm of the loop.");
  m.def(
      "hinfsyn",
      [](const S& P, int measurements, int controls, double tolerance) {
        return hinfsyn({P, measurements, controls}, {.tolerance = tolerance});
      },
      py::arg("P"), py::arg("measurements"), py::arg("controls"), py::arg("tolerance") = 0.01,
      "The controller with the least H-infinity norm of the loop.");
  m.def(
      "mixsyn",
      [](const S& plant, const py::object& w1, const py::object& w2, const py::object& w3,
         double tolerance) {
        const MixsynResult r =
            mixsyn(plant, weight_of(w1), weight_of(w2), weight_of(w3), {.tolerance = tolerance});
        return py::make_tuple(r.controller, r.hinf);
      },
      py::arg("plant"), py::arg("w1") = py::none(), py::arg("w2") = py::none(),
      py::arg("w3") = py::none(), py::arg("tolerance") = 0.01,
      "(controller of u = K (r - y), HinfResult).");
  m.def(
      "augw",
      [](const S& plant, const py::object& w1, const py::object& w2, const py::object& w3) {
        const GeneralizedPlant P = augw(plant, weight_of(w1), weight_of(w2), weight_of(w3));
        return py::make_tuple(P.system, P.measurements, P.controls);
      },
      py::arg("plant"), py::arg("w1"), py::arg("w2") = py::none(), py::arg("w3") = py::none(),
      "(generalized plant, measurements, controls) of mixsyn.");
  m.def(
      "ncfsyn",
      [](const S& plant, const std::optional<S>& w1, const std::optional<S>& w2) {
        const NcfsynResult r = ncfsyn(plant, w1, w2);
        return py::make_tuple(r.controller, r.margin, r.certificate);
      },
      py::arg("plant"), py::arg("w1") = py::none(), py::arg("w2") = py::none(),
      "(controller in negative feedback, margin b(P, C), certificate).");
  m.def(
      "reduce",
      [](const S& s, int order, double tolerance, const std::string& method, bool match_dc,
         const std::optional<S>& input_weight, const std::optional<S>& output_weight) {
        static const Names kMethods{"balanced", "stochastic", "hankel", "modal"};
        ReductionSettings settings{.order = order, .tolerance = tolerance};
        settings.match_dc = match_dc;
        settings.input_weight = input_weight;
        settings.output_weight = output_weight;
        const auto found = std::find(kMethods.begin(), kMethods.end(), method);
        if (found == kMethods.end())
          throw NameError("'" + method + "' is no method of reduction; it is one of " +
                          listed(kMethods));
        settings.method = static_cast<ReductionMethod>(found - kMethods.begin());
        const Reduction r = reduce(s, settings);
        return py::make_tuple(r.system, r.error.value, r.certificate);
      },
      py::arg("system"), py::arg("order") = -1, py::arg("tolerance") = 1e-3,
      py::arg("method") = "balanced", py::arg("match_dc") = false,
      py::arg("input_weight") = py::none(), py::arg("output_weight") = py::none(),
      "(system of less order, true error, certificate).");
}

}  // namespace

ComplexArray complex_matrix(const Eigen::MatrixXcd& x) {
  ComplexArray result({x.rows(), x.cols()});
  auto to = result.mutable_unchecked<2>();
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (Eigen::Index j = 0; j < x.cols(); ++j) to(i, j) = x(i, j);
  return result;
}

ComplexArray complex_array(const Eigen::VectorXcd& x) {
  ComplexArray result(x.size());
  std::copy(x.data(), x.data() + x.size(), result.mutable_data());
  return result;
}

Weight weight_of(const py::object& x) {
  if (x.is_none()) return {};
  if (py::isinstance<StateSpace>(x)) return weight(py::cast<StateSpace>(x));
  if (py::isinstance<Weight>(x)) return py::cast<Weight>(x);
  return weight(py::cast<double>(x));
}

void bind_control(py::module_& module) {
  py::module_ m = module.def_submodule("_control", "Linear systems and control design.");
  bind_system(m);
  bind_algebra(m);
  bind_responses(m);
  bind_analysis(m);
  bind_quadratic(m);
  bind_robust(m);
  bind_control_designs(m);
  bind_control_structures(m);
  bind_control_loops(m);
}

}  // namespace catena::python
