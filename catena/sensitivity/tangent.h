// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; workspace.h needs it.
//
// Derivatives of the embedding of closed loops: of X and γ of v = X v_i, v̇ = X v̇_i + γ along the
// independent freedoms, by dual numbers through the rows of the closures (closure/rows.h) and their
// elimination (dynamics/kernels/aggregate.h).
//
// Along the tangent direction of an independent freedom k the whole spanning tree moves by X_k, and
// with the independent velocities held its velocities change by ∂_k X v_i. γ depends on both.
// Cost: for each loop two evaluations of its closure in dual numbers for every four independent
// freedoms.
#pragma once

#include <memory>
#include <vector>

#include "catena/dynamics/workspace.h"
#include "catena/sensitivity/results.h"

namespace catena {

// Of one loop, k, l places among its independent freedoms and i a column of it.
struct LoopVariation {
  int size = 0;
  int independents = 0;
  std::vector<double> map_by_q;   // [k][i][l]: ∂X_il along k
  std::vector<double> bias_by_q;  // [k][i]: ∂γ_i, velocities changing as above
  std::vector<double> bias_by_v;  // [k][i]: ∂γ_i with the independent velocity k
};

// Scratch in dual numbers, sized once for a mechanism with loops.
class ClosureDuals {
 public:
  explicit ClosureDuals(const Workspace& workspace);
  ~ClosureDuals();
  ClosureDuals(const ClosureDuals&) = delete;
  ClosureDuals& operator=(const ClosureDuals&) = delete;

  // Of every loop at q and v, with the chart and the map X that the workspace holds.
  void differentiate(const double* q, const double* v, const Workspace& workspace);
  const std::vector<LoopVariation>& loops() const { return loops_; }
  // Of loop `loop_index` along any motion of its columns, which need not keep it closed (as one
  // does that follows a rod's length), the independent velocities held: one direction k.
  LoopVariation along(int loop_index, const double* q, const double* v, const double* motion,
                      const Workspace& workspace);

 private:
  struct Store;
  template <class Speed>
  void set_position(const Workspace& workspace, int loop_index, const double* q, int slot,
                    Speed speed);
  void evaluate(const Workspace& workspace, int loop_index, bool with_v);
  std::unique_ptr<Store> store_;
  std::vector<LoopVariation> loops_;
};

}  // namespace catena
