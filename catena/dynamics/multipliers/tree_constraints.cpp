// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/multipliers/tree_constraints.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/cpu.h"
#include "catena/base/index.h"
#include "catena/dynamics/operators/influence.h"
#include "catena/model/flexible_body.h"

namespace catena {
namespace {

// Rows that are longer than this fraction of what the first nodes alone would make them are no
// rounding, however long the chain.
constexpr std::size_t kFirstNodes = 8;
constexpr double kClearly = 1e-8;

}  // namespace

const ConstraintKernels& constraint_kernels() {
  static const ConstraintKernels kKernels = [] {
    const std::string isa = instruction_set();
#ifdef CATENA_HAS_AVX2_KERNELS
    if (isa == "avx2" || isa == "avx512") return avx2_constraint_kernels();
#endif
    return portable_constraint_kernels();
  }();
  return kKernels;
}

TreeConstraints::TreeConstraints(const Mechanism& mechanism)
    : mechanism_(&mechanism), parents_(node_parents(mechanism)) {
  for (const FlexiblePlace& body : mechanism.flexible_bodies())
    if (body.constants->model == FlexibleModel::ruthless)
      throw NumericalError("flexible body '" + body.name +
                           "' has the ruthless model, which moves what hangs on it without "
                           "displacing it: constraints and contacts need 'model: consistent'");
  node_of_freedom_.resize(index(mechanism.freedoms()));
  for (std::size_t n = 0; n < mechanism.nodes().size(); ++n) {
    const Node& node = mechanism.nodes()[n];
    for (int k = 0; k < node.freedoms; ++k)
      node_of_freedom_[index(node.v_index + k)] = static_cast<int>(n);
  }
  innovation_ = change_ = Eigen::VectorXd::Zero(mechanism.freedoms());
  node_change_.assign(6 * mechanism.nodes().size(), 0.0);
  block_.resize(64);
}

TreeConstraints::Columns TreeConstraints::make_columns(int node_a, int node_b,
                                                       std::span<const int> freedoms,
                                                       int rows) const {
  Columns c;
  c.lanes = rows <= 4 ? 4 : 8;
  const auto add_path = [&](int node) {
    if (node < 0) return;
    const std::vector<int> path = path_to_ground(parents_, node);
    c.nodes.insert(c.nodes.end(), path.begin(), path.end());
  };
  add_path(node_a);
  add_path(node_b);
  for (const int f : freedoms) add_path(node_of_freedom_[index(f)]);
  std::sort(c.nodes.begin(), c.nodes.end(), std::greater<>());
  c.nodes.erase(std::unique(c.nodes.begin(), c.nodes.end()), c.nodes.end());
  const auto entry_of = [&](int node) {
    if (node < 0) return -1;
    return static_cast<int>(
        std::lower_bound(c.nodes.begin(), c.nodes.end(), node, std::greater<>()) - c.nodes.begin());
  };
  int slots = 0;
  for (const int n : c.nodes) {
    c.parent.push_back(entry_of(parents_[index(n)]));
    c.slot.push_back(slots);
    const Node& node = mechanism_->nodes()[index(n)];
    for (int k = 0; k < node.freedoms; ++k) c.freedom.push_back(node.v_index + k);
    slots += node.freedoms;
  }
  c.entry_a = entry_of(node_a);
  c.entry_b = entry_of(node_b);
  // The first to reach an entry starts its sum, unless a source is there already.
  std::vector<char> started(c.nodes.size(), 0);
  if (c.entry_a >= 0) started[index(c.entry_a)] = 1;
  if (c.entry_b >= 0) started[index(c.entry_b)] = 1;
  c.flags.assign(c.nodes.size(), 0);
  for (std::size_t e = 0; e < c.nodes.size(); ++e) {
    if (!started[e]) c.flags[e] |= kNothingYet;
    if (mechanism_->nodes()[index(c.nodes[e])].hinge == NodeHinge::attachment) {
      std::uint8_t& modes = c.flags[index(c.parent[e])];
      if ((modes & kFirstAtModes) == 0) c.flags[e] |= kFirstAtModes;
      modes |= kFirstAtModes;
    }
    if (c.parent[e] < 0 || started[index(c.parent[e])]) continue;
    c.flags[e] |= kStartsParent;
    started[index(c.parent[e])] = 1;
  }
  const std::size_t lanes = index(c.lanes);
  c.force.assign(c.nodes.size() * 6 * lanes, 0.0);
  c.found.assign(index(slots) * lanes, 0.0);
  for (const int f : freedoms) {
    const int node = node_of_freedom_[index(f)];
    c.source_slot.push_back(c.slot[index(entry_of(node))] + f -
                            mechanism_->nodes()[index(node)].v_index);
  }
  if (!freedoms.empty()) c.effort.assign(index(slots) * lanes, 0.0);
  return c;
}

ConstraintColumns TreeConstraints::Columns::table() {
  ConstraintColumns t;
  t.entries = static_cast<int>(nodes.size());
  t.lanes = lanes;
  t.node = nodes.data();
  t.parent = parent.data();
  t.slot = slot.data();
  t.flags = flags.data();
  t.force = force.data();
  t.effort = effort.empty() ? nullptr : effort.data();
  t.found = found.data();
  return t;
}

int TreeConstraints::add_between(int node_a, int node_b, int rows) {
  Constraint c;
  c.node_a = node_a;
  c.node_b = node_b;
  c.rows = rows;
  c.columns = make_columns(node_a, node_b, {}, rows);
  all_.push_back(std::move(c));
  stale_ = true;
  return count() - 1;
}

void TreeConstraints::move_between(int constraint, int node_a, int node_b) {
  Constraint& c = at(constraint);
  if (c.node_a == node_a && c.node_b == node_b) return;
  c.node_a = node_a;
  c.node_b = node_b;
  c.columns = make_columns(node_a, node_b, {}, c.rows);
  stale_ = stale_ || c.active;
}

int TreeConstraints::add_on_freedoms(std::vector<int> freedoms) {
  Constraint c;
  c.rows = 1;
  c.columns = make_columns(-1, -1, freedoms, 1);
  c.measure.coefficient.assign(freedoms.size(), 0.0);
  c.freedoms = std::move(freedoms);
  all_.push_back(std::move(c));
  stale_ = true;
  return count() - 1;
}

void TreeConstraints::push_otherwise(int constraint) {
  Constraint& c = at(constraint);
  c.own_push = true;
  c.push_freedoms.clear();
  c.push_columns = make_columns(c.node_a, c.node_b, {}, c.rows);
  stale_ = true;
}

void TreeConstraints::push_at_freedoms(int constraint, std::vector<int> freedoms) {
  Constraint& c = at(constraint);
  c.own_push = true;
  c.push_columns = make_columns(-1, -1, freedoms, c.rows);
  // The efforts are the multipliers themselves.
  c.push.coefficient.assign(index(c.rows) * freedoms.size(), 0.0);
  for (std::size_t i = 0; i < freedoms.size(); ++i)
    c.push.coefficient[i * freedoms.size() + i] = 1.0;
  c.push_freedoms = std::move(freedoms);
  stale_ = true;
}

void TreeConstraints::push_as_measured(int constraint) {
  at(constraint).own_push = false;
  stale_ = true;
}

void TreeConstraints::set_active(int constraint, bool active) {
  if (at(constraint).active == active) return;
  at(constraint).active = active;
  stale_ = true;
}

void TreeConstraints::leave_out(int constraint, int row, bool out) {
  bool& now = at(constraint).left_out[index(row)];
  if (now == out) return;
  now = out;
  stale_ = true;
}

void TreeConstraints::set_weight(int constraint, int row, double weight) {
  double& now = at(constraint).weight[index(row)];
  if (now == weight) return;
  now = weight;
  stale_ = stale_ || at(constraint).active;
}

std::vector<char> TreeConstraints::kept() const {
  std::vector<char> kept(index(rows_), 1);
  for (int r = 0; r < rows_; ++r)
    if (left_out(r)) kept[index(r)] = 0;
  if (ideal_ && rows_ > 0)
    for (const int r : solver_.dependent()) kept[index(r)] = 0;
  return kept;
}

TreeConstraints::Place TreeConstraints::place_of_row(int row) const {
  for (int i = 0; i < count(); ++i) {
    const Constraint& c = at(i);
    if (c.active && c.first_row <= row && row < c.first_row + c.rows) return {i, row - c.first_row};
  }
  return {};
}

void TreeConstraints::restructure() {
  ++generation_;
  stale_ = false;
  rows_ = 0;
  ideal_ = true;
  longest_ = 0;
  active_nodes_.clear();
  left_out_.clear();
  for (Constraint& c : all_) {
    if (!c.active) continue;
    c.first_row = rows_;
    rows_ += c.rows;
    for (int r = 0; r < c.rows; ++r) left_out_.push_back(c.left_out[index(r)] ? 1 : 0);
    ideal_ = ideal_ && !c.own_push;
    for (const Columns* columns : {&c.columns, &c.push_columns}) {
      if (columns == &c.push_columns && !c.own_push) continue;
      active_nodes_.insert(active_nodes_.end(), columns->nodes.begin(), columns->nodes.end());
      longest_ = std::max(longest_, static_cast<int>(columns->nodes.size()));
    }
  }
  weight_.resize(rows_);
  for (const Constraint& c : all_)
    for (int r = 0; c.active && r < c.rows; ++r) weight_[c.first_row + r] = c.weight[index(r)];
  weighted_ = rows_ > 0 && (weight_.array() != 1.0).any();
  std::sort(active_nodes_.begin(), active_nodes_.end());
  active_nodes_.erase(std::unique(active_nodes_.begin(), active_nodes_.end()), active_nodes_.end());
  moved_.clear();
  std::vector<char> moves(parents_.size(), 0);
  for (const int n : active_nodes_) moves[index(n)] = 1;
  for (std::size_t n = 0; n < parents_.size(); ++n) {
    if (parents_[n] >= 0 && moves[index(parents_[n])]) moves[n] = 1;
    if (moves[n]) moved_.push_back(static_cast<int>(n));
  }
  pairs_.clear();
  std::vector<int> active;
  for (int a = 0; a < count(); ++a)
    if (at(a).active) active.push_back(a);
  for (std::size_t first = 0; first < active.size(); ++first)
    for (std::size_t second = ideal_ ? first : 0; second < active.size(); ++second) {
      const int a = active[first], b = active[second];
      const Columns& ca = at(a).columns;
      const Columns& cb = pushing(at(b));
      Pair pair{a, b, {}, {}};
      for (std::size_t i = 0, j = 0; i < ca.nodes.size() && j < cb.nodes.size();) {
        if (ca.nodes[i] != cb.nodes[j]) {
          ++(ca.nodes[i] > cb.nodes[j] ? i : j);
          continue;
        }
        for (int k = 0; k < mechanism_->nodes()[index(ca.nodes[i])].freedoms; ++k) {
          pair.slots_a.push_back(ca.slot[i] + k);
          pair.slots_b.push_back(cb.slot[j] + k);
        }
        ++i;
        ++j;
      }
      if (!pair.slots_a.empty()) pairs_.push_back(std::move(pair));
    }
  matrix_.resize(rows_, rows_);
  size_.resize(rows_);
  if (ideal_) {
    solver_.resize(rows_);
  } else {
    row_scale_.resize(rows_);
    push_scale_.resize(rows_);
    scaled_.setIdentity(rows_, rows_);
    general_.compute(scaled_);
  }
  work_.resize(rows_);
  change_.setZero();
  innovation_.setZero();
  std::fill(node_change_.begin(), node_change_.end(), 0.0);
}

void TreeConstraints::place(Workspace& w) {
  if (stale_) restructure();
  NodeScratch<double>* nodes = w.scratch().nodes;
  for (const int n : active_nodes_) {
    const int parent = parents_[index(n)];
    nodes[n].pose = parent < 0 ? nodes[n].to_parent : nodes[parent].pose * nodes[n].to_parent;
  }
}

void TreeConstraints::carry(const Constraint& c, const Rows& rows, std::span<const int> freedoms,
                            Columns& columns, Workspace& w) {
  const int lanes = columns.lanes;
  // Two sides on one node cancel: exactly, for rounding would look like a row of its own.
  const double share = columns.entry_a == columns.entry_b ? 0.0 : 1.0;
  const auto put = [&](int entry, const std::array<Wrenchd, kMostRows>& on) {
    double* to = columns.force.data() + static_cast<std::ptrdiff_t>(entry) * 6 * lanes;
    for (int i = 0; i < 6; ++i)
      for (int r = 0; r < c.rows; ++r) to[i * lanes + r] = share * on[index(r)][i];
  };
  if (columns.entry_a >= 0) put(columns.entry_a, rows.on_a);
  if (columns.entry_b >= 0) put(columns.entry_b, rows.on_b);
  if (!freedoms.empty()) {
    for (std::size_t k = 0; k < freedoms.size(); ++k)
      for (int r = 0; r < c.rows; ++r)
        columns.effort[index(columns.source_slot[k] * lanes + r)] = 0.0;
    for (std::size_t k = 0; k < freedoms.size(); ++k)
      for (int r = 0; r < c.rows; ++r)
        columns.effort[index(columns.source_slot[k] * lanes + r)] +=
            rows.coefficient[index(r) * freedoms.size() + k];
  }
  Scratch<double> scratch = w.scratch();
  constraint_kernels().carry(w.model(), &scratch, columns.table());
}

void TreeConstraints::carry(Workspace& w) {
  if (stale_) restructure();
  for (Constraint& c : all_) {
    if (!c.active) continue;
    carry(c, c.measure, c.freedoms, c.columns, w);
    if (c.own_push) carry(c, c.push, c.push_freedoms, c.push_columns, w);
  }
}

TreeConstraints::Reach TreeConstraints::reach(int constraint) const {
  const Columns& c = at(constraint).columns;
  return {c.freedom, c.found.data(), c.lanes};
}

// A wrench (m, f) at node b does |m| |ω| + |f| (|ω| arm + |v|) at most at a freedom that moves with
// (ω, v); the hinge inertia D turns that into g. The first nodes tell if a row is clearly no
// rounding; only if it is not, all of them are asked.
void TreeConstraints::sizes(int constraint, const Workspace& w, std::span<double> rows) const {
  const Constraint& c = at(constraint);
  const bool fixed = c.node_a < 0 && c.node_b < 0;  // between things that never move
  if (!c.freedoms.empty() || fixed) {               // nothing cancels but what the coefficients say
    std::fill(rows.begin(), rows.end(), 0.0);
    return;
  }
  const bool at_b = c.node_b >= 0;
  const Vec3d own = w.node(at_b ? c.node_b : c.node_a).pose.translation;
  const auto& on = at_b ? c.measure.on_b : c.measure.on_a;
  double turning = 0.0, shifting = 0.0;
  std::size_t asked = 0;
  for (const std::size_t until :
       {std::min(kFirstNodes, c.columns.nodes.size()), c.columns.nodes.size()}) {
    for (; asked < until; ++asked) {
      const int n = c.columns.nodes[asked];
      const NodeScratch<double>& node = w.node(n);
      const double arm = squared_norm(node.pose.translation - own);
      const auto add = [&](double turns, double shifts, double inverse) {
        turning += turns * inverse;
        shifting += (turns * arm + shifts) * inverse;
      };
      const Node& kind = mechanism_->nodes()[index(n)];
      if (kind.flexible >= 0) {
        if (kind.hinge == NodeHinge::modes) continue;  // they move their attachments
        const int modes = mechanism_->nodes()[index(kind.parent)].freedoms;
        const double* factor = w.modes(kind.parent).factor;
        const Twistd* map = w.attachment(n).map;
        for (int k = 0; k < modes; ++k) {
          const double pivot = factor[k * (modes + 1)];
          add(squared_norm(map[k].angular), squared_norm(map[k].linear), 1.0 / (pivot * pivot));
        }
        continue;
      }
      if (!w.is_general(n)) {
        const bool turns = kind.hinge == NodeHinge::revolute;
        add(turns ? 1.0 : 0.0, turns ? 0.0 : 1.0, node.inverse_hinge_inertia);
        continue;
      }
      const GeneralScratch<double>& g = w.general(n);
      for (int k = 0; k < kind.freedoms; ++k)
        add(squared_norm(g.map[k].angular), squared_norm(g.map[k].linear),
            1.0 / (g.factor[k][k] * g.factor[k][k]));
    }
    bool clear = ideal_;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      rows[r] = squared_norm(on[r].moment) * turning + squared_norm(on[r].force) * shifting;
      const auto i = c.first_row + static_cast<Eigen::Index>(r);
      clear = clear && matrix_(i, i) > kClearly * rows[r];
    }
    if (clear) return;
  }
}

double TreeConstraints::smallest_sine() const {
  double least = 1.0;
  for (int k = 0; k < solver_.rank(); ++k) {
    const int row = solver_.independent()[index(k)];
    least = std::min(least, solver_.pivot(k) * matrix_(row, row) / size(row));
  }
  return std::sqrt(least);
}

void TreeConstraints::form(Workspace& w) {
  carry(w);
  matrix_.setZero();
  const auto& kernels = constraint_kernels();
  measured_.resize(all_.size());
  pushed_.resize(all_.size());
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!all_[i].active) continue;
    measured_[i] = all_[i].columns.table();
    pushed_[i] = pushing(all_[i]).table();
  }
  for (const Pair& pair : pairs_) {
    const Constraint& a = at(pair.a);
    const Constraint& b = at(pair.b);
    const int lanes = pushed_[index(pair.b)].lanes;
    std::fill_n(block_.begin(), measured_[index(pair.a)].lanes * lanes, 0.0);
    kernels.meet(measured_[index(pair.a)], pushed_[index(pair.b)],
                 static_cast<int>(pair.slots_a.size()), pair.slots_a.data(), pair.slots_b.data(),
                 block_.data());
    for (int i = 0; i < a.rows; ++i)
      for (int j = 0; j < b.rows; ++j) {
        const double x = block_[index(i * lanes + j)];
        matrix_(a.first_row + i, b.first_row + j) = x;
        if (ideal_) matrix_(b.first_row + j, a.first_row + i) = x;
      }
  }
}

template <class TwistOf>
void TreeConstraints::measure(TwistOf twist_of, const Eigen::VectorXd& freedoms, bool with_bias,
                              Eigen::VectorXd& out) const {
  if (out.size() != rows_) out.resize(rows_);
  for (const Constraint& c : all_) {
    if (!c.active) continue;
    if (c.freedoms.empty()) {
      const Twistd a = twist_of(c.node_a), b = twist_of(c.node_b);
      for (int r = 0; r < c.rows; ++r)
        out[c.first_row + r] = dot(c.measure.on_a[index(r)], a) + dot(c.measure.on_b[index(r)], b);
    } else {
      double sum = 0.0;
      for (std::size_t k = 0; k < c.freedoms.size(); ++k)
        sum += c.measure.coefficient[k] * freedoms[c.freedoms[k]];
      out[c.first_row] = sum;
    }
    if (with_bias)
      for (int r = 0; r < c.rows; ++r) out[c.first_row + r] += c.bias[index(r)];
  }
}

void TreeConstraints::velocities(const Workspace& w, const Eigen::VectorXd& v,
                                 Eigen::VectorXd& out) const {
  measure([&](int n) { return n < 0 ? Twistd::zero() : w.node(n).twist; }, v, false, out);
  for (const Constraint& c : all_)
    if (c.active)
      for (int r = 0; r < c.rows; ++r) out[c.first_row + r] -= c.target[index(r)];
}

// The ground is pushed up against gravity, as in the sweeps.
void TreeConstraints::accelerations(const Workspace& w, const Eigen::VectorXd& acceleration,
                                    Eigen::VectorXd& out) const {
  const double* g = w.model().gravity;
  const Twistd ground{Vec3d::zero(), {-g[0], -g[1], -g[2]}};
  measure([&](int n) { return n < 0 ? ground : w.node(n).acceleration; }, acceleration, true, out);
}

void TreeConstraints::push_velocities(const Workspace& w, const Eigen::VectorXd& v,
                                      Eigen::VectorXd& out) const {
  if (out.size() != rows_) out.resize(rows_);
  for (const Constraint& c : all_) {
    if (!c.active) continue;
    const Rows& rows = c.own_push ? c.push : c.measure;
    const std::vector<int>& freedoms = c.own_push ? c.push_freedoms : c.freedoms;
    const bool on_nodes = freedoms.empty();
    const Twistd a = on_nodes && c.node_a >= 0 ? w.node(c.node_a).twist : Twistd::zero();
    const Twistd b = on_nodes && c.node_b >= 0 ? w.node(c.node_b).twist : Twistd::zero();
    for (int r = 0; r < c.rows; ++r) {
      double sum = 0.0;
      if (on_nodes) sum = dot(rows.on_a[index(r)], a) + dot(rows.on_b[index(r)], b);
      for (std::size_t k = 0; k < freedoms.size(); ++k)
        sum += rows.coefficient[index(r) * freedoms.size() + k] * v[freedoms[k]];
      out[c.first_row + r] = sum;
    }
  }
}

void TreeConstraints::push(const Eigen::VectorXd& multipliers, Eigen::VectorXd& wrenches,
                           Eigen::VectorXd& efforts, bool as_measured) const {
  for (const Constraint& c : all_) {
    if (!c.active) continue;
    const bool own = c.own_push && !as_measured;
    const Rows& rows = own ? c.push : c.measure;
    const std::vector<int>& freedoms = own ? c.push_freedoms : c.freedoms;
    for (int r = 0; r < c.rows; ++r) {
      const double x = multipliers[c.first_row + r];
      for (std::size_t k = 0; k < freedoms.size(); ++k)
        efforts[freedoms[k]] += x * rows.coefficient[index(r) * freedoms.size() + k];
      if (!freedoms.empty()) continue;
      for (int i = 0; i < 6; ++i) {
        if (c.node_a >= 0) wrenches[6 * c.node_a + i] += x * rows.on_a[index(r)][i];
        if (c.node_b >= 0) wrenches[6 * c.node_b + i] += x * rows.on_b[index(r)][i];
      }
    }
  }
}

void TreeConstraints::changes(Eigen::VectorXd& out) const {
  measure([&](int n) { return n < 0 ? Twistd::zero() : node_change(n); }, change_, false, out);
}

void TreeConstraints::respond(Workspace& w, const Eigen::VectorXd& multipliers) {
  for (const int n : active_nodes_) {
    const Node& node = mechanism_->nodes()[index(n)];
    for (int k = 0; k < node.freedoms; ++k) innovation_[node.v_index + k] = 0.0;
  }
  for (Constraint& c : all_) {
    if (!c.active) continue;
    const Columns& columns = pushing(c);
    const double* found = columns.found.data();
    const double* lambda = multipliers.data() + c.first_row;
    for (const int f : columns.freedom) {
      double sum = 0.0;
      for (int r = 0; r < c.rows; ++r) sum += found[r] * lambda[r];
      innovation_[f] += sum;
      found += columns.lanes;
    }
  }
  Scratch<double> scratch = w.scratch();
  constraint_kernels().respond(w.model(), &scratch, static_cast<int>(moved_.size()), moved_.data(),
                               innovation_.data(), change_.data(), node_change_.data());
}

Twistd TreeConstraints::node_change(int node) const {
  const double* x = node_change_.data() + 6 * index(node);
  return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

void TreeConstraints::accelerate(Workspace& w, Eigen::VectorXd& acceleration) const {
  acceleration += change_;
  NodeScratch<double>* nodes = w.scratch().nodes;
  for (const int n : moved_) nodes[n].acceleration += node_change(n);
}

}  // namespace catena
