// SPDX-License-Identifier: BSD-3-Clause
// Derivatives by parameters against differences of the reference with other parameters (trees), the
// numbers of the reference solutions for [Sohl & Bobrow 2001] (case T1), and mechanisms rebuilt
// (loops); the regressor against inverse dynamics.
#include "catena/sensitivity/parameters.h"

#include "catena/base/index.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/sensitivity/products.h"
#include "catena/sensitivity/testing/test_support.h"

namespace catena::test {
namespace {

double off(const VectorXd& found, const VectorXd& expected) {
  return (found - expected).lpNorm<Eigen::Infinity>() /
         std::max(1.0, expected.lpNorm<Eigen::Infinity>());
}

// Every name of random trees with everything on them, against differences of order eight of the
// reference in double precision on mechanisms made with other values.
TEST(Parameters, ShortNamesPutTheKindInFront) {
  MechanismBuilder b("p");
  b.add_body("boom", {.mass = 2.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)});
  b.add_hinge("root.a", "world", "boom", {.axes = {{0.0, 0.0, 1.0}}});
  const Mechanism m = b.finish();
  EXPECT_EQ(ParameterSet::full_name(m, "mass.boom"), "body.boom.mass");
  EXPECT_EQ(ParameterSet::full_name(m, "inertia.xx.boom"), "body.boom.inertia.xx");
  EXPECT_EQ(ParameterSet::full_name(m, "damping.root.a"), "hinge.root.a.damping");
  EXPECT_EQ(ParameterSet::full_name(m, "body.boom.mass"), "body.boom.mass");
  EXPECT_EQ(ParameterSet::full_name(m, "gravity.x"), "gravity.x");
  EXPECT_EQ(ParameterSet::full_name(m, "mass.bom"), "body.bom.mass");  // for the nearest name
  EXPECT_EQ(ParameterSet::full_name(m, "nothing"), "nothing");
  const ParameterSet set(m, {"body.boom.mass"});
  const Eigen::VectorXd negative = Eigen::VectorXd::Constant(1, -1.0);
  EXPECT_EQ(set.changed(negative).bodies.at(0).mass, -1.0);
  EXPECT_THROW(static_cast<void>(set.with(negative)), ModelError);
}

TEST(Parameters, OfTreesAgreeWithTheReference) {
  Random random(51);
  Worst worst;
  int compared = 0;
  for (int i = 0; i < 8; ++i) {
    TreeSettings settings;
    settings.bodies = 3;
    settings.free_base = i % 3 == 1;
    MechanismBuilder builder = random_tree(random, settings);
    add_drives(random, builder, i % 2 == 0 ? Carrier::parent : Carrier::anywhere);
    add_passive_elements(random, builder);
    const Mechanism m = builder.finish();
    const Case c = random_case(random, m, 2);
    std::vector<std::string> names = ParameterSet::all_names(m);
    // A constant close to zero cannot be made less, which differences do.
    std::erase_if(names, [&](const std::string& name) {
      if (random.below(3) != 0) return true;
      for (const char* word :
           {".damping", ".stiffness", ".friction", ".rotor_inertia", ".rest_length"})
        if (name.find(word) != std::string::npos) return ParameterSet(m, {name}).values()[0] < 0.03;
      return false;
    });
    const ParameterSet set(m, names);
    SensitivityWorkspace w(m);
    const MatrixXd found = set.effort_derivatives(c.state, c.acceleration, w, c.external);
    const MatrixXd moved = set.acceleration_derivatives(c.state, c.effort, w, c.external);
    const VectorXd values = set.values();
    for (int k = 0; k < set.size(); ++k) {
      const auto at = [&](Exact e) {
        VectorXd x = values;
        x[k] += static_cast<double>(e);
        const Mechanism other = set.with(x);
        const reference::Engine<Exact> engine(other);
        return needed_effort(engine, other, plain<Exact>(c.state.q), plain<Exact>(c.state.v),
                             plain<Exact>(c.acceleration), c.external, true);
      };
      const Numbers expected = slope(at, 2e-3L);
      VectorXd wanted(m.freedoms());
      for (int j = 0; j < m.freedoms(); ++j) wanted[j] = static_cast<double>(expected[index(j)]);
      const double e = off(found.col(k), wanted);
      EXPECT_LT(e, 1e-9) << names[index(k)];
      worst.take(e);
      ++compared;
    }
    // M ∂v̇/∂p = −∂τ/∂p at the accelerations that the efforts give.
    const VectorXd acceleration = forward_dynamics(m, c.state, c.effort, c.external);
    const MatrixXd there = set.effort_derivatives(c.state, acceleration, w, c.external);
    EXPECT_LT((mass_matrix(m, c.state.q) * moved + there).norm(), 1e-9 * (1.0 + there.norm()));
  }
  printf("    %d parameters, %.1e\n", compared, worst.value);
}

// The sweep of add_adjoint() against the columns, which come from other code (probes for the
// geometry), on trees with springs, rotors anywhere and hinges written against the tree.
TEST(Parameters, OfAnAdjointAreTheColumnsTimesTheMultiplier) {
  Random random(57);
  Worst worst;
  int compared = 0;
  for (int i = 0; i < 12; ++i) {
    TreeSettings settings;
    settings.bodies = 5;
    settings.free_base = i % 3 == 1;
    MechanismBuilder builder = random_tree(random, settings);
    add_drives(random, builder, i % 2 == 0 ? Carrier::parent : Carrier::anywhere);
    add_passive_elements(random, builder);
    const Mechanism m = builder.finish();
    const Case c = random_case(random, m, 0);
    const ParameterSet set(m, ParameterSet::all_names(m));
    SensitivityWorkspace w(m);
    const MatrixXd columns = set.effort_derivatives(c.state, c.acceleration, w);
    DynamicsProducts products(m);
    products.evaluate_inverse(c.state, c.acceleration);
    const VectorXd x = random_vector(m.freedoms(), 90 + static_cast<std::uint64_t>(i));
    VectorXd sums = VectorXd::Zero(set.adjoint_size());
    set.add_adjoint(c.state, x, products.workspace(), sums);
    const VectorXd found = set.gradient_of(sums);
    const VectorXd expected = columns.transpose() * x;
    for (int k = 0; k < set.size(); ++k) {
      const double e = std::abs(found[k] - expected[k]) / (1.0 + columns.col(k).norm());
      EXPECT_LT(e, 1e-11) << set.names()[index(k)] << ": " << found[k] << " against "
                          << expected[k];
      worst.take(e);
      ++compared;
    }
  }
  printf("    %d parameters, %.1e\n", compared, worst.value);
}

// The tree of case T1; the other rows of its table are in verification/five_bodies_parameters.
TEST(Parameters, AShiftedAxisAndAForceAsPrinted) {
  MechanismBuilder b("five_bodies");
  b.set_gravity({0, 0, -9.81});
  const auto add = [&](const char* name, const char* parent, double mass, const Vec3d& center,
                       const SymMat3d& inertia, const HingeSettings& hinge) {
    b.add_body(name, {.mass = mass, .center_of_mass = center, .inertia = inertia});
    b.add_hinge(std::string("h") + (name + 1), parent, name, hinge);
  };
  const auto on = [](const Rotationd& r, const Vec3d& p) { return Transformd{r, p}; };
  const Vec3d x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
  add("b1", "world", 2.0, {0.1, 0.05, 0.2}, {0.05, 0.005, -0.002, 0.06, 0.003, 0.04},
      {.axes = {z}, .frame_on_parent = catena::shift(0, 0, 0.5)});
  add("b2", "b1", 1.0, {0.2, 0, 0.1}, {0.02, 0, 0.001, 0.03, 0, 0.025},
      {.type = HingeType::prismatic,
       .axes = {x},
       .frame_on_parent = on(Rotationd::about_x(0.3), {0.4, 0.1, 0.2})});
  add("b3", "b1", 1.5, {0, 0.25, 0.05}, {0.04, 0.002, 0, 0.02, 0.001, 0.035},
      {.axes = {x}, .frame_on_parent = catena::shift(-0.3, 0.2, 0.1)});
  add("b4", "b3", 0.8, {0.15, 0.1, 0}, {0.01, 0, 0, 0.012, 0.001, 0.011},
      {.axes = {y}, .frame_on_parent = on(Rotationd::about_z(0.5), {0.5, 0, 0})});
  add("b5", "b3", 0.6, {0.05, 0, 0.2}, {0.008, 0.0005, 0, 0.009, 0, 0.007},
      {.type = HingeType::screw,
       .axes = {z},
       .pitch = 0.1,
       .frame_on_parent = on(Rotationd::about_y(-0.4), {0, 0.3, 0.4})});
  const Mechanism m = b.finish();
  const State s{vector({0.3, -0.2, 0.7, -0.5, 1.1}), vector({0.9, 0.4, -0.6, 1.3, -0.8})};
  const ExternalWrench wrench{.body = m.body_index("b4"),
                              .wrench = {{0.3, -0.2, 0.5}, {1, 2, -1.5}},
                              .axes = ExternalWrench::Axes::body};
  const HybridInput input{
      {0, 1, 1, 0, 0}, vector({0.4, 0, 0, -0.3, 0.2}), vector({0, 0.5, -1.2, 0, 0})};
  const auto found_of = [&](const MatrixXd& acceleration, const MatrixXd& effort) {
    VectorXd found = acceleration.rowwise().sum();
    for (const int i : {1, 2}) found[i] = effort.row(i).sum();
    return found;
  };
  SensitivityWorkspace w(m);
  // S = (w, p × w) with w along y: v_x = 1 is p_z = −1, and the axis moves in both bodies.
  const HybridParameterDerivatives d =
      ParameterSet(m, {"hinge.h4.position.z", "hinge.h4.child_position.z"})
          .hybrid_derivatives(s, input, w, {&wrench, 1});
  EXPECT_LT(off(-found_of(d.acceleration, d.effort),
                vector({1.819023546410, -0.128146533205, 1.824493238583, -116.112524776534,
                        -1.643510850914})),
            1e-11);
  const VectorXd needed = external_wrench_derivatives(m, s.q, wrench, w).effort.col(5);
  MatrixXd acceleration, effort;
  solve_hybrid(w.inverse.da, needed, w.dynamics().independent(), input.motion_driven, acceleration,
               effort);
  EXPECT_LT(
      off(found_of(acceleration, effort), vector({-0.077987776299, 0.005494081253, -0.019406746884,
                                                  0.045547480983, 0.070462945265})),
      1e-11);
}

// Every parameter of a closed mechanism, forward, inverse and hybrid, against mechanisms rebuilt
// and closed again. Differences in double precision with steps of 1e-3 to order four: h⁴, and 1e-13
// / h.
void expect_parameters(const Mechanism& m, const State& s, const VectorXd& effort,
                       const std::vector<std::string>& names) {
  const ParameterSet set(m, names);
  SensitivityWorkspace w(m);
  const MatrixXd found = set.acceleration_derivatives(s, effort, w);
  const std::vector<int> own = w.dynamics().independent();
  std::vector<std::uint8_t> fixed(to_size(m.freedoms()), 0);
  for (const int i : own) fixed[index(i)] = 1;
  const VectorXd acceleration = forward_dynamics(m, s, effort, w.dynamics());
  const MatrixXd needed = set.effort_derivatives(s, acceleration, w);
  HybridInput hybrid{std::vector<std::uint8_t>(fixed.size(), 0), effort, acceleration};
  hybrid.motion_driven[index(own[0])] = 1;
  const HybridParameterDerivatives mixed = set.hybrid_derivatives(s, hybrid, w);
  const VectorXd values = set.values();
  const auto size = static_cast<Eigen::Index>(own.size());
  for (int k = 0; k < set.size(); ++k) {
    const auto at = [&](double e) {
      VectorXd x = values;
      x[k] += e;
      const Mechanism other = set.with(x);
      const State there = assemble(other, s, {.fixed = fixed, .keep_limits = false});
      Workspace d(other);
      d.set_chart(choose_chart(other, there.q, {.pinned = fixed}), true);
      HybridResult r;
      hybrid_dynamics(other, there, hybrid, d, r);
      VectorXd all(4 * size);
      all << forward_dynamics(other, there, effort, d)(own),
          inverse_dynamics(other, there, acceleration, d)(own), r.acceleration(own), r.effort(own);
      return all;
    };
    const double h = 1e-3;
    const VectorXd expected = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
    VectorXd all(4 * size);
    all << found.col(k), needed.col(k), mixed.acceleration.col(k), mixed.effort.col(k);
    EXPECT_LT(off(all, expected), 1e-8) << set.names()[index(k)] << "\n"
                                        << all.transpose() << "\n"
                                        << expected.transpose();
  }
}

TEST(Parameters, OfALoopAgreeWithMechanismsMadeAnew) {
  const Mechanism m = four_bar(HingeType::revolute, true);
  std::vector<std::string> names{"body.coupler.mass", "body.rocker.com.x", "gravity.y",
                                 "body.driver.inertia.zz"};
  for (const HingePlace& hinge : m.hinges())  // out of its plane it does not close
    for (const char* word : {".position.x", ".position.y", ".child_position.x", ".rotation.z"})
      names.push_back("hinge." + hinge.name + word);
  expect_parameters(m, four_bar_state(m, 0.7, 1.3), vector({0.5, -0.2, 0.3, 0.1}), names);
}

// Ratios and constants of a gear and of a differential, and what else there is on them.
TEST(Parameters, OfCouplingsAgreeWithMechanismsMadeAnew) {
  MechanismBuilder b("geared");
  b.set_gravity({0.3, -1.0, -9.81});
  const Vec3d axes[4] = {{0, 1, 0.2}, {1, 0, 0}, {0, 1, 0}, {0.3, 0.1, 1}};
  const Transformd places[4] = {
      {}, catena::shift(0, 0, -0.5), catena::shift(0.1, 0, -0.4), catena::shift(0, 0.2, -0.3)};
  const char* parents[4] = {"world", "l0", "l1", "l1"};
  for (int i = 0; i < 4; ++i) {
    const std::string name = std::to_string(i);
    b.add_body("l" + name, body(1.0 + i, {0.1, 0.02 * i, -0.3}, {0.1, 0.12, 0.15}));
    HingeSettings hinge{.axes = {axes[i]}, .frame_on_parent = places[i]};
    hinge.freedoms = {{.damping = 0.1 * i, .stiffness = 2.0, .rest = 0.1}};
    if (i == 1 || i == 2) hinge.drive = DriveSettings{.rotor_inertia = 2e-3, .gear_ratio = 20.0};
    b.add_hinge("j" + name, parents[i], "l" + name, hinge);
  }
  b.add_gear("gear", "j2", "j0", -2.5, 0.1);
  b.add_coupling({.name = "sum",
                  .terms = {{"j3", 0, 1.2}, {"j1", 0, 0.7}, {"j0", 0, -0.4}},
                  .constant = 0.05});
  const Mechanism m = b.finish();
  const State s = assemble(m, State{vector({0.3, 0.5, -0.65, -0.18}), vector({0.9, -0.7, 0, 0})},
                           {.fixed = {1, 1, 0, 0}});
  expect_parameters(
      m, s, vector({0.5, -0.2, 0.3, 0.1}),
      {"coupling.gear.ratio", "coupling.gear.offset", "coupling.sum.coefficient.1",
       "coupling.sum.coefficient.2", "coupling.sum.coefficient.3", "coupling.sum.constant",
       "hinge.j2.position.x", "hinge.j1.gear_ratio", "body.l3.mass"});
  const ParameterSet set(m, {"coupling.gear.ratio", "coupling.gear.offset"});
  EXPECT_EQ(set.values(), vector({-2.5, 0.1}));
  EXPECT_THROW(ParameterSet(m, {"coupling.gear.constant"}), NameError);
}

// A loop in space with a screw, a rod and a spherical hinge.
TEST(Parameters, OfALoopInSpace) {
  MechanismBuilder b("space");
  for (const char* name : {"nut", "link", "arm"})
    b.add_body(name, body(1.5, {0.2, 0.1, -0.1}, {0.3, 0.4, 0.5}));
  b.add_hinge("screw", kWorld, "nut",
              {.type = HingeType::screw, .axes = {{0.2, 0.1, 1.0}}, .pitch = 0.3});
  b.add_hinge("ball", "nut", "link",
              {.type = HingeType::spherical, .frame_on_parent = catena::shift(0.5, 0.1, 0)});
  b.add_hinge("turn", kWorld, "arm",
              {.axes = {{0.1, 1, 0.2}}, .frame_on_parent = catena::shift(1.5, 0, 0.2)});
  b.add_hinge("universal", "arm", "link",
              {.type = HingeType::universal,
               .axes = {{0, 1, 0}, {0, 0, 1}},
               .frame_on_parent = catena::shift(0, 0.1, 0.4),
               .frame_on_child = catena::shift(1.0, 0, 0.1),
               .cut = Cut::always});
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.q[0] = 0.3;
  s.v = random_vector(m.freedoms(), 7);
  s = assemble(m, s, {.keep_limits = false});
  std::vector<std::string> names{"body.link.mass", "hinge.screw.pitch"};
  for (const HingePlace& hinge : m.hinges())
    for (const char* word : {".position", ".child_position", ".rotation"})
      for (const char* axis : {".x", ".y", ".z"})
        names.push_back("hinge." + hinge.name + word + axis);
  for (const char* hinge : {"screw", "turn"})
    for (const char* axis : {".x", ".y", ".z"})
      names.push_back(std::string("hinge.") + hinge + ".axis" + axis);
  expect_parameters(m, s, random_vector(m.freedoms(), 8), names);
}

// Two arms joined by a rod. The rows of its closure are in lengths of the loop, which is not 1.
TEST(Parameters, LengthOfARodInASmallLoop) {
  for (const double size : {1.0, 3.0, 25.0}) {
    MechanismBuilder b("two arms");
    b.set_gravity({0.0, -9.81, 0.0});
    b.add_body("a", body(1.0, {0.2 * size, 0, 0}, {0.01, 0.01, 0.02}));
    b.add_body("b", body(2.0, {0.15 * size, 0, 0}, {0.02, 0.02, 0.03}));
    b.add_hinge("A", kWorld, "a", {.axes = {{0, 0, 1}}});
    b.add_hinge("B", kWorld, "b",
                {.axes = {{0, 0, 1}}, .frame_on_parent = catena::shift(0.5 * size, 0, 0)});
    b.add_rod({.name = "link",
               .body_a = "a",
               .point_a = {0.4 * size, 0, 0},
               .body_b = "b",
               .point_b = {0.3 * size, 0, 0},
               .length = 0.4 * size});
    const Mechanism m = b.finish();
    State s = m.default_state();
    s.q << 1.0, 1.2;
    s.v << 0.7, 0.0;
    s = assemble(m, s);
    expect_parameters(m, s, random_vector(m.freedoms(), 9), {"rod.link.length", "body.a.mass"});
  }
}

TEST(Parameters, ThatOpenALoopAreRefused) {
  const Mechanism m = four_bar();
  SensitivityWorkspace w(m);
  try {
    ParameterSet(m, {"hinge.D.rotation.x"})
        .effort_derivatives(four_bar_state(m, 0.7, 1.3), VectorXd::Zero(3), w);
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_NE(std::string(e.what()).find("'hinge.D.rotation.x' has no derivative: to change it "
                                         "would open a loop"),
              std::string::npos)
        << e.what();
  }
}

TEST(Regressor, TimesTheParametersIsTheEffort) {
  Random random(52);
  for (int i = 0; i < 10; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + i;
    settings.free_base = i % 3 == 1;
    const Mechanism m = random_tree(random, settings).finish();
    const Case c = random_case(random, m, 0);
    SensitivityWorkspace w(m);
    const MatrixXd y = regressor(m, c.state, c.acceleration, w);
    EXPECT_LT(off(y * inertial_parameters(m), inverse_dynamics(m, c.state, c.acceleration)), 1e-12);
  }
  const TwoFourBars two = two_four_bars();
  SensitivityWorkspace w(two.m);
  const VectorXd a = VectorXd::Constant(10, 0.4);
  const MatrixXd y = regressor(two.m, two.s, a, w);
  const VectorXd effort = inverse_dynamics(two.m, two.s, a, w.dynamics());
  EXPECT_LT(off(y * inertial_parameters(two.m), effort(w.dynamics().independent())), 1e-12);
}

TEST(Parameters, UnknownNamesAreSuggested) {
  const Mechanism m = four_bar();
  try {
    const ParameterSet unknown(m, {"body.copler.mass"});
    FAIL();
  } catch (const NameError& e) {
    EXPECT_STREQ(e.what(),
                 "no parameter is named 'body.copler.mass'; did you mean 'body.coupler.mass'?");
  }
}

}  // namespace
}  // namespace catena::test
