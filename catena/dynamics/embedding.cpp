// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/embedding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/dynamics/loads.h"

namespace catena {
namespace {

[[noreturn]] void throw_open(const Mechanism& mechanism, int loop, const Eigen::VectorXd& q) {
  const LoopClosure closure(mechanism, loop);
  throw NumericalError("the position is not closed: in the " + closure.name() + " " +
                       closure.worst(closure.residual(q)) + "; use assemble() first");
}

[[noreturn]] void throw_moving(const LoopClosure& closure, double rate) {
  throw NumericalError("the velocities do not keep the " + closure.name() + " closed (" +
                       number(rate) +
                       " 1/s); use assemble() first, or consistent_velocity() for the velocities");
}

double speed_of(const LoopClosure& closure, const Eigen::VectorXd& v) {
  double speed = 1.0;
  for (int k = 0; k < closure.freedoms(); ++k)
    speed = std::max(speed, std::abs(v[closure.freedom(k)]));
  return speed;
}

// Linear couplings (gears, mimics): the kernels need neither their gap nor its rate and leave them
// out of what they measure.
void check_couplings(const Mechanism& mechanism, int loop, const Eigen::VectorXd& q,
                     const Eigen::VectorXd& v) {
  const AggregateTables& t = aggregate_tables(mechanism);
  const Aggregate& a = t.aggregates[index(loop)];
  const int* freedom = t.freedom_of_column.data() + a.first_order;
  for (int i = a.first_closure; i < a.first_closure + a.closure_count; ++i) {
    const Closure& c = t.closures[index(i)];
    if (c.kind != ClosureKind::coupling || c.coupling != nullptr) continue;
    double gap = -mechanism.description().couplings[index(c.place)].constant;
    double rate = 0.0, squares = 0.0;
    const CouplingTerm* terms = t.terms.data() + c.first_term;
    for (int k = 0; k < c.term_count; ++k) {
      gap += terms[k].coefficient * q[terms[k].coordinate];
      rate += terms[k].coefficient * v[freedom[terms[k].column]];
      squares += terms[k].coefficient * terms[k].coefficient;
    }
    constexpr double kSquare = kClosureTolerance * kClosureTolerance;
    if (!(gap * gap <= kSquare * squares)) throw_open(mechanism, loop, q);
    if (rate * rate <= kSquare * squares) continue;
    const LoopClosure closure(mechanism, loop);
    rate = std::abs(rate) / std::sqrt(squares);
    if (!(rate <= kClosureTolerance * speed_of(closure, v))) throw_moving(closure, rate);
  }
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
        if (driven[index(i)] != 0) {
          serves = false;
          if (w.chart_is_pinned())
            throw NumericalError("'" + mechanism.velocity_names()[index(i)] +
                                 "' is motion-driven, but dependent in the pinned chart");
        }
    if (serves) return;
  } else {
    for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i)
      if (!(LoopClosure(mechanism, i).residual(q).norm() <= kClosed)) throw_open(mechanism, i, q);
  }
  w.set_chart(fresh_chart(mechanism, q, driven, w));
}

void choose_chart_again(const Mechanism& mechanism, const Eigen::VectorXd& q,
                        std::span<const std::uint8_t> driven, int loop, Workspace& w) {
  const LoopClosure closure(mechanism, loop);
  if (!(closure.residual(q).norm() <= kClosed)) throw_open(mechanism, loop, q);
  if (w.chart_is_pinned())
    throw NumericalError("the pinned chart of the " + closure.name() +
                         " is singular in this position; choose other independent freedoms");
  w.set_chart(fresh_chart(mechanism, q, driven, w));
}

void throw_no_inertia(const Mechanism& mechanism, int n) {
  const Node& node = mechanism.nodes()[index(n)];
  throw NumericalError(
      "hinge '" + mechanism.hinges()[index(node.hinge_index)].name +
      "': its articulated inertia is not positive in this position; give the bodies it "
      "moves mass and inertia");
}

namespace {

// Calls f(numbers, count) for what has to be kept of each loop.
template <class F>
void for_kept_numbers(Workspace& w, F f) {
  const Scratch<double> scratch = w.scratch();
  for (int i = 0; i < w.model().aggregate_count; ++i) {
    const Aggregate& a = w.model().aggregates[i];
    if (a.constant) continue;  // X is constant and in the tables
    f(scratch.aggregates[i].rows, a.rank * (a.freedoms + 1));
    f(scratch.aggregates[i].map, a.freedoms * a.independents);
    f(scratch.aggregates[i].exchange, a.rank);
  }
}

}  // namespace

bool embed_in_chart(const Mechanism& mechanism, const Eigen::VectorXd& q, Workspace& w) {
  const PreparedInput in = prepare_position(mechanism, q, w);
  Scratch<double> scratch = w.scratch();
  return kernel_table().embed(w.model(), in, &scratch).done();
}

void copy_loop_maps(Workspace& w, LoopMaps& maps) {
  maps.chart = w.chart().number;
  maps.numbers.clear();
  maps.exchanges.clear();
  for_kept_numbers(w, [&]<class T>(const T* x, int count) {
    if constexpr (std::is_same_v<T, int>)
      maps.exchanges.insert(maps.exchanges.end(), x, x + count);
    else
      maps.numbers.insert(maps.numbers.end(), x, x + count);
  });
}

void find_loop_maps(const Mechanism& mechanism, const Eigen::VectorXd& q, Workspace& w,
                    LoopMaps& maps, std::span<const std::uint8_t> driven) {
  const PreparedInput in = prepare_position(mechanism, q, w);
  Scratch<double> scratch = w.scratch();
  run_embedded(mechanism, w.has_quaternion ? w.position : q, driven, w,
               [&] { return kernel_table().embed(w.model(), in, &scratch); });
  copy_loop_maps(w, maps);
}

bool restore_loop_maps(const LoopMaps& maps, Workspace& w) {
  if (maps.chart == 0 || !w.has_chart() || maps.chart != w.chart().number) return false;
  const double* numbers = maps.numbers.data();
  const int* exchanges = maps.exchanges.data();
  for_kept_numbers(w, [&]<class T>(T* x, int count) {
    if constexpr (std::is_same_v<T, int>) {
      std::copy_n(exchanges, count, x);
      exchanges += count;
    } else {
      std::copy_n(numbers, count, x);
      numbers += count;
    }
  });
  return true;
}

LoopPivots loop_pivots(const Workspace& w, int loop) {
  const AggregateTables& t = w.aggregate_tables();
  const Aggregate& a = t.aggregates[index(loop)];
  if (a.constant || a.rank == 0) return {};
  const AggregateScratch<double>& g = w.aggregate(loop);
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  int sign = 1;
  for (int p = 0; p < a.rank; ++p) {
    const double pivot = g.rows[p * (a.freedoms + 1) + p];
    const double size = g.scale[p] * std::abs(pivot);
    least = std::min(least, size);
    most = std::max(most, size);
    if ((pivot < 0.0) != (g.exchange[p] != p)) sign = -sign;
  }
  return {least / most, sign};
}

void check_closed(const Mechanism& mechanism, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                  const Workspace& w) {
  for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i) {
    const AggregateScratch<double>& g = w.aggregate(i);
    constexpr double kSquare = kClosureTolerance * kClosureTolerance;
    if (!(g.gap <= kSquare)) throw_open(mechanism, i, q);
    check_couplings(mechanism, i, q, v);
    if (g.rate <= kSquare) continue;
    const LoopClosure closure(mechanism, i);
    if (!(std::sqrt(g.rate) <= kClosureTolerance * speed_of(closure, v)))
      throw_moving(closure, std::sqrt(g.rate));
  }
}

}  // namespace catena
