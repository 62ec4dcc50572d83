// SPDX-License-Identifier: BSD-3-Clause
#include "catena/flexible/damping.h"

#include <algorithm>
#include <cstddef>

namespace catena {

Eigen::MatrixXd modal_damping(const ModalDamping& damping, const Eigen::VectorXd& frequencies,
                              const Eigen::MatrixXd& mass, const Eigen::MatrixXd& stiffness) {
  Eigen::MatrixXd d = damping.rayleigh_mass * mass + damping.rayleigh_stiffness * stiffness;
  for (Eigen::Index i = 0; i < frequencies.size(); ++i) {
    double ratio = 0.0;
    if (!damping.ratios.empty())
      ratio += damping.ratios[std::min(static_cast<std::size_t>(i), damping.ratios.size() - 1)];
    for (const ModalDamping::Band& band : damping.bands)
      if (frequencies[i] < band.below) {
        ratio += band.ratio;
        break;
      }
    d(i, i) += 2.0 * ratio * frequencies[i] * mass(i, i);
  }
  return d;
}

}  // namespace catena
