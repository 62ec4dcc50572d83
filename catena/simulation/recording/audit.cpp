#include "catena/simulation/recording/audit.h"

#include <algorithm>
#include <cmath>

#include "catena/dynamics/kinematics.h"

namespace catena {
namespace {

// 0 of 0 is no drift.
double ratio(double error, double scale) { return error == 0.0 ? 0.0 : error / scale; }

}  // namespace

Auditor::Auditor(Equations& equations)
    : equations_(equations), meter_(equations.mechanism()), workspace_(equations.mechanism()) {}

void Auditor::start(double t, const State& state) {
  start_ = t;
  observe(t, state, Eigen::VectorXd::Zero(equations_.size()));
  first_energy_ = last_energy_ = energy_.total();
  first_potential_ = energy_.potential();
  first_momentum_ = momentum_;
  energy_error_ = energy_error_now_ = linear_error_ = angular_error_ = 0.0;
  most_potential_change_ = 0.0;
  floor_ = kSmallMotion * (weight_times_size() + std::abs(energy_.springs()));
}

// The size: the radius of gyration about the mass centre, and how far that is from the hinges.
double Auditor::weight_times_size() const {
  const Mechanism& m = equations_.mechanism();
  if (!(m.total_mass() > 0.0)) return 0.0;
  const MassProperties all = mass_properties(m, workspace_);
  const SymMat3d& inertia = all.inertia;
  double arm = 0.0;
  for (std::size_t n = 0; n < m.nodes().size(); ++n)
    arm = std::max(
        arm, norm(workspace_.node(static_cast<int>(n)).pose.translation - all.center_of_mass));
  return m.total_mass() * norm(m.gravity()) *
         (std::sqrt((inertia.xx + inertia.yy + inertia.zz) / m.total_mass()) + arm);
}

void Auditor::measure(const State& state, const Eigen::VectorXd& y) {
  const Mechanism& m = equations_.mechanism();
  energy_ = meter_.measure(state);
  energy_error_now_ = energy_.total() - first_energy_ - equations_.total_work(y);
  update_kinematics(m, state.q, state.v, workspace_);
  if (m.total_mass() > 0.0) momentum_ = centroidal_momentum(m, workspace_);
}

void Auditor::observe(double t, const State& state, const Eigen::VectorXd& y) {
  measure(state, y);
  observe_measured(t, state, y);
}

void Auditor::observe_measured(double t, const State& state, const Eigen::VectorXd& y) {
  const Mechanism& m = equations_.mechanism();
  last_energy_ = energy_.total();
  energy_error_ = std::max(energy_error_, std::abs(energy_error_now_));
  most_kinetic_ = std::max(most_kinetic_, energy_.kinetic);
  most_potential_change_ =
      std::max(most_potential_change_, std::abs(energy_.potential() - first_potential_));
  for (int k = 0; k < equations_.elements(); ++k)
    most_work_ = std::max(most_work_, std::abs(y[equations_.work_entry(k)]));
  closure_residual_ = std::max(closure_residual_, equations_.closure_residual(t, state));
  if (!equations_.floats_freely() || !(m.total_mass() > 0.0)) return;
  const SymMat3d inertia = mass_properties(m, workspace_).inertia;
  most_inertia_ = std::max(most_inertia_, inertia.xx + inertia.yy + inertia.zz);
  const Vec3d pull = m.total_mass() * (t - start_) * m.gravity();
  linear_error_ = std::max(linear_error_, norm(momentum_.linear - first_momentum_.linear - pull));
  angular_error_ = std::max(angular_error_, norm(momentum_.angular - first_momentum_.angular));
}

Audit Auditor::report(const Eigen::VectorXd& y) const {
  const Mechanism& m = equations_.mechanism();
  Audit audit;
  audit.energy_error = energy_error_;
  audit.energy_scale = std::max({most_kinetic_, most_potential_change_, most_work_, floor_});
  audit.energy_drift = ratio(energy_error_, audit.energy_scale);
  if (equations_.floats_freely()) {
    audit.linear_momentum_drift =
        ratio(linear_error_, std::sqrt(2.0 * m.total_mass() * most_kinetic_));
    audit.angular_momentum_drift =
        ratio(angular_error_, std::sqrt(2.0 * most_kinetic_ * most_inertia_));
  }
  audit.closure_residual = closure_residual_;
  audit.initial_energy = first_energy_;
  audit.final_energy = last_energy_;
  for (int k = 0; k < equations_.elements(); ++k)
    audit.work.push_back({equations_.element_name(k), y[equations_.work_entry(k)]});
  return audit;
}

std::vector<double> Auditor::save() const {
  const Momentum& p = first_momentum_;
  return {start_,         first_energy_,     first_potential_,
          p.angular.x,    p.angular.y,       p.angular.z,
          p.linear.x,     p.linear.y,        p.linear.z,
          energy_error_,  most_kinetic_,     most_potential_change_,
          most_work_,     most_inertia_,     linear_error_,
          angular_error_, closure_residual_, last_energy_,
          floor_};
}

void Auditor::restore(std::span<const double> saved) {
  std::size_t k = 0;
  start_ = saved[k++];
  first_energy_ = saved[k++];
  first_potential_ = saved[k++];
  for (int i = 0; i < 3; ++i) first_momentum_.angular[i] = saved[k++];
  for (int i = 0; i < 3; ++i) first_momentum_.linear[i] = saved[k++];
  for (double* value :
       {&energy_error_, &most_kinetic_, &most_potential_change_, &most_work_, &most_inertia_,
        &linear_error_, &angular_error_, &closure_residual_, &last_energy_, &floor_})
    *value = saved[k++];
}

}  // namespace catena
