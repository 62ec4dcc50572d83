// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/recording/auditor.h"

#include <algorithm>
#include <cmath>

#include "catena/dynamics/kinematics.h"

namespace catena {
namespace {

// Energies are compared with this part of weight times size at least: a pendulum that swings by
// 1.4 mrad has this much of its weight times its length. The projection onto constraints leaves
// 1e-14 of it.
constexpr double kSmallMotion = 1e-6;

// 0 of 0 is no drift.
double ratio(double error, double scale) { return error == 0.0 ? 0.0 : error / scale; }

}  // namespace

Auditor::Auditor(Equations& equations)
    : equations_(equations), meter_(equations.mechanism()), workspace_(equations.mechanism()) {}

void Auditor::start(const Instant& first) {
  start_ = first.time;
  const Eigen::VectorXd no_work = Eigen::VectorXd::Zero(equations_.size());
  const Measured measured = measure(first.state, no_work);
  judge(first, measured, no_work);
  first_energy_ = last_energy_ = measured.energy.total();
  first_potential_ = measured.energy.potential();
  first_momentum_ = measured.momentum;
  energy_error_ = linear_error_ = angular_error_ = 0.0;
  most_potential_change_ = 0.0;
  floor_ = kSmallMotion * (weight_times_size(first.state) + std::abs(measured.energy.springs()));
}

// The size: the radius of gyration about the mass centre, and its distance from the hinges.
double Auditor::weight_times_size(const State& state) {
  const Mechanism& m = equations_.mechanism();
  if (!(m.total_mass() > 0.0)) return 0.0;
  update_kinematics(m, state.q, state.v, workspace_);
  const MassProperties all = mass_properties(m, workspace_);
  const SymMat3d& inertia = all.inertia;
  double arm = 0.0;
  for (std::size_t n = 0; n < m.nodes().size(); ++n)
    arm = std::max(
        arm, norm(workspace_.node(static_cast<int>(n)).pose.translation - all.center_of_mass));
  return m.total_mass() * norm(m.gravity()) *
         (std::sqrt((inertia.xx + inertia.yy + inertia.zz) / m.total_mass()) + arm);
}

Auditor::Measured Auditor::measure(const State& state, const Eigen::VectorXd& y) {
  const Mechanism& m = equations_.mechanism();
  Measured measured;
  measured.energy = meter_.measure(state);
  measured.energy_error = measured.energy.total() - first_energy_ - equations_.work().total(y);
  update_kinematics(m, state.q, state.v, workspace_);
  if (m.total_mass() > 0.0) measured.momentum = centroidal_momentum(m, workspace_);
  return measured;
}

void Auditor::judge(const Instant& here, const Measured& measured, const Eigen::VectorXd& y) {
  const Mechanism& m = equations_.mechanism();
  const WorkAccount& work = equations_.work();
  last_energy_ = measured.energy.total();
  energy_error_ = std::max(energy_error_, std::abs(measured.energy_error));
  most_kinetic_ = std::max(most_kinetic_, measured.energy.kinetic);
  most_potential_change_ =
      std::max(most_potential_change_, std::abs(measured.energy.potential() - first_potential_));
  for (int k = 0; k < work.elements(); ++k)
    most_work_ = std::max(most_work_, std::abs(work.work(k, y)));
  closure_residual_ =
      std::max(closure_residual_, equations_.closure_residual(here.time, here.state));
  if (!work.floats_freely() || !(m.total_mass() > 0.0)) return;
  update_kinematics(m, here.state.q, here.state.v, workspace_);
  const SymMat3d inertia = mass_properties(m, workspace_).inertia;
  most_inertia_ = std::max(most_inertia_, inertia.xx + inertia.yy + inertia.zz);
  const Vec3d pull = m.total_mass() * (here.time - start_) * m.gravity();
  linear_error_ =
      std::max(linear_error_, norm(measured.momentum.linear - first_momentum_.linear - pull));
  angular_error_ =
      std::max(angular_error_, norm(measured.momentum.angular - first_momentum_.angular));
}

Audit Auditor::report(const Eigen::VectorXd& y) const {
  const Mechanism& m = equations_.mechanism();
  Audit audit;
  audit.energy_error = energy_error_;
  audit.energy_scale = std::max({most_kinetic_, most_potential_change_, most_work_, floor_});
  audit.energy_drift = ratio(energy_error_, audit.energy_scale);
  if (equations_.work().floats_freely()) {
    audit.linear_momentum_drift =
        ratio(linear_error_, std::sqrt(2.0 * m.total_mass() * most_kinetic_));
    audit.angular_momentum_drift =
        ratio(angular_error_, std::sqrt(2.0 * most_kinetic_ * most_inertia_));
  }
  audit.closure_residual = closure_residual_;
  audit.initial_energy = first_energy_;
  audit.final_energy = last_energy_;
  const WorkAccount& work = equations_.work();
  for (int k = 0; k < work.elements(); ++k) audit.work.push_back({work.name(k), work.work(k, y)});
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
