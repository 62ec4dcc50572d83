#include "callbacks.h"

namespace catena::python {

std::shared_ptr<py::object> keep(py::handle object) {
  return {new py::object(py::reinterpret_borrow<py::object>(object)), [](py::object* p) {
            const py::gil_scoped_acquire gil;
            delete p;
          }};
}

Seen::Seen(const MechanismPointer& mechanism)
    : failure(std::make_shared<Failure>()),
      object_(keep(py::cast(NamedState{mechanism, mechanism->default_state()}))),
      state_(&py::cast<NamedState&>(*object_)) {}

const py::object& Seen::show(const State& state) {
  if (object_->ref_count() > 1) {
    object_ = keep(py::cast(NamedState{state_->mechanism, state}));
    state_ = &py::cast<NamedState&>(*object_);
    return *object_;
  }
  state_->state.q = state.q;  // the same sizes: views of Python stay valid
  state_->state.v = state.v;
  return *object_;
}

namespace {

double number_from(const py::object& answer, const std::string& what) {
  try {
    return py::cast<double>(answer);
  } catch (const py::cast_error&) {
    throw py::type_error("the function of " + what + " gave " +
                         py::cast<std::string>(py::repr(answer)) + ", which is no number");
  }
}

// An expression, a number, a function, which `function` puts into the settings, or a dictionary of
// one of these or a table.
template <class F>
SignalSettings signal_from(py::handle source, const std::string& what, const char* arguments,
                           F function) {
  if (py::isinstance<py::str>(source)) return {.expression = py::cast<std::string>(source)};
  SignalSettings s;
  if (py::isinstance<py::dict>(source)) {
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(source)) {
      const std::string name = py::cast<std::string>(key);
      if (name == "expression")
        s.expression = py::cast<std::string>(value);
      else if (name == "table")
        s.table = py::cast<std::string>(py::str(value));
      else if (name == "column")
        s.column = py::cast<std::string>(value);
      else if (name == "interpolation")
        s.interpolation = choice_from<Interpolation>(value);
      else if (name == "cutoff")
        s.cutoff = py::cast<double>(value);
      else if (name == "function")
        function(s, value);
      else
        throw_unknown_field(
            what, name, {"expression", "table", "column", "interpolation", "cutoff", "function"});
    }
    return s;
  }
  if (PyCallable_Check(source.ptr()) != 0) {
    function(s, source);
    return s;
  }
  if (PyNumber_Check(source.ptr()) != 0) return {.expression = number(py::cast<double>(source))};
  throw py::type_error(what + " must be an expression, a number, a function of " + arguments +
                       " or a dictionary of a table");
}

}  // namespace

std::function<double(double, const State&)> python_function(py::handle f,
                                                            const std::shared_ptr<Seen>& seen,
                                                            const std::string& what) {
  return [f = keep(f), seen, what](double t, const State& state) {
    const py::gil_scoped_acquire gil;
    return seen->failure->guard([&] { return number_from((*f)(t, seen->show(state)), what); });
  };
}

SignalSettings read_signal(py::handle source, const std::shared_ptr<Seen>& seen,
                           const std::string& what) {
  return signal_from(source, what, "(t, state)", [&](SignalSettings& s, py::handle f) {
    s.function = python_function(f, seen, what);
  });
}

Jet PythonTimeFunction::operator()(double t) const {
  const py::gil_scoped_acquire gil;
  const auto call = [&] {
    const py::object answer = (*function)(t);
    if (!py::isinstance<py::tuple>(answer)) return Jet{py::cast<double>(answer), 0.0, 0.0};
    const auto [value, rate] = py::cast<std::pair<double, double>>(answer);
    return Jet{value, rate, 0.0};
  };
  return failure ? failure->guard(call) : call();
}

SignalSettings read_time_signal(py::handle source, const std::string& what) {
  if (source.is_none()) return {};
  return signal_from(source, what, "t",
                     [](SignalSettings& s, py::handle f) { s.jet = PythonTimeFunction{keep(f)}; });
}

py::object time_signal(const SignalSettings& signal) {
  if (!signal.expression.empty()) return py::str(signal.expression);
  if (const auto* f = signal.jet.target<PythonTimeFunction>()) return *f->function;
  if (signal.table.empty()) return py::none();
  py::dict table;
  table["table"] = signal.table;
  table["column"] = signal.column;
  table["interpolation"] = signal.interpolation;
  table["cutoff"] = signal.cutoff;
  return table;
}

}  // namespace catena::python
