#include "catena/dynamics/influence.h"

#include <algorithm>

#include "catena/dynamics/hinge_block.h"
#include "catena/spatial/eigen.h"

namespace catena {
namespace {

template <class T>
auto& at(T& container, int i) {
  return container[static_cast<std::size_t>(i)];
}

}  // namespace

std::vector<int> node_parents(const Mechanism& mechanism) {
  std::vector<int> parents;
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

DenseOperators dense_operators(const Workspace& w) {
  const Mechanism& mechanism = w.mechanism();
  const int count = w.model().node_count;
  const Eigen::Index n6 = 6 * count, freedoms = mechanism.freedoms();
  DenseOperators d;
  d.hinge_map = Eigen::MatrixXd::Zero(n6, freedoms);
  d.gain = d.hinge_map;
  d.own_gain = d.hinge_map;
  d.inertia = Eigen::MatrixXd::Zero(n6, n6);
  d.articulated = d.inertia;
  d.hinge_inertia = Eigen::MatrixXd::Zero(freedoms, freedoms);
  std::vector<Eigen::MatrixXd> shifts, steps;
  for (int n = 0; n < count; ++n) {
    const HingeBlock hinge(w, n);
    const Eigen::Index row = 6 * n, v = hinge.v_index(), f = hinge.freedoms();
    d.inertia.block<6, 6>(row, row) = to_eigen(load_inertia<double>(w.model().nodes[n]));
    d.articulated.block<6, 6>(row, row) = to_eigen(w.node(n).articulated);
    Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(f, f);
    for (int k = 0; k < f; ++k) {
      d.hinge_map.block<6, 1>(row, v + k) = to_eigen(hinge.column(k));
      hinge.solve(inverse.col(k).data());
    }
    d.own_gain.block(row, v, 6, f) =
        d.articulated.block<6, 6>(row, row) * d.hinge_map.block(row, v, 6, f) * inverse;
    Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(f, f);
    for (int k = 0; k < f; ++k) hinge.times_inertia(unit.col(k).data());
    d.hinge_inertia.block(v, v, f, f) = unit;
    const Matrix6d shift = matrix_Ad(hinge.to_parent().inverse());
    shifts.push_back(shift);
    if (hinge.parent() < 0) {
      steps.push_back(shift);
      continue;
    }
    for (int k = 0; k < f; ++k)
      d.gain.block<6, 1>(6 * hinge.parent(), v + k) =
          to_eigen(hinge.passed(Wrenchd::zero(), inverse.col(k).data()));
    steps.push_back(shift - d.hinge_map.block(row, v, 6, f) *
                                d.gain.block(6 * hinge.parent(), v, 6, f).transpose());
  }
  const std::vector<int> parents = node_parents(mechanism);
  const InfluenceOperator influence(parents, shifts), articulated(parents, steps);
  d.shift = influence.dense_step();
  d.shift_sum = influence.dense();
  d.articulated_step = articulated.dense_step();
  d.articulated_sum = articulated.dense();
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(freedoms, freedoms);
  d.factor = one + d.gain.transpose() * d.shift_sum * d.hinge_map;
  d.inverse_factor = one - d.gain.transpose() * d.articulated_sum * d.hinge_map;
  return d;
}

}  // namespace catena
