// SPDX-License-Identifier: BSD-3-Clause
// Pinocchio: recursive algorithms of its default joint collection.
#include <string>
#include <vector>

#include "peer.h"
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/proximal.hpp>
#include <pinocchio/algorithm/pv.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>

namespace {

using namespace catena_bench;
using Eigen::Vector3d;
using Eigen::VectorXd;
namespace pin = pinocchio;

pin::JointModel joint_of(const PeerBody& body) {
  const Vector3d axis(body.axis[0], body.axis[1], body.axis[2]);
  if (body.hinge == 'f') return pin::JointModelFreeFlyer();
  const bool turns = body.hinge == 'r';
  // The aligned joints are their fast ones.
  if (axis == Vector3d::UnitX())
    return turns ? pin::JointModel(pin::JointModelRX()) : pin::JointModel(pin::JointModelPX());
  if (axis == Vector3d::UnitY())
    return turns ? pin::JointModel(pin::JointModelRY()) : pin::JointModel(pin::JointModelPY());
  if (axis == Vector3d::UnitZ())
    return turns ? pin::JointModel(pin::JointModelRZ()) : pin::JointModel(pin::JointModelPZ());
  return turns ? pin::JointModel(pin::JointModelRevoluteUnaligned(axis))
               : pin::JointModel(pin::JointModelPrismaticUnaligned(axis));
}

class Pinocchio final : public Peer {
 public:
  Pinocchio(const PeerModel& m, const PeerStates& s) : bodies_(m.bodies, m.bodies + m.body_count) {
    model_.gravity.linear() << m.gravity[0], m.gravity[1], m.gravity[2];
    for (int i = 0; i < m.body_count; ++i) {
      const PeerBody& b = bodies_[static_cast<std::size_t>(i)];
      Eigen::Matrix3d r, inertia;
      r << b.rotation[0], b.rotation[1], b.rotation[2], b.rotation[3], b.rotation[4], b.rotation[5],
          b.rotation[6], b.rotation[7], b.rotation[8];
      const double* j = b.inertia;
      inertia << j[0], j[1], j[2], j[1], j[3], j[4], j[2], j[4], j[5];
      const Vector3d at(b.translation[0], b.translation[1], b.translation[2]);
      const auto id = model_.addJoint(static_cast<pin::JointIndex>(b.parent + 1), joint_of(b),
                                      pin::SE3(r, at), "j" + std::to_string(i));
      model_.appendBodyToJoint(
          id, pin::Inertia(b.mass, Vector3d(b.center[0], b.center[1], b.center[2]), inertia),
          pin::SE3::Identity());
    }
    data_ = pin::Data(model_);
    for (int i = 0; i < m.pin_count; ++i) {
      const PeerPin& p = m.pins[i];
      const pin::SE3 on_body(Eigen::Matrix3d::Identity(), Eigen::Map<const Vector3d>(p.point));
      const pin::SE3 on_ground(Eigen::Matrix3d::Identity(), Eigen::Map<const Vector3d>(p.ground));
      pins_.emplace_back(pin::CONTACT_3D, model_, static_cast<pin::JointIndex>(p.body + 1), on_body,
                         pin::JointIndex{0}, on_ground);
      pin_data_.emplace_back(pins_.back());
    }
    // Their fastest road to closed loops. Rows of a plane that say nothing need the regularization.
    if (!pins_.empty()) pin::initPvSolver(model_, data_, pins_);
    for (int k = 0; k < s.count; ++k) {
      q_.push_back(position(s.q + k * m.coordinates));
      v_.push_back(rates(s.v + k * m.freedoms));
      acceleration_.push_back(rates(s.acceleration + k * m.freedoms));
      effort_.push_back(rates(s.effort + k * m.freedoms));
    }
  }

  bool can(Task task) const override { return pins_.empty() || task == Task::forward; }

  void run(Task task, int state) override {
    const std::size_t k = static_cast<std::size_t>(state);
    switch (task) {
      case Task::kinematics:
        pin::forwardKinematics(model_, data_, q_[k], v_[k]);
        break;
      case Task::inverse:
        pin::rnea(model_, data_, q_[k], v_[k], acceleration_[k]);
        break;
      case Task::forward:
        if (!pins_.empty()) {
          pin::pv(model_, data_, q_[k], v_[k], effort_[k], pins_, pin_data_, settings_);
          break;
        }
        pin::aba(model_, data_, q_[k], v_[k], effort_[k], pin::Convention::LOCAL);
        break;
      case Task::mass_matrix:
        pin::crba(model_, data_, q_[k], pin::Convention::LOCAL);
        break;
      case Task::inverse_mass_matrix:
        pin::computeMinverse(model_, data_, q_[k]);
        break;
      case Task::inverse_derivatives:
        pin::computeRNEADerivatives(model_, data_, q_[k], v_[k], acceleration_[k]);
        break;
      case Task::forward_derivatives:
        pin::computeABADerivatives(model_, data_, q_[k], v_[k], effort_[k]);
        break;
    }
  }

  bool result(Task task, double* numbers) const override {
    const Eigen::Index n = model_.nv;
    if (task == Task::forward) {
      back(data_.ddq, numbers);
    } else if (task == Task::inverse) {
      back(data_.tau, numbers);
    } else if (task == Task::mass_matrix || task == Task::inverse_mass_matrix) {
      const bool direct = task == Task::mass_matrix;
      const Eigen::MatrixXd m = (direct ? Eigen::MatrixXd(data_.M) : Eigen::MatrixXd(data_.Minv))
                                    .selfadjointView<Eigen::Upper>();
      for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index j = 0; j < n; ++j) numbers[own(i) * n + own(j)] = m(i, j);
    } else {
      return false;
    }
    return true;
  }

 private:
  // Theirs: position before quaternion (x, y, z, w), linear before angular.
  VectorXd position(const double* q) const {
    VectorXd x(model_.nq);
    Eigen::Index i = 0;
    for (const PeerBody& b : bodies_) {
      if (b.hinge == 'f') {
        x.segment(i, 7) << q[4], q[5], q[6], q[1], q[2], q[3], q[0];
        i += 7;
        q += 7;
      } else {
        x[i++] = *q++;
      }
    }
    return x;
  }
  Eigen::Index own(Eigen::Index theirs) const {
    Eigen::Index i = 0;
    for (const PeerBody& b : bodies_) {
      const Eigen::Index size = b.hinge == 'f' ? 6 : 1;
      if (theirs < i + size) return size == 1 ? theirs : i + (theirs - i + 3) % 6;
      i += size;
    }
    return theirs;
  }
  VectorXd rates(const double* v) const {
    VectorXd x(model_.nv);
    for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = v[own(i)];
    return x;
  }
  void back(const VectorXd& x, double* numbers) const {
    for (Eigen::Index i = 0; i < x.size(); ++i) numbers[own(i)] = x[i];
  }

  std::vector<PeerBody> bodies_;
  pin::Model model_;
  pin::Data data_;
  std::vector<pin::RigidConstraintModel, Eigen::aligned_allocator<pin::RigidConstraintModel>> pins_;
  std::vector<pin::RigidConstraintData, Eigen::aligned_allocator<pin::RigidConstraintData>>
      pin_data_;
  pin::ProximalSettings settings_{1e-10, 1e-6, 10};  // accuracy, regularization, iterations
  std::vector<VectorXd> q_, v_, acceleration_, effort_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) bool catena_peer_takes_pins() { return true; }
extern "C" __attribute__((visibility("default"))) const char* catena_peer_name() {
  return "Pinocchio";
}
extern "C" __attribute__((visibility("default"))) catena_bench::Peer* catena_peer_make(
    const catena_bench::PeerModel* model, const catena_bench::PeerStates* states) {
  return new Pinocchio(*model, *states);
}
