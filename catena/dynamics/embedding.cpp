#include "catena/dynamics/embedding.h"

#include <cmath>

#include "catena/base/text.h"
#include "catena/closure/assembly.h"

namespace catena {
namespace {

[[noreturn]] void throw_open(const Mechanism& mechanism, const AggregateTables& tables, int loop,
                             const Eigen::VectorXd& q) {
  const LoopClosure closure(mechanism, tables, loop);
  throw NumericalError("the position is not closed: in the " + closure.name() + " " +
                       closure.worst(closure.residual(q)) + "; use assemble() first");
}

Chart fresh_chart(const Mechanism& mechanism, const Eigen::VectorXd& q,
                  std::span<const std::uint8_t> driven, const Workspace& w) {
  ChartSettings settings;
  settings.pinned.assign(driven.begin(), driven.end());
  if (w.has_chart()) settings.previous = &w.chart();
  return choose_chart(mechanism, q, settings);
}

}  // namespace

void ensure_chart(const Mechanism& mechanism, const Eigen::VectorXd& q,
                  std::span<const std::uint8_t> driven, Workspace& w) {
  if (mechanism.loops().empty()) return;
  if (w.has_chart()) {
    if (driven.empty()) return;
    bool serves = true;
    for (const LoopChart& loop : w.chart().loops)
      for (const int i : loop.dependent)
        if (driven[static_cast<std::size_t>(i)] != 0) {
          serves = false;
          if (w.chart_is_pinned())
            throw NumericalError("'" + mechanism.velocity_names()[static_cast<std::size_t>(i)] +
                                 "' is motion-driven, but dependent in the pinned chart");
        }
    if (serves) return;
  } else {
    for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i)
      if (!(LoopClosure(mechanism, w.aggregate_tables(), i).residual(q).norm() <= kClosed))
        throw_open(mechanism, w.aggregate_tables(), i, q);
  }
  w.set_chart(fresh_chart(mechanism, q, driven, w));
}

void choose_chart_again(const Mechanism& mechanism, const Eigen::VectorXd& q,
                        std::span<const std::uint8_t> driven, int failed, Workspace& w) {
  const int loop = kLoopFailed - failed;
  const LoopClosure closure(mechanism, w.aggregate_tables(), loop);
  if (!(closure.residual(q).norm() <= kClosed))
    throw_open(mechanism, w.aggregate_tables(), loop, q);
  if (w.chart_is_pinned())
    throw NumericalError("the pinned chart of the " + closure.name() +
                         " is singular in this position; choose other independent freedoms");
  w.set_chart(fresh_chart(mechanism, q, driven, w));
}

void check_closed(const Mechanism& mechanism, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                  const Workspace& w) {
  for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i) {
    const AggregateScratch<double>& g = w.aggregate(i);
    constexpr double kSquare = kClosureTolerance * kClosureTolerance;
    if (!(g.gap <= kSquare)) throw_open(mechanism, w.aggregate_tables(), i, q);
    if (g.rate <= kSquare) continue;
    const LoopClosure closure(mechanism, w.aggregate_tables(), i);
    double speed = 1.0;
    for (int k = 0; k < closure.freedoms(); ++k)
      speed = std::max(speed, std::abs(v[closure.freedom(k)]));
    if (!(std::sqrt(g.rate) <= kClosureTolerance * speed))
      throw NumericalError("the velocities do not keep the " + closure.name() + " closed (" +
                           number(std::sqrt(g.rate)) + " 1/s); use assemble() first");
  }
}

}  // namespace catena
