// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; workspace.h needs it.
//
// The memory of flexible_scratch.h.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "catena/dynamics/kernels/flexible_scratch.h"
#include "catena/model/flexible_table.h"

namespace catena {
inline namespace CATENA_ISA {

// For all flexible bodies of a mechanism.
template <class Scalar>
class FlexibleStore {
 public:
  FlexibleStore() = default;
  FlexibleStore(std::span<const FlexibleTable* const> bodies,
                std::span<const AttachmentTable* const> attachments) {
    std::size_t numbers = 0, wrenches = 0, integers = 0, twists = 0, vectors = 0;
    for (const FlexibleTable* t : bodies) {
      const auto n = static_cast<std::size_t>(t->modes);
      numbers += 23 * n + 2 * n * n;
      wrenches += 2 * n;
      integers += n;
      if (t->completion != nullptr) {
        numbers += static_cast<std::size_t>(completion_blocks(*t)) * n;
        vectors += static_cast<std::size_t>(t->completion->points + t->completion->rows);
      }
    }
    for (const AttachmentTable* t : attachments) {
      const auto n = static_cast<std::size_t>(t->modes);
      numbers += 12 * n;
      twists += n;
    }
    numbers_.resize(numbers);
    wrenches_.resize(wrenches);
    integers_.resize(integers);
    twists_.resize(twists);
    vectors_.resize(vectors);
    Scalar* x = numbers_.data();
    Wrench<Scalar>* w = wrenches_.data();
    int* i = integers_.data();
    Twist<Scalar>* t = twists_.data();
    Vec3<Scalar>* v = vectors_.data();
    const auto take = [](auto*& from, int count) {
      auto* const taken = from;
      from += count;
      return taken;
    };
    for (const FlexibleTable* table : bodies) {
      const int n = table->modes;
      FlexibleScratch<Scalar> b;
      b.shape = take(x, 12 * n);
      b.rates = take(x, 9 * n);
      b.force = take(x, n);
      b.innovation = take(x, n);
      b.mass = take(x, n * n);
      b.factor = take(x, n * n);
      b.coupling = take(w, n);
      b.reduced = take(w, n);
      b.free = take(i, n);
      if (table->completion != nullptr) {
        b.completed = take(x, completion_blocks(*table) * n);
        b.places = take(v, table->completion->points + table->completion->rows);
      }
      bodies_.push_back(b);
    }
    for (const AttachmentTable* table : attachments) {
      const int n = table->modes;
      AttachmentScratch<Scalar> a;
      a.shape = take(x, 6 * n);
      a.rates = take(x, 6 * n);
      a.map = take(t, n);
      attachments_.push_back(a);
    }
  }

  const FlexibleScratch<Scalar>& body(int i) const { return bodies_[static_cast<std::size_t>(i)]; }
  const AttachmentScratch<Scalar>& attachment(int i) const {
    return attachments_[static_cast<std::size_t>(i)];
  }
  static int completion_blocks(const FlexibleTable& t) {
    return t.completion->blocks() + t.completion->rate_blocks();
  }
  FlexibleScratch<Scalar>* bodies() { return bodies_.data(); }
  AttachmentScratch<Scalar>* attachments() { return attachments_.data(); }

 private:
  std::vector<Scalar> numbers_;
  std::vector<Wrench<Scalar>> wrenches_;
  std::vector<Twist<Scalar>> twists_;
  std::vector<Vec3<Scalar>> vectors_;
  std::vector<int> integers_;
  std::vector<FlexibleScratch<Scalar>> bodies_;
  std::vector<AttachmentScratch<Scalar>> attachments_;
};

}  // namespace CATENA_ISA
}  // namespace catena
