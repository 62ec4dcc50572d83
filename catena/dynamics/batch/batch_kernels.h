// SPDX-License-Identifier: BSD-3-Clause
// Interface between batch.cpp and the kernels that sweep packs of states: plain tables in, rows of
// plain numbers in and out, and one table of functions for each instruction set of the build
// (kernel_table.h has the same for one state).
#pragma once

#include <cstddef>
#include <cstdint>

#include "catena/dynamics/kernels/kernel_table.h"
#include "catena/model/friction.h"

namespace catena {

inline constexpr int kMostLanes = 8;

// Damping, stiffness and friction of a freedom (loads.h).
struct FreedomLaw {
  int v_index = 0;
  int q_index = -1;
  double damping = 0.0;
  double stiffness = 0.0;
  double rest = 0.0;
  bool has_friction = false;
  Friction friction;
};

// A spring and damper between points of two nodes (−1: the ground).
struct SpringTerm {
  int node_a = -1, node_b = -1;
  double point_a[3] = {0, 0, 0};
  double point_b[3] = {0, 0, 0};
  double stiffness = 0.0, rest_length = 0.0, damping = 0.0;
  bool may_vanish = false;  // no force at length zero
};

// Where external wrenches act: a point of a node, and the axes of their components.
struct WrenchPlace {
  int node = -1;
  double point[3] = {0, 0, 0};
  double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};  // to the node's axes, unless in ground axes
  bool ground_axes = false;
};

// A body on its node (−1: the ground).
struct BodyTerm {
  int node = -1;
  double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double translation[3] = {0, 0, 0};
};

struct BatchModel {
  const SweepModel* sweep = nullptr;
  const int* quaternions = nullptr;  // q indices of their first numbers
  int quaternion_count = 0;
  const FreedomLaw* laws = nullptr;
  int law_count = 0;
  const SpringTerm* springs = nullptr;
  int spring_count = 0;
  const int* independent = nullptr;  // v indices; of closed mechanisms only
  int independent_count = 0;
  int general_count = 0;
  int most_terms = 0;  // of a coupling
};

// Rows of numbers, one for each state; null: zeros.
struct RowsIn {
  const double* first = nullptr;
  std::ptrdiff_t stride = 0;
};
struct RowsOut {
  double* first = nullptr;
  std::ptrdiff_t stride = 0;
};

struct BatchInput {
  RowsIn q, v, effort, acceleration;
  RowsIn wrenches;  // 6 numbers for each place
  const WrenchPlace* places = nullptr;
  int place_count = 0;
  bool any_ground_axes = false;
  const std::uint8_t* driven = nullptr;
};

// Of one pack: how its sweep ended, failed in at least one of its lanes, or one bit for each lane
// whose state cannot be evaluated. Results hold only if all of it is clear.
struct PackReport {
  SweepStatus sweep;
  unsigned not_finite = 0;
  unsigned bad_quaternion = 0;
  unsigned undefined_spring = 0;
  unsigned open_position = 0;
  unsigned open_velocity = 0;
  bool clear() const {
    return sweep.done() &&
           (not_finite | bad_quaternion | undefined_spring | open_position | open_velocity) == 0;
  }
};

// Where and how the numbers of a pack are left in lanes: every number `lanes` times.
struct LaneTarget {
  double* numbers = nullptr;
  bool stream = false;  // past the caches
  bool zeros = true;    // those that are zero in every state are to be written
};

// `states` says which row each lane reads and writes; several lanes may share one.
struct BatchKernels {
  const char* isa = "";
  int lanes = 1;
  std::size_t (*scratch_bytes)(const BatchModel&) = nullptr;
  // Lays out the scratch in memory aligned to 64 bytes.
  void (*bind)(const BatchModel&, void* memory) = nullptr;
  PackReport (*forward)(const BatchModel&, const BatchInput&, const std::ptrdiff_t* states,
                        void* memory, RowsOut acceleration) = nullptr;
  PackReport (*hybrid)(const BatchModel&, const BatchInput&, const std::ptrdiff_t* states,
                       void* memory, RowsOut acceleration, RowsOut effort) = nullptr;
  PackReport (*inverse)(const BatchModel&, const BatchInput&, const std::ptrdiff_t* states,
                        void* memory, RowsOut effort) = nullptr;
  // Lower triangle row by row.
  PackReport (*mass_matrix)(const BatchModel&, const BatchInput&, const std::ptrdiff_t* states,
                            void* memory, const LaneTarget& triangle) = nullptr;
  // Of every body, or with null bodies of every node: rotation row by row, translation, and with v
  // angular and linear velocity in its own axes. (Numbers of bodies are never streamed.)
  PackReport (*kinematics)(const BatchModel&, const BatchInput&, const std::ptrdiff_t* states,
                           void* memory, const BodyTerm* bodies, int body_count,
                           const LaneTarget& target) = nullptr;
  // From lanes to rows: `count` numbers.
  void (*store)(const double* lanes, int count, const std::ptrdiff_t* states,
                RowsOut rows) = nullptr;
};

const BatchKernels& batch_kernels();

BatchKernels portable_batch_kernels();
BatchKernels avx2_batch_kernels();
BatchKernels avx512_batch_kernels();

}  // namespace catena
