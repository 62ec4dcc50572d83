// SPDX-License-Identifier: BSD-3-Clause
// Sparse structures of catena.control: matrices, files, modes, reduction; fits of samples.
#include <algorithm>

#include "control_parts.h"
#include <pybind11/complex.h>

#include "catena/base/text.h"
#include "catena/control/rational_fit.h"
#include "catena/control/sparse/structure_reduction.h"
#include "catena/linear/files/structure_file.h"
#include "catena/linear/sparse/sparse_modes.h"

namespace catena::python {
namespace {

using Eigen::MatrixXd;
using Names = std::vector<std::string>;
using Sparse = Eigen::SparseMatrix<double>;

// A matrix of SciPy (anything with tocoo()), or an array.
Sparse sparse_matrix(const py::object& x) {
  if (x.is_none()) return {};
  if (!py::hasattr(x, "tocoo")) return py::cast<MatrixXd>(x).sparseView();
  const py::object coo = x.attr("tocoo")();
  const auto row = py::cast<std::vector<int>>(coo.attr("row")),
             col = py::cast<std::vector<int>>(coo.attr("col"));
  const auto data = py::cast<std::vector<double>>(coo.attr("data"));
  const auto shape = py::cast<std::pair<int, int>>(coo.attr("shape"));
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(data.size());
  for (std::size_t i = 0; i < data.size(); ++i) entries.emplace_back(row[i], col[i], data[i]);
  Sparse a(shape.first, shape.second);
  a.setFromTriplets(entries.begin(), entries.end());
  return a;
}

MatrixXd dense_matrix(const py::object& x) {
  return x.is_none() ? MatrixXd() : MatrixXd(sparse_matrix(x));
}

void bind_structure(py::module_& m) {
  py::class_<SecondOrder>(
      m, "SecondOrder",
      "A structure, M q'' + D q' + K q = B u, y = Cq q + Cv q' + feedthrough u. "
      "Matrices are those of SciPy (sparse) or arrays.")
      .def(py::init([](const py::object& M, const py::object& K, const py::object& B,
                       const py::object& D, const py::object& Cq, const py::object& Cv,
                       const py::object& feedthrough, const Names& inputs, const Names& outputs) {
             SecondOrder s;
             s.M = sparse_matrix(M), s.D = sparse_matrix(D), s.K = sparse_matrix(K);
             s.B = dense_matrix(B), s.Cq = dense_matrix(Cq), s.Cv = dense_matrix(Cv);
             s.feedthrough = dense_matrix(feedthrough);
             s.inputs = inputs, s.outputs = outputs;
             s.validate();
             return s;
           }),
           py::arg("M"), py::arg("K"), py::arg("B"), py::arg("D") = py::none(),
           py::arg("Cq") = py::none(), py::arg("Cv") = py::none(),
           py::arg("feedthrough") = py::none(), py::arg("inputs") = Names{},
           py::arg("outputs") = Names{})
      .def_property_readonly("freedom_count", &SecondOrder::freedom_count)
      .def_property_readonly("input_count", &SecondOrder::input_count)
      .def_property_readonly("output_count", &SecondOrder::output_count)
      .def_readonly("inputs", &SecondOrder::inputs)
      .def_readonly("outputs", &SecondOrder::outputs)
      .def(
          "state_space", [](const SecondOrder& s) { return state_space(s); },
          "The dense StateSpace with states (q, q'); up to a few thousand freedoms.")
      .def("__repr__", [](const SecondOrder& s) {
        return "<SecondOrder: " + std::to_string(s.freedom_count()) + " freedoms, " +
               std::to_string(s.input_count()) + " inputs, " + std::to_string(s.output_count()) +
               " outputs>";
      });
  m.def("load_structure", &load_structure, py::arg("path"),
        "A SecondOrder from a YAML file (with Matrix Market files) or HDF5.");
  m.def("save_structure", &save_structure, py::arg("structure"), py::arg("path"),
        "Writes a SecondOrder as YAML with Matrix Market files beside it, or as HDF5.");
  m.def(
      "structure_modes",
      [](const SecondOrder& s, int count, double highest) {
        const SparseModes r = sparse_modes(s, {.count = count, .highest = highest});
        return py::make_tuple(r.frequency, r.shapes);
      },
      py::arg("structure"), py::arg("count") = 0, py::arg("highest") = 0.0,
      "(frequencies in rad/s, shapes) of the lowest modes, or of all below `highest` rad/s; none "
      "is "
      "left out.");
  m.def(
      "structure_response",
      [](const SecondOrder& s, const std::vector<double>& omega) {
        const std::vector<Eigen::MatrixXcd> g = structure_response(s, omega);
        py::array_t<std::complex<double>> result(
            {s.output_count(), s.input_count(), static_cast<int>(g.size())});
        auto to = result.mutable_unchecked<3>();
        for (py::ssize_t k = 0; k < std::ssize(g); ++k)
          for (py::ssize_t j = 0; j < s.input_count(); ++j)
            for (py::ssize_t i = 0; i < s.output_count(); ++i)
              to(i, j, k) = g[static_cast<std::size_t>(k)](i, j);
        return result;
      },
      py::arg("structure"), py::arg("omega"),
      "Response (outputs, inputs, frequencies) of a sparse structure.");
}

void bind_structure_reduction(py::module_& m) {
  py::class_<StructureReduction>(m, "StructureReduction",
                                 "A reduced structure: system, error in the band, certificate.")
      .def_readonly("system", &StructureReduction::system)
      .def_property_readonly(
          "band", [](const StructureReduction& r) { return py::make_tuple(r.lowest, r.highest); })
      .def_readonly("modes_in_band", &StructureReduction::modes_in_band)
      .def_readonly("rigid", &StructureReduction::rigid)
      .def_readonly("frequencies", &StructureReduction::frequencies)
      .def_readonly("sigma", &StructureReduction::sigma)
      .def_readonly("robust_frequency", &StructureReduction::robust_frequency)
      .def_readonly("certificate", &StructureReduction::certificate)
      .def_property_readonly(
          "error", [](const StructureReduction& r) { return r.error.relative; },
          "Largest relative error at the samples.")
      .def_property_readonly(
          "error_between", [](const StructureReduction& r) { return r.error.between; },
          "Largest relative error, estimated between samples.")
      .def_property_readonly(
          "samples", [](const StructureReduction& r) { return r.error.samples; },
          "Frequencies of the samples, rad/s.");
  m.def(
      "reduce_structure",
      [](const SecondOrder& s, int order, const std::string& method, double highest, double lowest,
         int samples, double tolerance) {
        static const Names kMethods{"modal", "balanced", "interpolation"};
        const auto found = std::find(kMethods.begin(), kMethods.end(), method);
        if (found == kMethods.end())
          throw NameError("'" + method +
                          "' is no method of reduction of a structure; it is one of " +
                          listed(kMethods));
        return reduce(s, StructureReductionSettings{
                             .method = static_cast<StructureMethod>(found - kMethods.begin()),
                             .order = order,
                             .highest = highest,
                             .lowest = lowest,
                             .samples = samples,
                             .tolerance = tolerance});
      },
      py::arg("structure"), py::arg("order") = 60, py::arg("method") = "modal",
      py::arg("highest") = 0.0, py::arg("lowest") = 0.0, py::arg("samples") = 80,
      py::arg("tolerance") = 1e-3,
      "A StructureReduction: modal (with static correction), balanced (low-rank ADI) or "
      "interpolation (IRKA), with the relative error in the band.");
}

void bind_rational_fit(py::module_& m) {
  m.def(
      "rational_fit",
      [](const std::vector<double>& omega,
         const py::array_t<std::complex<double>, py::array::c_style | py::array::forcecast>&
             samples,
         double tolerance, int most_poles, bool strictly_proper) {
        const bool siso = samples.ndim() == 1;
        if (!siso && samples.ndim() != 3)
          throw Error(
              "rational_fit: samples must have the shape (frequencies,) or (outputs, inputs, "
              "frequencies)");
        const py::ssize_t p = siso ? 1 : samples.shape(0), q = siso ? 1 : samples.shape(1),
                          n = samples.shape(siso ? 0 : 2);
        std::vector<Eigen::MatrixXcd> list(static_cast<std::size_t>(n), Eigen::MatrixXcd(p, q));
        for (py::ssize_t k = 0; k < n; ++k)
          for (py::ssize_t i = 0; i < p; ++i)
            for (py::ssize_t j = 0; j < q; ++j)
              list[static_cast<std::size_t>(k)](i, j) = siso ? samples.at(k) : samples.at(i, j, k);
        const RationalFit r = rational_fit(
            omega, list,
            {.tolerance = tolerance, .most_poles = most_poles, .strictly_proper = strictly_proper});
        return py::make_tuple(r.system, r.error);
      },
      py::arg("omega"), py::arg("samples"), py::arg("tolerance") = 1e-6, py::arg("most_poles") = 80,
      py::arg("strictly_proper") = false,
      "(stable system through samples of a frequency response, largest error by the largest "
      "sample); "
      "the AAA algorithm.");
}

}  // namespace

void bind_control_structures(py::module_& m) {
  bind_rational_fit(m);
  bind_structure(m);
  bind_structure_reduction(m);
}

}  // namespace catena::python
