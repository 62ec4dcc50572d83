// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/sdf/sdf_frames.h"

#include <utility>

#include "catena/base/index.h"

namespace catena {

SdfFrames::SdfFrames() {
  add({}, "the world");
  at(kWorldFrame).body = kWorldBody;
}

int SdfFrames::add(const Source& source, std::string what) {
  Frame frame;
  frame.source = source;
  frame.what = std::move(what);
  if (!frames_.empty()) frame.relative_to = kWorldFrame;
  frames_.push_back(std::move(frame));
  return static_cast<int>(frames_.size()) - 1;
}

void SdfFrames::place(int frame, int relative_to, const Transformd& pose) {
  at(frame).relative_to = relative_to;
  at(frame).edge = pose;
}

void SdfFrames::attach(int frame, int to) { at(frame).attached_to = to; }

void SdfFrames::set_body(int frame, int body) { at(frame).body = body; }

void SdfFrames::set_placement(int model, int placed) { placements_.push_back({model, placed}); }

std::vector<int> SdfFrames::sorted(int Frame::*next, const char* word, xml::Report& report) const {
  enum class Mark : char { fresh, open, done };
  std::vector<Mark> mark(frames_.size(), Mark::fresh);
  std::vector<int> order;
  order.reserve(frames_.size());
  std::vector<int> path;
  bool sound = true;
  for (int start = 0; start < static_cast<int>(frames_.size()); ++start) {
    int i = start;
    path.clear();
    while (i != kNoFrame && mark[index(i)] == Mark::fresh) {
      mark[index(i)] = Mark::open;
      path.push_back(i);
      i = at(i).*next;
    }
    if (i != kNoFrame && mark[index(i)] == Mark::open) {
      sound = false;
      report.error(at(i).source, at(i).what + " is " + word +
                                     (at(i).*next == i ? std::string(" itself")
                                                       : " " + at(at(i).*next).what +
                                                             ", which leads back to it") +
                                     "; break the circle");
    }
    for (auto p = path.rbegin(); p != path.rend(); ++p) {
      mark[index(*p)] = Mark::done;
      order.push_back(*p);
    }
  }
  if (!sound) order.clear();
  return order;
}

bool SdfFrames::apply_placements(xml::Report& report) {
  for (const auto& [model, placed] : placements_) {
    Transformd inside;  // X_model_placed
    int i = placed;
    while (i != model && i != kNoFrame) {
      inside = at(i).edge * inside;
      i = at(i).relative_to;
    }
    if (i == kNoFrame) {
      report.error(at(model).source, "the placement frame of " + at(model).what + ", " +
                                         at(placed).what +
                                         ", is not placed relative to that model");
      return false;
    }
    at(model).edge = at(model).edge * inside.inverse();
  }
  return true;
}

bool SdfFrames::resolve(xml::Report& report) {
  // A frame is placed relative to the frame it is attached to: otherwise one circle would be
  // reported twice.
  const std::vector<int> chain = sorted(&Frame::attached_to, "attached to", report);
  if (chain.empty()) return false;
  const std::vector<int> tree = sorted(&Frame::relative_to, "placed relative to", report);
  if (tree.empty() || !apply_placements(report)) return false;
  for (const int i : tree) {
    if (i == kWorldFrame) continue;
    const Frame& base = at(at(i).relative_to);
    at(i).world = base.world * at(i).edge;
    at(i).depth = base.depth + 1;
  }
  for (const int i : chain)
    if (at(i).attached_to != kNoFrame) at(i).body = at(at(i).attached_to).body;
  return true;
}

Transformd SdfFrames::pose(int of, int in) const {
  // Longer paths are no better than the world's poses, and would make long chains quadratic.
  constexpr int kLongestPath = 64;
  Transformd X_top_of, X_top_in;
  int a = of, b = in;
  for (int steps = 0; a != b; ++steps) {
    if (steps > kLongestPath) return at(in).world.inverse() * at(of).world;
    if (at(a).depth >= at(b).depth) {
      X_top_of = at(a).edge * X_top_of;
      a = at(a).relative_to;
    } else {
      X_top_in = at(b).edge * X_top_in;
      b = at(b).relative_to;
    }
  }
  return b == in ? X_top_of : X_top_in.inverse() * X_top_of;
}

}  // namespace catena
