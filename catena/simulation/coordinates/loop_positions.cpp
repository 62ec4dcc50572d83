// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/coordinates/loop_positions.h"

#include <algorithm>

#include "catena/base/index.h"
#include "catena/model/configuration.h"
#include "catena/model/hinge_kinematics.h"

namespace catena {
namespace {

bool is_free(const Node& node) { return node.hinge == NodeHinge::free; }

const double* own(const Node& node, const Eigen::VectorXd& q) { return q.data() + node.q_index; }

Vec3d turn_between(const double* reference, const double* q) {
  return log(normalized(load_quaternion(reference).conjugate() * load_quaternion(q)));
}

void turn_from(const double* reference, const Vec3d& turn, double* q) {
  const Quaterniond to = load_quaternion(reference) * exp_quaternion(turn);
  q[0] = to.w;
  q[1] = to.x;
  q[2] = to.y;
  q[3] = to.z;
}

// G, G⁻¹ and its transpose at one turn.
class TurnRate {
 public:
  explicit TurnRate(const Vec3d& turn)
      : turn_(turn),
        of_log_(log_coefficient(squared_norm(turn))),
        of_exp_(exp_coefficients(squared_norm(turn))) {}
  Vec3d rate(const Vec3d& angular) const {
    const Vec3d across = cross(turn_, angular);
    return angular + 0.5 * across + of_log_ * cross(turn_, across);
  }
  Vec3d angular(const Vec3d& rate) const {
    const Vec3d across = cross(turn_, rate);
    return rate - of_exp_.b * across + of_exp_.c * cross(turn_, across);
  }
  Vec3d transposed_angular(const Vec3d& row) const {
    const Vec3d across = cross(turn_, row);
    return row + of_exp_.b * across + of_exp_.c * cross(turn_, across);
  }

 private:
  Vec3d turn_;
  double of_log_;
  ExpCoefficients<double> of_exp_;
};

Rotationd rotation_of(const Node& node, const Eigen::VectorXd& q) {
  return Rotationd::from_quaternion(load_quaternion(own(node, q)));
}

}  // namespace

LoopPositions::LoopPositions(const Mechanism& mechanism, const LoopClosure& loop,
                             const std::vector<int>& columns, const Eigen::VectorXd& reference) {
  for (const int column : columns) {
    freedoms_.push_back(loop.freedom(column));
    coordinates_.push_back(mechanism.coordinate_of_freedom()[index(freedoms_.back())]);
  }
  if (std::find(coordinates_.begin(), coordinates_.end(), -1) == coordinates_.end()) return;
  const auto nodes = mechanism.nodes();  // in the order of their freedoms
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (coordinates_[k] >= 0) continue;
    const Node& node =
        *(std::upper_bound(nodes.begin(), nodes.end(), freedoms_[k],
                           [](int freedom, const Node& n) { return freedom < n.v_index; }) -
          1);
    auto turn =
        std::find_if(turns_.begin(), turns_.end(), [&](const Turn& t) { return t.node == &node; });
    if (turn == turns_.end()) turn = turns_.insert(turn, Turn{&node, {}, {}});
    const int own = freedoms_[k] - node.v_index;
    turn->column[own] = columns[k];
    turn->place[own] = static_cast<Eigen::Index>(k);
  }
  refer_to(reference);
}

void LoopPositions::refer_to(const Eigen::VectorXd& q) {
  reference_ = q;
  for (const Turn& turn : turns_) normalize_quaternion(reference_.data() + turn.node->q_index);
}

std::vector<int> LoopPositions::turned_coordinates() const {
  std::vector<int> result;
  for (const Turn& turn : turns_)
    for (int k = 0; k < turn.node->coordinates; ++k) result.push_back(turn.node->q_index + k);
  return result;
}

double LoopPositions::largest_turn(const Eigen::VectorXd& x) const {
  double most = 0.0;
  for (const Turn& turn : turns_)
    most = std::max(most, norm(Vec3d{x[turn.place[0]], x[turn.place[1]], x[turn.place[2]]}));
  return most;
}

Eigen::VectorXd LoopPositions::of(const Eigen::VectorXd& q) const {
  Eigen::VectorXd x(size());
  for (Eigen::Index k = 0; k < x.size(); ++k)
    if (coordinate(k) >= 0) x[k] = q[coordinate(k)];
  for (const Turn& turn : turns_) {
    const double *a = own(*turn.node, reference_), *b = own(*turn.node, q);
    const Vec3d angle = turn_between(a, b);
    for (int k = 0; k < 3; ++k) x[turn.place[k]] = angle[k];
    if (!is_free(*turn.node)) continue;
    const Vec3d shift = rotation_of(*turn.node, reference_)
                            .inverse_times(Vec3d{b[4] - a[4], b[5] - a[5], b[6] - a[6]});
    for (int k = 0; k < 3; ++k) x[turn.place[3 + k]] = shift[k];
  }
  return x;
}

void LoopPositions::put(const Eigen::VectorXd& x, Eigen::VectorXd& q) const {
  for (Eigen::Index k = 0; k < x.size(); ++k)
    if (coordinate(k) >= 0) q[coordinate(k)] = x[k];
  for (const Turn& turn : turns_) {
    const double* a = own(*turn.node, reference_);
    double* b = q.data() + turn.node->q_index;
    turn_from(a, {x[turn.place[0]], x[turn.place[1]], x[turn.place[2]]}, b);
    if (!is_free(*turn.node)) continue;
    const Vec3d shift = rotation_of(*turn.node, reference_) *
                        Vec3d{x[turn.place[3]], x[turn.place[4]], x[turn.place[5]]};
    for (int k = 0; k < 3; ++k) b[4 + k] = a[4 + k] + shift[k];
  }
}

Eigen::VectorXd LoopPositions::rates(const Eigen::VectorXd& q, const Eigen::VectorXd& v) const {
  Eigen::VectorXd x(size());
  for (Eigen::Index k = 0; k < x.size(); ++k) x[k] = v[freedom(k)];
  for (const Turn& turn : turns_) {
    const double* u = v.data() + turn.node->v_index;
    const TurnRate at(turn_between(own(*turn.node, reference_), own(*turn.node, q)));
    const Vec3d angular = at.rate({u[0], u[1], u[2]});
    for (int k = 0; k < 3; ++k) x[turn.place[k]] = angular[k];
    if (!is_free(*turn.node)) continue;
    const Vec3d linear = rotation_of(*turn.node, reference_)
                             .inverse_times(rotation_of(*turn.node, q) * Vec3d{u[3], u[4], u[5]});
    for (int k = 0; k < 3; ++k) x[turn.place[3 + k]] = linear[k];
  }
  return x;
}

void LoopPositions::differentiate(const Eigen::VectorXd& q, Eigen::MatrixXd& rows) const {
  for (const Turn& turn : turns_) {
    const TurnRate at(turn_between(own(*turn.node, reference_), own(*turn.node, q)));
    const Rotationd from = rotation_of(*turn.node, reference_), to = rotation_of(*turn.node, q);
    const int* c = turn.column;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const Vec3d angular = at.transposed_angular({rows(i, c[0]), rows(i, c[1]), rows(i, c[2])});
      for (int k = 0; k < 3; ++k) rows(i, c[k]) = angular[k];
      if (!is_free(*turn.node)) continue;
      const Vec3d linear =
          from.inverse_times(to * Vec3d{rows(i, c[3]), rows(i, c[4]), rows(i, c[5])});
      for (int k = 0; k < 3; ++k) rows(i, c[3 + k]) = linear[k];
    }
  }
}

void LoopPositions::to_velocities(const Eigen::VectorXd& q, Eigen::MatrixXd& columns) const {
  for (const Turn& turn : turns_) {
    const TurnRate at(turn_between(own(*turn.node, reference_), own(*turn.node, q)));
    const Rotationd from = rotation_of(*turn.node, reference_), to = rotation_of(*turn.node, q);
    const Eigen::Index* p = turn.place;
    for (Eigen::Index i = 0; i < columns.cols(); ++i) {
      const Vec3d angular = at.angular({columns(p[0], i), columns(p[1], i), columns(p[2], i)});
      for (int k = 0; k < 3; ++k) columns(p[k], i) = angular[k];
      if (!is_free(*turn.node)) continue;
      const Vec3d linear =
          to.inverse_times(from * Vec3d{columns(p[3], i), columns(p[4], i), columns(p[5], i)});
      for (int k = 0; k < 3; ++k) columns(p[3 + k], i) = linear[k];
    }
  }
}

}  // namespace catena
