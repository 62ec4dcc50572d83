// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/sparse/structure_reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/modes.h"
#include "catena/control/sparse/structure_parts.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

void check_settings(const SecondOrder& s, const StructureReductionSettings& settings) {
  s.validate();
  require_symmetric(s, "reduction");
  require_mass(s, "reduction");
  if (s.input_count() == 0 || s.output_count() == 0)
    throw Error("reduction: the structure has " + std::to_string(s.input_count()) + " inputs and " +
                std::to_string(s.output_count()) +
                " outputs; give B, and Cq or Cv, at least one column and one row");
  if (settings.order < 2)
    throw Error("reduction: order " + std::to_string(settings.order) +
                " is too small; a structure needs at least 2 states");
  if (settings.order > 2 * s.freedom_count())
    throw Error("reduction: order " + std::to_string(settings.order) +
                " is more than the structure's " + std::to_string(2 * s.freedom_count()) +
                " states");
  if (!(settings.lowest >= 0.0) || !std::isfinite(settings.highest) || !(settings.highest >= 0.0) ||
      (settings.highest > 0.0 && settings.lowest >= settings.highest))
    throw Error("reduction: the band " + number(settings.lowest) + " to " +
                number(settings.highest) + " rad/s is empty; give 0 <= lowest < highest");
}

MatrixXd or_zero(const MatrixXd& c, Eigen::Index rows, Eigen::Index cols) {
  return c.size() > 0 ? c : MatrixXd::Zero(rows, cols);
}

// The largest gain of mode i in the band: at its resonance, or at the nearer end.
double gain_in_band(const StructureParts& p, int i, const MatrixXd& b, const MatrixXd& cq,
                    const MatrixXd& cv) {
  const double wi = p.modes.frequency[i];
  const double w = std::clamp(wi, p.lowest, p.highest);
  const double damping = std::max(p.damping[i], 1e-12);
  const double size = b.row(i).norm() * (cq.col(i).norm() + w * cv.col(i).norm());
  return size / std::hypot(wi * wi - w * w, 2.0 * damping * wi * w);
}

StructureParts parts_of(const SecondOrder& s, const StructureReductionSettings& settings) {
  StructureParts p{.structure = s, .stiffness = DynamicStiffness(s)};
  const int kept = settings.order / 2;
  p.lowest = settings.lowest;
  p.highest = settings.highest;
  SparseModesSettings wanted;
  if (p.highest > 0.0) {
    // Candidates beyond the band: as far as half of it, as many as the order at least.
    p.in_band = ShiftedStiffness(p.stiffness, p.highest * p.highest).eigenvalues_below();
    wanted.count = std::min(s.freedom_count(), std::max(p.in_band + p.in_band / 2, kept) + 6);
  } else {
    wanted.count = std::min(s.freedom_count(), kept + 6);
  }
  p.modes = sparse_modes(s, p.stiffness, wanted);
  if (p.highest == 0.0) {
    p.in_band = std::max(p.modes.rigid + 1, 2 * kept / 3);
    p.in_band = std::min<int>(p.in_band, static_cast<int>(p.modes.frequency.size()));
    p.highest = p.modes.frequency[p.in_band - 1] * 1.02;
  }
  if (p.modes.rigid * 2 > settings.order)
    throw NumericalError("reduction: order " + std::to_string(settings.order) +
                         " is less than the " + std::to_string(2 * p.modes.rigid) +
                         " states of the rigid modes, which must be kept");
  const Modal m = modal(s, p.modes.frequency, p.modes.shapes);
  p.damping = m.damping;
  const Eigen::Index n = s.freedom_count(), outputs = s.output_count();
  p.weight = VectorXd::Zero(p.modes.frequency.size());
  for (int i = p.modes.rigid; i < p.modes.frequency.size(); ++i) {
    if (!(p.damping[i] > 1e-12))
      throw NumericalError("reduction: the mode at " + short_number(p.modes.frequency[i], 5) +
                           " rad/s has no damping: its gain is infinite; give D, for instance "
                           "0.01 K divided by a frequency of the band");
    p.weight[i] = gain_in_band(p, i, m.B, m.Cq, m.Cv);
  }
  p.B = s.B;
  p.Cq = or_zero(s.Cq, outputs, n);
  p.Cv = or_zero(s.Cv, outputs, n);
  if (p.modes.rigid == 0) return p;
  const MatrixXd phi = p.rigid_shapes(), weighted = s.M * phi;
  if (s.D.nonZeros() > 0) {
    const MatrixXd damped = s.D * phi;
    const double held = std::abs((phi.transpose() * damped).trace()),
                 scale = std::abs((p.modes.shapes.transpose() * (s.D * p.modes.shapes)).trace());
    if (held > 1e-9 * scale)
      throw NumericalError(
          "reduction: the damping holds a rigid mode (poles at 0 and on the negative axis); clamp "
          "that freedom, or leave its dampers to the controller");
  }
  p.B -= weighted * (phi.transpose() * p.B);
  p.Cq -= (p.Cq * phi) * weighted.transpose();
  p.Cv -= (p.Cv * phi) * weighted.transpose();
  return p;
}

// Rigid coordinates (η, η̇) beside the elastic part.
StateSpace with_rigid(const StructureParts& p, const StateSpace& elastic) {
  const Eigen::Index r = p.modes.rigid;
  if (r == 0) return elastic;
  const MatrixXd phi = p.rigid_shapes();
  const SecondOrder& s = p.structure;
  MatrixXd a = MatrixXd::Zero(2 * r, 2 * r);
  a.topRightCorner(r, r).setIdentity();
  const MatrixXd b = vstack(MatrixXd::Zero(r, s.input_count()), phi.transpose() * s.B);
  const MatrixXd cq = or_zero(s.Cq, s.output_count(), s.freedom_count()),
                 cv = or_zero(s.Cv, s.output_count(), s.freedom_count());
  const MatrixXd c = hstack(cq * phi, cv * phi);
  return ss(block_diagonal(a, elastic.A), vstack(b, elastic.B), hstack(c, elastic.C), elastic.D);
}

}  // namespace

StructureReduction reduce(const SecondOrder& structure,
                          const StructureReductionSettings& settings) {
  const lapack::OneThread one;
  check_settings(structure, settings);
  StructureParts p = parts_of(structure, settings);
  StructureReduction r;
  r.lowest = p.lowest;
  r.highest = p.highest;
  r.modes_in_band = p.in_band;
  r.rigid = p.modes.rigid;
  r.frequencies = p.modes.frequency;
  r.sigma = p.weight;
  const int elastic = settings.order - 2 * p.modes.rigid;
  StateSpace small = modal_reduction(p, elastic);
  if (settings.method == StructureMethod::balanced)
    small = balanced_reduction(p, small, r);
  else if (settings.method == StructureMethod::interpolation)
    small = interpolation_reduction(p, small, settings.iterations, r);
  if (structure.feedthrough.size() > 0) small.D += structure.feedthrough;
  const bool stable = has_stable_poles(small);
  r.system = with_rigid(p, small);
  r.system.inputs = structure.inputs;
  r.system.outputs = structure.outputs;
  r.system.fill_names();
  r.certificate.add("elastic part of the result is stable", stable, stable ? 1.0 : 0.0, 1.0);
  r.certificate.add("modes counted by Sylvester's law", true, p.modes.counted,
                    static_cast<double>(p.modes.frequency.size()));
  if (settings.samples > 0) sample_error(p, settings, r);
  if (settings.samples > 0 && !(r.error.between <= settings.tolerance))
    r.certificate.remarks.push_back(
        settings.method == StructureMethod::modal
            ? "the relative error is above the tolerance: give more states, or a band that ends "
              "lower"
            : "the relative error is above the tolerance: this method makes the absolute error "
              "small "
              "over all frequencies; for a relative one in a band use the method modal");
  return r;
}

std::vector<Eigen::MatrixXcd> structure_response(const SecondOrder& s,
                                                 const std::vector<double>& omega) {
  DynamicStiffness stiffness(s);
  std::vector<Eigen::MatrixXcd> result;
  result.reserve(omega.size());
  for (const double w : omega) {
    const Complex jw(0.0, w);
    stiffness.factor(jw);
    const Eigen::MatrixXcd x = stiffness.solve(s.B.cast<Complex>());
    Eigen::MatrixXcd g = Eigen::MatrixXcd::Zero(s.output_count(), s.input_count());
    if (s.Cq.size() > 0) g += s.Cq * x;
    if (s.Cv.size() > 0) g += jw * (s.Cv * x);
    if (s.feedthrough.size() > 0) g += s.feedthrough;
    result.push_back(std::move(g));
  }
  return result;
}

}  // namespace catena
