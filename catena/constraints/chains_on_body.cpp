// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/chains_on_body.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/pair.h"
#include "catena/closure/rows.h"
#include "catena/model/builder.h"

namespace catena {
namespace {

NodeFrame on_node(const Mechanism& m, int body, const Transformd& frame, const std::string& what) {
  if (body < -1 || body >= static_cast<int>(m.bodies().size()))
    throw NumericalError(what + ": there is no body " + std::to_string(body));
  if (body < 0) return {-1, frame};
  const BodyPlace& place = m.bodies()[index(body)];
  return {place.node, place.X_node_body * frame};
}

// A chain's own compliance has lost rank when this is left of a pivot (a squared sine); the same
// roundings as in TreeConstraints, for chains of a thousand links.
constexpr double kSingularChain = 1e-11;

std::vector<Wrenchd> rows_of(const ChainContact& contact) {
  if (!contact.constrained.empty()) return contact.constrained;
  Hinge hinge;
  hinge.type = contact.type;
  hinge.axes = {Vec3d::unit_z()};
  const Closure c = pair_closure(hinge, contact.type);
  std::vector<Wrenchd> rows;
  rows.reserve(to_size(c.rows));
  for (int r = 0; r < c.rows; ++r)
    rows.push_back({load_vec3<double>(c.covector[r]), load_vec3<double>(c.covector[r] + 3)});
  return rows;
}

}  // namespace

ChainsOnBody::ChainsOnBody(const Mechanism& mechanism, int hub, std::vector<ChainContact> contacts)
    : mechanism_(&mechanism), constraints_(mechanism), workspace_(mechanism) {
  if (!mechanism.loops().empty())
    throw Error("'" + mechanism.name() +
                "' has closed loops of its own; chains on a body are for trees");
  if (hub < 0 || hub >= static_cast<int>(mechanism.bodies().size()))
    throw NumericalError("the hub is body " + std::to_string(hub) + ", which does not exist");
  const BodyPlace& place = mechanism.bodies()[index(hub)];
  hub_node_ = place.node;
  X_node_hub_ = place.X_node_body;
  if (hub_node_ < 0 || mechanism.nodes()[index(hub_node_)].parent >= 0 ||
      mechanism.nodes()[index(hub_node_)].hinge != NodeHinge::free)
    throw Error("body '" + place.name +
                "' must hang on the ground by a free hinge to be held by chains");
  for (ChainContact& settings : contacts) {
    const std::string what = "contact '" + settings.name + "'";
    Contact c;
    settings.constrained = rows_of(settings);
    const std::size_t rows = settings.constrained.size();
    if (rows == 0 || rows > 6)
      throw Error(what + ": it constrains " + std::to_string(rows) +
                  " directions; it must be one to six");
    if (settings.acceleration.empty()) settings.acceleration.assign(rows, 0.0);
    if (settings.acceleration.size() != rows)
      throw Error(what + ": " + std::to_string(settings.acceleration.size()) +
                  " accelerations are given for " + std::to_string(rows) + " directions");
    c.own = on_node(mechanism, settings.body, settings.frame, what);
    c.other = on_node(mechanism, settings.against, settings.on_other, what);
    if (c.own.node == c.other.node)
      throw Error(what + ": both of its sides are on one rigid group");
    c.constraint = constraints_.add_between(c.other.node, c.own.node, static_cast<int>(rows));
    c.right.resize(static_cast<Eigen::Index>(rows));
    c.block.resize(c.right.size(), c.right.size());
    c.solver.resize(static_cast<int>(rows));
    c.settings = std::move(settings);
    contacts_.push_back(std::move(c));
  }
}

int ChainsOnBody::find(std::string_view name) const {
  std::vector<std::string> names;
  names.reserve(contacts_.size());
  for (const Contact& c : contacts_) names.push_back(c.settings.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw NameError("no contact is named '" + std::string(name) + "'" + did_you_mean(name, names));
  return static_cast<int>(found - names.begin());
}

void ChainsOnBody::set_active(int contact, bool active) {
  constraints_.set_active(contacts_[index(contact)].constraint, active);
  stale_ = true;
}

bool ChainsOnBody::active(int contact) const {
  return constraints_.active(contacts_[index(contact)].constraint);
}

void ChainsOnBody::find_shared() {
  stale_ = false;
  std::vector<int> users(index(mechanism_->freedoms()), 0);
  for (const Contact& c : contacts_)
    if (constraints_.active(c.constraint))
      for (const int f : constraints_.reach(c.constraint).freedoms) ++users[index(f)];
  const Node& hub = mechanism_->nodes()[index(hub_node_)];
  for (int k = 0; k < hub.freedoms; ++k) users[index(hub.v_index + k)] += 2;
  shared_.clear();
  // The hub's freedoms first.
  for (int k = 0; k < hub.freedoms; ++k) shared_.push_back(hub.v_index + k);
  for (int f = 0; f < mechanism_->freedoms(); ++f)
    if (users[index(f)] > 1 && (f < hub.v_index || f >= hub.v_index + hub.freedoms))
      shared_.push_back(f);
  place_of_freedom_.assign(index(mechanism_->freedoms()), -1);
  for (std::size_t i = 0; i < shared_.size(); ++i)
    place_of_freedom_[index(shared_[i])] = static_cast<int>(i);
  const auto n = static_cast<Eigen::Index>(shared_.size());
  inner_.resize(n, n);
  inner_inverse_.resize(n, n);
  shared_right_.resize(n);
  for (Contact& c : contacts_) {
    c.reach.resize(n, c.right.size());
    c.solved.resize(c.right.size(), n);
  }
}

// Rows fixed in the frame on the other side (rows.h).
void ChainsOnBody::place(const Workspace& w) {
  for (Contact& c : contacts_) {
    if (!constraints_.active(c.constraint)) continue;
    const Transformd X_other_own =
        (pose_of(w, c.other.node) * c.other.pose).inverse() * pose_of(w, c.own.node);
    const Twistd other = Ad_inverse(c.other.pose, twist_of(w, c.other.node));
    const Twistd relative = Ad(X_other_own, twist_of(w, c.own.node)) - other;
    const Twistd turning = ad(other, relative);
    TreeConstraints::Rows& rows = constraints_.measured(c.constraint);
    for (std::size_t r = 0; r < c.settings.constrained.size(); ++r) {
      const Wrenchd& row = c.settings.constrained[r];
      rows.on_a[r] = -Ad_star_inverse(c.other.pose, row);
      rows.on_b[r] = Ad_star(X_other_own, row);
      constraints_.bias(c.constraint, static_cast<int>(r)) =
          -dot(row, turning) - c.settings.acceleration[r];
    }
  }
}

// B and U of every contact.
void ChainsOnBody::split() {
  for (Contact& c : contacts_) {
    if (!constraints_.active(c.constraint)) continue;
    const TreeConstraints::Reach reach = constraints_.reach(c.constraint);
    const Eigen::Index rows = c.right.size();
    c.block.setZero();
    c.reach.setZero();
    const double* found = reach.found;
    for (const int f : reach.freedoms) {
      const int shared = place_of_freedom_[index(f)];
      for (Eigen::Index i = 0; i < rows; ++i) {
        if (shared >= 0)
          c.reach(shared, i) = found[i];
        else
          for (Eigen::Index j = 0; j < rows; ++j) c.block(i, j) += found[i] * found[j];
      }
      found += reach.lanes;
    }
  }
}

bool ChainsOnBody::solve_by_blocks() {
  inner_.setIdentity();
  shared_right_.setZero();
  for (Contact& c : contacts_) {
    if (!constraints_.active(c.constraint)) continue;
    c.solver.compute(c.block, kSingularChain);
    if (c.solver.rank() < c.solver.size()) return false;
    const int first = constraints_.first_row(c.constraint);
    c.right = -right_.segment(first, c.right.size());
    c.solver.solve(c.right);  // B⁻¹ b
    for (Eigen::Index k = 0; k < inner_.rows(); ++k) {
      column_ = c.reach.row(k).transpose();
      c.solver.solve(column_);  // B⁻¹ Uᵀ
      c.solved.col(k) = column_;
    }
    inner_.noalias() += c.reach * c.solved;
    shared_right_.noalias() += c.reach * c.right;
  }
  factor_.compute(inner_);
  inner_inverse_.setIdentity();
  factor_.solve_in_place(inner_inverse_);
  factor_.solve_in_place(shared_right_);
  for (Contact& c : contacts_)
    if (constraints_.active(c.constraint))
      multipliers_.segment(constraints_.first_row(c.constraint), c.right.size()) =
          c.right - c.solved * shared_right_;
  return true;
}

// With the rank of the whole set; the inverse of `inner` is then 1 − U (J M⁻¹ Jᵀ)⁺ Uᵀ.
void ChainsOnBody::solve_by_rank() {
  constraints_.factor(workspace_);
  multipliers_ = -right_;
  constraints_.solve(multipliers_);
  constraints_.take_least_norm(multipliers_);
  const SemidefiniteSolver& solver = constraints_.ideal_solver();
  for (int k = 0; k < solver.size() - solver.rank(); ++k)
    if (std::abs(solver.mismatch(right_, k)) >
        kContradiction * std::max(1e-300, right_.lpNorm<Eigen::Infinity>())) {
      const int row = solver.dependent()[index(k)];
      const int constraint = constraints_.place_of_row(row).constraint;
      for (const Contact& c : contacts_)
        if (c.constraint == constraint)
          throw NumericalError("contact '" + c.settings.name +
                               "' contradicts the other contacts: no acceleration satisfies them "
                               "all (by " +
                               number(std::abs(solver.mismatch(right_, k))) + ")");
    }
  inner_inverse_.setIdentity();
  Eigen::VectorXd column(right_.size());
  for (Eigen::Index k = 0; k < inner_inverse_.cols(); ++k) {
    column.setZero();
    for (const Contact& c : contacts_)
      if (constraints_.active(c.constraint))
        column.segment(constraints_.first_row(c.constraint), c.right.size()) =
            c.reach.row(k).transpose();
    constraints_.solve(column);
    constraints_.take_least_norm(column);
    for (const Contact& c : contacts_)
      if (constraints_.active(c.constraint))
        inner_inverse_.col(k).noalias() -=
            c.reach * column.segment(constraints_.first_row(c.constraint), c.right.size());
  }
}

// C of the hub's inertia D = C Cᵀ in its node's frame (H is the identity).
Matrix6d ChainsOnBody::hub_root() const {
  const GeneralScratch<double>& g = workspace_.general(hub_node_);
  Matrix6d root = Matrix6d::Zero();
  for (int i = 0; i < 6; ++i)
    for (int k = 0; k <= i; ++k) root(i, k) = g.factor[i][k];
  return root;
}

void ChainsOnBody::forward(const State& state, const Eigen::VectorXd& effort, ChainsResult& result,
                           std::span<const ExternalWrench> external) {
  Workspace& w = workspace_;
  forward_dynamics(*mechanism_, state, effort, w, external, Route::recursive);
  constraints_.place(w);
  place(w);
  constraints_.carry(w);
  if (stale_) find_shared();
  split();
  constraints_.accelerations(w, w.acceleration, right_);
  if (multipliers_.size() != right_.size()) multipliers_.resize(right_.size());
  result.by_blocks = solve_by_blocks();
  result.rank = constraints_.rows();
  if (!result.by_blocks) {
    solve_by_rank();
    result.rank = constraints_.rank();
  }
  constraints_.respond(w, multipliers_);
  constraints_.accelerate(w, w.acceleration);
  result.acceleration = w.acceleration;
  const Node& hub = mechanism_->nodes()[index(hub_node_)];
  Twistd a;
  for (int i = 0; i < 6; ++i) a[i] = w.acceleration[hub.v_index + i];
  result.hub_acceleration = Ad_inverse(X_node_hub_, a);
  result.wrenches.assign(contacts_.size(), Wrenchd::zero());
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const Contact& c = contacts_[k];
    if (!constraints_.active(c.constraint)) continue;
    // The multiplier pushes the chain; the other side feels the opposite.
    const int first = constraints_.first_row(c.constraint);
    for (std::size_t r = 0; r < c.settings.constrained.size(); ++r)
      result.wrenches[k] -= multipliers_[first + static_cast<int>(r)] * c.settings.constrained[r];
  }
  // v̇ = C⁻ᵀ y, and the wrench on the hub's own frame.
  const Matrix6d root = hub_root();
  const Matrix6d inner = inner_inverse_.topLeftCorner<6, 6>();
  const Matrix6d half = root.triangularView<Eigen::Lower>().solve(
      matrix_Ad(X_node_hub_.inverse()).transpose().eval());
  result.hub_compliance = half.transpose() * inner * half;
  const SmallCholesky inverse(inner);
  bool held = !inverse.succeeded();
  for (int i = 0; i < 6 && !held; ++i)
    held = !(inverse.pivot_root(i) * inverse.pivot_root(i) > kSingularChain);
  if (held) {
    result.effective_inertia.setConstant(std::numeric_limits<double>::infinity());
  } else {
    const Matrix6d back = root.transpose() * matrix_Ad(X_node_hub_);
    SmallSquare solved = back;
    inverse.solve_in_place(solved);
    result.effective_inertia = back.transpose() * solved;
  }
}

ChainsResult ChainsOnBody::forward(const State& state, const Eigen::VectorXd& effort,
                                   std::span<const ExternalWrench> external) {
  ChainsResult result;
  forward(state, effort, result, external);
  return result;
}

const Eigen::MatrixXd& ChainsOnBody::chain_compliance(int contact) const {
  return contacts_[index(contact)].block;
}

OpenedChains open_chains(const Mechanism& mechanism, int hub) {
  const std::string& name = mechanism.bodies()[index(hub)].name;
  if (!mechanism.description().rods.empty() || !mechanism.description().couplings.empty())
    throw Error("'" + mechanism.name() +
                "' has rods or couplings; chains on a body are held by hinges");
  MechanismBuilder open(mechanism.description());
  std::vector<ChainContact> contacts;
  for (const Hinge& hinge : mechanism.description().hinges) {
    const HingePlace& place = mechanism.hinges()[index(mechanism.hinge_index(hinge.name))];
    if (place.role != HingePlace::Role::cut) continue;
    const std::string what = "hinge '" + hinge.name + "'";
    if (place.node >= 0)
      throw Error(what + " closes a loop and is driven, damped or limited; a contact cannot be");
    if (hinge.type == HingeType::universal || hinge.type == HingeType::custom)
      throw Error(what + " is no contact: what it leaves free changes with its position");
    const bool parent_holds = place.parent_body == hub || place.parent_body < 0;
    if (!parent_holds && place.child_body != hub && place.child_body >= 0)
      throw Error(what + " closes a loop, but neither on '" + name +
                  "' nor on the ground; choose another body, or cut the loops at that body "
                  "(cut: always)");
    // Its directions are the same in the frames of both sides.
    const Closure rows = pair_closure(hinge, hinge.type);
    ChainContact contact{.name = hinge.name,
                         .body = parent_holds ? place.child_body : place.parent_body,
                         .frame = parent_holds ? hinge.frame_on_child : hinge.frame_on_parent,
                         .against = parent_holds ? place.parent_body : place.child_body,
                         .on_other = parent_holds ? hinge.frame_on_parent : hinge.frame_on_child};
    for (int r = 0; r < rows.rows; ++r)
      contact.constrained.push_back(
          {load_vec3<double>(rows.covector[r]), load_vec3<double>(rows.covector[r] + 3)});
    contacts.push_back(std::move(contact));
    open.remove_hinge(hinge.name);
  }
  OpenedChains result{open.finish(), std::move(contacts)};
  if (!std::ranges::equal(result.tree.velocity_names(), mechanism.velocity_names()))
    throw Error("'" + mechanism.name() + "' has other freedoms with its loops open");
  return result;
}

}  // namespace catena
