// SPDX-License-Identifier: BSD-3-Clause
// Mechanisms and linear plants with uncertain parameters, as linear fractional forms.
//
// A mechanism with ranges on its parameters is linearized in the equilibrium it has for each value:
// the independent positions are held and the efforts at the inputs are found again; where they
// cannot hold it, the freedoms without input move to their equilibrium (find_equilibrium). With
//
//   M(p) v̇ = P2(p) δq + P1(p) v + P3(p) u,   y = C(p) (δq, v)
//
// the matrices are polynomials in most parameters (affine in masses, inertias, stiffness and
// damping). They are found exactly from a few mechanisms (polynomial_dependence.h), M(p) is never
// inverted, and each coefficient costs as many channels as it has rank. Where the dependence is no
// polynomial (lengths in closed loops), it is one to the error that is reported.
//
//   const MechanismFamily family(robot, model, {"body.payload.mass"});
//   UncertainPlant plant = uncertain_plant(family, ranges, parse_uncertainties("gain.elbow:±10%"));
//   const RobustStability r = robstab(closed_loop(plant.system, controller));
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "catena/robust/uncertain_system.h"
#include "catena/robust/uncertainty.h"
#include "catena/sensitivity/linearize.h"
#include "catena/sensitivity/parameters.h"

namespace catena {

// The mechanism with other values of some parameters, each in its own equilibrium.
class MechanismFamily {
 public:
  struct Member {
    std::unique_ptr<Mechanism> mechanism;
    LinearModel model;
    bool moved = false;  // the inputs cannot hold it where the nominal one rests
  };
  // `model` is about an equilibrium of the mechanism, which must outlive the family. Names as in
  // parameters.h, also "mass.payload".
  MechanismFamily(const Mechanism& mechanism, const LinearModel& model,
                  const std::vector<std::string>& names);

  const Mechanism& mechanism() const { return mechanism_; }
  const LinearModel& nominal() const { return model_; }
  const std::vector<std::string>& names() const { return parameters_.names(); }
  Eigen::VectorXd values() const { return parameters_.values(); }  // of the mechanism as given
  // Throws ModelError for impossible values, NumericalError if there is no equilibrium.
  Member at(const Eigen::VectorXd& values) const;

 private:
  const Mechanism& mechanism_;
  LinearModel model_;
  ParameterSet parameters_;
  LinearizeSettings ports_;
  std::vector<std::uint8_t> held_;  // freedoms with an input
};

struct UncertainPlant {
  UncertainSystem system{};  // from p and the plant's inputs to q and the plant's outputs
  int entries = 0;           // of Δ
  int repeats = 0;           // entries beyond one for each uncertainty
  int cross_terms = 0;       // coefficients of products of parameters
  int degree = 0;
  int evaluations = 0;
  double error = 0.0;  // of the fractional form: largest entry of M, P1, P2, P3, C, each block
                       // relative to its size, at random points of the ranges
  bool moved = false;  // the equilibrium depends on the parameters
};

// `all`: parameters (fitting the family's names in their order), gains, delays and modes. Throws
// Error naming the parameter whose range has an impossible value.
UncertainPlant uncertain_plant(const MechanismFamily& family, const std::vector<Uncertainty>& all);
// The same for a linear plant: gains, delays and modes.
UncertainPlant uncertain_plant(const StateSpace& plant, const std::vector<Uncertainty>& all);

// The loop u = K y + w, z = y. K is fitted by the names of its signals. A sampled controller is
// replaced by its continuous equivalent (Tustin) and the delay of its hold and its computation
// (Padé), which is said among the remarks.
UncertainSystem closed_loop(const UncertainSystem& plant, const StateSpace& controller,
                            double delay = 0.0);

}  // namespace catena
