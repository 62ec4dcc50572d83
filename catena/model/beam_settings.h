// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; flexible_body.h needs it.
//
// A beam in its author's words: length, sections, material, clamped station, attachments, modes and
// damping. flexible/beam.h makes a FlexibleBody of it, which keeps these words for the YAML writer.
//
// Beam frame: x along the undeformed axis from its start, y and z the principal axes of the
// sections. Euler-Bernoulli bending, extension and Saint-Venant torsion; sections rotate with the
// axis and have rotary inertia. Units are SI, angles radians, frequencies rad/s.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "catena/spatial/transform.h"

namespace catena {

// Which terms of the deformation are kept [Padilla & von Flotow 1989].
//   consistent    all terms of first order: kinematics of second order (geometric stiffness)
//   inconsistent  kinematics of first order: loses stiffness when it spins; for comparison
//   ruthless      inertia and couplings of the undeformed body; stiffness and damping kept
enum class FlexibleModel { consistent, inconsistent, ruthless };

// Whether the inertia of the consistent model is completed, so that it stays positive at any
// deflection (model/flexible/flexible_completion.h).
//   automatic   where the hinge of the body's frame moves little inertia but that of the body
//   always, never
enum class InertiaCompletion { automatic, always, never };

// Choice of the shapes.
//   craig_bampton   six static shapes of every attachment and modes with all attachments fixed,
//                   then orthogonalized [Craig & Bampton 1968]
//   clamped_free    normal modes clamped at the frame, attachments free
//   clamped_loaded  the same with the given masses on the attachments
enum class ModeSet { craig_bampton, clamped_free, clamped_loaded };

// Section forces per strain and inertia per length. A stiffness that is not given is infinite:
// the beam does not deform that way.
struct BeamValues {
  std::optional<double> extension{};                      // EA, N
  std::optional<double> bending_y{};                      // EI about y (deflection along z), N m²
  std::optional<double> bending_z{};                      // EI about z (deflection along y), N m²
  std::optional<double> torsion{};                        // GJ, N m²
  double mass_per_length = 0.0;                           // ρA, kg/m
  double rotary_x = 0.0, rotary_y = 0.0, rotary_z = 0.0;  // ρ times second moments of area, kg m
};

// A section by shape, or by values.
struct BeamSection {
  enum class Shape { values, circle, tube, rectangle, box };
  Shape shape = Shape::values;
  double radius = 0.0;        // circle; tube: outer
  double inner_radius = 0.0;  // tube
  double width = 0.0;         // rectangle and box: along y
  double height = 0.0;        // along z
  double thickness = 0.0;     // box: of the wall
  BeamValues values{};
};

struct BeamMaterial {
  double youngs_modulus = 0.0;  // Pa
  double shear_modulus = 0.0;   // Pa
  double density = 0.0;         // kg/m³
};

// Places for hinges, frames and forces on the beam. The attachment's axes are those of the beam,
// turned with the section.
struct BeamAttachment {
  std::string name{};
  double station = 0.0;  // distance from the start of the beam
  // For the mode set clamped_loaded: the load there. It is no part of the body itself.
  double load_mass = 0.0;
  Vec3d load_inertia{};  // about beam axes
};

// Modal damping. The parts add up.
struct ModalDamping {
  // Fraction of critical, by mode; the last one holds for the modes that follow.
  std::vector<double> ratios{};
  double rayleigh_mass = 0.0;       // D = rayleigh_mass M + rayleigh_stiffness K
  double rayleigh_stiffness = 0.0;  // s
  // Ratio for frequencies below `below` and not below an earlier one.
  struct Band {
    double below = std::numeric_limits<double>::infinity();  // rad/s
    double ratio = 0.0;
  };
  std::vector<Band> bands{};
};

// How many shapes: a number of modal coordinates in all (Craig-Bampton: with its static shapes), or
// all modes up to a frequency (Craig-Bampton: static shapes, and fixed modes to twice of it).
struct ModeChoice {
  ModeSet set = ModeSet::craig_bampton;
  int count = 0;
  double frequency_limit = 0.0;  // rad/s
};

struct BeamSettings {
  double length = 0.0;
  BeamSection section{};
  std::optional<BeamSection> end_section{};  // tapered: linear from start to end
  std::optional<BeamMaterial> material{};
  Transformd pose{};             // X_body_beam
  double clamped_station = 0.0;  // where the body frame is rigidly fixed to the beam
  std::vector<BeamAttachment> attachments{};
  ModeChoice modes{};
  ModalDamping damping{};
  FlexibleModel model = FlexibleModel::consistent;
  InertiaCompletion completion = InertiaCompletion::automatic;
};

}  // namespace catena
