// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of the dynamics of many states at once, as dynamics/batch.h computes the dynamics:
// one state per lane of a SIMD register, packs on all threads. A bad state gets a status and does
// not affect the others.
//
//   BatchDerivatives batch(mechanism);
//   RowMatrix acceleration(q.rows(), mechanism.freedoms());
//   batch.forward(q, v, effort, acceleration);
//   batch.matrix(i, 0)   ∂v̇/∂q of state i;  1: ∂v̇/∂v;  2: ∂v̇/∂τ = M⁻¹
//
// The fast path is that of trees. Closed mechanisms, and those with springs between bodies, users'
// hinges, or drives on distant bodies, go one state at a time through the functions for one state,
// on all threads; so do derivatives of forward dynamics of long trees, which take O(N²) there. The
// states of a closed mechanism share one chart (workspace().chart(), batch.h): its matrices are
// those of the independent freedoms, with columns for the efforts at all freedoms.
#pragma once

#include <memory>

#include "catena/dynamics/batch.h"
#include "catena/sensitivity/results.h"

namespace catena {

class BatchDerivatives {
 public:
  // The mechanism must outlive it.
  explicit BatchDerivatives(const Mechanism& mechanism, BatchSettings settings = {});
  ~BatchDerivatives();
  BatchDerivatives(BatchDerivatives&&) noexcept;
  BatchDerivatives& operator=(BatchDerivatives&&) noexcept;

  // Reports, threads, lanes.
  BatchWorkspace& workspace();

  // Inverse dynamics at these accelerations: ∂τ/∂q, ∂τ/∂v and M of every state.
  void inverse(const BatchIn& q, const BatchIn& v, const BatchIn& acceleration);
  // Forward dynamics: accelerations, and ∂v̇/∂q, ∂v̇/∂v and M⁻¹. (The accelerations come from the
  // factors of M with one refinement, not from the sweeps of batch_forward_dynamics().)
  void forward(const BatchIn& q, const BatchIn& v, const BatchIn& effort, BatchOut acceleration);

  // Results of the last call: 3 n² numbers of each state in lanes, three matrices column by column.
  // Those of a bad state are NaN. Rows and columns are all freedoms; those of dependent ones of a
  // closed mechanism are zero, but for columns of efforts, and matrix() leaves them out.
  const LaneArray& numbers() const;
  double entry(Eigen::Index state, int matrix, Eigen::Index row, Eigen::Index column) const;
  Eigen::MatrixXd matrix(Eigen::Index state, int matrix) const;

  // The same into rows of 3 n² numbers.
  void inverse(const BatchIn& q, const BatchIn& v, const BatchIn& acceleration, BatchOut rows);
  void forward(const BatchIn& q, const BatchIn& v, const BatchIn& effort, BatchOut acceleration,
               BatchOut rows);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace catena
