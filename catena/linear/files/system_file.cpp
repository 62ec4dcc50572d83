// SPDX-License-Identifier: BSD-3-Clause
// Linear systems in files by ending, and the HDF5 form (system_file.h).
#include "catena/linear/files/system_file.h"

#include <filesystem>

#include "catena/base/error.h"
#include "catena/base/write_file.h"
#include "catena/io/runs/hdf5.h"
#include "catena/io/text_file.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using hdf5::Handle;

enum class FileKind { yaml, hdf5 };

FileKind kind_of(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".yaml" || ending == ".yml") return FileKind::yaml;
  if (ending == ".h5" || ending == ".hdf5") return FileKind::hdf5;
  throw Error(path + ": a linear system ends in .yaml, .yml, .h5 or .hdf5, not in '" + ending +
              "'");
}

Handle valid(hid_t id, Handle::Close close, const std::string& what) {
  if (id < 0) throw Error(what + ": " + hdf5::reason());
  return {id, close};
}

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Two-dimensional (rank 2), or a vector (1) or a number (0).
void write_dataset(hid_t file, const char* name, const MatrixXd& a, int rank,
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

bool has_dataset(hid_t file, const char* name) { return H5Lexists(file, name, H5P_DEFAULT) > 0; }

// The numbers of a dataset of at most two dimensions; a vector is a column. Missing: empty.
MatrixXd read_dataset(hid_t file, const char* name, const std::string& what) {
  if (!has_dataset(file, name)) return {};
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
  const MatrixXd a = read_dataset(file, name, what);
  if (a.size() == 0) return {};
  if (a.cols() != 1 && a.rows() != 1) throw Error(what + ": '" + name + "' is not a vector");
  return Eigen::Map<const VectorXd>(a.data(), a.size());
}

// Lists of names are attributes of variable-length text.
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

void write_hdf5(const StateSpace& system, const std::string& path) {
  const hdf5::Quiet quiet;
  Handle file = valid(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
                      path + ": cannot be written");
  const std::string what = path + ": writing";
  const hid_t at = file.get();
  hdf5::write_attribute(at, "linear system", "1", what);
  write_dataset(at, "dt", MatrixXd::Constant(1, 1, system.dt), 0, what);
  const std::pair<const char*, const MatrixXd*> matrices[] = {
      {"A", &system.A}, {"B", &system.B}, {"C", &system.C}, {"D", &system.D}, {"E", &system.E}};
  for (const auto& [name, a] : matrices)
    if (a->size() > 0) write_dataset(at, name, *a, 2, what);
  const auto column = [&](const char* name, const VectorXd& v) {
    if (v.size() > 0) write_dataset(at, name, v, 1, what);
  };
  column("input_delay", system.input_delay);
  column("output_delay", system.output_delay);
  write_names(at, "states", system.states, what);
  write_names(at, "inputs", system.inputs, what);
  write_names(at, "outputs", system.outputs, what);
  write_names(at, "state_units", system.state_units, what);
  write_names(at, "input_units", system.input_units, what);
  write_names(at, "output_units", system.output_units, what);
  if (system.point) {
    hdf5::write_attribute(at, "mechanism", system.point->mechanism, what);
    column("q", system.point->q);
    column("v", system.point->v);
    column("x0", system.point->x0);
    column("u0", system.point->u0);
    column("y0", system.point->y0);
  }
  if (!file.close()) throw Error(what + ": " + hdf5::reason());
}

StateSpace read_hdf5(const std::string& path) {
  const hdf5::Quiet quiet;
  if (!std::filesystem::exists(path)) throw Error(path + ": no such file");
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (id < 0) throw Error(path + ": it is not an HDF5 file, or it is damaged: " + hdf5::reason());
  const Handle file(id, H5Fclose);
  const hid_t at = file.get();
  StateSpace s;
  s.A = read_dataset(at, "A", path);
  s.B = read_dataset(at, "B", path);
  s.C = read_dataset(at, "C", path);
  s.D = read_dataset(at, "D", path);
  s.E = read_dataset(at, "E", path);
  if (s.A.size() == 0 && s.D.size() == 0)
    throw Error(path + ": it has no datasets A, B, C, D of a linear system");
  if (const VectorXd dt = read_column(at, "dt", path); dt.size() > 0) s.dt = dt[0];
  s.input_delay = read_column(at, "input_delay", path);
  s.output_delay = read_column(at, "output_delay", path);
  s.states = read_names(at, "states", path);
  s.inputs = read_names(at, "inputs", path);
  s.outputs = read_names(at, "outputs", path);
  s.state_units = read_names(at, "state_units", path);
  s.input_units = read_names(at, "input_units", path);
  s.output_units = read_names(at, "output_units", path);
  const Eigen::Index n = s.A.rows();
  if (s.B.size() == 0) s.B = MatrixXd::Zero(n, s.D.cols());
  if (s.C.size() == 0) s.C = MatrixXd::Zero(s.D.rows(), n);
  if (s.D.size() == 0) s.D = MatrixXd::Zero(s.C.rows(), s.B.cols());
  if (H5Aexists(at, "mechanism") > 0) {
    SystemPoint point;
    point.mechanism = hdf5::read_attribute(at, "mechanism", path);
    point.q = read_column(at, "q", path);
    point.v = read_column(at, "v", path);
    point.x0 = read_column(at, "x0", path);
    point.u0 = read_column(at, "u0", path);
    point.y0 = read_column(at, "y0", path);
    s.point = point;
  }
  try {
    s.validate();
  } catch (const Error& e) {
    throw Error(path + ": " + e.what());
  }
  s.fill_names();
  return s;
}

}  // namespace

StateSpace load_system(const std::string& path) {
  if (kind_of(path) == FileKind::hdf5) return read_hdf5(path);
  std::vector<Diagnostic> diagnostics;
  const std::optional<std::string> text = read_text_file(path, diagnostics);
  if (!text) throw ModelError(std::move(diagnostics));
  return system_from_yaml(*text, path);
}

void save_system(const StateSpace& system, const std::string& path) {
  system.validate();
  if (kind_of(path) == FileKind::hdf5) return write_hdf5(system, path);
  write_file(path, system_to_yaml(system));
}

}  // namespace catena
