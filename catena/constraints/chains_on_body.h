// SPDX-License-Identifier: BSD-3-Clause
// Several chains that hold one body (the simple closed chains of [Lilly & Orin 1989]): a grasp by
// several arms, a hand with a moving palm, a legged vehicle. Each contact has its own free and
// constrained directions.
//
// The body hangs on the ground by a free hinge and is the hub; a contact holds a frame on a chain's
// tip against a frame on the hub (arms), or a frame on a leg that hangs on the hub against the
// ground. But for the freedoms that several contacts share (the hub's six, and those of a moving
// palm) the contacts are independent of each other:
//
//   J M⁻¹ Jᵀ = B + Uᵀ U,    B: one block a contact, of its own chain;  U: rows of what they share
//
//   λ_k = B_k⁻¹ (b_k − U_kᵀ y),   (1 + Σ U_k B_k⁻¹ U_kᵀ) y = Σ U_k B_k⁻¹ b_k
//
// in time linear in chains times length. With C Cᵀ the articulated inertia of the hub, its
// effective inertia is C ([(1 + Σ U_k B_k⁻¹ U_kᵀ)⁻¹]_hub)⁻¹ Cᵀ (Lilly & Orin's I_0 + Σ X_kᵀ R_k). A
// chain that is short or singular in a constrained direction (B_k without full rank) holds the hub
// itself there; then the whole set is solved with its rank (TreeConstraints), at the cube of the
// number of rows.
//
// Contact wrenches are what the chain exerts on the body, in the frame of the contact on it. A
// known force along a free direction (friction h of the paper) is an external load for the caller.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catena/base/dense.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/multipliers/multiplier_dynamics.h"

namespace catena {

struct ChainContact {
  std::string name;
  int body = -1;          // on the chain (arms), or the foot of a leg
  Transformd frame{};     // X_body_contact
  int against = -1;       // the hub (arms), or the ground, −1, or any other body (legs)
  Transformd on_other{};  // X_other_contact
  HingeType type = HingeType::weld;  // what it leaves free: weld (rigid grasp), spherical (point
                                     // with friction), planar (frictionless face), ...
  // Or directions of your own in the frame on the other body: rows of (moment, force); then `type`
  // is not used.
  std::vector<Wrenchd> constrained{};
  std::vector<double> acceleration{};  // given ones along the constrained directions; empty: zero
};

struct ChainsResult {
  Eigen::VectorXd acceleration;   // of all freedoms
  Twistd hub_acceleration;        // spatial, in the hub's frame: rate of its twist's components
  std::vector<Wrenchd> wrenches;  // on the body on the other side, in the frame of the contact on
                                  // it; by contact
  Matrix6d hub_compliance;        // acceleration of the hub for a wrench on it, in its frame
  Matrix6d effective_inertia;     // its inverse: what a wrench on the hub feels; infinite entries
                                  // where the contacts hold the hub
  bool by_blocks = false;         // the linear way; false: by rank
  int rank = 0;
};

class ChainsOnBody {
 public:
  // `hub` hangs on the ground by a free hinge. The mechanism has no closed loops of its own.
  ChainsOnBody(const Mechanism& mechanism, int hub, std::vector<ChainContact> contacts);

  // Contacts are switched without rebuilding anything.
  void set_active(int contact, bool active);
  bool active(int contact) const;
  int find(std::string_view name) const;  // NameError with the nearest

  // Nothing is allocated in here but the result's own arrays at the first call.
  void forward(const State& state, const Eigen::VectorXd& effort, ChainsResult& result,
               std::span<const ExternalWrench> external = {});
  ChainsResult forward(const State& state, const Eigen::VectorXd& effort,
                       std::span<const ExternalWrench> external = {});

  // J M⁻¹ Jᵀ of one contact's constrained directions, of its own chain alone (Lilly & Orin's
  // φᶜᵀ Λ⁻¹ φᶜ); after forward().
  const Eigen::MatrixXd& chain_compliance(int contact) const;

 private:
  struct Contact {
    ChainContact settings;
    int constraint = -1;
    NodeFrame own, other;
    Eigen::MatrixXd block;   // B
    Eigen::MatrixXd reach;   // U, shared freedoms by rows
    Eigen::MatrixXd solved;  // B⁻¹ Uᵀ
    Eigen::VectorXd right;
    SemidefiniteSolver solver;
  };
  void place(const Workspace& workspace);
  void find_shared();
  void split();
  bool solve_by_blocks();
  void solve_by_rank();
  Matrix6d hub_root() const;

  const Mechanism* mechanism_;
  int hub_node_ = -1;
  Transformd X_node_hub_;
  TreeConstraints constraints_;
  Workspace workspace_;
  std::vector<Contact> contacts_;
  std::vector<int> shared_;  // freedoms that several active contacts can move, and the hub's
  std::vector<int> place_of_freedom_;  // among the shared ones, −1: not one of them
  bool stale_ = true;
  Eigen::MatrixXd inner_, inner_inverse_;  // 1 + Σ U B⁻¹ Uᵀ
  Eigen::VectorXd shared_right_;
  Eigen::VectorXd right_, multipliers_, column_;
  Cholesky factor_;
};

// Chains and contacts of a mechanism whose closed loops are such chains: every hinge that closes a
// loop, on the hub or (legs) on the ground, is a contact with what it leaves free. The tree has the
// freedoms of the mechanism, in its order.
struct OpenedChains {
  Mechanism tree;
  std::vector<ChainContact> contacts;
};
// Throws Error, naming the hinge, if a loop is closed otherwise.
OpenedChains open_chains(const Mechanism& mechanism, int hub);

}  // namespace catena
