// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of the dynamics of many states at once: (B, n, n) arrays.
#include "catena/sensitivity/batch_derivatives.h"

#include "support/batch_arguments.h"

namespace catena::python {
namespace {

// `BatchDerivatives` in Python.
struct PythonBatchDerivatives {
  PythonBatchDerivatives(MechanismPointer of, int threads)
      : mechanism(std::move(of)), derivatives(*mechanism, {.threads = threads}) {}
  MechanismPointer mechanism;
  BatchDerivatives derivatives;
  std::atomic<bool> busy{false};
};

class DerivativesUse {
 public:
  explicit DerivativesUse(PythonBatchDerivatives& self) : self_(self) {
    if (self_.busy.exchange(true, std::memory_order_acquire))
      throw Error("this BatchDerivatives is in use by another thread; give every thread its own");
  }
  ~DerivativesUse() { self_.busy.store(false, std::memory_order_release); }
  DerivativesUse(const DerivativesUse&) = delete;
  DerivativesUse& operator=(const DerivativesUse&) = delete;

 private:
  PythonBatchDerivatives& self_;
};

// One of the three matrices of every state: (B, n, n), a view into rows of 3 n² numbers.
py::array_t<double> matrices(const py::array_t<double>& rows, int n, int which) {
  const py::ssize_t size = static_cast<py::ssize_t>(sizeof(double));
  const py::ssize_t count = n;
  return {{rows.shape(0), count, count},
          {rows.strides(0), size, count * size},
          rows.data() + static_cast<std::ptrdiff_t>(which) * n * n,
          rows};
}

py::tuple inverse(PythonBatchDerivatives& self, const BatchVector& q, const BatchVector& v,
                  const BatchVector& acceleration) {
  const Mechanism& m = *self.mechanism;
  const int n = m.freedoms();
  const Rows positions(q, -1, m.coordinates(), "q");
  const Rows velocities(v, positions.states(), m, "v");
  const Rows accelerations(acceleration, positions.states(), m, "acceleration");
  py::array_t<double> rows({positions.states(), py::ssize_t{3} * n * n});
  {
    const DerivativesUse use(self);
    const RowsMap a = positions.map(), b = velocities.map(), c = accelerations.map();
    MutableRowsMap y = map_of(rows);
    const py::gil_scoped_release release;
    self.derivatives.inverse(a, b, c, y);
  }
  return py::make_tuple(matrices(rows, n, 0), matrices(rows, n, 1), matrices(rows, n, 2));
}

py::tuple forward(PythonBatchDerivatives& self, const BatchVector& q, const BatchVector& v,
                  const BatchVector& effort) {
  const Mechanism& m = *self.mechanism;
  const int n = m.freedoms();
  const Rows positions(q, -1, m.coordinates(), "q");
  const Rows velocities(v, positions.states(), m, "v");
  const Rows efforts(effort, positions.states(), m, "effort");
  py::array_t<double> rows({positions.states(), py::ssize_t{3} * n * n});
  py::array_t<double> acceleration({positions.states(), static_cast<py::ssize_t>(n)});
  {
    const DerivativesUse use(self);
    const RowsMap a = positions.map(), b = velocities.map(), c = efforts.map();
    MutableRowsMap x = map_of(acceleration), y = map_of(rows);
    const py::gil_scoped_release release;
    self.derivatives.forward(a, b, c, x, y);
  }
  return py::make_tuple(acceleration, matrices(rows, n, 0), matrices(rows, n, 1),
                        matrices(rows, n, 2));
}

}  // namespace

void bind_batch_derivatives(py::module_& m) {
  using D = PythonBatchDerivatives;
  py::class_<D> type(
      m, "BatchDerivatives",
      "Derivatives of the dynamics of many states at once. States that cannot be evaluated have "
      "NaN "
      "in their rows. Of a closed mechanism, one state at a time: rows and columns of the "
      "independent freedoms, zero at the others, but for columns of efforts.\n\n"
      "threads: 0: as many as the processor has.");
  type.def(py::init<MechanismPointer, int>(), py::arg("mechanism"), py::arg("threads") = 0)
      .def_property_readonly(
          "mechanism", [](const D& d) { return d.mechanism; }, "The Mechanism it was made for.")
      .def_property_readonly(
          "independent", [](D& d) { return d.derivatives.workspace().independent(); },
          "The independent freedoms: of a closed mechanism, those of the chart that its states "
          "share, "
          "chosen at the first call.")
      .def("inverse", &inverse, py::arg("q"), py::arg("v") = py::none(),
           py::arg("acceleration") = py::none(),
           "(∂τ/∂q, ∂τ/∂v, M), each (B, n, n): rows are efforts. q (B, coordinates), v and "
           "acceleration (B, n), None: zeros. Directions of q are tangent directions.")
      .def("forward", &forward, py::arg("q"), py::arg("v") = py::none(),
           py::arg("effort") = py::none(),
           "(accelerations (B, n), ∂v̇/∂q, ∂v̇/∂v, M⁻¹), the matrices (B, n, n): rows are "
           "accelerations.")
      .def_property_readonly(
          "failures",
          [](D& d) { return static_cast<std::int64_t>(d.derivatives.workspace().failures()); },
          "Of the last call: how many states.")
      .def_property_readonly(
          "failed", [](D& d) { return failed_states(d.derivatives.workspace()); },
          "(B,), bool, of the last call.")
      .def(
          "message",
          [](D& d, std::int64_t state) { return state_message(d.derivatives.workspace(), state); },
          py::arg("state"), "What is wrong with a state, in a sentence; empty: nothing.");
}

}  // namespace catena::python
