// SPDX-License-Identifier: BSD-3-Clause
// Flexible bodies (model/flexible_body.h): beams, bodies by matrices, their constants and modes.
#include <array>
#include <functional>
#include <memory>

#include "support/arguments.h"

#include "catena/flexible/beam.h"
#include "catena/flexible/combine_modes.h"
#include "catena/flexible/matrices_body.h"
#include "catena/flexible/mode_report.h"
#include "catena/model/flexible_body.h"

namespace catena::python {
namespace {

using Matrices = std::vector<Eigen::MatrixXd>;
using SharedBody = std::shared_ptr<FlexibleBody>;

// Never changed in place: Struct refuses that.
SharedBody shared(const std::shared_ptr<const FlexibleBody>& body) {
  return std::const_pointer_cast<FlexibleBody>(body);
}

// Like Struct of support/structs.h, of a value that mechanisms share.
template <class T>
class SharedStruct {
 public:
  SharedStruct(py::handle scope, const char* name, const char* doc) : type_(scope, name, doc) {
    type_name_ = name;
    type_.def(py::init([](const py::kwargs& fields) { return make({}, fields); }));
    type_.def(
        "replace", [](const T& self, const py::kwargs& changes) { return make(self, changes); },
        "Another one with these fields changed.");
    type_.def("__setattr__", [](const py::object&, const std::string& field, const py::object&) {
      throw py::attribute_error(type_name_ + "." + field + " cannot be changed in place: make " +
                                "another with replace(" + field + "=...)");
    });
    type_.def(py::pickle(
        [](const py::object& self) {
          py::dict fields;
          for (const Field& f : fields_) fields[f.name.c_str()] = self.attr(f.name.c_str());
          return fields;
        },
        [](const py::dict& fields) { return make({}, fields); }));
  }

  template <class F>
  SharedStruct& field(const char* name, F T::*member, const char* doc) {
    return field(
        name, [member](const T& self) -> F { return self.*member; },
        [member](T& self, py::handle value) { self.*member = read_value<F>(value); }, doc);
  }
  template <class Get, class Set>
  SharedStruct& field(const char* name, Get get, Set set, const char* doc) {
    type_.def_property_readonly(name, get, doc);
    fields_.push_back({name, [set](T& self, py::handle value) { set(self, value); }});
    return *this;
  }
  py::class_<T, std::shared_ptr<T>>& done() {
    py::list names;
    for (const Field& f : fields_) names.append(f.name);
    type_.attr("__fields__") = py::tuple(names);
    return type_;
  }

 private:
  struct Field {
    std::string name;
    std::function<void(T&, py::handle)> set;
  };
  static std::shared_ptr<T> make(const T& from, const py::dict& values) {
    auto made = std::make_shared<T>(from);
    for (const auto& [key, value] : values) {
      const std::string name = py::cast<std::string>(key);
      std::vector<std::string> known;
      const Field* found = nullptr;
      for (const Field& f : fields_) {
        known.push_back(f.name);
        if (f.name == name) found = &f;
      }
      if (found == nullptr) throw_unknown_field(type_name_, name, known);
      found->set(*made, value);
    }
    return made;
  }
  py::class_<T, std::shared_ptr<T>> type_;
  static inline std::string type_name_;
  static inline std::vector<Field> fields_;
};

template <std::size_t kSize>
py::array_t<double> stacked(const std::array<Eigen::MatrixXd, kSize>& all) {
  const auto rows = static_cast<py::ssize_t>(all[0].rows());
  const auto columns = static_cast<py::ssize_t>(all[0].cols());
  py::array_t<double> result({static_cast<py::ssize_t>(kSize), rows, columns});
  for (std::size_t k = 0; k < kSize; ++k)
    for (py::ssize_t i = 0; i < rows; ++i)
      for (py::ssize_t j = 0; j < columns; ++j)
        result.mutable_at(static_cast<py::ssize_t>(k), i, j) = all[k](i, j);
  return result;
}

template <std::size_t kSize>
void unstack(py::handle source, std::array<Eigen::MatrixXd, kSize>& all) {
  const Array a = numbers(source);
  if (a.ndim() != 3 || a.shape(0) != static_cast<py::ssize_t>(kSize))
    throw_shape(a, "(" + std::to_string(kSize) + ", n, n)");
  for (std::size_t k = 0; k < kSize; ++k) {
    all[k].resize(a.shape(1), a.shape(2));
    for (py::ssize_t i = 0; i < a.shape(1); ++i)
      for (py::ssize_t j = 0; j < a.shape(2); ++j)
        all[k](i, j) = a.at(static_cast<py::ssize_t>(k), i, j);
  }
}

// A field that is a matrix, or several of the same size.
template <class S, class T>
void matrix_field(S& s, const char* name, Eigen::MatrixXd T::*member, const char* doc) {
  s.field(
      name, [member](const T& b) { return matrix_to_numpy(b.*member); },
      [member](T& b, py::handle v) { b.*member = to_matrix(v); }, doc);
}
template <class S, class T, std::size_t kSize>
void matrix_field(S& s, const char* name, std::array<Eigen::MatrixXd, kSize> T::*member,
                  const char* doc) {
  s.field(
      name, [member](const T& b) { return stacked(b.*member); },
      [member](T& b, py::handle v) { unstack(v, b.*member); }, doc);
}
template <class S, class T>
void matrix_field(S& s, const char* name, Matrices T::*member, const char* doc) {
  s.field(
      name,
      [member](const T& b) {
        py::list list;
        for (const Eigen::MatrixXd& m : b.*member) list.append(matrix_to_numpy(m));
        return list;
      },
      [member](T& b, py::handle v) {
        (b.*member).clear();
        for (const py::handle entry : py::iter(v)) (b.*member).push_back(to_matrix(entry));
      },
      doc);
}
// A field that is a struct, a list of structs, or none.
template <class S, class T, class F>
void struct_field(S& s, const char* name, F T::*member, const char* doc) {
  s.field(
      name, [member](const T& b) { return b.*member; },
      [member](T& b, py::handle v) { b.*member = Struct<F>::from(v); }, doc);
}
template <class S, class T, class F>
void struct_field(S& s, const char* name, std::vector<F> T::*member, const char* doc) {
  s.field(
      name, [member](const T& b) { return b.*member; },
      [member](T& b, py::handle v) {
        (b.*member).clear();
        for (const py::handle entry : py::iter(v)) (b.*member).push_back(Struct<F>::from(entry));
      },
      doc);
}
template <class S, class T, class F>
void struct_field(S& s, const char* name, std::optional<F> T::*member, const char* doc) {
  s.field(
      name, [member](const T& b) { return b.*member; },
      [member](T& b, py::handle v) {
        if (v.is_none())
          (b.*member).reset();
        else
          b.*member = Struct<F>::from(v);
      },
      doc);
}

void bind_beam_words(py::module_& m) {
  bind_enum<FlexibleModel>(m, "FlexibleModel",
                           "Which terms of the deformation are kept: all of first order "
                           "(consistent), none of the geometric stiffness (inconsistent, for "
                           "comparison), inertia of the undeformed body (ruthless).",
                           {{"consistent", FlexibleModel::consistent},
                            {"inconsistent", FlexibleModel::inconsistent},
                            {"ruthless", FlexibleModel::ruthless}});
  bind_enum<InertiaCompletion>(m, "InertiaCompletion",
                               "Whether the inertia of the consistent model is completed, so that "
                               "it stays positive at any deflection; automatic: where the hinge of "
                               "the frame moves little inertia but that of the body.",
                               {{"automatic", InertiaCompletion::automatic},
                                {"always", InertiaCompletion::always},
                                {"never", InertiaCompletion::never}});
  bind_enum<ModeSet>(m, "ModeSet", "How the shapes of a flexible body are found.",
                     {{"craig_bampton", ModeSet::craig_bampton},
                      {"clamped_free", ModeSet::clamped_free},
                      {"clamped_loaded", ModeSet::clamped_loaded}});
  bind_enum<BeamSection::Shape>(m, "SectionShape", "Of a BeamSection.",
                                {{"values", BeamSection::Shape::values},
                                 {"circle", BeamSection::Shape::circle},
                                 {"tube", BeamSection::Shape::tube},
                                 {"rectangle", BeamSection::Shape::rectangle},
                                 {"box", BeamSection::Shape::box}});
  Struct<BeamValues>(m, "BeamValues",
                     "Stiffness and inertia of a section. A stiffness that is None is infinite.")
      .field("extension", &BeamValues::extension, "EA, N.")
      .field("bending_y", &BeamValues::bending_y, "EI about y (deflection along z), N m².")
      .field("bending_z", &BeamValues::bending_z, "EI about z (deflection along y), N m².")
      .field("torsion", &BeamValues::torsion, "GJ, N m².")
      .field("mass_per_length", &BeamValues::mass_per_length, "ρA, kg/m.")
      .field("rotary_x", &BeamValues::rotary_x, "ρ times the polar second moment, kg m.")
      .field("rotary_y", &BeamValues::rotary_y, "ρ times the second moment about y, kg m.")
      .field("rotary_z", &BeamValues::rotary_z, "ρ times the second moment about z, kg m.")
      .done();
  Struct<BeamSection> section(m, "BeamSection", "A section of a beam: a shape, or values.");
  section.field("shape", &BeamSection::shape, "SectionShape.")
      .field("radius", &BeamSection::radius, "m: of a circle; outer one of a tube.")
      .field("inner_radius", &BeamSection::inner_radius, "m: of a tube.")
      .field("width", &BeamSection::width, "m: of a rectangle and box, along y.")
      .field("height", &BeamSection::height, "m: along z.")
      .field("thickness", &BeamSection::thickness, "m: of the wall of a box.");
  struct_field(section, "values", &BeamSection::values, "BeamValues: of the shape \"values\".");
  section.done();
  Struct<BeamMaterial>(m, "BeamMaterial", "What a beam is made of.")
      .field("youngs_modulus", &BeamMaterial::youngs_modulus, "Pa.")
      .field("shear_modulus", &BeamMaterial::shear_modulus, "Pa.")
      .field("density", &BeamMaterial::density, "kg/m³.")
      .done();
  Struct<BeamAttachment>(m, "BeamAttachment", "Where other things sit on a beam.")
      .field("name", &BeamAttachment::name, "str.")
      .field("station", &BeamAttachment::station, "m: distance from the start of the beam.")
      .field("load_mass", &BeamAttachment::load_mass, "kg: for the modes clamped_loaded.")
      .field("load_inertia", &BeamAttachment::load_inertia, "(3,), kg m²: for clamped_loaded.")
      .done();
  Struct<ModalDamping::Band>(m, "DampingBand", "Damping ratio of a band of frequencies.")
      .field("below", &ModalDamping::Band::below, "rad/s.")
      .field("ratio", &ModalDamping::Band::ratio, "Fraction of critical.")
      .done();
  Struct<ModalDamping> damping(m, "ModalDamping", "Damping of the modes. The parts add up.");
  damping
      .field("ratios", &ModalDamping::ratios,
             "list of float: fraction of critical by mode; the last one holds for all that follow.")
      .field("rayleigh_mass", &ModalDamping::rayleigh_mass, "1/s.")
      .field("rayleigh_stiffness", &ModalDamping::rayleigh_stiffness, "s.");
  struct_field(damping, "bands", &ModalDamping::bands, "list of DampingBand.");
  damping.done();
  Struct<ModeChoice>(m, "ModeChoice", "Which modes a flexible body has.")
      .field("set", &ModeChoice::set, "ModeSet.")
      .field("count", &ModeChoice::count, "Number of modal coordinates.")
      .field("frequency_limit", &ModeChoice::frequency_limit, "rad/s, in place of the number.")
      .done();
  Struct<BeamSettings> beam(m, "BeamSettings",
                            "A beam by length, section and material; along x of its own frame.");
  beam.field("length", &BeamSettings::length, "m.");
  struct_field(beam, "section", &BeamSettings::section, "BeamSection.");
  struct_field(beam, "end_section", &BeamSettings::end_section, "BeamSection | None: tapered.");
  struct_field(beam, "material", &BeamSettings::material, "BeamMaterial | None: for shapes.");
  beam.field("pose", &BeamSettings::pose, "Transform X_body_beam.")
      .field("clamped_station", &BeamSettings::clamped_station, "m: fixed to the body frame.");
  struct_field(beam, "attachments", &BeamSettings::attachments, "list of BeamAttachment.");
  struct_field(beam, "modes", &BeamSettings::modes, "ModeChoice.");
  struct_field(beam, "damping", &BeamSettings::damping, "ModalDamping.");
  beam.field("model", &BeamSettings::model, "FlexibleModel.");
  beam.field("completion", &BeamSettings::completion, "InertiaCompletion.");
  beam.done();
}

void bind_matrices_words(py::module_& m) {
  using Settings = MatricesBodySettings;
  Struct<Settings::Attachment> attachment(m, "MatricesAttachment",
                                          "An attachment of a body by matrices.");
  attachment.field("name", &Settings::Attachment::name, "str.")
      .field("nodes", &Settings::Attachment::nodes,
             "list of int: one node, or several whose mean motion it follows.");
  matrix_field(attachment, "geometric_stiffness", &Settings::Attachment::geometric_stiffness,
               "list of matrices: of unit forces along x, y, z and unit moments.");
  attachment.done();
  Struct<Settings> s(m, "MatricesBodySettings",
                     "A body by mass and stiffness matrices with node coordinates.");
  s.field(
       "nodes",
       [](const Settings& b) {
         Eigen::MatrixXd all(std::ssize(b.nodes), 3);
         for (Eigen::Index i = 0; i < all.rows(); ++i)
           all.row(i) = to_eigen(b.nodes[static_cast<std::size_t>(i)]).transpose();
         return matrix_to_numpy(all);
       },
       [](Settings& b, py::handle v) {
         const Eigen::MatrixXd all = to_matrix(v);
         if (all.cols() != 3) throw_shape(numbers(v), "(nodes, 3)");
         b.nodes.clear();
         for (Eigen::Index i = 0; i < all.rows(); ++i)
           b.nodes.push_back({all(i, 0), all(i, 1), all(i, 2)});
       },
       "(nodes, 3), m.")
      .field("freedoms_per_node", &Settings::freedoms_per_node,
             "3: displacements; 6: displacements and rotations.");
  matrix_field(s, "mass", &Settings::mass, "(N, N): freedoms node by node.");
  matrix_field(s, "stiffness", &Settings::stiffness, "(N, N): freedoms node by node.");
  matrix_field(s, "damping", &Settings::damping, "(N, N): freedoms node by node; empty: none.");
  s.field("clamped_nodes", &Settings::clamped_nodes, "list of int: fixed to the frame.");
  struct_field(s, "attachments", &Settings::attachments, "list of MatricesAttachment.");
  matrix_field(s, "geometric_stiffness", &Settings::geometric_stiffness,
               "list of 12 matrices: of the loads M e_x, M e_y, M e_z, then M x_k e_l.");
  struct_field(s, "modes", &Settings::modes, "ModeChoice.");
  struct_field(s, "modal_damping", &Settings::modal_damping, "ModalDamping.");
  s.field("model", &Settings::model, "FlexibleModel.");
  s.field("completion", &Settings::completion, "InertiaCompletion.");
  s.done();
}

void bind_constants(py::module_& m) {
  using B = FlexibleBody;
  Struct<B::Attachment> attachment(m, "FlexibleAttachment", "An attachment of a FlexibleBody.");
  attachment.field("name", &B::Attachment::name, "str.")
      .field("rotation", &B::Attachment::rotation, "(3, 3): axes at rest.")
      .field("position", &B::Attachment::position, "(3,), m, at rest.");
  matrix_field(attachment, "shape", &B::Attachment::shape, "(3, n): displacement by the modes.");
  matrix_field(attachment, "slope", &B::Attachment::slope, "(3, n): rotation by the modes.");
  matrix_field(attachment, "second_shape", &B::Attachment::second_shape, "(3, n, n).");
  matrix_field(attachment, "second_slope", &B::Attachment::second_slope, "(3, n, n).");
  attachment.done();
  Struct<B::DrawnPoint> point(m, "DrawnPoint", "A point of a flexible body, for drawing.");
  point.field("position", &B::DrawnPoint::position, "(3,), m, at rest.");
  matrix_field(point, "shape", &B::DrawnPoint::shape, "(3, n): displacement by the modes.");
  point.done();
  Struct<B::StiffnessPart> part(m, "StiffnessPart",
                                "A share of the stiffness proportional to one parameter.");
  part.field("name", &B::StiffnessPart::name, "\"EIy\", \"EIz\", \"EA\" or \"GJ\".")
      .field("value", &B::StiffnessPart::value, "Of the parameter.");
  matrix_field(part, "matrix", &B::StiffnessPart::matrix, "(n, n).");
  part.done();

  SharedStruct<B> body(
      m, "FlexibleBody",
      "The constants of an elastic body with n modes (docs/theory/flexible.md): made by "
      "make_beam() "
      "or make_matrices_body(), or from its fields. h = h0 + h1 η + ½ ηᵀ h2 η and so on.");
  body.field("mass", &B::mass, "kg.").field("mass_moment", &B::mass_moment, "h0, (3,), kg m.");
  matrix_field(body, "mass_moment_1", &B::mass_moment_1, "h1, (3, n).");
  matrix_field(body, "mass_moment_2", &B::mass_moment_2, "h2, (3, n, n).");
  body.field("inertia", &B::inertia, "J0 about the frame's origin: xx, xy, xz, yy, yz, zz.");
  matrix_field(body, "inertia_1", &B::inertia_1, "J1, (6, n).");
  matrix_field(body, "inertia_2", &B::inertia_2, "J2, (6, n, n).");
  matrix_field(body, "coupling_0", &B::coupling_0, "C0, (3, n).");
  matrix_field(body, "coupling_1", &B::coupling_1, "C1, (3, n, n).");
  matrix_field(body, "modal_mass", &B::modal_mass, "M_e, (n, n).");
  matrix_field(body, "stiffness", &B::stiffness, "K, (n, n).");
  matrix_field(body, "damping", &B::damping, "D, (n, n).");
  struct_field(body, "attachments", &B::attachments, "list of FlexibleAttachment.");
  body.field("model", &B::model, "FlexibleModel.");
  body.field("completion", &B::completion,
             "InertiaCompletion: of bodies by make_beam() or "
             "make_matrices_body(); others are not completed.");
  struct_field(body, "stiffness_parts", &B::stiffness_parts, "list of StiffnessPart.");
  struct_field(body, "drawn_points", &B::drawn_points, "list of DrawnPoint.");
  body.field("size", &B::size, "m: by which deflections are judged.")
      .field(
          "beam",
          [](const B& b) {
            return b.beam ? std::optional<BeamSettings>(*b.beam) : std::optional<BeamSettings>();
          },
          [](B& b, py::handle v) {
            b.beam = v.is_none()
                         ? nullptr
                         : std::make_shared<const BeamSettings>(Struct<BeamSettings>::from(v));
          },
          "BeamSettings | None: what the author said, if it is a beam.");
  body.done()
      .def_property_readonly("modes", &B::modes, "n, the number of modal coordinates.")
      .def_property_readonly(
          "frequencies", [](const B& b) { return to_numpy(b.frequencies()); },
          "(n,), rad/s, lowest first: frame clamped, attachments free.");
}

void bind_reports(py::module_& m) {
  py::class_<ModeReport> report(m, "ModeReport", "What a set of modes means for a simulation.");
  report
      .def_property_readonly(
          "frequencies", [](const ModeReport& r) { return to_numpy(r.frequencies); },
          "(n,), rad/s: frame clamped, attachments free.")
      .def_property_readonly(
          "damping_ratios", [](const ModeReport& r) { return to_numpy(r.damping_ratios); },
          "(n,), of critical.")
      .def_property_readonly(
          "effective_mass", [](const ModeReport& r) { return matrix_to_numpy(r.effective_mass); },
          "(3, n): share of the mass that moves with a mode when the frame is shaken along x, y, "
          "z.")
      .def_readonly("mass_condition", &ModeReport::mass_condition,
                    "Of the scaled mass matrix of the undeformed body.")
      .def_readonly("shortest_period", &ModeReport::shortest_period, "s.")
      .def_readonly("longest_period", &ModeReport::longest_period, "s.");
  picklable(report, &ModeReport::frequencies, &ModeReport::damping_ratios,
            &ModeReport::effective_mass, &ModeReport::mass_condition, &ModeReport::shortest_period,
            &ModeReport::longest_period);
  py::class_<ModeSetReport> set(m, "ModeSetReport", "A ModeSet and what it means.");
  set.def_readonly("set", &ModeSetReport::set, "ModeSet.")
      .def_readonly("report", &ModeSetReport::report, "ModeReport.");
  picklable(set, &ModeSetReport::set, &ModeSetReport::report);
}

}  // namespace

void bind_flexible(py::module_& m) {
  bind_beam_words(m);
  bind_matrices_words(m);
  bind_constants(m);
  bind_reports(m);
  m.def(
      "make_beam",
      [](const std::string& name, const py::kwargs& settings) {
        return shared(make_beam(Struct<BeamSettings>::make(settings), name));
      },
      py::arg("name") = "beam",
      "A FlexibleBody. The keywords are the fields of BeamSettings. Raises ModelError with every "
      "problem found.\n\n"
      "    boom = catena.make_beam(length=2.0, section={\"shape\": \"circle\", \"radius\": 0.02},\n"
      "                            material={\"youngs_modulus\": 70e9, \"shear_modulus\": 26e9,\n"
      "                                      \"density\": 2700.0},\n"
      "                            attachments=[{\"name\": \"tip\", \"station\": 2.0}],\n"
      "                            modes={\"count\": 10})");
  m.def(
      "make_matrices_body",
      [](const std::string& name, const py::kwargs& settings) {
        return shared(make_matrices_body(Struct<MatricesBodySettings>::make(settings), name));
      },
      py::arg("name") = "body",
      "A FlexibleBody. The keywords are the fields of MatricesBodySettings. Raises ModelError with "
      "every problem found.");
  m.def(
      "combine_modes",
      [](const SharedBody& body, const py::object& shapes) {
        return shared(combine_modes(*body, to_matrix(shapes)));
      },
      py::arg("body").none(false), py::arg("shapes"),
      "The same body with other modes: shapes is (modes, new modes), a column for each.");
  m.def(
      "beam_values",
      [](const py::object& section, const py::object& material) {
        return beam_values(Struct<BeamSection>::from(section),
                           material.is_none() ? std::optional<BeamMaterial>()
                                              : Struct<BeamMaterial>::from(material));
      },
      py::arg("section"), py::arg("material") = py::none(), "BeamValues of a section.");
  m.def(
      "check_flexible_body",
      [](const SharedBody& body, const std::string& what) {
        return check_flexible_body(*body, what);
      },
      py::arg("body").none(false), py::arg("what") = "the body",
      "list of Diagnostic: what is wrong with the constants, with remedies.");
  m.def(
      "report_modes", [](const SharedBody& body) { return report_modes(*body); },
      py::arg("body").none(false),
      "ModeReport: frequencies, damping, effective masses, conditioning and time scales.");
  m.def(
      "compare_mode_sets",
      [](const py::object& beam) { return compare_mode_sets(Struct<BeamSettings>::from(beam)); },
      py::arg("beam"),
      "list of ModeSetReport: the same beam (BeamSettings) with each set of modes that can have as "
      "many.");
}

}  // namespace catena::python
