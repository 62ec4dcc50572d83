// SPDX-License-Identifier: BSD-3-Clause
// A progress bar with the remaining time on a terminal, nothing in a pipe; and Ctrl-C as a request
// for an orderly stop.
#pragma once

#include <chrono>

namespace catena::app {

class Progress {
 public:
  // Draws on stderr if that is a terminal and `wanted`. While it lives, SIGINT and SIGTERM only set
  // interrupted(); a second one ends the program at once.
  Progress(double duration, bool wanted);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Cheap; draws a few times a second.
  void update(double t);
  bool interrupted() const;
  // Takes the bar away.
  void clear();

 private:
  void draw(double t);

  double duration_;
  bool visible_;
  double first_ = -1.0;  // the time of the first update
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
  int since_drawn_ = 0;
};

}  // namespace catena::app
