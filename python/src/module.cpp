// SPDX-License-Identifier: BSD-3-Clause
// The extension module catena._catena: calls bind_X() of every file X.cpp that belongs to a room of
// this build (the list is made by CMake).
#include "support/casters.h"

#define CATENA_PYTHON_BIND(name)               \
  namespace catena::python {                   \
  void bind_##name(pybind11::module_& module); \
  }
#include "catena_python_parts.inc"
#undef CATENA_PYTHON_BIND

PYBIND11_MODULE(_catena, module) {
  module.doc() = "Catena's library: see the package catena.";
  module.attr("__version__") = CATENA_VERSION;
#define CATENA_PYTHON_BIND(name) catena::python::bind_##name(module);
#include "catena_python_parts.inc"
#undef CATENA_PYTHON_BIND
  module.attr("rooms") = pybind11::make_tuple(CATENA_PYTHON_ROOMS);
}
