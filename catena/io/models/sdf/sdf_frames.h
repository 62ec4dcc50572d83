// SPDX-License-Identifier: BSD-3-Clause
// The frames of an SDF file: where each is and on which body it sits.
//
// Links, joints, models and <frame>s are all frames. Each is placed relative to another one (a
// tree that grows from the world) and attached to another one (a chain that ends at a link or at
// the world). Poses between two frames are computed along the tree, through their nearest common
// ancestor, so that numbers given in the file come back as they were written.
//
// Cost: O(frames) to resolve, without recursion; a pose costs the path between the two frames.
#pragma once

#include <string>
#include <vector>

#include "catena/base/index.h"
#include "catena/io/models/xml.h"
#include "catena/spatial/transform.h"

namespace catena {

class SdfFrames {
 public:
  static constexpr int kWorldFrame = 0;
  static constexpr int kNoFrame = -1;
  static constexpr int kWorldBody = -1;
  static constexpr int kNoBody = -2;

  SdfFrames();

  // A new frame, at the world until it is placed. `what` names it in messages ("frame 'tip'").
  int add(const Source& source, std::string what);
  void place(int frame, int relative_to, const Transformd& pose);
  void attach(int frame, int to);
  void set_body(int frame, int body);
  // The pose given by place() is that of `placed`, which sits somewhere inside `model`, and the
  // model follows. Call it for inner models before outer ones.
  void set_placement(int model, int placed);

  // Checks for cycles and resolves everything. False after an error, which is in the report.
  bool resolve(xml::Report& report);

  // X_in_of, once resolved.
  Transformd pose(int of, int in) const;
  // The body the frame sits on; kNoBody for a model without links.
  int body(int frame) const { return at(frame).body; }
  const Source& source(int frame) const { return at(frame).source; }
  const std::string& what(int frame) const { return at(frame).what; }

 private:
  struct Frame {
    Source source;
    std::string what;
    int relative_to = kNoFrame;
    int attached_to = kNoFrame;
    int body = kNoBody;
    int depth = 0;
    Transformd edge;   // X_relative_to_frame
    Transformd world;  // X_world_frame
  };
  struct Placement {
    int model;
    int placed;
  };
  const Frame& at(int i) const { return frames_[index(i)]; }
  Frame& at(int i) { return frames_[index(i)]; }
  // Frames so that each comes after the one `next` names; empty after an error (a cycle).
  std::vector<int> sorted(int Frame::*next, const char* word, xml::Report& report) const;
  bool apply_placements(xml::Report& report);

  std::vector<Frame> frames_;
  std::vector<Placement> placements_;
};

}  // namespace catena
