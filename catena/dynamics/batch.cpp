// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/batch.h"

#include <cmath>
#include <limits>

#include "catena/base/index.h"
#include "catena/dynamics/batch/batch_workspace.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/mass_matrix.h"

namespace catena {
namespace {

using Inside = BatchWorkspace::Implementation;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Inside& inside(const Mechanism& mechanism, BatchWorkspace& workspace) {
  if (&mechanism != &workspace.mechanism())
    throw NumericalError("the workspace was made for another mechanism, '" +
                         workspace.mechanism().name() + "'");
  return workspace.implementation();
}

void add_wrenches(const Mechanism& mechanism, const BatchWrenches* external, Eigen::Index states,
                  Inside& s, BatchInput& in) {
  s.places.clear();
  if (external == nullptr) return;
  for (const BatchWrenches::Place& place : external->places) {
    if (place.body < -1 || place.body >= static_cast<int>(mechanism.bodies().size()))
      throw NumericalError("external wrench on body " + std::to_string(place.body) +
                           ", which does not exist");
    WrenchPlace p;
    for (int i = 0; i < 3; ++i)
      if (!std::isfinite(place.point[i]))
        throw NumericalError("the point of an external wrench is not finite");
    if (place.body >= 0) {
      const BodyPlace& body = mechanism.bodies()[index(place.body)];
      p.node = body.node;
      const Vec3d at = body.X_node_body * place.point;
      for (int i = 0; i < 3; ++i) p.point[i] = at[i];
      for (int i = 0; i < 9; ++i) p.rotation[i] = body.X_node_body.rotation.matrix.m[i / 3][i % 3];
      p.ground_axes = place.axes == ExternalWrench::Axes::ground;
      in.any_ground_axes = in.any_ground_axes || p.ground_axes;
    }
    s.places.push_back(p);
  }
  in.places = s.places.data();
  in.place_count = static_cast<int>(s.places.size());
  in.wrenches = rows_in("the components of external wrenches", external->components, states,
                        6 * in.place_count);
}

BatchInput read_states(const Mechanism& mechanism, const BatchIn& q, const BatchIn* v) {
  BatchInput in;
  in.q = rows_in("q", q, q.rows(), mechanism.coordinates());
  if (v != nullptr) in.v = rows_in("v", *v, q.rows(), mechanism.freedoms());
  return in;
}

// Without a chart: no state is closed.
template <class Spoil>
void refuse_all(const BatchIn& q, Inside& s, Spoil spoil) {
  s.begin(q.rows());
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    StateReport& report = s.reports[index(i)];
    report.status = BatchStatus::not_closed;
    report.quantity = StateReport::Quantity::position;
    spoil(i);
  }
  s.end();
}

// One state by the functions for one state.
State state_of(const BatchIn& q, const BatchIn& v, Eigen::Index i) {
  return {q.row(i).transpose(), v.row(i).transpose()};
}
std::vector<ExternalWrench> wrenches_of(const BatchWrenches* external, Eigen::Index state) {
  std::vector<ExternalWrench> result;
  if (external == nullptr) return result;
  Eigen::Index k = 0;
  for (const BatchWrenches::Place& place : external->places) {
    const auto x = [&](int i) { return external->components(state, 6 * k + i); };
    result.push_back(
        {place.body, {{x(0), x(1), x(2)}, {x(3), x(4), x(5)}}, place.point, place.axes});
    ++k;
  }
  return result;
}

// Rows of results for all states: in packs by `packed`, or one at a time by `single`.
template <class Single, class Packed, class Spoil>
void fill_rows(const BatchIn& q, std::span<const std::uint8_t> driven, const BatchInput& in,
               Inside& s, Single single, Packed packed, Spoil spoil) {
  if (!s.have_chart(q, driven)) return refuse_all(q, s, spoil);
  s.begin(q.rows());
  if (s.goes_singly())
    s.run_singly(q.rows(), single, spoil);
  else
    s.run_rows(
        q.rows(), in,
        [&](Inside::Slot& slot, const std::ptrdiff_t* rows) {
          return packed(rows, slot.memory.data());
        },
        spoil);
  s.end();
}

}  // namespace

void batch_forward_dynamics(const Mechanism& mechanism, const BatchIn& q, const BatchIn& v,
                            const BatchIn& effort, BatchWorkspace& workspace, BatchOut acceleration,
                            const BatchWrenches* external) {
  Inside& s = inside(mechanism, workspace);
  const Eigen::Index states = q.rows();
  BatchInput in = read_states(mechanism, q, &v);
  in.effort = rows_in("effort", effort, states, mechanism.freedoms());
  const RowsOut out = rows_out("acceleration", acceleration, states, mechanism.freedoms());
  add_wrenches(mechanism, external, states, s, in);
  const auto spoil = [&](Eigen::Index i) { acceleration.row(i).setConstant(kNaN); };
  fill_rows(
      q, {}, in, s,
      [&](Workspace& w, Eigen::Index i) {
        acceleration.row(i) =
            forward_dynamics(mechanism, state_of(q, v, i), effort.row(i).transpose(), w,
                             wrenches_of(external, i))
                .transpose();
      },
      [&](const std::ptrdiff_t* rows, auto* memory) {
        return s.kernels->forward(s.model, in, rows, memory, out);
      },
      spoil);
}

void batch_inverse_dynamics(const Mechanism& mechanism, const BatchIn& q, const BatchIn& v,
                            const BatchIn& acceleration, BatchWorkspace& workspace, BatchOut effort,
                            const BatchWrenches* external) {
  Inside& s = inside(mechanism, workspace);
  const Eigen::Index states = q.rows();
  BatchInput in = read_states(mechanism, q, &v);
  in.acceleration = rows_in("acceleration", acceleration, states, mechanism.freedoms());
  const RowsOut out = rows_out("effort", effort, states, mechanism.freedoms());
  add_wrenches(mechanism, external, states, s, in);
  const auto spoil = [&](Eigen::Index i) { effort.row(i).setConstant(kNaN); };
  fill_rows(
      q, {}, in, s,
      [&](Workspace& w, Eigen::Index i) {
        effort.row(i) =
            inverse_dynamics(mechanism, state_of(q, v, i), acceleration.row(i).transpose(), w,
                             wrenches_of(external, i))
                .transpose();
      },
      [&](const std::ptrdiff_t* rows, auto* memory) {
        return s.kernels->inverse(s.model, in, rows, memory, out);
      },
      spoil);
}

void batch_hybrid_dynamics(const Mechanism& mechanism, const BatchIn& q, const BatchIn& v,
                           const BatchHybridInput& input, BatchWorkspace& workspace,
                           BatchOut acceleration, BatchOut effort, const BatchWrenches* external) {
  Inside& s = inside(mechanism, workspace);
  const Eigen::Index states = q.rows(), n = mechanism.freedoms();
  if (static_cast<Eigen::Index>(input.motion_driven.size()) != n)
    throw NumericalError("motion_driven has " + std::to_string(input.motion_driven.size()) +
                         " entries, but this mechanism has " + std::to_string(n) + " freedoms");
  BatchInput in = read_states(mechanism, q, &v);
  in.effort = rows_in("effort", input.effort, states, n);
  in.acceleration = rows_in("acceleration", input.acceleration, states, n);
  in.driven = input.motion_driven.data();
  const RowsOut out_a = rows_out("the found acceleration", acceleration, states, n);
  const RowsOut out_e = rows_out("the found effort", effort, states, n);
  add_wrenches(mechanism, external, states, s, in);
  const auto spoil = [&](Eigen::Index i) {
    acceleration.row(i).setConstant(kNaN);
    effort.row(i).setConstant(kNaN);
  };
  fill_rows(
      q, input.motion_driven, in, s,
      [&](Workspace& w, Eigen::Index i) {
        HybridInput one{{input.motion_driven.begin(), input.motion_driven.end()},
                        input.effort.row(i).transpose(),
                        input.acceleration.row(i).transpose()};
        HybridResult found;
        hybrid_dynamics(mechanism, state_of(q, v, i), one, w, found, wrenches_of(external, i));
        acceleration.row(i) = found.acceleration.transpose();
        effort.row(i) = found.effort.transpose();
      },
      [&](const std::ptrdiff_t* rows, auto* memory) {
        return s.kernels->hybrid(s.model, in, rows, memory, out_a, out_e);
      },
      spoil);
}

namespace {

void mass_matrices(const Mechanism& mechanism, const BatchIn& q, BatchWorkspace& workspace,
                   LaneArray* lanes, BatchOut* rows) {
  Inside& s = inside(mechanism, workspace);
  const BatchInput in = read_states(mechanism, q, nullptr);
  s.places.clear();
  const bool charted = s.have_chart(q, {});
  s.begin(q.rows());
  const Eigen::Index count = triangle_size(static_cast<Eigen::Index>(s.base.independent().size()));
  RowsOut out;
  if (rows != nullptr) out = rows_out("the mass matrices", *rows, q.rows(), count);
  const int l = s.kernels->lanes;
  if (lanes != nullptr) lanes->resize(q.rows(), count, l);
  const bool zeros = lanes == nullptr || !lanes->holds_zeros(s.serial);
  double* const numbers_in_lanes = lanes != nullptr ? lanes->data() : nullptr;
  const auto put = [&](Eigen::Index state, Eigen::Index i, double x) {
    if (rows != nullptr)
      (*rows)(state, i) = x;
    else
      numbers_in_lanes[(state / l * count + i) * l + state % l] = x;
  };
  const auto spoil = [&](Eigen::Index i) {
    for (Eigen::Index k = 0; k < count; ++k) put(i, k, kNaN);
  };
  if (!charted) return refuse_all(q, s, spoil);
  if (s.goes_singly()) {
    s.run_singly(
        q.rows(),
        [&](Workspace& w, Eigen::Index i) {
          const Eigen::MatrixXd& m = mass_matrix(mechanism, q.row(i).transpose(), w);
          for (Eigen::Index j = 0; j < m.rows(); ++j)
            for (Eigen::Index k = 0; k <= j; ++k) put(i, triangle_index(j, k), m(j, k));
        },
        spoil);
  } else {
    const bool stream = lanes != nullptr && q.rows() * count > kNumbersInCache;
    s.run_lanes(
        q.rows(), in, count,
        [&](Inside::Slot& slot, const std::ptrdiff_t* states, double* numbers) {
          const bool own = numbers == slot.spare.data();
          return s.kernels->mass_matrix(
              s.model, in, states, slot.memory.data(),
              {.numbers = numbers, .stream = stream && !own, .zeros = zeros || own});
        },
        lanes, out);
  }
  s.end();
  if (lanes != nullptr && s.failures == 0) lanes->note_zeros(s.serial);
}

}  // namespace

void batch_mass_matrix(const Mechanism& mechanism, const BatchIn& q, BatchWorkspace& workspace,
                       LaneArray& triangles) {
  mass_matrices(mechanism, q, workspace, &triangles, nullptr);
}
void batch_mass_matrix(const Mechanism& mechanism, const BatchIn& q, BatchWorkspace& workspace,
                       BatchOut triangles) {
  mass_matrices(mechanism, q, workspace, nullptr, &triangles);
}

void batch_kinematics(const Mechanism& mechanism, const BatchIn& q, const BatchIn* v,
                      BatchWorkspace& workspace, BatchKinematics& result) {
  Inside& s = inside(mechanism, workspace);
  const BatchInput in = read_states(mechanism, q, v);
  s.begin(q.rows());
  result.mechanism_ = &mechanism;
  result.has_velocity_ = v != nullptr;
  const auto nodes = static_cast<Eigen::Index>(mechanism.nodes().size());
  const Eigen::Index count = (v != nullptr ? 18 : 12) * nodes;
  const bool stream = q.rows() * count > kNumbersInCache;
  s.run_lanes(q.rows(), in, count,
              [&](Inside::Slot& slot, const std::ptrdiff_t* states, double* numbers) {
                return s.kernels->kinematics(s.model, in, states, slot.memory.data(), nullptr, 0,
                                             {.numbers = numbers, .stream = stream});
              },
              &result.numbers_, {});
  s.end();
}
void batch_kinematics(const Mechanism& mechanism, const BatchIn& q, const BatchIn& v,
                      BatchWorkspace& workspace, BatchKinematics& result) {
  batch_kinematics(mechanism, q, &v, workspace, result);
}
void batch_kinematics(const Mechanism& mechanism, const BatchIn& q, BatchWorkspace& workspace,
                      BatchKinematics& result) {
  batch_kinematics(mechanism, q, nullptr, workspace, result);
}

namespace {

// Poses and twists of a pack's bodies come together; the rows have them apart.
void body_rows(const Mechanism& mechanism, const BatchIn& q, const BatchIn* v,
               BatchWorkspace& workspace, BatchOut& poses, BatchOut* twists) {
  Inside& s = inside(mechanism, workspace);
  const BatchInput in = read_states(mechanism, q, v);
  const auto bodies = static_cast<Eigen::Index>(mechanism.bodies().size());
  const RowsOut out = rows_out("the poses", poses, q.rows(), 12 * bodies);
  RowsOut out_v;
  if (twists != nullptr) out_v = rows_out("the twists", *twists, q.rows(), 6 * bodies);
  s.begin(q.rows());
  const int lanes = s.kernels->lanes, numbers = v != nullptr ? 18 : 12;
  for (Inside::Slot& slot : s.slots) slot.lanes.resize(lanes, numbers * bodies, lanes);
  s.run_rows(
      q.rows(), in,
      [&](Inside::Slot& slot, const std::ptrdiff_t* states) {
        double* found = slot.lanes.data();
        const PackReport report =
            s.kernels->kinematics(s.model, in, states, slot.memory.data(), s.bodies.data(),
                                  static_cast<int>(bodies), {.numbers = found});
        if (!report.clear()) return report;
        for (Eigen::Index b = 0; b < bodies; ++b) {
          const double* own = found + b * numbers * lanes;
          s.kernels->store(own, 12, states, {out.first + 12 * b, out.stride});
          if (twists != nullptr)
            s.kernels->store(own + 12 * lanes, 6, states, {out_v.first + 6 * b, out_v.stride});
        }
        return report;
      },
      [&](Eigen::Index i) {
        poses.row(i).setConstant(kNaN);
        if (twists != nullptr) twists->row(i).setConstant(kNaN);
      });
  s.end();
}

}  // namespace

void batch_kinematics(const Mechanism& mechanism, const BatchIn& q, const BatchIn& v,
                      BatchWorkspace& workspace, BatchOut poses, BatchOut twists) {
  body_rows(mechanism, q, &v, workspace, poses, &twists);
}
void batch_kinematics(const Mechanism& mechanism, const BatchIn& q, BatchWorkspace& workspace,
                      BatchOut poses) {
  body_rows(mechanism, q, nullptr, workspace, poses, nullptr);
}

namespace {

Transformd node_pose(const LaneArray& x, Eigen::Index state, int node, Eigen::Index numbers) {
  Transformd pose;
  const Eigen::Index first = node * numbers;
  for (int i = 0; i < 9; ++i) pose.rotation.matrix.m[i / 3][i % 3] = x(state, first + i);
  for (int i = 0; i < 3; ++i) pose.translation[i] = x(state, first + 9 + i);
  return pose;
}

const BodyPlace& place_of(const Mechanism* mechanism, const LaneArray& x, Eigen::Index state,
                          int body) {
  if (mechanism == nullptr) throw NumericalError("call batch_kinematics first");
  if (state < 0 || state >= x.states())
    throw NumericalError("state " + std::to_string(state) + " does not exist; the batch has " +
                         std::to_string(x.states()) + ", counted from 0");
  if (body < 0 || body >= static_cast<int>(mechanism->bodies().size()))
    throw NumericalError("body " + std::to_string(body) + " does not exist; '" + mechanism->name() +
                         "' has " + std::to_string(mechanism->bodies().size()) +
                         " bodies, counted from 0");
  return mechanism->bodies()[index(body)];
}

}  // namespace

Transformd BatchKinematics::body_pose(Eigen::Index state, int body) const {
  const BodyPlace& place = place_of(mechanism_, numbers_, state, body);
  if (place.node < 0) return place.X_node_body;
  return node_pose(numbers_, state, place.node, has_velocity_ ? 18 : 12) * place.X_node_body;
}

Twistd BatchKinematics::body_twist(Eigen::Index state, int body, Axes axes) const {
  const BodyPlace& place = place_of(mechanism_, numbers_, state, body);
  if (!has_velocity_)
    throw NumericalError("velocities have not been computed: call batch_kinematics with q and v");
  if (place.node < 0) return Twistd::zero();
  Twistd twist;
  for (int i = 0; i < 6; ++i) twist[i] = numbers_(state, 18 * place.node + 12 + i);
  const Twistd own = Ad_inverse(place.X_node_body, twist);
  if (axes == Axes::body) return own;
  const Rotationd r =
      node_pose(numbers_, state, place.node, 18).rotation * place.X_node_body.rotation;
  return {r * own.angular, r * own.linear};
}

}  // namespace catena
