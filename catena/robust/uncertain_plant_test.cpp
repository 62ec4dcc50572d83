// SPDX-License-Identifier: BSD-3-Clause
// Mechanisms with uncertain parameters beside closed forms: a link held at an angle, a
// parallelogram of four bars, and the linear models of random members of the family.
#include "catena/robust/uncertain_plant.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/closure/assembly.h"
#include "catena/dynamics/inverse.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/model/builder.h"
#include "catena/robust/robust_analysis.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kLinkMass = 2.0, kArm = 0.75, kOwn = 0.3, kG = 9.81;

// q = 0 hangs; (0.3 + m l²) q̈ = −m g l sin q − d q̇ + u.
Mechanism held_link() {
  MechanismBuilder builder("pendulum");
  builder.add_body("link", {.mass = kLinkMass,
                            .center_of_mass = {0.0, 0.0, -kArm},
                            .inertia = SymMat3d::diagonal(kOwn, kOwn, 0.01)});
  builder.add_hinge("pivot", "world", "link",
                    {.axes = {{0.0, 1.0, 0.0}}, .freedoms = {{.damping = 0.4}}});
  return builder.finish();
}

LinearModel held_model(const Mechanism& m, const std::string& input,
                       const std::vector<std::string>& outputs, const State& state) {
  const VectorXd effort = inverse_dynamics(m, state, VectorXd::Zero(m.freedoms()));
  return linearize(m, {state, effort}, {.inputs = {input}, .outputs = outputs});
}

// u = −kp q − ki ∫q.
StateSpace integral(const std::string& output, const std::string& input, double kp, double ki) {
  StateSpace k = ss(MatrixXd::Zero(1, 1), MatrixXd::Ones(1, 1), MatrixXd::Constant(1, 1, -ki),
                    MatrixXd::Constant(1, 1, -kp));
  k.inputs = {output};
  k.outputs = {input};
  return k;
}

// The smallest t > 0 with f(t) = 0, f(0) > 0, by bisection after a scan.
template <class F>
double first_zero(F f) {
  double low = 0.0, high = 0.0;
  while (f(high) > 0.0) low = high, high += 1e-3;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (f(middle) > 0.0 ? low : high) = middle;
  }
  return low;
}

// J s³ + d s² + (k + kp) s + ki is stable exactly if d (k + kp) > J ki.
TEST(UncertainPlant, MarginOfALinkByHurwitz) {
  const Mechanism m = held_link();
  State state = m.default_state();
  const double angle = 0.6, kp = 4.0, ki = 2.0, d = 0.4;
  state.q[0] = angle;
  const LinearModel model = held_model(m, "pivot", {"q.pivot"}, state);
  const MechanismFamily family(m, model, {"mass.link", "damping.pivot"});
  const auto asked = parse_uncertainties("mass.link:1..6, friction.pivot:±50%");
  const UncertainPlant plant = uncertain_plant(family, asked);
  EXPECT_EQ(plant.entries, 2);
  EXPECT_LT(plant.error, 1e-12);
  EXPECT_FALSE(plant.moved);
  const UncertainSystem loop = closed_loop(plant.system, integral("q.pivot", "pivot", kp, ki));
  const UncertainParameter mass = asked[0].range(kLinkMass), damping = asked[1].range(d);
  double boundary = 1e9;
  for (const double sm : {-1.0, 1.0})
    for (const double sd : {-1.0, 1.0})
      boundary = std::min(boundary, first_zero([&](double t) {
                            if (t > 5.0) return -1.0;
                            const double mm = mass.value(sm * t), dd = damping.value(sd * t);
                            if (!(mm > 0.0)) return 1.0;
                            return dd * (mm * kG * kArm * std::cos(angle) + kp) -
                                   (kOwn + mm * kArm * kArm) * ki;
                          }));
  const RobustStability r = robstab(loop);
  EXPECT_NEAR(r.margin_high, boundary, 1e-6 * boundary);
  EXPECT_LE(r.margin_low, boundary * (1.0 + 1e-9));
  EXPECT_GE(r.margin_low, 0.9 * boundary);
  const double mm = r.parameters.at("mass.link"), dd = r.parameters.at("friction.pivot");
  EXPECT_NEAR(dd * (mm * kG * kArm * std::cos(angle) + kp), (kOwn + mm * kArm * kArm) * ki, 1e-6);
}

// Cranks of length a, turned by q from x, and a coupler that only shifts.
constexpr double kCrank = 0.4, kGround = 1.0;
Mechanism parallelogram() {
  MechanismBuilder builder("parallelogram");
  builder.set_gravity({0.0, -kG, 0.0});
  const SymMat3d own = SymMat3d::diagonal(0.001, 0.02, 0.02);
  builder.add_body("left", {.mass = 1.0, .center_of_mass = {0.2, 0.0, 0.0}, .inertia = own});
  builder.add_body("right", {.mass = 1.5, .center_of_mass = {0.2, 0.0, 0.0}, .inertia = own});
  builder.add_body("coupler", {.mass = 2.0, .center_of_mass = {0.5, 0.0, 0.0}, .inertia = own});
  const std::vector<Vec3d> z{{0.0, 0.0, 1.0}};
  builder.add_hinge("A", "world", "left",
                    {.axes = z, .freedoms = {{.damping = 2.0}}, .initial_position = {1.0}});
  builder.add_hinge("B", "left", "coupler",
                    {.axes = z,
                     .frame_on_parent = {.translation = {kCrank, 0.0, 0.0}},
                     .initial_position = {-1.0}});
  builder.add_hinge("D", "world", "right",
                    {.axes = z,
                     .frame_on_parent = {.translation = {kGround, 0.0, 0.0}},
                     .initial_position = {1.0}});
  builder.add_hinge("C", "coupler", "right",
                    {.axes = z,
                     .frame_on_parent = {.translation = {kGround, 0.0, 0.0}},
                     .frame_on_child = {.translation = {kCrank, 0.0, 0.0}}});
  return builder.finish();
}

// (0.14 + m a²) s³ + d s² + (kp − g sin q (0.5 + m a)) s + ki.
TEST(UncertainPlant, MarginOfAClosedLoopByHurwitz) {
  const Mechanism m = parallelogram();
  const double q = 1.0, kp = 25.0, ki = 20.0;
  const State state = assemble(m, m.default_state());
  LinearizeSettings ports{.inputs = {"A"}, .outputs = {"q.A"}};
  ports.independent.assign(static_cast<std::size_t>(m.freedoms()), 0);
  ports.independent[0] = 1;
  const VectorXd effort = kG * std::cos(q) * 1.3 * VectorXd::Unit(m.freedoms(), 0);
  const LinearModel model = linearize(m, {state, effort}, ports);
  ASSERT_LT(model.residual, 1e-9);
  const MechanismFamily family(m, model, {"mass.coupler", "damping.A"});
  const auto asked = parse_uncertainties("mass.coupler:0..5, damping.A:±50%");
  const UncertainPlant plant = uncertain_plant(family, asked);
  EXPECT_EQ(plant.entries, 2);
  EXPECT_LT(plant.error, 1e-11);
  const UncertainSystem loop = closed_loop(plant.system, integral("q.A", "A", kp, ki));
  const UncertainParameter mass = asked[0].range(2.0), damping = asked[1].range(2.0);
  const double boundary = first_zero([&](double t) {
    double least = 1e9;
    for (const double sm : {-1.0, 1.0})
      for (const double sd : {-1.0, 1.0}) {
        const double mm = mass.value(sm * t), dd = damping.value(sd * t);
        const double k = kp - kG * std::sin(q) * (0.5 + kCrank * mm);
        least = std::min({least, k, dd * k - (0.14 + mm * kCrank * kCrank) * ki});
      }
    return least;
  });
  ASSERT_LT(boundary, 1.0);
  const RobustStability r = robstab(loop);
  EXPECT_NEAR(r.margin_high, boundary, 1e-6 * boundary);
  EXPECT_LE(r.margin_low, boundary * (1.0 + 1e-9));
  EXPECT_GE(r.margin_low, 0.9 * boundary);
}

// The fractional form beside the linear models of random members.
void expect_exact(const MechanismFamily& family, const UncertainPlant& plant, int points) {
  double worst = 0.0;
  for (int i = 0; i < points; ++i) {
    const std::vector<BlockValue> values =
        sample(plant.system.blocks, static_cast<std::uint64_t>(i + 1));
    VectorXd x = family.values();
    const auto by_name = parameter_values(plant.system, values);
    for (Eigen::Index j = 0; j < x.size(); ++j)
      for (const auto& [name, value] : by_name)
        if (ParameterSet::full_name(family.mechanism(), name) ==
            family.names()[static_cast<std::size_t>(j)])
          x[j] = value;
    const LinearModel direct = family.at(x).model;
    const StateSpace closed = close(plant.system, values);
    worst = std::max({worst, (closed.A - direct.A).norm() / direct.A.norm(),
                      (closed.B - direct.B).norm() / direct.B.norm(),
                      (closed.C - direct.C).norm() / direct.C.norm()});
  }
  EXPECT_LT(worst, 1e-10);
}

// Three links of a tree with masses, inertias, springs and dampers: 1,000 members.
Mechanism three_links() {
  MechanismBuilder builder("arm");
  std::string parent = "world";
  for (const std::string name : {"one", "two", "three"}) {
    builder.add_body(name, {.mass = 1.5,
                            .center_of_mass = {0.2, 0.05, -0.02},
                            .inertia = SymMat3d::diagonal(0.02, 0.03, 0.025)});
    builder.add_hinge(
        "to_" + name, parent, name,
        {.axes = {name == "two" ? Vec3d{0.0, 1.0, 0.0} : Vec3d{0.0, 0.3, 1.0}},
         .frame_on_parent = {.translation = {parent == "world" ? 0.0 : 0.45, 0.0, 0.0}},
         .freedoms = {{.damping = 0.2, .stiffness = 3.0}},
         .initial_position = {0.4}});
    parent = name;
  }
  return builder.finish();
}

LinearModel arm_model(const Mechanism& m) {
  const State state = m.default_state();
  const VectorXd effort = inverse_dynamics(m, state, VectorXd::Zero(m.freedoms()));
  return linearize(m, {state, effort}, {.outputs = {"q.to_one", "q.to_three"}});
}

TEST(UncertainPlant, AffineDependenceIsExactAtAThousandPoints) {
  const Mechanism m = three_links();
  const auto asked = parse_uncertainties(
      "mass.one:±30%, mass.three:0.2..1.5..6, inertia.yy.two:±40%, damping.to_one:±50%, "
      "stiffness.to_two:0..10, damping.to_three:±60%");
  std::vector<std::string> names;
  for (const Uncertainty& u : asked) names.push_back(u.target);
  const MechanismFamily family(m, arm_model(m), names);
  const UncertainPlant plant = uncertain_plant(family, asked);
  EXPECT_EQ(plant.cross_terms, 0);
  EXPECT_EQ(plant.degree, 1);
  EXPECT_EQ(plant.system.blocks[plant.system.blocks.index("damping.to_one")].rows, 1);
  EXPECT_EQ(plant.system.blocks[plant.system.blocks.index("mass.one")].rows, 1);
  expect_exact(family, plant, 1000);
}

TEST(UncertainPlant, ProductsOfParametersAreExact) {
  const Mechanism m = three_links();
  const auto asked =
      parse_uncertainties("mass.three:±30%, position.x.to_three:±20%, com.x.two:±0.05");
  std::vector<std::string> names;
  for (const Uncertainty& u : asked) names.push_back(u.target);
  const MechanismFamily family(m, arm_model(m), names);
  const UncertainPlant plant = uncertain_plant(family, asked);
  EXPECT_GT(plant.cross_terms, 0);
  EXPECT_LT(plant.error, 1e-10);
  expect_exact(family, plant, 100);
}

TEST(UncertainPlant, ModesGainsAndDelays) {
  // Two modes in proportional damping; the modes' frequencies and dampings are those asked for.
  MatrixXd A = MatrixXd::Zero(4, 4);
  A.topRightCorner(2, 2).setIdentity();
  A.bottomLeftCorner(2, 2) << -5.0, 2.0, 2.0, -5.0;  // 3 and 7
  A.bottomRightCorner(2, 2) = 0.02 * A.bottomLeftCorner(2, 2);
  const MatrixXd B = VectorXd::Unit(4, 2), C = VectorXd::Unit(4, 1).transpose();
  StateSpace g = ss(A, B, C);
  const UncertainPlant plant = uncertain_plant(
      g, parse_uncertainties(
             "mode.2.frequency:±10%, mode.2.damping:±50%, gain.u1:±20%, delay.u1:0..0.1"));
  EXPECT_EQ(plant.system.blocks.size(), 4);
  const double omega = std::sqrt(7.0), zeta = 0.01 * omega;
  const StateSpace closed =
      close(plant.system,
            {{"mode.2.frequency", 1.07 * omega}, {"mode.2.damping", 1.3 * zeta}, {"gain.u1", 0.9}});
  const Eigen::VectorXcd poles = lapack::eigenvalues(closed.A);
  for (const auto& [w, z] :
       {std::pair{1.07 * omega, 1.3 * zeta}, {std::sqrt(3.0), 0.01 * std::sqrt(3.0)}}) {
    const std::complex<double> wanted(-z * w, w * std::sqrt(1.0 - z * z));
    EXPECT_LT((poles.array() - wanted).abs().minCoeff(), 1e-12);
  }
  // The block of the delay covers e^{−jωτ} − 1.
  const int k = plant.system.blocks.index("delay.u1");
  const UncertainSystem alone = with_blocks(plant.system, {k});
  for (const double w : {0.1, 3.0, 20.0, 31.0, 60.0, 500.0}) {
    std::vector<BlockValue> none(1), one(1);
    none[0].matrix = Eigen::MatrixXcd::Zero(1, 1);
    one[0].matrix = Eigen::MatrixXcd::Ones(1, 1);
    const auto base = close_at(alone, w, none)(0, 0), full = close_at(alone, w, one)(0, 0);
    double most = 0.0;
    for (double tau = 0.0; tau <= 0.1; tau += 0.001)
      most = std::max(most, std::abs(std::exp(std::complex<double>(0.0, -w * tau)) - 1.0));
    EXPECT_GE(std::abs(full / base - 1.0), most * (1.0 - 1e-9)) << w;
    EXPECT_LE(std::abs(full / base - 1.0), 3.47) << w;
  }
}

void expect_refused(const std::string& text, const std::string& said) {
  const Mechanism m = held_link();
  try {
    const LinearModel model = held_model(m, "pivot", {"q.pivot"}, m.default_state());
    const auto asked = parse_uncertainties(text);
    std::vector<std::string> names;
    for (const Uncertainty& u : asked)
      if (u.kind == Uncertainty::Kind::parameter) names.push_back(u.target);
    uncertain_plant(MechanismFamily(m, model, names), asked);
    FAIL() << text;
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr(said)) << text;
  }
}

TEST(UncertainPlant, MistakesAreNamed) {
  expect_refused("mass.link", "\"mass.link\" has no range");
  expect_refused("mass.link:-1..3", "'mass.link' cannot be -1");
  expect_refused("mass.link:3..1", "ascending");
  expect_refused("mass.link:abc..1", "\"abc\" is no number");
  expect_refused("mass.lnk:0..1", "link");
  expect_refused("mass.link:±50%, mass.link:1..3", "two ranges");
  expect_refused("stiffness.pivot:±50%", "is 0 in the model");
  expect_refused("gain.pvot:±5%", "pivot");
  expect_refused("gain.pivot:2..3", "1 inside");
  expect_refused("mode.3.frequency:±5%", "1 oscillating mode");
  expect_refused("mode.x.frequency:±5%", "is no uncertainty of a mode");
}

TEST(Uncertainty, Ranges) {
  const auto list = parse_uncertainties("a.b:0..5, c:1..2..5,d:+-10%, e: ±0.5, f:-20..50%");
  ASSERT_EQ(list.size(), 5u);
  EXPECT_EQ(list[0].range(2.0).nominal, 2.0);
  EXPECT_EQ(list[0].range(7.0).nominal, 2.5);
  EXPECT_EQ(list[1].range(7.0).nominal, 2.0);
  EXPECT_NEAR(list[2].range(-4.0).low, -4.4, 1e-15);
  EXPECT_NEAR(list[3].range(1.0).high, 1.5, 1e-15);
  EXPECT_NEAR(list[4].range(10.0).low, 8.0, 1e-14);
  EXPECT_NEAR(list[4].range(10.0).high, 15.0, 1e-14);
}

}  // namespace
}  // namespace catena
