// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/made_once.h"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace catena {
namespace {

TEST(MadeOnce, MakesOnceForAllThreads) {
  const MadeOnce slot;
  std::atomic<int> made = 0;
  std::vector<const int*> seen(4, nullptr);
  std::vector<std::thread> threads;
  for (const int*& own : seen)
    threads.emplace_back([&slot, &made, &own] { own = &slot.get<int>([&] { return ++made; }); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(made, 1);
  for (const int* own : seen) EXPECT_EQ(own, seen.front());
}

TEST(MadeOnce, ACopyStartsEmptyAndAMoveTakesTheValueAlong) {
  MadeOnce a;
  const int* first = &a.get<int>([] { return 1; });
  MadeOnce copy = a;
  EXPECT_EQ(copy.get<int>([] { return 2; }), 2);
  const MadeOnce moved = std::move(a);
  EXPECT_EQ(&moved.get<int>([] { return 3; }), first);
  copy = moved;
  EXPECT_EQ(copy.get<int>([] { return 4; }), 4);
}

TEST(MadeOnce, AnExceptionLeavesItEmpty) {
  const MadeOnce slot;
  EXPECT_THROW(slot.get<int>([]() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(slot.get<int>([] { return 5; }), 5);
}

}  // namespace
}  // namespace catena
