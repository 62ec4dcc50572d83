// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/topology.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "catena/base/index.h"
#include "catena/model/flexible_body.h"
#include "catena/model/union_find.h"

namespace catena {
namespace {

int size_of(const auto& container) { return static_cast<int>(container.size()); }

// An edge of the graph of groups: a hinge, or a rod (which joins bodies but carries none).
struct GraphEdge {
  int a = 0;
  int b = 0;
  int hinge = -1;
  int rod = -1;
};

// Blocks of an undirected multigraph by Tarjan's algorithm, iterative. Returns for each edge
// the number of its block, or −1 for an edge not reached from the root.
std::vector<int> biconnected_components(int vertices, const std::vector<GraphEdge>& edges,
                                        int root) {
  std::vector<std::vector<int>> incident(to_size(vertices));
  for (int e = 0; e < size_of(edges); ++e) {
    if (at(edges, e).a == at(edges, e).b) continue;
    at(incident, at(edges, e).a).push_back(e);
    at(incident, at(edges, e).b).push_back(e);
  }
  std::vector<int> block(edges.size(), -1);
  std::vector<int> found(to_size(vertices), -1);
  std::vector<int> low(to_size(vertices), 0);
  struct Visit {
    int vertex;
    int by_edge;
    std::size_t next;
  };
  std::vector<Visit> stack;
  std::vector<int> open_edges;
  int time = 0;
  int blocks = 0;
  at(found, root) = at(low, root) = time++;
  stack.push_back({root, -1, 0});
  while (!stack.empty()) {
    Visit& top = stack.back();
    const int u = top.vertex;
    if (top.next < at(incident, u).size()) {
      const int e = at(incident, u)[top.next++];
      if (e == top.by_edge) continue;
      const int w = at(edges, e).a == u ? at(edges, e).b : at(edges, e).a;
      if (at(found, w) < 0) {
        at(found, w) = at(low, w) = time++;
        open_edges.push_back(e);
        stack.push_back({w, e, 0});
      } else if (at(found, w) < at(found, u)) {
        open_edges.push_back(e);
        at(low, u) = std::min(at(low, u), at(found, w));
      }
      continue;
    }
    const int by = top.by_edge;
    stack.pop_back();
    if (stack.empty()) break;
    const int p = stack.back().vertex;
    at(low, p) = std::min(at(low, p), at(low, u));
    if (at(low, u) >= at(found, p)) {  // p separates the block that ends with edge `by`
      for (bool ended = false; !ended;) {
        const int e = open_edges.back();
        open_edges.pop_back();
        at(block, e) = blocks;
        ended = e == by;
      }
      ++blocks;
    }
  }
  return block;
}

class Analysis {
 public:
  explicit Analysis(const Description& description) : d_(description) {
    body_index_[kWorld] = -1;
    for (int i = 0; i < size_of(d_.bodies); ++i) body_index_[at(d_.bodies, i).name] = i;
    for (int i = 0; i < size_of(d_.hinges); ++i) hinge_index_[at(d_.hinges, i).name] = i;
  }

  Topology run() {
    make_groups();
    grow_tree();
    sort_groups();
    find_loops();
    return std::move(t_);
  }

 private:
  int group_of(const std::string& body) const {
    const int b = body_index_.at(body);
    return b < 0 ? t_.world_group : at(t_.group_of_body, b);
  }

  void make_groups() {
    const int n = size_of(d_.bodies);
    UnionFind joined(n + 1);  // element 0 is the world, body i is i + 1
    std::vector<int> rigid;   // those that must not be cut first
    for (int h = 0; h < size_of(d_.hinges); ++h)
      if (is_rigid(at(d_.hinges, h))) rigid.push_back(h);
    std::stable_partition(rigid.begin(), rigid.end(),
                          [&](int h) { return at(d_.hinges, h).cut == Cut::never; });
    for (const int h : rigid) {
      const Hinge& hinge = at(d_.hinges, h);
      const bool kept = hinge.cut != Cut::always && joined.join(body_index_.at(hinge.parent) + 1,
                                                                body_index_.at(hinge.child) + 1);
      (kept ? t_.weld_hinges : t_.cut_hinges).push_back(h);
    }
    std::vector<int> number(to_size(n) + 1, -1);
    at(number, joined.find(0)) = 0;
    t_.group_of_body.resize(d_.bodies.size());
    for (int i = 0; i < n; ++i) {
      int& group = at(number, joined.find(i + 1));
      if (group < 0) group = t_.group_count++;
      at(t_.group_of_body, i) = group;
    }
    t_.inboard.resize(to_size(t_.group_count));
    t_.parent_group.assign(to_size(t_.group_count), -1);
  }

  // Prim's algorithm from the ground. The key of an edge is its cost in the tree.
  void grow_tree() {
    using Key = std::tuple<int, int, bool, int, int>;  // cut wish, freedoms, reversed, depth, hinge
    struct Candidate {
      Key key;
      int from;
      int to;
      bool operator>(const Candidate& other) const { return key > other.key; }
    };
    std::vector<std::vector<int>> hinges_of(to_size(t_.group_count));
    for (int h = 0; h < size_of(d_.hinges); ++h) {
      const Hinge& hinge = at(d_.hinges, h);
      if (is_rigid(hinge)) continue;
      const int p = group_of(hinge.parent);
      const int c = group_of(hinge.child);
      if (hinge.cut == Cut::always || p == c) {
        t_.cut_hinges.push_back(h);
        continue;
      }
      at(hinges_of, p).push_back(h);
      at(hinges_of, c).push_back(h);
    }
    std::vector<char> coupled(d_.hinges.size(), 0);  // its coordinate is needed: never cut it
    for (const Coupling& coupling : d_.couplings)
      for (const Coupling::Term& term : coupling.terms)
        at(coupled, hinge_index_.at(term.hinge)) = 1;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> frontier;
    std::vector<int> depth(to_size(t_.group_count), -1);
    std::vector<char> used(d_.hinges.size(), 0);
    const auto reach = [&](int group, int at_depth) {
      at(depth, group) = at_depth;
      for (const int h : at(hinges_of, group)) {
        const Hinge& hinge = at(d_.hinges, h);
        const bool reversed = group_of(hinge.parent) != group;
        const int other = group_of(reversed ? hinge.parent : hinge.child);
        if (at(depth, other) >= 0) continue;
        // Hinges with a drive, spring or friction are preferably not cut.
        const int wish = hinge.cut == Cut::never || at(coupled, h) ? 0
                         : is_loaded(hinge)                        ? 1
                         : keeps_coordinates_when_cut(hinge)       ? 2
                                                                   : 3;
        frontier.push({{wish, freedoms_of(hinge), reversed, at_depth + 1, h}, group, other});
      }
    };
    reach(t_.world_group, 0);
    while (!frontier.empty()) {
      const Candidate next = frontier.top();
      frontier.pop();
      if (at(depth, next.to) >= 0) continue;
      const int h = std::get<4>(next.key);
      at(t_.inboard, next.to) = {h, std::get<2>(next.key)};
      at(t_.parent_group, next.to) = next.from;
      at(used, h) = 1;
      reach(next.to, at(depth, next.from) + 1);
    }
    for (int h = 0; h < size_of(d_.hinges); ++h) {
      const Hinge& hinge = at(d_.hinges, h);
      if (is_rigid(hinge) || at(used, h) || hinge.cut == Cut::always) continue;
      const int p = group_of(hinge.parent);
      const int c = group_of(hinge.child);
      if (p != c && at(depth, p) >= 0 && at(depth, c) >= 0) t_.cut_hinges.push_back(h);
    }
    std::sort(t_.cut_hinges.begin(), t_.cut_hinges.end());
    for (int i = 0; i < size_of(d_.bodies); ++i)
      if (at(depth, at(t_.group_of_body, i)) < 0) t_.unreachable.push_back(i);
  }

  // Parent first; among those that may come next, the one whose hinge was described first.
  void sort_groups() {
    std::vector<std::vector<int>> children(to_size(t_.group_count));
    for (int g = 0; g < t_.group_count; ++g)
      if (at(t_.inboard, g).hinge >= 0) at(children, at(t_.parent_group, g)).push_back(g);
    std::priority_queue<std::pair<int, int>, std::vector<std::pair<int, int>>, std::greater<>> next;
    const auto release = [&](int group) {
      for (const int child : at(children, group)) {
        const int hinge = at(t_.inboard, child).hinge;
        // Modes and attachments directly after the frame of their flexible body.
        next.emplace(is_internal(at(d_.hinges, hinge).type) ? -1 : hinge, child);
      }
    };
    release(t_.world_group);
    while (!next.empty()) {
      const int group = next.top().second;
      next.pop();
      t_.order.push_back(group);
      release(group);
    }
  }

  // The groups as a graph, and which of them belong to one loop.
  struct LoopGraph {
    std::vector<GraphEdge> edges;  // of the tree, cut hinges, rods
    std::vector<int> depth;        // by group
    UnionFind together;
    std::vector<char> in_loop;  // by group
  };

  bool is_tree_edge(const GraphEdge& edge) const {
    return edge.rod < 0 && at(t_.inboard, edge.b).hinge == edge.hinge;
  }

  void find_loops() {
    LoopGraph graph{{}, {}, UnionFind(t_.group_count), {}};
    graph.in_loop.assign(to_size(t_.group_count), 0);
    graph.depth.assign(to_size(t_.group_count), 0);
    for (const int g : t_.order) at(graph.depth, g) = at(graph.depth, at(t_.parent_group, g)) + 1;
    for (int g = 0; g < t_.group_count; ++g)
      if (at(t_.inboard, g).hinge >= 0)
        graph.edges.push_back({at(t_.parent_group, g), g, at(t_.inboard, g).hinge, -1});
    for (const int h : t_.cut_hinges)
      graph.edges.push_back(
          {group_of(at(d_.hinges, h).parent), group_of(at(d_.hinges, h).child), h, -1});
    for (int r = 0; r < size_of(d_.rods); ++r)
      graph.edges.push_back(
          {group_of(at(d_.rods, r).body_a), group_of(at(d_.rods, r).body_b), -1, r});
    join_blocks(graph);
    const std::vector<int> coupling_member = join_coupled(graph);
    join_modes(graph);
    store_loops(graph, coupling_member);
  }

  // The outer group of every tree edge of a block of two or more edges belongs to its loop.
  void join_blocks(LoopGraph& graph) const {
    const std::vector<int> block =
        biconnected_components(t_.group_count, graph.edges, t_.world_group);
    std::unordered_map<int, int> edges_in;
    for (const int b : block) ++edges_in[b];
    std::unordered_map<int, int> first_of_block;
    for (int e = 0; e < size_of(graph.edges); ++e) {
      const int b = at(block, e);
      if (b < 0 || edges_in[b] < 2 || !is_tree_edge(at(graph.edges, e))) continue;
      const int outer = at(graph.edges, e).b;
      at(graph.in_loop, outer) = 1;
      const auto [first, inserted] = first_of_block.emplace(b, outer);
      if (!inserted) graph.together.join(first->second, outer);
    }
  }

  // A coupling joins all groups on the tree paths between its hinges' outer groups and the nearest
  // common ancestor of their parents. Returns a group of each coupling's loop, −1: it has none.
  std::vector<int> join_coupled(LoopGraph& graph) const {
    std::vector<int> group_of_hinge(d_.hinges.size(), -1);
    for (const int g : t_.order) at(group_of_hinge, at(t_.inboard, g).hinge) = g;
    for (const GraphEdge& edge : graph.edges)  // a cut hinge belongs to the loop of its outer side
      if (edge.rod < 0 && at(group_of_hinge, edge.hinge) < 0)
        at(group_of_hinge, edge.hinge) = outer_of(graph, edge.a, edge.b);
    std::vector<int> coupling_member(d_.couplings.size(), -1);
    for (int c = 0; c < size_of(d_.couplings); ++c) {
      std::vector<int> ends;
      for (const Coupling::Term& term : at(d_.couplings, c).terms) {
        const int end = at(group_of_hinge, hinge_index_.at(term.hinge));
        // A hinge within the ground turns nothing, and has no path from it.
        if (end >= 0 && end != t_.world_group) ends.push_back(end);
      }
      if (ends.empty()) continue;
      int ancestor = at(t_.parent_group, ends.front());
      for (const int end : ends) {
        int other = at(t_.parent_group, end);
        while (ancestor != other) {
          int& outer = at(graph.depth, ancestor) >= at(graph.depth, other) ? ancestor : other;
          outer = at(t_.parent_group, outer);
        }
      }
      at(coupling_member, c) = ends.front();
      for (const int end : ends)
        for (int g = end; g != ancestor; g = at(t_.parent_group, g)) {
          at(graph.in_loop, g) = 1;
          graph.together.join(g, ends.front());
        }
    }
    return coupling_member;
  }

  // A loop that hangs on the modes of a flexible body moves by them: it takes them in.
  void join_modes(LoopGraph& graph) const {
    for (const int g : t_.order) {
      if (!at(graph.in_loop, g)) continue;
      if (at(d_.hinges, at(t_.inboard, g).hinge).type != HingeType::attachment) continue;
      const int modes = at(t_.parent_group, g);
      at(graph.in_loop, modes) = 1;
      graph.together.join(g, modes);
    }
  }

  static int outer_of(const LoopGraph& graph, int a, int b) {
    return at(graph.depth, a) >= at(graph.depth, b) ? a : b;
  }

  // Groups that were joined become the loops, each with its closures.
  void store_loops(LoopGraph& graph, const std::vector<int>& coupling_member) {
    std::unordered_map<int, int> loop_of_root;
    for (const int g : t_.order) {
      if (!at(graph.in_loop, g)) continue;
      const auto [entry, inserted] =
          loop_of_root.emplace(graph.together.find(g), size_of(t_.loops));
      if (inserted) {
        t_.loops.emplace_back();
        t_.loops.back().parent_group = at(t_.parent_group, g);  // parent first: nearest the ground
      }
      at(t_.loops, entry->second).groups.push_back(g);
    }
    const auto loop_at = [&](int group) -> Topology::Loop* {
      const auto found = loop_of_root.find(graph.together.find(group));
      return found == loop_of_root.end() ? nullptr : &at(t_.loops, found->second);
    };
    for (const GraphEdge& edge : graph.edges) {
      if (is_tree_edge(edge)) continue;
      Topology::Loop* loop = loop_at(outer_of(graph, edge.a, edge.b));
      if (loop == nullptr) {
        // Both ends in one rigid group: a closure that leaves no freedom to a loop of its own.
        t_.loops.emplace_back();
        loop = &t_.loops.back();
        loop->groups = {edge.a};
        loop->parent_group = std::max(0, at(t_.parent_group, edge.a));
      }
      if (edge.rod >= 0)
        loop->rods.push_back(edge.rod);
      else
        loop->cut_hinges.push_back(edge.hinge);
    }
    for (int c = 0; c < size_of(d_.couplings); ++c)
      if (at(coupling_member, c) >= 0) loop_at(at(coupling_member, c))->couplings.push_back(c);
  }

  const Description& d_;
  std::unordered_map<std::string, int> body_index_;
  std::unordered_map<std::string, int> hinge_index_;
  Topology t_;
};

}  // namespace

bool is_internal(HingeType type) {
  return type == HingeType::modes || type == HingeType::attachment;
}

bool is_rigid(const Hinge& hinge) {
  return hinge.type == HingeType::weld || !hinge.locked_at.empty();
}

bool is_loaded(const Hinge& hinge) {
  return hinge.drive.has_value() ||
         std::any_of(hinge.freedoms.begin(), hinge.freedoms.end(), [](const FreedomSettings& f) {
           return f.stiffness != 0.0 || f.damping != 0.0 || f.friction.active();
         });
}

bool keeps_coordinates_when_cut(const Hinge& hinge) {
  if (is_rigid(hinge)) return false;
  return hinge.keeps_coordinates || hinge.type == HingeType::custom || is_loaded(hinge) ||
         std::any_of(hinge.freedoms.begin(), hinge.freedoms.end(), [](const FreedomSettings& f) {
           return std::isfinite(f.lower) || std::isfinite(f.upper);
         });
}

int freedoms_of(const Hinge& hinge) {
  if (is_rigid(hinge)) return 0;
  if (hinge.type == HingeType::custom) return hinge.custom ? hinge.custom->freedoms() : 0;
  if (hinge.type == HingeType::modes) return hinge.flexible ? hinge.flexible->modes() : 0;
  return freedoms_of(hinge.type);
}

int coordinates_of(const Hinge& hinge) {
  if (is_rigid(hinge)) return 0;
  if (hinge.type == HingeType::custom || hinge.type == HingeType::modes) return freedoms_of(hinge);
  return coordinates_of(hinge.type);
}

Topology analyse_topology(const Description& description) { return Analysis(description).run(); }

}  // namespace catena
