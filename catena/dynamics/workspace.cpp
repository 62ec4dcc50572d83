// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/workspace.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "catena/base/index.h"
#include "catena/dynamics/kernels/axis_motion.h"
#include "catena/dynamics/kernels/composite_table.h"
#include "catena/dynamics/multipliers/multiplier_dynamics.h"

namespace catena {

// The arrays of one aggregate's scratch.
struct Workspace::AggregateStore {
  std::vector<MemberMotion<double>> members;
  std::vector<Twistd> twists;
  std::vector<Wrenchd> wrenches;
  std::vector<ArticulatedInertiad> inertias;
  std::vector<double> numbers;
  std::vector<int> integers;

  AggregateStore(const Aggregate& a, int most_terms) {
    const auto n = to_size(a.freedoms);
    const auto m = to_size(a.member_count);
    const auto t = to_size(most_terms);
    members.resize(m);
    twists.resize(m + to_size(a.twists));
    wrenches.resize(m + 3 * n);
    inertias.resize(m);
    numbers.resize(4 * n + n * (n + 1) + 3 * n * n + std::max(n, t * (2 + t)));
    integers.resize(3 * n);
  }

  AggregateScratch<double> scratch(const Aggregate& a) {
    const auto n = to_size(a.freedoms);
    AggregateScratch<double> g;
    g.members = members.data();
    g.acceleration = twists.data();
    g.columns = g.acceleration + a.member_count;
    g.force = wrenches.data();
    g.momentum = g.force + a.member_count;
    g.gain = g.momentum + n;
    g.reduced = g.gain + n;
    g.composite = inertias.data();
    g.place_of_column = integers.data();
    g.free = g.place_of_column + n;
    g.exchange = g.free + n;
    g.bias = numbers.data();
    g.needed = g.bias + n;
    g.innovation = g.needed + n;
    g.scale = g.innovation + n;
    g.rows = g.scale + n;
    g.map = g.rows + n * (n + 1);
    g.mass = g.map + n * n;
    g.factor = g.mass + n * n;
    g.work = g.factor + n * n;
    return g;
  }
};

namespace {

// Inward, the last child of a node is the first to reach it. An aggregate reaches its base with its
// first member; its members do not reach each other.
std::vector<std::uint8_t> order_flags(const Mechanism& mechanism, const AggregateTables& tables) {
  const std::size_t count = mechanism.nodes().size();
  std::vector<std::uint8_t> result(count, kLeaf);
  for (std::size_t n = count; n-- > 0;) {
    const int own = tables.aggregate_of_node.empty() ? -1 : tables.aggregate_of_node[n];
    if (own >= 0) {
      const Aggregate& a = tables.aggregates[index(own)];
      const int first = tables.members[index(a.first_member)].node;
      if (first != static_cast<int>(n)) continue;
    }
    const int parent = mechanism.nodes()[n].parent;
    if (parent < 0) continue;
    std::uint8_t& flags = result[index(parent)];
    if (flags & kLeaf) {
      result[n] |= kFirstAtParent;
      flags = static_cast<std::uint8_t>(flags & ~kLeaf);
    }
  }
  return result;
}

// How the sweeps treat each hinge.
std::vector<NodeKind> hinge_kinds(const Mechanism& mechanism, const std::vector<int>& general) {
  std::vector<NodeKind> kinds;
  kinds.reserve(general.size());
  for (std::size_t n = 0; n < general.size(); ++n) {
    const NodeHinge hinge = mechanism.nodes()[n].hinge;
    const bool has_rotor = general[n] >= 0;
    if (hinge == NodeHinge::revolute)
      kinds.push_back(has_rotor ? NodeKind::revolute_rotor : NodeKind::revolute);
    else if (hinge == NodeHinge::prismatic)
      kinds.push_back(has_rotor ? NodeKind::prismatic_rotor : NodeKind::prismatic);
    else if (hinge == NodeHinge::modes)
      kinds.push_back(NodeKind::modes);
    else if (hinge == NodeHinge::attachment)
      kinds.push_back(NodeKind::attachment);
    else
      kinds.push_back(NodeKind::general);
  }
  return kinds;
}

std::span<const AggregateMember> members_of(const AggregateTables& tables, const Aggregate& a) {
  return {tables.members.data() + a.first_member, to_size(a.member_count)};
}

// Whether the members of a loop are plain hinges on its base which linear couplings alone connect:
// gears, mimics.
bool is_only_coupled(const AggregateTables& tables, const Aggregate& a,
                     const std::vector<int>& general) {
  const std::span<const AggregateMember> members = members_of(tables, a);
  return a.constant && std::all_of(members.begin(), members.end(), [&](const AggregateMember& m) {
           return m.tip && m.parent < 0 && general[index(m.node)] < 0;
         });
}

// How the sweeps treat each node: as its hinge, or as a member of its loop.
std::vector<NodeKind> node_kinds(const AggregateTables& tables, const std::vector<NodeKind>& hinges,
                                 const std::vector<int>& general, bool any_rotor) {
  std::vector<NodeKind> kinds = hinges;
  for (const Aggregate& a : tables.aggregates) {
    const std::span<const AggregateMember> members = members_of(tables, a);
    if (members.empty()) continue;
    for (const AggregateMember& m : members) kinds[index(m.node)] = NodeKind::member;
    const bool is_gear_pair =
        members.size() == 2 && !any_rotor && is_only_coupled(tables, a, general);
    kinds[index(members.front().node)] = is_gear_pair ? NodeKind::gear_pair : NodeKind::loop;
  }
  return kinds;
}

bool is_deep(const Mechanism& mechanism) {
  std::vector<int> depth(mechanism.nodes().size(), 1);
  for (std::size_t n = 0; n < depth.size(); ++n) {
    const int parent = mechanism.nodes()[n].parent;
    if (parent >= 0) depth[n] = depth[index(parent)] + 1;
    if (depth[n] > kDeepPath) return true;
  }
  return false;
}

// A stretch may end before node n if no node from n on has a parent before n.
std::vector<int> stretch_ends(const Mechanism& mechanism) {
  const int count = static_cast<int>(mechanism.nodes().size());
  std::vector<int> ends;
  if (mechanism.loops().empty()) {
    int innermost = count;  // parent of the nodes from n on
    for (int n = count; n-- > 1;) {
      const int parent = mechanism.nodes()[index(n)].parent;
      if (parent >= 0) innermost = std::min(innermost, parent);
      if (innermost >= n) ends.push_back(n);
    }
    std::reverse(ends.begin(), ends.end());
    int start = 0;
    std::erase_if(ends, [&](int end) {
      if (end - start < kShortStretch) return true;
      start = end;
      return false;
    });
  }
  ends.push_back(count);
  return ends;
}

// The products z and those with η̇ are read by the step that makes them: all flexible bodies use the
// place of the largest, which stays in the cache.
void share_completions(std::span<const FlexibleTable* const> tables, FlexibleStore<double>& store) {
  std::size_t largest = tables.size();
  const auto size_of = [&](std::size_t i) {
    return tables[i]->modes * FlexibleStore<double>::completion_blocks(*tables[i]);
  };
  for (std::size_t i = 0; i < tables.size(); ++i)
    if (tables[i]->completion != nullptr &&
        (largest == tables.size() || size_of(i) > size_of(largest)))
      largest = i;
  for (std::size_t i = 0; i < tables.size(); ++i)
    if (tables[i]->completion != nullptr)
      store.bodies()[i].completed = store.bodies()[largest].completed;
}
void share_products(const Mechanism& mechanism, FlexibleStore<double>& store) {
  const auto tables = mechanism.flexible_tables();
  if (tables.empty()) return;
  const auto largest =
      static_cast<int>(std::max_element(tables.begin(), tables.end(),
                                        [](const FlexibleTable* a, const FlexibleTable* b) {
                                          return a->modes < b->modes;
                                        }) -
                       tables.begin());
  double* const shape = store.body(largest).shape;
  double* const rates = store.body(largest).rates;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    store.bodies()[i].shape = shape;
    store.bodies()[i].rates = rates;
  }
  share_completions(tables, store);
  for (std::size_t i = 0; i < mechanism.attachment_tables().size(); ++i) {
    store.attachments()[i].shape = shape;
    store.attachments()[i].rates = rates;
  }
}

}  // namespace

Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

Workspace::Workspace(const Mechanism& mechanism) : mechanism_(&mechanism) {
  const std::size_t count = mechanism.nodes().size();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Eigen::Index freedoms = mechanism.freedoms();
  position = Eigen::VectorXd::Constant(mechanism.coordinates(), nan);
  acceleration = Eigen::VectorXd::Constant(freedoms, nan);
  effort = Eigen::VectorXd::Constant(freedoms, nan);
  total_effort = Eigen::VectorXd::Constant(freedoms, nan);
  vector = Eigen::VectorXd::Constant(freedoms, nan);
  external = Eigen::VectorXd::Zero(6 * static_cast<Eigen::Index>(count));
  nodes_.resize(count);
  composite_.resize(count);
  for (const Node& node : mechanism.nodes()) {
    own_.push_back(ArticulatedInertiad::from(load_inertia<double>(node)));
    has_quaternion = has_quaternion || node.coordinates != node.freedoms;
  }
  sine_.resize(to_size(mechanism.coordinates()));
  cosine_.resize(sine_.size());
  has_passive_elements_ =
      !mechanism.springs().empty() ||
      std::any_of(mechanism.freedom_settings().begin(), mechanism.freedom_settings().end(),
                  [](const FreedomSettings& f) {
                    return f.damping != 0.0 || f.stiffness != 0.0 || f.friction.active();
                  });
  tables_ = catena::aggregate_tables(mechanism);
  flexible_ = {mechanism.flexible_tables(), mechanism.attachment_tables()};
  share_products(mechanism, flexible_);
  place_rotors();
  choose_kinds();
  stretch_ends_ = stretch_ends(mechanism);
  store_loops();
  fill_models();
}

// What the rotors of drives add to their hinges; those on distant carriers are set aside.
void Workspace::place_rotors() {
  const Mechanism& mechanism = *mechanism_;
  rotors_.resize(mechanism.nodes().size());
  for (const DrivePlace& drive : mechanism.drives()) {
    if (drive.rotor_inertia == 0.0) continue;
    const int n = mechanism.hinges()[index(drive.hinge)].node;
    const Node& node = mechanism.nodes()[index(n)];
    RotorTerm& rotor = rotors_[index(n)];
    has_rotors_ = true;
    rotor.reflected += drive.gear_ratio * drive.gear_ratio * drive.rotor_inertia;
    if (drive.armature_only || drive.carrier_node < 0) continue;
    if (drive.carrier_node == node.parent) {
      for (int i = 0; i < 3; ++i)
        rotor.coupling[i] += drive.gear_ratio * drive.rotor_inertia * drive.rotor_axis[i];
    } else {
      remote_drives_.push_back(drive);
    }
  }
}

// How the sweeps treat each node, and in which order its children and loops reach it.
void Workspace::choose_kinds() {
  const Mechanism& mechanism = *mechanism_;
  const std::size_t count = mechanism.nodes().size();
  general_index_.assign(count, -1);
  int general_count = 0;
  for (std::size_t n = 0; n < count; ++n)
    if (mechanism.nodes()[n].flexible < 0 &&
        (!is_about_or_along_z(mechanism.nodes()[n]) || rotors_[n].reflected != 0.0))
      general_index_[n] = general_count++;
  general_.resize(to_size(general_count));
  hinge_kinds_ = hinge_kinds(mechanism, general_index_);
  kinds_ = node_kinds(tables_, hinge_kinds_, general_index_, has_rotors_);
  order_flags_ = order_flags(mechanism, tables_);
  tree_flags_ = order_flags(mechanism, {});
  for (const Aggregate& a : tables_.aggregates) {
    if (is_only_coupled(tables_, a, general_index_)) continue;
    for (const AggregateMember& m : members_of(tables_, a))
      order_flags_[index(m.node)] |= kPlacedEarly;
  }
}

void Workspace::store_loops() {
  int most_terms = 0;
  for (const Closure& c : tables_.closures) most_terms = std::max(most_terms, c.term_count);
  stores_.reserve(tables_.aggregates.size());
  for (const Aggregate& a : tables_.aggregates) {
    stores_.emplace_back(a, most_terms);
    aggregates_.push_back(stores_.back().scratch(a));
  }
  const auto freedoms = to_size(mechanism_->freedoms());
  all_accelerations_.resize(freedoms);
  independent_.resize(freedoms);
  std::iota(independent_.begin(), independent_.end(), 0);
}

// The tables of the sweeps, with the loops and without.
void Workspace::fill_models() {
  const Mechanism& mechanism = *mechanism_;
  model_.nodes = mechanism.nodes().data();
  model_.node_count = static_cast<int>(mechanism.nodes().size());
  model_.screws = mechanism.screws().data();
  model_.customs = mechanism.customs().data();
  model_.rotors = has_rotors_ ? rotors_.data() : nullptr;
  model_.hinge_kinds = hinge_kinds_.data();
  model_.general_index = general_index_.data();
  model_.flexible = mechanism.flexible_tables().data();
  model_.attachments = mechanism.attachment_tables().data();
  model_.stretch_ends = stretch_ends_.data();
  model_.stretch_count = static_cast<int>(stretch_ends_.size());
  model_.coordinates = mechanism.coordinates();
  model_.is_deep = is_deep(mechanism);
  for (int i = 0; i < 3; ++i) model_.gravity[i] = mechanism.gravity()[i];
  model_.freedoms = mechanism.freedoms();
  tree_model_ = model_;
  tree_model_.kinds = hinge_kinds_.data();
  tree_model_.order_flags = tree_flags_.data();
  model_.kinds = kinds_.data();
  model_.order_flags = order_flags_.data();
  model_.aggregate_count = static_cast<int>(tables_.aggregates.size());
  model_.aggregates = tables_.aggregates.data();
  model_.members = tables_.members.data();
  model_.closures = tables_.closures.data();
  model_.paths = tables_.paths.data();
  model_.terms = tables_.terms.data();
  model_.order = tables_.order.data();
  model_.chart_rows = tables_.chart_rows.data();
  model_.constant_map = tables_.map.data();
  model_.freedom_of_column = tables_.freedom_of_column.data();
  model_.aggregate_of_node = tables_.aggregate_of_node.data();
}

void Workspace::prepare_rows() {
  // A rotor on a distant carrier needs the composite bodies of composite_sweep.h.
  if (composite_store_ || !remote_drives_.empty()) return;
  composite_store_ = std::make_unique<CompositeStore>(*mechanism_);
  model_.composite = composite_store_->table();
  rows_ = composite_store_->scratch();
}

MultiplierDynamics& Workspace::multiplier_dynamics() {
  if (!multiplier_dynamics_)
    multiplier_dynamics_ = std::make_unique<MultiplierDynamics>(*mechanism_);
  return *multiplier_dynamics_;
}

void Workspace::set_chart(Chart chart, bool pinned) {
  chart_ = std::move(chart);
  chart_pinned_ = pinned;
  store_chart(chart_, tables_);
  independent_ = chart_.independent(mechanism_->freedoms());
}

void Workspace::reduce(Eigen::VectorXd& x) const {
  for (std::size_t i = 0; i < aggregates_.size(); ++i) {
    const Aggregate& a = tables_.aggregates[i];
    const int* order = model_.order + a.first_order;
    const int* freedom = model_.freedom_of_column + a.first_order;
    for (int k = 0; k < a.independents; ++k) {
      double& sum = x[freedom[order[a.rank + k]]];
      for (int d = 0; d < a.rank; ++d)
        sum += aggregates_[i].map[order[d] * a.independents + k] * x[freedom[order[d]]];
    }
    for (int d = 0; d < a.rank; ++d) x[freedom[order[d]]] = 0.0;
  }
}

void Workspace::expand(Eigen::VectorXd& x) const {
  for (std::size_t i = 0; i < aggregates_.size(); ++i) {
    const Aggregate& a = tables_.aggregates[i];
    const int* order = model_.order + a.first_order;
    const int* freedom = model_.freedom_of_column + a.first_order;
    for (int d = 0; d < a.rank; ++d) {
      double sum = 0.0;
      for (int k = 0; k < a.independents; ++k)
        sum += aggregates_[i].map[order[d] * a.independents + k] * x[freedom[order[a.rank + k]]];
      x[freedom[order[d]]] = sum;
    }
  }
}

}  // namespace catena
