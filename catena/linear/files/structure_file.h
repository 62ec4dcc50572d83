// SPDX-License-Identifier: BSD-3-Clause
// Structures M q̈ + D q̇ + K q = B u, y = Cq q + Cv q̇ + feedthrough u in files.
//
//   structure: 1                # version of the format
//   M: mass.mtx                 # Matrix Market, relative to this file; or rows [[1, 0], [0, 1]]
//   D: damping.mtx              # may be left out
//   K: stiffness.mtx
//   B: [[0], [1]]
//   Cq: [[1, 0]]                # Cq or Cv or both
//   inputs: [force]             # names may be left out
//   outputs: [tip]
//
// HDF5 has the same names: M, D, K (and B, Cq, Cv) are datasets, or groups as SciPy's CSR matrices:
// datasets `data`, `indices`, `indptr` and the attribute or dataset `shape`. Names are attributes
// of the root.
//
// Mistakes throw an Error with the file, and the line in text files.
#pragma once

#include <string>

#include "catena/linear/second_order.h"

namespace catena {

// Whether a file is one: a YAML map with `structure` or M and K; an HDF5 file with M and K.
bool is_structure_file(const std::string& path);
SecondOrder load_structure(const std::string& path);
// .h5 or .hdf5: one file. .yaml or .yml: beside it NAME_M.mtx, NAME_K.mtx and so on.
void save_structure(const SecondOrder& structure, const std::string& path);

}  // namespace catena
