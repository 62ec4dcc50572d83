// SPDX-License-Identifier: BSD-3-Clause
// AggregateBlock: a closed loop as the operators (operators/operators.h) see it, the counterpart of
// HingeBlock (hinge_block.h). Its freedoms are the independent ones of the chart, in their order
// there.
//
//   X          all freedoms of the members by the independent ones
//   D          inertia of the independent freedoms
//   gain       6 x d   U X in the aggregate's frame: its axes are the base's, its origin is not
//
// Valid after a sweep that eliminated every freedom (articulate(), forward_dynamics() by the
// recursive route); X alone after any sweep. The members themselves move and pass forces on like
// other nodes of the spanning tree; what X, D and the gain do to that is here. Arrays that hold one
// number for each freedom of the mechanism are called `all`, those of the block's own freedoms
// `own`.
#pragma once

#include <cmath>

#include "catena/dynamics/kernels/cholesky.h"
#include "catena/dynamics/workspace.h"

namespace catena {

class AggregateBlock {
 public:
  // Of the loop that node n is a member of.
  AggregateBlock(const Workspace& workspace, int n)
      : model_(workspace.model()),
        a_(model_.aggregates[model_.aggregate_of_node[n]]),
        g_(workspace.aggregate(model_.aggregate_of_node[n])),
        order_(model_.order + a_.first_order),
        freedom_(model_.freedom_of_column + a_.first_order) {}

  int base() const { return a_.base; }
  int freedoms() const { return a_.independents; }
  // Room for one number for each freedom, until the next use.
  double* work() const { return g_.work; }

  void gather(const double* all, double* own) const {
    for (int k = 0; k < a_.independents; ++k) own[k] = all[index(k)];
  }
  void scatter(const double* own, double* all) const {
    for (int k = 0; k < a_.independents; ++k) all[index(k)] = own[k];
  }

  // The dependent entries of `all` by X from the independent ones.
  void expand(double* all) const {
    for (int d = 0; d < a_.rank; ++d) {
      double sum = 0.0;
      for (int k = 0; k < a_.independents; ++k) sum += map(order_[d], k) * all[index(k)];
      all[freedom_[order_[d]]] = sum;
    }
  }
  // own := Xᵀ of the block's entries of `all`.
  void project(const double* all, double* own) const {
    for (int k = 0; k < a_.independents; ++k) {
      double sum = 0.0;
      for (int i = 0; i < a_.freedoms; ++i) sum += map(i, k) * all[freedom_[i]];
      own[k] = sum;
    }
  }

  // own := gainᵀ V_base
  void pull(const Twistd& base_twist, double* own) const {
    const Twistd moved{base_twist.angular, base_twist.linear + cross(base_twist.angular, origin())};
    for (int k = 0; k < a_.independents; ++k) own[k] = dot(g_.gain[k], moved);
  }
  // gain x, on the base and in its frame.
  Wrenchd passed(const double* own) const {
    Wrenchd sum = Wrenchd::zero();
    for (int k = 0; k < a_.independents; ++k) sum += own[k] * g_.gain[k];
    sum.moment += cross(origin(), sum.force);
    return sum;
  }

  // With D = C Cᵀ (Cholesky), in place:  D⁻¹ x,  C⁻ᵀ x,  Cᵀ x,  D x.
  void solve(double* own) const {
    solve_lower(factor(), a_.independents, own);
    solve_upper(factor(), a_.independents, own);
  }
  void divide_by_root_transposed(double* own) const { solve_upper(factor(), a_.independents, own); }
  void times_root_transposed(double* own) const {
    for (int i = 0; i < a_.independents; ++i) {
      double sum = 0.0;
      for (int k = i; k < a_.independents; ++k) sum += root(k, i) * own[k];
      own[i] = sum;
    }
  }
  void times_inertia(double* own) const {
    times_root_transposed(own);
    for (int i = a_.independents; i-- > 0;) {
      double sum = 0.0;
      for (int k = 0; k <= i; ++k) sum += root(i, k) * own[k];
      own[i] = sum;
    }
  }
  double log_determinant() const {
    double sum = 0.0;
    for (int k = 0; k < a_.independents; ++k) sum += 2.0 * std::log(root(k, k));
    return sum;
  }

 private:
  int index(int k) const { return freedom_[order_[a_.rank + k]]; }
  double map(int i, int k) const { return g_.map[i * a_.independents + k]; }
  Rows<double> factor() const { return {g_.factor, a_.independents}; }
  double root(int i, int k) const { return factor()[i][k]; }
  Vec3d origin() const { return load_vec3<double>(a_.origin); }

  const SweepModel& model_;
  const Aggregate& a_;
  const AggregateScratch<double>& g_;
  const int* order_;
  const int* freedom_;
};

inline bool is_member(const Workspace& w, int n) { return w.model().kinds[n] >= NodeKind::member; }
inline bool is_first_member(const Workspace& w, int n) {
  return w.model().kinds[n] > NodeKind::member;
}

}  // namespace catena
