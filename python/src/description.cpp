// SPDX-License-Identifier: BSD-3-Clause
// What a mechanism is described by (model/description.h): values made from keywords.
#include "catena/model/description.h"

#include "support/arguments.h"
#include "support/break_off.h"
#include <pybind11/functional.h>

#include "catena/base/index.h"

namespace catena::python {
namespace {

// A hinge defined by a Python object with freedoms, transform(q), motion_map(q) and
// motion_map_rate(q, v). Duck-typed, and the object is kept.
class PythonHinge final : public CustomHinge {
 public:
  explicit PythonHinge(py::object object) : object_(std::move(object)) {
    for (const char* name : {"freedoms", "transform", "motion_map", "motion_map_rate"})
      if (!py::hasattr(object_, name))
        throw py::type_error(std::string("a custom hinge needs freedoms, transform(q), "
                                         "motion_map(q) and motion_map_rate(q, v); this one has "
                                         "no ") +
                             name);
    py::object n = object_.attr("freedoms");
    if (PyCallable_Check(n.ptr()) != 0) n = n();
    freedoms_ = py::cast<int>(n);
  }
  ~PythonHinge() override {
    const py::gil_scoped_acquire gil;
    object_ = py::object();
  }
  PythonHinge(const PythonHinge&) = delete;
  PythonHinge& operator=(const PythonHinge&) = delete;

  int freedoms() const override { return freedoms_; }
  Transformd transform(std::span<const double> q) const override {
    const py::gil_scoped_acquire gil;
    return to_transform(BreakOff::noted([&] { return object_.attr("transform")(array(q)); }));
  }
  void motion_map(std::span<const double> q, std::span<Twistd> columns) const override {
    const py::gil_scoped_acquire gil;
    read_columns(BreakOff::noted([&] { return object_.attr("motion_map")(array(q)); }),
                 "motion_map", columns);
  }
  void motion_map_rate(std::span<const double> q, std::span<const double> v,
                       std::span<Twistd> columns) const override {
    const py::gil_scoped_acquire gil;
    read_columns(
        BreakOff::noted([&] { return object_.attr("motion_map_rate")(array(q), array(v)); }),
        "motion_map_rate", columns);
  }
  const py::object& object() const { return object_; }

 private:
  static py::array_t<double> array(std::span<const double> x) {
    return new_vector(x.data(), static_cast<py::ssize_t>(x.size()));
  }
  void read_columns(const py::object& from, const char* what, std::span<Twistd> columns) const {
    const Array a = numbers(from);
    const py::ssize_t n = static_cast<py::ssize_t>(columns.size());
    if (!has_shape(a, 6, n))
      throw NumericalError(std::string(what) + " of a custom hinge must return an array of shape " +
                           "(6, " + std::to_string(n) + "), not " + shape_text(a));
    for (py::ssize_t j = 0; j < n; ++j)
      for (int i = 0; i < 6; ++i) columns[index(j)][i] = a.at(i, j);
  }
  py::object object_;
  int freedoms_ = 1;
};

// g of a coupling by a Python function q -> (value, gradient, hessian).
class PythonCoupling {
 public:
  explicit PythonCoupling(py::object f)
      : function_(new py::object(std::move(f)), [](py::object* p) {
          const py::gil_scoped_acquire gil;
          delete p;
        }) {}
  void operator()(std::span<const double> q, double& value, std::span<double> gradient,
                  std::span<double> hessian) const {
    const py::gil_scoped_acquire gil;
    const py::ssize_t n = static_cast<py::ssize_t>(q.size());
    const py::object result =
        BreakOff::noted([&] { return (*function_)(new_vector(q.data(), n)); });
    const auto parts = py::reinterpret_borrow<py::object>(result);
    if (!py::isinstance<py::sequence>(parts) || py::len(parts) != 3)
      throw NumericalError("the function of a coupling must return (value, gradient, hessian)");
    value = py::cast<double>(parts[py::int_(0)]);
    const Array g = numbers(parts[py::int_(1)]);
    const Array h = numbers(parts[py::int_(2)]);
    if (g.size() != n || h.size() != n * n)
      throw NumericalError("the function of a coupling must return a gradient of shape (" +
                           std::to_string(n) + ",) and a hessian of shape (" + std::to_string(n) +
                           ", " + std::to_string(n) + ")");
    std::copy(g.data(), g.data() + n, gradient.begin());
    std::copy(h.data(), h.data() + n * n, hessian.begin());
  }
  const py::object& object() const { return *function_; }

 private:
  std::shared_ptr<py::object> function_;
};

template <class T, class F>
std::vector<F> list_of(py::handle source) {
  std::vector<F> result;
  for (const py::handle entry : py::iter(source)) result.push_back(Struct<F>::from(entry));
  return result;
}

// A matrix like R D Rᵀ is symmetric but for rounding, which is taken out.
SymMat3d read_inertia(py::handle source) {
  constexpr double kRounding = 1e-9;  // of the largest entry
  const Array a = numbers(source);
  if (!has_shape(a, 3, 3)) return to_symmetric(source);
  const Eigen::Matrix3d m =
      Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(a.data());
  const double largest = m.cwiseAbs().maxCoeff();
  const char* axes = "xyz";
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < i; ++j)
      if (!(std::abs(m(i, j) - m(j, i)) <= kRounding * largest)) {
        Diagnostic problem;
        problem.message = std::string("an inertia is symmetric, but ") + axes[j] + axes[i] +
                          " is " + number(m(j, i)) + " and " + axes[i] + axes[j] + " is " +
                          number(m(i, j));
        throw ModelError({problem});
      }
  const Eigen::Matrix3d mean = 0.5 * (m + m.transpose());
  return {mean(0, 0), mean(0, 1), mean(0, 2), mean(1, 1), mean(1, 2), mean(2, 2)};
}

// Coordinates of a hinge; that of a hinge of one freedom may be a number.
std::vector<double> read_coordinates(py::handle source) {
  const Array a = numbers(source);
  if (a.ndim() > 1) throw_shape(a, "(n,)");
  return {a.data(), a.data() + a.size()};
}

// An axis: three numbers, or "x", "-y" and so on, as in model files.
Vec3d read_axis(py::handle source) {
  if (!py::isinstance<py::str>(source)) return to_vec3(source);
  const std::string name = py::cast<std::string>(source);
  const bool back = name.starts_with('-');
  const std::string letter = name.substr(back ? 1 : 0);
  if (letter != "x" && letter != "y" && letter != "z")
    throw py::value_error("an axis is three numbers or one of x, y, z, -x, -y, -z, not '" + name +
                          "'");
  const double sign = back ? -1.0 : 1.0;
  return {letter == "x" ? sign : 0.0, letter == "y" ? sign : 0.0, letter == "z" ? sign : 0.0};
}

std::vector<Vec3d> read_axes(py::handle source) {
  if (py::isinstance<py::str>(source)) return {read_axis(source)};
  if (!py::isinstance<py::iterable>(source)) throw py::type_error("axes are expected");
  std::vector<py::object> entries;
  bool flat = true;  // numbers: one axis alone
  for (const py::handle entry : py::iter(source)) {
    entries.push_back(py::reinterpret_borrow<py::object>(entry));
    flat = flat && PyNumber_Check(entry.ptr()) != 0 && !py::isinstance<py::array>(entry);
  }
  if (flat && !entries.empty()) return {read_axis(source)};
  std::vector<Vec3d> axes;
  for (const py::object& entry : entries) axes.push_back(read_axis(entry));
  return axes;
}

template <class S>
void add_body_fields(S& s) {
  using T = BodySettings;
  s.field("mass", &T::mass, "kg.")
      .field("center_of_mass", &T::center_of_mass, "(3,), m, in the body frame.")
      .field(
          "inertia", [](const T& b) { return b.inertia; },
          [](T& b, py::handle i) { b.inertia = read_inertia(i); },
          "(3, 3) or its diagonal (3,), kg m², about the centre of mass, along inertia_axes.")
      .field("inertia_axes", &T::inertia_axes, "(3, 3), R_body_inertia.")
      .field(
          "visuals", [](const T& b) { return b.visuals; },
          [](T& b, py::handle v) { b.visuals = list_of<T, Visual>(v); },
          "list of Visual: shapes for drawing.");
}

template <class S>
void add_hinge_fields(S& s) {
  using T = HingeSettings;
  s.field("type", &T::type, "HingeType.")
      .field(
          "axes", [](const T& h) { return h.axes; },
          [](T& h, py::handle v) { h.axes = read_axes(v); },
          "list of (3,): in the hinge frame on the parent; one alone, and \"x\", \"-y\" and so on, "
          "are taken too.")
      .field("pitch", &T::pitch, "of a screw, m/rad.")
      .field("frame_on_parent", &T::frame_on_parent, "Transform X_parent_hinge.")
      .field("frame_on_child", &T::frame_on_child, "Transform X_child_hinge.")
      .field(
          "freedoms", [](const T& h) { return h.freedoms; },
          [](T& h, py::handle v) { h.freedoms = list_of<T, FreedomSettings>(v); },
          "list of FreedomSettings; may be shorter than the freedoms.")
      .field(
          "drive", [](const T& h) { return h.drive; },
          [](T& h, py::handle v) {
            if (v.is_none())
              h.drive.reset();
            else
              h.drive = Struct<DriveSettings>::from(v);
          },
          "DriveSettings | None: a geared motor.")
      .field(
          "custom",
          [](const T& h) -> py::object {
            const auto* hinge = dynamic_cast<const PythonHinge*>(h.custom.get());
            return hinge != nullptr ? hinge->object() : py::none();
          },
          [](T& h, py::handle v) {
            h.custom =
                v.is_none()
                    ? nullptr
                    : std::make_shared<const PythonHinge>(py::reinterpret_borrow<py::object>(v));
            if (h.custom) h.type = HingeType::custom;
          },
          "An object with freedoms, transform(q), motion_map(q) -> (6, n) and "
          "motion_map_rate(q, v) -> (6, n), all in the child-side frame.")
      .field("cut", &T::cut, "Cut: what to do in a closed loop.")
      .field("keeps_coordinates", &T::keeps_coordinates,
             "bool: coordinates of its own even if a loop is cut there and nothing acts at it.")
      .field(
          "locked_at", [](const T& h) { return h.locked_at; },
          [](T& h, py::handle v) { h.locked_at = read_coordinates(v); },
          "list of float, or a number: a weld at these coordinates.")
      .field(
          "initial_position", [](const T& h) { return h.initial_position; },
          [](T& h, py::handle v) { h.initial_position = read_coordinates(v); },
          "list of float, or a number: q of the default state, rad or m.")
      .field(
          "initial_velocity", [](const T& h) { return h.initial_velocity; },
          [](T& h, py::handle v) { h.initial_velocity = read_coordinates(v); },
          "list of float, or a number: v of the default state, rad/s or m/s.");
}

}  // namespace

void bind_description(py::module_& m) {
  bind_enum<HingeType>(m, "HingeType",
                       "Type of a hinge (joint): the motion that it allows (docs/model-format.md).",
                       [] {
                         std::vector<std::pair<std::string, HingeType>> all;
                         for (const std::string& name : hinge_type_names())
                           all.emplace_back(name, *hinge_type_from(name));
                         return all;
                       }());
  bind_enum<Cut>(m, "Cut", "What to do with a hinge that is part of a closed loop.",
                 {{"automatic", Cut::automatic}, {"always", Cut::always}, {"never", Cut::never}});
  bind_enum<Visual::Shape>(m, "Shape", "Of a Visual.",
                           {{"box", Visual::Shape::box},
                            {"cylinder", Visual::Shape::cylinder},
                            {"sphere", Visual::Shape::sphere},
                            {"capsule", Visual::Shape::capsule},
                            {"mesh", Visual::Shape::mesh}});

  Struct<Visual>(m, "Visual", "A shape for drawing; it has no part in the dynamics.")
      .field("shape", &Visual::shape, "Shape.")
      .field("pose", &Visual::pose, "Transform in the body frame.")
      .field("size", &Visual::size, "(3,), m: edges of a box; scale of a mesh.")
      .field("radius", &Visual::radius, "m.")
      .field("length", &Visual::length, "m, along z.")
      .field("mesh", &Visual::mesh, "Path or URI.")
      .field("colour", &Visual::colour, "Red, green, blue, opacity.")
      .field("name", &Visual::name, "str; may be empty.")
      .done();
  Struct<Friction>(m, "Friction", "Coulomb friction with the Stribeck effect.")
      .field("sliding", &Friction::sliding, "N or N m.")
      .field("breakaway", &Friction::breakaway, "N or N m; 0: the same as sliding.")
      .field("stribeck_velocity", &Friction::stribeck_velocity, "m/s or rad/s; 0: none.")
      .field("transition_velocity", &Friction::transition_velocity, "Of the regularization.")
      .done();
  Struct<FreedomSettings>(m, "FreedomSettings",
                          "Settings of one degree of freedom of a hinge: joint limits, damping, "
                          "friction, spring. SI units.")
      .field("lower", &FreedomSettings::lower, "Limit of the coordinate, rad or m.")
      .field("upper", &FreedomSettings::upper, "Limit of the coordinate, rad or m.")
      .field("velocity_limit", &FreedomSettings::velocity_limit, "rad/s or m/s; inf: none.")
      .field("effort_limit", &FreedomSettings::effort_limit, "N m or N; inf: none.")
      .field("damping", &FreedomSettings::damping, "N m s or N s/m.")
      .field("stiffness", &FreedomSettings::stiffness, "N m/rad or N/m.")
      .field("rest", &FreedomSettings::rest, "Of the stiffness, rad or m.")
      .field(
          "friction", [](const FreedomSettings& f) { return f.friction; },
          [](FreedomSettings& f, py::handle v) { f.friction = Struct<Friction>::from(v); },
          "Friction.")
      .done();
  Struct<DriveSettings>(m, "DriveSettings", "A geared motor on a hinge of one freedom.")
      .field("rotor_inertia", &DriveSettings::rotor_inertia, "About its axis, kg m².")
      .field("gear_ratio", &DriveSettings::gear_ratio, "Rotor speed / hinge speed.")
      .field("carrier", &DriveSettings::carrier, "The body that carries it; empty: the parent.")
      .field("rotor_axis", &DriveSettings::rotor_axis,
             "(3,) in the carrier's frame; None: the hinge axis.")
      .field("armature_only", &DriveSettings::armature_only, "Only ratio² · rotor_inertia.")
      .done();

  Struct<BodySettings> body_settings(m, "BodySettings", "Mass and shape of a body.");
  add_body_fields(body_settings);
  body_settings.done();
  Struct<Body> body(m, "Body", "A body of a Description.");
  body.field("name", &Body::name, "str.");
  add_body_fields(body);
  body.done().def_property_readonly(
      "source", [](const Body& b) { return b.source; }, "Source: where it was said.");

  Struct<HingeSettings> hinge_settings(
      m, "HingeSettings", "A hinge (joint) between two bodies: its type, frames and freedoms.");
  add_hinge_fields(hinge_settings);
  hinge_settings.done();
  Struct<Hinge> hinge(m, "Hinge", "A hinge of a Description.");
  hinge.field("name", &Hinge::name, "str.")
      .field("parent", &Hinge::parent, "str: a body, or \"world\".")
      .field("child", &Hinge::child, "str: a body.");
  add_hinge_fields(hinge);
  hinge.done().def_property_readonly(
      "source", [](const Hinge& h) { return h.source; }, "Source: where it was said.");

  Struct<Frame>(m, "Frame", "A frame fixed on a body.")
      .field("name", &Frame::name, "str.")
      .field("body", &Frame::body, "str: the body that carries it.")
      .field("pose", &Frame::pose, "Transform X_body_frame.")
      .done()
      .def_property_readonly(
          "source", [](const Frame& x) { return x.source; }, "Source: where it was said.");
  Struct<Rod>(m, "Rod", "A massless rod of fixed length between two points.")
      .field("name", &Rod::name, "str.")
      .field("body_a", &Rod::body_a, "str.")
      .field("point_a", &Rod::point_a, "(3,), m, in the frame of body_a.")
      .field("body_b", &Rod::body_b, "str.")
      .field("point_b", &Rod::point_b, "(3,), m, in the frame of body_b.")
      .field("length", &Rod::length, "m.")
      .done()
      .def_property_readonly(
          "source", [](const Rod& x) { return x.source; }, "Source: where it was said.");
  Struct<Coupling::Term>(m, "Term", "A coordinate in a Coupling.")
      .field("hinge", &Coupling::Term::hinge, "str.")
      .field("freedom", &Coupling::Term::freedom, "int: of the hinge, from 0.")
      .field("coefficient", &Coupling::Term::coefficient, "Of its coordinate in the sum.")
      .done();
  Struct<Coupling>(m, "Coupling",
                   "A constraint between hinge coordinates: Σ coefficient · q = constant, or "
                   "g(q) = 0 by a function.")
      .field("name", &Coupling::name, "str.")
      .field(
          "terms", [](const Coupling& c) { return c.terms; },
          [](Coupling& c, py::handle v) { c.terms = list_of<Coupling, Coupling::Term>(v); },
          "list of Term.")
      .field("constant", &Coupling::constant, "What the sum is equal to; rad or m.")
      .field(
          "function",
          [](const Coupling& c) -> py::object {
            const auto* f = c.function.target<PythonCoupling>();
            return f != nullptr ? f->object() : py::none();
          },
          [](Coupling& c, py::handle v) {
            if (v.is_none())
              c.function = {};
            else
              c.function = PythonCoupling(py::reinterpret_borrow<py::object>(v));
          },
          "Callable q -> (value, gradient (n,), hessian (n, n)); None: linear.")
      .done()
      .def_property_readonly(
          "source", [](const Coupling& x) { return x.source; }, "Source: where it was said.");
  Struct<SpringDamper>(m, "SpringDamper", "A spring and a damper between two points.")
      .field("name", &SpringDamper::name, "str.")
      .field("body_a", &SpringDamper::body_a, "str.")
      .field("point_a", &SpringDamper::point_a, "(3,), m, in the frame of body_a.")
      .field("body_b", &SpringDamper::body_b, "str.")
      .field("point_b", &SpringDamper::point_b, "(3,), m, in the frame of body_b.")
      .field("stiffness", &SpringDamper::stiffness, "N/m.")
      .field("rest_length", &SpringDamper::rest_length, "m.")
      .field("damping", &SpringDamper::damping, "N s/m.")
      .done()
      .def_property_readonly(
          "source", [](const SpringDamper& x) { return x.source; }, "Source: where it was said.");
  Struct<Description>(m, "Description",
                      "The model as its author gave it, before it is validated. MechanismBuilder "
                      "edits one; load() and MechanismBuilder.finish() make a Mechanism of it.")
      .field("name", &Description::name, "str.")
      .field("gravity", &Description::gravity, "(3,), m/s², in the ground frame.")
      .field("bodies", &Description::bodies, "list of Body.")
      .field("hinges", &Description::hinges, "list of Hinge.")
      .field("frames", &Description::frames, "list of Frame.")
      .field("rods", &Description::rods, "list of Rod.")
      .field("couplings", &Description::couplings, "list of Coupling.")
      .field("springs", &Description::springs, "list of SpringDamper.")
      .done();
}

}  // namespace catena::python
