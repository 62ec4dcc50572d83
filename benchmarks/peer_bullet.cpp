// SPDX-License-Identifier: BSD-3-Clause
// Bullet in double precision: the articulated-body algorithm of btMultiBody (forward dynamics is
// all it has). Its links have their frames at the centre of mass, along the principal axes.
#include <memory>
#include <vector>

#include "peer_support.h"
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

namespace {

using namespace catena_bench;
using Eigen::Matrix3d;
using Eigen::Vector3d;

btVector3 bt(const Vector3d& x) { return {x[0], x[1], x[2]}; }
btQuaternion bt(const Matrix3d& r) {
  const Eigen::Quaterniond q(r);
  return {q.x(), q.y(), q.z(), q.w()};
}

class Bullet final : public Peer {
 public:
  Bullet(const PeerModel& m, const PeerStates& s)
      : bodies_(m.bodies, m.bodies + m.body_count),
        places_(places_of(m)),
        n_(m.freedoms),
        free_(bodies_.front().hinge == 'f'),
        gravity_(m.gravity[0], m.gravity[1], m.gravity[2]) {
    for (const PeerBody& b : bodies_) {
      const double* j = b.inertia;
      Matrix3d inertia;
      inertia << j[0], j[1], j[2], j[1], j[3], j[4], j[2], j[4], j[5];
      const Eigen::SelfAdjointEigenSolver<Matrix3d> solver(inertia);
      Matrix3d axes = solver.eigenvectors();
      if (axes.determinant() < 0.0) axes.col(0) = -axes.col(0);
      axes_.push_back(axes);
      principal_.push_back(solver.eigenvalues());
      center_.push_back(Vector3d(b.center[0], b.center[1], b.center[2]));
    }
    const int links = static_cast<int>(bodies_.size()) - (free_ ? 1 : 0);
    multibody_ = std::make_unique<btMultiBody>(links, free_ ? bodies_[0].mass : 0.0,
                                               free_ ? bt(principal_[0]) : btVector3(0, 0, 0),
                                               !free_, false);
    multibody_->setLinearDamping(0.0);
    multibody_->setAngularDamping(0.0);
    for (int i = free_ ? 1 : 0; i < m.body_count; ++i) {
      const PeerBody& b = bodies_[static_cast<std::size_t>(i)];
      const bool grounded = b.parent < 0;
      const auto p = static_cast<std::size_t>(grounded ? 0 : b.parent);
      const Matrix3d parent_axes = grounded ? Matrix3d(Matrix3d::Identity()) : axes_[p];
      const Vector3d parent_center = grounded ? Vector3d(Vector3d::Zero()) : center_[p];
      Matrix3d r;
      for (int k = 0; k < 9; ++k) r(k / 3, k % 3) = b.rotation[k];
      const Vector3d at(b.translation[0], b.translation[1], b.translation[2]);
      const auto k = static_cast<std::size_t>(i);
      const Matrix3d& own = axes_[k];
      const btQuaternion turn = bt(Matrix3d(own.transpose() * r.transpose() * parent_axes));
      const btVector3 axis =
          bt(Vector3d(own.transpose() * Vector3d(b.axis[0], b.axis[1], b.axis[2])));
      const btVector3 to_pivot = bt(Vector3d(parent_axes.transpose() * (at - parent_center)));
      const btVector3 to_center = bt(Vector3d(own.transpose() * center_[k]));
      const int parent = grounded ? -1 : b.parent - (free_ ? 1 : 0);
      if (b.hinge == 'r')
        multibody_->setupRevolute(link(i), b.mass, bt(principal_[k]), parent, turn, axis, to_pivot,
                                  to_center, true);
      else
        multibody_->setupPrismatic(link(i), b.mass, bt(principal_[k]), parent, turn, axis, to_pivot,
                                   to_center, true);
    }
    multibody_->finalizeMultiDof();
    for (int k = 0; k < s.count; ++k) {
      q_.emplace_back(s.q + k * m.coordinates, s.q + (k + 1) * m.coordinates);
      v_.emplace_back(s.v + k * n_, s.v + (k + 1) * n_);
      effort_.emplace_back(s.effort + k * n_, s.effort + (k + 1) * n_);
    }
  }

  // What this wrapper can set up: at most the first body free.
  static bool represents(const PeerModel& m) {
    for (int i = 1; i < m.body_count; ++i)
      if (m.bodies[i].hinge == 'f' || (m.bodies[0].hinge == 'f' && m.bodies[i].parent < 0))
        return false;
    return m.body_count > 0;
  }

  bool can(Task task) const override { return task == Task::forward; }

  void run(Task, int state) override {
    state_ = static_cast<std::size_t>(state);
    const std::vector<double>&q = q_[state_], &v = v_[state_], &effort = effort_[state_];
    multibody_->clearForcesAndTorques();
    if (free_) {
      double r[9];
      rotation_of(q.data(), r);
      Matrix3d world;
      for (int k = 0; k < 9; ++k) world(k / 3, k % 3) = r[k];
      const Vector3d turn = world * Vector3d(v[0], v[1], v[2]);
      const Vector3d arm = world * center_[0];
      const Vector3d speed = world * Vector3d(v[3], v[4], v[5]) + turn.cross(arm);
      multibody_->setBasePos(bt(Vector3d(Vector3d(q[4], q[5], q[6]) + arm)));
      multibody_->setWorldToBaseRot(bt(Matrix3d((world * axes_[0]).transpose())));
      multibody_->setBaseOmega(bt(turn));
      multibody_->setBaseVel(bt(speed));
      const Vector3d force = world * Vector3d(effort[3], effort[4], effort[5]);
      const Vector3d moment = world * Vector3d(effort[0], effort[1], effort[2]) - arm.cross(force);
      multibody_->addBaseForce(bt(Vector3d(force + bodies_[0].mass * gravity_)));
      multibody_->addBaseTorque(bt(moment));
    }
    for (int i = free_ ? 1 : 0; i < static_cast<int>(bodies_.size()); ++i) {
      const auto k = static_cast<std::size_t>(i);
      multibody_->setJointPos(link(i), q[static_cast<std::size_t>(places_.q[k])]);
      multibody_->setJointVel(link(i), v[static_cast<std::size_t>(places_.v[k])]);
      multibody_->addJointTorque(link(i), effort[static_cast<std::size_t>(places_.v[k])]);
      multibody_->addLinkForce(link(i), bt(Vector3d(bodies_[k].mass * gravity_)));
    }
    multibody_->computeAccelerationsArticulatedBodyAlgorithmMultiDof(
        0.0, numbers_, vectors_, matrices_, false, false, false);
  }

  bool result(Task task, double* numbers) const override {
    if (task != Task::forward) return false;
    // Its scratch begins with as many numbers as the links have freedoms; then come the base, then
    // the links.
    const btScalar* base = &numbers_[multibody_->getNumDofs()];
    for (std::size_t i = free_ ? 1 : 0; i < bodies_.size(); ++i)
      numbers[places_.v[i]] = base[6 + places_.v[i] - (free_ ? 6 : 0)];
    if (!free_) return true;
    // Theirs: angular, and linear of the centre of mass, in world axes.
    double r[9];
    rotation_of(q_[state_].data(), r);
    Matrix3d world;
    for (int k = 0; k < 9; ++k) world(k / 3, k % 3) = r[k];
    const std::vector<double>& v = v_[state_];
    const Vector3d turn = world * Vector3d(v[0], v[1], v[2]);
    const Vector3d angular(base[0], base[1], base[2]);
    const Vector3d arm = world * center_[0];
    const Vector3d origin =
        Vector3d(base[3], base[4], base[5]) - angular.cross(arm) - turn.cross(turn.cross(arm));
    const Vector3d own = world.transpose() * angular;
    for (int k = 0; k < 3; ++k) numbers[k] = own[k];
    own_acceleration(r, v.data(), origin.data(), numbers + 3);
    return true;
  }

 private:
  int link(int body) const { return body - (free_ ? 1 : 0); }

  std::vector<PeerBody> bodies_;
  Places places_;
  int n_;
  bool free_;
  Vector3d gravity_;
  std::vector<Matrix3d> axes_;
  std::vector<Vector3d> principal_, center_;
  std::unique_ptr<btMultiBody> multibody_;
  std::vector<std::vector<double>> q_, v_, effort_;
  btAlignedObjectArray<btScalar> numbers_;
  btAlignedObjectArray<btVector3> vectors_;
  btAlignedObjectArray<btMatrix3x3> matrices_;
  std::size_t state_ = 0;
};

}  // namespace

CATENA_PEER const char* catena_peer_name() { return "Bullet"; }
CATENA_PEER catena_bench::Peer* catena_peer_make(const catena_bench::PeerModel* model,
                                                 const catena_bench::PeerStates* states) {
  return Bullet::represents(*model) ? new Bullet(*model, *states) : nullptr;
}
