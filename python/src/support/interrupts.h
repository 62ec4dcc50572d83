// SPDX-License-Identifier: BSD-3-Clause
// Long calls without the GIL that Ctrl-C ends.
#pragma once

#include "callbacks.h"

namespace catena::python {

// Calls progress(t), if given: whether to continue. With the GIL.
inline bool goes_on_at(const py::object& progress, double t, Failure& failure) {
  if (!progress || progress.is_none()) return true;
  return failure.guard([&] {
    const py::object answer = progress(t);
    return answer.is_none() || py::cast<bool>(answer);
  });
}

// Calls f(goes_on) without the GIL. f calls goes_on(t) repeatedly: it checks for Ctrl-C, calls the
// user's progress function, if given, and returns whether to continue. If not, f throws a
// NumericalError, and the exception of the signal handler or of the function is raised.
template <class F>
auto unless_interrupted(F f, const py::object& progress = py::none()) {
  const auto failure = std::make_shared<Failure>();
  Interrupts interrupts(failure);
  const auto goes_on = [&](double t = 0.0) {
    // Stays false after the first failure.
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
