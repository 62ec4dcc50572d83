// SPDX-License-Identifier: BSD-3-Clause
// Matrices, vectors and lists of names in HDF5 files of linear systems and structures. Not
// installed.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "catena/io/runs/hdf5.h"

namespace catena::hdf5 {

// Throws an Error, `what` first, if HDF5 returned no identifier.
Handle valid(hid_t id, Handle::Close close, const std::string& what);

// Two-dimensional (rank 2), or a vector (1) or a number (0), rows first.
void write_matrix(hid_t file, const char* name, const Eigen::MatrixXd& a, int rank,
                  const std::string& what);
// The numbers of a dataset of at most two dimensions; a vector is a column. Missing: empty.
Eigen::MatrixXd read_matrix(hid_t file, const char* name, const std::string& what);
Eigen::VectorXd read_column(hid_t file, const char* name, const std::string& what);

// Lists of names are attributes of variable-length text. Missing: empty.
void write_names(hid_t file, const char* name, const std::vector<std::string>& names,
                 const std::string& what);
std::vector<std::string> read_names(hid_t file, const char* name, const std::string& what);

}  // namespace catena::hdf5
