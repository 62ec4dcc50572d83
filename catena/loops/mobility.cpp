#include "catena/loops/mobility.h"

#include <algorithm>
#include <cmath>

#include <Eigen/QR>

#include "catena/base/text.h"
#include "catena/loops/closure.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

// A loop is closed when its residual is below this (radians, or fractions of its size). Files are
// often written with six digits, and over-constrained loops then close no better than that.
constexpr double kClosed = 1e-5;
// The residual that Newton's method reaches in double precision, with two digits to spare.
constexpr double kExact = 1e-13;
// Pivots below this fraction of the largest are dependent rows. It stands above the errors of files
// with six digits (parallel axes typed as 1.5708), and below what a loop 0.02 rad away from a
// singular position has.
constexpr double kRankThreshold = 1e-5;
constexpr double kSharpThreshold = 1e-9;
// Larger loops would take minutes.
constexpr int kMostUnknowns = 1500;

struct Closing {
  LoopPosition position;
  double gap = kInfinity;
};

// Levenberg-Marquardt, then Newton with the step of least norm.
Closing close(const LoopClosure& loop, LoopPosition from) {
  constexpr int kSteps = 200;
  constexpr double kStart = 1e-2, kLeast = 1e-10, kMost = 1e8;
  constexpr double kLongestStep = 0.5;  // unit steps: keeps to the branch of the guess
  const Eigen::VectorXd unit = loop.unit_steps(from);
  ClosureEquations e = loop.equations(from);
  double damping = kStart;
  for (int step = 0; step < kSteps && e.residual.norm() > kExact && damping < kMost; ++step) {
    const Eigen::MatrixXd a = e.jacobian * unit.asDiagonal();
    const Eigen::Index n = a.cols();
    // min |a s + r|² + damping |s|², by QR: the normal equations would lose half the digits.
    Eigen::MatrixXd stacked(a.rows() + n, n);
    stacked << a, Eigen::MatrixXd::Identity(n, n) * std::sqrt(damping);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(a.rows() + n);
    right.head(a.rows()) = -e.residual;
    Eigen::VectorXd s = stacked.householderQr().solve(right);
    if (const double longest = s.lpNorm<Eigen::Infinity>(); longest > kLongestStep)
      s *= kLongestStep / longest;
    const LoopPosition trial = loop.moved(from, unit.cwiseProduct(s));
    ClosureEquations trial_e = loop.equations(trial);
    if (trial_e.residual.norm() < e.residual.norm()) {
      const bool settled = e.residual.norm() - trial_e.residual.norm() < 1e-9 * e.residual.norm();
      from = trial;
      e = std::move(trial_e);
      damping = std::max(damping / 10.0, kLeast);
      if (settled && damping <= kLeast) break;
    } else {
      damping *= 4.0;
    }
  }
  for (int step = 0; step < 4 && e.residual.norm() < kClosed && e.residual.norm() > kExact;
       ++step) {
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
    solver.setThreshold(kRankThreshold);
    solver.compute(e.jacobian * unit.asDiagonal());
    const LoopPosition trial = loop.moved(from, unit.cwiseProduct(solver.solve(-e.residual)));
    ClosureEquations trial_e = loop.equations(trial);
    if (!(trial_e.residual.norm() < e.residual.norm())) break;
    from = trial;
    e = std::move(trial_e);
  }
  return {std::move(from), e.residual.norm()};
}

int rank_of(const LoopClosure& loop, const LoopPosition& position, double threshold) {
  if (loop.rows() == 0 || loop.unknowns() == 0) return 0;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
  qr.setThreshold(threshold);
  qr.compute(loop.equations(position).jacobian * loop.unit_steps(position).asDiagonal());
  return static_cast<int>(qr.rank());
}

std::string loop_name(const Mechanism& mechanism, const LoopPlace& place) {
  constexpr std::size_t kNamed = 4;
  std::vector<std::string> names;
  for (const int b : place.bodies) {
    if (names.size() == kNamed && place.bodies.size() > kNamed + 1) {
      names.push_back(std::to_string(place.bodies.size() - kNamed) + " more");
      break;
    }
    names.push_back(mechanism.bodies()[static_cast<std::size_t>(b)].name);
  }
  return "loop of " + listed(names);
}

LoopMobility analyse_loop(const Mechanism& mechanism, const LoopPlace& place, Eigen::VectorXd& q,
                          std::vector<std::string>& warnings) {
  const LoopClosure loop(mechanism, place);
  LoopMobility result;
  result.freedoms = loop.tree_freedoms();
  result.constraints = place.constraints;
  result.gruebler = result.freedoms - result.constraints;
  const std::string name = loop_name(mechanism, place);
  if (loop.unknowns() > kMostUnknowns) {
    warnings.push_back(name + ": " + std::to_string(loop.unknowns()) +
                       " unknowns are too many to count its mobility");
    return result;
  }
  const LoopPosition given = loop.position(q);
  const Eigen::VectorXd given_residual = loop.equations(given).residual;
  result.given_gap = given_residual.norm();
  const Closing closing = close(loop, given);
  result.closed_gap = closing.gap;
  if (!(closing.gap <= kClosed)) {
    warnings.push_back(name + ": no closed position was found from the given one; at best " +
                       loop.worst(loop.equations(closing.position).residual) +
                       "; its mobility is not known");
    return result;
  }
  result.closed = true;
  q = closing.position.q;
  if (result.given_gap > kClosed)
    warnings.push_back(name + ": the given position is not closed (" + loop.worst(given_residual) +
                       "); its mobility is counted in a closed position near it");

  int rank = rank_of(loop, closing.position, kRankThreshold);
  int sharp_rank = rank_of(loop, closing.position, kSharpThreshold);
  if (!loop.constant()) {
    const Eigen::VectorXd unit = loop.unit_steps(closing.position);
    std::uint64_t seed = 1;
    for (const double size : {0.02, 0.05, 0.1, 0.2}) {
      const Eigen::VectorXd shift = size * random_vector(loop.unknowns(), seed++);
      const Closing near = close(loop, loop.moved(closing.position, unit.cwiseProduct(shift)));
      if (!(near.gap <= kClosed)) continue;
      rank = std::max(rank, rank_of(loop, near.position, kRankThreshold));
      sharp_rank = std::max(sharp_rank, rank_of(loop, near.position, kSharpThreshold));
    }
  }
  if (sharp_rank > rank)
    warnings.push_back(name + ": " + std::to_string(sharp_rank - rank) +
                       " constraints are redundant only within the rounding of its numbers; write "
                       "parallel axes and lengths with all digits");
  result.mobility = loop.unknowns() - rank;
  result.redundant = loop.rows() - rank;
  return result;
}

}  // namespace

MobilityReport analyse_mobility(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  MobilityReport report;
  report.q = q;
  int mobility = mechanism.freedoms();
  bool known = true;
  for (const LoopPlace& place : mechanism.loops()) {
    const LoopMobility loop = analyse_loop(mechanism, place, report.q, report.warnings);
    known = known && loop.closed;
    mobility -= loop.freedoms - loop.mobility;
    report.loops.push_back(loop);
  }
  if (known) report.mobility = mobility;
  return report;
}

}  // namespace catena
