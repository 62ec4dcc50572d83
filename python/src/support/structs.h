// SPDX-License-Identifier: BSD-3-Clause
// Enumerations and plain structs of C++ as Python knows them.
//
// An enumeration is a class of the same name; wherever one is asked for, the name of its value does
// as well: type="revolute" for HingeType.revolute.
//
// A struct of settings is a value: made from keywords, like designated initializers in C++, read by
// attribute, never changed in place (a copy inside a list would otherwise swallow the change),
// varied by replace(). Mistyped fields get suggestions.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "casters.h"

#include "catena/spatial/transform.h"

namespace catena::python {

// ---- Enumerations. ----

template <class E>
struct EnumNames {
  static inline std::string type;
  static inline std::vector<std::pair<std::string, E>> values;
};

// A value of an enumeration or its name, as an argument.
template <class E>
struct Choice {
  E value{};
  operator E() const { return value; }  // NOLINT: meant to be implicit
};

template <class E>
E choice_from(py::handle source) {
  if (!py::isinstance<py::str>(source)) return py::cast<E>(source);
  std::string name = py::cast<std::string>(source);
  std::replace(name.begin(), name.end(), '-', '_');  // as on the command line
  std::vector<std::string> names;
  for (const auto& [known, value] : EnumNames<E>::values) {
    if (known == name) return value;
    names.push_back(known);
  }
  const std::string hint = did_you_mean(name, names);
  throw NameError("'" + name + "' is no " + EnumNames<E>::type +
                  (hint.empty() ? "; it is one of " + listed(names) : hint));
}

template <class E>
void bind_enum(py::handle scope, const char* name, const char* doc,
               std::vector<std::pair<std::string, E>> values) {
  EnumNames<E>::type = name;
  EnumNames<E>::values = std::move(values);
  py::enum_<E> type(scope, name, doc);
  for (const auto& [value_name, value] : EnumNames<E>::values)
    type.value(value_name.c_str(), value);
}

// ---- Structs. ----

// Makes values of a class of results picklable, and so copies of it: by these of its members.
template <class T, class... F, class... Extra>
void picklable(py::class_<T, Extra...>& type, F T::*... members) {
  type.def(py::pickle([members...](const T& self) { return py::make_tuple(self.*members...); },
                      [members...](const py::tuple& state) {
                        T self{};
                        std::size_t k = 0;
                        ((self.*members = py::cast<F>(state[k++])), ...);
                        return self;
                      }));
}

// How an argument or a field of this type is read.
Transformd to_transform(py::handle source);  // Transform, 4 x 4, or 3 numbers: a translation

template <class F>
F read_value(py::handle source) {
  if constexpr (std::is_enum_v<F>)
    return choice_from<F>(source);
  else if constexpr (std::is_same_v<F, Transformd>)
    return to_transform(source);
  else
    return py::cast<F>(source);
}

[[noreturn]] void throw_unknown_field(const std::string& type, const std::string& field,
                                      const std::vector<std::string>& known);

template <class T>
class Struct {
 public:
  Struct(py::handle scope, const char* name, const char* doc) : type_(scope, name, doc) {
    type_name_ = name;
    type_.def(py::init([](const py::kwargs& fields) { return make(fields); }));
    type_.def(
        "replace",
        [](const T& self, const py::kwargs& changes) {
          T copy = self;
          apply(copy, changes);
          return copy;
        },
        "Another one with these fields changed.");
    type_.def("__setattr__", [](const py::object&, const std::string& field, const py::object&) {
      throw py::attribute_error(type_name_ + "." + field + " cannot be changed in place: make " +
                                "another with replace(" + field + "=...)");
    });
    type_.def(py::pickle(
        [](const py::object& self) {
          py::dict fields;
          for (const Field& f : fields_) fields[f.name.c_str()] = self.attr(f.name.c_str());
          return fields;
        },
        [](const py::dict& fields) { return make(fields); }));
    type_.def("__repr__", [](const py::object& self) {
      std::string text = type_name_ + "(";
      for (std::size_t k = 0; k < fields_.size(); ++k)
        text += (k > 0 ? ", " : "") + fields_[k].name + "=" +
                py::cast<std::string>(py::repr(self.attr(fields_[k].name.c_str())));
      return text + ")";
    });
  }

  template <class C, class F>
  Struct& field(const char* name, F C::*member, const char* doc = "") {
    type_.def_property_readonly(
        name, [member](const T& self) -> F { return self.*member; }, doc);
    fields_.push_back(
        {name, [member](T& self, py::handle value) { self.*member = read_value<F>(value); }});
    return *this;
  }
  // A field that Python reads and writes in its own way.
  template <class Get, class Set>
  Struct& field(const char* name, Get get, Set set, const char* doc = "") {
    using Value = std::invoke_result_t<Get, const T&>;
    type_.def_property_readonly(  // of T, also if `get` takes a base of it
        name, [get](const T& self) -> Value { return get(self); }, doc);
    fields_.push_back({name, [set](T& self, py::handle value) { set(self, value); }});
    return *this;
  }
  // A field that is not read back.
  template <class... Arguments>
  Struct& def(Arguments&&... arguments) {
    type_.def(std::forward<Arguments>(arguments)...);
    return *this;
  }
  // All fields are there: the names, for the stubs and for help().
  py::class_<T>& done() {
    py::list names;
    for (const Field& f : fields_) names.append(f.name);
    type_.attr("__fields__") = py::tuple(names);
    return type_;
  }

  static void apply(T& self, const py::dict& values) {
    for (const auto& [key, value] : values) {
      const std::string name = py::cast<std::string>(key);
      const auto at = std::find_if(fields_.begin(), fields_.end(),
                                   [&](const Field& f) { return f.name == name; });
      if (at == fields_.end()) {
        std::vector<std::string> known;
        for (const Field& f : fields_) known.push_back(f.name);
        throw_unknown_field(type_name_, name, known);
      }
      try {
        at->set(self, value);
      } catch (const py::cast_error&) {
        throw py::type_error(type_name_ + "." + name + " cannot be " +
                             py::cast<std::string>(py::repr(value)).substr(0, 80));
      } catch (const py::builtin_exception& e) {
        throw py::type_error(type_name_ + "." + name + ": " + e.what());
      }
    }
  }
  static T make(const py::dict& values) {
    T self{};
    apply(self, values);
    return self;
  }
  // One of them, or a dictionary of its fields.
  static T from(py::handle source) {
    return py::isinstance<py::dict>(source) ? make(py::reinterpret_borrow<py::dict>(source))
                                            : py::cast<T>(source);
  }

 private:
  struct Field {
    std::string name;
    std::function<void(T&, py::handle)> set;
  };
  py::class_<T> type_;
  static inline std::string type_name_;
  static inline std::vector<Field> fields_;
};

}  // namespace catena::python

namespace pybind11::detail {

template <class E>
struct type_caster<catena::python::Choice<E>> {
  PYBIND11_TYPE_CASTER(catena::python::Choice<E>,
                       const_name("Choice[") + make_caster<E>::name + const_name("]"));
  bool load(handle source, bool) {
    make_caster<E> caster;
    if (caster.load(source, false)) {
      value.value = cast_op<E&>(caster);
      return true;
    }
    if (!isinstance<str>(source)) return false;
    value.value = catena::python::choice_from<E>(source);
    return true;
  }
  static handle cast(const catena::python::Choice<E>& x, return_value_policy policy, handle h) {
    return make_caster<E>::cast(x.value, policy, h);
  }
};

}  // namespace pybind11::detail
