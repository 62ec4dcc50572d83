// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/topology.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "catena/base/index.h"
#include "catena/model/testing/test_support.h"

namespace catena {
namespace {

using namespace test;
using Names = std::set<std::string>;

// A graph by the names of its bodies; "world" is there already.
class Graph {
 public:
  Graph& joint(const std::string& parent, const std::string& child,
               HingeType type = HingeType::revolute, Cut cut = Cut::automatic) {
    for (const std::string& name : {parent, child})
      if (name != kWorld && bodies_.insert(name).second) builder_.add_body(name, ball());
    HingeSettings settings;
    settings.type = type;
    settings.cut = cut;
    builder_.add_hinge(parent + "-" + child + (hinges_.insert({parent, child}).second ? "" : "'"),
                       parent, child, settings);
    return *this;
  }
  Graph& rod(const std::string& a, const std::string& b) {
    Rod r;
    r.name = a + "=" + b;
    r.body_a = a;
    r.body_b = b;
    r.length = 1.0;
    builder_.add_rod(r);
    return *this;
  }
  Graph& gear(const std::string& name, const std::string& a, const std::string& b) {
    builder_.add_gear(name, a, b, 2.0);
    return *this;
  }
  MechanismBuilder& builder() { return builder_; }
  Topology topology() const { return analyse_topology(builder_.description()); }

  // Each aggregate as the names of its bodies and the bodies of the group it hangs on.
  std::map<Names, Names> aggregates() const {
    const Topology t = topology();
    const auto names_of = [&](const std::vector<int>& groups) {
      Names names;
      for (const int g : groups) {
        if (g == t.world_group) names.insert(kWorld);
        for (std::size_t b = 0; b < t.group_of_body.size(); ++b)
          if (t.group_of_body[b] == g) names.insert(builder_.description().bodies[b].name);
      }
      return names;
    };
    std::map<Names, Names> result;
    for (const Topology::Loop& loop : t.loops)
      result[names_of(loop.groups)] = names_of({loop.parent_group});
    return result;
  }
  Names cut() const {
    Names names;
    for (const int h : topology().cut_hinges)
      names.insert(builder_.description().hinges[index(h)].name);
    return names;
  }

 private:
  MechanismBuilder builder_;
  std::set<std::string> bodies_;
  std::set<std::pair<std::string, std::string>> hinges_;
};

using Aggregates = std::map<Names, Names>;

TEST(Order, IsParentFirstAndElseThatOfTheDescription) {
  Graph g;
  g.joint("c", "d").joint("world", "b").joint("b", "c").joint("world", "a").joint("a", "e");
  const Topology t = g.topology();
  std::vector<std::string> order;
  for (const int group : t.order)
    for (std::size_t b = 0; b < t.group_of_body.size(); ++b)
      if (t.group_of_body[b] == group) order.push_back(g.builder().description().bodies[b].name);
  // b's hinge comes before a's; c before a; d's hinge is the very first once c is there.
  EXPECT_EQ(order, (std::vector<std::string>{"b", "c", "d", "a", "e"}));
}

TEST(Order, AFileThatIsSortedKeepsItsOrder) {
  Random random;
  Graph g;
  std::vector<std::string> names = {"world"};
  for (int i = 0; i < 200; ++i) {
    names.push_back("b" + std::to_string(i));
    g.joint(names[index(random.below(i + 1))], names.back());
  }
  const Topology t = g.topology();
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(t.inboard[index(t.order[index(i)])].hinge, i);
  }
}

// Expected aggregates of the case collection (constraint embedding, V16).
TEST(Aggregates, TwoLinkArmWithGearedRotors) {
  Graph g;
  g.joint("world", "l1").joint("world", "r1").joint("l1", "l2").joint("l1", "r2");
  g.gear("g1", "world-r1", "world-l1").gear("g2", "l1-r2", "l1-l2");
  EXPECT_EQ(g.aggregates(), (Aggregates{{{"l1", "r1"}, {"world"}}, {{"l2", "r2"}, {"l1"}}}));
}

TEST(Aggregates, FourBarWhateverTheDirectionsOfItsJoints) {
  const std::vector<std::string> ring = {"world", "a", "b", "c", "world"};
  for (unsigned mask = 0; mask < 16; ++mask) {
    Graph g;
    for (std::size_t i = 0; i < 4; ++i)
      (mask >> i) & 1u ? g.joint(ring[i + 1], ring[i]) : g.joint(ring[i], ring[i + 1]);
    EXPECT_EQ(g.aggregates(), (Aggregates{{{"a", "b", "c"}, {"world"}}})) << mask;
    EXPECT_EQ(g.cut().size(), 1u);
    EXPECT_EQ(g.topology().loops[0].cut_hinges, g.topology().cut_hinges);
    const Mechanism m = g.builder().finish();
    EXPECT_EQ(m.freedoms(), 3);
    EXPECT_EQ(m.loops()[0].constraints, 5);
    EXPECT_EQ(m.loops()[0].bodies.size(), 3u);
  }
}

TEST(Aggregates, FourBarCarryingALink) {
  Graph g;
  g.joint("world", "a").joint("a", "b").joint("b", "c").joint("c", "world").joint("b", "3");
  EXPECT_EQ(g.aggregates(), (Aggregates{{{"a", "b", "c"}, {"world"}}}));
}

TEST(Aggregates, TreeWithTwoFourBarsInSeries) {
  Graph g;
  g.joint("world", "0").joint("0", "1").joint("1", "2").joint("0", "3").joint("2", "4");
  g.joint("3", "5").joint("4", "6").joint("6", "7").joint("4", "8").joint("7", "9");
  g.joint("2", "3").joint("7", "8");
  EXPECT_EQ(g.aggregates(), (Aggregates{{{"1", "2", "3"}, {"0"}}, {{"6", "7", "8"}, {"4"}}}));
}

TEST(Aggregates, DifferentialByTwoCouplingsOfThreeCoordinates) {
  Graph g;
  g.joint("world", "0").joint("0", "1").joint("0", "2").joint("0", "3").joint("3", "4");
  for (const double sign : {1.0, -1.0}) {
    Coupling c;
    c.name = sign > 0 ? "sum" : "difference";
    c.terms = {{sign > 0 ? "0-1" : "0-2", 0, 1.0}, {"0-3", 0, -10.0}, {"3-4", 0, -10.0 * sign}};
    g.builder().add_coupling(c);
  }
  EXPECT_EQ(g.aggregates(), (Aggregates{{{"1", "2", "3", "4"}, {"0"}}}));
  EXPECT_EQ(g.topology().loops[0].couplings, (std::vector<int>{0, 1}));
}

TEST(Aggregates, AndrewsSqueezingMechanism) {
  Graph g;
  g.joint("world", "K1").joint("K1", "K2").joint("world", "K3").joint("world", "K5");
  g.joint("K5", "K4").joint("world", "K7").joint("K7", "K6");
  g.joint("K2", "K3").joint("K3", "K4").joint("K3", "K6");
  EXPECT_EQ(g.aggregates(), (Aggregates{{{"K1", "K2", "K3", "K4", "K5", "K6", "K7"}, {"world"}}}));
  EXPECT_EQ(g.cut().size(), 3u);
}

TEST(Aggregates, ManyFourBarsInARow) {
  for (const int n : {1, 2, 7, 40}) {
    Graph g;
    Names all;
    for (int i = 0; i <= n; ++i) g.joint("world", "crank" + std::to_string(i));
    for (int i = 0; i < n; ++i) {
      const std::string coupler = "coupler" + std::to_string(i);
      g.joint("crank" + std::to_string(i), coupler);
      g.joint(coupler, "crank" + std::to_string(i + 1));
      all.insert(coupler);
    }
    for (int i = 0; i <= n; ++i) all.insert("crank" + std::to_string(i));
    EXPECT_EQ(g.aggregates(), (Aggregates{{all, {"world"}}}));
    EXPECT_EQ(g.cut().size(), to_size(n));
  }
}

TEST(Aggregates, TendonOverTheFirstAndThirdJointTakesTheSecondAlong) {
  Graph g;
  g.joint("world", "0").joint("0", "1").joint("1", "2").joint("2", "3");
  g.gear("tendon", "1-2", "world-0");
  EXPECT_EQ(g.aggregates(), (Aggregates{{{"0", "1", "2"}, {"world"}}}));
}

TEST(Aggregates, TwoFourBarsThatShareOnlyTheGround) {
  Graph g;
  g.joint("world", "a").joint("a", "b").joint("b", "c").joint("c", "world");
  g.joint("world", "d").joint("d", "e").joint("e", "f").joint("f", "world");
  EXPECT_EQ(g.aggregates(),
            (Aggregates{{{"a", "b", "c"}, {"world"}}, {{"d", "e", "f"}, {"world"}}}));
}

TEST(Aggregates, AFourBarOnTheCouplerOfAnother) {
  Graph g;
  g.joint("world", "a").joint("a", "b").joint("b", "c").joint("c", "world");
  g.joint("b", "d").joint("d", "e").joint("e", "f").joint("f", "b");
  EXPECT_EQ(g.aggregates(), (Aggregates{{{"a", "b", "c"}, {"world"}}, {{"d", "e", "f"}, {"b"}}}));
}

TEST(Aggregates, SixBar) {
  Graph g;
  g.joint("world", "a").joint("a", "b").joint("b", "c").joint("c", "world");
  g.joint("b", "d").joint("d", "e").joint("e", "world");
  EXPECT_EQ(g.aggregates(), (Aggregates{{{"a", "b", "c", "d", "e"}, {"world"}}}));
  EXPECT_EQ(g.cut().size(), 2u);
}

TEST(Aggregates, TwoJointsInParallel) {
  Graph g;
  g.joint("world", "a").joint("a", "b").joint("a", "b");
  EXPECT_EQ(g.aggregates(), (Aggregates{{{"b"}, {"a"}}}));
}

TEST(Aggregates, ARodClosesALoopAndCarriesNothing) {
  Graph g;
  g.joint("world", "a").joint("world", "b").joint("b", "c").rod("a", "c");
  EXPECT_EQ(g.aggregates(), (Aggregates{{{"a", "b", "c"}, {"world"}}}));
  const Topology t = g.topology();
  EXPECT_TRUE(t.cut_hinges.empty());
  EXPECT_EQ(t.loops[0].rods, (std::vector<int>{0}));
  EXPECT_EQ(g.builder().finish().loops()[0].constraints, 1);
  Graph hanging;
  hanging.joint("world", "a").joint("b", "c").rod("a", "b");
  EXPECT_EQ(hanging.topology().unreachable.size(), 2u);
}

TEST(Aggregates, GearBetweenTwoLoopsJoinsThem) {
  Graph g;
  g.joint("world", "a").joint("a", "b").joint("b", "c").joint("c", "world");
  g.joint("b", "d").joint("d", "e").joint("e", "f").joint("f", "b");
  g.gear("gear", "b-d", "world-a");
  EXPECT_EQ(g.aggregates(), (Aggregates{{{"a", "b", "c", "d", "e", "f"}, {"world"}}}));
}

TEST(Welds, MakeGroupsAndCloseLoops) {
  Graph g;  // a and b are one; the last weld of the ring closes it
  g.joint("world", "a").joint("a", "b", HingeType::weld).joint("b", "c", HingeType::weld);
  g.joint("c", "a", HingeType::weld);
  Topology t = g.topology();
  EXPECT_EQ(t.group_count, 2);
  EXPECT_EQ(t.weld_hinges, (std::vector<int>{1, 2}));
  EXPECT_EQ(t.cut_hinges, (std::vector<int>{3}));
  ASSERT_EQ(t.loops.size(), 1u);
  const Mechanism m = g.builder().finish();
  EXPECT_EQ(m.loops()[0].constraints, 6);

  Graph never;  // the one that must stay is kept, though it comes last
  never.joint("world", "a").joint("a", "b", HingeType::weld);
  never.joint("b", "a", HingeType::weld, Cut::never);
  EXPECT_EQ(never.cut(), Names{"a-b"});

  Graph four_bar;  // three pins and a weld that may be cut
  four_bar.joint("world", "a").joint("a", "b").joint("b", "c");
  four_bar.joint("c", "world", HingeType::weld, Cut::always);
  EXPECT_EQ(four_bar.cut(), Names{"c-world"});
  EXPECT_EQ(four_bar.aggregates(), (Aggregates{{{"a", "b", "c"}, {"world"}}}));
  EXPECT_EQ(four_bar.builder().finish().loops()[0].constraints, 6);
}

TEST(Welds, ToTheWorldAreGround) {
  Graph g;
  g.joint("world", "table", HingeType::weld).joint("table", "a").joint("a", "b");
  g.joint("b", "world");
  EXPECT_EQ(g.aggregates(), (Aggregates{{{"a", "b"}, {"table", "world"}}}));
}

TEST(Cuts, FollowTheWishes) {
  for (const std::string wish : {"world-a", "a-b", "b-c", "c-world"}) {
    Graph g;
    const auto cut = [&](const std::string& name) {
      return name == wish ? Cut::always : Cut::automatic;
    };
    g.joint("world", "a", HingeType::revolute, cut("world-a"));
    g.joint("a", "b", HingeType::revolute, cut("a-b"));
    g.joint("b", "c", HingeType::revolute, cut("b-c"));
    g.joint("c", "world", HingeType::revolute, cut("c-world"));
    EXPECT_EQ(g.cut(), Names{wish});
    EXPECT_EQ(g.aggregates(), (Aggregates{{{"a", "b", "c"}, {"world"}}}));

    Graph only;  // all others must stay
    const auto keep = [&](const std::string& name) {
      return name == wish ? Cut::automatic : Cut::never;
    };
    only.joint("world", "a", HingeType::revolute, keep("world-a"));
    only.joint("a", "b", HingeType::revolute, keep("a-b"));
    only.joint("b", "c", HingeType::revolute, keep("b-c"));
    only.joint("c", "world", HingeType::revolute, keep("c-world"));
    EXPECT_EQ(only.cut(), Names{wish});
  }
  Graph all;
  all.joint("world", "a", HingeType::revolute, Cut::never);
  all.joint("a", "b", HingeType::revolute, Cut::never);
  all.joint("b", "world", HingeType::revolute, Cut::never);
  EXPECT_TRUE(mentions(problems_of(all.builder()), {"must not be cut"}));
}

TEST(Cuts, PreferManyFreedomsAndSpareWhatIsCoupledOrLoaded) {
  Graph g;
  g.joint("world", "a").joint("a", "b", HingeType::spherical).joint("b", "c").joint("c", "world");
  EXPECT_EQ(g.cut(), Names{"a-b"});
  g.builder().hinge("a-b").freedoms.resize(1);
  g.builder().hinge("a-b").freedoms[0].damping = 1.0;
  EXPECT_NE(g.cut(), Names{"a-b"});

  for (const std::string gear : {"world-a", "a-b", "b-c", "c-world"}) {
    Graph coupled;
    coupled.joint("world", "a").joint("a", "b").joint("b", "c").joint("c", "world");
    coupled.joint("world", "motor").gear("gear", gear, "world-motor");
    EXPECT_FALSE(coupled.cut().contains(gear));
    EXPECT_EQ(coupled.aggregates(), (Aggregates{{{"a", "b", "c", "motor"}, {"world"}}}));
  }
}

TEST(Unreachable, IslandsAreNamed) {
  Graph g;
  g.joint("world", "a").joint("b", "c").joint("c", "b");
  const Topology t = g.topology();
  EXPECT_EQ(t.unreachable, (std::vector<int>{1, 2}));
}

// The definition: two edges belong together iff they lie on a common simple cycle.
std::vector<Names> blocks_by_definition(int vertices,
                                        const std::vector<std::pair<int, int>>& edges) {
  const std::size_t n = edges.size();
  std::vector<std::size_t> leader(n);
  std::iota(leader.begin(), leader.end(), 0);
  std::vector<char> on_cycle(n, 0);
  std::vector<std::size_t> path;
  std::vector<char> visited(to_size(vertices), 0);
  const std::function<void(int, int)> walk = [&](int start, int here) {
    for (std::size_t e = 0; e < n; ++e) {
      const auto [a, b] = edges[e];
      if (a != here && b != here) continue;
      if (!path.empty() && (e <= path.front() || path.back() == e)) continue;
      const int next = a == here ? b : a;
      if (next == start && !path.empty()) {
        for (const std::size_t f : path) {
          on_cycle[e] = on_cycle[f] = 1;
          const std::size_t from = leader[f], to = leader[e];
          std::replace(leader.begin(), leader.end(), from, to);
        }
      } else if (!visited[index(next)]) {
        visited[index(next)] = 1;
        path.push_back(e);
        walk(start, next);
        path.pop_back();
        visited[index(next)] = 0;
      }
    }
  };
  for (int start = 0; start < vertices; ++start) {
    visited[index(start)] = 1;
    walk(start, start);
    visited[index(start)] = 0;
  }
  std::map<std::size_t, Names> blocks;
  for (std::size_t e = 0; e < n; ++e)
    if (on_cycle[e])
      for (const int v : {edges[e].first, edges[e].second})
        blocks[leader[e]].insert(v == 0 ? kWorld : "b" + std::to_string(v));
  std::vector<Names> result;
  result.reserve(blocks.size());
  for (const auto& block : blocks) result.push_back(block.second);
  return result;
}

TEST(Aggregates, AreTheBlocksOfRandomGraphs) {
  Random random(11);
  int loops = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const int bodies = 2 + random.below(6);
    const int extra = random.below(4);
    std::vector<std::pair<int, int>> edges;
    for (int i = 1; i <= bodies; ++i) edges.emplace_back(random.below(i), i);
    for (int i = 0; i < extra; ++i) {
      const int a = random.below(bodies + 1), b = random.below(bodies + 1);
      if (a != b) edges.emplace_back(a, b);
    }
    std::shuffle(edges.begin(), edges.end(), random.generator());
    MechanismBuilder builder;
    for (int i = 1; i <= bodies; ++i) builder.add_body("b" + std::to_string(i), ball());
    const auto name = [](int i) { return i == 0 ? kWorld : "b" + std::to_string(i); };
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const bool turned = random.below(2) == 1;
      HingeSettings settings;
      if (random.below(3) == 0) settings.type = HingeType::spherical;
      builder.add_hinge("h" + std::to_string(e), name(turned ? edges[e].second : edges[e].first),
                        name(turned ? edges[e].first : edges[e].second), settings);
    }
    const Topology t = analyse_topology(builder.description());
    std::set<Names> found;
    for (const Topology::Loop& loop : t.loops) {
      Names names;  // with the group it hangs on: the whole block
      for (const int g : loop.groups) names.insert(name(g));
      names.insert(name(loop.parent_group));
      EXPECT_EQ(names.size(), loop.groups.size() + 1);
      found.insert(names);
    }
    const std::vector<Names> expected = blocks_by_definition(bodies + 1, edges);
    EXPECT_EQ(found, std::set<Names>(expected.begin(), expected.end())) << "trial " << trial;
    EXPECT_EQ(found.size(), t.loops.size());
    loops += static_cast<int>(t.loops.size());
    EXPECT_EQ(t.cut_hinges.size() + to_size(bodies), edges.size());
  }
  EXPECT_GT(loops, 300);
}

}  // namespace
}  // namespace catena
