// SPDX-License-Identifier: BSD-3-Clause
// Frequencies of spinning and accelerated beams from the constants of the body alone: the equations
// of the modes with the frame moved at constant ω and v (in its own axes), or with v̇.
#include <cmath>

#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/flexible/beam.h"

namespace catena {
namespace {

using Eigen::MatrixXd;

// K − ∂²/∂η² (½ Vᵀ M_rr(η) V): stiffness of the modes at a constant twist of the frame.
MatrixXd stiffness_at(const FlexibleBody& b, const Vec3d& w, const Vec3d& v) {
  const auto& j = b.inertia_2;
  MatrixXd k = b.stiffness;
  k -= 0.5 * (w.x * w.x * j[0] + w.y * w.y * j[3] + w.z * w.z * j[5]) + w.x * w.y * j[1] +
       w.x * w.z * j[2] + w.y * w.z * j[4];
  const Vec3d u = cross(v, w);  // ω·(h × v) = h·(v × ω)
  for (int c = 0; c < 3; ++c) k -= u[c] * b.mass_moment_2[static_cast<std::size_t>(c)];
  return k;
}

double lowest_frequency(const MatrixXd& m, const MatrixXd& k) {
  return std::sqrt(eigenvalues(Cholesky(m).solve(k)).real().minCoeff());
}

// EI = ρA = L = 1 in one plane: lag (bending about z, the spin axis) or flap (about y).
std::shared_ptr<const FlexibleBody> unit_beam(int modes, bool flap,
                                              FlexibleModel model = FlexibleModel::consistent) {
  BeamSettings s{.length = 1.0};
  if (flap)
    s.section.values = {.bending_y = 1.0, .mass_per_length = 1.0};
  else
    s.section.values = {.bending_z = 1.0, .mass_per_length = 1.0};
  s.modes = {.set = ModeSet::clamped_free, .count = modes};
  s.model = model;
  return make_beam(s);
}

// At spin Ω about z with the root at distance b from the axis.
MatrixXd spinning(const FlexibleBody& body, double spin, double hub) {
  return stiffness_at(body, {0, 0, spin}, {0, spin * hub, 0});
}

TEST(RotatingBeam, FlapAndLagTable) {
  const auto flap = unit_beam(20, true), lag = unit_beam(20, false);
  const double omega[9] = {0, 1, 2, 3, 4, 6, 8, 10, 12};
  const double expected[9] = {3.51602, 3.68165, 4.13732,  4.79728, 5.58500,
                              7.36037, 9.25684, 11.20233, 13.17015};
  for (int i = 0; i < 9; ++i)
    EXPECT_NEAR(lowest_frequency(flap->modal_mass, spinning(*flap, omega[i], 0.0)), expected[i],
                1e-5 * expected[i])
        << omega[i];
  EXPECT_NEAR(lowest_frequency(lag->modal_mass, spinning(*lag, 12.0, 0.0)), 5.42705, 6e-5);
  EXPECT_NEAR(lowest_frequency(flap->modal_mass, spinning(*flap, 12.0, 1.0)), 19.72154, 2e-4);
  EXPECT_NEAR(lowest_frequency(lag->modal_mass, spinning(*lag, 12.0, 1.0)), 15.65053, 1.6e-4);
  Eigen::VectorXd squares =
      eigenvalues(Cholesky(flap->modal_mass).solve(spinning(*flap, 12.0, 0.0))).real();
  std::sort(squares.begin(), squares.end());
  EXPECT_NEAR(std::sqrt(squares[1]), 37.60311, 4e-4);
}

// [Padilla & von Flotow 1989]: ω/ω₁ against Ω/ω₁ for three hub radii and mode counts.
TEST(RotatingBeam, FrequencyAgainstSpin) {
  struct Row {
    double hub;
    int modes;
    double ratio[5];
    double tolerance;
  };
  const double spin[5] = {0.5, 1, 2, 5, 10};
  const Row rows[] = {
      {0, 1, {1.0238819, 1.0923994, 1.3316702, 2.4152452, 4.5092835}, 1e-7},
      {0, 2, {1.0235192, 1.0874465, 1.2833304, 2.0310473, 3.4859749}, 1e-7},
      {0, 4, {1.0234498, 1.0864311, 1.2710150, 1.8550940, 2.8134601}, 1e-7},
      {0.5, 2, {1.1151016, 1.4006059, 2.1772722, 4.8519000, 9.4983376}, 1e-7},
      {1, 2, {1.1996659, 1.6552864, 2.7988263, 6.5505166, 12.955957}, 1e-7},
      {0, 60, {1.0234466, 1.0863780, 1.2700383, 1.8183591, 2.5082316}, 1e-5},
      {0.5, 60, {1.1149121, 1.3983258, 2.1578272, 4.6852650, 8.9692203}, 1e-5},
      {1, 60, {1.1993190, 1.6515932, 2.7719246, 6.3612300, 12.4066881}, 1e-5},
  };
  const double first = std::pow(1.8751040687119611, 2);
  for (const Row& row : rows) {
    const auto body = unit_beam(row.modes, false);
    for (int i = 0; i < 5; ++i)
      EXPECT_NEAR(
          lowest_frequency(body->modal_mass, spinning(*body, spin[i] * first, row.hub)) / first,
          row.ratio[i], row.tolerance * row.ratio[i])
          << row.hub << " " << row.modes << " " << spin[i];
  }
}

TEST(RotatingBeam, InconsistentModelLosesStiffness) {
  const auto body = unit_beam(2, false, FlexibleModel::inconsistent);
  const double first = std::pow(1.8751040687119611, 2);
  EXPECT_NEAR(lowest_frequency(body->modal_mass, spinning(*body, 0.5 * first, 0.0)) / first,
              0.8660254, 1e-7);
  const Eigen::VectorXd squares =
      eigenvalues(Cholesky(body->modal_mass).solve(spinning(*body, 2.0 * first, 1.0))).real();
  EXPECT_LT(squares.minCoeff(), 0.0);
}

TEST(RotatingBeam, SelfWeightBuckling) {
  // v̇ = g along the beam: C_tᵀ v̇ adds g h2 to the stiffness. Critical g ρ L³ / EI by modes.
  const std::pair<int, double> rows[] = {
      {1, 7.869714818}, {2, 7.852948687}, {4, 7.838163425}, {24, 7.83734743894}};
  for (const auto& [modes, expected] : rows) {
    const auto body = unit_beam(modes, false);
    const Eigen::VectorXcd inverse =
        eigenvalues(Cholesky(body->stiffness).solve(-body->mass_moment_2[0]));
    EXPECT_NEAR(1.0 / inverse.real().maxCoeff(), expected, modes < 24 ? 1e-8 : 1e-6) << modes;
  }
}

}  // namespace
}  // namespace catena
