// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/momentum.h"

#include "catena/dynamics/energy.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/published/published_cases.h"
#include "catena/dynamics/testing/test_support.h"

namespace catena::test {
namespace {

struct Particle {
  int body = 0;
  double mass = 0.0;
  Vec3d point;
};

// A random tree whose bodies are made of particles, and the particles.
struct ParticleTree {
  MechanismBuilder builder;
  std::vector<Particle> particles;
};

ParticleTree particle_tree(Random& random, const TreeSettings& settings) {
  ParticleTree tree{random_tree(random, settings), {}};
  for (int b = 0; b < settings.bodies; ++b) {
    BodySettings& body = tree.builder.body(body_name(b));
    body = {};
    SpatialInertiad sum = SpatialInertiad::zero();
    for (int i = 0; i < 5; ++i) {
      const Particle p{b, random.number(0.2, 1.0), random.vector()};
      sum += SpatialInertiad::from_central(p.mass, p.point, SymMat3d::zero());
      tree.particles.push_back(p);
    }
    body.mass = sum.mass;
    body.center_of_mass = sum.center_of_mass();
    body.inertia = sum.central_inertia();
  }
  return tree;
}

Vector3d cross3(const Vector3d& a, const Vector3d& b) { return a.cross(b); }

TEST(Momentum, IsThatOfTheParticles) {
  Random random(21);
  for (int trial = 0; trial < 20; ++trial) {
    const ParticleTree tree =
        particle_tree(random, {.bodies = 1 + trial, .free_base = trial % 3 == 0});
    const Mechanism m = tree.builder.finish();
    const Case c = random_case(random, m, 0);
    Workspace w(m);
    update_kinematics(m, c.state.q, c.state.v, w);
    const Vec3d about = random.vector();
    double mass = 0.0, kinetic = 0.0, gravity = 0.0;
    Vector3d moment = Vector3d::Zero(), linear = moment, angular = moment;
    for (const Particle& p : tree.particles) {
      const Vector3d x = to_eigen(point_position(m, w, p.body, p.point));
      const Vector3d v = to_eigen(point_velocity(m, w, p.body, p.point));
      mass += p.mass;
      moment += p.mass * x;
      linear += p.mass * v;
      angular += p.mass * cross3(x - to_eigen(about), v);
      kinetic += 0.5 * p.mass * v.squaredNorm();
      gravity -= p.mass * x.dot(to_eigen(m.gravity()));
    }
    const Vector3d center = moment / mass;
    Matrix3d inertia = Matrix3d::Zero();
    Vector3d central = Vector3d::Zero();
    for (const Particle& p : tree.particles) {
      const Vector3d r = to_eigen(point_position(m, w, p.body, p.point)) - center;
      inertia -= p.mass * cross_matrix(r) * cross_matrix(r);
      central += p.mass * cross3(r, to_eigen(point_velocity(m, w, p.body, p.point)));
    }
    // Sums of at most a hundred products.
    const double size = 1e-13 * mass * (10.0 + center.squaredNorm() + linear.squaredNorm());
    const MassProperties whole = mass_properties(m, w);
    EXPECT_NEAR(whole.mass, mass, size);
    EXPECT_LT((to_eigen(whole.center_of_mass) - center).norm(), size);
    EXPECT_LT((to_eigen(center_of_mass(m, c.state.q)) - center).norm(), size);
    EXPECT_LT((to_eigen(whole.inertia) - inertia).norm(), size);
    EXPECT_LT((to_eigen(whole.spatial_inertia()).topLeftCorner<3, 3>() - inertia).norm(), size);
    EXPECT_LT((to_eigen(momentum(m, w).linear) - linear).norm(), size);
    EXPECT_LT((to_eigen(momentum(m, w, about).angular) - angular).norm(), size);
    EXPECT_LT((to_eigen(centroidal_momentum(m, w).angular) - central).norm(), size);
    EXPECT_LT((to_eigen(center_of_mass_velocity(m, w)) - linear / mass).norm(), size);
    const Energy energy_here = energy(m, c.state);
    EXPECT_NEAR(energy_here.kinetic, kinetic, 1e-12 * kinetic);
    EXPECT_NEAR(energy_here.gravity, gravity, 1e-12 * (1.0 + std::abs(gravity)));

    const MatrixXd jacobian = center_of_mass_jacobian(m, c.state.q);
    EXPECT_LT((jacobian * c.state.v - linear / mass).norm(), size);
    Vector6d both;
    both << angular, linear;
    EXPECT_LT((momentum_matrix(m, c.state.q, about) * c.state.v - both).norm(), size);
    const double h = 1e-5;  // central differences: h² and 1e-16 / h
    for (int k = 0; k < m.freedoms(); ++k) {
      const VectorXd step = h * VectorXd::Unit(m.freedoms(), k);
      const Vector3d slope = (to_eigen(center_of_mass(m, integrate(m, c.state.q, step))) -
                              to_eigen(center_of_mass(m, integrate(m, c.state.q, -step)))) /
                             (2.0 * h);
      EXPECT_LT((slope - jacobian.col(k)).norm(), 1e-8 * (1.0 + slope.norm()));
    }
  }
}

// The state after a short time along the path with these accelerations.
State later(const Mechanism& m, const State& state, const VectorXd& acceleration, double t) {
  return {integrate(m, state.q, t * state.v + (0.5 * t * t) * acceleration),
          state.v + t * acceleration};
}

// Derivative of f at t = 0 by differences of fourth order.
template <class F>
auto derivative(F f) -> decltype((f(1.0) - f(0.0)).eval()) {
  const double h = 1e-3;
  return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h);
}

Vector6d all(const Momentum& p) {
  Vector6d x;
  x << to_eigen(p.angular), to_eigen(p.linear);
  return x;
}

// With rotors on moving bodies, on the parent of their hinge or elsewhere.
Mechanism floating_with_drives(Random& random) {
  MechanismBuilder b =
      random_tree(random, {.bodies = 6,
                           .free_base = true,
                           .welds = false,
                           .types = {HingeType::revolute, HingeType::prismatic, HingeType::screw}});
  b.set_gravity({});
  for (int i = 1; i < 6; ++i) {
    DriveSettings drive;
    drive.rotor_inertia = random.number(0.01, 0.1);
    drive.gear_ratio = random.number(-20.0, 20.0);
    drive.carrier = body_name(i % 2 == 0 ? random.below(6) : 0);
    drive.rotor_axis = random.vector();
    b.hinge("h" + std::to_string(i)).drive = drive;
  }
  return b.finish();
}

TEST(Momentum, IsConservedByInternalForcesRotorsIncluded) {
  Random random(22);
  for (int trial = 0; trial < 10; ++trial) {
    const Mechanism m = floating_with_drives(random);
    Case c = random_case(random, m, 0);
    c.effort.head(6).setZero();  // nothing from the ground
    const VectorXd a = forward_dynamics(m, c.state, c.effort);
    const Vector6d rate =
        derivative([&](double t) { return all(momentum(m, later(m, c.state, a, t))); });
    const double size = all(momentum(m, c.state)).norm();
    EXPECT_LT(rate.norm(), 1e-8 * (1.0 + size * a.norm()));
    const Vec3d about = random.vector();
    EXPECT_LT((momentum_matrix(m, c.state.q, about) * c.state.v - all(momentum(m, c.state, about)))
                  .norm(),
              1e-12 * (1.0 + size));
  }
}

// Momentum changes as the ground's wrench and gravity say.
TEST(Momentum, ChangesByExternalForces) {
  Random random(23);
  for (int trial = 0; trial < 10; ++trial) {
    const Mechanism m = random_tree(random, {.bodies = 8, .free_base = true}).finish();
    Case c = random_case(random, m, 0);
    c.effort.head(6).setZero();
    const VectorXd a = forward_dynamics(m, c.state, c.effort);
    const MassProperties whole = mass_properties(m, c.state.q);
    const Vec3d weight = whole.mass * m.gravity();
    Vector6d expected;
    expected << to_eigen(cross(whole.center_of_mass, weight)), to_eigen(weight);
    const Vector6d rate =
        derivative([&](double t) { return all(momentum(m, later(m, c.state, a, t))); });
    EXPECT_LT((rate - expected).norm(), 1e-7 * (expected.norm() + a.norm()));
  }
}

TEST(Momentum, SpecCaseA) {
  const SpecCase c = spec_case_a();
  const Momentum p = momentum(c.mechanism, c.state);
  const Vector3d linear(19.5125907979816, 5.21820484743891, -6.58778161830353);
  const Vector3d angular(-5.69142750637082, 19.3688302809418, -5.39189462169721);
  EXPECT_LT((to_eigen(p.linear) - linear).norm(), 1e-12);
  EXPECT_LT((to_eigen(p.angular) - angular).norm(), 1e-12);
  EXPECT_NEAR(mass_properties(c.mechanism, c.state.q).mass, 26.0, 1e-13);
}

TEST(Momentum, BodiesFixedToTheGroundCountInTheMassCentre) {
  MechanismBuilder b;
  b.add_body("slab", ball(3.0));
  HingeSettings bolts;
  bolts.type = HingeType::weld;
  bolts.frame_on_parent.translation = {2, 0, 0};
  b.add_hinge("bolts", kWorld, "slab", bolts);
  b.add_body("bob", ball(1.0)).add_hinge("rail", kWorld, "bob", {.type = HingeType::prismatic});
  const Mechanism m = b.finish();
  const State state{VectorXd::Constant(1, 4.0), VectorXd::Constant(1, 2.0)};
  EXPECT_LT(norm(center_of_mass(m, state.q) - Vec3d{1.5, 0, 1}), 1e-15);
  EXPECT_LT(norm(center_of_mass_velocity(m, state) - Vec3d{0, 0, 0.5}), 1e-15);
  EXPECT_LT(norm(momentum(m, state).linear - Vec3d{0, 0, 2}), 1e-15);
}

TEST(Momentum, RefusesWhatItCannotAnswer) {
  Random random(24);
  const Mechanism empty = MechanismBuilder("nothing").finish();
  EXPECT_THROW(center_of_mass(empty, VectorXd()), NumericalError);
  const Mechanism m = random_tree(random, {.bodies = 3, .welds = false}).finish();
  Workspace w(m);
  update_kinematics(m, zero_position(m), w);
  EXPECT_THROW(momentum(m, w), NumericalError);  // no velocities
  MatrixXd small(6, 1);
  EXPECT_THROW(center_of_mass_jacobian(m, w, small), NumericalError);
  EXPECT_THROW(momentum_matrix(m, w, {}, small), NumericalError);
}

}  // namespace
}  // namespace catena::test
