// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/second_derivatives.h"

#include <algorithm>
#include <functional>

#include "catena/base/index.h"
#include "catena/dynamics/flexible_mass.h"
#include "catena/model/configuration.h"
#include "catena/sensitivity/central_difference.h"
#include "catena/sensitivity/kernels/columns.h"
#include "catena/sensitivity/linearize.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kSecondDirections = 4;
using SecondNumber = Dual<double, kSecondDirections>;

// Columns in dual numbers.
struct DualColumns {
  explicit DualColumns(const SensitivityWorkspace& w) {
    const Mechanism& m = w.mechanism();
    const DerivativeTable<double>& plain = w.columns();
    table.stride = plain.stride;
    const std::size_t length = to_size(plain.stride);
    numbers.resize(45 * length);
    SecondNumber* next = numbers.data();
    const auto take = [&](std::size_t rows) {
      SecondNumber* start = next;
      next += rows * length;
      return start;
    };
    table.twist = take(6);
    table.rate = take(6);
    table.second = take(6);
    table.drift = take(6);
    table.momentum = take(6);
    table.turning = take(3);
    table.by_q = take(6);
    table.by_v = take(6);
    std::size_t generals = 0;
    for (int i = 0; i < static_cast<int>(m.nodes().size()); ++i)
      generals += w.dynamics().is_general(i) ? 1 : 0;
    nodes.resize(m.nodes().size());
    general.resize(generals);
    rotors.resize(to_size(plain.drive_count));
    scratch_nodes.resize(m.nodes().size());
    scratch_general.resize(generals);
    table.nodes = nodes.data();
    table.general = general.data();
    table.drives = plain.drives;
    table.drive_count = plain.drive_count;
    table.rotors = rotors.data();
    sine.resize(to_size(m.coordinates()));
    cosine.resize(sine.size());
    q.resize(sine.size());
    v.resize(to_size(m.freedoms()));
    a.resize(v.size());
    external.resize(6 * m.nodes().size());
  }
  Scratch<SecondNumber> scratch() {
    Scratch<SecondNumber> s;
    s.nodes = scratch_nodes.data();
    s.general = scratch_general.data();
    s.sine = sine.data();
    s.cosine = cosine.data();
    return s;
  }
  DerivativeTable<SecondNumber> table;
  std::vector<SecondNumber> numbers, sine, cosine, q, v, a, external;
  std::vector<ColumnNode<SecondNumber>> nodes;
  std::vector<GeneralColumns<SecondNumber>> general;
  std::vector<RotorColumn<SecondNumber>> rotors;
  std::vector<NodeScratch<SecondNumber>> scratch_nodes;
  std::vector<GeneralScratch<SecondNumber>> scratch_general;
};

// Entries of the three matrices along direction d of the dual numbers.
struct Three {
  MatrixXd by_q, by_v, mass;
};
void read_matrices(const SweepModel& model, const MatrixPattern& pattern,
                   const DerivativeTable<SecondNumber>& c, std::vector<Three>& out) {
  const int n = pattern.size, stride = c.stride;
  for (Three& t : out) {
    t.by_q.setZero(n, n);
    t.by_v.setZero(n, n);
    t.mass.setZero(n, n);
  }
  const auto add = [&](MatrixXd Three::*part, int row, int column, const SecondNumber& x) {
    for (std::size_t d = 0; d < out.size(); ++d) (out[d].*part)(row, column) += x.derivative[d];
  };
  for (int k = 0; k < n; ++k)
    for (int i = pattern.first_segment[k]; i < pattern.first_segment[k + 1]; ++i) {
      const RowSegment& segment = pattern.segments[i];
      if (segment.kind == RowSegment::Kind::none) continue;
      for (int r = segment.first; r < segment.first + segment.count; ++r) {
        if (segment.kind == RowSegment::Kind::inboard) {
          const Twist<SecondNumber> twist = get_twist(c.twist, stride, r);
          add(&Three::by_q, r, k, dot(get_wrench(c.by_q, stride, k), twist));
          add(&Three::by_v, r, k, dot(get_wrench(c.by_v, stride, k), twist));
          add(&Three::mass, r, k, dot(get_wrench(c.momentum, stride, k), twist));
        } else {
          const Wrench<SecondNumber> momentum = get_wrench(c.momentum, stride, r);
          const Vec3<SecondNumber> turning = get_vec3(c.turning, stride, r);
          add(&Three::by_q, r, k,
              dot(momentum, get_twist(c.second, stride, k)) +
                  dot(turning, get_vec3(c.rate, stride, k)));
          add(&Three::by_v, r, k,
              dot(momentum, get_twist(c.drift, stride, k)) +
                  dot(turning, get_vec3(c.twist, stride, k)));
          add(&Three::mass, r, k, dot(momentum, get_twist(c.twist, stride, k)));
        }
      }
    }
  for (int node_index = 0; node_index < model.node_count; ++node_index) {
    const Node& node = model.nodes[node_index];
    if (node.freedoms == 1 && !varies(node)) continue;
    const GeneralColumns<SecondNumber>& g = c.general[model.general_index[node_index]];
    for (int l = 0; l < node.freedoms; ++l)
      for (int m = 0; m < node.freedoms; ++m)
        add(&Three::by_q, node.v_index + m, node.v_index + l, g.own[l][m]);
  }
  for (int d = 0; d < c.drive_count; ++d) {
    const DriveTerm& drive = c.drives[d];
    const RotorColumn<SecondNumber>& rotor = c.rotors[d];
    for (int i = drive.carrier; i >= 0; i = model.nodes[i].parent)
      for (int k = model.nodes[i].v_index; k < model.nodes[i].v_index + model.nodes[i].freedoms;
           ++k) {
        const int h = drive.freedom;
        const Vec3<SecondNumber> twist = get_vec3(c.twist, stride, k);
        add(&Three::by_q, h, k,
            dot(rotor.axis, get_vec3(c.second, stride, k)) +
                dot(rotor.turned, get_vec3(c.rate, stride, k)));
        const SecondNumber turned = dot(rotor.turned, twist);
        add(&Three::by_v, h, k, dot(rotor.axis, get_vec3(c.drift, stride, k)) + turned);
        add(&Three::by_v, k, h, turned);
        const SecondNumber entry = dot(rotor.axis, twist);
        add(&Three::mass, h, k, entry);
        add(&Three::mass, k, h, entry);
      }
  }
}

// Of matrices that depend on a number, at zero.
template <class F>
std::vector<MatrixXd> slopes(F f) {
  constexpr double kStep = 3e-3;
  std::vector<MatrixXd> sum;
  for (int i = 1; i <= 4; ++i) {
    const std::vector<MatrixXd> up = f(i * kStep), down = f(-i * kStep);
    if (sum.empty())
      for (const MatrixXd& x : up) sum.push_back(MatrixXd::Zero(x.rows(), x.cols()));
    for (std::size_t k = 0; k < up.size(); ++k)
      sum[k] += kCentralWeights[i - 1] / kStep * (up[k] - down[k]);
  }
  return sum;
}

// The slopes of `first`, the first derivatives at a state, along every position and velocity:
// take(k, by_q, by_v).
void each_slope(const Mechanism& m, const State& state, const std::vector<int>& own,
                const std::function<std::vector<MatrixXd>(const State&)>& first,
                const std::function<void(std::size_t, const std::vector<MatrixXd>&,
                                         const std::vector<MatrixXd>&)>& take) {
  const VectorXd none = VectorXd::Zero(static_cast<Index>(own.size()));
  for (std::size_t k = 0; k < own.size(); ++k) {
    VectorXd unit = none;
    unit[static_cast<Index>(k)] = 1.0;
    take(k, slopes([&](double e) { return first(displaced(m, state, own, e * unit, none)); }),
         slopes([&](double e) { return first(displaced(m, state, own, none, e * unit)); }));
  }
}

}  // namespace

bool serves_dual_numbers(const Mechanism& m, std::span<const ExternalWrench> external) {
  if (!m.loops().empty() || !m.springs().empty()) return false;
  for (const FreedomSettings& f : m.freedom_settings())
    if (f.friction.active()) return false;
  for (const Node& node : m.nodes())
    if (node.hinge == NodeHinge::custom) return false;
  return std::none_of(external.begin(), external.end(), [](const ExternalWrench& e) {
    return e.axes == ExternalWrench::Axes::ground;
  });
}

namespace {

// Direction k: position k of the independent freedoms, or velocity k − n.
void set_direction(const Mechanism& m, const PreparedInput& in, Index k, Index n, Index d,
                   DualColumns& dual) {
  if (k >= n) {
    dual.v[index(k - n)].derivative[d] = 1.0;
    return;
  }
  const VectorXd unit = VectorXd::Unit(n, k);
  for (const Node& node : m.nodes()) {
    if (k < node.v_index || k >= node.v_index + node.freedoms) continue;
    double rate[kMaxCoordinates];
    node_position_rate(node, in.q + node.q_index, unit.data() + node.v_index, rate);
    for (int c = 0; c < node.coordinates; ++c)
      dual.q[index(node.q_index + c)].derivative[d] = rate[c];
  }
}

// Sines and cosines, and the hinges that are placed by them: column_sweeps() does not.
void place_hinges(const SweepModel& model, const Scratch<SecondNumber>& scratch,
                  DualColumns& dual) {
  for (std::size_t i = 0; i < dual.q.size(); ++i) {
    const SinCos<SecondNumber> sc = sincos(dual.q[i]);
    dual.sine[i] = sc.sin;
    dual.cosine[i] = sc.cos;
  }
  for (int i = 0; i < model.node_count; ++i) {
    const Node& node = model.nodes[i];
    if (node.hinge == NodeHinge::revolute)
      place_revolute(node, scratch, scratch.nodes[i].to_parent);
    else if (node.hinge == NodeHinge::prismatic)
      place_prismatic(node, dual.q[index(node.q_index)], scratch.nodes[i].to_parent);
  }
}

// The derivative sweeps with dual numbers, kSecondDirections directions at once.
void fill_by_dual_numbers(const Mechanism& m, const State& state, const VectorXd& acceleration,
                          SensitivityWorkspace& w, std::span<const ExternalWrench> external,
                          InverseSecondDerivatives& out) {
  const Index n = m.freedoms();
  DualColumns dual(w);
  const PreparedInput in = prepare(m, state, nullptr, external, w.dynamics());
  const Scratch<SecondNumber> scratch = dual.scratch();
  const SweepModel& model = w.dynamics().tree_model();
  for (std::size_t i = 0; i < dual.external.size(); ++i)
    dual.external[i] = SecondNumber(in.external != nullptr ? in.external[i] : 0.0);
  std::vector<Three> found;
  for (Index first = 0; first < 2 * n; first += kSecondDirections) {
    for (std::size_t i = 0; i < dual.q.size(); ++i) dual.q[i] = SecondNumber(in.q[i]);
    for (std::size_t i = 0; i < dual.v.size(); ++i) {
      dual.v[i] = SecondNumber(state.v[static_cast<Index>(i)]);
      dual.a[i] = SecondNumber(acceleration[static_cast<Index>(i)]);
    }
    const Index count = std::min<Index>(kSecondDirections, 2 * n - first);
    for (Index d = 0; d < count; ++d) set_direction(m, in, first + d, n, d, dual);
    place_hinges(model, scratch, dual);
    column_sweeps<SecondNumber>(model, dual.q.data(), dual.v.data(), dual.a.data(),
                                in.external != nullptr ? dual.external.data() : nullptr, true,
                                scratch, dual.table);
    found.resize(to_size(count));
    read_matrices(model, w.tree_pattern(), dual.table, found);
    for (Index d = 0; d < count; ++d) {
      const Index k = first + d;
      Three& t = found[index(d)];
      if (k < n) {
        out.qq[index(k)] = std::move(t.by_q);
        out.vq[index(k)] = std::move(t.by_v);
        out.aq[index(k)] = std::move(t.mass);
      } else {
        out.vv[index(k - n)] = std::move(t.by_v);
      }
    }
  }
}

}  // namespace

InverseSecondDerivatives inverse_second_derivatives(const Mechanism& m, const State& state,
                                                    const VectorXd& acceleration,
                                                    SensitivityWorkspace& w,
                                                    std::span<const ExternalWrench> external) {
  refuse_flexible(m, "a second derivative of the dynamics");
  inverse_dynamics_derivatives(m, state, acceleration, w, external);
  InverseSecondDerivatives out;
  const std::vector<int> own = w.dynamics().independent();
  const Index n = static_cast<Index>(own.size());
  const auto size = to_size(n);
  out.qq.resize(size);
  out.vq.resize(size);
  out.vv.resize(size);
  out.aq.resize(size);
  if (!serves_dual_numbers(m, external)) {
    const auto first = [&](const State& s) {
      const InverseDerivatives& d = inverse_dynamics_derivatives(m, s, acceleration, w, external);
      return std::vector<MatrixXd>{d.dq, d.dv, d.da};
    };
    each_slope(m, state, own, first, [&](std::size_t i, const auto& by_q, const auto& by_v) {
      out.qq[i] = by_q[0];
      out.vq[i] = by_q[1];
      out.aq[i] = by_q[2];
      out.vv[i] = by_v[1];
    });
    return out;
  }
  fill_by_dual_numbers(m, state, acceleration, w, external, out);
  return out;
}

ForwardSecondDerivatives forward_second_derivatives(const Mechanism& m, const State& state,
                                                    const VectorXd& effort, SensitivityWorkspace& w,
                                                    std::span<const ExternalWrench> external) {
  refuse_flexible(m, "a second derivative of the dynamics");
  const ForwardDerivatives f = forward_dynamics_derivatives(m, state, effort, w, external);
  const std::vector<int> own = w.dynamics().independent();
  const Index n = static_cast<Index>(own.size());
  const auto size = to_size(n);
  ForwardSecondDerivatives out;
  out.qq.resize(size);
  out.qv.resize(size);
  out.vq.resize(size);
  out.vv.resize(size);
  out.uq.resize(size);
  if (!serves_dual_numbers(m, external)) {
    const auto first = [&](const State& s) {
      const ForwardDerivatives& d = forward_dynamics_derivatives(m, s, effort, w, external);
      return std::vector<MatrixXd>{d.dq, d.dv, d.deffort};
    };
    each_slope(m, state, own, first, [&](std::size_t i, const auto& by_q, const auto& by_v) {
      out.qq[i] = by_q[0];
      out.vq[i] = by_q[1];
      out.uq[i] = by_q[2];
      out.qv[i] = by_v[0];
      out.vv[i] = by_v[1];
    });
    return out;
  }
  // M v̇ + c(q, v) = τ, differentiated twice: v̇ changes along the direction too, and τ(q, v, v̇) is
  // linear in it.
  const InverseSecondDerivatives s =
      inverse_second_derivatives(m, state, f.acceleration, w, external);
  const MatrixXd back = -f.deffort;
  for (Index k = 0; k < n; ++k) {
    const std::size_t i = to_size(k);
    MatrixXd through_q(n, n), through_v(n, n), mixed(n, n);
    for (Index l = 0; l < n; ++l) {
      const std::size_t j = to_size(l);
      through_q.col(l) = s.aq[j] * f.dq.col(k);
      through_v.col(l) = s.aq[j] * f.dv.col(k);
      mixed.col(l) = s.vq[j].col(k);
    }
    const MatrixXd by_q = s.aq[i] * f.dq, by_v = s.aq[i] * f.dv, by_effort = s.aq[i] * f.deffort;
    out.qq[i] = back * MatrixXd(s.qq[i] + through_q + by_q);
    out.vq[i] = back * MatrixXd(s.vq[i] + by_v);
    out.vv[i] = back * s.vv[i];
    out.qv[i] = back * MatrixXd(mixed + through_v);
    out.uq[i] = back * by_effort;
  }
  return out;
}

}  // namespace catena
