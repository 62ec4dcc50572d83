// SPDX-License-Identifier: BSD-3-Clause
// How Catena's small types cross into Python: vectors and matrices become NumPy arrays of float64
// (copies; a State gives away views), and are taken from anything that NumPy can read. pybind11's
// own Eigen header would do, at twice the compile time and with messages that do not say which
// number is wrong.
//
// Every file of the bindings includes this one, so that all see the same conversions. The names in
// const_name() are those of the type stubs (tools/stubs.py).
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/spatial/eigen.h"

namespace catena::python {

namespace py = pybind11;

using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;

// Numbers from anything that NumPy can read; a TypeError otherwise.
inline Array numbers(py::handle source) {
  // Made doubles by force, complex numbers would lose their imaginary parts, text would be read and
  // None be NaN.
  const py::array any = py::array::ensure(source);
  bool real = static_cast<bool>(any);
  if (real) {
    const char kind = any.dtype().kind();
    real = kind != 'c' && kind != 'U' && kind != 'S';
    if (kind == 'O')
      for (const py::handle entry : any.attr("flat")) real = real && !entry.is_none();
  }
  if (real)
    if (Array array = Array::ensure(any)) return array;
  PyErr_Clear();
  throw py::type_error("numbers are expected, not " +
                       py::cast<std::string>(py::repr(source)).substr(0, 80));
}

inline std::string shape_text(const py::array& array) {
  std::string text = "(";
  for (py::ssize_t i = 0; i < array.ndim(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(array.shape(i));
  return text + (array.ndim() == 1 ? ",)" : ")");
}

[[noreturn]] inline void throw_shape(const py::array& array, const std::string& expected) {
  throw py::value_error("an array of shape " + expected + " is expected, not " + shape_text(array));
}

inline bool has_shape(const py::array& a, py::ssize_t rows) {
  return a.ndim() == 1 && a.shape(0) == rows;
}
inline bool has_shape(const py::array& a, py::ssize_t rows, py::ssize_t columns) {
  return a.ndim() == 2 && a.shape(0) == rows && a.shape(1) == columns;
}

inline py::array_t<double> new_vector(const double* data, py::ssize_t size) {
  py::array_t<double> result(size);
  std::copy(data, data + size, result.mutable_data());
  return result;
}

inline py::array_t<double> to_numpy(const Eigen::VectorXd& x) {
  return new_vector(x.data(), x.size());
}

// Rows by columns, in C order.
template <class Matrix>
py::array_t<double> matrix_to_numpy(const Matrix& a) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  py::array_t<double> result(
      {static_cast<py::ssize_t>(a.rows()), static_cast<py::ssize_t>(a.cols())});
  Eigen::Map<RowMajor>(result.mutable_data(), a.rows(), a.cols()) = a;
  return result;
}

inline Eigen::VectorXd to_vector(py::handle source) {
  const Array a = numbers(source);
  if (a.ndim() != 1) throw_shape(a, "(n,)");
  return Eigen::Map<const Eigen::VectorXd>(a.data(), a.shape(0));
}

inline Eigen::MatrixXd to_matrix(py::handle source) {
  const Array a = numbers(source);
  if (a.ndim() != 2) throw_shape(a, "(rows, columns)");
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(a.data(), a.shape(0), a.shape(1));
}

inline Vec3d to_vec3(py::handle source) {
  const Array a = numbers(source);
  if (!has_shape(a, 3)) throw_shape(a, "(3,)");
  return {a.data()[0], a.data()[1], a.data()[2]};
}

inline Vector6d to_vector6(py::handle source) {
  const Array a = numbers(source);
  if (!has_shape(a, 6)) throw_shape(a, "(6,)");
  return Eigen::Map<const Vector6d>(a.data());
}

inline Mat3d to_mat3(const Array& a) {
  Mat3d m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m.m[i][j] = a.data()[3 * i + j];
  return m;
}

// Three numbers are the diagonal.
inline SymMat3d to_symmetric(py::handle source) {
  const Array a = numbers(source);
  if (has_shape(a, 3)) return SymMat3d::diagonal(a.data()[0], a.data()[1], a.data()[2]);
  if (!has_shape(a, 3, 3)) throw_shape(a, "(3, 3), or (3,) for a diagonal,");
  const Mat3d m = to_mat3(a);
  const char* axes = "xyz";
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < i; ++j)
      if (m.m[i][j] != m.m[j][i])
        throw py::value_error(std::string("an inertia is symmetric, but ") + axes[j] + axes[i] +
                              " is " + number(m.m[j][i]) + " and " + axes[i] + axes[j] + " is " +
                              number(m.m[i][j]));
  return {m.m[0][0], m.m[0][1], m.m[0][2], m.m[1][1], m.m[1][2], m.m[2][2]};
}

// A rotation matrix may be this far from orthogonal: numbers typed with seven digits.
inline constexpr double kOrthogonal = 1e-6;

// A quaternion (w, x, y, z) is normalized.
inline Rotationd to_rotation(py::handle source) {
  const Array a = numbers(source);
  if (has_shape(a, 4)) {
    const Quaterniond q{a.data()[0], a.data()[1], a.data()[2], a.data()[3]};
    if (!(q.squared_norm() > 0.0)) throw py::value_error("a quaternion of length zero");
    return Rotationd::from_quaternion(normalized(q));
  }
  if (!has_shape(a, 3, 3)) throw_shape(a, "(3, 3), or (4,) for a quaternion,");
  Rotationd r;
  r.matrix = to_mat3(a);
  const Mat3d rest = transpose(r.matrix) * r.matrix - Mat3d::identity();
  double worst = 0.0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) worst = std::max(worst, std::abs(rest.m[i][j]));
  if (!(worst <= kOrthogonal) || determinant(r.matrix) < 0.0)
    throw py::value_error("this is no rotation: RᵀR differs from 1 by " + number(worst) +
                          " and its determinant is " + number(determinant(r.matrix)));
  return r;
}

}  // namespace catena::python

namespace pybind11::detail {

// Type, name in signatures, how it is read, how it is written.
#define CATENA_PYTHON_CASTER(Type, stub_name, from_python, into_python) \
  template <>                                                           \
  struct type_caster<Type> {                                            \
    PYBIND11_TYPE_CASTER(Type, const_name(stub_name));                  \
    bool load(handle source, bool) {                                    \
      if (!source) return false;                                        \
      value = from_python(source);                                      \
      return true;                                                      \
    }                                                                   \
    static handle cast(const Type& x, return_value_policy, handle) {    \
      return into_python.release();                                     \
    }                                                                   \
  }

CATENA_PYTHON_CASTER(catena::Vec3d, "Vector3", catena::python::to_vec3,
                     catena::python::new_vector(&x.x, 3));
CATENA_PYTHON_CASTER(
    catena::Twistd, "Vector6",
    [](handle h) { return catena::twist_from_eigen(catena::python::to_vector6(h)); },
    catena::python::new_vector(catena::to_eigen(x).data(), 6));
CATENA_PYTHON_CASTER(
    catena::Wrenchd, "Vector6",
    [](handle h) { return catena::wrench_from_eigen(catena::python::to_vector6(h)); },
    catena::python::new_vector(catena::to_eigen(x).data(), 6));
CATENA_PYTHON_CASTER(catena::SymMat3d, "Matrix3", catena::python::to_symmetric,
                     catena::python::matrix_to_numpy(catena::to_eigen(x)));
CATENA_PYTHON_CASTER(catena::Rotationd, "Matrix3", catena::python::to_rotation,
                     catena::python::matrix_to_numpy(catena::to_eigen(x)));
CATENA_PYTHON_CASTER(Eigen::VectorXd, "Vector", catena::python::to_vector,
                     catena::python::to_numpy(x));
CATENA_PYTHON_CASTER(Eigen::MatrixXd, "Matrix", catena::python::to_matrix,
                     catena::python::matrix_to_numpy(x));

#undef CATENA_PYTHON_CASTER

}  // namespace pybind11::detail
