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
    bool found = false;
    parameters_.push_back(find(m_, name, found));
    if (!found)
      throw NameError("no parameter is named '" + name + "'" + did_you_mean(name, all_names(m_)));
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

ParameterSet::Parameter ParameterSet::find(const Mechanism& m, const std::string& name,
                                           bool& found) {
  found = true;
  const Description& d = m.description();
  // What follows `head`, or nothing.
  const auto after = [&](const std::string& head) {
    return name.size() > head.size() && name.compare(0, head.size(), head) == 0
               ? name.substr(head.size())
               : std::string();
  };
  const auto place = [](const std::string& word, const auto& words) {
    for (std::size_t i = 0; i < std::size(words); ++i)
      if (word == words[i]) return static_cast<int>(i);
    return -1;
  };
  if (const int axis = place(after("gravity."), kAxes); axis >= 0) return {Kind::gravity, 0, axis};
  for (int i = 0; i < static_cast<int>(m.flexible_bodies().size()); ++i) {
    const FlexiblePlace& body = m.flexible_bodies()[index(i)];
    const auto& parts = body.constants->stiffness_parts;
    for (int k = 0; k < static_cast<int>(parts.size()); ++k)
      if (name == "body." + body.name + "." + parts[index(k)].name) return {Kind::elastic, i, k};
  }
  for (int i = 0; i < static_cast<int>(d.bodies.size()); ++i) {
    if (is_internal_body(m, d.bodies[index(i)].name)) continue;
    const std::string own = "body." + d.bodies[index(i)].name + ".";
    if (name == own + "mass") return {Kind::mass, i, 0};
    if (const int axis = place(after(own + "com."), kAxes); axis >= 0) return {Kind::com, i, axis};
    if (const int entry = place(after(own + "inertia."), kEntries); entry >= 0)
      return {Kind::inertia, i, entry};
  }
  for (int i = 0; i < static_cast<int>(d.hinges.size()); ++i) {
    const Hinge& hinge = d.hinges[index(i)];
    const HingePlace& where = m.hinges()[index(i)];
    if (is_internal(hinge.type)) continue;
    const std::string own = "hinge." + hinge.name + ".";
    const std::string rest = after(own);
    if (rest.empty()) continue;
    const int freedoms = where.node >= 0 ? where.freedoms : 0;
    const std::pair<const char*, Kind> elements[] = {{"damping", Kind::damping},
                                                     {"stiffness", Kind::stiffness},
                                                     {"rest", Kind::rest},
                                                     {"friction", Kind::friction}};
    for (const auto& [word, kind] : elements)
      for (int k = 0; k < freedoms; ++k)
        if (rest == word + (freedoms > 1 ? "." + std::to_string(k + 1) : std::string()))
          return {kind, i, k};
    if (hinge.drive && rest == "rotor_inertia") return {Kind::rotor_inertia, i, 0};
    if (hinge.drive && rest == "gear_ratio") return {Kind::gear_ratio, i, 0};
    if (const int axis = place(after(own + "position."), kAxes); axis >= 0)
      return {Kind::position, i, axis};
    if (const int axis = place(after(own + "rotation."), kAxes); axis >= 0)
      return {Kind::rotation, i, axis};
    if (const int axis = place(after(own + "child_position."), kAxes); axis >= 0)
      return {Kind::child_position, i, axis};
    const bool has_axis = hinge.type == HingeType::revolute || hinge.type == HingeType::prismatic ||
                          hinge.type == HingeType::screw || hinge.type == HingeType::cylindrical;
    if (const int axis = place(after(own + "axis."), kAxes); axis >= 0 && has_axis)
      return {Kind::axis, i, axis};
    for (int k = 0; k < further_axes(hinge); ++k)
      if (const int axis = place(after(own + "axis." + std::to_string(k + 1) + "."), kAxes);
          axis >= 0)
        return {Kind::further_axis, i, 3 * k + axis};
    if (rest == "pitch" && hinge.type == HingeType::screw) return {Kind::pitch, i, 0};
  }
  for (int i = 0; i < static_cast<int>(d.springs.size()); ++i) {
    const std::string own = "spring." + d.springs[index(i)].name + ".";
    if (name == own + "stiffness") return {Kind::spring_stiffness, i, 0};
    if (name == own + "rest_length") return {Kind::spring_rest, i, 0};
    if (name == own + "damping") return {Kind::spring_damping, i, 0};
    if (const int axis = place(after(own + "point_a."), kAxes); axis >= 0)
      return {Kind::spring_point_a, i, axis};
    if (const int axis = place(after(own + "point_b."), kAxes); axis >= 0)
      return {Kind::spring_point_b, i, axis};
  }
  for (int i = 0; i < static_cast<int>(d.rods.size()); ++i)
    if (name == "rod." + d.rods[index(i)].name + ".length") return {Kind::rod_length, i, 0};
  for (int i = 0; i < static_cast<int>(d.couplings.size()); ++i) {
    const Coupling& coupling = d.couplings[index(i)];
    const std::string rest = after("coupling." + coupling.name + ".");
    if (rest.empty() || coupling.function) continue;
    if (is_gear(coupling)) {
      if (rest == "ratio") return {Kind::ratio, i, 1};
      if (rest == "offset") return {Kind::constant, i, 0};
      continue;
    }
    for (int k = 0; k < static_cast<int>(coupling.terms.size()); ++k)
      if (rest == "coefficient." + std::to_string(k + 1)) return {Kind::coefficient, i, k};
    if (rest == "constant") return {Kind::constant, i, 0};
  }
  found = false;
  return {};
}

namespace {

FreedomSettings& freedom_of(Hinge& hinge, int entry) {
  if (hinge.freedoms.size() <= to_size(entry)) hinge.freedoms.resize(to_size(entry) + 1);
  return hinge.freedoms[index(entry)];
}

// K in proportion to one of its parameters; the hinges of the body share the new constants.
void change_stiffness(const FlexiblePlace& place, int part_index, double by, Description& d) {
  std::shared_ptr<const FlexibleBody> old;
  for (const Body& body : d.bodies)
    if (body.name == place.name) old = body.flexible;
  if (!old) old = place.constants;
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

void ParameterSet::change(const Parameter& p, double by, Description& d) const {
  const std::size_t i = to_size(p.index);
  Vec3d along = Vec3d::zero();
  if (p.entry < 3) along[p.entry] = by;
  switch (p.kind) {
    case Kind::mass:
      d.bodies[i].mass += by;
      break;
    case Kind::com:
      d.bodies[i].center_of_mass += along;
      break;
    case Kind::inertia: {
      SymMat3d& s = d.bodies[i].inertia;
      *std::array{&s.xx, &s.xy, &s.xz, &s.yy, &s.yz, &s.zz}[index(p.entry)] += by;
      break;
    }
    case Kind::gravity:
      d.gravity += along;
      break;
    case Kind::damping:
      freedom_of(d.hinges[i], p.entry).damping += by;
      break;
    case Kind::stiffness:
      freedom_of(d.hinges[i], p.entry).stiffness += by;
      break;
    case Kind::rest:
      freedom_of(d.hinges[i], p.entry).rest += by;
      break;
    case Kind::friction:
      freedom_of(d.hinges[i], p.entry).friction.sliding += by;
      break;
    case Kind::rotor_inertia:
      d.hinges[i].drive->rotor_inertia += by;
      break;
    case Kind::gear_ratio:
      d.hinges[i].drive->gear_ratio += by;
      break;
    case Kind::spring_stiffness:
      d.springs[i].stiffness += by;
      break;
    case Kind::spring_rest:
      d.springs[i].rest_length += by;
      break;
    case Kind::spring_damping:
      d.springs[i].damping += by;
      break;
    case Kind::spring_point_a:
      d.springs[i].point_a += along;
      break;
    case Kind::spring_point_b:
      d.springs[i].point_b += along;
      break;
    case Kind::elastic:
      change_stiffness(m_.flexible_bodies()[i], p.entry, by, d);
      break;
    case Kind::position:
      d.hinges[i].frame_on_parent.translation += along;
      break;
    case Kind::rotation:
      d.hinges[i].frame_on_parent.rotation =
          d.hinges[i].frame_on_parent.rotation * exp_rotation(along);
      break;
    case Kind::child_position:
      d.hinges[i].frame_on_child.translation += along;
      break;
    case Kind::axis: {
      Hinge& hinge = d.hinges[i];
      if (hinge.axes.empty()) hinge.axes = {Vec3d::unit_z()};
      hinge.axes[0] = normalized(hinge.axes[0]) + along;
      break;
    }
    case Kind::further_axis: {
      Hinge& hinge = d.hinges[i];
      if (hinge.axes.empty()) hinge.axes = {Vec3d::unit_x(), Vec3d::unit_y(), Vec3d::unit_z()};
      hinge.axes.resize(to_size(further_axes(hinge)));
      Vec3d& axis = hinge.axes[index(p.entry / 3)];
      axis = normalized(axis);
      axis[p.entry % 3] += by;
      break;
    }
    case Kind::pitch:
      d.hinges[i].pitch += by;
      break;
    case Kind::rod_length:
      d.rods[i].length += by;
      break;
    case Kind::coefficient:
      d.couplings[i].terms[index(p.entry)].coefficient += by;
      break;
    case Kind::ratio:
      d.couplings[i].terms[index(p.entry)].coefficient -= by;
      break;
    case Kind::constant:
      d.couplings[i].constant += by;
      break;
  }
}

VectorXd ParameterSet::values() const {
  VectorXd x = VectorXd::Zero(size());
  const Description& d = m_.description();
  for (Index k = 0; k < x.size(); ++k) {
    const Parameter& p = parameters_[index(k)];
    const std::size_t i = to_size(p.index);
    const auto freedom = [&] {
      const Hinge& h = d.hinges[i];
      return to_size(p.entry) < h.freedoms.size() ? h.freedoms[index(p.entry)] : FreedomSettings{};
    };
    switch (p.kind) {
      case Kind::mass:
        x[k] = d.bodies[i].mass;
        break;
      case Kind::com:
        x[k] = d.bodies[i].center_of_mass[p.entry];
        break;
      case Kind::inertia: {
        const SymMat3d& s = d.bodies[i].inertia;
        x[k] = std::array{s.xx, s.xy, s.xz, s.yy, s.yz, s.zz}[index(p.entry)];
        break;
      }
      case Kind::gravity:
        x[k] = d.gravity[p.entry];
        break;
      case Kind::damping:
        x[k] = freedom().damping;
        break;
      case Kind::stiffness:
        x[k] = freedom().stiffness;
        break;
      case Kind::rest:
        x[k] = freedom().rest;
        break;
      case Kind::friction:
        x[k] = freedom().friction.sliding;
        break;
      case Kind::rotor_inertia:
        x[k] = d.hinges[i].drive->rotor_inertia;
        break;
      case Kind::gear_ratio:
        x[k] = d.hinges[i].drive->gear_ratio;
        break;
      case Kind::spring_stiffness:
        x[k] = d.springs[i].stiffness;
        break;
      case Kind::spring_rest:
        x[k] = d.springs[i].rest_length;
        break;
      case Kind::spring_damping:
        x[k] = d.springs[i].damping;
        break;
      case Kind::spring_point_a:
        x[k] = d.springs[i].point_a[p.entry];
        break;
      case Kind::spring_point_b:
        x[k] = d.springs[i].point_b[p.entry];
        break;
      case Kind::elastic:
        x[k] = m_.flexible_bodies()[i].constants->stiffness_parts[index(p.entry)].value;
        break;
      case Kind::position:
        x[k] = d.hinges[i].frame_on_parent.translation[p.entry];
        break;
      case Kind::child_position:
        x[k] = d.hinges[i].frame_on_child.translation[p.entry];
        break;
      case Kind::pitch:
        x[k] = d.hinges[i].pitch;
        break;
      case Kind::rod_length:
        x[k] = d.rods[i].length;
        break;
      case Kind::coefficient:
        x[k] = d.couplings[i].terms[index(p.entry)].coefficient;
        break;
      case Kind::ratio:
        x[k] = -d.couplings[i].terms[index(p.entry)].coefficient;
        break;
      case Kind::constant:
        x[k] = d.couplings[i].constant;
        break;
      case Kind::rotation:
      case Kind::axis:
      case Kind::further_axis:
        break;
    }
  }
  return x;
}

Mechanism ParameterSet::with(const VectorXd& wanted) const {
  if (wanted.size() != size())
    throw NumericalError("the parameter set has " + std::to_string(size()) + " values, not " +
                         std::to_string(wanted.size()));
  const VectorXd now = values();
  Description d = m_.description();
  for (Index k = 0; k < now.size(); ++k) change(parameters_[index(k)], wanted[k] - now[k], d);
  return MechanismBuilder(std::move(d)).finish({.strict = false});
}

}  // namespace catena
