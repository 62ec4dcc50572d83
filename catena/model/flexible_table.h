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
//
// Matrices are column by column (the column of η_j is contiguous).
#pragma once

namespace catena {

struct AttachmentTable {
  double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double position[3] = {0, 0, 0};
  int modes = 0;
  bool ruthless = false;
  const double* base = nullptr;
  const double* matrix = nullptr;
};

struct FlexibleTable {
  int modes = 0;
  bool ruthless = false;
  const double* base = nullptr;
  const double* matrix = nullptr;
  const double* rates = nullptr;
  const double* modal_mass = nullptr;
  const double* stiffness = nullptr;
  const double* damping = nullptr;
};

}  // namespace catena
