// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/recording/flexible_watch.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/dynamics/kinematics.h"
#include "catena/model/flexible_body.h"

namespace catena {
namespace {

// The limits; see flexible_watch.h.
constexpr double kMostDeflection = 0.1;
constexpr double kMostRate = 1.0;
constexpr double kLeastPivot = 0.1;

// The smallest pivot of M̄(η) by Cholesky's method, modes first, each over its diagonal entry; 0 or
// less if it is not positive definite.
double smallest_pivot(const FlexibleBody& b, const Eigen::VectorXd& eta) {
  const int n = b.modes(), size = n + 6;
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(size, size);  // modes, rotation, translation
  m.topLeftCorner(n, n) = b.modal_mass;
  Eigen::Vector3d h;
  for (int c = 0; c < 3; ++c) {
    const Eigen::MatrixXd& second = b.mass_moment_2[index(c)];
    h[c] = b.mass_moment[c] + (b.mass_moment_1.row(c) + 0.5 * eta.transpose() * second).dot(eta);
    m.block(n + c, 0, 1, n) =
        b.coupling_0.row(c) + (b.coupling_1[index(c)] * eta).transpose();
    m.block(n + 3 + c, 0, 1, n) = b.mass_moment_1.row(c) + (second * eta).transpose();
    m(n + 3 + c, n + 3 + c) = b.mass;
  }
  constexpr int kRow[6] = {0, 0, 0, 1, 1, 2}, kColumn[6] = {0, 1, 2, 1, 2, 2};
  for (int c = 0; c < 6; ++c)
    m(n + kColumn[c], n + kRow[c]) =
        b.inertia[index(c)] +
        (b.inertia_1.row(c) + 0.5 * eta.transpose() * b.inertia_2[index(c)]).dot(eta);
  // h~ᵀ below the rotation: rows of translation, columns of rotation.
  m(n + 4, n + 0) = -h[2], m(n + 5, n + 0) = h[1];
  m(n + 3, n + 1) = h[2], m(n + 5, n + 1) = -h[0];
  m(n + 3, n + 2) = -h[1], m(n + 4, n + 2) = h[0];
  double least = 1.0;
  for (int k = 0; k < size; ++k) {
    const double whole = m(k, k);
    const double pivot = whole - m.row(k).head(k).squaredNorm();
    if (!(whole > 0.0) || !(pivot > 0.0)) return std::min(0.0, pivot / std::abs(whole));
    least = std::min(least, pivot / whole);
    m(k, k) = std::sqrt(pivot);
    for (int i = k + 1; i < size; ++i)
      m(i, k) = (m(i, k) - m.row(i).head(k).dot(m.row(k).head(k))) / m(k, k);
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

FlexibleWatch::FlexibleWatch(const Mechanism& mechanism)
    : mechanism_(mechanism), workspace_(mechanism) {
  for (const FlexiblePlace& place : mechanism.flexible_bodies()) {
    const FlexibleBody& b = *place.constants;
    FlexibleDomain domain;
    domain.body = place.name;
    domains_.push_back(domain);
    const Eigen::VectorXd frequencies = b.frequencies();
    first_frequency_.push_back(frequencies.size() > 0 ? frequencies[0] : 0.0);
    usual_pivot_.push_back(smallest_pivot(b, Eigen::VectorXd::Zero(b.modes())));
  }
  reported_.resize(domains_.size());
}

double FlexibleWatch::pivot_of(std::size_t body, const Eigen::VectorXd& q) {
  const FlexiblePlace& place = mechanism_.flexible_bodies()[body];
  const FlexibleBody& b = *place.constants;
  if (b.model == FlexibleModel::ruthless || !(usual_pivot_[body] > 0.0)) return 1.0;
  const int first = mechanism_.nodes()[index(place.node)].q_index;
  return smallest_pivot(b, q.segment(first, b.modes())) / usual_pivot_[body];
}

void FlexibleWatch::look(double time, const State& state, std::vector<RunEvent>& log) {
  if (domains_.empty()) return;
  update_kinematics(mechanism_, state.q, state.v, workspace_);
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
    const double rate =
        first_frequency_[i] > 0.0
            ? norm(workspace_.node(place.node).twist.angular) / first_frequency_[i]
            : 0.0;
    const double pivot = pivot_of(i, state.q);
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
             " of that at rest): it is deformed beyond the domain of its model; take more modes, or "
             "divide the body into several");
  }
}

std::vector<double> FlexibleWatch::save() const {
  std::vector<double> s;
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const Reported& told = reported_[i];
    for (const double x :
         {domains_[i].deflection, domains_[i].rate, domains_[i].pivot,
          told.deflection ? 1.0 : 0.0, told.rate ? 1.0 : 0.0, told.pivot ? 1.0 : 0.0})
      s.push_back(x);
  }
  return s;
}

void FlexibleWatch::restore(std::span<const double> s) {
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const double* x = s.data() + 6 * i;
    domains_[i].deflection = x[0];
    domains_[i].rate = x[1];
    domains_[i].pivot = x[2];
    reported_[i] = {x[3] != 0.0, x[4] != 0.0, x[5] != 0.0};
  }
}

}  // namespace catena
