// SPDX-License-Identifier: BSD-3-Clause
// Hinges without inertia are found, and no others.
#include <functional>

#include "catena/model/testing/arm_model.h"

namespace catena {
namespace {

using namespace test;

TEST(IdleHinges, MayStandAmongTheWarnings) {
  MechanismBuilder b = arm();
  b.add_body("leaf").add_hinge("idle", "lower", "leaf");
  const Mechanism m = b.finish({.idle_hinges = true});
  ASSERT_EQ(m.warnings().size(), 1u);
  EXPECT_EQ(m.warnings()[0].severity, Severity::error);
  EXPECT_TRUE(mentions(m.warnings(), {"'idle'", "'leaf'", "no inertia"}));
  EXPECT_THROW(b.finish(), ModelError);
  b.add_hinge("other", "nobody", "leaf");  // they excuse nothing else
  EXPECT_THROW(b.finish({.idle_hinges = true}), ModelError);
}

// --- hinges without inertia ---

BodySettings point(double mass, const Vec3d& at) { return {.mass = mass, .center_of_mass = at}; }

struct Case {
  const char* name;
  std::function<MechanismBuilder()> make;
  std::vector<std::string> without;  // the hinges that move nothing
};

MechanismBuilder one_body(const BodySettings& body, const HingeSettings& hinge) {
  MechanismBuilder b;
  b.add_body("body", body).add_hinge("hinge", kWorld, "body", hinge);
  return b;
}

const std::vector<Case>& inertia_cases() {
  static const Transformd kFar = Random(2).pose();
  static const std::vector<Case> kAll = {
      {"MasslessLeaf", [] { return one_body({}, {}); }, {"hinge"}},
      {"PointMassOnTheAxis",
       [] {
         return one_body(point(2.0, {0, 0, 3.0}), {});
       },
       {"hinge"}},
      {"PointMassBesideTheAxis",
       [] {
         return one_body(point(2.0, {1e-3, 0, 3.0}), {});
       },
       {}},
      {"PointMassOnATurnedAxis",
       [] {
         const Vec3d a{0.3, -0.7, 0.2};
         return one_body(point(2.0, kFar * (2.0 * a)), {.axes = {a}, .frame_on_child = kFar});
       },
       {"hinge"}},
      {"SlidingPointMass",
       [] {
         return one_body(point(2.0, {0, 0, 3.0}), {.type = HingeType::prismatic});
       },
       {}},
      {"FreePointMass",
       [] {
         return one_body(point(2.0, {0.1, 0.2, 0.3}), {.type = HingeType::free});
       },
       {"hinge"}},
      {"FreePointMassAtTheOrigin",
       [] {
         return one_body(point(2.0, kFar.translation),
                         {.type = HingeType::free, .frame_on_child = kFar});
       },
       {"hinge"}},
      {"TranslatingPointMass",
       [] {
         return one_body(point(2.0, {0.1, 0.2, 0.3}), {.type = HingeType::translation});
       },
       {}},
      {"SwingingPointMass",
       [] {
         return one_body(point(1.0, {0, 0, 1.0}), {.type = HingeType::universal});
       },
       {}},
      {"BallWithAPointMass",
       [] {
         return one_body(point(1.0, {0, 0, 1.0}), {.type = HingeType::spherical});
       },
       {"hinge"}},
      {"MasslessChainEnd",
       [] {
         MechanismBuilder b = arm();
         b.add_body("x").add_body("y").add_hinge("hx", "lower", "x").add_hinge("hy", "x", "y");
         return b;
       },
       {"hx", "hy"}},
      {"MasslessCross",  // a universal joint as two pins with a massless cross between them
       [] {
         MechanismBuilder b;
         b.add_body("cross").add_body("end", ball());
         b.add_hinge("h1", kWorld, "cross", {.axes = {{1, 0, 0}}});
         b.add_hinge("h2", "cross", "end", {.axes = {{0, 1, 0}}});
         return b;
       },
       {}},
      {"SameAxisTwice",  // the inner pin feels nothing: the outer one turns instead
       [] {
         MechanismBuilder b;
         b.add_body("ring").add_body("end", ball());
         b.add_hinge("h1", kWorld, "ring", {.axes = {{0.6, 0.8, 0}}});
         b.add_hinge("h2", "ring", "end", {.axes = {{-0.6, -0.8, 0}}});
         return b;
       },
       {"h1"}},
      {"PointMassUnderAHeavyParent",  // only the one hinge is to blame
       [] {
         MechanismBuilder b;
         b.add_body("carrier").add_body("bob", point(1.0, {0, 0, 0.5}));
         b.add_hinge("slide", kWorld, "carrier", {.type = HingeType::prismatic});
         b.add_hinge("spin", "carrier", "bob");
         return b;
       },
       {"spin"}},
      {"RotorInertiaCounts",
       [] {
         return one_body({}, {.drive = DriveSettings{.rotor_inertia = 1e-5, .gear_ratio = 10.0}});
       },
       {}},
      {"SmallRotorOfAHeavyBody",  // 1e-9 kg m² under a tonne
       [] {
         return one_body({.mass = 1000.0, .inertia = SymMat3d::diagonal(1e-9, 1e-9, 1e-9)}, {});
       },
       {}},
      {"TinyBody",  // a MEMS part: nanograms, micrometres
       [] {
         return one_body({.mass = 1e-12, .inertia = SymMat3d::diagonal(1e-24, 1e-24, 1e-24)},
                         {.type = HingeType::free});
       },
       {}},
      {"Welded", [] { return one_body({}, {.type = HingeType::weld}); }, {}},
      {"MasslessWeldedToMass",
       [] {
         MechanismBuilder b;
         b.add_body("flange").add_body("tool", ball()).add_hinge("h", kWorld, "flange");
         return std::move(b.add_hinge("bolt", "flange", "tool", {.type = HingeType::weld}));
       },
       {}},
      {"WeldRingStillNeedsInertia",
       [] {
         MechanismBuilder b;
         const HingeSettings weld{.type = HingeType::weld};
         b.add_body("a").add_body("b").add_hinge("h", kWorld, "a");
         return std::move(b.add_hinge("w1", "a", "b", weld).add_hinge("w2", "b", "a", weld));
       },
       {"h"}},
      {"LoopsAreNotJudged",
       [] {
         MechanismBuilder b;
         b.add_body("a", ball()).add_body("b").add_body("c", ball());
         b.add_hinge("h1", kWorld, "a").add_hinge("h2", "a", "b").add_hinge("h3", "b", "c");
         return std::move(b.add_hinge("h4", "c", kWorld));
       },
       {}},
  };
  return kAll;
}

class HingeInertia : public testing::TestWithParam<std::size_t> {};

TEST_P(HingeInertia, IsMissedWhereThereIsNone) {
  const Case& c = inertia_cases()[GetParam()];
  const auto problems = problems_of(c.make());
  for (const std::string& name : c.without)
    EXPECT_TRUE(mentions(problems, {"hinge '" + name + "'", "no inertia"}));
  EXPECT_EQ(problems.size(), c.without.size()) << text(problems);
}

INSTANTIATE_TEST_SUITE_P(Cases, HingeInertia,
                         testing::Range<std::size_t>(0, inertia_cases().size()),
                         [](const auto& param) { return inertia_cases()[param.param].name; });

}  // namespace
}  // namespace catena
