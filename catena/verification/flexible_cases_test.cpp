// SPDX-License-Identifier: BSD-3-Clause
// Published cases of flexible bodies that are not numbers of one state: why a truncated mass matrix
// fails, dead masses on a truss, zero dynamics with other modes.
#include <cmath>

#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/flexible/beam.h"
#include "catena/flexible/combine_modes.h"
#include "catena/io/load.h"
#include "catena/model/builder.h"
#include "catena/sensitivity/linearize.h"
#include "catena/sensitivity/modes.h"
#include "catena/verification/quantities.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// ---- The arm of [Padilla & von Flotow 1989] -----------------------------------------------------

class FlexibleArm : public testing::Test {
 protected:
  FlexibleArm() : mechanism_(load(CATENA_SOURCE_DIR "/verification/flexible_arm/model.yaml")) {}

  // Freedoms of one of the arms: joints first, then modes.
  std::vector<int> freedoms(const std::string& arm) const {
    std::vector<int> list;
    for (const char* name :
         {"shoulder", "elbow", "upper.mode1", "upper.mode2", "fore.mode1", "fore.mode2"})
      list.push_back(mechanism_.velocity_index(arm + name));
    return list;
  }

  MatrixXd mass(const std::string& arm, double elbow, double first, double second) const {
    VectorXd q = mechanism_.default_state().q;
    q[mechanism_.position_index(arm + "elbow")] = elbow;
    q[mechanism_.position_index(arm + "upper.mode1")] = first;
    q[mechanism_.position_index(arm + "fore.mode1")] = second;
    const std::vector<int> f = freedoms(arm);
    return mass_matrix(mechanism_, q)(f, f);
  }

  // Equation (2) of the paper: terms of first order of the deflection stay in M_RR and M_ER, not in
  // M_RE and M_EE. First-mode tip deflections ε L of link 1 and −ε L of link 2; tip values are 2.
  double truncated_determinant(const std::string& arm, double elbow, double epsilon) const {
    constexpr double kStep = 1e-6;
    const double y = 0.5 * epsilon * 0.9144;
    const MatrixXd rest = mass(arm, elbow, 0.0, 0.0);
    const MatrixXd slope =
        (mass(arm, elbow, kStep, -kStep) - mass(arm, elbow, -kStep, kStep)) / (2.0 * kStep);
    MatrixXd m = rest + y * slope;
    m.topRightCorner(2, 4) = rest.topRightCorner(2, 4);
    m.bottomRightCorner(4, 4) = rest.bottomRightCorner(4, 4);
    return determinant(m);
  }

  double first_zero(const std::string& arm, double elbow) const {
    double low = 0.0, high = 0.1;
    EXPECT_GT(truncated_determinant(arm, elbow, low), 0.0);
    EXPECT_LT(truncated_determinant(arm, elbow, high), 0.0);
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (truncated_determinant(arm, elbow, middle) > 0.0 ? low : high) = middle;
    }
    return low;
  }

  const Mechanism mechanism_;
};

TEST_F(FlexibleArm, TruncatedMassMatrixIsSingularAtSmallDeflections) {
  // Deflections at which the determinant changes sign, computed apart from this program with Gram
  // matrices of the same arm; four digits.
  struct Row {
    double degrees, consistent, inconsistent;
  };
  for (const Row& row :
       {Row{45, 0.05644, 0.01616}, Row{90, 0.03997, 0.01143}, Row{135, 0.05657, 0.01617}}) {
    const double elbow = row.degrees * 3.14159265358979323846 / 180.0;
    EXPECT_NEAR(first_zero("two_", elbow), row.consistent, 6e-6) << row.degrees;
    EXPECT_NEAR(first_zero("inconsistent_", elbow), row.inconsistent, 6e-6) << row.degrees;
    // The whole matrix stays positive definite far beyond.
    for (const double epsilon : {0.04, 0.1, 0.2}) {
      const double y = 0.5 * epsilon * 0.9144;
      EXPECT_TRUE(Cholesky(mass("two_", elbow, y, -y)).succeeded()) << row.degrees << epsilon;
    }
  }
}

// ---- Dead masses on a truss, [Minas, Garcia & Inman 1989] ---------------------------------------

// Frequencies in Hz: of the bare structure (table 1, reduced model, three decimals) and with a dead
// mass at one node (table 3).
constexpr int kTrussModes = 14;
constexpr double kBare[kTrussModes] = {1.039,  3.469,  8.051,  19.902, 21.750, 22.087, 30.477,
                                       39.326, 48.552, 51.842, 58.718, 71.275, 72.285, 80.920};
struct DeadMass {
  int node;
  double frequencies[kTrussModes];
};
constexpr DeadMass kDeadMasses[] = {{8,
                                     {0.97, 2.94, 8.00, 16.42, 21.44, 22.06, 28.53, 39.12, 46.40,
                                      51.45, 58.52, 70.71, 72.28, 80.74}},
                                    {2,
                                     {0.93, 3.39, 7.71, 18.25, 21.74, 21.98, 30.09, 39.17, 45.12,
                                      51.67, 54.15, 68.85, 71.87, 80.44}},
                                    {3,
                                     {0.93, 3.40, 7.66, 18.41, 21.45, 22.07, 30.02, 38.15, 46.65,
                                      49.02, 57.71, 68.34, 72.26, 80.13}},
                                    {4,
                                     {0.92, 2.94, 7.65, 17.47, 20.17, 21.77, 29.60, 37.87, 48.35,
                                      49.76, 58.47, 70.27, 72.26, 80.69}},
                                    {5,
                                     {0.98, 2.96, 7.95, 15.54, 21.75, 21.96, 27.79, 36.87, 48.35,
                                      50.89, 58.54, 70.62, 72.09, 80.67}},
                                    {6,
                                     {0.98, 3.41, 7.93, 19.84, 20.52, 21.94, 30.07, 39.30, 43.27,
                                      49.56, 58.60, 67.91, 71.67, 79.27}},
                                    {7,
                                     {0.98, 3.40, 7.95, 19.88, 20.24, 21.75, 30.43, 38.92, 45.40,
                                      51.40, 56.68, 68.31, 72.23, 79.27}},
                                    {10,
                                     {1.01, 3.42, 7.28, 19.52, 20.52, 22.00, 29.83, 37.06, 43.03,
                                      51.83, 56.07, 68.53, 71.34, 77.81}}};

VectorXd squares(const double* hertz) {
  VectorXd s(kTrussModes);
  for (int i = 0; i < kTrussModes; ++i) s[i] = std::pow(2.0 * 3.14159265358979323846 * hertz[i], 2);
  return s;
}

// m φ_i² of the dead mass from both spectra: residues of the determinant of a mass added at one
// point. Positive exactly where the spectra interlace.
VectorXd modal_shares(const VectorXd& bare, const VectorXd& loaded) {
  VectorXd share(kTrussModes);
  for (int i = 0; i < kTrussModes; ++i) {
    double x = -1.0 / bare[i];
    for (int k = 0; k < kTrussModes; ++k) {
      x *= bare[k] / loaded[k] * (loaded[k] - bare[i]);
      if (k != i) x /= bare[k] - bare[i];
    }
    share[i] = x;
  }
  return share;
}

TEST(TrussWithDeadMasses, SpectraInterlaceAndFollowFromTheModalBody) {
  constexpr double kDeadMass = 0.77;
  const VectorXd bare = squares(kBare);
  // The first two columns as worked out by hand from the tables.
  const double eight[] = {.141, .446, .019, .562, .140, .022, .404,
                          .031, .274, .084, .028, .059, .001, .017};
  const VectorXd found = modal_shares(bare, squares(kDeadMasses[0].frequencies));
  for (int i = 0; i < kTrussModes; ++i) EXPECT_NEAR(found[i], eight[i], 6e-4) << i;

  FlexibleBody truss;
  truss.mass = 7.335;
  truss.inertia = {50.0, 0.0, 0.0, 50.0, 0.0, 50.0};
  truss.modal_mass = MatrixXd::Identity(kTrussModes, kTrussModes);
  truss.stiffness = bare.asDiagonal();
  const MatrixXd none = MatrixXd::Zero(kTrussModes, kTrussModes);
  truss.damping = none;
  truss.mass_moment_1 = truss.coupling_0 = MatrixXd::Zero(3, kTrussModes);
  truss.inertia_1 = MatrixXd::Zero(6, kTrussModes);
  truss.mass_moment_2.fill(none);
  truss.inertia_2.fill(none);
  truss.coupling_1.fill(none);
  truss.size = 3.5;
  for (const DeadMass& row : kDeadMasses) {
    const VectorXd share = modal_shares(bare, squares(row.frequencies));
    EXPECT_GE(share.minCoeff(), 0.0) << row.node;  // 0: the mass sits where a mode has a node
    FlexibleBody::Attachment a;
    a.name = "node" + std::to_string(row.node);
    a.shape = a.slope = MatrixXd::Zero(3, kTrussModes);
    a.shape.row(2) = (share / kDeadMass).cwiseSqrt().transpose();
    a.second_shape.fill(none);
    a.second_slope.fill(none);
    truss.attachments.push_back(a);
  }
  const auto shared = std::make_shared<const FlexibleBody>(truss);
  for (const DeadMass& row : kDeadMasses) {
    MechanismBuilder b("truss");
    b.set_gravity(Vec3d::zero());
    b.add_flexible_body("truss", shared);
    b.add_hinge("clamp", kWorld, "truss", {.type = HingeType::weld});
    b.add_body("mass", {.mass = kDeadMass});
    b.add_hinge("bolt", "truss.node" + std::to_string(row.node), "mass", {.type = HingeType::weld});
    const Mechanism m = b.finish();
    const ModalAnalysis analysis =
        modes(linearize(m, {m.default_state(), VectorXd::Zero(m.freedoms())}));
    ASSERT_EQ(analysis.modes.size(), to_size(kTrussModes));
    for (int i = 0; i < kTrussModes; ++i) {
      const double hertz = analysis.modes[to_size(i)].frequency / (2.0 * 3.14159265358979323846);
      EXPECT_NEAR(hertz, row.frequencies[i], 1e-8 * row.frequencies[i]) << row.node;
      EXPECT_LE(hertz, kBare[i]);  // a mass lowers every frequency, at most to the one before
      EXPECT_GE(hertz, i > 0 ? kBare[i - 1] : 0.0);
    }
  }
}

// ---- Zero dynamics of a flexible link, [Ider 1989b] ---------------------------------------------

BeamSettings flexible_link(int modes) {
  BeamSettings s{.length = 2.7};
  s.section.values = {.bending_z = 68.95e9 * 0.0005 * 0.0005 / 12.0, .mass_per_length = 15.0 / 2.7};
  s.modes = {.set = ModeSet::clamped_free, .count = modes};
  s.attachments = {{.name = "a", .station = 1.8}};
  return s;
}

TEST(FlexibleLink, ZeroDynamicsWithPinnedFreeModes) {
  // Shapes of the link on its hinge, seen from the frame at the hinge: the motor then acts on the
  // angle alone, as it does with cantilever modes.
  constexpr int kModes = 40;
  const auto fine = make_beam(flexible_link(kModes));
  MechanismBuilder pin("pin");
  pin.set_gravity(Vec3d::zero());
  pin.add_flexible_body("link", fine);
  pin.add_hinge("pin", kWorld, "link", {.type = HingeType::revolute, .axes = {{0, 0, 1}}});
  const Mechanism pinned = pin.finish();
  const MatrixXd mass = mass_matrix(pinned, pinned.default_state().q);
  // The angle eliminated, K η = ω² (M_e − C Cᵀ/J) η; K is diagonal.
  const MatrixXd rest = mass.bottomRightCorner(kModes, kModes) -
                        mass.col(0).tail(kModes) * mass.row(0).tail(kModes) / mass(0, 0);
  const VectorXd scale = fine->stiffness.diagonal().cwiseSqrt().cwiseInverse();
  const MatrixXd scaled = scale.asDiagonal() * rest * scale.asDiagonal();
  const MatrixXd slowest = symmetric_eigen(scaled).vectors.rightCols(2);
  const auto body = combine_modes(*fine, scale.asDiagonal() * slowest);

  MechanismBuilder b("arm");
  b.set_gravity(Vec3d::zero());
  b.add_body(
      "first",
      {.mass = 30.0, .center_of_mass = {0.5, 0, 0}, .inertia = SymMat3d::diagonal(2.5, 2.5, 2.5)});
  b.add_hinge("joint1", kWorld, "first", {.type = HingeType::revolute, .axes = {{0, 0, 1}}});
  b.add_flexible_body("second", body);
  HingeSettings joint{.type = HingeType::revolute, .axes = {{0, 0, 1}}};
  joint.frame_on_parent.translation = {1, 0, 0};
  b.add_hinge("joint2", "first", "second", joint);
  const Mechanism m = b.finish();
  StateInput input = default_input(m);
  input.state.q[0] = 80.0 * 3.14159265358979323846 / 180.0;
  input.state.q[1] = -160.0 * 3.14159265358979323846 / 180.0;
  const MatrixXd found =
      find_quantity("zero_dynamics")->compute({m, input, "second.a", "", "", {0, 1}});
  ASSERT_EQ(found.rows(), 2);
  // verification/flexible_link_servo/generate.py, closed-form pinned-free shapes.
  EXPECT_NEAR(found(0, 0), -5157.559451432121, 0.05);
  EXPECT_NEAR(found(1, 0), 616.561931382326, 0.05);
}

}  // namespace
}  // namespace catena
