// Published numbers beside ours.
#include "arguments.h"

#include "catena/verification/runner.h"

namespace catena::python {

void bind_verification(py::module_& m) {
  using R = VerificationResult;
  py::class_<R>(m, "VerificationResult", "One quantity of a case beside its reference.")
      .def_readonly("name", &R::name, "Of the case: its folder.")
      .def_readonly("title", &R::title)
      .def_readonly("source", &R::source)
      .def_readonly("quantity", &R::quantity)
      .def_readonly("reference", &R::reference, "(rows, columns).")
      .def_readonly("value", &R::value, "(rows, columns); empty after a failure.")
      .def_readonly("entries", &R::entries, "list of str: names of the rows.")
      .def_readonly("error", &R::error)
      .def_readonly("tolerance", &R::tolerance)
      .def_readonly("passed", &R::pass)
      .def_readonly("message", &R::message, "Why it could not be computed.")
      .def("__repr__", [](const R& r) {
        return "<VerificationResult " + r.name + ", " + r.quantity + ": " +
               (r.pass ? "passed" : "failed") + ">";
      });
  py::class_<VerificationReport>(m, "VerificationReport")
      .def_readonly("results", &VerificationReport::results, "list of VerificationResult.")
      .def_readonly("problems", &VerificationReport::problems, "list of Diagnostic.")
      .def_readonly("cases", &VerificationReport::cases, "That were run.")
      .def_readonly("skipped", &VerificationReport::skipped, "Because they are slow.")
      .def_property_readonly("passed", &VerificationReport::passed);
  m.def(
      "run_verification",
      [](const py::object& path, bool all, const std::string& filter) {
        const std::string folder =
            py::cast<std::string>(py::module_::import("os").attr("fspath")(path));
        const py::gil_scoped_release release;
        return run_verification(folder, {.all = all, .filter = filter});
      },
      py::arg("path"), py::kw_only(), py::arg("all") = false, py::arg("filter") = "",
      "Runs the cases of a case.yaml, a folder with one, or a folder of cases. all: the slow ones "
      "too. filter: those whose name contains this.");
}

}  // namespace catena::python
