// SPDX-License-Identifier: BSD-3-Clause
// The branches of a closed loop at and beside singular positions (closed_loop.h).
#include <algorithm>

#include <fmt/format.h>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/simulation/coordinates/closed_loop.h"

namespace catena {
namespace {

// Redundant constraints disagree by less than this if their numbers have all digits.
constexpr double kRounded = 1e-10;
// Distance from a crossing of branches of the points between which it is examined.
constexpr double kBesideCrossing = 1e-2;
// A crossing is found to 2⁻⁴⁰ of the way.
constexpr int kBisections = 40;
// Number of Newton steps in the directions that are not folded: the start is near.
constexpr int kPolishingSteps = 4;

}  // namespace

// Near a singular position small disagreements decide whether branches meet and where the motion
// continues. Rows that the chart leaves out are open there, or not quite multiples of the others.
std::string ClosedLoop::disagreement() const {
  if (rank() == closure_.rows()) return "";
  const Eigen::MatrixXd rows =
      closure_.velocity_rows(anchor_.q) * closure_.unit_steps(anchor_.q).asDiagonal();
  const PivotedQr qr(rows);
  const Eigen::VectorXd pivots = qr.pivots();
  const double off = std::max(
      closure_.residual(anchor_.q).norm(),
      rank() < pivots.size() ? pivots[rank()] / std::max(qr.largest_pivot(), 1e-300) : 0.0);
  if (!(off > kRounded)) return "";
  return "; its redundant constraints disagree by " + fmt::format("{:.2g}", off) +
         " there, as in a file with few digits, so that branches which should meet in a singular "
         "position do not: write parallel axes and equal lengths with more digits";
}

void ClosedLoop::refuse_other_branch(const Eigen::VectorXd& x, int side) {
  if (anchor_.crossed || side == 0 || anchor_.tangent.side != -side) return;
  anchor_.crossed = meets(x);
  if (!anchor_.crossed)
    throw NumericalError("the " + closure_.name() +
                         " passes close by a singular position, where it turns within a very "
                         "short way: the step is too long" +
                         disagreement());
}

double ClosedLoop::distance_of_branches(int folded, Eigen::VectorXd& x, Eigen::VectorXd& q) const {
  if (rank() == 0) return 0.0;
  for (int iteration = 0;; ++iteration) {
    positions_.put(x, q);
    ClosureEquations e = closure_.equations(q);
    positions_.differentiate(q, e.jacobian);
    const Svd svd = full_svd(part(e.jacobian, 0, rank()));
    Eigen::VectorXd open = svd.u.transpose() * e.residual(rows_);
    Eigen::Index regular = rank() - folded;
    while (regular > 0 &&
           svd.values[regular - 1] < kEmbeddedPassage.folded * good_clearance_ * svd.values[0])
      --regular;
    if (iteration == kPolishingSteps) return open.tail(rank() - regular).norm();
    open.tail(rank() - regular).setZero();
    for (Eigen::Index k = 0; k < regular; ++k) open[k] /= svd.values[k];
    x.head(rank()) -= svd.v * open;
  }
}

bool ClosedLoop::meets(const Eigen::VectorXd& there) const {
  struct End {
    Eigen::VectorXd x;
    Eigen::MatrixXd map;
  };
  Eigen::VectorXd q = anchor_.q;
  const auto map_of = [&](const Eigen::VectorXd& x) {
    positions_.put(x, q);
    return map_at(q);
  };
  End a{anchor_.x, anchor_.tangent.map}, b{there, map_of(there).map};
  // The cubic through both ends with their directions, over the independent entries.
  const auto between = [&](double s) {
    const double w = 1.0 - s;
    const Eigen::VectorXd way = (b.x - a.x).tail(independents());
    Eigen::VectorXd x(a.x.size());
    x.tail(independents()) = a.x.tail(independents()) + s * way;
    x.head(rank()) = w * w * (1.0 + 2.0 * s) * a.x.head(rank()) +
                     s * s * (3.0 - 2.0 * s) * b.x.head(rank()) +
                     s * w * (w * (a.map * way) - s * (b.map * way));
    return x;
  };
  const auto crossing = [&] {
    double low = 0.0, high = 1.0;
    for (int k = 0; k < kBisections; ++k) {
      const double s = 0.5 * (low + high);
      (map_of(between(s)).side == anchor_.tangent.side ? low : high) = s;
    }
    return 0.5 * (low + high);
  };
  double s = crossing();
  const double way = (b.x - a.x).lpNorm<Eigen::Infinity>();
  if (way > 2.0 * kBesideCrossing) {  // from nearby
    End ends[2];
    for (int k = 0; k < 2; ++k) {
      Eigen::VectorXd near =
          between(std::clamp(s + (k == 0 ? -1.0 : 1.0) * kBesideCrossing / way, 0.0, 1.0));
      settle(near, q);
      ends[k] = {near, map_of(near).map};
    }
    a = ends[0];
    b = ends[1];
    s = crossing();
  }
  Eigen::VectorXd x = between(s);
  return !(distance_of_branches(1, x, q) > kBranchesMeet);
}

}  // namespace catena
