// SPDX-License-Identifier: BSD-3-Clause
// Random closed mechanisms for tests: a tree of mixed hinges, and cut hinges of every type, rods
// and couplings that its random position satisfies.
#pragma once

#include <string>
#include <vector>

#include "catena/base/index.h"
#include "catena/closure/assembly.h"
#include "catena/dynamics/testing/test_support.h"

namespace catena::test {

struct Cut {
  HingeType type;
  int parent, child;  // bodies, −1: the world
  Transformd on_parent, on_child;
  std::vector<Vec3d> axes;
  double pitch = 0.0;
};

struct ClosedCase {
  std::vector<Cut> cuts;
  std::vector<Rod> rods;
  std::vector<Coupling> couplings;
};

// A random tree, and closures that its random position satisfies.
struct Made {
  Mechanism tree;
  Mechanism closed;
  ClosedCase closures;
  Case c;
};

inline const std::vector<HingeType> kCutTypes{
    HingeType::weld,      HingeType::revolute,   HingeType::prismatic, HingeType::screw,
    HingeType::universal, HingeType::planar,     HingeType::spherical, HingeType::cylindrical,
    HingeType::gimbal,    HingeType::translation};

inline Made make(Random& random, int bodies, int cuts, bool passive, bool drives) {
  TreeSettings settings;
  settings.bodies = bodies;
  settings.free_base = random.below(3) == 0;
  settings.chain_share = random.number(0.3, 1.0);
  MechanismBuilder builder = random_tree(random, settings);
  if (drives) add_drives(random, builder, Carrier::parent);
  if (passive) add_passive_elements(random, builder);
  Made made{builder.finish(), builder.finish(), {}, {}};
  made.c = random_case(random, made.tree, random.below(3));
  const reference::Engine<double> engine(made.tree);
  const auto n = to_size(made.tree.freedoms());
  const auto poses = engine.motion(plain<double>(made.c.state.q), reference::Vector<double>(n, 0.0),
                                   reference::Vector<double>(n, 0.0));
  const auto pose_of = [&](int body) {
    if (body < 0) return Transformd{};
    const auto& m = poses[index(body)];
    Transformd x;
    for (int i = 0; i < 3; ++i) {
      x.translation[i] = m.origin[index(i)];
      for (int k = 0; k < 3; ++k) x.rotation.matrix.m[i][k] = m.r[index(i)][index(k)];
    }
    return x;
  };
  for (int i = 0; i < cuts; ++i) {
    const int child = random.below(bodies);
    int parent = random.below(bodies + 1) - 1;
    if (parent == child) parent = -1;
    const int what = random.below(10);
    if (what == 0) {
      Rod rod;
      rod.name = "rod" + std::to_string(i);
      rod.body_a = body_name(parent);
      rod.body_b = body_name(child);
      rod.point_a = random.vector();
      rod.point_b = random.vector();
      rod.length = norm(pose_of(child) * rod.point_b - pose_of(parent) * rod.point_a);
      if (rod.length < 0.1) continue;
      builder.add_rod(rod);
      made.closures.rods.push_back(rod);
      continue;
    }
    if (what == 1) {
      Coupling coupling;
      coupling.name = "coupling" + std::to_string(i);
      double sum = 0.0;
      for (const HingePlace& hinge : made.tree.hinges()) {
        if (hinge.role != HingePlace::Role::tree || hinge.coordinates != hinge.freedoms ||
            random.below(2) == 0 || coupling.terms.size() == 3)
          continue;
        const double coefficient = random.number(0.5, 3.0);
        coupling.terms.push_back({hinge.name, 0, coefficient});
        sum += coefficient * made.c.state.q[hinge.q_index];
      }
      if (coupling.terms.size() < 2) continue;
      coupling.constant = sum;
      builder.add_coupling(coupling);
      made.closures.couplings.push_back(coupling);
      continue;
    }
    const HingeType type = kCutTypes[index(random.below(static_cast<int>(kCutTypes.size())))];
    HingeSettings hinge = random.hinge(type);
    if (type == HingeType::universal || type == HingeType::gimbal) spread_axes(random, hinge);
    // Its own displacement at random coordinates, found as the pose of a body that it moves.
    MechanismBuilder alone("alone");
    alone.add_body("body", random.body());
    HingeSettings plain_hinge = hinge;
    plain_hinge.frame_on_parent = plain_hinge.frame_on_child = {};
    alone.add_hinge("hinge", kWorld, "body", plain_hinge);
    const Mechanism one = alone.finish();
    const reference::Engine<double> single(one);
    const auto f = to_size(one.freedoms());
    const auto moved =
        single.motion(plain<double>(random_position(one, static_cast<std::uint64_t>(i) + 5)),
                      reference::Vector<double>(f, 0.0), reference::Vector<double>(f, 0.0))[0];
    Transformd displacement;
    for (int r = 0; r < 3; ++r) {
      displacement.translation[r] = moved.origin[index(r)];
      for (int k = 0; k < 3; ++k)
        displacement.rotation.matrix.m[r][k] = moved.r[index(r)][index(k)];
    }
    hinge.frame_on_child =
        pose_of(child).inverse() * pose_of(parent) * hinge.frame_on_parent * displacement;
    hinge.cut = catena::Cut::always;
    builder.add_hinge("cut" + std::to_string(i), body_name(parent), body_name(child), hinge);
    made.closures.cuts.push_back({type, parent, child, hinge.frame_on_parent, hinge.frame_on_child,
                                  hinge.axes, hinge.pitch});
  }
  made.closed = builder.finish();
  return made;
}

}  // namespace catena::test
