// SPDX-License-Identifier: BSD-3-Clause
// Distances of the collision shapes of a mechanism.
#include "catena/collision/collisions.h"

#include "support/arguments.h"

namespace catena::python {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Groups = std::map<std::string, std::vector<std::string>>;

std::vector<ShapeContact> contacts_at(const Mechanism& m, const PositionVector& q,
                                      double nearer_than, int neighbours, const Groups& groups,
                                      const Pairs& collide, const Pairs& ignore,
                                      const std::optional<std::string>& height_field) {
  CollisionSettings settings;
  settings.neighbours = neighbours;
  settings.groups = groups;
  settings.collide = collide;
  settings.ignore = ignore;
  if (height_field)
    settings.height_field = std::make_shared<const HeightField>(read_height_field(*height_field));
  Eigen::VectorXd buffer;
  return shape_contacts(CollisionModel(m, settings), read_position(q, m, buffer), nearer_than);
}

}  // namespace

void bind_collisions(py::module_& m) {
  py::class_<ShapeContact>(m, "ShapeContact", "Two collision shapes that are close, at one point.")
      .def_readonly("shape_a", &ShapeContact::shape_a, "BODY.SHAPE")
      .def_readonly("shape_b", &ShapeContact::shape_b, "BODY.SHAPE, or \"height field\"")
      .def_readonly("distance", &ShapeContact::distance, "m; negative: depth.")
      .def_property_readonly(
          "point", [](const ShapeContact& c) { return c.point; }, "(3,), m, in the ground frame.")
      .def_property_readonly(
          "normal", [](const ShapeContact& c) { return c.normal; },
          "(3,), unit vector from shape_b to shape_a.")
      .def("__repr__", [](const ShapeContact& c) {
        return "<ShapeContact " + c.shape_a + " - " + c.shape_b + ": " +
               std::to_string(c.distance) + " m>";
      });
  m.def("shape_contacts", &contacts_at, py::arg("mechanism"), py::arg("q"),
        py::arg("nearer_than") = 0.0, py::kw_only(), py::arg("neighbours") = 1,
        py::arg("groups") = Groups{}, py::arg("collide") = Pairs{}, py::arg("ignore") = Pairs{},
        py::arg("height_field") = py::none(),
        "Points of collision shapes that are nearer to each other than this (m), a list of "
        "ShapeContact; bodies up to `neighbours` joints apart are not compared. groups, collide, "
        "ignore: as collisions: in the settings of simulate(). height_field: a file.");
}

}  // namespace catena::python
