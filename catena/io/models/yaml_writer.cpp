// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <unordered_map>
#include <unordered_set>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/base/write_file.h"
#include "catena/io/models/yaml.h"
#include "catena/io/models/yaml_beam.h"
#include "catena/io/models/yaml_matrices.h"
#include "catena/model/flexible_body.h"
#include "catena/model/topology.h"
#include "catena/model/validation.h"

namespace catena {
namespace {

// Equality to the bit (0 and -0 differ), so that a file read back gives the same mechanism.
bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
bool same(const Vec3d& a, const Vec3d& b) {
  return same(a.x, b.x) && same(a.y, b.y) && same(a.z, b.z);
}
bool same(const Rotationd& a, const Rotationd& b) {
  for (int i = 0; i < 3; ++i)
    if (!same(a.matrix.row(i), b.matrix.row(i))) return false;
  return true;
}
bool same(const Transformd& a, const Transformd& b) {
  return same(a.rotation, b.rotation) && same(a.translation, b.translation);
}
bool same(const Friction& a, const Friction& b) {
  return same(a.sliding, b.sliding) && same(a.breakaway, b.breakaway) &&
         same(a.stribeck_velocity, b.stribeck_velocity) &&
         same(a.transition_velocity, b.transition_velocity);
}
bool same(const FreedomSettings& a, const FreedomSettings& b) {
  return same(a.lower, b.lower) && same(a.upper, b.upper) &&
         same(a.velocity_limit, b.velocity_limit) && same(a.effort_limit, b.effort_limit) &&
         same(a.damping, b.damping) && same(a.stiffness, b.stiffness) && same(a.rest, b.rest) &&
         same(a.friction, b.friction);
}

std::string yaml(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0.0 ? ".inf" : "-.inf";
  return number(value);
}

std::string yaml(const Vec3d& v) {
  return "[" + yaml(v.x) + ", " + yaml(v.y) + ", " + yaml(v.z) + "]";
}

template <class Values>
std::string yaml_list(const Values& values) {
  std::string text = "[";
  for (const double value : values) text += (text.size() > 1 ? ", " : "") + yaml(value);
  return text + "]";
}

// A list, or a number alone.
std::string coordinates(const std::vector<double>& values) {
  return values.size() == 1 ? yaml(values.front()) : yaml_list(values);
}

// A text that every YAML reader takes as this text: plain if it looks like a name.
std::string yaml(const std::string& text) {
  static const std::vector<std::string> kReserved{"null", "true", "false", "yes", "no", "on",
                                                  "off",  "y",    "n",     "x",   "z"};
  std::string lower = text;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const bool name =
      !text.empty() && (letter(text[0]) || text[0] == '_') &&
      std::all_of(text.begin(), text.end(), [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' || c == '/';
      });
  if (name && std::find(kReserved.begin(), kReserved.end(), lower) == kReserved.end()) return text;
  constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += "\\x";
      quoted += kHex[byte >> 4U];
      quoted += kHex[byte & 0xfU];
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// An angle, and how it is written.
struct Angle {
  double value;
  std::string text;
};

// Texts that an author may have written for this angle: itself, a round number, a part of π.
std::vector<Angle> plausible(double angle) {
  constexpr double kRounding = 1e12;
  constexpr double kNear = 1e-11;
  constexpr int kParts = 12;  // of π
  std::vector<Angle> angles;
  const double rounded = std::round(angle * kRounding) / kRounding + 0.0;
  angles.push_back({rounded, yaml(rounded)});
  for (const int part : {1, 2, 3, 4, 6, kParts}) {
    const double multiple = std::round(angle * part / std::numbers::pi);
    if (multiple == 0.0 || std::abs(multiple * std::numbers::pi / part - angle) > kNear) continue;
    // As the reader evaluates it: from the left.
    const int m = std::abs(static_cast<int>(multiple));
    const double sign = multiple < 0.0 ? -1.0 : 1.0;
    double value = m == 1 ? sign * std::numbers::pi : sign * m * std::numbers::pi;
    std::string text = m == 1 ? "pi" : std::to_string(m) + "*pi";
    if (part > 1) {
      value /= part;
      text += "/" + std::to_string(part);
    }
    angles.push_back({value, (sign < 0.0 ? "-" : "") + text});
    break;
  }
  if (!same(rounded, angle)) angles.push_back({angle, yaml(angle)});
  return angles;
}

// `rpy: [...]` if that gives this rotation to the bit, otherwise `rotation: [[...], ...]`.
std::string orientation(const Rotationd& r) {
  const auto& m = r.matrix.m;
  const double pitch = std::atan2(-m[2][0], std::hypot(m[0][0], m[1][0]));
  const double roll = std::atan2(m[2][1], m[2][2]);
  const double yaw = std::atan2(m[1][0], m[0][0]);
  for (const Angle& a : plausible(roll))
    for (const Angle& b : plausible(pitch))
      for (const Angle& c : plausible(yaw))
        if (same(Rotationd::from_rpy(a.value, b.value, c.value), r))
          return "rpy: [" + a.text + ", " + b.text + ", " + c.text + "]";
  return "rotation: [" + yaml(r.matrix.row(0)) + ", " + yaml(r.matrix.row(1)) + ", " +
         yaml(r.matrix.row(2)) + "]";
}

std::string yaml(const Transformd& pose) {
  if (same(pose.rotation, Rotationd::identity())) return yaml(pose.translation);
  std::string text = "{";
  if (!same(pose.translation, {})) text += "xyz: " + yaml(pose.translation) + ", ";
  return text + orientation(pose.rotation) + "}";
}

std::string flow(const BeamSection& s) {
  static constexpr const char* kShapes[] = {"values", "circle", "tube", "rectangle", "box"};
  std::string text = "{";
  const auto add = [&](const char* key, const std::string& value) {
    text += (text.size() > 1 ? ", " : "") + std::string(key) + ": " + value;
  };
  const auto add_number = [&](const char* key, double value) {
    if (!same(value, 0.0)) add(key, yaml(value));
  };
  const auto add_optional = [&](const char* key, const std::optional<double>& value) {
    if (value) add(key, yaml(*value));
  };
  if (s.shape != BeamSection::Shape::values) add("shape", kShapes[index(s.shape)]);
  add_number("radius", s.radius);
  add_number("inner_radius", s.inner_radius);
  add_number("width", s.width);
  add_number("height", s.height);
  add_number("thickness", s.thickness);
  add_optional("EA", s.values.extension);
  add_optional("EIy", s.values.bending_y);
  add_optional("EIz", s.values.bending_z);
  add_optional("GJ", s.values.torsion);
  add_number("mass_per_length", s.values.mass_per_length);
  const Vec3d rotary{s.values.rotary_x, s.values.rotary_y, s.values.rotary_z};
  if (!same(rotary, {})) add("rotary_inertia", yaml(rotary));
  return text + "}";
}

std::string flow(const ModalDamping& d) {
  if (same(d.rayleigh_mass, 0.0) && same(d.rayleigh_stiffness, 0.0) && d.bands.empty())
    return coordinates(d.ratios);
  std::string text =
      "{mass: " + yaml(d.rayleigh_mass) + ", stiffness: " + yaml(d.rayleigh_stiffness);
  if (!d.ratios.empty()) text += ", ratios: " + coordinates(d.ratios);
  if (!d.bands.empty()) {
    text += ", bands: [";
    for (std::size_t i = 0; i < d.bands.size(); ++i)
      text += std::string(i > 0 ? ", " : "") + "{below: " + yaml(d.bands[i].below) +
              ", ratio: " + yaml(d.bands[i].ratio) + "}";
    text += "]";
  }
  return text + "}";
}

// Modes, damping and model: the same of all flexible bodies.
std::string modal_words(const ModeChoice& modes, const ModalDamping& d, FlexibleModel model,
                        InertiaCompletion completion) {
  std::string text;
  const auto line = [&](const char* key, const std::string& value) {
    text += "      " + std::string(key) + ": " + value + "\n";
  };
  if (modes.count > 0) line("modes", std::to_string(modes.count));
  if (modes.frequency_limit > 0.0) line("frequency_limit", yaml(modes.frequency_limit));
  line("mode_set", std::string(to_string(modes.set)));
  if (!d.ratios.empty() || !d.bands.empty() || !same(d.rayleigh_mass, 0.0) ||
      !same(d.rayleigh_stiffness, 0.0))
    line("damping", flow(d));
  line("model", std::string(to_string(model)));
  if (completion != InertiaCompletion::automatic)
    line("completion", std::string(to_string(completion)));
  return text;
}

std::string beam_words(const BeamSettings& b) {
  std::string text;
  const auto line = [&](const char* key, const std::string& value) {
    text += "      " + std::string(key) + ": " + value + "\n";
  };
  line("length", yaml(b.length));
  line("section", flow(b.section));
  if (b.end_section) line("end_section", flow(*b.end_section));
  if (b.material)
    line("material", "{youngs_modulus: " + yaml(b.material->youngs_modulus) +
                         ", shear_modulus: " + yaml(b.material->shear_modulus) +
                         ", density: " + yaml(b.material->density) + "}");
  if (!same(b.pose, Transformd{})) line("pose", yaml(b.pose));
  if (!same(b.clamped_station, 0.0)) line("clamped_at", yaml(b.clamped_station));
  if (!b.attachments.empty()) {
    std::string all;
    for (const BeamAttachment& a : b.attachments) {
      const bool loaded = !same(a.load_mass, 0.0) || !same(a.load_inertia, {});
      all += (all.empty() ? "" : ", ") + yaml(a.name) + ": " +
             (loaded ? "{station: " + yaml(a.station) + ", load_mass: " + yaml(a.load_mass) +
                           ", load_inertia: " + yaml(a.load_inertia) + "}"
                     : yaml(a.station));
    }
    line("attachments", "{" + all + "}");
  }
  return text + modal_words(b.modes, b.damping, b.model, b.completion);
}

std::string words_of(const Body& body) {
  const MatricesBodySettings* m = matrices_of(body.flexible);
  if (m == nullptr) return beam_words(*body.flexible->beam);
  return yaml::write_matrices(*m) +
         modal_words(m->modes, m->modal_damping, m->model, m->completion);
}

class Writer {
 public:
  std::string run(const Description& d) {
    check(d);
    const Description defaults;
    line(0, "catena", "1");
    line(0, "name", yaml(d.name));
    line(0, "gravity", yaml(d.gravity));
    if (has_error(validate(d, {.strict = true})) && !has_error(validate(d, {.strict = false})))
      line(0, "strict", "false");
    // The parts of flexible bodies follow from their words.
    std::unordered_set<std::string> parts;
    std::vector<Body> bodies = d.bodies;
    std::vector<Hinge> hinges = d.hinges;
    for (const Hinge& hinge : d.hinges) {
      if (!is_internal(hinge.type)) continue;
      parts.insert(hinge.child);
      if (hinge.type == HingeType::modes) modes_.emplace(hinge.parent, &hinge);
    }
    std::erase_if(bodies, [&](const Body& body) { return parts.contains(body.name); });
    std::erase_if(hinges, [](const Hinge& hinge) { return is_internal(hinge.type); });
    section("bodies", bodies, [&](const Body& body) { write(body); });
    section("hinges", hinges, [&](const Hinge& hinge) { write(hinge); });
    section("frames", d.frames, [&](const Frame& frame) { write(frame); });
    section("rods", d.rods, [&](const Rod& rod) { write(rod); });
    section("couplings", d.couplings, [&](const Coupling& coupling) { write(coupling); });
    section("springs", d.springs, [&](const SpringDamper& spring) { write(spring); });
    return std::move(text_);
  }

 private:
  static void check(const Description& d) {
    std::vector<Diagnostic> problems;
    for (const Hinge& hinge : d.hinges)
      if (hinge.type == HingeType::custom)
        problems.push_back(
            {Severity::error, hinge.source,
             "hinge '" + hinge.name + "' is custom: its functions are code and cannot be written"});
    for (const Body& body : d.bodies)
      if (body.flexible && !body.flexible->beam && matrices_of(body.flexible) == nullptr)
        problems.push_back(
            {Severity::error, body.source,
             "flexible body '" + body.name +
                 "' was made of constants, not of a beam or of matrices; those cannot be "
                 "written"});
    for (const Coupling& coupling : d.couplings)
      if (coupling.function)
        problems.push_back(
            {Severity::error, coupling.source,
             "coupling '" + coupling.name + "' is a user function: code, which cannot be written"});
    if (!problems.empty()) throw ModelError(std::move(problems));
  }

  void line(int depth, const std::string& key, const std::string& value) {
    text_.append(to_size(2 * depth), ' ');
    text_ += key + (value.empty() ? ":" : ": ") + value + "\n";
  }

  // A setting of a thing, unless it is the default.
  template <class Value>
  void setting(const char* key, const Value& value, const Value& normal) {
    if (!same(value, normal)) line(2, key, yaml(value));
  }

  template <class Things, class Write>
  void section(const char* key, const Things& things, Write write_thing) {
    if (things.empty()) return;
    text_ += "\n";
    line(0, key, "");
    for (const auto& thing : things) {
      const std::size_t start = text_.size();
      line(1, yaml(thing.name), "");
      const std::size_t settings = text_.size();
      write_thing(thing);
      if (text_.size() > settings) continue;
      text_.resize(start);  // no settings at all
      line(1, yaml(thing.name), "{}");
    }
  }

  void write(const Body& body) {
    const BodySettings normal;
    setting("mass", body.mass, normal.mass);
    setting("center_of_mass", body.center_of_mass, normal.center_of_mass);
    const SymMat3d& i = body.inertia;
    const bool diagonal = same(Vec3d{i.xy, i.xz, i.yz}, Vec3d{});
    if (!diagonal)
      line(2, "inertia",
           "{xx: " + yaml(i.xx) + ", yy: " + yaml(i.yy) + ", zz: " + yaml(i.zz) +
               ", xy: " + yaml(i.xy) + ", xz: " + yaml(i.xz) + ", yz: " + yaml(i.yz) + "}");
    else if (!same(Vec3d{i.xx, i.yy, i.zz}, Vec3d{}))
      line(2, "inertia", yaml(Vec3d{i.xx, i.yy, i.zz}));
    if (!same(body.inertia_axes, normal.inertia_axes))
      line(2, "inertia_axes", "{" + orientation(body.inertia_axes) + "}");
    if (body.flexible) {
      line(2, "flexible", "");
      text_ += words_of(body);
      if (const auto modes = modes_.find(body.name); modes != modes_.end()) {
        if (!modes->second->initial_position.empty())
          line(3, "initial_position", coordinates(modes->second->initial_position));
        if (!modes->second->initial_velocity.empty())
          line(3, "initial_velocity", coordinates(modes->second->initial_velocity));
      }
    }
    if (!body.visuals.empty()) line(2, "visuals", "");
    for (const Visual& visual : body.visuals) text_ += "      - {" + flow(visual) + "}\n";
    if (!body.collisions.empty()) line(2, "collisions", "");
    for (const Collision& collision : body.collisions)
      text_ += "      - {" + flow(collision) + "}\n";
  }

  static std::string flow(const Visual& visual) {
    std::string text = shape_words(visual);
    const Visual normal;
    if (!std::equal(visual.colour.begin(), visual.colour.end(), normal.colour.begin(),
                    [](double a, double b) { return same(a, b); }))
      text += ", colour: " + yaml_list(visual.colour);
    return text;
  }

  static std::string flow(const Collision& collision) {
    std::string text = shape_words(collision);
    if (collision.friction) text += ", friction: " + yaml(*collision.friction);
    if (collision.restitution) text += ", restitution: " + yaml(*collision.restitution);
    return text;
  }

  // Of a visual or a collision.
  template <class Solid>
  static std::string shape_words(const Solid& visual) {
    static constexpr const char* kShapes[] = {"box", "cylinder", "sphere", "capsule", "mesh"};
    const Solid normal;
    using Shape = typename Solid::Shape;
    const Shape shape = visual.shape;
    const bool round = shape == Shape::cylinder || shape == Shape::capsule;
    std::string text = std::string("shape: ") + kShapes[index(shape)];
    if (!visual.name.empty()) text += ", name: " + yaml(visual.name);
    if (shape == Shape::box || !same(visual.size, normal.size))
      text += ", size: " + yaml(visual.size);
    if (round || shape == Shape::sphere || !same(visual.radius, normal.radius))
      text += ", radius: " + yaml(visual.radius);
    if (round || !same(visual.length, normal.length)) text += ", length: " + yaml(visual.length);
    if (shape == Shape::mesh || !visual.mesh.empty()) text += ", mesh: " + yaml(visual.mesh);
    if (!same(visual.pose, normal.pose)) text += ", pose: " + yaml(visual.pose);
    return text;
  }

  // The settings of a freedom that are not the default, as "key: value" each.
  static std::vector<std::string> settings_of(const FreedomSettings& f) {
    const FreedomSettings normal;
    std::vector<std::string> found;
    const auto add = [&](const char* key, double value, double usual) {
      if (!same(value, usual)) found.push_back(std::string(key) + ": " + yaml(value));
    };
    if (!same(f.lower, normal.lower) || !same(f.upper, normal.upper))
      found.push_back("limits: [" + yaml(f.lower) + ", " + yaml(f.upper) + "]");
    add("velocity_limit", f.velocity_limit, normal.velocity_limit);
    add("effort_limit", f.effort_limit, normal.effort_limit);
    add("damping", f.damping, normal.damping);
    add("stiffness", f.stiffness, normal.stiffness);
    add("rest", f.rest, normal.rest);
    Friction sliding;
    sliding.sliding = f.friction.sliding;
    if (same(f.friction, sliding)) {
      add("friction", f.friction.sliding, normal.friction.sliding);
    } else {
      found.push_back("friction: {sliding: " + yaml(f.friction.sliding) +
                      ", breakaway: " + yaml(f.friction.breakaway) +
                      ", stribeck_velocity: " + yaml(f.friction.stribeck_velocity) +
                      ", transition_velocity: " + yaml(f.friction.transition_velocity) + "}");
    }
    return found;
  }

  void write_freedoms(const Hinge& hinge) {
    std::size_t count = hinge.freedoms.size();
    while (count > 0 && same(hinge.freedoms[count - 1], FreedomSettings{})) --count;
    if (count == 0) return;
    if (count == 1 && freedoms_of(hinge.type) == 1) {
      for (const std::string& text : settings_of(hinge.freedoms[0])) text_ += "    " + text + "\n";
      return;
    }
    line(2, "freedoms", "");
    for (std::size_t i = 0; i < count; ++i) {
      std::string all;
      for (const std::string& text : settings_of(hinge.freedoms[i]))
        all += (all.empty() ? "" : ", ") + text;
      text_ += "      - {" + all + "}\n";
    }
  }

  void write(const Hinge& hinge) {
    const HingeSettings normal;
    line(2, "type", std::string(to_string(hinge.type)));
    line(2, "parent", yaml(hinge.parent));
    line(2, "child", yaml(hinge.child));
    if (hinge.axes.size() == 1) {
      line(2, "axis", yaml(hinge.axes.front()));
    } else if (!hinge.axes.empty()) {
      std::string axes;
      for (const Vec3d& axis : hinge.axes) axes += (axes.empty() ? "" : ", ") + yaml(axis);
      line(2, "axes", "[" + axes + "]");
    }
    setting("pitch", hinge.pitch, normal.pitch);
    if (same(hinge.frame_on_child, normal.frame_on_child)) {
      setting("at", hinge.frame_on_parent, normal.frame_on_parent);
    } else {
      setting("frame_on_parent", hinge.frame_on_parent, normal.frame_on_parent);
      setting("frame_on_child", hinge.frame_on_child, normal.frame_on_child);
    }
    write_freedoms(hinge);
    if (hinge.drive) write(*hinge.drive);
    if (hinge.cut != Cut::automatic) line(2, "cut", hinge.cut == Cut::always ? "always" : "never");
    if (hinge.keeps_coordinates) line(2, "keeps_coordinates", "true");
    if (!hinge.locked_at.empty()) line(2, "locked_at", coordinates(hinge.locked_at));
    if (!hinge.initial_position.empty())
      line(2, "initial_position", coordinates(hinge.initial_position));
    if (!hinge.initial_velocity.empty())
      line(2, "initial_velocity", coordinates(hinge.initial_velocity));
  }

  void write(const DriveSettings& drive) {
    std::string text =
        "{rotor_inertia: " + yaml(drive.rotor_inertia) + ", gear_ratio: " + yaml(drive.gear_ratio);
    if (!drive.carrier.empty()) text += ", carrier: " + yaml(drive.carrier);
    if (drive.rotor_axis) text += ", rotor_axis: " + yaml(*drive.rotor_axis);
    if (drive.armature_only) text += ", armature_only: true";
    line(2, "drive", text + "}");
  }

  void write(const Frame& frame) {
    line(2, "body", yaml(frame.body));
    setting("pose", frame.pose, Transformd{});
  }

  template <class Ends>
  void write_ends(const Ends& thing) {
    line(2, "body_a", yaml(thing.body_a));
    setting("point_a", thing.point_a, Vec3d{});
    line(2, "body_b", yaml(thing.body_b));
    setting("point_b", thing.point_b, Vec3d{});
  }

  void write(const Rod& rod) {
    write_ends(rod);
    line(2, "length", yaml(rod.length));
  }

  void write(const Coupling& coupling) {
    const std::vector<Coupling::Term>& terms = coupling.terms;
    const bool gear = terms.size() == 2 && terms[0].freedom == 0 && terms[1].freedom == 0 &&
                      same(terms[0].coefficient, 1.0);
    if (gear) {
      line(2, "follower", yaml(terms[0].hinge));
      line(2, "leader", yaml(terms[1].hinge));
      line(2, "ratio", yaml(-terms[1].coefficient));
      setting("offset", coupling.constant, 0.0);
      return;
    }
    line(2, "terms", terms.empty() ? "[]" : "");
    for (const Coupling::Term& term : terms) {
      text_ += "      - {hinge: " + yaml(term.hinge);
      if (term.freedom != 0) text_ += ", freedom: " + std::to_string(term.freedom);
      text_ += ", coefficient: " + yaml(term.coefficient) + "}\n";
    }
    setting("constant", coupling.constant, 0.0);
  }

  void write(const SpringDamper& spring) {
    const SpringDamper normal;
    write_ends(spring);
    setting("stiffness", spring.stiffness, normal.stiffness);
    setting("rest_length", spring.rest_length, normal.rest_length);
    setting("damping", spring.damping, normal.damping);
  }

  std::string text_;
  std::unordered_map<std::string, const Hinge*> modes_;  // by flexible body
};

}  // namespace

std::string write_beam(const BeamSettings& beam) { return beam_words(beam); }

std::string write_yaml(const Description& description) { return Writer().run(description); }

void save_yaml(const Description& description, const std::string& path) {
  write_file(path, write_yaml(description));
}

}  // namespace catena
