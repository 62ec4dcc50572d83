// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of inverse, forward and hybrid dynamics of random trees of all hinges against
// differences of the reference in long double.
#include "catena/base/index.h"
#include "catena/sensitivity/testing/test_support.h"

namespace catena::test {
namespace {

struct Tally {
  Worst inverse_q, inverse_v, inverse_a, forward_q, forward_v, forward_effort, hybrid;
};

// Required accuracy; the differences themselves are right to about 1e-14, and with passive
// elements (double precision, steps of 1e-3) to about 1e-12.
constexpr double kTolerance = 1e-9;

// `all`: forward and hybrid dynamics too, whose differences cost a hundred times as much.
void compare(const Mechanism& m, const Case& c, const HybridInput& hybrid, bool passive,
             Tally& worst, bool all = true) {
  const reference::Engine<Exact> engine(m);
  const Numbers q = plain<Exact>(c.state.q), v = plain<Exact>(c.state.v);
  const Numbers a = plain<Exact>(c.acceleration), effort = plain<Exact>(c.effort);
  const auto inverse = [&](const Numbers& x, const Numbers& y, const Numbers& z) {
    return needed_effort(engine, m, x, y, z, c.external, passive);
  };
  const auto forward = [&](const Numbers& x, const Numbers& y, const Numbers& tau) {
    Numbers rest = tau;
    const Numbers bias = inverse(x, y, Numbers(y.size(), 0.0L));
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= bias[i];
    return reference::solve(engine.mass_matrix(x), rest);
  };
  // Efforts and accelerations that hybrid dynamics finds, one after the other.
  const auto mixed = [&](const Numbers& x, const Numbers& y, const HybridInput& in) {
    Numbers acceleration, found;
    reference_hybrid(engine.mass_matrix(x), inverse(x, y, Numbers(y.size(), 0.0L)), in,
                     acceleration, found);
    acceleration.insert(acceleration.end(), found.begin(), found.end());
    return acceleration;
  };
  Columns inverse_q, inverse_v, inverse_a, forward_q, forward_v, forward_effort;
  Columns hybrid_q, hybrid_v, hybrid_input;
  for (int k = 0; k < m.freedoms(); ++k) {
    inverse_q.push_back(slope([&](Exact e) { return inverse(moved(m, q, k, e), v, a); }));
    inverse_v.push_back(slope([&](Exact e) { return inverse(q, shifted(v, k, e), a); }));
    inverse_a.push_back(slope([&](Exact e) { return inverse(q, v, shifted(a, k, e)); }));
    if (!all) continue;
    forward_q.push_back(slope([&](Exact e) { return forward(moved(m, q, k, e), v, effort); }));
    forward_v.push_back(slope([&](Exact e) { return forward(q, shifted(v, k, e), effort); }));
    forward_effort.push_back(slope([&](Exact e) { return forward(q, v, shifted(effort, k, e)); }));
    hybrid_q.push_back(slope([&](Exact e) { return mixed(moved(m, q, k, e), v, hybrid); }));
    hybrid_v.push_back(slope([&](Exact e) { return mixed(q, shifted(v, k, e), hybrid); }));
    // Linear in the input: two values will do.
    HybridInput in = hybrid;
    const Numbers before = mixed(q, v, in);
    (hybrid.motion_driven[index(k)] != 0 ? in.acceleration : in.effort)[k] += 1.0;
    Numbers after = mixed(q, v, in);
    for (std::size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
    hybrid_input.push_back(after);
  }
  SensitivityWorkspace w(m);
  const InverseDerivatives& i =
      inverse_dynamics_derivatives(m, c.state, c.acceleration, w, c.external);
  worst.inverse_q.take(error(i.dq, inverse_q));
  worst.inverse_v.take(error(i.dv, inverse_v));
  worst.inverse_a.take(error(i.da, inverse_a));
  if (!all) return;
  const ForwardDerivatives& f = forward_dynamics_derivatives(m, c.state, c.effort, w, c.external);
  worst.forward_q.take(error(f.dq, forward_q));
  worst.forward_v.take(error(f.dv, forward_v));
  worst.forward_effort.take(error(f.deffort, forward_effort));
  const HybridDerivatives& h = hybrid_dynamics_derivatives(m, c.state, hybrid, w, c.external);
  const auto both = [](const MatrixXd& x, const MatrixXd& y) {
    MatrixXd stacked(x.rows() + y.rows(), x.cols());
    stacked << x, y;
    return stacked;
  };
  worst.hybrid.take(error(both(h.acceleration_dq, h.effort_dq), hybrid_q));
  worst.hybrid.take(error(both(h.acceleration_dv, h.effort_dv), hybrid_v));
  worst.hybrid.take(error(both(h.acceleration_dinput, h.effort_dinput), hybrid_input));
}

void expect_small(const Tally& t, const char* what) {
  printf("    %-12s inverse %.1e %.1e %.1e  forward %.1e %.1e %.1e  hybrid %.1e\n", what,
         t.inverse_q.value, t.inverse_v.value, t.inverse_a.value, t.forward_q.value,
         t.forward_v.value, t.forward_effort.value, t.hybrid.value);
  EXPECT_LT(t.inverse_q.value, kTolerance);
  EXPECT_LT(t.inverse_v.value, kTolerance);
  EXPECT_LT(t.inverse_a.value, kTolerance);
  EXPECT_LT(t.forward_q.value, kTolerance);
  EXPECT_LT(t.forward_v.value, kTolerance);
  EXPECT_LT(t.forward_effort.value, kTolerance);
  EXPECT_LT(t.hybrid.value, kTolerance);
}

void compare_trees(int count, int most_bodies, unsigned seed, bool passive, bool drives,
                   const char* what) {
  Tally worst;
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + i * most_bodies / count;
    settings.free_base = i % 3 == 1;
    settings.chain_share = random.number(0.0, 1.0);
    MechanismBuilder builder = random_tree(random, settings);
    if (drives) add_drives(random, builder, i % 2 == 0 ? Carrier::parent : Carrier::anywhere);
    if (passive) add_passive_elements(random, builder);
    const Mechanism m = builder.finish();
    const Case c = random_case(random, m, random.below(4));
    compare(m, c, random_hybrid(random, c), passive, worst, i % 6 == 0);
  }
  expect_small(worst, what);
}

TEST(TreeDerivatives, OfAllHinges) { compare_trees(60, 5, 11, false, false, "all hinges"); }
TEST(TreeDerivatives, WithRotors) { compare_trees(20, 5, 12, false, true, "rotors"); }
TEST(TreeDerivatives, WithPassiveElements) { compare_trees(20, 4, 13, true, false, "passive"); }
TEST(TreeDerivatives, WithEverything) { compare_trees(10, 5, 14, true, true, "everything"); }

// Where M⁻¹ comes from the factors of forward dynamics: M times the results gives those of inverse
// dynamics, in units of the terms of that sum.
TEST(TreeDerivatives, OfLongTrees) {
  Worst worst;
  Random random(15);
  for (int i = 0; i < 16; ++i) {
    TreeSettings settings;
    settings.bodies = 16 + 2 * i;
    settings.free_base = i % 3 == 1;
    settings.chain_share = i % 2 == 0 ? 1.0 : 0.6;
    settings.limb_after_limb = i % 4 != 3;
    MechanismBuilder builder = random_tree(random, settings);
    if (i % 4 == 1) add_drives(random, builder, Carrier::parent);
    if (i % 4 == 2) add_passive_elements(random, builder);
    const Mechanism m = builder.finish();
    const Case c = random_case(random, m, 0);
    const ForwardDerivatives found = forward_dynamics_derivatives(m, c.state, c.effort);
    const InverseDerivatives given = inverse_dynamics_derivatives(m, c.state, found.acceleration);
    const auto residual = [&](const MatrixXd& x, const MatrixXd& y) {
      const MatrixXd terms = given.da.cwiseAbs() * x.cwiseAbs();
      worst.take((given.da * x - y).cwiseAbs().maxCoeff() / terms.maxCoeff());
    };
    residual(found.dq, -given.dq);
    residual(found.dv, -given.dv);
    residual(found.deffort, MatrixXd::Identity(m.freedoms(), m.freedoms()));
  }
  printf("    long trees   %.1e\n", worst.value);
  EXPECT_LT(worst.value, 1e-11);
}

// Every type between two moving bodies, either way round.
TEST(TreeDerivatives, OfEachHinge) {
  for (const HingeType type : kMovingTypes) {
    SCOPED_TRACE(to_string(type));
    Tally worst;
    Random random(15);
    for (int i = 0; i < 2; ++i) {
      MechanismBuilder builder("hinge");
      builder.set_gravity(6.0 * random.vector());
      for (int b = 0; b < 3; ++b) builder.add_body(body_name(b), random.body());
      HingeSettings hinge = random.hinge(type);
      if (type == HingeType::custom) hinge.custom = reference::helix();
      if (type == HingeType::universal || type == HingeType::gimbal) spread_axes(random, hinge);
      builder.add_hinge("root", kWorld, "b0", random.hinge(HingeType::revolute));
      builder.add_hinge("middle", i % 2 == 0 ? "b0" : "b1", i % 2 == 0 ? "b1" : "b0", hinge);
      builder.add_hinge("tip", "b1", "b2", random.hinge(HingeType::revolute));
      const Mechanism m = builder.finish();
      const Case c = random_case(random, m, 3);
      compare(m, c, random_hybrid(random, c), false, worst);
    }
    expect_small(worst, std::string(to_string(type)).c_str());
  }
}

}  // namespace
}  // namespace catena::test
