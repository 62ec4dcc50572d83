// SPDX-License-Identifier: BSD-3-Clause
// Short samples, taken in turn: whatever else the machine does meets all contenders alike.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace catena_bench {

constexpr double kSample = 50e3;  // ns

inline double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::nano>(Clock::now().time_since_epoch()).count();
}

inline double median(std::vector<double> x) {
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

// One cell: a library doing a task.
struct Contender {
  std::string name;
  std::function<void(int)> call;  // with a number that counts up
  int states = 1;                 // evaluated by one call
  int repetitions = 1;
  int count = 0;
  std::vector<double> samples = {};

  double time(int n) {
    const double start = now();
    for (int i = 0; i < n; ++i) call(count++);
    return now() - start;
  }
  void calibrate() {
    int n = 1;
    double t = time(n);
    for (; t < 0.5 * kSample; n *= 2) t = time(2 * n);
    repetitions = std::max(1, static_cast<int>(n * kSample / t));
  }
  // A few calls first that are not counted: the one before has left the caches to itself.
  void sample() {
    time(repetitions / 4 + 1);
    samples.push_back(time(repetitions) / repetitions / states);
  }
};

// Round after round, everybody takes a sample.
inline void take_turns(std::vector<Contender>& all, int rounds) {
  for (Contender& x : all) x.calibrate();
  for (int r = 0; r < rounds; ++r)
    for (Contender& x : all) x.sample();
}

}  // namespace catena_bench
