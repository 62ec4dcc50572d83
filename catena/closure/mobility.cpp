#include "catena/closure/mobility.h"

#include <algorithm>
#include <cmath>

#include <Eigen/QR>

#include "catena/closure/assembly.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

constexpr double kSharpThreshold = 1e-9;
// Larger loops would take minutes.
constexpr int kMostFreedoms = 1500;

int rank_at(const LoopClosure& loop, const Eigen::VectorXd& q, double threshold) {
  if (loop.rows() == 0 || loop.freedoms() == 0) return 0;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
  qr.setThreshold(threshold);
  qr.compute(loop.velocity_rows(q) * loop.unit_steps(q).asDiagonal());
  return static_cast<int>(qr.rank());
}

struct Ranks {
  int rank = 0;
  int sharp = 0;  // counting what is independent only within the rounding of the file's numbers
};

// The largest over q and a few closed positions around it.
Ranks generic_ranks(const Mechanism& mechanism, const LoopClosure& loop, const Eigen::VectorXd& q) {
  Ranks ranks{rank_at(loop, q, kRankThreshold), rank_at(loop, q, kSharpThreshold)};
  if (loop.constant() || ranks.rank == std::min(loop.rows(), loop.freedoms())) return ranks;
  const Eigen::VectorXd unit = loop.unit_steps(q);
  const std::vector<int> all = all_columns(loop);
  std::uint64_t seed = 1;
  for (const double size : {0.02, 0.05, 0.1, 0.2}) {
    const Eigen::VectorXd shift = size * random_vector(loop.freedoms(), seed++);
    const Closing near =
        close_loop(loop, loop.moved(q, unit.cwiseProduct(shift)), all, false, mechanism);
    if (!(near.gap <= kClosed)) continue;
    ranks.rank = std::max(ranks.rank, rank_at(loop, near.q, kRankThreshold));
    ranks.sharp = std::max(ranks.sharp, rank_at(loop, near.q, kSharpThreshold));
  }
  return ranks;
}

LoopMobility analyse_loop(const Mechanism& mechanism, const LoopPlace& place,
                          const LoopClosure& loop, Eigen::VectorXd& q,
                          std::vector<std::string>& warnings) {
  LoopMobility result;
  result.freedoms = loop.freedoms();
  for (const int h : place.cut_hinges)  // those that keep their coordinates
    result.freedoms -= mechanism.hinges()[static_cast<std::size_t>(h)].freedoms;
  result.constraints = place.constraints;
  result.gruebler = result.freedoms - result.constraints;
  const std::string name = loop.name();
  if (loop.freedoms() > kMostFreedoms) {
    warnings.push_back(name + ": " + std::to_string(loop.freedoms()) +
                       " freedoms are too many to count its mobility");
    return result;
  }
  const Eigen::VectorXd given_residual = loop.residual(q);
  result.given_gap = given_residual.norm();
  const Closing closing = close_from_around(loop, q, all_columns(loop), false, mechanism);
  result.closed_gap = closing.gap;
  if (!(closing.gap <= kClosed)) {
    warnings.push_back(name + ": no closed position was found from the given one; at best " +
                       loop.worst(loop.residual(closing.q)) + "; its mobility is not known");
    return result;
  }
  result.closed = true;
  q = closing.q;
  if (result.given_gap > kClosed)
    warnings.push_back(name + ": the given position is not closed (" + loop.worst(given_residual) +
                       "); its mobility is counted in a closed position near it");
  const Ranks ranks = generic_ranks(mechanism, loop, q);
  if (ranks.sharp > ranks.rank)
    warnings.push_back(name + ": " + std::to_string(ranks.sharp - ranks.rank) +
                       " constraints are redundant only within the rounding of its numbers; write "
                       "parallel axes and lengths with all digits");
  result.mobility = loop.freedoms() - ranks.rank;
  result.redundant = loop.rows() - ranks.rank;
  result.singular = rank_at(loop, q, kRankThreshold) < ranks.rank;
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
  const AggregateTables tables = make_aggregate_tables(mechanism);
  for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i) {
    const LoopMobility loop =
        analyse_loop(mechanism, mechanism.loops()[static_cast<std::size_t>(i)],
                     LoopClosure(mechanism, tables, i), report.q, report.warnings);
    known = known && loop.closed;
    mobility -= loop.freedoms - loop.mobility;
    report.loops.push_back(loop);
  }
  if (known) report.mobility = mobility;
  return report;
}

}  // namespace catena
