// SPDX-License-Identifier: BSD-3-Clause
// Products with the derivatives of the dynamics, without matrices.
#include "catena/sensitivity/products.h"

#include "support/arguments.h"
#include "support/hybrid_input.h"

namespace catena::python {
namespace {

struct PythonProducts {
  explicit PythonProducts(MechanismPointer of) : mechanism(std::move(of)), products(*mechanism) {}

  // At which point the last evaluation was.
  enum class Point { none, forward, inverse, hybrid };
  void need(bool there, const char* call) const {
    if (!there) throw Error(std::string("call ") + call + " of these DynamicsProducts first");
  }
  void need_forward() const { need(point == Point::forward, "evaluate()"); }
  void need_inverse() const {
    need(point == Point::forward || point == Point::inverse, "evaluate_inverse() or evaluate()");
  }

  MechanismPointer mechanism;
  DynamicsProducts products;
  Point point = Point::none;
};

}  // namespace

void bind_products(py::module_& m) {
  using P = PythonProducts;
  const auto gradient = [](const DynamicsGradient& g) {
    return std::make_tuple(g.q, g.v, g.effort);
  };
  py::class_<P>(m, "DynamicsProducts",
                "Products of vectors with the derivatives of the dynamics in O(N): no matrix is "
                "formed. evaluate() first. Vectors are over the independent freedoms (all of a "
                "tree), efforts over all.")
      .def(py::init<MechanismPointer>(), py::arg("mechanism"))
      .def(
          "evaluate",
          [](P& p, const NamedState& state, const FreedomVector& effort, const Wrenches& external) {
            p.point = P::Point::none;
            Eigen::VectorXd result = p.products.evaluate(
                state.of(*p.mechanism), read_freedoms(effort, *p.mechanism, "effort"),
                read_wrenches(external, *p.mechanism));
            p.point = P::Point::forward;
            return result;
          },
          py::arg("state"), py::arg("effort") = py::none(), py::arg("external") = py::none(),
          "Forward dynamics at this point: accelerations (freedoms,).")
      .def(
          "evaluate_inverse",
          [](P& p, const NamedState& state, const FreedomVector& acceleration,
             const Wrenches& external) {
            p.point = P::Point::none;
            p.products.evaluate_inverse(state.of(*p.mechanism),
                                        read_freedoms(acceleration, *p.mechanism, "acceleration"),
                                        read_wrenches(external, *p.mechanism));
            p.point = P::Point::inverse;
          },
          py::arg("state"), py::arg("acceleration") = py::none(), py::arg("external") = py::none(),
          "The point of given accelerations; the products are then those of inverse dynamics.")
      .def(
          "forward_product",
          [](P& p, const Eigen::VectorXd& dq, const Eigen::VectorXd& dv,
             const Eigen::VectorXd& deffort) {
            p.need_forward();
            return p.products.forward_product(dq, dv, deffort);
          },
          py::arg("dq"), py::arg("dv"), py::arg("deffort"), "δv̇ along one direction, (n,).")
      .def(
          "forward_adjoint",
          [gradient](P& p, const Eigen::VectorXd& w) {
            p.need_forward();
            return gradient(p.products.forward_adjoint(w));
          },
          py::arg("w"), "(by q, by v, by effort): the gradient of wᵀ v̇.")
      .def(
          "inverse_product",
          [](P& p, const Eigen::VectorXd& dq, const Eigen::VectorXd& dv,
             const Eigen::VectorXd& dacceleration) {
            p.need_inverse();
            return p.products.inverse_product(dq, dv, dacceleration);
          },
          py::arg("dq"), py::arg("dv"), py::arg("dacceleration"), "δeffort, (n,).")
      .def(
          "inverse_adjoint",
          [gradient](P& p, const Eigen::VectorXd& w) {
            p.need_inverse();
            return gradient(p.products.inverse_adjoint(w));
          },
          py::arg("w"), "(by q, by v, by acceleration): the gradient of wᵀ effort.")
      .def(
          "evaluate_hybrid",
          [](P& p, const NamedState& state, const Freedoms& motion_driven,
             const FreedomVector& effort, const FreedomVector& acceleration,
             const Wrenches& external) {
            const HybridInput input =
                read_hybrid(*p.mechanism, motion_driven, effort, acceleration);
            p.point = P::Point::none;
            HybridResult result = p.products.evaluate_hybrid(state.of(*p.mechanism), input,
                                                             read_wrenches(external, *p.mechanism));
            p.point = P::Point::hybrid;
            return result;
          },
          py::arg("state"), py::arg("motion_driven"), py::arg("effort") = py::none(),
          py::arg("acceleration") = py::none(), py::arg("external") = py::none(),
          "Hybrid dynamics of a tree at this point, for hybrid_adjoint(): a HybridResult. "
          "motion_driven: names, indices or a mask of the freedoms whose acceleration is given.")
      .def(
          "hybrid_adjoint",
          [gradient](P& p, const Eigen::VectorXd& w, const Eigen::VectorXd& x) {
            p.need(p.point == P::Point::hybrid, "evaluate_hybrid()");
            return gradient(p.products.hybrid_adjoint(w, x));
          },
          py::arg("w"), py::arg("x"),
          "(by q, by v, by inputs): the gradient of wᵀ v̇ + xᵀ effort, w read at force-driven and "
          "x at motion-driven freedoms; inputs are efforts of the former and accelerations of the "
          "latter.");
}

}  // namespace catena::python
