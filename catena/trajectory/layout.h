// SPDX-License-Identifier: BSD-3-Clause
// Converts gradients between the vector y of the integrator (simulation/coordinates/coordinates.h)
// and tangent directions, and applies the transpose of the rates of the coordinates. For
// quaternions q of length one: a turn ξ of the body changes q by ½ q (0, ξ).
#pragma once

#include <vector>

#include <Eigen/Core>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/model/hinge_kinematics.h"
#include "catena/model/mechanism.h"
#include "catena/simulation/coordinates/coordinates.h"

namespace catena {

inline bool by_quaternion(const Node& node) { return node.coordinates != node.freedoms; }

// Places of the independent freedoms in y, and conversion of a gradient by tangent directions to
// one by y.
class StateLayout {
 public:
  StateLayout(const Mechanism& m, const Coordinates& coordinates,
              const std::vector<int>& independent)
      : m_(m), independent_(independent), size_(coordinates.size()) {
    place_.assign(to_size(m.coordinates()), -1);
    speed_ = size_ - static_cast<int>(independent.size());
    for (int i = 0; i < speed_; ++i)
      place_[index(m.position_index(coordinates.name(i).substr(2)))] = i;
    of_freedom_.assign(to_size(m.freedoms()), -1);
    for (std::size_t k = 0; k < independent.size(); ++k)
      of_freedom_[index(independent[k])] = static_cast<int>(k);
    for (const LoopPlace& loop : m.loops())
      for (const int n : loop.nodes)
        if (by_quaternion(m.nodes()[index(n)]))
          throw NumericalError("'" + m.name() +
                               "': a closed loop with a spherical or free hinge inside has no "
                               "adjoint along a motion; use a gimbal hinge");
  }
  int size() const { return size_; }
  int speed(Eigen::Index k) const { return speed_ + static_cast<int>(k); }
  int states() const { return static_cast<int>(independent_.size()); }
  // The entry of y that is a freedom's coordinate, −1: none.
  int coordinate(int freedom) const {
    const int c = m_.coordinate_of_freedom()[index(freedom)];
    return c < 0 ? -1 : place_[index(c)];
  }
  int independent_place(int freedom) const { return of_freedom_[index(freedom)]; }

  // y_bar += the gradient g by tangent directions (independent), converted to positions in y. The
  // quaternion of a state is that of y scaled to length one; `length` divides.
  void add_positions(const State& state, const Eigen::VectorXd& y, const Eigen::VectorXd& g,
                     Eigen::VectorXd& y_bar) const {
    for (const Node& node : m_.nodes()) {
      if (!by_quaternion(node)) {
        for (int k = node.v_index; k < node.v_index + node.freedoms; ++k)
          if (of_freedom_[index(k)] >= 0)
            y_bar[place_[index(m_.coordinate_of_freedom()[index(k)])]] += g[of_freedom_[index(k)]];
        continue;
      }
      const int at = place_[index(node.q_index)];
      const int own = of_freedom_[index(node.v_index)];
      const double* q = state.q.data() + node.q_index;
      const double length = y.segment(at, 4).norm();
      // δξ = 2 vec(q* δq) for a unit quaternion: the gradient is 2 q (0, g).
      const double x = g[own], w = g[own + 1], z = g[own + 2];
      const double s = 2.0 / length;
      y_bar[at] += s * (-q[1] * x - q[2] * w - q[3] * z);
      y_bar[at + 1] += s * (q[0] * x + q[2] * z - q[3] * w);
      y_bar[at + 2] += s * (q[0] * w - q[1] * z + q[3] * x);
      y_bar[at + 3] += s * (q[0] * z + q[1] * w - q[2] * x);
      if (node.hinge != NodeHinge::free) continue;
      const Rotationd r = Rotationd::from_quaternion(load_quaternion<double>(q));
      const Vec3d moved = r * Vec3d{g[own + 3], g[own + 4], g[own + 5]};
      for (int i = 0; i < 3; ++i) y_bar[at + 4 + i] += moved[i];
    }
  }

  // The adjoint of ẏ_positions = rates of the coordinates: λ by them, into gradients by tangent
  // directions and velocities of the independent freedoms.
  void add_rates(const State& state, const Eigen::VectorXd& lambda, Eigen::VectorXd& q_bar,
                 Eigen::VectorXd& v_bar) const {
    for (const Node& node : m_.nodes()) {
      if (!by_quaternion(node)) {
        for (int k = node.v_index; k < node.v_index + node.freedoms; ++k)
          if (of_freedom_[index(k)] >= 0)
            v_bar[of_freedom_[index(k)]] +=
                lambda[place_[index(m_.coordinate_of_freedom()[index(k)])]];
        continue;
      }
      const int at = place_[index(node.q_index)];
      const int own = of_freedom_[index(node.v_index)];
      const double* q = state.q.data() + node.q_index;
      const double l[4] = {lambda[at], lambda[at + 1], lambda[at + 2], lambda[at + 3]};
      // q̇ = ½ q (0, ω):  ω̄ = ½ vec(q* λ).
      const double p0 = q[0] * l[0] + q[1] * l[1] + q[2] * l[2] + q[3] * l[3];  // real part of q* λ
      const Vec3d p{q[0] * l[1] - q[1] * l[0] - q[2] * l[3] + q[3] * l[2],
                    q[0] * l[2] + q[1] * l[3] - q[2] * l[0] - q[3] * l[1],
                    q[0] * l[3] - q[1] * l[2] + q[2] * l[1] - q[3] * l[0]};
      const Vec3d w{state.v[node.v_index], state.v[node.v_index + 1], state.v[node.v_index + 2]};
      for (int i = 0; i < 3; ++i) v_bar[own + i] += 0.5 * p[i];
      // Along δq = ½ q (0, ξ): δq̇ = ¼ q (0, ξ)(0, ω), and λ · that = ¼ (q* λ) · (ξ ω), the product
      // of pure quaternions being (−ξ·ω, ξ × ω).
      Vec3d turned = 0.25 * (cross(w, p) - p0 * w);
      if (node.hinge == NodeHinge::free) {
        const Rotationd r = Rotationd::from_quaternion(load_quaternion<double>(q));
        const Vec3d pull = r.inverse_times(Vec3d{lambda[at + 4], lambda[at + 5], lambda[at + 6]});
        const Vec3d u{state.v[node.v_index + 3], state.v[node.v_index + 4],
                      state.v[node.v_index + 5]};
        for (int i = 0; i < 3; ++i) v_bar[own + 3 + i] += pull[i];
        turned += cross(u, pull);  // of ṗ = R u
      }
      for (int i = 0; i < 3; ++i) q_bar[own + i] += turned[i];
    }
  }

  // λ by y after quaternions were scaled to length one -> before; y is before.
  void unscale(const Eigen::VectorXd& y, Eigen::VectorXd& lambda) const {
    for (const Node& node : m_.nodes()) {
      if (!by_quaternion(node)) continue;
      const int at = place_[index(node.q_index)];
      const double length = y.segment(at, 4).norm();
      const Eigen::Vector4d unit = y.segment(at, 4) / length;
      const Eigen::Vector4d own = lambda.segment(at, 4);
      lambda.segment(at, 4) = (own - unit * unit.dot(own)) / length;
    }
  }
  void scale(Eigen::VectorXd& y) const {
    for (const Node& node : m_.nodes())
      if (by_quaternion(node)) {
        const int at = place_[index(node.q_index)];
        y.segment(at, 4).normalize();
      }
  }
  // The gradient by tangent directions from that by unit quaternions.
  Eigen::VectorXd tangent(const State& state, const Eigen::VectorXd& lambda) const {
    Eigen::VectorXd g = Eigen::VectorXd::Zero(states());
    for (const Node& node : m_.nodes()) {
      if (!by_quaternion(node)) {
        for (int k = node.v_index; k < node.v_index + node.freedoms; ++k)
          if (of_freedom_[index(k)] >= 0) g[of_freedom_[index(k)]] = lambda[coordinate(k)];
        continue;
      }
      const int at = place_[index(node.q_index)];
      const int own = of_freedom_[index(node.v_index)];
      const double* q = state.q.data() + node.q_index;
      const double l[4] = {lambda[at], lambda[at + 1], lambda[at + 2], lambda[at + 3]};
      g[own] = 0.5 * (q[0] * l[1] - q[1] * l[0] - q[2] * l[3] + q[3] * l[2]);
      g[own + 1] = 0.5 * (q[0] * l[2] + q[1] * l[3] - q[2] * l[0] - q[3] * l[1]);
      g[own + 2] = 0.5 * (q[0] * l[3] - q[1] * l[2] + q[2] * l[1] - q[3] * l[0]);
      if (node.hinge != NodeHinge::free) continue;
      const Rotationd r = Rotationd::from_quaternion(load_quaternion<double>(q));
      const Vec3d pull = r.inverse_times(Vec3d{lambda[at + 4], lambda[at + 5], lambda[at + 6]});
      for (int i = 0; i < 3; ++i) g[own + 3 + i] = pull[i];
    }
    return g;
  }

 private:
  const Mechanism& m_;
  std::vector<int> independent_;
  int size_ = 0, speed_ = 0;
  std::vector<int> place_;       // of a coordinate in y
  std::vector<int> of_freedom_;  // place among the independent ones
};

}  // namespace catena
