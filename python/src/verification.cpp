// SPDX-License-Identifier: BSD-3-Clause
// Published numbers beside ours.
#include "support/interrupts.h"

#include "catena/verification/runner.h"

namespace catena::python {

void bind_verification(py::module_& m) {
  using R = VerificationResult;
  py::class_<R> one(m, "VerificationResult", "One quantity of a case beside its reference.");
  one.def_readonly("name", &R::name, "Of the case: its folder.")
      .def_readonly("title", &R::title, "Of the case.")
      .def_readonly("source", &R::source, "Where the reference comes from.")
      .def_readonly("quantity", &R::quantity, "What is compared.")
      .def_readonly("reference", &R::reference, "(rows, columns).")
      .def_readonly("value", &R::value, "(rows, columns); empty after a failure.")
      .def_readonly("entries", &R::entries, "list of str: names of the rows.")
      .def_readonly("error", &R::error, "Relative to the largest entry of the reference.")
      .def_readonly("tolerance", &R::tolerance, "That `error` may reach.")
      .def_readonly("passed", &R::pass, "Whether it is within the tolerance.")
      .def_readonly("message", &R::message, "Why it could not be computed.")
      .def("__repr__", [](const R& r) {
        return "<VerificationResult " + r.name + ", " + r.quantity + ": " +
               (r.pass ? "passed" : "failed") + ">";
      });
  picklable(one, &R::name, &R::title, &R::source, &R::quantity, &R::reference, &R::value,
            &R::entries, &R::error, &R::tolerance, &R::pass, &R::message);
  using V = VerificationReport;
  py::class_<V> report(m, "VerificationReport", "What run_verification() found.");
  report.def_readonly("results", &VerificationReport::results, "list of VerificationResult.")
      .def_readonly("problems", &VerificationReport::problems, "list of Diagnostic.")
      .def_readonly("unread", &VerificationReport::unread,
                    "list of VerificationResult: of the cases that could not be read.")
      .def_readonly("cases", &VerificationReport::cases, "That were run.")
      .def_readonly("skipped", &VerificationReport::skipped, "Because they are slow.")
      .def_property_readonly("passed", &VerificationReport::passed,
                             "Whether every case could be read and every quantity passed.");
  picklable(report, &V::results, &V::problems, &V::unread, &V::cases, &V::skipped);
  m.def(
      "run_verification",
      [](const py::object& path, bool all, const std::string& filter) {
        const std::string folder =
            py::cast<std::string>(py::module_::import("os").attr("fspath")(path));
        return unless_interrupted([&](const auto& goes_on) {
          return run_verification(folder, {.all = all, .filter = filter, .goes_on = goes_on});
        });
      },
      py::arg("path"), py::kw_only(), py::arg("all") = false, py::arg("filter") = "",
      "Runs the cases of a case.yaml, a folder with one, or a folder of cases. all: the slow ones "
      "too. filter: those whose name contains this.");
}

}  // namespace catena::python
