// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/impulses.h"

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/embedding.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/dynamics/operators/operators.h"

namespace catena {
namespace {

// The impulsive wrenches in workspace.external, at the nodes' origins. Needs poses.
void place_wrenches(const Mechanism& mechanism, const std::vector<ExternalWrench>& wrenches,
                    Workspace& w) {
  w.external.setZero();
  for (const ExternalWrench& e : wrenches) {
    if (e.body < -1 || e.body >= static_cast<int>(mechanism.bodies().size()))
      throw NumericalError("impulse on body " + std::to_string(e.body) + ", which does not exist");
    if (e.body < 0) continue;
    const BodyPlace& body = mechanism.bodies()[index(e.body)];
    if (body.node < 0) continue;  // the ground does not move
    const Rotationd axes = e.axes == ExternalWrench::Axes::body
                               ? body.X_node_body.rotation
                               : w.node(body.node).pose.rotation.inverse();
    const Vec3d force = axes * e.wrench.force;
    const Vec3d moment = axes * e.wrench.moment + cross(body.X_node_body * e.point, force);
    const Wrenchd at_node{moment, force};
    for (int i = 0; i < 6; ++i) w.external[6 * body.node + i] += at_node[i];
  }
}

void check_size(const Eigen::Index size, int freedoms, const char* what) {
  if (size != 0 && size != freedoms)
    throw NumericalError(std::string(what) + " has " + std::to_string(size) +
                         " entries, but this mechanism has " + std::to_string(freedoms) +
                         " freedoms");
}

// For drives on distant carriers: Δv of the free freedoms through the mass matrix.
void solve_dense(const Mechanism& mechanism, const State& state, const SweepInput& in, Workspace& w,
                 ImpulseResult& result) {
  // Bias at rest without gravity: minus the generalized impulse of the wrenches.
  SweepModel model = w.model();
  for (double& g : model.gravity) g = 0.0;
  Scratch<double> scratch = w.scratch();
  SweepInput rest = in;
  rest.acceleration = nullptr;
  kernel_table().inverse(model, rest, &scratch, w.effort.data());
  // Elastic forces are finite: they take no part in an impulse.
  for (const FlexiblePlace& body : mechanism.flexible_bodies()) {
    const Node& node = mechanism.nodes()[index(body.node)];
    w.effort.segment(node.v_index, node.freedoms) -=
        body.constants->stiffness * state.q.segment(node.q_index, node.coordinates);
  }
  const Eigen::VectorXd given = result.impulse - w.effort;
  const Eigen::VectorXd bias = w.effort;
  const Eigen::MatrixXd& m = mass_matrix(mechanism, state.q, w);
  std::vector<Eigen::Index> free, locked;
  for (Eigen::Index i = 0; i < given.size(); ++i)
    (in.driven != nullptr && in.driven[i] != 0 ? locked : free).push_back(i);
  const Eigen::VectorXd right = given(free) - m(free, locked) * result.jump(locked);
  const Eigen::VectorXd found = Cholesky(m(free, free)).solve(right);
  for (std::size_t i = 0; i < free.size(); ++i)
    result.jump[free[i]] = found[static_cast<Eigen::Index>(i)];
  const Eigen::VectorXd total = m * result.jump + bias;
  for (const Eigen::Index i : locked) result.impulse[i] = total[i];
}

}  // namespace

void apply_impulse(const Mechanism& mechanism, const State& state, const ImpulseInput& input,
                   Workspace& w, ImpulseResult& result) {
  const int n = mechanism.freedoms();
  check_vector(mechanism.velocity_names(), state.v, "velocity");
  check_size(input.impulse.size(), n, "impulse");
  check_size(static_cast<Eigen::Index>(input.locked.size()), n, "locked");
  check_size(input.target.size(), n, "target");
  result.velocity.resize(n);
  result.jump.resize(n);
  result.impulse.resize(n);
  const auto is_locked = [&](int i) {
    return !input.locked.empty() && input.locked[index(i)] != 0;
  };
  for (int i = 0; i < n; ++i) {
    const double target = input.target.size() == 0 ? 0.0 : input.target[i];
    result.jump[i] = is_locked(i) ? target - state.v[i] : 0.0;
    result.impulse[i] = is_locked(i) || input.impulse.size() == 0 ? 0.0 : input.impulse[i];
  }
  check_vector(mechanism.velocity_names(), result.jump, "target");
  check_vector(mechanism.velocity_names(), result.impulse, "impulse");

  PreparedInput in = prepare_position(mechanism, state.q, w);
  Scratch<double> scratch = w.scratch();
  if (!input.external.empty()) {
    kernel_table().kinematics(w.model(), in, &scratch);
    place_wrenches(mechanism, input.external, w);
    in.external = w.external.data();
  }
  w.vector.setZero();
  in.v = w.vector.data();  // at rest
  w.total_effort = result.impulse;
  w.effort = result.jump;
  in.effort = w.total_effort.data();
  in.acceleration = w.effort.data();
  in.driven = input.locked.empty() ? nullptr : input.locked.data();
  if (!w.remote_drives().empty() || mechanism.has_flexible_bodies()) {
    solve_dense(mechanism, state, in, w, result);
  } else {
    SweepModel model = w.model();  // without gravity
    for (double& g : model.gravity) g = 0.0;
    const SweepStatus status =
        run_embedded(mechanism, w.has_quaternion ? w.position : state.q, input.locked, w, [&] {
          // The chart is part of the model's tables; a fresh one keeps their addresses.
          return in.driven == nullptr
                     ? kernel_table().forward(model, in, &scratch, result.jump.data())
                     : kernel_table().hybrid(model, in, &scratch, result.jump.data(),
                                             result.impulse.data());
        });
    if (!status.done()) throw_no_inertia(mechanism, status.place);
  }
  result.velocity = state.v + result.jump;
  // Through the independent freedoms: all of a tree's.
  const Eigen::VectorXd jump = result.jump(w.independent());
  const Eigen::VectorXd mean = state.v(w.independent()) + 0.5 * jump;
  Eigen::VectorXd momentum;
  if (mechanism.has_flexible_bodies())
    momentum = mass_matrix(mechanism, state.q, w) * jump;
  else
    apply_mass_matrix(w, jump, momentum);
  result.energy_change = mean.dot(momentum);
}

ImpulseResult apply_impulse(const Mechanism& mechanism, const State& state,
                            const ImpulseInput& input) {
  Workspace workspace(mechanism);
  ImpulseResult result;
  apply_impulse(mechanism, state, input, workspace, result);
  return result;
}

ImpulseResult apply_impulse(const Mechanism& mechanism, const State& state,
                            const Eigen::VectorXd& impulse) {
  ImpulseInput input;
  input.impulse = impulse;
  return apply_impulse(mechanism, state, input);
}

ImpulseResult apply_impulse(const Mechanism& mechanism, const State& state,
                            const ExternalWrench& impulse) {
  ImpulseInput input;
  input.external.push_back(impulse);
  return apply_impulse(mechanism, state, input);
}

ImpulseResult lock_freedom(const Mechanism& mechanism, const State& state, std::string_view freedom,
                           double velocity) {
  const int i = mechanism.velocity_index(freedom);
  ImpulseInput input;
  input.locked.assign(to_size(mechanism.freedoms()), 0);
  input.locked[index(i)] = 1;
  input.target = Eigen::VectorXd::Constant(mechanism.freedoms(), velocity);
  return apply_impulse(mechanism, state, input);
}

}  // namespace catena
