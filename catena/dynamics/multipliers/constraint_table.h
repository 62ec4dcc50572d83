// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; tree_constraints.h needs it.
//
// What the sweeps of constraint_sweeps.h share with the code that calls them: plain tables and one
// table of functions for each instruction set, like kernel_table.h.
#pragma once

#include <cstdint>

#include "catena/dynamics/kernels/kernel_table.h"

namespace catena {

// Unit multipliers of one constraint (its columns) on their way to the ground. An entry is a node
// on that way; entries stand tips first. A slot is a freedom of an entry. A column is a lane.
struct ConstraintColumns {
  int entries = 0;
  int lanes = 4;                        // 4 or 8
  const int* node = nullptr;            // by entry
  const int* parent = nullptr;          // by entry: the entry of its parent; −1: the ground
  const int* slot = nullptr;            // by entry: its first slot
  const std::uint8_t* flags = nullptr;  // by entry
  double* force = nullptr;              // [entry][6][lane]: wrench on the node, in its frame
  double* effort = nullptr;             // [slot][lane]: at the freedoms; null: none
  double* found = nullptr;  // [slot][lane]: C⁻¹ ε of the hinge, its inertia being D = C Cᵀ
};
inline constexpr std::uint8_t kStartsParent = 1;  // the first to reach its parent's entry
inline constexpr std::uint8_t kNothingYet = 2;    // no force acts here, nor beyond
// Of an attachment of a flexible body: the first to reach its modes. Of the modes: one of their
// attachments has.
inline constexpr std::uint8_t kFirstAtModes = 4;

struct ConstraintKernels {
  // Fills `found`. After a sweep that eliminated every freedom.
  void (*carry)(const SweepModel&, void* scratch, const ConstraintColumns&) = nullptr;
  // block[i][j] += Σ a.found[slot][i] · b.found[slot][j] over the pairs of slots, row by row with
  // b's lanes as the width.
  void (*meet)(const ConstraintColumns& a, const ConstraintColumns& b, int count,
               const int* slots_a, const int* slots_b, double* block) = nullptr;
  // What the freedoms and nodes do when the hinges get these innovations (C⁻¹ ε by freedom):
  // change by freedom and by node (6 each); nodes parent first.
  void (*respond)(const SweepModel&, void* scratch, int count, const int* nodes,
                  const double* innovation, double* change, double* node_change) = nullptr;
};

const ConstraintKernels& constraint_kernels();

ConstraintKernels portable_constraint_kernels();
ConstraintKernels avx2_constraint_kernels();

}  // namespace catena
