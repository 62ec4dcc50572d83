// SPDX-License-Identifier: BSD-3-Clause
// What the bindings of simulations and of runs share.
#pragma once

#include <type_traits>

#include "callbacks.h"

#include "catena/io/runs/run_file.h"
#include "catena/simulation/simulate.h"

namespace catena::python {

struct NamedResult {
  MechanismPointer mechanism;
  SimulationResult result;
};

// The file of a run: HDF5 with this header and the model, or a table if its name ends in .csv;
// null: no name.
std::unique_ptr<Recorder> file_recorder(const std::string& output, const Mechanism& mechanism,
                                        RunHeader header, bool overwrite);

// Calls f(name, value) for each entry of a dictionary.
template <class F>
void for_each(const py::object& source, const char* what, F f) {
  if (!source || source.is_none()) return;
  if (!py::isinstance<py::dict>(source))
    throw py::type_error(std::string(what) + " must be a dictionary by name");
  for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(source))
    f(py::cast<std::string>(key), value);
}

// Runs without the GIL; raises what a function of the user or Ctrl-C raised.
template <class Run>
auto run_guarded(SimulationSettings& settings, const std::shared_ptr<Failure>& failure,
                 const py::object& progress, Run run) {
  settings.progress = [failure, interrupts = std::make_shared<Interrupts>(failure),
                       progress = keep(progress)](double t) {
    return interrupts->look([&] {
      if (progress->is_none()) return true;
      return failure->guard([&] {
        const py::object answer = (*progress)(t);
        return answer.is_none() || py::cast<bool>(answer);
      });
    });
  };
  std::invoke_result_t<Run> result;
  try {
    const py::gil_scoped_release release;
    result = run();
  } catch (const NumericalError&) {
    if (!failure->first()) throw;
  }
  if (failure->first()) std::rethrow_exception(failure->first());
  return result;
}

}  // namespace catena::python
