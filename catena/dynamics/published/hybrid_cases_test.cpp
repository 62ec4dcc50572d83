// SPDX-License-Identifier: BSD-3-Clause
// Hybrid dynamics on the cases worked out for [Sohl & Bobrow 2001] through Lagrange's equations
// in 80-bit arithmetic: planar acrobots (T0, T4, T5), a spatial tree of mixed joints with a wrench
// (T1), and hinges of several freedoms, partly driven (T2, T3).
#include "catena/base/index.h"
#include "catena/dynamics/published/published_support.h"

namespace catena::test {
namespace {

// For every freedom in order: whether it is motion-driven, what is given, and what is found.
struct Freedom {
  const char* name;
  bool driven;
  double q, v, given, found;
};

void expect_hybrid(const Mechanism& m, const State& s, const std::vector<Freedom>& freedoms,
                   const std::vector<ExternalWrench>& external = {}) {
  HybridInput input;
  const Eigen::Index n = m.freedoms();
  ASSERT_EQ(to_size(n), freedoms.size());
  input.motion_driven.assign(freedoms.size(), 0);
  const double unread = std::numeric_limits<double>::quiet_NaN();
  input.effort = VectorXd::Constant(n, unread);
  input.acceleration = input.effort;
  for (const Freedom& f : freedoms) {
    const Eigen::Index i = m.velocity_index(f.name);
    input.motion_driven[index(i)] = f.driven ? 1 : 0;
    (f.driven ? input.acceleration : input.effort)[i] = f.given;
  }
  const HybridResult result = hybrid_dynamics(m, s, input, external);
  for (const Freedom& f : freedoms) {
    const Eigen::Index i = m.velocity_index(f.name);
    // 1e-12, or the last digit printed.
    EXPECT_NEAR((f.driven ? result.effort : result.acceleration)[i], f.found,
                1.5e-12 + 1e-14 * std::abs(f.found))
        << f.name;
    EXPECT_EQ((f.driven ? result.acceleration : result.effort)[i], f.given) << f.name;
  }
}

// q and v by name, for hinges whose v is the rate of q.
State state_of(const Mechanism& m, const std::vector<Freedom>& freedoms) {
  State s = m.default_state();
  for (const Freedom& f : freedoms) {
    const int i = m.velocity_index(f.name);
    s.v[i] = f.v;
    const int k = m.coordinate_of_freedom()[index(i)];
    if (k >= 0) s.q[k] = f.q;
  }
  return s;
}

BodySettings rod() { return solid(1.0, {0.5, 0, 0}, {0, 1.0 / 12.0, 1.0 / 12.0, 0, 0, 0}); }

// Unit rods along x in the plane; parents[i] is the rod whose tip carries rod i.
Mechanism rods(const std::vector<int>& parents) {
  MechanismBuilder builder("rods");
  builder.set_gravity({0.0, -9.81, 0.0});
  for (int i = 0; i < static_cast<int>(parents.size()); ++i) {
    const int parent = parents[index(i)];
    builder.add_body(body_name(i), rod());
    HingeSettings hinge;
    if (parent >= 0) hinge.frame_on_parent.translation = {1.0, 0.0, 0.0};
    builder.add_hinge("q" + std::to_string(i + 1), body_name(parent), body_name(i), hinge);
  }
  return builder.finish();
}

TEST(HybridCases, T0Acrobot) {
  const Mechanism m = rods({-1, 0});
  const std::vector<Freedom> f = {{"q1", false, -1.0, 0.3, 0.25, -5.0760988331044},
                                  {"q2", true, 0.5, -0.7, 1.2, 0.8067357617591}};
  expect_hybrid(m, state_of(m, f), f);
}

TEST(HybridCases, T4ThreeRods) {
  const Mechanism m = rods({-1, 0, 1});
  const std::vector<Freedom> f = {{"q1", true, 0.4, 0.8, 0.6, 13.2865527811391},
                                  {"q2", false, -0.9, -0.5, 0.7, -7.6071535547583},
                                  {"q3", false, 1.3, 1.1, -0.4, -2.9661544796998}};
  expect_hybrid(m, state_of(m, f), f);
}

TEST(HybridCases, T5BranchedAcrobot) {
  const Mechanism m = rods({-1, 0, 0});
  const std::vector<Freedom> f = {{"q1", false, -1.0, 0.5, 0.0, -3.8811204800181},
                                  {"q2", true, 0.6, -1.0, 2.0, 2.3597308457954},
                                  {"q3", true, -0.8, 0.7, -1.5, -4.3498039516114}};
  expect_hybrid(m, state_of(m, f), f);
}

TEST(HybridCases, T1SpatialTree) {
  MechanismBuilder b("tree");
  b.add_body("l1", solid(2.0, {0.1, 0.05, 0.2}, {0.05, 0.06, 0.04, 0.005, -0.002, 0.003}));
  b.add_body("l2", solid(1.0, {0.2, 0, 0.1}, {0.02, 0.03, 0.025, 0, 0.001, 0}));
  b.add_body("l3", solid(1.5, {0, 0.25, 0.05}, {0.04, 0.02, 0.035, 0.002, 0, 0.001}));
  b.add_body("l4", solid(0.8, {0.15, 0.1, 0}, {0.01, 0.012, 0.011, 0, 0, 0.001}));
  b.add_body("l5", solid(0.6, {0.05, 0, 0.2}, {0.008, 0.009, 0.007, 0.0005, 0, 0}));
  b.add_hinge("q1", kWorld, "l1", {.frame_on_parent = {{}, {0, 0, 0.5}}});
  b.add_hinge("q2", "l1", "l2",
              {.type = HingeType::prismatic,
               .axes = {{1, 0, 0}},
               .frame_on_parent = {Rotationd::about_x(0.3), {0.4, 0.1, 0.2}}});
  b.add_hinge("q3", "l1", "l3", {.axes = {{1, 0, 0}}, .frame_on_parent = {{}, {-0.3, 0.2, 0.1}}});
  b.add_hinge("q4", "l3", "l4",
              {.axes = {{0, 1, 0}}, .frame_on_parent = {Rotationd::about_z(0.5), {0.5, 0, 0}}});
  b.add_hinge("q5", "l3", "l5",
              {.type = HingeType::screw,
               .pitch = 0.1,
               .frame_on_parent = {Rotationd::about_y(-0.4), {0, 0.3, 0.4}}});
  const Mechanism m = b.finish();
  const std::vector<Freedom> f = {{"q1", false, 0.3, 0.9, 0.4, 1.27676266314767},
                                  {"q2", true, -0.2, 0.4, 0.5, 0.0860546502923208},
                                  {"q3", true, 0.7, -0.6, -1.2, 1.28604681720590},
                                  {"q4", false, -0.5, 1.3, -0.3, 3.53770086717907},
                                  {"q5", false, 1.1, -0.8, 0.2, -17.1404159084510}};
  const State s = state_of(m, f);
  const std::vector<ExternalWrench> external = {
      {.body = m.body_index("l4"), .wrench = {{0.3, -0.2, 0.5}, {1, 2, -1.5}}}};
  expect_hybrid(m, s, f, external);

  const double mass[] = {0.8437800571080,
                         -0.0704479793339,
                         0.2377632794272,
                         0.0175210077055,
                         0.0131009339518,
                         1,
                         0,
                         0,
                         0,
                         0.5395809884104,
                         -0.0240453154857,
                         0.0032795409422,
                         0.03,
                         0,
                         0.0145};
  const double bias[] = {-0.1941955752754, -0.324, 1.7712545546415, -0.4573555730574,
                         0.4357446964812};
  const MatrixXd text = symmetric(mass, 5);
  const MatrixXd found = mass_matrix(m, s.q);
  const VectorXd found_bias = bias_effort(m, s, external);
  for (std::size_t i = 0; i < 5; ++i) {
    const int k = m.velocity_index(f[i].name);
    EXPECT_NEAR(found_bias[k], bias[i], 1e-12);
    for (std::size_t j = 0; j < 5; ++j)
      EXPECT_NEAR(found(k, m.velocity_index(f[j].name)),
                  text(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)), 1e-12);
  }
}

MechanismBuilder several_freedoms(HingeType first) {
  MechanismBuilder b("several");
  b.add_body("b1", solid(1.5, {0.05, -0.1, 0.2}, {0.08, 0.06, 0.05, 0, 0, 0}));
  b.add_body("b2", solid(0.7, {0.2, 0, 0.1}, {0.01, 0.02, 0.015, 0, 0, 0}));
  b.add_body("b3", solid(0.9, {0, 0.1, 0.15}, {0.012, 0.018, 0.01, 0, 0, 0}));
  HingeSettings base{.type = first, .frame_on_parent = {{}, {0, 0, 0.3}}};
  if (first == HingeType::gimbal) base.axes = {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
  b.add_hinge("a", kWorld, "b1", base);
  b.add_hinge("b", "b1", "b2",
              {.type = HingeType::universal, .frame_on_parent = {{}, {0.3, 0.1, 0}}});
  b.add_hinge("c", "b1", "b3",
              {.type = HingeType::cylindrical, .frame_on_parent = {{}, {-0.2, 0.25, 0.1}}});
  return b;
}

TEST(HybridCases, T2PartlyDrivenHinges) {
  const Mechanism m = several_freedoms(HingeType::gimbal).finish();
  const std::vector<Freedom> f = {{"a.1", false, 0.4, 0.7, 0.3, -6.70939215231038},
                                  {"a.2", false, -0.6, -1.1, -0.2, -5.62230907462287},
                                  {"a.3", false, 0.8, 0.6, 0.1, 19.6496154207573},
                                  {"b.1", true, 0.5, 0.9, 1.5, -0.615806352504431},
                                  {"b.2", false, -0.9, -0.4, 0.25, -2.2670356714052},
                                  {"c.angle", true, 0.7, 1.2, -0.8, -0.228279296467394},
                                  {"c.distance", false, 0.15, -0.5, -1.0, -9.04364217680023}};
  expect_hybrid(m, state_of(m, f), f);
}

TEST(HybridCases, T3BallAndPartlyDrivenHinges) {
  const Mechanism m = several_freedoms(HingeType::spherical).finish();
  const std::vector<Freedom> f = {{"a.wx", false, 0, 0.5, 0.3, 16.6352339676405},
                                  {"a.wy", false, 0, -0.8, -0.2, -8.68861952770522},
                                  {"a.wz", false, 0, 1.1, 0.1, -0.88185251657415},
                                  {"b.1", true, 0.5, 0.9, 1.5, -0.561396179419124},
                                  {"b.2", false, -0.9, -0.4, 0.25, -0.149878832111943},
                                  {"c.angle", true, 0.7, 1.2, -0.8, -0.23159029246643},
                                  {"c.distance", false, 0.15, -0.5, -1.0, -8.87281382564819}};
  State s = state_of(m, f);
  const Quaterniond p =
      to_quaternion(Rotationd::about_z(0.4) * Rotationd::about_y(-0.6) * Rotationd::about_x(0.8));
  s.q.segment(m.position_index("a.qw"), 4) << p.w, p.x, p.y, p.z;
  expect_hybrid(m, s, f);
}

}  // namespace
}  // namespace catena::test
