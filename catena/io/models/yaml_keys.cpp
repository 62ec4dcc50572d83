// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/yaml_keys.h"

namespace catena::yaml {

const KeyTable& key_table() {
  static const KeyTable kTable{
      {"model",
       {"catena", "name", "gravity", "base", "strict", "from", "attach", "remove", "change",
        "bodies", "hinges", "frames", "rods", "couplings", "springs", "lock"}},
      {"attach", {"file", "prefix", "onto", "pose"}},
      {"remove", {"bodies", "hinges", "frames", "rods", "couplings", "springs"}},
      {"change", {"bodies", "hinges"}},
      {"body",
       {"mass", "center_of_mass", "inertia", "inertia_axes", "visuals", "collisions", "flexible"}},
      {"flexible",
       {"length", "section", "end_section", "material", "pose", "clamped_at", "attachments",
        "modes", "frequency_limit", "mode_set", "damping", "model", "completion",
        "initial_position", "initial_velocity", "matrices"}},
      {"matrices",
       {"nodes", "freedoms_per_node", "mass", "stiffness", "damping", "geometric_stiffness",
        "clamped_nodes"}},
      {"matrix_file", {"file", "dataset"}},
      {"matrix_attachment", {"nodes", "geometric_stiffness"}},
      {"section",
       {"shape", "radius", "inner_radius", "width", "height", "thickness", "EA", "EIy", "EIz", "GJ",
        "mass_per_length", "rotary_inertia"}},
      {"material", {"youngs_modulus", "shear_modulus", "poisson_ratio", "density"}},
      {"attachment", {"station", "load_mass", "load_inertia"}},
      {"modal_damping", {"ratios", "mass", "stiffness", "bands"}},
      {"band", {"below", "ratio"}},
      {"inertia", {"xx", "yy", "zz", "xy", "xz", "yz"}},
      {"rotation", {"rpy", "quaternion", "rotation"}},
      {"pose", {"xyz", "rpy", "quaternion", "rotation"}},
      {"visual", {"shape", "name", "pose", "size", "radius", "length", "mesh", "colour"}},
      {"collision",
       {"shape", "name", "pose", "size", "radius", "length", "mesh", "friction", "restitution"}},
      // In the order in which they are read: the type decides about the rest.
      {"hinge",
       {"type",
        "parent",
        "child",
        "axis",
        "axes",
        "pitch",
        "at",
        "frame_on_parent",
        "frame_on_child",
        "limits",
        "velocity_limit",
        "effort_limit",
        "damping",
        "stiffness",
        "rest",
        "friction",
        "freedoms",
        "drive",
        "cut",
        "keeps_coordinates",
        "locked_at",
        "initial_position",
        "initial_velocity"}},
      {"freedom",
       {"limits", "velocity_limit", "effort_limit", "damping", "stiffness", "rest", "friction"}},
      {"friction", {"sliding", "breakaway", "stribeck_velocity", "transition_velocity"}},
      {"drive", {"rotor_inertia", "gear_ratio", "carrier", "rotor_axis", "armature_only"}},
      {"frame", {"body", "pose"}},
      {"rod", {"body_a", "point_a", "body_b", "point_b", "length"}},
      {"coupling", {"follower", "leader", "ratio", "offset", "terms", "constant"}},
      {"term", {"hinge", "freedom", "coefficient"}},
      {"spring",
       {"body_a", "point_a", "body_b", "point_b", "stiffness", "rest_length", "damping"}}};
  return kTable;
}

const std::vector<std::string>& keys_of(std::string_view kind) {
  return key_table().find(kind)->second;
}

}  // namespace catena::yaml
