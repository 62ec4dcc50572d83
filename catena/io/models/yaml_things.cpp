// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/yaml_things.h"

#include <algorithm>
#include <initializer_list>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/io/models/yaml_keys.h"
#include "catena/io/models/yaml_matrices.h"
#include "catena/model/flexible_body.h"

namespace catena::yaml {
namespace {

const std::vector<std::string>& shape_names() {  // in the order of Visual::Shape
  static const std::vector<std::string> kNames{"box", "cylinder", "sphere", "capsule", "mesh"};
  return kNames;
}

const std::vector<std::string>& cut_names() {  // in the order of Cut
  static const std::vector<std::string> kNames{"automatic", "always", "never"};
  return kNames;
}

// Calls read(node) for the value of a key, if it is there. The key is put before its messages.
template <class Read>
bool with(Values& values, const Node& map, const char* key, Read read) {
  const Entry* entry = map.find(key);
  if (entry == nullptr) return false;
  const Values::Within within(values, key);
  read(*entry->value);
  return true;
}

void number(Values& values, const Node& map, const char* key, double& result,
            Range range = Range::finite) {
  with(values, map, key, [&](const Node& node) { values.number(node, result, range); });
}

void text(Values& values, const Node& map, const char* key, std::string& result) {
  with(values, map, key, [&](const Node& node) { values.text(node, result); });
}

void vector(Values& values, const Node& map, const char* key, Vec3d& result) {
  with(values, map, key, [&](const Node& node) { values.vector(node, result); });
}

void pose(Values& values, const Node& map, const char* key, Transformd& result) {
  with(values, map, key, [&](const Node& node) { values.pose(node, result); });
}

// The map itself is right, and has no unknown key.
bool opened(Values& values, const Node& node, const char* kind) {
  const std::vector<std::string>& keys = keys_of(kind);
  std::string needs = "a map with";
  for (std::size_t i = 0; i < keys.size() && i < 3; ++i) needs += (i > 0 ? ", " : " ") + keys[i];
  if (!values.map(node, needs + (keys.size() > 3 ? ", ..." : ""))) return false;
  // Known words for a misspelled one.
  if (std::string_view(kind) == "body")
    values.unknown_keys(node, keys, {"mass", "inertia"});
  else if (std::string_view(kind) == "rod")
    values.unknown_keys(node, keys, {"length"});
  else
    values.unknown_keys(node, keys);
  return true;
}

void require(Values& values, const Node& map, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (map.find(key) == nullptr) values.error(map.line, std::string("needs '") + key + ":'");
}

// Common part of visuals and collisions.
template <class Shape>
void read_shape(Values& values, const Node& node, Shape& shape) {
  require(values, node, {"shape"});
  bool known = false;
  with(values, node, "shape", [&](const Node& value) {
    std::size_t index = 0;
    known = values.choice(value, shape_names(), index);
    if (known) shape.shape = static_cast<typename Shape::Shape>(index);
  });
  text(values, node, "name", shape.name);
  pose(values, node, "pose", shape.pose);
  vector(values, node, "size", shape.size);
  number(values, node, "radius", shape.radius);
  number(values, node, "length", shape.length);
  text(values, node, "mesh", shape.mesh);
  if (!known) return;
  switch (shape.shape) {
    case Shape::Shape::box:
      return require(values, node, {"size"});
    case Shape::Shape::sphere:
      return require(values, node, {"radius"});
    case Shape::Shape::cylinder:
    case Shape::Shape::capsule:
      return require(values, node, {"radius", "length"});
    case Shape::Shape::mesh:
      return require(values, node, {"mesh"});
  }
}

void read_visual(Values& values, const Node& node, Visual& visual) {
  if (!opened(values, node, "visual")) return;
  with(values, node, "colour", [&](const Node& value) {
    if (value.is_list() && value.entries.size() == 3)
      values.numbers(value, std::span(visual.colour).first(3));
    else
      values.numbers(value, visual.colour);
  });
  read_shape(values, node, visual);
}

void read_collision(Values& values, const Node& node, Collision& collision) {
  if (!opened(values, node, "collision")) return;
  with(values, node, "friction",
       [&](const Node& value) { values.number(value, collision.friction.emplace()); });
  with(values, node, "restitution",
       [&](const Node& value) { values.number(value, collision.restitution.emplace()); });
  read_shape(values, node, collision);
}

void read_friction(Values& values, const Node& node, Friction& friction) {
  if (node.is_scalar()) {
    values.number(node, friction.sliding);
    return;
  }
  if (!opened(values, node, "friction")) return;
  number(values, node, "sliding", friction.sliding);
  number(values, node, "breakaway", friction.breakaway);
  number(values, node, "stribeck_velocity", friction.stribeck_velocity);
  number(values, node, "transition_velocity", friction.transition_velocity);
}

// The keys of a freedom that the map has; it may have others.
void read_freedom(Values& values, const Node& node, FreedomSettings& freedom) {
  with(values, node, "limits", [&](const Node& value) {
    std::array<double, 2> limits{};
    if (!values.numbers(value, limits, Range::infinite_allowed)) return;
    freedom.lower = limits[0];
    freedom.upper = limits[1];
  });
  number(values, node, "velocity_limit", freedom.velocity_limit, Range::infinite_allowed);
  number(values, node, "effort_limit", freedom.effort_limit, Range::infinite_allowed);
  number(values, node, "damping", freedom.damping);
  number(values, node, "stiffness", freedom.stiffness);
  number(values, node, "rest", freedom.rest);
  with(values, node, "friction",
       [&](const Node& value) { read_friction(values, value, freedom.friction); });
}

// Keys of a freedom on the hinge itself hold for all of its freedoms.
void read_freedoms(Values& values, const Node& node, Hinge& hinge) {
  const std::size_t count = to_size(freedoms_of(hinge.type));
  const std::vector<std::string>& keys = keys_of("freedom");
  const bool common = std::any_of(
      keys.begin(), keys.end(), [&](const std::string& key) { return node.find(key) != nullptr; });
  if (common && count == 0) {
    values.error(node.line, "a weld has no freedoms, so it takes no limits, damping or friction");
  } else if (common) {
    const int before = values.errors();
    if (hinge.freedoms.size() < count) hinge.freedoms.resize(count);
    for (FreedomSettings& freedom : hinge.freedoms) {
      read_freedom(values, node, freedom);
      if (values.errors() > before) break;  // the others would say the same
    }
  }
  with(values, node, "freedoms", [&](const Node& list) {
    if (!values.list(list, "a list with one map for each freedom")) return;
    if (list.entries.size() > count) {
      values.error(list.line, std::to_string(list.entries.size()) + " maps, but a " +
                                  std::string(to_string(hinge.type)) + " hinge has " +
                                  std::to_string(count) + (count == 1 ? " freedom" : " freedoms"));
      return;
    }
    if (hinge.freedoms.size() < list.entries.size()) hinge.freedoms.resize(list.entries.size());
    for (std::size_t i = 0; i < list.entries.size(); ++i) {
      const Values::Within within(values, std::to_string(i + 1));
      if (opened(values, *list.entries[i].value, "freedom"))
        read_freedom(values, *list.entries[i].value, hinge.freedoms[i]);
    }
  });
  const bool quaternion = hinge.type == HingeType::spherical || hinge.type == HingeType::free;
  for (std::size_t i = 0; quaternion && i < std::min<std::size_t>(3, hinge.freedoms.size()); ++i) {
    const FreedomSettings& freedom = hinge.freedoms[i];
    if (freedom.lower == -kInfinity && freedom.upper == kInfinity && freedom.stiffness == 0.0)
      continue;
    values.warning(node.line, "limits and stiffness have no effect on the rotations of a " +
                                  std::string(to_string(hinge.type)) +
                                  " hinge; a gimbal hinge has angles");
    break;
  }
}

void read_drive(Values& values, const Node& node, Hinge& hinge) {
  if (node.is_scalar() && node.text == "none") {
    hinge.drive.reset();
    return;
  }
  if (!opened(values, node, "drive")) return;
  if (!hinge.drive) hinge.drive.emplace();
  DriveSettings& drive = *hinge.drive;
  number(values, node, "rotor_inertia", drive.rotor_inertia);
  number(values, node, "gear_ratio", drive.gear_ratio);
  text(values, node, "carrier", drive.carrier);
  with(values, node, "rotor_axis", [&](const Node& value) {
    Vec3d axis;
    if (values.axis(value, axis)) drive.rotor_axis = axis;
  });
  with(values, node, "armature_only",
       [&](const Node& value) { values.boolean(value, drive.armature_only); });
}

void read_type(Values& values, const Node& node, Hinge& hinge) {
  std::vector<std::string> names = hinge_type_names();
  std::erase(names, std::string(to_string(HingeType::custom)));
  if (node.is_scalar() && node.text == to_string(HingeType::custom)) {
    values.error(node.line,
                 "custom hinges are code, not data; make this one with MechanismBuilder");
    return;
  }
  std::size_t index = 0;
  if (values.choice(node, names, index)) hinge.type = *hinge_type_from(names[index]);
}

void read_axes(Values& values, const Node& node, Hinge& hinge) {
  if (node.find("axis") != nullptr && node.find("axes") != nullptr) {
    values.error(node.line, "axis and axes say the same; give one of them");
    return;
  }
  with(values, node, "axis", [&](const Node& value) {
    Vec3d axis;
    if (values.axis(value, axis)) hinge.axes = {axis};
  });
  with(values, node, "axes", [&](const Node& list) {
    if (!values.list(list, "a list of axes")) return;
    std::vector<Vec3d> axes(list.entries.size());
    bool right = true;
    for (std::size_t i = 0; i < axes.size(); ++i)
      right = values.axis(*list.entries[i].value, axes[i]) && right;
    if (right) hinge.axes = std::move(axes);
  });
}

void read_hinge_frames(Values& values, const Node& node, Hinge& hinge) {
  if (const Entry* at = node.find("at")) {
    if (node.find("frame_on_parent") != nullptr || node.find("frame_on_child") != nullptr) {
      values.error(at->line,
                   "'at' is the frame on the parent, with the child's own frame on the child; "
                   "write frame_on_parent and frame_on_child instead");
      return;
    }
    const Values::Within within(values, "at");
    if (values.pose(*at->value, hinge.frame_on_parent)) hinge.frame_on_child = {};
  }
  pose(values, node, "frame_on_parent", hinge.frame_on_parent);
  pose(values, node, "frame_on_child", hinge.frame_on_child);
}

void coordinates(Values& values, const Node& map, const char* key, std::vector<double>& result) {
  with(values, map, key, [&](const Node& node) { values.number_or_list(node, result); });
}

// Of a spherical or free hinge also {xyz: ..., rpy: ...}.
void positions(Values& values, const Node& map, const char* key, const Hinge& hinge,
               std::vector<double>& result) {
  with(values, map, key, [&](const Node& node) {
    if (!node.is_map()) {
      values.number_or_list(node, result);
      return;
    }
    std::vector<double> q(to_size(coordinates_of(hinge.type)), 0.0);
    if (hinge.type == HingeType::spherical || hinge.type == HingeType::free) q[0] = 1.0;
    if (values.pose_coordinates(node, q)) result = q;
  });
}

template <class Ends>
void read_ends(Values& values, const Node& node, Ends& thing) {
  require(values, node, {"body_a", "body_b"});
  text(values, node, "body_a", thing.body_a);
  vector(values, node, "point_a", thing.point_a);
  text(values, node, "body_b", thing.body_b);
  vector(values, node, "point_b", thing.point_b);
}

void optional_number(Values& values, const Node& map, const char* key,
                     std::optional<double>& result) {
  with(values, map, key, [&](const Node& node) {
    double x = 0.0;
    if (values.number(node, x)) result = x;
  });
}

const std::vector<std::string>& section_names() {  // in the order of BeamSection::Shape
  static const std::vector<std::string> kNames{"values", "circle", "tube", "rectangle", "box"};
  return kNames;
}

void read_section(Values& values, const Node& node, BeamSection& section) {
  if (!opened(values, node, "section")) return;
  with(values, node, "shape", [&](const Node& value) {
    std::size_t index = 0;
    if (values.choice(value, section_names(), index))
      section.shape = static_cast<BeamSection::Shape>(index);
  });
  number(values, node, "radius", section.radius);
  number(values, node, "inner_radius", section.inner_radius);
  number(values, node, "width", section.width);
  number(values, node, "height", section.height);
  number(values, node, "thickness", section.thickness);
  BeamValues& v = section.values;
  optional_number(values, node, "EA", v.extension);
  optional_number(values, node, "EIy", v.bending_y);
  optional_number(values, node, "EIz", v.bending_z);
  optional_number(values, node, "GJ", v.torsion);
  number(values, node, "mass_per_length", v.mass_per_length);
  Vec3d rotary{v.rotary_x, v.rotary_y, v.rotary_z};
  vector(values, node, "rotary_inertia", rotary);
  v.rotary_x = rotary.x;
  v.rotary_y = rotary.y;
  v.rotary_z = rotary.z;
}

void read_material(Values& values, const Node& node, BeamMaterial& material) {
  if (!opened(values, node, "material")) return;
  require(values, node, {"youngs_modulus", "density"});
  number(values, node, "youngs_modulus", material.youngs_modulus);
  number(values, node, "density", material.density);
  number(values, node, "shear_modulus", material.shear_modulus);
  std::optional<double> ratio;
  optional_number(values, node, "poisson_ratio", ratio);
  if (node.find("shear_modulus") == nullptr && !ratio)
    values.error(node.line, "needs 'shear_modulus:' or 'poisson_ratio:'");
  if (ratio && !(*ratio > -1.0 && *ratio <= 0.5)) {
    values.error(node.find("poisson_ratio")->line,
                 "has poisson_ratio " + catena::number(*ratio) +
                     "; materials have more than -1 and at most 0.5 (metals about 0.3)");
    ratio = 0.3;  // so that no further error follows
  }
  if (ratio) material.shear_modulus = material.youngs_modulus / (2.0 * (1.0 + *ratio));
  for (const auto& [key, value] : {std::pair{"youngs_modulus", &material.youngs_modulus},
                                   std::pair{"density", &material.density},
                                   std::pair{"shear_modulus", &material.shear_modulus}})
    if (const Entry* entry = node.find(key); entry != nullptr && !(*value > 0.0)) {
      values.error(entry->line, std::string("has ") + key + " " + catena::number(*value) +
                                    "; it must be positive");
      *value = 1.0;
    }
}

void read_attachments(Values& values, const Node& node, BeamSettings& beam) {
  if (!values.map(node, "a map from attachments to stations, like {tip: 2.0}")) return;
  for (const Entry& entry : node.entries) {
    const Values::Within within(values, entry.key);
    BeamAttachment attachment;
    attachment.name = entry.key;
    if (entry.value->is_scalar()) {
      values.number(*entry.value, attachment.station);
    } else if (opened(values, *entry.value, "attachment")) {
      require(values, *entry.value, {"station"});
      number(values, *entry.value, "station", attachment.station);
      number(values, *entry.value, "load_mass", attachment.load_mass);
      vector(values, *entry.value, "load_inertia", attachment.load_inertia);
    }
    beam.attachments.push_back(std::move(attachment));
  }
}

void read_modal_damping(Values& values, const Node& node, ModalDamping& damping) {
  if (node.is_scalar() || node.is_list()) {
    values.number_or_list(node, damping.ratios);
    return;
  }
  if (!opened(values, node, "modal_damping")) return;
  with(values, node, "ratios",
       [&](const Node& value) { values.number_or_list(value, damping.ratios); });
  number(values, node, "mass", damping.rayleigh_mass);
  number(values, node, "stiffness", damping.rayleigh_stiffness);
  with(values, node, "bands", [&](const Node& list) {
    if (!values.list(list, "a list of maps with below and ratio")) return;
    for (const Entry& entry : list.entries) {
      if (!opened(values, *entry.value, "band")) continue;
      ModalDamping::Band band;
      number(values, *entry.value, "below", band.below, Range::infinite_allowed);
      number(values, *entry.value, "ratio", band.ratio);
      damping.bands.push_back(band);
    }
  });
}

}  // namespace

void read_flexible(Values& values, const Node& node, FlexibleWords& words) {
  if (!opened(values, node, "flexible")) return;
  const bool by_matrices = node.find("matrices") != nullptr;
  BeamSettings& beam = words.beam;
  if (by_matrices)
    for (const char* key : {"length", "section", "end_section", "material", "pose", "clamped_at"})
      if (const Entry* entry = node.find(key))
        values.error(entry->line, std::string("has 'matrices:' and '") + key +
                                      ":', which is a word of beams; leave one of them out");
  if (!by_matrices) require(values, node, {"length", "section"});
  with(values, node, "matrices",
       [&](const Node& value) { read_matrices(values, value, words.matrices.emplace()); });
  number(values, node, "length", beam.length);
  with(values, node, "section",
       [&](const Node& value) { read_section(values, value, beam.section); });
  with(values, node, "end_section", [&](const Node& value) {
    beam.end_section = beam.section;  // missing values are those at the start
    read_section(values, value, *beam.end_section);
  });
  with(values, node, "material",
       [&](const Node& value) { read_material(values, value, beam.material.emplace()); });
  pose(values, node, "pose", beam.pose);
  number(values, node, "clamped_at", beam.clamped_station);
  with(values, node, "attachments", [&](const Node& value) {
    if (words.matrices)
      read_matrix_attachments(values, value, *words.matrices);
    else
      read_attachments(values, value, beam);
  });
  with(values, node, "modes", [&](const Node& value) { values.integer(value, beam.modes.count); });
  number(values, node, "frequency_limit", beam.modes.frequency_limit);
  with(values, node, "mode_set", [&](const Node& value) {
    static const std::vector<std::string> kSets{"craig_bampton", "clamped_free", "clamped_loaded"};
    std::size_t index = 0;
    if (values.choice(value, kSets, index)) beam.modes.set = *mode_set_from(kSets[index]);
  });
  with(values, node, "damping",
       [&](const Node& value) { read_modal_damping(values, value, beam.damping); });
  with(values, node, "model", [&](const Node& value) {
    static const std::vector<std::string> kModels{"consistent", "inconsistent", "ruthless"};
    std::size_t index = 0;
    if (values.choice(value, kModels, index)) beam.model = *flexible_model_from(kModels[index]);
  });
  with(values, node, "completion", [&](const Node& value) {
    static const std::vector<std::string> kChoices{"automatic", "always", "never"};
    std::size_t index = 0;
    if (values.choice(value, kChoices, index))
      beam.completion = *inertia_completion_from(kChoices[index]);
  });
  coordinates(values, node, "initial_position", words.initial_position);
  coordinates(values, node, "initial_velocity", words.initial_velocity);
  if (!words.matrices) return;
  words.matrices->modes = beam.modes;
  words.matrices->modal_damping = beam.damping;
  words.matrices->model = beam.model;
  words.matrices->completion = beam.completion;
}

void read_body(Values& values, const Node& node, BodySettings& body) {
  if (node.is_null()) return;  // a body without mass: `tool_tip:`
  if (!opened(values, node, "body")) return;
  number(values, node, "mass", body.mass);
  vector(values, node, "center_of_mass", body.center_of_mass);
  with(values, node, "inertia", [&](const Node& value) { values.inertia(value, body.inertia); });
  with(values, node, "inertia_axes",
       [&](const Node& value) { values.rotation(value, body.inertia_axes); });
  with(values, node, "visuals", [&](const Node& list) {
    if (!values.list(list, "a list of shapes")) return;
    body.visuals.clear();
    for (const Entry& item : list.entries) {
      const Values::Within within(values, std::to_string(body.visuals.size() + 1));
      read_visual(values, *item.value, body.visuals.emplace_back());
    }
  });
  with(values, node, "collisions", [&](const Node& list) {
    if (!values.list(list, "a list of shapes")) return;
    body.collisions.clear();
    for (const Entry& item : list.entries) {
      const Values::Within within(values, std::to_string(body.collisions.size() + 1));
      read_collision(values, *item.value, body.collisions.emplace_back());
    }
  });
}

void read_hinge(Values& values, const Node& node, Hinge& hinge) {
  if (!opened(values, node, "hinge")) return;
  with(values, node, "type", [&](const Node& value) { read_type(values, value, hinge); });
  text(values, node, "parent", hinge.parent);
  text(values, node, "child", hinge.child);
  read_axes(values, node, hinge);
  number(values, node, "pitch", hinge.pitch);
  read_hinge_frames(values, node, hinge);
  read_freedoms(values, node, hinge);
  with(values, node, "drive", [&](const Node& value) { read_drive(values, value, hinge); });
  with(values, node, "cut", [&](const Node& value) {
    std::size_t index = 0;
    if (values.choice(value, cut_names(), index)) hinge.cut = static_cast<Cut>(index);
  });
  with(values, node, "keeps_coordinates",
       [&](const Node& value) { values.boolean(value, hinge.keeps_coordinates); });
  positions(values, node, "locked_at", hinge, hinge.locked_at);
  positions(values, node, "initial_position", hinge, hinge.initial_position);
  coordinates(values, node, "initial_velocity", hinge.initial_velocity);
}

void read_frame(Values& values, const Node& node, Frame& frame) {
  if (!opened(values, node, "frame")) return;
  require(values, node, {"body"});
  text(values, node, "body", frame.body);
  pose(values, node, "pose", frame.pose);
}

void read_rod(Values& values, const Node& node, Rod& rod) {
  if (!opened(values, node, "rod")) return;
  require(values, node, {"length"});
  read_ends(values, node, rod);
  number(values, node, "length", rod.length);
}

void read_coupling(Values& values, const Node& node, Coupling& coupling) {
  if (!opened(values, node, "coupling")) return;
  const bool gear = node.find("follower") != nullptr || node.find("leader") != nullptr ||
                    node.find("ratio") != nullptr || node.find("offset") != nullptr;
  if (gear) {
    if (node.find("terms") != nullptr || node.find("constant") != nullptr) {
      values.error(node.line,
                   "mixes the keys of a gear (follower, leader, ratio, offset) and of a sum "
                   "(terms, constant); use one kind");
      return;
    }
    require(values, node, {"follower", "leader", "ratio"});
    std::string follower, leader;
    double ratio = 1.0;
    text(values, node, "follower", follower);
    text(values, node, "leader", leader);
    number(values, node, "ratio", ratio);
    number(values, node, "offset", coupling.constant);
    coupling.terms = {{std::move(follower), 0, 1.0}, {std::move(leader), 0, -ratio}};
    return;
  }
  if (node.find("terms") == nullptr) {
    values.error(node.line, "needs follower, leader and ratio (a gear), or terms");
    return;
  }
  number(values, node, "constant", coupling.constant);
  with(values, node, "terms", [&](const Node& list) {
    if (!values.list(list, "a list of maps with hinge and coefficient")) return;
    for (const Entry& item : list.entries) {
      const Values::Within within(values, std::to_string(coupling.terms.size() + 1));
      Coupling::Term& term = coupling.terms.emplace_back();
      if (!opened(values, *item.value, "term")) continue;
      require(values, *item.value, {"hinge", "coefficient"});
      text(values, *item.value, "hinge", term.hinge);
      with(values, *item.value, "freedom",
           [&](const Node& value) { values.integer(value, term.freedom); });
      number(values, *item.value, "coefficient", term.coefficient);
    }
  });
}

void read_spring(Values& values, const Node& node, SpringDamper& spring) {
  if (!opened(values, node, "spring")) return;
  read_ends(values, node, spring);
  number(values, node, "stiffness", spring.stiffness);
  number(values, node, "rest_length", spring.rest_length);
  number(values, node, "damping", spring.damping);
}

}  // namespace catena::yaml
