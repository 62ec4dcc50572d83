// SPDX-License-Identifier: BSD-3-Clause
#include "catena/closure/chart.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/closure/chart_rows.h"
#include "catena/closure/loop_closure.h"
#include "catena/closure/mobility.h"

namespace catena {
namespace {

// Below this the position is singular at the rank that the loop has elsewhere: the accelerations
// would have no digits.
constexpr double kSingular = 1e-12;

// The first `count` pivots of a column-pivoted QR, smallest pivot over largest in `quality`.
std::vector<int> pivot_columns(const Eigen::MatrixXd& m, int count, double& quality) {
  std::vector<int> columns;
  quality = 1.0;
  if (count == 0) return columns;  // Eigen's QR must not be empty
  const PivotedQr qr(m);
  for (int i = 0; i < count; ++i) columns.push_back(qr.pivot_column(i));
  const Eigen::VectorXd pivots = qr.pivots();
  quality = pivots[0] > 0.0 && count <= pivots.size() ? pivots[count - 1] / pivots[0] : 0.0;
  return columns;
}

Eigen::MatrixXd columns_of(const Eigen::MatrixXd& m, const std::vector<int>& columns) {
  Eigen::MatrixXd part(m.rows(), static_cast<Eigen::Index>(columns.size()));
  for (int k = 0; k < static_cast<int>(columns.size()); ++k) part.col(k) = m.col(at(columns, k));
  return part;
}

double singular_ratio(const Eigen::MatrixXd& m) {
  if (m.size() == 0) return 1.0;
  const Eigen::VectorXd s = singular_values(m);
  return s[0] > 0.0 ? s[s.size() - 1] / s[0] : 0.0;
}

// The velocities that the rows allow, an orthonormal row for each: the kernel at a given rank.
Eigen::MatrixXd allowed_velocities(const Eigen::MatrixXd& rows, int rank) {
  const Eigen::Index n = rows.cols(), count = n - rank;
  if (rank == 0) return Eigen::MatrixXd::Identity(n, n);
  const PivotedQr qr(rows.transpose());
  Eigen::MatrixXd last = Eigen::MatrixXd::Zero(n, count);
  last.bottomRows(count).setIdentity();
  return qr.q_times(last).transpose();
}

// Columns of the allowed velocities that determine all others best, those in `first` before all
// others; the least pivot in `least`. Entries of X grow as it falls.
std::vector<int> pick_independent(Eigen::MatrixXd k, const std::vector<int>& first, double& least) {
  least = 1.0;
  std::vector<int> picked;
  std::vector<char> open(to_size(k.cols()), first.empty() ? 1 : 0);
  for (const int column : first) at(open, column) = 1;
  for (Eigen::Index i = 0; i < k.rows(); ++i) {
    if (i == static_cast<Eigen::Index>(first.size()))
      for (int c = 0; c < static_cast<int>(k.cols()); ++c)
        at(open, c) = std::find(picked.begin(), picked.end(), c) == picked.end() ? 1 : 0;
    int best = -1;
    double most = -1.0;
    for (int c = 0; c < static_cast<int>(k.cols()); ++c)
      if (at(open, c) != 0 && k.col(c).norm() > most) {
        best = c;
        most = k.col(c).norm();
      }
    if (best < 0) break;
    at(open, best) = 0;
    picked.push_back(best);
    least = std::min(least, most);
    if (!(most > 0.0)) continue;
    const Eigen::VectorXd direction = k.col(best) / most;
    k -= direction * (direction.transpose() * k).eval();
  }
  return picked;
}

Eigen::MatrixXd scaled_rows(const LoopClosure& loop, const Eigen::VectorXd& q) {
  return loop.velocity_rows(q) * loop.unit_steps(q).asDiagonal();
}

[[noreturn]] void throw_pinned(const Mechanism& mechanism, const LoopClosure& loop,
                               const std::vector<int>& pinned, int rank) {
  std::vector<std::string> names;
  names.reserve(pinned.size());
  for (const int k : pinned)
    names.push_back("'" + at(mechanism.velocity_names(), loop.freedom(k)) + "'");
  const int mobility = loop.freedoms() - rank;
  throw NumericalError(
      listed(names) + " of the " + loop.name() + " cannot " +
      (static_cast<int>(pinned.size()) > mobility
           ? "all be independent or motion-driven: the loop has only " + std::to_string(mobility)
           : "be independent or motion-driven in this position (a dead centre); choose another of "
             "the loop's freedoms, or move away from it; the loop has " +
                 std::to_string(mobility)));
}

LoopChart choose_loop_chart(const Mechanism& mechanism, const LoopClosure& loop,
                            const Eigen::VectorXd& q, const ChartSettings& settings, int rank) {
  LoopChart chart;
  chart.rank = rank;
  chart.redundant = loop.rows() - rank;
  const Eigen::MatrixXd rows = scaled_rows(loop, q);
  std::vector<int> candidates, pinned;
  for (int k = 0; k < loop.freedoms(); ++k) {
    const bool pin = !settings.pinned.empty() && at(settings.pinned, loop.freedom(k)) != 0;
    (pin ? pinned : candidates).push_back(k);
  }
  if (static_cast<int>(candidates.size()) < rank) throw_pinned(mechanism, loop, pinned, rank);

  double quality = 1.0, least = 1.0;
  pivot_columns(columns_of(rows, candidates), rank, quality);
  std::vector<int> dependent(to_size(loop.freedoms()));
  std::iota(dependent.begin(), dependent.end(), 0);
  for (const int k : pick_independent(allowed_velocities(rows, rank), pinned, least))
    std::erase(dependent, k);
  if (quality < kSingular) {
    double unpinned = 1.0;
    pivot_columns(rows, rank, unpinned);
    if (unpinned >= kSingular) throw_pinned(mechanism, loop, pinned, rank);
    throw NumericalError(
        "the " + loop.name() + " is in a singular position: its closure has rank " +
        std::to_string(rank) +
        " elsewhere and less here, so its motion is not determined by its velocities; start a "
        "little away from it");
  }
  const std::vector<int> picked_rows =
      pivot_columns(columns_of(rows, dependent).transpose(), rank, quality);
  Eigen::MatrixXd block(rank, rank);
  for (int i = 0; i < rank; ++i)
    for (int k = 0; k < rank; ++k) block(i, k) = rows(at(picked_rows, i), at(dependent, k));
  chart.quality = singular_ratio(block);

  // The order of pivots that makes elimination without further pivoting stable here.
  std::vector<ChartRow> ordered;
  if (rank > 0) {
    const FullLu lu(block);
    for (int i = 0; i < rank; ++i) {
      chart.order.push_back(at(dependent, lu.pivot_column(i)));
    }
    ordered.resize(to_size(rank));
    for (int i = 0; i < rank; ++i) {
      const int place = lu.place_of_row(i);
      at(ordered, place) = loop.row(at(picked_rows, i));
      at(ordered, place).place = place;
    }
  }
  chart.rows = ordered;
  std::stable_sort(chart.rows.begin(), chart.rows.end(),
                   [](const ChartRow& a, const ChartRow& b) { return a.closure < b.closure; });
  for (const int k : chart.order) chart.dependent.push_back(loop.freedom(k));
  std::vector<char> is_dependent(to_size(loop.freedoms()), 0);
  for (const int k : dependent) at(is_dependent, k) = 1;
  for (int k = 0; k < loop.freedoms(); ++k) {
    if (at(is_dependent, k)) continue;
    chart.order.push_back(k);
    chart.independent.push_back(loop.freedom(k));
  }

  if (loop.constant()) {
    // X = −Y1⁻¹ Y2 in the freedoms' own units.
    const Eigen::MatrixXd y = loop.velocity_rows(q);
    const int independents = loop.freedoms() - rank;
    Eigen::MatrixXd y1(rank, rank), y2(rank, independents);
    for (int i = 0; i < rank; ++i) {
      for (int k = 0; k < rank; ++k) y1(i, k) = y(at(picked_rows, i), at(chart.order, k));
      for (int k = 0; k < independents; ++k)
        y2(i, k) = y(at(picked_rows, i), at(chart.order, rank + k));
    }
    const Eigen::MatrixXd x = rank > 0 ? Eigen::MatrixXd(-FullLu(y1).solve(y2)) : y2;
    for (int i = 0; i < rank; ++i)
      for (int k = 0; k < independents; ++k) chart.map.push_back(x(i, k));
  }
  return chart;
}

}  // namespace

std::vector<std::uint8_t> Chart::independent_mask(int freedoms) const {
  std::vector<std::uint8_t> mask(to_size(freedoms), 1);
  for (const LoopChart& loop : loops)
    for (const int i : loop.dependent) at(mask, i) = 0;
  return mask;
}

std::vector<int> Chart::independent(int freedoms) const {
  const std::vector<std::uint8_t> mask = independent_mask(freedoms);
  std::vector<int> result;
  for (int i = 0; i < freedoms; ++i)
    if (at(mask, i) != 0) result.push_back(i);
  return result;
}

bool Chart::is_independent(int freedom) const {
  return std::none_of(loops.begin(), loops.end(), [&](const LoopChart& loop) {
    return std::find(loop.dependent.begin(), loop.dependent.end(), freedom) != loop.dependent.end();
  });
}

Chart choose_chart(const Mechanism& mechanism, const Eigen::VectorXd& q,
                   const ChartSettings& settings) {
  static std::atomic<std::int64_t> choices = 0;
  Chart chart;
  chart.number = ++choices;
  for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i) {
    const LoopClosure loop(mechanism, i);
    const int rank = settings.previous != nullptr ? settings.previous->loops[index(i)].rank
                                                  : generic_rank(mechanism, loop, q);
    chart.loops.push_back(choose_loop_chart(mechanism, loop, q, settings, rank));
  }
  return chart;
}

double chart_quality(const Mechanism& mechanism, const Chart& chart, const Eigen::VectorXd& q) {
  double least = 1.0;
  for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i) {
    const LoopClosure loop(mechanism, i);
    const LoopChart& own = at(chart.loops, i);
    if (loop.constant() || own.rank == 0) continue;
    const Eigen::MatrixXd rows = scaled_rows(loop, q);
    const Eigen::MatrixXd allowed = allowed_velocities(rows, own.rank);
    std::vector<int> independent(own.order.begin() + own.rank, own.order.end());
    double now = 1.0, could = 1.0;
    pick_independent(allowed, independent, now);
    pick_independent(allowed, {}, could);
    if (could > 0.0) least = std::min(least, now / could);
  }
  return least;
}

bool uses_the_same_rows(const Chart& a, const Chart& b) {
  const auto rows = [](const LoopChart& loop) {
    std::vector<std::pair<int, int>> all;
    all.reserve(loop.rows.size());
    for (const ChartRow& row : loop.rows) all.emplace_back(row.closure, row.row);
    std::sort(all.begin(), all.end());
    return all;
  };
  return std::equal(
      a.loops.begin(), a.loops.end(), b.loops.begin(), b.loops.end(),
      [&](const LoopChart& one, const LoopChart& other) { return rows(one) == rows(other); });
}

void store_chart(const Chart& chart, AggregateTables& tables) {
  for (std::size_t i = 0; i < tables.aggregates.size(); ++i) {
    Aggregate& a = tables.aggregates[i];
    const LoopChart& loop = chart.loops[i];
    a.rank = loop.rank;
    a.independents = a.freedoms - loop.rank;
    std::copy(loop.order.begin(), loop.order.end(), tables.order.begin() + a.first_order);
    std::copy(loop.rows.begin(), loop.rows.end(), tables.chart_rows.begin() + a.first_row);
    std::copy(loop.map.begin(), loop.map.end(), tables.map.begin() + a.first_map);
  }
}

}  // namespace catena
