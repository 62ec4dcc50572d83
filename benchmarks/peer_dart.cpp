// SPDX-License-Identifier: BSD-3-Clause
// DART: articulated bodies for forward dynamics. Its free joint has our rates (twist in the body's
// frame, angular first).
#include <vector>

#include "peer_support.h"
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PrismaticJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>

namespace {

using namespace catena_bench;
namespace dyn = dart::dynamics;
using Eigen::Vector3d;
using Eigen::VectorXd;

class Dart final : public Peer {
 public:
  Dart(const PeerModel& m, const PeerStates& s)
      : bodies_(m.bodies, m.bodies + m.body_count), places_(places_of(m)), n_(m.freedoms) {
    skeleton_ = dyn::Skeleton::create("peer");
    skeleton_->setGravity(Vector3d(m.gravity[0], m.gravity[1], m.gravity[2]));
    std::vector<dyn::BodyNode*> nodes;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const PeerBody& b = bodies_[i];
      Eigen::Isometry3d place = Eigen::Isometry3d::Identity();
      for (int k = 0; k < 9; ++k) place.linear()(k / 3, k % 3) = b.rotation[k];
      place.translation() << b.translation[0], b.translation[1], b.translation[2];
      dyn::BodyNode* parent = b.parent < 0 ? nullptr : nodes[static_cast<std::size_t>(b.parent)];
      const Vector3d axis(b.axis[0], b.axis[1], b.axis[2]);
      dyn::BodyNode* node = nullptr;
      if (b.hinge == 'f') {
        dyn::FreeJoint::Properties p;
        p.mT_ParentBodyToJoint = place;
        node = skeleton_->createJointAndBodyNodePair<dyn::FreeJoint>(parent, p).second;
      } else if (b.hinge == 'r') {
        dyn::RevoluteJoint::Properties p;
        p.mT_ParentBodyToJoint = place;
        p.mAxis = axis;
        node = skeleton_->createJointAndBodyNodePair<dyn::RevoluteJoint>(parent, p).second;
      } else {
        dyn::PrismaticJoint::Properties p;
        p.mT_ParentBodyToJoint = place;
        p.mAxis = axis;
        node = skeleton_->createJointAndBodyNodePair<dyn::PrismaticJoint>(parent, p).second;
      }
      const double* j = b.inertia;
      dyn::Inertia inertia;
      inertia.setMass(b.mass);
      inertia.setLocalCOM(Vector3d(b.center[0], b.center[1], b.center[2]));
      inertia.setMoment(j[0], j[3], j[5], j[1], j[2], j[4]);
      node->setInertia(inertia);
      nodes.push_back(node);
      for (std::size_t k = 0; k < node->getParentJoint()->getNumDofs(); ++k)
        index_.push_back(static_cast<Eigen::Index>(node->getParentJoint()->getIndexInSkeleton(k)));
    }
    for (int k = 0; k < s.count; ++k) {
      VectorXd x(n_);
      for (std::size_t i = 0; i < bodies_.size(); ++i) {
        const double* from = s.q + k * m.coordinates + places_.q[i];
        if (bodies_[i].hinge != 'f') {
          x[index(places_.v[i])] = *from;
          continue;
        }
        Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
        double r[9];
        rotation_of(from, r);
        for (int l = 0; l < 9; ++l) pose.linear()(l / 3, l % 3) = r[l];
        pose.translation() << from[4], from[5], from[6];
        const Eigen::Vector6d six = dyn::FreeJoint::convertToPositions(pose);
        for (int l = 0; l < 6; ++l) x[index(places_.v[i] + l)] = six[l];
      }
      q_.push_back(x);
      v_.push_back(theirs(s.v + k * n_));
      acceleration_.push_back(theirs(s.acceleration + k * n_));
      effort_.push_back(theirs(s.effort + k * n_));
    }
  }

  bool can(Task task) const override {
    return task == Task::inverse || task == Task::forward || task == Task::mass_matrix ||
           task == Task::inverse_mass_matrix;
  }
  void run(Task task, int state) override {
    const auto k = static_cast<std::size_t>(state);
    skeleton_->setPositions(q_[k]);
    if (task == Task::mass_matrix) {
      mass_ = &skeleton_->getMassMatrix();
      return;
    }
    if (task == Task::inverse_mass_matrix) {
      mass_ = &skeleton_->getInvMassMatrix();
      return;
    }
    skeleton_->setVelocities(v_[k]);
    if (task == Task::inverse) {
      skeleton_->setAccelerations(acceleration_[k]);
      skeleton_->computeInverseDynamics();
    } else {
      skeleton_->setForces(effort_[k]);
      skeleton_->computeForwardDynamics();
    }
  }
  bool result(Task task, double* numbers) const override {
    if (task != Task::forward && task != Task::inverse) return false;
    const VectorXd found =
        task == Task::forward ? skeleton_->getAccelerations() : skeleton_->getForces();
    for (int i = 0; i < n_; ++i) numbers[i] = found[index(i)];
    return true;
  }

 private:
  Eigen::Index index(int own) const { return index_[static_cast<std::size_t>(own)]; }
  VectorXd theirs(const double* x) const {
    VectorXd y(n_);
    for (int i = 0; i < n_; ++i) y[index(i)] = x[i];
    return y;
  }

  std::vector<PeerBody> bodies_;
  Places places_;
  int n_;
  dyn::SkeletonPtr skeleton_;
  std::vector<Eigen::Index> index_;  // by our freedom: theirs
  std::vector<VectorXd> q_, v_, acceleration_, effort_;
  const Eigen::MatrixXd* mass_ = nullptr;
};

}  // namespace

CATENA_PEER const char* catena_peer_name() { return "DART"; }
CATENA_PEER catena_bench::Peer* catena_peer_make(const catena_bench::PeerModel* model,
                                                 const catena_bench::PeerStates* states) {
  return new Dart(*model, *states);
}
