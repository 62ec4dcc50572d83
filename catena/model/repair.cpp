// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/repair.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "catena/base/index.h"
#include "catena/model/flexible_body.h"
#include "catena/model/topology.h"
#include "catena/model/usable_numbers.h"
#include "catena/model/user_functions.h"

namespace catena {
namespace {

void repair_body(Body& body) {
  if (usable(body.mass) && body.mass >= 0.0 && usable(body.center_of_mass) &&
      usable(body.inertia) && orthonormal(body.inertia_axes)) {
    const Eigen::Vector3d moments = principal_moments(body.inertia);
    if (moments[0] >= -kInertiaSlack * moments[2]) return;
  }
  body.mass = 1.0;
  body.center_of_mass = Vec3d::zero();
  body.inertia = SymMat3d::diagonal(1.0, 1.0, 1.0);
  body.inertia_axes = {};
}

void repair_pose(Transformd& pose) {
  if (!usable(pose) || !orthonormal(pose.rotation)) pose = {};
}

void repair_hinge(Hinge& hinge) {
  repair_pose(hinge.frame_on_parent);
  repair_pose(hinge.frame_on_child);
  const bool sound_axes =
      std::all_of(hinge.axes.begin(), hinge.axes.end(),
                  [](const Vec3d& axis) { return usable_axis(axis); }) &&
      std::adjacent_find(hinge.axes.begin(), hinge.axes.end(), parallel) == hinge.axes.end();
  if (!sound_axes) hinge.axes.clear();
  if (!usable(hinge.pitch)) hinge.pitch = 0.0;
  if (is_internal(hinge.type)) {
    hinge.locked_at.clear();
    hinge.initial_position.clear();
    hinge.initial_velocity.clear();
    if (!hinge.flexible || hinge.flexible->modes() == 0 ||
        !check_flexible_body(*hinge.flexible, "").empty())
      hinge.type = HingeType::weld;
    return;
  }
  if (hinge.type == HingeType::custom &&
      (!hinge.custom || hinge.custom->freedoms() < 1 || hinge.custom->freedoms() > kMaxFreedoms ||
       !wrong_in_custom_hinge(hinge).empty()))
    hinge.type = HingeType::weld;

  std::vector<double> lock;
  std::swap(lock, hinge.locked_at);
  const std::size_t coordinates = to_size(coordinates_of(hinge));
  const std::size_t freedoms = to_size(freedoms_of(hinge));
  const auto sound = [&](const std::vector<double>& q) {
    return q.size() == coordinates && usable(q) &&
           !(has_quaternion(hinge.type) && quaternion_length(q) < kShortestQuaternion);
  };
  if (!lock.empty() && !sound(lock))
    hinge.type = HingeType::weld;
  else
    hinge.locked_at = std::move(lock);
  if (!sound(hinge.initial_position)) hinge.initial_position.clear();
  if (hinge.initial_velocity.size() != freedoms || !usable(hinge.initial_velocity))
    hinge.initial_velocity.clear();
  if (freedoms != 1) hinge.drive.reset();
}

// A valid drive, so that its hinge is not reported for lack of inertia.
void repair_drive(DriveSettings& drive, const auto& known) {
  const bool sound = usable(drive.rotor_inertia) && drive.rotor_inertia >= 0.0 &&
                     usable(drive.gear_ratio) && drive.gear_ratio != 0.0 &&
                     (drive.carrier.empty() || known(drive.carrier)) &&
                     (!drive.rotor_axis || usable_axis(*drive.rotor_axis));
  if (!sound)
    drive = {.rotor_inertia = 1.0, .carrier = {}, .rotor_axis = {}, .armature_only = true};
}

}  // namespace

Description repaired(Description d) {
  std::unordered_set<std::string> bodies{kWorld};
  std::erase_if(d.bodies, [&](const Body& body) { return !bodies.insert(body.name).second; });
  const auto known = [&](const std::string& body) { return bodies.contains(body); };
  for (Body& body : d.bodies) repair_body(body);

  for (Hinge& hinge : d.hinges)
    if (!known(hinge.parent)) hinge.parent = kWorld;
  std::erase_if(d.hinges, [&](const Hinge& hinge) {
    return !known(hinge.child) || hinge.parent == hinge.child;
  });
  std::unordered_map<std::string, int> freedoms_of_hinge;  // available to couplings
  int number = 0;
  for (Hinge& hinge : d.hinges) {
    ++number;
    repair_hinge(hinge);
    if (hinge.drive) repair_drive(*hinge.drive, known);
    const int freedoms = has_quaternion(hinge.type) ? 0 : freedoms_of(hinge);
    while (!freedoms_of_hinge.emplace(hinge.name, freedoms).second)
      hinge.name += " (number " + std::to_string(number) + ")";
  }

  std::erase_if(d.frames, [&](const Frame& frame) { return !known(frame.body); });
  for (Frame& frame : d.frames) repair_pose(frame.pose);
  const auto loose = [&](const auto& thing) {
    return !known(thing.body_a) || !known(thing.body_b) || thing.body_a == thing.body_b;
  };
  std::erase_if(d.rods, loose);
  std::erase_if(d.springs, loose);
  std::erase_if(d.couplings, [&](const Coupling& coupling) {
    return coupling.terms.empty() ||
           std::any_of(coupling.terms.begin(), coupling.terms.end(),
                       [&](const Coupling::Term& term) {
                         const auto hinge = freedoms_of_hinge.find(term.hinge);
                         return hinge == freedoms_of_hinge.end() || term.freedom < 0 ||
                                term.freedom >= hinge->second;
                       });
  });
  return d;
}

}  // namespace catena
