// SPDX-License-Identifier: BSD-3-Clause
// MechanismBuilder: describes a mechanism step by step, or changes one.
#include "catena/model/builder.h"

#include "support/arguments.h"
#include "support/break_off.h"

#include "catena/base/index.h"
#include "catena/model/flexible_body.h"
#include "catena/model/with_coordinates.h"

namespace catena::python {

void bind_builder(py::module_& m) {
  using B = MechanismBuilder;
  const auto self = py::return_value_policy::reference_internal;
  py::class_<B>(m, "MechanismBuilder",
                "Describes a mechanism step by step, or changes one, without a file.\n\n"
                "    b = catena.MechanismBuilder(\"pendulum\")\n"
                "    b.add_body(\"link\", mass=2.0, center_of_mass=[0, 0, -0.75],\n"
                "               inertia=[0.3, 0.3, 0.01])\n"
                "    b.add_hinge(\"pivot\", \"world\", \"link\", axes=[[0, 1, 0]])\n"
                "    pendulum = b.finish()\n\n"
                "Bodies may come in any order and hinges may close loops. Nothing is checked until "
                "finish(), which reports every mistake at once.")
      .def(py::init<std::string>(), py::arg("name") = "mechanism")
      .def(py::init<Description>(), py::arg("description"))
      .def("set_gravity", &B::set_gravity, py::arg("gravity"), self,
           "gravity: (3,), m/s², in the ground frame.")
      .def(
          "add_body",
          [](B& b, std::string name, const py::kwargs& settings) -> B& {
            return b.add_body(std::move(name), Struct<BodySettings>::make(settings));
          },
          py::arg("name"), self, "The keywords are the fields of BodySettings.")
      .def(
          "add_flexible_body",
          [](B& b, std::string name, std::shared_ptr<FlexibleBody> body,
             const py::kwargs& settings) -> B& {
            return b.add_flexible_body(std::move(name), std::move(body),
                                       Struct<BodySettings>::make(settings));
          },
          py::arg("name"), py::arg("body"), self,
          "A flexible body: the body `name` is its frame, and \"NAME.ATTACHMENT\" a body at each "
          "of "
          "its attachments. Its modal coordinates are \"NAME.mode1\", ... The keywords are the "
          "fields of BodySettings: rigid mass at the frame.")
      .def(
          "make_flexible",
          [](B& b, const std::string& name, std::shared_ptr<FlexibleBody> body) -> B& {
            return b.make_flexible(name, std::move(body));
          },
          py::arg("name"), py::arg("body"), self, "Makes a body the frame of a flexible one.")
      .def(
          "add_hinge",
          [](B& b, std::string name, std::string parent, std::string child,
             const py::kwargs& settings) -> B& {
            return b.add_hinge(std::move(name), std::move(parent), std::move(child),
                               Struct<HingeSettings>::make(settings));
          },
          py::arg("name"), py::arg("parent"), py::arg("child"), self,
          "The keywords are the fields of HingeSettings; type is \"revolute\" unless given. "
          "\"world\" is the ground.")
      .def(
          "add_joint",
          [](B& b, std::string name, std::string parent, std::string child,
             const py::kwargs& settings) -> B& {
            return b.add_joint(std::move(name), std::move(parent), std::move(child),
                               Struct<HingeSettings>::make(settings));
          },
          py::arg("name"), py::arg("parent"), py::arg("child"), self,
          "Alias of add_hinge. The keywords are the fields of HingeSettings.")
      .def(
          "add_frame",
          [](B& b, std::string name, std::string body, const Pose& pose) -> B& {
            return b.add_frame(std::move(name), std::move(body), to_transform(pose.value));
          },
          py::arg("name"), py::arg("body"), py::arg("pose"), self,
          "A frame of interest; pose is X_body_frame.")
      .def(
          "add_rod",
          [](B& b, const py::kwargs& fields) -> B& { return b.add_rod(Struct<Rod>::make(fields)); },
          self, "The keywords are the fields of Rod.")
      .def(
          "add_coupling",
          [](B& b, const py::kwargs& fields) -> B& {
            return b.add_coupling(Struct<Coupling>::make(fields));
          },
          self, "The keywords are the fields of Coupling.")
      .def("add_gear", &B::add_gear, py::arg("name"), py::arg("follower"), py::arg("leader"),
           py::arg("ratio"), py::arg("offset") = 0.0, self,
           "q(follower) = ratio · q(leader) + offset: a gear or a mimic joint.")
      .def(
          "add_spring",
          [](B& b, const py::kwargs& fields) -> B& {
            return b.add_spring(Struct<SpringDamper>::make(fields));
          },
          self, "The keywords are the fields of SpringDamper.")
      .def(
          "body",
          [](B& b, const std::string& name, const py::kwargs& changes) {
            BodySettings& settings = b.body(name);
            Struct<BodySettings>::apply(settings, changes);
            return settings;
          },
          py::arg("name"),
          "The settings of a body, after changing those that the keywords name: "
          "b.body(\"link\", mass=3.0).")
      .def(
          "hinge",
          [](B& b, const std::string& name, const py::kwargs& changes) {
            HingeSettings& settings = b.hinge(name);
            Struct<HingeSettings>::apply(settings, changes);
            return settings;
          },
          py::arg("name"),
          "The settings of a hinge, after changing those that the keywords name: "
          "b.hinge(\"elbow\", cut=\"never\").")
      .def(
          "freedom",
          [](B& b, const std::string& hinge, int index, const py::kwargs& changes) {
            HingeSettings& settings = b.hinge(hinge);
            const int count =
                settings.custom ? settings.custom->freedoms() : freedoms_of(settings.type);
            if (index < 0 || index >= count)
              throw NameError("hinge '" + hinge + "' has " + std::to_string(count) +
                              " freedoms, no freedom " + std::to_string(index));
            if (settings.freedoms.size() <= to_size(index))
              settings.freedoms.resize(to_size(index) + 1);
            FreedomSettings& freedom = settings.freedoms[to_size(index)];
            Struct<FreedomSettings>::apply(freedom, changes);
            return freedom;
          },
          py::arg("hinge"), py::arg("index") = 0,
          "The settings of a freedom of a hinge, after changing those that the keywords name: "
          "b.freedom(\"elbow\", damping=0.1, upper=2.0).")
      .def("set_mass", &B::set_mass, py::arg("body"), py::arg("mass"), self,
           "kg. The inertia stays as it is.")
      .def(
          "lock",
          [](B& b, const std::string& hinge, const std::optional<py::object>& q) -> B& {
            std::vector<double> values;
            if (q) {
              const Array a = numbers(*q);
              values.assign(a.data(), a.data() + a.size());
            }
            return b.lock(hinge, std::move(values));
          },
          py::arg("hinge"), py::arg("q") = py::none(), self,
          "Makes a hinge rigid at these coordinates (default: its zero).")
      .def("unlock", &B::unlock, py::arg("hinge"), self, "Undoes lock().")
      .def("remove_body", &B::remove_body, py::arg("name"), self,
           "Removes a body and everything that names it; bodies attached to it need a new hinge.")
      .def("remove_hinge", &B::remove_hinge, py::arg("name"), self,
           "Removes a hinge and what names it; its child needs a new hinge.")
      .def(
          "attach",
          [](B& b, const std::variant<Description, MechanismPointer>& other,
             const std::string& prefix, const std::string& onto, const Pose& pose) -> B& {
            const auto* mechanism = std::get_if<MechanismPointer>(&other);
            return b.attach(
                mechanism != nullptr ? (*mechanism)->description() : std::get<Description>(other),
                prefix, onto, pose.given() ? to_transform(pose.value) : Transformd{});
          },
          py::arg("other"), py::arg("prefix"), py::arg("onto") = kWorld,
          py::arg("pose") = py::none(), self,
          "Adds all of another Mechanism or Description with its names prefixed; its hinges to the "
          "world go to "
          "`onto` instead, placed at `pose` on it.")
      .def(
          "connect_roots", [](B& b, Choice<HingeType> type) -> B& { return b.connect_roots(type); },
          py::arg("type"), self,
          "Connects every part without a path to the world by a hinge: \"free\" or \"weld\".")
      .def_property_readonly(
          "description", [](const B& b) { return b.description(); }, "A copy of the Description.")
      .def(
          "finish",
          [](const B& b, bool strict, bool idle_hinges) {
            return BreakOff::raised_from(
                [&] { return b.finish({.strict = strict, .idle_hinges = idle_hinges}); });
          },
          py::arg("strict") = true, py::arg("idle_hinges") = false,
          py::call_guard<py::gil_scoped_release>(),
          "The Mechanism. Raises ModelError with every problem found.\n\n"
          "strict: inertias that no real body can have are errors instead of warnings.\n"
          "idle_hinges: hinges that move no inertia are warnings (forward dynamics is singular).");
  py::class_<Mechanism, MechanismPointer>(m.attr("Mechanism"))
      .def("edit", &Mechanism::edit, "A MechanismBuilder that starts from this mechanism.")
      .def(
          "with_coordinates",
          [](const Mechanism& mechanism, const std::vector<std::string>& hinges) {
            return with_coordinates(mechanism, hinges);
          },
          py::arg("hinges"), py::call_guard<py::gil_scoped_release>(),
          "The same mechanism, in which these hinges, at which loops are cut, have coordinates: "
          "then efforts can act there, and their angles are outputs. The others stay as they are; "
          "the new ones come last.");
}

}  // namespace catena::python
