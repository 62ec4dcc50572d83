// SPDX-License-Identifier: BSD-3-Clause
// Pickles of results that belong to a mechanism, which goes with them.
#pragma once

#include <type_traits>

#include "arguments.h"

namespace catena::python {

template <class T>
py::object to_pickle(const T& x) {
  if constexpr (std::is_same_v<T, State>)
    return py::make_tuple(x.q, x.v);
  else
    return py::cast(x);
}

template <class T>
T from_pickle(py::handle source) {
  if constexpr (std::is_same_v<T, State>) {
    const auto [q, v] = py::cast<std::pair<Eigen::VectorXd, Eigen::VectorXd>>(source);
    return {q, v};
  } else {
    return py::cast<T>(source);
  }
}

// N has a mechanism first and then, at `part`, a struct of which these members are kept.
template <class N, class T, class... F>
void picklable_of_mechanism(py::class_<N>& type, T N::*part, F T::*... members) {
  type.def(py::pickle(
      [part, members...](const N& n) {
        return py::make_tuple(n.mechanism, to_pickle((n.*part).*members)...);
      },
      [part, members...](const py::tuple& t) {
        N n{py::cast<MechanismPointer>(t[0]), {}};
        std::size_t k = 1;
        (((n.*part).*members = from_pickle<F>(t[k++])), ...);
        return n;
      }));
}

}  // namespace catena::python
