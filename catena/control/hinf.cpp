// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/hinf.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/equations/riccati.h"
#include "catena/control/modes.h"
#include "catena/control/standard_problem.h"

namespace catena {

std::string to_string(HinfTest test) {
  switch (test) {
    case HinfTest::feedthrough:
      return "1: feedthrough D11 small enough";
    case HinfTest::x_axis:
      return "2a: no imaginary eigenvalue of Hx";
    case HinfTest::x_positive:
      return "2b: X is positive semidefinite";
    case HinfTest::y_axis:
      return "3a: no imaginary eigenvalue of Hy";
    case HinfTest::y_positive:
      return "3b: Y is positive semidefinite";
    case HinfTest::coupling:
      return "4: spectral radius of X Y below gamma^2";
  }
  return {};
}

HinfTest HinfLevel::failing() const {
  for (int i = 0; i < kHinfTests; ++i)
    if (!at(passed, i)) return static_cast<HinfTest>(i);
  return HinfTest::coupling;
}

namespace {

// Eigenvalues of X below −kNegative times the largest count as negative: X leaves the positive
// matrices through infinity, so the bound is not critical.
constexpr double kNegative = 1e-7;
// A loop may exceed its level by this fraction for rounding.
constexpr double kLoopSlack = 1e-4;
constexpr int kMostLevels = 120;
// Hamiltonian eigenvalues on the axis come out at relative distances up to some 1e-12. Just above
// the optimum the distance is about ζ √(2 (γ/γ_opt − 1)): this bound moves the optimum by less than
// 1e-12.
constexpr double kHinfAxis = 1e-10;
// Solutions smaller than this times ‖C1‖²/‖A‖ (‖B1‖²/‖A‖) are rounding.
constexpr double kRounding = 1e-13;

std::size_t place(HinfTest t) { return static_cast<std::size_t>(t); }

struct HinfRiccati {
  RiccatiSolution x, y;
};

// Largest singular value of [D1111 D1112] and [D1111; D1121]: no u and no y can cancel these.
double feedthrough_bound(const StandardProblem& p) {
  const Eigen::MatrixXd rows = p.D11.topRows(p.p1() - p.m2());
  const Eigen::MatrixXd cols = p.D11.leftCols(p.m1() - p.p2());
  return std::max(lapack::norm2(rows), lapack::norm2(cols));
}

RiccatiSolution hinf_riccati(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b1,
                             const Eigen::MatrixXd& b2, const Eigen::MatrixXd& c1,
                             const Eigen::MatrixXd& d11, const Eigen::MatrixXd& d12, double gamma) {
  // w = γ w̃ keeps R = diag(D11ᵀD11/γ² − 1, 1) well scaled at any level.
  const Eigen::Index m1 = b1.cols();
  const Eigen::MatrixXd b = hstack(b1 / gamma, b2), d1 = hstack(d11 / gamma, d12);
  Eigen::MatrixXd r = times_tn(d1, d1);
  r.topLeftCorner(m1, m1).diagonal().array() -= 1.0;
  RiccatiSolution s = solve_care({a, b, times_tn(c1, c1), symmetrized(r), times_tn(c1, d1), {}},
                                 {.route = RiccatiRoute::schur, .residual_tolerance = 1e-6});
  if (s.ok()) s.K.topRows(m1) /= gamma;
  return s;
}

// `floor`: a solution below this size is zero but for rounding (Y of a stable, fully known plant).
bool judge_riccati(const RiccatiSolution& s, HinfLevel& level, HinfTest axis, HinfTest positive,
                   double floor) {
  level.measure[place(axis)] = s.axis_distance;
  level.frequency[place(axis)] = s.axis_frequency;
  // A solution that is inaccurate or not stabilizing comes from eigenvalues within rounding of the
  // axis.
  level.passed[place(axis)] = s.ok() && s.axis_distance > kHinfAxis;
  if (!level.passed[place(axis)]) return false;
  if (s.X.size() == 0) {  // no states
    level.measure[place(positive)] = 0.0;
    return level.passed[place(positive)] = true;
  }
  const Eigen::VectorXd values = lapack::symmetric_eigenvalues(s.X);
  const double largest = values.cwiseAbs().maxCoeff();
  const double least = largest > floor ? values[0] / largest : 0.0;
  level.measure[place(positive)] = least;
  return level.passed[place(positive)] = least >= -kNegative;
}

HinfRiccati test_level(const StandardProblem& p, HinfLevel& level) {
  HinfRiccati s;
  const double gamma = level.gamma;
  const double bound = feedthrough_bound(p);
  level.measure[place(HinfTest::feedthrough)] = bound;
  level.passed[place(HinfTest::feedthrough)] = gamma > bound;
  if (gamma <= bound) return s;
  Eigen::MatrixXd d12 = Eigen::MatrixXd::Zero(p.p1(), p.m2()),
                  d21 = Eigen::MatrixXd::Zero(p.p2(), p.m1());
  d12.bottomRows(p.m2()).setIdentity();
  d21.rightCols(p.p2()).setIdentity();
  const double a_size = p.A.norm() > 0.0 ? p.A.norm() : 1.0;
  s.x = hinf_riccati(p.A, p.B1, p.B2, p.C1, p.D11, d12, gamma);
  const bool x = judge_riccati(s.x, level, HinfTest::x_axis, HinfTest::x_positive,
                               kRounding * p.C1.squaredNorm() / a_size);
  s.y = hinf_riccati(p.A.transpose(), p.C1.transpose(), p.C2.transpose(), p.B1.transpose(),
                     p.D11.transpose(), d21.transpose(), gamma);
  const bool y = judge_riccati(s.y, level, HinfTest::y_axis, HinfTest::y_positive,
                               kRounding * p.B1.squaredNorm() / a_size);
  if (!x || !y) return s;
  // λ(X Y) through the factor of X: real and accurate.
  const Eigen::MatrixXd root = symmetric_root(s.x.X);
  const Eigen::VectorXd xy =
      lapack::symmetric_eigenvalues(symmetrized(times(root, times(s.y.X, root))));
  const double radius = xy.size() > 0 ? std::max(0.0, xy.maxCoeff()) : 0.0;
  level.measure[place(HinfTest::coupling)] = radius / (gamma * gamma);
  level.passed[place(HinfTest::coupling)] = radius < gamma * gamma;
  level.exists = level.passed[place(HinfTest::coupling)];
  return s;
}

// The central controller [Zhou, Doyle & Glover 1996, theorem 17.1]. With Z = (1 − Y X/γ²)⁻¹ it is
// formed as a descriptor system and solved once, so that Z is never multiplied.
StateSpace central_controller(const StandardProblem& p, const GeneralizedPlant& plant,
                              const HinfRiccati& s, double gamma) {
  const Eigen::Index n = p.A.rows(), m1 = p.m1(), m2 = p.m2(), p1 = p.p1(), p2 = p.p2();
  const Eigen::MatrixXd f = -s.x.K, h = -s.y.K.transpose();
  const Eigen::MatrixXd f12 = f.middleRows(m1 - p2, p2), f2 = f.bottomRows(m2);
  const Eigen::MatrixXd h12 = h.middleCols(p1 - m2, m2), h2 = h.rightCols(p2);
  const Eigen::MatrixXd d1111 = p.D11.topLeftCorner(p1 - m2, m1 - p2),
                        d1112 = p.D11.topRightCorner(p1 - m2, p2),
                        d1121 = p.D11.bottomLeftCorner(m2, m1 - p2),
                        d1122 = p.D11.bottomRightCorner(m2, p2);
  const double g2 = gamma * gamma;
  const auto eye = [](Eigen::Index k) { return Eigen::MatrixXd(Eigen::MatrixXd::Identity(k, k)); };
  const lapack::Lu left(g2 * eye(p1 - m2) - times_nt(d1111, d1111));
  const Eigen::MatrixXd dd = -times(d1121, times_tn(d1111, left.solve(d1112))) - d1122;
  const Eigen::MatrixXd e = eye(n) - times(s.y.X, s.x.X) / g2;  // Z⁻¹
  // D̂12 and D̂21 cancel for the central controller, but for their products with their inverses.
  const Eigen::MatrixXd c2 = -(p.C2 + f12);                // D̂21⁻¹ Ĉ2
  const Eigen::MatrixXd b1 = -h2 + times(p.B2 + h12, dd);  // Z⁻¹ B̂1
  const Eigen::MatrixXd c1 = f2 + times(dd, c2);
  const Eigen::MatrixXd abf = p.A + times(hstack(p.B1, p.B2), f);
  const Eigen::MatrixXd a = times(e, abf) + times(b1, c2);
  const lapack::Lu lu(e);
  if (lu.rcond() < 1e-14)
    throw NumericalError("H-infinity controller: 1 - Y X/gamma^2 is singular");
  return controller_of(p, plant, lu.solve(a), lu.solve(b1), c1, dd);
}

class HinfSearch {
 public:
  HinfSearch(const GeneralizedPlant& plant, const StandardProblem& problem)
      : plant_(plant), problem_(problem) {}

  // True if the level exists and its loop holds; keeps the best controller.
  bool attempt(double gamma) {
    HinfLevel level;
    level.gamma = gamma;
    const HinfRiccati s = test_level(problem_, level);
    if (level.exists) check_loop(s, level);
    result.levels.push_back(level);
    return level.exists && level.loop_stable && level.loop_norm <= gamma * (1.0 + kLoopSlack);
  }

  const HinfLevel& last() const { return result.levels.back(); }
  HinfResult result;

 private:
  void check_loop(const HinfRiccati& s, HinfLevel& level) {
    level.loop_checked = true;
    try {
      const StateSpace k = central_controller(problem_, plant_, s, level.gamma);
      const StateSpace loop = closed_loop(plant_, k);
      const PeakGain peak = hinfnorm(loop, {.tolerance = 1e-6});
      level.loop_stable = peak.stable;
      level.loop_norm = peak.certificate.upper;
      if (peak.stable && (result.gamma == 0.0 || peak.certificate.upper < result.gamma)) {
        result.controller = k;
        result.loop = loop;
        result.peak = peak;
        result.gamma = peak.certificate.upper;
      }
    } catch (const NumericalError&) {
      level.loop_stable = false;  // the controller of this level cannot be formed
    }
  }

  const GeneralizedPlant& plant_;
  const StandardProblem& problem_;
};

std::string blame(const GeneralizedPlant& plant, const StandardProblem& p, const HinfLevel& level) {
  const HinfTest test = level.failing();
  const double w = level.frequency[place(test)];
  switch (test) {
    case HinfTest::feedthrough:
      return "D11 alone needs " + short_number(level.measure[place(test)], 6) +
             "; make the weights smaller at high frequency or strictly proper";
    case HinfTest::x_axis:
    case HinfTest::y_axis: {
      const std::string mode = nearest_mode_text(
          plant.system,
          plant.system.is_discrete() ? std::polar(1.0, 2.0 * std::atan(w)) : Complex(0.0, w));
      return (test == HinfTest::x_axis ? "full information cannot reach this level near "
                                       : "an estimator cannot reach this level near ") +
             short_number(w, 6) + " rad/s (" + mode +
             "); lower the weight there, or raise the level";
    }
    case HinfTest::x_positive:
      return "the controls cannot hold the weighted outputs at this level; lower the performance "
             "weight or the control weight";
    case HinfTest::y_positive:
      return "the measurements cannot resolve the disturbances at this level; use a better sensor "
             "(less noise weight) or a lower performance weight";
    case HinfTest::coupling:
      return "control and estimation each reach this level, together they do not (spectral "
             "radius " +
             short_number(level.measure[place(test)], 4) + " gamma^2, order " +
             std::to_string(p.A.rows()) + "); raise the level or relax the weights";
  }
  return {};
}

std::string failure_text(const GeneralizedPlant& plant, const StandardProblem& p,
                         const HinfLevel& l) {
  if (l.exists)
    return "H-infinity synthesis: at gamma = " + short_number(l.gamma, 6) +
           " all six existence tests pass, but the loop computed " +
           (l.loop_stable ? "has the norm " + short_number(l.loop_norm, 6)
                          : std::string("is not stable")) +
           ": the plant is too badly scaled for this level; scale signals and states, or raise "
           "gamma";
  return "H-infinity synthesis: at gamma = " + short_number(l.gamma, 6) + " test " +
         to_string(l.failing()) + " fails: " + blame(plant, p, l);
}

void require_solvable(const GeneralizedPlant& plant) {
  plant.validate();
  GeneralizedPlant p = plant;
  p.system = explicit_form(plant.system);
  require_stabilizable(p.system, p.B2(), "H-infinity synthesis");
  require_detectable(p.system, p.C2(), "H-infinity synthesis");
}

// A level that surely exists, if any does: falls back on regularized states. Returns the level.
double first_level(HinfSearch& search, const StandardProblem& p) {
  // Well above any sensible level: there the controller is nearly the H2 controller, and the norm
  // of its loop is a level to start from.
  const double through = p.C1.norm() * p.B1.norm() / (p.A.norm() > 0.0 ? p.A.norm() : 1.0);
  double gamma = 100.0 * std::max({feedthrough_bound(p), p.D11.norm(), through, 1e-12});
  for (int k = 0; k < 8; ++k, gamma *= 100.0) {
    if (search.attempt(gamma)) return gamma;
    // A stable loop with a norm above the level: that norm is a level.
    const HinfLevel& l = search.last();
    if (l.exists && l.loop_stable && std::isfinite(l.loop_norm))
      gamma = std::max(gamma, l.loop_norm);
  }
  return 0.0;
}

void finish(HinfResult& r, const StandardProblem& p, const HinfSettings& settings) {
  r.certificate.remarks = p.remarks;
  r.certificate.worst_frequency = r.peak.frequency;
  r.certificate.add("closed loop stable", r.peak.stable, r.peak.stable ? 1.0 : 0.0, 1.0);
  r.certificate.add("norm of the closed loop", true, r.peak.value, r.gamma,
                    "at " + short_number(r.peak.frequency, 6) + " rad/s");
  if (r.lower > 0.0)
    r.certificate.add("distance from the lower end",
                      r.gamma <= r.lower * (1.0 + settings.tolerance) * (1.0 + 1e-6) ||
                          r.gamma <= settings.least_gamma * (1.0 + 1e-6),
                      r.gamma / r.lower, 1.0 + settings.tolerance,
                      "test " + to_string(r.lower_test) + " fails at " + short_number(r.lower, 6));
}

// Bisects between a level that fails a test and one whose loop holds.
void bisect(HinfSearch& search, const StandardProblem& p, const HinfSettings& settings) {
  HinfResult& r = search.result;
  double low = feedthrough_bound(p), step = 0.5;
  HinfTest low_test = HinfTest::feedthrough;
  bool low_known = low > 0.0;
  double doubtful = 0.0;  // highest level whose tests pass but whose loop does not hold
  const double floor = std::max(settings.least_gamma, 1e-10 * r.gamma);
  for (int k = 0; k < kMostLevels; ++k) {
    const double high = r.gamma;
    const double base = std::max(low, doubtful);
    if (high <= base * (1.0 + settings.tolerance) || high <= floor) break;
    // Below the best loop found so far, geometrically; aims at the lower half once both ends are
    // known.
    double gamma =
        base > 0.1 * high || (low_known && base > 0.0) ? std::sqrt(base * high) : high * step;
    if (!low_known) step *= 0.7;
    gamma = std::max(gamma, high * 1e-3);
    if (base > 0.0) gamma = std::max(gamma, base * (1.0 + 0.3 * settings.tolerance));
    const bool reached = search.attempt(gamma);
    if (r.gamma < low) {  // a loop refutes a test that failed by rounding
      low = feedthrough_bound(p);
      low_test = HinfTest::feedthrough;
      for (const HinfLevel& other : r.levels)
        if (!other.exists && other.gamma < r.gamma && other.gamma > low) {
          low = other.gamma;
          low_test = other.failing();
        }
      low_known = low > 0.0;
    }
    if (reached) continue;
    const HinfLevel& l = search.last();
    if (!l.exists) {
      if (l.gamma >= r.gamma) continue;
      low = std::max(low, gamma);
      low_test = l.failing();
      low_known = true;
    } else if (r.gamma >= high) {
      doubtful = std::max(doubtful, gamma);
    }
  }
  // Tests of a regularized problem say nothing about the optimum of the original one.
  r.lower = low_known && !p.regularized ? low : 0.0;
  r.lower_test = low_test;
}

}  // namespace

HinfLevel hinf_tests(const GeneralizedPlant& plant, double gamma) {
  const lapack::OneThread one;
  require_solvable(plant);
  const StandardProblem p = standard_problem(plant, TimeMap::bilinear);
  HinfLevel level;
  level.gamma = gamma;
  test_level(p, level);
  if (!level.exists) level.detail = blame(plant, p, level);
  return level;
}

HinfResult hinfsyn_at(const GeneralizedPlant& plant, double gamma) {
  const lapack::OneThread one;
  require_solvable(plant);
  const StandardProblem p = standard_problem(plant, TimeMap::bilinear);
  HinfSearch search(plant, p);
  if (!search.attempt(gamma)) throw NumericalError(failure_text(plant, p, search.last()));
  finish(search.result, p, {});
  return search.result;
}

HinfResult hinfsyn(const GeneralizedPlant& plant, const HinfSettings& settings) {
  const lapack::OneThread one;
  require_solvable(plant);
  if (!(settings.tolerance > 0.0))
    throw NumericalError("H-infinity synthesis: the tolerance is " + number(settings.tolerance) +
                         "; it must be positive, such as 0.01");
  // Zeros of P12 or P21 on the axis fail at every level: states get a little weight and noise then.
  for (const double extra : {0.0, 1e-6, 1e-4}) {
    StandardProblem p = standard_problem(plant, TimeMap::bilinear, extra);
    if (extra > 0.0)
      p.remarks.push_back(
          "P12 or P21 has zeros on the stability boundary; every state got a weight "
          "and a noise of " +
          short_number(extra) + " relative");
    HinfSearch search(plant, p);
    if (first_level(search, p) == 0.0 && search.result.gamma == 0.0) {
      if (extra < 1e-4) continue;
      throw NumericalError(failure_text(plant, p, search.last()));
    }
    bisect(search, p, settings);
    // The final norm to full accuracy.
    search.result.peak = hinfnorm(search.result.loop);
    search.result.gamma = search.result.peak.certificate.upper;
    finish(search.result, p, settings);
    return search.result;
  }
  throw NumericalError("H-infinity synthesis: no level was found");
}

}  // namespace catena
