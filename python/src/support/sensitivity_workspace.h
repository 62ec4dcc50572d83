// SPDX-License-Identifier: BSD-3-Clause
// `SensitivityWorkspace` in Python, and its use in one call.
#pragma once

#include <atomic>
#include <memory>

#include "arguments.h"

#include "catena/sensitivity/workspace.h"

namespace catena::python {

struct PythonSensitivityWorkspace {
  explicit PythonSensitivityWorkspace(MechanismPointer of)
      : mechanism(std::move(of)), workspace(*mechanism) {}
  MechanismPointer mechanism;
  SensitivityWorkspace workspace;
  std::atomic<bool> busy{false};
};

class SensitivityUse {
 public:
  SensitivityUse(const MechanismPointer& mechanism, PythonSensitivityWorkspace* given)
      : given_(given) {
    if (given_ == nullptr) {
      own_ = std::make_unique<PythonSensitivityWorkspace>(mechanism);
      given_ = own_.get();
    }
    if (given_->mechanism != mechanism)
      throw Error("this SensitivityWorkspace was made for another mechanism");
    if (given_->busy.exchange(true, std::memory_order_acquire))
      throw Error(
          "this SensitivityWorkspace is in use by another thread; give every thread its own");
  }
  ~SensitivityUse() { given_->busy.store(false, std::memory_order_release); }
  SensitivityUse(const SensitivityUse&) = delete;
  SensitivityUse& operator=(const SensitivityUse&) = delete;
  SensitivityWorkspace& workspace() { return given_->workspace; }

 private:
  std::unique_ptr<PythonSensitivityWorkspace> own_;
  PythonSensitivityWorkspace* given_;
};

}  // namespace catena::python
