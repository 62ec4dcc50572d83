// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/operators/influence.h"

#include <algorithm>

#include "catena/base/index.h"
#include "catena/dynamics/kernels/aggregate_block.h"
#include "catena/dynamics/kernels/hinge_block.h"
#include "catena/spatial/eigen.h"

namespace catena {
namespace {}  // namespace

std::vector<int> node_parents(const Mechanism& mechanism) {
  std::vector<int> parents;
  parents.reserve(mechanism.nodes().size());
  for (const Node& node : mechanism.nodes()) parents.push_back(node.parent);
  return parents;
}

std::vector<int> path_to_ground(std::span<const int> parents, int node) {
  std::vector<int> path;
  for (; node >= 0; node = at(parents, node)) path.push_back(node);
  return path;
}

std::vector<int> branch(std::span<const int> parents, int node) {
  std::vector<char> inside(parents.size(), 0);
  std::vector<int> found;
  for (int n = node; n < static_cast<int>(parents.size()); ++n) {
    const int parent = at(parents, n);
    if (n != node && (parent < 0 || !at(inside, parent))) continue;
    at(inside, n) = 1;
    found.push_back(n);
  }
  return found;
}

std::vector<int> children(std::span<const int> parents, int node) {
  std::vector<int> found;
  for (int n = 0; n < static_cast<int>(parents.size()); ++n)
    if (at(parents, n) == node) found.push_back(n);
  return found;
}

int common_ancestor(std::span<const int> parents, int a, int b) {
  while (a != b) (a > b ? a : b) = at(parents, std::max(a, b));
  return a;
}

int nilpotency(std::span<const int> parents) {
  std::vector<int> depth(parents.size(), 1);
  int deepest = 0;
  for (std::size_t n = 0; n < parents.size(); ++n) {
    if (parents[n] >= 0) depth[n] = at(depth, parents[n]) + 1;
    deepest = std::max(deepest, depth[n]);
  }
  return deepest;
}

InfluenceOperator::InfluenceOperator(std::vector<int> parents, std::vector<Eigen::MatrixXd> blocks)
    : parents_(std::move(parents)), blocks_(std::move(blocks)) {
  if (parents_.size() != blocks_.size())
    throw NumericalError("an influence operator needs one block for each of its " +
                         std::to_string(parents_.size()) + " nodes");
  offset_.push_back(0);
  for (std::size_t n = 0; n < parents_.size(); ++n) {
    const int parent = parents_[n];
    if (parent >= static_cast<int>(n) || parent < -1)
      throw NumericalError("node " + std::to_string(n) + " must come after its parent");
    if (parent >= 0 && blocks_[n].cols() != at(blocks_, parent).rows())
      throw NumericalError("block " + std::to_string(n) + " has " +
                           std::to_string(blocks_[n].cols()) + " columns, but its parent has " +
                           std::to_string(at(blocks_, parent).rows()) + " rows");
    offset_.push_back(offset_.back() + blocks_[n].rows());
  }
}

Eigen::VectorXd InfluenceOperator::apply(const Eigen::VectorXd& x) const {
  Eigen::VectorXd z = x;
  for (std::size_t n = 0; n < parents_.size(); ++n)
    if (const int p = parents_[n]; p >= 0)
      z.segment(offset_[n], blocks_[n].rows()) +=
          blocks_[n] * z.segment(at(offset_, p), blocks_[n].cols());
  return z;
}

Eigen::VectorXd InfluenceOperator::apply_transposed(const Eigen::VectorXd& x) const {
  Eigen::VectorXd z = x;
  for (std::size_t n = parents_.size(); n-- > 0;)
    if (const int p = parents_[n]; p >= 0)
      z.segment(at(offset_, p), blocks_[n].cols()) +=
          blocks_[n].transpose() * z.segment(offset_[n], blocks_[n].rows());
  return z;
}

Eigen::MatrixXd InfluenceOperator::dense_step() const {
  Eigen::MatrixXd phi = Eigen::MatrixXd::Zero(offset_.back(), offset_.back());
  for (std::size_t n = 0; n < parents_.size(); ++n)
    if (const int p = parents_[n]; p >= 0)
      phi.block(offset_[n], at(offset_, p), blocks_[n].rows(), blocks_[n].cols()) = blocks_[n];
  return phi;
}

Eigen::MatrixXd InfluenceOperator::dense() const {
  Eigen::MatrixXd psi = Eigen::MatrixXd::Identity(offset_.back(), offset_.back());
  for (Eigen::Index k = 0; k < psi.cols(); ++k) psi.col(k) = apply(psi.col(k));
  return psi;
}

namespace {

// The columns of the freedoms of one hinge, from v on.
void add_hinge(const Workspace& w, int n, Eigen::Index v, DenseOperators& d) {
  const HingeBlock hinge(w, n);
  const Eigen::Index row = 6 * n, f = hinge.freedoms();
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(f, f), inertia = inverse;
  for (int k = 0; k < f; ++k) {
    d.hinge_map.block<6, 1>(row, v + k) = to_eigen(hinge.column(k));
    hinge.solve(inverse.col(k).data());
    hinge.times_inertia(inertia.col(k).data());
  }
  d.hinge_inertia.block(v, v, f, f) = inertia;
  d.own_gain.block(row, v, 6, f) =
      d.articulated.block<6, 6>(row, row) * d.hinge_map.block(row, v, 6, f) * inverse;
  if (hinge.parent() < 0) return;
  for (int k = 0; k < f; ++k)
    d.gain.block<6, 1>(6 * hinge.parent(), v + k) =
        to_eigen(hinge.passed(Wrenchd::zero(), inverse.col(k).data()));
}

// The columns of the independent freedoms of the loop whose first member is n. `place` of a freedom
// is its column.
void add_loop(const Workspace& w, int n, const std::vector<int>& place, DenseOperators& d) {
  const AggregateBlock loop(w, n);
  const Aggregate& a = w.model().aggregates[w.model().aggregate_of_node[n]];
  const int f = loop.freedoms();
  std::vector<double> all(place.size()), own(to_size(f));
  std::vector<Eigen::Index> column;
  for (int k = 0; k < f; ++k) {
    std::fill(own.begin(), own.end(), 0.0);
    std::fill(all.begin(), all.end(), 0.0);
    at(own, k) = 1.0;
    loop.scatter(own.data(), all.data());
    column.push_back(
        at(place, static_cast<int>(std::find(all.begin(), all.end(), 1.0) - all.begin())));
    loop.expand(all.data());
    for (int i = 0; i < a.member_count; ++i) {
      const int node = w.model().members[a.first_member + i].node;
      const HingeBlock hinge(w, node);
      d.hinge_map.block<6, 1>(6 * node, column.back()) =
          to_eigen(hinge.motion(all.data() + hinge.v_index()));
    }
  }
  for (int k = 0; k < f; ++k) {
    std::fill(own.begin(), own.end(), 0.0);
    at(own, k) = 1.0;
    loop.times_inertia(own.data());
    for (int i = 0; i < f; ++i) d.hinge_inertia(at(column, i), at(column, k)) = at(own, i);
    std::fill(own.begin(), own.end(), 0.0);
    at(own, k) = 1.0;
    loop.solve(own.data());
    if (loop.base() >= 0)
      d.gain.block<6, 1>(6 * loop.base(), at(column, k)) = to_eigen(loop.passed(own.data()));
  }
}

}  // namespace

DenseOperators dense_operators(const Workspace& w) {
  const Mechanism& mechanism = w.mechanism();
  const int count = w.model().node_count;
  const Eigen::Index n6 = 6 * count, freedoms = static_cast<Eigen::Index>(w.independent().size());
  std::vector<int> place(to_size(mechanism.freedoms()), -1);
  for (int i = 0; i < freedoms; ++i) at(place, at(w.independent(), i)) = i;
  DenseOperators d;
  d.hinge_map = Eigen::MatrixXd::Zero(n6, freedoms);
  d.gain = d.hinge_map;
  d.own_gain = d.hinge_map;
  d.inertia = Eigen::MatrixXd::Zero(n6, n6);
  d.articulated = d.inertia;
  d.hinge_inertia = Eigen::MatrixXd::Zero(freedoms, freedoms);
  std::vector<Eigen::MatrixXd> shifts;
  for (int n = 0; n < count; ++n) {
    const Eigen::Index row = 6 * n;
    d.inertia.block<6, 6>(row, row) = to_eigen(load_inertia<double>(w.model().nodes[n]));
    d.articulated.block<6, 6>(row, row) = to_eigen(w.node(n).articulated);
    shifts.push_back(matrix_Ad(w.node(n).to_parent.inverse()));
    if (!is_member(w, n))
      add_hinge(w, n, at(place, w.model().nodes[n].v_index), d);
    else if (is_first_member(w, n))
      add_loop(w, n, place, d);
  }
  const InfluenceOperator influence(node_parents(mechanism), shifts);
  d.shift = influence.dense_step();
  d.shift_sum = influence.dense();
  d.articulated_step = d.shift - d.hinge_map * d.gain.transpose();
  d.articulated_sum = (Eigen::MatrixXd::Identity(n6, n6) - d.articulated_step)
                          .triangularView<Eigen::UnitLower>()
                          .solve(Eigen::MatrixXd::Identity(n6, n6));
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(freedoms, freedoms);
  d.factor = one + d.gain.transpose() * d.shift_sum * d.hinge_map;
  d.inverse_factor = one - d.gain.transpose() * d.articulated_sum * d.hinge_map;
  return d;
}

}  // namespace catena
