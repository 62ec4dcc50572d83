// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/report/report_model.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "apps/catena/report/report_frames.h"
#include "catena/base/index.h"
#include "catena/io/models/uri.h"

namespace catena::app {
namespace {

constexpr std::uintmax_t kMeshBytes = 40U << 20U;  // of all meshes in a page

// Of Visual::Shape or Collision::Shape.
template <class Shape>
std::string shape_name(Shape shape) {
  switch (shape) {
    case Shape::box:
      return "box";
    case Shape::cylinder:
      return "cylinder";
    case Shape::sphere:
      return "sphere";
    case Shape::capsule:
      return "capsule";
    case Shape::mesh:
      return "mesh";
  }
  return "box";
}

// The files of meshes, each once.
class Meshes {
 public:
  explicit Meshes(const std::string& model_path) : folder_(folder_of(model_path)) {}

  // Its index in the document, or null when it cannot be drawn.
  Json add(const std::string& uri) {
    if (const auto known = known_.find(uri); known != known_.end()) return known->second;
    return known_[uri] = read(uri);
  }
  Json list() const { return list_; }
  void add_notes(std::vector<std::string>& notes) const {
    for (const auto& [what, uris] : left_out_) {
      const std::string more =
          uris.size() > 1 ? " (and " + std::to_string(uris.size() - 1) + " others)" : "";
      notes.push_back("The mesh '" + uris[0] + "'" + more + " " + what);
    }
  }

 private:
  Json read(const std::string& uri) {
    const auto leave_out = [&](const std::string& why) {
      left_out_[why].push_back(uri);
      return Json();
    };
    const std::string path = find_local(uri, folder_);
    if (path.empty()) return leave_out("was not found; it is not drawn.");
    std::string ending = std::filesystem::path(path).extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (ending != ".stl" && ending != ".obj" && ending != ".dae")
      return leave_out("is not drawn: only STL, OBJ and DAE can be shown.");
    std::error_code code;
    const std::uintmax_t size = std::filesystem::file_size(path, code);
    if (code || bytes_ + size > kMeshBytes)
      return leave_out("is left out: meshes in a page are limited to 40 MB.");
    std::ifstream stream(path, std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(stream)), {});
    if (!stream) return leave_out("cannot be read; it is not drawn.");
    bytes_ += size;
    list_.push_back({{"name", uri}, {"format", ending.substr(1)}, {"data", base64(content)}});
    return list_.items().size() - 1;
  }

  std::string folder_;
  std::map<std::string, Json> known_;
  std::map<std::string, std::vector<std::string>> left_out_;  // by the reason
  Json list_ = Json::array();
  std::uintmax_t bytes_ = 0;
};

Json quaternion_json(const Rotationd& rotation) {
  const Quaterniond q = to_quaternion(rotation);
  return {q.x, q.y, q.z, q.w};
}

// Of a Visual or a Collision.
template <class Drawn>
Json shape_json(const Drawn& drawn, Meshes& meshes) {
  Json out = {{"shape", shape_name(drawn.shape)},
              {"position", to_json(drawn.pose.translation)},
              {"quaternion", quaternion_json(drawn.pose.rotation)},
              {"size", to_json(drawn.size)},
              {"radius", drawn.radius},
              {"length", drawn.length}};
  out["mesh"] = drawn.shape == Drawn::Shape::mesh ? meshes.add(drawn.mesh) : Json();
  return out;
}

Json visual_json(const Visual& visual, Meshes& meshes) {
  Json out = shape_json(visual, meshes);
  out["colour"] = visual.colour;
  out["coloured"] = visual.colour != Visual{}.colour;
  return out;
}

// By body: the one that carries it in the tree, on which its pose depends; −1: the ground.
std::vector<int> carriers(const Mechanism& mechanism) {
  std::vector<int> first_of_node(mechanism.nodes().size(), -1);
  const auto& bodies = mechanism.bodies();
  for (std::size_t i = bodies.size(); i-- > 0;)
    if (bodies[i].node >= 0) first_of_node[index(bodies[i].node)] = static_cast<int>(i);
  // Bodies welded to an attachment are carried by it, not the other way round.
  for (const FlexiblePlace& place : mechanism.flexible_bodies())
    for (const auto& attachment : place.attachments)
      first_of_node[index(attachment.node)] = attachment.body;
  std::vector<int> carriers(bodies.size(), -1);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].node < 0) continue;
    const int first = first_of_node[index(bodies[i].node)];
    if (first != static_cast<int>(i)) {
      carriers[i] = first;
      continue;
    }
    const int parent = mechanism.nodes()[index(bodies[i].node)].parent;
    if (parent >= 0) carriers[i] = first_of_node[index(parent)];
  }
  return carriers;
}

// Half the size of a section along y and z, and whether it is round.
Json section_json(const BeamSection& section) {
  using Shape = BeamSection::Shape;
  if (section.shape == Shape::circle || section.shape == Shape::tube)
    return {{"round", true}, {"half", {section.radius, section.radius}}};
  if (section.shape == Shape::rectangle || section.shape == Shape::box)
    return {{"round", false}, {"half", {0.5 * section.width, 0.5 * section.height}}};
  return nullptr;
}

// Drawing of a flexible body: points and their displacements by each modal coordinate.
Json flexible_json(const FlexiblePlace& place, int first) {
  const FlexibleBody& constants = *place.constants;
  const int modes = constants.modes();
  std::vector<float> points, shapes;
  const auto add = [&](const Vec3d& position, const Eigen::MatrixXd& shape) {
    for (int i = 0; i < 3; ++i) {
      points.push_back(static_cast<float>(position[i]));
      for (int k = 0; k < modes; ++k)
        shapes.push_back(shape.size() > 0 ? static_cast<float>(shape(i, k)) : 0.0F);
    }
  };
  // Bodies without points of their own are drawn from the frame to the attachments.
  const bool own = !constants.drawn_points.empty();
  if (!own) add({}, {});
  for (const FlexibleBody::DrawnPoint& point : constants.drawn_points)
    add(point.position, point.shape);
  Json attachments = Json::array();
  for (std::size_t k = 0; k < place.attachments.size(); ++k) {
    const FlexibleBody::Attachment& attachment = constants.attachments[k];
    if (!own) add(attachment.position, attachment.shape);
    attachments.push_back({{"name", attachment.name},
                           {"body", place.attachments[k].body},
                           {"position", to_json(attachment.position)},
                           {"quaternion", quaternion_json(attachment.rotation)},
                           {"shape", to_json(attachment.shape)}});
  }
  Json section, end_section, axes;
  if (constants.beam) {
    section = section_json(constants.beam->section);
    if (constants.beam->end_section) end_section = section_json(*constants.beam->end_section);
    axes = quaternion_json(constants.beam->pose.rotation);
  }
  return {{"name", place.name},
          {"body", place.body},
          {"first", first},
          {"modes", modes},
          {"beam", constants.beam != nullptr && own},
          {"points", base64_of(points)},
          {"shapes", base64_of(shapes)},
          {"attachments", attachments},
          {"section", section},
          {"end_section", end_section},
          {"axes", axes}};
}

void add_flexible(Json& document, const Mechanism& mechanism) {
  Json list = Json::array();
  int first = 0;
  for (const FlexiblePlace& place : mechanism.flexible_bodies()) {
    list.push_back(flexible_json(place, first));
    first += place.constants->modes();
  }
  document["flexible"] = std::move(list);
}

void add_model_frames(Json& document, const Mechanism& mechanism) {
  Json list = Json::array();
  for (const Frame& frame : mechanism.description().frames)
    list.push_back({{"name", frame.name},
                    {"body", mechanism.body_index(frame.body)},
                    {"position", to_json(frame.pose.translation)},
                    {"quaternion", quaternion_json(frame.pose.rotation)}});
  document["model_frames"] = std::move(list);
}

bool has_one_axis(HingeType type) {
  return type == HingeType::revolute || type == HingeType::prismatic || type == HingeType::screw ||
         type == HingeType::cylindrical;
}

}  // namespace

void add_model(Json& document, const Mechanism& mechanism, const std::string& model_path,
               std::vector<std::string>& notes) {
  const Description& description = mechanism.description();
  Meshes meshes(model_path);
  document["title"] = mechanism.name();
  const double gravity = norm(mechanism.gravity());
  document["up"] =
      to_json(gravity > 0.0 ? mechanism.gravity() * (-1.0 / gravity) : Vec3d{0.0, 0.0, 1.0});

  Json ground_points = Json::array(), hinges = Json::array(), links = Json::array();
  std::vector<Json> points(description.bodies.size(), Json::array());
  const auto add_point = [&](int body, const Vec3d& point) {
    (body < 0 ? ground_points : points[index(body)]).push_back(to_json(point));
  };
  for (const Hinge& hinge : description.hinges) {
    const int parent = mechanism.body_index(hinge.parent),
              child = mechanism.body_index(hinge.child);
    // Free hinges are not drawn; modes and attachments are drawn with their body.
    if (hinge.type == HingeType::free || hinge.type == HingeType::modes ||
        hinge.type == HingeType::attachment)
      continue;
    add_point(parent, hinge.frame_on_parent.translation);
    add_point(child, hinge.frame_on_child.translation);
    Json one = {{"name", hinge.name},
                {"type", to_string(hinge.type)},
                {"child", child},
                {"point", to_json(hinge.frame_on_child.translation)},
                {"axis", nullptr}};
    if (has_one_axis(hinge.type)) {
      const Vec3d axis = hinge.axes.empty() ? Vec3d{0.0, 0.0, 1.0} : hinge.axes[0];
      one["axis"] = to_json(hinge.frame_on_child.rotation * axis);
    }
    if (hinge.type != HingeType::weld) hinges.push_back(std::move(one));
  }
  const auto add_link = [&](const char* kind, const auto& link) {
    const int a = mechanism.body_index(link.body_a), b = mechanism.body_index(link.body_b);
    add_point(a, link.point_a);
    add_point(b, link.point_b);
    links.push_back({{"kind", kind},
                     {"name", link.name},
                     {"a", {{"body", a}, {"point", to_json(link.point_a)}}},
                     {"b", {{"body", b}, {"point", to_json(link.point_b)}}}});
  };
  for (const Rod& rod : description.rods) add_link("rod", rod);
  for (const SpringDamper& spring : description.springs) add_link("spring", spring);

  const std::vector<int> carried_by = carriers(mechanism);
  std::vector<const char*> roles(description.bodies.size(), "rigid");
  for (const FlexiblePlace& place : mechanism.flexible_bodies()) {
    roles[index(place.body)] = "flexible";
    roles[index(mechanism.body_index(modes_name(place.name)))] = "modes";
    for (const auto& attachment : place.attachments) roles[index(attachment.body)] = "attachment";
  }
  Json bodies = Json::array();
  for (std::size_t i = 0; i < description.bodies.size(); ++i) {
    const Body& body = description.bodies[i];
    Json visuals = Json::array(), collisions = Json::array();
    for (const Visual& visual : body.visuals) visuals.push_back(visual_json(visual, meshes));
    for (const Collision& shape : body.collisions) collisions.push_back(shape_json(shape, meshes));
    bodies.push_back({{"name", body.name},
                      {"role", roles[i]},
                      {"carrier", carried_by[i]},
                      {"center_of_mass", to_json(body.center_of_mass)},
                      {"points", points[i]},
                      {"visuals", visuals},
                      {"collisions", collisions}});
  }
  add_flexible(document, mechanism);
  add_model_frames(document, mechanism);
  document["bodies"] = std::move(bodies);
  document["hinges"] = std::move(hinges);
  document["links"] = std::move(links);
  document["ground_points"] = std::move(ground_points);
  document["meshes"] = meshes.list();
  meshes.add_notes(notes);
}

std::vector<std::string> coordinate_units(const Mechanism& mechanism) {
  std::vector<std::string> units(to_size(mechanism.coordinates()));
  for (const HingePlace& hinge : mechanism.hinges()) {
    if (hinge.role != HingePlace::Role::tree) continue;
    for (int i = 0; i < hinge.coordinates; ++i) {
      std::string unit;
      switch (hinge.type) {
        case HingeType::prismatic:
        case HingeType::translation:
        case HingeType::modes:
          unit = "m";
          break;
        case HingeType::revolute:
        case HingeType::screw:
        case HingeType::universal:
        case HingeType::gimbal:
          unit = "rad";
          break;
        case HingeType::cylindrical:
        case HingeType::planar:
          unit = i == 0 ? "rad" : "m";
          break;
        case HingeType::free:
          unit = i < 4 ? "" : "m";
          break;
        case HingeType::weld:
        case HingeType::spherical:
        case HingeType::custom:
        case HingeType::attachment:
          break;
      }
      units[index(hinge.q_index + i)] = unit;
    }
  }
  return units;
}

}  // namespace catena::app
