// SPDX-License-Identifier: BSD-3-Clause
// Long calls without the GIL that Ctrl-C ends.
#pragma once

#include "callbacks.h"

namespace catena::python {

// progress(t), if there is one: whether to go on. With the GIL.
inline bool goes_on_at(const py::object& progress, double t, Failure& failure) {
  if (!progress || progress.is_none()) return true;
  return failure.guard([&] {
    const py::object answer = progress(t);
    return answer.is_none() || py::cast<bool>(answer);
  });
}

// f(goes_on) without the GIL, where goes_on(t) looks for Ctrl-C and asks a function of the user, if
// there is one, is called again and again, and tells whether to go on; if not, f throws a
// NumericalError, and what the signal handler or the function raised is raised.
template <class F>
auto unless_interrupted(F f, const py::object& progress = py::none()) {
  const auto failure = std::make_shared<Failure>();
  Interrupts interrupts(failure);
  const auto goes_on = [&](double t = 0.0) {
    // Who did not stop at once is told again.
    return !failure->first() && interrupts.look([&] { return goes_on_at(progress, t, *failure); });
  };
  try {
    const py::gil_scoped_release release;
    auto result = f(goes_on);
    if (!failure->first()) return result;
  } catch (const NumericalError&) {
    if (!failure->first()) throw;
  }
  std::rethrow_exception(failure->first());
}

}  // namespace catena::python
