// SPDX-License-Identifier: BSD-3-Clause
// Batches of states for tests, and the same through the calls for one state.
#pragma once

#include <cstring>

#include "catena/dynamics/batch.h"
#include "catena/dynamics/testing/test_support.h"

namespace catena::test {

struct Batch {
  RowMatrix q, v, effort, acceleration, wrenches;
  std::vector<BatchWrenches::Place> places;
  std::vector<std::uint8_t> driven;

  Eigen::Index states() const { return q.rows(); }
  BatchWrenches external() const { return {places, wrenches}; }
  BatchHybridInput hybrid() const { return {driven, effort, acceleration}; }
  State state(Eigen::Index i) const { return {q.row(i).transpose(), v.row(i).transpose()}; }
  std::vector<ExternalWrench> external_of(Eigen::Index i) const {
    std::vector<ExternalWrench> result;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const auto x = wrenches.row(i).segment(6 * static_cast<Eigen::Index>(k), 6);
      result.push_back({places[k].body,
                        {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}},
                        places[k].point,
                        places[k].axes});
    }
    return result;
  }
};

// Random states of a tree; a closed mechanism's q and v are filled in by the caller.
inline Batch random_batch(Random& random, const Mechanism& mechanism, int states, int wrenches) {
  const int n = mechanism.freedoms();
  Batch b;
  b.q.resize(states, mechanism.coordinates());
  b.v.resize(states, n);
  b.effort.resize(states, n);
  b.acceleration.resize(states, n);
  b.wrenches.resize(states, 6 * wrenches);
  for (int k = 0; k < wrenches; ++k)
    b.places.push_back({random.below(static_cast<int>(mechanism.bodies().size())), random.vector(),
                        random.below(2) == 0 ? Axes::body : Axes::ground});
  for (int i = 0; i < n; ++i) b.driven.push_back(random.below(2) == 0 ? 1 : 0);
  for (int i = 0; i < states; ++i) {
    const Case c = random_case(random, mechanism, 0);
    b.q.row(i) = c.state.q.transpose();
    b.v.row(i) = c.state.v.transpose();
    b.effort.row(i) = c.effort.transpose();
    b.acceleration.row(i) = c.acceleration.transpose();
    b.wrenches.row(i) = random_values(random, 6 * wrenches, 3.0).transpose();
  }
  return b;
}

// Everything that the batch functions find.
struct BatchFound {
  RowMatrix forward, inverse, hybrid_acceleration, hybrid_effort, mass, poses, twists;
  LaneArray triangles;
  BatchKinematics kinematics;
};

inline void compute(const Mechanism& m, const Batch& b, BatchWorkspace& w, BatchFound& f) {
  const Eigen::Index states = b.states(), n = m.freedoms();
  const auto bodies = static_cast<Eigen::Index>(m.bodies().size());
  for (RowMatrix* x : {&f.forward, &f.inverse, &f.hybrid_acceleration, &f.hybrid_effort})
    x->resize(states, n);
  f.poses.resize(states, 12 * bodies);
  f.twists.resize(states, 6 * bodies);
  const BatchWrenches external = b.external();
  batch_hybrid_dynamics(m, b.q, b.v, b.hybrid(), w, f.hybrid_acceleration, f.hybrid_effort,
                        &external);
  batch_forward_dynamics(m, b.q, b.v, b.effort, w, f.forward, &external);
  batch_inverse_dynamics(m, b.q, b.v, b.acceleration, w, f.inverse, &external);
  f.mass.resize(states, triangle_size(static_cast<Eigen::Index>(w.independent().size())));
  batch_mass_matrix(m, b.q, w, f.mass);
  batch_mass_matrix(m, b.q, w, f.triangles);
  batch_kinematics(m, b.q, b.v, w, f.poses, f.twists);
  batch_kinematics(m, b.q, b.v, w, f.kinematics);
}

inline bool same_bits(const RowMatrix& a, const RowMatrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(),
                                       sizeof(double) * static_cast<std::size_t>(a.size())) == 0);
}
inline bool same_bits(const BatchFound& a, const BatchFound& b) {
  return same_bits(a.forward, b.forward) && same_bits(a.inverse, b.inverse) &&
         same_bits(a.hybrid_acceleration, b.hybrid_acceleration) &&
         same_bits(a.hybrid_effort, b.hybrid_effort) && same_bits(a.mass, b.mass) &&
         same_bits(a.poses, b.poses) && same_bits(a.twists, b.twists);
}

// Tolerance: 1e-12 of the largest entry, against the call for one state.
inline constexpr double kLikeOneState = 1e-12;

// Holds state i of the batch against the calls for one state, in a workspace with the same chart.
inline void expect_like_one_state(const Mechanism& m, const Batch& b, const BatchFound& f,
                                  Eigen::Index i, Workspace& w, double tolerance = kLikeOneState) {
  SCOPED_TRACE("state " + std::to_string(i));
  const State s = b.state(i);
  const std::vector<ExternalWrench> external = b.external_of(i);
  const VectorXd effort = b.effort.row(i).transpose(), a = b.acceleration.row(i).transpose();
  const auto row = [&](const RowMatrix& x) { return VectorXd(x.row(i).transpose()); };
  EXPECT_LT(error(row(f.forward), forward_dynamics(m, s, effort, w, external)), tolerance);
  EXPECT_LT(error(row(f.inverse), inverse_dynamics(m, s, a, w, external)), tolerance);
  HybridResult hybrid;
  hybrid_dynamics(m, s, {b.driven, effort, a}, w, hybrid, external);
  EXPECT_LT(error(row(f.hybrid_acceleration), hybrid.acceleration), tolerance);
  EXPECT_LT(error(row(f.hybrid_effort), hybrid.effort), tolerance);
  const MatrixXd mass = mass_matrix(m, s.q, w);
  VectorXd triangle(triangle_size(mass.rows())), lanes(triangle.size());
  for (Eigen::Index r = 0; r < mass.rows(); ++r)
    for (Eigen::Index c = 0; c <= r; ++c) triangle[triangle_index(c, r)] = mass(r, c);
  for (Eigen::Index k = 0; k < lanes.size(); ++k) lanes[k] = f.triangles(i, k);
  EXPECT_LT(error(row(f.mass), triangle), tolerance);
  EXPECT_EQ(lanes, row(f.mass));
  update_kinematics(m, s.q, s.v, w);
  for (int body = 0; body < static_cast<int>(m.bodies().size()); ++body) {
    const Transformd x = body_pose(m, w, body), y = f.kinematics.body_pose(i, body);
    const Twistd v = body_twist(m, w, body, Axes::body);
    const Twistd u = f.kinematics.body_twist(i, body, Axes::body);
    const Twistd in_ground = body_twist(m, w, body, Axes::ground);
    const Twistd found_in_ground = f.kinematics.body_twist(i, body, Axes::ground);
    const double size = 1.0 + norm(x.translation) + norm(v.angular) + norm(v.linear);
    for (int k = 0; k < 9; ++k) {
      const double r = x.rotation.matrix.m[k / 3][k % 3];
      EXPECT_NEAR(f.poses(i, 12 * body + k), r, tolerance);
      EXPECT_NEAR(y.rotation.matrix.m[k / 3][k % 3], r, tolerance);
    }
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(f.poses(i, 12 * body + 9 + k), x.translation[k], tolerance * size);
      EXPECT_NEAR(y.translation[k], x.translation[k], tolerance * size);
    }
    for (int k = 0; k < 6; ++k) {
      EXPECT_NEAR(f.twists(i, 6 * body + k), v[k], tolerance * size);
      EXPECT_NEAR(u[k], v[k], tolerance * size);
      EXPECT_NEAR(found_in_ground[k], in_ground[k], tolerance * size);
    }
  }
}

}  // namespace catena::test
