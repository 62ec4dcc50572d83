// Derivatives by parameters against differences of the reference with other parameters (trees), the
// numbers of the digest of Sohl & Bobrow (case T1), and mechanisms made anew (loops); the regressor
// against inverse dynamics.
#include "catena/sensitivity/parameters.h"

#include "catena/dynamics/closed_cases.h"
#include "catena/sensitivity/test_support.h"

namespace catena::test {
namespace {

double off(const VectorXd& found, const VectorXd& expected) {
  return (found - expected).lpNorm<Eigen::Infinity>() /
         std::max(1.0, expected.lpNorm<Eigen::Infinity>());
}

// Every name of random trees with everything on them, against differences of order eight of the
// reference in double precision on mechanisms made with other values.
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
      for (int j = 0; j < m.freedoms(); ++j)
        wanted[j] = static_cast<double>(expected[static_cast<std::size_t>(j)]);
      const double e = off(found.col(k), wanted);
      EXPECT_LT(e, 1e-9) << names[static_cast<std::size_t>(k)];
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

TEST(Parameters, OfALoopAgreeWithMechanismsMadeAnew) {
  const Mechanism m = four_bar();
  const State s = four_bar_state(m, 0.7, 1.3);
  const VectorXd effort = catena::vector({0.5, -0.2, 0.3});
  const ParameterSet set(m, {"body.coupler.mass", "body.rocker.com.x", "gravity.y",
                             "body.driver.inertia.zz", "hinge.D.position.x", "hinge.B.position.x"});
  SensitivityWorkspace w(m);
  const MatrixXd found = set.acceleration_derivatives(s, effort, w);
  ASSERT_EQ(found.rows(), 1);
  const int own = w.dynamics().independent()[0];
  const VectorXd values = set.values();
  for (int k = 0; k < set.size(); ++k) {
    const auto at = [&](double e) {
      VectorXd x = values;
      x[k] += e;
      const Mechanism other = set.with(x);
      std::vector<std::uint8_t> fixed(3, 0);
      fixed[static_cast<std::size_t>(own)] = 1;
      const State there = assemble(other, s, {.fixed = fixed});
      return forward_dynamics(other, there, effort)[own];
    };
    const double h = 1e-3;
    const double expected = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
    EXPECT_NEAR(found(0, k), expected, 1e-8 * std::max(1.0, std::abs(expected)))
        << set.names()[static_cast<std::size_t>(k)];
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
    ParameterSet(m, {"body.copler.mass"});
    FAIL();
  } catch (const NameError& e) {
    EXPECT_STREQ(e.what(),
                 "no parameter is named 'body.copler.mass'; did you mean 'body.coupler.mass'?");
  }
}

}  // namespace
}  // namespace catena::test
