// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/builder.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/model/topology.h"
#include "catena/model/union_find.h"

namespace catena {
namespace {

template <class Things>
auto& named(Things& things, std::string_view name, const char* kind) {
  const auto found = std::find_if(things.begin(), things.end(),
                                  [&](const auto& thing) { return thing.name == name; });
  if (found != things.end()) return *found;
  std::vector<std::string> names;
  names.reserve(things.size());
  for (const auto& thing : things) names.push_back(thing.name);
  throw NameError(std::string("no ") + kind + " is named '" + std::string(name) + "'" +
                  did_you_mean(name, names));
}

// With every coupling that names one of them.
void remove_hinges(Description& d, const std::unordered_set<std::string>& names) {
  std::erase_if(d.couplings, [&](const Coupling& coupling) {
    return std::any_of(coupling.terms.begin(), coupling.terms.end(),
                       [&](const Coupling::Term& term) { return names.contains(term.hinge); });
  });
  std::erase_if(d.hinges, [&](const Hinge& h) { return names.contains(h.name); });
}

}  // namespace

SpatialInertiad BodySettings::spatial_inertia() const {
  return SpatialInertiad::from_central(mass, center_of_mass,
                                       congruence(inertia_axes.matrix, inertia));
}

MechanismBuilder& MechanismBuilder::set_gravity(const Vec3d& gravity) {
  description_.gravity = gravity;
  return *this;
}

MechanismBuilder& MechanismBuilder::add_body(std::string name, BodySettings settings) {
  description_.bodies.push_back({std::move(settings), std::move(name)});
  return *this;
}

MechanismBuilder& MechanismBuilder::add_flexible_body(std::string name,
                                                      std::shared_ptr<const FlexibleBody> body,
                                                      BodySettings settings) {
  add_body(name, std::move(settings));
  return make_flexible(name, std::move(body));
}

MechanismBuilder& MechanismBuilder::make_flexible(const std::string& name,
                                                  std::shared_ptr<const FlexibleBody> body) {
  BodySettings& frame = this->body(name);
  const Source source = frame.source;
  frame.flexible = body;
  BodySettings own{.source = source};  // the deformable part, as a rigid body at rest
  if (body && body->mass > 0.0) {
    const auto& j = body->inertia;
    const SpatialInertiad rest{body->mass, body->mass_moment, {j[0], j[1], j[2], j[3], j[4], j[5]}};
    own.mass = body->mass;
    own.center_of_mass = rest.center_of_mass();
    own.inertia = rest.central_inertia();
  }
  const std::string modes = modes_name(name);
  add_body(modes, std::move(own));
  const auto connect = [&](const std::string& hinge, const std::string& parent, HingeType type,
                           int attachment) {
    add_hinge(hinge, parent, hinge,
              {.type = type,
               .flexible = body,
               .attachment = attachment,
               .cut = Cut::never,
               .source = source});
  };
  connect(modes, name, HingeType::modes, -1);
  const int attachments = body ? static_cast<int>(body->attachments.size()) : 0;
  for (int i = 0; i < attachments; ++i) {
    const std::string own_name = name + "." + at(body->attachments, i).name;
    add_body(own_name, {.source = source});
    connect(own_name, modes, HingeType::attachment, i);
  }
  return *this;
}

MechanismBuilder& MechanismBuilder::add_hinge(std::string name, std::string parent,
                                              std::string child, HingeSettings settings) {
  description_.hinges.push_back(
      {std::move(settings), std::move(name), std::move(parent), std::move(child)});
  return *this;
}

MechanismBuilder& MechanismBuilder::add_frame(std::string name, std::string body,
                                              const Transformd& pose) {
  description_.frames.push_back({std::move(name), std::move(body), pose, {}});
  return *this;
}

MechanismBuilder& MechanismBuilder::add_rod(Rod rod) {
  description_.rods.push_back(std::move(rod));
  return *this;
}

MechanismBuilder& MechanismBuilder::add_coupling(Coupling coupling) {
  description_.couplings.push_back(std::move(coupling));
  return *this;
}

MechanismBuilder& MechanismBuilder::add_gear(std::string name, std::string follower,
                                             std::string leader, double ratio, double offset) {
  Coupling gear;
  gear.name = std::move(name);
  gear.terms = {{std::move(follower), 0, 1.0}, {std::move(leader), 0, -ratio}};
  gear.constant = offset;
  return add_coupling(std::move(gear));
}

MechanismBuilder& MechanismBuilder::add_spring(SpringDamper spring) {
  description_.springs.push_back(std::move(spring));
  return *this;
}

BodySettings& MechanismBuilder::body(std::string_view name) {
  return named(description_.bodies, name, "body");
}

HingeSettings& MechanismBuilder::hinge(std::string_view name) {
  return named(description_.hinges, name, "hinge");
}

MechanismBuilder& MechanismBuilder::set_mass(std::string_view body_name, double mass) {
  body(body_name).mass = mass;
  return *this;
}

MechanismBuilder& MechanismBuilder::lock(std::string_view hinge_name, std::vector<double> q) {
  HingeSettings& settings = hinge(hinge_name);
  if (settings.type == HingeType::weld) return *this;
  if (q.empty()) {
    const int n = settings.type == HingeType::custom && settings.custom
                      ? settings.custom->freedoms()
                      : coordinates_of(settings.type);
    q.assign(to_size(n), 0.0);
    if (settings.type == HingeType::spherical || settings.type == HingeType::free) q[0] = 1.0;
  }
  settings.locked_at = std::move(q);
  return *this;
}

MechanismBuilder& MechanismBuilder::unlock(std::string_view hinge_name) {
  hinge(hinge_name).locked_at.clear();
  return *this;
}

MechanismBuilder& MechanismBuilder::remove_body(std::string_view body_name) {
  body(body_name);                    // throws if there is none
  const std::string name(body_name);  // the view may be into a removed body
  Description& d = description_;
  std::unordered_set<std::string> hinges;
  std::vector<std::string> parts;  // of a flexible body go with it
  for (Hinge& h : d.hinges) {
    if (h.parent == name && is_internal(h.type)) parts.push_back(h.child);
    if (h.parent == name || h.child == name) hinges.insert(h.name);
    if (h.drive && h.drive->carrier == name) h.drive.reset();
  }
  remove_hinges(d, hinges);
  const auto on_either_end = [&](const auto& thing) {
    return thing.body_a == name || thing.body_b == name;
  };
  std::erase_if(d.rods, on_either_end);
  std::erase_if(d.springs, on_either_end);
  std::erase_if(d.frames, [&](const Frame& frame) { return frame.body == name; });
  std::erase_if(d.bodies, [&](const Body& b) { return b.name == name; });
  for (const std::string& part : parts) remove_body(part);
  return *this;
}

MechanismBuilder& MechanismBuilder::remove_hinge(std::string_view name) {
  hinge(name);
  remove_hinges(description_, {std::string(name)});
  return *this;
}

MechanismBuilder& MechanismBuilder::attach(const Description& other, const std::string& prefix,
                                           const std::string& onto, const Transformd& pose) {
  Description& d = description_;
  if (&other == &d) return attach(Description(d), prefix, onto, pose);
  const auto renamed = [&](const std::string& body) {
    return body == kWorld ? onto : prefix + body;
  };
  for (Body body : other.bodies) {
    body.name = prefix + body.name;
    d.bodies.push_back(std::move(body));
  }
  for (Hinge hinge : other.hinges) {
    if (hinge.parent == kWorld) hinge.frame_on_parent = pose * hinge.frame_on_parent;
    if (hinge.child == kWorld) hinge.frame_on_child = pose * hinge.frame_on_child;
    if (hinge.drive) {
      DriveSettings& drive = *hinge.drive;
      const std::string& carrier = drive.carrier.empty() ? hinge.parent : drive.carrier;
      if (carrier == kWorld && drive.rotor_axis)
        drive.rotor_axis = pose.rotation * *drive.rotor_axis;
      if (!drive.carrier.empty()) drive.carrier = renamed(drive.carrier);
    }
    hinge.name = prefix + hinge.name;
    hinge.parent = renamed(hinge.parent);
    hinge.child = renamed(hinge.child);
    d.hinges.push_back(std::move(hinge));
  }
  for (Frame frame : other.frames) {
    if (frame.body == kWorld) frame.pose = pose * frame.pose;
    frame.name = prefix + frame.name;
    frame.body = renamed(frame.body);
    d.frames.push_back(std::move(frame));
  }
  const auto move_ends = [&](auto thing) {
    if (thing.body_a == kWorld) thing.point_a = pose * thing.point_a;
    if (thing.body_b == kWorld) thing.point_b = pose * thing.point_b;
    thing.name = prefix + thing.name;
    thing.body_a = renamed(thing.body_a);
    thing.body_b = renamed(thing.body_b);
    return thing;
  };
  for (const Rod& rod : other.rods) d.rods.push_back(move_ends(rod));
  for (const SpringDamper& spring : other.springs) d.springs.push_back(move_ends(spring));
  for (Coupling coupling : other.couplings) {
    coupling.name = prefix + coupling.name;
    for (Coupling::Term& term : coupling.terms) term.hinge = prefix + term.hinge;
    d.couplings.push_back(std::move(coupling));
  }
  return *this;
}

MechanismBuilder& MechanismBuilder::connect_roots(HingeType type) {
  Description& d = description_;
  std::unordered_map<std::string, int> index{{kWorld, 0}};
  for (const Body& body : d.bodies) index.emplace(body.name, static_cast<int>(index.size()));
  UnionFind connected(static_cast<int>(index.size()));
  std::unordered_set<std::string> children;
  std::unordered_set<std::string> hinge_names;
  for (const Hinge& hinge : d.hinges) {
    hinge_names.insert(hinge.name);
    if (hinge.cut == Cut::always) continue;  // does not connect
    children.insert(hinge.child);
    if (index.contains(hinge.parent) && index.contains(hinge.child))
      connected.join(index.at(hinge.parent), index.at(hinge.child));
  }
  std::vector<Hinge> added;
  const auto connect = [&](const Body& body) {
    if (!connected.join(0, index.at(body.name))) return;
    Hinge hinge;
    hinge.name = added.empty() ? "base" : "base_" + body.name;
    while (!hinge_names.insert(hinge.name).second) hinge.name += "_";
    hinge.type = type;
    hinge.parent = kWorld;
    hinge.child = body.name;
    hinge.source = body.source;
    added.push_back(std::move(hinge));
  };
  for (const Body& body : d.bodies)
    if (!children.contains(body.name)) connect(body);
  for (const Body& body : d.bodies) connect(body);  // a ring has no root: its first body serves
  d.hinges.insert(d.hinges.begin(), added.begin(), added.end());
  return *this;
}

MechanismBuilder Mechanism::edit() const { return MechanismBuilder(description_); }

}  // namespace catena
