// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/inverse.h"

#include "catena/base/index.h"
#include "catena/dynamics/embedding.h"

namespace catena {
namespace {

// `acceleration` may be null (zero).
const Eigen::VectorXd& run(const Mechanism& mechanism, const State& state,
                           const Eigen::VectorXd* acceleration, Workspace& w,
                           std::span<const ExternalWrench> external) {
  PreparedInput in = prepare(mechanism, state, nullptr, external, w);
  if (acceleration != nullptr) in.acceleration = acceleration->data();
  Scratch<double> scratch = w.scratch();
  const bool closed = !mechanism.loops().empty();
  run_embedded(mechanism, w.has_quaternion ? w.position : state.q, {}, w,
               [&] { return kernel_table().inverse(w.model(), in, &scratch, w.effort.data()); });
  check_closed(mechanism, state.q, state.v, w);

  if (!w.remote_drives().empty()) {
    // The carriers' motion is known now; their rotors act on them like external moments.
    if (in.external == nullptr) w.external.setZero();
    in.external = w.external.data();
    for (const DrivePlace& drive : w.remote_drives()) {
      const NodeScratch<double>& carrier = w.node(drive.carrier_node);
      const Vec3d coupling = drive.gear_ratio * drive.rotor_inertia * drive.rotor_axis;
      const double a = closed                    ? w.all_accelerations()[index(drive.v_index)]
                       : acceleration != nullptr ? (*acceleration)[drive.v_index]
                                                 : 0.0;
      const Vec3d moment =
          a * coupling + cross(carrier.twist.angular, state.v[drive.v_index] * coupling);
      for (int i = 0; i < 3; ++i) w.external[6 * drive.carrier_node + i] -= moment[i];
    }
    kernel_table().inverse(w.model(), in, &scratch, w.effort.data());
    for (const DrivePlace& drive : w.remote_drives()) {
      const Vec3d coupling = drive.gear_ratio * drive.rotor_inertia * drive.rotor_axis;
      w.effort[drive.v_index] += dot(coupling, w.node(drive.carrier_node).acceleration.angular);
    }
  }
  if (w.has_passive_elements()) w.effort -= w.total_effort;
  if (closed) w.reduce(w.effort);
  return w.effort;
}

}  // namespace

const Eigen::VectorXd& inverse_dynamics(const Mechanism& mechanism, const State& state,
                                        const Eigen::VectorXd& acceleration, Workspace& workspace,
                                        std::span<const ExternalWrench> external) {
  check_vector(mechanism.velocity_names(), acceleration, "acceleration");
  return run(mechanism, state, &acceleration, workspace, external);
}

Eigen::VectorXd inverse_dynamics(const Mechanism& mechanism, const State& state,
                                 const Eigen::VectorXd& acceleration,
                                 std::span<const ExternalWrench> external) {
  Workspace workspace(mechanism);
  return inverse_dynamics(mechanism, state, acceleration, workspace, external);
}

const Eigen::VectorXd& bias_effort(const Mechanism& mechanism, const State& state,
                                   Workspace& workspace, std::span<const ExternalWrench> external) {
  return run(mechanism, state, nullptr, workspace, external);
}

Eigen::VectorXd bias_effort(const Mechanism& mechanism, const State& state,
                            std::span<const ExternalWrench> external) {
  Workspace workspace(mechanism);
  return bias_effort(mechanism, state, workspace, external);
}

}  // namespace catena
