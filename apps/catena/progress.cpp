// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/progress.h"

#include <cmath>
#include <csignal>
#include <cstdio>
#include <string>

#include <fmt/core.h>
#include <unistd.h>

namespace catena::app {
namespace {

volatile std::sig_atomic_t stop_wanted = 0;

extern "C" void on_signal(int signal) {
  stop_wanted = 1;
  std::signal(signal, SIG_DFL);
}

constexpr int kWidth = 30;
constexpr std::chrono::milliseconds kBetweenDrawings{100};

std::string duration_text(double seconds) {
  const long s = std::lround(seconds);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

}  // namespace

Progress::Progress(double duration, bool wanted)
    : duration_(duration),
      visible_(wanted && isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      drawn_(start_) {
  stop_wanted = 0;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

Progress::~Progress() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  clear();
}

void Progress::clear() {
  if (visible_) std::fputs("\r\033[K", stderr);
  visible_ = false;
}

bool Progress::interrupted() const { return stop_wanted != 0; }

void Progress::update(double t) {
  if (first_ < 0.0) first_ = t;
  if (!visible_) return;
  // The clock is not read at every step.
  constexpr int kSteps = 16;
  if (++since_drawn_ < kSteps) return;
  since_drawn_ = 0;
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < kBetweenDrawings) return;
  drawn_ = now;
  draw(t);
}

void Progress::draw(double t) {
  const double part = t / duration_;
  const double spent = std::chrono::duration<double>(drawn_ - start_).count();
  const double left = t > first_ ? spent * (duration_ - t) / (t - first_) : 0.0;
  const int full = static_cast<int>(part * kWidth);
  std::string bar;
  for (int k = 0; k < kWidth; ++k) bar += k < full ? "█" : "░";
  const std::string line = fmt::format("\r{} {:3.0f} %  {:.4g} of {:.4g} s  {} left\033[K", bar,
                                       100.0 * part, t, duration_, duration_text(left));
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace catena::app
