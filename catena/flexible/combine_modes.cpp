// SPDX-License-Identifier: BSD-3-Clause
#include "catena/flexible/combine_modes.h"

#include "catena/base/dense.h"

namespace catena {

using Eigen::MatrixXd;

std::shared_ptr<const FlexibleBody> combine_modes(const FlexibleBody& body, const MatrixXd& t) {
  if (t.rows() != body.modes() || t.cols() < 1)
    throw NumericalError("combine_modes: the shapes are " + std::to_string(t.rows()) + " x " +
                         std::to_string(t.cols()) + ", but a body with " +
                         std::to_string(body.modes()) + " modes needs a row for each of them");
  const MatrixXd mass = t.transpose() * body.modal_mass * t;
  if (!t.allFinite() || PivotedQr(t).rank() < t.cols() || !Cholesky(mass).succeeded())
    throw NumericalError(
        "combine_modes: the columns of the shapes are linearly dependent or not finite; leave out "
        "those that repeat others");
  const auto row = [&](MatrixXd& m) {
    if (m.size() > 0) m = (m * t).eval();
  };
  const auto square = [&](MatrixXd& m) {
    if (m.size() > 0) m = (t.transpose() * m * t).eval();
  };
  auto made = std::make_shared<FlexibleBody>(body);
  FlexibleBody& b = *made;
  row(b.mass_moment_1);
  row(b.inertia_1);
  row(b.coupling_0);
  for (MatrixXd& m : b.mass_moment_2) square(m);
  for (MatrixXd& m : b.inertia_2) square(m);
  for (MatrixXd& m : b.coupling_1) square(m);
  b.modal_mass = mass;
  if (b.moments) {
    InertiaMoments& moments = *b.moments;
    row(moments.slope_0);
    for (std::size_t i = 0; i < 3; ++i) {
      row(moments.displacement_1[i]);
      row(moments.turning_1[i]);
      square(moments.slope_1[i]);
      for (MatrixXd& m : moments.displacement_2[i]) square(m);
      for (MatrixXd& m : moments.turning_2[i]) square(m);
    }
  }
  square(b.stiffness);
  square(b.damping);
  for (FlexibleBody::Attachment& a : b.attachments) {
    row(a.shape);
    row(a.slope);
    for (MatrixXd& m : a.second_shape) square(m);
    for (MatrixXd& m : a.second_slope) square(m);
  }
  for (FlexibleBody::StiffnessPart& part : b.stiffness_parts) square(part.matrix);
  for (FlexibleBody::DrawnPoint& point : b.drawn_points) row(point.shape);
  b.beam.reset();
  return made;
}

}  // namespace catena
