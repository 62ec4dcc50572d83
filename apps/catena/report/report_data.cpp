// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/report/report_data.h"

#include <algorithm>
#include <cmath>

#include "apps/catena/report/movable_model.h"
#include "apps/catena/report/report_frames.h"
#include "apps/catena/report/report_model.h"
#include "apps/catena/report/report_series.h"
#include "apps/catena/report/report_template.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/dynamics/kinematics.h"
#include "catena/io/models/yaml.h"
#include "catena/model/validation.h"

namespace catena::app {
namespace {

constexpr std::int64_t kBlock = 4096;  // rows read at a time
constexpr std::size_t kMostEvents = 2000;

Json parsed(const std::string& text, const char* what, std::vector<std::string>& notes) {
  if (text.empty()) return nullptr;
  if (std::optional<Json> json = Json::parse(text)) return *std::move(json);
  notes.push_back(std::string("The ") + what + " of this run cannot be read.");
  return nullptr;
}

void add_contacts(Json& document, const std::vector<DrawnContact>& contacts) {
  document["planes"] = drawn_planes(contacts);
  Json list = Json::array();
  for (const DrawnContact& contact : contacts)
    list.push_back({{"name", contact.name},
                    {"body", contact.body},
                    {"center", to_json(contact.center)},
                    {"radius", contact.radius},
                    {"rim", contact.rim},
                    {"rim_axis", to_json(contact.rim_axis)},
                    {"friction", contact.friction}});
  document["contacts"] = std::move(list);
}

// All rows of a run, as series for plots and as frames of the animation.
void add_rows(Json& document, const RunFile& run, Frames* frames, DeflectionColumns* deflections,
              std::vector<std::string>& notes) {
  std::vector<RunColumn> columns = run.header().columns;
  if (deflections != nullptr)
    columns.insert(columns.end(), deflections->columns().begin(), deflections->columns().end());
  Thinned series(std::move(columns), run.rows());
  std::vector<double> values;
  for (std::int64_t first = 0; first < run.rows(); first += kBlock) {
    const RunRows block = run.read(first, std::min(kBlock, run.rows() - first));
    for (Eigen::Index i = 0; i < block.rows(); ++i) {
      const auto row = block.row(i);
      values.assign(row.begin(), row.end());
      if (deflections != nullptr) deflections->append(row, values);
      series.add(values);
      if (frames != nullptr) frames->add(row, first + i + 1 == run.rows());
    }
  }
  document["series"] = series.document();
  document["frames"] = frames != nullptr ? frames->document() : Json{{"times", ""}, {"poses", ""}};
  if (series.every() > 1)
    notes.push_back("The plots show the least and the greatest of every " +
                    std::to_string(series.every()) + " rows of " + std::to_string(run.rows()) +
                    ".");
  if (frames != nullptr && static_cast<std::int64_t>(frames->count()) < run.rows())
    notes.push_back("The animation shows " + std::to_string(frames->count()) + " of " +
                    std::to_string(run.rows()) + " rows.");
}

void add_events(Json& document, const RunFile& run, std::vector<std::string>& notes) {
  Json events = Json::array();
  const std::vector<RunEvent> all = run.events();
  for (std::size_t i = 0; i < std::min(all.size(), kMostEvents); ++i)
    events.push_back({{"time", all[i].time},
                      {"kind", all[i].kind},
                      {"name", all[i].name},
                      {"detail", all[i].detail}});
  if (all.size() > kMostEvents)
    notes.push_back("The first " + std::to_string(kMostEvents) + " of " +
                    std::to_string(all.size()) + " events are listed.");
  document["events"] = std::move(events);
}

}  // namespace

RunMechanism mechanism_of(const RunFile& run) {
  try {
    Reading reading = read_yaml_text(run.header().model_yaml, run.header().model_path);
    if (has_error(reading.diagnostics)) throw ModelError(reading.diagnostics);
    // Not strict: the run was computed with this model, so it can be drawn.
    return {std::make_shared<const Mechanism>(
                MechanismBuilder(std::move(reading.description)).finish({.strict = false})),
            ""};
  } catch (const ModelError& error) {
    return {nullptr, error.what()};
  }
}

std::string run_status(const RunFile& run) {
  if (run.complete()) return "complete";
  return run.being_written() ? "running" : "interrupted";
}

Json run_document(const RunFile& run) {
  std::vector<std::string> notes;
  Json document = {{"format", "catena report 1"},
                   {"kind", run.header().kind},
                   {"version", run.version()},
                   {"path", run.path()},
                   {"model_path", run.header().model_path},
                   {"status", run_status(run)},
                   {"rows", run.rows()}};
  document["settings"] = parsed(run.header().settings_json, "settings", notes);
  const RunMechanism model = mechanism_of(run);
  std::unique_ptr<Frames> frames;
  std::unique_ptr<DeflectionColumns> deflections;
  if (model.mechanism) {
    const Mechanism& mechanism = *model.mechanism;
    add_model(document, mechanism, run.header().model_path, notes);
    try {
      frames =
          std::make_unique<Frames>(run, mechanism, drawn_contacts(document["settings"], mechanism));
      deflections = std::make_unique<DeflectionColumns>(run, mechanism);
    } catch (const NameError& error) {
      notes.push_back(std::string("There is no animation: ") + error.what());
    }
  } else {
    notes.push_back("There is no animation, because the model cannot be read: " + model.problem);
  }
  if (!frames) {  // nothing to draw
    if (!document.contains("title")) document["title"] = run.path();
    document["up"] = {0.0, 0.0, 1.0};
    for (const char* key :
         {"bodies", "hinges", "links", "ground_points", "meshes", "model_frames", "flexible"})
      document[key] = Json::array();
  }
  add_contacts(document, frames ? frames->contacts() : std::vector<DrawnContact>{});
  add_rows(document, run, frames.get(), deflections.get(), notes);
  add_events(document, run, notes);
  document["audit"] = parsed(run.audit_json(), "audit", notes);
  document["notes"] = notes;
  return document;
}

Json model_document(const Mechanism& mechanism, const std::string& path,
                    const MovableModel* movable) {
  std::vector<std::string> notes;
  Json document = {{"format", "catena report 1"}, {"kind", "model"},
                   {"version", CATENA_VERSION},   {"path", ""},
                   {"model_path", path},          {"status", "model"}};
  add_model(document, mechanism, path, notes);
  add_contacts(document, {});
  document["frames"] = pose_document(
      mechanism, movable != nullptr ? movable->position() : mechanism.default_state().q);
  document["frames"]["times"] = base64_of(std::vector<double>{0.0});
  for (const char* key : {"series", "audit", "settings"}) document[key] = nullptr;
  document["events"] = Json::array();
  if (movable != nullptr) document["coordinates"] = movable->coordinates();
  document["notes"] = notes;
  return document;
}

Json pose_document(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  Workspace workspace(mechanism);
  update_kinematics(mechanism, q, workspace);
  std::vector<float> poses, modal;
  append_poses(mechanism, workspace, poses);
  append_modal(mechanism, q, modal);
  Json out = {{"poses", base64_of(poses)}};
  if (mechanism.has_flexible_bodies()) out["modal"] = base64_of(modal);
  return out;
}

Json overlaid(Json first, std::vector<Json> others) {
  Json list = Json::array();
  for (Json& other : others) {
    // Meshes of the same model are in the page already.
    if (other["model_path"].text() == first["model_path"].text() &&
        other["meshes"].items().size() == first["meshes"].items().size())
      other["meshes"] = nullptr;
    list.push_back(std::move(other));
  }
  first["others"] = std::move(list);
  return first;
}

std::string report_page(const Json& document) {
  constexpr std::string_view kPlace = "\"CATENA_REPORT_DATA\"";
  std::string data = document.dump_ascii();
  // Nothing in the data may end the script element that it stands in.
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos;)
    data.replace(at, 1, "\\u003c");
  const std::string_view page = kReportTemplate;
  const std::size_t place = page.find(kPlace);
  std::string out;
  out.reserve(page.size() + data.size());
  out += page.substr(0, place);
  out += data;
  out += page.substr(place + kPlace.size());
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= count ? kDigits[group >> (18U - 6U * k) & 63U] : '=';
  }
  return text;
}

}  // namespace catena::app
