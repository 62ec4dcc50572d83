// SPDX-License-Identifier: BSD-3-Clause
// A flexible body from mass, stiffness and damping matrices with node coordinates, as a
// finite-element program writes them or as an engineer has them for an appendage.
//
//   MatricesBodySettings s{.nodes = positions, .freedoms_per_node = 6, .mass = m, .stiffness = k};
//   s.clamped_nodes = {0};
//   s.attachments = {{.name = "tip", .nodes = {12}}};
//   const auto body = make_matrices_body(s);
//
// Freedoms are node by node: three displacements, and three rotations if there are six. The body
// frame is the frame of the coordinates, and the clamped nodes are fixed to it. An attachment is
// one node with six freedoms, or the mean motion of several nodes (distributing coupling, RBE3).
//
// Inertia from the velocities T v + R(x + u) ω + Φ η̇ of the nodes (T, R: rigid motions). Rotary
// inertias of nodes are not turned with the deformation. The geometric stiffness cannot be derived
// from M and K: the model `consistent` needs the matrices K_σ of the twelve inertia loads, and
// reports an error without them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "catena/model/flexible_body.h"

namespace catena {

struct MatricesBodySettings {
  struct Attachment {
    std::string name{};
    std::vector<int> nodes{};
    // K_σ of unit forces along x, y, z and unit moments about them; empty: none.
    std::vector<Eigen::MatrixXd> geometric_stiffness{};
  };
  std::vector<Vec3d> nodes{};
  int freedoms_per_node = 3;
  Eigen::MatrixXd mass{}, stiffness{};
  Eigen::MatrixXd damping{};  // empty: none but `modal_damping`
  std::vector<int> clamped_nodes{};
  std::vector<Attachment> attachments{};
  // K_σ of the loads M e_x, M e_y, M e_z, then M x_k e_l: (x, e_x), (x, e_y), ... (z, e_z).
  std::vector<Eigen::MatrixXd> geometric_stiffness{};
  ModeChoice modes{};
  ModalDamping modal_damping{};
  FlexibleModel model = FlexibleModel::consistent;
  InertiaCompletion completion = InertiaCompletion::automatic;
};

// Throws ModelError with every problem, named `name` and with remedies.
std::shared_ptr<const FlexibleBody> make_matrices_body(const MatricesBodySettings& settings,
                                                       const std::string& name = "body",
                                                       const Source& source = {});

// The settings of a body that make_matrices_body() made; null of any other.
const MatricesBodySettings* matrices_of(const std::shared_ptr<const FlexibleBody>& body);

}  // namespace catena
