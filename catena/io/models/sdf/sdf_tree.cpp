// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/sdf/sdf_tree.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "catena/base/text.h"
#include "catena/io/models/sdf/sdf_from_urdf.h"
#include "catena/io/models/uri.h"
#include "catena/model/usable_numbers.h"

namespace catena {
namespace {

using xml::Element;
using xml::Vocabulary;

constexpr const char* kModelFrame = "__model__";
constexpr int kOldestVersion = 4;     // SDF 1.4
constexpr int kNewestVersion = 12;    // SDF 1.12
constexpr int kNamesSharedSince = 7;  // links, joints and frames share their names from 1.7 on
// Includes inside includes, and all includes of a file: against files that include each other
// many times over.
constexpr std::size_t kDeepestInclude = 30;
constexpr int kMostIncludes = 2000;

const Vocabulary kSdfWords{{},
                           {"world", "model", "include", "actor", "light"},
                           {"version"},
                           {"plugin", "state", "link", "joint", "frame"}};
const Vocabulary kWorldWords{{"gravity", "magnetic_field", "atmosphere", "gui", "scene",
                              "spherical_coordinates", "wind", "audio", "state"},
                             {"model", "include", "frame", "joint", "light", "actor", "plugin",
                              "road", "population", "physics"},
                             {"name"},
                             {"origin", "pose", "static", "link"}};
const Vocabulary kModelWords{
    {"static", "self_collide", "allow_auto_disable", "pose", "enable_wind"},
    {"link", "joint", "frame", "model", "include", "plugin", "gripper"},
    {"name", "canonical_link", "placement_frame", "namespace"},
    {"static_", "gravity", "must_be_base_link", "origin", "visual", "collision", "sensor"}};
const Vocabulary kIncludeWords{{"uri", "name", "pose", "static", "placement_frame", "namespace"},
                               {"plugin"},
                               {"merge"},
                               {"link", "joint", "experimental"}};
const Vocabulary kFrameWords{{"pose"}, {}, {"name", "attached_to"}, {}};
const Vocabulary kPoseWords{{}, {}, {"relative_to", "frame", "rotation_format", "degrees"}, {}};

std::string text_or(const char* text, const std::string& otherwise) {
  return text ? std::string(text) : otherwise;
}

const char* tag_of(SdfKind kind) {
  switch (kind) {
    case SdfKind::link:
      return "link";
    case SdfKind::joint:
      return "joint";
    case SdfKind::frame:
      return "frame";
    default:
      return "model";
  }
}

}  // namespace

// Declaring -----------------------------------------------------------------------------------

int SdfTree::version_of(const Element& sdf) {
  const char* text = sdf.attribute("version");
  if (!text) {
    report_.doubtful(sdf.source(), "<sdf> has no version; write <sdf version=\"1.9\">");
    return kNewestVersion - 1;
  }
  const std::string_view version = text;
  int minor = 0;
  const char* end = version.data() + version.size();
  if (version.starts_with("1.")) {
    const auto [stop, status] = std::from_chars(version.data() + 2, end, minor);
    if (status == std::errc{} && (stop == end || *stop == '.')) {
      if (minor < kOldestVersion || minor > kNewestVersion)
        report_.warning(sdf.source(),
                        "SDF version " + std::string(version) +
                            " is not known; it is read as if it were 1." +
                            std::to_string(std::clamp(minor, kOldestVersion, kNewestVersion)));
      return std::clamp(minor, kOldestVersion, kNewestVersion);
    }
  }
  report_.error(sdf.source(), "<sdf version=\"" + std::string(version) +
                                  "\">: this is not a version of SDF, such as 1.9");
  return kNewestVersion;
}

SdfScope* SdfTree::new_scope() {
  scopes_.emplace_back();
  scopes_.back().names_in = &scopes_.back();
  return &scopes_.back();
}

int SdfTree::new_frame(const Element& element, SdfKind kind, const std::string& local_name) {
  kinds_.push_back(kind);
  return graph.add(element.source(), std::string(tag_of(kind)) + " '" + local_name + "'");
}

void SdfTree::declare(SdfScope& scope, const std::string& local_name, int frame, SdfKind kind,
                      const Element& element) {
  if (local_name.empty()) return;
  if (local_name == "world" || local_name == kModelFrame || local_name == "__root__") {
    // Before 1.7 a joint could not be referred to, so its name did not matter.
    if (kind == SdfKind::joint && scope.version < kNamesSharedSince) return;
    report_.error(element.source(), std::string(tag_of(kind)) + " '" + local_name +
                                        "': this name is reserved by SDF; choose another");
    return;
  }
  SdfScope& names = *scope.names_in;
  const auto [earlier, fresh] =
      names.names.try_emplace(local_name, SdfScope::Name{frame, kind, element.source()});
  if (fresh) return;
  // Before 1.7 a joint could have the name of a link.
  if (earlier->second.kind != kind && scope.version < kNamesSharedSince) {
    if (kind == SdfKind::link || kind == SdfKind::model)
      earlier->second = {frame, kind, element.source()};
    return;
  }
  report_.error(element.source(), std::string(tag_of(kind)) + " '" + local_name +
                                      "': the name is taken by the " +
                                      tag_of(earlier->second.kind) + " in line " +
                                      std::to_string(earlier->second.source.line) +
                                      "; give one of them another name");
}

void SdfTree::declare_contents(const Element& element, SdfScope& scope, Model* model) {
  for (Element e = element.child(); e; e = e.next()) {
    const std::string_view tag = e.tag();
    const bool link = tag == "link", joint = tag == "joint", frame = tag == "frame";
    if (link && !model) {
      report_.error(e.source(), e.description() + " must stand inside a <model>");
      continue;
    }
    if (link || joint || frame) {
      const SdfKind kind = link ? SdfKind::link : joint ? SdfKind::joint : SdfKind::frame;
      const std::string local_name = name_of(e, report_);
      const int id = new_frame(e, kind, local_name);
      declare(scope, local_name, id, kind, e);
      if (frame) check_words(e, kFrameWords, kSdf, report_);
      std::vector<SdfThing>& list = link ? links : joint ? joints : frames;
      if (link) {
        graph.set_body(id, static_cast<int>(links.size()));
        if (model->first_link == SdfFrames::kNoFrame) model->first_link = id;
      }
      list.push_back({e, &scope, id, scope.prefix + local_name});
    } else if (tag == "model") {
      declare_model(e, scope, {}, scope.version, model);
    } else if (tag == "include") {
      open_include(e, scope, model);
    }
  }
}

void SdfTree::declare_model(const Element& element, SdfScope& outer, const Element& include,
                            int version, Model* around) {
  check_words(element, kModelWords, kSdf, report_);
  const Element new_name = include.child("name");
  const std::string local_name = new_name ? new_name.text() : name_of(element, report_);
  const bool merged = bool_of(include, "merge", false, report_);
  const int frame = new_frame(include ? include : element, SdfKind::model, local_name);
  const Element at = include ? include : element;

  SdfScope& scope = *new_scope();
  scope.name = local_name;
  scope.version = version;
  scope.frame = frame;
  scope.is_static = outer.is_static || text_bool(include.child("static") ? include.child("static")
                                                                         : element.child("static"),
                                                 false, report_);
  if (merged) {
    scope.names_in = outer.names_in;
    scope.prefix = outer.prefix;
    declare(outer, "_merged__" + local_name + "__model__", frame, SdfKind::model, at);
  } else {
    scope.prefix = outer.prefixes ? outer.prefix + local_name + "::" : outer.prefix;
    declare(outer, local_name, frame, SdfKind::model, at);
    outer.names_in->models.try_emplace(local_name, &scope);
  }
  if (name.empty() && !outer.is_world) name = local_name;

  models_.push_back({element, include, &outer, &scope});
  Model& model = models_.back();
  declare_contents(element, scope, &model);
  if (!around) return;
  if (merged && around->first_link == SdfFrames::kNoFrame) around->first_link = model.first_link;
  if (around->first_model == SdfFrames::kNoFrame &&
      (model.first_link != SdfFrames::kNoFrame || model.first_model != SdfFrames::kNoFrame))
    around->first_model = frame;
}

std::string SdfTree::include_path(const Element& include) {
  namespace fs = std::filesystem;
  const Element uri = include.child("uri");
  if (!uri || uri.text().empty()) {
    report_.error(include.source(), "<include> has no <uri>; write <uri>file.sdf</uri>");
    return {};
  }
  std::string path = find_local(uri.text(), folder_of(include.source().file));
  if (path.empty()) {
    const bool remote = uri.text().find("http") == 0;
    report_.error(uri.source(), "<include>: '" + uri.text() +
                                    (remote ? "' is not a local file; download it and name the "
                                              "local copy"
                                            : "' is not found beside this file, nor in SDF_PATH or "
                                              "GZ_SIM_RESOURCE_PATH"));
    return {};
  }
  std::error_code failure;
  if (!fs::is_directory(path, failure)) return path;
  // A folder of a model database: model.config names the file for each version of the format.
  const std::string config = (fs::path(path) / "model.config").string();
  if (fs::exists(config, failure)) {
    xml::Report ignored;
    const xml::File file = xml::File::read(config, ignored);
    std::string newest;
    int newest_version = -1;
    for (Element e = file.root().child("sdf"); e; e = e.next("sdf")) {
      const std::string version = text_or(e.attribute("version"), "1.0");
      int minor = 0;
      if (version.starts_with("1."))
        std::from_chars(version.data() + 2, version.data() + version.size(), minor);
      if (minor > newest_version && minor <= kNewestVersion) {
        newest = e.text();
        newest_version = minor;
      }
    }
    if (!newest.empty()) return (fs::path(path) / newest).string();
  }
  return (fs::path(path) / "model.sdf").string();
}

Element SdfTree::open_file(const std::string& path, const Element& include) {
  if (const auto found = opened_.find(path); found != opened_.end()) return found->second;
  xml::File file = xml::File::read(path, report_);
  if (file.root() && file.root().tag() == "robot") file = sdf_from_urdf(path, report_);
  Element root = file.root();
  if (root && root.tag() != "sdf") {
    report_.error(include.source(), "<include>: the root element of '" + path + "' is <" +
                                        std::string(root.tag()) +
                                        ">, but <sdf> or <robot> (URDF) is needed");
    root = {};
  }
  files_.push_back(std::move(file));
  opened_.emplace(path, root);
  return root;
}

void SdfTree::open_include(const Element& include, SdfScope& outer, Model* around) {
  check_words(include, kIncludeWords, kSdf, report_);
  if (const Element changes = include.child("experimental:params"))
    report_.doubtful(changes.source(),
                     "<experimental:params> is ignored; the included model is "
                     "read as it stands");
  const std::string path = include_path(include);
  if (path.empty()) return;
  std::error_code failure;
  const std::string canonical = std::filesystem::weakly_canonical(path, failure).string();
  if (std::find(open_files_.begin(), open_files_.end(), canonical) != open_files_.end()) {
    report_.error(include.source(), "<include> of '" + path +
                                        "' leads back to the same file; "
                                        "break the circle");
    return;
  }
  if (open_files_.size() > kDeepestInclude || ++includes_ > kMostIncludes) {
    report_.error(include.source(), "<include> of '" + path + "': more than " +
                                        std::to_string(kDeepestInclude) + " files deep or " +
                                        std::to_string(kMostIncludes) + " includes in all");
    return;
  }
  const Element sdf = open_file(path, include);
  if (!sdf) {
    report_.warning(include.source(), "this <include> reads '" + path + "'");
    return;
  }
  const Element model = sdf.child("model");
  if (!model && (sdf.child("actor") || sdf.child("light"))) return;  // nothing that moves by forces
  if (!model) {
    report_.error(include.source(), "<include>: there is no <model> in '" + path + "'");
    return;
  }
  open_files_.push_back(canonical);
  declare_model(model, outer, include, version_of(sdf), around);
  open_files_.pop_back();
}

// Names ---------------------------------------------------------------------------------------

int SdfTree::look_up(const SdfScope& scope, std::string_view wanted) const {
  if (wanted == kModelFrame) return scope.frame;
  if (wanted == "world" || wanted == "__root__") return SdfFrames::kWorldFrame;
  const SdfScope& names = *scope.names_in;
  if (const auto found = names.names.find(std::string(wanted)); found != names.names.end())
    return found->second.frame;
  for (std::size_t colon = wanted.find("::"); colon != std::string_view::npos;
       colon = wanted.find("::", colon + 2)) {
    const auto model = names.models.find(std::string(wanted.substr(0, colon)));
    if (model == names.models.end()) continue;
    const int frame = look_up(*model->second, wanted.substr(colon + 2));
    if (frame != SdfFrames::kNoFrame) return frame;
  }
  return SdfFrames::kNoFrame;
}

int SdfTree::find(const SdfScope& scope, const std::string& wanted, const Element& named_by,
                  const std::string& role) {
  const int frame = look_up(scope, wanted);
  if (frame != SdfFrames::kNoFrame) return frame;
  std::vector<std::string> candidates;
  candidates.reserve(scope.names_in->names.size());
  for (const auto& entry : scope.names_in->names) candidates.push_back(entry.first);
  std::sort(candidates.begin(), candidates.end());
  report_.error(named_by.source(), named_by.description() + ": " + role + " '" + wanted +
                                       "' does not exist in " +
                                       (scope.is_world       ? "the world"
                                        : scope.name.empty() ? "the file"
                                                             : "model '" + scope.name + "'") +
                                       report_.suggestion(wanted, candidates));
  return SdfFrames::kNoFrame;
}

// Placing -------------------------------------------------------------------------------------

Transformd SdfTree::read_pose(const Element& pose) {
  if (!pose) return {};
  check_words(pose, kPoseWords, kSdf, report_);
  const std::string text = pose.text();
  if (text.empty()) return {};
  const std::string format = text_or(pose.attribute("rotation_format"), "euler_rpy");
  const bool degrees = bool_of(pose, "degrees", false, report_);
  if (format == "quat_xyzw") {
    const auto v = xml::parse_numbers(text, 7, xml::Infinite::refused, pose.source(),
                                      pose.description(), report_);
    if (!v) return {};
    const Quaterniond q{(*v)[6], (*v)[3], (*v)[4], (*v)[5]};
    if (std::sqrt(q.squared_norm()) < kShortestQuaternion) {
      report_.error(pose.source(), pose.description() + ": its quaternion is zero");
      return {};
    }
    return {Rotationd::from_quaternion(normalized(q)), {(*v)[0], (*v)[1], (*v)[2]}};
  }
  if (format != "euler_rpy")
    report_.error(pose.source(), pose.description() + ": rotation_format '" + format +
                                     "' must be euler_rpy or quat_xyzw");
  const auto v = xml::parse_numbers(text, 6, xml::Infinite::refused, pose.source(),
                                    pose.description(), report_);
  if (!v) return {};
  const double unit = degrees ? std::numbers::pi / 180.0 : 1.0;
  return {Rotationd::from_rpy((*v)[3] * unit, (*v)[4] * unit, (*v)[5] * unit),
          {(*v)[0], (*v)[1], (*v)[2]}};
}

int SdfTree::relative_to(const Element& pose, const SdfScope& scope, int otherwise) {
  const char* wanted = pose.attribute("relative_to");
  if (!wanted) wanted = pose.attribute("frame");  // until 1.6
  if (!wanted || !*wanted) return otherwise;
  const int frame = find(scope, wanted, pose, "relative_to");
  return frame == SdfFrames::kNoFrame ? otherwise : frame;
}

void SdfTree::place_models() {
  for (auto m = models_.rbegin(); m != models_.rend(); ++m) {  // inner ones first
    const SdfScope& scope = *m->scope;
    const Element own_pose = m->element.child("pose");
    const Element pose = m->include.child("pose") ? m->include.child("pose") : own_pose;
    graph.place(scope.frame, relative_to(pose, *m->outer, m->outer->frame), read_pose(pose));

    const Element placement_tag = m->include.child("placement_frame");
    const std::string placement =
        placement_tag ? placement_tag.text() : text_or(m->element.attribute("placement_frame"), "");
    if (!placement.empty()) {
      const int placed =
          find(scope, placement, m->include ? m->include : m->element, "placement_frame");
      if (placed != SdfFrames::kNoFrame && placed != scope.frame)
        graph.set_placement(scope.frame, placed);
    }

    int canonical = m->first_link != SdfFrames::kNoFrame ? m->first_link : m->first_model;
    if (const char* wanted = m->element.attribute("canonical_link"); wanted && *wanted) {
      const int found = find(scope, wanted, m->element, "canonical_link");
      if (found != SdfFrames::kNoFrame) canonical = found;
    }
    if (canonical != SdfFrames::kNoFrame) graph.attach(scope.frame, canonical);
  }
}

void SdfTree::place_things() {
  for (const SdfThing& link : links) {
    const Element pose = link.element.child("pose");
    graph.place(link.frame, relative_to(pose, *link.scope, link.scope->frame), read_pose(pose));
  }
  for (const SdfThing& frame : frames) {
    const Element pose = frame.element.child("pose");
    int attached_to = frame.scope->frame;
    if (const char* wanted = frame.element.attribute("attached_to"); wanted && *wanted) {
      const int found = find(*frame.scope, wanted, frame.element, "attached_to");
      if (found != SdfFrames::kNoFrame) attached_to = found;
    }
    graph.attach(frame.frame, attached_to);
    graph.place(frame.frame, relative_to(pose, *frame.scope, attached_to), read_pose(pose));
  }
  for (SdfThing& joint : joints) {
    const Element child = joint.element.child("child");
    const Element pose = joint.element.child("pose");
    int child_frame = SdfFrames::kNoFrame;
    if (child && !child.text().empty())
      child_frame = find(*joint.scope, child.text(), child, "child");
    else
      report_.error(joint.element.source(),
                    joint.element.description() + " has no <child>; write <child>link</child>");
    joint.child = child_frame;
    if (child_frame == SdfFrames::kNoFrame) continue;
    graph.attach(joint.frame, child_frame);
    graph.place(joint.frame, relative_to(pose, *joint.scope, child_frame), read_pose(pose));
  }
}

bool SdfTree::read(xml::File file) {
  const Element sdf = file.root();
  if (!sdf) return false;
  if (sdf.tag() != "sdf") {
    report_.error(sdf.source(), "the root element is <" + std::string(sdf.tag()) +
                                    ">, but an SDF file has <sdf version=\"1.9\">");
    return false;
  }
  std::error_code failure;
  open_files_.push_back(std::filesystem::weakly_canonical(file.name(), failure).string());
  files_.push_back(std::move(file));
  check_words(sdf, kSdfWords, kSdf, report_);

  SdfScope& top = *new_scope();
  top.version = version_of(sdf);
  source = sdf.source();
  world = sdf.child("world");
  Element contents = sdf;
  if (world) {
    check_words(world, kWorldWords, kSdf, report_);
    top.is_world = true;
    name = text_or(world.attribute("name"), "world");
    contents = world;
    if (const Element second = world.next("world"))
      report_.doubtful(second.source(), "a second <world>; only the first is read");
    if (const Element beside = sdf.child("model"))
      report_.doubtful(beside.source(), "a <model> beside the <world> is ignored; put it inside");
  }
  // Names stay short as long as one model has them all.
  const std::size_t count = contents.children("model").size() + contents.children("include").size();
  top.prefixes = count > 1 || contents.child("frame") || contents.child("joint");
  declare_contents(contents, top, nullptr);
  if (!world && models_.empty() && !report_.has_error())
    report_.error(sdf.source(), "there is no <model> and no <world> in the file");
  place_models();
  place_things();
  return graph.resolve(report_);
}

}  // namespace catena
