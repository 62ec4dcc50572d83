// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/made_once.h"

#include <mutex>

namespace catena {

struct MadeOnce::Slot {
  std::once_flag flag;
  std::shared_ptr<const void> value;
};

MadeOnce::MadeOnce() : slot_(std::make_shared<Slot>()) {}

const void* MadeOnce::value(Maker make, const void* argument) const {
  std::call_once(slot_->flag, [&] { slot_->value = make(argument); });
  return slot_->value.get();
}

}  // namespace catena
