// SPDX-License-Identifier: BSD-3-Clause
// Runs: in memory and in files, their columns as arrays, reports, comparison.
#include "support/runs.h"

#include <filesystem>

#include "apps/catena/report/report_data.h"
#include "catena/base/index.h"
#include "catena/io/models/yaml.h"
#include "catena/io/runs/csv.h"
#include "catena/io/runs/run_compare.h"
#include "catena/io/runs/svg_plot.h"

namespace catena::python {
namespace {

// The rows of a record as they lie in memory; the record lives on.
py::array_t<double> record_values(const py::object& self) {
  const auto& r = py::cast<const MemoryRecorder&>(self);
  const py::ssize_t columns = static_cast<py::ssize_t>(r.columns().size());
  const py::ssize_t size = static_cast<py::ssize_t>(sizeof(double));
  py::array_t<double> view({static_cast<py::ssize_t>(r.rows()), columns}, {columns * size, size},
                           r.values().data(), self);
  py::detail::array_proxy(view.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return view;
}

std::vector<std::string> names_of(std::span<const RunColumn> columns) {
  std::vector<std::string> names;
  for (const RunColumn& c : columns) names.push_back(c.name);
  return names;
}
std::vector<std::string> units_of(std::span<const RunColumn> columns) {
  std::vector<std::string> units;
  for (const RunColumn& c : columns) units.push_back(c.unit);
  return units;
}

void bind_records(py::module_& m) {
  py::class_<RunEvent> event(m, "RunEvent", "An event of a run: time, kind, name, detail.");
  event.def_readonly("time", &RunEvent::time, "s.")
      .def_readonly("kind", &RunEvent::kind, "\"limit\", \"stick\", \"slip\", \"user\", ...")
      .def_readonly("name", &RunEvent::name, "Of the freedom, the constraint or the user's event.")
      .def_readonly("detail", &RunEvent::detail, "In words.")
      .def("__repr__", [](const RunEvent& e) {
        return "<RunEvent " + number(e.time) + " s: " + e.kind + " " + e.name + ">";
      });
  picklable(event, &RunEvent::time, &RunEvent::kind, &RunEvent::name, &RunEvent::detail);
  using R = MemoryRecorder;
  py::class_<R, std::shared_ptr<R>>(m, "MemoryRecorder", "The record of a run in memory.")
      .def(py::init<>())
      .def_property_readonly(
          "columns", [](const R& r) { return names_of(r.columns()); },
          "list of str: names of the columns.")
      .def_property_readonly(
          "units", [](const R& r) { return units_of(r.columns()); }, "list of str: of the columns.")
      .def_property_readonly(
          "rows", [](const R& r) { return static_cast<std::int64_t>(r.rows()); },
          "How many there are.")
      .def("column", &R::column, py::arg("name"), "(rows,).")
      .def_property_readonly("values", &record_values, "(rows, columns), a view.")
      .def_property_readonly(
          "events", [](const R& r) { return r.events(); }, "list of RunEvent.")
      .def_property_readonly(
          "audit_json", [](const R& r) { return r.audit_json(); },
          "JSON of the audit; empty: none yet.")
      .def_property_readonly("complete", &R::complete,
                             "False for a run that was interrupted or is in progress.")
      .def(
          "save",
          [](const R& r, const std::string& path, const std::string& model_yaml,
             const std::string& model_path, const std::string& settings_json, bool overwrite,
             const std::string& kind) {
            RunHeader header;
            header.kind = kind;
            header.model_yaml = model_yaml;
            header.model_path = model_path;
            header.settings_json = settings_json;
            header.columns.assign(r.columns().begin(), r.columns().end());
            RunWriter writer(path, header, overwrite);
            const std::size_t columns = r.columns().size();
            for (std::int64_t i = 0; i < r.rows(); ++i)
              writer.append({r.values().data() + to_size(i) * columns, columns});
            for (const RunEvent& e : r.events()) writer.add_event(e);
            writer.finish(r.audit_json(), r.complete());
          },
          py::arg("path"), py::arg("model_yaml"), py::arg("model_path"), py::arg("settings_json"),
          py::arg("overwrite"), py::arg("kind") = RunHeader{}.kind,
          "Writes a run file; it has no checkpoints, so that it cannot be resumed.")
      // Runs come back from other processes.
      .def(py::pickle(
          [](const R& r) {
            return py::make_tuple(
                names_of(r.columns()), units_of(r.columns()),
                new_vector(r.values().data(), static_cast<py::ssize_t>(r.values().size())),
                r.events(), r.audit_json(), r.complete());
          },
          [](const py::tuple& t) {
            const auto names = py::cast<std::vector<std::string>>(t[0]);
            const auto units = py::cast<std::vector<std::string>>(t[1]);
            std::vector<RunColumn> columns;
            for (std::size_t i = 0; i < names.size(); ++i)
              columns.push_back({.name = names[i], .unit = units.at(i)});
            auto r = std::make_shared<R>();
            r->begin(columns);
            const Array values = numbers(t[2]);
            if (!columns.empty())
              for (std::size_t i = 0; i < to_size(values.size()); i += columns.size())
                r->append({values.data() + i, columns.size()});
            for (const RunEvent& e : py::cast<std::vector<RunEvent>>(t[3])) r->add_event(e);
            r->finish(py::cast<std::string>(t[4]), py::cast<bool>(t[5]));
            return r;
          }));
}

void bind_files(py::module_& m) {
  using F = RunFile;
  py::class_<F>(m, "RunFile", "A run in an HDF5 file; open_run() gives it as a Run.")
      .def(py::init<std::string>(), py::arg("path"))
      .def_property_readonly("path", &F::path, "Of the file.")
      .def_property_readonly("version", &F::version, "Of Catena that wrote it.")
      .def_property_readonly(
          "kind", [](const F& f) { return f.header().kind; },
          "\"simulation\", \"optimization\" or \"regulation\".")
      .def_property_readonly(
          "model_yaml", [](const F& f) { return f.header().model_yaml; },
          "The model, as Catena's YAML.")
      .def_property_readonly(
          "model_path", [](const F& f) { return f.header().model_path; },
          "The file the model was read from; empty: none.")
      .def_property_readonly(
          "settings_json", [](const F& f) { return f.header().settings_json; },
          "The settings, as JSON.")
      .def_property_readonly(
          "columns", [](const F& f) { return names_of(f.header().columns); },
          "list of str: names of the columns.")
      .def_property_readonly(
          "units", [](const F& f) { return units_of(f.header().columns); },
          "list of str: of the columns.")
      .def_property_readonly("rows", &F::rows, "How many there are.")
      .def_property_readonly("complete", &F::complete,
                             "False for a run that was interrupted or is in progress.")
      .def_property_readonly("being_written", &F::being_written,
                             "Whether a program still writes it.")
      .def_property_readonly("audit_json", &F::audit_json, "JSON of the audit; empty: none yet.")
      .def_property_readonly("events", &F::events, "list of RunEvent.")
      .def("column", &F::column, py::arg("name"), "(rows,).")
      .def(
          "read",
          [](const F& f, std::int64_t first, std::int64_t count) {
            return matrix_to_numpy(f.read(first, count));
          },
          py::arg("first"), py::arg("count"), "(count, columns).")
      .def("refresh", &F::refresh, "Reads what a running simulation has added.")
      .def(py::pickle(
          [](const F& f) { return py::make_tuple(f.path()); },
          [](const py::tuple& t) { return std::make_unique<F>(py::cast<std::string>(t[0])); }));

  m.def(
      "_run_page",
      [](const std::string& path) {
        const RunFile run(path);
        return app::report_page(app::run_document(run));
      },
      py::arg("path"), "The report page of a run file.");
  m.def(
      "_model_page",
      [](const Mechanism& mechanism, const std::string& path) {
        return app::report_page(app::model_document(mechanism, path));
      },
      py::arg("mechanism"), py::arg("path"), "The page of a model.");
  m.def(
      "svg_plot",
      [](const std::string& title, const Eigen::VectorXd& times,
         const std::vector<std::tuple<std::string, std::string, Eigen::VectorXd>>& curves) {
        SvgPlot plot{.title = title, .times = times};
        for (const auto& [name, unit, values] : curves) plot.curves.push_back({name, unit, values});
        return svg_plot(plot);
      },
      py::arg("title"), py::arg("times"), py::arg("curves"),
      "str: an SVG picture of curves (name, unit, values (n,)) over times (n,), s.");
  m.def(
      "read_csv",
      [](const std::string& path) {
        CsvTable table = read_csv(path);
        return std::make_pair(std::move(table.names), std::move(table.values));
      },
      py::arg("path"), "(names, values (rows, columns)) of a table of numbers.");
}

void bind_comparison(py::module_& m) {
  py::class_<ColumnDifference>(m, "ColumnDifference", "How a column of two runs differs.")
      .def_readonly("name", &ColumnDifference::name, "Of the column.")
      .def_readonly("unit", &ColumnDifference::unit, "Of the column.")
      .def_readonly("largest", &ColumnDifference::largest, "Of |a - b|.")
      .def_readonly("time", &ColumnDifference::time, "s, when.")
      .def_readonly("relative", &ColumnDifference::relative, "To the largest |a| or |b|.");
  py::class_<SettingDifference>(m, "SettingDifference", "A setting in which two runs differ.")
      .def_readonly("name", &SettingDifference::name, "Of the setting.")
      .def_readonly("first", &SettingDifference::first, "JSON; empty: not there.")
      .def_readonly("second", &SettingDifference::second, "JSON; empty: not there.");
  using C = RunComparison;
  py::class_<C>(m, "RunComparison", "How two runs differ.")
      .def_readonly("same_model", &C::same_model, "Whether the models are the same text.")
      .def_readonly("first_version", &C::first_version, "Of Catena.")
      .def_readonly("second_version", &C::second_version, "Of Catena.")
      .def_readonly("settings", &C::settings, "list of SettingDifference.")
      .def_readonly("only_first", &C::only_first, "list of str: columns.")
      .def_readonly("only_second", &C::only_second, "list of str: columns.")
      .def_readonly("columns", &C::columns, "list of ColumnDifference.")
      .def_readonly("same_times", &C::same_times, "Whether the rows are at the same times.")
      .def_readonly("first_end", &C::first_end, "s.")
      .def_readonly("second_end", &C::second_end, "s.")
      .def_readonly("compared_rows", &C::compared_rows, "How many.")
      .def("agree", &C::agree, py::arg("tolerance"),
           "True if no column differs by more than this, relative to its largest value.");
  m.def(
      "_compare_runs",
      [](const std::string& first, const std::string& second) {
        return compare_runs(ResultColumns(first), ResultColumns(second));
      },
      py::arg("first"), py::arg("second"), "compare_runs() of files.");
}

}  // namespace

std::unique_ptr<Recorder> file_recorder(const std::string& output, const Mechanism& mechanism,
                                        RunHeader header, bool overwrite) {
  if (output.empty()) return nullptr;
  if (output.ends_with(".csv")) {
    std::error_code ignored;
    if (!overwrite && std::filesystem::exists(output, ignored))
      throw Error("'" + output +
                  "' exists already; remove it, or choose another name, or overwrite it");
    return std::make_unique<CsvRecorder>(output);
  }
  header.model_yaml = write_yaml(mechanism.description());
  return std::make_unique<RunRecorder>(output, std::move(header), overwrite);
}

void bind_runs(py::module_& m) {
  bind_records(m);
  bind_files(m);
  bind_comparison(m);
}

}  // namespace catena::python
