// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/report/report_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "apps/catena/report/report_model.h"
#include "apps/catena/report/report_template.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/dynamics/kinematics.h"
#include "catena/io/models/yaml.h"
#include "catena/model/validation.h"

namespace catena::app {
namespace {

// What a page may hold: it stays below some 40 MB and the browser stays quick.
constexpr std::int64_t kPlotNumbers = 1'500'000, kMostPoints = 8000, kFewestPoints = 500;
constexpr std::int64_t kPoses = 400'000, kMostFrames = 3000, kFewestFrames = 200;
constexpr std::int64_t kBlock = 4096;  // rows read at a time
constexpr std::size_t kMostEvents = 2000;

template <class Number>
std::string base64_of(const std::vector<Number>& numbers) {
  return base64({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
}

// The page's columns: all rows, or the least and greatest of every `every` rows.
class Thinned {
 public:
  explicit Thinned(const RunFile& run) : columns_(run.header().columns.size()) {
    const auto width = static_cast<std::int64_t>(columns_.size());
    const std::int64_t most = std::clamp(kPlotNumbers / width, kFewestPoints, kMostPoints);
    every_ = run.rows() <= most ? 1 : (2 * run.rows() + most - 1) / most;
  }

  std::int64_t every() const { return every_; }

  void add(const Eigen::Ref<const Eigen::RowVectorXd>& row) {
    if (every_ == 1) {
      for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c].values.push_back(at(row, c));
      return;
    }
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      Column& column = columns_[c];
      const double value = at(row, c);
      if (count_ == 0) column.least = column.greatest = value, column.least_first = true;
      // The later of the two decides their order.
      if (value < column.least) column.least = value, column.least_first = false;
      if (value > column.greatest) column.greatest = value, column.least_first = true;
    }
    if (++count_ == every_) end_bucket();
  }

  Json document(const RunFile& run) {
    if (count_ > 0) end_bucket();
    Json columns = Json::array();
    const auto& names = run.header().columns;
    for (std::size_t c = 1; c < columns_.size(); ++c)
      columns.push_back({{"name", names[c].name},
                         {"unit", names[c].unit},
                         {"values", base64_of(columns_[c].values)}});
    return {{"every", every_}, {"times", base64_of(columns_[0].values)}, {"columns", columns}};
  }

 private:
  struct Column {
    std::vector<double> values{};
    double least = 0.0, greatest = 0.0;
    bool least_first = true;
  };

  static double at(const Eigen::Ref<const Eigen::RowVectorXd>& row, std::size_t c) {
    return row[static_cast<Eigen::Index>(c)];
  }

  void end_bucket() {
    for (Column& column : columns_) {
      column.values.push_back(column.least_first ? column.least : column.greatest);
      column.values.push_back(column.least_first ? column.greatest : column.least);
    }
    count_ = 0;
  }

  std::vector<Column> columns_;  // the first is the time, whose least comes first
  std::int64_t every_ = 1, count_ = 0;
};

// The poses of the bodies in rows that are evenly spaced in time.
class Frames {
 public:
  Frames(const RunFile& run, const Mechanism& mechanism)
      : mechanism_(mechanism), workspace_(mechanism), q_(mechanism.coordinates()) {
    for (const std::string& name : mechanism.position_names())
      q_columns_.push_back(run.column_index("q." + name));
    const auto bodies = std::max<std::int64_t>(1, std::ssize(mechanism.bodies()));
    most_ = std::clamp(kPoses / bodies, kFewestFrames, kMostFrames);
    if (run.rows() == 0) return;
    first_ = run.read(0, 1)(0, 0);
    last_ = run.read(run.rows() - 1, 1)(0, 0);
    all_ = run.rows() <= most_;
  }

  void add(const Eigen::Ref<const Eigen::RowVectorXd>& row, bool last_row) {
    const double spacing = (last_ - first_) / static_cast<double>(most_ - 1);
    const double next = first_ + spacing * static_cast<double>(times_.size());
    if (!all_ && !last_row && row[0] < next) return;
    for (Eigen::Index i = 0; i < q_.size(); ++i) q_[i] = row[q_columns_[index(i)]];
    if (!q_.allFinite()) return;
    update_kinematics(mechanism_, q_, workspace_);
    times_.push_back(row[0]);
    for (int body = 0; body < std::ssize(mechanism_.bodies()); ++body)
      append_pose(body_pose(mechanism_, workspace_, body), poses_);
  }

  static void append_pose(const Transformd& pose, std::vector<float>& poses) {
    const Quaterniond q = to_quaternion(pose.rotation);
    const Vec3d& p = pose.translation;
    for (const double x : {p.x, p.y, p.z, q.x, q.y, q.z, q.w})
      poses.push_back(static_cast<float>(x));
  }

  std::size_t count() const { return times_.size(); }
  Json document() const { return {{"times", base64_of(times_)}, {"poses", base64_of(poses_)}}; }

 private:
  const Mechanism& mechanism_;
  Workspace workspace_;
  Eigen::VectorXd q_;
  std::vector<int> q_columns_;
  std::int64_t most_ = 0;
  double first_ = 0.0, last_ = 0.0;
  bool all_ = false;
  std::vector<double> times_;
  std::vector<float> poses_;
};

Json parsed(const std::string& text, const char* what, std::vector<std::string>& notes) {
  if (text.empty()) return nullptr;
  if (std::optional<Json> json = Json::parse(text)) return *std::move(json);
  notes.push_back(std::string("The ") + what + " of this run cannot be read.");
  return nullptr;
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
  const RunMechanism model = mechanism_of(run);
  std::unique_ptr<Frames> frames;
  if (model.mechanism) {
    add_model(document, *model.mechanism, run.header().model_path, notes);
    try {
      frames = std::make_unique<Frames>(run, *model.mechanism);
    } catch (const NameError& error) {
      notes.push_back(std::string("There is no animation: ") + error.what());
    }
  } else {
    notes.push_back("There is no animation, because the model cannot be read: " + model.problem);
  }
  if (!frames) {  // nothing to draw
    if (!document.contains("title")) document["title"] = run.path();
    document["up"] = {0.0, 0.0, 1.0};
    for (const char* key : {"bodies", "hinges", "links", "ground_points", "meshes"})
      document[key] = Json::array();
  }

  Thinned series(run);
  for (std::int64_t first = 0; first < run.rows(); first += kBlock) {
    const RunRows block = run.read(first, std::min(kBlock, run.rows() - first));
    for (Eigen::Index i = 0; i < block.rows(); ++i) {
      series.add(block.row(i));
      if (frames) frames->add(block.row(i), first + i + 1 == run.rows());
    }
  }
  document["series"] = series.document(run);
  document["frames"] = frames ? frames->document() : Json{{"times", ""}, {"poses", ""}};
  if (series.every() > 1)
    notes.push_back("The plots show the least and the greatest of every " +
                    std::to_string(series.every()) + " rows of " + std::to_string(run.rows()) +
                    ".");
  if (frames && static_cast<std::int64_t>(frames->count()) < run.rows())
    notes.push_back("The animation shows " + std::to_string(frames->count()) + " of " +
                    std::to_string(run.rows()) + " rows.");

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
  document["audit"] = parsed(run.audit_json(), "audit", notes);
  document["settings"] = parsed(run.header().settings_json, "settings", notes);
  document["notes"] = notes;
  return document;
}

Json model_document(const Mechanism& mechanism, const std::string& path, bool movable) {
  std::vector<std::string> notes;
  Json document = {{"format", "catena report 1"}, {"kind", "model"},
                   {"version", CATENA_VERSION},   {"path", ""},
                   {"model_path", path},          {"status", "model"}};
  add_model(document, mechanism, path, notes);
  const State& state = mechanism.default_state();
  document["frames"] = {{"times", base64_of(std::vector<double>{0.0})},
                        {"poses", base64_of(body_poses(mechanism, state.q))}};
  for (const char* key : {"series", "audit", "settings"}) document[key] = nullptr;
  document["events"] = Json::array();
  if (movable && !mechanism.loops().empty())
    notes.push_back("The mechanism has closed loops: its coordinates cannot be moved one by one.");
  const std::vector<int> sliders = movable ? slider_coordinates(mechanism) : std::vector<int>{};
  if (!sliders.empty()) {
    const std::vector<std::string> units = coordinate_units(mechanism);
    Json coordinates = Json::array();
    for (std::size_t v = 0; v < mechanism.coordinate_of_freedom().size(); ++v) {
      const int index = mechanism.coordinate_of_freedom()[v];
      if (index < 0) continue;
      const auto q = to_size(index);
      const FreedomSettings& freedom = mechanism.freedom_settings()[v];
      const double reach = units[q] == "rad" ? std::numbers::pi : 1.0, now = state.q[index];
      coordinates.push_back(
          {{"name", mechanism.position_names()[q]},
           {"unit", units[q]},
           {"lower", std::isfinite(freedom.lower) ? freedom.lower : std::min(-reach, now)},
           {"upper", std::isfinite(freedom.upper) ? freedom.upper : std::max(reach, now)},
           {"value", now}});
    }
    document["coordinates"] = std::move(coordinates);
  }
  document["notes"] = notes;
  return document;
}

std::vector<int> slider_coordinates(const Mechanism& mechanism) {
  std::vector<int> indices;
  if (!mechanism.loops().empty()) return indices;
  for (const int index : mechanism.coordinate_of_freedom())
    if (index >= 0) indices.push_back(index);
  return indices;
}

std::vector<float> body_poses(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  Workspace workspace(mechanism);
  update_kinematics(mechanism, q, workspace);
  std::vector<float> poses;
  for (int body = 0; body < std::ssize(mechanism.bodies()); ++body)
    Frames::append_pose(body_pose(mechanism, workspace, body), poses);
  return poses;
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
