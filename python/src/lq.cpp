// SPDX-License-Identifier: BSD-3-Clause
// Discrete linear-quadratic problems, and the dynamics of a chain as one of them.
#include "support/arguments.h"

#include "catena/dynamics/operators/chain_as_lq.h"
#include "catena/lq/riccati.h"

namespace catena::python {
namespace {

void bind_problem(py::module_& m) {
  Struct<LqStage>(m, "LqStage",
                  "x⁺ = A x + B u + c at the cost ½ xᵀ Q x + qᵀ x + ½ uᵀ R u + uᵀ S x + rᵀ u. What "
                  "is left empty is zero; a B without columns means no input.")
      .field("A", &LqStage::A, "(m, n): m the size of the next state.")
      .field("B", &LqStage::B, "(m, k).")
      .field("c", &LqStage::c, "(m,).")
      .field("Q", &LqStage::Q, "(n, n).")
      .field("R", &LqStage::R, "(k, k).")
      .field("S", &LqStage::S, "(k, n).")
      .field("q", &LqStage::q, "(n,).")
      .field("r", &LqStage::r, "(k,).")
      .done();
  Struct<LqProblem>(m, "LqProblem", "Minimize the sum of the stages' costs; x_0 is given.")
      .field("stages", &LqProblem::stages, "LqStage, one for each step.")
      .field("final_Q", &LqProblem::final_Q, "(n, n): cost of the last state.")
      .field("final_q", &LqProblem::final_q, "(n,).")
      .field("start", &LqProblem::start, "(n,): x_0.")
      .done();
}

void bind_solution(py::module_& m) {
  py::class_<LqPolicy>(m, "LqPolicy",
                       "The optimal input of any state, u_k = feedforward[k] - gain[k] @ x_k, and "
                       "the optimal cost from x_k on, ½ xᵀ value[k] x + slope[k]ᵀ x + constant[k].")
      .def_readonly("gain", &LqPolicy::gain, "list of (k, n): K of each stage.")
      .def_readonly("feedforward", &LqPolicy::feedforward, "list of (k,): D⁻¹ ε of each stage.")
      .def_readonly("input_inertia", &LqPolicy::input_inertia,
                    "list of (k, k): D of each stage; the hinge inertia of a chain.")
      .def_readonly("innovation", &LqPolicy::innovation, "list of (k,): ε of each stage.")
      .def_readonly("value", &LqPolicy::value,
                    "list of (n, n): P, one more than stages; the articulated inertia of a chain.")
      .def_readonly("slope", &LqPolicy::slope, "list of (n,): p, one more than stages.")
      .def_readonly("constant", &LqPolicy::constant, "list of float, one more than stages.");
  py::class_<LqSolution>(m, "LqSolution", "What solve_lq() finds.")
      .def_readonly("x", &LqSolution::x, "list of (n,): states, one more than stages.")
      .def_readonly("u", &LqSolution::u,
                    "list of (k,): inputs; the hinges' accelerations of a chain.")
      .def_readonly("costate", &LqSolution::costate,
                    "list of (n,): slopes of the optimal cost, one more than stages; interbody "
                    "forces of a chain.")
      .def_readonly("cost", &LqSolution::cost, "The least.")
      .def_readonly("policy", &LqSolution::policy, "LqPolicy: of any state.");
}

}  // namespace

void bind_lq(py::module_& m) {
  bind_problem(m);
  bind_solution(m);
  m.def("lq_policy", &lq_policy, py::arg("problem"),
        "The inward Riccati sweep: an LqPolicy. Raises NumericalError if the cost has no minimum "
        "over the input of a stage.");
  m.def("solve_lq", &solve_lq, py::arg("problem"),
        "Both sweeps: an LqSolution. O(stages · size³).");
  m.def("lq_cost", &lq_cost, py::arg("problem"), py::arg("u"),
        "The cost of given inputs, by its definition.");
  m.def(
      "chain_as_lq",
      [](const MechanismPointer& mechanism, const NamedState& state, const FreedomVector& effort,
         const Wrenches& external) {
        return chain_as_lq(*mechanism, state.of(*mechanism),
                           read_freedoms(effort, *mechanism, "effort"),
                           read_wrenches(external, *mechanism));
      },
      py::arg("mechanism"), py::arg("state"), py::arg("effort") = py::none(),
      py::arg("external") = py::none(),
      "The forward dynamics of a chain as an LqProblem: Gibbs' function over the accelerations of "
      "the hinges. The inputs that solve it are forward_dynamics(), its values the articulated "
      "inertias. For study: forward_dynamics() is the fast way.");
}

}  // namespace catena::python
