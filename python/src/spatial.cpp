// SPDX-License-Identifier: BSD-3-Clause
// Transform, the one spatial type that Python has a class for: vectors, twists, wrenches, rotations
// and inertias are arrays.
#include "support/arguments.h"

#include "catena/spatial/transform.h"

namespace catena::python {

Transformd to_transform(py::handle source) {
  if (py::isinstance<Transformd>(source)) return py::cast<Transformd>(source);
  const Array a = numbers(source);
  if (has_shape(a, 3)) return Transformd::from_translation(to_vec3(source));
  if (!has_shape(a, 4, 4)) throw_shape(a, "(4, 4), or (3,) for a translation, or a Transform");
  const Array r = Array::ensure(a[py::make_tuple(py::slice(0, 3, 1), py::slice(0, 3, 1))]);
  for (int j = 0; j < 4; ++j)
    if (a.data()[12 + j] != (j == 3 ? 1.0 : 0.0))
      throw py::value_error("the last row of a transform is 0, 0, 0, 1");
  return {to_rotation(r), {a.data()[3], a.data()[7], a.data()[11]}};
}

namespace {

// Points (3,) or (n, 3).
py::object apply_to_points(const Transformd& x, const py::object& points) {
  const Array a = numbers(points);
  if (has_shape(a, 3)) return py::cast(x * to_vec3(a));
  if (a.ndim() != 2 || a.shape(1) != 3) throw_shape(a, "(3,) or (n, 3)");
  py::array_t<double> result({a.shape(0), py::ssize_t{3}});
  for (py::ssize_t i = 0; i < a.shape(0); ++i) {
    const double* p = a.data() + 3 * i;
    const Vec3d y = x * Vec3d{p[0], p[1], p[2]};
    std::copy(&y.x, &y.x + 3, result.mutable_data() + 3 * i);
  }
  return result;
}

}  // namespace

void bind_spatial(py::module_& m) {
  const auto matrix = [](const Transformd& x) {
    Eigen::Matrix4d a = Eigen::Matrix4d::Identity();
    a.topLeftCorner<3, 3>() = to_eigen(x.rotation);
    a.topRightCorner<3, 1>() = to_eigen(x.translation);
    return matrix_to_numpy(a);
  };
  py::class_<Transformd>(m, "Transform",
                         "A displacement X_parent_child: x_parent = rotation @ x_child + "
                         "translation. The columns of rotation are the child's axes in the parent "
                         "frame, translation (m) is the child's origin.\n\n"
                         "rotation: (3, 3), or a quaternion (w, x, y, z). Wherever a Transform is "
                         "an argument, a (4, 4) array or a translation (3,) does as well.")
      .def(py::init([](const Vec3d& translation, const std::optional<Rotationd>& rotation) {
             return Transformd{rotation.value_or(Rotationd::identity()), translation};
           }),
           py::arg("translation") = Vec3d::zero(), py::arg("rotation") = py::none())
      .def_static(
          "from_matrix", [](const Pose& a) { return to_transform(a.value); }, py::arg("matrix"),
          "From a (4, 4) array.")
      .def_static(
          "from_rpy",
          [](double roll, double pitch, double yaw, const Vec3d& translation) {
            return Transformd{Rotationd::from_rpy(roll, pitch, yaw), translation};
          },
          py::arg("roll"), py::arg("pitch"), py::arg("yaw"), py::arg("translation") = Vec3d::zero(),
          "Turned about the fixed axes x, y, z in this order (rad), as in URDF and SDF.")
      .def_property_readonly(
          "rotation", [](const Transformd& x) { return x.rotation; }, "(3, 3).")
      .def_property_readonly(
          "translation", [](const Transformd& x) { return x.translation; }, "(3,), m.")
      .def_property_readonly(
          "quaternion",
          [](const Transformd& x) {
            const Quaterniond q = to_quaternion(x.rotation);
            return new_vector(&q.w, 4);
          },
          "The rotation as (w, x, y, z).")
      .def("matrix", matrix, "(4, 4).")
      .def("inverse", &Transformd::inverse, "X_child_parent.")
      .def(
          "__matmul__", [](const Transformd& a, const Transformd& b) { return a * b; },
          py::arg("other"), "X_a_c = X_a_b @ X_b_c.")
      .def("__matmul__", &apply_to_points, py::arg("points"), "As apply().")
      .def("apply", &apply_to_points, py::arg("points"),
           "Points (3,) or (n, 3) from child to parent coordinates.")
      .def(
          "adjoint", [](const Transformd& x) { return matrix_to_numpy(matrix_Ad(x)); },
          "Ad_X, (6, 6): twists, angular first, from child to parent coordinates. Wrenches go by "
          "its inverse transposed.")
      .def_static(
          "exp", [](const Twistd& twist) { return exp_transform(twist); }, py::arg("twist"),
          "The displacement after unit time at a constant twist (6,) of the body, angular first.")
      .def(
          "log", [](const Transformd& x) { return log(x); },
          "The twist (6,), angular first, whose exp() this is, of an angle of at most π.")
      .def("__array__", [matrix](const Transformd& x, const py::args&) { return matrix(x); })
      .def("__repr__",
           [matrix](const Transformd& x) {
             return "Transform.from_matrix(" + py::cast<std::string>(py::repr(matrix(x))) + ")";
           })
      .def(py::pickle([](const Transformd& x) { return py::make_tuple(x.translation, x.rotation); },
                      [](const py::tuple& t) {
                        const Array r = numbers(t[1]);
                        Transformd x;
                        x.translation = to_vec3(t[0]);
                        x.rotation.matrix = to_mat3(r);  // to the bit
                        return x;
                      }));
  m.def(
      "ad", [](const Twistd& v, const Twistd& w) { return ad(v, w); }, py::arg("v"), py::arg("w"),
      "[v, w] of two twists (6,), angular first: the rate of w seen from a frame moving with v.");
  m.def(
      "ad_star", [](const Twistd& v, const Wrenchd& f) { return ad_star(v, f); }, py::arg("v"),
      py::arg("f"), "The transposed of ad(v, ·) on a wrench (6,), moment first.");
}

}  // namespace catena::python
