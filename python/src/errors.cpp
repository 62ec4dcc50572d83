// SPDX-License-Identifier: BSD-3-Clause
// The errors of C++ as Python exceptions, with the same message. Each is also one of Python's own
// kind, so that `except LookupError` means what it says; catena::NameError is UnknownNameError,
// since a NameError is something else in Python.
#include "support/structs.h"

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

// "Unable to cast Python instance of type <class 'int'> to C++ type 'double'" in a user's words.
std::string wrong_type(const std::string& message) {
  const auto between = [&](const std::string& before, const std::string& after) {
    const std::size_t from = message.find(before);
    if (from == std::string::npos) return std::string();
    const std::size_t start = from + before.size();
    return message.substr(start, message.find(after, start) - start);
  };
  const std::string given = between("of type <class '", "'>");
  std::string wanted = between("C++ type '", "'");
  if (given.empty() || wanted.empty()) return "an argument is of the wrong type: " + message;
  const auto is = [&](std::string_view part) { return wanted.find(part) != std::string::npos; };
  if (is("basic_string") || wanted == "std::string")
    wanted = "text";
  else if (wanted == "double")
    wanted = "a number";
  else if (wanted == "int" || wanted == "long" || is("unsigned"))
    wanted = "an integer";
  else if (wanted == "bool")
    wanted = "True or False";
  else {
    // catena::python::NamedState, or catena::python::(anonymous namespace)::NamedLinearModel, is
    // State or LinearModel in Python.
    wanted = wanted.substr(wanted.rfind(':') + 1);
    for (const std::string prefix : {"Named", "Python"})
      if (wanted.starts_with(prefix)) wanted = wanted.substr(prefix.size());
  }
  return given + " is given where " + wanted + " is expected";
}

void raise(const py::object& type, const char* message) { PyErr_SetString(type.ptr(), message); }

}  // namespace

void bind_errors(py::module_& m) {
  py::class_<Source> source(m, "Source", "Place in a file; line 0: not from a file.");
  source.def_readonly("file", &Source::file, "Its path; empty: no file.")
      .def_readonly("line", &Source::line, "Counted from 1.")
      .def("__repr__", [](const Source& s) { return s.file + ":" + std::to_string(s.line); });
  picklable(source, &Source::file, &Source::line);
  py::enum_<Severity>(m, "Severity", "Of a Diagnostic.")
      .value("warning", Severity::warning)
      .value("error", Severity::error);
  py::class_<Diagnostic> diagnostic(m, "Diagnostic", "One problem of a model or its file.");
  diagnostic.def_readonly("severity", &Diagnostic::severity, "Severity: warning or error.")
      .def_readonly("source", &Diagnostic::source, "Source: where it was said.")
      .def_readonly("message", &Diagnostic::message, "In words.")
      .def("text", &Diagnostic::text, "`file:line: error: message`, as far as it is known.")
      .def("__str__", &Diagnostic::text)
      .def("__repr__", [](const Diagnostic& d) { return "<Diagnostic " + d.text() + ">"; });
  picklable(diagnostic, &Diagnostic::severity, &Diagnostic::source, &Diagnostic::message);

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
  t.name =
      new_type(m, "UnknownNameError",
               "An unknown name; the message suggests the nearest. (catena::NameError in C++.)",
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
    } catch (const py::cast_error& e) {
      PyErr_SetString(PyExc_TypeError, wrong_type(e.what()).c_str());
    }
  });
}

}  // namespace catena::python
