// SPDX-License-Identifier: BSD-3-Clause
// Constraints that are switched while a mechanism moves, and several chains that hold one body.
#include "support/arguments.h"

#include "catena/constraints/chains_on_body.h"
#include "catena/constraints/constraint_set.h"

namespace catena::python {
namespace {

struct PythonConstraints {
  explicit PythonConstraints(MechanismPointer of) : mechanism(std::move(of)), set(*mechanism) {}
  MechanismPointer mechanism;
  ConstraintSet set;

  // By name or number.
  int find(const py::object& which) const {
    if (py::isinstance<py::str>(which)) return set.find(py::cast<std::string>(which));
    if (PyIndex_Check(which.ptr()) == 0)
      throw py::type_error("a constraint is named, or given by its number, not by " +
                           py::cast<std::string>(py::repr(which)));
    const int i = py::cast<int>(which);
    if (i < 0 || i >= set.count())
      throw NameError("there is no constraint " + std::to_string(i) + " in this set of " +
                      std::to_string(set.count()));
    return i;
  }
  int find(const py::object& which, ConstraintSet::Kind kind, const char* what) const {
    const int i = find(which);
    if (set.kind(i) != kind) throw Error("'" + set.name(i) + "' is no " + what);
    return i;
  }
};

Transformd pose_or_identity(const Pose& pose) {
  return pose.given() ? to_transform(pose.value) : Transformd{};
}

// One number for each row.
std::array<double, 6> six(const std::vector<double>& values, const char* what) {
  if (values.size() > 6) throw py::value_error(std::string(what) + " has more than six entries");
  std::array<double, 6> result{};
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

void add_constraints(py::class_<PythonConstraints>& type) {
  using C = PythonConstraints;
  type.def(
          "add_attachment",
          [](C& c, const std::string& name, const BodyName& body_a, const BodyName& body_b,
             const Pose& frame_a, const Pose& frame_b, Choice<HingeType> kind, const Vec3d& axis,
             bool as_it_is) {
            AttachmentSettings s;
            s.name = name;
            s.body_a = read_body(body_a, *c.mechanism);
            s.body_b = read_body(body_b, *c.mechanism);
            s.frame_a = pose_or_identity(frame_a);
            s.frame_b = pose_or_identity(frame_b);
            s.type = kind;
            s.axis = axis;
            s.as_it_is = as_it_is;
            return c.set.add(s);
          },
          py::arg("name"), py::arg("body_a"), py::arg("body_b"), py::kw_only(),
          py::arg("frame_a") = py::none(), py::arg("frame_b") = py::none(),
          py::arg("type") = Choice<HingeType>{HingeType::weld},
          py::arg("axis") = Vec3d{0.0, 0.0, 1.0}, py::arg("as_it_is") = false,
          "Two frames held together (grasp, latch) but for what `type` leaves free; as_it_is: as "
          "they stand when it is switched on. Not active yet; returns its number.")
      .def(
          "add_lock",
          [](C& c, const std::string& name, const std::string& freedom) {
            return c.set.add(LockSettings{name, c.mechanism->velocity_index(freedom)});
          },
          py::arg("name"), py::arg("freedom"), "A freedom held, or moved as set_lock() says.")
      .def(
          "add_contact",
          [](C& c, const std::string& name, const BodyName& body, const Vec3d& center,
             double radius, const BodyName& plane_body, const Vec3d& plane_point,
             const Vec3d& plane_normal, double friction, double restitution) {
            ContactSettings s;
            s.name = name;
            s.body = read_body(body, *c.mechanism);
            s.center = center;
            s.radius = radius;
            s.plane_body = read_body(plane_body, *c.mechanism);
            s.plane_point = plane_point;
            s.plane_normal = plane_normal;
            s.friction = friction;
            s.restitution = restitution;
            return c.set.add(s);
          },
          py::arg("name"), py::arg("body"), py::kw_only(), py::arg("center") = Vec3d::zero(),
          py::arg("radius") = 0.0, py::arg("plane_body") = BodyName{py::str(kWorld)},
          py::arg("plane_point") = Vec3d::zero(), py::arg("plane_normal") = Vec3d{0.0, 0.0, 1.0},
          py::arg("friction") = 0.0, py::arg("restitution") = 0.0,
          "A sphere (radius 0: a point) of a body above a plane. Apart until set_mode().")
      .def(
          "add_servo",
          [](C& c, const std::string& name, const BodyName& body, const Vec3d& point,
             const std::vector<Vec3d>& directions, const std::vector<bool>& angular,
             const std::vector<std::string>& actuators) {
            ServoSettings s;
            s.name = name;
            s.body = read_body(body, *c.mechanism);
            s.point = point;
            for (std::size_t i = 0; i < directions.size(); ++i)
              s.rows.push_back({directions[i], i < angular.size() && angular[i]});
            for (const std::string& freedom : actuators)
              s.actuators.push_back(c.mechanism->velocity_index(freedom));
            return c.set.add(s);
          },
          py::arg("name"), py::arg("body"), py::arg("point"), py::arg("directions"),
          py::arg("angular") = std::vector<bool>{},
          py::arg("actuators") = std::vector<std::string>{},
          "A motion of a point along directions (3,) of the ground (or of the body's angular "
          "velocity where `angular`) that the efforts of `actuators` must enforce.");
}

void switch_constraints(py::class_<PythonConstraints>& type) {
  using C = PythonConstraints;
  type.def(
          "activate",
          [](C& c, const py::object& which, const NamedState& state) {
            c.set.activate(c.find(which), state.of(*c.mechanism));
          },
          py::arg("which"), py::arg("state"), "By name or number. The state is not touched.")
      .def(
          "release", [](C& c, const py::object& which) { c.set.release(c.find(which)); },
          py::arg("which"), "By name or number.")
      .def(
          "active", [](const C& c, const py::object& which) { return c.set.active(c.find(which)); },
          py::arg("which"), "By name or number.")
      .def_property_readonly(
          "names",
          [](const C& c) {
            std::vector<std::string> names;
            for (int i = 0; i < c.set.count(); ++i) names.push_back(c.set.name(i));
            return names;
          },
          "list of str.")
      .def(
          "set_lock",
          [](C& c, const py::object& lock, double position, double velocity, double acceleration) {
            c.set.set_lock(c.find(lock, ConstraintSet::Kind::lock, "lock"), position, velocity,
                           acceleration);
          },
          py::arg("lock"), py::arg("position"), py::arg("velocity") = 0.0,
          py::arg("acceleration") = 0.0, "The motion that a lock imposes.")
      .def(
          "set_target",
          [](C& c, const py::object& servo, const std::vector<double>& position,
             const std::vector<double>& velocity, const std::vector<double>& acceleration) {
            c.set.set_target(c.find(servo, ConstraintSet::Kind::servo, "servo"),
                             {six(position, "position"), six(velocity, "velocity"),
                              six(acceleration, "acceleration")});
          },
          py::arg("servo"), py::arg("position"), py::arg("velocity") = std::vector<double>{},
          py::arg("acceleration") = std::vector<double>{}, "One number for each row of the servo.")
      .def(
          "set_mode",
          [](C& c, const py::object& contact, Choice<ContactMode> mode, const Vec3d& direction) {
            c.set.set_mode(c.find(contact, ConstraintSet::Kind::contact, "contact"), mode,
                           direction);
          },
          py::arg("contact"), py::arg("mode"), py::arg("slip_direction") = Vec3d::zero(),
          "\"apart\", \"sliding\", \"sticking\" or \"carried\" (by other contacts).");
}

void ask_constraints(py::class_<PythonConstraints>& type) {
  using C = PythonConstraints;
  using Kind = ConstraintSet::Kind;
  type.def(
          "forward",
          [](C& c, const NamedState& state, const FreedomVector& effort, const Wrenches& external) {
            return c.set.forward(state.of(*c.mechanism),
                                 read_freedoms(effort, *c.mechanism, "effort"),
                                 read_wrenches(external, *c.mechanism));
          },
          py::arg("state"), py::arg("effort") = py::none(), py::arg("external") = py::none(),
          "Accelerations (freedoms,) with the active constraints and the mechanism's loops. "
          "NumericalError names those that contradict each other.")
      .def(
          "impulse",
          [](C& c, const NamedState& state) { return c.set.impulse(state.of(*c.mechanism)); },
          py::arg("state"), "Velocities that satisfy everything active, and the energy lost.")
      .def(
          "collide",
          [](C& c, const NamedState& state, const std::vector<py::object>& contacts,
             const std::vector<double>& restitution) {
            if (!restitution.empty() && restitution.size() != contacts.size())
              throw Error("collide(): " + std::to_string(restitution.size()) +
                          " restitutions for " + std::to_string(contacts.size()) + " contacts");
            std::vector<int> which;
            for (const py::object& contact : contacts)
              which.push_back(c.find(contact, Kind::contact, "contact"));
            return c.set.collide(
                state.of(*c.mechanism), which,
                restitution.empty() ? std::vector<double>(which.size(), 0.0) : restitution);
          },
          py::arg("state"), py::arg("contacts"), py::arg("restitution") = std::vector<double>{},
          "An impact of contacts that touch: Newton's and Coulomb's laws for all at once.")
      .def(
          "close",
          [](C& c, NamedState& state) {
            state.of(*c.mechanism);
            return c.set.close(state.state);
          },
          py::arg("state"),
          "Brings the state back onto the constraints, in place; returns the largest gap left.")
      .def(
          "gap", [](C& c, const NamedState& state) { return c.set.gap(state.of(*c.mechanism)); },
          py::arg("state"), "The largest of the active constraints.")
      .def(
          "wrench",
          [](const C& c, const py::object& which) {
            return c.set.wrench(c.find(which, Kind::attachment, "attachment"));
          },
          py::arg("attachment"), "(6,): on body b, in frame_b at its origin, N m and N.")
      .def(
          "effort",
          [](const C& c, const py::object& which) {
            return c.set.effort(c.find(which, Kind::lock, "lock"));
          },
          py::arg("lock"), "N m or N.")
      .def(
          "servo_efforts",
          [](const C& c) {
            Eigen::VectorXd effort = Eigen::VectorXd::Zero(c.mechanism->freedoms());
            c.set.add_servo_efforts(effort);
            return effort;
          },
          "(freedoms,), N m or N: of the actuators of all servos.")
      .def(
          "servo_power",
          [](const C& c, const py::object& which) {
            return c.set.servo_power(c.find(which, Kind::servo, "servo"));
          },
          py::arg("servo"), "float, W: what a servo puts into the mechanism.")
      .def(
          "contact_force",
          [](const C& c, const py::object& which) {
            const auto force = c.set.contact_force(c.find(which, Kind::contact, "contact"));
            return std::make_pair(force.normal, force.friction);
          },
          py::arg("contact"), "(normal force, friction (3,) on the body in the plane's frame), N.")
      .def(
          "look", [](C& c, const NamedState& state) { c.set.look(state.of(*c.mechanism)); },
          py::arg("state"), "Before contact_gap(), approach_speed() and slip().")
      .def(
          "contact_gap",
          [](const C& c, const py::object& which) {
            return c.set.contact_gap(c.find(which, Kind::contact, "contact"));
          },
          py::arg("contact"), "m.")
      .def(
          "approach_speed",
          [](const C& c, const py::object& which) {
            return c.set.approach_speed(c.find(which, Kind::contact, "contact"));
          },
          py::arg("contact"), "m/s; negative: it comes closer.")
      .def(
          "slip",
          [](const C& c, const py::object& which) {
            return c.set.slip(c.find(which, Kind::contact, "contact"));
          },
          py::arg("contact"), "(3,), m/s, in the frame of the plane's body.")
      .def(
          "mode",
          [](const C& c, const py::object& which) {
            return c.set.mode(c.find(which, Kind::contact, "contact"));
          },
          py::arg("contact"), "ContactMode.");
}

struct PythonChains {
  PythonChains(MechanismPointer of, int hub, std::vector<ChainContact> contacts)
      : mechanism(std::move(of)), chains(*mechanism, hub, std::move(contacts)) {}
  MechanismPointer mechanism;
  ChainsOnBody chains;
};

void bind_chains(py::module_& m) {
  py::class_<ChainContact>(m, "ChainContact",
                           "A frame on a chain's tip held against a frame on another body.")
      .def(py::init([](const Mechanism& x, const std::string& name, const BodyName& body,
                       const BodyName& against, const Pose& frame, const Pose& on_other,
                       Choice<HingeType> type) {
             ChainContact c;
             c.name = name;
             c.body = read_body(body, x);
             c.against = read_body(against, x);
             c.frame = pose_or_identity(frame);
             c.on_other = pose_or_identity(on_other);
             c.type = type;
             return c;
           }),
           py::arg("mechanism"), py::arg("name"), py::arg("body"), py::arg("against"),
           py::kw_only(), py::arg("frame") = py::none(), py::arg("on_other") = py::none(),
           py::arg("type") = Choice<HingeType>{HingeType::weld})
      .def_readonly("name", &ChainContact::name, "In messages and for set_active().");
  using R = ChainsResult;
  py::class_<R>(m, "ChainsResult", "What forward() of ChainsOnBody found.")
      .def_readonly("acceleration", &R::acceleration, "(freedoms,).")
      .def_readonly("hub_acceleration", &R::hub_acceleration, "(6,), in the hub's frame.")
      .def_readonly("wrenches", &R::wrenches,
                    "list of (6,): on the other body, in the contact's frame on it, by contact.")
      .def_property_readonly(
          "hub_compliance", [](const R& r) { return matrix_to_numpy(r.hub_compliance); }, "(6, 6).")
      .def_property_readonly(
          "effective_inertia", [](const R& r) { return matrix_to_numpy(r.effective_inertia); },
          "(6, 6).")
      .def_readonly("by_blocks", &R::by_blocks, "Chain by chain; else all equations at once.")
      .def_readonly("rank", &R::rank, "Of the contacts' equations.");
  using P = PythonChains;
  py::class_<P>(
      m, "ChainsOnBody",
      "Several chains that hold one body: a grasp by several arms, a legged vehicle. Time "
      "linear in chains times length.")
      .def(
          py::init([](MechanismPointer x, const BodyName& hub, std::vector<ChainContact> contacts) {
            const int body = read_body(hub, *x);
            return std::make_unique<P>(std::move(x), body, std::move(contacts));
          }),
          py::arg("mechanism"), py::arg("hub"), py::arg("contacts"))
      .def(
          "set_active",
          [](P& p, const std::string& contact, bool active) {
            p.chains.set_active(p.chains.find(contact), active);
          },
          py::arg("contact"), py::arg("active"), "Opens or closes a contact, by name.")
      .def(
          "active",
          [](const P& p, const std::string& contact) {
            return p.chains.active(p.chains.find(contact));
          },
          py::arg("contact"), "Whether a contact is closed, by name.")
      .def(
          "forward",
          [](P& p, const NamedState& state, const FreedomVector& effort, const Wrenches& external) {
            return p.chains.forward(state.of(*p.mechanism),
                                    read_freedoms(effort, *p.mechanism, "effort"),
                                    read_wrenches(external, *p.mechanism));
          },
          py::arg("state"), py::arg("effort") = py::none(), py::arg("external") = py::none(),
          "Accelerations and contact wrenches: a ChainsResult.");
  m.def(
      "open_chains",
      [](const Mechanism& x, const BodyName& hub) {
        OpenedChains opened = open_chains(x, read_body(hub, x));
        return std::make_pair(std::make_shared<Mechanism>(std::move(opened.tree)),
                              std::move(opened.contacts));
      },
      py::arg("mechanism"), py::arg("hub"),
      "(tree, contacts) of a mechanism whose loops are chains that hold the body `hub`, for "
      "ChainsOnBody: every hinge that closes a loop on it or on the ground becomes a ChainContact "
      "with what it leaves free. The tree has the freedoms of the mechanism, in its order.");
}

}  // namespace

void bind_constraints(py::module_& m) {
  bind_enum<ContactMode>(m, "ContactMode", "Of a contact.",
                         {{"apart", ContactMode::apart},
                          {"sliding", ContactMode::sliding},
                          {"sticking", ContactMode::sticking},
                          {"carried", ContactMode::carried}});
  py::class_<ConstraintSet::Jump>(m, "Jump", "Of velocities, by impulses.")
      .def_readonly("velocity", &ConstraintSet::Jump::velocity, "(freedoms,), after.")
      .def_readonly("energy_change", &ConstraintSet::Jump::energy_change, "J.");
  py::class_<PythonConstraints> type(
      m, "ConstraintSet",
      "Constraints that are switched while a mechanism moves, beside its own loops: attachments, "
      "locks, contacts with planes, servos. Forces are those of the last forward() or impulse.");
  type.def(py::init<MechanismPointer>(), py::arg("mechanism"));
  add_constraints(type);
  switch_constraints(type);
  ask_constraints(type);
  bind_chains(m);
}

}  // namespace catena::python
