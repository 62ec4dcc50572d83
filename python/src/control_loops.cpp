// SPDX-License-Identifier: BSD-3-Clause
// catena.control, continued: verification on the nonlinear mechanism, controller files, descriptor
// form, delays, measured responses, polynomial matrices.
#include <complex>

#include "control_parts.h"
#include "support/arguments.h"
#include <pybind11/complex.h>

#include "catena/base/text.h"
#include "catena/components/controller_file.h"
#include "catena/control/equations/lyapunov.h"
#include "catena/control/equations/polynomial_matrix.h"
#include "catena/control/hinf.h"
#include "catena/control/margins.h"
#include "catena/control/nonlinear/verify_loop.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/frequency_data.h"

namespace catena::python {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Names = std::vector<std::string>;
using S = StateSpace;
using ComplexArray = py::array_t<std::complex<double>>;

// ---- Verification -------------------------------------------------------------------------------

LinearControllerSettings running(const S& system, double delay, const VectorXd& lower,
                                 const VectorXd& upper) {
  return {.system = system, .delay = delay, .lower = lower, .upper = upper};
}

py::dict claim_dict(const LoopClaim& c) {
  py::dict d;
  d["name"] = c.name;
  d["unit"] = c.unit;
  d["linear"] = c.linear;
  d["nonlinear"] = c.nonlinear;
  d["difference"] = c.difference;
  d["passed"] = c.passed;
  return d;
}

void bind_verification(py::module_& m) {
  m.def(
      "_verify",
      [](const MechanismPointer& x, const NamedState& state, const VectorXd& effort, Names inputs,
         const Names& outputs, const std::vector<int>& freedoms, const py::object& controller,
         double delay, const VectorXd& lower, const VectorXd& upper, double tolerance,
         double motion, bool margins) {
        for (std::string& name : inputs)
          if (name.starts_with("effort.")) name = name.substr(7);
        std::vector<std::uint8_t> independent(static_cast<std::size_t>(x->freedoms()), 0);
        for (const int f : freedoms) independent.at(static_cast<std::size_t>(f)) = 1;
        const LinearModel model =
            linearize(*x, {state.of(*x), effort},
                      {.inputs = inputs, .outputs = outputs, .independent = independent});
        const LinearControllerSettings k =
            py::isinstance<S>(controller)
                ? running(py::cast<S>(controller), delay, lower, upper)
                : load_controller(py::cast<std::string>(py::str(controller)));
        LoopVerification v;
        {
          const py::gil_scoped_release release;
          v = verify(nonlinear_loop(*x, model, k),
                     {.motion = motion, .tolerance = tolerance, .margins = margins});
        }
        py::dict result;
        result["stable"] = v.stable;
        result["passed"] = v.passed;
        py::list claims;
        for (const LoopClaim& c : v.claims) claims.append(claim_dict(c));
        result["claims"] = claims;
        return result;
      },
      py::arg("mechanism"), py::arg("state"), py::arg("effort"), py::arg("inputs"),
      py::arg("outputs"), py::arg("freedoms"), py::arg("controller"), py::arg("delay"),
      py::arg("lower"), py::arg("upper"), py::arg("tolerance"), py::arg("motion"),
      py::arg("margins"), "verify() of the package.");
  m.def(
      "save_controller",
      [](const S& controller, const std::string& path, double delay, const VectorXd& lower,
         const VectorXd& upper) {
        save_controller(running(controller, delay, lower, upper), path);
      },
      py::arg("controller"), py::arg("path"), py::kw_only(), py::arg("delay") = 0.0,
      py::arg("lower") = VectorXd(), py::arg("upper") = VectorXd(),
      "A controller file with computation delay (s) and limits of its outputs, for `catena "
      "simulate "
      "--controller`.");
}

// ---- Systems ------------------------------------------------------------------------------------

void bind_forms(py::module_& m) {
  m.def(
      "dss",
      [](const MatrixXd& A, const MatrixXd& B, const MatrixXd& C, const MatrixXd& D,
         const MatrixXd& E, double dt) {
        return dss(A, B, C, D.size() > 0 ? D : MatrixXd::Zero(C.rows(), B.cols()), E, dt);
      },
      py::arg("A"), py::arg("B"), py::arg("C"), py::arg("D"), py::arg("E"), py::arg("dt") = 0.0,
      "A descriptor system E x' = A x + B u.");
  m.def(
      "explicit_form", [](const S& s) { return explicit_form(s); }, py::arg("system"),
      "Without E: divided out, algebraic states solved for.");
  m.def(
      "with_delays",
      [](S s, const VectorXd& inputs, const VectorXd& outputs) {
        s.input_delay = inputs, s.output_delay = outputs;
        s.validate();
        return s;
      },
      py::arg("system"), py::arg("inputs") = VectorXd(), py::arg("outputs") = VectorXd(),
      "The system with delays (s) of its inputs and outputs; c2d, the time responses and freqresp "
      "treat them exactly.");
  m.def(
      "absorb_delays", [](const S& s) { return absorb_delays(s); }, py::arg("system"),
      "Delays of a sampled system as states, exactly.");
  m.def(
      "transpose", [](const S& s) { return transpose(s); }, py::arg("system"), "The dual system.");
  m.def(
      "similarity", [](const S& s, const MatrixXd& T) { return similarity(s, T); },
      py::arg("system"), py::arg("T"), "New states z with x = T z.");
  m.def(
      "is_stabilizable", [](const S& s) { return is_stabilizable(s); }, py::arg("system"),
      "Whether inputs reach all unstable modes.");
  m.def(
      "is_detectable", [](const S& s) { return is_detectable(s); }, py::arg("system"),
      "Whether outputs see all unstable modes.");
  m.def(
      "lyap", [](const MatrixXd& A, const MatrixXd& Q) { return lyap(A, Q); }, py::arg("A"),
      py::arg("Q"), "X of A X + X A' + Q = 0.");
  m.def(
      "dlyap", [](const MatrixXd& A, const MatrixXd& Q) { return dlyap(A, Q); }, py::arg("A"),
      py::arg("Q"), "X of A X A' - X + Q = 0.");
  m.def(
      "margin_loop_at_a_time",
      [](const S& loop) {
        py::list list;
        for (const Margins& x : margin_loop_at_a_time(loop)) {
          py::dict d;
          d["gain_up"] = x.gain_margin_up;
          d["gain_down"] = x.gain_margin_down;
          d["phase"] = x.phase_margin;
          d["delay"] = x.delay_margin;
          d["stable"] = x.stable;
          list.append(d);
        }
        return list;
      },
      py::arg("loop"), "list of dict, as margin(): each channel opened alone, the others closed.");
  m.def(
      "hinfsyn_at",
      [](const S& P, int measurements, int controls, double gamma) {
        return hinfsyn_at({P, measurements, controls}, gamma);
      },
      py::arg("P"), py::arg("measurements"), py::arg("controls"), py::arg("gamma"),
      "The H-infinity controller of one level, or an error that names the test that fails.");
  m.def(
      "hinf_tests",
      [](const S& P, int measurements, int controls, double gamma) {
        const HinfLevel l = hinf_tests({P, measurements, controls}, gamma);
        py::dict tests;
        for (int i = 0; i < kHinfTests; ++i)
          tests[py::str(to_string(static_cast<HinfTest>(i)))] =
              l.passed[static_cast<std::size_t>(i)];
        return py::make_tuple(l.exists, tests, l.detail);
      },
      py::arg("P"), py::arg("measurements"), py::arg("controls"), py::arg("gamma"),
      "(whether a controller of this level exists, dict of the six tests, what is to blame).");
}

// ---- Measured responses -------------------------------------------------------------------------

void bind_measured(py::module_& m) {
  m.def(
      "read_frequency_data",
      [](const std::string& path) {
        const FrequencyData r = read_frequency_data(path);
        ComplexArray samples({r.output_count, r.input_count, r.size()});
        auto to = samples.mutable_unchecked<3>();
        for (int k = 0; k < r.size(); ++k)
          for (int j = 0; j < r.input_count; ++j)
            for (int i = 0; i < r.output_count; ++i) to(i, j, k) = r.value(i, j, k);
        return py::make_tuple(r.omega, samples, r.inputs, r.outputs);
      },
      py::arg("path"),
      "(omega, samples (outputs, inputs, frequencies), inputs, outputs) of a CSV table.");
  m.def(
      "write_frequency_data",
      [](const std::string& path, const VectorXd& omega,
         const py::array_t<std::complex<double>, py::array::c_style | py::array::forcecast>& given,
         const Names& inputs, const Names& outputs) {
        if (given.ndim() != 3 || given.shape(2) != omega.size())
          throw Error(
              "write_frequency_data: samples must have the shape (outputs, inputs, frequencies)");
        std::vector<Eigen::MatrixXcd> list;
        for (py::ssize_t k = 0; k < given.shape(2); ++k) {
          Eigen::MatrixXcd g(given.shape(0), given.shape(1));
          for (py::ssize_t i = 0; i < g.rows(); ++i)
            for (py::ssize_t j = 0; j < g.cols(); ++j) g(i, j) = given.at(i, j, k);
          list.push_back(std::move(g));
        }
        FrequencyData data = frequency_data(omega, list);
        if (!inputs.empty()) data.inputs = inputs;
        if (!outputs.empty()) data.outputs = outputs;
        write_frequency_data(data, path);
      },
      py::arg("path"), py::arg("omega"), py::arg("samples"), py::arg("inputs") = Names(),
      py::arg("outputs") = Names(), "Writes a response (outputs, inputs, frequencies) as CSV.");
}

// ---- Polynomial matrices: lists of rows of texts, lowest power first ----------------------------

using Texts = std::vector<std::vector<std::string>>;

PolynomialMatrix polynomials(const Texts& rows) {
  if (rows.empty() || rows[0].empty()) throw Error("a polynomial matrix needs rows and columns");
  PolynomialMatrix p(static_cast<int>(rows.size()), static_cast<int>(rows[0].size()));
  for (int i = 0; i < p.rows(); ++i) {
    const auto& row = rows[static_cast<std::size_t>(i)];
    if (row.size() != rows[0].size())
      throw Error("a polynomial matrix: row " + std::to_string(i + 1) + " has " +
                  std::to_string(row.size()) + " entries, the first has " +
                  std::to_string(rows[0].size()));
    for (int j = 0; j < p.cols(); ++j) p.set(i, j, row[static_cast<std::size_t>(j)]);
  }
  return p;
}

Texts texts(const PolynomialMatrix& p) {
  Texts rows(static_cast<std::size_t>(p.rows()));
  for (int i = 0; i < p.rows(); ++i)
    for (int j = 0; j < p.cols(); ++j) rows[static_cast<std::size_t>(i)].push_back(p.get(i, j));
  return rows;
}

void bind_polynomials(py::module_& m) {
  m.def(
      "_hermite_form",
      [](const Texts& a) {
        const HermiteForm h = hermite_form(polynomials(a));
        return py::make_tuple(texts(h.H), texts(h.U));
      },
      py::arg("a"), "hermite_form() of the package.");
  m.def(
      "_bezout",
      [](const Texts& N, const Texts& D) {
        const Bezout b = bezout(polynomials(N), polynomials(D));
        return py::make_tuple(texts(b.X), texts(b.Y), texts(b.G), texts(b.N1), texts(b.D1));
      },
      py::arg("N"), py::arg("D"), "bezout() of the package.");
  m.def(
      "_coprime_fraction",
      [](const S& s) {
        const MatrixFraction f = coprime_fraction(exact_constants(s.A), exact_constants(s.B),
                                                  exact_constants(s.C), exact_constants(s.D));
        return py::make_tuple(texts(f.N), texts(f.D), f.degree);
      },
      py::arg("system"), "coprime_fraction() of the package.");
}

}  // namespace

void bind_control_loops(py::module_& m) {
  bind_verification(m);
  bind_forms(m);
  bind_measured(m);
  bind_polynomials(m);
}

}  // namespace catena::python
