// SPDX-License-Identifier: BSD-3-Clause
// Simbody. A free mobilizer's rates are angular and linear velocity in the parent's axes.
#include <vector>

#include "peer_support.h"
#include <Simbody.h>

namespace {

using namespace catena_bench;
using namespace SimTK;

class SimbodyPeer final : public Peer {
 public:
  SimbodyPeer(const PeerModel& m, const PeerStates& s)
      : matter_(system_),
        forces_(system_),
        gravity_(forces_, matter_, Vec3(m.gravity[0], m.gravity[1], m.gravity[2])),
        efforts_(forces_, matter_),
        bodies_(m.bodies, m.bodies + m.body_count),
        places_(places_of(m)),
        n_(m.freedoms) {
    std::vector<MobilizedBody> made;
    for (const PeerBody& b : bodies_) {
      const Vec3 center(b.center[0], b.center[1], b.center[2]);
      const double* j = b.inertia;
      const Inertia central(j[0], j[3], j[5], j[1], j[2], j[4]);
      const Body::Rigid body(
          MassProperties(b.mass, center, central.shiftFromMassCenter(center, b.mass)));
      const double* r = b.rotation;
      const Rotation axes(Mat33(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]), true);
      const Transform place(axes, Vec3(b.translation[0], b.translation[1], b.translation[2]));
      MobilizedBody& parent = b.parent < 0 ? static_cast<MobilizedBody&>(matter_.updGround())
                                           : made[static_cast<std::size_t>(b.parent)];
      const UnitVec3 along(b.axis[0], b.axis[1], b.axis[2]);
      // Their pin turns about z, their slider shifts along x.
      if (b.hinge == 'r') {
        const Transform turned(Rotation(along, ZAxis));
        made.push_back(MobilizedBody::Pin(parent, place * turned, body, turned));
      } else if (b.hinge == 'p') {
        const Transform turned(Rotation(along, XAxis));
        made.push_back(MobilizedBody::Slider(parent, place * turned, body, turned));
      } else {
        made.push_back(MobilizedBody::Free(parent, place, body, Transform()));
      }
    }
    state_ = system_.realizeTopology();
    system_.realizeModel(state_);
    for (const MobilizedBody& b : made) {
      their_q_.push_back(static_cast<int>(b.getFirstQIndex(state_)));
      their_v_.push_back(static_cast<int>(b.getFirstUIndex(state_)));
    }
    for (int k = 0; k < s.count; ++k) {
      const double *q = s.q + k * m.coordinates, *v = s.v + k * n_;
      Vector x(state_.getNQ());
      x = 0.0;
      for (std::size_t i = 0; i < bodies_.size(); ++i)
        for (int l = 0; l < (bodies_[i].hinge == 'f' ? 7 : 1); ++l)
          x[their_q_[i] + l] = q[places_.q[i] + l];
      q_.push_back(x);
      own_q_.emplace_back(q, q + m.coordinates);
      own_v_.emplace_back(v, v + n_);
      v_.push_back(theirs(k, v, false));
      acceleration_.push_back(theirs(k, s.acceleration + k * n_, true));
      effort_.push_back(theirs(k, s.effort + k * n_, false));
    }
  }

  bool can(Task task) const override {
    return task == Task::inverse || task == Task::forward || task == Task::mass_matrix ||
           task == Task::inverse_mass_matrix;
  }
  void run(Task task, int state) override {
    which_ = static_cast<std::size_t>(state);
    state_.updQ() = q_[which_];
    if (task == Task::mass_matrix || task == Task::inverse_mass_matrix) {
      system_.realize(state_, Stage::Position);
      if (task == Task::mass_matrix)
        matter_.calcM(state_, mass_);
      else
        matter_.calcMInv(state_, mass_);
      return;
    }
    state_.updU() = v_[which_];
    if (task == Task::forward) {
      efforts_.setAllMobilityForces(state_, effort_[which_]);
      system_.realize(state_, Stage::Acceleration);
      found_ = state_.getUDot();
      return;
    }
    system_.realize(state_, Stage::Dynamics);
    matter_.calcResidualForceIgnoringConstraints(
        state_, Vector(), system_.getRigidBodyForces(state_, Stage::Dynamics),
        acceleration_[which_], found_);
  }
  bool result(Task task, double* numbers) const override {
    if (task != Task::forward && task != Task::inverse) return false;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      double* to = numbers + places_.v[i];
      if (bodies_[i].hinge != 'f') {
        *to = found_[their_v_[i]];
        continue;
      }
      double r[9], six[6];
      rotation_of(own_q_[which_].data() + places_.q[i], r);
      for (int l = 0; l < 6; ++l) six[l] = found_[their_v_[i] + l];
      transposed_times(r, six, to);
      if (task == Task::inverse)
        transposed_times(r, six + 3, to + 3);
      else
        own_acceleration(r, own_v_[which_].data() + places_.v[i], six + 3, to + 3);
    }
    return true;
  }

 private:
  Vector theirs(int state, const double* x, bool is_acceleration) const {
    Vector y(n_);
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const double* from = x + places_.v[i];
      if (bodies_[i].hinge != 'f') {
        y[their_v_[i]] = *from;
        continue;
      }
      double r[9], six[6];
      const auto k = static_cast<std::size_t>(state);
      rotation_of(own_q_[k].data() + places_.q[i], r);
      times(r, from, six);
      if (is_acceleration)
        origin_acceleration(r, own_v_[k].data() + places_.v[i], from, six + 3);
      else
        times(r, from + 3, six + 3);
      for (int l = 0; l < 6; ++l) y[their_v_[i] + l] = six[l];
    }
    return y;
  }

  MultibodySystem system_;
  SimbodyMatterSubsystem matter_;
  GeneralForceSubsystem forces_;
  Force::UniformGravity gravity_;
  Force::DiscreteForces efforts_;
  std::vector<PeerBody> bodies_;
  Places places_;
  int n_;
  State state_;
  std::vector<int> their_q_, their_v_;
  std::vector<Vector> q_, v_, acceleration_, effort_;
  std::vector<std::vector<double>> own_q_, own_v_;
  Vector found_;
  Matrix mass_;
  std::size_t which_ = 0;
};

}  // namespace

CATENA_PEER const char* catena_peer_name() { return "Simbody"; }
CATENA_PEER catena_bench::Peer* catena_peer_make(const catena_bench::PeerModel* model,
                                                 const catena_bench::PeerStates* states) {
  return new SimbodyPeer(*model, *states);
}
