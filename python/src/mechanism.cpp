// SPDX-License-Identifier: BSD-3-Clause
// Mechanism, and State by name.
#include "catena/model/mechanism.h"

#include "support/arguments.h"

#include "catena/base/index.h"
#include "catena/io/models/yaml.h"
#include "catena/model/builder.h"
#include "catena/model/configuration.h"
#include "catena/model/flexible_body.h"

namespace catena::python {
namespace {

template <class T>
py::list copies(std::span<const T> things) {
  py::list list;
  for (const T& thing : things) list.append(py::cast(thing, py::return_value_policy::copy));
  return list;
}

// Where a name stands in a state.
struct Place {
  Eigen::VectorXd* vector;
  int first;
  int count;
};

// "elbow" and "q.elbow" are positions, "v.elbow" is a velocity; of a hinge with several
// coordinates all of them, or one: "base.qw".
Place find_place(NamedState& s, const std::string& name) {
  const Mechanism& m = *s.mechanism;
  const bool q_prefix = name.starts_with("q.");
  const bool v_prefix = name.starts_with("v.");
  const std::string rest = q_prefix || v_prefix ? name.substr(2) : name;
  if (m.has_hinge(rest)) {
    const HingePlace& h = m.hinges()[index(m.hinge_index(rest))];
    if (h.node < 0)
      throw NameError("hinge '" + rest + "' has no coordinates: it " +
                      (h.role == HingePlace::Role::weld
                           ? "is rigid"
                           : "closes a loop, so its coordinates follow from the others; "
                             "with_coordinates() gives it some of its own"));
    return v_prefix ? Place{&s.state.v, h.v_index, h.freedoms}
                    : Place{&s.state.q, h.q_index, h.coordinates};
  }
  return v_prefix ? Place{&s.state.v, m.velocity_index(rest), 1}
                  : Place{&s.state.q, m.position_index(rest), 1};
}

void set_place(NamedState& s, const std::string& name, py::handle value) {
  const Place p = find_place(s, name);
  const Array a = numbers(value);
  if (a.ndim() > 1 || a.size() != p.count)
    throw NumericalError("'" + name + "' has " + std::to_string(p.count) + " entries, not " +
                         std::to_string(a.size()));
  p.vector->segment(p.first, p.count) = Eigen::Map<const Eigen::VectorXd>(a.data(), a.size());
}

std::vector<std::string> entries(const NamedState& s) {
  std::vector<std::string> names;
  for (const std::string& name : s.mechanism->position_names()) names.push_back("q." + name);
  for (const std::string& name : s.mechanism->velocity_names()) names.push_back("v." + name);
  return names;
}

// From an array, or by name: what a dictionary does not name is as in the default state.
void set_all(NamedState& s, const py::object& from, const char* what) {
  Eigen::VectorXd& to = *what == 'q' ? s.state.q : s.state.v;
  if (py::isinstance<py::dict>(from)) {
    const State& usual = s.mechanism->default_state();
    NamedState made{s.mechanism, usual};
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(from)) {
      if (!py::isinstance<py::str>(key))
        throw py::type_error(std::string(what) +
                             ": a dictionary by name has names as its keys, not " +
                             py::cast<std::string>(py::repr(key)));
      std::string name = py::cast<std::string>(key);
      const std::string prefix = std::string(what) + ".";
      if (!name.starts_with(prefix)) name = prefix + name;
      set_place(made, name, value);
    }
    to.head(to.size()) = *what == 'q' ? made.state.q : made.state.v;  // views stay valid
    return;
  }
  const Array a = numbers(from);
  if (a.ndim() > 1 || a.size() != to.size())
    throw NumericalError(std::string(what) + " has " + std::to_string(a.size()) +
                         " entries, but this mechanism has " + std::to_string(to.size()) +
                         (*what == 'q' ? " coordinates" : " freedoms"));
  to.head(to.size()) = Eigen::Map<const Eigen::VectorXd>(a.data(), a.size());
}

std::string state_text(const NamedState& s) {
  std::string text = "State(";
  const auto add = [&](const char* prefix, std::span<const std::string> names,
                       const Eigen::VectorXd& x) {
    for (Eigen::Index i = 0; i < x.size(); ++i)
      text += (text.size() > 6 ? ", " : "") + std::string(prefix) + names[index(i)] + "=" +
              number(x[i]);
  };
  add("q.", s.mechanism->position_names(), s.state.q);
  add("v.", s.mechanism->velocity_names(), s.state.v);
  return text + ")";
}

void bind_places(py::module_& m) {
  py::class_<BodyPlace>(m, "BodyPlace", "Where a body of the user is in the tree of nodes.")
      .def_readonly("name", &BodyPlace::name, "As the user gave it.")
      .def_readonly("node", &BodyPlace::node, "-1: fixed to the ground.")
      .def_readonly("X_node_body", &BodyPlace::X_node_body, "Transform: its frame on the node.")
      .def_property_readonly(
          "inertia", [](const BodyPlace& b) { return matrix_to_numpy(to_eigen(b.inertia)); },
          "(6, 6), angular first, about the origin of the body's frame.");
  py::class_<HingePlace> hinge(m, "HingePlace", "What became of a hinge of the user.");
  bind_enum<HingePlace::Role>(hinge, "Role", "In the tree, cut in a loop, or rigid.",
                              {{"tree", HingePlace::Role::tree},
                               {"cut", HingePlace::Role::cut},
                               {"weld", HingePlace::Role::weld}});
  hinge.def_readonly("name", &HingePlace::name, "As the user gave it.")
      .def_readonly("type", &HingePlace::type, "HingeType.")
      .def_readonly("role", &HingePlace::role, "HingePlace.Role.")
      .def_readonly("parent_body", &HingePlace::parent_body, "Index; -1: the world.")
      .def_readonly("child_body", &HingePlace::child_body, "Index; -1: the world.")
      .def_readonly("node", &HingePlace::node, "The node it moves; -1: none.")
      .def_readonly("reversed", &HingePlace::reversed, "In the tree its child is the parent.")
      .def_readonly("q_index", &HingePlace::q_index, "Of its first coordinate in q.")
      .def_readonly("coordinates", &HingePlace::coordinates, "How many in q.")
      .def_readonly("v_index", &HingePlace::v_index, "Of its first freedom in v.")
      .def_readonly("freedoms", &HingePlace::freedoms, "How many in v.")
      .def("__repr__", [](const HingePlace& h) { return "<HingePlace '" + h.name + "'>"; });
  py::class_<FramePlace>(m, "FramePlace", "A frame of interest.")
      .def_readonly("name", &FramePlace::name, "As the user gave it.")
      .def_readonly("body", &FramePlace::body, "Index; -1: the world.")
      .def_readonly("node", &FramePlace::node, "-1: fixed to the ground.")
      .def_readonly("X_node_frame", &FramePlace::X_node_frame, "Transform: the frame on the node.");
  py::class_<FlexiblePlace>(m, "FlexiblePlace", "Where a flexible body is in the mechanism.")
      .def_readonly("name", &FlexiblePlace::name, "As the user gave it.")
      .def_readonly("body", &FlexiblePlace::body, "Index of its frame.")
      .def_property_readonly(
          "attachments",
          [](const FlexiblePlace& f) {
            std::vector<int> bodies;
            for (const auto& a : f.attachments) bodies.push_back(a.body);
            return bodies;
          },
          "list of int: the bodies at its attachments.")
      .def_property_readonly(
          "coordinates",
          [](const FlexiblePlace& f) {
            std::vector<std::string> names;
            for (int k = 1; k <= f.constants->modes(); ++k)
              names.push_back(f.name + ".mode" + std::to_string(k));
            return names;
          },
          "list of str: names of its modal coordinates, m.")
      .def_property_readonly(
          "constants",
          [](const FlexiblePlace& f) {
            return std::const_pointer_cast<FlexibleBody>(f.constants);  // never changed in place
          },
          "FlexibleBody: modes, frequencies and the rest.")
      .def("__repr__", [](const FlexiblePlace& f) { return "<FlexiblePlace '" + f.name + "'>"; });
  py::class_<LoopPlace>(m, "LoopPlace", "A closed loop, or several that share bodies.")
      .def_readonly("bodies", &LoopPlace::bodies, "list of int.")
      .def_readonly("nodes", &LoopPlace::nodes, "list of int: that move in it.")
      .def_readonly("cut_hinges", &LoopPlace::cut_hinges, "list of int: hinges that close it.")
      .def_readonly("rods", &LoopPlace::rods, "list of int: rods that close it.")
      .def_readonly("couplings", &LoopPlace::couplings, "list of int: couplings in it.")
      .def_readonly("constraints", &LoopPlace::constraints, "Scalar rows, redundant ones too.");
}

void bind_state(py::module_& m) {
  py::class_<NamedState>(
      m, "State",
      "Position q and velocity v of a mechanism, by name or as arrays.\n\n"
      "    state = robot.default_state()\n"
      "    state[\"elbow\"] = 0.3          # the same as state[\"q.elbow\"]\n"
      "    state[\"v.elbow\"] = 1.0\n"
      "    state[\"base\"]                 # all coordinates of a hinge: a view\n"
      "    state.q[:] = 0.0              # views: no copy, and always of this length\n\n"
      "q: (coordinates,), rad and m, quaternions (w, x, y, z). v: (freedoms,), their rates; "
      "angular first, in the child's frame, for free and spherical hinges. A closed mechanism has "
      "those of its whole spanning tree, which assemble() makes consistent.")
      .def(py::init([](MechanismPointer mechanism, const std::optional<py::object>& q,
                       const std::optional<py::object>& v) {
             NamedState s{mechanism, mechanism->default_state()};
             if (q) set_all(s, *q, "q");
             if (v) set_all(s, *v, "v");
             return s;
           }),
           py::arg("mechanism"), py::arg("q") = py::none(), py::arg("v") = py::none(),
           "The default state, or one with these q and v: arrays, or dictionaries by name; what "
           "these do not name is as in the default state.")
      .def_property(
          "q",
          [](const py::object& self) -> py::array_t<double> {
            return view_of(py::cast<NamedState&>(self).state.q, self);
          },
          [](NamedState& s, const py::object& q) { set_all(s, q, "q"); },
          "A view of the position, (coordinates,). Set by an array or by name.")
      .def_property(
          "v",
          [](const py::object& self) -> py::array_t<double> {
            return view_of(py::cast<NamedState&>(self).state.v, self);
          },
          [](NamedState& s, const py::object& v) { set_all(s, v, "v"); },
          "A view of the velocity, (freedoms,). Set by an array or by name.")
      .def_property_readonly(
          "mechanism", [](const NamedState& s) { return s.mechanism; }, "Whose state it is.")
      .def(
          "__getitem__",
          [](const py::object& self, const std::string& name) -> py::object {
            const Place p = find_place(py::cast<NamedState&>(self), name);
            if (p.count == 1) return py::float_((*p.vector)[p.first]);
            return py::array_t<double>({static_cast<py::ssize_t>(p.count)},
                                       {static_cast<py::ssize_t>(sizeof(double))},
                                       p.vector->data() + p.first, self);
          },
          py::arg("name"), "An entry, or all of a hinge, by name; a velocity as \"v.NAME\".")
      .def(
          "__setitem__",
          [](NamedState& s, const std::string& name, const py::object& value) {
            set_place(s, name, value);
          },
          py::arg("name"), py::arg("value"))
      .def(
          "__contains__",
          [](NamedState& s, const py::object& name) {
            if (!py::isinstance<py::str>(name)) return false;
            try {
              return find_place(s, py::cast<std::string>(name)).count > 0;
            } catch (const NameError&) {
              return false;
            }
          },
          py::arg("name"), "Whether state[name] is something.")
      .def(
          "__iter__", [](const NamedState& s) { return py::iter(py::cast(entries(s))); },
          "Over the names of all entries: \"q.NAME\", then \"v.NAME\".")
      .def(
          "copy", [](const NamedState& s) { return s; }, "Another state with the same numbers.")
      .def("__copy__", [](const NamedState& s) { return s; })
      .def(
          "__deepcopy__", [](const NamedState& s, const py::dict&) { return s; }, py::arg("memo"))
      .def("__eq__",
           [](const NamedState& a, const NamedState& b) {
             return a.state.q == b.state.q && a.state.v == b.state.v;
           })
      .def("__repr__", &state_text)
      .def(py::pickle(
          [](const NamedState& s) {
            return py::make_tuple(s.mechanism, to_numpy(s.state.q), to_numpy(s.state.v));
          },
          [](const py::tuple& t) {
            NamedState s{py::cast<MechanismPointer>(t[0]), {}};
            s.state = s.mechanism->default_state();
            set_all(s, t[1], "q");
            set_all(s, t[2], "v");
            return s;
          }));
}

}  // namespace

void bind_mechanism(py::module_& m) {
  bind_places(m);
  using M = Mechanism;
  py::class_<M, MechanismPointer> mechanism(
      m, "Mechanism",
      "A finished, validated model that cannot be changed; edit() starts another from it. May be "
      "used by several threads. Made by load() or MechanismBuilder.finish(). Pickled as YAML.");
  bind_state(m);
  mechanism.def_property_readonly("name", &M::name, "As the model gave it.")
      .def_property_readonly("gravity", &M::gravity, "(3,), m/s², in the ground frame.")
      .def_property_readonly(
          "description", [](const M& x) { return x.description(); }, "What it was made from.")
      .def_property_readonly(
          "warnings", [](const M& x) { return x.warnings(); }, "list of Diagnostic.")
      .def_property_readonly("coordinates", &M::coordinates, "Length of q.")
      .def_property_readonly("freedoms", &M::freedoms, "Length of v, of the spanning tree.")
      .def_property_readonly("tree_freedoms", &M::tree_freedoms,
                             "Without those that cut hinges keep.")
      .def_property_readonly(
          "bodies", [](const M& x) { return copies(x.bodies()); }, "list of BodyPlace.")
      .def_property_readonly(
          "hinges", [](const M& x) { return copies(x.hinges()); }, "list of HingePlace.")
      .def_property_readonly(
          "frames", [](const M& x) { return copies(x.frames()); }, "list of FramePlace.")
      .def_property_readonly(
          "loops", [](const M& x) { return copies(x.loops()); }, "list of LoopPlace.")
      .def_property_readonly(
          "flexible_bodies", [](const M& x) { return copies(x.flexible_bodies()); },
          "list of FlexiblePlace.")
      .def_property_readonly("has_flexible_bodies", &M::has_flexible_bodies, "bool.")
      .def_property_readonly(
          "freedom_settings", [](const M& x) { return copies(x.freedom_settings()); },
          "list of FreedomSettings, by v.")
      .def_property_readonly(
          "position_names", [](const M& x) { return copies(x.position_names()); },
          "list of str: names of the entries of q.")
      .def_property_readonly(
          "velocity_names", [](const M& x) { return copies(x.velocity_names()); },
          "list of str: names of the entries of v.")
      .def_property_readonly("has_free_base", &M::has_free_base,
                             "Whether a body is free from the ground.")
      .def_property_readonly("total_mass", &M::total_mass, "kg.")
      .def("body_index", &M::body_index, py::arg("name"), "-1: the ground.")
      .def("hinge_index", &M::hinge_index, py::arg("name"), "Into hinges.")
      .def("frame_index", &M::frame_index, py::arg("name"), "Into frames.")
      .def("position_index", &M::position_index, py::arg("name"), "Into q.")
      .def("velocity_index", &M::velocity_index, py::arg("name"), "Into v.")
      .def("has_body", &M::has_body, py::arg("name"), "Whether there is a body of this name.")
      .def("has_hinge", &M::has_hinge, py::arg("name"), "Whether there is a hinge of this name.")
      .def(
          "default_state",
          [](const MechanismPointer& x) {
            return NamedState{x, x->default_state()};
          },
          "A new State: zero (identity quaternions) unless the model says otherwise.")
      .def("__repr__",
           [](const M& x) {
             return "<Mechanism '" + x.name() + "': " + std::to_string(x.bodies().size()) +
                    " bodies, " + std::to_string(x.freedoms()) + " freedoms" +
                    (x.loops().empty() ? "" : ", " + std::to_string(x.loops().size()) + " loops") +
                    ">";
           })
      .def(py::pickle(
          [](const M& x) {
            bool idle = false;
            for (const Diagnostic& d : x.warnings()) idle |= d.severity == Severity::error;
            return py::make_tuple(write_yaml(x.description()), idle);
          },
          [](const py::tuple& t) {
            Reading reading = read_yaml_text(py::cast<std::string>(t[0]), "");
            for (const Diagnostic& d : reading.diagnostics)
              if (d.severity == Severity::error) throw ModelError(reading.diagnostics);
            return MechanismPointer(
                new Mechanism(MechanismBuilder(std::move(reading.description))
                                  .finish({.strict = false, .idle_hinges = py::cast<bool>(t[1])})));
          }));

  const auto position = [](const PositionVector& q, const Mechanism& x) {
    Eigen::VectorXd buffer;
    return Eigen::VectorXd(read_position(q, x, buffer));
  };
  m.def("zero_position", &zero_position, py::arg("mechanism"),
        "q with all coordinates zero and identity quaternions, (coordinates,).");
  m.def(
      "integrate",
      [position](const Mechanism& x, const PositionVector& q, const FreedomVector& v) {
        return integrate(x, position(q, x), read_freedoms(v, x, "v"));
      },
      py::arg("mechanism"), py::arg("q"), py::arg("v"),
      "(coordinates,): the position reached from q after unit time at constant v: q ⊕ v. Scale v "
      "by a time step.");
  m.def(
      "difference",
      [position](const Mechanism& x, const PositionVector& q1, const PositionVector& q2) {
        return difference(x, position(q1, x), position(q2, x));
      },
      py::arg("mechanism"), py::arg("q1"), py::arg("q2"),
      "The v that leads from q1 to q2 in unit time, (freedoms,).");
  m.def(
      "position_rate",
      [position](const Mechanism& x, const PositionVector& q, const FreedomVector& v) {
        return position_rate(x, position(q, x), read_freedoms(v, x, "v"));
      },
      py::arg("mechanism"), py::arg("q"), py::arg("v"),
      "(coordinates,): q̇ of all coordinates at velocity v, quaternion rates included.");
  m.def(
      "normalize_quaternions",
      [position](const Mechanism& x, const PositionVector& q) {
        Eigen::VectorXd result = position(q, x);
        normalize_quaternions(x, result);
        return result;
      },
      py::arg("mechanism"), py::arg("q"),
      "(coordinates,): q with every quaternion scaled to length one.");
  m.def("random_position", &random_position, py::arg("mechanism"), py::arg("seed"),
        "(coordinates,), in [-1, 1] (within their limits) and random rotations; the same for the "
        "same "
        "seed on every machine.");
  m.def("random_vector", &random_vector, py::arg("size"), py::arg("seed"),
        "(size,), entries in [-1, 1]; the same for the same seed on every machine.");
}

}  // namespace catena::python
