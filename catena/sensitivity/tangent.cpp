// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/tangent.h"

#include <algorithm>

#include "catena/base/index.h"
#include "catena/dynamics/kernels/aggregate_closure.h"
#include "catena/dynamics/kernels/flexible_store.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

constexpr int kDirections = 4;
using Number = Dual<double, kDirections>;

Number constant(double x) { return Number(x); }

}  // namespace

inline namespace CATENA_ISA {

// Gradient and second derivatives of a user's coupling with their changes; found by the template of
// the sweeps through argument-dependent lookup.
void evaluate_user_coupling(const Coupling& coupling, int terms, const Number* x, Number& value,
                            Number* gradient, Number* hessian) {
  const std::size_t n = to_size(terms);
  std::vector<double> at(n), along(n), g(n), h(n * n), change(n * n);
  for (std::size_t i = 0; i < n; ++i) at[i] = x[i].value;
  double plain = 0.0;
  evaluate_coupling(coupling, terms, at.data(), plain, g.data(), h.data());
  value = constant(plain);
  for (std::size_t i = 0; i < n; ++i) gradient[i] = constant(g[i]);
  for (std::size_t i = 0; i < n * n; ++i) hessian[i] = constant(h[i]);
  for (int k = 0; k < kDirections; ++k) {
    for (std::size_t i = 0; i < n; ++i) along[i] = x[i].derivative[k];
    differentiate_coupling(coupling, terms, at.data(), along.data(), change.data());
    for (std::size_t i = 0; i < n; ++i) {
      value.derivative[k] += g[i] * along[i];
      for (std::size_t j = 0; j < n; ++j) {
        gradient[i].derivative[k] += h[i * n + j] * along[j];
        hessian[i * n + j].derivative[k] = change[i * n + j];
      }
    }
  }
}

}  // namespace CATENA_ISA

struct ClosureDuals::Store {
  std::vector<NodeScratch<Number>> nodes;
  std::vector<GeneralScratch<Number>> general;
  std::vector<Number> sine, cosine, q, v;
  std::vector<MemberMotion<Number>> members;
  std::vector<Twist<Number>> columns;
  std::vector<Number> bias, rows, map, work;
  std::vector<int> place;
  FlexibleStore<Number> flexible;

  Scratch<Number> scratch() {
    Scratch<Number> s;
    s.nodes = nodes.data();
    s.general = general.data();
    s.sine = sine.data();
    s.cosine = cosine.data();
    s.flexible = flexible.bodies();
    s.attachments = flexible.attachments();
    return s;
  }
  AggregateScratch<Number> aggregate() {
    AggregateScratch<Number> g;
    g.members = members.data();
    g.columns = columns.data();
    g.bias = bias.data();
    g.place_of_column = place.data();
    g.rows = rows.data();
    g.map = map.data();
    g.work = work.data();
    return g;
  }
};

ClosureDuals::~ClosureDuals() = default;

ClosureDuals::ClosureDuals(const Workspace& w) : store_(std::make_unique<Store>()) {
  const Mechanism& m = w.mechanism();
  const AggregateTables& t = w.aggregate_tables();
  std::size_t generals = 0, members = 0, freedoms = 0, twists = 0, terms = 0;
  for (int i = 0; i < static_cast<int>(m.nodes().size()); ++i) generals += w.is_general(i) ? 1 : 0;
  for (const Aggregate& a : t.aggregates) {
    members = std::max(members, to_size(a.member_count));
    freedoms = std::max(freedoms, to_size(a.freedoms));
    twists = std::max(twists, to_size(a.twists));
  }
  for (const Closure& c : t.closures) terms = std::max(terms, to_size(c.term_count));
  Store& s = *store_;
  s.nodes.resize(m.nodes().size());
  s.general.resize(generals);
  s.q.resize(to_size(m.coordinates()));
  s.sine.resize(s.q.size());
  s.cosine.resize(s.q.size());
  s.v.resize(to_size(m.freedoms()));
  s.members.resize(members);
  s.columns.resize(twists);
  s.flexible = {m.flexible_tables(), m.attachment_tables()};
  s.bias.resize(freedoms);
  s.place.resize(freedoms);
  s.rows.resize(freedoms * (freedoms + 1));
  s.map.resize(freedoms * freedoms);
  s.work.resize(std::max(freedoms, terms * (2 + terms)));
  loops_.resize(t.aggregates.size());
}

// The motion of the members along direction `slot`; `speed`: of a column.
template <class Speed>
void ClosureDuals::set_position(const Workspace& w, int loop_index, const double* q, int slot,
                                Speed speed) {
  const SweepModel& model = w.model();
  const Aggregate& a = model.aggregates[loop_index];
  for (int i = 0; i < a.member_count; ++i) {
    const AggregateMember& member = model.members[a.first_member + i];
    const Node& node = model.nodes[member.node];
    const auto set = [&](int c, double rate) {
      Number& x = store_->q[index(node.q_index + c)];
      if (slot == 0) x = constant(q[node.q_index + c]);
      x.derivative[slot] = rate;
    };
    if (node.flexible >= 0) {
      for (int f = 0; f < node.freedoms; ++f) set(f, speed(member.column + f));
      continue;
    }
    double speeds[kMaxFreedoms] = {}, rate[kMaxCoordinates];
    for (int f = 0; f < node.freedoms; ++f) speeds[f] = speed(member.column + f);
    node_position_rate(node, q + node.q_index, speeds, rate);
    for (int c = 0; c < node.coordinates; ++c) set(c, rate[c]);
  }
}

// X and γ with their changes, at the position, and the velocities, that the store holds.
void ClosureDuals::evaluate(const Workspace& w, int loop_index, bool with_v) {
  const SweepModel& model = w.model();
  const Aggregate& a = model.aggregates[loop_index];
  Store& store = *store_;
  const Scratch<Number> s = store.scratch();
  AggregateScratch<Number> g = store.aggregate();
  for (int i = 0; i < a.member_count; ++i) {
    const Node& node = model.nodes[model.members[a.first_member + i].node];
    for (int c = node.q_index; c < node.q_index + node.coordinates; ++c) {
      const SinCos<Number> sc = sincos(store.q[index(c)]);
      store.sine[index(c)] = sc.sin;
      store.cosine[index(c)] = sc.cos;
    }
  }
  SweepInputs<Number> in;
  in.q = store.q.data();
  in.v = with_v ? store.v.data() : nullptr;
  const Sweep<Number> sweep{model, s, in};
  if (is_placed_early(model, a)) move_members(sweep, a, g);
  solve_closure<0>(sweep, a, g);
}

LoopVariation ClosureDuals::along(int loop_index, const double* q, const double* v,
                                  const double* motion, const Workspace& w) {
  const SweepModel& model = w.model();
  const Aggregate& a = model.aggregates[loop_index];
  Store& store = *store_;
  const int size = a.freedoms, independents = a.independents;
  const int* order = model.order + a.first_order;
  const int* freedom = model.freedom_of_column + a.first_order;
  LoopVariation loop;
  loop.size = size;
  loop.independents = independents;
  for (int d = 0; d < kDirections; ++d)
    set_position(w, loop_index, q, d, [&](int column) { return d == 0 ? motion[column] : 0.0; });
  evaluate(w, loop_index, false);
  for (int e = 0; e < size * independents; ++e)
    loop.map_by_q.push_back(store.map[index(e)].derivative[0]);
  for (int i = 0; i < size; ++i) {
    Number& x = store.v[index(freedom[i])];
    x = constant(v[freedom[i]]);
    for (int l = 0; l < independents; ++l)
      x.derivative[0] += loop.map_by_q[index(i * independents + l)] * v[freedom[order[a.rank + l]]];
  }
  evaluate(w, loop_index, true);
  for (int i = 0; i < size; ++i) loop.bias_by_q.push_back(store.bias[index(i)].derivative[0]);
  return loop;
}

void ClosureDuals::differentiate(const double* q, const double* v, const Workspace& w) {
  const SweepModel& model = w.model();
  Store& store = *store_;
  for (int loop_index = 0; loop_index < model.aggregate_count; ++loop_index) {
    const Aggregate& a = model.aggregates[loop_index];
    const AggregateScratch<double>& value = w.aggregate(loop_index);
    LoopVariation& loop = loops_[index(loop_index)];
    const int size = a.freedoms, independents = a.independents;
    const std::size_t entries = to_size(size * independents);
    loop.size = size;
    loop.independents = independents;
    loop.map_by_q.assign(entries * to_size(independents), 0.0);
    loop.bias_by_q.assign(entries, 0.0);
    loop.bias_by_v.assign(entries, 0.0);
    if (a.constant) continue;
    const int* order = model.order + a.first_order;
    const int* freedom = model.freedom_of_column + a.first_order;
    // Along column k of the map X, or nothing.
    const auto set = [&](int slot, int k) {
      set_position(w, loop_index, q, slot,
                   [&](int column) { return k >= 0 ? value.map[column * independents + k] : 0.0; });
    };
    for (int first = 0; first < independents; first += kDirections) {
      const int count = std::min(kDirections, independents - first);
      for (int d = 0; d < kDirections; ++d) set(d, d < count ? first + d : -1);
      evaluate(w, loop_index, false);
      for (int d = 0; d < count; ++d)
        for (std::size_t e = 0; e < entries; ++e)
          loop.map_by_q[to_size(first + d) * entries + e] = store.map[e].derivative[d];
    }
    if (v == nullptr) continue;
    // Directions: k along q with the change of v that follows, and after those k along v alone.
    for (int first = 0; first < 2 * independents; first += kDirections) {
      const int count = std::min(kDirections, 2 * independents - first);
      for (int d = 0; d < kDirections; ++d) {
        const int k = first + d;
        set(d, d < count && k < independents ? k : -1);
        for (int i = 0; i < size; ++i) {
          Number& x = store.v[index(freedom[i])];
          if (d == 0) x = constant(v[freedom[i]]);
          double change = 0.0;
          if (d < count && k < independents)
            for (int l = 0; l < independents; ++l)
              change += loop.map_by_q[to_size(k) * entries + to_size(i * independents + l)] *
                        v[freedom[order[a.rank + l]]];
          else if (d < count)
            change = value.map[i * independents + k - independents];
          x.derivative[d] = change;
        }
      }
      evaluate(w, loop_index, true);
      for (int d = 0; d < count; ++d)
        for (int i = 0; i < size; ++i) {
          const int k = first + d;
          std::vector<double>& to = k < independents ? loop.bias_by_q : loop.bias_by_v;
          to[index((k < independents ? k : k - independents) * size + i)] =
              store.bias[index(i)].derivative[d];
        }
    }
  }
}

}  // namespace catena
