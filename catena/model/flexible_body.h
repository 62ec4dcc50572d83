// SPDX-License-Identifier: BSD-3-Clause
// FlexibleBody: the constants of an elastic body that moves as a whole through large motions and
// deforms a little, by n modal coordinates η relative to its frame (floating frame of reference,
// modal body; "standard input data" of [Wallrapp 1994] in another form).
//
// The frame is tangent to the body where it is clamped, at the inboard hinge. With η, in that
// frame:
//
//   mass moment          h = h0 + h1 η + ½ ηᵀ h2 η                     3
//   inertia              J = J0 + J1 η + ½ ηᵀ J2 η                     xx xy xz yy yz zz
//   rotation coupling    C_r = C0 + C1 η     (C1_a[i, j]: i the rate, j contracted with η)
//   translation coupling C_t = h1 + h2 η
//   kinetic energy       ½ V̄ᵀ [J h~ C_r; · m 1 C_t; · · M_e] V̄,   V̄ = (ω, v, η̇)
//   elastic energy       ½ ηᵀ K η,   dissipation η̇ᵀ D η̇
//
// and an attachment is at r = r0 + Φ η + ½ ηᵀ B_t η with axes R0 exp(Ψ η + ½ ηᵀ B_r η).
//
// The terms of second order are the geometric stiffness: the second derivative of f·u by η is
// −Φᵀ K_σ[f] Φ, so h2, J2 and C1 hold the 12 inertia loads (and the 9 couples of rotary inertia) of
// [Banerjee & Lemak 1991], and B the six loads on the attachment, through which what hangs there
// stiffens the body. Constants are made by flexible/beam.h and flexible/matrices_body.h, or filled
// in by the user; check_flexible_body() says what is wrong with them.
//
// Identical bodies share one FlexibleBody. Theory: docs/theory/flexible.md.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catena/base/error.h"
#include "catena/model/beam_settings.h"
#include "catena/spatial/eigen.h"
#include "catena/spatial/transform.h"

namespace catena {

// First moments of the displacement u = Φ η + ½ ηᵀ B η and of the turning of the body's matter,
// from which model/flexible/flexible_completion.h completes its inertia. Sums over matter of mass m
// at x, with the inertia J_s about its own point and the section velocity
//   χ = (1 − θ~ + ½ θ~²) ω + (1 − ½ θ~) θ̇,   θ = Ψ η + ½ ηᵀ B_r η,   to the second order.
struct InertiaMoments {
  using ThreeMatrices = std::array<Eigen::MatrixXd, 3>;
  Eigen::Matrix3d second = Eigen::Matrix3d::Zero();     // Σ m x xᵀ
  ThreeMatrices displacement_1{};                       // Σ m x_j Φ, by j: 3×n
  std::array<ThreeMatrices, 3> displacement_2{};        // Σ m x_j B, by j and axis: n×n
  Eigen::Matrix3d turning_0 = Eigen::Matrix3d::Zero();  // Σ J_s χ of a unit ω: its parts of the
  ThreeMatrices turning_1{};                            // orders 0, 1 (by axis of ω: 3×n) and
  std::array<ThreeMatrices, 3> turning_2{};             // 2 (by row and axis of ω: n×n)
  Eigen::MatrixXd slope_0{};                            // Σ J_s χ of unit η̇: 3×n, and
  ThreeMatrices slope_1{};                              // by row: n×n, the rate by the row
};

struct FlexibleBody {
  struct Attachment {
    std::string name{};
    Rotationd rotation{};     // R0: axes at rest
    Vec3d position{};         // r0
    Eigen::MatrixXd shape{};  // Φ, 3×n: displacement in body axes
    Eigen::MatrixXd slope{};  // Ψ, 3×n: rotation in the attachment's axes at rest
    std::array<Eigen::MatrixXd, 3> second_shape{};  // B_t, symmetric n×n
    std::array<Eigen::MatrixXd, 3> second_slope{};  // B_r
  };
  // A point of the undeformed body and how the modes displace it: for drawing.
  struct DrawnPoint {
    Vec3d position{};
    Eigen::MatrixXd shape{};  // 3×n
  };
  // A share of the stiffness that is proportional to one parameter: K = Σ parts at their values.
  struct StiffnessPart {
    std::string name{};        // "EIy", "EIz", "EA", "GJ"
    Eigen::MatrixXd matrix{};  // n×n, with the mode shapes held fixed
    double value = 1.0;        // of the parameter (of a tapered beam: where it is clamped)
  };

  double mass = 0.0;
  Vec3d mass_moment{};                             // h0
  Eigen::MatrixXd mass_moment_1{};                 // h1, 3×n
  std::array<Eigen::MatrixXd, 3> mass_moment_2{};  // h2
  std::array<double, 6> inertia{};                 // J0 about the frame's origin
  Eigen::MatrixXd inertia_1{};                     // J1, 6×n
  std::array<Eigen::MatrixXd, 6> inertia_2{};      // J2
  Eigen::MatrixXd coupling_0{};                    // C0, 3×n
  std::array<Eigen::MatrixXd, 3> coupling_1{};     // C1
  Eigen::MatrixXd modal_mass{};                    // M_e
  Eigen::MatrixXd stiffness{};                     // K
  Eigen::MatrixXd damping{};                       // D
  std::vector<Attachment> attachments{};
  FlexibleModel model = FlexibleModel::consistent;
  InertiaCompletion completion = InertiaCompletion::automatic;
  std::optional<InertiaMoments> moments{};  // none: the inertia cannot be completed

  std::vector<StiffnessPart> stiffness_parts{};
  std::vector<DrawnPoint> drawn_points{};      // along the beam
  double size = 0.0;                           // length by which deflections are judged, m
  std::shared_ptr<const BeamSettings> beam{};  // what the author said, if it is a beam

  int modes() const { return static_cast<int>(modal_mass.rows()); }
  // Natural frequencies with the frame clamped and the attachments free, rad/s, lowest first.
  Eigen::VectorXd frequencies() const;
};

// Every problem of the numbers, named with a remedy; `what` is how messages name the body. Errors:
// sizes, numbers that are not finite, stiffness that is not symmetric or not positive definite,
// shapes that contain rigid motion (frequency 0), an inertia that no real body has, no modes.
// Warnings: damping above critical.
std::vector<Diagnostic> check_flexible_body(const FlexibleBody& body, const std::string& what,
                                            const Source& source = {});

std::string_view to_string(FlexibleModel model);
std::string_view to_string(ModeSet set);
std::optional<FlexibleModel> flexible_model_from(std::string_view name);
std::optional<ModeSet> mode_set_from(std::string_view name);
std::string_view to_string(InertiaCompletion completion);
std::optional<InertiaCompletion> inertia_completion_from(std::string_view name);

}  // namespace catena
