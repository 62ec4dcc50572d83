// SPDX-License-Identifier: BSD-3-Clause
// Large mechanisms: no recursion, nothing quadratic.
#include <chrono>

#include "catena/model/configuration.h"
#include "catena/model/testing/test_support.h"
#include "catena/model/topology.h"

namespace catena {
namespace {

using namespace test;

// Generous, for sanitizers and busy machines: what is quadratic takes minutes.
constexpr double kLimit = 20.0;

class Stopwatch {
 public:
  explicit Stopwatch(const char* what) : what_(what) {}
  ~Stopwatch() {
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    testing::Test::RecordProperty(what_, std::to_string(seconds));
    EXPECT_LT(seconds, kLimit) << what_;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  const char* what_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string body(int i) { return i < 0 ? kWorld : "body" + std::to_string(i); }

MechanismBuilder tree(int bodies, bool chain) {
  MechanismBuilder b;
  for (int i = 0; i < bodies; ++i) b.add_body(body(i), ball());
  for (int i = 0; i < bodies; ++i)
    b.add_hinge("hinge" + std::to_string(i), body(chain ? i - 1 : -1), body(i),
                {.frame_on_parent = Transformd::from_translation({1.0, 0.0, 0.0})});
  return b;
}

TEST(Large, ChainAndStarOfTenThousandBodies) {
  for (const bool chain : {true, false}) {
    const MechanismBuilder b = tree(10'000, chain);
    const Stopwatch watch(chain ? "chain" : "star");
    const Mechanism m = b.finish();
    EXPECT_EQ(m.freedoms(), 10'000);
    EXPECT_EQ(m.nodes().back().parent, chain ? 9'998 : -1);
  }
}

// Parallel pins that turn to and fro, so that the chain stays stretched: seen from the ground its
// moments of inertia are 1e14 times those of a link, yet no pin lacks inertia.
TEST(Large, LongChainHasInertiaEverywhere) {
  MechanismBuilder b = tree(100'000, true);
  double sign = 1.0;
  for (Hinge& hinge : b.description().hinges) hinge.axes = {{0.0, 0.0, sign = -sign}};
  EXPECT_NO_THROW(b.finish());
}

TEST(Large, TopologyOfAHundredThousandBodies) {
  for (const bool chain : {true, false}) {
    const MechanismBuilder b = tree(100'000, chain);
    const Stopwatch watch(chain ? "topology of a chain" : "topology of a star");
    EXPECT_EQ(analyse_topology(b.description()).order.size(), 100'000u);
  }
}

TEST(Large, OneLoopOfTenThousandBodiesAndTenThousandGears) {
  MechanismBuilder b = tree(10'000, true);
  b.add_hinge("closing", body(9'999), kWorld);
  for (int i = 1; i < 10'000; ++i)
    b.add_gear("gear" + std::to_string(i), "hinge" + std::to_string(i - 1),
               "hinge" + std::to_string(i), 2.0);
  const Stopwatch watch("loop");
  const Mechanism m = b.finish();
  ASSERT_EQ(m.loops().size(), 1u);
  EXPECT_EQ(m.loops()[0].bodies.size(), 10'000u);
  EXPECT_EQ(m.loops()[0].constraints, 5 + 9'999);
}

TEST(Large, GearsFromTheFirstHingeToAllOthers) {
  MechanismBuilder b = tree(10'000, true);
  for (int i = 1; i < 10'000; ++i)
    b.add_gear("gear" + std::to_string(i), "hinge0", "hinge" + std::to_string(i), 2.0);
  const Stopwatch watch("gears");
  EXPECT_EQ(b.finish().loops().size(), 1u);
}

TEST(Large, TenThousandFourBars) {
  MechanismBuilder b;
  for (int i = 0; i < 10'000; ++i) {
    const std::string n = std::to_string(i);
    const std::string base = i == 0 ? kWorld : "b" + std::to_string(i - 1);
    b.add_body("a" + n, ball()).add_body("b" + n, ball()).add_body("c" + n, ball());
    b.add_hinge("1_" + n, base, "a" + n).add_hinge("2_" + n, "a" + n, "b" + n);
    b.add_hinge("3_" + n, base, "c" + n).add_hinge("4_" + n, "c" + n, "b" + n);
  }
  const Stopwatch watch("four-bars");
  EXPECT_EQ(b.finish().loops().size(), 10'000u);
}

TEST(Large, TenThousandMistakes) {
  const auto report = [](const char* what, const MechanismBuilder& b) {
    const Stopwatch watch(what);
    return problems_of(b).size();
  };
  MechanismBuilder unknown = tree(10'000, true);
  for (Hinge& hinge : unknown.description().hinges) hinge.parent = "bodi" + hinge.child;
  EXPECT_EQ(report("unknown parents", unknown), 10'000u);

  MechanismBuilder same = tree(10'000, true);
  for (Hinge& hinge : same.description().hinges) hinge.name = "hinge";
  EXPECT_EQ(report("equal names", same), 9'999u);

  MechanismBuilder loose = tree(10'000, false);
  loose.description().hinges.clear();
  EXPECT_EQ(report("no path", loose), 10'000u);

  MechanismBuilder massless = tree(10'000, true);
  for (Body& b : massless.description().bodies) static_cast<BodySettings&>(b) = {};
  EXPECT_EQ(report("no inertia", massless), 10'000u);
}

}  // namespace
}  // namespace catena
