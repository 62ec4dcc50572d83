#include "callbacks.h"

#include <limits>

#include "catena/simulation/signals/time_table.h"

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

// A table from arrays; Python reads back what it was made of.
struct ArrayTable {
  Jet operator()(double t) const { return table->at(t); }
  std::shared_ptr<const Table> table;
  std::shared_ptr<py::object> source;
};

void set_table(SignalSettings& s, py::handle times, py::handle values, py::handle source,
               const std::string& what) {
  if (!times || !values) throw py::value_error(what + ": a table has both times and values");
  if (!s.expression.empty() || !s.table.empty() || s.function || s.jet)
    throw py::value_error(what + ": times and values are a table by themselves");
  const Eigen::VectorXd t = to_vector(times), x = to_vector(values);
  try {
    s.jet = ArrayTable{
        std::make_shared<Table>(std::vector<double>(t.begin(), t.end()),
                                std::vector<double>(x.begin(), x.end()), s.interpolation, s.cutoff),
        keep(source)};
  } catch (const Error& e) {
    throw Error(what + ": " + e.what());
  }
  const Table& table = *s.jet.target<ArrayTable>()->table;
  constexpr double kEver = std::numeric_limits<double>::infinity();
  for (double c = table.next_corner(-kEver); c < kEver; c = table.next_corner(c))
    s.corners.push_back(c);
}

// An expression, a number, a function, which `function` puts into the settings, or a dictionary of
// one of these or a table.
template <class F>
SignalSettings signal_from(py::handle source, const std::string& what, const char* arguments,
                           F function) {
  if (py::isinstance<py::str>(source)) return {.expression = py::cast<std::string>(source)};
  SignalSettings s;
  if (py::isinstance<py::dict>(source)) {
    py::handle times, values;
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
      else if (name == "times")
        times = value;
      else if (name == "values")
        values = value;
      else
        throw_unknown_field(what, name,
                            {"expression", "table", "column", "interpolation", "cutoff", "times",
                             "values", "function"});
    }
    if (times || values) set_table(s, times, values, source, what);
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

SignalSettings read_motion_signal(py::handle source, const std::shared_ptr<Failure>& failure,
                                  const std::string& what) {
  return signal_from(source, what, "t", [&](SignalSettings& s, py::handle f) {
    s.jet = [f = keep(f), failure, what](double t) {
      const py::gil_scoped_acquire gil;
      return failure->guard([&] {
        const py::object answer = (*f)(t);
        if (!py::isinstance<py::sequence>(answer) || py::len(answer) != 3)
          throw py::type_error("the function of the " + what + " gave " +
                               py::cast<std::string>(py::repr(answer)) +
                               "; it must give (value, rate, acceleration)");
        const Array a = numbers(answer);
        return Jet{a.data()[0], a.data()[1], a.data()[2]};
      });
    };
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
  if (const auto* t = signal.jet.target<ArrayTable>()) return *t->source;
  if (signal.table.empty()) return py::none();
  py::dict table;
  table["table"] = signal.table;
  table["column"] = signal.column;
  table["interpolation"] = signal.interpolation;
  table["cutoff"] = signal.cutoff;
  return table;
}

}  // namespace catena::python
