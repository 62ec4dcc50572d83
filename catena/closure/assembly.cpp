#include "catena/closure/assembly.h"

#include <algorithm>
#include <cmath>

#include <Eigen/QR>

#include "catena/base/text.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

// The residual that Newton's method reaches in double precision, with two digits to spare.
constexpr double kExact = 1e-14;

template <class T>
auto& at(T&& container, int i) {
  return container[static_cast<std::size_t>(i)];
}

// A loop's equations as functions of some of its columns.
class Problem {
 public:
  Problem(const LoopClosure& loop, const std::vector<int>& free, bool keep_limits,
          const Mechanism& mechanism, const Eigen::VectorXd& q)
      : loop_(loop), free_(free) {
    const Eigen::VectorXd unit = loop.unit_steps(q);
    unit_.resize(static_cast<Eigen::Index>(free.size()));
    for (int k = 0; k < size(); ++k) {
      unit_[k] = unit[at(free, k)];
      Bound bound;
      const int i = loop.freedom(at(free, k));
      bound.coordinate = at(mechanism.coordinate_of_freedom(), i);
      if (keep_limits && bound.coordinate >= 0) {
        bound.lower = at(mechanism.freedom_settings(), i).lower;
        bound.upper = at(mechanism.freedom_settings(), i).upper;
      }
      bounds_.push_back(bound);
    }
  }

  int size() const { return static_cast<int>(free_.size()); }

  ClosureEquations equations(const Eigen::VectorXd& q) const {
    ClosureEquations e = loop_.equations(q);
    Eigen::MatrixXd jacobian(e.jacobian.rows(), size());
    for (int k = 0; k < size(); ++k) jacobian.col(k) = unit_[k] * e.jacobian.col(at(free_, k));
    e.jacobian = std::move(jacobian);
    return e;
  }

  // q moved by s (in unit steps), kept within the limits; what the limits cut off is taken from s.
  Eigen::VectorXd moved(const Eigen::VectorXd& q, Eigen::VectorXd& s) const {
    Eigen::VectorXd step = Eigen::VectorXd::Zero(loop_.freedoms());
    for (int k = 0; k < size(); ++k) {
      const Bound& bound = at(bounds_, k);
      if (bound.coordinate >= 0) {
        const double from = q[bound.coordinate];
        const double lower = std::min(bound.lower, from), upper = std::max(bound.upper, from);
        s[k] = (std::clamp(from + unit_[k] * s[k], lower, upper) - from) / unit_[k];
      }
      step[at(free_, k)] = unit_[k] * s[k];
    }
    return loop_.moved(q, step);
  }

  // The step that a linear solver proposes, found again without the freedoms that it would push
  // through their limits.
  template <class Solve>
  Eigen::VectorXd step_within(const Eigen::VectorXd& q, Eigen::MatrixXd jacobian,
                              Solve solve) const {
    Eigen::VectorXd s = solve(jacobian);
    for (int round = 0; round < size(); ++round) {
      bool changed = false;
      for (int k = 0; k < size(); ++k) {
        const Bound& bound = at(bounds_, k);
        if (bound.coordinate < 0 || jacobian.col(k).isZero(0.0)) continue;
        const double from = q[bound.coordinate];
        if ((from <= bound.lower && s[k] < 0.0) || (from >= bound.upper && s[k] > 0.0)) {
          jacobian.col(k).setZero();
          changed = true;
        }
      }
      if (!changed) break;
      s = solve(jacobian);
    }
    return s;
  }

 private:
  struct Bound {
    int coordinate = -1;
    double lower = -kInfinity, upper = kInfinity;
  };
  const LoopClosure& loop_;
  const std::vector<int>& free_;
  Eigen::VectorXd unit_;
  std::vector<Bound> bounds_;
};

Eigen::VectorXd least_norm(const Eigen::MatrixXd& a, const Eigen::VectorXd& right) {
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
  solver.setThreshold(kRankThreshold);
  solver.compute(a);
  return solver.solve(right);
}

void levenberg_marquardt(const Problem& problem, Eigen::VectorXd& q, ClosureEquations& e) {
  constexpr int kSteps = 200;
  constexpr double kStart = 1e-2, kLeast = 1e-10, kMost = 1e8;
  constexpr double kLongestStep = 0.5;  // unit steps: keeps to the branch of the guess
  double damping = kStart;
  for (int step = 0; step < kSteps && e.residual.norm() > kExact && damping < kMost; ++step) {
    // min |a s + r|² + damping |s|², by QR: the normal equations would lose half the digits.
    Eigen::VectorXd s = problem.step_within(q, e.jacobian, [&](const Eigen::MatrixXd& a) {
      const Eigen::Index n = a.cols();
      Eigen::MatrixXd stacked(a.rows() + n, n);
      stacked << a, Eigen::MatrixXd::Identity(n, n) * std::sqrt(damping);
      Eigen::VectorXd right = Eigen::VectorXd::Zero(a.rows() + n);
      right.head(a.rows()) = -e.residual;
      return Eigen::VectorXd(stacked.householderQr().solve(right));
    });
    if (const double longest = s.lpNorm<Eigen::Infinity>(); longest > kLongestStep)
      s *= kLongestStep / longest;
    const Eigen::VectorXd trial = problem.moved(q, s);
    ClosureEquations trial_e = problem.equations(trial);
    if (trial_e.residual.norm() < e.residual.norm()) {
      const bool settled = e.residual.norm() - trial_e.residual.norm() < 1e-9 * e.residual.norm();
      q = trial;
      e = std::move(trial_e);
      damping = std::max(damping / 10.0, kLeast);
      if (settled && damping <= kLeast) break;
    } else {
      damping *= 4.0;
    }
  }
}

void newton(const Problem& problem, Eigen::VectorXd& q, ClosureEquations& e) {
  for (int step = 0; step < 6 && e.residual.norm() < kClosed && e.residual.norm() > 0.0; ++step) {
    Eigen::VectorXd s = problem.step_within(
        q, e.jacobian, [&](const Eigen::MatrixXd& a) { return least_norm(a, -e.residual); });
    const Eigen::VectorXd trial = problem.moved(q, s);
    ClosureEquations trial_e = problem.equations(trial);
    if (!(trial_e.residual.norm() < e.residual.norm())) break;
    q = trial;
    e = std::move(trial_e);
  }
}

std::vector<int> free_columns(const LoopClosure& loop, const std::vector<std::uint8_t>& fixed) {
  std::vector<int> free;
  for (int k = 0; k < loop.freedoms(); ++k)
    if (fixed.empty() || at(fixed, loop.freedom(k)) == 0) free.push_back(k);
  return free;
}

// Goes along the closure to the position nearest to the guess: each step minimizes the distance
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
  double scale = 1.0;
  for (int step = 0; step < kSteps && scale > 1e-6; ++step) {
    const Problem problem(loop, free, keep_limits, mechanism, at_best.q);
    const ClosureEquations e = problem.equations(at_best.q);
    const Eigen::VectorXd wish = offset_of(at_best.q);
    Eigen::VectorXd s = problem.step_within(at_best.q, e.jacobian, [&](const Eigen::MatrixXd& a) {
      return Eigen::VectorXd(wish - least_norm(a, e.residual + a * wish));
    });
    if (s.norm() < 1e-14) break;
    s *= scale;
    const Closing next =
        close_loop(loop, problem.moved(at_best.q, s), free, keep_limits, mechanism);
    if (next.gap <= kClosed && offset_of(next.q).norm() < wish.norm()) {
      at_best = next;
      scale = std::min(1.0, 2.0 * scale);
    } else {
      if (s.norm() < 1e-9) break;
      scale *= 0.5;
    }
  }
  return at_best;
}

[[noreturn]] void throw_open(const Mechanism& mechanism, const Assembly& assembly,
                             const AggregateTables& tables) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < assembly.loops.size(); ++i)
    if (!assembly.loops[i].closed)
      lines.push_back("the " + LoopClosure(mechanism, tables, static_cast<int>(i)).name() +
                      " cannot be closed: at best " + assembly.loops[i].remains);
  std::string text = "'" + mechanism.name() + "' cannot be assembled: ";
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i > 0 ? "; " : "") + lines[i];
  throw NumericalError(text +
                       ". Check lengths and axes of these bodies, free fixed coordinates, widen "
                       "hinge limits, or start from another guess");
}

}  // namespace

double Assembly::gap() const {
  double most = 0.0;
  for (const LoopAssembly& loop : loops) most = std::max(most, loop.gap);
  return most;
}

std::vector<int> all_columns(const LoopClosure& loop) { return free_columns(loop, {}); }

Closing close_loop(const LoopClosure& loop, const Eigen::VectorXd& from,
                   const std::vector<int>& free, bool keep_limits, const Mechanism& mechanism) {
  const Problem problem(loop, free, keep_limits, mechanism, from);
  Closing result{from, 0.0};
  ClosureEquations e = problem.equations(from);
  if (problem.size() > 0) {
    levenberg_marquardt(problem, result.q, e);
    newton(problem, result.q, e);
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
  const Eigen::VectorXd unit = loop.unit_steps(guess);
  std::uint64_t seed = 1;
  for (const double size : kShifts) {
    if (best.gap <= kClosed || free.empty()) break;
    const Eigen::VectorXd random = random_vector(loop.freedoms(), seed++);
    Eigen::VectorXd shift = Eigen::VectorXd::Zero(loop.freedoms());
    for (const int k : free) shift[k] = size * unit[k] * random[k];
    const Closing other = close_loop(loop, loop.moved(guess, shift), free, keep_limits, mechanism);
    if (other.gap < best.gap) best = other;
  }
  return best;
}

Assembly find_assembly(const Mechanism& mechanism, const Eigen::VectorXd& guess,
                       const AssemblySettings& settings) {
  if (guess.size() != mechanism.coordinates() || !guess.allFinite())
    throw NumericalError("a position of '" + mechanism.name() + "' has " +
                         std::to_string(mechanism.coordinates()) + " finite coordinates, not " +
                         std::to_string(guess.size()));
  const AggregateTables tables = make_aggregate_tables(mechanism);
  Assembly result;
  result.q = guess;
  normalize_quaternions(mechanism, result.q);
  result.closed = true;
  for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i) {
    const LoopClosure loop(mechanism, tables, i);
    const std::vector<int> free = free_columns(loop, settings.fixed);
    LoopAssembly report;
    report.given_gap = loop.residual(result.q).norm();
    Closing closing = close_from_around(loop, result.q, free, settings.keep_limits, mechanism);
    if (settings.closest && closing.gap <= kClosed)
      closing = approach(loop, mechanism, result.q, closing, free, settings.keep_limits);
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
  if (!assembly.closed) throw_open(mechanism, assembly, make_aggregate_tables(mechanism));
  return std::move(assembly.q);
}

Eigen::VectorXd consistent_velocity(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                    const Eigen::VectorXd& v,
                                    const std::vector<std::uint8_t>& fixed) {
  const AggregateTables tables = make_aggregate_tables(mechanism);
  Eigen::VectorXd result = v;
  for (int i = 0; i < static_cast<int>(mechanism.loops().size()); ++i) {
    const LoopClosure loop(mechanism, tables, i);
    const Eigen::MatrixXd rows = loop.velocity_rows(q);
    const Eigen::VectorXd unit = loop.unit_steps(q);
    const std::vector<int> free = free_columns(loop, fixed);
    Eigen::MatrixXd a(rows.rows(), static_cast<Eigen::Index>(free.size()));
    Eigen::VectorXd own(loop.freedoms());
    for (int k = 0; k < loop.freedoms(); ++k) own[k] = v[loop.freedom(k)];
    for (Eigen::Index k = 0; k < a.cols(); ++k) {
      const int column = at(free, static_cast<int>(k));
      a.col(k) = rows.col(column) * unit[column];
    }
    const Eigen::VectorXd open = rows * own;
    if (a.cols() > 0) {
      const Eigen::VectorXd change = least_norm(a, -open);
      for (Eigen::Index k = 0; k < a.cols(); ++k) {
        const int column = at(free, static_cast<int>(k));
        own[column] += unit[column] * change[k];
      }
    }
    const double scale = own.cwiseQuotient(unit).norm();
    const Eigen::VectorXd left = rows * own;
    if (left.norm() > kClosed * std::max(1.0, scale))
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
  given.position.assign(static_cast<std::size_t>(mechanism.freedoms()), 0);
  given.velocity = given.position;
  for (const HingePlace& place : mechanism.hinges()) {
    if (place.role != HingePlace::Role::tree) continue;
    const Hinge& hinge = at(mechanism.description().hinges, mechanism.hinge_index(place.name));
    for (int k = 0; k < place.freedoms; ++k) {
      at(given.position, place.v_index + k) = !hinge.initial_position.empty();
      at(given.velocity, place.v_index + k) = !hinge.initial_velocity.empty();
    }
  }
  return given;
}

State assemble_near(const Mechanism& mechanism, const State& guess, const GivenFreedoms& given) {
  if (mechanism.loops().empty()) return guess;
  const AggregateTables tables = make_aggregate_tables(mechanism);
  State state = guess;
  normalize_quaternions(mechanism, state.q);
  if (closure_gap(mechanism, tables, state.q) > kExact) {
    // Fixing what was given is worth a try only where it leaves the loops closed.
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

double closure_gap(const Mechanism& mechanism, const AggregateTables& tables,
                   const Eigen::VectorXd& q) {
  double most = 0.0;
  for (int i = 0; i < static_cast<int>(tables.aggregates.size()); ++i)
    most = std::max(most, LoopClosure(mechanism, tables, i).residual(q).norm());
  return most;
}

double closure_rate(const Mechanism& mechanism, const AggregateTables& tables, const State& state) {
  double most = 0.0;
  for (int i = 0; i < static_cast<int>(tables.aggregates.size()); ++i) {
    const LoopClosure loop(mechanism, tables, i);
    Eigen::VectorXd own(loop.freedoms());
    for (int k = 0; k < loop.freedoms(); ++k) own[k] = state.v[loop.freedom(k)];
    most = std::max(most, (loop.velocity_rows(state.q) * own).norm());
  }
  return most;
}

}  // namespace catena
