// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/absolute_form.h"

#include <algorithm>

#include "catena/base/index.h"
#include "catena/dynamics/flexible_mass.h"
#include "catena/dynamics/kinematics.h"

namespace catena {
namespace {

std::string free_name(const std::string& body) { return "free " + body; }

}  // namespace

Mechanism absolute_form(const Mechanism& m, std::span<const std::string> kept) {
  refuse_flexible(m, "the absolute form");
  MechanismBuilder b(m.description());
  b.description().name += " (absolute)";
  const auto coupled = [&](const std::string& hinge) {
    for (const Coupling& coupling : m.description().couplings)
      for (const Coupling::Term& term : coupling.terms)
        if (term.hinge == hinge) return true;
    return false;
  };
  for (Hinge& hinge : b.description().hinges) {
    const HingePlace& place = m.hinges()[index(m.hinge_index(hinge.name))];
    if (place.role == HingePlace::Role::weld) continue;
    hinge.cut = Cut::always;
    if (std::find(kept.begin(), kept.end(), hinge.name) != kept.end() || coupled(hinge.name))
      hinge.keeps_coordinates = true;
  }
  // The first body of every moving group.
  std::vector<char> seen(m.nodes().size(), 0);
  for (const BodyPlace& body : m.bodies()) {
    if (body.node < 0 || seen[index(body.node)]) continue;
    seen[index(body.node)] = 1;
    b.add_hinge(free_name(body.name), kWorld, body.name,
                {.type = HingeType::free, .cut = Cut::never});
  }
  return b.finish();
}

State absolute_state(const Mechanism& m, const State& state, const Mechanism& absolute) {
  State result = absolute.default_state();
  for (const HingePlace& hinge : absolute.hinges()) {
    if (hinge.node < 0) continue;
    const auto q = [&](int i) -> double& { return result.q[hinge.q_index + i]; };
    const auto v = [&](int i) -> double& { return result.v[hinge.v_index + i]; };
    if (!m.has_hinge(hinge.name)) {  // one of ours
      const int body = m.body_index(absolute.bodies()[index(hinge.child_body)].name);
      const Transformd pose = body_pose(m, state.q, body);
      const Quaterniond turn = to_quaternion(pose.rotation);
      const double turns[4] = {turn.w, turn.x, turn.y, turn.z};
      const Twistd twist = body_twist(m, state, body);
      for (int i = 0; i < 4; ++i) q(i) = turns[i];
      for (int i = 0; i < 3; ++i) q(4 + i) = pose.translation[i];
      for (int i = 0; i < 6; ++i) v(i) = twist[i];
      continue;
    }
    const HingePlace& old = m.hinges()[index(m.hinge_index(hinge.name))];
    if (old.node < 0) continue;  // assembly finds it
    for (int i = 0; i < hinge.coordinates; ++i) q(i) = state.q[old.q_index + i];
    for (int i = 0; i < hinge.freedoms; ++i) v(i) = state.v[old.v_index + i];
  }
  return result;
}

}  // namespace catena
