// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; workspace.h needs it.
//
// The memory of the columns (columns.h), the pattern of zeros of a mechanism's matrices, and the
// compiled kernels that work on them, one set for each instruction set.
#pragma once

#include <cstdint>

#include "catena/dynamics/kernels/kernel_table.h"
#include "catena/dynamics/kernels/scratch.h"

namespace catena {

// The rotor of a drive: ratio · inertia · axis in the carrier's frame (carrier −1: only its
// reflected inertia counts).
struct DriveTerm {
  int freedom = 0;
  int carrier = -1;
  double coupling[3] = {0, 0, 0};
  double reflected = 0.0;
};

// Rows of one column of a matrix, in ascending order: of freedoms inboard of the column's (or of
// its own hinge), outboard of it, or neither.
struct RowSegment {
  enum class Kind : std::uint8_t { inboard, outboard, none };
  Kind kind = Kind::none;
  int first = 0;
  int count = 0;
};

struct MatrixPattern {
  int size = 0;
  int stride = 0;                        // padded length of a column
  const RowSegment* segments = nullptr;  // of all columns
  const int* first_segment = nullptr;    // by column, and the end
  const int* inboard = nullptr;          // freedoms inboard of each (earlier ones of its hinge too)
  const int* first_inboard = nullptr;    // by freedom, and the end
  // Rows that are not zero in any of four neighbouring columns.
  const int* group_rows = nullptr;
  const int* first_group_row = nullptr;  // by group, and the end
};
inline constexpr int kLanes = 4;

inline namespace CATENA_ISA {

// A node in ground axes about the reference point of its tree. After the inward sweep inertia,
// inertia_rate, momentum and force are those of everything outboard.
template <class Scalar>
struct ColumnNode {
  Transform<Scalar> pose;  // translation from the reference point
  Vec3<Scalar> reference;  // in the ground frame
  Twist<Scalar> twist;
  Twist<Scalar> acceleration;
  SpatialInertia<Scalar> inertia;
  SymMat3<Scalar> inertia_rate;
  Wrench<Scalar> momentum;
  Wrench<Scalar> force;
};

template <class Scalar>
struct GeneralColumns {
  Twist<Scalar> map_by_q[kMaxFreedoms][kMaxFreedoms];  // [l][m], if it varies
  Scalar own[kMaxFreedoms][kMaxFreedoms];              // [l][m]: adds to ∂τ_m/∂q_l
  bool varies;
};

template <class Scalar>
struct RotorColumn {
  Vec3<Scalar> axis;    // u
  Vec3<Scalar> turned;  // ω_carrier × u
};

// Where the numbers of a freedom are in tables of packs.
namespace column_place {
inline constexpr int kTwist = 0, kRate = 6, kSecond = 12, kDrift = 18, kMomentum = 24, kByQ = 30,
                     kByV = 36, kTurning = 42, kCount = 45;
}

// Six (turning: three) arrays of `stride` numbers each, one after the other: neighbouring freedoms
// are lanes of a register. Packs have lanes of their own; all numbers of a freedom are together
// then (column_place), so that they are at fixed distances.
template <class Scalar>
struct DerivativeTable {
  int stride = 0;
  Scalar* twist = nullptr;
  Scalar* rate = nullptr;
  Scalar* second = nullptr;
  Scalar* drift = nullptr;
  Scalar* momentum = nullptr;
  Scalar* turning = nullptr;
  Scalar* by_q = nullptr;
  Scalar* by_v = nullptr;
  ColumnNode<Scalar>* nodes = nullptr;
  GeneralColumns<Scalar>* general = nullptr;
  const DriveTerm* drives = nullptr;
  RotorColumn<Scalar>* rotors = nullptr;
  int drive_count = 0;
};

}  // namespace CATENA_ISA

// Result of the factorization of a mass matrix.
struct LostPivot {
  int freedom = -1;  // the first, from the tips, whose pivot is rounding; −1: none
  bool found() const { return freedom >= 0; }
};

// Pointers are to padded matrices: column k starts at k · pattern.stride.
struct ColumnKernels {
  const char* isa = "";
  // `scratch` is a Scratch<double>, `columns` a DerivativeTable<double>.
  void (*columns)(const SweepModel&, const SweepInput&, bool placed, void* scratch,
                  void* columns) = nullptr;
  // ∂τ/∂q, ∂τ/∂v and M of the tree.
  void (*matrices)(const SweepModel&, const MatrixPattern&, void* columns, double* by_q,
                   double* by_v, double* mass) = nullptr;
  // The inverse of a mass matrix with the zeros of the pattern; `work` has two matrices.
  LostPivot (*invert)(const MatrixPattern&, const double* mass, double* work,
                      double* inverse) = nullptr;
  // c = −a b, where b has the zeros of the pattern.
  void (*multiply)(const MatrixPattern&, const double* a, const double* b, double* c) = nullptr;
};

const ColumnKernels& column_kernels();
ColumnKernels portable_column_kernels();
ColumnKernels avx2_column_kernels();

}  // namespace catena
