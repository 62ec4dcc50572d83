// SPDX-License-Identifier: BSD-3-Clause
// Beams as flexible bodies: the constants of model/flexible_body.h from length, sections and
// material, without a finite-element program.
//
//   BeamSettings boom{.length = 8.0, .section = {.shape = BeamSection::Shape::tube, ...}};
//   boom.material = BeamMaterial{.youngs_modulus = 70e9, .shear_modulus = 26e9, .density = 2700};
//   boom.attachments = {{.name = "tip", .station = 8.0}};
//   boom.modes = {.count = 12};
//   const auto body = make_beam(boom);                    // FlexibleBody
//
// The beam is clamped at one station, where the body frame is. Shapes are found with 2-node
// elements of higher order (beam_mesh.h), refined until the frequencies no longer change. The terms
// of second order come from the kinematics of a rod whose strains are linear in η:
//
//   θ2′ = ½ θ × θ′,   r2′ = θ2 × e1 + ½ θ × (θ × e1) + ε θ × e1
//
// with θ = (φ, −w′, v′) the rotation of the sections. A beam clamped at one station is statically
// determinate, so this is the geometric stiffness −Φᵀ K_σ[f] Φ of any load f by its section forces
// (axial force, shear, bending moments and torque).
//
// Modes are normalized so that the modal mass is the mass of the body: η is the root mean square
// displacement of its mass, in metres. Signs: positive strain or curvature at the clamped station.
#pragma once

#include <memory>
#include <string>

#include "catena/model/flexible_body.h"

namespace catena {

// Throws ModelError with every problem, named `name` and with remedies.
std::shared_ptr<const FlexibleBody> make_beam(const BeamSettings& settings,
                                              const std::string& name = "beam",
                                              const Source& source = {});

// The values of a section; of a shape by its material.
BeamValues beam_values(const BeamSection& section, const std::optional<BeamMaterial>& material);

}  // namespace catena
