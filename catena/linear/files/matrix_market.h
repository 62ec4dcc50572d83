// SPDX-License-Identifier: BSD-3-Clause
// Matrices in Matrix Market files (.mtx): "coordinate" and "array", real or integer, general,
// symmetric or skew-symmetric. SciPy's mmwrite, Octave, MATLAB and Julia write them.
//
// Mistakes throw an Error with file and line. Files of gigabytes are read line by line.
#pragma once

#include <string>

#include <Eigen/SparseCore>

namespace catena {

Eigen::SparseMatrix<double> read_matrix_market(const std::string& path);
// Numbers read back as the same doubles. `symmetric`: only the lower triangle is written.
void write_matrix_market(const Eigen::SparseMatrix<double>& a, const std::string& path,
                         bool symmetric = false);

}  // namespace catena
