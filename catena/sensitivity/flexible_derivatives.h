// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of inverse dynamics for mechanisms with flexible bodies: the sweeps themselves on
// dual numbers, four directions at a time. Exact; O(N) for each four of the 2 n directions.
//
// Directions, loads and conventions are those of inverse_derivatives.h.
#pragma once

#include <memory>
#include <span>

#include "catena/dynamics/loads.h"
#include "catena/dynamics/workspace.h"
#include "catena/sensitivity/results.h"

namespace catena {

// Scratch in dual numbers, sized once for a mechanism.
class FlexibleDuals {
 public:
  explicit FlexibleDuals(const Workspace& workspace);
  ~FlexibleDuals();
  FlexibleDuals(const FlexibleDuals&) = delete;
  FlexibleDuals& operator=(const FlexibleDuals&) = delete;

  // dq and dv, at a position whose quaternions are normalized.
  void inverse(const Eigen::VectorXd& q, const Eigen::VectorXd& v,
               const Eigen::VectorXd& acceleration, std::span<const ExternalWrench> external,
               InverseDerivatives& out);
  // Position and velocity of a point of a node in ground axes, by q: 3 × freedoms each.
  void spot(const Eigen::VectorXd& q, const Eigen::VectorXd& v, int node, const Vec3d& point,
            Eigen::MatrixXd& position_dq, Eigen::MatrixXd& velocity_dq);

 private:
  struct Store;
  std::unique_ptr<Store> store_;
};

}  // namespace catena
