// SPDX-License-Identifier: BSD-3-Clause
// Linear systems in files by ending, and the HDF5 form (system_file.h).
#include "catena/linear/files/system_file.h"

#include <filesystem>

#include "catena/base/error.h"
#include "catena/base/write_file.h"
#include "catena/io/runs/hdf5.h"
#include "catena/io/text_file.h"
#include "catena/linear/files/hdf5_matrices.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using hdf5::Handle;
using hdf5::read_column;
using hdf5::read_matrix;
using hdf5::read_names;
using hdf5::valid;
using hdf5::write_matrix;
using hdf5::write_names;

enum class FileKind { yaml, hdf5 };

FileKind kind_of(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".yaml" || ending == ".yml") return FileKind::yaml;
  if (ending == ".h5" || ending == ".hdf5") return FileKind::hdf5;
  throw Error(path + ": a linear system ends in .yaml, .yml, .h5 or .hdf5, not in '" + ending +
              "'");
}

void write_hdf5(const StateSpace& system, const std::string& path) {
  const hdf5::Quiet quiet;
  Handle file = valid(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
                      path + ": cannot be written");
  const std::string what = path + ": writing";
  const hid_t at = file.get();
  hdf5::write_attribute(at, "linear system", "1", what);
  write_matrix(at, "dt", MatrixXd::Constant(1, 1, system.dt), 0, what);
  const std::pair<const char*, const MatrixXd*> matrices[] = {
      {"A", &system.A}, {"B", &system.B}, {"C", &system.C}, {"D", &system.D}, {"E", &system.E}};
  for (const auto& [name, a] : matrices)
    if (a->size() > 0) write_matrix(at, name, *a, 2, what);
  const auto column = [&](const char* name, const VectorXd& v) {
    if (v.size() > 0) write_matrix(at, name, v, 1, what);
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
  s.A = read_matrix(at, "A", path);
  s.B = read_matrix(at, "B", path);
  s.C = read_matrix(at, "C", path);
  s.D = read_matrix(at, "D", path);
  s.E = read_matrix(at, "E", path);
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
