// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/files/hdf5_matrices.h"

#include "catena/base/error.h"

namespace catena::hdf5 {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

Handle valid(hid_t id, Handle::Close close, const std::string& what) {
  if (id < 0) throw Error(what + ": " + hdf5::reason());
  return {id, close};
}

void write_matrix(hid_t file, const char* name, const MatrixXd& a, int rank,
                  const std::string& what) {
  const hsize_t size[] = {static_cast<hsize_t>(a.rows()), static_cast<hsize_t>(a.cols())};
  const Handle space = rank == 0 ? valid(H5Screate(H5S_SCALAR), H5Sclose, what)
                                 : valid(H5Screate_simple(rank, size, nullptr), H5Sclose, what);
  const Handle dataset = valid(
      H5Dcreate2(file, name, H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose, what);
  const RowMajor rows = a;
  if (H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) < 0)
    throw Error(what + ": " + hdf5::reason());
}

MatrixXd read_matrix(hid_t file, const char* name, const std::string& what) {
  if (H5Lexists(file, name, H5P_DEFAULT) <= 0) return {};
  const Handle dataset = hdf5::open_dataset(file, name, what);
  const Handle space = valid(H5Dget_space(dataset.get()), H5Sclose, what);
  const Handle type = valid(H5Dget_type(dataset.get()), H5Tclose, what);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  hsize_t size[2] = {1, 1};
  const H5T_class_t numbers = H5Tget_class(type.get());
  if (rank < 0 || rank > 2 || (numbers != H5T_FLOAT && numbers != H5T_INTEGER))
    throw Error(what + ": '" + name + "' is not a matrix of numbers");
  if (rank > 0) H5Sget_simple_extent_dims(space.get(), size, nullptr);
  // A damaged file may claim any size.
  constexpr hsize_t kMost = hsize_t{1} << 28U;
  if (size[0] > kMost || size[1] > kMost || size[0] * size[1] > kMost)
    throw Error(what + ": '" + name + "' has too many numbers");
  RowMajor rows(static_cast<Eigen::Index>(size[0]), static_cast<Eigen::Index>(size[1]));
  if (rows.size() > 0 &&
      H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) < 0)
    throw Error(what + ": '" + name + "' cannot be read: " + hdf5::reason());
  return rows;
}

VectorXd read_column(hid_t file, const char* name, const std::string& what) {
  const MatrixXd a = read_matrix(file, name, what);
  if (a.size() == 0) return {};
  if (a.cols() != 1 && a.rows() != 1) throw Error(what + ": '" + name + "' is not a vector");
  return Eigen::Map<const VectorXd>(a.data(), a.size());
}

void write_names(hid_t file, const char* name, const std::vector<std::string>& names,
                 const std::string& what) {
  if (names.empty()) return;
  const Handle type = valid(H5Tcopy(H5T_C_S1), H5Tclose, what);
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  const hsize_t count = names.size();
  const Handle space = valid(H5Screate_simple(1, &count, nullptr), H5Sclose, what);
  const Handle attribute = valid(
      H5Acreate2(file, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, what);
  std::vector<const char*> texts;
  for (const std::string& text : names) texts.push_back(text.c_str());
  if (H5Awrite(attribute.get(), type.get(), texts.data()) < 0)
    throw Error(what + ": " + hdf5::reason());
}

std::vector<std::string> read_names(hid_t file, const char* name, const std::string& what) {
  std::vector<std::string> names;
  if (H5Aexists(file, name) <= 0) return names;
  const Handle attribute = valid(H5Aopen(file, name, H5P_DEFAULT), H5Aclose, what);
  const Handle stored = valid(H5Aget_type(attribute.get()), H5Tclose, what);
  const Handle space = valid(H5Aget_space(attribute.get()), H5Sclose, what);
  if (H5Tget_class(stored.get()) != H5T_STRING || H5Tis_variable_str(stored.get()) <= 0)
    throw Error(what + ": the attribute '" + name + "' is not a list of texts of variable length");
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (count <= 0 || count > 10000000)
    throw Error(what + ": the attribute '" + name + "' is damaged");
  const Handle type = valid(H5Tcopy(H5T_C_S1), H5Tclose, what);
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5Tget_cset(stored.get()));
  std::vector<char*> texts(static_cast<std::size_t>(count), nullptr);
  if (H5Aread(attribute.get(), type.get(), texts.data()) < 0)
    throw Error(what + ": the attribute '" + name + "' cannot be read: " + hdf5::reason());
  for (const char* text : texts) names.emplace_back(text ? text : "");
  H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, texts.data());
  return names;
}

}  // namespace catena::hdf5
