// SPDX-License-Identifier: BSD-3-Clause
// Passes Ctrl-C (and similar exceptions) out of functions of the user that the library calls to
// check them. The library would report any exception as a mistake of the function.
#pragma once

#include <exception>

#include <pybind11/pybind11.h>

#include "catena/base/error.h"

namespace catena::python {

class BreakOff {
 public:
  // f(), but what broke it off is raised instead of the ModelError that it led to.
  template <class F>
  static auto raised_from(F f) {
    BreakOff scope;
    try {
      return f();
    } catch (const ModelError&) {
      if (scope.raised_) std::rethrow_exception(scope.raised_);
      throw;
    }
  }
  // f() of the user, with the GIL.
  template <class F>
  static auto noted(F f) {
    try {
      return f();
    } catch (const pybind11::error_already_set& e) {
      if (current_ != nullptr && !e.matches(PyExc_Exception))
        current_->raised_ = std::current_exception();
      throw;
    }
  }

 private:
  BreakOff() : before_(current_) { current_ = this; }
  BreakOff(const BreakOff&) = delete;
  BreakOff& operator=(const BreakOff&) = delete;
  ~BreakOff() { current_ = before_; }

  static inline thread_local BreakOff* current_ = nullptr;
  BreakOff* before_;
  std::exception_ptr raised_;
};

}  // namespace catena::python
