// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/configuration.h"

#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/model/hinge_kinematics.h"

namespace catena {
namespace {

bool has_quaternion(const Node& node) {
  return node.hinge == NodeHinge::spherical || node.hinge == NodeHinge::free;
}

void check_size(Eigen::Index size, int expected, const char* what) {
  if (size != expected)
    throw NumericalError(std::string(what) + " has " + std::to_string(size) + " entries, but " +
                         std::to_string(expected) + " are needed");
}

void store(const Quaterniond& a, double* q) {
  q[0] = a.w;
  q[1] = a.x;
  q[2] = a.y;
  q[3] = a.z;
}

// SplitMix64: small, and the same everywhere (the standard's distributions are not).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform(double low, double high) {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    return low + (high - low) * static_cast<double>(z >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

Eigen::VectorXd zero_position(const Mechanism& mechanism) {
  Eigen::VectorXd q = Eigen::VectorXd::Zero(mechanism.coordinates());
  for (const Node& node : mechanism.nodes())
    if (has_quaternion(node)) q[node.q_index] = 1.0;
  return q;
}

Eigen::VectorXd integrate(const Mechanism& mechanism, const Eigen::VectorXd& q,
                          const Eigen::VectorXd& v) {
  check_size(q.size(), mechanism.coordinates(), "position q");
  check_size(v.size(), mechanism.freedoms(), "velocity v");
  Eigen::VectorXd next = q;
  for (const Node& node : mechanism.nodes())
    integrate_node(node, v.data() + node.v_index, next.data() + node.q_index);
  return next;
}

void integrate_node(const Node& node, const double* v, double* q) {
  if (!has_quaternion(node)) {
    for (int k = 0; k < node.coordinates; ++k) q[k] += v[k];
    return;
  }
  const Quaterniond a = load_quaternion(static_cast<const double*>(q));
  const Vec3d angular{v[0], v[1], v[2]};
  if (node.hinge == NodeHinge::free) {
    const Vec3d shift = Rotationd::from_quaternion(a) *
                        exp_transform(Twistd{angular, {v[3], v[4], v[5]}}).translation;
    for (int k = 0; k < 3; ++k) q[4 + k] += shift[k];
  }
  store(normalized(a * exp_quaternion(angular)), q);
}

Eigen::VectorXd difference(const Mechanism& mechanism, const Eigen::VectorXd& q1,
                           const Eigen::VectorXd& q2) {
  check_size(q1.size(), mechanism.coordinates(), "position q1");
  check_size(q2.size(), mechanism.coordinates(), "position q2");
  Eigen::VectorXd v(mechanism.freedoms());
  for (const Node& node : mechanism.nodes()) {
    const double* a = q1.data() + node.q_index;
    const double* b = q2.data() + node.q_index;
    double* w = v.data() + node.v_index;
    if (!has_quaternion(node)) {
      for (int k = 0; k < node.coordinates; ++k) w[k] = b[k] - a[k];
      continue;
    }
    const Quaterniond qa = load_quaternion(a);
    const Quaterniond step = qa.conjugate() * load_quaternion(b);
    const Vec3d angular = log(normalized(step));
    for (int k = 0; k < 3; ++k) w[k] = angular[k];
    if (node.hinge == NodeHinge::free) {
      const Vec3d shift = Rotationd::from_quaternion(qa).inverse_times(
          Vec3d{b[4] - a[4], b[5] - a[5], b[6] - a[6]});
      // The inverse of the translation part of exp at this angle (as in log on SE(3)).
      const Vec3d wp = cross(angular, shift);
      const Vec3d linear =
          shift - 0.5 * wp + log_coefficient(squared_norm(angular)) * cross(angular, wp);
      for (int k = 0; k < 3; ++k) w[3 + k] = linear[k];
    }
  }
  return v;
}

Eigen::VectorXd position_rate(const Mechanism& mechanism, const Eigen::VectorXd& q,
                              const Eigen::VectorXd& v) {
  check_size(q.size(), mechanism.coordinates(), "position q");
  check_size(v.size(), mechanism.freedoms(), "velocity v");
  Eigen::VectorXd rate(mechanism.coordinates());
  for (const Node& node : mechanism.nodes())
    node_position_rate(node, q.data() + node.q_index, v.data() + node.v_index,
                       rate.data() + node.q_index);
  return rate;
}

void node_position_rate(const Node& node, const double* q, const double* v, double* rate) {
  if (!has_quaternion(node)) {
    for (int k = 0; k < node.coordinates; ++k) rate[k] = v[k];
    return;
  }
  const Quaterniond a = load_quaternion(q);
  store(a * Quaterniond{0.0, 0.5 * v[0], 0.5 * v[1], 0.5 * v[2]}, rate);
  if (node.hinge == NodeHinge::free) {
    const Vec3d linear = Rotationd::from_quaternion(a) * Vec3d{v[3], v[4], v[5]};
    for (int k = 0; k < 3; ++k) rate[4 + k] = linear[k];
  }
}

void normalize_quaternion(double* q) {
  store(normalized(load_quaternion(static_cast<const double*>(q))), q);
}

double normalize_quaternions(const Mechanism& mechanism, Eigen::VectorXd& q) {
  check_size(q.size(), mechanism.coordinates(), "position q");
  double worst = 0.0;
  for (const Node& node : mechanism.nodes()) {
    if (!has_quaternion(node)) continue;
    double* own = q.data() + node.q_index;
    const double length =
        std::sqrt(load_quaternion(static_cast<const double*>(own)).squared_norm());
    if (!(length > 0.0) || !std::isfinite(length))
      throw NumericalError("hinge '" + mechanism.hinges()[index(node.hinge_index)].name +
                           "': its quaternion has length " + number(length) +
                           "; it must have length 1");
    worst = std::max(worst, std::abs(length - 1.0));
    normalize_quaternion(own);
  }
  return worst;
}

Eigen::VectorXd random_position(const Mechanism& mechanism, std::uint64_t seed) {
  Random random(seed);
  Eigen::VectorXd q(mechanism.coordinates());
  for (const Node& node : mechanism.nodes()) {
    double* own = q.data() + node.q_index;
    const FreedomSettings* settings = mechanism.freedom_settings().data() + node.v_index;
    for (int k = 0; k < node.coordinates; ++k) {
      double low = -1.0, high = 1.0;
      if (node.coordinates == node.freedoms) {
        low = std::max(low, settings[k].lower);
        high = std::min(high, settings[k].upper);
        if (low > high)
          low = high = std::isfinite(settings[k].lower) && settings[k].lower > 1.0
                           ? settings[k].lower
                           : settings[k].upper;
      }
      own[k] = random.uniform(low, high);
    }
    if (has_quaternion(node)) {
      // Uniform on the sphere by rejection from the cube.
      while (true) {
        const double n2 = load_quaternion(static_cast<const double*>(own)).squared_norm();
        if (n2 <= 1.0 && n2 > 1e-4) break;
        for (int k = 0; k < 4; ++k) own[k] = random.uniform(-1.0, 1.0);
      }
      normalize_quaternion(own);
    }
  }
  return q;
}

Eigen::VectorXd random_vector(int size, std::uint64_t seed) {
  Random random(seed);
  Eigen::VectorXd v(size);
  for (Eigen::Index k = 0; k < v.size(); ++k) v[k] = random.uniform(-1.0, 1.0);
  return v;
}

}  // namespace catena
