// SPDX-License-Identifier: BSD-3-Clause
// Shared by the files that bind catena.control.
#pragma once

#include <complex>

#include "support/arguments.h"

#include "catena/control/mixsyn.h"

namespace catena::python {

py::array_t<std::complex<double>> complex_array(const Eigen::VectorXcd& x);
py::array_t<std::complex<double>> complex_matrix(const Eigen::MatrixXcd& x);
// A weight: a number, a system, or a Weight of makeweight() or polynomial_weight(); None: absent.
Weight weight_of(const py::object& x);
// Zeros-poles-gain, Nichols, root locus, Riccati equations, recovery and others.
void bind_control_designs(py::module_& module);
// Sparse structures.
void bind_control_structures(py::module_& module);
// Verification on the mechanism, controller files, descriptor form, delays, polynomial matrices.
void bind_control_loops(py::module_& module);

}  // namespace catena::python
