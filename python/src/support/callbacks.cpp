// SPDX-License-Identifier: BSD-3-Clause
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

TimeFunction array_table(py::handle times, py::handle values, const TableSignal& as,
                         py::handle source, const std::string& what) {
  if (!times || !values) throw py::value_error(what + ": a table has both times and values");
  const Eigen::VectorXd t = to_vector(times), x = to_vector(values);
  std::shared_ptr<const Table> table;
  try {
    table = std::make_shared<Table>(std::vector<double>(t.begin(), t.end()),
                                    std::vector<double>(x.begin(), x.end()), as.interpolation,
                                    as.cutoff);
  } catch (const Error& e) {
    throw Error(what + ": " + e.what());
  }
  TimeFunction result{.jet = ArrayTable{table, keep(source)},
                      .jumps = as.interpolation == Interpolation::hold};
  constexpr double kEver = std::numeric_limits<double>::infinity();
  for (double c = table->next_corner(-kEver); c < kEver; c = table->next_corner(c))
    result.corners.push_back(c);
  return result;
}

// An expression, a number, a function, of which `function` makes a signal, or a dictionary of one
// of these or a table.
template <class F>
SignalSettings signal_from_dictionary(const py::dict& source, const std::string& what, F function) {
  std::optional<SignalSettings> given;
  TableSignal table;
  py::handle times, values;
  const auto give = [&](SignalSettings signal) {
    if (given) throw Error(what + ": needs one of an expression, a table and a function, not two");
    given = std::move(signal);
  };
  for (const auto& [key, value] : source) {
    const std::string name = py::cast<std::string>(key);
    if (name == "expression")
      give(py::cast<std::string>(value));
    else if (name == "table")
      give(TableSignal{.path = py::cast<std::string>(py::str(value))});
    else if (name == "column")
      table.column = py::cast<std::string>(value);
    else if (name == "interpolation")
      table.interpolation = choice_from<Interpolation>(value);
    else if (name == "cutoff")
      table.cutoff = py::cast<double>(value);
    else if (name == "function")
      give(function(value));
    else if (name == "times")
      times = value;
    else if (name == "values")
      values = value;
    else
      throw_unknown_field(what, name,
                          {"expression", "table", "column", "interpolation", "cutoff", "times",
                           "values", "function"});
  }
  if (times || values) {
    if (given) throw py::value_error(what + ": times and values are a table by themselves");
    return array_table(times, values, table, source, what);
  }
  if (!given) return {};
  if (given->table() != nullptr) {
    table.path = given->table()->path;
    return table;
  }
  return *given;
}

template <class F>
SignalSettings signal_from(py::handle source, const std::string& what, const char* arguments,
                           F function) {
  if (py::isinstance<py::str>(source)) return py::cast<std::string>(source);
  if (py::isinstance<py::dict>(source))
    return signal_from_dictionary(py::reinterpret_borrow<py::dict>(source), what, function);
  if (PyCallable_Check(source.ptr()) != 0) return function(source);
  if (PyNumber_Check(source.ptr()) != 0) return number(py::cast<double>(source));
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
  return signal_from(source, what, "(t, state)",
                     [&](py::handle f) { return SignalSettings(python_function(f, seen, what)); });
}

SignalSettings read_motion_signal(py::handle source, const std::shared_ptr<Failure>& failure,
                                  const std::string& what) {
  return signal_from(source, what, "t", [&](py::handle f) {
    return TimeFunction{[f = keep(f), failure, what](double t) {
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
    }};
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

std::optional<SignalSettings> read_time_signal(py::handle source, const std::string& what) {
  if (source.is_none()) return {};
  return signal_from(source, what, "t",
                     [](py::handle f) { return TimeFunction{PythonTimeFunction{keep(f)}}; });
}

py::object time_signal(const std::optional<SignalSettings>& signal) {
  if (!signal) return py::none();
  if (const std::string* expression = signal->expression()) return py::str(*expression);
  if (const TimeFunction* function = signal->time_function()) {
    if (const auto* f = function->jet.target<PythonTimeFunction>()) return *f->function;
    if (const auto* t = function->jet.target<ArrayTable>()) return *t->source;
  }
  if (signal->table() == nullptr) return py::none();
  py::dict table;
  table["table"] = signal->table()->path;
  table["column"] = signal->table()->column;
  table["interpolation"] = signal->table()->interpolation;
  table["cutoff"] = signal->table()->cutoff.value_or(0.0);
  return table;
}

}  // namespace catena::python
