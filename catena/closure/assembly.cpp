// SPDX-License-Identifier: BSD-3-Clause
#include "catena/closure/assembly.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <numeric>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/chart.h"
#include "catena/closure/mobility.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

// A residual of rounding alone.
constexpr double kExact = 1e-14;
// Residual that hinges alone must reach if the modes of flexible bodies are to keep their values.
constexpr double kExactlyClosed = 1e-13;

// A loop's equations as functions of some of its columns.
PositionSolver solver_of(const LoopClosure& loop, const std::vector<int>& free, bool keep_limits,
                         const Mechanism& mechanism, const Eigen::VectorXd& q) {
  PositionSolver::Problem problem;
  const Eigen::VectorXd unit = loop.unit_steps(q);
  problem.unit.resize(static_cast<Eigen::Index>(free.size()));
  for (std::size_t k = 0; k < free.size(); ++k) {
    problem.freedoms.push_back(loop.freedom(free[k]));
    problem.unit[static_cast<Eigen::Index>(k)] = unit[free[k]];
  }
  problem.keep_limits = keep_limits;
  problem.equations = [&loop, &free](const Eigen::VectorXd& at_q) {
    ClosureEquations e = loop.equations(at_q);
    Eigen::MatrixXd jacobian(e.jacobian.rows(), static_cast<Eigen::Index>(free.size()));
    for (Eigen::Index k = 0; k < jacobian.cols(); ++k)
      jacobian.col(k) = e.jacobian.col(free[index(k)]);
    e.jacobian = std::move(jacobian);
    return e;
  };
  problem.moved = [&loop, &free](const Eigen::VectorXd& from, const Eigen::VectorXd& step) {
    Eigen::VectorXd all = Eigen::VectorXd::Zero(loop.freedoms());
    for (Eigen::Index k = 0; k < step.size(); ++k) all[free[index(k)]] = step[k];
    return loop.moved(from, all);
  };
  return PositionSolver(mechanism, std::move(problem));
}

std::vector<int> free_columns(const LoopClosure& loop, const std::vector<std::uint8_t>& fixed) {
  std::vector<int> free;
  for (int k = 0; k < loop.freedoms(); ++k)
    if (fixed.empty() || at(fixed, loop.freedom(k)) == 0) free.push_back(k);
  return free;
}

// Without the modes of flexible bodies: hinges alone are tried first, so that no body is deflected
// without need.
std::vector<int> hinge_columns(const LoopClosure& loop, const std::vector<int>& columns) {
  std::vector<int> hinges;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(hinges),
               [&](int k) { return !loop.is_mode(k); });
  return hinges;
}

std::vector<int> freedoms_of(const LoopClosure& loop, const std::vector<int>& columns) {
  std::vector<int> freedoms(columns.size());
  std::transform(columns.begin(), columns.end(), freedoms.begin(),
                 [&](int k) { return loop.freedom(k); });
  return freedoms;
}

// The rows that count where the loops are closed at q (chart.h); all of them where the position is
// singular.
std::vector<int> kept_rows(const Mechanism& mechanism, const LoopClosure& loop, int number,
                           const Eigen::VectorXd& q) {
  std::vector<int> kept(to_size(loop.rows()));
  std::iota(kept.begin(), kept.end(), 0);
  if (all_rows_count(loop, q)) return kept;
  try {
    const std::vector<ChartRow> rows = at(choose_chart(mechanism, q).loops, number).rows;
    std::erase_if(kept, [&](int r) {
      const ChartRow own = loop.row(r);
      return std::none_of(rows.begin(), rows.end(), [&](const ChartRow& row) {
        return row.closure == own.closure && row.row == own.row;
      });
    });
  } catch (const NumericalError&) {
  }
  return kept;
}

// In a file with few digits redundant rows do not quite agree. Those that count are then closed to
// the last digit.
void settle(const Mechanism& mechanism, const LoopClosure& loop, int number,
            const std::vector<int>& free, bool keep_limits, Closing& closing) {
  constexpr int kSteps = 4;
  if (closing.gap <= 10.0 * kExact || free.empty()) return;
  const std::vector<int> kept = kept_rows(mechanism, loop, number, closing.q);
  if (static_cast<int>(kept.size()) == loop.rows()) return;
  const PositionSolver solver = solver_of(loop, free, keep_limits, mechanism, closing.q);
  for (int step = 0; step < kSteps; ++step) {
    const ClosureEquations e = solver.equations(closing.q);
    const Eigen::VectorXd residual = e.residual(kept);
    if (residual.norm() <= kExact) break;
    Eigen::VectorXd s =
        solver.step_within(closing.q, e.jacobian(kept, Eigen::all),
                           [&](const Eigen::MatrixXd& a) { return least_norm(a, -residual); });
    closing.q = solver.moved(closing.q, s);
  }
  closing.gap = loop.residual(closing.q).norm();
}

// Moves along the closure to the position nearest to the guess: each step minimizes the distance
// subject to the linearized equations.
Closing approach(const LoopClosure& loop, const Mechanism& mechanism, const Eigen::VectorXd& guess,
                 const Closing& from, const std::vector<int>& free, bool keep_limits) {
  constexpr int kSteps = 300;
  const Eigen::VectorXd unit = loop.unit_steps(guess);
  Closing at_best = from;
  const auto offset_of = [&](const Eigen::VectorXd& q) {
    const Eigen::VectorXd v = difference(mechanism, q, guess);
    Eigen::VectorXd offset(static_cast<Eigen::Index>(free.size()));
    for (Eigen::Index k = 0; k < offset.size(); ++k) {
      const int column = at(free, static_cast<int>(k));
      offset[k] = v[loop.freedom(column)] / unit[column];
    }
    return offset;
  };
  // The distance resolves positions only to the square root of rounding. Below that, convergence is
  // judged by the length of the steps.
  constexpr double kFine = 1e-5;
  double scale = 1.0, last = kInfinity;
  for (int step = 0; step < kSteps && scale > 1e-6; ++step) {
    const PositionSolver problem = solver_of(loop, free, keep_limits, mechanism, at_best.q);
    const ClosureEquations e = problem.equations(at_best.q);
    const Eigen::VectorXd wish = offset_of(at_best.q);
    Eigen::VectorXd s = problem.step_within(at_best.q, e.jacobian, [&](const Eigen::MatrixXd& a) {
      return Eigen::VectorXd(wish - least_norm(a, e.residual + a * wish));
    });
    const double size = s.norm();
    const bool fine = size < kFine;
    if (size < 1e-14 || (fine && size >= last)) break;
    last = fine ? size : kInfinity;
    s *= scale;
    const Closing next =
        close_loop(loop, problem.moved(at_best.q, s), free, keep_limits, mechanism);
    if (next.gap <= kClosed && (fine || offset_of(next.q).norm() < wish.norm())) {
      at_best = next;
      if (!fine) scale = std::min(1.0, 2.0 * scale);
    } else {
      scale *= 0.5;
    }
  }
  return at_best;
}

// Other branches, and other local minima on the same branch, may be nearer: takes the nearest
// result of several starts.
Closing closest(const LoopClosure& loop, const Mechanism& mechanism, const Eigen::VectorXd& guess,
                const Closing& from, const std::vector<int>& free, bool keep_limits) {
  constexpr double kShifts[] = {0.3, 0.3, 0.6, 0.6, 1.0, 1.0, 1.0,
                                1.5, 1.5, 1.5, 2.0, 2.0, 2.0, 3.0};
  const Eigen::VectorXd unit = loop.unit_steps(guess);
  const auto distance = [&](const Eigen::VectorXd& q) {
    const Eigen::VectorXd v = difference(mechanism, q, guess);
    double sum = 0.0;
    for (const int k : free) sum += std::pow(v[loop.freedom(k)] / unit[k], 2);
    return std::sqrt(sum);
  };
  Closing best = approach(loop, mechanism, guess, from, free, keep_limits);
  double nearest = distance(best.q);
  std::uint64_t seed = 1;
  for (const double size : kShifts) {
    const Eigen::VectorXd random = random_vector(loop.freedoms(), seed++);
    Eigen::VectorXd shift = Eigen::VectorXd::Zero(loop.freedoms());
    for (const int k : free) shift[k] = size * unit[k] * random[k];
    Closing other = close_loop(loop, loop.moved(guess, shift), free, keep_limits, mechanism);
    if (!(other.gap <= kClosed)) continue;
    other = approach(loop, mechanism, guess, other, free, keep_limits);
    if (distance(other.q) >= nearest - 1e-9) continue;
    nearest = distance(other.q);
    best = std::move(other);
  }
  return best;
}

// Joint limits that prevent closure: those that a position closed without limits exceeds.
std::string forbidding_limits(const Mechanism& mechanism, const Eigen::VectorXd& guess,
                              AssemblySettings settings) {
  if (!settings.keep_limits) return "";
  settings.keep_limits = false;
  const Assembly free = find_assembly(mechanism, guess, settings);
  if (!free.closed) return "";
  std::string text;
  for (const std::string& hinge : outside_limits(mechanism, free.q))
    text += (text.empty() ? "" : ", ") + hinge;
  return text.empty() ? "" : ". It closes if joint limits are ignored, with " + text;
}

[[noreturn]] void throw_open(const Mechanism& mechanism, const Assembly& assembly,
                             const std::string& limits) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < assembly.loops.size(); ++i)
    if (!assembly.loops[i].closed)
      lines.push_back("the " + LoopClosure(mechanism, static_cast<int>(i)).name() +
                      " cannot be closed; in the best position found " + assembly.loops[i].remains);
  std::string text = "'" + mechanism.name() + "' cannot be assembled: ";
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i > 0 ? "; " : "") + lines[i];
  throw NumericalError(
      text + limits +
      ". Check lengths and axes of these bodies, free fixed coordinates, widen joint limits, or "
      "start from another guess" +
      (assembly.gap() <= kMostOpen ? "; if parallel axes and equal lengths are meant, write them "
                                     "with more digits"
                                   : ""));
}

}  // namespace

double Assembly::gap() const {
  double most = 0.0;
  for (const LoopAssembly& loop : loops) most = std::max(most, loop.gap);
  return most;
}

Eigen::VectorXd within_limits(const Mechanism& mechanism, const Eigen::VectorXd& q,
                              const std::vector<int>& freedoms) {
  Eigen::VectorXd inside = q;
  for (const int i : freedoms) {
    const int coordinate = at(mechanism.coordinate_of_freedom(), i);
    if (coordinate < 0) continue;
    const FreedomSettings& own = at(mechanism.freedom_settings(), i);
    inside[coordinate] = std::clamp(q[coordinate], own.lower, own.upper);
  }
  return inside;
}

std::vector<std::string> outside_limits(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  constexpr double kBeyond = 1e-9;  // more than rounding
  std::vector<std::string> outside;
  for (int i = 0; i < mechanism.freedoms(); ++i) {
    const int coordinate = at(mechanism.coordinate_of_freedom(), i);
    if (coordinate < 0) continue;
    const FreedomSettings& own = at(mechanism.freedom_settings(), i);
    const double x = q[coordinate];
    if (x < own.lower - kBeyond || x > own.upper + kBeyond)
      outside.push_back("'" + at(mechanism.position_names(), coordinate) + "' at " +
                        short_number(x, 4) + " (limits " + short_number(own.lower, 4) + " to " +
                        short_number(own.upper, 4) + ")");
  }
  return outside;
}

std::vector<int> all_columns(const LoopClosure& loop) { return free_columns(loop, {}); }

Closing close_loop(const LoopClosure& loop, const Eigen::VectorXd& from,
                   const std::vector<int>& free, bool keep_limits, const Mechanism& mechanism) {
  const PositionSolver solver = solver_of(loop, free, keep_limits, mechanism, from);
  Closing result{from, 0.0};
  ClosureEquations e = solver.equations(from);
  if (solver.size() > 0) {
    solver.levenberg_marquardt(result.q, e);
    solver.newton(result.q, e);
  }
  result.gap = e.residual.norm();
  return result;
}

Closing close_from_around(const LoopClosure& loop, const Eigen::VectorXd& guess,
                          const std::vector<int>& free, bool keep_limits,
                          const Mechanism& mechanism) {
  constexpr double kShifts[] = {0.1, 0.2, 0.3, 0.5, 0.5, 0.8, 0.8, 1.2, 1.2, 1.6,
                                1.6, 2.0, 2.0, 2.5, 2.5, 3.0, 3.0, 3.0, 3.0, 3.0};
  Closing best = close_loop(loop, guess, free, keep_limits, mechanism);
  const PositionSolver solver = solver_of(loop, free, keep_limits, mechanism, guess);
  std::uint64_t seed = 1;
  for (const double size : kShifts) {
    if (best.gap <= kClosed || free.empty()) break;
    const Eigen::VectorXd random = random_vector(loop.freedoms(), seed++);
    Eigen::VectorXd shift(solver.size());
    for (std::size_t k = 0; k < free.size(); ++k)
      shift[static_cast<Eigen::Index>(k)] = size * random[free[k]];
    // Within the limits.
    const Closing other =
        close_loop(loop, solver.moved(guess, shift), free, keep_limits, mechanism);
    if (other.gap < best.gap) best = other;
  }
  return best;
}

Assembly find_assembly(const Mechanism& mechanism, const Eigen::VectorXd& guess,
                       const AssemblySettings& settings) {
  if (guess.size() != mechanism.coordinates())
    throw NumericalError("a position of '" + mechanism.name() + "' has " +
                         std::to_string(mechanism.coordinates()) + " coordinates, not " +
                         std::to_string(guess.size()));
  for (Eigen::Index i = 0; i < guess.size(); ++i)
    if (!std::isfinite(guess[i]))
      throw NumericalError("the guess of the position of '" + mechanism.position_names()[index(i)] +
                           "' is " + number(guess[i]) + "; it must be finite");
  Assembly result;
  result.q = guess;
  normalize_quaternions(mechanism, result.q);
  result.closed = true;
  for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i) {
    const LoopClosure loop(mechanism, i);
    std::vector<int> free = free_columns(loop, settings.fixed);
    if (loop.aggregate().flexible) {
      const std::vector<int> hinges = hinge_columns(loop, free);
      const Closing closed =
          settings.fixed.empty()
              ? close_from_around(loop, result.q, hinges, settings.keep_limits, mechanism)
              : close_loop(loop, result.q, hinges, settings.keep_limits, mechanism);
      if (closed.gap <= kExactlyClosed) free = hinges;
    }
    LoopAssembly report;
    report.given_gap = loop.residual(result.q).norm();
    // The solver keeps a freedom inside its limits once it is there.
    if (settings.keep_limits && report.given_gap > kClosed)
      result.q = within_limits(mechanism, result.q, freedoms_of(loop, free));
    Closing closing = close_from_around(loop, result.q, free, settings.keep_limits, mechanism);
    if (settings.closest && closing.gap <= kClosed)
      closing = closest(loop, mechanism, result.q, closing, free, settings.keep_limits);
    if (closing.gap <= kClosed) settle(mechanism, loop, i, free, settings.keep_limits, closing);
    result.q = closing.q;
    report.gap = closing.gap;
    report.closed = closing.gap <= kClosed;
    if (!report.closed) report.remains = loop.worst(loop.residual(closing.q));
    result.closed = result.closed && report.closed;
    result.loops.push_back(std::move(report));
  }
  return result;
}

Eigen::VectorXd assemble(const Mechanism& mechanism, const Eigen::VectorXd& guess,
                         const AssemblySettings& settings) {
  Assembly assembly = find_assembly(mechanism, guess, settings);
  if (!assembly.closed)
    throw_open(mechanism, assembly, forbidding_limits(mechanism, guess, settings));
  return std::move(assembly.q);
}

Eigen::VectorXd consistent_velocity(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                    const Eigen::VectorXd& v,
                                    const std::vector<std::uint8_t>& fixed) {
  // Above this rows disagree by the digits of a file.
  constexpr double kRounding = 1e-12;
  Eigen::VectorXd result = v;
  for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i) {
    const LoopClosure loop(mechanism, i);
    Eigen::MatrixXd rows = loop.velocity_rows(q);
    const Eigen::VectorXd unit = loop.unit_steps(q);
    std::vector<int> free = free_columns(loop, fixed);
    Eigen::VectorXd own(loop.freedoms());
    for (int k = 0; k < loop.freedoms(); ++k) own[k] = v[loop.freedom(k)];
    if (loop.aggregate().flexible) {
      const std::vector<int> hinges = hinge_columns(loop, free);
      const Eigen::MatrixXd a = (rows * unit.asDiagonal())(Eigen::all, hinges);
      const Eigen::VectorXd open = rows * own;
      if (!hinges.empty() && (open + a * least_norm(a, -open, kRankThreshold)).norm() <=
                                 kRounding * (1.0 + open.norm()))
        free = hinges;
    }
    const auto project = [&](double threshold) {
      if (free.empty()) return;
      const Eigen::MatrixXd a = (rows * unit.asDiagonal())(Eigen::all, free);
      const Eigen::VectorXd open = rows * own;
      const Eigen::VectorXd change = least_norm(a, -open, threshold);
      own(free) += unit(free).cwiseProduct(change);
    };
    project(kRankThreshold);
    const auto scale = [&] { return std::max(1.0, own.cwiseQuotient(unit).norm()); };
    if ((rows * own).norm() > kRounding * scale()) {
      // The rows of the chart are independent even close to a singular position. Dropping one there
      // would allow velocities that the mechanism does not have, and that its dynamics, which
      // solves all of these rows, would refuse.
      rows = rows(kept_rows(mechanism, loop, i, q), Eigen::all).eval();
      project(kRounding);
    }
    const Eigen::VectorXd left = rows * own;
    if (left.norm() > kClosed * scale())
      throw NumericalError("the " + loop.name() +
                           " cannot move with the velocities that are fixed; free one of them (" +
                           number(left.norm()) + " 1/s remain)");
    for (int k = 0; k < loop.freedoms(); ++k) result[loop.freedom(k)] = own[k];
  }
  return result;
}

State assemble(const Mechanism& mechanism, const State& guess, const AssemblySettings& settings) {
  State state;
  state.q = assemble(mechanism, guess.q, settings);
  state.v = consistent_velocity(mechanism, state.q, guess.v, settings.fixed);
  return state;
}

GivenFreedoms given_by_description(const Mechanism& mechanism) {
  GivenFreedoms given;
  given.position.assign(to_size(mechanism.freedoms()), 0);
  given.velocity = given.position;
  for (const HingePlace& place : mechanism.hinges()) {
    if (place.node < 0) continue;
    const Hinge& hinge = at(mechanism.description().hinges, mechanism.hinge_index(place.name));
    for (int k = 0; k < place.freedoms; ++k) {
      at(given.position, place.v_index + k) = !hinge.initial_position.empty();
      at(given.velocity, place.v_index + k) = !hinge.initial_velocity.empty();
    }
  }
  return given;
}

namespace {

// The tree determines where the two sides of a cut hinge are. Coordinates of a cut hinge that were
// not given are computed from that, so that their zeros do not distort the others.
void read_cut_hinges(const Mechanism& mechanism, const GivenFreedoms& given, Eigen::VectorXd& q) {
  for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i) {
    const LoopClosure loop(mechanism, i);
    for (const int h : at(mechanism.loops(), i).cut_hinges) {
      const HingePlace& hinge = at(mechanism.hinges(), h);
      if (hinge.node < 0) continue;
      std::vector<int> own;
      bool any_given = false;
      for (int k = 0; k < loop.freedoms(); ++k) {
        const int f = loop.freedom(k);
        if (f < hinge.v_index || f >= hinge.v_index + hinge.freedoms) continue;
        const bool is_given = !given.position.empty() && at(given.position, f) != 0;
        any_given = any_given || is_given;
        if (!is_given) own.push_back(k);
      }
      // The numbers of a quaternion are given together.
      if (own.empty() || (any_given && hinge.coordinates != hinge.freedoms)) continue;
      const Closing read = close_from_around(loop, q, own, true, mechanism);
      if (read.gap < loop.residual(q).norm()) q = read.q;
    }
  }
}

}  // namespace

State assemble_near(const Mechanism& mechanism, const State& guess, const GivenFreedoms& given) {
  if (mechanism.loops().empty()) return guess;
  State state = guess;
  normalize_quaternions(mechanism, state.q);
  if (closure_gap(mechanism, state.q) > kExact) {
    read_cut_hinges(mechanism, given, state.q);
    // Fixing the given freedoms is tried only if the loops stay closed.
    Assembly kept = find_assembly(mechanism, state.q, {.fixed = given.position});
    if (!kept.closed) kept.q = assemble(mechanism, state.q);
    state.q = std::move(kept.q);
  }
  try {
    state.v = consistent_velocity(mechanism, state.q, guess.v, given.velocity);
  } catch (const NumericalError&) {
    state.v = consistent_velocity(mechanism, state.q, guess.v);
  }
  return state;
}

double closure_gap(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  double most = 0.0;
  for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i)
    most = std::max(most, LoopClosure(mechanism, i).residual(q).norm());
  return most;
}

double closure_rate(const Mechanism& mechanism, const State& state) {
  double most = 0.0;
  for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i) {
    const LoopClosure loop(mechanism, i);
    Eigen::VectorXd own(loop.freedoms());
    for (int k = 0; k < loop.freedoms(); ++k) own[k] = state.v[loop.freedom(k)];
    most = std::max(most, (loop.velocity_rows(state.q) * own).norm());
  }
  return most;
}

}  // namespace catena
