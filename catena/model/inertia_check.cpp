// SPDX-License-Identifier: BSD-3-Clause
// The articulated-body recursion with dense matrices, in one position without symmetry: a hinge
// whose inertia vanishes there has none anywhere.
//
// Whether a computed hinge inertia is zero or rounding is decided relative to the numbers it was
// made of. A hinge has inertia if the bodies of its own node give it some, or if these together
// with all outboard bodies do. The own bodies are checked first, so that a long chain (whose
// articulated inertia spans many orders of magnitude) is not rejected.
#include "catena/model/inertia_check.h"

#include <algorithm>
#include <cmath>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/model/configuration.h"
#include "catena/model/hinge_kinematics.h"
#include "catena/spatial/eigen.h"

namespace catena {
namespace {

// A few hundred roundings of a sum.
constexpr double kRelativeInertia = 1e-13;
// A freedom that moves less than this part of the largest inertia (turns and shifts each for
// themselves) is hardly meant: links of fingers have 1e-9 of a robot's, rounding leaves 1e-16.
constexpr double kTinyInertia = 1e-12;

using MotionMap = Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, kMaxFreedoms>;
using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMaxFreedoms, kMaxFreedoms>;
using Column = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMaxFreedoms, 1>;

// An inertia, and the sum of the moments of inertia that were added to make it (without regard to
// cancellation): the measure of its rounding.
struct Measured {
  Matrix6d inertia = Matrix6d::Zero();
  double moments = 0.0;

  double mass() const { return inertia.diagonal().tail<3>().sum() / 3.0; }
};

Square inverse_square_roots(const Square& d) {
  return d.diagonal()
      .unaryExpr([](double x) { return x > 0.0 ? 1.0 / std::sqrt(x) : 0.0; })
      .asDiagonal();
}

// The freedom that moves none of this inertia (the worst), or −1.
int idle_freedom(const Measured& body, const MotionMap& h, const Column& rotor) {
  const Square d = h.transpose() * body.inertia * h;
  // Lengths are measured by the body's own size, so that metres and radians can be compared.
  const double mass = body.mass();
  const bool has_size = body.moments > 0.0 && mass > 0.0;
  const double length2 = has_size ? body.moments / mass : 1.0;
  const double scale = body.moments / length2 + mass;
  int worst = -1;
  double least = kRelativeInertia;
  for (int k = 0; k < h.cols(); ++k) {
    if (rotor[k] > 0.0) continue;
    const double column2 =
        length2 * h.col(k).head<3>().squaredNorm() + h.col(k).tail<3>().squaredNorm();
    const double relative = d(k, k) / (scale * column2);
    if (relative > least) continue;  // NaN: not
    worst = k;
    least = relative;
  }
  if (worst >= 0 || h.cols() == 1) return worst;
  const Square total = d + Square(rotor.asDiagonal());
  const Square s = inverse_square_roots(total);
  const SymmetricEigen eigen = symmetric_eigen(s * total * s);
  if (!(eigen.values[0] > kRelativeInertia)) eigen.vectors.col(0).cwiseAbs().maxCoeff(&worst);
  return worst;
}

// Removes the freedoms that move inertia.
void remove_hinge_freedom(Matrix6d& inertia, const MotionMap& h, const Column& rotor) {
  const MotionMap u = inertia * h;
  const Square d = h.transpose() * u + Square(rotor.asDiagonal());
  const Square s = inverse_square_roots(d);
  const SymmetricEigen eigen = symmetric_eigen(s * d * s);
  for (int k = 0; k < h.cols(); ++k) {
    if (!(eigen.values[k] > kRelativeInertia)) continue;
    const Vector6d direction = u * (s * eigen.vectors.col(k));
    inertia -= direction * direction.transpose() / eigen.values[k];
  }
}

// Nodes that a closure or a coupling restrains are not checked here: the loop decides whether they
// can move. A closure within one rigid group restrains nothing.
std::vector<char> restrained_nodes(const Mechanism& m) {
  const auto node_of = [&](const std::string& body) {
    const int b = m.body_index(body);
    return b < 0 ? -1 : at(m.bodies(), b).node;
  };
  std::vector<char> restrained(m.nodes().size(), 0);
  for (const LoopPlace& loop : m.loops()) {
    const bool real = !loop.couplings.empty() ||
                      std::any_of(loop.cut_hinges.begin(), loop.cut_hinges.end(),
                                  [&](int h) {
                                    const Hinge& hinge = at(m.description().hinges, h);
                                    return node_of(hinge.parent) != node_of(hinge.child);
                                  }) ||
                      std::any_of(loop.rods.begin(), loop.rods.end(), [&](int r) {
                        const Rod& rod = at(m.description().rods, r);
                        return node_of(rod.body_a) != node_of(rod.body_b);
                      });
    if (real)
      for (const int n : loop.nodes) at(restrained, n) = 1;
  }
  return restrained;
}

// A position without symmetry; a custom hinge's own initial position, if it has one.
void choose_position(const Mechanism& m, int n, double* q) {
  const Node& node = at(m.nodes(), n);
  const std::vector<double>& initial =
      at(m.description().hinges, node.hinge_index).initial_position;
  if (node.hinge == NodeHinge::custom && !initial.empty()) {
    std::copy(initial.begin(), initial.end(), q);
    return;
  }
  for (int k = 0; k < node.coordinates; ++k) q[k] = 0.31 + 0.17 * k + 0.013 * (n % 41);
  if (node.hinge == NodeHinge::spherical || node.hinge == NodeHinge::free) normalize_quaternion(q);
}

Transformd rest_pose(const Mechanism& m, const Node& attachment) {
  const AttachmentTable& table = *at(m.attachment_tables(), attachment.flexible);
  Transformd x;
  for (int i = 0; i < 9; ++i) x.rotation.matrix.m[i / 3][i % 3] = table.rotation[i];
  x.translation = {table.position[0], table.position[1], table.position[2]};
  return x;
}

// What a freedom moves.
struct Moved {
  int hinge = -1;
  int freedom = -1;
  double inertia = 0.0;  // kg m², or kg
};

void warn_of_tiny(const Mechanism& m, const std::vector<Moved>& all, const char* unit,
                  std::vector<Diagnostic>& found) {
  double largest = 0.0;
  for (const Moved& one : all) largest = std::max(largest, one.inertia);
  for (const Moved& one : all) {
    if (!(one.inertia < kTinyInertia * largest)) continue;
    found.push_back(
        {Severity::warning, at(m.description().hinges, one.hinge).source,
         "hinge '" + at(m.hinges(), one.hinge).name + "': freedom '" +
             at(m.velocity_names(), one.freedom) + "' moves " + short_number(one.inertia, 2) + " " +
             unit + ", " + short_number(one.inertia / largest, 2) +
             " of the largest here: it accelerates without bounds and needs tiny steps. Lock the "
             "joint, give it a drive with a rotor inertia, or correct the inertia of its body"});
  }
}

}  // namespace

void check_hinge_inertias(const Mechanism& m, std::vector<Diagnostic>& found) {
  const std::vector<char> restrained = restrained_nodes(m);
  Eigen::VectorXd rotors = Eigen::VectorXd::Zero(m.freedoms());
  for (const DrivePlace& drive : m.drives())
    rotors[drive.v_index] += drive.gear_ratio * drive.gear_ratio * drive.rotor_inertia;

  std::vector<Measured> own(m.nodes().size());
  for (std::size_t n = 0; n < own.size(); ++n)
    own[n].inertia = to_eigen(load_inertia<double>(m.nodes()[n]));
  for (const BodyPlace& body : m.bodies())
    if (body.node >= 0)
      at(own, body.node).moments += body.inertia.inertia.trace() +
                                    body.inertia.mass * squared_norm(body.X_node_body.translation);

  std::vector<Measured> articulated = own;
  std::vector<Moved> turned, shifted;
  for (int n = static_cast<int>(own.size()) - 1; n >= 0; --n) {
    const Node& node = at(m.nodes(), n);
    double q[kMaxCoordinates] = {};
    const double v[kMaxFreedoms] = {};
    HingeMotion<double> motion;
    const bool flexible = node.flexible >= 0;  // taken as rigid here: its own mass was checked
    if (!flexible) choose_position(m, n, q);
    evaluate_hinge(node, m.screws().data(), at(m.customs(), n), q, v, motion);
    if (node.hinge == NodeHinge::attachment) motion.displacement = rest_pose(m, node);
    Measured& body = at(articulated, n);
    if (!flexible && !at(restrained, n)) {
      MotionMap h(6, node.freedoms);
      for (int k = 0; k < node.freedoms; ++k) h.col(k) = to_eigen(motion.map[k]);
      const Column rotor = rotors.segment(node.v_index, node.freedoms);
      for (int k = 0; k < node.freedoms; ++k) {
        const Moved moved{node.hinge_index, node.v_index + k,
                          h.col(k).dot(body.inertia * h.col(k)) + rotor[k]};
        (h.col(k).head<3>().isZero() ? shifted : turned).push_back(moved);
      }
      const int idle = idle_freedom(at(own, n), h, rotor) < 0 ? -1 : idle_freedom(body, h, rotor);
      if (idle >= 0) {
        const HingePlace& place = at(m.hinges(), node.hinge_index);
        const int moved = place.reversed ? place.parent_body : place.child_body;
        found.push_back({Severity::error, at(m.description().hinges, node.hinge_index).source,
                         "hinge '" + place.name + "': freedom '" +
                             at(m.velocity_names(), node.v_index + idle) +
                             "' moves no inertia; give body '" + at(m.bodies(), moved).name +
                             "' mass and inertia, or lock the joint"});
      }
      remove_hinge_freedom(body.inertia, h, rotor);
    }
    if (node.parent < 0) continue;
    const Transformd x = load_placement<double>(node) * motion.displacement;
    const Matrix6d to_child = matrix_Ad(x.inverse());
    Measured& parent = at(articulated, node.parent);
    parent.moments += body.inertia.diagonal().head<3>().cwiseAbs().sum() +
                      std::abs(body.mass()) * squared_norm(x.translation);
    parent.inertia += to_child.transpose() * body.inertia * to_child;
  }
  if (std::any_of(found.begin(), found.end(),
                  [](const Diagnostic& d) { return d.severity == Severity::error; }))
    return;
  warn_of_tiny(m, turned, "kg m²", found);
  warn_of_tiny(m, shifted, "kg", found);
}

}  // namespace catena
