// SPDX-License-Identifier: BSD-3-Clause
// The reference itself: against Lagrange's equations, with derivatives of the energy by dual
// numbers, for mechanisms whose v is the rate of q, rotors included; and against closed forms.
#include "catena/base/index.h"
#include "catena/dynamics/testing/test_support.h"

namespace catena::test {
namespace {

using D = Dual<double, 1>;
using reference::Engine;
using reference::Vector;

const std::vector<HingeType> kTrueCoordinates = {
    HingeType::revolute,    HingeType::prismatic,   HingeType::screw,
    HingeType::cylindrical, HingeType::universal,   HingeType::planar,
    HingeType::gimbal,      HingeType::translation, HingeType::custom};

// d/dt ∂T/∂v − ∂T/∂q + ∂V/∂q at v̇ = 0, with T = ½ vᵀ M v:  Ṁ v − ½ ∂(vᵀ M v)/∂q + ∂V/∂q.
Vector<double> lagrange_bias(const Mechanism& mechanism, const State& state) {
  const Engine<D> engine(mechanism);
  const std::size_t n = to_size(mechanism.freedoms());
  const auto along = [&](const VectorXd& direction) {
    Vector<D> q;
    for (Eigen::Index i = 0; i < direction.size(); ++i) {
      q.push_back(D(state.q[i]));
      q.back().derivative[0] = direction[i];
    }
    return q;
  };
  const Vector<D> v = plain<D>(state.v);
  Vector<double> bias(n, 0.0);
  const auto rate = engine.mass_matrix(along(state.v));
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t l = 0; l < n; ++l) bias[k] += rate[k][l].derivative[0] * v[l].value;
    const Vector<D> q = along(VectorXd::Unit(mechanism.freedoms(), static_cast<Eigen::Index>(k)));
    bias[k] -= engine.kinetic_energy(q, v).derivative[0];
    const auto at = engine.motion(q, v, Vector<D>(n, D(0.0)));
    for (std::size_t b = 0; b < at.size(); ++b) {
      const double mass = mechanism.description().bodies[b].mass;
      for (std::size_t i = 0; i < 3; ++i)
        bias[k] -= mass * mechanism.gravity()[static_cast<int>(i)] * at[b].center[i].derivative[0];
    }
  }
  return bias;
}

TEST(Reference, BiasIsThatOfLagrange) {
  Worst worst;
  Random random(11);
  for (int i = 0; i < 20; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + i / 3;
    settings.types = kTrueCoordinates;
    MechanismBuilder builder = random_tree(random, settings);
    add_drives(random, builder);
    const Mechanism mechanism = builder.finish();
    const Case c = random_case(random, mechanism, 0);
    const Engine<double> engine(mechanism);
    const Vector<double> zero(to_size(mechanism.freedoms()), 0.0);
    const Vector<double> bias =
        engine.effort(plain<double>(c.state.q), plain<double>(c.state.v), zero);
    worst.take(error(Eigen::Map<const VectorXd>(bias.data(), mechanism.freedoms()),
                     lagrange_bias(mechanism, c.state)));
  }
  EXPECT_LT(worst.value, 1e-12);
}

TEST(Reference, MassMatrixIsTheHessianOfTheEnergyAndOfTheEfforts) {
  Worst energy, column;
  Random random(12);
  for (int i = 0; i < 20; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + i / 2;
    settings.free_base = i % 2 == 0;
    MechanismBuilder builder = random_tree(random, settings);
    add_drives(random, builder);
    const Mechanism mechanism = builder.finish();
    const Case c = random_case(random, mechanism, 2);
    const Engine<double> engine(mechanism);
    const Vector<double> q = plain<double>(c.state.q), v = plain<double>(c.state.v);
    const auto m = engine.mass_matrix(q);
    double twice = 0.0;
    for (std::size_t k = 0; k < m.size(); ++k)
      for (std::size_t l = 0; l < m.size(); ++l) twice += v[k] * m[k][l] * v[l];
    const double t = engine.kinetic_energy(q, v);
    energy.take(std::abs(0.5 * twice - t) / t);
    const Vector<double> zero(v.size(), 0.0);
    const Vector<double> rest = engine.effort(q, v, zero, c.external);
    for (std::size_t k = 0; k < m.size(); ++k) {
      Vector<double> unit = zero;
      unit[k] = 1.0;
      Vector<double> effort = engine.effort(q, v, unit, c.external);
      for (std::size_t l = 0; l < m.size(); ++l)
        column.take(std::abs(effort[l] - rest[l] - m[l][k]) / (1.0 + std::abs(rest[l])));
    }
  }
  EXPECT_LT(energy.value, 1e-13);
  EXPECT_LT(column.value, 1e-11);
}

// The quaternion hinges have no Lagrange equations in v; Euler's equations of one free body do.
TEST(Reference, FreeBodyObeysNewtonAndEuler) {
  MechanismBuilder builder("free");
  BodySettings body;
  body.mass = 2.0;
  body.inertia = SymMat3d::diagonal(0.3, 0.5, 0.7);
  builder.add_body("b", body);
  builder.add_hinge("h", kWorld, "b", {.type = HingeType::free});
  builder.set_gravity({0.0, 0.0, -10.0});
  const Mechanism mechanism = builder.finish();
  const Vector<double> q{0.5, 0.5, -0.5, 0.5, 1.0, 2.0, 3.0};
  const Vector<double> v{0.4, -0.2, 0.9, 1.0, -3.0, 2.0};
  const Vector<double> a = Engine<double>(mechanism).acceleration(q, v, Vector<double>(6, 0.0));
  // I ω̇ = −ω × I ω;  v̇ = Rᵀ g − ω × v.
  EXPECT_NEAR(a[0], -(0.7 - 0.5) / 0.3 * (-0.2 * 0.9), 1e-14);
  EXPECT_NEAR(a[1], -(0.3 - 0.7) / 0.5 * (0.9 * 0.4), 1e-14);
  EXPECT_NEAR(a[2], -(0.5 - 0.3) / 0.7 * (0.4 * -0.2), 1e-14);
  const Vec3d omega{v[0], v[1], v[2]}, linear{v[3], v[4], v[5]};
  const Vec3d expected =
      Rotationd::from_quaternion({q[0], q[1], q[2], q[3]}).inverse_times(Vec3d{0.0, 0.0, -10.0}) -
      cross(omega, linear);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(a[index(3 + i)], expected[i], 1e-14);
}

}  // namespace
}  // namespace catena::test
