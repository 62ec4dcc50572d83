// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface.
// MadeOnce: a lazily computed, cached value; thread-safe. The type is erased, so that an object can
// cache values that a higher layer derives from it.
//
// A copy starts empty: the value may point into the owner that it was made from. Moving takes the
// value along, and leaves a slot that may only be assigned to.
#pragma once

#include <memory>

namespace catena {

class MadeOnce {
 public:
  MadeOnce();
  MadeOnce(const MadeOnce&) : MadeOnce() {}
  MadeOnce& operator=(const MadeOnce&) { return *this = MadeOnce(); }
  MadeOnce(MadeOnce&&) noexcept = default;
  MadeOnce& operator=(MadeOnce&&) noexcept = default;
  ~MadeOnce() = default;

  // The value of make(), a T at every call. Other threads wait while it is made, so make() must not
  // wait for them. An exception leaves the slot empty.
  template <class T, class Make>
  const T& get(const Make& make) const {
    const auto erased = [](const void* f) -> std::shared_ptr<const void> {
      return std::make_shared<const T>((*static_cast<const Make*>(f))());
    };
    return *static_cast<const T*>(value(erased, &make));
  }

 private:
  struct Slot;
  using Maker = std::shared_ptr<const void> (*)(const void*);
  const void* value(Maker make, const void* argument) const;

  std::shared_ptr<Slot> slot_;
};

}  // namespace catena
