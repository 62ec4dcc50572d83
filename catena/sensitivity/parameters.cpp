// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/parameters.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/model/builder.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr const char* kAxes[3] = {"x", "y", "z"};
constexpr const char* kEntries[6] = {"xx", "xy", "xz", "yy", "yz", "zz"};

// As MechanismBuilder::add_gear() writes one: q = ratio · q_other + offset.
bool is_gear(const Coupling& c) { return c.terms.size() == 2 && c.terms[0].coefficient == 1.0; }

// The modes and attachments of flexible bodies have no parameters of their own.
bool is_internal_body(const Mechanism& m, const std::string& name) {
  for (const FlexiblePlace& body : m.flexible_bodies()) {
    if (name == modes_name(body.name)) return true;
    for (const FlexiblePlace::Attachment& a : body.attachments)
      if (name == m.bodies()[index(a.body)].name) return true;
  }
  return false;
}

// Of a universal or gimbal hinge.
int further_axes(const Hinge& hinge) {
  return hinge.type == HingeType::universal ? 2 : hinge.type == HingeType::gimbal ? 3 : 0;
}

}  // namespace

ParameterSet::ParameterSet(const Mechanism& mechanism, std::vector<std::string> names)
    : m_(mechanism), names_(std::move(names)) {
  for (const std::string& name : names_) {
    const std::optional<Parameter> found = find(m_, name);
    if (!found)
      throw NameError("no parameter is named '" + name + "'" + did_you_mean(name, all_names(m_)));
    parameters_.push_back(*found);
  }
  make_probes();
}

std::vector<std::string> ParameterSet::all_names(const Mechanism& m) {
  std::vector<std::string> names;
  const Description& d = m.description();
  for (const FlexiblePlace& body : m.flexible_bodies())
    for (const FlexibleBody::StiffnessPart& part : body.constants->stiffness_parts)
      names.push_back("body." + body.name + "." + part.name);
  for (const Body& body : d.bodies) {
    if (is_internal_body(m, body.name)) continue;
    const std::string own = "body." + body.name + ".";
    names.push_back(own + "mass");
    for (const char* axis : kAxes) names.push_back(own + "com." + axis);
    for (const char* entry : kEntries) names.push_back(own + "inertia." + entry);
  }
  for (const char* axis : kAxes) names.push_back(std::string("gravity.") + axis);
  for (std::size_t h = 0; h < d.hinges.size(); ++h) {
    const Hinge& hinge = d.hinges[h];
    if (is_internal(hinge.type)) continue;
    const std::string own = "hinge." + hinge.name + ".";
    const int freedoms = m.hinges()[h].node >= 0 ? m.hinges()[h].freedoms : 0;
    for (const std::string word : {"damping", "stiffness", "rest", "friction"})
      for (int k = 0; k < freedoms; ++k) {
        const bool has_coordinate =
            m.coordinate_of_freedom()[index(m.hinges()[h].v_index + k)] >= 0;
        if (!has_coordinate && (word == "stiffness" || word == "rest")) continue;
        names.push_back(own + word + (freedoms > 1 ? "." + std::to_string(k + 1) : ""));
      }
    if (hinge.drive) {
      names.push_back(own + "rotor_inertia");
      names.push_back(own + "gear_ratio");
    }
    for (const char* word : {"position", "rotation", "child_position"})
      for (const char* axis : kAxes) names.push_back(own + word + "." + axis);
    if (hinge.type == HingeType::revolute || hinge.type == HingeType::prismatic ||
        hinge.type == HingeType::screw || hinge.type == HingeType::cylindrical)
      for (const char* axis : kAxes) names.push_back(own + "axis." + axis);
    for (int k = 0; k < further_axes(hinge); ++k)
      for (const char* axis : kAxes)
        names.push_back(own + "axis." + std::to_string(k + 1) + "." + axis);
    if (hinge.type == HingeType::screw) names.push_back(own + "pitch");
  }
  for (const SpringDamper& spring : d.springs) {
    const std::string own = "spring." + spring.name + ".";
    for (const char* word : {"stiffness", "rest_length", "damping"}) names.push_back(own + word);
    for (const char* word : {"point_a.", "point_b."})
      for (const char* axis : kAxes) names.push_back(own + word + axis);
  }
  for (const Rod& rod : d.rods) names.push_back("rod." + rod.name + ".length");
  for (const Coupling& coupling : d.couplings) {
    if (coupling.function) continue;
    const std::string own = "coupling." + coupling.name + ".";
    if (is_gear(coupling)) {
      names.push_back(own + "ratio");
      names.push_back(own + "offset");
      continue;
    }
    for (std::size_t k = 0; k < coupling.terms.size(); ++k)
      names.push_back(own + "coefficient." + std::to_string(k + 1));
    names.push_back(own + "constant");
  }
  return names;
}

namespace {

// The rest of a name after `head`, or nothing.
std::string after(const std::string& head, const std::string& name) {
  return name.size() > head.size() && name.starts_with(head) ? name.substr(head.size())
                                                             : std::string();
}

template <class Words>
int place_among(const Words& words, const std::string& word) {
  for (std::size_t i = 0; i < std::size(words); ++i)
    if (word == words[i]) return static_cast<int>(i);
  return -1;
}

// The axis of a name that is `head` and x, y or z; −1: it is another.
int axis_after(const std::string& head, const std::string& name) {
  return place_among(kAxes, after(head, name));
}

}  // namespace

std::optional<ParameterSet::Parameter> ParameterSet::find(const Mechanism& m,
                                                          const std::string& name) {
  const Description& d = m.description();
  if (const int axis = axis_after("gravity.", name); axis >= 0)
    return Parameter{Kind::gravity, 0, axis};
  for (int i = 0; i < static_cast<int>(m.flexible_bodies().size()); ++i) {
    const FlexiblePlace& body = m.flexible_bodies()[index(i)];
    const auto& parts = body.constants->stiffness_parts;
    for (int k = 0; k < static_cast<int>(parts.size()); ++k)
      if (name == "body." + body.name + "." + parts[index(k)].name)
        return Parameter{Kind::elastic, i, k};
  }
  for (int i = 0; i < static_cast<int>(d.bodies.size()); ++i) {
    if (is_internal_body(m, d.bodies[index(i)].name)) continue;
    const std::string own = "body." + d.bodies[index(i)].name + ".";
    if (name == own + "mass") return Parameter{Kind::mass, i, 0};
    if (const int axis = axis_after(own + "com.", name); axis >= 0)
      return Parameter{Kind::com, i, axis};
    if (const int entry = place_among(kEntries, after(own + "inertia.", name)); entry >= 0)
      return Parameter{Kind::inertia, i, entry};
  }
  for (int i = 0; i < static_cast<int>(d.hinges.size()); ++i)
    if (const auto found = find_of_hinge(m, i, name)) return found;
  for (int i = 0; i < static_cast<int>(d.springs.size()); ++i)
    if (const auto found = find_of_spring(d.springs[index(i)], i, name)) return found;
  for (int i = 0; i < static_cast<int>(d.rods.size()); ++i)
    if (name == "rod." + d.rods[index(i)].name + ".length")
      return Parameter{Kind::rod_length, i, 0};
  for (int i = 0; i < static_cast<int>(d.couplings.size()); ++i)
    if (const auto found = find_of_coupling(d.couplings[index(i)], i, name)) return found;
  return std::nullopt;
}

std::optional<ParameterSet::Parameter> ParameterSet::find_of_hinge(const Mechanism& m, int i,
                                                                   const std::string& name) {
  const Hinge& hinge = m.description().hinges[index(i)];
  const HingePlace& where = m.hinges()[index(i)];
  const std::string own = "hinge." + hinge.name + ".";
  const std::string rest = after(own, name);
  if (rest.empty() || is_internal(hinge.type)) return std::nullopt;
  const int freedoms = where.node >= 0 ? where.freedoms : 0;
  const std::pair<const char*, Kind> elements[] = {{"damping", Kind::damping},
                                                   {"stiffness", Kind::stiffness},
                                                   {"rest", Kind::rest},
                                                   {"friction", Kind::friction}};
  for (const auto& [word, kind] : elements)
    for (int k = 0; k < freedoms; ++k)
      if (rest == word + (freedoms > 1 ? "." + std::to_string(k + 1) : std::string()))
        return Parameter{kind, i, k};
  if (hinge.drive && rest == "rotor_inertia") return Parameter{Kind::rotor_inertia, i, 0};
  if (hinge.drive && rest == "gear_ratio") return Parameter{Kind::gear_ratio, i, 0};
  const std::pair<const char*, Kind> vectors[] = {{"position.", Kind::position},
                                                  {"rotation.", Kind::rotation},
                                                  {"child_position.", Kind::child_position}};
  for (const auto& [word, kind] : vectors)
    if (const int axis = axis_after(word, rest); axis >= 0) return Parameter{kind, i, axis};
  const bool has_axis = hinge.type == HingeType::revolute || hinge.type == HingeType::prismatic ||
                        hinge.type == HingeType::screw || hinge.type == HingeType::cylindrical;
  if (const int axis = axis_after("axis.", rest); axis >= 0 && has_axis)
    return Parameter{Kind::axis, i, axis};
  for (int k = 0; k < further_axes(hinge); ++k)
    if (const int axis = axis_after("axis." + std::to_string(k + 1) + ".", rest); axis >= 0)
      return Parameter{Kind::further_axis, i, 3 * k + axis};
  if (rest == "pitch" && hinge.type == HingeType::screw) return Parameter{Kind::pitch, i, 0};
  return std::nullopt;
}

std::optional<ParameterSet::Parameter> ParameterSet::find_of_spring(const SpringDamper& spring,
                                                                    int i,
                                                                    const std::string& name) {
  const std::string rest = after("spring." + spring.name + ".", name);
  if (rest == "stiffness") return Parameter{Kind::spring_stiffness, i, 0};
  if (rest == "rest_length") return Parameter{Kind::spring_rest, i, 0};
  if (rest == "damping") return Parameter{Kind::spring_damping, i, 0};
  if (const int axis = axis_after("point_a.", rest); axis >= 0)
    return Parameter{Kind::spring_point_a, i, axis};
  if (const int axis = axis_after("point_b.", rest); axis >= 0)
    return Parameter{Kind::spring_point_b, i, axis};
  return std::nullopt;
}

std::optional<ParameterSet::Parameter> ParameterSet::find_of_coupling(const Coupling& coupling,
                                                                      int i,
                                                                      const std::string& name) {
  const std::string rest = after("coupling." + coupling.name + ".", name);
  if (rest.empty() || coupling.function) return std::nullopt;
  if (is_gear(coupling)) {
    if (rest == "ratio") return Parameter{Kind::ratio, i, 1};
    if (rest == "offset") return Parameter{Kind::constant, i, 0};
    return std::nullopt;
  }
  for (int k = 0; k < static_cast<int>(coupling.terms.size()); ++k)
    if (rest == "coefficient." + std::to_string(k + 1)) return Parameter{Kind::coefficient, i, k};
  if (rest == "constant") return Parameter{Kind::constant, i, 0};
  return std::nullopt;
}

namespace {

FreedomSettings& freedom_of(Hinge& hinge, int entry) {
  if (hinge.freedoms.size() <= to_size(entry)) hinge.freedoms.resize(to_size(entry) + 1);
  return hinge.freedoms[index(entry)];
}

// K in proportion to one of its parameters; the hinges of the body share the new constants.
void change_stiffness(const FlexiblePlace& place, int part_index, double by, Description& d) {
  std::shared_ptr<const FlexibleBody> old = place.constants;
  for (const Body& body : d.bodies)
    if (body.name == place.name && body.flexible) old = body.flexible;
  auto changed = std::make_shared<FlexibleBody>(*old);
  FlexibleBody::StiffnessPart& part = changed->stiffness_parts[index(part_index)];
  changed->stiffness += by / part.value * part.matrix;
  part.matrix *= 1.0 + by / part.value;
  part.value += by;
  changed->beam = nullptr;  // the words no longer fit
  for (Body& body : d.bodies)
    if (body.name == place.name) body.flexible = changed;
  for (Hinge& hinge : d.hinges)
    if (is_internal(hinge.type) &&
        (hinge.parent == place.name || hinge.parent == modes_name(place.name)))
      hinge.flexible = changed;
}

}  // namespace

double* ParameterSet::number_of(const Parameter& p, Description& d) {
  const std::size_t i = to_size(p.index);
  switch (p.kind) {
    case Kind::mass:
      return &d.bodies[i].mass;
    case Kind::com:
      return &d.bodies[i].center_of_mass[p.entry];
    case Kind::inertia: {
      SymMat3d& s = d.bodies[i].inertia;
      return std::array{&s.xx, &s.xy, &s.xz, &s.yy, &s.yz, &s.zz}[index(p.entry)];
    }
    case Kind::gravity:
      return &d.gravity[p.entry];
    case Kind::damping:
      return &freedom_of(d.hinges[i], p.entry).damping;
    case Kind::stiffness:
      return &freedom_of(d.hinges[i], p.entry).stiffness;
    case Kind::rest:
      return &freedom_of(d.hinges[i], p.entry).rest;
    case Kind::friction:
      return &freedom_of(d.hinges[i], p.entry).friction.sliding;
    case Kind::rotor_inertia:
      return &d.hinges[i].drive->rotor_inertia;
    case Kind::gear_ratio:
      return &d.hinges[i].drive->gear_ratio;
    case Kind::spring_stiffness:
      return &d.springs[i].stiffness;
    case Kind::spring_rest:
      return &d.springs[i].rest_length;
    case Kind::spring_damping:
      return &d.springs[i].damping;
    case Kind::spring_point_a:
      return &d.springs[i].point_a[p.entry];
    case Kind::spring_point_b:
      return &d.springs[i].point_b[p.entry];
    case Kind::position:
      return &d.hinges[i].frame_on_parent.translation[p.entry];
    case Kind::child_position:
      return &d.hinges[i].frame_on_child.translation[p.entry];
    case Kind::pitch:
      return &d.hinges[i].pitch;
    case Kind::rod_length:
      return &d.rods[i].length;
    case Kind::coefficient:
    case Kind::ratio:
      return &d.couplings[i].terms[index(p.entry)].coefficient;
    case Kind::constant:
      return &d.couplings[i].constant;
    case Kind::rotation:
    case Kind::axis:
    case Kind::further_axis:
    case Kind::elastic:
      break;
  }
  return nullptr;
}

void ParameterSet::change(const Parameter& p, double by, Description& d) const {
  if (double* number = number_of(p, d)) {
    *number += p.kind == Kind::ratio ? -by : by;
    return;
  }
  if (p.kind == Kind::elastic) {
    change_stiffness(m_.flexible_bodies()[index(p.index)], p.entry, by, d);
    return;
  }
  Hinge& hinge = d.hinges[index(p.index)];
  if (p.kind == Kind::rotation) {
    Vec3d along = Vec3d::zero();
    along[p.entry] = by;
    hinge.frame_on_parent.rotation = hinge.frame_on_parent.rotation * exp_rotation(along);
    return;
  }
  const bool one = p.kind == Kind::axis;
  if (hinge.axes.empty())
    hinge.axes = one ? std::vector{Vec3d::unit_z()}
                     : std::vector{Vec3d::unit_x(), Vec3d::unit_y(), Vec3d::unit_z()};
  if (!one) hinge.axes.resize(to_size(further_axes(hinge)));
  Vec3d& axis = hinge.axes[one ? 0 : index(p.entry / 3)];
  axis = normalized(axis);
  axis[p.entry % 3] += by;
}

VectorXd ParameterSet::values() const {
  VectorXd x = VectorXd::Zero(size());
  Description d = m_.description();
  for (Index k = 0; k < x.size(); ++k) {
    const Parameter& p = parameters_[index(k)];
    if (const double* number = number_of(p, d)) x[k] = p.kind == Kind::ratio ? -*number : *number;
    if (p.kind == Kind::elastic)
      x[k] = m_.flexible_bodies()[index(p.index)].constants->stiffness_parts[index(p.entry)].value;
  }
  return x;
}

Mechanism ParameterSet::with(const VectorXd& wanted) const {
  return MechanismBuilder(changed(wanted)).finish({.strict = false});
}

Description ParameterSet::changed(const VectorXd& wanted) const {
  if (wanted.size() != size())
    throw NumericalError("the parameter set has " + std::to_string(size()) + " values, not " +
                         std::to_string(wanted.size()));
  const VectorXd now = values();
  Description d = m_.description();
  for (Index k = 0; k < now.size(); ++k) change(parameters_[index(k)], wanted[k] - now[k], d);
  return d;
}

std::string ParameterSet::full_name(const Mechanism& m, const std::string& text) {
  if (find(m, text)) return text;
  for (std::size_t dot = text.find('.'); dot != std::string::npos; dot = text.find('.', dot + 1)) {
    const std::string kind = text.substr(0, dot), name = text.substr(dot + 1);
    for (const char* of : {"body.", "hinge.", "spring.", "rod.", "coupling."})
      if (const std::string full = of + name + "." + kind; find(m, full)) return full;
  }
  // Of a kind that there is, so that the nearest name can be found.
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos) return text;
  const std::string ending = "." + text.substr(0, dot);
  for (const std::string& name : all_names(m))
    if (name.ends_with(ending)) return name.substr(0, name.find('.')) + text.substr(dot) + ending;
  return text;
}

}  // namespace catena
