// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/products.h"

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/embedding.h"
#include "catena/dynamics/flexible_mass.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/operators/operators.h"
#include "catena/sensitivity/closed_derivatives.h"
#include "catena/sensitivity/flexible_derivatives.h"
#include "catena/sensitivity/kernels/columns.h"
#include "catena/sensitivity/load_derivatives.h"

namespace catena {
namespace {

bool has_own_block(const Node& node) { return node.freedoms > 1 || varies(node); }

// Calls f(loop's variation, its aggregate, row freedom, freedom k, place of (k, row)) over the
// loops.
template <class F>
void each_change(SensitivityWorkspace& w, F f) {
  const SweepModel& model = w.dynamics().model();
  for (int loop_index = 0; loop_index < model.aggregate_count; ++loop_index) {
    const Aggregate& a = model.aggregates[loop_index];
    const LoopVariation& loop = w.closure_duals().loops()[index(loop_index)];
    const int* order = model.order + a.first_order;
    const int* freedom = model.freedom_of_column + a.first_order;
    for (int k = 0; k < a.independents; ++k)
      for (int i = 0; i < a.freedoms; ++i)
        f(loop, a, freedom[i], freedom[order[a.rank + k]], to_size(k * a.freedoms + i));
  }
}
// f(row freedom, freedom k, freedom l, ∂_k X at (row, l)).
template <class F>
void each_map_change(SensitivityWorkspace& w, F f) {
  const SweepModel& model = w.dynamics().model();
  each_change(w, [&](const LoopVariation& loop, const Aggregate& a, int row, int k,
                     std::size_t at) {
    const int* order = model.order + a.first_order + a.rank;
    const std::size_t width = to_size(a.independents);
    for (std::size_t l = 0; l < width; ++l)
      f(row, k, model.freedom_of_column[a.first_order + order[l]], loop.map_by_q[at * width + l]);
  });
}
// And f(row freedom, freedom k, ∂γ by q, ∂γ by v).
template <class F>
void each_bias_change(SensitivityWorkspace& w, F f) {
  each_change(w, [&](const LoopVariation& loop, const Aggregate&, int row, int k, std::size_t at) {
    f(row, k, loop.bias_by_q[at], loop.bias_by_v[at]);
  });
}

}  // namespace

DynamicsProducts::DynamicsProducts(const Mechanism& mechanism) : w_(mechanism) {
  const Eigen::Index n = mechanism.freedoms();
  sums_.resize(mechanism.nodes().size());
  for (Eigen::VectorXd* x : {&x_, &y_, &z_, &full_q_, &full_v_, &full_a_, &product_, &gradient_.q,
                             &gradient_.v, &gradient_.effort, &w_.acceleration})
    x->setZero(n);
}

const Eigen::VectorXd& DynamicsProducts::evaluate(const State& state, const Eigen::VectorXd& effort,
                                                  std::span<const ExternalWrench> external) {
  const Mechanism& m = w_.mechanism();
  state_ = state;
  external_.assign(external.begin(), external.end());
  w_.acceleration = forward_dynamics(m, state, effort, w_.dynamics(), external);
  if (closed() || flexible() || !w_.dynamics().remote_drives().empty()) {
    after_dynamics(effort);
  } else {
    compute_columns(prepared_input(m, state_, external_, w_.dynamics()), w_.acceleration.data(),
                    true, w_);
  }
  return w_.acceleration;
}

void DynamicsProducts::evaluate_inverse(const State& state, const Eigen::VectorXd& acceleration,
                                        std::span<const ExternalWrench> external,
                                        const Eigen::VectorXd* applied) {
  const Mechanism& m = w_.mechanism();
  check_vector(m.velocity_names(), acceleration, "acceleration");
  state_ = state;
  external_.assign(external.begin(), external.end());
  if (closed()) {
    inverse_dynamics(m, state, acceleration, w_.dynamics(), external);
    w_.acceleration =
        Eigen::Map<const Eigen::VectorXd>(w_.dynamics().all_accelerations().data(), m.freedoms());
  } else {
    w_.acceleration = acceleration;
  }
  z_.setZero(m.freedoms());
  after_dynamics(applied != nullptr ? *applied : z_);
}

Eigen::VectorXd DynamicsProducts::needed() const {
  Eigen::VectorXd y = w_.effort;
  w_.dynamics().reduce(y);
  return y;
}

// Columns, and the variation of the closures, where no recursive sweep has been.
void DynamicsProducts::after_dynamics(const Eigen::VectorXd& applied) {
  const Mechanism& m = w_.mechanism();
  Workspace& d = w_.dynamics();
  if (closed()) {
    SweepInput in = prepare_position(m, state_.q, d);
    in.v = state_.v.data();
    Scratch<double> scratch = d.scratch();
    run_embedded(m, d.has_quaternion ? d.position : state_.q, {}, d,
                 [&] { return kernel_table().embed(d.model(), in, &scratch); });
    w_.closure_duals().differentiate(in.q, in.v, d);
  }
  const PreparedInput in = prepare(m, state_, nullptr, external_, d);
  if (flexible()) {
    if (closed()) {
      flexible_tree_effort(in, w_);
      w_.effort -= applied;
    }
    fill_tree_matrices();
    return;
  }
  compute_columns(in, w_.acceleration.data(), false, w_);
  if (closed()) {
    tree_effort(in, w_, w_.effort);
    w_.effort -= applied;
  }
  if (!d.remote_drives().empty()) {
    compute_tree_matrices(state_, external_, w_);
    copy_matrix(w_, w_.mass(), dense_mass_);
  }
}

// Of a mechanism with flexible bodies.
void DynamicsProducts::fill_tree_matrices() {
  const Mechanism& m = w_.mechanism();
  Workspace& d = w_.dynamics();
  const Eigen::VectorXd& q = d.has_quaternion ? d.position : state_.q;
  w_.flexible_duals().inverse(q, state_.v, w_.acceleration, external_, tree_);
  dense_mass_.resize(m.freedoms(), m.freedoms());
  flexible_mass_matrix(m, state_.q, d, dense_mass_);
}

LoopChange DynamicsProducts::along(int loop, const Eigen::VectorXd& motion) {
  const Workspace& d = w_.dynamics();
  const SweepModel& model = d.model();
  const Aggregate& a = model.aggregates[loop];
  const int* order = model.order + a.first_order;
  const int* freedom = model.freedom_of_column + a.first_order;
  const LoopVariation found =
      w_.closure_duals().along(loop, d.has_quaternion ? d.position.data() : state_.q.data(),
                               state_.v.data(), motion.data(), d);
  LoopChange out;
  out.q = out.v = out.acceleration = Eigen::VectorXd::Zero(w_.mechanism().freedoms());
  const auto each = [&](auto f) {
    for (int i = 0; i < a.freedoms; ++i)
      for (int l = 0; l < a.independents; ++l)
        f(freedom[i], freedom[order[a.rank + l]], found.map_by_q[index(i * a.independents + l)]);
  };
  for (int i = 0; i < a.freedoms; ++i) {
    out.q[freedom[i]] = motion[i];
    out.acceleration[freedom[i]] = found.bias_by_q[index(i)];
  }
  each([&](int row, int l, double change) {
    out.v[row] += change * state_.v[l];
    out.acceleration[row] += change * w_.acceleration[l];
  });
  tree_product(out.q, out.v, out.acceleration, y_);
  d.reduce(y_);
  each([&](int row, int l, double change) { y_[l] += change * w_.effort[row]; });
  out.needed = y_(d.independent());
  return out;
}

void DynamicsProducts::tree_product(const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                    const Eigen::VectorXd& a, Eigen::VectorXd& y) {
  if (flexible()) {
    y = tree_.dq * q + tree_.dv * v + dense_mass_ * a;
    return;
  }
  const SweepModel& model = w_.dynamics().tree_model();
  const DerivativeTable<double>& c = w_.columns();
  const int stride = c.stride;
  // Outward: sums over the freedoms inboard of the node's own, and its own after them.
  for (int n = 0; n < model.node_count; ++n) {
    const Node& node = model.nodes[n];
    NodeSums& s = sums_[index(n)];
    if (node.parent >= 0) {
      s = sums_[index(node.parent)];
    } else {
      s.second = Twistd::zero();
      s.rate = Vec3d::zero();
    }
    s.force = Wrenchd::zero();
    for (int k = node.v_index; k < node.v_index + node.freedoms; ++k) {
      y[k] = dot(get_wrench(c.momentum, stride, k),
                 node.parent >= 0 ? sums_[index(node.parent)].second : Twistd::zero());
      if (node.parent >= 0)
        y[k] += dot(get_vec3(c.turning, stride, k), sums_[index(node.parent)].rate);
      const Twistd twist = get_twist(c.twist, stride, k);
      s.second += q[k] * get_twist(c.second, stride, k) + v[k] * get_twist(c.drift, stride, k) +
                  a[k] * twist;
      s.rate += q[k] * get_vec3(c.rate, stride, k) + v[k] * twist.angular;
      s.force += q[k] * get_wrench(c.by_q, stride, k) + v[k] * get_wrench(c.by_v, stride, k) +
                 a[k] * get_wrench(c.momentum, stride, k);
    }
  }
  for (int d = 0; d < c.drive_count; ++d) {
    const DriveTerm& drive = c.drives[d];
    y[drive.freedom] += drive.reflected * a[drive.freedom];
    if (drive.carrier < 0) continue;
    NodeSums& s = sums_[index(drive.carrier)];
    y[drive.freedom] += dot(c.rotors[d].axis, s.second.angular) + dot(c.rotors[d].turned, s.rate);
    s.force.moment += v[drive.freedom] * c.rotors[d].turned + a[drive.freedom] * c.rotors[d].axis;
  }
  // Inward.
  for (int n = model.node_count; n-- > 0;) {
    const Node& node = model.nodes[n];
    const NodeSums& s = sums_[index(n)];
    for (int k = node.v_index; k < node.v_index + node.freedoms; ++k)
      y[k] += dot(s.force, get_twist(c.twist, stride, k));
    if (has_own_block(node)) {
      const GeneralColumns<double>& g = c.general[model.general_index[n]];
      for (int l = 0; l < node.freedoms; ++l)
        for (int k = 0; k < node.freedoms; ++k)
          y[node.v_index + k] += g.own[l][k] * q[node.v_index + l];
    }
    if (node.parent >= 0) sums_[index(node.parent)].force += s.force;
  }
  if (w_.dynamics().has_passive_elements() || !external_.empty())
    add_load_product(state_, external_, q, v, w_, y);
}

void DynamicsProducts::tree_adjoint(const Eigen::VectorXd& x, Eigen::VectorXd& by_q,
                                    Eigen::VectorXd& by_v, Eigen::VectorXd& by_a) {
  if (flexible()) {
    by_q = tree_.dq.transpose() * x;
    by_v = tree_.dv.transpose() * x;
    by_a = dense_mass_ * x;
    return;
  }
  const SweepModel& model = w_.dynamics().tree_model();
  const DerivativeTable<double>& c = w_.columns();
  const int stride = c.stride;
  // Outward: Λ = Σ x S over the freedoms inboard, the node's own included.
  for (int n = 0; n < model.node_count; ++n) {
    const Node& node = model.nodes[n];
    NodeSums& s = sums_[index(n)];
    s.second = node.parent >= 0 ? sums_[index(node.parent)].second : Twistd::zero();
    s.force = Wrenchd::zero();
    s.turning = Vec3d::zero();
    for (int k = node.v_index; k < node.v_index + node.freedoms; ++k)
      s.second += x[k] * get_twist(c.twist, stride, k);
    for (int k = node.v_index; k < node.v_index + node.freedoms; ++k) {
      by_q[k] = dot(get_wrench(c.by_q, stride, k), s.second);
      by_v[k] = dot(get_wrench(c.by_v, stride, k), s.second);
      by_a[k] = dot(get_wrench(c.momentum, stride, k), s.second);
    }
  }
  for (int d = 0; d < c.drive_count; ++d) {
    const DriveTerm& drive = c.drives[d];
    const double own = x[drive.freedom];
    by_a[drive.freedom] += drive.reflected * own;
    if (drive.carrier < 0) continue;
    NodeSums& s = sums_[index(drive.carrier)];
    by_v[drive.freedom] += dot(c.rotors[d].turned, s.second.angular);
    by_a[drive.freedom] += dot(c.rotors[d].axis, s.second.angular);
    s.force.moment += own * c.rotors[d].axis;
    s.turning += own * c.rotors[d].turned;
  }
  // Inward: sums of momentum and turning over the freedoms outboard.
  for (int n = model.node_count; n-- > 0;) {
    const Node& node = model.nodes[n];
    NodeSums& s = sums_[index(n)];
    for (int k = node.v_index; k < node.v_index + node.freedoms; ++k) {
      const Twistd twist = get_twist(c.twist, stride, k);
      by_q[k] += dot(s.force, get_twist(c.second, stride, k)) +
                 dot(s.turning, get_vec3(c.rate, stride, k));
      by_v[k] += dot(s.force, get_twist(c.drift, stride, k)) + dot(s.turning, twist.angular);
      by_a[k] += dot(s.force, twist);
    }
    if (has_own_block(node)) {
      const GeneralColumns<double>& g = c.general[model.general_index[n]];
      for (int l = 0; l < node.freedoms; ++l)
        for (int k = 0; k < node.freedoms; ++k)
          by_q[node.v_index + l] += g.own[l][k] * x[node.v_index + k];
    }
    if (node.parent < 0) continue;
    for (int k = node.v_index; k < node.v_index + node.freedoms; ++k) {
      s.force += x[k] * get_wrench(c.momentum, stride, k);
      s.turning += x[k] * get_vec3(c.turning, stride, k);
    }
    NodeSums& parent = sums_[index(node.parent)];
    parent.force += s.force;
    parent.turning += s.turning;
  }
  if (w_.dynamics().has_passive_elements() || !external_.empty())
    add_load_adjoint(state_, external_, x, w_, by_q, by_v);
}

// y (all freedoms; the independent ones are meant) = change of Xᵀ (r − τ).
void DynamicsProducts::closed_product(const Eigen::VectorXd& dq, const Eigen::VectorXd& dv,
                                      const Eigen::VectorXd* da, Eigen::VectorXd& y) {
  const Workspace& d = w_.dynamics();
  const std::vector<int>& own = d.independent();
  full_q_.setZero();
  full_v_.setZero();
  full_a_.setZero();
  for (std::size_t k = 0; k < own.size(); ++k) {
    full_q_[own[k]] = dq[static_cast<Eigen::Index>(k)];
    full_v_[own[k]] = dv[static_cast<Eigen::Index>(k)];
    if (da != nullptr) full_a_[own[k]] = (*da)[static_cast<Eigen::Index>(k)];
  }
  x_ = full_q_;  // independent entries
  const Eigen::VectorXd speeds = full_v_;
  d.expand(full_q_);
  d.expand(full_v_);
  d.expand(full_a_);
  each_bias_change(w_, [&](int row, int k, double by_q, double by_v) {
    full_a_[row] += by_q * x_[k] + by_v * speeds[k];
  });
  each_map_change(w_, [&](int row, int k, int l, double change) {
    full_v_[row] += change * x_[k] * state_.v[l];
    full_a_[row] += change * x_[k] * w_.acceleration[l];
  });
  tree_product(full_q_, full_v_, full_a_, y);
  d.reduce(y);
  each_map_change(
      w_, [&](int row, int k, int l, double change) { y[l] += change * x_[k] * w_.effort[row]; });
}

void DynamicsProducts::closed_adjoint(const Eigen::VectorXd& x, Eigen::VectorXd& by_q,
                                      Eigen::VectorXd& by_v, Eigen::VectorXd& by_a) {
  const Workspace& d = w_.dynamics();
  x_.setZero();
  for (std::size_t k = 0; k < d.independent().size(); ++k)
    x_[d.independent()[k]] = x[static_cast<Eigen::Index>(k)];
  const Eigen::VectorXd own = x_;
  d.expand(x_);
  tree_adjoint(x_, full_q_, full_v_, full_a_);
  by_q = full_q_;
  by_v = full_v_;
  by_a = full_a_;
  d.reduce(by_q);
  d.reduce(by_v);
  d.reduce(by_a);
  each_bias_change(w_, [&](int row, int k, double change_q, double change_v) {
    by_q[k] += change_q * full_a_[row];
    by_v[k] += change_v * full_a_[row];
  });
  each_map_change(w_, [&](int row, int k, int l, double change) {
    by_q[k] += change * (full_v_[row] * state_.v[l] + full_a_[row] * w_.acceleration[l] +
                         own[l] * w_.effort[row]);
  });
  by_q = by_q(d.independent()).eval();
  by_v = by_v(d.independent()).eval();
  by_a = by_a(d.independent()).eval();
}

void DynamicsProducts::apply_inverse_mass(const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  Workspace& d = w_.dynamics();
  if (flexible() || !d.remote_drives().empty()) {
    if (closed()) {
      Eigen::MatrixXd map = Eigen::MatrixXd::Zero(x.size(), size());
      for (Eigen::Index k = 0; k < map.cols(); ++k) {
        Eigen::VectorXd unit = Eigen::VectorXd::Zero(x.size());
        unit[d.independent()[index(k)]] = 1.0;
        d.expand(unit);
        map.col(k) = unit;
      }
      y = Cholesky(map.transpose() * dense_mass_ * map).solve(map.transpose() * x);
    } else {
      y = Cholesky(dense_mass_).solve(x);
    }
    return;
  }
  if (!closed()) {
    apply_inverse_mass_matrix(d, x, y);
    return;
  }
  // Forward dynamics at rest without gravity.
  SweepModel model = d.model();
  for (double& g : model.gravity) g = 0.0;
  z_.setZero();
  SweepInput in;
  in.q = d.has_quaternion ? d.position.data() : state_.q.data();
  in.v = z_.data();
  in.effort = x.data();
  Scratch<double> scratch = d.scratch();
  kernel_table().forward(model, in, &scratch, d.acceleration.data());
  y = d.acceleration(d.independent());
}

const Eigen::VectorXd& DynamicsProducts::forward_product(const Eigen::VectorXd& dq,
                                                         const Eigen::VectorXd& dv,
                                                         const Eigen::VectorXd& deffort) {
  if (closed()) {
    closed_product(dq, dv, nullptr, y_);
    // Xᵀ is the identity on efforts that act at independent freedoms.
    y_ = deffort - y_;
  } else {
    full_a_.setZero();
    tree_product(dq, dv, full_a_, y_);
    y_ = deffort - y_;
  }
  apply_inverse_mass(y_, product_);
  return product_;
}

const DynamicsGradient& DynamicsProducts::forward_adjoint(const Eigen::VectorXd& w) {
  if (closed()) {
    z_.setZero();
    Eigen::VectorXd given = Eigen::VectorXd::Zero(w_.mechanism().freedoms());
    given(w_.dynamics().independent()) = w;
    Eigen::VectorXd lambda;
    apply_inverse_mass(given, lambda);
    Eigen::VectorXd unused;
    closed_adjoint(lambda, gradient_.q, gradient_.v, unused);
    gradient_.effort.setZero(w_.mechanism().freedoms());
    gradient_.effort(w_.dynamics().independent()) = lambda;
    w_.dynamics().expand(gradient_.effort);
  } else {
    apply_inverse_mass(w, gradient_.effort);
    tree_adjoint(gradient_.effort, gradient_.q, gradient_.v, full_a_);
  }
  gradient_.q = -gradient_.q;
  gradient_.v = -gradient_.v;
  multiplier_ = -gradient_.effort;
  return gradient_;
}

const HybridResult& DynamicsProducts::evaluate_hybrid(const State& state, const HybridInput& input,
                                                      std::span<const ExternalWrench> external) {
  const Mechanism& m = w_.mechanism();
  if (closed() || !w_.dynamics().remote_drives().empty())
    throw NumericalError("'" + m.name() +
                         "': products of hybrid dynamics are for trees without drives on distant "
                         "carriers; hybrid_dynamics_derivatives() serves all");
  state_ = state;
  external_.assign(external.begin(), external.end());
  driven_ = input.motion_driven;
  hybrid_dynamics(m, state, input, w_.dynamics(), hybrid_, external);
  w_.acceleration = hybrid_.acceleration;
  if (flexible()) {
    fill_tree_matrices();
    return hybrid_;
  }
  compute_columns(prepared_input(m, state_, external_, w_.dynamics()), w_.acceleration.data(), true,
                  w_);
  return hybrid_;
}

const DynamicsGradient& DynamicsProducts::hybrid_adjoint(const Eigen::VectorXd& w,
                                                         const Eigen::VectorXd& x) {
  // λ: hybrid dynamics at rest without gravity, with efforts −w and accelerations x.
  Workspace& d = w_.dynamics();
  SweepModel model = d.model();
  for (double& g : model.gravity) g = 0.0;
  z_.setZero();
  full_q_ = -w;
  if (flexible()) {
    std::vector<int> free, driven;
    for (int i = 0; i < static_cast<int>(w.size()); ++i)
      (driven_[index(i)] != 0 ? driven : free).push_back(i);
    multiplier_ = x;
    const Eigen::VectorXd right =
        full_q_(free) - Eigen::MatrixXd(dense_mass_(free, driven)) * x(driven);
    if (!free.empty())
      multiplier_(free) = Cholesky(Eigen::MatrixXd(dense_mass_(free, free))).solve(right);
    tree_adjoint(multiplier_, gradient_.q, gradient_.v, gradient_.effort);
    for (const int i : free) gradient_.effort[i] = -multiplier_[i];
    return gradient_;
  }
  SweepInput in;
  in.q = d.has_quaternion ? d.position.data() : state_.q.data();
  in.v = z_.data();
  in.effort = full_q_.data();
  in.acceleration = x.data();
  in.driven = driven_.data();
  Scratch<double> scratch = d.scratch();
  multiplier_.resize(z_.size());
  kernel_table().hybrid(model, in, &scratch, multiplier_.data(), full_v_.data());
  tree_adjoint(multiplier_, gradient_.q, gradient_.v, gradient_.effort);
  for (Eigen::Index i = 0; i < multiplier_.size(); ++i)
    if (driven_[index(i)] == 0) gradient_.effort[i] = -multiplier_[i];
  return gradient_;
}

void DynamicsProducts::pull_back(Eigen::VectorXd& q, Eigen::VectorXd& v, Eigen::VectorXd& a) {
  if (!closed()) return;
  const Workspace& d = w_.dynamics();
  full_v_ = v;
  full_a_ = a;
  d.reduce(q);
  d.reduce(v);
  d.reduce(a);
  each_bias_change(w_, [&](int row, int k, double change_q, double change_v) {
    q[k] += change_q * full_a_[row];
    v[k] += change_v * full_a_[row];
  });
  each_map_change(w_, [&](int row, int k, int l, double change) {
    q[k] += change * (full_v_[row] * state_.v[l] + full_a_[row] * w_.acceleration[l]);
  });
  q = q(d.independent()).eval();
  v = v(d.independent()).eval();
  a = a(d.independent()).eval();
}

const Eigen::VectorXd& DynamicsProducts::inverse_product(const Eigen::VectorXd& dq,
                                                         const Eigen::VectorXd& dv,
                                                         const Eigen::VectorXd& da) {
  if (closed()) {
    closed_product(dq, dv, &da, y_);
    product_ = y_(w_.dynamics().independent());
  } else {
    tree_product(dq, dv, da, product_);
  }
  return product_;
}

const DynamicsGradient& DynamicsProducts::inverse_adjoint(const Eigen::VectorXd& w) {
  if (closed())
    closed_adjoint(w, gradient_.q, gradient_.v, gradient_.effort);
  else
    tree_adjoint(w, gradient_.q, gradient_.v, gradient_.effort);
  return gradient_;
}

}  // namespace catena
