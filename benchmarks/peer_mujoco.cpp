// SPDX-License-Identifier: BSD-3-Clause
// MuJoCo: composite rigid bodies and LᵀDL for forward dynamics, as its own pipeline does, without
// contacts, constraints and sensors.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "peer_support.h"
#include <mujoco/mujoco.h>
#include <unistd.h>

namespace {

using namespace catena_bench;

std::string text(const double* x, int n) {
  std::string s;
  char number[32];
  for (int i = 0; i < n; ++i) {
    std::snprintf(number, sizeof number, "%.17g ", x[i]);
    s += number;
  }
  return s;
}

std::string body_text(const PeerModel& m, int parent) {
  std::string s;
  for (int i = 0; i < m.body_count; ++i) {
    const PeerBody& b = m.bodies[i];
    if (b.parent != parent) continue;
    double q[4];
    quaternion_of(b.rotation, q);
    const double j[6] = {b.inertia[0], b.inertia[3], b.inertia[5],
                         b.inertia[1], b.inertia[2], b.inertia[4]};
    s += "<body pos=\"" + text(b.translation, 3) + "\" quat=\"" + text(q, 4) +
         "\"><inertial pos=\"" + text(b.center, 3) + "\" mass=\"" + text(&b.mass, 1) +
         "\" fullinertia=\"" + text(j, 6) + "\"/>";
    const std::string name = "name=\"j" + std::to_string(i) + "\"";
    s += b.hinge == 'f' ? "<freejoint " + name + "/>"
                        : "<joint " + name + " type=\"" + (b.hinge == 'r' ? "hinge" : "slide") +
                              "\" axis=\"" + text(b.axis, 3) + "\"/>";
    s += body_text(m, i) + "</body>";
  }
  return s;
}

class MuJoCo final : public Peer {
 public:
  MuJoCo(const PeerModel& m, const PeerStates& s)
      : bodies_(m.bodies, m.bodies + m.body_count), places_(places_of(m)), n_(m.freedoms) {
    const std::string xml =
        "<mujoco><compiler angle=\"radian\" boundmass=\"0\" boundinertia=\"0\"/><option "
        "gravity=\"" +
        text(m.gravity, 3) + "\"/><worldbody>" + body_text(m, -1) + "</worldbody></mujoco>";
    char path[] = "/tmp/catena_benchXXXXXX";
    const int file = mkstemp(path);
    if (file < 0 || write(file, xml.data(), xml.size()) != static_cast<ssize_t>(xml.size())) return;
    close(file);
    char words[1000] = "";
    model_ = mj_loadXML(path, nullptr, words, sizeof words);
    std::remove(path);
    if (model_ == nullptr) {
      std::fprintf(stderr, "MuJoCo: %s\n", words);
      return;
    }
    data_ = mj_makeData(model_);
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const int id = mj_name2id(model_, mjOBJ_JOINT, ("j" + std::to_string(i)).c_str());
      their_q_.push_back(model_->jnt_qposadr[id]);
      their_v_.push_back(model_->jnt_dofadr[id]);
    }
    for (int k = 0; k < s.count; ++k) {
      const double *q = s.q + k * m.coordinates, *v = s.v + k * n_;
      std::vector<double> x(static_cast<std::size_t>(model_->nq));
      for (std::size_t i = 0; i < bodies_.size(); ++i) {
        const double* from = q + places_.q[i];
        double* to = x.data() + their_q_[i];
        if (bodies_[i].hinge != 'f') {
          *to = *from;
          continue;
        }
        for (int l = 0; l < 3; ++l) to[l] = from[4 + l];
        for (int l = 0; l < 4; ++l) to[3 + l] = from[l];
      }
      q_.push_back(x);
      own_q_.emplace_back(q, q + m.coordinates);
      own_v_.emplace_back(v, v + n_);
      v_.push_back(theirs(k, v, Kind::rate));
      acceleration_.push_back(theirs(k, s.acceleration + k * n_, Kind::acceleration));
      effort_.push_back(theirs(k, s.effort + k * n_, Kind::effort));
    }
    found_.resize(static_cast<std::size_t>(n_));
    inverse_.resize(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_));
  }
  ~MuJoCo() override {
    if (data_ != nullptr) mj_deleteData(data_);
    if (model_ != nullptr) mj_deleteModel(model_);
  }
  bool good() const { return model_ != nullptr; }

  bool can(Task task) const override {
    return task == Task::kinematics || task == Task::inverse || task == Task::forward ||
           task == Task::mass_matrix || task == Task::inverse_mass_matrix;
  }

  void run(Task task, int state) override {
    state_ = static_cast<std::size_t>(state);
    mju_copy(data_->qpos, q_[state_].data(), model_->nq);
    mj_kinematics(model_, data_);
    mj_comPos(model_, data_);
    if (task == Task::mass_matrix) {
      mj_crb(model_, data_);
      return;
    }
    if (task == Task::inverse_mass_matrix) {
      mj_crb(model_, data_);
      mj_factorM(model_, data_);
      for (int i = 0; i < n_ * n_; ++i) inverse_[static_cast<std::size_t>(i)] = 0.0;
      for (int i = 0; i < n_; ++i) inverse_[static_cast<std::size_t>(i * n_ + i)] = 1.0;
      mj_solveM(model_, data_, inverse_.data(), inverse_.data(), n_);
      return;
    }
    mju_copy(data_->qvel, v_[state_].data(), n_);
    mj_comVel(model_, data_);
    if (task == Task::kinematics) return;
    if (task == Task::inverse) {
      mju_copy(data_->qacc, acceleration_[state_].data(), n_);
      mj_rne(model_, data_, 1, found_.data());
      return;
    }
    mj_crb(model_, data_);
    mj_factorM(model_, data_);
    mj_rne(model_, data_, 0, data_->qfrc_bias);
    for (int i = 0; i < n_; ++i)
      found_[static_cast<std::size_t>(i)] =
          effort_[state_][static_cast<std::size_t>(i)] - data_->qfrc_bias[i];
    mj_solveM(model_, data_, found_.data(), found_.data(), 1);
  }

  bool result(Task task, double* numbers) const override {
    if (task != Task::forward && task != Task::inverse) return false;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const double* from = found_.data() + their_v_[i];
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
  // Theirs: linear in world axes, then angular in the body's.
  std::vector<double> theirs(int state, const double* x, Kind kind) const {
    std::vector<double> y(static_cast<std::size_t>(n_));
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const double* from = x + places_.v[i];
      double* to = y.data() + their_v_[i];
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
  mjModel* model_ = nullptr;
  mjData* data_ = nullptr;
  std::vector<int> their_q_, their_v_;
  std::vector<std::vector<double>> q_, v_, acceleration_, effort_, own_q_, own_v_;
  std::vector<double> found_, inverse_;
  std::size_t state_ = 0;
};

}  // namespace

CATENA_PEER const char* catena_peer_name() { return "MuJoCo"; }
CATENA_PEER catena_bench::Peer* catena_peer_make(const catena_bench::PeerModel* model,
                                                 const catena_bench::PeerStates* states) {
  MuJoCo* peer = new MuJoCo(*model, *states);
  if (peer->good()) return peer;
  delete peer;
  return nullptr;
}
