// SPDX-License-Identifier: BSD-3-Clause
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
  // By freedom: also a dictionary by name, of numbers for all states or of (B,) arrays.
  Rows(const BatchVector& from, py::ssize_t states, const Mechanism& mechanism, const char* what)
      : Rows(py::isinstance<py::dict>(from.value) ? BatchVector{} : from, states,
             mechanism.freedoms(), what) {
    if (!py::isinstance<py::dict>(from.value)) return;
    double* to = array_.mutable_data();
    const int n = mechanism.freedoms();
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(from.value)) {
      const std::vector<std::uint8_t> one =
          read_mask({py::make_tuple(py::reinterpret_borrow<py::object>(key))}, mechanism);
      const auto first = std::find(one.begin(), one.end(), 1);
      const py::ssize_t count = std::count(first, one.end(), 1);
      const Array a = numbers(value);
      const bool same = count == 1 ? a.ndim() == 0 : has_shape(a, count);
      if (!same && !(count == 1 && has_shape(a, states)) && !has_shape(a, states, count))
        throw NumericalError(
            std::string(what) + " of '" + py::cast<std::string>(py::str(key)) + "' has the shape " +
            shape_text(a) + ", but (" + std::to_string(states) +
            (count > 1 ? ", " + std::to_string(count) : ",") + ") is needed, or " +
            (count > 1 ? std::to_string(count) + " numbers" : "one number") + " for all states");
      for (py::ssize_t s = 0; s < states; ++s)
        std::copy_n(a.data() + (same ? 0 : s * count), count,
                    to + s * n + std::distance(one.begin(), first));
    }
  }
  Rows(const BatchVector& from, py::ssize_t states, int columns, const char* what) {
    if (!from.given()) {
      if (states < 0) throw py::type_error(std::string(what) + " is needed: a row for each state");
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
  if (!has_shape(a, states, columns))
    throw py::value_error("out must have the shape (" + std::to_string(states) + ", " +
                          std::to_string(columns) + "), not " + shape_text(a));
  if (!a.writeable()) throw py::value_error("out is read-only");
  const py::ssize_t size = static_cast<py::ssize_t>(sizeof(double));
  if (a.size() > 0 && (a.strides(1) != size || a.strides(0) < 0 || a.strides(0) % size != 0))
    throw py::value_error(
        "out must have its rows in one piece (C order), not its columns or turned round");
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
