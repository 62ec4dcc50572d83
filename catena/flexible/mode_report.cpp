// SPDX-License-Identifier: BSD-3-Clause
#include "catena/flexible/mode_report.h"

#include <cmath>
#include <numbers>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/flexible/beam.h"

namespace catena {

ModeReport report_modes(const FlexibleBody& body) {
  ModeReport report;
  const int n = body.modes();
  // Modes of the builders are orthogonal and stay as they are: solving again would mix those of
  // equal frequency.
  const auto is_diagonal = [](const Eigen::MatrixXd& a) {
    const Eigen::VectorXd scale = a.diagonal().cwiseAbs().cwiseSqrt().cwiseInverse();
    const Eigen::MatrixXd ones = scale.asDiagonal() * a * scale.asDiagonal();
    return (ones - Eigen::MatrixXd::Identity(a.rows(), a.cols())).cwiseAbs().maxCoeff() < 1e-6;
  };
  Eigen::MatrixXd shapes;  // vᵀ M v = 1
  SymmetricEigen k;
  if (is_diagonal(body.modal_mass) && is_diagonal(body.stiffness)) {
    k.values = body.stiffness.diagonal().cwiseQuotient(body.modal_mass.diagonal());
    shapes = body.modal_mass.diagonal().cwiseSqrt().cwiseInverse().asDiagonal();
  } else {
    const SymmetricEigen m = symmetric_eigen(body.modal_mass);
    const Eigen::MatrixXd root =
        m.vectors * m.values.cwiseSqrt().cwiseInverse().asDiagonal() * m.vectors.transpose();
    k = symmetric_eigen(root * body.stiffness * root);
    shapes = root * k.vectors;
  }
  report.frequencies = k.values.cwiseMax(0.0).cwiseSqrt();
  report.damping_ratios.resize(n);
  for (int i = 0; i < n; ++i)
    report.damping_ratios[i] =
        shapes.col(i).dot(body.damping * shapes.col(i)) / (2.0 * report.frequencies[i]);
  report.effective_mass = (body.mass_moment_1 * shapes).array().square().matrix() / body.mass;

  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(6 + n, 6 + n);
  const auto& j = body.inertia;
  full.topLeftCorner(3, 3) << j[0], j[1], j[2], j[1], j[3], j[4], j[2], j[4], j[5];
  full.block(0, 3, 3, 3) = to_eigen(skew(body.mass_moment));
  full.block(3, 0, 3, 3) = full.block(0, 3, 3, 3).transpose();
  full.block(3, 3, 3, 3) = body.mass * Eigen::Matrix3d::Identity();
  full.block(0, 6, 3, n) = body.coupling_0;
  full.block(3, 6, 3, n) = body.mass_moment_1;
  full.block(6, 0, n, 6) = full.block(0, 6, 6, n).transpose();
  full.bottomRightCorner(n, n) = body.modal_mass;
  // Directions without inertia (a straight beam about its own axis) are left out.
  std::vector<int> kept;
  for (int i = 0; i < 6 + n; ++i)
    if (full(i, i) > 1e-14 * full.diagonal().maxCoeff()) kept.push_back(i);
  Eigen::MatrixXd scaled = full(kept, kept);
  const Eigen::VectorXd scale = scaled.diagonal().cwiseSqrt().cwiseInverse();
  scaled = scale.asDiagonal() * scaled * scale.asDiagonal();
  const Eigen::VectorXd values = symmetric_eigen(scaled).values;
  report.mass_condition = values[values.size() - 1] / values[0];
  report.longest_period = 2.0 * std::numbers::pi / report.frequencies[0];
  report.shortest_period = 2.0 * std::numbers::pi / report.frequencies[n - 1];
  return report;
}

std::vector<ModeSetReport> compare_mode_sets(const BeamSettings& beam) {
  std::vector<ModeSetReport> reports;
  const int count = make_beam(beam)->modes();
  for (const ModeSet set :
       {ModeSet::craig_bampton, ModeSet::clamped_free, ModeSet::clamped_loaded}) {
    BeamSettings other = beam;
    other.modes = {.set = set, .count = count};
    try {
      reports.push_back({set, report_modes(*make_beam(other))});
    } catch (const ModelError&) {
      continue;  // Craig-Bampton with fewer modes than static shapes
    }
  }
  return reports;
}

}  // namespace catena
