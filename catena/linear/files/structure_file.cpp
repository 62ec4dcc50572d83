// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/files/structure_file.h"

#include <array>
#include <filesystem>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/write_file.h"
#include "catena/io/text_file.h"
#include "catena/linear/files/hdf5_matrices.h"
#include "catena/linear/files/matrix_market.h"
#include "catena/linear/files/system_yaml.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using hdf5::Handle;
using Sparse = Eigen::SparseMatrix<double>;

constexpr std::array<const char*, 3> kSparseKeys{"M", "D", "K"};
constexpr std::array<const char*, 4> kDenseKeys{"B", "Cq", "Cv", "feedthrough"};

std::array<Sparse*, 3> sparse_fields(SecondOrder& s) { return {&s.M, &s.D, &s.K}; }
std::array<MatrixXd*, 4> dense_fields(SecondOrder& s) {
  return {&s.B, &s.Cq, &s.Cv, &s.feedthrough};
}

bool is_hdf5(const std::string& path) { return path.ends_with(".h5") || path.ends_with(".hdf5"); }
bool is_yaml(const std::string& path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

std::string beside(const std::string& path, const std::string& name) {
  const std::filesystem::path file(name);
  return file.is_absolute() ? name : (std::filesystem::path(path).parent_path() / file).string();
}

Sparse sparse_of(const MatrixXd& a) { return a.sparseView(); }

// A matrix given by rows, or by the name of a Matrix Market file.
void read_yaml_matrix(const yaml::Entry& entry, yaml::Values& values, const std::string& path,
                      Sparse& to) {
  if (!entry.value->is_scalar()) {
    MatrixXd rows;
    if (read_matrix_rows(*entry.value, values, rows)) to = sparse_of(rows);
    return;
  }
  std::string name;
  if (!values.text(*entry.value, name)) return;
  try {
    to = read_matrix_market(beside(path, name));
  } catch (const ModelError&) {
    throw;  // has the line in that file
  } catch (const Error& e) {
    values.error(entry.line, e.what());
  }
}

SecondOrder read_yaml(const std::string& path) {
  std::vector<Diagnostic> diagnostics;
  const std::optional<std::string> text = read_text_file(path, diagnostics);
  if (!text) throw ModelError(std::move(diagnostics));
  const yaml::Tree tree = yaml::parse(*text, path, diagnostics);
  const auto refuse_errors = [&] {
    for (const Diagnostic& d : diagnostics)
      if (d.severity == Severity::error) throw ModelError(diagnostics);
  };
  refuse_errors();
  yaml::Values values(path, diagnostics);
  SecondOrder s;
  if (tree.root == nullptr || !tree.root->is_map())
    throw ModelError({{Severity::error, {path, 1}, "a structure is a map of M, D, K, B, Cq, Cv"}});
  const yaml::Node& map = *tree.root;
  static const std::vector<std::string> keys = {
      "structure", "M", "D", "K", "B", "Cq", "Cv", "feedthrough", "inputs", "outputs", "freedoms"};
  values.unknown_keys(map, keys);
  for (const char* key : {"M", "K", "B"})
    if (!map.find(key)) values.error(map.line, std::string("a structure needs ") + key);
  values.with(map, "structure", [&](const yaml::Entry& e) {
    int version = 1;
    if (values.integer(*e.value, version) && version != 1)
      values.error(e.line,
                   "version " + std::to_string(version) + " is not known; this program reads 1");
  });
  for (std::size_t i = 0; i < kSparseKeys.size(); ++i)
    values.with(map, kSparseKeys[i], [&](const yaml::Entry& e) {
      read_yaml_matrix(e, values, path, *sparse_fields(s)[i]);
    });
  for (std::size_t i = 0; i < kDenseKeys.size(); ++i)
    values.with(map, kDenseKeys[i], [&](const yaml::Entry& e) {
      Sparse a;
      read_yaml_matrix(e, values, path, a);
      *dense_fields(s)[i] = MatrixXd(a);
    });
  read_name_list(map, "inputs", values, s.inputs);
  read_name_list(map, "outputs", values, s.outputs);
  read_name_list(map, "freedoms", values, s.freedoms);
  refuse_errors();
  return s;
}

// A group with data, indices and indptr (compressed rows), or a dense dataset.
Sparse read_hdf5_matrix(hid_t file, const char* name, const std::string& path) {
  if (H5Lexists(file, name, H5P_DEFAULT) <= 0) return {};
  const Handle object = hdf5::valid(H5Oopen(file, name, H5P_DEFAULT), H5Oclose, path);
  if (H5Iget_type(object.get()) != H5I_GROUP) return sparse_of(hdf5::read_matrix(file, name, path));
  const auto column = [&](const char* part) {
    return hdf5::read_column(object.get(), part, path + ": group " + name);
  };
  const VectorXd data = column("data"), indices = column("indices"), begin = column("indptr"),
                 shape = column("shape");
  const auto fail = [&](const std::string& what) {
    throw Error(path + ": the group '" + name + "' " + what +
                "; it needs data, indices, indptr and shape of a CSR matrix (SciPy)");
  };
  if (shape.size() != 2) fail("has no shape of two numbers");
  const double rows = shape[0], cols = shape[1];
  if (!(rows >= 1.0) || !(cols >= 1.0) || rows > 1e9 || cols > 1e9 ||
      static_cast<double>(begin.size()) != rows + 1.0 || data.size() != indices.size() ||
      begin[begin.size() - 1] != static_cast<double>(data.size()))
    fail("has parts of different sizes");
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(to_size(data.size()));
  for (Eigen::Index i = 0; i + 1 < begin.size(); ++i) {
    if (!(begin[i] >= 0.0) || !(begin[i + 1] >= begin[i]) ||
        begin[i + 1] > static_cast<double>(data.size()))
      fail("has row " + std::to_string(i + 1) + " out of range");
    for (auto k = static_cast<Eigen::Index>(begin[i]); k < static_cast<Eigen::Index>(begin[i + 1]);
         ++k) {
      if (!(indices[k] >= 0.0) || !(indices[k] < cols))
        fail("has a column out of range in row " + std::to_string(i + 1));
      entries.emplace_back(static_cast<int>(i), static_cast<int>(indices[k]), data[k]);
    }
  }
  Sparse a(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
  a.setFromTriplets(entries.begin(), entries.end());
  return a;
}

SecondOrder read_hdf5_structure(const std::string& path) {
  const hdf5::Quiet quiet;
  if (!std::filesystem::exists(path)) throw Error(path + ": no such file");
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (id < 0) throw Error(path + ": it is not an HDF5 file, or it is damaged: " + hdf5::reason());
  const Handle file(id, H5Fclose);
  SecondOrder s;
  for (std::size_t i = 0; i < kSparseKeys.size(); ++i)
    *sparse_fields(s)[i] = read_hdf5_matrix(file.get(), kSparseKeys[i], path);
  for (std::size_t i = 0; i < kDenseKeys.size(); ++i)
    *dense_fields(s)[i] = MatrixXd(read_hdf5_matrix(file.get(), kDenseKeys[i], path));
  if (s.M.size() == 0 || s.K.size() == 0) throw Error(path + ": it has no M and K of a structure");
  s.inputs = hdf5::read_names(file.get(), "inputs", path);
  s.outputs = hdf5::read_names(file.get(), "outputs", path);
  s.freedoms = hdf5::read_names(file.get(), "freedoms", path);
  return s;
}

void write_hdf5_matrix(hid_t file, const char* name, const Sparse& a, const std::string& what) {
  const Handle group =
      hdf5::valid(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, what);
  const Eigen::SparseMatrix<double, Eigen::RowMajor> rows = a;
  VectorXd data(rows.nonZeros()), indices(rows.nonZeros()), begin(rows.rows() + 1);
  Eigen::Index k = 0;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    begin[i] = static_cast<double>(k);
    for (Eigen::SparseMatrix<double, Eigen::RowMajor>::InnerIterator it(rows, i); it; ++it, ++k) {
      data[k] = it.value();
      indices[k] = static_cast<double>(it.col());
    }
  }
  begin[rows.rows()] = static_cast<double>(k);
  hdf5::write_matrix(group.get(), "data", data, 1, what);
  hdf5::write_matrix(group.get(), "indices", indices, 1, what);
  hdf5::write_matrix(group.get(), "indptr", begin, 1, what);
  const VectorXd shape =
      Eigen::Vector2d(static_cast<double>(a.rows()), static_cast<double>(a.cols()));
  hdf5::write_matrix(group.get(), "shape", shape, 1, what);
}

void write_hdf5_structure(const SecondOrder& given, const std::string& path) {
  const hdf5::Quiet quiet;
  SecondOrder s = given;
  Handle file = hdf5::valid(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                            H5Fclose, path + ": cannot be written");
  const std::string what = path + ": writing";
  hdf5::write_attribute(file.get(), "structure", "1", what);
  for (std::size_t i = 0; i < kSparseKeys.size(); ++i)
    if (const Sparse& a = *sparse_fields(s)[i]; a.size() > 0)
      write_hdf5_matrix(file.get(), kSparseKeys[i], a, what);
  for (std::size_t i = 0; i < kDenseKeys.size(); ++i)
    if (const MatrixXd& a = *dense_fields(s)[i]; a.size() > 0)
      hdf5::write_matrix(file.get(), kDenseKeys[i], a, 2, what);
  hdf5::write_names(file.get(), "inputs", s.inputs, what);
  hdf5::write_names(file.get(), "outputs", s.outputs, what);
  hdf5::write_names(file.get(), "freedoms", s.freedoms, what);
  if (!file.close()) throw Error(what + ": " + hdf5::reason());
}

void write_yaml_structure(const SecondOrder& given, const std::string& path) {
  SecondOrder s = given;
  const std::filesystem::path file(path);
  const std::string stem = file.stem().string();
  std::string text =
      "# M q'' + D q' + K q = B u, y = Cq q + Cv q' + feedthrough u.\nstructure: 1\n";
  const auto put = [&](const char* key, const Sparse& a, bool symmetric) {
    const std::string name = stem + "_" + key + ".mtx";
    write_matrix_market(a, beside(path, name), symmetric);
    text += std::string(key) + ": \"" + name + "\"\n";
  };
  for (std::size_t i = 0; i < kSparseKeys.size(); ++i)
    if (const Sparse& a = *sparse_fields(s)[i]; a.size() > 0) {
      const Sparse transposed = a.transpose();
      put(kSparseKeys[i], a, (a - transposed).norm() == 0.0);
    }
  for (std::size_t i = 0; i < kDenseKeys.size(); ++i)
    if (const MatrixXd& a = *dense_fields(s)[i]; a.size() > 0)
      put(kDenseKeys[i], sparse_of(a), false);
  const std::pair<const char*, const std::vector<std::string>*> lists[] = {
      {"inputs", &s.inputs}, {"outputs", &s.outputs}, {"freedoms", &s.freedoms}};
  for (const auto& [key, names] : lists) {
    if (names->empty()) continue;
    text += std::string(key) + ": [";
    for (std::size_t i = 0; i < names->size(); ++i)
      text += (i > 0 ? ", \"" : "\"") + (*names)[i] + "\"";
    text += "]\n";
  }
  write_file(path, text);
}

}  // namespace

bool is_structure_file(const std::string& path) {
  if (is_hdf5(path)) {
    const hdf5::Quiet quiet;
    const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (id < 0) return false;
    const Handle file(id, H5Fclose);
    return H5Lexists(id, "K", H5P_DEFAULT) > 0 && H5Lexists(id, "M", H5P_DEFAULT) > 0;
  }
  if (!is_yaml(path)) return false;
  std::vector<Diagnostic> ignored;
  const std::optional<std::string> text = read_text_file(path, ignored);
  if (!text) return false;
  const yaml::Tree tree = yaml::parse(*text, path, ignored);
  if (tree.root == nullptr || !tree.root->is_map()) return false;
  return tree.root->find("structure") != nullptr ||
         (tree.root->find("M") != nullptr && tree.root->find("K") != nullptr);
}

SecondOrder load_structure(const std::string& path) {
  if (!is_hdf5(path) && !is_yaml(path))
    throw Error(path + ": a structure ends in .yaml, .yml, .h5 or .hdf5");
  SecondOrder s = is_hdf5(path) ? read_hdf5_structure(path) : read_yaml(path);
  try {
    s.validate();
  } catch (const NumericalError& e) {
    throw NumericalError(path + ": " + e.what());
  } catch (const Error& e) {
    throw Error(path + ": " + e.what());
  }
  return s;
}

void save_structure(const SecondOrder& structure, const std::string& path) {
  structure.validate();
  if (is_hdf5(path)) return write_hdf5_structure(structure, path);
  if (is_yaml(path)) return write_yaml_structure(structure, path);
  throw Error(path + ": a structure ends in .yaml, .yml, .h5 or .hdf5");
}

}  // namespace catena
