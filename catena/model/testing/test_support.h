// SPDX-License-Identifier: BSD-3-Clause
// What the tests of this room share: 4 x 4 matrices by their textbook entries (Eigen, not our
// types), the displacement of every hinge type as a product of them, and random mechanisms.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/model/builder.h"
#include "catena/model/hinge_kinematics.h"
#include "catena/spatial/eigen.h"

namespace catena::test {

using Eigen::Matrix3d;
using Eigen::Matrix4d;
using Eigen::Vector3d;
using Eigen::VectorXd;

inline Matrix4d matrix(const Transformd& x) {
  Matrix4d m = Matrix4d::Identity();
  m.topLeftCorner<3, 3>() = to_eigen(x.rotation.matrix);
  m.topRightCorner<3, 1>() = to_eigen(x.translation);
  return m;
}

inline Transformd transform(const Matrix4d& m) {
  Transformd x;
  x.rotation.matrix = from_eigen(Matrix3d(m.topLeftCorner<3, 3>()));
  x.translation = from_eigen(Vector3d(m.topRightCorner<3, 1>()));
  return x;
}

inline Matrix3d cross_matrix(const Vector3d& w) {
  return (Matrix3d() << 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0).finished();
}

inline Matrix4d turn(const Vector3d& axis, double angle) {
  const Matrix3d k = cross_matrix(axis.normalized());
  Matrix4d m = Matrix4d::Identity();
  m.topLeftCorner<3, 3>() += std::sin(angle) * k + (1.0 - std::cos(angle)) * k * k;
  return m;
}

inline Matrix4d shift(const Vector3d& by) {
  Matrix4d m = Matrix4d::Identity();
  m.topRightCorner<3, 1>() = by;
  return m;
}

inline Matrix4d turn(const Eigen::Quaterniond& q) {
  Matrix4d m = Matrix4d::Identity();
  m.topLeftCorner<3, 3>() = q.normalized().toRotationMatrix();
  return m;
}

// The axis i of a hinge, of length one, or the default.
inline Vector3d axis(const HingeSettings& hinge, std::size_t i, const Vector3d& otherwise) {
  return i < hinge.axes.size() ? to_eigen(hinge.axes[i]).normalized() : otherwise;
}

// J(q) of the table in hinge.h. A planar hinge must say its x direction, or have the normal z.
inline Matrix4d displacement(const HingeSettings& hinge, const double* q) {
  const Vector3d x = Vector3d::UnitX(), y = Vector3d::UnitY(), z = Vector3d::UnitZ();
  const Vector3d a = axis(hinge, 0, z);
  switch (hinge.type) {
    case HingeType::weld:
      return Matrix4d::Identity();
    case HingeType::revolute:
      return turn(a, q[0]);
    case HingeType::prismatic:
      return shift(a * q[0]);
    case HingeType::screw:
      return turn(a, q[0]) * shift(a * hinge.pitch * q[0]);
    case HingeType::cylindrical:
      return turn(a, q[0]) * shift(a * q[1]);
    case HingeType::universal:
      return turn(axis(hinge, 0, x), q[0]) * turn(axis(hinge, 1, y), q[1]);
    case HingeType::planar: {
      Vector3d plane_x = axis(hinge, 1, x);
      plane_x = (plane_x - plane_x.dot(a) * a).normalized();
      return shift(plane_x * q[1] + a.cross(plane_x) * q[2]) * turn(a, q[0]);
    }
    case HingeType::spherical:
      return turn(Eigen::Quaterniond(q[0], q[1], q[2], q[3]));
    case HingeType::gimbal:
      return turn(axis(hinge, 0, x), q[0]) * turn(axis(hinge, 1, y), q[1]) *
             turn(axis(hinge, 2, z), q[2]);
    case HingeType::translation:
      return shift({q[0], q[1], q[2]});
    case HingeType::free:
      return shift({q[4], q[5], q[6]}) * turn(Eigen::Quaterniond(q[0], q[1], q[2], q[3]));
    case HingeType::custom:
      return matrix(hinge.custom->transform({q, to_size(hinge.custom->freedoms())}));
    case HingeType::modes:
    case HingeType::attachment:
      break;  // not this reference's business
  }
  return Matrix4d::Identity();
}

class Random {
 public:
  explicit Random(unsigned seed = 7) : generator_(seed) {}
  double number(double low = -1.0, double high = 1.0) {
    return std::uniform_real_distribution<double>(low, high)(generator_);
  }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(generator_); }
  Vec3d vector() { return {number(), number(), number()}; }
  Transformd pose() {
    return transform(shift(to_eigen(vector())) * turn(to_eigen(vector()), number(-3.0, 3.0)));
  }
  // A body that some real mass distribution has: four point masses at random places.
  BodySettings body() {
    BodySettings b;
    Vector3d center = Vector3d::Zero();
    std::vector<std::pair<double, Vector3d>> points;
    for (int i = 0; i < 4; ++i) {
      points.emplace_back(number(0.2, 1.0), to_eigen(vector()));
      b.mass += points.back().first;
      center += points.back().first * points.back().second;
    }
    center /= b.mass;
    const Transformd axes = pose();
    b.center_of_mass = from_eigen(center);
    b.inertia_axes = axes.rotation;
    Matrix3d inertia = Matrix3d::Zero();
    for (const auto& [m, p] : points)
      inertia -= m * cross_matrix(p - center) * cross_matrix(p - center);
    const Matrix3d r = to_eigen(axes.rotation);
    const Matrix3d turned = r.transpose() * inertia * r;
    b.inertia = {turned(0, 0), turned(0, 1), turned(0, 2),
                 turned(1, 1), turned(1, 2), turned(2, 2)};
    return b;
  }
  HingeSettings hinge(HingeType type) {
    HingeSettings h;
    h.type = type;
    h.frame_on_parent = pose();
    h.frame_on_child = pose();
    const auto axes = [&](int n) {
      for (int i = 0; i < n; ++i) h.axes.push_back(1.7 * vector());
    };
    switch (type) {
      case HingeType::screw:
        h.pitch = number();
        [[fallthrough]];
      case HingeType::revolute:
      case HingeType::prismatic:
      case HingeType::cylindrical:
        axes(1);
        break;
      case HingeType::universal:
      case HingeType::planar:
        axes(2);
        break;
      case HingeType::gimbal:
        axes(3);
        break;
      case HingeType::custom:
        h.custom = helix();
        break;
      default:
        break;
    }
    return h;
  }

  // A custom hinge of two freedoms: along a helix of slope q[1].
  static std::shared_ptr<const CustomHinge> helix() {
    return make_custom_hinge<2>([](const auto* q) {
      using Scalar = std::decay_t<decltype(*q)>;
      const auto [s, c] = sincos(q[0]);
      return Transform<Scalar>{Rotation<Scalar>::about_z(q[0]) * Rotation<Scalar>::about_x(q[1]),
                               {Scalar(2.0) * c, Scalar(2.0) * s, q[0] * q[1]}};
    });
  }

  std::mt19937& generator() { return generator_; }

 private:
  std::mt19937 generator_;
};

inline const std::vector<HingeType> kMovingTypes = {
    HingeType::revolute,    HingeType::prismatic, HingeType::screw,     HingeType::cylindrical,
    HingeType::universal,   HingeType::planar,    HingeType::spherical, HingeType::gimbal,
    HingeType::translation, HingeType::free,      HingeType::custom};

// Poses of all nodes at q, by their tables.
inline std::vector<Transformd> node_poses(const Mechanism& m, const VectorXd& q) {
  std::vector<Transformd> world(m.nodes().size());
  const double v[kMaxFreedoms] = {};
  for (std::size_t n = 0; n < world.size(); ++n) {
    const Node& node = m.nodes()[n];
    HingeMotion<double> motion;
    evaluate_hinge(node, m.screws().data(), m.customs()[n], q.data() + node.q_index, v, motion);
    const Transformd x = load_placement<double>(node) * motion.displacement;
    world[n] = node.parent < 0 ? x : world[index(node.parent)] * x;
  }
  return world;
}

// The pose of a user's body at q, through its node.
inline Matrix4d body_pose(const Mechanism& m, const std::vector<Transformd>& nodes,
                          std::string_view name) {
  const int body_index = m.body_index(name);
  if (body_index < 0) return Matrix4d::Identity();
  const BodyPlace& body = m.bodies()[index(body_index)];
  return body.node < 0 ? matrix(body.X_node_body)
                       : matrix(nodes[index(body.node)] * body.X_node_body);
}

inline BodySettings ball(double mass = 1.0) {
  BodySettings b;
  b.mass = mass;
  b.inertia = SymMat3d::diagonal(0.1 * mass, 0.1 * mass, 0.1 * mass);
  return b;
}

// The problems that finish() reports, none if it succeeds.
inline std::vector<Diagnostic> problems_of(const MechanismBuilder& builder, bool strict = true) {
  try {
    builder.finish({.strict = strict});
  } catch (const ModelError& error) {
    return error.problems();
  }
  return {};
}

// True if one of the problems has all these words.
inline bool mentions(const std::vector<Diagnostic>& problems,
                     const std::vector<std::string>& words) {
  for (const Diagnostic& problem : problems) {
    bool all = true;
    for (const std::string& word : words)
      all = all && problem.message.find(word) != std::string::npos;
    if (all) return true;
  }
  return false;
}

inline std::string text(const std::vector<Diagnostic>& problems) {
  std::string all;
  for (const Diagnostic& problem : problems) all += problem.text() + "\n";
  return all;
}

}  // namespace catena::test
