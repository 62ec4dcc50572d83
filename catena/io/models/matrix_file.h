// SPDX-License-Identifier: BSD-3-Clause
// Matrices beside a model: Matrix Market (.mtx; "coordinate" or "array", real or integer, general
// or symmetric) and datasets of HDF5 files (.h5, .hdf5). Throws an Error that names the file, and
// the line where there are lines.
#pragma once

#include <string>

#include <Eigen/Core>

namespace catena {

// `dataset` is read for HDF5 only.
Eigen::MatrixXd read_matrix_file(const std::string& path, const std::string& dataset = "");

}  // namespace catena
