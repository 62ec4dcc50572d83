// Arguments of the bindings of batches: (B, n) arrays, without copies where they are float64 in
// rows.
#pragma once

#include "arguments.h"

#include "catena/dynamics/batch.h"

namespace catena::python {

using RowsMap = Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>>;
using MutableRowsMap = Eigen::Map<RowMatrix, 0, Eigen::OuterStride<>>;

// An argument (B, n); None: zeros for all states.
class Rows {
 public:
  Rows(const BatchVector& from, py::ssize_t states, int columns, const char* what) {
    if (!from.given()) {
      array_ = py::array_t<double>({states, static_cast<py::ssize_t>(columns)});
      std::fill_n(array_.mutable_data(), array_.size(), 0.0);
      return;
    }
    // Rows may be further apart than their length; anything else is copied.
    if (py::isinstance<py::array_t<double>>(from.value)) {
      array_ = py::reinterpret_borrow<py::array_t<double>>(from.value);
      const py::ssize_t size = static_cast<py::ssize_t>(sizeof(double));
      if (array_.ndim() == 2 &&
          (array_.strides(1) != size || array_.strides(0) < 0 || array_.strides(0) % size != 0))
        array_ = numbers(from.value);
    } else {
      array_ = numbers(from.value);
    }
    if (array_.ndim() != 2 || array_.shape(1) != columns ||
        (states >= 0 && array_.shape(0) != states))
      throw NumericalError(std::string(what) + " has the shape " + shape_text(array_) + ", but (" +
                           (states >= 0 ? std::to_string(states) : std::string("B")) + ", " +
                           std::to_string(columns) + ") is needed");
  }
  py::ssize_t states() const { return array_.shape(0); }
  RowsMap map() const {
    return {array_.data(), array_.shape(0), array_.shape(1),
            Eigen::OuterStride<>(array_.strides(0) / static_cast<py::ssize_t>(sizeof(double)))};
  }

 private:
  py::array_t<double> array_;
};

// `out`, or a new array.
inline py::array_t<double> result_rows(const Out& out, py::ssize_t states, py::ssize_t columns) {
  if (!out.given()) return py::array_t<double>({states, columns});
  if (!py::isinstance<py::array_t<double>>(out.value))
    throw py::value_error("out must be a float64 array");
  auto a = py::reinterpret_borrow<py::array_t<double>>(out.value);
  if (!has_shape(a, states, columns) || !a.writeable() ||
      a.strides(1) != static_cast<py::ssize_t>(sizeof(double)) || a.strides(0) < 0)
    throw py::value_error("out must be a writeable array of shape (" + std::to_string(states) +
                          ", " + std::to_string(columns) + ") in rows, not " + shape_text(a));
  return a;
}

inline MutableRowsMap map_of(py::array_t<double>& a) {
  return {a.mutable_data(), a.shape(0), a.shape(1),
          Eigen::OuterStride<>(a.strides(0) / static_cast<py::ssize_t>(sizeof(double)))};
}

// ---- What became of the states of the last call. ----

inline py::array_t<bool> failed_states(const BatchWorkspace& workspace) {
  const auto reports = workspace.reports();
  py::array_t<bool> result(static_cast<py::ssize_t>(reports.size()));
  for (std::size_t i = 0; i < reports.size(); ++i)
    result.mutable_data()[i] = reports[i].status != BatchStatus::ok;
  return result;
}

inline std::string state_message(const BatchWorkspace& workspace, std::int64_t state) {
  if (state < 0 || state >= static_cast<std::int64_t>(workspace.reports().size()))
    throw NameError("the last batch had no state " + std::to_string(state));
  return workspace.message(static_cast<Eigen::Index>(state));
}

}  // namespace catena::python
