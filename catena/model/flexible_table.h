// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; mechanism.h needs it.
//
// The constants of a flexible body as the sweeps read them: plain numbers, arranged so that all
// that depends on η is one product. Made once for each FlexibleBody, shared by identical bodies.
//
// Blocks of n numbers stand one after the other, one for each component c:
//
//   body         z = base + matrix η, 12 n: C_t (3), dJ/dη (6: xx xy xz yy yz zz), C_r (3)
//                rates: 9 n × n: h2 (3), C1 (3), C1ᵀ (3), to be multiplied by η̇
//   attachment   z = base + matrix η, 6 n: derivative of the rotation vector (3), of the position
//   (3)
//   completion   see CompletionTable
//
// Matrices are column by column (the column of η_j is contiguous), without the blocks that are
// zero.
#pragma once

namespace catena {

// A matrix of blocks n × n, one over the other, of which only those are stored that are not zero.
struct BlockMatrix {
  struct Run {
    int place = 0;  // of its first block
    int count = 0;  // of blocks, one after the other
  };
  const Run* runs = nullptr;
  int run_count = 0;
  int stored = 0;  // blocks
  const double* numbers = nullptr;
};

struct AttachmentTable {
  double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double position[3] = {0, 0, 0};
  int modes = 0;
  bool ruthless = false;
  const double* base = nullptr;
  BlockMatrix matrix;
};

// Rows of the factor of the inertia that is completed (flexible_completion.h): points, whose
// velocity is s v + ω × p + dp/dt, and turning rows a · ω + c · η̇. Blocks of z:
//   dp/dη (3) of every point, then da/dη (3) and c (1) of every turning row;
// of the products with η̇: those of dp/dη (3) by point, then C η̇ and Cᵀ η̇ by row, c = c0 + C η.
struct CompletionTable {
  int points = 0;
  int rows = 0;
  const double* scale = nullptr;     // s, by point
  const double* position = nullptr;  // p at rest, 3 by point
  const double* turn = nullptr;      // a at rest, 3 by row
  const double* base = nullptr;
  BlockMatrix matrix;
  BlockMatrix rates;

  int blocks() const { return 3 * points + 4 * rows; }
  int rate_blocks() const { return 3 * points + 2 * rows; }
};

struct FlexibleTable {
  int modes = 0;
  bool ruthless = false;
  const double* base = nullptr;
  BlockMatrix matrix;
  BlockMatrix rates;
  const double* modal_mass = nullptr;
  BlockMatrix stiffness;
  BlockMatrix damping;
  const CompletionTable* completion = nullptr;  // null: not completed
};

}  // namespace catena
