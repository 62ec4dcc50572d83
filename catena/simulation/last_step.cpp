// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/last_step.h"

namespace catena {

void LastStep::take(const Eigen::VectorXd& y_start, bool looked_into) {
  equations_.make_step(start(), y_start, end(), y_end(), looked_into, span_);
  if (looked_into) interpolate(0.5 * (start() + end()), y_);
}

void LastStep::Within::rate(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) {
  step_.at(t, y, instant_);
  step_.equations_.evaluate(instant_, y, found_);
  step_.equations_.rates(found_, dy);
}

}  // namespace catena
