// SPDX-License-Identifier: BSD-3-Clause
// What the benchmark and a peer library share. Each peer is a plug-in of its own, so that its flags
// (a peer deserves -march=native) and its copy of Eigen stay apart from everybody else's; hence
// plain numbers only.
//
// Bodies come parent first and carry the index of their hinge. Coordinates are Catena's
// (docs/notation.md, section 5): a free hinge has q = quaternion (w, x, y, z), position and v =
// (angular, linear) in the body's frame. A plug-in translates once, before anything is timed.
#pragma once

namespace catena_bench {

struct PeerBody {
  int parent = -1;   // −1: the ground
  char hinge = 'r';  // r: revolute, p: prismatic, f: free
  double axis[3] = {0, 0, 1};
  double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};  // of the body on its parent at q = 0, by rows
  double translation[3] = {0, 0, 0};
  double mass = 0.0;
  double center[3] = {0, 0, 0};
  double inertia[6] = {0, 0, 0, 0, 0, 0};  // about the centre: xx, xy, xz, yy, yz, zz
};

// A point of a body that is pinned to a point of the ground: a closed loop.
struct PeerPin {
  int body = 0;
  double point[3] = {0, 0, 0};
  double ground[3] = {0, 0, 0};
};

struct PeerModel {
  int body_count = 0;
  const PeerBody* bodies = nullptr;
  double gravity[3] = {0, 0, -9.81};
  int coordinates = 0;
  int freedoms = 0;
  // Only for plug-ins that define catena_peer_takes_pins(); they give forward dynamics alone then.
  int pin_count = 0;
  const PeerPin* pins = nullptr;
};

struct PeerStates {
  int count = 0;
  const double* q = nullptr;  // count rows of `coordinates`
  const double* v = nullptr;  // count rows of `freedoms`, like those below
  const double* acceleration = nullptr;
  const double* effort = nullptr;
};

enum class Task {
  kinematics,  // poses and twists of all bodies
  inverse,
  forward,
  mass_matrix,
  inverse_mass_matrix,
  inverse_derivatives,  // with respect to q and v
  forward_derivatives,  // with respect to q, v and effort
};
inline constexpr int kTasks = 7;

class Peer {
 public:
  virtual ~Peer() = default;
  virtual bool can(Task task) const = 0;
  virtual void run(Task task, int state) = 0;
  // After run(): forward and inverse give `freedoms` numbers, the mass matrix freedoms² ones, both
  // triangles; false for tasks whose result is not compared.
  virtual bool result(Task task, double* numbers) const = 0;
};

}  // namespace catena_bench

// What every plug-in defines. Null if the peer cannot represent the model.
extern "C" {
bool catena_peer_takes_pins();  // may be left out
const char* catena_peer_name();
catena_bench::Peer* catena_peer_make(const catena_bench::PeerModel* model,
                                     const catena_bench::PeerStates* states);
}
