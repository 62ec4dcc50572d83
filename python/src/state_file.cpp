// SPDX-License-Identifier: BSD-3-Clause
// A state and what acts on it, from YAML by names, as the command line reads it.
#include "catena/simulation/state_file.h"

#include "support/arguments.h"

namespace catena::python {
namespace {

std::vector<bool> flags(const std::vector<std::uint8_t>& x) { return {x.begin(), x.end()}; }

}  // namespace

void bind_state_file(py::module_& m) {
  py::class_<StateInput>(m, "StateInput", "What a state file says; read_state_file().")
      .def_readonly("effort", &StateInput::effort, "(freedoms,), N m or N.")
      .def_readonly("acceleration", &StateInput::acceleration, "(freedoms,), rad/s² or m/s².")
      .def_property_readonly(
          "motion_driven", [](const StateInput& s) { return flags(s.motion_driven); },
          "By freedom: its acceleration is given (hybrid dynamics).")
      .def_readonly("external", &StateInput::external, "Wrenches from outside.");
  m.def(
      "read_state_file",
      [](const py::object& path, const MechanismPointer& mechanism, bool close) {
        const std::string file =
            py::cast<std::string>(py::module_::import("os").attr("fspath")(path));
        StateInput input = read_state_file(file, *mechanism);
        if (close)
          if (const std::string moved = close_loops(*mechanism, input);
              !moved.empty() && PyErr_WarnEx(PyExc_UserWarning, moved.c_str(), 1) < 0)
            throw py::error_already_set();
        NamedState state{mechanism, input.state};
        return std::make_pair(std::move(state), std::move(input));
      },
      py::arg("path"), py::arg("mechanism"), py::kw_only(), py::arg("close_loops") = true,
      "(State, StateInput) of a YAML file: q, v, effort, acceleration, motion_driven and external, "
      "by names; what it does not say is as in default_state(), or zero.\n\n"
      "close_loops: bring the state to a position and velocity that close the loops.\n\n"
      "Raises ModelError with every mistake of the file, each with its line.");
}

}  // namespace catena::python
