// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/peers/peer_coordinates.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/spatial/eigen.h"

namespace catena {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// Of any length but zero.
Quaterniond unit_quaternion(const double* q) {
  const Quaterniond quaternion{q[0], q[1], q[2], q[3]};
  if (!(quaternion.squared_norm() > 0.0) || !std::isfinite(quaternion.squared_norm()))
    throw NumericalError("(" + number(q[0]) + ", " + number(q[1]) + ", " + number(q[2]) + ", " +
                         number(q[3]) +
                         ") is not the quaternion of a rotation: it must be finite and not zero");
  return normalized(quaternion);
}

Matrix3d rotation_of(const double* q) {
  const Quaterniond quaternion = unit_quaternion(q);
  return to_eigen(Rotationd::from_quaternion(quaternion));
}

void check_size(Eigen::Index size, int expected, const char* what) {
  if (size != expected)
    throw NumericalError(std::string(what) + " has " + std::to_string(size) + " entries, but " +
                         std::to_string(expected) + " are needed");
}

// In place, if it is further from length one than rounding: dynamics refuse such.
void make_unit(double* q) {
  const Quaterniond unit = unit_quaternion(q);
  const double squared_norm = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (std::abs(squared_norm - 1.0) <= 1e-12) return;
  q[0] = unit.w;
  q[1] = unit.x;
  q[2] = unit.y;
  q[3] = unit.z;
}

// Roll, pitch and yaw of R = Rz(yaw) Ry(pitch) Rx(roll).
Vector3d roll_pitch_yaw(const Matrix3d& r) {
  return {std::atan2(r(2, 1), r(2, 2)), std::atan2(-r(2, 0), std::hypot(r(0, 0), r(1, 0))),
          std::atan2(r(1, 0), r(0, 0))};
}

}  // namespace

PeerCoordinates::Joint PeerCoordinates::joint_for(const PeerHinge& hinge,
                                                  std::vector<int>& covered) const {
  const Mechanism& m = *mechanism_;
  Joint joint;
  if (!m.has_hinge(hinge.name)) {  // one coordinate of a hinge whose v is q̇
    const auto names = m.velocity_names();
    const auto at = std::find(names.begin(), names.end(), hinge.name);
    const int freedom = at == names.end() ? -1 : static_cast<int>(std::distance(names.begin(), at));
    if (freedom < 0 || m.coordinate_of_freedom()[index(freedom)] < 0)
      m.hinge_index(hinge.name);  // throws, with the nearest name
    joint.v = freedom;
    joint.q = m.coordinate_of_freedom()[index(freedom)];
    ++covered[index(freedom)];
    return joint;
  }
  const HingePlace& place = m.hinges()[index(m.hinge_index(hinge.name))];
  if (place.node < 0)
    throw NameError("hinge '" + hinge.name + "' has no coordinates here (it " +
                    (place.role == HingePlace::Role::weld ? "is rigid" : "closes a loop") +
                    "); leave it out of the order");
  joint.q = place.q_index;
  joint.v = place.v_index;
  joint.coordinates = joint.peer_coordinates = place.coordinates;
  joint.freedoms = place.freedoms;
  for (int i = 0; i < place.freedoms; ++i) ++covered[index(place.v_index + i)];
  const bool pinocchio = library_ == PeerLibrary::pinocchio;
  switch (place.type) {
    case HingeType::free:
      joint.kind = Kind::free;
      break;
    case HingeType::spherical:
      joint.kind = Kind::spherical;
      if (library_ == PeerLibrary::drake) joint.peer_coordinates = 3;
      break;
    case HingeType::planar:
      joint.kind = Kind::planar;
      if (pinocchio) joint.peer_coordinates = 4;
      break;
    case HingeType::revolute: {
      const FreedomSettings& f = m.freedom_settings()[index(place.v_index)];
      const bool unbounded = f.lower == -kInfinity && f.upper == kInfinity;
      if (hinge.coordinates == 2 || (hinge.coordinates == 0 && pinocchio && unbounded)) {
        joint.kind = Kind::cosine_sine;
        joint.peer_coordinates = 2;
      }
      break;
    }
    default:
      break;
  }
  if (hinge.coordinates != 0 && hinge.coordinates != joint.peer_coordinates)
    throw NameError("hinge '" + hinge.name + "' (" + std::string(to_string(place.type)) +
                    ") cannot have " + std::to_string(hinge.coordinates) +
                    " coordinates; this library uses " + std::to_string(joint.peer_coordinates));
  return joint;
}

PeerCoordinates::PeerCoordinates(const Mechanism& mechanism, PeerLibrary library,
                                 std::vector<PeerHinge> order)
    : mechanism_(&mechanism), library_(library) {
  if (order.empty()) {
    std::vector<const HingePlace*> places;
    for (const HingePlace& place : mechanism.hinges())
      if (place.node >= 0) places.push_back(&place);
    std::sort(places.begin(), places.end(),
              [](const HingePlace* a, const HingePlace* b) { return a->v_index < b->v_index; });
    for (const HingePlace* place : places) order.push_back({.name = place->name});
  }
  std::vector<int> covered(to_size(mechanism.freedoms()), 0);
  int next_q = 0, next_v = 0;
  for (const PeerHinge& hinge : order) {
    Joint joint = joint_for(hinge, covered);
    joint.peer_q = hinge.q_index.value_or(next_q);
    joint.peer_v = hinge.v_index.value_or(next_v);
    next_q = joint.peer_q + joint.peer_coordinates;
    next_v = joint.peer_v + joint.freedoms;
    coordinates_ = std::max(coordinates_, next_q);
    freedoms_ = std::max(freedoms_, next_v);
    joints_.push_back(joint);
  }
  std::vector<std::string> missing, twice;
  for (std::size_t i = 0; i < covered.size(); ++i) {
    if (covered[i] == 0) missing.push_back("'" + mechanism.velocity_names()[i] + "'");
    if (covered[i] > 1) twice.push_back("'" + mechanism.velocity_names()[i] + "'");
  }
  if (!missing.empty())
    throw NameError("the order does not name " + listed(missing) + " of '" + mechanism.name() +
                    "'; every hinge with coordinates must be in it");
  if (!twice.empty()) throw NameError("the order names " + listed(twice) + " more than once");
}

VectorXd PeerCoordinates::position_to_peer(const VectorXd& q) const {
  check_size(q.size(), mechanism_->coordinates(), "position q");
  VectorXd result = VectorXd::Zero(coordinates_);
  for (const Joint& j : joints_) {
    const double* own = q.data() + j.q;
    double* peer = result.data() + j.peer_q;
    switch (j.kind) {
      case Kind::plain:
        std::copy(own, own + j.coordinates, peer);
        break;
      case Kind::cosine_sine:
        peer[0] = std::cos(own[0]);
        peer[1] = std::sin(own[0]);
        break;
      case Kind::planar:
        peer[0] = own[1];
        peer[1] = own[2];
        if (library_ == PeerLibrary::pinocchio) {
          peer[2] = std::cos(own[0]);
          peer[3] = std::sin(own[0]);
        } else {
          peer[2] = own[0];
        }
        break;
      case Kind::spherical:
      case Kind::free: {
        const bool free = j.kind == Kind::free;
        if (library_ == PeerLibrary::drake) {
          if (free) {
            std::copy(own, own + 7, peer);
          } else {
            const Vector3d angles = roll_pitch_yaw(rotation_of(own));
            std::copy(angles.data(), angles.data() + 3, peer);
          }
          break;
        }
        double* quaternion = free ? peer + 3 : peer;
        if (library_ == PeerLibrary::pinocchio) {
          std::copy(own + 1, own + 4, quaternion);
          quaternion[3] = own[0];
        } else {
          std::copy(own, own + 4, quaternion);
        }
        if (free) std::copy(own + 4, own + 7, peer);
        break;
      }
    }
  }
  return result;
}

VectorXd PeerCoordinates::position_from_peer(const VectorXd& peer_q) const {
  check_size(peer_q.size(), coordinates_, "the other library's q");
  VectorXd result(mechanism_->coordinates());
  for (const Joint& j : joints_) {
    const double* peer = peer_q.data() + j.peer_q;
    double* own = result.data() + j.q;
    switch (j.kind) {
      case Kind::plain:
        std::copy(peer, peer + j.coordinates, own);
        break;
      case Kind::cosine_sine:
        own[0] = std::atan2(peer[1], peer[0]);
        break;
      case Kind::planar:
        own[0] = library_ == PeerLibrary::pinocchio ? std::atan2(peer[3], peer[2]) : peer[2];
        own[1] = peer[0];
        own[2] = peer[1];
        break;
      case Kind::spherical:
      case Kind::free: {
        const bool free = j.kind == Kind::free;
        if (library_ == PeerLibrary::drake) {
          if (free) {
            std::copy(peer, peer + 7, own);
          } else {
            const Quaterniond r = to_quaternion(Rotationd::from_rpy(peer[0], peer[1], peer[2]));
            own[0] = r.w;
            own[1] = r.x;
            own[2] = r.y;
            own[3] = r.z;
          }
          break;
        }
        const double* quaternion = free ? peer + 3 : peer;
        if (library_ == PeerLibrary::pinocchio) {
          own[0] = quaternion[3];
          std::copy(quaternion, quaternion + 3, own + 1);
        } else {
          std::copy(quaternion, quaternion + 4, own);
        }
        if (free) std::copy(peer, peer + 3, own + 4);
        break;
      }
    }
    if (j.kind == Kind::spherical || j.kind == Kind::free) make_unit(own);
  }
  return result;
}

MatrixXd PeerCoordinates::block(const Joint& j, const VectorXd& q) const {
  const double* own = q.data() + j.q;
  MatrixXd a = MatrixXd::Identity(j.freedoms, j.freedoms);
  if (j.kind == Kind::planar) {  // from rates of angle, x, y
    a.setZero();
    a(2, 0) = 1.0;
    const double c = std::cos(own[0]), s = std::sin(own[0]);
    if (library_ == PeerLibrary::pinocchio)
      a.block<2, 2>(0, 1) << c, s, -s, c;
    else
      a.block<2, 2>(0, 1).setIdentity();
  } else if (j.kind == Kind::spherical && library_ == PeerLibrary::drake) {
    a = rotation_of(own);
  } else if (j.kind == Kind::free) {
    a.setZero();
    const Matrix3d r = rotation_of(own);
    switch (library_) {
      case PeerLibrary::pinocchio:
        a.block<3, 3>(0, 3).setIdentity();
        a.block<3, 3>(3, 0).setIdentity();
        break;
      case PeerLibrary::drake:
        a.block<3, 3>(0, 0) = r;
        a.block<3, 3>(3, 3) = r;
        break;
      case PeerLibrary::mujoco:
        a.block<3, 3>(0, 3) = r;
        a.block<3, 3>(3, 0).setIdentity();
        break;
    }
  }
  return a;
}

VectorXd PeerCoordinates::block_bias(const Joint& j, const State& state) const {
  VectorXd bias = VectorXd::Zero(j.freedoms);
  const double* q = state.q.data() + j.q;
  const double* v = state.v.data() + j.v;
  if (j.kind == Kind::planar && library_ == PeerLibrary::pinocchio) {
    const double c = std::cos(q[0]), s = std::sin(q[0]);
    bias[0] = v[0] * (-s * v[1] + c * v[2]);
    bias[1] = v[0] * (-c * v[1] - s * v[2]);
  } else if (j.kind == Kind::free && library_ != PeerLibrary::pinocchio) {
    const Vector3d angular(v[0], v[1], v[2]), linear(v[3], v[4], v[5]);
    bias.segment<3>(library_ == PeerLibrary::drake ? 3 : 0) =
        rotation_of(q) * angular.cross(linear);
  }
  return bias;
}

VectorXd PeerCoordinates::velocity_to_peer(const VectorXd& q, const VectorXd& v) const {
  check_size(q.size(), mechanism_->coordinates(), "position q");
  check_size(v.size(), mechanism_->freedoms(), "velocity v");
  VectorXd result = VectorXd::Zero(freedoms_);
  for (const Joint& j : joints_)
    result.segment(j.peer_v, j.freedoms) = block(j, q) * v.segment(j.v, j.freedoms);
  return result;
}

VectorXd PeerCoordinates::velocity_from_peer(const VectorXd& q, const VectorXd& peer_v) const {
  check_size(q.size(), mechanism_->coordinates(), "position q");
  check_size(peer_v.size(), freedoms_, "the other library's v");
  VectorXd result(mechanism_->freedoms());
  // Every block is orthogonal.
  for (const Joint& j : joints_)
    result.segment(j.v, j.freedoms) =
        block(j, q).transpose() * peer_v.segment(j.peer_v, j.freedoms);
  return result;
}

VectorXd PeerCoordinates::effort_to_peer(const VectorXd& q, const VectorXd& effort) const {
  return velocity_to_peer(q, effort);  // J⁻ᵀ = J
}

VectorXd PeerCoordinates::effort_from_peer(const VectorXd& q, const VectorXd& peer_effort) const {
  return velocity_from_peer(q, peer_effort);
}

VectorXd PeerCoordinates::acceleration_to_peer(const State& state,
                                               const VectorXd& acceleration) const {
  check_size(state.v.size(), mechanism_->freedoms(), "velocity v");
  VectorXd result = velocity_to_peer(state.q, acceleration);
  for (const Joint& j : joints_) result.segment(j.peer_v, j.freedoms) += block_bias(j, state);
  return result;
}

VectorXd PeerCoordinates::acceleration_from_peer(const State& state,
                                                 const VectorXd& peer_acceleration) const {
  check_size(state.v.size(), mechanism_->freedoms(), "velocity v");
  check_size(peer_acceleration.size(), freedoms_, "the other library's acceleration");
  VectorXd rest = peer_acceleration;
  for (const Joint& j : joints_) rest.segment(j.peer_v, j.freedoms) -= block_bias(j, state);
  return velocity_from_peer(state.q, rest);
}

MatrixXd PeerCoordinates::velocity_map(const VectorXd& q) const {
  check_size(q.size(), mechanism_->coordinates(), "position q");
  MatrixXd map = MatrixXd::Zero(freedoms_, mechanism_->freedoms());
  for (const Joint& j : joints_) map.block(j.peer_v, j.v, j.freedoms, j.freedoms) = block(j, q);
  return map;
}

State PeerCoordinates::to_peer(const State& state) const {
  return {position_to_peer(state.q), velocity_to_peer(state.q, state.v)};
}

State PeerCoordinates::from_peer(const State& peer) const {
  State state;
  state.q = position_from_peer(peer.q);
  state.v = velocity_from_peer(state.q, peer.v);
  return state;
}

}  // namespace catena
