// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/recording/output_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/dynamics/kinematics.h"

namespace catena {
namespace {

// Whether coordinate k of a hinge's own is an angle.
bool is_angle(const Mechanism& m, const Node& node, int k) {
  switch (node.hinge) {
    case NodeHinge::prismatic:
    case NodeHinge::modes:
      return false;
    case NodeHinge::screws:
      for (int l = 0; l < node.coordinates; ++l) {
        const NodeScrew& screw = m.screws()[index(node.first_screw + l)];
        if (screw.coordinate == k) return screw.rotation;
      }
      return false;
    case NodeHinge::spherical:
    case NodeHinge::free:
      return k < 3;
    default:
      return true;
  }
}

const Node& node_of(const Mechanism& m, int i, bool position) {
  for (const Node& node : m.nodes()) {
    const int first = position ? node.q_index : node.v_index;
    const int count = position ? node.coordinates : node.freedoms;
    if (i >= first && i < first + count) return node;
  }
  throw Error("coordinate " + std::to_string(i) + " does not exist");
}

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;  // the last one met, and the end of its match
  std::size_t covered = 0;
  for (std::size_t n = 0; n < name.size();) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      covered = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++covered;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<RunColumn> all_columns(Equations& equations, std::span<const std::string> places) {
  const Mechanism& m = equations.mechanism();
  std::vector<RunColumn> all{{"time", "s"}};
  const auto names = m.velocity_names();
  for (int i = 0; i < m.coordinates(); ++i)
    all.push_back({"q." + m.position_names()[index(i)], position_unit(m, i)});
  const auto add = [&](const char* prefix, auto unit) {
    for (int i = 0; i < m.freedoms(); ++i) all.push_back({prefix + names[index(i)], unit(i)});
  };
  const auto force = [&](int i) { return velocity_unit(m, i) == "m/s" ? "N" : "N m"; };
  add("v.", [&](int i) { return velocity_unit(m, i); });
  add("a.", [&](int i) { return velocity_unit(m, i) + "²"; });
  add("effort.", force);
  add("friction.", force);
  add("reaction.", force);
  for (const char* name : {"kinetic", "gravity", "springs", "total", "work", "error"})
    all.push_back({std::string("energy.") + name, "J"});
  for (const char* axis : {"x", "y", "z"})
    all.push_back({std::string("momentum.linear.") + axis, "kg m/s"});
  for (const char* axis : {"x", "y", "z"})
    all.push_back({std::string("momentum.angular.") + axis, "kg m²/s"});
  for (int k = 0; k < equations.work().elements(); ++k)
    all.push_back({"work." + equations.work().name(k), "J"});
  if (const ConstraintSet* set = equations.constraints())
    for (int k = 0; k < set->count(); ++k)
      if (set->kind(k) == ConstraintSet::Kind::contact)
        for (const char* axis : {".x", ".y", ".z"})
          all.push_back({"contact." + set->name(k) + axis, "N"});
  const Wiring& wiring = equations.forces().wiring();
  for (int k = 0; k < wiring.size(); ++k)
    for (const OutputPort& port : wiring.component(k).outputs())
      all.push_back({"signal." + wiring.component(k).name() + "." + port.name, port.unit});
  for (const std::string& place : places)
    for (const char* axis : {".x", ".y", ".z"}) all.push_back({"position." + place + axis, "m"});
  for (const std::string& place : places)
    for (const char* axis : {".x", ".y", ".z"}) all.push_back({"velocity." + place + axis, "m/s"});
  for (const HingePlace& hinge : m.hinges())
    for (const char* axis : {".x", ".y", ".z"}) all.push_back({"force." + hinge.name + axis, "N"});
  for (const HingePlace& hinge : m.hinges())
    for (const char* axis : {".x", ".y", ".z"})
      all.push_back({"moment." + hinge.name + axis, "N m"});
  return all;
}

// By column: the time and all positions, and what the patterns name.
std::vector<bool> chosen_of(std::span<const std::string> names,
                            std::span<const std::string> patterns, int coordinates) {
  static const std::vector<std::string> kDefault{"q.*", "v.*", "effort.*", "energy.*", "contact.*"};
  // A group may be empty: nothing does work here.
  static const std::vector<std::string> kGroups{
      "q.*",        "v.*",        "a.*",        "effort.*", "friction.*",
      "reaction.*", "energy.*",   "momentum.*", "work.*",   "contact.*",
      "signal.*",   "position.*", "velocity.*", "force.*",  "moment.*"};
  std::vector<bool> wanted(names.size(), false);
  for (int i = 0; i <= coordinates; ++i) wanted[index(i)] = true;
  for (const std::string& pattern : patterns.empty() ? std::span(kDefault) : patterns) {
    bool found = false;
    for (std::size_t k = 0; k < names.size(); ++k)
      if (matches(pattern, names[k])) wanted[k] = found = true;
    if (!found && std::find(kGroups.begin(), kGroups.end(), pattern) == kGroups.end())
      throw NameError(
          "there is no output '" + pattern + "'" + did_you_mean(pattern, names) +
          "; outputs are q.*, v.*, a.*, effort.*, friction.*, reaction.*, energy.*, "
          "momentum.*, work.*, contact.*, signal.*, position.*, velocity.*, force.*, moment.*");
  }
  return wanted;
}

}  // namespace

std::string position_unit(const Mechanism& m, int i) {
  const Node& node = node_of(m, i, true);
  const int k = i - node.q_index;
  if (node.coordinates != node.freedoms) return k < 4 ? "" : "m";
  return is_angle(m, node, k) ? "rad" : "m";
}

std::string velocity_unit(const Mechanism& m, int i) {
  const Node& node = node_of(m, i, false);
  return is_angle(m, node, i - node.v_index) ? "rad/s" : "m/s";
}

// Frames and bodies, the points of position.* and velocity.*.
std::vector<std::string> OutputColumns::find_places(const Mechanism& m) {
  std::vector<std::string> places;
  std::set<std::string, std::less<>> frames;  // a body of the same name is not asked for
  for (const FramePlace& frame : m.frames()) {
    if (frame.body < 0) continue;  // it does not move
    frames.insert(frame.name);
    places.push_back(frame.name);
    const Transformd& body = m.bodies()[index(frame.body)].X_node_body;
    places_.push_back({frame.body, (body.inverse() * frame.X_node_frame).translation});
  }
  for (int i = 0; i < static_cast<int>(m.bodies().size()); ++i) {
    const std::string& body = m.bodies()[index(i)].name;
    if (frames.contains(body)) continue;
    places.push_back(body);
    places_.push_back({i, {}});
  }
  return places;
}

OutputColumns::OutputColumns(Equations& equations, std::span<const std::string> patterns,
                             std::span<const ExtraOutput> extra)
    : extra_(extra.begin(), extra.end()) {
  const Mechanism& m = equations.mechanism();
  const std::vector<RunColumn> all = all_columns(equations, find_places(m));
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const RunColumn& column : all) names.push_back(column.name);
  const std::vector<bool> wanted = chosen_of(names, patterns, m.coordinates());
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!wanted[k]) continue;
    columns_.push_back(all[k]);
    chosen_.push_back(static_cast<int>(k));
  }
  first_of_hinges_ = all.size() - 6 * m.hinges().size();
  first_of_places_ = first_of_hinges_ - 6 * places_.size();
  // By place or hinge: both its vectors.
  const auto which = [&](std::size_t first, std::size_t count) {
    std::vector<std::uint8_t> any(count, 0);
    for (std::size_t k = 0; k < 6 * count; ++k)
      if (wanted[first + k]) any[k / 3 % count] = 1;
    return any;
  };
  const auto any = [](const std::vector<std::uint8_t>& list) {
    return std::find(list.begin(), list.end(), 1) != list.end();
  };
  wanted_places_ = which(first_of_places_, places_.size());
  wanted_hinges_ = which(first_of_hinges_, m.hinges().size());
  if (any(wanted_hinges_)) {
    if (equations.has_switched_constraints())
      throw Error(
          "outputs: force.* and moment.* are not found with constraints that are switched "
          "(contacts, locks, attachments, servos); leave them out");
    forces_ = std::make_unique<InterbodyForces>(m);
  }
  bool moving_planes = false;
  if (const ConstraintSet* set = equations.constraints())
    for (int k = 0; k < set->count(); ++k) {
      if (set->kind(k) != ConstraintSet::Kind::contact) continue;
      const ContactSettings& contact = set->contact(k);
      contacts_.push_back(
          {k, contact.plane_body, rotation_from_z_to(normalized(contact.plane_normal))});
      moving_planes = moving_planes || contact.plane_body >= 0;
    }
  if (forces_ || any(wanted_places_) || moving_planes) workspace_ = std::make_unique<Workspace>(m);
  for (const ExtraOutput& own : extra_) {
    if (std::find(names.begin(), names.end(), own.column.name) != names.end())
      throw Error("there are two outputs called '" + own.column.name + "'");
    names.push_back(own.column.name);
    columns_.push_back(own.column);
  }
  all_.resize(all.size());
  row_.resize(columns_.size());
}

// Forces on the bodies in ground axes, from the results of put_places() in the workspace.
void OutputColumns::put_contacts(const Equations& equations, const Evaluation& found,
                                 std::size_t first) {
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const Contact& contact = contacts_[k];
    Vec3d force{};
    if (index(contact.constraint) < found.contacts.size()) {
      const ConstraintSet::ContactForce& pushes = found.contacts[index(contact.constraint)].force;
      force = contact.axes * Vec3d{pushes.friction.x, pushes.friction.y, pushes.normal};
      if (contact.plane_body >= 0)
        force = body_pose(equations.mechanism(), *workspace_, contact.plane_body).rotation * force;
    }
    for (int i = 0; i < 3; ++i) all_[first + 3 * k + index(i)] = force[i];
  }
}

void OutputColumns::put_places(const Mechanism& m, const State& state) {
  update_kinematics(m, state.q, state.v, *workspace_);
  for (std::size_t k = 0; k < places_.size(); ++k) {
    if (wanted_places_[k] == 0) continue;
    const auto [body, point] = places_[k];
    const Vec3d position = point_position(m, *workspace_, body, point);
    const Vec3d velocity = point_velocity(m, *workspace_, body, point);
    for (int i = 0; i < 3; ++i) {
      all_[first_of_places_ + 3 * k + index(i)] = position[i];
      all_[first_of_places_ + 3 * (places_.size() + k) + index(i)] = velocity[i];
    }
  }
}

// Nowhere but beside singular positions are there none.
void OutputColumns::put_forces(const Equations& equations, const Evaluation& found) {
  const std::size_t hinges = wanted_hinges_.size();
  bool known = true;
  try {
    const Eigen::VectorXd effort = equations.acting_effort(found);
    forces_->compute(found.state(), found.acceleration, *workspace_, equations.forces().external(),
                     &effort);
  } catch (const NumericalError&) {
    known = false;
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t h = 0; h < hinges; ++h) {
    if (wanted_hinges_[h] == 0) continue;
    const Wrenchd wrench = known ? forces_->determined(static_cast<int>(h), ForceAxes::ground)
                                 : Wrenchd{{kNone, kNone, kNone}, {kNone, kNone, kNone}};
    for (int i = 0; i < 3; ++i) {
      all_[first_of_hinges_ + 3 * h + index(i)] = wrench.force[i];
      all_[first_of_hinges_ + 3 * (hinges + h) + index(i)] = wrench.moment[i];
    }
  }
}

const std::vector<double>& OutputColumns::row(const Equations& equations, const Evaluation& found,
                                              const Auditor::Measured& measured,
                                              const Eigen::VectorXd& y) {
  const State& state = found.state();
  std::size_t at = 0;
  const auto put = [&](double x) { all_[at++] = x; };
  const auto put_all = [&](const auto& values) {
    for (const double x : values) put(x);
  };
  put(found.instant.time);
  put_all(state.q);
  put_all(state.v);
  put_all(found.acceleration);
  put_all(found.effort);
  put_all(found.friction);
  put_all(found.reaction);
  const Energy& energy = measured.energy;
  put(energy.kinetic);
  put(energy.gravity);
  put(energy.springs());
  put(energy.total());
  put(equations.work().total(y));
  put(measured.energy_error);
  for (int i = 0; i < 3; ++i) put(measured.momentum.linear[i]);
  for (int i = 0; i < 3; ++i) put(measured.momentum.angular[i]);
  for (int k = 0; k < equations.work().elements(); ++k) put(equations.work().work(k, y));
  const std::size_t first_of_contacts = at;
  at += 3 * contacts_.size();
  put_all(found.efforts.outputs);
  if (workspace_) put_places(equations.mechanism(), state);
  put_contacts(equations, found, first_of_contacts);
  if (forces_) put_forces(equations, found);
  for (std::size_t k = 0; k < chosen_.size(); ++k) row_[k] = all_[index(chosen_[k])];
  for (std::size_t k = 0; k < extra_.size(); ++k)
    row_[chosen_.size() + k] = extra_[k].value(found.instant.time, state);
  return row_;
}

}  // namespace catena
