// SPDX-License-Identifier: BSD-3-Clause
// Beams against closed forms and against the kinematics of a rod integrated numerically.
#include "catena/flexible/beam.h"

#include <cmath>
#include <functional>
#include <numbers>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/flexible/mode_report.h"

namespace catena {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;

// Dimensionless beam in the plane xy: ρA = L = EI = 1, clamped-free modes.
BeamSettings planar_beam(int modes) {
  BeamSettings s{.length = 1.0};
  s.section.values = {.bending_z = 1.0, .mass_per_length = 1.0};
  s.attachments = {{.name = "tip", .station = 1.0}};
  s.modes = {.set = ModeSet::clamped_free, .count = modes};
  return s;
}

// [Padilla & von Flotow 1989], single beam: integrals of the clamped-free modes with ∫φ² = L.
TEST(Beam, IntegralsOfClampedFreeModes) {
  const auto b = make_beam(planar_beam(4));
  const double lambda[4] = {1.87510406871, 4.69409113297, 7.85475743824, 10.9955407349};
  const double e[4] = {0.782991756, 0.4339358951, 0.2544252969, 0.1818980216};
  const double f[4] = {0.5688257437, 0.09076678689, 0.03241637437, 0.01654233502};
  MatrixXd mu(4, 4), eta(4, 4);
  mu << 1.57087819, -0.4223203891, -1.072084834, -0.8731377196, 0, 8.647142694, 1.890054708,
      -3.643384612, 0, 0, 24.95211331, 8.338289783, 0, 0, 0, 51.45910508;
  eta << 1.193336374, -0.6858552834, -0.7923792203, -0.5464132735, 0, 6.478224864, 0.1694078848,
      -2.911851112, 0, 0, 17.85951988, 3.274272064, 0, 0, 0, 36.05538833;
  EXPECT_NEAR(b->mass, 1.0, 1e-12);
  EXPECT_NEAR(b->inertia[5], 1.0 / 3.0, 1e-12);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(b->stiffness(i, i), std::pow(lambda[i], 4), 1e-9 * b->stiffness(i, i));
    EXPECT_NEAR(b->mass_moment_1(1, i), e[i], 2e-10);
    EXPECT_NEAR(b->coupling_0(2, i), f[i], 2e-10);
    EXPECT_NEAR(b->attachments[0].shape(1, i), i % 2 == 0 ? 2.0 : -2.0, 1e-9);
    for (int j = 0; j <= i; ++j) {
      EXPECT_NEAR(b->modal_mass(i, j), i == j ? 1.0 : 0.0, 1e-10);
      EXPECT_NEAR(-b->mass_moment_2[0](i, j), mu(j, i), 1e-8);
      EXPECT_NEAR(b->modal_mass(i, j) - 0.5 * b->inertia_2[5](i, j), eta(j, i), 1e-8);
    }
  }
}

TEST(Beam, FrequenciesOfAllWays) {
  // A round bar: both planes, extension and torsion against closed forms without rotary inertia.
  BeamSettings s{.length = 2.0};
  const double ea = 3.0e5, ei = 40.0, gj = 25.0, rho_a = 1.5, rho_ip = 0.02;
  s.section.values = {ea, ei, ei, gj, rho_a, rho_ip, 0.0, 0.0};
  s.modes = {.set = ModeSet::clamped_free, .count = 40};
  const auto b = make_beam(s);
  std::vector<double> expected;
  const double root = std::sqrt(ei / rho_a) / 4.0, pi = std::numbers::pi;
  for (int i = 1; i <= 30; ++i) {
    double x = (i - 0.5) * pi;  // cos x cosh x = −1
    for (int k = 0; k < 20; ++k)
      x -= (std::cos(x) + 1.0 / std::cosh(x)) /
           (-std::sin(x) - std::sinh(x) / std::pow(std::cosh(x), 2));
    expected.insert(expected.end(), 2, x * x * root);
    expected.push_back((i - 0.5) * pi / 2.0 * std::sqrt(ea / rho_a));
    expected.push_back((i - 0.5) * pi / 2.0 * std::sqrt(gj / rho_ip));
  }
  std::sort(expected.begin(), expected.end());
  const Eigen::VectorXd found = b->frequencies();
  for (int i = 0; i < 40; ++i)
    EXPECT_NEAR(found[i], expected[static_cast<std::size_t>(i)], 1e-8 * found[i]) << i;
}

TEST(Beam, Tapered) {
  // The width falls linearly to one half: Rayleigh-Ritz with 14 powers of x, by the test.
  BeamSettings s = planar_beam(3);
  s.section = {.shape = BeamSection::Shape::rectangle, .width = 0.02, .height = 0.01};
  s.end_section = s.section;
  s.end_section->width = 0.01;
  s.material = BeamMaterial{.youngs_modulus = 2e11, .shear_modulus = 8e10, .density = 7800.0};
  const auto b = make_beam(s);
  const int n = 14;
  MatrixXd m = MatrixXd::Zero(n, n), k = MatrixXd::Zero(n, n);
  const int steps = 4000;
  for (int i = 0; i < steps; ++i) {  // midpoint rule
    const double x = (i + 0.5) / steps, w = 0.02 - 0.01 * x, h = 0.01;
    Eigen::VectorXd f(n), d(n), dd(n);
    for (int j = 0; j < n; ++j) {
      const double p = j + 2.0;
      f[j] = std::pow(x, p);
      d[j] = p * std::pow(x, p - 1);
      dd[j] = p * (p - 1) * std::pow(x, p - 2);
    }
    m += 7800.0 * (w * h * f * f.transpose() + h * w * w * w / 12.0 * d * d.transpose()) / steps;
    k += 2e11 * h * w * w * w / 12.0 * dd * dd.transpose() / steps;
  }
  const Eigen::VectorXcd squares = eigenvalues(Lu(k).solve(m));
  const double first = 1.0 / std::sqrt(squares.real().maxCoeff());
  // The two planes interleave: bending about z is the stiffer one.
  BeamSettings plane = s;
  plane.modes.count = 6;
  const Eigen::VectorXd found = make_beam(plane)->frequencies();
  double nearest = 1e9;
  for (int i = 0; i < 6; ++i) nearest = std::min(nearest, std::abs(found[i] - first));
  EXPECT_LT(nearest, 1e-6 * first);
}

TEST(Beam, SectionsByShape) {
  const BeamMaterial m{.youngs_modulus = 1.0, .shear_modulus = 1.0, .density = 1.0};
  using Shape = BeamSection::Shape;
  const BeamValues tube =
      beam_values({.shape = Shape::tube, .radius = 2.0, .inner_radius = 1.0}, m);
  EXPECT_NEAR(tube.mass_per_length, 3.0 * std::numbers::pi, 1e-12);
  EXPECT_NEAR(*tube.bending_y, 15.0 / 4.0 * std::numbers::pi, 1e-12);
  EXPECT_NEAR(*tube.torsion, 15.0 / 2.0 * std::numbers::pi, 1e-12);
  // Square: J = 0.1405770149 a⁴; a 10:1 strip 0.3123... [Timoshenko & Goodier 1970, §109].
  const BeamValues square =
      beam_values({.shape = Shape::rectangle, .width = 1.0, .height = 1.0}, m);
  EXPECT_NEAR(*square.torsion, 0.1405770, 1e-7);
  const BeamValues strip =
      beam_values({.shape = Shape::rectangle, .width = 1.0, .height = 10.0}, m);
  EXPECT_NEAR(*strip.torsion / 10.0, 0.312, 5e-4);
  const BeamValues box =
      beam_values({.shape = Shape::box, .width = 2.0, .height = 3.0, .thickness = 0.5}, m);
  EXPECT_NEAR(*box.bending_y, (2.0 * 27.0 - 1.0 * 8.0) / 12.0, 1e-12);
}

// The rod's own kinematics, integrated: R′ = R κ~, r′ = (1 + ε) R e1 with strains linear in η.
struct RodMode {
  std::function<Vector3d(double)> curvature;  // κ(x)
  std::function<double(double)> strain;       // ε(x)
};
struct RodPose {
  Matrix3d turn = Matrix3d::Identity();
  Vector3d place = Vector3d::Zero();
};
Matrix3d skewed(const Vector3d& a) {
  Matrix3d s;
  s << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return s;
}
Matrix3d exponential(const Vector3d& a) {
  const double t = a.norm();
  const Matrix3d s = skewed(a);
  if (t < 1e-8) return Matrix3d::Identity() + s + 0.5 * s * s;
  return Matrix3d::Identity() + std::sin(t) / t * s + (1 - std::cos(t)) / (t * t) * s * s;
}
// Poses at the middle of `steps` equal intervals and (last) at the end.
std::vector<RodPose> rod(const std::vector<RodMode>& modes, const Eigen::VectorXd& eta,
                         double length, int steps) {
  std::vector<RodPose> poses;
  RodPose p;
  const double h = length / steps;
  const auto strains = [&](double x) {
    std::pair<Vector3d, double> s{Vector3d::Zero(), 0.0};
    for (std::size_t k = 0; k < modes.size(); ++k) {
      s.first += eta[static_cast<Eigen::Index>(k)] * modes[k].curvature(x);
      s.second += eta[static_cast<Eigen::Index>(k)] * modes[k].strain(x);
    }
    return s;
  };
  for (int i = 0; i < steps; ++i) {
    const double x = i * h;
    // Half a step and a whole one: exponentials of the middle curvature, Simpson for the position.
    const auto [k1, e1] = strains(x + 0.25 * h);
    RodPose middle;
    middle.turn = p.turn * exponential(0.5 * h * k1);
    const Matrix3d quarter = p.turn * exponential(0.25 * h * k1);
    middle.place =
        p.place + 0.5 * h / 6.0 *
                      ((1 + strains(x).second) * p.turn.col(0) + 4 * (1 + e1) * quarter.col(0) +
                       (1 + strains(x + 0.5 * h).second) * middle.turn.col(0));
    poses.push_back(middle);
    const auto [k2, e2] = strains(x + 0.75 * h);
    RodPose end;
    end.turn = middle.turn * exponential(0.5 * h * k2);
    const Matrix3d three = middle.turn * exponential(0.25 * h * k2);
    end.place = middle.place +
                0.5 * h / 6.0 *
                    ((1 + strains(x + 0.5 * h).second) * middle.turn.col(0) +
                     4 * (1 + e2) * three.col(0) + (1 + strains(x + h).second) * end.turn.col(0));
    p = end;
  }
  poses.push_back(p);
  return poses;
}
Vector3d rotation_vector(const Matrix3d& r) {
  const double c = 0.5 * (r.trace() - 1.0), t = std::acos(std::min(1.0, c));
  const Vector3d a(r(2, 1) - r(1, 2), r(0, 2) - r(2, 0), r(1, 0) - r(0, 1));
  const double s = 0.5 * a.norm();
  return s < 1e-12 ? Vector3d(0.5 * a) : Vector3d(a * (0.5 * (s < 0.1 ? std::asin(s) : t) / s));
}

class RodAgainstBeam : public testing::Test {
 protected:
  RodAgainstBeam() {
    BeamSettings s{.length = kLength};
    s.section.values = {900.0, 30.0, 20.0, 5.0, kRhoA, kRotary.x(), kRotary.y(), kRotary.z()};
    s.section.values.rotary_y = s.section.values.rotary_z = 0.0;  // closed forms of the modes
    s.modes = {.set = ModeSet::clamped_free, .count = 4};
    s.attachments = {{.name = "tip", .station = kLength}};
    body_ = make_beam(s);
    // Which closed-form mode each one is, by what it moves at the tip.
    const double m = kRhoA * kLength, pi = std::numbers::pi;
    for (int k = 0; k < 4; ++k) {
      const Vector3d shape = body_->attachments[0].shape.col(k);
      const Vector3d slope = body_->attachments[0].slope.col(k);
      RodMode mode{[](double) { return Vector3d::Zero().eval(); }, [](double) { return 0.0; }};
      if (std::abs(shape.y()) > 1e-6 || std::abs(shape.z()) > 1e-6) {
        const bool along_y = std::abs(shape.y()) > 1e-6;
        // φ = cosh − cos − σ (sinh − sin), ∫φ² = L; scaled to modal mass = mass: amplitude 1.
        const double tip = along_y ? shape.y() : shape.z();
        const int order = tip > 0 ? 1 : 2;
        const double beta = order == 1 ? 1.875104068711961 : 4.694091132974175;
        const double b = beta / kLength;
        const double sigma =
            (std::cosh(beta) + std::cos(beta)) / (std::sinh(beta) + std::sin(beta));
        mode.curvature = [=](double x) -> Vector3d {
          const double c =
              b * b *
              (std::cosh(b * x) + std::cos(b * x) - sigma * (std::sinh(b * x) + std::sin(b * x)));
          return along_y ? Vector3d(0, 0, c) : Vector3d(0, -c, 0);
        };
      } else if (std::abs(slope.x()) > 1e-6) {
        const double amplitude = std::sqrt(m / (kRotary.x() * kLength / 2.0));
        mode.curvature = [=](double x) -> Vector3d {
          const double b = 0.5 * pi / kLength;
          return {amplitude * b * std::cos(b * x), 0, 0};
        };
      } else {
        mode.strain = [=](double x) {
          const double b = 0.5 * pi / kLength;
          return std::sqrt(2.0) * b * std::cos(b * x);
        };
      }
      modes_.push_back(mode);
    }
  }

  struct Sums {
    Vector3d moment = Vector3d::Zero();
    Matrix3d inertia = Matrix3d::Zero();
    RodPose tip;
    std::vector<RodPose> poses;
  };
  Sums sums(const Eigen::VectorXd& eta) const {
    Sums s;
    s.poses = rod(modes_, eta, kLength, kSteps);
    s.tip = s.poses.back();
    const double dm = kRhoA * kLength / kSteps, dx = kLength / kSteps;
    const Matrix3d js = Vector3d(kRotary.x(), 0, 0).asDiagonal();
    for (int i = 0; i < kSteps; ++i) {
      const RodPose& p = s.poses[static_cast<std::size_t>(i)];
      s.moment += dm * p.place;
      s.inertia +=
          dm * (p.place.squaredNorm() * Matrix3d::Identity() - p.place * p.place.transpose()) +
          dx * p.turn * js * p.turn.transpose();
    }
    return s;
  }
  // Mixed second difference of f by η_k and η_l.
  template <class F>
  auto second(F f, int k, int l) const {
    const double h = 2e-3;
    Eigen::VectorXd a = Eigen::VectorXd::Zero(4), b = a;
    a[k] += h;
    a[l] += h;
    b[k] += h;
    b[l] -= h;
    return ((f(a) + f(-a) - f(b) - f(-b)) / (4 * h * h)).eval();
  }

  static constexpr double kLength = 1.3, kRhoA = 0.8;
  static constexpr int kSteps = 1200;
  const Vector3d kRotary{0.03, 0.0, 0.0};
  std::shared_ptr<const FlexibleBody> body_;
  std::vector<RodMode> modes_;
};

TEST_F(RodAgainstBeam, TermsOfSecondOrder) {
  const auto& tip = body_->attachments[0];
  int families = 0;
  for (int k = 0; k < 4; ++k) {
    families |= std::abs(tip.shape(1, k)) > 1e-6 ? 1 : 0;
    families |= std::abs(tip.shape(2, k)) > 1e-6 ? 2 : 0;
    families |= std::abs(tip.slope(0, k)) > 1e-6 && std::abs(tip.shape(1, k)) < 1e-6 ? 4 : 0;
  }
  EXPECT_EQ(families & 3, 3) << "the test wants bending in both planes";
  EXPECT_TRUE(families & 4) << "and torsion";
  for (int k = 0; k < 4; ++k)
    for (int l = 0; l <= k; ++l) {
      const Vector3d shape =
          second([&](const Eigen::VectorXd& e) { return sums(e).tip.place; }, k, l);
      const Vector3d slope =
          second([&](const Eigen::VectorXd& e) { return rotation_vector(sums(e).tip.turn); }, k, l);
      const Vector3d h = second([&](const Eigen::VectorXd& e) { return sums(e).moment; }, k, l);
      const Matrix3d j = second([&](const Eigen::VectorXd& e) { return sums(e).inertia; }, k, l);
      const double scale = 1.0 + std::abs(body_->inertia_2[5](k, l));
      for (int c = 0; c < 3; ++c) {
        EXPECT_NEAR(tip.second_shape[static_cast<std::size_t>(c)](k, l), shape[c], 3e-4 * scale);
        EXPECT_NEAR(tip.second_slope[static_cast<std::size_t>(c)](k, l), slope[c], 3e-4 * scale);
        EXPECT_NEAR(body_->mass_moment_2[static_cast<std::size_t>(c)](k, l), h[c], 3e-4 * scale);
      }
      const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
      for (int c = 0; c < 6; ++c)
        EXPECT_NEAR(body_->inertia_2[static_cast<std::size_t>(c)](k, l), j(row[c], column[c]),
                    3e-4 * scale)
            << k << l << c;
    }
}

// C_r from the rod: Σ m r × ∂r/∂η_i + R J_s Rᵀ ω_i, its derivative by η_j.
TEST_F(RodAgainstBeam, RotationCoupling) {
  const double h = 1e-3, dm = kRhoA * kLength / kSteps, dx = kLength / kSteps;
  const Matrix3d js = Vector3d(kRotary.x(), 0, 0).asDiagonal();
  const auto coupling = [&](const Eigen::VectorXd& eta, int i) {
    Eigen::VectorXd step = Eigen::VectorXd::Zero(4);
    step[i] = h;
    const Sums plus = sums(eta + step), minus = sums(eta - step), here = sums(eta);
    Vector3d c = Vector3d::Zero();
    for (std::size_t p = 0; p < static_cast<std::size_t>(kSteps); ++p) {
      const RodPose &a = plus.poses[p], &b = minus.poses[p], &o = here.poses[p];
      c += dm * o.place.cross(a.place - b.place) / (2 * h);
      const Matrix3d w = (a.turn - b.turn) / (2 * h) * o.turn.transpose();
      const Vector3d omega(0.5 * (w(2, 1) - w(1, 2)), 0.5 * (w(0, 2) - w(2, 0)),
                           0.5 * (w(1, 0) - w(0, 1)));
      c += dx * o.turn * js * o.turn.transpose() * omega;
    }
    return c;
  };
  for (int i = 0; i < 4; ++i) {
    const Vector3d c0 = coupling(Eigen::VectorXd::Zero(4), i);
    for (int a = 0; a < 3; ++a) EXPECT_NEAR(body_->coupling_0(a, i), c0[a], 1e-5);
    for (int j = 0; j < 4; ++j) {
      Eigen::VectorXd step = Eigen::VectorXd::Zero(4);
      step[j] = h;
      const Vector3d c1 = (coupling(step, i) - coupling(-step, i)) / (2 * h);
      for (int a = 0; a < 3; ++a)
        EXPECT_NEAR(body_->coupling_1[static_cast<std::size_t>(a)](i, j), c1[a],
                    3e-4 * (1 + std::abs(c1[a])))
            << i << j << a;
    }
  }
}

TEST(Beam, CraigBamptonDeflectsExactlyUnderTipLoads) {
  // The static shapes contain the deflection under any load at the attachment: δ = F L³ / 3EI,
  // θ = M L / EI, and so on.
  BeamSettings s{.length = 2.0};
  s.section.values = {1e5, 300.0, 500.0, 80.0, 1.2, 0.01, 0.0, 0.0};
  s.attachments = {{.name = "tip", .station = 2.0}};
  s.modes = {.set = ModeSet::craig_bampton, .count = 9};
  const auto b = make_beam(s);
  ASSERT_EQ(b->modes(), 9);
  MatrixXd w(6, 9);
  w << b->attachments[0].slope, b->attachments[0].shape;
  const MatrixXd flexibility = w * Cholesky(b->stiffness).solve(w.transpose());
  EXPECT_NEAR(flexibility(0, 0), 2.0 / 80.0, 1e-10);
  EXPECT_NEAR(flexibility(1, 1), 2.0 / 300.0, 1e-10);
  EXPECT_NEAR(flexibility(2, 2), 2.0 / 500.0, 1e-10);
  EXPECT_NEAR(flexibility(3, 3), 2.0 / 1e5, 1e-12);
  EXPECT_NEAR(flexibility(4, 4), 8.0 / 1500.0, 1e-10);
  EXPECT_NEAR(flexibility(5, 5), 8.0 / 900.0, 1e-10);
  EXPECT_NEAR(flexibility(2, 4), 4.0 / 1000.0, 1e-10);
  EXPECT_NEAR(flexibility(1, 5), -4.0 / 600.0, 1e-10);
}

TEST(Beam, ClampedLoadedHasTheFrequencyOfTheLoadedBeam) {
  // A heavy tip mass: ω² = 3 EI / (M + 33/140 m) L³, Rayleigh's value, exact to 1 % of m/M.
  BeamSettings s = planar_beam(2);
  s.modes.set = ModeSet::clamped_loaded;
  s.attachments[0].load_mass = 100.0;
  const auto b = make_beam(s);
  const double load = 100.0;
  const MatrixXd phi = b->attachments[0].shape.row(1);
  const Eigen::VectorXcd squares =
      eigenvalues(Cholesky(b->modal_mass + load * phi.transpose() * phi).solve(b->stiffness));
  EXPECT_NEAR(squares.real().minCoeff(), 3.0 / (load + 33.0 / 140.0), 1e-6);
}

TEST(Beam, ClampedInTheMiddleAndPosed) {
  // Both halves of a beam clamped at its middle: frequencies of the half beam, twice each; the
  // constants in a turned frame give the same inertia.
  BeamSettings s = planar_beam(6);
  s.clamped_station = 0.5;
  s.attachments = {{.name = "left", .station = 0.0}, {.name = "right", .station = 1.0}};
  const auto b = make_beam(s);
  const auto half = make_beam([] {
    BeamSettings h = planar_beam(3);
    h.length = 0.5;
    h.attachments[0].station = 0.5;
    return h;
  }());
  const Eigen::VectorXd twice = b->frequencies(), once = half->frequencies();
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(twice[i], once[i / 2], 1e-8 * twice[i]);
  // A hanging mass half: −h2 along the beam of the left half has the opposite sign.
  EXPECT_NEAR((b->mass_moment_2[0].trace()), 0.0, 1e-9);

  BeamSettings turned = planar_beam(3);
  turned.pose = {Rotationd::about_z(0.5 * std::numbers::pi), {0.1, 0.2, 0.3}};
  const auto t = make_beam(turned), o = make_beam(planar_beam(3));
  EXPECT_NEAR(t->mass_moment.x, 0.1, 1e-12);
  EXPECT_NEAR(t->mass_moment.y, 0.7, 1e-12);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(t->mass_moment_1(0, i), -o->mass_moment_1(1, i), 1e-12);
    EXPECT_NEAR(t->mass_moment_2[1](i, i), o->mass_moment_2[0](i, i), 1e-10);
    EXPECT_NEAR(t->attachments[0].slope(2, i), o->attachments[0].slope(2, i), 1e-10);
  }
}

TEST(Beam, DampingByRatioRayleighAndBand) {
  BeamSettings s = planar_beam(4);
  s.damping.ratios = {0.01, 0.02};
  s.damping.rayleigh_mass = 0.3;
  s.damping.rayleigh_stiffness = 1e-4;
  s.damping.bands = {{.below = 10.0, .ratio = 0.001}, {.below = 50.0, .ratio = 0.1}};
  const ModeReport r = report_modes(*make_beam(s));
  const double ratio[4] = {0.011, 0.12, 0.02, 0.02};
  for (int i = 0; i < 4; ++i) {
    const double w = r.frequencies[i];
    EXPECT_NEAR(r.damping_ratios[i], ratio[i] + 0.15 / w + 0.5e-4 * w, 1e-9);
  }
  EXPECT_LE(r.effective_mass.row(1).sum(), 1.0);
  EXPECT_NEAR(r.effective_mass(1, 0), 0.782991756 * 0.782991756, 1e-8);
  EXPECT_EQ(compare_mode_sets([] {
              BeamSettings b{.length = 1.0};
              b.section.values = {1e4, 1.0, 2.0, 1.0, 1.0, 0.01, 0.0, 0.0};
              b.attachments = {{.name = "tip", .station = 1.0}};
              b.modes = {.count = 8};
              return b;
            }())
                .size(),
            3u);
}

}  // namespace
}  // namespace catena
