// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/recording/flexible_watch.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/dynamics/kinematics.h"
#include "catena/model/flexible/flexible_completion.h"
#include "catena/model/hinge_kinematics.h"
#include "catena/spatial/eigen.h"

namespace catena {
namespace {

// The limits; see flexible_watch.h.
constexpr double kMostDeflection = 0.1;
constexpr double kMostRate = 1.0;
constexpr double kLeastPivot = 0.1;
// Below this the pivot is not looked at.
constexpr double kDeformed = 0.002;

// M̄(η): modes, rotation, translation.
Eigen::MatrixXd inertia_of(const FlexiblePlace& place, const Eigen::VectorXd& eta) {
  const int n = place.constants->modes();
  const Eigen::MatrixXd own = inertia_at(*place.constants, place.completed.get(), eta);
  Eigen::MatrixXd m(n + 6, n + 6);
  m << own.bottomRightCorner(n, n), own.bottomLeftCorner(n, 6), own.topRightCorner(6, n),
      own.topLeftCorner(6, 6);
  return m;
}

// By Cholesky's method, each over its diagonal entry; 0 or less if it is not positive definite.
double smallest_pivot(Eigen::MatrixXd m) {
  double least = 1.0;
  for (Eigen::Index k = 0; k < m.rows(); ++k) {
    const double whole = m(k, k), pivot = whole - m.col(k).head(k).squaredNorm();
    if (!(whole > 0.0)) return 0.0;
    if (!(pivot > 0.0)) return pivot / whole;
    least = std::min(least, pivot / whole);
    m(k, k) = std::sqrt(pivot);
    for (Eigen::Index i = k + 1; i < m.rows(); ++i)
      m(k, i) = (m(k, i) - m.col(i).head(k).dot(m.col(k).head(k))) / m(k, k);
  }
  return least;
}

double deflection_of(const FlexibleBody& b, const Eigen::VectorXd& eta) {
  double most = 0.0;
  for (const FlexibleBody::Attachment& a : b.attachments)
    most = std::max(most, (a.shape * eta).norm());
  for (const FlexibleBody::DrawnPoint& p : b.drawn_points)
    most = std::max(most, (p.shape * eta).norm());
  return b.size > 0.0 ? most / b.size : 0.0;
}

}  // namespace

FlexibleWatch::FlexibleWatch(const Mechanism& mechanism, double output_interval)
    : mechanism_(mechanism), interval_(0.1 * output_interval) {
  if (!mechanism.has_flexible_bodies()) return;
  workspace_ = std::make_unique<Workspace>(mechanism);
  update_kinematics(mechanism, mechanism.default_state().q, *workspace_);
  for (const FlexiblePlace& place : mechanism.flexible_bodies()) {
    const FlexibleBody& b = *place.constants;
    FlexibleDomain domain;
    domain.body = place.name;
    domains_.push_back(domain);
    const Eigen::VectorXd frequencies = b.frequencies();
    first_frequency_.push_back(frequencies.size() > 0 ? frequencies[0] : 0.0);
    usual_pivot_.push_back(1.0);
    usual_pivot_.back() = pivot_of(domains_.size() - 1, Eigen::VectorXd::Zero(b.modes()));
  }
  reported_.resize(domains_.size());
}

// Of the modes and the hinge of the frame, with what else moves with it. After update_kinematics().
double FlexibleWatch::pivot_of(std::size_t body, const Eigen::VectorXd& eta) const {
  const FlexiblePlace& place = mechanism_.flexible_bodies()[body];
  const FlexibleBody& b = *place.constants;
  const int frame = mechanism_.nodes()[index(place.node)].parent;
  if (b.model == FlexibleModel::ruthless || frame < 0 || !(usual_pivot_[body] > 0.0)) return 1.0;
  const Node& node = mechanism_.nodes()[index(frame)];
  if (node.flexible >= 0) return 1.0;  // welded to an attachment: its body's own matter
  const int n = b.modes(), freedoms = node.freedoms;
  Eigen::MatrixXd columns = Eigen::MatrixXd::Zero(n + 6, n + freedoms);
  columns.topLeftCorner(n, n).setIdentity();
  Eigen::MatrixXd frame_part = Eigen::MatrixXd::Zero(n + freedoms, n + freedoms);
  for (int k = 0; k < freedoms; ++k) {
    const Twistd own = motion_map_column(mechanism_, *workspace_, frame, k);
    columns.col(n + k).tail(6) = to_eigen(Ad_inverse(workspace_->node(place.node).to_parent, own));
    const Wrenchd momentum = load_inertia<double>(node) * own;
    for (int l = 0; l < freedoms; ++l)
      frame_part(n + l, n + k) =
          dot(momentum, motion_map_column(mechanism_, *workspace_, frame, l));
  }
  return smallest_pivot(columns.transpose() * inertia_of(place, eta) * columns + frame_part) /
         usual_pivot_[body];
}

void FlexibleWatch::look(double time, const State& state, std::vector<RunEvent>& log) {
  if (domains_.empty() || time < last_ + interval_) return;
  last_ = time;
  update_kinematics(mechanism_, state.q, state.v, *workspace_);
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const FlexiblePlace& place = mechanism_.flexible_bodies()[i];
    const FlexibleBody& b = *place.constants;
    const Node& node = mechanism_.nodes()[index(place.node)];
    const Eigen::VectorXd eta = state.q.segment(node.q_index, b.modes());
    FlexibleDomain& d = domains_[i];
    Reported& told = reported_[i];
    const auto tell = [&](bool& once, bool out, const std::string& text) {
      if (!out || once) return;
      once = true;
      log.push_back({time, "flexible", place.name, text});
    };
    const double deflection = deflection_of(b, eta);
    const double rate = first_frequency_[i] > 0.0
                            ? norm(workspace_->node(place.node).twist.angular) / first_frequency_[i]
                            : 0.0;
    // Only what is deformed loses inertia: the factorization would cost more than the rest.
    const double pivot = deflection > kDeformed || b.size == 0.0 ? pivot_of(i, eta) : 1.0;
    d.deflection = std::max(d.deflection, deflection);
    d.rate = std::max(d.rate, rate);
    d.pivot = std::min(d.pivot, pivot);
    tell(told.deflection, deflection > kMostDeflection,
         "flexible body '" + place.name + "' is deflected by " + short_number(deflection, 2) +
             " of its length; the model holds for about a tenth: divide the body into several in a "
             "row, or check loads and stiffness");
    tell(told.rate, rate > kMostRate,
         "flexible body '" + place.name + "' turns at " + short_number(rate, 2) +
             " times its first natural frequency (" + short_number(first_frequency_[i]) +
             " rad/s); " +
             (b.model == FlexibleModel::consistent
                  ? "take more modes and compare the results, or divide the body into several"
                  : "its model lacks the stiffening by rotation: use 'model: consistent'"));
    tell(told.pivot, pivot < kLeastPivot,
         "the inertia of flexible body '" + place.name + "' has nearly lost a direction (pivot " +
             short_number(pivot, 2) +
             " of that at rest): it is deformed beyond the domain of its model; set 'completion: "
             "always', divide the body into several in a row, or take fewer modes");
  }
}

std::vector<double> FlexibleWatch::save() const {
  std::vector<double> s;
  s.push_back(last_);
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const Reported& told = reported_[i];
    for (const double x :
         {domains_[i].deflection, domains_[i].rate, domains_[i].pivot, told.deflection ? 1.0 : 0.0,
          told.rate ? 1.0 : 0.0, told.pivot ? 1.0 : 0.0})
      s.push_back(x);
  }
  return s;
}

void FlexibleWatch::restore(std::span<const double> s) {
  last_ = s[0];
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const double* x = s.data() + 1 + 6 * i;
    domains_[i].deflection = x[0];
    domains_[i].rate = x[1];
    domains_[i].pivot = x[2];
    reported_[i] = {x[3] != 0.0, x[4] != 0.0, x[5] != 0.0};
  }
}

}  // namespace catena
