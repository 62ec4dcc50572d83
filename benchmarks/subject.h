// SPDX-License-Identifier: BSD-3-Clause
// A mechanism with states to time: Catena's own, and the same in the plain numbers that peers read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "peer.h"

#include "catena/model/builder.h"

namespace catena_bench {

// States in rows, Catena's coordinates.
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Subject {
  // With pins the mechanism is a tree whose points are pinned to the ground by its cut hinges.
  Subject(std::string name, catena::Mechanism mechanism, int states,
          std::vector<PeerPin> pins = {});

  std::string name;
  catena::Mechanism mechanism;
  Rows q, v, acceleration, effort;
  std::vector<PeerBody> bodies;
  std::vector<PeerPin> pins;

  PeerModel model() const;
  PeerStates states() const;
  int count() const { return static_cast<int>(q.rows()); }
};

// Revolute hinges about z, y and x in turn, links of 0.3 m.
catena::Mechanism chain(int links);

// A free pelvis, two legs of six, a waist and a neck of two, two arms of seven freedoms and
// grippers of one: 6 + 32 freedoms. Masses and lengths are those of an adult, roughly.
catena::Mechanism humanoid();

// A plug-in, loaded with its symbols to itself.
class Plugin {
 public:
  explicit Plugin(const std::string& path);  // throws catena::Error
  std::string name() const { return name_(); }
  // Null if the peer cannot represent the model.
  std::unique_ptr<Peer> make(const Subject& subject) const;

 private:
  const char* (*name_)() = nullptr;
  bool (*takes_pins_)() = nullptr;
  Peer* (*make_)(const PeerModel*, const PeerStates*) = nullptr;
};

}  // namespace catena_bench
