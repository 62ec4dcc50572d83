// The errors of C++ as Python exceptions, with the same message. Each is also one of Python's own
// kind, so that `except LookupError` means what it says; catena::NameError is UnknownNameError,
// since a NameError is something else in Python.
#include "casters.h"

namespace catena::python {
namespace {

struct ErrorTypes {
  py::object error, model, numerical, name;
};

ErrorTypes& types() {
  static auto* all = new ErrorTypes;  // never destroyed: it outlives the interpreter's own
  return *all;
}

py::object new_type(py::module_& m, const char* name, const char* doc, const py::tuple& bases) {
  const std::string full = std::string("catena.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr);
  if (type == nullptr) throw py::error_already_set();
  auto object = py::reinterpret_steal<py::object>(type);
  m.attr(name) = object;
  return object;
}

void raise(const py::object& type, const char* message) { PyErr_SetString(type.ptr(), message); }

}  // namespace

void bind_errors(py::module_& m) {
  py::class_<Source>(m, "Source", "Where in a file a thing was said; line 0: not from a file.")
      .def_readonly("file", &Source::file)
      .def_readonly("line", &Source::line)
      .def("__repr__", [](const Source& s) { return s.file + ":" + std::to_string(s.line); });
  py::enum_<Severity>(m, "Severity", "Of a Diagnostic.")
      .value("warning", Severity::warning)
      .value("error", Severity::error);
  py::class_<Diagnostic>(m, "Diagnostic", "One problem of a model or its file.")
      .def_readonly("severity", &Diagnostic::severity)
      .def_readonly("source", &Diagnostic::source)
      .def_readonly("message", &Diagnostic::message)
      .def("text", &Diagnostic::text, "`file:line: error: message`, as far as it is known.")
      .def("__str__", &Diagnostic::text)
      .def("__repr__", [](const Diagnostic& d) { return "<Diagnostic " + d.text() + ">"; });

  ErrorTypes& t = types();
  const auto base = [](PyObject* type) { return py::reinterpret_borrow<py::object>(type); };
  t.error = new_type(m, "Error", "Everything that Catena raises of its own.",
                     py::make_tuple(base(PyExc_Exception)));
  t.model = new_type(m, "ModelError",
                     "A mechanism, or the file that describes it, is wrong. `problems` has all of "
                     "them, each a Diagnostic; the message has one line for each.",
                     py::make_tuple(t.error, base(PyExc_ValueError)));
  t.numerical = new_type(m, "NumericalError",
                         "A computation cannot be done with these numbers: wrong size, NaN, a "
                         "singular hinge inertia, an open loop.",
                         py::make_tuple(t.error, base(PyExc_ArithmeticError)));
  t.name = new_type(m, "UnknownNameError",
                    "A name that does not exist was asked for; the message suggests the nearest. "
                    "(catena::NameError in C++.)",
                    py::make_tuple(t.error, base(PyExc_LookupError)));

  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const ModelError& e) {
      py::object error = types().model(e.what());
      error.attr("problems") = py::cast(e.problems());
      PyErr_SetObject(types().model.ptr(), error.ptr());
    } catch (const NumericalError& e) {
      raise(types().numerical, e.what());
    } catch (const NameError& e) {
      raise(types().name, e.what());
    } catch (const Error& e) {
      raise(types().error, e.what());
    }
  });
}

}  // namespace catena::python
