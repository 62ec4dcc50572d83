// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm of the room on random trees of mixed hinges, against the reference.
#include "catena/base/index.h"
#include "catena/dynamics/testing/test_support.h"

namespace catena::test {
namespace {

// Asked for; about a thousand times what is reached.
constexpr double kTolerance = 1e-10;

// The wrench through every hinge.
void compare_forces(const Mechanism& mechanism, const Case& c, Errors& worst) {
  const reference::Engine<Exact> engine(mechanism);
  Workspace w(mechanism);
  inverse_dynamics(mechanism, c.state, c.acceleration, w, c.external);
  for (const HingePlace& hinge : mechanism.hinges()) {
    if (hinge.role != HingePlace::Role::tree) continue;
    const BodyPlace& body =
        mechanism.bodies()[index(hinge.reversed ? hinge.parent_body : hinge.child_body)];
    const auto expected =
        engine.wrench_through(hinge.name, body.name, plain<Exact>(c.state.q),
                              plain<Exact>(c.state.v), plain<Exact>(c.acceleration), c.external);
    const Wrenchd found = Ad_star(body.X_node_body, w.node(hinge.node).force);
    VectorXd actual(6);
    for (int i = 0; i < 6; ++i) actual[i] = found[i];
    worst.interbody.take(error(actual, reference::Vector<Exact>(expected.begin(), expected.end())));
  }
}

void compare_many(bool free_base) {
  Errors worst;
  Random random(free_base ? 1 : 9);
  for (int i = 0; i < 100; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + (i * 60) / 100;
    settings.free_base = free_base;
    settings.chain_share = random.number(0.0, 1.0);
    const Mechanism mechanism = random_tree(random, settings).finish();
    const Case c = random_case(random, mechanism, random.below(6));
    compare(mechanism, c, random_hybrid(random, c), worst);
    if (settings.bodies < 20) compare_forces(mechanism, c, worst);
  }
  expect_below(kTolerance, worst, free_base ? "free base" : "fixed base");
}

TEST(RandomTrees, OnTheGround) { compare_many(false); }
TEST(RandomTrees, OnAFreeBase) { compare_many(true); }

// Long paths to the ground, where the mass matrix goes another way.
TEST(RandomTrees, LongChains) {
  Errors worst;
  Random random(8);
  for (int i = 0; i < 20; ++i) {
    TreeSettings settings;
    settings.bodies = 15 + i;
    settings.chain_share = i % 2 == 0 ? 1.0 : 0.9;
    settings.reversed = false;
    if (i % 3 == 0) settings.types = {HingeType::revolute, HingeType::prismatic};
    MechanismBuilder builder = random_tree(random, settings);
    if (i % 4 != 0) add_drives(random, builder, Carrier::parent);
    const Mechanism mechanism = builder.finish();
    const Case c = random_case(random, mechanism, 2);
    compare(mechanism, c, random_hybrid(random, c), worst);
  }
  expect_below(kTolerance, worst, "chains");
}

// Branches that are one stretch of freedoms, where the mass matrix is made by rows.
TEST(RandomTrees, LimbAfterLimb) {
  Errors worst;
  Random random(10);
  for (int i = 0; i < 80; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + i / 2;
    settings.free_base = i % 2 == 1;
    settings.chain_share = random.number(0.4, 0.9);
    settings.limb_after_limb = true;
    settings.reversed = i % 4 < 2;
    if (i % 3 == 0) settings.types = {HingeType::revolute, HingeType::prismatic};
    MechanismBuilder builder = random_tree(random, settings);
    if (!settings.reversed) add_drives(random, builder, Carrier::parent);
    const Mechanism mechanism = builder.finish();
    Workspace w(mechanism);
    w.prepare_rows();
    EXPECT_GT(w.model().composite.stride, 0);
    const Case c = random_case(random, mechanism, 2);
    compare(mechanism, c, random_hybrid(random, c), worst);
    for (const double entry : mass_matrix(mechanism, c.state.q, w).reshaped())
      EXPECT_FALSE(entry == 0.0 && std::signbit(entry));  // no zero is shown as −0
  }
  expect_below(kTolerance, worst, "limb after limb");
}

TEST(RandomTrees, RotorsOnTheParent) {
  Errors worst;
  Random random(2);
  for (int i = 0; i < 60; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + i / 3;
    settings.free_base = i % 2 == 1;
    settings.reversed = false;  // the drive of a reversed hinge sits beyond it
    MechanismBuilder builder = random_tree(random, settings);
    add_drives(random, builder, Carrier::parent);
    const Mechanism mechanism = builder.finish();
    const Case c = random_case(random, mechanism, random.below(3));
    compare(mechanism, c, random_hybrid(random, c), worst);
  }
  expect_below(kTolerance, worst, "rotors");
}

TEST(RandomTrees, RotorsAnywhere) {
  Errors worst;
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + i / 3;
    settings.free_base = i % 2 == 1;
    MechanismBuilder builder = random_tree(random, settings);
    add_drives(random, builder);
    const Mechanism mechanism = builder.finish();
    const Case c = random_case(random, mechanism, random.below(3));
    compare(mechanism, c, random_hybrid(random, c), worst, false);
  }
  expect_below(kTolerance, worst, "carriers");
}

TEST(RandomTrees, PassiveElements) {
  Errors worst;
  Random random(4);
  for (int i = 0; i < 60; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + i / 4;
    settings.free_base = i % 2 == 1;
    MechanismBuilder builder = random_tree(random, settings);
    if (i % 3 == 0) add_drives(random, builder);
    add_passive_elements(random, builder);
    const Mechanism mechanism = builder.finish();
    const Case c = random_case(random, mechanism, random.below(3));
    compare(mechanism, c, random_hybrid(random, c), worst, false);
  }
  expect_below(kTolerance, worst, "passive");
}

// Every type alone on the ground, between two moving bodies, and both the other way round.
TEST(EveryHinge, AgreesWithTheReference) {
  for (const HingeType type : kMovingTypes) {
    SCOPED_TRACE(to_string(type));
    Errors worst;
    Random random(5);
    for (int i = 0; i < 24; ++i) {
      const bool reversed = i % 2 == 1;
      const bool inside = i % 4 > 1;
      MechanismBuilder builder("hinge");
      builder.set_gravity(6.0 * random.vector());
      for (int b = 0; b < 3; ++b) builder.add_body(body_name(b), random.body());
      HingeSettings hinge = random.hinge(type);
      if (type == HingeType::custom) hinge.custom = reference::helix();
      if (type == HingeType::universal || type == HingeType::gimbal) spread_axes(random, hinge);
      // b0 carries b1, which carries b2; alone: b1 and b2 are welded on.
      const HingeType outer_type = inside ? HingeType::revolute : HingeType::weld;
      const auto add = [&](const char* name, int parent, int child, const HingeSettings& h) {
        builder.add_hinge(name, body_name(reversed ? child : parent),
                          body_name(reversed ? parent : child), h);
      };
      add("root", -1, 0, inside ? random.hinge(HingeType::free) : hinge);
      add("middle", 0, 1, inside ? hinge : random.hinge(HingeType::weld));
      add("tip", 1, 2, random.hinge(outer_type));
      const Mechanism mechanism = builder.finish();
      EXPECT_EQ(mechanism.nodes().size(), inside ? 3u : 1u);
      const Case c = random_case(random, mechanism, 3);
      compare(mechanism, c, random_hybrid(random, c), worst);
      compare_forces(mechanism, c, worst);
    }
    expect_below(1e-12, worst, std::string(to_string(type)).c_str());
  }
}

// Angles of many turns are reduced without loss.
TEST(EveryHinge, ManyTurns) {
  Errors worst;
  Random random(7);
  for (const double turns : {1e2, 1e4, 0.99e5, 1.01e5, 1e6, 1e9}) {
    TreeSettings settings;
    settings.bodies = 9;
    settings.types = {HingeType::revolute, HingeType::universal};
    const Mechanism mechanism = random_tree(random, settings).finish();
    Case c = random_case(random, mechanism, 2);
    c.state.q *= turns;
    compare(mechanism, c, random_hybrid(random, c), worst);
  }
  expect_below(1e-12, worst, "many turns");
}

// A locked hinge is a weld at its coordinates.
TEST(EveryHinge, LockedAgreesWithTheReference) {
  Errors worst;
  Random random(6);
  for (const HingeType type : kMovingTypes) {
    TreeSettings settings;
    settings.bodies = 5;
    MechanismBuilder builder = random_tree(random, settings);
    HingeSettings& hinge = builder.hinge("h2");
    hinge = random.hinge(type);
    std::vector<double> q(to_size(type == HingeType::custom ? 2 : coordinates_of(type)));
    for (double& x : q) x = random.number();
    if (type == HingeType::custom) hinge.custom = reference::helix();
    if (type == HingeType::spherical || type == HingeType::free) normalize_quaternion(q.data());
    builder.lock("h2", q);
    const Mechanism mechanism = builder.finish();
    const Case c = random_case(random, mechanism, 3);
    compare(mechanism, c, random_hybrid(random, c), worst);
  }
  expect_below(kTolerance, worst, "locked");
}

}  // namespace
}  // namespace catena::test
