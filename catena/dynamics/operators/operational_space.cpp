// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/operators/operational_space.h"

#include <algorithm>
#include <limits>

#include "catena/base/index.h"
#include "catena/dynamics/kernels/hinge_block.h"
#include "catena/dynamics/operators/influence.h"

namespace catena {
namespace {

int bit_count(std::uint8_t rows) {
  int count = 0;
  for (int i = 0; i < 6; ++i) count += (rows >> i) & 1;
  return count;
}

int index_of(const std::vector<int>& list, int value) {
  return static_cast<int>(std::find(list.begin(), list.end(), value) - list.begin());
}

Twistd unit_twist(int i) {
  Twistd v = Twistd::zero();
  v[i] = 1.0;
  return v;
}

// β = Ad⁻¹ − H D⁻¹ gainᵀ: what a twist of the parent makes of this node when the hinge gives way.
Matrix6d articulated_step(const HingeBlock& hinge) {
  Matrix6d beta;
  for (int i = 0; i < 6; ++i) {
    const Twistd unit = unit_twist(i);
    const Twistd carried = Ad_inverse(hinge.to_parent(), unit);
    double own[kMaxFreedoms];
    hinge.pull(unit, carried, own);
    hinge.solve(own);
    beta.col(i) = to_eigen(carried - hinge.motion(own));
  }
  return beta;
}

}  // namespace

OperationalSpace::OperationalSpace(const Mechanism& mechanism, std::vector<TaskFrame> frames)
    : mechanism_(&mechanism) {
  const std::vector<int> parents = node_parents(mechanism);
  for (const TaskFrame& frame : frames) {
    if (frame.body < 0 || frame.body >= static_cast<int>(mechanism.bodies().size()))
      throw NumericalError("operational space: there is no body " + std::to_string(frame.body));
    const BodyPlace& body = mechanism.bodies()[index(frame.body)];
    if (body.node < 0)
      throw NumericalError("operational space: body '" + body.name + "' is fixed to the ground");
    Task task;
    task.node = body.node;
    task.X_node_frame = body.X_node_body * frame.pose;
    task.first_row = rows_;
    task.row_count = bit_count(frame.rows);
    task.path = path_to_ground(parents, body.node);
    task.arrived.resize(task.path.size() * to_size(task.row_count));
    task.frame = frame;
    rows_ += task.row_count;
    active_.insert(active_.end(), task.path.begin(), task.path.end());
    tasks_.push_back(std::move(task));
  }
  std::sort(active_.begin(), active_.end());
  active_.erase(std::unique(active_.begin(), active_.end()), active_.end());
  for (const int n : active_) {
    const int parent = parents[index(n)];
    parent_.push_back(parent < 0 ? -1 : index_of(active_, parent));
  }
  for (int a = 0; a < static_cast<int>(tasks_.size()); ++a)
    for (int b = a; b < static_cast<int>(tasks_.size()); ++b) {
      const Task& ta = tasks_[index(a)];
      const Task& tb = tasks_[index(b)];
      const int c = common_ancestor(parents, ta.node, tb.node);
      if (c < 0) continue;
      pairs_.push_back({a, b, index_of(ta.path, c), index_of(tb.path, c), index_of(active_, c)});
    }
  compliance_.resize(active_.size());
  inverse_inertia_.setConstant(rows_, rows_, std::numeric_limits<double>::quiet_NaN());
  inertia_ = inverse_inertia_;
  task_vector_.resize(rows_);
  freedom_vector_.resize(mechanism.freedoms());
  factor_.compute(Eigen::MatrixXd::Identity(rows_, rows_));  // takes its memory now
}

int OperationalSpace::freedoms() const {
  return static_cast<int>(workspace_->independent().size());
}

// The unit forces of a task's rows, in the frame of its own node.
void OperationalSpace::place_units(Task& task) {
  const NodeScratch<double>& w = workspace_->node(task.node);
  Transformd x = task.X_node_frame;
  if (task.frame.axes == TaskFrame::Axes::ground) x.rotation = w.pose.rotation.inverse();
  int row = 0;
  for (int i = 0; i < 6; ++i) {
    if (((task.frame.rows >> i) & 1) == 0) continue;
    Wrenchd unit = Wrenchd::zero();
    unit[i] = 1.0;
    task.arrived[index(row++)] = Ad_star_inverse(x, unit);
  }
}

// Closed loops: Λ⁻¹ column by column, J M⁻¹ Jᵀ e, each factor by its sweeps.
void OperationalSpace::update_closed() {
  NodeScratch<double>* nodes = workspace_->scratch().nodes;
  for (const int n : active_) {
    const int parent = mechanism_->nodes()[index(n)].parent;
    nodes[n].pose = parent < 0 ? nodes[n].to_parent : nodes[parent].pose * nodes[n].to_parent;
  }
  for (Task& task : tasks_) place_units(task);
  if (freedom_vector_.size() != freedoms()) freedom_vector_.resize(freedoms());
  for (int j = 0; j < rows_; ++j) {
    task_vector_.setZero();
    task_vector_[j] = 1.0;
    apply_jacobian_transposed(task_vector_, freedom_vector_);
    apply_inverse_mass_matrix(*workspace_, freedom_vector_, freedom_vector_);
    apply_jacobian(freedom_vector_, task_vector_);
    for (int i = j; i < rows_; ++i)
      inverse_inertia_(i, j) = inverse_inertia_(j, i) = task_vector_[i];
  }
}

void OperationalSpace::update(Workspace& w) {
  workspace_ = &w;
  factored_ = false;
  if (w.model().aggregate_count > 0) return update_closed();
  NodeScratch<double>* nodes = w.scratch().nodes;
  // Outward: poses and compliances.
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const int n = active_[i];
    const HingeBlock hinge(w, n);
    Matrix6d& compliance = compliance_[i];
    compliance.setZero();
    nodes[n].pose = hinge.to_parent();
    if (hinge.parent() >= 0) {
      nodes[n].pose = nodes[hinge.parent()].pose * hinge.to_parent();
      const Matrix6d beta = articulated_step(hinge);
      const Matrix6d& inner = compliance_[index(parent_[i])];
      compliance.noalias() = beta * (inner * beta.transpose()).eval();
    }
    for (int k = 0; k < hinge.freedoms(); ++k) {
      double own[kMaxFreedoms] = {};
      own[k] = 1.0;
      hinge.solve(own);
      compliance += to_eigen(hinge.motion(own)) * to_eigen(hinge.column(k)).transpose();
    }
  }
  // Inward: unit forces of every frame through the articulated bodies, z_parent = βᵀ z.
  for (Task& task : tasks_) {
    place_units(task);
    for (std::size_t place = 0; place + 1 < task.path.size(); ++place) {
      const HingeBlock hinge(w, task.path[place]);
      for (int r = 0; r < task.row_count; ++r) {
        const Wrenchd& z = task.unit(static_cast<int>(place), r);
        double own[kMaxFreedoms];
        hinge.project(z, own);
        hinge.solve(own);
        for (int k = 0; k < hinge.freedoms(); ++k) own[k] = -own[k];
        task.arrived[(place + 1) * to_size(task.row_count) + to_size(r)] = hinge.passed(z, own);
      }
    }
  }
  // They meet at the common ancestors.
  inverse_inertia_.setZero();
  for (const Pair& pair : pairs_) {
    const Task& a = tasks_[index(pair.a)];
    const Task& b = tasks_[index(pair.b)];
    const Matrix6d& compliance = compliance_[index(pair.compliance)];
    for (int j = 0; j < b.row_count; ++j) {
      const Vector6d moved = compliance * to_eigen(b.unit(pair.place_b, j));
      for (int i = 0; i < a.row_count; ++i) {
        if (pair.a == pair.b && i > j) continue;
        const double value = to_eigen(a.unit(pair.place_a, i)).dot(moved);
        inverse_inertia_(a.first_row + i, b.first_row + j) = value;
        inverse_inertia_(b.first_row + j, a.first_row + i) = value;
      }
    }
  }
}

void OperationalSpace::factor() {
  if (factored_) return;
  if (workspace_ == nullptr) throw NumericalError("operational space: call update() first");
  factor_.compute(inverse_inertia_);
  // A row depends on those before it if what they leave of it is rounding.
  const double rounding = 1e2 * std::numeric_limits<double>::epsilon() * rows_;
  for (const Task& task : tasks_)
    for (int i = task.first_row; i < task.first_row + task.row_count; ++i) {
      const double pivot = factor_.pivot_root(i);
      const double left = pivot * pivot / inverse_inertia_(i, i);
      if (factor_.succeeded() && left > rounding) continue;
      if (left > rounding && i + 1 < rows_) continue;  // the failing pivot is a later one
      throw NumericalError(
          "operational space: a row of the frame on body '" +
          mechanism_->bodies()[index(task.frame.body)].name +
          "' is linearly dependent on the rows before it in this position, so its inertia is not "
          "defined");
    }
  factored_ = true;
  inertia_.setIdentity();
  factor_.solve_in_place(inertia_);
}

const Eigen::MatrixXd& OperationalSpace::inertia() {
  factor();
  return inertia_;
}

void OperationalSpace::check_size(const Eigen::VectorXd& x) const {
  check_size(x, workspace_ == nullptr ? 0 : freedoms());
}
void OperationalSpace::check_size(const Eigen::VectorXd& x, int size) const {
  if (workspace_ == nullptr) throw NumericalError("operational space: call update() first");
  if (x.size() != size)
    throw NumericalError("operational space: the vector has " + std::to_string(x.size()) +
                         " entries instead of " + std::to_string(size));
}

void OperationalSpace::apply_jacobian(const Eigen::VectorXd& v, Eigen::VectorXd& twists) {
  check_size(v);
  NodeScratch<double>* nodes = workspace_->scratch().nodes;
  Eigen::VectorXd& all = workspace_->vector;
  all.setZero();
  for (int i = 0; i < freedoms(); ++i) all[workspace_->independent()[index(i)]] = v[i];
  workspace_->expand(all);
  for (const int n : active_) {
    const HingeBlock hinge(*workspace_, n);
    nodes[n].acceleration = hinge.motion(all.data() + hinge.v_index());
    if (hinge.parent() >= 0)
      nodes[n].acceleration += Ad_inverse(hinge.to_parent(), nodes[hinge.parent()].acceleration);
  }
  if (twists.size() != rows_) twists.resize(rows_);
  for (const Task& task : tasks_)
    for (int r = 0; r < task.row_count; ++r)
      twists[task.first_row + r] = dot(task.unit(0, r), nodes[task.node].acceleration);
}

void OperationalSpace::apply_jacobian_transposed(const Eigen::VectorXd& f,
                                                 Eigen::VectorXd& effort) {
  check_size(f, rows_);
  Eigen::VectorXd& all = workspace_->vector;
  NodeScratch<double>* nodes = workspace_->scratch().nodes;
  for (const int n : active_) nodes[n].force = Wrenchd::zero();
  for (const Task& task : tasks_)
    for (int r = 0; r < task.row_count; ++r)
      nodes[task.node].force += f[task.first_row + r] * task.unit(0, r);
  all.setZero();
  for (std::size_t i = active_.size(); i-- > 0;) {
    const int n = active_[i];
    const HingeBlock hinge(*workspace_, n);
    hinge.project(nodes[n].force, all.data() + hinge.v_index());
    if (hinge.parent() >= 0)
      nodes[hinge.parent()].force += Ad_star_inverse(hinge.to_parent(), nodes[n].force);
  }
  workspace_->reduce(all);
  if (effort.size() != freedoms()) effort.resize(freedoms());
  for (int i = 0; i < freedoms(); ++i) effort[i] = all[workspace_->independent()[index(i)]];
}

void OperationalSpace::apply_consistent_inverse(const Eigen::VectorXd& x, Eigen::VectorXd& v) {
  check_size(x, rows_);
  factor();
  task_vector_ = x;
  factor_.solve_in_place(task_vector_);
  apply_jacobian_transposed(task_vector_, v);
  apply_inverse_mass_matrix(*workspace_, v, v);
}

void OperationalSpace::apply_consistent_inverse_transposed(const Eigen::VectorXd& effort,
                                                           Eigen::VectorXd& f) {
  check_size(effort);
  factor();
  apply_inverse_mass_matrix(*workspace_, effort, freedom_vector_);
  apply_jacobian(freedom_vector_, f);
  factor_.solve_in_place(f);
}

void OperationalSpace::project_effort(const Eigen::VectorXd& effort, Eigen::VectorXd& rest) {
  apply_consistent_inverse_transposed(effort, task_vector_);
  apply_jacobian_transposed(task_vector_, freedom_vector_);
  if (rest.size() != effort.size()) rest.resize(effort.size());
  rest = effort - freedom_vector_;
}

}  // namespace catena
