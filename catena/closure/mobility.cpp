// SPDX-License-Identifier: BSD-3-Clause
#include "catena/closure/mobility.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

constexpr double kSharpThreshold = 1e-9;
// Closed positions found from starts 0.02 to 0.2 unit steps away that are nearer than this are the
// same position. In a shaky position they agree to the square root of the closing tolerance.
constexpr double kStandsStill = 1e-3;
// Larger loops would take minutes.
constexpr int kMostFreedoms = 1500;

// Of the closure's rows in unit steps, over the largest.
Eigen::VectorXd pivots_at(const LoopClosure& loop, const Eigen::VectorXd& q) {
  if (loop.rows() == 0 || loop.freedoms() == 0) return {};
  const PivotedQr qr(loop.velocity_rows(q) * loop.unit_steps(q).asDiagonal());
  const Eigen::VectorXd pivots = qr.pivots();
  return qr.largest_pivot() > 0.0 ? Eigen::VectorXd(pivots / qr.largest_pivot()) : pivots;
}

int count_above(const Eigen::VectorXd& pivots, double threshold) {
  return static_cast<int>((pivots.array() > threshold).count());
}

int rank_at(const LoopClosure& loop, const Eigen::VectorXd& q, double threshold) {
  return count_above(pivots_at(loop, q), threshold);
}

struct Ranks {
  int rank = 0;
  int sharp = 0;     // with rows that are independent only within rounding
  int coarse = 0;    // without nearly redundant rows
  int rough = 0;     // or would be, if the loop should move
  int here = 0;      // at the position itself
  double off = 0.0;  // the largest pivot that is nearly redundant
  // The closed positions around it: how many, and how far away at most, in unit steps.
  int around = 0;
  double farthest = 0.0;

  void look(const Eigen::VectorXd& pivots) {
    rank = std::max(rank, count_above(pivots, kRankThreshold));
    sharp = std::max(sharp, count_above(pivots, kSharpThreshold));
    coarse = std::max(coarse, count_above(pivots, kNearlyRedundant));
    rough = std::max(rough, count_above(pivots, kNearlyRedundantIfRigid));
  }
};

// The largest over q and a few closed positions around it.
Ranks generic_ranks(const Mechanism& mechanism, const LoopClosure& loop, const Eigen::VectorXd& q) {
  Ranks ranks;
  std::vector<Eigen::VectorXd> seen{pivots_at(loop, q)};
  ranks.look(seen.back());
  ranks.here = ranks.rank;
  if (loop.constant() || ranks.rough == std::min(loop.rows(), loop.freedoms())) return ranks;
  const Eigen::VectorXd unit = loop.unit_steps(q);
  const std::vector<int> all = all_columns(loop);
  std::uint64_t seed = 1;
  for (const double size : {0.02, 0.05, 0.1, 0.2}) {
    const Eigen::VectorXd shift = size * random_vector(loop.freedoms(), seed++);
    const Closing near =
        close_loop(loop, loop.moved(q, unit.cwiseProduct(shift)), all, false, mechanism);
    if (!(near.gap <= kClosed)) continue;
    seen.push_back(pivots_at(loop, near.q));
    ranks.look(seen.back());
    const Eigen::VectorXd way = difference(mechanism, q, near.q);
    ++ranks.around;
    for (int k = 0; k < loop.freedoms(); ++k)
      ranks.farthest = std::max(ranks.farthest, std::abs(way[loop.freedom(k)] / unit[k]));
  }
  if (ranks.rank == loop.freedoms()) ranks.coarse = ranks.rough;
  for (const Eigen::VectorXd& pivots : seen)
    if (ranks.coarse < pivots.size()) ranks.off = std::max(ranks.off, pivots[ranks.coarse]);
  return ranks;
}

// In a loop that is redundant only within the rounding of its file no closed position lies around q
// either: exactly closed, it is rigid. It moves if the rows that count can be kept closed while the
// others stay closed to the accuracy of files; in a shaky position they open with the square of the
// distance.
bool moves_within_rounding(const LoopClosure& loop, const Eigen::VectorXd& q, int rank) {
  constexpr double kAside = 0.05;  // unit steps
  constexpr int kSteps = 10;
  const Eigen::VectorXd unit = loop.unit_steps(q);
  const auto rows_at = [&](const Eigen::VectorXd& at_q) {
    return Eigen::MatrixXd(loop.velocity_rows(at_q) * unit.asDiagonal());
  };
  const PivotedQr qr(rows_at(q).transpose());
  std::vector<int> kept;
  for (int k = 0; k < rank; ++k) kept.push_back(qr.pivot_column(k));
  if (rank == loop.freedoms()) return false;
  // The velocities that they allow.
  const Eigen::MatrixXd basis = qr.q().rightCols(loop.freedoms() - rank);
  for (Eigen::Index k = 0; k < basis.cols(); ++k) {
    Eigen::VectorXd there = loop.moved(q, kAside * unit.cwiseProduct(basis.col(k)));
    for (int step = 0; step < kSteps; ++step) {
      const Eigen::VectorXd open = loop.residual(there);
      if (Eigen::VectorXd(open(kept)).norm() < kSharpThreshold * kClosed) break;
      const Eigen::MatrixXd rows = loop.equations(there).jacobian * unit.asDiagonal();
      there = loop.moved(there, unit.cwiseProduct(least_norm(rows(kept, Eigen::all), -open(kept))));
    }
    if (loop.residual(there).norm() > kClosed) return false;
  }
  return true;
}

std::string nearly_redundant_text(const LoopMobility& loop) {
  return std::to_string(loop.nearly_redundant) +
         (loop.nearly_redundant == 1 ? " constraint is" : " constraints are") +
         " nearly redundant: off by " + short_number(loop.off, 2) +
         " rad or lengths of the loop (below " + short_number(kRankThreshold, 2) +
         " it would count as rounding). If parallel axes and equal lengths are meant, write "
         "them with more digits; the mobility is then " +
         std::to_string(loop.mobility + loop.nearly_redundant) + ", not " +
         std::to_string(loop.mobility);
}

LoopMobility analyse_loop(const Mechanism& mechanism, const LoopPlace& place,
                          const LoopClosure& loop, Eigen::VectorXd& q,
                          std::vector<std::string>& warnings) {
  LoopMobility result;
  result.freedoms = loop.freedoms();
  for (const int h : place.cut_hinges)  // those that keep their coordinates
    result.freedoms -= mechanism.hinges()[index(h)].freedoms;
  result.constraints = place.constraints;
  result.gruebler = result.freedoms - result.constraints;
  const std::string name = loop.name();
  if (loop.freedoms() > kMostFreedoms) {
    warnings.push_back(name + ": " + std::to_string(loop.freedoms()) +
                       " degrees of freedom are too many: its mobility is not counted");
    return result;
  }
  const Eigen::VectorXd given_residual = loop.residual(q);
  result.given_gap = given_residual.norm();
  const Closing closing = close_from_around(loop, q, all_columns(loop), false, mechanism);
  result.closed_gap = closing.gap;
  if (!(closing.gap <= kClosed)) {
    warnings.push_back(
        name + ": no closed position was found from the given one; in the best one " +
        loop.worst(loop.residual(closing.q)) + "; its mobility is not known" +
        (closing.gap <= kMostOpen ? ". If parallel axes and equal lengths are meant, "
                                    "write them with more digits"
                                  : ""));
    return result;
  }
  result.closed = true;
  q = closing.q;
  if (result.given_gap > kClosed)
    warnings.push_back(name + ": the given position is not closed (" + loop.worst(given_residual) +
                       "); its mobility is counted in a closed position near it");
  const Ranks ranks = generic_ranks(mechanism, loop, q);
  result.mobility = loop.freedoms() - ranks.rank;
  result.redundant = loop.rows() - ranks.rank;
  result.instantaneous = loop.freedoms() - ranks.here;
  result.singular = ranks.here < ranks.rank;
  if (result.instantaneous > 0 && ranks.around > 0 && ranks.farthest < kStandsStill &&
      !(ranks.sharp > ranks.rank && moves_within_rounding(loop, q, ranks.rank))) {
    result.shaky = result.singular = true;
    result.mobility = 0;
    result.trouble = name + ": a shaky position (infinitesimally mobile): " +
                     std::to_string(result.instantaneous) +
                     " freedoms instantaneously, but all closed positions found around it are "
                     "within " +
                     short_number(ranks.farthest, 2) +
                     " of it, so it cannot move; change the geometry, or start elsewhere";
    warnings.push_back(result.trouble);
    return result;  // what is redundant around it is not known either
  }
  if (ranks.sharp > ranks.rank)
    warnings.push_back(name + ": " + std::to_string(ranks.sharp - ranks.rank) +
                       (ranks.sharp - ranks.rank == 1 ? " constraint is" : " constraints are") +
                       " redundant only within the rounding of its numbers; write "
                       "parallel axes and lengths with all digits");
  if (ranks.coarse < ranks.rank) {
    result.nearly_redundant = ranks.rank - ranks.coarse;
    result.off = ranks.off;
    result.trouble = name + ": " + nearly_redundant_text(result);
    warnings.push_back(result.trouble);
  }
  return result;
}

}  // namespace

bool all_rows_count(const LoopClosure& loop, const Eigen::VectorXd& q) {
  return rank_at(loop, q, kRankThreshold) == loop.rows();
}

int generic_rank(const Mechanism& mechanism, const LoopClosure& loop, const Eigen::VectorXd& q) {
  return generic_ranks(mechanism, loop, q).rank;
}

MobilityReport analyse_mobility(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  MobilityReport report;
  report.q = q;
  int mobility = mechanism.tree_freedoms();
  bool known = true;
  for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i) {
    const LoopMobility loop = analyse_loop(mechanism, mechanism.loops()[index(i)],
                                           LoopClosure(mechanism, i), report.q, report.warnings);
    known = known && loop.closed;
    mobility -= loop.freedoms - loop.mobility;
    report.loops.push_back(loop);
  }
  if (known) report.mobility = mobility;
  return report;
}

}  // namespace catena
