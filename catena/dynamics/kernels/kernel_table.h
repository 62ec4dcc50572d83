// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; workspace.h needs it.
//
// What the compiled sweeps share with the code that calls them: plain tables in, plain arrays
// out, and one table of functions for each instruction set the build carries.
//
// The kernels (sweeps.h) are compiled once for each instruction set, each in its own inline
// namespace; kernel_table() picks at run time (environment variable CATENA_ISA=sse2|avx2 forces
// one, for testing).
#pragma once

#include <cstddef>
#include <cstdint>

#include "catena/closure/structure.h"
#include "catena/model/flexible_table.h"
#include "catena/model/node.h"

namespace catena {

// The rotor of a drive carried by the parent of its hinge (with armature_only: without a carrier).
struct RotorTerm {
  double reflected = 0.0;          // ratio² · rotor inertia
  double coupling[3] = {0, 0, 0};  // ratio · rotor inertia · axis, in the parent node's frame
};

// What the mass matrix of one state needs beside the nodes (composite_rows.h), if every branch of
// the tree is one stretch of freedoms. What belongs to a node stands at its first freedom.
struct CompositeTable {
  int stride = 0;                      // of rows by freedom; 0: there is no table
  const double* placements = nullptr;  // by node: three rows of rotation and translation
  // Rows: own inertia (xx, xy, xz, yy, yz, zz), own mass moment, and the mass of the whole branch.
  const double* inertias = nullptr;
  const int* branch_ends = nullptr;  // by freedom: one more than the last of its branch
  const int* tree_ends = nullptr;    // by freedom: and of its tree
  // By node: where the inverse keeps its twists (solve_rows.h: also its wrenches). The last child
  // takes its parent's place.
  const int* levels = nullptr;
  // Freedoms from each of which on four are looked at together, so that no node is left out.
  const int* groups = nullptr;
  int group_count = 0;
};

// How the sweeps treat a node: one file of node_kinds.h for each kind. Found once, when a
// workspace is made. The order counts: hinges up to `general`, then members of closed loops, of
// which `loop` and `gear_pair` are the first of theirs.
enum class NodeKind : std::uint8_t {
  revolute,         // a turn about z: axis_node.h
  prismatic,        // a shift along z
  revolute_rotor,   // the same with a rotor on the parent: rotor_node.h
  prismatic_rotor,  //
  modes,            // of a flexible body: flexible_node.h
  attachment,       // of a flexible body
  general,          // any other hinge: general_node.h
  member,           // of a closed loop: loop_node.h
  loop,             // the member of a closed loop that comes first: the loop is eliminated there
  gear_pair         // likewise, of a loop that is two hinges coupled by a gear: gear_pair.h
};

struct SweepModel {
  const Node* nodes = nullptr;
  int node_count = 0;
  const NodeKind* kinds = nullptr;        // by node
  const NodeKind* hinge_kinds = nullptr;  // by node: as if no loop was closed, up to `general`
  const NodeScrew* screws = nullptr;
  const CustomHinge* const* customs = nullptr;
  const RotorTerm* rotors = nullptr;   // by node; null: no drives
  const int* general_index = nullptr;  // by node: which GeneralScratch, −1 for fast hinges
  const FlexibleTable* const* flexible = nullptr;       // by Node::flexible of modes
  const AttachmentTable* const* attachments = nullptr;  // by Node::flexible of attachments
  const std::uint8_t* order_flags = nullptr;            // by node
  double gravity[3] = {0, 0, 0};
  int freedoms = 0;
  int coordinates = 0;
  // Closed loops (closure/structure.h).
  int aggregate_count = 0;
  const Aggregate* aggregates = nullptr;
  const AggregateMember* members = nullptr;
  const Closure* closures = nullptr;
  const PathColumn* paths = nullptr;
  const CouplingTerm* terms = nullptr;
  const int* order = nullptr;
  const ChartRow* chart_rows = nullptr;
  const double* constant_map = nullptr;
  const int* freedom_of_column = nullptr;
  const int* aggregate_of_node = nullptr;
  // The nodes in stretches of consecutive ones, no two connected other than through the ground:
  // where each ends. A mechanism with closed loops is one stretch.
  const int* stretch_ends = nullptr;
  int stretch_count = 0;
  CompositeTable composite;
  bool is_deep = false;  // some path from the ground has more than kDeepPath nodes
};

// All sweeps of one stretch run before those of the next, while its numbers are in the cache. A
// stretch is as short as the tree allows, but no shorter than this.
inline constexpr int kShortStretch = 64;

// From here on the mass matrix is faster with four columns at a time (measured on chains).
inline constexpr int kDeepPath = 16;

// A leaf starts from its own inertia; the first child that reaches its parent in the inward sweep
// starts the parent's sum. So no sum needs to be cleared or set beforehand.
inline constexpr std::uint8_t kLeaf = 1;
inline constexpr std::uint8_t kFirstAtParent = 2;
// A member of an aggregate whose children are all of its own aggregate counts as a leaf.
// A member that is placed before the sweep, because its loop's closure needs to know where it is.
// Members that hang on the base and are only coupled (gears) are placed in the sweep, like others.
inline constexpr std::uint8_t kPlacedEarly = 4;

// Inputs of one evaluation; null pointers stand for zeros.
template <class Scalar>
struct SweepInputs {
  const Scalar* q = nullptr;
  const Scalar* v = nullptr;
  const Scalar* effort = nullptr;
  const Scalar* acceleration = nullptr;  // of motion-driven freedoms, or of all (inverse)
  const std::uint8_t* driven = nullptr;  // by freedom: 1 = its acceleration is given
  const Scalar* external = nullptr;      // 6 per node: wrench on it, in its frame at its origin
  // X of every loop at this q is in the scratch already, left there by `embed` or by a sweep with
  // the same chart; only γ is found. (Of double alone.)
  bool embedded = false;
  // Ruthless flexible bodies too are seen deformed (kinematics).
  bool deformed = false;
};
using SweepInput = SweepInputs<double>;

// How a sweep ended. After a failure its results mean nothing.
struct SweepStatus {
  enum class Outcome : int {
    done,
    no_inertia,     // the hinge of node `place` moves no inertia in this position
    singular_chart  // the independent freedoms of loop `place` do not determine the others here
  };
  Outcome outcome = Outcome::done;
  int place = -1;

  static constexpr SweepStatus no_inertia(int node) { return {Outcome::no_inertia, node}; }
  static constexpr SweepStatus singular_chart(int loop) { return {Outcome::singular_chart, loop}; }
  constexpr bool done() const { return outcome == Outcome::done; }
  constexpr bool is_no_inertia() const { return outcome == Outcome::no_inertia; }
  constexpr bool is_singular_chart() const { return outcome == Outcome::singular_chart; }
};

// Columns one after the other.
struct ColumnsIn {
  const double* first = nullptr;
  std::ptrdiff_t stride = 0;
  int count = 0;
};
struct ColumnsOut {
  double* first = nullptr;
  std::ptrdiff_t stride = 0;
};
// So many go through the sweeps together (solve_rows.h).
inline constexpr int kSolveColumns = 32;

struct KernelTable {
  const char* isa = "";
  // Forward and hybrid dynamics: accelerations of all freedoms; efforts of all freedoms (the given
  // ones, and those found for motion-driven ones). Articulated inertias stay in the scratch.
  SweepStatus (*forward)(const SweepModel&, const SweepInput&, void* scratch,
                         double* acceleration) = nullptr;
  SweepStatus (*hybrid)(const SweepModel&, const SweepInput&, void* scratch, double* acceleration,
                        double* effort) = nullptr;
  SweepStatus (*inverse)(const SweepModel&, const SweepInput&, void* scratch,
                         double* effort) = nullptr;
  // Positions and (if v is given) velocities of all nodes, in ground axes.
  void (*kinematics)(const SweepModel&, const SweepInput&, void* scratch) = nullptr;
  // X of every loop, and γ if v is given.
  SweepStatus (*embed)(const SweepModel&, const SweepInput&, void* scratch) = nullptr;
  // Of the spanning tree: dense, row-major, both triangles.
  void (*mass_matrix)(const SweepModel&, const SweepInput&, void* scratch,
                      double* matrix) = nullptr;
  // After `forward`; for trees with a CompositeTable. Both triangles.
  void (*inverse_mass_matrix)(const SweepModel&, void* scratch, double* matrix) = nullptr;
  // left := factor · M⁻¹ right; likewise. They may be the same columns.
  void (*solve)(const SweepModel&, void* scratch, const ColumnsIn& right, double factor,
                const ColumnsOut& left) = nullptr;
};

const KernelTable& kernel_table();

KernelTable portable_kernels();
KernelTable avx2_kernels();
void portable_inverse_mass_matrix(const SweepModel&, void* scratch, double* matrix);
void avx2_inverse_mass_matrix(const SweepModel&, void* scratch, double* matrix);
void portable_solve(const SweepModel&, void* scratch, const ColumnsIn& right, double factor,
                    const ColumnsOut& left);
void avx2_solve(const SweepModel&, void* scratch, const ColumnsIn& right, double factor,
                const ColumnsOut& left);
void portable_mass_matrix(const SweepModel&, const SweepInput&, void* scratch, double* matrix);
void avx2_mass_matrix(const SweepModel&, const SweepInput&, void* scratch, double* matrix);

}  // namespace catena
