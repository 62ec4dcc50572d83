// SPDX-License-Identifier: BSD-3-Clause
// Mechanisms in and out of files.
#include "support/arguments.h"

#include "catena/io/load.h"
#include "catena/io/models/sdf.h"
#include "catena/io/models/urdf.h"
#include "catena/io/models/yaml.h"
#include "catena/model/validation.h"

namespace catena::python {

void bind_io(py::module_& m) {
  bind_enum<Base>(m, "Base", "Whether a root without a hinge to the world is fixed or floats.",
                  {{"as_written", Base::as_written}, {"fixed", Base::fixed}, {"free", Base::free}});
  const auto settings = [](Base base, const std::optional<Vec3d>& gravity, bool strict) {
    return LoadSettings{.base = base, .gravity = gravity, .strict = strict};
  };
  const auto path_text = [](const py::object& path) {
    return py::cast<std::string>(py::module_::import("os").attr("fspath")(path));
  };
  m.def(
      "load",
      [=](const py::object& path, Choice<Base> base, const std::optional<Vec3d>& gravity,
          bool strict) {
        const std::string file = path_text(path);
        const LoadSettings s = settings(base, gravity, strict);
        const py::gil_scoped_release release;
        return load(file, s);
      },
      py::arg("path"), py::kw_only(), py::arg("base") = Choice<Base>{Base::as_written},
      py::arg("gravity") = py::none(), py::arg("strict") = false,
      "Reads a mechanism from URDF, SDF or Catena's YAML, recognized by the ending of the file.\n\n"
      "base: \"as_written\" (URDF: fixed unless the root is named world; SDF: free; YAML: as it "
      "says), \"fixed\" or \"free\".\n"
      "gravity: (3,), m/s², overrides the file's.\n"
      "strict: impossible inertias and doubtful tags are errors.\n\n"
      "Raises ModelError with all problems, each with file and line.");
  m.def(
      "read_description",
      [=](const py::object& path, Choice<Base> base, const std::optional<Vec3d>& gravity,
          bool strict) {
        Reading r = read_description(path_text(path), settings(base, gravity, strict));
        return std::make_pair(std::move(r.description), std::move(r.diagnostics));
      },
      py::arg("path"), py::kw_only(), py::arg("base") = Choice<Base>{Base::as_written},
      py::arg("gravity") = py::none(), py::arg("strict") = false,
      "(Description, list of Diagnostic): what a file says and what is wrong with it. With errors "
      "among the diagnostics the description is incomplete.");
  m.def(
      "read_yaml_text",
      [](const std::string& text, const std::string& file_name) {
        Reading r = read_yaml_text(text, file_name);
        for (const Diagnostic& d : r.diagnostics)
          if (d.severity == Severity::error) throw ModelError(std::move(r.diagnostics));
        return r.description;
      },
      py::arg("text"), py::arg("file_name") = "text",
      "The Description in a text of Catena's YAML. file_name is used in messages, and its folder "
      "for the paths in the text.");
  const auto text_reader = [&](const char* name, auto read, const char* doc) {
    m.def(
        name,
        [=](const std::string& text, const std::string& file_name, Choice<Base> base,
            const std::optional<Vec3d>& gravity, bool strict) {
          Reading r = read(text, file_name, settings(base, gravity, strict));
          if (has_error(r.diagnostics)) throw ModelError(std::move(r.diagnostics));
          return std::move(r.description);
        },
        py::arg("text"), py::arg("file_name") = "text", py::kw_only(),
        py::arg("base") = Choice<Base>{Base::as_written}, py::arg("gravity") = py::none(),
        py::arg("strict") = false, doc);
  };
  text_reader(
      "read_urdf_text", read_urdf_text,
      "The Description in a text of URDF. file_name is used in messages, and its folder for "
      "meshes; the rest as in load().");
  text_reader("read_sdf_text", read_sdf_text,
              "The Description in a text of SDF. file_name is used in messages, and its folder for "
              "includes and meshes; the rest as in load().");
  const auto described = [](const py::object& x) {
    if (py::isinstance<Mechanism>(x)) return py::cast<const Mechanism&>(x).description();
    if (!py::isinstance<Description>(x))
      throw py::type_error("a Mechanism or a Description is expected, not " +
                           py::cast<std::string>(x.get_type().attr("__name__")));
    return py::cast<Description>(x);
  };
  m.def(
      "validate",
      [=](const py::object& x, bool strict) { return validate(described(x), {.strict = strict}); },
      py::arg("description"), py::arg("strict") = true,
      "list of Diagnostic: all problems of names and numbers of a Description or Mechanism. Paths "
      "to the world and hinges without inertia are found by MechanismBuilder.finish().");
  m.def(
      "write_yaml", [=](const py::object& x) { return write_yaml(described(x)); },
      py::arg("mechanism"),
      "The text of a Mechanism or Description; reading it back gives the same mechanism to the "
      "bit. Raises ModelError when something in it is code.");
  m.def(
      "save_yaml",
      [=](const py::object& x, const py::object& path) {
        save_yaml(described(x), path_text(path));
      },
      py::arg("mechanism"), py::arg("path"), "Writes write_yaml() to a file.");
}

}  // namespace catena::python
