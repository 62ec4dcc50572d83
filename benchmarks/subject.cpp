// SPDX-License-Identifier: BSD-3-Clause
#include "subject.h"

#include <dlfcn.h>

#include "catena/base/error.h"
#include "catena/closure/assembly.h"
#include "catena/model/configuration.h"

namespace catena_bench {
namespace {

using namespace catena;

void copy(const Vec3d& from, double* to) {
  for (int i = 0; i < 3; ++i) to[i] = from[i];
}

// Trees whose hinges have one frame, which is the child's, as in URDF.
std::vector<PeerBody> plain_bodies(const Mechanism& m) {
  std::vector<PeerBody> result;
  for (const Node& node : m.nodes()) {
    const HingePlace& place = m.hinges()[static_cast<std::size_t>(node.hinge_index)];
    const Hinge& hinge = m.description().hinges[static_cast<std::size_t>(node.hinge_index)];
    const auto body_node = [&](int body) {
      return body < 0 ? -1 : m.bodies()[static_cast<std::size_t>(body)].node;
    };
    PeerBody b;
    b.parent = node.parent;
    const bool revolute = place.type == HingeType::revolute;
    if (revolute || place.type == HingeType::prismatic)
      b.hinge = revolute ? 'r' : 'p';
    else if (place.type == HingeType::free)
      b.hinge = 'f';
    else
      throw Error("hinge '" + place.name + "': the benchmark knows revolute, prismatic and free");
    if (place.reversed || body_node(place.child_body) < 0)
      throw Error("hinge '" + place.name + "': the benchmark needs a tree, parents first");
    copy(hinge.axes.empty() ? Vec3d::unit_z() : normalized(hinge.axes.front()), b.axis);

    // Peers' frames of a node are those of the child body; the inertia is that of the whole node.
    const BodyPlace& child = m.bodies()[static_cast<std::size_t>(place.child_body)];
    const Transformd on_parent_node =
        (place.parent_body < 0
             ? Transformd::identity()
             : m.bodies()[static_cast<std::size_t>(place.parent_body)].X_node_body) *
        hinge.frame_on_parent;
    // The parent's own child body is where its frame is.
    Transformd from_parent = on_parent_node;
    if (node.parent >= 0) {
      const Node& parent = m.nodes()[static_cast<std::size_t>(node.parent)];
      const HingePlace& inner = m.hinges()[static_cast<std::size_t>(parent.hinge_index)];
      from_parent = m.bodies()[static_cast<std::size_t>(inner.child_body)].X_node_body.inverse() *
                    on_parent_node;
    }
    const Transformd at_zero = from_parent * hinge.frame_on_child.inverse();
    for (int i = 0; i < 9; ++i) b.rotation[i] = at_zero.rotation.matrix.m[i / 3][i % 3];
    copy(at_zero.translation, b.translation);
    const SpatialInertiad own{node.mass,
                              {node.mass_moment[0], node.mass_moment[1], node.mass_moment[2]},
                              {node.inertia[0], node.inertia[1], node.inertia[2], node.inertia[3],
                               node.inertia[4], node.inertia[5]}};
    const SpatialInertiad in_body = shift_to_parent(child.X_node_body.inverse(), own);
    b.mass = in_body.mass;
    copy(in_body.center_of_mass(), b.center);
    const SymMat3d j = in_body.central_inertia();
    const double packed[6] = {j.xx, j.xy, j.xz, j.yy, j.yz, j.zz};
    for (int i = 0; i < 6; ++i) b.inertia[i] = packed[i];
    result.push_back(b);
  }
  return result;
}

// Without rotors, damping, friction and stiffness, which not every peer has.
Mechanism without_elements(const Mechanism& m) {
  if (!m.springs().empty()) throw Error("'" + m.name() + "': the benchmark knows no springs");
  MechanismBuilder builder = m.edit();
  for (const Hinge& hinge : m.description().hinges) {
    HingeSettings& settings = builder.hinge(hinge.name);
    settings.drive.reset();
    settings.freedoms.clear();
  }
  return builder.finish();
}

}  // namespace

Subject::Subject(std::string subject_name, Mechanism m, int states, std::vector<PeerPin> points)
    : name(std::move(subject_name)),
      mechanism(without_elements(m)),
      bodies(plain_bodies(mechanism)),
      pins(std::move(points)) {
  if (pins.empty() && !mechanism.loops().empty())
    throw Error("'" + name + "': the benchmark needs a tree");
  const int n = mechanism.freedoms();
  q.resize(states, mechanism.coordinates());
  v.resize(states, n);
  acceleration.resize(states, n);
  effort.resize(states, n);
  for (int k = 0; k < states; ++k) {
    const auto seed = static_cast<std::uint64_t>(4 * k);
    q.row(k) = random_position(mechanism, seed);
    v.row(k) = random_vector(n, seed + 1);
    acceleration.row(k) = random_vector(n, seed + 2);
    effort.row(k) = random_vector(n, seed + 3);
    if (mechanism.loops().empty()) continue;
    const State closed = assemble(mechanism, State{q.row(k).transpose(), v.row(k).transpose()});
    q.row(k) = closed.q.transpose();
    v.row(k) = closed.v.transpose();
  }
}

PeerModel Subject::model() const {
  PeerModel result;
  result.body_count = static_cast<int>(bodies.size());
  result.bodies = bodies.data();
  copy(mechanism.gravity(), result.gravity);
  result.coordinates = mechanism.coordinates();
  result.freedoms = mechanism.freedoms();
  result.pin_count = static_cast<int>(pins.size());
  result.pins = pins.data();
  return result;
}

PeerStates Subject::states() const {
  return {count(), q.data(), v.data(), acceleration.data(), effort.data()};
}

Mechanism chain(int links) {
  MechanismBuilder builder("chain" + std::to_string(links));
  const Vec3d axes[3] = {Vec3d::unit_z(), Vec3d::unit_y(), Vec3d::unit_x()};
  std::string parent = kWorld;
  for (int i = 0; i < links; ++i) {
    const std::string name = "link" + std::to_string(i);
    builder.add_body(name, {.mass = 1.0,
                            .center_of_mass = {0.15, 0.02, 0.01},
                            .inertia = SymMat3d::diagonal(0.002, 0.009, 0.008)});
    builder.add_hinge("hinge" + std::to_string(i), parent, name,
                      {.type = HingeType::revolute,
                       .axes = {axes[i % 3]},
                       .frame_on_parent = Transformd::from_translation({0.3, 0.0, 0.0})});
    parent = name;
  }
  return builder.finish();
}

Mechanism humanoid() {
  MechanismBuilder builder("humanoid");
  // A rod of given mass along `to`, hinged at its origin.
  const auto add = [&](const std::string& name, const std::string& parent, const Vec3d& at,
                       const Vec3d& axis, double mass, const Vec3d& to) {
    const double length = 0.1 + norm(to);
    const double i = mass * length * length / 12.0;
    builder.add_body(name, {.mass = mass,
                            .center_of_mass = 0.5 * to,
                            .inertia = SymMat3d::diagonal(1.0 * i, 0.9 * i, 0.4 * i)});
    builder.add_hinge(name, parent, name,
                      {.type = HingeType::revolute,
                       .axes = {axis},
                       .frame_on_parent = Transformd::from_translation(at)});
  };
  const Vec3d x = Vec3d::unit_x(), y = Vec3d::unit_y(), z = Vec3d::unit_z(), none{};
  builder.add_body("pelvis", {.mass = 10.0,
                              .center_of_mass = {0.0, 0.0, 0.05},
                              .inertia = SymMat3d::diagonal(0.08, 0.06, 0.07)});
  builder.add_hinge("pelvis", kWorld, "pelvis", {.type = HingeType::free});
  for (const double side : {1.0, -1.0}) {
    const std::string s = side > 0.0 ? "left_" : "right_";
    add(s + "hip_yaw", "pelvis", {0, 0.1 * side, 0}, z, 1.5, {0, 0, -0.03});
    add(s + "hip_roll", s + "hip_yaw", none, x, 1.5, {0.02, 0, -0.03});
    add(s + "hip_pitch", s + "hip_roll", none, y, 7.0, {0, 0, -0.4});
    add(s + "knee", s + "hip_pitch", {0, 0, -0.4}, y, 4.0, {0, 0, -0.4});
    add(s + "ankle_pitch", s + "knee", {0, 0, -0.4}, y, 0.5, {0, 0, -0.03});
    add(s + "ankle_roll", s + "ankle_pitch", none, x, 1.2, {0.08, 0, -0.05});
  }
  // A whole limb after the other: some libraries want the bodies of a subtree in one stretch.
  add("waist_yaw", "pelvis", {0, 0, 0.1}, z, 2.0, {0, 0, 0.05});
  add("waist_pitch", "waist_yaw", {0, 0, 0.05}, y, 18.0, {0, 0, 0.4});
  add("neck_pitch", "waist_pitch", {0, 0, 0.42}, y, 1.0, {0, 0, 0.05});
  add("head", "neck_pitch", {0, 0, 0.05}, z, 4.0, {0, 0, 0.2});
  for (const double side : {1.0, -1.0}) {
    const std::string s = side > 0.0 ? "left_" : "right_";
    add(s + "shoulder_pitch", "waist_pitch", {0, 0.2 * side, 0.38}, y, 1.0, {0, 0.03 * side, 0});
    add(s + "shoulder_roll", s + "shoulder_pitch", {0, 0.04 * side, 0}, x, 1.0, {0, 0, -0.03});
    add(s + "shoulder_yaw", s + "shoulder_roll", none, z, 2.0, {0, 0, -0.28});
    add(s + "elbow", s + "shoulder_yaw", {0, 0, -0.28}, y, 1.0, {0, 0, -0.1});
    add(s + "forearm", s + "elbow", {0, 0, -0.1}, z, 1.0, {0, 0, -0.15});
    add(s + "wrist_pitch", s + "forearm", {0, 0, -0.15}, y, 0.3, {0, 0, -0.02});
    add(s + "wrist_roll", s + "wrist_pitch", none, x, 0.4, {0, 0, -0.08});
    add(s + "gripper", s + "wrist_roll", {0, 0, -0.08}, x, 0.2, {0, 0.01, -0.06});
  }
  return builder.finish();
}

Plugin::Plugin(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
  if (library == nullptr) throw Error("cannot load " + path + ": " + dlerror());
  name_ = reinterpret_cast<decltype(name_)>(dlsym(library, "catena_peer_name"));
  make_ = reinterpret_cast<decltype(make_)>(dlsym(library, "catena_peer_make"));
  takes_pins_ = reinterpret_cast<decltype(takes_pins_)>(dlsym(library, "catena_peer_takes_pins"));
  if (name_ == nullptr || make_ == nullptr) throw Error(path + " is no peer of this benchmark");
}

std::unique_ptr<Peer> Plugin::make(const Subject& subject) const {
  if (!subject.pins.empty() && (takes_pins_ == nullptr || !takes_pins_())) return nullptr;
  const PeerModel model = subject.model();
  const PeerStates states = subject.states();
  return std::unique_ptr<Peer>(make_(&model, &states));
}

}  // namespace catena_bench
