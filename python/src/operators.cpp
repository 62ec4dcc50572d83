// SPDX-License-Identifier: BSD-3-Clause
// The mass matrix, its inverse and its factors as operators; influence operators as matrices.
#include "catena/dynamics/operators/operators.h"

#include "support/arguments.h"

#include "catena/base/index.h"
#include "catena/dynamics/operators/influence.h"

namespace catena::python {
namespace {

using Operator = void (*)(Workspace&, const Eigen::VectorXd&, Eigen::VectorXd&);

// One number for each independent freedom (each freedom of a tree), or by name.
Eigen::VectorXd read_independent(const FreedomVector& from, const PythonWorkspace& w) {
  if (!from.given() || py::isinstance<py::dict>(from.value))
    return read_freedoms(from, *w.mechanism, "x")(w.workspace.independent());
  const Eigen::VectorXd x = to_vector(from.value);
  const std::size_t n = w.workspace.independent().size();
  if (to_size(x.size()) != n)
    throw NumericalError("x has " + std::to_string(x.size()) + " entries, but there are " +
                         std::to_string(n) + " independent freedoms");
  return x;
}

// y = operator x, in the position of the last articulate().
void bind_operator(py::module_& m, const char* name, Operator apply, const char* meaning,
                   unsigned needs = kFactors) {
  m.def(
      name,
      [apply, needs](PythonWorkspace& workspace, const FreedomVector& x, const Out& out) {
        Working working(*workspace.mechanism, &workspace);
        workspace.need(needs);
        Eigen::VectorXd y = read_independent(x, workspace);
        apply(working.workspace(), y, y);
        return deliver(y, out);
      },
      py::arg("workspace"), py::arg("x"), py::arg("out") = py::none(),
      (std::string(meaning) +
       " (n,) to (n,), n the independent freedoms (all of a tree), O(N). After articulate().")
          .c_str());
}

// The same, or with mechanism and q at a prompt.
void bind_prompt(py::module_& m, const char* name,
                 Eigen::VectorXd (*apply)(const Mechanism&, const Eigen::VectorXd&,
                                          const Eigen::VectorXd&)) {
  m.def(
      name,
      [apply](const Mechanism& mechanism, const PositionVector& q, const FreedomVector& x) {
        Eigen::VectorXd buffer;
        const Eigen::VectorXd& position = read_position(q, mechanism, buffer);
        if (py::isinstance<py::dict>(x.value) || !x.given())
          return apply(mechanism, position, read_freedoms(x, mechanism, "x"));
        return apply(mechanism, position, to_vector(x.value));
      },
      py::arg("mechanism"), py::arg("q"), py::arg("x"), "The same at a prompt.");
}

template <Eigen::MatrixXd DenseOperators::*Member>
void dense_field(py::class_<DenseOperators>& type, const char* name, const char* doc) {
  type.def_property_readonly(
      name, [](const DenseOperators& d) { return d.*Member; }, doc);
}

void bind_influence(py::module_& m) {
  m.def("node_parents", &node_parents, py::arg("mechanism"),
        "The parent of each node, parent first; -1: the ground.");
  const auto parents = [](const std::vector<int>& p) { return std::span<const int>(p); };
  m.def(
      "path_to_ground",
      [parents](const std::vector<int>& p, int node) { return path_to_ground(parents(p), node); },
      py::arg("parents"), py::arg("node"), "Nodes from this one to the ground.");
  m.def(
      "branch", [parents](const std::vector<int>& p, int node) { return branch(parents(p), node); },
      py::arg("parents"), py::arg("node"), "This node and all beyond it, sorted.");
  m.def(
      "children",
      [parents](const std::vector<int>& p, int node) { return children(parents(p), node); },
      py::arg("parents"), py::arg("node"), "Of -1: the roots.");
  m.def(
      "common_ancestor",
      [parents](const std::vector<int>& p, int a, int b) {
        return common_ancestor(parents(p), a, b);
      },
      py::arg("parents"), py::arg("a"), py::arg("b"), "-1: none.");
  m.def(
      "nilpotency", [parents](const std::vector<int>& p) { return nilpotency(parents(p)); },
      py::arg("parents"), "Nodes on the longest way from the ground.");

  using I = InfluenceOperator;
  py::class_<I>(m, "InfluenceOperator",
                "Ψ_A = (1 - Φ_A)⁻¹ of a tree with one block A_i for each node (docs/notation.md).")
      .def(py::init<std::vector<int>, std::vector<Eigen::MatrixXd>>(), py::arg("parents"),
           py::arg("blocks"))
      .def("apply", &I::apply, py::arg("x"),
           "(size,): Ψ_A x, O(N); size is that of all blocks together.")
      .def("apply_transposed", &I::apply_transposed, py::arg("x"), "(size,): Ψ_Aᵀ x, O(N).")
      .def("dense_step", &I::dense_step, "(size, size), Φ_A.")
      .def("dense", &I::dense, "(size, size), Ψ_A.");

  using D = DenseOperators;
  py::class_<D> dense(m, "DenseOperators",
                      "Every operator of the factored mass matrix as a matrix, N nodes and n "
                      "freedoms, in the frames of the nodes.");
  dense_field<&D::shift>(dense, "shift", "(6N, 6N), Φ_D: twists, parent to child.");
  dense_field<&D::shift_sum>(dense, "shift_sum", "(6N, 6N), Ψ_D.");
  dense_field<&D::articulated_step>(dense, "articulated_step", "(6N, 6N), Φ_β.");
  dense_field<&D::articulated_sum>(dense, "articulated_sum", "(6N, 6N), Ψ_β.");
  dense_field<&D::hinge_map>(dense, "hinge_map", "(6N, n), G.");
  dense_field<&D::gain>(dense, "gain", "(6N, n), K.");
  dense_field<&D::own_gain>(dense, "own_gain", "(6N, n), in the node's own frame.");
  dense_field<&D::inertia>(dense, "inertia", "(6N, 6N), I.");
  dense_field<&D::articulated>(dense, "articulated", "(6N, 6N), P.");
  dense_field<&D::hinge_inertia>(dense, "hinge_inertia", "(n, n), R.");
  dense_field<&D::factor>(dense, "factor", "(n, n), L.");
  dense_field<&D::inverse_factor>(dense, "inverse_factor", "(n, n), U.");
  m.def(
      "dense_operators",
      [](PythonWorkspace& w) {
        const Use use(w);
        w.need(kFactors);
        return dense_operators(w.workspace);
      },
      py::arg("workspace"), "After articulate().");
}

}  // namespace

void bind_operators(py::module_& m) {
  m.def(
      "articulate",
      [](const Mechanism& mechanism, const PositionVector& q, PythonWorkspace& workspace) {
        Working working(mechanism, &workspace);
        Eigen::VectorXd buffer;
        articulate(mechanism, read_position(q, mechanism, buffer), working.workspace());
        working.has(kDisplacements | kFactors);
      },
      py::arg("mechanism"), py::arg("q"), py::arg("workspace"),
      "Articulated inertias, hinge inertias and gains at a position, into the workspace.");
  bind_operator(m, "apply_mass_matrix", apply_mass_matrix, "M x.", kDisplacements);
  bind_prompt(m, "apply_mass_matrix", apply_mass_matrix);
  bind_operator(m, "apply_inverse_mass_matrix", apply_inverse_mass_matrix, "M⁻¹ x.");
  bind_prompt(m, "apply_inverse_mass_matrix", apply_inverse_mass_matrix);
  bind_operator(m, "apply_factor", apply_factor, "(I + HφK) x.");
  bind_operator(m, "apply_factor_transposed", apply_factor_transposed, "(I + HφK)ᵀ x.");
  bind_operator(m, "apply_inverse_factor", apply_inverse_factor, "(I - HψK) x.");
  bind_operator(m, "apply_inverse_factor_transposed", apply_inverse_factor_transposed,
                "(I - HψK)ᵀ x.");
  bind_operator(m, "apply_hinge_inertia", apply_hinge_inertia, "D x.");
  bind_operator(m, "apply_inverse_hinge_inertia", apply_inverse_hinge_inertia, "D⁻¹ x.");
  bind_operator(m, "diagonalizing_velocity", apply_factor_transposed, "ν = (I + HφK)ᵀ v.");
  bind_operator(m, "velocity_from_diagonalizing", apply_inverse_factor_transposed, "v of ν.");
  bind_operator(m, "normalized_velocity", normalized_velocity, "D^{1/2} (I + HφK)ᵀ v.");
  bind_operator(m, "velocity_from_normalized", velocity_from_normalized, "v of the normalized ν.");
  bind_operator(m, "innovations", apply_inverse_factor, "ε = (I - HψK) x.");
  m.def(
      "inverse_mass_matrix",
      [](PythonWorkspace& workspace, const Out& out) {
        Working working(*workspace.mechanism, &workspace);
        workspace.need(kFactors);
        Eigen::MatrixXd inverse;
        inverse_mass_matrix(working.workspace(), inverse);
        return deliver(inverse, out);
      },
      py::arg("workspace"), py::arg("out") = py::none(),
      "M⁻¹, (n, n) of the independent freedoms, symmetric to the bit. After articulate().");
  m.def(
      "inverse_mass_matrix",
      [](const Mechanism& mechanism, const PositionVector& q) {
        Eigen::VectorXd buffer;
        return inverse_mass_matrix(mechanism, read_position(q, mechanism, buffer));
      },
      py::arg("mechanism"), py::arg("q"), "The same at a prompt.");
  m.def(
      "log_determinant_mass_matrix",
      [](PythonWorkspace& w) {
        w.need(kFactors);
        return log_determinant_mass_matrix(w.workspace);
      },
      py::arg("workspace"), "log det M. After articulate().");
  m.def(
      "determinant_mass_matrix",
      [](PythonWorkspace& w) {
        w.need(kFactors);
        return determinant_mass_matrix(w.workspace);
      },
      py::arg("workspace"), "det M. After articulate().");
  bind_influence(m);
}

}  // namespace catena::python
