// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/multipliers/multiplier_dynamics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/closure/loop_closure.h"
#include "catena/closure/mobility.h"
#include "catena/closure/pair.h"
#include "catena/closure/rows.h"
#include "catena/dynamics/embedding.h"
#include "catena/dynamics/kinematics.h"

namespace catena {
namespace {

// More refinement than this would not gain digits: what is left is rounding of the sweeps.
constexpr int kMostRefinements = 2;
// Roundings that every node on the way to the ground leaves in a row's acceleration.
constexpr double kRoundingsEach = 4.0;
// A conflict matters if it is this share of the largest acceleration of any row, times
// kContradiction.
constexpr double kShare = 0.1;
// A smallest pivot (a squared sine) below this fraction of what the rows began with asks for
// others.
constexpr double kPoorPivot = 0.1;

double largest(const Eigen::VectorXd& x) {
  return x.size() == 0 ? 0.0 : x.lpNorm<Eigen::Infinity>();
}

bool closed_to(const Mechanism& mechanism, const Eigen::VectorXd& q, double most) {
  for (int l = 0; l < static_cast<int>(mechanism.loops().size()); ++l)
    if (!(LoopClosure(mechanism, l).residual(q).norm() <= most)) return false;
  return true;
}

void store_inertia(const SpatialInertiad& inertia, Node& node) {
  node.mass = inertia.mass;
  for (int i = 0; i < 3; ++i) node.mass_moment[i] = inertia.mass_moment[i];
  const SymMat3d& j = inertia.inertia;
  const double values[6] = {j.xx, j.xy, j.xz, j.yy, j.yz, j.zz};
  for (int i = 0; i < 6; ++i) node.inertia[i] = values[i];
}

}  // namespace

MultiplierDynamics::MultiplierDynamics(const Mechanism& mechanism)
    : mechanism_(&mechanism), tables_(aggregate_tables(mechanism)), constraints_(mechanism) {
  int most_terms = 0;
  for (std::size_t l = 0; l < tables_.aggregates.size(); ++l) {
    const Aggregate& a = tables_.aggregates[l];
    const auto side = [&](const ClosureSide& s) {
      NodeFrame result{a.base, load_side<double>(s)};
      if (s.member >= 0)
        result.node = tables_.members[index(a.first_member + s.member)].node;
      else
        result.pose.translation += load_vec3<double>(a.origin);
      return result;
    };
    for (int i = a.first_closure; i < a.first_closure + a.closure_count; ++i) {
      Place place;
      place.loop = static_cast<int>(l);
      place.closure = tables_.closures[index(i)];
      place.length = a.length;
      if (place.closure.kind == ClosureKind::coupling) {
        std::vector<int> freedoms;
        freedoms.reserve(to_size(place.closure.term_count));
        for (int k = 0; k < place.closure.term_count; ++k)
          freedoms.push_back(tables_.freedom_of_column[index(
              a.first_order + tables_.terms[index(place.closure.first_term + k)].column)]);
        place.constraint = constraints_.add_on_freedoms(std::move(freedoms));
        most_terms = std::max(most_terms, place.closure.term_count);
      } else {
        place.parent = side(place.closure.parent);
        place.child = side(place.closure.child);
        place.constraint =
            constraints_.add_between(place.parent.node, place.child.node, place.closure.rows);
      }
      places_.push_back(place);
    }
  }
  const auto n = to_size(most_terms);
  terms_.resize(n);
  gradient_.resize(n);
  hessian_.resize(n * n);
  share_inertias();
}

MultiplierDynamics::Place& MultiplierDynamics::place(int constraint) {
  for (Place& p : places_)
    if (p.constraint == constraint) return p;
  throw NumericalError("constraint " + std::to_string(constraint) + " is no pair of frames");
}
const MultiplierDynamics::Place& MultiplierDynamics::place(int constraint) const {
  return const_cast<MultiplierDynamics*>(this)->place(constraint);  // NOLINT: the same search
}

int MultiplierDynamics::add_pair(const Closure& rows, const NodeFrame& parent,
                                 const NodeFrame& child, double length) {
  Place place;
  place.closure = rows;
  place.parent = parent;
  place.child = child;
  place.length = length;
  place.constraint = constraints_.add_between(parent.node, child.node, rows.rows);
  constraints_.set_active(place.constraint, false);
  places_.push_back(place);
  return places_.back().constraint;
}

void MultiplierDynamics::set_owner(Owner rows, PositionOwner positions) {
  owner_ = std::move(rows);
  position_owner_ = std::move(positions);
}

void MultiplierDynamics::share_inertias() {
  for (const Place& place : places_) {
    const Closure& c = place.closure;
    if (c.kind != ClosureKind::pair || c.rows != 6) continue;
    const HingePlace& hinge = mechanism_->hinges()[index(c.place)];
    if (hinge.node < 0 || place.parent.node != hinge.node || place.child.node < 0) continue;
    if (nodes_.empty()) nodes_.assign(mechanism_->nodes().begin(), mechanism_->nodes().end());
    Node& light = nodes_[index(place.parent.node)];
    Node& heavy = nodes_[index(place.child.node)];
    const SpatialInertiad own = load_inertia<double>(heavy);
    const SpatialInertiad half{0.5 * own.mass, 0.5 * own.mass_moment, 0.5 * own.inertia};
    store_inertia(half, heavy);
    // The two sides are one frame when the loop is closed.
    store_inertia(shift_to_parent(place.parent.pose * place.child.pose.inverse(), half), light);
  }
  for (const Node& node : nodes_)
    own_.push_back(ArticulatedInertiad::from(load_inertia<double>(node)));
}

// An open loop has another rank.
void MultiplierDynamics::choose_rows(const Eigen::VectorXd& q, Workspace& w) {
  if (choice_ == Choice::none && closed_to(*mechanism_, q, kClosed)) begin(q, w);
}

void MultiplierDynamics::begin(const Eigen::VectorXd& q, Workspace& w) {
  if (choice_ != Choice::none) {
    if (left_out_ > 0) choose_rows_again(q, w);
    return;
  }
  if (!closed_to(*mechanism_, q, kMostOpen)) return;
  choice_ = Choice::made;
  bool all = true;
  for (int l = 0; l < static_cast<int>(tables_.aggregates.size()); ++l)
    all = all && all_rows_count(LoopClosure(*mechanism_, l), q);
  if (all) return;
  if (w.has_chart())
    leave_out_rows(w.chart());
  else
    choose_rows_again(q, w);
}

// With the ranks of the chart that the workspace has, if it has one.
void MultiplierDynamics::choose_rows_again(const Eigen::VectorXd& q, Workspace& w) {
  try {
    ChartSettings settings;
    if (w.has_chart()) settings.previous = &w.chart();
    w.set_chart(choose_chart(*mechanism_, q, settings));
  } catch (const NumericalError&) {
    if (!w.has_chart()) choice_ = Choice::singular;  // refuse_singular() reports it
    return;
  }
  choice_ = Choice::made;
  leave_out_rows(w.chart());
}

void MultiplierDynamics::leave_out_rows(const Chart& chart) {
  left_out_ = 0;
  for (std::size_t l = 0; l < tables_.aggregates.size(); ++l) {
    const Aggregate& a = tables_.aggregates[l];
    const std::vector<ChartRow>& rows = chart.loops[l].rows;
    for (int i = a.first_closure; i < a.first_closure + a.closure_count; ++i)
      for (int r = 0; r < tables_.closures[index(i)].rows; ++r) {
        const bool out = std::none_of(rows.begin(), rows.end(), [&](const ChartRow& row) {
          return row.closure == i && row.row == r;
        });
        constraints_.leave_out(i, r, out);
        left_out_ += out ? 1 : 0;
      }
  }
  good_pivot_ = -1.0;
}

bool MultiplierDynamics::poor_rows() const {
  if (choice_ == Choice::singular) return true;
  if (left_out_ == 0 || !constraints_.ideal()) return false;
  return constraints_.rank() < good_rank_ ||
         constraints_.ideal_solver().smallest_pivot() < kPoorPivot * good_pivot_;
}

double MultiplierDynamics::largest_kept(const Eigen::VectorXd& rows) const {
  double most = 0.0;
  for (int r = 0; r < static_cast<int>(rows.size()); ++r)
    if (!constraints_.left_out(r)) most = std::max(most, std::abs(rows[r]));
  return most;
}

const SweepModel MultiplierDynamics::tree(const Workspace& w, bool gravity) const {
  SweepModel model = w.tree_model();
  if (!nodes_.empty()) model.nodes = nodes_.data();
  if (!gravity)
    for (double& g : model.gravity) g = 0.0;
  return model;
}

void MultiplierDynamics::equation_residual(const State& state, const Eigen::VectorXd& effort,
                                           const Eigen::VectorXd& acceleration,
                                           const Eigen::VectorXd& multipliers, Workspace& w,
                                           std::span<const ExternalWrench> external,
                                           Eigen::VectorXd& residual) {
  PreparedInput in = prepare(*mechanism_, state, &effort, external, w);
  Scratch<double> scratch = w.scratch();
  kernel_table().kinematics(w.tree_model(), in, &scratch);
  constraints_.place(w);
  place_rows(state, w);
  if (in.external == nullptr) w.external.setZero();
  residual.setZero(mechanism_->freedoms());
  constraints_.push(multipliers, w.external, residual);
  residual = -residual - Eigen::Map<const Eigen::VectorXd>(in.effort, mechanism_->freedoms());
  in.external = w.external.data();
  in.acceleration = acceleration.data();
  in.effort = nullptr;
  kernel_table().inverse(tree(w, true), in, &scratch, w.effort.data());
  residual += w.effort;
}

void MultiplierDynamics::transposed(const Eigen::VectorXd& multipliers, Workspace& w,
                                    Eigen::VectorXd& effort) {
  effort.setZero(mechanism_->freedoms());
  w.external.setZero();
  constraints_.push(multipliers, w.external, effort, true);
  // Statics: from the tips to the ground.
  NodeScratch<double>* nodes = w.scratch().nodes;
  const int count = static_cast<int>(mechanism_->nodes().size());
  for (int n = 0; n < count; ++n)
    for (int i = 0; i < 6; ++i) nodes[n].force[i] = w.external[6 * n + i];
  for (int n = count; n-- > 0;) {
    const Node& node = mechanism_->nodes()[index(n)];
    if (node.hinge == NodeHinge::attachment)
      for (int k = 0; k < mechanism_->nodes()[index(node.parent)].freedoms; ++k)
        effort[node.v_index + k] += dot(nodes[n].force, w.attachment(n).map[k]);
    for (int k = 0; k < node.freedoms && node.flexible < 0; ++k) {
      const Wrenchd& f = nodes[n].force;
      effort[node.v_index + k] += w.is_general(n)                     ? dot(f, w.general(n).map[k])
                                  : node.hinge == NodeHinge::revolute ? f.moment.z
                                                                      : f.force.z;
    }
    if (node.parent >= 0)
      nodes[node.parent].force += Ad_star_inverse(nodes[n].to_parent, nodes[n].force);
  }
}

void MultiplierDynamics::sweep(const SweepInput& in, bool gravity, Workspace& w) {
  const SweepModel model = tree(w, gravity);
  Scratch<double> scratch = w.scratch();
  if (!own_.empty()) scratch.own = own_.data();
  const SweepStatus status = kernel_table().forward(model, in, &scratch, w.acceleration.data());
  if (status.done()) return;
  const Node& node = mechanism_->nodes()[index(status.place)];
  throw NumericalError(
      "hinge '" + mechanism_->hinges()[index(node.hinge_index)].name +
      "': with its loops open, the bodies it moves have no inertia about it in this position, so "
      "the route by multipliers does not work; give them some, or use the recursive route");
}

// The row of a coupling; returns its value.
double MultiplierDynamics::evaluate_coupling_row(Place& place, const State& state) {
  const Closure& c = place.closure;
  const Coupling& coupling = mechanism_->description().couplings[index(c.place)];
  const Aggregate& a = tables_.aggregates[index(place.loop)];
  const int n = c.term_count;
  const auto term = [&](int k) -> const CouplingTerm& {
    return tables_.terms[index(c.first_term + k)];
  };
  for (int k = 0; k < n; ++k) terms_[index(k)] = state.q[term(k).coordinate];
  double value = 0.0, bias = 0.0, squares = 0.0;
  if (c.coupling != nullptr) {
    evaluate_coupling(coupling, n, terms_.data(), value, gradient_.data(), hessian_.data());
  } else {
    value = -coupling.constant;
    for (int k = 0; k < n; ++k) {
      gradient_[index(k)] = term(k).coefficient;
      value += term(k).coefficient * terms_[index(k)];
    }
  }
  const auto rate = [&](int k) {
    return state.v[tables_.freedom_of_column[index(a.first_order + term(k).column)]];
  };
  for (int k = 0; k < n; ++k) {
    squares += gradient_[index(k)] * gradient_[index(k)];
    if (c.coupling != nullptr)
      for (int j = 0; j < n; ++j) bias += rate(k) * hessian_[index(k * n + j)] * rate(j);
  }
  place.scale = squares > 0.0 ? 1.0 / std::sqrt(squares) : 1.0;
  TreeConstraints::Rows& rows = constraints_.measured(place.constraint);
  for (int k = 0; k < n; ++k) rows.coefficient[index(k)] = place.scale * gradient_[index(k)];
  constraints_.bias(place.constraint, 0) = place.scale * bias;
  return place.scale * value;
}

// In the frame of the parent's node.
void MultiplierDynamics::place_pair(const Place& place, const Workspace& w) {
  const Closure& c = place.closure;
  const Transformd X_parent_child =
      pose_of(w, place.parent.node).inverse() * pose_of(w, place.child.node);
  ClosureMotion<double> motion;
  motion.parent = {place.parent.pose, twist_of(w, place.parent.node), Twistd::zero()};
  motion.child = {X_parent_child * place.child.pose,
                  Ad(X_parent_child, twist_of(w, place.child.node)), Twistd::zero()};
  TreeConstraints::Rows& rows = constraints_.measured(place.constraint);
  for (int r = 0; r < c.rows; ++r) {
    const Wrenchd covector = row_covector(c, r, motion);
    const double scale = measures_length(c, r) ? 1.0 / place.length : 1.0;
    rows.on_a[index(r)] = -scale * covector;
    rows.on_b[index(r)] = scale * Ad_star(X_parent_child, covector);
    constraints_.bias(place.constraint, r) = scale * row_bias(c, r, covector, motion);
  }
}

void MultiplierDynamics::place_rows(const State& state, const Workspace& w) {
  for (Place& place : places_) {
    if (!constraints_.active(place.constraint)) continue;
    if (place.closure.kind == ClosureKind::coupling)
      evaluate_coupling_row(place, state);
    else
      place_pair(place, w);
  }
  if (owner_) owner_(state, w);
}

// After place_rows().
void MultiplierDynamics::measure_gap(const State& state, const Workspace& w) {
  if (gap_.size() != constraints_.rows()) gap_.resize(constraints_.rows());
  gap_.setZero();
  for (Place& place : places_) {
    if (!constraints_.active(place.constraint)) continue;
    const int first = constraints_.first_row(place.constraint);
    const Closure& c = place.closure;
    if (c.kind == ClosureKind::coupling) {
      gap_[first] = evaluate_coupling_row(place, state);
      continue;
    }
    const Transformd between = (pose_of(w, place.parent.node) * place.parent.pose).inverse() *
                               (pose_of(w, place.child.node) * place.child.pose);
    double values[kMostRows] = {};
    if (c.kind == ClosureKind::rod)
      values[0] = 0.5 * (squared_norm(between.translation) / c.length - c.length);
    else
      pair_residual(c, between, values);
    for (int r = 0; r < c.rows; ++r)
      gap_[first + r] = values[r] * (measures_length(c, r) ? 1.0 / place.length : 1.0);
  }
  if (position_owner_) position_owner_(state, w, gap_);
}

// As check_closed() of the embedding.
void MultiplierDynamics::check_closed(const State& state, const Workspace& w) {
  measure_gap(state, w);
  constraints_.velocities(w, state.v, rest_);
  const double speed = std::max(1.0, largest(state.v));
  for (const Place& place : places_) {
    if (place.loop < 0 || !constraints_.active(place.constraint)) continue;
    const int first = constraints_.first_row(place.constraint);
    double gap = 0.0, rate = 0.0;
    for (int r = first; r < first + place.closure.rows; ++r) {
      if (constraints_.left_out(r)) continue;
      gap = std::max(gap, std::abs(gap_[r]));
      rate = std::max(rate, std::abs(rest_[r]));
    }
    if (gap <= kClosureTolerance && rate <= kClosureTolerance * speed) continue;
    const LoopClosure closure(*mechanism_, place.loop);
    if (!(gap <= kClosureTolerance))
      throw NumericalError("the position is not closed: in the " + closure.name() + " " +
                           closure.worst(closure.residual(state.q)) + "; use assemble() first");
    throw NumericalError("the velocities do not keep the " + closure.name() + " closed (" +
                         number(rate) + " 1/s); use assemble() first");
  }
}

const Eigen::VectorXd& MultiplierDynamics::forward(const State& state,
                                                   const Eigen::VectorXd& effort, Workspace& w,
                                                   std::span<const ExternalWrench> external) {
  if (!w.remote_drives().empty())
    throw NumericalError("the drive of hinge '" +
                         mechanism_->hinges()[index(w.remote_drives().front().hinge)].name +
                         "' is carried by a body that is not its parent; the route by multipliers "
                         "needs the O(N) factors of the tree");
  choose_rows(state.q, w);
  sweep(prepare(*mechanism_, state, &effort, external, w), true, w);
  constraints_.place(w);
  place_rows(state, w);
  if (check_closed_) check_closed(state, w);
  constraints_.factor(w);
  if (left_out_ > 0 && check_closed_ && constraints_.rank() < constraints_.rows() - left_out_) {
    choose_rows_again(state.q, w);
    constraints_.place(w);
    constraints_.factor(w);
  }
  constraints_.accelerations(w, w.acceleration, right_);
  scale_ = largest(right_);
  if (applied_.size() != right_.size()) applied_.resize(right_.size());
  applied_ = -right_;
  constraints_.solve(applied_);
  constraints_.respond(w, applied_);
  constraints_.accelerate(w, w.acceleration);
  refine(w);
  multipliers_ = applied_;
  constraints_.take_least_norm(multipliers_);
  return w.acceleration;
}

double MultiplierDynamics::rounding() const {
  return kRoundingsEach * std::numeric_limits<double>::epsilon() *
         (10 + constraints_.longest_way());
}

// More steps where the condition of J M⁻¹ Jᵀ cost digits.
void MultiplierDynamics::refine(Workspace& w) {
  double last = std::numeric_limits<double>::infinity();
  for (int step = 0;; ++step) {
    constraints_.accelerations(w, w.acceleration, rest_);
    residual_ = largest_kept(rest_);
    if (step == kMostRefinements || residual_ <= rounding() * scale_ || residual_ > 0.5 * last)
      break;
    last = residual_;
    rest_ = -rest_;
    constraints_.solve(rest_);
    constraints_.respond(w, rest_);
    constraints_.accelerate(w, w.acceleration);
    applied_ += rest_;
  }
  left_out_residual_ = 0.0;
  for (int r = 0; r < constraints_.rows() && left_out_ > 0; ++r)
    if (constraints_.left_out(r))
      left_out_residual_ = std::max(left_out_residual_, std::abs(rest_[r]));
}

MultiplierDynamics::Conflict MultiplierDynamics::conflict() const {
  Conflict best;
  if (!constraints_.ideal()) return best;
  const SemidefiniteSolver& solver = constraints_.ideal_solver();
  const auto kept = solver.independent();
  const auto dropped = solver.dependent();
  for (int k = 0; k < static_cast<int>(dropped.size()); ++k) {
    const double miss = std::abs(solver.mismatch(right_, k));
    // The accelerations whose difference this is.
    double involved = std::abs(right_[dropped[index(k)]]);
    for (int i = 0; i < solver.rank(); ++i)
      involved = std::max(involved, std::abs(solver.dependence(k, i) * right_[kept[index(i)]]));
    if (constraints_.left_out(dropped[index(k)])
            ? miss <= kRoundedContradiction * scale_
            : miss <= kContradiction * std::max(involved, kShare * scale_))
      continue;
    Conflict one;
    one.miss = miss;
    constexpr double kInvolved = 1e-9;
    for (int i = 0; i < solver.rank(); ++i)
      if (std::abs(solver.dependence(k, i)) > kInvolved) one.rows.push_back(kept[index(i)]);
    std::sort(one.rows.begin(), one.rows.end());
    one.rows.push_back(dropped[index(k)]);
    if (best.rows.empty() || one.rows.size() < best.rows.size()) best = std::move(one);
  }
  return best;
}

void MultiplierDynamics::refuse_singular(const Eigen::VectorXd& q) {
  const int rank = constraints_.rank();
  if (rank == constraints_.rows() - left_out_) return;
  if (generic_rank_ < 0) {
    generic_rank_ = 0;
    for (std::size_t l = 0; l < tables_.aggregates.size(); ++l)
      generic_rank_ += generic_rank(*mechanism_, LoopClosure(*mechanism_, static_cast<int>(l)), q);
  }
  if (rank >= generic_rank_) return;
  throw NumericalError("this position of '" + mechanism_->name() +
                       "' is singular: its loops have " + std::to_string(rank) +
                       " independent constraints here and " + std::to_string(generic_rank_) +
                       " in general, so multipliers do not give the motion; start a little away "
                       "from it");
}

void MultiplierDynamics::factor_at(const State& state, Workspace& w) {
  choose_rows(state.q, w);
  PreparedInput in = prepare_position(*mechanism_, state.q, w);
  in.v = state.v.data();  // so that the nodes have their twists
  sweep(in, false, w);
  constraints_.place(w);
  place_rows(state, w);
  constraints_.factor(w);
}

Eigen::VectorXd MultiplierDynamics::impulse(const State& state, Workspace& w) {
  factor_at(state, w);
  constraints_.velocities(w, state.v, right_);
  scale_ = largest(right_);
  applied_ = -right_;
  constraints_.solve(applied_);
  constraints_.respond(w, applied_);
  Eigen::VectorXd jump = constraints_.change();
  Eigen::VectorXd remains = right_;
  for (int step = 0; step < kMostRefinements; ++step) {  // as refine()
    constraints_.changes(rest_);
    remains += rest_;
    residual_ = largest_kept(remains);
    if (residual_ <= rounding() * scale_) break;
    rest_ = -remains;
    constraints_.solve(rest_);
    constraints_.respond(w, rest_);
    jump += constraints_.change();
    applied_ += rest_;
  }
  multipliers_ = applied_;
  constraints_.take_least_norm(multipliers_);
  return jump;
}

void MultiplierDynamics::take_interpolated(const State& state, const Eigen::VectorXd& multipliers,
                                           Workspace& w) {
  update_kinematics(*mechanism_, state.q, state.v, w);
  constraints_.place(w);
  place_rows(state, w);
  multipliers_ = multipliers;
}

void MultiplierDynamics::renew_rows(const Eigen::VectorXd& q, Workspace& w) {
  if (poor_rows()) {
    good_pivot_ = -1.0;
    choose_rows_again(q, w);
    factor_at({q, Eigen::VectorXd::Zero(mechanism_->freedoms())}, w);
  }
  if (good_pivot_ < 0.0 && left_out_ > 0 && constraints_.ideal()) {
    good_pivot_ = constraints_.ideal_solver().smallest_pivot();
    good_rank_ = constraints_.rank();
  }
}

Wrenchd MultiplierDynamics::wrench_on_child(int constraint) const {
  const Place& p = place(constraint);
  Wrenchd sum = Wrenchd::zero();
  if (p.closure.kind == ClosureKind::coupling || !constraints_.active(constraint)) return sum;
  const int first = constraints_.first_row(constraint);
  for (int r = 0; r < p.closure.rows; ++r)
    sum += multipliers_[first + r] * constraints_.measured(constraint).on_b[index(r)];
  return Ad_star(p.child.pose, sum);
}

double MultiplierDynamics::coupling_multiplier(int closure) const {
  return place(closure).scale * multipliers_[constraints_.first_row(closure)];
}

}  // namespace catena
