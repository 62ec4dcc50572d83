// Long calls without the GIL that Ctrl-C ends.
#pragma once

#include "callbacks.h"

namespace catena::python {

// f(goes_on) without the GIL, where goes_on() looks for Ctrl-C, is called again and again, and
// tells whether to go on; if not, f throws a NumericalError, and what the signal handler raised is
// raised.
template <class F>
auto unless_interrupted(F f) {
  const auto failure = std::make_shared<Failure>();
  Interrupts interrupts(failure);
  const auto goes_on = [&] { return interrupts.look([] { return true; }); };
  try {
    const py::gil_scoped_release release;
    return f(goes_on);
  } catch (const NumericalError&) {
    if (!failure->first()) throw;
  }
  std::rethrow_exception(failure->first());
}

}  // namespace catena::python
