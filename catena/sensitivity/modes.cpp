// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/modes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/dense.h"
#include "catena/base/text.h"

namespace catena {

const char* to_string(Stability stability) {
  switch (stability) {
    case Stability::stable:
      return "stable";
    case Stability::marginal:
      return "marginally stable";
    case Stability::unstable:
      return "unstable";
  }
  return "";
}

ModalAnalysis modes(const Eigen::MatrixXd& a) {
  ModalAnalysis result;
  if (a.rows() != a.cols())
    throw NumericalError("modal analysis needs a square matrix, not one of " +
                         std::to_string(a.rows()) + " rows and " + std::to_string(a.cols()) +
                         " columns");
  const Eigen::Index n = a.rows() / 2;
  if (a.rows() == 0) return result;
  // Balanced: positions scaled against velocities by the ratio of their blocks, so that
  // periods of 1e-3 and 1e3 seconds are both accurate.
  const double stiffness = a.bottomLeftCorner(n, n).norm();
  const double scale = stiffness > 0.0 ? std::sqrt(stiffness) : 1.0;
  Eigen::MatrixXd balanced = a;
  balanced.topRightCorner(n, n) *= scale;
  balanced.bottomLeftCorner(n, n) /= scale;
  const GeneralEigen parts = general_eigen(balanced);
  if (!parts.converged)
    throw NumericalError("the eigenvalues of the linear model did not converge");
  const double size = std::max(1.0, balanced.norm());
  result.tolerance = 10.0 * size * std::sqrt(std::numeric_limits<double>::epsilon());
  result.growth = -std::numeric_limits<double>::infinity();
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    const std::complex<double> lambda = parts.values[i];
    result.growth = std::max(result.growth, lambda.real());
    if (lambda.imag() < 0.0) continue;
    Mode mode;
    mode.eigenvalue = lambda;
    mode.frequency = std::abs(lambda);
    mode.damping = mode.frequency > 0.0 ? -lambda.real() / mode.frequency : 0.0;
    mode.multiplicity = lambda.imag() > 0.0 ? 2 : 1;
    mode.shape = parts.vectors.col(i).head(n);
    Eigen::Index largest = 0;
    if (n > 0 && mode.shape.cwiseAbs().maxCoeff(&largest) > 0.0) {
      const std::complex<double> by = mode.shape[largest];
      mode.shape /= by;
    }
    result.modes.push_back(std::move(mode));
  }
  std::stable_sort(result.modes.begin(), result.modes.end(),
                   [](const Mode& x, const Mode& y) { return x.frequency < y.frequency; });
  result.stability = result.growth > result.tolerance    ? Stability::unstable
                     : result.growth > -result.tolerance ? Stability::marginal
                                                         : Stability::stable;
  return result;
}

ModalAnalysis modes(const LinearModel& model) { return modes(model.A); }

}  // namespace catena
