// SPDX-License-Identifier: BSD-3-Clause
// Many states at once: forward, inverse and hybrid dynamics, mass matrices and kinematics of B
// states of one mechanism, for sampling, learning and Monte Carlo.
//
//   BatchWorkspace workspace(mechanism);
//   RowMatrix acceleration(q.rows(), mechanism.freedoms());
//   batch_forward_dynamics(mechanism, q, v, effort, workspace, acceleration);
//   if (workspace.failures() > 0) ...  workspace.message(i)
//
// At the interface every state is one row of a row-major matrix (an Eigen matrix or a map of the
// caller's memory; nothing is copied). Inside, one state is one lane of a SIMD pack, the sweeps are
// those of one state (kernels/sweeps.h), and packs are spread over threads: O(B · N);
// docs/batches.md has measured rates. A result depends on its own row alone: not on the number of
// threads, B or the other rows, to the bit. With the call for one state it agrees to rounding
// (1e-12).
//
// A state that cannot be evaluated does not throw: its status has the reason, its row of the result
// is NaN, and all others are computed. Mistakes of the call itself (sizes, unknown bodies) throw.
//
// Closed loops: all states share one chart (workspace.chart()), chosen at the first state that is
// closed if none is set; a state where it is singular gets that status.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <Eigen/Core>

#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/loads.h"

namespace catena {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using BatchIn = Eigen::Ref<const RowMatrix, 0, Eigen::OuterStride<>>;
using BatchOut = Eigen::Ref<RowMatrix, 0, Eigen::OuterStride<>>;

enum class BatchStatus : std::uint8_t {
  ok,
  not_finite,        // a number of the state, or of the result, is NaN or infinite
  bad_quaternion,    // length too far from one to be normalized; `place` is its hinge
  undefined_spring,  // the ends of a spring coincide
  singular_hinge,    // no inertia about hinge `place`
  singular_chart,    // the independent freedoms do not determine loop `place` here
  not_closed,        // positions or velocities do not satisfy the closures
  refused            // by the call for one state; message() has its words
};
const char* to_string(BatchStatus status);

struct StateReport {
  enum class Quantity : std::uint8_t { position, velocity, effort, acceleration, wrench, result };
  BatchStatus status = BatchStatus::ok;
  Quantity quantity = Quantity::result;  // what is not finite, or not closed
  int place = -1;                        // which of it; or the hinge or loop as said above
};

// Where wrenches from outside act: the same points for all states, the components given per state.
struct BatchWrenches {
  struct Place {
    int body = -1;
    Vec3d point{};  // in the body's frame
    ExternalWrench::Axes axes = ExternalWrench::Axes::body;
  };
  std::span<const Place> places;
  BatchIn components;  // one row per state: moment and force (6 numbers) for each place
};

// Numbers of many states in the order of the kernels: pack after pack, in a pack number after
// number, of a number all lanes. Unused lanes of the last pack repeat its last state.
class LaneArray {
 public:
  Eigen::Index states() const { return states_; }
  Eigen::Index count() const { return count_; }  // numbers of a state
  int lanes() const { return lanes_; }
  double operator()(Eigen::Index state, Eigen::Index number) const {
    return data()[(state / lanes_ * count_ + number) * lanes_ + state % lanes_];
  }
  const double* data() const { return data_.get(); }  // aligned to 64 bytes
  // For writing. Call it again after every call that fills the array: structural zeros are written
  // again only after a call of this function.
  double* data() {
    zeros_of_ = 0;
    return data_.get();
  }
  // Allocates when it has never been this large.
  void resize(Eigen::Index states, Eigen::Index count, int lanes);

  // For repeated filling: whether all packs still hold the structural zeros of the mechanism and
  // quantity that `of` identifies (0: unknown).
  bool holds_zeros(std::uint64_t of) const { return of != 0 && of == zeros_of_; }
  void note_zeros(std::uint64_t of) { zeros_of_ = of; }

 private:
  struct Free {
    void operator()(double* block) const;
  };
  std::unique_ptr<double[], Free> data_;
  Eigen::Index states_ = 0, count_ = 0, capacity_ = 0;
  int lanes_ = 1;
  std::uint64_t zeros_of_ = 0;
};

// The lower triangle of a symmetric matrix, row by row.
inline Eigen::Index triangle_size(Eigen::Index n) { return n * (n + 1) / 2; }
inline Eigen::Index triangle_index(Eigen::Index i, Eigen::Index j) {
  return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

struct BatchSettings {
  int threads = 0;  // 0: as many as the processor has
};

// Scratch for batches of any size, sized once for a mechanism, which must outlive it. After a first
// call with as many states no call allocates (with several threads the task scheduler may).
// One workspace serves one caller at a time.
class BatchWorkspace {
 public:
  explicit BatchWorkspace(const Mechanism& mechanism, BatchSettings settings = {});
  ~BatchWorkspace();
  BatchWorkspace(BatchWorkspace&&) noexcept;
  BatchWorkspace& operator=(BatchWorkspace&&) noexcept;

  const Mechanism& mechanism() const;
  int threads() const;  // 1 in a build without oneTBB
  int lanes() const;    // states in a pack

  // As in Workspace.
  void set_chart(Chart chart, bool pinned = false);
  bool has_chart() const;
  const Chart& chart() const;
  const std::vector<int>& independent() const;

  // Of the last call.
  std::span<const StateReport> reports() const;
  Eigen::Index failures() const;
  // The mistake of a state in one sentence; empty if there is none.
  std::string message(Eigen::Index state) const;

  // ---- For the functions below. ----
  struct Implementation;
  Implementation& implementation() { return *implementation_; }

 private:
  std::unique_ptr<Implementation> implementation_;
};

// Rows: q has mechanism.coordinates() columns, all others mechanism.freedoms().
void batch_forward_dynamics(const Mechanism& mechanism, const BatchIn& q, const BatchIn& v,
                            const BatchIn& effort, BatchWorkspace& workspace, BatchOut acceleration,
                            const BatchWrenches* external = nullptr);

void batch_inverse_dynamics(const Mechanism& mechanism, const BatchIn& q, const BatchIn& v,
                            const BatchIn& acceleration, BatchWorkspace& workspace, BatchOut effort,
                            const BatchWrenches* external = nullptr);

// The same freedoms are motion-driven in all states. Entries of `effort` at these and of
// `acceleration` at the others are not read.
struct BatchHybridInput {
  std::span<const std::uint8_t> motion_driven;  // by freedom
  BatchIn effort;
  BatchIn acceleration;
};
void batch_hybrid_dynamics(const Mechanism& mechanism, const BatchIn& q, const BatchIn& v,
                           const BatchHybridInput& input, BatchWorkspace& workspace,
                           BatchOut acceleration, BatchOut effort,
                           const BatchWrenches* external = nullptr);

// Lower triangles (triangle_index): of all freedoms, or of workspace.independent() if there are
// loops. The first form leaves them in lanes, which is faster.
void batch_mass_matrix(const Mechanism& mechanism, const BatchIn& q, BatchWorkspace& workspace,
                       LaneArray& triangles);
void batch_mass_matrix(const Mechanism& mechanism, const BatchIn& q, BatchWorkspace& workspace,
                       BatchOut triangles);

// Poses and twists of all bodies. In lanes: those of the nodes, from which a query makes those of a
// body.
class BatchKinematics {
 public:
  Transformd body_pose(Eigen::Index state, int body) const;
  // Of the body's origin; throws if velocities have not been computed.
  Twistd body_twist(Eigen::Index state, int body, Axes axes = Axes::ground) const;
  Vec3d point_position(Eigen::Index state, int body, const Vec3d& point) const {
    return body_pose(state, body) * point;
  }
  // Of every node: rotation row by row, translation, and with velocities the twist in its axes.
  const LaneArray& numbers() const { return numbers_; }

 private:
  friend void batch_kinematics(const Mechanism& mechanism, const BatchIn& q, const BatchIn* v,
                               BatchWorkspace& workspace, BatchKinematics& result);
  const Mechanism* mechanism_ = nullptr;
  bool has_velocity_ = false;
  LaneArray numbers_;
};
void batch_kinematics(const Mechanism& mechanism, const BatchIn& q, const BatchIn& v,
                      BatchWorkspace& workspace, BatchKinematics& result);
void batch_kinematics(const Mechanism& mechanism, const BatchIn& q, BatchWorkspace& workspace,
                      BatchKinematics& result);

// In rows: for each body its rotation row by row and its translation (12 numbers), and its twist
// about its origin in its own axes (6).
void batch_kinematics(const Mechanism& mechanism, const BatchIn& q, const BatchIn& v,
                      BatchWorkspace& workspace, BatchOut poses, BatchOut twists);
void batch_kinematics(const Mechanism& mechanism, const BatchIn& q, BatchWorkspace& workspace,
                      BatchOut poses);

}  // namespace catena
