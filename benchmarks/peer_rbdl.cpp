// SPDX-License-Identifier: BSD-3-Clause
// RBDL.
#include <string>
#include <vector>

#include "peer_support.h"
#include <rbdl/rbdl.h>

namespace {

using namespace catena_bench;
namespace lib = RigidBodyDynamics;
using lib::Math::MatrixNd;
using lib::Math::Vector3d;
using lib::Math::VectorNd;

// A free body is six joints of theirs with one quaternion; timed as their floating base. Its rates
// are (linear in the parent's axes, angular in the body's), the quaternion's w is the last of q.
class Rbdl final : public Peer {
 public:
  Rbdl(const PeerModel& m, const PeerStates& s)
      : bodies_(m.bodies, m.bodies + m.body_count), places_(places_of(m)), n_(m.freedoms) {
    model_.gravity = Vector3d(m.gravity[0], m.gravity[1], m.gravity[2]);
    std::vector<unsigned> id;
    for (const PeerBody& b : bodies_) {
      lib::Math::Matrix3d r, inertia;
      for (int i = 0; i < 9; ++i) r(i / 3, i % 3) = b.rotation[i];
      const double* j = b.inertia;
      inertia << j[0], j[1], j[2], j[1], j[3], j[4], j[2], j[4], j[5];
      const lib::Body body(b.mass, Vector3d(b.center[0], b.center[1], b.center[2]), inertia);
      const lib::Math::SpatialTransform place(
          r.transpose(), Vector3d(b.translation[0], b.translation[1], b.translation[2]));
      lib::Joint joint(lib::JointTypeFloatingBase);
      if (b.hinge != 'f')
        joint = lib::Joint(b.hinge == 'r' ? lib::JointTypeRevolute : lib::JointTypePrismatic,
                           Vector3d(b.axis[0], b.axis[1], b.axis[2]));
      id.push_back(model_.AddBody(b.parent < 0 ? 0 : id[static_cast<std::size_t>(b.parent)], place,
                                  joint, body));
      id_.push_back(id.back());
    }
    for (int k = 0; k < s.count; ++k) {
      const double *q = s.q + k * m.coordinates, *v = s.v + k * n_;
      VectorNd x = VectorNd::Zero(static_cast<Eigen::Index>(model_.q_size));
      for (std::size_t i = 0; i < bodies_.size(); ++i) {
        const double* from = q + places_.q[i];
        if (bodies_[i].hinge != 'f') {
          x[places_.v[i]] = *from;
          continue;
        }
        for (int l = 0; l < 3; ++l) x[places_.v[i] + l] = from[4 + l];
        model_.SetQuaternion(id_[i], lib::Math::Quaternion(from[1], from[2], from[3], from[0]), x);
      }
      q_.push_back(x);
      own_q_.emplace_back(q, q + m.coordinates);
      own_v_.emplace_back(v, v + n_);
      v_.push_back(theirs(k, v, Kind::rate));
      acceleration_.push_back(theirs(k, s.acceleration + k * n_, Kind::acceleration));
      effort_.push_back(theirs(k, s.effort + k * n_, Kind::effort));
    }
    found_ = VectorNd::Zero(n_);
    mass_ = MatrixNd::Zero(n_, n_);
  }

  bool can(Task task) const override {
    return task == Task::kinematics || task == Task::inverse || task == Task::forward ||
           task == Task::mass_matrix;
  }
  void run(Task task, int state) override {
    state_ = static_cast<std::size_t>(state);
    if (task == Task::kinematics) {
      lib::UpdateKinematicsCustom(model_, &q_[state_], &v_[state_], nullptr);
    } else if (task == Task::inverse) {
      lib::InverseDynamics(model_, q_[state_], v_[state_], acceleration_[state_], found_);
    } else if (task == Task::forward) {
      lib::ForwardDynamics(model_, q_[state_], v_[state_], effort_[state_], found_);
    } else {
      lib::CompositeRigidBodyAlgorithm(model_, q_[state_], mass_);
    }
  }
  bool result(Task task, double* numbers) const override {
    if (task != Task::forward && task != Task::inverse) return false;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const double* from = found_.data() + places_.v[i];
      double* to = numbers + places_.v[i];
      if (bodies_[i].hinge != 'f') {
        *to = *from;
        continue;
      }
      double r[9];
      rotation_of(own_q_[state_].data() + places_.q[i], r);
      for (int l = 0; l < 3; ++l) to[l] = from[3 + l];
      if (task == Task::inverse)
        transposed_times(r, from, to + 3);
      else
        own_acceleration(r, own_v_[state_].data() + places_.v[i], from, to + 3);
    }
    return true;
  }

 private:
  enum class Kind { rate, acceleration, effort };
  VectorNd theirs(int state, const double* x, Kind kind) const {
    VectorNd y(n_);
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const double* from = x + places_.v[i];
      double* to = y.data() + places_.v[i];
      if (bodies_[i].hinge != 'f') {
        *to = *from;
        continue;
      }
      double r[9];
      rotation_of(own_q_[static_cast<std::size_t>(state)].data() + places_.q[i], r);
      if (kind == Kind::acceleration)
        origin_acceleration(r, own_v_[static_cast<std::size_t>(state)].data() + places_.v[i], from,
                            to);
      else
        times(r, from + 3, to);
      for (int l = 0; l < 3; ++l) to[3 + l] = from[l];
    }
    return y;
  }

  std::vector<PeerBody> bodies_;
  Places places_;
  int n_;
  lib::Model model_;
  std::vector<unsigned> id_;
  std::vector<VectorNd> q_, v_, acceleration_, effort_;
  std::vector<std::vector<double>> own_q_, own_v_;
  VectorNd found_;
  MatrixNd mass_;
  std::size_t state_ = 0;
};

}  // namespace

CATENA_PEER const char* catena_peer_name() { return "RBDL"; }
CATENA_PEER catena_bench::Peer* catena_peer_make(const catena_bench::PeerModel* model,
                                                 const catena_bench::PeerStates* states) {
  return new Rbdl(*model, *states);
}
