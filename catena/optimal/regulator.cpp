// SPDX-License-Identifier: BSD-3-Clause
#include "catena/optimal/regulator.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/closure/chart.h"
#include "catena/model/configuration.h"
#include "catena/simulation/freedom_index.h"
#include "catena/simulation/recording/outputs.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Of a motion, by default.
constexpr double kStages = 400.0;
// Of an equilibrium: a part of 1 / |fastest eigenvalue|, and at most this long.
constexpr double kPartOfMode = 0.02;
constexpr double kLongestHold = 0.02;
// Allowed deviations (Bryson's rule): part of the range, and at least.
constexpr double kPartOfRange = 0.1;
constexpr double kLeastPosition = 0.05;
constexpr double kLeastVelocity = 0.5;
constexpr double kResponse = 0.1;  // s
// A step of Runge-Kutta 4 covers at most this much of 1 / (rate of the linear model): the error of
// an interval is then some 0.05⁴/120 = 5e-8, more where the model itself changes as fast.
constexpr double kStepOfRate = 0.05;
constexpr int kMostSubsteps = 1000;
// Directions that a sample adds to the reachable ones are lost in rounding below this: bases are
// orthonormal, so rounding is about 1e-15 and a coupling of 1e-6 over an interval of 1 ms counts.
constexpr double kReached = 1e-10;
// The sweep has converged when P changes by less over one batch of stages.
constexpr double kStandsStill = 1e-12;
constexpr double kRoundedStill = 1e-9;
constexpr int kBatch = 100;
constexpr int kMostBatches = 5000;
// An acceleration below this counts as none.
constexpr double kRest = 1e-7;
// Charts that are tried for the whole motion are those of so many of its samples.
constexpr int kCharts = 16;

// One of the two interpretations of a name: a freedom that the caller can act on.
std::vector<int> actuators_of(const Mechanism& m, const RegulatorSettings& settings,
                              const RecordedMotion* motion) {
  std::vector<int> actuators;
  for (const std::string& name : settings.actuators) {
    const int freedom = freedom_index(m, name);
    if (std::find(actuators.begin(), actuators.end(), freedom) != actuators.end())
      throw Error("actuator '" + name + "' is named twice");
    actuators.push_back(freedom);
  }
  if (!actuators.empty()) return actuators;
  for (int i = 0; motion != nullptr && i < m.freedoms(); ++i)
    for (std::size_t k = 0; k < motion->rows(); ++k)
      if (motion->effort(k)[i] != 0.0) {
        actuators.push_back(i);
        break;
      }
  if (actuators.empty())
    throw Error(motion != nullptr
                    ? "no freedom has an effort in this motion; name the actuators"
                    : "a regulator about an equilibrium needs the names of its actuators");
  return actuators;
}

// The chart whose worst quality along the motion is best; one with the actuators among its
// independent freedoms, if it is good enough.
std::optional<Chart> chart_along(const Mechanism& m, const RecordedMotion& motion,
                                 const std::vector<int>& actuators) {
  if (m.loops().empty()) return std::nullopt;
  std::optional<Chart> best;
  double best_quality = -1.0, worst_time = 0.0;
  const auto consider = [&](std::size_t row, const std::vector<std::uint8_t>& pinned) {
    Chart chart;
    try {
      chart = choose_chart(m, motion.state(row).q, {.pinned = pinned});
    } catch (const NumericalError&) {
      return;  // singular there, or not all of them can be independent; another one will do
    }
    if (best && chart.independent(m.freedoms()) == best->independent(m.freedoms())) return;
    double quality = 1.0, at = 0.0;
    for (std::size_t k = 0; k < motion.rows(); ++k) {
      const double here = chart_quality(m, chart, motion.state(k).q);
      if (here >= quality) continue;
      quality = here;
      at = motion.time(k);
    }
    if (quality <= best_quality) return;
    best_quality = quality;
    worst_time = at;
    best = std::move(chart);
  };
  std::vector<std::uint8_t> driven(index(m.freedoms()), 0);
  for (const int i : actuators) driven[index(i)] = 1;
  consider(0, driven);
  if (best_quality >= kPoorChart) return best;
  const auto rows = static_cast<double>(motion.rows() - 1);
  for (int i = 0; i < kCharts; ++i) consider(to_size(std::lround(rows * i / (kCharts - 1.0))), {});
  if (best_quality < kPoorChart)
    throw NumericalError(fmt::format(
        "no choice of independent freedoms of '{}' serves this whole motion (the best is poor at "
        "{} s: {:.2g} of the best possible there, {} is needed); regulate a part of it in which "
        "they need not change",
        m.name(), number(worst_time), best_quality, kPoorChart));
  return best;
}

// The linear model along a motion, at any time of it.
class ModelAlongMotion {
 public:
  ModelAlongMotion(const Mechanism& m, const RecordedMotion& motion,
                   const std::vector<int>& actuators, const std::vector<ExternalWrench>& external)
      : m_(m), motion_(motion), external_(external), workspace_(m) {
    for (const int i : actuators) settings_.inputs.push_back(m.velocity_names()[index(i)]);
    if (const std::optional<Chart> chart = chart_along(m, motion, actuators))
      workspace_.dynamics().set_chart(*chart, true);
    freedoms_ = at(motion.start()).freedoms;
  }

  const std::vector<int>& freedoms() const { return freedoms_; }
  LinearModel at(double t) {
    OperatingPoint point;
    point.state = motion_.state_at(t);
    if (!freedoms_.empty()) {
      const VectorXd none = VectorXd::Zero(static_cast<Index>(freedoms_.size()));
      point.state = displaced(m_, point.state, freedoms_, none, none);  // closes the loops
    }
    point.effort = motion_.effort_at(t);
    point.acceleration = VectorXd::Zero(m_.freedoms());
    point.external = external_;
    return linearize(m_, point, settings_, workspace_);
  }

 private:
  const Mechanism& m_;
  const RecordedMotion& motion_;
  std::vector<ExternalWrench> external_;
  LinearizeSettings settings_;
  SensitivityWorkspace workspace_;
  std::vector<int> freedoms_;
};

// Rate of change of deviations: √(stiffness) and damping of the linear model, 1/s.
double rate_of(const MatrixXd& a) {
  const Index n = a.rows() / 2;
  return std::sqrt(a.bottomLeftCorner(n, n).norm()) + a.bottomRightCorner(n, n).norm() +
         a.topLeftCorner(n, n).norm();
}

struct Continuous {
  MatrixXd A, B;
};

// One sampling interval: Z and W of the header. `model` may be called for any time within it.
LqStage sampled(const std::function<Continuous(double)>& model, double from, double to,
                const VectorXd& Q, const VectorXd& R) {
  Continuous here = model(from);
  const Index n = here.A.rows(), m = here.B.cols();
  MatrixXd z = MatrixXd::Identity(n + m, n + m), w = MatrixXd::Zero(n + m, n + m);
  VectorXd weights(n + m);
  weights << Q, R;
  const auto z_rate = [&](const Continuous& c, const MatrixXd& at) {
    MatrixXd rate = MatrixXd::Zero(n + m, n + m);
    const MatrixXd states = at.topRows(n), inputs = at.bottomRows(m);
    rate.topRows(n) = c.A * states + c.B * inputs;
    return rate;
  };
  const auto w_rate = [&](const MatrixXd& at) -> MatrixXd {
    const MatrixXd weighted = at.transpose() * weights.asDiagonal();
    return weighted * at;
  };
  const double steps_wanted = std::ceil((to - from) * rate_of(here.A) / kStepOfRate);
  if (steps_wanted > kMostSubsteps)
    throw NumericalError(fmt::format(
        "the fastest mode of the linear model at {} s has the rate {:.3g} 1/s, much faster "
        "than the sampling interval of {} s; make the interval shorter",
        number(from), rate_of(here.A), number(to - from)));
  const int steps = std::max(1, static_cast<int>(steps_wanted));
  const double h = (to - from) / steps;
  for (int i = 0; i < steps; ++i) {
    const double t = from + h * i;
    const Continuous middle = model(t + 0.5 * h);
    const Continuous end = model(i + 1 == steps ? to : t + h);
    const MatrixXd k1 = z_rate(here, z);
    const MatrixXd z2 = z + 0.5 * h * k1;
    const MatrixXd k2 = z_rate(middle, z2);
    const MatrixXd z3 = z + 0.5 * h * k2;
    const MatrixXd k3 = z_rate(middle, z3);
    const MatrixXd z4 = z + h * k3;
    w += h / 6.0 * (w_rate(z) + 2.0 * (w_rate(z2) + w_rate(z3)) + w_rate(z4));
    z += h / 6.0 * (k1 + 2.0 * (k2 + k3) + z_rate(end, z4));
    here = end;
  }
  LqStage stage;
  stage.A = z.topLeftCorner(n, n);
  stage.B = z.topRightCorner(n, m);
  stage.Q = w.topLeftCorner(n, n);
  stage.R = w.bottomRightCorner(m, m);
  stage.S = w.bottomLeftCorner(m, n);
  return stage;
}

void name_states(const Mechanism& m, Regulator& r) {
  for (const char* prefix : {"q.", "v."})
    for (const int i : r.freedoms) r.states.push_back(prefix + m.velocity_names()[index(i)]);
  for (const int i : r.actuators) r.inputs.push_back(m.velocity_names()[index(i)]);
}

void apply_weights(const std::map<std::string, double>& given, const std::string& what,
                   const std::vector<std::string>& names, bool positive, VectorXd& weights) {
  for (const auto& [name, weight] : given) {
    if (!std::isfinite(weight) || weight < 0.0 || (positive && weight == 0.0))
      throw Error(fmt::format("the {} of '{}' is {}; it must {}", what, name, number(weight),
                              positive ? "be positive" : "not be negative"));
    bool found = false;
    for (std::size_t k = 0; k < names.size(); ++k)
      if (names[k] == name || (!positive && names[k].substr(2) == name)) {
        weights[static_cast<Index>(k)] = weight;
        found = true;
      }
    if (!found)
      throw NameError(fmt::format("there is no {} of '{}'{}; those of this regulator are {}", what,
                                  name, did_you_mean(name, names), listed(names)));
  }
}

// Bryson's rule, overridden by the user's weights.
void choose_weights(const Mechanism& m, const RecordedMotion& motion, const LinearModel& first,
                    const RegulatorSettings& settings, Regulator& r) {
  const auto n = static_cast<Index>(r.freedoms.size());
  VectorXd allowed(2 * n);
  allowed.head(n).setConstant(kLeastPosition);
  allowed.tail(n).setConstant(kLeastVelocity);
  for (Index k = 0; k < n; ++k) {
    const int freedom = r.freedoms[index(k)];
    const int coordinate = m.coordinate_of_freedom()[index(freedom)];
    double low[2] = {}, high[2] = {};
    for (std::size_t i = 0; i < motion.rows(); ++i) {
      const State& s = motion.state(i);
      const double x[2] = {coordinate >= 0 ? s.q[coordinate] : 0.0, s.v[freedom]};
      for (int j = 0; j < 2; ++j) {
        low[j] = i == 0 ? x[j] : std::min(low[j], x[j]);
        high[j] = i == 0 ? x[j] : std::max(high[j], x[j]);
      }
    }
    for (const Index j : {Index{0}, Index{1}})
      allowed[j * n + k] = std::max(allowed[j * n + k], kPartOfRange * (high[j] - low[j]));
  }
  r.state_weights = allowed.cwiseAbs2().cwiseInverse();
  r.final_weights = motion.duration() * r.state_weights;
  r.input_weights.resize(static_cast<Index>(r.actuators.size()));
  for (Index j = 0; j < r.input_weights.size(); ++j) {
    const int freedom = r.actuators[index(j)];
    double effort = 0.0;
    for (std::size_t i = 0; i < motion.rows(); ++i)
      effort = std::max(effort, std::abs(motion.effort(i)[freedom]));
    const double response =
        (kResponse * first.B.col(j).tail(n)).cwiseQuotient(allowed.tail(n)).norm();
    if (response > 0.0) effort = std::max(effort, 1.0 / response);
    const double limit = m.freedom_settings()[index(freedom)].effort_limit;
    effort = std::min(effort > 0.0 ? effort : 1.0, limit);
    r.input_weights[j] = 1.0 / (effort * effort);
  }
  apply_weights(settings.state_weights, "weight", r.states, false, r.state_weights);
  apply_weights(settings.final_weights, "final weight", r.states, false, r.final_weights);
  apply_weights(settings.input_weights, "weight of the effort", r.inputs, true, r.input_weights);
}

VectorXd scales(const Regulator& r) {
  VectorXd scale = r.state_weights.cwiseSqrt();
  for (double& x : scale)
    if (x == 0.0) x = 1.0;
  return scale;
}

MatrixXd scaled(const VectorXd& scale, const MatrixXd& transition) {
  return scale.asDiagonal() * transition * scale.cwiseInverse().asDiagonal();
}

// Orthonormal basis of the uncontrollable directions (in scaled states): those that no input of any
// stage reaches.
MatrixXd unreachable_directions(const Regulator& r, const std::vector<const LqStage*>& stages) {
  const VectorXd scale = scales(r);
  const Index n = scale.size();
  MatrixXd reached(n, 0), missed = MatrixXd::Identity(n, n);
  for (const LqStage* stage : stages) {
    MatrixXd all(n, reached.cols() + stage->B.cols());
    all.leftCols(reached.cols()) = scaled(scale, stage->A) * reached;
    all.rightCols(stage->B.cols()) = scale.asDiagonal() * stage->B;
    for (Index j = 0; j < all.cols(); ++j)
      if (const double size = all.col(j).norm(); size > 0.0) all.col(j) /= size;
    const PivotedQr qr(all);
    const Index rank = qr.rank(kReached);
    const MatrixXd q = qr.q_columns(n);
    reached = q.leftCols(rank);
    missed = q.rightCols(n - rank);
  }
  return missed;
}

// Eigenvalues s of A that no input moves: [A − s 1, B] loses rank (the test of Popov, Belevitch and
// Hautus, in scaled states). Unlike sums of powers of A it tells slow motions beside fast modes.
std::vector<std::complex<double>> unmoved_eigenvalues(const Regulator& r, const MatrixXd& a,
                                                      const MatrixXd& b) {
  const MatrixXd own = scaled(scales(r), a), by = scales(r).asDiagonal() * b;
  const Index n = own.rows();
  const Eigen::VectorXcd all = eigenvalues(own);
  std::vector<std::complex<double>> unmoved;
  const auto test = [&](const std::complex<double>& s) {
    MatrixXd m = MatrixXd::Zero(2 * n, 2 * (n + by.cols()));  // real and imaginary parts
    m.topLeftCorner(n, n) = m.block(n, n, n, n) = own - s.real() * MatrixXd::Identity(n, n);
    m.block(0, n, n, n).diagonal().setConstant(s.imag());
    m.block(n, 0, n, n).diagonal().setConstant(-s.imag());
    m.block(0, 2 * n, n, by.cols()) = m.bottomRightCorner(n, by.cols()) = by;
    for (Index i = 0; i < 2 * n; ++i)
      if (const double size = m.row(i).norm(); size > 0.0) m.row(i) /= size;
    if (PivotedQr(m).rank(kReached) < 2 * n) unmoved.push_back(s);
  };
  constexpr double kZero = 1e-6;  // of a double eigenvalue zero, rounding leaves some 1e-7
  for (const std::complex<double>& s : all) {
    if (std::abs(s) <= kZero * all.cwiseAbs().maxCoeff()) test(0.0);
    test(s);
  }
  return unmoved;
}

// P of the stationary problem by the doubling algorithm: each step has twice the horizon of the
// last, which slow motions need beside fast modes. None if it does not converge. [Chu, Fan & Lin
// 2005]
std::optional<MatrixXd> value_by_doubling(const LqStage& stage) {
  const Index n = stage.A.rows();
  const Cholesky weight(stage.R);
  if (!weight.succeeded()) return std::nullopt;
  const MatrixXd cross = stage.S.size() > 0 ? stage.S : MatrixXd::Zero(stage.B.cols(), n);
  const MatrixXd by = weight.solve(cross), one = MatrixXd::Identity(n, n);
  MatrixXd a = stage.A - stage.B * by, h = stage.Q - cross.transpose() * by;
  MatrixXd g = stage.B * weight.solve(MatrixXd(stage.B.transpose()));
  constexpr int kDoublings = 60;
  for (int i = 0; i < kDoublings; ++i) {
    const Lu w(one + g * h);
    const MatrixXd a1 = w.solve(a), g1 = w.solve(g);
    const MatrixXd change = a.transpose() * h * a1;
    g += a * g1 * a.transpose();
    h += change;
    a = (a * a1).eval();
    g = 0.5 * (g + g.transpose()).eval();
    h = 0.5 * (h + h.transpose()).eval();
    if (!h.allFinite() || !a.allFinite()) return std::nullopt;
    if (change.norm() <= kStandsStill * h.norm()) return h;
  }
  return std::nullopt;
}

std::vector<std::string> names_of(const Regulator& r, const MatrixXd& directions) {
  std::vector<std::string> names;
  constexpr double kMuch = 0.5;  // of the largest part
  const VectorXd part = directions.rowwise().norm();
  for (Index k = 0; directions.cols() > 0 && k < part.size(); ++k)
    if (part[k] >= kMuch * part.maxCoeff()) names.push_back(r.states[index(k)]);
  return names;
}

}  // namespace

MatrixXd Regulator::gain_at(double t) const {
  if (stationary || gains.size() == 1 || t <= times.front()) return gains.front();
  const auto after = std::upper_bound(times.begin(), times.end(), t);
  const auto k = to_size(after - times.begin()) - 1;
  if (k + 1 >= gains.size()) return gains.back();
  const double s = (t - times[k]) / (times[k + 1] - times[k]);
  return (1.0 - s) * gains[k] + s * gains[k + 1];
}

VectorXd Regulator::deviation(const Mechanism& m, const State& nominal, const State& state) const {
  const VectorXd way = difference(m, nominal.q, state.q);
  VectorXd x(static_cast<Index>(2 * freedoms.size()));
  x << way(freedoms), (state.v - nominal.v)(freedoms);
  return x;
}

double Regulator::distance(const VectorXd& x) const {
  return std::sqrt(x.cwiseAbs2().dot(state_weights));
}

double Regulator::norm(const MatrixXd& transition) const {
  return singular_values(scaled(scales(*this), transition))[0];
}

Eigen::VectorXcd eigenvalues_of(const MatrixXd& transition) {
  Eigen::VectorXcd values = eigenvalues(transition);
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) {
    if (std::abs(a) != std::abs(b)) return std::abs(a) > std::abs(b);
    return a.imag() > b.imag();
  });
  return values;
}

Regulator track(const Mechanism& m, const RecordedMotion& motion,
                const RegulatorSettings& settings) {
  if (!(motion.duration() > 0.0)) throw Error("the motion has no duration");
  if (!(settings.interval >= 0.0) || settings.interval > motion.duration())
    throw Error("the sampling interval is " + number(settings.interval) +
                " s; it must be positive and at most the duration of the motion, " +
                number(motion.duration()) + " s");
  Regulator r;
  r.actuators = actuators_of(m, settings, &motion);
  ModelAlongMotion model(m, motion, r.actuators, settings.external);
  r.freedoms = model.freedoms();
  name_states(m, r);
  choose_weights(m, motion, model.at(motion.start()), settings, r);

  const double wanted = settings.interval > 0.0 ? motion.duration() / settings.interval : kStages;
  const auto stages = static_cast<int>(std::max(1.0, std::ceil(wanted - 1e-9)));
  r.interval = motion.duration() / stages;
  for (int k = 0; k <= stages; ++k)
    r.times.push_back(k == stages ? motion.end() : motion.start() + r.interval * k);
  const auto continuous = [&](double t) -> Continuous {
    LinearModel linear = model.at(t);
    return {std::move(linear.A), std::move(linear.B)};
  };
  LqProblem problem;
  problem.start = VectorXd::Zero(static_cast<Index>(r.states.size()));
  problem.final_Q = r.final_weights.asDiagonal();
  for (int k = 0; k < stages; ++k)
    problem.stages.push_back(sampled(continuous, r.times[index(k)], r.times[index(k + 1)],
                                     r.state_weights, r.input_weights));
  LqPolicy policy = lq_policy(problem);
  r.stages = std::move(problem.stages);
  r.gains = std::move(policy.gain);
  r.values = std::move(policy.value);

  const auto n = static_cast<Index>(r.states.size());
  r.open_transition = r.closed_transition = MatrixXd::Identity(n, n);
  std::vector<const LqStage*> all;
  for (std::size_t k = 0; k < r.stages.size(); ++k) {
    const LqStage& s = r.stages[k];
    r.open_transition = s.A * r.open_transition;
    const MatrixXd closed = s.A - s.B * r.gains[k];
    r.closed_transition = closed * r.closed_transition;
    all.push_back(&s);
  }
  r.unreachable = names_of(r, unreachable_directions(r, all));
  return r;
}

Regulator hold(const Mechanism& m, const OperatingPoint& point, const RegulatorSettings& settings) {
  if (!(settings.interval >= 0.0))
    throw Error("the sampling interval is " + number(settings.interval) +
                " s; it must be positive");
  Regulator r;
  r.stationary = true;
  r.actuators = actuators_of(m, settings, nullptr);
  LinearizeSettings wanted;
  for (const int i : r.actuators) wanted.inputs.push_back(m.velocity_names()[index(i)]);
  const LinearModel linear = linearize(m, point, wanted);
  if (linear.speed > kRest || linear.residual > kRest)
    throw Error(fmt::format(
        "the state is not an equilibrium with these efforts (the largest speed is {:.3g}, the "
        "largest "
        "acceleration {:.3g}); `catena equilibrium FILE --hold ACTUATOR -o state.yaml` finds one",
        linear.speed, linear.residual));
  r.freedoms = linear.freedoms;
  name_states(m, r);
  const double rate = eigenvalues(linear.A).cwiseAbs().maxCoeff();
  r.interval = settings.interval > 0.0 ? settings.interval
               : rate > 0.0            ? std::min(kLongestHold, kPartOfMode / rate)
                                       : kLongestHold;
  r.times = {0.0, r.interval};
  const RecordedMotion rest(m, {0.0, 1.0}, {point.state, point.state},
                            {point.effort, point.effort});
  choose_weights(m, rest, linear, settings, r);
  const auto continuous = [&](double) -> Continuous { return {linear.A, linear.B}; };
  r.stages = {sampled(continuous, 0.0, r.interval, r.state_weights, r.input_weights)};
  const LqStage& stage = r.stages[0];

  const std::vector<std::complex<double>> unmoved = unmoved_eigenvalues(r, linear.A, linear.B);
  if (!unmoved.empty()) {
    r.unreachable = names_of(
        r, unreachable_directions(r, std::vector<const LqStage*>(r.states.size(), &stage)));
    double growth = 0.0;
    for (const std::complex<double>& s : unmoved)
      growth = std::max(growth, std::exp(s.real() * r.interval));
    if (growth >= 1.0 - 1e-9)
      throw NumericalError(fmt::format(
          "the actuators ({}) cannot change {}, and this motion does not decay by itself: the "
          "system is not stabilizable; add an actuator",
          listed(r.inputs), listed(r.unreachable)));
  }
  LqProblem batch;
  batch.start = VectorXd::Zero(static_cast<Index>(r.states.size()));
  batch.stages.assign(kBatch, stage);
  batch.final_Q = r.state_weights.asDiagonal();
  if (std::optional<MatrixXd> value = value_by_doubling(stage)) batch.final_Q = std::move(*value);
  LqPolicy policy;
  bool still = false;
  double last = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kMostBatches && !still; ++i) {
    policy = lq_policy(batch);
    const double change = (policy.value[0] - batch.final_Q).norm() / policy.value[0].norm();
    // Or nothing but rounding is left, which the values of stiff modes have more of.
    still = change <= kStandsStill || (change <= kRoundedStill && change >= last);
    last = change;
    batch.final_Q = policy.value[0];
  }
  r.gains = {policy.gain[0]};
  r.values = {policy.value[0], policy.value[0]};
  r.open_transition = stage.A;
  r.closed_transition = stage.A - stage.B * r.gains[0];
  const double slowest = std::abs(eigenvalues_of(r.closed_transition)[0]);
  if (!still || !(slowest < 1.0))
    throw NumericalError(fmt::format(
        "the regulator does not bring every state to rest (the slowest eigenvalue has the modulus "
        "{:.9g}): give a weight to every state that is not stable by itself",
        slowest));
  return r;
}

}  // namespace catena
