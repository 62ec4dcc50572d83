// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/operators/chain_as_lq.h"

#include "catena/base/index.h"
#include "catena/dynamics/kernels/hinge_block.h"
#include "catena/spatial/eigen.h"

namespace catena {
namespace {

void check_chain(const Mechanism& mechanism, const Workspace& w) {
  const auto fail = [&](const std::string& why) {
    throw Error("'" + mechanism.name() + "' is not a serial chain: " + why);
  };
  if (mechanism.has_flexible_bodies()) fail("it has flexible bodies");
  if (!mechanism.loops().empty()) fail("it has a closed loop");
  if (!w.remote_drives().empty())
    fail("a rotor is carried by a body that is not its hinge's parent");
  for (int n = 0; n < w.model().node_count; ++n) {
    const Node& node = w.model().nodes[n];
    if (node.parent == n - 1) continue;
    fail("hinge '" + mechanism.hinges()[index(node.hinge_index)].name +
         "' is not attached to the body before it");
  }
}

}  // namespace

LqProblem chain_as_lq(const Mechanism& mechanism, const State& state, const Eigen::VectorXd& effort,
                      Workspace& w, std::span<const ExternalWrench> external) {
  check_chain(mechanism, w);
  const PreparedInput in = prepare(mechanism, state, &effort, external, w);
  const SweepModel& model = w.model();
  Scratch<double> scratch = w.scratch();
  // Positions, velocities, and accelerations at v̇ = 0, less gravity.
  kernel_table().inverse(model, in, &scratch, w.effort.data());
  LqProblem problem;
  problem.start = Eigen::VectorXd(0);
  for (int n = 0; n < model.node_count; ++n) {
    const HingeBlock hinge(w, n);
    const NodeScratch<double>& node = w.node(n);
    const int freedoms = hinge.freedoms();
    LqStage stage;
    stage.A = n == 0 ? Eigen::MatrixXd(6, 0) : Eigen::MatrixXd(matrix_Ad(node.to_parent.inverse()));
    stage.B.resize(6, freedoms);
    stage.r.setZero(freedoms);
    for (int k = 0; k < freedoms; ++k) {
      stage.B.col(k) = to_eigen(hinge.column(k));
      if (in.effort != nullptr) stage.r[k] = -in.effort[hinge.v_index() + k];
    }
    if (n > 0) {  // the cost of the body before
      stage.Q = problem.final_Q;
      stage.q = problem.final_q;
    }
    if (model.rotors != nullptr && model.rotors[n].reflected != 0.0) {
      stage.R = Eigen::MatrixXd::Constant(1, 1, model.rotors[n].reflected);
      if (n > 0) {
        const Vec3d c = load_vec3<double>(model.rotors[n].coupling);
        const NodeScratch<double>& carrier = w.node(n - 1);
        stage.S = Eigen::MatrixXd::Zero(1, 6);
        stage.S.leftCols<3>() = to_eigen(c).transpose();
        stage.r[0] += dot(c, carrier.acceleration.angular);
        stage.q.head<3>() += to_eigen(cross(carrier.twist.angular, state.v[hinge.v_index()] * c));
      }
    }
    problem.stages.push_back(std::move(stage));
    const SpatialInertiad inertia = load_inertia<double>(model.nodes[n]);
    Wrenchd force = inertia * node.acceleration - ad_star(node.twist, inertia * node.twist);
    if (in.external != nullptr)
      for (int i = 0; i < 6; ++i) force[i] -= in.external[6 * n + i];
    problem.final_Q = to_eigen(inertia);
    problem.final_q = to_eigen(force);
  }
  return problem;
}

LqProblem chain_as_lq(const Mechanism& mechanism, const State& state, const Eigen::VectorXd& effort,
                      std::span<const ExternalWrench> external) {
  Workspace workspace(mechanism);
  return chain_as_lq(mechanism, state, effort, workspace, external);
}

}  // namespace catena
